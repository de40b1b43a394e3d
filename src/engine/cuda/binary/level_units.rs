//! Which factors a warp takes together by levels, and the words of each such unit.

use super::layout::Layout;
use super::level_messages::Reads;
use super::level_ranks::{Item, Last, Ranks};
use super::level_versions::{Version, Versions};
use super::level_words::{ABSENT, CHUNK, READS_SOFT, thread_levels};
use super::limits::{FEW, WARP};
use crate::engine::cuda::interface::binary::{Source, THREAD_LEAVES, WARP_LEAVES};
use crate::engine::cuda::interface::words::{
    HUB_NOTHING, hub_reading, leaf, level_input, level_want, unit_shape,
};
use crate::engine::limits::has_own_warps;
use crate::error::Result;
use crate::memory::{Grow, collected, room};
use std::cmp::Reverse;
use std::ops::Range;

/// Most factors of a unit.
const MOST_FACTORS: usize = WARP / 2;
/// Where a level has fewer factors than warps over this, each is a unit of its own.
const LEVELS_AT_ONCE: usize = 2;
/// The same where each warp has so many edges that fewer units are worth more than that factors do not wait for each other.
const LEVELS_AT_ONCE_OF_MANY: usize = 4;
const MANY_EDGES: usize = 256;
/// Most rounds in which a warp reads what several factors' variables send.
const ROUNDS: usize = 2;

/// By so many edges, what is looked up of a factor's variables is prefetched before it is needed.
const EDGES_AHEAD: usize = 16;

/// What a variable sends to a factor, and which thread wants it.
struct Read {
    /// Its number among those of the unit.
    number: usize,
    /// The number of threads that read the variable's messages; more than a warp's for hubs.
    width: usize,
    /// Where it is if it is computed for several.
    place: Option<u32>,
    edge: usize,
    lane: usize,
    rank: u32,
    last: Last,
    /// When all others are there, in levels of the iteration.
    when: i64,
}

/// An input of a factor, as a thread of a unit has it: a message along an edge, as messages of a rank see it.
pub(super) struct Input {
    pub lane: usize,
    pub edge: usize,
    pub rank: u32,
    /// The word level_want without what is read.
    pub flags: u32,
    pub is_read: bool,
}

/// Some factors that a warp takes together.
#[derive(Default)]
pub(super) struct Unit {
    pub shape: u32,
    pub words: Vec<u32>,
    pub inputs: Vec<(u32, u32)>,
    /// What units of factors of a level are sorted by: the most factors of a variable that it sends to, as more waits for those
    /// messages; then its number in the level.
    pub order: (Reverse<usize>, usize),
}

/// How many threads read what an item needs, in rounds of a message each and in those of hubs.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Threads {
    pub of_hubs: usize,
    pub of_rounds: usize,
}

impl Threads {
    fn new(reads: &Reads<'_>, item: &Item, level: u32) -> Self {
        let mut threads = Self::default();
        for (_, edge) in reads.ranks.reads(item) {
            match reads.width(edge, item.rank, level) {
                width if width <= FEW => threads.of_rounds += width,
                width => threads.of_hubs += width / THREAD_LEAVES as usize,
            }
        }
        threads
    }

    /// Whether an item can share a warp with others.
    pub(super) fn can_share(self) -> bool {
        self.of_hubs <= WARP && self.of_rounds <= ROUNDS * WARP
    }
}

/// An item, and what it is sorted by.
#[derive(Clone, Copy)]
pub(super) struct SortedItem {
    threads: Threads,
    /// See [`thread_levels`]; 0 of one that stays alone.
    levels: u32,
    item: Item,
}

impl SortedItem {
    fn new(reads: &Reads<'_>, item: Item, level: u32) -> Self {
        let threads = Threads::new(reads, &item, level);
        let levels = thread_levels(reads.ranks.graph.arity(item.factor as usize));
        Self { threads, levels: if threads.can_share() { levels } else { 0 }, item }
    }

