// src/kernel/product.rs: products of the messages that meet at a variable.
#pragma once

#include "packed.cuh"
#include "tree.cuh"

namespace fastlbp {

/// A product of message values; zeros and infinities are counted, not multiplied. On a little-endian
/// machine the layout is that of Product::to_words.
struct Product {
    double significand;
    int64_t exponent;
    uint32_t infinities;
    uint32_t zeros;

    static FASTLBP_HD Product neutral() { return Product{1.0, 0, 0, 0}; }

    static FASTLBP_HD Product of(Packed value) {
        if (value.is_certain()) {
            const uint32_t is_zero = value.bits == 0;
            return Product{1.0, 0, 1 - is_zero, is_zero};
        }
        const Wide wide = value.unpack();
        return Product{wide.significand, wide.exponent, 0, 0};
    }

    FASTLBP_HD Wide wide() const { return Wide{significand, exponent}; }

    /// Whether certain messages for both states of a binary variable are among the factors.
    FASTLBP_HD bool is_contradictory() const { return zeros > 0 && infinities > 0; }

    /// The product as odds of a binary variable: the state backed by more certain messages wins, and
    /// a tie is uniform.
    FASTLBP_HD Packed odds() const {
        if ((zeros | infinities) == 0) {
            return Packed::pack(wide());
        }
        return zeros > infinities   ? Packed::zero()
               : zeros < infinities ? Packed::infinity()
                                    : Packed::one();
    }

    /// Probabilities of the states 0 and 1 of a binary variable with these odds.
    FASTLBP_HD void probabilities(double (&out)[2]) const {
        if ((zeros | infinities) == 0) {
            Packed::odds_to_probabilities(wide(), out);
        } else {
            odds().probabilities(out);
        }
    }
};

FASTLBP_HD Product combine(Product a, Product b) {
    const Wide product = a.wide().multiply_positive(b.wide());
    return Product{product.significand, product.exponent, a.infinities + b.infinities,
                   a.zeros + b.zeros};
}

/// Number of messages whose product is taken together, below the stored nodes of a tree.
constexpr int BLOCK = 8;

/// The messages as doubles, if none is certain and the product of all is exact in doubles.
template <int N>
FASTLBP_HD bool plain_factors(const Packed (&values)[N], double (&x)[N]) {
    static_assert(N <= 8, "the ranges are those of at most eight factors");
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        x[i] = values[i].plain();
    }
    return all_near<(N <= 4 ? 128 : 64)>(values);
}

template <int N>
FASTLBP_HD void products_of(const Packed (&values)[N], Product (&products)[N]) {
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        products[i] = Product::of(values[i]);
    }
}

/// The product of eight messages, some of them padding ones, in the shape of the tree.
FASTLBP_HD Product of_block(const Packed (&values)[BLOCK]) {
    double x[BLOCK];
    if (plain_factors(values, x)) {
        const double left = (x[0] * x[1]) * (x[2] * x[3]);
        const double right = (x[4] * x[5]) * (x[6] * x[7]);
        return Product::of(Packed::from_plain(left * right));
    }
    Product products[BLOCK];
    products_of(values, products);
    return tree_total(products);
}

/// The product of all messages to a variable but one: `above`, of all that are not in its block,
/// times the others of its block.
FASTLBP_HD Product times_others(Product above, const Packed (&values)[BLOCK], uint32_t leaf) {
    double x[BLOCK];
    if (plain_factors(values, x)) {
        const Siblings<double> s(x, leaf);
        const double half = (s.half[0] * s.half[1]) * (s.half[2] * s.half[3]);
        const double product = ((above.significand * half) * (s.pair[0] * s.pair[1])) * s.leaf;
        const Wide wide = Wide::from_f64(product).scaled(above.exponent);
        return Product{wide.significand, wide.exponent, above.infinities, above.zeros};
    }
    Product products[BLOCK];
    products_of(values, products);
    const Siblings<Product> s(products, leaf);
    const Product half = combine(combine(s.half[0], s.half[1]), combine(s.half[2], s.half[3]));
    return combine(combine(combine(above, half), combine(s.pair[0], s.pair[1])), s.leaf);
}

