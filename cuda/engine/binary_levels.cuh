// Messages of factors level by level, each as soon as what it depends on is there: see binary_reads.cuh
// and binary_products.cuh.
//
// A warp does its units one after the other. A unit is some factors, each by as many neighbouring threads; their
// variables' messages are read by as many threads, one or, of hubs, eight each, so that all run the same instructions.
// Made by src/engine/cuda/binary/levels.rs.
#pragma once

#include "binary_level_bodies.cuh"
#include "binary_level_messages.cuh"
#include "binary_own_warps.cuh"

namespace fastlbp {

/// A unit. Its chunks are of 128 words. Each thread has four words of the first chunk: its
/// input; `second` (the word level_want); and what it reads in two rounds. What it reads in more follows, four rounds to a chunk;
/// then a chunk for each round of hubs, and some for each hub in pieces: see HubWords. A thread without an input has
/// one that is certain and not sent; who has nothing to read reads a one. Some units are the product of a piece of a hub: their
/// only chunk has HubWords, or a version of a part for each thread. Others are what hubs send to several factors: their first chunk has
/// MessageWords. Those of factors with warps of their own have a last chunk of NodeWords.
struct LevelUnit : LevelUnitData {
    /// Rounds in which threads read a message each, of variables with up to four.
    __device__ __forceinline__ uint32_t rounds() const { return unit_shape_rounds(shape); }
    /// Whether no hub's messages are read by more than 2^FEW_LEVELS threads.
    __device__ __forceinline__ bool has_few() const { return unit_shape_hub_levels(shape) <= FEW_LEVELS; }
    /// Logarithm of the number of threads of each factor: 1, 2, 3 or 5.
    __device__ __forceinline__ uint32_t levels() const { return unit_shape_levels(shape); }
    /// Rounds in which threads read eight messages each of hubs, and the number of hubs in pieces.
    __device__ __forceinline__ uint32_t wide_rounds() const { return unit_shape_wide_rounds(shape); }
    __device__ __forceinline__ uint32_t giants() const { return unit_shape_giants(shape); }
    /// Inputs with exponents below this, and certain ones, can be computed with as doubles; 0: none can.
    __device__ __forceinline__ uint32_t range() const { return unit_shape_range(shape) << 2; }
    /// Whether it is no factors, but the product of a piece of a hub.
    __device__ __forceinline__ bool multiplies() const { return unit_shape_multiplies(shape); }
    /// Whether it is no factors, but what hubs send to several.
    __device__ __forceinline__ bool is_of_variables() const { return unit_shape_variables(shape); }
    /// Whether it is of a factor with warps of its own.
    __device__ __forceinline__ bool is_of_node() const { return unit_shape_node(shape); }
    /// Whether it has up to two rounds and one of hubs, none of which is in pieces.
    __device__ __forceinline__ bool has_few_rounds() const { return rounds() <= 2 && wide_rounds() <= 1 && giants() == 0; }
    /// Whether it has up to two rounds and a hub in pieces, and inputs that can be computed with as doubles.
    __device__ __forceinline__ bool is_usual() const { return rounds() <= 2 && giants() <= 1 && range() != 0; }
    __device__ __forceinline__ uint32_t first_hub() const {
        const uint32_t rounds = this->rounds();
        return chunk + 1 + (rounds > 2 ? (rounds + 1) / 4 : 0);
    }
    /// Whether this input can be computed with so.
    __device__ __forceinline__ bool fits(Packed value) const {
        const uint32_t high = static_cast<uint32_t>(value.bits >> 32), range = this->range() << 20;
        return (high - ((static_cast<uint32_t>(BIAS) << 20) - range) < 2 * range) |
               (is_certain_half(high) && this->range() != 0);
    }
};

/// Stores what a message is before damping, and gives what it is then; of a run with an active set, what is stored.
__device__ __noinline__ inline Packed damp_message(const Places &places, uint32_t slot, Packed message, Packed old) {
    const Binary &g = shared_block().g;
    const Packed damped = stored(g, old, message);
    g.undamped[places.now + slot] = message;
    return damped;
}

/// Stores a message, damped or with an active set in such runs, if runs have options; notes if it was 0/0, and if the certain ones change by it.
template <bool OPTIONS>
__device__ __forceinline__ void send_message(const Places &places, uint32_t slot, Packed message, Packed old) {
    bool contradiction = message == Packed::contradiction();
    message = contradiction ? Packed::one() : message;
    if (OPTIONS && shared_block().g.undamped) {
        message = damp_message(places, slot, message, old);
        if (message == Packed::contradiction()) {
            contradiction = true;
            message = Packed::one();
        }
    }
    hand_over(&places.messages[places.now + slot].bits, message.bits);
    hand_over(&places.messages[places.reset + slot].bits, UNSENT);
    const bool certain_changed = (message.is_certain() || old.is_certain()) && message != old;
    if (contradiction || certain_changed) {
        Tally *const of_pass = tally_of_pass();
        if (contradiction) {
            note_zero_by_zero(shared_block().g, slot, of_pass);
        }
        if (certain_changed) {
            of_pass->certain_changed = 1;
        }
    }
}

/// What doubles do for.
template <>
struct Fraction<double> {
    double above, below;

