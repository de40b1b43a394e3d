//! The choice between two backends, with stand-ins for both and a clock that only iterations move.

use super::cost::{HighDegree, Lengths, Shape, Step, Workload};
use super::*;
use crate::engine::DeviceSet;
use crate::engine::cpu::CpuEngine;
use crate::engine::interface::Engine;
use crate::engine::trial::Trial;
use crate::generate::bingo;
use crate::kernel::EncodedMessage;
use crate::model::FactorGraphBuilder;
use crate::schedule::Preorder;
use parking_lot::Mutex;

/// What the stand-ins do, and what was done with them.
struct World {
    now: f64,
    has_device: bool,
    started: bool,
    /// Seconds per iteration.
    cpu_iteration: f64,
    device_iteration: f64,
    /// Errors of the device, while they are here.
    make_error: Option<fn() -> Error>,
    run_error: Option<fn() -> Error>,
    schedule_error: Option<fn() -> Error>,
    /// Whether runs on the CPU fail for want of memory, after they have changed messages.
    lacks_memory: bool,
    /// What sessions have lost without the driver.
    lost: &'static Mutex<f64>,
    asked_for_device: usize,
    cpus_made: usize,
    devices_made: usize,
    /// Whether the levels were known when the last engine was made.
    levels_were_known: bool,
    /// Places of all runs that were begun.
    runs: Vec<usize>,
}

type Shared = Arc<Mutex<World>>;

/// A backend, which counts what is made of it.
struct StandIn {
    place: usize,
    world: Shared,
}

struct Fake {
    engine: CpuEngine,
    place: usize,
    world: Shared,
}

impl Provider for StandIn {
    fn backend(&self) -> Backend {
        if self.place == CPU { Backend::Cpu } else { Backend::Cuda }
    }

    fn is_present(&self) -> bool {
        let mut world = self.world.lock();
        world.asked_for_device += 1;
        world.has_device
    }

    fn is_started(&self) -> bool {
        self.world.lock().started
    }

    fn reason_against(&self, schedule: &Schedule, request: &RunRequest) -> Option<&'static str> {
        let serves = !matches!(schedule, Schedule::MaximumResidual { .. })
            && request.active_threshold.is_none();
        (!serves && self.place != CPU).then_some("the stand-in does not do this")
    }

    fn make(&self, problem: Problem<'_>) -> Result<Box<dyn Engine>> {
        let Problem { graph, schedule, order, options, .. } = problem;
        let mut world = self.world.lock();
        world.levels_were_known = order.has_levels();
        if self.place == CPU {
            world.cpus_made += 1;
        } else {
            world.devices_made += 1;
            if let Some(error) = world.make_error {
                return Err(error());
            }
            world.started = true;
        }
        let engine = CpuEngine::new(graph.clone(), schedule, options)?;
        Ok(Box::new(Fake { engine, place: self.place, world: self.world.clone() }))
    }
}

impl Engine for Fake {
    fn set_schedule(&mut self, schedule: &Schedule, evidence: &Evidence) -> Result<()> {
        match self.world.lock().schedule_error {
            Some(error) if self.place == DEVICE => Err(error()),
            _ => self.engine.set_schedule(schedule, evidence),
        }
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.engine.set_evidence(variable, evidence)
    }

    fn run(&mut self, run: Run<'_>) -> Result<RunReport> {
        self.world.lock().runs.push(self.place);
        match self.world.lock().run_error {
            Some(error) if self.place == DEVICE => return Err(error()),
            _ => {}
        }
        let report = self.engine.run(run)?;
        if self.place == CPU && self.world.lock().lacks_memory {
            return Err(Error::OutOfMemory("in the middle".into()));
        }
        let mut world = self.world.lock();
        let iteration =
            if self.place == CPU { world.cpu_iteration } else { world.device_iteration };
        world.now += report.iterations as f64 * iteration;
        Ok(report)
    }

    fn factor_inputs(&mut self, factor: usize, out: &mut Vec<EncodedMessage>) -> Result<bool> {
        if self.place == CPU { self.engine.factor_inputs(factor, out) } else { Ok(false) }
    }

    fn export(&mut self) -> Result<Snapshot> {
        self.engine.export()
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.engine.import(snapshot)
    }
}

