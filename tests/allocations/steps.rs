//! The steps of the test. A step makes some calls and returns their results. It depends on no earlier step, so that it
//! can be repeated.

use super::allocator::call;
use super::graphs::{Inputs, Size};
use fastlbp::ffi::*;
use fastlbp::ffi::{fastlbp_bp as Bp, fastlbp_graph as Graph, fastlbp_status as Status};
use fastlbp::format::{
    GraphFormat, NamedGraph, Network, read_network, read_partial_evidence, read_queries,
    read_ranks, read_soft_evidence, write_graph_to_bytes, write_marginals_to, write_states_to,
};
use fastlbp::generate::{Extremes, Plan, Shape};
use fastlbp::model::{Evidence, FactorGraph, FactorGraphBuilder};
use fastlbp::schedule::{Preorder, Schedule};
use fastlbp::{BeliefPropagation, EngineOptions, Error, RunRequest, StopRule};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

type Answer = Result<Vec<u64>, Status>;

/// What steps work on.
pub struct World {
    inputs: Inputs,
    /// Binary variables, and prior, AND and OR factors.
    plain: GraphHandle,
    /// All kinds of factors, and a variable with three states.
    mixed: GraphHandle,
    graph: Arc<FactorGraph>,
}

pub struct Step {
    pub name: String,
    work: Box<dyn Fn(&World) -> Answer>,
}

impl Step {
    pub fn run(&self, world: &World) -> Answer {
        (self.work)(world)
    }
}

/// A session that has nothing to do with what fails.
pub struct Witness(Session);

impl Witness {
    pub fn answer(&self) -> Vec<u64> {
        let bp = self.0.0;
        // SAFETY: a live handle.
        check(unsafe { fastlbp_bp_run_iterations(bp, 3) }).unwrap();
        marginals(bp).unwrap()
    }
}

fn check(status: Status) -> Result<(), Status> {
    match status {
        Status::Ok => Ok(()),
        Status::OutOfMemory => Err(status),
        Status::Contradiction | Status::LimitExceeded => Err(status),
        _ => {
            let error = fastlbp_last_error();
            // SAFETY: a string, up to the next call in this thread.
            eprintln!("{status:?}: {}", unsafe { CStr::from_ptr(error) }.to_string_lossy());
            Err(status)
        }
    }
}

/// A call of the C interface.
macro_rules! c {
    ($call:expr) => {
        // SAFETY: handles live as long as their owners, and lengths are those of the lists.
        check(call(|| unsafe { $call }))?
    };
}

/// A call of the Rust interface.
fn rust<T>(work: impl FnOnce() -> fastlbp::Result<T>) -> Result<T, Status> {
    call(|| match work() {
        Ok(value) => Ok(value),
        Err(Error::OutOfMemory(_)) => Err(Status::OutOfMemory),
        Err(_) => Err(Status::InvalidArgument),
    })
}

struct GraphHandle(*mut Graph);

impl Drop for GraphHandle {
    fn drop(&mut self) {
        // SAFETY: its own handle.
        unsafe { fastlbp_graph_free(self.0) };
    }
}

struct Session(*mut Bp);

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: its own handle.
        unsafe { fastlbp_bp_free(self.0) };
    }
}