    /// Whether the quotient is stored as a double, or certain.
    __device__ __forceinline__ bool is_plain() const {
        const int difference = static_cast<int>(to_bits(above) >> 52) - static_cast<int>(to_bits(below) >> 52);
        return static_cast<uint32_t>(difference + 990) <= 1980 || to_bits(above) == 0 || to_bits(below) == 0;
    }

    /// If it is plain. Digits are divided, and exponents subtracted: so no test of operands is needed, and no branch.
    __device__ __forceinline__ Packed ratio() const {
        const Flat a = {above}, b = {below};
        // No number here is so small that its high word is zero.
        const bool none = a.high() == 0, infinite = b.high() == 0;
        const Flat digits = {quotient(digits_of(a), digits_of(b))};
        const uint32_t high = digits.high() + (a.high() & EXPONENT) - (b.high() & EXPONENT);
        const bool is_certain = none | infinite, contradiction = none & infinite;
        const uint32_t certain = contradiction ? ~uint32_t(0) : none ? 0 : HIGH_INFINITY;
        const uint32_t low = contradiction ? ~uint32_t(0) : 0;
        return Packed{to_bits(Flat::of(is_certain ? certain : high, is_certain ? low : digits.low()).value)};
    }

  private:
    static constexpr uint32_t EXPONENT = HIGH_INFINITY;
    /// From 1 to 2; of zero, 1.
    static __device__ __forceinline__ double digits_of(Flat x) {
        return Flat::of((x.high() & ~EXPONENT) | HIGH_ONE, x.low()).value;
    }
};

__device__ __forceinline__ Fraction<double> in_doubles(const Fraction<Balanced> &fraction) {
    return Fraction<double>{fraction.above.value, fraction.below.value};
}

/// The part of a body that another thread of a group of so many has.
template <int WIDTH, Scaling S>
__device__ __forceinline__ InDouble<S> of_group(InDouble<S> x, int thread) {
    return InDouble<S>{__shfl_sync(~0u, x.value, thread, WIDTH)};
}
template <int WIDTH>
__device__ __forceinline__ Far of_group(const Far &x, int thread) {
    return Far{__shfl_sync(~0u, x.significand, thread, WIDTH), __shfl_sync(~0u, x.exponent, thread, WIDTH)};
}
template <int WIDTH, bool R>
__device__ __forceinline__ LooseOf<R> of_group(const LooseOf<R> &x, int thread) {
    return LooseOf<R>{__shfl_sync(~0u, x.value, thread, WIDTH), __shfl_sync(~0u, x.exponent, thread, WIDTH)};
}
template <int WIDTH, class T>
__device__ __forceinline__ Max<T> of_group(const Max<T> &x, int thread) {
    return Max<T>{of_group<WIDTH>(x.value, thread)};
}
template <int WIDTH, class T>
__device__ __forceinline__ Body<T> of_group(const Body<T> &body, int thread) {
    return Body<T>{of_group<WIDTH>(body.all, thread), of_group<WIDTH>(body.not_all, thread)};
}

/// The input that another thread of a group of so many has.
template <int WIDTH>
__device__ __forceinline__ Packed of_group(Packed value, int thread) {
    return Packed{__shfl_sync(~0u, value.bits, thread, WIDTH)};
}
template <int WIDTH>
__device__ __forceinline__ FarOdds of_group(const FarOdds &x, int thread) {
    return FarOdds{__shfl_sync(~0u, x.digits, thread, WIDTH), __shfl_sync(~0u, x.exponent, thread, WIDTH)};
}

/// As group_message<T, 1>: the body is one literal.
template <class T, class Odds>
__device__ __forceinline__ Fraction<T> message_of_two(uint32_t lane, Odds value, bool negated, const HeadValues &f) {
    const Body<T> body = of_group<2>(Body<T>::literal(value, negated), 0);
    const HeadWeights<T> weights(of_group<2>(value, 1), f);
    return fraction(lane % 2 == 1, negated, weights, Body<T>::neutral(), body, f);
}

/// As group_message<T, 2>, but all shuffles run together.
template <class T, class Odds>
__device__ __forceinline__ Fraction<T> message_of_four(uint32_t lane, Odds value, bool negated, const HeadValues &f) {
    const int own = lane % 4;
    const Body<T> body = Body<T>::literal(value, negated);
    const Odds head = of_group<4>(value, 3);
    // The halves of the tree: (0, 1), (2, neutral).
    const Body<T> x = of_group<4>(body, own < 2 ? 2 : 0), y = of_group<4>(body, own == 0 ? 1 : own == 1 ? 0 : 1);
    const HeadWeights<T> weights(head, f);
    const Body<T> rest = combine(x, y), all = combine(rest, of_group<4>(body, 2));
    return fraction(own == 3, negated, weights, rest, all, f);
}

/// The same for factors with more than eight variables; out of the way of the others.
template <class T>
__device__ __noinline__ Fraction<T> message_of_warp(uint32_t lane, uint64_t value, bool negated, HeadValues f) {
    return group_message<T, 5>(lane, Packed{value}, negated, f);
}

/// The message of a factor of up to eight variables to that of this thread, by groups of 2^levels threads, in the numbers T.
template <class T>
__device__ __forceinline__ Fraction<T> message_of_few(uint32_t levels, uint32_t lane, Packed value, bool negated,
                                                      const HeadValues &f) {
    return levels == 2   ? message_of_four<T>(lane, value, negated, f)
           : levels == 1 ? message_of_two<T>(lane, value, negated, f)
                         : group_message<T, 3>(lane, value, negated, f);
}

/// The same of any factor.
template <class T>
__device__ __forceinline__ Fraction<T> message_of_group(uint32_t levels, uint32_t lane, Packed value, bool negated,
                                                        const HeadValues &f) {
    return levels <= 3 ? message_of_few<T>(levels, lane, value, negated, f)
                       : group_message<T, 5>(lane, value, negated, f);
}

/// The same for maxima.
template <class T>
__device__ __noinline__ Fraction<T> maximum_of_group(uint32_t levels, uint32_t lane, uint64_t value, bool negated,
                                                     HeadValues f) {
    const Fraction<Max<T>> maximum = message_of_group<Max<T>>(levels, lane, Packed{value}, negated, f);
    return Fraction<T>{maximum.above.value, maximum.below.value};
}

/// The same of up to eight variables.
template <class T>
__device__ __noinline__ Fraction<T> maximum_of_few(uint32_t levels, uint32_t lane, uint64_t value, bool negated,
                                                   HeadValues f) {
    const Fraction<Max<T>> maximum = message_of_few<Max<T>>(levels, lane, Packed{value}, negated, f);
    return Fraction<T>{maximum.above.value, maximum.below.value};
}

/// The same of more, where doubles do not do.
__device__ __forceinline__ Packed maximum_of_warp(uint32_t lane, Packed value, bool negated, const HeadValues &f) {
    const Fraction<Max<Far>> maximum = group_message<Max<Far>, 5>(lane, value, negated, f);
    return Fraction<Far>{maximum.above.value, maximum.below.value}.ratio();
}

/// As far_message, of up to eight variables, where exponents are far from what doubles have.
__device__ __noinline__ inline uint64_t farther_message(uint32_t levels, uint32_t lane, uint64_t value, bool negated,
                                                        HeadValues f) {
    return message_of_few<Loose>(levels, lane, Packed{value}, negated, f).ratio().bits;
}

/// The message of a factor to the variable of this thread where doubles do not do. For few variables there are numbers that take
/// fewer instructions.
__device__ __forceinline__ Packed far_message(uint32_t lane, const LevelUnit &unit, Packed value, bool negated,
                                              const HeadValues &f, bool of_maxima) {
    const uint32_t levels = unit.levels();
    if (levels > 3) {
        return of_maxima ? maximum_of_warp(lane, value, negated, f) : group_message<Far, 5>(lane, value, negated, f).ratio();
    }
    if (unit.range() == 0 || !may_be_balanced(levels, value)) {
        return of_maxima ? maximum_of_few<Loose>(levels, lane, value.bits, negated, f).ratio()
                         : Packed{farther_message(levels, lane, value.bits, negated, f)};
    }
    if (of_maxima) {
        return maximum_of_few<BalancedFar>(levels, lane, value.bits, negated, f).ratio();
    }
    return message_of_few<BalancedFar>(levels, lane, value, negated, f).ratio();
}

/// The same whatever its input is.
__device__ __forceinline__ Packed any_message(uint32_t lane, const LevelUnit &unit, Packed value, bool negated,
                                              const HeadValues &f, bool of_maxima) {
    const uint32_t levels = unit.levels();
    if (__all_sync(~0u, unit.fits(value))) {
        const Fraction<double> fraction =
            in_doubles(of_maxima ? maximum_of_group<Balanced>(levels, lane, value.bits, negated, f)
                                 : message_of_group<Balanced>(levels, lane, value, negated, f));
        if (__all_sync(~0u, fraction.is_plain())) {
            return fraction.ratio();
        }
    }
    return far_message(lane, unit, value, negated, f, of_maxima);
}

__device__ __forceinline__ UnitWays &ways_of_warp() {
    __shared__ UnitWays all[LEVEL_THREADS / 32];
    return all[threadIdx.x / 32];
}
static_assert(WAY_WORDS == 32, "each thread of a warp has one");

/// How a unit is sent: the usual way; by digits, where messages are no doubles; or as any.
constexpr uint32_t WAY_USUAL = 0;
constexpr uint32_t WAY_BY_DIGITS = 1;
constexpr uint32_t WAY_ANY = 2;

/// Notes the way of a unit of a warp, two bits; all of its threads call this.
__device__ __forceinline__ void note_way(uint64_t &ways, uint32_t shift, uint32_t way, uint32_t lane) {
    __syncwarp();
    if (lane == 0) {
        ways |= uint64_t(way) << shift;
    }
    __syncwarp();
}

/// The units of a warp, and what is at hand of them when a pass begins: in shared memory, as blocks that meet leave
/// nothing in the cache.
struct LevelQueue {
    uint32_t begin, end;
    LevelUnit unit, next;
    uint4 words[32];
    HubWords hub[32];

