//! Helpers of several test files.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Says that a test, or a part of one, is skipped, and why.
///
/// Written to the process's own standard error, past the capture of passing tests' output, so that
/// nothing is skipped silently; `scripts/test` lists these lines again at its end, and fails if
/// `tests/expected_skips.txt` does not expect them.
pub fn report_skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let program = test_program();
    // In one piece, since other tests write at the same time.
    let line = format!("skipped: {program}::{test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The name of the test file; cargo puts a hash behind it.
fn test_program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_string(),
        _ => name,
    }
}

/// A part of the test data of the tree, `tests/data`, or of the directory that `FASTLBP_TEST_DATA` names
/// instead, where the tests run without the tree.
#[allow(dead_code, reason = "not all test files use it")]
pub fn data(part: &str) -> PathBuf {
    let elsewhere = std::env::var_os("FASTLBP_TEST_DATA").map(PathBuf::from);
    let directory =
        elsewhere.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"));
    let path = directory.join(part);
    assert!(path.exists(), "{} belongs to the tree", path.display());
    path
}

/// A part of `../shared`, more and larger data than the tree has, or of the directory that `FASTLBP_SHARED`
/// names instead; `None`, reported as skipped, where it is not there.
#[allow(dead_code, reason = "not all test files use it")]
pub fn shared(part: &str) -> Option<PathBuf> {
    let elsewhere = std::env::var_os("FASTLBP_SHARED").map(PathBuf::from);
    let directory =
        elsewhere.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let path = directory.join(part);
    if path.is_dir() {
        return Some(path);
    }
    report_skipped(&format!("{} is not there", path.display()));
    None
}

/// The states of some variables in their joint state number `index`, the first variable fastest.
#[allow(dead_code, reason = "not all test files use it")]
pub fn joint_state(index: usize, cardinalities: &[usize]) -> Vec<usize> {
    let digit = |rest: &mut usize, &cardinality: &usize| {
        Some(std::mem::replace(rest, *rest / cardinality) % cardinality)
    };
    cardinalities.iter().scan(index, digit).collect()
}
