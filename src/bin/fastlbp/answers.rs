//! What `fastlbp infer` prints: as text, or as JSON.

use crate::activity::Activity;
use crate::failure::{Failure, Outcome};
use crate::in_order::in_order;
use crate::standard_streams::standard_output;
use crate::stats::RunStats;
use fastlbp::format::{
    Dictionary, NamedGraph, describe_variable, push_f64, save_text, write_marginals_of_to,
    write_marginals_to, write_states_to,
};
use fastlbp::{FactorGraph, RunReport};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
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
    /// The run that they are of; exact results are of none.
    pub report: Option<&'a RunReport>,
    /// The text, where it has been made already.
    pub text: Option<&'a [u8]>,
}

/// How the results are shown.
#[derive(clap::Args)]
pub struct ShowArguments {
    /// Print the variables by falling probability of 1 (with more states, of another one than 0), those of equal
    /// probability by ascending label
    #[arg(long, conflicts_with = "map")]
    sort: bool,

    /// Print only the K most probable variables; implies --sort
    #[arg(short = 'k', long, allow_negative_numbers = true, value_name = "K", conflicts_with = "map", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,

    /// Print one JSON object, in a batch one per line and entry: how the run ended, and the probabilities of all states of
    /// each variable
    #[arg(long)]
    json: bool,
}

/// Results are shown like this.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub show: &'a ShowArguments,
    pub graph: NamedGraph<'a>,
    /// Names of --names or of --queries, which stand beside labels.
    pub names: Option<&'a Dictionary>,
    /// The variables to show, if not all of them.
    pub queries: Option<&'a [usize]>,
}

/// Probabilities of the sections that are texts at once: a text has some 15 to 30 bytes for each.
const STATES_AT_ONCE: usize = 1 << 25;

/// Writes the sections to a file, or to the standard output without one; they become texts on so many threads.
pub fn write_sections(
    path: Option<&Path>, view: View<'_>, sections: &[Section<'_>], threads: usize,
) -> Outcome {
    let write = |sink: &mut dyn Write| view.write_sections(sections, threads, sink);
    if let Some(path) = path {
        let _activity = Activity::start("writing");
        return save_text(path, write).map_err(Failure::output);
    }
    let mut output = standard_output()?;
    let written = write(&mut output).and_then(|()| output.flush());
    written.map_err(|error| Failure::standard_output(&error))
}

/// Writes through a buffer, without flushing what is behind it: that would be seen in what gzip makes of it. After an error,
/// what is left in the buffer is dropped.
fn buffered(
    sink: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut sink = BufWriter::with_capacity(1 << 16, sink);
    if let Err(error) = write(&mut sink) {
        drop(sink.into_parts());
        return Err(error);
    }
    sink.into_inner().map(drop).map_err(|error| {
        let (error, sink) = error.into_parts();
        drop(sink.into_parts());
        error
    })
}

impl View<'_> {
    /// So many threads at most make texts of sections of this graph, so that these do not take too much memory.
    pub fn threads(&self, threads: usize) -> usize {
        threads.min((STATES_AT_ONCE / self.graph.graph().state_count().max(1)).max(1))
    }

    /// Whether so few variables are shown that their text is shorter than the marginals of all.
    pub fn shows_few(&self) -> bool {
        let top = self.show.top.map_or(usize::MAX, |top| top as usize);
        let shown = self.queries.map_or(usize::MAX, <[usize]>::len).min(top);
        shown <= self.graph.graph().variable_count() / 8
    }

    /// Writes the sections in their order; they become texts on so many threads.
    pub fn write_sections(
        &self, sections: &[Section<'_>], threads: usize, sink: &mut dyn Write,
    ) -> io::Result<()> {
        let threads = self.threads(threads);
        if threads < 2 || sections.len() < 2 {
            // Without the whole text of a section in memory.
            let write = |sink: &mut dyn Write| {
                sections.iter().try_for_each(|section| self.write(section, sink))
            };
            return buffered(sink, write);
        }
        in_order(threads, sections, |section| self.text(section), |text| sink.write_all(&text?))
    }

    /// The text of a section.
    pub fn text(&self, section: &Section<'_>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        self.write(section, &mut text)?;
        Ok(text)
    }

    fn write(&self, section: &Section<'_>, sink: &mut dyn Write) -> io::Result<()> {
        match (section.text, self.show.json) {
            (Some(text), _) => sink.write_all(text),
            (None, true) => self.write_json(section, sink),
            (None, false) => self.write_text(section, sink),
        }
    }
}