    __device__ __forceinline__ LevelUnit load(const Binary &g, uint32_t at) const {
        const uint2 unit = __ldg(reinterpret_cast<const uint2 *>(g.level_units) + smaller_of(at, end - 1));
        return LevelUnit{unit.x, unit.y};
    }

    /// The words of a unit's first hubs, or of its first one in pieces.
    static __device__ __forceinline__ HubWords load_hub(const Binary &g, const LevelUnit &unit, uint32_t lane) {
        return (unit.wide_rounds() | unit.giants()) != 0 ? load_words(g.level_words + unit.first_hub() * 32 + lane)
                                                         : HubWords{0, HUB_NOTHING, 0, 0};
    }

    __device__ __forceinline__ void fill(const Binary &g) {
        const uint32_t warp = thread_of_grid() / 32, lane = threadIdx.x % 32;
        ways_of_warp().words[lane] = g.level_ways[warp].words[lane];
        if (lane == 0) {
            begin = g.level_starts[warp];
            end = g.level_starts[warp + 1];
            if (begin != end) {
                unit = load(g, begin);
                next = load(g, begin + 1);
            }
        }
        __syncwarp();
        if (begin != end) {
            words[lane] = load_words(g.level_words + unit.chunk * 32 + lane);
            hub[lane] = load_hub(g, unit, lane);
        }
        __syncwarp();
    }

