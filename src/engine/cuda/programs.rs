//! The programs of a graph, and which of them runs a request.

use super::binary::{BinaryPlan, BinaryProgram};
use super::driver::{Device, Queue};
use super::general::{General, GeneralPlan};
use super::kernels::{BINARY, GENERAL, Kernels};
use super::program::Program;
use crate::engine::limits::has_kernels_of_binary_variables;
use crate::engine::{Inference, RunRequest};
use crate::error::{Error, Result};
use crate::factor::DeviceForm;
use crate::memory::boxed;
use crate::model::{Evidence, FactorGraph};
use crate::schedule::{KnownOrder, Schedule};
use std::sync::Arc;

/// Which program runs iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind {
    /// Binary variables, and mostly conjunctions.
    Binary,
    /// The same, laid out for runs whose messages depend on old ones, as damped ones do, where these need more shared memory than there is for the other one.
    Damped,
    General,
}

impl ProgramKind {
    pub(super) fn kernels(self) -> &'static Kernels {
        match self {
            Self::Binary | Self::Damped => &BINARY,
            Self::General => &GENERAL,
        }
    }
}

/// What there is for a graph and a schedule on the device.
pub(super) struct Programs {
    binary: Option<BinaryProgram>,
    /// For runs whose messages depend on old ones, that the one before has no room for; made when first needed.
    damped: Option<BinaryProgram>,
    /// For all that the others do not serve; made when first needed.
    general: Option<General>,
    /// For the beliefs of factors, by the messages of the others.
    measurer: Option<General>,
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

/// What a schedule has that no program serves; `None` if one serves all of it.
pub(super) fn reason_against_schedule(schedule: &Schedule) -> Option<&'static str> {
    if matches!(schedule, Schedule::MaximumResidual { .. }) {
        Some("SEQMAX runs on the CPU: each of its messages decides which one is the next")
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

/// What is made first for a graph and a schedule, as far as it can be before the driver has started.
pub(super) enum Plan {
    Binary(Box<BinaryPlan>),
    General(Box<GeneralPlan>),
    /// Nothing of it runs on a device.
    Nothing,
}

impl Plan {
    /// For the binary program, if graph and schedule are of its kind, else for the general one, if it has the schedule. Errors: a
    /// schedule for another graph; what making them says.
    pub(super) fn new(
        device: Device, graph: &FactorGraph, schedule: &Schedule, order: &KnownOrder,
    ) -> Result<Self> {
        let binary = match expected_program(graph, schedule) {
            Some(ProgramKind::General) => None,
            Some(_) => BinaryPlan::new(device, graph, schedule, order, false)?,
            None => return Ok(Self::Nothing),
        };
        Ok(match binary {
            Some(plan) => Self::Binary(boxed(plan)?),
            None => Self::General(boxed(GeneralPlan::new(device, graph, schedule, order)?)?),
        })
    }
}

/// The program that most likely runs first; none where nothing of the graph or schedule runs on a device.
/// O(factors + variables).
pub(super) fn expected_program(graph: &FactorGraph, schedule: &Schedule) -> Option<ProgramKind> {
    let by_levels = match schedule {
        Schedule::MaximumResidual { .. } => return None,
        Schedule::Parallel => false,
        _ => true,
    };
    if reason_against_graph(graph).is_some() {
        return None;
    }
    let is_random = matches!(schedule, Schedule::SequentialRandom { .. });
    let is_binary = !is_random && has_kernels_of_binary_variables(graph, by_levels);
    Some(if is_binary { ProgramKind::Binary } else { ProgramKind::General })
}

impl Programs {
    /// The program of a plan for this graph and schedule. Errors: what making it says.
    pub(super) fn new(
        queue: Queue<'_>, graph: &Arc<FactorGraph>, schedule: &Schedule, plan: Plan,
    ) -> Result<Self> {
        let mut programs = Self { binary: None, damped: None, general: None, measurer: None };
        match plan {
            Plan::Binary(plan) => programs.binary = Some(with_binary_kernels(queue, graph, *plan)?),
            Plan::General(plan) => {
                programs.general = Some(with_general_kernels(queue, graph, schedule, *plan)?);
            }
            Plan::Nothing => {}
        }
        Ok(programs)
    }

    /// Makes the program that runs a request, if it is not there, and says which it is.
    pub(super) fn require(
        &mut self, request: &RunRequest, queue: Queue<'_>, graph: &Arc<FactorGraph>,
        schedule: &Schedule, evidence: &Evidence,
    ) -> Result<ProgramKind> {
        let is_short_of_room = |binary: &BinaryProgram| {
            let plain = RunRequest { damping: 0.0, active_threshold: None, ..*request };
            request.depends_on_old_messages() && binary.serves(&plain)
        };
        match &self.binary {
            Some(binary) if binary.serves(request) => return Ok(ProgramKind::Binary),
            Some(binary) if is_short_of_room(binary) && self.damped.is_none() => {
                let (device, order) = (queue.current.device(), &KnownOrder::default());
                let plan = BinaryPlan::new(device, graph, schedule, order, true)?;
                if let Some(plan) = plan {
                    let mut made = with_binary_kernels(queue, graph, plan)?;
                    give_evidence(&mut made, evidence)?;
                    self.damped = Some(made);
                }
            }
            _ => {}
        }
        if self.damped.as_ref().is_some_and(|program| program.serves(request)) {
            return Ok(ProgramKind::Damped);
        }
        require_general(&mut self.general, queue, graph, schedule, evidence)?;
        Ok(ProgramKind::General)
    }

    /// What measures beliefs of factors by the messages of a program: the general one itself, or one that makes no iterations, made
    /// when first needed.
    pub(super) fn measurer(
        &mut self, kind: ProgramKind, queue: Queue<'_>, graph: &Arc<FactorGraph>,
        schedule: &Schedule, evidence: &Evidence,
    ) -> Result<&mut General> {
        let is_own = kind == ProgramKind::General;
        let schedule = if is_own { schedule } else { &Schedule::Parallel };
        let place = if is_own { &mut self.general } else { &mut self.measurer };
        require_general(place, queue, graph, schedule, evidence)
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
        let general = self.general.iter_mut().chain(&mut self.measurer);
        binary.chain(general.map(|program| program as &mut dyn Program))
    }
}

/// Makes a general program, if it is not there.
fn require_general<'a>(
    place: &'a mut Option<General>, queue: Queue<'_>, graph: &Arc<FactorGraph>,
    schedule: &Schedule, evidence: &Evidence,
) -> Result<&'a mut General> {
    if place.is_none() {
        let (device, order) = (queue.current.device(), &KnownOrder::default());
        let plan = GeneralPlan::new(device, graph, schedule, order)?;
        let mut made = with_general_kernels(queue, graph, schedule, plan)?;
        give_evidence(&mut made, evidence)?;
        *place = Some(made);
    }
    place.as_mut().ok_or_else(lost)
}

fn give_evidence(program: &mut dyn Program, evidence: &Evidence) -> Result<()> {
    evidence.iter().try_for_each(|(variable, known)| program.set_evidence(variable, Some(known)))
}

fn with_binary_kernels(
    queue: Queue<'_>, graph: &Arc<FactorGraph>, plan: BinaryPlan,
) -> Result<BinaryProgram> {
    BinaryProgram::new(queue, &BINARY.load(queue.current)?, graph.clone(), plan)
}

fn with_general_kernels(
    queue: Queue<'_>, graph: &Arc<FactorGraph>, schedule: &Schedule, plan: GeneralPlan,
) -> Result<General> {
    General::new(queue, &GENERAL.load(queue.current)?, graph.clone(), schedule, plan)
}

/// An invariant is broken: a program is asked for that has not been made.
pub(super) fn lost() -> Error {
    Error::Device("internal error: the CUDA engine has no such program".into())
}
