// Products at variables with many factors, 8 messages by each thread of a group.
#pragma once

#include "binary_leaves.cuh"
#include "block.cuh"

namespace fastlbp {

__device__ __forceinline__ Product shuffle_xor(const Product &p, int distance) {
    Product q;
    q.significand = __shfl_xor_sync(~0u, p.significand, distance);
    q.exponent = __shfl_xor_sync(~0u, static_cast<long long>(p.exponent), distance);
    q.infinities = __shfl_xor_sync(~0u, p.infinities, distance);
    q.zeros = __shfl_xor_sync(~0u, p.zeros, distance);
    return q;
}

/// The products of the neighbouring subtrees that a thread meets on the way from its leaves to the top of
/// `width` threads. Significands from 1 to 2 are multiplied as they are: 32 of them stay far below the
/// largest double. Exponents and counts are sums, from which the own ones are taken.
struct Ascent {
    double own, siblings[5], product;
    int32_t own_exponent, exponent;
    uint32_t own_counts, counts;

    __device__ __forceinline__ void climb(const Part &part, uint32_t width) {
        own = product = part.significand;
        own_exponent = exponent = part.exponent;
        own_counts = counts = part.counts;
        const bool certain = __any_sync(~0u, part.counts != 0);
        // Without branches, which would cost more than what they spare.
        FASTLBP_UNROLL
        for (int level = 0; level < 5; ++level) {
            const bool within = (1u << level) < width;
            const double sibling = __shfl_xor_sync(~0u, product, 1 << level);
            const int32_t its_exponent = __shfl_xor_sync(~0u, exponent, 1 << level);
            siblings[level] = within ? sibling : 1.0;
            product = product * siblings[level];
            exponent += within ? its_exponent : 0;
        }
        if (certain) {
            FASTLBP_UNROLL
            for (int level = 0; level < 5; ++level) {
                const uint32_t its_counts = __shfl_xor_sync(~0u, counts, 1 << level);
                counts += (1u << level) < width ? its_counts : 0;
            }
        }
    }

    /// The product of all.
    __device__ __forceinline__ Product total() const { return Part::normalise(product, exponent, counts).product(); }

    /// What is above the own leaves.
    __device__ __forceinline__ Product above() const {
        double rest = siblings[4];
        FASTLBP_UNROLL
        for (int level = 3; level >= 0; --level) {
            rest = rest * siblings[level];
        }
        return Part::normalise(rest, exponent - own_exponent, counts - own_counts).product();
    }

    /// The same, given what is above the top of a warp.
    __device__ __forceinline__ Product above_from(const Product &top) const {
        double rest = top.significand;
        FASTLBP_UNROLL
        for (int level = 4; level >= 0; --level) {
            rest = rest * siblings[level];
        }
        const uint32_t others = counts - own_counts;
        const Wide wide = Wide::normalise(rest, top.exponent + (exponent - own_exponent));
        return Product{wide.significand, wide.exponent, top.infinities + (others & 0xffff),
                       top.zeros + (others >> 16)};
    }
};

/// Stores eight neighbouring messages.
__device__ __forceinline__ void store_eight(Packed *messages, const Packed (&odds)[8]) {
    FASTLBP_UNROLL
    for (int i = 0; i < 8; i += 2) {
        store_pair(messages + i, odds[i], odds[i + 1]);
    }
}

/// What is done with the messages of variables to factors: they are stored, their changes are measured.
struct Sink {
    /// By slot; null for nowhere.
    Packed *prepared;
    /// Last probabilities, and changes; null if they are not measured.
    double *inputs, *changes;

    __device__ __forceinline__ bool wants() const { return prepared || inputs; }

    __device__ __forceinline__ void measure(uint32_t slot, Packed odds) const {
        const double probability = odds.probability();
        changes[slot] = fabs(probability - inputs[slot]) / 2.0;
        inputs[slot] = probability;
    }

    __device__ __forceinline__ void put(uint32_t slot, const Packed (&odds)[8]) const {
        if (prepared) {
            store_eight(prepared + slot, odds);
        }
        if (inputs) {
            FASTLBP_UNROLL
            for (int i = 0; i < 8; ++i) {
                measure(slot + i, odds[i]);
            }
        }
    }
};

/// Beliefs: their changes, if measured, and what is contradictory.
struct Watch {
    const Binary &g;
    /// Where this pass's row of the history is, if there is one.
    double *row;
    /// Where the probabilities of all states go instead, if they are wanted.
    double *results;
    bool measuring;
    /// Whether contradictory variables are noted: those with many factors, and those with few.
    bool noting_hubs, noting_few;
    /// That whose beliefs alone are compared; null for all.
    const Sample *compared = nullptr;
    double tolerance;
    Tally *of_state;
    double max_diff;
    uint32_t moved;

