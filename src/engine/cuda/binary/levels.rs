//! Factors and their edges level by level: see cuda/engine/binary_levels.cuh.

use super::layout::{Layout, SLOT_BITS, SLOT_MASK, Source, changes};
use super::limits::WARP;
use crate::engine::limits::{MOST_LEVEL_DEGREE, MOST_LEVEL_WORDS};
use crate::error::Result;
use crate::memory::{Grow, collected, filled, room};
use crate::model::FactorGraph;
use crate::parallel::{all_parts, fill};
use crate::schedule::{Levels, Preorder, Storage, analyse};
use crate::threads::Gang;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a thread knows of its input: in the first word, how the message that comes last differs from it; in the second,
/// the round in which it finds what it wants, whether its edge is sent, whether the literal is that the variable is in
/// state 0, and the number of coefficients.
mod input {
    pub const LAST_SHIFT: u32 = 25;
    pub const ROUND_SHIFT: u32 = 5;
    pub const SENT: u32 = 1 << 10;
    pub const NEGATED: u32 = 1 << 11;
    pub const COEFFICIENTS_SHIFT: u32 = 12;
    /// In the first message that a thread reads: the last one for its own input is of the iteration before.
    pub const LAST_IS_OLD: u32 = 1 << LAST_SHIFT;
}

/// What a thread reads: a slot, the first one behind all for none; whether its message comes last; whether it is new;
/// and from a bit on, how many threads read the same variable's.
mod leaf {
    use super::SLOT_BITS;

    pub const LAST: u32 = 1 << (SLOT_BITS - 1);
    pub const NEW: u32 = 1 << SLOT_BITS;
    pub const SHIFT: u32 = SLOT_BITS + 1;
}

/// What a thread reads of a hub: below all others a bit for each new message; how many threads read the hub's; how far
/// away the message that comes last is, and a bit for it among eight, all of them if there is nothing to read.
mod hub {
    pub const WIDTH_SHIFT: u32 = 9;
    pub const LAST_SHIFT: u32 = 12;
    pub const LAST_BITS_SHIFT: u32 = 16;
    pub const NOTHING: u32 = 0xff << LAST_BITS_SHIFT;
    /// Messages that a thread reads.
    pub const EACH: u32 = 8;
}

/// By levels, slots are below this.
const LEVEL_SLOTS: usize = 1 << input::LAST_SHIFT;
/// Messages within as many slots of the input's, rounded down, can be the last ones.
const LAST_SLOTS: u32 = 8;
/// So many levels before that of what is sent, messages can be last ones.
const LAST_LEVELS: u32 = 2;
/// So many levels fewer than there are, iterations follow each other. Iterations overlap by this on BINGO's graphs.
const OVERLAP: i64 = 2;
/// Most factors of a unit.
const MOST_FACTORS: usize = WARP / 4;
/// Where a level has fewer factors than warps over this, each is a unit of its own.
const LEVELS_AT_ONCE: usize = 2;
/// Most rounds in which a warp reads what several factors' variables send.
const ROUNDS: usize = 2;
/// Words of a chunk: four of each thread.
const CHUNK: usize = 4 * WARP;
/// What threads without an input have: one that is certain. They are not sent.
pub(super) const ABSENT: u32 = (Source::True as u32) << 29 | SLOT_MASK;
/// Variables with more slots than this are read as hubs.
const FEW: usize = 4;
/// Most messages of a hub that a warp takes at once.
const WARP_LEAVES: usize = 8 * WARP;

/// What all warps do in iterations by levels.
pub(super) struct LevelWork {
    /// The first chunk of each unit and its shape (LevelUnit).
    pub units: Vec<[u32; 2]>,
    /// The first unit of each warp, and the end.
    pub starts: Vec<u32>,
    pub words: Vec<u32>,
    /// The places of inputs with their edges.
    pub places: Vec<(u32, u32)>,
}

/// Some edges of a factor that read the same messages.
struct Item {
    /// Its number among those of the level.
    number: u32,
    factor: u32,
    /// Those of the factor's positions, the head's first, that are sent.
    sent: u32,
    rank: u32,
}

