//! Evidence: `.obs` by label and `.evid` by variable index.
//!
//! `.obs` has a line `label value` per observed variable: 0, 1, true or false for a binary one, the
//! number of the state for others. Where variables have names, it may have those (see
//! [`NamedGraph`]). `.evid` (or `.uai.evid`), the format of the UAI competitions, has the number of
//! observed variables and then `index state` pairs; older files have the number of samples in
//! front, and then one such list per sample. Blank lines and '#' comments are allowed.

use super::file;
use super::named_graph::{Mention, NamedGraph, parse_state};
use super::output::Output;
use super::save::save;
use super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::memory::{self, Grow};
use crate::model::FactorGraph;
use std::collections::HashMap;
use std::path::Path;

/// Evidence from a file, which may name variables that the graph does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialEvidence {
    /// (variable index, state) in the file's order, each variable once.
    pub observed: Vec<(usize, usize)>,
    /// Label or name, and line, of each variable that the graph does not have, in the file's order.
    pub unknown: Vec<(String, u64)>,
}

impl PartialEvidence {
    fn all_known(self, path: &Path, graph: NamedGraph<'_>) -> Result<Vec<(usize, usize)>> {
        match self.unknown.first() {
            None => Ok(self.observed),
            Some((name, line)) => Err(graph.unknown_variable(path, *line, name)),
        }
    }
}

/// Reads evidence as (variable index, state) pairs in the file's order, each variable once. A file
/// named `.evid` is in the UAI competitions' format, any other one has observations by label; a
/// final `.gz` is set aside, and the content is then decompressed. A label that the graph does not
/// have is an error; see [`read_partial_evidence`].
pub fn read_evidence<'a>(
    path: &Path, graph: impl Into<NamedGraph<'a>>,
) -> Result<Vec<(usize, usize)>> {
    let graph = graph.into();
    read_partial_evidence(path, graph)?.all_known(path, graph)
}

/// Reads evidence as [`read_evidence`] does, but sets aside observations of variables that the graph
/// does not have: SmartFL also observes values that no factor mentions. Such observations change no belief; as they
/// may be typing errors, callers should warn of them.
pub fn read_partial_evidence<'a>(
    path: &Path, graph: impl Into<NamedGraph<'a>>,
) -> Result<PartialEvidence> {
    let graph = graph.into();
    let bytes = file::load(path)?;
    if is_uai_evidence(path) {
        let observed = only_sample(parse_uai_samples(&bytes, path, graph.graph())?, path)?;
        Ok(PartialEvidence { observed, unknown: Vec::new() })
    } else {
        parse_observations(&bytes, path, graph)
    }
}

/// Reads a file of `label value` lines, whatever its name; see [`read_evidence`].
pub fn read_observations<'a>(
    path: &Path, graph: impl Into<NamedGraph<'a>>,
) -> Result<Vec<(usize, usize)>> {
    let graph = graph.into();
    parse_observations(&file::load(path)?, path, graph)?.all_known(path, graph)
}

/// Reads a file of `index state` pairs after their number, whatever its name; see
/// [`read_evidence`]. Several samples are an error: [`read_uai_evidence_samples`] gives them all.
pub fn read_uai_evidence(path: &Path, graph: &FactorGraph) -> Result<Vec<(usize, usize)>> {
    only_sample(read_uai_evidence_samples(path, graph)?, path)
}

/// Reads the samples of evidence of a file in the UAI competitions' format, whatever its name: as
/// (variable index, state) pairs. A file without the number of samples in front has one.
///
/// A file that could be read either way, such as `2 0 1 1 0`, is one sample, as in the competitions
/// since 2014.
pub fn read_uai_evidence_samples(
    path: &Path, graph: &FactorGraph,
) -> Result<Vec<Vec<(usize, usize)>>> {
    parse_uai_samples(&file::load(path)?, path, graph)
}

fn only_sample(mut samples: Vec<Vec<(usize, usize)>>, path: &Path) -> Result<Vec<(usize, usize)>> {
    match (samples.pop(), samples.len()) {
        (Some(sample), 0) => Ok(sample),
        (_, others) => {
            let message = format!("the file has {} samples: one is needed here", others + 1);
            Err(Error::parse(path, 1, message))
        }
    }
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
    evidence: &[(usize, usize)], graph: &FactorGraph, path: &Path,
) -> Result<()> {
    check_evidence(evidence, graph)?;
    let label = |variable| graph.label(variable);
    save(path, &mut |output| write_pairs(evidence, label, output))
}

