//! The loop over iterations: stop rules, measurements, contradictions.

use super::active::Active;
use super::engine::CpuEngine;
use super::factor::constants_are_consistent;
use super::kept::Kept;
use super::marks::Marks;
use super::measure::{History, Measure, Tracker};
use super::overlap::Overlap;
use super::pace::Pace;
use super::plan::{BatchPlan, Order, Plan};
use super::random::Iteration;
use super::serial::Serial;
use super::single_inputs::SingleInputs;
use super::state::{Contradictions, State};
use super::team::Team;
use super::trees::HighDegreeVariables;
use super::variable::{belief, is_contradictory};
use super::witness::Witness;
use super::workspace::Movement;
use crate::engine::interface::Run;
use crate::engine::{Contradiction, Control, Progress, RunReport, Start, StopReason, StopRule};
use crate::error::{Error, Result};
use crate::memory::NoMemory;
use std::time::{Duration, Instant};

/// Iterations of graphs with fewer edges are compared with one thread where that would run them in the same steps.
const COMPARED_EDGES: usize = 1 << 17;

/// Whether one thread runs the next iteration, as it would run in the same steps on several.
fn is_left_to_one(state: &State, team: &Team, pace: &Pace) -> bool {
    // (An iteration of a large graph on one thread would cost more than the comparison tells.)
    let is_compared = state.graph.edge_count() < COMPARED_EDGES;
    team.present() == 1 || is_compared && pace.limit(1).is_none()
}

/// Runs iterations until the request's stop rule ends them.
///
/// All memory is allocated before any message changes, except for the history of beliefs and the working
/// memory of threads. If one of these allocations fails during the run, the messages are reset to uniform.
pub(super) fn run(engine: &mut CpuEngine, run: Run<'_>) -> Result<RunReport> {
    engine.has_begun = false;
    engine.team.assemble();
    let result = run_iterations(engine, run);
    engine.team.dismiss();
    engine.active = None;
    (engine.state.threshold, engine.state.counts_computed) = (None, false);
    if engine.has_begun && result.as_ref().is_err_and(|e| !matches!(e, Error::Contradiction { .. }))
    {
        engine.reset();
    }
    result
}

