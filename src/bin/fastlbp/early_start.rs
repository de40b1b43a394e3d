//! The start of a device's driver while the graph is read.

use fastlbp::engine::device::{choose_device, start_device};
use fastlbp::{Backend, EngineOptions};
use std::thread::{Builder, JoinHandle};

/// A device that is being started, until this goes.
pub struct EarlyStart(Option<JoinHandle<()>>);

impl EarlyStart {
    /// Begins with it, where engines with such options most certainly need the device. What fails, the engine says.
    pub fn of(options: &EngineOptions) -> Self {
        if options.backend != Backend::Cuda {
            return Self(None);
        }
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