    /// Leaves to the next launch what was found of units: each that has to be sent twice makes others wait.
    static __device__ __forceinline__ void keep(const Binary &g) {
        __syncwarp();
        const uint32_t lane = threadIdx.x % 32;
        g.level_ways[thread_of_grid() / 32].words[lane] = ways_of_warp().words[lane];
    }
};

__device__ __forceinline__ LevelQueue &queue_of_warp() {
    __shared__ uint4 all[LEVEL_THREADS / 32 * sizeof(LevelQueue) / sizeof(uint4)];
    return reinterpret_cast<LevelQueue *>(all)[threadIdx.x / 32];
}

/// What is read ahead of the next unit, and which one follows that.
struct LevelAhead {
    uint4 words;
    HubWords hub;
    LevelUnit after;

    LevelAhead() = default;
    __device__ __forceinline__ LevelAhead(const Binary &g, const LevelQueue &queue, const LevelUnit &next, uint32_t at,
                                          uint32_t lane)
        : words(load_words(g.level_words + next.chunk * 32 + lane)), hub(LevelQueue::load_hub(g, next, lane)),
          after(queue.load(g, at + 2)) {}
};

/// What became of a unit that was sent apart.
struct SentApart {
    LevelAhead ahead;
    bool sent;
};

/// The soft evidence of the variable of a thread of a unit, a one without, and whether any of the unit's variables has some.
struct SoftInput {
    Packed own;
    bool is_any;

    /// Given the input's word, in runs with options. All threads of the warp.
    __device__ __forceinline__ SoftInput(uint32_t input, bool options)
        : own(Packed::one()), is_any(is_in_warp(input, options)) {
        if (is_any && level_input_soft(input)) {
            own = shared_block().g.soft_of_slot(level_input_slot(input));
        }
    }

    /// Most runs with options have none.
    static __device__ __forceinline__ bool is_in_warp(uint32_t input, bool options) {
        return options && shared_block().g.soft && __any_sync(~0u, level_input_soft(input));
    }
};

/// What a thread of a unit has to do, but for reading.
struct LevelInput {
    uint32_t slot, second;
    Wanted wanted;
    Packed value, old;
    HeadValues f;

    __device__ __forceinline__ LevelInput(const Block &block, const Places &places, const uint4 &words)
        : slot(level_input_slot(words.x)), second(words.y), value(Packed::one()) {
        const uint32_t source = level_input_source(words.x);
        // What an observed variable sends is known.
        value = source == SOURCE_FALSE ? Packed::zero() : source == SOURCE_TRUE ? Packed::infinity() : Packed::one();
        const bool is_read = source == SOURCE_READ;
        wanted = Wanted{is_read ? level_want_round(second) : ~uint32_t(0), level_want_thread(second),
                        is_read ? level_input_last(words.x) : 0};
        f = block.coefficients_of(level_want_coefficients(second)).head;
        old = is_sent() ? Packed{start_reading(places, slot, false)} : Packed::one();
    }

    __device__ __forceinline__ bool is_sent() const { return level_want_sent(second); }
    __device__ __forceinline__ bool is_negated() const { return level_want_negated(second); }

    /// Multiplies by soft evidence where doubles do, and returns whether.
    __device__ __forceinline__ bool multiply(Packed soft) {
        const bool is_certain = is_certain_half(high_half(value.bits)) | is_certain_half(high_half(soft.bits));
        const double product = value.plain() * soft.plain();
        value = Packed{to_bits(product)};
        const uint32_t exponent = static_cast<uint32_t>(value.bits >> 52) - static_cast<uint32_t>(BIAS - PLAIN_EXPONENT);
        return (exponent <= 2 * PLAIN_EXPONENT) | (is_certain & (value == Packed::zero() || value == Packed::infinity()));
    }

