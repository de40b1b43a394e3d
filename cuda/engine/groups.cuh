// Trees whose levels the threads of a group share: the shape and the bits of cuda/arithmetic/tree.cuh. A
// group has rank(), size() and sync(), as OneThread of cuda/arithmetic/table.cuh.
#pragma once

#include "../arithmetic/horn.cuh"
#include "../arithmetic/noisy.cuh"
#include "../arithmetic/product.cuh"
#include "../arithmetic/table.cuh"
#include "interface.cuh"
#include "threads.cuh"

namespace fastlbp {

/// One thread, or the threads of a warp or of a block, as a group: one type, so that kernels have one copy of what all of
/// them do.
struct ThreadGroup {
    uint32_t span;

    FASTLBP_DEVICE uint32_t rank() const {
        return span == SPAN_THREAD ? 0 : span == SPAN_WARP ? thread_of_block() % LANES : thread_of_block();
    }
    FASTLBP_DEVICE uint32_t size() const {
        return span == SPAN_THREAD ? 1 : span == SPAN_WARP ? LANES : threads_of_block();
    }
    FASTLBP_DEVICE void sync() const {
        if (span == SPAN_WARP) {
            sync_warp();
        } else if (span == SPAN_BLOCK) {
            sync_block();
        }
    }
    FASTLBP_DEVICE bool is_thread() const { return span == SPAN_THREAD; }

    // The lanes of a warp search together; the threads of a block each for themselves.
    FASTLBP_DEVICE uint32_t searchers() const { return span == SPAN_WARP ? LANES : 1; }
    FASTLBP_DEVICE uint32_t searcher() const { return span == SPAN_WARP ? thread_of_block() % LANES : 0; }
    FASTLBP_DEVICE int64_t largest(int64_t found) const {
        for (uint32_t distance = LANES / 2; span == SPAN_WARP && distance > 0; distance /= 2) {
            found = larger_of(found, shuffle_xor(found, distance));
        }
        return found;
    }
};

/// Which of the groups of a span this thread is in, and how many there are of them.
FASTLBP_DEVICE uint32_t group_of_grid(uint32_t span) {
    return span == SPAN_THREAD ? thread_of_grid() : span == SPAN_WARP ? warp_of_grid() : block_of_grid();
}
FASTLBP_DEVICE uint32_t groups_of_grid(uint32_t span) {
    return span == SPAN_THREAD ? threads_of_grid() : span == SPAN_WARP ? warps_of_grid() : blocks_of_grid();
}

/// The upward half of leave_one_out: fills `nodes`, and gives the topmost level, of one or two nodes, and
/// how many levels it is above the leaves. `count` is not 0, and `leaves` are complete.
template <class T, class Group>
FASTLBP_DEVICE T *combine_levels(T *leaves, uint32_t count, T *nodes, int &height, const Group &group) {
    T *level = leaves;
    T *above = nodes;
    uint32_t size = count;
    height = 0;
    while (size > 2) {
        const uint32_t half = (size + 1) / 2;
        for (uint32_t i = group.rank(); i < half; i += group.size()) {
            above[i] = 2 * i + 1 < size ? combine(level[2 * i], level[2 * i + 1]) : level[2 * i];
        }
        group.sync();
        size = half;
        level = above;
        above += size;
        ++height;
    }
    return level;
}

/// The combination of all leaves, which stay as they are. Memory as for leave_one_out.
template <class T, class Group>
FASTLBP_DEVICE T total_of(T *leaves, uint32_t count, T *nodes, const Group &group) {
    if (count == 0) {
        return T::neutral();
    }
    int height;
    const T *level = combine_levels(leaves, count, nodes, height, group);
    return level_size(count, height) == 2 ? combine(level[0], level[1]) : level[0];
}

/// leave_one_out of tree.cuh by a group: all of its threads get the result, and `leaves` are complete.
template <class T, class Group>
FASTLBP_DEVICE T share_leave_one_out(T *leaves, uint32_t count, T *nodes, const Group &group) {
    if (count == 0) {
        return T::neutral();
    }
    int height;
    T *level = combine_levels(leaves, count, nodes, height, group);
    uint32_t size = level_size(count, height);
    const T first = level[0];
    const T second = size == 2 ? level[1] : T::neutral();
    group.sync();
    if (group.rank() == 0) {
        level[0] = second;
        if (size == 2) {
            level[1] = first;
        }
    }
    group.sync();
    while (height > 0) {
        const T *parents = level;
        --height;
        size = level_size(count, height);
        level = height == 0 ? leaves : level - size;
        for (uint32_t i = group.rank(); i < (size + 1) / 2; i += group.size()) {
            if (2 * i + 1 < size) {
                const T left = combine(parents[i], level[2 * i + 1]);
                level[2 * i + 1] = combine(parents[i], level[2 * i]);
                level[2 * i] = left;
            } else {
                level[2 * i] = parents[i];
            }
        }
        group.sync();
    }
    return combine(first, second);
}

/// messages of body.cuh, or with a `target` one_message, by a group.
template <class T, class C, class Group>
FASTLBP_DEVICE_COLD void share_messages_with(const Packed *inputs, uint32_t count, uint32_t head, const C &c,
                                        uint32_t target, Packed *out, void *scratch, const Group &group) {
    Body<T> *leaves = static_cast<Body<T> *>(scratch);
    for (uint32_t body = group.rank(); body + 1 < count; body += group.size()) {
        const uint32_t position = body + (body >= head ? 1 : 0);
        leaves[body] = c.template literal<T>(position, inputs[position]);
    }
    group.sync();
    const Body<T> total = share_leave_one_out(leaves, count - 1, leaves + count, group);
    if (group.rank() == 0 && (target == ALL || target == head)) {
        out[target == ALL ? head : 0] = head_message(total, c.values());
    }
    const HeadWeights<T> weights(inputs[head], c.values());
    for (uint32_t body = group.rank(); body + 1 < count; body += group.size()) {
        const uint32_t position = body + (body >= head ? 1 : 0);
        if (target == ALL || target == position) {
            out[target == ALL ? position : 0] = body_message(c, position, weights, leaves[body]);
        }
    }
    group.sync();
}

/// horn_messages, or with a `target` horn_message, by a group. Maxima are taken over wide numbers, which
/// give the same bits, only later.
template <class Group>
FASTLBP_DEVICE void share_horn_messages(bool maxima, const Packed *inputs, uint32_t count, uint32_t head,
                                        const HornLiterals &c, uint32_t target, Packed *out,
                                        void *scratch, const Group &group) {
    if (maxima) {
        share_messages_with<Max<Wide>>(inputs, count, head, c, target, out, scratch, group);
    } else if (c.fits_f64(inputs, count)) {
        share_messages_with<double>(inputs, count, head, c, target, out, scratch, group);
    } else {
        share_messages_with<Wide>(inputs, count, head, c, target, out, scratch, group);
    }
}

/// noisy_messages, or with a `target` noisy_message, by a group.
template <class Group>
FASTLBP_DEVICE void share_noisy_messages(const Packed *inputs, uint32_t count, uint32_t head,
                                         const NoisyLiterals &c, uint32_t target, Packed *out,
                                         void *scratch, const Group &group) {
    if (c.fits_f64(inputs, count, target == ALL ? count : target)) {
        share_messages_with<double>(inputs, count, head, c, target, out, scratch, group);
    } else {
        share_messages_with<Wide>(inputs, count, head, c, target, out, scratch, group);
    }
}

/// Up to eight of the values read(i), i < count, from `start` on, padded with ones.
template <class Read>
FASTLBP_DEVICE void read_block(const Read &read, uint32_t start, uint32_t count, Packed (&block)[BLOCK]) {
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < BLOCK; ++i) {
        block[i] = start + i < count ? read(start + i) : Packed::one();
    }
}

