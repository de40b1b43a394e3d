//! The program in a hostile or broken environment: it ends with an error that says why, and its memory is bounded by
//! the size of its input.
#![cfg(all(feature = "cli", unix))]

mod common;

use common::report_skipped;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

const CHAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chain.causal_fg");

/// The program with 1 GiB of address space, more than enough for every input here.
fn limited(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fastlbp")]);
    command.args(arguments).current_dir(directory).output().unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, start: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.starts_with(&format!("fastlbp: error: {start}")), "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn devices_that_never_end_are_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    for (device, name) in [("/dev/zero", "z"), ("/dev/urandom", "r"), ("/dev/full", "f")] {
        for suffix in ["causal_fg", "fg", "uai", "bif", "obs", "ranks", "soft", "queries"] {
            let link = format!("{name}.{suffix}");
            symlink(device, directory.path().join(&link)).unwrap();
            let output = match suffix {
                "obs" => limited(directory.path(), &["infer", CHAIN, "--evidence", &link]),
                "ranks" => limited(directory.path(), &["infer", CHAIN, "--ranks", &link]),
                "soft" => limited(directory.path(), &["infer", CHAIN, "--soft-evidence", &link]),
                "queries" => limited(directory.path(), &["infer", CHAIN, "--queries", &link]),
                _ => limited(directory.path(), &["infer", &link]),
            };
            assert_refused(&output, &format!("{link}:"));
        }
    }
}

#[test]
fn a_small_compressed_file_does_not_fill_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    for (byte, message) in [(0, "bomb.fg.gz:1: a byte 0"), (b'\n', "bomb.fg.gz: more than ")] {
        let file = std::fs::File::create(directory.path().join("bomb.fg.gz")).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        for _ in 0..300 {
            encoder.write_all(&[byte; 1 << 20]).unwrap();
        }
        encoder.finish().unwrap();
        assert_refused(&limited(directory.path(), &["infer", "bomb.fg.gz"]), message);
    }
}

#[test]
fn a_short_text_does_not_stand_for_a_huge_table() {
    let directory = tempfile::tempdir().unwrap();
    // 10^8 states and one entry, with a megabyte of comment to pay for it.
    let text = format!("1\n1\n7\n100000000\n1\n1 1\n#{}\n", "x".repeat(1 << 20));
    std::fs::write(directory.path().join("huge.fg"), text).unwrap();
    assert_refused(&limited(directory.path(), &["infer", "huge.fg"]), "huge.fg:4: factor 0: its");
}

/// Names are stored once, also where a variable has very many states, and looked up in no time.
#[test]
fn a_network_of_many_names_takes_memory_like_its_text() {
    let directory = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..500_000).map(|i| format!("{i:x}")).collect();
    let count = names.len();
    let mut text = format!(
        "network n {{}}\nvariable a {{ type discrete [{count}] {{{}}}; }}\n",
        names.join(",")
    );
    text += "variable b { type discrete [2] { x, y }; }\nprobability (a) { table 1";
    text += &" 0".repeat(count - 1);
    text += "; }\nprobability (b | a) {\n";
    for name in names.iter().rev() {
        text += &format!("({name}) 1 0;\n");
    }
    std::fs::write(directory.path().join("cut.bif"), &text).unwrap();
    text += "}\n";
    std::fs::write(directory.path().join("many.bif"), &text).unwrap();
    let end = text.lines().count() - 1;
    let wanted = format!("cut.bif:{end}: the file ends where the '}}' of a probability block is");
    assert_refused(&limited(directory.path(), &["infer", "cut.bif"]), &wanted);
    let output = limited(directory.path(), &["convert", "many.bif", "many.uai"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn negative_numbers_are_named_as_values_of_their_options() {
    for (option, needed) in [
        ("--tolerance", "a number >= 0 such as 1e-9 is needed"),
        ("--max-time", "a number of seconds >= 0 such as 2.5 is needed"),
        ("--threads", "invalid digit"),
        ("--iterations", "invalid digit"),
        ("--max-iterations", "invalid digit"),
        ("--seed", "invalid digit"),
    ] {
        let output = limited(Path::new("."), &["infer", CHAIN, option, "-1"]);
        assert_refused(&output, "invalid value '-1' for '");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(option) && text.contains(needed), "{text}");
    }
    let output = limited(Path::new("."), &["infer", CHAIN, "--bingo", "-1,2,3,4"]);
    assert_refused(&output, "invalid value '-1,2,3,4' for '--bingo");
}

/// Also where the tests run as root, who reads everything: the program then runs as somebody else.
#[test]
fn files_without_permission_are_named() {
    use std::fs::{Permissions, read, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let file = directory.path().join("secret.fg");
    write(&file, "0\n").unwrap();
    set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
    let program = env!("CARGO_BIN_EXE_fastlbp");
    let mut command = if read(&file).is_ok() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", program]);
        command
    } else {
        Command::new(program)
    };
    let output = command.args(["infer", "secret.fg"]).current_dir(directory.path()).output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stderr).starts_with("setpriv: ") => {
            report_skipped("setpriv cannot start the program as another user");
        }
        Ok(output) => assert_refused(&output, "secret.fg: Permission denied"),
        Err(_) => report_skipped("setpriv is not installed"),
    }
}
