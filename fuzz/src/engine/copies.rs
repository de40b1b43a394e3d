//! Many copies of a small graph in one, so that several threads have something to do: each copy has the
//! messages of the small graph, bit for bit.

use super::case::Case;
use super::{bits_of, count, session, session_on};
use crate::choices::Choices;
use fastlbp::schedule::Preorder;
use fastlbp::{FactorGraphBuilder, Schedule};
use std::sync::Arc;

/// Enough edges for so many threads to be used, and for classes that are spread over them.
const EDGES_PER_THREAD: usize = 4200;

pub fn check(case: &Case, choices: &mut Choices) {
    let graph = &case.model.graph;
    if graph.edge_count() == 0 {
        return;
    }
    let threads = 2 + choices.below(3);
    let copies = (EDGES_PER_THREAD * threads).div_ceil(graph.edge_count());
    let schedule = match &case.schedule {
        // Orders of their own in each copy.
        Schedule::SequentialRandom { .. } | Schedule::Blocks { .. } => return,
        Schedule::Custom(preorder) => Some(preorder),
        _ => None,
    };
    let mut builder = FactorGraphBuilder::new();
    let mut evidence = Vec::new();
    let mut ranks = Vec::new();
    for copy in 0..copies as u64 {
        let shifted = |label: u64| label + 1000 * copy;
        let labels: Vec<u64> = case.labels.iter().map(|&label| shifted(label)).collect();
        builder.add_variables(&labels, &case.cardinalities).expect("variables");
        for input in &case.inputs {
            let mut input = input.clone();
            input.scope.iter_mut().for_each(|label| *label = shifted(*label));
            input.add_to(&mut builder).expect("a factor");
        }
        evidence.extend(case.evidence.iter().cloned());
        if let Some(preorder) = schedule {
            ranks.extend(preorder.ranks().iter().map(|&rank| u64::from(rank)));
        }
    }
    let many = Arc::new(builder.build().expect("a graph"));
    let schedule = match schedule {
        Some(_) => Schedule::Custom(Arc::new(Preorder::from_ranks(&many, &ranks).expect("ranks"))),
        None => case.schedule.clone(),
    };
    let mut bp = session_on(&many, schedule, threads, case.compile_tables, &evidence);
    assert!(bp.threads() > 1);
    bp.run(&case.request(case.iterations)).expect("a run");
    let mut small = session(case, &case.schedule, 1);
    small.run(&case.request(case.iterations)).expect("a run");
    count();
    for (got, wanted) in [
        (bp.messages().expect("memory"), small.messages().expect("memory")),
        (bp.marginals().expect("results").to_vec(), small.marginals().expect("results").to_vec()),
    ] {
        let wanted = bits_of(&wanted);
        for (copy, got) in got.chunks(wanted.len()).enumerate() {
            assert!(bits_of(got) == wanted, "copy {copy} of {copies} on {threads} threads");
        }
    }
}
