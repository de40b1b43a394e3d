//! Checks, before any work is done, that no output file is also an input or another output of the command.

use crate::failure::{Failure, Outcome};
use crate::standard_streams::{is_standard_input, is_standard_output};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The input and output files of a command, each with the option or argument that names it.
#[derive(Clone, Default)]
pub struct Conflicts {
    inputs: Vec<(String, Identity)>,
    outputs: Vec<(String, Identity)>,
    /// The option whose file is the standard input.
    standard_input: Option<String>,
    /// The option whose file is the standard output.
    standard_output: Option<String>,
}

/// The identity of a file: two names with equal identities name one file.
#[derive(Clone, PartialEq, Eq)]
enum Identity {
    /// An existing file.
    File(Node),
    /// A file that does not exist yet: the identity of its directory, and its name.
    Name(Node, OsString),
}

impl Conflicts {
    /// Those of a command that writes OUT.
    pub fn of_output(path: &Path) -> Outcome<Self> {
        let mut conflicts = Self::default();
        conflicts.output("OUT", Some(path))?;
        Ok(conflicts)
    }

    /// Adds an input file, if there is one.
    pub fn input(&mut self, option: &str, path: Option<&Path>) -> Outcome {
        if path.is_some_and(is_standard_input) {
            return self.standard_input(option);
        }
        let Some((name, identity)) = name(option, path) else { return Ok(()) };
        if let Some((output, _)) = self.outputs.iter().find(|output| output.1 == identity) {
            return Err(refusal(&name, output, "is read and written"));
        }
        self.inputs.push((name, identity));
        Ok(())
    }

    /// Adds an output file, if there is one.
    pub fn output(&mut self, option: &str, path: Option<&Path>) -> Outcome {
        if path.is_some_and(is_standard_output) {
            return self.take_standard_output(option);
        }
        let Some((name, identity)) = name(option, path) else { return Ok(()) };
        self.add_output(name, identity)
    }

    fn take_standard_output(&mut self, option: &str) -> Outcome {
        take("the standard output", &mut self.standard_output, option, "get two outputs")?;
        match node::of_standard_output() {
            Some(node) => self.add_output("the standard output".into(), Identity::File(node)),
            None => Ok(()),
        }
    }

    /// Adds the standard output, where the results are printed.
    pub fn standard_output(&mut self) -> Outcome {
        self.take_standard_output("the results")
    }

    /// Adds the standard input, from which `what` is read.
    pub fn standard_input(&mut self, what: &str) -> Outcome {
        take("the standard input", &mut self.standard_input, what, "be read twice")
    }

    fn add_output(&mut self, name: String, identity: Identity) -> Outcome {
        if let Some((other, _)) = self.outputs.iter().find(|output| output.1 == identity) {
            return Err(refusal(other, &name, "would be written twice"));
        }
        if let Some((input, _)) = self.inputs.iter().find(|input| input.1 == identity) {
            return Err(refusal(input, &name, "is read and written"));
        }
        self.outputs.push((name, identity));
        Ok(())
    }
}

/// Lets an option have a standard stream, which only one can have.
fn take(stream: &str, user: &mut Option<String>, option: &str, what: &str) -> Outcome {
    match user {
        Some(user) => Err(Failure::input(format!(
            "{user} and {option}: {stream} would {what}; a file is needed for one of them"
        ))),
        None => {
            *user = Some(option.to_string());
            Ok(())
        }
    }
}

fn refusal(one: &str, other: &str, what: &str) -> Failure {
    Failure::input(format!("{one} and {other}: one file, which {what}; different files are needed"))
}

/// How messages call a file, and what it is. Nothing for pipes, devices and directories, and where it
/// cannot be found out: opening the file then says why.
fn name(option: &str, path: Option<&Path>) -> Option<(String, Identity)> {
    let path = path?;
    Some((format!("{option} {}", path.display()), identity(path)?))
}

fn identity(path: &Path) -> Option<Identity> {
    // Linux follows as many links.
    const MOST_LINKS: usize = 40;
    if let Ok(metadata) = std::fs::metadata(path) {
        return metadata.is_file().then(|| node::of(path, &metadata).map(Identity::File))?;
    }
    // A symbolic link that leads to nothing yet stands for what will be made there.
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        match std::fs::read_link(&path) {
            Ok(link) => path = parent.join(link),
            Err(_) => {
                let metadata = std::fs::metadata(&parent).ok()?;
                let directory = node::of(&parent, &metadata)?;
                return Some(Identity::Name(directory, path.file_name()?.to_os_string()));
            }
        }
    }
    None
}

use node::Node;

#[cfg(unix)]
mod node {
    use std::fs::{File, Metadata};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// Device and inode.
    pub type Node = (u64, u64);

    pub fn of(_: &Path, metadata: &Metadata) -> Option<Node> {
        Some((metadata.dev(), metadata.ino()))
    }

    pub fn of_standard_output() -> Option<Node> {
        let output = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
        let metadata = File::from(output).metadata().ok()?;
        metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
    }
}

#[cfg(not(unix))]
mod node {
    use std::fs::Metadata;
    use std::path::{Path, PathBuf};

    /// The path without links.
    pub type Node = PathBuf;

    pub fn of(path: &Path, _: &Metadata) -> Option<Node> {
        path.canonicalize().ok()
    }

    pub fn of_standard_output() -> Option<Node> {
        None
    }
}
