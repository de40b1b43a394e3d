//! README.md and the book (`docs/src`) are correct: the commands give the output that is shown, the programs are files
//! that other tests compile and run, and links resolve. Their Rust blocks are documentation tests (`src/lib.rs`).

#![cfg(feature = "cli")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs that a document may show, each with the file that has it compiled, run, and compared with the
/// text beside it.
const PROGRAMS: [(&str, &str); 16] = [
    ("examples/c/first.c", "tests/c/CMakeLists.txt"),
    ("examples/c/find_fault.c", "tests/c/CMakeLists.txt"),
    ("examples/cpp/first.cpp", "tests/cpp/CMakeLists.txt"),
    ("examples/cpp/rank_alarms.cpp", "tests/cpp/CMakeLists.txt"),
    ("examples/java/First.java", "scripts/test-java"),
    ("examples/java/FindFault.java", "scripts/test-java"),
    ("examples/java/RankStatements.java", "scripts/test-java"),
    ("examples/python/first.py", "scripts/test-python"),
    ("examples/python/rank_alarms.py", "scripts/test-python"),
    ("examples/python/denoise.py", "scripts/test-python"),
    ("examples/python/tutorials/bingo_session.py", "bindings/python/tests/test_tutorials.py"),
    ("examples/python/tutorials/smartfl_subject.py", "bindings/python/tests/test_tutorials.py"),
    ("examples/python/tutorials/denoise_potts.py", "bindings/python/tests/test_tutorials.py"),
    ("examples/python/tutorials/bif_pgmpy.py", "bindings/python/tests/test_tutorials.py"),
    ("examples/libdai/alarms.cpp", "tests/libdai/CMakeLists.txt"),
    ("tests/libdai/registered.cpp", "tests/libdai/with_libdai"),
];

/// Blocks that nothing runs: commands for the reader, parts of other projects' files, and output.
const NOT_RUN: [&str; 5] = ["sh", "cmake", "xml", "text", ""];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README.md, or a chapter of the book.
struct Document {
    /// From the root of the tree.
    name: String,
    /// With its `{{#include}}` lines replaced by what they include.
    text: String,
}

impl Document {
    fn read(name: &str) -> Self {
        let mut text = String::new();
        for line in file(name).lines() {
            if let Some(included) = line.strip_prefix("{{#include ") {
                let included = included.strip_suffix("}}").expect("}}");
                let directory = Path::new(name).parent().unwrap();
                text += &file(directory.join(included).to_str().unwrap());
            } else {
                text += line;
                text.push('\n');
            }
        }
        Self { name: name.to_string(), text }
    }

    /// Language and contents of the fenced blocks.
    fn blocks(&self) -> Vec<(&str, String)> {
        let mut blocks = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```") else { continue };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language, block.join("\n") + "\n"));
        }
        blocks
    }

    /// The blocks of one language.
    fn blocks_in(&self, language: &str) -> Vec<String> {
        let blocks = self.blocks().into_iter();
        blocks.filter(|(found, _)| *found == language).map(|(_, block)| block).collect()
    }

    /// The targets of its links and pictures.
    fn links(&self) -> Vec<&str> {
        // Every other part is a block of code.
        let prose = self.text.split("```").step_by(2);
        let links = prose.flat_map(|part| part.split("](").skip(1));
        links.map(|link| link.split(')').next().unwrap()).collect()
    }

    /// The anchors that mdBook gives its headings.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.text.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The chapters of the book, as paths below `docs/src`.
fn chapters() -> Vec<String> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let book = root().join("docs/src");
    let mut found = Vec::new();
    collect(&book, &mut found);
    let names = found.iter().map(|path| path.strip_prefix(&book).unwrap().to_str().unwrap());
    names.filter(|name| *name != "SUMMARY.md").map(String::from).collect()
}

fn documents() -> Vec<Document> {
    let chapters = chapters().into_iter().map(|chapter| format!("docs/src/{chapter}"));
    let names = chapters.chain(["README.md".into(), "CONTRIBUTING.md".into()]);
    let mut documents: Vec<Document> = names.map(|name| Document::read(&name)).collect();
    documents.sort_by(|a, b| a.name.cmp(&b.name));
    documents
}

/// Runs shell commands in a directory that has the project's `tests` and `examples`, with the program in the path;
/// each command sees the exit code of the one before in `$?`.
struct Shell {
    directory: tempfile::TempDir,
    path: String,
    status: i32,
}

