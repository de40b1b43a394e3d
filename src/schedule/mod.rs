//! Update schedules: which message reads which from the current iteration, and what may run at once.
//!
//! A schedule is a total preorder on the edges (factor, variable): a rank per edge
//! ([`Preorder`]), named ([`Schedule`]) or the user's own. The message of edge e = (f, v) reads
//! that of d = (f', v') if v' is another variable of f and f' another factor of v'. In
//! iteration i it reads d's value of iteration i if d ranks strictly before e, and of iteration i - 1 otherwise.
//!
//! [`analyse`] turns a preorder into the fewest [`Levels`] whose edges can be updated at once
//! with exactly the results of updating one edge at a time.

mod digraph;
mod factor_order;
mod forward_backward;
mod heads;
mod high_arity;
mod known;
mod levels;
mod named;
mod preorder;
mod random;
mod relation;
mod settle;
mod steps;
mod top_two;
mod topological;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use known::KnownOrder;
pub use levels::{Levels, Storage, analyse};
pub use named::Schedule;
pub use preorder::Preorder;
pub(crate) use random::SplitMix64;
pub use random::random_order;
