//! Synchronous iterations (PARALL): every message reads the values of the previous iteration. First all
//! messages to factors are computed, then all messages to variables. Nodes all of whose inputs are as they were are left out.

use super::factor::{all_messages, is_constant, settle_contradictions};
use super::four::{FourAtOnce, MOST_EDGES};
use super::nodes::{Group, Nodes};
use super::pace::Pace;
use super::stale::Stale;
use super::state::State;
use super::targets::Targets;
use super::team::Team;
use super::tuning::Tuning;
use super::values::View;
use super::variable::send_to_factors;
use super::workspace::{Beliefs, Movement, Workspace};
use crate::error::Result;
use crate::factor::FactorKind;
use crate::kernel::{
    EncodedMessage, HornCoefficients, Inference, Product, damped_odds, small_horn_messages,
};
use crate::memory::{NoMemory, fit};
use std::ops::Range;

/// The nodes of a graph, cut into chunks of about equal work.
pub(super) struct Synchronous {
    variables: Nodes,
    factors: Nodes,
    pub(super) targets: Targets,
    pub(super) stale_variables: Stale,
    pub(super) stale_factors: Stale,
    /// Whether the messages from observed variables are in `State::by_edge`: they never change.
    observed_sent: bool,
    /// Whether nodes that are not stale are left out.
    skips: bool,
    /// Whether that may be so in any run; tests compare with an engine where it is not.
    pub(super) may_skip: bool,
    /// Whether one thread runs the next iteration.
    pub(super) pace: Pace,
}

/// Most edges of a node that are prefetched; the processor's own prefetcher finds the rest.
const PREFETCHED_EDGES: usize = 8;

/// Shapes of variables: their degrees, up to this one.
pub(super) const LARGEST_DEGREE: usize = 64;

/// Number of shapes of factors; the first ones are those of [`few`].
pub(super) const FACTOR_SHAPES: usize = FEW_SHAPES + 2 * FactorKind::ALL.len();
const FEW_SHAPES: usize = (MOST_EDGES + 1) * MOST_EDGES;

/// Number of variants of a shape: by their coefficients, so that most factors have those of the factors before.
pub(super) const FACTOR_VARIANTS: usize = 8;

/// The shape of a factor, and its variant.
pub(super) fn factor_shape(state: &State, factor: usize) -> [u16; 2] {
    let arity = state.graph.arity(factor);
    let is_small = arity <= MOST_EDGES;
    let shape = match state.conjunction(factor) {
        Some((head, c)) if is_small && c.may_be_near() => arity * MOST_EDGES + head,
        _ => FEW_SHAPES + 2 * state.graph.kind(factor) as usize + usize::from(is_small),
    };
    let coefficients = state.graph.conjunction_parameter(factor).unwrap_or_default();
    [shape as u16, (coefficients % FACTOR_VARIANTS) as u16]
}

/// The arity and the position of the head, where the shape is that of conjunctions of at most [`MOST_EDGES`] variables whose
/// messages can be computed in `f64` where inputs are near one.
pub(super) fn few(shape: u16) -> Option<(usize, usize)> {
    let shape = shape as usize;
    (shape < FEW_SHAPES).then_some((shape / MOST_EDGES, shape % MOST_EDGES))
}

impl Synchronous {
    pub(super) fn new(state: &State, threads: usize, tuning: &Tuning) -> Result<Self> {
        let graph = &state.graph;
        let (degree, arity) = (|v| graph.degree(v), |f| graph.arity(f));
        let degree_shape = |v| [degree(v).min(LARGEST_DEGREE) as u16, 0];
        let sizes = |nodes| [nodes, graph.edge_count(), threads];
        let variables = Nodes::new(
            sizes(graph.variable_count()),
            degree,
            [LARGEST_DEGREE + 1, 1],
            degree_shape,
        )?;
        let factors = Nodes::new(
            sizes(graph.factor_count()),
            arity,
            [FACTOR_SHAPES, FACTOR_VARIANTS],
            |f| factor_shape(state, f),
        )?;
        Ok(Self {
            variables,
            factors,
            targets: Targets::new(state, FourAtOnce::may_serve(state))?,
            stale_variables: Stale::new(graph.variable_count())?,
            stale_factors: Stale::new(graph.factor_count())?,
            observed_sent: false,
            skips: false,
            may_skip: true,
            pace: Pace::new(tuning),
        })
    }

