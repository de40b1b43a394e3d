//! The handles of a run, and what is known about them.

use super::callbacks;
use super::memory::Block;
use super::table::{Element, Function, Kind, named};
use super::texts;
use crate::choices::Choices;

/// Most handles of each type; the oldest goes when one more comes.
const HANDLES: usize = 5;
/// Every session has a time limit at most so long, so that any number of iterations may be asked for.
const SECONDS: f64 = 0.0005;

/// States of the variable with a label, in all graphs of a run.
pub fn states_of_label(label: u64) -> usize {
    match label {
        6 => 3,
        7 => 4,
        _ => 2,
    }
}

/// Sizes of a graph.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub handle: u64,
    pub variables: usize,
    pub factors: usize,
    pub edges: usize,
    pub messages: usize,
    pub cardinalities: Vec<u32>,
}

#[derive(Default)]
pub struct Objects {
    graphs: Vec<u64>,
    sessions: Vec<Shape>,
    /// States that were saved, and of which session.
    saved: Vec<(u64, Vec<u64>)>,
}

/// The length that a function of a handle needs for its results.
fn needed(name: &str, handle: u64) -> usize {
    let mut needed = 0_u64;
    (named(name).call)(&[handle, 0, 0, &raw mut needed as u64]);
    needed as usize
}

fn shape_of_graph(graph: u64) -> Shape {
    // By FASTLBP_COUNT_VARIABLES and so on.
    let count = |what: u64| {
        let mut out = 0_u64;
        (named("fastlbp_graph_count").call)(&[graph, what, &raw mut out as u64]);
        out as usize
    };
    let variables = count(0);
    let mut cardinalities = vec![0_u32; variables];
    let out = cardinalities.as_mut_ptr() as u64;
    (named("fastlbp_graph_cardinalities").call)(&[graph, out, variables as u64, 0]);
    Shape {
        handle: graph,
        variables,
        factors: count(1),
        edges: count(2),
        messages: 0,
        cardinalities,
    }
}

fn shape_of_session(session: u64) -> Shape {
    let mut graph = 0_u64;
    let status = (named("fastlbp_bp_graph").call)(&[session, &raw mut graph as u64]);
    assert_eq!(status, super::OK);
    let shape = shape_of_graph(graph);
    (named("fastlbp_graph_free").call)(&[graph]);
    let messages = needed("fastlbp_bp_messages", session);
    Shape { handle: session, messages, ..shape }
}

impl Objects {
    /// A graph and a session to begin with, mostly.
    pub fn new(choices: &mut Choices) -> Self {
        let mut objects = Self::default();
        let recipe = choices.below(5);
        if recipe == 0 {
            return objects;
        }
        let mut graph = 0_u64;
        assert_eq!((named("fastlbp_graph_new").call)(&[&raw mut graph as u64]), super::OK);
        fill(graph, recipe);
        objects.graphs.push(graph);
        let mut session = 0_u64;
        let made = (named("fastlbp_bp_new").call)(&[graph, &raw mut session as u64]);
        assert_eq!(made, super::OK, "{}", super::last_error());
        objects.add_session(session);
        if choices.flag() {
            (named("fastlbp_bp_run_iterations").call)(&[session, 3]);
        }
        objects
    }

    fn add_session(&mut self, session: u64) {
        limit_time(session);
        self.sessions.push(shape_of_session(session));
        if self.sessions.len() > HANDLES {
            let oldest = self.sessions[0].handle;
            (named("fastlbp_bp_free").call)(&[oldest]);
            self.gone(oldest);
        }
    }

    fn add_graph(&mut self, graph: u64, choices_of_labels: bool) {
        if choices_of_labels {
            // So that tables over any labels are likely to fit.
            declare(graph);
        }
        self.graphs.push(graph);
        if self.graphs.len() > HANDLES {
            let oldest = self.graphs[0];
            (named("fastlbp_graph_free").call)(&[oldest]);
            self.gone(oldest);
        }
    }

    /// A handle and what is known about it.
    pub fn pick(&self, session: bool, null: bool, choices: &mut Choices) -> (u64, Shape) {
        let count = if session { self.sessions.len() } else { self.graphs.len() };
        if count == 0 || null {
            return (0, Shape::default());
        }
        let index = choices.below(count);
        let shape =
            if session { self.sessions[index].clone() } else { shape_of_graph(self.graphs[index]) };
        (shape.handle, shape)
    }

    /// Sessions that are all different; of fewer than wanted, some NULL or again if there is no care.
    pub fn sessions(&self, count: usize, careful: bool, choices: &mut Choices) -> Vec<u64> {
        let mut handles: Vec<u64> = self.sessions.iter().map(|session| session.handle).collect();
        if !careful && choices.flag() {
            handles.extend(handles.first().copied());
        }
        handles.resize(count, 0);
        handles
    }

