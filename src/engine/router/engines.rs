//! The engines of a graph, at most one per backend, which are made when they are needed; and which of them has
//! the newest messages.

use crate::engine::interface::{Engine, Problem, Provider};
use crate::engine::request::{RunRequest, Start};
use crate::engine::snapshot::Snapshot;
use crate::engine::value_count;
use crate::error::{Error, Result};
use crate::kernel::EncodedMessage;
use crate::memory::collected;
use crate::model::{FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use once_cell::sync::OnceCell;

/// The engine that serves every request: the first of the registry.
pub(super) const CPU: usize = 0;

/// A backend and its engine, if that has been made.
struct Entry {
    provider: &'static dyn Provider,
    engine: Option<Box<dyn Engine>>,
    /// Whether the engine has the current schedule.
    is_current: bool,
    /// What the graph has that the backend does not serve, once asked.
    graph_reason: OnceCell<Option<&'static str>>,
}

/// Who has the newest messages.
enum Owner {
    /// No engine yet: they are these, or uniform.
    Host(Option<Snapshot>),
    /// The engine of this number.
    Engine(usize),
    /// They were lost with their device: only a fresh run, or messages to start from, go on.
    Nobody,
}

/// Invariant: where the owner is an engine, it has been made.
pub(super) struct Engines {
    entries: Vec<Entry>,
    owner: Owner,
    /// Whether the CPU engine has a copy of the newest messages.
    is_mirrored: bool,
}

impl Engines {
    /// None is made yet, and messages are uniform.
    pub(super) fn new(providers: &[&'static dyn Provider]) -> Result<Self> {
        let entry = |&provider| Entry {
            provider,
            engine: None,
            is_current: false,
            graph_reason: OnceCell::new(),
        };
        Ok(Self {
            entries: collected(providers.iter().map(entry))?,
            owner: Owner::Host(None),
            is_mirrored: false,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn provider(&self, number: usize) -> &'static dyn Provider {
        self.entries[number].provider
    }

    /// What a graph, a schedule or a request has that a backend does not serve. The graph is always the same.
    pub(super) fn reason_against(
        &self, number: usize, graph: &FactorGraph, schedule: &Schedule, request: &RunRequest,
    ) -> Option<&'static str> {
        let Entry { provider, graph_reason, .. } = &self.entries[number];
        let graph_reason = *graph_reason.get_or_init(|| provider.reason_against_graph(graph));
        graph_reason.or_else(|| provider.reason_against(schedule, request))
    }

    pub(super) fn engine(&self, number: usize) -> Option<&dyn Engine> {
        self.entries[number].engine.as_deref()
    }

    /// Whether an engine is there, and has the current schedule.
    pub(super) fn is_ready(&self, number: usize) -> bool {
        let entry = &self.entries[number];
        entry.engine.is_some() && entry.is_current
    }

    /// The engine with the newest messages.
    pub(super) fn owner(&self) -> Option<usize> {
        match self.owner {
            Owner::Host(_) | Owner::Nobody => None,
            Owner::Engine(number) => Some(number),
        }
    }

    /// Whether the newest messages were lost with a device.
    pub(super) fn are_messages_lost(&self) -> bool {
        matches!(self.owner, Owner::Nobody)
    }

    /// Engines get the new schedule when they are next needed.
    pub(super) fn schedule_has_changed(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.is_current = false);
        // A queue that was given with them reaches only an engine that has its schedule.
        self.is_mirrored &= self.owner().is_some();
    }

    /// Sets or clears what is known about a variable in all engines there are. Errors: no memory; some
    /// engines have changed then.
    pub(super) fn set_evidence(
        &mut self, variable: usize, evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        let mut engines = self.entries.iter_mut().filter_map(|entry| entry.engine.as_mut());
        engines.try_for_each(|engine| engine.set_evidence(variable, evidence))
    }

    /// Makes an engine, or gives it the schedule that it has missed. Its messages may be old ones.
    pub(super) fn make_ready(
        &mut self, number: usize, problem: Problem<'_>,
    ) -> Result<&mut dyn Engine> {
        let entry = &mut self.entries[number];
        let Problem { schedule, evidence, .. } = problem;
        let engine = match &mut entry.engine {
            Some(engine) => {
                if !entry.is_current {
                    engine.set_schedule(schedule, evidence)?;
                }
                engine
            }
            empty => {
                let mut engine = entry.provider.make(problem)?;
                for (variable, known) in evidence.iter() {
                    engine.set_evidence(variable, Some(known))?;
                }
                empty.insert(engine)
            }
        };
        entry.is_current = true;
        Ok(engine.as_mut())
    }

    /// As [`Self::make_ready`]; and the newest messages are there if the start needs them.
    pub(super) fn move_to(
        &mut self, number: usize, start: Start, problem: Problem<'_>,
    ) -> Result<&mut dyn Engine> {
        self.make_ready(number, problem)?;
        let has_them = self.owner() == Some(number) || (number == CPU && self.is_mirrored);
        if start == Start::Warm && !has_them {
            self.copy_to(number, problem)?;
        }
        // A run that fails may leave other messages in the CPU engine.
        self.is_mirrored &= number != CPU;
        self.entries[number].engine.as_deref_mut().map_or_else(|| Err(not_made()), |e| Ok(e as _))
    }

    /// Gives an engine a copy of the newest messages.
    fn copy_to(&mut self, number: usize, problem: Problem<'_>) -> Result<()> {
        let exported;
        let snapshot = match &self.owner {
            Owner::Host(Some(given)) => given,
            Owner::Host(None) | Owner::Nobody => {
                exported = Snapshot::uniform(value_count(problem.graph))?;
                &exported
            }
            &Owner::Engine(owner) => {
                let engine = self.entries[owner].engine.as_mut().ok_or_else(not_made)?;
                exported = engine.export()?;
                &exported
            }
        };
        let engine = self.entries[number].engine.as_mut().ok_or_else(not_made)?;
        engine.import(snapshot)
    }

    /// An engine that is there has changed its messages, and these are the newest ones.
    pub(super) fn has_run(&mut self, number: usize) {
        self.owner = Owner::Engine(number);
        self.is_mirrored = false;
    }

    /// The messages are lost with their engine; who reads them finds uniform ones.
    pub(super) fn lose_messages(&mut self) {
        self.owner = Owner::Nobody;
        self.is_mirrored = false;
    }

    /// Gives an engine that is not the owner back.
    pub(super) fn discard(&mut self, number: usize) {
        if self.owner() != Some(number) {
            self.entries[number].engine = None;
        }
    }

    pub(super) fn export(&mut self, graph: &FactorGraph) -> Result<Snapshot> {
        match &self.owner {
            Owner::Host(Some(given)) => given.try_clone(),
            Owner::Host(None) | Owner::Nobody => Snapshot::uniform(value_count(graph)),
            &Owner::Engine(owner) => {
                self.entries[owner].engine.as_mut().ok_or_else(not_made)?.export()
            }
        }
    }

    pub(super) fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        match self.owner {
            Owner::Engine(owner) if self.is_ready(owner) => {
                self.entries[owner].engine.as_mut().ok_or_else(not_made)?.import(snapshot)?;
            }
            _ => self.owner = Owner::Host(Some(snapshot.try_clone()?)),
        }
        self.is_mirrored = false;
        Ok(())
    }

    /// Appends the current messages from a factor's variables to it. Where the owner cannot read them, the CPU
    /// engine does, from a copy.
    pub(super) fn factor_inputs(
        &mut self, factor: usize, problem: Problem<'_>, out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        if let Some(owner) = self.owner()
            && let Some(engine) = &mut self.entries[owner].engine
            && engine.factor_inputs(factor, out)?
        {
            return Ok(());
        }
        if !self.is_mirrored {
            self.make_ready(CPU, problem)?;
            self.copy_to(CPU, problem)?;
            self.is_mirrored = true;
        }
        self.entries[CPU].engine.as_mut().ok_or_else(not_made)?.factor_inputs(factor, out)?;
        Ok(())
    }
}

/// An invariant is broken: an engine is asked for that has not been made.
fn not_made() -> Error {
    Error::NoResult("internal error: no engine has the messages".into())
}
