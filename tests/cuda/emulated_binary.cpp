// The kernels of cuda/binary.cu for the emulated device.
#include "emulator.hpp"

#include "../../cuda/binary.cu"

EMULATED(binary_flood)
EMULATED(binary_levels)
EMULATED(binary_results)
EMULATED(binary_means)
EMULATED(binary_fill)
EMULATED(binary_patch)
EMULATED(binary_begin)
