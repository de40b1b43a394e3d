// What warps do in a pass in which all messages are sent at once. Made by src/engine/cuda/binary/flood.rs.
//
// What is at home at a block (see binary_home.cuh) stays there. Of the other variables, all hubs here, messages go
// through the device's memory. Each warp sees to its hubs first, and blocks wait for each other at two milestones, with
// other things to do in between.
#pragma once

#include "binary_factors.cuh"
#include "binary_home.cuh"
#include "binary_pieces.cuh"

namespace fastlbp {

/// What a warp does with hubs comes in units of some kinds, one kind after the other. A unit is two words for each
/// thread: the first as of an input, of the first slot of the eight that the thread takes, ~0 for nothing; the second a
/// number.
///
/// A piece of a large hub is multiplied, or its messages are sent. The numbers of the first threads are that of the
/// piece, of the hub's first one, and the one behind the hub's last.
constexpr uint32_t FLOOD_MULTIPLY = 0;
/// Small hubs, each by 2^number threads.
constexpr uint32_t FLOOD_HUBS = 1;
constexpr uint32_t FLOOD_SEND = 2;
constexpr uint32_t FLOOD_HUB_KINDS = 3;

/// What it does with factors, in rows of a word for each thread: 32 factors with two variables, three and so on up to
/// eight, each by one thread. Rows: the number of coefficients, ~0 for no factor; then the place of each variable, the
/// head's first.
/// Then factors with up to 32 variables: a row of places, ~0 for nothing, and one with the number of coefficients.
/// All of these first for factors without large hubs, and then for the others.
constexpr uint32_t FLOOD_WIDE = 7;
constexpr uint32_t FLOOD_FACTOR_KINDS = 8;

/// The first row of each kind of a block's warps, and the end of each warp's.
struct FloodStarts {
    uint32_t hubs[32 * FLOOD_HUB_KINDS + 1], factors[32 * 2 * FLOOD_FACTOR_KINDS + 1];
    /// Those that send what is sent at home: all that have no large hubs, if these are not too many; how many they
    /// are, and how many of them come before each warp.
    uint32_t free, free_before[32 + 1];

    __device__ __forceinline__ void fill(const Binary &g) {
        const uint32_t warps = blockDim.x / 32;
        copy(hubs, g.flood_starts, warps * FLOOD_HUB_KINDS + 1);
        copy(factors, g.factor_starts, warps * 2 * FLOOD_FACTOR_KINDS + 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int all = 0; all < 2; ++all) {
                free = 0;
                for (uint32_t warp = 0; warp < warps; ++warp) {
                    free_before[warp] = free;
                    free += all || !has_large_hubs(warp);
                }
                free_before[warps] = free;
                if (2 * free >= warps) {
                    break;
                }
            }
        }
        __syncthreads();
    }

    __device__ __forceinline__ bool has_large_hubs(uint32_t warp) const {
        const uint32_t *const starts = hubs + warp * FLOOD_HUB_KINDS;
        return starts[FLOOD_SEND] != starts[FLOOD_HUB_KINDS];
    }
    __device__ __forceinline__ bool is_free(uint32_t warp) const {
        return free_before[warp] != free_before[warp + 1];
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

    __device__ __forceinline__ FloodWords(const Home &home, uint32_t row) {
        const uint2 words = reinterpret_cast<const uint2 *>(home.hub_words)[row * 16 + threadIdx.x % 32];
        input = words.x;
        number = words.y;
    }

    __device__ __forceinline__ bool is_there() const { return input != ~uint32_t(0); }
    __device__ __forceinline__ uint32_t slot() const { return input & SLOT_MASK; }
    /// Whether messages are sent. What observed ones send is known, and nobody waits for it.
    __device__ __forceinline__ bool is_sent() const {
        return is_there() && input >> SOURCE_SHIFT == SOURCE_PREPARED;
    }
};

/// What a thread has of a hub.
struct FloodHub {
    Leaves leaves;
    Ascent ascent;

    __device__ __forceinline__ FloodHub(const Block &block, const FloodWords &words, uint32_t width) {
        if (words.is_sent()) {
            leaves.load(block.from, words.slot());
        } else {
            leaves.fill_with_ones();
        }
        ascent.climb(leaves.total(), width);
    }

