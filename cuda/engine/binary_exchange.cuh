// How messages travel between blocks where all messages are sent at once.
//
// Either blocks meet: when hubs of all blocks have sent, and at the end of each pass. Or passes run *ahead*: blocks meet
// nowhere, but wait for the messages that they need. Messages are not negative, so their sign can say of which pass they
// are: it is another one in each pass. No more is needed, and no second place for a message: a factor sends the next one
// when it has read what the hub made of the last one, and the hub the same the other way round. Nothing is counted in
// such passes; if something is noted in one, they are of no use, and done once more by blocks that meet.
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

/// A message that has been handed over in this way, given its first part without the sign.
__device__ __noinline__ inline uint64_t far_message(const Block &block, uint64_t first, const Packed *elsewhere,
                                                    uint32_t pass) {
    uint64_t rest = 0;
    for (uint32_t looks = 1;; ++looks) {
        rest = look_for(&elsewhere->bits);
        if (static_cast<uint32_t>(rest >> 32) == pass || block.gives_up(looks)) {
            break;
        }
#ifndef __CUDA_ARCH__
        take_turns();
#endif
    }
    return uint64_t(1) << 63 | first << 33 >> 1 | static_cast<uint32_t>(rest);
}
__device__ __forceinline__ Packed received(const Block &block, Packed message, const Packed *elsewhere, uint32_t pass) {
    return is_far_half(high(message)) ? Packed{far_message(block, message.bits, elsewhere, pass)} : message;
}

/// This thread's words of a unit of hubs.
struct FloodWords {
    uint32_t input, number;
    /// The second word has a number, and from this bit on which of the eight messages change from pass to pass.
    static constexpr uint32_t CHANGING_SHIFT = 24;

    __device__ __forceinline__ FloodWords(const Home &home, uint32_t row) {
        const uint2 words = reinterpret_cast<const uint2 *>(home.hub_words)[row * 16 + threadIdx.x % 32];
        input = words.x;
        number = words.y;
    }

    __device__ __forceinline__ uint32_t value() const { return number & ((1u << CHANGING_SHIFT) - 1); }
    __device__ __forceinline__ uint32_t changing() const { return number >> CHANGING_SHIFT; }

    __device__ __forceinline__ bool is_there() const { return input != ~uint32_t(0); }
    __device__ __forceinline__ uint32_t slot() const { return input & SLOT_MASK; }
    /// Whether messages are sent. What observed ones send is known, and nobody waits for it.
    __device__ __forceinline__ bool is_sent() const {
        return is_there() && input >> SOURCE_SHIFT == SOURCE_PREPARED;
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
    const uint32_t changing = words.is_sent() ? words.changing() : 0;
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
        wanted &= changing;
    } while (keeps_waiting(block, wanted != 0, looks));
    Packed values[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        values[i] = Packed{with_sign(bits[i], (changing >> i & 1) != 0 ? sign : 0)};
    }
    if (!all_near<64>(values)) {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            values[i] = received(block, values[i], block.g.far_given + (words.slot() + i), pass);
        }
    }
    leaves.set(values);
}

/// Edges of a block to variables of all blocks that a thread takes at a time, so that loads run together.
constexpr uint32_t JOINED_AT_ONCE = 4;

/// What an observed variable sends along an edge, given its word.
__device__ __forceinline__ Packed observed_message(uint32_t input) {
    return certain_message(input >> SOURCE_SHIFT == SOURCE_TRUE ? KNOWN_TRUE : 0);
}

/// Takes over what variables of all blocks send along some of the edges.
template <bool INSIDE>
__device__ __forceinline__ void take_joined(const Block &block, const Home &home, uint32_t begin, uint32_t end) {
    Packed *const inbox = messages_at<INSIDE>(home) + home.shape.inbox;
    const uint32_t *const joined = home.joined;
    const Packed *const prepared = block.g.prepared;
    for (uint32_t first = begin + threadIdx.x; first < end; first += JOINED_AT_ONCE * blockDim.x) {
        uint32_t inputs[JOINED_AT_ONCE];
        Packed messages[JOINED_AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            inputs[j] = joined[smaller_of(first + j * blockDim.x, end - 1)];
            messages[j] = prepared[inputs[j] & SLOT_MASK];
        }
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            if (first + j * blockDim.x < end) {
                // What observed ones send is known, and not stored.
                inbox[first + j * blockDim.x] =
                    inputs[j] >> SOURCE_SHIFT == SOURCE_PREPARED ? messages[j] : observed_message(inputs[j]);
            }
        }
    }
}

/// The same in a pass that runs ahead, by so many threads.
template <bool INSIDE>
__device__ __forceinline__ void await_joined(const Block &block, const Home &home, uint32_t begin, uint32_t end,
                                             uint32_t threads, uint32_t pass) {
    const uint32_t sign = pass << 31;
    Packed *const inbox = messages_at<INSIDE>(home) + home.shape.inbox;
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
            wanted |= static_cast<uint32_t>(i < end && inputs[j] >> SOURCE_SHIFT == SOURCE_PREPARED) << j;
        }
        const uint32_t changing = wanted;
        do {
            FASTLBP_UNROLL
            for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
                if ((wanted >> j & 1) != 0) {
                    bits[j] = look_for(&prepared[inputs[j] & SLOT_MASK].bits);
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
        bool any_far = false;
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            messages[j] = Packed{with_sign(bits[j], (changing >> j & 1) != 0 ? sign : 0)};
            any_far |= is_far_half(high(messages[j]));
        }
        if (any_far) {
            FASTLBP_UNROLL
            for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
                messages[j] =
                    received(block, messages[j], block.g.far_prepared + (inputs[j] & SLOT_MASK), pass);
            }
        }
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
template <bool INSIDE, bool AHEAD>
__device__ __forceinline__ void give_joined(const Block &block, const Home &home, uint32_t begin, uint32_t end,
                                            uint32_t threads, uint32_t pass) {
    const Packed *const inbox = messages_at<INSIDE>(home) + home.shape.inbox;
    const uint32_t *const joined = home.joined;
    Packed *const to = block.to;
    for (uint32_t first = begin + threadIdx.x; first < end; first += JOINED_AT_ONCE * threads) {
        uint32_t slots[JOINED_AT_ONCE];
        Packed messages[JOINED_AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            const uint32_t i = smaller_of(first + j * threads, end - 1);
            slots[j] = joined[i] & SLOT_MASK;
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
            } else if (!any_far) {
                hand_over(&to[slots[j]].bits, with_sign(messages[j].bits, pass << 31));
            } else {
                hand_over_one(to + slots[j], block.g.far_given + slots[j], messages[j], pass);
            }
        }
    }
}

}  // namespace fastlbp
