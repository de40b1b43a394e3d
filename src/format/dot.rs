//! Pictures of small graphs, in the language of Graphviz.

use super::dictionary::Dictionary;
use super::output::Output;
use super::save::save;
use crate::error::{Error, Result};
use crate::model::FactorGraph;
use std::path::Path;

/// The most edges and the most variables of a graph that is drawn. `dot` lays out SmartFL's Chart-24 (4,110 edges) in 8 s,
/// and needs minutes for 3,067 edges of `generate smartfl`; nobody could read larger pictures.
pub const DOT_LIMIT: usize = 5_000;

/// Writes a graph as a picture for Graphviz (`dot -Tsvg`): an ellipse per variable with its label and its name, if it
/// has one, a box per factor with its kind and its number, and a line per edge, with an arrow to the head of a factor,
/// which stands to the right of the factor, and its other variables to the left.
///
/// Errors: a graph of more than [`DOT_LIMIT`] edges or variables.
pub fn write_dot(graph: &FactorGraph, names: &Dictionary, path: &Path) -> Result<()> {
    let (edges, variables) = (graph.edge_count(), graph.variable_count());
    if edges.max(variables) > DOT_LIMIT {
        return Err(Error::LimitExceeded(format!(
            "a picture of {edges} edges and {variables} variables: at most {DOT_LIMIT} of each are drawn, as larger pictures \
             take minutes and cannot be read; draw a part of the graph as a graph of its own, or let `fastlbp info` describe it"
        )));
    }
    save(path, &mut |output| fill(graph, names, output))
}

fn fill(graph: &FactorGraph, names: &Dictionary, output: &mut Output<'_>) -> Result<()> {
    output.text("graph fastlbp {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=10];\n");
    for (variable, &label) in graph.labels().iter().enumerate() {
        numbered("  v", variable as u64, output);
        output.text(" [label=\"");
        output.integer(label);
        if let Some(name) = names.name(variable) {
            output.text("\\n");
            escaped(name, output);
        }
        output.text("\"];");
        output.end_line()?;
    }
    for factor in 0..graph.factor_count() {
        numbered("  f", factor as u64, output);
        output.text(" [shape=box, label=\"");
        output.text(graph.kind(factor).name());
        numbered(" ", factor as u64, output);
        output.text("\"];");
        output.end_line()?;
        let head = graph.head_position(factor);
        for (position, &variable) in graph.factor_variables(factor).iter().enumerate() {
            // `dot` places the first one of an edge to the left of the second one.
            let mut ends = [("f", factor as u64), ("v", u64::from(variable))];
            if head.is_some_and(|head| head != position) {
                ends.reverse();
            }
            let [(first, number), (second, other)] = ends;
            output.text("  ");
            numbered(first, number, output);
            output.text(" -- ");
            numbered(second, other, output);
            output.text(if head == Some(position) { " [dir=forward];" } else { ";" });
            output.end_line()?;
        }
    }
    output.text("}");
    output.end_line()
}

fn numbered(before: &str, number: u64, output: &mut Output<'_>) {
    output.text(before);
    output.integer(number);
}

/// A name inside double quotes.
fn escaped(name: &str, output: &mut Output<'_>) {
    const SPECIAL: [char; 2] = ['"', '\\'];
    // Each part but the last one ends in one of these.
    for part in name.split_inclusive(SPECIAL) {
        let (text, special) = part.split_at(part.trim_end_matches(SPECIAL).len());
        output.text(text);
        if !special.is_empty() {
            output.text("\\");
            output.text(special);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::read_names;
    use crate::model::FactorGraphBuilder;

    fn text(graph: &FactorGraph, dictionary: &str) -> Result<String> {
        let directory = tempfile::tempdir().unwrap();
        let (names, path) = (directory.path().join("names"), directory.path().join("graph.dot"));
        std::fs::write(&names, dictionary).unwrap();
        write_dot(graph, &read_names(&names, graph).unwrap(), &path)?;
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn names_and_heads_are_shown() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(7, 0.5).unwrap();
        builder.add_and(3, &[7], 0.9, 0.0).unwrap();
        let graph = builder.build().unwrap();
        let wanted = "graph fastlbp {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=10];\n  \
                      v0 [label=\"3\\nsay \\\"\\\\hi\\\"\"];\n  v1 [label=\"7\"];\n  \
                      f0 [shape=box, label=\"prior 0\"];\n  f0 -- v1 [dir=forward];\n  \
                      f1 [shape=box, label=\"and 1\"];\n  f1 -- v0 [dir=forward];\n  v1 -- f1;\n}\n";
        assert_eq!(text(&graph, "3 say \"\\hi\"").unwrap(), wanted);
    }

    #[test]
    fn large_graphs_are_refused() {
        let priors = |count: usize| {
            let mut builder = FactorGraphBuilder::new();
            (0..count as u64).for_each(|label| builder.add_prior(label, 0.5).unwrap());
            builder.build().unwrap()
        };
        assert!(text(&priors(DOT_LIMIT), "").is_ok());
        let error = text(&priors(DOT_LIMIT + 1), "").unwrap_err().to_string();
        assert!(
            error.starts_with("a picture of 5001 edges and 5001 variables: at most 5000 of each"),
            "{error}"
        );
    }
}