    /// Those that stay alone come first; then factors that may be in a unit together, of these those with hubs, and of as many
    /// variables together.
    fn key(&self) -> impl Ord + Copy + use<> {
        let alone = !self.threads.can_share();
        Reverse((alone, self.levels.max(thread_levels(4)), self.threads, self.levels))
    }

    /// The items of some edges of a level, in the order of their keys, and of the edges.
    pub(super) fn all_of(reads: &Reads<'_>, edges: &[u32], level: u32) -> Result<Vec<Self>> {
        let items = items_of(reads.ranks, edges)?.into_iter();
        let mut all: Vec<Self> = collected(items.map(|item| Self::new(reads, item, level)))?;
        all.sort_unstable_by_key(|sorted| (sorted.key(), sorted.item.number));
        Ok(all)
    }

    /// All of some parts in the order of their keys, and of the parts, each of which is in this order by itself.
    fn merged(parts: &[Vec<Self>]) -> Result<Vec<Self>> {
        // There are few keys, so that what parts have of each is copied together.
        let mut runs: Vec<(usize, &[Self])> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            for run in part.chunk_by(|a, b| a.key() == b.key()) {
                runs.try_push((number, run))?;
            }
        }
        runs.sort_unstable_by_key(|&(number, run)| (run[0].key(), number));
        let mut all = room(parts.iter().map(Vec::len).sum())?;
        runs.iter().for_each(|(_, run)| all.extend_from_slice(run));
        Ok(all)
    }
}

/// The items of a level in the groups that warps take together, the longest first.
pub(super) struct Groups {
    items: Vec<Item>,
    /// Where each group ends.
    ends: Vec<u32>,
    /// The logarithm of the number of threads that each factor has at least.
    fewest: u32,
}

