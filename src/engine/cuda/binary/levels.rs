//! What warps do level by level: see cuda/engine/binary_levels.cuh.

use super::layout::Layout;
use super::level_bodies::{Trees, large_items_of};
use super::level_bound::fewest_words;
use super::level_ranks::Ranks;
use super::level_units::{Unit, items_of, units_of};
use super::level_versions::Versions;
use super::level_words::{CHUNK, LEVEL_COEFFICIENTS, LEVEL_SLOTS};
use crate::engine::cuda::interface::binary::LevelUnit;
use crate::engine::limits::{MOST_LEVEL_WORDS, large_arities};
use crate::error::Result;
use crate::memory::{Grow, room};
use crate::model::FactorGraph;
use crate::parallel::all_parts;
use crate::schedule::{Preorder, Storage, analyse};
use crate::threads::Gang;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What all warps do in iterations by levels.
pub(super) struct LevelWork {
    pub units: Vec<LevelUnit>,
    /// The first unit of each warp, and the end.
    pub starts: Vec<u32>,
    pub words: Vec<u32>,
    /// By piece of high-degree variables, where the product of all its messages is: see `Versions`.
    pub piece_places: Vec<u32>,
    /// Number of nodes of large factors.
    pub nodes: usize,
    /// The places of inputs with their edges.
    pub places: Vec<(u32, u32)>,
}

impl LevelWork {
    /// For so many blocks of so many warps. `None` if the graph is too large.
    pub(super) fn new(
        graph: &FactorGraph, layout: &Layout, preorder: &Preorder, [blocks, warps]: [usize; 2],
        gang: &Gang,
    ) -> Result<Option<Self>> {
        if layout.slots >= LEVEL_SLOTS || layout.coefficients.len() > LEVEL_COEFFICIENTS {
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
        let versions = &Versions::new(&ranks)?;
        let coefficients = graph.coefficients()?;
        let trees = Trees::new(versions, &ranks, &coefficients);
        let has_large = large_arities(graph).next().is_some();
        let mut all: Vec<Vec<Unit>> = room(blocks * warps)?;
        all.resize_with(blocks * warps, Vec::new);
        let words = AtomicUsize::new(0);
        let of_levels = all_parts(levels.count(), gang, |level| {
            if words.load(Relaxed) > MOST_LEVEL_WORDS {
                return Ok(Vec::new());
            }
            let items = items_of(graph, &ranks, levels.edges(level))?;
            let units = units_of(versions, &ranks, items, level as u32, count)?;
            let units = if has_large {
                let large = large_items_of(graph, &ranks, levels.edges(level))?;
                trees.units_of(&large, level as u32)?.around(units)?
            } else {
                units
            };
            words.fetch_add(units.iter().map(|unit| unit.words.len()).sum(), Relaxed);
            Ok(units)
        })?;
        let (mut of_levels, mut words) = (of_levels, words.into_inner());
        if words > MOST_LEVEL_WORDS {
            return Ok(None);
        }
        // Behind what they multiply, and before those that read them.
        let mut before_levels = Vec::new();
        for version in versions.all_read()? {
            let unit = Unit::of_version(&ranks, &version)?;
            words += unit.words.len();
            let level = version.level(&ranks);
            level.map_or(&mut before_levels, |level| &mut of_levels[level]).try_push(unit)?;
        }
        // In turn, block by block, so that the warps of a level have not been busy in the one before.
        let units = before_levels.into_iter().chain(of_levels.into_iter().flatten());
        for (turn, unit) in (0..count).cycle().zip(units) {
            all[turn % blocks * warps + turn / blocks].try_push(unit)?;
        }
        let units = all.iter().map(Vec::len).sum();
        let places = all.iter().flatten().map(|unit| unit.inputs.len()).sum();
        let mut work = Self {
            units: room(units)?,
            starts: room(all.len() + 1)?,
            words: room(words)?,
            piece_places: versions.places_of_all()?,
            nodes: trees.count(),
            places: room(places)?,
        };
        work.starts.push(0);
        for of_warp in all {
            for unit in of_warp {
                let start = work.words.len() as u32;
                work.units.push(LevelUnit { chunk: start / CHUNK as u32, shape: unit.shape });
                work.words.extend_from_slice(&unit.words);
                work.places.extend(unit.inputs.iter().map(|&(at, edge)| (start + at, edge)));
            }
            work.starts.push(work.units.len() as u32);
        }
        Ok(Some(work))
    }
}
