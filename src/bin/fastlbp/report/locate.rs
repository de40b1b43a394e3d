//! The page of `fastlbp locate --report`: a section per graph.

use super::figures::{Axes, Series, lines};
use super::page::Page;
use super::sections::{convergence, facts, levels, outcome, probabilities, time};
use crate::failure::Outcome;
use crate::locate_output::Located;
use crate::observe::ObservedRun;
use fastlbp::BeliefPropagation;
use fastlbp::format::six_digits;

/// Begins the page of so many graphs.
pub fn begin(graphs: usize) -> Page {
    let graphs = if graphs == 1 { "1 graph".into() } else { format!("{graphs} graphs") };
    Page::new(&format!("fastlbp locate: {graphs}"))
}

/// Adds a graph: `top` of its candidates are listed, and all drawn.
pub fn section(
    page: &mut Page, located: &Located<'_>, session: &BeliefPropagation, top: usize,
    observed: &[ObservedRun], parts: &[(&str, f64)],
) -> Outcome {
    page.heading(&located.name);
    facts(page, session);
    outcome(page, &located.report);
    if let Some(first) = located.first {
        page.facts(&[
            ("average rank of the first faulty candidate", six_digits(first.average)),
            ("its worst rank", first.worst.to_string()),
        ]);
    }
    let suspects = located.suspects.all();
    page.table(
        &["average rank", "worst rank", "P(fault)", "label", "name"],
        suspects.iter().take(top).map(|suspect| {
            let (label, name) = located.candidate(suspect.candidate);
            vec![
                suspect.average().to_string(),
                suspect.worst.to_string(),
                six_digits(suspect.probability),
                label.to_string(),
                name.unwrap_or_default().to_string(),
            ]
        }),
    );
    let points = (1..).zip(suspects).map(|(rank, suspect)| (f64::from(rank), suspect.probability));
    let series = Series { name: String::new(), points: points.collect() };
    let axes = Axes { x: "rank", y: "P(fault)", is_logarithmic: false };
    page.figure("Probabilities of all candidates, in their order", lines(&axes, &[series])?);
    convergence(page, observed)?;
    probabilities(page, session)?;
    levels(page, session)?;
    time(page, parts)
}

/// Adds a graph that has no suspects.
pub fn failed(page: &mut Page, graph: &str, why: &str) {
    page.heading(graph);
    page.paragraph(why);
}