/// What a variable sends to a factor, and which thread wants it.
struct Read {
    /// Its number among those of the unit.
    number: usize,
    /// The number of threads that read the variable's messages; more than a warp's for hubs.
    width: usize,
    edge: usize,
    lane: usize,
    rank: u32,
    last: Last,
    /// When all others are there, in levels of the iteration.
    when: i64,
}

/// The message that comes last.
#[derive(Clone, Copy, Default)]
struct Last {
    /// By which bits its slot differs from the edge's; 0: there is none.
    away: u32,
    /// Whether it is of the iteration before.
    is_old: bool,
}

/// Some factors that a warp takes together.
#[derive(Default)]
struct Unit {
    shape: u32,
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

/// Ranks of the messages of a graph.
struct Ranks<'a> {
    graph: &'a FactorGraph,
    layout: &'a Layout,
    preorder: &'a Preorder,
    /// By variable: whether ranks rise along its slots.
    rising: Vec<bool>,
    /// The level of each edge, and after how many levels the next iteration follows.
    level_of: &'a [u32],
    period: i64,
}

impl<'a> Ranks<'a> {
    fn new(
        graph: &'a FactorGraph, layout: &'a Layout, preorder: &'a Preorder, levels: &'a Levels,
        gang: &Gang,
    ) -> Result<Self> {
        let rank = |e: u32| preorder.ranks()[e as usize];
        let is_rising = |v| graph.variable_edges(v).is_sorted_by_key(|&e| rank(e));
        let mut rising = filled(graph.variable_count(), false)?;
        fill(&mut rising, gang, is_rising)?;
        let level_of = levels.level_of_edge();
        let period = (levels.count() as i64 - OVERLAP).max(1);
        Ok(Self { graph, layout, preorder, rising, level_of, period })
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

    /// Whether a slot is read anew along the edge `own` in messages of this rank. `None` of slots without an edge:
    /// they hold ones, which nobody needs to read. The factor's own message is not waited for.
    fn is_new(&self, own: usize, slot: u32, rank: u32) -> Option<bool> {
        let variable = self.graph.edge_variables()[own] as usize;
        let at = slot - self.layout.slots_of(variable).0;
        let &edge = self.graph.variable_edges(variable).get(at as usize)?;
        Some(edge as usize != own && self.of(edge) < rank)
    }

    /// Which of the messages that are read along the edge `own` in messages of this rank and level comes last, if it
    /// is late and near, and when the others are there.
    fn last(&self, own: usize, rank: u32, level: u32) -> (Last, i64) {
        let variable = self.graph.edge_variables()[own] as usize;
        let others =
            self.graph.variable_edges(variable).iter().filter(|&&edge| edge as usize != own);
        // By when it is there, in levels of this iteration, and whether it is of the iteration before.
        let time = |edge: u32| {
            let (of_iteration, is_old) =
                (i64::from(self.level_of[edge as usize]), self.of(edge) >= rank);
            (if is_old { of_iteration - self.period } else { of_iteration }, edge, is_old)
        };
        let (mut latest, mut before) = (None, None);
        for &edge in others.filter(|&&edge| changes(self.graph, edge as usize)) {
            let timed = Some(time(edge));
            before = before.max(timed.min(latest));
            latest = latest.max(timed);
        }
        let when = |timed: Option<(i64, u32, bool)>| timed.map_or(i64::MIN, |(when, ..)| when);
        if let Some((of_last, last, is_old)) = latest {
            let away = self.layout.slot_of_edge[last as usize] ^ self.layout.slot_of_edge[own];
            if of_last + i64::from(LAST_LEVELS) >= i64::from(level) && away < LAST_SLOTS {
                return (Last { away, is_old }, when(before));
            }
        }
        (Last::default(), when(latest))
    }

    /// The number of threads that read what the variable of this edge sends: one for each slot, but one of two.
    fn width(&self, edge: usize) -> usize {
        match self.layout.slots_of(self.graph.edge_variables()[edge] as usize).1 {
            2 => 1,
            slots => slots.next_power_of_two() as usize,
        }
    }

    /// What an item reads, by the positions of its factor, the head's first.
    fn reads(&self, item: &Item) -> impl Iterator<Item = (usize, usize)> {
        let edges = Layout::edges_head_first(self.graph, item.factor as usize).enumerate();
        // The only edge that is sent does not need its own input.
        edges.filter(move |&(at, edge)| item.sent != 1 << at && self.is_read(edge))
    }

    /// Whether the variable of this edge has other factors.
    fn is_read(&self, edge: usize) -> bool {
        self.graph.degree(self.graph.edge_variables()[edge] as usize) > 1
    }

    /// What a thread reads that has nothing to read: the one behind all slots.
    fn nothing(&self) -> u32 {
        self.layout.slots as u32
    }

    /// Where the slot of an edge is among those of its variable.
    fn own_place(&self, edge: usize) -> usize {
        let first = self.layout.slots_of(self.graph.edge_variables()[edge] as usize).0;
        (self.layout.slot_of_edge[edge] - first) as usize
    }

    /// The flags of an input at a position, heads first.
    fn flags(&self, item: &Item, at: usize) -> u32 {
        let number = self.layout.coefficients_of[item.factor as usize];
        let negated = self.layout.coefficients[number as usize].negated >> at & 1 == 1;
        let sent = item.sent >> at & 1 == 1;
        flag(sent, input::SENT)
            | flag(negated && at > 0, input::NEGATED)
            | number << input::COEFFICIENTS_SHIFT
    }
}

impl LevelWork {
    /// For so many blocks of so many warps. `None` if a hub or the graph is too large.
    pub(super) fn new(
        graph: &FactorGraph, layout: &Layout, preorder: &Preorder, [blocks, warps]: [usize; 2],
        gang: &Gang,
    ) -> Result<Option<Self>> {
        let too_large = |v| graph.degree(v) > MOST_LEVEL_DEGREE;
        if (0..graph.variable_count()).any(too_large) || layout.slots >= LEVEL_SLOTS {
            return Ok(None);
        }
        let levels = analyse(graph, preorder, Storage::SideBySide)?;
        let words = fewest_words(graph, layout, preorder.ranks(), levels.level_of_edge())?;
        if words > MOST_LEVEL_WORDS {
            return Ok(None);
        }
        // The last warp has no messages: see cuda/engine/overlap.cuh.
        let count = blocks * warps - 1;
        let ranks = Ranks::new(graph, layout, preorder, &levels, gang)?;
        let mut all: Vec<Vec<Unit>> = room(blocks * warps)?;
        all.resize_with(blocks * warps, Vec::new);
        let words = AtomicUsize::new(0);
        let of_levels = all_parts(levels.count(), gang, |level| {
            if words.load(Relaxed) > MOST_LEVEL_WORDS {
                return Ok(Vec::new());
            }
            let items = items_of(graph, &ranks, levels.edges(level))?;
            let units = units_of(&ranks, items, level as u32, count)?;
            words.fetch_add(units.iter().map(|unit| unit.words.len()).sum(), Relaxed);
            Ok(units)
        })?;
        let words = words.into_inner();
        if words > MOST_LEVEL_WORDS {
            return Ok(None);
        }
        // In turn, block by block, so that the warps of a level have not been busy in the one before.
        for (turn, unit) in (0..count).cycle().zip(of_levels.into_iter().flatten()) {
            all[turn % blocks * warps + turn / blocks].try_push(unit)?;
        }
        let units = all.iter().map(Vec::len).sum();
        let places = all.iter().flatten().map(|unit| unit.inputs.len()).sum();
        let mut work = Self {
            units: room(units)?,
            starts: room(all.len() + 1)?,
            words: room(words)?,
            places: room(places)?,
        };
        work.starts.push(0);
        for of_warp in all {
            for unit in of_warp {
                let start = work.words.len() as u32;
                work.units.push([start / CHUNK as u32, unit.shape]);
                work.words.extend_from_slice(&unit.words);
                work.places.extend(unit.inputs.iter().map(|&(at, edge)| (start + at, edge)));
            }
            work.starts.push(work.units.len() as u32);
        }
        Ok(Some(work))
    }
}

/// Fewer words than the units of a graph have, or as many: of each factor there is an item in each level that sends some of
/// its messages. Most words are those of hubs, which items do not share. O(edges log edges) at most, where to make the units
/// takes as long as there are words.
pub(super) fn fewest_words(
    graph: &FactorGraph, layout: &Layout, ranks: &[u32], level_of: &[u32],
) -> Result<usize> {
    let of_hub = |v: u32| OfHubs::new(layout.slots_of(v as usize).1 as usize);
    let (mut words, mut sent) = (0_usize, Vec::new());
    for factor in (0..graph.factor_count()).filter(|&factor| graph.arity(factor) > 1) {
        let variables = graph.factor_variables(factor);
        let of_all = variables.iter().map(|&v| of_hub(v)).fold(OfHubs::default(), OfHubs::and);
        let of_unit = WARP >> thread_levels(variables.len());
        sent.clear();
        sent.try_extend(graph.factor_edges(factor).map(|edge| (level_of[edge], edge)))?;
        sent.sort_unstable();
        for of_level in sent.chunk_by(|(a, _), (b, _)| a == b) {
            let rank = |&(_, edge): &(u32, usize)| ranks[edge];
            words += match of_level {
                [(_, only)] => of_all.without(of_hub(graph.edge_variables()[*only])).words(of_unit),
                [first, others @ ..] if others.iter().all(|other| rank(other) == rank(first)) => {
                    of_all.words(of_unit)
                }
                // Several items may have them, none of which reads all hubs.
                _ => CHUNK / of_unit + of_all.giants + of_all.others,
            };
        }
    }
    Ok(words)
}

/// What an item reads of hubs: threads, and words of larger hubs than a warp takes at once, and of the others.
#[derive(Clone, Copy, Default)]
struct OfHubs {
    threads: usize,
    giants: usize,
    others: usize,
}

impl OfHubs {
    /// Of a variable with so many slots: as Unit::place_hub has them.
    fn new(slots: usize) -> Self {
        if slots <= FEW {
            return Self::default();
        }
        let width = slots.next_power_of_two();
        let of_warp = width.min(WARP_LEAVES) / hub::EACH as usize;
        let words = 4 * slots.div_ceil(hub::EACH as usize).next_multiple_of(of_warp);
        let (giants, others) = if width > WARP_LEAVES { (words, 0) } else { (0, words) };
        Self { threads: width / hub::EACH as usize, giants, others }
    }

