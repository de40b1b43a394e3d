// What is found of a state while the next pass runs by levels: warps whose messages are all sent take a piece of it
// after the other, and those that still wait are spared.
#pragma once

#include "binary_measure.cuh"
#include "binary_pieces.cuh"

namespace fastlbp {

/// Variables with few factors, and factors, of a piece.
constexpr uint32_t FEW_OF_PIECE = 32;
constexpr uint32_t FACTORS_OF_PIECE = 32;

/// The next piece, for a warp.
__device__ __forceinline__ uint32_t take_piece(uint32_t *taken) {
    uint32_t piece = 0;
    if (threadIdx.x % 32 == 0) {
        piece = atomicAdd(taken, 1u);
    }
    return __shfl_sync(~0u, piece, 0);
}

/// Says to wait_for_pieces that what this thread and those that it met have written is there.
__device__ __forceinline__ void finish_piece(uint32_t *finished) {
    __threadfence();
    atomicAdd(finished, 1u);
#ifndef __CUDA_ARCH__
    tell_others();
#endif
}

__device__ __forceinline__ void wait_for_pieces(const uint32_t *finished, uint32_t pieces) {
    uint32_t seen = 0;
    do {
        if (threadIdx.x % 32 == 0) {
            seen = load_acquire(finished);
#ifndef __CUDA_ARCH__
            take_turns();
#endif
        }
        seen = __shfl_sync(~0u, seen, 0);
    } while (seen < pieces);
}

/// Small hubs of a class that a warp takes at once, and how many times it has to.
__device__ __forceinline__ uint32_t hubs_of_piece(uint32_t c) { return 32 >> (HUB_CLASSES - 1 - c); }

__device__ __forceinline__ uint32_t pieces_of_class(const Binary &g, uint32_t c) {
    return (g.classes[c + 1] - g.classes[c] + hubs_of_piece(c) - 1) / hubs_of_piece(c);
}

/// Pieces of all variables but large hubs.
__device__ __forceinline__ uint32_t pieces_of_state(const Binary &g, const Watch &watch, bool inputs) {
    const uint32_t end = end_of_variables(g, watch, inputs);
    uint32_t pieces = end > g.fours ? (end - g.fours + FEW_OF_PIECE - 1) / FEW_OF_PIECE : 0;
    for (uint32_t c = 1; c < HUB_CLASSES; ++c) {
        pieces += pieces_of_class(g, c);
    }
    return pieces;
}

/// Looks at a piece, by a warp; hubs come first.
__device__ __forceinline__ void look_at_piece(const Binary &g, uint32_t piece, const Packed *from, const Sink &sink,
                                              Watch &watch) {
    for (uint32_t c = 1; c < HUB_CLASSES; ++c) {
        const uint32_t pieces = pieces_of_class(g, c);
        if (piece < pieces) {
            const uint32_t first = g.classes[c] + piece * hubs_of_piece(c);
            const uint32_t end = smaller_of(first + hubs_of_piece(c), g.classes[c + 1]);
            small_hubs(g, first, end, HUB_CLASSES - 1 - c, 0, 1, from, sink, watch);
            return;
        }
        piece -= pieces;
    }
    const uint32_t first = g.fours + piece * FEW_OF_PIECE;
    const uint32_t end = smaller_of(first + FEW_OF_PIECE, end_of_variables(g, watch, sink.inputs != nullptr));
    for (uint32_t position = first + threadIdx.x % 32; position < end; position += 32) {
        look_at_few(g, position, from, sink, watch);
    }
}

/// The entry for who looks at the state after n passes, or is the other one that does.
__device__ __forceinline__ uint32_t looks_at(uint64_t n, bool is_other) {
    return static_cast<uint32_t>(n % 4) + (is_other ? 4 : 0);
}

/// What is looked for in a state.
enum Sought : uint32_t {
    CONTRADICTIONS = 1,
    BELIEFS = 2,
    /// What factors get, by BINGO's rule.
    INPUTS = 4,
};

struct Look {
    const Binary &g;
    const Packed *from;
    LookProgress *of_state;
    Pieces pieces_of_hubs;
    bool inputs;
    Watch watch;

    /// For what is in `sought`. Of damped runs two look at a state, at its messages as they are and as they were before
    /// damping; one of them is the other.
    __device__ __forceinline__ Look(const Binary &graph, const Loop &loop, uint64_t n, uint32_t sought,
                                    const Packed *messages, bool is_other)
        : g(graph), from(messages), of_state(loop.control->scans + looks_at(n, is_other)),
          pieces_of_hubs(graph, looks_at(n, is_other)),
          inputs((sought & INPUTS) != 0 && loop.rule.kind == RULE_BINGO),
          watch(graph, loop.rule, n, (sought & BELIEFS) != 0, (sought & CONTRADICTIONS) != 0,
                (sought & CONTRADICTIONS) != 0, loop.control->counters + n % 4) {}

    __device__ __forceinline__ Sink sink() const {
        return Sink{nullptr, inputs ? g.inputs : nullptr, g.changes};
    }

    /// Whether others have taken all pieces: for warps that come last, so that one look is enough.
    __device__ __forceinline__ bool all_taken(uint32_t pieces) const {
        const uint32_t taken = load_relaxed(&of_state->taken), of_factors = load_relaxed(&of_state->factors_taken);
        return __all_sync(~0u, taken >= pieces && (!inputs || of_factors >= g.factors / FACTORS_OF_PIECE + 1));
    }

    /// Each warp calls this when it is free. Pieces of large hubs are multiplied first, and looked at last: so what is
    /// waited for is seen to by warps that wait for nothing.
    __device__ __forceinline__ void look() {
        const uint32_t hubs = g.hub_pieces[g.classes[1]], pieces = pieces_of_state(g, watch, inputs) + 2 * hubs;
        if (all_taken(pieces)) {
            return;
        }
        for (bool multiplied = false;;) {
            const uint32_t piece = take_piece(&of_state->taken);
            if (piece >= pieces) {
                break;
            }
            uint32_t *finished = inputs ? &of_state->finished : nullptr;
            if (piece < hubs) {
                multiply_piece(g, pieces_of_hubs, piece, from);
                finished = &of_state->multiplied;
            } else if (piece < pieces - hubs) {
                look_at_piece(g, piece - hubs, from, sink(), watch);
            } else {
                if (!multiplied) {
                    wait_for_pieces(&of_state->multiplied, hubs);
                    multiplied = true;
                }
                send_piece(g, pieces_of_hubs, piece - (pieces - hubs), from, sink(), watch);
            }
            __syncwarp();
            if (finished && threadIdx.x % 32 == 0) {
                finish_piece(finished);
            }
        }
        if (inputs) {
            wait_for_pieces(&of_state->finished, pieces - hubs);
            for (;;) {
                const uint32_t first = take_piece(&of_state->factors_taken) * FACTORS_OF_PIECE;
                if (first >= g.factors) {
                    break;
                }
                measure_some_factors(g, first, smaller_of(first + FACTORS_OF_PIECE, g.factors), watch);
            }
        }
        if (watch.measuring || inputs) {
            watch.finish();
        }
    }
};

}  // namespace fastlbp
