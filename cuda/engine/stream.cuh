// What each warp has to do, as a stream of words that it reads ahead into shared memory while it waits for
// others. Made by src/engine/cuda/binary/streams.rs.
#pragma once

#include "binary.cuh"

namespace fastlbp {

/// Chunks are what a warp reads at a time: 16 bytes by each thread.
constexpr uint32_t CHUNK_WORDS = 128;
constexpr uint32_t RING_CHUNKS = 8;
constexpr uint32_t RING_WORDS = RING_CHUNKS * CHUNK_WORDS;
/// A unit begins with four words. The first: its kind (bits 0-1), number of variables (2-7), length in fours of
/// words (16-31). The last: whether it is the last one of the pass, whose length fills its chunk.
constexpr uint32_t UNIT_EMPTY = 0;
constexpr uint32_t UNIT_TILE = 1;
constexpr uint32_t UNIT_ITEM = 2;

/// Copies 16 bytes to shared memory, to be there after wait_for_copies.
__device__ __forceinline__ void copy_ahead(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
#else
    *static_cast<uint4 *>(to) = *static_cast<const uint4 *>(from);
#endif
}

__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// The words of a unit.
struct Words {
    const uint32_t *ring;
    uint32_t at;

    __device__ __forceinline__ uint32_t operator[](uint32_t index) const {
        return ring[(at + index) % RING_WORDS];
    }

    /// The first four.
    __device__ __forceinline__ uint4 four() const {
        return *reinterpret_cast<const uint4 *>(ring + at % RING_WORDS);
    }
};

/// The rings of a block's warps.
extern __shared__ uint4 rings[];

/// How far a warp's stream has come. In shared memory: in registers it would be spilled to where waiting for
/// other blocks empties the cache.
struct StreamState {
    const uint32_t *begin;
    uint32_t chunks;
    /// The next chunk to be read.
    uint32_t next;
    /// Words read ahead, those of them that are known to be there, and those that are done with; they only
    /// grow.
    uint32_t fetched, arrived, at;
};

/// A warp's stream. All threads of the warp call all functions; the first one writes the state.
struct WorkStream {
    __device__ __forceinline__ StreamState &state() const {
        __shared__ StreamState states[32];
        return states[threadIdx.x / 32];
    }

    __device__ __forceinline__ uint32_t *ring() const {
        return reinterpret_cast<uint32_t *>(rings) + threadIdx.x / 32 * RING_WORDS;
    }

    __device__ __forceinline__ void open(const Binary &g) const {
        const uint32_t warp = thread_of_grid() / 32;
        const uint32_t first = g.stream_starts[warp];
        if (threadIdx.x % 32 == 0) {
            state() = StreamState{g.stream_words + static_cast<uint64_t>(first) * CHUNK_WORDS,
                                  g.stream_starts[warp + 1] - first, 0, 0, 0, 0};
        }
        __syncwarp();
        fetch(0);
    }

    __device__ __forceinline__ void fetch(uint32_t at) const {
        const uint32_t lane = threadIdx.x % 32;
        StreamState &s = state();
        uint32_t fetched = s.fetched, next = s.next;
        while (fetched - at / CHUNK_WORDS * CHUNK_WORDS < RING_WORDS) {
            copy_ahead(ring() + fetched % RING_WORDS + 4 * lane,
                       s.begin + static_cast<uint64_t>(next) * CHUNK_WORDS + 4 * lane);
            fetched += CHUNK_WORDS;
            next = next + 1 == s.chunks ? 0 : next + 1;
        }
        // All have read what is written now.
        __syncwarp();
        if (lane == 0) {
            s.fetched = fetched;
            s.next = next;
        }
        __syncwarp();
    }

    /// The first four words of the current unit, all of which is there.
    __device__ __forceinline__ uint4 unit(Words &words) const {
        StreamState &s = state();
        const uint32_t at = s.at, arrived = s.arrived, fetched = s.fetched;
        __syncwarp();
        words = Words{ring(), at};
        uint4 head = {0, 0, 0, 0};
        bool there = false;
        if (static_cast<int32_t>(at + 4 - arrived) <= 0) {
            head = words.four();
            there = static_cast<int32_t>(at + 4 * (head.x >> 16) - arrived) <= 0;
        }
        if (!there) {
            wait_for_copies();
            __syncwarp();
            if (threadIdx.x % 32 == 0) {
                s.arrived = fetched;
            }
            head = words.four();
        }
        return head;
    }

    /// Goes on to the next unit.
    __device__ __forceinline__ void advance(uint32_t head) const {
        const uint32_t at = state().at, next = at + 4 * (head >> 16);
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            state().at = next;
        }
        __syncwarp();
        if (at / CHUNK_WORDS != next / CHUNK_WORDS) {
            fetch(next);
        }
    }
};

/// Coefficients that a block has in shared memory.
constexpr uint32_t SHARED_COEFFICIENTS = 64;

/// What the threads of a block look up all the time, in shared memory, which waiting for other blocks does not
/// empty as it does the cache.
struct Block {
    Binary g;
    Loop loop;
    /// The current pass: where it reads and writes, and what it finds.
    const Packed *from;
    Packed *to;
    Tally *of_state, *of_pass;
    HornCoefficients coefficients[SHARED_COEFFICIENTS];

    __device__ __forceinline__ void begin_pass(uint32_t buffer, Tally *state, Tally *pass) {
        if (threadIdx.x == 0) {
            from = g.messages[buffer];
            to = g.messages[buffer ^ 1];
            of_state = state;
            of_pass = pass;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void fill(const Binary &binary, const Loop &passes) {
        if (threadIdx.x == 0) {
            g = binary;
            loop = passes;
        }
        const uint32_t count = smaller_of(binary.coefficient_count, SHARED_COEFFICIENTS);
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            coefficients[i] = binary.coefficients[i];
        }
        __syncthreads();
    }

    __device__ __forceinline__ const HornCoefficients &coefficients_of(uint32_t number) const {
        return number < SHARED_COEFFICIENTS ? coefficients[number] : g.coefficients[number];
    }

    __device__ __forceinline__ HornLiterals literals(uint32_t number) const {
        return HornLiterals{coefficients_of(number), nullptr};
    }
};

/// The one of this block.
__device__ __forceinline__ Block &shared_block() {
    __shared__ double room[(sizeof(Block) + 7) / 8];
    return *reinterpret_cast<Block *>(room);
}

}  // namespace fastlbp
