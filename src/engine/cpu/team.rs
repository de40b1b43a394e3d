//! Threads that run the steps of a pass together.

use super::plan::Tuning;
use super::workspace::Workspace;
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A fixed set of threads, each with its own working memory.
pub(super) struct Team {
    threads: usize,
    pool: Option<rayon::ThreadPool>,
    workspaces: Vec<Mutex<Workspace>>,
}

/// Number of threads of a team for a graph with so many edges.
pub(super) fn size(threads: Option<usize>, edges: usize, tuning: &Tuning) -> Result<usize> {
    if threads == Some(0) {
        return Err(Error::InvalidArgument("0 threads: at least one is needed".into()));
    }
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = threads.unwrap_or_else(|| num_cpus::get_physical().clamp(1, available));
    let useful = edges.div_ceil(tuning.edges_per_thread).max(1);
    Ok(wanted.min(useful))
}

impl Team {
    /// A team for a graph with so many edges.
    pub(super) fn new(threads: Option<usize>, edges: usize, tuning: &Tuning) -> Result<Self> {
        let threads = size(threads, edges, tuning)?;
        let pool = if threads > 1 {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("fastlbp-{index}"))
                .build()
                .map_err(|error| Error::OutOfMemory(format!("{threads} threads: {error}")))?;
            Some(pool)
        } else {
            None
        };
        let workspaces = (0..threads).map(|_| Mutex::default()).collect();
        Ok(Self { threads, pool, workspaces })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` once on every thread, at the same time, and returns when all have ended.
    pub(super) fn run(&self, job: impl Fn(&mut Worker<'_>) + Sync) {
        let barrier = Barrier::new(self.threads);
        let work = |index: usize| {
            let guard = PoisonOnPanic(&barrier);
            let mut workspace = self.workspaces[index].lock();
            let worker = &mut Worker {
                index,
                count: self.threads,
                barrier: &barrier,
                workspace: &mut workspace,
            };
            job(worker);
            std::mem::forget(guard);
        };
        match &self.pool {
            None => work(0),
            Some(pool) => {
                pool.broadcast(|context| work(context.index()));
            }
        }
    }

    /// Runs `job` on the calling thread with the first thread's working memory.
    pub(super) fn run_alone<T>(&self, job: impl FnOnce(&mut Workspace) -> T) -> T {
        job(&mut self.workspaces[0].lock())
    }

    /// Folds over what the workers left in their working memory.
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
    barrier: &'a Barrier,
    pub(super) workspace: &'a mut Workspace,
}

impl Worker<'_> {
    /// Waits until every thread is here; all writes before it are seen by all after it.
    pub(super) fn wait(&self) {
        self.barrier.wait();
    }

    /// This worker's part of `0..length`, in equal contiguous parts.
    pub(super) fn share(&self, length: usize) -> Range<usize> {
        let cut = |part: usize| (length as u64 * part as u64 / self.count as u64) as usize;
        cut(self.index)..cut(self.index + 1)
    }
}

/// Hands out the chunks `0..count` to whoever asks next.
pub(super) struct Chunks {
    next: AtomicUsize,
    count: usize,
}

impl Chunks {
    pub(super) fn new(count: usize) -> Self {
        Self { next: AtomicUsize::new(0), count }
    }

    pub(super) fn next(&self) -> Option<usize> {
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        (chunk < self.count).then_some(chunk)
    }
}

/// A barrier that spins briefly before it yields: levels last microseconds, and a sleeping thread
/// takes longer than that to wake.
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    poisoned: AtomicBool,
}

/// A few microseconds: with more threads than free cores, the one waited for needs this core.
const SPINS_BEFORE_YIELD: u32 = 100;

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
        }
    }

    fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            // A thread that panicked will never arrive.
            assert!(!self.poisoned.load(Ordering::Relaxed), "another thread of the pass panicked");
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

struct PoisonOnPanic<'a>(&'a Barrier);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        self.0.poisoned.store(true, Ordering::Relaxed);
    }
}
