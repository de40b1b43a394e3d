//! What the program says on the standard error, how much of it, and in which colours.

use clap::ArgAction;
use log::{Level, LevelFilter};
use std::fmt::Display;
use std::io::Write;

/// How much is said.
#[derive(clap::Args)]
pub struct Verbosity {
    /// Say errors only: no notes, no warnings, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Messages")]
    quiet: bool,

    /// Say more: what takes how long, and with -vv what each iteration did
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Messages")]
    verbose: u8,
}

impl Verbosity {
    /// Says so much from now on.
    pub fn apply(&self) {
        log::set_max_level(match (self.quiet, self.verbose) {
            (true, _) => LevelFilter::Error,
            (false, 0) => LevelFilter::Info,
            (false, 1) => LevelFilter::Debug,
            (false, _) => LevelFilter::Trace,
        });
    }
}

/// Before anything is said: all levels go to the standard error, in colours where it is a terminal and `NO_COLOR` is not
/// set.
pub fn start() {
    let mut builder = env_logger::Builder::new();
    builder.filter_level(LevelFilter::Trace).format(|line, record| {
        let style = line.default_level_style(record.level()).bold();
        let what = match record.level() {
            Level::Error => "error: ",
            Level::Warn => "warning: ",
            _ => return writeln!(line, "fastlbp: {}", record.args()),
        };
        writeln!(line, "fastlbp: {style}{what}{style:#}{}", record.args())
    });
    // It fails where there is a logger, and nothing else starts one.
    let _ = builder.try_init();
    log::set_max_level(LevelFilter::Info);
}

/// Whether progress is worth showing: not if only errors are.
pub fn shows_progress() -> bool {
    log::max_level() > LevelFilter::Error
}

/// Says why the program ends.
pub fn complain(text: impl Display) {
    log::error!("{text}");
}

/// Says something that is worth knowing.
pub fn warn(text: impl Display) {
    log::warn!("{text}");
}

/// Says what was done.
pub fn inform(text: impl Display) {
    log::info!("{text}");
}
