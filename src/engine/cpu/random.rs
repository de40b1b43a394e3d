//! SEQRND: each message alone, in an order that is another one in every iteration.
//!
//! On several threads, messages are computed level by level, with a barrier between. None of a level reads what another one of it
//! replaces, and no two are to the same variable: so each is stored as soon as it is computed, and the products of a high-degree
//! variable follow one message at a time, as on one thread. Finding the levels takes one thread a tenth to a sixth of the time of the
//! iteration; but orders of different iterations have nothing to do with each other. So threads find the levels of an order each,
//! for a *window* of iterations, and then run these iterations together.
//!
//! # Order of memory accesses
//!
//! Updating the message along an edge reads messages to variables of its factor, products of these and nothing else that changes,
//! and writes the message to its own variable and products of that. Let two updates touch the same variable, the earlier of them or
//! the later one to write: then the later one has the higher level ([`OrderInLevels::find_levels`]), and a barrier lies between
//! both. (A factor's messages to its other variables count as read with those that it does read, which makes one to three levels of
//! a hundred more.)

use super::high_arity::HighArityFactors;
use super::pace::Pace;
use super::parallel::uncached;
use super::serial::Serial;
use super::singles::Singles;
use super::state::State;
use super::team::Team;
use super::trees::Trees;
use super::tuning::Tuning;
use crate::error::Result;
use crate::memory::{Grow, filled, room};
use crate::schedule::random_order;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The orders of SEQRND.
pub(super) struct RandomOrders {
    seed: u64,
    singles: Singles,
    /// That of an iteration on one thread. Has room for all edges.
    order: Vec<u32>,
    /// `None` where one thread runs all iterations.
    shared: Option<SharedOrders>,
}

/// The orders of some iterations, for several threads.
struct SharedOrders {
    pace: Pace,
    /// Those of the iterations from `first` on; `found` of them.
    window: Vec<Mutex<OrderInLevels>>,
    first: u64,
    found: usize,
    /// How long it took to find each.
    time: Duration,
}

/// What an iteration does.
pub(super) struct Iteration<'a> {
    pub(super) state: &'a State,
    pub(super) trees: &'a Trees,
    pub(super) high_arity: &'a mut HighArityFactors,
    pub(super) team: &'a Team,
    pub(super) constants_sent: bool,
    /// Which one it is since messages were uniform, and how many are left of the run at most, with this one.
    pub(super) iteration: u64,
    pub(super) left: u64,
}

impl RandomOrders {
    pub(super) fn new(state: &State, seed: u64, threads: usize, tuning: &Tuning) -> Result<Self> {
        let shared = match threads > 1 && are_shared(state, tuning) {
            true => Some(SharedOrders::new(state, threads, tuning)?),
            false => None,
        };
        let order = room(state.graph.edge_count())?;
        Ok(Self { seed, singles: Singles::new(state)?, order, shared })
    }

    /// Runs an iteration. Errors: no memory.
    pub(super) fn run(&mut self, mut now: Iteration<'_>) -> Result<()> {
        let Self { seed, singles, order, shared } = self;
        let begun = Instant::now();
        let limit = shared.as_ref().and_then(|shared| shared.pace.limit(1));
        if let (Some(shared), Some(limit)) = (shared.as_mut(), limit)
            && now.team.present() > 1
        {
            return shared.run(&mut now, *seed, singles, limit);
        }
        let Iteration { state, trees, high_arity, team, constants_sent, .. } = now;
        random_order(state.graph.edge_count(), *seed, now.iteration, order)?;
        team.run_alone(|workspace| {
            let mut serial = uncached(state, trees, high_arity, constants_sent, workspace);
            serial.run_sequence::<false>(order, 0..order.len(), singles);
        });
        if let Some(shared) = shared {
            shared.pace.ran_alone(begun.elapsed());
        }
        Ok(())
    }
}

/// Whether several threads may run messages of such a graph one by one. They keep no trees of factors of high arity: each message of
/// such a factor then reads all its variables.
fn are_shared(state: &State, tuning: &Tuning) -> bool {
    let graph = &state.graph;
    let read = |f: usize| graph.arity(f) as u64 * graph.arity(f) as u64;
    let high = (0..graph.factor_count()).filter(|&f| HighArityFactors::is_few(1, graph.arity(f)));
    high.map(read).sum::<u64>() <= tuning.high_arity_reads.saturating_mul(graph.edge_count() as u64)
}

