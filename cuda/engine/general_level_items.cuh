// Factors by levels. A *level item* is what a warp sends at a time: a message of a table of two variables, of which lanes have a
// state each; messages of conjunctions side by side, a lane for each variable; or messages of any factor that read the same. It says
// all that the warp has to know but the messages themselves: of each variable where its messages lie, which of up to eight are new,
// and which one is not to be multiplied. Items are loaded before their level begins, so that messages are all that is waited for
// behind the barrier. What is usual is computed without calling a function, since ptxas would store what has been loaded around
// the call, and so wait for it.
#pragma once

#include "general_factors.cuh"

namespace fastlbp {

struct LevelItem : LevelItemData {
    FASTLBP_DEVICE uint32_t kind() const { return level_item_kind(more); }
    FASTLBP_DEVICE uint32_t arity() const { return level_item_arity(more); }
    /// The position of the only message that is sent, of a table of two variables.
    FASTLBP_DEVICE uint32_t target() const { return level_item_target(more); }
    /// Of conjunctions as WarpLane::range; of tables of two variables whether its entries are near one.
    FASTLBP_DEVICE uint32_t range() const { return level_item_range(more); }
    /// Lanes that read the message of a variable.
    FASTLBP_DEVICE LaneGroup readers() const { return LaneGroup(uint32_t(1) << level_item_readers(more)); }
    FASTLBP_DEVICE bool has_many() const { return level_item_many(more); }
    /// Inputs of all factors of it.
    FASTLBP_DEVICE uint32_t all_inputs() const { return kind() == LEVEL_CONJUNCTION ? arity() * count : arity(); }
    /// The number among the inputs of the one that this lane reads first.
    FASTLBP_DEVICE uint32_t first_position() const { return kind() == LEVEL_PAIR ? 1 - target() : readers().number(); }
};

struct ItemInput : ItemInputData {
    FASTLBP_DEVICE uint32_t source() const { return item_input_source(more); }
    FASTLBP_DEVICE uint32_t leaf() const { return item_input_leaf(more); }
    FASTLBP_DEVICE uint32_t newer() const { return item_input_newer(more); }
    FASTLBP_DEVICE bool is_negated() const { return item_input_negated(more); }
    FASTLBP_DEVICE uint32_t width() const { return item_input_width(more); }
    FASTLBP_DEVICE bool has_few() const { return source() - 1 < static_cast<uint32_t>(BLOCK); }
    /// Where the messages to the variable start, if they are few.
    FASTLBP_DEVICE uint32_t first_place() const { return place - leaf() * width(); }
};

static_assert(sizeof(LevelItem) == 2 * 16 && sizeof(ItemInput) == 16, "loads of 16 bytes");

FASTLBP_DEVICE LevelItem load_level_item(const LevelItem *item) {
#ifdef __CUDACC__
    const uint4 *const words = reinterpret_cast<const uint4 *>(item);
    const uint4 a = words[0], b = words[1];
    LevelItem loaded;
    loaded.factor = a.x;
    loaded.first = a.y;
    loaded.inputs = a.z;
    loaded.rank = a.w;
    loaded.values = static_cast<uint64_t>(b.y) << 32 | b.x;
    loaded.count = b.z;
    loaded.more = b.w;
    return loaded;
#else
    return *item;
#endif
}

FASTLBP_DEVICE ItemInput load_item_input(const ItemInput *input) {
#ifdef __CUDACC__
    const uint4 words = *reinterpret_cast<const uint4 *>(input);
    ItemInput loaded;
    loaded.variable = words.x;
    loaded.place = words.y;
    loaded.edge = words.z;
    loaded.more = words.w;
    return loaded;
#else
    return *input;
#endif
}

/// What warps read at a level, kept where no call can change it and no barrier makes it anew.
struct LevelArrays {
    const LevelItem *items;
    const uint32_t *levels;
    const ItemInput *inputs;
    const uint32_t *conjunctions;
    const double *tables;
    const HornCoefficients *horn;
    const uint32_t *known;
    const Packed *weights;
    const uint32_t *variable_values;
    const Packed *old_values;
    Packed *new_values;
    bool maxima;

