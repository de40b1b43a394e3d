//! The engine on a CUDA device.

use super::driver::{Context, Device, Stream};
use super::programs::{Place, Programs, has_host_kind, lost, reason_for_cpu};
use super::run::{End, Launches, Task};
use crate::engine::device::choose_device;
use crate::engine::{
    Backend, Control, CpuEngine, Engine, EngineOptions, Inference, Progress, RunReport, RunRequest,
    Snapshot, Start, StopReason, StopRule, expand, value_count,
};
use crate::error::{Error, Result};
use crate::kernel::{OwnedTable, Packed};
use crate::memory::{Grow, text};
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

/// Runs passes on a device, and those of kinds that it has no kernels for on the processor.
///
/// Passes run in launches of some milliseconds, after each of which the monitor hears of all its passes; a
/// time limit or a monitor that cancels ends the run there.
pub(super) struct CudaEngine {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    options: EngineOptions,
    evidence: Evidence,
    /// Passes since the messages were uniform.
    passes: u64,
    results: Vec<f64>,
    /// Where results are written before it is known whether the run succeeds.
    next_results: Vec<f64>,
    /// What ran last, or will most likely run first.
    backend: Backend,
    notes: Vec<String>,
    /// What runs on the processor and has been told.
    told: Vec<&'static str>,
    /// Whether a factor is of a kind that devices have no code for.
    has_host_kind: bool,
    /// Whether a factor that max-product needs as a table is wider than f64; unknown before such a run.
    has_wide_tables: Option<bool>,
    inner: Mutex<Inner>,
}

/// Who has the messages.
enum Holder {
    At(Place),
    /// Nobody yet: the next that needs them.
    Host(Snapshot),
}

struct Inner {
    context: Arc<Context>,
    stream: Stream,
    programs: Programs,
    /// For what no kernels are there, and for the beliefs of factors; made when first needed.
    cpu: Option<CpuEngine>,
    holder: Holder,
    /// Whether the CPU engine has the messages, too.
    mirrored: bool,
    /// Whether what factors with one variable send is among the messages: what contradicts in it is found
    /// when it is sent.
    constants_sent: bool,
    /// Which of the program's buffers has them.
    buffer: u32,
    launches: Launches,
}

fn cpu_engine(
    graph: Arc<FactorGraph>,
    schedule: &Schedule,
    options: EngineOptions,
    evidence: &Evidence,
) -> Result<CpuEngine> {
    let mut engine = CpuEngine::new(graph, schedule, options)?;
    for (variable, evidence) in evidence.iter() {
        engine.set_evidence(variable, Some(evidence))?;
    }
    Ok(engine)
}

/// An error of a run that has begun: its messages are gone, whatever happened.
fn of_passes(error: Error) -> Error {
    match error {
        Error::OutOfMemory(what) => Error::Device(format!("in the middle of a run: {what}")),
        other => other,
    }
}

impl Inner {
    /// A copy of the messages, after so many passes.
    fn export(&mut self, passes: u64) -> Result<Snapshot> {
        match (&self.holder, &self.cpu) {
            (Holder::Host(snapshot), _) => snapshot.try_clone(),
            (Holder::At(Place::Cpu), Some(cpu)) => cpu.export(),
            (&Holder::At(place), _) => {
                let current = self.context.enter()?;
                let program = self.programs.at(place)?;
                Ok(Snapshot {
                    messages: program.messages(&current, &self.stream, self.buffer)?,
                    newest: program.undamped(&current, &self.stream, self.buffer)?,
                    queue: None,
                    passes,
                    constants_sent: self.constants_sent,
                })
            }
        }
    }

    /// Gives the messages to a program, after so many passes.
    fn hand_over(&mut self, place: Place, passes: u64) -> Result<()> {
        if matches!(self.holder, Holder::At(holder) if holder == place) {
            return Ok(());
        }
        let snapshot = self.export(passes)?;
        let current = self.context.enter()?;
        let program = self.programs.at(place)?;
        program.set_messages(&current, &self.stream, 0, &snapshot.messages)?;
        if let Some(newest) = &snapshot.newest {
            program.set_undamped(&current, &self.stream, 0, newest)?;
        }
        if snapshot.constants_sent {
            program.constants_are_sent();
        }
        self.holder = Holder::At(place);
        self.buffer = 0;
        Ok(())
    }

    fn is_on_cpu(&self) -> bool {
        matches!(self.holder, Holder::At(Place::Cpu))
    }
}

