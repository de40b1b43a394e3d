//! The runs of `fastlbp infer`, and what becomes of their results: they are kept, or written while later runs go on.

use crate::activity::Activity;
use crate::answers::{Answer, Beliefs, Section, View};
use crate::batch::Entry;
use crate::failure::{Failure, Outcome};
use crate::inputs::run_failure;
use crate::observe::{Observer, Watch};
use crate::report::infer::Ended;
use crate::run_options::RunArguments;
use crate::signals;
use fastlbp::{BeliefPropagation, Control, Error, Evidence, RunReport, RunRequest};
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is asked for.
pub struct Job<'a> {
    pub run: &'a RunArguments,
    pub request: RunRequest,
    pub map: bool,
    pub log_partition: bool,
    pub view: View<'a>,
    pub threads: usize,
}

/// One run, under the name of its entry if it is one of a batch.
pub struct Run {
    pub entry: Option<String>,
    pub outcome: Outcome<Finished>,
    /// Its section of the output, where that is kept in place of the results.
    text: Option<Vec<u8>>,
    /// Whether its section is in the output.
    pub is_written: bool,
}

/// What a run came to.
pub struct Finished {
    pub report: RunReport,
    pub log_partition: Option<f64>,
    pub log_score: Option<f64>,
    /// The results, until they are written.
    answer: Option<Answer>,
}

impl Finished {
    fn new(report: RunReport, answer: Answer) -> Self {
        let (log_partition, log_score) = (answer.log_partition, answer.beliefs.log_score());
        Self { report, log_partition, log_score, answer: Some(answer) }
    }
}

impl Run {
    fn new(entry: Option<String>, outcome: Outcome<Finished>) -> Self {
        Self { entry, outcome, text: None, is_written: false }
    }

    /// As the output shows it.
    pub fn section(&self) -> Section<'_> {
        let finished = self.outcome.as_ref();
        Section {
            entry: self.entry.as_deref(),
            answer: finished
                .map_err(Failure::text)
                .and_then(|finished| finished.answer.as_ref().ok_or("the results are written")),
            report: finished.ok().map(|finished| &finished.report),
            text: self.text.as_deref(),
        }
    }

    /// As a page of `--report` shows it.
    pub fn ended(&self) -> Ended<'_> {
        Ended {
            entry: self.entry.as_deref(),
            report: self.outcome.as_ref().map(|finished| &finished.report).map_err(Failure::text),
        }
    }

    /// Drops the results.
    fn forget(&mut self) {
        if let Ok(finished) = &mut self.outcome {
            finished.answer = None;
        }
    }

    /// Drops what is only for the output.
    fn written(&mut self) {
        self.forget();
        self.is_written = true;
    }
}

/// The output, while entries run.
pub struct Stream<'a> {
    sink: &'a mut dyn Write,
    /// Why nothing more is written.
    failure: Option<io::Error>,
}

impl<'a> Stream<'a> {
    pub fn new(sink: &'a mut dyn Write) -> Self {
        Self { sink, failure: None }
    }

    /// Whether all was written.
    pub fn end(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    /// Writes, unless that has failed before.
    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = write(self.sink).err();
        }
    }

    /// Whether entries run on. Where nobody reads any more, statistics may still be wanted.
    fn control(&self) -> Control {
        match &self.failure {
            Some(failure) if failure.kind() != ErrorKind::BrokenPipe => Control::Cancel,
            _ => Control::Continue,
        }
    }
}

