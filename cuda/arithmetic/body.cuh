// src/kernel/body.rs: conjunctions of literals that decide a factor, as pairs (Q, C). A type of
// literals C has c.values(), c.literal<T>(position, odds) and c.message<T>(position, holds, fails);
// T is double, Wide or Max of these. Near, which saves a few moves on a CPU, is not mirrored: where it
// serves, double gives the same bits.
#pragma once

#include "packed.cuh"
#include "tree.cuh"

namespace fastlbp {

template <class T>
struct FromPacked;

/// The pair (Q, C) of a part of the body.
template <class T>
struct Body {
    T all;
    T not_all;

    static FASTLBP_HD Body neutral() { return Body{Real<T>::one(), Real<T>::zero()}; }

    /// That of one literal, given the odds of its variable.
    template <class Odds>
    static FASTLBP_HD Body literal(Odds odds, bool negated) {
        Body body;
        FromPacked<T>::weights(odds, negated, body.all, body.not_all);
        return body;
    }
};

template <class T>
FASTLBP_HD Body<T> combine(Body<T> a, Body<T> b) {
    const T any = add(b.all, b.not_all);
    return Body<T>{multiply(a.all, b.all),
                   add(multiply(a.not_all, any), multiply(a.all, b.not_all))};
}

/// Numbers that stored odds can be turned into. weights: those of the states 1 and 0 with the given
/// odds, or the other way round. ratio: the quotient as stored odds, or its inverse; 0/0 is a
/// contradiction. number: a weight of a state.
template <>
struct FromPacked<double> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, double &first, double &second) {
        const bool infinite = odds == Packed::infinity();
        const uint64_t state1 = infinite ? ONE_BITS : odds.bits;
        const uint64_t state0 = infinite ? 0 : ONE_BITS;
        first = from_bits(swapped ? state0 : state1);
        second = from_bits(swapped ? state1 : state0);
    }

    static FASTLBP_HD Packed ratio(double numerator, double denominator, bool inverse) {
        const double above = inverse ? denominator : numerator;
        const double below = inverse ? numerator : denominator;
        // No division by or of zero: on a GPU those take a long way. Neither is negative.
        const bool none = to_bits(above) == 0, infinite = to_bits(below) == 0;
        const double ratio = (none ? 1.0 : above) / (infinite ? 1.0 : below);
        if (none | infinite) {
            return (none & infinite) ? Packed::contradiction() : none ? Packed::zero() : Packed::infinity();
        }
        return Packed::is_in_double_range(ratio) ? Packed::from_plain(ratio) : Packed::other_ratio(above, below);
    }

    static FASTLBP_HD double number(Packed value) { return value.plain(); }
};

template <>
struct FromPacked<Wide> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, Wide &first, Wide &second) {
        const bool infinite = odds == Packed::infinity();
        const Wide state1 = infinite ? Wide::one() : odds.unpack();
        const Wide state0 = infinite ? Wide::zero() : Wide::one();
        first = swapped ? state0 : state1;
        second = swapped ? state1 : state0;
    }

    static FASTLBP_HD Packed ratio(Wide numerator, Wide denominator, bool inverse) {
        return inverse ? Packed::ratio(denominator, numerator)
                       : Packed::ratio(numerator, denominator);
    }

    static FASTLBP_HD Wide number(Packed value) { return value.unpack(); }
};

template <class T>
struct FromPacked<Max<T>> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, Max<T> &first, Max<T> &second) {
        FromPacked<T>::weights(odds, swapped, first.value, second.value);
    }

    static FASTLBP_HD Packed ratio(Max<T> numerator, Max<T> denominator, bool inverse) {
        return FromPacked<T>::ratio(numerator.value, denominator.value, inverse);
    }

    static FASTLBP_HD Max<T> number(Packed value) { return Max<T>{FromPacked<T>::number(value)}; }
};

/// f(h=1), f(h=0) if the body holds, and if it fails.
struct HeadValues {
    double values[2][2];
};

/// The factor's weight with the head in this state (0: h = 1), given the whole body.
template <class T>
FASTLBP_HD T head_weight(Body<T> body, const HeadValues &f, int state) {
    return add(multiply(Real<T>::from_f64(f.values[0][state]), body.all),
               multiply(Real<T>::from_f64(f.values[1][state]), body.not_all));
}

/// The message to the head, given the whole body.
template <class T>
FASTLBP_HD Packed head_message(Body<T> body, const HeadValues &f) {
    return FromPacked<T>::ratio(head_weight(body, f, 0), head_weight(body, f, 1), false);
}

/// The head's part of the messages to the body: the factor's weight, summed over the head's states,
/// where the body holds and where it does not.
template <class T>
struct HeadWeights {
    T holds;
    T fails;

    template <class Odds>
    FASTLBP_HD HeadWeights(Odds head, const HeadValues &f) {
        T h1, h0;
        FromPacked<T>::weights(head, false, h1, h0);
        holds = weight(f.values[0], h1, h0);
        fails = weight(f.values[1], h1, h0);
    }

    /// The factor's weight where one literal holds and where it fails, given the rest of the body.
    FASTLBP_HD void with_rest(Body<T> rest, T &if_holds, T &if_fails) const {
        if_holds = add(multiply(holds, rest.all), multiply(fails, rest.not_all));
        if_fails = multiply(fails, add(rest.all, rest.not_all));
    }

    /// The factor's whole weight, given the whole body.
    FASTLBP_HD T total(Body<T> body) const {
        return add(multiply(holds, body.all), multiply(fails, body.not_all));
    }

private:
    static FASTLBP_HD T weight(const double (&f)[2], T h1, T h0) {
        return add(multiply(Real<T>::from_f64(f[0]), h1), multiply(Real<T>::from_f64(f[1]), h0));
    }
};