/// Writes (variable index, state) pairs after their number.
pub fn write_uai_evidence(
    evidence: &[(usize, usize)], graph: &FactorGraph, path: &Path,
) -> Result<()> {
    check_evidence(evidence, graph)?;
    save(path, &mut |output| {
        output.integer(evidence.len() as u64);
        output.end_line()?;
        write_pairs(evidence, |variable| variable as u64, output)
    })
}

fn is_uai_evidence(path: &Path) -> bool {
    file::suffix(path).is_some_and(|suffix| suffix == "evid")
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
    evidence: &[(usize, usize)], name: impl Fn(usize) -> u64, output: &mut Output<'_>,
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
    /// State and line of the first mention.
    known: HashMap<Mention, (usize, u64)>,
}

/// A usual length of a line `label value`, in bytes.
const USUAL_LINE: usize = 8;

impl Collected {
    /// For a text of so many bytes.
    fn with_room(bytes: usize) -> Result<Self> {
        let mut collected = Self::default();
        memory::map_room(&mut collected.known, bytes / USUAL_LINE)?;
        Ok(collected)
    }

    /// Adds an observation; the same state again is fine, another one is an error, for which
    /// `describe` gives the names of the variable and of the two states.
    fn add(
        &mut self, cursor: &Cursor<'_>, mention: Mention, state: usize,
        describe: impl FnOnce(&Mention, [usize; 2]) -> (String, [String; 2]),
    ) -> Result<()> {
        let line = cursor.line();
        let Some(&(known, first)) = self.known.get(&mention) else {
            memory::insert(&mut self.known, mention.try_clone()?, (state, line))?;
            return match mention {
                Mention::Known(variable) => self.evidence.observed.try_push((variable, state)),
                Mention::Unknown(name) => self.evidence.unknown.try_push((name, line)),
            };
        };
        if known == state {
            return Ok(());
        }
        let (name, [state, known]) = describe(&mention, [state, known]);
        Err(cursor.error(format!(
            "variable {name} is observed in state {state}, but in state {known} in line {first}: \
             it can have one value only"
        )))
    }
}

fn parse_observations(bytes: &[u8], path: &Path, graph: NamedGraph<'_>) -> Result<PartialEvidence> {
    let mut cursor = Cursor::new(path, bytes);
    let mut collected = Collected::with_room(bytes.len())?;
    while cursor.next_filled_line() {
        let mention = graph.read_variable(&mut cursor)?;
        if cursor.at_line_end() && graph.names().is_some() {
            return Err(cursor.error("the line ends where the state of the variable is needed"));
        }
        let state = match &mention {
            Mention::Known(variable) => graph.read_state(&mut cursor, *variable)?,
            Mention::Unknown(name) => read_any_state(&mut cursor, graph, name)?,
        };
        collected.add(&cursor, mention, state, |mention, states| match mention {
            Mention::Known(v) => {
                (graph.describe(*v), states.map(|state| graph.describe_state(*v, state)))
            }
            Mention::Unknown(name) => (name.clone(), states.map(|state| state.to_string())),
        })?;
        cursor.end_line("the value")?;
    }
    Ok(collected.evidence)
}

/// Reads the state of a variable that the graph does not have. Its number of states and their names are unknown, so any
/// name or number is accepted.
fn read_any_state(cursor: &mut Cursor<'_>, graph: NamedGraph<'_>, variable: &str) -> Result<usize> {
    if graph.names().is_some() {
        return cursor.name().map(|_| 0);
    }
    let token = cursor.token();
    let state = match token {
        b"false" => Some(0),
        b"true" => Some(1),
        _ => parse_state(token, usize::MAX),
    };
    state.ok_or_else(|| {
        let value = show(token);
        let wanted = "0, 1, false or true is needed";
        cursor.error(format!("variable {variable} has the value {value}: {wanted}"))
    })
}

fn parse_uai_samples(
    bytes: &[u8], path: &Path, graph: &FactorGraph,
) -> Result<Vec<Vec<(usize, usize)>>> {
    let mut cursor = Cursor::new(path, bytes);
    let mut count = 1;
    if begins_with_samples(cursor.clone())? {
        count = cursor.next_integer("the number of samples")?;
    }
    let mut samples = Vec::new();
    for _ in 0..count {
        samples.try_push(parse_uai_sample(&mut cursor, graph)?)?;
    }
    let last = samples.last().map_or(0, Vec::len);
    cursor.expect_end(format_args!("the last of {last} 'index state' pairs"))?;
    Ok(samples)
}

