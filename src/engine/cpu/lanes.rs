//! Iterations on several threads, where each batch has edges of one factor only.
//!
//! A lane is a list of batches that one thread runs one after the other, in the order of the schedule. A batch *touches* the
//! variables of its factor: it reads the messages to them, and may replace its own. Batches that touch a variable run in the
//! order of the schedule, and iteration by iteration, so that every batch reads and writes what it would on one thread. Lanes
//! do nothing else to keep this order than to wait, each for what it needs: there is no barrier in an iteration, and none
//! between iterations that are run at once.
//!
//! # Order of memory accesses
//!
//! `progress` has for each lane the number of its segments that are done. Only the thread that runs the lane stores it, with
//! `Release`, after the segment; whoever waits for the segment loads it with `Acquire` until it is that large. The numbers
//! grow, so that the load sees the store that followed the segment or one after it, and all that the segment did happens
//! before what follows the load. Let a batch touch a variable, and let another batch be the last one to touch it before, in
//! this iteration or, for the first one, in the iteration before. Then that one happens before this one: on one lane by the
//! order of the program, else since the segment of this one, or an earlier one of its lane, waits for a segment of the other
//! lane that is that of the other batch or a later one. `Waits` sees to this for every batch and variable, so that along the
//! chain of all batches that touch a variable each happens before the next. Everything that batches share belongs to a
//! variable that they both touch: its messages, the nodes of its product tree, its cursor. (`State::newly_certain` is a set
//! to which threads add, and is read when all have ended.) So no access to any of these races with another one, and relaxed
//! loads and stores of them return what they would on one thread.
//!
//! Whoever waits waits for a batch that comes earlier in the order of iterations and batches. So the earliest batch that is
//! not done is never kept waiting, and lanes cannot wait for each other in a circle; a thread with several lanes runs those
//! that are ready. Where waits take too long (see `pace`), all threads stop at their next wait, and when all have stopped,
//! one of them runs what is left of all lanes.

use super::assignment::Assignment;
use super::batches::{Batches, Task, Tasks};
use super::high_arity::HighArityFactors;
use super::pace::Pace;
use super::serial::{PREFETCH_DISTANCE, Serial};
use super::state::State;
use super::team::Team;
use super::trees::{Cursors, HighDegreeVariables, Trees};
use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::Result;
use crate::memory::{Grow, collected, filled, room};
use crate::prefetch::prefetch;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The batches of a schedule on their lanes.
pub(super) struct Lanes {
    batches: Batches,
    lanes: Vec<Lane>,
    progress: Vec<Progress>,
    /// For iterations whose messages are all computed, and for those of the tasks.
    paces: [Pace; 2],
}

/// The number of segments that a lane has done, in all iterations that are run at once, on a cache line of its own: on two,
/// since processors fetch them in pairs.
#[repr(align(128))]
struct Progress(AtomicU64);

/// A list of batches.
struct Lane {
    /// Cut where a batch has to wait, and after batches for which others wait.
    segments: Vec<Segment>,
    waits: Vec<Wait>,
    /// The batches, by index.
    batches: Vec<u32>,
    /// The batches as tasks; those that are none are left out.
    tasks: Vec<Task>,
}

/// Batches that are run without a wait in between: where their waits, their entries in `batches`, and in `tasks` end.
struct Segment {
    waits: u32,
    batches: u32,
    tasks: u32,
    /// Up to which task messages may be prefetched: those of the next ones are waited for.
    reach: u32,
}

/// A wait for another lane.
struct Wait {
    lane: u32,
    /// The number of its segments in this iteration that have to be done; so many less than 0 as need not be done of those
    /// of the iteration before.
    done: i64,
}

impl Lanes {
    /// Lanes of batches that are prepared for one thread, too.
    pub(super) fn new(
        state: &State, batches: Batches, assignment: &Assignment, tuning: &Tuning,
    ) -> Result<Self> {
        let waits = Waits::new(state, &batches, assignment)?;
        let lanes = waits.into_lanes(state, &batches, assignment)?;
        let progress = collected(lanes.iter().map(|_| Progress(AtomicU64::new(0))))?;
        Ok(Self { batches, lanes, progress, paces: [(); 2].map(|()| Pace::new(tuning)) })
    }

    /// The time that threads have for so many iterations; `None` if one thread is to run them.
    pub(super) fn limit(
        &self, state: &State, team: &Team, constants_sent: bool, iterations: u64,
    ) -> Option<Duration> {
        let has_tasks = constants_sent && state.is_plain_run();
        self.paces[usize::from(has_tasks)].limit(iterations).filter(|_| team.present() > 1)
    }

