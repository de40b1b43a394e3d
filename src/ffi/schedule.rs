//! # Schedules
//!
//! For everyone who wants another order of updates than SEQFIX. A schedule is a total preorder on the edges of the
//! graph, a rank per edge: in each iteration, a factor-to-variable message reads those of edges of lower rank from the
//! same iteration, all others from the previous one. Whatever the order, runs in parallel give the bits of updating
//! one edge at a time. Changing it leaves messages, evidence and results; the new one is analysed at the next run or
//! fastlbp_bp_prepare.

use super::arguments::Buffer;
use super::bp::fastlbp_bp;
use super::session::Session;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::memory::{collected, shared};
use crate::schedule::{Preorder, Schedule};
use std::ffi::c_char;

/// Sets the schedule by its name, in upper or lower case:
///
/// - `PARALL`: every message reads those of the iteration before (synchronous).
/// - `SEQFIX`: factors in order, within a factor variables ascending; the default.
/// - `SEQRND`: one edge after the other, in a new random order every iteration.
/// - `SEQMAX`: always the message that would change most (residual belief propagation); no preorder. An iteration is as
///   many messages as there are edges. By the property `logdomain`, changes are those of probabilities or of their
///   logarithms. Not together with an active set.
/// - `BLOCKS`: every edge is in one of some blocks, at random; see fastlbp_bp_set_schedule_blocks.
/// - `TOPO`: along the arcs from the bodies to the heads of AND and OR factors, then back.
/// - `FWDBWD`: as TOPO, but all messages whose heads are equally deep at once.
/// - `TREE`: towards the roots of a spanning forest, then away from them; exact in one iteration on a graph without
///   cycles.
///
/// @param name The name, a string.
/// @param seed The seed of SEQRND and BLOCKS, which gives the same orders on every machine; others ignore it.
/// @return INVALID_ARGUMENT for an unknown name; INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule(
    bp: *mut fastlbp_bp, name: *const c_char, seed: u64,
) -> fastlbp_status {
    change!(bp, |session| set_schedule(session, text!(name), seed))
}

pub(super) fn set_schedule(session: &mut Session, name: &str, seed: u64) -> Outcome {
    let schedule = Schedule::from_name(name, seed)?;
    session.bp.set_schedule(schedule)?;
    set_seed(session, seed)
}

/// Sets the seed of random schedules.
pub(super) fn set_seed(session: &mut Session, seed: u64) -> Outcome {
    session.extras.seed = seed;
    renew_schedule(session)
}

/// Sets in which domain SEQMAX compares messages.
pub(super) fn set_log_domain(session: &mut Session, log_domain: bool) -> Outcome {
    session.extras.log_domain = log_domain;
    renew_schedule(session)
}

/// Sets the number of blocks of BLOCKS.
pub(super) fn set_blocks(session: &mut Session, blocks: u32) -> Outcome {
    if blocks == 0 {
        return Err(Failure::invalid("0 blocks: 1 or more are needed"));
    }
    session.extras.blocks = blocks;
    renew_schedule(session)
}

/// Gives the schedule in use what it takes from the settings.
fn renew_schedule(session: &mut Session) -> Outcome {
    let (seed, blocks) = (session.extras.seed, session.extras.blocks);
    let log_domain = session.extras.log_domain;
    let renewed = match session.bp.schedule() {
        Schedule::SequentialRandom { .. } => Schedule::SequentialRandom { seed },
        Schedule::Blocks { .. } => Schedule::Blocks { blocks, seed },
        Schedule::MaximumResidual { .. } => Schedule::MaximumResidual { log_domain },
        _ => return Ok(()),
    };
    Ok(session.bp.set_schedule(renewed)?)
}

/// Sets the schedule BLOCKS: every edge is put into one of some blocks, each with the same probability, the same ones
/// every iteration. The blocks are updated one after the other, the edges of one at once. One block is PARALL.
///
/// @param blocks The number of blocks, 1 or more; blocks without edges are passed over.
/// @param seed The seed of the random blocks; gives the same ones on every machine.
/// @return INVALID_ARGUMENT for 0 blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_blocks(
    bp: *mut fastlbp_bp, blocks: u32, seed: u64,
) -> fastlbp_status {
    change!(bp, |session| {
        set_blocks(session, blocks)?;
        set_schedule(session, "BLOCKS", seed)
    })
}

/// Sets the schedule by a rank per edge: edges of lower rank come first, edges of equal rank are updated at once. Only
/// order and equality of the ranks matter. O(edges) for ranks that lie close together, O(edges log edges) otherwise.
///
/// @param ranks `length` ranks, by edge (see fastlbp_graph_edge_variables).
/// @param length Must be the number of edges.
/// @return INVALID_ARGUMENT for another length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_ranks(
    bp: *mut fastlbp_bp, ranks: *const u64, length: usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let preorder = Preorder::from_ranks(session.graph(), array!(ranks, length))?;
        set_preorder(session, preorder)
    })
}

/// Sets the schedule by a relation on the edges (its Hasse diagram, or any set of pairs with the same closure): edge
/// `before[i]` is not updated after edge `after[i]`. Edges that the relation puts on both sides of each other are
/// updated at once. It must compare every two edges of which one message reads the other. O((edges + count) log
/// edges) if the pairs put all classes one after the other, more otherwise.
///
/// @param before `count` edges.
/// @param after `count` edges.
/// @param count Number of pairs.
/// @return OUT_OF_RANGE for an edge that there is not; INVALID_ARGUMENT if two edges that must be compared are not,
///         which the text names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_relation(
    bp: *mut fastlbp_bp, before: *const u32, after: *const u32, count: usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let pairs: Vec<_> = collected(pairs!(before, after, count))?;
        set_preorder(session, Preorder::from_relation(session.graph(), &pairs)?)
    })
}

fn set_preorder(session: &mut Session, preorder: Preorder) -> Outcome {
    Ok(session.bp.set_schedule(Schedule::Custom(shared(preorder)?))?)
}

/// Rank of every edge in an iteration, counted from 0 without gaps. O(edges).
///
/// @param iteration The number of iterations since the messages were uniform, so 0 for the first one; only SEQRND has
///        different ranks in different iterations.
/// @return UNSUPPORTED for SEQMAX, which has no preorder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_schedule_ranks(
    bp: *const fastlbp_bp, iteration: u64, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let (graph, schedule) = (session.graph(), session.bp.schedule());
        let buffer = Buffer::new(buffer, length, needed)?.check(graph.edge_count())?;
        buffer.fill(schedule.preorder(graph, iteration)?.ranks())
    })
}

/// Number of edges of each dependency level of the schedule: a level is a group of edges whose messages can be computed
/// at once, with the bits of updating one edge at a time; there are as few as there can be when new messages overwrite
/// old ones. For SEQRND, those of the first iteration. The first call for a schedule analyses it: near-linear in the
/// number of edges.
///
/// @return UNSUPPORTED for SEQMAX, which has no preorder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_level_widths(
    bp: *const fastlbp_bp, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| fill!(buffer, length, needed, session.bp.level_widths()?))
}
