//! Declarations and comments of the header.

use std::collections::BTreeMap;

pub struct Header {
    pub functions: Vec<Function>,
    /// Integers that are `#define`d, and the numbers of statuses.
    pub constants: BTreeMap<String, i64>,
    /// Names of the types of callbacks.
    pub callbacks: Vec<String>,
}

pub struct Function {
    pub name: String,
    /// The type, without blanks.
    pub returns: String,
    pub parameters: Vec<Parameter>,
    /// What the comment says behind `@return`.
    pub outcome: String,
}

pub struct Parameter {
    pub name: String,
    /// The type, with single blanks, such as `const double *`.
    pub of: String,
    /// What the comment says of it.
    pub comment: String,
}

pub fn parse(text: &str) -> Header {
    let mut header =
        Header { functions: Vec::new(), constants: BTreeMap::new(), callbacks: Vec::new() };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (first, name, value) = (words.next(), words.next(), words.next());
        let status = line.trim().strip_suffix(',').and_then(|line| line.split_once(" = "));
        if let (Some("#define"), Some(name), Some(value)) = (first, name, value) {
            let number =
                if value == "UINT32_MAX" { Some(i64::from(u32::MAX)) } else { value.parse().ok() };
            header.constants.extend(number.map(|number| (name.to_string(), number)));
        } else if let Some((name, number)) = status.filter(|(name, _)| name.starts_with("FASTLBP"))
        {
            header.constants.insert(name.to_string(), number.parse().expect("a number"));
        }
        if let Some(rest) = line.strip_prefix("typedef ")
            && let Some((_, rest)) = rest.split_once("(*")
        {
            let (name, _) = rest.split_once(')').expect("the name of a type");
            header.callbacks.push(name.to_string());
        }
    }
    let mut rest = text;
    let mut comment = "";
    loop {
        let (start, function) = match (rest.find("\n/**"), rest.find("\nFASTLBP_API")) {
            (None, None) => break,
            (Some(comment), Some(function)) if comment > function => (function, true),
            (Some(comment), _) => (comment, false),
            (None, Some(function)) => (function, true),
        };
        rest = &rest[start + 1..];
        if function {
            let end = rest.find(';').expect("the end of a declaration");
            header.functions.push(declaration(&rest["FASTLBP_API".len()..end], comment));
        } else {
            comment = &rest[..rest.find("*/").expect("the end of a comment")];
        }
    }
    assert!(header.functions.len() > 80, "the header's functions were not found");
    header
}

fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn declaration(text: &str, comment: &str) -> Function {
    let text = single_blanks(text);
    let (head, parameters) = text.split_once('(').expect("parameters");
    let parameters = parameters.strip_suffix(')').expect("the end of the parameters");
    let (returns, name) = split_name(head);
    let comments = comments(comment);
    let parameters = if parameters == "void" { "" } else { parameters };
    let parameters = parameters.split(", ").filter(|parameter| !parameter.is_empty());
    let has_buffer = text.contains("*buffer");
    Function {
        parameters: parameters
            .map(|parameter| {
                let (of, own) = split_name(parameter);
                let usual = || usual_comment(&own, has_buffer).map(String::from);
                let comment = comments.get(&*own).cloned().or_else(usual);
                Parameter {
                    comment: comment.unwrap_or_else(|| panic!("{name}: no @param {own}")),
                    name: own,
                    of,
                }
            })
            .collect(),
        outcome: comments.get("@return").cloned().unwrap_or_default(),
        name,
        returns,
    }
}

/// What the head of the header says of the parameters that mean the same everywhere.
fn usual_comment(name: &str, has_buffer: bool) -> Option<&'static str> {
    Some(match name {
        "graph" | "bp" => "The handle.",
        "out" => "Where the result is written.",
        "buffer" => "Where the results are written.",
        "length" if has_buffer => "Length of the buffer.",
        "needed" => "Where the length needed is written, or NULL.",
        _ => return None,
    })
}

/// A type and the name behind it.
fn split_name(text: &str) -> (String, String) {
    let start = text.rfind([' ', '*']).expect("a type and a name") + 1;
    (text[..start].trim().to_string(), text[start..].to_string())
}

/// What a comment says of each parameter, and behind `@return`.
fn comments(comment: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in comment.lines() {
        let line = line.trim().trim_start_matches('*').trim();
        if let Some(rest) = line.strip_prefix("@param ") {
            let (name, text) = rest.split_once(' ').expect("a description");
            found.insert(name.to_string(), text.to_string());
            current = Some(name.to_string());
        } else if let Some(text) = line.strip_prefix("@return ") {
            found.insert("@return".into(), text.to_string());
            current = Some("@return".into());
        } else if line.is_empty() {
            current = None;
        } else if let Some(name) = &current {
            let text = found.get_mut(name).expect("begun");
            *text += " ";
            *text += line;
        }
    }
    found
}
