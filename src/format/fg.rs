//! `.fg`: libDAI's format of tables.
//!
//! The number of factors, then per factor: the number of its variables, their labels, their
//! cardinalities, the number of entries listed, and one `index value` pair per listed entry; the
//! others are zero, and the first variable varies fastest. Tokens are separated by spaces and line
//! ends; '#' starts a comment.

use super::output::Output;
use super::table::{
    EXPANSION_LIMIT, check_not_all_zero, entry_limit, for_each_entry, joint_states, start_table,
    table_size,
};
use super::text::Cursor;
use crate::error::{Error, Result};
use crate::memory::{self, Grow};
use crate::model::{FactorGraph, FactorGraphBuilder, Label, check_cardinality};
use std::collections::HashMap;
use std::path::Path;

/// Marks entries that no line has given yet. NaN is not a legal value.
const UNSET: f64 = f64::NAN;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<FactorGraphBuilder> {
    let mut reader = Reader {
        cursor: Cursor::new(path, bytes),
        builder: FactorGraphBuilder::new(),
        cardinalities: HashMap::new(),
        scope: Vec::new(),
        states: Vec::new(),
        sorted: Vec::new(),
        values: Vec::new(),
        entries: 0,
    };
    let count = reader.cursor.next_integer("the number of factors")?;
    for factor in 0..count {
        reader.factor(factor, count)?;
    }
    reader.cursor.expect_end(format_args!("the last of {count} factors"))?;
    Ok(reader.builder)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: FactorGraphBuilder,
    /// Cardinality of each label and the line that gave it first.
    cardinalities: HashMap<Label, (u64, u64)>,
    scope: Vec<Label>,
    /// Cardinalities of the scope.
    states: Vec<usize>,
    sorted: Vec<Label>,
    values: Vec<f64>,
    /// Entries of all tables so far.
    entries: u64,
}

impl Reader<'_> {
    fn factor(&mut self, factor: u64, count: u64) -> Result<()> {
        self.cursor.skip_space();
        if self.cursor.at_end() {
            return Err(self.cursor.error(format!(
                "the file ends after {factor} factors: its first number announces {count}"
            )));
        }
        let line = self.cursor.line();
        self.read_scope(factor)?;
        self.read_cardinalities(factor)?;
        self.read_table(factor)?;
        check_not_all_zero(&self.cursor, line, factor, &self.values)?;
        self.builder.add_table(&self.scope, &self.values)
    }

    fn read_scope(&mut self, factor: u64) -> Result<()> {
        let arity = self.cursor.next_integer("the number of a factor's variables")?;
        self.scope.clear();
        for _ in 0..arity {
            let label = self.cursor.next_integer("the label of a variable")?;
            self.scope.try_push(label)?;
        }
        self.sorted.clear();
        self.sorted.try_append(&self.scope)?;
        self.sorted.sort_unstable();
        match self.sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(self.cursor.error(format!(
                "factor {factor}: variable {} occurs twice among its variables: it may occur once",
                pair[0]
            ))),
        }
    }

    fn read_cardinalities(&mut self, factor: u64) -> Result<()> {
        self.states.clear();
        for position in 0..self.scope.len() {
            let label = self.scope[position];
            let states = self.cursor.next_integer("the cardinality of a variable")?;
            let line = self.cursor.line();
            let size = usize::try_from(states).unwrap_or(usize::MAX);
            check_cardinality(label, size).map_err(|error| self.cursor.error(error.to_string()))?;
            memory::entry_room(&mut self.cardinalities)?;
            let (known, first) = *self.cardinalities.entry(label).or_insert_with(|| (states, line));
            if known != states {
                return Err(self.cursor.error(format!(
                    "factor {factor}: variable {label} has cardinality {states}, but {known} in \
                     line {first}: all factors must agree"
                )));
            }
            if first == line {
                // The variable may be declared already, which is harmless.
                self.builder.add_variable(label, size)?;
            }
            self.states.try_push(size)?;
        }
        Ok(())
    }

    fn read_table(&mut self, factor: u64) -> Result<()> {
        let size = self.table_size(factor)?;
        let listed = self.cursor.next_integer("the number of listed entries")?;
        if listed > size as u64 {
            return Err(self
                .cursor
                .error(format!("factor {factor}: {listed} listed entries: its table has {size}")));
        }
        start_table(&mut self.values, size, UNSET)?;
        for _ in 0..listed {
            let index = self.cursor.next_integer("the index of an entry")?;
            let slot = match usize::try_from(index).ok().and_then(|i| self.values.get_mut(i)) {
                Some(slot) => slot,
                None => {
                    return Err(self.cursor.error(format!(
                        "factor {factor}: index {index}: its table of {size} entries ends with \
                         index {}",
                        size - 1
                    )));
                }
            };
            if !slot.is_nan() {
                return Err(self.cursor.error(format!(
                    "factor {factor}: index {index} for the second time: each may be listed once"
                )));
            }
            *slot = self.cursor.next_value("the value of an entry")?;
        }
        for value in &mut self.values {
            if value.is_nan() {
                *value = 0.0;
            }
        }
        Ok(())
    }

    /// Number of entries of the table, within what the file may describe.
    fn table_size(&mut self, factor: u64) -> Result<usize> {
        let limit = entry_limit(self.cursor.total() as u64);
        let size = joint_states(self.states.iter().copied());
        let fitting = size.filter(|&size| self.entries.saturating_add(size as u64) <= limit);
        let Some(size) = fitting else {
            let size = size.map_or_else(|| "more than 2^64".to_string(), |size| size.to_string());
            return Err(self.cursor.error(format!(
                "factor {factor}: its table has {size} entries, after {} in the tables before: a \
                 file of {} bytes may describe {limit} (2^20 and 4 per byte); list zeros to \
                 lengthen it",
                self.entries,
                self.cursor.total()
            )));
        };
        self.entries += size as u64;
        Ok(size)
    }
}

