//! The machine that this process runs on.

use super::{AutoEngine, Costs, Machine, Place};
use crate::engine::{CpuEngine, Engine, EngineOptions, cuda};
use crate::error::Result;
use crate::memory::boxed;
use crate::model::FactorGraph;
use crate::schedule::Schedule;
use crate::threads::physical_cores;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Whether the driver has been started by an engine of this process.
static STARTED: AtomicBool = AtomicBool::new(false);

struct Local {
    options: EngineOptions,
    threads: usize,
    begin: Instant,
}

/// The engine of the backend AUTO. Errors: those of the CPU engine.
pub(in crate::engine) fn auto_engine(
    graph: Arc<FactorGraph>,
    schedule: &Schedule,
    options: EngineOptions,
) -> Result<Box<dyn Engine>> {
    let threads = options.threads.unwrap_or_else(physical_cores);
    let machine = Local { options, threads, begin: Instant::now() };
    let engine = AutoEngine::new(boxed(machine)?, Costs::MEASURED, graph, schedule)?;
    Ok(boxed(engine)?)
}

impl Machine for Local {
    fn threads(&self) -> usize {
        self.threads
    }

    fn check(&self, graph: &FactorGraph, schedule: &Schedule) -> Result<usize> {
        CpuEngine::check(graph, schedule, self.options)
    }

    fn has_device(&self) -> bool {
        cuda::device_count().is_ok()
    }

    fn is_started(&self) -> bool {
        STARTED.load(Ordering::Relaxed)
    }

    fn make(
        &self,
        place: Place,
        graph: &Arc<FactorGraph>,
        schedule: &Schedule,
    ) -> Result<Box<dyn Engine>> {
        let graph = graph.clone();
        match place {
            Place::Cpu => Ok(boxed(CpuEngine::new(graph, schedule, self.options)?)?),
            Place::Device => {
                let engine = cuda::engine(graph, schedule, self.options)?;
                STARTED.store(true, Ordering::Relaxed);
                Ok(engine)
            }
        }
    }

    fn now(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}
