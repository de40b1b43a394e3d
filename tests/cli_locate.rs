//! `fastlbp locate`: the candidates that are most likely at fault.

#![cfg(feature = "cli")]

mod common;
#[path = "common/workplace.rs"]
mod workplace;

use fastlbp::format::read_graph;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use workplace::{Workplace, data};

/// Four candidates by their priors alone: 2 and 3 are tied.
const PRIORS: &str = "4\n\n1\nI\n0.25\n\n2\nI\n0.5\n\n3\nI\n0.5\n\n4\nI\n0.75\n";

#[test]
fn ties_are_shown_and_the_first_fault_is_ranked() {
    let work = Workplace::new(&[
        ("g.causal_fg", PRIORS),
        ("c.txt", "4 \"x = 1\" 0\n3 loop 1\n1 0\n2\n"),
        ("d.dict", "2: the start\n"),
    ]);
    let run = "locate g.causal_fg --candidates c.txt --names d.dict";
    let wanted = "\
# graph g.causal_fg: 4 candidates, 2 iterations, converged
# average-rank worst-rank P(fault) label name
1 1 0.75 1
2.5 3 0.5 3 loop
2.5 3 0.5 2 the start
4 4 0.25 4 x = 1
# first faulty candidate: average rank 2.5, worst rank 3
# 1 graph with known faults
# by average rank: Top-1 0, Top-3 1, Top-5 1, Top-10 1, mean first rank 2.5
# by worst rank: Top-1 0, Top-3 1, Top-5 1, Top-10 1, mean first rank 3
";
    assert_eq!(work.succeed(run), wanted);
    let short = work.succeed(&format!("{run} --top 2"));
    let wanted =
        "1 1 0.75 1\n2.5 3 0.5 3 loop\n# 1 more of the last one's probability\n# first faulty";
    assert!(short.contains(wanted), "{short}");
    // The other way round: true where it is at fault.
    let other = work.succeed(&format!("{run} --fault-state 1"));
    assert!(other.contains("P(fault) label name\n1 1 0.75 4 x = 1\n2.5 3 0.5 3 loop\n"), "{other}");
    let json = work.succeed(&format!("{run} --json"));
    let values: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [graph, summary] = &values[..] else { panic!("{json}") };
    assert_eq!(graph["suspects"][1]["label"], 3);
    assert_eq!(graph["suspects"][1]["average_rank"], 2.5);
    assert_eq!(graph["suspects"][2]["faulty"], Value::Null);
    assert_eq!(graph["first_faulty"]["worst_rank"], 3);
    assert_eq!(
        (&summary["average"]["top_3"], &summary["worst"]["mean_first_rank"]),
        (&1.into(), &3.0.into())
    );
}

/// The variables that nothing derives, as statements are.
fn underived(path: &str) -> Vec<u64> {
    let graph = read_graph(Path::new(path)).unwrap();
    let factors = (0..graph.factor_count()).filter(|&factor| graph.arity(factor) > 1);
    let heads = factors.filter_map(|factor| {
        let position = graph.head_position(factor)?;
        Some(graph.factor_variables(factor)[position])
    });
    let heads: BTreeSet<u32> = heads.collect();
    (0..graph.variable_count() as u32)
        .filter(|variable| !heads.contains(variable))
        .map(|variable| graph.label(variable as usize))
        .collect()
}

/// Checks that some graphs of SmartFL are ranked as by the probabilities of `infer`, in one call.
fn ranked_as_by_infer(directory: &Path, names: &[&str]) {
    let work = Workplace::new(&[]);
    let path = |name: &str, suffix| format!("{}/{name}.{suffix}", directory.display());
    let graphs: Vec<String> = names.iter().map(|name| path(name, "causal_fg.gz")).collect();
    for (name, graph) in names.iter().zip(&graphs) {
        let lines = underived(graph).into_iter().map(|label| format!("{label}\n"));
        fs::write(work.path(&format!("{name}.candidates")), lines.collect::<String>()).unwrap();
    }
    let options = "--json --top 4294967295 --candidates . --evidence";
    let command = format!("locate {} {options} {}", graphs.join(" "), directory.display());
    // Observations of values that no factor mentions are warned of.
    let (out, _) = work.warned(&command);
    let values: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), names.len(), "no faults are known, so there is no summary");
    for (value, name) in values.iter().zip(names) {
        let inferred = format!(
            "infer {} --evidence {} --schedule PARALL --tolerance 1e-8 --max-iterations 500 --contradiction vote \
             --queries {name}.candidates",
            path(name, "causal_fg.gz"),
            path(name, "obs"),
        );
        let (inferred, _) = work.warned(&inferred);
        let mut wanted: Vec<(f64, u64)> = inferred
            .lines()
            .skip(1)
            .map(|line| {
                let (label, probability) = line.split_once(' ').unwrap();
                (probability.parse().unwrap(), label.parse().unwrap())
            })
            .collect();
        // Ascending probability to be right, those of equal probability as they are listed.
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let suspects = value["suspects"].as_array().unwrap();
        let found: Vec<u64> =
            suspects.iter().map(|suspect| suspect["label"].as_u64().unwrap()).collect();
        let wanted: Vec<u64> = wanted.into_iter().map(|(_, label)| label).collect();
        assert!(found.len() > 10 && found == wanted, "{name}");
    }
}

