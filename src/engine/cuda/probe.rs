//! What the engine needs of a device, tried.

use super::driver::{
    Argument, Current, DeviceBuffer, Event, Graph, Launch, Module, PinnedBuffer, Stream,
};
use super::kernels::{PROBE, PROBE_CLUSTER};
use crate::engine::device::DeviceTimes;
use crate::error::{Error, Result};
use crate::memory::filled;

/// Values whose sums, products and quotients tell other arithmetic from IEEE's: contraction, flushing
/// to zero, approximate division.
const TRIPLES: [[f64; 3]; 10] = [
    // The product is 1 + 2^-51 + 2^-104: only without a contraction does -(1 + 2^-51) cancel it.
    [1.0 + f64::EPSILON, 1.0 + f64::EPSILON, -(1.0 + 2.0 * f64::EPSILON)],
    [0.1, 10.0, -1.0],
    [1.0, 3.0, 0.5],
    [2.0, 7.0, -0.25],
    [f64::MIN_POSITIVE, 0.5, 0.0],
    [f64::MIN_POSITIVE, 3.0, -f64::MIN_POSITIVE],
    [5e-324, 0.75, 5e-324],
    [1e-160, 1.1e-160, 1e-310],
    [f64::MAX, 0.99, f64::MAX],
    [1e200, 1e200, 1.0],
];

/// What the kernel computes from a triple.
fn expected([a, b, c]: [f64; 3]) -> [f64; 4] {
    let product = a * b;
    [product + c, a / b, a - b, product]
}

/// Runs of the kernel in the graph, and rounds of the barriers.
const REPEATED: u32 = 200;
/// Threads of a block.
const THREADS: u32 = 128;
/// Blocks of the largest clusters, and of those that every device with clusters allows.
const CLUSTERS: [u32; 2] = [16, 8];
/// Bytes of shared memory of a block of a cluster: more than the 48 KiB of every device.
const SHARED: u32 = 64 << 10;

/// Tries everything; the times are those of the second run of each.
pub(super) fn check(current: &Current) -> Result<DeviceTimes> {
    let probe = Probe { current, stream: Stream::new(current)? };
    let module = PROBE.load(current)?;
    let kernel = probe.check_arithmetic(&module)?;
    let barrier = probe.check_barrier(&module)?;
    let clusters = current.device().compute_capability()? >= (9, 0);
    let cluster_barrier = if clusters { Some(probe.check_cluster()?) } else { None };
    Ok(DeviceTimes { kernel, barrier, cluster_barrier })
}

struct Probe<'a> {
    current: &'a Current,
    stream: Stream,
}

