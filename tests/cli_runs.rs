//! Options of runs of `fastlbp infer`: max-product, the partition function, damping, active sets, stop rules,
//! batches; and the output of `fastlbp info` for tables.

#![cfg(feature = "cli")]

#[path = "common/workplace.rs"]
mod workplace;

use serde_json::Value;
use std::fs;
use std::process::Command;
use workplace::{Workplace, data};

/// What `infer --stats` writes.
#[track_caller]
fn stats(work: &Workplace, arguments: &str) -> Value {
    work.succeed(&format!("infer {arguments} --stats stats.json"));
    serde_json::from_str(&fs::read_to_string(work.path("stats.json")).unwrap()).unwrap()
}

/// The number after a text at the start of a line.
#[track_caller]
fn number(line: &str, prefix: &str) -> f64 {
    let rest = line.strip_prefix(prefix).unwrap_or_else(|| panic!("{line}: {prefix} is wanted"));
    rest.parse().unwrap()
}

/// The values of `label value` lines.
fn values(out: &str) -> Vec<f64> {
    let lines = out.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn the_most_probable_joint_state() {
    let work = Workplace::new(&[("seen.obs", "8 1\n"), ("asked.txt", "8\n3\n")]);
    let infer = format!("infer {} --schedule TREE", data("chain.causal_fg"));
    // The greatest product: 3/4 * 7/8 * 3/4, and with 8 = 1 3/4 * 7/8 * 1/4.
    let out = work.succeed(&format!("{infer} --map"));
    let lines: Vec<&str> = out.lines().collect();
    let score = number(lines[0], "# label state; log-score ");
    assert!((score - 0.4921875_f64.ln()).abs() < 1e-14, "{score}");
    assert_eq!(lines[1..], ["3 0", "5 0", "8 0"]);
    let asked = format!("{infer} --inference max --map --evidence seen.obs --queries asked.txt");
    let out = work.succeed(&asked);
    let lines: Vec<&str> = out.lines().collect();
    let score = number(lines[0], "# label state; log-score ");
    assert!((score - 0.1640625_f64.ln()).abs() < 1e-14, "{score}");
    assert_eq!(lines[1..], ["8 1", "3 0"]);
    assert_eq!(work.succeed(&format!("{asked} --output states.txt")), "");
    assert_eq!(fs::read_to_string(work.path("states.txt")).unwrap(), out);
    let stats = stats(&work, &format!("{} --schedule TREE --map", data("chain.causal_fg")));
    assert!((stats["log_score"].as_f64().unwrap() - 0.4921875_f64.ln()).abs() < 1e-14);
    assert!(stats["log_partition"].is_null());
}

#[test]
fn a_joint_state_with_names_can_be_read_as_evidence() {
    let work = Workplace::new(&[]);
    let infer = format!("infer {} --schedule TREE", data("harvest.bif"));
    let out = work.succeed(&format!("{infer} --map"));
    let lines: Vec<&str> = out.lines().collect();
    // mild, loam, good, no, high: 0.5 * 0.5 * 0.6 * 0.95 * 0.1 is not it; low is 0.9.
    let score = number(lines[0], "# name state; log-score ");
    assert!((score - (0.5 * 0.5 * 0.6 * 0.95 * 0.9_f64).ln()).abs() < 1e-14, "{score}");
    assert_eq!(lines[1..], ["season mild", "soil loam", "crop good", "flood no", "price low"]);
    fs::write(work.path("seen.obs"), &out).unwrap();
    let certain = work.succeed(&format!("{infer} --evidence seen.obs"));
    assert!(certain.contains("\nprice low=1 high=0\n"), "{certain}");
}

#[test]
fn contradictions_and_sums_have_no_most_probable_state() {
    let work = Workplace::new(&[]);
    work.fail_at(
        3,
        &format!("infer {} --map", data("contradiction.causal_fg")),
        "contradiction at variable 4",
    );
    let infer = format!("infer {}", data("chain.causal_fg"));
    work.fail_with(2, &format!("{infer} --map --inference sum"), "--inference max");
    work.fail_with(2, &format!("{infer} --inference product"), "sum, max");
}

#[test]
fn max_marginals_compare_the_best_joint_states() {
    let work = Workplace::new(&[]);
    let infer = format!("infer {} --schedule TREE", data("chain.causal_fg"));
    let maxima = values(&work.succeed(&format!("{infer} --inference max")));
    // With 3 = 1 the best joint state has 1/4 * 1/2 * 3/4.
    let wanted = 0.09375 / (0.09375 + 0.4921875);
    assert!((maxima[0] - wanted).abs() < 1e-14, "{maxima:?}");
    let sums = work.succeed(&format!("{infer} --inference sum"));
    assert_eq!(sums, work.succeed(&infer));
    assert_eq!(values(&sums)[0], 0.25);
}

#[test]
fn the_partition_function_is_in_front_of_the_head_line() {
    let work = Workplace::new(&[("seen.obs", "8 0\n")]);
    let infer = format!("infer {} --schedule TREE", data("chain.causal_fg"));
    let plain = work.succeed(&format!("{infer} --evidence seen.obs"));
    let out = work.succeed(&format!("{infer} --evidence seen.obs --log-partition"));
    let (first, rest) = out.split_once('\n').unwrap();
    let value = number(first, "# log-partition ");
    // P(8 = 0)
    assert!((value - 0.6953125_f64.ln()).abs() < 1e-14, "{value}");
    assert_eq!(rest, plain);
    let stats = stats(&work, &format!("{} --log-partition", data("harvest.bif")));
    assert!(stats["log_partition"].as_f64().unwrap().abs() < 1e-12);
    assert!(stats["log_score"].is_null());
    work.fail_with(2, &format!("{infer} --log-partition --map"), "cannot be used with");
    work.fail_with(
        2,
        &format!("{infer} --log-partition --inference max"),
        "--inference sum is needed",
    );
}

#[test]
fn damping_slows_messages_down_but_not_where_they_end() {
    let work = Workplace::new(&[]);
    let graph = data("alarm_small.causal_fg");
    let infer = format!("infer {graph} --tolerance 1e-13");
    let (plain, damped) = (work.succeed(&infer), work.succeed(&format!("{infer} --damping 0.5")));
    for (a, b) in values(&plain).into_iter().zip(values(&damped)) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
    let iterations = |options: &str| {
        stats(&work, &format!("{graph} --tolerance 1e-13 {options}"))["iterations"]
            .as_u64()
            .unwrap()
    };
    assert!(iterations("--damping 0.5") > iterations(""));
    assert_eq!(work.succeed(&format!("{infer} --damping 0")), plain);
    for wrong in ["1", "-0.1", "nan", "x"] {
        work.fail_with(2, &format!("{infer} --damping {wrong}"), "a number in [0, 1)");
    }
}

#[test]
fn an_active_set_spares_messages() {
    let work = Workplace::new(&[]);
    let graph = data("alarm_small.causal_fg");
    let infer = format!("{graph} --schedule SEQFIX --iterations 30");
    let plain = work.succeed(&format!("infer {infer}"));
    assert_eq!(work.succeed(&format!("infer {infer} --active 0")), plain);
    assert_eq!(stats(&work, &infer)["spared_messages"], 0);
    assert!(work.run("generate bingo --variables 2000 --seed 7 g.causal_fg").status.success());
    let spared = |threshold: &str| {
        // (By other schedules, how many depends on what is faster.)
        let run = format!("g.causal_fg --schedule PARALL --iterations 30 --active {threshold}");
        stats(&work, &run)["spared_messages"].as_u64().unwrap()
    };
    let (exact, rough) = (spared("0"), spared("0.01"));
    assert!(0 < exact && exact < rough, "{exact} {rough}");
    // On any number of threads.
    let results = |options: &str| {
        let run = "infer g.causal_fg --schedule SEQFIX --iterations 60 --active 0.01";
        work.succeed(&format!("{run} {options}"))
    };
    assert_eq!(results("--threads 1"), results("--threads 2"));
    let cases = [
        ("--active -1", "a number >= 0"),
        ("--active inf", "a number >= 0"),
        ("--active 0 --damping 0.5", "cannot be used with"),
        ("--active 0 --schedule SEQMAX", "another schedule is needed"),
    ];
    work.refuses(&format!("infer {graph}"), &cases);
}

#[test]
fn beliefs_of_factors_can_be_waited_for() {
    let work = Workplace::new(&[]);
    let graph = data("alarm_small.causal_fg");
    let iterations = |options: &str| {
        let stats = stats(&work, &format!("{graph} --schedule SEQFIX {options}"));
        assert_eq!(stats["stop_reason"], "converged");
        stats["iterations"].as_u64().unwrap()
    };
    assert_eq!(iterations("--stop-on variables"), iterations(""));
    assert!(iterations("--stop-on all --tolerance 1e-6") >= iterations("--tolerance 1e-6"));
    let (_, _, err) = work.all(&format!("infer {graph} --stop-on all --max-iterations 1"));
    assert!(err.contains("no convergence in 1 iterations"), "{err}");
    let cases = [
        ("--stop-on none", "variables, all"),
        ("--stop-on all --iterations 3", "cannot be used with"),
        ("--stop-on all --bingo 1e-6,5,10,5", "cannot be used with"),
    ];
    work.refuses(&format!("infer {graph}"), &cases);
}

#[test]
fn residuals_of_logarithms_are_those_of_one_schedule() {
    let work = Workplace::new(&[]);
    let infer = format!("infer {}", data("mixed.fg"));
    let residual = work.succeed(&format!("{infer} --schedule SEQMAX"));
    let logarithms = work.succeed(&format!("{infer} --schedule SEQMAX --log-domain"));
    for (a, b) in values(&residual).into_iter().zip(values(&logarithms)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    // After a few messages the two orders have led elsewhere.
    let one = format!("{infer} --iterations 1 --schedule SEQMAX");
    assert_ne!(work.succeed(&one), work.succeed(&format!("{one} --log-domain")));
    for options in ["--log-domain", "--log-domain --schedule TREE"] {
        work.fail_with(2, &format!("{infer} {options}"), "--schedule SEQMAX is needed");
    }
}

#[test]
fn tables_can_be_run_as_tables() {
    let work = Workplace::new(&[]);
    assert!(work.run(&format!("convert {} a.fg", data("alarm_small.causal_fg"))).status.success());
    let compiled = work.succeed("infer a.fg --iterations 9");
    let tables = work.succeed("infer a.fg --iterations 9 --no-compile");
    for (a, b) in values(&compiled).into_iter().zip(values(&tables)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    let info = work.succeed("info a.fg --schedule PARALL");
    let wanted = "table class        tables    entries   compiled\n";
    let rows = info.split_once(wanted).expect("a part on tables").1;
    assert!(rows.lines().any(|row| row.split_whitespace().eq(["prior", "4", "8", "4"])), "{rows}");
    let json: Value = serde_json::from_str(&work.succeed("info a.fg --json")).unwrap();
    let classes = json["tables"].as_array().unwrap();
    let count: u64 = classes.iter().map(|class| class["tables"].as_u64().unwrap()).sum();
    assert_eq!(count, 11);
    for class in classes {
        assert!(class["class"].is_string() && class["entries"].as_u64().unwrap() >= 2);
        assert!(class["compiled"].as_u64() <= class["tables"].as_u64());
    }
    let none = work.succeed(&format!("info {} --schedule PARALL", data("chain.causal_fg")));
    assert!(!none.contains("table class"), "{none}");
}

/// The sections of a batch: names and texts.
fn sections(out: &str) -> Vec<(&str, &str)> {
    assert!(out.starts_with("# entry "), "{out}");
    out.split("# entry ").skip(1).map(|section| section.split_once('\n').unwrap()).collect()
}

#[test]
fn a_batch_is_its_entries_one_by_one() {
    let work = Workplace::new(&[
        ("seen/b.obs", "3 1\n"),
        ("seen/a.obs", "8 0\n# and\n5 1\n"),
        ("seen/c.evid", "1 2 1\n"),
        ("seen/readme.txt", "not evidence\n"),
        ("seen/deeper/d.obs", "3 1\n"),
        ("list", "# two of them\nseen/c.evid\n\nseen/a.obs\n"),
        ("asked.txt", "8\n3\n"),
        ("soft.txt", "3 1 2\n"),
    ]);
    let gzip = Command::new("gzip").arg(work.path("seen/b.obs")).status().unwrap();
    assert!(gzip.success());
    let infer = format!("infer {} --schedule TREE", data("chain.causal_fg"));
    for options in ["", "--queries asked.txt", "--map", "--log-partition --queries asked.txt"] {
        let alone = |file: &str| work.succeed(&format!("{infer} {options} --evidence seen/{file}"));
        let (a, b, c) = (alone("a.obs"), alone("b.obs.gz"), alone("c.evid"));
        let wanted = [("a.obs", a.as_str()), ("b.obs.gz", &b), ("c.evid", &c)];
        for threads in [1, 2] {
            let batch = format!("{infer} {options} --threads {threads}");
            let out = work.succeed(&format!("{batch} --batch seen"));
            assert_eq!(sections(&out), wanted, "{options}");
        }
        let listed = work.succeed(&format!("{infer} {options} --batch list"));
        assert_eq!(sections(&listed), [("seen/c.evid", c.as_str()), ("seen/a.obs", &a)]);
        let one = work.succeed(&format!("{infer} {options} --batch seen/a.obs"));
        assert_eq!(sections(&one), wanted[..1]);
    }
    let soft = work.succeed(&format!("{infer} --soft-evidence soft.txt --batch seen/c.evid"));
    let alone = work.succeed(&format!("{infer} --soft-evidence soft.txt --evidence seen/c.evid"));
    assert_eq!(sections(&soft)[0].1, alone);
    assert_eq!(work.succeed(&format!("{infer} --batch list --output out.txt")), "");
    let written = fs::read_to_string(work.path("out.txt")).unwrap();
    assert_eq!(written, work.succeed(&format!("{infer} --batch list")));
    let stats = stats(&work, &format!("{} --batch seen", data("chain.causal_fg")));
    let entries = stats["entries"].as_array().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.obs", "b.obs.gz", "c.evid"]);
    assert!(entries.iter().all(|entry| entry["failure"].is_null() && entry["converged"] == true));
    assert!(stats["iterations"].is_null());
}

#[test]
fn samples_are_entries_of_a_batch() {
    let work = Workplace::new(&[("s.evid", "3\n1 0 1\n0\n2 0 0 1 2\n")]);
    let infer = format!("infer {}", data("mixed.uai"));
    let out = work.succeed(&format!("{infer} --batch s.evid"));
    let found = sections(&out);
    assert_eq!(found.len(), 3);
    for (index, (name, text)) in found.into_iter().enumerate() {
        let number = index + 1;
        assert_eq!(name, format!("s.evid sample {number}"));
        let sample = format!("--evidence s.evid --evidence-sample {number}");
        assert_eq!(text, work.succeed(&format!("{infer} {sample}")));
    }
}

#[test]
fn a_contradictory_entry_spoils_no_other_one() {
    // x2 is x1, which is true.
    let work = Workplace::new(&[
        ("g.causal_fg", "2\n\n1\nI\n1\n\n2\n*1\n1\n1\n"),
        ("seen/a.obs", "2 1\n"),
        ("seen/b.obs", "2 0\n"),
        ("seen/c.obs", ""),
    ]);
    for options in ["", "--map"] {
        let batch = format!("infer g.causal_fg {options} --batch seen --stats stats.json");
        let (code, out, err) = work.all(&batch);
        assert_eq!(code, Some(3), "{err}");
        let found = sections(&out);
        let names: Vec<&str> = found.iter().map(|section| section.0).collect();
        assert_eq!(names, ["a.obs", "b.obs", "c.obs"]);
        assert!(found[1].1.starts_with("# failed: contradiction at variable 1"), "{out}");
        assert_eq!(found[1].1.lines().count(), 1);
        for good in [found[0].1, found[2].1] {
            assert_eq!(good.lines().skip(1).collect::<Vec<_>>(), ["1 1", "2 1"], "{options}");
        }
        let (warning, error) = err.split_once('\n').unwrap();
        assert!(warning.starts_with("fastlbp: warning: entry b.obs: contradiction"), "{err}");
        assert_eq!(error, "fastlbp: error: 1 of 3 entries failed, see the warnings\n");
        let stats = fs::read_to_string(work.path("stats.json")).unwrap();
        let stats: Value = serde_json::from_str(&stats).unwrap();
        assert!(stats["entries"][1]["failure"].as_str().unwrap().starts_with("contradiction"));
        assert!(
            stats["entries"][1]["iterations"].is_null() && stats["entries"][2]["iterations"] != 0
        );
    }
    let (code, _, err) = work.all("infer g.causal_fg --batch seen --contradiction vote");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.starts_with("fastlbp: warning: entry b.obs: deterministic messages"), "{err}");
}

#[test]
fn what_a_batch_cannot_be_read_from() {
    let work = Workplace::new(&[
        ("empty/readme.txt", ""),
        ("none", "# nothing\n"),
        ("list", "\nseen.obs\nmissing.obs\n"),
        ("seen.obs", "3 1\n"),
        ("wrong.obs", "3 maybe\n"),
        ("foreign.obs", "99 1\n"),
        ("soft.txt", "3 1 2\n"),
    ]);
    let infer = format!("infer {}", data("chain.causal_fg"));
    for (options, why) in [
        ("--batch empty", "empty: no evidence there"),
        ("--batch none", "none: no evidence there"),
        ("--batch missing", "missing: No such file"),
        ("--batch missing.obs", "missing.obs: No such file"),
        ("--batch list", "listed in line 3 of list"),
        ("--batch wrong.obs", "wrong.obs:1: variable 3 has the value 'maybe'"),
        ("--batch seen.obs --soft-evidence soft.txt", "soft.txt:1: variable 3 is observed"),
        ("--batch seen.obs --evidence seen.obs", "cannot be used with"),
        ("--batch seen.obs --evidence-sample 1", "--evidence"),
    ] {
        let error = work.fail(2, &format!("{infer} {options}"));
        assert!(error.contains(why), "{options}: {error}");
    }
    let (code, _, err) = work.all(&format!("{infer} --batch foreign.obs"));
    assert_eq!(code, Some(0));
    assert!(err.contains("foreign.obs: 1 observed variables are not in the graph"), "{err}");
}

/// The schedule that `info` advises, and the reasons.
fn advice(work: &Workplace, arguments: &str) -> (String, String) {
    let text = work.succeed(&format!("info {arguments}"));
    let (_, advice) = text.split_once("\nadvice: ").expect("advice");
    let (schedule, reasons) = advice.split_once('\n').unwrap();
    (schedule.to_string(), reasons.to_string())
}

#[test]
fn info_advises_a_schedule_and_says_why() {
    let work = Workplace::new(&[("seen.obs", "14 1\n")]);
    let (schedule, reasons) = advice(&work, &data("chain.causal_fg"));
    assert_eq!(schedule, "TREE");
    assert_eq!(reasons, "  the graph has no cycle: one iteration is exact\n");
    let small = data("alarm_small.causal_fg");
    let (schedule, reasons) = advice(&work, &format!("{small} --evidence seen.obs"));
    assert_eq!(schedule, "PARALL");
    assert!(reasons.starts_with("  PARALL converges in "), "{reasons}");
    assert!(
        reasons.contains("\n  levels of an iteration, one after the other: PARALL 1, SEQFIX 7, "),
        "{reasons}"
    );
    assert!(!reasons.contains("disagree") && !reasons.contains("high-degree"), "{reasons}");
    // BINGO's graphs mostly do not come to rest.
    let restless = data("graphs/bingo/weblech-thresc.causal_fg.gz");
    let observed = data("graphs/bingo/weblech-thresc.obs");
    let (schedule, reasons) = advice(&work, &format!("{restless} --evidence {observed}"));
    assert_eq!(schedule, "SEQFIX");
    assert!(reasons.starts_with("  nothing tried comes to rest: --bingo gives "), "{reasons}");
    for tried in ["PARALL", "SEQFIX", "FWDBWD", "PARALL with --damping 0.5"] {
        assert!(
            reasons.contains(&format!("\n  {tried} does not converge in 200 iterations: ")),
            "{reasons}"
        );
    }
    work.warned("generate smartfl --variables 100 --high-degree 1,200 high.causal_fg");
    let (_, reasons) = advice(&work, "high.causal_fg");
    assert!(reasons.contains("a high-degree variable is in 2"), "{reasons}");
    let json: Value = serde_json::from_str(&work.succeed(&format!("info {small} --json"))).unwrap();
    let trial = &json["advice"]["trials"][0];
    assert_eq!(
        (&json["advice"]["schedule"], &trial["converged"]),
        (&"PARALL".into(), &true.into())
    );
    let json: Value =
        serde_json::from_str(&work.succeed(&format!("info {small} --json --schedule TREE")))
            .unwrap();
    assert_eq!(json["advice"], Value::Null);
    work.refuses(
        &format!("info {small}"),
        &[("--schedule TREE --evidence seen.obs", "cannot be used with")],
    );
}

#[test]
fn exact_results() {
    let work = Workplace::new(&[("seen.obs", "8 1\n")]);
    let chain = data("chain.causal_fg");
    let infer = format!("infer {chain} --evidence seen.obs");
    // On a tree, belief propagation is exact.
    let out = work.succeed(&format!("{infer} --exact --log-partition"));
    let run = work.succeed(&format!("{infer} --schedule TREE --log-partition"));
    for (exact, run) in values(&out).into_iter().zip(values(&run)) {
        assert!((exact - run).abs() < 1e-14, "{exact} {run}");
    }
    let first = |out: &str| number(out.lines().next().unwrap(), "# log-partition ");
    assert!((first(&out) - first(&run)).abs() < 1e-14, "{out}{run}");
    let out = work.succeed(&format!("{infer} --exact --map"));
    let lines: Vec<&str> = out.lines().collect();
    let score = number(lines[0], "# label state; log-score ");
    assert!((score - 0.1640625_f64.ln()).abs() < 1e-14, "{score}");
    assert_eq!(lines[1..], ["3 0", "5 0", "8 1"]);
    assert_eq!(work.succeed(&format!("{infer} --exact --map --output states.txt")), "");
    assert_eq!(fs::read_to_string(work.path("states.txt")).unwrap(), out);

    let limited = format!("{infer} --exact --exact-limit 5");
    work.fail_with(2, &limited, "needs tables of 6 entries or more, one of them over");
    work.refuses(
        &infer,
        &[
            ("--exact-limit 100", "--exact"),
            ("--exact --iterations 3", "cannot be used with"),
            ("--exact --schedule TREE", "cannot be used with"),
            ("--exact --stats stats.json", "cannot be used with"),
            ("--exact --trace trace.csv", "cannot be used with"),
            ("--exact --report report.html", "cannot be used with"),
        ],
    );
    let contradiction = format!("infer {} --exact", data("contradiction.causal_fg"));
    work.fail_with(3, &contradiction, "the factors and the evidence exclude all joint states");
}
