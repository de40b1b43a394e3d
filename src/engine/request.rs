//! What a run is asked to do and what it reports.

use crate::error::{Error, Result};
use crate::kernel::{Inference, Threshold};
use std::time::Duration;

/// When a run ends; `docs/src/reference/contract.md` has the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// After this many iterations.
    Iterations(u64),
    /// When no belief of a variable has changed by more than `tolerance` in an iteration, or after
    /// `max_iterations`.
    Tolerance {
        /// Largest change of a probability that counts as none; not negative.
        tolerance: f64,
        /// Number of iterations after which the run ends without having converged.
        max_iterations: u64,
    },
    /// libDAI's rule: when no belief of a variable *or of a factor* has changed by more than
    /// `tolerance` in an iteration, or after `max_iterations`. A fresh run compares with uniform beliefs. The
    /// beliefs of factors are tables: each may have 2^20 entries at most.
    AllBeliefs {
        /// Largest change of a probability that counts as none; not negative.
        tolerance: f64,
        /// Number of iterations after which the run ends without having converged.
        max_iterations: u64,
    },
    /// BINGO's rule `run(tol, minIters, maxIters, histLength)`: before each iteration, with n iterations
    /// done, ends *converged* if the largest difference is at most `tolerance`; ends if n >
    /// `min_iterations` and the share of variables and factors that still move is below
    /// (n - min) / (max - min); ends if n > `max_iterations`. Without convergence the results are the
    /// means of the last min(`history`, n) beliefs.
    Bingo {
        /// Largest difference that counts as none; not negative.
        tolerance: f64,
        /// Iterations before the share of moving nodes is looked at.
        min_iterations: u64,
        /// Iterations after which the run ends in any case.
        max_iterations: u64,
        /// Number of beliefs that the low-pass result averages; at least 1.
        history: u64,
    },
}

impl StopRule {
    /// Largest number of iterations that a run by this rule can make.
    pub fn most_iterations(&self) -> u64 {
        match *self {
            StopRule::Iterations(count) => count,
            StopRule::Tolerance { max_iterations, .. }
            | StopRule::AllBeliefs { max_iterations, .. } => max_iterations,
            StopRule::Bingo { max_iterations, .. } => max_iterations.saturating_add(1),
        }
    }

    /// Largest change of what counts as converged in [`Progress::unconverged`]: the tolerance of the rule; for a fixed number of
    /// iterations, which has none, 1e-9.
    pub fn tolerance(&self) -> f64 {
        match *self {
            StopRule::Iterations(_) => 1e-9,
            StopRule::Tolerance { tolerance, .. }
            | StopRule::AllBeliefs { tolerance, .. }
            | StopRule::Bingo { tolerance, .. } => tolerance,
        }
    }
}

/// What the messages are before the first iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Uniform.
    #[default]
    Fresh,
    /// As the last run, or a call that set them, left them.
    Warm,
}

/// What happens where deterministic messages that disagree meet, that is where a belief or message would
/// be 0/0.
///
/// An observed variable is in its observed state whatever its factors say,
/// so messages to it contradict nothing; those of its neighbours may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contradiction {
    /// The run ends with an error that names the variable, at the end of the iteration.
    #[default]
    Error,
    /// The state backed by more deterministic messages wins, a tie is uniform, and so is a factor's
    /// message that would be 0/0. The run goes on and reports what happened.
    Vote,
}

/// A run to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRequest {
    /// When it ends.
    pub rule: StopRule,
    /// What it starts from.
    pub start: Start,
    /// Wall-clock time after which no further iteration begins; `None` for no limit.
    pub max_time: Option<Duration>,
    /// What happens at contradictions.
    pub contradiction: Contradiction,
    /// Sums or maxima.
    pub inference: Inference,
    /// Damping d in [0, 1): a message becomes old^d * new^(1-d), renormalised; 0 for none.
    ///
    /// Messages read damped ones; a variable's belief, and the change that the stop rules look at,
    /// is of the undamped ones last computed, as in libDAI.
    pub damping: f64,
    /// Active set: a message is computed again only if one that it reads has changed by more than
    /// this since, in log-odds (natural logarithm; of any two states); a change up to it is dropped.
    /// `None` computes all messages in every iteration. 0 gives the bits of such a run.
    ///
    /// With a threshold t, every message of a run that has come to rest is within t of its update. A
    /// threshold on probabilities would not do: it stops messages near 0 and 1 from ever getting
    /// anywhere. What is stored depends on the schedule alone. A message that is not computed again would be what
    /// it is, so the CPU computes all of an iteration, on its threads, or fewer, whichever is faster; devices
    /// compute all. Not together with damping or SEQMAX.
    pub active_threshold: Option<f64>,
    /// Whether [`Progress`] has all of its measures after each iteration. Costs the time of measuring in each iteration,
    /// and on a device that of a launch; changes no bit of messages, results or report.
    pub observe: bool,
    /// Whether nobody needs [`Progress::max_diff`], [`Progress::active_fraction`] and [`Progress::unconverged`]: then a change
    /// that exceeds the tolerance may stand for the largest one, and a share that does not end the run for the one that is,
    /// which spares most of the time of measuring. Changes no bit of messages, results or report, but where a callback ends
    /// a run by BINGO's rule before the iterations of which it gives means: these are then of fewer iterations, or, if there
    /// are none, results are the beliefs after the last one. Not where [`RunRequest::observe`] asks for all measures.
    pub rough_progress: bool,
}

