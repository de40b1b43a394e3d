//! Batches of `fastlbp infer` with many entries: results, warnings and errors are in the order of the entries and have the
//! same bytes, whatever the number of threads, and wherever they are written.

#![cfg(all(feature = "cli", unix))]

#[path = "common/workplace.rs"]
mod workplace;

use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::process::Command;
use workplace::{Workplace, data};

const ENTRIES: usize = 60;

/// A graph with many sets of evidence, in a directory and as a list. Of each ten, one is contradictory, and one has a
/// variable that the graph does not have.
fn place() -> Workplace {
    // The last variable is the first one, which is true.
    let mut graph = String::from("302\n\n0\nI\n1\n\n301\n*1\n1\n0\n");
    for label in 1..=40 {
        graph += &format!("\n{label}\nI\n0.{label:02}\n");
    }
    for label in 41..301 {
        let (first, second) = (label % 40 + 1, label * 7 % 39 + 1);
        let body =
            if first == second { format!("1\n{first}") } else { format!("2\n{first} {second}") };
        graph += &format!("\n{label}\n*0.9;0.1\n{body}\n");
    }
    let work = Workplace::new(&[("g.causal_fg", &graph), ("asked.txt", "8\n20\n")]);
    fs::write(work.path("names.txt"), "3 three\n1 one\n").unwrap();
    fs::create_dir(work.path("seen")).unwrap();
    let mut list = String::from("# all of them\n\n");
    for number in 0..ENTRIES {
        let observed = (41..300).filter(|label| label * 7 % 11 == number % 11);
        let mut text: String =
            observed.map(|label| format!("{label} {}\n", label * number % 2)).collect();
        match number % 10 {
            3 => text += "301 0\n",
            6 => text += "99999 1\n",
            _ => {}
        }
        let name = format!("{number:03}.obs");
        fs::write(work.path(&format!("seen/{name}")), text).unwrap();
        list += &format!("seen/{name}\n");
    }
    fs::write(work.path("list"), list).unwrap();
    work
}

fn read(work: &Workplace, name: &str) -> Vec<u8> {
    fs::read(work.path(name)).unwrap()
}

/// The sections of a batch as each entry gives it alone.
fn one_by_one(work: &Workplace, options: &str) -> (String, usize) {
    let (mut text, mut failures) = (String::new(), 0);
    for number in 0..ENTRIES {
        let name = format!("{number:03}.obs");
        let run = format!("infer g.causal_fg --evidence seen/{name} {options} --threads 1");
        let (code, out, err) = work.all(&run);
        text += &format!("# entry {name}\n{out}");
        if code != Some(0) {
            let why = err.lines().last().unwrap().strip_prefix("fastlbp: error: ").unwrap();
            text += &format!("# failed: {why}\n");
            failures += 1;
        }
    }
    (text, failures)
}

#[test]
fn many_entries_are_in_order_wherever_they_are_written() {
    let work = place();
    for options in ["-n 8", "-n 8 --log-partition --queries asked.txt"] {
        let (wanted, failures) = one_by_one(&work, options);
        assert!(failures > 0 && failures < ENTRIES / 2, "{failures}");
        let mut told = None;
        for threads in [1, 2, 5, 100] {
            let batch = format!("infer g.causal_fg --batch seen {options} --threads {threads}");
            let (code, out, err) = work.all(&batch);
            assert_eq!(code, Some(3), "{err}");
            assert!(out == wanted, "{options} on {threads} threads");
            assert_eq!(err.matches("99999 in line ").count(), ENTRIES / 10, "{err}");
            assert_eq!(err.matches(" warning: entry ").count(), failures, "{err}");
            assert_eq!(&err, told.get_or_insert(err.clone()), "{threads}");
            for output in ["out.txt", "out.txt.gz"] {
                let (code, out, err) = work.all(&format!("{batch} --output {output}"));
                assert_eq!((code, out.as_str(), Some(&err)), (Some(3), "", told.as_ref()));
            }
            assert!(read(&work, "out.txt") == wanted.as_bytes(), "{options} on {threads} threads");
            let (mut unpacked, packed) = (String::new(), read(&work, "out.txt.gz"));
            GzDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
            assert!(unpacked == wanted, "{options} on {threads} threads");
        }
    }
}

