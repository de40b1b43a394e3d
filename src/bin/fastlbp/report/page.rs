//! A page of `--report`: facts, figures and tables in one file that needs nothing else.

use crate::failure::{Failure, Outcome};
use fastlbp::format::save_text;
use std::path::Path;

/// Nothing is loaded from anywhere, and nothing is run.
const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<style>
body { font: 15px/1.45 sans-serif; color: #222; max-width: 60em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; }
h2 { font-size: 1.2em; border-bottom: 1px solid #ccc; margin-top: 2em; overflow-wrap: anywhere; }
figure { margin: 1.2em 0; }
figcaption { color: #555; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 0.8em 0; }
td, th { padding: 0.15em 1em 0.15em 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: normal; color: #555; }
td.number { text-align: right; }
footer { margin-top: 3em; color: #777; }
</style>
";

/// A page that is being written.
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    pub fn new(title: &str) -> Self {
        let title = escaped(title);
        let body = format!("<h1>{title}</h1>\n");
        Self { title, body }
    }

    pub fn heading(&mut self, text: &str) {
        self.body += &format!("<h2>{}</h2>\n", escaped(text));
    }

    pub fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", escaped(text));
    }

    /// What is known by name.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        self.body += "<table>\n";
        for (name, value) in facts {
            self.body +=
                &format!("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
        }
        self.body += "</table>\n";
    }

    /// A table; what is a number stands to the right.
    pub fn table(&mut self, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let cells: String = head.iter().map(|cell| format!("<th>{}</th>", escaped(cell))).collect();
        self.body += &format!("<table>\n<tr>{cells}</tr>\n");
        for row in rows {
            self.body += "<tr>";
            for cell in row {
                let class = if cell.parse::<f64>().is_ok() { " class=\"number\"" } else { "" };
                self.body += &format!("<td{class}>{}</td>", escaped(&cell));
            }
            self.body += "</tr>\n";
        }
        self.body += "</table>\n";
    }

    /// A figure, where there is one: SVG, which is taken as it is.
    pub fn figure(&mut self, caption: &str, svg: Option<String>) {
        if let Some(svg) = svg {
            let caption = escaped(caption);
            self.body += &format!(
                "<figure role=\"img\" aria-label=\"{caption}\">\n{}<figcaption>{caption}</figcaption>\n</figure>\n",
                svg
            );
        }
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Outcome {
        let Self { title, body } = self;
        let version = env!("CARGO_PKG_VERSION");
        let written = save_text(path, |sink| {
            write!(
                sink,
                "{HEAD}<title>{title}</title>\n</head>\n<body>\n{body}<footer>fastlbp {version}</footer>\n</body>\n</html>\n"
            )
        });
        written.map_err(Failure::output)
    }
}

/// A text as it can stand in HTML, also in an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() && c != '\n' => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_texts_and_not_markup() {
        let mut page = Page::new("<script>");
        page.facts(&[("a&b", "\"c\"\u{1b}".into())]);
        page.table(&["n"], [vec!["1.5".to_string()], vec!["<i>".to_string()]]);
        page.figure("x", None);
        for wanted in [
            "&lt;script&gt;",
            "a&amp;b",
            "&quot;c&quot;\u{fffd}",
            "<td class=\"number\">1.5",
            "<td>&lt;i&gt;",
        ] {
            assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
        }
        assert!(!page.body.contains("<figure"));
    }
}
