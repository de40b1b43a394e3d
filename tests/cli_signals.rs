//! The program and signals: runs end at their next iteration, and no file is left half-written.
//!
//! No test sleeps: each waits for output of the program, on its terminal or in a named pipe.

#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;
#[path = "common/process.rs"]
mod process;

use libc::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use process::{OnTerminal, interposer, kill, make_fifo, program, set_signals};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The signals that end the program, with their exit codes.
const ENDING: [(i32, &str, i32); 3] =
    [(SIGINT, "SIGINT", 130), (SIGTERM, "SIGTERM", 143), (SIGHUP, "SIGHUP", 129)];

/// More iterations than any test waits for.
const FOREVER: &str = "1000000000000";

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A directory in which the program runs.
struct Workplace(TempDir);

impl Workplace {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = program();
        command.args(arguments.split_whitespace()).current_dir(&self.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of all files, sorted.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

/// The number before a word.
#[track_caller]
fn number_before(text: &str, word: &str) -> u64 {
    let start = text.split(word).next().unwrap();
    let number = start.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next().unwrap();
    number.parse().unwrap_or_else(|_| panic!("no number before '{word}': {text}"))
}

/// Ends a run by a signal: its exit code, what was on the terminal, and what it printed after what was read before.
fn ended_by(mut running: OnTerminal, signal: i32) -> (Option<i32>, String, String) {
    let mut output = running.child.stdout.take().unwrap();
    kill(&running.child, signal);
    let (status, shown) = running.wait();
    let mut printed = String::new();
    output.read_to_string(&mut printed).unwrap();
    (status.code(), shown, printed)
}

#[test]
fn a_run_ends_at_its_next_iteration_and_its_results_are_written() {
    for (signal, name, code) in ENDING {
        let work = Workplace::new();
        fs::write(work.path("out.txt"), "old").unwrap();
        let infer = format!("infer {} --schedule SEQFIX", data("alarm_small.causal_fg"));
        let run = format!("{infer} --iterations {FOREVER} --output out.txt --stats stats.json");
        let mut running = OnTerminal::start(work.command(&run));
        running.wait_for("iteration ");
        kill(&running.child, signal);
        let (status, shown) = running.wait();
        assert_eq!(status.code(), Some(code), "{shown}");
        assert!(
            shown.contains(&format!("fastlbp: {name}: the run ends after this iteration")),
            "{shown}"
        );
        let iterations = number_before(&shown, " iterations; the results so far are in out.txt");
        assert!(shown.contains(&format!("fastlbp: {name} has ended the run after ")), "{shown}");
        // The results of so many iterations, bit by bit.
        let again = work.run(&format!("{infer} --iterations {iterations}"));
        assert_eq!(again.status.code(), Some(0));
        assert_eq!(work.text("out.txt").as_bytes(), again.stdout);
        let stats: Value = serde_json::from_str(&work.text("stats.json")).unwrap();
        assert_eq!(stats["iterations"], iterations);
        assert_eq!(stats["stop_reason"], "cancelled");
        assert_eq!(work.files(), ["out.txt", "stats.json"]);
    }
}

#[test]
fn without_an_output_file_nothing_is_printed() {
    let work = Workplace::new();
    for map in ["", "--map"] {
        let graph = data("alarm_small.causal_fg");
        let run = format!("infer {graph} --iterations {FOREVER} {map}");
        let mut running = OnTerminal::start(work.command(&run));
        running.wait_for("iteration ");
        let (code, shown, printed) = ended_by(running, SIGINT);
        assert_eq!(code, Some(130), "{shown}");
        assert!(number_before(&shown, " iterations; no results are printed") > 0);
        assert_eq!(printed, "");
    }
    assert!(work.files().is_empty());
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let work = Workplace::new();
    // Nobody reads it, so that the results stay unwritten.
    make_fifo(&work.path("out.txt"));
    let graph = data("alarm_small.causal_fg");
    let run = format!("infer {graph} --iterations {FOREVER} --output out.txt");
    let mut running = OnTerminal::start(work.command(&run));
    running.wait_for("iteration ");
    kill(&running.child, SIGINT);
    running.wait_for("SIGINT: the run ends after this iteration");
    // It comes when the iteration has ended, or before: at once in either case.
    kill(&running.child, SIGTERM);
    let (status, shown) = running.wait();
    assert_eq!(status.code(), Some(143), "{shown}");
    assert!(shown.contains("fastlbp: ended by SIGTERM"), "{shown}");
    assert_eq!(work.files(), ["out.txt"]);
}

#[test]
fn a_signal_that_comes_while_files_are_read_ends_the_program_at_once() {
    for (signal, name, code) in ENDING {
        let work = Workplace::new();
        fs::write(work.path("out.txt"), "old").unwrap();
        make_fifo(&work.path("seen.obs"));
        let infer = format!("infer {} --evidence seen.obs", data("chain.causal_fg"));
        let child = work.command(&format!("{infer} --output out.txt")).spawn().unwrap();
        // Opened as soon as the program reads it.
        let evidence = fs::File::create(work.path("seen.obs")).unwrap();
        kill(&child, signal);
        let output = child.wait_with_output().unwrap();
        drop(evidence);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert_eq!(errors, format!("fastlbp: ended by {name}\n"));
        assert_eq!(work.text("out.txt"), "old");
        assert_eq!(work.files(), ["out.txt", "seen.obs"]);
    }
}

/// As `nohup` does, and shells with what scripts start in the background.
#[test]
fn signals_that_are_ignored_stay_so() {
    let work = Workplace::new();
    make_fifo(&work.path("seen.obs"));
    let infer = format!("infer {} --evidence seen.obs", data("chain.causal_fg"));
    let mut command = work.command(&infer);
    set_signals(&mut command, libc::SIG_IGN);
    let child = command.spawn().unwrap();
    let mut evidence = fs::File::create(work.path("seen.obs")).unwrap();
    for (signal, ..) in ENDING {
        kill(&child, signal);
    }
    evidence.write_all(b"8 0\n").unwrap();
    drop(evidence);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let known =
        work.run(&format!("infer {} --evidence {}", data("chain.causal_fg"), data("chain.obs")));
    assert_eq!(output.stdout, known.stdout);
}

/// Runs the program up to where all content is written and is to reach the disk, sends a signal there,
/// and gives the process's end.
fn end_while_writing(work: &Workplace, library: &Path, named: bool, signal: i32) -> Output {
    let stop = work.path("stop");
    if !stop.exists() {
        make_fifo(&stop);
    }
    let mut command = work.command(&format!("infer {} --output out.txt", data("chain.causal_fg")));
    command.env("LD_PRELOAD", library).env("TEST_SYNC_STOP", &stop);
    if named {
        command.env("TEST_NO_TMPFILE", "1");
    }
    let child = command.spawn().unwrap();
    drop(fs::File::open(&stop).unwrap());
    let temporaries = work.files().iter().filter(|name| name.ends_with(".tmp")).count();
    assert_eq!(temporaries > 0, named, "{:?}", work.files());
    kill(&child, signal);
    child.wait_with_output().unwrap()
}

#[test]
fn no_temporary_file_is_left_and_the_old_one_stays() {
    let libraries = tempfile::tempdir().unwrap();
    let Some(library) = interposer(libraries.path()) else { return };
    for named in [false, true] {
        for (signal, name, code) in ENDING {
            let work = Workplace::new();
            fs::write(work.path("out.txt"), "old").unwrap();
            let output = end_while_writing(&work, &library, named, signal);
            assert_eq!(output.status.code(), Some(code), "{name}");
            assert_eq!(output.stderr, format!("fastlbp: ended by {name}\n").into_bytes());
            assert_eq!(work.files(), ["out.txt", "stop"]);
            assert_eq!(work.text("out.txt"), "old");
        }
    }
}

#[test]
fn what_is_left_by_a_process_that_is_killed_disturbs_nobody() {
    let libraries = tempfile::tempdir().unwrap();
    let Some(library) = interposer(libraries.path()) else { return };
    for named in [false, true] {
        let work = Workplace::new();
        fs::write(work.path("out.txt"), "old").unwrap();
        let output = end_while_writing(&work, &library, named, SIGKILL);
        assert_eq!(output.status.signal(), Some(SIGKILL));
        assert_eq!(work.text("out.txt"), "old");
        // A file without a name is gone with its process.
        let left: Vec<String> = work.files().into_iter().filter(|f| f.ends_with(".tmp")).collect();
        assert_eq!(left.len(), usize::from(named), "{left:?}");
        let infer = format!("infer {}", data("chain.causal_fg"));
        assert_eq!(work.run(&format!("{infer} --output out.txt")).status.code(), Some(0));
        assert_eq!(work.text("out.txt").as_bytes(), work.run(&infer).stdout);
    }
}

#[test]
fn a_file_beyond_the_limit_is_an_error_and_no_signal() {
    let libraries = tempfile::tempdir().unwrap();
    let work = Workplace::new();
    let generate = "generate smartfl --variables 20000 graph.causal_fg";
    assert_eq!(work.run(generate).status.code(), Some(0));
    fs::write(work.path("out.txt"), "old").unwrap();
    for named in [false, true] {
        let mut command = Command::new("sh");
        let limited = "ulimit -f 8; exec \"$0\" \"$@\"";
        command.args(["-c", limited, env!("CARGO_BIN_EXE_fastlbp"), "infer", "graph.causal_fg"]);
        command.args(["--iterations", "1", "--output", "out.txt"]).current_dir(&work.0);
        if named {
            let Some(library) = interposer(libraries.path()) else { return };
            command.env("LD_PRELOAD", library).env("TEST_NO_TMPFILE", "1");
        }
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{:?}: {errors}", output.status);
        assert!(errors.starts_with("fastlbp: error: out.txt: File too large"), "{errors}");
        assert_eq!(work.text("out.txt"), "old");
        assert_eq!(work.files(), ["graph.causal_fg", "out.txt"]);
    }
}

#[test]
fn a_batch_ends_in_the_middle_of_its_entries() {
    // One by one with the log-partition, else several at once.
    for (option, sign) in [("", "running the batch"), ("--log-partition", "iteration ")] {
        let work = Workplace::new();
        fs::create_dir(work.path("seen")).unwrap();
        for number in 0..40 {
            fs::write(work.path(&format!("seen/{number:02}.obs")), "8 0\n").unwrap();
        }
        let infer = format!("infer {} --batch seen {option}", data("chain.causal_fg"));
        let run = format!("{infer} --iterations {FOREVER} --output out.txt --stats stats.json");
        let mut running = OnTerminal::start(work.command(&run));
        running.wait_for(sign);
        kill(&running.child, SIGINT);
        let (status, shown) = running.wait();
        assert_eq!(status.code(), Some(130), "{shown}");
        let [cut, not_run] =
            [" were cut short", " not run"].map(|word| number_before(&shown, word));
        assert!(cut > 0 && cut + not_run == 40, "{shown}");
        assert!(!shown.contains("warning"), "{shown}");
        let out = work.text("out.txt");
        assert_eq!(out.matches("# entry ").count(), 40);
        assert_eq!(out.matches("\n8 0\n").count() as u64, cut);
        assert_eq!(out.matches("# failed: not run").count() as u64, not_run);
        let stats: Value = serde_json::from_str(&work.text("stats.json")).unwrap();
        assert_eq!(stats["entries"][0]["stop_reason"], "cancelled");
    }
}

/// Entries that fail at once, and then one after the other that does not end.
fn failing_and_endless_entries(work: &Workplace) {
    // x2 is x1, which is true; x3 is anything.
    fs::write(work.path("g.causal_fg"), "3\n\n1\nI\n1\n\n2\n*1\n1\n1\n\n3\nI\n0.5\n").unwrap();
    fs::create_dir(work.path("seen")).unwrap();
    for number in 0..40 {
        let known = if number < 30 { "2 0\n" } else { "3 1\n" };
        fs::write(work.path(&format!("seen/{number:02}.obs")), known).unwrap();
    }
}

#[test]
fn a_batch_is_written_while_its_entries_run() {
    for threads in [1, 2, 3] {
        let work = Workplace::new();
        failing_and_endless_entries(&work);
        make_fifo(&work.path("pipe"));
        let infer = format!("infer g.causal_fg --batch seen --iterations {FOREVER}");
        let run = format!("{infer} --output pipe --threads {threads}");
        let running = work.command(&run).spawn().unwrap();
        let mut output = BufReader::new(fs::File::open(work.path("pipe")).unwrap());
        let mut line = String::new();
        for number in 0..30 {
            line.clear();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, format!("# entry {number:02}.obs\n"));
            line.clear();
            output.read_line(&mut line).unwrap();
            assert!(line.starts_with("# failed: contradiction at variable 1"), "{line}");
        }
        kill(&running, SIGINT);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        let ended = running.wait_with_output().unwrap();
        let errors = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(130), "{errors}");
        assert_eq!(rest.matches("# entry ").count(), 10, "{rest}");
        let cut = rest.matches("\n3 1\n").count();
        let not_run = rest.matches("# failed: not run").count();
        assert!(cut <= threads && cut + not_run == 10, "{rest}");
        let told = format!("of 40 entries {cut} were cut short and {not_run} not run");
        assert!(errors.contains(&told), "{errors}");
        assert_eq!(errors.matches("warning: entry ").count(), 30, "{errors}");
    }
}

