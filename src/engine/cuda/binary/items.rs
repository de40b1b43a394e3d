//! Factors and their edges level by level: see cuda/engine/binary_levels.cuh.

use super::layout::{Layout, SLOT_BITS, SLOT_MASK, Source, WARP};
use super::streams::{MOST_COMPLETIONS, StreamWords, Streams, Unit, Waiting};
use crate::error::Result;
use crate::model::FactorGraph;
use crate::schedule::{Preorder, Storage, analyse};

/// The edge of this input is sent.
const SENT: u32 = 1 << 8;
/// The literal of this input is that the variable is in state 0.
const NEGATED: u32 = 1 << 9;
/// From this bit on stands a number of coefficients, or of a hub's slots.
const NUMBER_SHIFT: u32 = 12;
/// Which of a hub's messages are read anew stands in `fresh`.
const LISTED: u32 = 1 << 31;
/// Levels with at most so many small factors for each warp spread each over several threads.
const FEW_FACTORS: usize = 8;
/// Most rounds in which a warp reads what several factors' variables send, and those for a single factor.
const ROUNDS: usize = 4;
const MOST_ROUNDS: usize = 8;
/// Most threads that read one variable's messages, in two rounds.
const MOST_THREADS: usize = 2 * WARP;
/// What a thread reads: a slot, all bits for none; whether its message is new; and from here on stands how many
/// threads read the same variable's.
const LEAF_NEW: u32 = 1 << SLOT_BITS;
const LEAF_SHIFT: u32 = SLOT_BITS + 1;

/// How much work makes it worth while to run a level on the whole device, with its dearer barrier:
/// tiles and items of warps.
pub(super) const WIDE_LEVEL: usize = 640;

/// What all warps do in passes by levels.
pub(super) struct LevelStreams {
    pub streams: StreamWords,
    /// See `Binary::fresh`.
    pub fresh: Vec<u8>,
}

/// The units of each level.
pub(super) struct LevelUnits {
    levels: Vec<Vec<Unit>>,
    fresh: Vec<u8>,
}

/// Most variables of a factor of a tile.
const TILE_ARITY: usize = 6;
/// Most slots of a hub that a few threads read; a whole warp reads larger ones.
const HUB_OF_GROUP: u32 = 64;

/// Some edges of a factor that read the same messages.
struct Item {
    factor: u32,
    /// Those of the factor's positions, the head's first, that are sent.
    sent: u32,
    rank: u32,
}

/// Ranks of the messages of a graph.
struct Ranks<'a> {
    graph: &'a FactorGraph,
    layout: &'a Layout,
    preorder: &'a Preorder,
    /// By variable: whether ranks rise along its slots.
    rising: Vec<bool>,
}

impl<'a> Ranks<'a> {
    fn new(graph: &'a FactorGraph, layout: &'a Layout, preorder: &'a Preorder) -> Self {
        let rank = |e: u32| preorder.ranks()[e as usize];
        let rising = |v| graph.variable_edges(v).is_sorted_by_key(|&e| rank(e));
        let rising = (0..graph.variable_count()).map(rising).collect();
        Self { graph, layout, preorder, rising }
    }

    fn of(&self, edge: u32) -> u32 {
        self.preorder.ranks()[edge as usize]
    }

    /// Whether two edges of a factor with these ranks read the same messages.
    fn read_the_same(&self, factor: usize, a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        if low == high {
            return true;
        }
        let own = self.graph.factor_edges(factor);
        let between =
            |e: &&u32| (low..high).contains(&self.of(**e)) && !own.contains(&(**e as usize));
        self.graph.factor_variables(factor).iter().all(|&v| {
            let edges = self.graph.variable_edges(v as usize);
            let edges = if self.rising[v as usize] {
                let first = edges.partition_point(|&e| self.of(e) < low);
                let end = edges.partition_point(|&e| self.of(e) < high);
                &edges[first..end]
            } else {
                edges
            };
            !edges.iter().any(|e| between(&e))
        })
    }