impl RunRequest {
    /// A fresh run with this rule, without a time limit, that ends at contradictions.
    pub fn new(rule: StopRule) -> Self {
        Self {
            rule,
            start: Start::Fresh,
            max_time: None,
            contradiction: Contradiction::Error,
            inference: Inference::SumProduct,
            damping: 0.0,
            active_threshold: None,
            observe: false,
            rough_progress: false,
        }
    }

    /// By which factor odds of two states have to grow or fall for a message to be stored, if there is an active set that drops
    /// any change; else 0.
    pub(crate) fn least_growth(&self) -> f64 {
        self.active_threshold
            .and_then(|threshold| Threshold::new(threshold).factor())
            .unwrap_or(0.0)
    }

    /// Whether what is stored of a message depends on the one before: by damping, or by an active set that drops changes.
    pub(crate) fn depends_on_old_messages(&self) -> bool {
        self.damping > 0.0 || self.least_growth() > 0.0
    }

    /// Errors: a tolerance or threshold that is negative or NaN, a damping outside [0, 1), an active set with
    /// damping, an empty history, a minimum of iterations above the maximum.
    pub(crate) fn check(&self) -> Result<()> {
        let check_tolerance = |tolerance: f64| {
            if tolerance >= 0.0 {
                Ok(())
            } else {
                Err(Error::InvalidArgument(format!(
                    "tolerance {tolerance}: a value >= 0 is needed"
                )))
            }
        };
        if !(0.0..1.0).contains(&self.damping) {
            return Err(Error::InvalidArgument(format!(
                "damping {}: a value in [0, 1) is needed",
                self.damping
            )));
        }
        if let Some(threshold) = self.active_threshold {
            if threshold.is_nan() || threshold < 0.0 {
                return Err(Error::InvalidArgument(format!(
                    "threshold {threshold} of the active set: a value >= 0 is needed"
                )));
            }
            if self.damping > 0.0 {
                return Err(Error::Unsupported(format!(
                    "an active set with damping {}: only one of the two is possible",
                    self.damping
                )));
            }
        }
        match self.rule {
            StopRule::Iterations(_) => Ok(()),
            StopRule::Tolerance { tolerance, .. } | StopRule::AllBeliefs { tolerance, .. } => {
                check_tolerance(tolerance)
            }
            StopRule::Bingo { tolerance, min_iterations, max_iterations, history } => {
                check_tolerance(tolerance)?;
                if min_iterations > max_iterations {
                    return Err(Error::InvalidArgument(format!(
                        "at least {min_iterations} iterations but at most {max_iterations}: \
                         the minimum must not exceed the maximum"
                    )));
                }
                if history == 0 {
                    return Err(Error::InvalidArgument(
                        "history 0: at least one belief must be kept".into(),
                    ));
                }
                Ok(())
            }
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The changes fell to the tolerance.
    Converged,
    /// All iterations asked for were made.
    Iterations,
    /// BINGO's rule ended it by the share of moving nodes.
    Share,
    /// The time was up.
    Time,
    /// The callback asked for it.
    Cancelled,
}

/// The state of a run after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Iterations done in this run.
    pub iterations: u64,
    /// Largest number of iterations that this run can make.
    pub max_iterations: u64,
    /// Largest change in the last iteration: infinity before the first iteration and where the rule does not
    /// measure it. Where the rule looks at factors, too, and [`RunRequest::observe`] does not ask for all measures, that
    /// of variables alone may stand here, if it exceeds the tolerance; with [`RunRequest::rough_progress`], that of any of
    /// them.
    pub max_diff: f64,
    /// Share of variables and factors that moved by more than the tolerance (BINGO's rule), else 1. With
    /// [`RunRequest::rough_progress`], at least so many did, or this is of an iteration before.
    pub active_fraction: f64,
    /// Share of variables whose belief changed by more than [`StopRule::tolerance`]; of variables and factors where the
    /// rule looks at both. `None` where it is not measured: unless [`RunRequest::observe`] asks for it, with a fixed
    /// number of iterations, and on devices by other rules than BINGO's.
    pub unconverged: Option<f64>,
    /// Number of contradictory places: variables at which deterministic messages disagree after the iteration, and
    /// messages of factors that were 0/0 in it. `None` unless [`RunRequest::observe`] asks for it.
    pub contradictions: Option<u64>,
}

/// What a progress callback wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// End the run before the next iteration; its iterations so far count.
    Cancel,
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunReport {
    /// Iterations of this run.
    pub iterations: u64,
    /// Iterations since the messages were uniform.
    pub total_iterations: u64,
    /// Why it ended.
    pub reason: StopReason,
    /// Whether the changes fell to the tolerance; `false` for a fixed number of iterations.
    pub converged: bool,
    /// Largest change in the last iteration: of a belief, or by BINGO's rule also of a factor's inputs.
    /// Infinity if no iteration was made. Of a run by [`StopRule::AllBeliefs`] that its time or a callback ended on a device,
    /// that of variables alone may stand here, if it exceeds the tolerance.
    pub max_diff: f64,
    /// Share of variables and factors that moved by more than the tolerance in the last iteration
    /// (BINGO's rule; 1 before the first iteration and under other rules).
    pub active_fraction: f64,
    /// Largest number of contradictory places (variables and factor messages) in any one iteration;
    /// 0 under [`Contradiction::Error`], which ends such a run.
    pub contradictions: u64,
    /// Index of the lowest contradictory variable in the first iteration that had one.
    pub first_contradiction: Option<usize>,
    /// Number of messages that a run with an active set left out on the CPU, which depends on what was faster; 0 without one
    /// and on devices (see [`RunRequest::active_threshold`]).
    pub spared_messages: u64,
}
