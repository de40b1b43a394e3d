//! The loop of BINGO: the most probable alarm is inspected, its answer is observed, and the others are ranked again.

use super::fingerprint::{of_evidence, of_graph};
use super::journal::{Event, Journal, Opened};
use super::order::{Precision, Ranked, rank, rank_of_ties};
use crate::engine::{Control, Progress, RunReport, RunRequest, Start, StopReason};
use crate::error::{Error, Result};
use crate::hash::Hasher;
use crate::memory::{Grow, collected, filled};
use crate::model::{Evidence, VariableEvidence, check_variable};
use crate::schedule::Schedule;
use crate::session::BeliefPropagation;
use std::fmt::Write;

/// An alarm: a binary variable, in state 1 if the alarm is a true one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Index of the variable.
    pub variable: usize,
    /// Its name, by which alarms of equal probability are ordered.
    pub name: Option<String>,
}

/// An alarm that was inspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its place in the list of alarms.
    pub alarm: usize,
    /// Whether it is a true one.
    pub is_true: bool,
}

/// How alarms are ranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The run after each answer. What it starts from is that of all runs but the first, which is fresh.
    pub request: RunRequest,
    /// When probabilities count as equal.
    pub precision: Precision,
}

/// A callback after each iteration, as in [`BeliefPropagation::run_monitored`].
type Monitor<'a> = &'a mut dyn FnMut(&Progress) -> Control;

/// Alarms, the answers so far, and the order of those that are left.
///
/// ```
/// use fastlbp::ranking::{Alarm, Inspection, Precision, Rules};
/// use fastlbp::{
///     BeliefPropagation, Control, EngineOptions, FactorGraphBuilder, RunRequest, Schedule, StopRule,
/// };
/// // 1 makes 10 and 11 probable, 2 makes 12 probable.
/// let mut builder = FactorGraphBuilder::new();
/// builder.add_prior(1, 0.6)?;
/// builder.add_prior(2, 0.5)?;
/// builder.add_and(10, &[1], 0.9, 0.0)?;
/// builder.add_and(11, &[1], 0.8, 0.0)?;
/// builder.add_and(12, &[2], 0.9, 0.0)?;
/// let graph = std::sync::Arc::new(builder.build()?);
/// let session = BeliefPropagation::new(graph, Schedule::SequentialFixed, EngineOptions::default())?;
/// let alarms = [2, 3, 4].map(|variable| Alarm { variable, name: None });
/// let rule = StopRule::Bingo { tolerance: 1e-6, min_iterations: 500, max_iterations: 1000, history: 100 };
/// let rules = Rules { request: RunRequest::new(rule), precision: Precision::SixDigits };
///
/// let mut inspection = Inspection::new(session, alarms.into(), rules)?;
/// let go_on = &mut |_: &_| Control::Continue;
/// inspection.begin(None, go_on)?;
/// let next = |inspection: &Inspection| inspection.order()[0].alarm;
/// assert_eq!(next(&inspection), 0);
/// // It is a false one, so the other alarm that 1 causes falls behind.
/// inspection.answer(0, false, go_on)?;
/// assert_eq!(next(&inspection), 2);
/// # Ok::<(), fastlbp::Error>(())
/// ```
pub struct Inspection {
    session: BeliefPropagation,
    alarms: Vec<Alarm>,
    /// The place of each variable's alarm, if it has one.
    alarm_of_variable: Vec<Option<u32>>,
    /// Order of alarms of equal probability.
    ties: Vec<u32>,
    rules: Rules,
    /// What was known before the first answer.
    before: Evidence,
    answers: Vec<Answer>,
    /// Whether each alarm was inspected.
    inspected: Vec<bool>,
    order: Vec<Ranked>,
    journal: Option<Journal>,
}

impl Inspection {
    /// An inspection of some alarms, with the graph, the schedule and the evidence of a session. Nothing is run yet.
    ///
    /// Errors: an alarm that is no binary variable of the graph, that occurs twice or is observed already.
    pub fn new(session: BeliefPropagation, alarms: Vec<Alarm>, rules: Rules) -> Result<Self> {
        let graph = session.graph();
        let mut alarm_of_variable = filled(graph.variable_count(), None)?;
        for (place, alarm) in (0..).zip(&alarms) {
            check_variable(graph, alarm.variable)?;
            let label = graph.label(alarm.variable);
            let refused = |why: &str| Err(Error::InvalidArgument(format!("alarm {label}: {why}")));
            if graph.cardinality(alarm.variable) != 2 {
                return refused("a variable with two states is needed");
            }
            if alarm_of_variable[alarm.variable].replace(place).is_some() {
                return refused("it is listed twice, and once is enough");
            }
            if let Some(VariableEvidence::Observed(_)) = session.evidence().get(alarm.variable) {
                return refused("it is observed already, so there is nothing to be asked");
            }
        }
        let named: Vec<(Option<&str>, usize)> =
            collected(alarms.iter().map(|alarm| (alarm.name.as_deref(), alarm.variable)))?;
        let ties = rank_of_ties(&named)?;
        drop(named);
        let before = session.evidence().try_clone()?;
        let inspected = filled(alarms.len(), false)?;
        Ok(Self {
            session,
            alarms,
            alarm_of_variable,
            ties,
            rules,
            before,
            answers: Vec::new(),
            inspected,
            order: Vec::new(),
            journal: None,
        })
    }

