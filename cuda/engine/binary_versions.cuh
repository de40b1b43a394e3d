// Hubs of more than WARP_LEAVES slots by levels.
//
// The messages of such a hub are the leaves of a tree of pieces: those of height 0 have WARP_LEAVES messages, and those of each
// height more have 32 pieces of the height below. A factor reads message by message only the piece of height 0 in which its own slot
// is, and of the pieces beside it, at each height, the products. Each is read in the *version* in which those messages are new that
// come before what the factor sends. A version is known by the number of its new messages, as these are always those of the
// lowest ranks. Each version that is read is computed by a unit of its own, behind the units of the level that sends its last
// message, and handed over as messages are; above height 0, from versions of its parts. So what is read of a hub grows with its
// degree, not with the square of it. For each height there is a place for each slot: a version lies at the slot that is as many
// behind the first one of the piece as it has new messages, less one; and that in which none is new is the one of the pass
// before in which all are.
//
// Made by src/engine/cuda/binary/level_versions.rs.
#pragma once

#include "binary_pieces.cuh"
#include "binary_products.cuh"

namespace fastlbp {

/// Chunks of a hub in pieces: its words, and the versions of pieces beside its own.
constexpr uint32_t CHUNKS_OF_GIANT = 2;
/// Heights of pieces that the words of versions have room for: more than slots by levels can have.
constexpr int MOST_HEIGHTS = 4;

/// The version that a thread reads at a height, given the hub's first chunk.
__device__ __forceinline__ uint32_t version_of_height(const uint4 *chunk, int height, uint32_t lane) {
    return __ldg(reinterpret_cast<const uint32_t *>(chunk + 32) + 32 * height + lane);
}

/// Where the products of a state are, so many passes after the one from which a pass begins.
__device__ __forceinline__ uint64_t *products_after(const Binary &g, uint32_t buffer, uint32_t passes) {
    return g.level_products + (buffer + passes) % LEVEL_STATES * g.product_stride;
}

/// Hands over a version. The second word of so many messages is another one than that of a piece: if some are certain (bit 62), how
/// many are zero (bits 31-61) and infinite (0-30), as these alone decide; and else the exponent.
constexpr uint64_t VERSION_CERTAIN = uint64_t(1) << 62;

__device__ __forceinline__ void hand_over_version(uint64_t *to, const Product &product) {
    const bool certain = (product.zeros | product.infinities) != 0;
    const uint64_t counts = VERSION_CERTAIN | static_cast<uint64_t>(product.zeros) << 31 | product.infinities;
    hand_over(to, to_bits(product.significand),
              certain ? counts : static_cast<uint64_t>(product.exponent) & (VERSION_CERTAIN - 1));
}

/// Versions for the threads of a warp: of each up to COUNT, as soon as all are there; VERSION_NONE is a one.
template <int COUNT>
struct Versions {
    const uint64_t *places[COUNT];

    __device__ __forceinline__ Versions(uint32_t buffer, const uint32_t (&versions)[COUNT]) {
        const Binary &g = shared_block().g;
        const uint64_t *const from = products_after(g, buffer, 0), *const now = products_after(g, buffer, 1);
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            const uint64_t *const state = version_new(versions[i]) ? now : from;
            places[i] = versions[i] == VERSION_NONE ? nullptr : state + 2 * version_place(versions[i]);
        }
    }

    __device__ __forceinline__ uint32_t sign() const { return 0; }
    __device__ __forceinline__ const Block *ahead() const { return nullptr; }
    __device__ __forceinline__ void look_for(uint32_t i, uint64_t &significand, uint64_t &other) const {
        if (places[i]) {
            look_for_two(places[i], significand, other);
        }
    }
    static __device__ __forceinline__ Product product(uint64_t significand, uint64_t other) {
        const bool certain = (other & VERSION_CERTAIN) != 0;
        const uint32_t infinities = static_cast<uint32_t>(other) & 0x7fffffff;
        const uint32_t zeros = static_cast<uint32_t>(other >> 31) & 0x7fffffff;
        // The exponent's sign is in its highest bit.
        const int64_t exponent = static_cast<int64_t>(other << 2) >> 2;
        return Product{from_bits(significand), certain ? 0 : exponent, certain ? infinities : 0, certain ? zeros : 0};
    }
};

/// Most messages of a hub whose pieces have one height.
constexpr uint32_t MOST_OF_ONE_HEIGHT = 32 * WARP_LEAVES;

/// What a thread reads of what is above a piece of height 0, of a hub whose pieces have one height, or of none.
struct VersionReading {
    const uint64_t *place = nullptr;
    uint64_t significand = ONE_BITS, other = 0;

