//! Graphs of binary variables and conjunctions.

use super::address::{Address, ReadOnly};
use super::arithmetic::{Product, Uint4};
use super::declare::device_interface;
use super::factors::{LongFactors, OtherFactors};
use super::run::ReductionCounters;
use crate::engine::limits::{self, PIECE};
use crate::kernel::{DeviceHorn, EncodedMessage};

device_interface! {
    /// Sources of what a factor reads of a variable, by its word.
    enum Source {
        /// There is no other message: it is 1.
        None = SOURCE_NONE = 0,
        /// Stored, by the hub.
        Prepared = SOURCE_PREPARED = 1,
        /// Observed in state 0.
        False = SOURCE_FALSE = 2,
        /// Observed in state 1.
        True = SOURCE_TRUE = 3,
        /// By levels: all that it has are read.
        Read = SOURCE_READ = 4,
    }

    /// Where `Known` has a state of several: a likelihood of each state of a binary variable.
    const KNOWN_SOFT: u32 = 3;

    /// Most messages of a hub that one warp takes at once, 8 by each thread.
    const WARP_LEAVES: usize = PIECE;
    /// Messages of a hub that a thread takes by levels.
    const THREAD_LEAVES: u32 = 8;
    /// Most pieces of WARP_LEAVES whose products fit in a block's shared memory.
    const SHARED_PIECES: usize = 512;
    /// States of the messages that are there at the same time by levels, where passes overlap (see overlap.cuh); each pass leads
    /// to the next one of them, by turns. Where all messages are sent at once there are PASS_BUFFERS.
    const LEVEL_STATES: usize = 5;
    /// Threads of a block by levels: few, as each needs many registers and most of them wait.
    const LEVEL_THREADS: u32 = 256;
    /// Words of 32 units each in which a warp notes how they are sent.
    const WAY_WORDS: usize = 32;
    /// Bytes of shared memory at most that blocks have besides what is at home.
    const FLOOD_SHARED: u32 = 8 << 10;
    /// Most passes that run ahead at a time where contradictions do not end the run.
    const AHEAD_AT_MOST: usize = 1024;
    /// In an image of a home, where its room begins: behind the Home.
    const IMAGE_ROOM: usize = 512;
    /// What others wait for has these bits as long as it is not there. No message and no product has them.
    const UNSENT: u64 = EncodedMessage::CONTRADICTION.0;

    /// Kinds of units that all blocks share, in the order in which a warp does them: the product of a piece of a large hub, what
    /// small ones send, what a piece sends; pieces of large factors; small tables; other factors that are no conjunctions. So many there
    /// are.
    const FLOOD_MULTIPLY: usize = 0;
    const FLOOD_HUBS: usize = 1;
    const FLOOD_SEND: usize = 2;
    const FLOOD_LARGE_FACTORS: usize = 3;
    const FLOOD_SMALL_TABLES: usize = 4;
    const FLOOD_OTHER_FACTORS: usize = 5;
    const FLOOD_HUB_KINDS: usize = 6;

    /// Words of a body that a warp hands over: of the two numbers the bits of the significand, and the exponent.
    const BODY_WORDS: usize = 4;
    /// By levels, words of a node of a conjunction of more than 32 variables, and what its units do (see binary_level_bodies.cuh): that of a leaf
    /// hands over the body of its literals; one above, the root, and one below it; that of a leaf sends its messages.
    const NODE_WORDS: usize = 2 * BODY_WORDS + 2;
    const NODE_LEAF_UP: u32 = 0;
    const NODE_UP: u32 = 1;
    const NODE_ROOT: u32 = 2;
    const NODE_DOWN: u32 = 3;
    const NODE_LEAF_DOWN: u32 = 4;
    /// No part of a tree, but a factor that is no conjunction; or small tables, each by as many threads.
    const NODE_OTHER_FACTOR: u32 = 5;
    const NODE_SMALL_TABLES: u32 = 6;
    /// Most variables of these.
    const SMALL_TABLE: usize = limits::SMALL_TABLE;
    /// No node.
    const NODE_NONE: u32 = u32::MAX;

    /// Most variables of a factor that a single thread takes.
    const TILE_ARITY: usize = 8;
    /// Kinds of units of factors behind tiles of the arities 2, 3, ...: a factor with more variables.
    const FLOOD_WIDE: usize = TILE_ARITY - 1;
    /// Factors with up to four variables or up to eight: with few factors, fewer instructions for the cache are worth more than
    /// variables that are not there cost.
    const FLOOD_UP_TO_FOUR: usize = FLOOD_WIDE + 1;
    const FLOOD_UP_TO_EIGHT: usize = FLOOD_WIDE + 2;

    /// Classes of hubs by the number of threads: large ones, 32, 16, 8, 4, 2, 1.
    const HUB_CLASSES: usize = 7;
    /// Classes of variables that are at a home: hubs but the large ones, then those with 4 slots, 2 and 1.
    const HOME_CLASSES: usize = 9;
    /// So many of them are classes of hubs.
    const HOME_HUBS: usize = HOME_CLASSES - 3;

    /// Variables of a class that are at a home: where they begin, by position, among slots, at the home's places for messages
    /// and among its variables, and how many they are.
    struct HomeRange {
        position: u32,
        slot: u32,
        place: u32,
        index: u32,
        count: u32,
    }

    /// Where an array's part begins that a home has, and its length.
    struct HomePart {
        first: u32,
        count: u32,
    }

    /// What a home has. Words of hubs are of a block: where there are several homes for each, those of the first ones are of
    /// the first block, and so on.
    struct HomeShape {
        ranges: [HomeRange; HOME_CLASSES],
        /// Places for messages; those from `inbox` on are of edges to variables of all homes, so many of them to others than
        /// large hubs, which come first.
        places: u32,
        inbox: u32,
        early: u32,
        joined: HomePart,
        constants: HomePart,
        words: HomePart,
        hubs: HomePart,
        hub_words: HomePart,
        /// Units of factors, and how many of them are of such without large hubs.
        units: HomePart,
        early_units: u32,
        variables: u32,
    }

    /// A unit of the levels: the first of its chunks of words, and its shape.
    base struct LevelUnit {
        chunk: u32,
        shape: u32,
    }

    /// Two bits for each of a warp's units, which tell how it is sent where the usual way did not do once; those 32 * WAY_WORDS apart
    /// share them.
    struct UnitWays {
        words: [u64; WAY_WORDS],
    }

    /// The graph, its messages and what is done with them.
    base struct Binary {
        /// States of messages, by slot; and how many entries each has.
        messages: Address<EncodedMessage>,
        stride: u64,
        /// By slot, of hubs only: their messages to their factors. Then the products of pieces (Pieces in binary_pieces.cuh).
        prepared: Address<EncodedMessage>,
        variables: u32,
        /// First position of those with 4, 2, 1, 0 slots, and the first slot of each.
        fours: u32,
        twos: u32,
        ones: u32,
        zeros: u32,
        four_slot: u32,
        two_slot: u32,
        one_slot: u32,
        /// First position of each class of hubs, and the number of hubs.
        classes: [u32; HUB_CLASSES + 1],
        /// By position; hub_slots has an entry more than there are hubs.
        variable: ReadOnly<u32>,
        hub_slots: ReadOnly<u32>,
        /// The position of the hub to which each eight slots of hubs belong.
        hub_of_eight: ReadOnly<u32>,
        known: ReadOnly<u32>,
        /// Large hubs have pieces of WARP_LEAVES slots: if one has more than SHARED_PIECES, room for two products of each; the
        /// hub of each; the first piece of each large hub, and the end.
        pieces: Address<Product>,
        piece_hubs: ReadOnly<u32>,
        hub_pieces: ReadOnly<u32>,
        /// Where all messages are sent at once, what each warp does (see binary_flood.cuh): words that change with the evidence,
        /// first rows of units of hubs, units of factors.
        flood_words: ReadOnly<u32>,
        flood_starts: ReadOnly<u32>,
        factor_units: ReadOnly<u32>,
        /// What each home has (see binary_home.cuh), the words of its factors, places of its hubs, what factors with one
        /// variable send to which places; and whether words are in shared memory too. If there are more than blocks, home_turns
        /// for each, they take turns in shared memory, and have images of so many bytes in the device's memory. By position, the
        /// number of a variable's factors.
        homes: ReadOnly<HomeShape>,
        home_words: ReadOnly<u32>,
        home_hubs: ReadOnly<u32>,
        home_constant_places: ReadOnly<u32>,
        home_constants: ReadOnly<EncodedMessage>,
        home_images: Address<u8>,
        home_bytes: u64,
        /// Of homes that take turns, two orders in which blocks take them, and two times of each (see binary_turns.cuh).
        home_orders: Address<u32>,
        home_times: Address<u32>,
        home_turns: u32,
        home_words_inside: u32,
        degrees: ReadOnly<u32>,
        /// By slot, of hubs: where messages of hubs and to hubs are if they do not fit where others are (binary_exchange.cuh).
        far_prepared: Address<EncodedMessage>,
        far_given: Address<EncodedMessage>,
        coefficients: ReadOnly<DeviceHorn>,
        coefficient_count: u32,
        constant_count: u32,
        /// Factors with one variable: slots and what they send.
        constant_slots: ReadOnly<u32>,
        constants: ReadOnly<EncodedMessage>,
        /// Last beliefs by position, where all messages are sent at once with a copy behind them; rings of them; last probabilities of inputs by slot, and by how much they have changed.
        beliefs: Address<f64>,
        history: Address<f64>,
        inputs: Address<f64>,
        changes: Address<f64>,
        history_length: u32,
        factors: u32,
        /// The slots of each factor's edges in their order.
        factor_offsets: ReadOnly<u32>,
        edge_slots: ReadOnly<u32>,
        /// By levels: a bit for each slot whose message is sent in every pass; what each warp does, as units and their words,
        /// and each warp's first unit (see binary_levels.cuh).
        sent: ReadOnly<u32>,
        level_units: ReadOnly<LevelUnit>,
        level_words: ReadOnly<Uint4>,
        level_starts: ReadOnly<u32>,
        /// Room for SCANS times two words of each piece of a large hub, for who looks at states (see Look).
        looked_pieces: Address<u64>,
        /// What the messages of the first two states were before damping, and in runs with an active set the messages once more;
        /// null in other runs. The damping; the same as a multiple of 1/MEAN_DENOMINATOR, or 0 if it is none; and whether the run
        /// is one of maxima.
        undamped: Address<EncodedMessage>,
        damping: f64,
        mean_numerator: u32,
        maxima: u32,
        /// With an active set, the factor by which odds have to grow or fall to be stored; else 0.
        least_growth: f64,
        /// Soft evidence as one more message to a variable: of hubs by the number of their slots divided by 8, then of others by
        /// position. Null if there is none.
        soft: ReadOnly<EncodedMessage>,
        /// Where all messages are sent at once: what is found of AHEAD_AT_MOST states and one more, if passes run ahead.
        tallies_ahead: Address<ReductionCounters>,
        /// By levels: of each of so many warps, which of its units are unusual, from launch to launch of a run; the products of
        /// pieces of large hubs, in two words each, of all states, of which each has product_stride words; by piece, those of all
        /// heights one after the other, the place of the product of all its messages; and of each piece above the lowest ones the number
        /// of its first part among these, and the end (see binary_versions.cuh).
        level_ways: Address<UnitWays>,
        level_products: Address<u64>,
        product_stride: u64,
        piece_places: ReadOnly<u32>,
        piece_parts: ReadOnly<u32>,
        level_warps: u32,
        /// Where all messages are sent at once, the number of pieces of large factors; of each, for passes from either buffer, its body
        /// (see binary_large_factors.cuh).
        factor_pieces: u32,
        factor_bodies: Address<u64>,
        /// By levels: NODE_WORDS of each node of conjunctions of more than 32 variables, of all states, of which each has node_stride words.
        level_nodes: Address<u64>,
        node_stride: u64,
        others: OtherFactors,
        long_factors: LongFactors,
    }
}