#[test]
fn a_batch_that_is_ended_prints_nothing_without_an_output_file() {
    for threads in [1, 2] {
        let work = Workplace::new();
        failing_and_endless_entries(&work);
        let infer = format!("infer g.causal_fg --batch seen --threads {threads}");
        let run = format!("{infer} --iterations {FOREVER}");
        let mut running = OnTerminal::start(work.command(&run));
        running.wait_for("running the batch");
        let (code, shown, printed) = ended_by(running, SIGINT);
        assert_eq!(code, Some(130), "{shown}");
        assert!(shown.contains("no results are printed (--output would"), "{shown}");
        assert_eq!(printed, "");
    }
}

#[test]
fn measurements_end_at_the_next_iteration() {
    let work = Workplace::new();
    let graph = data("alarm_small.causal_fg");
    let bench = format!("bench {graph} --backend cpu --iterations {FOREVER}");
    for json in ["", "--json"] {
        let mut running = OnTerminal::start(work.command(&format!("{bench} {json}")));
        running.wait_for("measuring");
        let (code, shown, printed) = ended_by(running, SIGTERM);
        assert_eq!(code, Some(143), "{shown}");
        assert!(shown.contains("fastlbp: SIGTERM has ended it after 0 measurements"), "{shown}");
        match json {
            "" => assert_eq!(printed.lines().count(), 1),
            _ => {
                let report: Value = serde_json::from_str(&printed).unwrap();
                assert_eq!(report["measurements"], Value::Array(Vec::new()));
                assert_eq!(report["failures"], Value::Array(Vec::new()));
            }
        }
    }
}

