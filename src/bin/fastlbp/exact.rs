//! `fastlbp infer --exact`: results by a junction tree in place of runs.

use crate::activity::Activity;
use crate::answers::{Answer, Beliefs, Section, ShowArguments, View, write_sections};
use crate::failure::{Failure, Outcome};
use crate::inputs::{Inputs, run_failure};
use crate::messages::warn;
use crate::signals;
use fastlbp::exact::DEFAULT_TABLE_LIMIT;
use fastlbp::format::NamedGraph;
use fastlbp::{EngineOptions, Evidence, ExactInference, Inference};
use std::path::Path;

/// How to infer exactly.
#[derive(clap::Args)]
pub struct ExactArguments {
    /// Infer exactly, by a junction tree, with the same output: for seeing how far belief propagation is off, and for graphs
    /// of small treewidth. Time and memory grow exponentially with the treewidth of the graph without the observed
    /// variables; where they are too large, it is an error. Not with options of runs
    #[arg(long, conflicts_with_all = [
        "schedule", "ranks", "blocks", "seed", "log_domain", "iterations", "tolerance", "max_iterations", "stop_on",
        "bingo", "max_time", "damping", "active", "contradiction", "threads", "backend", "device", "no_compile", "stats", "trace", "report",
    ])]
    pub exact: bool,

    /// Most entries of all tables of --exact together, 16 to 24 bytes each
    #[arg(long, allow_negative_numbers = true, value_name = "N", requires = "exact", default_value_t = DEFAULT_TABLE_LIMIT)]
    exact_limit: usize,
}

/// What is asked for.
pub struct Question<'a> {
    pub inference: Inference,
    pub map: bool,
    pub log_partition: bool,
    pub output: Option<&'a Path>,
    pub show: &'a ShowArguments,
}

/// Answers for the evidence, or for all entries of the batch.
pub fn infer(arguments: &ExactArguments, question: &Question<'_>, inputs: Inputs) -> Outcome {
    let Inputs { graph, names, dictionary, evidence, entries, queries, .. } = inputs;
    let named = NamedGraph::new(&graph, names.as_ref())?;
    let answer = |evidence: &Evidence| -> Outcome<Answer> {
        let limit = arguments.exact_limit;
        let exact = ExactInference::new(graph.clone(), evidence, question.inference, limit)
            .map_err(|error| run_failure(error, named))?;
        let beliefs = match question.map {
            true => {
                Beliefs::Maximum { states: exact.find_maximum()?, log_score: exact.log_partition() }
            }
            false => Beliefs::Marginals(exact.marginals().to_vec()),
        };
        let log_partition = question.log_partition.then(|| exact.log_partition());
        Ok(Answer { beliefs, log_partition })
    };
    let activity = Activity::start("computing exactly");
    let answers: Vec<(Option<String>, Outcome<Answer>)> = match entries {
        None => vec![(None, Ok(answer(&evidence)?))],
        Some(entries) => entries
            .into_iter()
            .map(|entry| match signals::received() {
                Some(_) => (Some(entry.name), Err(Failure::NotRun)),
                None => (Some(entry.name), answer(&entry.evidence)),
            })
            .collect(),
    };
    drop(activity);
    for (entry, answer) in &answers {
        if let (Some(name), Err(failure)) = (entry, answer) {
            warn(format!("entry {name}: {}", failure.text()));
        }
    }
    let sections: Vec<Section<'_>> = answers
        .iter()
        .map(|(entry, answer)| Section {
            entry: entry.as_deref(),
            answer: answer.as_ref().map_err(Failure::text),
            report: None,
            text: None,
        })
        .collect();
    let view = View {
        show: question.show,
        graph: named,
        names: dictionary.as_ref(),
        queries: queries.as_deref(),
    };
    write_sections(question.output, view, &sections, EngineOptions::default().thread_limit())?;
    let mut failures = answers.iter().filter_map(|(_, answer)| answer.as_ref().err()).peekable();
    match failures.peek() {
        Some(_) => Err(Failure::of_entries(failures, answers.len())),
        None => Ok(()),
    }
}