/// times_others for each of the eight, with the operations that they have in common done once: into `out`.
FASTLBP_HD void times_others_of_each(Product above, const Packed (&values)[BLOCK], Product (&out)[BLOCK]) {
    double x[BLOCK];
    if (plain_factors(values, x)) {
        double pairs[4];
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            pairs[i] = x[2 * i] * x[2 * i + 1];
        }
        const double sides[2] = {above.significand * (pairs[2] * pairs[3]), above.significand * (pairs[0] * pairs[1])};
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            const Wide wide = Wide::from_f64((sides[i / 4] * pairs[i / 2 ^ 1]) * x[i ^ 1]).scaled(above.exponent);
            out[i] = Product{wide.significand, wide.exponent, above.infinities, above.zeros};
        }
        return;
    }
    Product leaves[BLOCK], pairs[4];
    products_of(values, leaves);
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        pairs[i] = combine(leaves[2 * i], leaves[2 * i + 1]);
    }
    const Product sides[2] = {combine(above, combine(pairs[2], pairs[3])), combine(above, combine(pairs[0], pairs[1]))};
    FASTLBP_UNROLL
    for (int i = 0; i < BLOCK; ++i) {
        out[i] = combine(combine(sides[i / 4], pairs[i / 2 ^ 1]), leaves[i ^ 1]);
    }
}

/// The plain product of the siblings of one of four or eight leaves, from the root down.
FASTLBP_HD double product_of_siblings(const Siblings<double> &s, const double (&)[4]) {
    return (s.pair[0] * s.pair[1]) * s.leaf;
}

FASTLBP_HD double product_of_siblings(const Siblings<double> &s, const double (&)[8]) {
    const double half = (s.half[0] * s.half[1]) * (s.half[2] * s.half[3]);
    return ((s.pair[0] * s.pair[1]) * half) * s.leaf;
}

/// Product of four or eight messages of a binary variable, some of them padding ones, but the one at
/// `leaf`, as odds, in the shape of the tree; `false` where one is certain or plain doubles do not do.
template <int N>
FASTLBP_HD bool leave_one_out_of_few(const Packed (&values)[N], uint32_t leaf, Packed &odds) {
    double x[N];
    const bool near = plain_factors(values, x);
    odds = Packed::from_plain(product_of_siblings(Siblings<double>(x, leaf), x));
    return near;
}

/// As leave_one_out_of_few where plain doubles do not do, as a product.
template <int N>
FASTLBP_COLD Product far_leave_one_out(const Packed *values, uint32_t leaf) {
    Product products[N];
    for (int i = 0; i < N; ++i) {
        products[i] = Product::of(values[i]);
    }
    return combination_of_siblings(Siblings<Product>(products, leaf), products);
}

/// Product of a binary variable's four or eight messages, some of them padding ones, but the one at
/// `leaf`, as odds, and whether certain messages disagree. In the shape of the tree.
template <int N>
FASTLBP_HD Packed binary_leave_one_out(const Packed (&values)[N], uint32_t leaf, bool &contradictory) {
    Packed odds;
    contradictory = false;
    if (!leave_one_out_of_few(values, leaf, odds)) {
        Packed copy[N];
        load_values(values, copy);
        const Product product = far_leave_one_out<N>(copy, leaf);
        odds = product.odds();
        contradictory = product.is_contradictory();
    }
    return odds;
}

/// All leave-one-out products of a variable's four or eight messages, some of them padding ones, by
/// the general path, soft evidence `extra` included: `values` is replaced by them as odds. Returns
/// whether certain messages disagree.
template <int N>
FASTLBP_COLD bool far_leave_one_out_all(Packed *values, Packed extra) {
    Product leaves[8];
    Product rest[8];
    for (int i = 0; i < N; ++i) {
        leaves[i] = Product::of(values[i]);
    }
    const Product soft = Product::of(extra);
    const Product total = leave_one_out_of<N>(leaves, rest);
    for (int i = 0; i < N; ++i) {
        values[i] = combine(rest[i], soft).odds();
    }
    return combine(total, soft).is_contradictory();
}

