//! `.causal_fg`: priors, AND and OR factors.
//!
//! ```text
//! file  := comment* COUNT block*           # COUNT blocks; text after the last one is ignored
//! block := EMPTY comment* HEAD comment* TYPE ( comment* PROB | comment* BODYLEN comment* BODY )
//! TYPE  := "I" | ("*"|"+") [P] [";" [Q]]   # I is followed by PROB, * (AND) and + (OR) by a body
//! ```
//! One line each; comment lines start with '#'. Large texts are read in chunks, on several threads.

mod chunks;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(super) use chunks::parse;
pub(super) use writer::write;
