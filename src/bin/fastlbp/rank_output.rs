//! What `fastlbp rank` prints: lines for people, or a JSON object per line for programs.

use crate::failure::Outcome;
use crate::standard_streams::{print, standard_output};
use crate::stats::reason_name;
use fastlbp::RunReport;
use fastlbp::format::{Dictionary, six_digits};
use fastlbp::ranking::{Derivation, Inspection, Quality, Ranked};
use serde_json::{Value, json};
use std::io::{IsTerminal, stdin};

/// How many alarms after the first one are shown.
const SHOWN: usize = 3;

/// The keys of the dialog.
pub const KEYS: &str = "y, n, ? (why), u (undo), s (save), q (quit)";

/// A run and how long it took.
#[derive(Clone, Copy)]
pub struct Run {
    pub report: RunReport,
    pub seconds: f64,
}

/// Prints to the standard output.
pub struct Printer {
    is_json: bool,
    /// Whether a person types the answers: then they are on the line of the question.
    is_typed: bool,
}

/// The measures at the end.
pub struct Summary {
    /// Where the truth is known.
    pub quality: Option<Quality>,
    /// Number of answers that differ from the truth, where that is the one in the list of alarms.
    pub differing: Option<usize>,
    pub answers: usize,
    pub found: usize,
    pub open: usize,
    pub timing: Timing,
}

/// Seconds of the runs of this process.
#[derive(Default)]
pub struct Timing {
    pub first: f64,
    pub after_answers: Vec<f64>,
}

impl Printer {
    /// Errors: the standard output is closed, which is better said before the first run.
    pub fn new(is_json: bool) -> Outcome<Self> {
        drop(standard_output()?);
        Ok(Self { is_json, is_typed: stdin().is_terminal() })
    }

    /// Shows the next alarm and some after it.
    pub fn question(&self, inspection: &Inspection, names: &Dictionary, run: Run) -> Outcome {
        let Some((first, then)) = inspection.order().split_first() else { return Ok(()) };
        let then = &then[..then.len().min(SHOWN)];
        if self.is_json {
            let value = |ranked: &Ranked| {
                let mut value = alarm(inspection, names, ranked.alarm);
                value["probability"] = json!(ranked.probability);
                value
            };
            let Run { report, seconds } = run;
            return print_json(&json!({
                "event": "question",
                "answers": inspection.answers().len(),
                "alarm": value(first),
                "next": then.iter().map(value).collect::<Vec<_>>(),
                "iterations": report.iterations,
                "stop_reason": reason_name(report.reason),
                "contradictions": report.contradictions,
                "seconds": seconds,
            }));
        }
        let told = |ranked: &Ranked| {
            let alarm = describe(inspection, names, ranked.alarm);
            format!("{alarm} {}", six_digits(ranked.probability))
        };
        let mut text = format!("alarm {}: {}\n", inspection.answers().len() + 1, told(first));
        for ranked in then {
            text += &format!("  then {}\n", told(ranked));
        }
        print(&text)
    }

    /// Asks a person; programs know what comes next.
    pub fn ask(&self) -> Outcome {
        match (self.is_json, self.is_typed) {
            (true, _) => Ok(()),
            (false, true) => print(&format!("a true alarm? {KEYS}: ")),
            (false, false) => print(&format!("a true alarm? {KEYS}\n")),
        }
    }

    /// Ends the line of a question that has no answer.
    pub fn end_of_input(&self) -> Outcome {
        match self.is_typed && !self.is_json {
            true => print("\n"),
            false => Ok(()),
        }
    }

    /// Shows an answer that was taken from a file.
    pub fn answer(
        &self, inspection: &Inspection, names: &Dictionary, ranked: Ranked, is_true: bool, run: Run,
    ) -> Outcome {
        let number = inspection.answers().len() + 1;
        if self.is_json {
            let mut value = alarm(inspection, names, ranked.alarm);
            value["event"] = json!("answer");
            value["number"] = json!(number);
            value["probability"] = json!(ranked.probability);
            value["answer"] = json!(is_true);
            // Of the run that has ranked it.
            value["iterations"] = json!(run.report.iterations);
            value["seconds"] = json!(run.seconds);
            return print_json(&value);
        }
        let alarm = describe(inspection, names, ranked.alarm);
        print(&format!("{number} {is_true} {} {alarm}\n", six_digits(ranked.probability)))
    }

    /// Says what a command has done, or why it cannot be done.
    pub fn told(&self, event: &str, text: &str) -> Outcome {
        match self.is_json {
            true => print_json(&json!({ "event": event, "message": text })),
            false => print(&format!("{text}\n")),
        }
    }

