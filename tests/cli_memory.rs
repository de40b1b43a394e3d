//! The program under a limit of its memory (`ulimit -v`): it reports what it has no memory for and exits with 1, or
//! succeeds with less. It is never killed by a signal, and leaves no incomplete file.
#![cfg(all(target_os = "linux", feature = "cli"))]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fastlbp");

/// Runs the program in a directory with so many KiB of address space.
fn run(directory: &TempDir, kibibytes: u64, arguments: &str) -> Output {
    let script = format!("ulimit -v {kibibytes}; exec \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, PROGRAM]).current_dir(directory).stdin(Stdio::null());
    command.output().unwrap()
}

/// The least memory in which the program starts at all, in steps of 1 MiB.
fn least(directory: &TempDir) -> u64 {
    let starts = |&kibibytes: &u64| {
        let output = run(directory, kibibytes, "--version");
        output.status.success()
    };
    (1..1000).map(|mebibytes| 1024 * mebibytes).find(starts).expect("a limit that is enough")
}

#[test]
fn missing_memory_is_said_and_ends_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let unlimited = 1 << 40;
    let generate = "generate bingo --variables 20000 --seed 3 --observations g.obs g.causal_fg";
    assert!(run(&directory, unlimited, generate).status.success());
    fs::write(directory.path().join("old"), "old\n").unwrap();
    let least = least(&directory);
    let commands = [
        "infer g.causal_fg --evidence g.obs --iterations 2 --threads 1 --output out --stats s.json",
        "infer g.causal_fg --evidence g.obs --iterations 1 --schedule SEQFIX --threads 4",
        "infer g.causal_fg --iterations 1 --schedule TREE --output old",
        "convert g.causal_fg h.causal_fg.gz",
        "info g.causal_fg --schedule SEQFIX --json",
        "generate smartfl --variables 30000 --seed 1 k.causal_fg",
    ];
    let mut failures = 0;
    for arguments in commands {
        let mut is_enough = false;
        // Ever more of it, finely where the first allocations of a size are.
        let mut limit = least;
        while !is_enough {
            let output = run(&directory, limit, arguments);
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            let what = format!("{arguments}, {limit} KiB: {:?}: {errors}", output.status);
            assert_eq!(output.status.signal(), None, "{what}");
            match output.status.code() {
                Some(0) => is_enough = true,
                Some(1) => {
                    failures += 1;
                    assert!(errors.contains("memory"), "{what}");
                }
                _ => panic!("{what}"),
            }
            let old = fs::read_to_string(directory.path().join("old")).unwrap();
            assert!(is_enough || old == "old\n" || old.starts_with("# "), "{what}");
            assert!(limit < 4 << 20, "{what}");
            limit += if limit < least + 4096 { 128 } else { 1024 };
        }
    }
    println!("{failures} runs without enough memory, from {least} KiB on");
    assert!(failures > 50, "{failures}");
    // Nothing is left behind.
    let temporary = |name: &str| name.contains(".tmp");
    for entry in fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!temporary(&name), "{name}");
    }
}
