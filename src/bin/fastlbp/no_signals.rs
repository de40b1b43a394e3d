//! What `signals.rs` does on Unix systems: nothing, on others.

use fastlbp::Control;
use std::sync::atomic::AtomicBool;

/// A signal that ends the program: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {}

impl Signal {
    pub fn name(self) -> &'static str {
        match self {}
    }

    pub fn exit_code(self) -> u8 {
        match self {}
    }
}

pub static CANCELLED: AtomicBool = AtomicBool::new(false);

pub struct Iterations(());

pub fn start() {}

pub fn iterations() -> Iterations {
    Iterations(())
}

pub fn control() -> Control {
    Control::Continue
}

pub fn received() -> Option<Signal> {
    None
}

pub fn whole_line() -> Iterations {
    Iterations(())
}
