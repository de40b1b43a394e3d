// src/kernel/tree.rs: the one shape of every reduction, a balanced binary tree over a node's edges in
// index order. A Monoid is a type with T::neutral() and combine(T, T).
#pragma once

#include "number.cuh"

namespace fastlbp {

/// Size of the level of the tree over `leaves` > 0 leaves that is `level` levels above them.
FASTLBP_HD uint32_t level_size(uint32_t leaves, int level) {
    return ((leaves - 1) >> level) + 1;
}

/// Number of nodes that leave_one_out keeps for so many leaves: below leaves + 32.
FASTLBP_HD uint32_t tree_nodes(uint32_t leaves) {
    uint32_t nodes = 0;
    for (uint32_t size = leaves; size > 2;) {
        size = (size + 1) / 2;
        nodes += size;
    }
    return nodes;
}

/// Turns the upward values of a level into downward ones, given those of the level above.
template <class T>
FASTLBP_HD void push_down(T *level, uint32_t size, const T *parents) {
    for (uint32_t i = 0; i + 1 < size; i += 2) {
        const T left = combine(parents[i / 2], level[i + 1]);
        level[i + 1] = combine(parents[i / 2], level[i]);
        level[i] = left;
    }
    if (size % 2 == 1) {
        level[size - 1] = parents[size / 2];
    }
}

/// For every leaf, the combination of all others: `leaves[i]` is replaced by it. Returns the
/// combination of all leaves. `nodes` has room for tree_nodes(count).
template <class T>
FASTLBP_HD T leave_one_out(T *leaves, uint32_t count, T *nodes) {
    if (count == 0) {
        return T::neutral();
    }
    if (count == 1) {
        const T total = leaves[0];
        leaves[0] = T::neutral();
        return total;
    }
    // Upward: the levels above the leaves, one after the other; the root is not stored.
    T *level = leaves;
    T *above = nodes;
    uint32_t size = count;
    int height = 0;
    while (size > 2) {
        for (uint32_t i = 0; i + 1 < size; i += 2) {
            above[i / 2] = combine(level[i], level[i + 1]);
        }
        if (size % 2 == 1) {
            above[size / 2] = level[size - 1];
        }
        size = (size + 1) / 2;
        level = above;
        above += size;
        ++height;
    }
    const T total = combine(level[0], level[1]);
    // Downward: below the root, each child's value is its sibling's.
    exchange(level[0], level[1]);
    while (height > 0) {
        const T *parents = level;
        --height;
        size = level_size(count, height);
        level = height == 0 ? leaves : level - size;
        push_down(level, size, parents);
    }
    return total;
}

/// Leave-one-out of `COUNT` = 1 to 8 leaves, the rest of which are not read, all in registers.
template <int COUNT, class T>
FASTLBP_HD T leave_one_out_of(const T (&leaves)[8], T (&rest)[8]) {
    static_assert(COUNT >= 1 && COUNT <= 8, "three levels");
    if (COUNT == 1) {
        rest[0] = T::neutral();
        return leaves[0];
    }
    T pairs[4];
    FASTLBP_UNROLL
    for (int i = 0; i < (COUNT + 1) / 2; ++i) {
        pairs[i] = 2 * i + 1 < COUNT ? combine(leaves[2 * i], leaves[2 * i + 1]) : leaves[2 * i];
    }
    T total;
    // What comes from above to each pair of leaves.
    T down[4];
    if (COUNT <= 2) {
        rest[0] = leaves[1];
        rest[1] = leaves[0];
        return pairs[0];
    }
    if (COUNT <= 4) {
        total = combine(pairs[0], pairs[1]);
        down[0] = pairs[1];
        down[1] = pairs[0];
    } else {
        const T left = combine(pairs[0], pairs[1]);
        const T right = COUNT > 6 ? combine(pairs[2], pairs[3]) : pairs[2];
        total = combine(left, right);
        down[0] = combine(right, pairs[1]);
        down[1] = combine(right, pairs[0]);
        down[2] = COUNT > 6 ? combine(left, pairs[3]) : left;
        if (COUNT > 6) {
            down[3] = combine(left, pairs[2]);
        }
    }
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        rest[i] = (i ^ 1) < COUNT ? combine(down[i / 2], leaves[i ^ 1]) : down[i / 2];
    }
    return total;
}

