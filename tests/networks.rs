//! Bayesian networks: the project's own against sums over all joint states, random ones against
//! their text, and the published ones of pgmpy against its variable elimination.

mod common;

use fastlbp::format::{
    GraphFormat, NamedGraph, Names, Network, read_evidence, read_network, read_network_from_bytes,
    write_graph,
};
use fastlbp::model::FactorGraph;
use fastlbp::{BeliefPropagation, EngineOptions, Evidence, RunRequest, Schedule, StopRule};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(path: &Path) -> (Arc<FactorGraph>, Names) {
    let Network { graph, names } = read_network(path).unwrap();
    (Arc::new(graph), names.expect("a .bif file has names"))
}

/// Marginals after one TREE iteration.
fn tree_iteration(graph: &Arc<FactorGraph>, observed: &[(usize, usize)]) -> BeliefPropagation {
    let mut bp =
        BeliefPropagation::new(graph.clone(), Schedule::Tree, EngineOptions::default()).unwrap();
    let mut evidence = Evidence::new();
    for &(variable, state) in observed {
        evidence.observe(graph, variable, state).unwrap();
    }
    bp.set_evidence(&evidence).unwrap();
    bp.run(&RunRequest::new(StopRule::Iterations(1))).unwrap();
    bp
}

/// Marginals of all variables as sums over all joint states.
fn enumerate(graph: &FactorGraph, observed: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let cardinalities: Vec<usize> =
        (0..graph.variable_count()).map(|variable| graph.cardinality(variable)).collect();
    let mut sums: Vec<Vec<f64>> = cardinalities.iter().map(|&r| vec![0.0; r]).collect();
    let joint_states: usize = cardinalities.iter().product();
    for index in 0..joint_states {
        let states = common::joint_state(index, &cardinalities);
        if observed.iter().any(|&(variable, state)| states[variable] != state) {
            continue;
        }
        let mut weight = 1.0;
        for factor in 0..graph.factor_count() {
            let scope = graph.factor_variables(factor);
            let local: Vec<usize> = scope.iter().map(|&v| states[v as usize]).collect();
            let radices = scope.iter().map(|&v| cardinalities[v as usize]);
            weight *= graph.factor(factor).value(&local, radices);
        }
        for (variable, &state) in states.iter().enumerate() {
            sums[variable][state] += weight;
        }
    }
    for sum in &mut sums {
        let total: f64 = sum.iter().sum();
        sum.iter_mut().for_each(|value| *value /= total);
    }
    sums
}

/// Whether the graph of variables and factors has no cycle.
fn is_forest(graph: &FactorGraph) -> bool {
    let mut above: Vec<usize> = (0..graph.variable_count() + graph.factor_count()).collect();
    let root = |above: &[usize], mut node: usize| {
        while above[node] != node {
            node = above[node];
        }
        node
    };
    graph.edge_factors().iter().zip(graph.edge_variables()).all(|(&factor, &variable)| {
        let factor = root(&above, graph.variable_count() + factor as usize);
        let variable = root(&above, variable as usize);
        above[factor] = variable;
        factor != variable
    })
}

#[track_caller]
fn assert_close(found: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (found_value, wanted_value) in found.iter().zip(wanted) {
        assert!((found_value - wanted_value).abs() <= 1e-12, "{what}: {found:?}, not {wanted:?}");
    }
}

// ------------------------------------------------------------------------------- own networks

/// A network, observations by name, and marginals that were computed by another program from the
/// tables as a person reads them.
type Reference<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a [f64])]);

const REFERENCES: [Reference<'_>; 6] = [
    (
        "harvest.bif",
        &[],
        &[
            ("soil", &[0.28125, 0.4375, 0.28125]),
            ("crop", &[0.325, 0.328125, 0.346875]),
            ("flood", &[0.1375, 0.8625]),
            ("price", &[0.55765625, 0.44234375]),
        ],
    ),
    (
        "harvest.bif",
        &[("price", "low"), ("flood", "yes")],
        &[
            ("season", &[0.08121114898736716, 0.18488068979346298, 0.7339081612191698]),
            ("soil", &[0.10908361740525364, 0.508822939643072, 0.38209344295167436]),
            ("crop", &[0.10346901945057146, 0.35512332063364743, 0.541407659915781]),
        ],
    ),
    (
        "engine_start.bif",
        &[],
        &[
            ("spark", &[0.197, 0.803]),
            ("start", &[0.2760955, 0.0975645, 0.62634]),
            ("heard", &[0.29931585, 0.70068415]),
            ("gauge 1", &[0.22, 0.78]),
        ],
    ),
    (
        "engine_start.bif",
        &[("heard", "silence"), ("gauge 1", "high")],
        &[
            ("battery-level", &[0.35304046591951616, 0.4038373226681679, 0.243122211412316]),
            ("fuel.left", &[0.052403459419373966, 0.9475965405806261]),
            ("spark", &[0.7285899647313967, 0.27141003526860336]),
            ("start", &[0.7919845462682998, 0.06206196270579708, 0.14595349102590316]),
        ],
    ),
    ("alert.bif", &[], &[("heat", &[0.73, 0.165, 0.105]), ("alert", &[0.87402, 0.12598])]),
    (
        "alert.bif",
        &[("alert", "yes")],
        &[
            ("fault", &[0.4972217812351168, 0.5027782187648833]),
            ("heat", &[0.15462771868550562, 0.23902603587871088, 0.6063462454357834]),
            ("vibration", &[0.48384664232417846, 0.5161533576758215]),
        ],
    ),
];

