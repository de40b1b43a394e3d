//! How fast this machine copies memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long each thread copies.
const DURATION: Duration = Duration::from_millis(40);

/// Bytes read and written per second by so many threads, each of which copies its part of `bytes` bytes
/// (half of them read, half written) again and again: from the caches where they fit. `None` where there
/// are less than 16 bytes per thread, and where memory or threads cannot be had.
pub fn copy_speed(bytes: u64, threads: usize) -> Option<f64> {
    let words = usize::try_from(bytes / 16).ok()?.checked_div(threads)?;
    if words == 0 {
        return None;
    }
    let mut buffers = Vec::new();
    for _ in 0..threads {
        buffers.push((buffer(words)?, buffer(words)?));
    }
    std::thread::scope(|scope| {
        let copying = buffers.iter_mut().map(|(from, to)| {
            std::thread::Builder::new().spawn_scoped(scope, || copy(from, to)).ok()
        });
        let copying: Vec<_> = copying.collect();
        copying.into_iter().map(|thread| thread?.join().ok()).sum()
    })
}

fn buffer(words: usize) -> Option<Vec<u64>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(words).ok()?;
    // Written, so that the memory is really there.
    buffer.resize(words, 1);
    Some(buffer)
}

/// Bytes per second of one thread.
fn copy(from: &[u64], to: &mut [u64]) -> f64 {
    to.copy_from_slice(from);
    let started = Instant::now();
    let mut words = 0;
    // Small buffers are copied many times before the clock is asked.
    let rounds = (1 << 16) / from.len() + 1;
    while started.elapsed() < DURATION {
        for _ in 0..rounds {
            to.copy_from_slice(black_box(from));
            black_box(&mut *to);
        }
        words += rounds * from.len();
    }
    words as f64 * 16.0 / started.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_there_for_what_can_be_copied() {
        for (bytes, threads) in [(16, 1), (1 << 20, 3)] {
            let speed = copy_speed(bytes, threads).unwrap();
            assert!(speed > 1e6 && speed.is_finite(), "{speed}");
        }
        assert_eq!(copy_speed(15, 1), None);
        assert_eq!(copy_speed(47, 3), None);
        assert_eq!(copy_speed(1 << 10, 0), None);
        assert_eq!(copy_speed(u64::MAX, 1), None);
    }
}