/// A second per iteration on the CPU; the device needs no time, but 10 s for its first engine. All others of
/// the costs are nothing.
fn costs(edges: usize) -> Costs {
    let message = 1.0 / edges as f64;
    Costs {
        cpu_parallel: message,
        cpu_ordered: message,
        cpu_scattered: message,
        cpu_make: 0.0,
        cpu_make_ordered: [0.0; 2],
        cpu_run: 0.0,
        driver_start: 10.0,
        device_make: 0.0,
        device_make_edge: 0.0,
        device_make_level_edge: 0.0,
        device_run: 0.0,
        device_run_state: 0.0,
        device_iteration: Step::of(0.0, 0.0),
        device_level: Step::of(0.0, 0.0),
        high_degree: HighDegree { read: 0.0, ..Costs::MEASURED.high_degree },
        transfer: 0.0,
        analysis: 0.0,
        typical_iterations: 5,
        ..Costs::MEASURED
    }
}

fn graph() -> Arc<FactorGraph> {
    Arc::new(bingo(60, 3).unwrap().graph)
}

fn world() -> Shared {
    Arc::new(Mutex::new(World {
        now: 0.0,
        has_device: true,
        started: false,
        cpu_iteration: 1.0,
        device_iteration: 0.0,
        make_error: None,
        run_error: None,
        schedule_error: None,
        lacks_memory: false,
        lost: Box::leak(Box::new(Mutex::new(0.0))),
        asked_for_device: 0,
        cpus_made: 0,
        devices_made: 0,
        levels_were_known: false,
        runs: Vec::new(),
    }))
}

const OPTIONS: EngineOptions = EngineOptions {
    backend: Backend::Auto,
    threads: Some(1),
    device: None,
    devices: DeviceSet::NONE,
    compile_tables: true,
};

/// A router between the two stand-ins.
fn router(
    world: &Shared, costs: Costs, schedule: &Schedule, backend: Backend,
) -> Result<Trial<Router>> {
    router_with(world, costs, schedule, EngineOptions { backend, ..OPTIONS })
}

fn router_with(
    world: &Shared, costs: Costs, schedule: &Schedule, options: EngineOptions,
) -> Result<Trial<Router>> {
    let provider = |place| -> &'static dyn Provider {
        Box::leak(Box::new(StandIn { place, world: world.clone() }))
    };
    let clock = world.clone();
    let clock = Box::new(move || clock.lock().now);
    let graph = graph();
    let providers = [provider(CPU), provider(DEVICE)];
    let costs = (costs, world.lock().lost);
    let made = Router::with(&providers, clock, costs, graph.clone(), schedule, options)?;
    Ok(Trial::new(made, &graph))
}

fn engine_with(world: &Shared, change: impl FnOnce(&mut Costs)) -> Trial<Router> {
    let mut costs = costs(graph().edge_count());
    change(&mut costs);
    router(world, costs, &Schedule::Parallel, Backend::Auto).unwrap()
}

fn engine(world: &Shared) -> Trial<Router> {
    engine_with(world, |_| {})
}

fn iterations(count: u64) -> RunRequest {
    RunRequest::new(StopRule::Iterations(count))
}

fn warm(count: u64) -> RunRequest {
    RunRequest { start: Start::Warm, ..iterations(count) }
}

fn run(engine: &mut Trial<Router>, request: &RunRequest) -> Result<RunReport> {
    engine.go(request)
}

/// The place of the last run.
fn last(world: &Shared) -> usize {
    *world.lock().runs.last().unwrap()
}

/// A CPU engine on the same graph.
fn reference(schedule: &Schedule) -> Trial<CpuEngine> {
    Trial::new(CpuEngine::new(graph(), schedule, OPTIONS).unwrap(), &graph())
}

