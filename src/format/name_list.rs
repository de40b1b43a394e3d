//! Names of variables, from whatever file has them.

use super::dictionary::{Dictionary, parse_dictionary};
use super::file::{self, suffix};
use super::marks::{Marked, parse_marked};
use super::named_graph::NamedGraph;
use super::queries::parse_queries;
use crate::error::Result;
use crate::memory::collected;
use crate::model::FactorGraph;
use std::path::Path;

/// Whether the suffix is that of a list of variables with a name and a mark each: `.alarms` or `.candidates`, also with
/// `.gz`.
fn is_called_list(path: &Path) -> bool {
    suffix(path).is_some_and(|suffix| suffix == "alarms" || suffix == "candidates")
}

/// The words of a line.
#[derive(Default)]
struct Words<'a> {
    count: usize,
    first: &'a [u8],
    second: &'a [u8],
    last: &'a [u8],
}

/// The words of each line of a text that is neither blank nor a comment; what is between double quotes is one word.
fn lines_of_words(bytes: &[u8]) -> impl Iterator<Item = Words<'_>> {
    let is_filled = |line: &&[u8]| !line.is_empty() && line[0] != b'#';
    bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(is_filled).map(|line| {
        let mut quoted = false;
        let is_between = |byte: &u8| {
            quoted ^= *byte == b'"';
            !quoted && byte.is_ascii_whitespace()
        };
        let mut words = Words::default();
        for word in line.split(is_between).filter(|word| !word.is_empty()) {
            match words.count {
                0 => words.first = word,
                1 => words.second = word,
                _ => {}
            }
            words.last = word;
            words.count += 1;
        }
        words
    })
}

/// Whether a text is a list of which each line has a name and a mark. Names in a table of two columns may have blanks, but
/// hardly all end so.
fn is_marked(bytes: &[u8]) -> bool {
    let mut lines = lines_of_words(bytes).peekable();
    let is_mark = |word: &[u8]| [&b"0"[..], b"1", b"false", b"true"].contains(&word);
    lines.peek().is_some()
        && lines
            .all(|words| words.count == 3 && is_mark(words.last) && !words.first.ends_with(b":"))
}

/// Reads names of variables from a list of alarms or candidates (`.alarms`, `.candidates`, or any file each line of which is
/// `VARIABLE NAME MARK`; see [`read_marked`](super::read_marked)), and from any other file as [`read_dictionary`](super::read_dictionary) does.
///
/// Errors: as those of both; a variable of a list that has two names.
pub fn read_names(path: &Path, graph: &FactorGraph) -> Result<Dictionary> {
    let bytes = file::load(path)?;
    if is_called_list(path) || is_marked(&bytes) {
        let listed = parse_marked(&bytes, path, graph, &Dictionary::default())?;
        return names_of_list(graph, &listed);
    }
    parse_dictionary(&bytes, path, graph)
}

/// The names in a list of variables.
fn names_of_list(graph: &FactorGraph, listed: &[Marked]) -> Result<Dictionary> {
    let mut names = Dictionary::of_variables(graph.variable_count())?;
    // (A variable occurs once.)
    for marked in listed {
        if let Some(name) = &marked.name {
            names.add(marked.variable, name)?;
        }
    }
    names.finish()
}

/// Which variables are asked for, as [`read_asked`] reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Their indices, in the order of the file.
    pub variables: Vec<usize>,
    /// The names in the file, if it is a list of alarms or candidates.
    pub names: Option<Dictionary>,
}

/// Reads which variables are asked for from a list of alarms or candidates (`.alarms`, `.candidates`, or any file that has
/// a line with a name behind the variable; see [`read_marked`](super::read_marked)), whose variables may be called by the
/// names of `names`, and from any other file as [`read_queries`](super::read_queries) does.
///
/// Errors: as those of both.
pub fn read_asked(path: &Path, graph: NamedGraph<'_>, names: &Dictionary) -> Result<Asked> {
    let bytes = file::load(path)?;
    // A number may be another variable, in the wrong line.
    let is_name = |word: &[u8]| word.iter().any(|byte| !byte.is_ascii_digit());
    if !is_called_list(path) && !lines_of_words(&bytes).any(|words| is_name(words.second)) {
        return Ok(Asked { variables: parse_queries(&bytes, path, graph)?, names: None });
    }
    let listed = parse_marked(&bytes, path, graph.graph(), names)?;
    let variables = collected(listed.iter().map(|marked| marked.variable))?;
    Ok(Asked { variables, names: Some(names_of_list(graph.graph(), &listed)?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn the_suffix_tells_the_format() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 3], &[2, 2, 2]).unwrap();
        let graph = builder.build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let read = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            let names = read_names(&path, &graph).unwrap();
            (0..3).map(|variable| names.name(variable).map(String::from)).collect::<Vec<_>>()
        };
        let wanted = [None, Some("race(1,2)".to_string()), Some("a b".into())];
        assert_eq!(read("a.alarms", "10 race(1,2) 0\n20 \"a b\"\n3 1\n10 race(1,2) 0"), wanted);
        assert_eq!(read("a.candidates", "10 race(1,2)\n20 \"a b\" 1"), wanted);
        assert_eq!(read("a.dict", "10: race(1,2)\n20: a b"), wanted);
        assert_eq!(read("names.txt", "10\trace(1,2)\n20\ta b\n"), wanted);
        // A text of which each line is a name and a mark is a list, whatever it is called.
        assert_eq!(read("names.txt", "# c\n10 race(1,2) 0\n20 \"a b\" true\n"), wanted);
        let with_blanks = [None, Some("race 0".to_string()), Some("a b".into())];
        assert_eq!(read("names.txt", "10 race 0\n20 a b\n"), with_blanks);
        assert_eq!(read("names.txt", "10: race 0\n20: a b\n"), with_blanks);
    }

    #[test]
    fn what_is_asked_for_may_be_a_list() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 3], &[2, 2, 2]).unwrap();
        let graph = builder.build().unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut ask = |text: &str| {
            file.as_file_mut().set_len(0).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            read_asked(file.path(), (&graph).into(), &Dictionary::default())
        };
        let plain = ask("20\n10 \n20\n").unwrap();
        assert_eq!(plain, Asked { variables: vec![2, 1, 2], names: None });
        let listed = ask("20 \"a b\" 1\n3\n").unwrap();
        assert_eq!(listed.variables, [2, 0]);
        assert_eq!(listed.names.unwrap().name(2), Some("a b"));
        assert!(ask("20 10\n").unwrap_err().to_string().contains("'10' after the variable"));
        assert!(ask("20 a b c\n").unwrap_err().to_string().contains("after the mark"));
    }
}
