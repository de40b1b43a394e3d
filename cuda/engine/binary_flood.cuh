// What warps do in a pass in which all messages are sent at once. Made by src/engine/cuda/binary/flood.rs.
//
// Nobody meets within a pass: hubs hand their messages over to the factors, which wait for them. So each warp sees
// to its hubs first; and where a hub hands messages over in one pass it resets them in the next one, when all have
// been read.
//
// Most time goes into waiting for memory and for instructions. So the loads of a factor run together, whatever its
// inputs are, and its code is short: what doubles do not serve is left to far_factor.
#pragma once

#include "binary_factors.cuh"
#include "binary_pieces.cuh"

namespace fastlbp {

/// What a warp does comes in units of some kinds, one kind after the other. A unit is rows of 32 words, one for each
/// thread. Two words of a thread follow each other where there are two: the first as of an input, ~0 for nothing;
/// the second a number.
///
/// A piece of a large hub is multiplied, or its messages are sent: inputs are the first slots of the eights that
/// threads take. The numbers of the first threads are that of the piece, of the hub's first one, and the one behind
/// the hub's last.
constexpr uint32_t FLOOD_MULTIPLY = 0;
/// Small hubs, each by 2^number threads; inputs are as those of pieces.
constexpr uint32_t FLOOD_HUBS = 1;
constexpr uint32_t FLOOD_SEND = 2;
/// From this kind on: 32 factors with two variables, three and so on up to eight, each by one thread. Rows: the
/// number of coefficients, ~0 for no factor; then one for each variable, the head first.
constexpr uint32_t FLOOD_TILES = 3;
/// A factor with up to 32 variables, the head first; the number is that of the coefficients.
constexpr uint32_t FLOOD_WIDE = 10;
constexpr uint32_t FLOOD_KINDS = 11;

/// The first row of each kind of a block's warps, and the end of each warp's.
__device__ __forceinline__ uint32_t *flood_starts() {
    __shared__ uint32_t all[32 * FLOOD_KINDS + 1];
    return all;
}

__device__ __forceinline__ void load_flood_starts(const Binary &g) {
    const uint32_t count = blockDim.x / 32 * FLOOD_KINDS;
    for (uint32_t i = threadIdx.x; i <= count; i += blockDim.x) {
        flood_starts()[i] = g.flood_starts[blockIdx.x * count + i];
    }
    __syncthreads();
}

/// This thread's words of units with two.
struct FloodWords {
    uint32_t input, number;

    __device__ __forceinline__ FloodWords(const Binary &g, uint32_t row) {
        const uint2 words =
            __ldg(reinterpret_cast<const uint2 *>(g.flood_words) + static_cast<uint64_t>(row) * 16 + threadIdx.x % 32);
        input = words.x;
        number = words.y;
    }

