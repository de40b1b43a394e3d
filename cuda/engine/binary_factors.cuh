// Messages of wide factors, and what is noted of messages.
#pragma once

#include "binary_hubs.cuh"
#include "block.cuh"

namespace fastlbp {

/// Notes that a factor's message was 0/0.
__device__ __noinline__ inline void note_zero_by_zero(const Binary &g, uint32_t slot, Tally *of_pass) {
    note_factor(of_pass, variable_of_slot(g, slot));
}

/// damp_odds for any damping, by value; or, with an active set, the old message unless the new one has moved.
__device__ __noinline__ inline Packed damped_or_kept(Packed old_odds, Packed now, double damping, double least_growth) {
    if (least_growth > 0.0) {
        return has_moved(old_odds, now, least_growth) ? now : old_odds;
    }
    return damp_odds(old_odds, now, damping) ? now : Packed::contradiction();
}

/// What is stored of a message, given the old one: it damped, a contradiction where that leaves no state. With an active set,
/// the old one unless the new one has moved; then `now` becomes the same.
__device__ __forceinline__ Packed stored(const Binary &g, Packed old_odds, Packed &now) {
    if (g.mean_numerator == 0) {
        const Packed message = damped_or_kept(old_odds, now, g.damping, g.least_growth);
        now = g.least_growth > 0.0 ? message : now;
        return message;
    }
    Packed message = now;
    return damp_odds_by_roots(old_odds, message, g.mean_numerator) ? message : Packed::contradiction();
}

__device__ __forceinline__ Far shuffle_xor(const Far &x, int distance) {
    return Far{__shfl_xor_sync(~0u, x.significand, distance), __shfl_xor_sync(~0u, x.exponent, distance)};
}

template <bool R>
__device__ __forceinline__ LooseOf<R> shuffle_xor(const LooseOf<R> &x, int distance) {
    return LooseOf<R>{__shfl_xor_sync(~0u, x.value, distance), __shfl_xor_sync(~0u, x.exponent, distance)};
}

template <Scaling S>
__device__ __forceinline__ InDouble<S> shuffle_xor(InDouble<S> x, int distance) {
    return InDouble<S>{__shfl_xor_sync(~0u, x.value, distance)};
}

__device__ __forceinline__ double shuffle_xor(double x, int distance) { return __shfl_xor_sync(~0u, x, distance); }

template <class T>
__device__ __forceinline__ Max<T> shuffle_xor(const Max<T> &x, int distance) {
    return Max<T>{shuffle_xor(x.value, distance)};
}

/// A message before the division: the weights of the states 1 and 0.
template <class T>
struct Fraction {
    T above, below;

    __device__ __forceinline__ Packed ratio() const { return FromPacked<T>::ratio(above, below, false); }
};

/// What is sent given the rest of the body, or by the head given all of it.
template <class T>
__device__ __forceinline__ Fraction<T> fraction(bool is_head, bool negated, const HeadWeights<T> &weights,
                                                const Body<T> &rest, const Body<T> &all, const HeadValues &f) {
    T holds, fails;
    weights.with_rest(rest, holds, fails);
    // f(h=1) and f(h=0) if all literals hold, and if not.
    const T weight1 = head_weight(all, f, 0), weight0 = head_weight(all, f, 1);
    // The head is not negated.
    return Fraction<T>{is_head ? weight1 : negated ? fails : holds, is_head ? weight0 : negated ? holds : fails};
}

/// The message of a factor to the variable of this thread, by groups of 2^LEVELS threads: the body's
/// variables in the first ones, the head in the last one; others have certain ones. In the numbers T.
template <class T, int LEVELS>
__device__ __forceinline__ Fraction<T> group_message(uint32_t lane, Packed value, bool negated, const HeadValues &f) {
    constexpr int WIDTH = 1 << LEVELS;
    const bool is_head = lane % WIDTH == WIDTH - 1;
    Body<T> body = Body<T>::literal(is_head ? Packed::infinity() : value, negated);
    const Packed head = Packed{__shfl_sync(~0u, value.bits, WIDTH - 1, WIDTH)};
    const HeadWeights<T> weights(head, f);
    Body<T> siblings[LEVELS];
    FASTLBP_UNROLL
    for (int level = 0; level < LEVELS; ++level) {
        siblings[level] = Body<T>{shuffle_xor(body.all, 1 << level), shuffle_xor(body.not_all, 1 << level)};
        const bool right = (lane >> level & 1) != 0;
        const Body<T> a = right ? siblings[level] : body, b = right ? body : siblings[level];
        body = combine(a, b);
    }
    Body<T> rest = siblings[LEVELS - 1];
    FASTLBP_UNROLL
    for (int level = LEVELS - 2; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    return fraction(is_head, negated, weights, rest, body, f);
}

/// Whether BalancedFar serves for the factors of a warp, by groups of 2^`levels` <= 8 threads that have an input each.
__device__ __forceinline__ bool may_be_balanced(uint32_t levels, Packed value) {
    uint32_t sum = balanced_exponent(value);
    FASTLBP_UNROLL
    for (uint32_t level = 0; level < 3; ++level) {
        const uint32_t other = __shfl_xor_sync(~0u, sum, 1 << level);
        sum += level < levels ? other : 0;
    }
    return __all_sync(~0u, sum < BALANCED_EXPONENTS);
}

/// The message of a factor of `arity` <= 32 variables to the one of this thread, whose input is `value`;
/// the head is the first. In the numbers T.
template <class T>
__device__ __forceinline__ Packed warp_message_in(uint32_t arity, Packed value, const HornLiterals &c) {
    const uint32_t lane = threadIdx.x % 32;
    // The body in the threads 0, 1, ...; the head in the last one.
    const Packed head = Packed{__shfl_sync(~0u, value.bits, 0)};
    const Packed literal = Packed{__shfl_down_sync(~0u, value.bits, 1)};
    Body<T> body = lane + 1 < arity ? c.template literal<T>(lane + 1, literal) : Body<T>::neutral();
    Body<T> siblings[5];
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        siblings[level] = Body<T>{shuffle_xor(body.all, 1 << level), shuffle_xor(body.not_all, 1 << level)};
        body = lane >> level & 1 ? combine(siblings[level], body) : combine(body, siblings[level]);
    }
    Body<T> rest = siblings[4];
    FASTLBP_UNROLL
    for (int level = 3; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    const Packed to_body = body_message(c, lane + 1, HeadWeights<T>(head, c.values()), rest);
    const Packed to_head = head_message(body, c.values());
    const Packed moved = Packed{__shfl_up_sync(~0u, to_body.bits, 1)};
    return lane == 0 ? to_head : moved;
}

/// The same where doubles do not do.
template <class T = Far>
__device__ __noinline__ uint64_t far_warp_message(uint32_t arity, uint64_t value, HornLiterals c) {
    return warp_message_in<T>(arity, Packed{value}, c).bits;
}

}  // namespace fastlbp
