//! From which sizes of graphs and batches on several threads pay, as measured.

/// From which sizes on several threads pay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Graphs with fewer edges per thread than this leave threads unused.
    pub(super) edges_per_thread: usize,
    /// Number of edges from which on a batch runs on all threads: worth the time of a few barriers.
    pub(super) wide_batch: usize,
    /// What the barriers of such a batch cost for each thread, in messages read or written by one
    /// thread that takes the edges in their own order.
    pub(super) barriers: f64,
    /// What a message read or written costs in such a batch, in the same measure.
    pub(super) in_wide_batches: f64,
    /// The same for the other batches, which one thread runs between barriers.
    pub(super) in_narrow_batches: f64,
    /// Share of one thread's time at which several are worth while.
    pub(super) worthwhile: f64,
}

impl Tuning {
    /// The costs follow from SEQFIX on sunflow, luindex and ftp with 4, 8 and 16 threads (16 cores of a
    /// Xeon): they tell in all nine whether several threads are faster.
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