/// A router, and a CPU engine that is to give the same messages.
fn beside_reference() -> (Shared, Trial<Router>, Trial<CpuEngine>) {
    let world = world();
    let engine = engine(&world);
    (world, engine, reference(&Schedule::Parallel))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Engines made so far, on the device and on the CPU.
fn made(world: &Shared) -> (usize, usize) {
    let world = world.lock();
    (world.devices_made, world.cpus_made)
}

fn runs(world: &Shared) -> Vec<usize> {
    world.lock().runs.clone()
}

/// The number of the device.
const DEVICE: usize = 1;

#[test]
fn each_run_is_made_where_it_ends_first() {
    let world = world();
    let mut engine = engine(&world);
    assert_eq!((engine.backend(), made(&world)), (Backend::Cpu, (0, 0)));
    run(&mut engine, &iterations(3)).unwrap();
    assert_eq!((last(&world), world.lock().asked_for_device), (CPU, 0));
    assert_eq!(made(&world), (0, 1));
    // 20 s on the CPU, 10 s on the device.
    run(&mut engine, &iterations(20)).unwrap();
    assert_eq!((last(&world), engine.backend()), (DEVICE, Backend::Cuda));
    // Now it is there.
    run(&mut engine, &iterations(3)).unwrap();
    assert_eq!((last(&world), made(&world).0), (DEVICE, 1));
    // It does not do this.
    let active = RunRequest { active_threshold: Some(0.0), ..iterations(50) };
    run(&mut engine, &active).unwrap();
    assert_eq!((last(&world), engine.backend()), (CPU, Backend::Cpu));
    assert!(engine.take_notes().is_empty());
}

#[test]
fn damped_runs_have_costs_of_their_own() {
    for (iteration, expected) in [(0.0, DEVICE), (6.0, CPU)] {
        let world = world();
        let mut engine = engine_with(&world, |costs| {
            costs.cpu_damped = 2.0;
            costs.device_optional_iteration.wait = iteration;
        });
        // 40 s on the CPU; 10 s or 130 s on the device.
        run(&mut engine, &RunRequest { damping: 0.5, ..iterations(20) }).unwrap();
        assert_eq!(last(&world), expected, "{iteration} s per iteration");
    }
}

/// Threads that wait for each other gain less on small graphs, and of schedules that have narrow levels.
#[test]
fn what_threads_gain_depends_on_the_size_and_the_levels() {
    let costs = Costs::MEASURED;
    let gain = |variables: usize, schedule: &Schedule, shape| {
        let graph = bingo(variables, 1).unwrap().graph;
        let work = Workload::of(&graph, &costs);
        let iteration =
            |threads| costs.cpu(&work, schedule, shape, threads, &iterations(20)).iteration;
        iteration(1) / iteration(16)
    };
    let parallel = |variables| gain(variables, &Schedule::Parallel, Shape::Synchronous);
    assert_eq!(parallel(100), 1.0);
    assert!(parallel(30_000) > 4.0 && parallel(30_000) < 0.7 * parallel(1_000_000));
    assert!(parallel(1_000_000) > 12.0);
    let blocks = Schedule::Blocks { blocks: 8, seed: 1 };
    assert_eq!(gain(30_000, &blocks, Shape::Unknown), 1.0);
    assert_eq!(gain(30_000, &blocks, Shape::Levels { count: 800.0 }), 1.0);
    assert!(gain(30_000, &blocks, Shape::Levels { count: 8.0 }) > 4.0);
}

/// Graphs that the kernels for conjunctions have no room for cost what the general ones take.
#[test]
fn graphs_beyond_the_limits_of_kernels_have_general_costs() {
    let costs = Costs::MEASURED;
    let iteration = |graph: &FactorGraph, shape| {
        costs.device(&Workload::of(graph, &costs), shape, &iterations(20)).iteration
    };
    let star = |factors: u64| {
        let mut builder = FactorGraphBuilder::new();
        (1..=factors).for_each(|v| builder.add_and(v, &[0], 0.9, 0.1).unwrap());
        builder.build().unwrap()
    };
    let conjunction = |variables: u64| {
        let mut builder = FactorGraphBuilder::new();
        let body: Vec<u64> = (1..variables).collect();
        builder.add_and(0, &body, 0.9, 0.1).unwrap();
        builder.build().unwrap()
    };
    let levels = Shape::Levels { count: 100.0 };
    // Pieces of a variable of many factors take no kernels away.
    assert!(iteration(&star(8193), levels) < 1.1 * iteration(&star(8192), levels));
    // Large conjunctions are trees by levels.
    assert!(iteration(&conjunction(33), levels) < 3.0 * iteration(&conjunction(32), levels));
    let synchronous = |graph| iteration(graph, Shape::Synchronous);
    assert!(synchronous(&conjunction(33)) > 2.0 * synchronous(&conjunction(32)));
    // Warps take tables of so many binary variables, where all messages are sent at once if these are small or few; no others.
    let table = |states: &[usize]| {
        let mut builder = FactorGraphBuilder::new();
        let labels: Vec<u64> = (0..states.len() as u64).collect();
        builder.add_variables(&labels, states).unwrap();
        let entries = states.iter().product::<usize>();
        let values: Vec<f64> = (0..entries).map(|entry| 1.0 + (entry % 7) as f64).collect();
        builder.add_table(&labels, &values).unwrap();
        builder.build().unwrap()
    };
    let kernels = |states: &[usize]| Workload::of(&table(states), &costs).has_kernels;
    assert_eq!(kernels(&[2; 4]), [true, true]);
    assert_eq!(kernels(&[2; 5]), [false, true]);
    assert_eq!(kernels(&[2; 12]), [false, true]);
    assert_eq!(kernels(&[2; 13]), [false, false]);
    assert_eq!(kernels(&[2, 3]), [false, false]);
    assert!(iteration(&table(&[2; 3]), levels) < 3.0 * iteration(&conjunction(32), levels));
    assert!(iteration(&table(&[2, 2, 3]), levels) > 5.0 * iteration(&conjunction(32), levels));
}

#[test]
fn many_short_runs_have_the_device_made_when_they_have_lost_its_cost() {
    let world = world();
    let mut engine = engine(&world);
    for _ in 0..6 {
        run(&mut engine, &iterations(3)).unwrap();
    }
    // 3 + 3 + 3 s are lost before the fourth, whose own 3 s make it 12.
    assert_eq!(runs(&world), [CPU, CPU, CPU, DEVICE, DEVICE, DEVICE]);
}

#[test]
fn many_sessions_start_the_driver_when_they_have_lost_its_cost() {
    let world = world();
    for _ in 0..6 {
        run(&mut engine(&world), &iterations(3)).unwrap();
    }
    // As above, with a session for each run.
    assert_eq!(runs(&world), [CPU, CPU, CPU, DEVICE, DEVICE, DEVICE]);
    assert_eq!(made(&world), (3, 3));
}

#[test]
fn a_long_run_makes_the_device_first_and_the_cpu_when_it_is_needed() {
    let world = world();
    let mut engine = engine_with(&world, |costs| costs.typical_iterations = 100);
    assert_eq!((engine.backend(), made(&world)), (Backend::Cuda, (0, 0)));
    run(&mut engine, &iterations(100)).unwrap();
    assert_eq!((last(&world), made(&world)), (DEVICE, (1, 0)));
    assert_eq!(engine.backend(), Backend::Cuda);
    engine.set_schedule(&Schedule::MaximumResidual { log_domain: false }).unwrap();
    engine.set_evidence(1, Some(&VariableEvidence::Observed(1))).unwrap();
    run(&mut engine, &iterations(2)).unwrap();
    assert_eq!((last(&world), engine.backend()), (CPU, Backend::Cpu));
    let mut plain = reference(&Schedule::MaximumResidual { log_domain: false });
    plain.set_evidence(1, Some(&VariableEvidence::Observed(1))).unwrap();
    plain.go(&iterations(2)).unwrap();
    assert_eq!(bits(engine.results()), bits(plain.results()));
}

#[test]
fn measurements_correct_the_model() {
    let world = world();
    world.lock().device_iteration = 3.0; // the model says 0
    let mut engine = engine_with(&world, |costs| costs.device_iteration.edge = 1e-9);
    run(&mut engine, &iterations(20)).unwrap();
    run(&mut engine, &iterations(20)).unwrap();
    assert_eq!(runs(&world), [DEVICE, DEVICE], "by at most a factor of 1000 at once");
    let world = self::world();
    world.lock().device_iteration = 3.0;
    let mut engine =
        engine_with(&world, |costs| costs.device_iteration.edge = 0.01 * costs.cpu_parallel);
    for _ in 0..3 {
        run(&mut engine, &iterations(20)).unwrap();
    }
    assert_eq!(runs(&world), [DEVICE, CPU, CPU]);
    // Another schedule is another matter.
    engine.set_schedule(&Schedule::SequentialFixed).unwrap();
    run(&mut engine, &iterations(20)).unwrap();
    assert_eq!(last(&world), DEVICE);
}

#[test]
fn levels_are_looked_up_where_that_takes_a_small_share() {
    for (level, analysis, expected) in [(0.0, 0.0, DEVICE), (0.4, 0.0, CPU), (0.0, 1.0, CPU)] {
        let world = world();
        let mut engine = engine_with(&world, |costs| {
            costs.device_level.wait = level;
            costs.analysis = analysis;
        });
        engine.set_schedule(&Schedule::SequentialFixed).unwrap();
        run(&mut engine, &iterations(20)).unwrap();
        assert_eq!(last(&world), expected, "level {level}, analysis {analysis}");
        let Policy::Auto(choice) = &engine.policy else { panic!("the policy is auto") };
        assert_eq!(choice.shape() == Shape::Unknown, analysis > 0.0);
        // Whoever makes the engine need not find them once more; then nobody has use for them.
        assert_eq!(world.lock().levels_were_known, analysis == 0.0);
        assert!(!engine.order.has_levels());
        // Asking for a device takes longer, so that it comes last.
        assert_eq!(world.lock().asked_for_device, usize::from(expected == DEVICE));
    }
}

/// Where levels are wide, four threads take a quarter of the time that was expected before they were known.
#[test]
fn levels_may_speak_for_the_cpu() {
    for (width, expected) in [(0.0, CPU), (1e9, DEVICE)] {
        let world = world();
        let mut costs = costs(graph().edge_count());
        (costs.edges_per_thread, costs.width_of_levels) = (1.0, width);
        let options = EngineOptions { threads: Some(4), ..OPTIONS };
        let mut engine = router_with(&world, costs, &Schedule::Tree, options).unwrap();
        // 20 s on one thread, 5 s on four; 10 s on the device.
        run(&mut engine, &iterations(20)).unwrap();
        assert_eq!(last(&world), expected, "{width}");
        assert_eq!(world.lock().asked_for_device, usize::from(expected == DEVICE));
    }
}

#[test]
fn unknown_lengths_are_those_of_the_runs_before() {
    let world = world();
    let mut engine = engine(&world);
    let rule = StopRule::Tolerance { tolerance: 0.0, max_iterations: 1000 };
    // 5 are typical, but more are needed.
    let report = run(&mut engine, &RunRequest::new(rule)).unwrap();
    assert_eq!(last(&world), CPU);
    assert!(report.iterations > 10, "{report:?}");
    run(&mut engine, &RunRequest::new(rule)).unwrap();
    assert_eq!(last(&world), DEVICE);
    let mut lengths = Lengths::default();
    let costs = costs(1);
    let bingo =
        StopRule::Bingo { tolerance: 0.0, min_iterations: 4, max_iterations: 10, history: 1 };
    assert_eq!(lengths.expected(&RunRequest::new(bingo), &costs), 7);
    let short = StopRule::Tolerance { tolerance: 0.0, max_iterations: 2 };
    assert_eq!(lengths.expected(&RunRequest::new(short), &costs), 2);
    for count in 0..20 {
        let rule = StopRule::Tolerance { tolerance: count as f64, max_iterations: 1000 };
        lengths.note(&RunRequest::new(rule), count);
    }
    let known = StopRule::Tolerance { tolerance: 19.0, max_iterations: 1000 };
    assert_eq!(lengths.expected(&RunRequest::new(known), &costs), 19);
    let other = RunRequest { start: Start::Warm, ..RunRequest::new(known) };
    assert_eq!(lengths.expected(&other, &costs), 5);
}

#[test]
fn messages_and_evidence_move_along() {
    let (world, mut engine, mut plain) = beside_reference();
    let steps: [(u64, usize, Option<VariableEvidence>); 5] = [
        (2, CPU, Some(VariableEvidence::Observed(1))),
        (15, DEVICE, None),
        (3, DEVICE, Some(VariableEvidence::Likelihood(vec![0.25, 0.75]))),
        (4, CPU, Some(VariableEvidence::Observed(0))),
        (40, DEVICE, None),
    ];
    for (index, (count, place, evidence)) in steps.into_iter().enumerate() {
        // What the device does not do is made on the CPU.
        let active_threshold = (index == 3).then_some(0.0);
        let request = RunRequest { active_threshold, ..warm(count) };
        for variable in [4, 4 + index] {
            engine.set_evidence(variable, evidence.as_ref()).unwrap();
            plain.set_evidence(variable, evidence.as_ref()).unwrap();
        }
        let report = run(&mut engine, &request).unwrap();
        let expected = plain.go(&request).unwrap();
        assert_eq!(last(&world), place, "step {index}");
        assert_eq!(report.total_iterations, expected.total_iterations);
        assert_eq!(report.max_diff.to_bits(), expected.max_diff.to_bits());
        assert_eq!(bits(engine.results()), bits(plain.results()), "step {index}");
        assert_eq!(engine.messages(), plain.messages(), "step {index}");
        let (mut inputs, mut others) = (Vec::new(), Vec::new());
        engine.factor_inputs(7, &mut inputs).unwrap();
        plain.factor_inputs(7, &mut others).unwrap();
        assert_eq!(inputs, others);
    }
    // Undamped messages move along.
    let damped = RunRequest { damping: 0.5, ..warm(3) };
    for (threshold, place) in [(None, DEVICE), (Some(0.0), CPU), (None, DEVICE)] {
        let kind = if threshold.is_some() { warm(2) } else { damped };
        let request = RunRequest { active_threshold: threshold, ..kind };
        run(&mut engine, &request).unwrap();
        plain.go(&request).unwrap();
        assert_eq!(last(&world), place);
        assert_eq!(bits(engine.results()), bits(plain.results()));
    }
    for (schedule, place) in
        [(Schedule::SequentialRandom { seed: 1 }, CPU), (Schedule::Parallel, DEVICE)]
    {
        let request = RunRequest { damping: 0.5, ..warm(50) };
        engine.set_schedule(&schedule).unwrap();
        plain.set_schedule(&schedule).unwrap();
        run(&mut engine, &request).unwrap();
        plain.go(&request).unwrap();
        assert_eq!(last(&world), place);
        assert_eq!(bits(engine.results()), bits(plain.results()));
        assert_eq!(engine.messages(), plain.messages());
    }
}

#[test]
fn without_a_device_all_stays_as_it_was() {
    let world = world();
    world.lock().has_device = false;
    let mut engine = engine_with(&world, |costs| costs.typical_iterations = 100);
    for _ in 0..3 {
        run(&mut engine, &iterations(50)).unwrap();
    }
    assert_eq!(runs(&world), [CPU; 3]);
    assert_eq!(world.lock().asked_for_device, 1);
    assert_eq!(made(&world), (0, 1));
    assert!(engine.take_notes().is_empty());
}

#[test]
fn a_device_that_cannot_be_made_is_tried_once() {
    let world = world();
    world.lock().make_error = Some(|| Error::OutOfMemory("all of it".into()));
    let mut engine = engine(&world);
    for _ in 0..3 {
        run(&mut engine, &iterations(50)).unwrap();
    }
    assert_eq!(runs(&world), [CPU; 3]);
    assert_eq!(made(&world), (1, 1));
    let notes = engine.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("all of it"), "{notes:?}");
    assert!(engine.take_notes().is_empty());
    // Before the first run.
    let mut engine = self::engine(&world);
    engine.prepare(&iterations(50)).unwrap();
    assert_eq!((engine.backend(), made(&world)), (Backend::Cpu, (2, 2)));
    assert_eq!(engine.take_notes().len(), 1);
    run(&mut engine, &iterations(50)).unwrap();
    assert_eq!(made(&world), (2, 2));
}

