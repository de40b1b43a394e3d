//! Files of graphs.

use super::{check_memory, check_parse_error, scratch};
use crate::memory::peak_of;
use fastlbp::engine::Backend;
use fastlbp::format::{
    GraphFormat, Names, Network, read_network, read_network_from_bytes, write_graph_to_bytes,
};
use fastlbp::{
    BeliefPropagation, Contradiction, EngineOptions, Error, FactorGraph, RunRequest, Schedule,
    Start, StopRule,
};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Formats that can be written.
const WRITTEN: [GraphFormat; 3] = [GraphFormat::CausalFg, GraphFormat::Fg, GraphFormat::Uai];
/// Most entries of all factors of a graph as tables that are worth while.
const ENTRIES: usize = 2048;
/// Iterations of a comparison of marginals.
const ITERATIONS: u64 = 4;
/// Largest difference of marginals of a graph in two formats: rounding.
const TOLERANCE: f64 = 1e-9;

pub fn causal_fg(bytes: &[u8]) {
    graph(bytes, GraphFormat::CausalFg);
}

pub fn fg(bytes: &[u8]) {
    graph(bytes, GraphFormat::Fg);
}

pub fn uai(bytes: &[u8]) {
    graph(bytes, GraphFormat::Uai);
}

pub fn bif(bytes: &[u8]) {
    graph(bytes, GraphFormat::Bif);
}

/// Compressed files: as they come, or made of a text and then changed at a place.
pub fn gzip(bytes: &[u8]) {
    let [kind, place, value, rest @ ..] = bytes else { return };
    let mut content = rest.to_vec();
    if kind & 1 == 1 {
        let level = flate2::Compression::new(u32::from(kind >> 1 & 7));
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        // Much that compresses well.
        let blanks = if kind & 64 != 0 { usize::from(*place) << 8 } else { 0 };
        encoder.write_all(&vec![b'\n'; blanks]).expect("memory");
        encoder.write_all(rest).expect("memory");
        content = encoder.finish().expect("memory");
        let place = usize::from(*place) % content.len();
        content[place] ^= value;
    }
    let names = ["x.fg.gz", "x.causal_fg.gz", "x.uai.gz", "x.bif.gz"];
    let path = scratch(names[usize::from(kind >> 4 & 3)]);
    std::fs::write(&path, &content).expect("a file");
    let (result, peak) = peak_of(|| read_network(&path));
    // A compressed text may unpack to 64 times its length and 16 MiB, read into twice that.
    let most = (32 << 20) + 2 * 64 * content.len() + tables_of(64 * content.len() + (16 << 20));
    assert!(peak <= most, "{peak} bytes of memory for {} bytes", content.len());
    match result {
        Ok(network) => check_graph(&network.graph),
        Err(error) => {
            assert!(error.to_string().contains("/x."), "{error}");
            let expected =
                matches!(error, Error::Io { .. } | Error::Parse { .. } | Error::LimitExceeded(_));
            assert!(expected || matches!(error, Error::InvalidArgument(_)), "{error:?}");
        }
    }
}

/// Bytes of the longest tables that a text may stand for (see [`GraphFormat::Fg`]), and of what is made
/// of them when the graph is built.
fn tables_of(length: usize) -> usize {
    4 * 8 * ((1 << 20) + 4 * length)
}

fn graph(bytes: &[u8], format: GraphFormat) {
    let name = Path::new("input");
    let (result, peak) = peak_of(|| read_network_from_bytes(bytes, name, format));
    let sparse = matches!(format, GraphFormat::Fg | GraphFormat::Bif);
    check_memory(peak, bytes.len(), if sparse { tables_of(bytes.len()) } else { 0 });
    let Network { graph, names } = match result {
        Ok(network) => network,
        Err(error) => return check_parse_error(&error, name, bytes),
    };
    check_graph(&graph);
    assert_eq!(names.is_some(), format == GraphFormat::Bif);
    if let Some(names) = &names {
        check_names(names, &graph);
    }
    let entries = (0..graph.factor_count()).map(|f| graph.joint_states(f).unwrap_or(usize::MAX));
    if entries.fold(0, usize::saturating_add) > ENTRIES || graph.state_count() > ENTRIES {
        return;
    }
    let results = results_of(&graph, false);
    for written in WRITTEN {
        let Some(again) = written_and_read(&graph, written, format) else { continue };
        if written == format || format == GraphFormat::Bif && written == GraphFormat::Uai {
            assert!(again == graph, "{written:?}: the graph that was read again is another one");
            continue;
        }
        assert_eq!(again.cardinalities(), graph.cardinalities(), "{written:?}");
        assert!(written == GraphFormat::Uai || again.labels() == graph.labels());
        // Tables once as they are, once as what structure they have.
        for compile_tables in [false, true] {
            compare(&results, &results_of(&again, compile_tables), written);
        }
    }
}

