//! Evidence that a single factor gives weight 0 is a contradiction, whatever the arity and the kind of the
//! factor. The logarithm of an impossible sum is minus infinity.

use fastlbp::{
    BeliefPropagation, Contradiction, EngineOptions, Error, FactorGraph, FactorGraphBuilder,
    RunReport, RunRequest, Schedule, Start, StopRule,
};
use std::sync::Arc;

/// Adds a factor over the labels 1 to its arity that is 0 for some joint states.
type Add = fn(&mut FactorGraphBuilder) -> fastlbp::Result<()>;

/// Factors, the states of their variables that they exclude, and others that they allow.
const FACTORS: [(&str, Add, &[usize], &[usize]); 9] = [
    ("prior", |b| b.add_prior(1, 0.0), &[1], &[0]),
    ("prior as a table", |b| b.add_table(&[1], &[0.0, 2.0]), &[0], &[1]),
    ("and", |b| b.add_and(1, &[2], 1.0, 0.0), &[1, 0], &[1, 1]),
    ("or", |b| b.add_or(1, &[2, 3], 1.0, 0.0), &[1, 0, 0], &[1, 0, 1]),
    ("clause", |b| b.add_clause(&[1, 2, 3], &[false; 3], 1.0, 0.0), &[0, 0, 0], &[0, 1, 0]),
    (
        "table of states",
        |b| b.add_table(&[1, 2], &[1.0, 1.0, 1.0, 0.0, 1.0, 1.0]),
        &[1, 1],
        &[1, 0],
    ),
    ("signed", |b| b.add_signed(1, &[2], &[true], [0.0, 1.0, 2.0, 3.0]), &[1, 0], &[1, 1]),
    ("noisy", |b| b.add_noisy_or(1, &[2, 3], &[0.5, 0.75], 0.0), &[1, 0, 0], &[1, 1, 0]),
    ("terms", |b| b.add_terms(&[1, 2], &[1.0, 3.0], &[1, -1, -1, 1]), &[0, 0], &[1, 0]),
];

/// A factor over variables that others connect in a cycle, so that schedules have something to do.
fn graph(name: &str, add: Add, arity: usize) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(100, 0.25).unwrap();
    add(&mut builder).unwrap();
    if name == "table of states" {
        builder.add_variable(2, 3).unwrap();
    } else {
        for label in 1..=arity as u64 {
            builder.add_and(100 + label, &[label, 100], 0.75, 0.5).unwrap();
            builder.add_or(200 + label, &[label, 100 + label], 0.75, 0.5).unwrap();
        }
    }
    Arc::new(builder.build().unwrap())
}

fn session(graph: &Arc<FactorGraph>, schedule: &str) -> BeliefPropagation {
    let schedule = Schedule::from_name(schedule, 1).unwrap();
    BeliefPropagation::new(graph.clone(), schedule, EngineOptions::default()).unwrap()
}

fn observe(bp: &mut BeliefPropagation, states: &[usize]) {
    for (i, &state) in states.iter().enumerate() {
        bp.observe_label(1 + i as u64, state).unwrap();
    }
}

fn run(
    bp: &mut BeliefPropagation, policy: Contradiction, start: Start,
) -> Result<RunReport, Error> {
    bp.run(&RunRequest { contradiction: policy, start, ..RunRequest::new(StopRule::Iterations(3)) })
}

/// A name, the graph, a session, and the states that the factor excludes and allows.
type Case = (String, Arc<FactorGraph>, BeliefPropagation, &'static [usize], &'static [usize]);

/// Each factor with each schedule.
fn cases(schedules: &[&str]) -> impl Iterator<Item = Case> {
    FACTORS.into_iter().flat_map(move |(name, add, excluded, allowed)| {
        let graph = graph(name, add, excluded.len());
        schedules.iter().map(move |schedule| {
            let bp = session(&graph, schedule);
            (format!("{name}, {schedule}"), graph.clone(), bp, excluded, allowed)
        })
    })
}

#[test]
fn excluded_evidence_is_an_error_that_names_the_factor() {
    for (what, _, mut bp, excluded, allowed) in cases(&Schedule::names()) {
        observe(&mut bp, allowed);
        run(&mut bp, Contradiction::Error, Start::Fresh).expect(&what);
        let before = bp.marginals().unwrap().to_vec();
        for start in [Start::Fresh, Start::Warm] {
            observe(&mut bp, excluded);
            let error = run(&mut bp, Contradiction::Error, start).expect_err(&what);
            let Error::Contradiction { label, factor, iteration, count, .. } = error else {
                panic!("{what}: {error}");
            };
            assert_eq!((label, factor, iteration, count), (1, Some(1), 0, 1), "{what}");
            let text = error.to_string();
            assert!(text.contains("variable 1") && text.contains("factor 1 is 0"), "{text}");
            // The results are those of the last run that had some.
            assert_eq!(bp.marginals().unwrap(), before, "{what}");
        }
        // Nothing is lost by it.
        observe(&mut bp, allowed);
        run(&mut bp, Contradiction::Error, Start::Fresh).expect(&what);
        assert_eq!(bp.marginals().unwrap(), before, "{what}");
    }
}

