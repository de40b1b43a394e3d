//! # Reading a graph
//!
//! For those who did not build the graph themselves, make schedules of their own, or convert graphs. A factor is
//! its kind, its variables (which ascend), a head among them or none, and by its kind:
//!
//! | kind | parameters | indicators |
//! |---|---|---|
//! | TABLE | its values, the first variable fastest | none |
//! | PRIOR | p | none |
//! | AND | p, q | 1 for a variable of the body, FASTLBP_WILDCARD for a head that is not in it |
//! | OR | p, q | 0 for a variable of the body, FASTLBP_WILDCARD for a head that is not in it |
//! | SIGNED | the 4 values | 1 for a literal x = 1, 0 for x = 0, FASTLBP_WILDCARD for the head |
//! | NOISY | the 4 values, then 4 probabilities per variable; the head's literal always holds | none |
//! | TERMS | the weight of each term | for each term a state or FASTLBP_WILDCARD per variable |
//!
//! With FASTLBP_WILDCARD for any state, an indicator is the state that a condition wants of a variable. A SIGNED
//! factor whose head is in its body, or whose body has both signs of a variable, is read as the factor that this
//! comes to without such literals.

use super::arguments::Buffer;
use super::graph::fastlbp_graph;
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use super::structured::FASTLBP_WILDCARD;
use crate::error::Error;
use crate::memory::{collected, filled};
use crate::model::{Factor, FactorGraph, Label, Prior, check_factor, next_joint_state};

/// Count: the variables.
pub const FASTLBP_COUNT_VARIABLES: u32 = 0;
/// Count: the factors.
pub const FASTLBP_COUNT_FACTORS: u32 = 1;
/// Count: the edges, that is the pairs of a factor and one of its variables.
pub const FASTLBP_COUNT_EDGES: u32 = 2;
/// Count: the states of all variables together, the length of an array of all marginals.
pub const FASTLBP_COUNT_STATES: u32 = 3;
/// Count: the bytes of memory that the graph's arrays take; a session has its own beside it.
pub const FASTLBP_COUNT_BYTES: u32 = 4;

/// In arrays of variable indices: no variable.
pub const FASTLBP_NO_VARIABLE: u32 = u32::MAX;

/// Most values of a factor that are written out.
const FACTOR_VALUE_LIMIT: usize = 1 << 26;

/// How many of something the graph has.
///
/// @param what FASTLBP_COUNT_VARIABLES, FASTLBP_COUNT_FACTORS, FASTLBP_COUNT_EDGES, FASTLBP_COUNT_STATES or
///        FASTLBP_COUNT_BYTES.
/// @return INVALID_ARGUMENT for another number; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_count(
    graph: *const fastlbp_graph, what: u32, out: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| put!(out, count(graph, what)?))
}

fn count(graph: &FactorGraph, what: u32) -> Outcome<usize> {
    Ok(match what {
        FASTLBP_COUNT_VARIABLES => graph.variable_count(),
        FASTLBP_COUNT_FACTORS => graph.factor_count(),
        FASTLBP_COUNT_EDGES => graph.edge_count(),
        FASTLBP_COUNT_STATES => graph.state_count(),
        FASTLBP_COUNT_BYTES => graph.memory_bytes(),
        _ => {
            return Err(Failure::invalid(format!(
                "count {what}: FASTLBP_COUNT_VARIABLES (0), FASTLBP_COUNT_FACTORS (1), \
                 FASTLBP_COUNT_EDGES (2), FASTLBP_COUNT_STATES (3) or FASTLBP_COUNT_BYTES (4) is needed"
            )));
        }
    })
}

functions! {
    /// Labels of all variables, ascending.
    ///
    /// @return As fastlbp_graph_build.
    fn fastlbp_graph_labels(graph: *const fastlbp_graph, buffer: *mut u64, length: usize, needed: *mut usize) =>
        of_graph!(graph, |graph| fill!(buffer, length, needed, graph.labels()));

    /// Numbers of states of all variables, by index.
    ///
    /// @return As fastlbp_graph_build.
    fn fastlbp_graph_cardinalities(graph: *const fastlbp_graph, buffer: *mut u32, length: usize, needed: *mut usize) =>
        of_graph!(graph, |graph| fill!(buffer, length, needed, graph.cardinalities()));
}

/// Indices of the variables with some labels. O(log variables) for each, O(1) where labels have no gaps.
///
/// @param labels `count` labels.
/// @param count Number of labels.
/// @param out Where `count` indices are written.
/// @return OUT_OF_RANGE if one label names no variable; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_variables_of_labels(
    graph: *const fastlbp_graph, labels: *const u64, count: usize, out: *mut u32,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        each!("indices", labels, count, out, |label| Ok(variable_of_label(graph, label)? as u32))
    })
}

fn variable_of_label(graph: &FactorGraph, label: Label) -> Outcome<usize> {
    let unknown = || Error::OutOfRange(format!("label {label}: the graph has no such variable"));
    Ok(graph.variable_of_label(label).ok_or_else(unknown)?)
}

/// Kinds of all factors: FASTLBP_FACTOR_TABLE and so on.
///
/// @return As fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_kinds(
    graph: *const fastlbp_graph, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        fill!(buffer, length, needed, graph.factor_count(), |factor| graph.kind(factor) as u32)
    })
}

