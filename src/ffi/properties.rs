//! Settings by name: libDAI's names and values, and a few more.

use super::device::FASTLBP_DEVICE_DEFAULT;
use super::session::{Measure, Session};
use super::status::{Failure, Outcome};
use crate::engine::{Backend, Contradiction, Inference, Start};
use crate::schedule::Schedule;

/// The known keys, for the error text.
const KEYS: &str = "tol, maxiter, maxtime, updates, damping, inference, logdomain, verbose, \
                    threads, seed, blocks, backend, device, contradiction, start, measure, active";

/// Stands for the device of the environment variable.
const DEFAULT_DEVICE: &str = "default";

fn unknown_key(key: &str) -> Failure {
    Failure::invalid(format!("unknown property '{key}': known are {KEYS}"))
}

fn wrong(key: &str, value: &str, needed: &str) -> Failure {
    Failure::invalid(format!("property {key} = '{value}': {needed} is needed"))
}

fn number<T: std::str::FromStr>(key: &str, value: &str, needed: &str) -> Outcome<T> {
    value.trim().parse().map_err(|_| wrong(key, value, needed))
}

pub(super) fn check_tolerance(tolerance: f64) -> Outcome<f64> {
    if tolerance >= 0.0 {
        Ok(tolerance)
    } else {
        Err(Failure::invalid(format!("tolerance {tolerance}: a value >= 0 is needed")))
    }
}

pub(super) fn check_max_time(seconds: f64) -> Outcome<f64> {
    if seconds >= 0.0 {
        Ok(seconds)
    } else {
        Err(Failure::invalid(format!(
            "time limit of {seconds} seconds: a value >= 0, or infinity for none, is needed"
        )))
    }
}

pub(super) fn check_damping(damping: f64) -> Outcome<f64> {
    if (0.0..1.0).contains(&damping) {
        // Not the zero with a sign.
        Ok(damping.abs())
    } else {
        Err(Failure::invalid(format!("damping {damping}: a number in [0, 1) is needed")))
    }
}

/// The threshold of an active set.
pub(super) fn check_threshold(threshold: f64) -> Outcome<f64> {
    if threshold >= 0.0 {
        Ok(threshold.abs())
    } else {
        Err(Failure::invalid(format!(
            "threshold {threshold} of the active set: a number >= 0 is needed"
        )))
    }
}

/// Sets threads; 0 stands for one per physical core.
pub(super) fn set_threads(session: &mut Session, threads: usize) -> Outcome {
    const LIMIT: usize = 4096;
    if threads > LIMIT {
        return Err(Failure::invalid(format!(
            "{threads} threads: at most {LIMIT}, or 0 for one per physical core, are possible"
        )));
    }
    let threads = (threads > 0).then_some(threads);
    session.set_options(crate::EngineOptions { threads, ..session.options() });
    Ok(())
}

pub(super) fn set_backend(session: &mut Session, backend: Backend) {
    session.set_options(crate::EngineOptions { backend, ..session.options() });
}

/// Sets the CUDA device; `None`, or FASTLBP_DEVICE_DEFAULT, for the one of the environment variable.
pub(super) fn set_device(session: &mut Session, device: Option<u32>) {
    let device = device.filter(|&index| index != FASTLBP_DEVICE_DEFAULT);
    session.set_options(crate::EngineOptions { device, ..session.options() });
}

/// Sets the schedule of a name.
pub(super) fn set_schedule(session: &mut Session, name: &str, seed: u64) -> Outcome {
    let schedule = Schedule::from_name(name, seed)?;
    session.settings.seed = seed;
    session.set_schedule(schedule);
    renew_schedule(session);
    Ok(())
}

/// Sets the number of blocks of BLOCKS.
pub(super) fn set_blocks(session: &mut Session, blocks: u32) -> Outcome {
    if blocks == 0 {
        return Err(Failure::invalid("0 blocks: 1 or more are needed"));
    }
    session.settings.blocks = blocks;
    renew_schedule(session);
    Ok(())
}

/// Gives the schedule in use what it takes from the settings.
fn renew_schedule(session: &mut Session) {
    let (seed, blocks) = (session.settings.seed, session.settings.blocks);
    let log_domain = session.settings.log_domain;
    match session.schedule() {
        Schedule::SequentialRandom { .. } => {
            session.set_schedule(Schedule::SequentialRandom { seed });
        }
        Schedule::Blocks { .. } => session.set_schedule(Schedule::Blocks { blocks, seed }),
        Schedule::MaximumResidual { .. } => {
            session.set_schedule(Schedule::MaximumResidual { log_domain });
        }
        _ => {}
    }
}

