//! Reference values, computed in 128-bit arithmetic, against the library: those of `tests/data`, and the
//! larger ones of `../shared`, which are skipped, with a line that says so, where that directory is absent.

use crate::common::{data, shared};
use fastlbp::format::{read_graph, read_partial_evidence};
use fastlbp::model::{Factor, Prior};
use fastlbp::schedule::Preorder;
use fastlbp::{
    BeliefPropagation, Contradiction, Control, EngineOptions, Error, Evidence, FactorGraph,
    FactorGraphBuilder, RunReport, RunRequest, Schedule, Start, StopRule,
};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All tests against the reference values, with options of an engine; none are checked where there are no options.
macro_rules! golden_tests {
    ($options:expr) => {
        use golden::{Set, check_directory, check_real};

        golden_tests! { $options, options;
            tiny_graphs: check_directory(Set::InTree, "tiny", 360, true, options);
            middle_sized_graphs: check_directory(Set::InTree, "fixed", 32, false, options);
            larger_graphs: check_directory(Set::Larger, "fixed", 8, false, options);
            graphs_that_need_care: check_directory(Set::InTree, "robust", 6, true, options);
            trees_are_exact: golden::trees_are_exact(options);
            contradictory_evidence_is_reported: golden::contradictory_evidence_is_reported(options);
            explicit_orders: golden::explicit_orders(options);
            bingo_runs: golden::bingo_runs(options);
            real_smartfl_graphs: check_real(Set::InTree, "smartfl", 6, options);
            real_bingo_graphs: check_real(Set::InTree, "bingo", 6, options);
            large_smartfl_graphs: check_real(Set::Larger, "smartfl", 6, options);
            large_bingo_graphs: check_real(Set::Larger, "bingo", 8, options);
        }
    };
    ($given:expr, $options:ident; $($name:ident: $check:expr;)*) => {
        $(#[test]
        fn $name() {
            if let Some($options) = $given {
                $check;
            }
        })*
    };
}

/// Which of the reference values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Those of the tree.
    InTree,
    /// Those that only `../shared` has.
    Larger,
}

impl Set {
    /// A part of the data; `None`, reported as skipped, where it is not there.
    fn part(self, part: &str) -> Option<PathBuf> {
        match self {
            Self::InTree => Some(data(part)),
            Self::Larger => shared(part),
        }
    }

    /// The files of a part, sorted by name.
    fn files(self, part: &str) -> Option<(PathBuf, Vec<String>)> {
        let directory = self.part(part)?;
        let mut names = file_names(&directory);
        if self == Self::Larger {
            let in_tree = file_names(&data(part));
            names.retain(|name| in_tree.binary_search(name).is_err());
        }
        Some((directory, names))
    }
}

/// Largest absolute difference from a reference value.
const ABSOLUTE: f64 = 1e-12;
/// Largest absolute difference of what a trace says about an iteration: a sum of rounding errors, as many
/// of these runs never settle.
const TRACE: f64 = 1e-9;
/// Largest relative difference, where that is asked for.
const RELATIVE: f64 = 1e-10;
/// Smaller values need not be told from zero.
const SMALLEST: f64 = 1e-200;
/// Error of a probability near 1 that is given as an `f64`.
const ROUNDING: f64 = 1.2e-16;

fn read_text(path: &Path) -> String {
    let mut text = String::new();
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        std::io::BufReader::new(file).read_to_string(&mut text).unwrap();
    }
    text
}

fn file_names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Lines of whitespace-separated words, without comments.
fn words(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_whitespace().collect())
}

/// (label, P(x=1)) of a `.ref` or `.exact` file.
fn reference(path: &Path) -> Vec<(u64, f64)> {
    let values: Vec<(u64, f64)> = words(&read_text(path))
        .map(|line| (line[0].parse().unwrap(), line[1].parse().unwrap()))
        .collect();
    assert!(!values.is_empty(), "{}: no values", path.display());
    values
}

