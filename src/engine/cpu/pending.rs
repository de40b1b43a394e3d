//! Which messages an active set computes again: those that read a message which has changed since they were computed.
//!
//! A message that changes marks those that read it, so that finding out that nothing is to be done costs nothing but
//! reading marks. At a variable of high degree that would take time quadratic in its degree. So such a variable
//! remembers when the last two changes from different edges came, and the messages that read it compare that with the
//! moment at which they were computed. Moments are counted in classes of the preorder.

use super::state::{Link, State};
use crate::error::Result;
use crate::memory::filled;
use std::ops::Range;

/// The messages to be computed again.
pub(super) struct Pending {
    /// Per edge, 1 for a marked one, else 0; and [`WORD`] bytes more, so that a word can be read from any edge on.
    marked: Vec<u8>,
    /// Per slot of a variable, what is behind the edge there.
    neighbours: Vec<Neighbour>,
    /// If there are variables of high degree.
    high_degree: Option<HighDegree>,
}

/// Number of marks that are read and written at once.
const WORD: usize = 8;
/// All marked.
const ONES: u64 = u64::from_le_bytes([1; WORD]);

/// An edge, and the edges of its factor.
#[derive(Clone)]
struct Neighbour {
    edge: u32,
    first: u32,
    end: u32,
}

impl Neighbour {
    /// Marks of the edges of its factor, of which there are at most [`WORD`], whose messages read the input along the
    /// edge: all but that one.
    #[inline(always)]
    fn readers(&self) -> u64 {
        let Self { edge, first, end } = *self;
        ONES & bytes_below((end - first) as usize) & !(0xff << (8 * (edge - first)))
    }
}

/// When messages arrived at variables of high degree, and when those were computed that read them.
struct HighDegree {
    /// Variables of a higher degree than this.
    above: usize,
    /// The current moment; moments start at 1.
    now: u64,
    /// Per edge.
    computed: Vec<u64>,
    /// Per variable, its last two arrivals along different edges, the latest first.
    arrivals: Vec<[Arrival; 2]>,
    /// Whether each factor has such a variable.
    factors: Vec<bool>,
}

/// The arrival of a changed message.
#[derive(Clone, Copy)]
struct Arrival {
    moment: u64,
    edge: u32,
}

impl Pending {
    /// All messages. Changes of messages to variables of a degree up to `marking`, at least 2, mark those that read
    /// them.
    pub(super) fn new(state: &State, marking: usize) -> Result<Self> {
        debug_assert!(marking >= 2);
        let graph = &state.graph;
        let mut neighbours = filled(state.slot_count(), Neighbour { edge: 0, first: 0, end: 0 })?;
        for (edge, link) in state.links.iter().enumerate() {
            let Range { start, end } = graph.factor_edges(graph.edge_factors()[edge] as usize);
            neighbours[link.slot as usize] =
                Neighbour { edge: edge as u32, first: start as u32, end: end as u32 };
        }
        let is_high = |v: usize| graph.degree(v) > marking;
        let high_degree = if (0..graph.variable_count()).any(is_high) {
            let never = Arrival { moment: 0, edge: u32::MAX };
            let mut factors = filled(graph.factor_count(), false)?;
            for (&factor, &variable) in graph.edge_factors().iter().zip(graph.edge_variables()) {
                factors[factor as usize] |= is_high(variable as usize);
            }
            Some(HighDegree {
                above: marking,
                now: 1,
                computed: filled(graph.edge_count(), 0)?,
                arrivals: filled(graph.variable_count(), [never; 2])?,
                factors,
            })
        } else {
            None
        };
        Ok(Self { marked: filled(graph.edge_count() + WORD, 1)?, neighbours, high_degree })
    }

    /// Marks all messages.
    pub(super) fn mark_all(&mut self) {
        self.marked.fill(1);
    }

    /// Moves those of a factor's edges whose messages have to be computed again to `wanted`, which has room for them:
    /// they count as computed at this moment.
    pub(super) fn take(&mut self, state: &State, edges: &[u32], wanted: &mut Vec<u32>) {
        if let Some(high_degree) = &self.high_degree {
            high_degree.mark(state, edges.iter().copied(), &mut self.marked);
        }
        for &edge in edges {
            if std::mem::take(&mut self.marked[edge as usize]) != 0 {
                wanted.push(edge);
                if let Some(high_degree) = &mut self.high_degree {
                    high_degree.computed[edge as usize] = high_degree.now;
                }
            }
        }
    }

