//! The start of a device's driver while something else is done.

use fastlbp::engine::device::{choose_device, start_device};
use fastlbp::{Backend, BeliefPropagation, EngineOptions, RunRequest};
use std::thread::{Builder, JoinHandle};

/// Number of questions that a dialog is expected to have at least.
const QUESTIONS: usize = 10;

/// A device that is being started, until this goes.
pub struct EarlyStart(Option<JoinHandle<()>>);

impl EarlyStart {
    /// Begins with it, where engines with such options most certainly need the device. What fails, the engine says.
    pub fn of(options: &EngineOptions) -> Self {
        if options.backend == Backend::Cuda { Self::begin(options) } else { Self(None) }
    }

    /// Begins with it beside the first run of a dialog, where `auto` has use for the device in the others.
    pub fn beside_first(
        session: &BeliefPropagation, request: &RunRequest, options: &EngineOptions,
    ) -> Self {
        let is_auto = options.backend == Backend::Auto;
        let is_worth = is_auto && session.is_worth_a_device(request, QUESTIONS);
        if is_worth { Self::begin(options) } else { Self(None) }
    }

    fn begin(options: &EngineOptions) -> Self {
        let Ok(device) = choose_device(options.device) else { return Self(None) };
        let start = move || drop(start_device(device));
        Self(Builder::new().name("fastlbp-start".into()).spawn(start).ok())
    }
}

impl Drop for EarlyStart {
    /// Waits for its end: a process must not end meanwhile.
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic has been told on the standard error.
            drop(thread.join());
        }
    }
}
