//! Factor graphs: built by factors or from files, read as arrays.

use super::arguments::{Output, array, path};
use super::guard::{self, Guarded, Object, enter, into_handle};
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::error::Error;
use crate::format;
use crate::memory::shared;
use crate::model::{FactorGraph, FactorGraphBuilder, FactorKind, HornArrays, Label, check_weights};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;

/// Kind of a factor: a dense table.
pub const FASTLBP_FACTOR_TABLE: u32 = 0;
/// Kind of a factor: the prior of a binary variable, f(1) = p and f(0) = 1 - p.
pub const FASTLBP_FACTOR_SINGLETON: u32 = 1;
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

/// In arrays of variable indices: no variable.
pub const FASTLBP_NO_VARIABLE: u32 = u32::MAX;

/// A factor graph over discrete variables.
///
/// Variables are named by labels, any 64-bit numbers of the caller's; labels may have gaps. The
/// index of a variable is the rank of its label, counted from 0. The index of a factor is the
/// number of factors added before it. An edge joins a factor with one of its variables; edges are
/// numbered factor by factor, and within a factor by ascending variable. Labels are used to build
/// a graph, indices everywhere else unless said otherwise.
///
/// Adding factors and reading the graph may alternate: the compact form that reading and
/// fastlbp_bp_new need is built when it is first needed, in O(variables log variables + edges +
/// table entries), and again after more was added. Errors that only show when all factors are known
/// (see fastlbp_graph_build) are returned by the call that needs that form.
///
/// Made by fastlbp_graph_new or fastlbp_graph_read_file, freed by fastlbp_graph_free.
pub struct fastlbp_graph(Guarded<Graph>);

impl Object for fastlbp_graph {
    type State = Graph;
    const NAME: &'static str = "fastlbp_graph";

    fn wrap(guarded: Guarded<Graph>) -> Self {
        Self(guarded)
    }
    fn guarded(&self) -> &Guarded<Graph> {
        &self.0
    }
}

/// Either a builder or the graph built from it.
pub struct Graph {
    /// `None` where `built` is there.
    builder: Mutex<Option<FactorGraphBuilder>>,
    built: OnceCell<Arc<FactorGraph>>,
}

impl Graph {
    fn new() -> Self {
        Self { builder: Mutex::new(Some(FactorGraphBuilder::new())), built: OnceCell::new() }
    }

    pub(super) fn of(graph: Arc<FactorGraph>) -> Self {
        Self { builder: Mutex::new(None), built: OnceCell::with_value(graph) }
    }

    /// The built graph.
    pub(super) fn built(&self) -> Outcome<&Arc<FactorGraph>> {
        self.built.get_or_try_init(|| {
            let mut builder = self.builder.lock();
            let graph = match &*builder {
                Some(builder) => builder.build()?,
                None => FactorGraphBuilder::new().build()?,
            };
            *builder = None;
            Ok(shared(graph)?)
        })
    }

    /// The builder, to add to.
    pub(super) fn builder(&mut self) -> Outcome<&mut FactorGraphBuilder> {
        let builder = self.builder.get_mut();
        if builder.is_none() {
            *builder = Some(match self.built.get() {
                Some(graph) => builder_of(graph)?,
                None => FactorGraphBuilder::new(),
            });
        }
        self.built = OnceCell::new();
        builder.as_mut().ok_or_else(|| Failure::invalid("the graph cannot be added to"))
    }
}

/// A builder that builds an equal graph.
fn builder_of(graph: &FactorGraph) -> Outcome<FactorGraphBuilder> {
    Ok(FactorGraphBuilder::from_graph(graph)?)
}

pub(super) fn variable_of_label(graph: &FactorGraph, label: Label) -> Outcome<usize> {
    let unknown = || Error::OutOfRange(format!("label {label}: the graph has no such variable"));
    Ok(graph.variable_of_label(label).ok_or_else(unknown)?)
}

fn factor_kind(index: usize, kind: u32) -> Outcome<FactorKind> {
    FactorKind::ALL.into_iter().find(|&known| known as u32 == kind).ok_or_else(|| {
        Failure::invalid(format!(
            "kinds[{index}] is {kind}: FASTLBP_FACTOR_SINGLETON (1), FASTLBP_FACTOR_AND (2) or \
             FASTLBP_FACTOR_OR (3) is needed"
        ))
    })
}

/// Runs a body that reads the built graph.
///
/// # Safety
/// `graph` is NULL or live.
pub(super) unsafe fn read(
    graph: *const fastlbp_graph,
    body: impl FnOnce(&FactorGraph) -> Outcome,
) -> fastlbp_status {
    // SAFETY: as the caller promises.
    unsafe { guard::read(graph, |state| body(state.built()?)) }
}

/// Makes an empty graph.
///
/// @param out Where the handle is written; free it with fastlbp_graph_free.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_new(out: *mut *mut fastlbp_graph) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, NULL or writable.
        let out = unsafe { Output::new("out", out) }?;
        out.set(into_handle(Graph::new())?);
        Ok(())
    })
}

