//! The command line program, run as users run it.

#![cfg(feature = "cli")]

mod common;

use fastlbp::format::{read_graph, write_marginals_to};
use fastlbp::{BeliefPropagation, EngineOptions, RunRequest, Schedule, StopRule};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

const SCHEDULES: [&str; 7] = ["PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE"];

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
    command.stdin(Stdio::null());
    command
}

/// Runs the program with arguments separated by blanks.
fn run(arguments: &str) -> Output {
    program().args(arguments.split_whitespace()).output().unwrap()
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Standard output of a run that must succeed.
#[track_caller]
fn succeed(arguments: &str) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    stdout(&output).to_string()
}

/// Error text of a run that must fail with that exit code and nothing on the standard output.
#[track_caller]
fn fail(code: i32, arguments: &str) -> String {
    failed(code, &run(arguments), arguments)
}

#[track_caller]
fn failed(code: i32, output: &Output, what: &str) -> String {
    assert_eq!(output.status.code(), Some(code), "{what}: {}", stderr(output));
    assert_eq!(stdout(output), "", "{what}");
    let text = stderr(output);
    assert!(text.starts_with("fastlbp: error: "), "{what}: {text}");
    assert!(!text.contains("panicked"), "{what}: {text}");
    text.to_string()
}

fn directory() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    (directory, path)
}

/// Runs `infer` with `--stats` and gives the marginals and the statistics.
#[track_caller]
fn infer_with_stats(arguments: &str) -> (String, Value) {
    let (_guard, directory) = directory();
    let stats = directory.join("stats.json");
    let out = succeed(&format!("infer {arguments} --stats {}", stats.display()));
    (out, serde_json::from_str(&fs::read_to_string(stats).unwrap()).unwrap())
}

#[test]
fn infer_prints_marginals_ascending_by_label() {
    let graph = data("chain.causal_fg");
    // P(3) = 1/4, P(5) = 1/4 * 1/2 + 3/4 * 1/8, P(8 = 0) = 3/4 * P(5 = 0) + 1/2 * P(5).
    for schedule in SCHEDULES {
        let out = succeed(&format!("infer {graph} --schedule {schedule}"));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[..2], ["# label P(x=1)", "3 0.25"], "{schedule}");
        for (line, (label, wanted)) in lines[2..].iter().zip([("5", 0.21875), ("8", 0.3046875)]) {
            let (found, value) = line.split_once(' ').unwrap();
            assert_eq!(found, label);
            assert!((value.parse::<f64>().unwrap() - wanted).abs() < 1e-15, "{schedule}: {line}");
        }
        assert_eq!(lines.len(), 4);
        assert!(out.ends_with('\n'));
    }
}

#[test]
fn printed_values_read_back_to_the_same_bits() {
    let path = data("alarm_small.causal_fg");
    let graph = Arc::new(read_graph(Path::new(&path)).unwrap());
    let mut session =
        BeliefPropagation::new(graph.clone(), Schedule::SequentialFixed, EngineOptions::default())
            .unwrap();
    session.run(&RunRequest::new(StopRule::Iterations(7))).unwrap();
    let out = succeed(&format!("infer {path} --schedule SEQFIX --iterations 7"));
    let mut text = Vec::new();
    write_marginals_to(&graph, session.marginals().unwrap(), &mut text).unwrap();
    assert_eq!(out.as_bytes(), text);
    for (variable, line) in out.lines().skip(1).enumerate() {
        let value: f64 = line.split_once(' ').unwrap().1.parse().unwrap();
        assert_eq!(value.to_bits(), session.probability(variable).unwrap().to_bits());
    }
}

#[test]
fn variables_with_more_states_have_all_of_them_printed() {
    let out = succeed(&format!("infer {}", data("three_states.fg")));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("# label P(x=1); with more than two states"), "{}", lines[0]);
    assert_eq!(lines[1], "2 0.5 0.25 0.25");
    assert!(lines[2].starts_with("7 0.4375"), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
}

