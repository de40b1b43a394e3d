// The kernels of cuda/general.cu for the emulated device.
#include "emulator.hpp"

#include "../../cuda/general.cu"

EMULATED(general_prepare)
EMULATED(general_begin)
EMULATED(general_passes)
EMULATED(general_results)
EMULATED(general_take)
EMULATED(general_begin_beliefs)
EMULATED(general_measure_beliefs)
