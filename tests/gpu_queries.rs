//! Many queries, several handles and threads, runs that are ended early: the backend of
//! `common/backend.rs` against the CPU engine on one thread.

mod common;

#[path = "common/backend.rs"]
mod backend;

use backend::{Pair, same, setting, tested};
use fastlbp::engine::device::{choose_device, device_memory};
use fastlbp::generate;
use fastlbp::{
    Backend, BeliefPropagation, Contradiction, Control, EngineOptions, FactorGraph, RunRequest,
    Schedule, Start, StopReason, StopRule,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Tests that look at memory or at times run alone.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bingo(variables: usize, seed: u64) -> Arc<FactorGraph> {
    Arc::new(generate::bingo(variables, seed).unwrap().graph)
}

fn smartfl(variables: usize, seed: u64) -> Arc<FactorGraph> {
    Arc::new(generate::smartfl(variables, seed).unwrap().graph)
}

/// Sums that go on at contradictions.
fn voting(rule: StopRule) -> RunRequest {
    RunRequest { contradiction: Contradiction::Vote, ..RunRequest::new(rule) }
}

/// Asks both the same with some evidence, which is taken back, and compares everything.
fn query(pair: &mut Pair, number: usize) -> backend::Checked {
    let count = pair.reference.graph().variable_count();
    let observed = [(7 * number + 3) % count, (11 * number + 5) % count];
    for variable in observed {
        pair.both(|session| session.observe(variable, number % 2).unwrap());
    }
    let rule = match number % 3 {
        0 => StopRule::Iterations(1 + number as u64 % 4),
        1 => StopRule::Tolerance { tolerance: 1e-3, max_iterations: 6 },
        _ => StopRule::Bingo { tolerance: 1e-3, min_iterations: 2, max_iterations: 4, history: 3 },
    };
    let start = if number % 5 == 4 { Start::Warm } else { Start::Fresh };
    let request = RunRequest { start, ..voting(rule) };
    pair.run(&request).map_err(|error| format!("query {number}: {error}"))?.unwrap();
    for variable in observed {
        pair.both(|session| session.clear_evidence(variable).unwrap());
    }
    Ok(())
}

/// Bytes of this process that are in memory.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * page as usize
}

/// Bytes of the device that nobody uses; 0 if the backend has no device.
fn free_on_device(options: EngineOptions) -> u64 {
    if options.backend != Backend::Cuda {
        return 0;
    }
    device_memory(choose_device(options.device).unwrap()).unwrap().free
}

#[test]
fn queries_need_no_more_memory() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let queries = setting("FASTLBP_TEST_QUERIES", 10_000);
    let graph = bingo(500, 1);
    for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        // What is made when first needed is there after these.
        for number in 0..queries / 10 {
            query(&mut pair, number).unwrap();
        }
        let device = free_on_device(options);
        let start = Instant::now();
        // What grows by queries grows in every round; a driver may take something now and then.
        let round = queries / 8;
        let grown = (0..4).map(|_| {
            let before = resident_bytes();
            for number in 0..round {
                query(&mut pair, number).unwrap();
            }
            resident_bytes().saturating_sub(before)
        });
        let grown = grown.min().unwrap();
        let grown_on_device = device.saturating_sub(free_on_device(options));
        let per_query = start.elapsed().as_secs_f64() * 1e6 / (4 * round) as f64;
        println!(
            "time: {} queries by {}: {per_query:.0} us each with the reference's; {grown} bytes more",
            4 * round,
            schedule.name()
        );
        let bound = (100 * round).max(1 << 16);
        assert!(grown < bound, "{round} queries: the process has grown by {grown} bytes");
        // The driver gives memory in pieces of 2 MiB.
        assert!(grown_on_device <= 2 << 20, "{grown_on_device} bytes of the device are gone");
    }
}

#[test]
fn closed_handles_leave_nothing() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let graph = smartfl(5000, 1);
    let open_and_run = || {
        let mut pair = Pair::new(&graph, &Schedule::SequentialFixed, options).unwrap();
        query(&mut pair, 0).unwrap();
    };
    (0..20).for_each(|_| open_and_run());
    let (host, device) = (resident_bytes(), free_on_device(options));
    (0..100).for_each(|_| open_and_run());
    let grown = resident_bytes().saturating_sub(host);
    let grown_on_device = device.saturating_sub(free_on_device(options));
    println!("100 handles: {grown} bytes more, {grown_on_device} on the device");
    // A handle is about 1 MB.
    assert!(grown < 10_000_000, "the process has grown by {grown} bytes");
    assert!(grown_on_device < 8 << 20, "{grown_on_device} bytes of the device are gone");
}