    __device__ __forceinline__ bool is_there() const { return input != ~uint32_t(0); }
    __device__ __forceinline__ uint32_t slot() const { return input & SLOT_MASK; }
};

/// Hubs, or a piece of one. What observed ones send is known, and nobody waits for it.
__device__ __noinline__ inline void flood_hubs(const Block &block, uint32_t kind, uint32_t row) {
    const FloodWords words(block.g, row);
    const uint32_t lane = threadIdx.x % 32, slot = words.slot();
    const uint32_t width = kind == FLOOD_HUBS ? 1 << words.number : 32;
    const bool mine = words.is_there() && words.input >> SOURCE_SHIFT == SOURCE_PREPARED;
    Leaves leaves;
    if (mine) {
        leaves.load(block.from, slot);
    } else {
        leaves.fill_with_ones();
    }
    Ascent ascent;
    ascent.climb(leaves.total(), width);
    Product above = Product::neutral();
    bool notes = (lane & (width - 1)) == 0;
    if (kind != FLOOD_HUBS) {
        const Pieces pieces(block.g, block.from);
        const uint32_t own = __shfl_sync(~0u, words.number, 0), first = __shfl_sync(~0u, words.number, 1);
        const uint32_t end = __shfl_sync(~0u, words.number, 2);
        if (kind == FLOOD_MULTIPLY) {
            if (lane == 0) {
                pieces.set(own, ascent.total());
                pieces.reset(own);
            }
            return;
        }
        above = other_pieces(pieces, first, end, own);
        notes &= own == first;
    }
    if (mine) {
        if (notes && combine(above, ascent.total()).is_contradictory()) {
            note_variable(block.of_state, variable_of_slot(block.g, slot));
        }
        above = kind == FLOOD_HUBS ? ascent.above(width) : ascent.above_from(above);
        Packed odds[8];
        leaves.others(above, odds);
        hand_over_eight(block.prepared, slot, odds);
    }
    if (words.is_there()) {
        reset_eight(block.retired, slot);
    }
}

/// What a variable sends along an input, in any case.
__device__ __forceinline__ Packed flood_input(const Block &block, uint32_t input) {
    const uint32_t source = input >> SOURCE_SHIFT, slot = input & SLOT_MASK;
    if (source == SOURCE_PREPARED) {
        return Packed{wait_for(&block.prepared[slot].bits)};
    }
    if (source - SOURCE_TWO > SOURCE_FOUR - SOURCE_TWO) {
        return source == SOURCE_FALSE ? Packed::zero() : source == SOURCE_TRUE ? Packed::infinity() : Packed::one();
    }
    const Pair near = load_pair(block.from, slot & ~1u);
    Pair far = {Packed::one(), Packed::one()};
    if (source == SOURCE_FOUR) {
        far = load_pair(block.from, (slot & ~1u) ^ 2);
    }
    const bool odd = (slot & 1) != 0;
    const Packed own = odd ? near.y : near.x, other = odd ? near.x : near.y;
    if (input & COUNTED) {
        check_variable(block.g, slot, own.bits, other.bits, far.x.bits, far.y.bits, block.of_state);
    }
    return source == SOURCE_FOUR ? send_three(far.x, far.y, other) : other;
}

/// Stores a factor's message.
__device__ __forceinline__ void flood_output(const Block &block, uint32_t input, Packed message) {
    const uint32_t slot = input & SLOT_MASK;
    if (message == Packed::contradiction()) {
        message = Packed::one();
        note_zero_by_zero(block.g, slot, block.of_pass);
    }
    block.to[slot] = message;
}

/// A factor of more than eight variables.
__device__ __noinline__ inline void flood_wide(const Block &block, uint32_t row) {
    const FloodWords words(block.g, row);
    const uint32_t arity = __popc(__ballot_sync(~0u, words.is_there()));
    const Packed value = words.is_there() ? flood_input(block, words.input) : Packed::one();
    const Packed message = warp_message(arity, value, block.literals(words.is_there() ? words.number : 0));
    if (words.is_there()) {
        flood_output(block, words.input, message);
    }
}

/// A factor of a tile, whatever its inputs are, given this thread's first word. Slow.
__device__ __noinline__ inline void far_factor(const Block &block, const uint32_t *words, uint32_t arity) {
    Packed inputs[8], messages[8];
    Body<Wide> scratch[16];
    for (uint32_t i = 0; i < arity; ++i) {
        inputs[i] = flood_input(block, words[32 * (i + 1)]);
    }
    horn_messages(inputs, arity, 0, block.literals(words[0]), messages, scratch);
    for (uint32_t i = 0; i < arity; ++i) {
        flood_output(block, words[32 * (i + 1)], messages[i]);
    }
}

/// The high word of a message tells zero, infinity, UNSENT and contradictions from all others.
__device__ __forceinline__ uint32_t high(Packed message) { return static_cast<uint32_t>(message.bits >> 32); }
constexpr uint32_t HIGH_INFINITY = static_cast<uint32_t>(INFINITY_BITS >> 32);

/// Whether a value is within 2^-RANGE..2^RANGE, or certain.
template <int RANGE>
__device__ __forceinline__ bool is_near(Packed value) {
    const uint32_t word = high(value);
    return (word - (static_cast<uint32_t>(BIAS - RANGE) << 20) < static_cast<uint32_t>(2 * RANGE) << 20) |
           (word == 0) | (word == HIGH_INFINITY);
}

/// What a thread reads for COUNT inputs. All loads are there for all sources, so that they run together: what is
/// known lies in memory as well.
template <int COUNT>
struct FloodInputs {
    const Packed *places[COUNT];
    Pair near[COUNT], far[COUNT];

    __device__ __forceinline__ FloodInputs(const Block &block, const uint32_t *words) {
        const Packed *const from = block.from, *const prepared = block.prepared, *const known = block.known;
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            const uint32_t source = words[i] >> SOURCE_SHIFT, pair = words[i] & SLOT_MASK & ~1u;
            const bool few = source - SOURCE_TWO <= SOURCE_FOUR - SOURCE_TWO;
            places[i] = few                         ? from + pair
                        : source == SOURCE_PREPARED ? prepared + pair
                                                    : known + 2 * source;
            const Packed *const second = source == SOURCE_FOUR ? from + (pair ^ 2) : known;
            near[i] = look_for_pair(places[i]);
            far[i] = load_pair(second, 0);
        }
    }

    /// Waits until the messages of hubs are there.
    __device__ __forceinline__ void wait() {
        for (;;) {
            bool missing = false;
            FASTLBP_UNROLL
            for (int i = 0; i < COUNT; ++i) {
                missing |= (high(near[i].x) == ~uint32_t(0)) | (high(near[i].y) == ~uint32_t(0));
            }
            if (!missing) {
                return;
            }
#ifndef __CUDA_ARCH__
            take_turns();
#endif
            FASTLBP_UNROLL
            for (int i = 0; i < COUNT; ++i) {
                near[i] = look_for_pair(places[i]);
            }
        }
    }