impl Groups {
    /// Of all items of a level, for so many warps: those of parts of its edges.
    pub(super) fn new(ranks: &Ranks<'_>, parts: &[Vec<SortedItem>], warps: usize) -> Result<Self> {
        let sorted = SortedItem::merged(parts)?;
        let alone = sorted.partition_point(|sorted| !sorted.threads.can_share());
        let others = &sorted[alone..];
        let groups = |fewest, most, rounds| groups_of(others, fewest, most, rounds);
        let left = warps.saturating_sub(alone);
        // Factors in a unit wait for each other.
        let has_many = ranks.graph.edge_count() / warps >= MANY_EDGES;
        let spread = warps / if has_many { LEVELS_AT_ONCE_OF_MANY } else { LEVELS_AT_ONCE };
        // Factors of two variables have two threads each only where more of them come together than there is room for with four:
        // nothing else is gained, and units of their own lose where factors are few.
        let (two, four) = (thread_levels(2), thread_levels(4));
        let of_four = (1..=WARP >> four).map(|most| (four, most));
        let of_two = (1 + (WARP >> four)..MOST_FACTORS).map(|most| (two, most));
        // What there are at least is not counted.
        let fits = |&(fewest, most): &(u32, usize)| {
            let least = alone + others.len().div_ceil(most);
            least <= spread && alone + groups(fewest, most, ROUNDS).count() <= spread
        };
        let (fewest, most) = of_four.chain(of_two).find(fits).unwrap_or((two, MOST_FACTORS));
        let fits = |&rounds: &usize| {
            others.len().div_ceil(most) <= left && groups(fewest, most, rounds).count() <= left
        };
        let rounds = (1..ROUNDS).find(fits).unwrap_or(ROUNDS);
        let mut ends = Vec::new();
        ends.try_extend(1..=alone as u32)?;
        let mut end = alone as u32;
        for group in groups(fewest, most, rounds) {
            end += group.len() as u32;
            ends.try_push(end)?;
        }
        let items = collected(sorted.into_iter().map(|sorted| sorted.item))?;
        Ok(Self { items, ends, fewest })
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The items of a group.
    fn items(&self, number: usize) -> &[Item] {
        let first = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.items[first as usize..self.ends[number] as usize]
    }

    /// The units of some of the groups.
    pub(super) fn units(
        &self, versions: &Versions<'_>, reads: &Reads<'_>, level: u32, numbers: Range<usize>,
    ) -> Result<Vec<Unit>> {
        let mut units = room(numbers.len())?;
        let ranks = reads.ranks;
        let factors = |number: usize| {
            let items = if number < self.count() { self.items(number) } else { &[] };
            items.iter().map(|item| item.factor as usize)
        };
        for number in numbers {
            factors(number + 3).for_each(|factor| ranks.prefetch_factor(factor));
            factors(number + 2).for_each(|factor| ranks.prefetch_variables(factor));
            factors(number + 1).for_each(|factor| ranks.prefetch_messages(factor));
            let items = self.items(number);
            let mut unit = Unit::new(versions, reads, items, self.fewest, level)?;
            unit.order = (Reverse(ranks.most_factors(items)), number);
            units.push(unit);
        }
        Ok(units)
    }
}

impl Unit {
    /// Factors on as many threads each, 2^`fewest` or more.
    fn new(
        versions: &Versions<'_>, reads: &Reads<'_>, items: &[Item], fewest: u32, level: u32,
    ) -> Result<Self> {
        let ranks = reads.ranks;
        let graph = ranks.graph;
        let arity = |item: &Item| graph.arity(item.factor as usize);
        let most = items.iter().map(arity).max().unwrap_or(2);
        let levels = thread_levels(most).max(fewest);
        let coefficients = |item: &Item| ranks.layout.coefficients_of[item.factor as usize];
        let mut unit = Self::default();
        unit.words.try_resize(CHUNK, ranks.nothing())?;
        for lane in 0..WARP {
            let item = items.get(lane >> levels).unwrap_or(&items[0]);
            unit.set_absent(lane, coefficients(item));
        }
        let mut read = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let first = number << levels;
            let lane = |at| if at == 0 { first + (1 << levels) - 1 } else { first + at - 1 };
            for (at, edge) in Layout::edges_head_first(graph, item.factor as usize).enumerate() {
                let (flags, is_read) = (ranks.flags(item, at), ranks.is_read_by(item, at, edge));
                let input = Input { lane: lane(at), edge, rank: item.rank, flags, is_read };
                unit.add_input(reads, &input, level, &mut read)?;
            }
        }
        unit.place_all(versions, ranks, read)?;
        let is_in_f64_range =
            |item: &Item| ranks.layout.coefficients[coefficients(item) as usize].is_in_f64_range();
        let plain = items.iter().all(is_in_f64_range);
        let range = if plain { exact_range(most) } else { 0 };
        unit.shape |= unit_shape::LEVELS.put(levels) | unit_shape::RANGE.put(range / 4);
        Ok(unit)
    }

    /// What threads have these inputs, of factors with coefficients of this number.
    pub(super) fn of_inputs(
        versions: &Versions<'_>, reads: &Reads<'_>, inputs: impl Iterator<Item = Input>,
        level: u32, coefficients: u32,
    ) -> Result<Self> {
        let ranks = reads.ranks;
        let mut unit = Self::default();
        unit.words.try_resize(CHUNK, ranks.nothing())?;
        (0..WARP).for_each(|lane| unit.set_absent(lane, coefficients));
        let mut read = Vec::new();
        for input in inputs {
            unit.add_input(reads, &input, level, &mut read)?;
        }
        unit.place_all(versions, ranks, read)?;
        Ok(unit)
    }

    /// A thread without an input.
    fn set_absent(&mut self, lane: usize, coefficients: u32) {
        self.words[4 * lane] = ABSENT;
        self.words[4 * lane + 1] = level_want::COEFFICIENTS.put(coefficients);
    }