#[test]
fn evidence_ranks_and_exactness_on_a_chain() {
    let (graph, evidence, ranks) =
        (data("chain.causal_fg"), data("chain.obs"), data("chain.ranks"));
    let tree = format!("infer {graph} --evidence {evidence} --schedule TREE --iterations 1");
    let custom = format!("infer {graph} --evidence {evidence} --ranks {ranks} --iterations 1");
    // P(5 | 8 = 0) = 1/2 * 0.21875 / 0.6953125
    for arguments in [tree, custom] {
        let out = succeed(&arguments);
        let lines: Vec<&str> = out.lines().collect();
        let value: f64 = lines[2].strip_prefix("5 ").unwrap().parse().unwrap();
        assert!((value - 0.109375 / 0.6953125).abs() < 1e-15, "{value}");
        assert_eq!(lines[3], "8 0");
    }
}

#[test]
fn ranks_can_say_what_a_named_schedule_says() {
    let (_guard, directory) = directory();
    let path = data("alarm_small.causal_fg");
    let graph = read_graph(Path::new(&path)).unwrap();
    let file = directory.join("order.ranks");
    let mut lines = String::new();
    for edge in 0..graph.edge_count() {
        let label = graph.label(graph.edge_variables()[edge] as usize);
        lines += &format!("{} {label} {}\n", graph.edge_factors()[edge], edge + 10);
    }
    fs::write(&file, &lines).unwrap();
    let evidence = data("alarm_small.obs");
    let common = format!("infer {path} --evidence {evidence} --iterations 5");
    let ranked = format!("{common} --ranks {}", file.display());
    let fixed = succeed(&format!("{common} --schedule SEQFIX"));
    assert_eq!(succeed(&ranked), fixed);
    assert_ne!(fixed, succeed(&format!("{common} --schedule PARALL")));
    // One edge without a rank.
    fs::write(&file, lines.split_once('\n').unwrap().1).unwrap();
    assert!(fail(2, &ranked).contains("order.ranks:"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (_guard, directory) = directory();
    for shape in ["smartfl", "bingo"] {
        let graph = directory.join(format!("{shape}.causal_fg.gz"));
        let (graph, evidence) = (graph.display(), directory.join("graph.obs"));
        let evidence = evidence.display();
        let generated = succeed(&format!(
            "generate {shape} --variables 20000 {graph} --observations {evidence}"
        ));
        assert_eq!(generated, "");
        for schedule in SCHEDULES {
            let arguments = format!(
                "infer {graph} --evidence {evidence} --schedule {schedule} --iterations 4 \
                 --contradiction vote"
            );
            let one = succeed(&format!("{arguments} --threads 1"));
            assert_eq!(one.lines().count(), 20_001);
            for threads in [2, 4] {
                let several = succeed(&format!("{arguments} --threads {threads}"));
                assert!(one == several, "{shape} {schedule}: {threads} threads differ");
            }
            assert!(one == succeed(&arguments), "{shape} {schedule}: default threads differ");
        }
    }
}

#[test]
fn stats_are_one_json_object_with_all_keys() {
    let graph = data("alarm_small.causal_fg");
    let arguments = format!("{graph} --schedule SEQFIX --threads 2 --backend cpu");
    let (out, stats) = infer_with_stats(&arguments);
    assert_eq!(out.lines().count(), 12);
    let object = stats.as_object().unwrap();
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    let wanted = [
        "active_fraction",
        "backend",
        "contradictions",
        "converged",
        "edges",
        "factors",
        "first_contradiction",
        "graph",
        "iterations",
        "levels",
        "log_partition",
        "log_score",
        "max_diff",
        "peak_rss_bytes",
        "schedule",
        "seconds",
        "spared_messages",
        "stop_reason",
        "threads",
        "variables",
    ];
    assert_eq!(keys, wanted);
    for (key, value) in [("variables", 11), ("factors", 11), ("edges", 26), ("levels", 7)] {
        assert_eq!(stats[key], value, "{key}");
    }
    // So small a graph need not be worth the threads that it may have.
    assert!((1..=2).contains(&stats["threads"].as_u64().unwrap()));
    assert_eq!(stats["backend"], "cpu");
    assert_eq!(stats["schedule"], "SEQFIX");
    assert_eq!(stats["graph"], Value::from(graph));
    assert_eq!(stats["converged"], true);
    assert_eq!(stats["stop_reason"], "converged");
    assert_eq!(stats["contradictions"], 0);
    assert!(stats["first_contradiction"].is_null());
    assert!(stats["max_diff"].as_f64().unwrap() <= 1e-9);
    assert!(stats["iterations"].as_u64().unwrap() > 1);
    assert!(stats["peak_rss_bytes"].as_u64().unwrap() > 100_000);
    let seconds = stats["seconds"].as_object().unwrap();
    for key in ["read", "analyse", "prepare", "run", "write"] {
        assert!((0.0..60.0).contains(&seconds[key].as_f64().unwrap()), "{key}");
    }
    assert_eq!(seconds.len(), 5);
}

#[test]
fn stop_rules_and_what_the_stats_say_about_them() {
    let graph = data("alarm_small.causal_fg");
    let stats = |rule: &str| infer_with_stats(&format!("{graph} {rule}")).1;
    let fixed = stats("--iterations 3");
    assert_eq!((&fixed["iterations"], &fixed["stop_reason"]), (&3.into(), &"iterations".into()));
    assert_eq!(fixed["converged"], false);
    // Nothing was measured: infinity is no JSON number.
    let none = stats("--iterations 0");
    assert!(none["max_diff"].is_null());
    assert_eq!(none["iterations"], 0);
    let never = stats("--tolerance 0 --max-iterations 2");
    assert_eq!((&never["iterations"], &never["stop_reason"]), (&2.into(), &"iterations".into()));
    let loose = stats("--tolerance 0.5");
    assert_eq!(loose["stop_reason"], "converged");
    let bingo = stats("--bingo 1e-6,500,1000,100 --schedule SEQFIX");
    assert_eq!(bingo["stop_reason"], "converged");
    assert_eq!(bingo["active_fraction"], 0.0);
    let timed = stats("--max-time 0 --iterations 1000000");
    assert_eq!(timed["stop_reason"], "time");
    let plenty = stats("--max-time 1e6 --iterations 5");
    assert_eq!(plenty["stop_reason"], "iterations");
}

#[test]
fn missing_convergence_is_said() {
    let graph = data("alarm_small.causal_fg");
    let output = run(&format!("infer {graph} --tolerance 0 --max-iterations 2"));
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).starts_with("fastlbp: warning: no convergence in 2 iterations"));
    let output = run(&format!("infer {graph}"));
    assert_eq!(stderr(&output), "");
}

