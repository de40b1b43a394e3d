//! Loading the CUDA driver at run time: without one, with one that does not work, with a fake one that does.

#![cfg(all(feature = "cli", feature = "cuda", target_os = "linux"))]

mod common;

#[path = "common/child.rs"]
mod child;
#[path = "common/fake_cuda.rs"]
mod fake_cuda;

use fake_cuda::fake_driver;
use fastlbp::{
    Backend, BeliefPropagation, EngineOptions, FactorGraph, RunRequest, Schedule, StopRule,
    format::read_graph, generate,
};
use lzma_rust2::Lzma2Reader;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program with a library path, and with settings of the fake driver.
fn run(libraries: &Path, settings: &str, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_fastlbp"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", libraries)
        .env("FAKE_CUDA", settings)
        .env_remove("FASTLBP_DEVICE")
        .output()
        .unwrap();
    assert!(!text(&output.stderr).contains("fake driver: left"), "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn chain() -> String {
    root().join("tests/data/chain.causal_fg").display().to_string()
}

#[test]
fn a_driver_that_cannot_be_loaded_is_a_reason_and_not_a_failure() {
    let directory = no_driver();
    let output = run(directory.path(), "", &["devices"]);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout);
    assert!(printed.starts_with("no CUDA devices: there is no CUDA driver (/"), "{printed}");
    assert!(printed.contains("driver 525 or later (CUDA 12.0) is needed"), "{printed}");
    let output = run(directory.path(), "", &["devices", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["devices"].as_array().unwrap().is_empty() && json["cuda"].is_null());
    assert!(json["reason"].as_str().unwrap().contains("there is no CUDA driver"));
    // The CPU does not mind.
    let output = run(directory.path(), "", &["infer", &chain()]);
    assert!(output.status.success());
    let output = run(directory.path(), "", &["infer", &chain(), "--backend", "cuda"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stderr);
    assert!(printed.contains("backend 'cuda': there is no CUDA driver ("), "{printed}");
    assert!(printed.contains("use 'cpu' or 'auto'"), "{printed}");
}

#[test]
fn a_driver_that_cannot_be_used_says_why() {
    let Some(driver) = fake_driver() else { return };
    for (settings, reason) in [
        ("version=11080", "too old, it supports CUDA 11.8: NVIDIA's driver 525 or later"),
        ("cuInit=100", "there is no CUDA device: the driver finds none"),
        ("devices=0", "there is no CUDA device: the driver shows none"),
        // Codes newer than the bindings: named by the driver, or by their number.
        ("cuInit=919", "cannot be started: CUDA_ERROR_OF_TOMORROW (919): not known yet"),
        ("cuInit=46", "cannot be started: CUDA error 46"),
        ("cuDriverGetVersion=999", "does not tell its version: CUDA error 999"),
    ] {
        for arguments in [&["devices"][..], &["devices", "--check"]] {
            let output = run(driver.path(), settings, arguments);
            assert_eq!(output.status.code(), Some(0), "{settings}");
            let printed = text(&output.stdout);
            assert!(printed.starts_with("no CUDA devices: "), "{settings}: {printed}");
            assert!(printed.contains(reason), "{settings}: {printed}");
        }
        let output = run(driver.path(), settings, &["infer", &chain(), "--backend", "cuda"]);
        assert_eq!(output.status.code(), Some(1), "{settings}");
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
}

#[test]
fn devices_are_listed_and_checked() {
    let Some(driver) = fake_driver() else { return };
    let output = run(driver.path(), "devices=2", &["devices", "--check"]);
    assert_eq!(
        text(&output.stdout),
        "driver: CUDA 13.0\n\
         0: Fake device 0, compute capability 9.0, 4 multiprocessors, 8.0 GiB, 6.0 GiB free\n   \
            check passed: kernel in a graph 10.00 us, barrier over all multiprocessors 5.00 us, \
         over a cluster 5.00 us\n\
         1: Fake device 1, compute capability 9.0, 4 multiprocessors, 8.0 GiB, 6.0 GiB free\n   \
            check passed: kernel in a graph 10.00 us, barrier over all multiprocessors 5.00 us, \
         over a cluster 5.00 us\n"
    );
    let output = run(driver.path(), "capability=75", &["devices", "--check", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let device = &json["devices"][0];
    assert_eq!(device["compute_capability"], "7.5");
    assert!(device["check"]["barrier"].is_f64() && device["check"]["cluster_barrier"].is_null());
    assert!(device["reason"].is_null());
}

#[test]
fn a_device_that_cannot_be_used_says_why() {
    let Some(driver) = fake_driver() else { return };
    for (settings, reason) in [
        ("capability=60", "(Fake device 0) has compute capability 6.0: 7.0 or higher is needed"),
        ("fused=1", "a * b + c, a / b, a - b, a * b of [1.0000000000000002,"),
        ("stuck=1", "after 200 rounds of a barrier over all multiprocessors, block 1 counts 199"),
        ("cuMemAlloc_v2=2", "out of memory: CUDA device: 240 bytes for 30 entries"),
        ("cuMemHostAlloc=2", "out of memory: CUDA device: 320 bytes of pinned memory"),
        (
            "cuModuleLoadDataEx=222",
            "refuses the kernels 'probe': CUDA error 222: ptxas fatal : line 1; no",
        ),
        ("cuModuleLoadDataEx=919", "loading the kernels 'probe': CUDA_ERROR_OF_TOMORROW (919)"),
        ("cuLaunchKernelEx=700", "kernel probe_arithmetic: launching"),
        ("cuLaunchKernelEx=721", "CUDA error 721"),
        ("cuStreamSynchronize=700", "waiting for the device: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ("cuGraphInstantiateWithFlags=2", "out of memory: CUDA device: preparing a graph"),
        ("cuDevicePrimaryCtxRetain=46", "a context on device 0: CUDA error 46"),
        ("cuCtxPushCurrent_v2=201", "entering the context of device 0: CUDA error 201"),
        ("cuMemGetInfo_v2=919", "asking for free memory: CUDA_ERROR_OF_TOMORROW (919)"),
    ] {
        let output = run(driver.path(), settings, &["devices", "--check"]);
        assert_eq!(output.status.code(), Some(0), "{settings}: {}", text(&output.stderr));
        let printed = text(&output.stdout);
        assert!(printed.contains("   cannot be used: "), "{settings}: {printed}");
        assert!(printed.contains(reason), "{settings}: {printed}");
    }
}

#[test]
fn the_device_is_chosen_by_option_and_by_environment() {
    let Some(driver) = fake_driver() else { return };
    let infer = |option: Option<&str>, variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
        command.args(["infer", &chain(), "--backend", "cuda"]);
        command.args(option.map(|number| format!("--device={number}")));
        command.env("LD_LIBRARY_PATH", driver.path()).env("FAKE_CUDA", "devices=2,capability=60");
        command.env_remove("FASTLBP_DEVICE").envs(variable.map(|text| ("FASTLBP_DEVICE", text)));
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    for (option, variable, wanted) in [
        (None, None, "device 0 (Fake device 0)"),
        (Some("1"), None, "device 1 (Fake device 1)"),
        (None, Some("1"), "device 1 (Fake device 1)"),
        (Some("0"), Some("1"), "device 0 (Fake device 0)"),
        // A single run is made on the lowest of several.
        (Some("1,0"), None, "device 0 (Fake device 0)"),
        (None, Some("1, 0"), "device 0 (Fake device 0)"),
    ] {
        // It is too old for the engine, and the message names it.
        let (code, printed) = infer(option, variable);
        assert!(printed.contains(wanted), "{printed}");
        assert_eq!(code, Some(1));
    }
    for (option, variable, wanted) in [
        (Some("2"), None, "CUDA device 2: there is no such device, 0 to 1 is needed"),
        (None, Some("7"), "CUDA device 7: there is no such device"),
        (None, Some("first"), "FASTLBP_DEVICE is 'first': the number of a CUDA device"),
        (None, Some("-1"), "FASTLBP_DEVICE is '-1'"),
        (None, Some("0,"), "FASTLBP_DEVICE is '0,'"),
        (Some("-1"), None, "invalid value '-1' for '--device <N>'"),
        (Some("0,1,0"), None, "device 0 is listed twice"),
        (Some("0,64"), None, "numbers from 0 to 63 are possible"),
    ] {
        let (code, printed) = infer(option, variable);
        assert!(printed.contains(wanted), "{printed}");
        assert_eq!(code, Some(2), "{printed}");
    }
}

/// A small graph, and one that is worth a device.
fn graphs() -> [Arc<FactorGraph>; 2] {
    let small = read_graph(Path::new(&chain())).unwrap();
    [Arc::new(small), Arc::new(generate::smartfl(60_000, 1).unwrap().graph)]
}

/// The bits of what a session gives, one of AUTO that has looked for a device.
fn bits_of_a_session(graph: &Arc<FactorGraph>, backend: Backend) -> fastlbp::Result<Vec<u64>> {
    let options = EngineOptions { backend, ..Default::default() };
    let mut session = BeliefPropagation::new(graph.clone(), Schedule::Parallel, options)?;
    session.prepare(&RunRequest::new(StopRule::Iterations(1_000_000)))?;
    session.run(&RunRequest::new(StopRule::Iterations(5)))?;
    Ok(session.marginals()?.iter().map(|p| p.to_bits()).collect())
}

/// Runs a test again where the driver is that of a directory; gives what it prints. Nothing else is said.
fn again_with_driver(test: &str, libraries: &Path, settings: &str, device: Option<&str>) -> String {
    let libraries = libraries.to_str().unwrap();
    let mut variables = vec![("LD_LIBRARY_PATH", libraries), ("FAKE_CUDA", settings)];
    variables.extend(device.map(|number| ("FASTLBP_DEVICE", number)));
    let output = child::run_again(test, &variables);
    assert_eq!(text(&output.stderr), "", "{settings}");
    text(&output.stdout).to_owned()
}

/// A driver that cannot be loaded. It is found first on a machine that has one.
fn no_driver() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("libcuda.so.1"), "no library").unwrap();
    directory
}

#[test]
fn sessions_without_a_usable_device_say_why() {
    if child::is_child() {
        for graph in graphs() {
            let error = bits_of_a_session(&graph, Backend::Cuda).unwrap_err();
            println!("outcome: {error:?}");
        }
        return;
    }
    let check = |libraries: &Path, settings: &str, device: Option<&str>, wanted: &[&str]| {
        let name = "sessions_without_a_usable_device_say_why";
        let printed = again_with_driver(name, libraries, settings, device);
        let outcomes: Vec<&str> = printed.lines().filter(|l| l.contains("outcome: ")).collect();
        assert_eq!(outcomes.len(), 2, "{settings}: {printed}");
        for outcome in outcomes {
            let says = |part: &&str| outcome.contains(*part);
            assert!(wanted.iter().all(says), "{settings}: {outcome} instead of {wanted:?}");
        }
    };
    let unusable = "outcome: NoDevice(\"backend 'cuda': ";
    let otherwise = "; use 'cpu' or 'auto'";
    check(no_driver().path(), "", None, &[unusable, "there is no CUDA driver (", otherwise]);
    let Some(driver) = fake_driver() else { return };
    for (settings, reason) in [
        ("version=11080", "too old, it supports CUDA 11.8: NVIDIA's driver 525 or later"),
        ("cuInit=100", "there is no CUDA device: the driver finds none"),
        ("devices=0", "there is no CUDA device: the driver shows none"),
        ("cuInit=919", "cannot be started: CUDA_ERROR_OF_TOMORROW (919): not known yet"),
        ("capability=60", "has compute capability 6.0: 7.0 or higher is needed"),
    ] {
        check(driver.path(), settings, None, &[unusable, reason, otherwise]);
    }
    for (settings, wanted) in [
        (
            "cuDevicePrimaryCtxRetain=46",
            "outcome: Device(\"CUDA: a context on device 0: CUDA error 46",
        ),
        ("cuDevicePrimaryCtxRetain=2", "outcome: OutOfMemory(\"CUDA device: a context on device 0"),
        ("cuCtxPushCurrent_v2=201", "outcome: Device(\"CUDA: entering the context of device 0"),
    ] {
        check(driver.path(), settings, None, &[wanted]);
    }
    for (device, wanted) in [
        ("7", "outcome: OutOfRange(\"CUDA device 7: there is no such device, 0 to 1 is needed"),
        ("first", "outcome: InvalidArgument(\"FASTLBP_DEVICE is 'first': the number of a CUDA"),
    ] {
        check(driver.path(), "devices=2", Some(device), &[wanted]);
    }
}

/// The backend AUTO runs on the processor where the device fails it, and says nothing.
#[test]
fn sessions_without_a_usable_device_run_on_the_processor() {
    if child::is_child() {
        for graph in graphs() {
            let [auto, cpu] =
                [Backend::Auto, Backend::Cpu].map(|on| bits_of_a_session(&graph, on).unwrap());
            assert!(auto == cpu);
            println!("outcome: {} equal numbers", cpu.len());
        }
        return;
    }
    let check = |libraries: &Path, settings: &str| {
        let name = "sessions_without_a_usable_device_run_on_the_processor";
        let printed = again_with_driver(name, libraries, settings, None);
        let small = graphs()[0].state_count();
        for wanted in [small, 120_000] {
            let outcome = format!("outcome: {wanted} equal numbers");
            assert!(printed.contains(&outcome), "{settings}: {printed}");
        }
    };
    check(no_driver().path(), "");
    let Some(driver) = fake_driver() else { return };
    for settings in [
        // Works, but has none of the engine's kernels.
        "",
        "version=11080",
        "cuInit=100",
        "devices=0",
        "cuInit=919",
        "capability=60",
        "cuDeviceGetAttribute=1",
        "cuDevicePrimaryCtxRetain=46",
        "cuCtxPushCurrent_v2=201",
        "cuMemGetInfo_v2=919",
        "cuModuleLoadDataEx=222",
        "cuMemAlloc_v2=2",
        "cuMemHostAlloc=2",
        "cuStreamCreate=2",
    ] {
        check(driver.path(), settings);
    }
}

fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expanded(path: &Path) -> Vec<u8> {
    let mut content = Vec::new();
    let compressed = fs::read(path).unwrap();
    Lzma2Reader::new(&compressed[..], 1 << 24, None).read_to_end(&mut content).unwrap();
    content
}

/// Names of files in a directory with one of these endings.
fn files(directory: &Path, endings: &[&str]) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let wanted = entries.filter(|path: &PathBuf| {
        path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending))
    });
    wanted.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn the_ptx_is_what_the_sources_give() {
    let again = "run cuda/build-ptx";
    let (cuda, ptx) = (root().join("cuda"), root().join("cuda/ptx"));
    let manifest = fs::read_to_string(ptx.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let sources = manifest["sources"].as_object().unwrap();
    let listed: BTreeSet<String> = sources.keys().cloned().collect();
    let mut wanted = files(&cuda, &["cu", "cuh"]);
    for folder in ["arithmetic", "engine"] {
        let headers = files(&cuda.join(folder), &["cuh"]);
        wanted.extend(headers.iter().map(|name| format!("{folder}/{name}")));
    }
    assert_eq!(listed, wanted, "{again}");
    for (name, sum) in sources {
        let content = fs::read(cuda.join(name)).unwrap();
        assert_eq!(digest(&content), sum.as_str().unwrap(), "cuda/{name}: {again}");
    }
    let made = manifest["files"].as_object().unwrap();
    let listed: BTreeSet<String> = made.keys().cloned().collect();
    assert_eq!(listed, files(&ptx, &["lzma2"]), "{again}");
    for (name, entry) in made {
        let content = expanded(&ptx.join(name));
        assert_eq!(digest(&content), entry["sha256"].as_str().unwrap(), "{name}: {again}");
        if name.ends_with(".cubin.lzma2") {
            assert!(content.starts_with(b"\x7fELF"), "{name}");
            continue;
        }
        let text = text(&content);
        // What driver 525 loads.
        assert!(text.contains("\n.version 8.0\n"), "{name}");
        // Those of a quotient (cuda/arithmetic/flat.cuh) and of a square root (power.cuh) round as the operations do;
        // there are no others.
        let count = |part| text.matches(part).count();
        let known = 7 * count("rcp.approx.ftz.f64") + 5 * count("rsqrt.approx.ftz.f64");
        assert_eq!(count("fma."), known, "{name} has a fused multiply-add of its own");
    }
}

/// A run that is long enough for a device: AUTO asks for one, and says only of one that is there why it
/// is not used.
#[test]
fn auto_does_without_a_device_that_cannot_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let graph = directory.path().join("large.causal_fg").display().to_string();
    let none = directory.path().join("none");
    fs::create_dir(&none).unwrap();
    fs::write(none.join("libcuda.so.1"), "no library").unwrap();
    let made = run(&none, "", &["generate", "smartfl", "--variables", "30000", &graph]);
    assert!(made.status.success());
    let infer = |libraries: &Path, settings: &str, backend: &str| {
        let common =
            ["infer", &graph, "--iterations", "250", "--threads", "1", "--backend", backend];
        let output = run(libraries, settings, &common);
        assert!(output.status.success(), "{}", text(&output.stderr));
        output
    };
    let expected = infer(&none, "", "cpu");
    let silent = infer(&none, "", "auto");
    assert_eq!(silent, expected);
    let Some(driver) = fake_driver() else { return };
    for settings in ["devices=0", "version=11080"] {
        assert_eq!(infer(driver.path(), settings, "auto"), expected, "{settings}");
    }
    let noted = infer(driver.path(), "capability=60", "auto");
    assert_eq!(noted.stdout, expected.stdout);
    let printed = text(&noted.stderr);
    assert!(printed.starts_with("fastlbp: backend auto does without the device: "), "{printed}");
    assert!(printed.contains("compute capability 6.0"), "{printed}");
    assert_eq!(printed.lines().count(), 1, "{printed}");
    // Not by short runs, for which no driver is started.
    let small = run(driver.path(), "capability=60", &["infer", &chain()]);
    assert!(small.status.success() && small.stderr.is_empty());
}

/// What the fake driver says at the end of a process; empty where it was not loaded.
fn told(driver: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fastlbp"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", driver)
        .env("FAKE_CUDA", "told=1,devices=4")
        .env_remove("FASTLBP_DEVICE")
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env_remove("CUDA_DEVICE_MAX_CONNECTIONS")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = text(&output.stderr).lines().last().unwrap_or_default();
    said.strip_prefix("fake driver: retained ").unwrap_or_default().to_owned()
}

