// The general program: a graph of any kinds of factors and any cardinalities, sums and maxima, damping.
// Mirrored by src/engine/cuda/general/device.rs, which has the same structs field by field.
#pragma once

#include "../arithmetic/damping.cuh"
#include "../arithmetic/flat.cuh"
#include "../arithmetic/terms.cuh"
#include "control.cuh"
#include "groups.cuh"

namespace fastlbp {

/// What is known about a variable: nothing; a binary one observed; another one observed, whose weights are
/// one-hot; soft evidence, whose weights are one more message.
enum Known : uint32_t { KNOWN_NOTHING, KNOWN_FALSE, KNOWN_TRUE, KNOWN_STATE, KNOWN_WEIGHTS };

/// Lanes of a warp item: see general_warp_items.cuh.
constexpr uint32_t ITEM_LANES = 32;

/// Record::kind.
enum FactorKind : uint32_t { HORN_FACTOR, NOISY_FACTOR, TABLE_FACTOR, TERMS_FACTOR };

/// A factor: its kind, the position of its head, and the number of its parameters among those of its kind.
struct Record {
    uint32_t kind;
    uint32_t head;
    uint32_t parameter;
};

struct NoisyRecord {
    HeadValues head;
    const double (*literals)[2][2];
};

struct TableRecord {
    const double *values;
    int64_t low;
    int64_t high;
    uint32_t entries;
    uint32_t padding;
};

struct TermsRecord {
    const double *weights;
    const uint32_t *offsets;
    const TermLiteral *literals;
    uint32_t terms;
    /// Of all variables together.
    uint32_t states;
    /// Whether some weight is negative.
    uint32_t signed_weights;
    uint32_t padding;
};

/// Messages that one thread, warp or block computes: those of a factor along the edges
/// targets[first]..targets[end], in ascending order of ranks. Without targets, all of them.
struct Item {
    uint32_t factor;
    uint32_t first;
    uint32_t end;
};

/// Arrays whose entries stand one after the other for each level.
struct ItemList {
    const Item *items;
    /// Where each level starts, and where the last one ends.
    const uint32_t *levels;
};

/// Memory for each of some threads, warps or blocks; the others take no part where it is needed.
struct Scratch {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t count;
    uint32_t padding;
};

struct WarpLane;
struct PairItem;
struct PreparedState;

/// Graph, messages and work.
struct General {
    uint32_t variables;
    uint32_t factors;
    uint32_t edges;
    /// Entries of an array of messages in either direction.
    uint32_t values;

    /// Where each variable's slots start: the places of its edges among those of all variables.
    const uint32_t *variable_offsets;
    /// Where the message to the factor at each slot is.
    const uint32_t *slot_inputs;
    /// Where each variable's stored values start; null if each has one.
    const uint32_t *variable_values;
    /// Where each variable's states start; null if each has two.
    const uint32_t *variable_states;
    const uint32_t *known;
    const Packed *weights;

    const uint32_t *edge_variables;
    const uint32_t *edge_slots;
    /// Where the message to the factor along each edge is. Those of warp items (general_warp_items.cuh) stand in the
    /// order of their lanes, those of another factor one after the other.
    const uint32_t *edge_inputs;
    /// Where the messages to each variable are stored, one after the other, and where that along each edge is. The up
    /// to 2, 4 or 8 messages of a binary variable are aligned to so many, and those of one with more to 4; what is
    /// between variables holds ones.
    const uint32_t *variable_places;
    const uint32_t *edge_places;
    /// States of each edge's variable; null if no factor needs them.
    const uint32_t *edge_radices;

    const uint32_t *factor_offsets;
    const Record *records;
    const HornCoefficients *horn;
    const uint64_t *words;
    const NoisyRecord *noisy;
    const TableRecord *tables;
    const TermsRecord *terms;

    /// Messages to the variables, by place; as they were computed, where the stored ones are damped (else
    /// null); messages to the factors, by edge; room for what factors send, by edge.
    Packed *messages[2];
    Packed *newest[2];
    Packed *by_edge;
    Packed *outputs;

    /// Of the last measurement: a probability per stored value of a variable, and of a message by edge.
    double *beliefs;
    double *inputs;
    /// Rows of beliefs, in turn.
    double *history;
    uint64_t history_rows;
    /// Stored values of the beliefs of all variables.
    uint64_t belief_count;

