// What large hubs do in a pass in which all messages are sent at once, a piece of 256 messages by each warp.
#pragma once

#include "binary_hubs.cuh"
#include "block.cuh"

namespace fastlbp {

/// Hands over a product of messages, with a sign.
__device__ __forceinline__ void hand_over_product(uint64_t *to, const Product &product, uint32_t sign) {
    hand_over(to, with_sign(to_bits(product.significand), sign),
              with_sign(static_cast<uint32_t>(product.exponent) |
                            static_cast<uint64_t>(product.zeros << 16 | product.infinities) << 32,
                        sign));
}

/// Products that were handed over, as soon as all are there: they are looked for together, since one after the other would take
/// as long again for each. The source looks for each, or leaves it one; it knows their sign, the block if passes run ahead, and what
/// words mean that have no sign.
template <class Source, int COUNT>
__device__ __forceinline__ void read_products(const Source &source, Product (&products)[COUNT]) {
    uint64_t significands[COUNT], others[COUNT];
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < COUNT; ++i) {
        significands[i] = with_sign(ONE_BITS, source.sign());
        others[i] = with_sign(0, source.sign());
    }
    bool missing = true;
    for (uint32_t looks = 1; missing; ++looks) {
        missing = false;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < COUNT; ++i) {
            source.look_for(i, significands[i], others[i]);
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < COUNT; ++i) {
            missing |= has_other_sign(significands[i], source.sign()) | has_other_sign(others[i], source.sign());
        }
        missing &= source.ahead() == nullptr || !source.ahead()->gives_up(looks);
#ifdef __CUDA_ARCH__
        if (missing && source.ahead()) {
            // Others need the memory more.
            __nanosleep(150);
        }
#else
        if (missing) {
            take_turns();
        }
#endif
    }
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < COUNT; ++i) {
        products[i] = source.product(with_sign(significands[i], source.sign()), with_sign(others[i], source.sign()));
    }
}

/// The products of the pieces of large hubs, as warps hand them over to each other in a pass: two words for each,
/// the bits of the significand; and the exponent (bits 0-31), and how many messages were infinite (32-47) and
/// zero (48-62). For passes from either buffer their own, so that those of the pass before are reset when nobody
/// reads them; or, in passes that run ahead, for each second one, with another sign each time.
struct Pieces {
    uint64_t *own, *before;
    uint32_t sign = 0;
    /// If passes run ahead.
    const Block *ahead = nullptr;

    __device__ __forceinline__ Pieces(const Binary &g, const Packed *from) {
        own = reinterpret_cast<uint64_t *>(g.prepared + g.four_slot);
        before = own + 2 * g.hub_pieces[g.classes[1]];
        if (from != g.messages) {
            exchange(own, before);
        }
    }

    /// Where passes run ahead, this one (of the launch).
    __device__ __forceinline__ Pieces(const Block &block, uint32_t pass)
        : own(reinterpret_cast<uint64_t *>(block.g.prepared + block.g.four_slot) +
              (pass & 1) * 2 * block.g.hub_pieces[block.g.classes[1]]),
          before(nullptr), sign(pass >> 1 << 31), ahead(&block) {}

    /// Those for who looks at a state: see looks_at.
    __device__ __forceinline__ Pieces(const Binary &g, uint32_t look)
        : own(g.looked_pieces + uint64_t(look) * 2 * g.hub_pieces[g.classes[1]]), before(nullptr) {}

    __device__ __forceinline__ void set(uint32_t piece, const Product &product) const {
        hand_over_product(own + 2 * piece, product, sign);
    }

    /// Those of the pass before, and of this one.
    __device__ __forceinline__ void reset(uint32_t piece) const { hand_over(before + 2 * piece, UNSENT, UNSENT); }
    __device__ __forceinline__ void reset_own(uint32_t piece) const { hand_over(own + 2 * piece, UNSENT, UNSENT); }

    /// Those from `first` on, before `end`, as soon as all are there.
    template <int COUNT>
    __device__ __forceinline__ void read(uint32_t first, uint32_t end, Product (&products)[COUNT]) const {
        read_products(Range{*this, first, end}, products);
    }

