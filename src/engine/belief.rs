//! What follows from the messages to one factor: its belief, its share of the partition function, the
//! messages out of it. The same for every engine.

use crate::error::{Error, Result};
use crate::factor::{Scratch, Update};
use crate::kernel::{
    Arithmetic, EncodedMessage, ExtendedFloat, Inference, OwnedTable, TableInputs, TableScratch,
    TableValues, stored_values, table_belief, table_message, table_total,
};
use crate::memory::{collected, copied, filled};
use crate::model::FactorGraph;

/// Most entries of a table that stands in for a factor of another kind.
const EXPANSION_LIMIT: usize = 1 << 22;

/// The messages to one factor.
pub(crate) struct Inputs<'a> {
    graph: &'a FactorGraph,
    factor: usize,
    radices: Vec<u32>,
    /// Stored messages, one variable after the other.
    messages: Vec<EncodedMessage>,
    /// Where each variable's start.
    starts: Vec<usize>,
}

impl<'a> Inputs<'a> {
    /// From stored messages in the order of the factor's variables. Errors: no memory.
    pub(crate) fn new(
        graph: &'a FactorGraph, factor: usize, messages: Vec<EncodedMessage>,
    ) -> Result<Self> {
        let variables = graph.factor_variables(factor).iter();
        let radices: Vec<u32> = collected(variables.map(|&v| graph.cardinalities()[v as usize]))?;
        let mut next = 0;
        let start = |&radix: &u32| {
            let start = next;
            next += stored_values(radix);
            start
        };
        let starts = collected(radices.iter().map(start))?;
        Ok(Self { graph, factor, radices, messages, starts })
    }

    /// A copy.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            graph: self.graph,
            factor: self.factor,
            radices: copied(&self.radices)?,
            messages: copied(&self.messages)?,
            starts: copied(&self.starts)?,
        })
    }

    /// Weight of a state in the message from the variable at a position; see [`state_weight`].
    pub(crate) fn weight(&self, position: usize, state: usize) -> ExtendedFloat {
        let radix = self.radices[position];
        let start = self.starts[position];
        state_weight(&self.messages[start..start + stored_values(radix)], state)
    }

    /// Makes the message from the variable at a position one-hot.
    pub(crate) fn fix(&mut self, position: usize, state: usize) {
        let start = self.starts[position];
        if self.radices[position] == 2 {
            self.messages[start] =
                if state == 1 { EncodedMessage::INFINITY } else { EncodedMessage::ZERO };
            return;
        }
        for (x, weight) in
            self.messages[start..].iter_mut().take(self.radices[position] as usize).enumerate()
        {
            *weight = if x == state { EncodedMessage::ONE } else { EncodedMessage::ZERO };
        }
    }

    fn table<'b>(&'b self, values: TableValues<'b>) -> TableInputs<'b> {
        let exponents = values.exponents();
        TableInputs { values, exponents, radices: &self.radices, inputs: &self.messages }
    }

    /// The factor times its inputs, summed over all joint states. O(arity), or O(entries). Errors: no memory;
    /// a factor that runs as a table, with too many entries.
    pub(crate) fn total(&self) -> Result<ExtendedFloat> {
        let view = self.graph.factor(self.factor);
        if view.needs_table(Inference::SumProduct) {
            let values = table_values(self.graph, self.factor, Inference::SumProduct)?;
            return table_total(self.table(TableValues::ExtendedFloat(&values)));
        }
        view.total(&self.radices, &self.messages)
    }

    /// The factor's value at a joint state times the inputs' weights. O(arity).
    pub(crate) fn weight_of(&self, states: &[usize]) -> ExtendedFloat {
        let cardinalities = self.radices.iter().map(|&radix| radix as usize);
        let value = self.graph.factor(self.factor).extended_value(states, cardinalities);
        let weights = states.iter().enumerate().map(|(position, &x)| self.weight(position, x));
        weights.fold(value, ExtendedFloat::multiply)
    }

    /// The message to the variable at a position, whose own input is not used; `None` if it is 0/0.
    /// Errors: a factor that runs as a table, with too many entries.
    pub(crate) fn message(
        &self, position: usize, inference: Inference,
    ) -> Result<Option<Vec<EncodedMessage>>> {
        let mut out = filled(stored_values(self.radices[position]), EncodedMessage::ONE)?;
        let view = self.graph.factor(self.factor);
        let scratch = &mut Scratch::default();
        if view.needs_table(inference) {
            let values = expand(self.graph, self.factor, inference)?;
            let table = self.table(values.as_values());
            table_message(table, inference, position, &mut out, &mut scratch.tables)?;
        } else {
            let update = Update {
                radices: &self.radices,
                incoming: &mut copied(&self.messages)?,
                inference,
                target: Some(position),
                out: &mut out,
            };
            view.messages(update, scratch)?;
        }
        Ok((out[0] != EncodedMessage::CONTRADICTION).then_some(out))
    }

    /// The factor's belief: one probability per joint state, the first variable fastest. `false`, with
    /// `out` unchanged, if it is 0/0. O(entries * arity). Errors: no memory.
    pub(crate) fn belief(&self, out: &mut [f64]) -> Result<bool> {
        let view = self.graph.factor(self.factor);
        let scratch = &mut TableScratch::default();
        if let Some(values) = view.as_table() {
            return Ok(table_belief(self.table(TableValues::F64(values)), out, scratch)?);
        }
        let cardinalities: Vec<usize> = collected(self.graph.factor_cardinalities(self.factor))?;
        match view.all_values(&cardinalities, usize::MAX)? {
            Some(values) => {
                Ok(table_belief(self.table(TableValues::ExtendedFloat(&values)), out, scratch)?)
            }
            None => Ok(false),
        }
    }
}

/// Weight of a state in a stored message. The weights of a binary variable are 1 and the odds, or 0
/// and 1.
pub(crate) fn state_weight(message: &[EncodedMessage], state: usize) -> ExtendedFloat {
    match (message, state) {
        ([EncodedMessage::INFINITY], 0) => ExtendedFloat::ZERO,
        ([EncodedMessage::INFINITY], _) => ExtendedFloat::ONE,
        ([_], 0) => ExtendedFloat::ONE,
        ([odds], _) => odds.unpack(),
        _ => message[state].unpack(),
    }
}

/// The values of a factor that runs as a table. Errors: more than 2^22 entries.
fn table_values(
    graph: &FactorGraph, factor: usize, inference: Inference,
) -> Result<Vec<ExtendedFloat>> {
    let cardinalities: Vec<usize> = collected(graph.factor_cardinalities(factor))?;
    let values = graph.factor(factor).all_values(&cardinalities, EXPANSION_LIMIT)?;
    values.ok_or_else(|| {
        let (reason, way_out) = match inference {
            Inference::MaxProduct => {
                ("max-product needs it as a table", "; terms that exclude each other do without")
            }
            Inference::SumProduct => ("it runs as a table", ""),
        };
        Error::Unsupported(format!(
            "factor {factor} ({}): {reason}, and over {} variables that has more than \
             {EXPANSION_LIMIT} entries{way_out}",
            graph.kind(factor).name(),
            graph.arity(factor)
        ))
    })
}

/// The table that a factor runs as, where it needs one, up to a common factor, which no message has.
/// Errors: more than 2^22 entries.
pub(crate) fn expand(
    graph: &FactorGraph, factor: usize, inference: Inference,
) -> Result<OwnedTable> {
    OwnedTable::up_to_a_factor(table_values(graph, factor, inference)?)
}