fn load_graph(directory: &Path, name: &str) -> Arc<FactorGraph> {
    let plain = directory.join(format!("{name}.causal_fg"));
    let path = if plain.exists() { plain } else { directory.join(format!("{name}.causal_fg.gz")) };
    Arc::new(read_graph(&path).unwrap())
}

/// The evidence beside a graph, if there is any.
fn load_evidence(directory: &Path, name: &str, graph: &FactorGraph) -> Evidence {
    let mut evidence = Evidence::new();
    let path = directory.join(format!("{name}.obs"));
    if path.exists() {
        for (variable, state) in read_partial_evidence(&path, graph).unwrap().observed {
            evidence.observe(graph, variable, state).unwrap();
        }
    }
    evidence
}

fn session(
    graph: &Arc<FactorGraph>, schedule: Schedule, evidence: Evidence, options: EngineOptions,
) -> BeliefPropagation {
    let mut session = BeliefPropagation::new(graph.clone(), schedule, options).unwrap();
    session.set_evidence(&evidence).unwrap();
    session
}

fn schedule(name: &str) -> Schedule {
    Schedule::from_name(name, 0).unwrap()
}

/// Largest absolute difference; `what` names the case in a failure.
fn check_absolute(session: &BeliefPropagation, values: &[(u64, f64)], what: &str) -> f64 {
    let mut largest = 0.0_f64;
    for &(label, wanted) in values {
        let variable = session.graph().variable_of_label(label).unwrap();
        let [p0, p1] = session.marginal(variable).unwrap() else { panic!("not binary") };
        let difference = (p1 - wanted).abs().max((p0 + p1 - 1.0).abs());
        assert!(difference <= ABSOLUTE, "{what}: label {label}: {p1:e} instead of {wanted:e}");
        largest = largest.max(difference);
    }
    largest
}

/// Checks p to a relative error, and 1 - p as far as a reference value for p alone can tell: that is
/// for p >= 1/2, where 1 - p is exact but for the rounding of p itself.
fn check_relative(session: &BeliefPropagation, values: &[(u64, f64)], what: &str) {
    for &(label, wanted) in values {
        let variable = session.graph().variable_of_label(label).unwrap();
        let [p0, p1] = session.marginal(variable).unwrap() else { panic!("not binary") };
        assert_relative(*p1, wanted, 0.0, &format!("{what}: label {label}: p"));
        if wanted >= 0.5 {
            let name = format!("{what}: label {label}: 1 - p");
            assert_relative(*p0, 1.0 - wanted, ROUNDING, &name);
        }
    }
}

fn assert_relative(got: f64, wanted: f64, slack: f64, what: &str) {
    let close = if wanted >= SMALLEST {
        (got - wanted).abs() <= RELATIVE * wanted + slack
    } else {
        (0.0..=SMALLEST.max(slack)).contains(&got)
    };
    assert!(close, "{what}: {got:e} instead of {wanted:e}");
}

/// The graph with both states of every variable exchanged: an AND becomes an OR, p(x=1) becomes
/// p(x=0). Messages are the same but for the names of the states, so that the reference values for
/// p hold for 1 - p of this graph, down to the smallest ones.
fn mirrored(graph: &FactorGraph) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    for factor in 0..graph.factor_count() {
        let labels: Vec<u64> =
            graph.factor_variables(factor).iter().map(|&v| graph.label(v as usize)).collect();
        let body = |head: usize, head_in_body: bool| {
            let mut body = labels.clone();
            if !head_in_body {
                body.remove(head);
            }
            body
        };
        match graph.factor(factor) {
            // As a table, since 1 - p as a parameter would be rounded.
            Factor::Prior(Prior { p }) => builder.add_table(&labels, &[p, 1.0 - p]).unwrap(),
            Factor::And(horn) => {
                let body = body(horn.head, horn.head_in_body);
                builder.add_or(labels[horn.head], &body, horn.p, horn.q).unwrap();
            }
            Factor::Or(horn) => {
                let body = body(horn.head, horn.head_in_body);
                builder.add_and(labels[horn.head], &body, horn.p, horn.q).unwrap();
            }
            Factor::Table(values) => {
                let reversed: Vec<f64> = values.iter().rev().copied().collect();
                builder.add_table(&labels, &reversed).unwrap();
            }
            other => panic!("{other:?}: no file of the golden values has such a factor"),
        }
    }
    Arc::new(builder.build().unwrap())
}

