//! `.causal_fg`: priors, AND and OR factors.
//!
//! ```text
//! file  := comment* COUNT block*           # COUNT blocks; text after the last one is ignored
//! block := EMPTY comment* HEAD comment* TYPE ( comment* PROB | comment* BODYLEN comment* BODY )
//! TYPE  := "I" | ("*"|"+") [P] [";" [Q]]   # I is followed by PROB, * (AND) and + (OR) by a body
//! ```
//! One line each; comment lines start with '#'.

use super::output::Output;
use super::text::{Cursor, parse_probability, show};
use crate::error::{Error, Result};
use crate::factor::CausalBlock;
use crate::memory::{self, Grow};
use crate::model::{FactorGraph, FactorGraphBuilder, FactorKind, Label};
use std::path::Path;

/// Probability of the priors that the format leaves out.
const IMPLICIT_PRIOR: f64 = 0.5;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<FactorGraphBuilder> {
    let mut reader = Reader {
        cursor: Cursor::new(path, bytes),
        builder: FactorGraphBuilder::new(),
        body: Vec::new(),
        last_type: None,
    };
    reader.file()?;
    let mut builder = reader.builder;
    builder.add_missing_priors(IMPLICIT_PRIOR)?;
    Ok(builder)
}

/// What a TYPE line says.
#[derive(Clone, Copy)]
struct FactorType {
    kind: FactorKind,
    p: f64,
    q: f64,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: FactorGraphBuilder,
    body: Vec<Label>,
    /// A cache: the latest TYPE line with its line end, which most often equals the next one.
    last_type: Option<(&'a [u8], FactorType)>,
}

impl<'a> Reader<'a> {
    fn file(&mut self) -> Result<()> {
        self.cursor.skip_comment_lines();
        if self.cursor.at_end() {
            return Err(self.cursor.error("the file ends where the number of blocks is needed"));
        }
        self.cursor.at_line_end();
        let count = self.cursor.integer("the number of blocks")?;
        self.cursor.end_line("the number of blocks")?;
        for position in 0..count {
            self.empty_line(position, count)?;
            self.block()?;
        }
        Ok(())
    }

    #[inline]
    fn empty_line(&mut self, position: u64, count: u64) -> Result<()> {
        if !self.cursor.at_end() && self.cursor.at_line_end() {
            return self.cursor.end_line("an empty line");
        }
        Err(self.no_empty_line(position, count))
    }

    #[cold]
    fn no_empty_line(&self, position: u64, count: u64) -> Error {
        if self.cursor.at_end() {
            return self.cursor.error(format!(
                "the file ends after {position} blocks: its first line announces {count}"
            ));
        }
        let found = show(self.cursor.clone().token());
        let hint = if found.starts_with("'#") { " (a comment may only come after it)" } else { "" };
        self.cursor.error(format!(
            "{found} where block {} of {count} begins: an empty line is needed{hint}",
            position + 1
        ))
    }

    #[inline]
    fn block(&mut self) -> Result<()> {
        let head = self.integer_line("the head's label")?;
        let FactorType { kind, p, q } = self.factor_type()?;
        self.body.clear();
        if kind == FactorKind::Prior {
            let p = self.prior()?;
            return self.builder.add_prior(head, p);
        }
        let length = self.integer_line("the length of the body")?;
        self.read_body(length)?;
        self.builder.add_horn(kind, head, &self.body, p, q)
    }

    /// An integer alone on the next line that is not a comment.
    #[inline]
    fn integer_line(&mut self, what: &str) -> Result<u64> {
        self.cursor.skip_comment_lines();
        self.cursor.at_line_end();
        let value = self.cursor.integer(what)?;
        self.cursor.end_line(what)?;
        Ok(value)
    }

    fn prior(&mut self) -> Result<f64> {
        self.cursor.skip_comment_lines();
        if self.cursor.at_line_end() {
            return Err(self.cursor.error(
                "the line holds no number where the probability of a factor of type I is needed",
            ));
        }
        let token = self.cursor.token();
        let p = parse_probability(token).ok_or_else(|| {
            self.cursor
                .error(format!("the probability is {}: a number in [0, 1] is needed", show(token)))
        })?;
        self.cursor.end_line("the probability")?;
        Ok(p)
    }

    #[inline]
    fn factor_type(&mut self) -> Result<FactorType> {
        self.cursor.skip_comment_lines();
        let rest = self.cursor.rest();
        if let Some((line, factor_type)) = self.last_type
            && rest.starts_with(line)
        {
            self.cursor.skip_whole_line(line.len());
            return Ok(factor_type);
        }
        self.cursor.at_line_end();
        let token = self.cursor.token();
        let factor_type = self.parse_type(token)?;
        self.cursor.end_line("the factor's type")?;
        let line = &rest[..rest.len() - self.cursor.remaining()];
        if line.ends_with(b"\n") {
            self.last_type = Some((line, factor_type));
        }
        Ok(factor_type)
    }

