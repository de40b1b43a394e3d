//! Work on many items at once, the results of which come in order.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// A thread of these needs little more than its buffers, which are on the heap.
const STACK_BYTES: usize = 1 << 20;

/// Does `work` for each item on so many threads, beside the calling one, which gets what comes of it in the order of the
/// items, until there is an error. Each thread has at most one result more than it works on, so that memory is bounded.
///
/// Threads take the items in turn. With one thread, or where none can be started, it is the calling one.
pub fn in_order<J: Sync, R: Send, E>(
    threads: usize, items: &[J], work: impl Fn(&J) -> R + Sync,
    mut deliver: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads < 2 {
        return items.iter().try_for_each(|item| deliver(work(item)));
    }
    thread::scope(|scope| {
        let work = &work;
        let start = |number: usize| -> Option<Receiver<R>> {
            let (sender, receiver) = sync_channel(1);
            let mut own = items.iter().skip(number).step_by(threads);
            // Nobody receives any more after an error.
            let run = move || own.all(|item| sender.send(work(item)).is_ok());
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, run).is_ok().then_some(receiver)
        };
        let lanes: Vec<Option<Receiver<R>>> = (0..threads).map(start).collect();
        for (index, item) in items.iter().enumerate() {
            match &lanes[index % threads] {
                Some(lane) => match lane.recv() {
                    Ok(result) => deliver(result)?,
                    // The thread has panicked, which the end of the scope passes on.
                    Err(_) => break,
                },
                None => deliver(work(item))?,
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_not_many_at_once() {
        let items: Vec<usize> = (0..500).collect();
        for threads in [1, 2, 7, 1000] {
            let (begun, mut ended) = (AtomicUsize::new(0), 0);
            let square = |item: &usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                item * item
            };
            let result = in_order(threads, &items, square, |result| {
                assert_eq!(result, ended * ended);
                ended += 1;
                // One that is worked on and one that waits to be sent or received.
                assert!(begun.load(Ordering::Relaxed) <= ended + 2 * threads);
                Ok::<_, ()>(())
            });
            assert_eq!((result, ended), (Ok(()), 500));
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let items: Vec<usize> = (0..500).collect();
        for threads in [1, 3] {
            let begun = AtomicUsize::new(0);
            let mut delivered = 0;
            let work = |item: &usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                if [20, 21, 300].contains(item) { Err(*item) } else { Ok(()) }
            };
            let result = in_order(threads, &items, work, |result| {
                delivered += usize::from(result.is_ok());
                result
            });
            assert_eq!((result, delivered), (Err(20), 20));
            assert!(begun.load(Ordering::Relaxed) < 40);
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        let outcome = std::panic::catch_unwind(|| {
            let work = |item: &usize| assert_ne!(*item, 3, "as the test wants it");
            in_order(2, &[0, 1, 2, 3, 4, 5], work, Ok::<_, ()>)
        });
        assert!(outcome.is_err());
    }
}
