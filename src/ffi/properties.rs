//! Settings by name: libDAI's names and values, and a few more. Each is a typed setter and its way back to text.

use super::arguments::Buffer;
use super::bp::fastlbp_bp;
use super::choices::*;
use super::schedule::{set_blocks, set_log_domain, set_schedule, set_seed};
use super::session::Session;
use super::settings::*;
use super::status::{Failure, Outcome, fastlbp_status};
use std::ffi::c_char;

/// The known keys, for the error text.
const KEYS: &str = "tol, maxiter, maxtime, updates, damping, inference, logdomain, verbose, \
                    threads, seed, blocks, backend, device, contradiction, start, measure, active, progress";

/// Stands for the device of the environment variable.
const DEFAULT_DEVICE: &str = "default";

/// Stands for no active set.
const OFF: &str = "off";

/// What a progress callback is told of changes.
const EXACT: &str = "exact";
const ROUGH: &str = "rough";

/// Sets a property by its name, as libDAI's users know them.
///
/// | key | value | |
/// |---|---|---|
/// | `tol` | number >= 0 | fastlbp_bp_set_tolerance |
/// | `maxiter` | whole number | fastlbp_bp_set_max_iterations |
/// | `maxtime` | seconds or `inf` | fastlbp_bp_set_max_time |
/// | `updates` | `SEQFIX`, `SEQRND`, `SEQMAX`, `PARALL`, `BLOCKS`, `TOPO`, `FWDBWD` or `TREE` | fastlbp_bp_set_schedule, with the seed of `seed` |
/// | `damping` | number in [0, 1) | fastlbp_bp_set_damping |
/// | `inference` | `SUMPROD` or `MAXPROD` | fastlbp_bp_set_inference |
/// | `logdomain` | `0` or `1` | in which domain SEQMAX compares messages; neither loses small numbers |
/// | `verbose` | whole number | from 1 on, each run writes to the log |
/// | `threads` | whole number | fastlbp_bp_set_threads |
/// | `seed` | whole number | seed of SEQRND and BLOCKS |
/// | `blocks` | whole number > 0 | number of blocks of BLOCKS; 8 if never set |
/// | `backend` | `auto`, `cpu` or `cuda` | fastlbp_bp_set_backend |
/// | `device` | `default`, or whole numbers with commas | fastlbp_bp_set_device; several: for many runs |
/// | `contradiction` | `error` or `vote` | fastlbp_bp_set_contradiction |
/// | `start` | `fresh` or `warm` | fastlbp_bp_set_start |
/// | `measure` | `variables` or `all` | fastlbp_bp_set_measure; libDAI's rule is `all` |
/// | `active` | `off` or number >= 0 | fastlbp_bp_set_active_threshold |
/// | `progress` | `exact` or `rough` | `rough`: a progress callback may be told, as the largest change, any that exceeds the tolerance, and a smaller fraction that still moves; runs are faster, with the same results, but for those by BINGO's rule that the callback ends early |
///
/// @param key The key, a string.
/// @param value The value, a string.
/// @return INVALID_ARGUMENT for an unknown key (the text lists the known ones) or a wrong value; INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_property(
    bp: *mut fastlbp_bp, key: *const c_char, value: *const c_char,
) -> fastlbp_status {
    change!(bp, |session| set(session, text!(key), text!(value)))
}

/// The value of a property, as a string that sets it again; see fastlbp_bp_set_property. `updates` is the name of the
/// schedule in use, `CUSTOM` for one set by ranks or a relation, which no string sets.
///
/// @param key The key, a string.
/// @param buffer Where the characters are written, with the final NUL; 256 are enough for all of them.
/// @return INVALID_ARGUMENT for an unknown key; INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_get_property(
    bp: *const fastlbp_bp, key: *const c_char, buffer: *mut c_char, length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let key = text!(key);
        Buffer::new(buffer, length, needed)?.fill_text(&get(session, key)?)
    })
}

fn unknown_key(key: &str) -> Failure {
    Failure::invalid(format!("unknown property '{key}': known are {KEYS}"))
}

fn wrong(key: &str, value: &str, needed: &str) -> Failure {
    Failure::invalid(format!("property {key} = '{value}': {needed} is needed"))
}