pub(super) fn write(graph: &FactorGraph, output: &mut Output<'_>) -> Result<()> {
    let isolated = || (0..graph.variable_count()).filter(|&variable| graph.degree(variable) == 0);
    if let Some(wide) = isolated().find(|&v| graph.cardinality(v) > EXPANSION_LIMIT) {
        return Err(Error::Unsupported(format!(
            "variable {} occurs in no factor and has {} states: the table of ones that would keep it \
             would have more than 2^26 entries; .uai holds it without one",
            graph.label(wide),
            graph.cardinality(wide)
        )));
    }
    output.integer((graph.factor_count() + isolated().count()) as u64);
    output.end_line()?;
    let mut entries = 0;
    for factor in 0..graph.factor_count() {
        let variables = graph.factor_variables(factor);
        write_scope(graph, variables.iter().map(|&variable| variable as usize), output)?;
        let size = table_size(graph, factor)? as u64;
        let mut nonzero = 0_u64;
        for_each_entry(graph, factor, |_, value| {
            nonzero += u64::from(is_listed(value));
            Ok(())
        })?;
        entries += size;
        // A listed entry has at least 4 bytes. If the limit of the reader would reject the table without its zeros,
        // they are listed.
        let dense = entries > entry_limit(output.length() + 4 * nonzero);
        output.integer(if dense { size } else { nonzero });
        output.end_line()?;
        for_each_entry(graph, factor, |index, value| {
            if dense || is_listed(value) { write_entry(index, value, output) } else { Ok(()) }
        })?;
    }
    for variable in isolated() {
        // A table of ones keeps the variable and changes nothing.
        write_scope(graph, std::iter::once(variable), output)?;
        let states = graph.cardinality(variable);
        output.integer(states as u64);
        output.end_line()?;
        (0..states).try_for_each(|index| write_entry(index, 1.0, output))?;
    }
    Ok(())
}

/// Whether an entry must be listed: everything but +0, for which absent entries stand.
fn is_listed(value: f64) -> bool {
    value.to_bits() != 0
}

fn write_scope(
    graph: &FactorGraph, variables: impl ExactSizeIterator<Item = usize> + Clone,
    output: &mut Output<'_>,
) -> Result<()> {
    output.end_line()?;
    output.integer(variables.len() as u64);
    output.end_line()?;
    output.integer_line(variables.clone().map(|variable| graph.label(variable)))?;
    output.integer_line(variables.map(|variable| graph.cardinality(variable) as u64))
}