    /// What an edge of this rank reads of a variable: the second word of an input.
    fn fresh(&self, variable: usize, rank: u32, list: &mut Vec<u8>) -> u32 {
        let edges = self.graph.variable_edges(variable);
        if self.is_hub(variable) {
            if self.rising[variable] {
                return edges.partition_point(|&e| self.of(e) < rank) as u32;
            }
            let at = list.len() as u32;
            list.extend(edges.chunks(8).map(|eight| self.bits(eight, rank) as u8));
            return at | LISTED;
        }
        self.bits(edges, rank)
    }

    fn bits(&self, edges: &[u32], rank: u32) -> u32 {
        let bit = |(at, &e): (usize, &u32)| u32::from(self.of(e) < rank) << at;
        edges.iter().enumerate().map(bit).sum()
    }

    fn source(&self, variable: usize) -> Source {
        match self.layout.slots_of(variable).1 {
            1 => Source::None,
            2 => Source::Two,
            4 => Source::Four,
            _ if self.is_hub(variable) => Source::Hub,
            _ => Source::Eight,
        }
    }

    /// Whether a warp is needed to read a variable's messages.
    fn is_hub(&self, variable: usize) -> bool {
        self.graph.degree(variable) > 8
    }
}

/// Most messages of a hub that hub_message of binary_levels.cuh takes.
const MOST_HUB_MESSAGES: usize = 256 * WARP;

impl LevelUnits {
    /// For so many warps, where a level is narrow. `None` if a hub or the graph is too large.
    pub(super) fn new(
        graph: &FactorGraph,
        layout: &Layout,
        preorder: &Preorder,
        warps: usize,
    ) -> Result<Option<Self>> {
        let too_large = |v| graph.degree(v) > MOST_HUB_MESSAGES;
        if (0..graph.variable_count()).any(too_large) || layout.slots >= SLOT_MASK as usize {
            return Ok(None);
        }
        let levels = analyse(graph, preorder, Storage::SideBySide)?;
        let ranks = Ranks::new(graph, layout, preorder);
        let mut made = Self { levels: Vec::with_capacity(levels.count()), fresh: Vec::new() };
        for level in 0..levels.count() {
            let items = items_of(graph, &ranks, levels.edges(level));
            let units = made.units(&ranks, items, warps);
            made.levels.push(units);
        }
        let completions: usize = made.levels.iter().map(|units| units.len().min(warps)).sum();
        Ok((completions < MOST_COMPLETIONS).then_some(made))
    }

    /// Whether some level has work for the whole device.
    pub(super) fn any_wide(&self) -> bool {
        self.levels.iter().any(|units| units.len() >= WIDE_LEVEL)
    }

    /// Gives the units to the warps of so many blocks, those of narrow levels to the first `narrow` ones;
    /// 0 for none.
    pub(super) fn streams(self, blocks: usize, warps: usize, narrow: usize) -> LevelStreams {
        let mut streams = Streams::new(blocks, warps);
        let is_wide = |level: usize, units: &Vec<Unit>| {
            narrow < blocks && (level == 0 || narrow == 0 || units.len() >= WIDE_LEVEL)
        };
        let wide: Vec<bool> =
            self.levels.iter().enumerate().map(|(level, units)| is_wide(level, units)).collect();
        for (level, units) in self.levels.into_iter().enumerate() {
            let on = if wide[level] { blocks } else { narrow };
            streams.push_level(units.into_iter(), on, !wide[level]);
            // Passes end with all blocks.
            let next_wide = wide.get(level + 1).copied().unwrap_or(narrow < blocks);
            if wide[level] || next_wide {
                streams.end_section(on, Waiting::All);
            } else if level + 1 == wide.len() {
                streams.end_section(on, Waiting::Narrow);
            }
            if wide[level] && !next_wide {
                // The others wait for the next wide level.
                streams.wait_twice(narrow);
            }
        }
        LevelStreams { streams: streams.finish(), fresh: self.fresh }
    }

