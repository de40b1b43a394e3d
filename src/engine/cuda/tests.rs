//! The engine against the CPU engine on the fake driver, whose device runs the general program's kernels:
//! what moves from one place to another, and what does not.

use super::driver::fake;
use crate::engine::cpu::tests::{Case, case};
use crate::engine::limits::has_kernels_of_binary_variables;
use crate::engine::trial::Trial;
use crate::engine::{
    Backend, Contradiction, Control, DeviceSet, EngineOptions, Inference, Progress, Router,
    RunReport, RunRequest, Start, StopReason, StopRule,
};
use crate::error::{Error, Result};
use crate::model::{Evidence, FactorGraph, FactorGraphBuilder};
use crate::schedule::Schedule;
use crate::session::{BatchResults, BeliefPropagation, run_all};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const OPTIONS: EngineOptions = EngineOptions {
    backend: Backend::Cuda,
    threads: Some(1),
    device: None,
    devices: DeviceSet::NONE,
    compile_tables: true,
};

/// A router with a backend of its own, which is there.
fn made(backend: Backend, graph: &Arc<FactorGraph>, schedule: &Schedule) -> Result<Trial<Router>> {
    let options = EngineOptions { backend, ..OPTIONS };
    let router = Router::new(graph.clone(), schedule, options)?;
    router.prepare_fixed(&Evidence::new())?;
    Ok(Trial::new(router, graph))
}

fn cpu(graph: &Arc<FactorGraph>, schedule: &Schedule) -> Trial<Router> {
    made(Backend::Cpu, graph, schedule).unwrap()
}

fn cuda(graph: &Arc<FactorGraph>, schedule: &Schedule) -> Trial<Router> {
    made(Backend::Cuda, graph, schedule).unwrap()
}

fn within(test: &str, settings: &[&str]) {
    fake::run_within(&format!("engine::cuda::tests::{test}"), settings, Some(&["-O1"]));
}

/// Something asked of an engine.
#[derive(Clone, Debug)]
enum Step {
    Run(RunRequest),
    /// One of those that there are.
    Schedule(usize),
    /// Clears or sets the evidence of the case.
    Evidence(bool),
    /// Takes all messages out and puts them in again.
    Reload,
    /// Reads the messages to a factor.
    Inputs(usize),
}

/// What is seen of a step: the outcome of a run, what its monitor heard, and all messages afterwards.
fn show(engine: &mut Trial<Router>, case: &Case, schedules: &[Schedule], step: &Step) -> String {
    let mut heard = Vec::new();
    let mut outcome = String::new();
    match step {
        Step::Run(request) => {
            let report = engine.run(request, &mut |now: &Progress| {
                // What a device measures only when asked to.
                let unconverged = now.unconverged.filter(|_| request.observe);
                let mut now = Progress { unconverged, ..*now };
                if let StopRule::AllBeliefs { tolerance, .. } = request.rule
                    && !request.observe
                {
                    // What it is where beliefs of variables say that the run goes on, is that of variables or of all beliefs.
                    now.max_diff = now.max_diff.min(tolerance);
                    now.active_fraction = 1.0;
                }
                heard.push(now);
                Control::Continue
            });
            // Devices spare no messages.
            let report = report.map(|report| RunReport { spared_messages: 0, ..report });
            let results: Vec<u64> = engine.results().iter().map(|p| p.to_bits()).collect();
            outcome = format!("{report:?} {results:?}");
        }
        Step::Schedule(number) => {
            let schedule = &schedules[number % schedules.len()];
            outcome = format!("{:?}", engine.set_schedule(schedule));
        }
        Step::Evidence(set) => {
            for (variable, evidence) in case.evidence.iter() {
                engine.set_evidence(variable, set.then_some(evidence)).unwrap();
            }
        }
        Step::Reload => {
            let (messages, iterations) = engine.messages();
            engine.set_messages(&messages, iterations);
        }
        Step::Inputs(number) => {
            let mut inputs = Vec::new();
            let read = engine.factor_inputs(number % case.graph.factor_count(), &mut inputs);
            outcome = format!("{read:?} {inputs:?}");
        }
    }
    format!("{outcome} {heard:?} {:?}", engine.messages())
}

