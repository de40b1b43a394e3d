//! The nodes of one side of a graph, in the order in which the threads of a synchronous iteration visit them.

use super::team::{Team, Worker};
use super::workspace::Workspace;
use crate::error::Result;
use crate::memory::{Grow, filled, room};

/// Nodes, cut into chunks of about equal work, which threads take one after the other, and inside of these into groups of one
/// shape, so that the processor predicts the branches, or several nodes can be computed at once.
pub(super) struct Nodes {
    order: Vec<u32>,
    /// The shape of each group, and where it ends.
    groups: Vec<(u16, u32)>,
    /// Where the groups of each chunk start, and those of the last one end; empty without nodes.
    chunks: Vec<u32>,
    prefetches: bool,
}

/// Consecutive nodes of one shape.
pub(super) struct Group<'a> {
    pub(super) nodes: &'a [u32],
    /// The nodes that are visited [`PREFETCH_DISTANCE`] later; none in small graphs.
    ahead: &'a [u32],
}

/// Sides of graphs with less work are in caches that need no prefetch.
pub(super) const PREFETCHED_FROM: usize = 1 << 20;

/// Number of nodes by which the prefetch of what they write precedes the computation.
const PREFETCH_DISTANCE: usize = 12;

/// Number of edges and nodes of a chunk at most: some tens of microseconds of work; and at least, for several threads.
const CHUNK_WORK: usize = 4096;
const LEAST_CHUNK_WORK: usize = 512;
/// Chunks of each of several threads, unless they are smaller than that.
const CHUNKS_PER_THREAD: usize = 8;

/// Number of edges and nodes of a chunk where there are so many on so many threads.
fn chunk_work(work: usize, threads: usize) -> usize {
    match threads {
        1 => CHUNK_WORK,
        _ => (work / (CHUNKS_PER_THREAD * threads)).clamp(LEAST_CHUNK_WORK, CHUNK_WORK),
    }
}

impl Group<'_> {
    /// The nodes, with `prepare` called for each a little earlier.
    #[inline(always)]
    pub(super) fn iter(&self, prepare: impl Fn(usize)) -> impl Iterator<Item = usize> {
        let mut ahead = self.ahead.iter();
        self.nodes.iter().map(move |&node| {
            if let Some(&node) = ahead.next() {
                prepare(node as usize);
            }
            node as usize
        })
    }
}

/// Sorts the nodes of a chunk by their shape.
pub(super) struct Sorter {
    /// Number of edges and nodes of a chunk.
    chunk_work: usize,
    /// Number of variants of each shape, those of which follow each other in a group.
    variants: usize,
    /// Of each shape and variant, the number of nodes, then where they end.
    ends: Vec<u32>,
    /// The nodes of the chunk, and shape * `variants` + variant.
    of_chunk: Vec<(u32, u16)>,
    all_work: usize,
}

impl Sorter {
    /// For the shapes 0 to `shapes` - 1, and `variants` of each. Errors: no memory.
    pub(super) fn new(shapes: usize, variants: usize, chunk_work: usize) -> Result<Self> {
        // (Each node adds to the work.)
        let of_chunk = room(chunk_work)?;
        Ok(Self {
            chunk_work,
            variants,
            ends: filled(shapes * variants, 0)?,
            of_chunk,
            all_work: 0,
        })
    }
}

impl Nodes {
    /// No nodes, to which [`Self::add_part`] adds some.
    pub(super) const NONE: Self =
        Self { order: Vec::new(), groups: Vec::new(), chunks: Vec::new(), prefetches: false };

    /// `count` nodes with so many `edges`, for so many threads, which have the `shape`s 0 to `shapes` - 1, and one of `variants`
    /// of it. O(nodes). Errors: no memory.
    pub(super) fn new(
        [count, edges, threads]: [usize; 3], degree: impl Fn(usize) -> usize,
        [shapes, variants]: [usize; 2], shape: impl Fn(usize) -> [u16; 2],
    ) -> Result<Self> {
        let mut nodes = Self::NONE;
        let mut sorter = Sorter::new(shapes, variants, chunk_work(count + edges, threads))?;
        nodes.order = room(count)?;
        nodes.add_part(&mut sorter, 0..count as u32, degree, shape)?;
        Ok(nodes)
    }

    /// Adds nodes in chunks of their own. O(nodes + chunks * shapes). Errors: no memory.
    pub(super) fn add_part(
        &mut self, sorter: &mut Sorter, part: impl Iterator<Item = u32>,
        degree: impl Fn(usize) -> usize, shape: impl Fn(usize) -> [u16; 2],
    ) -> Result<()> {
        if self.chunks.is_empty() {
            self.chunks.try_push(0)?;
        }
        let mut work = 0;
        for node in part {
            let [shape, variant] = shape(node as usize);
            sorter.of_chunk.push((node, shape * sorter.variants as u16 + variant));
            work += 1 + degree(node as usize);
            if work >= sorter.chunk_work {
                sorter.all_work += std::mem::take(&mut work);
                self.end_chunk(sorter)?;
            }
        }
        sorter.all_work += work;
        if !sorter.of_chunk.is_empty() {
            self.end_chunk(sorter)?;
        }
        self.prefetches = sorter.all_work >= PREFETCHED_FROM;
        Ok(())
    }