    FASTLBP_DEVICE LevelArrays(const General &g, const Pass &pass)
        : items(g.level_items.items), levels(g.level_items.levels), inputs(g.item_inputs),
          conjunctions(g.conjunction_inputs), tables(g.table_values), horn(g.horn), known(g.known), weights(g.weights),
          variable_values(g.variable_values), old_values(pass.old_values), new_values(pass.new_values),
          maxima(g.maxima != 0) {}

    /// Soft evidence, or the observation, of a variable of several states.
    FASTLBP_DEVICE Packed weight(uint32_t variable, uint32_t state) const {
        return weights[(variable_values ? variable_values[variable] : variable) + state];
    }
};

/// The messages for a state of a variable of up to eight, the one that is left out first, as a one, the others where the tree over
/// all has them as seen from there: its neighbour, the two beside these, and the other four.
FASTLBP_DEVICE void load_few(const Packed *old_values, const Packed *new_values, const ItemInput &input, uint32_t state,
                             Packed (&values)[BLOCK]) {
    const uint32_t count = input.source(), width = input.width(), newer = input.newer();
    const uint32_t first = input.first_place() + state;
    values[0] = Packed::one();
    FASTLBP_UNROLL
    for (uint32_t i = 1; i < BLOCK; ++i) {
        const uint32_t index = input.leaf() ^ i;
        const Packed *const messages = (newer >> i & 1) != 0 ? new_values : old_values;
        values[i] = index < count ? messages[first + index * width] : Packed::one();
    }
}

/// The message of a variable of up to eight that is not observed, by lanes with a state each, or several, of those with a
/// `width`, whatever messages are. All lanes of the warp call it.
FASTLBP_DEVICE_COLD void read_far_few(const General &g, const Pass &pass, ItemInput input, uint32_t width, uint32_t known,
                                      Packed *out, LaneGroup lanes) {
    const auto product = [&](uint32_t state) {
        Packed values[BLOCK];
        load_few(pass.old_values, pass.new_values, input, state, values);
        const Product others = times_others(Product::neutral(), values, 0);
        return known == KNOWN_WEIGHTS ? combine(others, Product::of(g.weights_of(input.variable)[state])) : others;
    };
    // Negated, so that both searches are for the largest.
    uint32_t fewest = 0;
    int64_t top = INT64_MIN;
    Product first = Product::neutral();
    for (uint32_t x = lanes.rank(); x < width; x += lanes.size) {
        const Product own = product(x);
        first = x == lanes.rank() ? own : first;
        fewest = larger_of(fewest, ~own.zeros);
        top = own.zeros == 0 ? larger_of(top, own.exponent) : top;
    }
    fewest = ~lanes.largest(fewest);
    top = lanes.largest(top);
    const bool is_binary = width == 1;
    for (uint32_t x = lanes.rank(); x < width; x += lanes.size) {
        out[x] = is_binary ? first.odds() : resolved(x == lanes.rank() ? first : product(x), fewest, top);
    }
    if (width > 0 && lanes.rank() == 0 && (is_binary ? first.is_contradictory() : fewest > 0)) {
        note_met(pass.tally, input.variable);
    }
}

/// What is no product of messages: of a variable that is observed or prepared, or ones where nothing is needed.
FASTLBP_DEVICE_COLD void read_known(const General &g, ItemInput input, uint32_t width, uint32_t known, Packed *out,
                                    LaneGroup lanes) {
    for (uint32_t x = lanes.rank(); x < width; x += lanes.size) {
        if (input.source() == LEVEL_PREPARED) {
            const Packed *const there = g.by_edge + g.input_of(input.edge);
            out[x] = there[x];
        } else if (!input.has_few()) {
            out[x] = Packed::one();
        } else if (width == 1) {
            out[x] = known == KNOWN_TRUE ? Packed::infinity() : Packed::zero();
        } else {
            out[x] = g.weights_of(input.variable)[x];
        }
    }
}

/// The value of a variable's message for the state that a lane has, of those that are `used`, if it is `usual`: of a variable of up
/// to eight messages which are near one, or that is observed, or one where it is not needed. Calls no function. All lanes of the
/// warp call it.
FASTLBP_DEVICE Packed read_usual(const LevelArrays &arrays, const ItemInput &input, bool is_used, const LaneGroup &lanes,
                                 bool &usual) {
    const bool has_few = is_used && input.has_few();
    const uint32_t known = has_few ? arrays.known[input.variable] : static_cast<uint32_t>(KNOWN_NOTHING);
    const uint32_t state = lanes.rank();
    Packed values[BLOCK];
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < BLOCK; ++i) {
        values[i] = Packed::one();
    }
    // Not only where it is not observed, so that nothing waits for that.
    if (has_few) {
        load_few(arrays.old_values, arrays.new_values, input, state, values);
    }
    const bool observed = is_observed(known), is_binary = input.width() == 1;
    Packed weight = known == KNOWN_TRUE ? Packed::infinity() : observed ? Packed::zero() : Packed::one();
    if (known == KNOWN_WEIGHTS || known == KNOWN_STATE) {
        weight = arrays.weight(input.variable, state);
    }
    const Packed soft[1] = {observed ? Packed::one() : weight};
    const bool near = all_near<64>(values) & all_near<64>(soft);
    double v[BLOCK];
    FASTLBP_UNROLL
    for (uint32_t i = 1; i < BLOCK; ++i) {
        v[i] = values[i].plain();
    }
    // times_others of product.cuh.
    const double others = ((((v[4] * v[5]) * (v[6] * v[7])) * (v[2] * v[3])) * v[1]) * soft[0].plain();
    const int32_t exponent = exponent_of(others), top = lanes.largest(has_few ? exponent : NO_EXPONENT);
    // As pack_below has it.
    const int32_t below = is_binary | !has_few ? exponent : exponent - top;
    const Packed message = {(to_bits(others) & FRACTION) | power_bits(below)};
    usual = !is_used | observed | (input.source() == 0) | (has_few & near & (below >= -PLAIN_EXPONENT));
    return observed ? weight : message;
}

