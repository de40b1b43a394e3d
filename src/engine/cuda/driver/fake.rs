//! Tests with the fake driver (`tests/cuda/fake_driver.c`), each in a process of its own; also with the
//! engine's kernels, compiled by a C++ compiler.
//!
//! A test begins with
//!
//! ```text
//! if !fake::is_within() {
//!     return fake::run_within("engine::cuda::MODULE::tests::NAME", &["blocks=3"], Some(&["-O2"]));
//! }
//! ```
//!
//! and what follows runs in that process, where devices, buffers and streams work as ever, and launches of
//! the kernels that `cuda/engine/host.cpp` lists run them on the processor.

use std::path::Path;
use std::process::Command;

/// Set in the process that a test runs in.
const WITHIN: &str = "FASTLBP_TEST_FAKE_DRIVER";

/// Whether this is the process that a test runs in.
pub(crate) fn is_within() -> bool {
    std::env::var_os(WITHIN).is_some()
}

/// Runs a compiler; `false` if there is none.
fn compile(compiler: &str, flags: &[&str], source: &str, library: &Path) -> bool {
    let mut command = Command::new(compiler);
    command.args(flags).args(["-shared", "-fPIC", "-ffp-contract=off", "-pthread", "-o"]);
    command.arg(library).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source));
    let Ok(compiled) = command.args(["-lm", "-ldl"]).output() else { return false };
    let text = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{source}: {text}");
    true
}

/// Runs a test, named with its path, in a process with the fake driver, once for each of the `settings`
/// (FAKE_CUDA); and with the engine's kernels, if there are flags to compile them with. Says so where
/// there is no compiler.
pub(crate) fn run_within(test: &str, settings: &[&str], kernel_flags: Option<&[&str]>) {
    let directory = tempfile::tempdir().unwrap();
    let driver = directory.path().join("libcuda.so.1");
    let kernels = directory.path().join("kernels.so");
    let compiled = compile("cc", &["-std=gnu11"], "tests/cuda/fake_driver.c", &driver)
        && kernel_flags.is_none_or(|flags| {
            let flags = [&["-std=c++17", "-Wall", "-Wextra", "-Werror"], flags].concat();
            compile("c++", &flags, "cuda/engine/host.cpp", &kernels)
        });
    if !compiled {
        // Past the capture of what passing tests print, for scripts/test.
        let line = format!("skipped: {test}: there is no C compiler, or none for C++\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        return;
    }
    // Kernels of cuda/engine/host.cpp have warps of one thread.
    let warp = if kernel_flags.is_some() { "warp=1" } else { "warp=32" };
    for settings in settings {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env("LD_LIBRARY_PATH", directory.path())
            .env("FAKE_CUDA", format!("{settings},{warp}"))
            .env("FAKE_CUDA_KERNELS", &kernels)
            .env(WITHIN, "1")
            .output()
            .unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{settings}: {text}");
        assert!(!text.contains("fake driver: left"), "{settings}: {text}");
    }
}
