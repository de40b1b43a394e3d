//! Graphs of binary variables and conjunctions.

use super::address::{Address, ReadOnly};
use super::arithmetic::{Product, Uint4};
use super::declare::device_interface;
use super::run::ReductionCounters;
use crate::kernel::{DeviceHorn, EncodedMessage};

device_interface! {
    /// Classes of hubs by the number of threads: large ones, 32, 16, 8, 4, 2, 1.
    const HUB_CLASSES: usize = 7;
    /// Classes of variables that are at a home: hubs but the large ones, then those with 4 slots, 2 and 1.
    const HOME_CLASSES: usize = 9;

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

    /// Which of a warp's units had certain messages the last time, and which could not be sent the usual way at all; those 64
    /// apart share a bit.
    struct UnusualUnits {
        certain: u64,
        far: u64,
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
        /// Last beliefs by position, and rings of them; last probabilities of inputs by slot, and by how much they have changed.
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
        /// Room for LOOKS times two words of each piece of a large hub, for who looks at states (see Look).
        looked_pieces: Address<u64>,
        /// What the messages of the first two states were before damping; null where the run is not damped. By how much it is;
        /// the same as a multiple of 1/MEAN_DENOMINATOR, or 0 if it is none; and whether the run is one of maxima.
        undamped: Address<EncodedMessage>,
        damping: f64,
        mean_numerator: u32,
        maxima: u32,
        /// Soft evidence as one more message to a variable: of hubs by the number of their slots divided by 8, then of others by
        /// position. Null if there is none.
        soft: ReadOnly<EncodedMessage>,
        /// Where all messages are sent at once: what is found of AHEAD_AT_MOST states and one more, if passes run ahead.
        tallies_ahead: Address<ReductionCounters>,
        /// By levels: of each of so many warps, which of its units are unusual, from launch to launch of a run; the products of
        /// pieces of large hubs, in two words each, of all states, of which each has product_stride words; and by piece the
        /// place of the product of all its messages (see binary_versions.cuh).
        level_unusual: Address<UnusualUnits>,
        level_products: Address<u64>,
        product_stride: u64,
        piece_places: ReadOnly<u32>,
        level_warps: u32,
        unused: u32,
    }
}