fn text(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A list that a call writes; the second time into a buffer that is long enough.
fn list<T: Default + Clone>(
    call_with: impl Fn(*mut T, usize, *mut usize) -> Status,
) -> Result<Vec<T>, Status> {
    let mut needed = 0;
    match call(|| call_with(null_mut(), 0, &mut needed)) {
        Status::BufferTooSmall | Status::Ok => {}
        status => return Err(status),
    }
    let mut buffer = vec![T::default(); needed];
    check(call(|| call_with(buffer.as_mut_ptr(), buffer.len(), &mut needed)))?;
    Ok(buffer)
}

fn marginals(bp: *mut Bp) -> Answer {
    // SAFETY: a live handle and a buffer of that length.
    let values =
        list(|buffer, length, needed| unsafe { fastlbp_bp_marginals(bp, buffer, length, needed) })?;
    Ok(bits(&values))
}

impl World {
    pub fn new(size: Size) -> Self {
        let inputs = Inputs::new(size);
        let plain = build(&inputs, false).unwrap();
        let mixed = build(&inputs, true).unwrap();
        let graph = Arc::new(fastlbp::format::read_graph(&inputs.path("g.causal_fg")).unwrap());
        Self { inputs, plain, mixed, graph }
    }

    pub fn witness() -> Witness {
        let inputs = Inputs::new(Size::Small);
        let graph = build(&inputs, true).unwrap();
        Witness(session(&graph, "SEQFIX", 1).unwrap())
    }

    fn handle(&self, mixed: bool) -> &GraphHandle {
        if mixed { &self.mixed } else { &self.plain }
    }
}

fn build(inputs: &Inputs, mixed: bool) -> Result<GraphHandle, Status> {
    let lists = &inputs.lists;
    let mut graph = null_mut();
    c!(fastlbp_graph_new(&mut graph));
    let graph = GraphHandle(graph);
    c!(fastlbp_graph_add_factors(
        graph.0,
        lists.kinds.len(),
        lists.kinds.as_ptr(),
        lists.heads.as_ptr(),
        lists.body_offsets.as_ptr(),
        lists.bodies.as_ptr(),
        lists.bodies.len(),
        lists.probabilities[0].as_ptr(),
        lists.probabilities[1].as_ptr(),
    ));
    if mixed {
        add_others(inputs, &graph)?;
    }
    c!(fastlbp_graph_build(graph.0));
    Ok(graph)
}

/// Factors of all other kinds over the scopes, in bulk and one by one.
fn add_others(inputs: &Inputs, graph: &GraphHandle) -> Result<(), Status> {
    let scopes = &inputs.lists.scopes;
    let count = scopes.len() / 3;
    let ends = |length: usize| -> Vec<usize> { (0..=count).map(|i| i * length).collect() };
    let graph = graph.0;
    let large = 1 << 40;
    let states = [3_u32];
    c!(fastlbp_graph_add_variables(graph, &large, states.as_ptr(), 1));
    c!(fastlbp_graph_add_variables(graph, &(large + 1), &2, 1));
    let values: Vec<f64> = (0..8 * count).map(|i| 1.0 + (i % 11) as f64).collect();
    let (three, eight) = (ends(3), ends(8));
    c!(fastlbp_graph_add_tables(
        graph,
        count,
        three.as_ptr(),
        scopes.as_ptr(),
        scopes.len(),
        eight.as_ptr(),
        values.as_ptr(),
        values.len()
    ));
    let table = [large, scopes[0]];
    let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
    c!(fastlbp_graph_add_table(graph, table.as_ptr(), 2, six.as_ptr(), 6));
    c!(fastlbp_graph_add_prior(graph, scopes[0], 0.4));
    c!(fastlbp_graph_add_and(graph, scopes[0], scopes[1..].as_ptr(), 2, 0.9, 0.2));
    c!(fastlbp_graph_add_or(graph, scopes[0], scopes[1..].as_ptr(), 2, 0.9, 0.2));
    let negated = vec![1_u8; 2 * count];
    let heads: Vec<u64> = scopes.iter().copied().step_by(3).collect();
    let bodies: Vec<u64> = scopes.chunks(3).flat_map(|scope| [scope[1], scope[2]]).collect();
    let (two, four) = (ends(2), vec![[0.9, 0.2, 0.1, 0.8]; count]);
    c!(fastlbp_graph_add_signed_factors(
        graph,
        count,
        heads.as_ptr(),
        two.as_ptr(),
        bodies.as_ptr(),
        negated.as_ptr(),
        bodies.len(),
        four.as_flattened().as_ptr()
    ));
    let body = bodies.as_ptr();
    let flags = negated.as_ptr();
    let head = heads[0];
    c!(fastlbp_graph_add_signed(graph, head, body, flags, 2, four[0].as_ptr()));
    let literals = [0.1, 0.9, 0.3, 0.7, 0.75, 0.25, 1.0, 0.0];
    c!(fastlbp_graph_add_noisy(graph, head, body, literals.as_ptr(), 2, four[0].as_ptr()));
    let weights: Vec<f64> = (0..2 * count).map(|i| 0.5 + i as f64).collect();
    let indicators: Vec<i32> = (0..6 * count).map(|i| (i % 3) as i32 - 1).collect();
    c!(fastlbp_graph_add_term_factors(
        graph,
        count,
        three.as_ptr(),
        scopes.as_ptr(),
        scopes.len(),
        two.as_ptr(),
        weights.as_ptr(),
        weights.len(),
        indicators.as_ptr(),
        indicators.len()
    ));
    let (scope, first) = (scopes.as_ptr(), indicators.as_ptr());
    c!(fastlbp_graph_add_terms(graph, scope, 3, weights.as_ptr(), 2, first, 6));
    Ok(())
}

fn session(graph: &GraphHandle, schedule: &str, threads: usize) -> Result<Session, Status> {
    let mut bp = null_mut();
    c!(fastlbp_bp_new(graph.0, &mut bp));
    let session = Session(bp);
    let name = CString::new(schedule).unwrap();
    c!(fastlbp_bp_set_threads(bp, threads));
    c!(fastlbp_bp_set_contradiction(bp, FASTLBP_CONTRADICTION_VOTE));
    c!(fastlbp_bp_set_schedule(bp, name.as_ptr(), 7));
    Ok(session)
}

/// Evidence of all sorts.
fn observe(world: &World, bp: *mut Bp) -> Result<(), Status> {
    let labels: Vec<u64> = world.inputs.observations.iter().map(|&(label, _)| label).collect();
    let states: Vec<u32> = world.inputs.observations.iter().map(|&(_, state)| state).collect();
    let mut observed = vec![0_u32; labels.len()];
    let mut graph = null_mut();
    c!(fastlbp_bp_graph(bp, &mut graph));
    let graph = GraphHandle(graph);
    let indices = observed.as_mut_ptr();
    c!(fastlbp_graph_variables_of_labels(graph.0, labels.as_ptr(), labels.len(), indices));
    c!(fastlbp_bp_observe(bp, observed.as_ptr(), states.as_ptr(), observed.len()));
    let variables = [1_u32, 3];
    c!(fastlbp_bp_clear_evidence(bp, 5));
    c!(fastlbp_bp_observe(bp, variables.as_ptr(), [0, 1].as_ptr(), 2));
    let likelihood = [0.5, 0.75];
    c!(fastlbp_bp_set_likelihood(bp, 5, likelihood.as_ptr(), 2));
    Ok(())
}

pub fn steps(size: Size, are_all_wanted: bool) -> Vec<Step> {
    let mut all = Vec::new();
    let mut add = |name: &str, work: Box<dyn Fn(&World) -> Answer>| {
        all.push(Step { name: name.to_string(), work });
    };
    for mixed in [false, true] {
        add(
            &format!("build, mixed: {mixed}"),
            Box::new(move |w| contents(&build(&w.inputs, mixed)?)),
        );
    }
    for name in ["g.causal_fg", "g.causal_fg.gz", "g.fg", "g.uai", "g.bif"] {
        add(&format!("read {name}"), Box::new(move |w| read(w, name)));
    }
    add("read what is wrong", Box::new(read_wrong));
    for name in ["out.causal_fg", "out.causal_fg.gz", "out.fg", "out.uai"] {
        add(&format!("write {name}"), Box::new(move |w| write(w, name)));
    }
    for mixed in [false, true] {
        for schedule in Schedule::names() {
            for threads in [1, 2] {
                // Of a large graph all is tested on one thread, and what differs there on two.
                let differs = matches!(schedule, "PARALL" | "SEQFIX" | "TREE");
                if size == Size::Large && threads == 2 && !differs {
                    continue;
                }
                // Its iterations take longer by far; and each allocation takes three runs.
                if size == Size::Large && schedule == "SEQMAX" && (mixed || !are_all_wanted) {
                    continue;
                }
                let name = format!("{schedule} on {threads} threads, mixed: {mixed}");
                add(&name, Box::new(move |w| run(w, mixed, schedule, threads)));
            }
        }
        add(&format!("results, mixed: {mixed}"), Box::new(move |w| results(w, mixed)));
        if size == Size::Small {
            add(&format!("exact results, mixed: {mixed}"), Box::new(move |w| exact(w, mixed)));
        }
        add(&format!("state, mixed: {mixed}"), Box::new(move |w| state(w, size, mixed)));
        add(&format!("orders, mixed: {mixed}"), Box::new(move |w| orders(w, mixed)));
        for schedule in ["PARALL", "SEQFIX", "SEQMAX"] {
            if size == Size::Large && schedule == "SEQMAX" {
                continue;
            }
            let name = format!("modes of {schedule}, mixed: {mixed}");
            add(&name, Box::new(move |w| modes(w, mixed, schedule)));
        }
        for threads in [1, 2] {
            let name = format!("batch on {threads} threads, mixed: {mixed}");
            add(&name, Box::new(move |w| batch(w, mixed, threads)));
        }
        add(&format!("run_all, mixed: {mixed}"), Box::new(move |w| run_all(w, mixed)));
    }
    add("evidence from a file", Box::new(evidence_file));
    add("files beside a graph", Box::new(files_beside));
    add("files with names", Box::new(files_with_names));
    add("generated graphs", Box::new(move |_| generated(size)));
    add("structure of tables", Box::new(|_| structure()));
    add("session of the Rust interface", Box::new(move |w| rust_session(w, size)));
    if size == Size::Large && !are_all_wanted {
        // Where a large graph has other allocations than a small one: arrays by edge, threads, files.
        const OF_MIXED: [&str; 5] = ["build", "SEQFIX on 2", "PARALL on 2", "results", "run_all"];
        all.retain(|step: &Step| {
            !step.name.ends_with("mixed: true")
                || OF_MIXED.iter().any(|name| step.name.starts_with(name))
        });
    }
    all
}

/// Counts and values of a graph.
fn contents(graph: &GraphHandle) -> Answer {
    let graph = graph.0;
    let (mut factors, mut edges) = (0, 0);
    c!(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &mut factors));
    c!(fastlbp_graph_count(graph, FASTLBP_COUNT_EDGES, &mut edges));
    // SAFETY: a live handle, and buffers of the lengths given.
    let mut answer = unsafe { list(|b, l, n| fastlbp_graph_labels(graph, b, l, n)) }?;
    for factor in [0, factors - 1] {
        // SAFETY: as above.
        let values = unsafe { list(|b, l, n| fastlbp_graph_factor_values(graph, factor, b, l, n)) };
        match values {
            Ok(values) => answer.extend(bits(&values)),
            Err(Status::LimitExceeded) => {}
            Err(status) => return Err(status),
        }
        // SAFETY: as above.
        let parameters =
            unsafe { list(|b, l, n| fastlbp_graph_factor_parameters(graph, factor, b, l, n)) };
        answer.extend(bits(&parameters?));
        // SAFETY: as above.
        let indicators: Vec<i32> =
            unsafe { list(|b, l, n| fastlbp_graph_factor_indicators(graph, factor, b, l, n)) }?;
        answer.extend(indicators.iter().map(|&state| state as u64));
    }
    answer.extend([factors as u64, edges as u64]);
    Ok(answer)
}

