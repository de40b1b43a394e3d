//! The sizes and costs that decide between one thread and several.

/// The sizes from which on several threads are used. Costs are in messages read or written by one thread that
/// updates the edges in schedule order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Least number of edges per thread: a smaller graph uses fewer threads.
    pub(super) edges_per_thread: usize,
    /// Least number of edges of a batch that runs on all threads: it outweighs its barriers.
    pub(super) wide_batch: usize,
    /// Cost of the barriers of such a batch, per thread.
    pub(super) barriers: f64,
    /// Cost of a message read or written in such a batch, divided by the number of threads.
    pub(super) in_wide_batches: f64,
    /// Cost of a message read or written in a narrower batch, which one thread runs between barriers.
    pub(super) in_narrow_batches: f64,
    /// Several threads are used if their estimated time is below this share of one thread's.
    pub(super) worthwhile: f64,
}

impl Tuning {
    /// Measured: SEQFIX on sunflow, luindex and ftp with 4, 8 and 16 threads on a Xeon with 16 cores. In all nine
    /// cases these numbers predict whether several threads are faster.
    pub(super) const MEASURED: Self = Self {
        edges_per_thread: 4096,
        wide_batch: 512,
        barriers: 60.0,
        in_wide_batches: 2.5,
        in_narrow_batches: 3.0,
        worthwhile: 0.78,
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Self::MEASURED
    }
}
