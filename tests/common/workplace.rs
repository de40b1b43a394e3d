//! A directory in which the program runs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A directory with files.
pub struct Workplace(TempDir);

impl Workplace {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let workplace = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = workplace.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        workplace
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fastlbp"));
        command.args(arguments.split_whitespace()).stdin(Stdio::null()).current_dir(&self.0);
        command.output().unwrap()
    }

    /// Exit code, standard output and error.
    pub fn all(&self, arguments: &str) -> (Option<i32>, String, String) {
        let output = self.run(arguments);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Standard output of a run that succeeds without a word on the standard error.
    #[track_caller]
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn succeed(&self, arguments: &str) -> String {
        let (out, err) = self.warned(arguments);
        assert_eq!(err, "", "{arguments}");
        out
    }

    /// Standard output and error of a run that succeeds.
    #[track_caller]
    pub fn warned(&self, arguments: &str) -> (String, String) {
        let (code, out, err) = self.all(arguments);
        assert_eq!(code, Some(0), "{arguments}: {err}");
        (out, err)
    }

    /// Text of the error with which a run ends, without output.
    #[track_caller]
    pub fn fail(&self, code: i32, arguments: &str) -> String {
        let (found, out, err) = self.all(arguments);
        assert_eq!((found, out.as_str()), (Some(code), ""), "{arguments}: {err}");
        err.strip_prefix("fastlbp: error: ").expect("an error").to_string()
    }

    /// Checks that a command ends with a code and an error that contains some words.
    #[track_caller]
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn fail_with(&self, code: i32, arguments: &str, words: &str) {
        let error = self.fail(code, arguments);
        assert!(error.contains(words), "{arguments}: {error}");
    }

    /// Checks that a command ends with a code and an error that begins with some words.
    #[track_caller]
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn fail_at(&self, code: i32, arguments: &str, start: &str) {
        let error = self.fail(code, arguments);
        assert!(error.starts_with(start), "{arguments}: {error}");
    }

    /// Checks that `command` with each of some options is bad usage, for a reason that is told.
    #[track_caller]
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn refuses(&self, command: &str, cases: &[(&str, &str)]) {
        for (options, why) in cases {
            let error = self.fail(2, &format!("{command} {options}"));
            assert!(error.contains(why), "{options}: {error}");
        }
    }
}

/// A file of `tests/data`.
pub fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}
