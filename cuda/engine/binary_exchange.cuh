// How messages travel between blocks where all messages are sent at once.
//
// Either blocks meet: when hubs of all blocks have sent, and at the end of each pass. Or passes run *ahead*: blocks meet
// nowhere, but wait for the messages that they need. Messages are not negative, so their sign can say of which pass they
// are: it is another one in each pass. No more is needed, and no second place for a message: a factor sends the next one
// when it has read what the hub made of the last one, and the hub the same the other way round. Contradictions are counted
// for each such pass by itself (Binary::tallies_ahead), and looked through when blocks meet. Where one ends the run, passes
// that ran ahead are of no use, and done once more by blocks that meet.
#pragma once

#include "binary_home.cuh"
#include "binary_pieces.cuh"

namespace fastlbp {

/// A message with a sign of its own, being far from one, is sent in two parts: the first 31 of its other bits in what is
/// no number; and the other ones elsewhere, with the number of the pass.
constexpr uint32_t FAR_HALF = 0x7ff80000;

__device__ __forceinline__ bool has_sign(Packed message) { return (message.bits >> 63) != 0; }
__device__ __forceinline__ bool is_far_half(uint32_t high) { return (high & FAR_HALF) == FAR_HALF; }

__device__ __noinline__ inline void hand_over_far(Packed *place, Packed *elsewhere, uint64_t bits, uint32_t pass) {
    hand_over(&elsewhere->bits, static_cast<uint64_t>(pass) << 32 | static_cast<uint32_t>(bits));
    hand_over(&place->bits, with_sign(static_cast<uint64_t>(FAR_HALF) << 32 | (bits << 1 >> 33), pass << 31));
}

/// Hands over a message to be read in a pass that runs ahead.
__device__ __forceinline__ void hand_over_one(Packed *place, Packed *elsewhere, Packed message, uint32_t pass) {
    if (has_sign(message)) {
        hand_over_far(place, elsewhere, message.bits, pass);
    } else {
        hand_over(&place->bits, with_sign(message.bits, pass << 31));
    }
}

/// Completes messages that have been handed over in this way, given the first part of each without the sign, from `elsewhere`
/// at these slots. They are looked for together, since one after the other would take as long again for each.
template <int COUNT>
__device__ __noinline__ inline void receive_far(const Block &block, Packed (&messages)[COUNT], const Packed *elsewhere,
                                                const uint32_t (&slots)[COUNT], uint32_t pass) {
    uint64_t rests[COUNT];
    bool missing = true;
    for (uint32_t looks = 1; missing; ++looks) {
        missing = false;
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            rests[i] = is_far_half(high(messages[i])) ? look_for(&elsewhere[slots[i]].bits)
                                                      : static_cast<uint64_t>(pass) << 32;
        }
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            missing |= static_cast<uint32_t>(rests[i] >> 32) != pass;
        }
        missing &= !block.gives_up(looks);
#ifndef __CUDA_ARCH__
        take_turns();
#endif
    }
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        if (is_far_half(high(messages[i]))) {
            messages[i] =
                Packed{uint64_t(1) << 63 | messages[i].bits << 33 >> 1 | static_cast<uint32_t>(rests[i])};
        }
    }
}

/// The same where all but a few messages are none of these.
template <int COUNT>
__device__ __forceinline__ void receive(const Block &block, Packed (&messages)[COUNT], const Packed *elsewhere,
                                        const uint32_t (&slots)[COUNT], uint32_t pass) {
    bool any_far = false;
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        any_far |= is_far_half(high(messages[i]));
    }
    if (any_far) {
        // Copies, so that the messages stay in registers where none is far.
        Packed received[COUNT];
        uint32_t of_slots[COUNT];
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            received[i] = messages[i];
            of_slots[i] = slots[i];
        }
        receive_far(block, received, elsewhere, of_slots, pass);
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            messages[i] = received[i];
        }
    }
}

/// The first row of each kind of a block's warps, and the end of each warp's.
struct FloodStarts {
    uint32_t hubs[32 * FLOOD_HUB_KINDS + 1];
    /// The first warp that has large hubs, as all after it have; the number of warps if there is none, or none without.
    uint32_t first_of_large;

    __device__ __forceinline__ void fill(const Binary &g) {
        const uint32_t warps = blockDim.x / 32;
        copy(hubs, g.flood_starts, warps * FLOOD_HUB_KINDS + 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            first_of_large = warps;
            while (first_of_large > 0 && has_large_hubs(first_of_large - 1)) {
                --first_of_large;
            }
            first_of_large = first_of_large == 0 ? warps : first_of_large;
        }
        __syncthreads();
    }