/// The message of a variable along an edge by lanes, those of a variable of more than eight excepted. `width` is zero where there
/// is nothing to do. All lanes of the warp call it.
FASTLBP_DEVICE_COLD void read_item_input(const General &g, const Pass &pass, ItemInput input, uint32_t width, Packed *out,
                                         LaneGroup lanes) {
    bool usual;
    const bool is_used = lanes.rank() < width;
    const Packed value = read_usual(LevelArrays(g, pass), input, is_used, lanes, usual);
    usual &= width <= lanes.size;
    // What one lane cannot do, none of its group does.
    usual = lanes.largest(static_cast<uint32_t>(!usual)) == 0;
    if (is_used & usual) {
        out[lanes.rank()] = value;
    }
    if (!all_of_warp(usual | (width == 0))) {
        const uint32_t known = input.has_few() ? g.known[input.variable] : static_cast<uint32_t>(KNOWN_NOTHING);
        const bool is_free = input.has_few() && !is_observed(known);
        read_far_few(g, pass, input, is_free & !usual ? width : 0, known, out, lanes);
        read_known(g, input, is_free | usual ? 0 : width, known, out, lanes);
    }
}

/// The product of all messages to a variable of up to TILE but one, for a state, by the lanes of a warp: all of them get it.
struct OthersOfMany {
    const Incoming &incoming;
    uint32_t leaf;

    FASTLBP_DEVICE Product operator()(uint32_t state) const {
        const StateOfIncoming messages = {incoming, state};
        if (LANES == 1) {
            return product_of_others(messages, incoming.degree, leaf);
        }
        Packed leaves[BLOCK];
        read_block(messages, thread_of_block() % LANES * BLOCK, incoming.degree, leaves);
        const TileTree<LANE_LEVELS> tree(leaves);
        Product above = Product::neutral();
        FASTLBP_UNROLL
        for (uint32_t level = LANE_LEVELS; level-- > 0;) {
            above = combine(above, tree.siblings[level]);
        }
        return product_of_lane(times_others(above, leaves, leaf % BLOCK), leaf / BLOCK);
    }
};

#ifdef __CUDACC__

