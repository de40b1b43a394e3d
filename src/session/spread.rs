//! Many sessions spread over several devices.

use super::distribute::{Fit, JobEnd, distribute_to_some};
use crate::error::Result;
use crate::memory::{Grow, collected, room};

/// The devices that a session may run on.
pub(crate) struct DeviceChoice {
    pub(crate) devices: Vec<u32>,
    /// The one that it has run on.
    pub(crate) placed: Option<u32>,
    /// What its run costs, by which the larger ones begin first.
    pub(crate) edges: usize,
}

/// A session that is to run on one of some devices.
pub(super) struct Job<S> {
    /// Its place in the list of all.
    pub(super) index: usize,
    pub(super) session: S,
    pub(super) choice: DeviceChoice,
}

/// What came of a session on a device.
pub(crate) enum Ran<R> {
    Done(R),
    /// The device failed, and the run was made without it.
    Last(R),
    /// The device failed, and the session is as it was.
    GivenUp,
}

/// Runs each session on one of its devices, the one that it ran on before, or else the first that is free; every device
/// has a thread of its own. One that fails is given up: what it had begun is run on another one. Gives the sessions
/// for which there is no device any more, with their places. Errors: no memory.
pub(super) fn run_spread<S: Send, R: Send>(
    mut jobs: Vec<Job<S>>, run: impl Fn(&mut S, u32) -> Ran<R> + Sync,
    mut finished: impl FnMut(usize, R),
) -> Result<Vec<(usize, S)>> {
    jobs.sort_by_key(|job| std::cmp::Reverse(job.choice.edges));
    let mut failed = Vec::new();
    let mut hopeless = room(jobs.len())?;
    while !jobs.is_empty() {
        let mut devices = room(jobs.len())?;
        for &device in jobs.iter().flat_map(|job| &job.choice.devices) {
            if !failed.contains(&device) && devices.iter().all(|&(other, _)| other != device) {
                devices.push((device, false));
            }
        }
        let mut possible = room(jobs.len())?;
        for mut job in std::mem::take(&mut jobs) {
            let DeviceChoice { devices: allowed, placed, .. } = &mut job.choice;
            *placed = placed.filter(|device| allowed.contains(device) && !failed.contains(device));
            match job.choice.devices.iter().any(|device| !failed.contains(device)) {
                true => possible.push(job),
                false => hopeless.push((job.index, job.session)),
            }
        }
        if possible.is_empty() {
            break;
        }
        let (count, working) = (possible.len(), failed.len());
        let left = distribute_to_some(
            &mut devices,
            false,
            possible,
            |(device, _), job| {
                let fits = job.choice.devices.contains(device)
                    && job.choice.placed.is_none_or(|placed| placed == *device);
                if fits { Fit::Now } else { Fit::No }
            },
            |(device, has_failed), mut job| {
                let ran = run(&mut job.session, *device);
                *has_failed = !matches!(ran, Ran::Done(_));
                match ran {
                    Ran::Done(result) => JobEnd::Done((job.index, result)),
                    Ran::Last(result) => JobEnd::Last((job.index, result)),
                    Ran::GivenUp => JobEnd::GivenUp(job),
                }
            },
            |_, (index, result)| finished(index, result),
        )?;
        failed.try_extend(devices.iter().filter(|device| device.1).map(|device| device.0))?;
        jobs = collected(left.into_iter().map(|(_, job)| job))?;
        if failed.len() == working {
            // There were fewer threads than devices: others do it, or nobody.
            jobs.iter_mut().for_each(|job| job.choice.placed = None);
            if jobs.len() == count {
                break;
            }
        }
    }
    hopeless.try_extend(jobs.into_iter().map(|job| (job.index, job.session)))?;
    Ok(hopeless)
}