pub(super) fn set(session: &mut Session, key: &str, value: &str) -> Outcome {
    let word = value.trim().to_ascii_lowercase();
    let settings = &mut session.settings;
    match key {
        "tol" => settings.tolerance = check_tolerance(number(key, value, "a number >= 0")?)?,
        "maxiter" => settings.max_passes = number(key, value, "a whole number >= 0")?,
        "maxtime" => {
            settings.max_time = check_max_time(number(key, value, "a number of seconds >= 0")?)?;
        }
        "updates" => set_schedule(session, value.trim(), session.settings.seed)?,
        "damping" => {
            settings.damping = check_damping(number(key, value, "a number in [0, 1)")?)?;
        }
        "inference" => {
            settings.inference = match word.as_str() {
                "sumprod" => Inference::SumProduct,
                "maxprod" => Inference::MaxProduct,
                _ => return Err(wrong(key, value, "SUMPROD or MAXPROD")),
            }
        }
        "logdomain" => {
            settings.log_domain = match word.as_str() {
                "0" | "false" => false,
                "1" | "true" => true,
                _ => return Err(wrong(key, value, "0 or 1")),
            };
            renew_schedule(session);
        }
        "verbose" => settings.verbose = number(key, value, "a whole number >= 0")?,
        "threads" => {
            let needed = "a whole number, or 0 for one thread per physical core,";
            set_threads(session, number(key, value, needed)?)?;
        }
        "seed" => {
            let seed = number(key, value, "a whole number from 0 to 2^64 - 1")?;
            settings.seed = seed;
            renew_schedule(session);
        }
        "blocks" => {
            set_blocks(session, number(key, value, "a whole number from 1 to 2^32 - 1")?)?;
        }
        "backend" => {
            let known = [Backend::Auto, Backend::Cpu, Backend::Cuda];
            let backend = known.into_iter().find(|backend| backend.name() == word);
            let backend = backend.ok_or_else(|| wrong(key, value, "auto, cpu or cuda"))?;
            set_backend(session, backend);
        }
        "device" => {
            let device = match word.as_str() {
                DEFAULT_DEVICE => None,
                _ => Some(number(key, value, "default or the number of a CUDA device")?),
            };
            set_device(session, device);
        }
        "contradiction" => {
            settings.contradiction = match word.as_str() {
                "error" => Contradiction::Error,
                "vote" => Contradiction::Vote,
                _ => return Err(wrong(key, value, "error or vote")),
            }
        }
        "start" => {
            settings.start = match word.as_str() {
                "fresh" => Start::Fresh,
                "warm" => Start::Warm,
                _ => return Err(wrong(key, value, "fresh or warm")),
            }
        }
        "measure" => {
            settings.measure = match word.as_str() {
                "variables" => Measure::Variables,
                "all" => Measure::All,
                _ => return Err(wrong(key, value, "variables or all")),
            }
        }
        "active" => {
            settings.active_threshold = match word.as_str() {
                "off" => None,
                _ => Some(check_threshold(number(key, value, "off or a number >= 0")?)?),
            }
        }
        _ => return Err(unknown_key(key)),
    }
    Ok(())
}

/// The value of a property: text that sets it again, but for the schedule CUSTOM, which has no name.
pub(super) fn get(session: &Session, key: &str) -> Outcome<String> {
    let settings = &session.settings;
    Ok(match key {
        "tol" => format!("{:?}", settings.tolerance),
        "maxiter" => settings.max_passes.to_string(),
        "maxtime" => format!("{:?}", settings.max_time),
        "updates" => session.schedule().name().into(),
        "damping" => format!("{:?}", settings.damping),
        "inference" => match settings.inference {
            Inference::SumProduct => "SUMPROD".into(),
            Inference::MaxProduct => "MAXPROD".into(),
        },
        "logdomain" => u8::from(settings.log_domain).to_string(),
        "verbose" => settings.verbose.to_string(),
        "threads" => session.options().threads.unwrap_or(0).to_string(),
        "seed" => settings.seed.to_string(),
        "blocks" => settings.blocks.to_string(),
        "backend" => session.options().backend.name().into(),
        "device" => {
            session.options().device.map_or(DEFAULT_DEVICE.into(), |index: u32| index.to_string())
        }
        "contradiction" => match settings.contradiction {
            Contradiction::Error => "error".into(),
            Contradiction::Vote => "vote".into(),
        },
        "start" => match settings.start {
            Start::Fresh => "fresh".into(),
            Start::Warm => "warm".into(),
        },
        "measure" => match settings.measure {
            Measure::Variables => "variables".into(),
            Measure::All => "all".into(),
        },
        "active" => {
            settings.active_threshold.map_or("off".into(), |threshold| format!("{threshold:?}"))
        }
        _ => return Err(unknown_key(key)),
    })
}