/// read_many of a binary variable that is not observed, if doubles do for the product: else `false`.
FASTLBP_DEVICE bool read_near_many(const Incoming &incoming, uint32_t leaf, Packed soft, uint32_t variable, Tally *tally,
                                   Packed *out) {
    Packed leaves[BLOCK], odds[BLOCK];
    read_block(StateOfIncoming{incoming, 0}, thread_of_block() % LANES * BLOCK, incoming.degree, leaves);
    PlainTree<LANE_LEVELS> tree(leaves);
    if (!all_of_warp(tree.is_exact() & !soft.is_certain() & is_near_value(soft))) {
        return false;
    }
    tree.multiply();
    tree.send(Product::neutral(), soft.plain(), odds);
    Packed own = odds[0];
    FASTLBP_UNROLL
    for (uint32_t i = 1; i < BLOCK; ++i) {
        own = i == leaf % BLOCK ? odds[i] : own;
    }
    if (thread_of_block() % LANES == leaf / BLOCK) {
        *out = own;
        const uint32_t bit = leaf % BLOCK;
        if (tree.zero_count() > (tree.zeros >> bit & 1) && tree.infinite_count() > (tree.infinities >> bit & 1)) {
            note_met(tally, variable);
        }
    }
    return true;
}

#endif

/// The message of a variable of more than eight along an edge, as edges of a rank see it, by a warp.
FASTLBP_DEVICE_COLD void read_many(const General &g, const Pass &pass, ItemInput input, uint32_t rank, Packed *out) {
    const uint32_t variable = input.variable, known = g.known[variable];
    const bool writing = thread_of_block() % LANES == 0;
    if (is_observed(known)) {
        if (writing) {
            store_observed(g, variable, out);
        }
        return;
    }
    const Incoming incoming(g, pass.old_values, pass.new_values, variable, rank);
#ifdef __CUDACC__
    const Packed soft = known == KNOWN_WEIGHTS ? *g.weights_of(variable) : Packed::one();
    if (incoming.width == 1 && read_near_many(incoming, input.leaf(), soft, variable, pass.tally, out)) {
        return;
    }
#endif
    const OthersOfMany others = {incoming, input.leaf()};
    if (store_message(with_evidence(g, variable, others), incoming.width, writing, out) && writing) {
        note_met(pass.tally, variable);
    }
}

/// Where the messages to conjunctions and tables are, those of variables of more than eight, until all have been read.
FASTLBP_DEVICE Packed *level_input(const LevelItem &item, uint32_t position) {
    return warp_memory().level.inputs + (item.kind() == LEVEL_PAIR ? 0 : position);
}

/// The messages of all variables of an item of more than eight that are needed.
FASTLBP_DEVICE_COLD void read_all_many(const General &g, const Pass &pass, LevelItem item) {
    for (uint32_t i = 0; i < item.all_inputs(); ++i) {
        const ItemInput input = load_item_input(g.item_inputs + item.inputs + i);
        if (input.source() == LEVEL_MANY) {
            Packed *const out = item.kind() == LEVEL_OTHER ? g.by_edge + g.input_of(input.edge) : level_input(item, i);
            read_many(g, pass, input, item.rank, out);
        }
    }
    sync_warp();
}

/// The next item of a warp in a level, and what this lane reads first of it, all known before the level begins.
struct LevelWork {
    uint32_t next, end;
    LevelItem item;
    ItemInput input;
    /// The word `conjunction_input`.
    uint32_t conjunction;
    /// Where the message is that this lane, or the warp, sends.
    uint32_t place;

    /// Nothing waits for what either of these loads, if there is some other work between them and behind them.
    FASTLBP_DEVICE void load_item(const LevelArrays &arrays) {
        if (next < end) {
            item = load_level_item(arrays.items + next);
        }
    }
    FASTLBP_DEVICE void load_input(const LevelArrays &arrays) {
        if (next < end) {
            const uint32_t number = item.first_position(), position = number < item.all_inputs() ? number : 0;
            const ItemInput *const inputs = arrays.inputs + item.inputs;
            conjunction = arrays.conjunctions[item.inputs + position];
            place = inputs[item.kind() == LEVEL_PAIR ? item.target() : position].place;
            input = load_item_input(inputs + position);
        }
    }
};

