//! Lists of variables with a name and a mark each: alarms and their truth, answers, candidates.

use super::dictionary::{Dictionary, Named};
use super::file;
use super::names::{Quoted, is_number};
use super::text::{Cursor, show};
use crate::error::Result;
use crate::memory::{self, Grow, filled};
use crate::model::{FactorGraph, Label};
use std::path::Path;

/// A line of a list of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Index of the variable.
    pub variable: usize,
    /// Its name in the list, or else in the dictionary.
    pub name: Option<String>,
    /// What the list says of it: that an alarm is a true one or not, that a candidate is at fault or not.
    pub mark: Option<bool>,
    /// Its line.
    pub line: u64,
}

/// Reads a list of variables: a line `VARIABLE [NAME] [MARK]` each. VARIABLE is a label or, where the dictionary has
/// it, a name; MARK is 0, 1, false or true. Names with blanks are in double quotes. Blank lines and '#' comments are
/// allowed.
///
/// A variable that comes twice with the same mark counts once. Errors name the line: a variable that the graph does
/// not have, that has not two states, or that comes twice with different marks; a name that is not the one of the
/// dictionary, or that several variables have.
pub fn read_marked(path: &Path, graph: &FactorGraph, names: &Dictionary) -> Result<Vec<Marked>> {
    parse_marked(&file::load(path)?, path, graph, names)
}

/// The text for a variable (by index) in messages: its name, in quotes if need be, or its label.
pub fn describe_variable(graph: &FactorGraph, names: &Dictionary, variable: usize) -> String {
    match names.name(variable) {
        Some(name) => Quoted(name).to_string(),
        None => graph.label(variable).to_string(),
    }
}

/// Finds a variable by its name in a dictionary, or by its label. Errors: the text to say which variables there are.
pub fn find_variable(
    graph: &FactorGraph, names: &Dictionary, text: &str,
) -> std::result::Result<usize, String> {
    match names.find(text) {
        Named::One(variable) => return Ok(variable),
        Named::Several(one, other) => {
            return Err(format!(
                "variable {}: several variables have this name, among them those with the labels {} and {}; \
                 a label is needed",
                Quoted(text),
                graph.label(one),
                graph.label(other)
            ));
        }
        Named::None => {}
    }
    if !is_number(text) {
        return Err(format!(
            "variable {}: a label, or a name of the dictionary, is needed",
            show(text.as_bytes())
        ));
    }
    let variable = text.parse::<Label>().ok().and_then(|label| graph.variable_of_label(label));
    variable
        .ok_or_else(|| format!("variable {}: the graph has no such label", show(text.as_bytes())))
}

/// [`read_marked`] of a text.
pub(super) fn parse_marked(
    bytes: &[u8], path: &Path, graph: &FactorGraph, names: &Dictionary,
) -> Result<Vec<Marked>> {
    let mut cursor = Cursor::new(path, bytes);
    let mut list: Vec<Marked> = Vec::new();
    // Place of each variable in the list.
    let mut places = filled(graph.variable_count(), u32::MAX)?;
    while cursor.next_filled_line() {
        let entry = read_line(&mut cursor, graph, names)?;
        match list.get(places[entry.variable] as usize) {
            None => {
                places[entry.variable] = list.len() as u32;
                list.try_push(entry)?;
            }
            Some(first) if first.mark == entry.mark => {}
            Some(first) => {
                let told = |mark: Option<bool>| {
                    mark.map_or("without one", |mark| if mark { "1" } else { "0" })
                };
                return Err(cursor.error(format!(
                    "variable {} is marked {}, but {} in line {}: it can have one mark only",
                    describe_variable(graph, names, entry.variable),
                    told(entry.mark),
                    told(first.mark),
                    first.line
                )));
            }
        }
        cursor.skip_line();
    }
    Ok(list)
}

