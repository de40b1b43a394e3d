//! The graphs that `fastlbp bench` measures: files, and graphs that are generated in the process.

use crate::activity::Activity;
use crate::failure::Outcome;
use crate::graph_file::{FormatName, read_as};
use crate::shape::describe;
use fastlbp::format::{NamedGraph, read_partial_evidence, read_soft_evidence};
use fastlbp::generate::Plan;
use fastlbp::{Evidence, FactorGraph};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A graph with its evidence.
pub struct Subject {
    /// The name of [`Source::name`].
    pub name: String,
    pub graph: Arc<FactorGraph>,
    pub evidence: Evidence,
    /// Seconds for reading or making the graph.
    pub read: f64,
}

/// Where a graph comes from.
pub enum Source<'a> {
    File(&'a Path, Option<FormatName>),
    Plan(Plan),
}

/// Where the evidence of a graph comes from.
pub enum EvidenceSource<'a> {
    None,
    /// The file next to the graph, if there is one, or what was generated with the graph.
    OfGraph,
    File(&'a Path),
}

impl Source<'_> {
    /// The path, or the options that generate the graph.
    pub fn name(&self) -> String {
        match self {
            Source::File(path, _) => path.display().to_string(),
            Source::Plan(plan) => describe(plan),
        }
    }

    /// The graph, with soft evidence from a file as well if it comes from one.
    pub fn subject(&self, evidence: &EvidenceSource, soft: Option<&Path>) -> Outcome<Subject> {
        let (graph, evidence, read) = match self {
            Source::File(path, format) => read_file(path, *format, evidence, soft)?,
            Source::Plan(plan) => make(plan, evidence)?,
        };
        Ok(Subject { name: self.name(), graph: Arc::new(graph), evidence, read })
    }
}

/// The result and the seconds that it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

fn read_file(
    path: &Path, format: Option<FormatName>, source: &EvidenceSource, soft: Option<&Path>,
) -> Outcome<(FactorGraph, Evidence, f64)> {
    let _activity = Activity::start("reading");
    let (network, read) = timed(|| read_as(path, format, "--format"));
    let network = network?;
    let named = NamedGraph::new(&network.graph, network.names.as_ref())?;
    let file = match source {
        EvidenceSource::None => None,
        EvidenceSource::OfGraph => neighbour(path),
        EvidenceSource::File(file) => Some(file.to_path_buf()),
    };
    let observations = match file {
        Some(file) => read_partial_evidence(&file, named)?.observed,
        None => Vec::new(),
    };
    let mut evidence = Evidence::of_observations(&network.graph, &observations)?;
    if let Some(file) = soft {
        read_soft_evidence(file, named)?.add_to(named, &mut evidence)?;
    }
    Ok((network.graph, evidence, read))
}

/// The file with a graph's name and the suffix `.obs` instead of its own.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let plain = match path.extension() {
        Some(extension) if extension == "gz" => path.with_extension(""),
        _ => path.to_path_buf(),
    };
    let file = plain.with_extension("obs");
    file.is_file().then_some(file)
}

fn make(plan: &Plan, source: &EvidenceSource) -> Outcome<(FactorGraph, Evidence, f64)> {
    let _activity = Activity::start("generating");
    let (generated, seconds) = timed(|| plan.generate());
    let generated = generated?;
    let observations = match source {
        EvidenceSource::None => Vec::new(),
        _ => generated.observations,
    };
    let evidence = Evidence::of_observations(&generated.graph, &observations)?;
    Ok((generated.graph, evidence, seconds))
}