/// A dialog whose questions a device would answer sooner has it started beside the first one.
#[test]
fn dialogs_start_a_device_beside_their_first_question() {
    let Some(driver) = fake_driver() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name| directory.path().join(name).display().to_string();
    let (graph, commands, alarms) =
        (path("large.causal_fg"), path("commands"), path("large.alarms"));
    let made = ["generate", "bingo", &graph, "--variables", "3000"];
    assert!(run(driver.path(), "", &made).status.success());
    // Expected to be long, and ends at once.
    fs::write(&commands, "BP 1 1 1000 1\nQ 0\n").unwrap();
    fs::write(&alarms, "5 first 1\n6 second 0\n").unwrap();
    let bingo = |graph: &str| told(driver.path(), &["bingo", graph, "--commands", &commands], &[]);
    assert_eq!(bingo(&graph), "1 contexts, 1 channels, devices 0");
    assert_eq!(bingo(&chain()), "");
    let rank = |backend: &str| {
        let rule = ["--bingo", "1,1,1000,1", "--quiet", "--backend", backend];
        told(driver.path(), &[&["rank", &graph, "--alarms", &alarms][..], &rule].concat(), &[])
    };
    assert_eq!(rank("auto"), "1 contexts, 1 channels, devices 0");
    assert_eq!(rank("cpu"), "");
}