fn read(world: &World, name: &str) -> Answer {
    let path = text(&world.inputs.path(name));
    let mut graph = null_mut();
    c!(fastlbp_graph_read_file(path.as_ptr(), &mut graph));
    contents(&GraphHandle(graph))
}

fn read_wrong(world: &World) -> Answer {
    let path = text(&world.inputs.path("wrong.fg"));
    let mut graph = null_mut();
    // SAFETY: a string, and a place for a handle.
    match call(|| unsafe { fastlbp_graph_read_file(path.as_ptr(), &mut graph) }) {
        Status::Parse => Ok(vec![1]),
        status => Err(status),
    }
}

fn write(world: &World, name: &str) -> Answer {
    let path = world.inputs.path(name);
    let file = text(&path);
    let mut graph = null_mut();
    let from = text(&world.inputs.path("g.fg"));
    let tables = !name.contains("causal");
    if tables {
        c!(fastlbp_graph_read_file(from.as_ptr(), &mut graph));
    }
    let own = GraphHandle(graph);
    c!(fastlbp_graph_write_file(if tables { own.0 } else { world.plain.0 }, file.as_ptr()));
    Ok(std::fs::read(&path).unwrap().into_iter().map(u64::from).collect())
}

fn run(world: &World, mixed: bool, schedule: &str, threads: usize) -> Answer {
    let session = session(world.handle(mixed), schedule, threads)?;
    let bp = session.0;
    observe(world, bp)?;
    c!(fastlbp_bp_run_iterations(bp, 2));
    let mut answer = marginals(bp)?;
    // Goes on, with other evidence.
    let other = CString::new("PARALL").unwrap();
    c!(fastlbp_bp_clear_all_evidence(bp));
    c!(fastlbp_bp_set_start(bp, FASTLBP_START_WARM));
    c!(fastlbp_bp_run_iterations(bp, 1));
    answer.extend(marginals(bp)?);
    c!(fastlbp_bp_set_schedule(bp, other.as_ptr(), 0));
    c!(fastlbp_bp_run_iterations(bp, 1));
    answer.extend(marginals(bp)?);
    Ok(answer)
}

