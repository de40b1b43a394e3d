// src/kernel/threshold.rs: how far a message has to move to be stored, in a run with an active set.
#pragma once

#include "far.cuh"

namespace fastlbp {

/// How states have grown: the least and the most of it. Those that are zero or infinite before and after do not count.
struct Growth {
    Far least, most;

    /// Of no states: what any other one takes the place of.
    static FASTLBP_HD Growth none() { return Growth{Far{1.0, -Far::ZERO_EXPONENT}, Far::zero()}; }
    /// Of a state that has stayed as it is.
    static FASTLBP_HD Growth one() { return Growth{Far::one(), Far::one()}; }
    /// Of a state that is not certain.
    static FASTLBP_HD Growth of(Packed old_value, Packed now) {
        const Far a = Far::of(now), b = Far::of(old_value);
        const Far growth = Far::normalise(quotient(a.significand, b.significand), a.exponent - b.exponent);
        return Growth{growth, growth};
    }

    FASTLBP_HD Growth with(const Growth &other) const {
        // The smaller one is that which is not the larger one.
        const bool first = is_larger(other.least, least);
        return Growth{first ? least : other.least, larger(most, other.most)};
    }

    /// Whether some state has grown by more than `factor`, at least 1, against another one.
    FASTLBP_HD bool exceeds(double factor) const { return is_larger(most, multiply(least, Far::from_f64(factor))); }

  private:
    static FASTLBP_HD bool is_larger(Far a, Far b) {
        return a.exponent > b.exponent || (a.exponent == b.exponent && a.significand > b.significand);
    }
};

/// Whether a value is certain and was another one, or is certain no more.
FASTLBP_HD bool is_certain_change(Packed old_value, Packed now) {
    return old_value != now && (old_value.is_certain() || now.is_certain());
}

/// Whether the odds of a binary variable have moved: by more than `factor`, or from or to certain ones.
FASTLBP_HD bool has_moved(Packed old_odds, Packed now, double factor) {
    if (old_odds == now || old_odds.is_certain() || now.is_certain()) {
        return old_odds != now;
    }
    return Growth::one().with(Growth::of(old_odds, now)).exceeds(factor);
}

/// The same for a message of `count` stored values.
FASTLBP_HD bool has_moved(const Packed *old_values, const Packed *now, uint32_t count, double factor) {
    if (count == 1) {
        return has_moved(old_values[0], now[0], factor);
    }
    Growth growth = Growth::none();
    for (uint32_t x = 0; x < count; ++x) {
        if (is_certain_change(old_values[x], now[x])) {
            return true;
        }
        if (!now[x].is_certain()) {
            growth = growth.with(Growth::of(old_values[x], now[x]));
        }
    }
    return growth.exceeds(factor);
}

}  // namespace fastlbp
