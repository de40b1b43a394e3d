//! Files of every format: round trips, the project's own and the applications' graphs, and
//! malformed input, which must end with an error and never with a panic.

mod common;

#[path = "common/real_graphs.rs"]
mod real_graphs;

use common::shared;
use fastlbp::Error;
use fastlbp::format::{
    Dictionary, GraphFormat, read_dictionary, read_evidence, read_graph, read_graph_from_bytes,
    read_marked, read_partial_evidence, read_queries, read_ranks, read_soft_evidence, write_graph,
    write_graph_to_bytes,
};
use fastlbp::model::{Factor, FactorGraph, FactorGraphBuilder, Prior};
use proptest::prelude::*;
use real_graphs::{REAL_GRAPHS, RealGraph};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The formats that graphs are written in.
const FORMATS: [GraphFormat; 3] = [GraphFormat::CausalFg, GraphFormat::Fg, GraphFormat::Uai];
const READ_FORMATS: [GraphFormat; 4] =
    [GraphFormat::CausalFg, GraphFormat::Fg, GraphFormat::Uai, GraphFormat::Bif];

/// The project's own graphs, one at least for each format.
const OWN_FILES: [(&str, GraphFormat); 6] = [
    ("alarm_small.causal_fg", GraphFormat::CausalFg),
    ("mixed.fg", GraphFormat::Fg),
    ("mixed.uai", GraphFormat::Uai),
    ("harvest.bif", GraphFormat::Bif),
    ("engine_start.bif", GraphFormat::Bif),
    ("alert.bif", GraphFormat::Bif),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read_bytes(bytes: &[u8], format: GraphFormat) -> Result<FactorGraph, Error> {
    read_graph_from_bytes(bytes, Path::new("text"), format)
}

/// Whether an error is one that bad text may cause, with its line where it is a parse error.
fn is_input_error(error: &Error) -> bool {
    matches!(
        error,
        Error::Parse { line: 1.., .. } | Error::InvalidArgument(_) | Error::LimitExceeded(_)
    )
}

// ---------------------------------------------------------------------------------- own graphs

#[test]
fn own_graphs_are_read() {
    let graph = read_graph(&data("alarm_small.causal_fg")).unwrap();
    let counts = (graph.variable_count(), graph.factor_count(), graph.edge_count());
    assert_eq!(counts, (11, 11, 8 + 15 + 3));
    assert_eq!(graph.factor(10), Factor::Prior(Prior { p: 0.5 }));
    let evidence = read_evidence(&data("alarm_small.obs"), &graph).unwrap();
    let labels: Vec<_> = evidence.iter().map(|&(v, state)| (graph.label(v), state)).collect();
    assert_eq!(labels, [(20, 1), (15, 1)]);

    let graph = read_graph(&data("mixed.fg")).unwrap();
    assert_eq!((graph.labels(), graph.cardinalities()), (&[2, 5, 9][..], &[2, 3, 2][..]));
    assert_eq!(graph.factor(0), Factor::Table(&[0.1, 0.6, 0.2, 0.3, 0.7, 0.1]));
    assert_eq!(graph.factor(3), Factor::Table(&[2.5]));

    let graph = read_graph(&data("mixed.uai")).unwrap();
    assert_eq!((graph.labels(), graph.cardinalities()), (&[0, 1, 2][..], &[2, 3, 2][..]));
    assert_eq!(graph.factor(0), Factor::Table(&[0.1, 0.6, 0.2, 0.3, 0.7, 0.1]));
    // (x0, x1, x2) = (1, 0, 0) is entry 6 of the file and entry 1 of the graph.
    assert!(matches!(graph.factor(1), Factor::Table(values) if values[1] == 1.0));
    assert_eq!(read_evidence(&data("mixed.uai.evid"), &graph).unwrap(), [(0, 1), (1, 2)]);
}

#[test]
fn own_graphs_are_written_and_read_again() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["alarm_small.causal_fg", "mixed.fg", "mixed.uai"] {
        let graph = read_graph(&data(name)).unwrap();
        for suffix in ["", ".gz"] {
            let path = directory.path().join(format!("{name}{suffix}"));
            write_graph(&graph, &path).unwrap();
            assert_eq!(read_graph(&path).unwrap(), graph, "{}", path.display());
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes.starts_with(&[0x1f, 0x8b]), suffix == ".gz");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 6);
}

