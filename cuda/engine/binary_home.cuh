// A home is a share of the factors, and variables whose factors all belong to it are at home there. In passes in which all
// messages are sent at once, a block computes the messages of a home in its shared memory. Made by
// src/engine/cuda/binary/flood.rs.
//
// A home has a place for each message of these variables, side by side as slots are, and for each other edge of its
// factors. In a pass, first the messages of factors are replaced by those that the variables send along the same
// edges; then factors replace these by theirs.
//
// A block whose graph fits has one home, which stays. Else there are more homes than blocks, and blocks take one after the
// other as they are free: each has an *image* in the device's memory, and what changes is written back. Images are read and
// written in order, by wide loads of which each thread has many under way.
#pragma once

#include "binary_measure.cuh"
#include "block.cuh"

namespace fastlbp {

/// What the home has that is in turn.
extern __shared__ double home_room[];

/// Copies words of 64 bits from an even place on, by all threads of a block; many loads at a time.
__device__ __forceinline__ void copy_words(uint64_t *to, const uint64_t *from, uint32_t words) {
    constexpr uint32_t AT_ONCE = 8;
    ulonglong2 *const pairs_to = reinterpret_cast<ulonglong2 *>(to);
    const ulonglong2 *const pairs = reinterpret_cast<const ulonglong2 *>(from);
    const uint32_t count = words / 2;
    if (words % 2 != 0 && threadIdx.x == 0) {
        to[words - 1] = from[words - 1];
    }
    for (uint32_t first = threadIdx.x; first < count; first += AT_ONCE * blockDim.x) {
        ulonglong2 some[AT_ONCE];
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            some[i] = pairs[smaller_of(first + i * blockDim.x, count - 1)];
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            if (first + i * blockDim.x < count) {
                pairs_to[first + i * blockDim.x] = some[i];
            }
        }
    }
}

/// The same from the device's memory to a block's, if all threads call end_copies before they meet. Where devices have such
/// copies, no registers are in between, and threads go on meanwhile.
__device__ __forceinline__ void begin_copy_of_words(uint64_t *to, const uint64_t *from, uint32_t words) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    for (uint32_t i = 2 * threadIdx.x; i + 1 < words; i += 2 * blockDim.x) {
        const uint32_t place = static_cast<uint32_t>(__cvta_generic_to_shared(to + i));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from + i) : "memory");
    }
    if (words % 2 != 0 && threadIdx.x == 0) {
        to[words - 1] = from[words - 1];
    }
#else
    copy_words(to, from, words);
#endif
}
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// What is known of a variable at home: as Binary::known has it, and from this bit on how many of its slots, or of a
/// hub's last eight, are of no edge.
constexpr uint32_t HOME_GAPS_SHIFT = 2;

struct alignas(16) Home {
    HomeShape shape;
    Packed *messages;
    /// So many places behind its messages a block has the inputs of factors, which these replace by what they send. Where this
    /// is 0, they are in the places of the messages; where runs are damped, the messages are needed to damp the next ones.
    uint32_t inputs;
    /// Places of messages that other homes do not send anew: those that a pass begins with, and those that it leaves.
    uint32_t kept, left;
    Packed *constants;
    uint32_t *constant_places, *joined, *hubs, *units;
    const uint32_t *words;
    uint8_t *variables;
    /// Words of 64 bits of all of this, an even number; which of them is the first that never changes, an even one; and which home
    /// it is.
    uint32_t room_words, first_fixed, number;
    /// Units of each class of variables, of what a warp takes at once: of those of hubs, and of all.
    uint32_t units_of[HOME_CLASSES], units_of_hubs, units_of_all;
    /// Which units are next: of variables, of early factors, and of late ones; and in how many passes those threads have
    /// met that meet before early factors.
    uint32_t next[3], met;
    /// How many warps begin with a unit of early factors, and of late ones, that is theirs.
    uint32_t beginners[2];