  private:
    struct Range {
        const Pieces &pieces;
        uint32_t first, end;

        __device__ __forceinline__ uint32_t sign() const { return pieces.sign; }
        __device__ __forceinline__ const Block *ahead() const { return pieces.ahead; }
        __device__ __forceinline__ void look_for(uint32_t i, uint64_t &significand, uint64_t &other) const {
            // Set anew for each look, so that nothing is kept from one to the next.
            significand = with_sign(ONE_BITS, pieces.sign);
            other = with_sign(0, pieces.sign);
            if (first + i < end) {
                look_for_two(pieces.own + 2 * (first + i), significand, other);
            }
        }
        static __device__ __forceinline__ Product product(uint64_t significand, uint64_t other) {
            return Product{from_bits(significand), static_cast<int32_t>(static_cast<uint32_t>(other)),
                           static_cast<uint32_t>(other >> 32) & 0xffff, static_cast<uint32_t>(other >> 48)};
        }
    };
};

/// The product of the pieces from `first` on, as many as a power of two, in the shape of the tree; those from
/// `end` on are neutral. Eight at a time are under way.
__device__ __forceinline__ Product product_of_pieces(const Pieces &pieces, uint32_t first, uint32_t size,
                                                     uint32_t end) {
    Product sums[24];
    int depth = 0;
    for (uint32_t i = 0; i < size; i += 8) {
        Product some[8];
        pieces.read(first + i, smaller_of(end, first + size), some);
        FASTLBP_UNROLL
        for (int step = 1; step < 8; step *= 2) {
            FASTLBP_UNROLL
            for (int j = 0; j < 8; j += 2 * step) {
                some[j] = combine(some[j], some[j + step]);
            }
        }
        Product product = some[0];
        for (uint32_t ones = i / 8; ones & 1; ones >>= 1) {
            product = combine(sums[--depth], product);
        }
        sums[depth++] = product;
    }
    return sums[0];
}

/// How many pieces each thread of a warp takes of these, a power of two.
__device__ __forceinline__ uint32_t pieces_of_thread(uint32_t first, uint32_t end) {
    uint32_t size = 1;
    while (first + 32 * size < end) {
        size *= 2;
    }
    return size;
}

/// The product of all pieces from `first` to `end` but `own`, by a warp. Any number of them: the warp takes them as 32 equal
/// parts, then the part in which `own` is, and so on, in the shape of the tree.
__device__ __noinline__ inline Product far_other_pieces(const Pieces &pieces, uint32_t first, uint32_t end,
                                                        uint32_t own) {
    uint32_t size = pieces_of_thread(first, end);
    Product rest = Product::neutral();
    for (;;) {
        const Product part = product_of_pieces(pieces, first + threadIdx.x % 32 * size, size, end);
        const uint32_t at = (own - first) / size;
        rest = product_without(part, static_cast<int>(at), rest);
        if (size == 1) {
            return rest;
        }
        first += at * size;
        end = smaller_of(end, first + size);
        size = size > 32 ? size / 32 : 1;
    }
}

/// Most pieces of which each thread of a warp can have eight, with counts of 16 bits.
constexpr uint32_t WARP_PIECES = 255;

/// Whether sums of so many exponents as there are pieces of a warp might not fit 32 bits, if this is one of them.
__device__ __forceinline__ bool is_far(int32_t exponent) {
    return static_cast<uint32_t>(exponent + (1 << 22)) >= 1u << 23;
}

/// The product of those that the threads of a warp have, in the shape of the tree.
__device__ __forceinline__ Product product_of_warp(Product product) {
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        product = combine(product, shuffle_xor(product, 1 << level));
    }
    return product;
}

/// Products that the threads of a warp have, one each: in the shape of the tree, that of all, and that of what is above and of all but
/// the one of a thread.
struct ProductsOfWarp {
    Product own;
    bool far;

    explicit __device__ __forceinline__ ProductsOfWarp(const Product &product) : own(product) {
        // Sums of 32 counts must fit 16 bits.
        constexpr uint32_t MOST_CERTAIN = 2047;
        const int32_t exponent = static_cast<int32_t>(product.exponent);
        far = __any_sync(~0u, (exponent != product.exponent) | is_far(exponent) |
                                  ((product.zeros | product.infinities) > MOST_CERTAIN));
    }

