//! The page of `fastlbp infer --report`.

use super::page::Page;
use super::sections::{convergence, facts, levels, outcome, probabilities, time};
use crate::failure::Outcome;
use crate::observe::ObservedRun;
use crate::stats::{Seconds, reason_name};
use fastlbp::{BeliefPropagation, RunReport};

/// A run, and what came of it.
pub struct Ended<'a> {
    /// Of an entry of a batch.
    pub entry: Option<&'a str>,
    /// Or why there are no results.
    pub report: Result<&'a RunReport, &'a str>,
}

/// The page of some runs of a graph.
pub fn page(
    graph: &str, session: &BeliefPropagation, observed: &[ObservedRun], runs: &[Ended<'_>],
    seconds: &Seconds,
) -> Outcome<Page> {
    let mut page = Page::new(&format!("fastlbp infer {graph}"));
    facts(&mut page, session);
    match runs {
        [Ended { entry: None, report }] => {
            page.heading("The run");
            match report {
                Ok(report) => outcome(&mut page, report),
                Err(why) => page.paragraph(why),
            }
        }
        runs => {
            page.heading("The entries");
            page.table(
                &["entry", "iterations", "ended by", "largest change", "contradictions"],
                runs.iter().map(row),
            );
        }
    }
    convergence(&mut page, observed)?;
    if let [Ended { entry: None, report: Ok(_) }] = runs {
        probabilities(&mut page, session)?;
    }
    levels(&mut page, session)?;
    let Seconds { read, analyse, prepare, run, write } = *seconds;
    let mut parts = vec![("reading", read), ("preparing", prepare), ("running", run)];
    parts.push(("writing", write));
    // For --stats only.
    parts.extend((analyse > 1e-4).then_some(("analysing the schedule", analyse)));
    time(&mut page, &parts)?;
    Ok(page)
}

fn row(ended: &Ended<'_>) -> Vec<String> {
    let name = ended.entry.unwrap_or_default().to_string();
    match ended.report {
        Ok(report) => vec![
            name,
            report.iterations.to_string(),
            reason_name(report.reason).to_string(),
            format!("{:.3e}", report.max_diff),
            report.contradictions.to_string(),
        ],
        Err(why) => vec![name, why.to_string()],
    }
}
