//! `--trace` and `--report` of `infer`, `rank` and `locate`, and what a terminal shows of iterations.

#![cfg(all(feature = "cli", target_os = "linux"))]

#[path = "common/browser.rs"]
mod browser;
mod common;
#[allow(dead_code, reason = "of the processes, only those at terminals are used")]
#[path = "common/process.rs"]
mod process;
#[path = "common/workplace.rs"]
mod workplace;

use process::{OnTerminal, kill, program};
use serde_json::Value;
use std::fs;
use workplace::{Workplace, data};

const ALARMS: &str = "14 race(f,g) 1\n20 race(f,h) 0\n21 race(g,h) 1\n";
const HEAD: &str = "run,iteration,largest_change,unconverged,contradictions,seconds";

fn small() -> Workplace {
    let graph = fs::read_to_string(data("alarm_small.causal_fg")).unwrap();
    let observed = fs::read_to_string(data("alarm_small.obs")).unwrap();
    Workplace::new(&[
        ("small.causal_fg", &graph),
        ("small.obs", &observed),
        ("small.alarms", ALARMS),
        ("entries/a.obs", "20 0\n"),
        ("entries/b.obs", "21 1\n"),
    ])
}

/// A line of a trace: run, iteration, change, share, contradictions, seconds.
type Row = (String, u64, Option<f64>, Option<f64>, Option<u64>, f64);

fn rows(work: &Workplace, file: &str) -> Vec<Row> {
    let text = fs::read_to_string(work.path(file)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEAD));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), 6, "{line}");
        (
            cells[0].to_string(),
            cells[1].parse().unwrap(),
            cells[2].parse().ok(),
            cells[3].parse().ok(),
            cells[4].parse().ok(),
            cells[5].parse().unwrap(),
        )
    };
    lines.map(row).collect()
}

#[test]
fn a_trace_has_each_iteration_and_changes_no_result() {
    let work = small();
    for options in [
        "",
        "--iterations 7",
        "--iterations 7 --schedule SEQFIX --damping 0.2",
        "--bingo 1e-6,5,9,3 --schedule TOPO",
        "--schedule SEQMAX",
        "--active 0 --schedule SEQRND --seed 3",
        "--stop-on all --threads 2",
    ] {
        let run = format!("infer small.causal_fg --evidence small.obs {options}");
        let plain = work.succeed(&run);
        let traced = work.succeed(&format!("{run} --trace t.csv --stats s.json"));
        assert_eq!(plain, traced, "{options}");
        let rows = rows(&work, "t.csv");
        let stats: Value =
            serde_json::from_str(&fs::read_to_string(work.path("s.json")).unwrap()).unwrap();
        assert_eq!(stats["iterations"], rows.len(), "{options}");
        for ((run, iteration, change, unconverged, contradictions, _), number) in
            rows.iter().zip(1..)
        {
            assert_eq!((run.as_str(), *iteration), ("", number));
            assert!(change.is_some_and(|change| change >= 0.0), "{options}: {rows:?}");
            assert!(unconverged.is_some_and(|share| (0.0..=1.0).contains(&share)), "{options}");
            assert_eq!(*contradictions, Some(0), "{options}");
        }
        assert!(rows.is_sorted_by_key(|row| row.5));
        let last = rows.last().unwrap();
        // The reader of JSON rounds the last digit.
        let [told, traced] = [stats["max_diff"].as_f64(), last.2].map(Option::unwrap);
        assert!((told - traced).abs() <= 1e-15 * told, "{options}: {told} {traced}");
        // What is converged has nothing left that moves.
        if stats["converged"] == true {
            assert_eq!(last.3, Some(0.0), "{options}");
        }
    }
}

#[test]
fn contradictions_are_counted_in_each_iteration() {
    let work = small();
    let graph = data("contradiction.causal_fg");
    work.warned(&format!("infer {graph} --contradiction vote --trace t.json --iterations 4"));
    let trace: Value =
        serde_json::from_str(&fs::read_to_string(work.path("t.json")).unwrap()).unwrap();
    let iterations = trace["runs"][0]["iterations"].as_array().unwrap();
    assert_eq!(iterations.len(), 4);
    assert!(iterations.iter().any(|it| it["contradictions"].as_u64() > Some(0)), "{trace}");
    // Where that ends the run, nothing is written.
    let error = work.fail(3, &format!("infer {graph} --trace u.csv"));
    assert!(error.contains("contradict"), "{error}");
    assert!(!work.path("u.csv").exists());
}