#[test]
fn own_networks_have_their_known_marginals() {
    for (file, observed, wanted) in REFERENCES {
        let (graph, names) = read(&data(file));
        let observed: Vec<(usize, usize)> = observed
            .iter()
            .map(|(name, state)| {
                let variable = names.find_variable(name).unwrap();
                (variable, names.find_state(variable, state).unwrap())
            })
            .collect();
        let exact = enumerate(&graph, &observed);
        for (name, wanted) in wanted {
            let variable = names.find_variable(name).unwrap();
            assert_close(&exact[variable], wanted, &format!("{file}: {name}"));
        }
        assert_eq!(is_forest(&graph), file != "alert.bif", "{file}");
        if is_forest(&graph) {
            let bp = tree_iteration(&graph, &observed);
            for (variable, exact) in exact.iter().enumerate() {
                let what = format!("{file}: {}", names.variable(variable));
                assert_close(bp.marginal(variable).unwrap(), exact, &what);
            }
        }
    }
}

/// Without evidence nothing comes up from below, so that only the foot of the loop is not exact.
#[test]
fn belief_propagation_is_exact_above_the_foot_of_a_loop() {
    let (graph, names) = read(&data("alert.bif"));
    let exact = enumerate(&graph, &[]);
    let options = EngineOptions::default();
    let mut bp = BeliefPropagation::new(graph, Schedule::Parallel, options).unwrap();
    let rule = StopRule::Tolerance { tolerance: 1e-14, max_iterations: 100 };
    assert!(bp.run(&RunRequest::new(rule)).unwrap().converged);
    for name in ["fault", "heat", "vibration"] {
        let variable = names.find_variable(name).unwrap();
        assert_close(bp.marginal(variable).unwrap(), &exact[variable], name);
    }
    let alert = names.find_variable("alert").unwrap();
    assert!((bp.probability(alert).unwrap() - exact[alert][1]).abs() > 1e-3);
}

#[test]
fn networks_convert_to_the_formats_of_tables() {
    let directory = tempfile::tempdir().unwrap();
    for file in ["harvest.bif", "engine_start.bif", "alert.bif"] {
        let (graph, names) = read(&data(file));
        for suffix in ["fg", "uai", "fg.gz"] {
            let path = directory.path().join("converted").with_extension(suffix);
            write_graph(&graph, &path).unwrap();
            let other = read_network(&path).unwrap();
            assert!(other.graph == *graph, "{file} as {suffix}");
            assert!(other.names.is_none());
        }
        let error = write_graph(&graph, &directory.path().join("again.bif")).unwrap_err();
        assert!(error.to_string().contains(".bif"), "{error}");
        // Observations by name, by label, and mixed, are the same.
        let path = directory.path().join("seen.obs");
        let last = names.variable_count() - 1;
        let (name, state) = (names.variable(last), names.state(last, 1));
        let named = NamedGraph::new(&graph, Some(&names)).unwrap();
        std::fs::write(&path, format!("\"{name}\" \"{state}\"\n0 0\n{last} \"{state}\"\n"))
            .unwrap();
        assert_eq!(read_evidence(&path, named).unwrap(), [(last, 1), (0, 0)], "{file}");
    }
}

// ---------------------------------------------------------------------------- random networks

/// A Bayesian network: parents of a variable come before it.
#[derive(Clone, Debug)]
struct RandomNetwork {
    cardinalities: Vec<usize>,
    parents: Vec<Vec<usize>>,
}