    fn parse_type(&self, token: &[u8]) -> Result<FactorType> {
        let kind = match token.first() {
            Some(b'I') if token.len() == 1 => FactorKind::Prior,
            Some(b'*') => FactorKind::And,
            Some(b'+') => FactorKind::Or,
            _ => {
                return Err(self.cursor.error(format!(
                    "the factor's type is {}: I, *p;q or +p;q (p and q may be left out) is needed",
                    show(token)
                )));
            }
        };
        let numbers = &token[1..];
        let semicolon = numbers.iter().position(|&byte| byte == b';').unwrap_or(numbers.len());
        let (p, q) = (&numbers[..semicolon], numbers.get(semicolon + 1..).unwrap_or_default());
        let number = |name: &str, text: &[u8], default: f64| {
            if text.is_empty() {
                return Ok(default);
            }
            parse_probability(text).ok_or_else(|| {
                self.cursor.error(format!(
                    "{name} is {} in the factor's type {}: a number in [0, 1] is needed",
                    show(text),
                    show(token)
                ))
            })
        };
        Ok(FactorType { kind, p: number("p", p, 1.0)?, q: number("q", q, 0.0)? })
    }

    /// The labels of a body. An empty body has an empty line, except at the end of the file.
    #[inline]
    fn read_body(&mut self, length: u64) -> Result<()> {
        self.cursor.skip_comment_lines();
        while !self.cursor.at_line_end() {
            let label = self.cursor.integer("a label of the body")?;
            if self.body.len() as u64 == length {
                return Err(self.cursor.error(format!(
                    "the body has more than the {length} labels that the line before announces"
                )));
            }
            self.body.try_push(label)?;
        }
        if (self.body.len() as u64) < length {
            return Err(self.cursor.error(format!(
                "the body has {} labels: the line before announces {length}",
                self.body.len()
            )));
        }
        self.cursor.end_line("the body")
    }
}

pub(super) fn write(graph: &FactorGraph, output: &mut Output<'_>) -> Result<()> {
    check_expressible(graph)?;
    let written = graph.factor_count() - implicit_priors_at_the_end(graph)?;
    // A variable without factors would be lost: it gets the prior that changes nothing.
    let isolated = || (0..graph.variable_count()).filter(|&variable| graph.degree(variable) == 0);
    output.integer((written + isolated().count()) as u64);
    output.end_line()?;
    for factor in 0..written {
        write_factor(graph, factor, output)?;
    }
    for variable in isolated() {
        write_prior(graph.label(variable), IMPLICIT_PRIOR, output)?;
    }
    Ok(())
}

fn check_expressible(graph: &FactorGraph) -> Result<()> {
    let other = (0..graph.factor_count()).find(|&f| graph.factor(f).causal_block().is_none());
    if let Some(factor) = other {
        return Err(not_causal(graph, factor));
    }
    if let Some(variable) = (0..graph.variable_count()).find(|&v| graph.cardinality(v) != 2) {
        return Err(Error::Unsupported(format!(
            "variable {} has {} states: .causal_fg holds binary variables only; \
             write .fg or .uai instead",
            graph.label(variable),
            graph.cardinality(variable)
        )));
    }
    Ok(())
}

fn not_causal(graph: &FactorGraph, factor: usize) -> Error {
    Error::Unsupported(format!(
        "factor {factor} is of the kind '{}': .causal_fg holds prior, AND and OR factors only; \
         write .fg or .uai instead",
        graph.kind(factor).name()
    ))
}

/// Number of factors at the end of the graph that are left out, since reading adds the same ones as implicit priors.
fn implicit_priors_at_the_end(graph: &FactorGraph) -> Result<usize> {
    let mut headed = memory::filled(graph.variable_count(), 0_u32)?;
    for factor in 0..graph.factor_count() {
        if let Some(position) = graph.head_position(factor) {
            headed[graph.factor_variables(factor)[position] as usize] += 1;
        }
    }
    // Reading would insert the implicit priors of other variables between those that are left out.
    if headed.contains(&0) {
        return Ok(0);
    }
    let mut next = usize::MAX;
    let mut count = 0;
    for factor in (0..graph.factor_count()).rev() {
        let variable = graph.factor_variables(factor)[0] as usize;
        let block = graph.factor(factor).causal_block();
        let implied = matches!(block, Some(CausalBlock::Prior { p }) if p == IMPLICIT_PRIOR)
            && variable < next
            && headed[variable] == 1
            && graph.degree(variable) > 1;
        if !implied {
            break;
        }
        next = variable;
        count += 1;
    }
    Ok(count)
}

fn write_prior(label: Label, p: f64, output: &mut Output<'_>) -> Result<()> {
    output.end_line()?;
    output.integer(label);
    output.text("\nI\n");
    output.float(p);
    output.end_line()
}

fn write_factor(graph: &FactorGraph, factor: usize, output: &mut Output<'_>) -> Result<()> {
    let variables = graph.factor_variables(factor);
    let (sign, horn) = match graph.factor(factor).causal_block() {
        Some(CausalBlock::Prior { p }) => {
            return write_prior(graph.label(variables[0] as usize), p, output);
        }
        Some(CausalBlock::Rule { sign, horn }) => (sign, horn),
        None => return Err(not_causal(graph, factor)),
    };
    output.end_line()?;
    output.integer(graph.label(variables[horn.head] as usize));
    output.end_line()?;
    output.text(sign);
    output.float(horn.p);
    output.text(";");
    output.float(horn.q);
    output.end_line()?;
    output.integer((variables.len() - usize::from(!horn.head_in_body)) as u64);
    output.end_line()?;
    let body = variables
        .iter()
        .enumerate()
        .filter(|&(position, _)| position != horn.head || horn.head_in_body);
    output.integer_line(body.map(|(_, &variable)| graph.label(variable as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::assert_refused;
    use crate::model::{Factor, Prior};

    fn read(text: &str) -> Result<FactorGraph> {
        parse(text.as_bytes(), Path::new("g.causal_fg"))?.build()
    }

    fn written(graph: &FactorGraph) -> String {
        let mut bytes = Vec::new();
        let mut output = Output::new(Path::new("memory"), &mut bytes).unwrap();
        write(graph, &mut output).unwrap();
        output.flush().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn types_have_their_defaults() {
        for (line, p, q) in [
            ("*", 1.0, 0.0),
            ("*;", 1.0, 0.0),
            ("*0.9", 0.9, 0.0),
            ("*0.9;", 0.9, 0.0),
            ("*;0.2", 1.0, 0.2),
            ("*0.9;0.2 ", 0.9, 0.2),
            ("*9e-1;1", 0.9, 1.0),
        ] {
            let graph = read(&format!("1\n\n1\n{line}\n1\n2\n")).unwrap();
            match graph.factor(0) {
                Factor::And(horn) => assert_eq!((horn.p, horn.q), (p, q), "{line}"),
                other => panic!("{line}: {other:?}"),
            }
            assert_eq!(graph.factor(1), Factor::Prior(Prior { p: 0.5 }));
        }
    }

    #[test]
    fn comments_line_ends_and_the_last_line_are_lenient() {
        let text = "# c\n#\n2\n\n# c\n7\n# c\n+0.25;0.5\n# c\n0\n# c\n\n\n7\n# c\nI\n# c\n0.75";
        let graph = read(text).unwrap();
        assert_eq!((graph.variable_count(), graph.factor_count()), (1, 2));
        assert_eq!(graph.factor(1), Factor::Prior(Prior { p: 0.75 }));
        assert_eq!(read(&text.replace('\n', "\r\n")).unwrap(), graph);
        // The last, empty body may lack its line; more text is ignored.
        assert_eq!(read("1\n\n7\n*\n0").unwrap(), read("1\n\n7\n*\n0\n\n\nmore text").unwrap());
        assert_eq!(read("0").unwrap().factor_count(), 0);
        assert_eq!(read("\u{feff}1\n\n7\nI\n1\n").unwrap().factor_count(), 1);
    }

    #[test]
    fn implicit_priors_follow_in_ascending_order() {
        let graph = read("2\n\n5\n*\n3\n9 1 9\n\n3\n+\n2\n3 7\n").unwrap();
        let heads: Vec<Label> =
            (2..5).map(|f| graph.label(graph.factor_variables(f)[0] as usize)).collect();
        assert_eq!(heads, [1, 7, 9]);
        assert_eq!(graph.arity(0), 3);
        assert!(matches!(graph.factor(1), Factor::Or(horn) if horn.head_in_body));
        assert_eq!(written(&graph), "2\n\n5\n*1;0\n2\n1 9\n\n3\n+1;0\n2\n3 7\n");
        assert_eq!(read(&written(&graph)).unwrap(), graph);
    }

    #[test]
    fn priors_are_left_out_only_where_reading_adds_them_again() {
        for text in [
            // Priors in another order, of another value, of a variable that heads another factor; a prior that is the
            // only factor; a prior before other factors; two priors of a variable.
            "3\n\n5\n*\n2\n1 2\n\n2\nI\n0.5\n\n1\nI\n0.5\n",
            "3\n\n5\n*\n2\n1 2\n\n1\nI\n0.5\n\n2\nI\n0.25\n",
            "4\n\n5\n*\n1\n1\n\n1\n+\n1\n5\n\n1\nI\n0.5\n\n5\nI\n0.5\n",
            "1\n\n1\nI\n0.5\n",
            "2\n\n1\nI\n0.5\n\n5\n*\n1\n1\n",
            "3\n\n5\n*\n1\n1\n\n1\nI\n0.5\n\n1\nI\n0.5\n",
        ] {
            let graph = read(text).unwrap();
            assert_eq!(read(&written(&graph)).unwrap(), graph, "{text:?}");
        }
    }

    #[test]
    fn variables_without_a_head_or_a_factor_get_a_prior() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[2], 0.5, 0.25).unwrap();
        builder.add_variable(9, 2).unwrap();
        builder.add_prior(1, 0.5).unwrap();
        let graph = builder.build().unwrap();
        let again = read(&written(&graph)).unwrap();
        assert_eq!(again.labels(), [1, 2, 9]);
        assert_eq!(again.factor_count(), 4);
        assert_eq!(read(&written(&again)).unwrap(), again);
    }

    #[test]
    fn what_the_format_cannot_hold_is_refused_by_name() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(4, 0.5).unwrap();
        builder.add_table(&[4], &[1.0, 2.0]).unwrap();
        let mut output = Vec::new();
        let mut output = Output::new(Path::new("x"), &mut output).unwrap();
        let error = write(&builder.build().unwrap(), &mut output).unwrap_err();
        assert!(matches!(&error, Error::Unsupported(text)
            if text.starts_with("factor 1 is of the kind 'table'") && text.contains(".fg or .uai")));
        let mut builder = FactorGraphBuilder::new();
        builder.add_variable(4, 3).unwrap();
        let error = write(&builder.build().unwrap(), &mut output).unwrap_err();
        assert!(matches!(&error, Error::Unsupported(text) if text.contains("variable 4 has 3")));
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
            ("", "1: the file ends where the number of blocks is needed"),
            ("x\n", "1: 'x' is not the number of blocks: an integer >= 0 in decimal is needed"),
            ("-1\n", "1: the number of blocks is '-1': it must not be negative"),
            ("1 2\n", "1: '2' after the number of blocks: the line must end there"),
            ("2\n\n1\nI\n0.5\n", "5: the file ends after 1 blocks: its first line announces 2"),
            ("9999999999999\n", "1: the file ends after 0 blocks: its first line announces 99"),
            ("1\n1\nI\n0.5\n", "2: '1' where block 1 of 1 begins: an empty line is needed"),
            ("1\n# c\n\n1\nI\n1\n", "2: '#' where block 1 of 1 begins: an empty line is needed (a"),
            ("1\n\n-5\nI\n0.5\n", "3: the head's label is '-5': it must not be negative"),
            ("1\n\n\n5\nI\n0.5\n", "3: the line ends where the head's label is needed"),
            ("1\n\n5\nJ\n0.5\n", "4: the factor's type is 'J': I, *p;q or +p;q"),
            ("1\n\n5\nI0.5\n", "4: the factor's type is 'I0.5': I, *p;q or +p;q"),
            ("1\n\n5\nI\n1.5\n", "5: the probability is '1.5': a number in [0, 1] is needed"),
            ("1\n\n5\nI\n1e400\n", "5: the probability is '1e400': a number in [0, 1]"),
            ("1\n\n5\nI\nnan\n", "5: the probability is 'nan': a number in [0, 1] is needed"),
            ("1\n\n5\nI\n", "4: the line holds no number where the probability"),
            ("1\n\n5\n*2;0\n0\n\n", "4: p is '2' in the factor's type '*2;0': a number in [0, 1]"),
            ("1\n\n5\n*;inf\n0\n\n", "4: q is 'inf' in the factor's type '*;inf': a number in"),
            ("1\n\n5\n*;0;1\n0\n\n", "4: q is '0;1' in the factor's type '*;0;1': a number in"),
            ("1\n\n5\n* 0.5\n0\n\n", "4: '0.5' after the factor's type: the line must end there"),
            ("1\n\n5\n*\n2\n1\n", "6: the body has 1 labels: the line before announces 2"),
            ("1\n\n5\n*\n1\n1 2\n", "6: the body has more than the 1 labels that the line before"),
            ("1\n\n5\n*\n1\n-2\n", "6: a label of the body is '-2': it must not be negative"),
            ("1\n\n5\n*\n18446744073709551615\n1\n", "6: the body has 1 labels: the line before"),
        ];
        assert_refused("g.causal_fg", read, &cases);
    }
}
