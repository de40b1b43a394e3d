//! What engines and runs are expected to cost, on the processor and on a device.

use crate::engine::limits::{
    MOST_LEVEL_WORDS, MOST_VARIABLES, PARTS, PIECE, arities_with_own_warps,
    has_kernels_of_binary_variables, heights_of_pieces,
};
use crate::engine::request::{RunRequest, Start, StopRule};
use crate::kernel::Inference;
use crate::memory::Grow;
use crate::model::FactorGraph;
use crate::schedule::{Levels, Schedule};

measured! {
    /// The costs of single things, in seconds where nothing else is said.
    ///
    /// Measured on an H200 and 16 cores of its host (graphs of 3,600 to 1.9 million edges), but for
    /// `team_efficiency` (2 cores of an EPYC), what one thread takes to make engines (one of these), and `HighDegree::read`, a guess.
    struct Costs {
        /// CPU: a message of PARALL on one thread.
        cpu_parallel: f64 = 20e-9,
        /// CPU: an iteration of PARALL for each thread, if there are several: waiting for each other.
        cpu_wait: f64 = 7e-6,
        /// CPU: a message of SEQFIX.
        cpu_ordered: f64 = 17e-9,
        /// CPU: a message of another schedule, which jumps about or updates messages of many factors together: 13 to 130
        /// nanoseconds.
        cpu_scattered: f64 = 45e-9,
        /// CPU: what PARALL gains per thread, if there are several.
        team_efficiency: f64 = 0.8,
        /// CPU: what SEQFIX and TOPO gain per thread, if that makes it faster: 3 times on ftp and luindex with 16 threads, 5 to 11
        /// times on sunflow, 1.1 and 1.4 on the first two with 4, nothing with 2.
        lanes_efficiency: f64 = 0.25,
        /// CPU: what other schedules gain: half the number of threads where levels have so many messages.
        width_of_levels: f64 = 12_000.0,
        /// CPU: messages per thread below which threads are left unused.
        edges_per_thread: f64 = 4096.0,
        /// CPU: making an engine for PARALL, per edge.
        cpu_make: f64 = 70e-9,
        /// CPU: the same for another schedule, with its analysis, on one thread and for several.
        cpu_make_ordered: [f64; 2] = [120e-9, 450e-9],
        /// CPU: a run apart from its iterations, per state of a variable (results).
        cpu_run: f64 = 20e-9,
        /// CPU: factor by which damping slows iterations.
        cpu_damped: f64 = 2.5,
        /// CPU: factor by which an active set slows iterations before anything has come to rest.
        cpu_active: f64 = 1.3,
        /// CPU: factor by which maxima slow iterations.
        cpu_maxima: f64 = 2.4,
        /// Messages that take as long as one table entry does for one variable.
        table_entry: f64 = 0.1,
        /// Device: the start of the driver, with the first engine of a process; and how much of it there are other threads for, which
        /// make what engines are made of.
        driver_start: f64 = 0.23,
        driver_start_beside: f64 = 0.1,
        /// Device: making an engine, whatever its graph.
        device_make: f64 = 4e-3,
        /// Device: the same per edge for PARALL, with the copies.
        device_make_edge: f64 = 25e-9,
        /// Device: the same per edge for another schedule, with its analysis.
        device_make_level_edge: f64 = 250e-9,
        /// Device: a run apart from its iterations: launches, and waiting for them.
        device_run: f64 = 80e-6,
        /// Device: the same per state of a variable: copying results.
        device_run_state: f64 = 1e-9,
        /// Device: an iteration of PARALL, for sums over conjunctions of binary variables without damping.
        device_iteration: Step = Step::of(4.5e-6, 12e-12),
        /// Device: a level of another schedule, for such sums.
        device_level: Step = Step::of(0.8e-6, 12e-12),
        /// Device: an iteration of PARALL over conjunctions, damped, with an active set or of maxima.
        device_optional_iteration: Step = Step::of(6e-6, 60e-12),
        /// Device: an iteration of PARALL where some conjunctions are of more than 32 variables, or some factors no conjunctions: at
        /// least, and for each edge of these conjunctions.
        device_large_factors: Step = Step::of(18e-6, 0.35e-9),
        /// Device: the same by levels, for each such conjunction, and for each of its edges.
        device_large_factor_of_levels: Step = Step::of(7e-6, 0.35e-9),
        /// Device: a factor of several binary variables that is no conjunction, in an iteration of PARALL and of another schedule.
        device_other_factors: [f64; 2] = [3e-9, 30e-9],
        /// Device: a level of another schedule over conjunctions, damped, with an active set or of maxima, or where some are of more than 32 variables.
        device_optional_level: Step = Step::of(1.2e-6, 24e-12),
        /// Device: an iteration of PARALL, for anything else.
        device_general_iteration: Step = Step::of(17e-6, 0.09e-9),
        /// Device: a level of another schedule, for anything else.
        device_general_level: Step = Step::of(6e-6, 1.5e-9),
        /// Device: variables of so many factors that their messages are counted apart.
        high_degree: HighDegree = HighDegree { least: 64, read: 1e-12 },
        /// Moving the messages from one engine to another, per edge.
        transfer: f64 = 30e-9,
        /// Finding the levels of a schedule, per edge.
        analysis: f64 = 50e-9,
        /// Share of a CPU run that finding the levels may take.
        analysis_share: f64 = 0.1,
        /// Number of iterations of a run that nothing is known about.
        typical_iterations: u64 = 300,
    }
}

