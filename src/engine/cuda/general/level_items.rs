//! Factors by levels whose messages a warp computes: see cuda/engine/general_level_items.cuh.

use super::factors::{Factors, too_many_values};
use super::items::widest;
use super::pairs::{class_of, is_near, radices_of};
use super::places::Places;
use super::prepared::{Prepared, PreparedRanks, is_high};
use super::warp_items::RANGE;
use crate::engine::cuda::interface::factors::Span;
use crate::engine::cuda::interface::general::{
    ITEM_LANES, ItemInput, LEVEL_CONJUNCTION, LEVEL_KEPT, LEVEL_MANY, LEVEL_OTHER, LEVEL_PAIR,
    LEVEL_PREPARED, LevelItem, conjunction_input, item_input, level_item,
};
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::{Grow, collected, filled};
use crate::model::FactorGraph;
use crate::threads::Gang;

/// Most states of a variable, of which lanes have one each.
const MOST_STATES: usize = 32;
/// Most messages of a variable that are read together.
const FEW: usize = 8;
/// Inputs that a thread completes at a time.
const INPUTS_OF_PART: usize = 1 << 14;

/// How a warp computes the messages of a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Of binary variables, with the number of its coefficients, and a bit for each negated literal.
    Conjunction { parameter: u32, negated: u32 },
    /// A table of two variables: where its values start, its states, and whether they are near one.
    Pair { values: u64, radices: u32, is_near: bool },
    /// Any, with the memory of a warp.
    Other,
    /// Not a level item: it has too many variables or states, or takes too much memory.
    None,
}

/// What level items are made of, for sums or for maxima.
#[derive(Debug)]
pub(super) struct LevelFactors<'a> {
    kinds: Vec<Kind>,
    places: &'a Places,
}

/// The level items of an iteration, and the messages to their factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LevelItems {
    pub list: Vec<LevelItem>,
    pub inputs: Vec<ItemInput>,
    /// Of each input of a conjunction the word `conjunction_input`.
    pub conjunctions: Vec<u32>,
    /// Where each level starts.
    pub levels: Vec<u32>,
}

impl<'a> LevelFactors<'a> {
    /// O(edges).
    pub fn new(graph: &FactorGraph, factors: &Factors, places: &'a Places) -> Result<Self> {
        let kinds = (0..graph.factor_count()).map(|factor| Self::kind(graph, factors, factor));
        Ok(Self { kinds: collected(kinds)?, places })
    }

    fn kind(graph: &FactorGraph, factors: &Factors, factor: usize) -> Kind {
        let few_states = graph.factor_cardinalities(factor).all(|states| states <= MOST_STATES);
        if !(2..=ITEM_LANES).contains(&graph.arity(factor)) || !few_states {
            return Kind::None;
        }
        if let Some(parameter) = graph.conjunction_parameter(factor) {
            let negated = factors.horn[parameter].negated as u32;
            return Kind::Conjunction { parameter: parameter as u32, negated };
        }
        if let Some(table) = factors.table(factor)
            && class_of(graph, factors, factor).is_some()
        {
            let radices = radices_of(graph, factor);
            return Kind::Pair { values: table.start as u64, radices, is_near: is_near(table) };
        }
        match Span::of_bytes(factors.scratch[factor]) {
            Span::Block => Kind::None,
            _ => Kind::Other,
        }
    }

    /// Whether a factor takes memory of a warp.
    pub fn takes_memory(&self, factor: usize) -> bool {
        self.kinds.get(factor) == Some(&Kind::Other)
    }
}

/// Messages of a conjunction that read the same.
#[derive(Clone, Copy, Debug)]
struct ConjunctionRun {
    factor: u32,
    rank: u32,
    /// A bit for each position to which a message is sent.
    targets: u32,
}

/// Makes the level items of one level after the other.
pub(super) struct LevelItemMaker<'a> {
    graph: &'a FactorGraph,
    factors: &'a LevelFactors<'a>,
    /// The rank of each edge.
    ranks: &'a [u32],
    items: LevelItems,
    /// Of the present level, those that share warps, by their numbers of variables.
    conjunctions: [Vec<ConjunctionRun>; ITEM_LANES + 1],
}

