//! The dialog of `fastlbp rank`: which alarm is next, and what is said of it, by a person, a program or a file.

use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome};
use crate::messages::{inform, warn};
use crate::observe::Observer;
use crate::rank_output::{KEYS, Printer, Run, Summary, Timing, describe};
use crate::run_warnings;
use crate::signals;
use crate::standard_streams::standard_input;
use fastlbp::format::{Dictionary, describe_variable, find_variable, save_text};
use fastlbp::ranking::{Inspection, Opened, Quality, explain};
use fastlbp::{Control, Error, FactorGraph, Progress, Result, RunReport};
use std::io::{BufRead, Read, StdinLock};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Longest line that is read: longer ones are no command.
const LONGEST_LINE: u64 = 10_000;

/// An inspection, and who is told and asked.
pub struct Dialog {
    pub inspection: Inspection,
    pub graph: Arc<FactorGraph>,
    pub names: Dictionary,
    /// Answers that a file gives, by alarm.
    pub answers: Option<Vec<Option<bool>>>,
    /// Whether each alarm is a true one, where that is known of all.
    pub truth: Option<Truth>,
    /// Whether to go on when all true alarms are found, where the answers come from a file.
    pub goes_on: bool,
    pub journal: Option<PathBuf>,
    /// What must not be written.
    pub conflicts: Conflicts,
    pub printer: Printer,
    pub max_iterations: u64,
    pub timing: Timing,
    pub observer: Observer,
}

/// Which alarms are true ones.
pub struct Truth {
    pub is_true: Vec<bool>,
    /// Whether it is from the list of alarms, so that answers may differ from it.
    pub is_listed: bool,
}

/// A command of the user, with what follows it.
#[derive(Debug, PartialEq, Eq)]
enum Command<'a> {
    Answer(bool, &'a str),
    Why(&'a str),
    Undo,
    Save(&'a str),
    Quit,
    Help,
}

impl<'a> Command<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().trim_matches('"');
        Some(match (word, rest) {
            ("y" | "yes" | "true" | "1", alarm) => Command::Answer(true, alarm),
            ("n" | "no" | "false" | "0", alarm) => Command::Answer(false, alarm),
            ("?" | "why", variable) => Command::Why(variable),
            ("u" | "undo", "") => Command::Undo,
            ("s" | "save", file) => Command::Save(file),
            ("q" | "quit", "") => Command::Quit,
            ("h" | "help", "") => Command::Help,
            _ => return None,
        })
    }
}

/// Whether the dialog goes on.
enum Next {
    /// With another question.
    Question,
    /// With the same one.
    Same,
    End,
}

impl Dialog {
    /// Ranks the alarms, and asks until there is an end.
    pub fn hold(&mut self, opened: Option<Opened>) -> Outcome {
        let events = opened.as_ref().map_or(0, |opened| opened.events.len());
        let name = match events {
            0 => "before the first answer".into(),
            events => format!("after {events} entries of the journal"),
        };
        let mut run = self.timed(&name, |inspection, monitor| inspection.begin(opened, monitor))?;
        self.timing.first = run.seconds;
        self.check_journal()?;
        self.warn_about(&run.report, None);
        match self.answers.take() {
            Some(answers) => self.replay(&answers, &mut run),
            None => self.converse(&mut run),
        }
    }

    /// Takes answers from a file.
    fn replay(&mut self, answers: &[Option<bool>], run: &mut Run) -> Outcome {
        let all_true = answers.iter().filter(|&&answer| answer == Some(true)).count();
        let is_complete = answers.iter().all(Option::is_some);
        while let Some(&first) = self.inspection.order().first() {
            if is_complete && !self.goes_on && self.found() == all_true {
                return Ok(());
            }
            let Some(is_true) = answers[first.alarm] else {
                return self.printer.question(&self.inspection, &self.names, *run);
            };
            self.printer.answer(&self.inspection, &self.names, first, is_true, *run)?;
            let before = run.report;
            let name = after_answers(self.inspection.answers().len() + 1);
            *run = self.timed(&name, |inspection, monitor| {
                inspection.answer(first.alarm, is_true, monitor)
            })?;
            self.timing.after_answers.push(run.seconds);
            self.warn_about(&run.report, Some(&before));
        }
        Ok(())
    }

