//! The general program against the CPU engine, bit for bit: its kernels, compiled by a C++ compiler, on the
//! fake driver.

use super::*;
use crate::engine::cpu::CpuEngine;
use crate::engine::cpu::tests::{Case, case_of};
use crate::engine::cuda::control::Standing;
use crate::engine::cuda::driver::{Context, Current, Device, DeviceBuffer, Element, Stream, fake};
use crate::engine::cuda::interface::run::{IterationLog, Rule, RunState};
use crate::engine::cuda::kernels;
use crate::engine::trial::Trial;
use crate::engine::{Contradiction, Control, EngineOptions, Progress, StopReason};
use crate::model::FactorGraphBuilder;
use crate::testing::{cases, is_deep};
use proptest::prelude::*;

/// On one thread and on several, which must not be seen.
const SETTINGS: [&str; 2] = ["blocks=1", "blocks=2,threads=2"];

fn within(test: &str, flags: &[&str]) {
    fake::run_within(&format!("engine::cuda::general::tests::{test}"), &SETTINGS, Some(flags));
}

/// What a run shows. Whether the monitor hears of an iteration that ends in a contradiction is left open.
struct Shown {
    outcome: Outcome,
    progress: Vec<Progress>,
    messages: Vec<EncodedMessage>,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Ended {
        iterations: u64,
        reason: StopReason,
        max_diff: f64,
        active_fraction: f64,
        contradictions: u64,
        first_contradiction: Option<usize>,
        results: Vec<u64>,
    },
    Contradiction {
        variable: usize,
        /// Of this run, and since the messages were uniform.
        iterations: u64,
        iteration: u64,
        count: u64,
    },
}

impl Shown {
    fn new(outcome: Outcome, mut progress: Vec<Progress>, messages: Vec<EncodedMessage>) -> Self {
        if let Outcome::Contradiction { iterations, .. } = outcome {
            progress.retain(|now| now.iterations < iterations);
        }
        // Which runs measure it depends on the engine.
        progress.iter_mut().for_each(|now| now.unconverged = None);
        Self { outcome, progress, messages }
    }
}

/// Something to be done between and with runs.
#[derive(Clone, Debug)]
enum Step {
    Run(RunRequest),
    /// Clears or sets the evidence of the case.
    Clear(bool),
    /// Takes all messages out and puts them in again.
    Reload,
}

struct Runner {
    current: Current,
    stream: Stream,
    general: General,
    nodes: usize,
    states: usize,
    buffer: u32,
    iterations: u64,
    /// By which inference factors with one variable have sent.
    constants: Option<Inference>,
    /// Iterations of a launch.
    size: u64,
}

impl Runner {
    fn new(graph: &Arc<FactorGraph>, schedule: &Schedule, size: u64) -> Self {
        let current = Context::new(Device::get(0).unwrap()).unwrap().enter().unwrap();
        let stream = Stream::new(&current).unwrap();
        let module = kernels::GENERAL.load(&current).unwrap();
        let order = KnownOrder::default();
        let plan = GeneralPlan::new(current.device(), graph, schedule, &order).unwrap();
        let general =
            General::new(stream.queue(&current), &module, graph.clone(), schedule, plan).unwrap();
        let size = general.iterations_per_launch().unwrap_or(u64::MAX).min(size);
        Self {
            current,
            stream,
            general,
            nodes: graph.variable_count() + graph.factor_count(),
            states: graph.state_count(),
            buffer: 0,
            iterations: 0,
            constants: None,
            size,
        }
    }

    fn upload<T: Element>(&self, content: &[T]) -> DeviceBuffer<T> {
        DeviceBuffer::from_slice(self.stream.queue(&self.current), content).unwrap()
    }

