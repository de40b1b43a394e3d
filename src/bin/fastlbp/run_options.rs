//! How `fastlbp infer`, `rank` and `locate` run: the order of messages, when to stop, and on what.

use crate::activity::Activity;
use crate::failure::{Failure, Outcome};
use crate::options::{
    BackendName, ScheduleName, parse_bingo_rule, parse_damping, parse_seconds, parse_tolerance,
};
use crate::standard_streams::input_path;
use clap::ValueEnum;
use fastlbp::format::read_ranks;
use fastlbp::schedule::Preorder;
use fastlbp::{
    Contradiction, DeviceSet, EngineOptions, FactorGraph, Inference, RunRequest, Schedule, StopRule,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_TOLERANCE: f64 = 1e-9;
const DEFAULT_MAX_ITERATIONS: u64 = 1000;

/// Most threads that can be asked for: far more than any machine has, few enough to start.
const MAX_THREADS: u64 = 1024;

/// The options of a run.
#[derive(clap::Args)]
pub struct RunArguments {
    /// Order in which messages are updated
    #[arg(short, long, value_enum, ignore_case = true, default_value_t = ScheduleName::Parallel)]
    schedule: ScheduleName,

    /// Order of the user's own: a line `factor-position variable-label rank` per edge; messages are
    /// updated by ascending rank, those of equal rank at once
    #[arg(long, value_name = "FILE", value_parser = input_path(), conflicts_with_all = ["schedule", "blocks", "seed"])]
    ranks: Option<PathBuf>,

    /// Number of blocks of BLOCKS; the other schedules do not use it
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = Schedule::DEFAULT_BLOCKS, value_parser = clap::value_parser!(u32).range(1..))]
    blocks: u32,

    /// Seed of SEQRND and BLOCKS; the other schedules do not use it
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// SEQMAX compares logarithms of probabilities, not probabilities; the other schedules refuse it
    #[arg(long)]
    log_domain: bool,

    /// Sums give marginals, maxima max-marginals: beliefs over the most probable joint states
    #[arg(long, value_enum, value_name = "KIND")]
    inference: Option<InferenceName>,

    /// Make exactly this many iterations
    #[arg(short = 'n', long, allow_negative_numbers = true, value_name = "N", conflicts_with_all = ["tolerance", "max_iterations", "bingo"])]
    iterations: Option<u64>,

    /// Stop when no probability changes by more than this in an iteration [default: 1e-9]
    #[arg(long, allow_negative_numbers = true, value_name = "T", value_parser = parse_tolerance, conflicts_with = "bingo")]
    tolerance: Option<f64>,

    /// Most iterations to wait for the tolerance [default: 1000]
    #[arg(long, allow_negative_numbers = true, value_name = "N", conflicts_with = "bingo")]
    max_iterations: Option<u64>,

    /// What must not change by more than the tolerance: the probabilities of the variables alone, or
    /// also the beliefs of the factors, as in libDAI, each of at most 2^20 entries
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = StopOn::Variables, conflicts_with_all = ["iterations", "bingo"])]
    stop_on: StopOn,

    /// BINGO's rule: stop at tolerance TOL, or, between MIN and MAX iterations, when few variables still
    /// change; without convergence the results are means of the last HIST beliefs
    #[arg(long, allow_hyphen_values = true, value_name = "TOL,MIN,MAX,HIST", value_parser = parse_bingo_rule)]
    bingo: Option<StopRule>,

    /// Begin no further iteration after this many seconds
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = parse_seconds)]
    max_time: Option<Duration>,

    /// Damping, at least 0 and below 1: a message becomes old^D * new^(1-D)
    #[arg(long, allow_negative_numbers = true, value_name = "D", value_parser = parse_damping)]
    damping: Option<f64>,

    /// Active set: compute a message again only if one that it reads has changed by more than T >= 0
    /// in log-odds; 0 gives the same bits as without. On the CPU, iterations then run on one thread. Not for SEQMAX
    #[arg(long, allow_negative_numbers = true, value_name = "T", value_parser = parse_tolerance, conflicts_with = "damping")]
    active: Option<f64>,

    /// What happens where deterministic messages that disagree meet
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = ContradictionPolicy::Error)]
    contradiction: ContradictionPolicy,

    /// Number of threads [default: one per physical core]
    #[arg(short, long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS))]
    threads: Option<u64>,

    /// What runs the iterations
    #[arg(long, value_enum, default_value_t = BackendName::Auto)]
    backend: BackendName,

    /// Number of the CUDA device that the backend cuda uses, as `fastlbp devices` lists them; with
    /// several, as in 0,1, a batch is spread over them, and a single run uses the lowest [default: those
    /// of the environment variable FASTLBP_DEVICE, else 0, and for a batch all]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = parse_devices)]
    device: Option<Devices>,

    /// Run all tables entry by entry, also those that `fastlbp info` calls compiled; results differ by
    /// rounding only
    #[arg(long)]
    no_compile: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContradictionPolicy {
    /// End with exit code 3 and name the variable
    Error,
    /// The state backed by more deterministic messages wins, a tie is uniform
    Vote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InferenceName {
    /// Sum-product
    Sum,
    /// Max-product
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StopOn {
    /// The probabilities of the variables
    Variables,
    /// The beliefs of variables and factors
    All,
}

/// What `--device` says.
#[derive(Clone, Copy, Debug)]
struct Devices {
    /// That of a single run.
    first: u32,
    /// Empty where it is one.
    several: DeviceSet,
}

fn parse_devices(text: &str) -> Result<Devices, String> {
    let numbers: Result<Vec<u32>, _> =
        text.split(',').map(|number| number.trim().parse()).collect();
    let numbers =
        numbers.map_err(|_| "the number of a CUDA device, or several such as 0,1, is needed")?;
    let several = DeviceSet::of(&numbers).map_err(|error| error.to_string());
    match numbers[..] {
        [first] => Ok(Devices { first, several: DeviceSet::NONE }),
        _ => {
            let several = several?;
            Ok(Devices { first: several.iter().next().unwrap_or(0), several })
        }
    }
}

impl InferenceName {
    pub fn inference(self) -> Inference {
        match self {
            Self::Sum => Inference::SumProduct,
            Self::Max => Inference::MaxProduct,
        }
    }
}

impl RunArguments {
    /// The file with an order of the user's own.
    pub fn ranks(&self) -> Option<&Path> {
        self.ranks.as_deref()
    }

    /// Whether options that are right on their own go together.
    pub fn check(&self) -> Outcome {
        let is_residual = self.schedule == ScheduleName::MaximumResidual;
        if self.log_domain && !is_residual {
            return Err(Failure::input(
                "--log-domain is an option of the schedule SEQMAX: --schedule SEQMAX is needed",
            ));
        }
        if self.active.is_some() && is_residual {
            return Err(Failure::input(
                "--active with the schedule SEQMAX, which has its own choice of messages: another \
                 schedule is needed",
            ));
        }
        Ok(())
    }

    /// What `--inference` says; `None` where it is not given.
    pub fn inference(&self) -> Option<Inference> {
        self.inference.map(InferenceName::inference)
    }

    /// The schedule; ranks are read from their file.
    pub fn read_schedule(&self, graph: &FactorGraph) -> Outcome<Schedule> {
        if let Some(path) = &self.ranks {
            let ranks = read_ranks(path, graph)?;
            return Ok(Schedule::Custom(Arc::new(Preorder::from_ranks(graph, &ranks)?)));
        }
        Ok(match self.schedule.schedule(self.seed, self.blocks) {
            Schedule::MaximumResidual { .. } => {
                Schedule::MaximumResidual { log_domain: self.log_domain }
            }
            other => other,
        })
    }

    /// What iterations run on.
    pub fn engine_options(&self) -> EngineOptions {
        EngineOptions {
            backend: self.backend.backend(),
            // The value was checked to be small.
            threads: self.threads.map(|threads| threads as usize),
            device: self.device.map(|devices| devices.first),
            devices: self.device.map_or(DeviceSet::NONE, |devices| devices.several),
            compile_tables: !self.no_compile,
        }
    }

    /// When a run ends.
    pub fn stop_rule(&self) -> StopRule {
        if let Some(rule) = self.bingo {
            return rule;
        }
        if let Some(iterations) = self.iterations {
            return StopRule::Iterations(iterations);
        }
        let tolerance = self.tolerance.unwrap_or(DEFAULT_TOLERANCE);
        let max_iterations = self.max_iterations.unwrap_or(DEFAULT_MAX_ITERATIONS);
        match self.stop_on {
            StopOn::Variables => StopRule::Tolerance { tolerance, max_iterations },
            StopOn::All => StopRule::AllBeliefs { tolerance, max_iterations },
        }
    }

    /// When a run ends, for a command with a rule of its own where none is asked for.
    pub fn stop_rule_or(&self, default: StopRule) -> StopRule {
        let is_asked = self.bingo.is_some()
            || self.iterations.is_some()
            || self.tolerance.is_some()
            || self.max_iterations.is_some()
            || self.stop_on != StopOn::Variables;
        if is_asked { self.stop_rule() } else { default }
    }

    /// The run. (How far all beliefs move is measured where somebody sees it.)
    pub fn request(&self, inference: Inference) -> RunRequest {
        RunRequest {
            rough_progress: !Activity::is_shown(),
            max_time: self.max_time,
            contradiction: match self.contradiction {
                ContradictionPolicy::Error => Contradiction::Error,
                ContradictionPolicy::Vote => Contradiction::Vote,
            },
            inference,
            damping: self.damping.unwrap_or(0.0),
            active_threshold: self.active,
            ..RunRequest::new(self.stop_rule())
        }
    }
}
