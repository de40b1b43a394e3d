// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file device.hpp
 * @brief The CUDA devices that there are.
 */
#ifndef FASTLBP_DEVICE_HPP
#define FASTLBP_DEVICE_HPP

#include <cstdint>
#include <fastlbp/span.hpp>
#include <string>

namespace fastlbp {

/// For BeliefPropagation::set_device(): the device of the environment variable FASTLBP_DEVICE, and 0 where
/// that is not set.
constexpr std::uint32_t default_device = FASTLBP_DEVICE_DEFAULT;

/// Memory of a device, in bytes.
struct DeviceMemory {
    /// All of it.
    std::uint64_t total;
    /// What no process uses.
    std::uint64_t free;
};

/// A version of CUDA, such as 13.0.
struct CudaVersion {
    /// The number before the dot.
    std::uint32_t major_number;
    /// The number behind it.
    std::uint32_t minor_number;
};

/// Number of CUDA devices, at least 1; Status::no_device, with the reason, if CUDA cannot be used:
/// fastlbp_device_count().
inline std::uint32_t device_count() {
    return detail::value<std::uint32_t>(&fastlbp_device_count);
}

/// Name of a device, numbered from 0 in the driver's order; Status::out_of_range if there is none of this
/// number, Status::no_device as in device_count(): fastlbp_device_name().
inline std::string device_name(std::uint32_t index) {
    return detail::collect_string([&](char *out, std::size_t length, std::size_t *needed) {
        return fastlbp_device_name(index, out, length, needed);
    });
}

/// Memory of a device at this moment; Status::device_failed if it does not work, else as device_name():
/// fastlbp_device_memory().
inline DeviceMemory device_memory(std::uint32_t index) {
    DeviceMemory memory = {0, 0};
    detail::check(fastlbp_device_memory(index, &memory.total, &memory.free));
    return memory;
}

/// The version of CUDA that the driver supports; Status::no_device as in device_count():
/// fastlbp_device_driver_version().
inline CudaVersion device_driver_version() {
    CudaVersion version = {0, 0};
    detail::check(fastlbp_device_driver_version(&version.major_number, &version.minor_number));
    return version;
}

/// Starts the driver on a device, for which the first session on it would wait 0.2 seconds: a thread of the host can do that
/// while another one makes the graph. Status::device_failed if it does not work, else as device_name(); fastlbp_device_start().
inline void device_start(std::uint32_t index = default_device) {
    detail::check(fastlbp_device_start(index));
}

} // namespace fastlbp

#endif
