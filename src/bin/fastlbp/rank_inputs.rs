//! What `fastlbp rank` reads: a graph, names, evidence, alarms and answers.

use crate::conflicts::Conflicts;
use crate::evidence::warning_of_unknown;
use crate::failure::{Failure, Outcome};
use crate::graph_file::GraphFile;
use crate::messages::warn;
use crate::standard_streams::input_path;
use fastlbp::format::{
    Dictionary, Marked, NamedGraph, Network, describe_variable, read_marked, read_names,
    read_partial_evidence,
};
use fastlbp::ranking::Alarm;
use fastlbp::{Evidence, FactorGraph};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files.
#[derive(clap::Args)]
pub struct InputArguments {
    #[command(flatten)]
    graph: GraphFile,

    /// The alarms: a line `VARIABLE [NAME] [0|1]` each, also with .gz. VARIABLE is a label or a name; 1 says that the
    /// alarm is a true one, 0 that it is not, for the measures at the end only
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    alarms: PathBuf,

    /// Names of variables: lines `label: name`, as BINGO's dictionaries, or `label name`; also with .gz [default: those of
    /// a .bif graph]
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    names: Option<PathBuf>,

    /// What is known before the first question: lines `label value` (.obs), or UAI evidence (.evid); also with .gz. With
    /// a .bif graph, lines may be `name state`
    #[arg(short, long, value_name = "FILE", value_parser = input_path())]
    evidence: Option<PathBuf>,

    /// Take the answers from this file instead of asking: lines as those of --alarms, with 0 or 1; also with .gz. A file
    /// in which no line has 0 or 1 lists the true alarms, and all others are false. Ends when all true alarms are
    /// found, where it has an answer for each alarm, else at the first alarm without one
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    pub answers: Option<PathBuf>,
}

/// Their content.
pub struct Inputs {
    pub graph: Arc<FactorGraph>,
    pub names: Dictionary,
    pub evidence: Evidence,
    pub alarms: Vec<Alarm>,
    /// Whether each alarm is a true one, by the list of alarms.
    pub truth: Vec<Option<bool>>,
    /// The answer for each alarm, where answers are given.
    pub answers: Option<Vec<Option<bool>>>,
}

impl InputArguments {
    /// The file of the graph.
    pub fn graph(&self) -> &Path {
        self.graph.path()
    }

    /// Adds all files to what must not be written.
    pub fn add_to(&self, conflicts: &mut Conflicts) -> Outcome {
        if self.answers.is_none() {
            conflicts.standard_input("the answers")?;
        }
        self.graph.add_to(conflicts)?;
        for (option, path) in [
            ("--alarms", Some(&self.alarms)),
            ("--names", self.names.as_ref()),
            ("--evidence", self.evidence.as_ref()),
            ("--answers", self.answers.as_ref()),
        ] {
            conflicts.input(option, path.map(PathBuf::as_path))?;
        }
        Ok(())
    }

    /// Reads all files.
    pub fn read(&self) -> Outcome<Inputs> {
        let (network, names) = with_names(self.graph.read()?, self.names.as_deref())?;
        let (evidence, warning) = read_evidence(self.evidence.as_deref(), &network)?;
        warning.iter().for_each(warn);
        let graph = network.graph;
        let listed = read_listed(&self.alarms, "alarm", &graph, &names)?;
        let count = listed.len();
        let (alarms, truth): (Vec<_>, Vec<_>) = listed
            .into_iter()
            .filter(|alarm| evidence.get(alarm.variable).is_none())
            .map(|Marked { variable, name, mark, .. }| (Alarm { variable, name }, mark))
            .unzip();
        if alarms.len() < count {
            warn(format!(
                "{} of {count} alarms are observed by the evidence and not asked about",
                count - alarms.len()
            ));
        }
        let answers = match &self.answers {
            Some(path) => Some(read_answers(path, &graph, &names, &alarms, &evidence)?),
            None => None,
        };
        Ok(Inputs { graph: Arc::new(graph), names, evidence, alarms, truth, answers })
    }
}

/// A graph with the names to show for its variables: those of a dictionary, else those of the graph's file.
pub fn with_names(network: Network, dictionary: Option<&Path>) -> Outcome<(Network, Dictionary)> {
    let names = match (dictionary, &network.names) {
        (Some(path), _) => read_names(path, &network.graph)?,
        (None, Some(names)) => Dictionary::from_names(names)?,
        (None, None) => Dictionary::default(),
    };
    Ok((network, names))
}

/// Reads a list of alarms or candidates, one at least.
pub fn read_listed(
    path: &Path, what: &str, graph: &FactorGraph, names: &Dictionary,
) -> Outcome<Vec<Marked>> {
    let listed = read_marked(path, graph, names)?;
    if listed.is_empty() {
        return Err(Failure::input(format!(
            "{}: no {what} is listed: a line `VARIABLE [NAME] [0|1]` is needed for each",
            path.display()
        )));
    }
    Ok(listed)
}

/// Reads evidence as `infer` does, if there is a file, and gives a warning of variables that the graph does not have.
pub fn read_evidence(
    path: Option<&Path>, network: &Network,
) -> Outcome<(Evidence, Option<String>)> {
    let Some(path) = path else { return Ok((Evidence::new(), None)) };
    let Network { graph, names } = network;
    let read = read_partial_evidence(path, NamedGraph::new(graph, names.as_ref())?)?;
    let warning = warning_of_unknown(path, "observed variables", &read.unknown);
    Ok((Evidence::of_observations(graph, &read.observed)?, warning))
}

/// Reads the answer for each alarm.
fn read_answers(
    path: &Path, graph: &FactorGraph, names: &Dictionary, alarms: &[Alarm], evidence: &Evidence,
) -> Outcome<Vec<Option<bool>>> {
    let listed = read_marked(path, graph, names)?;
    let refused =
        |line: u64, text: String| Err(Failure::input(format!("{}:{line}: {text}", path.display())));
    let lists_true_ones = !listed.is_empty() && listed.iter().all(|answer| answer.mark.is_none());
    if let Some(Marked { variable, line, .. }) = listed.iter().find(|answer| answer.mark.is_none())
        && !lists_true_ones
    {
        let text = format!(
            "no answer for alarm {}: 0 or 1 is needed in each line, or in none of a list of the true alarms",
            describe_variable(graph, names, *variable)
        );
        return refused(*line, text);
    }
    let mut places = vec![None; graph.variable_count()];
    for (place, alarm) in alarms.iter().enumerate() {
        places[alarm.variable] = Some(place);
    }
    let mut answers = vec![lists_true_ones.then_some(false); alarms.len()];
    for Marked { variable, mark, line, .. } in listed {
        match places[variable] {
            Some(place) => answers[place] = mark.or(Some(true)),
            None if evidence.get(variable).is_some() => {}
            None => {
                let name = describe_variable(graph, names, variable);
                return refused(
                    line,
                    format!("{name} is none of the alarms: one of the list of --alarms is needed"),
                );
            }
        }
    }
    Ok(answers)
}
