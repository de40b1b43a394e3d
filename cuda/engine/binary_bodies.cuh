// Factors of more than 32 variables: a warp has 32 literals, or parts of the body that are as large as each other, and combines
// their bodies along the tree of the factor. Then, from the top, each part gets the body of all others. See
// binary_large_factors.cuh and binary_level_bodies.cuh.
#pragma once

#include "binary_tiles.cuh"

namespace fastlbp {

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

/// A literal of a large factor, as a thread has it: its message, and whether the variable is in state 0. A thread may have none.
struct Literal {
    Packed odds;
    bool negated, is_there;

    template <class T>
    __device__ __forceinline__ Body<T> body() const {
        const Body<T> own = Body<T>::literal(odds, negated);
        return is_there ? own : Body<T>::neutral();
    }
};

/// The body of the literals of a warp.
__device__ __forceinline__ WideBody body_of_literals(const Literal &literal, bool maxima) {
    if (RangeOfRound::holds(literal.odds, Packed::one())) {
        const BodyTree<double> tree(literal.body<double>(), maxima);
        return WideBody{Wide::from_f64(tree.all.all), Wide::from_f64(tree.all.not_all)};
    }
    return BodyTree<Wide>(literal.body<Wide>(), maxima).all;
}

/// What the variable of this thread's literal is sent, given the body of all that the warp does not have. `may_fit`: coefficients
/// are such that doubles may do.
__device__ __forceinline__ Packed message_to_literal(const Literal &literal, const WideBody &above, Packed head,
                                                     const HeadValues &values, bool may_fit, bool maxima) {
    Body<double> plain;
    if (may_fit && RangeOfRound::has(above, plain) && RangeOfRound::holds(literal.odds, head)) {
        const Body<double> rest = BodyTree<double>(literal.body<double>(), maxima).rest(plain);
        return odds_along(rest, head, values, false, literal.negated, maxima);
    }
    const WideBody rest = BodyTree<Wide>(literal.body<Wide>(), maxima).rest(above);
    return odds_along(rest, head, values, false, literal.negated, maxima);
}

/// A body as warps hand it over to each other: in BODY_WORDS, none of them negative, so that UNSENT is told from them.
struct WordsOfBody {
    uint64_t words[BODY_WORDS];

    /// What is added to an exponent, which then is not negative.
    static constexpr int64_t BIAS_OF_EXPONENT = int64_t(1) << 62;

    __device__ __forceinline__ explicit WordsOfBody(const WideBody &body) {
        put(body.all, words);
        put(body.not_all, words + 2);
    }

    __device__ __forceinline__ WideBody body() const { return WideBody{number(words), number(words + 2)}; }

    __device__ __forceinline__ void hand_over_to(uint64_t *to) const {
        hand_over(to, words[0], words[1]);
        hand_over(to + 2, words[2], words[3]);
    }

    __device__ __forceinline__ void look_for_body(const uint64_t *at) {
        look_for_two(at, words[0], words[1]);
        look_for_two(at + 2, words[2], words[3]);
    }

    __device__ __forceinline__ bool is_missing() const {
        bool missing = false;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BODY_WORDS; ++i) {
            missing |= has_other_sign(words[i], 0);
        }
        return missing;
    }

private:
    static __device__ __forceinline__ void put(const Wide &x, uint64_t *words) {
        words[0] = to_bits(x.significand);
        words[1] = static_cast<uint64_t>(x.exponent + BIAS_OF_EXPONENT);
    }
    static __device__ __forceinline__ Wide number(const uint64_t *words) {
        return Wide{from_bits(words[0]), static_cast<int64_t>(words[1]) - BIAS_OF_EXPONENT};
    }
};

/// Where a body is to be, nothing is.
__device__ __forceinline__ void reset_body(uint64_t *to) {
    hand_over(to, UNSENT, UNSENT);
    hand_over(to + 2, UNSENT, UNSENT);
}

}  // namespace fastlbp
