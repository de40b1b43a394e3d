//! Batches whose results are not to be in memory all at once: each entry's are delivered as they come, in order.

use super::base::BeliefPropagation;
use super::batch::{RunsOn, Way, entries_at_once, not_run, run_entry};
use super::distribute::Fit;
use crate::engine::{Control, RunReport, RunRequest};
use crate::error::Result;
use crate::memory::{filled, room};
use crate::model::Evidence;
use crate::threads::Gang;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Most probabilities of entries that have run and wait for others: 256 MiB.
const STATES_AHEAD: usize = 1 << 25;

/// An entry that is to be run.
struct Entry<'a> {
    number: usize,
    evidence: &'a Evidence,
}

/// What a run gave: the report and the marginals.
type Outcome = Result<(RunReport, Vec<f64>)>;

/// How far an entry is on its way.
enum Stage<T> {
    Run(Outcome),
    Digested(T),
}

/// The entries that have run, until it is their turn.
struct Arrivals<'a, T, D> {
    /// The number of the first entry that has not been delivered.
    next: usize,
    /// Those from there on.
    stages: VecDeque<Option<Stage<T>>>,
    digest: &'a D,
    /// As many entries are digested at once, each by a thread.
    at_once: usize,
}

impl<T: Send, D: Fn(usize, Outcome) -> T + Sync> Arrivals<'_, T, D> {
    fn put(&mut self, number: usize, stage: Stage<T>) {
        // There is room: entries begin only if there is.
        while self.stages.len() <= number - self.next {
            self.stages.push_back(None);
        }
        self.stages[number - self.next] = Some(stage);
    }

    /// Delivers the entries whose turn it is; those that wait for being digested only if they are enough for all threads,
    /// or with `all`.
    fn advance(&mut self, all: bool, mut deliver: impl FnMut(usize, T)) {
        loop {
            let first = self.next;
            let arrived = self.stages.iter().take_while(|stage| stage.is_some()).count();
            let waiting = self.stages.iter().take(arrived.min(self.at_once));
            let digested = |stage: &&Option<Stage<T>>| matches!(stage, Some(Stage::Digested(_)));
            let mut count = waiting.take_while(digested).count();
            if count == 0 {
                if arrived == 0 || (arrived < self.at_once && !all) {
                    return;
                }
                count = arrived.min(self.at_once);
                let stages = &mut self.stages.make_contiguous()[..count];
                let mut parts = stages.iter_mut().enumerate();
                // As many as the list has room for are digested on threads.
                let mut list = room(count).unwrap_or_default();
                list.extend(parts.by_ref().take(list.capacity()));
                let digest = |(index, stage): &mut (usize, &mut Option<Stage<T>>)| {
                    **stage =
                        stage.take().map(|stage| digested_by(self.digest, first + *index, stage));
                };
                match list.len() {
                    0 | 1 => list.iter_mut().for_each(digest),
                    threads => Gang::of(threads).each(&mut list, digest),
                }
                parts.for_each(|mut part| digest(&mut part));
            }
            for stage in self.stages.drain(..count) {
                if let Some(Stage::Digested(digested)) = stage {
                    deliver(self.next, digested);
                }
                self.next += 1;
            }
        }
    }
}

/// An entry, digested in any case.
fn digested_by<T>(
    digest: &impl Fn(usize, Outcome) -> T, number: usize, stage: Stage<T>,
) -> Stage<T> {
    Stage::Digested(match stage {
        Stage::Digested(digested) => digested,
        Stage::Run(outcome) => digest(number, outcome),
    })
}