fn mirrored_evidence(graph: &FactorGraph, evidence: &Evidence) -> Evidence {
    let mut mirrored = Evidence::new();
    for (variable, entry) in evidence.iter() {
        let fastlbp::VariableEvidence::Observed(state) = entry else { panic!("not observed") };
        mirrored.observe(graph, variable, 1 - *state as usize).unwrap();
    }
    mirrored
}

/// `NAME.SCHEDULE.ITERATIONS.ref[.gz]` with a number of iterations, as (name, schedule, iterations).
fn parse_reference_name(file: &str) -> Option<(&str, &str, u64)> {
    let stem = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".ref")?;
    let (rest, iterations) = stem.rsplit_once('.')?;
    let (name, schedule) = rest.rsplit_once('.')?;
    Some((name, schedule, iterations.parse().ok()?))
}

/// Runs all references of a directory for fixed numbers of iterations.
pub fn check_directory(
    set: Set, part: &str, cases: usize, exact_at_zero: bool, options: EngineOptions,
) {
    let Some((directory, names)) = set.files(&format!("golden/{part}")) else { return };
    let mut checked = 0;
    let mut largest = 0.0_f64;
    for file in &names {
        let Some((name, schedule_name, iterations)) = parse_reference_name(file) else { continue };
        let values = reference(&directory.join(file));
        let graph = load_graph(&directory, name);
        let evidence = load_evidence(&directory, name, &graph);
        let request = RunRequest::new(StopRule::Iterations(iterations));
        let mut direct = session(&graph, schedule(schedule_name), evidence.clone(), options);
        direct.run(&request).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(values.len(), graph.variable_count(), "{file}");
        largest = largest.max(check_absolute(&direct, &values, file));
        if exact_at_zero {
            check_relative(&direct, &values, file);
            let graph = mirrored(&graph);
            let evidence = mirrored_evidence(&graph, &evidence);
            let mut mirror = session(&graph, schedule(schedule_name), evidence, options);
            mirror.run(&request).unwrap_or_else(|error| panic!("{file} mirrored: {error}"));
            for &(label, wanted) in &values {
                let variable = graph.variable_of_label(label).unwrap();
                let p0 = mirror.marginal(variable).unwrap()[0];
                assert_relative(p0, wanted, 0.0, &format!("{file} mirrored: label {label}: 1 - p"));
            }
        }
        checked += 1;
    }
    println!("golden/{part}: {checked} references, largest difference {largest:e}");
    assert_eq!(checked, cases, "golden/{part}: references found");
}

/// Brute-force posteriors of the tree-shaped graphs (`tree*`, `u_*`).
pub fn trees_are_exact(options: EngineOptions) {
    let directory = data("golden/tiny");
    let mut checked = 0;
    for file in file_names(&directory) {
        let Some(name) = file.strip_suffix(".exact") else { continue };
        if !name.starts_with("tree") && !name.starts_with("u_") {
            continue;
        }
        let values = reference(&directory.join(&file));
        let graph = load_graph(&directory, name);
        let evidence = load_evidence(&directory, name, &graph);
        for (schedule, iterations) in [
            (Schedule::Tree, 1),
            (Schedule::Parallel, 50),
            (Schedule::SequentialFixed, 50),
            (Schedule::SequentialRandom { seed: 1 }, 50),
            (Schedule::Topological, 50),
        ] {
            let what = format!("{file} {}", schedule.name());
            let mut session = session(&graph, schedule, evidence.clone(), options);
            session.run(&RunRequest::new(StopRule::Iterations(iterations))).unwrap();
            check_absolute(&session, &values, &what);
            check_relative(&session, &values, &what);
            checked += 1;
        }
    }
    println!("golden/tiny: {checked} exact posteriors");
    assert!(checked > 100);
}

