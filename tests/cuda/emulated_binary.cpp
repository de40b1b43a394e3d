// The kernels of cuda/binary.cu for the emulated device.
#include "emulator.hpp"

#include "../../cuda/binary.cu"

namespace fastlbp {
thread_local double home_room[(256 << 10) / sizeof(double)];
}

EMULATED(binary_flood)
EMULATED(binary_turns_flood)
EMULATED(binary_any_flood)
EMULATED(binary_any_turns_flood)
EMULATED(binary_own_warps_flood)
EMULATED(binary_levels)
EMULATED(binary_any_levels)
EMULATED(binary_results)
EMULATED(binary_means)
EMULATED(binary_fill)
EMULATED(binary_patch)
EMULATED(binary_begin)
EMULATED(binary_begin_products)