impl Probe<'_> {
    fn fails(&self, what: String) -> Error {
        let device = self.current.device();
        let name = device.name().unwrap_or_default();
        Error::Device(format!("CUDA device {} ({name}) is of no use: {what}", device.index()))
    }

    /// Seconds that the device takes for some work, the second time.
    fn time(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        let (start, end) = (Event::new(self.current)?, Event::new(self.current)?);
        work()?;
        start.record(self.stream.queue(self.current))?;
        work()?;
        end.record(self.stream.queue(self.current))?;
        end.synchronize(self.current)?;
        end.seconds_since(self.current, &start)
    }

    /// The arithmetic, within a graph, with results in memory of the host.
    fn check_arithmetic(&self, module: &std::sync::Arc<Module>) -> Result<f64> {
        let queue = self.stream.queue(self.current);
        let kernel = module.kernel(c"probe_arithmetic");
        let triples = DeviceBuffer::from_slice(queue, TRIPLES.as_flattened())?;
        let results = PinnedBuffer::<f64>::zeroed(queue.current, 4 * TRIPLES.len())?;
        let count = TRIPLES.len() as u32;
        let mut graph = Graph::record(queue, || {
            for _ in 0..REPEATED {
                let arguments = [
                    Argument::buffer(&triples),
                    Argument::pinned(&results),
                    Argument::value(&count),
                ];
                // SAFETY: the arguments of the kernel; it writes 4 numbers per triple.
                unsafe { kernel.launch(queue, Launch::new(1, THREADS), arguments)? };
            }
            Ok(())
        })?;
        // SAFETY: the buffers stay to the end of this function, which waits.
        let time = self.time(|| unsafe { graph.launch(queue) })?;
        while !queue.stream.is_idle(queue.current)? {
            std::thread::yield_now();
        }
        for (&triple, found) in TRIPLES.iter().zip(results.chunks_exact(4)) {
            let wanted = expected(triple);
            if wanted.iter().zip(found).any(|(wanted, found)| wanted.to_bits() != found.to_bits()) {
                return Err(self.fails(format!(
                    "a * b + c, a / b, a - b, a * b of {triple:?} are {found:?} instead of {wanted:?}"
                )));
            }
        }
        Ok(time / f64::from(REPEATED))
    }

    /// A barrier over all multiprocessors.
    fn check_barrier(&self, module: &std::sync::Arc<Module>) -> Result<f64> {
        let queue = self.stream.queue(self.current);
        let kernel = module.kernel(c"probe_barrier");
        if kernel.blocks_per_multiprocessor(THREADS, 0)? == 0 {
            return Err(self.fails(format!("no block of {THREADS} threads fits")));
        }
        let blocks = queue.current.device().multiprocessors()?;
        let values = DeviceBuffer::<u32>::new(queue.current, blocks as usize)?;
        let arrived = DeviceBuffer::<u32>::new(queue.current, 1)?;
        let launch = Launch { cooperative: true, ..Launch::new(blocks, THREADS) };
        self.time_rounds(&values, "a barrier over all multiprocessors", || {
            values.zero(queue)?;
            arrived.zero(queue)?;
            let arguments =
                [Argument::buffer(&values), Argument::buffer(&arrived), Argument::value(&REPEATED)];
            // SAFETY: the arguments of the kernel; `values` has an entry per block.
            unsafe { kernel.launch(queue, launch, arguments) }
        })
    }

    /// A barrier and shared memory over a cluster.
    fn check_cluster(&self) -> Result<f64> {
        let queue = self.stream.queue(self.current);
        let module = PROBE_CLUSTER.load(queue.current)?;
        let kernel = module.kernel(c"probe_cluster").with_shared(SHARED);
        // Some devices refuse these, or say of 16 blocks that none fit; 8 are enough.
        let _ = kernel.allow_large_clusters();
        let launches = CLUSTERS.map(|cluster| Launch {
            cluster,
            shared: SHARED,
            ..Launch::new(cluster, THREADS)
        });
        let mut fitting = None;
        for launch in launches {
            if fitting.is_none() && kernel.clusters(&launch).is_ok_and(|clusters| clusters > 0) {
                fitting = Some(launch);
            }
        }
        let Some(launch) = fitting else {
            let [_, blocks] = CLUSTERS;
            return Err(self.fails(format!("no cluster of {blocks} blocks fits")));
        };
        let values = DeviceBuffer::<u32>::zeroed(queue, launch.blocks as usize)?;
        self.time_rounds(&values, "a barrier over a cluster", || {
            let arguments =
                [Argument::buffer(&values), Argument::value(&REPEATED), Argument::value(&SHARED)];
            // SAFETY: the arguments of the kernel; `values` has an entry per block.
            unsafe { kernel.launch(queue, launch, arguments) }
        })
    }

    /// Seconds that a barrier takes: `work` goes through `REPEATED` rounds of two, and counts them in `values` for each
    /// block.
    fn time_rounds(
        &self, values: &DeviceBuffer<u32>, what: &str, work: impl FnMut() -> Result<()>,
    ) -> Result<f64> {
        let time = self.time(work)?;
        let mut found = filled(values.len(), 0)?;
        let copy = DeviceBuffer::new(self.current, values.len())?;
        copy.copy_from(self.stream.queue(self.current), values)?;
        copy.download(self.stream.queue(self.current), 0, &mut found)?;
        match found.iter().position(|&value| value != REPEATED) {
            Some(block) => Err(self.fails(format!(
                "after {REPEATED} rounds of {what}, block {block} counts {}",
                found[block]
            ))),
            None => Ok(time / f64::from(2 * REPEATED)),
        }
    }
}
