//! What README.md shows is what happens. (Its Rust example is a documentation test.)

#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The contents of the fenced blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let readme = file("README.md");
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let Some(found) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if found == language {
            blocks.push(block.join("\n") + "\n");
        }
    }
    blocks
}

/// Runs shell commands in a directory that has the project's `tests`, with the program in the path;
/// each command sees the exit code of the one before in `$?`.
struct Shell {
    directory: tempfile::TempDir,
    path: String,
    status: i32,
}

impl Shell {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("tests"), directory.path().join("tests")).unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_fastlbp"));
        let mut path = program.parent().unwrap().display().to_string();
        if let Ok(others) = std::env::var("PATH") {
            path = format!("{path}:{others}");
        }
        Self { directory, path, status: 0 }
    }

    /// Standard output and standard error of a command.
    fn run(&mut self, command: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n(exit {})\n{command}", self.status)])
            .current_dir(self.directory.path())
            .env("PATH", &self.path)
            .output()
            .unwrap();
        self.status = output.status.code().expect("an exit code");
        assert!(output.stderr.is_empty());
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn commands_print_what_is_shown() {
    let mut shell = Shell::new();
    let mut commands = 0;
    for block in blocks("console") {
        // A line that begins with `$ ` is a command, the lines up to the next one its output.
        let (nothing, rest) = block.split_at(block.find("$ ").expect("a command"));
        assert_eq!(nothing, "");
        for part in format!("\n{rest}").split("\n$ ").skip(1) {
            let (command, wanted) = part.split_once('\n').unwrap_or((part, ""));
            let printed = shell.run(command);
            assert_eq!(printed.trim_end_matches('\n'), wanted.trim_end_matches('\n'), "{command}");
            commands += 1;
        }
    }
    assert!(commands > 10, "{commands} commands in README.md");
}

#[test]
fn the_first_command_runs_the_main_job() {
    let first = blocks("sh").swap_remove(0);
    let arguments = first.strip_prefix("cargo run --release -- ").expect("a cargo command").trim();
    let mut shell = Shell::new();
    let printed = shell.run(&format!("fastlbp {arguments}"));
    assert_eq!(shell.status, 0, "{printed}");
    assert!(printed.starts_with("# label P(x=1)\n"), "{printed}");
}

/// `ctest` compiles and runs these files, and compares what they print.
#[test]
fn the_examples_in_c_and_cpp_are_those_that_are_compiled() {
    assert_eq!(blocks("c"), [file("examples/c/find_fault.c")]);
    assert!(blocks("cpp").contains(&file("examples/cpp/rank_alarms.cpp")));
    for printed in ["examples/c/find_fault.txt", "examples/cpp/rank_alarms.txt"] {
        assert!(blocks("text").contains(&file(printed)), "{printed}");
    }
}

/// `scripts/test-java` compiles and runs that file, and compares what it prints.
#[test]
fn the_java_example_is_the_one_that_is_compiled() {
    assert_eq!(blocks("java"), [file("examples/java/FindFault.java")]);
    assert!(blocks("text").contains(&file("examples/java/FindFault.txt")));
}

/// As the C example.
#[test]
fn the_libdai_example_is_the_one_that_is_compiled() {
    assert!(blocks("cpp").contains(&file("examples/libdai/alarms.cpp")));
    assert!(blocks("text").contains(&file("examples/libdai/alarms.txt")));
}

#[test]
fn links_lead_somewhere() {
    // Every other part is a block of code.
    let readme = file("README.md");
    let prose: String = readme.split("```").step_by(2).collect();
    let mut links = 0;
    for link in prose.split("](").skip(1) {
        let target = link.split(')').next().unwrap();
        assert!(root().join(target).exists(), "README.md links to {target}");
        links += 1;
    }
    assert!(links > 0);
}
