//! Dense tables, the form that every kind can be brought into. Their messages are those of `kernel/table.rs`,
//! which engines also run for factors of other kinds that need a table.

use super::kind::{DeviceForm, Kind, NewFactor, Store, Update};
use super::{FactorKind, Scope, Stores};
use crate::error::{Error, Result};
use crate::kernel::{
    EncodedMessage, ExtendedFloat, Inference, TableInputs, TableScratch, TableValues,
    table_message, table_messages, table_total,
};
use crate::memory::{Grow, NoMemory, collected, copied, copied_lists, filled, room};

/// The values of all tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tables {
    /// Where each table's values start, and where the last one's end; of a builder without tables, nothing.
    offsets: Vec<usize>,
    values: Vec<f64>,
}

impl Tables {
    /// Number of tables in a graph, with those that were dropped.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn values(&self, number: usize) -> &[f64] {
        &self.values[self.offsets[number]..self.offsets[number + 1]]
    }

    fn push(&mut self, values: &[f64]) -> Result<u32> {
        super::extend_offsets(&mut self.offsets, 1)?;
        self.values.try_append(values)?;
        self.offsets.push(self.values.len());
        Ok((self.offsets.len() - 2) as u32)
    }
}

impl Store for Tables {
    const HAS_HEAD: bool = false;
    type Scratch = TableScratch;

    /// A copy: tables are brought into the graph's order where they are.
    fn begin(drafts: &Self) -> Result<Self> {
        let mut offsets = room(drafts.len() + 1)?;
        offsets.push(0);
        offsets.extend(drafts.offsets.iter().skip(1));
        Ok(Self { offsets, values: copied(&drafts.values)? })
    }

    fn assemble(&mut self, _drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32> {
        let Scope { factor, members, cardinalities, .. } = *scope;
        let range = self.offsets[number]..self.offsets[number + 1];
        let mut size = 1_usize;
        for &v in members {
            size = size.checked_mul(cardinalities[v as usize] as usize).ok_or_else(|| {
                Error::LimitExceeded(format!(
                    "factor {factor}: its table has more than 2^64 entries"
                ))
            })?;
        }
        if size != range.len() {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: the table has {} values: its {} variables have {size} joint states",
                range.len(),
                members.len()
            )));
        }
        let mut order: Vec<usize> = collected(0..members.len())?;
        order.sort_unstable_by_key(|&i| (members[i], i));
        if let Some(pair) = order.windows(2).find(|pair| members[pair[0]] == members[pair[1]]) {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: variable {} occurs twice in the table's scope: it may occur once",
                scope.labels[members[pair[0]] as usize]
            )));
        }
        if !order.is_sorted() {
            let radices: Vec<usize> =
                collected(members.iter().map(|&v| cardinalities[v as usize] as usize))?;
            permute(&mut self.values[range], &radices, &order)?;
        }
        Ok(number as u32)
    }

    fn restore(&mut self, graph: &Self, number: usize, _head: usize) -> Result<u32> {
        self.push(graph.values(number))
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(copied_lists!(self: offsets, values))
    }

    /// Numbers stay as they are: a table that is dropped has no values.
    fn copy_without_tables(&self, dropped: &[bool]) -> Result<Self> {
        let mut offsets = room(dropped.len() + 1)?;
        let mut values = Vec::new();
        offsets.push(0);
        for (number, &dropped) in dropped.iter().enumerate() {
            if !dropped {
                values.try_append(self.values(number))?;
            }
            offsets.push(values.len());
        }
        Ok(Self { offsets, values })
    }

    fn memory_bytes(&self) -> usize {
        8 * (self.offsets.capacity() + self.values.capacity())
    }
}

/// Reorders a table whose i-th variable has `radices[i]` states (first fastest), so that variable
/// `order[k]` becomes the k-th.
fn permute(values: &mut [f64], radices: &[usize], order: &[usize]) -> Result<()> {
    let mut strides = filled(radices.len(), 1)?;
    for i in 1..radices.len() {
        strides[i] = strides[i - 1] * radices[i - 1];
    }
    let source = copied(values)?;
    let mut states = filled(order.len(), 0)?;
    let mut from = 0;
    for value in values {
        *value = source[from];
        for (state, &i) in states.iter_mut().zip(order) {
            *state += 1;
            from += strides[i];
            if *state < radices[i] {
                break;
            }
            from -= strides[i] * radices[i];
            *state = 0;
        }
    }
    Ok(())
}

/// A dense table to be added, the first variable fastest.
pub(crate) struct NewTable<'a>(pub(crate) &'a [f64]);

impl NewFactor for NewTable<'_> {
    fn kind(&self) -> FactorKind {
        FactorKind::Table
    }

    fn check(&self, factor: usize, _members: usize) -> Result<()> {
        let mut positive = false;
        for (index, &value) in self.0.iter().enumerate() {
            if !value.is_finite() || value < 0.0 {
                return Err(Error::InvalidArgument(format!(
                    "factor {factor}: table value {value:?} at index {index}: \
                     a finite value >= 0 is needed"
                )));
            }
            positive |= value > 0.0;
        }
        if positive {
            return Ok(());
        }
        Err(Error::InvalidArgument(if self.0.is_empty() {
            format!("factor {factor}: the table has no values: one per joint state is needed")
        } else {
            format!(
                "factor {factor}: all {} table values are zero: one must be positive",
                self.0.len()
            )
        }))
    }

    fn push(&self, drafts: &mut Stores) -> Result<u32> {
        drafts.tables.push(self.0)
    }
}

fn inputs<'a>(
    values: &'a [f64], radices: &'a [u32], inputs: &'a [EncodedMessage],
) -> TableInputs<'a> {
    let values = TableValues::F64(values);
    TableInputs { values, exponents: values.exponents(), radices, inputs }
}

impl<'a> Kind<'a> for &'a [f64] {
    type Store = Tables;

    fn view(store: &'a Tables, number: usize, _head: usize) -> Self {
        store.values(number)
    }

    fn value(&self, states: &[usize], cardinalities: impl Iterator<Item = usize>) -> f64 {
        let mut index = 0;
        let mut stride = 1;
        for (&state, cardinality) in states.iter().zip(cardinalities) {
            index += state * stride;
            stride *= cardinality;
        }
        self[index]
    }

    /// `false`: it is one.
    fn needs_table(&self, _inference: Inference) -> bool {
        false
    }

    /// The engines do the same with exponents that they keep.
    fn messages(&self, update: Update<'_>, scratch: &mut TableScratch) -> Result<(), NoMemory> {
        let Update { radices, incoming, inference, out, .. } = update;
        let table = inputs(self, radices, incoming);
        match update.target {
            None => table_messages(table, inference, None, out, scratch),
            Some(target) => table_message(table, inference, target, out, scratch),
        }
    }

    fn total(&self, radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        table_total(inputs(self, radices, messages))
    }

    fn table_entries(&self, joint_states: Option<usize>) -> f64 {
        joint_states.map_or(f64::INFINITY, |count| count as f64)
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Table(self)
    }
}
