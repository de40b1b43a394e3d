//! The factors of a graph as the kernels have them, and the memory that their messages take.

use crate::engine::cuda::interface::factors::{FactorKind, Record};
use crate::engine::cuda::interface::general::{HIGH_DEGREE, SMALL_ARITY};
use crate::engine::cuda::parameters::{Added, Parameters, Table, body_memory, record_of};
use crate::error::{Error, Result};
use crate::kernel::{DeviceHorn, Inference, stored_values};
use crate::memory::{Grow, filled, room};
use crate::model::FactorGraph;

/// All factors, for sums or for maxima.
#[derive(Debug, Default)]
pub(super) struct Factors {
    /// Whether some factor needs room for its messages by edge.
    pub needs_outputs: bool,
    /// Whether some factor looks at the numbers of its variables' states.
    pub needs_radices: bool,
    pub records: Vec<Record>,
    pub horn: Vec<DeviceHorn>,
    pub words: Vec<u64>,
    pub parameters: Parameters,
    /// Bytes of memory that each factor's messages take, beside their inputs and outputs.
    pub scratch: Vec<u64>,
}

/// The error of messages that 32 bits do not count.
pub(super) fn too_many_values() -> Error {
    let text = "messages of more than 2^32 - 1 values, too many for a CUDA device";
    Error::LimitExceeded(text.into())
}

impl Factors {
    /// For sums, or for maxima, with the tables that these need. Errors: a table has too many entries.
    pub fn new(graph: &FactorGraph, inference: Inference) -> Result<Self> {
        let mut factors = Self::default();
        factors.add_coefficients(graph)?;
        factors.records = room(graph.factor_count())?;
        factors.scratch = room(graph.factor_count())?;
        // A block runs factors of high-degree variables, too, and leaves their messages there.
        let is_high = |v: usize| graph.degree(v) > HIGH_DEGREE;
        factors.needs_outputs = (0..graph.variable_count()).any(is_high);
        for factor in 0..graph.factor_count() {
            let Added { record, scratch } = match graph.conjunction_parameter(factor) {
                Some(number) => {
                    let arity = graph.arity(factor);
                    let bytes = if arity <= SMALL_ARITY { 0 } else { body_memory(arity as u64) };
                    let record = record_of(graph, factor, FactorKind::Horn, number as u32);
                    Added { record, scratch: bytes }
                }
                None => factors.parameters.add(graph, factor, inference)?,
            };
            factors.records.push(record);
            factors.scratch.push(scratch);
            let is_of = |kind: FactorKind| record.kind == kind as u32;
            factors.needs_outputs |= !is_of(FactorKind::Horn) || graph.arity(factor) > SMALL_ARITY;
            factors.needs_radices |= is_of(FactorKind::Table) || is_of(FactorKind::Terms);
        }
        Ok(factors)
    }

    /// The table that a factor is, if it is one.
    pub fn table(&self, factor: usize) -> Option<&Table> {
        let Record { kind, parameter, .. } = self.records[factor];
        let is_table = kind == FactorKind::Table as u32;
        self.parameters.tables.list.get(parameter as usize).filter(|_| is_table)
    }

    /// The coefficients of conjunctions of literals, each for the widest of its factors.
    fn add_coefficients(&mut self, graph: &FactorGraph) -> Result<()> {
        let coefficients = graph.coefficients()?;
        let mut arities = filled(coefficients.len(), 0)?;
        for factor in 0..graph.factor_count() {
            if let Some(number) = graph.conjunction_parameter(factor) {
                arities[number] = graph.arity(factor).max(arities[number]);
            }
        }
        for (coefficients, arity) in coefficients.iter().zip(arities) {
            let device = coefficients.to_device(arity, &mut self.words)?;
            self.horn.try_push(device)?;
        }
        Ok(())
    }
}

/// Where the stored values of variables and edges start.
#[derive(Debug)]
pub(super) struct Values {
    /// Per variable, one entry more than there are; `None` if each has one value.
    pub variables: Option<Vec<u32>>,
    /// The same for the states: two each.
    pub states: Option<Vec<u32>>,
    pub edges: Option<Vec<u32>>,
    /// Values of all messages in one direction, and of all variables.
    pub count: usize,
    pub belief_count: usize,
}

impl Values {
    /// Errors: more values than 32 bits can count.
    pub fn new(graph: &FactorGraph) -> Result<Self> {
        let running = |sizes: &mut dyn Iterator<Item = u32>| -> Result<Vec<u32>> {
            let mut starts = filled(1, 0_u32)?;
            let mut next = 0_u32;
            for size in sizes {
                next = next.checked_add(size).ok_or_else(too_many_values)?;
                starts.try_push(next)?;
            }
            Ok(starts)
        };
        if graph.all_binary() {
            return Ok(Self {
                variables: None,
                states: None,
                edges: None,
                count: graph.edge_count(),
                belief_count: graph.variable_count(),
            });
        }
        let radices = graph.cardinalities();
        let width = |v: u32| stored_values(radices[v as usize]) as u32;
        let of_edges = graph.edge_variables();
        let variables = running(&mut (0..radices.len() as u32).map(width))?;
        let edges = running(&mut of_edges.iter().map(|&v| width(v)))?;
        Ok(Self {
            count: edges[of_edges.len()] as usize,
            belief_count: variables[radices.len()] as usize,
            states: Some(running(&mut radices.iter().copied())?),
            variables: Some(variables),
            edges: Some(edges),
        })
    }

    /// The number of values of an edge's message.
    pub fn width(&self, edge: usize) -> usize {
        self.edges.as_ref().map_or(1, |starts| (starts[edge + 1] - starts[edge]) as usize)
    }

    /// Where a variable's values lie.
    pub fn of_variable(&self, variable: usize) -> std::ops::Range<usize> {
        match &self.variables {
            None => variable..variable + 1,
            Some(starts) => starts[variable] as usize..starts[variable + 1] as usize,
        }
    }
}
