//! The structure of the sources: no file of `src` imports from another one that imports from it, directly or
//! in a loop.
//!
//! Of two such files, neither can be understood, tested or moved without the other. What ties them is
//! mostly an item in the wrong place: it goes to a file of its own.

#[path = "architecture/imports.rs"]
mod imports;

use imports::Imports;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why some imports may close a circle, and the two files, or folders, of each.
const EXCEPTIONS: [(&str, &[(&str, &str)]); 2] = [
    (
        "the table lists the kinds of factors, and each kind says what it is in terms of the table: its number, and \
         the store of its parameters among the others",
        &[("factor/", "factor/")],
    ),
    (
        "the kinds of factors take the choice between sums and maxima from the file that re-exports them",
        &[("kernel/horn.rs", "kernel/mod.rs"), ("kernel/table.rs", "kernel/mod.rs")],
    ),
];

/// The files or folders of all exceptions.
fn exceptions() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXCEPTIONS.into_iter().flat_map(|(_, pairs)| pairs.iter().copied())
}

/// Whether an import is one that an exception names.
fn is_of(exception: (&str, &str), (from, to): &(String, String)) -> bool {
    let matches =
        |file: &str, name: &str| file == name || (name.ends_with('/') && file.starts_with(name));
    matches(from, exception.0) && matches(to, exception.1)
}

/// The files that can reach each file by imports.
fn reached(imports: &Imports) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        next.entry(from.as_str()).or_default().push(to.as_str());
    }
    let from = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut waiting = next[start].clone();
        while let Some(file) = waiting.pop() {
            if seen.insert(file) {
                waiting.extend(next.get(file).into_iter().flatten());
            }
        }
        seen
    };
    next.keys().map(|&file| (file, from(file))).collect()
}

/// The imports that are part of a circle.
fn in_circles(imports: &Imports) -> Imports {
    let reached = reached(imports);
    let closes = |(from, to): &(String, String)| {
        reached.get(to.as_str()).is_some_and(|files| files.contains(from.as_str()))
    };
    imports.iter().filter(|(ends, _)| closes(ends)).map(|(a, b)| (a.clone(), b.clone())).collect()
}

fn told(imports: &Imports) -> String {
    let lines = imports.iter().map(|((from, to), names)| {
        format!("  {from} -> {to}: {}\n", names.iter().cloned().collect::<Vec<_>>().join(", "))
    });
    lines.collect()
}

#[test]
fn no_files_import_each_other() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = imports::of_crate(&source.join("lib.rs"));
    assert!(all.len() > 800, "only {} imports were seen", all.len());
    let mut rest = all.clone();
    rest.retain(|ends, _| !exceptions().any(|exception| is_of(exception, ends)));
    let circles = in_circles(&rest);
    assert!(circles.is_empty(), "files that import each other:\n{}", told(&circles));
    // An exception that is not needed any more goes.
    for exception in exceptions() {
        let mut with = rest.clone();
        let of_it = all.iter().filter(|(ends, _)| is_of(exception, ends));
        with.extend(of_it.map(|(ends, names)| (ends.clone(), names.clone())));
        assert!(
            !in_circles(&with).is_empty(),
            "{exception:?} closes no circle: it needs no exception"
        );
    }
}

#[test]
fn no_files_of_the_program_import_each_other() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/fastlbp");
    let all = imports::of_crate(&source.join("main.rs"));
    assert!(all.len() > 50, "only {} imports were seen", all.len());
    let circles = in_circles(&all);
    assert!(circles.is_empty(), "files that import each other:\n{}", told(&circles));
}

/// The imports in circles of a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    in_circles(&imports::of_crate(&directory.path().join("lib.rs"))).into_keys().collect()
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    let circle = [("a.rs".to_owned(), "b.rs".to_owned()), ("b.rs".to_owned(), "a.rs".to_owned())];
    for b in [
        "use crate::a::A; pub fn b(_: A) {}",
        "use super::a::{A as Other, C}; pub fn b(_: Other, _: C) {}",
        "use crate::a; pub fn b(_: a::A) {}",
        "use crate::a::*; pub fn b(_: A) {}",
        "pub(in crate::a) fn b(_: super::a::A) {}",
        "pub fn b() { use crate::a::A; }",
        "pub fn b() { assert!(super::a::A::new()) }",
        "pub fn b(_: crate::A) {}",
        "mod inner { use super::super::a::A; } pub fn b() {}",
        "#[cfg(any(test, unix))] use crate::a::A; pub fn b() {}",
    ] {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "use crate::b::b; pub struct A; pub struct C;"),
            ("b.rs", b),
        ];
        assert_eq!(circles_of(&files), circle, "{b}");
    }
}

#[test]
fn a_parent_and_a_child_make_a_circle_and_so_do_three_files() {
    let of_child = |text| [("lib.rs", "mod a;"), ("a/mod.rs", text), ("a/b.rs", "use super::X;")];
    assert_eq!(circles_of(&of_child("mod b; pub struct X;")).len(), 0);
    assert_eq!(circles_of(&of_child("mod b; pub struct X; pub use b::Y;")).len(), 2);
    assert_eq!(circles_of(&of_child("mod b; pub struct X; fn x() { b::y() }")).len(), 2);
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "#[cfg_attr(unix, path = \"other.rs\")] mod d; pub use d::C;"),
        ("other.rs", "use crate::a::A; pub struct C;"),
    ];
    assert_eq!(circles_of(&files).len(), 3);
}

#[test]
fn what_is_no_import_makes_no_circle() {
    for b in [
        "// use crate::a::A;\npub fn b() {}",
        "/// [`crate::a::A`]\npub fn b() { \"crate::a::A\"; }",
        "#[cfg(test)] mod tests { use crate::a::A; } pub fn b() {}",
        "#[cfg(all(test, unix))] use crate::a::A; pub fn b() {}",
        "pub(in crate::a) fn b() {}",
        "use std::fmt; pub fn b() -> fmt::Result { fmt::a() }",
        "use crate::c::C; pub fn b(_: C) {}",
    ] {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::b; pub struct A;"),
            ("b.rs", b),
            ("c.rs", "pub struct C;"),
        ];
        assert_eq!(circles_of(&files), [], "{b}");
    }
}