impl Shell {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for folder in ["tests", "examples"] {
            std::os::unix::fs::symlink(root().join(folder), directory.path().join(folder)).unwrap();
        }
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
    let mut commands = 0;
    let mut wrong = String::new();
    for document in documents() {
        // The commands of a document see the files of those before.
        let mut shell = Shell::new();
        for block in document.blocks_in("console") {
            // A line that begins with `$ ` is a command, the lines up to the next one its output.
            let (nothing, rest) = block.split_at(block.find("$ ").expect("a command"));
            assert_eq!(nothing, "", "{}", document.name);
            for part in format!("\n{rest}").split("\n$ ").skip(1) {
                let (command, wanted) = part.split_once('\n').unwrap_or((part, ""));
                let printed = shell.run(command);
                if printed.trim_end_matches('\n') != wanted.trim_end_matches('\n') {
                    wrong += &format!("{}: $ {command}\n{printed}", document.name);
                }
                commands += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "these print something else than is shown, namely\n{wrong}");
    assert!(commands > 20, "{commands} commands in all documents");
}

#[test]
fn the_first_command_runs_the_main_job() {
    let first = Document::read("README.md").blocks_in("sh").swap_remove(0);
    let arguments = first.strip_prefix("cargo run --release -- ").expect("a cargo command").trim();
    let mut shell = Shell::new();
    let printed = shell.run(&format!("fastlbp {arguments}"));
    assert_eq!(shell.status, 0, "{printed}");
    assert!(printed.starts_with("# label P(x=1) name\n"), "{printed}");
}

/// `ctest`, `scripts/test-java` and `scripts/test-python` compile and run the files, and compare what they print.
#[test]
fn programs_are_files_that_are_compiled_and_print_what_is_shown() {
    let mut shown = BTreeSet::new();
    for document in documents() {
        let mut to_print: Option<String> = None;
        for (language, block) in document.blocks() {
            if matches!(language, "c" | "cpp" | "java" | "python") {
                let program = PROGRAMS.iter().find(|(program, _)| file(program) == block);
                let Some((program, _)) = program else {
                    panic!("{}: no file that is compiled:\n{block}", document.name)
                };
                shown.insert(*program);
                let printed = Path::new(program).with_extension("txt");
                to_print = root().join(&printed).exists().then(|| file(printed.to_str().unwrap()));
            } else if let ("text", Some(printed)) = (language, to_print.take()) {
                assert_eq!(block, printed, "{}", document.name);
            } else {
                let is_tested = matches!(language, "console" | "rust");
                assert!(is_tested || NOT_RUN.contains(&language), "{}: {language}", document.name);
            }
        }
    }
    for (program, compiled_by) in PROGRAMS {
        assert!(shown.contains(program), "{program} is in no document");
        let stem = Path::new(program).file_stem().unwrap().to_str().unwrap();
        assert!(file(compiled_by).contains(stem), "{compiled_by} does not compile {program}");
    }
}

#[test]
fn rust_blocks_are_documentation_tests() {
    let library = file("src/lib.rs");
    for document in documents() {
        if !document.blocks_in("rust").is_empty() {
            let included = format!("include_str!(\"../{}\")", document.name);
            assert!(library.contains(&included), "{}: src/lib.rs lacks it", document.name);
        }
    }
}

#[path = "../examples/rank_session.rs"]
#[allow(dead_code)] // its `main`
mod rank_session;

/// The Rust program that ranks a real session prints what those in other languages do.
#[test]
fn a_real_session_is_ranked_in_rust() {
    let data = |name: &str| root().join("examples/data").join(name).display().to_string();
    let ranking = rank_session::rank(&data("weblech.causal_fg.gz"), &data("weblech.alarms"));
    let lines = ranking.unwrap().into_iter().take(5).map(|(p, name)| format!("{p:.6} {name}\n"));
    assert_eq!(lines.collect::<String>(), file("examples/c/rank_session.txt"));
    for same in ["examples/cpp/rank_session.txt", "examples/java/RankSession.txt"] {
        assert_eq!(file(same), file("examples/c/rank_session.txt"));
    }
}

#[test]
fn the_book_lists_every_chapter_once() {
    let summary = Document::read("docs/src/SUMMARY.md");
    let mut listed: Vec<&str> = summary.links();
    listed.sort_unstable();
    let mut chapters = chapters();
    chapters.sort_unstable();
    assert_eq!(listed, chapters);
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for document in documents() {
        let directory = root().join(&document.name).parent().unwrap().to_path_buf();
        for link in document.links() {
            if link.starts_with("https://") {
                continue;
            }
            links += 1;
            let what = format!("{} links to {link}", document.name);
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => root().join(&document.name),
                _ => directory.join(path),
            };
            let target = target.canonicalize().unwrap_or_else(|error| panic!("{what}: {error}"));
            let name = target.strip_prefix(root().canonicalize().unwrap()).expect(&what);
            // mdBook copies what is beside its chapters, and nothing else.
            let in_book = Path::new(&document.name).starts_with("docs/src");
            assert!(!in_book || name.starts_with("docs/src"), "{what}");
            if !fragment.is_empty() {
                let anchors = Document::read(name.to_str().unwrap()).anchors();
                assert!(anchors.contains(fragment), "{what}, which has {anchors:?}");
            }
        }
    }
    assert!(links > 40, "{links} links in all documents");
}