    /// Sends the messages, given what is above; the hub is noted by its first thread if contradictory.
    __device__ __forceinline__ void send(const Block &block, const FloodWords &words, const Product &above,
                                         bool contradictory) const {
        if (words.is_sent()) {
            Packed odds[8];
            leaves.others(above, odds);
            store_eight(block.g.prepared + words.slot(), odds);
            if (contradictory) {
                note_contradiction(block, position_of_slot(block.g, words.slot()));
            }
        }
    }
};

/// What hubs send, but large ones, whose pieces are multiplied first.
__device__ __forceinline__ void small_hubs_send(const Block &block, const Home &home, const uint32_t *starts) {
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t row = starts[FLOOD_MULTIPLY]; row < starts[FLOOD_SEND]; row += 2) {
        const FloodWords words(home, row);
        const bool multiplies = row < starts[FLOOD_HUBS];
        const uint32_t width = multiplies ? 32 : 1 << words.number;
        const FloodHub hub(block, words, width);
        if (!multiplies) {
            hub.send(block, words, hub.ascent.above(), (lane & (width - 1)) == 0 && disagree(hub.ascent.counts));
        } else if (lane == 0) {
            const Pieces pieces(block.g, block.from);
            pieces.set(words.number, hub.ascent.total());
            pieces.reset(words.number);
        }
    }
}

/// What pieces of large hubs send.
__device__ __forceinline__ void large_hubs_send(const Block &block, const Home &home, const uint32_t *starts) {
    for (uint32_t row = starts[FLOOD_SEND]; row < starts[FLOOD_HUB_KINDS]; row += 2) {
        const FloodWords words(home, row);
        const uint32_t own = __shfl_sync(~0u, words.number, 0), first = __shfl_sync(~0u, words.number, 1);
        const uint32_t end = __shfl_sync(~0u, words.number, 2);
        const FloodHub hub(block, words, 32);
        const Product top = other_pieces(Pieces(block.g, block.from), first, end, own);
        const bool zeros = top.zeros + (hub.ascent.counts >> 16) != 0;
        const bool infinities = top.infinities + (hub.ascent.counts & 0xffff) != 0;
        hub.send(block, words, hub.ascent.above_from(top),
                 own == first && threadIdx.x % 32 == 0 && zeros && infinities);
    }
}

/// Stores a factor's message, which may be 0/0.
__device__ __forceinline__ void put_message(const Block &block, const Home &home, uint32_t place, Packed message) {
    if (message == Packed::contradiction()) {
        message = Packed::one();
        note_zero_by_zero(block.g, home.slot_of(place), block.of_pass);
        block.mark();
    }
    home.messages[place] = message;
}

/// The distances of inputs of a factor from one: sums of the exponents, as far as they matter, of those that are not
/// certain. Each input is in each product once at most, so that the rule of fits_f64 of src/kernel/horn.rs holds for
/// sums as well.
struct FloodRange {
    /// For factors with eight variables, and with 32.
    static constexpr uint32_t MOST = static_cast<uint32_t>((1000 - 66) / 2 - 2 * 8) << 20;
    static constexpr uint32_t MOST_OF_WIDE = static_cast<uint32_t>((1000 - 66) / 2 - 2 * 32) << 20;
    uint32_t sum;

    __device__ __forceinline__ void add(Packed value) {
        const uint32_t distance = smaller_of(distance_from_one(value), MOST);
        sum += is_certain_half(high(value)) ? 0 : distance;
    }
    __device__ __forceinline__ bool is_far() const { return sum >= MOST; }
};

/// A factor of more than eight variables.
__device__ __noinline__ inline void flood_wide(const Block &block, const Home &home, const uint32_t *words) {
    const uint32_t place = words[0], number = words[32];
    const bool there = place != ~uint32_t(0);
    const uint32_t arity = __popc(__ballot_sync(~0u, there));
    const Packed value = there ? home.messages[place] : Packed::one();
    FloodRange range = {0};
    range.add(value);
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        range.sum = smaller_of(range.sum + __shfl_xor_sync(~0u, range.sum, 1 << level), FloodRange::MOST);
    }
    const HornLiterals c = block.literals(__shfl_sync(~0u, number, 0));
    const bool fits = range.sum < FloodRange::MOST_OF_WIDE && (c.c.flags & HORN_PLAIN) != 0;
    const Packed message = fits ? warp_message_in<double>(arity, value, c)
                                : Packed{far_warp_message(arity, value.bits, c)};
    if (there) {
        put_message(block, home, place, message);
    }
}

/// A factor of a tile, whatever its inputs are, given this thread's first word. Slow.
__device__ __noinline__ inline void far_factor(const Block &block, const Home &home, const uint32_t *words,
                                               uint32_t arity) {
    Packed inputs[8], messages[8];
    Body<Wide> scratch[16];
    for (uint32_t i = 0; i < arity; ++i) {
        inputs[i] = home.messages[words[32 * (i + 1)]];
    }
    horn_messages(inputs, arity, 0, block.literals(words[0]), messages, scratch);
    for (uint32_t i = 0; i < arity; ++i) {
        put_message(block, home, words[32 * (i + 1)], messages[i]);
    }
}

/// A number of a factor in a tile, which doubles do for: tests and selections of it are of its high word.
struct Flat {
    double value;

