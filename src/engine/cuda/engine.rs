//! The engine on a CUDA device.

use super::all_beliefs;
use super::driver::{Context, Device, Stream};
use super::general::BeliefMovement;
use super::parts::{Part, Parts};
use super::programs::{
    Plan, ProgramKind, Programs, lost, reason_against_graph, reason_against_schedule,
};
use super::run::{End, Launches, Task};
use super::start::start;
use crate::engine::device::choose_device;
use crate::engine::interface::{Engine, Problem, Run};
use crate::engine::{
    Control, Inference, Progress, RunReport, RunRequest, Snapshot, Start, StopReason, StopRule,
    expand, value_count,
};
use crate::error::{Error, Result};
use crate::kernel::OwnedTable;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::{KnownOrder, Schedule};
use std::sync::Arc;
use std::time::Instant;

/// Runs iterations on a device.
///
/// They run in launches of some milliseconds, after each of which the monitor hears of all its iterations; a
/// time limit or a monitor that cancels ends the run there.
pub(super) struct CudaEngine {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    /// What the graph has that no program serves.
    graph_reason: Option<&'static str>,
    context: Arc<Context>,
    stream: Stream,
    programs: Programs,
    launches: Launches,
    owner: Owner,
    /// Iterations since the messages were uniform.
    iterations: u64,
    /// The inference by which what factors with one variable send is among the messages, if it is: what contradicts in it is
    /// found when it is sent.
    constants: Option<Inference>,
    /// Which of the program's buffers has them.
    buffer: u32,
    /// Whether a factor that max-product needs as a table is wider than f64; unknown before such a run.
    has_wide_tables: Option<bool>,
}

/// Who has the messages.
enum Owner {
    Program(ProgramKind),
    /// No program yet: the next that needs them.
    Host(Snapshot),
}

/// An error of a run that has begun: its messages are gone, whatever happened.
fn of_iterations(error: Error) -> Error {
    match error {
        Error::OutOfMemory(what) => Error::Device(format!("in the middle of a run: {what}")),
        other => other,
    }
}

impl CudaEngine {
    /// Messages are uniform, and the evidence of the problem is yet to be set.
    pub(super) fn new(problem: Problem<'_>) -> Result<Self> {
        let Problem { graph, schedule, order, options, .. } = problem;
        schedule.check(graph)?;
        let device = Device::get(choose_device(options.device)?)?;
        let (context, plan) = start(device, graph, schedule, order)?;
        let current = context.enter()?;
        let stream = Stream::new(&current)?;
        let mut programs = Programs::new(stream.queue(&current), graph, schedule, plan)?;
        let mut launches = Launches::new(&current)?;
        let owner = match programs.first() {
            Some(kind) => {
                launches.warm_up(stream.queue(&current), programs.at(kind)?)?;
                Owner::Program(kind)
            }
            None => Owner::Host(Snapshot::uniform(value_count(graph))?),
        };
        Ok(Self {
            graph_reason: reason_against_graph(graph),
            graph: graph.clone(),
            schedule: schedule.clone(),
            programs,
            launches,
            owner,
            iterations: 0,
            constants: None,
            buffer: 0,
            has_wide_tables: None,
            stream,
            context: context.clone(),
        })
    }

    /// A copy of the messages.
    fn copy_messages(&mut self) -> Result<Snapshot> {
        match &self.owner {
            Owner::Host(snapshot) => snapshot.try_clone(),
            &Owner::Program(kind) => {
                let current = self.context.enter()?;
                let program = self.programs.at(kind)?;
                Ok(Snapshot {
                    messages: program.messages(self.stream.queue(&current), self.buffer)?,
                    newest: program.undamped(self.stream.queue(&current), self.buffer)?,
                    queue: None,
                    iterations: self.iterations,
                    constants: self.constants,
                })
            }
        }
    }

