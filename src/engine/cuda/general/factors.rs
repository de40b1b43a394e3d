//! The factors of a graph as the kernels have them, and the memory that their messages take.

use crate::engine::cuda::interface::arithmetic::{ExtendedFloat, HeadValues, Product, TermLiteral};
use crate::engine::cuda::interface::general::{FactorKind, HIGH_DEGREE, Record, SMALL_ARITY};
use crate::engine::expand;
use crate::error::{Error, Result};
use crate::factor::{DeviceForm, Noisy, NoisyCoefficients};
use crate::kernel::{DeviceHorn, Inference, OwnedTable, TableValues, stored_values};
use crate::memory::{Grow, filled, room};
use crate::model::{FactorGraph, Terms as TermsView};

/// Bytes of an extended float of the kernels, and of a product.
const EXTENDED: u64 = size_of::<ExtendedFloat>() as u64;
pub(super) const PRODUCT: u64 = size_of::<Product>() as u64;

/// Coefficients of noisy conjunctions, and their literals.
#[derive(Debug, Default)]
pub(super) struct NoisyFactors {
    pub values: Vec<HeadValues>,
    /// Where each factor's literals start, in numbers.
    pub starts: Vec<usize>,
    pub literals: Vec<f64>,
}

impl NoisyFactors {
    /// Adds a factor; returns its number.
    fn push(&mut self, noisy: &Noisy<'_>) -> Result<u32> {
        let number = self.values.len() as u32;
        self.values.try_push(HeadValues { values: NoisyCoefficients::new(noisy).to_device() })?;
        self.starts.try_push(self.literals.len())?;
        self.literals.try_append(noisy.literals.as_flattened().as_flattened())?;
        Ok(number)
    }
}

/// A table: where its values start among those of all tables, and what the kernels need to know of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Table {
    pub start: usize,
    pub exponents: (i64, i64),
    pub entries: u32,
}

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub list: Vec<Table>,
    pub values: Vec<f64>,
}

impl Tables {
    /// Adds a table of so many entries; returns its number.
    fn push(&mut self, values: &[f64], entries: u32) -> Result<u32> {
        let number = self.list.len() as u32;
        let start = self.values.len();
        let exponents = TableValues::F64(values).exponents();
        self.list.try_push(Table { start, exponents, entries })?;
        self.values.try_append(values)?;
        Ok(number)
    }
}

/// A factor of terms: where its parts start among those of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terms {
    pub weights: usize,
    pub offsets: usize,
    pub literals: usize,
    pub terms: u32,
    pub states: u32,
    pub signed: bool,
}

#[derive(Debug, Default)]
pub(super) struct TermFactors {
    pub list: Vec<Terms>,
    pub weights: Vec<f64>,
    pub offsets: Vec<u32>,
    pub literals: Vec<TermLiteral>,
}

impl TermFactors {
    /// Adds a factor whose variables have so many states together; returns its number.
    fn push(&mut self, terms: &TermsView<'_>, states: u32) -> Result<u32> {
        let number = self.list.len() as u32;
        self.list.try_push(Terms {
            weights: self.weights.len(),
            offsets: self.offsets.len(),
            literals: self.literals.len(),
            terms: terms.weights.len() as u32,
            states,
            signed: terms.weights.iter().any(|&weight| weight < 0.0),
        })?;
        self.weights.try_append(terms.weights)?;
        let first = terms.offsets[0];
        self.offsets.try_extend(terms.offsets.iter().map(|&offset| (offset - first) as u32))?;
        let literals = terms.literals.iter();
        self.literals.try_extend(
            literals.map(|own| TermLiteral { position: own.position, state: own.state }),
        )?;
        Ok(number)
    }
}

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
    pub noisy: NoisyFactors,
    pub tables: Tables,
    pub terms: TermFactors,
    /// Bytes of memory that each factor's messages take, beside their inputs and outputs.
    pub scratch: Vec<u64>,
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

/// tree_nodes of tree.cuh.
pub(super) fn tree_nodes(leaves: u64) -> u64 {
    let (mut size, mut nodes) = (leaves, 0);
    while size > 2 {
        size = size.div_ceil(2);
        nodes += size;
    }
    nodes
}

pub(super) fn body_memory(arity: u64) -> u64 {
    2 * EXTENDED * (arity + tree_nodes(arity))
}