    /// Shows the derivations of a variable.
    pub fn why(
        &self, inspection: &Inspection, names: &Dictionary, variable: usize, probability: f64,
        derivations: &[Derivation],
    ) -> Outcome {
        let graph = inspection.session().graph();
        if self.is_json {
            let named = |variable: usize, probability: Option<f64>| {
                json!({
                    "label": graph.label(variable),
                    "name": name_of(inspection, names, variable),
                    "probability": probability,
                })
            };
            let derivation = |derivation: &Derivation| {
                let premises = derivation.premises.iter();
                json!({
                    "label": derivation.variable.map(|variable| graph.label(variable)),
                    "name": derivation.variable.and_then(|variable| name_of(inspection, names, variable)),
                    "probability": derivation.probability,
                    "strength": derivation.strength,
                    "premises": premises.map(|&(v, p)| named(v, Some(p))).collect::<Vec<_>>(),
                })
            };
            let mut value = named(variable, Some(probability));
            value["event"] = json!("why");
            value["derivations"] = derivations.iter().map(derivation).collect();
            return print_json(&value);
        }
        let name = |variable: usize| describe_variable(inspection, names, variable);
        let mut text = format!("{} {}\n", name(variable), six_digits(probability));
        if derivations.is_empty() {
            text += "  nothing derives it: it is an input of the graph\n";
        }
        for (number, derivation) in (1..).zip(derivations) {
            let probability = derivation.probability.map(six_digits);
            text += &format!("  derivation {number}: {}", probability.as_deref().unwrap_or("-"));
            if let Some(strength) = derivation.strength {
                text += &format!(", a rule of probability {}", six_digits(strength));
            }
            if let Some(variable) = derivation.variable {
                text += &format!(", label {}", graph.label(variable));
            }
            text.push('\n');
            for &(premise, probability) in &derivation.premises {
                text += &format!("    {} {}\n", six_digits(probability), name(premise));
            }
        }
        print(&text)
    }

    /// Shows the measures at the end.
    pub fn summary(&self, summary: &Summary) -> Outcome {
        let Summary { quality, differing, answers, found, open, timing } = summary;
        let seconds = &timing.after_answers;
        if self.is_json {
            let mut value = json!({
                "event": "summary",
                "answers": answers,
                "true": found,
                "open": open,
                "first_seconds": timing.first,
                "seconds_per_answer": mean(seconds),
                "most_seconds": seconds.iter().copied().reduce(f64::max),
            });
            if let Some(quality) = quality {
                value["all_true"] = json!(quality.all_true);
                value["inversions"] = json!(quality.inversions);
                value["rank_100"] = json!(quality.ranks.all);
                value["rank_90"] = json!(quality.ranks.ninety_percent);
            }
            if let Some(differing) = differing {
                value["differing_answers"] = json!(differing);
            }
            return print_json(&value);
        }
        let mut text = format!("# answers {answers}, true {found}, open {open}\n");
        if let Some(quality) = quality {
            if let Some(differing) = differing {
                text += &by_list(*differing, *answers);
            }
            text += &format!("# inversions {}\n", quality.inversions);
            text += &format!("# Rank-100%-T {}\n", rank_text(quality.ranks.all));
            text += &format!("# Rank-90%-T {}\n", rank_text(quality.ranks.ninety_percent));
        }
        print(&text)
    }
}

/// After how many answers enough true alarms were found.
pub fn rank_text(rank: Option<usize>) -> String {
    rank.map_or("not reached".into(), |rank| rank.to_string())
}

/// Says what the measures are measured by, as answers of a person need not be those of the list.
fn by_list(differing: usize, answers: usize) -> String {
    let differ = if differing == 1 { "differs" } else { "differ" };
    format!(
        "# by the truth in the list of alarms, from which {differing} of {answers} answers {differ}:\n"
    )
}

fn print_json(value: &Value) -> Outcome {
    print(&format!("{value}\n"))
}

/// The mean of some times; `None` without any.
pub fn mean(seconds: &[f64]) -> Option<f64> {
    (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
}

/// The name of an alarm by its place, and its label.
pub fn describe(inspection: &Inspection, names: &Dictionary, place: usize) -> String {
    describe_variable(inspection, names, inspection.alarms()[place].variable)
}

/// The name of a variable, and its label.
fn describe_variable(inspection: &Inspection, names: &Dictionary, variable: usize) -> String {
    let label = inspection.session().graph().label(variable);
    match name_of(inspection, names, variable) {
        Some(name) => format!("{name} ({label})"),
        None => label.to_string(),
    }
}

/// The name of a variable in the dictionary, or, if it is that of an alarm, in their list.
fn name_of<'a>(
    inspection: &'a Inspection, names: &'a Dictionary, variable: usize,
) -> Option<&'a str> {
    let listed = || inspection.alarms()[inspection.alarm_at(variable)?].name.as_deref();
    names.name(variable).or_else(listed)
}

fn alarm(inspection: &Inspection, names: &Dictionary, place: usize) -> Value {
    let variable = inspection.alarms()[place].variable;
    json!({
        "label": inspection.session().graph().label(variable),
        "name": name_of(inspection, names, variable),
    })
}
