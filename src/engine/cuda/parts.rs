//! Runs that are made part by part: what their rule asks of an engine.

use super::general::BeliefMovement;
use super::programs::ProgramKind;
use crate::engine::{Control, Progress, RunReport, RunRequest};
use crate::error::Result;
use crate::model::Evidence;
use std::time::Instant;

/// Iterations of a run that one program makes.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub request: &'a RunRequest,
    pub evidence: &'a Evidence,
    /// When the time limit began to count.
    pub started: Instant,
    /// Whether the rule of the run looks at messages to factors, and so finds what contradicts in them at the end of the iteration
    /// that led to them.
    pub looks_at_factors: bool,
}

/// What makes the parts of a run, and measures beliefs of factors between them.
pub(super) trait Parts {
    /// Variables and factors.
    fn nodes(&self) -> usize;

    /// Makes the program that runs a request, if it is not there, and says which it is.
    fn require(&mut self, request: &RunRequest, evidence: &Evidence) -> Result<ProgramKind>;

    /// Gives the messages to a program.
    fn give_to(&mut self, kind: ProgramKind) -> Result<()>;

    /// Makes the iterations of a part. Gives also how many variables have moved in the last one, if all were measured.
    fn run_part(
        &mut self, part: Part<'_>, monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<(RunReport, u64)>;

    /// Makes the beliefs of factors uniform, for a run by a program. Errors: see `General::begin_beliefs`.
    fn begin_beliefs(&mut self, kind: ProgramKind, evidence: &Evidence) -> Result<()>;

    /// Replaces the beliefs of factors by those of the present messages, which a program has; see `General::measure_beliefs`.
    fn measure_beliefs(
        &mut self, evidence: &Evidence, tolerance: f64, recalling: bool,
    ) -> Result<BeliefMovement>;
}
