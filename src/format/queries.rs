//! Queries: the variables whose marginals are wanted.

use super::file;
use super::named_graph::{Mention, NamedGraph};
use super::text::Cursor;
use crate::error::Result;
use crate::memory::Grow;
use std::path::Path;

/// Reads which variables are asked for: a label or, where variables have names, a name per line (see
/// [`NamedGraph`]); blank lines and '#' comments are allowed. Returns their indices in the file's
/// order; a variable may occur more than once. One that the graph does not have is an error with its
/// line.
pub fn read_queries<'a>(path: &Path, graph: impl Into<NamedGraph<'a>>) -> Result<Vec<usize>> {
    parse_queries(&file::load(path)?, path, graph.into())
}

/// [`read_queries`] of a text.
pub(super) fn parse_queries(
    bytes: &[u8], path: &Path, graph: NamedGraph<'_>,
) -> Result<Vec<usize>> {
    let mut cursor = Cursor::new(path, bytes);
    let mut queries = Vec::new();
    while cursor.next_filled_line() {
        match graph.read_variable(&mut cursor)? {
            Mention::Known(variable) => queries.try_push(variable)?,
            Mention::Unknown(name) => {
                return Err(graph.unknown_variable(path, cursor.line(), &name));
            }
        }
        cursor.end_line("the variable")?;
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    fn read(text: &str) -> Result<Vec<usize>> {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[10, 20, 3], &[2, 2, 3]).unwrap();
        parse_queries(text.as_bytes(), Path::new("q"), (&builder.build().unwrap()).into())
    }

    #[test]
    fn variables_keep_the_order_of_the_file() {
        assert_eq!(read("20\r\n# c\n\n 3 \n20").unwrap(), [2, 0, 2]);
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        for (text, wanted) in [
            ("3\n\n7\n", "q:3: variable 7: the graph has no such label"),
            ("3 10\n", "q:1: '10' after the variable: the line must end there"),
            ("-3\n", "q:1: the label of a variable is '-3': it must not be negative"),
            (
                "x\n",
                "q:1: 'x' is not the label of a variable: an integer >= 0 in decimal is needed",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), wanted);
        }
    }
}
