//! A graph under some evidence, and the router that makes its runs.

use super::impossible::Impossible;
use crate::engine::{
    Control, EngineOptions, Progress, Router, Run, RunReport, RunRequest, Snapshot, value_count,
};
use crate::error::{Error, Result};
use crate::kernel::EncodedMessage;
use crate::memory::{Grow, collected, shared};
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use crate::structure::compile;
use once_cell::sync::OnceCell;
use std::sync::Arc;

/// Holds the evidence; engines get its changes. What a session runs with, and each entry of a batch.
///
/// The router is made when it is first needed, and anew after a change of options. Messages stay then.
pub(super) struct Runner {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    options: EngineOptions,
    /// The device that runs of many sessions have chosen for this one, in place of that of the options.
    placed: Option<u32>,
    evidence: Evidence,
    impossible: Impossible,
    routed: OnceCell<Routed>,
}

/// A router, and what it was made for.
struct Routed {
    /// The graph that runs: the tables of the graph may be something cheaper there.
    compiled: Arc<FactorGraph>,
    options: EngineOptions,
    router: Router,
}

impl Routed {
    fn new(graph: &Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions) -> Result<Self> {
        check_message_values(graph)?;
        let compiled = if options.compile_tables { compile(graph)? } else { None };
        let compiled = compiled.map_or_else(|| Ok(graph.clone()), shared)?;
        Self::on(compiled, graph, schedule, options)
    }

    /// On a graph that has been compiled already.
    fn on(
        compiled: Arc<FactorGraph>, graph: &Arc<FactorGraph>, schedule: &Schedule,
        options: EngineOptions,
    ) -> Result<Self> {
        let own = schedule_for(graph, &compiled, schedule)?;
        let router = Router::new(compiled.clone(), &own, options)?;
        Ok(Self { compiled, options, router })
    }
}

impl Runner {
    /// Nothing is made yet.
    pub(super) fn new(graph: Arc<FactorGraph>, schedule: Schedule, options: EngineOptions) -> Self {
        let (evidence, impossible) = (Evidence::new(), Impossible::default());
        let routed = OnceCell::new();
        Self { graph, schedule, options, placed: None, evidence, impossible, routed }
    }

    /// A runner on the same graph with the same evidence and messages. Errors: no memory; those of
    /// [`Self::router`].
    pub(super) fn try_clone(&self) -> Result<Self> {
        let mut copy = Self::new(self.graph.clone(), self.schedule.clone(), self.options);
        copy.set_evidence(&self.evidence)?;
        if let Some(routed) = self.routed.get() {
            copy.router_mut()?.import(&routed.router.export()?)?;
        }
        Ok(copy)
    }

    /// A runner on the same graph without evidence, whose messages are uniform.
    pub(super) fn sibling(&self, schedule: Schedule, options: EngineOptions) -> Result<Self> {
        let sibling = Self::new(self.graph.clone(), schedule, options);
        if let Some(own) = self.routed.get()
            && options.compile_tables == own.options.compile_tables
        {
            // Tables are looked at once.
            let make = || Routed::on(own.compiled.clone(), &self.graph, &sibling.schedule, options);
            sibling.routed.get_or_try_init(make)?;
        }
        Ok(sibling)
    }

    pub(super) fn graph(&self) -> &Arc<FactorGraph> {
        &self.graph
    }

    pub(super) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(super) fn options(&self) -> EngineOptions {
        self.options
    }

    /// Replaces the options from the next run on.
    pub(super) fn set_options(&mut self, options: EngineOptions) {
        self.options = options;
        self.placed = None;
    }

    /// The device that was chosen for this one.
    pub(super) fn placed(&self) -> Option<u32> {
        self.placed
    }

    /// Chooses a device from the next run on; messages stay.
    pub(super) fn place(&mut self, device: u32) {
        self.placed = Some(device);
    }

    /// Forgets a device that failed, and the messages, which are uniform then. The evidence stays.
    pub(super) fn displace(&mut self) {
        self.placed = None;
        self.routed = OnceCell::new();
    }

    /// What the router is made by.
    fn effective(&self) -> EngineOptions {
        EngineOptions { device: self.placed.or(self.options.device), ..self.options }
    }

    /// Replaces the schedule; messages stay. Errors: a schedule for another graph; no memory; nothing has changed
    /// then.
    pub(super) fn set_schedule(&mut self, schedule: Schedule) -> Result<()> {
        schedule.check(&self.graph)?;
        if let Some(Routed { compiled, router, .. }) = self.routed.get_mut() {
            router.set_schedule(&schedule_for(&self.graph, compiled, &schedule)?)?;
        }
        self.schedule = schedule;
        Ok(())
    }

    /// Whether there is a router already.
    pub(super) fn has_router(&self) -> bool {
        self.routed.get().is_some()
    }

    /// The router as it is; made if there is none. Errors: no memory; options that no run can have.
    pub(super) fn router(&self) -> Result<&Router> {
        let make = || Routed::new(&self.graph, &self.schedule, self.effective());
        Ok(&self.routed.get_or_try_init(make)?.router)
    }

