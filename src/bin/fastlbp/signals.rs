//! Signals that end the program.
//!
//! The first signal during a run ends the run after the current iteration, so that its results can be written. Any
//! other signal ends the program at once; before that, incomplete files are removed and a line of a conversation
//! that is being written is completed. A dedicated thread waits for signals, since a signal handler must not do
//! any of this.
//!
//! A write beyond the limit of a file's size (`ulimit -f`) is an error like any other, not a signal.

use fastlbp::Control;
use fastlbp::format::abort_writes;
use parking_lot::{Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a signal waits for a line of a conversation that is being written, and for a terminal that is full of
/// redrawn progress to take its own line: a reader that does not read must not block the end of the program. A pipe
/// takes such a short line as a whole or not at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// A signal that ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    const ALL: [Self; 3] = [Self(SIGINT), Self(SIGTERM), Self(SIGHUP)];

    /// Its name as in `kill -l`.
    pub fn name(self) -> &'static str {
        match self.0 {
            SIGINT => "SIGINT",
            SIGTERM => "SIGTERM",
            _ => "SIGHUP",
        }
    }

    /// The exit code by which shells report a program that this signal has ended: 130, 143 or 129.
    pub fn exit_code(self) -> u8 {
        128 + self.0 as u8
    }

    /// Whether the program was started with this signal ignored, as by `nohup` or in the background of a script.
    fn is_ignored(self) -> bool {
        // SAFETY: of all bits zero is a valid value of this plain C structure.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the action is only asked for; the pointer is that of a structure of its type.
        let status = unsafe { libc::sigaction(self.0, std::ptr::null(), &mut action) };
        status == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

struct State {
    /// Whether iterations run that a signal can end.
    in_iterations: bool,
    /// The signal that has ended the iterations.
    received: Option<Signal>,
}

static STATE: Mutex<State> = Mutex::new(State { in_iterations: false, received: None });

/// Whether the current run has to end.
pub static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Held while a line is written that must not be cut.
static LINE: Mutex<()> = Mutex::new(());

/// Starts the thread that handles the signals, except those that the program was started to ignore. If no thread
/// can be started, the signals keep their default action.
pub fn start() {
    let (ready, is_ready) = channel();
    let wait = move || {
        let wanted = Signal::ALL.into_iter().filter(|signal| !signal.is_ignored());
        let signals = Signals::new(wanted.map(|signal| signal.0).chain([SIGXFSZ]));
        // The other side is there until it has got this.
        let _ = ready.send(());
        let Ok(mut signals) = signals else { return };
        // What has exceeded the limit of a file's size finds that out by itself.
        for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
            arrived(Signal(signal));
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
        // An error would be that of a thread that has ended.
        let _ = is_ready.recv();
    }
}

fn arrived(signal: Signal) {
    let mut state = STATE.lock();
    if state.in_iterations && state.received.is_none() {
        state.received = Some(signal);
        CANCELLED.store(true, Ordering::Relaxed);
        say(&format!(
            "{}: the run ends after this iteration; one more signal ends the program at once",
            signal.name()
        ));
        return;
    }
    drop(state);
    let _line = LINE.try_lock_for(PATIENCE);
    abort_writes();
    say(&format!("ended by {}", signal.name()));
    // Not `std::process::exit`: other threads still work with what it would destroy.
    signal_hook::low_level::exit(signal.exit_code().into());
}

/// Writes a text to the standard error if that takes it soon.
fn say(text: &str) {
    let errors = std::io::stderr();
    let mut ready = [PollFd::new(&errors, PollFlags::OUT)];
    // It has a value: half a second is in the range.
    let patience = PATIENCE.try_into().unwrap_or_default();
    if poll(&mut ready, Some(&patience)) == Ok(1) {
        // Not through the lock of the standard library, which somebody who waits may hold. If it cannot
        // be written, the exit code still says it.
        let _ = rustix::io::write(&errors, format!("fastlbp: {text}\n").as_bytes());
    }
}

/// A run that a signal can end.
pub struct Iterations(());

/// Until what this gives is dropped, the first signal ends iterations and not the program; whoever runs them
/// asks [`control`] after each.
pub fn iterations() -> Iterations {
    STATE.lock().in_iterations = true;
    Iterations(())
}

impl Drop for Iterations {
    fn drop(&mut self) {
        STATE.lock().in_iterations = false;
    }
}

/// Whether the run continues.
pub fn control() -> Control {
    match CANCELLED.load(Ordering::Relaxed) {
        true => Control::Cancel,
        false => Control::Continue,
    }
}

/// The signal that has ended the run, if there was one.
pub fn received() -> Option<Signal> {
    STATE.lock().received
}

/// While this is there, signals wait: a line is written that must be whole.
pub fn whole_line() -> MutexGuard<'static, ()> {
    LINE.lock()
}
