//! Words of the binary program, of which some bits are a number and others another one.

use super::declare::device_interface;

device_interface! {
    /// An input of a factor: the slot of its edge; where all messages are sent at once, whether its variable has soft evidence; and
    /// where the message comes from (Source).
    word input {
        SLOT: 0..28,
        SOFT: 28..29,
        SOURCE: 29..32,
    }

    /// The same by levels, where slots have fewer bits: which of the variable's messages is the last one, that whose slot differs
    /// from the input's by these three bits; 0: none.
    word level_input {
        SLOT: 0..25,
        LAST: 25..28,
        SOFT: 28..29,
        SOURCE: 29..32,
    }

    /// The second word of an input by levels: the thread that has what the variable sends, and in which round, those of hubs and
    /// then hubs in pieces following the others; whether its edge is sent; whether the literal is that the variable is in state 0;
    /// and the number of coefficients.
    word level_want {
        THREAD: 0..5,
        ROUND: 5..10,
        SENT: 10..11,
        NEGATED: 11..12,
        COEFFICIENTS: 12..32,
    }

    /// A message that a thread reads by levels: its slot, the first one behind all for none; of the first one that the thread
    /// reads, whether the last one for its own input is of the pass before; whether it is a last one; whether it is read anew; and the
    /// logarithm of the number of threads that read the same variable's.
    word leaf {
        SLOT: 0..25,
        LAST_IS_OLD: 25..26,
        LAST: 27..28,
        NEW: 28..29,
        LEVELS: 29..32,
    }

    /// What a thread reads of a hub: a bit for each new message; the logarithm of the number of threads that read the same hub's;
    /// how far from that of the factor the slot of the last message is (0: there is none); and a bit for that one among eight.
    word hub_reading {
        NEWS: 0..8,
        LEVELS: 9..12,
        LAST: 12..15,
        LAST_BITS: 16..24,
    }

    /// Instead of messages there are ones, as in the places of last ones.
    const HUB_NOTHING: u32 = hub_reading::LAST_BITS.mask();

    /// Behind the words of a factor's own piece of a hub, 32 for each height: the place where a piece's version is, and whether that
    /// is of this pass.
    word version {
        PLACE: 0..31,
        NEW: 31..32,
    }

    /// There is none, of the own one and of those that are not there.
    const VERSION_NONE: u32 = u32::MAX;

    /// What a thread sends of a hub to several factors: a bit for each of the eight messages that it reads, whether a message is sent to
    /// its slot; and whether it is new for messages to earlier slots.
    word level_message {
        SENT: 0..8,
        NEWS: 8..16,
    }

    /// `LevelUnit::shape`.
    word unit_shape {
        /// Rounds in which threads read a message each, of variables with up to four.
        ROUNDS: 0..3,
        /// Logarithm of the most threads that read the messages of a hub.
        HUB_LEVELS: 3..6,
        /// Whether it is no factors, but the product of a piece of a hub.
        MULTIPLIES: 6..7,
        /// Whether it is of a factor with warps of its own, or of several small tables.
        NODE: 7..8,
        /// Whether it is no factors, but what hubs send to several.
        VARIABLES: 8..9,
        /// Logarithm of the number of threads of each factor.
        LEVELS: 9..12,
        /// Rounds in which threads read eight messages each of hubs, and the number of hubs in pieces.
        WIDE_ROUNDS: 12..18,
        GIANTS: 18..24,
        /// Inputs with exponents below four times this, and certain ones, can be computed with as doubles; 0: none can.
        RANGE: 24..32,
    }

    /// The second word that a thread has in a unit of hubs: a number, and which of the eight slots are of edges.
    word hub_unit {
        NUMBER: 0..24,
        EDGES: 24..32,
    }

    /// A unit of factors: its first row, and its kind.
    word factor_unit {
        ROW: 0..28,
        KIND: 28..32,
    }
}
