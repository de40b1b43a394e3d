// Factors of more than 32 variables where all messages are sent at once. Made by src/engine/cuda/binary/large_factors.rs.
//
// All variables of such a factor are hubs of all blocks. The variables but the head come in rounds of 32 literals, and a piece is
// as many rounds as a power of two, of which the last piece may have fewer. A warp computes the body of a piece and hands it over;
// when the bodies of all pieces are there, it sends the piece's messages, and with the first piece that to the head. So a warp
// sees to all its pieces twice, before and after it sees to homes, and waits for others only the second time.
//
// Graphs with such factors have a kernel of their own, as a call that is not made takes registers all the same. It is one only:
// homes take turns even if there is one for each block.
#pragma once

#include "binary_exchange.cuh"
#include "binary_tiles.cuh"

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
    for (uint32_t row = starts[FLOOD_LARGE_FACTORS]; row < starts[FLOOD_HUB_KINDS];) {
        const PieceOfFactor piece(block, row);
        work(piece);
        row = piece.next_row();
    }
}

/// A body in numbers that do for products of any number of messages.
typedef Body<Wide> WideBody;

__device__ __forceinline__ double shuffle(double x, uint32_t lane) { return __shfl_sync(~0u, x, static_cast<int>(lane)); }
__device__ __forceinline__ Wide shuffle(const Wide &x, uint32_t lane) {
    return Wide{shuffle(x.significand, lane),
                __shfl_sync(~0u, static_cast<long long>(x.exponent), static_cast<int>(lane))};
}
template <class T>
__device__ __forceinline__ Max<T> shuffle(const Max<T> &x, uint32_t lane) {
    return Max<T>{shuffle(x.value, lane)};
}
template <class T>
__device__ __forceinline__ Body<T> shuffle(const Body<T> &x, uint32_t lane) {
    return Body<T>{shuffle(x.all, lane), shuffle(x.not_all, lane)};
}

/// The same numbers as those of maxima, and back.
template <class T>
__device__ __forceinline__ Body<Max<T>> of_maxima(const Body<T> &x) {
    return Body<Max<T>>{Max<T>{x.all}, Max<T>{x.not_all}};
}
template <class T>
__device__ __forceinline__ Body<T> of_sums(const Body<Max<T>> &x) {
    return Body<T>{x.all.value, x.not_all.value};
}

/// The body of two parts, of sums or of maxima. Called, since these are many instructions, and the cache of them is small.
__device__ __noinline__ inline WideBody combined(WideBody a, WideBody b, bool maxima) {
    return maxima ? of_sums(combine(of_maxima(a), of_maxima(b))) : combine(a, b);
}

/// The same where doubles do.
__device__ __forceinline__ Body<double> combined(const Body<double> &a, const Body<double> &b, bool maxima) {
    const double sum = b.all + b.not_all, largest = larger(b.all, b.not_all);
    const double x = a.not_all * (maxima ? largest : sum), y = a.all * b.not_all;
    return Body<double>{a.all * b.all, maxima ? larger(x, y) : x + y};
}

/// The tree over bodies, one of each thread of a warp, of which the first ones count: those of others are neutral, and what others
/// get has no meaning.
template <class T>
struct BodyTree {
    /// Of each level the body of the half that this thread is not in; and the whole.
    Body<T> siblings[5], all;
    bool maxima;
    uint32_t count;

    __device__ __forceinline__ BodyTree(const Body<T> &own, bool of_maxima, uint32_t threads = 32)
        : all(own), maxima(of_maxima), count(threads) {
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < 5; ++level) {
            if (1u << level < count) {
                siblings[level] = shuffle(all, (threadIdx.x % 32) ^ (1u << level));
                const bool right = (threadIdx.x >> level & 1) != 0;
                all = combined(right ? siblings[level] : all, right ? all : siblings[level], maxima);
            }
        }
    }

    /// The body without the own one, given what is above.
    __device__ __forceinline__ Body<T> rest(Body<T> above) const {
        FASTLBP_UNROLL
        for (int level = 4; level >= 0; --level) {
            if (1u << level < count) {
                above = combined(above, siblings[level], maxima);
            }
        }
        return above;
    }
};

/// The odds that the head is sent, given the whole body; or the variable of a literal, given the rest of the body.
template <class T>
__device__ __forceinline__ Packed odds_along(const Body<T> &body, Packed head, const HeadValues &values, bool to_head,
                                             bool negated) {
    const HeadWeights<T> weights(head, values);
    T holds, fails;
    weights.with_rest(body, holds, fails);
    return FromPacked<T>::ratio(to_head ? head_weight(body, values, 0) : holds, to_head ? head_weight(body, values, 1) : fails,
                                negated && !to_head);
}

