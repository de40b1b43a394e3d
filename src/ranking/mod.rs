//! Rankings: which alarm to inspect next, and which candidate is the most suspicious.
//!
//! [`Inspection`] is BINGO's loop. It ranks alarms by their probabilities, is told of the first one whether it is
//! true, observes that, and ranks the others again. A [`Journal`] keeps the answers through a crash, [`explain`] says
//! what makes an alarm probable, and [`Quality`] says what a sequence of answers was worth.
//! [`Suspects`] ranks the candidates of one run, with their ties; [`FirstRanks`] sums up many such rankings.
//!
//! Everything here is made of runs of a [`crate::BeliefPropagation`] and decides on their results alone.

mod explain;
mod fingerprint;
mod inspection;
mod journal;
mod order;
mod quality;
mod suspects;
#[cfg(test)]
mod tests;

pub use explain::{Derivation, explain};
pub use inspection::{Alarm, Answer, Inspection, Rules};
pub use journal::{Event, Journal, Opened};
pub use order::{Precision, Ranked};
pub use quality::{Quality, Ranks};
pub use suspects::{Counted, FirstRank, FirstRanks, Suspect, Suspects};