    fn and(self, other: Self) -> Self {
        Self {
            threads: self.threads + other.threads,
            giants: self.giants + other.giants,
            others: self.others + other.others,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            threads: self.threads - other.threads,
            giants: self.giants - other.giants,
            others: self.others - other.others,
        }
    }

    /// Fewest words of an item of which a unit has so many at most: one that is alone has rounds of its own.
    fn words(self, of_unit: usize) -> usize {
        match (Threads { of_hubs: self.threads, of_rounds: 0 }).can_share() {
            true => CHUNK / of_unit + self.others,
            false => CHUNK + self.giants + self.others.next_multiple_of(CHUNK),
        }
    }
}

/// How many threads read what an item needs, in rounds of a message each and in those of hubs.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Threads {
    of_hubs: usize,
    of_rounds: usize,
}

impl Threads {
    fn new(ranks: &Ranks<'_>, item: &Item) -> Self {
        let mut threads = Self::default();
        for (_, edge) in ranks.reads(item) {
            match ranks.width(edge) {
                width if width <= FEW => threads.of_rounds += width,
                width => threads.of_hubs += width / hub::EACH as usize,
            }
        }
        threads
    }

    /// Whether an item can share a warp with others.
    fn can_share(self) -> bool {
        self.of_hubs <= WARP && self.of_rounds <= ROUNDS * WARP
    }
}

