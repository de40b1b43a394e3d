//! Synchronous messages of four nodes of one shape at once, for most conjunctions of two to eight binary variables, and most
//! variables of two to eight factors; and those of a variable with more factors, eight at a time. Nodes that vector registers
//! do not serve are left to functions for one node.

use super::batches::FactorPart;
use super::nodes::PREFETCHED_FROM;
use super::stale::{Stale, StaleView};
use super::state::{Known, State};
use super::targets::{Destination, FactorPlace, Targets};
use super::workspace::{Beliefs, Movement, Workspace};
use crate::kernel::eight::Blocks;
use crate::kernel::four::{
    ALL, FOUR, Four, FourCoefficients, FourProducts, four_head_first_messages, four_probabilities,
    is_available,
};
use crate::kernel::{
    BLOCK, EncodedMessage, HornCoefficients, Product, Threshold, head_first_position,
};
use crate::memory::NoMemory;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Most edges of nodes that are computed four at a time.
pub(super) const MOST_EDGES: usize = 8;

/// Number of nodes of which the stale ones are collected at a time.
const BATCH: usize = 256;
/// Number of times four nodes by which the prefetch of what they write precedes the computation.
const PREFETCH_DISTANCE: usize = 3;

/// The coefficients of four factors, and their numbers: those of the next four are mostly the same.
struct Coefficients<const N: usize> {
    numbers: [u32; FOUR],
    four: FourCoefficients<N>,
}

impl<const N: usize> Coefficients<N> {
    fn none() -> Self {
        Self { numbers: [u32::MAX; FOUR], four: FourCoefficients::NONE }
    }
}

/// What messages of four nodes at once are computed from and where they go: lists by themselves, as [`View`] is. All variables
/// are binary; messages of factors are computed in plain runs only ([`State::is_plain_run`]).
pub(super) struct FourAtOnce<'a> {
    state: &'a State,
    to_variables: Destination<'a>,
    to_factors: Destination<'a>,
    factors: &'a [FactorPlace],
    /// Where the slots of each variable start.
    first_slots: &'a [u32],
    coefficients: &'a [HornCoefficients],
    prefetches: bool,
}

impl<'a> FourAtOnce<'a> {
    /// Whether some run is served.
    pub(super) fn may_serve(state: &State) -> bool {
        state.graph.all_binary() && is_available()
    }

    /// `None` where the processor is another one, or some variable is not binary.
    pub(super) fn new(
        state: &'a State, targets: &'a Targets, stale_variables: &'a Stale,
        stale_factors: &'a Stale,
    ) -> Option<Self> {
        let graph = &state.graph;
        Self::may_serve(state).then(|| Self {
            state,
            to_variables: Destination::new(
                state.to_variable.view(),
                stale_variables.view(),
                &targets.to_variable,
            ),
            to_factors: Destination::new(
                state.by_edge.view(),
                stale_factors.view(),
                &targets.to_factor,
            ),
            factors: &targets.factors,
            first_slots: state.first_slots(),
            coefficients: state.all_coefficients(),
            prefetches: graph.edge_count() >= PREFETCHED_FROM,
        })
    }

    /// Computes and stores all messages of stale factors, which are conjunctions of `arity` = 2 to 8 variables with the head at
    /// one position and coefficients that may be near. Calls `one` for those whose messages it leaves out. Returns the number of
    /// stale ones.
    pub(super) fn update_factors(
        &self, arity: usize, head: usize, factors: &[u32], one: &mut dyn FnMut(usize),
    ) -> usize {
        match self.state.threshold {
            None => self.update_any_factors::<false>(arity, head, factors, one),
            Some(_) => self.update_any_factors::<true>(arity, head, factors, one),
        }
    }

