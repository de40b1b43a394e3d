//! What warps do in passes in which all messages are sent at once: see cuda/engine/binary_flood.cuh.

use super::layout::{COUNTED, LARGE, Layout, Source, TILE_ARITY, WARP};
use crate::model::FactorGraph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of units, in the order in which a warp does them; tiles are of the arities 2, 3, ...
pub(super) const MULTIPLY: usize = 0;
pub(super) const HUBS: usize = 1;
pub(super) const SEND: usize = 2;
pub(super) const TILES: usize = 3;
pub(super) const WIDE: usize = TILES + TILE_ARITY - 1;
pub(super) const KINDS: usize = WIDE + 1;

/// Rows of a unit.
pub(super) fn rows(kind: usize) -> usize {
    if (TILES..WIDE).contains(&kind) { kind - TILES + 3 } else { 2 }
}

/// What all warps do.
pub(super) struct FloodWork {
    /// Rows of a word for each thread.
    pub words: Vec<u32>,
    /// For each warp and kind the first row, and the end.
    pub starts: Vec<u32>,
    /// The places of inputs among the words, with their edges.
    pub places: Vec<(u32, u32)>,
}

/// Rows of words, and the places of inputs with their edges.
struct Unit {
    kind: usize,
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

impl Unit {
    fn new(kind: usize) -> Self {
        Self { kind, words: vec![u32::MAX; rows(kind) * WARP], inputs: Vec::new() }
    }

    /// About how long it takes.
    fn cost(&self) -> u32 {
        match self.kind {
            MULTIPLY => 6,
            HUBS => 9,
            SEND | WIDE => 14,
            tile => 2 + 2 * rows(tile) as u32,
        }
    }

    /// Sets a word that describes the input along an edge.
    fn set_input(&mut self, place: usize, word: u32, edge: usize) {
        self.words[place] = word;
        self.inputs.push((place as u32, edge as u32));
    }