fn network() -> impl Strategy<Value = RandomNetwork> {
    prop::collection::vec(2_usize..5, 1..6).prop_flat_map(|cardinalities| {
        let parents: Vec<_> = (0..cardinalities.len())
            .map(|v| prop::sample::subsequence((0..v).collect::<Vec<_>>(), 0..=v.min(3)))
            .collect();
        (Just(cardinalities), parents)
            .prop_map(|(cardinalities, parents)| RandomNetwork { cardinalities, parents })
    })
}

/// Value of a table at the states of its variables, by ascending variable.
type Entry = (Vec<usize>, f64);

impl RandomNetwork {
    /// The network as text, with tables, rows and defaults, and all values of each variable's table.
    fn text(&self, seed: u64) -> (String, Vec<Vec<Entry>>) {
        let mut text = "network n { }\n".to_string();
        let mut random = seed;
        let mut next = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for (v, r) in self.cardinalities.iter().enumerate() {
            let states: Vec<String> = (0..*r).map(|state| format!("s{state}")).collect();
            text +=
                &format!("variable v-{v} {{ type discrete [{r}] {{ {} }}; }}\n", states.join(", "));
        }
        let mut tables = Vec::new();
        for child in (0..self.cardinalities.len()).rev() {
            let (r, parents) = (self.cardinalities[child], &self.parents[child]);
            let rows: usize = parents.iter().map(|&parent| self.cardinalities[parent]).product();
            // Distributions in 64ths, so that text and sums are exact.
            let distributions: Vec<Vec<f64>> = (0..rows)
                .map(|row| {
                    let mut left = 64;
                    let mut values: Vec<f64> = (1..r)
                        .map(|_| {
                            // Some rows are equal, for `default`.
                            let part = if row % 3 == 2 { left / 2 } else { next(left + 1) };
                            left -= part;
                            part as f64 / 64.0
                        })
                        .collect();
                    values.push(left as f64 / 64.0);
                    values
                })
                .collect();
            let list =
                |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            // The last parent varies fastest.
            let states_of = |mut row: usize| {
                let mut states = vec![0; parents.len()];
                for (state, &parent) in states.iter_mut().zip(parents).rev() {
                    *state = row % self.cardinalities[parent];
                    row /= self.cardinalities[parent];
                }
                states
            };
            let head: Vec<String> = parents.iter().map(|parent| format!("v-{parent}")).collect();
            let bar = if head.is_empty() { "" } else { " | " };
            text += &format!("probability ( v-{child}{bar}{} ) {{\n", head.join(", "));
            let whole = next(2) == 0;
            if whole {
                let values: Vec<f64> =
                    (0..r * rows).map(|i| distributions[i % rows][i / rows]).collect();
                text += &format!("  table {};\n", list(&values));
            }
            let default = (!whole && rows > 2 && next(2) == 0).then(|| &distributions[2]);
            if let Some(values) = default {
                text += &format!("  default {};\n", list(values));
            }
            let rows_to_write = if whole { 0 } else { rows };
            for row in (0..rows_to_write).rev() {
                if default == Some(&distributions[row]) {
                    continue;
                }
                let states: Vec<String> =
                    states_of(row).iter().map(|state| format!("s{state}")).collect();
                text += &format!("  ({}) {};\n", states.join(", "), list(&distributions[row]));
            }
            text += "}\n";
            let mut table = Vec::new();
            for (row, values) in distributions.iter().enumerate() {
                for (state, &value) in values.iter().enumerate() {
                    // Parents come before the child.
                    let mut states = states_of(row);
                    states.push(state);
                    table.push((states, value));
                }
            }
            tables.push(table);
        }
        tables.reverse();
        (text, tables)
    }
}

proptest! {
    /// What a network written by hand says is what is read, whichever way its tables are written.
    #[test]
    fn networks_are_read_as_they_are_written(network in network(), seed in any::<u64>()) {
        let (text, tables) = network.text(seed);
        let read = read_network_from_bytes(text.as_bytes(), Path::new("text"), GraphFormat::Bif);
        let Network { graph, names } = read.unwrap();
        let names = names.unwrap();
        prop_assert_eq!(graph.factor_count(), network.cardinalities.len());
        for (child, table) in tables.iter().enumerate() {
            prop_assert_eq!(names.variable(child), format!("v-{child}"));
            // Blocks are in reverse order.
            let factor = graph.factor_count() - 1 - child;
            prop_assert_eq!(graph.factor_variables(factor).last(), Some(&(child as u32)));
            for (states, value) in table {
                let radices = graph.factor_variables(factor).iter();
                let radices = radices.map(|&v| graph.cardinality(v as usize));
                prop_assert_eq!(graph.factor(factor).value(states, radices), *value);
            }
        }
        let crlf = text.replace('\n', "\r\n");
        let read = read_network_from_bytes(crlf.as_bytes(), Path::new("text"), GraphFormat::Bif);
        prop_assert!(read.unwrap().graph == graph);
    }
}