impl CudaEngine {
    pub(super) fn new(
        graph: Arc<FactorGraph>,
        schedule: &Schedule,
        options: EngineOptions,
    ) -> Result<Self> {
        let context = Context::new(Device::get(choose_device(options.device)?)?)?;
        let current = context.enter()?;
        let stream = Stream::new(&current)?;
        let mut programs = Programs::new(&current, &stream, &graph, schedule)?;
        let place = programs.first();
        let mut launches = Launches::new(&current)?;
        if place != Place::Cpu {
            launches.warm_up(&current, &stream, programs.at(place)?)?;
        }
        let inner = Inner {
            programs,
            cpu: None,
            holder: Holder::At(place),
            mirrored: false,
            constants_sent: false,
            buffer: 0,
            launches,
            stream,
            context: context.clone(),
        };
        let engine = Self {
            has_host_kind: has_host_kind(&graph),
            graph,
            schedule: schedule.clone(),
            options,
            evidence: Evidence::new(),
            passes: 0,
            results: Vec::new(),
            next_results: Vec::new(),
            backend: if place == Place::Cpu { Backend::Cpu } else { Backend::Cuda },
            notes: Vec::new(),
            told: Vec::new(),
            has_wide_tables: None,
            inner: Mutex::new(inner),
        };
        if place == Place::Cpu {
            // Fails now if it fails.
            engine.with_cpu(false, |_| Ok(()))?;
        }
        Ok(engine)
    }

    fn has_wide_tables(&mut self) -> Result<bool> {
        if let Some(known) = self.has_wide_tables {
            return Ok(known);
        }
        let mut found = false;
        for factor in self.graph.other_factors() {
            if self.graph.factor(factor).needs_table(Inference::MaxProduct) {
                let table = expand(&self.graph, factor, Inference::MaxProduct)?;
                found |= matches!(table, OwnedTable::Wide(_));
            }
        }
        self.has_wide_tables = Some(found);
        Ok(found)
    }

    /// The CPU engine, with the evidence and, if wanted, the messages as they are.
    fn with_cpu<R>(
        &self,
        messages: bool,
        work: impl FnOnce(&mut CpuEngine) -> Result<R>,
    ) -> Result<R> {
        let mut guard = self.inner.lock();
        let inner = &mut *guard;
        if inner.cpu.is_none() {
            let (graph, options) = (self.graph.clone(), self.options);
            inner.cpu = Some(cpu_engine(graph, &self.schedule, options, &self.evidence)?);
        }
        if messages && !inner.is_on_cpu() && !inner.mirrored {
            let snapshot = inner.export(self.passes)?;
            if let Some(cpu) = &mut inner.cpu {
                cpu.import(&snapshot)?;
            }
            inner.mirrored = true;
        }
        work(inner.cpu.as_mut().ok_or_else(lost)?)
    }

    fn run_on_cpu(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let mut next_results = std::mem::take(&mut self.next_results);
        next_results.clear();
        let warm = request.start == Start::Warm;
        let states = self.graph.state_count();
        let mut begun = None;
        let report = self.with_cpu(warm, |cpu| {
            next_results.try_room(states)?;
            let report = cpu.run(request, monitor);
            if report.is_ok() {
                next_results.extend_from_slice(cpu.results());
            }
            // Also where memory was missing in the middle: then the messages are uniform.
            begun = cpu.has_begun().then(|| (cpu.passes(), cpu.constants_sent()));
            report
        });
        if report.is_ok() {
            std::mem::swap(&mut self.results, &mut next_results);
            self.backend = Backend::Cpu;
        }
        self.next_results = next_results;
        if let Some((passes, constants_sent)) = begun {
            self.passes = passes;
            let inner = self.inner.get_mut();
            inner.holder = Holder::At(Place::Cpu);
            inner.constants_sent = constants_sent;
        }
        report
    }

    /// Makes the general program, if it is not there.
    fn require_general(&mut self) -> Result<()> {
        let inner = self.inner.get_mut();
        let current = inner.context.enter()?;
        let (graph, schedule) = (&self.graph, &self.schedule);
        inner.programs.require_general(&current, &inner.stream, graph, schedule, &self.evidence)
    }

