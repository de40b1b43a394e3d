//! TREE: towards the roots of a breadth-first spanning forest, then back.

use super::preorder::Preorder;
use crate::error::Result;
use crate::memory::{Grow, collected, filled};
use crate::model::FactorGraph;

/// The preorder that [`super::Schedule::Tree`] describes. O(variables + factors + edges).
///
/// Depths of adjacent nodes differ by exactly one: by at most one since the search is breadth-first,
/// and variables have even depths, factors odd ones. So every edge, in the forest or not, leads
/// either towards a root or away from it.
pub(super) fn tree(graph: &FactorGraph) -> Result<Preorder> {
    let (variable_depth, factor_depth) = depths(graph)?;
    let greatest = factor_depth.iter().copied().filter(|&depth| depth != UNSEEN).max();
    let turn = u64::from(greatest.unwrap_or(0));
    let ends = graph.edge_factors().iter().zip(graph.edge_variables());
    let ranks: Vec<u64> = collected(ends.map(|(&f, &v)| {
        let depth = factor_depth[f as usize];
        if variable_depth[v as usize] < depth {
            turn - u64::from(depth)
        } else {
            turn + u64::from(depth)
        }
    }))?;
    Preorder::compress(&ranks)
}

const UNSEEN: u32 = u32::MAX;

/// Depths of all variables and factors; those of factors without variables stay `UNSEEN`.
fn depths(graph: &FactorGraph) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut variable_depth = filled(graph.variable_count(), UNSEEN)?;
    let mut factor_depth = filled(graph.factor_count(), UNSEEN)?;
    // Variables in the order of their discovery; the factors between them need no queue of their
    // own since depths alone are wanted.
    let mut queue: Vec<u32> = Vec::new();
    for root in 0..graph.variable_count() {
        if variable_depth[root] != UNSEEN {
            continue;
        }
        variable_depth[root] = 0;
        queue.clear();
        queue.try_push(root as u32)?;
        let mut next = 0;
        while let Some(&v) = queue.get(next) {
            next += 1;
            let depth = variable_depth[v as usize];
            for &edge in graph.variable_edges(v as usize) {
                let f = graph.edge_factors()[edge as usize] as usize;
                if factor_depth[f] != UNSEEN {
                    continue;
                }
                factor_depth[f] = depth + 1;
                for &w in graph.factor_variables(f) {
                    if variable_depth[w as usize] == UNSEEN {
                        variable_depth[w as usize] = depth + 2;
                        queue.try_push(w)?;
                    }
                }
            }
        }
    }
    Ok((variable_depth, factor_depth))
}