    /// When all have done with variables, or factors, of a pass.
    __device__ __forceinline__ void begin_variables() {
        if (threadIdx.x == 0) {
            next[0] = 0;
        }
    }
    __device__ __forceinline__ void begin_factors() {
        if (threadIdx.x == 0) {
            next[1] = beginners[0];
            next[2] = beginners[1];
        }
    }
    /// Whether no unit of variables is left; faster than to ask for one.
    __device__ __forceinline__ bool has_no_variables() const {
        const uint32_t unit = *const_cast<const volatile uint32_t *>(&next[0]);
        return __shfl_sync(~0u, unit, 0) >= units_of_all;
    }
    /// The next unit that nobody has, for all threads of a warp: asked for, and there.
    __device__ __forceinline__ uint32_t begin_turn(uint32_t kind) {
        return threadIdx.x % 32 == 0 ? atomicAdd(&next[kind], 1u) : 0;
    }
    static __device__ __forceinline__ uint32_t end_turn(uint32_t unit) { return __shfl_sync(~0u, unit, 0); }

    /// So many threads of the block meet in a pass, the first ones; the others wait for them.
    __device__ __forceinline__ void meet(uint32_t threads, uint32_t pass) {
        if (threadIdx.x < threads) {
#ifdef __CUDA_ARCH__
            asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
#else
            sync_some(threads);
#endif
        }
        if (threads == blockDim.x) {
            return;
        }
        volatile uint32_t *const last = &met;
        if (threadIdx.x == 0) {
            __threadfence_block();
            *last = pass + 1;
#ifndef __CUDA_ARCH__
            tell_others();
#endif
        }
        if (threadIdx.x >= threads) {
            while (*last != pass + 1) {
#ifdef __CUDA_ARCH__
                __nanosleep(40);
#else
                take_turns();
#endif
            }
            __threadfence_block();
            __syncwarp();
        }
    }

    /// Where a block that has one home has words of hubs; they come in pairs.
    __device__ __forceinline__ uint32_t *hub_words() const {
        return reinterpret_cast<uint32_t *>(constants + shape.constants.count);
    }

