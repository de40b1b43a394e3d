//! How the program fails: one place for messages and exit codes.

use crate::signals::Signal;
use anstream::{AutoStream, ColorChoice, stream::RawStream};
use fastlbp::Error;
use std::io::{self, ErrorKind};

/// What a subcommand returns.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The exit code of what has none of its own.
pub const OTHER: u8 = 1;
const BAD_INPUT: u8 = 2;
const CONTRADICTION: u8 = 3;

/// Why the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// An error to be shown.
    Message {
        /// Exit code.
        code: u8,
        /// What was wrong.
        text: String,
    },
    /// A signal has ended a run.
    Interrupted {
        /// Which one.
        signal: Signal,
        /// What became of the run.
        text: String,
    },
    /// One of several runs was not begun, since a signal came before.
    NotRun,
    /// Not an error: `--help` or `--version` is to be printed.
    Information(String),
    /// Nobody reads the standard output any more (as in `fastlbp infer ... | head`): nothing is
    /// wrong, and nothing is left to do.
    OutputClosed,
}

/// Errors of the library: those of files are taken for input errors here, see [`Failure::output`].
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Contradiction { .. } => CONTRADICTION,
            Error::OutOfMemory(_)
            | Error::NoResult(_)
            | Error::Unsupported(_)
            | Error::NoDevice(_)
            | Error::Device(_) => OTHER,
            _ => BAD_INPUT,
        };
        Failure::Message { code, text: error.to_string() }
    }
}

impl Failure {
    /// Arguments that clap refused, or a request for help.
    pub fn usage(error: clap::Error) -> Self {
        let styled = error.render();
        let text = match error.use_stderr() || !is_coloured(&io::stdout()) {
            true => styled.to_string(),
            false => styled.ansi().to_string(),
        };
        if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            let text = format!("a command is needed\n\n{}", text.trim_end());
            return Failure::Message { code: BAD_INPUT, text };
        }
        if error.use_stderr() {
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_string();
            Failure::Message { code: BAD_INPUT, text }
        } else {
            Failure::Information(text)
        }
    }

    /// An error while an output file is written.
    pub fn output(error: Error) -> Self {
        match error {
            // A pipe that nobody reads any more.
            Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => {
                Failure::OutputClosed
            }
            Error::Io { .. } => Failure::Message { code: OTHER, text: error.to_string() },
            other => other.into(),
        }
    }

    /// An error while the standard output is written.
    pub fn standard_output(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Failure::OutputClosed;
        }
        Failure::Message { code: OTHER, text: format!("standard output: {error}") }
    }

    /// An error while the standard input is read.
    pub fn standard_input(error: &io::Error) -> Self {
        Failure::other(format!("standard input: {error}"))
    }

    /// Input that is not right, with a text of its own.
    pub fn input(text: impl Into<String>) -> Self {
        Failure::Message { code: BAD_INPUT, text: text.into() }
    }

    /// The same with something added to its message, if it has one.
    pub fn with_note(mut self, note: &str) -> Self {
        if let Failure::Message { text, .. } = &mut self {
            text.push_str(note);
        }
        self
    }

    /// Some of the entries of a batch failed, which has been said: the exit code is that of a
    /// contradiction if one of them was one, else that of the first.
    pub fn of_entries<'a>(failures: impl Iterator<Item = &'a Failure>, all: usize) -> Self {
        let codes = failures.map(|failure| match failure {
            Failure::Message { code, .. } => *code,
            _ => OTHER,
        });
        let codes: Vec<u8> = codes.collect();
        let first = codes.first().copied().unwrap_or(OTHER);
        let code = if codes.contains(&CONTRADICTION) { CONTRADICTION } else { first };
        let text = format!("{} of {all} entries failed, see the warnings", codes.len());
        Failure::Message { code, text }
    }

    /// The same exit code with another message.
    pub fn retold(self, text: String) -> Self {
        match self {
            Failure::Message { code, .. } => Failure::Message { code, text },
            _ => Failure::other(text),
        }
    }

    /// What was wrong.
    pub fn text(&self) -> &str {
        match self {
            Failure::Message { text, .. }
            | Failure::Interrupted { text, .. }
            | Failure::Information(text) => text,
            Failure::NotRun => "not run: the program was told to end before",
            Failure::OutputClosed => "the output was closed",
        }
    }

    /// Anything else, with a text of its own.
    pub fn other(text: impl Into<String>) -> Self {
        Failure::Message { code: OTHER, text: text.into() }
    }
}

/// Whether a stream shows colours: a terminal, where `NO_COLOR` is not set.
fn is_coloured(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}
