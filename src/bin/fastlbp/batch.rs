//! What `fastlbp infer --batch` reads: one file of evidence per entry, or one sample.

use crate::evidence::warning_of_unknown;
use crate::failure::{Failure, Outcome};
use crate::in_order::in_order;
use crate::standard_streams::is_standard_input;
use fastlbp::Evidence;
use fastlbp::format::{NamedGraph, SoftEvidence, read_partial_evidence, read_uai_evidence_samples};
use std::path::{Path, PathBuf};

/// What is known in one run of a batch.
pub struct Entry {
    /// File name, and number of the sample where the file has several.
    pub name: String,
    pub evidence: Evidence,
}

/// A file of evidence that a batch is made of.
pub struct EntryFile {
    name: String,
    pub path: PathBuf,
    /// The list that names it, and its line there.
    listed: Option<(PathBuf, usize)>,
}

/// The files that `--batch` stands for: those in a directory, the one that it is, or those of a list.
pub fn entry_files(path: &Path) -> Outcome<Vec<EntryFile>> {
    if path.is_dir() {
        let file = |name: String| EntryFile { path: path.join(&name), name, listed: None };
        return Ok(evidence_files(path)?.into_iter().map(file).collect());
    }
    if is_evidence(path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![EntryFile { name, path: path.to_path_buf(), listed: None }]);
    }
    // (A list on the standard input names files of the current directory.)
    let directory = path.parent().filter(|_| !is_standard_input(path)).unwrap_or(Path::new(""));
    let file = |(line, name): (usize, String)| {
        let listed = Some((path.to_path_buf(), line));
        EntryFile { path: directory.join(&name), name, listed }
    };
    Ok(listed(path)?.into_iter().map(file).collect())
}

/// Most files that are open at once: a quarter of the least limit that systems set.
const MOST_FILES: usize = 64;

/// Reads the entries of a batch, which `path` stands for, on so many threads. `warnings` gets those of variables that the
/// graph does not have. Errors: that of the first file that has one.
pub fn read_entries(
    path: &Path, files: &[EntryFile], graph: NamedGraph<'_>, soft: Option<&SoftEvidence>,
    threads: usize, warnings: &mut Vec<String>,
) -> Outcome<Vec<Entry>> {
    // Who writes to a pipe may wait for the one before it to be read.
    let threads = match files.iter().all(|file| file.path.is_file()) {
        true => threads.min(MOST_FILES),
        false => 1,
    };
    let mut entries = Vec::new();
    let read = |file: &EntryFile| file.read(graph, soft);
    in_order(threads, files, read, |read| {
        let (own, warning) = read?;
        entries.extend(own);
        warnings.extend(warning);
        Ok::<_, Failure>(())
    })?;
    if entries.is_empty() {
        return Err(Failure::input(format!(
            "{}: no evidence there: files .obs or .evid (also with .gz) in a directory, samples in an \
             .evid file, or a list of files, one per line, is needed",
            path.display()
        )));
    }
    Ok(entries)
}

impl EntryFile {
    /// Its entries, and the warning of variables that the graph does not have.
    fn read(
        &self, graph: NamedGraph<'_>, soft: Option<&SoftEvidence>,
    ) -> Outcome<(Vec<Entry>, Option<String>)> {
        self.read_as_it_is(graph, soft).map_err(|failure| match &self.listed {
            Some((list, line)) => {
                failure.with_note(&format!("; listed in line {line} of {}", list.display()))
            }
            None => failure,
        })
    }

    fn read_as_it_is(
        &self, graph: NamedGraph<'_>, soft: Option<&SoftEvidence>,
    ) -> Outcome<(Vec<Entry>, Option<String>)> {
        let Self { name, path, .. } = self;
        let (samples, warning) = if has_suffix(path, "evid") {
            (read_uai_evidence_samples(path, graph.graph())?, None)
        } else {
            let read = read_partial_evidence(path, graph)?;
            (vec![read.observed], warning_of_unknown(path, "observed variables", &read.unknown))
        };
        let several = samples.len() > 1;
        let entry = |(index, observed): (usize, Vec<(usize, usize)>)| {
            let mut evidence = Evidence::of_observations(graph.graph(), &observed)?;
            if let Some(soft) = soft {
                soft.add_to(graph, &mut evidence)?;
            }
            let sample = if several { format!(" sample {}", index + 1) } else { String::new() };
            Ok(Entry { name: format!("{}{sample}", on_one_line(name)), evidence })
        };
        let entries: Outcome<Vec<Entry>> = samples.into_iter().enumerate().map(entry).collect();
        Ok((entries?, warning))
    }
}

/// Names of the files of evidence in a directory, sorted.
fn evidence_files(directory: &Path) -> Outcome<Vec<String>> {
    let failed = |error| Failure::input(format!("{}: {error}", directory.display()));
    let mut names = Vec::new();
    for file in std::fs::read_dir(directory).map_err(failed)? {
        let path = file.map_err(failed)?.path();
        if path.is_file() && is_evidence(&path) {
            let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
                Failure::input(format!("{}: the file name is not UTF-8", path.display()))
            })?;
            names.push(name.to_string());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The files that a list names, with the number of their line.
fn listed(path: &Path) -> Outcome<Vec<(usize, String)>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    let lines = text.lines().map(str::trim).enumerate();
    let files = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    Ok(files.map(|(index, line)| (index + 1, line.to_string())).collect())
}

fn is_evidence(path: &Path) -> bool {
    has_suffix(path, "obs") || has_suffix(path, "evid")
}

/// Whether a name ends in a suffix, a final `.gz` set aside.
fn has_suffix(path: &Path, suffix: &str) -> bool {
    let plain: PathBuf = match path.extension() {
        Some(extension) if extension == "gz" => path.with_extension(""),
        _ => path.to_path_buf(),
    };
    plain.extension().is_some_and(|extension| extension == suffix)
}

/// A name as it can stand in a line of the output.
fn on_one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes() {
        for name in ["a.obs", "a.obs.gz", "b/a.evid", "a.uai.evid.gz"] {
            assert!(is_evidence(Path::new(name)), "{name}");
        }
        for name in ["a", "obs", "a.gz", "a.obs.txt", "a.obs.gz.gz", ".obs"] {
            assert!(!is_evidence(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(on_one_line("a b\nc.obs"), "a b\u{fffd}c.obs");
    }
}
