// Threads, and what they do together: on a device, and in C++ on a host, where each is a thread of the system
// and a warp has one (cuda/engine/host.cpp). What kernels are made of uses these functions, so that tests
// run it without a GPU.
#pragma once

#include "../arithmetic/base.cuh"

#ifdef __CUDACC__

#define FASTLBP_DEVICE __device__ __forceinline__
// For what is seldom called, so that it costs the rest no registers.
#define FASTLBP_DEVICE_COLD static __device__ __noinline__
/// A variable that the threads of a block share.
#define FASTLBP_SHARED(type, name) __shared__ type name

namespace fastlbp {

/// Threads of a warp.
constexpr uint32_t LANES = 32;

FASTLBP_DEVICE uint32_t thread_of_block() { return threadIdx.x; }
FASTLBP_DEVICE uint32_t threads_of_block() { return blockDim.x; }
FASTLBP_DEVICE uint32_t block_of_grid() { return blockIdx.x; }
FASTLBP_DEVICE uint32_t blocks_of_grid() { return gridDim.x; }
FASTLBP_DEVICE void sync_block() { __syncthreads(); }
FASTLBP_DEVICE void sync_warp() { __syncwarp(); }

template <class T>
FASTLBP_DEVICE void atomic_add(T *target, T value) {
    atomicAdd(target, value);
}

template <class T>
FASTLBP_DEVICE void atomic_max(T *target, T value) {
    atomicMax(target, value);
}

/// The value of the lane whose number differs in the bits of `distance`; all lanes call it.
template <class T>
FASTLBP_DEVICE T shuffle_xor(T value, uint32_t distance) {
    return __shfl_xor_sync(~0u, value, static_cast<int>(distance));
}

/// The value of a lane of the warp; all lanes call it.
template <class T>
FASTLBP_DEVICE T shuffle_from(T value, uint32_t lane) {
    return __shfl_sync(~0u, value, static_cast<int>(lane));
}

/// Whether this holds for all lanes of a warp; all call it.
FASTLBP_DEVICE bool all_of_warp(bool holds) { return __all_sync(~0u, holds) != 0; }

/// The lanes of a warp where this holds, a bit for each; all call it.
FASTLBP_DEVICE uint32_t lanes_where(bool holds) { return __ballot_sync(~0u, holds); }

FASTLBP_DEVICE uint32_t count_bits(uint32_t bits) { return static_cast<uint32_t>(__popc(bits)); }

/// The number of this thread in its warp, kept in a register.
__device__ __forceinline__ uint32_t lane_of_warp() {
#ifdef __CUDA_ARCH__
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
#else
    return threadIdx.x % 32;
#endif
}

/// A word that others change. Nothing is ordered by that.
__device__ __forceinline__ uint32_t load_relaxed(const uint32_t *at) {
#ifdef __CUDA_ARCH__
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

/// The same before all that follows. It empties the cache of its multiprocessor, so who waits uses load_relaxed until it is over.
__device__ __forceinline__ uint32_t load_acquire(const uint32_t *at) {
#ifdef __CUDA_ARCH__
    uint32_t word;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
#else
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

/// All threads of a grid whose blocks run at the same time meet. The counter only grows. Behind it marks are counted,
/// of which all know when they have met.
struct GridBarrier {
    uint32_t *counter;

    __device__ explicit GridBarrier(uint32_t *zero) : counter(zero) {
        if (threadIdx.x == 0) {
            last_expected() = 0;
            marks() = 0;
        }
    }

    /// Of the first thread.
    __device__ __forceinline__ uint32_t &last_expected() const {
        __shared__ uint32_t value;
        return value;
    }

    /// Also of the first thread: the marks that were left before all met.
    __device__ __forceinline__ uint32_t &marks() const {
        __shared__ uint32_t value;
        return value;
    }

    /// Leaves a mark at a barrier's counter.
    static __device__ __forceinline__ void mark(uint32_t *counter) {
        atomicAdd(counter + 1, 1u);
#ifndef __CUDA_ARCH__
        tell_others();
#endif
    }

    __device__ __forceinline__ void sync() const {
        arrive();
        wait();
    }

    /// The first half: this block has come; what it does until `wait` is not waited for.
    __device__ __forceinline__ void arrive() const {
        __syncthreads();
        if (threadIdx.x == 0) {
            last_expected() += gridDim.x;
#ifdef __CUDA_ARCH__
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#endif
        }
    }

    /// The second half: all blocks have come.
    __device__ __forceinline__ void wait() const {
        if (threadIdx.x == 0) {
            const uint32_t expected = last_expected();
#ifdef __CUDA_ARCH__
            // Each load that acquires empties the cache, so only the last one does.
            while (static_cast<int32_t>(load_relaxed(counter) - expected) < 0) {
            }
            uint64_t both;
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(counter) : "memory");
            marks() = static_cast<uint32_t>(both >> 32);
#else
            // tests/cuda/emulator.hpp
            meet_other_blocks(counter, expected);
            marks() = __atomic_load_n(counter + 1, __ATOMIC_RELAXED);
#endif
        }
        __syncthreads();
    }
};

}  // namespace fastlbp

#else

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FASTLBP_DEVICE inline
#define FASTLBP_DEVICE_COLD inline
#define FASTLBP_SHARED(type, name)                                     \
    static const uint32_t name##_place = host_shared_place(sizeof(type)); \
    type &name = *static_cast<type *>(static_cast<void *>(host_thread().shared + name##_place))
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

namespace fastlbp {

constexpr uint32_t LANES = 1;

/// Threads of a host meet, as often as they like. The counter begins as zero and only grows.
struct HostBarrier {
    /// So often a thread lets others run before it sleeps.
    static constexpr int TURNS = 20;

    uint32_t *counter;
    uint32_t threads;
    uint32_t expected;

    void sync() {
        expected += threads;
        uint32_t seen = __atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL);
        if (seen == expected) {
            syscall(SYS_futex, counter, FUTEX_WAKE_PRIVATE, static_cast<int>(threads), nullptr, nullptr, 0);
        }
        for (int turn = 0; static_cast<int32_t>(seen - expected) < 0; ++turn) {
            if (turn < TURNS) {
                sched_yield();
            } else {
                syscall(SYS_futex, counter, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
            }
            seen = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
        }
    }
};

/// Where this thread is.
struct HostThread {
    uint32_t block;
    uint32_t blocks;
    uint32_t thread;
    HostBarrier block_barrier;
    /// HOST_SHARED bytes of the block.
    unsigned char *shared;
};

/// Bytes of all variables that the threads of a block share.
constexpr uint32_t HOST_SHARED = 1 << 18;

/// Where the next such variable is.
inline uint32_t host_shared_place(uint32_t bytes) {
    static uint32_t next = 0;
    return __atomic_fetch_add(&next, (bytes + 15) / 16 * 16, __ATOMIC_RELAXED);
}

inline HostThread &host_thread() {
    static thread_local HostThread here = {0, 1, 0, {nullptr, 1, 0}, nullptr};
    return here;
}

inline uint32_t thread_of_block() { return host_thread().thread; }
inline uint32_t threads_of_block() { return host_thread().block_barrier.threads; }
inline uint32_t block_of_grid() { return host_thread().block; }
inline uint32_t blocks_of_grid() { return host_thread().blocks; }
inline void sync_warp() {}
inline void sync_block() {
    if (threads_of_block() > 1) {
        host_thread().block_barrier.sync();
    }
}

template <class T>
inline void atomic_add(T *target, T value) {
    __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
}

template <class T>
inline void atomic_max(T *target, T value) {
    T seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (seen < value &&
           !__atomic_compare_exchange_n(target, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

template <class T>
inline T shuffle_xor(T value, uint32_t) {
    return value;
}

template <class T>
inline T shuffle_from(T value, uint32_t) {
    return value;
}

inline bool all_of_warp(bool holds) { return holds; }

inline uint32_t lanes_where(bool holds) { return holds; }

inline uint32_t count_bits(uint32_t bits) { return static_cast<uint32_t>(__builtin_popcount(bits)); }

struct GridBarrier : HostBarrier {
    explicit GridBarrier(uint32_t *zero)
        : HostBarrier{zero, blocks_of_grid() * threads_of_block(), 0} {}

    void arrive() {}
    void wait() { sync(); }
};

}  // namespace fastlbp

#endif

namespace fastlbp {

FASTLBP_DEVICE uint32_t thread_of_grid() {
    return block_of_grid() * threads_of_block() + thread_of_block();
}
FASTLBP_DEVICE uint32_t threads_of_grid() { return blocks_of_grid() * threads_of_block(); }
FASTLBP_DEVICE uint32_t warp_of_grid() { return thread_of_grid() / LANES; }
FASTLBP_DEVICE uint32_t warps_of_grid() { return threads_of_grid() / LANES; }

}  // namespace fastlbp