/// Four threads, each with a handle that was made, and is dropped, by another one.
#[test]
fn threads_share_a_device() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let shared = bingo(700, 2);
    let own = smartfl(2000, 3);
    let schedules = [
        Schedule::Parallel,
        Schedule::SequentialFixed,
        Schedule::SequentialRandom { seed: 5 },
        Schedule::Tree,
    ];
    let graphs = [&shared, &shared, &own, &shared];
    let pairs: Vec<Pair> = graphs
        .iter()
        .zip(&schedules)
        .map(|(graph, schedule)| Pair::new(graph, schedule, options).unwrap())
        .collect();
    let barrier = Barrier::new(pairs.len());
    let pairs: Vec<Pair> = std::thread::scope(|scope| {
        let threads = pairs.into_iter().enumerate().map(|(thread, mut pair)| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for number in 0..100 {
                    query(&mut pair, 1000 * thread + number).unwrap();
                }
                pair
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for pair in &pairs {
        pair.compare().unwrap();
    }
}

#[test]
fn handles_live_side_by_side() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let graphs = [bingo(300, 4), smartfl(3000, 5)];
    for schedules in
        [[Schedule::Parallel, Schedule::Parallel], [Schedule::SequentialFixed, Schedule::Parallel]]
    {
        let mut first = Pair::new(&graphs[0], &schedules[0], options).unwrap();
        let mut second = Pair::new(&graphs[1], &schedules[1], options).unwrap();
        for number in 0..20 {
            query(&mut first, number).unwrap();
            query(&mut second, number + 1).unwrap();
            first.compare().unwrap();
        }
        drop(first);
        second.compare().unwrap();
        query(&mut second, 50).unwrap();
    }
}

#[test]
fn handles_come_and_go_while_others_run() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let graph = bingo(700, 6);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (graph, done) = (&graph, &done);
        let running = scope.spawn(move || {
            let mut pair = Pair::new(graph, &Schedule::Parallel, options).unwrap();
            let queried = (0..300).try_for_each(|number| query(&mut pair, number));
            done.store(true, Ordering::Release);
            queried
        });
        let mut others = 0;
        while others < 3 || !done.load(Ordering::Acquire) {
            let mut pair = Pair::new(graph, &Schedule::SequentialFixed, options).unwrap();
            query(&mut pair, others).unwrap();
            others += 1;
        }
        println!("{others} handles beside one that ran");
        running.join().unwrap().unwrap();
    });
}

fn all_schedules() -> [Schedule; 5] {
    [
        Schedule::Parallel,
        Schedule::SequentialFixed,
        Schedule::SequentialRandom { seed: 3 },
        Schedule::Tree,
        Schedule::ForwardBackward,
    ]
}

/// After a run that was ended early, both go on alike.
fn check_usable(pair: &mut Pair) {
    for (number, start) in [(1, Start::Warm), (2, Start::Warm), (3, Start::Fresh)] {
        let request = RunRequest { start, ..voting(StopRule::Iterations(number)) };
        pair.run(&request).unwrap().unwrap();
        query(pair, number as usize).unwrap();
    }
}