impl View<'_> {
    /// The variables to show, in their order; `None` for all of them.
    fn variables(&self, beliefs: &Beliefs) -> Option<Cow<'_, [usize]>> {
        let ShowArguments { sort, top, .. } = *self.show;
        let Beliefs::Marginals(marginals) = beliefs else { return self.queries.map(Cow::Borrowed) };
        if !sort && top.is_none() {
            return self.queries.map(Cow::Borrowed);
        }
        let weights: Vec<f64> = Probabilities::new(self.graph.graph(), marginals)
            .map(|probabilities| probabilities.iter().skip(1).sum())
            .collect();
        let mut variables = match self.queries {
            Some(queries) => queries.to_vec(),
            None => (0..weights.len()).collect(),
        };
        // Only one that is asked for twice is equal to another one.
        let order = |&a: &usize, &b: &usize| weights[b].total_cmp(&weights[a]).then(a.cmp(&b));
        if let Some(top) = top.map(|top| top as usize)
            && top < variables.len()
        {
            variables.select_nth_unstable_by(top, order);
            variables.truncate(top);
        }
        variables.sort_unstable_by(order);
        Some(Cow::Owned(variables))
    }

    fn write_text(&self, section: &Section<'_>, sink: &mut dyn Write) -> io::Result<()> {
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
        let variables = self.variables(&answer.beliefs);
        if let Some(names) = self.names {
            return self.write_named(names, &answer.beliefs, variables.as_deref(), sink);
        }
        match (&answer.beliefs, variables) {
            (Beliefs::Marginals(marginals), None) => {
                write_marginals_to(self.graph, marginals, sink)
            }
            (Beliefs::Marginals(marginals), Some(variables)) => {
                write_marginals_of_to(self.graph, marginals, &variables, sink)
            }
            (Beliefs::Maximum { states, log_score }, variables) => {
                let what = if self.graph.names().is_some() { "name" } else { "label" };
                writeln!(sink, "# {what} state; log-score {}", number(*log_score))?;
                write_states_to(self.graph, states, variables.as_deref(), sink)
            }
        }
    }

    /// A line per variable with its label, what is known of it, and its name, if it has one.
    fn write_named(
        &self, names: &Dictionary, beliefs: &Beliefs, variables: Option<&[usize]>,
        sink: &mut dyn Write,
    ) -> io::Result<()> {
        let graph = self.graph.graph();
        match beliefs {
            Beliefs::Maximum { log_score, .. } => {
                writeln!(sink, "# label state name; log-score {}", number(*log_score))?;
            }
            Beliefs::Marginals(_) if graph.all_binary() => writeln!(sink, "# label P(x=1) name")?,
            Beliefs::Marginals(_) => {
                let text = "# label P(x=1) name; with more than two states: label P(x=0) P(x=1) P(x=2) ... name";
                writeln!(sink, "{text}")?;
            }
        }
        let mut line = Vec::new();
        let write = |variable: usize, values: &[f64], state: Option<usize>| {
            line.clear();
            write!(line, "{}", graph.label(variable))?;
            if let Some(state) = state {
                write!(line, " {state}")?;
            }
            let shown = if values.len() == 2 { &values[1..] } else { values };
            for &value in shown {
                line.push(b' ');
                push_f64(&mut line, value);
            }
            if names.name(variable).is_some() {
                write!(line, " {}", describe_variable(graph, names, variable))?;
            }
            line.push(b'\n');
            sink.write_all(&line)
        };
        self.each(beliefs, variables, write)
    }

    fn write_json(&self, section: &Section<'_>, sink: &mut dyn Write) -> io::Result<()> {
        let graph = self.graph.graph();
        let mut object = JsonSection {
            entry: section.entry,
            failure: section.answer.err(),
            run: None,
            variables: None,
        };
        if let Ok(answer) = section.answer {
            object.run = Some(match section.report {
                Some(report) => {
                    let log_score = answer.beliefs.log_score();
                    JsonRun::Run(RunStats::new(graph, report, answer.log_partition, log_score))
                }
                None => JsonRun::Exact {
                    exact: true,
                    log_partition: answer.log_partition,
                    log_score: answer.beliefs.log_score(),
                },
            });
            let variables = self.variables(&answer.beliefs);
            let mut list = Vec::new();
            self.each(&answer.beliefs, variables.as_deref(), |variable, values, state| {
                list.push(self.json_variable(variable, values, state));
                Ok(())
            })?;
            object.variables = Some(list);
        }
        serde_json::to_writer(&mut *sink, &object)?;
        writeln!(sink)
    }

    fn json_variable(
        &self, variable: usize, values: &[f64], state: Option<usize>,
    ) -> JsonVariable<'_> {
        let names = self.graph.names();
        let beside = self.names.and_then(|names| names.name(variable));
        JsonVariable {
            label: self.graph.graph().label(variable),
            name: beside.or_else(|| names.map(|names| names.variable(variable))),
            states: names.map(|names| names.states(variable).collect()),
            probabilities: state.is_none().then(|| values.to_vec()),
            state,
        }
    }

    /// Gives the probabilities of each variable to show, or its state, which has none.
    fn each(
        &self, beliefs: &Beliefs, variables: Option<&[usize]>,
        mut write: impl FnMut(usize, &[f64], Option<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let graph = self.graph.graph();
        let every = || 0..graph.variable_count();
        let chosen: Vec<usize> = variables.map_or_else(|| every().collect(), <[usize]>::to_vec);
        match beliefs {
            Beliefs::Maximum { states, .. } => {
                chosen.into_iter().try_for_each(|v| write(v, &[], Some(states[v])))
            }
            Beliefs::Marginals(marginals) => {
                let all: Vec<&[f64]> = Probabilities::new(graph, marginals).collect();
                chosen.into_iter().try_for_each(|v| write(v, all[v], None))
            }
        }
    }
}

