//! The threads that run the steps of an iteration together, and the barrier between the steps.

use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::{Error, Result};
use crate::memory::collected;
use crate::threads::{Gang, physical_cores};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The working memory of each thread of an engine; during a run also the threads themselves.
pub(super) struct Team {
    threads: usize,
    gang: Gang,
    /// Whether the calling thread does all work, though the others are there.
    is_alone: bool,
    workspaces: Vec<Mutex<Workspace>>,
    /// Of the chunks of each thread.
    taken: Vec<Taken>,
    /// Of each thread, for the barriers of a job.
    arrivals: Vec<Arrivals>,
}

/// Number of threads for a graph with `edges` edges: what was asked for (else one per physical core), but no
/// more than can each get `edges_per_thread` edges.
pub(super) fn size(threads: Option<usize>, edges: usize, tuning: &Tuning) -> Result<usize> {
    if threads == Some(0) {
        return Err(Error::InvalidArgument("0 threads: at least one is needed".into()));
    }
    let useful = (edges / tuning.edges_per_thread).max(1);
    if useful == 1 {
        return Ok(1); // without a look at the processor
    }
    Ok(threads.unwrap_or_else(physical_cores).min(useful))
}

impl Team {
    /// A team for a graph with `edges` edges.
    pub(super) fn new(threads: Option<usize>, edges: usize, tuning: &Tuning) -> Result<Self> {
        let threads = size(threads, edges, tuning)?;
        let workspaces = collected((0..threads).map(|_| Mutex::default()))?;
        let taken = collected((0..threads).map(|_| Taken::default()))?;
        let arrivals = collected((0..threads).map(|_| Arrivals::default()))?;
        Ok(Self { threads, gang: Gang::ALONE, is_alone: false, workspaces, taken, arrivals })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Number of threads that take part in the run.
    pub(super) fn present(&self) -> usize {
        self.gang.threads()
    }

    /// Takes threads from the pool for a run; it may get fewer than it wants.
    pub(super) fn assemble(&mut self) {
        self.is_alone = false;
        self.gang = Gang::of(self.threads);
    }

    /// Whether from now on the calling thread does all work itself, with the same results.
    pub(super) fn set_alone(&mut self, is_alone: bool) {
        self.is_alone = is_alone;
    }

    /// Gives the threads back. Without them, the calling thread does all work.
    pub(super) fn dismiss(&mut self) {
        self.gang = Gang::ALONE;
    }

    /// Runs `job` on every thread at the same time, and returns when all have ended.
    pub(super) fn run(&self, job: impl Fn(&mut Worker<'_>) + Sync) {
        let gang = if self.is_alone { &Gang::ALONE } else { &self.gang };
        let count = gang.threads();
        let barrier = Barrier::new(&self.arrivals[..count]);
        gang.run(&|index: usize| {
            let guard = PoisonOnPanic(&barrier);
            let mut workspace = self.workspaces[index].lock();
            let workspace = &mut workspace;
            job(&mut Worker { index, count, barrier: &barrier, workspace });
            std::mem::forget(guard);
        });
    }

    /// So many chunks, to be handed out in one job. No more than one job at a time has some.
    pub(super) fn chunks(&self, count: usize) -> Chunks<'_> {
        self.taken.iter().for_each(|taken| taken.0.store(0, Ordering::Relaxed));
        Chunks { taken: &self.taken, count }
    }

    /// Runs `job` on the calling thread with the first thread's working memory.
    pub(super) fn run_alone<T>(&self, job: impl FnOnce(&mut Workspace) -> T) -> T {
        job(&mut self.workspaces[0].lock())
    }

    /// Calls `take` with the working memory of each thread, to collect what the threads found.
    pub(super) fn collect(&mut self, mut take: impl FnMut(&mut Workspace)) {
        for workspace in &mut self.workspaces {
            take(workspace.get_mut());
        }
    }
}

/// One thread's view of a job.
pub(super) struct Worker<'a> {
    pub(super) index: usize,
    pub(super) count: usize,
    barrier: &'a Barrier<'a>,
    pub(super) workspace: &'a mut Workspace,
}

impl Worker<'_> {
    /// Barrier: returns when every thread has called it. What any thread wrote before is visible to all after.
    pub(super) fn wait(&self) {
        self.barrier.wait(self.index);
    }

    /// The working memory, and [`Self::wait`].
    pub(super) fn parts(&mut self) -> (&mut Workspace, impl Fn() + use<'_>) {
        let (barrier, index) = (self.barrier, self.index);
        (self.workspace, move || barrier.wait(index))
    }

    /// The working memory, and the means to wait for other workers without the barrier.
    pub(super) fn split(&mut self) -> (&mut Workspace, Patience<'_>) {
        (self.workspace, Patience { barrier: self.barrier, polls: 0 })
    }

    /// This worker's part of `0..length`, which the workers divide into contiguous parts of equal size (to within
    /// one).
    pub(super) fn share(&self, length: usize) -> Range<usize> {
        share(length, self.index, self.count)
    }
}

/// Dynamic scheduling: hands out the chunks `0..count`, each to one thread. A thread first gets those of its own
/// [`share`], the same ones each time, so that what they read and write is in its cache; then what is left of others'.
pub(super) struct Chunks<'a> {
    taken: &'a [Taken],
    count: usize,
}

