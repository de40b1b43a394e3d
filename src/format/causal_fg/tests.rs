use super::chunks::parse_in_chunks;
use super::{parse, write};
use crate::error::{Error, Result};
use crate::format::output::Output;
use crate::format::testing::assert_refused;
use crate::model::{Factor, FactorGraph, FactorGraphBuilder, Label, Prior};
use crate::threads::Gang;
use proptest::prelude::*;
use std::path::Path;

fn read(text: &str) -> Result<FactorGraph> {
    parse(text.as_bytes(), Path::new("g.causal_fg"))?.build().map(|read| read.graph)
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

/// A text of blocks, most of them right, each line with one of the line ends.
fn text() -> impl Strategy<Value = String> {
    let label = || 0_u64..40;
    let body = prop::collection::vec(label(), 0..5);
    let types = prop::sample::select(vec!["*", "+", "*0.5;0.25", "+;0.125", "*0.125", "* "]);
    let extra = || prop::sample::select(vec!["", "", "", "", "# 1 2\n", "#\n\n"]);
    let rule =
        (label(), types, body, extra(), extra()).prop_map(|(head, kind, body, first, second)| {
            let labels: Vec<String> = body.iter().map(u64::to_string).collect();
            format!("\n{head}\n{first}{kind}\n{}\n{second}{}\n", body.len(), labels.join(" "))
        });
    let p = prop::sample::select(vec!["0.5", "0.25", "1", "0.75"]);
    let prior = (label(), p).prop_map(|(head, p)| format!("\n{head}\nI\n{p}\n"));
    let wrong = prop::sample::select(vec![
        "\n",
        " \n",
        "x\n",
        "\n5\nJ\n1\n",
        "\n5\nI\n2\n",
        "\n5\n*\n3\n1 2\n",
        "\n-5\nI\n1\n",
        "5 ",
        "#\n",
    ]);
    let block = prop_oneof![60 => rule, 30 => prior, 1 => wrong.prop_map(str::to_string)];
    let header = prop::sample::select(vec![-1_i64, 0, 0, 0, 0, 1]);
    let ending = prop::sample::select(vec!["", "", "\n", "\nmore\n\n1\n"]);
    let blocks = prop::collection::vec(block, 0..60);
    (blocks, header, ending, any::<bool>(), any::<bool>()).prop_map(
        |(blocks, header, ending, crlf, cut)| {
            let count = (blocks.len() as i64 + header).max(0);
            let mut text = format!("# c\n{count}\n{}{ending}", blocks.concat());
            if cut {
                text.truncate(text.trim_end().len());
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn chunks_on_several_threads_give_what_one_block_after_the_other_gives(
        text in text(), chunk_bytes in 1_usize..200, chunks in 1_usize..6, threads in 1_usize..4,
    ) {
        let read = |chunk_bytes, chunks, threads| {
            let gang = Gang::of(threads);
            let path = Path::new("g.causal_fg");
            let parsed = parse_in_chunks(text.as_bytes(), path, chunk_bytes, chunks, &gang)?;
            let factors = parsed.builder.factor_count();
            Ok((factors, parsed.build()?.graph))
        };
        let wanted: Result<_> = read(usize::MAX, 1, 1);
        match (read(chunk_bytes, chunks, threads), wanted) {
            (Ok(found), Ok(wanted)) => prop_assert_eq!(found, wanted),
            (Err(found), Err(wanted)) => prop_assert_eq!(found.to_string(), wanted.to_string()),
            (found, wanted) => prop_assert!(false, "{:?} instead of {:?}", found, wanted),
        }
    }
}
