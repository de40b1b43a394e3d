//! Every format: what is read is valid, and written and read again it is the same.

mod beside;
mod graphs;
mod written;

pub use beside::{observations, queries, ranks, soft_evidence, uai_evidence};
pub use graphs::{bif, causal_fg, fg, gzip, uai};
pub use written::{marginals, states};

use fastlbp::Error;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file of this process, in memory where the system has a place for that.
pub fn scratch(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let above = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = above.join(format!("fastlbp-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files");
        // SAFETY: `remove` takes no arguments and may be called at any time.
        unsafe { libc::atexit(remove) };
        folder
    });
    extern "C" fn remove() {
        if let Some(folder) = FOLDER.get() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
    folder.join(name)
}

/// A text of a file is refused with the file's name, a line that it has, and what would be right.
fn check_parse_error(error: &Error, path: &Path, bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    match error {
        Error::Parse { path: named, line, message } => {
            assert_eq!(named, path, "{error}");
            assert!((1..=lines + 1).contains(line), "{error}: of {lines} lines");
            assert!(!message.is_empty());
        }
        Error::InvalidArgument(text) | Error::LimitExceeded(text) => assert!(!text.is_empty()),
        _ => panic!("an unexpected error: {error:?}"),
    }
}

/// Bytes that reading a text may take: a small multiple of it, and what reading anything takes.
fn check_memory(peak: usize, length: usize, more: usize) {
    let most = (64 << 10) + 256 * length + more;
    assert!(peak <= most, "{peak} bytes of memory for {length} bytes: {most} are allowed");
}
