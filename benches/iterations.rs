//! Times of reading, preparing and iterations, graph by graph.
//!
//! `cargo bench --bench iterations -- [--threads N,M] [--schedules A,B] GRAPH...` prints one line per
//! graph, schedule and number of threads: the median over five runs of the time per iteration and edge.

use fastlbp::{
    BeliefPropagation, Contradiction, EngineOptions, Evidence, RunRequest, Schedule, StopRule,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let mut threads = vec![1, 2];
    let mut schedules = vec!["PARALL".to_string(), "SEQFIX".to_string()];
    let mut graphs: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut list = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--threads" => {
                threads = list().split(',').filter_map(|count| count.parse().ok()).collect();
            }
            "--schedules" => schedules = list().split(',').map(str::to_string).collect(),
            _ => graphs.push(argument.into()),
        }
    }
    println!(
        "graph schedule threads edges read_ms prepare_ms ns_per_edge_and_iteration ms_per_iteration"
    );
    for graph in &graphs {
        for schedule in &schedules {
            for &count in &threads {
                if let Err(error) = measure(graph, schedule, count) {
                    println!("{}: {error}", graph.display());
                }
            }
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn measure(path: &Path, schedule: &str, threads: usize) -> fastlbp::Result<()> {
    let started = Instant::now();
    let graph = Arc::new(fastlbp::format::read_graph(path)?);
    let read = started.elapsed();
    let started = Instant::now();
    let options = EngineOptions { threads: Some(threads), ..Default::default() };
    let mut bp = BeliefPropagation::new(graph.clone(), Schedule::from_name(schedule, 1)?, options)?;
    bp.prepare(&RunRequest::new(StopRule::Iterations(1)))?;
    let prepare = started.elapsed();
    let observations =
        PathBuf::from(path.to_string_lossy().trim_end_matches(".gz").replace(".causal_fg", ".obs"));
    if observations.exists() {
        let mut evidence = Evidence::new();
        for (variable, state) in
            fastlbp::format::read_partial_evidence(&observations, &graph)?.observed
        {
            evidence.observe(&graph, variable, state)?;
        }
        bp.set_evidence(&evidence)?;
    }
    let run = |bp: &mut BeliefPropagation, iterations: u64| {
        let request = RunRequest {
            contradiction: Contradiction::Vote,
            ..RunRequest::new(StopRule::Iterations(iterations))
        };
        let started = Instant::now();
        bp.run(&request).map(|_| started.elapsed())
    };
    // Two run lengths: their difference is the cost of iterations alone.
    let estimate = run(&mut bp, 5)?.as_secs_f64() / 5.0;
    let iterations = ((0.4 / estimate) as u64).clamp(10, 20_000);
    let mut times = Vec::new();
    for _ in 0..5 {
        let short = run(&mut bp, 5)?.as_secs_f64();
        let long = run(&mut bp, 5 + iterations)?.as_secs_f64();
        times.push((long - short) / iterations as f64);
    }
    times.sort_by(f64::total_cmp);
    let iteration = times[times.len() / 2];
    println!(
        "{} {schedule} {threads} {} {:.1} {:.1} {:.2} {:.3}",
        path.file_stem().unwrap_or_default().to_string_lossy(),
        graph.edge_count(),
        milliseconds(read),
        milliseconds(prepare),
        iteration * 1e9 / graph.edge_count() as f64,
        iteration * 1e3
    );
    Ok(())
}