/// The units of a level, the longest first.
fn units_of(ranks: &Ranks<'_>, items: Vec<Item>, level: u32, warps: usize) -> Result<Vec<Unit>> {
    let arity = |item: &Item| ranks.graph.arity(item.factor as usize);
    let mut sorted: Vec<(Threads, Item)> =
        collected(items.into_iter().map(|item| (Threads::new(ranks, &item), item)))?;
    // Those that stay alone come first; then factors of one width together, and of these those with hubs.
    sorted.sort_unstable_by_key(|(threads, item)| {
        let alone = !threads.can_share();
        let levels = if alone { 0 } else { thread_levels(arity(item)) };
        (std::cmp::Reverse((alone, levels, *threads)), item.number)
    });
    let alone = sorted.partition_point(|(threads, _)| !threads.can_share());
    let (hubs, others) = sorted.split_at(alone);
    let mut units: Vec<Unit> = room(sorted.len())?;
    for (_, item) in hubs {
        units.push(Unit::new(ranks, &[item], level)?);
    }
    let groups = |most, rounds| groups_of(ranks.graph, others, most, rounds);
    let left = warps.saturating_sub(units.len());
    // Factors in a unit wait for each other.
    let spread = warps / LEVELS_AT_ONCE;
    let fits = |&most: &usize| units.len() + groups(most, ROUNDS).count() <= spread;
    let most = (1..MOST_FACTORS).find(fits).unwrap_or(MOST_FACTORS);
    let fits = |&rounds: &usize| groups(most, rounds).count() <= left;
    let rounds = (1..ROUNDS).find(fits).unwrap_or(ROUNDS);
    for group in groups(most, rounds) {
        let items: Vec<&Item> = collected(group.iter().map(|(_, item)| item))?;
        units.push(Unit::new(ranks, &items, level)?);
    }
    Ok(units)
}

