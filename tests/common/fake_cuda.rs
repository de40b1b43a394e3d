//! The fake CUDA driver and the emulated device, which are compiled from tests/cuda.

use crate::common::report_skipped;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Makes a library of files in tests/cuda; `false`, reported as skipped, where there is no compiler, or where
/// these files are not.
fn compile(compiler: &str, flags: &[&str], sources: &[&str], library: &Path) -> bool {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda");
    if !directory.is_dir() {
        report_skipped(&format!("{} is not there", directory.display()));
        return false;
    }
    let mut command = Command::new(compiler);
    command.args(flags).args(["-shared", "-fPIC", "-ffp-contract=off", "-pthread", "-o"]);
    command.arg(library).args(sources.iter().map(|source| directory.join(source)));
    let Ok(compiled) = command.args(["-lm", "-ldl"]).output() else {
        report_skipped(&format!("there is no compiler {compiler}"));
        return false;
    };
    let text = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{sources:?}: {text}");
    true
}

/// A directory with a `libcuda.so.1`; `None`, reported as skipped, where it cannot be made.
pub fn fake_driver() -> Option<TempDir> {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"];
    let library = directory.path().join("libcuda.so.1");
    compile("cc", &flags, &["fake_driver.c"], &library).then_some(directory)
}

/// Runs the tests of this program in processes of their own in which the processor emulates a device: the kernels of cuda/*.cu
/// as they are. Once for each of the `devices`: the settings of the fake driver, and words of the names of tests that are left out
/// there; and with these variables.
#[allow(dead_code, reason = "not all test files use it")]
pub fn run_on_emulated_devices(devices: &[(&str, &[&str])], variables: &[(&str, &str)]) {
    let Some(directory) = fake_driver() else { return };
    let kernels = directory.path().join("kernels.so");
    let flags = ["-std=c++17", "-O1", "-g1", "-w"];
    if !compile("c++", &flags, &["emulated_binary.cpp", "emulated_general.cpp"], &kernels) {
        return;
    }
    for (settings, left_out) in devices {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(left_out.iter().flat_map(|name| ["--skip", name]))
            .env_remove("FASTLBP_DEVICE")
            .env_remove("FASTLBP_TEST_BACKEND")
            .env("LD_LIBRARY_PATH", directory.path())
            .env("FAKE_CUDA", settings)
            .env("FAKE_CUDA_KERNELS", &kernels)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let [printed, errors] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{settings}: {printed}{errors}");
        assert!(printed.contains("test result: ok. "), "{settings}: {printed}");
        // Nothing was skipped, and the driver has nothing to say.
        assert_eq!(errors, "", "{settings}");
    }
}