    /// [`Self::update_factors`] of a run that `DROPS` small changes, or not.
    fn update_any_factors<const DROPS: bool>(
        &self, arity: usize, head: usize, factors: &[u32], one: &mut dyn FnMut(usize),
    ) -> usize {
        // SAFETY: there is AVX2, as `new` has seen.
        unsafe {
            match arity {
                2 => self.update_factors_of::<2, DROPS>(head, factors, one),
                3 => self.update_factors_of::<3, DROPS>(head, factors, one),
                4 => self.update_factors_of::<4, DROPS>(head, factors, one),
                5 => self.update_factors_of::<5, DROPS>(head, factors, one),
                6 => self.update_factors_of::<6, DROPS>(head, factors, one),
                7 => self.update_factors_of::<7, DROPS>(head, factors, one),
                8 => self.update_factors_of::<8, DROPS>(head, factors, one),
                _ => stale(self.to_factors.stale, factors).map(one).count(),
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn update_factors_of<const N: usize, const DROPS: bool>(
        &self, head: usize, factors: &[u32], one: &mut dyn FnMut(usize),
    ) -> usize {
        let mut stale = Collected::new();
        let mut coefficients = Coefficients::none();
        let mut count = 0;
        for factors in factors.chunks(BATCH) {
            stale.collect(factors, |factor| self.to_factors.stale.is_marked(factor as usize));
            count += stale.count;
            let (fours, others) = stale.in_fours();
            for (at, &four) in fours.iter().enumerate() {
                if self.prefetches
                    && let Some(ahead) = fours.get(at + PREFETCH_DISTANCE)
                {
                    self.prefetch_slots::<N>(*ahead);
                }
                let right = self.update_four_factors::<N, false, DROPS>(
                    four,
                    head,
                    &mut coefficients,
                    [u32::MAX; FOUR],
                );
                left_out(four, right, one);
            }
            others.iter().for_each(|&factor| one(factor as usize));
        }
        count
    }

    /// Prefetches the messages of factors to their variables.
    #[inline(always)]
    fn prefetch_slots<const N: usize>(&self, factors: [u32; FOUR]) {
        for factor in factors {
            let first = self.factors[factor as usize].first_edge as usize;
            for target in self.to_variables.targets(first, N) {
                self.to_variables.messages.prefetch(target.place as usize);
            }
        }
    }

    /// Computes and stores all messages of four factors, or, where `PARTIAL`, those at `positions`, a bit for each. Returns whose
    /// messages were stored, as a bit for each.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn update_four_factors<const N: usize, const PARTIAL: bool, const DROPS: bool>(
        &self, factors: [u32; FOUR], head: usize, coefficients: &mut Coefficients<N>,
        positions: [u32; FOUR],
    ) -> u32 {
        // (Functions of arrays would not be inlined where there is AVX2.)
        let (mut first, mut numbers) = ([0; FOUR], [0; FOUR]);
        let mut rows = [std::ptr::null(); FOUR];
        for lane in 0..FOUR {
            let place = self.factors[factors[lane] as usize];
            (first[lane], numbers[lane]) = (place.first_edge as usize, place.coefficients);
            rows[lane] = self.to_factors.messages.place::<N>(first[lane]);
        }
        if numbers != coefficients.numbers {
            *coefficients = Coefficients { numbers, four: self.coefficients_of(numbers, head) };
        }
        // SAFETY: `place` has seen that there are so many, and messages to factors are written in other steps, with a barrier
        // in between.
        let columns = unsafe { Four::columns::<N>(rows) };
        let mut inputs = [Four::splat(1.0); N];
        for (number, input) in inputs.iter_mut().enumerate() {
            *input = columns[head_first_position(number, head)];
        }
        let (outputs, right) = four_head_first_messages(inputs, &coefficients.four);
        let mut messages = [Four::splat(1.0); N];
        for number in 0..N {
            messages[head_first_position(number, head)] = outputs[number];
        }
        if let (true, Some(threshold)) = (DROPS, self.state.threshold) {
            self.store_moved::<N, PARTIAL>(threshold, &messages, first, right, positions);
        } else if PARTIAL {
            self.store_partly(&messages, first, right, positions);
        } else {
            for lane in (0..FOUR).filter(|lane| right >> lane & 1 == 1) {
                let message = |position: usize| messages[position].stored()[lane];
                self.to_variables.store::<N>(first[lane], message);
            }
        }
        if !PARTIAL {
            for lane in (0..FOUR).filter(|lane| right >> lane & 1 == 1) {
                self.to_factors.stale.unmark(factors[lane] as usize);
            }
        }
        right
    }

    /// Stores those messages of four factors at `positions` that have moved; notes new deterministic ones if `NOTES`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn store_moved<const N: usize, const NOTES: bool>(
        &self, threshold: Threshold, messages: &[Four; N], first: [usize; FOUR], right: u32,
        positions: [u32; FOUR],
    ) {
        let Destination { messages: stored, stale, .. } = self.to_variables;
        for lane in (0..FOUR).filter(|lane| right >> lane & 1 == 1) {
            for (position, target) in self.to_variables.targets(first[lane], N).iter().enumerate() {
                if NOTES && positions[lane] >> position & 1 == 0 {
                    continue;
                }
                let (message, slot) = (messages[position].stored()[lane], target.place as usize);
                let message = threshold.stored(stored.get(slot), message);
                if stored.replace(slot, message) {
                    stale.mark(target.node as usize);
                    if NOTES && message.is_deterministic() {
                        self.state.newly_certain.set(target.node as usize);
                    }
                }
            }
        }
    }

    /// Stores messages of four factors at `positions`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn store_partly<const N: usize>(
        &self, messages: &[Four; N], first: [usize; FOUR], right: u32, positions: [u32; FOUR],
    ) {
        let Destination { messages: stored, stale, .. } = self.to_variables;
        let (unwanted, unwanted_mark) = (AtomicU64::new(0), AtomicBool::new(false));
        for lane in (0..FOUR).filter(|lane| right >> lane & 1 == 1) {
            let targets = self.to_variables.targets(first[lane], N);
            for position in 0..N {
                let (target, message) = (targets[position], messages[position].stored()[lane]);
                let variable = target.node as usize;
                let is_wanted = positions[lane] >> position & 1 == 1;
                let differs =
                    stored.replace_if(is_wanted, target.place as usize, message, &unwanted);
                stale.mark_if(differs, variable, &unwanted_mark);
                if differs && message.is_deterministic() {
                    self.state.newly_certain.set(variable);
                }
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn coefficients_of<const N: usize>(
        &self, numbers: [u32; FOUR], head: usize,
    ) -> FourCoefficients<N> {
        FourCoefficients::new(numbers.map(|number| &self.coefficients[number as usize]), head)
    }

    /// Computes and stores some messages of factors as those of [`Self::update_factors`], stale or not: of `parts`, those with
    /// these numbers. Notes new deterministic messages. Calls `one` for the parts whose messages it leaves out.
    pub(super) fn update_parts(
        &self, shape: (usize, usize), parts: &[FactorPart], numbers: &[u32],
        one: &mut dyn FnMut(usize),
    ) {
        match self.state.threshold {
            None => self.update_any_parts::<false>(shape, parts, numbers, one),
            Some(_) => self.update_any_parts::<true>(shape, parts, numbers, one),
        }
    }

    /// [`Self::update_parts`] of a run that `DROPS` small changes, or not.
    fn update_any_parts<const DROPS: bool>(
        &self, (arity, head): (usize, usize), parts: &[FactorPart], numbers: &[u32],
        one: &mut dyn FnMut(usize),
    ) {
        // SAFETY: there is AVX2, as `new` has seen.
        unsafe {
            match arity {
                2 => self.update_parts_of::<2, DROPS>(head, parts, numbers, one),
                3 => self.update_parts_of::<3, DROPS>(head, parts, numbers, one),
                4 => self.update_parts_of::<4, DROPS>(head, parts, numbers, one),
                5 => self.update_parts_of::<5, DROPS>(head, parts, numbers, one),
                6 => self.update_parts_of::<6, DROPS>(head, parts, numbers, one),
                7 => self.update_parts_of::<7, DROPS>(head, parts, numbers, one),
                8 => self.update_parts_of::<8, DROPS>(head, parts, numbers, one),
                _ => numbers.iter().for_each(|&number| one(number as usize)),
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn update_parts_of<const N: usize, const DROPS: bool>(
        &self, head: usize, parts: &[FactorPart], numbers: &[u32], one: &mut dyn FnMut(usize),
    ) {
        let (fours, others) = numbers.as_chunks::<FOUR>();
        let mut coefficients = Coefficients::none();
        for &four in fours {
            let mut factors = [0; FOUR];
            let mut positions = [0; FOUR];
            for lane in 0..FOUR {
                let part = &parts[four[lane] as usize];
                (factors[lane], positions[lane]) = (part.factor, part.positions);
            }
            let right = self.update_four_factors::<N, true, DROPS>(
                factors,
                head,
                &mut coefficients,
                positions,
            );
            left_out(four, right, one);
        }
        others.iter().for_each(|&number| one(number as usize));
    }

    /// Computes all messages of stale variables with `degree` = 2 to 8 factors into [`State::by_edge`]. Calls `one` for those
    /// whose messages it leaves out.
    pub(super) fn update_variables(
        &self, degree: usize, variables: &[u32], one: &mut dyn FnMut(usize),
    ) {
        let mut one = |variable, _| one(variable);
        // SAFETY: there is AVX2, as `new` has seen.
        unsafe {
            match degree {
                2 => self.update_variables_of::<2, false>(variables, None, &mut one),
                3 => self.update_variables_of::<3, false>(variables, None, &mut one),
                4 => self.update_variables_of::<4, false>(variables, None, &mut one),
                5 => self.update_variables_of::<5, false>(variables, None, &mut one),
                6 => self.update_variables_of::<6, false>(variables, None, &mut one),
                7 => self.update_variables_of::<7, false>(variables, None, &mut one),
                8 => self.update_variables_of::<8, false>(variables, None, &mut one),
                _ => stale(self.to_variables.stale, variables).for_each(|v| one(v, false)),
            }
        }
    }

    /// As [`Self::update_variables`] of `degree` = 1 to 8, and measures how far the beliefs of these variables have moved. Calls
    /// `one` for those that it leaves out, with whether only their beliefs were left out.
    pub(super) fn update_and_measure(
        &self, degree: usize, variables: &[u32], beliefs: &mut Beliefs<'_>,
        one: &mut dyn FnMut(usize, bool),
    ) {
        let beliefs = Some(beliefs);
        // SAFETY: there is AVX2, as `new` has seen.
        unsafe {
            match degree {
                1 => self.update_variables_of::<1, true>(variables, beliefs, one),
                2 => self.update_variables_of::<2, true>(variables, beliefs, one),
                3 => self.update_variables_of::<3, true>(variables, beliefs, one),
                4 => self.update_variables_of::<4, true>(variables, beliefs, one),
                5 => self.update_variables_of::<5, true>(variables, beliefs, one),
                6 => self.update_variables_of::<6, true>(variables, beliefs, one),
                7 => self.update_variables_of::<7, true>(variables, beliefs, one),
                8 => self.update_variables_of::<8, true>(variables, beliefs, one),
                _ => stale(self.to_variables.stale, variables).for_each(|v| one(v, false)),
            }
        }
    }

    /// See [`Self::update_and_measure`]; there are `beliefs` where it `MEASURES`.
    #[target_feature(enable = "avx2")]
    fn update_variables_of<const D: usize, const MEASURES: bool>(
        &self, variables: &[u32], mut beliefs: Option<&mut Beliefs<'_>>,
        one: &mut dyn FnMut(usize, bool),
    ) {
        let mut stale = Collected::new();
        for variables in variables.chunks(BATCH) {
            stale.collect(variables, |v| self.to_variables.stale.is_marked(v as usize));
            self.take_known(&mut stale, &mut |variable| one(variable, false));
            let (fours, others) = stale.in_fours();
            for (at, &four) in fours.iter().enumerate() {
                if self.prefetches
                    && let Some(ahead) = fours.get(at + PREFETCH_DISTANCE)
                {
                    self.prefetch_edges::<D>(*ahead);
                }
                let products = self.update_four_variables::<D, MEASURES>(four);
                if MEASURES && let Some(beliefs) = &mut beliefs {
                    let is_last = at + 1 == fours.len();
                    let measured = measure(beliefs, four, &products, is_last);
                    left_out(four, measured | !products.right, &mut |v| one(v, true));
                }
                left_out(four, products.right, &mut |v| one(v, false));
            }
            others.iter().for_each(|&variable| one(variable as usize, false));
        }
    }

    /// Calls `each` for variables with `degree` factors, stale ones only if `skips`, and the probability of state 1; `one` for
    /// those whose probability it leaves out.
    pub(super) fn probabilities(
        &self, degree: usize, variables: &[u32], skips: bool, each: &mut impl FnMut(usize, f64),
        one: &mut dyn FnMut(usize),
    ) {
        // SAFETY: there is AVX2, as `new` has seen.
        unsafe {
            match degree {
                1 => self.probabilities_of::<1>(variables, skips, each, one),
                2 => self.probabilities_of::<2>(variables, skips, each, one),
                3 => self.probabilities_of::<3>(variables, skips, each, one),
                4 => self.probabilities_of::<4>(variables, skips, each, one),
                5 => self.probabilities_of::<5>(variables, skips, each, one),
                6 => self.probabilities_of::<6>(variables, skips, each, one),
                7 => self.probabilities_of::<7>(variables, skips, each, one),
                8 => self.probabilities_of::<8>(variables, skips, each, one),
                _ if skips => stale(self.to_variables.stale, variables).for_each(one),
                _ => variables.iter().for_each(|&variable| one(variable as usize)),
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn probabilities_of<const D: usize>(
        &self, variables: &[u32], skips: bool, each: &mut impl FnMut(usize, f64),
        one: &mut dyn FnMut(usize),
    ) {
        let mut stale = Collected::new();
        for variables in variables.chunks(BATCH) {
            stale.collect(variables, |v| !skips | self.to_variables.stale.is_marked(v as usize));
            self.take_known(&mut stale, one);
            let (fours, others) = stale.nodes().as_chunks::<FOUR>();
            for &four in fours {
                let values = self.messages_to::<D>(self.first_slots(four));
                let (probabilities, right) = four_probabilities(values);
                for lane in 0..FOUR {
                    let variable = four[lane] as usize;
                    if right >> lane & 1 == 1 {
                        each(variable, probabilities[lane]);
                    } else {
                        one(variable);
                    }
                }
            }
            others.iter().for_each(|&variable| one(variable as usize));
        }
    }

    /// Takes variables with evidence out, and calls `one` for each.
    #[inline(always)]
    fn take_known(&self, variables: &mut Collected, one: &mut dyn FnMut(usize)) {
        variables.retain(|variable| {
            let is_known = self.state.known[variable as usize] != Known::Nothing;
            if is_known {
                one(variable as usize);
            }
            !is_known
        });
    }

    /// The messages to four variables, from the first slot of each.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn messages_to<const D: usize>(&self, first: [usize; FOUR]) -> [Four; D] {
        let mut rows = [std::ptr::null(); FOUR];
        for lane in 0..FOUR {
            rows[lane] = self.to_variables.messages.place::<D>(first[lane]);
        }
        // SAFETY: `place` has seen that there are so many, and messages to variables are written in other steps, with a barrier
        // in between.
        unsafe { Four::columns::<D>(rows) }
    }

    /// The first slot of each of four variables.
    #[inline(always)]
    fn first_slots(&self, variables: [u32; FOUR]) -> [usize; FOUR] {
        let mut first = [0; FOUR];
        for lane in 0..FOUR {
            first[lane] = self.first_slots[variables[lane] as usize] as usize;
        }
        first
    }

    /// Prefetches the messages of variables to their factors.
    #[inline(always)]
    fn prefetch_edges<const D: usize>(&self, variables: [u32; FOUR]) {
        for variable in variables {
            let first = self.first_slots[variable as usize] as usize;
            for target in self.to_factors.targets(first, D) {
                self.to_factors.messages.prefetch(target.place as usize);
            }
        }
    }

    /// Computes all messages of a variable with more factors. Returns the product of all messages to it; or `None`, with nothing
    /// done, where it has evidence or a message that is not near one.
    pub(super) fn update_variable(
        &self, variable: usize, workspace: &mut Workspace,
    ) -> Option<Product> {
        if self.state.known[variable] != Known::Nothing {
            return None;
        }
        // SAFETY: there is AVX2, as `new` has seen.
        let product = unsafe { self.update_by_blocks(variable, &mut workspace.products.blocks) };
        Workspace::note(&mut workspace.lacks_memory, product).flatten()
    }

    #[target_feature(enable = "avx2")]
    fn update_by_blocks(
        &self, variable: usize, blocks: &mut Blocks,
    ) -> Result<Option<Product>, NoMemory> {
        let start = self.first_slots[variable] as usize;
        let count = self.state.graph.degree(variable);
        let targets = self.to_factors.targets(start, count);
        blocks.begin(count)?;
        for first in (0..count).step_by(BLOCK) {
            if !blocks.add(self.to_variables.messages.padded(start + first, count - first)) {
                return Ok(None);
            }
        }
        let product = blocks.multiply()?;
        for (block, targets) in targets.chunks(BLOCK).enumerate() {
            for (&target, odds) in targets.iter().zip(blocks.others(block)) {
                // SAFETY: it is one of the targets.
                unsafe { self.to_factors.replace(target, odds) };
            }
        }
        self.to_variables.stale.unmark(variable);
        Ok(Some(product))
    }

    /// Stores the messages of those variables for which they are right.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn update_four_variables<const D: usize, const WITH_ALL: bool>(
        &self, variables: [u32; FOUR],
    ) -> FourProducts<D> {
        let first = self.first_slots(variables);
        let products = FourProducts::of::<WITH_ALL>(self.messages_to::<D>(first));
        for lane in (0..FOUR).filter(|lane| products.right >> lane & 1 == 1) {
            self.to_factors.store::<D>(first[lane], |at| products.others[at].stored()[lane]);
            self.to_variables.stale.unmark(variables[lane] as usize);
        }
        products
    }
}

/// Replaces the beliefs of four variables, the last of which may repeat one if `is_last`, and returns whose, as a bit for
/// each: those of which all messages to factors and the product of all messages are right.
#[target_feature(enable = "avx2")]
#[inline]
fn measure<const D: usize>(
    beliefs: &mut Beliefs<'_>, variables: [u32; FOUR], products: &FourProducts<D>, is_last: bool,
) -> u32 {
    let (probabilities, right) = products.probabilities();
    let measured = right & products.right;
    let mut before = [EncodedMessage::ONE; FOUR];
    for lane in 0..FOUR {
        before[lane] = beliefs.last.get(variables[lane] as usize);
    }
    let moves = probabilities.distance(Four::of(before));
    let stored = probabilities.stored();
    for lane in 0..FOUR {
        if measured == ALL || measured >> lane & 1 == 1 {
            beliefs.last.set(variables[lane] as usize, stored[lane]);
        }
    }
    let mut counted = measured;
    if is_last {
        for lane in 1..FOUR {
            counted &= !(u32::from(variables[lane] == variables[lane - 1]) << lane);
        }
    }
    beliefs.movement.moved += u64::from((moves.above(beliefs.tolerance) & counted).count_ones());
    if moves.above(beliefs.movement.max_diff) & counted != 0 {
        let moves = moves.stored().map(EncodedMessage::stored_f64);
        for lane in (0..FOUR).filter(|lane| counted >> lane & 1 == 1) {
            let (max_diff, most) = (moves[lane], variables[lane] as usize);
            beliefs.movement.add(Movement { max_diff, most, ..Movement::default() });
        }
    }
    measured
}

/// The stale ones of some nodes.
fn stale<'a>(marks: StaleView<'a>, nodes: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    nodes.iter().map(|&node| node as usize).filter(move |&node| marks.is_marked(node))
}

/// Up to [`BATCH`] nodes.
struct Collected {
    nodes: [MaybeUninit<u32>; BATCH],
    /// Number of nodes, which have been written.
    count: usize,
}

impl Collected {
    #[inline(always)]
    fn new() -> Self {
        Self { nodes: [const { MaybeUninit::uninit() }; BATCH], count: 0 }
    }

    /// Replaces the nodes by those of at most [`BATCH`] that are wanted. (There is no branch, and the number stays in a register.)
    #[inline(always)]
    fn collect(&mut self, nodes: &[u32], is_wanted: impl Fn(u32) -> bool) {
        assert!(nodes.len() <= BATCH);
        let mut count = 0;
        for &node in nodes {
            // SAFETY: fewer nodes were wanted than there are.
            unsafe { self.nodes.get_unchecked_mut(count) }.write(node);
            count += usize::from(is_wanted(node));
        }
        self.count = count;
    }

    /// Takes out the nodes that are not wanted.
    #[inline(always)]
    fn retain(&mut self, mut is_wanted: impl FnMut(u32) -> bool) {
        let mut count = 0;
        for at in 0..self.count {
            let node = self.nodes()[at];
            self.nodes[count].write(node);
            count += usize::from(is_wanted(node));
        }
        self.count = count;
    }

    #[inline(always)]
    fn nodes(&self) -> &[u32] {
        let nodes = &self.nodes[..self.count];
        // SAFETY: these were written, and have the layout of numbers.
        unsafe { std::slice::from_raw_parts(nodes.as_ptr().cast(), nodes.len()) }
    }

    /// The nodes as fours, the last one of which may repeat a node, and one that is left.
    #[inline(always)]
    fn in_fours(&mut self) -> (&[[u32; FOUR]], &[u32]) {
        const { assert!(BATCH.is_multiple_of(FOUR)) };
        if self.count % FOUR > 1 {
            let last = self.nodes[self.count - 1];
            let padded = self.count.next_multiple_of(FOUR);
            self.nodes[self.count..padded].fill(last);
            self.count = padded;
        }
        self.nodes().as_chunks()
    }
}

/// Calls `one` for nodes whose bit is not set, for each once.
#[inline(always)]
fn left_out(nodes: [u32; FOUR], done: u32, one: &mut dyn FnMut(usize)) {
    if done != ALL {
        for (lane, &node) in nodes.iter().enumerate() {
            if done >> lane & 1 == 0 && !nodes[..lane].contains(&node) {
                one(node as usize);
            }
        }
    }
}