    fn has_wide_tables(&mut self) -> Result<bool> {
        if let Some(known) = self.has_wide_tables {
            return Ok(known);
        }
        let mut found = false;
        for factor in self.graph.other_factors() {
            if self.graph.factor(factor).needs_table(Inference::MaxProduct) {
                let table = expand(&self.graph, factor, Inference::MaxProduct)?;
                found |= matches!(table, OwnedTable::ExtendedFloat(_));
            }
        }
        self.has_wide_tables = Some(found);
        Ok(found)
    }
}

impl Parts for CudaEngine {
    fn nodes(&self) -> usize {
        self.graph.variable_count() + self.graph.factor_count()
    }

    fn require(&mut self, request: &RunRequest, evidence: &Evidence) -> Result<ProgramKind> {
        let current = self.context.enter()?;
        let queue = self.stream.queue(&current);
        self.programs.require(request, queue, &self.graph, &self.schedule, evidence)
    }

    fn give_to(&mut self, kind: ProgramKind) -> Result<()> {
        if matches!(self.owner, Owner::Program(owner) if owner == kind) {
            return Ok(());
        }
        let snapshot = self.copy_messages()?;
        let current = self.context.enter()?;
        let program = self.programs.at(kind)?;
        program.set_messages(self.stream.queue(&current), 0, &snapshot.messages)?;
        if let Some(newest) = &snapshot.newest {
            program.set_undamped(self.stream.queue(&current), 0, newest)?;
        }
        self.owner = Owner::Program(kind);
        self.buffer = 0;
        Ok(())
    }

    fn run_part(
        &mut self, part: Part<'_>, monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<(RunReport, u64)> {
        let Part { request, evidence, .. } = part;
        let nodes = self.nodes();
        let kind = self.require(request, evidence)?;
        if request.start == Start::Warm {
            self.give_to(kind)?;
        }
        let current = self.context.enter()?;
        // Other programs have other buffers.
        let is_owner = matches!(self.owner, Owner::Program(owner) if owner == kind);
        let buffer = if is_owner { self.buffer } else { 0 };
        let queue = self.stream.queue(&current);
        let program = self.programs.at(kind)?;
        let before = if request.start == Start::Fresh { 0 } else { self.iterations };
        program.start_at(before);
        // (An active set takes all as new.)
        let constants_sent = request.start == Start::Warm
            && self.constants == Some(request.inference)
            && request.least_growth() == 0.0;
        program.begin(queue, request, buffer, constants_sent)?;
        self.owner = Owner::Program(kind);
        self.buffer = buffer;
        if request.start == Start::Fresh {
            self.constants = None;
        }
        self.iterations = before;
        let task = Task { part, nodes, variables: self.graph.variable_count(), buffer };
        let (end, state) =
            self.launches.run(queue, program, &task, monitor).map_err(of_iterations)?;
        self.buffer = state.buffer;
        self.iterations = before + state.iterations;
        if state.iterations > 0 {
            // Damped ones go on changing, and an active set may drop them.
            self.constants = (!request.depends_on_old_messages()).then_some(request.inference);
        }
        let reason = match end {
            End::Stopped(reason) => reason,
            End::Contradiction { variable } => {
                return Err(Error::Contradiction {
                    label: self.graph.label(variable),
                    variable,
                    factor: None,
                    iteration: self.iterations,
                    count: state.found.error_count,
                });
            }
        };
        let report = RunReport {
            iterations: state.iterations,
            total_iterations: self.iterations,
            reason,
            converged: reason == StopReason::Converged,
            max_diff: state.found.max_diff,
            active_fraction: state.found.active_fraction,
            contradictions: state.found.contradictions,
            first_contradiction: state.first_contradiction(),
            spared_messages: 0,
        };
        Ok((report, state.moved()))
    }

    fn begin_beliefs(&mut self, kind: ProgramKind, evidence: &Evidence) -> Result<()> {
        let current = self.context.enter()?;
        let (queue, schedule) = (self.stream.queue(&current), &self.schedule);
        let measurer = self.programs.measurer(kind, queue, &self.graph, schedule, evidence)?;
        measurer.begin_beliefs(queue)
    }