    /// Tells a thread which input it has; notes what is to be read for it.
    fn add_input(
        &mut self, reads: &Reads<'_>, input: &Input, level: u32, read: &mut Vec<Read>,
    ) -> Result<()> {
        let ranks = reads.ranks;
        let Input { lane, edge, rank, flags, is_read } = *input;
        let word = Source::None.word(ranks.layout.slot_of_edge[edge]);
        self.words[4 * lane] = word;
        self.words[4 * lane + 1] = flags;
        let place = if is_read { reads.messages.place(edge, rank, level) } else { None };
        let has_soft = if place.is_some() { READS_SOFT } else { 0 };
        self.inputs.try_push(((4 * lane as u32) | has_soft, edge as u32))?;
        if is_read {
            let (last, when) = match place {
                Some(_) => (Last::default(), i64::from(level)),
                None => ranks.last(edge, rank, level),
            };
            self.words[4 * lane] = Source::Read.in_word(word) | level_input::LAST.put(last.away);
            let (number, width) = (read.len(), reads.width_at(edge, place));
            read.try_push(Read { number, width, place, edge, lane, rank, last, when })?;
        }
        Ok(())
    }

    /// Tells all threads what they read, and where they find what they want.
    fn place_all(
        &mut self, versions: &Versions<'_>, ranks: &Ranks<'_>, mut reads: Vec<Read>,
    ) -> Result<()> {
        // Those that threads read most of come first, so that all begin at multiples of their widths.
        reads.sort_unstable_by_key(|read| (Reverse(read.width), read.when, read.number));
        let (wide, few) = reads.split_at(reads.partition_point(|read| read.width > FEW));
        let rounds = self.place(ranks, few)?;
        let giants = wide.partition_point(|hub| hub.width > WARP_LEAVES);
        let (giants, hubs) = wide.split_at(giants);
        let wide_rounds = self.place_hubs(ranks, hubs, rounds)?;
        for (number, hub) in giants.iter().enumerate() {
            let round = rounds + wide_rounds + number;
            self.words[4 * hub.lane + 1] |=
                unit_source(round, ranks.own_place(hub.edge) % WARP_LEAVES / 8);
            self.place_hub(ranks, hub, WARP)?;
            versions.append_words(hub.edge, hub.rank, &mut self.words)?;
        }
        for read in reads.iter().filter(|read| read.last.is_old) {
            self.words[4 * read.lane + 2] |= leaf::LAST_IS_OLD.mask();
        }
        let threads = |hub: &Read| hub.width.min(WARP_LEAVES) / THREAD_LEAVES as usize;
        let hub_levels = giants.iter().chain(hubs).map(|hub| threads(hub).ilog2()).max();
        self.shape |= unit_shape::ROUNDS.put(rounds as u32)
            | unit_shape::HUB_LEVELS.put(hub_levels.unwrap_or(0))
            | unit_shape::WIDE_ROUNDS.put(wide_rounds as u32)
            | unit_shape::GIANTS.put(giants.len() as u32);
        Ok(())
    }

    /// The unit that computes a version of a piece.
    pub(super) fn of_version(ranks: &Ranks<'_>, version: &Version<'_>) -> Result<Self> {
        let Version { edges, first, place, ref parts, .. } = *version;
        let mut unit = Self { shape: unit_shape::MULTIPLIES.mask(), ..Self::default() };
        if !parts.is_empty() {
            for &part in parts {
                unit.words.try_append(&[part, HUB_NOTHING, place, 1])?;
            }
            return Ok(unit);
        }
        let width = hub_reading::LEVELS.put(WARP.ilog2());
        let is_new = |&edge: &u32| u32::from(version.is_new(ranks, edge));
        for (slot, eight) in
            (first..).step_by(THREAD_LEAVES as usize).zip(edges.chunks(THREAD_LEAVES as usize))
        {
            let news: u32 = (0..).zip(eight).map(|(i, edge)| is_new(edge) << i).sum();
            unit.words.try_append(&[slot, news | width, place, 0])?;
        }
        while unit.words.len() < CHUNK {
            unit.words.try_append(&[first, HUB_NOTHING | width, place, 0])?;
        }
        Ok(unit)
    }

