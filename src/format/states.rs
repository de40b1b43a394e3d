//! Joint states as text: a line `label state` per variable, or `name state` where variables have
//! names, as files of observations have them.

use super::named_graph::NamedGraph;
use super::names::Quoted;
use super::output::{Output, send_to};
use crate::error::{Error, Result};
use crate::model::check_variable;
use std::io::{self, Write};

/// Writes the states of a joint state, one state per variable, in lines that
/// [`super::read_observations`] takes: of all variables, or of some (by index) in the order given.
/// A name with blanks is in double quotes. Errors: a state or variable that the graph does not have.
pub fn write_states_to<'a>(
    graph: impl Into<NamedGraph<'a>>, states: &[usize], variables: Option<&[usize]>,
    sink: &mut dyn Write,
) -> io::Result<()> {
    let named = graph.into();
    send_to(sink, |output| {
        let graph = named.graph();
        if states.len() != graph.variable_count() {
            return Err(Error::InvalidArgument(format!(
                "{} states: the graph has {} variables, and needs one for each",
                states.len(),
                graph.variable_count()
            )));
        }
        match variables {
            Some(variables) => {
                variables.iter().try_for_each(|&v| write_line(named, states, v, output))
            }
            None => {
                (0..graph.variable_count()).try_for_each(|v| write_line(named, states, v, output))
            }
        }
    })
}

fn write_line(
    named: NamedGraph<'_>, states: &[usize], variable: usize, output: &mut Output<'_>,
) -> Result<()> {
    let graph = named.graph();
    check_variable(graph, variable)?;
    let state = states[variable];
    if state >= graph.cardinality(variable) {
        return Err(Error::OutOfRange(format!(
            "state {state} of variable {}: it has fewer states",
            named.describe(variable)
        )));
    }
    match named.names() {
        Some(names) => {
            output.quoted(Quoted(names.variable(variable)));
            output.text(" ");
            output.quoted(Quoted(names.state(variable, state)));
        }
        None => {
            output.integer(graph.label(variable));
            output.text(" ");
            output.integer(state as u64);
        }
    }
    output.end_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{GraphFormat, Network, read_network_from_bytes, read_observations};
    use crate::model::FactorGraphBuilder;
    use std::path::Path;

    #[test]
    fn lines_read_back_as_observations() {
        let bif = "network n {} variable wet grass { type discrete [2] { yes, very so }; }
            variable a { type discrete [3] { x, y, z }; }
            probability (a) { default 1 0 0; } probability (wet grass) { default 1 0; }";
        let network = read_network_from_bytes(bif.as_bytes(), Path::new("n"), GraphFormat::Bif);
        let Network { graph, names } = network.unwrap();
        let named = NamedGraph::new(&graph, names.as_ref()).unwrap();
        let mut text = Vec::new();
        write_states_to(named, &[1, 2], None, &mut text).unwrap();
        assert_eq!(text, b"\"wet grass\" \"very so\"\na z\n");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        assert_eq!(read_observations(file.path(), named).unwrap(), [(0, 1), (1, 2)]);
        text.clear();
        write_states_to(&graph, &[1, 2], Some(&[1, 1]), &mut text).unwrap();
        assert_eq!(text, b"1 2\n1 2\n");
    }

    #[test]
    fn what_the_graph_does_not_have() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(7, 0.5).unwrap();
        let graph = builder.build().unwrap();
        for (states, variables) in
            [(&[2][..], None), (&[0, 1], None), (&[], None), (&[0], Some(&[1][..]))]
        {
            let error = write_states_to(&graph, states, variables, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
