// What all headers of the message arithmetic share. They are src/kernel once more, file by file, for
// nvcc and for plain C++ compilers, and give the same bits as the Rust code: see cuda/README.md for
// the flags that this needs.
#pragma once

#ifdef __CUDACC_RTC__
// The run-time compiler has no headers of its own; its targets are those of 64-bit Linux.
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
#define INT64_MIN (-0x7fffffffffffffffL - 1)
#else
#include <cstdint>
#endif

#ifdef __FAST_MATH__
#error "the message arithmetic needs exact IEEE operations: no -ffast-math, no --use_fast_math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "the message arithmetic needs doubles that are rounded by every operation (use SSE2, not x87)"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef __CUDACC__
#define FASTLBP_HD __host__ __device__ __forceinline__
// For paths that are seldom taken, so that they cost the others no registers.
#define FASTLBP_COLD __host__ __device__ __noinline__ inline
#define FASTLBP_UNROLL _Pragma("unroll")
#else
#define FASTLBP_HD inline
#define FASTLBP_COLD inline
#define FASTLBP_UNROLL
#endif

namespace fastlbp {

/// The bits of a number.
FASTLBP_HD uint64_t to_bits(double value) {
#ifdef __CUDA_ARCH__
    return static_cast<uint64_t>(__double_as_longlong(value));
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

/// The number with these bits.
FASTLBP_HD double from_bits(uint64_t bits) {
#ifdef __CUDA_ARCH__
    return __longlong_as_double(static_cast<long long>(bits));
#else
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

template <class T>
FASTLBP_HD T smaller_of(T a, T b) {
    return b < a ? b : a;
}

template <class T>
FASTLBP_HD T larger_of(T a, T b) {
    return a < b ? b : a;
}

/// Exchanges two values.
template <class T>
FASTLBP_HD void exchange(T &a, T &b) {
    const T kept = a;
    a = b;
    b = kept;
}

/// Memory that a caller gives, handed out piece by piece, each at a multiple of eight bytes.
struct Memory {
    unsigned char *at;

    template <class T>
    static FASTLBP_HD uint64_t bytes(uint64_t count) {
        return (count * sizeof(T) + 7) & ~uint64_t(7);
    }

    template <class T>
    FASTLBP_HD T *take(uint64_t count) {
        T *piece = static_cast<T *>(static_cast<void *>(at));
        at += bytes<T>(count);
        return piece;
    }
};

/// floor(log2(`value`)) of a positive number.
FASTLBP_HD int ilog2(uint32_t value) {
#ifdef __CUDA_ARCH__
    return 31 - __clz(static_cast<int>(value));
#else
    return 31 - __builtin_clz(value);
#endif
}

}  // namespace fastlbp
