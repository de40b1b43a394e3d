//! The parameters of factors that are no conjunctions of literals, as both programs have them on the device.

use super::driver::{DeviceBuffer, Queue};
use super::interface::arithmetic::{ExtendedFloat, HeadValues, Product, TermLiteral};
use super::interface::factors::{
    FactorKind, FactorParameters, NoisyRecord, Record, TableRecord, TermsRecord,
};
use crate::engine::expand;
use crate::error::{Error, Result};
use crate::factor::{DeviceForm, Noisy, NoisyCoefficients};
use crate::kernel::{Inference, OwnedTable, TableValues};
use crate::memory::{Grow, collected};
use crate::model::{FactorGraph, Terms as TermsView};

/// Bytes of an extended float of the kernels, and of a product.
const EXTENDED: u64 = size_of::<ExtendedFloat>() as u64;
pub(super) const PRODUCT: u64 = size_of::<Product>() as u64;

/// Coefficients of noisy conjunctions, and their literals.
#[derive(Debug, Default)]
struct NoisyFactors {
    values: Vec<HeadValues>,
    /// Where each factor's literals start, in numbers.
    starts: Vec<usize>,
    literals: Vec<f64>,
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
struct Terms {
    pub weights: usize,
    pub offsets: usize,
    pub literals: usize,
    pub terms: u32,
    pub states: u32,
    pub signed: bool,
}

#[derive(Debug, Default)]
struct TermFactors {
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

/// Parameters of factors, for sums or for maxima.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    noisy: NoisyFactors,
    pub tables: Tables,
    terms: TermFactors,
}

/// A factor whose parameters have been added.
pub(super) struct Added {
    pub record: Record,
    /// Bytes of memory that its messages take, beside inputs and outputs.
    pub scratch: u64,
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

/// The error of a factor that no kernel runs; graphs with one are kept on the processor before this is asked.
fn no_device_form(graph: &FactorGraph, factor: usize) -> Error {
    let name = graph.kind(factor).name();
    Error::Unsupported(format!("factor {factor} ({name}): devices have no code for its kind"))
}

/// What kernels need to know of a factor whose parameters have this number among those of its kind.
pub(super) fn record_of(
    graph: &FactorGraph, factor: usize, kind: FactorKind, parameter: u32,
) -> Record {
    let head = graph.head_position(factor).unwrap_or_default() as u32;
    Record { kind: kind as u32, head, parameter }
}

impl Parameters {
    /// Adds those of a factor, or the table that this needs. Errors: it has too many entries, or values that are too far apart.
    pub fn add(
        &mut self, graph: &FactorGraph, factor: usize, inference: Inference,
    ) -> Result<Added> {
        let view = graph.factor(factor);
        let (kind, parameter, scratch) = if view.needs_table(inference) {
            match expand(graph, factor, inference)? {
                OwnedTable::F64(values) => self.add_table(graph, factor, &values)?,
                OwnedTable::ExtendedFloat(_) => return Err(too_far_apart(graph, factor)),
            }
        } else {
            match view.device_form() {
                DeviceForm::Table(values) => self.add_table(graph, factor, values)?,
                DeviceForm::Terms(terms) => self.add_terms(graph, factor, &terms)?,
                DeviceForm::Noisy(noisy) => {
                    let number = self.noisy.push(&noisy)?;
                    (FactorKind::Noisy, number, body_memory(graph.arity(factor) as u64))
                }
                DeviceForm::Conjunction | DeviceForm::None => {
                    return Err(no_device_form(graph, factor));
                }
            }
        };
        Ok(Added { record: record_of(graph, factor, kind, parameter), scratch })
    }

    /// Gives the kind, the number among those of it, and the bytes of scratch memory.
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
        let scratch = table_memory(entries.into(), states, graph.arity(factor) as u64);
        Ok((FactorKind::Table, number, scratch))
    }

    /// The same.
    fn add_terms(
        &mut self, graph: &FactorGraph, factor: usize, terms: &TermsView<'_>,
    ) -> Result<(FactorKind, u32, u64)> {
        let states = graph.factor_cardinalities(factor).sum::<usize>();
        let number = self.terms.push(terms, states as u32)?;
        let longest = terms.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let scratch = term_memory(states as u64, graph.arity(factor) as u64, longest as u64);
        Ok((FactorKind::Terms, number, scratch))
    }
}

/// Parameters on the device.
pub(super) struct ParameterBuffers {
    noisy: DeviceBuffer<NoisyRecord>,
    _noisy_literals: DeviceBuffer<f64>,
    tables: DeviceBuffer<TableRecord>,
    table_values: DeviceBuffer<f64>,
    terms: DeviceBuffer<TermsRecord>,
    _term_weights: DeviceBuffer<f64>,
    _term_offsets: DeviceBuffer<u32>,
    _term_literals: DeviceBuffer<TermLiteral>,
}

impl ParameterBuffers {
    pub fn new(queue: Queue<'_>, all: &Parameters) -> Result<Self> {
        let numbers = |content: &[f64]| DeviceBuffer::from_slice(queue, content);
        let noisy_literals = numbers(&all.noisy.literals)?;
        let literals = *noisy_literals.address();
        let noisy = all.noisy.values.iter().zip(&all.noisy.starts);
        let noisy: Vec<NoisyRecord> = collected(noisy.map(|(&head, &start)| NoisyRecord {
            head,
            literals: (literals + 8 * start as u64).into(),
        }))?;
        let table_values = numbers(&all.tables.values)?;
        let values = *table_values.address();
        let tables = all.tables.list.iter();
        let tables: Vec<TableRecord> = collected(tables.map(|table| TableRecord {
            values: (values + 8 * table.start as u64).into(),
            low: table.exponents.0,
            high: table.exponents.1,
            entries: table.entries,
            padding: 0,
        }))?;
        let term_weights = numbers(&all.terms.weights)?;
        let term_offsets = DeviceBuffer::from_slice(queue, &all.terms.offsets)?;
        let term_literals = DeviceBuffer::from_slice(queue, &all.terms.literals)?;
        let literal = size_of::<TermLiteral>() as u64;
        let terms = all.terms.list.iter();
        let terms: Vec<TermsRecord> = collected(terms.map(|own| TermsRecord {
            weights: (term_weights.address() + 8 * own.weights as u64).into(),
            offsets: (term_offsets.address() + 4 * own.offsets as u64).into(),
            literals: (term_literals.address() + literal * own.literals as u64).into(),
            terms: own.terms,
            states: own.states,
            signed_weights: own.signed.into(),
            padding: 0,
        }))?;
        Ok(Self {
            noisy: DeviceBuffer::from_slice(queue, &noisy)?,
            _noisy_literals: noisy_literals,
            tables: DeviceBuffer::from_slice(queue, &tables)?,
            table_values,
            terms: DeviceBuffer::from_slice(queue, &terms)?,
            _term_weights: term_weights,
            _term_offsets: term_offsets,
            _term_literals: term_literals,
        })
    }

    /// Where the values of all tables begin.
    pub fn table_values(&self) -> u64 {
        *self.table_values.address()
    }

    pub fn addresses(&self) -> FactorParameters {
        FactorParameters {
            noisy: (&self.noisy).into(),
            tables: (&self.tables).into(),
            terms: (&self.terms).into(),
        }
    }
}
