//! Belief propagation on the processor.

mod active;
mod batches;
mod factor;
mod flood;
mod measure;
mod plan;
mod residual;
mod run;
mod state;
mod team;
mod tournament;
mod trees;
mod variable;
mod wide;
mod workspace;

#[cfg(test)]
pub(super) mod tests;

use super::{Backend, Control, Engine, EngineOptions, Progress, RunReport, RunRequest};
use crate::error::{Error, Result};
use crate::kernel::{Inference, Packed};
use crate::model::{FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use active::Active;
use factor::expand_for_maxima;
use flood::Flood;
use plan::{Plan, Tuning};
use state::{State, Values};
use std::sync::Arc;
use team::Team;

/// The CPU engine. See the modules: `state` for its data, `flood` and `batches` for the two ways to
/// run a pass, `variable` and `factor` for what a node does, `run` for the loop over passes.
pub(crate) struct CpuEngine {
    state: State,
    team: Team,
    tuning: Tuning,
    flood: Flood,
    plan: Plan,
    schedule: Schedule,
    /// Of the current run, if it was asked for.
    active: Option<Active>,
    /// Passes since the messages were uniform.
    passes: u64,
    /// Whether the factors with one variable have sent: their messages never change.
    constants_sent: bool,
    /// Whether the stored trees no longer follow the messages.
    trees_stale: bool,
    results: Vec<f64>,
    /// Where results are written before it is known whether the run succeeds.
    next_results: Vec<f64>,
}

impl CpuEngine {
    pub(crate) fn new(
        graph: Arc<FactorGraph>,
        schedule: &Schedule,
        options: EngineOptions,
    ) -> Result<Self> {
        Self::with_tuning(graph, schedule, options, Tuning::default())
    }

    /// What is wrong with the arguments of [`Self::new`]; else the number of threads that it would use.
    #[cfg(any(cuda, test))]
    pub(crate) fn check(
        graph: &FactorGraph,
        schedule: &Schedule,
        options: EngineOptions,
    ) -> Result<usize> {
        schedule.check(graph)?;
        team::size(options.threads, graph.edge_count(), &Tuning::default())
    }

    fn with_tuning(
        graph: Arc<FactorGraph>,
        schedule: &Schedule,
        options: EngineOptions,
        tuning: Tuning,
    ) -> Result<Self> {
        let team = Team::new(options.threads, graph.edge_count(), &tuning)?;
        let mut state = State::new(graph);
        let plan = Plan::new(&mut state, schedule, &team, &tuning)?;
        let flood = Flood::new(&state);
        Ok(Self {
            state,
            team,
            tuning,
            flood,
            plan,
            schedule: schedule.clone(),
            active: None,
            passes: 0,
            constants_sent: false,
            trees_stale: true,
            results: Vec::new(),
            next_results: Vec::new(),
        })
    }

    /// Passes since the messages were uniform.
    #[cfg(cuda)]
    pub(crate) fn passes(&self) -> u64 {
        self.passes
    }

    /// Whether the factors with one variable have sent what never changes.
    #[cfg(cuda)]
    pub(crate) fn constants_sent(&self) -> bool {
        self.constants_sent
    }

    /// Tells whether they have, after [`Engine::set_messages`].
    #[cfg(cuda)]
    pub(crate) fn set_constants_sent(&mut self, sent: bool) {
        self.constants_sent = sent;
    }

    /// What the messages were before damping, by edge, if the last run damped them (or was one of SEQMAX,
    /// which keeps what it has computed but not sent).
    #[cfg(cuda)]
    pub(crate) fn undamped(&self) -> Option<Vec<Packed>> {
        (self.state.newest.len() > 0).then(|| self.by_edge(&self.state.newest))
    }

    /// Replaces these, after [`Engine::set_messages`].
    #[cfg(cuda)]
    pub(crate) fn set_undamped(&mut self, messages: &[Packed]) {
        self.state.keep_newest(true);
        self.store(&self.state.newest, messages);
    }

    fn by_edge(&self, values: &Values) -> Vec<Packed> {
        let mut messages = Vec::with_capacity(self.state.value_count);
        for link in &self.state.links {
            messages.extend(values.slice(self.state.slot_values(link.slot as usize)));
        }
        messages
    }

    fn store(&self, values: &Values, messages: &[Packed]) {
        let slots = self.state.links.iter().flat_map(|l| self.state.slot_values(l.slot as usize));
        for (index, &message) in slots.zip(messages) {
            values.set(index, message);
        }
    }

    /// Takes over what a request says of messages. Nothing has changed if this fails.
    fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        if request.active_threshold.is_some() && matches!(self.plan, Plan::Residual(_)) {
            return Err(Error::Unsupported(
                "an active set with the schedule SEQMAX, which has its own choice of messages: \
                 another schedule, or no threshold, is needed"
                    .into(),
            ));
        }
        if request.inference == Inference::MaxProduct {
            expand_for_maxima(&mut self.state)?;
        }
        let RunRequest { inference, damping, .. } = *request;
        if (inference, damping) != (self.state.inference, self.state.damping) {
            self.forget_residuals();
        }
        (self.state.inference, self.state.damping) = (inference, damping);
        let is_residual = matches!(self.plan, Plan::Residual(_));
        self.state.keep_newest(damping > 0.0 || is_residual);
        Ok(())
    }

    /// Brings what follows from messages and evidence up to date, at the start of a run.
    fn begin(&mut self) {
        if let Plan::Batches(plan) = &mut self.plan {
            if std::mem::take(&mut self.trees_stale) {
                plan.trees.rebuild_all(&self.state);
                plan.cursors.reset();
            }
            plan.wide.invalidate();
        }
        if let Plan::Residual(plan) = &mut self.plan
            && std::mem::take(&mut self.trees_stale)
        {
            plan.trees.rebuild_all(&self.state);
            plan.cursors.reset();
            plan.stale = true;
        }
    }

    /// An active set begins. It has trees of its own, and may drop what a factor with one variable
    /// sends: later runs must not rely on either.
    fn begin_active(&mut self, threshold: f64) -> Result<()> {
        self.active = Some(Active::new(&mut self.state, &self.schedule, threshold)?);
        self.trees_stale = true;
        Ok(())
    }

    /// Residuals have to be computed anew, after a change of evidence or of what messages are.
    fn forget_residuals(&mut self) {
        if let Plan::Residual(plan) = &mut self.plan {
            plan.stale = true;
        }
    }

    /// Makes all messages uniform.
    fn reset(&mut self) {
        for index in 0..self.state.value_count {
            self.state.to_variable.set(index, Packed::ONE);
        }
        self.state.restart_newest();
        self.passes = 0;
        self.constants_sent = false;
        self.trees_stale = true;
    }
}