    /// The longest first.
    fn units(&mut self, ranks: &Ranks<'_>, items: Vec<Item>, warps: usize) -> Vec<Unit> {
        let arity = |item: &Item| ranks.graph.arity(item.factor as usize);
        let is_small = |item: &Item| {
            let mut variables = ranks.graph.factor_variables(item.factor as usize).iter();
            arity(item) <= TILE_ARITY && !variables.any(|&v| ranks.is_hub(v as usize))
        };
        let many = items.iter().filter(|item| is_small(item)).count() > FEW_FACTORS * warps;
        let (mut tiles, others): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| many && is_small(item));
        let mut alone = Vec::new();
        let mut gathered: Vec<(usize, Item)> = Vec::new();
        for item in others {
            match Gathering::threads_for(ranks, &item) {
                Some(threads) => gathered.push((threads, item)),
                None => alone.push(item),
            }
        }
        alone.sort_by_key(|item| {
            let variables = ranks.graph.factor_variables(item.factor as usize).iter();
            let reads: usize = variables.map(|&v| ranks.graph.degree(v as usize)).sum();
            std::cmp::Reverse(reads)
        });
        let mut units: Vec<Unit> = alone.iter().map(|item| self.item(ranks, item)).collect();
        // Factors of one width together, those that read most first.
        gathered.sort_by_key(|(threads, item)| {
            std::cmp::Reverse((Gathering::levels(arity(item)), *threads))
        });
        let groups = |rounds| Gathering::groups(ranks.graph, &gathered, rounds);
        let left = warps.saturating_sub(units.len());
        let rounds = (1..ROUNDS).find(|&rounds| groups(rounds).len() <= left).unwrap_or(ROUNDS);
        for group in groups(rounds) {
            units.push(self.gathered(ranks, group));
        }
        tiles.sort_by_key(arity);
        for same in tiles.chunk_by(|a, b| arity(a) == arity(b)) {
            units.extend(same.chunks(WARP).map(|tile| self.tile(ranks, tile)));
        }
        units
    }

    /// The edges and the two words of all inputs of an item: see level_tile.
    fn inputs(&mut self, ranks: &Ranks<'_>, item: &Item) -> Vec<(usize, [u32; 2])> {
        let graph = ranks.graph;
        let edges = Layout::edges_head_first(graph, item.factor as usize).enumerate();
        edges
            .map(|(at, edge)| {
                let variable = graph.edge_variables()[edge] as usize;
                // The only edge that is sent does not need its own input.
                let needed = item.sent != 1 << at;
                let source = if needed { ranks.source(variable) } else { Source::None };
                let fresh =
                    if needed { ranks.fresh(variable, item.rank, &mut self.fresh) } else { 0 };
                (edge, [source.word(ranks.layout.slot_of_edge[edge]), fresh])
            })
            .collect()
    }

    /// The flags of an input at a position, heads first.
    fn flags(ranks: &Ranks<'_>, item: &Item, at: usize) -> u32 {
        let coefficients = ranks.layout.coefficients_of[item.factor as usize] as usize;
        let negated = ranks.layout.coefficients[coefficients].negated >> at & 1 == 1;
        let sent = item.sent >> at & 1 == 1;
        let flag = |is: bool, flag| if is { flag } else { 0 };
        flag(sent, SENT) | flag(negated && at > 0, NEGATED)
    }

    fn item(&mut self, ranks: &Ranks<'_>, item: &Item) -> Unit {
        let f = item.factor as usize;
        let arity = ranks.graph.arity(f);
        let mut unit = Unit::item(arity);
        unit.set(1, ranks.layout.coefficients_of[f]);
        let inputs = self.inputs(ranks, item);
        let slots =
            |edge: usize| ranks.layout.slots_of(ranks.graph.edge_variables()[edge] as usize);
        let is_hub = |&(_, (edge, [input, _])): &(usize, (usize, [u32; 2]))| {
            Source::is_hub_in(input).then(|| slots(edge).1)
        };
        let mut hubs: Vec<(u32, usize)> = inputs
            .iter()
            .copied()
            .enumerate()
            .filter_map(|entry| is_hub(&entry).map(|slots| (slots, entry.0)))
            .collect();
        hubs.sort_unstable();
        let small = hubs.iter().filter(|&&(slots, _)| slots <= HUB_OF_GROUP).count();
        unit.set(2, (small | (hubs.len() - small) << 8) as u32);
        for (at, &(edge, [input, fresh])) in inputs.iter().enumerate() {
            // The head is the last here.
            let start = 4 + 4 * if at == 0 { arity - 1 } else { at - 1 };
            let hub = hubs.iter().position(|&(_, position)| position == at);
            let number = hub.unwrap_or_default() as u32;
            unit.set(start + 3, Self::flags(ranks, item, at) | number << NUMBER_SHIFT);
            unit.set_input(start, input, edge);
            unit.set(start + 1, if hub.is_some() { 0 } else { fresh });
            unit.set(start + 2, slots(edge).0);
        }
        for (number, &(count, at)) in hubs.iter().enumerate() {
            let (edge, [_, fresh]) = inputs[at];
            let record = 4 + 4 * (arity + number);
            unit.set(record + 3, count);
            unit.set(record, ranks.layout.slot_of_edge[edge]);
            unit.set(record + 1, fresh);
            unit.set(record + 2, slots(edge).0);
        }
        unit
    }

    /// Factors on several threads each, whose variables' messages are read by a thread each.
    fn gathered(&mut self, ranks: &Ranks<'_>, group: &[(usize, Item)]) -> Unit {
        let arity = |item: &Item| ranks.graph.arity(item.factor as usize);
        let most = group.iter().map(|(_, item)| arity(item)).max().unwrap_or_default();
        let levels = Gathering::levels(most);
        let mut unit = Unit::gathered(most, levels);
        let mut gathering = Gathering { reads: Vec::new() };
        unit.set(4 + 2 * WARP - 1, u32::MAX);
        for (number, (_, item)) in group.iter().enumerate() {
            let coefficients = ranks.layout.coefficients_of[item.factor as usize];
            for (at, (edge, [input, _])) in self.inputs(ranks, item).into_iter().enumerate() {
                let first = number << levels;
                let lane = if at == 0 { first + (1 << levels) - 1 } else { first + at - 1 };
                unit.set_input(4 + lane, input, edge);
                unit.set(
                    4 + WARP + lane,
                    Self::flags(ranks, item, at) | coefficients << NUMBER_SHIFT,
                );
                if !Source::is_none_in(input) {
                    let width = Gathering::width(ranks, edge);
                    gathering.reads.push(Read { width, edge, lane, rank: item.rank });
                }
            }
        }
        gathering.place(ranks, &mut unit);
        unit
    }

    fn tile(&mut self, ranks: &Ranks<'_>, tile: &[Item]) -> Unit {
        let (arity, count) = (ranks.graph.arity(tile[0].factor as usize), tile.len());
        let mut unit = Unit::tile(arity, count);
        for (lane, item) in tile.iter().enumerate() {
            unit.set(4 + lane, ranks.layout.coefficients_of[item.factor as usize]);
            for (at, (edge, [input, fresh])) in self.inputs(ranks, item).into_iter().enumerate() {
                unit.set_input(4 + count * (2 * at + 1) + lane, input, edge);
                let sent = if item.sent >> at & 1 == 1 { SENT } else { 0 };
                unit.set(4 + count * (2 * at + 2) + lane, fresh | sent);
            }
        }
        unit
    }
}