template <class T>
__device__ __noinline__ Packed odds_along(Body<T> body, Packed head, const HeadValues &values, bool to_head, bool negated,
                                          bool maxima) {
    return maxima ? odds_along(of_maxima(body), head, values, to_head, negated)
                  : odds_along(body, head, values, to_head, negated);
}

/// Where doubles do for a round of literals: the exponents of their messages, and of the head's, add up to less than MOST, and
/// those of the two numbers above differ by no more than MOST_OF_ABOVE, the larger one being a significand. Then, as FloodRange
/// says, all numbers are within 2^-1000..2^1000, and have the digits that they have as Wide.
struct RangeOfRound {
    static constexpr int64_t MOST_OF_ABOVE = 300;
    static constexpr uint32_t MOST = static_cast<uint32_t>(1000 - 65 - 65 - 2 * 2 * 32 - MOST_OF_ABOVE) << FloodRange::PART;

    /// Whether they do for this warp's messages.
    static __device__ __forceinline__ bool holds(Packed own, Packed head) {
        FloodRange range;
        range.add(own);
        FASTLBP_UNROLL
        for (int level = 0; level < 5; ++level) {
            range.sum = smaller_of(range.sum + __shfl_xor_sync(~0u, range.sum, 1 << level), MOST);
        }
        range.add(head);
        return __all_sync(~0u, range.sum < MOST);
    }

    /// What is above as doubles: only the quotient of the two numbers matters for messages.
    static __device__ __forceinline__ bool has(const WideBody &above, Body<double> &plain) {
        const int64_t by = above.not_all.exponent - above.all.exponent;
        if (is_zero(above.all) | is_zero(above.not_all)) {
            plain = Body<double>{is_zero(above.all) ? 0.0 : above.all.significand,
                                 is_zero(above.not_all) ? 0.0 : above.not_all.significand};
            return !(is_zero(above.all) & is_zero(above.not_all));
        }
        if (by > MOST_OF_ABOVE || by < -MOST_OF_ABOVE) {
            return false;
        }
        plain.all = above.all.significand * (by > 0 ? Wide::scale_down(-by) : 1.0);
        plain.not_all = above.not_all.significand * (by < 0 ? Wide::scale_down(by) : 1.0);
        return true;
    }
};

/// The bodies of pieces, as warps hand them over to each other in a pass, in BODY_WORDS that are not negative: UNSENT is. For
/// passes from either buffer their own, so that those of the pass before are reset when nobody reads them.
struct BodiesOfPieces {
    uint64_t *own, *before;

    /// What is added to an exponent, which then is not negative.
    static constexpr int64_t BIAS_OF_EXPONENT = int64_t(1) << 62;

    __device__ __forceinline__ explicit BodiesOfPieces(const Block &block) : own(block.g.factor_bodies) {
        before = own + BODY_WORDS * block.g.factor_pieces;
        if (block.from != block.g.messages) {
            exchange(own, before);
        }
    }

    __device__ __forceinline__ void set(uint32_t piece, const WideBody &body) const {
        hand_over_number(own + BODY_WORDS * piece, body.all);
        hand_over_number(own + BODY_WORDS * piece + 2, body.not_all);
    }

    /// Those of the pass before, and of this one.
    __device__ __forceinline__ void reset(uint32_t piece) const { reset(before, piece); }
    __device__ __forceinline__ void reset_own(uint32_t piece) const { reset(own, piece); }

    /// Those from `first` on, before `end`, as soon as they are there; others are neutral.
    template <int COUNT>
    __device__ __forceinline__ void read(uint32_t first, uint32_t end, WideBody (&bodies)[COUNT]) const {
        uint64_t words[COUNT][BODY_WORDS];
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < COUNT; ++i) {
            put_number(Real<Wide>::one(), words[i]);
            put_number(Real<Wide>::zero(), words[i] + 2);
        }
        bool missing = true;
        while (missing) {
            missing = false;
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < COUNT; ++i) {
                if (first + i < end) {
                    const uint64_t *const at = own + BODY_WORDS * (first + i);
                    look_for_two(at, words[i][0], words[i][1]);
                    look_for_two(at + 2, words[i][2], words[i][3]);
                }
            }
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < COUNT; ++i) {
                FASTLBP_UNROLL
                for (uint32_t j = 0; j < BODY_WORDS; ++j) {
                    missing |= has_other_sign(words[i][j], 0);
                }
            }
#ifndef __CUDA_ARCH__
            if (missing) {
                take_turns();
            }
#endif
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < COUNT; ++i) {
            bodies[i] = WideBody{number(words[i]), number(words[i] + 2)};
        }
    }

