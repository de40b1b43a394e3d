// Messages of wide factors, and what is noted of messages.
#pragma once

#include "binary_hubs.cuh"
#include "block.cuh"

namespace fastlbp {

/// Notes that a factor's message was 0/0.
__device__ __noinline__ inline void note_zero_by_zero(const Binary &g, uint32_t slot, Tally *of_pass) {
    note_factor(of_pass, variable_of_slot(g, slot));
}

/// damp_odds for any damping, by value.
__device__ __noinline__ inline Packed damped_by_powers(Packed old_odds, Packed now, double damping) {
    return damp_odds(old_odds, now, damping) ? now : Packed::contradiction();
}

/// A message damped, given the old one; a contradiction where these leave no state.
__device__ __forceinline__ Packed damped(const Binary &g, Packed old_odds, Packed now) {
    if (g.mean_numerator == 0) {
        return damped_by_powers(old_odds, now, g.damping);
    }
    return damp_odds_by_roots(old_odds, now, g.mean_numerator) ? now : Packed::contradiction();
}

__device__ __forceinline__ Far shuffle_xor(const Far &x, int distance) {
    return Far{__shfl_xor_sync(~0u, x.significand, distance), __shfl_xor_sync(~0u, x.exponent, distance)};
}

__device__ __forceinline__ double shuffle_xor(double x, int distance) { return __shfl_xor_sync(~0u, x, distance); }

template <class T>
__device__ __forceinline__ Max<T> shuffle_xor(const Max<T> &x, int distance) {
    return Max<T>{shuffle_xor(x.value, distance)};
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