    /// Tells all threads what they read and where they find what they want. Returns the number of rounds.
    fn place(&mut self, ranks: &Ranks<'_>, reads: &[Read]) -> Result<usize> {
        let mut at = 0;
        for &Read { width, place, edge, lane, rank, last, .. } in reads {
            let variable = ranks.graph.edge_variables()[edge] as usize;
            let (first, own) = (ranks.layout.slots_of(variable).0, ranks.layout.slot_of_edge[edge]);
            let mut source = at;
            let slots = if let Some(place) = place {
                place..place + 1
            } else if width == 1 {
                own ^ 1..(own ^ 1) + 1
            } else {
                source += (own - first) as usize;
                first..first + width as u32
            };
            for (thread, slot) in (at..).zip(slots) {
                let is_last = last.away != 0 && slot ^ own == last.away;
                let is_new = place.map_or_else(|| ranks.is_new(edge, slot, rank), |_| Some(true));
                let leaf = match is_new {
                    None => ranks.nothing(),
                    Some(is_new) => slot | leaf::NEW.flag(is_new) | leaf::LAST.flag(is_last),
                };
                let place = leaf_place(thread);
                if place >= self.words.len() {
                    self.words.try_resize(self.words.len() + CHUNK, ranks.nothing())?;
                }
                self.words[place] = leaf | leaf::LEVELS.put(width.ilog2());
            }
            self.words[4 * lane + 1] |= unit_source(source / WARP, source % WARP);
            at += width;
        }
        Ok(at.div_ceil(WARP))
    }

    /// The same of hubs of up to [`WARP_LEAVES`] slots, the largest first, in rounds behind `rounds`; those come first
    /// whose messages are there first. Returns their number.
    fn place_hubs(&mut self, ranks: &Ranks<'_>, hubs: &[Read], rounds: usize) -> Result<usize> {
        let threads = |hub: &Read| hub.width / THREAD_LEAVES as usize;
        let mut of_rounds: Vec<&[Read]> = Vec::new();
        let (mut first, mut sum) = (0, 0);
        for (at, hub) in hubs.iter().enumerate() {
            sum += threads(hub);
            if sum == WARP || at + 1 == hubs.len() {
                of_rounds.try_push(&hubs[first..=at])?;
                (first, sum) = (at + 1, 0);
            }
        }
        of_rounds.sort_unstable_by_key(|of_round| {
            let when = of_round.iter().map(|hub| hub.when).max();
            (when, of_round.as_ptr())
        });
        for (round, of_round) in of_rounds.iter().enumerate() {
            let mut at = 0;
            for hub in *of_round {
                let source = at + ranks.own_place(hub.edge) / THREAD_LEAVES as usize;
                self.words[4 * hub.lane + 1] |= unit_source(rounds + round, source);
                self.place_hub(ranks, hub, threads(hub))?;
                at += threads(hub);
            }
            for _ in at..WARP {
                self.words.try_append(&[0, HUB_NOTHING, 0, 0])?;
            }
        }
        Ok(of_rounds.len())
    }

    /// Tells so many threads what they read of a hub, or of one piece of it: see HubWords.
    fn place_hub(
        &mut self, ranks: &Ranks<'_>, &Read { edge, rank, last, .. }: &Read, threads: usize,
    ) -> Result<()> {
        let variable = ranks.graph.edge_variables()[edge] as usize;
        let (first, count) = ranks.layout.slots_of(variable);
        let own = ranks.own_place(edge) as u32;
        let width = hub_reading::LEVELS.put(threads.ilog2());
        let begin = own / WARP_LEAVES as u32 * WARP_LEAVES as u32;
        for leaf in (0..threads as u32).map(|at| begin + at * THREAD_LEAVES) {
            if leaf >= count {
                self.words.try_append(&[first, HUB_NOTHING | width, own, count])?;
                continue;
            }
            let is_new = |i| ranks.is_new(edge, first + leaf + i, rank) == Some(true);
            let mut news: u32 = (0..THREAD_LEAVES).map(|i| u32::from(is_new(i)) << i).sum();
            if last.away != 0 && leaf == own / THREAD_LEAVES * THREAD_LEAVES {
                let bit = 1 << ((own ^ last.away) % THREAD_LEAVES);
                news |= hub_reading::LAST.put(last.away) | hub_reading::LAST_BITS.put(bit);
            }
            self.words.try_append(&[first + leaf, news | width, own, count])?;
        }
        Ok(())
    }
}