    __device__ __forceinline__ const uint32_t *of_warp(uint32_t warp) const { return hubs + warp * FLOOD_HUB_KINDS; }
    __device__ __forceinline__ bool has_large_hubs(uint32_t warp) const {
        return of_warp(warp)[FLOOD_SEND] != of_warp(warp)[FLOOD_LARGE_FACTORS];
    }

private:
    __device__ __forceinline__ static void copy(uint32_t *to, const uint32_t *all, uint32_t count) {
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            to[i] = all[blockIdx.x * count + i];
        }
    }
};

__device__ __forceinline__ FloodStarts &flood_starts() {
    __shared__ FloodStarts all;
    return all;
}

/// This thread's words of a unit of hubs.
struct FloodWords {
    uint32_t input, number;

    __device__ __forceinline__ FloodWords(uint32_t first, uint32_t second) : input(first), number(second) {}

    __device__ __forceinline__ FloodWords(const Block &block, uint32_t row) {
        const uint2 words = reinterpret_cast<const uint2 *>(block.hub_words)[row * 16 + threadIdx.x % 32];
        input = words.x;
        number = words.y;
    }

    static __device__ __forceinline__ FloodWords nothing() { return FloodWords(~uint32_t(0), 0); }

    __device__ __forceinline__ uint32_t value() const { return hub_unit_number(number); }
    __device__ __forceinline__ uint32_t edges() const { return hub_unit_edges(number); }

    __device__ __forceinline__ bool is_there() const { return input != ~uint32_t(0); }
    __device__ __forceinline__ uint32_t slot() const { return input_slot(input); }
    /// What is known of the hub, where messages are sent.
    __device__ __forceinline__ uint32_t known() const { return input_soft(input) ? KNOWN_SOFT : 0; }
    /// Whether messages are sent. What observed ones send is known, and nobody waits for it.
    __device__ __forceinline__ bool is_sent() const {
        return is_there() && input_source(input) == SOURCE_PREPARED;
    }
};

/// Whether a thread of this warp wants something that was not there in so many looks, and waiting makes sense.
__device__ __forceinline__ bool keeps_waiting(const Block &block, bool wants, uint32_t &looks) {
    if (!__any_sync(~0u, wants)) {
        return false;
    }
#ifndef __CUDA_ARCH__
    take_turns();
#endif
    return !__any_sync(~0u, block.gives_up(++looks));
}

/// The messages to a hub that a thread takes in a pass that runs ahead.
__device__ __forceinline__ void await_eight(const Block &block, const FloodWords &words, uint32_t pass,
                                            Leaves &leaves) {
    const uint32_t sign = pass << 31;
    uint32_t wanted = words.is_sent() ? 0xff : 0, looks = 0;
    const uint32_t edges = words.is_sent() ? words.edges() : 0;
    const Packed *const places = block.from + (words.is_sent() ? words.slot() : 0);
    uint64_t bits[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        bits[i] = ONE_BITS;
    }
    do {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; i += 2) {
            if ((wanted >> i & 3) != 0) {
                look_for_two(&places[i].bits, bits[i], bits[i + 1]);
            }
        }
        wanted = 0;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            wanted |= static_cast<uint32_t>(has_other_sign(bits[i], sign)) << i;
        }
        wanted &= edges;
    } while (keeps_waiting(block, wanted != 0, looks));
    Packed values[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        values[i] = Packed{with_sign(bits[i], (edges >> i & 1) != 0 ? sign : 0)};
    }
    if (!all_near<64>(values)) {
        uint32_t slots[8];
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < 8; ++i) {
            slots[i] = words.slot() + i;
        }
        receive(block, values, block.g.far_given, slots, pass);
    }
    leaves.set(values);
}

/// Edges of a block to variables of all blocks that a thread takes at a time, so that loads run together.
constexpr uint32_t JOINED_AT_ONCE = 4;

/// What an observed variable sends along an edge, given its word.
__device__ __forceinline__ Packed observed_message(uint32_t input) {
    return certain_message(input_source(input) == SOURCE_TRUE ? KNOWN_TRUE : 0);
}

