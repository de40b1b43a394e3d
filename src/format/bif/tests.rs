use super::*;
use crate::format::testing::assert_refused;
use crate::format::{GraphFormat, Network, write_graph_to_bytes};
use crate::model::Factor;

fn read(text: &str) -> Result<Network> {
    parse(text.as_bytes(), Path::new("n.bif"))?.build()
}

/// Every construct once: comments, properties, quotes, a block before the variables that it names.
const FULL: &str = r#"// a comment
network "small // net" {
  property author = "somebody; else";
  property version 1.0 ;
}
probability ( wet | rain, "spr.on" ) { /* rows,
    in any order */
  property "estimated";
  (no, off) 0, 1;
  ( heavy , on ) 0.875 0.125;
  default 0.5, 0.5;
}
variable rain { // three states
  type discrete [ 3 ] { no, light, heavy };
  property position = (73, 165) ;
}
variable "spr.on" {
  property p;
  type discrete[2] { "on" "off" };
}
variable wet { type discrete [2] {yes, no}; }
probability (rain) { table 0.5, 0.25, .25e0; }
probability ( "spr.on" | rain ) { table 1 0.5 0.25   0 0.5 0.75; }
"#;

#[test]
fn every_construct_is_read() {
    let Network { graph, names } = read(FULL).unwrap();
    let names = names.unwrap();
    assert_eq!((graph.labels(), graph.cardinalities()), (&[0, 1, 2][..], &[3, 2, 2][..]));
    let all: Vec<(&str, Vec<&str>)> =
        (0..3).map(|v| (names.variable(v), names.states(v).collect())).collect();
    let wanted = [
        ("rain", vec!["no", "light", "heavy"]),
        ("spr.on", vec!["on", "off"]),
        ("wet", vec!["yes", "no"]),
    ];
    assert_eq!(all, wanted);
    // Factors are in the order of the blocks; their first variable, rain, varies fastest.
    assert_eq!(
        graph.factor(0),
        Factor::Table(&[0.5, 0.5, 0.875, 0.0, 0.5, 0.5, 0.5, 0.5, 0.125, 1.0, 0.5, 0.5])
    );
    assert_eq!(graph.factor(1), Factor::Table(&[0.5, 0.25, 0.25]));
    assert_eq!(graph.factor(2), Factor::Table(&[1.0, 0.5, 0.25, 0.0, 0.5, 0.75]));
    assert_eq!(read(&FULL.replace('\n', "\r\n")).unwrap().graph, graph);
    assert_eq!(read(&FULL.replace([',', '|'], " ")).unwrap().graph, graph);
    for format in [GraphFormat::Fg, GraphFormat::Uai] {
        assert!(write_graph_to_bytes(&graph, format).is_ok());
    }
    let refused = write_graph_to_bytes(&graph, GraphFormat::Bif);
    assert!(matches!(refused, Err(Error::Unsupported(_))));
}

