//! Orders of updates that depend on the messages: SEQMAX and active sets.

use super::reference::{Message, Reference};
use super::*;
use crate::engine::request::Progress;
use crate::kernel::{ExtendedFloat, Real, geometric_mean, weights_to_probabilities};

/// SEQMAX by its definition: a list of residuals, looked through for every message.
struct Residuals<'a> {
    reference: Reference<'a>,
    newest: Vec<Message>,
    /// Residual, and when it was set.
    queue: Vec<(f64, u64)>,
    sent: Vec<bool>,
    /// Damped messages as libDAI stores them, not normalised.
    raw: Vec<Vec<f64>>,
    log_domain: bool,
    clock: u64,
}

impl<'a> Residuals<'a> {
    fn new(case: &'a Case, log_domain: bool) -> Self {
        let reference = Reference::new(&case.graph, &case.evidence, case.mode);
        let edges = case.graph.edge_count();
        let mut all = Self {
            newest: reference.messages.clone(),
            reference,
            queue: vec![(0.0, 0); edges],
            sent: vec![false; edges],
            raw: case
                .graph
                .edge_variables()
                .iter()
                .map(|&v| vec![1.0; case.graph.cardinality(v as usize)])
                .collect(),
            log_domain,
            clock: 0,
        };
        for &edge in case.graph.all_variable_edges() {
            all.compute(edge as usize);
        }
        all
    }

    fn probabilities(&self, edge: usize, message: &Message) -> Vec<f64> {
        let v = self.reference.graph.edge_variables()[edge] as usize;
        let mut out = vec![0.0; self.reference.graph.cardinality(v)];
        if out.len() == 2 {
            return message[0].probabilities().to_vec();
        }
        weights_to_probabilities(message, &mut out);
        out
    }

    fn compute(&mut self, edge: usize) {
        let messages = &self.reference.messages;
        self.newest[edge] = self.reference.message(edge, &|d| messages[d].clone());
        self.set(edge);
    }

    /// The message last computed, with a prior's table as it is.
    fn computed(&self, edge: usize) -> Vec<f64> {
        let graph = self.reference.graph;
        let factor = graph.edge_factors()[edge] as usize;
        let probabilities = self.probabilities(edge, &self.newest[edge]);
        if graph.arity(factor) > 1 {
            return probabilities;
        }
        let radix = probabilities.len();
        let value = |x: usize| graph.factor(factor).value(&[x], std::iter::once(radix));
        (0..radix).map(value).collect()
    }

    fn set(&mut self, edge: usize) {
        let damped = self.reference.mode.damping > 0.0;
        let mut new = self.computed(edge);
        let mut old = self.probabilities(edge, &self.reference.messages[edge]);
        if damped {
            let sum: f64 = self.raw[edge].iter().sum();
            old.iter_mut().for_each(|p| *p *= sum);
        } else if !self.sent[edge] {
            old.fill(1.0);
        } else {
            new = self.probabilities(edge, &self.newest[edge]);
        }
        let distance = |new: f64, old: f64| match self.log_domain {
            _ if new == old => 0.0,
            true => (new.ln() - old.ln()).abs(),
            false => (new - old).abs(),
        };
        let mut residual =
            new.iter().zip(&old).map(|(&new, &old)| distance(new, old)).fold(0.0, f64::max);
        if self.newest[edge] != self.reference.messages[edge] {
            residual = residual.max(f64::MIN_POSITIVE);
        }
        self.clock += 1;
        self.queue[edge] = (residual, self.clock);
    }

    fn damp_raw(&mut self, edge: usize) {
        let damping = self.reference.mode.damping;
        if damping == 0.0 {
            return;
        }
        let sum: f64 = self.raw[edge].iter().sum();
        let old = self.probabilities(edge, &self.reference.messages[edge]);
        let new = self.computed(edge);
        let mean = |(old, new): (f64, f64)| match (old * sum, new) {
            (a, b) if a == 0.0 || b == 0.0 => 0.0,
            (a, b) => {
                geometric_mean(ExtendedFloat::from_f64(a), ExtendedFloat::from_f64(b), damping)
                    .to_f64()
            }
        };
        self.raw[edge] = old.into_iter().zip(new).map(mean).collect();
    }