// ------------------------------------------------------------------------- applications' graphs

/// So many graphs below a folder, as many as there are.
fn check_real_graphs(folder: &Path, count: usize) {
    let mut checked = 0;
    for RealGraph { name, variables, edges, .. } in REAL_GRAPHS {
        if !folder.join(format!("{name}.causal_fg.gz")).exists() {
            continue;
        }
        checked += 1;
        let graph = read_graph(&folder.join(format!("{name}.causal_fg.gz"))).unwrap();
        let counts = (graph.variable_count(), graph.factor_count(), graph.edge_count());
        assert_eq!(counts, (variables, variables, edges), "{name}");
        // SmartFL observes values that no factor mentions, too.
        let evidence = read_partial_evidence(&folder.join(format!("{name}.obs")), &graph).unwrap();
        assert!(evidence.observed.len() > 5 * evidence.unknown.len(), "{name}");
        let text = write_graph_to_bytes(&graph, GraphFormat::CausalFg).unwrap();
        assert!(read_bytes(&text, GraphFormat::CausalFg).unwrap() == graph, "{name}");
    }
    assert_eq!(checked, count, "graphs in {}", folder.display());
}

#[test]
fn real_graphs_have_their_known_sizes_and_round_trip() {
    check_real_graphs(&data("graphs"), 4);
}

#[test]
fn large_real_graphs_have_their_known_sizes_and_round_trip() {
    if let Some(folder) = shared("graphs") {
        check_real_graphs(&folder, REAL_GRAPHS.len());
    }
}

#[test]
fn golden_graphs_are_read_in_every_format() {
    let folder = data("golden/tiny");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "causal_fg") {
            continue;
        }
        let graph = read_graph(&path).unwrap();
        assert_eq!(graph.factor_edges(graph.factor_count() - 1).end, graph.edge_count());
        for format in FORMATS {
            let text = write_graph_to_bytes(&graph, format).unwrap();
            let again = read_bytes(&text, format).unwrap();
            assert_eq!(again.edge_variables(), graph.edge_variables(), "{}", path.display());
            assert!(same_values(&graph, &again), "{}", path.display());
            assert!(format != GraphFormat::CausalFg || again == graph, "{}", path.display());
        }
        let observations = path.with_extension("obs");
        if observations.exists() {
            assert!(!read_evidence(&observations, &graph).unwrap().is_empty());
        }
        read += 1;
    }
    assert!(read > 20, "{read} graphs");
}

/// Whether all factors have the same values, bit for bit, whatever their kinds are.
fn same_values(one: &FactorGraph, other: &FactorGraph) -> bool {
    (0..one.factor_count()).all(|factor| {
        let cardinalities: Vec<usize> =
            one.factor_variables(factor).iter().map(|&v| one.cardinality(v as usize)).collect();
        let size: usize = cardinalities.iter().product();
        (0..size).all(|index| {
            let states = common::joint_state(index, &cardinalities);
            let value = |graph: &FactorGraph| {
                graph.factor(factor).value(&states, cardinalities.iter().copied())
            };
            value(one).to_bits() == value(other).to_bits()
        })
    })
}

// ---------------------------------------------------------------------------------- round trips

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(0.5),
        Just(5e-324),
        Just(1e-300),
        Just(0.1 + 0.2),
        Just(1.0 - f64::EPSILON / 2.0),
        0.0..=1.0,
        (0_u64..=0x3ff0_0000_0000_0000).prop_map(f64::from_bits),
    ]
}

/// Graphs of prior, AND and OR factors: shared heads, empty bodies, heads in bodies, labels
/// with gaps, priors like the implicit ones at their place and elsewhere.
fn horn_graph() -> impl Strategy<Value = FactorGraph> {
    let label = prop_oneof![0_u64..12, Just(1_000_000), Just(u64::MAX)];
    let body = prop::collection::vec(label.clone(), 0..5);
    let factor = (0_u8..4, label, body, probability(), probability());
    (prop::collection::vec(factor, 0..12), any::<bool>()).prop_map(|(factors, complete)| {
        let mut builder = FactorGraphBuilder::new();
        for (kind, head, body, p, q) in factors {
            match kind {
                0 => builder.add_and(head, &body, p, q),
                1 => builder.add_or(head, &body, p, q),
                2 => builder.add_prior(head, p),
                _ => builder.add_prior(head, 0.5),
            }
            .unwrap();
        }
        if complete {
            builder.add_missing_priors(0.5).unwrap();
        }
        builder.build().unwrap()
    })
}

