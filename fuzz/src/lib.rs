//! Fuzz targets of fastlbp, each a function of bytes that panics where something is wrong.
//!
//! | folder | targets | what must hold |
//! |---|---|---|
//! | `parsers` | one per format | parse, write, parse again: equal; formats that can hold the graph keep its marginals; memory stays bounded |
//! | `engine` | `engine` | the bits of one class of edges at a time, the values of a plain implementation, the sums over all joint states on trees |
//! | `c_api` | `c_api` | any sequence of calls that keeps to the contract of `fastlbp.h`, whose declarations `build` reads |
//!
//! Two kinds of programs run them: those of `fuzz_targets` with libFuzzer (`scripts/fuzz`), and `replay`,
//! with the inputs of `seeds` and random changes of them, on stable Rust (`scripts/test fuzz`).

mod c_api;
mod choices;
mod engine;
mod memory;
mod parsers;
#[path = "../../tests/common/random.rs"]
#[allow(dead_code, reason = "the random graphs of the tests; part of them")]
mod random;

pub use c_api::report as report_of_calls;
pub use engine::comparisons;
pub use memory::Counting;

/// Counts what is allocated, for the bounds of the parsers.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A fuzz target.
pub struct Target {
    /// Its name: that of its program in `fuzz_targets`, and of its folder in `seeds`.
    pub name: &'static str,
    /// Runs an input; panics where something is wrong.
    pub run: fn(&[u8]),
    /// Longest input that is worth while.
    pub max_length: usize,
    /// Runs that `replay` makes if it is not told otherwise: some seconds.
    pub runs: u64,
}

const fn target(name: &'static str, run: fn(&[u8]), max_length: usize, runs: u64) -> Target {
    Target { name, run, max_length, runs }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("causal_fg", parsers::causal_fg, 512, 20_000),
    target("fg", parsers::fg, 512, 20_000),
    target("uai", parsers::uai, 512, 20_000),
    target("bif", parsers::bif, 1024, 20_000),
    target("gzip", parsers::gzip, 512, 5_000),
    target("observations", parsers::observations, 256, 20_000),
    target("uai_evidence", parsers::uai_evidence, 256, 20_000),
    target("ranks", parsers::ranks, 512, 20_000),
    target("queries", parsers::queries, 256, 20_000),
    target("soft_evidence", parsers::soft_evidence, 256, 20_000),
    target("states", parsers::states, 128, 10_000),
    target("marginals", parsers::marginals, 512, 10_000),
    target("engine", engine::run, 1024, 2_000),
    target("c_api", c_api::run, 2048, 2_000),
];

/// Runs an input of the target with a name.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("there is no target '{name}'")).run)(bytes);
}
