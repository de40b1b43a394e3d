//! Inputs of `fastlbp infer`: networks with names, soft evidence, queries, samples of evidence.

#![cfg(feature = "cli")]

#[path = "common/workplace.rs"]
mod workplace;

use std::fs;
use std::path::Path;
use workplace::{Workplace, data};

/// Probabilities of a line, by what stands before them.
#[track_caller]
fn numbers<'a>(line: &'a str, name: &str) -> Vec<(&'a str, f64)> {
    let rest = line.strip_prefix(name).unwrap_or_else(|| panic!("{line}: {name} is wanted"));
    let items = rest.split_whitespace();
    items
        .map(|item| {
            let (state, value) = item.rsplit_once('=').unwrap_or(("", item));
            (state, value.parse().unwrap())
        })
        .collect()
}

#[track_caller]
fn assert_line(line: &str, name: &str, wanted: &[(&str, f64)]) {
    let found = numbers(line, name);
    assert_eq!(found.len(), wanted.len(), "{line}");
    for ((state, value), (wanted_state, wanted_value)) in found.iter().zip(wanted) {
        assert_eq!(state, wanted_state, "{line}");
        assert!((value - wanted_value).abs() < 1e-12, "{line}: {wanted_value}");
    }
}

#[test]
fn networks_are_printed_with_names() {
    let work = Workplace::new(&[("seen.obs", "# by name, and by position\nprice low\n3 yes\n")]);
    let graph = data("harvest.bif");
    let out = work.succeed(&format!("infer {graph} --evidence seen.obs --schedule TREE"));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "# name state=probability ...");
    let season =
        [("dry", 0.08121114898736716), ("mild", 0.18488068979346298), ("wet", 0.7339081612191698)];
    assert_line(lines[1], "season ", &season);
    let soil =
        [("sand", 0.10908361740525364), ("loam", 0.508822939643072), ("clay", 0.38209344295167436)];
    assert_line(lines[2], "soil ", &soil);
    assert_eq!(lines[4..], ["flood yes=1 no=0", "price low=1 high=0"]);
    // The same graph without its names has labels, as ever.
    work.succeed(&format!("infer {graph} --output named.txt --schedule TREE"));
    assert!(work.run(&format!("convert {graph} plain.fg")).status.success());
    let plain = work.succeed("infer plain.fg --schedule TREE");
    let named = fs::read_to_string(work.path("named.txt")).unwrap();
    let head = "# label P(x=1); with more than two states: label P(x=0) P(x=1) P(x=2) ...";
    assert_eq!(plain.lines().next(), Some(head));
    for (label, (plain, named)) in plain.lines().zip(named.lines()).skip(1).enumerate() {
        let plain: Vec<f64> =
            numbers(plain, &format!("{label} ")).into_iter().map(|(_, value)| value).collect();
        let name = named.split(' ').next().unwrap();
        let named: Vec<f64> = numbers(named, name).into_iter().map(|(_, value)| value).collect();
        assert_eq!(plain, if named.len() == 2 { &named[1..] } else { &named[..] });
    }
}

#[test]
fn names_with_blanks_are_quoted_both_ways() {
    let work = Workplace::new(&[
        ("seen.obs", "\"gauge 1\" high\nfuel.left \"almost none\"\n"),
        ("asked.txt", "\"gauge 1\"\nfuel.left\n\"battery-level\"\n"),
        ("open.txt", "\"gauge 1\n"),
    ]);
    let graph = data("engine_start.bif");
    let out = work.succeed(&format!(
        "infer {graph} --evidence seen.obs --queries asked.txt --schedule TREE --iterations 1"
    ));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1..3], ["\"gauge 1\" low=0 high=1", "fuel.left \"almost none\"=1 enough=0"]);
    assert_line(lines[3], "battery-level ", &[("<11.5", 0.1), ("11.5-12.4", 0.3), (">12.4", 0.6)]);
    assert_eq!(lines.len(), 4);
    work.fail_at(
        2,
        &format!("infer {graph} --queries open.txt"),
        "open.txt:1: the line ends inside of quotes",
    );
}