    /// Takes over what a variable sends from the thread that has it, if it is meant, times soft evidence if some variable has it;
    /// notes if certain messages disagree there. All threads of the warp.
    __device__ __forceinline__ void take_sent(uint32_t round, const ProductSent &product, const SoftInput &soft) {
        if (soft.is_any) {
            const Sent own = product.of_thread(wanted.thread).times(ProductSent::of(soft.own)).sent();
            if (wanted.round == round) {
                value = Packed{own.bits};
                if (own.contradictory) {
                    note_met(tally_of_pass(), variable_of_slot(shared_block().g, slot));
                }
            }
            return;
        }
        const Sent sent = product.sent();
        const uint64_t bits = __shfl_sync(~0u, sent.bits, wanted.thread);
        value = wanted.round == round ? Packed{bits} : value;
        const bool disagreed = __shfl_sync(~0u, static_cast<int>(sent.contradictory), wanted.thread) != 0;
        if (wanted.round == round && disagreed) {
            note_met(tally_of_pass(), variable_of_slot(shared_block().g, slot));
        }
    }
};

/// Which hubs a unit may have: those of one round, or none; of several rounds, and it has two or more; or any, one in pieces among
/// them. Rounds are read while those before are waited for.
enum class Hubs { ONE_ROUND, ROUNDS, IN_PIECES };

/// What a warp does in a pass, of a run that may be damped or of maxima if it has options; then factors may have warps of their own,
/// too.
template <bool OPTIONS>
struct LevelWork {
    Places places;

    static __device__ __forceinline__ bool of_maxima() { return OPTIONS && shared_block().g.maxima != 0; }

    /// Computes and sends the messages of a unit if `fits` and more; returns whether.
    __device__ __forceinline__ bool send_if(bool fits, uint32_t lane, const LevelUnit &unit,
                                            const LevelInput &input) const {
        const uint32_t levels = unit.levels();
        fits &= unit.fits(input.value);
        const Fraction<double> fraction = in_doubles(
            of_maxima() ? maximum_of_group<Balanced>(levels, lane, input.value.bits, input.is_negated(), input.f)
            // (message_of_few is a comparison more for most units, which is 2 % of SEQFIX on Math-3.)
            : levels == 2 ? message_of_four<Balanced>(lane, input.value, input.is_negated(), input.f)
            : levels == 1 ? message_of_two<Balanced>(lane, input.value, input.is_negated(), input.f)
            : levels == 3 ? group_message<Balanced, 3>(lane, input.value, input.is_negated(), input.f)
                          : message_of_warp<Balanced>(lane, input.value.bits, input.is_negated(), input.f));
        fits &= fraction.is_plain();
        const Packed message = fraction.ratio();
        // Asked for here, it costs no time.
        if (!__all_sync(~0u, fits)) {
            return false;
        }
        if (input.is_sent()) {
            send_message<OPTIONS>(places, input.slot, message, input.old);
        }
        return true;
    }

