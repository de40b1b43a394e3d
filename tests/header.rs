//! `include/fastlbp.h` is what cbindgen makes of `src/ffi`.
//!
//! After a change of the C interface: `FASTLBP_UPDATE_HEADER=1 cargo test --test header`.

use std::path::Path;

/// The files with public items, in the order of the header.
const SOURCES: [&str; 6] = ["version.rs", "status.rs", "log.rs", "graph.rs", "bp.rs", "schedule.rs"];

fn generate() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in SOURCES {
        builder = builder.with_src(root.join("src/ffi").join(file));
    }
    let mut header = Vec::new();
    builder.generate().expect("the C interface can be translated").write(&mut header);
    String::from_utf8(header).expect("UTF-8")
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/fastlbp.h");
    let header = generate();
    if std::env::var_os("FASTLBP_UPDATE_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(&path, &header).expect("include/fastlbp.h can be written");
        return;
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, (new, old))) =
        header.lines().zip(checked_in.lines()).enumerate().find(|(_, (new, old))| new != old)
    {
        panic!(
            "include/fastlbp.h, line {}: '{old}', but src/ffi gives '{new}'; \
             run FASTLBP_UPDATE_HEADER=1 cargo test --test header",
            line + 1
        );
    }
    assert!(
        header == checked_in,
        "include/fastlbp.h is not up to date; run FASTLBP_UPDATE_HEADER=1 cargo test --test header"
    );
}

#[test]
fn the_header_documents_every_function() {
    let header = generate();
    let mut previous = "";
    for line in header.lines() {
        if line.starts_with("FASTLBP_API") {
            assert_eq!(previous, " */", "no description before: {line}");
        }
        previous = line;
    }
}