impl SharedOrders {
    fn new(state: &State, threads: usize, tuning: &Tuning) -> Result<Self> {
        let size = OrderInLevels::bytes(state).max(1);
        let most = (tuning.window_bytes / size).max(tuning.least_window).min(threads);
        let mut window = room(most)?;
        for _ in 0..most {
            window.push(Mutex::new(OrderInLevels::new(state, threads, tuning.narrow_level)?));
        }
        // (The first iteration takes as long as others, or longer.)
        let pace = Pace::after(tuning.first_alone.min(1), tuning);
        Ok(Self { pace, window, first: 0, found: 0, time: Duration::ZERO })
    }

    /// Runs an iteration on all threads, or, from where it takes longer than `limit`, on one.
    fn run(
        &mut self, now: &mut Iteration<'_>, seed: u64, singles: &Singles, limit: Duration,
    ) -> Result<()> {
        let &mut Iteration { state, team, iteration, left, .. } = now;
        if iteration.wrapping_sub(self.first) >= self.found as u64 {
            self.find(state, team, seed, singles, iteration, left)?;
        }
        let begun = Instant::now();
        let order = self.window[(iteration - self.first) as usize].get_mut();
        let given_up = order.run(now, singles, begun.checked_add(limit));
        // (Their trees do not follow these messages.)
        now.high_arity.invalidate();
        self.pace.ran_together(1, begun.elapsed() + self.time, given_up);
        Ok(())
    }

    /// Finds the orders of as many iterations as there is room for, in levels, from the one that `first` is the number of; of no more
    /// than `left`, but of one.
    fn find(
        &mut self, state: &State, team: &Team, seed: u64, singles: &Singles, first: u64, left: u64,
    ) -> Result<()> {
        let begun = Instant::now();
        let most = usize::try_from(left).unwrap_or(usize::MAX).max(1);
        let count = self.window.len().min(most);
        self.found = 0;
        let failed = Mutex::new(None);
        team.run(|worker| {
            for index in (worker.index..count).step_by(worker.count) {
                let iteration = first + index as u64;
                let found = self.window[index].lock().find(state, singles, seed, iteration);
                if let Err(error) = found {
                    failed.lock().get_or_insert(error);
                }
            }
        });
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        (self.first, self.found) = (first, count);
        self.time = begun.elapsed() / count as u32;
        Ok(())
    }
}

/// An order in levels, whose messages are given to threads.
struct OrderInLevels {
    /// Levels of fewer messages are run by one thread, together with others beside them.
    narrow: u32,
    /// Per edge.
    levels: Vec<u32>,
    touched: Vec<Touched>,
    /// Per level, to find the places of its edges.
    parts: Vec<Part>,
    /// The edges, first in the order of the schedule, then thread by thread, and those of a thread segment by segment. A segment is a
    /// level, whose edges are divided among threads in their order, so that each thread gets more or less the same part of the graph
    /// in each; or narrow levels that follow each other.
    edges: Vec<u32>,
    places: Places,
}

/// Where the edges of each thread and segment are.
struct Places {
    threads: usize,
    /// Where those of each thread begin, and where all end.
    starts: Vec<u32>,
    /// Where each thread's edges of a segment end: `ends[segment * threads + thread]`.
    ends: Vec<u32>,
}

impl Places {
    /// The number of segments.
    fn segments(&self) -> usize {
        self.ends.len() / self.threads
    }

    /// Where a thread's edges of a segment are.
    fn of(&self, segment: usize, thread: usize) -> Range<usize> {
        let end = |segment: usize| self.ends[segment * self.threads + thread] as usize;
        let start = if segment == 0 { self.starts[thread] as usize } else { end(segment - 1) };
        start..end(segment)
    }
}

/// The highest levels that have touched a variable so far, counted from 1.
#[derive(Clone, Copy, Default)]
struct Touched {
    /// Of a message to it.
    written: u32,
    /// Of any message of one of its factors.
    any: u32,
}

/// Where edges of a level are put next.
#[derive(Clone, Copy, Default)]
struct Part {
    segment: u32,
    /// The thread that gets the next ones, and how many.
    thread: u32,
    left: u32,
    /// Where the next one is put.
    at: u32,
}