/// The driver makes one channel, unless the user has said how many, and starts no devices behind the one that is used.
#[test]
fn the_driver_starts_no_more_than_is_used() {
    let Some(driver) = fake_driver() else { return };
    let graph = chain();
    let infer = |arguments: &[&str], variables: &[(&str, &str)]| {
        // (There are no kernels: it ends with an error when these are loaded.)
        let arguments = [&["infer", &graph, "--backend", "cuda"][..], arguments].concat();
        let said = told(driver.path(), &arguments, variables);
        said.split_once(" contexts, ").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    assert_eq!(infer(&[], &[]), "1 channels, devices 0");
    assert_eq!(infer(&["--device", "2"], &[]), "1 channels, devices 0,1,2");
    assert_eq!(infer(&[], &[("FASTLBP_DEVICE", "3,1")]), "1 channels, devices 0,1");
    let shown = [("CUDA_VISIBLE_DEVICES", "3,1,0"), ("CUDA_DEVICE_MAX_CONNECTIONS", "4")];
    assert_eq!(infer(&[], &shown), "4 channels, devices 3");
    assert_eq!(infer(&["--device", "1"], &shown), "4 channels, devices 3,1");
    // Entries of a batch are spread over all of them.
    let samples = root().join("tests/data/chain.obs").display().to_string();
    assert_eq!(infer(&["--batch", &samples], &[]), "1 channels, devices all");
    assert_eq!(told(driver.path(), &["devices"], &[]), "4 contexts, 1 channels, devices all");
}
