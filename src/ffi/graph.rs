//! # Graphs
//!
//! For everyone: a graph is made empty and filled by the functions of the next two chapters, or read from a
//! file. Making a session freezes it: the session shares what it needs, and the graph may be freed or added to.

use super::arguments::{Output, path};
use super::guard::{self, Guarded, into_handle};
use super::status::{Failure, Outcome, fastlbp_status};
use crate::format;
use crate::memory::shared;
use crate::model::{FactorGraph, FactorGraphBuilder};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;

/// A factor graph over discrete variables.
///
/// Variables are named by labels, any 64-bit numbers of the caller's; labels may have gaps. The
/// index of a variable is the rank of its label, counted from 0. The index of a factor is the
/// number of factors added before it. An edge joins a factor with one of its variables; edges are
/// numbered factor by factor, and within a factor by ascending variable. Labels are used to build
/// a graph, indices everywhere else; fastlbp_graph_variables_of_labels leads from one to the other.
///
/// Adding factors and reading the graph may alternate: the compact form that reading and
/// fastlbp_bp_new need is built when it is first needed, in O(variables log variables + edges +
/// table entries), and again after more was added. Errors that only show when all factors are known
/// (see fastlbp_graph_build) are returned by the call that needs that form.
pub struct fastlbp_graph(Guarded<Graph>);

object!(fastlbp_graph, Graph);

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

    /// Runs a body that reads the built graph.
    pub(super) fn read(&self, body: impl FnOnce(&FactorGraph) -> Outcome) -> Outcome {
        body(self.built()?)
    }

    /// The builder, to add to.
    pub(super) fn builder(&mut self) -> Outcome<&mut FactorGraphBuilder> {
        let builder = self.builder.get_mut();
        if builder.is_none() {
            *builder = Some(match self.built.get() {
                Some(graph) => FactorGraphBuilder::from_graph(graph)?,
                None => FactorGraphBuilder::new(),
            });
        }
        self.built = OnceCell::new();
        builder.as_mut().ok_or_else(|| Failure::invalid("the graph cannot be added to"))
    }
}

/// Makes an empty graph; free it with fastlbp_graph_free.
///
/// @return OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_new(out: *mut *mut fastlbp_graph) -> fastlbp_status {
    call!(put!(out, into_handle(Graph::new())?))
}

/// Reads a graph from a file; free it with fastlbp_graph_free. The suffix of the name tells the format:
/// `.causal_fg` (the CausalBP extension of libDAI), `.fg` (libDAI), `.uai` (UAI competitions) or `.bif` (Bayesian
/// networks, whose names are left out), each also compressed with a further `.gz`. O(size of the file).
///
/// @param path Name of the file.
/// @return IO; PARSE, with file and line in the text; INVALID_ARGUMENT for an unknown suffix; INVALID_UTF8;
///         LIMIT_EXCEEDED; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_read_file(
    path: *const c_char, out: *mut *mut fastlbp_graph,
) -> fastlbp_status {
    call!({
        let (path, out) = (self::path("path", path)?, Output::new("out", out)?);
        let graph = Graph::of(shared(format::read_graph(path)?)?);
        into_handle(graph).map(|handle| out.set(handle))
    })
}

/// Writes a graph to a file, in the format that the suffix of the name tells (see fastlbp_graph_read_file).
/// Every number reads back to the same bits. The file appears when it is complete.
///
/// @param path Name of the file.
/// @return IO; INVALID_ARGUMENT for an unknown suffix; UNSUPPORTED where the format cannot hold the graph;
///         INVALID_UTF8; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_write_file(
    graph: *const fastlbp_graph, path: *const c_char,
) -> fastlbp_status {
    of_graph!(graph, |graph| format::write_graph(graph, self::path("path", path)?))
}

/// Reads a graph from memory, as fastlbp_graph_read_file does from a file; free it with fastlbp_graph_free. Of the name
/// only the suffix counts, such as that of `graph.causal_fg.gz`, and errors call the bytes by it.
///
/// @param bytes `size` bytes, the content of a file of this name.
/// @param size Number of bytes.
/// @param name Name of the file.
/// @return As fastlbp_graph_read_file, but for IO, which only is what gzip cannot decompress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_read_memory(
    bytes: *const u8, size: usize, name: *const c_char, out: *mut *mut fastlbp_graph,
) -> fastlbp_status {
    call!({
        let (bytes, name) = (array!(bytes, size), path("name", name)?);
        let out = Output::new("out", out)?;
        let graph = Graph::of(shared(format::read_graph_from_memory(bytes, name)?)?);
        into_handle(graph).map(|handle| out.set(handle))
    })
}

/// Writes a graph to memory, as fastlbp_graph_write_file does to a file; of the name only the suffix counts. O(size of
/// the content), also where the buffer is too short for it.
///
/// @param name Name of the file.
/// @return As fastlbp_graph_write_file, but for IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_write_memory(
    graph: *const fastlbp_graph, name: *const c_char, buffer: *mut u8, length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    of_graph!(graph, |graph| {
        let name = path("name", name)?;
        fill!(buffer, length, needed, &format::write_graph_to_memory(graph, name)?)
    })
}

/// Checks the graph and builds its compact form now, instead of when it is first needed.
///
/// @return INVALID_ARGUMENT if a variable is declared with two cardinalities, a table, NOISY or TERMS factor names a
///         variable twice, a table does not have one value per joint state, a factor with a head names a variable
///         with other than two states, or terms add up to a negative value or to zero everywhere;
///         OUT_OF_RANGE if a term wants a state that its variable does not have; LIMIT_EXCEEDED for more than
///         2^32 - 2 variables, factors or edges. Factors cannot be taken back: such a graph can only be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_build(graph: *const fastlbp_graph) -> fastlbp_status {
    read!(graph, |graph| graph.built().map(|_| ()))
}

/// Frees a graph, or nothing for NULL. Sessions made from it go on working.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_free(graph: *mut fastlbp_graph) {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::free(graph) }
}