/// Takes over what variables of all blocks send along some of the edges, so many at a time, into these places.
template <uint32_t AT_ONCE>
__device__ __forceinline__ void take_joined(const Block &block, Packed *inbox, const uint32_t *joined, uint32_t begin,
                                            uint32_t end) {
    const Packed *const prepared = block.g.prepared;
    for (uint32_t first = begin + threadIdx.x; first < end; first += AT_ONCE * blockDim.x) {
        uint32_t inputs[AT_ONCE];
        Packed messages[AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < AT_ONCE; ++j) {
            inputs[j] = joined[smaller_of(first + j * blockDim.x, end - 1)];
            messages[j] = prepared[input_slot(inputs[j])];
        }
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < AT_ONCE; ++j) {
            if (first + j * blockDim.x < end) {
                // What observed ones send is known, and not stored.
                inbox[first + j * blockDim.x] =
                    input_source(inputs[j]) == SOURCE_PREPARED ? messages[j] : observed_message(inputs[j]);
            }
        }
    }
}

/// The same in a pass that runs ahead, by so many threads.
template <class Run>
__device__ __forceinline__ void await_joined(const Block &block, const Home &home, uint32_t begin, uint32_t end,
                                             uint32_t threads, uint32_t pass) {
    const uint32_t sign = pass << 31;
    Packed *const inbox = inputs_at<Run>(home) + home.shape.inbox;
    const uint32_t *const joined = home.joined;
    const Packed *const prepared = block.g.prepared;
    // All threads of a warp, as they wait together.
    for (uint32_t first = begin + threadIdx.x; __any_sync(~0u, first < end); first += JOINED_AT_ONCE * threads) {
        uint32_t inputs[JOINED_AT_ONCE];
        uint64_t bits[JOINED_AT_ONCE];
        uint32_t wanted = 0, looks = 0;
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            const uint32_t i = first + j * threads;
            inputs[j] = joined[smaller_of(i, end - 1)];
            bits[j] = observed_message(inputs[j]).bits;
            wanted |= static_cast<uint32_t>(i < end && input_source(inputs[j]) == SOURCE_PREPARED) << j;
        }
        const uint32_t changing = wanted;
        do {
            FASTLBP_UNROLL
            for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
                if ((wanted >> j & 1) != 0) {
                    bits[j] = look_for(&prepared[input_slot(inputs[j])].bits);
                }
            }
            wanted = 0;
            FASTLBP_UNROLL
            for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
                wanted |= static_cast<uint32_t>(has_other_sign(bits[j], sign)) << j;
            }
            wanted &= changing;
        } while (keeps_waiting(block, wanted != 0, looks));
        Packed messages[JOINED_AT_ONCE];
        uint32_t slots[JOINED_AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            messages[j] = Packed{with_sign(bits[j], (changing >> j & 1) != 0 ? sign : 0)};
            slots[j] = input_slot(inputs[j]);
        }
        receive(block, messages, block.g.far_prepared, slots, pass);
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            if (first + j * threads < end) {
                inbox[first + j * threads] = messages[j];
            }
        }
    }
}

/// Hands over what is sent to variables of all blocks along some of the edges, to be read in this pass if it runs ahead;
/// by so many threads. Each gives what it takes, so that they need not meet between.
template <class Run, bool AHEAD>
__device__ __forceinline__ void give_joined(const Block &block, const Home &home, uint32_t begin, uint32_t end,
                                            uint32_t threads, uint32_t pass) {
    const Packed *const inbox = messages_at<Run>(home) + home.shape.inbox;
    const bool damped = Run::OPTIONS && home.inputs != 0;
    const uint32_t *const joined = home.joined;
    Packed *const to = block.to;
    for (uint32_t first = begin + threadIdx.x; first < end; first += JOINED_AT_ONCE * threads) {
        uint32_t slots[JOINED_AT_ONCE];
        Packed messages[JOINED_AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            const uint32_t i = smaller_of(first + j * threads, end - 1);
            slots[j] = input_slot(joined[i]);
            messages[j] = inbox[i];
        }
        bool any_far = false;
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            any_far |= has_sign(messages[j]);
        }
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            if (first + j * threads >= end) {
                continue;
            }
            if (!AHEAD) {
                to[slots[j]] = messages[j];
                if (damped) {
                    block.undamped_to[slots[j]] = inbox[home.inputs + first + j * threads];
                }
            } else if (!any_far) {
                hand_over(&to[slots[j]].bits, with_sign(messages[j].bits, pass << 31));
            } else {
                hand_over_one(to + slots[j], block.g.far_given + slots[j], messages[j], pass);
            }
        }
    }
}

}  // namespace fastlbp
