//! Where a synchronous iteration stores messages and what they change, side by side, so that a message costs one look-up.

use super::state::State;
use crate::error::Result;
use crate::memory::{collected, filled};

/// Where a message is stored, and the node that reads it.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) place: u32,
    pub(super) node: u32,
}

/// Targets of messages of one kind: places are less than `places`, and nodes than `nodes`.
pub(super) struct TargetList {
    targets: Vec<Target>,
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    places: usize,
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    nodes: usize,
}

impl TargetList {
    fn new(targets: impl Iterator<Item = Target>, places: usize, nodes: usize) -> Result<Self> {
        let targets = collected(targets.inspect(|target| {
            assert!((target.place as usize) < places && (target.node as usize) < nodes);
        }))?;
        Ok(Self { targets, places, nodes })
    }

    /// The targets, for loops.
    #[inline(always)]
    pub(super) fn list(&self) -> &[Target] {
        &self.targets
    }
}

/// Where the edges of a factor start, and the number of its coefficients, if it is a conjunction.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
pub(super) struct FactorPlace {
    pub(super) first_edge: u32,
    pub(super) coefficients: u32,
}

/// The targets of all messages.
pub(super) struct Targets {
    /// Of each edge, the slot and the variable.
    pub(super) to_variable: TargetList,
    /// Of each slot, the edge and the factor; empty where no four nodes are computed at once.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(super) to_factor: TargetList,
    /// Of each factor; empty as well.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(super) factors: Vec<FactorPlace>,
}

impl Targets {
    /// `serves` says that four nodes may be computed at once. O(edges). Errors: no memory.
    pub(super) fn new(state: &State, serves: bool) -> Result<Self> {
        let graph = &state.graph;
        let (edges, factors) = (graph.edge_count(), graph.edge_factors());
        let links = state.links.iter().zip(graph.edge_variables());
        let to_variable = links.map(|(link, &node)| Target { place: link.slot, node });
        let slots = if serves { state.slot_count() } else { 0 };
        let mut to_factor = filled(slots, Target { place: 0, node: 0 })?;
        if serves {
            for ((edge, link), &node) in state.links.iter().enumerate().zip(factors) {
                to_factor[link.slot as usize] = Target { place: edge as u32, node };
            }
        }
        let places = (0..if serves { graph.factor_count() } else { 0 }).map(|factor| FactorPlace {
            first_edge: graph.factor_offsets()[factor],
            coefficients: graph.conjunction_parameter(factor).unwrap_or_default() as u32,
        });
        Ok(Self {
            to_variable: TargetList::new(
                to_variable,
                state.to_variable.len(),
                graph.variable_count(),
            )?,
            to_factor: TargetList::new(to_factor.into_iter(), edges, graph.factor_count())?,
            factors: collected(places)?,
        })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use several::Destination;

/// Messages of four nodes at once.
#[cfg(target_arch = "x86_64")]
mod several {
    use super::super::stale::StaleView;
    use super::super::values::View;
    use super::{Target, TargetList};
    use crate::kernel::EncodedMessage;
    use std::sync::atomic::Ordering::Relaxed;

    /// Where messages of one kind are stored: targets have a place in `messages` and a flag in `stale`.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Destination<'a> {
        pub(in super::super) messages: View<'a>,
        pub(in super::super) stale: StaleView<'a>,
        targets: &'a [Target],
    }

    impl<'a> Destination<'a> {
        /// Without messages, there are no targets.
        pub(in super::super) fn new(
            messages: View<'a>, stale: StaleView<'a>, list: &'a TargetList,
        ) -> Self {
            let targets = if messages.len() == 0 { &[] } else { list.list() };
            assert!(targets.is_empty() || messages.len() >= list.places);
            assert!(stale.len() >= list.nodes);
            Self { messages, stale, targets }
        }

        /// The targets of `count` messages.
        #[inline(always)]
        pub(in super::super) fn targets(&self, first: usize, count: usize) -> &'a [Target] {
            &self.targets[first..first + count]
        }

        /// Stores `N` messages of a node, of which the targets start at `first`, and marks their readers where they have changed.
        #[inline(always)]
        pub(in super::super) fn store<const N: usize>(
            &self, first: usize, message: impl Fn(usize) -> EncodedMessage,
        ) {
            for (at, &target) in self.targets(first, N).iter().enumerate() {
                // SAFETY: it is one of the targets.
                unsafe { self.replace(target, message(at)) };
            }
        }

        /// Stores a message, and marks its reader if it has changed.
        ///
        /// # Safety
        ///
        /// The target is one of [`Self::targets`].
        #[inline(always)]
        pub(in super::super) unsafe fn replace(&self, target: Target, message: EncodedMessage) {
            // SAFETY: `new` has seen that there is a place and a flag.
            let (place, flag) = unsafe {
                (self.messages.at(target.place as usize), self.stale.at(target.node as usize))
            };
            let before = place.load(Relaxed);
            place.store(message.0, Relaxed);
            if before != message.0 {
                flag.store(true, Relaxed);
            }
        }
    }
}
