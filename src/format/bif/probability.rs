//! Probability blocks: a table of a child given its parents.

use super::super::number::parse_f64;
use super::super::table::{entry_limit, joint_states, start_table};
use super::super::text::show;
use super::scanner::{List, Scanner, Token, joined};
use super::variables::{Variables, quote};
use crate::error::{Error, Result};
use crate::memory::{self, Grow};
use crate::model::{FactorGraphBuilder, Label};

/// How far the sum of a row may be from 1.
const ROUNDING: f64 = 0.01;

/// The tables read so far.
pub(super) struct Tables<'r, 'a> {
    variables: &'r Variables,
    builder: &'r mut FactorGraphBuilder,
    /// Line of each variable's block, 0 for none.
    blocks: Vec<u64>,
    /// (parent, child) of all blocks.
    arcs: Vec<(u32, u32)>,
    /// Entries of all tables, and how many there may be.
    entries: u64,
    limit: u64,
    text_bytes: u64,
    /// Buffers of `read`, kept for the next block.
    list: List<'a>,
    scope: Vec<u32>,
    labels: Vec<Label>,
    row: Row,
    table: Table,
}

/// The values of one entry of a block.
#[derive(Default)]
struct Row {
    values: Vec<f64>,
    line: u64,
}

/// The table of one block, the child fastest, then the last parent, and so on.
#[derive(Default)]
struct Table {
    values: Vec<f64>,
    /// Line that gave each row (joint state of the parents), 0 for none.
    lines: Vec<u64>,
    /// Number of states of the child.
    child: usize,
}

impl<'r, 'a> Tables<'r, 'a> {
    pub(super) fn new(
        variables: &'r Variables, builder: &'r mut FactorGraphBuilder, text_bytes: u64,
    ) -> Result<Self> {
        Ok(Self {
            variables,
            builder,
            blocks: memory::filled(variables.lines.len(), 0)?,
            arcs: Vec::new(),
            entries: 0,
            limit: entry_limit(text_bytes),
            text_bytes,
            list: List::default(),
            scope: Vec::new(),
            labels: Vec::new(),
            row: Row::default(),
            table: Table::default(),
        })
    }

    /// Reads one block; the scanner is after the word `probability`.
    pub(super) fn read(&mut self, mut scanner: Scanner<'a>) -> Result<()> {
        let line = scanner.cursor.line();
        self.read_scope(&mut scanner)?;
        self.start_table(&scanner, line)?;
        self.read_entries(&mut scanner)?;
        self.check_sums(&scanner)?;
        // The child varies fastest and the first parent slowest.
        let (child, parents) = (self.scope[0], &self.scope[1..]);
        let scope = std::iter::once(child).chain(parents.iter().rev().copied());
        self.labels.clear();
        self.labels.try_extend(scope.map(Label::from))?;
        self.arcs.try_extend(parents.iter().map(|&parent| (parent, child)))?;
        self.builder.add_table(&self.labels, &self.table.values)
    }

    /// Reads `( CHILD | PARENT, ... ) {` into `self.scope`.
    fn read_scope(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.expect(b'(', "before the variables of a probability")?;
        let mut bar = false;
        let what = "the name of a variable, '|' or ')'";
        self.scope.clear();
        while scanner.list(&mut self.list, if bar { b")" } else { b"|)" }, what)? == b'|' {
            self.add_to_scope(scanner)?;
            if self.scope.len() != 1 {
                return Err(scanner.cursor.error(format!(
                    "{} variables before '|': one, the child, is needed",
                    self.scope.len()
                )));
            }
            bar = true;
        }
        self.add_to_scope(scanner)?;
        let Some((&child, parents)) = self.scope.split_first() else {
            return Err(scanner.cursor.error("a probability of no variable: one is needed"));
        };
        let line = &mut self.blocks[child as usize];
        if *line != 0 {
            return Err(scanner.cursor.error(format!(
                "variable {} has a probability block already, in line {line}: it needs one",
                quote(self.variables.names.variable(child as usize)),
            )));
        }
        *line = scanner.cursor.line();
        if bar && parents.is_empty() {
            return Err(scanner.unexpected(Token::Mark(b')'), "the name of a parent"));
        }
        scanner.expect(b'{', "after the variables of a probability")
    }

    /// Appends the variables that `self.list` names.
    fn add_to_scope(&mut self, scanner: &Scanner<'a>) -> Result<()> {
        let names = &self.variables.names;
        for words in self.list.parts() {
            // Several words are a name with blanks, or names without commas.
            if let Some(variable) = names.find_variable(&joined(words)?) {
                self.scope.try_push(variable as u32)?;
                continue;
            }
            for word in words {
                let variable = names.find_variable(word).ok_or_else(|| {
                    scanner.cursor.error(format!(
                        "{}: no variable with this name is declared in the file",
                        quote(word)
                    ))
                })?;
                self.scope.try_push(variable as u32)?;
            }
        }
        Ok(())
    }

