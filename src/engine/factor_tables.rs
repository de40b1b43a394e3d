//! Factors as tables, which their beliefs are made of: for the stop rule that looks at these.

use crate::error::{Error, Result};
use crate::kernel::{OwnedTable, TableValues};
use crate::memory::{self, Grow, collected, filled, room};
use crate::model::FactorGraph;
use std::collections::HashMap;
use std::ops::Range;

/// The most entries that the belief of a factor may have.
const ENTRY_LIMIT: usize = 1 << 20;

/// [`FactorTables::starts`]. O(edges).
fn starts_of_beliefs(graph: &FactorGraph) -> Result<Vec<usize>> {
    let mut starts = filled(1, 0_usize)?;
    starts.try_room(graph.factor_count())?;
    let mut next = 0_usize;
    for factor in 0..graph.factor_count() {
        let size = graph.joint_states(factor).filter(|&size| size <= ENTRY_LIMIT);
        next = size.and_then(|size| next.checked_add(size)).ok_or_else(|| {
            Error::LimitExceeded(format!(
                "factor {factor}: over {} variables its belief has more than {ENTRY_LIMIT} \
                 entries, too many for a stop rule that looks at the beliefs of factors; the one \
                 that looks at variables does not need them",
                graph.arity(factor)
            ))
        })?;
        starts.push(next);
    }
    Ok(starts)
}

/// The factors of a graph as tables. Conjunctions with the same parameters, head and number of variables have one together.
pub(super) struct FactorTables {
    /// Where the entries of each factor's belief start, all factors one after the other, and where the last one's end.
    starts: Vec<usize>,
    list: Vec<FactorTable>,
    /// For each factor the number of its table.
    numbers: Vec<u32>,
}

/// A table that some factors are.
struct FactorTable {
    /// `None` if the graph has it, for one factor.
    values: Option<OwnedTable>,
    /// [`TableValues::exponents`].
    exponents: (i64, i64),
}

/// Which conjunctions have the same table: the number of their parameters, that of their variables, and where the head is.
type Conjunction = (usize, usize, Option<usize>);

impl FactorTables {
    /// O(edges), and O(entries * arity) of all that are different. Errors: a belief with too many entries; no memory.
    pub(super) fn new(graph: &FactorGraph) -> Result<Self> {
        // Says which belief is too large, before its table is made.
        let starts = starts_of_beliefs(graph)?;
        let mut of_conjunctions: HashMap<Conjunction, u32> = HashMap::new();
        let mut tables = Self { starts, list: Vec::new(), numbers: room(graph.factor_count())? };
        for factor in 0..graph.factor_count() {
            let parameter = graph.conjunction_parameter(factor);
            let key = parameter.map(|p| (p, graph.arity(factor), graph.head_position(factor)));
            if let Some(&number) = key.and_then(|key| of_conjunctions.get(&key)) {
                tables.numbers.push(number);
                continue;
            }
            let number = tables.list.len() as u32;
            tables.list.try_push(FactorTable::new(graph, factor)?)?;
            tables.numbers.push(number);
            if let Some(key) = key {
                memory::insert(&mut of_conjunctions, key, number)?;
            }
        }
        Ok(tables)
    }

    /// The entries of a factor's belief among those of all factors.
    pub(super) fn entries(&self, factor: usize) -> Range<usize> {
        self.starts[factor]..self.starts[factor + 1]
    }

    /// The number of entries of all beliefs.
    pub(super) fn entry_count(&self) -> usize {
        self.starts[self.numbers.len()]
    }

    /// How many tables there are.
    #[cfg(cuda)]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The number of a factor's table.
    pub(super) fn number(&self, factor: usize) -> usize {
        self.numbers[factor] as usize
    }

    /// The values of a factor of this graph at its joint states, the first variable fastest, and their
    /// [`TableValues::exponents`].
    pub(super) fn of<'a>(
        &'a self, graph: &'a FactorGraph, factor: usize,
    ) -> (TableValues<'a>, (i64, i64)) {
        let FactorTable { values, exponents } = &self.list[self.number(factor)];
        let values = match values {
            Some(values) => values.as_values(),
            None => TableValues::F64(graph.factor(factor).as_table().unwrap_or_default()),
        };
        (values, *exponents)
    }
}

impl FactorTable {
    fn new(graph: &FactorGraph, factor: usize) -> Result<Self> {
        let view = graph.factor(factor);
        if let Some(values) = view.as_table() {
            return Ok(Self { values: None, exponents: TableValues::F64(values).exponents() });
        }
        let cardinalities: Vec<usize> = collected(graph.factor_cardinalities(factor))?;
        let values = view.all_values(&cardinalities, usize::MAX)?.unwrap_or_default();
        let values = OwnedTable::exact(values)?;
        Ok(Self { exponents: values.as_values().exponents(), values: Some(values) })
    }
}