    fn run_on_device(
        &mut self,
        place: Place,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let started = Instant::now();
        self.next_results.clear();
        self.next_results.try_resize(self.graph.state_count(), 0.0)?;
        if place == Place::General {
            self.require_general()?;
        }
        let inner = self.inner.get_mut();
        let current = inner.context.enter()?;
        if request.start == Start::Warm {
            inner.hand_over(place, self.passes)?;
        }
        // Other programs have other buffers.
        let is_holder = matches!(inner.holder, Holder::At(holder) if holder == place);
        let buffer = if is_holder { inner.buffer } else { 0 };
        let stream = &inner.stream;
        let program = inner.programs.at(place)?;
        let before = if request.start == Start::Fresh { 0 } else { self.passes };
        program.start_at(before);
        program.begin(&current, stream, request, buffer)?;
        inner.holder = Holder::At(place);
        inner.buffer = buffer;
        inner.mirrored = false;
        if request.start == Start::Fresh {
            inner.constants_sent = false;
        }
        self.passes = before;
        let nodes = self.graph.variable_count() + self.graph.factor_count();
        let task = Task { request, nodes, buffer, started };
        let (end, state) =
            inner.launches.run(&current, stream, program, &task, monitor).map_err(of_passes)?;
        inner.buffer = state.buffer;
        self.passes = before + state.passes;
        if state.passes > 0 {
            // Damped ones go on changing.
            inner.constants_sent = request.damping == 0.0;
        }
        let reason = match end {
            End::Stopped(reason) => reason,
            End::Contradiction { variable } => {
                return Err(Error::Contradiction {
                    label: self.graph.label(variable),
                    variable,
                    factor: None,
                    pass: self.passes,
                    count: state.error_count,
                });
            }
        };
        let passes = state.passes;
        let converged = reason == StopReason::Converged;
        let means = matches!(request.rule, StopRule::Bingo { .. }) && !converged && passes > 0;
        let means = means.then_some(passes);
        program
            .results(&current, stream, inner.buffer, means, &mut self.next_results)
            .map_err(of_passes)?;
        std::mem::swap(&mut self.results, &mut self.next_results);
        self.backend = Backend::Cuda;
        Ok(RunReport {
            passes,
            total_passes: self.passes,
            reason,
            converged,
            max_diff: state.max_diff,
            frac: state.frac,
            contradictions: state.contradictions,
            first_contradiction: state.first_contradiction(),
            spared_messages: 0,
        })
    }
}

impl Engine for CudaEngine {
    fn backend(&self) -> Backend {
        self.backend
    }

    /// Those of the host: one, unless passes run on the processor.
    fn threads(&self) -> usize {
        match &self.inner.lock().cpu {
            Some(cpu) if self.backend == Backend::Cpu => cpu.threads(),
            _ => 1,
        }
    }

    fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        let inner = self.inner.get_mut();
        let current = inner.context.enter()?;
        let mut programs = Programs::new(&current, &inner.stream, &self.graph, schedule)?;
        for program in programs.all() {
            for (variable, evidence) in self.evidence.iter() {
                program.set_evidence(variable, Some(evidence))?;
            }
        }
        if !inner.is_on_cpu() {
            inner.holder = Holder::Host(inner.export(self.passes)?);
        }
        let on_device = programs.first() != Place::Cpu;
        match &mut inner.cpu {
            Some(cpu) => cpu.set_schedule(schedule)?,
            None if on_device => {}
            None => {
                let (graph, options) = (self.graph.clone(), self.options);
                inner.cpu = Some(cpu_engine(graph, schedule, options, &self.evidence)?);
            }
        }
        inner.programs = programs;
        inner.buffer = 0;
        self.schedule = schedule.clone();
        self.backend = if on_device { Backend::Cuda } else { Backend::Cpu };
        Ok(())
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.evidence.set(variable, evidence)?;
        let inner = self.inner.get_mut();
        for program in inner.programs.all() {
            program.set_evidence(variable, evidence)?;
        }
        match &mut inner.cpu {
            Some(cpu) => cpu.set_evidence(variable, evidence),
            None => Ok(()),
        }
    }

    fn run(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let mut reason = reason_for_cpu(&self.graph, self.has_host_kind, &self.schedule, request);
        if reason.is_none()
            && request.inference == Inference::MaxProduct
            && self.has_wide_tables()?
        {
            reason = Some(
                "max-product over factors whose values span more than f64 runs on the CPU: devices hold \
                 the tables that it needs in f64",
            );
        }
        let Some(reason) = reason else {
            let place = self.inner.get_mut().programs.place(request);
            return self.run_on_device(place, request, monitor);
        };
        let report = self.run_on_cpu(request, monitor);
        if report.is_ok() && !self.told.contains(&reason) {
            // What is not told for want of memory is no loss.
            if let (Ok(note), Ok(()), Ok(())) =
                (text(reason), self.told.try_push(reason), self.notes.try_room(1))
            {
                self.notes.push(note);
            }
        }
        report
    }

    fn results(&self) -> &[f64] {
        &self.results
    }

    fn factor_inputs(&self, factor: usize, out: &mut Vec<Packed>) -> Result<()> {
        let mut read = |messages| -> Result<()> {
            self.with_cpu(messages, |cpu| cpu.factor_inputs(factor, out))
        };
        // What a device that has failed cannot give is taken as it was.
        read(true).or_else(|_| read(false))
    }

    fn export(&self) -> Result<Snapshot> {
        let snapshot = self.inner.lock().export(self.passes);
        match snapshot {
            Err(error @ Error::OutOfMemory(_)) => Err(error),
            // What a device that has failed cannot give is taken as uniform.
            Err(_) => {
                Ok(Snapshot { passes: self.passes, ..Snapshot::uniform(value_count(&self.graph))? })
            }
            snapshot => snapshot,
        }
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        let copy = snapshot.try_clone()?;
        self.passes = snapshot.passes;
        let inner = self.inner.get_mut();
        inner.mirrored = false;
        inner.constants_sent = snapshot.constants_sent;
        inner.holder = Holder::Host(copy);
        Ok(())
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
