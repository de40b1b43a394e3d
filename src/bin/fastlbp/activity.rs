//! What the program is doing, shown on a terminal once it takes more than a second.

use crate::messages::shows_progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An activity is shown once it has taken this long.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// An activity of the program. Its display is removed when it is dropped. Nothing is shown if the standard error is
/// not a terminal.
pub struct Activity {
    name: &'static str,
    started: Instant,
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    finished: Sender<()>,
    watcher: JoinHandle<()>,
}

impl Activity {
    /// Whether activities are shown.
    pub fn is_shown() -> bool {
        std::io::stderr().is_terminal() && shows_progress()
    }

    /// An activity without a known progress.
    pub fn start(name: &'static str) -> Self {
        Self::begin(name, || ProgressBar::new_spinner().with_message(name))
    }

    /// Does something, as an activity without a known progress.
    pub fn during<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
        let _activity = Self::start(name);
        work()
    }

    /// A run of at most `iterations` iterations.
    pub fn iterations(iterations: u64) -> Self {
        let style = ProgressStyle::with_template(
            "{spinner} {bar:24} iteration {pos} of at most {len}, {msg}at most {eta} left",
        );
        Self::begin("running", || {
            let bar = ProgressBar::new(iterations);
            match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        })
    }

    fn begin(name: &'static str, make: impl FnOnce() -> ProgressBar) -> Self {
        let started = Instant::now();
        if !Self::is_shown() {
            return Self { name, started, shown: None };
        }
        let bar = make();
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let (finished, end) = channel();
        let shown = bar.clone();
        let watcher = std::thread::spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(REDRAW);
            }
        });
        Self { name, started, shown: Some(Shown { bar, finished, watcher }) }
    }

    /// Updates the progress of a run.
    pub fn advance(&self, progress: &fastlbp::Progress) {
        let fastlbp::Progress { iterations, max_diff, .. } = progress;
        log::trace!("iteration {iterations}: largest change {max_diff:.3e}");
        if let Some(shown) = &self.shown {
            shown.bar.set_position(progress.iterations);
            let mut message = String::new();
            if progress.max_diff.is_finite() {
                message += &format!("largest change {:.1e}, ", progress.max_diff);
            }
            if let Some(unconverged) = progress.unconverged {
                message += &format!("{} % converged, ", percent_below(1.0 - unconverged));
            }
            shown.bar.set_message(message);
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        if let Some(shown) = self.shown.take() {
            drop(shown.finished);
            // The watcher only draws; if it panicked there is nothing to save.
            let _ = shown.watcher.join();
            shown.bar.finish_and_clear();
        }
        log::debug!("{}: {:.3} s", self.name, self.started.elapsed().as_secs_f64());
    }
}

/// A share in per cent, of which 100 is all of it, and nothing less.
fn percent_below(share: f64) -> u32 {
    (share * 100.0) as u32
}