fn table_memory(entries: u64, states: u64, arity: u64) -> u64 {
    EXTENDED * (entries + states) + aligned(4 * (arity + 1))
}

fn term_memory(states: u64, arity: u64, longest: u64) -> u64 {
    EXTENDED * (3 * states + arity + longest + tree_nodes(longest)) + aligned(4 * (arity + 1))
}

/// The error of a factor that only the processor runs as a table.
fn too_far_apart(graph: &FactorGraph, factor: usize) -> Error {
    Error::Unsupported(format!(
        "factor {factor} ({}): max-product needs it as a table, and its values span more than f64, which \
         devices hold tables in; the processor has no such limit",
        graph.kind(factor).name()
    ))
}

/// The error of messages that 32 bits do not count.
pub(super) fn too_many_values() -> Error {
    let text = "messages of more than 2^32 - 1 values, too many for a CUDA device";
    Error::LimitExceeded(text.into())
}

/// The error of a factor that no kernel runs; graphs with one are kept on the processor before this is asked.
fn no_device_form(graph: &FactorGraph, factor: usize) -> Error {
    let name = graph.kind(factor).name();
    Error::Unsupported(format!("factor {factor} ({name}): devices have no code for its kind"))
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
            let view = graph.factor(factor);
            let (kind, parameter, scratch) = if view.needs_table(inference) {
                match expand(graph, factor, inference)? {
                    OwnedTable::F64(values) => factors.add_table(graph, factor, &values)?,
                    OwnedTable::ExtendedFloat(_) => return Err(too_far_apart(graph, factor)),
                }
            } else {
                match view.device_form() {
                    DeviceForm::Table(values) => factors.add_table(graph, factor, values)?,
                    DeviceForm::Terms(terms) => factors.add_terms(graph, factor, &terms)?,
                    DeviceForm::Noisy(noisy) => {
                        let number = factors.noisy.push(&noisy)?;
                        (FactorKind::Noisy, number, body_memory(graph.arity(factor) as u64))
                    }
                    DeviceForm::Conjunction => {
                        let number = graph.conjunction_parameter(factor).unwrap_or_default() as u32;
                        let arity = graph.arity(factor);
                        let small = arity <= SMALL_ARITY;
                        (
                            FactorKind::Horn,
                            number,
                            if small { 0 } else { body_memory(arity as u64) },
                        )
                    }
                    DeviceForm::None => return Err(no_device_form(graph, factor)),
                }
            };
            let head = graph.head_position(factor).unwrap_or_default() as u32;
            factors.records.push(Record { kind: kind as u32, head, parameter });
            factors.scratch.push(scratch);
            factors.needs_outputs |= kind != FactorKind::Horn || graph.arity(factor) > SMALL_ARITY;
            factors.needs_radices |= matches!(kind, FactorKind::Table | FactorKind::Terms);
        }
        Ok(factors)
    }

    /// The table that a factor is, if it is one.
    pub fn table(&self, factor: usize) -> Option<&Table> {
        let Record { kind, parameter, .. } = self.records[factor];
        let is_table = kind == FactorKind::Table as u32;
        self.tables.list.get(parameter as usize).filter(|_| is_table)
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

    fn add_table(
        &mut self, graph: &FactorGraph, factor: usize, values: &[f64],
    ) -> Result<(FactorKind, u32, u64)> {
        let entries = u32::try_from(values.len()).map_err(|_| {
            Error::LimitExceeded(format!(
                "factor {factor}: a table of {} entries; on a device it may have {}",
                values.len(),
                u32::MAX
            ))
        })?;
        let states = graph.factor_cardinalities(factor).sum::<usize>() as u64;
        let number = self.tables.push(values, entries)?;
        Ok((
            FactorKind::Table,
            number,
            table_memory(entries.into(), states, graph.arity(factor) as u64),
        ))
    }

    fn add_terms(
        &mut self, graph: &FactorGraph, factor: usize, terms: &TermsView<'_>,
    ) -> Result<(FactorKind, u32, u64)> {
        let states = graph.factor_cardinalities(factor).sum::<usize>();
        let number = self.terms.push(terms, states as u32)?;
        let longest = terms.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let memory = term_memory(states as u64, graph.arity(factor) as u64, longest as u64);
        Ok((FactorKind::Terms, number, memory))
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
