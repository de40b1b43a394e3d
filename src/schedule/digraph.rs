//! Directed graphs and the topological order of their strongly connected components.

use super::preorder::counting_sort;
use crate::error::Result;
use crate::memory::{Grow, collected, filled, room};
use crate::prefetch::prefetch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Successors of a node that are prefetched when the search comes to it; few nodes have more.
const PREFETCHED_SUCCESSORS: usize = 8;

/// What Tarjan's algorithm knows of a node: together, since it comes to nodes in an order of its own.
#[derive(Clone, Copy)]
struct Visit {
    /// Its number in the order of discovery, from 1; 0 = not yet found.
    discovery: u32,
    low: u32,
    next_arc: u32,
    /// `NONE` while it is open.
    component: u32,
}

/// A directed graph as successor lists.
pub(super) struct Digraph {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Digraph {
    /// From arcs (source, target), both below `node_count`; fewer than 2^32 of them.
    pub fn from_arcs(
        node_count: usize, arcs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> Result<Self> {
        // Starts are kept one entry further right while they move, and so end in their places.
        let mut offsets = filled(node_count + 2, 0_u32)?;
        for (source, _) in arcs.clone() {
            offsets[source as usize + 2] += 1;
        }
        for node in 2..offsets.len() {
            offsets[node] += offsets[node - 1];
        }
        let mut targets = filled(offsets[node_count + 1] as usize, 0)?;
        for (source, target) in arcs {
            let slot = &mut offsets[source as usize + 1];
            targets[*slot as usize] = target;
            *slot += 1;
        }
        offsets.pop();
        Ok(Self { offsets, targets })
    }

    pub fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn successors(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// Strongly connected components by Tarjan's algorithm: the component of each node, and the
    /// number of components. O(nodes + arcs), without recursion.
    pub fn components(&self) -> Result<(Vec<u32>, usize)> {
        let nodes = self.node_count();
        let first_arcs = self.offsets[..nodes].iter();
        let mut visits = collected(first_arcs.map(|&next_arc| Visit {
            discovery: 0,
            low: 0,
            next_arc,
            component: NONE,
        }))?;
        let mut component_count = 0;
        let mut found = 0;
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<u32> = Vec::new();
        for root in 0..nodes {
            if visits[root].discovery != 0 {
                continue;
            }
            let mut entered = Some(root);
            loop {
                if let Some(node) = entered.take() {
                    found += 1;
                    (visits[node].discovery, visits[node].low) = (found, found);
                    for &target in self.successors(node).iter().take(PREFETCHED_SUCCESSORS) {
                        prefetch(&visits, target as usize);
                        prefetch(&self.offsets, target as usize);
                    }
                    open.try_push(node as u32)?;
                    path.try_push(node as u32)?;
                }
                let Some(&node) = path.last() else { break };
                let node = node as usize;
                let arc = visits[node].next_arc;
                if arc < self.offsets[node + 1] {
                    visits[node].next_arc += 1;
                    let target = self.targets[arc as usize] as usize;
                    let Visit { discovery, component, .. } = visits[target];
                    if discovery == 0 {
                        entered = Some(target);
                    } else if component == NONE {
                        visits[node].low = visits[node].low.min(discovery);
                    }
                    continue;
                }
                path.pop();
                let Visit { discovery, low, .. } = visits[node];
                if let Some(&parent) = path.last() {
                    let parent = &mut visits[parent as usize];
                    parent.low = parent.low.min(low);
                }
                if low == discovery {
                    while let Some(member) = open.pop() {
                        visits[member as usize].component = component_count;
                        if member as usize == node {
                            break;
                        }
                    }
                    component_count += 1;
                }
            }
        }
        let components = collected(visits.iter().map(|visit| visit.component))?;
        Ok((components, component_count as usize))
    }

    /// Per node, the length of the longest path of arcs between different strongly connected
    /// components that ends in the node's component. O(nodes + arcs).
    pub fn component_depths(&self) -> Result<Vec<u32>> {
        let (component_of, count) = self.components()?;
        let (members, starts) = counting_sort(&component_of, count)?;
        let mut depths = filled(count, 0_u32)?;
        // Tarjan's algorithm closes a component after all that can be reached from it.
        for component in (0..count).rev() {
            let next_depth = depths[component] + 1;
            for &node in &members[starts[component] as usize..starts[component + 1] as usize] {
                for &target in self.successors(node as usize) {
                    let next = component_of[target as usize] as usize;
                    if next != component {
                        depths[next] = depths[next].max(next_depth);
                    }
                }
            }
        }
        collected(component_of.iter().map(|&component| depths[component as usize]))
    }

    /// The position of each node's strongly connected component in a topological order of the
    /// components, and the number of components. Of the components that may come next, the one
    /// with the lowest node does (Kahn's algorithm with a heap). O((nodes + arcs) log nodes).
    pub fn component_ranks(&self) -> Result<(Vec<u32>, usize)> {
        let (component_of, count) = self.components()?;
        let (members, starts) = counting_sort(&component_of, count)?;
        let members_of =
            |component: usize| &members[starts[component] as usize..starts[component + 1] as usize];
        let mut blockers = filled(count, 0_u32)?;
        for node in 0..self.node_count() {
            for &target in self.successors(node) {
                if component_of[node] != component_of[target as usize] {
                    blockers[component_of[target as usize] as usize] += 1;
                }
            }
        }
        // Members are sorted, so the first one is the lowest: it stands for its component.
        let mut ready: BinaryHeap<Reverse<u32>> = room(count)?.into();
        ready.extend(
            (0..count)
                .filter(|&component| blockers[component] == 0)
                .map(|component| Reverse(members_of(component)[0])),
        );
        let mut ranks = filled(self.node_count(), 0)?;
        let mut rank = 0;
        while let Some(Reverse(lowest)) = ready.pop() {
            let component = component_of[lowest as usize];
            for &node in members_of(component as usize) {
                ranks[node as usize] = rank;
                for &target in self.successors(node as usize) {
                    let next = component_of[target as usize];
                    if next == component {
                        continue;
                    }
                    blockers[next as usize] -= 1;
                    if blockers[next as usize] == 0 {
                        ready.push(Reverse(members_of(next as usize)[0]));
                    }
                }
            }
            rank += 1;
        }
        Ok((ranks, count))
    }
}