#[test]
fn names_that_are_wrong_are_named() {
    let work = Workplace::new(&[
        ("state.obs", "\nheat 3\n"),
        ("unknown.obs", "alert yes\n\ncold 1\nhot x\n"),
        ("twice.obs", "alert yes\nalert no\n"),
        ("both.txt", "alert 1 2\n"),
        ("asked.txt", "fault\n\ncold\n"),
    ]);
    let infer = format!("infer {} ", data("alert.bif"));
    let error = work.fail(2, &format!("{infer} --evidence state.obs"));
    assert_eq!(error, "state.obs:2: variable heat has the value '3': one of 0, 1, 2 is needed\n");
    let error = work.fail(2, &format!("{infer} --evidence twice.obs"));
    assert!(
        error.starts_with("twice.obs:2: variable alert is observed in state no, but in state y")
    );
    let (out, warning) = work.warned(&format!("{infer} --evidence unknown.obs"));
    assert_eq!(
        warning,
        "fastlbp: warning: unknown.obs: 2 observed variables are not in the graph and were left out, \
         the first is cold in line 3\n"
    );
    assert_eq!(out.lines().last(), Some("alert no=0 yes=1"));
    let error = work.fail(2, &format!("{infer} --queries asked.txt"));
    assert_eq!(error, "asked.txt:3: variable cold: the graph has no such variable\n");
    work.fail_at(
        2,
        &format!("{infer} --evidence unknown.obs --soft-evidence both.txt"),
        "both.txt:1: variable alert is observed: ",
    );
}

#[test]
fn contradictions_in_networks_have_names() {
    let network = "network n {} variable in put { type discrete [2] { no, yes }; }
        variable out { type discrete [2] { no, yes }; }
        variable copy { type discrete [2] { no, yes }; }
        probability (in put) { table 0.5 0.5; }
        probability (out | in put) { table 1 0 0 1; }
        probability (copy | in put) { table 1 0 0 1; }";
    let work = Workplace::new(&[("n.bif", network), ("n.obs", "out yes\ncopy no\n")]);
    let error = work.fail(3, "infer n.bif --evidence n.obs");
    assert!(error.starts_with("contradiction at variable 0 "), "{error}");
    assert!(error.ends_with("; variable 0 is \"in put\"\n"), "{error}");
    let (_, warning) = work.warned("infer n.bif --evidence n.obs --contradiction vote");
    assert!(warning.contains(" met at variable \"in put\" ("), "{warning}");
}