/// Graphs of tables over variables with 2 to 4 states, constants among them.
fn table_graph() -> impl Strategy<Value = FactorGraph> {
    let states = prop::collection::vec(2_usize..5, 1..7);
    states.prop_flat_map(|states| {
        let count = states.len();
        let variables: Vec<u64> = (0..count as u64).collect();
        let scope = prop::sample::subsequence(variables, 0..=count.min(3)).prop_shuffle();
        let value = prop_oneof![Just(0.0), Just(5e-324), 0.0..1e3, Just(0.1 + 0.2), Just(1e300)];
        let states_of_scope = states.clone();
        let factor = scope.prop_flat_map(move |scope| {
            let size = scope.iter().map(|&v| states_of_scope[v as usize]).product::<usize>();
            (Just(scope), prop::collection::vec(value.clone(), size))
        });
        (Just(states), prop::collection::vec(factor, 0..6)).prop_map(|(states, factors)| {
            let mut builder = FactorGraphBuilder::new();
            let labels: Vec<u64> = (0..states.len() as u64).collect();
            builder.add_variables(&labels, &states).unwrap();
            for &label in &labels {
                let size = states[label as usize];
                builder.add_table(&[label], &vec![1.0; size]).unwrap();
            }
            for (scope, mut values) in factors {
                values[0] += 1.0;
                builder.add_table(&scope, &values).unwrap();
            }
            builder.build().unwrap()
        })
    })
}

proptest! {
    #[test]
    fn horn_graphs_round_trip(graph in horn_graph()) {
        let headless = {
            let mut heads: Vec<u32> = (0..graph.factor_count())
                .filter_map(|f| Some(graph.factor_variables(f)[graph.head_position(f)?]))
                .collect();
            heads.sort_unstable();
            heads.dedup();
            graph.variable_count() - heads.len()
        };
        let text = write_graph_to_bytes(&graph, GraphFormat::CausalFg).unwrap();
        let again = read_bytes(&text, GraphFormat::CausalFg).unwrap();
        // Variables without a head gain the implicit prior; all else is equal, and stays so.
        prop_assert_eq!(again.factor_count(), graph.factor_count() + headless);
        prop_assert!(same_values(&graph, &again));
        prop_assert!(headless > 0 || again == graph);
        let text = write_graph_to_bytes(&again, GraphFormat::CausalFg).unwrap();
        prop_assert!(read_bytes(&text, GraphFormat::CausalFg).unwrap() == again);

        for format in [GraphFormat::Fg, GraphFormat::Uai] {
            let text = match write_graph_to_bytes(&graph, format) {
                Ok(text) => text,
                Err(error) => {
                    prop_assert!(error.to_string().contains("contradicts itself"), "{error}");
                    continue;
                }
            };
            let again = read_bytes(&text, format).unwrap();
            prop_assert_eq!(again.edge_variables(), graph.edge_variables());
            prop_assert!(same_values(&graph, &again));
            prop_assert!(format == GraphFormat::Uai || again.labels() == graph.labels());
        }
    }

    #[test]
    fn table_graphs_round_trip(graph in table_graph()) {
        for format in [GraphFormat::Fg, GraphFormat::Uai] {
            let text = write_graph_to_bytes(&graph, format).unwrap();
            let again = read_bytes(&text, format).unwrap();
            prop_assert!(again == graph);
            let crlf = String::from_utf8(text).unwrap().replace('\n', "\r\n");
            prop_assert!(read_bytes(crlf.as_bytes(), format).unwrap() == graph);
        }
        let refused = write_graph_to_bytes(&graph, GraphFormat::CausalFg);
        prop_assert!(matches!(refused, Err(Error::Unsupported(_))));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in READ_FORMATS {
            if let Err(error) = read_bytes(&bytes, format) {
                prop_assert!(is_input_error(&error), "{error:?}");
            }
        }
    }

    #[test]
    fn random_tokens_never_panic(
        start in prop_oneof![Just(""), Just("MARKOV "), Just("2\n\n"), Just("1\n1\n")],
        text in "([0-9]{1,3}|[-*+I;#.]|1e400|[ \n]){0,60}",
    ) {
        let directory = tempfile::tempdir().unwrap();
        let graph = read_graph(&data("alarm_small.causal_fg")).unwrap();
        let text = format!("{start}{text}");
        for format in READ_FORMATS {
            if let Err(error) = read_bytes(text.as_bytes(), format) {
                prop_assert!(is_input_error(&error), "{error:?}");
            }
        }
        for name in ["a.obs", "a.evid"] {
            let path = directory.path().join(name);
            std::fs::write(&path, &text).unwrap();
            let others = [read_soft_evidence(&path, &graph).err(), read_queries(&path, &graph).err()];
            for error in others.iter().flatten() {
                prop_assert!(is_input_error(error), "{error:?}");
            }
            if let Err(error) = read_evidence(&path, &graph) {
                prop_assert!(is_input_error(&error), "{error:?}");
            }
            if let Err(error) = read_ranks(&path, &graph) {
                prop_assert!(is_input_error(&error), "{error:?}");
            }
        }
    }

    #[test]
    fn random_networks_never_panic(
        text in "(network |variable |probability |property |type discrete|table |default |\
            [a-c]|[0-3]|0\\.5 |\\[2\\]|[(){},;|\" /*\n]){0,60}",
    ) {
        let whole = format!("network n {{}}\nvariable a {{ type discrete[2]{{a,b}}; }}\n{text}");
        for text in [text, whole] {
            if let Err(error) = read_bytes(text.as_bytes(), GraphFormat::Bif) {
                prop_assert!(is_input_error(&error), "{error:?}");
            }
        }
    }

    #[test]
    fn changed_bytes_never_panic(
        which in 0_usize..6,
        position in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (name, format) = OWN_FILES[which];
        let mut bytes = std::fs::read(data(name)).unwrap();
        let position = position.index(bytes.len());
        bytes[position] = byte;
        if let Err(error) = read_bytes(&bytes, format) {
            prop_assert!(is_input_error(&error), "{error:?}");
        }
    }
}

