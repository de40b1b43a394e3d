//! The layout of messages to variables where several threads run a schedule in lanes.
//!
//! Processors exchange cache lines. In the order of the graph, a line has the messages to several variables, of which other
//! lanes may write one: on BINGO's graphs, most lines that are read then come from another core. So the variables of one
//! lane lie together, and each that several lanes touch begins a line of its own. Where this spares few exchanges, as where the
//! graph's neighbours have neighbouring numbers, its order is better: a line is read once for several variables.

use super::assignment::Assignment;
use super::batches::Batches;
use super::layout::Layout;
use super::state::State;
use super::tuning::Tuning;
use super::values::LINE;
use crate::error::Result;
use crate::memory::filled;
use crate::prefetch::prefetch;
use std::ops::Range;

/// The lanes that touch a variable.
#[derive(Clone, Copy)]
struct Touch {
    /// The one that does so last; `NONE` if there is none.
    last: u16,
    is_shared: bool,
}

const NONE: u16 = u16::MAX;

/// The layout for batches on their lanes, where all variables are binary and lie in the order of the graph; `None` if that is
/// better. O(edges). Errors: no memory.
pub(super) fn lane_layout(
    state: &State, batches: &Batches, assignment: &Assignment, tuning: &Tuning,
) -> Result<Option<Layout>> {
    let Some(layout) = by_lanes(state, batches, assignment)? else { return Ok(None) };
    let exchanges = |first, end| exchanges(state, batches, assignment, first, end);
    let before = exchanges(state.first_slots(), state.graph.edge_count())?;
    let after = exchanges(layout.first(), layout.end())?;
    Ok((after as f64 <= tuning.worthwhile_layout * before as f64).then_some(layout))
}

/// `None` if there are more slots than numbers for them.
fn by_lanes(state: &State, batches: &Batches, assignment: &Assignment) -> Result<Option<Layout>> {
    let graph = &state.graph;
    let variables = graph.variable_count();
    let mut touched = filled(variables, Touch { last: NONE, is_shared: false })?;
    for (index, lane, edges) in factors(state, batches, assignment) {
        for &v in batches.variables_ahead(graph, index, 1) {
            prefetch(&touched, v as usize);
        }
        for &v in &graph.edge_variables()[edges] {
            let Touch { last, is_shared } = touched[v as usize];
            let is_shared = is_shared || last != NONE && last != lane;
            touched[v as usize] = Touch { last: lane, is_shared };
        }
    }
    // Of each lane, variables of its own, then others. Those that no lane touches never change.
    let key = |v: usize| match touched[v].last {
        NONE => 2 * assignment.lanes,
        lane => 2 * lane as usize + usize::from(touched[v].is_shared),
    };
    let mut starts = filled(2 * assignment.lanes + 2, 0_u32)?;
    (0..variables).for_each(|v| starts[key(v) + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut order = filled(variables, 0_u32)?;
    for v in 0..variables {
        let start = &mut starts[key(v)];
        order[*start as usize] = v as u32;
        *start += 1;
    }
    let mut first = filled(variables, 0_u32)?;
    let (mut end, mut last_key) = (0, usize::MAX);
    for &v in &order {
        let v = v as usize;
        if touched[v].is_shared || key(v) != last_key {
            end = usize::next_multiple_of(end, LINE);
        }
        last_key = key(v);
        first[v] = end as u32;
        end += graph.degree(v);
    }
    Ok(u32::try_from(end + LINE).is_ok().then_some(Layout::new(first, end)))
}

/// The batch, the lane and the edges of each factor whose messages change, in the order of the schedule.
fn factors<'a>(
    state: &'a State, batches: &'a Batches, assignment: &'a Assignment,
) -> impl Iterator<Item = (usize, u16, Range<usize>)> + 'a {
    let graph = &state.graph;
    let of_batch = |(index, &lane): (usize, &u16)| {
        batches.prefetch_factors(graph, index);
        (index, lane, graph.factor_edges(batches.factor(graph, index)))
    };
    let all = assignment.lane_of.iter().enumerate().map(of_batch);
    all.filter(|(.., edges)| edges.len() > 1)
}

/// Number of times in an iteration that a lane meets a line that another one has met last, where the messages to each variable
/// start at `first`. Those to a variable of many factors are read eight by eight. O(edges). Errors: no memory.
fn exchanges(
    state: &State, batches: &Batches, assignment: &Assignment, first: &[u32], end: usize,
) -> Result<u64> {
    let mut met = filled(end.div_ceil(LINE), NONE)?;
    let mut count = 0;
    let graph = &state.graph;
    for (index, lane, edges) in factors(state, batches, assignment) {
        for &v in batches.variables_ahead(graph, index, 2) {
            prefetch(first, v as usize);
            prefetch(state.first_slots(), v as usize);
        }
        for &v in batches.variables_ahead(graph, index, 1) {
            prefetch(&met, first[v as usize] as usize / LINE);
        }
        for edge in edges {
            let variable = graph.edge_variables()[edge] as usize;
            let own = state.slots(variable);
            let block = (state.links[edge].slot as usize - own.start) / LINE * LINE;
            let start = first[variable] as usize + block;
            let last = start + (own.len() - block).min(LINE) - 1;
            for met in &mut met[start / LINE..=last / LINE] {
                let before = std::mem::replace(met, lane);
                count += u64::from(before != lane && before != NONE);
            }
        }
    }
    Ok(count)
}