#[test]
fn soft_evidence_multiplies_probabilities() {
    let work = Workplace::new(&[
        ("soft.txt", "# weights\n8 1 3 \r\n\n3 2 1\n"),
        ("none.txt", ""),
        ("hard.obs", "3 false\n"),
        ("some.obs", "8 0\n"),
        ("sure.txt", "8 1 0\n"),
        ("more.txt", "77 1 2 3\n8 1 3\n99 1\n"),
        ("named.txt", "crop 1 0.5 0\nflood 1 1\n"),
    ]);
    let graph = data("chain.causal_fg");
    let infer = format!("infer {graph} --schedule TREE --iterations 1");
    // P(3) = 1/4, P(5 | 3) = 1/2 or 1/8, P(8 | 5) = 1/2 or 1/4: sums with the weights.
    let mut joint = [[[0.0; 2]; 2]; 2];
    for (x3, x5, x8) in (0..8).map(|i| (i & 1, i >> 1 & 1, i >> 2)) {
        let of = |p: f64, state: usize| if state == 1 { p } else { 1.0 - p };
        joint[x3][x5][x8] = of(0.25, x3)
            * of([0.125, 0.5][x3], x5)
            * of([0.25, 0.5][x5], x8)
            * [2.0, 1.0][x3]
            * [1.0, 3.0][x8];
    }
    let sum = |test: &dyn Fn(usize, usize, usize) -> bool| -> f64 {
        (0..8)
            .map(|i| (i & 1, i >> 1 & 1, i >> 2))
            .filter(|&(x3, x5, x8)| test(x3, x5, x8))
            .map(|(x3, x5, x8)| joint[x3][x5][x8])
            .sum()
    };
    let total = sum(&|_, _, _| true);
    let out = work.succeed(&format!("{infer} --soft-evidence soft.txt"));
    let lines: Vec<&str> = out.lines().collect();
    assert_line(lines[1], "3 ", &[("", sum(&|x3, _, _| x3 == 1) / total)]);
    assert_line(lines[2], "5 ", &[("", sum(&|_, x5, _| x5 == 1) / total)]);
    assert_line(lines[3], "8 ", &[("", sum(&|_, _, x8| x8 == 1) / total)]);

    let nothing = work.succeed(&infer);
    assert_eq!(work.succeed(&format!("{infer} --soft-evidence none.txt")), nothing);
    let sure = work.succeed(&format!("{infer} --soft-evidence sure.txt"));
    assert_eq!(sure, work.succeed(&format!("{infer} --evidence some.obs")));
    let (_, warning) = work.warned(&format!("{infer} --soft-evidence more.txt"));
    assert_eq!(
        warning,
        "fastlbp: warning: more.txt: 2 variables with weights are not in the graph and were left \
         out, the first is 77 in line 1\n"
    );
    work.fail_at(
        2,
        &format!("{infer} --evidence hard.obs --soft-evidence soft.txt"),
        "soft.txt:4: variable 3 is observed: ",
    );
    let named = format!("infer {} --soft-evidence named.txt", data("harvest.bif"));
    let out = work.succeed(&named);
    // 0.325 * 1 and 0.328125 * 0.5
    let (poor, fair) = (0.325 / 0.4890625, 0.1640625 / 0.4890625);
    assert_line(
        out.lines().nth(3).unwrap(),
        "crop ",
        &[("poor", poor), ("fair", fair), ("good", 0.0)],
    );
}

#[test]
fn bad_soft_evidence_is_refused_with_its_line() {
    let infer = format!("infer {} --soft-evidence soft.txt", data("three_states.fg"));
    for (text, wanted) in [
        ("7 1 1\n7 1 1\n", "soft.txt:2: variable 7 has its weights already, in line 1"),
        ("\n2 1 1\n", "soft.txt:2: 2 weights for variable 2: it has 3 states"),
        ("7 0 0\n", "soft.txt:1: all weights of variable 7 are zero"),
        ("7 -1 1\n", "soft.txt:1: variable 7 has the weight '-1'"),
        ("7 1 inf\n", "soft.txt:1: variable 7 has the weight 'inf'"),
        ("a 1 1\n", "soft.txt:1: 'a' is not the label of a variable"),
    ] {
        let error = Workplace::new(&[("soft.txt", text)]).fail(2, &infer);
        assert!(error.starts_with(wanted), "{text:?}: {error}");
    }
    let error = Workplace::new(&[]).fail(2, &infer);
    assert!(error.starts_with("soft.txt: No such file"), "{error}");
}