    fn iteration(&mut self) {
        let graph = self.reference.graph;
        for _ in 0..graph.edge_count() {
            let better =
                |a: &usize, b: &usize| self.queue[*a].partial_cmp(&self.queue[*b]).unwrap();
            let edge = (0..graph.edge_count()).max_by(better).unwrap();
            self.damp_raw(edge);
            let old = &self.reference.messages[edge];
            self.reference.messages[edge] = self.reference.damped(old, self.newest[edge].clone());
            self.sent[edge] = true;
            self.set(edge);
            let variable = graph.edge_variables()[edge] as usize;
            for &own in graph.variable_edges(variable).iter().filter(|&&own| own as usize != edge) {
                let factor = graph.edge_factors()[own as usize] as usize;
                for other in graph.factor_edges(factor).filter(|&other| other != own as usize) {
                    self.compute(other);
                }
            }
        }
    }
}

/// Active sets by their definition: for every edge, when its message was computed and when it last
/// changed.
struct ActiveSet<'a> {
    reference: Reference<'a>,
    computed: Vec<Option<u64>>,
    changed: Vec<Option<u64>>,
    now: u64,
    spared: u64,
}

impl ActiveSet<'_> {
    fn is_active(&self, edge: usize) -> bool {
        let graph = self.reference.graph;
        let Some(computed) = self.computed[edge] else { return true };
        let factor = graph.edge_factors()[edge] as usize;
        graph.factor_edges(factor).filter(|&input| input != edge).any(|input| {
            let variable = graph.edge_variables()[input] as usize;
            let read = graph.variable_edges(variable).iter().map(|&d| d as usize);
            read.filter(|&d| d != input).any(|d| self.changed[d].is_some_and(|at| at >= computed))
        })
    }

    fn iteration(&mut self, preorder: &Preorder, threshold: f64) {
        let (order, classes) = preorder.classes().unwrap();
        for class in classes.windows(2) {
            let class = &order[class[0] as usize..class[1] as usize];
            let messages = self.reference.messages.clone();
            for edge in class.iter().map(|&edge| edge as usize) {
                if !self.is_active(edge) {
                    self.spared += 1;
                }
            }
            let active: Vec<usize> = class
                .iter()
                .map(|&edge| edge as usize)
                .filter(|&edge| self.is_active(edge))
                .collect();
            let read = |d: usize| messages[d].clone();
            for edge in active {
                self.computed[edge] = Some(self.now);
                let message = self.reference.message(edge, &read);
                if moved(&messages[edge], &message, threshold) {
                    self.reference.messages[edge] = message;
                    self.changed[edge] = Some(self.now);
                }
            }
            self.now += 1;
        }
    }
}

