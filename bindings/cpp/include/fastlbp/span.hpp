// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * @file span.hpp
 * @brief The types of arguments that are arrays or strings, and how results are brought into a vector.
 */
#ifndef FASTLBP_SPAN_HPP
#define FASTLBP_SPAN_HPP

#include <cstddef>
#include <cstdint>
#include <fastlbp/error.hpp>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__has_include) && __cplusplus >= 201703L
#if __has_include(<string_view>)
#include <string_view>
#endif
#if __has_include(<span>)
#include <span>
#endif
#endif

namespace fastlbp {

template <typename T> class Span;

namespace detail {

/// Whether an object only points to its elements, so that a temporary one is as good as any.
template <typename Container> struct IsView : std::false_type {};
template <typename T> struct IsView<Span<T>> : std::true_type {};
#if defined(__cpp_lib_span)
template <typename T, std::size_t N> struct IsView<std::span<T, N>> : std::true_type {};
#endif

/// Whether a Span<T> can be made of what a reference of type `Container` refers to.
template <typename Container, typename T> class IsContiguous {
    template <typename C>
    static typename std::is_convertible<
        typename std::remove_pointer<decltype(std::declval<C &>().data())>::type (*)[], T (*)[]>::type
    test(decltype(std::declval<C &>().size()) *);
    template <typename C> static std::false_type test(...);
    using Object = typename std::remove_reference<Container>::type;

public:
    /// The answer.
    static constexpr bool value =
        decltype(test<Object>(nullptr))::value
        && (std::is_const<T>::value || std::is_lvalue_reference<Container>::value
            || IsView<typename std::remove_cv<Object>::type>::value);
};

} // namespace detail

/**
 * An array of the caller's: a pointer and a length. `T` is const where the library only reads.
 *
 * Made from std::vector, std::array, C arrays, std::span and whatever else has `data()` and `size()`; if
 * `T` is const, also from a list such as `{1, 2}`. Elements must have exactly the type `T`. It owns
 * nothing: as a parameter it is used before the call returns.
 */
template <typename T> class Span {
public:
    /// The type of the elements.
    using element_type = T;

    /// An empty array.
    constexpr Span() noexcept : data_(nullptr), size_(0) {}

    /// The `size` elements from `data` on; `data` may be null if there are none.
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    /// All elements of a C array.
    template <std::size_t N> constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}

    /// All elements of a container.
    template <typename Container,
              typename = typename std::enable_if<detail::IsContiguous<Container, T>::value>::type>
    constexpr Span(Container &&container) : data_(container.data()), size_(container.size()) {}

// The list lives until the end of the call that a Span is a parameter of.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
    /// The elements of a list, which must outlive the Span.
    template <typename U = T, typename = typename std::enable_if<std::is_const<U>::value>::type>
    constexpr Span(std::initializer_list<typename std::remove_cv<U>::type> list) noexcept
        : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic pop
#endif

    /// The first element; may be null if there is none.
    constexpr T *data() const noexcept { return data_; }
    /// Number of elements.
    constexpr std::size_t size() const noexcept { return size_; }
    /// The first element.
    constexpr T *begin() const noexcept { return data_; }
    /// Behind the last element.
    constexpr T *end() const noexcept { return data_ + size_; }
    /// An element; `index` must be below size().
    constexpr T &operator[](std::size_t index) const { return data_[index]; }

#if defined(__cpp_lib_span)
    /// The same as a std::span, from C++20 on.
    constexpr operator std::span<T>() const noexcept { return std::span<T>(data_, size_); }
#endif

private:
    T *data_;
    std::size_t size_;
};

/**
 * A string that goes to the library: made from a std::string, a string literal or, from C++17 on, a
 * std::string_view. UTF-8. It copies nothing but string views, which have no final NUL.
 */
class Text {
public:
    /// A string that ends with NUL; a null pointer is an Error with Status::null_pointer when it is used.
    Text(const char *text) noexcept : text_(text) {}

    /// A string; one with a NUL inside is an Error with Status::invalid_argument.
    Text(const std::string &text) : text_(text.c_str()) { check(text.data(), text.size()); }

#if defined(__cpp_lib_string_view)
    /// A string view, which is copied; one with a NUL inside is an Error with Status::invalid_argument.
    Text(std::string_view text) : copy_(text), text_(copy_.c_str()) { check(text.data(), text.size()); }
#endif

