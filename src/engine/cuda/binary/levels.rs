//! What warps do level by level: see cuda/engine/binary_levels.cuh.

use super::layout::Layout;
use super::level_bodies::{Trees, items_with_own_warps};
use super::level_bound::fewest_words;
use super::level_message_units::units_of_variables;
use super::level_messages::Reads;
use super::level_ranks::Ranks;
use super::level_units::{Groups, SortedItem, Unit};
use super::level_versions::{FirstVersions, Versions};
use super::level_words::{CHUNK, LEVEL_COEFFICIENTS, LEVEL_SLOTS};
use crate::engine::cuda::interface::binary::LevelUnit;
use crate::engine::limits::{MOST_LEVEL_WORDS, arities_with_own_warps};
use crate::error::Result;
use crate::memory::{Grow, room, zeroed};
use crate::model::FactorGraph;
use crate::parallel::{all_of, all_parts};
use crate::schedule::{Levels, Preorder};
use crate::threads::Gang;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What all warps do in iterations by levels.
pub(super) struct LevelWork {
    pub units: Vec<LevelUnit>,
    /// The first unit of each warp, and the end.
    pub starts: Vec<u32>,
    pub words: Vec<u32>,
    /// Products of pieces of high-degree variables: their number, and those that the first iteration reads.
    pub products: usize,
    pub first_versions: FirstVersions,
    /// Number of messages from variables that are computed for several factors.
    pub variable_messages: usize,
    /// Number of nodes of large factors.
    pub nodes: usize,
    /// The places of inputs with their edges; with [`READS_SOFT`](super::level_words::READS_SOFT).
    pub places: Vec<(u32, u32)>,
}

impl LevelWork {
    /// For a preorder and its levels, and so many blocks of so many warps. `None` if the graph is too large.
    pub(super) fn new(
        graph: &FactorGraph, layout: &Layout, (preorder, levels): (&Preorder, &Levels),
        [blocks, warps]: [usize; 2], gang: &Gang,
    ) -> Result<Option<Self>> {
        if layout.slots >= LEVEL_SLOTS || layout.coefficients.len() > LEVEL_COEFFICIENTS {
            return Ok(None);
        }
        // The last warp has no messages: see cuda/engine/overlap.cuh.
        let count = blocks * warps - 1;
        let ranks = Ranks::new(graph, layout, preorder, levels, gang)?;
        let reads = Reads::new(&ranks, [levels.count(), count], gang)?;
        if fewest_words(&reads, gang)? > MOST_LEVEL_WORDS {
            return Ok(None);
        }
        let versions = &Versions::new(&ranks)?;
        let mut all: Vec<Vec<Unit>> = room(blocks * warps)?;
        all.resize_with(blocks * warps, Vec::new);
        let groups = groups_of_levels(&reads, levels, count, gang)?;
        let Some(mut of_levels) = units_of(versions, &reads, &groups, gang)? else {
            return Ok(None);
        };
        gang.each(&mut of_levels, |units| units.sort_unstable_by_key(|unit| unit.order));
        let mut nodes = 0;
        if arities_with_own_warps(graph).next().is_some() {
            let coefficients = graph.coefficients()?;
            let trees = Trees::new(versions, &reads, &coefficients, count);
            let of_nodes = all_parts(levels.count(), gang, |level| {
                let items = items_with_own_warps(graph, &ranks, levels.edges(level))?;
                trees.units_of(&items, level as u32)
            })?;
            for (of_level, of_nodes) in of_levels.iter_mut().zip(of_nodes) {
                *of_level = of_nodes.around(std::mem::take(of_level))?;
            }
            nodes = trees.count();
        }
        // First, as they read versions too.
        let of_variables = units_of_variables(&reads, versions, count, gang)?;
        // Behind what they multiply, and before those that read them.
        let mut before_levels = Vec::new();
        for version in versions.all_read()? {
            let unit = Unit::of_version(&ranks, &version)?;
            behind(version.level, &mut of_levels, &mut before_levels).try_push(unit)?;
        }
        for (level, mut units) in of_variables {
            let of_level = behind(level, &mut of_levels, &mut before_levels);
            of_level.try_room(units.len())?;
            of_level.append(&mut units);
        }
        let of_all = || before_levels.iter().chain(of_levels.iter().flatten());
        let words = of_all().map(|unit| unit.words.len()).sum();
        if words > MOST_LEVEL_WORDS {
            return Ok(None);
        }
        // In turn, block by block, so that the warps of a level have not been busy in the one before.
        let units = before_levels.into_iter().chain(of_levels.into_iter().flatten());
        for (turn, unit) in (0..count).cycle().zip(units) {
            all[turn % blocks * warps + turn / blocks].try_push(unit)?;
        }
        let units = all.iter().map(Vec::len).sum();
        let mut work = Self {
            units: room(units)?,
            starts: room(all.len() + 1)?,
            words: zeroed(words)?,
            products: versions.places(),
            variable_messages: reads.messages.messages.len(),
            first_versions: versions.first()?,
            nodes,
            places: zeroed(all.iter().flatten().map(|unit| unit.inputs.len()).sum())?,
        };
        work.starts.push(0);
        let mut parts = room(all.len())?;
        let (mut rest, mut rest_places) = (&mut work.words[..], &mut work.places[..]);
        for of_warp in all {
            let first = words - rest.len();
            let mut start = first;
            let mut inputs = 0;
            for unit in &of_warp {
                let chunk = (start / CHUNK) as u32;
                work.units.push(LevelUnit { chunk, shape: unit.shape });
                start += unit.words.len();
                inputs += unit.inputs.len();
            }
            work.starts.push(work.units.len() as u32);
            let own = rest.split_off_mut(..start - first).unwrap_or_default();
            let own_places = rest_places.split_off_mut(..inputs).unwrap_or_default();
            parts.push((of_warp, first as u32, own, own_places));
        }
        gang.each(&mut parts, |(units, first, words, places)| {
            let (mut words, mut places, mut start) = (&mut words[..], &mut places[..], *first);
            // Each is given back to the memory when it is copied.
            for unit in std::mem::take(units) {
                if let Some(own) = words.split_off_mut(..unit.words.len()) {
                    own.copy_from_slice(&unit.words);
                }
                let own = places.split_off_mut(..unit.inputs.len()).unwrap_or_default();
                for (place, &(at, edge)) in own.iter_mut().zip(&unit.inputs) {
                    *place = (start + at, edge);
                }
                start += unit.words.len() as u32;
            }
        });
        drop(parts);
        Ok(Some(work))
    }
}