/// Whether the first number of a text is that of its samples, and not that of the observed
/// variables of the only one.
fn begins_with_samples(mut cursor: Cursor<'_>) -> Result<bool> {
    let first = cursor.next_integer("the number of observed variables")?;
    let rest = count_tokens(cursor.clone());
    if first.checked_mul(2) == Some(rest) {
        return Ok(false);
    }
    // One sample, maybe with something wrong in it: a number and pairs make an odd number of tokens.
    if first == 1 && rest % 2 == 1 {
        return Ok(true);
    }
    for _ in 0..first {
        let Ok(pairs) = cursor.next_integer("the number of observed variables") else {
            return Ok(false);
        };
        for _ in 0..pairs.saturating_mul(2) {
            cursor.skip_space();
            if cursor.token().is_empty() {
                return Ok(false);
            }
        }
    }
    cursor.skip_space();
    Ok(cursor.at_end())
}

fn parse_uai_sample(cursor: &mut Cursor<'_>, graph: &FactorGraph) -> Result<Vec<(usize, usize)>> {
    let count = cursor.next_integer("the number of observed variables")?;
    let mut collected = Collected::default();
    for position in 0..count {
        cursor.skip_space();
        if cursor.at_end() {
            return Err(cursor.error(format!(
                "the file ends after {position} 'index state' pairs: {count} are announced"
            )));
        }
        let index = cursor.next_integer("the index of a variable")?;
        let variable =
            cursor.counted(index, "variable index", "variables", graph.variable_count())?;
        let token = cursor.next_token("the state of a variable")?;
        let cardinality = graph.cardinality(variable);
        let state = parse_state(token, cardinality).ok_or_else(|| {
            cursor.error(format!(
                "variable {index} has the state {}: one from 0 to {} is needed",
                show(token),
                cardinality - 1
            ))
        })?;
        collected.add(cursor, Mention::Known(variable), state, |_, states| {
            (index.to_string(), states.map(|state| state.to_string()))
        })?;
    }
    Ok(collected.evidence.observed)
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
    use crate::format::testing::{assert_refused, three_variables};
    use crate::format::{GraphFormat, Network};

    fn observations(text: &str) -> Result<Vec<(usize, usize)>> {
        let path = Path::new("e.obs");
        let graph = three_variables();
        parse_observations(text.as_bytes(), path, (&graph).into())?.all_known(path, (&graph).into())
    }

    fn uai(text: &str) -> Result<Vec<(usize, usize)>> {
        let path = Path::new("e.evid");
        only_sample(parse_uai_samples(text.as_bytes(), path, &three_variables())?, path)
    }

    #[test]
    fn observations_are_numbers_or_words() {
        let text = "# c\n\n20 true\n3 2 \n  10 false\r\n # c\n20 1\n10 0";
        assert_eq!(observations(text).unwrap(), [(2, 1), (0, 2), (1, 0)]);
        assert!(observations("").unwrap().is_empty());
    }

    #[test]
    fn labels_that_the_graph_does_not_have_can_be_set_aside() {
        let graph = three_variables();
        let read =
            |text: &str| parse_observations(text.as_bytes(), Path::new("e.obs"), (&graph).into());
        let evidence = read("7 true\n10 1\n8 5\n7 1\n").unwrap();
        assert_eq!(evidence.observed, [(1, 1)]);
        assert_eq!(evidence.unknown, [("7".to_string(), 1), ("8".to_string(), 3)]);
        assert!(read("7 1\n7 0\n").is_err());
        assert!(read("7 x\n").is_err());
    }

    #[test]
    fn variables_and_states_may_have_names() {
        let text = "network n {} variable rain { type discrete [2] { no, yes }; }
            variable wet grass { type discrete [3] { 3, 2, a bit }; }
            probability (rain) { default 0.5 0.5; }
            probability (wet grass) { default 0.5 0.5 0; }";
        let name = Path::new("n.bif");
        let network =
            crate::format::read_network_from_bytes(text.as_bytes(), name, GraphFormat::Bif);
        let Network { graph, names } = network.unwrap();
        let named = NamedGraph::new(&graph, names.as_ref()).unwrap();
        let read = |text: &str| parse_observations(text.as_bytes(), Path::new("e.obs"), named);
        let evidence = read("# c\nrain yes\n\"wet grass\" \"a bit\"\nsnow much\n").unwrap();
        assert_eq!(evidence.observed, [(0, 1), (1, 2)]);
        assert_eq!(evidence.unknown, [("snow".to_string(), 4)]);
        assert_eq!(read("0 1\n1 3\n1 \"3\"\n").unwrap().observed, [(0, 1), (1, 0)]);
        let cases = [
            ("rain maybe\n", "1: variable rain has the value 'maybe': one of no, yes is needed"),
            ("rain true\n", "1: variable rain has the value 'true': one of no, yes is needed"),
            ("1 0\n", "1: variable \"wet grass\" has the value '0': one of 3, 2, \"a bit\" is nee"),
            ("rain\n", "1: the line ends where the state of the variable is needed"),
            ("\n\"wet\n", "2: the line ends inside of quotes"),
            ("rain yes no\n", "1: 'no' after the value: the line must end there"),
            ("rain yes\n0 0\n", "2: variable rain is observed in state no, but in state yes in"),
        ];
        assert_refused("e.obs", read, &cases);
        let found = evidence.all_known(Path::new("e.obs"), named).unwrap_err().to_string();
        assert_eq!(found, "e.obs:4: variable snow: the graph has no such variable");
    }

    #[test]
    fn both_forms_of_uai_evidence_are_read() {
        for text in ["2 0 2 2 1", "2\n0 2\n2 1\n", "1\n2 0 2 2 1\n", "# c\n1 2 0 2\r\n2 1"] {
            assert_eq!(uai(text).unwrap(), [(0, 2), (2, 1)], "{text:?}");
        }
        assert!(uai("0").unwrap().is_empty());
        assert!(uai("1 0").unwrap().is_empty());
        assert_eq!(uai("1 0 1").unwrap(), [(0, 1)]);
        assert_eq!(uai("1 1 0 1").unwrap(), [(0, 1)]);
    }

    #[test]
    fn several_samples_are_read_where_they_are_asked_for() {
        let read = |text: &str| {
            parse_uai_samples(text.as_bytes(), Path::new("e.evid"), &three_variables())
        };
        let text = "3\n 1 0 2\n 0\n 2 1 0 2 1\n";
        assert_eq!(read(text).unwrap(), [vec![(0, 2)], vec![], vec![(1, 0), (2, 1)]]);
        assert_eq!(read("2\n1 0 1\n1 0 2").unwrap(), [[(0, 1)], [(0, 2)]]);
        // Ambiguous texts are one sample.
        assert_eq!(read("2 0 1 1 0").unwrap(), [[(0, 1), (1, 0)]]);
        assert_eq!(read("1 2 0 1 1 0").unwrap(), [[(0, 1), (1, 0)]]);
        assert_eq!(read("2 0 0").unwrap(), vec![Vec::new(); 2]);
        let error = uai(text).unwrap_err().to_string();
        assert_eq!(error, "e.evid:1: the file has 3 samples: one is needed here");
        let cases = [
            ("2\n1 0 3\n1 0 0\n", "2: variable 0 has the state '3'"),
            ("2\n1 0 1\n1 7 0", "3: variable index 7: the graph has 3 variables"),
            ("2\n2 0 1 0 2\n0", "2: variable 0 is observed in state 2, but in state 1 in line 2"),
            ("18446744073709551615 18446744073709551615", "1: variable index 18446744073709551615"),
        ];
        assert_refused("e.evid", read, &cases);
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
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
        ];
        assert_refused("e.obs", observations, &cases);
        let cases = [
            ("", "1: the file ends where the number of observed variables is needed"),
            ("2 0 1\n", "1: the file ends after 1 'index state' pairs: 2 are announced"),
            ("1\n3 1 0\n", "2: the file ends after 1 'index state' pairs: 3 are announced"),
            ("1 3 1\n", "1: variable index 3: the graph has 3 variables, counted from 0"),
            ("1 0 3\n", "1: variable 0 has the state '3': one from 0 to 2 is needed"),
            ("1 0 -1\n", "1: variable 0 has the state '-1': one from 0 to 2 is needed"),
            ("2 0 1\n0 2\n", "2: variable 0 is observed in state 2, but in state 1 in line 1"),
            ("1 0 1\n0 2\n", "2: '0' after the last of 1 'index state' pairs: the file must end"),
            ("2 1 0 1\n", "1: the file ends where the state of a variable is needed"),
        ];
        assert_refused("e.evid", uai, &cases);
    }

    #[test]
    fn evidence_is_written_as_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let evidence = [(2, 1), (0, 2)];
        for name in ["a.obs", "a.obs.gz", "a.evid", "a.uai.evid.gz"] {
            let path = directory.path().join(name);
            write_evidence(&evidence, &three_variables(), &path).unwrap();
            assert_eq!(read_evidence(&path, &three_variables()).unwrap(), evidence, "{name}");
        }
        let text = std::fs::read_to_string(directory.path().join("a.obs")).unwrap();
        assert_eq!(text, "20 1\n3 2\n");
        let path = directory.path().join("b.obs");
        assert!(matches!(
            write_evidence(&[(3, 0)], &three_variables(), &path),
            Err(Error::OutOfRange(text)) if text.contains("variable index 3")
        ));
        assert!(matches!(
            write_evidence(&[(0, 3)], &three_variables(), &path),
            Err(Error::OutOfRange(text)) if text.contains("state 3 of variable 3")
        ));
        assert!(!path.exists());
    }
}