impl Job<'_> {
    /// Runs the session with the evidence that it has.
    pub fn run_evidence(
        &self, session: &mut BeliefPropagation, observer: &mut Observer,
    ) -> Outcome<Run> {
        let _iterations = signals::iterations();
        let watch = observer.watch("", self.run.stop_rule().most_iterations());
        Ok(Run::new(None, Ok(self.run_alone(session, watch)?)))
    }

    /// Runs the entries of a batch. With a stream, results are written there entry by entry.
    pub fn run_entries(
        &self, session: &mut BeliefPropagation, entries: Vec<Entry>, observer: &mut Observer,
        stream: Option<&mut Stream<'_>>,
    ) -> Outcome<Vec<Run>> {
        let _iterations = signals::iterations();
        if self.map || self.log_partition || self.request.observe {
            return Ok(self.run_one_by_one(session, entries, observer, stream));
        }
        self.run_batch(session, entries, stream)
    }

    fn run_alone(
        &self, session: &mut BeliefPropagation, mut watch: Watch<'_>,
    ) -> Outcome<Finished> {
        let failed = |error| run_failure(error, self.view.graph);
        let report = session.run_monitored(&self.request, &mut |progress| watch.note(progress));
        drop(watch);
        let report = report.map_err(failed)?;
        let log_partition = match self.log_partition {
            true => Some(session.log_partition().map_err(failed)?),
            false => None,
        };
        let beliefs = if self.map {
            let states = session.find_maximum().map_err(failed)?;
            let log_score = session.log_score(&states)?;
            Beliefs::Maximum { states, log_score }
        } else {
            Beliefs::Marginals(session.marginals()?.to_vec())
        };
        Ok(Finished::new(report, Answer { beliefs, log_partition }))
    }

    /// Runs entries of which marginals are wanted. Those that are written, or are few, become texts on the threads of the
    /// batch.
    fn run_batch(
        &self, session: &mut BeliefPropagation, entries: Vec<Entry>,
        mut stream: Option<&mut Stream<'_>>,
    ) -> Outcome<Vec<Run>> {
        let _activity = Activity::start("running the batch");
        let (names, evidence): (Vec<String>, Vec<Evidence>) =
            entries.into_iter().map(|entry| (entry.name, entry.evidence)).unzip();
        let mut runs = Vec::with_capacity(names.len());
        let needs_text = AtomicBool::new(stream.is_some() || self.view.shows_few());
        let digest = |number: usize, result: Result<(RunReport, Vec<f64>), Error>| {
            let outcome = match result {
                Ok((report, marginals)) => {
                    let beliefs = Beliefs::Marginals(marginals);
                    Ok(Finished::new(report, Answer { beliefs, log_partition: None }))
                }
                Err(Error::NoResult(_)) if is_cancelled() => Err(Failure::NotRun),
                Err(error) => Err(run_failure(error, self.view.graph)),
            };
            let mut run = Run::new(Some(names[number].clone()), outcome);
            let text = needs_text.load(Ordering::Relaxed).then(|| {
                let text = self.view.text(&run.section());
                if text.is_ok() {
                    run.forget();
                }
                text
            });
            (run, text)
        };
        let deliver = |_, (mut run, text): (Run, Option<io::Result<Vec<u8>>>)| {
            let control = match &mut stream {
                Some(stream) => {
                    run.written();
                    if let Some(text) = text {
                        stream.write(|sink| sink.write_all(&text?));
                    }
                    needs_text.fetch_and(stream.failure.is_none(), Ordering::Relaxed);
                    stream.control()
                }
                None => {
                    run.text = text.and_then(Result::ok);
                    Control::Continue
                }
            };
            runs.push(run);
            control
        };
        let (request, cancelled) = (&self.request, &signals::CANCELLED);
        session.run_batch_streamed(&evidence, request, cancelled, digest, deliver)?;
        Ok(runs)
    }

    /// Runs entries of which more than marginals is wanted, or each iteration. Those that are written wait until there is one
    /// for each thread.
    fn run_one_by_one(
        &self, session: &mut BeliefPropagation, entries: Vec<Entry>, observer: &mut Observer,
        mut stream: Option<&mut Stream<'_>>,
    ) -> Vec<Run> {
        let at_once = self.view.threads(self.threads);
        let mut runs = Vec::with_capacity(entries.len());
        let mut written = 0;
        for Entry { name, evidence } in entries {
            let outcome = match is_cancelled() {
                true => Err(Failure::NotRun),
                false => session.set_evidence(&evidence).map_err(Failure::from),
            };
            let outcome = outcome.and_then(|()| {
                let watch = observer.watch(&name, self.run.stop_rule().most_iterations());
                self.run_alone(session, watch)
            });
            runs.push(Run::new(Some(name), outcome));
            if let Some(stream) = &mut stream
                && runs.len() - written == at_once
            {
                self.write(&mut runs[written..], stream);
                written = runs.len();
            }
        }
        if let Some(stream) = &mut stream {
            self.write(&mut runs[written..], stream);
        }
        runs
    }

    fn write(&self, runs: &mut [Run], stream: &mut Stream<'_>) {
        let sections: Vec<Section<'_>> = runs.iter().map(Run::section).collect();
        stream.write(|sink| self.view.write_sections(&sections, self.threads, sink));
        if stream.control() == Control::Cancel {
            signals::CANCELLED.store(true, Ordering::Relaxed);
        }
        runs.iter_mut().for_each(Run::written);
    }
}

/// Whether no further entry is begun: a signal has come, or what was written has failed.
fn is_cancelled() -> bool {
    signals::control() == Control::Cancel
}
