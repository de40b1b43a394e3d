//! `.uai`: tables over the variables 0 to n-1, in the format of the UAI competitions.
//!
//! `MARKOV` or `BAYES`, the number of variables, their cardinalities, the number of factors, per
//! factor the number of its variables and these, then per factor the number of its values and
//! these, the last variable varying fastest. Tokens are separated by spaces and line ends; '#'
//! starts a comment, and so does a line's first word `c`, as in the competition of 2016.

use super::output::Output;
use super::table::{
    check_not_all_zero, entry_limit, for_each_entry, joint_states, start_table, table_size,
};
use super::text::{Cursor, show};
use crate::error::Result;
use crate::memory::{self, Grow};
use crate::model::{FactorGraph, FactorGraphBuilder, Label, check_cardinality};
use std::path::Path;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<FactorGraphBuilder> {
    let mut cursor = Cursor::new(path, bytes).with_c_comments();
    let preamble = cursor.next_token("MARKOV or BAYES")?;
    // BAYES and MARKOV are read in the same way: a conditional probability table is a factor.
    if !matches!(preamble, b"MARKOV" | b"BAYES") {
        return Err(cursor.error(format!(
            "the network's type is {}: MARKOV or BAYES is needed",
            show(preamble)
        )));
    }
    let mut builder = FactorGraphBuilder::new();
    let cardinalities = read_cardinalities(&mut cursor, &mut builder)?;
    let scopes = read_scopes(&mut cursor, &cardinalities)?;
    let mut values = Vec::new();
    for factor in 0..scopes.offsets.len() - 1 {
        let scope = &scopes.members[scopes.offsets[factor]..scopes.offsets[factor + 1]];
        read_table(&mut cursor, &cardinalities, factor as u64, scope, &mut values)?;
        builder.add_table(scope, &values)?;
    }
    cursor.expect_end(format_args!(
        "the values of the last of {} factors",
        scopes.offsets.len() - 1
    ))?;
    Ok(builder)
}

fn read_cardinalities(
    cursor: &mut Cursor<'_>, builder: &mut FactorGraphBuilder,
) -> Result<Vec<usize>> {
    let count = cursor.next_integer("the number of variables")?;
    let mut cardinalities = Vec::new();
    let mut total = 0_u64;
    let limit = entry_limit(cursor.total() as u64);
    for label in 0..count {
        let states = cursor.next_integer("the cardinality of a variable")?;
        let states = usize::try_from(states).unwrap_or(usize::MAX);
        check_cardinality(label, states).map_err(|error| cursor.error(error.to_string()))?;
        // Limited, since a session allocates for every state, also of variables without factors.
        total = total.saturating_add(states as u64);
        if total > limit {
            return Err(cursor.error(format!(
                "variable {label}: cardinality {states} makes {total} states of all variables: a \
                 file of {} bytes may describe {limit} (2^20 and 4 per byte)",
                cursor.total()
            )));
        }
        builder.add_variable(label, states)?;
        cardinalities.try_push(states)?;
    }
    Ok(cardinalities)
}

/// The scopes of all factors, each in reverse order: in the file the last variable varies fastest, here the first.
struct Scopes {
    offsets: Vec<usize>,
    members: Vec<Label>,
}

fn read_scopes(cursor: &mut Cursor<'_>, cardinalities: &[usize]) -> Result<Scopes> {
    let count = cursor.next_integer("the number of factors")?;
    let mut scopes = Scopes { offsets: memory::filled(1, 0)?, members: Vec::new() };
    // Per variable, 1 + the index of the latest factor with the variable, to find variables that occur twice.
    let mut latest = memory::filled(cardinalities.len(), 0_u64)?;
    for factor in 0..count {
        let arity = cursor.next_integer("the number of a factor's variables")?;
        for _ in 0..arity {
            let variable = cursor.next_integer("the number of a variable")?;
            let slot = match usize::try_from(variable).ok().and_then(|v| latest.get_mut(v)) {
                Some(slot) => slot,
                None => {
                    return Err(cursor.error(format!(
                        "factor {factor}: variable {variable}: there are {} variables, counted \
                         from 0",
                        cardinalities.len()
                    )));
                }
            };
            if *slot == factor + 1 {
                return Err(cursor.error(format!(
                    "factor {factor}: variable {variable} occurs twice among its variables: it \
                     may occur once"
                )));
            }
            *slot = factor + 1;
            scopes.members.try_push(variable)?;
        }
        let start = scopes.offsets[scopes.offsets.len() - 1];
        scopes.members[start..].reverse();
        scopes.offsets.try_push(scopes.members.len())?;
    }
    Ok(scopes)
}

fn read_table(
    cursor: &mut Cursor<'_>, cardinalities: &[usize], factor: u64, scope: &[Label],
    values: &mut Vec<f64>,
) -> Result<()> {
    let size = cursor.next_integer("the number of a factor's values")?;
    let line = cursor.line();
    let states = joint_states(scope.iter().map(|&variable| cardinalities[variable as usize]));
    if states.is_none_or(|states| states as u64 != size) {
        let states = states.map_or_else(|| "more than 2^64".to_string(), |n| n.to_string());
        return Err(cursor.error(format!(
            "factor {factor}: {size} values: its {} variables have {states} joint states",
            scope.len()
        )));
    }
    // A value has at least two bytes: a digit and a space.
    let possible = cursor.remaining() / 2 + 1;
    let size = match usize::try_from(size) {
        Ok(size) if size <= possible => size,
        _ => {
            return Err(cursor.error(format!(
                "factor {factor}: {size} values are announced: the rest of the file has {} bytes, \
                 too few for them",
                cursor.remaining()
            )));
        }
    };
    start_table(values, size, 0.0)?;
    for value in values.iter_mut() {
        *value = cursor.next_value("a value of a factor")?;
    }
    check_not_all_zero(cursor, line, factor, values)
}