/// What a lane has to know of its part of a conjunction, but for where messages are.
FASTLBP_DEVICE WarpLane lane_of_item(const LevelItem &item, const ItemInput &input, uint32_t conjunction) {
    const uint32_t number = thread_of_block() % LANES, arity = item.arity();
    WarpLane lane;
    lane.place = lane.edge = 0;
    lane.parameter = conjunction_input_parameter(conjunction);
    lane.more = (arity - 1) << LANE_LITERALS_SHIFT | item.range() << LANE_RANGE_SHIFT;
    if (number < item.all_inputs()) {
        lane.more |= number % arity << LANE_INDEX_SHIFT | LANE_USED | (input.is_negated() ? LANE_NEGATED : 0);
    }
    return lane;
}

/// A table of two variables, as it sends to one of them.
struct LevelPair {
    uint32_t own, others, own_stride, stride;
    const double *values;

    FASTLBP_DEVICE LevelPair(const LevelArrays &arrays, const LevelItem &item) {
        const uint32_t first = pair_radices_first(item.count), second = pair_radices_second(item.count);
        const bool to_first = item.target() == 0;
        own = to_first ? first : second;
        others = to_first ? second : first;
        own_stride = to_first ? 1 : first;
        stride = to_first ? first : 1;
        values = arrays.tables + item.values;
    }
};

/// Sums or maxima of a table from the message of the other variable, by a warp. 0/0 is a contradiction in the first value.
template <class T>
FASTLBP_DEVICE_COLD void far_level_pair(LevelPair pair, const Packed *input, Packed *out) {
    const LaneGroup lanes(LANES);
    const auto sum_of = [&](uint32_t state) {
        const double *const entries = pair.values + state * pair.own_stride;
        T sum = Real<T>::zero();
        for (uint32_t x = 0; x < pair.others; ++x) {
            T weight;
            if (pair.others == 2) {
                T state1, state0;
                FromPacked<T>::weights(*input, false, state1, state0);
                weight = x == 0 ? state0 : state1;
            } else {
                weight = FromPacked<T>::number(input[x]);
            }
            sum = add(sum, multiply(Real<T>::from_f64(entries[x * pair.stride]), weight));
        }
        return sum;
    };
    if (pair.own == 2) {
        if (lanes.rank() == 0) {
            out[0] = FromPacked<T>::ratio(sum_of(1), sum_of(0), false);
        }
        return;
    }
    T sums[LEVEL_VALUES / LANES];
    int32_t top = NO_EXPONENT;
    FASTLBP_UNROLL
    for (uint32_t turn = 0; turn < LEVEL_VALUES / LANES; ++turn) {
        const uint32_t x = turn * LANES + lanes.rank();
        sums[turn] = x < pair.own ? sum_of(x) : Real<T>::zero();
        top = is_zero(sums[turn]) ? top : larger_of(top, exponent_of(sums[turn]));
    }
    top = lanes.largest(top);
    FASTLBP_UNROLL
    for (uint32_t turn = 0; turn < LEVEL_VALUES / LANES; ++turn) {
        const uint32_t x = turn * LANES + lanes.rank();
        if (x < pair.own) {
            out[x] = is_zero(sums[turn]) ? Packed::zero() : pack_below(sums[turn], top);
        }
    }
    if (top == NO_EXPONENT && lanes.rank() == 0) {
        out[0] = Packed::contradiction();
    }
}

/// Stores the message of a table, or the messages of conjunctions, from where they have been computed to.
FASTLBP_DEVICE_COLD void deliver_level_item(const General &g, const Pass &pass, LevelItem item) {
    Packed *const outputs = warp_memory().level.outputs;
    const ItemInput *const inputs = g.item_inputs + item.inputs;
    sync_warp();
    if (item.kind() == LEVEL_PAIR) {
        const ItemInput to = load_item_input(inputs + item.target());
        if (to.width() > 1) {
            deliver_by_warp(g, pass, to.edge, outputs);
        } else if (thread_of_block() % LANES == 0) {
            deliver(g, pass, to.edge, outputs);
        }
        return;
    }
    for (uint32_t i = thread_of_block() % LANES; i < item.all_inputs(); i += LANES) {
        if (conjunction_input_target(g.conjunction_inputs[item.inputs + i])) {
            deliver(g, pass, inputs[i].edge, outputs + i);
        }
    }
}

/// What has become of an item: its messages are sent, or computed but not stored, or it has been left as it was.
enum class LevelResult { SENT, COMPUTED, LEFT };

