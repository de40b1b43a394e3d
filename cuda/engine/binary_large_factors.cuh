// Factors of more than 32 variables where all messages are sent at once. Made by src/engine/cuda/binary/large_factors.rs.
//
// They have warps of their own (binary_own_warps.cuh). The variables but the head come in rounds of 32 literals, and a piece is
// as many rounds as a power of two, of which the last piece may have fewer. A warp computes the body of a piece and hands it over;
// when the bodies of all pieces are there, it sends the piece's messages, and with the first piece that to the head. So a warp
// sees to all its pieces twice, before and after it sees to homes, and waits for others only the second time.
#pragma once

#include "binary_bodies.cuh"
#include "binary_own_warps.cuh"

namespace fastlbp {

// A unit of a piece has two words for each thread in each row. First row: of the first thread the word of the edge to the head;
// the second words of the first threads are the number of the piece, those of the factor's first piece and of the one behind
// its last, the number of coefficients, and the number of rounds. Then a row for each round: the word of an edge, ~0 for
// nothing, and whether the literal is that the variable is in state 0.

/// What all threads of a warp know of a piece.
struct PieceOfFactor {
    uint32_t row, own, first, end, coefficients, rounds;
    FloodWords head;

    __device__ __forceinline__ PieceOfFactor(const Block &block, uint32_t at) : row(at), head(block, at) {
        own = __shfl_sync(~0u, head.number, 0);
        first = __shfl_sync(~0u, head.number, 1);
        end = __shfl_sync(~0u, head.number, 2);
        coefficients = __shfl_sync(~0u, head.number, 3);
        rounds = __shfl_sync(~0u, head.number, 4);
    }

    __device__ __forceinline__ bool is_first() const { return own == first; }
    __device__ __forceinline__ FloodWords words_of_round(const Block &block, uint32_t round) const {
        return FloodWords(block, row + 2 * (1 + round));
    }
    __device__ __forceinline__ uint32_t next_row() const { return row + 2 * (1 + rounds); }
};

/// What is to be done with each piece of this warp.
template <class Work>
__device__ __forceinline__ void for_pieces_of_factors(const Block &block, const Work &work) {
    const uint32_t *const starts = flood_starts().of_warp(threadIdx.x / 32);
    for (uint32_t row = starts[FLOOD_LARGE_FACTORS]; row < starts[FLOOD_SMALL_TABLES];) {
        const PieceOfFactor piece(block, row);
        work(piece);
        row = piece.next_row();
    }
}

/// The bodies of pieces, as warps hand them over to each other in a pass. For passes from either buffer their own, so that those
/// of the pass before are reset when nobody reads them.
struct BodiesOfPieces {
    /// So many are read at once.
    static constexpr uint32_t AT_ONCE = 2;
    uint64_t *own, *before;

    __device__ __forceinline__ explicit BodiesOfPieces(const Block &block) : own(block.g.factor_bodies) {
        before = own + BODY_WORDS * block.g.factor_pieces;
        if (block.from != block.g.messages) {
            exchange(own, before);
        }
    }

    __device__ __forceinline__ void set(uint32_t piece, const WideBody &body) const {
        WordsOfBody(body).hand_over_to(own + BODY_WORDS * piece);
    }

    /// Those of the pass before, and of this one.
    __device__ __forceinline__ void reset(uint32_t piece) const { reset_body(before + BODY_WORDS * piece); }
    __device__ __forceinline__ void reset_own(uint32_t piece) const { reset_body(own + BODY_WORDS * piece); }

    /// Those from `first` on, before `end`, as soon as they are there; others are neutral.
    __device__ __forceinline__ void read(uint32_t first, uint32_t end, WideBody (&bodies)[AT_ONCE]) const {
        const WordsOfBody neutral(WideBody::neutral());
        WordsOfBody some[AT_ONCE] = {neutral, neutral};
        bool missing = true;
        while (missing) {
            missing = false;
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < AT_ONCE; ++i) {
                if (first + i < end) {
                    some[i].look_for_body(own + BODY_WORDS * (first + i));
                }
            }
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < AT_ONCE; ++i) {
                missing |= some[i].is_missing();
            }
#ifndef __CUDA_ARCH__
            if (missing) {
                take_turns();
            }
#endif
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            bodies[i] = some[i].body();
        }
    }
};

/// The body of `size` pieces from `first` on, as many as a power of two, in the shape of the tree; those from `end` on are
/// neutral.
__device__ __forceinline__ WideBody body_of_pieces(const BodiesOfPieces &bodies, uint32_t first, uint32_t size, uint32_t end,
                                                   bool maxima) {
    constexpr uint32_t AT_ONCE = BodiesOfPieces::AT_ONCE;
    WideBody stack[32], some[AT_ONCE];
    int depth = 0;
    for (uint32_t i = 0; i < size; i += AT_ONCE) {
        bodies.read(first + i, smaller_of(end, first + size), some);
        WideBody body = size == 1 ? some[0] : combined(some[0], some[1], maxima);
        for (uint32_t ones = i / AT_ONCE; ones & 1; ones >>= 1) {
            body = combined(stack[--depth], body, maxima);
        }
        stack[depth++] = body;
    }
    return stack[0];
}