    /// At the beginning of a launch: all of a home but the messages; given the first warp that has large hubs.
    __device__ __forceinline__ void fill(const Binary &g, uint32_t its_number, uint32_t first_of_large) {
        if (threadIdx.x == 0) {
            number = its_number;
            shape = g.homes[number];
            messages = reinterpret_cast<Packed *>(home_room);
            const uint32_t even_places = (shape.places + 1) / 2 * 2;
            inputs = g.undamped ? even_places : 0;
            kept = inputs != 0 ? shape.places : shape.inbox;
            left = inputs + shape.inbox;
            first_fixed = inputs + even_places;
            constants = messages + first_fixed;
            constant_places = hub_words() + (g.home_images ? 0 : shape.hub_words.count);
            joined = constant_places + shape.constants.count;
            hubs = joined + shape.joined.count;
            units = hubs + shape.hubs.count;
            uint32_t *own_words = units + shape.units.count;
            words = g.home_words_inside ? own_words : g.home_words + shape.words.first;
            begin_variables();
            beginners[0] = first_of_large;
            beginners[1] = blockDim.x / 32;
            begin_factors();
            units_of_hubs = units_of_all = 0;
            for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
                const uint32_t of_unit = k < HOME_HUBS ? 1 << k : 32;
                units_of[k] = (shape.ranges[k].count + of_unit - 1) / of_unit;
                units_of_all += units_of[k];
                units_of_hubs += k < HOME_HUBS ? units_of[k] : 0;
            }
            variables =
                reinterpret_cast<uint8_t *>(own_words + (g.home_words_inside ? shape.words.count : 0));
            const uint64_t bytes = variables + shape.variables - reinterpret_cast<uint8_t *>(home_room);
            room_words = static_cast<uint32_t>((bytes + 15) / 16 * 2);
        }
        __syncthreads();
        copy(constants, g.home_constants, shape.constants);
        copy(constant_places, g.home_constant_places, shape.constants);
        copy(joined, g.flood_words, shape.joined);
        copy(hubs, g.home_hubs, shape.hubs);
        if (!g.home_images) {
            copy(hub_words(), g.flood_words, shape.hub_words);
        }
        copy(units, g.factor_units, shape.units);
        if (g.home_words_inside) {
            copy(const_cast<uint32_t *>(words), g.home_words, shape.words);
        }
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            const HomeRange &range = shape.ranges[k];
            const uint32_t width = k < HOME_HUBS ? 8 : 4 >> (k - HOME_HUBS);
            for (uint32_t i = threadIdx.x; i < range.count; i += blockDim.x) {
                const uint32_t position = range.position + i;
                const uint32_t gaps = (0 - g.degrees[position]) & (width - 1);
                variables[range.index + i] = static_cast<uint8_t>(g.known[position] | gaps << HOME_GAPS_SHIFT);
            }
        }
        __syncthreads();
    }

    /// Puts all of it into its image.
    __device__ __forceinline__ void save(const Binary &g) const {
        __syncthreads();
        copy_words(reinterpret_cast<uint64_t *>(&image(g, number)), reinterpret_cast<const uint64_t *>(this),
                   sizeof(Home) / 16 * 2);
        copy_words(room_of_image(g, number), reinterpret_cast<const uint64_t *>(home_room), room_words);
        __syncthreads();
    }

    /// The same of what passes leave.
    __device__ __forceinline__ void put(const Binary &g) const {
        copy_words(room_of_image(g, number), reinterpret_cast<const uint64_t *>(home_room), left);
    }

    /// Makes this another home, from its image.
    __device__ __forceinline__ void take(const Binary &g, uint32_t its_number) {
        begin_taking(g, its_number, image(g, its_number).left);
        end_taking();
    }

    /// The same in two steps, of so many places: behind the first one, threads may do what needs no part of the home, and write
    /// to other places.
    __device__ __forceinline__ void begin_taking(const Binary &g, uint32_t its_number, uint32_t places) {
        const Home &there = image(g, its_number);
        const uint32_t fixed = there.first_fixed, words = there.room_words;
        uint64_t *const room = reinterpret_cast<uint64_t *>(home_room);
        const uint64_t *const from = room_of_image(g, its_number);
        __syncthreads();
        begin_copy_of_words(reinterpret_cast<uint64_t *>(this), reinterpret_cast<const uint64_t *>(&there), sizeof(Home) / 16 * 2);
        begin_copy_of_words(room, from, places);
        begin_copy_of_words(room + fixed, from + fixed, words - fixed);
    }
    __device__ __forceinline__ void end_taking() {
        end_copies();
        __syncthreads();
#ifndef __CUDA_ARCH__
        move();
        __syncthreads();
#endif
    }

    /// That of a home in the device's memory; it has no places of its own.
    static __device__ __forceinline__ Home &image(const Binary &g, uint32_t number) {
        return *reinterpret_cast<Home *>(g.home_images + g.home_bytes * number);
    }

    /// Where a part of its room is in the image of a home.
    template <class T>
    static __device__ __forceinline__ const T *in_image(const Binary &g, const Home &image, const T *part) {
        const ptrdiff_t place = reinterpret_cast<const char *>(part) - reinterpret_cast<const char *>(image.messages);
        return reinterpret_cast<const T *>(reinterpret_cast<const char *>(room_of_image(g, image.number)) + place);
    }

    /// Takes the messages of a state, also those along other edges if these are to be damped.
    __device__ __forceinline__ void load(const Packed *state) {
        load_variables(messages, state);
        for (uint32_t i = threadIdx.x; inputs != 0 && i < shape.joined.count; i += blockDim.x) {
            messages[shape.inbox + i] = state[input_slot(joined[i])];
        }
        __syncthreads();
    }

    /// Puts those of variables that are at home back, from these places on.

    __device__ __forceinline__ void store(const Packed *places, Packed *state) const {
        __syncthreads();
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            for (uint32_t i = threadIdx.x; i < places_of(k); i += blockDim.x) {
                state[shape.ranges[k].slot + i] = places[shape.ranges[k].place + i];
            }
        }
    }

    /// The same of a state with this number, and of what its messages were before damping.
    __device__ __forceinline__ void load_state(const Binary &g, uint32_t number) {
        load(g.state(number));
        if (inputs != 0) {
            load_variables(messages + inputs, g.undamped_state(number));
            __syncthreads();
        }
    }
    __device__ __forceinline__ void store_state(const Binary &g, uint32_t number) const {
        store(messages, g.state(number));
        if (inputs != 0) {
            store(messages + inputs, g.undamped_state(number));
        }
    }

    /// The slot of a place. Seldom needed.
    __device__ __forceinline__ uint32_t slot_of(uint32_t place) const {
        if (place >= shape.inbox) {
            return input_slot(joined[place - shape.inbox]);
        }
        uint32_t k = HOME_CLASSES - 1;
        while (shape.ranges[k].place > place || shape.ranges[k].count == 0) {
            --k;
        }
        return shape.ranges[k].slot + (place - shape.ranges[k].place);
    }

