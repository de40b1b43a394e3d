// A CUDA device in C++, for kernels in cuda/*.cu as they are: included before them, it gives C++ the words
// and functions of CUDA that they use. tests/cuda/fake_driver.c launches them with the blocks, threads and
// shared memory that the library asks for. `__CUDA_ARCH__` is not defined: what stands there for a GPU only, as
// instructions in assembly do, needs something else for this.
//
// Each block of a cooperative launch is a thread of the system; blocks of other launches run one after the
// other. Each thread of a block has a stack of its own; they take turns where they wait for each other, in an
// order that changes all the time, so that a missing barrier shows. What cannot come to an end is found at
// once and reported: threads that wait for one that has ended or waits elsewhere, lanes of a warp that meet
// in different operations. Who waits without a barrier, for what others write, must call take_turns again and
// again. What it does not show: races between threads of a block that take no turns.
#pragma once

// Jumps to other stacks.
#undef _FORTIFY_SOURCE

#include <climits>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <math.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <type_traits>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

struct uint4 {
    unsigned x, y, z, w;
};
struct uint2 {
    unsigned x, y;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};

namespace emulator {

constexpr unsigned LANES = 32, MAX_WARPS = 32, MAX_THREADS = LANES * MAX_WARPS;
constexpr size_t STACK = 256 << 10;
/// At the end of each stack; pages that may not be touched there would be too many for the system.
constexpr uint64_t UNTOUCHED = 0x5AC7E57AC7E57AC7;

struct Dimensions {
    unsigned x = 1, y = 1, z = 1;
};

/// One launch.
struct Launch {
    /// How many blocks have begun.
    uint32_t begun = 0;
    /// How often something was changed that others may wait for, and how many blocks sleep until it is.
    uint32_t changes = 0, asleep = 0;
};

/// Where the thread that has its turn is.
struct Here {
    Dimensions grid, block, block_index, thread_index;
    Launch *launch = nullptr;
};
inline thread_local Here here;

[[noreturn]] inline void fail(const char *what) {
    fprintf(stderr, "emulated device: block %u of %u, thread %u of %u: %s\n", here.block_index.x, here.grid.x,
            here.thread_index.x, here.block.x, what);
    abort();
}

/// What the lanes of a warp do together.
enum Operation : unsigned { SYNC_WARP, SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, VOTE };

/// The state of a barrier, which can be used again and again.
struct Barrier {
    unsigned count = 0;
    unsigned waiting[MAX_THREADS];
};

/// The threads of a block, and who has the turn.
class Block {
public:
    Block() : stacks(static_cast<char *>(mmap(nullptr, MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        if (stacks == MAP_FAILED) {
            fail("no memory for stacks");
        }
    }
    Block(const Block &) = delete;
    ~Block() { munmap(stacks, MAX_THREADS * STACK); }

    /// Runs all threads to their ends.
    void run(unsigned threads, void (*all)(void *), void *argument) {
        body = all;
        of_body = argument;
        first = count = 0;
        alive = threads;
        every.count = some.count = 0;
        for (unsigned warp = 0; warp < MAX_WARPS; ++warp) {
            warps[warp].barrier.count = 0;
        }
        for (unsigned thread = 0; thread < threads; ++thread) {
            fibers[thread].exchanges = 0;
            append(thread);
        }
        shuffle(threads);
        if (_setjmp(end) == 0) {
            next();
        }
    }

    void sync() { wait_at(every, here.block.x); }

    /// The barrier of `threads` of the threads.
    void sync_some(unsigned threads) { wait_at(some, threads); }

    /// Lets all others have their turns. A block sleeps where they all do so, until another changes something.
    void take_turns() {
        Launch &launch = *here.launch;
        if (idle++ == 0) {
            changes = __atomic_load_n(&launch.changes, __ATOMIC_ACQUIRE);
        } else if (idle > count + 1) {
            const timespec limit = {0, 1000000};
            __atomic_add_fetch(&launch.asleep, 1, __ATOMIC_SEQ_CST);
            syscall(SYS_futex, &launch.changes, FUTEX_WAIT_PRIVATE, changes, &limit, nullptr, 0);
            __atomic_sub_fetch(&launch.asleep, 1, __ATOMIC_SEQ_CST);
            const bool same = __atomic_load_n(&launch.changes, __ATOMIC_ACQUIRE) == changes;
            slept = same ? slept + 1 : 0;
            if (slept > 60000) {
                fail("all threads of the block wait for something that nobody has changed for a minute");
            }
            idle = 0;
        }
        const unsigned me = here.thread_index.x;
        append(me);
        if (_setjmp(fibers[me].place) == 0) {
            next();
        }
    }

    /// Gives a value to the lanes of the warp; the result has those of all.
    const uint64_t *exchange(Operation operation, uint64_t value) {
        const unsigned thread = here.thread_index.x, lane = thread % LANES;
        Warp &warp = warps[thread / LANES];
        // Nobody writes what others may still read: these alternate.
        const unsigned turn = fibers[thread].exchanges++ % 2;
        warp.values[turn][lane] = value;
        warp.operations[turn][lane] = operation;
        if (here.block.x % LANES != 0) {
            fail("the warps of the block are not whole");
        }
        wait_at(warp.barrier, LANES);
        if (warp.operations[turn][0] != operation) {
            fail("the lanes of a warp call different operations");
        }
        return warp.values[turn];
    }

private:
    struct Fiber {
        jmp_buf place;
        ucontext_t start;
        bool begun = false;
        unsigned exchanges = 0;
    };
    struct Warp {
        Barrier barrier;
        uint64_t values[2][LANES];
        Operation operations[2][LANES];
    };

    unsigned &ready_at(unsigned index) { return ready[(first + index) % MAX_THREADS]; }

    void append(unsigned thread) { ready_at(count++) = thread; }

    /// Puts the last threads that became ready in another order.
    void shuffle(unsigned last) {
        for (unsigned i = last; i > 1; --i) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            std::swap(ready_at(count - last + i - 1), ready_at(count - last + random % i));
        }
    }

    void wait_at(Barrier &barrier, unsigned expected) {
        const unsigned me = here.thread_index.x;
        idle = 0;
        if (barrier.count + 1 == expected) {
            for (unsigned i = 0; i < barrier.count; ++i) {
                append(barrier.waiting[i]);
            }
            shuffle(barrier.count);
            barrier.count = 0;
            return;
        }
        barrier.waiting[barrier.count++] = me;
        if (_setjmp(fibers[me].place) == 0) {
            next();
        }
    }

    /// Gives the turn to the thread that has been ready for the longest time.
    [[noreturn]] void next() {
        if (count == 0) {
            if (alive > 0) {
                fail("all threads wait, for some that have ended or that wait elsewhere");
            }
            _longjmp(end, 1);
        }
        const unsigned thread = ready_at(0);
        first = (first + 1) % MAX_THREADS;
        --count;
        here.thread_index.x = thread;
        Fiber &fiber = fibers[thread];
        if (fiber.begun) {
            _longjmp(fiber.place, 1);
        }
        fiber.begun = true;
        getcontext(&fiber.start);
        fiber.start.uc_stack.ss_sp = stacks + thread * STACK;
        fiber.start.uc_stack.ss_size = STACK;
        last_of_stack(thread) = UNTOUCHED;
        const uintptr_t address = reinterpret_cast<uintptr_t>(this);
        makecontext(&fiber.start, reinterpret_cast<void (*)()>(&Block::work), 3,
                    static_cast<unsigned>(address), static_cast<unsigned>(address >> 16 >> 16), thread);
        setcontext(&fiber.start);
        abort();
    }

    /// What a thread does on its stack, for launch after launch. Its stack goes from one thread of the system
    /// to another between these, so nothing that belongs to one may be known here.
    static void work(unsigned low, unsigned high, unsigned thread) {
        Block *const block = reinterpret_cast<Block *>(static_cast<uintptr_t>(high) << 16 << 16 | low);
        for (;;) {
            block->body(block->of_body);
            if (block->last_of_stack(thread) != UNTOUCHED) {
                fail("the stack is too small");
            }
            --block->alive;
            if (_setjmp(block->fibers[thread].place) == 0) {
                block->next();
            }
        }
    }

    uint64_t &last_of_stack(unsigned thread) { return *reinterpret_cast<uint64_t *>(stacks + thread * STACK); }

    char *stacks;
    Fiber fibers[MAX_THREADS];
    Warp warps[MAX_WARPS];
    Barrier every, some;
    /// Those that have no turn and wait for nothing else, in the order of their turns.
    unsigned ready[MAX_THREADS], first = 0, count = 0;
    unsigned alive = 0;
    /// How many turns were passed on since something else was done; what Launch::changes was at the first of
    /// them; how often the block has slept in vain.
    unsigned idle = 0, changes = 0, slept = 0;
    uint32_t random = 2463534242;
    jmp_buf end;
    void (*body)(void *) = nullptr;
    void *of_body = nullptr;
};

inline thread_local Block *current = nullptr;

/// To be called after something has changed that other blocks may wait for in take_turns.
inline void changed() {
    Launch &launch = *here.launch;
    __atomic_add_fetch(&launch.changes, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&launch.asleep, __ATOMIC_SEQ_CST) > 0) {
        syscall(SYS_futex, &launch.changes, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
}

/// A barrier of the blocks: returns when the counter has reached `expected`. Sleeps while it waits, since there are more
/// blocks than processors.
inline void wait_for_blocks(uint32_t *counter, uint32_t expected) {
    uint32_t seen = __atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL);
    if (seen == expected) {
        syscall(SYS_futex, counter, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    while (static_cast<int32_t>(seen - expected) < 0) {
        syscall(SYS_futex, counter, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
        seen = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
    }
}

/// Blocks that are not in use: their stacks are made once.
class Pool {
public:
    std::unique_ptr<Block> take() {
        std::lock_guard<std::mutex> guard(lock);
        if (blocks.empty()) {
            return std::make_unique<Block>();
        }
        std::unique_ptr<Block> block = std::move(blocks.back());
        blocks.pop_back();
        return block;
    }

    void give_back(std::unique_ptr<Block> block) {
        std::lock_guard<std::mutex> guard(lock);
        blocks.push_back(std::move(block));
    }

private:
    std::mutex lock;
    std::vector<std::unique_ptr<Block>> blocks;
};

inline Pool &pool() {
    static Pool one;
    return one;
}

template <class... Arguments, size_t... Index>
void call(void (*kernel)(Arguments...), void **arguments, std::index_sequence<Index...>) {
    kernel(*static_cast<std::remove_const_t<Arguments> *>(arguments[Index])...);
}

/// Launches a kernel on blocks of which so many are a cluster; arguments are as cuLaunchKernel takes them.
template <class... Arguments>
void launch(void (*kernel)(Arguments...), unsigned blocks, unsigned threads, unsigned cluster, bool cooperative,
            void **arguments) {
    struct Call {
        void (*kernel)(Arguments...);
        void **arguments;
    } one = {kernel, arguments};
    const auto body = [](void *argument) {
        const Call &one = *static_cast<Call *>(argument);
        call(one.kernel, one.arguments, std::index_sequence_for<Arguments...>());
    };
    if (threads > MAX_THREADS || blocks % cluster != 0) {
        fail("no such launch is possible");
    }
    // Else blocks run one after the other.
    const bool together = cooperative || cluster > 1;
    Launch all;
    const auto run = [&](unsigned first, unsigned end) {
        std::unique_ptr<Block> block = pool().take();
        current = block.get();
        if (together) {
            wait_for_blocks(&all.begun, blocks);
        }
        for (unsigned index = first; index < end; ++index) {
            here = {{blocks, 1, 1}, {threads, 1, 1}, {index, 0, 0}, {0, 0, 0}, &all};
            block->run(threads, body, &one);
        }
        pool().give_back(std::move(block));
    };
    std::vector<std::thread> others;
    for (unsigned index = 1; together && index < blocks; ++index) {
        others.emplace_back(run, index, index + 1);
    }
    run(0, together ? 1 : blocks);
    for (std::thread &other : others) {
        other.join();
    }
}

template <class T>
uint64_t bits_of(T value) {
    static_assert(sizeof value <= 8 && std::is_trivially_copyable<T>::value, "a number");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
T exchange(unsigned mask, Operation operation, T value, unsigned source) {
    if (mask != ~0u) {
        fail("lanes that a mask leaves out are not emulated");
    }
    const uint64_t bits = current->exchange(operation, bits_of(value))[source];
    T result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

inline unsigned lane() { return here.thread_index.x % LANES; }

}  // namespace emulator

#define __CUDACC__ 1
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
/// Of a block, since each is run by one thread of the system; `extern` ones are defined where needed.
#define __shared__ thread_local
#define threadIdx (emulator::here.thread_index)
#define blockIdx (emulator::here.block_index)
#define blockDim (emulator::here.block)
#define gridDim (emulator::here.grid)

inline void __syncthreads() { emulator::current->sync(); }
inline void __syncwarp() { emulator::current->exchange(emulator::SYNC_WARP, 0); }

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned first = emulator::lane() / width * width;
    return emulator::exchange(mask, emulator::SHUFFLE, value, first + static_cast<unsigned>(source) % width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance) {
    return emulator::exchange(mask, emulator::SHUFFLE_XOR, value, (emulator::lane() ^ distance) % 32);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance) {
    const unsigned lane = emulator::lane();
    return emulator::exchange(mask, emulator::SHUFFLE_UP, value, lane >= distance ? lane - distance : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
    const unsigned lane = emulator::lane();
    return emulator::exchange(mask, emulator::SHUFFLE_DOWN, value, lane + distance < 32 ? lane + distance : lane);
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
    if (mask != ~0u) {
        emulator::fail("lanes that a mask leaves out are not emulated");
    }
    const uint64_t *votes = emulator::current->exchange(emulator::VOTE, vote);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        bits |= static_cast<unsigned>(votes[lane]) << lane;
    }
    return bits;
}
inline bool __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
inline bool __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) == ~0u; }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
template <class T>
T __ldg(const T *from) {
    return *from;
}

template <class T>
T atomicAdd(T *target, std::common_type_t<T> value) {
    const T before = __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);
    emulator::changed();
    return before;
}
template <class T>
T atomicMax(T *target, std::common_type_t<T> value) {
    T seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (seen < value &&
           !__atomic_compare_exchange_n(target, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return seen;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}

/// To be called, where there is no `__CUDA_ARCH__`, by each thread that waits for what others write.
inline void sync_some(unsigned threads) { emulator::current->sync_some(threads); }
inline void take_turns() { emulator::current->take_turns(); }

/// To be called after a change that others wait for so.
inline void tell_others() { emulator::changed(); }

/// Replaces the instructions of GridBarrier: one thread of each block waits until all blocks have added to the counter.
inline void meet_other_blocks(uint32_t *counter, uint32_t expected) { emulator::wait_for_blocks(counter, expected); }

/// The function that the fake driver calls for a kernel.
#define EMULATED(name)                                                                                      \
    extern "C" void name##_emulated(unsigned blocks, unsigned threads, unsigned cluster, int cooperative,   \
                                    void **arguments) {                                                     \
        emulator::launch(name, blocks, threads, cluster, cooperative != 0, arguments);                      \
    }
