//! What `fastlbp locate` reads: for each graph its evidence, candidates and names.

use crate::activity::Activity;
use crate::failure::{Failure, Outcome};
use crate::graph_file::{FormatName, read_as};
use crate::rank_inputs::{read_evidence, read_listed, with_names};
use crate::standard_streams::input_path;
use fastlbp::format::{Dictionary, Marked};
use fastlbp::{Evidence, FactorGraph};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// The files.
#[derive(clap::Args)]
pub struct InputArguments {
    /// Factor graphs: .causal_fg, .fg, .uai or .bif, also with .gz; - is the standard input, and needs --format
    #[arg(value_name = "GRAPH", required = true, value_parser = input_path())]
    pub graphs: Vec<PathBuf>,

    /// Format of the graphs, where the names of their files do not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatName>,

    /// The candidates: a line `VARIABLE [NAME] [0|1]` each, where VARIABLE is a label or a name, and 1 marks those that
    /// are known to be at fault; also with .gz. Once per graph, in their order; or a directory that has a file
    /// STEM.candidates for each graph STEM.causal_fg
    #[arg(long, value_name = "FILE|DIR", required = true, value_parser = input_path())]
    candidates: Vec<PathBuf>,

    /// Observed variables: lines `label value` (.obs), or UAI evidence (.evid); also with .gz. With a .bif graph, lines
    /// may be `name state`. Once per graph, in their order; or a directory that has a file STEM.obs for each graph
    /// STEM.causal_fg
    #[arg(short, long, value_name = "FILE|DIR", value_parser = input_path())]
    evidence: Vec<PathBuf>,

    /// Names of variables: lines `label: name` or `label name`; also with .gz. Once per graph, in their order; or a directory that has a
    /// file STEM.dict for each graph STEM.causal_fg [default: those of .bif graphs]
    #[arg(long, value_name = "FILE|DIR", value_parser = input_path())]
    names: Vec<PathBuf>,
}

/// The files of one graph.
#[derive(Clone)]
pub struct Files {
    pub graph: PathBuf,
    format: Option<FormatName>,
    pub candidates: PathBuf,
    pub evidence: Option<PathBuf>,
    pub names: Option<PathBuf>,
}

/// Their content.
pub struct Subject {
    /// For reading.
    pub seconds: f64,
    /// To be shown when it is this graph's turn.
    pub warning: Option<String>,
    pub graph: Arc<FactorGraph>,
    pub names: Dictionary,
    pub evidence: Evidence,
    pub candidates: Vec<Marked>,
}

/// Reads one graph after the other: the next one, on a thread of its own, while the one before it is run.
pub struct Reader<'a> {
    files: &'a [Files],
    /// Where the first of the files is read already.
    ahead: Option<JoinHandle<Outcome<Subject>>>,
}

impl<'a> Reader<'a> {
    pub fn new(files: &'a [Files]) -> Self {
        Self { files, ahead: None }
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = (&'a Files, Outcome<Subject>);

    fn next(&mut self) -> Option<Self::Item> {
        let (first, rest) = self.files.split_first()?;
        let ahead = self.ahead.take();
        let subject = Activity::during("reading", || match ahead {
            Some(reading) => reading.join().unwrap_or_else(|_| Err(panicked(first))),
            None => first.read(),
        });
        self.files = rest;
        // Without a thread, it is read when it is needed.
        self.ahead = rest.first().cloned().and_then(|next| {
            thread::Builder::new().name("reading".into()).spawn(move || next.read()).ok()
        });
        Some((first, subject))
    }
}

impl Files {
    fn read(&self) -> Outcome<Subject> {
        let started = Instant::now();
        let network = read_as(&self.graph, self.format, "--format")?;
        let (network, names) = with_names(network, self.names.as_deref())?;
        let (evidence, warning) = read_evidence(self.evidence.as_deref(), &network)?;
        let graph = Arc::new(network.graph);
        let candidates = read_listed(&self.candidates, "candidate", &graph, &names)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(Subject { graph, names, evidence, candidates, warning, seconds })
    }
}

/// An internal error, of which the thread has said more.
fn panicked(files: &Files) -> Failure {
    Failure::other(format!("internal error: {} could not be read", files.graph.display()))
}

impl InputArguments {
    /// The files of each graph.
    pub fn files(&self) -> Outcome<Vec<Files>> {
        let mut evidence = per_graph(&self.graphs, "--evidence", &self.evidence, &["obs", "evid"])?;
        let mut candidates =
            per_graph(&self.graphs, "--candidates", &self.candidates, &["candidates"])?;
        let mut names = per_graph(&self.graphs, "--names", &self.names, &["dict"])?;
        let mut files = Vec::new();
        for (position, graph) in self.graphs.iter().enumerate() {
            let Some(candidates) = candidates[position].take() else {
                return Err(Failure::input("--candidates is needed for each graph"));
            };
            let (evidence, names) = (evidence[position].take(), names[position].take());
            files.push(Files {
                graph: graph.clone(),
                format: self.format,
                candidates,
                evidence,
                names,
            });
        }
        Ok(files)
    }
}

/// The file of an option for each graph; none if the option is not given.
fn per_graph(
    graphs: &[PathBuf], option: &str, given: &[PathBuf], suffixes: &[&str],
) -> Outcome<Vec<Option<PathBuf>>> {
    match given {
        [] => Ok(vec![None; graphs.len()]),
        [directory] if directory.is_dir() => graphs
            .iter()
            .map(|graph| beside(option, directory, graph, suffixes).map(Some))
            .collect(),
        given if given.len() == graphs.len() => Ok(given.iter().cloned().map(Some).collect()),
        given => Err(Failure::input(format!(
            "{option} is given {} times for {} graphs: once per graph, or a directory with a file for each, is \
             needed",
            given.len(),
            graphs.len()
        ))),
    }
}

/// The file of a directory that belongs to a graph, by its name.
fn beside(option: &str, directory: &Path, graph: &Path, suffixes: &[&str]) -> Outcome<PathBuf> {
    let name = graph.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let names =
        suffixes.iter().flat_map(|suffix| ["", ".gz"].map(|gz| format!("{stem}.{suffix}{gz}")));
    let found = names.map(|name| directory.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::input(format!(
            "{option} {}: the directory has no file {stem}.{} for the graph {}",
            directory.display(),
            suffixes.first().copied().unwrap_or_default(),
            graph.display()
        ))
    })
}
