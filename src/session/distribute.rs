//! Jobs handed out to threads.

use crate::error::Result;
use crate::memory::room;
use crate::threads::Gang;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A lock's content: what the locks here protect cannot be left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came out of jobs, on its way to the calling thread.
struct Mailbox<R> {
    results: Vec<(usize, R)>,
    /// Threads that may still send.
    senders: usize,
}

/// What a worker made of a job.
pub(super) enum JobEnd<J, R> {
    /// What came out of it.
    Done(R),
    /// What came out of it; the worker takes no other job.
    Last(R),
    /// The job as it was, for others: the worker cannot do it, and takes no other job.
    GivenUp(J),
}

/// Whether a worker may take a job.
pub(super) enum Fit {
    Now,
    /// It is for others.
    No,
    /// Neither this job nor one after it may begin before more are finished.
    Later,
}

/// The jobs that nobody has taken, by ascending position.
struct Queue<J> {
    jobs: VecDeque<(usize, J)>,
    /// Workers that wait until more jobs are finished.
    waiting: usize,
    /// Whether somebody has panicked, so that nothing more is begun.
    is_closed: bool,
}

/// A queue, and the sign that more of its jobs may be taken.
struct Shared<J> {
    queue: Mutex<Queue<J>>,
    changed: Condvar,
}

impl<J> Shared<J> {
    fn new(jobs: Vec<J>) -> Result<Self> {
        let mut waiting: VecDeque<(usize, J)> = room(jobs.len())?.into();
        waiting.extend(jobs.into_iter().enumerate());
        let queue = Queue { jobs: waiting, waiting: 0, is_closed: false };
        Ok(Self { queue: Mutex::new(queue), changed: Condvar::new() })
    }

    /// The first job that fits; waits for it where one does later.
    fn take(&self, fit: impl Fn(&J) -> Fit) -> Option<(usize, J)> {
        let mut queue = lock(&self.queue);
        while !queue.is_closed {
            let fits = queue.jobs.iter().map(|(_, job)| fit(job)).enumerate();
            let (place, fit) = fits.into_iter().find(|(_, fit)| !matches!(fit, Fit::No))?;
            if let Fit::Now = fit {
                return queue.jobs.remove(place);
            }
            queue.waiting += 1;
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
        None
    }

    /// Puts a job back. There is room: it was in the queue before.
    fn put_back(&self, position: usize, job: J) {
        let mut queue = lock(&self.queue);
        let place = queue.jobs.partition_point(|&(other, _)| other < position);
        queue.jobs.insert(place, (position, job));
        self.wake(&queue);
    }

    /// More jobs are finished.
    fn advance(&self) {
        self.wake(&lock(&self.queue));
    }

    fn wake(&self, queue: &Queue<J>) {
        if queue.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

/// Closes a queue where the thread panics, so that nobody waits for what will not be finished.
struct Closing<'a, J>(&'a Shared<J>);

impl<J> Drop for Closing<'_, J> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = lock(&self.0.queue);
            queue.is_closed = true;
            self.0.wake(&queue);
        }
    }
}

/// Does all jobs, each by the next worker that is free; every worker has a thread of its own, but one
/// worker alone works on the calling thread. `finished` gets what came out of each job with its
/// position, in about the order in which they end, on the calling thread.
///
/// There is at least one worker; those whose threads cannot be started are done without. A job that
/// panics lets this panic when the others have ended. Errors: no memory, before any job is done.
pub(super) fn distribute<W: Send, J: Send, R: Send>(
    workers: &mut [W], jobs: Vec<J>, work: impl Fn(&mut W, J) -> R + Sync,
    finished: impl FnMut(usize, R),
) -> Result<()> {
    let work = |worker: &mut W, job| JobEnd::Done(work(worker, job));
    distribute_to_some(workers, false, jobs, |_, _| Fit::Now, work, finished).map(drop)
}

