//! Names of variables and states, for the formats that have them.

use crate::error::{Error, Result};
use crate::memory::{self, Grow, out_of_memory};
use hashbrown::HashTable;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::hash::{BuildHasher, RandomState};

const NO_VARIABLE: u32 = u32::MAX;

/// Names of the variables of a graph, by index, and of their states.
///
/// No two variables share a name, and no two states of a variable. Equal names are stored once.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Texts,
    /// Per text, the variable with that name.
    variable_of: Vec<u32>,
    /// Per variable, its text.
    variables: Vec<u32>,
    /// Where the states of each variable end in `states`.
    state_ends: Vec<usize>,
    /// Per state, its text; those of one variable after the other.
    states: Vec<u32>,
    /// (variable, text) -> state.
    state_of: HashMap<(u32, u32), u32>,
    /// Whether some variable is named by a number, and per variable, whether one of its states is.
    numbered_variables: bool,
    numbered_states: Vec<bool>,
}

/// Distinct texts, numbered in the order in which they were added.
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

/// The text at a position in the list whose texts are concatenated in `all` and end at `ends`.
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

    /// Names the next variable. After an error, the names are incomplete and must not be used.
    pub(super) fn add<'a>(
        &mut self, name: &str, states: impl Iterator<Item = Result<Cow<'a, str>>>,
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

    /// Whether some variable is named by a number.
    pub(super) fn number_variables(&self) -> bool {
        self.numbered_variables
    }

    /// Whether some state of a variable is named by a number.
    pub(super) fn number_states(&self, variable: usize) -> bool {
        self.numbered_states[variable]
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

/// Displays a name as files have it: in quotes if it would not be one word otherwise. (Names contain no quotes.)
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

/// Whether a text is a number, as a label or a state may be written.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
impl Names {
    /// The names of some variables and their states.
    pub(super) fn of(variables: &[(&str, &[&str])]) -> Self {
        let mut names = Names::new();
        for (name, states) in variables {
            let states = states.iter().map(|&state| Ok(Cow::Borrowed(state)));
            assert!(names.add(name, states).is_ok());
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_both_ways() {
        let names = Names::of(&[("rain", &["no", "yes"]), ("no", &["low", "no", "high"])]);
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
        let mut names = Names::of(&[("a", &["0", "1"]), ("b", &["0", "1"])]);
        let states = || ["x", "x"].into_iter().map(|name| Ok(Cow::Borrowed(name)));
        assert!(matches!(names.clone().add("b", states()), Err(NameClash::Variable(1))));
        assert!(matches!(names.add("c", states()), Err(NameClash::State(x)) if x == "x"));
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