private:
#ifndef __CUDA_ARCH__
    /// In a GPU, shared memory is at the same addresses in each block. Where it is not, an image has those of the block that
    /// made it.
    void move() {
        if (threadIdx.x == 0) {
            const ptrdiff_t by = reinterpret_cast<char *>(home_room) - reinterpret_cast<char *>(messages);
            messages = moved(messages, by);
            constants = moved(constants, by);
            constant_places = moved(constant_places, by);
            joined = moved(joined, by);
            hubs = moved(hubs, by);
            units = moved(units, by);
            words = moved(words, by);
            variables = moved(variables, by);
        }
    }
    template <class T>
    static T *moved(T *at, ptrdiff_t by) {
        return reinterpret_cast<T *>(reinterpret_cast<intptr_t>(at) + by);
    }
#endif

    static __device__ __forceinline__ uint64_t *room_of_image(const Binary &g, uint32_t number) {
        return reinterpret_cast<uint64_t *>(g.home_images + g.home_bytes * number + IMAGE_ROOM);
    }

    __device__ __forceinline__ void load_variables(Packed *places, const Packed *state) const {
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            for (uint32_t i = threadIdx.x; i < places_of(k); i += blockDim.x) {
                places[shape.ranges[k].place + i] = state[shape.ranges[k].slot + i];
            }
        }
    }

    template <class T>
    __device__ __forceinline__ static void copy(T *to, const T *all, HomePart part) {
        for (uint32_t i = threadIdx.x; i < part.count; i += blockDim.x) {
            to[i] = all[part.first + i];
        }
    }

    __device__ __forceinline__ uint32_t places_of(uint32_t k) const {
        const uint32_t end = k + 1 < HOME_CLASSES ? shape.ranges[k + 1].place : shape.inbox;
        return end - shape.ranges[k].place;
    }
};

static_assert(sizeof(Home) % 16 == 0 && sizeof(Home) <= IMAGE_ROOM, "images have a Home in whole pairs of words");

/// The one of this block, that is in turn.
__device__ __forceinline__ Home &shared_home() {
    __shared__ ulonglong2 room[sizeof(Home) / 16];
    return *reinterpret_cast<Home *>(room);
}

/// Notes a variable at which certain messages of the state disagree.
__device__ __noinline__ inline void note_contradiction(const Block &block, uint32_t position, uint32_t pass) {
    note_variable(block.tally_of_state(pass), block.g.variable[position]);
    block.mark();
}

