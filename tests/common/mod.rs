//! What several test files need.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Says that a test, or a part of one, is skipped, and why.
///
/// Written to the process's own standard error, past the capture of passing tests' output, so that
/// nothing is skipped silently; `scripts/test` lists these lines again at its end.
pub fn report_skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // In one piece, since other tests write at the same time.
    let line = format!("skipped: {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A part of `../shared`, measurement data outside the project, or of the directory that `FASTLBP_SHARED`
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
