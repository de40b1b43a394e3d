//! The units of what variables send to several factors by levels: see cuda/engine/binary_level_messages.cuh.

use super::level_messages::{Group, News, Reads};
use super::level_ranks::Ranks;
use super::level_units::Unit;
use super::level_versions::Versions;
use super::level_words::CHUNK;
use super::limits::WARP;
use crate::engine::cuda::interface::binary::{THREAD_LEAVES, WARP_LEAVES};
use crate::engine::cuda::interface::words::{HUB_NOTHING, hub_reading, level_message, unit_shape};
use crate::error::Result;
use crate::memory::{Grow, collected, room};
use crate::parallel::all_parts;
use crate::threads::Gang;

/// Where a level has more groups than warps over this, several share a warp.
const GROUPS_AT_ONCE: usize = 4;

/// The units of all groups, by the level behind which they come, for so many warps.
pub(super) fn units_of_variables(
    reads: &Reads<'_>, versions: &Versions<'_>, warps: usize, gang: &Gang,
) -> Result<Vec<(Option<u32>, Vec<Unit>)>> {
    let Reads { ranks, messages } = reads;
    let mut groups: Vec<&Group> = collected(messages.groups.iter())?;
    let threads = |group: &Group| threads_of(ranks, group);
    // Those of most threads come first, so that all begin at multiples of their numbers of threads.
    groups.sort_by_key(|group| (group.level, std::cmp::Reverse(threads(group))));
    let of_levels: Vec<&[&Group]> = collected(groups.chunk_by(|a, b| a.level == b.level))?;
    all_parts(of_levels.len(), gang, |at| {
        let groups = of_levels[at];
        let most = groups.len().div_ceil((warps / GROUPS_AT_ONCE).max(1));
        let (mut units, mut rest) = (Vec::new(), groups);
        while let Some(first) = rest.first() {
            let (mut count, mut sum) = (0, 0);
            let is_giant = has_pieces(ranks, first);
            while let Some(group) = rest.get(count) {
                sum += threads(group);
                if count > 0 && (is_giant || count >= most || sum > WARP) {
                    break;
                }
                count += 1;
            }
            let (of_unit, others) = rest.split_at(count);
            units.try_push(unit_of(reads, versions, of_unit)?)?;
            rest = others;
        }
        Ok((groups[0].level, units))
    })
}

/// The unit of some groups.
fn unit_of(reads: &Reads<'_>, versions: &Versions<'_>, groups: &[&Group]) -> Result<Unit> {
    let Reads { ranks, messages } = reads;
    let (mut words, mut hubs) = (room(CHUNK)?, room(CHUNK)?);
    let mut widest = 1;
    for group in groups {
        let threads = threads_of(ranks, group);
        widest = widest.max(threads);
        append_group(reads, group, threads, [&mut words, &mut hubs]);
    }
    while words.len() < CHUNK {
        words.extend([0; 4]);
        hubs.extend([0, HUB_NOTHING, 0, 0]);
    }
    let is_giant = has_pieces(ranks, groups[0]);
    words.try_append(&hubs)?;
    if is_giant {
        // All of them see the same of other pieces.
        let message = messages.messages[groups[0].messages.start as usize];
        versions.append_words(message.edge as usize, message.ranks.1, &mut words)?;
    }
    let shape = unit_shape::VARIABLES.mask()
        | unit_shape::HUB_LEVELS.put(widest.ilog2())
        | unit_shape::WIDE_ROUNDS.put(u32::from(!is_giant))
        | unit_shape::GIANTS.put(u32::from(is_giant));
    Ok(Unit { shape, words, ..Unit::default() })
}

/// The words of a group's threads: MessageWords and HubWords.
fn append_group(
    reads: &Reads<'_>, group: &Group, threads: usize, [words, hubs]: [&mut Vec<u32>; 2],
) {
    let Reads { ranks, messages } = reads;
    let variable = group.variable as usize;
    let edges = ranks.graph.variable_edges(variable);
    let (first, count) = ranks.layout.slots_of(variable);
    let width = hub_reading::LEVELS.put(threads.ilog2());
    let begin = group.piece * WARP_LEAVES as u32;
    let position = ranks.layout.position[variable];
    let mut number = group.messages.start;
    for leaf in (0..threads as u32).map(|at| begin + at * THREAD_LEAVES) {
        if leaf >= count {
            words.extend([0, 0, position, 0]);
            hubs.extend([first, HUB_NOTHING | width, begin, count]);
            continue;
        }
        let place = messages.first + number;
        let (mut sent, mut later, mut earlier) = (0, 0, 0);
        for at in 0..THREAD_LEAVES {
            let Some(&edge) = edges.get((leaf + at) as usize) else { break };
            let news = match group.news {
                News::Below(rank) => [ranks.of(edge) < rank; 2],
                News::Earlier(end) => [leaf + at < end, false],
            };
            later |= u32::from(news[0]) << at;
            earlier |= u32::from(news[1]) << at;
            if number < group.messages.end && messages.messages[number as usize].edge == edge {
                sent |= 1 << at;
                number += 1;
            }
        }
        let slots = level_message::SENT.put(sent) | level_message::NEWS.put(earlier);
        words.extend([place, slots, position, 0]);
        hubs.extend([first + leaf, later | width, begin, count]);
    }
}

/// How many threads read the messages to a group's variable, or to its piece.
fn threads_of(ranks: &Ranks<'_>, group: &Group) -> usize {
    let width = ranks.width_of(group.variable as usize);
    width.min(WARP_LEAVES) / THREAD_LEAVES as usize
}

fn has_pieces(ranks: &Ranks<'_>, group: &Group) -> bool {
    ranks.width_of(group.variable as usize) > WARP_LEAVES
}