// ------------------------------------------------------------------------- published networks

/// Runs Python; `None` where it, or what it needs, is missing.
fn python(arguments: &[&str]) -> Option<String> {
    let output = Command::new("python3").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// All .bif and .bif.gz files in the directory that FASTLBP_BIF_DIR names, or else in pgmpy's.
fn published() -> Option<Vec<PathBuf>> {
    // This finds the package without importing it and all that it needs.
    const FIND: &str = "import importlib.util, os; print(os.path.join(importlib.util.find_spec(\
         'pgmpy').submodule_search_locations[0], 'utils', 'example_models'))";
    let directory = match std::env::var_os("FASTLBP_BIF_DIR") {
        Some(directory) => PathBuf::from(directory),
        None => match python(&["-c", FIND]) {
            Some(path) => PathBuf::from(path.trim_end()),
            None => {
                common::report_skipped(
                    "no BIF files: FASTLBP_BIF_DIR is not set, and python3 has no pgmpy",
                );
                return None;
            }
        },
    };
    let entries = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".bif") || name.ends_with(".bif.gz")
    });
    files.sort();
    assert!(!files.is_empty(), "{} has no .bif or .bif.gz file", directory.display());
    Some(files)
}

#[test]
fn published_networks_are_read() {
    let Some(files) = published() else { return };
    for path in files {
        let (graph, names) = read(&path);
        let what = path.display();
        // One block per variable, which is a proper conditional distribution.
        assert_eq!(graph.factor_count(), graph.variable_count(), "{what}");
        assert_eq!(names.variable_count(), graph.variable_count(), "{what}");
        for variable in 0..names.variable_count() {
            assert_eq!(names.states(variable).len(), graph.cardinality(variable), "{what}");
            assert_eq!(names.find_variable(names.variable(variable)), Some(variable), "{what}");
        }
        // Trees small enough to enumerate are exact.
        let joint_states: f64 = graph.cardinalities().iter().map(|&r| f64::from(r)).product();
        if is_forest(&graph) && joint_states < 1e6 {
            let observed = [(graph.variable_count() - 1, 0)];
            for observed in [&[][..], &observed] {
                let bp = tree_iteration(&graph, observed);
                for (variable, exact) in enumerate(&graph, observed).iter().enumerate() {
                    let what = format!("{what}: {}", names.variable(variable));
                    assert_close(bp.marginal(variable).unwrap(), exact, &what);
                }
            }
        }
    }
}

#[test]
fn trees_agree_with_the_variable_elimination_of_pgmpy() {
    let Some(files) = published() else { return };
    let mut networks: Vec<(String, Arc<FactorGraph>, Names)> = Vec::new();
    for path in files.into_iter().chain([data("harvest.bif")]) {
        let (graph, names) = read(&path);
        if is_forest(&graph) {
            networks.push((path.to_str().unwrap().to_string(), graph, names));
        }
    }
    if python(&["-c", "import pgmpy.inference, pgmpy.readwrite"]).is_none() {
        common::report_skipped("python3 cannot import pgmpy");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pgmpy_marginals.py");
    let paths = networks.iter().map(|(path, ..)| path.as_str());
    let arguments: Vec<&str> = std::iter::once(script).chain(paths).collect();
    let output = python(&arguments).expect("pgmpy computes the marginals");
    for (path, graph, names) in &networks {
        let last = graph.variable_count() - 1;
        let prior = tree_iteration(graph, &[]);
        let posterior = tree_iteration(graph, &[(last, 0)]);
        let mut compared = 0;
        for line in output.lines() {
            let [file, case, variable, state, value] = line.split('\t').collect::<Vec<_>>()[..]
            else {
                panic!("{line}")
            };
            if file != path {
                continue;
            }
            let bp = if case == "prior" { &prior } else { &posterior };
            let variable = names.find_variable(variable).unwrap();
            let state = names.find_state(variable, state).unwrap();
            let found = bp.marginal(variable).unwrap()[state];
            assert_close(&[found], &[value.parse().unwrap()], line);
            compared += 1;
        }
        let wanted = 2 * graph.state_count() - graph.cardinality(last);
        assert_eq!(compared, wanted, "{path}");
    }
}
