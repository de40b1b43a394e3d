//! Evidence: `.obs` by label and `.evid` by variable index.
//!
//! `.obs` has a line `label value` per observed variable: 0, 1, true or false for a binary one, the
//! number of the state for others. `.evid` (or `.uai.evid`), the format of the UAI competitions,
//! has the number of observed variables and then `index state` pairs; older files put the number
//! of samples, 1, in front. Blank lines and '#' comments are allowed.

use super::file::{self, Output};
use super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::model::{FactorGraph, Label};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// Evidence from a file that may also name variables which the graph does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialEvidence {
    /// (variable index, state) in the file's order, each variable once.
    pub observed: Vec<(usize, usize)>,
    /// Label and line of each variable that the graph does not have, in the file's order.
    pub unknown: Vec<(Label, u64)>,
}

impl PartialEvidence {
    fn all_known(self, path: &Path) -> Result<Vec<(usize, usize)>> {
        match self.unknown.first() {
            None => Ok(self.observed),
            Some((label, line)) => Err(Error::parse(
                path,
                *line,
                format!("variable {label}: the graph has no such label"),
            )),
        }
    }
}

/// Reads evidence as (variable index, state) pairs in the file's order, each variable once. A file
/// named `.evid` is in the UAI competitions' format, any other one has observations by label; a
/// final `.gz` is set aside, and the content is then decompressed. A label that the graph does not
/// have is an error; see [`read_partial_evidence`].
pub fn read_evidence(path: &Path, graph: &FactorGraph) -> Result<Vec<(usize, usize)>> {
    read_partial_evidence(path, graph)?.all_known(path)
}

/// Reads evidence as [`read_evidence`] does, but sets aside observations by labels that the graph
/// does not have: SmartFL also observes values that no factor mentions. They can change no belief,
/// but may also be slips of the pen, so that they are worth a warning.
pub fn read_partial_evidence(path: &Path, graph: &FactorGraph) -> Result<PartialEvidence> {
    let bytes = file::load(path)?;
    if is_uai_evidence(path) {
        parse_uai_evidence(&bytes, path, graph)
    } else {
        parse_observations(&bytes, path, graph)
    }
}

/// Reads a file of `label value` lines, whatever its name; see [`read_evidence`].
pub fn read_observations(path: &Path, graph: &FactorGraph) -> Result<Vec<(usize, usize)>> {
    parse_observations(&file::load(path)?, path, graph)?.all_known(path)
}

/// Reads a file of `index state` pairs after their number, whatever its name; see
/// [`read_evidence`].
pub fn read_uai_evidence(path: &Path, graph: &FactorGraph) -> Result<Vec<(usize, usize)>> {
    parse_uai_evidence(&file::load(path)?, path, graph)?.all_known(path)
}

/// Writes evidence in the format that [`read_evidence`] takes from the same file name.
pub fn write_evidence(evidence: &[(usize, usize)], graph: &FactorGraph, path: &Path) -> Result<()> {
    if is_uai_evidence(path) {
        write_uai_evidence(evidence, graph, path)
    } else {
        write_observations(evidence, graph, path)
    }
}

/// Writes (variable index, state) pairs as `label value` lines.
pub fn write_observations(
    evidence: &[(usize, usize)],
    graph: &FactorGraph,
    path: &Path,
) -> Result<()> {
    check_evidence(evidence, graph)?;
    let label = |variable| graph.label(variable);
    file::save(path, |output| write_pairs(evidence, label, output))
}

/// Writes (variable index, state) pairs after their number.
pub fn write_uai_evidence(
    evidence: &[(usize, usize)],
    graph: &FactorGraph,
    path: &Path,
) -> Result<()> {
    check_evidence(evidence, graph)?;
    file::save(path, |output| {
        output.integer(evidence.len() as u64);
        output.end_line()?;
        write_pairs(evidence, |variable| variable as u64, output)
    })
}

fn is_uai_evidence(path: &Path) -> bool {
    let plain = if file::is_gzip(path) { path.with_extension("") } else { path.to_path_buf() };
    plain.extension().is_some_and(|extension| extension == "evid")
}

fn check_evidence(evidence: &[(usize, usize)], graph: &FactorGraph) -> Result<()> {
    for &(variable, state) in evidence {
        if variable >= graph.variable_count() {
            return Err(Error::OutOfRange(format!(
                "variable index {variable}: the graph has {} variables",
                graph.variable_count()
            )));
        }
        if state >= graph.cardinality(variable) {
            return Err(Error::OutOfRange(format!(
                "state {state} of variable {}: it has {} states",
                graph.label(variable),
                graph.cardinality(variable)
            )));
        }
    }
    Ok(())
}

