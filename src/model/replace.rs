//! Tables with local structure, in the form that is cheaper to run.

use super::graph::{FactorGraph, all_conjunctions};
use crate::error::Result;
use crate::factor::{FactorKind, TermLiteral, words};
use crate::memory::{Grow, collected, copied, filled};

/// What a table turned out to be. A joint state has one state per variable, in the table's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TableStructure {
    /// No structure that would be cheaper than the table itself.
    Dense,
    /// One pair of values if all literals of the body hold, another one if any fails. All variables
    /// are binary. The values are entries of the table.
    Conjunction {
        /// Position of the head.
        head: usize,
        /// Whether the literal of a variable is x = 0 instead of x = 1; false for the head.
        negated: Vec<bool>,
        /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`. A head alone has an
        /// empty body, which holds; the last two values then repeat the first two.
        values: [f64; 4],
    },
    /// As `Conjunction`, but a literal holds with a probability that depends on its variable:
    /// f(h, x) = holds\[h\] * Q + fails\[h\] * (1 - Q), Q the product of the probabilities at x.
    /// Every entry of the table is reproduced up to a few roundings if 1 - Q is computed from the
    /// probabilities of failing.
    Noisy {
        /// Position of the head.
        head: usize,
        /// Per variable and state, the probabilities that the literal holds and that it fails, with
        /// the sum 1 up to rounding; `[[1, 0], [1, 0]]` for the head.
        literals: Vec<[[f64; 2]; 2]>,
        /// As in `Conjunction`.
        values: [f64; 4],
    },
    /// f(x) is the weight of the one term that holds at x, or 0 if none does.
    ///
    /// The terms are the leaves of a decision tree, depth first, and the literals of each go from
    /// the root to the leaf: no two terms hold at once, and neighbours share literals in front.
    Terms {
        /// Values of the terms, entries of the table, all positive.
        weights: Vec<f64>,
        /// Where the literals of each term start, and the end of the last one's.
        offsets: Vec<usize>,
        /// Position of a variable, and the state it must have; a term has at most one per variable.
        literals: Vec<(u32, u32)>,
    },
}

impl FactorGraph {
    /// The same graph, with the same edges, where each table is replaced by the structure that
    /// `recognise` finds in its values and cardinalities; `None` if it finds none in any.
    pub(crate) fn with_structures(
        &self, mut recognise: impl FnMut(&[f64], &[u32]) -> Result<TableStructure>,
    ) -> Result<Option<Self>> {
        let mut structures = Vec::new();
        let mut cardinalities = Vec::new();
        for factor in 0..self.factor_count() {
            if let Some(values) = self.factor(factor).as_table() {
                cardinalities.clear();
                cardinalities.try_extend(self.factor_cardinalities(factor).map(|r| r as u32))?;
                let structure = recognise(values, &cardinalities)?;
                if structure != TableStructure::Dense {
                    structures.try_push((factor, structure))?;
                }
            }
        }
        if structures.is_empty() {
            return Ok(None);
        }
        let mut replaced = filled(self.stores.tables.len(), false)?;
        for &(factor, _) in &structures {
            replaced[self.parameters[factor] as usize] = true;
        }
        let mut graph = Self {
            labels: copied(&self.labels)?,
            cardinalities: copied(&self.cardinalities)?,
            edges: self.edges.try_clone()?,
            kinds: copied(&self.kinds)?,
            heads: copied(&self.heads)?,
            parameters: copied(&self.parameters)?,
            stores: self.stores.copy_without_tables(&replaced)?,
            all_binary: self.all_binary,
            all_conjunctions: false,
            largest_arity: self.largest_arity,
        };
        graph.stores.signed.reopen()?;
        for (factor, structure) in structures {
            graph.replace(factor, structure)?;
        }
        graph.stores.finish();
        graph.all_conjunctions = all_conjunctions(&graph.kinds);
        Ok(Some(graph))
    }

    fn replace(&mut self, factor: usize, structure: TableStructure) -> Result<()> {
        let stores = &mut self.stores;
        let (kind, head, number) = match structure {
            TableStructure::Dense => return Ok(()),
            TableStructure::Conjunction { head, negated, values } => {
                let negated = negated.iter().enumerate().filter(|&(_, &negated)| negated);
                let negated = words(negated.map(|(position, _)| position))?;
                (FactorKind::Signed, head, stores.signed.intern(values, negated)?)
            }
            TableStructure::Noisy { head, literals, values } => {
                (FactorKind::Noisy, head, stores.noisy.push(values, &literals)?)
            }
            TableStructure::Terms { weights, offsets, literals } => {
                let literals = literals.into_iter();
                let mut literals: Vec<TermLiteral> =
                    collected(literals.map(|(position, state)| TermLiteral { position, state }))?;
                for term in offsets.windows(2) {
                    literals[term[0]..term[1]].sort_unstable_by_key(|literal| literal.position);
                }
                let terms = offsets.windows(2).map(|pair| &literals[pair[0]..pair[1]]);
                (FactorKind::Terms, 0, stores.terms.push(&weights, terms, true)?)
            }
        };
        self.kinds[factor] = kind;
        self.heads[factor] = head as u32;
        self.parameters[factor] = number;
        Ok(())
    }
}
