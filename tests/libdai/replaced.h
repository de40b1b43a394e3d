// SPDX-License-Identifier: MIT OR Apache-2.0
// Included before a program of libDAI that names the class dai::BP: lets that name mean fastlbp's.
#include <dai/alldai.h>
#include <fastlbp/libdai.hpp>

namespace dai {
typedef fastlbp::dai::BP FastlbpBP;
}
#define BP FastlbpBP