/// The message to the body variable at a position, given the head's part and the rest of the body.
template <class T, class C>
FASTLBP_HD Packed body_message(const C &c, uint32_t position, const HeadWeights<T> &head,
                               Body<T> rest) {
    T holds, fails;
    head.with_rest(rest, holds, fails);
    return c.template message<T>(position, holds, fails);
}

/// The literal of the body's variable at one of the N - 1 places without the head's.
template <class T, int N, class C>
FASTLBP_HD Body<T> body_literal(const Packed (&values)[N], uint32_t head, int body, const C &c) {
    const bool after = static_cast<uint32_t>(body) >= head;
    return c.template literal<T>(body + (after ? 1 : 0), after ? values[body + 1] : values[body]);
}

/// All messages of a factor with N = 1 to 8 variables from its inputs, in the numbers T: `values` is
/// replaced by them. Which position is the head's is a selection, as an index into registers would
/// send them to memory; a constant `head` costs nothing.
template <class T, int N, class C>
FASTLBP_HD void messages_of(Packed (&values)[N], uint32_t head, const C &c) {
    static_assert(N >= 1 && N <= 8, "more variables need memory");
    if (N == 1) {
        values[0] = head_message(Body<T>::neutral(), c.values());
        return;
    }
    Body<T> leaves[8];
    Body<T> rest[8];
    Packed head_odds = values[N - 1];
    FASTLBP_UNROLL
    for (int body = 0; body < N - 1; ++body) {
        if (static_cast<uint32_t>(body) == head) {
            head_odds = values[body];
        }
        leaves[body] = body_literal<T>(values, head, body, c);
    }
    const Body<T> total = leave_one_out_of<(N > 1 ? N - 1 : 1)>(leaves, rest);
    const HeadWeights<T> weights(head_odds, c.values());
    const Packed to_head = head_message(total, c.values());
    Packed before = to_head;
    FASTLBP_UNROLL
    for (int position = 0; position < N; ++position) {
        // Before the head, a position's message is that of the same place in the body.
        Packed next = to_head;
        if (position < N - 1) {
            const bool after = static_cast<uint32_t>(position) >= head;
            next = body_message(c, position + (after ? 1 : 0), weights, rest[position]);
        }
        const uint32_t at = static_cast<uint32_t>(position);
        values[position] = at < head ? next : at == head ? to_head : before;
        before = next;
    }
}

/// The message of a factor with N = 1 to 8 variables to the one at `target`, in the numbers T; the
/// input from there is not used.
template <class T, int N, class C>
FASTLBP_HD Packed message_of(const Packed (&values)[N], uint32_t head, uint32_t target, const C &c) {
    static_assert(N >= 1 && N <= 8, "more variables need memory");
    constexpr int LEAVES = N <= 5 ? 4 : 8;
    Body<T> leaves[LEAVES];
    Packed head_odds = values[N - 1];
    FASTLBP_UNROLL
    for (int body = 0; body < LEAVES; ++body) {
        leaves[body] = Body<T>::neutral();
        if (body < N - 1) {
            if (static_cast<uint32_t>(body) == head) {
                head_odds = values[body];
            }
            leaves[body] = body_literal<T>(values, head, body, c);
        }
    }
    if (target == head) {
        return head_message(tree_total(leaves), c.values());
    }
    const Siblings<Body<T>> siblings(leaves, target - (target > head ? 1 : 0));
    return body_message(c, target, HeadWeights<T>(head_odds, c.values()),
                        combination_of_siblings(siblings, leaves));
}

/// Replaces `leaves` by the body without each of its literals; returns the whole body. `leaves` has
/// room for `count`, `nodes` for tree_nodes(count).
template <class T, class C>
FASTLBP_HD Body<T> body_leave_one_out(const Packed *inputs, uint32_t count, uint32_t head, const C &c,
                                      Body<T> *leaves, Body<T> *nodes) {
    for (uint32_t body = 0; body + 1 < count; ++body) {
        const uint32_t position = body + (body >= head ? 1 : 0);
        leaves[body] = c.template literal<T>(position, inputs[position]);
    }
    return leave_one_out(leaves, count - 1, nodes);
}

/// The message to the variable at one position, in the numbers T. `scratch` has room for the bodies of body_leave_one_out.
template <class T, class C>
FASTLBP_HD Packed one_message(const Packed *inputs, uint32_t count, uint32_t head, uint32_t target,
                              const C &c, void *scratch) {
    Body<T> *leaves = static_cast<Body<T> *>(scratch);
    const Body<T> total = body_leave_one_out<T>(inputs, count, head, c, leaves, leaves + count);
    if (target == head) {
        return head_message(total, c.values());
    }
    return body_message(c, target, HeadWeights<T>(inputs[head], c.values()),
                        leaves[target - (target > head ? 1 : 0)]);
}

/// All messages of a factor from its `count` inputs in memory, in the numbers T. `scratch` as in one_message.
template <class T, class C>
FASTLBP_HD void messages(const Packed *inputs, uint32_t count, uint32_t head, const C &c, Packed *out,
                         void *scratch) {
    if (count == 0) {
        return;
    }
    Body<T> *leaves = static_cast<Body<T> *>(scratch);
    const Body<T> total = body_leave_one_out<T>(inputs, count, head, c, leaves, leaves + count);
    out[head] = head_message(total, c.values());
    const HeadWeights<T> weights(inputs[head], c.values());
    for (uint32_t body = 0; body + 1 < count; ++body) {
        const uint32_t position = body + (body >= head ? 1 : 0);
        out[position] = body_message(c, position, weights, leaves[body]);
    }
}

}  // namespace fastlbp