/// How many chunks of a thread's share have been handed out. In a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Taken(AtomicUsize);

impl Chunks<'_> {
    /// Those that a worker gets.
    pub(super) fn of<'a>(&'a self, worker: &Worker<'_>) -> impl Iterator<Item = usize> + use<'a> {
        let (index, threads) = (worker.index, worker.count);
        (0..threads).flat_map(move |next| {
            let thread = (index + next) % threads;
            let own = share(self.count, thread, threads);
            let taken = &self.taken[thread].0;
            std::iter::from_fn(move || own.clone().nth(taken.fetch_add(1, Ordering::Relaxed)))
        })
    }
}

/// The part of `0..length` of one of so many threads, which have contiguous parts of equal size (to within one).
fn share(length: usize, thread: usize, threads: usize) -> Range<usize> {
    let cut = |part: usize| (length as u64 * part as u64 / threads as u64) as usize;
    cut(thread)..cut(thread + 1)
}

/// A barrier that spins briefly and then yields. It never sleeps: a level takes microseconds, and waking a
/// sleeping thread takes longer.
///
/// Each thread tells of its arrival at a place of its own, where the first one waits for it; then all wait for the first one.
/// So no cache line is written by several threads, which would have to get it one after the other.
struct Barrier<'a> {
    /// The number of barriers at which each thread has arrived.
    arrivals: &'a [Arrivals],
    /// The number of barriers at which all have.
    passed: Arrivals,
    poisoned: AtomicBool,
}

/// On a cache line of its own: on two, since processors fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Arrivals(AtomicUsize);

/// Spins for a few microseconds. Where there are more threads than free cores, the thread that is waited for
/// may need this core, so that a longer spin would delay it.
const SPINS_BEFORE_YIELD: u32 = 100;

impl<'a> Barrier<'a> {
    /// For as many threads as there are arrivals, none of which waits at another barrier with these.
    fn new(arrivals: &'a [Arrivals]) -> Self {
        arrivals.iter().for_each(|arrival| arrival.0.store(0, Ordering::Relaxed));
        Self { arrivals, passed: Arrivals::default(), poisoned: AtomicBool::new(false) }
    }

    fn wait(&self, thread: usize) {
        let Some((_, others)) =
            self.arrivals.split_first().filter(|(_, others)| !others.is_empty())
        else {
            return;
        };
        let mut patience = Patience { barrier: self, polls: 0 };
        let mut wait_for = |arrivals: &Arrivals, count: usize| {
            while arrivals.0.load(Ordering::Acquire) != count {
                patience.pause();
            }
        };
        // (No thread is at another barrier than the others.)
        let count = self.passed.0.load(Ordering::Relaxed) + 1;
        if thread == 0 {
            others.iter().for_each(|other| wait_for(other, count));
            self.passed.0.store(count, Ordering::Release);
        } else {
            self.arrivals[thread].0.store(count, Ordering::Release);
            wait_for(&self.passed, count);
        }
    }
}

/// How a thread waits between two polls for what another thread of the team does.
pub(super) struct Patience<'a> {
    barrier: &'a Barrier<'a>,
    polls: u32,
}

impl Patience<'_> {
    /// Waits a moment, and returns whether it has been so long that others were let have the core. Panics if another thread
    /// has: what is waited for may then never happen.
    pub(super) fn pause(&mut self) -> bool {
        assert!(
            !self.barrier.poisoned.load(Ordering::Relaxed),
            "another thread of the iteration panicked"
        );
        if self.polls < SPINS_BEFORE_YIELD {
            self.polls += 1;
            std::hint::spin_loop();
            false
        } else {
            std::thread::yield_now();
            true
        }
    }

    /// The next poll is the first one of another wait.
    pub(super) fn renew(&mut self) {
        self.polls = 0;
    }
}

struct PoisonOnPanic<'a>(&'a Barrier<'a>);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        self.0.poisoned.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each chunk is handed out once, and to a thread that comes first, one of its own share.
    #[test]
    fn chunks_are_handed_out_once_and_first_to_their_threads() {
        for (threads, count) in [(1, 0), (1, 9), (3, 2), (3, 64), (4, 7)] {
            let tuning = Tuning { edges_per_thread: 1, ..Tuning::default() };
            let mut team = Team::new(Some(threads), 1 << 10, &tuning).unwrap();
            team.assemble();
            // A job after another begins anew.
            for _ in 0..2 {
                let handed_out = Mutex::new(Vec::new());
                let chunks = team.chunks(count);
                team.run(|worker| {
                    let share = worker.share(count);
                    let mut own = chunks.of(worker);
                    // Nobody takes another one before each has one.
                    let first = if share.is_empty() { None } else { own.next() };
                    worker.wait();
                    assert_eq!(first, share.clone().next());
                    handed_out.lock().extend(first.into_iter().chain(own));
                });
                let mut handed_out = handed_out.into_inner();
                handed_out.sort_unstable();
                assert_eq!(handed_out, (0..count).collect::<Vec<_>>(), "{threads} threads");
            }
        }
    }
}
