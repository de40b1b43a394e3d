//! `fastlbp rank`: BINGO's loop in one process, with answers from a file, a program, or a person at a terminal.

#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;
#[path = "common/conversation.rs"]
mod conversation;
#[allow(dead_code, reason = "of the processes, only those at terminals are used")]
#[path = "common/process.rs"]
mod process;
#[path = "common/workplace.rs"]
mod workplace;

use process::{OnTerminal, kill, program};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use workplace::{Workplace, data};

const ALARMS: &str = "\
# the alarms of alarm_small, and which of them are true
14 race(f,g) 1
20 race(f,h) 0
21 race(g,h) 1
";
const NAMES: &str = "\
1: escapes(a)
2: shared(b)
3: escapes(c)
10: NOT escapes(a), NOT shared(b), access(f)
11: NOT shared(b), NOT escapes(c), access(f)
12: access(f)
14: race(f,g)
20: race(f,h)
21: race(g,h)
";
/// Ends a question for a person.
const PROMPT: &str = "a true alarm? y, n, ? (why), u (undo), s (save), q (quit): ";

fn small() -> Workplace {
    let graph = fs::read_to_string(data("alarm_small.causal_fg")).unwrap();
    Workplace::new(&[("small.causal_fg", &graph), ("small.alarms", ALARMS), ("small.dict", NAMES)])
}

/// The inspection of a real graph, by `--answers` of its truth.
fn real(directory: &Path, name: &str) -> String {
    let path = |suffix| format!("{}/{name}-thresc.{suffix}", directory.display());
    let (graph, alarms) = (path("causal_fg.gz"), path("alarms"));
    format!("rank {graph} --alarms {alarms} --answers {alarms} --backend cpu")
}

/// Numbers of answers and inversions, Rank-100%-T and Rank-90%-T.
fn measures(output: &str) -> [u64; 4] {
    let value: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    assert_eq!(value["event"], "summary");
    ["answers", "inversions", "rank_100", "rank_90"].map(|key| value[key].as_u64().unwrap())
}

/// The labels in the order in which they were answered.
fn order(output: &str) -> Vec<u64> {
    let values = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = values.filter(|value| value["event"] == "answer");
    answers.map(|value| value["label"].as_u64().unwrap()).collect()
}

/// An alarm of a list: label, name, truth.
fn read_alarms(path: &Path) -> Vec<(u64, String, bool)> {
    let text = fs::read_to_string(path).unwrap();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    words.map(|w| (w[0].parse().unwrap(), w[1].to_string(), w[2] == "1")).collect()
}