impl Beliefs {
    /// The logarithm of the score of the joint state.
    pub fn log_score(&self) -> Option<f64> {
        match self {
            Beliefs::Maximum { log_score, .. } => Some(*log_score),
            Beliefs::Marginals(_) => None,
        }
    }
}

/// The probabilities of one variable after the other.
struct Probabilities<'a> {
    cardinalities: std::slice::Iter<'a, u32>,
    rest: &'a [f64],
}

impl<'a> Probabilities<'a> {
    fn new(graph: &'a FactorGraph, marginals: &'a [f64]) -> Self {
        Self { cardinalities: graph.cardinalities().iter(), rest: marginals }
    }
}

impl<'a> Iterator for Probabilities<'a> {
    type Item = &'a [f64];

    fn next(&mut self) -> Option<&'a [f64]> {
        let count = *self.cardinalities.next()? as usize;
        let (probabilities, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(probabilities)
    }
}

#[derive(Serialize)]
struct JsonSection<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    #[serde(flatten)]
    run: Option<JsonRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<Vec<JsonVariable<'a>>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonRun {
    Run(RunStats),
    Exact { exact: bool, log_partition: Option<f64>, log_score: Option<f64> },
}

#[derive(Serialize)]
struct JsonVariable<'a> {
    label: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// Names of the states, where the graph has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Vec<&'a str>>,
    /// Of all states.
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<Vec<f64>>,
    /// Of the most probable joint state.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<usize>,
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