impl ConjunctionRun {
    /// Whether the message of the variable at a position is needed: not by the only one, which is sent to it.
    fn needs(self, position: usize) -> bool {
        self.targets != 1 << position
    }
}

impl<'a> LevelItemMaker<'a> {
    pub fn new(
        graph: &'a FactorGraph, factors: &'a LevelFactors<'a>, ranks: &'a [u32],
    ) -> Result<Self> {
        let items = LevelItems { levels: filled(1, 0)?, ..LevelItems::default() };
        let conjunctions = std::array::from_fn(|_| Vec::new());
        Ok(Self { graph, factors, ranks, items, conjunctions })
    }

    /// Adds messages of a factor in the present level, in ascending order of their ranks, the first of which is the one with
    /// this number among all targets; or returns `false` and adds nothing, as these are not for warps.
    pub fn add(
        &mut self, factor: usize, targets: &[u32], first: usize, prepared: &PreparedRanks<'_>,
    ) -> Result<bool> {
        let (kind, ranks) = (self.factors.kinds[factor], self.ranks);
        let runs = || targets.chunk_by(|&a, &b| ranks[a as usize] == ranks[b as usize]);
        let is_kind = match kind {
            Kind::Conjunction { .. } | Kind::Pair { .. } => true,
            // Several would share memory.
            Kind::Other => runs().count() == 1,
            Kind::None => false,
        };
        let is_for_warps = |run: &[u32]| {
            let rank = ranks[run[0] as usize];
            self.needed(factor, run).all(|v| !is_high(self.graph, v) || prepared.has(v, rank))
        };
        if !is_kind || !runs().all(is_for_warps) {
            return Ok(false);
        }
        let mut first = first;
        for run in runs() {
            match kind {
                Kind::Conjunction { .. } => self.add_conjunction(factor, run)?,
                // A warp has one message of a table.
                Kind::Pair { .. } => run
                    .chunks(1)
                    .zip(first..)
                    .try_for_each(|(one, first)| self.push(factor, kind, one, first))?,
                _ => self.push(factor, kind, run, first)?,
            }
            first += run.len();
        }
        Ok(true)
    }

    fn rank(&self, edge: u32) -> u32 {
        self.ranks[edge as usize]
    }