fn set(session: &mut Session, key: &str, value: &str) -> Outcome {
    fn number<T: std::str::FromStr>(key: &str, value: &str, needed: &str) -> Outcome<T> {
        value.parse().map_err(|_| wrong(key, value, needed))
    }
    fn choice<T: Copy + PartialEq>(key: &str, value: &str, choices: &Choices<T>) -> Outcome<T> {
        choices.named(value).map_err(|known| wrong(key, value, &known))
    }
    let value = value.trim();
    let is = |word: &str| value.eq_ignore_ascii_case(word);
    match key {
        "tol" => set_tolerance(session, number(key, value, "a number >= 0")?)?,
        "maxiter" => set_max_iterations(session, number(key, value, "a whole number >= 0")?)?,
        "maxtime" => set_max_time(session, number(key, value, "a number of seconds >= 0")?)?,
        "updates" => set_schedule(session, value, session.extras.seed)?,
        "damping" => set_damping(session, number(key, value, "a number in [0, 1)")?)?,
        "inference" => session.bp.settings_mut().inference = choice(key, value, &INFERENCES)?,
        "logdomain" => match value {
            _ if is("0") || is("false") => set_log_domain(session, false)?,
            _ if is("1") || is("true") => set_log_domain(session, true)?,
            _ => return Err(wrong(key, value, "0 or 1")),
        },
        "verbose" => session.extras.verbose = number(key, value, "a whole number >= 0")?,
        "threads" => {
            let needed = "a whole number, or 0 for one thread per physical core,";
            set_threads(session, number(key, value, needed)?)?;
        }
        "seed" => set_seed(session, number(key, value, "a whole number from 0 to 2^64 - 1")?)?,
        "blocks" => set_blocks(session, number(key, value, "a whole number from 1 to 2^32 - 1")?)?,
        "backend" => set_backend(session, choice(key, value, &BACKENDS)?)?,
        "device" if is(DEFAULT_DEVICE) => set_device(session, None)?,
        "device" => {
            let needed = "default, the number of a CUDA device, or several such as 0,1";
            let numbers = value.split(',').map(|part| {
                number(key, part.trim(), needed).map_err(|_| wrong(key, value, needed))
            });
            set_devices(session, &numbers.collect::<Outcome<Vec<u32>>>()?)?;
        }
        "contradiction" => {
            session.bp.settings_mut().contradiction = choice(key, value, &CONTRADICTIONS)?
        }
        "start" => session.bp.settings_mut().start = choice(key, value, &STARTS)?,
        "measure" => session.bp.settings_mut().measure = choice(key, value, &MEASURES)?,
        "active" if is(OFF) => set_active_threshold(session, None)?,
        "active" => {
            set_active_threshold(session, Some(number(key, value, "off or a number >= 0")?))?;
        }
        "progress" if is(EXACT) => session.extras.rough_progress = false,
        "progress" if is(ROUGH) => session.extras.rough_progress = true,
        "progress" => return Err(wrong(key, value, "exact or rough")),
        _ => return Err(unknown_key(key)),
    }
    Ok(())
}

fn get(session: &Session, key: &str) -> Outcome<String> {
    let (settings, extras) = (session.bp.settings(), &session.extras);
    let options = session.bp.options();
    Ok(match key {
        "tol" => format!("{:?}", settings.tolerance),
        "maxiter" => settings.max_iterations.to_string(),
        "maxtime" => {
            format!("{:?}", settings.max_time.map_or(f64::INFINITY, |limit| limit.as_secs_f64()))
        }
        "updates" => session.bp.schedule().name().into(),
        "damping" => format!("{:?}", settings.damping),
        "inference" => INFERENCES.word(settings.inference).into(),
        "logdomain" => u8::from(extras.log_domain).to_string(),
        "verbose" => extras.verbose.to_string(),
        "threads" => options.threads.unwrap_or(0).to_string(),
        "seed" => extras.seed.to_string(),
        "blocks" => extras.blocks.to_string(),
        "backend" => BACKENDS.word(options.backend).into(),
        "device" if !options.devices.is_empty() => {
            let numbers: Vec<String> =
                options.devices.iter().map(|number| number.to_string()).collect();
            numbers.join(",")
        }
        "device" => options.device.map_or(DEFAULT_DEVICE.into(), |index: u32| index.to_string()),
        "contradiction" => CONTRADICTIONS.word(settings.contradiction).into(),
        "start" => STARTS.word(settings.start).into(),
        "measure" => MEASURES.word(settings.measure).into(),
        "active" => settings.active_threshold.map_or(OFF.into(), |value| format!("{value:?}")),
        "progress" if extras.rough_progress => ROUGH.into(),
        "progress" => EXACT.into(),
        _ => return Err(unknown_key(key)),
    })
}