fn moved(old: &Message, new: &Message, threshold: f64) -> bool {
    let zero_or_infinite = |m: &Message| -> Vec<Option<EncodedMessage>> {
        m.iter().map(|&value| value.is_deterministic().then_some(value)).collect()
    };
    if old == new || threshold == 0.0 || zero_or_infinite(old) != zero_or_infinite(new) {
        return old != new;
    }
    let ln = |value: EncodedMessage| {
        let value = value.unpack();
        value.significand().ln() + value.exponent() as f64 * std::f64::consts::LN_2
    };
    let uncertain = old.iter().zip(new).filter(|(old, _)| !old.is_deterministic());
    let mut growth: Vec<f64> = uncertain.map(|(&old, &new)| ln(new) - ln(old)).collect();
    if old.len() == 1 {
        growth.push(0.0);
    }
    let most = growth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = growth.iter().copied().fold(f64::INFINITY, f64::min);
    most - least > threshold
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50, 500)))]

    #[test]
    fn the_largest_residual_is_sent_first(case in case(), log_domain in any::<bool>()) {
        prop_assume!(case.graph.edge_count() < 150);
        let schedule = Schedule::MaximumResidual { log_domain };
        let mut reference = Residuals::new(&case, log_domain);
        let mut engine = case.engine(&schedule, 1, Tuning::default());
        for iteration in 0..2 {
            reference.iteration();
            let start = if iteration == 0 { Start::Fresh } else { Start::Warm };
            go(&mut engine, &RunRequest { start, ..case.request(1) });
            prop_assert!(engine.messages().0 == reference.reference.flat(), "iteration {}", iteration);
        }
        // One long run is the same, and a fresh one begins again.
        let mut long = case.engine(&schedule, 2, EAGER);
        for _ in 0..2 {
            go(&mut long, &case.request(2));
            prop_assert!(long.messages() == engine.messages());
        }
        prop_assert_eq!(long.results(), engine.results());
        // Evidence that is cleared leaves no trace.
        for (v, _) in case.evidence.iter() {
            engine.set_evidence(v, None).unwrap();
        }
        go(&mut engine, &case.request(2));
        let bare = Case { evidence: Evidence::new(), ..case.clone() };
        let mut never = bare.engine(&schedule, 1, Tuning::default());
        go(&mut never, &case.request(2));
        prop_assert!(engine.messages() == never.messages());
    }

    #[test]
    fn active_sets_follow_their_definition(
        case in case(),
        threshold in prop_oneof![Just(0.0), 0.01..3.0],
    ) {
        let undamped = Mode { damping: 0.0, ..case.mode };
        let case = Case { mode: undamped, ..case };
        for schedule in case.schedules() {
            let request = RunRequest { active_threshold: Some(threshold), ..case.request(3) };
            let mut engine = case.engine(&schedule, 1, BY_MARKS);
            let report = go(&mut engine, &request);
            let edges = case.graph.edge_count();
            let mut reference = ActiveSet {
                reference: Reference::new(&case.graph, &case.evidence, case.mode),
                computed: vec![None; edges],
                changed: vec![None; edges],
                now: 1,
                spared: 0,
            };
            for iteration in 0..3 {
                reference.iteration(&schedule.preorder(&case.graph, iteration).unwrap(), threshold);
            }
            let messages = engine.messages();
            prop_assert!(messages.0 == reference.reference.flat(), "{}", schedule.name());
            // What is 0/0 is computed again to be counted. Iterations by nodes leave out those whose inputs have the same bits.
            let by_nodes = !matches!(engine.plan, Plan::Batches(_));
            let spared = report.spared_messages;
            let is_right = match report.contradictions {
                _ if by_nodes => spared <= 3 * edges as u64,
                0 => spared == reference.spared,
                _ => spared <= reference.spared,
            };
            prop_assert!(is_right, "{}: {} for {}", schedule.name(), spared, reference.spared);
            // A run without an active set goes on from there.
            let plain = RunRequest { start: Start::Warm, ..case.request(1) };
            go(&mut engine, &plain);
            reference.reference.iteration(&schedule.preorder(&case.graph, 3).unwrap());
            let after = engine.messages().0;
            prop_assert!(after == reference.reference.flat(), "{} after", schedule.name());
            // The same on threads, and in parts.
            for (threads, tuning) in [(2, EAGER), (2, MIXED), (3, APART), (1, NO_MARKS)] {
                let mut parts = case.engine(&schedule, threads, tuning);
                go(&mut parts, &RunRequest { rule: StopRule::Iterations(2), ..request });
                let rest = RunRequest { rule: StopRule::Iterations(1), start: Start::Warm, ..request };
                go(&mut parts, &rest);
                prop_assert!(parts.messages() == messages, "{} in parts", schedule.name());
                let mut whole = case.engine(&schedule, threads, tuning);
                let on_others = go(&mut whole, &request);
                prop_assert!(whole.messages() == messages, "{} on {threads}", schedule.name());
                prop_assert_eq!(without_spared(on_others), without_spared(report));
            }
            if threshold == 0.0 {
                let mut plain = case.engine(&schedule, 1, Tuning::default());
                go(&mut plain, &case.request(3));
                prop_assert!(plain.messages() == messages, "{} without", schedule.name());
            }
        }
    }
}

