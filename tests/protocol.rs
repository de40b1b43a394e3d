//! BINGO's line protocol, spoken with the real program.

#![cfg(feature = "cli")]

mod common;
#[path = "common/conversation.rs"]
mod conversation;

use conversation::converse;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fastlbp"))
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Answers of the program to an input, which must end well and say nothing else.
#[track_caller]
fn answers(graph: &str, input: &str) -> String {
    let output = converse(program().args(["bingo", graph]), input);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// A symbolic link to the program under the name that BINGO's driver uses.
fn wrapper(directory: &Path) -> PathBuf {
    let link = directory.join("bingo_wrapper");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fastlbp"), &link).unwrap();
    link
}

/// The transcript that the front ends of the libDAI-compatible headers are held against, too.
#[test]
fn own_transcript_byte_for_byte() {
    let transcript = |suffix| {
        let path = format!("{}/tests/libdai/alarm_small.{suffix}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(answers(&data("alarm_small.causal_fg"), &transcript("in")), transcript("out"));
}

#[test]
fn reference_transcripts_byte_for_byte() {
    let golden = common::data("golden");
    let directory = tempfile::tempdir().unwrap();
    let wrapper = wrapper(directory.path());
    let mut checked = 0;
    for entry in std::fs::read_dir(golden.join("protocol")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "in") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let graph = name.split_once('.').unwrap().0;
        let graph = golden.join(format!("fixed/{graph}.causal_fg"));
        let input = std::fs::read_to_string(&path).unwrap();
        let wanted = std::fs::read_to_string(path.with_extension("out")).unwrap();
        let as_command = converse(program().arg("bingo").arg(&graph), &input);
        let as_wrapper = converse(Command::new(&wrapper).arg(&graph).arg("17"), &input);
        for output in [as_command, as_wrapper] {
            assert_eq!(output.status.code(), Some(0), "{name}");
            let found = String::from_utf8(output.stdout).unwrap();
            for (number, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
                assert_eq!(found, wanted, "{name}: line {} of the answers", number + 1);
            }
            assert!(found == wanted, "{name}: {} instead of {}", found.len(), wanted.len());
        }
        println!("golden/protocol/{name}: {} answers", wanted.lines().count());
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn a_conversation() {
    let input = "NL\nBP 1e-06 500 1000 100\nQ 0\nQ 2\nO 2 false\nQ 2\nBP 1e-06 500 1000 100\n\
                 Q 0\nQ 1\nQ 2\nFQ 0 1\nUC 2\nBP 1e-06 500 1000 100\nQ 1\nBYE\nNL\n";
    let wanted = "\n0\n0.25\n0.304688\nO 2 false\n0.304688\n0\n\
                  0.224719\n0.157303\n0\n0.224719\nUC 2\n0\n0.21875\n";
    assert_eq!(answers(&data("chain.causal_fg"), input), wanted);
}

#[test]
fn each_bad_input_is_answered_by_one_error_line() {
    for wrong in [
        "Q 0",
        "FQ 0 0",
        "HELLO",
        "hello world, how are you",
        "Q 3",
        "Q -1",
        "Q x",
        "O 0 perhaps",
        "O 3 true",
        "UC 3",
        "FQ 3 0",
        "BP x 1 2 3",
        "BP 1e-6 10 5 1",
        "BP 1e-6 5 10 0",
        "\u{e9}\u{7f}\u{1}",
    ] {
        let found = answers(&data("chain.causal_fg"), &format!("{wrong}\nNL\n"));
        let lines: Vec<&str> = found.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("ERROR ") && lines[1].is_empty(),
            "{found:?}"
        );
    }
}

/// The program, started on a small graph.
fn start_on_chain() -> Child {
    let mut command = program();
    command.args(["bingo", &data("chain.causal_fg")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn bytes_that_are_no_text_are_answered_too() {
    let mut child = start_on_chain();
    child.stdin.take().unwrap().write_all(b"\xff\xfe\x00Q 1\n\xc3\x28\nNL\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().filter(|line| line.starts_with("ERROR")).count(), 2);
    assert!(found.ends_with("\n\n"));
}

struct Dialogue {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Dialogue {
    fn ask(&mut self, line: &str) -> String {
        writeln!(self.stdin, "{line}").unwrap();
        self.stdin.flush().unwrap();
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        answer
    }
}

/// As BINGO's driver does it: a line is sent only when the last one has been answered. An answer
/// that were not flushed, or a command that waited for the next line, would hang here.
/// With --timing, a line on the standard error for each BP; the answers are the same.
#[test]
fn timing_says_how_many_iterations_each_query_took() {
    let (graph, input) = (data("chain.causal_fg"), "BP 0 3 3 2\nQ 2\nBP 1e-6 5 9 2\n");
    let output = converse(program().args(["bingo", "--timing", &graph]), input);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), answers(&graph, input));
    let lines = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("BP: 2 iterations in 0.0"), "{lines:?}");
    assert!(lines[1].ends_with("; converged"), "{lines:?}");
}

#[test]
fn every_answer_is_flushed_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(wrapper(directory.path()))
        .arg(data("alarm_small.causal_fg"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut dialogue = Dialogue { child, stdin, stdout };
    assert_eq!(dialogue.ask("NL"), "\n");
    assert_eq!(dialogue.ask("O 9 true"), "O 9 true\n");
    assert_eq!(dialogue.ask("BP 1e-06 500 1000 100"), "0\n");
    assert_eq!(dialogue.ask("Q 9"), "1\n");
    assert!(dialogue.ask("Q 100").starts_with("ERROR "));
    assert_eq!(dialogue.ask("UC 9"), "UC 9\n");
    for _ in 0..100 {
        assert_eq!(dialogue.ask("Q 9"), "1\n");
    }
    let Dialogue { mut child, stdin, mut stdout } = dialogue;
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    assert_eq!(stdout.read_line(&mut rest).unwrap(), 0, "{rest}");
}

#[test]
fn contradictory_evidence_is_voted_on_and_reported_on_stderr_only() {
    let input = "BP 1e-06 5 10 2\nQ 0\n";
    let output = converse(program().args(["bingo", &data("contradiction.causal_fg")]), input);
    assert_eq!(output.status.code(), Some(0));
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.lines().count(), 2, "{found}");
    assert!(!found.contains("ERROR") && !found.contains("nan"), "{found}");
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("fastlbp: warning: BP: "));
}

#[test]
fn arguments() {
    let directory = tempfile::tempdir().unwrap();
    let wrapper = wrapper(directory.path());
    let graph = data("chain.causal_fg");
    for arguments in [&[graph.as_str()][..], &[&graph, "12345"]] {
        let output = converse(Command::new(&wrapper).args(arguments), "NL\n");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"\n"[..]));
    }
    let missing = directory.path().join("missing.causal_fg").display().to_string();
    for arguments in [&[][..], &[&graph, "x"], &[&graph, "1", "2"], &[&missing], &["infer"]] {
        let output = converse(Command::new(&wrapper).args(arguments), "NL\n");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(output.stderr.starts_with(b"fastlbp: error: "));
    }
}

#[test]
fn a_driver_that_goes_away_is_no_error() {
    let mut child = start_on_chain();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(b"NL\nNL\nNL\n");
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
