//! `fastlbp completions` and `fastlbp man`: what shells and readers of manuals are told of the options.

use crate::failure::{Failure, Outcome};
use crate::standard_streams::print;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print what a shell needs to complete commands, options and their values
///
/// Packages install it. By hand:
///
///   bash: fastlbp completions bash >~/.local/share/bash-completion/completions/fastlbp
///
///   zsh: fastlbp completions zsh >DIR/_fastlbp, with DIR in fpath
///
///   fish: fastlbp completions fish >~/.config/fish/completions/fastlbp.fish
#[derive(clap::Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the manual pages fastlbp.1, fastlbp-infer.1, ... into a directory
///
/// Packages install them. By hand: fastlbp man ~/.local/share/man/man1
#[derive(clap::Args)]
pub struct ManArguments {
    /// The directory; it is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints the completions of a command.
pub fn complete(arguments: &CompletionsArguments, mut command: Command) -> Outcome {
    let name = command.get_name().to_string();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Writes the manual of a command: a page for it, and one for each subcommand.
pub fn write_manual(arguments: &ManArguments, command: Command) -> Outcome {
    let directory = &arguments.directory;
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory));
    written.map_err(|error| Failure::other(format!("{}: {error}", directory.display())))
}