#[test]
fn output_files_appear_complete_or_not_at_all() {
    let (_guard, directory) = directory();
    let graph = data("chain.causal_fg");
    let wanted = succeed(&format!("infer {graph}"));
    let plain = directory.join("marginals.txt");
    assert_eq!(succeed(&format!("infer {graph} --output {}", plain.display())), "");
    assert_eq!(fs::read_to_string(&plain).unwrap(), wanted);
    // One that exists is replaced; after an error it stays.
    fs::write(&plain, "old").unwrap();
    fail(3, &format!("infer {} --output {}", data("contradiction.causal_fg"), plain.display()));
    assert_eq!(fs::read_to_string(&plain).unwrap(), "old");
    succeed(&format!("infer {graph} --output {}", plain.display()));
    assert_eq!(fs::read_to_string(&plain).unwrap(), wanted);
    let packed = directory.join("marginals.txt.gz");
    succeed(&format!("infer {graph} --output {}", packed.display()));
    assert!(fs::read(&packed).unwrap().starts_with(&[0x1f, 0x8b]));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
}

#[test]
fn contradictions_end_with_exit_code_3_or_are_voted_on() {
    let graph = data("contradiction.causal_fg");
    for schedule in SCHEDULES {
        let text = fail(3, &format!("infer {graph} --schedule {schedule}"));
        let named = ["variable 4 ", "variable 6 "];
        assert!(named.iter().any(|name| text.contains(name)), "{schedule}: {text}");
    }
    let arguments = format!("infer {graph} --contradiction vote");
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).starts_with("fastlbp: warning: deterministic messages that disagree"));
    assert!(!stdout(&output).contains("NaN"));
    let (_, stats) = infer_with_stats(&format!("{graph} --contradiction vote"));
    assert!(stats["contradictions"].as_u64().unwrap() > 0);
    assert!(matches!(stats["first_contradiction"].as_u64(), Some(4 | 6)));
}