/// run_level_pair whatever the messages are.
FASTLBP_DEVICE_COLD void run_any_level_pair(const General &g, const Pass &pass, LevelItem item) {
    LevelMemory &memory = warp_memory().level;
    const LevelArrays arrays(g, pass);
    const LevelPair pair(arrays, item);
    const ItemInput *const inputs = arrays.inputs + item.inputs;
    const ItemInput from = load_item_input(inputs + 1 - item.target());
    if (item.has_many()) {
        read_all_many(g, pass, item);
    } else {
        read_item_input(g, pass, from, from.width(), memory.inputs, item.readers());
    }
    sync_warp();
    if (arrays.maxima) {
        far_level_pair<Max<Far>>(pair, memory.inputs, memory.outputs);
    } else {
        far_level_pair<Far>(pair, memory.inputs, memory.outputs);
    }
    deliver_level_item(g, pass, item);
}

/// Stores a value of a lane's message that is not 0/0, or leaves it for deliver_level_item where it depends on the old one.
FASTLBP_DEVICE LevelResult store_usual(const LevelArrays &arrays, const Pass &pass, bool is_stored, uint32_t number,
                                       uint32_t place, Packed old_value, Packed now) {
    if (is_stored) {
        if (pass.depends_on_old) {
            warp_memory().level.outputs[number] = now;
        } else {
            if (is_certain_change(old_value, now)) {
                atomic_max(&pass.tally->certain_changed, uint32_t(1));
            }
            arrays.new_values[place] = now;
        }
    }
    return pass.depends_on_old ? LevelResult::COMPUTED : LevelResult::SENT;
}

#ifdef __CUDACC__

/// Sends the message of a table of two variables if doubles do and it is usual, or only computes it. Calls no function.
FASTLBP_DEVICE LevelResult run_level_pair(const LevelArrays &arrays, const LevelWork &work, const Pass &pass) {
    LevelMemory &memory = warp_memory().level;
    const LevelPair pair(arrays, work.item);
    const LaneGroup readers = work.item.readers();
    const uint32_t own = thread_of_block() % LANES;
    const bool is_binary = pair.own == 2, is_stored = own < (is_binary ? 1 : pair.own);
    // All that does not depend on messages of this level is on its way before these are waited for.
    constexpr uint32_t AT_ONCE = 8;
    const auto load = [&](uint32_t first, double (&entries)[AT_ONCE]) {
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            const bool is_there = own < pair.own && first + i < pair.others;
            entries[i] = is_there ? pair.values[own * pair.own_stride + (first + i) * pair.stride] : 0.0;
        }
    };
    double entries[AT_ONCE];
    load(0, entries);
    const Packed old_value = is_stored ? arrays.old_values[work.place + own] : Packed::one();
    const uint32_t width = work.input.width();
    bool usual;
    Packed value = read_usual(arrays, work.input, readers.rank() < width, readers, usual);
    if (work.input.source() == LEVEL_MANY && own < width) {
        value = memory.inputs[own];
        usual = true;
    }
    // Each group of lanes has read the same.
    usual = own >= width || (usual && is_near_value(value));
    if (!all_of_warp(usual & (work.item.range() != 0) & (width <= readers.size))) {
        return LevelResult::LEFT;
    }
    if (own < width) {
        memory.inputs[own] = value;
    }
    sync_warp();
    const auto join = [&](double sum, double next) {
        return arrays.maxima ? larger(Max<double>{sum}, Max<double>{next}).value : sum + next;
    };
    double sum = 0.0;
    if (pair.others == 2) {
        Flat state1, state0;
        FromPacked<Flat>::weights(memory.inputs[0], false, state1, state0);
        sum = join(entries[0] * state0.value, entries[1] * state1.value);
    } else {
        for (uint32_t first = 0; first < pair.others; first += AT_ONCE) {
            if (first > 0) {
                load(first, entries);
            }
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < AT_ONCE; ++i) {
                if (first + i < pair.others) {
                    sum = join(sum, entries[i] * memory.inputs[first + i].plain());
                }
            }
        }
    }
    const bool is_positive = own < pair.own && sum != 0.0;
    const int32_t exponent = exponent_of(sum);
    const int32_t top = LaneGroup(pair.own <= 8 ? 8 : LANES).largest(is_positive ? exponent : NO_EXPONENT);
    const double other = from_bits(shuffle_from(to_bits(sum), 1));
    Packed now;
    bool is_done;
    if (is_binary) {
        now = FromPacked<Flat>::ratio(Flat{other}, Flat{sum}, false);
        is_done = high(now) != high(Packed::contradiction());
    } else {
        // As pack_below has it.
        const int32_t below = exponent - top;
        now = Packed{is_positive ? (to_bits(sum) & FRACTION) | power_bits(below) : 0};
        is_done = top != NO_EXPONENT & (!is_positive | (below >= -PLAIN_EXPONENT));
    }
    if (!all_of_warp(!is_stored | is_done)) {
        return LevelResult::LEFT;
    }
    return store_usual(arrays, pass, is_stored, own, work.place + own, old_value, now);
}