#[test]
fn names_may_be_unusual() {
    let text = "network n {}
        variable Asy/Patch. { type discrete [3] { <5, 5-12, 12+ }; }
        variable 17 { type discrete [2] { >=7.5, very low }; }
        variable two words { type discrete [2] { \"a, b\", \u{e9} }; }
        probability (Asy/Patch.) { table 0.5 0.25 0.25; }
        probability (two words | 17) { (very low) 0.5 0.5; (>=7.5) 0.25 0.75; }
        probability (17 | Asy/Patch.) { default 0.5 0.5; }";
    let names = read(text).unwrap().names.unwrap();
    assert_eq!((names.variable(0), names.variable(1)), ("Asy/Patch.", "17"));
    assert_eq!(names.variable(2), "two words");
    assert_eq!(names.states(0).collect::<Vec<_>>(), ["<5", "5-12", "12+"]);
    assert_eq!(names.states(1).collect::<Vec<_>>(), [">=7.5", "very low"]);
    assert_eq!(names.states(2).collect::<Vec<_>>(), ["a, b", "\u{e9}"]);
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let text = FULL.trim_end();
    for length in 0..text.len() {
        let error = read(&text[..length]).unwrap_err();
        assert!(matches!(error, Error::Parse { line: 1.., .. }), "{length}: {error:?}");
    }
}

#[test]
fn rows_may_be_rounded_but_not_wrong() {
    let with = |row: &str| read(&FULL.replace("0, 1;", row));
    for row in ["0.33, 0.667;", "0.4999, 0.4999;", "0.5, 0.509;", "1e-3 0.99;"] {
        assert!(with(row).is_ok(), "{row}");
    }
    let wanted =
        "n.bif:9: the distribution of 'wet' given 'rain' = 'no', 'spr.on' = 'off' sums to ";
    for (row, sum) in [("0.25, 0.5;", "0.75: 1 within"), ("1, 1;", "2: 1"), ("1e308 1e308;", "inf")]
    {
        let error = with(row).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{wanted}{sum}")), "{error}");
    }
    let text = FULL.replace("0.5 0.75;", "0.5 0.5;");
    let error = read(&text).unwrap_err().to_string();
    let wanted = "n.bif:23: the distribution of 'spr.on' given 'rain' = 'heavy' sums to 0.75";
    assert!(error.starts_with(wanted), "{error}");
}

/// Two variables, of which the block of `b` is to come.
const HEAD: &str = "network n {}\nvariable a { type discrete [2] {x, y}; }\n\
    variable b { type discrete [3] {x, y, z}; }\nprobability (a) { table 0.5 0.5; }\n";

#[test]
fn errors_in_probability_blocks() {
    for (block, wanted) in [
        (
            "",
            "4: the file ends without a probability block of variable 'b', declared in line 3 (1 ",
        ),
        ("(b)", "5: '(' where a block 'network', 'variable' or 'probability' is needed"),
        ("probability b", "5: 'b' where '(' before the variables of a probability is needed"),
        ("probability (b {", "5: '{' where ')' is needed"),
        ("probability (b) table", "5: 'table' where '{' after the variables of a probability is"),
        ("probability () { }", "5: a probability of no variable"),
        ("probability (c) { }", "5: 'c': no variable with this name is declared in the file"),
        ("probability (b | c) { }", "5: 'c': no variable with this name"),
        ("probability (b | ) { }", "5: ')' where the name of a parent is needed"),
        ("probability (b, a | a) { }", "5: 2 variables before '|': one, the child, is needed"),
        ("probability (b | a | a) { }", "5: '|' where the name of a variable"),
        ("probability (b | a, a) { }", "5: variable 'a' occurs twice in a probability"),
        ("probability (b | b) { }", "5: variable 'b' occurs twice in a probability"),
        (
            "probability (a | b) { default 1 0; }",
            "5: variable 'a' has a probability block already, i",
        ),
        ("probability (b) { }", "5: the block ends without the distribution of 'b' (1 of 1 rows"),
        (
            "probability (b | a) {\n (x) 1 0 0; }",
            "6: the block ends without the distribution of 'b' given 'a' = 'y' (1 of 2 rows",
        ),
        (
            "probability (b | a) {\n (x) 1 0 0; (x) 1 0 0; }",
            "6: the distribution of 'b' given 'a' = 'x'",
        ),
        ("probability (b | a) {\n (z) 1 0 0; }", "6: 'z': variable 'a' has no such state"),
        (
            "probability (b | a) { (x, y) 1 0 0; }",
            "5: 2 states in brackets: variable 'b' has 1 par",
        ),
        ("probability (b | a) { () 1 0 0; }", "5: 0 states in brackets: variable 'b' has 1 par"),
        ("probability (b) { (x) 1 0 0; }", "5: 1 states in brackets: variable 'b' has 0 parents"),
        ("probability (b) { table 1 0; }", "5: 2 values: 3 are needed here"),
        ("probability (b) {\n table 1 0\n0 0; }", "6: 4 values: 3 are needed here"),
        ("probability (b | a) { table 1 0 0; }", "5: 3 values: 6 are needed here"),
        ("probability (b | a) { default 1 0; }", "5: 2 values: 3 are needed here"),
        ("probability (b) { table 1 0 -0.5; }", "5: '-0.5': a finite number >= 0 is needed"),
        ("probability (b) { table 1 0 nan; }", "5: 'nan': a finite number >= 0 is needed"),
        ("probability (b) { table 1 0 1e400; }", "5: '1e400': a finite number >= 0 is needed"),
        ("probability (b) { table 1 0 x; }", "5: 'x': a finite number >= 0 is needed"),
        ("probability (b) { table 1 0 \"0\"; }", "5: '0' where a value or ';' is needed"),
        ("probability (b) { table 1 0 0 }", "5: '}' where a value or ';' is needed"),
        ("probability (b) { tabel 1 0 0; }", "5: 'tabel' where 'table', '(', 'default', 'prope"),
        ("probability (b) { table 1 0 0; table 1 0 0; }", "5: 'table' after other values"),
        ("probability (b) { default 1 0 0; table 1 0 0; }", "5: 'table' after other values"),
        ("probability (b) { table 1 0 0; default 1 0 0; }", "5: 'default' after 'table'"),
        ("probability (b) { default 1 0 0; default 1 0 0; }", "5: 'default' after 'default'"),
        ("probability (b | a) { (x) 1 0 0; table 1 1 0 0 0 0; }", "5: 'table' after other values"),
        (
            "probability (b | a) { table 1 1 0 0 0 0; (x) 1 0 0; }",
            "5: the distribution of 'b' give",
        ),
        ("probability (b) { /* table", "5: the comment that begins here has no end"),
        ("probability (b) { property x }", "5: the file ends where the ';' after a property is "),
    ] {
        let found = read(&format!("{HEAD}{block}")).unwrap_err().to_string();
        assert!(found.starts_with(&format!("n.bif:{wanted}")), "{block:?}: {found}");
    }
    // The states of a row without parents, and a table with them.
    for block in ["() 1 0 0;", "default 1 0 0;", "table 1, 0, 0;"] {
        assert!(read(&format!("{HEAD}probability (b) {{ {block} }}")).is_ok(), "{block}");
    }
    assert!(read(&format!("{HEAD}probability (b, a) {{ table 1 1 0 0 0 0; }}")).is_ok());
}

#[test]
fn errors_in_variables() {
    let cases = [
        ("", "1: the file ends where a block 'network' is needed"),
        ("network n {}\n", "1: the file ends where a block 'variable' is needed"),
        ("bayes n {}\n", "1: 'bayes' where a block 'network', 'variable' or 'probability' is"),
        ("network a {}\nnetwork b {}", "2: a second network, after that of line 1: one is needed"),
        ("network a { author me; }", "1: 'author' where 'property' or '}' is needed"),
        ("variable a b, c { }", "1: 2 names before '{': a variable has one name"),
        ("variable { }", "1: 0 names before '{': a variable has one name"),
        ("variable a }", "1: '}' where the name of a variable or '{' is needed"),
        ("variable a { }", "1: variable 'a' has no type: its states are needed"),
        ("variable a { type real; }", "1: 'real' where the type 'discrete' is needed"),
        ("variable a { states }", "1: 'states' where 'type', 'property' or '}' is needed"),
        ("variable a { type discrete { x, y }; }", "1: '{' where '[' before the number of states"),
        ("variable a { type discrete [] { x, y }; }", "1: ']' where the number of states is nee"),
        ("variable a { type discrete [3] { x, y }; }", "1: variable 'a' has [3] states, but 2 nam"),
        ("variable a { type discrete [x] { x, y }; }", "1: variable 'a' has [x] states, but 2 n"),
        ("variable a { type discrete [-2] { x, y }; }", "1: variable 'a' has [-2] states, but 2 "),
        (
            "variable a { type discrete [18446744073709551616] { x }; }",
            "1: variable 'a' has [18446744073709551616] states, but 1 names",
        ),
        ("variable a { type discrete [0] { }; }", "1: variable 'a' has 0 states: at least 1 is"),
        ("variable a { type discrete [2] { x, x }; }", "1: variable 'a' has two states 'x': each"),
        ("variable a { type discrete [2] { x, y } }", "1: '}' where ';' after the states is need"),
        (
            "variable a { type discrete [2] { x, y }; type discrete [2] { x, y }; }",
            "1: 'type' where 'property' or '}' is needed",
        ),
        (
            "variable a { type discrete [2] {x, y}; }\nvariable a { type discrete [2] {x, y}; }",
            "2: variable 'a' is declared already, in line 1: once is needed",
        ),
        ("variable \"\" { type discrete [2] { x, y }; }", "1: the name '': a name has at least"),
        ("variable \"a\nb\" { type discrete [2] { x, y }; }", "2: the name 'a\\nb': a name has"),
        ("variable \"a", "1: the name in quotes that begins here has no end"),
    ];
    assert_refused("n.bif", read, &cases);
    let found = parse(b"variable \xff { }", Path::new("n.bif")).map(|_| ()).unwrap_err();
    assert_eq!(found.to_string(), "n.bif:1: the name '\\xff' is not UTF-8");
}

#[test]
fn cycles_are_found() {
    let block = |child: &str, parent: &str| {
        format!("probability ({child} | {parent}) {{ default 0.5 0.5; }}\n")
    };
    let mut text = "network n {}\n".to_string();
    for name in ["a", "b", "c", "d", "e"] {
        text += &format!("variable {name} {{ type discrete [2] {{x, y}}; }}\n");
    }
    text += "probability (a) { table 0.5 0.5; }\n";
    text += &(block("b", "d") + &block("c", "b"));
    // e comes after the cycle b, c, d and is not on it.
    let looped = format!("{text}{}{}", block("d", "c, a"), block("e", "d"));
    let error = read(&looped).unwrap_err().to_string();
    let on_cycle = [(8, "b"), (9, "c"), (10, "d")]
        .map(|(line, v)| format!("n.bif:{line}: variable '{v}' depen"));
    assert!(on_cycle.iter().any(|start| error.starts_with(start)), "{error}");
    assert!(read(&format!("{text}{}{}", block("d", "a"), block("e", "d, c"))).is_ok());
}

#[test]
fn a_short_text_does_not_stand_for_huge_tables() {
    let mut text = "network n {}\n".to_string();
    for i in 0..30 {
        text += &format!("variable v{i} {{ type discrete [2] {{x, y}}; }}\n");
    }
    let parents: Vec<String> = (1..30).map(|i| format!("v{i}")).collect();
    text += &format!("probability (v0 | {}) {{ default 0.5 0.5; }}", parents.join(","));
    let error = read(&text).unwrap_err().to_string();
    let wanted = "n.bif:32: with this table over 30 variables, all tables together have too many";
    assert!(error.starts_with(wanted), "{error}");
}
