//! Threads that all sessions of the process share: started when a run needs them, ended when none has needed
//! them for a while.
//!
//! A run takes a [`Gang`] of them for as long as it lasts, so that its steps, which may take microseconds, find
//! them awake. Only the start of a thread allocates memory; where one cannot be started, or where many runs at once
//! have taken those that the processor has use for, a gang is smaller.

use crate::memory::{Grow, boxed, probe, room};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How long an idle thread waits for a gang before it ends.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// Number of polls for the next task before a thread sleeps: some tens of microseconds, the time between two
/// steps of a run.
const SPINS_BEFORE_SLEEP: u32 = 4000;

/// Number of polls for the end of a task before the waiting thread yields its core.
const SPINS_BEFORE_YIELD: u32 = 100;

/// Stack size of a thread: an iteration needs little.
const STACK_BYTES: usize = 1 << 20;

/// Memory that has to be there beside the stack when a thread is started. The C library takes some kilobytes, in
/// pieces of pages.
const START_BYTES: usize = 1 << 20;

/// Number of the processor's cores that this process may use: physical ones, at least 1.
pub(crate) fn physical_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        num_cpus::get_physical().clamp(1, available)
    })
}

/// The most threads per physical core: two, since a run may wait for memory or for its caller. More would only take
/// the cores from each other, and their barriers spin.
const THREADS_PER_CORE: usize = 2;

/// The threads of the process.
static POOL: Pool = Pool::new();

/// Threads for gangs.
struct Pool {
    members: Mutex<Members>,
}

struct Members {
    /// The threads that belong to no gang.
    idle: Vec<Arc<Seat>>,
    /// Number of threads, idle ones and those of gangs.
    threads: usize,
}

impl Pool {
    const fn new() -> Self {
        Self { members: Mutex::new(Members { idle: Vec::new(), threads: 0 }) }
    }

    /// Takes threads, and starts those that are missing: as many as one gang wants, but for several gangs at once not
    /// more than the processor has use for.
    fn take(&'static self, wanted: usize) -> Vec<Arc<Seat>> {
        let Ok(mut taken) = room(wanted) else { return Vec::new() };
        if wanted == 0 {
            return taken;
        }
        let most = wanted.max(THREADS_PER_CORE * physical_cores());
        let missing = {
            let mut members = lock(&self.members);
            let kept = members.idle.len().saturating_sub(wanted);
            taken.extend(members.idle.drain(kept..));
            let missing = wanted - taken.len();
            let missing = missing.min(most.saturating_sub(members.threads));
            members.threads += missing;
            missing
        };
        let have = taken.len();
        taken.extend((0..missing).map_while(|_| start(self)));
        lock(&self.members).threads -= missing - (taken.len() - have);
        taken
    }

    /// Puts a thread back that a gang had.
    fn put_back(&self, seat: Arc<Seat>) {
        let mut members = lock(&self.members);
        // A thread for which the list has no room would never be found again, so it ends.
        if members.idle.try_room(1).is_ok() {
            members.idle.push(seat);
        } else {
            members.threads -= 1;
            seat.dismiss();
        }
    }

    /// Removes an idle thread, which then ends; `false` if a gang has taken it.
    fn remove(&self, seat: &Arc<Seat>) -> bool {
        let mut members = lock(&self.members);
        let place = members.idle.iter().position(|idle| Arc::ptr_eq(idle, seat));
        if let Some(place) = place {
            members.idle.swap_remove(place);
            members.threads -= 1;
        }
        place.is_some()
    }
}

/// Locks, and ignores poisoning: no code that holds one of these locks can leave its content half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mailbox of a thread: its next task.
struct Seat {
    pool: &'static Pool,
    slot: Mutex<Slot>,
    /// Whether the slot has a task. It is polled without the lock.
    is_posted: AtomicBool,
    wake: Condvar,
    /// Whether the thread runs: what starting one allocates is allocated.
    has_begun: AtomicBool,
}

#[derive(Default)]
struct Slot {
    task: Option<Task>,
    is_asleep: bool,
    /// Asks the thread to end.
    is_dismissed: bool,
}

/// A call of a function. Who posts it keeps the function alive until `end` says that the call has returned.
struct Task {
    /// Calls the function behind the pointer.
    call: unsafe fn(*const (), usize),
    job: *const (),
    index: usize,
    end: *const End,
}

// SAFETY: what the pointers name is shared by all threads of a gang (`job` is `Sync`, `End` is made of atomics)
// and lives until all of them are done with it.
unsafe impl Send for Task {}

/// A function that the threads of a gang call, without its type.
#[derive(Clone, Copy)]
struct Job<'a> {
    /// Calls the function behind the pointer.
    call: unsafe fn(*const (), usize),
    job: *const (),
    alive: PhantomData<&'a ()>,
}

