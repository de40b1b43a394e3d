//! The sizes and costs that decide between one thread and several.

measured! {
    /// The sizes from which on several threads are used. Costs are in messages read or written by one thread that
    /// updates the edges in schedule order.
    ///
    /// Measured: SEQFIX on sunflow, luindex and ftp with 4, 8 and 16 threads on a Xeon with 16 cores. In all nine
    /// cases these numbers predict whether several threads are faster.
    struct Tuning {
        /// Least number of edges per thread: a smaller graph uses fewer threads.
        edges_per_thread: usize = 4096,
        /// Least number of edges of a batch that runs on all threads: it outweighs its barriers.
        wide_batch: usize = 512,
        /// Cost of the barriers of such a batch, per thread.
        barriers: f64 = 60.0,
        /// Cost of a message read or written in such a batch, divided by the number of threads.
        in_wide_batches: f64 = 2.5,
        /// Cost of a message read or written in a narrower batch, which one thread runs between barriers.
        in_narrow_batches: f64 = 3.0,
        /// Largest degree of a variable at which an active set marks the messages that read a changed one.
        marking_degree: usize = 64,
        /// Several threads are used if their estimated time is below this share of one thread's.
        worthwhile: f64 = 0.78,
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::MEASURED
    }
}