    /// Runs so many iterations, which are more than one only where [`Self::limit`] is for several threads.
    pub(super) fn run(
        &mut self, state: &State, trees: &Trees, cursors: &Cursors, team: &Team,
        constants_sent: bool, iterations: u64,
    ) {
        let limit = self.limit(state, team, constants_sent, iterations);
        let started = Instant::now();
        let Some(limit) = limit else {
            team.run_alone(|workspace| {
                let high_arity = &mut HighArityFactors::default();
                let mut serial =
                    shared(state, trees, cursors, high_arity, constants_sent, workspace);
                (0..iterations).for_each(|_| serial.run(&self.batches));
            });
            let time = started.elapsed();
            return self.pace(state, constants_sent).ran_alone(time);
        };
        for progress in &mut self.progress {
            *progress.0.get_mut() = 0;
        }
        let given_up = AtomicBool::new(false);
        let end = started.checked_add(limit);
        let this = &*self;
        team.run(|worker| {
            let (first, step) = (worker.index, worker.count);
            let (workspace, mut patience) = worker.split();
            let high_arity = &mut HighArityFactors::default();
            let mut serial = shared(state, trees, cursors, high_arity, constants_sent, workspace);
            loop {
                let own = (first..this.lanes.len()).step_by(step);
                let Advance { waiting, moved } = this.advance_all(own, iterations, &mut serial);
                if !waiting || given_up.load(Ordering::Relaxed) {
                    break;
                }
                if moved {
                    patience.renew();
                } else if patience.pause() && end.is_some_and(|end| Instant::now() >= end) {
                    given_up.store(true, Ordering::Relaxed);
                }
            }
        });
        let given_up = given_up.into_inner();
        if given_up {
            team.run_alone(|workspace| {
                let high_arity = &mut HighArityFactors::default();
                let mut serial =
                    shared(state, trees, cursors, high_arity, constants_sent, workspace);
                while this.advance_all(0..this.lanes.len(), iterations, &mut serial).waiting {}
            });
        }
        self.pace(state, constants_sent).ran_together(iterations, started.elapsed(), given_up);
    }

    fn pace(&mut self, state: &State, constants_sent: bool) -> &mut Pace {
        &mut self.paces[usize::from(constants_sent && state.is_plain_run())]
    }

    /// Runs some lanes, one after the other, each until it has to wait or to its end.
    fn advance_all(
        &self, lanes: impl Iterator<Item = usize>, iterations: u64, serial: &mut Serial<'_>,
    ) -> Advance {
        let mut all = Advance { waiting: false, moved: false };
        for lane in lanes {
            let until = self.lanes[lane].segments.len() as u64 * iterations;
            let Advance { waiting, moved } = self.advance(lane, until, serial);
            all.waiting |= waiting;
            all.moved |= moved;
        }
        all
    }

    /// Runs a lane until it has to wait, or until so many of its segments are done.
    #[inline]
    fn advance(&self, number: usize, until: u64, serial: &mut Serial<'_>) -> Advance {
        let lane = &self.lanes[number];
        let progress = &self.progress[number].0;
        // Only this thread stores it.
        let begin = progress.load(Ordering::Relaxed);
        if begin == until {
            return Advance { waiting: false, moved: false };
        }
        let mut done = begin;
        let count = lane.segments.len() as u64;
        let (mut iteration, mut index) = (begin / count, (begin % count) as usize);
        let has_tasks = serial.has_tasks();
        while done < until {
            let [start, segment] = lane.segment(index);
            let waits = &lane.waits[start.waits as usize..segment.waits as usize];
            if !waits.iter().all(|wait| self.is_over(wait, iteration)) {
                return Advance { waiting: true, moved: done > begin };
            }
            if has_tasks {
                let tasks = start.tasks as usize..segment.tasks as usize;
                let reach = segment.reach as usize;
                if !waits.is_empty() {
                    for task in lane.tasks[tasks.start..reach].iter().take(PREFETCH_DISTANCE) {
                        serial.prefetch(task);
                    }
                }
                serial.run_tasks::<false>(&self.batches, &lane.tasks, tasks, reach);
            } else {
                for &batch in &lane.batches[start.batches as usize..segment.batches as usize] {
                    serial.run_batch(self.batches.batch(batch as usize));
                }
            }
            done += 1;
            progress.store(done, Ordering::Release);
            index += 1;
            if index == lane.segments.len() {
                (iteration, index) = (iteration + 1, 0);
            }
        }
        Advance { waiting: false, moved: true }
    }

    /// Whether what a wait is for is done.
    #[inline(always)]
    fn is_over(&self, wait: &Wait, iteration: u64) -> bool {
        let lane = wait.lane as usize;
        let before = self.lanes[lane].segments.len() as u64 * iteration;
        let done = before as i64 + wait.done;
        done <= 0 || self.progress[lane].0.load(Ordering::Acquire) >= done as u64
    }
}

