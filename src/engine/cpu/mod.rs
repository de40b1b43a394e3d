//! Belief propagation on the processor.
//!
//! `engine` has what an engine holds between runs and `state` the messages; `plan` turns a schedule into
//! what one iteration does, `synchronous`, `serial`, `lanes`, `parallel`, `mixed`, `residual` and `marked` do it, with
//! `variable` and `factor` for the messages of one node, and `four` for those of four nodes at once; `run` is the loop over
//! iterations, and `measure`, `witness` and `single_inputs` tell it how far beliefs moved.

mod active;
mod assignment;
mod backend;
mod batches;
mod engine;
mod factor;
mod factor_beliefs;
#[cfg_attr(not(target_arch = "x86_64"), path = "four_elsewhere.rs")]
mod four;
mod high_arity;
mod inputs;
mod kept;
mod lane_layout;
mod lanes;
mod layout;
mod marked;
mod marks;
mod measure;
mod mixed;
mod nodes;
mod overlap;
mod pace;
mod parallel;
mod pending;
mod plan;
mod random;
mod residual;
mod run;
mod serial;
mod single_inputs;
mod singles;
mod stale;
mod state;
mod store;
mod synchronous;
mod targets;
mod team;
mod tournament;
mod trees;
mod tuning;
mod values;
mod variable;
mod witness;
mod workspace;

#[cfg(test)]
pub(super) mod tests;

pub(super) use backend::Cpu;
#[cfg(test)]
pub(super) use engine::CpuEngine;
pub(super) use engine::check;
