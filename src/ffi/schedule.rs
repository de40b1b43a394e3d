//! The update schedule of a session: by name, by ranks, by a relation.

use super::arguments::{Buffer, Output, array, text};
use super::bp::fastlbp_bp;
use super::guard;
use super::memory;
use super::properties;
use super::session::Session;
use super::status::{Outcome, fastlbp_status};
use crate::memory::shared;
use crate::schedule::{Preorder, Schedule};
use std::ffi::c_char;

/// Sets the update schedule by its name. Messages, evidence and results stay; the schedule is
/// analysed at the next run or fastlbp_bp_prepare.
///
/// A schedule is a total preorder on the edges of the graph, a rank per edge: in each pass, a
/// factor-to-variable message reads those of edges of lower rank from the same pass, all others from
/// the previous pass. Whatever the order, runs in parallel give the bits of updating one edge at a
/// time. The names, in upper or lower case:
///
/// - `PARALL`: all messages at once (flooding).
/// - `SEQFIX`: factors in order, within a factor variables ascending; the default.
/// - `SEQRND`: one edge after the other, in a new random order every pass.
/// - `SEQMAX`: always the message that would change most (residual belief propagation); no preorder.
///   A pass is as many messages as there are edges. By the property `logdomain`, changes are those of
///   probabilities or of their logarithms. Not together with an active set.
/// - `BLOCKS`: every edge is in one of some blocks, at random; one block after the other, the edges
///   of a block at once; the same blocks every pass. 8 blocks, if neither
///   fastlbp_bp_set_schedule_blocks nor the property `blocks` said otherwise.
/// - `TOPO`: along the arcs from the bodies to the heads of AND and OR factors, then back.
/// - `FWDBWD`: as TOPO, but all messages whose heads are equally deep at once.
/// - `TREE`: towards the roots of a spanning forest, then away from them; exact in one pass on a
///   graph without cycles.
///
/// @param bp The session; changed.
/// @param name The name, a string.
/// @param seed The seed of SEQRND and BLOCKS, which gives the same orders on every machine; other
///        schedules ignore it.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown name;
///         FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule(
    bp: *mut fastlbp_bp,
    name: *const c_char,
    seed: u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or a string.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            properties::set_schedule(session, text("name", name)?, seed)
        })
    }
}

/// Sets the update schedule BLOCKS: every edge is put into one of `blocks` blocks, each with the same
/// probability, the same ones every pass. The blocks are updated one after the other, the edges of one
/// at once. One block is PARALL.
///
/// @param bp The session; changed.
/// @param blocks The number of blocks, 1 or more; blocks without edges are passed over.
/// @param seed Of the random blocks; gives the same ones on every machine.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for 0 blocks.
///
/// O(1); the schedule is analysed as by fastlbp_bp_set_schedule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_blocks(
    bp: *mut fastlbp_bp,
    blocks: u32,
    seed: u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            properties::set_blocks(session, blocks)?;
            properties::set_schedule(session, "BLOCKS", seed)
        })
    }
}

/// Sets the update schedule by a rank per edge: edges of lower rank come first, edges of equal rank
/// are updated at once. Only order and equality of the ranks matter.
///
/// @param bp The session; changed.
/// @param ranks `length` ranks, by edge (see fastlbp_graph_edge_variables).
/// @param length Must be the number of edges.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another length.
///
/// O(edges) for ranks that lie close together, O(edges log edges) otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_ranks(
    bp: *mut fastlbp_bp,
    ranks: *const u64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            let preorder = Preorder::from_ranks(session.graph(), array("ranks", ranks, length)?)?;
            session.set_schedule(Schedule::Custom(shared(preorder)?));
            Ok(())
        })
    }
}

/// Sets the update schedule by a relation on the edges (its Hasse diagram, or any set of pairs with
/// the same closure): edge `before[i]` is not updated after edge `after[i]`. Edges that the relation
/// puts on both sides of each other are updated at once. It must compare every two edges of which one
/// message reads the other.
///
/// @param bp The session; changed.
/// @param before `count` edges.
/// @param after `count` edges.
/// @param count Number of pairs.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE for an edge that there is not;
///         FASTLBP_STATUS_INVALID_ARGUMENT if two edges that must be compared are not, which the text
///         names.
///
/// O((edges + count) log edges) if the pairs put all classes one after the other, more otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_schedule_relation(
    bp: *mut fastlbp_bp,
    before: *const u32,
    after: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays of `count` entries.
        let (before, after) =
            unsafe { (array("before", before, count)?, array("after", after, count)?) };
        let pairs =
            memory::converted("pairs of edges", before, |index, edge| Ok((edge, after[index])))?;
        let preorder = Preorder::from_relation(session.graph(), &pairs)?;
        session.set_schedule(Schedule::Custom(shared(preorder)?));
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Name of the schedule in use: as for fastlbp_bp_set_schedule, or `CUSTOM` for one set by ranks or a
/// relation.
///
/// @param bp The session.
/// @param buffer Where the string is written, with its final NUL.
/// @param length Length of the buffer; 16 is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_schedule(
    bp: *const fastlbp_bp,
    buffer: *mut c_char,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            Buffer::new(buffer, length, needed)?.fill_text(session.schedule().name())
        })
    }
}

/// Rank of every edge in a pass, counted from 0 without gaps.
///
/// @param bp The session.
/// @param pass The number of passes since the messages were uniform, so 0 for the first one; only
///        SEQRND has different ranks in different passes.
/// @param buffer Where the ranks are written.
/// @param length Length of the buffer; the number of edges is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_UNSUPPORTED for SEQMAX,
///         which has no preorder.
///
/// O(edges).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_schedule_ranks(
    bp: *const fastlbp_bp,
    pass: u64,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let graph = session.graph();
            let buffer = Buffer::new(buffer, length, needed)?.check(graph.edge_count())?;
            buffer.fill(session.schedule().preorder(graph, pass)?.ranks())
        })
    }
}

/// Number of dependency levels of the schedule: groups of edges whose messages can be computed at
/// once, with the bits of updating one edge at a time. The fewest there can be when new messages
/// overwrite old ones. For SEQRND, those of the first pass.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_UNSUPPORTED for SEQMAX, which has no preorder.
///
/// Analyses the schedule when called for the first time after the schedule was set: near-linear in
/// the number of edges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_level_count(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.level_widths()?.len());
            Ok(())
        })
    }
}

/// Number of edges of each dependency level; see fastlbp_bp_level_count.
///
/// @param bp The session.
/// @param buffer Where the numbers are written.
/// @param length Length of the buffer; fastlbp_bp_level_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_level_count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_level_widths(
    bp: *const fastlbp_bp,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| -> Outcome {
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill(session.level_widths()?)
        })
    }
}