    VersionReading() = default;
    /// Given the hub's first chunk.
    __device__ __forceinline__ VersionReading(uint32_t buffer, const uint4 *chunk) {
        const uint32_t versions[1] = {version_of_height(chunk, 0, lane_of_warp())};
        place = Versions<1>(buffer, versions).places[0];
        if (place) {
            look_for_two(place, significand, other);
        }
    }
    __device__ __forceinline__ bool any_missing() const { return has_other_sign(significand, 0) | has_other_sign(other, 0); }
    __device__ __forceinline__ void repeat(const Places &) {
        if (any_missing()) {
            look_for_two(place, significand, other);
        }
    }
    /// When it is there: what is above the piece of a slot, as many behind the first one of the hub.
    __device__ __forceinline__ Product above(uint32_t slot) const {
        return ProductsOfWarp(Versions<1>::product(significand, other))
            .without(static_cast<int>(slot / WARP_LEAVES), Product::neutral());
    }
};

/// What is above the piece of height 0 that a factor reads, given the hub's first chunk and the words of this thread; the hub has at
/// most so many heights of pieces.
template <int HEIGHTS>
__device__ __forceinline__ Product versions_beside(uint32_t buffer, const uint4 *chunk, const HubWords &words) {
    const uint32_t lane = lane_of_warp();
    // The numbers of the own piece and of the last one: at each height, of the pieces that they are in.
    const uint32_t own = words.z / WARP_LEAVES, last = (words.w - 1) / WARP_LEAVES;
    const auto is_there = [&](int height) { return HEIGHTS == 1 || last >> 5 * height != 0; };
    uint32_t versions[HEIGHTS];
    FASTLBP_UNROLL
    for (int height = 0; height < HEIGHTS; ++height) {
        versions[height] = is_there(height) ? version_of_height(chunk, height, lane) : VERSION_NONE;
    }
    Product products[HEIGHTS];
    read_products(Versions<HEIGHTS>(buffer, versions), products);
    Product above = Product::neutral();
    FASTLBP_UNROLL
    for (int height = HEIGHTS - 1; height >= 0; --height) {
        if (is_there(height)) {
            above = ProductsOfWarp(products[height]).without(static_cast<int>(own >> 5 * height & 31), above);
        }
    }
    return above;
}

/// The same of any hub.
__device__ __noinline__ inline Product other_versions(uint32_t buffer, const uint4 *chunk, HubWords words) {
    return words.w <= MOST_OF_ONE_HEIGHT ? versions_beside<1>(buffer, chunk, words)
                                    : versions_beside<MOST_HEIGHTS>(buffer, chunk, words);
}

/// The same as a share.
__device__ __forceinline__ PieceShare share_above_piece(const Product &above) {
    // What is farther away than messages can be does not matter.
    constexpr int64_t MOST = 1 << 28;
    const int64_t exponent = above.exponent < -MOST ? -MOST : above.exponent > MOST ? MOST : above.exponent;
    const int32_t certain = (above.zeros != 0 ? EXPONENT_ZERO : 0) + (above.infinities != 0 ? EXPONENT_INFINITY : 0);
    return PieceShare{{above.significand, certain}, static_cast<int32_t>(exponent)};
}

/// What such a hub sends, whatever its messages are.
__device__ __noinline__ inline ProductSent message_of_pieces(const Places &places, const uint4 *chunk, HubWords words) {
    HubReadings readings;
    readings.start(places, words, true);
    const Product above = other_versions(places.buffer, chunk, words);
    wait_for(places, readings);
    Packed values[8];
    readings.take(values);
    return any_message_of_eight(words, values, above);
}

/// The product of a piece's parts, a version of which each thread reads.
__device__ __noinline__ inline Product product_of_parts(uint32_t buffer, uint32_t version) {
    const uint32_t versions[1] = {version};
    Product products[1];
    read_products(Versions<1>(buffer, versions), products);
    return ProductsOfWarp(products[0]).total();
}

/// Those versions of a state in which all messages are of one state, that of a run's beginning.
struct FirstVersions {
    const Binary &g;
    uint32_t buffer;

    __device__ __forceinline__ uint64_t *place(uint32_t piece) const {
        return products_after(g, buffer, 0) + 2 * g.piece_places[piece];
    }

    __device__ __forceinline__ void set(uint32_t piece, const Product &product) const {
        hand_over_version(place(piece), product);
    }

    /// The piece that is so many behind those of height 0, when its parts are there; by a warp.
    __device__ __forceinline__ void multiply_parts(uint32_t pieces, uint32_t number) const {
        const uint32_t part = g.piece_parts[number] + lane_of_warp(), end = g.piece_parts[number + 1];
        Product product = Product::neutral();
        if (part < end) {
            uint64_t significand, other;
            look_for_two(place(part), significand, other);
            product = Versions<1>::product(significand, other);
        }
        product = ProductsOfWarp(product).total();
        if (lane_of_warp() == 0) {
            set(pieces + number, product);
        }
    }
};

/// Hands over a version, and makes room for that of a later pass; by one thread.
__device__ __forceinline__ void send_version(const Places &places, uint32_t place, const Product &product) {
    const Binary &g = shared_block().g;
    hand_over_version(products_after(g, places.buffer, 1) + 2 * place, product);
    hand_over(products_after(g, places.buffer, 3) + 2 * place, UNSENT, UNSENT);
}

}  // namespace fastlbp