    /// What a variable sends. Sets `far_off` if far_factor must see to it.
    template <int RANGE>
    __device__ __forceinline__ Packed value(int i, uint32_t word, bool &far_off) const {
        // Of hubs, it is their own message that is there.
        const bool first = ((word ^ (word >> SOURCE_SHIFT == SOURCE_PREPARED)) & 1) != 0;
        const Packed own = first ? near[i].y : near[i].x, other = first ? near[i].x : near[i].y;
        const Packed values[4] = {far[i].x, far[i].y, other, Packed::one()};
        // For most, the first two are ones.
        const double product = (far[i].x.plain() * far[i].y.plain()) * other.plain();
        if (!all_near<256>(values)) {
            far_off |= !(is_near<256>(far[i].x) & is_near<256>(far[i].y) & is_near<256>(other));
        }
        // No number comes of zero times infinity.
        const bool agrees = own.plain() * product >= 0.0;
        far_off |= !is_near<RANGE>(Packed::from_plain(product)) | ((word & COUNTED) != 0 && !agrees);
        return Packed::from_plain(product);
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

/// Inputs of a factor with N variables within 2^-R..2^R can be computed with as doubles: fits_f64 of
/// src/kernel/horn.rs for b = N - 1.
template <int N>
constexpr int flood_range() {
    return (1000 - 66) / (2 * N) - 2;
}

/// All messages of a factor with N variables, as long as doubles do. Given this thread's first word.
template <int N>
__device__ __forceinline__ void send_factor(const Block &block, const uint32_t *words) {
    constexpr int FIRST = N < 4 ? N : 4, SECOND = N > 4 ? N - 4 : 1;
    uint32_t inputs[N];
    const uint32_t number = __ldg(words);
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        inputs[i] = __ldg(words + 32 * (i + 1));
    }
    if (number == ~uint32_t(0)) {
        return;
    }
    const HornCoefficients &c = block.coefficients_of(number);
    bool far_off = (c.flags & HORN_PLAIN) == 0;
    Packed values[N];
    FloodInputs<FIRST> first(block, inputs);
    first.wait();
    FASTLBP_UNROLL
    for (int i = 0; i < FIRST; ++i) {
        values[i] = first.template value<flood_range<N>()>(i, inputs[i], far_off);
    }
    if (N > FIRST) {
        FloodInputs<SECOND> second(block, inputs + N - SECOND);
        second.wait();
        FASTLBP_UNROLL
        for (int i = FIRST; i < N; ++i) {
            values[i] = second.template value<flood_range<N>()>(i - FIRST, inputs[i], far_off);
        }
    }
    messages_of<double>(values, 0, FloodLiterals{c});
    Packed *const to = block.to;
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        far_off |= high(values[i]) == ~uint32_t(0);
        to[inputs[i] & SLOT_MASK] = values[i];
    }
    if (far_off) {
        far_factor(block, words, N);
    }
}

template <int N>
__device__ __forceinline__ void send_tiles(const Block &block, const uint32_t *starts) {
    const uint32_t end = starts[FLOOD_TILES + N - 1];
    for (uint32_t row = starts[FLOOD_TILES + N - 2]; row < end; row += N + 1) {
        send_factor<N>(block, block.g.flood_words + static_cast<uint64_t>(row) * 32 + threadIdx.x % 32);
        __syncwarp();
    }
}

/// All that a warp does in a pass. Where the state before is measured, hubs have been seen to.
__device__ __forceinline__ void flood(const Block &block, bool with_hubs) {
    const uint32_t *const starts = flood_starts() + threadIdx.x / 32 * FLOOD_KINDS;
    if (with_hubs) {
        for (uint32_t kind = 0; kind < FLOOD_TILES; ++kind) {
            for (uint32_t row = starts[kind]; row < starts[kind + 1]; row += 2) {
                flood_hubs(block, kind, row);
            }
        }
    }
    send_tiles<2>(block, starts);
    send_tiles<3>(block, starts);
    send_tiles<4>(block, starts);
    send_tiles<5>(block, starts);
    send_tiles<6>(block, starts);
    send_tiles<7>(block, starts);
    send_tiles<8>(block, starts);
    for (uint32_t row = starts[FLOOD_WIDE]; row < starts[FLOOD_KINDS]; row += 2) {
        flood_wide(block, row);
    }
}

/// At the end of a launch: the next one does not find what hubs have handed over in the last pass.
__device__ __forceinline__ void end_flood(const Block &block) {
    if (!block.prepared) {
        // There was no pass.
        return;
    }
    const uint32_t *const starts = flood_starts() + threadIdx.x / 32 * FLOOD_KINDS;
    const Pieces pieces(block.g, block.from);
    for (uint32_t row = starts[FLOOD_MULTIPLY]; row < starts[FLOOD_TILES]; row += 2) {
        const FloodWords words(block.g, row);
        if (row >= starts[FLOOD_HUBS]) {
            if (words.is_there()) {
                reset_eight(block.prepared, words.slot());
            }
        } else if (threadIdx.x % 32 == 0) {
            pieces.reset_own(words.number);
        }
    }
}

}  // namespace fastlbp