pub(super) fn write(graph: &FactorGraph, output: &mut Output<'_>) -> Result<()> {
    output.text("MARKOV\n");
    output.integer(graph.variable_count() as u64);
    output.end_line()?;
    output.integer_line(graph.cardinalities().iter().map(|&states| u64::from(states)))?;
    output.integer(graph.factor_count() as u64);
    output.end_line()?;
    for factor in 0..graph.factor_count() {
        // Descending, so that the format's order of values is the graph's.
        let variables = graph.factor_variables(factor).iter().rev();
        let arity = graph.arity(factor) as u64;
        output.integer_line(std::iter::once(arity).chain(variables.map(|&v| u64::from(v))))?;
    }
    for factor in 0..graph.factor_count() {
        output.end_line()?;
        output.integer(table_size(graph, factor)? as u64);
        output.end_line()?;
        for_each_entry(graph, factor, |_, value| {
            output.float(value);
            output.end_line()
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::assert_refused;
    use crate::format::{GraphFormat, write_graph_to_bytes};
    use crate::model::Factor;

    fn read(text: &[u8]) -> Result<FactorGraph> {
        parse(text, Path::new("g.uai"))?.build()
    }

    const SMALL: &str = "MARKOV\n3\n2 3 2\n2\n2 1 0\n0\n\n6\n 1 2 3\n 4 5 6\n\n1\n 0.5\n";

    #[test]
    fn tables_are_read_with_the_last_variable_fastest() {
        let graph = read(SMALL.as_bytes()).unwrap();
        assert_eq!(graph.cardinalities(), [2, 3, 2]);
        assert_eq!(graph.factor(0), Factor::Table(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let ascending = SMALL.replace("2 1 0", "2 0 1");
        let other = read(ascending.as_bytes()).unwrap();
        assert_eq!(other.factor(0), Factor::Table(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        let text = write_graph_to_bytes(&graph, GraphFormat::Uai).unwrap();
        assert_eq!(read(&text).unwrap(), graph);
        assert_eq!(read(SMALL.replace("MARKOV", "BAYES").as_bytes()).unwrap(), graph);
        assert_eq!(read(SMALL.replace('\n', "\r\n").as_bytes()).unwrap(), graph);
    }

    #[test]
    fn comments_are_skipped() {
        let text = format!("c\nc a comment\n# another\n{}", SMALL.replace("\n 4", "\nc 7\n 4"));
        assert_eq!(read(text.as_bytes()).unwrap(), read(SMALL.as_bytes()).unwrap());
        for (text, wanted) in [
            (" c a\nMARKOV", "g.uai:1: the network's type is 'c'"),
            ("cc\nMARKOV", "g.uai:1: the network's type is 'cc'"),
            ("MARKOV 1 c", "g.uai:1: 'c' is not the cardinality of a variable"),
        ] {
            let found = read(text.as_bytes()).unwrap_err().to_string();
            assert!(found.starts_with(wanted), "{text:?}: {found}");
        }
    }

    #[test]
    fn labels_become_ranks() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(70, &[30], 0.9, 0.2).unwrap();
        let graph = builder.build().unwrap();
        let again = read(&write_graph_to_bytes(&graph, GraphFormat::Uai).unwrap()).unwrap();
        assert_eq!(again.labels(), [0, 1]);
        assert_eq!(again.factor(0), Factor::Table(&[1.0 - 0.2, 1.0 - 0.9, 0.2, 0.9]));
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
            ("", "1: the file ends where MARKOV or BAYES is needed"),
            ("markov\n", "1: the network's type is 'markov': MARKOV or BAYES is needed"),
            ("MARKOV\n-1\n", "2: the number of variables is '-1': it must not be negative"),
            ("MARKOV\n99999999999\n2\n", "3: the file ends where the cardinality of a variable is"),
            ("MARKOV\n1\n0\n", "3: variable 0: cardinality 0: at least 1 state is needed"),
            ("MARKOV\n1\n2\n1\n1 1\n", "5: factor 0: variable 1: there are 1 variables, counted"),
            ("MARKOV\n1\n2\n1\n2 0 0\n", "5: factor 0: variable 0 occurs twice among its varia"),
            ("MARKOV\n1\n2\n1\n1 0\n3\n", "6: factor 0: 3 values: its 1 variables have 2 joint"),
            ("MARKOV\n1\n2\n1\n1 0\n2\n1 -1", "7: a value of a factor is '-1': a finite number"),
            ("MARKOV\n1\n2\n1\n1 0\n2\n0 0", "6: factor 0: all 2 values of its table are zero"),
            ("MARKOV\n1\n2\n1\n1 0\n2\n1 1 1", "7: '1' after the values of the last of 1 factors"),
            (
                "MARKOV\n1\n4294967295\n0\n",
                "3: variable 0: cardinality 4294967295 makes 4294967295",
            ),
            (
                "MARKOV\n2\n65536 65536\n1\n2 0 1\n4294967296\n1 2",
                "6: factor 0: 4294967296 values are announced: the rest of the file has 4 bytes",
            ),
        ];
        assert_refused("g.uai", |text| read(text.as_bytes()), &cases);
    }
}