    /// Begins a run, before which messages and evidence may have changed. `skips` says that from now on only this changes
    /// them, and that they depend on nothing but the inputs of their nodes.
    pub(super) fn begin(&mut self, skips: bool) {
        self.skips = skips;
        self.messages_were_replaced();
    }

    /// All nodes are stale: somebody else has changed messages.
    pub(super) fn messages_were_replaced(&mut self) {
        self.stale_variables.mark_all();
        self.stale_factors.mark_all();
        self.observed_sent = false;
    }

    /// Whether nodes are left out of which no message can have changed.
    pub(super) fn skips(&self) -> bool {
        self.skips
    }

    /// Whether the messages to a variable may have changed since those from it were last computed.
    #[inline(always)]
    pub(super) fn may_have_changed(&self, variable: usize) -> bool {
        !self.skips || self.stale_variables.is_marked(variable)
    }

    #[inline(always)]
    fn is_factor_skipped(&self, factor: usize) -> bool {
        self.skips && !self.stale_factors.is_marked(factor)
    }

    /// Runs `visit` for every variable, on all threads.
    pub(super) fn for_variables(&self, team: &Team, visit: impl Fn(usize, &mut Workspace) + Sync) {
        self.variables.for_each(team, visit);
    }

    /// Calls `each` for every binary variable of which the probability of state 1 can be computed with others, if `skips` only
    /// where it may have changed, and `visit` for all others, on all threads.
    pub(super) fn probabilities(
        &self, state: &State, team: &Team, skips: bool,
        each: impl Fn(usize, f64, &mut Workspace) + Sync,
        visit: impl Fn(usize, &mut Workspace) + Sync,
    ) {
        let Some(four) = self.four_of_a_batch(state) else {
            return self.for_variables(team, visit);
        };
        self.variables.for_groups(team, |degree, group, workspace| {
            // Both write to the workspace, one after the other.
            let workspace = std::cell::RefCell::new(workspace);
            four.probabilities(
                degree as usize,
                group.nodes,
                skips && self.skips,
                &mut |variable, probability| {
                    each(variable, probability, &mut workspace.borrow_mut())
                },
                &mut |variable| visit(variable, &mut workspace.borrow_mut()),
            );
        });
    }

    /// Runs `visit` for every factor, on all threads.
    pub(super) fn for_factors(&self, team: &Team, visit: impl Fn(usize, &mut Workspace) + Sync) {
        self.factors.for_each(team, visit);
    }

    /// Computes all messages from variables to factors into `State::by_edge`. A variable that is contradictory stays stale, so
    /// that it is counted in every iteration.
    pub(super) fn update_to_factors(&mut self, state: &State, team: &Team) {
        // (Plain runs that leave out no nodes are what tests compare with.)
        if !self.skips && state.is_plain_run() {
            self.update_with(None, state, team);
        } else {
            self.update_all_to_factors(state, team);
        }
    }

    /// The same for measurements, whoever has changed messages.
    pub(super) fn update_all_to_factors(&mut self, state: &State, team: &Team) {
        if !self.skips {
            self.stale_variables.mark_all();
        }
        self.update_with(self.four_of_variables(state).as_ref(), state, team);
        self.observed_sent = self.skips;
    }

    fn update_with(&self, four: Option<&FourAtOnce<'_>>, state: &State, team: &Team) {
        self.variables.for_groups(team, |degree, group, workspace| {
            let many = four.filter(|_| degree > MOST_EDGES as u16);
            let mut one = |v| {
                if !self.has_sent_observation(state, v) {
                    self.variable_sends(state, v, many, workspace);
                }
            };
            match four {
                Some(four) if (2..=MOST_EDGES as u16).contains(&degree) => {
                    four.update_variables(degree as usize, group.nodes, &mut one);
                }
                _ => self.stale_of(state, &group).for_each(one),
            }
        });
    }