    /// Asks a person or a program.
    fn converse(&mut self, run: &mut Run) -> Outcome {
        let mut input = standard_input()?;
        while !self.inspection.order().is_empty() {
            self.printer.question(&self.inspection, &self.names, *run)?;
            loop {
                self.printer.ask()?;
                let Some(line) = read_line(&mut input)? else {
                    return self.printer.end_of_input();
                };
                match self.obey(line.trim(), run)? {
                    Next::Question => break,
                    Next::Same => {}
                    Next::End => return Ok(()),
                }
            }
        }
        Ok(())
    }

    fn obey(&mut self, line: &str, run: &mut Run) -> Outcome<Next> {
        let done = match Command::parse(line) {
            None if line.is_empty() => return Ok(Next::Question),
            None => Err(format!("'{}': one of {KEYS} is needed", line.escape_debug())),
            Some(Command::Answer(is_true, alarm)) => match self.alarm(alarm) {
                Ok(alarm) => return self.answer(alarm, is_true, run),
                Err(text) => Err(text),
            },
            Some(Command::Undo) => return self.undo(run),
            Some(Command::Why(variable)) => match self.variable(variable) {
                Ok(variable) => return self.why(variable).map(|()| Next::Same),
                Err(text) => Err(text),
            },
            Some(Command::Save(file)) => self.save(file),
            Some(Command::Quit) => return Ok(Next::End),
            Some(Command::Help) => Ok(HELP.into()),
        };
        match done {
            Ok(text) => self.printer.told("done", &text)?,
            Err(text) => self.printer.told("error", &text)?,
        }
        Ok(Next::Same)
    }

    fn answer(&mut self, alarm: usize, is_true: bool, run: &mut Run) -> Outcome<Next> {
        let before = run.report;
        let name = after_answers(self.inspection.answers().len() + 1);
        match self.timed(&name, |inspection, monitor| inspection.answer(alarm, is_true, monitor)) {
            Ok(after) => *run = after,
            // It was not taken, so that another one can be given.
            Err(Refusal::Library(error @ Error::Contradiction { .. })) => {
                self.printer.told("error", &format!("the answer is not taken: {error}"))?;
                return Ok(Next::Same);
            }
            Err(Refusal::Library(error @ Error::InvalidArgument(_))) => {
                self.printer.told("error", &error.to_string())?;
                return Ok(Next::Same);
            }
            Err(other) => return Err(other.into()),
        }
        self.timing.after_answers.push(run.seconds);
        self.warn_about(&run.report, Some(&before));
        Ok(Next::Question)
    }

    fn undo(&mut self, run: &mut Run) -> Outcome<Next> {
        let mut undone = None;
        let name = after_answers(self.inspection.answers().len().saturating_sub(1));
        let after = self.timed(&name, |inspection, monitor| {
            let Some((answer, report)) = inspection.undo(monitor)? else {
                return Err(Error::NoResult("there is no answer to take back".into()));
            };
            undone = Some(answer);
            Ok(report)
        });
        match after {
            Ok(after) => *run = after,
            Err(Refusal::Library(error @ Error::NoResult(_))) => {
                self.printer.told("error", &error.to_string())?;
                return Ok(Next::Same);
            }
            Err(other) => return Err(other.into()),
        }
        if let Some(answer) = undone {
            let alarm = describe(&self.inspection, &self.names, answer.alarm);
            self.printer.told("done", &format!("taken back: {alarm} {}", answer.is_true))?;
        }
        Ok(Next::Question)
    }