    /// A unit that is usual; `hub` are the words of its first round of hubs, or else of its hub in pieces. HUBS: which hubs it may
    /// have. SOFT: some variable has soft evidence. BY_DIGITS: messages need not be doubles. Calls `begun` when messages are on their
    /// way. Returns whether that was right: if not, all of it is to be done again.
    template <Hubs HUBS, bool SOFT, bool BY_DIGITS, class Begun>
    __device__ __forceinline__ bool send_usual(uint32_t lane, const LevelUnit &unit, const uint4 &words,
                                               const HubWords &hub, const Begun &begun) const {
        constexpr bool MANY = HUBS != Hubs::ONE_ROUND;
        const uint32_t leaves[2] = {words.z, words.w};
        const uint32_t rounds = unit.rounds(), hubs = unit.wide_rounds();
        const bool few = unit.has_few(), in_pieces = HUBS == Hubs::IN_PIECES && unit.giants() > 0;
        const uint4 *const chunk = shared_block().g.level_words + unit.first_hub() * 32 + lane;
        bool fits = true;
        PieceShare above = PieceShare::none();
        VersionReading version;
        bool reads_version = false;
        HubReadings wide[MANY ? 2 : 1];
        if (in_pieces) {
            const HubWords giant = hubs > 0 ? load_words(chunk + hubs * 32) : hub;
            const uint4 *const versions = chunk + hubs * 32 - lane;
            reads_version = giant.w <= MOST_OF_ONE_HEIGHT;
            if (reads_version) {
                version = VersionReading(places.buffer, versions);
            } else {
                above = share_above_piece(other_versions(places.buffer, versions, giant));
            }
            wide[0].start(places, giant, false);
        } else {
            wide[0].start(places, hub, false);
        }
        // The hub in pieces comes first, and then the others, of which there may be none.
        uint32_t next = in_pieces ? 0 : 1, of_wide[2] = {in_pieces ? rounds + hubs : rounds, 0};
        HubWords words_after;
        const bool has_others = HUBS == Hubs::ROUNDS || hubs > 0;
        const auto load_hub = [&](uint32_t round) {
            return has_others ? load_words(chunk + smaller_of(round, hubs - 1) * 32) : HubWords{0, HUB_NOTHING, 0, 0};
        };
        if (MANY) {
            wide[1].start(places, load_hub(next), false);
            words_after = load_hub(next + 1);
        }
        RoundReadings readings;
        readings.start(places, leaves, false);
        LevelInput input(shared_block(), places, words);
        LastReading last(places, input.slot ^ input.wanted.last, input.wanted.last != 0,
                         (words.z & LEAF_LAST_IS_OLD) == 0);
        Partial partial = Partial::of(input.value);
        const SoftInput soft(words.x, SOFT);
        begun();
        if (MANY) {
            wait_before(places, readings, wide[0], wide[1]);
        } else {
            wait_for(places, readings, wide[0]);
        }
        // What is looked at again now is there when it is needed.
        last.look_again();
        fits &= take_rounds<BY_DIGITS>(readings, input.wanted, partial);
        if (MANY) {
            if (reads_version) {
                wait_before(places, version, wide[0], wide[1]);
                last.look_again();
                above = share_above_piece(version.above(wide[0].words.z));
            }
            // Of the last two rounds, messages may come at the same time.
            for (; next + 1 < hubs; ++next) {
                wait_before(places, wide[0], wide[1]);
                last.look_again();
                fits &= take_hubs<1, BY_DIGITS>(wide, above.above, of_wide, few, input.wanted, partial);
                above.above = Share{1.0, 0};
                of_wide[0] = rounds + next;
                wide[0] = wide[1];
                wide[1].start(places, words_after, false);
                words_after = load_hub(next + 2);
            }
            wait_for(places, wide[0], wide[1]);
            last.look_again();
            of_wide[1] = rounds + next;
            // Most units with a hub in pieces have no other one.
            fits &= has_others ? take_hubs<2, BY_DIGITS>(wide, above.above, of_wide, few, input.wanted, partial)
                               : take_hubs<1, BY_DIGITS>(wide, above.above, of_wide, few, input.wanted, partial);
        } else if (hubs > 0) {
            fits &= take_hubs<1, BY_DIGITS>(wide, above.above, of_wide, few, input.wanted, partial);
        }
        const bool of_pieces = in_pieces && input.wanted.round == rounds + hubs;
        partial.decide(of_pieces ? above.exponent : 0);
        last.wait();
        if (BY_DIGITS) {
            Completed completed = partial.complete_by_digits(last.value());
            if (SOFT) {
                completed = completed.times(soft.own);
            }
            if (!__all_sync(~0u, fits & completed.is_number())) {
                return false;
            }
            if (unit.levels() <= 2 && unit.range() != 0 && !of_maxima()) {
                const FarOdds odds = FarOdds::rounded(completed.product, completed.exponent);
                const bool negated = input.is_negated();
                const Packed message = unit.levels() == 2 ? message_of_four<LooseInRange>(lane, odds, negated, input.f).ratio()
                                                          : message_of_two<LooseInRange>(lane, odds, negated, input.f).ratio();
                if (input.is_sent()) {
                    send_message<OPTIONS>(places, input.slot, message, input.old);
                }
                return true;
            }
            send_far(*this, unit, input.slot, input.second, completed.packed().bits, input.old.bits);
            return true;
        }
        Completed completed;
        fits &= partial.complete(last.value(), completed);
        input.value = completed.plain();
        const bool is_near = fits;
        fits &= completed.is_plain();
        if (SOFT) {
            fits &= input.multiply(soft.own);
        }
        if (send_if(fits, lane, unit, input)) {
            return true;
        }
        // Where variables' messages are right, no doubles did for them, or for the factors.
        if (SOFT || !__all_sync(~0u, is_near)) {
            return false;
        }
        Packed value = completed.packed();
        bool is_right = completed.is_number();
        FASTLBP_UNROLL
        for (int i = 0; i < 2; ++i) {
            // What the one other factor of a variable has sent may be no double.
            const Packed read = Packed{__shfl_sync(~0u, readings.bits[i], input.wanted.thread)};
            const bool is_single = __shfl_sync(~0u, readings.width(i), input.wanted.thread) == 0;
            const bool is_meant = is_single && i < rounds && input.wanted.round == static_cast<uint32_t>(i);
            value = !is_meant ? value : input.wanted.last != 0 ? last.value() : read;
            is_right |= is_meant;
        }
        if (!__all_sync(~0u, is_right)) {
            return false;
        }
        send_far(*this, unit, input.slot, input.second, value.bits, input.old.bits);
        return true;
    }

    /// The messages of a unit whose factors doubles do not do for. Only this is out of the way: code that is seldom needed comes
    /// from the second-level cache, and the less of it there is, the shorter the wait.
    static __device__ __noinline__ void send_far(LevelWork work, LevelUnit unit, uint32_t slot, uint32_t second,
                                                 uint64_t value, uint64_t old) {
        const HeadValues f = shared_block().coefficients_of(level_want_coefficients(second)).head;
        const Packed message = far_message(lane_of_warp(), unit, Packed{value}, level_want_negated(second), f,
                                           of_maxima());
        if (level_want_sent(second)) {
            send_message<OPTIONS>(work.places, slot, message, Packed{old});
        }
    }

