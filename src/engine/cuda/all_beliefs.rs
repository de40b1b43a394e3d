//! Runs by libDAI's rule, which looks at the beliefs of variables and of factors.
//!
//! Programs make their iterations by a tolerance of variables alone, and beliefs of factors are measured apart, by the general
//! program's kernels. As long as beliefs of variables move, those of factors decide nothing: so iterations follow each other as in
//! a run by a tolerance until these hardly do, and then one by one, each with its measurement. Which ones that are, nobody can
//! tell from the results.

use super::general::BeliefMovement;
use super::parts::{Part, Parts};
use super::programs::{ProgramKind, lost};
use crate::engine::{Control, Progress, RunReport, RunRequest, Start, StopReason, StopRule};
use crate::error::Result;

/// From changes of beliefs of variables of so many times the tolerance on, it is considered when iterations are to be made one by
/// one. If changes fall from more than that to less than the tolerance at once, all iterations but the last one are made twice.
const FAR_TOLERANCE: f64 = 16.0;

/// Who hears of the iterations of a run.
struct Listener<'a> {
    monitor: &'a mut dyn FnMut(&Progress) -> Control,
    max_iterations: u64,
    /// So many it has heard of.
    heard: u64,
}

impl Listener<'_> {
    /// Tells of an iteration that was not made before.
    fn tell(&mut self, now: &Progress) -> Control {
        if now.iterations <= self.heard {
            return Control::Continue;
        }
        self.heard = now.iterations;
        (self.monitor)(&Progress { max_iterations: self.max_iterations, ..*now })
    }
}

/// Such a run.
struct AllBeliefs<'a> {
    engine: &'a mut dyn Parts,
    /// Which program makes its iterations.
    kind: ProgramKind,
    /// All of it.
    whole: Part<'a>,
    tolerance: f64,
    max_iterations: u64,
    listener: Listener<'a>,
}

/// Makes the iterations of a run by libDAI's rule.
pub(super) fn run(
    engine: &mut dyn Parts, whole: Part<'_>, (tolerance, max_iterations): (f64, u64),
    monitor: &mut dyn FnMut(&Progress) -> Control,
) -> Result<RunReport> {
    let by_variables = with_rule(whole.request, StopRule::Tolerance { tolerance, max_iterations });
    let kind = engine.require(&by_variables, whole.evidence)?;
    // All that can fail for lack of memory comes before the first iteration.
    engine.begin_beliefs(kind, whole.evidence)?;
    let listener = Listener { monitor, max_iterations, heard: 0 };
    AllBeliefs { engine, kind, whole, tolerance, max_iterations, listener }.make()
}

fn with_rule(request: &RunRequest, rule: StopRule) -> RunRequest {
    RunRequest { rule, ..*request }
}