/// Heads of all factors, as variable indices: FASTLBP_NO_VARIABLE for a table and for terms, which have none.
///
/// @return As fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_heads(
    graph: *const fastlbp_graph, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| fill!(buffer, length, needed, graph.factor_count(), |factor| {
        let position = graph.head_position(factor);
        position.map_or(FASTLBP_NO_VARIABLE, |i| graph.factor_variables(factor)[i])
    }))
}

/// Where the edges of each factor start, and behind them the number of edges: those of factor f are the numbers from
/// `buffer[f]` up to, but not including, `buffer[f + 1]`. With fastlbp_graph_edge_variables, the scopes of all factors.
///
/// @return As fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_offsets(
    graph: *const fastlbp_graph, buffer: *mut usize, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        let (count, end) = (graph.factor_count(), graph.edge_count());
        let start = |f| if f < count { graph.factor_edges(f).start } else { end };
        fill!(buffer, length, needed, count + 1, |factor| start(factor))
    })
}

/// The variable of each edge, as an index.
///
/// @return As fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge_variables(
    graph: *const fastlbp_graph, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| fill!(buffer, length, needed, graph.edge_variables()))
}

/// The variables of a factor, as ascending indices.
///
/// @param factor Index of the factor.
/// @return OUT_OF_RANGE; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_variables(
    graph: *const fastlbp_graph, factor: usize, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| fill!(buffer, length, needed, {
        check_factor(graph, factor)?;
        graph.factor_variables(factor)
    }))
}

/// The parameters of a factor, see the table above. O(their number).
///
/// @param factor Index of the factor.
/// @return OUT_OF_RANGE; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_parameters(
    graph: *const fastlbp_graph, factor: usize, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        write_parameters(view(graph, factor)?, Buffer::new(buffer, length, needed)?)
    })
}

fn view(graph: &FactorGraph, factor: usize) -> Outcome<Factor<'_>> {
    check_factor(graph, factor)?;
    Ok(graph.factor(factor))
}

fn write_parameters(factor: Factor<'_>, buffer: Buffer<f64>) -> Outcome {
    match factor {
        Factor::Table(values) => buffer.fill(values),
        Factor::Prior(Prior { p }) => buffer.fill(&[p]),
        Factor::And(horn) | Factor::Or(horn) => buffer.fill(&[horn.p, horn.q]),
        Factor::Signed(signed) => buffer.fill(&signed.values),
        Factor::Noisy(noisy) => {
            let literals = noisy.literals.as_flattened().as_flattened();
            let all: Vec<f64> = collected(noisy.values.iter().chain(literals).copied())?;
            buffer.fill(&all)
        }
        Factor::Terms(terms) => buffer.fill(terms.weights),
    }
}

/// The indicators of a factor, see the table above: those of its variables in their order, for TERMS term by term.
/// O(their number).
///
/// @param factor Index of the factor.
/// @return OUT_OF_RANGE; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_indicators(
    graph: *const fastlbp_graph, factor: usize, buffer: *mut i32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        let (factor, arity) = (view(graph, factor)?, graph.arity(factor));
        write_indicators(factor, arity, Buffer::new(buffer, length, needed)?)
    })
}

fn write_indicators(factor: Factor<'_>, arity: usize, buffer: Buffer<i32>) -> Outcome {
    let head_or = |is_head: bool, state: i32| if is_head { FASTLBP_WILDCARD } else { state };
    match factor {
        Factor::Table(_) | Factor::Prior { .. } | Factor::Noisy(_) => buffer.fill(&[]),
        Factor::And(horn) | Factor::Or(horn) => {
            let state = i32::from(matches!(factor, Factor::And(_)));
            buffer.fill_with(arity, |i| head_or(i == horn.head && !horn.head_in_body, state))
        }
        Factor::Signed(signed) => {
            buffer.fill_with(arity, |i| head_or(i == signed.head, i32::from(!signed.is_negated(i))))
        }
        Factor::Terms(terms) => {
            let size = terms.weights.len().saturating_mul(arity);
            let buffer = buffer.check(size)?;
            let mut indicators = memory::filled("indicators", size, FASTLBP_WILDCARD)?;
            for index in 0..terms.weights.len() {
                for literal in terms.term(index) {
                    indicators[index * arity + literal.position as usize] = literal.state as i32;
                }
            }
            buffer.fill(&indicators)
        }
    }
}

/// The values of a factor of any kind as a table: one per joint state of its variables, the first one (lowest index)
/// fastest. O(values * arity).
///
/// @param factor Index of the factor.
/// @return OUT_OF_RANGE; LIMIT_EXCEEDED for more than 2^26 values; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_values(
    graph: *const fastlbp_graph, factor: usize, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        let buffer = Buffer::new(buffer, length, needed)?;
        match view(graph, factor)? {
            Factor::Table(values) => buffer.fill(values),
            other => write_values(graph, factor, other, buffer),
        }
    })
}

/// Computes the values of a factor that does not store them.
fn write_values(
    graph: &FactorGraph, factor: usize, view: Factor<'_>, buffer: Buffer<f64>,
) -> Outcome {
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
