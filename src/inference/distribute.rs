//! Jobs handed out to threads.

use std::sync::Mutex;
use std::sync::mpsc::channel;

/// Does all jobs, each by the next worker that is free; every worker has a thread of its own, but one
/// worker alone works on the calling thread. `finished` gets what came out of each job with its
/// position, in the order in which they end, on the calling thread.
///
/// There is at least one worker; those whose threads cannot be started are done without. A job that
/// panics lets this panic when the others have ended.
pub(super) fn distribute<W: Send, J: Send, R: Send>(
    workers: &mut [W],
    jobs: Vec<J>,
    work: impl Fn(&mut W, J) -> R + Sync,
    mut finished: impl FnMut(usize, R),
) {
    let queue = Mutex::new(jobs.into_iter().enumerate());
    let take = || match queue.lock() {
        Ok(mut queue) => queue.next(),
        // Taking the next one cannot be left half done.
        Err(poisoned) => poisoned.into_inner().next(),
    };
    if workers.len() > 1 {
        std::thread::scope(|scope| {
            let (sender, results) = channel();
            for (number, worker) in workers.iter_mut().enumerate() {
                let (sender, take, work) = (sender.clone(), &take, &work);
                let thread = std::thread::Builder::new().name(format!("fastlbp-entry-{number}"));
                let spawned = thread.spawn_scoped(scope, move || {
                    while let Some((index, job)) = take() {
                        // The receiver is there until all senders are gone.
                        let _ = sender.send((index, work(worker, job)));
                    }
                });
                if spawned.is_err() {
                    break;
                }
            }
            drop(sender);
            for (index, result) in results {
                finished(index, result);
            }
        });
    }
    // Without threads of their own all jobs are still there.
    if let Some(worker) = workers.first_mut() {
        while let Some((index, job)) = take() {
            finished(index, work(worker, job));
        }
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
            );
            assert_eq!(done.iter().sum::<usize>(), 100);
            assert!(results.iter().enumerate().all(|(job, square)| *square == Some(job * job)));
        }
    }

    #[test]
    fn no_jobs_and_a_job_that_panics() {
        distribute(&mut [(), ()], Vec::<()>::new(), |(), ()| (), |_, ()| unreachable!());
        let outcome = std::panic::catch_unwind(|| {
            let work = |_: &mut (), job: usize| assert_ne!(job, 3, "as the test wants it");
            distribute(&mut [(), ()], (0..9).collect(), work, |_, ()| {})
        });
        assert!(outcome.is_err());
    }
}