#[test]
fn engines_are_made_when_they_are_needed() {
    // By a run, or before it.
    for is_prepared in [false, true] {
        for (count, place, engines) in [(3, CPU, (0, 1)), (50, DEVICE, (1, 0))] {
            let world = world();
            let mut engine = engine(&world);
            if is_prepared {
                engine.prepare(&iterations(count)).unwrap();
                assert_eq!((made(&world), runs(&world)), (engines, vec![]));
            }
            run(&mut engine, &iterations(count)).unwrap();
            assert_eq!((made(&world), runs(&world)), (engines, vec![place]));
        }
    }
    // Another run may still go elsewhere.
    let world = world();
    let mut engine = engine(&world);
    engine.prepare(&iterations(3)).unwrap();
    run(&mut engine, &iterations(50)).unwrap();
    assert_eq!((made(&world), runs(&world)), ((1, 1), vec![DEVICE]));
}

#[test]
fn what_is_known_before_the_first_run_is_that_of_an_engine() {
    for count in [3, 50] {
        let world = world();
        let mut engine = engine(&world);
        let mut plain = reference(&Schedule::SequentialFixed);
        let mut earlier = reference(&Schedule::Parallel);
        earlier.go(&iterations(2)).unwrap();
        let (given, total) = earlier.messages();
        let same_inputs = |engine: &mut Trial<Router>, plain: &mut Trial<CpuEngine>| {
            let (mut inputs, mut others) = (Vec::new(), Vec::new());
            for factor in 0..graph().factor_count() {
                engine.factor_inputs(factor, &mut inputs).unwrap();
                plain.factor_inputs(factor, &mut others).unwrap();
            }
            assert_eq!(inputs, others);
        };
        assert_eq!(engine.messages(), plain.messages());
        assert_eq!((engine.results(), engine.threads()), (&[][..], 1));
        same_inputs(&mut engine, &mut plain);
        for known in [Some(VariableEvidence::Observed(1)), None] {
            engine.set_evidence(3, known.as_ref()).unwrap();
            plain.set_evidence(3, known.as_ref()).unwrap();
            same_inputs(&mut engine, &mut plain);
        }
        engine.set_evidence(5, Some(&VariableEvidence::Observed(0))).unwrap();
        plain.set_evidence(5, Some(&VariableEvidence::Observed(0))).unwrap();
        engine.set_messages(&given, total);
        plain.set_messages(&given, total);
        assert_eq!(engine.messages(), (given, total));
        same_inputs(&mut engine, &mut plain);
        engine.set_schedule(&Schedule::SequentialFixed).unwrap();
        same_inputs(&mut engine, &mut plain);
        let before = made(&world).1;
        let report = run(&mut engine, &warm(count)).unwrap();
        plain.go(&warm(count)).unwrap();
        assert_eq!(last(&world), if count == 3 { CPU } else { DEVICE });
        assert_eq!(made(&world).1, before, "what answered before is what runs");
        assert_eq!((report.total_iterations, engine.messages()), (total + count, plain.messages()));
        assert_eq!(bits(engine.results()), bits(plain.results()));
    }
}