/// What a variable sends to a factor, and which thread wants it.
struct Read {
    /// The number of threads that read the variable's messages.
    width: u32,
    edge: usize,
    lane: usize,
    rank: u32,
}

/// How threads read the messages that factors need.
struct Gathering {
    reads: Vec<Read>,
}

impl Gathering {
    /// Threads for what the variable of this edge sends to the factor: one for each slot, but one of two.
    fn width(ranks: &Ranks<'_>, edge: usize) -> u32 {
        match ranks.layout.slots_of(ranks.graph.edge_variables()[edge] as usize).1 {
            2 => 1,
            slots => slots.next_power_of_two(),
        }
    }

    /// The logarithm of the number of threads that a factor of this arity has.
    fn levels(arity: usize) -> u32 {
        match arity {
            ..=4 => 2,
            5..=8 => 3,
            _ => 5,
        }
    }

    /// Threads for all that a factor reads; `None` if they are too many or one of its hubs is too large.
    fn threads_for(ranks: &Ranks<'_>, item: &Item) -> Option<usize> {
        let edges = Layout::edges_head_first(ranks.graph, item.factor as usize).enumerate();
        let (mut threads, mut widest) = (0, 0);
        for (at, edge) in edges {
            let variable = ranks.graph.edge_variables()[edge] as usize;
            if item.sent != 1 << at && ranks.source(variable) != Source::None {
                let width = Self::width(ranks, edge) as usize;
                threads += width;
                widest = widest.max(width);
            }
        }
        (widest <= MOST_THREADS && threads <= MOST_ROUNDS * WARP).then_some(threads)
    }