    /// Computes all messages from variables to factors, and what these have in common with beliefs once: as
    /// [`Self::update_to_factors`] after a measurement, where beliefs were last measured before the last iteration. `beliefs` are
    /// those then, of binary variables, and the tolerance. Others, and variables with evidence, it leaves to `measure`, which is
    /// given the product that is their belief, if that is known.
    pub(super) fn update_and_measure(
        &mut self, state: &State, team: &Team, beliefs: (View<'_>, f64),
        measure: impl Fn(usize, Option<Product>, &mut Workspace) + Sync,
    ) {
        let four = self.four_at_once(state);
        self.variables.for_groups(team, |degree, group, workspace| {
            let (last, tolerance) = beliefs;
            let movement = Movement { moved: 0, ..workspace.movement };
            let mut beliefs = Beliefs { last, tolerance, movement };
            let many = four.as_ref().filter(|_| degree > MOST_EDGES as u16);
            let mut one = |v, is_sent| {
                if is_sent {
                    measure(v, None, workspace);
                } else if !self.has_sent_observation(state, v) {
                    let product = self.variable_sends(state, v, many, workspace);
                    measure(v, product, workspace);
                }
            };
            match &four {
                Some(four) if (1..=MOST_EDGES as u16).contains(&degree) => {
                    four.update_and_measure(degree as usize, group.nodes, &mut beliefs, &mut one);
                    workspace.movement.add(beliefs.movement);
                }
                _ => self.stale_of(state, &group).for_each(|v| one(v, false)),
            }
        });
        self.observed_sent = self.skips;
    }

    /// The variables of a group that are stale, or may be; what each writes is prefetched.
    #[inline(always)]
    fn stale_of<'a>(&self, state: &State, group: &Group<'a>) -> impl Iterator<Item = usize> {
        let prepare = |v| {
            if !self.may_have_changed(v) {
                return;
            }
            for &edge in state.graph.variable_edges(v).iter().take(PREFETCHED_EDGES) {
                state.by_edge.prefetch(state.edge_values(edge as usize).start);
            }
        };
        group.iter(prepare).filter(|&v| self.may_have_changed(v))
    }

    /// Whether a variable is observed and has sent that: then nothing of it changes any more.
    #[inline(always)]
    fn has_sent_observation(&self, state: &State, variable: usize) -> bool {
        let has_sent = self.observed_sent && state.known[variable].is_observed();
        if has_sent {
            self.stale_variables.unmark(variable);
        }
        has_sent
    }

    /// Updates all messages of a variable; `many` are the means for one with many factors. Returns what [`send_to_factors`] does.
    #[inline]
    fn variable_sends(
        &self, state: &State, variable: usize, many: Option<&FourAtOnce<'_>>,
        workspace: &mut Workspace,
    ) -> Option<Product> {
        if let Some(four) = many
            && let Some(product) = four.update_variable(variable, workspace)
        {
            return Some(product);
        }
        let before = workspace.contradictions.count;
        let product = send_to_factors(state, variable, &self.stale_factors, workspace);
        if workspace.contradictions.count == before {
            self.stale_variables.unmark(variable);
        }
        product
    }

    /// Computes and stores all messages from factors to variables, from the messages in `State::by_edge`. Messages
    /// of factors with one variable never change, and are left out if `constants_sent`. A factor with a contradictory message
    /// stays stale.
    pub(super) fn update_to_variables(&self, state: &State, team: &Team, constants_sent: bool) {
        let prepare = |f| {
            if self.is_factor_skipped(f) {
                return;
            }
            for edge in state.graph.factor_edges(f).take(PREFETCHED_EDGES) {
                let slot = self.targets.to_variable.list()[edge].place;
                state.to_variable.prefetch(state.slot_values(slot as usize).start);
            }
        };
        let small = state.graph.all_binary() && state.inference == Inference::SumProduct;
        let four = self.four_at_once(state);
        self.factors.for_groups(team, |shape, group, workspace| {
            let mut alone = 0;
            let mut one = |f| {
                if !(constants_sent && is_constant(state, f)) {
                    alone += state.graph.arity(f) as u64;
                    let before = workspace.contradictions.count;
                    self.factor_sends(state, f, small, workspace);
                    if workspace.contradictions.count == before {
                        self.stale_factors.unmark(f);
                    }
                }
            };
            match (&four, few(shape)) {
                (Some(four), Some((arity, head))) if arity > 1 => {
                    let count = four.update_factors(arity, head, group.nodes, &mut one);
                    workspace.computed += (count * arity) as u64;
                }
                _ => {
                    group.iter(prepare).filter(|&f| !self.is_factor_skipped(f)).for_each(one);
                    workspace.computed += alone;
                }
            }
        });
    }

    /// The means to compute several nodes at once; only where a run may leave out nodes that are not stale.
    fn four_at_once<'a>(&'a self, state: &'a State) -> Option<FourAtOnce<'a>> {
        if self.skips { self.four_of_a_batch(state) } else { None }
    }