/// The state of one thread that runs lanes. Visits to each variable are ordered, so that threads share its cursor.
fn shared<'a>(
    state: &'a State, trees: &'a Trees, cursors: &'a Cursors, high_arity: &'a mut HighArityFactors,
    constants_sent: bool, workspace: &'a mut Workspace,
) -> Serial<'a> {
    let high_degree_variables = HighDegreeVariables { trees, cursors: Some(cursors) };
    Serial { state, high_degree_variables, high_arity, constants_sent, workspace }
}

/// What came of running lanes.
struct Advance {
    /// Whether any waits for other lanes.
    waiting: bool,
    /// Whether any segment was run.
    moved: bool,
}

/// For which batches of which lanes batches wait. Positions in a lane count its batches; those of the iteration before are
/// negative.
struct Waits {
    /// Where each lane begins in lists of all batches lane by lane.
    starts: Vec<u32>,
    /// Lane by lane, whether others wait for the batch.
    awaited: Vec<bool>,
    /// In the order of the batches.
    waits: Vec<BatchWait>,
}

/// The wait of a batch for another one.
struct BatchWait {
    batch: u32,
    lane: u16,
    position: i64,
}

impl Waits {
    /// The waits that a lane needs beside those that it has had before.
    fn new(state: &State, batches: &Batches, assignment: &Assignment) -> Result<Self> {
        let Assignment { lanes, lane_of, .. } = assignment;
        let lanes = *lanes;
        let mut starts = filled(lanes + 1, 0_u32)?;
        for &lane in lane_of {
            starts[lane as usize + 1] += 1;
        }
        for lane in 0..lanes {
            starts[lane + 1] += starts[lane];
        }
        let mut analysis = Analysis {
            touched: filled(state.graph.variable_count(), None)?,
            next: filled(lanes, 0)?,
            known: filled(lanes * lanes, i64::MIN)?,
        };
        let mut waits =
            Self { starts, awaited: filled(batches.count(), false)?, waits: Vec::new() };
        // Once for what the iteration before leaves behind, once for the waits.
        for (index, &lane) in lane_of.iter().enumerate() {
            analysis.visit(state, batches, index, lane, &mut |_, _| Ok(()))?;
        }
        analysis.begin_next_iteration(&waits.starts);
        for (index, &own) in lane_of.iter().enumerate() {
            let Self { starts, awaited, waits } = &mut waits;
            analysis.visit(state, batches, index, own, &mut |lane, position| {
                let lanes_batches = i64::from(starts[lane as usize + 1] - starts[lane as usize]);
                let place = position.rem_euclid(lanes_batches) as usize;
                awaited[starts[lane as usize] as usize + place] = true;
                waits.try_push(BatchWait { batch: index as u32, lane, position })
            })?;
        }
        Ok(waits)
    }

    /// Cuts the lanes into segments.
    fn into_lanes(
        self, state: &State, batches: &Batches, assignment: &Assignment,
    ) -> Result<Vec<Lane>> {
        let Self { starts, awaited, waits } = self;
        let sizes = || starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let mut lanes: Vec<Lane> = room(assignment.lanes)?;
        for size in sizes() {
            lanes.push(Lane {
                segments: Vec::new(),
                waits: Vec::new(),
                batches: room(size)?,
                tasks: Vec::new(),
            });
        }
        // Lane by lane, the number of segments that are done after an awaited batch.
        let mut done = filled(batches.count(), 0_u32)?;
        let mut waits = waits.into_iter().peekable();
        for (index, &number) in assignment.lane_of.iter().enumerate() {
            let lane = &mut lanes[number as usize];
            if waits.peek().is_some_and(|wait| wait.batch as usize == index) {
                lane.end_segment()?;
                while let Some(wait) = waits.next_if(|wait| wait.batch as usize == index) {
                    // Still a position; made a number of segments below.
                    lane.waits.try_push(Wait { lane: wait.lane.into(), done: wait.position })?;
                }
            }
            let place = starts[number as usize] as usize + lane.batches.len();
            lane.batches.push(index as u32);
            if let Some(task) = Task::new(state, index, batches.batch(index), Tasks::OfParts) {
                lane.tasks.try_push(task)?;
            }
            if awaited[place] {
                lane.end_segment()?;
                done[place] = lane.segments.len() as u32;
            }
        }
        for lane in &mut lanes {
            lane.end_segment()?;
            let mut reach = lane.tasks.len() as u32;
            for index in (0..lane.segments.len()).rev() {
                lane.segments[index].reach = reach;
                let [before, segment] = lane.segment(index);
                if segment.waits > before.waits {
                    reach = before.tasks;
                }
            }
        }
        let segments: Vec<i64> = collected(lanes.iter().map(|lane| lane.segments.len() as i64))?;
        let sizes: Vec<i64> = collected(sizes().map(|size| size as i64))?;
        for wait in lanes.iter_mut().flat_map(|lane| &mut lane.waits) {
            let lane = wait.lane as usize;
            let place = starts[lane] as usize + wait.done.rem_euclid(sizes[lane]) as usize;
            let iterations = wait.done.div_euclid(sizes[lane]);
            wait.done = i64::from(done[place]) + iterations * segments[lane];
        }
        Ok(lanes)
    }
}