#[test]
fn errors_of_the_caller_are_those_of_the_cpu() {
    let world = world();
    let mut builder = FactorGraphBuilder::new();
    builder.add_and(1, &[2], 0.5, 0.5).unwrap();
    let other = builder.build().unwrap();
    let wrong = Schedule::Custom(Arc::new(Preorder::from_ranks(&other, &[0, 1]).unwrap()));
    let made = router(&world, costs(1), &wrong, Backend::Auto);
    let text = made.map(drop).unwrap_err().to_string();
    let plain = CpuEngine::new(graph(), &wrong, OPTIONS).map(drop).unwrap_err();
    assert_eq!(text, plain.to_string());
    for count in [3, 50] {
        let mut engine = engine(&world);
        assert!(matches!(engine.set_schedule(&wrong), Err(Error::InvalidArgument(_))));
        run(&mut engine, &iterations(count)).unwrap();
        let before = engine.messages();
        assert!(matches!(engine.set_schedule(&wrong), Err(Error::InvalidArgument(_))));
        assert_eq!(engine.messages(), before);
        assert!(engine.take_notes().is_empty());
        run(&mut engine, &warm(3)).unwrap();
        assert_eq!(engine.messages().1, count + 3);
    }
}

#[test]
fn after_a_device_has_failed_in_a_run_the_cpu_runs() {
    let errors: [(fn() -> Error, bool); 3] = [
        (|| Error::Device("it burns".into()), true),
        (|| Error::OutOfMemory("for this".into()), false),
        (|| Error::Unsupported("not here".into()), false),
    ];
    for (error, loses) in errors {
        let is_failure = !matches!(error(), Error::Unsupported(_));
        for start in [Start::Fresh, Start::Warm] {
            let (world, mut engine, mut plain) = beside_reference();
            let mut both = |engine: &mut Trial<Router>, request: &RunRequest| {
                let report = run(engine, request);
                if report.is_ok() {
                    plain.go(request).unwrap();
                    assert_eq!(bits(engine.results()), bits(plain.results()));
                    assert_eq!(engine.messages(), plain.messages());
                }
                report
            };
            both(&mut engine, &iterations(20)).unwrap();
            assert_eq!(last(&world), DEVICE);
            world.lock().run_error = Some(error);
            let request = RunRequest { start, ..iterations(20) };
            let outcome = both(&mut engine, &request);
            if loses && start == Start::Warm {
                assert!(matches!(outcome, Err(Error::Device(_))));
                let again = run(&mut engine, &request);
                assert!(again.unwrap_err().to_string().contains("a fresh start"));
                assert_eq!(bits(engine.results()).len(), graph().state_count());
                both(&mut engine, &iterations(20)).unwrap();
            } else {
                outcome.unwrap();
            }
            assert_eq!((last(&world), engine.backend()), (CPU, Backend::Cpu));
            world.lock().run_error = None;
            both(&mut engine, &RunRequest { start: Start::Warm, ..iterations(100) }).unwrap();
            assert_eq!(last(&world), if is_failure { CPU } else { DEVICE });
            assert_eq!(engine.take_notes().len(), usize::from(is_failure));
            assert_eq!(made(&world).0, 1);
        }
    }
}