#[test]
fn queries_choose_the_lines_and_their_order() {
    let work = Workplace::new(&[
        ("asked.txt", "8 \r\n# c\n\n3\n8\n"),
        ("none.txt", "# nothing\n"),
        ("unknown.txt", "3\n4\n"),
        ("two.txt", "3 8\n"),
    ]);
    let infer = format!("infer {} --iterations 5", data("chain.causal_fg"));
    let all = work.succeed(&infer);
    let lines: Vec<&str> = all.lines().collect();
    let wanted = [lines[0], lines[3], lines[1], lines[3], ""].join("\n");
    assert_eq!(work.succeed(&format!("{infer} --queries asked.txt")), wanted);
    assert_eq!(work.succeed(&format!("{infer} --queries none.txt")), "# label P(x=1)\n");
    let infer_to_file = format!("{infer} --queries asked.txt --output");
    assert_eq!(work.succeed(&format!("{infer_to_file} out.txt")), "");
    assert_eq!(fs::read_to_string(work.path("out.txt")).unwrap(), wanted);
    assert_eq!(work.succeed(&format!("{infer_to_file} out.txt.gz")), "");
    assert!(fs::read(work.path("out.txt.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let error = work.fail(2, &format!("{infer} --queries unknown.txt"));
    assert_eq!(error, "unknown.txt:2: variable 4: the graph has no such label\n");
    let error = work.fail(2, &format!("{infer} --queries two.txt"));
    assert_eq!(error, "two.txt:1: '8' after the variable: the line must end there\n");
    // Three states, then two, the other way round.
    let work = Workplace::new(&[("asked.txt", "7\n2\n")]);
    let three = work.succeed(&format!("infer {} --queries asked.txt", data("three_states.fg")));
    let lines: Vec<&str> = three.lines().collect();
    assert!(lines[1].starts_with("7 0.4375"), "{}", lines[1]);
    assert_eq!(lines[2..], ["2 0.5 0.25 0.25"]);
}

#[test]
fn files_may_be_compressed() {
    use std::io::Write;
    let work = Workplace::new(&[]);
    for (name, text) in [("soft.txt.gz", "8 1 3\n"), ("asked.txt.gz", "5\n")] {
        let file = fs::File::create(work.path(name)).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    let graph = fs::read(data("harvest.bif")).unwrap();
    let file = fs::File::create(work.path("harvest.bif.gz")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(&graph).unwrap();
    encoder.finish().unwrap();
    let out = work.succeed(&format!(
        "infer {} --soft-evidence soft.txt.gz --queries asked.txt.gz",
        data("chain.causal_fg")
    ));
    assert_eq!(out.lines().count(), 2);
    let plain = work.succeed(&format!("infer {}", data("harvest.bif")));
    assert_eq!(work.succeed("infer harvest.bif.gz"), plain);
}

#[test]
fn one_of_several_samples_is_chosen() {
    let work = Workplace::new(&[("s.evid", "3\n1 0 1\n0\n2 0 0 1 2\n"), ("one.evid", "1 0 1\n")]);
    let infer = format!("infer {} --queries asked.txt", data("mixed.uai"));
    fs::write(work.path("asked.txt"), "0\n1\n").unwrap();
    let first = work.succeed(&format!("{infer} --evidence s.evid --evidence-sample 1"));
    assert_eq!(first, work.succeed(&format!("{infer} --evidence one.evid")));
    assert_eq!(first.lines().nth(1), Some("0 1"));
    let second = work.succeed(&format!("{infer} --evidence s.evid --evidence-sample 2"));
    assert_eq!(second, work.succeed(&infer));
    let third = work.succeed(&format!("{infer} --evidence s.evid --evidence-sample 3"));
    assert_eq!(third.lines().skip(1).collect::<Vec<_>>(), ["0 0", "1 0 0 1"]);
    let error = work.fail(2, &format!("{infer} --evidence s.evid"));
    assert_eq!(error, "s.evid:1: the file has 3 samples: one is needed here\n");
    let error = work.fail(2, &format!("{infer} --evidence s.evid --evidence-sample 4"));
    assert_eq!(error, "s.evid: there is no sample 4: the file has 3\n");
    for wrong in ["--evidence-sample 1", "--evidence s.evid --evidence-sample 0"] {
        work.fail(2, &format!("{infer} {wrong}"));
    }
}

#[test]
fn networks_can_be_described_and_converted_but_not_written() {
    let work = Workplace::new(&[]);
    let graph = data("alert.bif");
    let info = work.succeed(&format!("info {graph} --schedule TREE"));
    assert!(info.contains("variables   4\nfactors     4 (prior 0, and 0, or 0, table 4)\n"));
    for output in ["a.uai", "a.fg"] {
        let (_, said) = work.warned(&format!("convert {graph} {output}"));
        assert!(said.ends_with("4 variables, 4 factors, 8 edges\n"), "{said}");
    }
    work.fail_with(1, "convert a.fg a.bif", "not written as .bif");
    assert!(!Path::new(&work.path("a.bif")).exists());
}
