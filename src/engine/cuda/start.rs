//! The start of the driver on a device, and what is done meanwhile.

use super::driver::{Context, Device};
use super::programs::{Plan, ProgramKind, expected_program};
use crate::error::{Error, Result};
use crate::model::FactorGraph;
use crate::schedule::{KnownOrder, Schedule};
use crate::threads::Gang;
use std::sync::{Arc, OnceLock};

/// The context of a device, and the plan of what it is to run. The first context of a process takes tenths of a second, in which
/// other threads make the plan and expand the kernels. Errors: what each of these says, that of the context first.
pub(super) fn start(
    device: Device, graph: &FactorGraph, schedule: &Schedule, order: &KnownOrder,
) -> Result<(Arc<Context>, Plan)> {
    if !Context::is_missing(device) {
        return Ok((Context::new(device)?, Plan::new(device, graph, schedule, order)?));
    }
    let kernels = expected_program(graph, schedule).map(ProgramKind::kernels);
    let (plan, context, image) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
    let tasks: [&(dyn Fn() + Sync); 3] = [
        &|| drop(plan.set(Plan::new(device, graph, schedule, order))),
        &|| drop(context.set(Context::new(device))),
        &|| drop(image.set(kernels.map(|kernels| kernels.image(device)).transpose())),
    ];
    let gang = Gang::of(tasks.len());
    gang.run(&|thread| {
        tasks.iter().skip(thread).step_by(gang.threads()).for_each(|task| task());
    });
    let lost = || Error::Device("internal error: the start of a CUDA device was left out".into());
    let context: Arc<Context> = context.into_inner().ok_or_else(lost)??;
    let image = image.into_inner().ok_or_else(lost)??;
    if let (Some(kernels), Some(image)) = (kernels, image) {
        // The driver may compile here, for which threads of a gang have too small a stack.
        kernels.load_image(&context.enter()?, image)?;
    }
    Ok((context, plan.into_inner().ok_or_else(lost)??))
}
