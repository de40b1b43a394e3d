// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands before the `main` of a program of libDAI, which is compiled with that name replaced: registers fastlbp's
// belief propagation, and nothing else.
#include <fastlbp/libdai.hpp>

int libdai_main(int argc, char** argv);

int main(int argc, char** argv) {
    fastlbp::dai::register_bp();
    return libdai_main(argc, argv);
}
