//! How often each function was called, and with which result.

use super::table::{FUNCTIONS, Returns};
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Statuses are below it.
const STATUSES: usize = 18;

/// Functions that never succeed here, and why.
const NEVER_OK: &[(&str, &str)] = &[
    ("fastlbp_device_count", "needs a CUDA device"),
    ("fastlbp_device_name", "needs a CUDA device"),
    ("fastlbp_device_memory", "needs a CUDA device"),
    ("fastlbp_device_driver_version", "needs a CUDA device"),
    ("fastlbp_device_start", "needs a CUDA device"),
];

fn counts() -> &'static [[AtomicU64; STATUSES]] {
    static COUNTS: OnceLock<Vec<[AtomicU64; STATUSES]>> = OnceLock::new();
    COUNTS.get_or_init(|| {
        if let Some(path) = std::env::var_os("FASTLBP_FUZZ_CALLS") {
            // What libFuzzer's programs did is written when they end.
            static PATH: OnceLock<std::ffi::OsString> = OnceLock::new();
            extern "C" fn write() {
                if let (Some(path), Ok(text)) = (PATH.get(), report(false)) {
                    let _ = std::fs::write(path, text);
                }
            }
            let _ = PATH.set(path);
            // SAFETY: `write` takes no arguments and may be called at any time.
            unsafe { libc::atexit(write) };
        }
        FUNCTIONS.iter().map(|_| [const { AtomicU64::new(0) }; STATUSES]).collect()
    })
}

pub fn note(function: usize, status: usize) {
    counts()[function][status].fetch_add(1, Relaxed);
}

/// Calls and results, function by function. An error names those that have never succeeded though
/// nothing says that they cannot, if `strict`.
pub fn report(strict: bool) -> Result<String, String> {
    let mut text = String::new();
    let mut never = Vec::new();
    let (mut calls, mut successes) = (0, 0);
    for (function, counts) in FUNCTIONS.iter().zip(counts()) {
        let counts: Vec<u64> = counts.iter().map(|count| count.load(Relaxed)).collect();
        let all: u64 = counts.iter().sum();
        calls += all;
        successes += counts[0];
        let others = (1..STATUSES).filter(|&status| counts[status] > 0);
        let others: String = others.map(|status| format!(" {status}:{}", counts[status])).collect();
        let name = function.name;
        writeln!(text, "  {name}: {all} calls, {} OK;{others}", counts[0]).expect("memory");
        let excused = NEVER_OK.iter().any(|&(excused, _)| excused == name);
        if function.returns == Returns::Status && counts[0] == 0 && !excused {
            never.push(name);
        }
    }
    let mut head = format!("c_api: {calls} calls, {successes} of them OK");
    for (name, why) in NEVER_OK {
        write!(head, "\n  not expected to succeed: {name} ({why})").expect("memory");
    }
    if strict && !never.is_empty() {
        return Err(format!("{head}\n{text}\nnever OK: {}: see src/c_api", never.join(", ")));
    }
    // The table is long: it goes to where it is asked for.
    Ok(if strict { head + "\n" } else { format!("{head}\n{text}") })
}
