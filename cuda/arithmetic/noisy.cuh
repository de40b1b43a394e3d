// src/kernel/noisy.rs: messages of noisy conjunctions.
#pragma once

#include "body.cuh"

namespace fastlbp {

/// A noisy conjunction. `head` is NoisyCoefficients::to_device; `literals[position][state]` are the
/// probabilities that the literal holds and fails. For few variables, messages_of and message_of serve
/// too.
struct NoisyLiterals {
    HeadValues head;
    const double (*literals)[2][2];

    FASTLBP_HD const HeadValues &values() const { return head; }

    template <class T>
    FASTLBP_HD Body<T> literal(uint32_t position, Packed odds) const {
        T one, zero;
        FromPacked<T>::weights(odds, false, one, zero);
        const double(&given)[2][2] = literals[position];
        return Body<T>{outcome(one, zero, given, 0), outcome(one, zero, given, 1)};
    }

    template <class T>
    FASTLBP_HD Packed message(uint32_t position, T holds, T fails) const {
        const double(&given)[2][2] = literals[position];
        return FromPacked<T>::ratio(weight(holds, fails, given[1]), weight(holds, fails, given[0]),
                                    false);
    }

    /// Whether every product of values, literals and inputs, every sum of such, and every quotient of
    /// two, is a normal double. `inputs[target]` counts as one, for no `target` give `count`.
    FASTLBP_HD bool fits_f64(const Packed *inputs, uint32_t count, uint32_t target) const {
        int64_t low = 0, high = 0;
        for (int i = 0; i < 4; ++i) {
            const int64_t value = exponent(head.values[i / 2][i % 2]);
            low = smaller_of(low, value);
            high = larger_of(high, value);
        }
        high += 1;
        for (uint32_t i = 0; i < count; ++i) {
            const Packed value = i == target ? Packed::one() : inputs[i];
            if (!value.is_plain()) {
                return false;
            }
            const int64_t input = value.is_certain() ? 0 : value.unpack().exponent;
            const double(&given)[2][2] = literals[i];
            low += smaller_of<int64_t>(input, 0) +
                   smaller_of(smaller_of(exponent(given[0][0]), exponent(given[0][1])),
                              smaller_of(exponent(given[1][0]), exponent(given[1][1])));
            // A literal's weight is a sum of two, and bodies are joined by sums of three.
            high += larger_of<int64_t>(input, 0) + 4;
        }
        return high - low < 900;
    }

private:
    template <class T>
    static FASTLBP_HD T outcome(T one, T zero, const double (&given)[2][2], int which) {
        return add(multiply(one, Real<T>::from_f64(given[1][which])),
                   multiply(zero, Real<T>::from_f64(given[0][which])));
    }

    template <class T>
    static FASTLBP_HD T weight(T holds, T fails, const double (&given)[2]) {
        return add(multiply(holds, Real<T>::from_f64(given[0])),
                   multiply(fails, Real<T>::from_f64(given[1])));
    }

    static FASTLBP_HD int64_t exponent(double value) {
        return value == 0.0 ? 0 : Wide::from_f64(value).exponent;
    }
};

/// All messages of a noisy conjunction. `scratch` has room for count + tree_nodes(count) bodies of
/// wide numbers.
FASTLBP_HD void noisy_messages(const Packed *inputs, uint32_t count, uint32_t head,
                               const NoisyLiterals &c, Packed *out, void *scratch) {
    if (c.fits_f64(inputs, count, count)) {
        messages<double>(inputs, count, head, c, out, scratch);
    } else {
        messages<Wide>(inputs, count, head, c, out, scratch);
    }
}

/// The message to the variable at `target`, the input from which is not used. `scratch` as in
/// noisy_messages.
FASTLBP_HD Packed noisy_message(const Packed *inputs, uint32_t count, uint32_t head, uint32_t target,
                                const NoisyLiterals &c, void *scratch) {
    if (c.fits_f64(inputs, count, target)) {
        return one_message<double>(inputs, count, head, target, c, scratch);
    }
    return one_message<Wide>(inputs, count, head, target, c, scratch);
}

}  // namespace fastlbp
