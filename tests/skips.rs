//! `scripts/check-skips` accepts expected skips only.
#![cfg(unix)]

use std::process::{Command, Output};

fn check(log: &str) -> Output {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), log).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/check-skips");
    Command::new(script).arg(file.path()).output().unwrap()
}

#[test]
fn only_expected_skips_are_let_through() {
    let expected = "skipped: fuzz: coverage-guided runs under a sanitizer: scripts/fuzz";
    let output = check(&format!("running 1 test\n{expected}\n{expected}\ntest result: ok.\n"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{expected}\n"));
    assert!(check("nothing is left out\n").status.success());
    for (unexpected, named) in [
        ("test a ... skipped: golden::tiny_graphs: no time", "golden::tiny_graphs: no time"),
        ("test engine::too_slow ... ignored", "ignored: engine::too_slow"),
        (" 1/9 Test  #3: cpp.g++.c++11 ....***Skipped   0.01 sec", "ctest: cpp.g++.c++11"),
    ] {
        let output = check(&format!("{expected}\n{unexpected}\n"));
        assert_eq!(output.status.code(), Some(1), "{unexpected}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(&format!("skipped: {named}\n")), "{errors}");
        assert!(!errors.contains(expected), "{errors}");
    }
}

/// Every entry has a condition, a pattern, and a reason.
#[test]
fn the_list_is_well_formed() {
    let list = include_str!("expected_skips.txt");
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(parts.len() == 3 && parts.iter().all(|part| !part.is_empty()), "{line}");
        assert_ne!(parts[1].trim_matches('*'), "", "{line}: a pattern of everything");
    }
}