/// Where a thread finds what it wants.
fn unit_source(round: usize, thread: usize) -> u32 {
    level_want::THREAD.put(thread as u32) | level_want::ROUND.put(round as u32)
}

/// Where a unit says what a thread reads; the threads of further rounds follow each other.
fn leaf_place(thread: usize) -> usize {
    let (round, lane) = (thread / WARP, thread % WARP);
    let (chunk, word) =
        if round < 2 { (0, 2 + round) } else { (1 + (round - 2) / 4, (round - 2) % 4) };
    CHUNK * chunk + 4 * lane + word
}

/// Largest exponents R of the inputs of a factor with so many variables for which doubles are exact, as multiples of 4.
/// A message depends on b = arity - 1 inputs, with balanced weights within 2^-+(R / 2 + 2); with coefficients from 2^-64 on, and
/// sums of up to 2^b products, all numbers that lead to a message are within 2^-+(b (R / 2 + 3) + 65), which must stay
/// below 1000. The device looks at their quotient itself.
fn exact_range(arity: usize) -> u32 {
    match arity {
        ..=2 => 1000,
        3 => 924,
        4 => 616,
        5 => 460,
        6..=9 => 224,
        10..=17 => 108,
        18..=32 => 52,
        _ => 0,
    }
}

/// Neighbouring items that a warp can take together, so many at most, in so many rounds and one of hubs, or alone. Each has
/// 2^`fewest` threads or more.
fn groups_of(
    items: &[SortedItem], fewest: u32, most: usize, rounds: usize,
) -> impl Iterator<Item = &[SortedItem]> {
    let levels_of = move |item: &SortedItem| item.levels.max(fewest);
    let mut rest = items;
    std::iter::from_fn(move || {
        let of_group = levels_of(rest.first()?);
        let (mut count, mut sum) = (0, Threads::default());
        for (at, item) in rest.iter().enumerate() {
            sum.of_rounds += item.threads.of_rounds;
            sum.of_hubs += item.threads.of_hubs;
            let full = at >= most.min(WARP >> of_group)
                || sum.of_rounds > rounds * WARP
                || sum.of_hubs > WARP;
            if at > 0 && (full || levels_of(item) != of_group) {
                break;
            }
            count = at + 1;
        }
        let (group, others) = rest.split_at(count);
        rest = others;
        Some(group)
    })
}

/// The items of the edges of a level, which ascend. Factors with one variable have none, and those with warps of their own others.
fn items_of(ranks: &Ranks<'_>, edges: &[u32]) -> Result<Vec<Item>> {
    let graph = ranks.graph;
    let factors = graph.edge_factors();
    let mut items: Vec<Item> = Vec::new();
    let mut done = 0;
    let ahead = |at: usize| edges.get(at).map(|&edge| factors[edge as usize] as usize);
    for group in edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]) {
        if let Some(factor) = ahead(done + 2 * EDGES_AHEAD) {
            ranks.prefetch_variables(factor);
        }
        if let Some(factor) = ahead(done + EDGES_AHEAD) {
            ranks.prefetch_messages(factor);
        }
        done += group.len();
        let factor = factors[group[0] as usize];
        let f = factor as usize;
        if graph.arity(f) == 1 || has_own_warps(graph, f) {
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
                None => {
                    let number = items.len() as u32;
                    items.try_push(Item { number, factor, sent: 1 << bit, rank })?;
                }
            }
        }
    }
    Ok(items)
}