impl Unit {
    /// Factors on as many threads each.
    fn new(ranks: &Ranks<'_>, items: &[&Item], level: u32) -> Result<Self> {
        let graph = ranks.graph;
        let arity = |item: &Item| graph.arity(item.factor as usize);
        let most = items.iter().map(|item| arity(item)).max().unwrap_or(2);
        let levels = thread_levels(most);
        let coefficients = |item: &Item| ranks.layout.coefficients_of[item.factor as usize];
        let mut unit = Self::default();
        unit.words.try_resize(CHUNK, ranks.nothing())?;
        for lane in 0..WARP {
            let item = items.get(lane >> levels).unwrap_or(&items[0]);
            unit.words[4 * lane] = ABSENT;
            unit.words[4 * lane + 1] = coefficients(item) << input::COEFFICIENTS_SHIFT;
        }
        let mut reads = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let first = number << levels;
            let lane = |at| if at == 0 { first + (1 << levels) - 1 } else { first + at - 1 };
            for (at, edge) in Layout::edges_head_first(graph, item.factor as usize).enumerate() {
                unit.words[4 * lane(at)] = Source::None.word(ranks.layout.slot_of_edge[edge]);
                unit.words[4 * lane(at) + 1] = ranks.flags(item, at);
                unit.inputs.try_push((4 * lane(at) as u32, edge as u32))?;
            }
            for (at, edge) in ranks.reads(item) {
                let (width, lane, rank) = (ranks.width(edge), lane(at), item.rank);
                let (last, when) = ranks.last(edge, rank, level);
                let input = &mut unit.words[4 * lane];
                *input = Source::Read.in_word(*input) | last.away << input::LAST_SHIFT;
                let number = reads.len();
                reads.try_push(Read { number, width, edge, lane, rank, last, when })?;
            }
        }
        // ExtendedFloat reads come first, so that all begin at multiples of their widths.
        reads.sort_unstable_by_key(|read| (std::cmp::Reverse(read.width), read.when, read.number));
        let (wide, few) = reads.split_at(reads.partition_point(|read| read.width > FEW));
        let rounds = unit.place(ranks, few)?;
        let giants = wide.partition_point(|hub| hub.width > WARP_LEAVES);
        let (giants, hubs) = wide.split_at(giants);
        let wide_rounds = unit.place_hubs(ranks, hubs, rounds)?;
        for (number, hub) in giants.iter().enumerate() {
            let round = rounds + wide_rounds + number;
            unit.words[4 * hub.lane + 1] |=
                unit_source(round, ranks.own_place(hub.edge) % WARP_LEAVES / 8);
            unit.place_hub(ranks, hub, WARP_LEAVES / 8)?;
        }
        for read in reads.iter().filter(|read| read.last.is_old) {
            unit.words[4 * read.lane + 2] |= input::LAST_IS_OLD;
        }
        let is_in_f64_range =
            |item: &Item| ranks.layout.coefficients[coefficients(item) as usize].is_in_f64_range();
        let plain = items.iter().all(|item| is_in_f64_range(item));
        let range = if plain { exact_range(most) } else { 0 };
        let threads = |hub: &Read| hub.width.min(WARP_LEAVES) / hub::EACH as usize;
        let hub_levels = giants.iter().chain(hubs).map(|hub| threads(hub).ilog2()).max();
        unit.shape = rounds as u32 | hub_levels.unwrap_or(0) << 3 | (levels - 2) << 9;
        unit.shape |= (wide_rounds as u32) << 11 | (giants.len() as u32) << 17 | (range / 4) << 23;
        Ok(unit)
    }

    /// Tells all threads what they read and where they find what they want. Returns the number of rounds.
    fn place(&mut self, ranks: &Ranks<'_>, reads: &[Read]) -> Result<usize> {
        let mut at = 0;
        for &Read { width, edge, lane, rank, last, .. } in reads {
            let variable = ranks.graph.edge_variables()[edge] as usize;
            let (first, own) = (ranks.layout.slots_of(variable).0, ranks.layout.slot_of_edge[edge]);
            let mut source = at;
            let slots = if width == 1 {
                own ^ 1..(own ^ 1) + 1
            } else {
                source += (own - first) as usize;
                first..first + width as u32
            };
            for (thread, slot) in (at..).zip(slots) {
                let is_last = last.away != 0 && slot ^ own == last.away;
                let leaf = match ranks.is_new(edge, slot, rank) {
                    None => ranks.nothing(),
                    Some(is_new) => slot | flag(is_new, leaf::NEW) | flag(is_last, leaf::LAST),
                };
                let place = leaf_place(thread);
                if place >= self.words.len() {
                    self.words.try_resize(self.words.len() + CHUNK, ranks.nothing())?;
                }
                self.words[place] = leaf | width.ilog2() << leaf::SHIFT;
            }
            self.words[4 * lane + 1] |= unit_source(source / WARP, source % WARP);
            at += width;
        }
        Ok(at.div_ceil(WARP))
    }

    /// The same of hubs of up to [`WARP_LEAVES`] slots, the largest first, in rounds behind `rounds`; those come first
    /// whose messages are there first. Returns their number.
    fn place_hubs(&mut self, ranks: &Ranks<'_>, hubs: &[Read], rounds: usize) -> Result<usize> {
        let threads = |hub: &Read| hub.width / hub::EACH as usize;
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
                let source = at + ranks.own_place(hub.edge) / hub::EACH as usize;
                self.words[4 * hub.lane + 1] |= unit_source(rounds + round, source);
                self.place_hub(ranks, hub, threads(hub))?;
                at += threads(hub);
            }
            for _ in at..WARP {
                self.words.try_append(&[0, hub::NOTHING, 0, 0])?;
            }
        }
        Ok(of_rounds.len())
    }

    /// Tells so many threads what they read of a hub, or more of them, if it is in pieces: see HubWords.
    fn place_hub(
        &mut self, ranks: &Ranks<'_>, &Read { edge, rank, last, .. }: &Read, threads: usize,
    ) -> Result<()> {
        let variable = ranks.graph.edge_variables()[edge] as usize;
        let (first, count) = ranks.layout.slots_of(variable);
        let own = ranks.own_place(edge) as u32;
        let width = threads.ilog2() << hub::WIDTH_SHIFT;
        let all = count.div_ceil(hub::EACH).next_multiple_of(threads as u32);
        for leaf in (0..all).map(|at| at * hub::EACH) {
            if leaf >= count {
                self.words.try_append(&[first, hub::NOTHING | width, own, count])?;
                continue;
            }
            let is_new = |i| ranks.is_new(edge, first + leaf + i, rank) == Some(true);
            let mut news: u32 = (0..hub::EACH).map(|i| u32::from(is_new(i)) << i).sum();
            if last.away != 0 && leaf == own / hub::EACH * hub::EACH {
                let bit = 1 << ((own ^ last.away) % hub::EACH);
                news |= last.away << hub::LAST_SHIFT | bit << hub::LAST_BITS_SHIFT;
            }
            self.words.try_append(&[first + leaf, news | width, own, count])?;
        }
        Ok(())
    }
}