/// Results by a junction tree, with sums and with maxima.
fn exact(world: &World, mixed: bool) -> Answer {
    let session = session(world.handle(mixed), "PARALL", 1)?;
    let bp = session.0;
    c!(fastlbp_bp_run_exact(bp, 1 << 20));
    let mut answer = marginals(bp)?;
    c!(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    c!(fastlbp_bp_set_likelihood(bp, 5, [0.5, 0.75].as_ptr(), 2));
    c!(fastlbp_bp_run_exact(bp, 1 << 20));
    // SAFETY: a live handle, and buffers of the lengths given.
    let states = unsafe { list(|b, l, n| fastlbp_bp_find_maximum(bp, b, l, n)) }?;
    answer.extend(states.iter().map(|&state| u64::from(state)));
    // SAFETY: as above.
    let belief = unsafe { list(|b, l, n| fastlbp_bp_factor_belief(bp, 0, b, l, n)) }?;
    answer.extend(bits(&belief));
    Ok(answer)
}

/// Stop rules, damping, active sets and maxima.
fn modes(world: &World, mixed: bool, schedule: &str) -> Answer {
    let session = session(world.handle(mixed), schedule, 1)?;
    let bp = session.0;
    let likelihood = [0.5, 0.75];
    c!(fastlbp_bp_set_likelihood(bp, 5, likelihood.as_ptr(), 2));
    c!(fastlbp_bp_set_tolerance(bp, 1e-3));
    c!(fastlbp_bp_set_max_iterations(bp, 2));
    let mut answer = Vec::new();
    let mut active_fraction = 0.0;
    c!(fastlbp_bp_run_bingo(bp, 1e-3, 1, 3, 2, &mut active_fraction));
    answer.push(active_fraction.to_bits());
    answer.extend(marginals(bp)?);
    c!(fastlbp_bp_set_damping(bp, 0.25));
    c!(fastlbp_bp_run(bp));
    answer.extend(marginals(bp)?);
    c!(fastlbp_bp_set_damping(bp, 0.0));
    if schedule != "SEQMAX" {
        c!(fastlbp_bp_set_active_threshold(bp, 0.01));
        c!(fastlbp_bp_run(bp));
        answer.extend(marginals(bp)?);
        c!(fastlbp_bp_set_active_threshold(bp, FASTLBP_ACTIVE_OFF));
    }
    c!(fastlbp_bp_set_inference(bp, FASTLBP_INFERENCE_MAX_PRODUCT));
    c!(fastlbp_bp_run(bp));
    answer.extend(marginals(bp)?);
    // SAFETY: a live handle, and a buffer of the length given.
    match unsafe { list(|b, l, n| fastlbp_bp_find_maximum(bp, b, l, n)) } {
        Ok(maximum) => {
            let mut score = 0.0;
            c!(fastlbp_bp_log_score(bp, maximum.as_ptr(), maximum.len(), &mut score));
            answer.push(score.to_bits());
        }
        // What is decoded on a graph with cycles can be impossible.
        Err(Status::Contradiction) => {}
        Err(status) => return Err(status),
    }
    Ok(answer)
}

/// A result that a vote can have left contradictory, or that is too large a table.
fn if_there_is_one(result: Result<Vec<f64>, Status>) -> Result<Vec<f64>, Status> {
    match result {
        Err(Status::LimitExceeded | Status::Contradiction) => Ok(Vec::new()),
        other => other,
    }
}

fn results(world: &World, mixed: bool) -> Answer {
    let session = session(world.handle(mixed), "SEQFIX", 1)?;
    let bp = session.0;
    c!(fastlbp_bp_run_iterations(bp, 2));
    let graph = world.handle(mixed).0;
    let mut factors = 0;
    c!(fastlbp_graph_count(graph, FASTLBP_COUNT_FACTORS, &mut factors));
    let mut answer = Vec::new();
    let mut variables = Vec::new();
    for factor in 0..factors {
        // SAFETY: a live handle, and a buffer of the length given.
        let scope =
            unsafe { list(|b, l, n| fastlbp_graph_factor_variables(graph, factor, b, l, n)) };
        variables = scope?;
        if variables.len() > 1 {
            break;
        }
    }
    for factor in [0, factors - 1] {
        // SAFETY: a live handle, and a buffer of the length given.
        let belief = unsafe { list(|b, l, n| fastlbp_bp_factor_belief(bp, factor, b, l, n)) };
        answer.extend(bits(&if_there_is_one(belief)?));
        let mut at = 0.0;
        // SAFETY: as above, and a place for a number.
        let status = call(|| unsafe { fastlbp_bp_factor_belief_at(bp, factor, 0, &mut at) });
        if_there_is_one(check(status).map(|()| Vec::<f64>::new()))?;
        answer.push(at.to_bits());
    }
    // SAFETY: as above.
    let joint = unsafe { list(|b, l, n| fastlbp_bp_belief(bp, variables.as_ptr(), 2, b, l, n)) };
    answer.extend(bits(&if_there_is_one(joint)?));
    let mut log_partition = 0.0;
    // SAFETY: a live handle, and a place for a number.
    let status = call(|| unsafe { fastlbp_bp_log_partition(bp, &mut log_partition) });
    if_there_is_one(check(status).map(|()| Vec::<f64>::new()))?;
    answer.push(log_partition.to_bits());
    // SAFETY: as above.
    answer.extend(bits(&unsafe { list(|b, l, n| fastlbp_bp_messages(bp, b, l, n)) }?));
    if !mixed {
        // SAFETY: as above.
        answer.extend(bits(&unsafe { list(|b, l, n| fastlbp_bp_probabilities(bp, b, l, n)) }?));
    }
    Ok(answer)
}

/// Saved, restored and copied.
fn state(world: &World, size: Size, mixed: bool) -> Answer {
    let mut answer = Vec::new();
    let schedules = if size == Size::Small { &["SEQFIX", "SEQMAX"][..] } else { &["SEQFIX"] };
    for schedule in schedules {
        let first = session(world.handle(mixed), schedule, 1)?;
        let bp = first.0;
        c!(fastlbp_bp_set_damping(bp, 0.125));
        c!(fastlbp_bp_run_iterations(bp, 1));
        // SAFETY: a live handle, and a buffer of the length given.
        let saved = unsafe { list(|b, l, n| fastlbp_bp_save_state(bp, b, l, n)) }?;
        let mut copy = null_mut();
        c!(fastlbp_bp_clone(bp, &mut copy));
        let copy = Session(copy);
        let other = session(world.handle(mixed), schedule, 1)?;
        c!(fastlbp_bp_set_damping(other.0, 0.125));
        c!(fastlbp_bp_restore_state(other.0, saved.as_ptr(), saved.len()));
        for bp in [bp, copy.0, other.0] {
            c!(fastlbp_bp_set_start(bp, FASTLBP_START_WARM));
            c!(fastlbp_bp_run_iterations(bp, 1));
            answer.extend(marginals(bp)?);
        }
        // SAFETY: as above.
        let messages = unsafe { list(|b, l, n| fastlbp_bp_messages(bp, b, l, n)) }?;
        c!(fastlbp_bp_set_messages(other.0, messages.as_ptr(), messages.len()));
        c!(fastlbp_bp_run_iterations(other.0, 1));
        answer.extend(marginals(other.0)?);
    }
    Ok(answer)
}

/// Orders of the caller's own, and what is told of them.
fn orders(world: &World, mixed: bool) -> Answer {
    let mut edges = 0;
    c!(fastlbp_graph_count(world.handle(mixed).0, FASTLBP_COUNT_EDGES, &mut edges));
    let session = session(world.handle(mixed), "SEQFIX", 2)?;
    let bp = session.0;
    let mut answer = Vec::new();
    let ranks: Vec<u64> = (0..edges as u64).map(|edge| edge * 7 % 13).collect();
    c!(fastlbp_bp_set_schedule_ranks(bp, ranks.as_ptr(), edges));
    c!(fastlbp_bp_run_iterations(bp, 1));
    answer.extend(marginals(bp)?);
    let before: Vec<u32> = (0..edges as u32 - 1).collect();
    let after: Vec<u32> = before.iter().map(|edge| edge + 1).collect();
    c!(fastlbp_bp_set_schedule_relation(bp, before.as_ptr(), after.as_ptr(), before.len()));
    c!(fastlbp_bp_run_iterations(bp, 1));
    answer.extend(marginals(bp)?);
    c!(fastlbp_bp_set_schedule_blocks(bp, 3, 5));
    // SAFETY: a live handle, and buffers of the lengths given.
    let widths = unsafe { list(|b, l, n| fastlbp_bp_level_widths(bp, b, l, n)) }?;
    // SAFETY: as above.
    let ranks = unsafe { list(|b, l, n| fastlbp_bp_schedule_ranks(bp, 0, b, l, n)) }?;
    answer.extend(widths.iter().chain(&ranks).map(|&number| u64::from(number)));
    Ok(answer)
}

fn batch(world: &World, mixed: bool, threads: usize) -> Answer {
    let session = session(world.handle(mixed), "SEQFIX", threads)?;
    let bp = session.0;
    let offsets = [0_usize, 1, 2, 4];
    let (variables, states) = ([1_u32, 2, 3, 4], [0_u32, 1, 1, 0]);
    c!(fastlbp_bp_set_max_iterations(bp, 2));
    let mut statuses = [Status::Ok; 3];
    let mut count = 0;
    c!(fastlbp_graph_count(world.handle(mixed).0, FASTLBP_COUNT_STATES, &mut count));
    let mut values = vec![0.0; 3 * count];
    c!(fastlbp_bp_run_batch(
        bp,
        offsets.as_ptr(),
        3,
        variables.as_ptr(),
        states.as_ptr(),
        4,
        values.as_mut_ptr(),
        values.len(),
        null_mut(),
        statuses.as_mut_ptr(),
    ));
    statuses.into_iter().try_for_each(check)?;
    Ok(bits(&values))
}

fn run_all(world: &World, mixed: bool) -> Answer {
    let sessions =
        [session(world.handle(mixed), "SEQFIX", 1)?, session(world.handle(mixed), "PARALL", 1)?];
    for session in &sessions {
        c!(fastlbp_bp_set_max_iterations(session.0, 2));
    }
    let handles = [sessions[0].0, sessions[1].0];
    let mut statuses = [Status::Ok; 2];
    c!(fastlbp_run_all(handles.as_ptr(), 2, statuses.as_mut_ptr()));
    statuses.into_iter().try_for_each(check)?;
    Ok([marginals(handles[0])?, marginals(handles[1])?].concat())
}

fn evidence_file(world: &World) -> Answer {
    let session = session(&world.plain, "SEQFIX", 1)?;
    let path = text(&world.inputs.path("e.obs"));
    let (mut unknown, mut count) = (0, 0);
    c!(fastlbp_bp_read_evidence(session.0, path.as_ptr(), &mut unknown));
    c!(fastlbp_bp_report_u64(session.0, FASTLBP_REPORT_EVIDENCE, &mut count));
    Ok(vec![unknown as u64, count])
}

fn files_beside(world: &World) -> Answer {
    let graph = &*world.graph;
    let path = |name| world.inputs.path(name);
    let ([obs, soft, queries, ranks], mut evidence) =
        (["e.obs", "e.soft", "e.queries", "g.ranks"].map(path), Evidence::new());
    rust(|| {
        let read = read_partial_evidence(&obs, graph)?;
        evidence = Evidence::new();
        for &(variable, state) in &read.observed {
            evidence.observe(graph, variable, state)?;
        }
        evidence.clear(graph, 0)?;
        read_soft_evidence(&soft, graph)?.add_to(graph, &mut evidence)?;
        let queries = read_queries(&queries, graph)?;
        let ranks = read_ranks(&ranks, graph)?;
        let preorder = Preorder::from_ranks(graph, &ranks)?;
        Ok((queries.len(), preorder.class_count(), read.unknown.len()))
    })
    .map(|(queries, classes, unknown)| {
        vec![evidence.len() as u64, queries as u64, classes as u64, unknown as u64]
    })
}

fn files_with_names(world: &World) -> Answer {
    let (path, obs) = (world.inputs.path("g.bif"), world.inputs.path("bif.obs"));
    let states = [1, 0];
    let values = [0.5, 0.25, 0.25, 0.125, 0.875];
    let mut out = [0_u8; 512];
    let length = rust(|| {
        let Network { graph, names } = read_network(&path)?;
        let named = NamedGraph::new(&graph, names.as_ref())?;
        let evidence = read_partial_evidence(&obs, named)?;
        let mut rest = &mut out[..];
        let memory = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::OutOfMemory => Error::OutOfMemory("writing".into()),
            _ => Error::InvalidArgument(String::new()),
        };
        write_states_to(named, &states, None, &mut rest).map_err(memory)?;
        write_marginals_to(named, &values, &mut rest).map_err(memory)?;
        Ok(evidence.unknown.len() + rest.len())
    })?;
    Ok(out.iter().map(|&byte| u64::from(byte)).chain([length as u64]).collect())
}

