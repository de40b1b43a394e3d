// src/kernel/damping.rs: the geometric mean of an old message and a new one.
#pragma once

#include "far.cuh"
#include "power.cuh"

namespace fastlbp {

/// Replaces the odds of a binary variable by old^d * new^(1-d); a state that either message excludes
/// stays excluded. `false` where no state is left, with `now` in no certain state.
FASTLBP_HD bool damp_odds(Packed old_odds, Packed &now, double damping) {
    const bool zero = old_odds == Packed::zero() || now == Packed::zero();
    const bool infinite = old_odds == Packed::infinity() || now == Packed::infinity();
    if (zero || infinite) {
        now = zero ? Packed::zero() : Packed::infinity();
    } else {
        now = Packed::pack(geometric_mean(old_odds.unpack(), now.unpack(), damping));
    }
    return !(zero && infinite);
}

/// sqrt(a * b), as root_of_product of power.cuh.
FASTLBP_HD Far root_of_product(Far a, Far b) {
    const int32_t exponent = a.exponent + b.exponent;
    const int32_t odd = exponent & 1;
    const double product = a.significand * b.significand * Far::scale_down(-odd);
    return Far::normalise(square_root(product), (exponent + odd) / 2);
}

/// damp_odds for the damping `numerator` / MEAN_DENOMINATOR, without branches but those by the numerator.
FASTLBP_HD bool damp_odds_by_roots(Packed old_odds, Packed &now, uint32_t numerator) {
    const bool zero = old_odds == Packed::zero() || now == Packed::zero();
    const bool infinite = old_odds == Packed::infinity() || now == Packed::infinity();
    const Far mean = mean_by_roots(Far::of(uncertain(old_odds)), Far::of(uncertain(now)), numerator);
    now = zero ? Packed::zero() : infinite ? Packed::infinity() : mean.packed();
    return !(zero && infinite);
}

/// The same for a message of `count` stored values: weights, renormalised, if it is more than one.
FASTLBP_HD bool damp(const Packed *old_values, Packed *now, uint32_t count, double damping) {
    if (count == 1) {
        return damp_odds(old_values[0], now[0], damping);
    }
    bool any = false;
    int64_t top = INT64_MIN;
    for (uint32_t x = 0; x < count; ++x) {
        if (old_values[x] != Packed::zero() && now[x] != Packed::zero()) {
            const Wide mean = geometric_mean(old_values[x].unpack(), now[x].unpack(), damping);
            top = larger_of(top, mean.exponent);
            any = true;
        }
    }
    if (!any) {
        return false;
    }
    for (uint32_t x = 0; x < count; ++x) {
        if (old_values[x] != Packed::zero() && now[x] != Packed::zero()) {
            const Wide mean = geometric_mean(old_values[x].unpack(), now[x].unpack(), damping);
            now[x] = Packed::pack(mean.scaled(-top));
        } else {
            now[x] = Packed::zero();
        }
    }
    return true;
}

}  // namespace fastlbp
