//! Shared by the formats of tables: limits of sizes, and conversion of other factors to tables.

use super::text::Cursor;
use crate::error::{Error, Result};
use crate::memory::{self, Grow, out_of_memory};
use crate::model::{FactorGraph, next_joint_state};

/// The most entries with which a factor of another kind is written as a table.
pub(super) const EXPANSION_LIMIT: usize = 1 << 26;

/// Most entries that all tables of a text of this size may have together; see
/// [`super::GraphFormat::Fg`].
pub(super) fn entry_limit(text_bytes: u64) -> u64 {
    (1 << 20) + text_bytes.saturating_mul(4)
}

/// Number of joint states, `None` if it does not fit.
pub(super) fn joint_states(mut cardinalities: impl Iterator<Item = usize>) -> Option<usize> {
    cardinalities.try_fold(1_usize, usize::checked_mul)
}

/// Makes a table of equal values, or an error where there is no memory for it.
pub(super) fn start_table(values: &mut Vec<f64>, length: usize, value: f64) -> Result<()> {
    values.clear();
    values
        .try_resize(length, value)
        .map_err(|_| out_of_memory(format_args!("a table of {length} entries")))
}

/// Checks that a table has a positive value, as every factor needs.
pub(super) fn check_not_all_zero(
    cursor: &Cursor<'_>, line: u64, factor: u64, values: &[f64],
) -> Result<()> {
    if values.iter().any(|&value| value > 0.0) {
        return Ok(());
    }
    Err(cursor.error_at(
        line,
        format!(
            "factor {factor}: all {} values of its table are zero: one must be positive",
            values.len()
        ),
    ))
}

/// Number of entries of a factor as a table. Errors: too many of them, or all of them zero.
pub(super) fn table_size(graph: &FactorGraph, factor: usize) -> Result<usize> {
    let view = graph.factor(factor);
    if let Some(values) = view.as_table() {
        return Ok(values.len());
    }
    if view.is_zero_everywhere(graph.arity(factor)) {
        return Err(Error::Unsupported(format!(
            "factor {factor} ({}) contradicts itself (its value is zero everywhere), and a table \
             needs a positive value; write .causal_fg instead",
            graph.kind(factor).name()
        )));
    }
    let size = graph.joint_states(factor);
    size.filter(|&size| size <= EXPANSION_LIMIT).ok_or_else(|| {
        Error::Unsupported(format!(
            "factor {factor} ({}) has {} variables: as a table it would have more than 2^26 entries; \
             only .causal_fg, which holds AND and OR factors, has no such limit",
            graph.kind(factor).name(),
            graph.arity(factor)
        ))
    })
}

/// Calls `visit` with the index and value of every entry of a factor as a table, in the graph's
/// order: the variable with the lowest label fastest.
pub(super) fn for_each_entry(
    graph: &FactorGraph, factor: usize, mut visit: impl FnMut(usize, f64) -> Result<()>,
) -> Result<()> {
    let view = graph.factor(factor);
    if let Some(values) = view.as_table() {
        return values.iter().enumerate().try_for_each(|(index, &value)| visit(index, value));
    }
    table_size(graph, factor)?;
    let cardinalities = memory::collected(graph.factor_cardinalities(factor))?;
    let mut states = memory::filled(cardinalities.len(), 0)?;
    for index in 0.. {
        // Sums of terms with weights of both signs may be rounded to below zero.
        let value = view.value(&states, cardinalities.iter().copied()).max(0.0);
        if !value.is_finite() || view.underflows(&states, value) {
            return Err(Error::Unsupported(format!(
                "factor {factor} ({}): its value at the joint state {index} (lowest label fastest) is \
                 beyond the range of f64, in which tables are written; scale its parameters",
                graph.kind(factor).name()
            )));
        }
        visit(index, value)?;
        if !next_joint_state(&mut states, &cardinalities) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn factors_become_tables_with_the_lowest_label_fastest() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(2, &[1], 0.75, 0.25).unwrap();
        builder.add_or(1, &[2], 1.0, 0.5).unwrap();
        builder.add_prior(1, 0.25).unwrap();
        builder.add_table(&[1], &[3.0, 4.0]).unwrap();
        let graph = builder.build().unwrap();
        for (factor, wanted) in [
            (0, vec![0.75, 0.25, 0.25, 0.75]),
            (1, vec![1.0, 0.0, 0.5, 0.5]),
            (2, vec![0.75, 0.25]),
            (3, vec![3.0, 4.0]),
        ] {
            let mut values = Vec::new();
            for_each_entry(&graph, factor, |index, value| {
                assert_eq!(index, values.len());
                values.push(value);
                Ok(())
            })
            .unwrap();
            assert_eq!(values, wanted);
        }
    }

    #[test]
    fn factors_that_no_table_can_hold_are_refused_by_name() {
        let mut builder = FactorGraphBuilder::new();
        let body: Vec<u64> = (1..27).collect();
        builder.add_and(0, &body[1..], 1.0, 0.0).unwrap();
        builder.add_and(0, &body, 1.0, 0.0).unwrap();
        builder.add_or(0, &(1..100).collect::<Vec<_>>(), 1.0, 0.0).unwrap();
        builder.add_and(0, &[0], 0.0, 1.0).unwrap();
        let graph = builder.build().unwrap();
        assert_eq!(table_size(&graph, 0).unwrap(), 1 << 26);
        assert!(table_size(&graph, 3).unwrap_err().to_string().contains("factor 3 (and)"));
        assert!(table_size(&graph, 1).unwrap_err().to_string().contains("factor 1 (and)"));
        assert!(table_size(&graph, 2).unwrap_err().to_string().contains("has 100 variables"));
    }
}
