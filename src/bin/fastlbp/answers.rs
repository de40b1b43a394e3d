//! What `fastlbp infer` prints.

use crate::activity::Activity;
use crate::failure::{Failure, Outcome};
use crate::standard_streams::standard_output;
use fastlbp::format::{
    NamedGraph, push_f64, save_text, write_marginals_of_to, write_marginals_to, write_states_to,
};
use std::io::{self, Write};
use std::path::Path;

/// The results of a run.
pub struct Answer {
    pub beliefs: Beliefs,
    pub log_partition: Option<f64>,
}

/// The results for the variables.
pub enum Beliefs {
    Marginals(Vec<f64>),
    /// The most probable joint state that was found.
    Maximum {
        states: Vec<usize>,
        log_score: f64,
    },
}

/// A section of the output: the results of one entry of a batch, or of the only run.
pub struct Section<'a> {
    pub entry: Option<&'a str>,
    /// The results, or the reason why there are none.
    pub answer: Result<&'a Answer, &'a str>,
}

/// Writes the sections to a file, or to the standard output without one.
pub fn write_sections(
    path: Option<&Path>, graph: NamedGraph<'_>, queries: Option<&[usize]>, sections: &[Section<'_>],
) -> Outcome {
    let write = |sink: &mut dyn Write| {
        sections.iter().try_for_each(|section| write_section(graph, queries, section, sink))
    };
    if let Some(path) = path {
        let _activity = Activity::start("writing");
        return save_text(path, write).map_err(Failure::output);
    }
    let mut output = standard_output()?;
    let written = write(&mut output).and_then(|()| output.flush());
    written.map_err(|error| Failure::standard_output(&error))
}

fn write_section(
    graph: NamedGraph<'_>, queries: Option<&[usize]>, section: &Section<'_>, sink: &mut dyn Write,
) -> io::Result<()> {
    if let Some(name) = section.entry {
        writeln!(sink, "# entry {name}")?;
    }
    let answer = match &section.answer {
        Ok(answer) => answer,
        Err(why) => return writeln!(sink, "# failed: {why}"),
    };
    if let Some(value) = answer.log_partition {
        writeln!(sink, "# log-partition {}", number(value))?;
    }
    match (&answer.beliefs, queries) {
        (Beliefs::Marginals(marginals), None) => write_marginals_to(graph, marginals, sink),
        (Beliefs::Marginals(marginals), Some(queries)) => {
            write_marginals_of_to(graph, marginals, queries, sink)
        }
        (Beliefs::Maximum { states, log_score }, queries) => {
            let what = if graph.names().is_some() { "name" } else { "label" };
            writeln!(sink, "# {what} state; log-score {}", number(*log_score))?;
            write_states_to(graph, states, queries, sink)
        }
    }
}

/// The shortest text that reads back to the same value.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let mut text = Vec::new();
    push_f64(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}