    /// Adds the nodes of a chunk by a counting sort.
    fn end_chunk(&mut self, sorter: &mut Sorter) -> Result<()> {
        let Sorter { ends, of_chunk, variants, .. } = sorter;
        let start = self.order.len();
        of_chunk.iter().for_each(|&(_, shape)| ends[shape as usize] += 1);
        let mut end = start as u32;
        for (shape, ends) in ends.chunks_mut(*variants).enumerate() {
            let before = end;
            for nodes in ends {
                (end, *nodes) = (end + *nodes, end);
            }
            if end > before {
                self.groups.try_push((shape as u16, end))?;
            }
        }
        self.order.try_resize(end as usize, 0)?;
        for &(node, shape) in &*of_chunk {
            self.order[ends[shape as usize] as usize] = node;
            ends[shape as usize] += 1;
        }
        ends.fill(0);
        of_chunk.clear();
        self.chunks.try_push(self.groups.len() as u32)
    }

    /// Number of chunks.
    pub(super) fn chunk_count(&self) -> usize {
        self.chunks.len().saturating_sub(1)
    }

    /// Runs `visit` for every group of a chunk.
    #[inline]
    pub(super) fn for_groups_of(&self, chunk: usize, mut visit: impl FnMut(u16, Group<'_>)) {
        for group in self.chunks[chunk] as usize..self.chunks[chunk + 1] as usize {
            let start = group.checked_sub(1).map_or(0, |before| self.groups[before].1);
            let (shape, end) = self.groups[group];
            let start = start as usize;
            let nodes = &self.order[start..end as usize];
            let ahead = self.order.get(start + PREFETCH_DISTANCE..);
            let ahead = ahead.filter(|_| self.prefetches).unwrap_or_default();
            visit(shape, Group { nodes, ahead });
        }
    }

    /// Runs `visit` for every group, on all threads.
    pub(super) fn for_groups(
        &self, team: &Team, visit: impl Fn(u16, Group<'_>, &mut Workspace) + Sync,
    ) {
        let chunks = team.chunks(self.chunk_count());
        team.run(|worker: &mut Worker<'_>| {
            for chunk in chunks.of(worker) {
                let workspace = &mut *worker.workspace;
                self.for_groups_of(chunk, |shape, group| visit(shape, group, workspace));
            }
        });
    }

    /// Runs `visit` for every node, on all threads.
    pub(super) fn for_each(&self, team: &Team, visit: impl Fn(usize, &mut Workspace) + Sync) {
        self.for_groups(team, |_, group, workspace| {
            group.nodes.iter().for_each(|&node| visit(node as usize, workspace));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each node is in one group, with the others of its chunk and shape.
        #[test]
        fn groups_have_one_shape(
            shapes in prop::collection::vec((0_u16..5, 0_usize..3000), 0..60), threads in 1_usize..4,
        ) {
            let edges = shapes.iter().map(|&(_, degree)| degree).sum();
            let sizes = [shapes.len(), edges, threads];
            let wanted = chunk_work(shapes.len() + edges, threads);
            let variant = |node: usize| (node % 3) as u16;
            let nodes =
                Nodes::new(sizes, |node| shapes[node].1, [5, 3], |node| [shapes[node].0, variant(node)])
                    .unwrap();
            let mut visited = vec![0; shapes.len()];
            let mut start = 0;
            for groups in nodes.chunks.windows(2) {
                let mut found = Vec::new();
                let first = start;
                for &(shape, end) in &nodes.groups[groups[0] as usize..groups[1] as usize] {
                    let nodes = &nodes.order[start..end as usize];
                    prop_assert!(!nodes.is_empty() && !found.contains(&shape));
                    prop_assert!(nodes.is_sorted_by_key(|&node| (variant(node as usize), node)));
                    for &node in nodes {
                        prop_assert_eq!(shapes[node as usize].0, shape);
                        visited[node as usize] += 1;
                    }
                    found.push(shape);
                    start = end as usize;
                }
                // Without its last node, a chunk would be too small.
                let work = |end: usize| (first..end).map(|node| 1 + shapes[node].1).sum::<usize>();
                prop_assert!(work(start - 1) < wanted);
                prop_assert!(work(start) >= wanted || start == shapes.len());
            }
            prop_assert!(visited.iter().all(|&times| times == 1));
        }
    }
}