/// The siblings of one of eight leaves, met on the way from the root down: the other half, the other
/// pair and the other leaf. By selections, since an index into registers would send them to memory.
template <class T>
struct Siblings {
    T half[4];
    T pair[2];
    T leaf;

    FASTLBP_HD Siblings(const T (&values)[8], uint32_t at) {
        T own[4];
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            half[i] = at & 4 ? values[i] : values[i + 4];
            own[i] = at & 4 ? values[i + 4] : values[i];
        }
        set_lower(own, at);
    }

    /// Of four leaves: `half` is not set.
    FASTLBP_HD Siblings(const T (&values)[4], uint32_t at) { set_lower(values, at); }

private:
    FASTLBP_HD void set_lower(const T (&own)[4], uint32_t at) {
        pair[0] = at & 2 ? own[0] : own[2];
        pair[1] = at & 2 ? own[1] : own[3];
        const T first = at & 2 ? own[2] : own[0];
        const T second = at & 2 ? own[3] : own[1];
        leaf = at & 1 ? first : second;
    }
};

/// What leave_one_out gives for the leaf whose siblings these are, of four or eight.
template <class T>
FASTLBP_HD T combination_of_siblings(const Siblings<T> &s, const T (&)[4]) {
    return combine(combine(s.pair[0], s.pair[1]), s.leaf);
}

template <class T>
FASTLBP_HD T combination_of_siblings(const Siblings<T> &s, const T (&)[8]) {
    const T half = combine(combine(s.half[0], s.half[1]), combine(s.half[2], s.half[3]));
    return combine(combine(half, combine(s.pair[0], s.pair[1])), s.leaf);
}

/// The combination of four or eight leaves.
template <class T>
FASTLBP_HD T tree_total(const T (&x)[4]) {
    return combine(combine(x[0], x[1]), combine(x[2], x[3]));
}

template <class T>
FASTLBP_HD T tree_total(const T (&x)[8]) {
    return combine(combine(combine(x[0], x[1]), combine(x[2], x[3])),
                   combine(combine(x[4], x[5]), combine(x[6], x[7])));
}

/// pairwise_sum of at most N values, a power of two, padded with zeros; these are overwritten.
template <uint32_t N>
FASTLBP_HD double pairwise_sum_of_few(double (&values)[N]) {
    FASTLBP_UNROLL
    for (uint32_t width = 1; width < N; width *= 2) {
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < N; i += 2 * width) {
            values[i] = values[i] + values[i + width];
        }
    }
    return values[0];
}

/// Sums of complete subtrees that wait for those beside them, as the bits of a counter do; none is negative.
template <class T>
struct SubtreeSums {
    T sums[33];
    uint32_t depth = 0;

    /// The sum of the subtree with this number, of those of its size.
    FASTLBP_HD void add(T sum, uint32_t number) {
        // One merge for every subtree that this one completes.
        for (uint32_t ones = number; ones & 1; ones >>= 1) {
            sum = fastlbp::add(sums[--depth], sum);
        }
        sums[depth++] = sum;
    }

    FASTLBP_HD T total() {
        T sum = Real<T>::zero();
        while (depth > 0) {
            // The first time, a zero, which changes nothing.
            sum = fastlbp::add(sums[--depth], sum);
        }
        return sum;
    }
};

/// The sum of values in the shape of the tree.
FASTLBP_HD double pairwise_sum(const double *values, uint32_t count) {
    SubtreeSums<double> sums;
    for (uint32_t i = 0; i < count; ++i) {
        sums.add(values[i], i);
    }
    return sums.total();
}

}  // namespace fastlbp
