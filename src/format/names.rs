//! Names of variables and states, for the formats that have them.

use super::text::{Cursor, show};
use super::{GraphFormat, file, parse_graph};
use crate::error::{Error, Result};
use crate::memory::{self, Grow, out_of_memory};
use crate::model::{FactorGraph, FactorGraphBuilder, Label};
use hashbrown::HashTable;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

const NO_VARIABLE: u32 = u32::MAX;

/// Names of the variables of a graph, by index, and of their states.
///
/// No two variables share a name, and no two states of a variable. Equal names are stored once.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Texts,
    /// Per text: the variable with that name.
    variable_of: Vec<u32>,
    /// Per variable: its text.
    variables: Vec<u32>,
    /// Where the states of each variable end in `states`.
    state_ends: Vec<usize>,
    /// Texts of the states of all variables.
    states: Vec<u32>,
    /// (variable, text) -> state.
    state_of: HashMap<(u32, u32), u32>,
    /// Whether some variable is named by a number, and per variable, whether one of its states is.
    numbered_variables: bool,
    numbered_states: Vec<bool>,
}

/// Texts that are told apart by their position, each once.
#[derive(Clone, Debug, Default)]
struct Texts {
    /// All of them, one after the other.
    all: String,
    /// Where each ends.
    ends: Vec<usize>,
    positions: HashTable<u32>,
    hasher: RandomState,
}

/// Why a variable could not be named.
pub(super) enum NameClash {
    /// The variable with this index has the name.
    Variable(usize),
    /// Two states of the variable have this name.
    State(String),
    /// More names than 32 bits can count.
    TooMany,
    /// There is no memory for the names.
    NoMemory(Error),
}

impl From<Error> for NameClash {
    fn from(error: Error) -> Self {
        NameClash::NoMemory(error)
    }
}

impl Texts {
    fn get(&self, position: u32) -> &str {
        text_at(&self.all, &self.ends, position)
    }

    fn find(&self, text: &str) -> Option<u32> {
        let equal = |&position: &u32| self.get(position) == text;
        self.positions.find(self.hasher.hash_one(text), equal).copied()
    }

    /// Appends a text that is not there yet. On an error, nothing has changed.
    fn add(&mut self, text: &str) -> Result<u32, NameClash> {
        let Self { all, ends, positions, hasher } = self;
        let position = u32::try_from(ends.len()).map_err(|_| NameClash::TooMany)?;
        let no_memory = || out_of_memory(format_args!("a name, after {position} of them"));
        all.try_reserve(text.len()).map_err(|_| no_memory())?;
        ends.try_room(1)?;
        let hash = |&position: &u32| hasher.hash_one(text_at(all, ends, position));
        positions.try_reserve(1, hash).map_err(|_| no_memory())?;
        positions.insert_unique(hasher.hash_one(text), position, hash);
        all.push_str(text);
        ends.push(all.len());
        Ok(position)
    }
}

/// One of the texts that stand one after the other in `all`.
fn text_at<'a>(all: &'a str, ends: &[usize], position: u32) -> &'a str {
    let position = position as usize;
    let start = if position == 0 { 0 } else { ends[position - 1] };
    &all[start..ends[position]]
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        let count = self.variable_count();
        count == other.variable_count()
            && (0..count).all(|v| {
                self.variable(v) == other.variable(v) && self.states(v).eq(other.states(v))
            })
    }
}

