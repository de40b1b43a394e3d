//! Running a program with a whole input.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a command writes that reads this input.
pub fn converse(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_string();
    // The answers must be read while the input is written: either pipe may fill up.
    let writer = std::thread::spawn(move || {
        // The program may end before it has read everything, as after BYE.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}