#[test]
fn messages_that_were_still_on_the_cpu_are_not_lost() {
    let (world, mut engine, mut plain) = beside_reference();
    run(&mut engine, &iterations(3)).unwrap();
    world.lock().run_error = Some(|| Error::Device("it burns".into()));
    run(&mut engine, &warm(30)).unwrap();
    assert_eq!(runs(&world), [CPU, DEVICE, CPU]);
    plain.go(&iterations(33)).unwrap();
    assert_eq!(engine.messages(), plain.messages());
}

/// Messages that were copied to the CPU to be read are no copy any more once a run there has failed.
#[test]
fn a_run_that_fails_on_the_cpu_leaves_the_messages_of_the_device() {
    let (world, mut engine, mut plain) = beside_reference();
    run(&mut engine, &iterations(20)).unwrap();
    plain.go(&iterations(20)).unwrap();
    engine.factor_inputs(7, &mut Vec::new()).unwrap();
    let on_cpu = RunRequest { active_threshold: Some(0.0), ..warm(2) };
    world.lock().lacks_memory = true;
    assert!(matches!(run(&mut engine, &on_cpu), Err(Error::OutOfMemory(_))));
    world.lock().lacks_memory = false;
    assert_eq!(engine.messages(), plain.messages());
    run(&mut engine, &on_cpu).unwrap();
    plain.go(&on_cpu).unwrap();
    assert_eq!(runs(&world), [DEVICE, CPU, CPU]);
    assert_eq!(engine.messages(), plain.messages());
}