fn run_iterations(engine: &mut CpuEngine, run: Run<'_>) -> Result<RunReport> {
    let Run { request, results, monitor, .. } = run;
    let started = Instant::now();
    let measure = match request.rule {
        StopRule::Iterations(_) | StopRule::Tolerance { .. } => Measure::Variables,
        StopRule::AllBeliefs { .. } => Measure::AllBeliefs,
        StopRule::Bingo { .. } => Measure::Inputs,
    };
    // All that can fail for lack of memory comes before the first change.
    let tables = engine.factor_tables(measure)?;
    let tracker = Tracker::new(&engine.state, measure, tables, request.rule.tolerance())?;
    let history = match request.rule {
        StopRule::Bingo { history, .. } => Some(History::new(history, &tracker)?),
        _ => None,
    };
    let contradictory = Marks::new(engine.state.graph.variable_count())?;
    engine.prepare(request, measure)?;
    let fresh = request.start == Start::Fresh;
    // What a run does again must not depend on what has been: an active set remembers.
    let may_repeat = fresh && request.active_threshold.is_none();
    let defers = measure == Measure::AllBeliefs && may_repeat && !request.observe;
    let is_residual = matches!(engine.plan, Plan::Residual(_));
    // With a fixed number of iterations, only the last one is measured, unless each is observed.
    let always_measured = request.observe || !matches!(request.rule, StopRule::Iterations(_));
    let measures_variables = measure == Measure::Variables || defers;
    let sends_ahead = always_measured && measures_variables && engine.leaves_out_nodes();
    let witnessed = Witness::enough_until(&request.rule);
    // (Where time may end a run, any iteration may be among those that means are of. Damped messages and those of SEQMAX are
    // not those that beliefs come from.)
    let has_witness = request.rough_progress
        && !request.observe
        && witnessed > 0
        && (measure != Measure::AllBeliefs || defers)
        && !sends_ahead
        && (history.is_none() || request.max_time.is_none())
        && engine.state.damping == 0.0
        && !is_residual;
    let witness = has_witness.then(|| Witness::new(request.rule.tolerance(), witnessed));
    let kept = match has_witness || defers {
        true => Some(Kept::new(&engine.state)?),
        false => None,
    };
    let single_inputs = match &witness {
        Some(_) if measure == Measure::Inputs && engine.state.graph.all_binary() => {
            Some(SingleInputs::new(&engine.state)?)
        }
        _ => None,
    };
    if fresh {
        engine.reset();
    }
    engine.begin();
    engine.has_begun = true;
    let mut loops = Loop {
        engine,
        tracker,
        rule: request.rule,
        policy: request.contradiction,
        measure,
        history,
        defers,
        witness,
        kept,
        single_inputs,
        inputs_sent: false,
        sends_ahead,
        sent_ahead: None,
        // Uniform messages contradict nothing, so there is nothing to look for.
        scanned: fresh,
        factor_contradictions: Contradictions::default(),
        variable_contradictions: Contradictions::default(),
        contradictory,
        follows_marks: false,
        iterations: 0,
        measured: None,
        moved: 0,
        factors_measured: None,
        max_diff: f64::INFINITY,
        active_fraction: 1.0,
        unconverged: None,
        contradictions: 0,
        first_contradiction: None,
    };
    if !fresh {
        loops.compare_with_current()?;
    }
    let max_iterations = request.rule.most_iterations();
    let mut overlap = match always_measured {
        false if loops.has_lanes() => Some(Overlap::new(&loops.engine.state)?),
        _ => None,
    };
    let mut cancelled = false;
    let reason = loop {
        if let Some(reason) = loops.reason_to_stop() {
            break reason;
        }
        if cancelled {
            break StopReason::Cancelled;
        }
        if request.max_time.is_some_and(|limit| started.elapsed() >= limit) {
            break StopReason::Time;
        }
        if let Some(overlap) = &mut overlap
            && let Some(count) = loops.run_at_once(overlap, max_iterations)?
        {
            let before = loops.iterations - count;
            for made in 1..=count {
                let iterations = before + made;
                if monitor(&loops.unmeasured(iterations, max_iterations)) == Control::Cancel {
                    loops.go_back_to(iterations, before, overlap)?;
                    cancelled = true;
                    break;
                }
            }
            continue;
        }
        let last = loops.iterations + 1 >= max_iterations;
        if last && !always_measured && loops.iterations > 0 {
            loops.compare_with_current()?;
        }
        loops.keep();
        let begun = Instant::now();
        loops.iteration()?;
        if let Some(overlap) = &mut overlap {
            overlap.made_one(begun.elapsed());
        }
        let measured = always_measured || last;
        if measured {
            loops.sends_ahead &= !last;
            loops.measure()?;
        } else {
            loops.max_diff = f64::INFINITY;
            loops.unconverged = None;
        }
        let progress = Progress {
            iterations: loops.iterations,
            max_iterations,
            max_diff: loops.max_diff,
            active_fraction: loops.active_fraction,
            unconverged: loops.unconverged,
            contradictions: if request.observe {
                Some(loops.count_contradictions()?)
            } else {
                None
            },
        };
        cancelled = monitor(&progress) == Control::Cancel;
    };
    loops.finish(reason, results)
}

/// The messages to factors of an iteration that may follow. They are of no use where none does, and otherwise the iteration
/// goes on with them: contradictory variables are judged then, or at the end of the run.
struct SentAhead {
    /// Whether one thread runs the iteration.
    is_alone: bool,
    /// How long it has taken so far.
    time: Duration,
}