    /// Makes room for the table over `self.scope`.
    fn start_table(&mut self, scanner: &Scanner<'a>, line: u64) -> Result<()> {
        let cardinalities = self.scope.iter().map(|&v| self.variables.cardinalities[v as usize]);
        let total = joint_states(cardinalities)
            .map(|size| (size, self.entries.saturating_add(size as u64)))
            .filter(|&(_, total)| total <= self.limit);
        let Some((size, total)) = total else {
            return Err(scanner.cursor.error_at(
                line,
                format!(
                    "with this table over {} variables, all tables together have too many entries: \
                     a file of {} bytes may describe {} (2^20 and 4 per byte)",
                    self.scope.len(),
                    self.text_bytes,
                    self.limit
                ),
            ));
        };
        // Few: with many parents, the table would exceed its limit.
        for (position, variable) in self.scope.iter().enumerate() {
            if self.scope[..position].contains(variable) {
                return Err(scanner.cursor.error_at(
                    line,
                    format!(
                        "variable {} occurs twice in a probability: it may occur once",
                        quote(self.variables.names.variable(*variable as usize))
                    ),
                ));
            }
        }
        self.entries = total;
        let child = self.variables.cardinalities[self.scope[0] as usize];
        self.table.child = child;
        self.table.lines.clear();
        self.table.lines.try_resize(size / child, 0)?;
        start_table(&mut self.table.values, size, 0.0)
    }