impl OrderInLevels {
    /// About the bytes of one for a graph.
    fn bytes(state: &State) -> usize {
        8 * state.graph.edge_count() + size_of::<Touched>() * state.graph.variable_count()
    }

    fn new(state: &State, threads: usize, narrow: u32) -> Result<Self> {
        let edges = state.graph.edge_count();
        Ok(Self {
            narrow,
            levels: filled(edges, 0)?,
            touched: filled(state.graph.variable_count(), Touched::default())?,
            parts: Vec::new(),
            edges: room(edges)?,
            places: Places { threads, starts: filled(threads + 1, 0)?, ends: Vec::new() },
        })
    }

    /// Finds the order of an iteration. O(sum of squared arities). Errors: no memory.
    fn find(&mut self, state: &State, singles: &Singles, seed: u64, iteration: u64) -> Result<()> {
        random_order(state.graph.edge_count(), seed, iteration, &mut self.edges)?;
        let count = self.find_levels(state, singles) as usize;
        self.parts.clear();
        self.parts.try_resize(count, Part::default())?;
        self.levels.iter().for_each(|&level| self.parts[level as usize].left += 1);
        self.find_segments()?;
        for (edge, &level) in self.levels.iter().enumerate() {
            let part = &mut self.parts[level as usize];
            while part.left == 0 {
                part.thread += 1;
                let places = self.places.of(part.segment as usize, part.thread as usize);
                (part.at, part.left) = (places.start as u32, places.len() as u32);
            }
            self.edges[part.at as usize] = edge as u32;
            part.at += 1;
            part.left -= 1;
        }
        Ok(())
    }

    /// Finds the level of each edge, and returns the number of levels.
    fn find_levels(&mut self, state: &State, singles: &Singles) -> u32 {
        let Self { edges: order, levels, touched, .. } = self;
        let graph = &state.graph;
        touched.fill(Touched::default());
        let mut count = 0;
        for (place, &edge) in order.iter().enumerate() {
            singles.look_ahead_for_variables(graph, touched, order, place);
            let variables = singles.variables(graph, edge);
            let own = graph.edge_variables()[edge as usize] as usize;
            let mut level = touched[own].any;
            for &v in variables {
                level = level.max(touched[v as usize].written);
            }
            levels[edge as usize] = level;
            level += 1;
            count = count.max(level);
            for &v in variables {
                let any = &mut touched[v as usize].any;
                *any = level.max(*any);
            }
            touched[own].written = level;
        }
        count
    }

    /// Cuts the levels, of each of which the number of edges is known, into segments, and finds the places of these.
    fn find_segments(&mut self) -> Result<()> {
        let Self { narrow, parts, places, .. } = self;
        let Places { threads, starts, ends } = places;
        ends.clear();
        let mut turn = 0;
        let mut follows_narrow = false;
        for part in parts.iter_mut() {
            let width = part.left;
            let is_narrow = width < *narrow;
            if !is_narrow || !follows_narrow {
                ends.try_resize(ends.len() + *threads, 0)?;
            }
            follows_narrow = is_narrow;
            let first = ends.len() - *threads;
            let own = &mut ends[first..];
            part.segment = (first / *threads) as u32;
            if is_narrow {
                // Where it is in the segment, so far.
                part.at = own[0];
                own[0] += width;
            } else {
                let (all, more) = (width as usize / *threads, width as usize % *threads);
                own.fill(all as u32);
                // (Not the same threads have one more each time.)
                for _ in 0..more {
                    own[turn] += 1;
                    turn = if turn + 1 == *threads { 0 } else { turn + 1 };
                }
            }
        }
        // Numbers become places.
        let mut at = 0;
        for (thread, start) in starts.iter_mut().enumerate().take(*threads) {
            *start = at;
            for count in ends.iter_mut().skip(thread).step_by(*threads) {
                at += *count;
                *count = at;
            }
        }
        starts[*threads] = at;
        for part in parts {
            let first = places.of(part.segment as usize, 0);
            part.at += first.start as u32;
            if part.left >= *narrow {
                part.left = first.len() as u32;
            }
        }
        Ok(())
    }

    fn run_segment(
        &self, serial: &mut Serial<'_>, singles: &Singles, segment: usize,
        threads: impl Iterator<Item = usize>,
    ) {
        for thread in threads {
            // (It prefetches up to the thread's last one.)
            let end = self.places.starts[thread + 1] as usize;
            let places = self.places.of(segment, thread);
            serial.run_sequence::<true>(&self.edges[..end], places, singles);
        }
    }