fn without_spared(report: RunReport) -> RunReport {
    RunReport { spared_messages: 0, ..report }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(10, 300)))]

    /// Which messages an active set computes changes nothing: by marks, without, and by turns, on one thread and on several.
    #[test]
    fn marks_change_nothing(
        case in case(), vote in any::<bool>(), warm in any::<bool>(), observe in any::<bool>(),
        threshold in prop_oneof![Just(0.0), 1e-6..1e-3, 0.01..3.0],
    ) {
        let case = Case { mode: Mode { damping: 0.0, ..case.mode }, ..case };
        let contradiction = if vote { Contradiction::Vote } else { Contradiction::Error };
        let start = if warm { Start::Warm } else { Start::Fresh };
        let bingo =
            StopRule::Bingo { tolerance: 1e-3, min_iterations: 1, max_iterations: 9, history: 2 };
        for schedule in case.schedules() {
            for rule in [StopRule::Iterations(12), StopRule::Tolerance { tolerance: 1e-9, max_iterations: 12 }, bingo] {
                let request = RunRequest {
                    rule, contradiction, start, observe, active_threshold: Some(threshold), ..case.request(1)
                };
                let by = |threads, tuning| {
                    let mut engine = case.engine(&schedule, threads, tuning);
                    let first = heard_without_spared(&mut engine, &request);
                    (first, heard_without_spared(&mut engine, &request))
                };
                let expected = by(1, BY_MARKS);
                for (threads, tuning) in
                    [(1, SOME_MARKS), (1, NO_MARKS), (2, EAGER), (2, MIXED), (2, APART)]
                {
                    prop_assert_eq!(&by(threads, tuning), &expected, "{} {:?}", schedule.name(), rule);
                }
            }
        }
    }
}

/// What a monitor hears of a run, with the largest changes by their bits.
fn heard(engine: &mut Trial<CpuEngine>, request: &RunRequest) -> (String, Vec<Progress>) {
    heard_by(engine, request, |report| report)
}

fn heard_without_spared(
    engine: &mut Trial<CpuEngine>, request: &RunRequest,
) -> (String, Vec<Progress>) {
    heard_by(engine, request, without_spared)
}

fn heard_by(
    engine: &mut Trial<CpuEngine>, request: &RunRequest, seen: fn(RunReport) -> RunReport,
) -> (String, Vec<Progress>) {
    let mut heard = Vec::new();
    let report = engine.run(request, &mut |now| {
        heard.push(*now);
        Control::Continue
    });
    let report = report.map(seen);
    let results: Vec<u64> = engine.results().iter().map(|p| p.to_bits()).collect();
    (format!("{report:?} {results:?} {:?}", engine.messages()), heard)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 300)))]

    /// Reports, results and messages of observed runs are those of others; what is told of an iteration is the same on any
    /// number of threads, and for a fixed number of iterations and a tolerance.
    #[test]
    fn observing_changes_nothing(case in case(), vote in any::<bool>(), warm in any::<bool>()) {
        let bingo =
            StopRule::Bingo { tolerance: 1e-3, min_iterations: 1, max_iterations: 3, history: 2 };
        let tolerance = StopRule::Tolerance { tolerance: 1e-9, max_iterations: 4 };
        let all = StopRule::AllBeliefs { tolerance: 0.1, max_iterations: 5 };
        for schedule in case.schedules() {
            for rule in [StopRule::Iterations(4), tolerance, all, bingo] {
                let contradiction = if vote { Contradiction::Vote } else { Contradiction::Error };
                let start = if warm { Start::Warm } else { Start::Fresh };
                let request = RunRequest { rule, contradiction, start, ..case.request(4) };
                let observed = RunRequest { observe: true, ..request };
                let [quiet, one, two] = [(request, 1, Tuning::default()), (observed, 1, Tuning::default()), (observed, 2, EAGER)]
                    .map(|(request, threads, tuning)| {
                        let mut engine = case.engine(&schedule, threads, tuning);
                        heard(&mut engine, &request)
                    });
                prop_assert_eq!(&quiet.0, &one.0, "{} {:?}", schedule.name(), rule);
                prop_assert_eq!(&one, &two, "{} {:?}", schedule.name(), rule);
                prop_assert_eq!(quiet.1.len(), one.1.len());
                for (quiet, observed) in quiet.1.iter().zip(&one.1) {
                    prop_assert!(quiet.contradictions.is_none() && observed.contradictions.is_some());
                    prop_assert!(quiet.unconverged.is_none() || quiet.unconverged == observed.unconverged);
                    let leaves_factors_out = rule == all && quiet.unconverged.is_none();
                    let is_less = 0.1 < quiet.max_diff && quiet.max_diff <= observed.max_diff;
                    let is_same = quiet.max_diff.is_infinite() || quiet.max_diff == observed.max_diff;
                    prop_assert!((leaves_factors_out && is_less) || (!leaves_factors_out && is_same));
                    prop_assert!(observed.max_diff.is_finite());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 300)))]

    /// libDAI's rule leaves factors out until variables have come to rest. Nothing in the report tells, wherever the run is
    /// ended.
    #[test]
    fn factors_that_were_left_out_are_made_up_for(
        case in case(), cancelled in 1_u64..5, tolerance in prop_oneof![Just(0.0), Just(1e-3), Just(0.3)],
    ) {
        let rule = StopRule::AllBeliefs { tolerance, max_iterations: 6 };
        for schedule in case.schedules() {
            let quiet = RunRequest { rule, contradiction: Contradiction::Vote, ..case.request(6) };
            let observed = RunRequest { observe: true, ..quiet };
            let rough = RunRequest { rough_progress: true, ..quiet };
            let runs = [(quiet, 1, Tuning::default()), (observed, 1, Tuning::default()), (rough, 1, Tuning::default()), (rough, 2, EAGER)];
            let [quiet, observed, rough, shared] = runs.map(|(request, threads, tuning)| {
                let mut engine = case.engine(&schedule, threads, tuning);
                let report = engine.run(&request, &mut |now| {
                    if now.iterations == cancelled { Control::Cancel } else { Control::Continue }
                });
                let results: Vec<u64> = engine.results().iter().map(|p| p.to_bits()).collect();
                (format!("{report:?}"), results, engine.messages())
            });
            prop_assert_eq!(&quiet, &observed, "{}", schedule.name());
            prop_assert_eq!(&rough, &observed, "{}", schedule.name());
            prop_assert_eq!(&shared, &observed, "{}", schedule.name());
        }
    }
}