/// What the messages of an iteration, or of a level of one, cost on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// What waits for something else, however many messages there are.
    pub(super) wait: f64,
    /// A message, where many are computed at once.
    pub(super) edge: f64,
}

impl Step {
    pub(super) const fn of(wait: f64, edge: f64) -> Self {
        Self { wait, edge }
    }
}

/// What high-degree variables cost on the device: a message of one reads the others one by one, or those of its piece, unless all
/// of its messages are computed at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct HighDegree {
    /// Least number of factors of such a variable.
    pub(super) least: usize,
    /// One of these reads.
    pub(super) read: f64,
}

/// What iterations over a graph have to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    pub(super) edges: f64,
    /// In messages: those of tables count for more than one.
    messages: f64,
    /// States of all variables.
    states: f64,
    /// Messages that the high-degree variables' messages read, where each is computed on its own: all, and in kernels that
    /// have products of pieces.
    high_degree_reads: [f64; 2],
    /// Number of conjunctions of more than 32 variables, and of their edges.
    large_factors: f64,
    large_factor_edges: f64,
    /// Number of factors of several variables, but these, that are no conjunctions.
    other_factors: f64,
    /// Whether devices have kernels of their own for graphs of this kind: where all messages are sent at once, and by levels.
    pub(super) has_kernels: [bool; 2],
}

impl Workload {
    pub(super) fn of(graph: &FactorGraph, costs: &Costs) -> Self {
        let mut messages = graph.edge_count() as f64;
        for factor in graph.other_factors() {
            let entries = graph.factor(factor).table_entries(graph.joint_states(factor));
            messages += costs.table_entry * entries * graph.arity(factor) as f64;
        }
        let degrees = (0..graph.variable_count()).map(|v| graph.degree(v));
        let high_degrees = degrees.filter(|&degree| degree >= costs.high_degree.least);
        let high_degree_reads = high_degrees.fold([0.0; 2], |[all, with_pieces], degree| {
            let each = degree.min(PIECE + PARTS * heights_of_pieces(degree));
            let degree = degree as f64;
            [all + degree * degree, with_pieces + degree * each as f64]
        });
        let [mut large_factors, mut large_factor_edges, mut other_factors] = [0.0; 3];
        for arity in arities_with_own_warps(graph) {
            if arity > MOST_VARIABLES {
                large_factors += 1.0;
                large_factor_edges += arity as f64;
            } else {
                other_factors += 1.0;
            }
        }
        let fits_levels = high_degree_reads[1] / 2.0 <= MOST_LEVEL_WORDS as f64;
        Self {
            edges: graph.edge_count() as f64,
            messages,
            states: graph.state_count() as f64,
            high_degree_reads,
            large_factors,
            large_factor_edges,
            other_factors,
            has_kernels: [
                has_kernels_of_binary_variables(graph, false),
                has_kernels_of_binary_variables(graph, true) && fits_levels,
            ],
        }
    }
}