/// For each of a binary variable's four or eight messages, some of them padding ones, the product of
/// all others and of soft evidence `extra` (one: none), as odds: `values` is replaced by it. Returns
/// whether certain messages disagree.
template <int N>
FASTLBP_HD bool binary_leave_one_out_all(Packed (&values)[N], Packed extra) {
    static_assert(N == 4 || N == 8, "padded to four or eight");
    double x[8];
    bool near = extra == Packed::one();
    near &= all_near<(N <= 4 ? 128 : 64)>(values);
    if (near) {
        double down[4];
        FASTLBP_UNROLL
        for (int i = 0; i < N; ++i) {
            x[i] = values[i].plain();
        }
        const double a = x[0] * x[1], b = x[2] * x[3];
        if (N == 4) {
            down[0] = b;
            down[1] = a;
        } else {
            const double c = x[4] * x[5], d = x[6] * x[7];
            const double left = a * b, right = c * d;
            down[0] = right * b;
            down[1] = right * a;
            down[2] = left * d;
            down[3] = left * c;
        }
        FASTLBP_UNROLL
        for (int i = 0; i < N; ++i) {
            values[i] = Packed::from_plain(down[i / 2] * x[i ^ 1]);
        }
        return false;
    }
    Packed copy[N];
    load_values(values, copy);
    const bool contradictory = far_leave_one_out_all<N>(copy, extra);
    load_values(copy, values);
    return contradictory;
}

/// The same for any number of messages. `products` has room for `count`, `nodes` for
/// tree_nodes(count).
FASTLBP_HD bool binary_leave_one_out_all(Packed *values, uint32_t count, Packed extra,
                                         Product *products, Product *nodes) {
    for (uint32_t i = 0; i < count; ++i) {
        products[i] = Product::of(values[i]);
    }
    const Product soft = Product::of(extra);
    const Product total = combine(leave_one_out(products, count, nodes), soft);
    for (uint32_t i = 0; i < count; ++i) {
        values[i] = combine(products[i], soft).odds();
    }
    return total.is_contradictory();
}

/// The product of `count` leaves, leaf(0) and so on, in the shape of the tree. The products of complete subtrees form a
/// stack, as the bits of a counter do.
template <class Leaf>
FASTLBP_HD Product product_of_leaves(uint32_t count, const Leaf &leaf) {
    Product products[33];
    int depth = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Product product = leaf(i);
        for (uint32_t ones = i; ones & 1; ones >>= 1) {
            product = combine(products[--depth], product);
        }
        products[depth++] = product;
    }
    Product product = Product::neutral();
    while (depth > 0) {
        // The neutral element changes nothing.
        product = combine(products[--depth], product);
    }
    return product;
}

/// Probability of state 1 from a binary variable's four messages, some of them padding ones; `false`
/// where plain doubles do not do.
FASTLBP_HD bool probability_of_few(const Packed (&values)[4], double &probability) {
    double x[4];
    const bool near = plain_factors(values, x);
    const double odds = (x[0] * x[1]) * (x[2] * x[3]);
    probability = odds / (odds + 1.0);
    return near;
}

/// A message over the states of a variable from one product per state: weights relative to the
/// largest, which has the exponent 0. Returns whether no state was free of zeros; then the states
/// with the fewest zeros win, equally.
FASTLBP_HD bool resolve_states(const Product *products, uint32_t count, Packed *out) {
    uint32_t fewest = ~uint32_t(0);
    int64_t top = INT64_MIN;
    for (uint32_t x = 0; x < count; ++x) {
        fewest = smaller_of(fewest, products[x].zeros);
        if (products[x].zeros == 0) {
            top = larger_of(top, products[x].exponent);
        }
    }
    for (uint32_t x = 0; x < count; ++x) {
        if (products[x].zeros != fewest) {
            out[x] = Packed::zero();
        } else if (fewest > 0) {
            out[x] = Packed::one();
        } else {
            out[x] = Packed::pack(products[x].wide().scaled(-top));
        }
    }
    return count > 0 && fewest > 0;
}

/// Probabilities of states from their weights. The weights are finite and one is positive.
FASTLBP_HD void weights_to_probabilities(const Packed *weights, uint32_t count, double *out) {
    Wide total = Wide::zero();
    for (uint32_t x = 0; x < count; ++x) {
        total = add(total, weights[x].unpack());
    }
    for (uint32_t x = 0; x < count; ++x) {
        const Wide weight = weights[x].unpack();
        out[x] = is_zero(weight) ? 0.0 : divide(weight, total).to_f64();
    }
}

}  // namespace fastlbp
