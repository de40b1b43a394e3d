//! Files that the program writes: their content, their attributes, and targets that it cannot write.

#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;
#[path = "common/process.rs"]
#[allow(dead_code, reason = "signals are sent elsewhere")]
mod process;

use common::report_skipped;
use process::{interposer, make_fifo, program};
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A directory in which the program runs; `graph.causal_fg` is there.
struct Workplace(TempDir);

impl Workplace {
    fn new() -> Self {
        let work = Self(tempfile::tempdir().unwrap());
        let graph = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chain.causal_fg");
        fs::copy(graph, work.path("graph.causal_fg")).unwrap();
        work
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = program();
        command.args(arguments.split_whitespace()).current_dir(&self.0);
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The program started by a shell, which replaces `PROGRAM` by its name.
    fn shell(&self, script: &str) -> Output {
        let program = env!("CARGO_BIN_EXE_fastlbp");
        let script = script.replace("PROGRAM", &format!("'{program}'"));
        Command::new("sh").args(["-c", &script]).current_dir(&self.0).output().unwrap()
    }

    /// The marginals of the graph.
    fn marginals(&self) -> String {
        let output = self.run("infer graph.causal_fg");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn succeed(&self, arguments: &str) {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {errors}");
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    fn inode(&self, name: &str) -> u64 {
        fs::metadata(self.path(name)).unwrap().ino()
    }

    /// Runs the program as somebody who owns nothing; `None`, reported as skipped, where that cannot be.
    fn run_as_nobody(&self, arguments: &str) -> Option<Output> {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_fastlbp")).args(arguments.split_whitespace());
        match command.current_dir(&self.0).output() {
            Ok(output) if !output.stderr.starts_with(b"setpriv: ") => Some(output),
            _ => {
                report_skipped("setpriv cannot start the program as another user");
                None
            }
        }
    }
}

const INFER: &str = "infer graph.causal_fg --output out.txt";

#[test]
fn new_files_follow_the_umask_and_others_keep_their_permissions() {
    let work = Workplace::new();
    for (umask, mode) in [("027", 0o640), ("077", 0o600), ("000", 0o666)] {
        let command = format!("umask {umask}; PROGRAM infer graph.causal_fg --output {umask}.txt");
        assert_eq!(work.shell(&command).status.code(), Some(0));
        assert_eq!(work.mode(&format!("{umask}.txt")), mode);
    }
    for mode in [0o600, 0o640, 0o666, 0o755] {
        fs::write(work.path("out.txt"), "old").unwrap();
        fs::set_permissions(work.path("out.txt"), Permissions::from_mode(mode)).unwrap();
        work.succeed(INFER);
        assert_eq!((work.mode("out.txt"), work.text("out.txt")), (mode, work.marginals()));
    }
}

#[test]
fn owner_and_group_stay() {
    let work = Workplace::new();
    fs::write(work.path("out.txt"), "old").unwrap();
    if chown(work.path("out.txt"), Some(12_345), Some(23_456)).is_err() {
        report_skipped("only root may give files away");
        return;
    }
    let owner = || {
        let metadata = fs::metadata(work.path("out.txt")).unwrap();
        (metadata.uid(), metadata.gid())
    };
    work.succeed(INFER);
    assert_eq!((owner(), work.text("out.txt")), ((12_345, 23_456), work.marginals()));
    // Somebody who may write it, but not give files away.
    fs::set_permissions(work.0.path(), Permissions::from_mode(0o777)).unwrap();
    for directory in [0o777, 0o1777, 0o755] {
        fs::set_permissions(work.0.path(), Permissions::from_mode(directory)).unwrap();
        fs::set_permissions(work.path("out.txt"), Permissions::from_mode(0o666)).unwrap();
        fs::write(work.path("out.txt"), "a text that is much longer than what comes\n".repeat(9))
            .unwrap();
        let inode = work.inode("out.txt");
        let Some(output) = work.run_as_nobody(INFER) else { return };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{directory:o}: {errors}");
        assert_eq!((owner(), work.inode("out.txt")), ((12_345, 23_456), inode));
        assert_eq!(work.text("out.txt"), work.marginals());
    }
    // Somebody who may not, though the directory is open to all.
    fs::set_permissions(work.0.path(), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(work.path("out.txt"), Permissions::from_mode(0o644)).unwrap();
    fs::write(work.path("out.txt"), "old").unwrap();
    let Some(output) = work.run_as_nobody(INFER) else { return };
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("fastlbp: error: out.txt: Permission denied"), "{errors}");
    assert_eq!(work.text("out.txt"), "old");
    assert_eq!(fs::read_dir(&work.0).unwrap().count(), 2);
}

#[test]
fn all_names_of_a_file_have_the_new_content() {
    let work = Workplace::new();
    for old in ["old", &"a text that is much longer than what comes\n".repeat(9)] {
        fs::write(work.path("out.txt"), old).unwrap();
        let _ = fs::remove_file(work.path("other.txt"));
        fs::hard_link(work.path("out.txt"), work.path("other.txt")).unwrap();
        work.succeed(INFER);
        assert_eq!(work.inode("out.txt"), work.inode("other.txt"));
        assert_eq!(work.text("other.txt"), work.marginals());
        assert_eq!(fs::read_dir(&work.0).unwrap().count(), 3);
    }
}

#[test]
fn symbolic_links_stay_and_what_they_name_is_written() {
    let work = Workplace::new();
    fs::create_dir(work.path("real")).unwrap();
    symlink("real/link.txt", work.path("out.txt")).unwrap();
    symlink("out.txt", work.path("real/link.txt")).unwrap();
    for _ in 0..2 {
        work.succeed(INFER);
        assert!(fs::symlink_metadata(work.path("out.txt")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(work.path("real/link.txt")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(work.path("real/out.txt")).unwrap().is_file());
        assert_eq!(work.text("real/out.txt"), work.marginals());
    }
    symlink("missing/out.txt", work.path("broken.txt")).unwrap();
    let output = work.run("infer graph.causal_fg --output broken.txt");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.starts_with("fastlbp: error: broken.txt: No such file or directory"),
        "{errors}"
    );
}

#[test]
fn names_may_have_255_bytes() {
    let work = Workplace::new();
    let longest = "n".repeat(255);
    for _ in 0..2 {
        work.succeed(&format!("infer graph.causal_fg --output {longest}"));
        assert_eq!(work.text(&longest), work.marginals());
    }
    let packed = format!("{}.fg.gz", "n".repeat(249));
    work.succeed(&format!("convert graph.causal_fg {packed}"));
    work.succeed(&format!("infer {packed} --stats {}", "s".repeat(255)));
}

#[test]
fn one_file_is_not_written_twice_nor_read_and_written() {
    let work = Workplace::new();
    for name in ["seen.obs", "soft.txt", "asked.txt", "order.ranks", "entry.obs"] {
        fs::write(work.path(name), "").unwrap();
    }
    fs::create_dir(work.path("seen")).unwrap();
    fs::write(work.path("seen/a.obs"), "8 0\n").unwrap();
    fs::write(work.path("list"), "# one\nentry.obs\n").unwrap();
    fs::write(work.path("out.txt"), "old").unwrap();
    fs::hard_link(work.path("out.txt"), work.path("hard.txt")).unwrap();
    symlink("out.txt", work.path("soft-link.txt")).unwrap();
    symlink("new.txt", work.path("dangling.txt")).unwrap();
    symlink("seen", work.path("elsewhere")).unwrap();
    symlink("graph.causal_fg", work.path("graph.link")).unwrap();
    let before = work.text("graph.causal_fg");
    let refuses = |arguments: &str, one: &str, other: &str| {
        let output = work.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(output.stdout.is_empty());
        assert!(errors.contains(one) && errors.contains(other), "{arguments}: {errors}");
        assert!(errors.ends_with("; different files are needed\n"), "{arguments}: {errors}");
    };
    for (one, other) in [
        ("--output x", "--stats x"),
        ("--output x", "--stats ./x"),
        ("--output out.txt", "--stats hard.txt"),
        ("--output soft-link.txt", "--stats out.txt"),
        ("--output dangling.txt", "--stats new.txt"),
        ("--output seen/new", "--stats elsewhere/new"),
        ("--evidence seen.obs", "--output seen.obs"),
        ("--soft-evidence soft.txt", "--output soft.txt"),
        ("--queries asked.txt", "--output asked.txt"),
        ("--ranks order.ranks", "--stats order.ranks"),
        ("--batch list", "--output list"),
    ] {
        refuses(&format!("infer graph.causal_fg {one} {other}"), one, other);
    }
    let graph = "GRAPH graph.causal_fg";
    refuses("infer graph.causal_fg --output graph.causal_fg", graph, "--output graph.causal_fg");
    refuses("infer graph.causal_fg --output graph.link", graph, "--output graph.link");
    refuses("infer graph.causal_fg --stats graph.causal_fg", graph, "--stats graph.causal_fg");
    for (batch, output) in [("seen", "elsewhere/a.obs"), ("list", "entry.obs")] {
        let arguments = format!("infer graph.causal_fg --batch {batch} --output {output}");
        refuses(&arguments, "entry of --batch", &format!("--output {output}"));
    }
    refuses("convert graph.causal_fg graph.causal_fg", "IN graph.causal_fg", "OUT graph.causal_fg");
    let twice = "generate bingo --variables 50 --observations a.fg ./a.fg";
    refuses(twice, "OUT ./a.fg", "--observations a.fg");
    // Where a shell sends the standard output.
    for script in [
        "PROGRAM infer graph.causal_fg --stats x >x",
        "PROGRAM infer graph.causal_fg --evidence seen.obs >>seen.obs",
        "PROGRAM infer graph.causal_fg >>graph.causal_fg",
    ] {
        let output = work.shell(script);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {errors}");
        assert!(errors.contains("the standard output"), "{script}: {errors}");
    }
    assert_eq!(work.text("graph.causal_fg"), before);
    assert_eq!(work.text("out.txt"), "old");
    assert_eq!(work.text("seen.obs"), "");
    // Devices are no files; a file may be read twice; and these are two.
    work.succeed("infer graph.causal_fg --output /dev/null --stats /dev/null");
    work.succeed(
        "infer graph.causal_fg --evidence seen.obs --soft-evidence seen.obs --output y --stats z",
    );
}

#[test]
fn a_closed_output_is_an_error_where_something_is_printed() {
    let work = Workplace::new();
    for arguments in [
        "--help",
        "--version",
        "infer --help",
        "infer graph.causal_fg",
        "infer graph.causal_fg --stats stats.json",
        "info graph.causal_fg",
        "info graph.causal_fg --json",
        "devices",
        "bench graph.causal_fg --backend cpu --iterations 1 --repeats 1",
        "bench graph.causal_fg --backend cpu --iterations 1 --repeats 1 --json",
        "bingo graph.causal_fg",
    ] {
        for closed in [">&-", ">&- <&-", ">&- <&- 2>&-"] {
            let output = work.shell(&format!("echo NL | PROGRAM {arguments} {closed}"));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments} {closed}: {errors}");
            let wanted = match (closed, arguments.starts_with("bingo")) {
                (">&- <&- 2>&-", _) => "",
                (">&- <&-", true) => "fastlbp: error: standard input: Bad file descriptor",
                _ => "fastlbp: error: standard output: Bad file descriptor",
            };
            assert!(errors.starts_with(wanted), "{arguments} {closed}: {errors}");
        }
    }
    // Before the run, not after it.
    assert!(!work.path("stats.json").exists());
    let device = work.shell("PROGRAM infer graph.causal_fg --output /dev/stdout >&-");
    assert_eq!(device.status.code(), Some(1));
    // What prints nothing there needs none.
    for arguments in [
        "infer graph.causal_fg --output out.txt",
        "convert graph.causal_fg copy.causal_fg",
        "generate bingo --variables 100 generated.fg",
    ] {
        let output = work.shell(&format!("PROGRAM {arguments} >&- <&-"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {errors}");
    }
    assert_eq!(work.text("out.txt"), work.marginals());
    // A closed input is an error for who reads it.
    let output = work.shell("PROGRAM bingo graph.causal_fg <&-");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    // What is open, also if it leads nowhere, is no error.
    let output = work.shell("PROGRAM infer graph.causal_fg </dev/null >/dev/null 2>/dev/null");
    assert_eq!(output.status.code(), Some(0));
    let output = work.shell("PROGRAM infer graph.causal_fg 1<>/dev/null");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn pipes_and_devices_are_fed() {
    let work = Workplace::new();
    let wanted = work.marginals();
    let output = work.run("infer graph.causal_fg --output /dev/stdout");
    assert_eq!((output.status.code(), output.stdout), (Some(0), wanted.clone().into_bytes()));
    // A file that the shell has open is continued, before and after.
    let output = work.shell(
        "{ echo first; PROGRAM infer graph.causal_fg --output /dev/stdout; echo last; } >log; \
         PROGRAM infer graph.causal_fg --output /dev/fd/3 3>>log",
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(work.text("log"), format!("first\n{wanted}last\n{wanted}"));
    let output = work.run("infer graph.causal_fg --output /dev/full");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("fastlbp: error: /dev/full: No space left on device"), "{errors}");
    for (name, arguments) in [("fifo", "--output fifo"), ("fifo.json", "--stats fifo.json")] {
        make_fifo(&work.path(name));
        let command = work.command(&format!("infer graph.causal_fg {arguments}"));
        let mut command = command;
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let mut text = String::new();
        fs::File::open(work.path(name)).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        match name {
            "fifo" => assert_eq!(text, wanted),
            _ => assert!(text.starts_with('{') && text.ends_with("}\n"), "{text}"),
        }
        assert_ne!(fs::metadata(work.path(name)).unwrap().mode() & libc::S_IFIFO, 0);
    }
}

#[test]
fn files_and_then_their_directories_reach_the_disk() {
    let work = Workplace::new();
    let libraries = tempfile::tempdir().unwrap();
    let Some(library) = interposer(libraries.path()) else { return };
    let log = libraries.path().join("log");
    for old in [false, true] {
        for named in [false, true] {
            let _ = fs::remove_file(work.path("out.txt"));
            let _ = fs::remove_file(&log);
            if old {
                fs::write(work.path("out.txt"), "old").unwrap();
            }
            let mut command = work.command(INFER);
            command.env("LD_PRELOAD", &library).env("TEST_SYNC_LOG", &log);
            if named {
                command.env("TEST_NO_TMPFILE", "1");
            }
            assert_eq!(command.status().unwrap().code(), Some(0));
            assert_eq!(fs::read_to_string(&log).unwrap(), "file\ndirectory\n", "{old} {named}");
            assert_eq!(work.text("out.txt"), work.marginals());
        }
    }
}

#[test]
fn statistics_appear_complete_or_not_at_all() {
    let work = Workplace::new();
    fs::write(work.path("stats.json"), "old").unwrap();
    let limited = "ulimit -f 0; PROGRAM infer graph.causal_fg --stats stats.json | cat";
    let output = work.shell(&format!("{limited}; true"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("fastlbp: error: stats.json: File too large"), "{errors}");
    assert_eq!(work.text("stats.json"), "old");
    work.succeed("infer graph.causal_fg --stats stats.json.gz");
    assert!(fs::read(work.path("stats.json.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
}