private:
    static __device__ __forceinline__ void put_number(const Wide &x, uint64_t *words) {
        words[0] = to_bits(x.significand);
        words[1] = static_cast<uint64_t>(x.exponent + BIAS_OF_EXPONENT);
    }
    static __device__ __forceinline__ void hand_over_number(uint64_t *to, const Wide &x) {
        uint64_t words[2];
        put_number(x, words);
        hand_over(to, words[0], words[1]);
    }
    static __device__ __forceinline__ Wide number(const uint64_t *words) {
        return Wide{from_bits(words[0]), static_cast<int64_t>(words[1]) - BIAS_OF_EXPONENT};
    }
    static __device__ __forceinline__ void reset(uint64_t *all, uint32_t piece) {
        hand_over(all + BODY_WORDS * piece, UNSENT, UNSENT);
        hand_over(all + BODY_WORDS * piece + 2, UNSENT, UNSENT);
    }
};

/// The body of `size` pieces from `first` on, as many as a power of two, in the shape of the tree; those from `end` on are
/// neutral.
__device__ __forceinline__ WideBody body_of_pieces(const BodiesOfPieces &bodies, uint32_t first, uint32_t size, uint32_t end,
                                                   bool maxima) {
    constexpr uint32_t AT_ONCE = 2;
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
struct LargeFactors {
    const Block &block;

    /// The first half for all pieces of this warp, when all hubs have sent.
    static __device__ __noinline__ void multiply() {
        const LargeFactors work = {shared_block()};
        for_pieces_of_factors(work.block, [&](const PieceOfFactor &piece) { work.multiply_piece(piece); });
    }

    /// The second half.
    static __device__ __noinline__ void send() {
        const LargeFactors work = {shared_block()};
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
            const Packed message = message_of_round(words, shuffle(above, round), head, values, may_fit);
            if (words.is_there()) {
                send(words.slot(), message);
            }
            __syncwarp();
        }
    }

    /// What the variable of this thread is sent in a round, given the body without the round.
    __device__ __forceinline__ Packed message_of_round(const FloodWords &words, const WideBody &above, Packed head,
                                                       const HeadValues &values, bool may_fit) const {
        const Packed odds = input(words);
        const bool negated = words.number != 0;
        Body<double> plain;
        if (may_fit && RangeOfRound::has(above, plain) && RangeOfRound::holds(odds, head)) {
            const Body<double> rest = BodyTree<double>(literal<double>(words, odds), maxima()).rest(plain);
            return odds_along(rest, head, values, false, negated, maxima());
        }
        const WideBody rest = BodyTree<Wide>(literal<Wide>(words, odds), maxima()).rest(above);
        return odds_along(rest, head, values, false, negated, maxima());
    }

    __device__ __forceinline__ bool maxima() const { return block.g.maxima != 0; }

    /// What the variable of this thread sends, given its words; nothing is one.
    __device__ __forceinline__ Packed input(const FloodWords &words) const {
        if (words.is_sent()) {
            return block.g.prepared[words.slot()];
        }
        return words.is_there() ? observed_message(words.input) : Packed::one();
    }

    template <class T>
    static __device__ __forceinline__ Body<T> literal(const FloodWords &words, Packed odds) {
        const Body<T> own = Body<T>::literal(odds, words.number != 0);
        return words.is_there() ? own : Body<T>::neutral();
    }

    /// The body of each round of a piece, each in one thread.
    __device__ __noinline__ WideBody bodies_of_rounds(const PieceOfFactor &piece) const {
        WideBody own = WideBody::neutral();
        for (uint32_t round = 0; round < piece.rounds; ++round) {
            const FloodWords words = piece.words_of_round(block, round);
            const Packed odds = input(words);
            WideBody all;
            if (RangeOfRound::holds(odds, Packed::one())) {
                const BodyTree<double> tree(literal<double>(words, odds), maxima());
                all = WideBody{Wide::from_f64(tree.all.all), Wide::from_f64(tree.all.not_all)};
            } else {
                all = BodyTree<Wide>(literal<Wide>(words, odds), maxima()).all;
            }
            if (threadIdx.x % 32 == round) {
                own = all;
            }
        }
        return own;
    }

    /// A message, or what is sent instead where no state is left.
    __device__ __forceinline__ Packed with_states(uint32_t slot, Packed message) const {
        if (message != Packed::contradiction()) {
            return message;
        }
        note_zero_by_zero(block.g, slot, block.of_pass);
        block.mark();
        return Packed::one();
    }

    /// Sends a message along an edge.
    __device__ __forceinline__ void send(uint32_t slot, Packed message) const {
        message = with_states(slot, message);
        if (block.g.undamped) {
            block.undamped_to[slot] = message;
            message = with_states(slot, damped(block.g, block.from[slot], message));
        }
        block.to[slot] = message;
    }
};

}  // namespace fastlbp
