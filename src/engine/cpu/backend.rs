//! The CPU engine as the registry and the router see it.

use super::engine::CpuEngine;
use super::plan::Plan;
use super::trees::{HighDegreeVariables, Trees};
use super::tuning::Tuning;
use super::values::Values;
use super::{run, variable};
use crate::engine::interface::{Engine, Problem, Provider, Run};
use crate::engine::options::Backend;
use crate::engine::request::RunReport;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::{Grow, boxed, room};
use crate::model::{Evidence, VariableEvidence};
use crate::schedule::Schedule;

/// The backend `cpu`.
pub(in crate::engine) struct Cpu;

impl Provider for Cpu {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn make(&self, problem: Problem<'_>) -> Result<Box<dyn Engine>> {
        let Problem { graph, schedule, order, options, .. } = problem;
        let tuning = Tuning::default();
        Ok(boxed(CpuEngine::with(graph.clone(), schedule, order, options, tuning)?)?)
    }
}

impl CpuEngine {
    fn by_edge(&self, values: &Values) -> Result<Vec<EncodedMessage>> {
        let mut messages = room(self.state.value_count)?;
        for link in &self.state.links {
            messages.extend(values.slice(self.state.slot_values(link.slot as usize)));
        }
        Ok(messages)
    }

    fn store(&self, values: &Values, messages: &[EncodedMessage]) {
        let slots = self.state.links.iter().flat_map(|l| self.state.slot_values(l.slot as usize));
        for (index, &message) in slots.zip(messages) {
            values.set(index, message);
        }
    }
}

impl Engine for CpuEngine {
    fn threads(&self) -> usize {
        self.team.threads()
    }

    fn set_schedule(&mut self, schedule: &Schedule, _evidence: &Evidence) -> Result<()> {
        self.plan_by(schedule)
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.state.set_evidence(variable, evidence)?;
        self.forget_residuals();
        Ok(())
    }

    fn run(&mut self, run: Run<'_>) -> Result<RunReport> {
        run::run(self, run)
    }

    fn factor_inputs(&mut self, factor: usize, out: &mut Vec<EncodedMessage>) -> Result<bool> {
        let edges = self.state.graph.factor_edges(factor);
        out.try_room(edges.clone().map(|edge| self.state.edge_values(edge).len()).sum())?;
        self.team.run_alone(|workspace| {
            let trees = Trees::default();
            let high_degree_variables = &mut HighDegreeVariables { trees: &trees, cursors: None };
            for edge in edges {
                variable::message_to_factor(
                    &self.state,
                    high_degree_variables,
                    edge,
                    workspace,
                    out,
                )?;
            }
            workspace.met = None;
            Ok(true)
        })
    }

    fn export(&mut self) -> Result<Snapshot> {
        let newest = &self.state.newest;
        let queue = match &self.plan {
            Plan::Residual(plan) => plan.export(&self.state)?,
            _ => None,
        };
        Ok(Snapshot {
            messages: self.by_edge(&self.state.to_variable)?,
            newest: if newest.len() > 0 { Some(self.by_edge(newest)?) } else { None },
            queue,
            iterations: self.iterations,
            constants: self.constants,
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
        self.iterations = snapshot.iterations;
        self.constants = snapshot.constants;
        self.trees_stale = true;
        self.forget_residuals();
        if let (Plan::Residual(plan), Some(queue)) = (&mut self.plan, &snapshot.queue) {
            (self.state.inference, self.state.damping) = (queue.inference, queue.damping);
            plan.import(&self.state, queue);
        }
        Ok(())
    }
}