    __device__ __forceinline__ Watch(const Binary &graph, const Rule &rule, uint64_t n, bool measure, bool hubs,
                                     bool few, Tally *tally)
        : g(graph), row(nullptr), results(nullptr), measuring(measure), noting_hubs(hubs), noting_few(few),
          tolerance(rule.tolerance), of_state(tally), max_diff(0.0), moved(0) {
        if (measure && n > 0 && rule.kind == RULE_BINGO) {
            row = g.history + ((n - 1) % g.history_length) * static_cast<uint64_t>(g.variables);
        }
    }

    __device__ __forceinline__ Watch(const Binary &graph, double *probabilities)
        : g(graph), row(nullptr), results(probabilities), measuring(true), noting_hubs(false), noting_few(false), tolerance(0.0),
          of_state(nullptr), max_diff(0.0), moved(0) {}

    __device__ __forceinline__ void note(double diff) {
        max_diff = larger_of(max_diff, diff);
        moved += diff > tolerance;
    }

    /// That of a factor, given the sum of its inputs' changes.
    __device__ __forceinline__ void note_mean(double sum, uint32_t count) {
        note(count == 0 ? 0.0 : sum / static_cast<double>(count));
    }

    /// Takes over a belief.
    __device__ __forceinline__ void belief(uint32_t position, double probability) {
        if (!compared || compared->has(g, position)) {
            note(fabs(probability - g.beliefs[position]));
        }
        g.beliefs[position] = probability;
        if (row) {
            row[position] = probability;
        }
    }

    /// Looks at a variable whose messages have this product.
    __device__ __forceinline__ void look(uint32_t position, uint32_t known, Product total, bool noting) {
        if (known == KNOWN_SOFT) {
            total = combine(total, Product::of(g.soft_of(position)));
        }
        if (noting && !is_observed(known) && total.is_contradictory()) {
            note_variable(of_state, g.variable[position]);
        }
        if (measuring) {
            take(position, known, total);
        }
    }

    __device__ __forceinline__ void take(uint32_t position, uint32_t known, const Product &total) {
        double both[2] = {known == KNOWN_TRUE ? 0.0 : 1.0, known == KNOWN_TRUE ? 1.0 : 0.0};
        if (!is_observed(known)) {
            total.probabilities(both);
        }
        if (results) {
            const uint64_t at = 2 * static_cast<uint64_t>(g.variable[position]);
            results[at] = both[0];
            results[at + 1] = both[1];
        } else {
            belief(position, both[1]);
        }
    }