impl<'a> Job<'a> {
    fn of<F: Fn(usize) + Sync>(job: &'a F) -> Self {
        /// Calls the job behind a pointer.
        ///
        /// # Safety
        ///
        /// `job` points to a live `F`.
        unsafe fn call<F: Fn(usize)>(job: *const (), index: usize) {
            // SAFETY: by the contract.
            unsafe { (*job.cast::<F>())(index) }
        }
        Self { call: call::<F>, job: std::ptr::from_ref(job).cast(), alive: PhantomData }
    }

    fn call(self, index: usize) {
        // SAFETY: `call` is that of the type behind the pointer, which is borrowed.
        unsafe { (self.call)(self.job, index) }
    }
}

/// The number of calls that have not returned yet, and whether one of them panicked.
struct End {
    left: AtomicUsize,
    has_panicked: AtomicBool,
}

impl Seat {
    fn new(pool: &'static Pool) -> Self {
        Self {
            pool,
            slot: Mutex::default(),
            is_posted: AtomicBool::new(false),
            wake: Condvar::new(),
            has_begun: AtomicBool::new(false),
        }
    }

    fn post(&self, task: Task) {
        let mut slot = lock(&self.slot);
        slot.task = Some(task);
        self.is_posted.store(true, Ordering::Release);
        let is_asleep = slot.is_asleep;
        drop(slot);
        if is_asleep {
            self.wake.notify_one();
        }
    }

    fn dismiss(&self) {
        lock(&self.slot).is_dismissed = true;
        self.wake.notify_one();
    }

    /// Waits for the next task; `None` if the thread has to end.
    fn next(self: &Arc<Self>) -> Option<Task> {
        for _ in 0..SPINS_BEFORE_SLEEP {
            if self.is_posted.load(Ordering::Acquire) {
                break;
            }
            std::hint::spin_loop();
        }
        let mut slot = lock(&self.slot);
        loop {
            if let Some(task) = slot.task.take() {
                self.is_posted.store(false, Ordering::Relaxed);
                return Some(task);
            }
            if slot.is_dismissed {
                return None;
            }
            slot.is_asleep = true;
            let (woken, timeout) =
                self.wake.wait_timeout(slot, IDLE_TIME).unwrap_or_else(PoisonError::into_inner);
            slot = woken;
            slot.is_asleep = false;
            if timeout.timed_out() && slot.task.is_none() {
                drop(slot);
                // One that belongs to a gang by now goes on waiting.
                if self.pool.remove(self) {
                    return None;
                }
                slot = lock(&self.slot);
            }
        }
    }