impl Engine for CpuEngine {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn threads(&self) -> usize {
        self.team.threads()
    }

    fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        self.plan = Plan::new(&mut self.state, schedule, &self.team, &self.tuning)?;
        self.schedule = schedule.clone();
        self.trees_stale = true;
        Ok(())
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) {
        self.state.set_evidence(variable, evidence);
        self.forget_residuals();
    }

    fn run(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        run::run(self, request, monitor)
    }

    fn results(&self) -> &[f64] {
        &self.results
    }

    fn factor_inputs(&self, factor: usize, out: &mut Vec<Packed>) -> Result<()> {
        let edges = self.state.graph.factor_edges(factor);
        self.team.run_alone(|workspace| {
            let trees = trees::Trees::default();
            let hubs = &mut trees::Hubs { trees: &trees, cursors: None };
            for edge in edges {
                variable::message_to_factor(&self.state, hubs, edge, workspace, out);
            }
            workspace.met = None;
        });
        Ok(())
    }

    fn messages(&self) -> (Vec<Packed>, u64) {
        (self.by_edge(&self.state.to_variable), self.passes)
    }

    fn set_messages(&mut self, messages: &[Packed], passes: u64) {
        self.store(&self.state.to_variable, messages);
        self.state.restart_newest();
        self.passes = passes;
        self.constants_sent = false;
        self.trees_stale = true;
    }
}