    fn measure_beliefs(
        &mut self, evidence: &Evidence, tolerance: f64, recalling: bool,
    ) -> Result<BeliefMovement> {
        let Owner::Program(kind) = self.owner else { return Err(lost()) };
        let current = self.context.enter()?;
        let (queue, schedule) = (self.stream.queue(&current), &self.schedule);
        let messages = self.programs.at(kind)?.messages_by_slot(queue, self.buffer)?;
        let measurer = self.programs.measurer(kind, queue, &self.graph, schedule, evidence)?;
        let buffer = match messages {
            Some(messages) => {
                measurer.take(queue, messages)?;
                0
            }
            None => self.buffer,
        };
        measurer.measure_beliefs(queue, buffer, tolerance, recalling).map_err(of_iterations)
    }
}

impl Engine for CudaEngine {
    fn set_schedule(&mut self, schedule: &Schedule, evidence: &Evidence) -> Result<()> {
        schedule.check(&self.graph)?;
        let current = self.context.enter()?;
        let plan = Plan::new(current.device(), &self.graph, schedule, &KnownOrder::default())?;
        let queue = self.stream.queue(&current);
        let mut programs = Programs::new(queue, &self.graph, schedule, plan)?;
        for program in programs.all() {
            for (variable, known) in evidence.iter() {
                program.set_evidence(variable, Some(known))?;
            }
        }
        self.owner = Owner::Host(self.copy_messages()?);
        self.programs = programs;
        self.buffer = 0;
        self.schedule = schedule.clone();
        Ok(())
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.programs.all().try_for_each(|program| program.set_evidence(variable, evidence))
    }

    fn reason_against(&mut self, request: &RunRequest) -> Result<Option<&'static str>> {
        let reason = self.graph_reason.or_else(|| reason_against_schedule(&self.schedule));
        if reason.is_some() {
            return Ok(reason);
        }
        Ok((request.inference == Inference::MaxProduct && self.has_wide_tables()?).then_some(
            "max-product over factors whose values span more than f64 runs on the CPU: devices hold \
             the tables that it needs in f64",
        ))
    }

    fn run(&mut self, run: Run<'_>) -> Result<RunReport> {
        let Run { request, evidence, results, monitor } = run;
        let rule = request.rule;
        let is_bingo = matches!(rule, StopRule::Bingo { .. });
        let looks_at_factors = is_bingo || matches!(rule, StopRule::AllBeliefs { .. });
        let part = Part { request, evidence, started: Instant::now(), looks_at_factors };
        let report = match rule {
            StopRule::AllBeliefs { tolerance, max_iterations } => {
                all_beliefs::run(self, part, (tolerance, max_iterations), monitor)?
            }
            _ => self.run_part(part, monitor)?.0,
        };
        let Owner::Program(kind) = self.owner else { return Err(lost()) };
        let has_means = is_bingo && !report.converged && report.iterations > 0;
        let means = has_means.then_some(report.iterations);
        let current = self.context.enter()?;
        let (queue, program) = (self.stream.queue(&current), self.programs.at(kind)?);
        program.results(queue, self.buffer, means, results).map_err(of_iterations)?;
        Ok(report)
    }

    fn export(&mut self) -> Result<Snapshot> {
        match self.copy_messages() {
            Err(error @ Error::OutOfMemory(_)) => Err(error),
            // What a device that has failed cannot give is taken as uniform.
            Err(_) => Ok(Snapshot {
                iterations: self.iterations,
                ..Snapshot::uniform(value_count(&self.graph))?
            }),
            snapshot => snapshot,
        }
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.owner = Owner::Host(snapshot.try_clone()?);
        self.iterations = snapshot.iterations;
        self.constants = snapshot.constants;
        Ok(())
    }
}
