//! What a graph holds: counts, labels, factors and edges, as arrays.

use super::arguments::{Buffer, Output, array};
use super::memory;
use super::status::fastlbp_status;
use crate::error::Error;
use crate::model::{check_factor, check_variable};

use super::graph::*;

/// Number of variables.
///
/// @param graph The graph.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_variable_count(
    graph: *const fastlbp_graph,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            Output::new("out", out)?.set(graph.variable_count());
            Ok(())
        })
    }
}

/// Number of factors.
///
/// @param graph The graph.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_count(
    graph: *const fastlbp_graph,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            Output::new("out", out)?.set(graph.factor_count());
            Ok(())
        })
    }
}

/// Number of edges, that is of pairs of a factor and one of its variables.
///
/// @param graph The graph.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge_count(
    graph: *const fastlbp_graph,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            Output::new("out", out)?.set(graph.edge_count());
            Ok(())
        })
    }
}

/// Sum of all cardinalities: the length of the array of all marginals, twice the number of variables
/// if all are binary.
///
/// @param graph The graph.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_state_count(
    graph: *const fastlbp_graph,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            Output::new("out", out)?.set(graph.state_count());
            Ok(())
        })
    }
}

/// Label of a variable.
///
/// @param graph The graph.
/// @param variable Index of the variable.
/// @param out Where the label is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_label(
    graph: *const fastlbp_graph,
    variable: usize,
    out: *mut u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            let out = Output::new("out", out)?;
            check_variable(graph, variable)?;
            out.set(graph.label(variable));
            Ok(())
        })
    }
}

/// Labels of all variables, ascending.
///
/// @param graph The graph.
/// @param buffer Where the labels are written.
/// @param length Length of the buffer; fastlbp_graph_variable_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_labels(
    graph: *const fastlbp_graph,
    buffer: *mut u64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe { read(graph, |graph| Buffer::new(buffer, length, needed)?.fill(graph.labels())) }
}

/// Index of the variable with a label. O(log variables), O(1) for labels without gaps.
///
/// @param graph The graph.
/// @param label The label.
/// @param out Where the index is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no such variable; as in
///         fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_variable_of_label(
    graph: *const fastlbp_graph,
    label: u64,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            let out = Output::new("out", out)?;
            out.set(variable_of_label(graph, label)?);
            Ok(())
        })
    }
}

/// Indices of the variables with many labels.
///
/// @param graph The graph.
/// @param labels `count` labels.
/// @param count Number of labels.
/// @param out Where `count` indices are written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if one label names no variable; as in
///         fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_variables_of_labels(
    graph: *const fastlbp_graph,
    labels: *const u64,
    count: usize,
    out: *mut u32,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, an array and a buffer of `count` entries.
    unsafe {
        read(graph, |graph| {
            let labels = array("labels", labels, count)?;
            let out = Buffer::array("out", out, count)?;
            let variables = memory::converted("indices", labels, |_, label| {
                Ok(variable_of_label(graph, label)? as u32)
            })?;
            out.fill(&variables)
        })
    }
}

/// Number of states of a variable.
///
/// @param graph The graph.
/// @param variable Index of the variable.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_cardinality(
    graph: *const fastlbp_graph,
    variable: usize,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            let out = Output::new("out", out)?;
            check_variable(graph, variable)?;
            out.set(graph.cardinality(variable));
            Ok(())
        })
    }
}

/// Numbers of states of all variables, by index.
///
/// @param graph The graph.
/// @param buffer Where the numbers are written.
/// @param length Length of the buffer; fastlbp_graph_variable_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_cardinalities(
    graph: *const fastlbp_graph,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe { read(graph, |graph| Buffer::new(buffer, length, needed)?.fill(graph.cardinalities())) }
}

/// Kinds of all factors:
///
/// | kind | parameters are read by |
/// |---|---|
/// | FASTLBP_FACTOR_TABLE | fastlbp_graph_factor_values |
/// | FASTLBP_FACTOR_SINGLETON, FASTLBP_FACTOR_AND, FASTLBP_FACTOR_OR | fastlbp_graph_factor_heads, fastlbp_graph_factor_heads_in_bodies, fastlbp_graph_factor_parameters |
/// | FASTLBP_FACTOR_SIGNED | fastlbp_graph_factor_heads, fastlbp_graph_factor_conditionals, fastlbp_graph_edge_signs |
/// | FASTLBP_FACTOR_NOISY | fastlbp_graph_factor_heads, fastlbp_graph_factor_conditionals, fastlbp_graph_factor_literals |
/// | FASTLBP_FACTOR_TERMS | fastlbp_graph_factor_weights, fastlbp_graph_factor_indicators |
///
/// @param graph The graph.
/// @param buffer Where the kinds are written.
/// @param length Length of the buffer; fastlbp_graph_factor_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_kinds(
    graph: *const fastlbp_graph,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            Buffer::new(buffer, length, needed)?
                .fill_with(graph.factor_count(), |factor| graph.kind(factor) as u32)
        })
    }
}

