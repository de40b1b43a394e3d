//! The general program: a graph of any kinds of factors and any cardinalities, sums and maxima, damping.

use super::address::{Address, ReadOnly};
use super::arithmetic::Product;
use super::declare::device_interface;
use super::factors::{FactorParameters, LongFactors, Record};
use super::run::ReductionCounters;
use crate::kernel::{DeviceHorn, EncodedMessage};

device_interface! {
    /// Lanes of a warp item, and most variables of a factor in one.
    const ITEM_LANES: usize = 32;
    /// `readers` of a variable that sends.
    const NO_READER: u32 = u32::MAX;
    /// In place of the number of a variable that is never prepared.
    const NOT_PREPARED: u32 = u32::MAX;
    /// Variables of a conjunction up to which its messages need no memory but a thread's own.
    const SMALL_ARITY: usize = 8;
    /// Single messages out of variables with more edges are computed by all threads of a block.
    const HIGH_DEGREE: usize = 256;
    /// Messages over the states of variables that a group computes at once, one value by each thread.
    const VALUES_AT_ONCE: u64 = 128;
    /// Variables of several states by the lanes that have one: so many, twice as many, and so on.
    const FEWEST_STATE_LANES: usize = 4;
    const STATE_CLASSES: usize = 4;
    /// Tiles of a row, in which variables are whole; and what stands for none.
    const TILES_OF_ROW: usize = 16;
    const NO_TILE: u32 = u32::MAX;
    /// The logarithm of the number of lanes of a variable that shares a warp with others.
    const SHARED_WARP_LEVELS: u32 = 2;
    /// Most states of a variable of a table, by the classes of tables; those of the middle one are a tile.
    const SMALL_PAIR: usize = 8;
    const MIDDLE_PAIR: usize = 16;
    const LARGE_PAIR: usize = 256;

    /// Messages that one thread, warp or block computes: those of a factor along the edges targets[first]..targets[end], in
    /// ascending order of ranks. Without targets, all of them.
    struct Item {
        factor: u32,
        first: u32,
        end: u32,
    }

    /// Arrays whose entries stand one after the other for each level.
    struct ItemList {
        items: ReadOnly<Item>,
        /// Where each level starts, and where the last one ends.
        levels: ReadOnly<u32>,
    }

    /// Memory for each of some threads, warps or blocks; the others take no part where it is needed.
    struct Scratch {
        memory: Address<u8>,
        bytes: u64,
        count: u32,
        padding: u32,
    }

    /// The part of a lane of a warp item in its factor.
    word lane {
        /// Where its message comes from, which the device finds out.
        SOURCE: 0..3,
        /// Whether it notes contradictions at the variable.
        NOTES: 3..4,
        /// Whether its literal is negated.
        NEGATED: 4..5,
        /// Whether it has an edge at all.
        USED: 5..6,
        /// Its number among the lanes of its factor, 0 for the head.
        INDEX: 6..11,
        /// The number of literals, which all lanes of a warp item have.
        LITERALS: 11..16,
        /// How far their messages may be from one for doubles to do, as a logarithm.
        RANGE: 16..32,
    }

    /// What a lane of a warp item has to know: the place of its message; its edge; the number of the factor's coefficients; and
    /// the word `lane`.
    base struct WarpLane {
        place: u32,
        edge: u32,
        parameter: u32,
        more: u32,
    }

    /// The states of the two variables of a table.
    word pair_radices {
        FIRST: 0..16,
        SECOND: 16..32,
    }

    /// What the lanes of a table have to know: its entries, those of a column, one state of the second variable, side by side;
    /// where the message from the first variable is, that from the second one being behind it; its number; where the messages to
    /// both are; their states (`pair_radices`); and whether its entries are near enough to one for doubles to do wherever messages
    /// are.
    base struct PairItem {
        values: ReadOnly<f64>,
        input: u32,
        factor: u32,
        places: [u32; 2],
        radices: u32,
        is_near: u32,
    }

    /// What a warp does with a level item (general_level_items.cuh): it sends a message of a table of two variables, messages of a
    /// conjunction of binary variables, or those of any factor.
    const LEVEL_PAIR: u32 = 0;
    const LEVEL_CONJUNCTION: u32 = 1;
    const LEVEL_OTHER: u32 = 2;

    /// More of a level item.
    word level_item {
        /// One of the above.
        KIND: 0..2,
        /// The number of variables of a factor.
        ARITY: 2..8,
        /// The position of the variable to which its only message is sent; of conjunctions of no meaning.
        TARGET: 8..13,
        /// The logarithm of the number of lanes that read the message of a variable.
        READERS: 13..16,
        /// As of `lane`; of a table of two variables whether its entries are near enough to one.
        RANGE: 16..31,
        /// Whether some variable has more than eight messages.
        MANY: 31..32,
    }

    /// Messages that a warp sends at a level. Of conjunctions: `count` of them with as many variables each, whose inputs stand side by
    /// side, each with its head first. Of a table of two variables: where its values start among those of all, and, as `count`, its
    /// states (`pair_radices`). Of another factor: `count` messages, the first of which is `first` among all targets. Besides a
    /// factor, the first input, the rank of those that read if these read a variable of more than eight messages, and the word
    /// `level_item`.
    base struct LevelItem {
        factor: u32,
        first: u32,
        inputs: u32,
        rank: u32,
        values: u64,
        count: u32,
        more: u32,
    }

    /// The number of the coefficients of a conjunction that an input is of, and whether a message is sent to its variable.
    word conjunction_input {
        PARAMETER: 0..31,
        TARGET: 31..32,
    }

    /// Where a factor finds the message of a variable, if this has not up to eight, of which the number stands here: it has more, it
    /// is prepared, or what is there stays. With zero, the message is not needed.
    const LEVEL_MANY: u32 = 9;
    const LEVEL_PREPARED: u32 = 10;
    const LEVEL_KEPT: u32 = 11;

    /// More of a item input.
    word item_input {
        SOURCE: 0..4,
        /// The number of the edge among those of the variable.
        LEAF: 4..12,
        /// Of up to eight messages, a bit for each that is new, by the number of its edge as it differs from LEAF.
        NEWER: 12..20,
        /// Whether the literal is negated.
        NEGATED: 20..21,
        /// Stored values of a message.
        WIDTH: 21..32,
    }

    /// A variable of a level item: its number, where the message to it is, the edge, and the word `item_input`.
    base struct ItemInput {
        variable: u32,
        place: u32,
        edge: u32,
        more: u32,
    }

    /// Level items, those of each level one after the other.
    struct LevelItemList {
        items: ReadOnly<LevelItem>,
        /// Where each level starts, and where the last one ends.
        levels: ReadOnly<u32>,
    }

    /// A factor as a table: its values, the first variable fastest, times powers of two with these exponents, if there are any; the
    /// range of the exponents of the positive ones; and how many values there are.
    struct JointTable {
        values: ReadOnly<f64>,
        exponents: ReadOnly<i64>,
        low: i64,
        high: i64,
        entries: u32,
        padding: u32,
    }

    /// A factor whose belief is measured: its number, that of its table, and where its belief starts.
    struct FactorBelief {
        factor: u32,
        table: u32,
        first: u64,
    }

    /// Beliefs of factors: what they are made of; factors in the order of the spans that take them, up to these ends; the states of
    /// each edge's variable, null if all have two; beliefs of the last measurement; and what is found of them.
    struct FactorBeliefs {
        tables: ReadOnly<JointTable>,
        list: ReadOnly<FactorBelief>,
        states: ReadOnly<u32>,
        beliefs: Address<f64>,
        found: Address<ReductionCounters>,
        ends: [u32; 3],
        padding: u32,
    }

    /// For whom a variable was prepared last.
    struct PreparedState {
        level: u32,
        rank: u32,
    }

    /// Graph, messages and work.
    base struct DeviceGeneral as General {
        variables: u32,
        factors: u32,
        edges: u32,
        /// Entries of an array of messages in either direction.
        values: u32,
        /// Where each variable's slots start: the places of its edges among those of all variables.
        variable_offsets: ReadOnly<u32>,
        /// Where the message to the factor at each slot is.
        slot_inputs: ReadOnly<u32>,
        /// Where each variable's stored values start; null if each has one.
        variable_values: ReadOnly<u32>,
        /// Where each variable's states start; null if each has two.
        variable_states: ReadOnly<u32>,
        known: ReadOnly<u32>,
        weights: ReadOnly<EncodedMessage>,
        edge_variables: ReadOnly<u32>,
        edge_slots: ReadOnly<u32>,
        /// Where the message to the factor along each edge is. Those of warp items (general_warp_items.cuh) stand in the order of
        /// their lanes, those of another factor one after the other.
        edge_inputs: ReadOnly<u32>,
        /// Where the messages to each variable are stored, one after the other, and where that along each edge is. The up to 2, 4
        /// or 8 messages of a binary variable are aligned to so many, and those of one with more to 4; what is between variables
        /// holds ones.
        variable_places: ReadOnly<u32>,
        edge_places: ReadOnly<u32>,
        /// States of each edge's variable; null if no factor needs them.
        edge_radices: ReadOnly<u32>,
        factor_offsets: ReadOnly<u32>,
        long_factors: LongFactors,
        records: ReadOnly<Record>,
        horn: ReadOnly<DeviceHorn>,
        words: ReadOnly<u64>,
        parameters: FactorParameters,
        /// Messages to the variables, by place; as they were computed, where the stored ones are damped (else null); messages to
        /// the factors, by edge; room for what factors compute, by edge.
        messages: [Address<EncodedMessage>; 2],
        newest: [Address<EncodedMessage>; 2],
        by_edge: Address<EncodedMessage>,
        outputs: Address<EncodedMessage>,
        /// Of the last measurement: a probability per stored value of a variable, and of a message by edge.
        beliefs: Address<f64>,
        inputs: Address<f64>,
        /// Rows of beliefs, in turn.
        history: Address<f64>,
        history_rows: u64,
        /// Stored values of the beliefs of all variables.
        belief_count: u64,
        /// Variables: those that a thread looks at, those for a warp, those for a block; so many of each. Of a thread's, first those
        /// that send in every iteration, `senders` of them: from the others all factors read for themselves.
        variables_by_span: ReadOnly<u32>,
        /// Which of a variable's messages is the first that a factor reads for itself (general_warp_items.cuh); NO_READER if the
        /// variable sends.
        readers: ReadOnly<u32>,
        /// Binary variables of more than 8 messages, cut into tiles (see general_tiles.cuh): those of up to QUAD messages; others
        /// of one tile; rows of TILES_OF_ROW tiles of variables with so many at the most; and all tiles of the others. Of the
        /// latter two the number of each tile among its variable's. In rows NO_TILE may stand.
        tile_variables: ReadOnly<u32>,
        tile_numbers: ReadOnly<u32>,
        /// The products of the tiles of the others: of the messages, and of those that were computed if they are damped.
        tile_products: Address<Product>,
        quads: u32,
        whole_tiles: u32,
        tile_rows: u32,
        tiles: u32,
        senders: u32,
        /// Whether variables send to factors in every iteration.
        some_send: u32,
        /// Factors with one variable, as the variables above.
        constants_by_span: ReadOnly<u32>,
        variables_of_span: [u32; 3],
        constants_of_span: [u32; 3],
        /// Where updates are synchronous, conjunctions of 2 to ITEM_LANES variables: what each lane has to know
        /// (general_warp_items.cuh); below, the number of warp items.
        warp_lanes: Address<WarpLane>,
        /// Work items of other factors: for threads, for warps, for blocks.
        items: [ItemList; 3],
        targets: ReadOnly<u32>,
        /// Ranks of the edges, by slot; null if all messages are old.
        ranks: ReadOnly<u32>,
        levels: u32,
        by_levels: u32,
        scratch: [Scratch; 3],
        /// For how many iterations, two at most, the factors with one variable have sent what does not change.
        constant_iterations: Address<u32>,
        damping: f64,
        /// With an active set, the factor by which odds of two states have to grow or fall to be stored; else 0.
        least_growth: f64,
        maxima: u32,
        /// Whether messages begin as uniform ones, and whether `newest` begins as a copy of them.
        reset: u32,
        restart_newest: u32,
        warp_items: u32,
        /// Where updates are synchronous, tables of two variables by classes (general_pairs.cuh), so many of each.
        pairs: ReadOnly<PairItem>,
        pairs_of_class: [u32; 3],
        /// Behind those of spans, variables of several states that lanes of a warp share (general_states.cuh), by classes.
        variables_of_states: [u32; STATE_CLASSES],
        padding: u32,
        /// By levels, variables of many factors that send to all of these before those of a level, as edges of a rank see it
        /// (general_prepared.cuh): of each level, by spans, Item::factor is the variable and Item::first the rank. The number of
        /// each variable among them, null if there are none; and by number for whom it was prepared last.
        prepared_items: [ItemList; 3],
        prepared: ReadOnly<u32>,
        prepared_states: Address<PreparedState>,
        /// By levels, factors that are in none of `items`; the values of all tables; and whether there are factors in these.
        level_items: LevelItemList,
        item_inputs: ReadOnly<ItemInput>,
        /// Of each of these the word `conjunction_input`.
        conjunction_inputs: ReadOnly<u32>,
        table_values: ReadOnly<f64>,
        some_items: u32,
        more_padding: u32,
    }
}