    __device__ __forceinline__ static Flat of(uint32_t high, uint32_t low) {
        return Flat{from_bits(static_cast<uint64_t>(high) << 32 | low)};
    }
    __device__ __forceinline__ uint32_t high() const { return static_cast<uint32_t>(to_bits(value) >> 32); }
    __device__ __forceinline__ uint32_t low() const { return static_cast<uint32_t>(to_bits(value)); }
};

__device__ __forceinline__ Flat multiply(Flat a, Flat b) { return Flat{a.value * b.value}; }
__device__ __forceinline__ Flat add(Flat a, Flat b) { return Flat{a.value + b.value}; }

template <>
struct Real<Flat> {
    static __device__ __forceinline__ Flat zero() { return Flat{0.0}; }
    static __device__ __forceinline__ Flat one() { return Flat{1.0}; }
    static __device__ __forceinline__ Flat from_f64(double value) { return Flat{value}; }
};

template <>
struct FromPacked<Flat> {
    static __device__ __forceinline__ void weights(Packed odds, bool swapped, Flat &first, Flat &second) {
        // The low words of zero, one and infinity are zeros.
        const bool infinite = high(odds) == HIGH_INFINITY;
        const uint32_t low = static_cast<uint32_t>(odds.bits);
        const uint32_t state1 = infinite ? HIGH_ONE : high(odds), state0 = infinite ? 0 : HIGH_ONE;
        first = Flat::of(swapped ? state0 : state1, swapped ? 0 : low);
        second = Flat::of(swapped ? state1 : state0, swapped ? low : 0);
    }

    /// 0/0 is something with the high word ~0.
    static __device__ __forceinline__ Packed ratio(Flat numerator, Flat denominator, bool inverse) {
        const Flat above = Flat{inverse ? denominator.value : numerator.value};
        const Flat below = Flat{inverse ? numerator.value : denominator.value};
        // No number here is so small that its high word is zero. Divisions by and of zero take a long way.
        const bool none = above.high() == 0, infinite = below.high() == 0;
        const Flat ratio = Flat{Flat::of(none ? HIGH_ONE : above.high(), above.low()).value /
                                Flat::of(infinite ? HIGH_ONE : below.high(), below.low()).value};
        const uint32_t certain = none ? (infinite ? ~uint32_t(0) : 0) : HIGH_INFINITY;
        const bool any = none | infinite;
        return Packed{to_bits(Flat::of(any ? certain : ratio.high(), any ? 0 : ratio.low()).value)};
    }
};

/// The literals of a factor with few variables.
struct FloodLiterals {
    const HornCoefficients &c;

    __device__ __forceinline__ const HeadValues &values() const { return c.head; }
    __device__ __forceinline__ bool is_negated(uint32_t position) const {
        return (static_cast<uint32_t>(c.negated) >> position & 1) != 0;
    }
    template <class T>
    __device__ __forceinline__ Body<T> literal(uint32_t position, Packed odds) const {
        Body<T> body;
        FromPacked<T>::weights(odds, is_negated(position), body.all, body.not_all);
        return body;
    }
    template <class T>
    __device__ __forceinline__ Packed message(uint32_t position, T holds, T fails) const {
        return FromPacked<T>::ratio(holds, fails, is_negated(position));
    }
};

/// All messages of a factor with N variables, as long as doubles do. Given this thread's first word.
template <int N, bool INSIDE>
__device__ __forceinline__ void send_factor(const Block &block, const Home &home, const uint32_t *words) {
    Packed *const messages = messages_at<INSIDE>(home);
    const uint32_t number = words[0];
    if (number == ~uint32_t(0)) {
        return;
    }
    const HornCoefficients &c = block.coefficients_of(number);
    FloodRange range = {0};
    uint32_t places[N];
    Packed values[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        places[i] = words[32 * (i + 1)];
    }
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        values[i] = messages[places[i]];
        range.add(values[i]);
    }
    bool far_off = range.is_far() || (c.flags & HORN_PLAIN) == 0;
    messages_of<Flat>(values, 0, FloodLiterals{c});
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        far_off |= high(values[i]) == ~uint32_t(0);
    }
    if (far_off) {
        far_factor(block, home, words, N);
        return;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        messages[places[i]] = values[i];
    }
}

template <int N, bool INSIDE>
__device__ __forceinline__ void send_tiles(const Block &block, const Home &home, const uint32_t *starts) {
    const uint32_t end = starts[N - 1];
    for (uint32_t row = starts[N - 2]; row < end; row += N + 1) {
        send_factor<N, INSIDE>(block, home, home.words + row * 32 + threadIdx.x % 32);
        __syncwarp();
    }
}