/// Reads a graph from a file. The name's suffix tells the format: `.causal_fg` (the format of the
/// CausalBP extension of libDAI), `.fg` (libDAI), `.uai` (UAI competitions) or `.bif` (Bayesian
/// networks, whose names are left out), each also compressed with a further `.gz`. O(size of the file).
///
/// @param path Name of the file.
/// @param out Where the handle is written; free it with fastlbp_graph_free.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_PARSE, with file and line in the
///         text; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown suffix or a graph with errors as in
///         fastlbp_graph_build; FASTLBP_STATUS_LIMIT_EXCEEDED; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_read_file(
    path: *const c_char,
    out: *mut *mut fastlbp_graph,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, each is NULL or what its type says.
        let (path, out) = unsafe { (self::path(path)?, Output::new("out", out)?) };
        let graph = format::read_graph(path)?;
        out.set(into_handle(Graph::of(shared(graph)?))?);
        Ok(())
    })
}

/// Frees a graph. Sessions made from it go on working: they share what they need.
///
/// @param graph A handle, or NULL, for which nothing happens. It must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_free(graph: *mut fastlbp_graph) {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::free(graph) }
}

/// Declares a variable. Only needed for variables with more than two states and for such as occur in
/// no factor: a label that is not declared is a binary variable.
///
/// @param graph The graph; changed.
/// @param label The label. Declaring it again with the same cardinality is harmless.
/// @param cardinality Number of states, at least 1; a variable with a single state is for tables and
///        terms only.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT; FASTLBP_STATUS_LIMIT_EXCEEDED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_variable(
    graph: *mut fastlbp_graph,
    label: u64,
    cardinality: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, |state| Ok(state.builder()?.add_variable(label, cardinality)?)) }
}

/// Declares many variables, or none if one is wrong; see fastlbp_graph_add_variable.
///
/// @param graph The graph; changed.
/// @param labels `count` labels.
/// @param cardinalities `count` numbers of states, each at least 1.
/// @param count Number of variables.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_variables(
    graph: *mut fastlbp_graph,
    labels: *const u64,
    cardinalities: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        // SAFETY: by the header, arrays of `count` entries.
        let (labels, cardinalities) = unsafe {
            (array("labels", labels, count)?, array("cardinalities", cardinalities, count)?)
        };
        let cardinalities =
            memory::converted("cardinalities", cardinalities, |_, r| Ok(r as usize))?;
        Ok(state.builder()?.add_variables(labels, &cardinalities)?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}

/// Adds the prior of a binary variable: f(1) = p, f(0) = 1 - p.
///
/// @param graph The graph; changed.
/// @param label Label of the variable.
/// @param p A probability, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_singleton(
    graph: *mut fastlbp_graph,
    label: u64,
    p: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, |state| Ok(state.builder()?.add_singleton(label, p)?)) }
}

/// Adds a noisy conjunction of binary variables: P(head = 1) = p if the whole body is true, and q
/// otherwise. An empty body is true. A probabilistic Horn clause is one, with q = 0 mostly.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels; duplicates merge.
/// @param body_length Number of labels in the body.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_and(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    body_length: usize,
    p: f64,
    q: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            Ok(state.builder()?.add_and(head, body, p, q)?)
        })
    }
}

/// Adds a noisy disjunction of binary variables: P(head = 0) = p if the whole body is false, and q
/// otherwise. An empty body is false.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels; duplicates merge.
/// @param body_length Number of labels in the body.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_or(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    body_length: usize,
    p: f64,
    q: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            Ok(state.builder()?.add_or(head, body, p, q)?)
        })
    }
}

/// Adds many singleton, AND and OR factors in one call, or none if one is wrong. Factor i has the
/// kind `kinds[i]`, the head `heads[i]`, as its body the labels from `bodies[body_offsets[i]]` up to,
/// but not including, `bodies[body_offsets[i + 1]]` (none for a singleton), and the probabilities
/// `p[i]` and `q[i]` (q is ignored for a singleton).
///
/// @param graph The graph; changed.
/// @param count Number of factors.
/// @param kinds `count` kinds: FASTLBP_FACTOR_SINGLETON, FASTLBP_FACTOR_AND or FASTLBP_FACTOR_OR.
/// @param heads `count` labels.
/// @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
/// @param bodies `bodies_length` labels.
/// @param bodies_length Number of labels in all bodies together.
/// @param p `count` probabilities, from 0 to 1.
/// @param q `count` probabilities, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(count + bodies_length). Gives the same graph as the single calls.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_factors(
    graph: *mut fastlbp_graph,
    count: usize,
    kinds: *const u32,
    heads: *const u64,
    body_offsets: *const usize,
    bodies: *const u64,
    bodies_length: usize,
    p: *const f64,
    q: *const f64,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        if count == 0 && bodies_length == 0 {
            return Ok(());
        }
        let offset_count = count.saturating_add(1);
        // SAFETY: by the header, arrays of these lengths.
        let (kinds, arrays) = unsafe {
            let arrays = HornArrays {
                kinds: &[],
                heads: array("heads", heads, count)?,
                body_offsets: array("body_offsets", body_offsets, offset_count)?,
                bodies: array("bodies", bodies, bodies_length)?,
                p: array("p", p, count)?,
                q: array("q", q, count)?,
            };
            (array("kinds", kinds, count)?, arrays)
        };
        let kinds = memory::converted("kinds of factors", kinds, factor_kind)?;
        Ok(state.builder()?.add_horn_factors(HornArrays { kinds: &kinds, ..arrays })?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}

