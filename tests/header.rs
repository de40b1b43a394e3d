//! `include/fastlbp.h` is the output of cbindgen for `src/ffi`, in chapters.
//!
//! After a change of the C interface: `FASTLBP_UPDATE_HEADER=1 cargo test --test header`.

use std::path::Path;

/// The files with public items, in the order of the header. One whose first comment begins with a title opens a
/// chapter with that comment; any other one continues the chapter before it.
const SOURCES: [&str; 18] = [
    "version.rs",
    "status.rs",
    "log.rs",
    "graph.rs",
    "factors.rs",
    "structured.rs",
    "contents.rs",
    "bp.rs",
    "settings.rs",
    "properties.rs",
    "schedule.rs",
    "evidence.rs",
    "run.rs",
    "report.rs",
    "results.rs",
    "messages.rs",
    "batch.rs",
    "device.rs",
];

/// Parameters that mean the same everywhere, which the head of the header describes.
const CONVENTIONAL: [&str; 6] = ["graph", "bp", "out", "buffer", "length", "needed"];

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn config() -> cbindgen::Config {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml")
}

/// The first comment of a file, line by line.
fn first_comment(file: &str) -> Vec<String> {
    let text = read(&format!("src/ffi/{file}"));
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()).collect()
}

/// A file as cbindgen is to read it: the functions of `functions!` (see `src/ffi/entry.rs`) written out, since it expands
/// no macros.
fn source(file: &str) -> String {
    let (mut text, mut is_inside) = (String::new(), false);
    for line in read(&format!("src/ffi/{file}")).lines() {
        match line {
            "functions! {" => is_inside = true,
            "}" if is_inside => is_inside = false,
            _ if is_inside && !line.contains("///") => {
                let line =
                    line.replace("    fn ", "#[unsafe(no_mangle)] pub unsafe extern \"C\" fn ");
                text += &line.replace(") =>", ") -> fastlbp_status {").replace(';', "}");
            }
            _ => text += line,
        }
        text += "\n";
    }
    text
}

/// Constants, types and functions of a file, as cbindgen translates them.
fn items(file: &str) -> String {
    let config =
        cbindgen::Config { header: None, after_includes: None, line_length: 100, ..config() };
    let folder = tempfile::tempdir().expect("a folder for what cbindgen reads");
    let path = folder.path().join(file);
    std::fs::write(&path, source(file)).expect("the file can be written");
    let builder = cbindgen::Builder::new().with_config(config).with_src(path);
    let mut text = Vec::new();
    builder.generate().expect("the C interface can be translated").write(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");
    // All chapters are in one such block.
    let text = text.replace("#ifdef __cplusplus\nextern \"C\" {\n#endif  // __cplusplus\n", "");
    let text = text.replace("#ifdef __cplusplus\nextern \"C\" {\n#endif // __cplusplus\n", "");
    let text = text.replace("#ifdef __cplusplus\n}  // extern \"C\"\n#endif  // __cplusplus\n", "");
    text.trim().to_owned()
}

fn generate() -> String {
    let config = config();
    let (mut contents, mut chapters, mut number) = (Vec::new(), String::new(), 0);
    for file in SOURCES {
        let comment = first_comment(file);
        if let Some(title) = comment[0].strip_prefix("# ") {
            number += 1;
            contents.push(format!(" * {number}. {title}"));
            let line = "=".repeat(97);
            chapters += &format!("\n/* {line}\n * {number}. {title}\n");
            for text in &comment[1..] {
                chapters += format!(" * {text}").trim_end();
                chapters += "\n";
            }
            chapters += &format!(" * {line} */\n");
        }
        chapters += &format!("\n{}\n", items(file));
    }
    let head = config.header.expect("a head").replace("@CONTENTS@", &contents.join("\n"));
    format!(
        "{}\n\n#ifndef FASTLBP_H\n#define FASTLBP_H\n\n{}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         {chapters}\n#ifdef __cplusplus\n}} // extern \"C\"\n#endif\n\n#endif /* FASTLBP_H */\n",
        head.trim(),
        config.after_includes.expect("macros").trim(),
    )
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

/// The interface stays small: what goes beyond this is first asked whether it is a function.
const MOST_FUNCTIONS: usize = 94;

/// Each file with a function of the header is in the list.
#[test]
fn no_file_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi");
    for entry in std::fs::read_dir(root).expect("src/ffi") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let listed = SOURCES.contains(&name.as_str());
        let exports = read(&format!("src/ffi/{name}")).contains("\n#[unsafe(no_mangle)]");
        assert_eq!(listed, exports, "{name}");
    }
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
        let names = parameters.trim_end_matches(')').split(',');
        let names: Vec<&str> = names.filter_map(|name| name.rsplit([' ', '*']).next()).collect();
        for name in &names {
            // A length belongs to a buffer, or is one of another kind.
            let known =
                CONVENTIONAL.contains(name) && (*name != "length" || names.contains(&"buffer"));
            let documented =
                known || *name == "void" || description.contains(&format!("@param {name} "));
            assert!(documented, "no @param {name} for: {signature}");
        }
        let returns = start.split_whitespace().all(|word| word != "void");
        assert_eq!(description.contains("@return"), returns, "@return for: {signature}");
        functions += 1;
    }
    assert!(
        (80..=MOST_FUNCTIONS).contains(&functions),
        "{functions} functions: {MOST_FUNCTIONS} are the most there should be; see \"A C function\" in CONTRIBUTING.md"
    );
}
