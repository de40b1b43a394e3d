// src/kernel/horn.rs: messages of singleton, AND, OR and signed factors. Coefficients are made by the
// Rust side (HornCoefficients::to_device).
#pragma once

#include "body.cuh"

namespace fastlbp {

/// Bits of HornCoefficients::flags. PLAIN: no value is so small that doubles could underflow. LISTED:
/// the positions from 64 on have words of their own.
enum HornFlag : uint32_t { HORN_PLAIN = 1, HORN_LISTED = 2 };

/// DeviceHorn of src/kernel/horn.rs, field by field.
struct HornCoefficients {
    HeadValues head;
    /// Whether the literal at a position below 64 is x = 0 instead of x = 1. Where they are not
    /// listed, bit 63 speaks for the positions from 64 on.
    uint64_t negated;
    uint32_t flags;
    /// Where the words for the positions from 64 on start, among those of all factors.
    uint32_t words;
};

static_assert(sizeof(HornCoefficients) == 48, "the layout of DeviceHorn");

/// The literals of a factor. `words` are those of all factors; not read for at most 64 variables.
struct HornLiterals {
    HornCoefficients c;
    const uint64_t *words;

    FASTLBP_HD const HeadValues &values() const { return c.head; }

    FASTLBP_HD bool is_negated(uint32_t position) const {
        uint64_t word = c.negated;
        if (position >= 64) {
            if ((c.flags & HORN_LISTED) == 0) {
                return word >> 63 != 0;
            }
            word = words[c.words + position / 64 - 1];
        }
        return (word >> (position % 64) & 1) != 0;
    }

    template <class T>
    FASTLBP_HD Body<T> literal(uint32_t position, Packed odds) const {
        return Body<T>::literal(odds, is_negated(position));
    }

    template <class T>
    FASTLBP_HD Packed message(uint32_t position, T holds, T fails) const {
        return FromPacked<T>::ratio(holds, fails, is_negated(position));
    }

    /// Whether doubles are exact for these inputs: see fits_f64 of horn.rs.
    template <int N>
    FASTLBP_HD bool fits_f64(const Packed (&inputs)[N]) const {
        static_assert(N <= 8, "the ranges are those of at most eight inputs");
        bool fits = (c.flags & HORN_PLAIN) != 0;
        FASTLBP_UNROLL
        for (int i = 0; i < N; ++i) {
            fits &= inputs[i].template is_within<(N <= 5 ? 88 : 48)>();
        }
        return fits;
    }

    FASTLBP_HD bool fits_f64(const Packed *inputs, uint32_t count) const {
        bool fits = (c.flags & HORN_PLAIN) != 0 && count <= 17;
        for (uint32_t i = 0; fits && i < count; ++i) {
            fits = count <= 5   ? inputs[i].is_within<88>()
                   : count <= 9 ? inputs[i].is_within<48>()
                                : inputs[i].is_within<22>();
        }
        return fits;
    }
};

/// As small_horn_messages where doubles do not do.
template <template <class> class Number, int N>
FASTLBP_COLD void far_horn_messages(Packed (&values)[N], uint32_t head, HornLiterals c) {
    messages_of<typename Number<Wide>::type>(values, head, c);
}

/// All messages of a factor with N = 1 to 8 variables: `values`, the odds of the messages from its
/// variables in their order, are replaced by them; 0/0 gives a contradiction. Number is SumProduct or
/// MaxProduct.
template <template <class> class Number = SumProduct, int N>
FASTLBP_HD void small_horn_messages(Packed (&values)[N], uint32_t head, const HornLiterals &c) {
    if (c.fits_f64(values)) {
        messages_of<typename Number<double>::type>(values, head, c);
    } else {
        Packed copy[N];
        load_values(values, copy);
        far_horn_messages<Number>(copy, head, c);
        load_values(copy, values);
    }
}

/// As small_horn_message where doubles do not do.
template <template <class> class Number, int N>
FASTLBP_COLD Packed far_horn_message(Packed (&values)[N], uint32_t head, uint32_t target,
                                     HornLiterals c) {
    return message_of<typename Number<Wide>::type>(values, head, target, c);
}

/// The message of a factor with N = 1 to 8 variables to the one at `target`. The input from there is
/// not used, but best is one.
template <template <class> class Number = SumProduct, int N>
FASTLBP_HD Packed small_horn_message(const Packed (&values)[N], uint32_t head, uint32_t target,
                                     const HornLiterals &c) {
    if (c.fits_f64(values)) {
        return message_of<typename Number<double>::type>(values, head, target, c);
    }
    Packed copy[N];
    load_values(values, copy);
    return far_horn_message<Number>(copy, head, target, c);
}

/// All messages of a factor with any number of variables. `scratch` has room for
/// count + tree_nodes(count) bodies of wide numbers.
template <template <class> class Number = SumProduct>
FASTLBP_HD void horn_messages(const Packed *inputs, uint32_t count, uint32_t head,
                              const HornLiterals &c, Packed *out, void *scratch) {
    if (c.fits_f64(inputs, count)) {
        messages<typename Number<double>::type>(inputs, count, head, c, out, scratch);
    } else {
        messages<typename Number<Wide>::type>(inputs, count, head, c, out, scratch);
    }
}

/// The message of a factor with any number of variables to the one at `target`, the input from which
/// is not used. `scratch` as in horn_messages.
template <template <class> class Number = SumProduct>
FASTLBP_HD Packed horn_message(const Packed *inputs, uint32_t count, uint32_t head, uint32_t target,
                               const HornLiterals &c, void *scratch) {
    if (c.fits_f64(inputs, count)) {
        return one_message<typename Number<double>::type>(inputs, count, head, target, c, scratch);
    }
    return one_message<typename Number<Wide>::type>(inputs, count, head, target, c, scratch);
}

}  // namespace fastlbp
