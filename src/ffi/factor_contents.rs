//! What factors hold: values of any kind, and the signs, literals and terms of local structure.

use super::arguments::Buffer;
use super::graph::{fastlbp_graph, read};
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use super::structured::FASTLBP_WILDCARD;
use crate::error::Error;
use crate::memory::{collected, filled};
use crate::model::{Factor, FactorGraph, Terms, check_factor, next_joint_state};

/// Most values of a factor that are written out.
const FACTOR_VALUE_LIMIT: usize = 1 << 26;

/// The values of a factor of any kind as a table: one per joint state of its variables, which ascend;
/// the first one (lowest index) varies fastest. O(values * arity).
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param buffer Where the values are written.
/// @param length Length of the buffer.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL;
///         FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26 values; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_values(
    graph: *const fastlbp_graph,
    factor: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            check_factor(graph, factor)?;
            write_factor_values(graph, factor, buffer)
        })
    }
}

fn write_factor_values(graph: &FactorGraph, factor: usize, buffer: Buffer<f64>) -> Outcome {
    let view = graph.factor(factor);
    if let Some(values) = view.as_table() {
        return buffer.fill(values);
    }
    let size = graph.joint_states(factor).filter(|&size| size <= FACTOR_VALUE_LIMIT);
    let size = size.ok_or_else(|| {
        Error::LimitExceeded(format!(
            "values of factor {factor}: over {} variables it has more than {FACTOR_VALUE_LIMIT}",
            graph.arity(factor)
        ))
    })?;
    let cardinalities: Vec<usize> = collected(graph.factor_cardinalities(factor))?;
    let mut states = filled(cardinalities.len(), 0)?;
    buffer.fill_with(size, |_| {
        // Terms with weights of both signs may round to less than zero.
        let value = view.value(&states, cardinalities.iter().copied()).max(0.0);
        next_joint_state(&mut states, &cardinalities);
        value
    })
}

/// The values of all SIGNED and NOISY factors: entries 4 * f to 4 * f + 3 are f(head = 1 | all hold),
/// f(head = 0 | all hold), f(head = 1 | one fails), f(head = 0 | one fails) of factor f, and 0 for the
/// other kinds. Those of a SIGNED factor whose head is in its body, or whose body has both signs of a
/// variable, are the values that this comes to without such literals.
///
/// @param graph The graph.
/// @param buffer Where the values are written.
/// @param length Length of the buffer; 4 * fastlbp_graph_factor_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
///
/// O(factors).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_conditionals(
    graph: *const fastlbp_graph,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill_with(4 * graph.factor_count(), |index| match graph.factor(index / 4) {
                Factor::Signed(signed) => signed.values[index % 4],
                Factor::Noisy(noisy) => noisy.values[index % 4],
                _ => 0.0,
            })
        })
    }
}

/// The signs of the literals of all SIGNED factors, by edge: 1 where the edge's variable occurs as the
/// literal x = 0, and 0 for a literal x = 1, for a head, and for the other kinds.
///
/// @param graph The graph.
/// @param buffer Where the signs are written.
/// @param length Length of the buffer; fastlbp_graph_edge_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
///
/// O(edges).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge_signs(
    graph: *const fastlbp_graph,
    buffer: *mut u8,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill_with(graph.edge_count(), |edge| {
                let factor = graph.edge_factors()[edge] as usize;
                let position = edge - graph.factor_edges(factor).start;
                match graph.factor(factor) {
                    Factor::Signed(signed) => u8::from(signed.is_negated(position)),
                    _ => 0,
                }
            })
        })
    }
}

fn wrong_kind(graph: &FactorGraph, factor: usize, needed: &str) -> Failure {
    Failure::invalid(format!(
        "factor {factor} is of kind {} ({}): one of kind {needed} is needed",
        graph.kind(factor) as u32,
        graph.kind(factor).name()
    ))
}

/// The literals of a NOISY factor: entries 4 * i to 4 * i + 3 are the probabilities that the literal
/// of its i-th variable (see fastlbp_graph_factor_variables) holds and fails if the variable is 0, and
/// holds and fails if it is 1. That of the head always holds.
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; 4 times the factor's arity is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
///         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
///
/// O(arity).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_literals(
    graph: *const fastlbp_graph,
    factor: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            check_factor(graph, factor)?;
            match graph.factor(factor) {
                Factor::Noisy(noisy) => buffer.fill(noisy.literals.as_flattened().as_flattened()),
                _ => Err(wrong_kind(graph, factor, "FASTLBP_FACTOR_NOISY (5)")),
            }
        })
    }
}

fn terms_of(graph: &FactorGraph, factor: usize) -> Outcome<Terms<'_>> {
    check_factor(graph, factor)?;
    match graph.factor(factor) {
        Factor::Terms(terms) => Ok(terms),
        _ => Err(wrong_kind(graph, factor, "FASTLBP_FACTOR_TERMS (6)")),
    }
}

/// The weights of the terms of a TERMS factor, in the order in which they were given.
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param buffer Where the weights are written.
/// @param length Length of the buffer.
/// @param needed Where the length needed, the number of terms, is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
///         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
///
/// O(terms).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_weights(
    graph: *const fastlbp_graph,
    factor: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill(terms_of(graph, factor)?.weights)
        })
    }
}

/// The indicators of the terms of a TERMS factor: entry t * arity + i is the state that term t wants
/// of the factor's i-th variable (see fastlbp_graph_factor_variables: they ascend, whatever the order
/// in which the scope was given), or FASTLBP_WILDCARD.
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param buffer Where the indicators are written.
/// @param length Length of the buffer; the number of terms times the factor's arity is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT for a
///         factor of another kind; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
///
/// O(terms * arity).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_indicators(
    graph: *const fastlbp_graph,
    factor: usize,
    buffer: *mut i32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            let terms = terms_of(graph, factor)?;
            let arity = graph.arity(factor);
            let size = terms.weights.len().saturating_mul(arity);
            let buffer = buffer.check(size)?;
            let mut indicators = memory::filled("indicators", size, FASTLBP_WILDCARD)?;
            for index in 0..terms.weights.len() {
                for literal in terms.term(index) {
                    let at = index * arity + literal.position as usize;
                    indicators[at] = literal.state as i32;
                }
            }
            buffer.fill(&indicators)
        })
    }
}
