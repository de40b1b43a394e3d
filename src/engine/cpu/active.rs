//! The active set: a message is computed again only if one that it reads has moved since.
//!
//! A computed message is stored only if it differs from the stored one by more than the threshold. So the
//! inputs of a message that is skipped have not changed since it was last computed, and computing it again
//! would give the same bits. Time is counted in classes of the preorder (moments). Each variable remembers the
//! moment and the factor of the last changed message that reached it, and of the last one from another
//! factor; this tells which messages have to be computed.

use super::batches::{Batches, by_factor};
use super::factor::messages;
use super::state::State;
use super::store::store;
use super::trees::{Cursors, HighDegreeVariables, Trees};
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{EncodedMessage, ExtendedFloat, Real};
use crate::memory::{filled, room};
use crate::schedule::{Schedule, random_order};

/// The active set of a run.
pub(super) struct Active {
    /// e^threshold: a message moved if the odds of two states grew or fell by more than this factor.
    factor: ExtendedFloat,
    /// Whether the threshold is 0, so that nothing is dropped.
    every_difference: bool,
    order: Order,
    trees: Trees,
    cursors: Cursors,
    /// The next moment; moments start at 1.
    now: u64,
    /// When each edge's message was last computed; 0 for never.
    computed: Vec<u64>,
    /// Per variable, its last two arrivals from different factors, the latest first.
    arrivals: Vec<[Arrival; 2]>,
    /// Work list: the edges of a class whose messages are computed. It has room for all edges.
    selected: Vec<u32>,
    /// Number of messages that were skipped.
    pub(super) spared: u64,
}

enum Order {
    Classes(Batches),
    Random { seed: u64, order: Vec<u32> },
}

/// The arrival of a changed message: its moment and its factor.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    moment: u64,
    factor: u32,
}

impl Active {
    /// An active set for a run that has not begun yet.
    pub(super) fn new(state: &mut State, schedule: &Schedule, threshold: f64) -> Result<Self> {
        state.require_by_edge()?;
        let edges = state.graph.edge_count();
        let order = match *schedule {
            Schedule::SequentialRandom { seed } => Order::Random { seed, order: room(edges)? },
            _ => Order::Classes(Batches::of_classes(state, &schedule.preorder(&state.graph, 0)?)?),
        };
        let trees = Trees::new(state)?;
        let cursors = Cursors::new(state, &trees)?;
        let never = Arrival { moment: 0, factor: u32::MAX };
        Ok(Self {
            // Beyond the range of f64 nothing moves but by becoming certain.
            factor: ExtendedFloat::from_f64(threshold.exp().min(f64::MAX)),
            every_difference: threshold == 0.0,
            order,
            trees,
            cursors,
            now: 1,
            computed: filled(edges, 0)?,
            arrivals: filled(state.graph.variable_count(), [never; 2])?,
            selected: room(edges)?,
            spared: 0,
        })
    }

    /// Begins a run: every message will be computed once.
    pub(super) fn begin(&mut self, state: &State) {
        self.trees.rebuild_all(state);
        self.cursors.reset();
    }

    /// Runs one iteration. `iteration` is its number since the messages were uniform.
    pub(super) fn run(
        &mut self, state: &State, iteration: u64, workspace: &mut Workspace,
    ) -> Result<()> {
        match std::mem::replace(&mut self.order, Order::Random { seed: 0, order: Vec::new() }) {
            Order::Classes(classes) => {
                for index in 0..classes.count() {
                    self.run_class(state, classes.batch(index), workspace);
                }
                self.order = Order::Classes(classes);
            }
            Order::Random { seed, mut order } => {
                random_order(state.graph.edge_count(), seed, iteration, &mut order)?;
                for edge in &order {
                    self.run_class(state, std::slice::from_ref(edge), workspace);
                }
                self.order = Order::Random { seed, order };
            }
        }
        Ok(())
    }