fn write_pairs(
    evidence: &[(usize, usize)],
    name: impl Fn(usize) -> u64,
    output: &mut Output<'_>,
) -> Result<()> {
    for &(variable, state) in evidence {
        output.integer(name(variable));
        output.text(" ");
        output.integer(state as u64);
        output.end_line()?;
    }
    Ok(())
}

/// Evidence read so far.
#[derive(Default)]
struct Collected {
    evidence: PartialEvidence,
    /// State and line of the first mention, by label or index.
    known: HashMap<u64, (usize, u64)>,
}

impl Collected {
    /// Adds an observation; the same state again is fine, another one is an error.
    fn add(
        &mut self,
        cursor: &Cursor<'_>,
        name: u64,
        variable: Option<usize>,
        state: usize,
    ) -> Result<()> {
        let line = cursor.line();
        let (known, first) = match self.known.entry(name) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert((state, line));
                match variable {
                    Some(variable) => self.evidence.observed.push((variable, state)),
                    None => self.evidence.unknown.push((name, line)),
                }
                return Ok(());
            }
        };
        if known == state {
            return Ok(());
        }
        Err(cursor.error(format!(
            "variable {name} is observed in state {state}, but in state {known} in line {first}: \
             it can have one value only"
        )))
    }
}

fn parse_observations(bytes: &[u8], path: &Path, graph: &FactorGraph) -> Result<PartialEvidence> {
    let mut cursor = Cursor::new(path, bytes);
    let mut collected = Collected::default();
    while cursor.next_filled_line() {
        let label = cursor.integer("the label of a variable")?;
        let variable = graph.variable_of_label(label);
        cursor.at_line_end();
        let token = cursor.token();
        // What is not in the graph may have any number of states.
        let cardinality = variable.map(|variable| graph.cardinality(variable));
        let binary = cardinality.is_none_or(|cardinality| cardinality == 2);
        let state = match token {
            b"false" if binary => Some(0),
            b"true" if binary => Some(1),
            _ => parse_state(token, cardinality.unwrap_or(usize::MAX)),
        };
        let state = state.ok_or_else(|| {
            let wanted = match cardinality {
                None | Some(2) => "0, 1, false or true is".to_string(),
                Some(cardinality) => format!("a state from 0 to {} is", cardinality - 1),
            };
            let value = show(token);
            cursor.error(format!("variable {label} has the value {value}: {wanted} needed"))
        })?;
        collected.add(&cursor, label, variable, state)?;
        cursor.end_line("the value")?;
    }
    Ok(collected.evidence)
}

fn parse_state(token: &[u8], cardinality: usize) -> Option<usize> {
    if token.is_empty() || !token.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let state = std::str::from_utf8(token).ok()?.parse().ok()?;
    (state < cardinality).then_some(state)
}

fn parse_uai_evidence(bytes: &[u8], path: &Path, graph: &FactorGraph) -> Result<PartialEvidence> {
    let mut cursor = Cursor::new(path, bytes);
    let mut collected = Collected::default();
    // A count and pairs are an odd number of tokens; the older form has one in front.
    let mut count = cursor.next_integer("the number of observed variables")?;
    if count == 1 && count_tokens(cursor.clone()) % 2 == 1 {
        count = cursor.next_integer("the number of observed variables")?;
    }
    for position in 0..count {
        cursor.skip_space();
        if cursor.at_end() {
            return Err(cursor.error(format!(
                "the file ends after {position} 'index state' pairs: {count} are announced"
            )));
        }
        let index = cursor.next_integer("the index of a variable")?;
        let variable = usize::try_from(index).ok().filter(|&v| v < graph.variable_count());
        let variable = variable.ok_or_else(|| {
            cursor.error(format!(
                "variable index {index}: the graph has {} variables, counted from 0",
                graph.variable_count()
            ))
        })?;
        let token = cursor.next_token("the state of a variable")?;
        let cardinality = graph.cardinality(variable);
        let state = parse_state(token, cardinality).ok_or_else(|| {
            cursor.error(format!(
                "variable {index} has the state {}: one from 0 to {} is needed",
                show(token),
                cardinality - 1
            ))
        })?;
        collected.add(&cursor, index, Some(variable), state)?;
    }
    cursor.expect_end(&format!("the last of {count} 'index state' pairs"))?;
    Ok(collected.evidence)
}