impl BeliefPropagation {
    /// As [`Self::run_batch_cancellable`], with results that are delivered entry by entry instead of being
    /// kept: for many entries on large graphs, and for whoever has something to do with each result that takes time.
    ///
    /// `digest` gets the number of an entry, and its report and marginals (laid out as by [`Self::marginals`]) or why it
    /// has none. It makes of them what is wanted: a text, the few most probable variables. It is called once for
    /// each entry, also for one that the end of the batch keeps from being run ([`crate::Error::NoResult`]), on
    /// threads of the library, several at once, in any order: where entries run at once on one thread each, by the thread
    /// that has run the entry; else by as many threads as runs may use, between entries that run on all threads, and
    /// beside those that run on devices.
    ///
    /// `deliver` gets what `digest` made, entry by entry in the order of the entries, on the calling thread, and can end the
    /// batch early.
    ///
    /// Only a few entries are under way at a time. The last one that has begun is at most four entries per thread (or
    /// device, where these are more) ahead of the one that is delivered next; on large graphs, it is ahead by two for each
    /// entry that runs at once, or by so many that their marginals are 2^25 values. An entry for whose marginals there is
    /// no memory fails.
    ///
    /// Errors, before anything is run: as of [`Self::run_batch`].
    ///
    /// ```
    /// use fastlbp::{
    ///     BeliefPropagation, Control, Evidence, FactorGraphBuilder, RunRequest, Schedule, StopRule,
    /// };
    /// use std::sync::atomic::AtomicBool;
    /// let mut builder = FactorGraphBuilder::new();
    /// builder.add_prior(1, 0.3)?;
    /// builder.add_and(2, &[1], 0.9, 0.1)?;
    /// let graph = std::sync::Arc::new(builder.build()?);
    /// let entries = [vec![], vec![(1, 1)], vec![(1, 0)]];
    /// let entries: Result<Vec<Evidence>, _> =
    ///     entries.iter().map(|seen| Evidence::of_observations(&graph, seen)).collect();
    /// let mut bp = BeliefPropagation::new(graph, Schedule::Tree, Default::default())?;
    /// let mut causes = Vec::new();
    /// bp.run_batch_streamed(
    ///     &entries?,
    ///     &RunRequest::new(StopRule::Iterations(1)),
    ///     &AtomicBool::new(false),
    ///     |_, result| result.map(|(_, marginals)| marginals[1]), // P(x1)
    ///     |_, cause| {
    ///         causes.push(cause);
    ///         Control::Continue
    ///     },
    /// )?;
    /// assert_eq!(causes.len(), 3);
    /// assert!((causes[1].as_ref().unwrap() - 0.27 / 0.34).abs() < 1e-15); // P(x1 | x2)
    /// # Ok::<(), fastlbp::Error>(())
    /// ```
    pub fn run_batch_streamed<T: Send>(
        &mut self, entries: &[Evidence], request: &RunRequest, cancelled: &AtomicBool,
        digest: impl Fn(usize, Result<(RunReport, Vec<f64>)>) -> T + Sync,
        mut deliver: impl FnMut(usize, T) -> Control,
    ) -> Result<()> {
        let request = &self.check_batch(entries, request)?;
        let mut jobs = room(entries.len())?;
        let numbered = entries.iter().enumerate();
        jobs.extend(numbered.map(|(number, evidence)| Entry { number, evidence }));
        let states = self.graph().state_count();
        let threads = self.options().thread_limit();
        let devices = self.devices_for(entries.len(), request)?.len();
        let at_work = entries_at_once(entries.len(), threads, self.graph().edge_count());
        let at_work = at_work.max(devices);
        let ahead = (STATES_AHEAD / states.max(1)).max(2 * at_work);
        let ahead = ahead.min(4 * threads.max(devices));
        let at_once = threads.min(ahead / 2);
        let mut arrivals = Arrivals {
            next: 0,
            stages: room(ahead.min(entries.len()))?.into(),
            digest: &digest,
            at_once,
        };
        let limit = AtomicUsize::new(ahead);
        let mut deliver_arrived = |arrivals: &mut Arrivals<'_, T, _>, all| {
            arrivals.advance(all, |number, digested| {
                limit.store(number + 1 + ahead, Ordering::Relaxed);
                if deliver(number, digested) == Control::Cancel {
                    cancelled.store(true, Ordering::Relaxed);
                }
            });
        };
        self.run_jobs(
            jobs,
            request,
            &Way {
                number: |entry| entry.number,
                fit: &|entry: &Entry<'_>| match entry.number < limit.load(Ordering::Relaxed) {
                    true => Fit::Now,
                    false => Fit::Later,
                },
                run: &|runner, entry| {
                    if cancelled.load(Ordering::Relaxed) {
                        return not_run();
                    }
                    let mut marginals = filled(states, f64::NAN)?;
                    let evidence = entry.evidence;
                    let report = run_entry(runner, request, evidence, &mut marginals, cancelled)?;
                    Ok((report, marginals))
                },
                end: &|number, runs_on, outcome| match runs_on {
                    RunsOn::OneThread => digested_by(&digest, number, Stage::Run(outcome)),
                    RunsOn::Team | RunsOn::Device => Stage::Run(outcome),
                },
                beside: threads > 1,
            },
            |number, stage| {
                arrivals.put(number, stage);
                deliver_arrived(&mut arrivals, false);
            },
        )?;
        deliver_arrived(&mut arrivals, true);
        Ok(())
    }
}