    /// The same of a unit whose messages doubles do not do for. Returns whether that was right: certain messages may disagree, or
    /// exponents add up to too much.
    static __device__ __noinline__ bool send_by_digits(LevelWork work, LevelUnit unit, uint4 words, HubWords hub) {
        return work.template send_usual<Hubs::ONE_ROUND, OPTIONS, true>(lane_of_warp(), unit, words, hub, [] {});
    }

    /// The same of a unit with other HUBS, or with soft evidence, out of the way of most units. Gets what it needs by value, so that
    /// this can stay in registers elsewhere; and reads ahead itself, as before a call all that is on its way is waited for.
    template <Hubs HUBS, bool SOFT>
    static __device__ __noinline__ SentApart send_apart(LevelWork work, LevelUnit unit, uint4 words, HubWords hub,
                                                        LevelUnit next, uint32_t at) {
        const uint32_t lane = lane_of_warp();
        SentApart apart;
        const auto begun = [&] {
            apart.ahead = LevelAhead(shared_block().g, queue_of_warp(), next, at, lane);
        };
        apart.sent = work.template send_usual<HUBS, SOFT, false>(lane, unit, words, hub, begun);
        return apart;
    }

    /// A unit that is usual.
    __device__ __forceinline__ bool send(uint32_t lane, const LevelUnit &unit, const uint4 &words, const HubWords &hub,
                                         const LevelUnit &next, uint32_t at, LevelAhead &ahead) const {
        const bool is_soft = SoftInput::is_in_warp(words.x, OPTIONS);
        if (is_soft || unit.wide_rounds() > 1 || unit.giants() > 0) {
            constexpr Hubs ANY = Hubs::IN_PIECES;
            const SentApart apart = is_soft               ? send_apart<ANY, OPTIONS>(*this, unit, words, hub, next, at)
                                    : unit.giants() > 0 ? send_apart<ANY, false>(*this, unit, words, hub, next, at)
                                                        : send_apart<Hubs::ROUNDS, false>(*this, unit, words, hub, next, at);
            ahead = apart.ahead;
            return apart.sent;
        }
        ahead = LevelAhead(shared_block().g, queue_of_warp(), next, at, lane);
        return send_usual<Hubs::ONE_ROUND, false, false>(lane, unit, words, hub, [] {});
    }

    /// Any unit, as send_apart.
    static __device__ __noinline__ void send_any(LevelWork work, LevelUnit unit, uint4 words) {
        const Places &places = work.places;
        const uint32_t lane = lane_of_warp(), rounds = unit.rounds(), wide_rounds = unit.wide_rounds();
        const uint4 *const chunks = shared_block().g.level_words;
        const uint4 *chunk = chunks + unit.first_hub() * 32;
        HubReadings hub;
        if (wide_rounds > 0) {
            hub.start(places, load_words(chunk + lane), true);
        }
        uint32_t leaves[2] = {words.z, words.w};
        RoundReadings readings;
        readings.start(places, leaves, true);
        LevelInput input(shared_block(), places, words);
        const SoftInput soft(words.x, OPTIONS);
        if (level_input_soft(words.x)) {
            // All that a variable sends that has no other factor.
            input.value = soft.own;
        }
        for (uint32_t round = 0; round < rounds; ++round) {
            const bool first = round % 2 == 0;
            if (first) {
                wait_for(places, readings);
            }
            input.take_sent(round, far_others_of_group(first ? readings.bits[0] : readings.bits[1],
                                                       first ? readings.width(0) : readings.width(1)), soft);
            if (!first && round + 1 < rounds) {
                const uint32_t next = round - 1;
                const uint4 four = load_words(chunks + (unit.chunk + 1 + next / 4) * 32 + lane);
                leaves[0] = next % 4 == 0 ? four.x : four.z;
                leaves[1] = next % 4 == 0 ? four.y : four.w;
                readings.start(places, leaves, true);
            }
        }
        for (uint32_t i = 0; i < wide_rounds; ++i) {
            Packed values[8];
            wait_for(places, hub);
            hub.take(values);
            const HubWords current = hub.words;
            chunk += 32;
            if (i + 1 < wide_rounds) {
                hub.start(places, load_words(chunk + lane), true);
            }
            input.take_sent(rounds + i, any_message_of_eight(current, values, Product::neutral()), soft);
        }
        for (uint32_t i = 0; i < unit.giants(); ++i) {
            const HubWords giant = load_words(chunk + lane);
            input.take_sent(rounds + wide_rounds + i, message_of_pieces(places, chunk, giant), soft);
            chunk += 32 * CHUNKS_OF_GIANT;
        }
        if (OPTIONS && unit.is_of_node()) {
            serve_node(work, load_words(chunk + lane), input.slot, input.second, input.value.bits, input.old.bits);
            return;
        }
        const Packed message = any_message(lane, unit, input.value, input.is_negated(), input.f, of_maxima());
        if (input.is_sent()) {
            send_message<OPTIONS>(places, input.slot, message, input.old);
        }
    }