#[test]
fn schedules_change_on_both_sides() {
    let (world, mut engine, mut plain) = beside_reference();
    let schedules = [Schedule::Parallel, Schedule::SequentialFixed, Schedule::Tree];
    for (index, schedule) in schedules.iter().cycle().take(7).enumerate() {
        engine.set_schedule(schedule).unwrap();
        plain.set_schedule(schedule).unwrap();
        let active_threshold = (index % 2 == 1).then_some(0.0);
        let request = RunRequest { active_threshold, ..warm(20) };
        run(&mut engine, &request).unwrap();
        plain.go(&request).unwrap();
        assert_eq!(last(&world), if index % 2 == 1 { CPU } else { DEVICE });
        assert_eq!(engine.messages(), plain.messages(), "{}", schedule.name());
    }
    // The device has the messages, and refuses the next schedule.
    world.lock().schedule_error = Some(|| Error::OutOfMemory("for levels".into()));
    engine.set_schedule(&Schedule::Tree).unwrap();
    assert_eq!(engine.messages(), plain.messages());
    plain.set_schedule(&Schedule::Tree).unwrap();
    run(&mut engine, &warm(20)).unwrap();
    assert_eq!(engine.take_notes().len(), 1);
    plain.go(&warm(20)).unwrap();
    assert_eq!((last(&world), engine.messages()), (CPU, plain.messages()));
}