    /// All of a hub's messages from a piece on that some threads take, eight each.
    fn set_hub(
        &mut self,
        threads: std::ops::Range<usize>,
        graph: &FactorGraph,
        layout: &Layout,
        hub: usize,
        piece: usize,
    ) {
        let edges = graph.variable_edges(layout.variable[hub] as usize);
        let slots = layout.hub_slots[hub]..layout.hub_slots[hub + 1];
        let eights = edges.iter().zip(slots).skip(piece * LARGE).step_by(8);
        for (thread, (&edge, slot)) in threads.zip(eights) {
            self.set_input(2 * thread, Source::Prepared.word(slot), edge as usize);
        }
    }
}

impl FloodWork {
    /// For so many blocks of so many warps.
    pub(super) fn new(graph: &FactorGraph, layout: &Layout, [blocks, warps]: [usize; 2]) -> Self {
        let mut units = pieces(graph, layout, MULTIPLY);
        for class in 1..layout.classes.len() - 1 {
            units.append(&mut small_hubs(graph, layout, class));
        }
        units.append(&mut pieces(graph, layout, SEND));
        units.append(&mut factors(graph, layout));
        let mut dealt = deal(units, blocks, warps);
        let mut all = Self { words: Vec::new(), starts: vec![0], places: Vec::new() };
        for units in &mut dealt {
            units.sort_by_key(|unit| unit.kind);
            let mut units = units.iter().peekable();
            for kind in 0..KINDS {
                while let Some(unit) = units.next_if(|unit| unit.kind == kind) {
                    let start = all.words.len() as u32;
                    all.words.extend(&unit.words);
                    all.places.extend(unit.inputs.iter().map(|&(at, edge)| (start + at, edge)));
                }
                all.starts.push((all.words.len() / WARP) as u32);
            }
        }
        all
    }
}

/// Gives each unit to a warp that has least to do so far, of such in turn, so that neighbouring units are on
/// different multiprocessors.
fn deal(units: Vec<Unit>, blocks: usize, warps: usize) -> Vec<Vec<Unit>> {
    let count = blocks * warps;
    let mut dealt: Vec<Vec<Unit>> = std::iter::repeat_with(Vec::new).take(count).collect();
    let mut least: BinaryHeap<Reverse<(u32, usize)>> =
        (0..count).map(|turn| Reverse((0, turn))).collect();
    for unit in units {
        if let Some(mut first) = least.peek_mut() {
            let Reverse((cost, turn)) = &mut *first;
            *cost += unit.cost();
            dealt[*turn % blocks * warps + *turn / blocks].push(unit);
        }
    }
    dealt
}

/// The pieces of large hubs.
fn pieces(graph: &FactorGraph, layout: &Layout, kind: usize) -> Vec<Unit> {
    let (hubs, starts) = layout.pieces();
    let unit = |(own, &hub): (usize, &u32)| {
        let [first, end] = [0, 1].map(|i| starts[hub as usize + i]);
        let mut unit = Unit::new(kind);
        unit.set_hub(0..WARP, graph, layout, hub as usize, own - first as usize);
        for (thread, number) in [own as u32, first, end].into_iter().enumerate() {
            unit.words[2 * thread + 1] = number;
        }
        unit
    };
    hubs.iter().enumerate().map(unit).collect()
}

/// The hubs of a class but the first, that of large ones.
fn small_hubs(graph: &FactorGraph, layout: &Layout, class: usize) -> Vec<Unit> {
    let levels = layout.classes.len() - 2 - class;
    let hubs: Vec<u32> = (layout.classes[class]..layout.classes[class + 1]).collect();
    let unit = |own: &[u32]| {
        let mut unit = Unit::new(HUBS);
        for (at, &hub) in own.iter().enumerate() {
            unit.set_hub(at << levels..(at + 1) << levels, graph, layout, hub as usize, 0);
        }
        (0..WARP).for_each(|thread| unit.words[2 * thread + 1] = levels as u32);
        unit
    };
    hubs.chunks(WARP >> levels).map(unit).collect()
}

/// All factors of several variables.
fn factors(graph: &FactorGraph, layout: &Layout) -> Vec<Unit> {
    let counted = counted_edges(graph, layout);
    let input = |edge: usize| {
        let v = graph.edge_variables()[edge] as usize;
        let word = match layout.slots_of(v) {
            _ if (layout.position[v] as usize) < layout.hubs() => Source::Prepared,
            (_, 4) => Source::Four,
            (_, 2) => Source::Two,
            _ => Source::None,
        };
        word.word(layout.slot_of_edge[edge]) | if counted[v] == edge as u32 { COUNTED } else { 0 }
    };
    let mut units = Vec::new();
    let kind = |f: u32| kind_of(graph, f as usize);
    for same in layout.factors.chunk_by(|&a, &b| kind(a) == kind(b)) {
        let kind = kind(same[0]);
        if kind == WIDE {
            for f in same.iter().map(|&f| f as usize) {
                let mut unit = Unit::new(kind);
                for (thread, edge) in Layout::edges_head_first(graph, f).enumerate() {
                    unit.set_input(2 * thread, input(edge), edge);
                    unit.words[2 * thread + 1] = layout.coefficients_of[f];
                }
                units.push(unit);
            }
            continue;
        }
        for own in same.chunks(WARP) {
            let mut unit = Unit::new(kind);
            for (thread, f) in own.iter().map(|&f| f as usize).enumerate() {
                unit.words[thread] = layout.coefficients_of[f];
                for (row, edge) in Layout::edges_head_first(graph, f).enumerate() {
                    unit.set_input(WARP * (row + 1) + thread, input(edge), edge);
                }
            }
            units.push(unit);
        }
    }
    units
}

/// The kind of units that factors of several variables are in.
fn kind_of(graph: &FactorGraph, factor: usize) -> usize {
    let arity = graph.arity(factor);
    if arity > TILE_ARITY { WIDE } else { TILES + arity - 2 }
}

/// Factors of several variables, those that take longest first: of those with as many variables, those that wait
/// for no hub first, those that do for large ones last; and those of a hub together, so that threads of a warp
/// read and write what lies together. Given the hubs, large ones first.
pub(super) fn factors_by_tiles(graph: &FactorGraph, hubs: &[u32]) -> Vec<u32> {
    let mut rank = vec![0; graph.variable_count()];
    for (at, &v) in (1_u64..).zip(hubs.iter().rev()) {
        rank[v as usize] = at;
    }
    let key = |f: usize| {
        let body = Layout::edges_head_first(graph, f).skip(1);
        let mut ranks = body.map(|edge| rank[graph.edge_variables()[edge] as usize]);
        let first = ranks.find(|&rank| rank > 0).unwrap_or_default();
        let kind = (WIDE - kind_of(graph, f)) as u64;
        kind << 60 | first << 32 | f as u64
    };
    let several = (0..graph.factor_count()).filter(|&f| graph.arity(f) > 1);
    let mut keys: Vec<u64> = several.map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

/// All variables, those first to which the first of these factors send as their heads.
pub(super) fn variables_by_tiles(graph: &FactorGraph, factors: &[u32]) -> Vec<u32> {
    let edges = |&f: &u32| Layout::edges_head_first(graph, f as usize);
    let heads = factors.iter().filter_map(|f| edges(f).next());
    let bodies = factors.iter().flat_map(|f| edges(f).skip(1));
    let mut seen = vec![false; graph.variable_count()];
    let of_factors = heads.chain(bodies).map(|edge| graph.edge_variables()[edge]);
    let all = of_factors.chain(0..graph.variable_count() as u32);
    all.filter(|&v| !std::mem::replace(&mut seen[v as usize], true)).collect()
}

/// For each variable that is no hub an edge from a factor that sends in every pass, at which the variable
/// is counted if it is contradictory.
fn counted_edges(graph: &FactorGraph, layout: &Layout) -> Vec<u32> {
    let first = |v: usize| {
        let sends = |&&e: &&u32| graph.arity(graph.edge_factors()[e as usize] as usize) > 1;
        let few = layout.position[v] as usize >= layout.hubs();
        if few { graph.variable_edges(v).iter().find(sends).copied() } else { None }
    };
    (0..graph.variable_count()).map(|v| first(v).unwrap_or(u32::MAX)).collect()
}