/// Also what is compressed, and what `--stats` says of the entries.
#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let work = place();
    for options in [
        "",
        "--json",
        "--sort --contradiction vote",
        "--json --top 5",
        "--map",
        "--top 3 --names names.txt",
    ] {
        let run = |threads: usize, output: &str| {
            let batch =
                format!("infer g.causal_fg --batch list -n 5 {options} --threads {threads}");
            let (code, out, err) = work.all(&format!("{batch} {output} --stats stats.json"));
            let mut stats: Value = serde_json::from_slice(&read(&work, "stats.json")).unwrap();
            (code, out, err, stats["entries"].take())
        };
        let wanted = run(1, "");
        let (_, out, err, entries) = &wanted;
        assert!(out.len() > 1000, "{err}");
        assert_eq!(entries.as_array().unwrap().len(), ENTRIES);
        assert_eq!(run(1, "--output first.gz").2, *err);
        for threads in [2, 7] {
            assert!(run(threads, "") == wanted, "{options} on {threads} threads");
            for output in ["out.txt", "out.gz"] {
                let (code, printed, warned, told) = run(threads, &format!("--output {output}"));
                assert_eq!((code, printed.as_str(), &warned), (wanted.0, "", err));
                assert_eq!(&told, entries);
            }
            assert!(read(&work, "out.txt") == out.as_bytes(), "{options} on {threads} threads");
            assert!(read(&work, "out.gz") == read(&work, "first.gz"), "{options}, {threads}");
        }
    }
}

/// Nothing is run then, and no file is made.
#[test]
fn the_first_file_that_is_wrong_is_told() {
    let work = place();
    fs::write(work.path("seen/031.obs"), "8 maybe\n").unwrap();
    fs::write(work.path("seen/032.obs"), "8 0\n8 1\n").unwrap();
    fs::remove_file(work.path("seen/050.obs")).unwrap();
    for threads in [1, 2, 9] {
        let infer = format!("infer g.causal_fg -n 5 --output out.txt --threads {threads}");
        let wrong = "seen/031.obs:1: variable 8 has the value 'maybe'";
        work.fail_at(2, &format!("{infer} --batch seen"), wrong);
        let error = work.fail(2, &format!("{infer} --batch list"));
        assert!(error.starts_with(wrong), "{error}");
        assert!(error.ends_with("; listed in line 34 of list\n"), "{error}");
    }
    fs::write(work.path("seen/031.obs"), "").unwrap();
    fs::write(work.path("seen/032.obs"), "").unwrap();
    for threads in [1, 9] {
        let infer = format!("infer g.causal_fg -n 5 --output out.txt --threads {threads}");
        let error = work.fail(2, &format!("{infer} --batch list"));
        assert!(error.starts_with("seen/050.obs: No such file"), "{error}");
        assert!(error.ends_with("; listed in line 53 of list\n"), "{error}");
        assert!(!work.path("out.txt").exists());
    }
}

#[test]
fn few_files_are_open_at_once() {
    let work = place();
    let limited = "ulimit -n 100; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_fastlbp"), "infer", "g.causal_fg"]);
    command.args(["--batch", "seen", "-n", "1", "--threads", "1024", "--contradiction", "vote"]);
    let output = command.current_dir(work.path("")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

/// Whoever writes to pipes may do so one after the other.
#[test]
fn pipes_are_read_in_their_turn() {
    let work = Workplace::new(&[]);
    let line = "mkfifo a.obs b.obs c.obs; printf 'a.obs\\nb.obs\\nc.obs\\n' >list; \
                (echo 3 0 >a.obs; echo 3 1 >b.obs; echo 3 0 >c.obs) & \
                \"$0\" infer \"$1\" --batch list --schedule TREE -n 1 --threads 3; wait";
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_fastlbp"), &data("chain.causal_fg")]);
    let output = command.current_dir(work.path("")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let states: Vec<&str> = out.lines().filter(|line| line.starts_with("3 ")).collect();
    assert_eq!(states, ["3 0", "3 1", "3 0"], "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_cannot_be_written_ends_a_batch_and_what_nobody_reads_does_not() {
    let work = place();
    for options in ["", "--json", "--map"] {
        for threads in [1, 4] {
            let infer =
                format!("infer g.causal_fg --batch seen -n 5 {options} --threads {threads}");
            if fs::metadata("/dev/full").is_ok() {
                let (code, _, err) = work.all(&format!("{infer} --output /dev/full"));
                assert_eq!(code, Some(1), "{err}");
                let error = "fastlbp: error: /dev/full: No space left on device";
                assert!(err.lines().last().unwrap().starts_with(error), "{err}");
            }
            // Who closes the pipe may still want to know how the runs ended.
            for output in ["", "--output -"] {
                let line =
                    format!("\"$0\" {infer} {output} --stats stats.json 2>errors; echo $? >code");
                let mut command = Command::new("sh");
                command.args(["-c", &format!("({line}) | true"), env!("CARGO_BIN_EXE_fastlbp")]);
                assert!(command.current_dir(work.path("")).status().unwrap().success());
                assert_eq!(read(&work, "code"), b"3\n");
                let stats: Value = serde_json::from_slice(&read(&work, "stats.json")).unwrap();
                assert_eq!(stats["entries"].as_array().unwrap().len(), ENTRIES);
                assert_eq!(stats["entries"][ENTRIES - 1]["iterations"], 5);
            }
        }
    }
}
