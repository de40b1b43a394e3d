//! Belief propagation on the processor.

mod active;
mod batches;
mod factor;
mod flood;
mod marks;
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

use super::{Backend, Control, Engine, EngineOptions, Progress, RunReport, RunRequest, Snapshot};
use crate::error::{Error, Result};
use crate::kernel::{Inference, Packed};
use crate::memory::{Grow, room};
use crate::model::{FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use active::Active;
use factor::expand_for;
use flood::Flood;
use measure::Measure;
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
    /// Whether the last run came to change messages.
    has_begun: bool,
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
        let mut state = State::new(graph)?;
        expand_for(&mut state, Inference::SumProduct)?;
        let plan = Plan::new(&mut state, schedule, &team, &tuning)?;
        let flood = Flood::new(&state)?;
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
            has_begun: false,
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

    /// Whether the last run changed messages, before it failed perhaps.
    #[cfg(cuda)]
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn by_edge(&self, values: &Values) -> Result<Vec<Packed>> {
        let mut messages = room(self.state.value_count)?;
        for link in &self.state.links {
            messages.extend(values.slice(self.state.slot_values(link.slot as usize)));
        }
        Ok(messages)
    }

    fn store(&self, values: &Values, messages: &[Packed]) {
        let slots = self.state.links.iter().flat_map(|l| self.state.slot_values(l.slot as usize));
        for (index, &message) in slots.zip(messages) {
            values.set(index, message);
        }
    }

    /// Takes over what a request says of messages, and makes what it needs. Messages have not changed if this
    /// fails.
    fn prepare(&mut self, request: &RunRequest, measure: Measure) -> Result<()> {
        if request.active_threshold.is_some() && matches!(self.plan, Plan::Residual(_)) {
            return Err(Error::Unsupported(
                "an active set with the schedule SEQMAX, which has its own choice of messages: \
                 another schedule, or no threshold, is needed"
                    .into(),
            ));
        }
        if request.inference == Inference::MaxProduct {
            expand_for(&mut self.state, Inference::MaxProduct)?;
        }
        if measure != Measure::Variables {
            self.state.require_by_edge()?;
        }
        self.next_results.clear();
        self.next_results.try_resize(self.state.graph.state_count(), 0.0)?;
        self.active = match request.active_threshold {
            Some(threshold) => Some(Active::new(&mut self.state, &self.schedule, threshold)?),
            None => None,
        };
        let RunRequest { inference, damping, .. } = *request;
        if (inference, damping) != (self.state.inference, self.state.damping) {
            self.forget_residuals();
        }
        let is_residual = matches!(self.plan, Plan::Residual(_));
        self.state.keep_newest(damping > 0.0 || is_residual)?;
        (self.state.inference, self.state.damping) = (inference, damping);
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
        }
        if let Some(active) = &mut self.active {
            active.begin(&self.state);
            // It has trees of its own: those of the plan are not kept up to date.
            self.trees_stale = true;
        }
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
        self.forget_residuals();
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

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.state.set_evidence(variable, evidence)?;
        self.forget_residuals();
        Ok(())
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
        out.try_room(edges.clone().map(|edge| self.state.edge_values(edge).len()).sum())?;
        self.team.run_alone(|workspace| {
            let trees = trees::Trees::default();
            let hubs = &mut trees::Hubs { trees: &trees, cursors: None };
            for edge in edges {
                variable::message_to_factor(&self.state, hubs, edge, workspace, out)?;
            }
            workspace.met = None;
            Ok(())
        })
    }

    fn export(&self) -> Result<Snapshot> {
        let newest = &self.state.newest;
        let queue = match &self.plan {
            Plan::Residual(plan) => plan.export(&self.state)?,
            _ => None,
        };
        Ok(Snapshot {
            messages: self.by_edge(&self.state.to_variable)?,
            newest: if newest.len() > 0 { Some(self.by_edge(newest)?) } else { None },
            queue,
            passes: self.passes,
            constants_sent: self.constants_sent,
        })
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        let is_residual = matches!(self.plan, Plan::Residual(_));
        self.state.keep_newest(snapshot.newest.is_some() || is_residual)?;
        self.store(&self.state.to_variable, &snapshot.messages);
        self.state.restart_newest();
        if let Some(newest) = &snapshot.newest {
            self.store(&self.state.newest, newest);
        }
        self.passes = snapshot.passes;
        self.constants_sent = snapshot.constants_sent;
        self.trees_stale = true;
        self.forget_residuals();
        if let (Plan::Residual(plan), Some(queue)) = (&mut self.plan, &snapshot.queue) {
            (self.state.inference, self.state.damping) = (queue.inference, queue.damping);
            plan.import(&self.state, queue);
        }
        Ok(())
    }
}