    /// The variables whose messages are needed for those of a factor along some edges of one rank.
    fn needed(&self, factor: usize, targets: &[u32]) -> impl Iterator<Item = usize> + use<'a> {
        let unneeded = (targets.len() == 1).then_some(targets[0] as usize);
        let needed = self.graph.factor_edges(factor).filter(move |&edge| Some(edge) != unneeded);
        let graph = self.graph;
        needed.map(move |edge| graph.edge_variables()[edge] as usize)
    }

    /// Whether the lanes of a warp share the messages of a variable that is not prepared.
    fn is_many(&self, v: usize) -> bool {
        self.graph.degree(v) > FEW && !is_high(self.graph, v)
    }

    /// Adds messages of a conjunction: with others, or alone where a warp reads a variable for it.
    fn add_conjunction(&mut self, factor: usize, targets: &[u32]) -> Result<()> {
        let edges = self.graph.factor_edges(factor);
        let bits = targets.iter().map(|&edge| 1 << (edge as usize - edges.start));
        let rank = self.rank(targets[0]);
        let run = ConjunctionRun { factor: factor as u32, rank, targets: bits.sum() };
        if self.needed(factor, targets).any(|v| self.is_many(v)) {
            return self.push_conjunctions(&[run], true);
        }
        self.conjunctions[edges.len()].try_push(run)
    }

    /// Adds an item of conjunctions of as many variables each, whose messages stand side by side. `has_many` says that there is a
    /// variable of which the lanes of a warp share the messages.
    fn push_conjunctions(&mut self, runs: &[ConjunctionRun], has_many: bool) -> Result<()> {
        let graph = self.graph;
        let (start, arity) = (self.next_input()?, graph.arity(runs[0].factor as usize));
        for run in runs {
            let factor = run.factor as usize;
            let Kind::Conjunction { parameter, negated } = self.factors.kinds[factor] else {
                continue;
            };
            let first = graph.factor_edges(factor).start;
            let head = graph.head_position(factor).unwrap_or_default();
            let others = (0..arity).filter(|&position| position != head);
            for position in std::iter::once(head).chain(others) {
                let edge = (first + position) as u32;
                let is_negated = position != head && negated >> position & 1 == 1;
                let is_needed = run.needs(position);
                self.push_input(edge, run.rank, LEVEL_CONJUNCTION, is_needed, is_negated)?;
                let is_target = run.targets >> position & 1 == 1;
                let word = conjunction_input::PARAMETER.put(parameter)
                    | conjunction_input::TARGET.flag(is_target);
                self.items.conjunctions.try_push(word)?;
            }
        }
        let more = level_item::KIND.put(LEVEL_CONJUNCTION)
            | level_item::ARITY.put(arity as u32)
            | level_item::RANGE.put(RANGE / arity as u32 - 1)
            | level_item::MANY.flag(has_many);
        self.items.list.try_push(LevelItem {
            factor: runs[0].factor,
            first: 0,
            inputs: start,
            rank: runs[0].rank,
            values: 0,
            count: runs.len() as u32,
            more,
        })
    }

    /// Adds messages of another factor, those with these targets, the first of which is the one with this number among all.
    fn push(&mut self, factor: usize, kind: Kind, targets: &[u32], first: usize) -> Result<()> {
        let (graph, rank) = (self.graph, self.rank(targets[0]));
        let edges = graph.factor_edges(factor);
        let (code, values, count, range) = match kind {
            Kind::Pair { values, radices, is_near } => {
                (LEVEL_PAIR, values, radices, u32::from(is_near))
            }
            _ => (LEVEL_OTHER, 0, targets.len() as u32, 0),
        };
        let start = self.next_input()?;
        for edge in edges.clone() {
            let is_needed = targets.len() > 1 || targets[0] as usize != edge;
            self.push_input(edge as u32, rank, code, is_needed, false)?;
            self.items.conjunctions.try_push(0)?;
        }
        let width = |v: usize| stored_values(graph.cardinalities()[v]);
        let widest = self.needed(factor, targets).map(width).max().unwrap_or(1);
        let has_many = self.needed(factor, targets).any(|v| self.is_many(v));
        let more = level_item::KIND.put(code)
            | level_item::ARITY.put(edges.len() as u32)
            | level_item::TARGET.put((targets[0] as usize - edges.start) as u32)
            | level_item::READERS.put(widest.next_power_of_two().ilog2())
            | level_item::RANGE.put(range)
            | level_item::MANY.flag(has_many);
        self.items.list.try_push(LevelItem {
            factor: factor as u32,
            first: first as u32,
            inputs: start,
            rank,
            values,
            count,
            more,
        })
    }

    /// The number of the next input. Errors: more than 32 bits can count.
    fn next_input(&self) -> Result<u32> {
        u32::try_from(self.items.inputs.len()).map_err(|_| too_many_values())
    }

    /// Adds an input, of which [`Self::finish`] finds the rest: what kind of item reads it is in the place of its variable, and the
    /// rank of the reader in the place of the message; a source that is not zero says that it is needed.
    fn push_input(
        &mut self, edge: u32, rank: u32, code: u32, is_needed: bool, is_negated: bool,
    ) -> Result<()> {
        let more =
            item_input::NEGATED.flag(is_negated) | item_input::SOURCE.put(u32::from(is_needed));
        self.items.inputs.try_push(ItemInput { variable: code, place: rank, edge, more })
    }

    /// How the message of a variable along an edge is read.
    fn input(&self, begun: ItemInput, prepared: &Prepared) -> ItemInput {
        let ItemInput { variable: code, place: rank, edge, more } = begun;
        let is_needed = item_input::SOURCE.get(more) != 0;
        let v = self.graph.edge_variables()[edge as usize] as usize;
        let of_variable = self.graph.variable_edges(v);
        let source = match of_variable.len() {
            // What a prepared variable sends may be for another rank.
            _ if !is_needed && code == LEVEL_OTHER && prepared.has(v) => LEVEL_KEPT,
            _ if !is_needed => 0,
            few @ 0..=FEW => few as u32,
            _ if !is_high(self.graph, v) => LEVEL_MANY,
            // It is there already.
            _ if code == LEVEL_OTHER => LEVEL_KEPT,
            _ => LEVEL_PREPARED,
        };
        let width = stored_values(self.graph.cardinalities()[v]) as u32;
        let (places, place) = (self.factors.places, self.factors.places.edges[edge as usize]);
        let leaf = (place - places.variables[v]) / width;
        let mut newer = 0;
        if (1..=FEW as u32).contains(&source) {
            for (number, &other) in (0..).zip(of_variable) {
                let is_newer = other != edge && self.rank(other) < rank;
                newer |= u32::from(is_newer) << (number ^ leaf);
            }
        }
        let more = (more & item_input::NEGATED.mask())
            | item_input::SOURCE.put(source)
            | item_input::LEAF.put(leaf & item_input::LEAF.largest())
            | item_input::NEWER.put(newer)
            | item_input::WIDTH.put(width);
        ItemInput { variable: v as u32, place, edge, more }
    }

    pub fn end_level(&mut self) -> Result<()> {
        for arity in 2..=ITEM_LANES {
            let mut runs = std::mem::take(&mut self.conjunctions[arity]);
            let mut chunks = runs.chunks(ITEM_LANES / arity);
            chunks.try_for_each(|runs| self.push_conjunctions(runs, false))?;
            runs.clear();
            self.conjunctions[arity] = runs;
        }
        self.items.levels.try_push(self.items.list.len() as u32)
    }

    /// The items of all levels.
    pub fn finish(mut self, prepared: &Prepared, gang: &Gang) -> Result<LevelItems> {
        let mut items = std::mem::take(&mut self.items);
        let mut parts = collected(items.inputs.chunks_mut(INPUTS_OF_PART))?;
        gang.each(&mut parts, |part| {
            part.iter_mut().for_each(|input| *input = self.input(*input, prepared));
        });
        Ok(items)
    }
}