/// How the messages of an iteration follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// All at once.
    Synchronous,
    /// By levels.
    Levels {
        /// Number of levels.
        count: f64,
    },
    /// By levels that are not known yet: at least one.
    Unknown,
}

impl Shape {
    /// That of a schedule, as far as it is known without an analysis.
    pub(super) fn of(schedule: &Schedule) -> Self {
        match schedule {
            Schedule::Parallel => Shape::Synchronous,
            _ => Shape::Unknown,
        }
    }

    /// That of a schedule with such levels.
    pub(super) fn found(levels: &Levels) -> Self {
        match levels.count() {
            0 | 1 => Shape::Synchronous,
            count => Shape::Levels { count: count as f64 },
        }
    }
}

/// Expected seconds of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunCost {
    /// Apart from iterations.
    pub(super) run: f64,
    pub(super) iteration: f64,
}

impl RunCost {
    pub(super) fn of_iterations(self, iterations: u64) -> f64 {
        self.run + iterations as f64 * self.iteration
    }
}

impl Costs {
    /// How many of so many threads an engine on the CPU uses.
    fn threads_in_use(&self, work: &Workload, threads: usize) -> f64 {
        (threads as f64).min((work.edges / self.edges_per_thread).floor().max(1.0))
    }

    /// On the CPU, with so many threads.
    pub(super) fn cpu(
        &self, work: &Workload, schedule: &Schedule, shape: Shape, threads: usize,
        request: &RunRequest,
    ) -> RunCost {
        let threads = self.threads_in_use(work, threads);
        let (message, gain) = match schedule {
            Schedule::Parallel => (self.cpu_parallel, threads * self.team_efficiency),
            Schedule::SequentialFixed => (self.cpu_ordered, threads * self.lanes_efficiency),
            Schedule::Topological => (self.cpu_scattered, threads * self.lanes_efficiency),
            _ => {
                let width = match shape {
                    Shape::Levels { count } => work.edges / count,
                    Shape::Synchronous | Shape::Unknown => 0.0,
                };
                (self.cpu_scattered, threads * width / (width + self.width_of_levels))
            }
        };
        let speed_up = gain.max(1.0);
        let damped = if request.damping > 0.0 { self.cpu_damped } else { 1.0 };
        let active = if request.active_threshold.is_some() { self.cpu_active } else { 1.0 };
        let maxima = match request.inference {
            Inference::MaxProduct => self.cpu_maxima,
            Inference::SumProduct => 1.0,
        };
        let waits = threads > 1.0 && matches!(schedule, Schedule::Parallel);
        let wait = if waits { self.cpu_wait * threads } else { 0.0 };
        RunCost {
            run: self.cpu_run * work.states,
            iteration: message * work.messages * damped * active * maxima / speed_up + wait,
        }
    }

    /// On the device, which is started and has its engine.
    pub(super) fn device(&self, work: &Workload, shape: Shape, request: &RunRequest) -> RunCost {
        let depends_on_old = request.depends_on_old_messages();
        let by_levels = shape != Shape::Synchronous;
        let has_own_warps = work.large_factors + work.other_factors > 0.0;
        let is_optional = by_levels && has_own_warps;
        let has_options =
            depends_on_old || request.inference == Inference::MaxProduct || is_optional;
        let is_general = !work.has_kernels[usize::from(by_levels)];
        let [iteration, level] = match (is_general, has_options) {
            (true, _) => [self.device_general_iteration, self.device_general_level],
            (false, true) => [self.device_optional_iteration, self.device_optional_level],
            (false, false) => [self.device_iteration, self.device_level],
        };
        let Step { mut wait, edge } = if by_levels { level } else { iteration };
        let mut messages = edge * work.messages;
        if !is_general && has_own_warps {
            let large = match by_levels {
                false => self.device_large_factors,
                true => self.device_large_factor_of_levels,
            };
            messages += large.edge * work.large_factor_edges;
            messages += self.device_other_factors[usize::from(by_levels)] * work.other_factors;
            if by_levels {
                messages += large.wait * work.large_factors;
            } else {
                wait = wait.max(large.wait);
            }
        }
        let iteration = match shape {
            Shape::Synchronous | Shape::Unknown => wait + messages,
            Shape::Levels { count } => {
                let reads = work.high_degree_reads[usize::from(!is_general)];
                count * wait + messages + reads * self.high_degree.read
            }
        };
        RunCost { run: self.device_run + self.device_run_state * work.states, iteration }
    }