#[test]
fn smartfls_graphs_are_ranked_as_by_infer() {
    ranked_as_by_infer(Path::new(&data("graphs/smartfl")), &["Chart-24", "Math-41"]);
}

/// Takes minutes: `scripts/test-deep rankings` runs it.
#[test]
#[ignore = "deep"]
fn large_graphs_are_ranked_as_by_infer() {
    let Some(graphs) = common::shared("graphs/smartfl") else { return };
    let names = ["Chart-24", "Math-41", "Math-3", "Math-2", "Chart-1", "Math-27", "Chart-15"];
    ranked_as_by_infer(&graphs, &names);
}

#[test]
fn many_graphs_have_one_summary() {
    let work = Workplace::new(&[
        ("a.causal_fg", PRIORS),
        ("b.causal_fg", PRIORS),
        ("c.causal_fg", PRIORS),
        ("files/a.candidates", "1 1\n2 0\n4 0\n"),
        ("files/b.candidates", "1 0\n2 0\n4 1\n"),
        ("files/c.candidates", "1\n2\n"),
        ("files/a.obs", ""),
        ("files/b.obs", "1 1\n"),
        ("files/c.obs", ""),
        ("wrong.candidates", "7 1\n"),
    ]);
    let graphs = "locate a.causal_fg b.causal_fg c.causal_fg";
    let out = work.succeed(&format!("{graphs} --candidates files --evidence files"));
    // Observed to be right, candidate 1 of b is the last one.
    let wanted = "\
# 2 graphs with known faults
# by average rank: Top-1 1, Top-3 2, Top-5 2, Top-10 2, mean first rank 1.5
# by worst rank: Top-1 1, Top-3 2, Top-5 2, Top-10 2, mean first rank 1.5
";
    assert!(out.ends_with(wanted), "{out}");
    assert_eq!(out.matches("# graph ").count(), 3);
    // One that cannot be read spoils none of the others.
    let some = "--candidates files/a.candidates --candidates wrong.candidates --candidates files/c.candidates";
    let (code, out, err) = work.all(&format!("{graphs} {some}"));
    assert_eq!(code, Some(2));
    assert_eq!(out.matches("# graph ").count(), 2);
    assert!(
        err.contains(
            "warning: graph b.causal_fg: wrong.candidates:1: variable '7': the graph has no such"
        ),
        "{err}"
    );
    let (_, json, _) = work.all(&format!("{graphs} {some} --json"));
    let failed: Value = serde_json::from_str(json.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&failed["event"], &failed["graph"]), (&"failed".into(), &"b.causal_fg".into()));
    assert!(err.ends_with("error: 1 of 3 graphs failed, see the warnings\n"), "{err}");
}

#[test]
fn evidence_may_have_the_names_of_a_graph() {
    let work = Workplace::new(&[
        ("names.obs", "season wet\n\"crop\" poor\nsnow much\n"),
        ("numbers.obs", "0 2\n2 0\n"),
        ("c.txt", "flood\nprice\n"),
        ("d.dict", "3: season\n4: what it costs\n"),
        ("labels.txt", "3\n4\n"),
        ("wrong.obs", "season cold\n"),
    ]);
    let graph = data("harvest.bif");
    let run = format!("locate {graph} --candidates c.txt --schedule TREE --evidence");
    let wanted = work.succeed(&format!("{run} numbers.obs"));
    assert_ne!(wanted, work.succeed(&run.replace(" --evidence", "")));
    let (out, warning) = work.warned(&format!("{run} names.obs"));
    assert_eq!(out, wanted);
    let unknown = "names.obs: 1 observed variables are not in the graph and were left out, the first is snow in line 3";
    assert!(warning.contains(unknown), "{warning}");
    // A dictionary changes what is shown, not what evidence means.
    let other = run.replace("c.txt", "labels.txt --names d.dict");
    let (shown, _) = work.warned(&format!("{other} names.obs"));
    let renamed = [("flood", "season"), ("price", "what it costs")];
    assert_eq!(shown, renamed.iter().fold(wanted, |text, (from, to)| text.replace(from, to)));
    work.refuses(
        &run,
        &[(
            "wrong.obs",
            "wrong.obs:1: variable season has the value 'cold': one of dry, mild, wet is needed",
        )],
    );
}

#[test]
fn what_is_wrong_is_told() {
    let work = Workplace::new(&[
        ("a.causal_fg", PRIORS),
        ("b.causal_fg", PRIORS),
        ("empty", "# none\n"),
        ("one", "1\n"),
        ("other/a.candidates", "1\n"),
    ]);
    work.refuses(
        "locate",
        &[
            ("", "GRAPH"),
            ("a.causal_fg", "--candidates"),
            ("a.causal_fg --candidates empty", "empty: no candidate is listed: a line `VARIABLE [NAME] [0|1]`"),
            ("a.causal_fg --candidates missing", "missing: "),
            ("a.causal_fg b.causal_fg --candidates one", "--candidates is given 1 times for 2 graphs: once per graph"),
            (
                "a.causal_fg b.causal_fg --candidates other",
                "--candidates other: the directory has no file b.candidates for the graph b.causal_fg",
            ),
            ("a.causal_fg --candidates one --fault-state 2", "--fault-state"),
            ("a.causal_fg --candidates one --top 0", "--top"),
            ("a.causal_fg b.causal_fg --candidates one --candidates one --ranks one", "the ranks are those of one graph"),
        ],
    );
}