#[test]
fn a_callback_ends_a_run() {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let graph = bingo(300, 7);
    let most = 100_000;
    for schedule in all_schedules() {
        for rule in [
            StopRule::Iterations(most),
            StopRule::Bingo {
                tolerance: 0.0,
                min_iterations: most,
                max_iterations: most,
                history: 3,
            },
        ] {
            for wanted in [1, 2, 7] {
                let what = format!("{} by {rule:?}, cancelled in {wanted}", schedule.name());
                let mut pair = Pair::new(&graph, &schedule, options).unwrap();
                let request = voting(rule);
                let cancel_at = |iteration: u64| {
                    move |progress: &fastlbp::Progress| match progress.iterations >= iteration {
                        true => Control::Cancel,
                        false => Control::Continue,
                    }
                };
                let got = pair.tested.run_monitored(&request, &mut cancel_at(wanted)).unwrap();
                if got.reason == StopReason::Converged {
                    // A device was told too late.
                    let run = pair.reference.run(&request);
                    let checked = same(&run.unwrap(), &got, "report");
                    checked.unwrap_or_else(|error| panic!("{what}: {error}"));
                    continue;
                }
                assert_eq!(got.reason, StopReason::Cancelled, "{what}: {got:?}");
                // Iterations that were on their way already may count.
                assert!((wanted..most).contains(&got.iterations), "{what}: {got:?}");
                let run = pair.reference.run_monitored(&request, &mut cancel_at(got.iterations));
                let checked = same(&run.unwrap(), &got, "report").and_then(|()| pair.compare());
                checked.unwrap_or_else(|error| panic!("{what}: {error}"));
                check_usable(&mut pair);
            }
        }
    }
}

/// Runs the tested session until it is ended from outside, and the reference as many iterations.
fn check_ended(
    graph: &Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions, reason: StopReason,
    end: impl Fn(&mut BeliefPropagation) -> fastlbp::RunReport,
) {
    let mut pair = Pair::new(graph, schedule, options).unwrap();
    let start = Instant::now();
    let got = end(&mut pair.tested);
    let took = start.elapsed();
    let what = format!("{}: {got:?} after {took:?}", schedule.name());
    println!("{what}");
    assert_eq!(got.reason, reason, "{what}");
    assert!(got.iterations > 0 && !got.converged, "{what}");
    assert!(took < Duration::from_secs(5), "{what}");
    let wanted = pair.reference.run(&voting(StopRule::Iterations(got.iterations))).unwrap();
    let fields = |report: &fastlbp::RunReport| {
        (report.total_iterations, report.contradictions, report.first_contradiction)
    };
    assert_eq!(fields(&wanted), fields(&got), "{what}");
    // The reports differ in the reason.
    backend::same_words(
        &pair.reference.save_state().unwrap(),
        &pair.tested.save_state().unwrap(),
        "word",
    )
    .unwrap();
    let marginals = [&pair.reference, &pair.tested].map(|session| session.marginals().unwrap());
    backend::same_bits(marginals[0], marginals[1], "marginal").unwrap();
    let warm = RunRequest { start: Start::Warm, ..voting(StopRule::Iterations(3)) };
    pair.run(&warm).unwrap().unwrap();
    check_usable(&mut pair);
}

/// More iterations than anyone waits for.
const ENDLESS: StopRule = StopRule::Iterations(1 << 40);
const SOON: Duration = Duration::from_millis(20);

/// Calls a check with a graph and each schedule, where there is a backend to test and nothing else runs.
fn by_every_schedule(seed: u64, check: impl Fn(&Arc<FactorGraph>, &Schedule, EngineOptions)) {
    let _alone = alone();
    let Some(options) = tested() else { return };
    let graph = bingo(200, seed);
    for schedule in all_schedules() {
        check(&graph, &schedule, options);
    }
}

#[test]
fn a_time_limit_ends_a_run() {
    by_every_schedule(8, |graph, schedule, options| {
        check_ended(graph, schedule, options, StopReason::Time, |session| {
            let request = RunRequest { max_time: Some(SOON), ..voting(ENDLESS) };
            session.run(&request).unwrap()
        });
        // No time at all.
        let mut pair = Pair::new(graph, schedule, options).unwrap();
        let request = RunRequest { max_time: Some(Duration::ZERO), ..voting(ENDLESS) };
        let report = pair.run(&request).unwrap().unwrap();
        assert_eq!((report.iterations, report.reason), (0, StopReason::Time));
        check_usable(&mut pair);
    });
}

/// As a user does who has waited long enough.
#[test]
fn a_callback_ends_an_endless_run() {
    by_every_schedule(9, |graph, schedule, options| {
        check_ended(graph, schedule, options, StopReason::Cancelled, |session| {
            let start = Instant::now();
            let mut monitor = |_: &fastlbp::Progress| match start.elapsed() > SOON {
                true => Control::Cancel,
                false => Control::Continue,
            };
            session.run_monitored(&voting(ENDLESS), &mut monitor).unwrap()
        });
    });
}