fn write_entry(index: usize, value: f64, output: &mut Output<'_>) -> Result<()> {
    output.integer(index as u64);
    output.text(" ");
    output.float(value);
    output.end_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::assert_refused;
    use crate::format::{GraphFormat, write_graph_to_bytes};
    use crate::model::Factor;

    fn read(text: &[u8]) -> Result<FactorGraph> {
        parse(text, Path::new("g.fg"))?.build()
    }

    #[test]
    fn a_variable_of_billions_of_states_is_refused_without_writing_them() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variable(7, 1 << 31).unwrap();
        let graph = builder.build().unwrap();
        let error = write_graph_to_bytes(&graph, GraphFormat::Fg).unwrap_err().to_string();
        assert!(error.starts_with("variable 7 occurs in no factor and has 2147483648"), "{error}");
        assert!(write_graph_to_bytes(&graph, GraphFormat::Uai).is_ok());
    }

    #[test]
    fn tables_are_read_with_the_first_variable_fastest() {
        let text = "# c\n2\n\n2\n8 3\n2 3\n3\n# c\n0 1\n1 2\n4 0.5\n\n0\n\n\n1\n0 2.5\n";
        let graph = read(text.as_bytes()).unwrap();
        assert_eq!(graph.labels(), [3, 8]);
        assert_eq!(graph.cardinalities(), [3, 2]);
        // Listed: (x8, x3) = (0,0): 1, (1,0): 2, (0,2): 0.5; x3 fastest in the graph.
        assert_eq!(graph.factor(0), Factor::Table(&[1.0, 0.0, 0.5, 2.0, 0.0, 0.0]));
        assert_eq!(graph.factor(1), Factor::Table(&[2.5]));
        let written = String::from_utf8(write_graph_to_bytes(&graph, GraphFormat::Fg).unwrap());
        for same in [written.unwrap(), text.replace('\n', "\r\n"), text.replace('\n', " \n ")] {
            assert_eq!(read(same.as_bytes()).unwrap(), graph, "{same}");
        }
    }

    #[test]
    fn sparse_tables_that_would_not_be_read_again_are_written_in_full() {
        let mut builder = FactorGraphBuilder::new();
        for i in 0..3 {
            let label = 2 * i;
            builder.add_variables(&[label, label + 1], &[1000, 1000]).unwrap();
            let mut values = vec![0.0; 1_000_000];
            values[999_999] = 1.0;
            builder.add_table(&[label, label + 1], &values).unwrap();
        }
        let graph = builder.build().unwrap();
        let bytes = write_graph_to_bytes(&graph, GraphFormat::Fg).unwrap();
        assert!(bytes.len() > 1_000_000);
        assert!(read(&bytes).unwrap() == graph);
    }

    #[test]
    fn variables_without_factors_survive() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[4, 2], &[3, 2]).unwrap();
        builder.add_table(&[2], &[0.0, 1.0]).unwrap();
        let graph = builder.build().unwrap();
        let text = write_graph_to_bytes(&graph, GraphFormat::Fg).unwrap();
        let again = read(&text).unwrap();
        assert_eq!((again.labels(), again.cardinalities()), (graph.labels(), &[2, 3][..]));
        assert_eq!(again.factor(1), Factor::Table(&[1.0; 3]));
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
            ("", "1: the file ends where the number of factors is needed"),
            ("2\n\n1\n0\n2\n1\n0 1\n", "7: the file ends after 1 factors: its first number ann"),
            ("1\n1\n-4\n", "3: the label of a variable is '-4': it must not be negative"),
            ("1\n2\n4 4\n2 2\n", "3: factor 0: variable 4 occurs twice among its variables"),
            ("1\n1\n4\n0\n", "4: variable 4: cardinality 0: at least 1 state is needed"),
            ("1\n1\n4\n9999999999\n", "4: variable 4: cardinality 9999999999: at most 4294967295"),
            ("1\n1\n4\n2\n3\n", "5: factor 0: 3 listed entries: its table has 2"),
            ("1\n1\n4\n2\n1\n2 1\n", "6: factor 0: index 2: its table of 2 entries ends with in"),
            ("1\n1\n4\n2\n2\n1 1\n1 2\n", "7: factor 0: index 1 for the second time: each may be"),
            ("1\n1\n4\n2\n1\n1 -1\n", "6: the value of an entry is '-1': a finite number >= 0"),
            ("1\n1\n4\n2\n1\n1 1e400\n", "6: the value of an entry is '1e400': a finite number"),
            ("1\n1\n4\n2\n1\n1 nan\n", "6: the value of an entry is 'nan': a finite number >= 0"),
            ("1\n\n1\n4\n2\n0\n", "3: factor 0: all 2 values of its table are zero: one must be"),
            ("1\n1\n4\n2\n1\n1 1\n7", "7: '7' after the last of 1 factors: the file must end"),
            (
                "2\n1\n4\n2\n1\n0 1\n1\n4\n3\n1\n0 1\n",
                "9: factor 1: variable 4 has cardinality 3, but 2 in line 4: all factors must agree",
            ),
            ("1\n2\n4 5\n100000 100000\n", "4: factor 0: its table has 10000000000 entries"),
            ("1\n1\n4\n4294967295\n0\n", "4: factor 0: its table has 4294967295 entries, after 0"),
            (
                "1\n3\n4 5 6\n4294967295 4294967295 4294967295\n",
                "4: factor 0: its table has more than 2^64 entries",
            ),
            ("1\n99999999999\n4 5\n", "3: the file ends where the label of a variable is needed"),
        ];
        assert_refused("g.fg", |text| read(text.as_bytes()), &cases);
    }
}