#[test]
fn a_vote_counts_the_factors_that_exclude_the_evidence() {
    for (what, graph, mut bp, excluded, allowed) in cases(&Schedule::names()) {
        observe(&mut bp, allowed);
        let report = run(&mut bp, Contradiction::Vote, Start::Fresh).expect(&what);
        assert_eq!((report.contradictions, report.first_contradiction), (0, None), "{what}");
        observe(&mut bp, excluded);
        let report = run(&mut bp, Contradiction::Vote, Start::Fresh).expect(&what);
        let first = graph.variable_of_label(1);
        assert!(report.contradictions >= 1, "{what}: {report:?}");
        assert_eq!(report.first_contradiction, first, "{what}");
        for (v, p) in excluded.iter().enumerate() {
            let variable = graph.variable_of_label(1 + v as u64).unwrap();
            assert_eq!(bp.marginal(variable).unwrap()[*p], 1.0, "{what}");
        }
        assert!(bp.marginals().unwrap().iter().all(|p| (0.0..=1.0).contains(p)), "{what}");
        // The sum over no joint state, or an error: never a number, and never NaN.
        match bp.log_partition() {
            Ok(log) => assert_eq!(log, f64::NEG_INFINITY, "{what}"),
            Err(error) => {
                assert!(matches!(error, Error::Contradiction { .. }), "{what}: {error}");
            }
        }
    }
}

/// Where soft evidence excludes a state, as where it is observed.
#[test]
fn excluded_soft_evidence_is_a_contradiction() {
    for (what, graph, mut bp, excluded, _) in cases(&["PARALL", "SEQFIX", "TREE"]) {
        observe(&mut bp, excluded);
        let states = graph.cardinality(graph.variable_of_label(1).unwrap());
        let certain: Vec<f64> =
            (0..states).map(|state| f64::from(u8::from(state == excluded[0]))).collect();
        bp.set_likelihood(graph.variable_of_label(1).unwrap(), &certain).unwrap();
        let error = run(&mut bp, Contradiction::Error, Start::Fresh).expect_err(&what);
        assert!(matches!(error, Error::Contradiction { label: 1, .. }), "{what}: {error}");
        let report = run(&mut bp, Contradiction::Vote, Start::Fresh).expect(&what);
        assert!(report.contradictions >= 1, "{what}");
    }
}

/// Two priors that leave 1 : 3 for a variable, and one that is certain.
fn priors() -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(1, 0.25).unwrap();
    builder.add_and(2, &[1], 0.5, 0.75).unwrap();
    builder.add_prior(3, 0.0).unwrap();
    Arc::new(builder.build().unwrap())
}

#[test]
fn the_logarithm_of_nothing_is_minus_infinity() {
    for schedule in Schedule::names() {
        let mut bp = session(&priors(), schedule);
        run(&mut bp, Contradiction::Error, Start::Fresh).unwrap();
        assert!(bp.log_partition().unwrap().abs() < 1e-12);
        // Without a run: the belief says 0.75 for the state that is excluded now.
        bp.set_likelihood(0, &[0.0, 1.0]).unwrap();
        assert_eq!(bp.log_partition().unwrap(), f64::NEG_INFINITY, "{schedule}");
        run(&mut bp, Contradiction::Error, Start::Fresh).unwrap();
        assert!((bp.log_partition().unwrap() - 0.25_f64.ln()).abs() < 1e-12, "{schedule}");
        // Voted against a certain prior.
        bp.set_likelihood(2, &[0.0, 1.0]).unwrap();
        let report = run(&mut bp, Contradiction::Vote, Start::Fresh).unwrap();
        assert!(report.contradictions > 0, "{schedule}");
        let log = bp.log_partition();
        assert!(
            matches!(&log, Ok(log) if *log == f64::NEG_INFINITY)
                || matches!(&log, Err(Error::Contradiction { .. })),
            "{schedule}: {log:?}"
        );
        let mut other = session(&priors(), schedule);
        other.set_likelihood(2, &[1.0, 0.0]).unwrap();
        run(&mut other, Contradiction::Error, Start::Fresh).unwrap();
        assert!(other.log_partition().unwrap().abs() < 1e-12, "{schedule}");
    }
}