/// Messages of a variable with up to four factors where doubles do not do or certain ones disagree.
__device__ __noinline__ inline void far_four_sends(const Block &block, const Packed *messages, Packed *to, uint32_t gaps,
                                                   uint32_t position, uint32_t pass) {
    Packed values[4], odds[4];
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        values[i] = messages[i];
    }
    others_of_four(values, odds);
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
        to[i] = i + gaps < 4 ? odds[i] : Packed::one();
    }
    Certain certain = {0, 0};
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        certain.count(values[i]);
    }
    if (certain.contradictory()) {
        note_contradiction(block, position, pass);
    }
}

/// Messages of a variable with up to `count` factors and soft evidence.
__device__ __noinline__ inline void soft_few_send(const Block &block, const Packed *messages, Packed *to, uint32_t count,
                                                  uint32_t gaps, uint32_t position, uint32_t pass) {
    Packed values[4], odds[8];
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
        values[i] = i < count ? messages[i] : Packed::one();
    }
    if (soft_few_send(block.g.soft_of(position), values, odds)) {
        note_contradiction(block, position, pass);
    }
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
        if (i < count) {
            to[i] = i + gaps < count ? odds[i] : Packed::one();
        }
    }
}

/// Whether a value is within 2^-RANGE..2^RANGE, or certain.
template <int RANGE>
__device__ __forceinline__ bool is_near(Packed value) {
    const uint32_t word = high(value);
    return (word - (static_cast<uint32_t>(BIAS - RANGE) << 20) < static_cast<uint32_t>(2 * RANGE) << 20) |
           is_certain_half(word);
}

/// One of two types.
template <bool FIRST, class A, class B>
struct Select {
    typedef A type;
};
template <class A, class B>
struct Select<false, A, B> {
    typedef B type;
};

/// What is known when kernels are compiled: whether blocks have several homes; whether runs may be damped, of maxima or
/// with soft evidence; and whether there are large factors.
template <bool BY_TURNS, bool HAS_OPTIONS, bool HAS_OWN_WARPS = false>
struct FloodRun {
    static constexpr bool TURNS = BY_TURNS, OPTIONS = HAS_OPTIONS, OWN_WARPS = HAS_OWN_WARPS;
    /// With which numbers most factors compute: where homes take turns, balanced weights cost less than the factors for which
    /// doubles do not do without.
    typedef typename Select<BY_TURNS, Balanced, Flat>::type Number;
};

/// A home's messages. As it is known that they are in shared memory, fewer instructions reach them.
template <class Run>
__device__ __forceinline__ Packed *messages_at(const Home &) {
    return reinterpret_cast<Packed *>(home_room);
}

/// What is to be done at each home of all blocks, each of them by some block, which puts it back.
template <class Run, class Work>
__device__ __forceinline__ void at_each_home(const Binary &g, Home &home, const Work &work) {
    if (!Run::TURNS) {
        work();
        return;
    }
    for (uint32_t number = blockIdx.x; number < g.home_turns * gridDim.x; number += gridDim.x) {
        home.take(g, number);
        work();
        __syncthreads();
        home.put(g);
    }
}

/// Where variables leave what they send, and where factors replace it by what they send.
template <class Run>
__device__ __forceinline__ Packed *inputs_at(const Home &home) {
    return messages_at<Run>(home) + (Run::OPTIONS ? home.inputs : 0);
}