/// Reads the line at the cursor, which stays on it.
fn read_line(cursor: &mut Cursor<'_>, graph: &FactorGraph, names: &Dictionary) -> Result<Marked> {
    let line = cursor.line();
    let mut words = [""; 3];
    let mut count = 0;
    while !cursor.at_line_end() {
        let word = cursor.name()?;
        match words.get_mut(count) {
            Some(place) => *place = word,
            None => return Err(cursor.error(format!(
                "{} after the mark: the line must end there; a name with blanks is put in double quotes",
                show(word.as_bytes())
            ))),
        }
        count += 1;
        if count == 1 && is_dictionary_label(word) && matches!(names.find(word), Named::None) {
            return Err(cursor.error(format!(
                "{} begins a line of a dictionary: this must be a list, with lines VARIABLE [NAME] [0|1] such as '10 race(1,2) 1'",
                show(word.as_bytes())
            )));
        }
    }
    let variable = find_variable(graph, names, words[0]).map_err(|text| cursor.error(text))?;
    if graph.cardinality(variable) != 2 {
        return Err(cursor.error(format!(
            "variable {} has {} states: one with two, false and true, is needed",
            describe_variable(graph, names, variable),
            graph.cardinality(variable)
        )));
    }
    let mark = match words[count - 1] {
        "0" | "false" if count > 1 => Some(false),
        "1" | "true" if count > 1 => Some(true),
        other if count == 3 => {
            return Err(cursor.error(format!(
                "{} after the name: 0, 1, false or true is needed; a name with blanks is put in double quotes",
                show(other.as_bytes())
            )));
        }
        _ => None,
    };
    let known = names.name(variable);
    let name = match if mark.is_some() { count == 3 } else { count == 2 } {
        true => Some(words[1]),
        false => known,
    };
    if let (Some(name), Some(known)) = (name, known)
        && name != known
    {
        return Err(cursor.error(format!(
            "variable {} is called {} here and {} in the dictionary: the two must be of one graph",
            graph.label(variable),
            Quoted(name),
            Quoted(known)
        )));
    }
    Ok(Marked { variable, name: name.map(memory::text).transpose()?, mark, line })
}

/// Whether a word is `label:`, as the first one in a line of a dictionary.
fn is_dictionary_label(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::read_dictionary;
    use crate::model::FactorGraphBuilder;

    fn read(text: &str) -> Result<Vec<Marked>> {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 30, 3], &[2, 2, 2, 3]).unwrap();
        let graph = builder.build().unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, b"10: race(1,2)\n20: twice\n30: twice\n").unwrap();
        let names = read_dictionary(file.path(), &graph).unwrap();
        parse_marked(text.as_bytes(), Path::new("a"), &graph, &names)
    }

    #[test]
    fn names_and_marks_may_be_left_out() {
        let list = read("# alarms\n30 1\r\n\nrace(1,2) false\n20 twice\n10 race(1,2) 0").unwrap();
        let brief: Vec<_> =
            list.iter().map(|m| (m.variable, m.name.as_deref(), m.mark, m.line)).collect();
        assert_eq!(
            brief,
            [
                (3, Some("twice"), Some(true), 2),
                (1, Some("race(1,2)"), Some(false), 4),
                (2, Some("twice"), None, 5)
            ]
        );
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        for (text, wanted) in [
            ("\n7", "a:2: variable '7': the graph has no such label"),
            ("x 1", "a:1: variable 'x': a label, or a name of the dictionary, is needed"),
            (
                "twice 1",
                "a:1: variable twice: several variables have this name, among them those with the labels 20 and \
                 30; a label is needed",
            ),
            ("3 1", "a:1: variable 3 has 3 states: one with two, false and true, is needed"),
            (
                "10 1\n20 0\n10 0",
                "a:3: variable race(1,2) is marked 0, but 1 in line 1: it can have one mark only",
            ),
            (
                "10 other 1",
                "a:1: variable 10 is called other here and race(1,2) in the dictionary: the two must be of one graph",
            ),
            (
                "10 race(1,2) yes",
                "a:1: 'yes' after the name: 0, 1, false or true is needed; a name with blanks is put in double \
                 quotes",
            ),
            (
                "10: race(1,2), D7",
                "a:1: '10:' begins a line of a dictionary: this must be a list, with lines VARIABLE [NAME] [0|1] such as \
                 '10 race(1,2) 1'",
            ),
            (
                "10 a b 1",
                "a:1: '1' after the mark: the line must end there; a name with blanks is put in double quotes",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), wanted);
        }
    }
}