/// As [`distribute`], with workers that may give up, and jobs that may have to wait for others. A worker takes the first
/// job that fits, and ends where none does. Gives the jobs that are left, with their positions: those that were given
/// up when the others had ended already, and those that fit nobody who works.
///
/// The first job never has to wait. With `beside`, one worker alone has a thread of its own, too.
pub(super) fn distribute_to_some<W: Send, J: Send, R: Send>(
    workers: &mut [W], beside: bool, jobs: Vec<J>, fit: impl Fn(&W, &J) -> Fit + Sync,
    work: impl Fn(&mut W, J) -> JobEnd<J, R> + Sync, mut finished: impl FnMut(usize, R),
) -> Result<Vec<(usize, J)>> {
    let mailbox = Mutex::new(Mailbox { results: room(jobs.len())?, senders: 0 });
    let arrived = Condvar::new();
    let mut seats = room(workers.len())?;
    seats.extend(workers.iter_mut().map(Mutex::new));
    let shared = Shared::new(jobs)?;
    let take = |worker: &W| shared.take(|job| fit(worker, job));
    // Gives what came out of a job, and whether the worker goes on.
    let done = |worker: &mut W, position: usize, job: J| match work(worker, job) {
        JobEnd::Done(result) => (Some(result), true),
        JobEnd::Last(result) => (Some(result), false),
        JobEnd::GivenUp(job) => {
            shared.put_back(position, job);
            (None, false)
        }
    };
    // The calling thread only takes what the others send.
    let alone = seats.len() == 1 && !beside;
    let gang = if alone { Gang::ALONE } else { Gang::of(seats.len() + 1) };
    lock(&mailbox).senders = gang.threads() - 1;
    if gang.threads() > 1 {
        let send = |index: usize| {
            let _done = SenderDone(&mailbox, &arrived);
            let _closing = Closing(&shared);
            let mut worker = lock(&seats[index - 1]);
            while let Some((position, job)) = take(&worker) {
                let (result, goes_on) = done(&mut worker, position, job);
                if let Some(result) = result {
                    lock(&mailbox).results.push((position, result));
                    arrived.notify_one();
                }
                if !goes_on {
                    break;
                }
            }
        };
        gang.run_beside(&send, || {
            let _closing = Closing(&shared);
            loop {
                let mut letters = lock(&mailbox);
                while letters.results.is_empty() && letters.senders > 0 {
                    letters = arrived.wait(letters).unwrap_or_else(PoisonError::into_inner);
                }
                let Some((position, result)) = letters.results.pop() else { break };
                drop(letters);
                finished(position, result);
                shared.advance();
            }
        });
    }
    // Without threads of their own all jobs are still there.
    if gang.threads() == 1 {
        for worker in &seats {
            let mut worker = lock(worker);
            while let Some((position, job)) = take(&worker) {
                let (result, goes_on) = done(&mut worker, position, job);
                if let Some(result) = result {
                    finished(position, result);
                }
                if !goes_on {
                    break;
                }
            }
        }
    }
    drop(gang);
    let left = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(left.jobs.into())
}

/// A thread sends no more, be it that it panicked.
struct SenderDone<'a, R>(&'a Mutex<Mailbox<R>>, &'a Condvar);

