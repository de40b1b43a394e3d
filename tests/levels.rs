//! The number of levels of real graphs is at most the known minimum.

mod common;

#[path = "common/real_graphs.rs"]
mod real_graphs;

use fastlbp::model::{FactorGraph, FactorGraphBuilder, FactorKind};
use fastlbp::schedule::{Schedule, Storage, analyse};
use real_graphs::{REAL_GRAPHS, RealGraph};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// Reads just enough of the format for well-formed files; values do not matter here.
fn read_graph(path: &Path) -> FactorGraph {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let count: usize = lines.next().unwrap().trim().parse().unwrap();
    let mut builder = FactorGraphBuilder::new();
    let mut labels = BTreeSet::new();
    let mut heads = BTreeSet::new();
    for _ in 0..count {
        assert_eq!(lines.next().unwrap().trim(), "");
        let head: u64 = lines.next().unwrap().trim().parse().unwrap();
        heads.insert(head);
        labels.insert(head);
        let kind = lines.next().unwrap().trim();
        let number = lines.next().unwrap().trim();
        if kind == "I" {
            builder.add_prior(head, 0.5).unwrap();
            continue;
        }
        let body: Vec<u64> =
            lines.next().unwrap().split_whitespace().map(|label| label.parse().unwrap()).collect();
        assert_eq!(body.len(), number.parse::<usize>().unwrap());
        labels.extend(&body);
        let kind = if kind.starts_with('*') { FactorKind::And } else { FactorKind::Or };
        builder.add_horn(kind, head, &body, 0.5, 0.5).unwrap();
    }
    for &label in labels.difference(&heads) {
        builder.add_prior(label, 0.5).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn real_graphs_need_at_most_the_known_levels() {
    check_levels(&common::data("graphs"), 4);
}

#[test]
fn large_real_graphs_need_at_most_the_known_levels() {
    if let Some(graphs) = common::shared("graphs") {
        check_levels(&graphs, REAL_GRAPHS.len());
    }
}

/// So many graphs below a folder, as many as there are.
fn check_levels(graphs: &Path, count: usize) {
    let mut checked = 0;
    for RealGraph { name, variables, edges, levels: known } in REAL_GRAPHS {
        let path = graphs.join(format!("{name}.causal_fg.gz"));
        if !path.exists() {
            continue;
        }
        checked += 1;
        let graph = read_graph(&path);
        assert_eq!((graph.variable_count(), graph.edge_count()), (variables, edges), "{name}");
        let mut line = format!("{name}: SEQFIX known {known}");
        let all = Schedule::named(1, Schedule::DEFAULT_BLOCKS);
        for schedule in all.into_iter().filter(|schedule| schedule.name() != "SEQMAX") {
            let preorder = schedule.preorder(&graph, 0).unwrap();
            line += &format!("; {}", schedule.name());
            for storage in [Storage::InPlace, Storage::SideBySide] {
                let started = Instant::now();
                let levels = analyse(&graph, &preorder, storage).unwrap();
                let seconds = started.elapsed().as_secs_f64();
                line += &format!(" {} ({:.1} ms)", levels.count(), seconds * 1e3);
                let fixed = schedule.name() == "SEQFIX";
                assert!(!fixed || levels.count() <= known, "{name}: {}", levels.count());
            }
        }
        println!("{line}");
    }
    assert_eq!(checked, count, "graphs in {}", graphs.display());
}