/// A flag, if it is set.
fn flag(is: bool, flag: u32) -> u32 {
    if is { flag } else { 0 }
}

/// Where a thread finds what it wants.
fn unit_source(round: usize, thread: usize) -> u32 {
    (thread | round << input::ROUND_SHIFT) as u32
}

/// Where a unit says what a thread reads; the threads of further rounds follow each other.
fn leaf_place(thread: usize) -> usize {
    let (round, lane) = (thread / WARP, thread % WARP);
    let (chunk, word) =
        if round < 2 { (0, 2 + round) } else { (1 + (round - 2) / 4, (round - 2) % 4) };
    CHUNK * chunk + 4 * lane + word
}

/// Largest exponents R of the inputs of a factor with so many variables for which doubles are exact; 0 if none are.
/// A message depends on b = arity - 1 inputs; with coefficients from 2^-64 on, the weights of both states, and all
/// numbers that lead to them, are within 2^-+(b R + 66). The device looks at their quotient itself.
fn exact_range(arity: usize) -> u32 {
    match arity {
        ..=2 => 900,
        3 => 450,
        4 => 300,
        5 => 230,
        6..=9 => 115,
        10..=17 => 57,
        _ => 0,
    }
}

/// The logarithm of the number of threads that a factor of this arity has.
fn thread_levels(arity: usize) -> u32 {
    match arity {
        ..=4 => 2,
        5..=8 => 3,
        _ => 5,
    }
}

