//! Running the program with signals, with a terminal, or with another libc.

use crate::common::report_skipped;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The program, with the signals as a shell starts it in the foreground, whoever runs the tests.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
    command.stdin(Stdio::null()).env_remove("FASTLBP_DEVICE");
    set_signals(&mut command, libc::SIG_DFL);
    command
}

/// Lets a process begin with such a disposition of the signals that end it.
pub fn set_signals(command: &mut Command, disposition: libc::sighandler_t) {
    let set = move || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the disposition is to ignore the signal or its default, no function.
            unsafe { libc::signal(signal, disposition) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only a system call is made, and no memory is allocated.
    unsafe { command.pre_exec(set) };
}

/// Sends a signal.
pub fn kill(child: &Child, signal: i32) {
    // SAFETY: the process is a child that was not waited for, so that the number is its own.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

/// Makes a pipe with a name.
pub fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A process whose standard error is a terminal, on which it shows what it does.
pub struct OnTerminal {
    pub child: Child,
    screen: File,
    shown: String,
    /// Where the text begins that was not waited for.
    rest: usize,
}

impl OnTerminal {
    pub fn start(mut command: Command) -> Self {
        let (screen, terminal) = open_terminal();
        let child = command.stderr(terminal).spawn().unwrap();
        drop(command);
        Self { child, screen, shown: String::new(), rest: 0 }
    }

    /// A process whose standard input and output are the terminal, too.
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn start_dialog(mut command: Command) -> Self {
        let (screen, terminal) = open_terminal();
        command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap());
        let child = command.stderr(terminal).spawn().unwrap();
        drop(command);
        Self { child, screen, shown: String::new(), rest: 0 }
    }

    /// Types a line.
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn type_line(&mut self, line: &str) {
        self.screen.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits until this is shown after what was waited for before; gives all that is shown up to there.
    #[track_caller]
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn wait_for_next(&mut self, text: &str) -> String {
        loop {
            if let Some(position) = self.shown[self.rest..].find(text) {
                let end = self.rest + position + text.len();
                let shown = self.shown[self.rest..end].to_string();
                self.rest = end;
                return shown;
            }
            assert!(self.read(), "'{text}' is not shown: {}", &self.shown[self.rest..]);
        }
    }

    /// Waits until this is shown.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            assert!(self.read(), "'{text}' is not shown: {}", self.shown);
        }
    }

    /// Waits for the end; gives everything that was shown.
    pub fn wait(mut self) -> (ExitStatus, String) {
        while self.read() {}
        (self.child.wait().unwrap(), self.shown)
    }

    /// Reads some more; `false` at the end, which Linux tells as an error.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let length = self.screen.read(&mut bytes).unwrap_or(0);
        self.shown += &String::from_utf8_lossy(&bytes[..length]);
        length > 0
    }
}

/// The two ends of a terminal: the screen with the keyboard, and what a process has.
fn open_terminal() -> (File, OwnedFd) {
    let (mut screen, mut terminal) = (-1, -1);
    // SAFETY: both numbers are written; there is no name, and modes and size are the default ones.
    let opened = unsafe {
        libc::openpty(
            &mut screen,
            &mut terminal,
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    assert_eq!(opened, 0, "no terminal");
    // SAFETY: the descriptors have just been opened and belong to nobody else.
    let [screen, terminal] =
        [screen, terminal].map(|number| unsafe { OwnedFd::from_raw_fd(number) });
    for descriptor in [&screen, &terminal] {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC).unwrap();
    }
    (screen.into(), terminal)
}

/// The library of tests/files/interpose.c in a directory; `None`, reported as skipped, without a compiler.
pub fn interposer(directory: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/interpose.c");
    let library = directory.join("interpose.so");
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]);
    let Ok(compiled) = command.arg(&library).arg(source).arg("-ldl").output() else {
        report_skipped("there is no compiler cc");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(library)
}