#[test]
fn every_run_of_a_command_is_in_its_trace() {
    let work = small();
    let batch = "infer small.causal_fg --batch entries";
    let plain = work.succeed(batch);
    assert_eq!(plain, work.succeed(&format!("{batch} --trace t.csv.gz --report r.html")));
    assert_eq!(plain, work.succeed(&format!("{batch} --trace t.csv")));
    let names = |rows: &[Row]| {
        let mut names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
        names.dedup();
        names
    };
    assert_eq!(names(&rows(&work, "t.csv")), ["a.obs", "b.obs"]);
    assert!(fs::read(work.path("t.csv.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let rank = "rank small.causal_fg --alarms small.alarms --answers small.alarms";
    let (plain, _) = work.warned(rank);
    assert_eq!(plain, work.warned(&format!("{rank} --trace t.csv")).0);
    let wanted = ["before the first answer", "after 1 answer", "after 2 answers"];
    assert_eq!(names(&rows(&work, "t.csv")), wanted);
    // A journal goes on; each of the warm runs that give its answers again is one of the trace.
    work.warned(&format!("{rank} --warm --journal kept"));
    work.warned(&format!("{rank} --warm --journal kept --trace t.csv"));
    let rows_again = rows(&work, "t.csv");
    assert_eq!(names(&rows_again), ["after 2 entries of the journal"]);
    assert_eq!(rows_again.iter().filter(|row| row.1 == 1).count(), 3);
    let locate = "locate small.causal_fg small.causal_fg --candidates small.alarms --candidates small.alarms";
    let (plain, _) = work.warned(locate);
    assert_eq!(plain, work.warned(&format!("{locate} --trace t.csv")).0);
    assert_eq!(rows(&work, "t.csv").iter().filter(|row| row.1 == 1).count(), 2);
}

#[test]
fn names_of_files_say_what_is_written() {
    let work = small();
    let infer = "infer small.causal_fg";
    work.refuses(
        infer,
        &[
            ("--trace t.txt", "--trace t.txt: a name that ends in .csv or .json"),
            ("--trace csv", "a name that ends in .csv or .json"),
            ("--report r.txt", "--report r.txt: a name that ends in .html is needed"),
            ("--trace t.csv --output t.csv", "one file, which would be written twice"),
            ("--report small.html --output small.html", "would be written twice"),
        ],
    );
    fs::write(work.path("in.json"), ALARMS).unwrap();
    work.refuses(
        "rank small.causal_fg --alarms in.json",
        &[("--trace in.json", "is read and written")],
    );
    work.refuses(
        "locate small.causal_fg --candidates in.json",
        &[("--trace in.json", "is read and written")],
    );
}

#[test]
fn a_signal_leaves_the_trace_of_what_was_run() {
    let work = small();
    let mut command = program();
    command.args("infer small.causal_fg --iterations 1000000000 --trace t.csv".split(' '));
    command.current_dir(work.path(""));
    let mut running = OnTerminal::start(command);
    running.wait_for("iteration ");
    kill(&running.child, libc::SIGINT);
    let (status, shown) = running.wait();
    assert_eq!(status.code(), Some(130), "{shown}");
    let rows = rows(&work, "t.csv");
    assert!(
        shown.contains(&format!("has ended the run after {} iterations", rows.len())),
        "{shown}"
    );
}

/// On a terminal, iterations say how far they are; by a rule with a tolerance also what share has converged.
#[test]
fn a_terminal_shows_how_far_a_run_is() {
    let graph = data("graphs/bingo/weblech-thresc.causal_fg.gz");
    // After BINGO's first two answers there its messages never come to rest.
    let work = Workplace::new(&[("restless.obs", "2732 0\n4 0\n")]);
    let infer = format!(
        "infer {graph} --evidence restless.obs --contradiction vote --schedule SEQFIX --backend cpu"
    );
    let rules = [
        ("--tolerance 1e-6 --max-iterations 10000000", true),
        ("--bingo 1e-6,10000000,10000001,1", true),
        ("--iterations 10000000", false),
        ("--iterations 10000000 --trace t.csv", true),
    ];
    for (rule, is_measured) in rules {
        let mut command = program();
        command.args(format!("{infer} {rule} --output out.txt").split(' '));
        command.current_dir(work.path(""));
        let mut running = OnTerminal::start(command);
        running.wait_for_next("iteration ");
        if is_measured {
            running.wait_for_next("largest change ");
            let converged = running.wait_for_next(" % converged, at most ");
            assert!(
                converged.starts_with(['9', '8', '7', '6', '5', '4', '3', '2', '1']),
                "{converged}"
            );
        }
        let line = running.wait_for_next(" left");
        kill(&running.child, libc::SIGINT);
        let (status, shown) = running.wait();
        assert_eq!(status.code(), Some(130), "{shown}");
        if !is_measured {
            assert!(
                line.contains(" of at most 10000000, at most ") && !line.contains("converged"),
                "{line}"
            );
        }
    }
}

/// The page of a command, opened in a browser: how many figures it draws, and the text that is seen.
#[test]
fn pages_are_drawn_by_a_browser() {
    let work = small();
    work.warned(
        "infer small.causal_fg --evidence small.obs --schedule SEQFIX --report infer.html --output out.txt",
    );
    work.warned("infer small.causal_fg --batch entries --schedule TOPO --report batch.html --output out.txt");
    work.warned(
        "rank small.causal_fg --alarms small.alarms --answers small.alarms --report rank.html",
    );
    work.warned(
        "locate small.causal_fg --candidates small.alarms --evidence small.obs --schedule TREE --report locate.html",
    );
    let pages = [
        ("infer.html", 5, &["SEQFIX", "converged", "Where the time went", "running "][..]),
        ("batch.html", 4, &["a.obs", "b.obs", "ended by"]),
        ("rank.html", 8, &["Rank-100%-T", "inversions", "race(f,h)", "True alarms over the time"]),
        ("locate.html", 6, &["small.causal_fg", "average rank", "P(fault)", "race(g,h)"]),
    ];
    for (page, figures, texts) in pages {
        let path = work.path(page);
        let text = fs::read_to_string(&path).unwrap();
        for outside in
            ["http://", "https://", "src=", "href=", "@import", "url(", "<script", "<link"]
        {
            // The name of the language of SVG is no address that is opened.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains(outside), "{page} has {outside}");
        }
        let Some(seen) = browser::open(&path) else { return };
        assert_eq!(seen.figures.len(), figures, "{page}: {seen:?}");
        for figure in &seen.figures {
            assert!(
                figure.marks > 0 && figure.width > 300.0 && figure.height > 50.0,
                "{page}: {figure:?}"
            );
            assert!(figure.outside == 0, "{page}: marks outside of the figure: {figure:?}");
        }
        for wanted in texts {
            assert!(seen.text.contains(wanted), "{page}: {wanted} is not seen in {}", seen.text);
        }
        assert_eq!(seen.loaded, 0, "{page} loads something");
        assert!(seen.colours > 2, "{page}: nothing is painted");
    }
}
