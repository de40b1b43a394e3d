//! Levels of an order that takes one factor after the other, as SEQFIX does.
//!
//! Each factor is met once, so that no level of its own has to be left out where earlier levels are looked at: one level of
//! updates and one of reads per variable are enough, where `levels` keeps two of each, with the factors they are from.

use super::preorder::{KEYS_PER_THREAD, Preorder};
use super::top_two::TopTwo;
use crate::error::Result;
use crate::memory::{filled, room};
use crate::model::FactorGraph;
use crate::parallel::for_ranges;
use crate::prefetch::prefetch;
use crate::threads::Gang;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether factors follow each other in the order of their index, each with all its edges, in any order.
pub(super) fn follows_factors(graph: &FactorGraph, preorder: &Preorder) -> bool {
    if preorder.class_count() != preorder.edge_count() {
        return false;
    }
    let follows = AtomicBool::new(true);
    let gang = Gang::for_work(preorder.edge_count(), KEYS_PER_THREAD);
    for_ranges(graph.factor_count(), &gang, |mut factors| {
        let all_follow = factors.all(|factor| {
            let edges = graph.factor_edges(factor);
            preorder.ranks()[edges.clone()].iter().all(|&rank| edges.contains(&(rank as usize)))
        });
        if !all_follow {
            follows.store(false, Relaxed);
        }
    });
    follows.into_inner()
}

/// The highest levels, from 1, at which the incoming messages of a variable were updated and read so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    update: u32,
    read: u32,
}

/// What is known of a factor's variables is prefetched so many edges ahead.
const DISTANCE: usize = 32;

/// The level of each edge, from 0; see `levels` for the constraints.
pub(super) fn levels(graph: &FactorGraph, in_place: bool) -> Result<Vec<u32>> {
    let mut seen = filled(graph.variable_count(), Seen::default())?;
    let mut levels: Vec<u32> = room(graph.edge_count())?;
    let all = graph.edge_variables();
    let ahead_of = |edges: Range<usize>| all.get(edges).unwrap_or_default();
    for factor in 0..graph.factor_count() {
        let Range { start, end } = graph.factor_edges(factor);
        for &v in ahead_of(start + DISTANCE..end + DISTANCE) {
            prefetch(&seen, v as usize);
        }
        let variables = graph.factor_variables(factor);
        let mut read = TopTwo::NONE;
        for &v in variables {
            read.raise(v, seen[v as usize].update);
        }
        let mut own = TopTwo::NONE;
        for &v in variables {
            let seen = &mut seen[v as usize];
            let mut level = 1 + read.without(v);
            if in_place {
                level = level.max(seen.read);
            }
            levels.push(level - 1);
            own.raise(v, level);
            seen.update = level.max(seen.update);
        }
        for &v in variables {
            let seen = &mut seen[v as usize];
            seen.read = own.without(v).max(seen.read);
        }
    }
    Ok(levels)
}