struct Loop<'a> {
    engine: &'a mut CpuEngine,
    tracker: Tracker,
    rule: StopRule,
    policy: Contradiction,
    measure: Measure,
    history: Option<History>,
    /// Whether beliefs of factors are left out by libDAI's rule while those of variables move by more than the tolerance, since no run
    /// ends then: they are measured where these do not, or no iteration follows, and compared with those of the messages that were
    /// kept. That gives what measuring them after each iteration gives, unless one is to be compared with a belief that was 0/0, in
    /// place of which the last one that was not stands. Where that is found, the run is made once more from the start, with all
    /// measures.
    defers: bool,
    /// `None` where all variables are measured after each iteration.
    witness: Option<Witness>,
    /// `None` where everything that is compared with the messages before an iteration is measured after each.
    kept: Option<Kept>,
    /// `None` where factors are measured, if anything is, by all their inputs.
    single_inputs: Option<SingleInputs>,
    /// Whether `State::by_edge` holds the current messages from variables to factors.
    inputs_sent: bool,
    /// Whether beliefs are measured together with the messages from variables to factors of the next iteration.
    sends_ahead: bool,
    /// The part of the next iteration that has been made.
    sent_ahead: Option<SentAhead>,
    /// Whether `contradictory` belongs to the current messages.
    scanned: bool,
    /// Contradictory messages from factors in the last iteration.
    factor_contradictions: Contradictions,
    /// Contradictory variables at the last count.
    variable_contradictions: Contradictions,
    /// The contradictory variables themselves, where iterations run in batches.
    contradictory: Marks,
    /// Whether the last iteration went by the marks of an active set.
    follows_marks: bool,
    iterations: u64,
    /// The iteration after which beliefs of variables were last measured, and how many of these moved in it.
    measured: Option<u64>,
    moved: u64,
    /// The iteration after which factors were last measured.
    factors_measured: Option<u64>,
    max_diff: f64,
    active_fraction: f64,
    /// As in `Progress`.
    unconverged: Option<f64>,
    contradictions: u64,
    first_contradiction: Option<usize>,
}

