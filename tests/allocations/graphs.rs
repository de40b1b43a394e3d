//! The graphs of the test, as arguments of the C interface and as files.

use fastlbp::format::{GraphFormat, write_graph_to_bytes};
use fastlbp::generate::bingo;
use fastlbp::model::{Factor, FactorGraph, FactorGraphBuilder, Prior};
use std::path::PathBuf;
use tempfile::TempDir;

#[derive(Clone, Copy, PartialEq)]
pub enum Size {
    /// 10 variables.
    Small,
    /// 20,000 variables.
    Large,
}

impl Size {
    pub fn variables(self) -> usize {
        match self {
            Size::Small => 10,
            Size::Large => 20_000,
        }
    }
}

/// Prior, AND and OR factors, and some of each other kind.
#[derive(Default)]
pub struct Lists {
    pub kinds: Vec<u32>,
    pub heads: Vec<u64>,
    pub body_offsets: Vec<usize>,
    pub bodies: Vec<u64>,
    /// p and q.
    pub probabilities: [Vec<f64>; 2],
    /// Scopes of three variables each, for factors of the other kinds.
    pub scopes: Vec<u64>,
}

pub struct Inputs {
    pub lists: Lists,
    pub observations: Vec<(u64, u32)>,
    pub directory: TempDir,
}

const BIF: &str = "network n { property p; }
variable \"rain or snow\" { type discrete [3] { no, \"a little\", much }; }
variable wet { type discrete [2] { yes, no }; }
probability (\"rain or snow\") { table 0.5 0.25 0.25; }
probability (wet | \"rain or snow\") { (no) 0.1 0.9; (\"a little\") 0.75 0.25; default 0.99 0.01; }
";

impl Inputs {
    pub fn new(size: Size) -> Self {
        let generated = bingo(size.variables(), 1).unwrap();
        let graph = &generated.graph;
        let lists = lists(graph);
        let directory = tempfile::tempdir().unwrap();
        let inputs = Self {
            lists,
            observations: generated
                .observations
                .iter()
                .map(|&(v, state)| (graph.label(v), state as u32))
                .collect(),
            directory,
        };
        for (name, format) in [
            ("g.causal_fg", GraphFormat::CausalFg),
            ("g.fg", GraphFormat::Fg),
            ("g.uai", GraphFormat::Uai),
        ] {
            let text = write_graph_to_bytes(&tables(graph, format), format).unwrap();
            std::fs::write(inputs.path(name), text).unwrap();
        }
        fastlbp::format::write_graph(graph, &inputs.path("g.causal_fg.gz")).unwrap();
        std::fs::write(inputs.path("g.bif"), BIF).unwrap();
        std::fs::write(inputs.path("wrong.fg"), "1\n\n2\n1 1\n").unwrap();
        std::fs::write(inputs.path("g.ranks"), ranks(graph)).unwrap();
        let lines = |line: &dyn Fn(u64, u32) -> String| -> String {
            inputs.observations.iter().map(|&(label, state)| line(label, state)).collect()
        };
        let first = graph.label(0);
        let obs = lines(&|label, state| format!("{label} {state}\n"));
        std::fs::write(inputs.path("e.obs"), format!("{obs}123456789 1\n")).unwrap();
        std::fs::write(inputs.path("e.soft"), format!("{first} 0.5 0.25\n123456789 1 2\n"))
            .unwrap();
        std::fs::write(inputs.path("e.queries"), lines(&|label, _| format!("{label}\n"))).unwrap();
        let bif = "\"rain or snow\" \"a little\"\nwet yes\n\"not there\" x\n";
        std::fs::write(inputs.path("bif.obs"), bif).unwrap();
        inputs
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// The label of a head, and those of the body.
fn split(labels: &[u64], head: usize) -> (u64, Vec<u64>) {
    let mut body = labels.to_vec();
    (body.remove(head), body)
}

fn lists(graph: &FactorGraph) -> Lists {
    let mut lists = Lists { body_offsets: vec![0], ..Lists::default() };
    for factor in 0..graph.factor_count() {
        let variables = graph.factor_variables(factor);
        let (kind, p, q) = match graph.factor(factor) {
            Factor::Prior(Prior { p }) => (fastlbp::ffi::FASTLBP_FACTOR_PRIOR, p, 0.0),
            Factor::And(horn) => (fastlbp::ffi::FASTLBP_FACTOR_AND, horn.p, horn.q),
            Factor::Or(horn) => (fastlbp::ffi::FASTLBP_FACTOR_OR, horn.p, horn.q),
            other => unreachable!("{other:?}"),
        };
        let head = graph.head_position(factor).unwrap();
        lists.kinds.push(kind);
        let labels: Vec<u64> = variables.iter().map(|&v| graph.label(v as usize)).collect();
        let (head, body) = split(&labels, head);
        lists.heads.push(head);
        lists.bodies.extend(body);
        lists.body_offsets.push(lists.bodies.len());
        lists.probabilities[0].push(p);
        lists.probabilities[1].push(q);
    }
    let scopes = (graph.variable_count() / 100).max(1);
    for scope in 0..scopes as u64 {
        lists.scopes.extend([3 * scope, 3 * scope + 2, 3 * scope + 4]);
    }
    lists
}

/// The graph itself or, for formats of tables, a part of which all factors are small.
fn tables(graph: &FactorGraph, format: GraphFormat) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    for factor in 0..graph.factor_count() {
        let labels: Vec<u64> =
            graph.factor_variables(factor).iter().map(|&v| graph.label(v as usize)).collect();
        match graph.factor(factor) {
            Factor::Prior(Prior { p }) => builder.add_prior(labels[0], p).unwrap(),
            _ if format != GraphFormat::CausalFg && labels.len() > 6 => {
                builder.add_prior(labels[0], 0.5).unwrap();
            }
            Factor::And(horn) => {
                let (head, body) = split(&labels, horn.head);
                builder.add_and(head, &body, horn.p, horn.q).unwrap();
            }
            Factor::Or(horn) => {
                let (head, body) = split(&labels, horn.head);
                builder.add_or(head, &body, horn.p, horn.q).unwrap();
            }
            other => unreachable!("{other:?}"),
        }
    }
    builder.build().unwrap()
}

fn ranks(graph: &FactorGraph) -> String {
    let edge = |edge: usize| {
        let label = graph.label(graph.edge_variables()[edge] as usize);
        format!("{} {label} {}\n", graph.edge_factors()[edge], edge % 7)
    };
    (0..graph.edge_count()).map(edge).collect()
}
