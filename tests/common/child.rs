//! Tests that need an environment of their own: they run themselves again, in a process that has it.

use std::process::{Command, Output};

const VARIABLE: &str = "FASTLBP_TEST_CHILD";

/// Whether this is the process that the test started.
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Runs a test of this program in a process of its own that has these variables.
pub fn run_again(test: &str, variables: &[(&str, &str)]) -> Output {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_remove("FASTLBP_DEVICE")
        .envs(variables.iter().copied())
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{variables:?}: {output:?}");
    output
}
