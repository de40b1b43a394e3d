//! What the runs of a session are made with, unless a request says otherwise.

use crate::engine::{Contradiction, Inference, RunRequest, Start, StopRule};
use std::time::Duration;

/// Whose changes end a run by tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Those of the beliefs of variables.
    #[default]
    Variables,
    /// libDAI's: those of the beliefs of variables and of factors.
    All,
}

/// What runs are made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Largest change of a probability that counts as none; not negative. 1e-9 unless changed.
    pub tolerance: f64,
    /// Number of iterations after which a run ends without having converged. 10,000 unless changed.
    pub max_iterations: u64,
    /// Time after which a run ends; none unless changed.
    pub max_time: Option<Duration>,
    /// What happens where deterministic messages disagree.
    pub contradiction: Contradiction,
    /// Where runs start from.
    pub start: Start,
    /// Sums or maxima.
    pub inference: Inference,
    /// See [`RunRequest::damping`].
    pub damping: f64,
    /// See [`RunRequest::active_threshold`].
    pub active_threshold: Option<f64>,
    /// Whose changes the tolerance is compared with.
    pub measure: Measure,
}

impl Default for Settings {
    fn default() -> Self {
        let RunRequest {
            max_time, contradiction, start, inference, damping, active_threshold, ..
        } = RunRequest::new(StopRule::Iterations(0));
        Self {
            tolerance: 1e-9,
            max_iterations: 10_000,
            max_time,
            contradiction,
            start,
            inference,
            damping,
            active_threshold,
            measure: Measure::Variables,
        }
    }
}

impl Settings {
    /// A run until the tolerance is met, within the greatest number of iterations.
    pub fn request(&self) -> RunRequest {
        let Self { tolerance, max_iterations, .. } = *self;
        self.request_by(match self.measure {
            Measure::Variables => StopRule::Tolerance { tolerance, max_iterations },
            Measure::All => StopRule::AllBeliefs { tolerance, max_iterations },
        })
    }

    /// A run by another rule.
    pub fn request_by(&self, rule: StopRule) -> RunRequest {
        let Self { max_time, contradiction, start, inference, damping, active_threshold, .. } =
            *self;
        RunRequest {
            start,
            max_time,
            contradiction,
            inference,
            damping,
            active_threshold,
            ..RunRequest::new(rule)
        }
    }
}
