// What warps do in a pass in which all messages are sent at once. Made by src/engine/cuda/binary/flood.rs.
//
// What is at home at a block (see binary_home.cuh) stays there. Of the other variables, all hubs here, messages go
// through the device's memory. Each warp sees to its hubs first, and blocks wait for each other at two milestones, with
// other things to do in between; or, where nothing is to be known of states, passes run ahead (binary_exchange.cuh).
#pragma once

#include "binary_turns.cuh"

namespace fastlbp {

// What a warp does with hubs comes in units of some kinds, one kind after the other. A unit is two words for each
// thread: the first as of an input, of the first slot of the eight that the thread takes, ~0 for nothing; the second a
// number.
//
// A piece of a large hub is multiplied, or its messages are sent. The numbers of the first threads are that of the
// piece, of the hub's first one, and the one behind the hub's last.
// Small hubs (FLOOD_HUBS) are each seen to by 2^number threads.
// Pieces of large factors (binary_large_factors.cuh) have units of several rows.

/// What a thread has of a hub in a pass; which one, if passes run ahead.
template <bool AHEAD>
struct FloodHub {
    Leaves leaves;
    Ascent ascent;

    __device__ __forceinline__ FloodHub(const Block &block, const FloodWords &words, uint32_t width, uint32_t pass) {
        if (AHEAD) {
            await_eight(block, words, pass, leaves);
        } else if (words.is_sent()) {
            leaves.load(block.from, words.slot());
        } else {
            leaves.fill_with_ones();
        }
        ascent.climb(leaves.total(), width);
    }

    /// Sends the messages, given what is above; the hub is noted by its first thread if certain messages disagree.
    template <class Run>
    __device__ __forceinline__ void send(const Block &block, const FloodWords &words, const Product &above, bool is_first,
                                         Certain certain, uint32_t pass) const {
        if (words.is_sent()) {
            Packed odds[8];
            hub_sends<Run::OPTIONS>(block.g, words.slot(), words.known(), leaves, above, odds);
            Packed *const to = block.g.prepared + words.slot();
            if (AHEAD) {
                uint64_t all = 0;
                FASTLBP_UNROLL
                for (int i = 0; i < 8; ++i) {
                    all |= odds[i].bits;
                }
                if (has_sign(Packed{all})) {
                    FASTLBP_UNROLL
                    for (int i = 0; i < 8; ++i) {
                        hand_over_one(to + i, block.g.far_prepared + (words.slot() + i), odds[i], pass);
                    }
                } else {
                    FASTLBP_UNROLL
                    for (int i = 0; i < 8; i += 2) {
                        hand_over(&to[i].bits, with_sign(odds[i].bits, pass << 31),
                                  with_sign(odds[i + 1].bits, pass << 31));
                    }
                }
            } else {
                store_eight(to, odds);
            }
            if (is_first && disagree<Run>(block.g, words.slot(), words.known(), certain)) {
                note_contradiction(block, position_of_slot(block.g, words.slot()), pass);
            }
        }
    }
};

/// The units of hubs of some rows, one after the other. Words may be in the device's memory, so those of the next unit are
/// asked for early.
struct UnitsOfHubs {
    const Block &block;
    uint32_t row, end;
    FloodWords coming;

    __device__ __forceinline__ UnitsOfHubs(const Block &of, uint32_t first, uint32_t behind)
        : block(of), row(first), end(behind), coming(FloodWords::nothing()) {
        if (row < end) {
            coming = FloodWords(block, row);
        }
    }