#[test]
fn the_contradictory_reference_graph_ends_with_exit_code_3() {
    let directory = common::data("golden/robust");
    let directory = directory.display();
    for schedule in SCHEDULES {
        let text = fail(
            3,
            &format!(
                "infer {directory}/contra.causal_fg.gz --evidence {directory}/contra.obs \
                 --schedule {schedule}"
            ),
        );
        let named = ["variable 0 ", "variable 1 "];
        assert!(named.iter().any(|name| text.contains(name)), "{schedule}: {text}");
    }
}

#[test]
fn bad_values_of_options_are_refused() {
    let graph = data("chain.causal_fg");
    for (option, values) in [
        ("--schedule", &["x", "PARALLEL", ""][..]),
        ("--seed", &["-1", "x", "1.5", "99999999999999999999", ""]),
        ("--blocks", &["0", "-1", "x", "1.5", "4294967296", ""]),
        ("--iterations", &["-1", "x", "1.5", "1e3", "99999999999999999999", ""]),
        ("--tolerance", &["-1", "x", "nan", "inf", "1e400", ""]),
        ("--max-iterations", &["-1", "x", "0.5", ""]),
        ("--bingo", &["x", "1,2,3", "1e-6,10,5,1", "1e-6,5,10,0", "nan,5,10,1", "1,2,3,4,5", ""]),
        ("--max-time", &["-1", "x", "nan", "inf", "1e400", ""]),
        ("--contradiction", &["x", "VOTE", ""]),
        ("--threads", &["0", "-1", "x", "1.5", "1025", "99999999999999999999", ""]),
        ("--backend", &["x", "gpu", ""]),
    ] {
        for value in values {
            let argument = format!("{option}={value}");
            let output = program().args(["infer", &graph, &argument]).output().unwrap();
            let text = failed(2, &output, &argument);
            assert!(text.contains(option), "{argument}: {text}");
        }
    }
}

#[test]
fn an_unknown_schedule_lists_the_known_ones() {
    let text = fail(2, &format!("infer {} --schedule RESIDUAL", data("chain.causal_fg")));
    assert!(SCHEDULES.iter().all(|name| text.contains(name)), "{text}");
    // Upper and lower case are both fine.
    succeed(&format!("infer {} --schedule seqfix", data("chain.causal_fg")));
}

#[test]
fn blocks_are_as_many_as_asked_for() {
    let graph = data("alarm_small.causal_fg");
    let infer = |options: &str| succeed(&format!("infer {graph} --iterations 2 {options}"));
    let blocks =
        |count: u32, seed: u32| infer(&format!("--schedule BLOCKS --blocks {count} --seed {seed}"));
    assert_eq!(blocks(1, 5), infer("--schedule PARALL"));
    assert_eq!(blocks(8, 1), infer("--schedule BLOCKS"));
    assert_ne!(blocks(3, 1), blocks(3, 2));
    assert_ne!(blocks(3, 1), blocks(2, 1));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let graph = data("chain.causal_fg");
    let ranks = data("chain.ranks");
    for options in [
        "--iterations 5 --tolerance 1e-6",
        "--iterations 5 --max-iterations 10",
        "--iterations 5 --bingo 1e-6,5,10,1",
        "--bingo 1e-6,5,10,1 --tolerance 1e-6",
        "--bingo 1e-6,5,10,1 --max-iterations 10",
        &format!("--ranks {ranks} --schedule SEQFIX"),
        &format!("--ranks {ranks} --seed 1"),
        &format!("--ranks {ranks} --blocks 2"),
        "--iterations 5 --iterations 6",
        "--unknown",
        "one more file",
    ] {
        let text = fail(2, &format!("infer {graph} {options}"));
        assert!(text.contains("cannot be used") || text.contains("unexpected"), "{text}");
    }
}