    /// What a journal of this inspection belongs to: graph, evidence, alarms, and everything that the order of alarms
    /// depends on.
    pub fn subject(&self) -> String {
        let graph = self.session.graph();
        let mut alarms = Hasher::new();
        for (alarm, &tie) in self.alarms.iter().zip(&self.ties) {
            alarms.word(graph.label(alarm.variable));
            alarms.word(tie.into());
        }
        let schedule = match self.session.schedule() {
            Schedule::Custom(preorder) => {
                let mut hasher = Hasher::new();
                // Writing to a hasher does not fail.
                let _ = write!(hasher, "{preorder:?}");
                format!("custom:{:016x}", hasher.finish())
            }
            other => format!("{other:?}"),
        };
        let RunRequest {
            // These change no result.
            observe: _,
            rough_progress: _,
            rule,
            contradiction,
            inference,
            start,
            damping,
            active_threshold,
            max_time,
        } = self.rules.request;
        let subject = format!(
            "graph={:016x}|evidence={:016x}|alarms={}:{:016x}|schedule={schedule}|rule={rule:?}|start={start:?}|\
             ties={:?}|contradiction={contradiction:?}|inference={inference:?}|damping={damping:?}|\
             active={active_threshold:?}|time={max_time:?}|compile={}",
            of_graph(graph),
            of_evidence(&self.before),
            self.alarms.len(),
            alarms.finish(),
            self.rules.precision,
            self.session.options().compile_tables,
        );
        subject.replace(' ', "").replace('|', " ")
    }

    /// Ranks the alarms for the first time. With a journal, its answers are given again, so that this goes on where the
    /// process that wrote it has ended; later answers are appended to it. A run that the callback ends leaves the rest
    /// of the journal's answers out of account; its report says so.
    ///
    /// An answer at the end of the journal that contradicts the graph, which stops runs under
    /// [`crate::Contradiction::Error`], is refused, as [`Self::answer`] would have.
    ///
    /// Errors: as [`BeliefPropagation::run`]; answers in the journal that do not follow from each other.
    pub fn begin(&mut self, opened: Option<Opened>, monitor: Monitor<'_>) -> Result<RunReport> {
        let events = match opened {
            Some(Opened { journal, events, .. }) => {
                self.journal = Some(journal);
                events
            }
            None => Vec::new(),
        };
        let is_warm = self.rules.request.start == Start::Warm;
        let mut report = None;
        if is_warm || events.is_empty() {
            report = Some(self.run(Start::Fresh, monitor)?);
        }
        let is_answer =
            |event: Option<&(u64, Event)>| matches!(event, Some((_, Event::Answer { .. })));
        for (position, &(line, event)) in events.iter().enumerate() {
            if let Some(RunReport { reason: StopReason::Cancelled, .. }) = report {
                break;
            }
            self.apply(event).map_err(|error| at_line(error, line))?;
            // Each warm run starts from the messages of the one before.
            if !is_warm || event == Event::Refused {
                continue;
            }
            let next = events.get(position + 1);
            match self.run(Start::Warm, monitor) {
                Err(Error::Contradiction { .. }) if matches!(next, Some((_, Event::Refused))) => {}
                Err(Error::Contradiction { .. }) if next.is_none() && is_answer(events.last()) => {
                    self.refuse()?;
                }
                result => report = Some(result?),
            }
        }
        if !is_warm && !events.is_empty() {
            report = Some(match self.run(Start::Fresh, monitor) {
                Err(Error::Contradiction { .. }) if is_answer(events.last()) => {
                    self.refuse()?;
                    self.run(Start::Fresh, monitor)?
                }
                result => result?,
            });
        } else {
            self.rank()?;
        }
        report.ok_or_else(|| Error::NoResult("internal error: no run was made".into()))
    }

    /// Says of an alarm (by its place) whether it is a true one, and ranks the others again. The answer is in the
    /// journal, if there is one, before it takes effect.
    ///
    /// Errors: an alarm that was inspected before; as [`BeliefPropagation::run`]. An answer that contradicts the
    /// graph, which is an error under [`crate::Contradiction::Error`], is refused, and all is as it was before.
    pub fn answer(
        &mut self, alarm: usize, is_true: bool, monitor: Monitor<'_>,
    ) -> Result<RunReport> {
        self.check_open(alarm)?;
        self.record(Event::Answer { label: self.label(alarm), is_true })?;
        self.take(alarm, is_true)?;
        self.run(self.rules.request.start, monitor).or_else(|error| {
            if matches!(error, Error::Contradiction { .. }) {
                self.refuse()?;
            }
            Err(error)
        })
    }

