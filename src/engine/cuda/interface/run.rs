//! A run: what it is asked to do, and how it stands.

use super::address::Address;
use super::counter::Counter;
use super::declare::device_interface;

device_interface! {
    /// Which rule ends a run: `Rule::kind`.
    enum RuleKind {
        Iterations = RULE_PASSES = 0,
        Tolerance = RULE_TOLERANCE = 1,
        Bingo = RULE_BINGO = 2,
    }

    /// Of `Rule::flags`: a contradiction ends the run.
    const STOP_AT_CONTRADICTION: u32 = 1;
    /// Updates are not synchronous.
    const BY_LEVELS: u32 = 2;
    /// The run began with uniform messages.
    const FRESH: u32 = 4;
    /// Nobody needs the largest change of each iteration, as long as it exceeds the tolerance: any that does may stand for it.
    const ROUGH: u32 = 8;

    /// States of messages that are there at the same time where updates are synchronous.
    const PASS_BUFFERS: usize = 2;

    /// Why a run ended: `RunState::reason`.
    enum EndReason {
        None = RUNNING = 0,
        Converged = CONVERGED = 1,
        Iterations = ALL_PASSES = 2,
        Share = SHARE = 3,
        Contradiction = CONTRADICTION = 4,
    }

    /// What is known about a variable: nothing; a binary one observed; another one observed, whose weights are one-hot; soft
    /// evidence, whose weights are one more message.
    enum Known {
        Nothing = KNOWN_NOTHING = 0,
        False = KNOWN_FALSE = 1,
        True = KNOWN_TRUE = 2,
        State = KNOWN_STATE = 3,
        Weights = KNOWN_WEIGHTS = 4,
    }

    /// Threads of a block, but by levels of the binary program.
    const THREADS: u32 = 512;

    /// When a run ends.
    struct Rule {
        /// A `RuleKind`.
        kind: u32,
        flags: u32,
        tolerance: f64,
        min_iterations: u64,
        /// Of RULE_PASSES their number.
        max_iterations: u64,
        /// Variables and factors.
        nodes: u64,
    }

    /// The reduction counters of a state and of the iteration that led to it. Zero bits are empty ones: the lowest variables are
    /// kept as complements, of which the largest counts. After a launch, the host reads those of the last iteration.
    struct ReductionCounters as Tally {
        /// Largest change, as bits of a double that is not negative.
        max_diff: Counter,
        /// Variables and factors that moved by more than the tolerance.
        moved: Counter,
        /// Messages of factors that were 0/0 in the iteration.
        factor_count: Counter,
        /// Variables at which deterministic messages of the state disagree.
        variable_count: Counter,
        /// The lowest variable to which a message was 0/0.
        factor_lowest: u32,
        /// The lowest at which deterministic messages of the state disagree.
        variable_lowest: u32,
        /// By levels, the lowest at which deterministic messages disagreed when one was computed.
        met_lowest: u32,
        /// By levels, whether a message has become deterministic, or is so no longer.
        certain_changed: u32,
    }

    /// Convergence scans of which something is there at the same time.
    const SCANS: usize = 8;

    /// The progress of the convergence scan of a state (binary graphs only): work items that warps have taken and finished, those of
    /// factors, and those of large variables that they have multiplied. Starts at zero.
    struct ScanProgress as LookProgress {
        taken: u32,
        finished: u32,
        factors_taken: u32,
        multiplied: u32,
    }

    /// What was found of a run.
    struct Found {
        /// As in `RunReport`.
        max_diff: f64,
        /// As in `RunReport`.
        active_fraction: f64,
        /// Largest number of contradictory places in an iteration.
        contradictions: u64,
        /// Number of those that ended the run.
        error_count: u64,
        /// Complements of variables; 0 for none.
        first_contradiction: u32,
        error_variable: u32,
        /// Variables that moved by more than the tolerance when all were measured last.
        moved: u64,
        /// How many iterations run at once of which a sample is measured; 0: not known yet.
        at_once: u64,
        /// The iteration after which a sample did not say that the run goes on; 0: none.
        doubtful: u64,
    }

    /// The state of a run, in the device's memory between launches.
    struct RunState as Control {
        /// Iterations of this run.
        iterations: u64,
        /// An `EndReason`.
        reason: u32,
        /// Which of the program's buffers holds the messages.
        buffer: u32,
        found: Found,
        counters: [ReductionCounters; 4],
        /// Of the states, and of a second scan of each.
        scans: [ScanProgress; SCANS],
    }

    /// The log entry of an iteration: as in `Progress` of a run.
    struct IterationLog as Progress {
        max_diff: f64,
        active_fraction: f64,
    }

    /// What a launch is to do, the last argument of each kernel that runs iterations: some until the rule ends the run, or `limit`
    /// of the run are done.
    struct Loop {
        rule: Rule,
        limit: u64,
        control: Address<RunState>,
        /// An entry for each iteration of the launch.
        log: Address<IterationLog>,
        /// Zeros at the beginning: the words of the grid barrier; or a counter of turns that warps have done with, and words for
        /// each block.
        barrier: Address<u32>,
    }

    /// Of the words behind the counter of turns, that of the first block,
    const GO_FIRST: usize = 32;
    /// and how many words farther that of the next one is.
    const GO_STRIDE: usize = 8;
}