    /// The router by the current options. Errors: as [`Self::router`]; messages stay.
    pub(super) fn router_mut(&mut self) -> Result<&mut Router> {
        Ok(self.current()?.0)
    }

    /// The router by the current options, and what its runs are made under.
    fn current(&mut self) -> Result<(&mut Router, &Evidence, &Impossible)> {
        let options = self.effective();
        let Self { graph, schedule, evidence, impossible, routed, .. } = self;
        if routed.get().is_none_or(|old| old.options != options) {
            let mut made = Routed::new(graph, schedule, options)?;
            if let Some(old) = routed.get() {
                made.router.import(&old.router.export()?)?;
            }
            *routed = OnceCell::with_value(made);
        }
        let routed = routed.get_mut().ok_or_else(no_router)?;
        Ok((&mut routed.router, evidence, impossible))
    }

    pub(super) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Sets or clears what is known about a variable; the arguments are valid. Where memory is missing, it is what
    /// it was before, or, if even that cannot be kept, nothing.
    pub(super) fn know(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        let before = match self.evidence.get(variable) {
            Some(before) => Some(before.try_clone()?),
            None => None,
        };
        self.try_know(variable, known).inspect_err(|_| {
            if self.try_know(variable, before.as_ref()).is_err() {
                // This needs no memory.
                let _ = self.try_know(variable, None);
            }
        })
    }

    fn try_know(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        self.evidence.set(variable, known)?;
        self.impossible.change(&self.graph, variable, known)?;
        match self.routed.get_mut() {
            Some(routed) => routed.router.set_evidence(variable, known),
            None => Ok(()),
        }
    }

    /// Replaces all evidence; what is given fits the graph. Errors: no memory; some of the evidence is then as it
    /// was, and some as wanted.
    pub(super) fn set_evidence(&mut self, evidence: &Evidence) -> Result<()> {
        let mut old = self.evidence.iter().peekable();
        let (mut gone, mut changed) = (Vec::new(), Vec::new());
        for (variable, entry) in evidence.iter() {
            while let Some((before, _)) = old.next_if(|&(before, _)| before < variable) {
                gone.try_push(before)?;
            }
            let before = old.next_if(|&(before, _)| before == variable);
            if before.is_none_or(|(_, before)| before != entry) {
                changed.try_push((variable, entry))?;
            }
        }
        gone.try_extend(collected(old.map(|(variable, _)| variable))?)?;
        for variable in gone {
            self.know(variable, None)?;
        }
        for (variable, entry) in changed {
            self.know(variable, Some(entry))?;
        }
        Ok(())
    }

    /// Makes what such a run needs and is not there yet.
    pub(super) fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        let (router, evidence, _) = self.current()?;
        router.prepare(request, evidence)
    }

    /// Makes the engine of a backend that was asked for, if there is none yet.
    pub(super) fn prepare_fixed(&self) -> Result<()> {
        self.router()?.prepare_fixed(&self.evidence)
    }

    /// Runs iterations until the request's rule ends them. `results` gets the marginals; after an error it is
    /// of no meaning.
    pub(super) fn run(
        &mut self, request: &RunRequest, results: &mut [f64],
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let graph = self.graph.clone();
        let (router, evidence, impossible) = self.current()?;
        impossible.judge(&graph, request.contradiction)?;
        let mut report = router.run(Run { request, evidence, results, monitor })?;
        impossible.add_to(&graph, &mut report);
        Ok(report)
    }

    /// A copy of the messages.
    pub(super) fn export(&self) -> Result<Snapshot> {
        match self.routed.get() {
            Some(routed) => routed.router.export(),
            None => Snapshot::uniform(value_count(&self.graph)),
        }
    }

    /// Replaces the messages; the lengths are right.
    pub(super) fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.router_mut()?.import(snapshot)
    }

    /// Appends the current messages from a factor's variables to it, one after the other.
    pub(super) fn factor_inputs(&self, factor: usize, out: &mut Vec<EncodedMessage>) -> Result<()> {
        self.router()?.factor_inputs(factor, &self.evidence, out)
    }
}

/// The schedule for the graph that runs: orders that follow the heads of factors follow those of the
/// graph that was given.
fn schedule_for(
    graph: &Arc<FactorGraph>, compiled: &Arc<FactorGraph>, schedule: &Schedule,
) -> Result<Schedule> {
    if schedule.follows_heads() && !Arc::ptr_eq(graph, compiled) {
        return Ok(Schedule::Custom(shared(schedule.preorder(graph, 0)?)?));
    }
    Ok(schedule.clone())
}

/// Message values have 32-bit indices.
fn check_message_values(graph: &FactorGraph) -> Result<()> {
    if graph.all_binary() {
        return Ok(()); // one per edge
    }
    let count = value_count(graph);
    if count > u32::MAX as usize {
        return Err(Error::LimitExceeded(format!(
            "{count} message values: at most {} can be indexed",
            u32::MAX
        )));
    }
    Ok(())
}

/// An invariant is broken: a router is asked for that has not been made.
fn no_router() -> Error {
    Error::NoResult("internal error: no router was made".into())
}