    __device__ __forceinline__ Product total() const {
        if (!far) {
            return climbed().total();
        }
        return product_of_warp(own);
    }

    __device__ __forceinline__ Product without(int thread, const Product &above) const {
        return far ? product_without(own, thread, above) : shuffle(climbed().above_from(above), thread);
    }

  private:
    __device__ __forceinline__ Ascent climbed() const {
        Ascent ascent;
        ascent.climb(Part{own.significand, static_cast<int32_t>(own.exponent), own.zeros << 16 | own.infinities}, 32);
        return ascent;
    }
};

/// The product of all pieces from `first` to `end`, by a warp, in the shape of the tree, which that of one piece and all others
/// has not.
__device__ __noinline__ inline Product product_of_all_pieces(const Pieces &pieces, uint32_t first, uint32_t end) {
    const uint32_t size = pieces_of_thread(first, end);
    return product_of_warp(product_of_pieces(pieces, first + threadIdx.x % 32 * size, size, end));
}

/// The same for at most FEW_PIECES, two to a thread.
constexpr uint32_t FEW_PIECES = 64;
__device__ __forceinline__ Product few_other_pieces(const Pieces &pieces, uint32_t first, uint32_t end, uint32_t own) {
    Product products[2];
    pieces.read(first + 2 * (threadIdx.x % 32), end, products);
    const int32_t exponents[2] = {static_cast<int32_t>(products[0].exponent),
                                  static_cast<int32_t>(products[1].exponent)};
    if (__any_sync(~0u, is_far(exponents[0]) | is_far(exponents[1]))) {
        return far_other_pieces(pieces, first, end, own);
    }
    const uint32_t counts[2] = {products[0].zeros << 16 | products[0].infinities,
                                products[1].zeros << 16 | products[1].infinities};
    Ascent ascent;
    ascent.climb(Part::normalise(products[0].significand * products[1].significand, exponents[0] + exponents[1],
                                 counts[0] + counts[1]),
                 32);
    const Product above = ascent.above();
    const bool left = ((own - first) & 1) == 0;
    const uint32_t other = left ? counts[1] : counts[0];
    const Part rest = Part::normalise(above.significand * (left ? products[1] : products[0]).significand,
                                      static_cast<int32_t>(above.exponent) + (left ? exponents[1] : exponents[0]), 0);
    return shuffle(Product{rest.significand, rest.exponent, above.infinities + (other & 0xffff),
                           above.zeros + (other >> 16)},
                   static_cast<int>((own - first) / 2));
}

/// The same for any number. The pieces lie on the threads as messages do.
__device__ __noinline__ inline Product many_other_pieces(const Pieces &pieces, uint32_t first, uint32_t end,
                                                         uint32_t own) {
    if (end - first > WARP_PIECES) {
        return far_other_pieces(pieces, first, end, own);
    }
    const uint32_t leaf = (own - first) % 8;
    Product products[8];
    pieces.read(first + 8 * (threadIdx.x % 32), end, products);
    Leaves leaves;
    leaves.fill_with_ones();
    int32_t exponent = 0, exponent_of_leaf = 0;
    uint32_t counts = 0, counts_of_leaf = 0;
    bool far = false;
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        const int32_t its_exponent = static_cast<int32_t>(products[i].exponent);
        const uint32_t its_counts = products[i].zeros << 16 | products[i].infinities;
        leaves.x[i] = products[i].significand;
        far |= is_far(its_exponent);
        exponent += its_exponent;
        counts += its_counts;
        if (i == leaf) {
            exponent_of_leaf = its_exponent;
            counts_of_leaf = its_counts;
        }
    }
    if (__any_sync(~0u, far)) {
        return far_other_pieces(pieces, first, end, own);
    }
    const Part product = leaves.total();
    Ascent ascent;
    ascent.climb(Part{product.significand, product.exponent + exponent, counts}, 32);
    const Product above = ascent.above();
    const Siblings<double> s(leaves.x, leaf);
    const double half = (s.half[0] * s.half[1]) * (s.half[2] * s.half[3]);
    const Part rest = Part::normalise(((above.significand * half) * (s.pair[0] * s.pair[1])) * s.leaf,
                                      static_cast<int32_t>(above.exponent) + exponent - exponent_of_leaf,
                                      counts - counts_of_leaf);
    return shuffle(Product{rest.significand, rest.exponent, rest.infinities() + above.infinities,
                           rest.zeros() + above.zeros},
                   static_cast<int>((own - first) / 8));
}

