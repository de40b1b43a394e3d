//! The number of levels of real graphs is at most the known minimum.

mod common;

use fastlbp::model::{FactorGraph, FactorGraphBuilder, FactorKind};
use fastlbp::schedule::{Schedule, Storage, analyse};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// Graph, variables, edges, minimal levels of SEQFIX with values in place. The first two of each folder are in
/// the tree.
const GRAPHS: [(&str, usize, usize, usize); 12] = [
    ("smartfl/Chart-24", 1_312, 4_110, 78),
    ("smartfl/Math-41", 5_525, 15_902, 1_203),
    ("smartfl/Math-3", 36_416, 117_589, 3_193),
    ("smartfl/Math-2", 49_158, 171_878, 5_988),
    ("smartfl/Chart-1", 186_193, 692_716, 11_548),
    ("smartfl/Math-27", 262_200, 904_124, 23_833),
    ("smartfl/Chart-15", 490_322, 1_865_561, 136_186),
    ("bingo/jspider-thresc", 1_442, 3_603, 18),
    ("bingo/weblech-thresc", 2_832, 6_347, 10),
    ("bingo/luindex-thresc", 31_369, 84_747, 137),
    ("bingo/ftp-thresc", 31_550, 67_995, 41),
    ("bingo/sunflow-thresc", 162_528, 446_012, 162),
];

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
        check_levels(&graphs, GRAPHS.len());
    }
}

/// So many graphs below a folder, as many as there are.
fn check_levels(graphs: &Path, count: usize) {
    let mut checked = 0;
    for (name, variables, edges, known) in GRAPHS {
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
