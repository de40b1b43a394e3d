//! Names of variables, from whatever file has them.

use super::dictionary::{Dictionary, read_dictionary};
use super::file::suffix;
use super::marks::read_marked;
use crate::error::Result;
use crate::model::FactorGraph;
use std::path::Path;

/// Whether the suffix is that of a list of variables with a name and a mark each: `.alarms` or `.candidates`, also with
/// `.gz`.
pub fn is_list(path: &Path) -> bool {
    suffix(path).is_some_and(|suffix| suffix == "alarms" || suffix == "candidates")
}

/// Reads names of variables from a list of alarms or candidates (`.alarms`, `.candidates`, also with `.gz`; see
/// [`read_marked`]), and from any other file as [`read_dictionary`] does.
///
/// Errors: as those of both; a variable of a list that has two names.
pub fn read_names(path: &Path, graph: &FactorGraph) -> Result<Dictionary> {
    if !is_list(path) {
        return read_dictionary(path, graph);
    }
    let mut names = Dictionary::of_variables(graph.variable_count())?;
    // (A variable occurs once.)
    for marked in read_marked(path, graph, &Dictionary::default())? {
        if let Some(name) = &marked.name {
            names.add(marked.variable, name)?;
        }
    }
    names.finish()
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
    }
}