/// What a variable with up to four factors sends, of so many the one with this index.
template <class Run>
__device__ __forceinline__ void four_sends(const Block &block, const Home &home, uint32_t i, uint32_t pass, double &change) {
    const HomeRange &range = home.shape.ranges[HOME_HUBS];
    if (i >= range.count) {
        return;
    }
    const Packed *const messages = messages_at<Run>(home) + range.place + 4 * i;
    Packed *const to = inputs_at<Run>(home) + range.place + 4 * i;
    const uint32_t variable = home.variables[range.index + i];
    const uint32_t known = variable & 3, gaps = variable >> HOME_GAPS_SHIFT;
    const Pair first = load_pair(messages, 0), second = load_pair(messages, 2);
    if (Run::OPTIONS && block.sampling && block.sample.has_few(range.position + i)) {
        const double own = change_of_few(block.g, range.position + i, known, first.x, first.y, second.x, second.y);
        change = larger_of(change, own);
    }
    const double left = first.x.plain() * first.y.plain(), right = second.x.plain() * second.y.plain();
    Packed odds[4] = {Packed::from_plain(right * first.y.plain()), Packed::from_plain(right * first.x.plain()),
                      Packed::from_plain(left * second.y.plain()), Packed::from_plain(left * second.x.plain())};
    // No number comes of zero times infinity.
    const bool near = is_near<256>(first.x) & is_near<256>(first.y) & is_near<256>(second.x) &
                      is_near<256>(second.y) & (odds[0].plain() * first.x.plain() >= 0.0);
    if (Run::OPTIONS && known == KNOWN_SOFT) {
        soft_few_send(block, messages, to, 4, gaps, range.position + i, pass);
        return;
    }
    if (known != 0) {
        FASTLBP_UNROLL
        for (int j = 0; j < 4; ++j) {
            odds[j] = certain_message(known);
        }
    } else if (!near) {
        far_four_sends(block, messages, to, gaps, range.position + i, pass);
        return;
    }
    store_pair(to, odds[0], odds[1]);
    store_pair(to + 2, odds[2], gaps ? Packed::one() : odds[3]);
}

/// The same of a variable with two factors, and of one with one.
template <class Run>
__device__ __forceinline__ void two_sends(const Block &block, const Home &home, uint32_t i, uint32_t pass, double &change) {
    const HomeRange &range = home.shape.ranges[HOME_HUBS + 1];
    if (i >= range.count) {
        return;
    }
    const uint32_t place = range.place + 2 * i;
    const uint32_t known = home.variables[range.index + i] & 3;
    const Pair pair = load_pair(messages_at<Run>(home), place);
    if (Run::OPTIONS && block.sampling && block.sample.has_few(range.position + i)) {
        const Packed one = Packed::one();
        change = larger_of(change, change_of_few(block.g, range.position + i, known, pair.x, pair.y, one, one));
    }
    if (Run::OPTIONS && known == KNOWN_SOFT) {
        const uint32_t gaps = home.variables[range.index + i] >> HOME_GAPS_SHIFT;
        soft_few_send(block, messages_at<Run>(home) + place, inputs_at<Run>(home) + place, 2, gaps, range.position + i, pass);
        return;
    }
    const uint32_t x = high(pair.x), y = high(pair.y);
    const bool contradictory = ((x == 0) & (y == HIGH_INFINITY)) | ((x == HIGH_INFINITY) & (y == 0));
    const Packed certain = certain_message(known);
    store_pair(inputs_at<Run>(home) + place, known ? certain : pair.y, known ? certain : pair.x);
    if (contradictory && known == 0) {
        note_contradiction(block, range.position + i, pass);
    }
}

template <class Run>
__device__ __forceinline__ void one_sends(const Block &block, const Home &home, uint32_t i, uint32_t pass) {
    const HomeRange &range = home.shape.ranges[HOME_HUBS + 2];
    if (i >= range.count) {
        return;
    }
    const uint32_t known = home.variables[range.index + i] & 3;
    Packed *const to = inputs_at<Run>(home) + (range.place + i);
    if (Run::OPTIONS && known == KNOWN_SOFT) {
        soft_few_send(block, messages_at<Run>(home) + (range.place + i), to, 1, 0, range.position + i, pass);
        return;
    }
    *to = known ? certain_message(known) : Packed::one();
}

/// Whether certain messages to a hub disagree, its soft evidence being one of them.
template <class Run>
__device__ __forceinline__ bool disagree(const Binary &g, uint32_t slot, uint32_t known, Certain certain) {
    if (Run::OPTIONS && known == KNOWN_SOFT) {
        certain.count(g.soft_of_hub(slot));
    }
    return certain.contradictory();
}