#[test]
fn missing_arguments_and_unknown_commands_are_bad_usage() {
    for arguments in
        ["", "infer", "info", "convert", "convert a.fg", "bingo", "generate", "generate smartfl"]
    {
        fail(2, arguments);
    }
    assert!(fail(2, "").contains("infer"));
    assert!(fail(2, "infers graph.fg").contains("infer"));
    assert!(fail(2, "generate trees --variables 10 out.fg").contains("smartfl"));
}

/// Every kind of unreadable input, in every place where a file is read.
#[test]
fn unreadable_inputs_end_with_exit_code_2_and_name_the_file() {
    let (_guard, directory) = directory();
    let graph = data("chain.causal_fg");
    let (bytes, closed) = (directory.join("junk"), directory.join("closed"));
    fs::write(&bytes, [0_u8, 159, 146, 150, 255, 10, 13, 0]).unwrap();
    fs::write(&closed, "1\n").unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::File::open(&closed).is_ok();
    if is_root {
        common::report_skipped("root may read every file");
    }
    for suffix in ["causal_fg", "fg", "uai", "causal_fg.gz", "fg.gz", "uai.gz"] {
        let path = |name: &str| directory.join(format!("{name}.{suffix}"));
        fs::write(path("empty"), "").unwrap();
        fs::copy(&bytes, path("junk")).unwrap();
        fs::create_dir(path("directory")).unwrap();
        fs::write(path("text"), "neither a number nor a graph\n").unwrap();
        fs::write(path("huge"), "18446744073709551615\n").unwrap();
        let mut names = vec!["missing", "empty", "junk", "directory", "text", "huge"];
        if !is_root {
            fs::write(path("closed"), "0\n").unwrap();
            fs::set_permissions(path("closed"), Permissions::from_mode(0o000)).unwrap();
            names.push("closed");
        }
        let out = directory.join("out.fg");
        for name in names {
            let path = path(name).display().to_string();
            for arguments in [
                format!("infer {path}"),
                format!("info {path}"),
                format!("bingo {path}"),
                format!("convert {path} {}", out.display()),
            ] {
                let text = fail(2, &arguments);
                assert!(text.contains(&path), "{arguments}: {text}");
            }
        }
        assert!(!out.exists());
    }
    for (option, names) in [
        ("--evidence", &["missing.obs", "directory.fg", "junk"][..]),
        ("--ranks", &["missing.ranks", "directory.fg", "junk", "empty.fg"]),
    ] {
        for name in names {
            let path = directory.join(name).display().to_string();
            let text = fail(2, &format!("infer {graph} {option} {path}"));
            assert!(text.contains(&path), "{text}");
        }
    }
}

#[test]
fn errors_in_text_files_name_the_line() {
    let (_guard, directory) = directory();
    let graph = data("chain.causal_fg");
    let path = directory.join("wrong.obs");
    for (text, line) in
        [("3 1\n5 2\n", 2), ("3\n", 1), ("# x\n\n3 maybe\n", 3), ("3 1\n3 0\n", 2), ("-3 1", 1)]
    {
        fs::write(&path, text).unwrap();
        let error = fail(2, &format!("infer {graph} --evidence {}", path.display()));
        assert!(error.contains(&format!("wrong.obs:{line}: ")), "{text:?}: {error}");
    }
    let path = directory.join("wrong.causal_fg");
    for (text, line) in
        [("1\n\n3\nI\n1.5\n", 5), ("1\n\n3\n*0.5\n2\n4\n", 6), ("1\n\n3\n%\n", 4), ("x\n", 1)]
    {
        fs::write(&path, text).unwrap();
        let error = fail(2, &format!("infer {}", path.display()));
        assert!(error.contains(&format!("wrong.causal_fg:{line}: ")), "{text:?}: {error}");
    }
}

