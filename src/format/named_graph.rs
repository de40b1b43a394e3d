//! References of files to variables and states of a graph: by name, label or number.

use super::names::{Names, Quoted, is_number};
use super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::memory::{self, out_of_memory};
use crate::model::{FactorGraph, Label};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A graph and the names of its variables, if it has names: the argument of functions that read or write something by
/// variable. `&graph` converts to one without names.
///
/// Where there are names, files may call a variable by its name or its label, and a state by its
/// name or number. Where a variable is named by a number, such as `17`, numbers are names throughout
/// the graph, and where a state is, throughout its variable: a number never means one thing by name
/// and another by position. A name with blanks, or with '#' or '"' at its start, is put in double
/// quotes.
#[derive(Clone, Copy, Debug)]
pub struct NamedGraph<'a> {
    graph: &'a FactorGraph,
    names: Option<&'a Names>,
}

impl<'a> NamedGraph<'a> {
    /// A graph with the names of its variables. O(variables).
    ///
    /// Errors: names for another number of variables, or of states of a variable.
    pub fn new(graph: &'a FactorGraph, names: Option<&'a Names>) -> Result<Self> {
        let Some(all) = names else { return Ok(graph.into()) };
        if all.variable_count() != graph.variable_count() {
            return Err(Error::InvalidArgument(format!(
                "names of {} variables: the graph has {}",
                all.variable_count(),
                graph.variable_count()
            )));
        }
        let wrong = |&v: &usize| all.states(v).len() != graph.cardinality(v);
        if let Some(variable) = (0..graph.variable_count()).find(wrong) {
            return Err(Error::InvalidArgument(format!(
                "names of {} states of variable {}: it has {}",
                all.states(variable).len(),
                graph.label(variable),
                graph.cardinality(variable)
            )));
        }
        Ok(Self { graph, names })
    }

    /// The graph.
    pub fn graph(&self) -> &'a FactorGraph {
        self.graph
    }

    /// The names of its variables, if they have some.
    pub fn names(&self) -> Option<&'a Names> {
        self.names
    }

    /// The text for a variable (by index) in files and errors: its name, in quotes if need be, or its
    /// label. Panics if there is no such variable.
    pub fn describe(&self, variable: usize) -> String {
        match self.names {
            Some(names) => Quoted(names.variable(variable)).to_string(),
            None => self.graph.label(variable).to_string(),
        }
    }

    /// Reads the variable at the cursor: its label, or its name where there are names.
    pub(super) fn read_variable(&self, cursor: &mut Cursor<'_>) -> Result<Mention> {
        if self.names.is_none() {
            let label = cursor.integer("the label of a variable")?;
            return Ok(match self.graph.variable_of_label(label) {
                Some(variable) => Mention::Known(variable),
                // The limit matters, as there may be many such variables.
                None => Mention::unknown(format_args!("{label}"), 20)?,
            });
        }
        let name = cursor.name()?;
        Ok(match self.find_variable(name) {
            Some(variable) => Mention::Known(variable),
            None => Mention::unknown(format_args!("{}", Quoted(name)), name.len() + 2)?,
        })
    }

    /// The error for a variable that the graph does not have.
    #[cold]
    pub(super) fn unknown_variable(&self, path: &Path, line: u64, name: &str) -> Error {
        let what = if self.names.is_some() { "variable" } else { "label" };
        Error::parse(path, line, format!("variable {name}: the graph has no such {what}"))
    }

    /// Reads the state of a variable at the cursor, and moves past it.
    pub(super) fn read_state(&self, cursor: &mut Cursor<'_>, variable: usize) -> Result<usize> {
        let cardinality = self.graph.cardinality(variable);
        let Some(names) = self.names else {
            let token = cursor.token();
            let state = match token {
                b"false" if cardinality == 2 => Some(0),
                b"true" if cardinality == 2 => Some(1),
                _ => parse_state(token, cardinality),
            };
            return state.ok_or_else(|| {
                let wanted = match cardinality {
                    2 => "0, 1, false or true is".to_string(),
                    _ => format!("a state from 0 to {} is", cardinality - 1),
                };
                self.wrong_value(cursor, variable, token, &wanted)
            });
        };
        let name = cursor.name()?;
        self.find_state(variable, name).ok_or_else(|| {
            const SHOWN: usize = 12;
            let known = names.states(variable).take(SHOWN).map(|name| Quoted(name).to_string());
            let rest = if cardinality > SHOWN { ", ..." } else { "" };
            let wanted = format!("one of {}{rest} is", known.collect::<Vec<_>>().join(", "));
            self.wrong_value(cursor, variable, name.as_bytes(), &wanted)
        })
    }

    #[cold]
    fn wrong_value(
        &self, cursor: &Cursor<'_>, variable: usize, value: &[u8], wanted: &str,
    ) -> Error {
        let (variable, value) = (self.describe(variable), show(value));
        cursor.error(format!("variable {variable} has the value {value}: {wanted} needed"))
    }

    /// The text for a state of a variable (by index) in errors.
    pub(super) fn describe_state(&self, variable: usize, state: usize) -> String {
        match self.names {
            Some(names) => Quoted(names.state(variable, state)).to_string(),
            None => state.to_string(),
        }
    }

    /// The variable that a text names, or its label.
    fn find_variable(&self, text: &str) -> Option<usize> {
        if let Some(names) = self.names {
            let named = names.find_variable(text);
            if named.is_some() || names.number_variables() {
                return named;
            }
        }
        if !is_number(text) {
            return None;
        }
        self.graph.variable_of_label(text.parse::<Label>().ok()?)
    }

    /// The state that a text names, or its number.
    fn find_state(&self, variable: usize, text: &str) -> Option<usize> {
        if let Some(names) = self.names {
            let named = names.find_state(variable, text);
            if named.is_some() || names.number_states(variable) {
                return named;
            }
        }
        parse_state(text.as_bytes(), self.graph.cardinality(variable))
    }
}

