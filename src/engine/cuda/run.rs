//! The host's part in a run on a device: launch after launch, until the rule or somebody ends it.

use super::control::Standing;
use super::driver::{Current, DeviceBuffer, PinnedBuffer, Queue};
use super::interface::run::{GO_FIRST, GO_STRIDE, IterationLog, Loop, Rule, RunState};
use super::parts::Part;
use super::program::Program;
use crate::engine::{Control, Progress, RunRequest, StopReason, StopRule};
use crate::error::Result;
use crate::memory::filled;
use std::time::{Duration, Instant};

/// Most iterations of a launch.
const MOST_ITERATIONS: u64 = 4096;
/// Iterations of the first launch: some milliseconds at most on graphs of the usual sizes.
const FIRST_ITERATIONS: u64 = 16;
/// How long a launch should take at most, since only between launches the host can end a run.
const LAUNCH_TIME: Duration = Duration::from_millis(20);

/// What the host and the kernels tell each other with.
pub(super) struct Launches {
    control: DeviceBuffer<RunState>,
    state: PinnedBuffer<RunState>,
    /// On the device, since it is slow to write to the host's memory from there.
    log: DeviceBuffer<IterationLog>,
    logged: Vec<IterationLog>,
    /// The grid barrier: a counter, then some words for each block.
    barrier: DeviceBuffer<u32>,
}

/// A run whose program is ready to begin it.
pub(super) struct Task<'a> {
    pub part: Part<'a>,
    /// Variables and factors.
    pub nodes: usize,
    /// Variables.
    pub variables: usize,
    /// Which of the program's buffers has the messages.
    pub buffer: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Stopped(StopReason),
    /// Deterministic messages disagree, at this variable first.
    Contradiction {
        variable: usize,
    },
}

impl Launches {
    pub(super) fn new(current: &Current) -> Result<Self> {
        let blocks = current.device().multiprocessors()? as usize;
        Ok(Self {
            control: DeviceBuffer::new(current, 1)?,
            state: PinnedBuffer::zeroed(current, 1)?,
            log: DeviceBuffer::new(current, MOST_ITERATIONS as usize)?,
            logged: filled(MOST_ITERATIONS as usize, IterationLog::default())?,
            barrier: DeviceBuffer::new(current, GO_FIRST + GO_STRIDE * blocks)?,
        })
    }

    /// Starts the kernels of plain runs without an iteration: so the driver takes now what memory it wants for them, and
    /// not in the middle of a run.
    pub(super) fn warm_up(&mut self, queue: Queue<'_>, program: &mut dyn Program) -> Result<()> {
        if program.iterations_per_launch().is_some() {
            // A launch would prepare the next iteration.
            return Ok(());
        }
        let rules =
            [StopRule::Iterations(0), StopRule::Tolerance { tolerance: 0.0, max_iterations: 0 }];
        // By levels, one kernel makes both.
        let kernels = if program.by_levels() { 1 } else { rules.len() };
        for rule in rules.into_iter().take(kernels) {
            let request = RunRequest { rough_progress: true, ..RunRequest::new(rule) };
            self.state[0] = RunState::new(0);
            self.control.upload(queue, 0, &self.state)?;
            self.barrier.zero(queue)?;
            let rule = Rule::new(&request, 0, program.by_levels());
            program.launch(queue, &self.iterations(rule, 0))?;
            queue.synchronize()?;
        }
        Ok(())
    }

    /// Iterations until so many of the run are done.
    fn iterations(&self, rule: Rule, limit: u64) -> Loop {
        Loop {
            rule,
            limit,
            control: (&self.control).into(),
            log: (&self.log).into(),
            barrier: (&self.barrier).into(),
        }
    }

    /// Runs iterations; `monitor` hears of each, but of none in which a contradiction was found. Gives how the
    /// run ended, and its last state.
    pub(super) fn run(
        &mut self, queue: Queue<'_>, program: &mut dyn Program, task: &Task<'_>,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<(End, RunState)> {
        let Part { request, started, looks_at_factors, .. } = task.part;
        let max_iterations = request.rule.most_iterations();
        let is_bingo = matches!(request.rule, StopRule::Bingo { .. });
        let rule = Rule::new(request, task.nodes, program.by_levels());
        let most = match request.observe {
            // What a launch leaves behind tells of its last iteration.
            true => 1,
            false => program.iterations_per_launch().unwrap_or(MOST_ITERATIONS),
        };
        let most = most.clamp(1, MOST_ITERATIONS);
        let measured_nodes = if is_bingo { task.nodes } else { task.variables };
        self.state[0] = RunState::new(task.buffer);
        self.control.upload(queue, 0, &self.state)?;
        if max_iterations > 0 && request.max_time.is_some_and(|limit| started.elapsed() >= limit) {
            return Ok((End::Stopped(StopReason::Time), self.state[0]));
        }
        let mut size = FIRST_ITERATIONS.min(most);
        loop {
            let done = self.state[0].iterations;
            let limit = done + size.min(max_iterations.saturating_sub(done));
            let rule = if request.observe { rule.observed(limit) } else { rule };
            let iterations = self.iterations(rule, limit);
            let launched = Instant::now();
            self.barrier.zero(queue)?;
            program.launch(queue, &iterations)?;
            self.control.download(queue, 0, &mut self.state)?;
            let state = self.state[0];
            let standing = match state.standing() {
                // Of the launch only.
                Standing::Ended(StopReason::Iterations)
                    if request.observe && state.iterations < max_iterations =>
                {
                    Standing::Running
                }
                standing => standing,
            };
            // Where all messages are sent at once, a state is judged when its messages are read.
            let unheard = matches!(standing, Standing::Contradiction { .. })
                && (program.by_levels() || looks_at_factors || state.last_iteration_failed());
            let logged = &mut self.logged[..(state.iterations - done) as usize];
            self.log.download(queue, 0, logged)?;
            let mut cancelled = false;
            for (iteration, &IterationLog { max_diff, active_fraction }) in
                (done + 1..).zip(&*logged)
            {
                let progress = Progress {
                    iterations: iteration,
                    max_iterations,
                    max_diff,
                    active_fraction,
                    unconverged: match (request.observe, is_bingo) {
                        (true, _) => Some(state.unconverged(measured_nodes)),
                        (false, true) => Some(active_fraction),
                        (false, false) => None,
                    },
                    contradictions: (request.observe)
                        .then(|| state.contradictory_places(program.by_levels())),
                };
                if !(unheard && iteration == state.iterations) {
                    cancelled |= monitor(&progress) == Control::Cancel;
                }
            }
            match standing {
                Standing::Ended(reason) => return Ok((End::Stopped(reason), state)),
                Standing::Contradiction { variable } => {
                    return Ok((End::Contradiction { variable }, state));
                }
                Standing::Running if cancelled => {
                    return Ok((End::Stopped(StopReason::Cancelled), state));
                }
                Standing::Running => {}
            }
            if request.max_time.is_some_and(|limit| started.elapsed() >= limit) {
                return Ok((End::Stopped(StopReason::Time), state));
            }
            let per_iteration = launched.elapsed().as_nanos() / u128::from(size);
            let fitting = LAUNCH_TIME.as_nanos() / per_iteration.max(1);
            let fitting = u64::try_from(fitting).unwrap_or(u64::MAX);
            // What a launch takes besides its iterations makes this too few rather than too many.
            size = fitting.clamp(size / 2 + 1, 64 * size).clamp(1, most);
        }
    }
}