__device__ __forceinline__ Product other_pieces(const Pieces &pieces, uint32_t first, uint32_t end, uint32_t own) {
    return end - first <= FEW_PIECES ? few_other_pieces(pieces, first, end, own)
                                     : many_other_pieces(pieces, first, end, own);
}

/// The leaves of a piece of a large hub. Returns whether this thread has some, and where they begin.
__device__ __forceinline__ bool load_piece(const Binary &g, uint32_t piece, uint32_t hub, const Packed *from,
                                           Leaves &leaves, uint32_t &slot) {
    slot = g.hub_slots[hub] + (piece - g.hub_pieces[hub]) * WARP_LEAVES + 8 * (threadIdx.x % 32);
    const bool there = slot < g.hub_slots[hub + 1];
    leaves.load_if(there, from, slot);
    return there;
}

/// The first half of what a warp does with a large hub's piece where the state is measured: its product.
template <class Products>
__device__ __forceinline__ void multiply_piece(const Binary &g, const Products &products, uint32_t piece,
                                               const Packed *from) {
    Leaves leaves;
    uint32_t slot;
    load_piece(g, piece, g.piece_hubs[piece], from, leaves, slot);
    Ascent ascent;
    ascent.climb(leaves.total(), 32);
    if (threadIdx.x % 32 == 0) {
        products.set(piece, ascent.total());
    }
}

/// The second half: its messages, and with the first piece the belief.
__device__ __forceinline__ void send_piece(const Binary &g, const Pieces &pieces, uint32_t piece, const Packed *from,
                                           const Sink &sink, Watch &watch) {
    const uint32_t hub = g.piece_hubs[piece], first = g.hub_pieces[hub], known = g.known[hub];
    if (piece == first) {
        const Product total = product_of_all_pieces(pieces, first, g.hub_pieces[hub + 1]);
        if (threadIdx.x % 32 == 0) {
            watch.look(hub, known, total, watch.noting_hubs);
        }
    }
    if (!sink.wants()) {
        return;
    }
    Leaves leaves;
    uint32_t slot;
    const bool there = load_piece(g, piece, hub, from, leaves, slot);
    Ascent ascent;
    ascent.climb(leaves.total(), 32);
    const Product top = other_pieces(pieces, first, g.hub_pieces[hub + 1], piece);
    if (there) {
        Packed odds[8];
        hub_sends(g, slot, known, leaves, ascent.above_from(top), odds);
        sink.put(slot, odds);
    }
}

/// Both halves, for all pieces. The last warps have fewer small hubs.
__device__ __forceinline__ void multiply_pieces(const Binary &g, const Packed *from) {
    const Pieces pieces(g, from);
    const uint32_t warps = threads_of_grid() / 32, end = g.hub_pieces[g.classes[1]];
    for (uint32_t piece = warps - 1 - thread_of_grid() / 32; piece < end; piece += warps) {
        multiply_piece(g, pieces, piece, from);
        if (threadIdx.x % 32 == 0) {
            pieces.reset(piece);
        }
    }
}

__device__ __forceinline__ void send_pieces(const Binary &g, const Packed *from, const Sink &sink, Watch &watch) {
    const Pieces pieces(g, from);
    const uint32_t warps = threads_of_grid() / 32, end = g.hub_pieces[g.classes[1]];
    for (uint32_t piece = warps - 1 - thread_of_grid() / 32; piece < end; piece += warps) {
        send_piece(g, pieces, piece, from, sink, watch);
    }
}

}  // namespace fastlbp