pub fn contradictory_evidence_is_reported(options: EngineOptions) {
    let directory = data("golden/robust");
    let graph = load_graph(&directory, "contra");
    let evidence = load_evidence(&directory, "contra", &graph);
    for schedule in [
        Schedule::Parallel,
        Schedule::SequentialFixed,
        Schedule::SequentialRandom { seed: 1 },
        Schedule::Topological,
        Schedule::Tree,
    ] {
        let name = schedule.name();
        let mut session = session(&graph, schedule, evidence.clone(), options);
        let mut request = RunRequest::new(StopRule::Iterations(60));
        match session.run(&request) {
            Err(Error::Contradiction { label: 0 | 1, .. }) => {}
            other => panic!("{name}: {other:?}"),
        }
        request.contradiction = Contradiction::Vote;
        let report = session.run(&request).unwrap();
        assert!(report.contradictions > 0 && report.first_contradiction.is_some(), "{name}");
        assert!(session.marginals().unwrap().iter().all(|p| (0.0..=1.0).contains(p)), "{name}");
    }
}

/// Explicit orders: every iteration has one of its own, as a schedule that is changed between warm runs
/// of one iteration each.
pub fn explicit_orders(options: EngineOptions) {
    let (directory, graphs) = (data("golden/order"), data("golden/fixed"));
    for (name, iterations) in [("bingo_700", 3), ("smartfl_1000", 3)] {
        let graph = load_graph(&graphs, name);
        let evidence = load_evidence(&graphs, name, &graph);
        let text = read_text(&directory.join(format!("{name}.{iterations}.seq")));
        let orders: Vec<Schedule> = words(&text).map(|line| order(&graph, &line)).collect();
        assert_eq!(orders.len(), iterations);
        let mut session = session(&graph, orders[0].clone(), evidence, options);
        for order in orders {
            session.set_schedule(order).unwrap();
            let request =
                RunRequest { start: Start::Warm, ..RunRequest::new(StopRule::Iterations(1)) };
            session.run(&request).unwrap();
        }
        assert_eq!(session.report().unwrap().total_iterations, iterations as u64);
        let values = reference(&directory.join(format!("{name}.{iterations}.ref")));
        let largest = check_absolute(&session, &values, name);
        println!("golden/order/{name}: largest difference {largest:e}");
    }
}

/// A strict order of all edges, given as `factorposition:variablelabel`.
fn order(graph: &FactorGraph, line: &[&str]) -> Schedule {
    let mut ranks = vec![u64::MAX; graph.edge_count()];
    for (rank, word) in line.iter().enumerate() {
        let (factor, label) = word.split_once(':').unwrap();
        let variable = graph.variable_of_label(label.parse().unwrap()).unwrap();
        let edge = graph.edge(factor.parse().unwrap(), variable).unwrap();
        assert_eq!(ranks[edge], u64::MAX, "edge {word} twice");
        ranks[edge] = rank as u64;
    }
    assert!(!ranks.contains(&u64::MAX), "an edge is missing");
    Schedule::Custom(Arc::new(Preorder::from_ranks(graph, &ranks).unwrap()))
}

/// Runs BINGO's rule and compares every iteration with the trace: largest difference and share.
fn check_bingo_run(session: &mut BeliefPropagation, rule: StopRule, trace: &Path) -> RunReport {
    let trace_text = read_text(trace);
    let lines: HashMap<u64, (f64, f64)> = words(&trace_text)
        .map(|line| {
            (line[0].parse().unwrap(), (line[1].parse().unwrap(), line[2].parse().unwrap()))
        })
        .collect();
    let last = lines.keys().copied().max().unwrap();
    let request = RunRequest { contradiction: Contradiction::Error, ..RunRequest::new(rule) };
    let mut checked = 0;
    let report = session
        .run_monitored(&request, &mut |progress| {
            if let Some(&(max_diff, frac)) = lines.get(&progress.iterations) {
                let iteration = progress.iterations;
                assert_eq!(
                    progress.active_fraction,
                    frac,
                    "{}: iteration {iteration}",
                    trace.display()
                );
                let difference = (progress.max_diff - max_diff).abs();
                assert!(
                    difference <= TRACE,
                    "{}: iteration {iteration}: {difference:e}",
                    trace.display()
                );
                checked += 1;
            }
            Control::Continue
        })
        .unwrap();
    assert_eq!(report.iterations, last, "{}", trace.display());
    assert_eq!(report.active_fraction, lines[&last].1, "{}", trace.display());
    assert_eq!(checked, lines.len(), "{}", trace.display());
    report
}

