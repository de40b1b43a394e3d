//! Evidence as the subcommands read it from files.

use std::path::Path;

/// The warning of variables in a file that the graph does not have, each with its line; `None` if it has them all.
/// `what` says in which way the file has them.
pub fn warning_of_unknown(path: &Path, what: &str, unknown: &[(String, u64)]) -> Option<String> {
    let (name, line) = unknown.first()?;
    Some(format!(
        "{}: {} {what} are not in the graph and were left out, the first is {name} in line {line}",
        path.display(),
        unknown.len()
    ))
}