    /// Making an engine on the CPU, for so many threads.
    pub(super) fn making_cpu(&self, work: &Workload, schedule: &Schedule, threads: usize) -> f64 {
        let [alone, together] = self.cpu_make_ordered;
        let edge = match schedule {
            Schedule::Parallel => self.cpu_make,
            _ if self.threads_in_use(work, threads) > 1.0 => together,
            _ => alone,
        };
        edge * work.edges
    }

    /// Making an engine on the device, whose driver has been started.
    pub(super) fn making_device(&self, work: &Workload, shape: Shape) -> f64 {
        let edge = match shape {
            Shape::Synchronous => self.device_make_edge,
            Shape::Levels { .. } | Shape::Unknown => self.device_make_level_edge,
        };
        self.device_make + edge * work.edges
    }
}

/// Whether a device can be worth while for a schedule. The order of SEQRND is another one in every iteration,
/// which takes longer to analyse than an iteration takes on the CPU.
pub(super) fn is_worth_a_device(schedule: &Schedule) -> bool {
    !matches!(schedule, Schedule::SequentialRandom { .. })
}

/// Numbers of iterations that runs turned out to make.
#[derive(Default)]
pub(super) struct Lengths(Vec<(StopRule, Start, u64)>);

/// Rules that are remembered.
const REMEMBERED: usize = 8;

impl Lengths {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Number of iterations that a run will most likely make: exact for a fixed number; else as many as the
    /// last run by the same rule; else the middle of BINGO's limits, or a typical number.
    pub(super) fn expected(&self, request: &RunRequest, costs: &Costs) -> u64 {
        let RunRequest { rule, start, .. } = *request;
        if let Some(&(_, _, iterations)) =
            self.0.iter().find(|known| (known.0, known.1) == (rule, start))
        {
            return iterations;
        }
        match rule {
            StopRule::Iterations(count) => count,
            StopRule::Bingo { min_iterations, max_iterations, .. } => {
                min_iterations + (max_iterations - min_iterations) / 2
            }
            StopRule::Tolerance { .. } | StopRule::AllBeliefs { .. } => {
                costs.typical_iterations.min(rule.most_iterations())
            }
        }
    }

    /// Remembers how many iterations a run made.
    pub(super) fn note(&mut self, request: &RunRequest, iterations: u64) {
        if matches!(request.rule, StopRule::Iterations(_)) {
            return;
        }
        self.0.retain(|known| (known.0, known.1) != (request.rule, request.start));
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        // Without memory for it the next run is estimated less well.
        let _ = self.0.try_push((request.rule, request.start, iterations));
    }
}

/// Factors by which the model of a place was wrong, where that has been seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    run: Option<f64>,
    iteration: Option<f64>,
}

impl Seen {
    pub(super) fn correct(&self, model: RunCost) -> RunCost {
        RunCost {
            run: model.run * self.run.unwrap_or(1.0),
            iteration: model.iteration * self.iteration.unwrap_or(1.0),
        }
    }

    /// Takes in what a run took: what it mostly consists of was wrong, its iterations or the rest.
    pub(super) fn note(&mut self, model: RunCost, iterations: u64, seconds: f64) {
        let expected = self.correct(model);
        let in_iterations = iterations as f64 * expected.iteration;
        let (factor, model, rest) = if in_iterations > expected.run {
            (&mut self.iteration, iterations as f64 * model.iteration, expected.run)
        } else {
            (&mut self.run, model.run, in_iterations)
        };
        // What was measured may be disturbed, but not beyond measure.
        let found = ((seconds - rest) / model).clamp(1e-3, 1e3);
        if found.is_finite() {
            *factor = Some(factor.map_or(found, |before| (before + found) / 2.0));
        }
    }
}

/// Seconds of a run that its time limit may end.
pub(super) fn limited(cost: RunCost, iterations: u64, request: &RunRequest) -> f64 {
    let limit = request.max_time.map_or(f64::INFINITY, |limit| limit.as_secs_f64());
    cost.of_iterations(iterations).min(limit + cost.run + cost.iteration)
}
