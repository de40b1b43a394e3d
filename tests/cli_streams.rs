//! `-` for the standard streams, what is shown of the results, and how much is said on the standard error.

#![cfg(all(feature = "cli", unix))]

#[path = "common/workplace.rs"]
mod workplace;

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};
use workplace::{Workplace, data};

fn place() -> Workplace {
    let graph = fs::read_to_string(data("alarm_small.causal_fg")).unwrap();
    Workplace::new(&[("graph.causal_fg", &graph)])
}

/// Runs a line of the shell, in which PROGRAM is the program.
fn shell(work: &Workplace, line: &str) -> Output {
    let line = line.replace("PROGRAM", env!("CARGO_BIN_EXE_fastlbp"));
    Command::new("sh").args(["-c", &line]).current_dir(work.path("")).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Lists of alarms are known by their content, too.
#[test]
fn lists_from_the_standard_input() {
    let work = place();
    fs::write(work.path("a.alarms"), "20 late(b) 1\n1 early(a) 0\n").unwrap();
    let wanted = work.succeed("infer graph.causal_fg --queries a.alarms");
    assert!(wanted.contains("late(b)") && wanted.lines().count() == 3, "{wanted}");
    for command in [
        "PROGRAM infer graph.causal_fg --queries - <a.alarms",
        "gzip -c a.alarms | PROGRAM infer graph.causal_fg --queries -",
        "cp a.alarms a.txt && PROGRAM infer graph.causal_fg --queries a.txt",
        "PROGRAM infer graph.causal_fg --queries a.alarms --names - <a.alarms",
        "printf '20\\n1\\n' | PROGRAM infer graph.causal_fg --names a.alarms --queries -",
    ] {
        assert_eq!(stdout(&shell(&work, command)), wanted, "{command}");
    }
}

#[test]
fn the_standard_input_and_output_have_a_name() {
    let work = place();
    let wanted = work.succeed("infer graph.causal_fg");
    for command in [
        "PROGRAM infer - --format causal_fg <graph.causal_fg",
        "cat graph.causal_fg | PROGRAM infer - --format causal_fg -o -",
        "PROGRAM convert graph.causal_fg - --to causal_fg | PROGRAM infer - --format causal_fg",
        "PROGRAM convert - copy.fg --from causal_fg <graph.causal_fg && \
         PROGRAM convert copy.fg - --to fg | cmp - copy.fg && cat graph.causal_fg | PROGRAM infer - --format causal_fg",
        ": >seen.obs; PROGRAM infer graph.causal_fg --evidence - <seen.obs",
        "PROGRAM infer graph.causal_fg --stats - --output out.txt >stats.json && cat out.txt",
        // What is compressed is known by its first bytes.
        "gzip -c graph.causal_fg | PROGRAM infer - --format causal_fg",
        "gzip -c graph.causal_fg >packed.causal_fg && PROGRAM infer packed.causal_fg",
    ] {
        assert_eq!(stdout(&shell(&work, command)), wanted, "{command}");
    }
    assert!(!work.path("-").exists());
    serde_json::from_str::<Value>(&fs::read_to_string(work.path("stats.json")).unwrap()).unwrap();
    let csv =
        stdout(&shell(&work, "PROGRAM infer graph.causal_fg -n 2 --trace - --output out.txt"));
    assert!(csv.starts_with("run,iteration,"), "{csv}");
    let generated =
        stdout(&shell(&work, "PROGRAM generate bingo --variables 50 - --format causal_fg"));
    assert!(generated.starts_with("50\n"), "{generated}");
    // A pipe that nobody reads is no error.
    let closed = shell(&work, "PROGRAM convert graph.causal_fg - --to fg | true");
    assert_eq!(closed.status.code(), Some(0));
    for (command, wanted) in [
        ("PROGRAM infer -", "--format causal_fg, fg, uai or bif is needed"),
        ("PROGRAM convert graph.causal_fg -", "--to causal_fg, fg, uai or dot is needed"),
        (
            "PROGRAM infer - --format fg --evidence -",
            "GRAPH and --evidence: the standard input would be read twice",
        ),
        (
            "PROGRAM infer graph.causal_fg --stats -",
            "--stats and the results: the standard output would get two outputs",
        ),
        ("PROGRAM bench -", "--format causal_fg, fg, uai or bif is needed"),
        (
            "PROGRAM bench - - --format fg",
            "GRAPH and GRAPH: the standard input would be read twice",
        ),
        (
            "PROGRAM locate - --format fg --candidates -",
            "GRAPH and --candidates: the standard input would be read twice",
        ),
        (
            "PROGRAM bingo - --format fg",
            "GRAPH and the commands: the standard input would be read twice",
        ),
        ("PROGRAM bingo graph.causal_fg --commands missing", "missing: No such file"),
        (
            "PROGRAM rank - --format fg --alarms a.alarms",
            "the answers and GRAPH: the standard input would be read twice",
        ),
    ] {
        let output = shell(&work, &format!("{command} </dev/null"));
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(stderr(&output).contains(wanted), "{command}: {}", stderr(&output));
    }
}

/// What is measured, located and asked on a graph of the standard input is so on its file.
#[test]
fn graphs_of_the_standard_input_are_those_of_their_files() {
    let work = place();
    fs::write(work.path("commands"), "BP 1e-6 5 10 5\nO 9 true\nBP 1e-6 5 10 5\nQ 10\n").unwrap();
    fs::write(work.path("graph.candidates"), "10 one 1\n11 other 0\n").unwrap();
    for (file, stream) in [
        (
            "PROGRAM bingo graph.causal_fg <commands",
            "PROGRAM bingo - --format causal_fg --commands commands <graph.causal_fg",
        ),
        (
            "PROGRAM bingo graph.causal_fg <commands",
            "PROGRAM bingo graph.causal_fg --commands - <commands",
        ),
        (
            "PROGRAM locate graph.causal_fg --candidates graph.candidates",
            "PROGRAM locate - --format causal_fg --candidates graph.candidates <graph.causal_fg",
        ),
    ] {
        let wanted = stdout(&shell(&work, file));
        assert!(wanted.lines().count() > 3, "{wanted}");
        let found = stdout(&shell(&work, stream));
        assert_eq!(found.replace("/dev/stdin", "graph.causal_fg"), wanted, "{stream}");
    }
    let bench =
        "PROGRAM bench - --format causal_fg --backend cpu --repeats 1 --iterations 2 -q --json";
    let json: Value =
        serde_json::from_str(&stdout(&shell(&work, &format!("{bench} <graph.causal_fg")))).unwrap();
    let measured = json["measurements"].as_array().unwrap();
    assert_eq!((measured.len(), &measured[0]["edges"]), (2, &26.into()));
}

#[test]
fn a_list_of_alarms_is_asked_and_ranked_by_name() {
    let work = place();
    let alarms = data("graphs/bingo/weblech-thresc.alarms");
    let run = |options: &str| {
        let session = data("graphs/bingo/weblech-thresc");
        let session = format!("{session}.causal_fg.gz -s SEQFIX --bingo 1e-6,500,1000,100");
        stdout(&work.run(&format!("infer {session} {options} --queries {alarms}")))
    };
    let all = run("");
    assert_eq!(all.lines().next(), Some("# label P(x=1) name"));
    let alarms = fs::read_to_string(&alarms).unwrap();
    let known = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
    let lines: Vec<_> = all.lines().skip(1).map(known).collect();
    assert_eq!(lines.len(), alarms.lines().count());
    for (line, alarm) in lines.iter().zip(alarms.lines().map(known)) {
        assert_eq!((&line[0], &line[2]), (&alarm[0], &alarm[1]));
    }
    let p = |line: &str| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap();
    let sorted = run("--sort");
    let mut wanted: Vec<&str> = all.lines().skip(1).collect();
    wanted.sort_by(|a, b| p(b).total_cmp(&p(a)));
    assert_eq!(sorted.lines().skip(1).collect::<Vec<_>>(), wanted);
    let first: Vec<&str> = sorted.lines().take(4).collect();
    assert_eq!(run("--top 3").lines().collect::<Vec<_>>(), first);
    // The same by JSON.
    let text = run("-k 3 --json");
    let json: Value = serde_json::from_str(&text).unwrap();
    assert!(json["iterations"].as_u64().unwrap() > 0 && json["stop_reason"].is_string());
    assert_eq!(json["variables"].as_array().unwrap().len(), 3);
    for (variable, line) in json["variables"].as_array().unwrap().iter().zip(&first[1..]) {
        let [label, p, name] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!(
            (variable["label"].to_string(), variable["name"].as_str()),
            (label.into(), Some(name))
        );
        // (The reader of this test rounds numbers.)
        assert!(text.contains(&format!(",{p}]")), "{text}");
    }
}

#[test]
fn names_stand_beside_labels_in_every_output() {
    let work = place();
    let harvest = data("harvest.bif");
    fs::write(work.path("names.txt"), "0\tthe season\n4 price\n").unwrap();
    let named = stdout(&work.run(&format!("infer {harvest} -s TREE --names names.txt")));
    let lines: Vec<&str> = named.lines().collect();
    assert!(lines[0].ends_with(" ... name") && lines[1].ends_with(" \"the season\""), "{named}");
    assert!(!lines[2].contains(char::is_alphabetic) && lines[5].ends_with(" price"), "{named}");
    let sorted = stdout(&work.run(&format!("infer {harvest} -s TREE --sort -k 1")));
    assert_eq!(sorted.lines().count(), 2, "{sorted}");
    let map = stdout(&work.run(&format!("infer {harvest} -s TREE --map --names names.txt")));
    assert!(map.starts_with("# label state name; log-score ") && map.contains(" price"), "{map}");
    for options in ["--json", "--json --exact", "--json --map --exact"] {
        let text = stdout(&work.run(&format!("infer {harvest} {options}")));
        let season = serde_json::from_str::<Value>(&text).unwrap()["variables"][0].clone();
        assert_eq!((&season["name"], &season["label"]), (&"season".into(), &0.into()), "{text}");
        assert_eq!(season["states"][2], "wet");
        assert_eq!(season["state"].is_u64(), options.contains("--map"));
    }
    let dot = stdout(&work.run(&format!("convert {harvest} - --to dot --names names.txt")));
    assert!(dot.contains("v0 [label=\"0\\nthe season\"]"), "{dot}");
    let weblech = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/weblech.causal_fg.gz");
    work.fail_with(
        2,
        &format!("convert {weblech} weblech.dot"),
        "a picture of 6347 edges and 2832 variables: at most 5000 of each are drawn",
    );
    assert!(!work.path("weblech.dot").exists());
    work.fail_with(2, &format!("infer {harvest} --map --sort"), "cannot be used with");
}

#[test]
fn how_much_is_said() {
    let work = place();
    let run = |options: &str| stderr(&work.run(&format!("infer graph.causal_fg {options}")));
    let unconverged = "--tolerance 0 --max-iterations 2";
    assert_eq!(run(""), "");
    assert!(run(unconverged).starts_with("fastlbp: warning: no convergence in 2 iterations"));
    assert_eq!(run(&format!("{unconverged} -q")), "");
    let verbose = run("-v");
    for part in ["fastlbp: reading: ", "fastlbp: preparing: ", "fastlbp: running: "] {
        assert!(verbose.contains(part), "{verbose}");
    }
    assert!(run("-vv --iterations 3").contains("fastlbp: iteration 2: largest change "));
    assert!(run("-q --evidence missing.obs").starts_with("fastlbp: error: missing.obs: "));
    // Colours, only where they are asked for: this is no terminal.
    let coloured = |setting: &str| {
        stderr(&shell(&work, &format!("{setting} PROGRAM infer missing.fg"))).contains('\x1b')
    };
    assert!(coloured("CLICOLOR_FORCE=1"));
    assert!(!coloured("NO_COLOR=1 CLICOLOR_FORCE=1") && !coloured("env -u CLICOLOR_FORCE"));
    work.fail_with(2, "infer graph.causal_fg -q -v", "cannot be used with");
}

#[test]
fn completions_and_manual_pages() {
    let work = place();
    for (shell, part) in [
        ("bash", "complete -F _fastlbp"),
        ("zsh", "#compdef fastlbp"),
        ("fish", "complete -c fastlbp"),
    ] {
        let text = stdout(&work.run(&format!("completions {shell}")));
        assert!(text.contains(part) && text.contains("max-iterations"), "{shell}");
    }
    stdout(&work.run("man pages/man1"));
    for (page, part) in [("fastlbp", "fastlbp\\-infer(1)"), ("fastlbp-infer", "\\-\\-top")] {
        let text = fs::read_to_string(work.path(&format!("pages/man1/{page}.1"))).unwrap();
        assert!(text.contains(part), "{page}: {text}");
    }
    assert!(work.path("pages/man1/fastlbp-rank.1").exists());
}