    /// [`Self::take`] of all edges of a factor with `N` variables, at most [`WORD`]: byte i tells of the edge
    /// `first` + i.
    #[inline(always)]
    pub(super) fn take_few<const N: usize>(&mut self, state: &State, first: usize) -> Marks {
        if let Some(high_degree) = &mut self.high_degree {
            high_degree.mark(state, first as u32..(first + N) as u32, &mut self.marked);
        }
        let Some(bytes) = self.marked[first..].first_chunk_mut::<WORD>() else { return Marks(0) };
        let word = u64::from_le_bytes(*bytes);
        let own = word & bytes_below(N);
        if own != 0 {
            *bytes = (word & !own).to_le_bytes();
            if let Some(high_degree) = &mut self.high_degree {
                for position in 0..N {
                    if Marks(own).has(position) {
                        high_degree.computed[first + position] = high_degree.now;
                    }
                }
            }
        }
        Marks(own)
    }

    /// Notes that the message along an edge has changed.
    #[inline(always)]
    pub(super) fn changed(&mut self, state: &State, edge: usize, link: Link) {
        // Most variables have one other edge, or none.
        match link.degree {
            1 => {}
            2 => mark(&mut self.marked, &self.neighbours[link.place as usize]),
            _ => self.changed_among_many(state, edge, link.slot as usize),
        }
    }

    #[inline(never)]
    fn changed_among_many(&mut self, state: &State, edge: usize, own: usize) {
        let graph = &state.graph;
        let variable = graph.edge_variables()[edge] as usize;
        let slots = state.slots(variable);
        if let Some(high_degree) = &mut self.high_degree
            && slots.len() > high_degree.above
        {
            high_degree.arrived(variable, edge as u32);
            return;
        }
        for slot in slots {
            if slot != own {
                mark(&mut self.marked, &self.neighbours[slot]);
            }
        }
    }

    /// Has a message that has been taken computed again all the same.
    pub(super) fn keep(&mut self, edge: usize) {
        self.marked[edge] = 1;
    }

    /// Begins the next moment.
    #[inline(always)]
    pub(super) fn next_class(&mut self) {
        if let Some(high_degree) = &mut self.high_degree {
            high_degree.now += 1;
        }
    }
}

/// Which of at most [`WORD`] edges are marked.
#[derive(Clone, Copy)]
pub(super) struct Marks(u64);

impl Marks {
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        // The sum of the bytes, in the highest one.
        (self.0.wrapping_mul(ONES) >> (8 * (WORD - 1))) as usize
    }

    #[inline(always)]
    pub(super) fn has(self, position: usize) -> bool {
        (self.0 >> (8 * position)) & 1 != 0
    }

    /// The first marked one; a number beyond all if none is.
    #[inline(always)]
    pub(super) fn first(self) -> usize {
        self.0.trailing_zeros() as usize / 8
    }
}

/// The lowest `count` bytes of a word, all bits set.
#[inline(always)]
fn bytes_below(count: usize) -> u64 {
    if count >= WORD { u64::MAX } else { (1 << (8 * count)) - 1 }
}

/// Marks the edges of a factor whose messages read the input along one of its edges: all but that one.
#[inline(always)]
fn mark(marked: &mut [u8], neighbour: &Neighbour) {
    let Neighbour { edge, first, end } = *neighbour;
    let (edge, first, end) = (edge as usize, first as usize, end as usize);
    if end - first <= WORD
        && let Some(bytes) = marked[first..].first_chunk_mut::<WORD>()
    {
        *bytes = (u64::from_le_bytes(*bytes) | neighbour.readers()).to_le_bytes();
        return;
    }
    marked[first..edge].fill(1);
    marked[edge + 1..end].fill(1);
}

impl HighDegree {
    /// Notes that a changed message has arrived.
    fn arrived(&mut self, variable: usize, edge: u32) {
        let arrivals = &mut self.arrivals[variable];
        if arrivals[0].edge != edge {
            arrivals[1] = arrivals[0];
        }
        arrivals[0] = Arrival { moment: self.now, edge };
    }

    /// Marks those of a factor's edges whose messages read one that arrived at a variable of high degree at or after the
    /// moment at which they were computed.
    fn mark(&self, state: &State, edges: impl Iterator<Item = u32> + Clone, marked: &mut [u8]) {
        let graph = &state.graph;
        let Some(any) = edges.clone().next() else { return };
        let factor = graph.edge_factors()[any as usize] as usize;
        if !self.factors[factor] {
            return;
        }
        // The latest arrivals that are read along two of the factor's edges.
        let (mut latest, mut latest_at, mut second) = (0, usize::MAX, 0);
        for input in graph.factor_edges(factor) {
            let variable = graph.edge_variables()[input] as usize;
            let arrivals = &self.arrivals[variable];
            let moment = arrivals[usize::from(arrivals[0].edge as usize == input)].moment;
            if moment > latest {
                (latest, latest_at, second) = (moment, input, latest);
            } else {
                second = second.max(moment);
            }
        }
        for edge in edges {
            let edge = edge as usize;
            let read = if latest_at == edge { second } else { latest };
            marked[edge] |= u8::from(read > 0 && read >= self.computed[edge]);
        }
    }
}