/// What some hubs of a class send that are at home: those of this unit. They are noted where contradictory, if `noting`.
template <class Run>
__device__ __forceinline__ void hubs_at_home_send(const Block &block, const Home &home, uint32_t unit, bool noting,
                                                  uint32_t pass, double &change) {
    uint32_t k = 0;
    while (unit >= home.units_of[k]) {
        unit -= home.units_of[k];
        ++k;
    }
    const Packed *const messages = messages_at<Run>(home);
    Packed *const to = inputs_at<Run>(home);
    const uint32_t lane = threadIdx.x % 32;
    const HomeRange &range = home.shape.ranges[k];
    const uint32_t shift = HOME_HUBS - 1 - k, width = 1 << shift;
    const uint32_t hub = range.index + (unit << (5 - shift)) + (lane >> shift);
    const bool there = hub < range.index + range.count;
    const uint32_t place = there ? home.hubs[hub] + 8 * (lane & (width - 1)) : 0;
    const uint32_t end = there ? home.hubs[hub + 1] : 0;
    const uint32_t variable = there ? home.variables[hub] : 0;
    const bool mine = place < end;
    const uint32_t known = variable & 3;
    Leaves leaves;
    leaves.load_if(mine, messages, place);
    Ascent ascent;
    ascent.climb(leaves.total(), width);
    if (mine) {
        const uint32_t position = range.position + (hub - range.index);
        const uint32_t slot = range.slot + (place - range.place);
        if (Run::OPTIONS && block.sampling && (lane & (width - 1)) == 0 && !is_observed(known) && block.sample.has_hub(slot)) {
            change = larger_of(change, change_of_belief(block.g, position, known, ascent.total()));
        }
        if (noting && !is_observed(known) && (lane & (width - 1)) == 0 &&
            disagree<Run>(block.g, slot, known, Certain{ascent.counts >> 16, ascent.counts & 0xffff})) {
            note_contradiction(block, position, pass);
        }
        Packed odds[8];
        hub_sends<Run::OPTIONS>(block.g, slot, known, leaves, ascent.above(), odds);
        const uint32_t count = place + 8 == end ? 8 - (variable >> HOME_GAPS_SHIFT) : 8;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < 8; i += 2) {
            store_pair(to + place + i, i < count ? odds[i] : Packed::one(),
                       i + 1 < count ? odds[i + 1] : Packed::one());
        }
    }
}

/// What all variables send that are at home, unit by unit, by warps as they are free. Who writes here and who reads must
/// meet before and after. The number of the pass, here and elsewhere, is among those that run ahead, and else 0.
template <class Run>
__device__ __forceinline__ void variables_at_home_send(const Block &block, Home &home, bool noting_hubs, uint32_t pass) {
    const uint32_t lane = threadIdx.x % 32;
    if (home.has_no_variables()) {
        return;
    }
    double change = 0.0;
    uint32_t next = home.begin_turn(0);
    for (;;) {
        uint32_t unit = home.end_turn(next);
        if (unit >= home.units_of_all) {
            if (Run::OPTIONS && block.sampling) {
                block.note_change(change, pass);
            }
            return;
        }
        next = home.begin_turn(0);
        if (unit < home.units_of_hubs) {
            hubs_at_home_send<Run>(block, home, unit, noting_hubs, pass, change);
            continue;
        }
        unit -= home.units_of_hubs;
        if (unit < home.units_of[HOME_HUBS]) {
            four_sends<Run>(block, home, 32 * unit + lane, pass, change);
            continue;
        }
        unit -= home.units_of[HOME_HUBS];
        if (unit < home.units_of[HOME_HUBS + 1]) {
            two_sends<Run>(block, home, 32 * unit + lane, pass, change);
        } else {
            one_sends<Run>(block, home, 32 * (unit - home.units_of[HOME_HUBS + 1]) + lane, pass);
        }
    }
}

}  // namespace fastlbp
