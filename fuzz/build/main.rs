//! Reads the declarations of `include/fastlbp.h` and what their comments say of each parameter, and makes
//! a table of all functions of it, for `src/c_api`. A declaration or comment that is not understood ends
//! the build: it is to be worded as those of the other functions are, or `classify.rs` to learn it.

mod classify;
mod emit;
mod header;

use std::path::Path;

fn main() {
    let header = "../include/fastlbp.h";
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={header}");
    let text = std::fs::read_to_string(header).unwrap_or_else(|error| panic!("{header}: {error}"));
    let header = header::parse(&text);
    let code = emit::table(&header);
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("functions.rs"), code).expect("a file in OUT_DIR");
}
