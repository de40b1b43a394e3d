//! What `fastlbp infer` reads: a graph, what is known, and what is asked.

use crate::batch::{Entry, entry_files, read_entries};
use crate::conflicts::Conflicts;
use crate::evidence::warning_of_unknown;
use crate::failure::{Failure, Outcome};
use crate::graph_file::GraphFile;
use crate::standard_streams::input_path;
use fastlbp::format::{
    Dictionary, NamedGraph, Names, Network, read_asked, read_names, read_partial_evidence,
    read_soft_evidence, read_uai_evidence_samples,
};
use fastlbp::{Error, Evidence, FactorGraph};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files.
#[derive(clap::Args)]
pub struct InputArguments {
    #[command(flatten)]
    pub graph: GraphFile,

    /// Observed variables: lines `label value` (.obs), or UAI evidence (.evid); also with .gz. With a
    /// .bif graph, lines may be `name state`
    #[arg(short, long, value_name = "FILE", value_parser = input_path())]
    evidence: Option<PathBuf>,

    /// Which sample of an .evid file that has several, counted from 1
    #[arg(long, value_name = "N", requires = "evidence", value_parser = clap::value_parser!(u64).range(1..))]
    evidence_sample: Option<u64>,

    /// Many runs, each with evidence of its own, in one call. DIR: one run for each .obs and .evid file
    /// in it (also with .gz), sorted by name. FILE: an .evid file, each sample of which is one; an .obs
    /// file; or, with any other name, a text with the name of such a file per line, relative to that
    /// text's directory (blank lines and # comments are allowed). Soft evidence is that of every run. With
    /// --output, results are written while later entries run
    #[arg(long, value_name = "DIR|FILE", value_parser = input_path(), conflicts_with_all = ["evidence", "evidence_sample"])]
    pub batch: Option<PathBuf>,

    /// Weights of states: lines `label w0 w1 ...` with a number >= 0 per state, which multiply the
    /// variable's probabilities; also with .gz. With a .bif graph, labels may be names
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    soft_evidence: Option<PathBuf>,

    /// Print only the variables in this file, in its order: one label per line, or a list of alarms (.alarms) or
    /// candidates (.candidates); also with .gz. Variables may be called by their names in a .bif graph, and those of a
    /// list by the names of --names
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    queries: Option<PathBuf>,

    /// Print the names of variables beside their labels: a line `label: name` each, as BINGO's dictionaries, or
    /// `label name`, or a list of alarms (.alarms) or candidates (.candidates); also with .gz [default: the names in a
    /// list of --queries]
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    names: Option<PathBuf>,
}

/// Their content.
pub struct Inputs {
    pub graph: Arc<FactorGraph>,
    /// Those of the graph's format.
    pub names: Option<Names>,
    /// Those of a file beside the graph.
    pub dictionary: Option<Dictionary>,
    pub evidence: Evidence,
    /// Of a batch.
    pub entries: Option<Vec<Entry>>,
    /// Variables to print, if not all of them.
    pub queries: Option<Vec<usize>>,
    /// To be shown when nothing else is on the screen.
    pub warnings: Vec<String>,
}

/// Reads all files, those of a batch on so many threads. None of them is to be an output, of which `conflicts` knows.
pub fn read_inputs(
    arguments: &InputArguments, mut conflicts: Conflicts, threads: usize,
) -> Outcome<Inputs> {
    arguments.graph.add_to(&mut conflicts)?;
    for (option, path) in [
        ("--evidence", arguments.evidence.as_ref()),
        ("--batch", arguments.batch.as_ref()),
        ("--soft-evidence", arguments.soft_evidence.as_ref()),
        ("--queries", arguments.queries.as_ref()),
        ("--names", arguments.names.as_ref()),
    ] {
        conflicts.input(option, path.map(PathBuf::as_path))?;
    }
    let batch = match &arguments.batch {
        Some(path) => Some((path, entry_files(path)?)),
        None => None,
    };
    for file in batch.iter().flat_map(|(_, files)| files) {
        conflicts.input("the entry of --batch", Some(&file.path))?;
    }
    let Network { graph, names } = arguments.graph.read()?;
    let named = NamedGraph::new(&graph, names.as_ref())?;
    let mut warnings = Vec::new();
    let observations = match (&arguments.evidence, arguments.evidence_sample) {
        (Some(path), Some(number)) => read_sample(path, &graph, number)?,
        (Some(path), None) => {
            let read = read_partial_evidence(path, named)?;
            warnings.extend(warning_of_unknown(path, "observed variables", &read.unknown));
            read.observed
        }
        (None, _) => Vec::new(),
    };
    let mut evidence = Evidence::of_observations(&graph, &observations)?;
    let soft = match &arguments.soft_evidence {
        Some(path) => {
            let soft = read_soft_evidence(path, named)?;
            warnings.extend(warning_of_unknown(path, "variables with weights", &soft.unknown));
            soft.add_to(named, &mut evidence)?;
            Some(soft)
        }
        None => None,
    };
    let entries = match &batch {
        Some((path, files)) => {
            Some(read_entries(path, files, named, soft.as_ref(), threads, &mut warnings)?)
        }
        None => None,
    };
    let mut dictionary = match &arguments.names {
        Some(path) => Some(read_names(path, &graph)?),
        None => None,
    };
    let queries = match &arguments.queries {
        Some(path) => {
            let known = match (&dictionary, &names) {
                (None, Some(names)) => Cow::Owned(Dictionary::from_names(names)?),
                (None, None) => Cow::Owned(Dictionary::default()),
                (Some(dictionary), _) => Cow::Borrowed(dictionary),
            };
            let asked = read_asked(path, named, &known)?;
            if dictionary.is_none() && names.is_none() {
                dictionary = asked.names;
            }
            Some(asked.variables)
        }
        None => None,
    };
    Ok(Inputs { graph: Arc::new(graph), names, dictionary, evidence, entries, queries, warnings })
}

fn read_sample(path: &Path, graph: &FactorGraph, number: u64) -> Outcome<Vec<(usize, usize)>> {
    let mut samples = read_uai_evidence_samples(path, graph)?;
    let index = usize::try_from(number - 1).ok().filter(|&index| index < samples.len());
    match index {
        Some(index) => Ok(samples.swap_remove(index)),
        None => Err(Failure::input(format!(
            "{}: there is no sample {number}: the file has {}",
            path.display(),
            samples.len()
        ))),
    }
}

/// An error of a run; that of a contradiction also says the variable's name.
pub fn run_failure(error: Error, graph: NamedGraph<'_>) -> Failure {
    let variable = match &error {
        Error::Contradiction { variable, .. } if graph.names().is_some() => *variable,
        _ => return error.into(),
    };
    let name = graph.describe(variable);
    Failure::from(error).with_note(&format!("; variable {variable} is {name}"))
}
