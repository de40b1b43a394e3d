//! Ranks the alarms of a session of BINGO by their probability, and prints the first five.
//!
//! `cargo run --release --example rank_session examples/data/weblech.causal_fg.gz examples/data/weblech.alarms`
use fastlbp::format::{Dictionary, read_graph, read_marked};
use fastlbp::{BeliefPropagation, EngineOptions, RunRequest, Schedule, StopRule};
use std::path::Path;
use std::sync::Arc;

/// Probabilities and names of all alarms, the most probable one first.
pub fn rank(graph: &str, alarms: &str) -> fastlbp::Result<Vec<(f64, String)>> {
    let graph = Arc::new(read_graph(Path::new(graph))?);
    let alarms = read_marked(Path::new(alarms), &graph, &Dictionary::default())?;

    let schedule = Schedule::SequentialFixed;
    let mut bp = BeliefPropagation::new(graph, schedule, EngineOptions::default())?;
    bp.run(&RunRequest::new(StopRule::Iterations(100)))?;

    let mut ranking = Vec::new();
    for alarm in alarms {
        ranking.push((bp.probability(alarm.variable)?, alarm.name.unwrap_or_default()));
    }
    ranking.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(ranking)
}

fn main() -> fastlbp::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph, alarms] = &arguments[..] else {
        eprintln!("rank_session GRAPH ALARMS is needed");
        std::process::exit(2);
    };
    for (p, name) in rank(graph, alarms)?.iter().take(5) {
        println!("{p:.6} {name}");
    }
    Ok(())
}