/// The units of a level, or those before all levels.
fn behind<'a>(
    level: Option<u32>, of_levels: &'a mut [Vec<Unit>], before_levels: &'a mut Vec<Unit>,
) -> &'a mut Vec<Unit> {
    match level {
        Some(level) => &mut of_levels[level as usize],
        None => before_levels,
    }
}

/// Most edges whose items a thread makes at a time, but for those of one factor.
const EDGES_AT_ONCE: usize = 1 << 12;

/// The groups of each level, for so many warps.
fn groups_of_levels(
    reads: &Reads<'_>, levels: &Levels, warps: usize, gang: &Gang,
) -> Result<Vec<Groups>> {
    let factors = reads.ranks.graph.edge_factors();
    let mut parts: Vec<(u32, &[u32])> = Vec::new();
    let mut parts_of_levels = room(levels.count())?;
    for level in 0..levels.count() {
        let mut rest = levels.edges(level);
        let before = parts.len();
        while !rest.is_empty() {
            let mut end = rest.len().min(EDGES_AT_ONCE);
            let factor = factors[rest[end - 1] as usize];
            end += rest[end..].iter().take_while(|&&edge| factors[edge as usize] == factor).count();
            let (part, others) = rest.split_at(end);
            parts.try_push((level as u32, part))?;
            rest = others;
        }
        parts_of_levels.push(parts.len() - before);
    }
    let items = all_of(parts.into_iter(), gang, |&mut (level, edges)| {
        SortedItem::all_of(reads, edges, level)
    })?;
    let mut rest = &items[..];
    let of_levels =
        parts_of_levels.into_iter().map(|count| rest.split_off(..count).unwrap_or_default());
    all_of(of_levels, gang, |parts| Groups::new(reads.ranks, parts, warps))
}

/// Most groups whose units a thread makes at a time: a level may have most groups of a graph.
const GROUPS_AT_ONCE: usize = 256;

/// The units of the groups of each level. `None` if they have too many words.
fn units_of(
    versions: &Versions<'_>, reads: &Reads<'_>, groups: &[Groups], gang: &Gang,
) -> Result<Option<Vec<Vec<Unit>>>> {
    let mut parts = Vec::new();
    for (level, groups) in groups.iter().enumerate() {
        for first in (0..groups.count()).step_by(GROUPS_AT_ONCE) {
            let end = groups.count().min(first + GROUPS_AT_ONCE);
            parts.try_push((level, first..end))?;
        }
    }
    let words = AtomicUsize::new(0);
    let of_parts = all_parts(parts.len(), gang, |part| {
        if words.load(Relaxed) > MOST_LEVEL_WORDS {
            return Ok(Vec::new());
        }
        let (level, numbers) = &parts[part];
        let units = groups[*level].units(versions, reads, *level as u32, numbers.clone())?;
        words.fetch_add(units.iter().map(|unit| unit.words.len()).sum(), Relaxed);
        Ok(units)
    })?;
    if words.into_inner() > MOST_LEVEL_WORDS {
        return Ok(None);
    }
    let mut of_levels: Vec<Vec<Unit>> = room(groups.len())?;
    of_levels.resize_with(groups.len(), Vec::new);
    for ((level, _), mut units) in parts.into_iter().zip(of_parts) {
        of_levels[level].try_room(units.len())?;
        of_levels[level].append(&mut units);
    }
    Ok(Some(of_levels))
}
