//! What the CPU engine holds between runs, and how a run is prepared.

use super::active::Active;
use super::factor::expand_for;
use super::measure::Measure;
use super::plan::Plan;
use super::state::State;
use super::synchronous::Synchronous;
use super::team::{self, Team};
use super::tuning::Tuning;
use crate::engine::factor_tables::FactorTables;
use crate::engine::{EngineOptions, RunRequest};
use crate::error::{Error, Result};
use crate::kernel::{EncodedMessage, Inference};
use crate::memory::shared;
use crate::model::FactorGraph;
use crate::schedule::{KnownOrder, Schedule};
use std::sync::Arc;

/// The CPU engine.
pub(crate) struct CpuEngine {
    pub(super) state: State,
    pub(super) team: Team,
    pub(super) tuning: Tuning,
    pub(super) synchronous: Synchronous,
    pub(super) plan: Plan,
    pub(super) schedule: Schedule,
    /// The factors as tables; made when beliefs of factors are first measured.
    factor_tables: Option<Arc<FactorTables>>,
    /// The active set of the run in progress, if it has one.
    pub(super) active: Option<Active>,
    /// Number of iterations since the messages were uniform.
    pub(super) iterations: u64,
    /// The inference by which the messages of factors with one variable are stored, if they are. They never change then, so
    /// they are computed once.
    pub(super) constants: Option<Inference>,
    /// Whether the last run has changed messages, perhaps before it failed.
    pub(super) has_begun: bool,
    /// Whether the product trees of the plan have to be rebuilt from the messages.
    pub(super) trees_stale: bool,
}

/// What is wrong with the arguments of an engine; else the number of threads that it would use.
pub(in crate::engine) fn check(
    graph: &FactorGraph, schedule: &Schedule, options: EngineOptions,
) -> Result<usize> {
    schedule.check(graph)?;
    team::size(options.threads, graph.edge_count(), &Tuning::default())
}

impl CpuEngine {
    #[cfg(test)]
    pub(crate) fn new(
        graph: Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions,
    ) -> Result<Self> {
        Self::with_tuning(graph, schedule, options, Tuning::default())
    }

    #[cfg(test)]
    pub(super) fn with_tuning(
        graph: Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions, tuning: Tuning,
    ) -> Result<Self> {
        Self::with(graph, schedule, &KnownOrder::default(), options, tuning)
    }

    pub(super) fn with(
        graph: Arc<FactorGraph>, schedule: &Schedule, order: &KnownOrder, options: EngineOptions,
        tuning: Tuning,
    ) -> Result<Self> {
        let team = Team::new(options.threads, graph.edge_count(), &tuning)?;
        let mut state = State::new(graph)?;
        expand_for(&mut state, Inference::SumProduct)?;
        let plan = Plan::new(&mut state, schedule, order, &team, &tuning)?;
        state.settle();
        let synchronous = Synchronous::new(&state, team.threads(), &tuning)?;
        Ok(Self {
            state,
            team,
            tuning,
            synchronous,
            plan,
            schedule: schedule.clone(),
            factor_tables: None,
            active: None,
            iterations: 0,
            constants: None,
            has_begun: false,
            trees_stale: true,
        })
    }

    /// The factors as tables, if beliefs of factors are to be measured. Errors: a belief with too many entries; no memory.
    pub(super) fn factor_tables(&mut self, measure: Measure) -> Result<Option<Arc<FactorTables>>> {
        if measure != Measure::AllBeliefs {
            return Ok(None);
        }
        if self.factor_tables.is_none() {
            self.factor_tables = Some(shared(FactorTables::new(&self.state.graph)?)?);
        }
        Ok(self.factor_tables.clone())
    }

