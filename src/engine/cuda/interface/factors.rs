//! Factors of any kind, as both programs have them.

use super::address::{Address, ReadOnly};
use super::arithmetic::{HeadValues, TermLiteral};
use super::declare::device_interface;

device_interface! {
    /// How many threads share a factor, or a variable.
    enum Span {
        Thread = SPAN_THREAD = 0,
        Warp = SPAN_WARP = 1,
        Block = SPAN_BLOCK = 2,
    }

    /// `Record::kind`.
    enum FactorKind {
        Horn = HORN_FACTOR = 0,
        Noisy = NOISY_FACTOR = 1,
        Table = TABLE_FACTOR = 2,
        Terms = TERMS_FACTOR = 3,
    }

    /// A factor: its kind, the position of its head, and the number of its parameters among those of its kind.
    struct Record {
        kind: u32,
        head: u32,
        parameter: u32,
    }

    /// A noisy conjunction: see `NoisyLiterals`.
    struct NoisyRecord {
        head: HeadValues,
        literals: ReadOnly<[[f64; 2]; 2]>,
    }

    /// A table: its values, the range of their exponents, and how many they are.
    struct TableRecord {
        values: ReadOnly<f64>,
        low: i64,
        high: i64,
        entries: u32,
        padding: u32,
    }

    /// A factor of terms: see `TermInputs`.
    struct TermsRecord {
        weights: ReadOnly<f64>,
        offsets: ReadOnly<u32>,
        literals: ReadOnly<TermLiteral>,
        terms: u32,
        /// Of all variables together.
        states: u32,
        /// Whether some weight is negative.
        signed_weights: u32,
        padding: u32,
    }

    /// What factors have that are no conjunctions of literals.
    struct FactorParameters {
        noisy: ReadOnly<NoisyRecord>,
        tables: ReadOnly<TableRecord>,
        terms: ReadOnly<TermsRecord>,
    }

    /// Most inputs of a factor whose changes one warp adds up for BINGO's rule, a power of two.
    const PART_OF_LIST: usize = 2048;

    /// Factors with more: in parts of so many edges (see sums.cuh). The first part of each, and the end; of each part its first
    /// edge and how many it has; room for the sum of each; and how many factors and parts there are.
    struct LongFactors {
        first_parts: ReadOnly<u32>,
        part_edges: ReadOnly<u32>,
        sums: Address<f64>,
        count: u32,
        parts: u32,
    }

    /// Factors that are no conjunctions of literals, of several variables, to each of which a warp sees: by their numbers their
    /// records; their parameters; the states of as many variables as one may have; and memory, of so many bytes for each warp.
    struct OtherFactors {
        records: ReadOnly<Record>,
        parameters: FactorParameters,
        radices: ReadOnly<u32>,
        memory: Address<u8>,
        bytes: u64,
    }
}
