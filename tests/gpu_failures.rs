//! Failures of a device: each is an error that says what failed, the device remains usable, and other users of CUDA in
//! the process are not affected.

mod common;

#[path = "common/backend.rs"]
mod backend;
#[path = "common/child.rs"]
mod child;
#[allow(dead_code, reason = "only where CUDA can be")]
#[path = "common/host_cuda.rs"]
mod host_cuda;

use backend::{Pair, reference, same_bits, tested};
use common::report_skipped;
use fastlbp::engine::device::{DEVICE_VARIABLE, choose_device, device_count, device_memory};
use fastlbp::generate;
use fastlbp::{
    Backend, BeliefPropagation, EngineOptions, Error, FactorGraph, RunRequest, Schedule, Start,
    StopRule,
};
use host_cuda::HostCuda;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What fills a device disturbs other tests.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The options of a device; `None`, reported as skipped, where there is none.
fn device() -> Option<EngineOptions> {
    let options = tested()?;
    if options.backend != Backend::Cuda {
        report_skipped("the backend under test has no device");
        return None;
    }
    Some(options)
}

fn graph(variables: usize) -> Arc<FactorGraph> {
    Arc::new(generate::smartfl(variables, 1).unwrap().graph)
}

const REQUEST: RunRequest = RunRequest {
    rule: StopRule::Iterations(3),
    start: Start::Fresh,
    max_time: None,
    contradiction: fastlbp::Contradiction::Vote,
    inference: fastlbp::Inference::SumProduct,
    damping: 0.0,
    active_threshold: None,
    observe: false,
    rough_progress: false,
};

/// One for which AUTO wants a device.
const LONG: RunRequest = RunRequest { rule: StopRule::Iterations(1_000_000), ..REQUEST };

/// What a session of AUTO says when it wants a device and gets none.
fn said_by_auto(mut session: BeliefPropagation) -> String {
    session.prepare(&LONG).unwrap();
    assert_eq!(session.backend(), Backend::Cpu);
    let notes = session.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes.concat()
}

fn open(graph: &Arc<FactorGraph>, options: EngineOptions) -> fastlbp::Result<BeliefPropagation> {
    BeliefPropagation::new(graph.clone(), Schedule::Parallel, options)
}

/// A session that runs and gives the bits of the CPU.
fn check_session(graph: &Arc<FactorGraph>, options: EngineOptions) {
    let mut pair = Pair::new(graph, &Schedule::Parallel, options).unwrap();
    pair.run(&REQUEST).unwrap().unwrap();
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let Some(options) = device() else { return };
    let count = device_count().unwrap();
    for index in [count, u32::MAX] {
        for backend in [Backend::Cuda, Backend::Auto] {
            let asked = EngineOptions { device: Some(index), backend, ..options };
            let said = match (open(&graph(100), asked), backend) {
                (Err(Error::OutOfRange(text)), Backend::Cuda) => text,
                (Ok(session), Backend::Auto) => said_by_auto(session),
                (other, _) => panic!("{backend:?}: {:?}", other.map(drop)),
            };
            assert!(said.contains(&format!("CUDA device {index}: there is no such")), "{said}");
        }
    }
    for index in 0..count {
        check_session(&graph(100), EngineOptions { device: Some(index), ..options });
    }
}

#[test]
fn the_variable_that_names_a_device_is_read() {
    let _alone = alone();
    let Some(options) = device() else { return };
    if child::is_child() {
        match open(&graph(100), options) {
            Ok(session) => println!("outcome: {:?}", session.backend()),
            Err(error) => println!("outcome: {error:?}"),
        }
        return;
    }
    let too_large = device_count().unwrap().to_string();
    let there_is_no = format!("OutOfRange(\"CUDA device {too_large}: there is no such");
    for (value, wanted) in [
        ("0", "Cuda"),
        (" 0 ", "Cuda"),
        (&too_large, &there_is_no),
        ("first", "InvalidArgument(\"FASTLBP_DEVICE is 'first': the number of a CUDA device"),
        ("-1", "InvalidArgument(\"FASTLBP_DEVICE is '-1'"),
        ("", "InvalidArgument(\"FASTLBP_DEVICE is ''"),
    ] {
        let output = child::run_again(
            "the_variable_that_names_a_device_is_read",
            &[(DEVICE_VARIABLE, value)],
        );
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(&format!("outcome: {wanted}")), "'{value}': {printed}");
    }
}

#[test]
fn a_full_device_is_out_of_memory_until_there_is_room() {
    let _alone = alone();
    let Some(options) = device() else { return };
    let index = choose_device(options.device).unwrap();
    let small = graph(1000);
    let large = graph(100_000);
    // Handles that are there already need no more.
    let mut first = Pair::new(&small, &Schedule::Parallel, options).unwrap();
    let mut second = Pair::new(&large, &Schedule::SequentialFixed, options).unwrap();
    let cuda = HostCuda::new(index);
    cuda.enter();
    let taken = cuda.take_all(64 << 10);
    println!("{} bytes taken, {:?}", taken.bytes(), device_memory(index));
    for _ in 0..3 {
        let error = open(&large, options).err().expect("there is no room for a session");
        assert!(matches!(error, Error::OutOfMemory(_)), "{error:?}");
        assert!(error.to_string().contains("CUDA device"), "{error}");
    }
    first.run(&REQUEST).unwrap().unwrap();
    second.run(&REQUEST).unwrap().unwrap();
    // The processor has room.
    let auto = EngineOptions { backend: Backend::Auto, ..options };
    let said = said_by_auto(open(&large, auto).unwrap());
    assert!(said.contains("CUDA device"), "{said}");
    let [mut auto, mut cpu] = [auto, reference()].map(|options| open(&large, options).unwrap());
    for session in [&mut auto, &mut cpu] {
        session.prepare(&LONG).unwrap();
        session.run(&REQUEST).unwrap();
    }
    same_bits(cpu.marginals().unwrap(), auto.marginals().unwrap(), "marginal").unwrap();
    drop(taken);
    cuda.leave();
    check_session(&large, options);
    first.run(&REQUEST).unwrap().unwrap();
}

#[test]
fn other_users_of_cuda_notice_nothing() {
    let _alone = alone();
    let Some(options) = device() else { return };
    let cuda = HostCuda::new(choose_device(options.device).unwrap());
    let graph = graph(2000);
    assert_eq!(cuda.is_current(), None);
    check_session(&graph, options);
    assert_eq!(cuda.is_current(), None);
    cuda.enter();
    let taken = cuda.take(1 << 20);
    taken.fill(0xab);
    check_session(&graph, options);
    let mut pair = Pair::new(&graph, &Schedule::SequentialFixed, options).unwrap();
    pair.run(&REQUEST).unwrap().unwrap();
    assert_eq!(cuda.is_current(), Some(true));
    drop(pair);
    assert_eq!(cuda.is_current(), Some(true));
    assert!(taken.read().iter().all(|&byte| byte == 0xab));
    drop(taken);
    cuda.leave();
    assert_eq!(cuda.is_current(), None);
    drop(cuda);
    // The other user of the context has gone.
    check_session(&graph, options);
}