/// Heads of all factors, as variable indices: FASTLBP_NO_VARIABLE for a table and for terms, which
/// have none.
///
/// @param graph The graph.
/// @param buffer Where the indices are written.
/// @param length Length of the buffer; fastlbp_graph_factor_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_heads(
    graph: *const fastlbp_graph,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            Buffer::new(buffer, length, needed)?.fill_with(graph.factor_count(), |factor| {
                graph.head_position(factor).map_or(FASTLBP_NO_VARIABLE, |position| {
                    graph.factor_variables(factor)[position]
                })
            })
        })
    }
}

/// Whether each factor's head is in its own body as well: 1 or 0. Only AND and OR factors keep it
/// apart: a SIGNED factor's values already say what it makes of its head.
///
/// @param graph The graph.
/// @param buffer Where the answers are written.
/// @param length Length of the buffer; fastlbp_graph_factor_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_heads_in_bodies(
    graph: *const fastlbp_graph,
    buffer: *mut u8,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            Buffer::new(buffer, length, needed)?.fill_with(graph.factor_count(), |factor| {
                let parameter = graph.horn_parameter(factor);
                u8::from(parameter.is_some_and(|i| graph.horn_parameters()[i].head_in_body))
            })
        })
    }
}

/// The probabilities p and q of all factors: 0 where there is none (q for a singleton, both for all
/// kinds but singleton, AND and OR).
///
/// @param graph The graph.
/// @param p Where the probabilities p are written.
/// @param q Where the probabilities q are written.
/// @param length Length of each of the two buffers; fastlbp_graph_factor_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_parameters(
    graph: *const fastlbp_graph,
    p: *mut f64,
    q: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and two buffers of `length` entries.
    unsafe {
        read(graph, |graph| {
            let p = Buffer::named("p", p, length, needed)?;
            let q = Buffer::array("q", q, length)?;
            let count = graph.factor_count();
            let parameter =
                |factor| graph.horn_parameter(factor).map(|i| graph.horn_parameters()[i]);
            p.fill_with(count, |factor| parameter(factor).map_or(0.0, |horn| horn.p))?;
            q.fill_with(count, |factor| parameter(factor).map_or(0.0, |horn| horn.q))
        })
    }
}

/// Where the edges of each factor start: those of factor f are the numbers from `buffer[f]` up to,
/// but not including, `buffer[f + 1]`. With fastlbp_graph_edge_variables, the scopes of all factors.
///
/// @param graph The graph.
/// @param buffer Where the offsets are written.
/// @param length Length of the buffer; fastlbp_graph_factor_count + 1 is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_offsets(
    graph: *const fastlbp_graph,
    buffer: *mut usize,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let count = graph.factor_count();
            Buffer::new(buffer, length, needed)?.fill_with(count + 1, |factor| {
                if factor < count { graph.factor_edges(factor).start } else { graph.edge_count() }
            })
        })
    }
}

/// The variable of each edge, as an index.
///
/// @param graph The graph.
/// @param buffer Where the indices are written.
/// @param length Length of the buffer; fastlbp_graph_edge_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge_variables(
    graph: *const fastlbp_graph,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| Buffer::new(buffer, length, needed)?.fill(graph.edge_variables()))
    }
}

/// The factor of each edge.
///
/// @param graph The graph.
/// @param buffer Where the indices are written.
/// @param length Length of the buffer; fastlbp_graph_edge_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge_factors(
    graph: *const fastlbp_graph,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe { read(graph, |graph| Buffer::new(buffer, length, needed)?.fill(graph.edge_factors())) }
}

/// The edge that joins a factor and a variable. O(log arity).
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param variable Index of the variable.
/// @param out Where the number of the edge is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no such factor or variable, or
///         no edge between the two; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_edge(
    graph: *const fastlbp_graph,
    factor: usize,
    variable: usize,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        read(graph, |graph| {
            let out = Output::new("out", out)?;
            check_factor(graph, factor)?;
            check_variable(graph, variable)?;
            let edge = graph.edge(factor, variable).ok_or_else(|| {
                Error::OutOfRange(format!(
                    "factor {factor} and variable {variable}: no edge joins the two"
                ))
            })?;
            out.set(edge);
            Ok(())
        })
    }
}

/// The variables of a factor, as ascending indices.
///
/// @param graph The graph.
/// @param factor Index of the factor.
/// @param buffer Where the indices are written.
/// @param length Length of the buffer.
/// @param needed Where the length needed, the factor's arity, is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in
///         fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_factor_variables(
    graph: *const fastlbp_graph,
    factor: usize,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        read(graph, |graph| {
            let buffer = Buffer::new(buffer, length, needed)?;
            check_factor(graph, factor)?;
            buffer.fill(graph.factor_variables(factor))
        })
    }
}
