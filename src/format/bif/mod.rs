//! `.bif`: Bayesian networks with names, in the Bayesian Interchange Format 0.15.
//!
//! ```text
//! file        := ( network | variable | probability )*            # in any order, one network
//! network     := "network" NAME? "{" property* "}"
//! variable    := "variable" NAME "{" ( property | states )* "}"   # states once
//! states      := "type" "discrete" "[" COUNT "]" "{" NAME, ... "}" ";"
//! probability := "probability" "(" CHILD ( "|" PARENT, ... )? ")" "{" ( property | entry )* "}"
//! entry       := "table" VALUE, ... ";" | "(" STATE, ... ")" VALUE, ... ";" | "default" VALUE, ... ";"
//! property    := "property" anything ";"
//! ```
//! Commas may be left out; `//` and `/* */` begin comments. A name is what stands between blanks,
//! marks and commas, or in double quotes. `(STATE, ...) VALUE, ...` is a row: the distribution of
//! the child for these states of its parents; `default` stands for all rows that are not given. A
//! `table` has all values, the first variable of the head (the child) varying slowest, the last one
//! fastest: as pgmpy and pyAgrum read it. Both write rows where there are parents, as bnlearn does.
//!
//! Labels are 0 to n-1 in the order of the variables, and factors are in that of the probability
//! blocks. The values are taken as they are; published ones are rounded, so that a row may sum to 1
//! within 0.01.

mod probability;
mod scanner;
#[cfg(test)]
mod tests;
mod variables;

use super::names::{NameClash, Names};
use super::network::ParsedNetwork;
use super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::model::{FactorGraphBuilder, check_cardinality};
use probability::Tables;
use scanner::{List, Scanner, Token};
use std::path::Path;
use variables::{Variables, quote};

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<ParsedNetwork> {
    let mut reader = Reader {
        scanner: Scanner::new(Cursor::new(path, bytes)),
        variables: Variables { names: Names::new(), cardinalities: Vec::new(), lines: Vec::new() },
        builder: FactorGraphBuilder::new(),
        blocks: Vec::new(),
        network_line: None,
        list: List::default(),
    };
    reader.file()?;
    let Reader { variables, mut builder, blocks, scanner: end, .. } = reader;
    let mut tables = Tables::new(&variables, &mut builder, bytes.len() as u64)?;
    for block in blocks {
        tables.read(block)?;
    }
    tables.finish(&end)?;
    Ok(ParsedNetwork { builder, names: Some(variables.names), missing_priors: None })
}

/// Reads networks and variables, and finds the probability blocks, which may come before variables
/// that they name.
struct Reader<'a> {
    scanner: Scanner<'a>,
    variables: Variables,
    builder: FactorGraphBuilder,
    /// After the word `probability` of each block.
    blocks: Vec<Scanner<'a>>,
    network_line: Option<u64>,
    list: List<'a>,
}

impl<'a> Reader<'a> {
    fn file(&mut self) -> Result<()> {
        loop {
            match self.scanner.next()? {
                Token::Word(b"network") => self.network()?,
                Token::Word(b"variable") => self.variable()?,
                Token::Word(b"probability") => {
                    self.blocks.try_push(self.scanner.clone())?;
                    self.skip_probability()?;
                }
                Token::End => break,
                found => {
                    let wanted = "a block 'network', 'variable' or 'probability'";
                    return Err(self.scanner.unexpected(found, wanted));
                }
            }
        }
        let missing = match (self.network_line, self.variables.lines.len()) {
            (None, _) => "a block 'network'",
            (_, 0) => "a block 'variable'",
            _ => return Ok(()),
        };
        Err(self.scanner.unexpected(Token::End, missing))
    }

    fn network(&mut self) -> Result<()> {
        let cursor = &self.scanner.cursor;
        if let Some(line) = self.network_line {
            let message = format!("a second network, after that of line {line}: one is needed");
            return Err(cursor.error(message));
        }
        self.network_line = Some(cursor.line());
        let what = "the name of the network or '{'";
        self.scanner.list(&mut self.list, b"{", what)?;
        loop {
            match self.scanner.next()? {
                Token::Word(b"property") => self.scanner.skip_property()?,
                Token::Mark(b'}') => return Ok(()),
                found => {
                    return Err(self.scanner.unexpected(found, "'property' or '}'"));
                }
            }
        }
    }