    /// As the engine does it.
    fn run(&mut self, request: &RunRequest) -> Shown {
        if request.start == Start::Fresh {
            (self.iterations, self.constants) = (0, None);
        }
        self.general.start_at(self.iterations);
        let constants_sent = request.start == Start::Warm
            && self.constants == Some(request.inference)
            && request.least_growth() == 0.0;
        let queue = self.stream.queue(&self.current);
        self.general.begin(queue, request, self.buffer, constants_sent).unwrap();
        let rule = Rule::new(request, self.nodes, self.general.by_levels());
        let max_iterations = request.rule.most_iterations();
        let mut state = [RunState::new(self.buffer)];
        let control = self.upload(&state);
        let mut progress = Vec::new();
        let standing = loop {
            let done = state[0].iterations;
            let log = self.upload(&vec![IterationLog::default(); self.size as usize]);
            let barrier = self.upload(&[0_u32]);
            let iterations = Loop {
                rule,
                limit: done + self.size.min(max_iterations - done),
                control: (&control).into(),
                log: (&log).into(),
                barrier: (&barrier).into(),
            };
            self.general.launch(self.stream.queue(&self.current), &iterations).unwrap();
            control.download(self.stream.queue(&self.current), 0, &mut state).unwrap();
            let standing = state[0].standing();
            let mut logged = vec![IterationLog::default(); (state[0].iterations - done) as usize];
            log.download(self.stream.queue(&self.current), 0, &mut logged).unwrap();
            for (iteration, &IterationLog { max_diff, active_fraction }) in
                (done + 1..).zip(&logged)
            {
                progress.push(Progress {
                    iterations: iteration,
                    max_iterations,
                    max_diff,
                    active_fraction,
                    unconverged: None,
                    contradictions: None,
                });
            }
            if standing != Standing::Running {
                break standing;
            }
        };
        let iterations = state[0].iterations;
        self.buffer = state[0].buffer;
        self.iterations += iterations;
        if iterations > 0 {
            self.constants = (!request.depends_on_old_messages()).then_some(request.inference);
        }
        let outcome = match standing {
            Standing::Contradiction { variable } => {
                let count = state[0].found.error_count;
                Outcome::Contradiction { variable, iterations, iteration: self.iterations, count }
            }
            Standing::Ended(reason) => {
                let mut results = vec![0.0; self.states];
                let is_bingo = matches!(request.rule, StopRule::Bingo { .. });
                let mean = is_bingo && reason != StopReason::Converged && iterations > 0;
                self.general
                    .results(
                        self.stream.queue(&self.current),
                        self.buffer,
                        mean.then_some(iterations),
                        &mut results,
                    )
                    .unwrap();
                Outcome::Ended {
                    iterations,
                    reason,
                    max_diff: state[0].found.max_diff,
                    active_fraction: state[0].found.active_fraction,
                    contradictions: state[0].found.contradictions,
                    first_contradiction: state[0].first_contradiction(),
                    results: results.into_iter().map(f64::to_bits).collect(),
                }
            }
            Standing::Running => unreachable!("the loop has ended"),
        };
        Shown::new(outcome, progress, self.messages())
    }

    fn messages(&mut self) -> Vec<EncodedMessage> {
        self.general.messages(self.stream.queue(&self.current), self.buffer).unwrap()
    }
}

fn run_on_cpu(engine: &mut Trial<CpuEngine>, request: &RunRequest) -> Shown {
    let before = if request.start == Start::Fresh { 0 } else { engine.messages().1 };
    let mut progress = Vec::new();
    let report = engine.run(request, &mut |now| {
        progress.push(*now);
        Control::Continue
    });
    let outcome = match report {
        Ok(report) => Outcome::Ended {
            iterations: report.iterations,
            reason: report.reason,
            max_diff: report.max_diff,
            active_fraction: report.active_fraction,
            contradictions: report.contradictions,
            first_contradiction: report.first_contradiction,
            results: engine.results().iter().map(|p| p.to_bits()).collect(),
        },
        Err(Error::Contradiction { variable, iteration, count, .. }) => {
            Outcome::Contradiction { variable, iterations: iteration - before, iteration, count }
        }
        Err(error) => panic!("{error}"),
    };
    Shown::new(outcome, progress, engine.messages().0)
}

