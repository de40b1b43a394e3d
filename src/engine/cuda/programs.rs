//! The programs of a graph, and which of them runs a request.

use super::binary::BinaryProgram;
use super::driver::Queue;
use super::general::General;
use super::kernels;
use super::program::Program;
use crate::engine::limits::has_kernels_of_binary_variables;
use crate::engine::{Inference, RunRequest, StopRule};
use crate::error::{Error, Result};
use crate::factor::DeviceForm;
use crate::model::{Evidence, FactorGraph};
use crate::schedule::Schedule;
use std::sync::Arc;

/// Which program runs iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind {
    /// Binary variables, and mostly conjunctions.
    Binary,
    /// The same, laid out for damped runs, where these need more shared memory than there is for the other one.
    Damped,
    General,
}

/// What there is for a graph and a schedule on the device.
pub(super) struct Programs {
    binary: Option<BinaryProgram>,
    /// For damped runs that the one before has no room for; made when first needed.
    damped: Option<BinaryProgram>,
    /// For all that the others do not serve; made when first needed.
    general: Option<General>,
}

/// What a graph has that no program serves; `None` if one serves all of it. O(factors + variables).
pub(super) fn reason_against_graph(graph: &FactorGraph) -> Option<&'static str> {
    if has_host_kind(graph) {
        Some("graphs with factors of a kind that devices have no code for run on the CPU")
    } else if has_single_states(graph) {
        Some("graphs with variables of one state run on the CPU")
    } else {
        None
    }
}

/// What a schedule or a request has that no program serves; `None` if one serves all of it.
pub(super) fn reason_against(schedule: &Schedule, request: &RunRequest) -> Option<&'static str> {
    if matches!(schedule, Schedule::MaximumResidual { .. }) {
        Some("SEQMAX runs on the CPU: each of its messages decides which one is the next")
    } else if request.active_threshold.is_some() {
        Some("active sets run on the CPU: which messages they compute is known one by one only")
    } else if matches!(request.rule, StopRule::AllBeliefs { .. }) {
        Some("libDAI's stop rule runs on the CPU: it looks at tables of the beliefs of factors")
    } else {
        None
    }
}

/// Whether a variable has one state only: the kernels take one stored value for odds.
fn has_single_states(graph: &FactorGraph) -> bool {
    !graph.all_binary() && graph.cardinalities().contains(&1)
}

/// Whether a factor is of a kind that no program has; see [`DeviceForm::None`].
fn has_host_kind(graph: &FactorGraph) -> bool {
    graph.other_factors().any(|factor| {
        let view = graph.factor(factor);
        let runs = |inference| {
            view.needs_table(inference) || !matches!(view.device_form(), DeviceForm::None)
        };
        !(runs(Inference::SumProduct) && runs(Inference::MaxProduct))
    })
}

impl Programs {
    /// The binary program, if graph and schedule are of its kind, else the general one, if it has the
    /// schedule. Errors: a schedule for another graph; what making them says.
    pub(super) fn new(
        queue: Queue<'_>, graph: &Arc<FactorGraph>, schedule: &Schedule,
    ) -> Result<Self> {
        let mut programs = Self { binary: None, damped: None, general: None };
        let is_residual = matches!(schedule, Schedule::MaximumResidual { .. });
        if is_residual || reason_against_graph(graph).is_some() {
            return Ok(programs);
        }
        // Kernels that are of no use are not loaded.
        let by_levels = !matches!(schedule, Schedule::Parallel);
        if has_kernels_of_binary_variables(graph, by_levels) {
            let module = kernels::binary(queue.current)?;
            programs.binary = BinaryProgram::new(queue, &module, graph.clone(), schedule, false)?;
        }
        if programs.binary.is_none() {
            programs.general = Some(general(queue, graph, schedule)?);
        }
        Ok(programs)
    }

    /// Makes the program that runs a request, if it is not there, and says which it is.
    pub(super) fn require(
        &mut self, request: &RunRequest, queue: Queue<'_>, graph: &Arc<FactorGraph>,
        schedule: &Schedule, evidence: &Evidence,
    ) -> Result<ProgramKind> {
        let is_short_of_room = |binary: &BinaryProgram| {
            binary.serves(&RunRequest { damping: 0.0, ..*request }) && request.damping > 0.0
        };
        match &self.binary {
            Some(binary) if binary.serves(request) => return Ok(ProgramKind::Binary),
            Some(binary) if is_short_of_room(binary) && self.damped.is_none() => {
                let module = kernels::binary(queue.current)?;
                self.damped = BinaryProgram::new(queue, &module, graph.clone(), schedule, true)?;
                if let Some(program) = &mut self.damped {
                    give_evidence(program, evidence)?;
                }
            }
            _ => {}
        }
        if self.damped.as_ref().is_some_and(|program| program.serves(request)) {
            return Ok(ProgramKind::Damped);
        }
        if self.general.is_none() {
            let mut made = general(queue, graph, schedule)?;
            give_evidence(&mut made, evidence)?;
            self.general = Some(made);
        }
        Ok(ProgramKind::General)
    }

    /// What will most likely run first; none where nothing of the graph or schedule runs on a device.
    pub(super) fn first(&self) -> Option<ProgramKind> {
        match self {
            Self { binary: Some(_), .. } => Some(ProgramKind::Binary),
            Self { general: Some(_), .. } => Some(ProgramKind::General),
            _ => None,
        }
    }

    /// Errors: the program has not been made.
    pub(super) fn at(&mut self, kind: ProgramKind) -> Result<&mut dyn Program> {
        let program: Option<&mut dyn Program> = match kind {
            ProgramKind::Binary => self.binary.as_mut().map(|program| program as _),
            ProgramKind::Damped => self.damped.as_mut().map(|program| program as _),
            ProgramKind::General => self.general.as_mut().map(|program| program as _),
        };
        program.ok_or_else(lost)
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut dyn Program> {
        let binary = self.binary.iter_mut().chain(&mut self.damped);
        let binary = binary.map(|program| program as &mut dyn Program);
        binary.chain(self.general.iter_mut().map(|program| program as &mut dyn Program))
    }
}

fn give_evidence(program: &mut dyn Program, evidence: &Evidence) -> Result<()> {
    evidence.iter().try_for_each(|(variable, known)| program.set_evidence(variable, Some(known)))
}

fn general(queue: Queue<'_>, graph: &Arc<FactorGraph>, schedule: &Schedule) -> Result<General> {
    General::new(queue, &kernels::general(queue.current)?, graph.clone(), schedule)
}

/// An invariant is broken: a program is asked for that has not been made.
fn lost() -> Error {
    Error::Device("internal error: the CUDA engine has no such program".into())
}
