// The kernels of cuda/binary.cu for the emulated device.
#include "emulator.hpp"

#include "../../cuda/binary.cu"

namespace fastlbp {

thread_local uint4 rings[32 * RING_WORDS / 4];

}  // namespace fastlbp

EMULATED(binary_flood)
EMULATED(binary_levels)
EMULATED(binary_results)
EMULATED(binary_means)
EMULATED(binary_fill)
EMULATED(binary_patch)
