//! Engines run passes of belief propagation. All give the same bits.

#[cfg(any(cuda, test))]
mod auto;
mod belief;
mod cpu;
#[cfg(cuda)]
mod cuda;
pub mod device;
mod make;
mod request;
pub(crate) mod snapshot;

pub(crate) use belief::{Inputs, expand, state_weight};
pub(crate) use cpu::CpuEngine;
pub(crate) use make::make;
pub use request::{
    Contradiction, Control, Progress, RunReport, RunRequest, Start, StopReason, StopRule,
};
pub(crate) use snapshot::Snapshot;

use crate::error::Result;
pub use crate::kernel::Inference;
use crate::kernel::Packed;
use crate::kernel::stored_values;
use crate::model::FactorGraph;
use crate::model::VariableEvidence;
use crate::schedule::Schedule;

/// Where passes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Each run where it is expected to end first, by a model of the costs that earlier runs correct;
    /// what a place needs is made when the first run there is, or is prepared. On the CPU where there is
    /// no device; also where one fails, which [`crate::BeliefPropagation::take_notes`] then says.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device. The first session on one retains its primary context, which other users of CUDA in
    /// the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
    Cuda,
}

impl Backend {
    /// `auto`, `cpu` or `cuda`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Cpu => "cpu",
            Backend::Cuda => "cuda",
        }
    }
}

/// What to run passes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Where passes run.
    pub backend: Backend,
    /// Number of CPU threads, at least 1; `None` for one per physical core.
    pub threads: Option<usize>,
    /// Number of the CUDA device; `None` for that of the environment variable `FASTLBP_DEVICE`, and 0
    /// where it is not set (see [`device::choose_device`]).
    pub device: Option<u32>,
    /// Whether tables with local structure run as what they are (see [`crate::structure`]) instead
    /// of entry by entry; results differ by rounding only. True unless changed.
    pub compile_tables: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { backend: Backend::Auto, threads: None, device: None, compile_tables: true }
    }
}

/// Number of stored values of all messages of a graph.
pub(crate) fn value_count(graph: &FactorGraph) -> usize {
    let values = |&v: &u32| stored_values(graph.cardinalities()[v as usize]);
    graph.edge_variables().iter().map(values).sum()
}

/// Holds the messages of one graph and runs passes over them.
///
/// An engine is bound to a graph and a schedule; evidence is data that changes between runs. Between
/// runs the factor-to-variable messages are its whole state.
pub(crate) trait Engine: Send + Sync {
    /// Where passes run: never `Auto`.
    fn backend(&self) -> Backend;

    /// Number of CPU threads in use.
    fn threads(&self) -> usize;

    /// Replaces the schedule; messages stay as they are.
    fn set_schedule(&mut self, schedule: &Schedule) -> Result<()>;

    /// Sets or, with `None`, clears what is known about a variable. The arguments are valid. Errors: no
    /// memory; nothing has changed then. Clearing never fails.
    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()>;

    /// Makes what such a run needs and is not there yet, so that the run itself begins at once.
    fn prepare(&mut self, _request: &RunRequest) -> Result<()> {
        Ok(())
    }

    /// Runs passes until the request's rule ends them. On an error other than a contradiction the
    /// messages are unchanged, or, where memory was missing in the middle of the run, uniform.
    fn run(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport>;

    /// Probabilities of all states of all variables after the last run without an error, by the
    /// rule of that run: beliefs, or means of beliefs. One entry per state of each variable.
    fn results(&self) -> &[f64];

    /// The current messages from a factor's variables to it, one after the other.
    fn factor_inputs(&self, factor: usize, out: &mut Vec<Packed>) -> Result<()>;

    /// What another engine needs to go on from here. Errors: no memory.
    fn export(&self) -> Result<Snapshot>;

    /// Goes on from there; the lengths are right. The evidence that it belongs to has been set before. Errors:
    /// no memory; nothing has changed then.
    fn import(&mut self, snapshot: &Snapshot) -> Result<()>;

    /// What its user should know and is no error, such as why a run was made elsewhere than asked for;
    /// each is told once.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a device is expected to make so many runs, with an engine that is yet to be made, faster
    /// than the CPU makes them several at once.
    fn prefers_device(&mut self, _request: &RunRequest, _runs: usize) -> bool {
        self.backend() == Backend::Cuda
    }

    /// Says how many runs, alike but for their evidence, are about to follow.
    fn expect_runs(&mut self, _runs: usize) {}
}

#[cfg(test)]
pub(crate) use tests::Messages;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Packed;

    /// The messages of an engine, and the passes that they come from.
    pub(crate) trait Messages {
        fn messages(&self) -> (Vec<Packed>, u64);
        fn set_messages(&mut self, messages: &[Packed], passes: u64);
    }

    impl<T: Engine + ?Sized> Messages for T {
        fn messages(&self) -> (Vec<Packed>, u64) {
            let snapshot = self.export().unwrap();
            (snapshot.messages, snapshot.passes)
        }

        fn set_messages(&mut self, messages: &[Packed], passes: u64) {
            self.import(&Snapshot::of_messages(messages.to_vec(), passes)).unwrap();
        }
    }
}
