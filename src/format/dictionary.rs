//! Names of variables beside a graph: the dictionaries that BINGO and other tools write.

use super::file;
use super::names::{Names, is_number};
use super::text::Cursor;
use crate::error::Result;
use crate::memory::{Grow, filled, out_of_memory, room};
use crate::model::FactorGraph;
use std::path::Path;

/// Names of some variables of a graph, by index. Several variables may share a name, as the clauses of BINGO do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    /// All names, one after the other.
    all: String,
    /// Where the name of each variable begins and ends; of an unnamed one nowhere. Empty without any name.
    spans: Vec<(usize, usize)>,
    /// The named variables, by name.
    sorted: Vec<u32>,
}

/// The variables with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// There is none.
    None,
    /// There is this one.
    One(usize),
    /// There are several, among them these two.
    Several(usize, usize),
}

impl Dictionary {
    /// The names of a graph whose file has them. Errors: no memory.
    pub fn from_names(names: &Names) -> Result<Self> {
        let count = names.variable_count();
        let mut dictionary = Self::of_variables(count)?;
        for variable in 0..count {
            dictionary.add(variable, names.variable(variable))?;
        }
        dictionary.finish()
    }

    /// Name of a variable (by index), if it has one.
    pub fn name(&self, variable: usize) -> Option<&str> {
        let &(start, end) = self.spans.get(variable)?;
        (start < end).then(|| &self.all[start..end])
    }

    /// The variable with a name. O(log variables).
    pub fn find(&self, name: &str) -> Named {
        let name_at = |position: usize| {
            let variable = *self.sorted.get(position)? as usize;
            (self.name(variable) == Some(name)).then_some(variable)
        };
        let first = self.sorted.partition_point(|&v| self.name(v as usize) < Some(name));
        match (name_at(first), name_at(first + 1)) {
            (Some(one), Some(other)) => Named::Several(one, other),
            (Some(one), None) => Named::One(one),
            (None, _) => Named::None,
        }
    }

    /// Without a name yet, for a graph of so many variables.
    pub(super) fn of_variables(count: usize) -> Result<Self> {
        Ok(Self { spans: filled(count, (0, 0))?, ..Self::default() })
    }

    /// Names a variable that has no name yet.
    pub(super) fn add(&mut self, variable: usize, name: &str) -> Result<()> {
        self.all.try_reserve(name.len()).map_err(|_| out_of_memory(format_args!("a name")))?;
        let start = self.all.len();
        self.all.push_str(name);
        self.spans[variable] = (start, self.all.len());
        Ok(())
    }

    /// Makes the names known to [`Self::find`].
    pub(super) fn finish(mut self) -> Result<Self> {
        let mut sorted = room(self.spans.len())?;
        sorted.try_extend(
            (0..self.spans.len() as u32).filter(|&v| self.name(v as usize).is_some()),
        )?;
        sorted.sort_unstable_by(|&a, &b| {
            self.name(a as usize).cmp(&self.name(b as usize)).then(a.cmp(&b))
        });
        self.sorted = sorted;
        Ok(self)
    }
}

/// Reads names of variables: a line `label: name` each, as in the `.dict` files of BINGO, or `label name`, as a table of
/// two columns has it. A name goes to the end of its line, and may be that of several variables. Blank lines and '#'
/// comments are allowed.
///
/// Errors name the line: a label that the graph does not have, or that has another name already.
pub fn read_dictionary(path: &Path, graph: &FactorGraph) -> Result<Dictionary> {
    parse_dictionary(&file::load(path)?, path, graph)
}

/// [`read_dictionary`] of a text.
pub(super) fn parse_dictionary(
    bytes: &[u8], path: &Path, graph: &FactorGraph,
) -> Result<Dictionary> {
    let mut cursor = Cursor::new(path, bytes);
    let mut dictionary = Dictionary::of_variables(graph.variable_count())?;
    while cursor.next_filled_line() {
        let (label, name) = read_line(&mut cursor)?;
        let Some(variable) = graph.variable_of_label(label) else {
            return Err(cursor.error(format!(
                "variable {label}: the graph has no such label; is it the dictionary of another graph?"
            )));
        };
        match dictionary.name(variable) {
            None => dictionary.add(variable, name)?,
            Some(known) if known == name => {}
            Some(known) => {
                return Err(cursor.error(format!(
                    "variable {label} is called '{name}', but '{known}' before: it can have one name only"
                )));
            }
        }
        cursor.skip_line();
    }
    dictionary.finish()
}

/// The label and the name of the line at the cursor, which stays on it.
fn read_line<'a>(cursor: &mut Cursor<'a>) -> Result<(u64, &'a str)> {
    let rest = cursor.rest();
    let line = &rest[..rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())];
    let line = std::str::from_utf8(line).map_err(|_| cursor.error("the line is not UTF-8"))?;
    const WANTED: &str = "a line `label: name` is needed";
    let end = line.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(line.len());
    let (label, rest) = line.split_at(end);
    let rest = rest.trim();
    let name = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    if name.is_empty() {
        return Err(cursor.error(format!("no name of a variable: {WANTED}")));
    }
    let label = label.parse().ok().filter(|_| is_number(label)).ok_or_else(|| {
        cursor.error(format!("what is before the name is not the label of a variable: {WANTED}"))
    })?;
    Ok((label, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    fn read(text: &str) -> Result<Dictionary> {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 3], &[2, 2, 2]).unwrap();
        parse_dictionary(text.as_bytes(), Path::new("d"), &builder.build().unwrap())
    }

    #[test]
    fn names_are_found_both_ways() {
        let dictionary =
            read("# names\n\n20: NOT a(1), b\r\n3:race(1,2)\n10: NOT a(1), b").unwrap();
        let names: Vec<_> = (0..4).map(|variable| dictionary.name(variable)).collect();
        assert_eq!(names, [Some("race(1,2)"), Some("NOT a(1), b"), Some("NOT a(1), b"), None]);
        assert_eq!(dictionary.find("race(1,2)"), Named::One(0));
        assert_eq!(dictionary.find("NOT a(1), b"), Named::Several(1, 2));
        assert_eq!(dictionary.find("a"), Named::None);
        assert_eq!(Dictionary::default().find(""), Named::None);
        assert_eq!(read("").unwrap().name(0), None);
        assert_eq!(read("3: a\n3: a\n").unwrap().find("a"), Named::One(0));
    }

    #[test]
    fn a_colon_may_be_left_out() {
        let dictionary = read("3 race(1,2)\n20\tNOT a:1, b\n10 : c").unwrap();
        let names: Vec<_> = (0..3).map(|variable| dictionary.name(variable)).collect();
        assert_eq!(names, [Some("race(1,2)"), Some("c"), Some("NOT a:1, b")]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, wanted) in [
            (
                "\n7: x",
                "d:2: variable 7: the graph has no such label; is it the dictionary of another graph?",
            ),
            (
                "3: a\n3: b",
                "d:2: variable 3 is called 'b', but 'a' before: it can have one name only",
            ),
            ("3", "d:1: no name of a variable: a line `label: name` is needed"),
            ("3:", "d:1: no name of a variable: a line `label: name` is needed"),
            (
                "+3: a",
                "d:1: what is before the name is not the label of a variable: a line `label: name` is needed",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), wanted);
        }
    }
}