impl Loop<'_> {
    /// The reason to end the run before the next iteration, if there is one (`docs/src/reference/contract.md`).
    /// Differences are never NaN.
    fn reason_to_stop(&self) -> Option<StopReason> {
        let n = self.iterations;
        match self.rule {
            StopRule::Iterations(count) => (n >= count).then_some(StopReason::Iterations),
            StopRule::Tolerance { tolerance, max_iterations }
            | StopRule::AllBeliefs { tolerance, max_iterations } => {
                if n > 0 && self.max_diff <= tolerance {
                    Some(StopReason::Converged)
                } else {
                    (n >= max_iterations).then_some(StopReason::Iterations)
                }
            }
            StopRule::Bingo { tolerance, max_iterations, .. } => {
                if n > 0 && self.max_diff <= tolerance {
                    return Some(StopReason::Converged);
                }
                if self.active_fraction < self.least_fraction() {
                    return Some(StopReason::Share);
                }
                (n > max_iterations).then_some(StopReason::Iterations)
            }
        }
    }

    /// The active fraction below which a run by BINGO's rule ends now.
    fn least_fraction(&self) -> f64 {
        match self.rule {
            StopRule::Bingo { min_iterations, max_iterations, .. }
                if self.iterations > min_iterations =>
            {
                let after = self.iterations - min_iterations;
                after as f64 / (max_iterations - min_iterations) as f64
            }
            _ => 0.0,
        }
    }

    /// Whether the iterations of the run are those of lanes.
    fn has_lanes(&self) -> bool {
        let CpuEngine { plan, .. } = &*self.engine;
        matches!(plan, Plan::Batches(plan) if matches!(plan.order, Order::Lanes(_)))
    }

    /// Runs several iterations at once, if that is possible now, and returns their number. The last one of the run and the
    /// first one since the messages were uniform are made alone, and iterations in which contradictions come or go.
    fn run_at_once(&mut self, overlap: &mut Overlap, max_iterations: u64) -> Result<Option<u64>> {
        let constants_sent = self.engine.constants_sent();
        let CpuEngine { state, team, plan, iterations, active, .. } = &mut *self.engine;
        if active.as_ref().is_some_and(Active::goes_by_marks) {
            return Ok(None);
        }
        if !self.scanned || !(constants_sent || state.damping > 0.0) {
            return Ok(None);
        }
        let Plan::Batches(plan) = plan else { return Ok(None) };
        let BatchPlan { order, trees, cursors, .. } = &mut **plan;
        let Order::Lanes(lanes) = order else { return Ok(None) };
        if lanes.limit(state, team, constants_sent, 1).is_none() {
            return Ok(None);
        }
        let Some(count) = overlap.next((max_iterations - 1).saturating_sub(self.iterations)) else {
            return Ok(None);
        };
        overlap.keep(state);
        let started = Instant::now();
        lanes.run(state, trees, cursors, team, constants_sent, count);
        let time = started.elapsed();
        *iterations += count;
        if let Some(active) = active {
            active.ran_by_plan(count, time);
        }
        let mut quiet = state.newly_certain.is_untouched();
        team.collect(|w| quiet &= w.contradictions.count == 0 && w.met.is_none());
        self.iterations += count;
        self.check_memory()?;
        if !quiet {
            overlap.failed();
            let before = self.iterations - count;
            self.go_back_to(before, before, overlap)?;
            return Ok(None);
        }
        overlap.succeeded(count, time);
        self.factor_contradictions = Contradictions::default();
        (self.max_diff, self.unconverged) = (f64::INFINITY, None);
        Ok(Some(count))
    }

    /// Makes the messages those after `iterations` iterations, from those before, which are kept, after `before`.
    fn go_back_to(&mut self, iterations: u64, before: u64, overlap: &mut Overlap) -> Result<()> {
        if iterations == self.iterations {
            return Ok(());
        }
        let CpuEngine { state, team, iterations: all, trees_stale, .. } = &mut *self.engine;
        overlap.put_back(state);
        state.newly_certain.clear();
        team.collect(|w| (w.contradictions, w.met) = (Contradictions::default(), None));
        *trees_stale = true;
        *all -= self.iterations - before;
        self.iterations = before;
        self.engine.begin();
        while self.iterations < iterations {
            self.iteration()?;
        }
        Ok(())
    }

    /// What is told of iterations that are not measured.
    fn unmeasured(&self, iterations: u64, max_iterations: u64) -> Progress {
        Progress {
            iterations,
            max_iterations,
            max_diff: f64::INFINITY,
            active_fraction: self.active_fraction,
            unconverged: None,
            contradictions: None,
        }
    }

    fn iteration(&mut self) -> Result<()> {
        let mut counts = false;
        if !self.iterate_by_marks()? {
            let begun = Instant::now();
            counts = self.iterate_by_plan()?;
            if let Some(active) = &mut self.engine.active {
                active.ran_by_plan(1, begun.elapsed());
            }
        }
        self.check_memory()?;
        self.inputs_sent = false;
        self.note_active(counts)?;
        // Damped messages of factors with one variable change in every iteration; an active set may drop small changes;
        // SEQMAX may not have updated them yet.
        let are_sent = self.engine.state.damping == 0.0
            && self.engine.state.threshold.is_none()
            && !matches!(self.engine.plan, Plan::Residual(_));
        self.engine.constants = are_sent.then_some(self.engine.state.inference);
        self.engine.iterations += 1;
        self.iterations += 1;
        let in_batches = !matches!(self.engine.plan, Plan::Synchronous);
        if in_batches && !self.scanned {
            self.scan()?;
        }
        if in_batches || self.factor_contradictions.count > 0 {
            self.judge()?;
        }
        Ok(())
    }

    /// Runs an iteration as the plan has it, and returns whether the messages that it computes are counted.
    fn iterate_by_plan(&mut self) -> Result<bool> {
        let mut counts = false;
        let constants_sent = self.engine.constants_sent();
        let CpuEngine { state, team, synchronous, plan, iterations, trees_stale, .. } = self.engine;
        let iteration = *iterations;
        match plan {
            Plan::Residual(residual) => {
                team.run_alone(|workspace| residual.run(state, iteration == 0, workspace));
                self.note_batches();
            }
            Plan::Synchronous => {
                let mut sent_in = Duration::ZERO;
                let is_alone;
                let mut begun = Instant::now();
                if let Some(ahead) = self.sent_ahead.take() {
                    (is_alone, sent_in) = (ahead.is_alone, ahead.time);
                    self.judge()?;
                } else {
                    is_alone = self.begin_synchronous();
                    begun = Instant::now();
                    if !self.inputs_sent {
                        let CpuEngine { state, team, synchronous, .. } = &mut *self.engine;
                        synchronous.update_to_factors(state, team);
                        self.note_variables()?;
                    }
                }
                let CpuEngine { state, team, synchronous, .. } = self.engine;
                synchronous.update_to_variables(state, team, constants_sent);
                let mut found = Contradictions::default();
                team.collect(|w| found.merge(std::mem::take(&mut w.contradictions)));
                self.factor_contradictions = found;
                self.scanned = false;
                counts = true;
                let time = sent_in + begun.elapsed();
                synchronous.pace.ran(is_alone, time);
            }
            Plan::Batches(plan) => {
                let BatchPlan { order, trees, cursors, high_arity, mixed, follows_messages } =
                    &mut **plan;
                let has_mixed = mixed.is_some();
                let by_batches = constants_sent && state.is_plain_run();
                if let (Some(mixed), Some(batches), true) = (mixed, order.batches(), by_batches) {
                    counts = true;
                    let is_first = !std::mem::replace(follows_messages, true);
                    if is_first && mixed.needs_trees() {
                        trees.rebuild_all(state);
                    }
                    *trees_stale = true;
                    let is_serial = matches!(order, Order::Serial(_));
                    let is_alone = is_serial || is_left_to_one(state, team, &mixed.pace);
                    let begun = Instant::now();
                    team.set_alone(is_alone);
                    mixed.run(state, trees, batches, synchronous, team, is_first);
                    team.set_alone(false);
                    mixed.pace.ran(is_alone, begun.elapsed());
                } else if let Order::Parallel(batches) = order {
                    batches.run(state, trees, team, constants_sent);
                } else if let Order::Lanes(lanes) = order {
                    lanes.run(state, trees, cursors, team, constants_sent, 1);
                } else if let Order::Random(orders) = order {
                    let left = self.rule.most_iterations().saturating_sub(self.iterations);
                    orders.run(Iteration {
                        state,
                        trees,
                        high_arity,
                        team,
                        constants_sent,
                        iteration,
                        left,
                    })?;
                } else if let Order::Serial(batches) = order {
                    team.run_alone(|workspace| {
                        let high_degree_variables =
                            HighDegreeVariables { trees, cursors: Some(cursors) };
                        let mut serial = Serial {
                            state,
                            high_degree_variables,
                            high_arity,
                            constants_sent,
                            workspace,
                        };
                        serial.run(batches);
                    });
                }
                if has_mixed && !by_batches {
                    synchronous.messages_were_replaced();
                }
                self.note_batches();
            }
        }
        Ok(counts)
    }

    /// Runs an iteration by the marks of an active set, if that may be faster, and returns whether it has.
    fn iterate_by_marks(&mut self) -> Result<bool> {
        let constants_sent = self.engine.constants_sent();
        let CpuEngine { state, team, active, iterations, trees_stale, schedule, tuning, .. } =
            &mut *self.engine;
        if let Some(active) = active
            && active.goes_by_marks()
            && team.run_alone(|workspace| {
                let by = (&*schedule, &*tuning);
                active.run_by_marks(state, by, *iterations, constants_sent, workspace)
            })?
        {
            // Marks have their own trees; those of the plan do not follow the messages meanwhile.
            (self.follows_marks, *trees_stale) = (true, true);
            self.note_batches();
            return Ok(true);
        }
        if std::mem::take(&mut self.follows_marks) {
            self.engine.begin();
        }
        Ok(false)
    }

    /// After an iteration with an active set; `counts` says whether it has counted the messages that it has computed.
    fn note_active(&mut self, counts: bool) -> Result<()> {
        let CpuEngine { state, team, active, .. } = &mut *self.engine;
        let Some(active) = active else { return Ok(()) };
        let mut computed = 0;
        team.collect(|w| computed += std::mem::take(&mut w.computed));
        if counts {
            active.spared += (state.graph.edge_count() as u64).saturating_sub(computed);
        }
        if !active.constants_settled {
            active.constants_settled = self.factor_contradictions.count == 0
                || team.run_alone(|workspace| constants_are_consistent(state, workspace))?;
        }
        Ok(())
    }

    /// Before the first step of a synchronous iteration: whether one thread runs it, as then the team does.
    fn begin_synchronous(&mut self) -> bool {
        let CpuEngine { state, team, synchronous, .. } = &mut *self.engine;
        let is_alone = is_left_to_one(state, team, &synchronous.pace);
        team.set_alone(is_alone);
        is_alone
    }

    /// Fails if a thread has lacked memory since the last call.
    fn check_memory(&mut self) -> Result<()> {
        let mut lacks_memory = false;
        self.engine.team.collect(|w| lacks_memory |= std::mem::take(&mut w.lacks_memory));
        if lacks_memory { Err(NoMemory.into()) } else { Ok(()) }
    }

    /// After an iteration in batches: collects the contradictions that the threads have seen.
    fn note_batches(&mut self) {
        let mut found = Contradictions::default();
        let mut met: Option<usize> = None;
        self.engine.team.collect(|w| {
            found.merge(std::mem::take(&mut w.contradictions));
            met = [met, w.met.take()].into_iter().flatten().min();
        });
        if let (Some(variable), 0) = (met, found.count) {
            found.add(variable);
        }
        self.factor_contradictions = found;
        if self.scanned {
            self.rescan();
        }
        self.engine.state.newly_certain.clear();
    }

    /// After all messages to factors were computed: collects the contradictory variables, and applies the
    /// policy.
    fn note_variables(&mut self) -> Result<()> {
        self.collect_variables();
        self.judge()
    }

    /// After all messages to factors were computed: collects the contradictory variables.
    fn collect_variables(&mut self) {
        let mut found = Contradictions::default();
        self.engine.team.collect(|w| found.merge(std::mem::take(&mut w.contradictions)));
        self.variable_contradictions = found;
        self.scanned = true;
    }

    /// Finds all variables at which deterministic messages disagree.
    fn scan(&mut self) -> Result<()> {
        self.contradictory.clear();
        let CpuEngine { state, team, synchronous, .. } = self.engine;
        let contradictory = &self.contradictory;
        synchronous.for_variables(team, |v, workspace| {
            if is_contradictory(state, v, workspace) {
                contradictory.set(v);
            }
        });
        self.count_contradictory();
        self.check_memory()
    }

    /// Updates the set of contradictory variables, where new deterministic messages came. It allocates nothing: the
    /// working memory has had this size before.
    fn rescan(&mut self) {
        let CpuEngine { state, team, .. } = self.engine;
        let contradictory = &self.contradictory;
        team.run_alone(|workspace| {
            for v in contradictory.iter().chain(state.newly_certain.iter()) {
                if is_contradictory(state, v, workspace) {
                    contradictory.set(v);
                } else {
                    contradictory.unset(v);
                }
            }
        });
        self.count_contradictory();
    }

    fn count_contradictory(&mut self) {
        let mut found = Contradictions::default();
        self.contradictory.iter().for_each(|v| found.add(v));
        self.variable_contradictions = found;
        self.scanned = true;
    }

    /// Applies the contradiction policy to what the current messages contradict.
    fn judge(&mut self) -> Result<()> {
        let mut found = self.factor_contradictions;
        if self.scanned {
            found.merge(self.variable_contradictions);
        }
        let Some(variable) = found.lowest else { return Ok(()) };
        if self.policy == Contradiction::Error {
            return Err(Error::Contradiction {
                label: self.engine.state.graph.label(variable),
                variable,
                factor: None,
                iteration: self.engine.iterations,
                count: found.count,
            });
        }
        self.contradictions = self.contradictions.max(found.count);
        self.first_contradiction.get_or_insert(variable);
        Ok(())
    }

    /// Makes the current beliefs and messages those that the next measurement compares with.
    fn compare_with_current(&mut self) -> Result<()> {
        let CpuEngine { state, team, synchronous, .. } = self.engine;
        self.tracker.beliefs_moved(state, synchronous, team, false, None);
        if self.measure != Measure::Variables {
            synchronous.update_all_to_factors(state, team);
            team.collect(|w| w.contradictions = Contradictions::default());
            self.tracker.factors_moved(state, synchronous, team, false);
        }
        self.check_memory()
    }

    fn measure(&mut self) -> Result<()> {
        if let Some(witness) = &mut self.witness {
            let CpuEngine { state, team, .. } = &*self.engine;
            let iterations = self.iterations;
            let moved = team.run_alone(|workspace| witness.moved(state, iterations, workspace))?;
            if let Some(diff) = moved {
                (self.max_diff, self.unconverged) = (diff, None);
                return self.check_memory();
            }
        }
        self.measure_all()
    }

    /// Measures all beliefs, where a witness may have been enough so far.
    fn measure_all(&mut self) -> Result<()> {
        let before = self.measured.replace(self.iterations);
        let follows = before.is_some_and(|before| before + 1 == self.iterations);
        let movement = match follows && self.sends_ahead {
            true => self.measure_and_send(),
            false => self.measure_variables(follows)?,
        };
        let Movement { max_diff, moved, .. } = movement;
        (self.max_diff, self.moved) = (max_diff, moved);
        let CpuEngine { state, .. } = &*self.engine;
        self.unconverged = Some(share(moved, state.graph.variable_count()));
        if self.measure == Measure::Variables {
            return self.check_memory();
        }
        if self.measure == Measure::Inputs {
            let graph = &self.engine.state.graph;
            let nodes = graph.variable_count() + graph.factor_count();
            if self.witness.is_some() && nodes > 0 {
                // If variables alone say that the run goes on, more that moves, or farther, would not end it.
                self.active_fraction = share(moved, nodes);
                if self.reason_to_stop() == Some(StopReason::Share) {
                    self.add_single_inputs(moved, nodes);
                }
                if self.reason_to_stop().is_none() {
                    self.unconverged = None;
                    return self.check_memory();
                }
            }
        } else if self.defers && max_diff > self.rule.tolerance() {
            self.unconverged = None;
            if matches!(self.engine.plan, Plan::Synchronous) {
                // Contradictions are judged when they would be with all measures.
                if self.sent_ahead.is_none() {
                    let CpuEngine { state, team, synchronous, .. } = &mut *self.engine;
                    synchronous.update_to_factors(state, team);
                    self.inputs_sent = true;
                    self.collect_variables();
                }
                self.judge()?;
            }
            return self.check_memory();
        }
        self.measure_factors()
    }

    /// Measures the beliefs of all variables; `follows` says that those before the last iteration are stored.
    fn measure_variables(&mut self, mut follows: bool) -> Result<Movement> {
        let CpuEngine { state, team, synchronous, .. } = &mut *self.engine;
        if let (false, Some(kept)) = (follows, &mut self.kept) {
            follows = kept.recall_beliefs(state, &self.tracker, synchronous, team);
        }
        // Means are of iterations after which all variables are measured.
        let is_of_means =
            self.witness.as_ref().is_none_or(|witness| self.iterations > witness.until());
        let row = match &mut self.history {
            Some(history) if is_of_means => Some(history.next_row(&self.tracker)?),
            _ => None,
        };
        let movement = self.tracker.beliefs_moved(state, synchronous, team, follows, row);
        if let Some(witness) = &mut self.witness {
            let iterations = self.iterations;
            team.run_alone(|workspace| witness.choose(state, iterations, movement, workspace))?;
        }
        Ok(movement)
    }

    /// Before an iteration: keeps the messages, if something is to be compared with them that is not measured.
    fn keep(&mut self) {
        let is_chosen = self.witness.as_ref().is_some_and(Witness::is_chosen);
        let is_wanted = is_chosen || self.has_left_factors_out();
        if let Some(kept) = &mut self.kept {
            kept.keep(&self.engine.state, &self.engine.team, is_wanted);
        }
    }

    /// Whether factors are to be measured, and were not after the last iteration.
    fn has_left_factors_out(&self) -> bool {
        (self.measure == Measure::Inputs || self.defers)
            && self.iterations > 0
            && self.factors_measured != Some(self.iterations)
    }

    /// Adds factors that have moved for certain to the active fraction, up to what lets the run go on.
    fn add_single_inputs(&mut self, moved: u64, nodes: usize) {
        let wanted = ((self.least_fraction() * nodes as f64) as u64).saturating_add(1);
        let wanted = wanted.saturating_sub(moved) as usize;
        if let Some(inputs) = &mut self.single_inputs {
            let CpuEngine { state, team, .. } = &mut *self.engine;
            let tolerance = self.rule.tolerance();
            let certain = inputs.moved(state, team, self.iterations, wanted, tolerance);
            self.active_fraction = share(moved + certain as u64, nodes);
        }
    }

    /// Measures the beliefs of all variables, and makes the first step of the next iteration with them: both multiply the same
    /// messages.
    fn measure_and_send(&mut self) -> Movement {
        let is_alone = self.begin_synchronous();
        let begun = Instant::now();
        let CpuEngine { state, team, synchronous, .. } = &mut *self.engine;
        let movement = self.tracker.beliefs_moved_and_sent(state, synchronous, team);
        self.collect_variables();
        self.sent_ahead = Some(SentAhead { is_alone, time: begun.elapsed() });
        movement
    }

    /// Makes the run once more up to this iteration, and measures all beliefs after each.
    fn repeat(&mut self) -> Result<()> {
        let until = self.iterations;
        let tolerance = self.rule.tolerance();
        (self.defers, self.sends_ahead) = (false, false);
        (self.witness, self.kept, self.sent_ahead) = (None, None, None);
        (self.measured, self.factors_measured) = (None, None);
        let tables = self.engine.factor_tables(self.measure)?;
        self.tracker = Tracker::new(&self.engine.state, self.measure, tables, tolerance)?;
        self.engine.reset();
        self.engine.begin();
        self.engine.state.newly_certain.clear();
        self.contradictory.clear();
        (self.factor_contradictions, self.variable_contradictions) = Default::default();
        (self.contradictions, self.first_contradiction) = (0, None);
        (self.inputs_sent, self.scanned, self.iterations) = (false, true, 0);
        self.active_fraction = 1.0;
        while self.iterations < until {
            self.iteration()?;
            self.measure()?;
        }
        Ok(())
    }

    /// Measures the factors after the beliefs of variables, and recalls what they were before the last iteration if they were left
    /// out then.
    fn measure_factors(&mut self) -> Result<()> {
        let before = self.factors_measured.replace(self.iterations);
        let follows = before.is_some_and(|before| before + 1 == self.iterations);
        let CpuEngine { state, team, synchronous, plan, .. } = &mut *self.engine;
        if let (false, Some(kept)) = (follows, &mut self.kept) {
            kept.recall_factors(state, &self.tracker, synchronous, team);
        }
        synchronous.update_all_to_factors(state, team);
        self.inputs_sent = matches!(plan, Plan::Synchronous);
        self.sent_ahead = None;
        self.note_variables()?;
        let CpuEngine { state, team, synchronous, .. } = self.engine;
        let inputs = self.tracker.factors_moved(state, synchronous, team, false);
        if inputs.undefined && self.defers {
            self.check_memory()?;
            return self.repeat();
        }
        self.max_diff = self.max_diff.max(inputs.max_diff);
        let nodes = state.graph.variable_count() + state.graph.factor_count();
        let moved = share(self.moved + inputs.moved, nodes);
        self.unconverged = Some(moved);
        if nodes > 0 {
            self.active_fraction = moved;
        }
        self.check_memory()
    }

    /// The contradictory places of the last iteration. The policy is not applied to them here: runs end where they do when
    /// nobody observes them.
    fn count_contradictions(&mut self) -> Result<u64> {
        if !self.scanned {
            self.scan()?;
            self.scanned = false;
        }
        let mut found = self.factor_contradictions;
        found.merge(self.variable_contradictions);
        Ok(found.count)
    }

    fn finish(mut self, reason: StopReason, results: &mut [f64]) -> Result<RunReport> {
        if self.witness.as_ref().is_some_and(Witness::is_alone) {
            self.measure_all()?;
        }
        if self.has_left_factors_out() {
            self.measure_factors()?;
        }
        if !self.scanned {
            self.scan()?;
            self.judge()?;
        } else if self.sent_ahead.is_some() {
            self.judge()?;
        }
        self.write_results(reason == StopReason::Converged, results);
        self.check_memory()?;
        Ok(RunReport {
            iterations: self.iterations,
            total_iterations: self.engine.iterations,
            reason,
            converged: reason == StopReason::Converged,
            max_diff: self.max_diff,
            active_fraction: self.active_fraction,
            contradictions: self.contradictions,
            first_contradiction: self.first_contradiction,
            spared_messages: self.engine.active.as_ref().map_or(0, |active| active.spared),
        })
    }

    fn write_results(&mut self, converged: bool, results: &mut [f64]) {
        let CpuEngine { state, team, .. } = self.engine;
        if let (false, Some(history)) = (converged, &mut self.history)
            && history.means(state, &self.tracker, results).is_some()
        {
            return;
        }
        team.run_alone(|workspace| {
            let mut at = 0;
            for (v, &radix) in state.graph.cardinalities().iter().enumerate() {
                let states = &mut results[at..at + radix as usize];
                at += states.len();
                belief(state, v, workspace, states);
            }
        });
    }
}

/// So many of all; 0 of none.
fn share(moved: u64, all: usize) -> f64 {
    if all == 0 { 0.0 } else { moved as f64 / all as f64 }
}