/// An engine for a graph, with the usual options.
fn trial(builder: FactorGraphBuilder, schedule: &Schedule) -> Trial<CpuEngine> {
    let graph = Arc::new(builder.build().unwrap());
    let engine = CpuEngine::new(graph.clone(), schedule, EngineOptions::default()).unwrap();
    Trial::new(engine, &graph)
}

/// The share of unconverged variables, and the contradictory places.
#[test]
fn observations_of_a_small_graph() {
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(0, 1.0).unwrap();
    builder.add_and(1, &[0], 1.0, 0.0).unwrap();
    builder.add_prior(1, 0.0).unwrap();
    builder.add_prior(2, 0.5).unwrap();
    let mut engine = trial(builder, &Schedule::Parallel);
    let rule = StopRule::Tolerance { tolerance: 1e-3, max_iterations: 3 };
    let request =
        RunRequest { contradiction: Contradiction::Vote, observe: true, ..RunRequest::new(rule) };
    let (_, heard) = heard(&mut engine, &request);
    let seen: Vec<_> = heard.iter().map(|now| now.unconverged.zip(now.contradictions)).collect();
    // The variables 0 and 1 move from uniform to their priors, and back when messages say that both cannot be.
    let moved = 2.0 / 3.0;
    assert_eq!(seen, [Some((moved, 0)), Some((moved, 2)), Some((0.0, 2))]);
}

/// A chain that has converged at its end is left alone.
#[test]
fn active_sets_spare_messages() {
    let mut builder = FactorGraphBuilder::new();
    for v in 0..50 {
        builder.add_and(v + 1, &[v], 0.9, 0.2).unwrap();
    }
    builder.add_prior(0, 0.3).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let schedule = Schedule::SequentialFixed;
    let engine =
        CpuEngine::with_tuning(graph.clone(), &schedule, EngineOptions::default(), BY_MARKS);
    let mut engine = Trial::new(engine.unwrap(), &graph);
    let rule = StopRule::Tolerance { tolerance: 1e-12, max_iterations: 100 };
    let all = go(&mut engine, &RunRequest::new(rule));
    let expected = engine.results().to_vec();
    let request = RunRequest { active_threshold: Some(1e-9), ..RunRequest::new(rule) };
    let report = go(&mut engine, &request);
    assert!(report.converged && all.converged);
    assert!(report.spared_messages > 0, "{report:?}");
    for (a, b) in expected.iter().zip(engine.results()) {
        assert!((a - b).abs() < 1e-7);
    }
}
