//! What follows from the messages to one factor: its belief, its share of the partition function, the
//! messages out of it. The same for every engine.

use crate::error::{Error, Result};
use crate::kernel::{
    HornCoefficients, HornScratch, Inference, NoisyCoefficients, OwnedTable, Packed, Real,
    TableInputs, TableScratch, TableValues, TermInputs, TermScratch, Wide, factor_value,
    factor_values, horn_message, horn_total, noisy_message, noisy_total, stored_values,
    table_belief, table_message, table_total, term_messages, term_total,
};
use crate::memory::{collected, copied, filled};
use crate::model::{Factor, FactorGraph};

/// Most entries of a table that stands in for a structured factor.
const EXPANSION_LIMIT: usize = 1 << 22;

/// The messages to one factor.
pub(crate) struct Inputs<'a> {
    graph: &'a FactorGraph,
    factor: usize,
    radices: Vec<u32>,
    /// Stored messages, one variable after the other.
    messages: Vec<Packed>,
    /// Where each variable's start.
    starts: Vec<usize>,
}

impl<'a> Inputs<'a> {
    /// From stored messages in the order of the factor's variables. Errors: no memory.
    pub(crate) fn new(
        graph: &'a FactorGraph,
        factor: usize,
        messages: Vec<Packed>,
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
    pub(crate) fn weight(&self, position: usize, state: usize) -> Wide {
        let radix = self.radices[position];
        let start = self.starts[position];
        state_weight(&self.messages[start..start + stored_values(radix)], state)
    }

    /// Makes the message from the variable at a position one-hot.
    pub(crate) fn fix(&mut self, position: usize, state: usize) {
        let start = self.starts[position];
        if self.radices[position] == 2 {
            self.messages[start] = if state == 1 { Packed::INFINITY } else { Packed::ZERO };
            return;
        }
        for (x, weight) in
            self.messages[start..].iter_mut().take(self.radices[position] as usize).enumerate()
        {
            *weight = if x == state { Packed::ONE } else { Packed::ZERO };
        }
    }

    fn table<'b>(&'b self, values: TableValues<'b>) -> TableInputs<'b> {
        let exponents = values.exponents();
        TableInputs { values, exponents, radices: &self.radices, inputs: &self.messages }
    }

    fn coefficients(&self) -> Result<Option<(usize, HornCoefficients)>> {
        let (Some(number), Some(head)) =
            (self.graph.conjunction_parameter(self.factor), self.graph.head_position(self.factor))
        else {
            return Ok(None);
        };
        let horn = self.graph.horn_parameters();
        let coefficients = match horn.get(number) {
            Some(parameters) => HornCoefficients::of_horn(parameters),
            None => {
                HornCoefficients::of_signed(&self.graph.signed_parameters()[number - horn.len()])?
            }
        };
        Ok(Some((head, coefficients)))
    }

    /// The factor times its inputs, summed over all joint states. O(arity), or O(entries). Errors: no memory.
    pub(crate) fn total(&self) -> Result<Wide> {
        if let Some((head, coefficients)) = self.coefficients()? {
            return Ok(horn_total(&self.messages, head, &coefficients));
        }
        match self.graph.factor(self.factor) {
            Factor::Noisy(noisy) => {
                Ok(noisy_total(&self.messages, noisy.head, &NoisyCoefficients::new(&noisy)))
            }
            Factor::Terms(terms) => {
                term_total(TermInputs { terms, radices: &self.radices, inputs: &self.messages })
            }
            Factor::Table(values) => table_total(self.table(TableValues::F64(values))),
            // The others are conjunctions.
            _ => Ok(Wide::ONE),
        }
    }

    /// The factor's value at a joint state times the inputs' weights. O(arity).
    pub(crate) fn weight_of(&self, states: &[usize]) -> Wide {
        let cardinalities = self.radices.iter().map(|&radix| radix as usize);
        let value = factor_value(&self.graph.factor(self.factor), states, cardinalities);
        let weights = states.iter().enumerate().map(|(position, &x)| self.weight(position, x));
        weights.fold(value, Wide::multiply)
    }

    /// The message to the variable at a position, whose own input is not used; `None` if it is 0/0.
    /// Errors: max-product over a factor that it needs as a table, with too many entries.
    pub(crate) fn message(
        &self,
        position: usize,
        inference: Inference,
    ) -> Result<Option<Vec<Packed>>> {
        let mut out = filled(stored_values(self.radices[position]), Packed::ONE)?;
        if let Some((head, c)) = self.coefficients()? {
            let mut inputs = copied(&self.messages)?;
            let scratch = &mut HornScratch::default();
            out[0] = horn_message(&mut inputs, head, position, &c, inference, scratch)?;
            return Ok((out[0] != Packed::CONTRADICTION).then_some(out));
        }
        let graph = self.graph;
        let scratch = &mut TableScratch::default();
        let view = graph.factor(self.factor);
        match view {
            Factor::Table(values) => {
                let table = self.table(TableValues::F64(values));
                table_message(table, inference, position, &mut out, scratch)?;
            }
            _ if needs_table(&view, inference) => {
                let values = expand(graph, self.factor)?;
                table_message(
                    self.table(values.as_values()),
                    inference,
                    position,
                    &mut out,
                    scratch,
                )?;
            }
            Factor::Terms(terms) => {
                let inputs = TermInputs { terms, radices: &self.radices, inputs: &self.messages };
                let scratch = &mut TermScratch::default();
                term_messages(inputs, inference, Some(position), &mut out, scratch)?;
            }
            Factor::Noisy(noisy) => {
                let mut inputs = copied(&self.messages)?;
                let c = NoisyCoefficients::new(&noisy);
                let scratch = &mut HornScratch::default();
                out[0] = noisy_message(&mut inputs, noisy.head, position, &c, scratch)?;
            }
            // The others are conjunctions.
            _ => {}
        }
        Ok((out[0] != Packed::CONTRADICTION).then_some(out))
    }

    /// The factor's belief: one probability per joint state, the first variable fastest. `false`, with
    /// `out` unchanged, if it is 0/0. O(entries * arity). Errors: no memory.
    pub(crate) fn belief(&self, out: &mut [f64]) -> Result<bool> {
        if let Factor::Table(values) = self.graph.factor(self.factor) {
            return table_belief(self.table(TableValues::F64(values)), out);
        }
        match factor_values(self.graph, self.factor, usize::MAX)? {
            Some(values) => table_belief(self.table(TableValues::Wide(&values)), out),
            None => Ok(false),
        }
    }
}

/// Weight of a state in a stored message. The weights of a binary variable are 1 and the odds, or 0
/// and 1.
pub(crate) fn state_weight(message: &[Packed], state: usize) -> Wide {
    match (message, state) {
        ([Packed::INFINITY], 0) => Wide::ZERO,
        ([Packed::INFINITY], _) => Wide::ONE,
        ([_], 0) => Wide::ONE,
        ([odds], _) => odds.unpack(),
        _ => message[state].unpack(),
    }
}

/// Whether the maxima of a factor do not follow from its structure, so that max-product needs it as a
/// table: a noisy conjunction, or terms that do not exclude each other.
pub(crate) fn needs_table(factor: &Factor<'_>, inference: Inference) -> bool {
    inference == Inference::MaxProduct
        && match factor {
            Factor::Noisy(_) => true,
            Factor::Terms(terms) => !terms.exclusive,
            _ => false,
        }
}

/// A structured factor as the table that max-product needs, up to a common factor, which no message has.
/// Errors: more than 2^22 entries.
pub(crate) fn expand(graph: &FactorGraph, factor: usize) -> Result<OwnedTable> {
    let values = factor_values(graph, factor, EXPANSION_LIMIT)?.ok_or_else(|| {
        Error::Unsupported(format!(
            "factor {factor} ({}): max-product needs it as a table, and over {} variables that has \
             more than {EXPANSION_LIMIT} entries; terms that exclude each other do without",
            graph.kind(factor).name(),
            graph.arity(factor)
        ))
    })?;
    OwnedTable::up_to_a_factor(values)
}