#[test]
fn observations_of_variables_that_the_graph_lacks_are_left_out_with_a_warning() {
    let (_guard, directory) = directory();
    let path = directory.join("more.obs");
    fs::write(&path, "8 false\n77 1\n78 1\n").unwrap();
    let graph = data("chain.causal_fg");
    let output = run(&format!("infer {graph} --evidence {}", path.display()));
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("2 observed variables are not in the graph"));
    assert!(stderr(&output).contains("77 in line 2"));
    let known = succeed(&format!("infer {graph} --evidence {}", data("chain.obs")));
    assert_eq!(stdout(&output), known);
}

#[test]
fn what_cannot_be_written_or_done_ends_with_exit_code_1() {
    let (_guard, directory) = directory();
    let graph = data("chain.causal_fg");
    let missing = directory.join("missing");
    for arguments in [
        format!("infer {graph} --output {}/out.txt", missing.display()),
        format!("infer {graph} --output {}", directory.display()),
        format!("convert {graph} {}/out.fg", missing.display()),
        format!("generate bingo --variables 100 {}/out.fg", missing.display()),
    ] {
        let text = fail(1, &arguments);
        assert!(text.contains(&directory.display().to_string()), "{text}");
    }
    // The marginals are out by then.
    let output = run(&format!("infer {graph} --stats {}/stats.json", missing.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("stats.json"));
    // A factor over 30 variables has no table.
    let wide = directory.join("wide.causal_fg");
    let body: Vec<String> = (1..30).map(|label: u32| label.to_string()).collect();
    fs::write(&wide, format!("1\n\n0\n*0.9\n29\n{}\n", body.join(" "))).unwrap();
    let out = directory.join("wide.fg");
    let text = fail(1, &format!("convert {} {}", wide.display(), out.display()));
    assert!(text.contains("factor 0"), "{text}");
    assert!(!out.exists());
}

#[test]
fn the_cuda_backend_says_why_it_is_not_there() {
    let output = run(&format!("infer {} --backend cuda", data("chain.causal_fg")));
    if output.status.success() {
        common::report_skipped("a CUDA device is present");
        return;
    }
    assert!(failed(1, &output, "cuda").contains("cuda"));
}

#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_not() {
    if Path::new("/dev/full").exists() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let graph = data("chain.causal_fg");
        let output = program().args(["infer", &graph]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("fastlbp: error: standard output: "));
    }
    let (_guard, directory) = directory();
    let graph = directory.join("graph.causal_fg").display().to_string();
    succeed(&format!("generate smartfl --variables 20000 {graph}"));
    for arguments in [vec!["infer", &graph], vec!["info", &graph], vec!["--help"]] {
        let mut child = program()
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn generated_graphs_go_through_info_infer_and_convert() {
    let (_guard, directory) = directory();
    let at = |name: &str| directory.join(name).display().to_string();
    for (shape, kind) in [("smartfl", "and"), ("bingo", "or")] {
        for variables in [10, 500, 3000] {
            let (graph, evidence) = (at("graph.causal_fg"), at("graph.obs"));
            let options = format!("--variables {variables} --seed 7 --observations {evidence}");
            succeed(&format!("generate {shape} {options} {graph}"));
            let info: Value =
                serde_json::from_str(&succeed(&format!("info {graph} --json"))).unwrap();
            assert_eq!(info["variables"], variables);
            assert_eq!(info["factors"], variables);
            assert!(info["factor_kinds"][kind].as_u64().unwrap() > 0);
            assert_eq!(info["schedules"].as_array().unwrap().len(), SCHEDULES.len());
            let (out, stats) =
                infer_with_stats(&format!("{graph} --evidence {evidence} --schedule SEQFIX"));
            assert_eq!(out.lines().count(), variables + 1);
            assert_eq!(stats["edges"], info["edges"]);
            assert_eq!(stats["contradictions"], 0);
            assert_eq!(stats["levels"], info["schedules"][1]["levels"]);
            // The same seed gives the same file; another format the same results.
            let (again, table) = (at("again.causal_fg"), at("again.causal_fg.gz"));
            succeed(&format!("generate {shape} --variables {variables} --seed 7 {again}"));
            assert_eq!(fs::read(&graph).unwrap(), fs::read(&again).unwrap());
            succeed(&format!("convert {graph} {table}"));
            let packed = succeed(&format!("infer {table} --evidence {evidence} --schedule SEQFIX"));
            assert_eq!(packed, out);
        }
    }
    fail(2, &format!("generate bingo --variables 5 {}", at("small.causal_fg")));
    fail(2, &format!("generate bingo --variables -5 {}", at("small.causal_fg")));
    fail(2, &format!("generate bingo --variables 9999999999999 {}", at("small.causal_fg")));
    fail(2, &format!("generate bingo --variables 100 {}", at("small.txt")));
}

#[test]
fn generated_models_and_extremes_are_written_with_their_observations() {
    let (_guard, directory) = directory();
    let at = |name: &str| directory.join(name).display().to_string();
    for (shape, file, edges) in [
        ("layers --variables 400 --levels 40", "graph.causal_fg", 10 + 10 * 2 + 380 * 3),
        ("ising --variables 400", "graph.fg", 400 + 4 * 20 * 19),
        ("potts --variables 400 --states 3", "graph.uai", 400 + 4 * 20 * 19),
        ("rbm --variables 50 --hidden 10", "graph.uai.gz", 50 + 2 * 40 * 10),
    ] {
        let (graph, evidence) = (at(file), at("graph.obs"));
        succeed(&format!("generate {shape} --seed 3 --observations {evidence} {graph}"));
        let written = (fs::read(&graph).unwrap(), fs::read(&evidence).unwrap());
        let (out, stats) =
            infer_with_stats(&format!("{graph} --evidence {evidence} --schedule SEQFIX"));
        assert!(out.lines().count() > 50 && stats["edges"] == edges, "{stats}");
        assert_eq!(stats["contradictions"], 0);
        succeed(&format!("generate {shape} --seed 3 --observations {evidence} {graph}"));
        assert_eq!(written, (fs::read(&graph).unwrap(), fs::read(&evidence).unwrap()));
    }
    let graph = at("extremes.causal_fg");
    let extremes = "--high-arity 2,300 --high-degree 1,2000";
    succeed(&format!("generate smartfl --variables 1000 {extremes} {graph}"));
    let info: Value = serde_json::from_str(&succeed(&format!("info {graph} --json"))).unwrap();
    assert_eq!((&info["variables"], &info["factors"]), (&1000.into(), &(1000 + 2 + 2000).into()));
    for wrong in [
        "smartfl --variables 100 --levels 3",
        "layers --variables 100 --levels 101",
        "potts --variables 100 --states 1",
        "rbm --variables 100 --hidden 100",
        "rbm --variables 9999999 --hidden 999999",
        "ising --variables 100 --high-arity 1,101",
        "ising --variables 100 --high-degree 3",
        "potts --variables 100 --high-degree 1,3",
    ] {
        fail(2, &format!("generate {wrong} {}", at("wrong.fg")));
    }
}

#[test]
fn info_describes_a_graph() {
    let graph = data("alarm_small.causal_fg");
    let text = succeed(&format!("info {graph}"));
    for part in [
        "variables   11",
        "factors     11 (prior 3, and 6, or 2, table 0)",
        "edges       26",
        "components  1",
        "factor arity",
        "degree",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(SCHEDULES.iter().all(|name| text.contains(name)), "{text}");
    let info: Value =
        serde_json::from_str(&succeed(&format!("info {graph} --json --schedule seqrnd"))).unwrap();
    let schedules = info["schedules"].as_array().unwrap();
    assert_eq!(schedules.len(), 1);
    assert_eq!(schedules[0]["name"], "SEQRND");
    assert_eq!(schedules[0]["seed"], 1);
    assert_eq!(schedules[0]["classes"], 26);
    assert_eq!(schedules[0].get("blocks"), None);
    let options = "--schedule blocks --blocks 3 --seed 2";
    let blocks: Value =
        serde_json::from_str(&succeed(&format!("info {graph} --json {options}"))).unwrap();
    let blocks = &blocks["schedules"][0];
    assert_eq!([&blocks["blocks"], &blocks["seed"], &blocks["classes"]], [3, 2, 3]);
    assert!(succeed(&format!("info {graph} {options}")).contains("\nBLOCKS(3, 2) "));
    assert_eq!(info["arity"]["max"], 4);
    let bins = info["arity"]["histogram"].as_array().unwrap();
    let total: u64 = bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
    assert_eq!(total, 11);
    assert!(info["memory_bytes"].as_u64().unwrap() > 26 * 12);
    let mixed: Value =
        serde_json::from_str(&succeed(&format!("info {} --json", data("mixed.fg")))).unwrap();
    assert_eq!(mixed["cardinality"]["max"], 3);
    assert_eq!(mixed["factor_kinds"]["table"], 4);
    fail(2, &format!("info {graph} --schedule x"));
}

#[test]
fn convert_keeps_every_value() {
    let (_guard, directory) = directory();
    let at = |name: &str| directory.join(name).display().to_string();
    let graph = data("alarm_small.causal_fg");
    let output = run(&format!("convert {graph} {}", at("one.fg.gz")));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("11 variables, 11 factors, 26 edges"));
    succeed(&format!("convert {} {}", at("one.fg.gz"), at("two.fg")));
    succeed(&format!("convert {} {}", at("two.fg"), at("three.uai")));
    let read = |name: &str| read_graph(Path::new(&at(name))).unwrap();
    assert_eq!(read("one.fg.gz"), read("two.fg"));
    // Tables and AND/OR factors agree up to rounding; the UAI format has no labels.
    let values = |text: &str| -> Vec<f64> {
        text.lines().skip(1).map(|line| line.split_once(' ').unwrap().1.parse().unwrap()).collect()
    };
    let wanted = values(&succeed(&format!("infer {graph} --iterations 20")));
    for name in ["one.fg.gz", "two.fg", "three.uai"] {
        let found = values(&succeed(&format!("infer {} --iterations 20", at(name))));
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-14, "{name}: {found} instead of {wanted}");
        }
    }
    assert!(fail(2, &format!("convert {graph} {}", at("out.txt"))).contains("suffix"));
    fail(1, &format!("convert {} {}", at("two.fg"), at("back.causal_fg")));
}

#[test]
fn help_and_version() {
    let version = format!("fastlbp {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(succeed("-V"), version);
    let built_in = if cfg!(cuda) { "built in: cpu, cuda (" } else { "built in: cpu (" };
    let long = succeed("--version");
    assert!(long.starts_with(&(version + built_in)), "{long}");
    assert_eq!(long.lines().count(), 2);
    let help = succeed("--help");
    for part in ["infer", "info", "convert", "bingo", "generate", "Examples:", "Exit codes:"] {
        assert!(help.contains(part), "{part}");
    }
    for command in ["infer", "info", "convert", "bingo", "generate"] {
        let help = succeed(&format!("{command} --help"));
        assert!(help.contains(&format!("Usage: fastlbp {command}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        let short = succeed(&format!("{command} -h"));
        assert!(2 * short.lines().count() < help.lines().count() + 40, "{short}");
        assert!(short.lines().count() <= 40, "{short}");
    }
}
