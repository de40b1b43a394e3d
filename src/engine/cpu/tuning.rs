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
        /// Least number of edges of batches with edges of many factors, on average, for which it pays to compute all
        /// messages of a variable together.
        mixed_batch: usize = 16,
        /// What batches cost on several threads.
        one_step: BatchCosts =
            BatchCosts { barriers: 60.0, in_wide_batches: 2.5, in_narrow_batches: 3.0 },
        /// The same in two steps: BLOCKS, FWDBWD and TREE on generated graphs of 5,000 to 800,000 edges with 2 to 16 threads of the
        /// host of an H200, from 0.1 to 2 times one thread's time.
        two_steps: BatchCosts =
            BatchCosts { barriers: 400.0, in_wide_batches: 2.2, in_narrow_batches: 2.0 },
        /// Estimated nanoseconds of a batch of one factor on its thread, beside those of its messages.
        task: u64 = 10,
        /// Of a message that is read or written.
        message: u64 = 5,
        /// Of a variable whose products are stored, for reading and replacing a message.
        high_degree: u64 = 25,
        /// Until another thread can see what a thread has written.
        latency: u64 = 200,
        /// Of a variable whose messages another thread wrote last.
        transfer: u64 = 60,
        /// By which a batch may start later than it could on another thread, to stay with what it reads.
        patience: u64 = 1000,
        /// How many times as long it takes for a variable whose products are stored.
        transfer_of_products: u32 = 3,
        /// Messages lie lane by lane if lanes then exchange at most this share of the cache lines that they exchange where
        /// messages lie in the order of the graph.
        worthwhile_layout: f64 = 0.85,
        /// Until an iteration has begun on a thread and its end is known, for each of the threads.
        beginning: u64 = 300,
        /// Several threads run lanes if their estimated time is below this share of one thread's. While they run, times are
        /// compared (see `pace`).
        worthwhile_lanes: f64 = 0.9,
        /// Iterations that one thread runs at first, for comparison. The fastest one counts: in the first ones, what it reads is
        /// not in its cache, and the processor may not have its speed.
        first_alone: u64 = 3,
        /// How many times as long as one thread several may take for an iteration until they give it up.
        given_up: f64 = 2.0,
        /// How many times as long as a trial of marks an active set goes on without them at first. Without end, they are never
        /// tried; where it is 0, they are used from the start.
        patience_without_marks: f64 = 4.0,
        /// How many times as long as an iteration without marks one by marks may take.
        marks_bound: f64 = 1.0,
        /// Largest degree of a variable at which an active set marks the messages that read a changed one.
        marking_degree: usize = 64,
        /// Levels of a random order with fewer messages are run by one thread.
        narrow_level: u32 = 8,
        /// Bytes of the random orders that are found at once, and how many are whatever they take.
        window_bytes: usize = 64 << 20,
        least_window: usize = 4,
        /// Several threads update messages of a random order if factors of high arity read at most this many messages for each edge
        /// of the graph.
        high_arity_reads: u64 = 4,
        /// Several threads are used if their estimated time is below this share of one thread's.
        worthwhile: f64 = 0.78,
    }
}

/// What batches cost on several threads; see [`Tuning`] for the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchCosts {
    /// The barriers of a wide batch, which runs on all threads: for each thread.
    pub(super) barriers: f64,
    /// A message read or written in such a batch, divided by the number of threads.
    pub(super) in_wide_batches: f64,
    /// A message read or written in a narrower batch, which one thread runs between barriers.
    pub(super) in_narrow_batches: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::MEASURED
    }
}