/// Runs the steps with both engines.
fn compare(case: &Case, schedule: &Schedule, steps: &[Step], size: u64) {
    let options = EngineOptions { threads: Some(1), ..Default::default() };
    let cpu = CpuEngine::new(case.graph.clone(), schedule, options).unwrap();
    let mut cpu = Trial::new(cpu, &case.graph);
    let mut program = Runner::new(&case.graph, schedule, size);
    for (variable, evidence) in case.evidence.iter() {
        cpu.set_evidence(variable, Some(evidence)).unwrap();
        program.general.set_evidence(variable, Some(evidence)).unwrap();
    }
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Run(request) => {
                let (expected, found) = (run_on_cpu(&mut cpu, request), program.run(request));
                let place = found.messages.iter().zip(&expected.messages).position(|(a, b)| a != b);
                let name = schedule.name();
                assert!(place.is_none(), "{name}, step {number} {request:?}: message {place:?}");
                let shown = (&found.outcome, &found.progress);
                let wanted = (&expected.outcome, &expected.progress);
                assert!(
                    shown == wanted,
                    "{name}, step {number} {request:?}:\n{shown:?}\n{wanted:?}"
                );
            }
            Step::Clear(clear) => {
                for (variable, evidence) in case.evidence.iter() {
                    let evidence = (!clear).then_some(evidence);
                    cpu.set_evidence(variable, evidence).unwrap();
                    program.general.set_evidence(variable, evidence).unwrap();
                }
            }
            Step::Reload => {
                let (messages, iterations) = cpu.messages();
                cpu.set_messages(&messages, iterations);
                (program.buffer, program.constants) = (1, None);
                program
                    .general
                    .set_messages(program.stream.queue(&program.current), 1, &messages)
                    .unwrap();
                assert!(program.messages() == messages && program.iterations == iterations);
            }
        }
    }
}

fn rule() -> impl Strategy<Value = StopRule> {
    let tolerance = || prop_oneof![Just(0.0), Just(1e-3), Just(1e-9)];
    prop_oneof![
        3 => (0_u64..6).prop_map(StopRule::Iterations),
        2 => (tolerance(), 0_u64..12)
            .prop_map(|(tolerance, max_iterations)| StopRule::Tolerance { tolerance, max_iterations }),
        3 => (tolerance(), 0_u64..8, 0_u64..6, 1_u64..5).prop_map(
            |(tolerance, min_iterations, more, history)| StopRule::Bingo {
                tolerance,
                min_iterations,
                max_iterations: min_iterations + more,
                history,
            }
        ),
    ]
}

fn request() -> impl Strategy<Value = RunRequest> {
    (
        rule(),
        any::<bool>(),
        prop_oneof![3 => Just(Contradiction::Vote), 1 => Just(Contradiction::Error)],
        prop_oneof![2 => Just(Inference::SumProduct), 1 => Just(Inference::MaxProduct)],
        prop_oneof![3 => Just(0.0), 1 => Just(0.5), 1 => 0.01..0.99],
    )
        .prop_map(|(rule, warm, contradiction, inference, damping)| RunRequest {
            start: if warm { Start::Warm } else { Start::Fresh },
            contradiction,
            inference,
            damping,
            ..RunRequest::new(rule)
        })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => request().prop_map(Step::Run),
        1 => any::<bool>().prop_map(Step::Clear),
        1 => Just(Step::Reload),
    ];
    prop::collection::vec(step, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(50, 500)) })]

    fn compare_random_cases(
        case in case_of(2),
        steps in steps(),
        size in prop_oneof![Just(1_u64), Just(2), Just(100)],
    ) {
        for schedule in case.schedules() {
            compare(&case, &schedule, &steps, size);
        }
    }
}

/// Messages, results, reports and progress, over runs of all kinds that follow each other.
#[test]
fn runs_of_all_kinds_have_the_bits_of_the_cpu() {
    if !fake::is_within() {
        // What is not defined traps.
        let traps = ["-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];
        return within("runs_of_all_kinds_have_the_bits_of_the_cpu", &traps);
    }
    compare_random_cases();
}

/// High-degree variables, high-arity factors and tables that blocks share.
fn large(states: usize) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    let count = 700_u64;
    builder.add_variable(0, 2).unwrap();
    builder.add_variable(10_000, states).unwrap();
    let body: Vec<u64> = (1..=150).collect();
    builder.add_and(0, &body, 0.99, 0.1).unwrap();
    builder.add_noisy_or(1, &body[1..120], &vec![0.3; 119], 0.01).unwrap();
    for v in 1..=count {
        builder.add_or(v, &[0, v % 90 + 1], 0.9, 0.01 * (v % 7) as f64).unwrap();
        let word = |x: u64| (v * 31 + x * 17) % 23;
        let values: Vec<f64> = (0..2 * states as u64).map(|x| word(x) as f64).collect();
        builder.add_table(&[v, 10_000], &values).unwrap();
    }
    let scope: Vec<u64> = (1..=9).chain([10_000]).collect();
    let size = 512 * states;
    let values: Vec<f64> = (0..size).map(|i| ((i * 7919) % 1009) as f64 + 0.5).collect();
    builder.add_table(&scope, &values).unwrap();
    builder.build().unwrap()
}