impl<'a> From<&'a FactorGraph> for NamedGraph<'a> {
    fn from(graph: &'a FactorGraph) -> Self {
        Self { graph, names: None }
    }
}

impl<'a> From<&'a Arc<FactorGraph>> for NamedGraph<'a> {
    fn from(graph: &'a Arc<FactorGraph>) -> Self {
        graph.as_ref().into()
    }
}

/// A variable in a file that refers to a graph.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Mention {
    /// The index of the variable.
    Known(usize),
    /// The graph has no such variable; this is the file's text for it.
    Unknown(String),
}

impl Mention {
    /// A variable that the graph does not have, with at most so many bytes of text.
    fn unknown(name: fmt::Arguments<'_>, length: usize) -> Result<Self> {
        let mut text = memory::text("")?;
        text.try_reserve_exact(length).map_err(|_| out_of_memory(name))?;
        // Writing to a `String` does not fail.
        let _ = fmt::write(&mut text, name);
        Ok(Mention::Unknown(text))
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Mention::Known(variable) => Mention::Known(*variable),
            Mention::Unknown(name) => Mention::Unknown(memory::text(name)?),
        })
    }
}

/// A state by its number, below `cardinality`.
pub(super) fn parse_state(text: &[u8], cardinality: usize) -> Option<usize> {
    let text = std::str::from_utf8(text).ok().filter(|text| is_number(text))?;
    text.parse().ok().filter(|&state| state < cardinality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    fn graph(cardinalities: &[usize]) -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        for (label, &cardinality) in (0..).zip(cardinalities) {
            builder.add_variable(label, cardinality).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn numbers_are_names_where_there_are_such_names() {
        let graph = graph(&[2, 3]);
        let plain = Names::of(&[("a", &["no", "yes"]), ("b", &["3", "2", "1"])]);
        let named = NamedGraph::new(&graph, Some(&plain)).unwrap();
        assert_eq!(named.find_variable("b"), Some(1));
        assert_eq!((named.find_variable("1"), named.find_variable("2")), (Some(1), None));
        assert_eq!((named.find_state(0, "yes"), named.find_state(0, "1")), (Some(1), Some(1)));
        assert_eq!((named.find_state(1, "3"), named.find_state(1, "0")), (Some(0), None));
        let numbered = Names::of(&[("1", &["no", "yes"]), ("b", &["x", "y", "z"])]);
        let named = NamedGraph::new(&graph, Some(&numbered)).unwrap();
        assert_eq!((named.find_variable("1"), named.find_variable("0")), (Some(0), None));
        let named = NamedGraph::from(&graph);
        assert_eq!((named.find_variable("1"), named.find_variable("b")), (Some(1), None));
        assert_eq!((named.find_state(1, "2"), named.find_state(1, "3")), (Some(2), None));
        assert_eq!(named.describe(1), "1");
    }

    #[test]
    fn names_of_another_graph_are_refused() {
        let names = Names::of(&[("a", &["no", "yes"])]);
        assert!(NamedGraph::new(&graph(&[2]), Some(&names)).is_ok());
        for other in [graph(&[2, 2]), graph(&[3])] {
            let error = NamedGraph::new(&other, Some(&names)).unwrap_err();
            assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        }
    }
}