/// Writes a graph, reads it again, and once more with the ends of lines of other systems; `None` where
/// the format cannot hold it.
fn written_and_read(
    graph: &FactorGraph, format: GraphFormat, from: GraphFormat,
) -> Option<FactorGraph> {
    let name = Path::new("written");
    let text = match write_graph_to_bytes(graph, format) {
        Ok(text) => text,
        Err(error) => {
            assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
            assert_ne!(format, from, "what was read cannot be written: {error}");
            return None;
        }
    };
    let read = |text: &[u8]| {
        let network = read_network_from_bytes(text, name, format);
        let text = String::from_utf8_lossy(text);
        network.unwrap_or_else(|error| panic!("{error}, in what was written:\n{text}")).graph
    };
    let again = read(&text);
    let second = write_graph_to_bytes(&again, format).expect("what was written once");
    // A `.causal_fg` gets priors for variables without a head when it is read.
    if format == from || format != GraphFormat::CausalFg {
        assert!(second == text, "{format:?}: the second text is another one");
    }
    let text = String::from_utf8(text).expect("text").replace('\n', "\r\n");
    assert!(read(text.as_bytes()) == again, "{format:?}: CRLF");
    Some(again)
}

/// What the engine takes for granted.
fn check_graph(graph: &FactorGraph) {
    assert!(graph.labels().windows(2).all(|pair| pair[0] < pair[1]), "labels ascend");
    assert_eq!(graph.labels().len(), graph.variable_count());
    let mut edges = 0;
    for factor in 0..graph.factor_count() {
        assert_eq!(graph.factor_edges(factor).start, edges);
        edges = graph.factor_edges(factor).end;
        let variables = graph.factor_variables(factor);
        assert!(variables.windows(2).all(|pair| pair[0] < pair[1]), "scopes ascend");
        assert!(variables.iter().all(|&v| (v as usize) < graph.variable_count()));
    }
    assert_eq!(edges, graph.edge_count());
    for (variable, &label) in graph.labels().iter().enumerate() {
        assert_eq!(graph.variable_of_label(label), Some(variable));
        assert!(graph.cardinality(variable) > 0);
    }
}

fn check_names(names: &Names, graph: &FactorGraph) {
    assert_eq!(names.variable_count(), graph.variable_count());
    for variable in 0..names.variable_count() {
        assert_eq!(names.find_variable(names.variable(variable)), Some(variable));
        assert_eq!(names.states(variable).len(), graph.cardinality(variable));
        for (state, name) in names.states(variable).enumerate() {
            assert_eq!(names.find_state(variable, name), Some(state));
        }
    }
}

/// Marginals after some iterations.
struct Results {
    marginals: Vec<f64>,
    contradictions: u64,
}

fn results_of(graph: &FactorGraph, compile_tables: bool) -> Option<Results> {
    let backend = Backend::Cpu;
    let options = EngineOptions { backend, threads: Some(1), compile_tables, ..Default::default() };
    let mut bp = match BeliefPropagation::new(Arc::new(graph.clone()), Schedule::Parallel, options)
    {
        Ok(bp) => bp,
        // Values that no message can hold.
        Err(Error::InvalidArgument(_) | Error::Unsupported(_)) => return None,
        Err(error) => panic!("{error}"),
    };
    let request = RunRequest {
        contradiction: Contradiction::Vote,
        start: Start::Warm,
        ..RunRequest::new(StopRule::Iterations(1))
    };
    let mut contradictions = 0;
    for _ in 0..ITERATIONS {
        contradictions += bp.run(&request).expect("a run").contradictions;
    }
    let marginals = bp.marginals().expect("results").to_vec();
    assert!(marginals.iter().all(|p| (0.0..=1.0).contains(p)), "{marginals:?}");
    Some(Results { marginals, contradictions })
}

fn compare(one: &Option<Results>, other: &Option<Results>, format: GraphFormat) {
    let (Some(one), Some(other)) = (one, other) else { return };
    // A vote counts deterministic messages, of which a factor without effect has none.
    if one.contradictions + other.contradictions > 0 {
        return;
    }
    for (state, (a, b)) in one.marginals.iter().zip(&other.marginals).enumerate() {
        assert!((a - b).abs() <= TOLERANCE * a.max(*b), "{format:?}, state {state}: {a:e}, {b:e}");
    }
}
