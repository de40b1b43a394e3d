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
    distribute_to_some(workers, jobs, |_, _| true, work, finished).map(drop)
}

/// As [`distribute`], with workers that may give up. A worker takes the first job that suits it, and ends where
/// none does. Gives the jobs that are left, with their positions: those that were given up when the others had
/// ended already, and those that suit nobody who works.
pub(super) fn distribute_to_some<W: Send, J: Send, R: Send>(
    workers: &mut [W], jobs: Vec<J>, suits: impl Fn(&W, &J) -> bool + Sync,
    work: impl Fn(&mut W, J) -> JobEnd<J, R> + Sync, mut finished: impl FnMut(usize, R),
) -> Result<Vec<(usize, J)>> {
    let mailbox = Mutex::new(Mailbox { results: room(jobs.len())?, senders: 0 });
    let arrived = Condvar::new();
    let mut seats = room(workers.len())?;
    seats.extend(workers.iter_mut().map(Mutex::new));
    let mut waiting: VecDeque<(usize, J)> = room(jobs.len())?.into();
    waiting.extend(jobs.into_iter().enumerate());
    let queue = Mutex::new(waiting);
    let take = |worker: &W| {
        let mut queue = lock(&queue);
        let first = queue.iter().position(|(_, job)| suits(worker, job))?;
        queue.remove(first)
    };
    // Gives what came out of a job, and whether the worker goes on.
    let done = |worker: &mut W, position: usize, job: J| match work(worker, job) {
        JobEnd::Done(result) => (Some(result), true),
        JobEnd::Last(result) => (Some(result), false),
        JobEnd::GivenUp(job) => {
            // There is room: it was in the queue before.
            lock(&queue).push_front((position, job));
            (None, false)
        }
    };
    // The calling thread only takes what the others send.
    let gang = if seats.len() > 1 { Gang::of(seats.len() + 1) } else { Gang::ALONE };
    lock(&mailbox).senders = gang.threads() - 1;
    if gang.threads() > 1 {
        let send = |index: usize| {
            let _done = SenderDone(&mailbox, &arrived);
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
            loop {
                let mut letters = lock(&mailbox);
                while letters.results.is_empty() && letters.senders > 0 {
                    letters = arrived.wait(letters).unwrap_or_else(PoisonError::into_inner);
                }
                let Some((position, result)) = letters.results.pop() else { break };
                drop(letters);
                finished(position, result);
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
    let left = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(left.into())
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
                vec![10, 11, 12, 13, 4, 5],
                |worker, &job| job >= 10 || *worker == 0,
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
            vec![1, 2],
            |(), _| true,
            |(), job| JobEnd::Last(job),
            |position, job: i32| assert_eq!((position, job), (0, 1)),
        );
        assert_eq!(last.unwrap(), [(1, 2)]);
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
