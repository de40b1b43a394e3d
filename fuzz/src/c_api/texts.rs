//! Strings that functions take.

use super::table::Text;
use crate::choices::Choices;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const SCHEDULES: &[&str] = &[
    "PARALL", "SEQFIX", "SEQRND", "SEQMAX", "BLOCKS", "TOPO", "FWDBWD", "TREE", "seqfix", "X", "",
];

/// Keys of properties, each with values that it takes.
const PROPERTIES: &[(&str, &[&str])] = &[
    ("tol", &["1e-6", "0", "0.5"]),
    ("maxiter", &["3", "0", "18446744073709551615"]),
    ("maxtime", &["0.001", "inf", "0"]),
    ("updates", &["SEQFIX", "SEQRND", "PARALL", "BLOCKS", "TOPO", "FWDBWD", "TREE", "SEQMAX"]),
    ("damping", &["0.5", "0", "0.99"]),
    ("inference", &["SUMPROD", "MAXPROD"]),
    ("logdomain", &["0", "1"]),
    ("verbose", &["0", "1"]),
    ("threads", &["1", "2", "0"]),
    ("seed", &["7", "18446744073709551615"]),
    ("blocks", &["1", "3", "4294967295"]),
    ("backend", &["auto", "cpu"]),
    ("device", &["default", "0", "4000000000"]),
    ("contradiction", &["error", "vote"]),
    ("start", &["fresh", "warm"]),
    ("measure", &["variables", "all"]),
    ("active", &["off", "0", "0.25"]),
    ("nonsense", &["1"]),
];

/// Files that there are when a run begins, and what is in them.
const FILES: &[(&str, &str)] = &[
    ("a.causal_fg", include_str!("../../../tests/data/chain.causal_fg")),
    ("b.fg", include_str!("../../../tests/data/mixed.fg")),
    ("c.uai", include_str!("../../../tests/data/mixed.uai")),
    ("d.bif", include_str!("../../../tests/data/alert.bif")),
    ("wrong.fg", "1\n\n2\n"),
    ("e.obs", "1 1\n2 0\n"),
    ("f.obs", "99 1\n0 true\n"),
    ("g.evid", "1\n0 1\n"),
];

/// Those that there are not, or that are no files.
const OTHERS: &[&str] =
    &["new.causal_fg", "new.fg", "new.uai.gz", "new.fg.gz", "folder.fg", "x.txt", "no/x.fg"];

static CHANGED: AtomicBool = AtomicBool::new(false);

/// To be said after a call that may have written a file.
pub fn files_have_changed() {
    CHANGED.store(true, Ordering::Relaxed);
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        files_have_changed();
        crate::parsers::scratch("calls")
    })
}

/// Makes the files what they are when a run begins.
pub fn prepare() {
    let folder = folder();
    if !CHANGED.swap(false, Ordering::Relaxed) {
        return;
    }
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder.join("folder.fg")).expect("a folder for files");
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

fn is_evidence(name: &str) -> bool {
    name.ends_with(".obs") || name.ends_with(".evid")
}

/// The name and the text of a graph's file.
pub fn graph(choices: &mut Choices) -> (&'static str, &'static str) {
    let graphs: Vec<_> = FILES.iter().copied().filter(|(name, _)| !is_evidence(name)).collect();
    choices.pick(&graphs)
}

/// A string that a function is likely to take; `key` is the one that the call has taken already.
pub fn likely(function: &str, text: Text, key: &mut usize, choices: &mut Choices) -> Vec<u8> {
    match text {
        Text::File => {
            let known = FILES.iter().map(|(name, _)| *name);
            let mut names: Vec<&str> = known.chain(OTHERS.iter().copied()).collect();
            if !choices.once_in(8) {
                names.retain(|name| is_evidence(name) == function.contains("evidence"));
            }
            let name = choices.pick(&names);
            folder().join(name).into_os_string().into_encoded_bytes()
        }
        Text::Schedule => choices.pick(SCHEDULES).into(),
        Text::Key => {
            *key = choices.below(PROPERTIES.len());
            PROPERTIES[*key].0.into()
        }
        Text::Value => choices.pick(PROPERTIES[*key].1).into(),
    }
}

/// Any string.
pub fn nasty(choices: &mut Choices) -> Vec<u8> {
    match choices.below(6) {
        0 => Vec::new(),
        1 => vec![0xff, 0xfe],
        2 => b"nan".into(),
        3 => b"-1".into(),
        4 => "1e999\u{e9}".into(),
        _ => (0..choices.below(40)).map(|_| choices.byte().max(1)).collect(),
    }
}