/// Adds a dense table. The first variable of the scope varies fastest, as in libDAI: for a scope
/// (a, b), the value for states (x, y) is `values[x + y * cardinality(a)]`.
///
/// @param graph The graph; changed.
/// @param scope `scope_length` labels, all different.
/// @param scope_length Number of variables; 0 makes a constant.
/// @param values `values_length` values, one per joint state: finite, not negative, not all zero.
/// @param values_length Number of values: the product of the cardinalities of the scope, which is
///        checked when the graph is built.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(scope_length + values_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_table(
    graph: *mut fastlbp_graph,
    scope: *const u64,
    scope_length: usize,
    values: *const f64,
    values_length: usize,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        // SAFETY: by the header, arrays of these lengths.
        let (scope, values) = unsafe {
            (array("scope", scope, scope_length)?, array("values", values, values_length)?)
        };
        Ok(state.builder()?.add_table(scope, values)?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}

/// Adds many dense tables in one call, or none if one is wrong; see fastlbp_graph_add_table. Table i
/// has the scope from `scopes[scope_offsets[i]]` up to, but not including,
/// `scopes[scope_offsets[i + 1]]`, and likewise the values cut out by `value_offsets`.
///
/// @param graph The graph; changed.
/// @param count Number of tables.
/// @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
/// @param scopes `scopes_length` labels.
/// @param scopes_length Number of labels in all scopes together.
/// @param value_offsets `count + 1` offsets, not descending, from 0 to `values_length`.
/// @param values `values_length` values.
/// @param values_length Number of values in all tables together.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(count + scopes_length + values_length).
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_tables(
    graph: *mut fastlbp_graph,
    count: usize,
    scope_offsets: *const usize,
    scopes: *const u64,
    scopes_length: usize,
    value_offsets: *const usize,
    values: *const f64,
    values_length: usize,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        if count == 0 && scopes_length == 0 && values_length == 0 {
            return Ok(());
        }
        let offset_count = count.saturating_add(1);
        // SAFETY: by the header, arrays of these lengths.
        let (scope_offsets, scopes, value_offsets, values) = unsafe {
            (
                array("scope_offsets", scope_offsets, offset_count)?,
                array("scopes", scopes, scopes_length)?,
                array("value_offsets", value_offsets, offset_count)?,
                array("values", values, values_length)?,
            )
        };
        crate::model::check_offsets("scope_offsets", scope_offsets, scopes_length)?;
        crate::model::check_offsets("value_offsets", value_offsets, values_length)?;
        let cut = |offsets: &[usize], index: usize| offsets[index]..offsets[index + 1];
        for index in 0..count {
            let table = &values[cut(value_offsets, index)];
            check_weights(table, || format!("table {index}"))?;
        }
        let builder = state.builder()?;
        Ok(builder.all_or_none(|builder| {
            (0..count).try_for_each(|index| {
                let scope = &scopes[cut(scope_offsets, index)];
                builder.add_table(scope, &values[cut(value_offsets, index)])
            })
        })?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}

/// Checks the graph and builds its compact form now, instead of when it is first needed.
///
/// @param graph The graph.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT if a variable is declared with two
///         cardinalities, a table, NOISY or TERMS factor names a variable twice, a table does not
///         have one value per joint state, a factor with a head names a variable with more than two
///         states, or terms add up to a negative value or to zero everywhere (see
///         fastlbp_graph_add_terms); FASTLBP_STATUS_OUT_OF_RANGE if a term wants a state that its
///         variable does not have; FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^32 - 2 variables,
///         factors or edges. Factors cannot be taken back: a graph with an error can only be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_build(graph: *const fastlbp_graph) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { read(graph, |_| Ok(())) }
}

/// Writes the graph to a file, in the format that the name's suffix tells (see
/// fastlbp_graph_read_file); every number is written so that it reads back to the same bits. The
/// file appears when it is complete.
///
/// @param graph The graph.
/// @param path Name of the file.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown
///         suffix or as in fastlbp_graph_build; FASTLBP_STATUS_UNSUPPORTED where the format cannot
///         hold the graph; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_write_file(
    graph: *const fastlbp_graph,
    path: *const c_char,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or a string.
    unsafe { read(graph, |graph| Ok(format::write_graph(graph, self::path(path)?)?)) }
}
