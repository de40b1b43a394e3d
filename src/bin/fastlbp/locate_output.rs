//! What `fastlbp locate` prints: lines for people, or a JSON object per line for programs.

use crate::failure::Outcome;
use crate::standard_streams::{print, standard_output};
use crate::stats::reason_name;
use fastlbp::format::{Dictionary, Marked, six_digits};
use fastlbp::ranking::{Counted, FirstRank, FirstRanks, Suspects};
use fastlbp::{FactorGraph, RunReport};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The k of Top-k.
const TOPS: [usize; 4] = [1, 3, 5, 10];

/// The suspects of one graph.
pub struct Located<'a> {
    pub name: String,
    pub graph: &'a FactorGraph,
    pub names: &'a Dictionary,
    pub candidates: &'a [Marked],
    pub suspects: &'a Suspects,
    /// The ranks of the first faulty one, where it is known.
    pub first: Option<FirstRank>,
    pub report: RunReport,
    /// Reading, preparing and running.
    pub seconds: f64,
}

/// Prints to the standard output.
pub struct Printer {
    is_json: bool,
    /// Number of suspects to print of each graph.
    top: usize,
}

impl Printer {
    /// Errors: the standard output is closed, which is better said before the first run.
    pub fn new(is_json: bool, top: usize) -> Outcome<Self> {
        drop(standard_output()?);
        Ok(Self { is_json, top })
    }

    /// Shows the most suspicious candidates of a graph.
    pub fn graph(&self, located: &Located<'_>) -> Outcome {
        let text = if self.is_json { self.json_of(located) } else { self.text_of(located) };
        print(&text)
    }

    /// Tells programs that a graph has no suspects; people are warned.
    pub fn failed(&self, graph: &str, why: &str) -> Outcome {
        if !self.is_json {
            return Ok(());
        }
        let value = json!({ "event": "failed", "graph": graph, "message": why });
        print(&format!("{value}\n"))
    }

    fn json_of(&self, located: &Located<'_>) -> String {
        let suspects = located.suspects.all().iter().take(self.top);
        let suspects = suspects.map(|suspect| {
            let (label, name) = located.candidate(suspect.candidate);
            json!({
                "label": label,
                "name": name,
                "probability": suspect.probability,
                "best_rank": suspect.best,
                "average_rank": suspect.average(),
                "worst_rank": suspect.worst,
                "faulty": located.candidates[suspect.candidate].mark,
            })
        });
        let value = json!({
            "event": "graph",
            "graph": located.name,
            "candidates": located.candidates.len(),
            "suspects": suspects.collect::<Vec<Value>>(),
            "first_faulty": located.first.map(|first| {
                json!({ "average_rank": first.average, "worst_rank": first.worst })
            }),
            "iterations": located.report.iterations,
            "stop_reason": reason_name(located.report.reason),
            "contradictions": located.report.contradictions,
            "seconds": located.seconds,
        });
        format!("{value}\n")
    }

    fn text_of(&self, located: &Located<'_>) -> String {
        let RunReport { iterations, converged, .. } = located.report;
        let converged = if converged { "converged" } else { "not converged" };
        let mut text = format!(
            "# graph {}: {} candidates, {iterations} iterations, {converged}\n\
             # average-rank worst-rank P(fault) label name\n",
            located.name,
            located.candidates.len(),
        );
        // Writing to a `String` does not fail.
        let all = located.suspects.all();
        for suspect in all.iter().take(self.top) {
            let (label, name) = located.candidate(suspect.candidate);
            let (average, worst) = (suspect.average(), suspect.worst);
            let _ = write!(text, "{average} {worst} {} {label}", six_digits(suspect.probability));
            let _ = match name {
                Some(name) => writeln!(text, " {name}"),
                None => writeln!(text),
            };
        }
        if let Some(last) = all[..self.top.min(all.len())].last()
            && last.worst > self.top
        {
            let _ =
                writeln!(text, "# {} more of the last one's probability", last.worst - self.top);
        }
        if let Some(first) = located.first {
            let _ = writeln!(
                text,
                "# first faulty candidate: average rank {}, worst rank {}",
                six_digits(first.average),
                first.worst
            );
        }
        text
    }

    /// Shows how the faulty candidates were found.
    pub fn summary(&self, ranks: &FirstRanks) -> Outcome {
        if ranks.is_empty() {
            return Ok(());
        }
        let tops = |counted| TOPS.map(|count| ranks.top(count, counted));
        let counted = [("average", Counted::Average), ("worst", Counted::Worst)];
        if self.is_json {
            let of = |counted| {
                let [top_1, top_3, top_5, top_10] = tops(counted);
                json!({
                    "top_1": top_1, "top_3": top_3, "top_5": top_5, "top_10": top_10,
                    "mean_first_rank": ranks.mean(counted),
                })
            };
            let mut value = json!({ "event": "summary", "graphs": ranks.len() });
            for (name, counted) in counted {
                value[name] = of(counted);
            }
            return print(&format!("{value}\n"));
        }
        let graphs = if ranks.len() == 1 { "graph" } else { "graphs" };
        let mut text = format!("# {} {graphs} with known faults\n", ranks.len());
        for (name, counted) in counted {
            let [top_1, top_3, top_5, top_10] = tops(counted);
            let mean = ranks.mean(counted).map_or("-".into(), six_digits);
            let _ = writeln!(
                text,
                "# by {name} rank: Top-1 {top_1}, Top-3 {top_3}, Top-5 {top_5}, Top-10 {top_10}, \
                 mean first rank {mean}"
            );
        }
        print(&text)
    }
}

impl Located<'_> {
    /// Label and name of a candidate.
    pub fn candidate(&self, place: usize) -> (u64, Option<&str>) {
        let Marked { variable, name, .. } = &self.candidates[place];
        (self.graph.label(*variable), name.as_deref().or_else(|| self.names.name(*variable)))
    }
}
