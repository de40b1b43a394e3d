//! The page of `fastlbp rank --report`.

use super::figures::{Axes, Series, lines};
use super::page::Page;
use super::sections::{convergence, facts, levels, probabilities, time};
use crate::failure::Outcome;
use crate::observe::ObservedRun;
use crate::rank_output::{Summary, describe, rank_text};
use fastlbp::format::{Dictionary, six_digits};
use fastlbp::ranking::Inspection;

/// As many of the alarms that are left are listed.
const LISTED: usize = 20;

/// The page of an inspection; `read` is the time for reading and preparing.
pub fn page(
    graph: &str, inspection: &Inspection, names: &Dictionary, observed: &[ObservedRun],
    summary: &Summary, read: f64,
) -> Outcome<Page> {
    let mut page = Page::new(&format!("fastlbp rank {graph}"));
    facts(&mut page, inspection.session());
    page.heading("The answers");
    let mut measures = vec![
        ("alarms", inspection.alarms().len().to_string()),
        ("answers", summary.answers.to_string()),
        ("true alarms among them", summary.found.to_string()),
    ];
    if let Some(quality) = &summary.quality {
        if let Some(differing) = summary.differing {
            measures.push(("answers that differ from the list of alarms", differing.to_string()));
        }
        measures.push(("inversions", quality.inversions.to_string()));
        measures.push(("Rank-100%-T", rank_text(quality.ranks.all)));
        measures.push(("Rank-90%-T", rank_text(quality.ranks.ninety_percent)));
    }
    page.facts(&measures);
    answers(&mut page, inspection, summary)?;
    if !inspection.order().is_empty() {
        page.heading("The alarms that are left");
        page.table(
            &["rank", "probability", "alarm"],
            (1..).zip(inspection.order()).take(LISTED).map(|(rank, ranked)| {
                let alarm = describe(inspection, names, ranked.alarm);
                vec![i32::to_string(&rank), six_digits(ranked.probability), alarm]
            }),
        );
        let points = (1..).zip(inspection.order());
        let points = points.map(|(rank, ranked)| (f64::from(rank), ranked.probability));
        let series = Series { name: String::new(), points: points.collect() };
        let axes = Axes { x: "rank", y: "probability", is_logarithmic: false };
        page.figure("Their probabilities, in their order", lines(&axes, &[series])?);
    }
    page.heading("The runs");
    convergence(&mut page, observed)?;
    probabilities(&mut page, inspection.session())?;
    levels(&mut page, inspection.session())?;
    let all: f64 = summary.timing.after_answers.iter().sum();
    let parts = [
        ("reading", read),
        ("preparing, and the run before the first answer", summary.timing.first),
        ("runs after answers", all),
    ];
    time(&mut page, &parts)?;
    Ok(page)
}

/// True alarms over answers, and over the time of the runs where all of them were made by this process.
fn answers(page: &mut Page, inspection: &Inspection, summary: &Summary) -> Outcome {
    let mut found = 0;
    let found: Vec<f64> = inspection
        .answers()
        .iter()
        .map(|answer| {
            found += u32::from(answer.is_true);
            f64::from(found)
        })
        .collect();
    let figure = |x, points: Vec<(f64, f64)>| {
        let axes = Axes { x, y: "true alarms", is_logarithmic: false };
        lines(&axes, &[Series { name: String::new(), points }])
    };
    let counts = (1..).zip(&found).map(|(count, &found)| (f64::from(count), found));
    let over_answers = std::iter::once((0.0, 0.0)).chain(counts);
    if !found.is_empty() {
        page.figure(
            "True alarms that so many answers have found",
            figure("answers", over_answers.collect())?,
        );
    }
    let timing = &summary.timing;
    if timing.after_answers.len() == found.len() && !found.is_empty() {
        // An alarm is known once it was asked about, which needs the run before.
        let mut seconds = timing.first;
        let mut points = vec![(0.0, 0.0)];
        for (&found, after) in found.iter().zip(&timing.after_answers) {
            points.push((seconds, found));
            seconds += after;
        }
        page.figure("True alarms over the time of the runs", figure("seconds", points)?);
    }
    Ok(())
}