impl LevelItems {
    /// None in any of so many levels.
    pub fn none(levels: usize) -> Result<Self> {
        Ok(Self { levels: filled(levels + 1, 0)?, ..Self::default() })
    }

    /// Number of items of the widest level.
    pub fn width(&self) -> usize {
        widest(&self.levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cuda::general::work::Shares;
    use crate::kernel::Inference;
    use crate::model::FactorGraphBuilder;
    use crate::schedule::{Preorder, Storage, analyse};

    /// All messages of a graph, those of each rank in a level of its own.
    fn items_of(graph: &FactorGraph, ranks: &[u64]) -> LevelItems {
        let factors = Factors::new(graph, Inference::SumProduct).unwrap();
        let places = Places::new(graph, &Gang::ALONE).unwrap();
        let all = LevelFactors::new(graph, &factors, &places).unwrap();
        let preorder = Preorder::from_ranks(graph, ranks).unwrap();
        let shares = Shares::new(graph, &factors.scratch, Some(&all));
        let levels = analyse(graph, &preorder, Storage::SideBySide).unwrap();
        shares.by_levels(&preorder, &levels, true, &Gang::of(2)).unwrap().level_items
    }

    fn kind_of(item: &LevelItem) -> u32 {
        level_item::KIND.get(item.more)
    }

    /// For each input of an item the variable, what it is read as, and which messages are new.
    fn read_by(items: &LevelItems, item: usize) -> Vec<(u32, u32, u32)> {
        let own = &items.list[item];
        let count = match kind_of(own) {
            LEVEL_CONJUNCTION => level_item::ARITY.get(own.more) * own.count,
            _ => level_item::ARITY.get(own.more),
        };
        let inputs = &items.inputs[own.inputs as usize..][..count as usize];
        let fields = |input: &ItemInput| {
            let more = input.more;
            (input.variable, item_input::SOURCE.get(more), item_input::NEWER.get(more))
        };
        inputs.iter().map(fields).collect()
    }

    #[test]
    fn conjunctions_of_as_many_variables_share_a_warp() {
        let mut builder = FactorGraphBuilder::new();
        for v in 0..20 {
            builder.add_and(2 * v, &[2 * v + 1], 0.9, 0.2).unwrap();
        }
        builder.add_and(100, &[101, 102], 0.9, 0.2).unwrap();
        let graph = builder.build().unwrap();
        let items = items_of(&graph, &vec![0; graph.edge_count()]);
        let shown =
            |item: &LevelItem| (kind_of(item), item.count, level_item::ARITY.get(item.more));
        let shown: Vec<_> = items.list.iter().map(shown).collect();
        let conjunction = LEVEL_CONJUNCTION;
        assert_eq!(shown, [(conjunction, 16, 2), (conjunction, 4, 2), (conjunction, 1, 3)]);
        assert_eq!(items.levels, [0, 3]);
        assert_eq!(items.width(), 3);
        // Both messages of each are sent, with the same coefficients, the head first.
        assert_eq!(items.inputs.len(), items.conjunctions.len());
        let word = items.conjunctions[0];
        assert!(items.conjunctions.iter().all(|&other| other == word));
        assert!(conjunction_input::TARGET.is_in(word));
        let heads = items.inputs.iter().step_by(2).take(16);
        let is_head = |(input, &factor): (&ItemInput, &u32)| {
            let (factor, v) = (factor as usize, input.variable as usize);
            let position = graph.head_position(factor).unwrap();
            graph.factor_variables(factor)[position] as usize == v
        };
        let factors: Vec<u32> = (0..20).collect();
        assert!(heads.zip(&factors).all(is_head));
    }

    #[test]
    fn inputs_say_which_messages_are_new() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[0], 0.9, 0.2).unwrap();
        builder.add_and(2, &[0], 0.8, 0.1).unwrap();
        builder.add_and(3, &[0], 0.7, 0.1).unwrap();
        let graph = builder.build().unwrap();
        let zero = graph.variable_of_label(0).unwrap();
        // What goes to the variable 0 has the ranks 0, 1 and 2, what comes from it 1, 1 and 3.
        let ranks: Vec<u64> = (0..graph.edge_count())
            .map(|edge| {
                let factor = graph.edge_factors()[edge] as usize;
                let is_to = graph.edge_variables()[edge] as usize == zero;
                if is_to { factor as u64 } else { [1, 1, 3][factor] }
            })
            .collect();
        let items = items_of(&graph, &ranks);
        let reads = (0..items.list.len()).flat_map(|item| read_by(&items, item));
        let of_zero = reads.filter(|&(v, ..)| v as usize == zero);
        let mut found: Vec<_> = of_zero.map(|(_, source, newer)| (source, newer)).collect();
        found.sort_unstable();
        // Messages to it need nothing of it. Of its three messages, the first factor sees none as new, the second one that of
        // the first, whose number differs from its own in 1, and the third those whose numbers differ from it in 2 and 3.
        assert_eq!(found, [(0, 0), (0, 0), (0, 0), (3, 0), (3, 0b10), (3, 0b1100)]);
    }

