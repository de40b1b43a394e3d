//! What the pages of `--report` show of every command: graph and session, convergence, probabilities, the widths of
//! levels, and where the time went.

use super::figures::{Axes, Series, duration, histogram, lines, times};
use super::page::Page;
use crate::failure::Outcome;
use crate::observe::{Iteration, ObservedRun};
use crate::stats::reason_name;
use fastlbp::{BeliefPropagation, RunReport, Schedule, VariableEvidence};

/// As many runs have a line in the figures: the first and the last ones.
const SHOWN_RUNS: usize = 6;

/// The graph of a session, and how it is run.
pub fn facts(page: &mut Page, session: &BeliefPropagation) {
    let graph = session.graph();
    page.facts(&[
        ("variables", graph.variable_count().to_string()),
        ("factors", graph.factor_count().to_string()),
        ("edges", graph.edge_count().to_string()),
        ("schedule", session.schedule().name().to_string()),
        ("backend", session.backend().name().to_string()),
        ("threads", session.threads().to_string()),
        ("observed variables", session.evidence().iter().count().to_string()),
    ]);
}

/// How a run ended.
pub fn outcome(page: &mut Page, report: &RunReport) {
    page.facts(&[
        ("iterations", report.iterations.to_string()),
        ("ended by", reason_name(report.reason).to_string()),
        ("largest change at the end", format!("{:.3e}", report.max_diff)),
        ("most contradictory places in an iteration", report.contradictions.to_string()),
    ]);
}

/// Largest changes, shares of unconverged variables, and contradictions over the iterations of some runs.
pub fn convergence(page: &mut Page, runs: &[ObservedRun]) -> Outcome {
    let half = SHOWN_RUNS / 2;
    let is_shown = |position: usize| position < half || runs.len() - position <= SHOWN_RUNS - half;
    let shown = || runs.iter().enumerate().filter(|(position, _)| is_shown(*position));
    let series = |value: fn(&Iteration) -> Option<f64>| -> Vec<Series> {
        let line = |run: &ObservedRun| Series {
            // A single one needs no name.
            name: if runs.len() > 1 { run.name.clone() } else { String::new() },
            points: run
                .iterations
                .iter()
                .filter_map(|iteration| Some((iteration.number as f64, value(iteration)?)))
                .collect(),
        };
        shown().map(|(_, run)| line(run)).collect()
    };
    if shown().count() < runs.len() {
        page.paragraph(&format!(
            "Of {} runs, the first and the last {half} are drawn.",
            runs.len()
        ));
    }
    let axes = |y, is_logarithmic| Axes { x: "iteration", y, is_logarithmic };
    page.figure(
        "Convergence: the largest change of a probability in each iteration",
        lines(&axes("largest change", true), &series(|it| Some(it.largest_change)))?,
    );
    page.figure(
        "The share of what has not converged: changed by more than the tolerance in the iteration",
        lines(&axes("unconverged, %", false), &series(|it| Some(it.unconverged? * 100.0)))?,
    );
    let contradicts = |run: &ObservedRun| {
        run.iterations.iter().any(|iteration| iteration.contradictions.is_some_and(|n| n > 0))
    };
    if runs.iter().any(contradicts) {
        page.figure(
            "Places where deterministic messages disagree",
            lines(
                &axes("contradictory places", false),
                &series(|it| Some(it.contradictions? as f64)),
            )?,
        );
    }
    Ok(())
}

/// How the probabilities are distributed, those of state 1 of binary variables by index.
pub fn probabilities(page: &mut Page, session: &BeliefPropagation) -> Outcome {
    let graph = session.graph();
    let is_shown = |&v: &usize| {
        graph.cardinality(v) == 2
            && !matches!(session.evidence().get(v), Some(VariableEvidence::Observed(_)))
    };
    let variables = (0..graph.variable_count()).filter(is_shown);
    let probabilities: Result<Vec<f64>, _> = variables.map(|v| session.probability(v)).collect();
    page.figure(
        "Probabilities of the binary variables that are not observed",
        histogram("P(x=1)", "variables", &probabilities?)?,
    );
    Ok(())
}

/// How many messages each level has; nothing for SEQMAX, which has no levels.
pub fn levels(page: &mut Page, session: &BeliefPropagation) -> Outcome {
    if let Schedule::MaximumResidual { .. } = session.schedule() {
        return Ok(());
    }
    let widths = session.level_widths()?;
    if let [width] = widths {
        page.paragraph(&format!(
            "An iteration has one level: all {width} messages are updated at once."
        ));
        return Ok(());
    }
    let points = (1..).zip(widths).map(|(level, &width)| (f64::from(level), f64::from(width)));
    let series = Series { name: String::new(), points: points.collect() };
    let axes = Axes { x: "level", y: "messages", is_logarithmic: true };
    let caption = format!(
        "The {} levels of an iteration: so many messages are updated at once, one level after the other",
        widths.len()
    );
    page.figure(&caption, lines(&axes, &[series])?);
    Ok(())
}

/// Where the time went.
pub fn time(page: &mut Page, parts: &[(&str, f64)]) -> Outcome {
    let total = parts.iter().map(|(_, seconds)| seconds).sum();
    page.figure(&format!("Where the time went: {} in all", duration(total)), times(parts)?);
    Ok(())
}
