//! Belief propagation on the processor.
//!
//! `engine` has what an engine holds between runs and `state` the messages; `plan` turns a schedule into
//! what one iteration does, `flood`, `serial`, `parallel`, `residual` and `active` do it, with `variable` and
//! `factor` for the messages of one node; `run` is the loop over iterations, and `measure` tells it how far
//! beliefs moved.

mod active;
mod batches;
mod engine;
mod factor;
mod flood;
mod marks;
mod measure;
mod parallel;
mod plan;
mod residual;
mod run;
mod serial;
mod state;
mod store;
mod team;
mod tournament;
mod trees;
mod tuning;
mod variable;
mod wide;
mod workspace;

#[cfg(test)]
pub(super) mod tests;

pub(crate) use engine::CpuEngine;

use super::{Backend, Control, Engine, Progress, RunReport, RunRequest, Snapshot};
use crate::error::Result;
use crate::kernel::Packed;
use crate::memory::{Grow, room};
use crate::model::VariableEvidence;
use crate::schedule::Schedule;
use plan::Plan;
use state::Values;

impl CpuEngine {
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