    #[test]
    fn an_item_of_a_table_of_two_variables_is_one_message() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variable(0, 3).unwrap();
        builder.add_variable(1, 5).unwrap();
        builder.add_variable(2, 33).unwrap();
        builder.add_table(&[0, 1], &[0.5; 15]).unwrap();
        builder.add_table(&[0, 2], &[0.5; 99]).unwrap();
        builder.add_table(&[0, 1, 3], &[0.5; 30]).unwrap();
        for _ in 0..9 {
            builder.add_table(&[1], &[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
        }
        let graph = builder.build().unwrap();
        let items = items_of(&graph, &vec![0; graph.edge_count()]);
        // A table over a variable of 33 states is none.
        let kinds: Vec<u32> = items.list.iter().map(kind_of).collect();
        assert_eq!(kinds, [LEVEL_PAIR, LEVEL_PAIR, LEVEL_OTHER]);
        let targets = |item: &LevelItem| level_item::TARGET.get(item.more);
        assert_eq!(items.list[..2].iter().map(targets).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(read_by(&items, 0), [(0, 0, 0), (1, LEVEL_MANY, 0)]);
        assert_eq!(read_by(&items, 1), [(0, 3, 0), (1, 0, 0)]);
        assert_eq!(read_by(&items, 2), [(0, 3, 0), (1, LEVEL_MANY, 0), (3, 1, 0)]);
        let many = items.list.iter().map(|item| level_item::MANY.is_in(item.more));
        assert_eq!(many.collect::<Vec<_>>(), [true, false, true]);
        let readers = items.list.iter().map(|item| level_item::READERS.get(item.more));
        assert_eq!(readers.collect::<Vec<_>>(), [3, 2, 3]);
        assert_eq!(items.list[2].count, 3);
    }
}