fn count_tokens(mut cursor: Cursor<'_>) -> u64 {
    let mut count = 0;
    loop {
        cursor.skip_space();
        if cursor.token().is_empty() {
            return count;
        }
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    /// Labels 3 (3 states), 10 and 20 (binary).
    fn graph() -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 3], &[2, 2, 3]).unwrap();
        builder.build().unwrap()
    }

    fn observations(text: &str) -> Result<Vec<(usize, usize)>> {
        let path = Path::new("e.obs");
        parse_observations(text.as_bytes(), path, &graph())?.all_known(path)
    }

    fn uai(text: &str) -> Result<Vec<(usize, usize)>> {
        let path = Path::new("e.evid");
        parse_uai_evidence(text.as_bytes(), path, &graph())?.all_known(path)
    }

    #[test]
    fn observations_are_numbers_or_words() {
        let text = "# c\n\n20 true\n3 2 \n  10 false\r\n # c\n20 1\n10 0";
        assert_eq!(observations(text).unwrap(), [(2, 1), (0, 2), (1, 0)]);
        assert_eq!(observations("").unwrap(), []);
    }

    #[test]
    fn labels_that_the_graph_does_not_have_can_be_set_aside() {
        let read = |text: &str| parse_observations(text.as_bytes(), Path::new("e.obs"), &graph());
        let evidence = read("7 true\n10 1\n8 5\n7 1\n").unwrap();
        assert_eq!(evidence.observed, [(1, 1)]);
        assert_eq!(evidence.unknown, [(7, 1), (8, 3)]);
        assert!(read("7 1\n7 0\n").is_err());
        assert!(read("7 x\n").is_err());
    }

    #[test]
    fn both_forms_of_uai_evidence_are_read() {
        for text in ["2 0 2 2 1", "2\n0 2\n2 1\n", "1\n2 0 2 2 1\n", "# c\n1 2 0 2\r\n2 1"] {
            assert_eq!(uai(text).unwrap(), [(0, 2), (2, 1)], "{text:?}");
        }
        assert_eq!(uai("0").unwrap(), []);
        assert_eq!(uai("1 0").unwrap(), []);
        assert_eq!(uai("1 0 1").unwrap(), [(0, 1)]);
        assert_eq!(uai("1 1 0 1").unwrap(), [(0, 1)]);
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        for (text, wanted) in [
            ("\n7 1\n", "2: variable 7: the graph has no such label"),
            ("-7 1\n", "1: the label of a variable is '-7': it must not be negative"),
            ("10 2\n", "1: variable 10 has the value '2': 0, 1, false or true is needed"),
            ("10\n", "1: variable 10 has the value '': 0, 1, false or true is needed"),
            ("10 0.5\n", "1: variable 10 has the value '0.5': 0, 1, false or true is needed"),
            ("3 true\n", "1: variable 3 has the value 'true': a state from 0 to 2 is needed"),
            ("3 3\n", "1: variable 3 has the value '3': a state from 0 to 2 is needed"),
            ("10 +1\n", "1: variable 10 has the value '+1': 0, 1, false or true is needed"),
            ("10 1 1\n", "1: '1' after the value: the line must end there"),
            ("10 1\n3 0\n10 false", "3: variable 10 is observed in state 0, but in state 1 in l"),
        ] {
            let found = observations(text).unwrap_err().to_string();
            assert!(found.starts_with(&format!("e.obs:{wanted}")), "{text:?}: {found}");
        }
        for (text, wanted) in [
            ("", "1: the file ends where the number of observed variables is needed"),
            ("2 0 1\n", "1: the file ends after 1 'index state' pairs: 2 are announced"),
            ("1\n3 1 0\n", "2: the file ends after 1 'index state' pairs: 3 are announced"),
            ("1 3 1\n", "1: variable index 3: the graph has 3 variables, counted from 0"),
            ("1 0 3\n", "1: variable 0 has the state '3': one from 0 to 2 is needed"),
            ("1 0 -1\n", "1: variable 0 has the state '-1': one from 0 to 2 is needed"),
            ("2 0 1\n0 2\n", "2: variable 0 is observed in state 2, but in state 1 in line 1"),
            ("1 0 1\n0 2\n", "2: '0' after the last of 1 'index state' pairs: the file must end"),
            ("2 1 0 1\n", "1: the file ends where the state of a variable is needed"),
        ] {
            let found = uai(text).unwrap_err().to_string();
            assert!(found.starts_with(&format!("e.evid:{wanted}")), "{text:?}: {found}");
        }
    }

    #[test]
    fn evidence_is_written_as_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let evidence = [(2, 1), (0, 2)];
        for name in ["a.obs", "a.obs.gz", "a.evid", "a.uai.evid.gz"] {
            let path = directory.path().join(name);
            write_evidence(&evidence, &graph(), &path).unwrap();
            assert_eq!(read_evidence(&path, &graph()).unwrap(), evidence, "{name}");
        }
        let text = std::fs::read_to_string(directory.path().join("a.obs")).unwrap();
        assert_eq!(text, "20 1\n3 2\n");
        let path = directory.path().join("b.obs");
        assert!(matches!(
            write_evidence(&[(3, 0)], &graph(), &path),
            Err(Error::OutOfRange(text)) if text.contains("variable index 3")
        ));
        assert!(matches!(
            write_evidence(&[(0, 3)], &graph(), &path),
            Err(Error::OutOfRange(text)) if text.contains("state 3 of variable 3")
        ));
        assert!(!path.exists());
    }
}