pub fn bingo_runs(options: EngineOptions) {
    let (directory, graphs) = (data("golden/bingo_run"), data("golden/fixed"));
    let mut checked = 0;
    for file in file_names(&directory) {
        let Some(stem) = file.strip_suffix(".trace") else { continue };
        // NAME.obs.TOL_MIN_MAX_HIST
        let (name, rule) = stem.split_once(".obs.").unwrap();
        let parts: Vec<&str> = rule.split('_').collect();
        let rule = StopRule::Bingo {
            tolerance: parts[0].parse().unwrap(),
            min_iterations: parts[1].parse().unwrap(),
            max_iterations: parts[2].parse().unwrap(),
            history: parts[3].parse().unwrap(),
        };
        let graph = load_graph(&graphs, name);
        let evidence = load_evidence(&graphs, name, &graph);
        let mut session = session(&graph, Schedule::SequentialFixed, evidence, options);
        let report = check_bingo_run(&mut session, rule, &directory.join(&file));
        let values = reference(&directory.join(format!("{stem}.ref")));
        let largest = check_absolute(&session, &values, stem);
        println!(
            "golden/bingo_run/{stem}: {} iterations, frac {}, largest difference {largest:e}",
            report.iterations, report.active_fraction
        );
        checked += 1;
    }
    assert_eq!(checked, 4);
}

/// The graphs of the applications, on the large ones for a sample of the variables.
pub fn check_real(set: Set, kind: &str, cases: usize, options: EngineOptions) {
    let (Some((directory, files)), Some(graphs)) =
        (set.files("golden/real"), set.part(&format!("graphs/{kind}")))
    else {
        return;
    };
    let mut checked = 0;
    // Files of one graph are neighbours: it is read once.
    let mut loaded: Option<(String, Arc<FactorGraph>, Evidence)> = None;
    for file in files {
        let Some(stem) = file.strip_suffix(".ref.gz") else { continue };
        let (rest, iterations) = stem.rsplit_once('.').unwrap();
        let (name, schedule_name) = rest.rsplit_once('.').unwrap();
        if !graphs.join(format!("{name}.causal_fg.gz")).exists() {
            continue;
        }
        if loaded.as_ref().is_none_or(|(loaded_name, ..)| loaded_name != name) {
            let graph = load_graph(&graphs, name);
            let evidence = load_evidence(&graphs, name, &graph);
            assert!(!evidence.is_empty());
            loaded = Some((name.to_string(), graph, evidence));
        }
        let (_, graph, evidence) = loaded.as_ref().unwrap();
        let start = std::time::Instant::now();
        let mut session = session(graph, schedule(schedule_name), evidence.clone(), options);
        let report = if iterations == "bingo" {
            let rule = StopRule::Bingo {
                tolerance: 1e-6,
                min_iterations: 500,
                max_iterations: 1000,
                history: 100,
            };
            check_bingo_run(&mut session, rule, &directory.join(format!("{name}.trace")))
        } else {
            let rule = StopRule::Iterations(iterations.parse().unwrap());
            session.run(&RunRequest::new(rule)).unwrap()
        };
        let values = reference(&directory.join(&file));
        let largest = check_absolute(&session, &values, &file);
        println!(
            "golden/real/{stem}: {} iterations, {} values, largest difference {largest:e}, {:.2} s",
            report.iterations,
            values.len(),
            start.elapsed().as_secs_f64()
        );
        checked += 1;
    }
    assert_eq!(checked, cases, "references of {kind} graphs");
}