    /// Neighbouring items that a warp can take together in so many rounds, or alone.
    fn groups<'i>(
        graph: &FactorGraph,
        items: &'i [(usize, Item)],
        rounds: usize,
    ) -> Vec<&'i [(usize, Item)]> {
        let levels = |item: &Item| Self::levels(graph.arity(item.factor as usize));
        let mut groups = Vec::new();
        let (mut first, mut threads) = (0, 0);
        for (at, (more, item)) in items.iter().enumerate() {
            let of_group = levels(&items[first].1);
            let full = (at - first) << of_group >= WARP;
            if at > first && (full || levels(item) != of_group || threads + more > rounds * WARP) {
                groups.push(&items[first..at]);
                (first, threads) = (at, 0);
            }
            threads += more;
        }
        if first < items.len() {
            groups.push(&items[first..]);
        }
        groups
    }

    /// Tells all threads what they read and where they find what they want. Wide reads come first, so that all
    /// begin at multiples of their widths.
    fn place(mut self, ranks: &Ranks<'_>, unit: &mut Unit) {
        self.reads.sort_by_key(|read| std::cmp::Reverse(read.width));
        let threads: usize = self.reads.iter().map(|read| read.width as usize).sum();
        let rounds = threads.div_ceil(WARP).max(1);
        let height = self.reads.first().map_or(0, |read| read.width.ilog2());
        unit.set(1, rounds as u32 | height << 8);
        unit.set(4 + (2 + rounds) * WARP - 1, u32::MAX);
        let mut at = 0;
        for Read { width, edge, lane, rank } in self.reads {
            let variable = ranks.graph.edge_variables()[edge] as usize;
            let (first, own) = (ranks.layout.slots_of(variable).0, ranks.layout.slot_of_edge[edge]);
            let edges = ranks.graph.variable_edges(variable);
            let read_by = |slot: u32| {
                // Slots without an edge hold ones, and nobody needs to read them.
                let read = match edges.get((slot - first) as usize) {
                    Some(&e) if ranks.of(e) < rank => slot | LEAF_NEW,
                    Some(_) => slot,
                    None => SLOT_MASK,
                };
                read | width.ilog2() << LEAF_SHIFT
            };
            let mut source = at;
            if width == 1 {
                unit.set(4 + 2 * WARP + at, read_by(own ^ 1));
            } else {
                source += (own - first) as usize;
                for thread in 0..width {
                    unit.set(4 + 2 * WARP + at + thread as usize, read_by(first + thread));
                }
            }
            unit.add(4 + WARP + lane, source as u32);
            at += width as usize;
        }
    }
}

/// The items of the edges of a level, which ascend. Factors with one variable have none.
fn items_of(graph: &FactorGraph, ranks: &Ranks<'_>, edges: &[u32]) -> Vec<Item> {
    let factors = graph.edge_factors();
    let mut items: Vec<Item> = Vec::new();
    for group in edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]) {
        let factor = factors[group[0] as usize];
        let f = factor as usize;
        if graph.arity(f) == 1 {
            continue;
        }
        let head = graph.factor_edges(f).start + graph.head_position(f).unwrap_or_default();
        let first = items.len();
        for &edge in group {
            let position = edge as usize - graph.factor_edges(f).start;
            let bit = match (edge as usize).cmp(&head) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Less => position + 1,
                std::cmp::Ordering::Greater => position,
            };
            let rank = ranks.of(edge);
            match items[first..].iter_mut().find(|item| ranks.read_the_same(f, item.rank, rank)) {
                Some(item) => item.sent |= 1 << bit,
                None => items.push(Item { factor, sent: 1 << bit, rank }),
            }
        }
    }
    items
}