#endif

/// Sends messages of conjunctions whatever the messages to these are.
FASTLBP_DEVICE_COLD void run_any_level_conjunctions(const General &g, const Pass &pass, LevelItem item) {
    LevelMemory &memory = warp_memory().level;
    const ItemInput *const inputs = g.item_inputs + item.inputs;
    const uint32_t all = item.all_inputs();
    const LaneGroup alone(1);
    for (uint32_t turn = 0; turn * LANES < all; ++turn) {
        const uint32_t position = turn * LANES + thread_of_block() % LANES;
        const bool is_there = position < all;
        const ItemInput input = load_item_input(inputs + (is_there ? position : 0));
        const bool is_read = is_there && input.source() != LEVEL_MANY;
        read_item_input(g, pass, input, is_read ? 1 : 0, memory.inputs + position, alone);
    }
    if (item.has_many()) {
        read_all_many(g, pass, item);
    }
    sync_warp();
#ifdef __CUDACC__
    const uint32_t number = thread_of_block() % LANES;
    const bool is_used = number < all;
    const uint32_t position = is_used ? number : 0;
    const WarpLane lane =
        lane_of_item(item, load_item_input(inputs + position), g.conjunction_inputs[item.inputs + position]);
    const Packed odds = any_warp_item_message(g, lane, is_used ? memory.inputs[number] : Packed::one());
    if (is_used) {
        memory.outputs[number] = odds;
    }
#else
    for (uint32_t first = 0; first < all; first += item.arity()) {
        const uint32_t parameter = conjunction_input_parameter(g.conjunction_inputs[item.inputs + first]);
        const auto is_negated = [&](uint32_t position) { return inputs[first + position].is_negated(); };
        warp_item_messages(g, parameter, item.arity(), is_negated, memory.inputs + first, memory.outputs + first);
    }
#endif
    deliver_level_item(g, pass, item);
}

#ifdef __CUDACC__

/// Sends messages of conjunctions, each lane the one to the variable of its input, if doubles do and they are usual, or only
/// computes them. Calls no function.
FASTLBP_DEVICE LevelResult run_level_conjunctions(const LevelArrays &arrays, const LevelWork &work, const Pass &pass) {
    const LevelItem &item = work.item;
    const uint32_t number = thread_of_block() % LANES;
    const bool is_used = number < item.all_inputs(), is_target = is_used & conjunction_input_target(work.conjunction);
    const HornCoefficients &horn = arrays.horn[conjunction_input_parameter(work.conjunction)];
    const HeadValues values = horn.head;
    const bool is_plain = (horn.flags & HORN_PLAIN) != 0;
    const Packed old_value = is_target ? arrays.old_values[work.place] : Packed::one();
    bool usual;
    const Packed read = read_usual(arrays, work.input, is_used, LaneGroup(1), usual);
    const bool is_many = is_used & (work.input.source() == LEVEL_MANY);
    const Packed value = !is_used ? Packed::one() : is_many ? warp_memory().level.inputs[number] : read;
    usual = (usual | is_many) & (!is_used | (is_plain & is_near(value, item.range())));
    if (!all_of_warp(usual & !arrays.maxima)) {
        return LevelResult::LEFT;
    }
    const Packed odds = warp_item_message<Flat>(lane_of_item(item, work.input, work.conjunction), values, value);
    if (!all_of_warp(!is_target | (odds != Packed::contradiction()))) {
        return LevelResult::LEFT;
    }
    return store_usual(arrays, pass, is_target, number, work.place, old_value, odds);
}