    /// The newest state saved of a session, or of any.
    pub fn saved_state(&self, session: u64) -> Vec<u64> {
        let own = self.saved.iter().rev().find(|(of, _)| *of == session);
        own.or(self.saved.last()).map_or_else(Vec::new, |(_, words)| words.clone())
    }

    /// A handle has been freed.
    pub fn gone(&mut self, handle: u64) {
        self.graphs.retain(|&graph| graph != handle);
        self.sessions.retain(|session| session.handle != handle);
    }

    /// Takes over what a call that succeeded has made.
    pub fn after(&mut self, function: &Function, words: &[u64], blocks: &[Option<Block>]) {
        for (parameter, block) in function.parameters.iter().zip(blocks) {
            let Some(block) = block else { continue };
            match parameter.kind {
                Kind::NewGraph => {
                    let fresh = function.name == "fastlbp_graph_new";
                    self.add_graph(block.words(Element::U64)[0], fresh);
                }
                Kind::NewSession => self.add_session(block.words(Element::U64)[0]),
                Kind::Output(Element::U64, ..) if function.name == "fastlbp_bp_save_state" => {
                    let mut state = block.words(Element::U64);
                    // Those of `needed`, where the buffer was longer.
                    state.truncate(needed("fastlbp_bp_save_state", words[0]));
                    self.saved.push((words[0], state));
                    let surplus = self.saved.len().saturating_sub(HANDLES);
                    self.saved.drain(..surplus);
                }
                _ => {}
            }
        }
        if function.name == "fastlbp_graph_write_file" {
            texts::files_have_changed();
        }
    }

    /// After a call that may have set another time limit: a few iterations with it, and then that of all
    /// sessions again.
    pub fn keep_short(&mut self, function: &Function, choices: &mut Choices) {
        if function.name == "fastlbp_bp_set_backend" && !choices.once_in(4) {
            // Most sessions are to go on where there is no device.
            for session in &self.sessions {
                (named("fastlbp_bp_set_backend").call)(&[session.handle, 0]);
            }
        }
        if !matches!(function.name, "fastlbp_bp_set_max_time" | "fastlbp_bp_set_property") {
            return;
        }
        for session in &self.sessions {
            if choices.once_in(4) {
                callbacks::begin(None);
                (named("fastlbp_bp_run_iterations").call)(&[session.handle, 2]);
                callbacks::end();
            }
            limit_time(session.handle);
        }
    }

    pub fn free_all(self) {
        for session in self.sessions {
            (named("fastlbp_bp_free").call)(&[session.handle]);
        }
        for graph in self.graphs {
            (named("fastlbp_graph_free").call)(&[graph]);
        }
    }
}

fn limit_time(session: u64) {
    let status = (named("fastlbp_bp_set_max_time").call)(&[session, SECONDS.to_bits()]);
    assert_eq!(status, super::OK);
}

/// Declares the variables that are not binary.
fn declare(graph: u64) {
    let labels = [6_u64, 7];
    let states = labels.map(|label| states_of_label(label) as u32);
    let arrays = [labels.as_ptr() as u64, states.as_ptr() as u64];
    let add = named("fastlbp_graph_add_variables").call;
    assert_eq!(add(&[graph, arrays[0], arrays[1], 2]), super::OK);
}

/// Factors of all kinds, or of few.
fn fill(graph: u64, recipe: usize) {
    let ok = |name: &str, arguments: &[u64]| {
        let mut words = vec![graph];
        words.extend_from_slice(arguments);
        let status = (named(name).call)(&words);
        assert_eq!(status, super::OK, "{name}: {}", super::last_error());
    };
    let [body, signs] = [[1_u64, 2], [0x0100, 0]];
    let (body, signs) = (body.as_ptr() as u64, signs.as_ptr() as u64);
    let values = [0.9_f64, 0.1, 0.25, 0.75, 0.5, 0.5, 0.125, 0.875, 1.0, 0.0, 0.5, 0.25];
    let values = values.as_ptr() as u64;
    let p = 0.75_f64.to_bits();
    ok("fastlbp_graph_add_prior", &[1, p]);
    ok("fastlbp_graph_add_and", &[3, body, 2, p, 0]);
    if recipe == 1 {
        return;
    }
    if recipe == 4 {
        // Contradictory: runs fail, or take votes.
        ok("fastlbp_graph_add_prior", &[2, 0]);
        ok("fastlbp_graph_add_prior", &[2, 1.0_f64.to_bits()]);
        return;
    }
    if recipe == 2 {
        declare(graph);
        let scope = [6_u64, 7];
        ok("fastlbp_graph_add_table", &[scope.as_ptr() as u64, 2, values, 12]);
    }
    ok("fastlbp_graph_add_or", &[4, body, 2, p, 0]);
    ok("fastlbp_graph_add_signed", &[5, body, signs, 2, values]);
    ok("fastlbp_graph_add_noisy", &[0, body, values, 2, values]);
    let indicators = [-1_i32, 1, 0, -1];
    ok("fastlbp_graph_add_terms", &[body, 2, values, 2, indicators.as_ptr() as u64, 4]);
}