    Text(const Text &) = delete;
    Text &operator=(const Text &) = delete;

    /// The string with its final NUL.
    const char *c_str() const noexcept { return text_; }

private:
    static void check(const char *text, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            if (text[i] == '\0')
                throw Error(Status::invalid_argument, "the string '" + std::string(text)
                                                          + "' goes on after a NUL at byte "
                                                          + std::to_string(i) + ": leave the NUL out");
    }

    std::string copy_;
    const char *text_;
};

namespace detail {

/// A vector of what `call(buffer, length, needed)` writes, by asking for the length first.
template <typename T, typename Call> std::vector<T> collect(Call call) {
    std::vector<T> all;
    for (;;) {
        std::size_t needed = 0;
        const fastlbp_status status = call(all.data(), all.size(), &needed);
        if (status != FASTLBP_STATUS_BUFFER_TOO_SMALL) {
            check(status);
            all.resize(needed);
            return all;
        }
        all.resize(needed);
    }
}

/// The string that `call(buffer, length, needed)` writes with its final NUL.
template <typename Call> std::string collect_string(Call call) {
    const std::vector<char> all = collect<char>(call);
    return all.empty() ? std::string() : std::string(all.data(), all.size() - 1);
}

/// Has `call(buffer, length, needed)` write into an array of the caller's; returns how much it wrote.
template <typename T, typename Call> std::size_t fill(Span<T> buffer, Call call) {
    std::size_t needed = 0;
    check(call(buffer.data(), buffer.size(), &needed));
    return needed;
}

/// An index or a state as the C interface takes it: one that it cannot name becomes one that nothing has.
inline std::uint32_t narrow(std::size_t index) {
    return index < FASTLBP_NO_VARIABLE ? static_cast<std::uint32_t>(index) : FASTLBP_NO_VARIABLE;
}

/// Statuses that came in an array.
inline std::vector<Status> statuses(const std::vector<fastlbp_status> &got) {
    std::vector<Status> all;
    all.reserve(got.size());
    for (fastlbp_status status : got)
        all.push_back(static_cast<Status>(status));
    return all;
}

/// What `call(out)` writes.
template <typename T, typename Call> T value(Call call) {
    T out = T();
    check(call(&out));
    return out;
}

/**
 * What functions of the C interface that write arrays say of an object, or of a part of it: as vectors, or into arrays
 * of the caller's. `Self` derives from it and has get(), the handle.
 */
template <typename Self, typename Handle> class Reader {
protected:
    /// A function that says something of the whole object.
    template <typename T>
    using AllFunction = fastlbp_status (*)(const Handle *, T *, std::size_t, std::size_t *);
    /// One that says something of a part.
    template <typename Part, typename T>
    using OfFunction = fastlbp_status (*)(const Handle *, Part, T *, std::size_t, std::size_t *);

    /// What it says of the whole object.
    template <typename T> std::vector<T> all(AllFunction<T> function) const {
        return collect<T>([&](T *out, std::size_t length, std::size_t *needed) {
            return function(handle(), out, length, needed);
        });
    }
    /// The same into an array of the caller's; returns how much was written.
    template <typename T> std::size_t all(AllFunction<T> function, Span<T> buffer) const {
        return fill(buffer, [&](T *out, std::size_t length, std::size_t *needed) {
            return function(handle(), out, length, needed);
        });
    }
    /// What it says of a part.
    template <typename Part, typename T>
    std::vector<T> of(OfFunction<Part, T> function, Part part) const {
        return collect<T>([&](T *out, std::size_t length, std::size_t *needed) {
            return function(handle(), part, out, length, needed);
        });
    }
    /// The same into an array of the caller's; returns how much was written.
    template <typename Part, typename T>
    std::size_t of(OfFunction<Part, T> function, Part part, Span<T> buffer) const {
        return fill(buffer, [&](T *out, std::size_t length, std::size_t *needed) {
            return function(handle(), part, out, length, needed);
        });
    }

private:
    const Handle *handle() const { return static_cast<const Self *>(this)->get(); }
};

} // namespace detail
} // namespace fastlbp

#endif