/// Neighbouring items that a warp can take together, so many at most, in so many rounds and one of hubs, or alone.
fn groups_of<'i>(
    graph: &FactorGraph, items: &'i [(Threads, Item)], most: usize, rounds: usize,
) -> impl Iterator<Item = &'i [(Threads, Item)]> {
    let levels = |item: &Item| thread_levels(graph.arity(item.factor as usize));
    let mut rest = items;
    std::iter::from_fn(move || {
        let of_group = levels(&rest.first()?.1);
        let (mut count, mut sum) = (0, Threads::default());
        for (at, (threads, item)) in rest.iter().enumerate() {
            sum.of_rounds += threads.of_rounds;
            sum.of_hubs += threads.of_hubs;
            let full = at >= most.min(WARP >> of_group)
                || sum.of_rounds > rounds * WARP
                || sum.of_hubs > WARP;
            if at > 0 && (full || levels(item) != of_group) {
                break;
            }
            count = at + 1;
        }
        let (group, others) = rest.split_at(count);
        rest = others;
        Some(group)
    })
}

/// The items of the edges of a level, which ascend. Factors with one variable have none.
fn items_of(graph: &FactorGraph, ranks: &Ranks<'_>, edges: &[u32]) -> Result<Vec<Item>> {
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
                None => {
                    let number = items.len() as u32;
                    items.try_push(Item { number, factor, sent: 1 << bit, rank })?;
                }
            }
        }
    }
    Ok(items)
}