    /// The same for batches, which leave out variables that are not stale.
    pub(super) fn four_of_a_batch<'a>(&'a self, state: &'a State) -> Option<FourAtOnce<'a>> {
        self.four_of_variables(state).filter(|_| state.is_plain_run())
    }

    /// The same for messages of variables in any run.
    fn four_of_variables<'a>(&'a self, state: &'a State) -> Option<FourAtOnce<'a>> {
        FourAtOnce::new(state, &self.targets, &self.stale_variables, &self.stale_factors)
    }

    /// Updates all messages of a factor. `small` says that small conjunctions may take their fast path.
    #[inline(always)]
    fn factor_sends(&self, state: &State, factor: usize, small: bool, workspace: &mut Workspace) {
        let edges = state.graph.factor_edges(factor);
        if small && let Some((head, c)) = state.conjunction(factor) {
            match edges.len() {
                1 => return self.small_factor_sends::<1>(state, edges.start, head, c, workspace),
                2 => return self.small_factor_sends::<2>(state, edges.start, head, c, workspace),
                3 => return self.small_factor_sends::<3>(state, edges.start, head, c, workspace),
                4 => return self.small_factor_sends::<4>(state, edges.start, head, c, workspace),
                5 => return self.small_factor_sends::<5>(state, edges.start, head, c, workspace),
                6 => return self.small_factor_sends::<6>(state, edges.start, head, c, workspace),
                7 => return self.small_factor_sends::<7>(state, edges.start, head, c, workspace),
                8 => return self.small_factor_sends::<8>(state, edges.start, head, c, workspace),
                _ => {}
            }
        }
        if !edges.is_empty() && self.any_factor_sends(state, factor, edges, workspace).is_err() {
            workspace.lacks_memory = true;
        }
    }

    #[inline(never)]
    fn any_factor_sends(
        &self, state: &State, factor: usize, edges: Range<usize>, workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        let values = state.edge_values(edges.start).start..state.edge_values(edges.end - 1).end;
        let first = values.start;
        workspace.inputs.clear();
        fit(&mut workspace.inputs, values.len())?;
        workspace.inputs.extend(state.by_edge.slice(values));
        all_messages(state, factor, None, workspace)?;
        settle_contradictions(state, edges.clone(), workspace);
        for edge in edges {
            let target = self.targets.to_variable.list()[edge];
            let (slot, variable) = (target.place as usize, target.node as usize);
            let from = state.edge_values(edge);
            let Workspace { outputs, damping, contradictions, .. } = workspace;
            let message = &mut outputs[from.start - first..from.end - first];
            state.keep_computed(slot, message);
            if state.damping > 0.0 {
                fit(&mut damping.old, message.len())?;
                if state.damp(slot, message, &mut damping.old) {
                    contradictions.add(variable);
                }
            }
            if state.drops_message(slot, message) {
                continue;
            }
            let mut differs = false;
            for (index, &value) in state.slot_values(slot).zip(message.iter()) {
                differs |= state.to_variable.replace(index, value);
            }
            if differs {
                self.stale_variables.mark(variable);
            }
        }
        Ok(())
    }

    /// [`Self::factor_sends`] for the common case: binary, `N` variables, nothing on the heap.
    #[inline(always)]
    fn small_factor_sends<const N: usize>(
        &self, state: &State, first: usize, head: usize, c: &HornCoefficients,
        workspace: &mut Workspace,
    ) {
        let inputs = state.by_edge.array::<N>(first);
        let outputs = small_horn_messages(&inputs, head, c);
        let targets = &self.targets.to_variable.list()[first..first + N];
        let mut changed = 0_u32;
        for (position, (&output, target)) in outputs.iter().zip(targets).enumerate() {
            let mut odds = output;
            if odds == EncodedMessage::CONTRADICTION {
                odds = EncodedMessage::ONE;
                workspace.contradictions.add(target.node as usize);
            }
            let slot = target.place as usize;
            state.keep_computed(slot, &[odds]);
            if state.damping > 0.0 {
                let damped = damped_odds(state.to_variable.get(slot), odds, state.damping);
                odds = damped.unwrap_or(EncodedMessage::ONE);
                if damped.is_none() {
                    workspace.contradictions.add(target.node as usize);
                }
            }
            if state.drops(slot, odds) {
                continue;
            }
            let differs = state.to_variable.replace(slot, odds);
            changed |= u32::from(differs) << position;
        }
        while changed != 0 {
            self.stale_variables.mark(targets[changed.trailing_zeros() as usize].node as usize);
            changed &= changed - 1;
        }
    }
}