    /// Variables: those that a thread looks at, those for a warp, those for a block; so many of each. Of a thread's,
    /// first those that send in every iteration, `senders` of them: from the others all factors read for themselves.
    const uint32_t *variables_by_span;
    /// Which of a variable's messages is the first that a factor reads for itself (general_warp_items.cuh); NO_READER
    /// if the variable sends.
    const uint32_t *readers;
    /// Binary variables of more than 8 messages, cut into tiles (see general_tiles.cuh): those of up to QUAD messages;
    /// others of one tile; rows of TILES_OF_ROW tiles of variables with so many at the most; and all tiles of the
    /// others. Of the latter two the number of each tile among its variable's. In rows NO_TILE may stand.
    const uint32_t *tile_variables;
    const uint32_t *tile_numbers;
    /// The products of the tiles of the others: of the messages, and of those that were computed if they are damped.
    Product *tile_products;
    uint32_t quads;
    uint32_t whole_tiles;
    uint32_t tile_rows;
    uint32_t tiles;
    uint32_t senders;
    /// Whether variables send to factors in every iteration.
    uint32_t some_send;
    /// Factors with one variable, as the variables above.
    const uint32_t *constants_by_span;
    uint32_t variables_of_span[3];
    uint32_t constants_of_span[3];

    /// Where all messages are sent at once, conjunctions of 2 to ITEM_LANES variables: what each lane has to know
    /// (general_warp_items.cuh); below, the number of warp items.
    WarpLane *warp_lanes;

    /// Work items of other factors: for threads, for warps, for blocks.
    ItemList items[3];
    const uint32_t *targets;
    /// Ranks of the edges, by slot; null if all messages are old.
    const uint32_t *ranks;
    uint32_t levels;
    uint32_t by_levels;
    Scratch scratch[3];

    /// For how many passes, two at most, the factors with one variable have sent what does not change.
    uint32_t *constant_passes;
    double damping;
    uint32_t maxima;
    /// Whether messages begin as uniform ones, and whether `newest` begins as a copy of them.
    uint32_t reset;
    uint32_t restart_newest;
    uint32_t warp_items;

    /// Where all messages are sent at once, tables of two variables by classes (general_pairs.cuh), so many of each.
    const PairItem *pairs;
    uint32_t pairs_of_class[3];
    /// Behind those of spans, variables of several states that lanes of a warp share (general_states.cuh), by classes.
    uint32_t variables_of_states[4];
    uint32_t padding;

    /// By levels, variables of many factors that send to all of these before those of a level, as edges of a rank see it
    /// (general_prepared.cuh): of each level, by spans, Item::factor is the variable and Item::first the rank. The number
    /// of each variable among them, null if there are none; and by number for whom it was prepared last.
    ItemList prepared_items[3];
    const uint32_t *prepared;
    PreparedState *prepared_states;

    FASTLBP_DEVICE uint32_t first_value(uint32_t variable) const {
        return variable_values ? variable_values[variable] : variable;
    }
    /// Stored values of a message of a variable: 1 for a binary one.
    FASTLBP_DEVICE uint32_t width(uint32_t variable) const {
        return variable_values ? variable_values[variable + 1] - variable_values[variable] : 1;
    }
    FASTLBP_DEVICE uint32_t input_of(uint32_t edge) const {
        return edge_inputs[edge];
    }
    FASTLBP_DEVICE uint32_t degree(uint32_t variable) const {
        return variable_offsets[variable + 1] - variable_offsets[variable];
    }
    FASTLBP_DEVICE const Packed *weights_of(uint32_t variable) const {
        return weights + first_value(variable);
    }
};

static_assert(sizeof(General) == 640, "the layout of DeviceGeneral");

/// The groups of a span that have memory, and this thread's among them; it takes part if its number is below their
/// count.
struct Groups {
    uint32_t number;
    uint32_t count;
    void *memory;

    FASTLBP_DEVICE Groups(const General &g, uint32_t span)
        : number(group_of_grid(span)), count(smaller_of(groups_of_grid(span), g.scratch[span].count)) {
        memory = g.scratch[span].memory + number * g.scratch[span].bytes;
    }
};

}  // namespace fastlbp