    /// A unit of a factor with warps of its own, when its inputs are there.
    static __device__ __noinline__ void serve_node(LevelWork work, uint4 words, uint32_t slot, uint32_t second, uint64_t value,
                                                   uint64_t old) {
        const NodeWords node(words);
        const bool is_sent = level_want_sent(second);
        Packed message;
        if (node.kind == NODE_SMALL_TABLES) {
            message = Packed{message_of_small_table(node.own, value)};
        } else if (node.kind == NODE_OTHER_FACTOR) {
            const uint32_t sent = __ballot_sync(~0u, is_sent), arity = __popc(__ballot_sync(~0u, node.takes()));
            const uint32_t target = __popc(sent) == 1 ? __popc(sent - 1) : ALL;
            message = Packed{message_of_other_factor(node.own, arity, target, value)};
        } else {
            const Literal literal = {Packed{value}, level_want_negated(second), node.takes()};
            const HornCoefficients &coefficients = shared_block().coefficients_of(level_want_coefficients(second));
            message = message_of_node(work.places, node, literal, coefficients, of_maxima());
        }
        if (is_sent) {
            send_message<OPTIONS>(work.places, slot, message, Packed{old});
        }
    }

    /// The product of a piece of a hub, or of a piece's parts; then the last word is 1.
    static __device__ __noinline__ void multiply(LevelWork work, HubWords words) {
        const Places &places = work.places;
        Product product;
        if (words.w != 0) {
            product = product_of_parts(places.buffer, words.x);
        } else {
            HubReadings readings;
            readings.start(places, words, true);
            wait_for(places, readings);
            Packed values[8];
            readings.take(values);
            product = product_of_piece(values);
        }
        if (lane_of_warp() == 0) {
            send_version(places, words.z, product);
        }
    }

    /// A unit that is not sent the usual way, given how it was sent before. Returns how it is sent now.
    static __device__ __noinline__ uint32_t send_otherwise(LevelWork work, LevelUnit unit, uint4 words, HubWords hub, uint32_t way) {
        if (unit.multiplies()) {
            multiply(work, words);
            return WAY_USUAL;
        }
        if (unit.is_of_variables()) {
            const MessageWords of_thread(words);
            const uint4 *const versions =
                unit.giants() > 0 ? shared_block().g.level_words + unit.first_hub() * 32 : nullptr;
            if (way == WAY_USUAL && (versions ? send_messages<true>(work.places, of_thread, hub, versions, OPTIONS)
                                              : send_messages<false>(work.places, of_thread, hub, versions, OPTIONS))) {
                return WAY_USUAL;
            }
            send_any_messages(work.places, of_thread, hub, versions, OPTIONS);
            return WAY_ANY;
        }
        if (way < WAY_ANY && unit.has_few_rounds() && !unit.is_of_node() && send_by_digits(work, unit, words, hub)) {
            return WAY_BY_DIGITS;
        }
        send_any(work, unit, words);
        return WAY_ANY;
    }

    /// All messages of a warp; what comes next is read ahead.
    __device__ __forceinline__ void send_all(const LevelQueue &queue) const {
        const uint32_t begin = queue.begin, end = queue.end;
        if (begin == end) {
            return;
        }
        const Binary &g = shared_block().g;
        const uint32_t lane = lane_of_warp();
        LevelUnit unit = queue.unit, next = queue.next;
        uint4 words = queue.words[lane], hub = queue.hub[lane];
        UnitWays &ways_of_units = ways_of_warp();
        for (uint32_t at = begin;;) {
            const uint32_t shift = 2 * ((at - begin) & 31);
            uint64_t &ways = ways_of_units.words[(at - begin) / 32 % WAY_WORDS];
            const uint32_t way = static_cast<uint32_t>(ways >> shift) & 3;
            LevelAhead ahead;
            const bool sent = unit.is_usual() && way == WAY_USUAL && send(lane, unit, words, hub, next, at, ahead);
            if (!sent) {
                ahead = LevelAhead(g, queue, next, at, lane);
                const uint32_t taken = send_otherwise(*this, unit, words, hub, way);
                if (taken > way) {
                    note_way(ways, shift, taken, lane);
                }
            }
            if (++at == end) {
                return;
            }
            unit = next;
            words = ahead.words;
            hub = ahead.hub;
            next = ahead.after;
        }
    }
};

/// The turn in which nobody reads the first state of a run any more: what factors with one variable send is put there,
/// as binary_begin has put it in the others.
constexpr uint64_t CONSTANTS_TURN = 2;

__device__ __forceinline__ void place_constants(const Binary &g, const Places &places) {
    // The last warp has no messages.
    for (uint32_t i = thread_of_grid(); i < g.constant_count; i += threads_of_grid() - 32) {
        places.messages[places.reset + g.constant_slots[i]] = g.constants[i];
    }
}

/// In damped runs these are sent in each turn.
__device__ __forceinline__ void send_constants(const Binary &g, const Places &places) {
    for (uint32_t i = thread_of_grid(); i < g.constant_count; i += threads_of_grid() - 32) {
        const uint32_t slot = g.constant_slots[i];
        send_message<true>(places, slot, g.constants[i], Packed{start_reading(places, slot, false)});
    }
}

}  // namespace fastlbp