    /// Hands over what was measured.
    __device__ __forceinline__ void finish() {
        if (of_state) {
            note_movement(of_state, max_diff, moved);
        }
    }
};

/// Hubs with at most 8 << `shift` factors, several of them by a warp.
__device__ __forceinline__ void small_hubs(const Binary &g, uint32_t first, uint32_t end, uint32_t shift, uint32_t warp,
                                           uint32_t warps, const Packed *from, const Sink &sink, Watch &watch) {
    const uint32_t lane = threadIdx.x % 32, width = 1 << shift, per_warp = 32 >> shift;
    const uint32_t own = lane >> shift, block = lane & (width - 1);
    for (uint32_t at = first + warp * per_warp; at < end; at += warps * per_warp) {
        const uint32_t hub = at + own;
        const bool there = hub < end;
        const uint32_t slot = there ? __ldg(g.hub_slots + hub) + 8 * block : 0;
        const bool mine = there && slot < __ldg(g.hub_slots + hub + 1);
        const uint32_t known = there ? g.known[hub] : 0;
        Leaves leaves;
        leaves.load_if(mine, from, slot);
        Ascent ascent;
        ascent.climb(leaves.total(), width);
        if (there && block == 0) {
            watch.look(hub, known, ascent.total(), watch.noting_hubs);
        }
        if (mine && sink.wants()) {
            Packed odds[8];
            hub_sends(g, slot, known, leaves, ascent.above(), odds);
            sink.put(slot, odds);
        }
    }
}

/// Replaces `pieces` by the products of all others, and returns the product of all; by all threads of a
/// block. `nodes` has room for as many.
__device__ __noinline__ inline Product leave_out_pieces(Product *pieces, uint32_t count, Product *nodes) {
    Product *level = pieces, *above = nodes;
    uint32_t size = count;
    int height = 0;
    __syncthreads();
    while (size > 2) {
        const uint32_t half = (size + 1) / 2;
        for (uint32_t i = threadIdx.x; i < half; i += blockDim.x) {
            above[i] = 2 * i + 1 < size ? combine(level[2 * i], level[2 * i + 1]) : level[2 * i];
        }
        __syncthreads();
        size = half;
        level = above;
        above += size;
        ++height;
    }
    const Product total = size == 2 ? combine(level[0], level[1]) : level[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        if (size == 2) {
            exchange(level[0], level[1]);
        } else {
            level[0] = Product::neutral();
        }
    }
    __syncthreads();
    while (height > 0) {
        const Product *parents = level;
        --height;
        size = level_size(count, height);
        level = height == 0 ? pieces : level - size;
        for (uint32_t i = threadIdx.x; i < (size + 1) / 2; i += blockDim.x) {
            if (2 * i + 1 < size) {
                const Product a = level[2 * i], b = level[2 * i + 1], p = parents[i];
                level[2 * i] = combine(p, b);
                level[2 * i + 1] = combine(p, a);
            } else {
                level[2 * i] = parents[i];
            }
        }
        __syncthreads();
    }
    return total;
}

/// Room for twice SHARED_PIECES products in a block's shared memory.
__device__ inline Product *shared_pieces() {
    __shared__ double room[2 * SHARED_PIECES * sizeof(Product) / sizeof(double)];
    return reinterpret_cast<Product *>(room);
}

/// A hub with more than WARP_LEAVES factors, by a block.
__device__ __forceinline__ void large_hub(const Binary &g, uint32_t hub, const Packed *from, const Sink &sink,
                                          Watch &watch) {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint32_t slot = g.hub_slots[hub], end = g.hub_slots[hub + 1];
    const uint32_t count = (end - slot + WARP_LEAVES - 1) / WARP_LEAVES;
    Product *pieces = shared_pieces(), *nodes = pieces + SHARED_PIECES;
    if (count > SHARED_PIECES) {
        pieces = g.pieces + 2 * (slot / WARP_LEAVES + hub);
        nodes = pieces + count;
    }
    const uint32_t known = g.known[hub];
    // First the products of the pieces, then what they leave out of each other.
    for (int round = 0; round < 2; ++round) {
        for (uint32_t piece = warp; piece < count; piece += warps) {
            const uint32_t at = slot + piece * WARP_LEAVES + 8 * lane;
            Leaves leaves;
            leaves.load_if(at < end, from, at);
            Ascent ascent;
            ascent.climb(leaves.total(), 32);
            if (round == 0) {
                if (lane == 0) {
                    pieces[piece] = ascent.total();
                }
            } else if (at < end) {
                Packed odds[8];
                hub_sends(g, at, known, leaves, ascent.above_from(pieces[piece]), odds);
                sink.put(at, odds);
            }
        }
        if (round == 0) {
            const Product total = leave_out_pieces(pieces, count, nodes);
            if (threadIdx.x == 0) {
                watch.look(hub, known, total, watch.noting_hubs);
            }
            if (!sink.wants()) {
                break;
            }
        }
    }
    __syncthreads();
}

/// All hubs of up to WARP_LEAVES factors.
__device__ __forceinline__ void all_small_hubs(const Binary &g, uint32_t warp, uint32_t warps, const Packed *from,
                                               const Sink &sink, Watch &watch) {
    for (uint32_t c = 1; c < HUB_CLASSES; ++c) {
        small_hubs(g, g.classes[c], g.classes[c + 1], HUB_CLASSES - 1 - c, warp, warps, from, sink, watch);
        // Each class begins with other warps.
        warp = warp >= warps / 4 ? warp - warps / 4 : warp + warps - warps / 4;
    }
}

/// All hubs. Blocks that have a large one leave the others alone, if enough blocks are left.
__device__ __forceinline__ void all_hubs(const Binary &g, const Packed *from, const Sink &sink, Watch &watch) {
    const uint32_t large = g.classes[1];
    for (uint32_t hub = blockIdx.x; hub < large; hub += gridDim.x) {
        large_hub(g, hub, from, sink, watch);
    }
    const uint32_t busy = 2 * large <= gridDim.x ? large : 0;
    if (blockIdx.x < busy) {
        return;
    }
    all_small_hubs(g, (blockIdx.x - busy) * (blockDim.x / 32) + threadIdx.x / 32,
                   (gridDim.x - busy) * (blockDim.x / 32), from, sink, watch);
}

__device__ __forceinline__ Product shuffle(const Product &p, int lane) {
    return Product{__shfl_sync(~0u, p.significand, lane),
                   __shfl_sync(~0u, static_cast<long long>(p.exponent), lane),
                   __shfl_sync(~0u, p.infinities, lane), __shfl_sync(~0u, p.zeros, lane)};
}

/// The products of all threads of a warp but that of `lane`, in the shape of the tree, and of what is above these.
__device__ __forceinline__ Product product_without(Product total, int lane, const Product &above) {
    Product siblings[5];
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        siblings[level] = shuffle_xor(total, 1 << level);
        total = combine(total, siblings[level]);
    }
    Product rest = above;
    FASTLBP_UNROLL
    for (int level = 4; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    return shuffle(rest, lane);
}

}  // namespace fastlbp