fn request() -> impl Strategy<Value = RunRequest> {
    let rule = prop_oneof![
        4 => (0_u64..5).prop_map(StopRule::Iterations),
        1 => (0_u64..8).prop_map(|max_iterations| StopRule::Tolerance { tolerance: 1e-3, max_iterations }),
        2 => (0_u64..8, prop_oneof![Just(1e-6), Just(1e-2), Just(0.2)]).prop_map(|(max_iterations, tolerance)| {
            StopRule::AllBeliefs { tolerance, max_iterations }
        }),
        1 => (0_u64..4, 1_u64..4).prop_map(|(min_iterations, history)| StopRule::Bingo {
            tolerance: 1e-3,
            min_iterations,
            max_iterations: min_iterations + 2,
            history,
        }),
    ];
    let damping = prop_oneof![1 => Just(0.0), 1 => Just(0.3)];
    let threshold = prop_oneof![4 => Just(None), 1 => Just(Some(0.0)), 1 => Just(Some(0.1))];
    (rule, 0..4_u8, any::<[bool; 3]>(), damping, threshold).prop_map(
        |(rule, fresh, [vote, maxima, observe], damping, active_threshold)| RunRequest {
            start: if fresh == 0 { Start::Fresh } else { Start::Warm },
            contradiction: if vote { Contradiction::Vote } else { Contradiction::Error },
            inference: if maxima { Inference::MaxProduct } else { Inference::SumProduct },
            damping: if active_threshold.is_some() { 0.0 } else { damping },
            active_threshold,
            observe,
            ..RunRequest::new(rule)
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => request().prop_map(Step::Run),
        2 => any::<usize>().prop_map(Step::Schedule),
        1 => any::<bool>().prop_map(Step::Evidence),
        1 => Just(Step::Reload),
        1 => any::<usize>().prop_map(Step::Inputs),
    ];
    prop::collection::vec(step, 2..9)
}

/// Whether the binary program, whose kernels run on devices only, takes a graph.
fn is_binary(graph: &FactorGraph) -> bool {
    has_kernels_of_binary_variables(graph, true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    fn compare_random_sequences(case in case(), first in any::<usize>(), steps in steps()) {
        prop_assume!(!is_binary(&case.graph));
        let mut schedules = case.schedules();
        schedules.push(Schedule::MaximumResidual { log_domain: false });
        let schedule = &schedules[first % schedules.len()];
        let mut cpu = cpu(&case.graph, schedule);
        let mut cuda = cuda(&case.graph, schedule);
        for (number, step) in steps.iter().enumerate() {
            let expected = show(&mut cpu, &case, &schedules, step);
            let found = show(&mut cuda, &case, &schedules, step);
            prop_assert!(expected == found, "step {}: {} instead of {}", number, found, expected);
        }
    }
}

/// Runs, new schedules and evidence, messages that are put in and read: all in any order.
#[test]
fn sequences_have_the_bits_of_the_cpu() {
    if !fake::is_within() {
        let settings = ["blocks=2,threads=2", "blocks=1,capability=75"];
        return within("sequences_have_the_bits_of_the_cpu", &settings);
    }
    compare_random_sequences();
}

/// A graph that only the general program takes.
fn graph() -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_noisy_or(0, &[1, 2, 3], &[0.5, 0.6, 0.7], 0.1).unwrap();
    builder.add_variable(9, 3).unwrap();
    builder.add_table(&[3, 9], &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    builder.add_and(1, &[2, 3], 0.9, 0.1).unwrap();
    builder.add_and(2, &[0], 0.8, 0.3).unwrap();
    Arc::new(builder.build().unwrap())
}

fn run(engine: &mut Trial<Router>, request: &RunRequest) -> Result<RunReport> {
    engine.go(request)
}

/// What the device does not do runs on the processor, with one note for each reason.
#[test]
fn what_runs_on_the_processor_is_told_once() {
    if !fake::is_within() {
        return within("what_runs_on_the_processor_is_told_once", &[""]);
    }
    let residual = Schedule::MaximumResidual { log_domain: false };
    let mut engine = cuda(&graph(), &Schedule::Parallel);
    let iterations = RunRequest::new(StopRule::Iterations(2));
    let active = RunRequest { active_threshold: Some(0.1), ..iterations };
    for request in [iterations, active] {
        run(&mut engine, &request).unwrap();
        assert_eq!(engine.backend(), Backend::Cuda);
        assert!(engine.take_notes().is_empty());
    }
    engine.set_schedule(&residual).unwrap();
    assert_eq!(engine.backend(), Backend::Cpu);
    // What is refused is no run.
    assert!(matches!(run(&mut engine, &active), Err(Error::Unsupported(_))));
    assert!(engine.take_notes().is_empty());
    for told in [1, 0] {
        run(&mut engine, &iterations).unwrap();
        let notes = engine.take_notes();
        assert_eq!(notes.len(), told, "{notes:?}");
        let of_schedule = |note: &String| note.starts_with("SEQMAX runs on the CPU: ");
        assert!(notes.iter().all(of_schedule), "{notes:?}");
    }
    engine.set_schedule(&Schedule::SequentialFixed).unwrap();
    assert_eq!(engine.backend(), Backend::Cuda);
}

/// A monitor and a time limit end runs after a launch, and later runs go on from there.
#[test]
fn runs_can_be_ended_early() {
    if !fake::is_within() {
        return within("runs_can_be_ended_early", &[""]);
    }
    let case = Case::new(graph(), Evidence::new(), Vec::new());
    let mut cuda = cuda(&case.graph, &Schedule::Parallel);
    let mut cpu = cpu(&case.graph, &Schedule::Parallel);
    let long = RunRequest::new(StopRule::Iterations(1 << 40));
    let cancelled = cuda.run(&long, &mut |_| Control::Cancel).unwrap();
    assert_eq!((cancelled.reason, cancelled.converged), (StopReason::Cancelled, false));
    assert!(cancelled.iterations > 0 && cancelled.iterations == cancelled.total_iterations);
    let limited = RunRequest { max_time: Some(Duration::ZERO), start: Start::Warm, ..long };
    let limited = run(&mut cuda, &limited).unwrap();
    assert_eq!(limited.reason, StopReason::Time);
    assert_eq!(limited.total_iterations, cancelled.iterations + limited.iterations);
    let rest = RunRequest { start: Start::Warm, ..RunRequest::new(StopRule::Iterations(3)) };
    let rest = run(&mut cuda, &rest).unwrap();
    let same = RunRequest::new(StopRule::Iterations(rest.total_iterations));
    let report = run(&mut cpu, &same).unwrap();
    assert_eq!(report.total_iterations, rest.total_iterations);
    assert!(cuda.messages() == cpu.messages() && cuda.results() == cpu.results());
}

/// A schedule for another graph is refused, and the old one stays.
#[test]
fn a_schedule_for_another_graph_is_refused() {
    if !fake::is_within() {
        return within("a_schedule_for_another_graph_is_refused", &[""]);
    }
    let case = Case::new(graph(), Evidence::new(), vec![0; 11]);
    let schedules = case.schedules();
    let custom = schedules.iter().find(|s| matches!(s, Schedule::Custom(_))).unwrap();
    let mut builder = FactorGraphBuilder::new();
    builder.add_noisy_or(0, &[1], &[0.5], 0.1).unwrap();
    builder.add_variable(9, 3).unwrap();
    let other = Arc::new(builder.build().unwrap());
    let [expected, found] =
        [Backend::Cpu, Backend::Cuda].map(|backend| made(backend, &other, custom).err().unwrap());
    assert_eq!(expected.to_string(), found.to_string());
    let mut engine = cuda(&other, &Schedule::Parallel);
    assert!(matches!(engine.set_schedule(custom), Err(Error::InvalidArgument(_))));
    run(&mut engine, &RunRequest::new(StopRule::Iterations(1))).unwrap();
}

/// Engines of one device share its context and their kernels, one after the other as well.
#[test]
fn context_and_kernels_are_made_once() {
    if !fake::is_within() {
        let settings = ["", "capability=80", "capability=100"];
        let once = settings.map(|setting| format!("retains=1,modules=2,{setting}"));
        return within("context_and_kernels_are_made_once", &once.each_ref().map(String::as_str));
    }
    use super::driver::{Context, Device};
    for _ in 0..2 {
        let contexts = [(); 2].map(|()| Context::new(Device::get(0).unwrap()).unwrap());
        for context in &contexts {
            let current = context.enter().unwrap();
            super::kernels::GENERAL.load(&current).unwrap();
            super::kernels::BINARY.load(&current).unwrap();
        }
    }
    check_bits();
    check_bits();
    // The fake driver allows one more of neither.
    let current = Context::new(Device::get(0).unwrap()).unwrap().enter().unwrap();
    let more = super::driver::Module::load(&current, "more", || Ok(b".target sm_70".to_vec()));
    assert!(matches!(more, Err(Error::OutOfMemory(_))));
}

/// An engine of its own has the results of the CPU engine.
fn check_bits() {
    let request = RunRequest::new(StopRule::Iterations(3));
    let mut cuda = cuda(&graph(), &Schedule::Parallel);
    let mut cpu = cpu(&graph(), &Schedule::Parallel);
    for engine in [&mut cuda, &mut cpu] {
        run(engine, &request).unwrap();
    }
    assert!(cuda.results() == cpu.results() && cuda.messages() == cpu.messages());
}

/// A kernel that fails spoils the context for all who use it. It is made anew once they have gone.
#[test]
fn a_context_that_has_failed_is_made_anew() {
    if !fake::is_within() {
        let settings = ["failing=7,retains=3", "failing=8,retains=3", "failing=11,retains=3"];
        return within("a_context_that_has_failed_is_made_anew", &settings);
    }
    let request = RunRequest::new(StopRule::Iterations(3));
    let new = || made(Backend::Cuda, &graph(), &Schedule::Parallel);
    let mut beside = new().unwrap();
    let mut failing = new().unwrap();
    let fails = |result: Result<RunReport>| match result {
        Err(Error::Device(text)) => assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{text}"),
        other => panic!("{other:?}"),
    };
    let error = (0..9).find_map(|_| run(&mut failing, &request).err());
    fails(Err(error.expect("a launch that fails")));
    fails(run(&mut failing, &request));
    fails(run(&mut beside, &request));
    fails(new().map(|_| panic!("an engine in a context that has failed")));
    drop(failing);
    fails(run(&mut beside, &request));
    drop(beside);
    check_bits();
    check_bits();
}

/// Of some settings of the fake driver, the device whose first launch fails.
fn faulty() -> Option<String> {
    let settings = std::env::var("FAKE_CUDA").unwrap();
    settings.split(',').find_map(|setting| setting.strip_prefix("faulty=").map(String::from))
}

const TWO_DEVICES: [&str; 3] =
    ["devices=2", "devices=2,failing=1,faulty=0", "devices=2,failing=1,faulty=1"];

fn session(graph: &Arc<FactorGraph>, options: EngineOptions) -> BeliefPropagation {
    let mut session = BeliefPropagation::with_defaults(graph.clone());
    session.set_schedule(Schedule::Parallel).unwrap();
    session.set_options(options);
    session
}

fn voting(iterations: u64) -> RunRequest {
    let rule = StopRule::Iterations(iterations);
    RunRequest { contradiction: Contradiction::Vote, ..RunRequest::new(rule) }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A graph, the 40 entries of a batch, and what the CPU makes of them.
fn batch_on_cpu(request: &RunRequest) -> (Arc<FactorGraph>, Vec<Evidence>, BatchResults) {
    let graph = Arc::new(crate::generate::potts(36, 3, 3).unwrap().graph);
    let entry = |number: usize| {
        Evidence::of_observations(&graph, &[(number * 7 % graph.variable_count(), number % 3)])
    };
    let entries: Vec<Evidence> = (0..40).map(|number| entry(number).unwrap()).collect();
    let wanted = session(&graph, EngineOptions { backend: Backend::Cpu, ..OPTIONS })
        .run_batch(&entries, request)
        .unwrap();
    (graph, entries, wanted)
}

#[test]
fn batches_are_spread_over_devices_and_survive_one() {
    if !fake::is_within() {
        return within("batches_are_spread_over_devices_and_survive_one", &TWO_DEVICES);
    }
    let request = voting(5);
    let (graph, entries, wanted) = batch_on_cpu(&request);
    let mut tested = session(&graph, OPTIONS);
    for round in 0..2 {
        let mut done = 0;
        let results = tested
            .run_batch_monitored(&entries, &request, &mut |finished, all| {
                done += 1;
                assert_eq!((finished, all), (done, 40));
                Control::Continue
            })
            .unwrap();
        assert!(results.reports.iter().all(|report| report.is_ok()), "{:?}", results.reports);
        assert_eq!(bits(&results.marginals), bits(&wanted.marginals));
        let notes = tested.take_notes();
        let given_up = notes.iter().filter(|note| note.contains("is given up")).count();
        assert_eq!(given_up, usize::from(round == 0 && faulty().is_some()), "{notes:?}");
        if let (0, Some(device)) = (round, faulty()) {
            assert!(notes[0].starts_with(&format!("device {device} is given up")), "{notes:?}");
        }
    }
    // One device alone, which has none to give its work to.
    let alone = EngineOptions { device: Some(1), ..OPTIONS };
    let results = session(&graph, alone).run_batch(&entries, &request).unwrap();
    assert_eq!(bits(&results.marginals), bits(&wanted.marginals));
}

#[test]
fn streams_are_spread_over_devices_and_survive_one() {
    if !fake::is_within() {
        return within("streams_are_spread_over_devices_and_survive_one", &TWO_DEVICES);
    }
    let request = voting(5);
    let (graph, entries, wanted) = batch_on_cpu(&request);
    for threads in [3, 1] {
        let mut tested = session(&graph, EngineOptions { threads: Some(threads), ..OPTIONS });
        assert!(streamed(&mut tested, &entries, &request) == bits(&wanted.marginals));
        let notes = tested.take_notes();
        let given_up = notes.iter().filter(|note| note.contains("is given up")).count();
        // It fails once in a process.
        assert_eq!(given_up, usize::from(threads == 3 && faulty().is_some()), "{notes:?}");
        let alone = EngineOptions { device: Some(1), ..tested.options() };
        let results = streamed(&mut session(&graph, alone), &entries, &request);
        assert!(results == bits(&wanted.marginals));
    }
}

/// The bits of all marginals of a batch, as they are delivered.
fn streamed(
    session: &mut BeliefPropagation, entries: &[Evidence], request: &RunRequest,
) -> Vec<u64> {
    let (mut all, mut next) = (Vec::new(), 0);
    let digest = |_, result: Result<(RunReport, Vec<f64>)>| bits(&result.unwrap().1);
    let deliver = |number, marginals: Vec<u64>| {
        assert_eq!(number, next);
        next += 1;
        all.extend(marginals);
        Control::Continue
    };
    let cancelled = AtomicBool::new(false);
    session.run_batch_streamed(entries, request, &cancelled, digest, deliver).unwrap();
    assert_eq!(next, entries.len());
    all
}

#[test]
fn sessions_are_spread_over_devices_and_survive_one() {
    if !fake::is_within() {
        return within("sessions_are_spread_over_devices_and_survive_one", &TWO_DEVICES);
    }
    let graphs: Vec<Arc<FactorGraph>> = (0..20)
        .map(|seed| Arc::new(crate::generate::potts(16 + 5 * seed, 3, seed as u64).unwrap().graph))
        .collect();
    let request = voting(4);
    let mut sessions: Vec<BeliefPropagation> =
        graphs.iter().map(|graph| session(graph, OPTIONS)).collect();
    for round in 0..2 {
        let reports = run_all(&mut sessions, &request).unwrap();
        assert!(reports.iter().all(|report| report.is_ok()), "{round}: {reports:?}");
        for (tested, graph) in sessions.iter().zip(&graphs) {
            assert_eq!(tested.backend(), Backend::Cuda);
            let mut reference = session(graph, EngineOptions { backend: Backend::Cpu, ..OPTIONS });
            reference.run(&request).unwrap();
            assert_eq!(bits(tested.marginals().unwrap()), bits(reference.marginals().unwrap()));
        }
    }
}

#[test]
fn when_no_device_is_left_the_last_failure_is_told() {
    let settings = ["devices=2,cuMemAlloc_v2=2", "devices=2,cuDevicePrimaryCtxRetain=2"];
    if !fake::is_within() {
        return within("when_no_device_is_left_the_last_failure_is_told", &settings);
    }
    let graph = Arc::new(crate::generate::potts(36, 3, 3).unwrap().graph);
    let entries = [Evidence::new(), Evidence::new()];
    // The engine of the session's own device is asked for before anything is run.
    assert!(session(&graph, OPTIONS).run_batch(&entries, &voting(3)).is_err());
    let mut sessions = [session(&graph, OPTIONS), session(&graph, OPTIONS)];
    let reports = run_all(&mut sessions, &voting(3)).unwrap();
    assert!(reports.iter().all(|report| report.is_err()), "{reports:?}");
    // Without a backend that is asked for, the CPU does it.
    let options = EngineOptions { backend: Backend::Auto, ..OPTIONS };
    let results = session(&graph, options).run_batch(&entries, &voting(3)).unwrap();
    assert!(results.reports.iter().all(|report| report.is_ok()));
}
