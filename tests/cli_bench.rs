//! `fastlbp bench`: what it prints and how it fails. Times are not judged.

#![cfg(feature = "cli")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

/// Exit code, standard output and error; measurements are short.
fn bench(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
    command.arg("bench").args(arguments).args(["--iterations", "3", "--repeats", "2"]);
    let output = command.stdin(Stdio::null()).env_remove("FASTLBP_DEVICE").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> (Option<i32>, Value) {
    let (code, out, err) = bench(&[arguments, &["--json"]].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
}

#[test]
fn the_table_has_a_line_per_graph_schedule_and_backend() {
    let (alarm, chain) = (data("alarm_small.causal_fg"), data("chain.causal_fg"));
    let (code, out, err) = bench(&[&alarm, &chain, "--backend", "cpu", "--threads", "1"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 5, "{out}");
    assert_eq!(rows[0].last(), Some(&"graph"));
    for (row, (schedule, graph, sizes)) in rows[1..].iter().zip([
        ("PARALL", &alarm, ["11", "11", "26"]),
        ("SEQFIX", &alarm, ["11", "11", "26"]),
        ("PARALL", &chain, ["3", "3", "5"]),
        ("SEQFIX", &chain, ["3", "3", "5"]),
    ]) {
        assert_eq!(row.len(), 16, "{out}");
        assert_eq!(row[..3], [schedule, "cpu", "1"]);
        assert_eq!(row[3..6], sizes);
        assert!(row[6..14].iter().all(|cell| cell.parse::<f64>().is_ok_and(|x| x >= 0.0)), "{out}");
        assert!(row[14].ends_with('%'), "{out}");
        assert_eq!(row[15], graph);
    }
}

/// With BINGO's rule, the run is that of a query.
#[test]
fn runs_by_bingos_rule() {
    let alarm = data("alarm_small.causal_fg");
    let bingo = |rule| json(&[&alarm, "--schedule", "SEQFIX", "--backend", "cpu", "--bingo", rule]);
    let (code, report) = bingo("1e-6,20,30,10");
    assert_eq!(code, Some(0));
    let iterations = report["measurements"][0]["run_iterations"].as_u64().unwrap();
    assert!((20..=30).contains(&iterations), "{report}");
    // A measurement has as many iterations as runs take that converge.
    let chain = data("chain.causal_fg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
    command.args(["bench", &chain, "--backend", "cpu", "--bingo", "1e-6,500,1000,100", "--json"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let iterations = report["measurements"][0]["iterations"].as_u64().unwrap();
    assert!((1..10).contains(&iterations), "{report}");
    let (code, _, err) = bench(&[&alarm, "--bingo", "1e-6,20"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("TOL,MIN,MAX,HIST"), "{err}");
}

/// Options of runs are those of `fastlbp infer`.
#[test]
fn runs_by_maxima_damped_ones_and_active_sets() {
    let chain = data("chain.causal_fg");
    let options = ["--inference", "max", "--damping", "0.5", "--schedule", "PARALL"];
    let (code, report) = json(&[&[chain.as_str(), "--backend", "cpu"], &options[..]].concat());
    assert_eq!(code, Some(0));
    let damped = report["measurements"][0]["run_iterations"].as_u64().unwrap();
    let (_, report) = json(&[&chain, "--backend", "cpu", "--schedule", "PARALL"]);
    let plain = report["measurements"][0]["run_iterations"].as_u64().unwrap();
    assert!(damped > plain, "{report}");
    let active = ["--active", "10", "--schedule", "PARALL"];
    let (_, report) = json(&[&[chain.as_str(), "--backend", "cpu"], &active[..]].concat());
    assert!(report["measurements"][0]["run_iterations"].as_u64().unwrap() < plain, "{report}");
}

#[test]
fn json_has_all_of_it_in_seconds() {
    let mixed = data("mixed.fg");
    let (code, json) = json(&[
        &mixed,
        "--backend",
        "cpu,auto",
        "--schedule",
        "parall",
        "--schedule",
        "TREE,SEQMAX",
    ]);
    assert_eq!(code, Some(0));
    assert!(json["failures"].as_array().unwrap().is_empty());
    let measurements = json["measurements"].as_array().unwrap();
    let schedules: Vec<&str> =
        measurements.iter().map(|m| m["schedule"].as_str().unwrap()).collect();
    assert_eq!(schedules, ["PARALL", "PARALL", "TREE", "TREE", "SEQMAX", "SEQMAX"]);
    for measurement in measurements {
        assert_eq!(measurement["graph"], mixed.as_str());
        assert_eq!(measurement["backend"], "cpu", "what AUTO chooses for a small graph");
        assert_eq!((&measurement["iterations"], &measurement["repeats"]), (&3.into(), &2.into()));
        let number = |name: &str| measurement[name].as_f64().unwrap_or_else(|| panic!("{name}"));
        let edges = number("edges");
        assert!((number("iteration_per_edge") * edges / number("iteration") - 1.0).abs() < 1e-9);
        assert!(number("iteration_bytes") >= 20.0 * edges);
        let speed = number("iteration_bytes") / number("iteration");
        assert!((number("bytes_per_second") / speed - 1.0).abs() < 1e-9);
        let share = number("bytes_per_second") / number("copy_bytes_per_second");
        assert!((number("floor_share") / share - 1.0).abs() < 1e-9);
        assert!(number("read") > 0.0 && number("prepare") > 0.0 && number("run") > 0.0);
        assert!(number("run_iterations") >= 1.0 && measurement["run_cut"] == false);
        let is_residual = measurement["schedule"] == "SEQMAX";
        assert_eq!(measurement["levels"].is_null(), is_residual);
        assert_eq!(measurement["analyse"].is_null(), is_residual);
    }
}

#[test]
fn evidence_is_the_file_next_to_the_graph() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::copy(data("chain.causal_fg"), path("a.b.causal_fg")).unwrap();
    fs::write(path("other.obs"), "3 1\n5 0\n").unwrap();
    let graph = path("a.b.causal_fg");
    let observed = |arguments: &[&str]| {
        let common = [graph.as_str(), "--backend", "cpu", "--schedule", "PARALL"];
        let (code, json) = json(&[&common, arguments].concat());
        assert_eq!(code, Some(0), "{json}");
        json["measurements"][0]["observed"].clone()
    };
    assert_eq!(observed(&[]), 0);
    fs::write(path("a.b.obs"), "8 1\n").unwrap();
    assert_eq!(observed(&[]), 1);
    assert_eq!(observed(&["--no-evidence"]), 0);
    assert_eq!(observed(&["--evidence", &path("other.obs")]), 2);
    // Beside it there may be soft evidence, of which a wrong one is said.
    fs::write(path("soft.txt"), "3 0.2 0.8\n5 1 3\n").unwrap();
    assert_eq!(observed(&["--soft-evidence", &path("soft.txt")]), 3);
    fs::write(path("wrong.txt"), "3 0.2\n").unwrap();
    let (code, _, err) = bench(&[&graph, "--soft-evidence", &path("wrong.txt")]);
    assert_eq!(code, Some(2));
    assert!(err.contains("wrong.txt:1"), "{err}");
    // A wrong one is said, not passed over.
    fs::write(path("a.b.obs"), "8 maybe\n").unwrap();
    let (code, _, err) = bench(&[&graph]);
    assert_eq!(code, Some(2));
    assert!(err.contains("a.b.obs:1: variable 8 has the value 'maybe'"), "{err}");
}

#[test]
fn a_failure_does_not_stop_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = directory.path().join("wrong.causal_fg").display().to_string();
    fs::write(&wrong, "nothing of the kind\n").unwrap();
    let (chain, missing) = (data("chain.causal_fg"), data("missing.causal_fg"));
    let graphs = [&missing[..], &chain, &wrong, "--backend", "cpu", "--schedule", "SEQFIX"];
    let (code, out, err) = bench(&graphs);
    assert_eq!((code, out.lines().count()), (Some(2), 2), "{out}{err}");
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 3, "{err}");
    assert!(lines[0].starts_with("fastlbp: warning: ") && lines[0].contains("missing.causal_fg"));
    assert!(lines[1].starts_with("fastlbp: warning: ") && lines[1].contains("wrong.causal_fg:1: "));
    assert_eq!(lines[2], "fastlbp: error: 2 of 3 measurements failed, see the warnings");
    let (code, json) = json(&graphs);
    assert_eq!(code, Some(2));
    assert_eq!(json["measurements"].as_array().unwrap().len(), 1);
    assert_eq!(json["failures"][0]["graph"], missing.as_str());
    assert!(json["failures"][1]["schedule"].is_null());
}

#[test]
fn a_backend_that_is_not_there_is_a_failure_of_its_own() {
    // Also on a machine with a driver: this one is found first.
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("libcuda.so.1"), "no library").unwrap();
    let graph = data("chain.causal_fg");
    let output = Command::new(env!("CARGO_BIN_EXE_fastlbp"))
        .args(["bench", &graph, "--backend", "cuda,cpu", "--schedule", "PARALL", "--json"])
        .args(["--iterations", "1", "--repeats", "1"])
        .env("LD_LIBRARY_PATH", directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["measurements"][0]["backend"], "cpu");
    let failure = &json["failures"][0];
    assert_eq!((&failure["backend"], &failure["schedule"]), (&"cuda".into(), &"PARALL".into()));
    assert!(failure["reason"].as_str().unwrap().contains("backend 'cuda'"), "{failure}");
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("PARALL, cuda: backend 'cuda': "), "{err}");
}

#[test]
fn contradictions_are_voted_on() {
    let (code, out, err) =
        bench(&[&data("contradiction.causal_fg"), "--backend", "cpu", "--schedule", "PARALL"]);
    assert_eq!((code, out.lines().count(), err.as_str()), (Some(0), 2, ""));
}

#[test]
fn wrong_options_say_what_is_right() {
    let graph = data("chain.causal_fg");
    for (arguments, why) in [
        (&[][..], "<GRAPH>"),
        (&[&graph, "--schedule", "PARALLEL"], "PARALL"),
        (&[&graph, "--backend", "gpu"], "cuda"),
        (&[&graph, "--threads", "0"], "1..=1024"),
        (&[&graph, "--damping", "1"], "--damping"),
        (&[&graph, "--active", "-1"], "a number >= 0"),
        (&[&graph, "--active", "0", "--damping", "0.5"], "cannot be used with"),
        (&[&graph, "--inference", "mean"], "sum"),
        (&[&graph, &graph, "--evidence", "x.obs"], "--evidence x.obs with 2 graphs"),
        (&[&graph, "--no-evidence", "--evidence", "x.obs"], "cannot be used with"),
        (&[&graph, &graph, "--soft-evidence", "x.txt"], "--soft-evidence x.txt with 2 graphs"),
        (&[&graph, "--no-evidence", "--soft-evidence", "x.txt"], "cannot be used with"),
    ] {
        let (code, out, err) = bench(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(err.contains(why), "{arguments:?}: {err}");
    }
    for wrong in [["--iterations", "0"], ["--repeats", "0"], ["--repeats", "1001"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
        let output = command.args(["bench", &graph]).args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn graphs_that_are_generated_need_no_file() {
    let common =
        ["--variables", "300", "--backend", "cpu", "--schedule", "SEQFIX", "--no-evidence"];
    let shapes = ["--generate", "smartfl,layers,potts", "--generate", "rbm"];
    let options = ["--levels", "30", "--states", "3", "--hidden", "20", "--seed", "5"];
    let chain = data("chain.causal_fg");
    let (code, report) = json(&[&[chain.as_str()], &common[..], &shapes, &options].concat());
    assert_eq!(code, Some(0), "{report}");
    let measurements = report["measurements"].as_array().unwrap();
    let graphs: Vec<&str> = measurements.iter().map(|m| m["graph"].as_str().unwrap()).collect();
    let names = [
        &chain,
        "smartfl --variables 300 --seed 5",
        "layers --levels 30 --variables 300 --seed 5",
        "potts --states 3 --variables 300 --seed 5",
        "rbm --hidden 20 --variables 300 --seed 5",
    ];
    assert_eq!(graphs, names);
    assert!(measurements[1..].iter().all(|m| m["variables"] == 300 && m["observed"] == 0));
    assert_eq!(measurements[2]["levels"], 30);
    assert_eq!(measurements[4]["edges"], 300 + 2 * 280 * 20);
    // What the name says is what `generate` makes.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("layers.causal_fg").display().to_string();
    let mut generate = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
    generate.arg("generate").args(names[2].split(' ')).args([
        "--high-arity",
        "2,40",
        "--high-degree",
        "3,200",
    ]);
    generate.args(["--observations", &path.replace("causal_fg", "obs"), &path]);
    assert!(generate.output().unwrap().status.success());
    let extremes = ["--high-arity", "2,40", "--high-degree", "3,200", "--generate", "layers"];
    let layers = ["--levels", "30", "--seed", "5"];
    let (_, generated) = json(&[&common[..6], &extremes, &layers].concat());
    let (_, read) = json(&[&[path.as_str()], &common[2..6]].concat());
    let (generated, read) = (&generated["measurements"][0], &read["measurements"][0]);
    assert_eq!(
        generated["graph"],
        "layers --levels 30 --variables 300 --seed 5 --high-arity 2,40 --high-degree 3,200"
    );
    for key in ["variables", "factors", "edges", "observed", "levels", "iteration_bytes"] {
        assert_eq!(generated[key], read[key], "{key}");
    }
    assert!(generated["observed"].as_u64().unwrap() > 0);
}

#[test]
fn options_of_generated_graphs_are_checked() {
    let chain = data("chain.causal_fg");
    for (arguments, part) in [
        (&["--generate", "ising"][..], "--variables"),
        (&["--variables", "100"], "--generate"),
        (&[&chain, "--variables", "100"], "--generate"),
        (&[&chain, "--high-arity", "1,5"], "--generate"),
        (&["--generate", "trees", "--variables", "100"], "layers"),
        (&["--generate", "ising", "--variables", "100", "--evidence", &chain], "--evidence"),
        (&["--generate", "ising", "--variables", "100", "--states", "3"], "--states"),
        (&["--generate", "ising", "--variables", "100", "--high-degree", "5"], "3,100"),
        (&["--generate", "ising", "--variables", "9"], "9 variables"),
        (&["--generate", "potts", "--variables", "50", "--high-arity", "1,5"], "binary"),
    ] {
        let (code, out, err) = bench(&[arguments, &["--backend", "cpu"]].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
}
