//! The engine that options ask for.

#[cfg(not(cuda))]
use super::device::cuda_unavailable;
#[cfg(cuda)]
use super::device::of_backend_cuda;
use super::{Backend, CpuEngine, Engine, EngineOptions};
#[cfg(cuda)]
use super::{auto::auto_engine, cuda};
use crate::error::Result;
use crate::memory::boxed;
use crate::model::FactorGraph;
use crate::schedule::Schedule;
use std::sync::Arc;

/// An engine for a graph and a schedule, on the backend of the options.
///
/// Errors: a schedule made for a graph with another number of edges; zero threads; a backend that is
/// not present, with the reason.
pub(crate) fn make(
    graph: Arc<FactorGraph>,
    schedule: &Schedule,
    options: EngineOptions,
) -> Result<Box<dyn Engine>> {
    match options.backend {
        #[cfg(cuda)]
        Backend::Auto => auto_engine(graph, schedule, options),
        #[cfg(not(cuda))]
        Backend::Auto => make(graph, schedule, EngineOptions { backend: Backend::Cpu, ..options }),
        Backend::Cpu => Ok(boxed(CpuEngine::new(graph, schedule, options)?)?),
        #[cfg(cuda)]
        Backend::Cuda => cuda::engine(graph, schedule, options).map_err(of_backend_cuda),
        #[cfg(not(cuda))]
        Backend::Cuda => Err(cuda_unavailable(options.device)),
    }
}
