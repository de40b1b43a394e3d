// Hubs of more than WARP_LEAVES slots by levels.
//
// A factor reads message by message only that piece of such a hub in which its own slot is. Of each other piece it reads the
// product, in the *version* in which those messages are new that come before what the factor sends. A version is known by the
// number of its new messages, as these are always those of the lowest ranks. Each version that a factor needs is computed by a
// unit of its own, behind the units of the level that sends its last message, and handed over as messages are: so what is read
// of a hub grows with its degree, not with the square of it. A version lies at the slot that is as many behind the first one of
// the piece as it has new messages, less one; and that in which none is new is the one of the pass before in which all are.
//
// Made by src/engine/cuda/binary/level_versions.rs.
#pragma once

#include "binary_pieces.cuh"
#include "binary_products.cuh"

namespace fastlbp {

__device__ __forceinline__ uint32_t pieces_of_giant(const HubWords &words) {
    return (words.w + WARP_LEAVES - 1) / WARP_LEAVES;
}

/// All chunks of a hub in pieces: its words, and the versions, 128 to a chunk.
__device__ __forceinline__ uint32_t chunks_of_giant(const HubWords &words) {
    return 1 + (pieces_of_giant(words) + 127) / 128;
}

/// The versions that a factor reads, given the first of the hub's chunks.
__device__ __forceinline__ const uint32_t *versions_behind(const uint4 *chunk) {
    return reinterpret_cast<const uint32_t *>(chunk + 32);
}

/// Where the products of a state are, so many passes after the one from which a pass begins.
__device__ __forceinline__ uint64_t *products_after(const Binary &g, uint32_t buffer, uint32_t passes) {
    return g.level_products + (buffer + passes) % LEVEL_STATES * g.product_stride;
}

/// Products of pieces for a factor, by piece of the hub; read as those of Pieces.
struct Versions {
    const uint64_t *from, *now;
    const uint32_t *list;

    __device__ __forceinline__ Versions(uint32_t buffer, const uint32_t *versions)
        : from(products_after(shared_block().g, buffer, 0)), now(products_after(shared_block().g, buffer, 1)),
          list(versions) {}

    /// Those of pieces from `first` on, before `end`, as soon as all are there.
    template <int COUNT>
    __device__ __forceinline__ void read(uint32_t first, uint32_t end, Product (&products)[COUNT]) const {
        Some<COUNT> some;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < COUNT; ++i) {
            const uint32_t version = first + i < end ? __ldg(list + first + i) : VERSION_NONE;
            const uint64_t *const state = version_new(version) ? now : from;
            some.places[i] = version == VERSION_NONE ? nullptr : state + 2 * version_slot(version);
        }
        read_products(some, products);
    }

  private:
    template <int COUNT>
    struct Some {
        const uint64_t *places[COUNT];

        __device__ __forceinline__ uint32_t sign() const { return 0; }
        __device__ __forceinline__ const Block *ahead() const { return nullptr; }
        __device__ __forceinline__ void look_for(uint32_t i, uint64_t &significand, uint64_t &other) const {
            if (places[i]) {
                look_for_two(places[i], significand, other);
            }
        }
    };
};

/// Versions in which all messages are of one state, those of a run's beginning.
struct FirstVersions {
    const Binary &g;
    uint32_t buffer;

    __device__ __forceinline__ void set(uint32_t piece, const Product &product) const {
        hand_over_product(g.level_products + buffer * g.product_stride + 2 * g.piece_places[piece], product, 0);
    }
};

/// What is above the piece that a factor reads; `words` are those of this thread.
__device__ __noinline__ inline PieceShare share_above_piece(uint32_t buffer, const uint32_t *versions, HubWords words) {
    // With the exponents of a piece, it is within 19 bits.
    constexpr int64_t MOST = 1 << 12;
    const Versions pieces(buffer, versions);
    const Product top = other_pieces(pieces, 0, pieces_of_giant(words), words.z / WARP_LEAVES);
    const bool is_near = top.exponent >= -MOST && top.exponent <= MOST;
    const int32_t certain = (top.zeros != 0 ? EXPONENT_ZERO : 0) + (top.infinities != 0 ? EXPONENT_INFINITY : 0);
    return PieceShare{{top.significand, certain + (is_near ? static_cast<int32_t>(top.exponent) : 0)}, is_near};
}

/// What such a hub sends, whatever its messages are.
__device__ __noinline__ inline ProductSent message_of_pieces(const Places &places, const uint32_t *versions, HubWords words) {
    HubReadings readings;
    readings.start(places, words, true);
    const Versions pieces(places.buffer, versions);
    const Product top = other_pieces(pieces, 0, pieces_of_giant(words), words.z / WARP_LEAVES);
    wait_for(places, readings);
    Packed values[8];
    readings.take(values);
    return any_message_of_eight(words, values, top);
}

/// Hands over a version, and makes room for that of a later pass; by one thread.
__device__ __forceinline__ void send_version(const Places &places, uint32_t place, const Product &product) {
    const Binary &g = shared_block().g;
    hand_over_product(products_after(g, places.buffer, 1) + 2 * place, product, 0);
    hand_over(products_after(g, places.buffer, 3) + 2 * place, UNSENT, UNSENT);
}

}  // namespace fastlbp