#[test]
fn batches_count_together() {
    let world = world();
    let mut engine = engine(&world);
    assert!(!engine.prefers_device(&iterations(3), 3));
    assert!(engine.prefers_device(&iterations(3), 4));
    engine.expect_runs(4);
    for _ in 0..4 {
        run(&mut engine, &iterations(3)).unwrap();
    }
    assert_eq!(runs(&world), [DEVICE; 4]);
    world.lock().has_device = false;
    let engine = self::engine(&world);
    assert!(!engine.prefers_device(&iterations(300), 400));
}

#[test]
fn a_device_is_worth_what_runs_to_come_gain_by_it() {
    let world = world();
    let mut engine = engine(&world);
    assert!(!engine.is_worth_a_device(&iterations(3), 3));
    assert!(engine.is_worth_a_device(&iterations(3), 4));
    // Nobody has asked for one, nor been told of runs to come.
    assert_eq!(world.lock().asked_for_device, 0);
    run(&mut engine, &iterations(3)).unwrap();
    assert_eq!(last(&world), CPU);
    // Active sets are for the CPU.
    let active = RunRequest { active_threshold: Some(0.0), ..iterations(50) };
    assert!(!engine.is_worth_a_device(&active, 400));
    world.lock().has_device = false;
    run(&mut engine, &iterations(30)).unwrap();
    assert_eq!((last(&world), world.lock().asked_for_device), (CPU, 1));
    assert!(!engine.is_worth_a_device(&iterations(30), 400));
    for (backend, expected) in [(Backend::Cpu, false), (Backend::Cuda, true)] {
        let fixed = router(&self::world(), costs(1), &Schedule::Parallel, backend).unwrap();
        assert_eq!(fixed.is_worth_a_device(&iterations(1), 1), expected);
    }
}

#[test]
fn contradictions_leave_the_messages_of_their_iteration_and_the_results_before() {
    let world = world();
    let mut engine = engine(&world);
    run(&mut engine, &iterations(3)).unwrap();
    let results = bits(engine.results());
    world.lock().run_error = Some(|| Error::Contradiction {
        label: 1,
        variable: 0,
        factor: None,
        iteration: 4,
        count: 1,
    });
    assert!(matches!(run(&mut engine, &warm(30)), Err(Error::Contradiction { .. })));
    assert_eq!((bits(engine.results()), engine.backend()), (results, Backend::Cpu));
    world.lock().run_error = None;
    run(&mut engine, &warm(1)).unwrap();
    assert_eq!((runs(&world), engine.backend()), (vec![CPU, DEVICE, DEVICE], Backend::Cuda));
}

#[test]
fn time_for_making_the_device_counts() {
    let world = world();
    let mut engine = engine(&world);
    let request = RunRequest { max_time: Some(Duration::ZERO), ..iterations(1000) };
    run(&mut engine, &request).unwrap();
    assert_eq!(last(&world), CPU, "a run that must end at once does not wait for a driver");
}
