//! Failing allocations: each allocation of the calls of the library fails once. The call then returns OUT_OF_MEMORY,
//! all other state is unchanged, and the repeated call returns the right result.
//!
//! This runs in a child process, since a few allocations of the standard library have no error and abort. Each such
//! place must be on the list in `allocations/exceptions.rs`; the child is then started again at the next allocation.
//!
//! With `FASTLBP_TEST_ALLOCATIONS=all`, as `scripts/test-deep` has it, no allocation is left out.
#![cfg(target_os = "linux")]

#[path = "allocations/allocator.rs"]
mod allocator;
#[path = "common/child.rs"]
mod child;
#[path = "allocations/exceptions.rs"]
mod exceptions;
#[path = "allocations/graphs.rs"]
mod graphs;
#[path = "allocations/steps.rs"]
mod steps;

use allocator::{Failures, armed_to_fail, has_failed};
use exceptions::exception;
use fastlbp::ffi::fastlbp_status as Status;
use graphs::Size;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Seek};
use std::process::Stdio;
use std::time::Instant;
use steps::{World, steps};

/// Fails allocations of all steps in turn, from one of a step on.
fn fail_all(size: Size, failures: Failures, first: (usize, u64)) {
    let stride = if failures == Failures::AllFromThere && !are_all_wanted() { 5 } else { 1 };
    // Of a large graph, those that the small one has too are left out.
    let smallest = if size == Size::Large && !are_all_wanted() { 1 << 17 } else { 0 };
    allocator::fail_from_bytes(smallest);
    let world = World::new(size);
    let witness = World::witness();
    let all = steps(size, are_all_wanted());
    let expected_of_witness = witness.answer();
    for (index, step) in all.iter().enumerate().skip(first.0) {
        let mut at = if index == first.0 { first.1 } else { 0 };
        let expected = step.run(&world).unwrap_or_else(|e| panic!("{}: {e:?}", step.name));
        loop {
            let place = format!("{} (step {index}), allocation {at}", step.name);
            allocator::set_place(index, at);
            let outcome = armed_to_fail(at, failures, || step.run(&world));
            let is_done = !has_failed();
            match outcome {
                // It may do without what it could not get.
                Ok(answer) => assert_eq!(answer, expected, "{place}"),
                Err(status) => {
                    assert!(!is_done, "{place}: {status:?} without a failure");
                    assert_eq!(status, Status::OutOfMemory, "{place}");
                }
            }
            assert_eq!(witness.answer(), expected_of_witness, "{place}: another session");
            if is_done {
                break;
            }
            let again = step.run(&world);
            assert_eq!(again.as_ref(), Ok(&expected), "{place}: the same again");
            at += stride;
        }
        println!("step {index}: {}: {} allocations", step.name, at.div_ceil(stride));
    }
    println!("all steps are done");
}

fn are_all_wanted() -> bool {
    std::env::var("FASTLBP_TEST_ALLOCATIONS").is_ok_and(|value| value == "all")
}

/// How often each exception was met.
type Met = BTreeMap<&'static str, u64>;

/// Runs `fail_all` in processes, the next from where one has ended.
fn run_children(test: &str, size: Size, failures: Failures) {
    if child::is_child() {
        let first = std::env::var("FASTLBP_TEST_FIRST").unwrap();
        let (step, at) = first.split_once(':').unwrap();
        return fail_all(size, failures, (step.parse().unwrap(), at.parse().unwrap()));
    }
    let mut first = (0, 0);
    let mut met = Met::new();
    let mut unknown = BTreeMap::<String, (usize, u64)>::new();
    let mut tested = 0;
    let started = Instant::now();
    loop {
        let mut command = child::command(test);
        command.env("FASTLBP_TEST_FIRST", format!("{}:{}", first.0, first.1));
        // Where memory is missing, the standard library's report would allocate to read it.
        command.env_remove("RUST_BACKTRACE").stdin(Stdio::null());
        let mut errors = tempfile::tempfile().unwrap();
        command.stdout(Stdio::piped()).stderr(errors.try_clone().unwrap());
        let mut process = command.spawn().unwrap();
        let mut is_complete = false;
        for line in BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap) {
            is_complete |= line == "all steps are done";
            if let Some((_, step)) = line.split_once("step ") {
                let count = step.rsplit(": ").next().and_then(|rest| rest.split(' ').next());
                tested += count.and_then(|count| count.parse::<u64>().ok()).unwrap_or_default();
                println!("{:.0} s, step {step}", started.elapsed().as_secs_f64());
            }
        }
        let status = process.wait().unwrap();
        errors.rewind().unwrap();
        let errors = std::io::read_to_string(errors).unwrap();
        if status.success() {
            assert!(is_complete, "{errors}");
            break;
        }
        let Some(abort) = allocator::Abort::parse(&errors) else {
            panic!("{status:?}: {command:?}: {errors}");
        };
        match exception(&abort) {
            Some(known) => *met.entry(known).or_default() += 1,
            None => {
                unknown.insert(abort.to_string(), (abort.step, abort.at));
            }
        }
        assert!((abort.step, abort.at) >= first, "no progress: {errors}");
        first = (abort.step, abort.at + 1);
    }
    println!("{test}: {tested} allocations, aborts on the written list: {met:?}");
    for (abort, (step, at)) in &unknown {
        println!("abort in step {step} at allocation {at}: {abort}");
    }
    assert!(unknown.is_empty(), "{} other aborts", unknown.len());
}

#[test]
fn each_allocation_of_a_small_graph_fails_alone() {
    let test = "each_allocation_of_a_small_graph_fails_alone";
    run_children(test, Size::Small, Failures::One);
}

#[test]
fn all_allocations_of_a_small_graph_fail_from_some_point_on() {
    let test = "all_allocations_of_a_small_graph_fail_from_some_point_on";
    run_children(test, Size::Small, Failures::AllFromThere);
}

#[test]
fn each_allocation_of_a_large_graph_fails_alone() {
    let test = "each_allocation_of_a_large_graph_fails_alone";
    run_children(test, Size::Large, Failures::One);
}
