//! The shared library exports the functions of the header and nothing else, and the C tests call
//! each of them.
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = file("include/fastlbp.h");
    let declarations = header.split("\nFASTLBP_API").skip(1);
    let names = declarations.map(|declaration| {
        let signature = declaration.split('(').next().expect("a parameter list");
        signature.rsplit([' ', '*', '\n']).next().expect("a name").to_owned()
    });
    names.collect()
}

/// The shared library, of the crate that this test has.
fn library() -> PathBuf {
    built("libfastlbp.so")
}

/// A file of the C library, which a test does not depend on: cargo links it here, with the profile and the features of this
/// test, so that it compiles nothing but that.
fn built(name: &str) -> PathBuf {
    static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().expect("the path of this test");
        // target[/TRIPLE]/PROFILE/deps/exports-HASH
        let output = test.ancestors().nth(2).expect("the directory of a profile");
        let profile = match output.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "dev",
            name => name.expect("the name of a profile"),
        };
        let target_directory = output.parent().expect("cargo's target directory");
        let mut features = Vec::new();
        for (name, is_on) in [
            ("fastlbp/default", cfg!(feature = "default")),
            ("fastlbp/cli", cfg!(feature = "cli")),
            ("fastlbp-c/default", cfg!(feature = "cuda")),
            ("fastlbp-c/test-hooks", cfg!(feature = "test-hooks")),
        ] {
            if is_on {
                features.push(name);
            }
        }
        // (With any test, cargo chooses the features of dependencies as for all.)
        let status = Command::new(env!("CARGO"))
            .args(["build", "--locked", "--quiet", "--package=fastlbp", "--package=fastlbp-c"])
            .args(["--lib", "--test=exports", "--no-default-features"])
            .args([format!("--features={}", features.join(",")), format!("--profile={profile}")])
            .arg("--target-dir")
            .arg(target_directory)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo");
        assert!(status.success(), "cargo does not build the C library");
        output.to_owned()
    });
    let path = DIRECTORY.join(name);
    assert!(path.exists(), "cargo made no {}", path.display());
    path
}

/// What `readelf` says of a file, or nothing where it is not installed.
fn inspect(option: &str, file: &Path) -> Option<String> {
    let program = "readelf";
    match Command::new(program).args([option, "--wide"]).arg(file).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program} failed");
            Some(String::from_utf8(output.stdout).expect("UTF-8"))
        }
        Err(_) => {
            common::report_skipped(&format!("{program} is not installed"));
            None
        }
    }
}

#[test]
fn the_library_exports_what_the_header_declares() {
    let Some(symbols) = inspect("--dyn-syms", &library()) else { return };
    let mut exported = BTreeSet::new();
    for line in symbols.lines() {
        // Number, value, size, type, binding, visibility, section, name.
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [_, _, _, _, "GLOBAL" | "WEAK", _, section, name] = fields[..]
            && section != "UND"
        {
            exported.insert(name.to_owned());
        }
    }
    let mut wanted = declared();
    if cfg!(feature = "test-hooks") {
        wanted.extend(["fastlbp_test_panic".into(), "fastlbp_test_panic_reading".into()]);
    }
    assert!(wanted.len() > 80, "{} functions in the header", wanted.len());
    assert_eq!(exported, wanted);
    assert!(exported.iter().all(|name| name.starts_with("fastlbp_")));
}

#[test]
fn the_library_has_a_soname_and_needs_no_driver() {
    let Some(dynamic) = inspect("--dynamic", &library()) else { return };
    assert!(dynamic.contains("Library soname: [libfastlbp.so.0]"), "{dynamic}");
    for line in dynamic.lines().filter(|line| line.contains("(NEEDED)")) {
        assert!(!line.contains("libcuda"), "{line}");
    }
}

/// Names of the driver's functions among the symbols that `readelf` lists: undefined and defined ones.
fn driver_symbols(symbols: &str) -> [BTreeSet<&str>; 2] {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for line in symbols.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // Number, value, size, type, binding, visibility, section, name.
        if let [_, _, _, _, "GLOBAL" | "WEAK", visibility, section, name] = fields[..]
            && name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase))
        {
            assert!(section == "UND" || visibility == "HIDDEN", "{line}");
            found[usize::from(section != "UND")].insert(name);
        }
    }
    found
}

#[test]
fn no_name_of_the_driver_is_left_undefined() {
    let Some(symbols) = inspect("--dyn-syms", &library()) else { return };
    let [undefined, defined] = driver_symbols(&symbols);
    assert!(undefined.is_empty() && defined.is_empty(), "{undefined:?} {defined:?}");
    // A C program may link to any object of the static library.
    let archive = built("libfastlbp.a");
    let Some(symbols) = inspect("--syms", &archive) else { return };
    let [undefined, defined] = driver_symbols(&symbols);
    assert_eq!(undefined.difference(&defined).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(defined.contains("cuInit"), cfg!(feature = "cuda"));
}

/// C without its comments and without what strings contain.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' || first == '\'' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == first && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    code
}

/// Names that are called: those with an opening parenthesis behind them.
fn called(code: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let heads = code.match_indices('(').map(|(place, _)| code[..place].trim_end());
    heads.map(|head| &head[head.rfind(|c| !is_of_name(c)).map_or(0, |at| at + 1)..]).collect()
}

#[test]
fn calls_are_found_in_code_only() {
    let text =
        "/* one( */ two(1); // three(\n char *s = \"\\\"four(\", c = '\\''; five (six(), seven);";
    let code = code_of(text);
    let names: Vec<&str> = called(&code).into_iter().collect();
    assert_eq!(names, ["five", "six", "two"]);
}

#[test]
fn the_c_tests_call_every_function() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let mut code = String::new();
    for entry in std::fs::read_dir(directory).expect("tests/c") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        // (test_header.c names functions without calling them.)
        if (name.starts_with("test_") || name == "check.h") && name != "test_header.c" {
            code += &code_of(&file(&format!("tests/c/{name}")));
        }
    }
    let called = called(&code);
    let missing: Vec<String> =
        declared().into_iter().filter(|name| !called.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no C test calls {missing:?}");
}
