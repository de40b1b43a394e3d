// How warps wait for levels of a pass to be completed.
#pragma once

#include "stream.cuh"

namespace fastlbp {

/// The levels of narrow blocks, which are one cluster or a single block. See stream.cuh.
struct Completions {
    Block &block;
    uint32_t blocks;

    /// Waits until warps have completed levels so many times in this pass, and sees what they wrote.
    __device__ __forceinline__ void wait(uint32_t count) const {
        const uint32_t wanted = block.completed_before + count;
        if (threadIdx.x % 32 == 0) {
            // An atomic operation, as the others' are.
            while (static_cast<int32_t>(atomicAdd(&block.completed, 0u) - wanted) < 0) {
#ifndef __CUDA_ARCH__
                take_turns();
#endif
            }
        }
        __syncwarp();
#if __CUDA_ARCH__ >= 900
        if (blocks > 1) {
            asm volatile("fence.acq_rel.cluster;" ::: "memory");
            return;
        }
#endif
        __threadfence_block();
    }

    /// This warp has completed a level.
    __device__ __forceinline__ void complete() const {
        __syncwarp();
#if __CUDA_ARCH__ >= 900
        if (blocks > 1) {
            if (threadIdx.x % 32 < blocks) {
                asm volatile(
                    "{\n\t.reg .b32 remote;\n\t"
                    "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                    "red.release.cluster.shared::cluster.add.u32 [remote], 1;\n\t}" ::"r"(
                        static_cast<uint32_t>(__cvta_generic_to_shared(&block.completed))),
                    "r"(threadIdx.x % 32)
                    : "memory");
            }
            return;
        }
#elif !defined(__CUDA_ARCH__)
        if (blocks > 1) {
            if (threadIdx.x % 32 < blocks) {
                atomicAdd(shared_of_block(&block.completed, threadIdx.x % 32), 1u);
            }
            return;
        }
#endif
        if (threadIdx.x % 32 == 0) {
            __threadfence_block();
            atomicAdd(&block.completed, 1u);
        }
    }
};

}  // namespace fastlbp