    /// Runs the iteration on all threads. Returns whether it took longer than until `limit`, whereupon one thread has ended it.
    fn run(&self, now: &Iteration<'_>, singles: &Singles, limit: Option<Instant>) -> bool {
        let &Iteration { state, trees, team, constants_sent, .. } = now;
        let (segments, threads) = (self.places.segments(), self.places.threads);
        // The last segment of all threads. The first thread sets it before the barrier behind that segment, so that all know behind it.
        // Some may read it before, behind the barrier before that one: they go on to that segment as well.
        let last = AtomicUsize::new(usize::MAX);
        team.run(|worker| {
            let (first, step) = (worker.index, worker.count);
            let (workspace, wait) = worker.parts();
            let high_arity = &mut HighArityFactors::default();
            let mut serial = uncached(state, trees, high_arity, constants_sent, workspace);
            for segment in 0..segments {
                let threads = (first..threads).step_by(step);
                self.run_segment(&mut serial, singles, segment, threads);
                if first == 0 && limit.is_some_and(|limit| Instant::now() > limit) {
                    last.store(segment, Ordering::Relaxed);
                }
                if segment + 1 < segments {
                    wait();
                }
                if last.load(Ordering::Relaxed) <= segment {
                    break;
                }
            }
        });
        let last = last.into_inner();
        if last >= segments {
            return false;
        }
        team.run_alone(|workspace| {
            let high_arity = &mut HighArityFactors::default();
            let mut serial = uncached(state, trees, high_arity, constants_sent, workspace);
            for segment in last + 1..segments {
                self.run_segment(&mut serial, singles, segment, 0..threads);
            }
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::CpuEngine;
    use super::super::plan::{Order, Plan};
    use super::super::tests::{Case, case};
    use super::*;
    use crate::engine::EngineOptions;
    use crate::schedule::Schedule;
    use crate::testing::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(200, 2000)))]

        /// Each edge is there once; and of two that touch a variable, of which one writes to it, the earlier one of the order has the
        /// earlier segment, or the earlier place of the same thread.
        #[test]
        fn edges_wait_for_those_that_they_have_to_follow(
            case in case(), threads in 1_usize..9, narrow in 0_u32..12, iteration in any::<u64>(),
        ) {
            let Case { graph, .. } = case;
            let (seed, options) = (7, EngineOptions { threads: Some(1), ..Default::default() });
            let schedule = Schedule::SequentialRandom { seed };
            let CpuEngine { state, plan, .. } = CpuEngine::new(graph.clone(), &schedule, options).unwrap();
            let Plan::Batches(plan) = plan else { panic!("messages are updated one by one") };
            let Order::Random(RandomOrders { singles, .. }) = &plan.order else { panic!("in a random order") };
            let mut found = OrderInLevels::new(&state, threads, narrow).unwrap();
            // (A second order leaves nothing of the first one.)
            found.find(&state, singles, seed, iteration.wrapping_add(1)).unwrap();
            found.find(&state, singles, seed, iteration).unwrap();
            let mut order = Vec::new();
            random_order(graph.edge_count(), seed, iteration, &mut order).unwrap();
            let mut wheres = vec![None; order.len()];
            for segment in 0..found.places.segments() {
                for thread in 0..threads {
                    for place in found.places.of(segment, thread) {
                        let edge = found.edges[place] as usize;
                        prop_assert_eq!(wheres[edge].replace((segment, thread, place)), None);
                    }
                }
            }
            let variable = |edge: u32| graph.edge_variables()[edge as usize];
            let reads = |edge: u32, v: u32| {
                graph.factor_variables(graph.edge_factors()[edge as usize] as usize).contains(&v)
            };
            for (number, &later) in order.iter().enumerate() {
                let Some(after) = wheres[later as usize] else { panic!("edge {later} is not there") };
                for &earlier in &order[..number] {
                    let (own, other) = (variable(later), variable(earlier));
                    if own == other || reads(later, other) || reads(earlier, own) {
                        let Some(before) = wheres[earlier as usize] else { panic!("nor is {earlier}") };
                        let follows = before.0 < after.0
                            || before.0 == after.0 && before.1 == after.1 && before.2 < after.2;
                        prop_assert!(follows, "{before:?} and {after:?}");
                    }
                }
            }
        }
    }
}