#[test]
fn a_conversation_ends_between_lines() {
    for (signal, name, code) in ENDING {
        let work = Workplace::new();
        let mut command = work.command(&format!("bingo {}", data("chain.causal_fg")));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let asking = std::thread::spawn(move || {
            let _ = input.write_all(b"BP 1e-06 500 1000 100\n");
            while input.write_all(b"Q 0\n").is_ok() {}
        });
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for number in 0..1000 {
            line.clear();
            answers.read_line(&mut line).unwrap();
            assert_eq!(line, if number == 0 { "0\n" } else { "0.25\n" });
        }
        kill(&child, signal);
        let mut rest = String::new();
        answers.read_to_string(&mut rest).unwrap();
        assert!(rest.is_empty() || rest.ends_with('\n'), "{rest}");
        assert!(rest.lines().all(|line| line == "0.25"));
        let output = child.wait_with_output().unwrap();
        asking.join().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(output.stderr, format!("fastlbp: ended by {name}\n").into_bytes());
    }
}

/// Neither input nor output nor a run keeps it from ending.
#[test]
fn a_conversation_ends_wherever_it_is() {
    let work = Workplace::new();
    let flood = "NL\n".repeat(200_000);
    for (what, input) in [
        ("it waits for input", "NL\n".to_string()),
        ("it runs", format!("NL\nBP 0 {FOREVER} {FOREVER} 1\n")),
        ("nobody reads its output", flood),
    ] {
        let mut command = work.command(&format!("bingo {}", data("alarm_small.causal_fg")));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let asking = std::thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
            stdin
        });
        let mut first = [0];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"\n");
        kill(&child, SIGTERM);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(143), "{what}");
        drop((asking.join().unwrap(), stdout));
    }
}
