//! What is known to be wrong, and being put right: each constant goes, with what it guards, when the item
//! of the issue "Right at the edges, and nothing dies" that it names is in. Set to `false`, the targets
//! find it again.

/// until item 1 of the issue is in: a ratio of two states below 2^-1022 in a factor's message is decoded
/// wrongly, and refused by `restore_state`.
pub const RATIOS_BEYOND_F64: bool = true;

/// until item 2 of the issue is in: the log-partition is NaN where soft evidence is 0.
pub const LOG_PARTITION_NAN: bool = true;

/// until item 3 of the issue is in: a saved state of SEQMAX does not go on with the same bits.
pub const SEQMAX_STATE: bool = true;

/// until item 5 of the issue is in: evidence that a factor excludes may go unnoticed.
pub const IMPOSSIBLE_EVIDENCE: bool = true;

/// until item 7 of the issue is in: one entry of a factor's belief may be above 1 by rounding.
pub const ENTRY_ABOVE_ONE: bool = true;