    /// Runs a class: computes all its active messages before it stores any.
    fn run_class(&mut self, state: &State, class: &[u32], workspace: &mut Workspace) {
        let mut active = std::mem::take(&mut self.selected);
        active.clear();
        for group in by_factor(state, class) {
            let before = active.len();
            self.select(state, group, &mut active);
            let wanted = &active[before..];
            self.spared += (group.len() - wanted.len()) as u64;
            if wanted.is_empty() {
                continue;
            }
            let factor = state.graph.edge_factors()[group[0] as usize] as usize;
            let mut high_degree_variables =
                HighDegreeVariables { trees: &self.trees, cursors: Some(&mut self.cursors) };
            if !messages(state, &mut high_degree_variables, factor, wanted, workspace) {
                continue;
            }
            let mut at = 0;
            for &edge in wanted {
                let length = state.edge_values(edge as usize).len();
                state.hold(edge as usize, &workspace.outputs[at..at + length]);
                at += length;
            }
        }
        let mut message = std::mem::take(&mut workspace.message);
        for &edge in &active {
            let edge = edge as usize;
            self.computed[edge] = self.now;
            if state.take_held(edge, &mut message).is_err() {
                workspace.lacks_memory = true;
                break;
            }
            let link = state.links[edge];
            if !self.moved(state.to_variable.slice(state.slot_values(link.slot as usize)), &message)
            {
                continue;
            }
            store(state, edge, link, &message, workspace);
            if link.high_degree {
                let mut high_degree_variables =
                    HighDegreeVariables { trees: &self.trees, cursors: Some(&mut self.cursors) };
                high_degree_variables.changed(state, edge);
            }
            self.arrive(state, edge);
        }
        workspace.message = message;
        self.selected = active;
        self.now += 1;
    }

    /// Adds the edges of a factor's group whose messages have to be computed: those that read a message which
    /// arrived at or after the moment at which they were last computed.
    fn select(&self, state: &State, group: &[u32], active: &mut Vec<u32>) {
        let graph = &state.graph;
        let factor = graph.edge_factors()[group[0] as usize];
        // The latest arrivals from other factors at two of the factor's variables.
        let (mut latest, mut latest_at, mut second) = (0, usize::MAX, 0);
        for edge in graph.factor_edges(factor as usize) {
            let arrivals = &self.arrivals[graph.edge_variables()[edge] as usize];
            let moment = arrivals[usize::from(arrivals[0].factor == factor)].moment;
            if moment > latest {
                (latest, latest_at, second) = (moment, edge, latest);
            } else {
                second = second.max(moment);
            }
        }
        active.extend(group.iter().copied().filter(|&edge| {
            let read = if latest_at == edge as usize { second } else { latest };
            let computed = self.computed[edge as usize];
            computed == 0 || (read > 0 && read >= computed)
        }));
    }

    /// Notes that a changed message has arrived along an edge.
    fn arrive(&mut self, state: &State, edge: usize) {
        let factor = state.graph.edge_factors()[edge];
        let arrivals = &mut self.arrivals[state.graph.edge_variables()[edge] as usize];
        if arrivals[0].factor != factor {
            arrivals[1] = arrivals[0];
        }
        arrivals[0] = Arrival { moment: self.now, factor };
    }

    /// Whether the log-odds of two states moved by more than the threshold.
    fn moved(&self, old: impl Iterator<Item = EncodedMessage>, new: &[EncodedMessage]) -> bool {
        let mut range: Option<(ExtendedFloat, ExtendedFloat)> = None;
        let mut differs = false;
        for (old, &new) in old.zip(new) {
            differs |= old != new;
            if old.is_deterministic() || new.is_deterministic() {
                if old != new {
                    return true;
                }
                continue;
            }
            let growth = new.unpack().divide(old.unpack());
            let (least, most) = range.unwrap_or((growth, growth));
            range = Some((least.smaller(growth), most.larger(growth)));
        }
        if new.len() == 1 {
            // One number is the odds of two states, of which the other stays.
            range = range.map(|(least, most)| {
                (least.smaller(ExtendedFloat::ONE), most.larger(ExtendedFloat::ONE))
            });
        }
        let exceeds = |(least, most): (ExtendedFloat, ExtendedFloat)| {
            !most.minus(least.multiply(self.factor)).is_zero()
        };
        differs && (self.every_difference || range.is_some_and(exceeds))
    }
}