    /// The main loop of a thread.
    fn serve(self: &Arc<Self>) {
        self.has_begun.store(true, Ordering::Release);
        while let Some(Task { call, job, index, end }) = self.next() {
            // SAFETY: the poster waits for the end of this task before what the pointers name goes.
            let outcome = std::panic::catch_unwind(|| unsafe { call(job, index) });
            // SAFETY: as above; this is the last use, and the count falls with it.
            let end = unsafe { &*end };
            if outcome.is_err() {
                end.has_panicked.store(true, Ordering::Relaxed);
            }
            end.left.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Starts a thread; `None` if the system refuses, or memory is short: a thread that finds none for what the C library
/// allocates when it begins ends the process.
fn start(pool: &'static Pool) -> Option<Arc<Seat>> {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    probe(STACK_BYTES + START_BYTES).ok()?;
    let seat = Arc::new(Seat::new(pool));
    let own = boxed(seat.clone()).ok()?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::thread::Builder::new()
        .name(format!("fastlbp-{number}"))
        .stack_size(STACK_BYTES)
        .spawn(move || own.serve())
        .ok()?;
    // Until then nothing else of this thread may take the memory.
    while !seat.has_begun.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    Some(seat)
}

/// The threads of a run, beside the calling one.
pub(crate) struct Gang {
    others: Vec<Arc<Seat>>,
}

impl Gang {
    /// The calling thread alone.
    pub(crate) const ALONE: Self = Self { others: Vec::new() };

    /// A gang of `threads` threads with the calling one, or of fewer: if no more can be started, or if other gangs
    /// have what the processor has use for.
    pub(crate) fn of(threads: usize) -> Self {
        Self::from(&POOL, threads)
    }

    fn from(pool: &'static Pool, threads: usize) -> Self {
        Self { others: pool.take(threads.saturating_sub(1)) }
    }

    /// A gang of one thread per physical core for a piece of work, or of so few that each has `least` units of it.
    pub(crate) fn for_work(work: usize, least: usize) -> Self {
        let useful = work / least.max(1);
        // A small piece of work does not even look at the processor.
        if useful < 2 { Self::ALONE } else { Self::of(physical_cores().min(useful)) }
    }

    /// Number of threads, with the calling one.
    pub(crate) fn threads(&self) -> usize {
        self.others.len() + 1
    }

    /// Calls `job` once on every thread, at the same time, with the thread's number; 0 is the calling one.
    /// Returns when all calls have. Panics if one of them does.
    pub(crate) fn run<F: Fn(usize) + Sync>(&self, job: &F) {
        let job = Job::of(job);
        // (Through the pointer here, too, so that the code of a job is compiled once.)
        self.run_job(job, &mut || job.call(0));
    }

    /// Calls `job` once for each part. The threads take the parts in their order, each the next one when it is done
    /// with its last one.
    pub(crate) fn each<P: Send>(&self, parts: &mut [P], job: impl Fn(&mut P) + Sync) {
        let next = Mutex::new(parts.iter_mut());
        self.run(&|_| {
            loop {
                let part = lock(&next).next();
                let Some(part) = part else { break };
                job(part);
            }
        });
    }

    /// As [`Self::run`], where the calling thread does something else.
    pub(crate) fn run_beside<F: Fn(usize) + Sync>(&self, job: &F, own: impl FnOnce()) {
        let mut own = Some(own);
        self.run_job(Job::of(job), &mut || {
            if let Some(own) = own.take() {
                own();
            }
        });
    }

    /// The part of [`Self::run_beside`] that does not depend on what is run.
    fn run_job(&self, job: Job<'_>, own: &mut dyn FnMut()) {
        let left = AtomicUsize::new(self.others.len());
        let end = End { left, has_panicked: AtomicBool::new(false) };
        // Wait even if this thread's own part panics: the others still use `job`.
        let wait = WaitOnDrop(&end);
        for (index, seat) in self.others.iter().enumerate() {
            seat.post(Task { call: job.call, job: job.job, index: index + 1, end: &raw const end });
        }
        own();
        drop(wait);
        assert!(!end.has_panicked.load(Ordering::Relaxed), "a thread of the run panicked");
    }
}

impl Drop for Gang {
    fn drop(&mut self) {
        self.others.drain(..).for_each(|seat| seat.pool.put_back(seat));
    }
}

struct WaitOnDrop<'a>(&'a End);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        let mut spins = 0;
        while self.0.left.load(Ordering::Acquire) > 0 {
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_does_its_part() {
        static POOL: Pool = Pool::new();
        for threads in [1, 2, 5, 3] {
            let gang = Gang::from(&POOL, threads);
            assert_eq!(gang.threads(), threads);
            for _ in 0..100 {
                let done: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
                gang.run(&|index| {
                    done[index].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn every_part_is_done_once() {
        for (threads, parts) in [(1, 3), (3, 0), (3, 2), (2, 100)] {
            let mut parts = vec![0; parts];
            Gang::of(threads).each(&mut parts, |part| *part += 1);
            assert!(parts.iter().all(|&part| part == 1));
        }
    }

    #[test]
    fn gangs_of_several_threads_run_side_by_side() {
        static POOL: Pool = Pool::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..50 {
                        let gang = Gang::from(&POOL, 1 + round % 4);
                        let sum = AtomicUsize::new(0);
                        gang.run(&|index| {
                            sum.fetch_add(index + 1, Ordering::Relaxed);
                        });
                        let n = gang.threads();
                        assert_eq!(sum.load(Ordering::Relaxed), n * (n + 1) / 2);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_harms_no_later_run() {
        static POOL: Pool = Pool::new();
        for panicking in 0..3 {
            let gang = Gang::from(&POOL, 3);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                gang.run(&|index| assert_ne!(index, panicking, "on purpose"));
            }));
            assert!(result.is_err());
            gang.run(&|_| {});
        }
    }

    #[test]
    fn threads_that_sleep_are_woken() {
        static POOL: Pool = Pool::new();
        let gang = Gang::from(&POOL, 2);
        let count = AtomicUsize::new(0);
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(20));
            gang.run(&|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(count.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn many_gangs_share_what_the_processor_has_use_for() {
        static POOL: Pool = Pool::new();
        let threads = || lock(&POOL.members).threads;
        let most = THREADS_PER_CORE * physical_cores();
        let gangs: Vec<Gang> = (0..most + 100).map(|_| Gang::from(&POOL, 2)).collect();
        assert_eq!(threads(), most);
        assert_eq!(gangs.iter().filter(|gang| gang.threads() == 2).count(), most);
        // One that wants more by itself gets it.
        drop(gangs);
        assert_eq!(Gang::from(&POOL, most + 2).threads(), most + 2);
        assert_eq!(threads(), most + 1);
        assert_eq!(lock(&POOL.members).idle.len(), most + 1);
    }
}
