//! Jobs handed out to threads.

use crate::error::Result;
use crate::memory::room;
use crate::threads::Gang;
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

/// Does all jobs, each by the next worker that is free; every worker has a thread of its own, but one
/// worker alone works on the calling thread. `finished` gets what came out of each job with its
/// position, in about the order in which they end, on the calling thread.
///
/// There is at least one worker; those whose threads cannot be started are done without. A job that
/// panics lets this panic when the others have ended. Errors: no memory, before any job is done.
pub(super) fn distribute<W: Send, J: Send, R: Send>(
    workers: &mut [W], jobs: Vec<J>, work: impl Fn(&mut W, J) -> R + Sync,
    mut finished: impl FnMut(usize, R),
) -> Result<()> {
    let mailbox = Mutex::new(Mailbox { results: room(jobs.len())?, senders: 0 });
    let arrived = Condvar::new();
    let mut seats = room(workers.len())?;
    seats.extend(workers.iter_mut().map(Mutex::new));
    let queue = Mutex::new(jobs.into_iter().enumerate());
    let take = || lock(&queue).next();
    // The calling thread only takes what the others send.
    let gang = if seats.len() > 1 { Gang::of(seats.len() + 1) } else { Gang::ALONE };
    lock(&mailbox).senders = gang.threads() - 1;
    if gang.threads() > 1 {
        let send = |index: usize| {
            let _done = SenderDone(&mailbox, &arrived);
            let mut worker = lock(&seats[index - 1]);
            while let Some((position, job)) = take() {
                let result = work(&mut worker, job);
                lock(&mailbox).results.push((position, result));
                arrived.notify_one();
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
    if let Some(worker) = seats.first() {
        while let Some((position, job)) = take() {
            let result = work(&mut lock(worker), job);
            finished(position, result);
        }
    }
    Ok(())
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
    fn no_jobs_and_a_job_that_panics() {
        distribute(&mut [(), ()], Vec::<()>::new(), |(), ()| (), |_, ()| unreachable!()).unwrap();
        let outcome = std::panic::catch_unwind(|| {
            let work = |_: &mut (), job: usize| assert_ne!(job, 3, "as the test wants it");
            distribute(&mut [(), ()], (0..9).collect(), work, |_, ()| {})
        });
        assert!(outcome.is_err());
    }
}
