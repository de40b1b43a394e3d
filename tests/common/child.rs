//! Tests that need another environment run themselves again in a child process that has it.

use std::process::{Command, Output};

const VARIABLE: &str = "FASTLBP_TEST_CHILD";

/// Whether this is the process that the test started.
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// A process of its own that runs a test of this program.
pub fn command(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env_remove("FASTLBP_DEVICE").env(VARIABLE, "1");
    command
}

/// Runs a test of this program in a process of its own that has these variables.
#[allow(dead_code, reason = "not all test files use it")]
pub fn run_again(test: &str, variables: &[(&str, &str)]) -> Output {
    let output = command(test).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{variables:?}: {output:?}");
    output
}
