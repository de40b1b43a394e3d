//! # Adding variables and factors
//!
//! For everyone who builds a graph: variables, priors, conjunctions, disjunctions and tables. Functions with a
//! plural name take arrays and add everything or, if one entry is wrong, nothing; they give the graph of the
//! single calls, and are what to call from another language. Lists of lists are two arrays: list i is what lies from
//! `offsets[i]` up to, but not including, `offsets[i + 1]`.

use super::graph::fastlbp_graph;
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::model::{FactorKind, HornArrays};

/// Kind of a factor: a dense table.
pub const FASTLBP_FACTOR_TABLE: u32 = 0;
/// Kind of a factor: the prior of a binary variable, f(1) = p and f(0) = 1 - p.
pub const FASTLBP_FACTOR_PRIOR: u32 = 1;
/// Kind of a factor: a noisy conjunction. P(head = 1) = p if the whole body is true, q otherwise.
pub const FASTLBP_FACTOR_AND: u32 = 2;
/// Kind of a factor: a noisy disjunction. P(head = 0) = p if the whole body is false, q otherwise.
pub const FASTLBP_FACTOR_OR: u32 = 3;
/// Kind of a factor: values by the head and by whether all of some signed literals hold.
pub const FASTLBP_FACTOR_SIGNED: u32 = 4;
/// Kind of a factor: as FASTLBP_FACTOR_SIGNED, with literals that hold with a probability.
pub const FASTLBP_FACTOR_NOISY: u32 = 5;
/// Kind of a factor: a sum of weighted terms over variables of any cardinalities.
pub const FASTLBP_FACTOR_TERMS: u32 = 6;

fn factor_kind(index: usize, kind: u32) -> Outcome<FactorKind> {
    FactorKind::ALL.into_iter().find(|&known| known as u32 == kind).ok_or_else(|| {
        Failure::invalid(format!(
            "kinds[{index}] is {kind}: FASTLBP_FACTOR_PRIOR (1), FASTLBP_FACTOR_AND (2) or \
             FASTLBP_FACTOR_OR (3) is needed"
        ))
    })
}

/// Declares variables. Only needed for such with other than two states and for such as occur in no factor: a label
/// that is not declared is a binary variable. Declaring one again with the same cardinality is harmless.
///
/// @param labels `count` labels.
/// @param cardinalities `count` numbers of states, each at least 1; a single state is for tables and terms only.
/// @param count Number of variables.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_variables(
    graph: *mut fastlbp_graph, labels: *const u64, cardinalities: *const u32, count: usize,
) -> fastlbp_status {
    change!(graph, |graph| {
        let labels = array!(labels, count);
        let wide = |_, cardinality: u32| Ok(cardinality as usize);
        let wide = memory::converted("cardinalities", array!(cardinalities, count), wide)?;
        graph.builder()?.add_variables(labels, &wide)
    })
}

/// Adds the prior of a binary variable: f(1) = p, f(0) = 1 - p.
///
/// @param label Label of the variable.
/// @param p A probability, from 0 to 1.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_prior(
    graph: *mut fastlbp_graph, label: u64, p: f64,
) -> fastlbp_status {
    change!(graph, |graph| graph.builder()?.add_prior(label, p))
}

/// Adds a noisy conjunction of binary variables: P(head = 1) = p if the whole body is true, and q otherwise. An
/// empty body is true. A probabilistic Horn clause is one, with q = 0 mostly. O(body_length).
///
/// @param head Label of the head.
/// @param body `body_length` labels; duplicates merge.
/// @param body_length Number of labels in the body.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_and(
    graph: *mut fastlbp_graph, head: u64, body: *const u64, body_length: usize, p: f64, q: f64,
) -> fastlbp_status {
    change!(graph, |graph| graph.builder()?.add_and(head, array!(body, body_length), p, q))
}

/// Adds a noisy disjunction of binary variables: P(head = 0) = p if the whole body is false, and q otherwise. An
/// empty body is false. O(body_length).
///
/// @param head Label of the head.
/// @param body `body_length` labels; duplicates merge.
/// @param body_length Number of labels in the body.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_or(
    graph: *mut fastlbp_graph, head: u64, body: *const u64, body_length: usize, p: f64, q: f64,
) -> fastlbp_status {
    change!(graph, |graph| graph.builder()?.add_or(head, array!(body, body_length), p, q))
}

/// Adds many priors, AND and OR factors. O(count + bodies_length).
///
/// @param count Number of factors.
/// @param kinds `count` kinds: FASTLBP_FACTOR_PRIOR, FASTLBP_FACTOR_AND or FASTLBP_FACTOR_OR.
/// @param heads `count` labels.
/// @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
/// @param bodies `bodies_length` labels; a prior has none.
/// @param bodies_length Number of labels in all bodies together.
/// @param p `count` probabilities, from 0 to 1.
/// @param q `count` probabilities, from 0 to 1; ignored for a prior.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_factors(
    graph: *mut fastlbp_graph, count: usize, kinds: *const u32, heads: *const u64,
    body_offsets: *const usize, bodies: *const u64, bodies_length: usize, p: *const f64,
    q: *const f64,
) -> fastlbp_status {
    change!(graph, |graph| {
        let arrays = HornArrays {
            kinds: &[],
            heads: array!(heads, count),
            bodies: lists!(count, body_offsets, bodies, bodies_length),
            p: array!(p, count),
            q: array!(q, count),
        };
        let kinds = memory::converted("kinds of factors", array!(kinds, count), factor_kind)?;
        graph.builder()?.add_horn_factors(HornArrays { kinds: &kinds, ..arrays })
    })
}

/// Adds a dense table. The first variable of the scope varies fastest, as in libDAI: for a scope (a, b), the value
/// for the states (x, y) is `values[x + y * cardinality(a)]`. O(scope_length + values_length).
///
/// @param scope `scope_length` labels, all different.
/// @param scope_length Number of variables; 0 makes a constant.
/// @param values `values_length` values, one per joint state: finite, not negative, not all zero.
/// @param values_length Number of values: the product of the cardinalities of the scope, which is checked when the
///        graph is built.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_table(
    graph: *mut fastlbp_graph, scope: *const u64, scope_length: usize, values: *const f64,
    values_length: usize,
) -> fastlbp_status {
    change!(graph, |graph| {
        let (scope, values) = (array!(scope, scope_length), array!(values, values_length));
        graph.builder()?.add_table(scope, values)
    })
}

/// Adds many dense tables; see fastlbp_graph_add_table. O(count + scopes_length + values_length).
///
/// @param count Number of tables.
/// @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
/// @param scopes `scopes_length` labels.
/// @param scopes_length Number of labels in all scopes together.
/// @param value_offsets `count + 1` offsets, not descending, from 0 to `values_length`.
/// @param values `values_length` values.
/// @param values_length Number of values in all tables together.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_tables(
    graph: *mut fastlbp_graph, count: usize, scope_offsets: *const usize, scopes: *const u64,
    scopes_length: usize, value_offsets: *const usize, values: *const f64, values_length: usize,
) -> fastlbp_status {
    change!(graph, |graph| {
        let scopes = lists!(count, scope_offsets, scopes, scopes_length);
        let values = lists!(count, value_offsets, values, values_length);
        graph.builder()?.add_tables(scopes, values)
    })
}