    __device__ __forceinline__ FloodWords next() {
        const FloodWords words = coming;
        row += 2;
        if (row < end) {
            coming = FloodWords(block, row);
        }
        return words;
    }
};

template <bool AHEAD>
__device__ __forceinline__ Pieces pieces_of(const Block &block, uint32_t pass) {
    return AHEAD ? Pieces(block, pass) : Pieces(block.g, block.from);
}

/// What hubs send, but large ones, whose pieces are multiplied first.
template <class Run, bool AHEAD>
__device__ __forceinline__ void small_hubs_send(const Block &block, const uint32_t *starts, uint32_t pass) {
    const uint32_t lane = threadIdx.x % 32;
    UnitsOfHubs units(block, starts[FLOOD_MULTIPLY], starts[FLOOD_SEND]);
    double change = 0.0;
    for (uint32_t row = starts[FLOOD_MULTIPLY]; row < starts[FLOOD_SEND]; row += 2) {
        const FloodWords words = units.next();
        const bool multiplies = row < starts[FLOOD_HUBS];
        const uint32_t width = multiplies ? 32 : 1 << words.value();
        const FloodHub<AHEAD> hub(block, words, width, pass);
        if (!multiplies) {
            const Certain certain = {hub.ascent.counts >> 16, hub.ascent.counts & 0xffff};
            const bool is_first = (lane & (width - 1)) == 0;
            hub.template send<Run>(block, words, hub.ascent.above(), is_first, certain, pass);
            if (Run::OPTIONS && block.sampling && is_first && words.is_sent() && block.sample.has_hub(words.slot())) {
                const uint32_t position = block.g.hub_of_eight[words.slot() / 8];
                change = larger_of(change, change_of_belief(block.g, position, words.known(), hub.ascent.total()));
            }
        } else if (lane == 0) {
            const Pieces pieces = pieces_of<AHEAD>(block, pass);
            pieces.set(words.value(), hub.ascent.total());
            if (!AHEAD) {
                pieces.reset(words.value());
            }
        }
    }
    if (Run::OPTIONS && block.sampling) {
        block.note_change(change, pass);
    }
}

/// What pieces of large hubs send.
template <class Run, bool AHEAD>
__device__ __forceinline__ void large_hubs_send(const Block &block, const uint32_t *starts, uint32_t pass) {
    UnitsOfHubs units(block, starts[FLOOD_SEND], starts[FLOOD_LARGE_FACTORS]);
    for (uint32_t row = starts[FLOOD_SEND]; row < starts[FLOOD_LARGE_FACTORS]; row += 2) {
        const FloodWords words = units.next();
        const uint32_t own = __shfl_sync(~0u, words.value(), 0), first = __shfl_sync(~0u, words.value(), 1);
        const uint32_t end = __shfl_sync(~0u, words.value(), 2);
        const FloodHub<AHEAD> hub(block, words, 32, pass);
        const Product top = other_pieces(pieces_of<AHEAD>(block, pass), first, end, own);
        const Certain certain = {top.zeros + (hub.ascent.counts >> 16), top.infinities + (hub.ascent.counts & 0xffff)};
        hub.template send<Run>(block, words, hub.ascent.above_from(top), own == first && threadIdx.x % 32 == 0, certain,
                               pass);
    }
}

/// All that a warp does in a pass that ends with a barrier. Where the state before is measured, hubs of all blocks have
/// been seen to.
template <class Run>
__device__ __forceinline__ void flood(Block &block, Home &home, bool with_hubs) {
    const uint32_t warp = warp_of_block();
    const FloodStarts &starts = flood_starts();
    const uint32_t *const hubs = starts.of_warp(warp);
    if (with_hubs) {
        small_hubs_send<Run, false>(block, hubs, 0);
        block.sent[0].reach(hubs[FLOOD_MULTIPLY] != hubs[FLOOD_SEND]);
        large_hubs_send<Run, false>(block, hubs, 0);
        block.sent[1].reach(starts.has_large_hubs(warp));
    }
    if (Run::TURNS) {
        flood_by_turns<Run>(block, home, with_hubs);
        return;
    }
    variables_at_home_send<Run>(block, home, with_hubs, 0);
    const uint32_t joined = home.shape.joined.count;
    uint32_t taken = 0, end = home.shape.early;
    for (uint32_t late = 0;; ++late) {
        if (with_hubs) {
            block.sent[late].wait();
        }
        __syncthreads();
        take_joined<JOINED_AT_ONCE>(block, inputs_at<Run>(home) + home.shape.inbox, home.joined, taken, end);
        __syncthreads();
        factors_send<Run>(block, home, late, 0);
        if (end == joined) {
            break;
        }
        taken = end;
        end = joined;
    }
    constants_send<Run>(block, home, blockDim.x);
    __syncthreads();
    noted_factors_send<Run>(block, home, 0);
    damp_messages<Run>(block, home, 0);
    home.begin_variables();
    home.begin_factors();
    give_joined<Run, false>(block, home, 0, joined, blockDim.x, 0);
}

/// After so many passes that run ahead, a block looks whether they are to do so no longer, as it takes some time.
constexpr uint32_t PASSES_AT_ONCE = 64;

/// All that a warp does in a pass that runs ahead, this one of them. Warps with large hubs see to these first.
template <class Run>
__device__ __forceinline__ void flood_ahead(Block &block, Home &home, uint32_t pass) {
    const uint32_t warp = warp_of_block();
    const FloodStarts &starts = flood_starts();
    const uint32_t *const hubs = starts.of_warp(warp);
    const uint32_t early = home.shape.early, joined = home.shape.joined.count;
    // If all warps have large hubs, all see to everything.
    const uint32_t firsts = 32 * starts.first_of_large;
    small_hubs_send<Run, true>(block, hubs, pass);
    large_hubs_send<Run, true>(block, hubs, pass);
    if (threadIdx.x < firsts) {
        variables_at_home_send<Run>(block, home, true, pass);
    }
    // One after the other, as the cache of instructions is small.
    for (uint32_t late = 0;; ++late) {
        const uint32_t threads = late ? blockDim.x : firsts;
        if (threadIdx.x < threads) {
            await_joined<Run>(block, home, late ? early : 0, late ? joined : early, threads, pass);
        }
        if (late) {
            __syncthreads();
        } else {
            home.meet(threads, pass);
            home.begin_variables();
        }
        factors_send<Run>(block, home, late, pass);
        if (late || early == joined) {
            break;
        }
    }
    if (threadIdx.x < firsts) {
        constants_send<Run>(block, home, firsts);
    }
    if (threadIdx.x == 0 && (block.given_up != 0 || pass % PASSES_AT_ONCE == 0)) {
        block.stopped[pass & 1] = block.is_to_stop();
    }
    __syncthreads();
    if (Run::OPTIONS && block.sampling && threadIdx.x == 0) {
        block.tell_change(pass, pass);
    }
    noted_factors_send<Run>(block, home, pass);
    damp_messages<Run>(block, home, pass);
    home.begin_factors();
    for (uint32_t late = 0; late < 2 && (late == 0 || early != joined); ++late) {
        const uint32_t threads = late ? blockDim.x : firsts;
        if (threadIdx.x < threads) {
            give_joined<Run, true>(block, home, late ? early : 0, late ? joined : early, threads, pass + 1);
        }
    }
}

/// Before passes run ahead from a state: what hubs send is not there, and there is a copy of the state.
__device__ __forceinline__ void begin_ahead(const Block &block, const Home &home, Packed *state, Packed *copy) {
    const uint32_t *const joined = home.joined;
    for (uint32_t i = threadIdx.x; i < home.shape.joined.count; i += blockDim.x) {
        const uint32_t slot = input_slot(joined[i]);
        block.g.prepared[slot] = block.g.far_prepared[slot] = block.g.far_given[slot] = Packed{UNSENT};
        copy[slot] = state[slot];
        hand_over_one(state + slot, block.g.far_given + slot, copy[slot], 0);
    }
    home.store(home.messages, copy);
}

/// Where nobody reads products of pieces any more: those of passes from the last state are not there, or those of all.
template <class Run>
__device__ __forceinline__ void reset_pieces(const Block &block, bool all) {
    if (!block.from) {
        // There was no pass.
        return;
    }
    const uint32_t *const starts = flood_starts().of_warp(threadIdx.x / 32);
    if (Run::OWN_WARPS) {
        LargeFactors::reset_bodies(all);
    }
    const Pieces pieces(block.g, block.from);
    for (uint32_t row = starts[FLOOD_MULTIPLY]; row < starts[FLOOD_HUBS]; row += 2) {
        if (threadIdx.x % 32 == 0) {
            const uint32_t piece = FloodWords(block, row).value();
            pieces.reset_own(piece);
            if (all) {
                pieces.reset(piece);
            }
        }
    }
}

}  // namespace fastlbp