    fn variable(&mut self) -> Result<()> {
        let line = self.scanner.cursor.line();
        self.scanner.list(&mut self.list, b"{", "the name of a variable or '{'")?;
        let name = self.list.names(1).and_then(|mut names| names.next()).ok_or_else(|| {
            self.scanner.cursor.error(format!(
                "{} names before '{{': a variable has one name",
                self.list.part_count()
            ))
        })??;
        let mut states = None;
        loop {
            match self.scanner.next()? {
                Token::Word(b"property") => self.scanner.skip_property()?,
                Token::Word(b"type") if states.is_none() => states = Some(self.states(&name)?),
                Token::Mark(b'}') => break,
                found => {
                    let wanted = match states {
                        None => "'type', 'property' or '}'",
                        Some(_) => "'property' or '}'",
                    };
                    return Err(self.scanner.unexpected(found, wanted));
                }
            }
        }
        let cardinality = states.ok_or_else(|| {
            let message = format!("variable {} has no type: its states are needed", quote(&name));
            self.scanner.cursor.error(message)
        })?;
        // `self.list` still has the states: reading properties does not change it.
        let states = self.list.names(cardinality).into_iter().flatten();
        let clash = self.variables.names.add(&name, states);
        clash.map_err(|clash| self.clash(&name, clash))?;
        let label = self.variables.lines.len() as u64;
        self.builder.add_variable(label, cardinality)?;
        self.variables.cardinalities.try_push(cardinality)?;
        self.variables.lines.try_push(line)?;
        Ok(())
    }

    /// Reads the rest of a type, leaves the names of the states in `self.list`, and returns how
    /// many there are.
    fn states(&mut self, variable: &str) -> Result<usize> {
        match self.scanner.next()? {
            Token::Word(b"discrete") => {}
            found => return Err(self.scanner.unexpected(found, "the type 'discrete'")),
        }
        self.scanner.expect(b'[', "before the number of states")?;
        let (count, line) = match self.scanner.next()? {
            Token::Word(text) => (text, self.scanner.cursor.line()),
            found => return Err(self.scanner.unexpected(found, "the number of states")),
        };
        self.scanner.expect(b']', "after the number of states")?;
        self.scanner.expect(b'{', "before the names of the states")?;
        self.scanner.list(&mut self.list, b"}", "the name of a state or '}'")?;
        let number = std::str::from_utf8(count).ok().and_then(|text| text.parse::<usize>().ok());
        let number =
            number.filter(|&number| self.list.names(number).is_some()).ok_or_else(|| {
                self.scanner.cursor.error_at(
                line,
                format!(
                    "variable {} has [{}] states, but {} names of states: the numbers must agree",
                    quote(variable),
                    show(count).trim_matches('\''),
                    self.list.part_count(),
                ),
            )
            })?;
        check_cardinality(self.variables.lines.len() as u64, number).map_err(|_| {
            self.scanner.cursor.error_at(
                line,
                format!(
                    "variable {} has {number} states: at least 1 is needed, and no more than {}",
                    quote(variable),
                    u32::MAX
                ),
            )
        })?;
        self.scanner.expect(b';', "after the states")?;
        Ok(number)
    }

    #[cold]
    fn clash(&self, name: &str, clash: NameClash) -> Error {
        let message = match clash {
            NameClash::NoMemory(error) => return error,
            NameClash::Variable(other) => format!(
                "variable {} is declared already, in line {}: once is needed",
                quote(name),
                self.variables.lines[other]
            ),
            NameClash::State(state) => format!(
                "variable {} has two states {}: each needs a name of its own",
                quote(name),
                quote(&state)
            ),
            NameClash::TooMany => "more names than can be counted in 32 bits".into(),
        };
        self.scanner.cursor.error(message)
    }

    /// Moves past a probability block.
    fn skip_probability(&mut self) -> Result<()> {
        self.scanner.expect(b'(', "before the variables of a probability")?;
        self.skip_to(b')')?;
        self.scanner.expect(b'{', "after the variables of a probability")?;
        loop {
            match self.scanner.next()? {
                Token::Word(b"property") => self.scanner.skip_property()?,
                Token::Mark(b'(') => self.skip_to(b')')?,
                Token::Mark(b'}') => return Ok(()),
                Token::End => {
                    let wanted = "the '}' of a probability block";
                    return Err(self.scanner.unexpected(Token::End, wanted));
                }
                _ => {}
            }
        }
    }

    fn skip_to(&mut self, mark: u8) -> Result<()> {
        loop {
            match self.scanner.next()? {
                Token::Mark(found) if found == mark => return Ok(()),
                // No list continues past the end of a statement.
                found @ (Token::End | Token::Mark(b'{' | b'}' | b';')) => {
                    let wanted = format!("'{}'", char::from(mark));
                    return Err(self.scanner.unexpected(found, &wanted));
                }
                _ => {}
            }
        }
    }
}
