// What the threads of a block have in common.
#pragma once

#include "binary.cuh"

namespace fastlbp {

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
    /// Where hubs hand over their messages in this pass, and where they did in the one before.
    Packed *prepared, *retired;
    /// Pairs of what is sent along inputs of which it is known, by source.
    const Packed *known;
    Tally *of_state, *of_pass;
    HornCoefficients coefficients[SHARED_COEFFICIENTS];

    __device__ __forceinline__ void begin_pass(uint32_t buffer, Tally *state, Tally *pass) {
        if (threadIdx.x == 0) {
            from = g.state(buffer);
            to = g.state(buffer ^ 1);
            prepared = g.prepared + (buffer ? g.four_slot : 0);
            retired = g.prepared + (buffer ? 0 : g.four_slot);
            of_state = state;
            of_pass = pass;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void fill(const Binary &binary, const Loop &passes) {
        if (threadIdx.x == 0) {
            g = binary;
            loop = passes;
            prepared = nullptr;
            known = g.prepared + 2 * g.four_slot;
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