    /// Takes the last answer back, and ranks the alarms again; `None` if there is no answer. With warm runs, this is a
    /// run like the others, from the messages that there are. Errors: as [`BeliefPropagation::run`].
    pub fn undo(&mut self, monitor: Monitor<'_>) -> Result<Option<(Answer, RunReport)>> {
        let Some(&answer) = self.answers.last() else { return Ok(None) };
        self.record(Event::Undo)?;
        self.take_back()?;
        let report = self.run(self.rules.request.start, monitor)?;
        Ok(Some((answer, report)))
    }

    /// The alarms.
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// The place of the alarm at a variable (by index) in the list of alarms, if it is one of them.
    pub fn alarm_at(&self, variable: usize) -> Option<usize> {
        let place = self.alarm_of_variable.get(variable).copied().flatten();
        place.map(|place| place as usize)
    }

    /// The alarms that were not inspected, the most probable first, by the last run.
    pub fn order(&self) -> &[Ranked] {
        &self.order
    }

    /// The answers, in their order.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// The session, with the results of the last run.
    pub fn session(&self) -> &BeliefPropagation {
        &self.session
    }

    /// What the session has to say; see [`BeliefPropagation::take_notes`].
    pub fn take_notes(&mut self) -> Vec<String> {
        self.session.take_notes()
    }

    fn label(&self, alarm: usize) -> u64 {
        self.session.graph().label(self.alarms[alarm].variable)
    }

    fn check_open(&self, alarm: usize) -> Result<()> {
        match self.inspected.get(alarm) {
            Some(false) => Ok(()),
            Some(true) => Err(Error::InvalidArgument(format!(
                "alarm {}: it was answered before, and that answer must be taken back first",
                self.label(alarm)
            ))),
            None => Err(Error::OutOfRange(format!(
                "alarm {alarm}: there are {} alarms, counted from 0",
                self.alarms.len()
            ))),
        }
    }

    fn record(&mut self, event: Event) -> Result<()> {
        let name = match event {
            Event::Answer { label, .. } => {
                let alarm = self.find(label);
                alarm.and_then(|alarm| self.alarms[alarm].name.as_deref())
            }
            _ => None,
        };
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(event, name))
    }

    fn find(&self, label: u64) -> Option<usize> {
        self.alarm_at(self.session.graph().variable_of_label(label)?)
    }

    /// Does what a journal says was done, without a run.
    fn apply(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Answer { label, is_true } => {
                let alarm = self.find(label).ok_or_else(|| {
                    Error::InvalidArgument(format!("variable {label} is none of the alarms"))
                })?;
                self.check_open(alarm)?;
                self.take(alarm, is_true)
            }
            Event::Undo | Event::Refused if self.answers.is_empty() => {
                Err(Error::InvalidArgument("there is no answer that could be taken back".into()))
            }
            Event::Undo | Event::Refused => self.take_back(),
        }
    }

    fn take(&mut self, alarm: usize, is_true: bool) -> Result<()> {
        self.answers.try_room(1)?;
        self.session.observe(self.alarms[alarm].variable, is_true.into())?;
        self.inspected[alarm] = true;
        self.answers.push(Answer { alarm, is_true });
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        let Some(answer) = self.answers.pop() else { return Ok(()) };
        let variable = self.alarms[answer.alarm].variable;
        self.inspected[answer.alarm] = false;
        match self.before.get(variable) {
            Some(VariableEvidence::Likelihood(weights)) => {
                self.session.set_likelihood(variable, weights)
            }
            _ => self.session.clear_evidence(variable),
        }
    }

    fn refuse(&mut self) -> Result<()> {
        self.record(Event::Refused)?;
        self.take_back()
    }

    fn run(&mut self, start: Start, monitor: Monitor<'_>) -> Result<RunReport> {
        let report =
            self.session.run_monitored(&RunRequest { start, ..self.rules.request }, monitor)?;
        self.rank()?;
        Ok(report)
    }

    fn rank(&mut self) -> Result<()> {
        let open = self.alarms.iter().enumerate().filter(|(alarm, _)| !self.inspected[*alarm]);
        let open = open.map(|(alarm, Alarm { variable, .. })| (alarm, *variable));
        self.order = rank(&self.session, open, &self.ties, self.rules.precision)?;
        Ok(())
    }
}

/// An error of a journal with its line.
fn at_line(error: Error, line: u64) -> Error {
    match error {
        Error::InvalidArgument(text) => {
            Error::InvalidArgument(format!("journal, line {line}: {text}"))
        }
        other => other,
    }
}