// ------------------------------------------------------------------------------ malformed input

#[test]
fn files_cut_off_anywhere_are_read_or_refused() {
    for (name, format) in OWN_FILES {
        let text = std::fs::read_to_string(data(name)).unwrap();
        for text in [text.replace('\n', "\r\n"), text] {
            for length in 0..text.len() {
                if format == GraphFormat::Bif && length < text.trim_end().len() {
                    // Nothing can be left out of a network.
                    assert!(read_bytes(&text.as_bytes()[..length], format).is_err(), "{length}");
                }
                if let Err(error) = read_bytes(&text.as_bytes()[..length], format) {
                    assert!(is_input_error(&error), "{name} cut off after {length}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn files_beside_a_graph_cut_off_anywhere_are_read_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let graph = read_graph(&data("mixed.fg")).unwrap();
    let ranks: String = graph
        .edge_factors()
        .iter()
        .zip(graph.edge_variables())
        .enumerate()
        .map(|(edge, (f, &v))| format!("{f} {} {}\n", graph.label(v as usize), 100 - edge))
        .collect();
    let path = directory.path().join("all.ranks");
    std::fs::write(&path, &ranks).unwrap();
    assert_eq!(read_ranks(&path, &graph).unwrap(), [100, 99, 98, 97, 96, 95]);
    for (name, text) in [
        ("a.ranks", ranks.as_str()),
        ("a.obs", "# c\n2 true\n\n5 2\n9 0\n9 0\n"),
        ("a.uai.evid", "# c\n2\n0 1\n2 0\n"),
        ("b.evid", "1\n2 0 1 2 0\n"),
        ("a.dict", "# c\n2: a name, of two words\n\n9: b(1,2)\n"),
        ("a.alarms", "# c\n2 \"a name\" 1\n\n9 b(1,2)\n2 \"a name\" true\n"),
    ] {
        for length in 0..text.len() {
            let path = directory.path().join(name);
            std::fs::write(&path, &text[..length]).unwrap();
            let error = match name {
                "a.ranks" => read_ranks(&path, &graph).err(),
                "a.dict" => read_dictionary(&path, &graph).err(),
                "a.alarms" => read_marked(&path, &graph, &Dictionary::default()).err(),
                _ => read_evidence(&path, &graph).err(),
            };
            if let Some(error) = error {
                assert!(matches!(error, Error::Parse { .. }), "{name} cut off: {error:?}");
                assert!(error.to_string().contains(name));
            }
        }
    }
}

#[test]
fn huge_numbers_are_refused_without_memory_for_them() {
    for (text, format) in [
        ("18446744073709551615\n\n1\n*\n18446744073709551615\n1\n", GraphFormat::CausalFg),
        ("99999999999999999999\n", GraphFormat::CausalFg),
        ("1\n\n99999999999999999999\nI\n0.5\n", GraphFormat::CausalFg),
        ("18446744073709551615\n1\n4\n2\n1\n0 1\n", GraphFormat::Fg),
        ("1\n18446744073709551615\n4\n", GraphFormat::Fg),
        ("1\n2\n4 5\n4294967295 4294967295\n0\n", GraphFormat::Fg),
        ("1\n1\n4\n1000000000\n1\n0 1\n", GraphFormat::Fg),
        ("1\n1\n4\n2\n18446744073709551615\n0 1\n", GraphFormat::Fg),
        ("MARKOV\n18446744073709551615\n2\n", GraphFormat::Uai),
        ("MARKOV\n1\n2\n18446744073709551615\n1 0\n", GraphFormat::Uai),
        ("MARKOV\n1\n4294967295\n1\n1 0\n4294967295\n1", GraphFormat::Uai),
        ("MARKOV\n1\n2\n1\n18446744073709551615 0\n", GraphFormat::Uai),
    ] {
        let error = read_bytes(text.as_bytes(), format).unwrap_err();
        assert!(matches!(error, Error::Parse { .. }), "{text:?}: {error:?}");
    }
}

#[test]
fn suffixes_are_known_or_named() {
    let graph = read_graph(&data("mixed.fg")).unwrap();
    for name in ["graph", "graph.txt", "graph.gz", "graph.uai.evid", "graph.FG", ".fg", "a/.."] {
        let error = read_graph(Path::new(name)).unwrap_err();
        assert!(
            matches!(&error, Error::InvalidArgument(text)
            if text.contains(".causal_fg, .fg, .uai or .bif")),
            "{name}: {error:?}"
        );
        assert!(matches!(write_graph(&graph, Path::new(name)), Err(Error::InvalidArgument(_))));
    }
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let graph = read_graph(&data("mixed.fg")).unwrap();
    let folder = directory.path().join("folder.fg");
    std::fs::create_dir(&folder).unwrap();
    for path in [directory.path().join("missing.fg"), folder.clone(), folder.join("no/such.uai")] {
        let error = read_graph(&path).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().starts_with(&format!("{}: ", path.display())), "{error}");
    }
    for path in [folder.clone(), folder.join("no/such.uai")] {
        let error = write_graph(&graph, &path).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
    }
    // A graph that the format cannot hold leaves no file.
    let path = directory.path().join("tables.causal_fg.gz");
    assert!(matches!(write_graph(&graph, &path), Err(Error::Unsupported(_))));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn files_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("closed.fg");
    std::fs::copy(data("mixed.fg"), &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        common::report_skipped("root may read every file");
        return;
    }
    let error = read_graph(&path).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

#[test]
fn damaged_compression_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.fg.gz");
    write_graph(&read_graph(&data("mixed.fg")).unwrap(), &path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = read_graph(&path).unwrap_err();
        assert!(matches!(error, Error::Io { .. } | Error::Parse { .. }), "{length}: {error:?}");
        assert!(error.to_string().contains("a.fg.gz"), "{error}");
    }
    // Several compressed parts are one text.
    let text = std::fs::read(data("mixed.fg")).unwrap();
    let mut parts = Vec::new();
    for part in text.chunks(text.len() / 3) {
        let mut encoder = flate2::write::GzEncoder::new(&mut parts, flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    std::fs::write(&path, parts).unwrap();
    assert_eq!(read_graph(&path).unwrap(), read_graph(&data("mixed.fg")).unwrap());
    let plain = directory.path().join("b.fg");
    std::fs::write(&plain, &whole).unwrap();
    // The content tells, whatever the name.
    assert_eq!(read_graph(&plain).unwrap(), read_graph(&data("mixed.fg")).unwrap());
    std::fs::write(&path, "1\n\n1\nI\n1\n").unwrap();
    let error = read_graph(&path).unwrap_err().to_string();
    assert!(error.contains("a.fg.gz: the gzip data cannot be decompressed"), "{error}");
}