#endif

/// Sends messages of another factor, whose inputs are read to `by_edge`.
FASTLBP_DEVICE_COLD void run_level_other(const General &g, const Pass &pass, LevelItem item, void *scratch) {
    const ItemInput *const inputs = g.item_inputs + item.inputs;
    const LaneGroup readers = item.readers();
    for (uint32_t turn = 0; turn * readers.groups() < item.arity(); ++turn) {
        const uint32_t position = turn * readers.groups() + readers.number();
        const bool is_there = position < item.arity();
        const ItemInput input = load_item_input(inputs + (is_there ? position : 0));
        const bool is_read = is_there && input.source() != LEVEL_MANY && input.source() != LEVEL_KEPT;
        read_item_input(g, pass, input, is_read ? input.width() : 0, g.by_edge + g.input_of(input.edge), readers);
    }
    if (item.has_many()) {
        read_all_many(g, pass, item);
    }
    sync_warp();
    const ThreadGroup group = {SPAN_WARP};
    const uint32_t count = item.count, only = count == 1 ? item.target() : ALL;
    const uint32_t first_edge = inputs[0].edge, start = g.input_of(first_edge);
    Packed *const outputs = g.outputs + start;
    compute(g, g.records[item.factor], first_edge, item.arity(), only, g.by_edge + start, outputs, scratch, group);
    deliver_all(
        g, pass, count, [&](uint32_t i) { return g.targets[item.first + i]; },
        [&](uint32_t i) { return outputs + (only == ALL ? g.input_of(g.targets[item.first + i]) - start : 0); }, group);
}

/// Sends the messages of an item, whatever it is.
FASTLBP_DEVICE_COLD void run_any_level_item(const General &g, const Pass &pass, LevelItem item, void *scratch) {
    // What has been read of shared memory is read anew.
    sync_warp();
    if (item.kind() == LEVEL_PAIR) {
        run_any_level_pair(g, pass, item);
    } else if (item.kind() == LEVEL_CONJUNCTION) {
        run_any_level_conjunctions(g, pass, item);
    } else {
        run_level_other(g, pass, item, scratch);
    }
}

/// The warps that take level items, each with memory for what any factor takes, and which one this is: neighbouring items are
/// for different blocks.
struct LevelWarps {
    uint32_t number, count;
    void *scratch;

    FASTLBP_DEVICE explicit LevelWarps(const General &g) {
        const Groups groups(g, SPAN_WARP);
        count = groups.count;
        number = count < warps_of_grid() ? groups.number : thread_of_block() / LANES * blocks_of_grid() + block_of_grid();
        scratch = groups.memory;
    }

    /// A level's work of this warp, given where the level starts and ends.
    FASTLBP_DEVICE LevelWork work(const LevelArrays &arrays, uint32_t first, uint32_t end) const {
        LevelWork work;
        work.next = number < count ? first + number : end;
        work.end = end;
        work.load_item(arrays);
        return work;
    }
};

/// Sends the messages of a level's items that are this warp's.
FASTLBP_DEVICE void run_level_items(const General &g, const Pass &pass, const LevelArrays &arrays, const LevelWarps &warps,
                                    LevelWork work) {
    while (work.next < work.end) {
        LevelResult result = LevelResult::LEFT;
#ifdef __CUDACC__
        if (work.item.has_many() && work.item.kind() != LEVEL_OTHER) {
            read_all_many(g, pass, work.item);
        }
        if (work.item.kind() == LEVEL_PAIR) {
            result = run_level_pair(arrays, work, pass);
        } else if (work.item.kind() == LEVEL_CONJUNCTION) {
            result = run_level_conjunctions(arrays, work, pass);
        }
#endif
        if (result == LevelResult::LEFT) {
            run_any_level_item(g, pass, work.item, warps.scratch);
        } else if (result == LevelResult::COMPUTED) {
            deliver_level_item(g, pass, work.item);
        }
        sync_warp();
        work.next += warps.count;
        work.load_item(arrays);
        work.load_input(arrays);
    }
}

}  // namespace fastlbp