impl Eq for Names {}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            texts: Texts::default(),
            variable_of: Vec::new(),
            variables: Vec::new(),
            state_ends: Vec::new(),
            states: Vec::new(),
            state_of: HashMap::new(),
            numbered_variables: false,
            numbered_states: Vec::new(),
        }
    }

    /// Names the next variable. After an error the names are of no more use.
    pub(super) fn add<'a>(
        &mut self,
        name: &str,
        states: impl Iterator<Item = Result<Cow<'a, str>>>,
    ) -> Result<(), NameClash> {
        let variable = u32::try_from(self.variables.len()).map_err(|_| NameClash::TooMany)?;
        let text = self.intern(name)?;
        let slot = &mut self.variable_of[text as usize];
        if *slot != NO_VARIABLE {
            return Err(NameClash::Variable(*slot as usize));
        }
        *slot = variable;
        self.variables.try_push(text)?;
        self.numbered_variables |= is_number(name);
        let mut numbered = false;
        for (state, name) in (0..u32::MAX).zip(states) {
            let name = name?;
            let text = self.intern(&name)?;
            if memory::insert(&mut self.state_of, (variable, text), state)?.is_some() {
                return Err(NameClash::State(name.into_owned()));
            }
            self.states.try_push(text)?;
            numbered |= is_number(&name);
        }
        self.numbered_states.try_push(numbered)?;
        self.state_ends.try_push(self.states.len())?;
        Ok(())
    }

    fn intern(&mut self, name: &str) -> Result<u32, NameClash> {
        if let Some(position) = self.texts.find(name) {
            return Ok(position);
        }
        self.variable_of.try_room(1)?;
        let position = self.texts.add(name)?;
        self.variable_of.push(NO_VARIABLE);
        Ok(position)
    }

    /// Number of variables.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Name of a variable (by index). Panics if there is no such variable.
    pub fn variable(&self, variable: usize) -> &str {
        self.texts.get(self.variables[variable])
    }

    /// Index of the variable with a name. O(1).
    pub fn find_variable(&self, name: &str) -> Option<usize> {
        let variable = self.variable_of[self.texts.find(name)? as usize];
        (variable != NO_VARIABLE).then_some(variable as usize)
    }

    /// Names of the states of a variable (by index), in their order. Panics if there is no such
    /// variable.
    pub fn states(&self, variable: usize) -> impl ExactSizeIterator<Item = &str> {
        self.state_texts(variable).iter().map(|&text| self.texts.get(text))
    }

    /// Name of a state of a variable (by index). Panics if there is no such variable or state.
    pub fn state(&self, variable: usize, state: usize) -> &str {
        self.texts.get(self.state_texts(variable)[state])
    }

    fn state_texts(&self, variable: usize) -> &[u32] {
        let start = if variable == 0 { 0 } else { self.state_ends[variable - 1] };
        &self.states[start..self.state_ends[variable]]
    }

    /// The state of a variable (by index) that has a name. O(1).
    pub fn find_state(&self, variable: usize, name: &str) -> Option<usize> {
        let text = self.texts.find(name)?;
        let state = self.state_of.get(&(u32::try_from(variable).ok()?, text))?;
        Some(*state as usize)
    }
}

/// What a file says: a graph, and the names of its variables where the format has names.
#[derive(Clone, Debug)]
pub struct Network {
    /// The graph.
    pub graph: FactorGraph,
    /// Names of all its variables and their states; `None` for formats without names.
    pub names: Option<Names>,
}

/// Reads a factor graph as [`super::read_graph`] does, and the names of its variables.
pub fn read_network(path: &Path) -> Result<Network> {
    let format = GraphFormat::from_path(path)?;
    let bytes = file::load(path)?;
    let parsed = parse_graph(&bytes, path, format)?;
    // The text need not stay while the graph is built.
    drop(bytes);
    parsed.build()
}

/// Reads a network from its uncompressed text; `name` is what errors call it.
pub fn read_network_from_bytes(bytes: &[u8], name: &Path, format: GraphFormat) -> Result<Network> {
    parse_graph(bytes, name, format)?.build()
}

/// A network before its graph is built.
pub(super) struct ParsedNetwork {
    pub(super) builder: FactorGraphBuilder,
    pub(super) names: Option<Names>,
}

impl ParsedNetwork {
    pub(super) fn build(self) -> Result<Network> {
        Ok(Network { graph: self.builder.build()?, names: self.names })
    }
}

impl From<FactorGraphBuilder> for ParsedNetwork {
    fn from(builder: FactorGraphBuilder) -> Self {
        Self { builder, names: None }
    }
}