#[test]
fn blocks_share_high_degree_variables_and_large_factors() {
    if !fake::is_within() {
        return within("blocks_share_high_degree_variables_and_large_factors", &["-O2"]);
    }
    for states in [2, 3] {
        let graph = Arc::new(large(states));
        let mut evidence = crate::model::Evidence::new();
        evidence.observe(&graph, 5, 1).unwrap();
        evidence.set_likelihood(&graph, 0, &[0.2, 0.7]).unwrap();
        let ranks = (0..graph.edge_count() as u64).map(|e| e * 7919 % 13).collect();
        let case = Case::new(graph, evidence, ranks);
        let bingo =
            StopRule::Bingo { tolerance: 1e-6, min_iterations: 1, max_iterations: 3, history: 2 };
        let vote =
            |rule| RunRequest { contradiction: Contradiction::Vote, ..RunRequest::new(rule) };
        let damped = RunRequest { damping: 0.3, start: Start::Warm, ..vote(bingo) };
        let steps = [vote(StopRule::Iterations(3)), vote(bingo), damped].map(Step::Run);
        for (number, schedule) in case.schedules().into_iter().enumerate() {
            // Every second one with two states, the others with three.
            if !is_deep() && number % 2 != states % 2 {
                continue;
            }
            // One edge at a time, each costs the degree of its high-degree variable and a barrier of all threads.
            if !matches!(schedule, Schedule::SequentialRandom { .. } | Schedule::SequentialFixed) {
                compare(&case, &schedule, &steps, 100);
            }
        }
    }
}

#[test]
fn what_cannot_be_done_says_why() {
    if !fake::is_within() {
        return within("what_cannot_be_done_says_why", &["-O0"]);
    }
    let current = Context::new(Device::get(0).unwrap()).unwrap().enter().unwrap();
    let stream = Stream::new(&current).unwrap();
    let module = kernels::GENERAL.load(&current).unwrap();
    let mut builder = FactorGraphBuilder::new();
    let body: Vec<u64> = (1..=30).collect();
    builder.add_noisy_or(0, &body, &[0.5; 30], 0.1).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let residual = Schedule::MaximumResidual { log_domain: false };
    let plan =
        |schedule| GeneralPlan::new(current.device(), &graph, schedule, &KnownOrder::default());
    let error = plan(&residual).err().unwrap();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    let (queue, schedule) = (stream.queue(&current), Schedule::Parallel);
    let plan = plan(&schedule).unwrap();
    let mut general = General::new(queue, &module, graph.clone(), &schedule, plan).unwrap();
    let rule = StopRule::AllBeliefs { tolerance: 0.0, max_iterations: 1 };
    let iterations = RunRequest::new(StopRule::Iterations(1));
    for (request, served) in [
        (RunRequest::new(rule), false),
        (RunRequest { inference: Inference::MaxProduct, ..iterations }, true),
    ] {
        assert_eq!(general.serves(&request), served);
        let error = general.begin(stream.queue(&current), &request, 0, false).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }
    let history = StopRule::Bingo {
        tolerance: 0.0,
        min_iterations: u64::MAX - 1,
        max_iterations: u64::MAX - 1,
        history: u64::MAX,
    };
    let error =
        general.begin(stream.queue(&current), &RunRequest::new(history), 0, false).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory(_)), "{error}");
    // The program is as before.
    general.begin(stream.queue(&current), &iterations, 0, false).unwrap();
}
