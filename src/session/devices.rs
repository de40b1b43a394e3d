//! Many runs spread over several devices.

use super::distribute::{Fit, JobEnd, distribute_to_some};
use super::runner::Runner;
use crate::engine::device::batch_devices;
use crate::engine::{Backend, DeviceSet, EngineOptions};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, room};
use crate::schedule::Schedule;

/// One of several devices that a batch is spread over.
pub(super) struct DeviceWorker {
    device: u32,
    runner: Runner,
    /// Why it is given up.
    failure: Option<Error>,
}

/// The devices that many runs may be spread over: none where there are not several.
pub(super) fn several(options: &EngineOptions, failed: DeviceSet) -> Result<Vec<u32>> {
    // Where the driver says nothing of them, the run on one device will say why.
    let devices = batch_devices(options).unwrap_or_default();
    let used = collected(devices.into_iter().filter(|&device| !failed.contains(device)))?;
    Ok(if used.len() > 1 { used } else { Vec::new() })
}

/// Makes a worker for each device that has none. Their engines are made by their first runs, on their threads.
pub(super) fn add_workers(
    workers: &mut Vec<DeviceWorker>, devices: &[u32], model: &Runner, schedule: &Schedule,
) -> Result<()> {
    for &device in devices {
        if workers.iter().all(|worker| worker.device != device) {
            let options =
                EngineOptions { backend: Backend::Cuda, device: Some(device), ..model.options() };
            let runner = model.sibling(schedule.clone(), options)?;
            workers.try_push(DeviceWorker { device, runner, failure: None })?;
        }
    }
    Ok(())
}

/// Runs jobs on the workers' devices, once they may begin. One that fails is given up: its job is done by another one. Gives
/// the jobs that are left when there is no device any more, and notes of what failed. Errors of `run` are those of devices.
pub(super) fn run_on_devices<J: Send, R: Send>(
    workers: &mut Vec<DeviceWorker>, failed: &mut DeviceSet, jobs: Vec<J>, notes: &mut Vec<String>,
    fit: impl Fn(&J) -> Fit + Sync, run: impl Fn(&mut Runner, &mut J) -> Result<R> + Sync,
    mut finished: impl FnMut(R),
) -> Result<Vec<J>> {
    let mut left = jobs;
    let each = left.len().div_ceil(workers.len().max(1));
    for worker in workers.iter_mut() {
        worker.runner.router_mut()?.expect_runs(each);
    }
    while !left.is_empty() && !workers.is_empty() {
        let work = |worker: &mut DeviceWorker, mut job: J| match run(&mut worker.runner, &mut job) {
            Ok(result) => JobEnd::Done(result),
            Err(error) => {
                worker.failure = Some(error);
                JobEnd::GivenUp(job)
            }
        };
        let fit = |_: &DeviceWorker, job: &J| fit(job);
        let note = |_, result| finished(result);
        let rest = distribute_to_some(workers, false, left, fit, work, note)?;
        left = collected(rest.into_iter().map(|(_, job)| job))?;
        let mut gone = room(workers.len())?;
        for worker in workers.iter_mut() {
            notes.try_extend(worker.runner.router_mut()?.take_notes())?;
            if let Some(error) = worker.failure.take() {
                gone.push(worker.device);
                notes.try_push(format!(
                    "device {} is given up, and what it had begun is done elsewhere: {error}",
                    worker.device
                ))?;
            }
        }
        *failed = failed.with(&gone);
        workers.retain(|worker| !gone.contains(&worker.device));
    }
    Ok(left)
}
