//! Ranks of edges: a custom update schedule as text.

use super::file;
use super::text::Cursor;
use crate::error::Result;
use crate::memory;
use crate::model::FactorGraph;
use std::path::Path;

/// Reads the ranks of all edges: lines `factor-position variable-label rank`, one per edge, in any
/// order; blank lines and '#' comments are allowed. The result is indexed by edge.
///
/// Errors name the line: an unknown factor or label, a variable that the factor does not have, an
/// edge given twice, and, at the end of the file, edges that are missing.
pub fn read_ranks(path: &Path, graph: &FactorGraph) -> Result<Vec<u64>> {
    parse(&file::load(path)?, path, graph)
}

fn parse(bytes: &[u8], path: &Path, graph: &FactorGraph) -> Result<Vec<u64>> {
    let mut cursor = Cursor::new(path, bytes);
    let mut ranks = memory::filled(graph.edge_count(), 0)?;
    // Line that gave the rank of each edge, 0 for none.
    let mut lines = memory::filled(graph.edge_count(), 0_u64)?;
    while cursor.next_filled_line() {
        let edge = read_edge(&mut cursor, graph)?;
        cursor.at_line_end();
        let rank = cursor.integer("the rank")?;
        if lines[edge] != 0 {
            return Err(cursor.error(format!(
                "factor {}, variable {}: the rank of this edge is already given in line {}: each \
                 edge needs one line",
                graph.edge_factors()[edge],
                graph.label(graph.edge_variables()[edge] as usize),
                lines[edge]
            )));
        }
        lines[edge] = cursor.line();
        ranks[edge] = rank;
        cursor.end_line("the rank")?;
    }
    if let Some(edge) = lines.iter().position(|&line| line == 0) {
        let missing = lines.iter().filter(|&&line| line == 0).count();
        return Err(cursor.error(format!(
            "the file ends without a rank for factor {}, variable {} ({missing} of {} edges have \
             none): each edge needs one line",
            graph.edge_factors()[edge],
            graph.label(graph.edge_variables()[edge] as usize),
            graph.edge_count()
        )));
    }
    Ok(ranks)
}

fn read_edge(cursor: &mut Cursor<'_>, graph: &FactorGraph) -> Result<usize> {
    let position = cursor.integer("the position of a factor")?;
    let factor = cursor.counted(position, "factor", "factors", graph.factor_count())?;
    cursor.at_line_end();
    let label = cursor.integer("the label of a variable")?;
    let variable = graph
        .variable_of_label(label)
        .ok_or_else(|| cursor.error(format!("variable {label}: the graph has no such label")))?;
    graph.edge(factor, variable).ok_or_else(|| {
        cursor.error(format!("factor {factor} has no variable {label}: an edge is needed"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::assert_refused;
    use crate::model::FactorGraphBuilder;

    /// Edges: (0, 5), (0, 9), (1, 9).
    fn graph() -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(9, &[5], 1.0, 0.5).unwrap();
        builder.add_prior(9, 0.5).unwrap();
        builder.build().unwrap()
    }

    fn read(text: &str) -> Result<Vec<u64>> {
        parse(text.as_bytes(), Path::new("r.ranks"), &graph())
    }

    #[test]
    fn ranks_come_in_any_order_and_are_indexed_by_edge() {
        assert_eq!(
            read("# c\n1 9 7\n\n 0 9 2 \r\n0 5 18446744073709551615").unwrap(),
            [u64::MAX, 2, 7]
        );
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
            ("2 9 1\n", "1: factor 2: the graph has 2 factors, counted from 0"),
            ("1 8 1\n", "1: variable 8: the graph has no such label"),
            ("1 5 1\n", "1: factor 1 has no variable 5: an edge is needed"),
            ("0 5 -1\n", "1: the rank is '-1': it must not be negative"),
            ("0 5\n", "1: the line ends where the rank is needed"),
            ("0 5 1 2\n", "1: '2' after the rank: the line must end there"),
            ("0 5 1\n\n0 5 1\n", "3: factor 0, variable 5: the rank of this edge is already given"),
            ("0 5 1\n1 9 1\n", "2: the file ends without a rank for factor 0, variable 9 (1 of 3"),
            ("", "1: the file ends without a rank for factor 0, variable 5 (3 of 3 edges"),
        ];
        assert_refused("r.ranks", read, &cases);
    }
}