    fn read_entries(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        let mut default = None;
        let mut whole = false;
        loop {
            match scanner.next()? {
                Token::Word(b"property") => scanner.skip_property()?,
                Token::Word(b"table") => {
                    if whole || default.is_some() || self.table.lines.iter().any(|&line| line != 0)
                    {
                        let message = "'table' after other values: they say it all or not at all";
                        return Err(scanner.cursor.error(message));
                    }
                    whole = true;
                    self.read_whole(scanner)?;
                }
                Token::Word(b"default") => {
                    if default.is_some() || whole {
                        let after = if whole { "table" } else { "default" };
                        return Err(scanner.cursor.error(format!(
                            "'default' after '{after}', which leaves nothing to it: one is needed"
                        )));
                    }
                    self.row.read(scanner, self.table.child)?;
                    default = Some(std::mem::take(&mut self.row));
                }
                Token::Mark(b'(') => {
                    let row = self.read_row_states(scanner)?;
                    let first = self.table.lines[row];
                    if first != 0 {
                        return Err(scanner.cursor.error(format!(
                            "{} is given already, in line {first}: once is needed",
                            self.describe_row(row)
                        )));
                    }
                    self.row.read(scanner, self.table.child)?;
                    self.table.set_row(row, &self.row);
                }
                Token::Mark(b'}') => break,
                found => {
                    let wanted = "'table', '(', 'default', 'property' or '}'";
                    return Err(scanner.unexpected(found, wanted));
                }
            }
        }
        for row in 0..self.table.lines.len() {
            if self.table.lines[row] != 0 {
                continue;
            }
            match &default {
                Some(values) => self.table.set_row(row, values),
                None => {
                    let missing = self.table.lines.iter().filter(|&&line| line == 0).count();
                    return Err(scanner.cursor.error(format!(
                        "the block ends without {} ({missing} of {} rows are missing): a row each, \
                         or 'default', is needed",
                        self.describe_row(row),
                        self.table.lines.len()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Reads the values of `table`: the child slowest, the last parent fastest.
    fn read_whole(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        let Table { values, lines, child } = &mut self.table;
        self.row.read(scanner, values.len())?;
        let rows = lines.len();
        for (index, &value) in self.row.values.iter().enumerate() {
            values[index % rows * *child + index / rows] = value;
        }
        lines.fill(self.row.line);
        Ok(())
    }

    /// Reads `STATE, ... )` and returns the row, the last parent fastest.
    fn read_row_states(&mut self, scanner: &mut Scanner<'a>) -> Result<usize> {
        scanner.list(&mut self.list, b")", "the name of a state or ')'")?;
        let parents = &self.scope[1..];
        let states = self.list.names(parents.len()).ok_or_else(|| {
            scanner.cursor.error(format!(
                "{} states in brackets: variable {} has {} parents",
                self.list.part_count(),
                quote(self.variables.names.variable(self.scope[0] as usize)),
                parents.len()
            ))
        })?;
        let mut row = 0;
        for (&parent, name) in parents.iter().zip(states) {
            let (parent, name) = (parent as usize, name?);
            let state = self.variables.names.find_state(parent, &name).ok_or_else(|| {
                scanner.cursor.error(format!(
                    "{}: variable {} has no such state",
                    quote(&name),
                    quote(self.variables.names.variable(parent))
                ))
            })?;
            row = row * self.variables.cardinalities[parent] + state;
        }
        Ok(row)
    }

    fn check_sums(&self, scanner: &Scanner<'a>) -> Result<()> {
        let rows = self.table.values.chunks_exact(self.table.child);
        for (row, values) in rows.enumerate() {
            let sum: f64 = values.iter().sum();
            // (The sum may be infinite, but not NaN.)
            if (sum - 1.0).abs() > ROUNDING {
                return Err(scanner.cursor.error_at(
                    self.table.lines[row],
                    format!(
                        "{} sums to {sum}: 1 within {ROUNDING} is needed",
                        self.describe_row(row)
                    ),
                ));
            }
        }
        Ok(())
    }

    /// A row for a message: `the distribution of 'a' given b = 'x', c = 'y'`.
    fn describe_row(&self, mut row: usize) -> String {
        let names = &self.variables.names;
        let mut given = Vec::new();
        for &parent in self.scope[1..].iter().rev() {
            let parent = parent as usize;
            let cardinality = self.variables.cardinalities[parent];
            let state = quote(names.state(parent, row % cardinality));
            given.push(format!("{} = {state}", quote(names.variable(parent))));
            row /= cardinality;
        }
        given.reverse();
        let child = quote(names.variable(self.scope[0] as usize));
        let given =
            if given.is_empty() { String::new() } else { format!(" given {}", given.join(", ")) };
        format!("the distribution of {child}{given}")
    }

    /// Checks that every variable has a block and that no variable is its own ancestor; `end` is the
    /// scanner after the last block.
    pub(super) fn finish(self, end: &Scanner<'a>) -> Result<()> {
        let names = &self.variables.names;
        if let Some(variable) = self.blocks.iter().position(|&line| line == 0) {
            let missing = self.blocks.iter().filter(|&&line| line == 0).count();
            return Err(end.cursor.error(format!(
                "the file ends without a probability block of variable {}, declared in line {} \
                 ({missing} of {} variables have none): each needs one",
                quote(names.variable(variable)),
                self.variables.lines[variable],
                self.blocks.len()
            )));
        }
        if let Some(variable) = find_cycle(self.blocks.len(), self.arcs)? {
            return Err(end.cursor.error_at(
                self.blocks[variable],
                format!(
                    "variable {} depends on itself, through its parents or theirs: a Bayesian \
                     network has no cycles",
                    quote(names.variable(variable))
                ),
            ));
        }
        Ok(())
    }
}

impl Row {
    /// Reads `count` values up to ';'.
    fn read(&mut self, scanner: &mut Scanner<'_>, count: usize) -> Result<()> {
        self.line = scanner.cursor.line();
        self.values.clear();
        loop {
            match scanner.next()? {
                Token::Word(text) => self.values.try_push(parse_value(scanner, text)?)?,
                Token::Mark(b',') => {}
                Token::Mark(b';') => break,
                found => return Err(scanner.unexpected(found, "a value or ';'")),
            }
        }
        if self.values.len() == count {
            return Ok(());
        }
        let message = format!("{} values: {count} are needed here", self.values.len());
        Err(scanner.cursor.error_at(self.line, message))
    }
}

fn parse_value(scanner: &Scanner<'_>, text: &[u8]) -> Result<f64> {
    parse_f64(text).filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| -> Error {
        scanner.cursor.error(format!("{}: a finite number >= 0 is needed", show(text)))
    })
}

impl Table {
    fn set_row(&mut self, row: usize, source: &Row) {
        let start = row * self.child;
        self.values[start..start + self.child].copy_from_slice(&source.values);
        self.lines[row] = source.line;
    }
}

/// A variable that is its own ancestor, if there is one. Variables without remaining parents are removed until there
/// are none; each variable that is left is on a cycle or below one. O(variables + arcs log arcs).
fn find_cycle(variables: usize, mut arcs: Vec<(u32, u32)>) -> Result<Option<usize>> {
    arcs.sort_unstable();
    let mut parents = memory::filled(variables, 0_u32)?;
    for &(_, child) in &arcs {
        parents[child as usize] += 1;
    }
    let mut free = memory::room(variables)?;
    free.extend((0..variables as u32).filter(|&variable| parents[variable as usize] == 0));
    while let Some(parent) = free.pop() {
        let start = arcs.partition_point(|&(other, _)| other < parent);
        for &(_, child) in arcs[start..].iter().take_while(|&&(other, _)| other == parent) {
            parents[child as usize] -= 1;
            if parents[child as usize] == 0 {
                free.push(child);
            }
        }
    }
    // Going from parent to parent among the variables that are left leads from below a cycle into it.
    let Some(mut variable) = parents.iter().position(|&left| left > 0) else { return Ok(None) };
    let mut above = memory::filled(variables, 0_u32)?;
    for &(parent, child) in arcs.iter().filter(|&&(parent, _)| parents[parent as usize] > 0) {
        above[child as usize] = parent;
    }
    for _ in 0..variables {
        variable = above[variable] as usize;
    }
    Ok(Some(variable))
}