impl AllBeliefs<'_> {
    fn make(&mut self) -> Result<RunReport> {
        if self.max_iterations == 0 {
            let (tolerance, max_iterations) = (self.tolerance, 0);
            let request = StopRule::Tolerance { tolerance, max_iterations };
            let request = &with_rule(self.whole.request, request);
            let none = Part { request, ..self.whole };
            return Ok(self.engine.run_part(none, &mut |_| Control::Continue)?.0);
        }
        let is_fresh = self.whole.request.start == Start::Fresh;
        if is_fresh
            && !self.whole.request.observe
            && self.max_iterations > 1
            && let Some(report) = self.run_by_variables()?
        {
            if is_ended(&report) {
                return Ok(report);
            }
            self.measure(true)?;
            if let Some(report) = self.go_on(Some(report))? {
                return Ok(report);
            }
            self.engine.begin_beliefs(self.kind, self.whole.evidence)?;
        }
        if !is_fresh {
            self.engine.give_to(self.kind)?;
            self.measure(false)?;
        }
        self.go_on(None)?.ok_or_else(lost)
    }

    /// Makes the first iterations of a fresh run at once: so many that another one must follow, or that a callback or the time has
    /// ended. `None` for none.
    fn run_by_variables(&mut self) -> Result<Option<RunReport>> {
        let mut changes = [f64::INFINITY; 2];
        let far = FAR_TOLERANCE * self.tolerance;
        let mut all = self.run_until(far, None, &mut changes)?;
        // If changes go on to fall as they do, some two iterations are left then.
        let falls = (changes[1] / changes[0]).min(1.0);
        let near = self.tolerance / (falls * falls);
        if all.converged && near < falls * all.max_diff {
            all = self.run_until(near, Some(all), &mut changes)?;
        }
        if !(all.converged && all.max_diff <= self.tolerance) {
            return Ok(Some(all));
        }
        // It may be the last one: beliefs of factors before it are needed.
        if all.iterations < 2 {
            return Ok(None);
        }
        let before = with_rule(self.whole.request, StopRule::Iterations(all.iterations - 1));
        let before = RunRequest { max_time: None, ..before };
        let part = Part { request: &before, ..self.whole };
        Ok(Some(self.engine.run_part(part, &mut |_| Control::Continue)?.0))
    }

    /// Makes iterations after those of a report until no belief of a variable changes by more than so much, but not the last one.
    /// The last two changes go to a list.
    fn run_until(
        &mut self, tolerance: f64, before: Option<RunReport>, changes: &mut [f64; 2],
    ) -> Result<RunReport> {
        let made = before.map_or(0, |before| before.iterations);
        let max_iterations = self.max_iterations - 1 - made;
        let start = if made > 0 { Start::Warm } else { Start::Fresh };
        let rule = StopRule::Tolerance { tolerance, max_iterations };
        let request = RunRequest { start, ..with_rule(self.whole.request, rule) };
        let part = Part { request: &request, ..self.whole };
        let (report, _) = self.engine.run_part(part, &mut |now| {
            *changes = [changes[1], now.max_diff];
            // Of one that may be the last, there is more to be told.
            match now.max_diff <= self.tolerance {
                true => Control::Continue,
                false => {
                    self.listener.tell(&Progress { iterations: made + now.iterations, ..*now })
                }
            }
        })?;
        Ok(before.map_or(report, |before| after(before, report)))
    }

    /// Makes iterations one by one after those of a report, with all measures, until the run ends. `None` if what beliefs are to be
    /// compared with is not known, as it was 0/0.
    fn go_on(&mut self, before: Option<RunReport>) -> Result<Option<RunReport>> {
        let rule = StopRule::Tolerance { tolerance: self.tolerance, max_iterations: 1 };
        let Part { request, .. } = self.whole;
        let mut all = before;
        loop {
            let start = if all.is_some() { Start::Warm } else { request.start };
            let one = RunRequest { start, ..with_rule(request, rule) };
            let mut contradictions = None;
            let part = Part { request: &one, ..self.whole };
            let (report, moved) = self.engine.run_part(part, &mut |now| {
                contradictions = now.contradictions;
                Control::Continue
            })?;
            if report.iterations == 0 {
                // The time is over.
                return Ok(Some(all.map_or(report, |all| after(all, report))));
            }
            let found = self.measure(false)?;
            if found.is_undefined {
                return Ok(None);
            }
            let nodes = self.engine.nodes();
            let moved = if nodes == 0 { 1.0 } else { (moved + found.moved) as f64 / nodes as f64 };
            let now = RunReport {
                max_diff: report.max_diff.max(found.max_diff),
                active_fraction: moved,
                ..all.map_or(report, |all| after(all, report))
            };
            let control = self.listener.tell(&Progress {
                iterations: now.iterations,
                max_iterations: self.max_iterations,
                max_diff: now.max_diff,
                active_fraction: moved,
                unconverged: request.observe.then_some(moved),
                contradictions,
            });
            let reason = if now.max_diff <= self.tolerance {
                Some(StopReason::Converged)
            } else if now.iterations >= self.max_iterations {
                Some(StopReason::Iterations)
            } else {
                (control == Control::Cancel).then_some(StopReason::Cancelled)
            };
            if let Some(reason) = reason {
                let converged = reason == StopReason::Converged;
                return Ok(Some(RunReport { reason, converged, ..now }));
            }
            all = Some(now);
        }
    }

    /// The changes of the beliefs of factors; of those that are recalled none.
    fn measure(&mut self, recalling: bool) -> Result<BeliefMovement> {
        self.engine.measure_beliefs(self.whole.evidence, self.tolerance, recalling)
    }
}

/// What a report and one of the iterations that followed say together.
fn after(before: RunReport, report: RunReport) -> RunReport {
    let measured = if report.iterations > 0 { report } else { before };
    RunReport {
        iterations: before.iterations + report.iterations,
        max_diff: measured.max_diff,
        active_fraction: measured.active_fraction,
        contradictions: before.contradictions.max(report.contradictions),
        first_contradiction: before.first_contradiction.or(report.first_contradiction),
        ..report
    }
}

/// Whether a callback or the time has ended a run.
fn is_ended(report: &RunReport) -> bool {
    matches!(report.reason, StopReason::Cancelled | StopReason::Time)
}