/// The body of all pieces of a factor but `own`, by a warp, and that of all: the warp takes them as 32 equal parts, then the
/// part in which `own` is, and so on.
__device__ __forceinline__ WideBody body_without_piece(const BodiesOfPieces &bodies, uint32_t first, uint32_t end, uint32_t own,
                                                       bool maxima, WideBody &all) {
    uint32_t size = pieces_of_thread(first, end);
    WideBody rest = WideBody::neutral();
    for (bool is_top = true;; is_top = false) {
        const uint32_t parts = smaller_of((end - first + size - 1) / size, 32u);
        const BodyTree<Wide> tree(body_of_pieces(bodies, first + threadIdx.x % 32 * size, size, end, maxima), maxima, parts);
        all = is_top ? tree.all : all;
        const uint32_t at = (own - first) / size;
        rest = shuffle(tree.rest(rest), at);
        if (size == 1) {
            return rest;
        }
        first += at * size;
        end = smaller_of(end, first + size);
        size = size > 32 ? size / 32 : 1;
    }
}

/// What a warp does with pieces in a pass.
struct LargeFactors : OwnWarps {
    /// The first half for all pieces of this warp, when all hubs have sent.
    static __device__ __noinline__ void multiply() {
        const LargeFactors work = {{shared_block()}};
        for_pieces_of_factors(work.block, [&](const PieceOfFactor &piece) { work.multiply_piece(piece); });
    }

    /// The second half.
    static __device__ __noinline__ void send_pieces() {
        const LargeFactors work = {{shared_block()}};
        for_pieces_of_factors(work.block, [&](const PieceOfFactor &piece) { work.send_piece(piece); });
    }

    /// Where nobody reads bodies any more: those of passes from the last state are not there, or those of all.
    static __device__ __noinline__ void reset_bodies(bool all) {
        const Block &block = shared_block();
        const BodiesOfPieces bodies(block);
        for_pieces_of_factors(block, [&](const PieceOfFactor &piece) {
            if (threadIdx.x % 32 == 0) {
                bodies.reset_own(piece.own);
                if (all) {
                    bodies.reset(piece.own);
                }
            }
        });
    }

private:
    __device__ __forceinline__ void multiply_piece(const PieceOfFactor &piece) const {
        const BodyTree<Wide> rounds(bodies_of_rounds(piece), maxima(), piece.rounds);
        if (threadIdx.x % 32 == 0) {
            const BodiesOfPieces bodies(block);
            bodies.set(piece.own, rounds.all);
            bodies.reset(piece.own);
        }
    }

    /// The body of all is known to the first thread, which has the edge to the head.
    __device__ __forceinline__ void send_piece(const PieceOfFactor &piece) const {
        const HeadValues &values = block.coefficients_of(piece.coefficients).head;
        const Packed head = {__shfl_sync(~0u, input(piece.head).bits, 0)};
        WideBody all;
        const WideBody others = body_without_piece(BodiesOfPieces(block), piece.first, piece.end, piece.own,
                                                   maxima(), all);
        WideBody above = others;
        if (piece.rounds > 1) {
            above = BodyTree<Wide>(bodies_of_rounds(piece), maxima(), piece.rounds).rest(others);
        }
        if (piece.is_first() && piece.head.is_there()) {
            send(piece.head.slot(), odds_along(all, head, values, true, false, maxima()));
        }
        const bool may_fit = (block.coefficients_of(piece.coefficients).flags & HORN_PLAIN) != 0;
        for (uint32_t round = 0; round < piece.rounds; ++round) {
            const FloodWords words = piece.words_of_round(block, round);
            const Packed message =
                message_to_literal(literal(words), shuffle(above, round), head, values, may_fit, maxima());
            if (words.is_there()) {
                send(words.slot(), message);
            }
            __syncwarp();
        }
    }

    __device__ __forceinline__ Literal literal(const FloodWords &words) const {
        return Literal{input(words), words.number != 0, words.is_there()};
    }

    /// The body of each round of a piece, each in one thread.
    __device__ __noinline__ WideBody bodies_of_rounds(const PieceOfFactor &piece) const {
        WideBody own = WideBody::neutral();
        for (uint32_t round = 0; round < piece.rounds; ++round) {
            const FloodWords words = piece.words_of_round(block, round);
            const WideBody all = body_of_literals(literal(words), maxima());
            if (threadIdx.x % 32 == round) {
                own = all;
            }
        }
        return own;
    }
};

}  // namespace fastlbp