    fn why(&mut self, variable: usize) -> Outcome {
        let session = self.inspection.session();
        let derivations = explain(session, variable)?;
        let probability = session.marginal(variable)?.get(1).copied().unwrap_or_default();
        self.printer.why(&self.inspection, &self.names, variable, probability, &derivations)
    }

    /// Writes the answers to a file from which `--answers` takes them.
    fn save(&mut self, file: &str) -> Result<String, String> {
        if file.is_empty() {
            return match &self.journal {
                Some(path) => Ok(format!("all answers are in the journal {}", path.display())),
                None => {
                    Err("s FILE: the name of a file is needed, since there is no --journal".into())
                }
            };
        }
        let path = Path::new(file);
        self.conflicts
            .clone()
            .output("s", Some(path))
            .map_err(|failure| failure.text().to_string())?;
        let answers = self.inspection.answers();
        save_text(path, |sink| {
            for answer in answers {
                let alarm = &self.inspection.alarms()[answer.alarm];
                let name = alarm.name.as_deref().map_or(String::new(), quoted);
                writeln!(
                    sink,
                    "{}{name} {}",
                    self.graph.label(alarm.variable),
                    answer.is_true as u8
                )?;
            }
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(format!("{file}: {} answers", answers.len()))
    }

    /// The alarm that a text names; the first one, if there is no text.
    fn alarm(&self, text: &str) -> Result<usize, String> {
        if let ("", Some(first)) = (text, self.inspection.order().first()) {
            return Ok(first.alarm);
        }
        let variable = self.variable(text)?;
        self.inspection.alarm_at(variable).ok_or_else(|| format!("{text} is none of the alarms"))
    }

    /// The variable that a text names; that of the first alarm, if there is no text.
    fn variable(&self, text: &str) -> Result<usize, String> {
        let alarms = self.inspection.alarms();
        if let ("", Some(first)) = (text, self.inspection.order().first()) {
            return Ok(alarms[first.alarm].variable);
        }
        match alarms.iter().find(|alarm| alarm.name.as_deref() == Some(text)) {
            Some(alarm) => Ok(alarm.variable),
            None => find_variable(&self.graph, &self.names, text),
        }
    }

    /// Makes a run that a signal can end.
    fn timed(
        &mut self, name: &str,
        work: impl FnOnce(&mut Inspection, &mut dyn FnMut(&Progress) -> Control) -> Result<RunReport>,
    ) -> Result<Run, Refusal> {
        let started = Instant::now();
        let report = {
            let _iterations = signals::iterations();
            let mut watch = self.observer.watch(name, self.max_iterations);
            work(&mut self.inspection, &mut |progress| watch.note(progress))
        };
        let seconds = started.elapsed().as_secs_f64();
        self.inspection.take_notes().iter().for_each(inform);
        if let Some(signal) = signals::received() {
            let text = match &self.journal {
                Some(path) => format!(
                    "has ended the run after answer {}; all answers are in the journal {}",
                    self.inspection.answers().len(),
                    path.display()
                ),
                None => {
                    format!("has ended the run after answer {}", self.inspection.answers().len())
                }
            };
            return Err(Refusal::Failure(Failure::Interrupted { signal, text }));
        }
        Ok(Run { report: report?, seconds })
    }

    /// Says where deterministic messages disagreed, unless they did so in the run before.
    fn warn_about(&self, report: &RunReport, before: Option<&RunReport>) {
        if before.is_some_and(|it| it.first_contradiction == report.first_contradiction) {
            return;
        }
        let describe = |variable| describe_variable(&self.graph, &self.names, variable);
        if let Some(text) = run_warnings::of_contradictions(report, describe) {
            warn(format!("after answer {}: {text}", self.inspection.answers().len()));
        }
    }

    /// Checks that the journal and the file of answers say the same.
    fn check_journal(&self) -> Outcome {
        let Some(answers) = &self.answers else { return Ok(()) };
        for answer in self.inspection.answers() {
            if answers[answer.alarm] == Some(!answer.is_true) {
                return Err(Failure::input(format!(
                    "alarm {} is {} in the journal, and {} in the file of --answers: the same answer is needed",
                    describe(&self.inspection, &self.names, answer.alarm),
                    answer.is_true,
                    !answer.is_true
                )));
            }
        }
        Ok(())
    }

    fn found(&self) -> usize {
        self.inspection.answers().iter().filter(|answer| answer.is_true).count()
    }

    /// The measures at the end.
    pub fn summary(&mut self) -> Summary {
        let answers = self.inspection.answers();
        let quality = self.truth.as_ref().map(|Truth { is_true, .. }| {
            let all_true = is_true.iter().filter(|&&is_true| is_true).count();
            Quality::new(answers.iter().map(|answer| is_true[answer.alarm]), all_true)
        });
        let listed = self.truth.as_ref().filter(|truth| truth.is_listed);
        let differing = listed.map(|Truth { is_true, .. }| {
            answers.iter().filter(|answer| answer.is_true != is_true[answer.alarm]).count()
        });
        let timing = std::mem::take(&mut self.timing);
        let Timing { first, after_answers } = &timing;
        let most = after_answers.iter().copied().reduce(f64::max);
        if let (Some(mean), Some(most)) = (crate::rank_output::mean(after_answers), most) {
            let counted = match after_answers.len() {
                1 => "1 answer".to_string(),
                several => format!("{several} answers"),
            };
            inform(format!(
                "{counted}, {mean:.4} s each, {most:.4} s at most; {first:.4} s before the first"
            ));
        }
        Summary {
            quality,
            differing,
            answers: answers.len(),
            found: self.found(),
            open: self.inspection.order().len(),
            timing,
        }
    }
}

/// Which run it is, for those who read of all of them.
fn after_answers(answers: usize) -> String {
    match answers {
        1 => "after 1 answer".into(),
        answers => format!("after {answers} answers"),
    }
}

const HELP: &str = "\
y [ALARM]     it is a true alarm
n [ALARM]     it is a false one
? [VARIABLE]  why: the derivations of the alarm, or of any variable, with their probabilities
u             undo: take the last answer back
s [FILE]      save the answers so far, in lines that --answers takes
q             quit
ALARM and VARIABLE are names or labels";

/// Why a run has given nothing.
enum Refusal {
    Library(Error),
    Failure(Failure),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Library(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Library(error) => error.into(),
            Refusal::Failure(failure) => failure,
        }
    }
}

/// A name after a label, as files have it.
fn quoted(name: &str) -> String {
    match name.contains(char::is_whitespace) || name.is_empty() {
        true => format!(" \"{name}\""),
        false => format!(" {name}"),
    }
}

/// Reads a line; `None` at the end of the input.
fn read_line(input: &mut StdinLock<'static>) -> Outcome<Option<String>> {
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| Failure::standard_input(&error);
    let length = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes).map_err(failed)?;
    if length == 0 {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") && length as u64 == LONGEST_LINE {
        // The rest belongs to no command.
        input.skip_until(b'\n').map_err(failed)?;
        bytes.truncate(40);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        for (line, wanted) in [
            ("y", Some(Command::Answer(true, ""))),
            ("no race(1,2)", Some(Command::Answer(false, "race(1,2)"))),
            ("y \"a b\"", Some(Command::Answer(true, "a b"))),
            ("?", Some(Command::Why(""))),
            ("why  12", Some(Command::Why("12"))),
            ("u", Some(Command::Undo)),
            ("s a file", Some(Command::Save("a file"))),
            ("q", Some(Command::Quit)),
            ("h", Some(Command::Help)),
            ("u 3", None),
            ("Y", None),
            ("", None),
        ] {
            assert_eq!(Command::parse(line), wanted, "{line}");
        }
    }
}
