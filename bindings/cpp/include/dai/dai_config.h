// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief What these headers are: libDAI's interface, as far as users of belief propagation need it, in front
/// of fastlbp. They are written from libDAI's documented interface, are used instead of libDAI's own, and
/// need C++11 and nothing else. docs/src/guides/libdai.md says what is there and what differs.
#ifndef FASTLBP_DAI_CONFIG_H
#define FASTLBP_DAI_CONFIG_H

#ifdef __defined_libdai_config_h
#error "libDAI's own headers are included, too: use those with fastlbp/libdai.hpp, or these alone"
#endif

/// These headers are fastlbp's, not libDAI's.
#define FASTLBP_DAI 1

// The inference algorithms that are there.
#define DAI_WITH_BP 1
#define DAI_WITH_JTREE 1
#define DAI_WITH_DECMAP 1

/// The release of libDAI whose interface this is.
#define DAI_VERSION "0.3.2"

#endif