impl Lane {
    /// The segment before the one with an index, and that one.
    #[inline(always)]
    fn segment(&self, index: usize) -> [&Segment; 2] {
        const BEGIN: &Segment = &Segment { waits: 0, batches: 0, tasks: 0, reach: 0 };
        [if index == 0 { BEGIN } else { &self.segments[index - 1] }, &self.segments[index]]
    }

    /// Ends the segment of what was added last, if there is anything.
    fn end_segment(&mut self) -> Result<()> {
        let begin = self.segments.last().map_or(0, |last| last.batches as usize);
        if self.batches.len() > begin {
            self.segments.try_push(Segment {
                waits: self.waits.len() as u32,
                batches: self.batches.len() as u32,
                tasks: self.tasks.len() as u32,
                reach: 0,
            })?;
        }
        Ok(())
    }
}

/// Follows batches in their order, and finds what each has to wait for.
struct Analysis {
    /// Per variable, lane and position of the batch that touched it last.
    touched: Vec<Option<(u16, i64)>>,
    /// Per lane, the position of its next batch.
    next: Vec<i64>,
    /// Per lane and other lane, the last position of the other one that the lane has waited for.
    known: Vec<i64>,
}

impl Analysis {
    /// Adds the next batch, and says for which positions of which lanes it waits.
    fn visit(
        &mut self, state: &State, batches: &Batches, index: usize, lane: u16,
        wait: &mut dyn FnMut(u16, i64) -> Result<()>,
    ) -> Result<()> {
        let factor = batches.factor(&state.graph, index);
        let lanes = self.next.len();
        let position = self.next[lane as usize];
        self.next[lane as usize] += 1;
        batches.prefetch_factors(&state.graph, index);
        for &v in batches.variables_ahead(&state.graph, index, 1) {
            prefetch(&self.touched, v as usize);
        }
        let variables = state.graph.factor_variables(factor);
        for (place, &v) in variables.iter().enumerate() {
            let Some((other, last)) = self.touched[v as usize] else { continue };
            let known = lane as usize * lanes + other as usize;
            if other == lane || last <= self.known[known] {
                continue;
            }
            // Of all that this batch needs from that lane, the last one is enough.
            let needed = variables[place..].iter().filter_map(|&v| self.touched[v as usize]);
            let last = needed.filter(|&(l, _)| l == other).fold(last, |last, (_, p)| last.max(p));
            self.known[known] = last;
            wait(other, last)?;
        }
        for &v in variables {
            self.touched[v as usize] = Some((lane, position));
        }
        Ok(())
    }

    /// Makes what was found the state in which an iteration begins that follows another one.
    fn begin_next_iteration(&mut self, starts: &[u32]) {
        let lanes = self.next.len();
        let batches = |lane: usize| i64::from(starts[lane + 1] - starts[lane]);
        self.next.fill(0);
        for (lane, position) in self.touched.iter_mut().flatten() {
            *position -= batches(*lane as usize);
        }
        for (index, known) in self.known.iter_mut().enumerate() {
            *known = known.saturating_sub(batches(index % lanes));
        }
    }
}

#[cfg(test)]
impl Lanes {
    /// The first edge of each batch, with its lane.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, u32)> {
        let lanes = self.lanes.iter().enumerate();
        let first = |batch: u32| self.batches.batch(batch as usize)[0];
        lanes.flat_map(move |(number, lane)| lane.batches.iter().map(move |&b| (number, first(b))))
    }

    /// Runs iterations on this thread, segment by segment of lanes that `choose` picks, given their number, where these are
    /// ready: as threads of any speed might. `choose` has to pick each of them from time to time.
    pub(super) fn run_in_any_order(
        &mut self, serial: &mut Serial<'_>, iterations: u64, choose: &mut dyn FnMut(usize) -> usize,
    ) {
        for progress in &mut self.progress {
            *progress.0.get_mut() = 0;
        }
        let ends = |lane: &Lane| lane.segments.len() as u64 * iterations;
        let mut left: u64 = self.lanes.iter().map(ends).sum();
        while left > 0 {
            let lane = choose(self.lanes.len());
            let done = self.progress[lane].0.load(Ordering::Relaxed);
            if done < ends(&self.lanes[lane]) && self.advance(lane, done + 1, serial).moved {
                left -= 1;
            }
        }
    }
}