fn generated(size: Size) -> Answer {
    let variables = size.variables();
    let graphs = rust(|| {
        let smartfl = fastlbp::generate::smartfl(variables, 2)?;
        let bingo = fastlbp::generate::bingo(variables, 2)?;
        let extremes = Some(Extremes { count: 2, size: 5 });
        for (shape, extremes) in [
            (Shape::Layers { levels: 3 }, extremes),
            (Shape::Potts { states: 3 }, None),
            (Shape::Rbm { hidden: 2 }, None),
        ] {
            let (high_arity, high_degree) = (extremes, extremes);
            Plan { shape, variables: 12, seed: 2, high_arity, high_degree }.generate()?;
        }
        let text = write_graph_to_bytes(&bingo.graph, GraphFormat::CausalFg)?;
        Ok((smartfl.graph.edge_count(), smartfl.observations.len(), text))
    });
    let (edges, observations, text) = graphs?;
    Ok(text.into_iter().map(u64::from).chain([edges as u64, observations as u64]).collect())
}

fn structure() -> Answer {
    let mut builder = FactorGraphBuilder::new();
    let and: Vec<f64> =
        (0..16).map(|i| if (i == 15) == (i & 1 == 1) { 0.9 } else { 0.1 }).collect();
    let terms: Vec<f64> = (0..16).map(|i| 1.0 + f64::from(i & 1) * f64::from(i >> 3)).collect();
    builder.add_table(&[0, 1, 2, 3], &and).unwrap();
    builder.add_table(&[1, 2, 3, 4], &terms).unwrap();
    builder
        .add_table(&[1, 2, 3, 4], &(0..16).map(|i| f64::from(i * i + 1)).collect::<Vec<_>>())
        .unwrap();
    let graph = builder.build().unwrap();
    let tables = rust(|| fastlbp::structure::summarise(&graph))?;
    Ok(vec![tables.len() as u64])
}

fn rust_session(world: &World, size: Size) -> Answer {
    let graph = &world.graph;
    let options = EngineOptions { threads: Some(2), ..EngineOptions::default() };
    let request = RunRequest::new(match size {
        Size::Small => StopRule::AllBeliefs { tolerance: 1e-3, max_iterations: 1 },
        // Not the beliefs of factors with many variables.
        Size::Large => StopRule::Tolerance { tolerance: 1e-3, max_iterations: 1 },
    });
    let mut iterations = RunRequest::new(StopRule::Iterations(1));
    iterations.contradiction = fastlbp::Contradiction::Vote;
    let ran = rust(|| {
        let schedule = Schedule::Tree;
        let mut session = BeliefPropagation::new(graph.clone(), schedule, options)?;
        let mut evidence = Evidence::new();
        evidence.observe(graph, 1, 1)?;
        session.set_evidence(&evidence)?;
        let limit = match session.run(&request) {
            Err(error @ Error::OutOfMemory(_)) => return Err(error),
            other => other.is_ok(),
        };
        session.run(&iterations)?;
        Ok((limit, session))
    });
    let (limit, session) = ran?;
    let mut marginals = bits(session.marginals().unwrap());
    marginals.push(u64::from(limit));
    Ok(marginals)
}
