// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file error.hpp
 * @brief Statuses, the exception that carries one, and what the loaded library says of itself.
 */
#ifndef FASTLBP_ERROR_HPP
#define FASTLBP_ERROR_HPP

#include <cstddef>
#include <cstdint>
#include <fastlbp.h>
#include <stdexcept>
#include <string>

/// Belief propagation on factor graphs; see fastlbp.hpp.
namespace fastlbp {

/// Version of the library that is loaded, such as "0.1.0"; that of the headers is in
/// FASTLBP_VERSION_MAJOR, FASTLBP_VERSION_MINOR and FASTLBP_VERSION_PATCH.
inline const char *version() noexcept {
    return fastlbp_version();
}

/// How the loaded library was built: version, machine, debug or release, backends, features.
inline const char *build_info() noexcept {
    return fastlbp_build_info();
}

/// Result of a call. Later versions of the library may add some.
enum class Status : std::int32_t {
    /// Done.
    ok = FASTLBP_STATUS_OK,
    /// An object that was moved from, or a pointer that is needed, is null.
    null_pointer = FASTLBP_STATUS_NULL_POINTER,
    /// A value is not one that the call accepts.
    invalid_argument = FASTLBP_STATUS_INVALID_ARGUMENT,
    /// An index, label or state names nothing.
    out_of_range = FASTLBP_STATUS_OUT_OF_RANGE,
    /// The caller's buffer is too small; the text says how long it must be.
    buffer_too_small = FASTLBP_STATUS_BUFFER_TOO_SMALL,
    /// A string is not UTF-8.
    invalid_utf8 = FASTLBP_STATUS_INVALID_UTF8,
    /// A file does not follow its format; the text names file and line.
    parse = FASTLBP_STATUS_PARSE,
    /// A file could not be opened, read or written.
    io = FASTLBP_STATUS_IO,
    /// Deterministic messages that disagree meet; the text names the variable.
    contradiction = FASTLBP_STATUS_CONTRADICTION,
    /// There are no results yet.
    no_result = FASTLBP_STATUS_NO_RESULT,
    /// Another call is running on this object.
    busy = FASTLBP_STATUS_BUSY,
    /// An earlier call on this object ended with Status::panic; it can only be destroyed.
    poisoned = FASTLBP_STATUS_POISONED,
    /// A defect of the library; please report the text.
    panic = FASTLBP_STATUS_PANIC,
    /// Memory could not be had.
    out_of_memory = FASTLBP_STATUS_OUT_OF_MEMORY,
    /// Something is larger than the library's 32-bit indices or its limits allow.
    limit_exceeded = FASTLBP_STATUS_LIMIT_EXCEEDED,
    /// The request is well-formed, but this build does not do it.
    unsupported = FASTLBP_STATUS_UNSUPPORTED,
    /// There is no usable device for the backend asked for.
    no_device = FASTLBP_STATUS_NO_DEVICE,
    /// A CUDA device failed, or computed wrongly; the text says at what.
    device_failed = FASTLBP_STATUS_DEVICE_FAILED
};

/// The name of a status, such as "FASTLBP_STATUS_BUSY"; "unknown status" for a number that names none.
inline const char *status_name(Status status) noexcept {
    return fastlbp_status_string(static_cast<std::int32_t>(status));
}

/**
 * What every function of this interface throws when the library refuses a call.
 *
 * what() is the library's text: what was wrong, with which value, and what would be right. Memory that
 * the C++ side cannot get is a std::bad_alloc.
 */
class Error : public std::runtime_error {
public:
    /// An error with a status and a text.
    Error(Status status, const std::string &text) : std::runtime_error(text), status_(status) {}

    /// What went wrong, as a number; never Status::ok.
    Status status() const noexcept { return status_; }

private:
    Status status_;
};

/// Not for use: the parts of this interface share it.
namespace detail {

/// Throws an Error with this thread's error text unless the status is FASTLBP_STATUS_OK.
inline void check(fastlbp_status status) {
    if (status != FASTLBP_STATUS_OK)
        throw Error(static_cast<Status>(status), fastlbp_last_error());
}

/// Two arrays that belong together must be equally long: the library is told one length.
inline void check_length(const char *name, std::size_t length, std::size_t wanted) {
    if (length != wanted)
        throw Error(Status::invalid_argument, std::string(name) + " has length " + std::to_string(length)
                                                  + ": it must be " + std::to_string(wanted));
}

} // namespace detail
} // namespace fastlbp

#endif
