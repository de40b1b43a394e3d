//! # Evidence
//!
//! For everyone who asks a question: what is known about variables. It can change between runs at no cost but its
//! own; results of earlier runs stay until the next run.

use super::arguments::{OptionalOutput, path};
use super::bp::fastlbp_bp;
use super::log::{self, FASTLBP_LOG_WARNING};
use super::session::Session;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::format::{self, PartialEvidence};
use crate::model::Evidence;
use std::ffi::c_char;
use std::path::Path;

/// Observes variables, or none if one of them cannot be; replaces what was known about them. Of several states for one
/// variable the last one counts. O(log observed variables) for each.
///
/// @param variables `count` indices of variables; fastlbp_graph_variables_of_labels gives those of labels.
/// @param states `count` states, counted from 0.
/// @param count Number of observations.
/// @return OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe(
    bp: *mut fastlbp_bp, variables: *const u32, states: *const u32, count: usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let pairs = pairs!(variables, states, count);
        let mut pairs = pairs.map(|(variable, state)| (variable as usize, state as usize));
        match pairs.len() {
            // At once: nothing to undo.
            1 => pairs
                .try_for_each(|(variable, state)| session.bp.observe(variable, state))
                .map_err(Failure::from),
            _ => session.observe_many(pairs),
        }
    })
}

/// Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its outgoing messages;
/// replaces what was known about it.
///
/// @param variable Index of the variable.
/// @param likelihood `length` values: finite, not negative, not all zero. Only their ratios matter.
/// @param length Must be the variable's number of states.
/// @return OUT_OF_RANGE; INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_likelihood(
    bp: *mut fastlbp_bp, variable: usize, likelihood: *const f64, length: usize,
) -> fastlbp_status {
    change!(bp, |session| session.bp.set_likelihood(variable, array!(likelihood, length)))
}

/// Forgets what is known about a variable; harmless if nothing is.
///
/// @param variable Index of the variable.
/// @return OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_evidence(
    bp: *mut fastlbp_bp, variable: usize,
) -> fastlbp_status {
    change!(bp, |session| session.bp.clear_evidence(variable))
}

/// Forgets all evidence.
///
/// @return OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_all_evidence(bp: *mut fastlbp_bp) -> fastlbp_status {
    change!(bp, |session| session.bp.clear_all_evidence())
}

/// Replaces all evidence by that of a file: one named `.evid` is in the format of the UAI competitions, any other one
/// (`.obs`) has a line `label value` per observation, the value being a state, `true` or `false`. A further `.gz` tells
/// that it is compressed.
///
/// @param path Name of the file.
/// @param unknown Where the number of observations is written whose variable the graph does not have: they are left
///        out, with a message to the log. NULL to make them an error.
/// @return IO; PARSE, with file and line in the text; INVALID_ARGUMENT for an empty name; INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_read_evidence(
    bp: *mut fastlbp_bp, path: *const c_char, unknown: *mut usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let path = self::path("path", path)?;
        let out = OptionalOutput::new("unknown", unknown)?;
        read_evidence(session, path, !unknown.is_null()).map(|left_out| out.set(left_out))
    })
}

/// Number of observations that were left out, where that is allowed.
fn read_evidence(session: &mut Session, path: &Path, partial: bool) -> Outcome<usize> {
    let graph = session.graph();
    let PartialEvidence { observed, unknown } = if partial {
        format::read_partial_evidence(path, graph)?
    } else {
        PartialEvidence { observed: format::read_evidence(path, graph)?, unknown: Vec::new() }
    };
    let mut evidence = Evidence::new();
    for (variable, state) in observed {
        evidence.observe(graph, variable, state)?;
    }
    session.bp.set_evidence(&evidence)?;
    if let Some((label, line)) = unknown.first() {
        log::send(FASTLBP_LOG_WARNING, || {
            format!(
                "{}:{line}: variable {label}: the graph has no such label; \
                 {} observations are left out",
                path.display(),
                unknown.len()
            )
        });
    }
    Ok(unknown.len())
}