/// A graph and, if it has some, the names of its variables: what functions that read or write
/// something by variable need. A graph alone, `&graph`, becomes one without names.
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

    /// What files and messages call a variable (by index): its name, in quotes if need be, or its
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
                // A label is short, but there may be many.
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
        &self,
        cursor: &Cursor<'_>,
        variable: usize,
        value: &[u8],
        wanted: &str,
    ) -> Error {
        let (variable, value) = (self.describe(variable), show(value));
        cursor.error(format!("variable {variable} has the value {value}: {wanted} needed"))
    }

    /// What messages call a state of a variable (by index).
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
            if named.is_some() || names.numbered_variables {
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
            if named.is_some() || names.numbered_states[variable] {
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
    /// The graph has no such variable; what the file calls it.
    Unknown(String),
}

impl Mention {
    /// A variable that the graph does not have, with at most so many bytes of text.
    fn unknown(name: fmt::Arguments<'_>, length: usize) -> Result<Self> {
        let mut text = memory::text("")?;
        text.try_reserve_exact(length).map_err(|_| out_of_memory(name))?;
        // A text can be written to: nothing fails.
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

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name as it stands in files of names: in quotes where it would not be one word otherwise.
/// (There are no quotes in names.)
pub(super) struct Quoted<'a>(pub &'a str);

impl<'a> Quoted<'a> {
    /// What it is made of.
    pub(super) fn parts(&self) -> [&'a str; 3] {
        let Self(name) = *self;
        let plain = !name.is_empty()
            && !name.starts_with(['#', '"'])
            && !name.contains(|c: char| c.is_whitespace());
        let quote = if plain { "" } else { "\"" };
        [quote, name, quote]
    }
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().into_iter().try_for_each(|part| f.write_str(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &[(&str, &[&str])]) -> Names {
        let mut names = Names::new();
        for (name, states) in variables {
            let states = states.iter().map(|&state| Ok(Cow::Borrowed(state)));
            assert!(names.add(name, states).is_ok());
        }
        names
    }

    fn graph(cardinalities: &[usize]) -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        for (label, &cardinality) in (0..).zip(cardinalities) {
            builder.add_variable(label, cardinality).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn names_are_found_both_ways() {
        let names = names(&[("rain", &["no", "yes"]), ("no", &["low", "no", "high"])]);
        assert_eq!(names.variable_count(), 2);
        assert_eq!((names.variable(0), names.variable(1)), ("rain", "no"));
        assert_eq!(names.find_variable("no"), Some(1));
        assert_eq!(names.find_variable("yes"), None);
        assert_eq!(names.find_variable("snow"), None);
        assert_eq!(names.states(1).collect::<Vec<_>>(), ["low", "no", "high"]);
        assert_eq!((names.state(0, 1), names.state(1, 1)), ("yes", "no"));
        assert_eq!((names.find_state(0, "no"), names.find_state(1, "no")), (Some(0), Some(1)));
        assert_eq!((names.find_state(0, "high"), names.find_state(7, "no")), (None, None));
    }

    #[test]
    fn clashes_are_told() {
        let mut names = names(&[("a", &["0", "1"]), ("b", &["0", "1"])]);
        let states = || ["x", "x"].into_iter().map(|name| Ok(Cow::Borrowed(name)));
        assert!(matches!(names.clone().add("b", states()), Err(NameClash::Variable(1))));
        assert!(matches!(names.add("c", states()), Err(NameClash::State(x)) if x == "x"));
    }

    #[test]
    fn numbers_are_names_where_there_are_such_names() {
        let graph = graph(&[2, 3]);
        let plain = names(&[("a", &["no", "yes"]), ("b", &["3", "2", "1"])]);
        let named = NamedGraph::new(&graph, Some(&plain)).unwrap();
        assert_eq!(named.find_variable("b"), Some(1));
        assert_eq!((named.find_variable("1"), named.find_variable("2")), (Some(1), None));
        assert_eq!((named.find_state(0, "yes"), named.find_state(0, "1")), (Some(1), Some(1)));
        assert_eq!((named.find_state(1, "3"), named.find_state(1, "0")), (Some(0), None));
        let numbered = names(&[("1", &["no", "yes"]), ("b", &["x", "y", "z"])]);
        let named = NamedGraph::new(&graph, Some(&numbered)).unwrap();
        assert_eq!((named.find_variable("1"), named.find_variable("0")), (Some(0), None));
        let named = NamedGraph::from(&graph);
        assert_eq!((named.find_variable("1"), named.find_variable("b")), (Some(1), None));
        assert_eq!((named.find_state(1, "2"), named.find_state(1, "3")), (Some(2), None));
        assert_eq!(named.describe(1), "1");
    }

    #[test]
    fn names_of_another_graph_are_refused() {
        let names = names(&[("a", &["no", "yes"])]);
        assert!(NamedGraph::new(&graph(&[2]), Some(&names)).is_ok());
        for other in [graph(&[2, 2]), graph(&[3])] {
            let error = NamedGraph::new(&other, Some(&names)).unwrap_err();
            assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        }
    }

    #[test]
    fn names_that_are_no_word_are_quoted() {
        for (name, wanted) in
            [("a", "a"), (">=7.5", ">=7.5"), ("a b", "\"a b\""), ("#a", "\"#a\""), ("a#", "a#")]
        {
            assert_eq!(Quoted(name).to_string(), wanted);
        }
    }
}