/// What the factors of a warp send.
template <bool INSIDE>
__device__ __forceinline__ void factors_send(const Block &block, const Home &home, const uint32_t *starts) {
    for (uint32_t row = starts[FLOOD_WIDE]; row < starts[FLOOD_FACTOR_KINDS]; row += 2) {
        flood_wide(block, home, home.words + row * 32 + threadIdx.x % 32);
    }
    send_tiles<8, INSIDE>(block, home, starts);
    send_tiles<7, INSIDE>(block, home, starts);
    send_tiles<6, INSIDE>(block, home, starts);
    send_tiles<5, INSIDE>(block, home, starts);
    send_tiles<4, INSIDE>(block, home, starts);
    send_tiles<3, INSIDE>(block, home, starts);
    send_tiles<2, INSIDE>(block, home, starts);
}

/// Edges of a block to variables of all blocks that a thread takes at a time, so that loads run together.
constexpr uint32_t JOINED_AT_ONCE = 4;

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
            const uint32_t source = inputs[j] >> SOURCE_SHIFT;
            if (first + j * blockDim.x < end) {
                // What observed ones send is known, and not stored.
                inbox[first + j * blockDim.x] =
                    source == SOURCE_PREPARED ? messages[j] : certain_message(source == SOURCE_TRUE ? KNOWN_TRUE : 0);
            }
        }
    }
}

/// Hands over what is sent to them.
template <bool INSIDE>
__device__ __forceinline__ void give_joined(const Block &block, const Home &home) {
    const Packed *const inbox = messages_at<INSIDE>(home) + home.shape.inbox;
    const uint32_t *const joined = home.joined;
    Packed *const to = block.to;
    const uint32_t count = home.shape.joined.count;
    for (uint32_t first = threadIdx.x; first < count; first += JOINED_AT_ONCE * blockDim.x) {
        uint32_t slots[JOINED_AT_ONCE];
        Packed messages[JOINED_AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            const uint32_t i = smaller_of(first + j * blockDim.x, count - 1);
            slots[j] = joined[i] & SLOT_MASK;
            messages[j] = inbox[i];
        }
        FASTLBP_UNROLL
        for (uint32_t j = 0; j < JOINED_AT_ONCE; ++j) {
            if (first + j * blockDim.x < count) {
                to[slots[j]] = messages[j];
            }
        }
    }
}

/// The number of this warp, found anew: what is known across passes would be spilled, and come from the second-level
/// cache in each.
__device__ __forceinline__ uint32_t warp_of_block() {
    uint32_t thread = threadIdx.x;
#ifdef __CUDA_ARCH__
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
#endif
    return thread / 32;
}

/// All that a warp does in a pass. Where the state before is measured, hubs of all blocks have been seen to.
template <bool INSIDE>
__device__ __forceinline__ void flood(Block &block, const Home &home, bool with_hubs) {
    const uint32_t warp = warp_of_block();
    const FloodStarts &starts = flood_starts();
    const uint32_t *const hubs = starts.hubs + warp * FLOOD_HUB_KINDS;
    if (with_hubs) {
        small_hubs_send(block, home, hubs);
        block.sent[0].reach(hubs[FLOOD_MULTIPLY] != hubs[FLOOD_SEND]);
        large_hubs_send(block, home, hubs);
        block.sent[1].reach(starts.has_large_hubs(warp));
    }
    if (starts.is_free(warp)) {
        variables_at_home_send<INSIDE>(block, home, starts.free_before[warp], starts.free, with_hubs);
    }
    const uint32_t *const factors = starts.factors + warp * 2 * FLOOD_FACTOR_KINDS;
    const uint32_t joined = home.shape.joined.count;
    uint32_t taken = 0, end = home.shape.early;
    for (uint32_t late = 0;; ++late) {
        if (with_hubs) {
            block.sent[late].wait();
        }
        __syncthreads();
        take_joined<INSIDE>(block, home, taken, end);
        __syncthreads();
        factors_send<INSIDE>(block, home, factors + late * FLOOD_FACTOR_KINDS);
        if (end == joined) {
            break;
        }
        taken = end;
        end = joined;
    }
    home.put_constants();
    if (joined != 0) {
        __syncthreads();
        give_joined<INSIDE>(block, home);
    }
}

/// At the end of a launch: the next one does not find products of the last pass.
__device__ __forceinline__ void end_flood(const Block &block, const Home &home) {
    if (!block.from) {
        // There was no pass.
        return;
    }
    const uint32_t *const starts = flood_starts().hubs + threadIdx.x / 32 * FLOOD_HUB_KINDS;
    const Pieces pieces(block.g, block.from);
    for (uint32_t row = starts[FLOOD_MULTIPLY]; row < starts[FLOOD_HUBS]; row += 2) {
        if (threadIdx.x % 32 == 0) {
            pieces.reset_own(FloodWords(home, row).number);
        }
    }
}

}  // namespace fastlbp