/// The product of the values from `first`, a multiple of the tree's subtree that they fill, to `end`, in
/// the shape of the tree.
template <class Read>
FASTLBP_DEVICE_COLD Product range_product(const Read &read, uint32_t first, uint32_t end) {
    const auto product_of_block = [&](uint32_t number) {
        Packed block[BLOCK];
        read_block(read, first + number * BLOCK, end, block);
        return of_block(block);
    };
    return product_of_leaves((end - first + BLOCK - 1) / BLOCK, product_of_block);
}

/// The product of all `count` values but the one at `leaf`, in the shape of the tree. O(count).
template <class Read>
FASTLBP_DEVICE_COLD Product product_of_others(const Read &read, uint32_t count, uint32_t leaf) {
    Product down = Product::neutral();
    uint32_t start = 0;
    uint32_t size = BLOCK;
    while (size < count) {
        size *= 2;
    }
    while (size > BLOCK) {
        size /= 2;
        uint32_t sibling = start + size;
        if (leaf >= sibling) {
            exchange(start, sibling);
        }
        if (sibling < count) {
            down = combine(down, range_product(read, sibling, smaller_of(sibling + size, count)));
        }
    }
    return times_others_of(down, read, count, leaf);
}

/// Number of blocks of so many messages.
FASTLBP_DEVICE uint32_t blocks_of(uint32_t count) { return (count - 1) / BLOCK + 1; }

/// The products of the blocks of `count` values, into `blocks`.
template <class Read, class Group>
FASTLBP_DEVICE void share_blocks(const Read &read, uint32_t count, Product *blocks, const Group &group) {
    for (uint32_t i = group.rank(); i < blocks_of(count); i += group.size()) {
        Packed block[BLOCK];
        read_block(read, i * BLOCK, count, block);
        blocks[i] = of_block(block);
    }
    group.sync();
}

/// times_others for the leaf's block of the values.
template <class Read>
FASTLBP_DEVICE_COLD Product times_others_of(const Product &above, const Read &read, uint32_t count,
                                            uint32_t leaf) {
    Packed block[BLOCK];
    read_block(read, leaf / BLOCK * BLOCK, count, block);
    return times_others(above, block, leaf % BLOCK);
}

/// product_of_others by a group: all of its threads get the result. `products` has room for the blocks
/// and for the nodes above them.
template <class Read, class Group>
FASTLBP_DEVICE_COLD Product share_product_of_others(const Read &read, uint32_t count, uint32_t leaf,
                                               Product *products, const Group &group) {
    const uint32_t leaves = blocks_of(count);
    share_blocks(read, count, products, group);
    int height;
    const Product *level = combine_levels(products, leaves, products + leaves, height, group);
    Product down = Product::neutral();
    for (;;) {
        const uint32_t sibling = ((leaf / BLOCK) >> height) ^ 1;
        if (sibling < level_size(leaves, height)) {
            down = combine(down, level[sibling]);
        }
        if (height == 0) {
            break;
        }
        --height;
        level = height == 0 ? products : level - level_size(leaves, height);
    }
    const Product product = times_others_of(down, read, count, leaf);
    group.sync();
    return product;
}

}  // namespace fastlbp
