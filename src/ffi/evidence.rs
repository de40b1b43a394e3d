//! Evidence of a session.

use super::arguments::{OptionalOutput, Output, array, path};
use super::bp::*;
use super::guard::{self};
use super::log::{self, FASTLBP_LOG_WARNING};
use super::session::Session;
use super::status::fastlbp_status;
use crate::format::{self, PartialEvidence};
use crate::model::Evidence;
use std::ffi::c_char;

/// Observes a variable in a state; replaces what was known about it. Results of earlier runs stay.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @param state The state, counted from 0.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
///
/// O(log observed variables).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe(
    bp: *mut fastlbp_bp,
    variable: usize,
    state: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.observe(variable, state)) }
}

/// As fastlbp_bp_observe, for the variable with a label.
///
/// @param bp The session; changed.
/// @param label Label of the variable.
/// @param state The state, counted from 0.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_label(
    bp: *mut fastlbp_bp,
    label: u64,
    state: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.observe(session.variable_of_label(label)?, state)
        })
    }
}

/// Observes many variables, or none if one of them cannot be; see fastlbp_bp_observe. Of several
/// states for one variable the last one counts.
///
/// @param bp The session; changed.
/// @param variables `count` indices of variables.
/// @param states `count` states.
/// @param count Number of observations.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_variables(
    bp: *mut fastlbp_bp,
    variables: *const u32,
    states: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays of `count` entries.
        let (variables, states) =
            unsafe { (array("variables", variables, count)?, array("states", states, count)?) };
        let pairs = variables.iter().zip(states);
        session
            .observe_many(pairs.map(|(&variable, &state)| Ok((variable as usize, state as usize))))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// As fastlbp_bp_observe_variables, for variables with labels.
///
/// @param bp The session; changed.
/// @param labels `count` labels.
/// @param states `count` states.
/// @param count Number of observations.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_labels(
    bp: *mut fastlbp_bp,
    labels: *const u64,
    states: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays of `count` entries.
        let (labels, states) =
            unsafe { (array("labels", labels, count)?, array("states", states, count)?) };
        let graph = session.graph().clone();
        let pairs = labels.iter().zip(states);
        session.observe_many(pairs.map(|(&label, &state)| {
            Ok((super::graph::variable_of_label(&graph, label)?, state as usize))
        }))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its
/// outgoing messages; replaces what was known about the variable.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @param likelihood `length` values: finite, not negative, not all zero. Only their ratios matter.
/// @param length Must be the variable's number of states.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_likelihood(
    bp: *mut fastlbp_bp,
    variable: usize,
    likelihood: *const f64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.set_likelihood(variable, array("likelihood", likelihood, length)?)
        })
    }
}

/// Forgets what is known about a variable; harmless if nothing is.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_evidence(
    bp: *mut fastlbp_bp,
    variable: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.clear_evidence(variable)) }
}

/// Forgets all evidence.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_all_evidence(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.set_evidence(Evidence::new())) }
}

/// Replaces all evidence by that of a file: one named `.evid` is in the format of the UAI
/// competitions, any other one (`.obs`) has a line `label value` per observation, the value being a
/// state, `true` or `false`. A further `.gz` tells that it is compressed.
///
/// @param bp The session; changed.
/// @param path Name of the file.
/// @param unknown Where the number of observations is written whose variable the graph does not have:
///        they are left out, with a message to the log. NULL to make them an error.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_PARSE, with file and line in the
///         text; FASTLBP_STATUS_INVALID_ARGUMENT for an empty name; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_read_evidence(
    bp: *mut fastlbp_bp,
    path: *const c_char,
    unknown: *mut usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, NULL or a string, and NULL or writable.
        let (path, out) = unsafe { (self::path(path)?, OptionalOutput::new("unknown", unknown)?) };
        let graph = session.graph();
        let PartialEvidence { observed, unknown: left_out } = if unknown.is_null() {
            let observed = format::read_evidence(path, graph)?;
            PartialEvidence { observed, unknown: Vec::new() }
        } else {
            format::read_partial_evidence(path, graph)?
        };
        let mut evidence = Evidence::new();
        for (variable, state) in observed {
            evidence.observe(graph, variable, state)?;
        }
        session.set_evidence(evidence)?;
        if let Some((label, line)) = left_out.first() {
            log::send(FASTLBP_LOG_WARNING, || {
                format!(
                    "{}:{line}: variable {label}: the graph has no such label; \
                     {} observations are left out",
                    path.display(),
                    left_out.len()
                )
            });
        }
        out.set(left_out.len());
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Number of variables about which something is known.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_evidence_count(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            Output::new("out", out)?.set(session.evidence().len());
            Ok(())
        })
    }
}
