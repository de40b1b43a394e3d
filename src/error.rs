//! The one error type of the library: what was wrong, where, and what would be right.

use std::borrow::Cow;
use std::path::PathBuf;

/// Result of every fallible call of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. The text of each says what was wrong, with which value and where,
/// and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The text of a file does not follow its format.
    #[error("{}:{line}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What was wrong and what would be right.
        message: String,
    },
    /// A value is not one that the call accepts.
    #[error("{0}")]
    InvalidArgument(String),
    /// An index or label names nothing in the graph.
    #[error("{0}")]
    OutOfRange(String),
    /// A graph or table is larger than the library's 32-bit indices allow.
    #[error("{0}")]
    LimitExceeded(String),
    /// Memory could not be had.
    #[error("out of memory: {0}")]
    OutOfMemory(Cow<'static, str>),
    /// The evidence and the factors contradict each other (policy `Contradiction::Error`).
    #[error("{}; correct the evidence or choose the contradiction policy 'vote'", describe_contradiction(*label, *factor, *iteration, *count))]
    Contradiction {
        /// Label of the contradictory variable (the lowest one of the iteration, or of the factor).
        label: u64,
        /// Index of that variable.
        variable: usize,
        /// The factor that is zero at the observed states of its variables, where that is the contradiction: the
        /// lowest one. No iteration was made then.
        factor: Option<usize>,
        /// The iteration, counted from 1 since the messages were fresh; 0 with a factor, and in exact inference.
        iteration: u64,
        /// Number of contradictory places in that iteration, or of such factors.
        count: u64,
    },
    /// Results were asked for before there were any.
    #[error("{0}")]
    NoResult(String),
    /// There is no CUDA device that can be used; the text says why.
    #[error("{0}")]
    NoDevice(String),
    /// A CUDA device failed, or computed wrongly.
    #[error("{0}")]
    Device(String),
    /// The request is well-formed but this build or backend does not do it.
    #[error("{0}")]
    Unsupported(String),
}

fn describe_contradiction(label: u64, factor: Option<usize>, iteration: u64, count: u64) -> String {
    match factor {
        None if iteration == 0 => format!(
            "contradiction at variable {label}: the factors and the evidence exclude all joint states"
        ),
        None => format!(
            "contradiction at variable {label} in iteration {iteration}: deterministic messages that disagree meet there \
             ({count} such places in this iteration)"
        ),
        Some(factor) => format!(
            "contradiction at variable {label}: the evidence is impossible, factor {factor} is 0 at the \
             observed states of its variables ({count} such factors)"
        ),
    }
}
