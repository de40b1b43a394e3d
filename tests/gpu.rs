//! Tests that need a machine with a CUDA device; elsewhere each is reported as skipped.
//! `scripts/gpu-test` runs these on a machine that has the device but no Rust.

mod common;

use fastlbp::Error;
use fastlbp::engine::device::{
    check_device, device_count, device_info, device_memory, driver_version, start_device,
};
use fastlbp::generate;
use fastlbp::{Backend, BeliefPropagation, EngineOptions, RunRequest, Schedule, StopRule};
use std::sync::Arc;

/// The numbers of the devices; empty, reported as skipped, where CUDA cannot be used.
fn devices() -> std::ops::Range<u32> {
    match device_count() {
        Ok(count) => 0..count,
        Err(Error::NoDevice(reason)) => {
            common::report_skipped(&reason);
            0..0
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn devices_are_described() {
    for index in devices() {
        let version = driver_version().unwrap();
        let device = device_info(index).unwrap();
        let memory = device_memory(index).unwrap();
        println!("driver: CUDA {version}; {device:?}; {memory:?}");
        assert!(version.major >= 12 && device.index == index && !device.name.is_empty());
        assert!(device.compute_capability >= (7, 0) && device.multiprocessors > 0);
        assert!(memory.free > 0 && memory.free <= memory.total);
        // Some of it is not for programs.
        assert!(memory.total <= device.total_memory && memory.total > device.total_memory / 2);
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let devices = devices();
    if devices.is_empty() {
        return;
    }
    for index in [devices.end, u32::MAX] {
        for error in [check_device(index).unwrap_err(), start_device(index).unwrap_err()] {
            assert!(matches!(error, Error::OutOfRange(_)), "{error}");
            assert!(error.to_string().contains(&format!("CUDA device {index}: there is no such")));
        }
    }
}

#[test]
fn devices_compute_as_the_processor_does() {
    for index in devices() {
        let times = check_device(index).unwrap();
        println!("{times:?}");
        assert!(times.kernel > 0.0, "{times:?}");
        assert!(times.barrier > 0.0, "{times:?}");
        let clusters = device_info(index).unwrap().compute_capability >= (9, 0);
        assert_eq!(times.cluster_barrier.is_some(), clusters);
    }
}

/// Sessions by both programs of devices, made by several threads while another one starts the device.
#[test]
fn sessions_are_made_while_a_device_is_started() {
    for index in devices() {
        let graph = Arc::new(generate::smartfl(20_000, 1).unwrap().graph);
        let random = Schedule::SequentialRandom { seed: 1 };
        let schedules = [Schedule::Parallel, Schedule::ForwardBackward, random];
        let marginals = |schedule: &Schedule, backend| {
            let options =
                EngineOptions { backend, device: Some(index), ..EngineOptions::default() };
            let mut session =
                BeliefPropagation::new(graph.clone(), schedule.clone(), options).unwrap();
            session.run(&RunRequest::new(StopRule::Iterations(3))).unwrap();
            session.marginals().unwrap().iter().map(|p| p.to_bits()).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            scope.spawn(move || start_device(index).unwrap());
            for schedule in schedules.iter().chain(&schedules) {
                scope.spawn(|| {
                    let ours = marginals(schedule, Backend::Cuda);
                    assert!(ours == marginals(schedule, Backend::Cpu), "{}", schedule.name());
                });
            }
        });
    }
}

#[test]
fn several_threads_use_a_device_at_a_time() {
    for index in devices() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        check_device(index).unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn what_was_taken_is_given_back() {
    for index in devices() {
        check_device(index).unwrap();
        let before = device_memory(index).unwrap().free;
        for _ in 0..20 {
            check_device(index).unwrap();
        }
        let after = device_memory(index).unwrap().free;
        // Tests beside this one, in the same process, may hold a little at either moment.
        assert!(after + (64 << 20) > before, "{before} bytes were free, now {after}");
    }
}
