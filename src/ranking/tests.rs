//! Inspections with journals: cut anywhere, they go on as they would have.

use super::*;
use crate::engine::{Contradiction, Control, EngineOptions, Progress, RunRequest, Start, StopRule};
use crate::error::Error;
use crate::generate::bingo;
use crate::model::{FactorGraph, FactorGraphBuilder};
use crate::schedule::Schedule;
use crate::session::BeliefPropagation;
use std::path::Path;
use std::sync::Arc;

fn go_on(_: &Progress) -> Control {
    Control::Continue
}

fn inspection(
    graph: &Arc<FactorGraph>, alarms: &[usize], request: RunRequest, schedule: Schedule,
) -> Inspection {
    let session =
        BeliefPropagation::new(graph.clone(), schedule, EngineOptions::default()).unwrap();
    let alarms = alarms.iter().map(|&variable| Alarm { variable, name: None }).collect();
    Inspection::new(session, alarms, Rules { request, precision: Precision::SixDigits }).unwrap()
}

fn open(path: &Path, inspection: &Inspection) -> Opened {
    Journal::open(path, &inspection.subject()).unwrap()
}

/// Answers by turns, with answers that are taken back; the order after the first run and after each event.
fn inspect(inspection: &mut Inspection, journal: &Path) -> Vec<Vec<Ranked>> {
    let opened = open(journal, inspection);
    inspection.begin(Some(opened), &mut go_on).unwrap();
    let mut orders = vec![inspection.order().to_vec()];
    for step in 0..10 {
        if step % 4 == 2 {
            inspection.undo(&mut go_on).unwrap().unwrap();
        } else {
            let alarm = inspection.order()[step % 3].alarm;
            inspection.answer(alarm, step % 2 == 0, &mut go_on).unwrap();
        }
        orders.push(inspection.order().to_vec());
    }
    orders
}

#[test]
fn a_journal_goes_on_with_the_same_order() {
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    let alarms: Vec<usize> = (0..20).map(|number| 7 * number).collect();
    let rule =
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 10, max_iterations: 20, history: 5 };
    for start in [Start::Fresh, Start::Warm] {
        for schedule in [Schedule::SequentialFixed, Schedule::SequentialRandom { seed: 3 }] {
            let contradiction = Contradiction::Vote;
            let request = RunRequest { start, contradiction, ..RunRequest::new(rule) };
            let make = || inspection(&graph, &alarms, request, schedule.clone());
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("journal");
            let orders = inspect(&mut make(), &path);
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            assert_eq!(lines.len(), orders.len());
            for (position, wanted) in orders.iter().enumerate() {
                // With half of the next event behind it.
                let next = lines.get(position + 1).copied().unwrap_or("");
                let cut = lines[..=position].concat() + &next[..next.len() / 2];
                std::fs::write(&path, cut).unwrap();
                let mut again = make();
                let opened = open(&path, &again);
                assert_eq!(opened.was_torn, !next.is_empty());
                again.begin(Some(opened), &mut go_on).unwrap();
                assert_eq!(again.order(), wanted, "{start:?} {schedule:?} after event {position}");
            }
        }
    }
}

/// Two alarms that 1 causes with certainty.
fn certain() -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(1, 0.5).unwrap();
    builder.add_and(2, &[1], 1.0, 0.0).unwrap();
    builder.add_and(3, &[1], 1.0, 0.0).unwrap();
    Arc::new(builder.build().unwrap())
}

#[test]
fn an_answer_that_contradicts_the_graph_is_refused() {
    for start in [Start::Fresh, Start::Warm] {
        let request = RunRequest { start, ..RunRequest::new(StopRule::Iterations(10)) };
        let make = || inspection(&certain(), &[1, 2], request, Schedule::SequentialFixed);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut first = make();
        let opened = open(&path, &first);
        first.begin(Some(opened), &mut go_on).unwrap();
        first.answer(0, true, &mut go_on).unwrap();
        let order = first.order().to_vec();
        let error = first.answer(1, false, &mut go_on).unwrap_err();
        assert!(matches!(error, Error::Contradiction { .. }), "{error}");
        assert_eq!((first.order(), first.answers().len()), (&order[..], 1));
        drop(first);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\nrefused ~"), "{text}");
        // With the refusal in the journal, and killed just before it was written there.
        let before = text.rfind("refused").unwrap();
        for text in [&text[..], &text[..before]] {
            std::fs::write(&path, text).unwrap();
            let mut again = make();
            let opened = open(&path, &again);
            again.begin(Some(opened), &mut go_on).unwrap();
            assert_eq!((again.order(), again.answers().len()), (&order[..], 1));
            again.answer(1, true, &mut go_on).unwrap();
            assert!(again.order().is_empty());
        }
    }
}

#[test]
fn alarms_are_found_by_their_variables() {
    let request = RunRequest::new(StopRule::Iterations(10));
    let inspection = inspection(&certain(), &[2, 1], request, Schedule::SequentialFixed);
    assert_eq!(
        [0, 1, 2, 9].map(|variable| inspection.alarm_at(variable)),
        [None, Some(1), Some(0), None]
    );
}

#[test]
fn wrong_alarms_and_answers_are_told() {
    let request = RunRequest::new(StopRule::Iterations(10));
    let session = || BeliefPropagation::with_defaults(certain());
    let refused = |session, alarms: &[usize]| {
        let alarms = alarms.iter().map(|&variable| Alarm { variable, name: None }).collect();
        let rules = Rules { request, precision: Precision::Exact };
        Inspection::new(session, alarms, rules).err().unwrap().to_string()
    };
    assert!(refused(session(), &[1, 2, 1]).contains("alarm 2: it is listed twice"));
    assert!(refused(session(), &[7]).contains('7'));
    let mut observed = session();
    observed.observe(2, 1).unwrap();
    assert!(refused(observed, &[1, 2]).contains("alarm 3: it is observed already"));

    let mut inspection = inspection(&certain(), &[1, 2], request, Schedule::SequentialFixed);
    inspection.begin(None, &mut go_on).unwrap();
    assert!(inspection.undo(&mut go_on).unwrap().is_none());
    inspection.answer(0, true, &mut go_on).unwrap();
    let again = inspection.answer(0, false, &mut go_on).unwrap_err().to_string();
    assert!(again.contains("alarm 2: it was answered before"), "{again}");
    assert!(inspection.answer(2, true, &mut go_on).is_err());
    let (answer, _) = inspection.undo(&mut go_on).unwrap().unwrap();
    assert_eq!(answer, Answer { alarm: 0, is_true: true });
    assert_eq!(inspection.order().len(), 2);
}

#[test]
fn journals_of_other_options_are_told_apart() {
    let subject = |schedule, request| inspection(&certain(), &[1, 2], request, schedule).subject();
    let request = RunRequest::new(StopRule::Iterations(10));
    let one = subject(Schedule::SequentialFixed, request);
    assert_eq!(one, subject(Schedule::SequentialFixed, request));
    assert!(!one.contains('\n') && one.split(' ').all(|word| word.contains('=')), "{one}");
    for other in [
        subject(Schedule::Parallel, request),
        subject(Schedule::SequentialFixed, RunRequest { start: Start::Warm, ..request }),
        subject(Schedule::SequentialFixed, RunRequest { damping: 0.5, ..request }),
        subject(Schedule::SequentialFixed, RunRequest::new(StopRule::Iterations(11))),
    ] {
        assert_ne!(one, other);
    }
}
