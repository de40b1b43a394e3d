//! `include/fastlbp.h` is what cbindgen makes of `src/ffi`.
//!
//! After a change of the C interface: `FASTLBP_UPDATE_HEADER=1 cargo test --test header`.

use std::path::Path;

/// The files with public items, in the order of the header.
const SOURCES: [&str; 17] = [
    "version.rs",
    "status.rs",
    "log.rs",
    "graph.rs",
    "structured.rs",
    "contents.rs",
    "factor_contents.rs",
    "bp.rs",
    "settings.rs",
    "evidence.rs",
    "run.rs",
    "batch.rs",
    "results.rs",
    "decoding.rs",
    "messages.rs",
    "schedule.rs",
    "device.rs",
];

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
fn the_header_documents_every_function_and_parameter() {
    let header = generate();
    let mut functions = 0;
    for (position, _) in header.match_indices("\nFASTLBP_API") {
        let signature = header[position + 1..].split(';').next().expect("a declaration");
        let description = header[..position].rsplit("/**").next().expect("a comment");
        assert!(description.ends_with(" */"), "no description before: {signature}");
        let (start, parameters) = signature.split_once('(').expect("a parameter list");
        for parameter in parameters.trim_end_matches(')').split(',') {
            let name = parameter.rsplit([' ', '*']).next().expect("a name");
            let documented = name == "void" || description.contains(&format!("@param {name} "));
            assert!(documented, "no @param {name} for: {signature}");
        }
        let returns = !start.contains(" void ");
        assert_eq!(description.contains("@return"), returns, "@return for: {signature}");
        functions += 1;
    }
    assert!(functions > 80, "{functions} functions");
}
