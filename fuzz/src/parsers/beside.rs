//! Files about a graph: evidence, hard and soft, queries, ranks. The first byte chooses the graph.

use super::{check_memory, check_parse_error, scratch};
use crate::memory::peak_of;
use fastlbp::format::{
    GraphFormat, NamedGraph, Network, push_f64, read_evidence, read_network_from_bytes,
    read_observations, read_partial_evidence, read_queries, read_ranks, read_soft_evidence,
    read_uai_evidence, read_uai_evidence_samples, write_observations, write_uai_evidence,
};
use fastlbp::schedule::Preorder;
use fastlbp::{Error, Evidence, FactorGraph, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names with blanks, quotes and numbers; numbers as states.
const NAMED: &str = r#"network n {}
variable "wet grass" { type discrete [2] { yes, "very so" }; }
variable 17 { type discrete [3] { x, 0, z }; }
variable #a { type discrete [2] { 2, 1 }; }
probability ("wet grass") { table 0.25, 0.75; }
probability (17 | "wet grass") { default 0.5, 0.25, 0.25; }
probability (#a | 17, "wet grass") { default 0.5, 0.5; }
"#;

const NAMED_WITHOUT_NUMBERS: &str = "network n {}
variable rain { type discrete [2] { no, yes }; }
variable sun { type discrete [1] { always }; }
probability (rain) { table 0.25, 0.75; }
probability (sun | rain) { default 1; }
";

/// The graphs that files are about.
pub(super) fn networks() -> &'static [Network] {
    static NETWORKS: OnceLock<Vec<Network>> = OnceLock::new();
    NETWORKS.get_or_init(|| {
        let data = |text: &str, format| {
            read_network_from_bytes(text.as_bytes(), Path::new("graph"), format)
                .expect("a text of this file")
        };
        vec![
            data(include_str!("../../../tests/data/mixed.fg"), GraphFormat::Fg),
            data(include_str!("../../../tests/data/alarm_small.causal_fg"), GraphFormat::CausalFg),
            data(NAMED, GraphFormat::Bif),
            data(NAMED_WITHOUT_NUMBERS, GraphFormat::Bif),
            data("0\n", GraphFormat::CausalFg),
        ]
    })
}

/// The graph that the first byte chooses, and the text after it.
pub(super) fn split(bytes: &[u8]) -> Option<(&'static Network, NamedGraph<'static>, &[u8])> {
    let (first, text) = bytes.split_first()?;
    let networks = networks();
    let network = &networks[usize::from(*first) % networks.len()];
    let named = NamedGraph::new(&network.graph, network.names.as_ref()).expect("its own names");
    Some((network, named, text))
}

/// Writes a text to a file and reads it; what is refused is refused properly.
fn read<T>(name: &str, text: &[u8], read: impl FnOnce(&Path) -> Result<T>) -> Option<(T, PathBuf)> {
    // Bytes that begin as gzip data do are unpacked, whatever the name says: the target `gzip`.
    if text.starts_with(&[0x1f, 0x8b]) {
        return None;
    }
    let path = scratch(name);
    std::fs::write(&path, text).expect("a file");
    let (result, peak) = peak_of(|| read(&path));
    check_memory(peak, text.len(), 0);
    match result {
        Ok(value) => Some((value, path)),
        Err(error) => {
            check_parse_error(&error, &path, text);
            assert!(matches!(error, Error::Parse { .. }), "{error:?}");
            None
        }
    }
}

fn check_pairs(pairs: &[(usize, usize)], graph: &FactorGraph) {
    let mut seen = vec![false; graph.variable_count()];
    for &(variable, state) in pairs {
        assert!(state < graph.cardinality(variable));
        assert!(!std::mem::replace(&mut seen[variable], true), "{variable} twice");
    }
}

pub fn observations(bytes: &[u8]) {
    let Some((network, named, text)) = split(bytes) else { return };
    let found = read("x.obs", text, |path| read_partial_evidence(path, named));
    let Some((evidence, path)) = found else { return };
    check_pairs(&evidence.observed, &network.graph);
    let all = read_evidence(&path, named);
    assert_eq!(all.is_ok(), evidence.unknown.is_empty());
    assert!(all.is_err() || all.is_ok_and(|all| all == evidence.observed));
    let again = scratch("again.obs");
    write_observations(&evidence.observed, &network.graph, &again).expect("evidence is written");
    // Labels are written, which in a graph whose names are numbers mean other variables.
    let read = read_observations(&again, &network.graph).expect("evidence is read again");
    assert_eq!(read, evidence.observed);
}

pub fn uai_evidence(bytes: &[u8]) {
    let Some((network, named, text)) = split(bytes) else { return };
    let graph = &network.graph;
    let found = read("x.uai.evid", text, |path| read_uai_evidence_samples(path, graph));
    let Some((samples, path)) = found else { return };
    samples.iter().for_each(|sample| check_pairs(sample, graph));
    let only = read_evidence(&path, named);
    assert_eq!(only.is_ok(), samples.len() == 1);
    for sample in samples.iter().take(3) {
        let again = scratch("again.uai.evid");
        write_uai_evidence(sample, graph, &again).expect("evidence is written");
        assert_eq!(&read_uai_evidence(&again, graph).expect("evidence is read again"), sample);
    }
}

pub fn ranks(bytes: &[u8]) {
    let Some((network, _, text)) = split(bytes) else { return };
    let graph = &network.graph;
    let Some((ranks, _)) = read("x.ranks", text, |path| read_ranks(path, graph)) else { return };
    let preorder = Preorder::from_ranks(graph, &ranks).expect("a rank per edge");
    assert_eq!(preorder.edge_count(), graph.edge_count());
    let mut again = String::new();
    for (edge, rank) in ranks.iter().enumerate().rev() {
        let variable = graph.edge_variables()[edge] as usize;
        writeln!(again, "{} {} {rank}", graph.edge_factors()[edge], graph.label(variable))
            .expect("memory");
    }
    let read = read("again.ranks", again.as_bytes(), |path| read_ranks(path, graph));
    assert!(read.is_some_and(|(again, _)| again == ranks));
}

pub fn queries(bytes: &[u8]) {
    let Some((network, named, text)) = split(bytes) else { return };
    let Some((queries, _)) = read("x.queries", text, |path| read_queries(path, named)) else {
        return;
    };
    assert!(queries.iter().all(|&variable| variable < network.graph.variable_count()));
    let again: String = queries.iter().map(|&v| named.describe(v) + "\n").collect();
    let read = read("again.queries", again.as_bytes(), |path| read_queries(path, named));
    assert!(read.is_some_and(|(again, _)| again == queries));
}

pub fn soft_evidence(bytes: &[u8]) {
    let Some((network, named, text)) = split(bytes) else { return };
    let found = read("x.soft", text, |path| read_soft_evidence(path, named));
    let Some((soft, _)) = found else { return };
    let mut evidence = Evidence::new();
    soft.add_to(named, &mut evidence).expect("nothing is observed");
    assert_eq!(evidence.len(), soft.likelihoods.len());
    let mut again = Vec::new();
    for likelihood in &soft.likelihoods {
        again.extend_from_slice(named.describe(likelihood.variable).as_bytes());
        for &weight in &likelihood.weights {
            again.push(b' ');
            push_f64(&mut again, weight);
        }
        again.push(b'\n');
    }
    let read = read("again.soft", &again, |path| read_soft_evidence(path, named));
    let mut second = Evidence::new();
    let (again, _) = read.expect("soft evidence is read again");
    again.add_to(&network.graph, &mut second).expect("nothing is observed");
    assert_eq!(second, evidence);
}