impl<R> Drop for SenderDone<'_, R> {
    fn drop(&mut self) {
        lock(self.0).senders -= 1;
        self.1.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn every_job_is_done_once_and_reported_here() {
        for threads in [1, 2, 5] {
            let mut done = vec![0; threads];
            let mut results = vec![None; 100];
            let here = std::thread::current().id();
            distribute(
                &mut done,
                (0..100).collect(),
                |count, job: usize| {
                    *count += 1;
                    job * job
                },
                |index, square| {
                    assert_eq!(std::thread::current().id(), here);
                    assert_eq!(results[index].replace(square), None);
                },
            )
            .unwrap();
            assert_eq!(done.iter().sum::<usize>(), 100);
            assert!(results.iter().enumerate().all(|(job, square)| *square == Some(job * job)));
        }
    }

    #[test]
    fn what_one_gives_up_is_done_by_another_or_is_left() {
        // Jobs below ten suit the worker 0 only; 1 and 2 break down.
        for (breaks, left_over) in
            [(vec![1], vec![]), (vec![0], vec![4, 5]), (vec![0, 1], vec![0, 1, 2, 3, 4, 5])]
        {
            let mut results = [None; 6];
            let left = distribute_to_some(
                &mut [0, 1],
                false,
                vec![10, 11, 12, 13, 4, 5],
                |worker, &job| if job >= 10 || *worker == 0 { Fit::Now } else { Fit::No },
                |worker, job| {
                    if breaks.contains(worker) {
                        JobEnd::GivenUp(job)
                    } else {
                        JobEnd::Done(job * 2)
                    }
                },
                |position, result: i32| results[position] = Some(result),
            )
            .unwrap();
            let mut left: Vec<usize> = left.into_iter().map(|(position, _)| position).collect();
            left.sort_unstable();
            // What was given up when the other one had ended is left, too.
            assert!(left_over.iter().all(|position| left.contains(position)), "{left:?}");
            for (position, result) in results.iter().enumerate() {
                let wanted = [20, 22, 24, 26, 8, 10][position];
                assert_eq!(*result, (!left.contains(&position)).then_some(wanted));
            }
        }
        let last = distribute_to_some(
            &mut [()],
            false,
            vec![1, 2],
            |(), _| Fit::Now,
            |(), job| JobEnd::Last(job),
            |position, job: i32| assert_eq!((position, job), (0, 1)),
        );
        assert_eq!(last.unwrap(), [(1, 2)]);
    }

    #[test]
    fn no_job_begins_too_early_also_after_one_was_given_up() {
        for (workers, beside, gives_up) in [
            (1, false, None),
            (1, true, None),
            (3, false, None),
            (3, false, Some(0)),
            (3, true, Some(7)),
        ] {
            // How many are finished, in order; a job may begin when the one that is 4 before it is.
            let finished = AtomicUsize::new(0);
            let mut ended = [false; 200];
            let gave_up = AtomicBool::new(false);
            let left = distribute_to_some(
                &mut vec![(); workers],
                beside,
                (0..200).collect(),
                |(), &job| match job < finished.load(Ordering::Relaxed) + 4 {
                    true => Fit::Now,
                    false => Fit::Later,
                },
                |(), job: usize| {
                    assert!(job < finished.load(Ordering::Relaxed) + 4);
                    if gives_up == Some(job) && !gave_up.swap(true, Ordering::Relaxed) {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                        return JobEnd::GivenUp(job);
                    }
                    JobEnd::Done(job)
                },
                |position, job| {
                    assert_eq!(position, job);
                    ended[job] = true;
                    let leading = ended.iter().take_while(|&&ended| ended).count();
                    finished.store(leading, Ordering::Relaxed);
                },
            );
            assert_eq!(left.unwrap(), []);
            assert!(ended.iter().all(|&ended| ended));
        }
    }

    #[test]
    fn nobody_waits_for_what_a_panic_has_ended() {
        for panics_here in [false, true] {
            let outcome = std::panic::catch_unwind(|| {
                let finished = AtomicUsize::new(0);
                distribute_to_some(
                    &mut [(), (), ()],
                    false,
                    (0..100).collect(),
                    |(), &job: &usize| match job < finished.load(Ordering::Relaxed) + 2 {
                        true => Fit::Now,
                        false => Fit::Later,
                    },
                    |(), job| {
                        assert!(panics_here || job != 10, "as the test wants it");
                        JobEnd::Done(job)
                    },
                    |_, job| {
                        assert!(!panics_here || job != 10, "as the test wants it");
                        finished.fetch_add(1, Ordering::Relaxed);
                    },
                )
            });
            assert!(outcome.is_err());
        }
    }

    #[test]
    fn no_jobs_and_a_job_that_panics() {
        distribute(&mut [(), ()], Vec::<()>::new(), |(), ()| (), |_, ()| unreachable!()).unwrap();
        let outcome = std::panic::catch_unwind(|| {
            let work = |_: &mut (), job: usize| assert_ne!(job, 3, "as the test wants it");
            distribute(&mut [(), ()], (0..9).collect(), work, |_, ()| {})
        });
        assert!(outcome.is_err());
    }
}