    /// Plans iterations anew, by another schedule. If this fails, nothing has changed.
    pub(super) fn plan_by(&mut self, schedule: &Schedule) -> Result<()> {
        let (plan, synchronous) = match self.planned_by(schedule) {
            Ok(planned) => planned,
            Err(error) => {
                self.state.take_back();
                return Err(error);
            }
        };
        self.state.settle();
        self.plan = plan;
        if let Some(synchronous) = synchronous {
            self.synchronous = synchronous;
        }
        self.schedule = schedule.clone();
        self.trees_stale = true;
        Ok(())
    }

    /// A plan, for which messages may lie elsewhere from now on; and if they do, what iterates over their nodes.
    fn planned_by(&mut self, schedule: &Schedule) -> Result<(Plan, Option<Synchronous>)> {
        let Self { state, team, tuning, .. } = self;
        state.arrange(None)?;
        let plan = Plan::new(state, schedule, &KnownOrder::default(), team, tuning)?;
        let synchronous = match state.is_rearranged() {
            true => Some(Synchronous::new(state, team.threads(), tuning)?),
            false => None,
        };
        Ok((plan, synchronous))
    }

    /// Applies the settings of a request, and allocates what the run needs. If this fails, no message has
    /// changed.
    pub(super) fn prepare(&mut self, request: &RunRequest, measure: Measure) -> Result<()> {
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
        self.active = match request.active_threshold {
            Some(threshold) => {
                Some(Active::new(&mut self.state, &self.plan, threshold, &self.tuning)?)
            }
            None => None,
        };
        let RunRequest { inference, damping, .. } = *request;
        if (inference, damping) != (self.state.inference, self.state.damping) {
            self.forget_residuals();
        }
        let is_residual = matches!(self.plan, Plan::Residual(_));
        self.state.keep_newest(damping > 0.0 || is_residual)?;
        (self.state.inference, self.state.damping) = (inference, damping);
        self.state.threshold = self.active.as_ref().and_then(Active::threshold);
        self.state.counts_computed = self.active.is_some();
        self.team.collect(|w| w.computed = 0);
        Ok(())
    }

    /// Whether the messages of factors with one variable are stored, as the current inference computes them, or dropped as they will
    /// be in the rest of the run.
    pub(super) fn constants_sent(&self) -> bool {
        match &self.active {
            Some(active) if active.threshold().is_some() => active.constants_settled,
            _ => self.constants == Some(self.state.inference),
        }
    }

    /// Whether the iterations of a run with the current settings leave out nodes all of whose inputs are as they were.
    pub(super) fn leaves_out_nodes(&self) -> bool {
        // (Damped messages depend on those before; other plans change messages by themselves.)
        matches!(self.plan, Plan::Synchronous)
            && self.state.damping == 0.0
            && self.synchronous.may_skip
    }

    /// At the start of a run, rebuilds what is derived from messages and evidence.
    pub(super) fn begin(&mut self) {
        self.synchronous.begin(self.leaves_out_nodes());
        if let Plan::Batches(plan) = &mut self.plan {
            if std::mem::take(&mut self.trees_stale) {
                plan.trees.rebuild_all(&self.state);
                plan.cursors.reset();
            }
            plan.high_arity.invalidate();
            plan.follows_messages = false;
        }
        if let Plan::Residual(plan) = &mut self.plan
            && std::mem::take(&mut self.trees_stale)
        {
            plan.trees.rebuild_all(&self.state);
            plan.cursors.reset();
        }
        if let Some(active) = &mut self.active {
            active.messages_were_replaced();
        }
    }

    /// Marks all residuals of SEQMAX as out of date, after a change of evidence, damping or inference.
    pub(super) fn forget_residuals(&mut self) {
        if let Plan::Residual(plan) = &mut self.plan {
            plan.stale = true;
        }
    }

    /// Sets all messages to uniform.
    pub(super) fn reset(&mut self) {
        for index in 0..self.state.to_variable.len() {
            self.state.to_variable.set(index, EncodedMessage::ONE);
        }
        self.state.restart_newest();
        self.iterations = 0;
        self.constants = None;
        self.trees_stale = true;
        self.forget_residuals();
    }
}