/// The loop of BINGO's driver.py over `fastlbp bingo`: the labels in the order of the questions.
fn drivers_order(directory: &Path, name: &str) -> Vec<u64> {
    let mut left = read_alarms(&directory.join(format!("{name}-thresc.alarms")));
    let graph = directory.join(format!("{name}-thresc.causal_fg.gz"));
    let mut child = program()
        .arg("bingo")
        .arg(graph)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |command: String| {
        writeln!(input, "{command}").unwrap();
        lines.next().unwrap().unwrap()
    };
    let mut order = Vec::new();
    while left.iter().any(|(_, _, is_true)| *is_true) {
        ask("BP 1e-06 500 1000 100".into());
        // The labels of these graphs have no gaps, so that they are indices.
        let mut ranked: Vec<(f64, String, u64, bool)> = left
            .iter()
            .map(|(label, name, is_true)| {
                (ask(format!("Q {label}")).parse().unwrap(), name.clone(), *label, *is_true)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (_, _, label, is_true) = ranked.swap_remove(0);
        ask(format!("O {label} {is_true}"));
        order.push(label);
        left.retain(|alarm| alarm.0 != label);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    order
}

#[test]
fn the_order_is_that_of_bingos_driver() {
    let graphs = PathBuf::from(data("graphs/bingo"));
    let (output, _) = small().warned(&format!("{} --json", real(&graphs, "weblech")));
    assert_eq!(measures(&output), [11, 23, 11, 11]);
    assert_eq!(order(&output), drivers_order(&graphs, "weblech"));
}

#[test]
fn all_true_alarms_of_jspider_are_found() {
    let graphs = PathBuf::from(data("graphs/bingo"));
    let (output, _) = small().warned(&format!("{} --json", real(&graphs, "jspider")));
    assert_eq!(measures(&output), [61, 105, 61, 61]);
}

/// Takes minutes: `scripts/test-deep rankings` runs it.
#[test]
#[ignore = "deep"]
fn large_real_graphs_have_their_known_rankings() {
    let Some(graphs) = common::shared("graphs/bingo") else { return };
    for (name, wanted) in [
        ("luindex", [17, 30, 17, 17]),
        ("ftp", [132, 1573, 132, 103]),
        ("sunflow", [147, 1317, 147, 116]),
    ] {
        let (output, _) = small().warned(&format!("{} --json", real(&graphs, name)));
        assert_eq!(measures(&output), wanted, "{name}");
        assert_eq!(order(&output), drivers_order(&graphs, name), "{name}");
    }
}

#[test]
fn answers_come_from_a_file() {
    let work = small();
    fs::write(work.path("true.txt"), "race(f,g)\nrace(g,h)\n").unwrap();
    let run = "rank small.causal_fg --alarms small.alarms --names small.dict --answers";
    let (out, err) = work.warned(&format!("{run} small.alarms"));
    let wanted = "\
1 true 0.634672 race(f,g) (14)
2 true 0.9 race(g,h) (21)
# answers 2, true 2, open 1
# inversions 0
# Rank-100%-T 2
# Rank-90%-T 2
";
    assert_eq!(out, wanted);
    assert!(err.starts_with("fastlbp: 2 answers, ") && err.contains(" s each, "), "{err}");
    // A list of the true ones, as BINGO's oracle.
    assert_eq!(work.warned(&format!("{run} true.txt")).0, wanted);
    let (out, _) = work.warned(&format!("{run} true.txt --all"));
    assert!(out.contains("\n3 false 0.61147 race(f,h) (20)\n"), "{out}");
    // Answers for some: the next question is the last thing that is said.
    fs::write(work.path("some.txt"), "14 0\n").unwrap();
    let (out, err) = work.warned(&format!("{run} some.txt"));
    assert!(err.starts_with("fastlbp: 1 answer, "), "{err}");
    assert!(
        out.contains("\nalarm 2: race(f,h) (20) 0\n  then race(g,h) (21) 0\n# answers 1,"),
        "{out}"
    );
    // The measures are those of the truth in the list of alarms, and not of this answer.
    let differs = "# by the truth in the list of alarms, from which 1 of 1 answers differs:\n# inversions 0\n";
    assert!(out.contains(differs), "{out}");
    let (out, _) = work.warned(&format!("{run} some.txt --json"));
    let summary: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&summary["true"], &summary["differing_answers"]), (&0.into(), &1.into()));
    // Without names, equal probabilities go by label; other rules and schedules.
    fs::write(work.path("labels"), "21\n20\n14\n").unwrap();
    let run = "rank small.causal_fg --alarms labels --answers some.txt";
    let (out, _) = work.warned(run);
    assert!(out.contains("\nalarm 2: 20 0\n  then 21 0\n"), "{out}");
    for options in [
        "--warm",
        "--schedule PARALL --tolerance 1e-9",
        "--schedule SEQRND --seed 5 --iterations 20",
        "--schedule SEQMAX --damping 0.1",
        "--bingo 1e-6,5,10,2 --ties all --active 0",
    ] {
        let (out, _) = work.warned(&format!("{run} {options}"));
        assert!(out.starts_with("1 false 0.63"), "{options}: {out}");
    }
    // What the evidence observes is not asked.
    fs::write(work.path("seen.obs"), "14 1\n").unwrap();
    let command =
        "rank small.causal_fg --alarms small.alarms --answers small.alarms --evidence seen.obs";
    let (out, err) = work.warned(command);
    assert!(out.starts_with("1 true 0.9 race(g,h) (21)\n# answers 1,"), "{out}");
    assert!(err.contains("warning: 1 of 3 alarms are observed by the evidence"), "{err}");
}

#[test]
fn evidence_may_have_the_names_of_a_graph() {
    let work = Workplace::new(&[
        ("names.obs", "season wet\n"),
        ("numbers.obs", "0 2\n"),
        ("all.alarms", "flood 1\nprice 0\n"),
    ]);
    let graph = data("harvest.bif");
    let run =
        format!("rank {graph} --alarms all.alarms --answers all.alarms --schedule TREE --all");
    let order = |evidence: &str| work.warned(&format!("{run} {evidence}")).0;
    assert_eq!(order("--evidence names.obs"), order("--evidence numbers.obs"));
    assert_ne!(order("--evidence names.obs"), order(""));
}

/// Runs the program with an input.
fn converse(work: &Workplace, arguments: &str, input: &str) -> (Option<i32>, String, String) {
    let mut command = program();
    command.args(arguments.split_whitespace()).current_dir(work.path(""));
    let output = conversation::converse(&mut command, input);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn programs_speak_json() {
    let work = small();
    let run = "rank small.causal_fg --alarms small.alarms --names small.dict --json";
    let (code, out, _) =
        converse(&work, run, "?\ny\nu\nwhat\ny 20\nn 20\ny 7\n? 77\ns kept\n\nq\n");
    assert_eq!(code, Some(0));
    let values: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = values.iter().map(|value| value["event"].as_str().unwrap()).collect();
    let wanted = [
        "question", "why", "question", "done", "question", "error", "question", "error", "error",
        "error", "done", "question", "summary",
    ];
    assert_eq!(events, wanted, "{out}");
    let first = &values[0];
    assert_eq!(
        (&first["alarm"]["label"], &first["alarm"]["name"]),
        (&14.into(), &"race(f,g)".into())
    );
    assert_eq!(first["answers"], 0);
    assert!(
        (first["alarm"]["probability"].as_f64().unwrap() - 0.634_671_704_753_125).abs() < 1e-12
    );
    assert_eq!(first["next"].as_array().unwrap().len(), 2);
    assert_eq!(values[1]["derivations"][0]["premises"][0]["name"], "access(f)");
    assert_eq!(values[4]["alarm"], first["alarm"], "undone");
    for (value, why) in [
        (5, "'what': one of y, n, ?"),
        (7, "alarm 20: it was answered before"),
        (8, "'7': the graph has no such label"),
        (9, "'77': the graph has no such label"),
    ] {
        let message = values[value]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
    }
    assert_eq!((&values[12]["answers"], &values[12]["true"]), (&1.into(), &1.into()));
    assert_eq!(fs::read_to_string(work.path("kept")).unwrap(), "20 race(f,h) 1\n");
    // The end of the input is the end.
    let (code, out, _) = converse(&work, run, "");
    assert_eq!((code, out.lines().count()), (Some(0), 2));
}

#[test]
fn a_person_answers_at_a_terminal() {
    let work = small();
    let mut command = program();
    command.args(["rank", "small.causal_fg", "--alarms", "small.alarms", "--names", "small.dict"]);
    command.args(["--journal", "kept"]).current_dir(work.path(""));
    let mut person = OnTerminal::start_dialog(command);
    let shown = person.wait_for_next(PROMPT);
    assert!(shown.contains("alarm 1: race(f,g) (14) 0.634672\r\n  then race(g,h) (21)"), "{shown}");
    person.type_line("?");
    let shown = person.wait_for_next(PROMPT);
    assert!(
        shown.contains("derivation 1: 0.423888, a rule of probability 0.999, label 13"),
        "{shown}"
    );
    assert!(shown.contains("    0.424313 access(f) (12)\r\n"), "{shown}");
    person.type_line("? shared(b)");
    assert!(person.wait_for_next(PROMPT).contains("nothing derives it"));
    person.type_line("n");
    let shown = person.wait_for_next(PROMPT);
    assert!(shown.contains("alarm 2: race(f,h) (20) 0"), "{shown}");
    person.type_line("u");
    let shown = person.wait_for_next(PROMPT);
    assert!(shown.contains("taken back: race(f,g) (14) false\r\nalarm 1: race(f,g)"), "{shown}");
    person.type_line("y");
    assert!(person.wait_for_next(PROMPT).contains("alarm 2: race(g,h) (21) 0.9\r\n"));
    person.type_line("s");
    assert!(person.wait_for_next(PROMPT).contains("all answers are in the journal kept"));
    person.type_line("s small.alarms");
    let shown = person.wait_for_next(PROMPT);
    assert!(shown.contains("--alarms small.alarms and s small.alarms: one file"), "{shown}");
    person.type_line("maybe");
    assert!(person.wait_for_next(PROMPT).contains("'maybe': one of y, n,"));
    person.type_line("h");
    assert!(person.wait_for_next(PROMPT).contains("u             undo:"));
    person.type_line("q");
    let (status, shown) = person.wait();
    assert!(status.success() && shown.contains("# answers 1, true 1, open 2\r\n"), "{shown}");
    // The journal goes on there, and Ctrl-C at a question loses nothing.
    let mut command = program();
    command.args(["rank", "small.causal_fg", "--alarms", "small.alarms", "--names", "small.dict"]);
    command.args(["--journal", "kept"]).current_dir(work.path(""));
    let mut person = OnTerminal::start_dialog(command);
    let shown = person.wait_for_next(PROMPT);
    assert!(shown.contains("fastlbp: kept: goes on after 3 entries"), "{shown}");
    assert!(shown.contains("alarm 2: race(g,h) (21) 0.9\r\n"), "{shown}");
    person.type_line("y");
    person.wait_for_next(PROMPT);
    kill(&person.child, libc::SIGINT);
    let (status, shown) = person.wait();
    assert!(status.code() == Some(130) && shown.contains("ended by SIGINT"), "{shown}");
    assert_eq!(fs::read_to_string(work.path("kept")).unwrap().lines().count(), 5);
}

/// The label of the question with which an inspection goes on.
fn question(work: &Workplace, arguments: &str) -> u64 {
    let (code, out, err) = converse(work, arguments, "");
    assert_eq!(code, Some(0), "{err}");
    let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    first["alarm"]["label"].as_u64().unwrap_or_else(|| panic!("{out}"))
}

#[test]
fn killed_at_any_moment_it_goes_on_with_the_same_question() {
    const MOMENTS: u32 = 50;
    let alarms: String =
        (0..15).map(|number| format!("{} {}\n", 19 * number, number % 3 / 2)).collect();
    let work = Workplace::new(&[("some.alarms", &alarms)]);
    work.warned("generate bingo --variables 300 --seed 4 graph.causal_fg");
    let run = "rank graph.causal_fg --alarms some.alarms --iterations 20 --backend cpu --threads 1 --json";
    let answer = format!("{run} --answers some.alarms --all");
    // Undisturbed: what is asked after so many answers.
    let started = Instant::now();
    let (out, _) = work.warned(&format!("{answer} --journal whole"));
    let whole = started.elapsed();
    let asked = order(&out);
    assert_eq!(asked.len(), 15);
    let mut seen = 0;
    for moment in 0..MOMENTS {
        let journal = format!("journal{moment}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
        command.args(format!("{answer} --journal {journal}").split_whitespace());
        let mut child = command
            .current_dir(work.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Spread over the whole run, with a fraction of a step that is never the same.
        let fraction =
            (f64::from(moment) + 0.618 * f64::from(moment * 7 % 11) / 11.0) / f64::from(MOMENTS);
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * fraction));
        kill(&child, libc::SIGKILL);
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        // A line that was cut by the end is no answer yet.
        let shown = output
            .map_while(Result::ok)
            .filter(|line| line.contains("\"answer\"") && line.ends_with('}'));
        let shown = shown.count();
        child.wait().unwrap();
        let kept = fs::read_to_string(work.path(&journal)).unwrap_or_default();
        let kept = kept.lines().filter(|line| line.starts_with("answer ")).count();
        assert!(kept + 1 >= shown, "{shown} answers were begun, and {kept} kept");
        seen += usize::from(0 < kept && kept < asked.len());
        if kept < asked.len() {
            let next = question(&work, &format!("{run} --journal {journal}"));
            assert!(next == asked[kept] || kept > 0 && next == asked[kept - 1], "moment {moment}");
            // Undamaged, the last line counts.
            let text = fs::read_to_string(work.path(&journal)).unwrap();
            let whole_lines = text.lines().filter(|line| line.starts_with("answer ")).count();
            assert_eq!(next, asked[whole_lines], "moment {moment}");
        }
        // It can go on to the same end.
        if moment % 10 == 0 {
            work.warned(&format!("{answer} --journal {journal}"));
            let [one, other] =
                ["whole", &journal].map(|name| fs::read_to_string(work.path(name)).unwrap());
            assert_eq!(one, other);
        }
    }
    assert!(
        seen > 5,
        "only {seen} of {MOMENTS} moments were between the first and the last answer"
    );
}

#[test]
fn what_is_wrong_is_told() {
    let work = small();
    let run = "rank small.causal_fg --alarms small.alarms --names small.dict";
    for (name, text) in [
        ("unknown.alarms", "14\nrace(x,y) 1\n"),
        ("empty.alarms", "# nothing\n"),
        ("named.alarms", "14 race(x,y) 1\n"),
        ("two.txt", "14 1\n20 0\n14 0\n"),
        ("mixed.txt", "14 1\n20\n"),
        ("other.txt", "14 1\n10 1\n"),
        ("wrong.dict", "14\n"),
        ("other.dict", "14 race\n"),
        ("contradicting.txt", "14 0\n20 0\n21 0\n"),
        ("seven", "7\n"),
    ] {
        fs::write(work.path(name), text).unwrap();
    }
    work.refuses(
        "rank small.causal_fg",
        &[
            ("", "--alarms"),
            (
                "--alarms unknown.alarms",
                "unknown.alarms:2: variable 'race(x,y)': a label, or a name of the dictionary",
            ),
            ("--alarms seven", "seven:1: variable '7': the graph has no such label"),
            (
                "--alarms empty.alarms",
                "empty.alarms: no alarm is listed: a line `VARIABLE [NAME] [0|1]` is needed",
            ),
            (
                "--alarms small.alarms --names wrong.dict",
                "wrong.dict:1: no name of a variable: a line `label: name`",
            ),
            (
                "--alarms small.alarms --names other.dict",
                "small.alarms:2: variable 14 is called race(f,g) here and race in the dictionary",
            ),
            ("--alarms small.alarms --all", "--answers"),
            ("--alarms small.alarms --iterations 5 --bingo 1e-6,5,10,1", "cannot be used with"),
            ("--alarms missing", "missing: "),
        ],
    );
    work.refuses(
        run,
        &[
            ("--answers two.txt", "two.txt:3: variable race(f,g) is marked 0, but 1 in line 1: it can have one mark only"),
            ("--answers mixed.txt", "mixed.txt:2: no answer for alarm race(f,h): 0 or 1 is needed in each line"),
            ("--answers other.txt", "other.txt:2: \"NOT escapes(a), NOT shared(b), access(f)\" is none of the alarms"),
            ("--journal small.alarms", "--alarms small.alarms and --journal small.alarms: one file"),
            ("--journal small.causal_fg", "one file"),
        ],
    );
    let named = "rank small.causal_fg --names small.dict --alarms named.alarms";
    assert!(
        work.fail(2, named)
            .contains("variable 14 is called race(x,y) here and race(f,g) in the dictionary")
    );
    // Journals: of another graph, other alarms or options, with other answers, damaged, and what is none.
    work.warned(&format!("{run} --answers contradicting.txt --all --journal kept"));
    let graph = fs::read_to_string(work.path("small.causal_fg")).unwrap();
    fs::write(work.path("other.causal_fg"), graph.replace("0.95\n", "0.94\n")).unwrap();
    fs::write(work.path("fewer.alarms"), "14\n20\n").unwrap();
    for (command, why) in [
        (
            run.replace("small.causal_fg", "other.causal_fg"),
            "kept:1: the journal belongs to another graph",
        ),
        (
            run.replace("small.alarms", "fewer.alarms"),
            "kept:1: the journal belongs to other alarms",
        ),
        (
            format!("{run} --schedule PARALL"),
            "was begun with schedule=SequentialFixed, and this is schedule=Parallel",
        ),
        (format!("{run} --warm"), "was begun with start=Fresh, and this is start=Warm"),
    ] {
        let error = work.fail(2, &format!("{command} --journal kept"));
        assert!(error.contains(why), "{error}");
    }
    let (code, _, error) = work.all(&format!("{run} --answers small.alarms --journal kept"));
    assert_eq!(code, Some(2));
    assert!(
        error.contains("is false in the journal, and true in the file of --answers"),
        "{error}"
    );
    let kept = fs::read_to_string(work.path("kept")).unwrap();
    fs::write(work.path("damaged"), kept.replacen("answer", "anwser", 1)).unwrap();
    assert!(
        work.fail(2, &format!("{run} --journal damaged"))
            .contains("damaged:2: the line is damaged")
    );
    fs::write(work.path("none"), "dear diary\n").unwrap();
    assert!(work.fail(2, &format!("{run} --journal none")).contains("none:1: this is no journal"));
    // A torn last line is a warning.
    fs::write(work.path("torn"), &kept[..kept.len() - 4]).unwrap();
    let (_, err) = work.warned(&format!("{run} --journal torn"));
    assert!(
        err.contains("fastlbp: warning: torn: the last line was torn, and is cut off"),
        "{err}"
    );
    assert!(work.fail(1, &format!("{run} --journal .")).contains(".: "));
}

#[test]
fn answers_that_contradict_the_graph_are_refused_if_asked_for() {
    let work = Workplace::new(&[
        ("g.causal_fg", "3\n\n1\nI\n0.5\n\n2\n*\n1\n1\n\n3\n*\n1\n1\n"),
        ("a.alarms", "2 1\n3 0\n"),
    ]);
    let run = "rank g.causal_fg --alarms a.alarms --contradiction error";
    let (code, out, _) = converse(&work, &format!("{run} --journal kept"), "y\nn\ny\n");
    assert_eq!(code, Some(0));
    assert!(out.contains("the answer is not taken: contradiction at variable "), "{out}");
    assert!(out.contains("# answers 2, true 2, open 0\n"), "{out}");
    let kept = fs::read_to_string(work.path("kept")).unwrap();
    assert!(kept.contains("\nrefused ~"), "{kept}");
    // Where nobody can give another answer, it is the end.
    let (code, out, err) = work.all(&format!("{run} --answers a.alarms --all"));
    assert_eq!(code, Some(3), "{out}{err}");
    // By default they are voted on, with a warning.
    let (_, err) = work.warned("rank g.causal_fg --alarms a.alarms --answers a.alarms --all");
    assert!(
        err.contains("warning: after answer 2: deterministic messages that disagree met"),
        "{err}"
    );
}
