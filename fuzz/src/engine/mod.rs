//! The engine against the definition, on small graphs of factors of all kinds.

mod bits;
mod case;
mod copies;
mod number;
mod reference;
mod values;

use crate::choices::Choices;
use case::Case;
use fastlbp::engine::Backend;
use fastlbp::{BeliefPropagation, EngineOptions, FactorGraph, Schedule, VariableEvidence};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Executions of the engine that were compared with the definition or with another one of the same.
static COMPARISONS: AtomicU64 = AtomicU64::new(0);

fn count() {
    COMPARISONS.fetch_add(1, Ordering::Relaxed);
}

/// The number of comparisons so far.
pub fn comparisons() -> u64 {
    COMPARISONS.load(Ordering::Relaxed)
}

pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    // One input in a while also runs as many copies side by side, which takes much longer.
    let copied = choices.once_in(256);
    let case = Case::new(&mut choices);
    if std::env::var_os("FASTLBP_FUZZ_SHOW").is_some() {
        eprintln!("{case}");
    }
    values::check(&case);
    bits::check(&case, &mut choices);
    if copied {
        copies::check(&case, &mut choices);
    }
}

/// A session on the CPU, with evidence.
fn session_on(
    graph: &Arc<FactorGraph>, schedule: Schedule, threads: usize, compile_tables: bool,
    evidence: &[Option<VariableEvidence>],
) -> BeliefPropagation {
    let backend = Backend::Cpu;
    let options =
        EngineOptions { backend, threads: Some(threads), compile_tables, ..Default::default() };
    let mut bp = BeliefPropagation::new(graph.clone(), schedule, options).expect("a session");
    for (variable, evidence) in evidence.iter().enumerate() {
        match evidence {
            None => {}
            Some(VariableEvidence::Observed(state)) => {
                bp.observe(variable, *state as usize).expect("a state");
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                bp.set_likelihood(variable, likelihood).expect("a likelihood");
            }
        }
    }
    bp
}

fn session(case: &Case, schedule: &Schedule, threads: usize) -> BeliefPropagation {
    session_on(&case.model.graph, schedule.clone(), threads, case.compile_tables, &case.evidence)
}

/// Bits of numbers, to compare them as such.
fn bits_of(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
