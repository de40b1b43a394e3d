//! The shape of BINGO's graphs.

use super::choices::Choices;
use super::generated::{Draft, Generated};
use crate::error::Result;
use crate::memory::{self, Grow};
use crate::model::Label;

/// Number of answered alarms in the observations.
const ANSWERED_ALARMS: usize = 20;

/// A graph like BINGO's of a Datalog derivation: tuples and the grounded clauses that derive them.
///
/// It has exactly `variables` variables, each the head of one factor: input tuples (`*0.999`
/// without a body), derived tuples (`+` over their clauses) and clauses (`*` with a power of 0.999
/// over the tuples of their bodies). Clauses mostly use tuples of earlier layers, recent ones or high-degree variables
/// that many clauses use, and sometimes later ones, which makes cycles. Labels are in random order.
/// Observed are answers to some alarms, that is to derived tuples that no clause uses: half of them
/// true, half of them false.
///
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`].
pub fn bingo(variables: usize, seed: u64) -> Result<Generated> {
    draft(variables, seed)?.build()
}

/// The graph of [`bingo`], before it is built.
pub(super) fn draft(variables: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 2)?;
    let clause_counts = derivation_sizes(variables, &mut choices)?;
    let tuple_count = clause_counts.len();
    // Nodes are the tuples, then the clauses; the factor of node n comes at position labels[n].
    let labels = choices.permutation(variables)?;
    let mut used = memory::filled(tuple_count, false)?;
    // The bodies of all clauses, one after the other, and where each ends; the first clause of each tuple.
    let mut premises: Vec<Label> = Vec::new();
    let mut ends = memory::room(variables - tuple_count)?;
    let mut first_clauses = memory::room(tuple_count)?;
    for (tuple, &clause_count) in clause_counts.iter().enumerate() {
        first_clauses.push(tuple_count + ends.len());
        for _ in 0..clause_count {
            let start = premises.len();
            for _ in 0..choices.weighted(&CLAUSE_BODIES) {
                let other = choose_premise(tuple, tuple_count, &mut choices);
                if other != tuple && !premises[start..].contains(&labels[other]) {
                    premises.try_push(labels[other])?;
                    used[other] = true;
                }
            }
            ends.push(premises.len());
        }
    }
    let mut nodes = memory::filled(variables, 0)?;
    for (node, &label) in labels.iter().enumerate() {
        nodes[label as usize] = node as u32;
    }
    for (label, &node) in nodes.iter().enumerate() {
        let (head, node) = (label as Label, node as usize);
        let Some(clause) = node.checked_sub(tuple_count) else {
            let clauses = first_clauses[node]..first_clauses[node] + clause_counts[node];
            if clauses.is_empty() {
                draft.builder.add_and(head, &[], CERTAINTY, 0.0)?;
            } else {
                draft.builder.add_or(head, &labels[clauses], 1.0, 0.0)?;
            }
            continue;
        };
        // Real clauses that stand for a chain of k have the k-th power.
        let power = choices.weighted(&CLAUSE_POWERS);
        let p = (0..power).fold(1.0, |product, _| product * CERTAINTY);
        let start = if clause == 0 { 0 } else { ends[clause - 1] };
        draft.builder.add_and(head, &premises[start..ends[clause]], p, 0.0)?;
    }
    let is_alarm = |&tuple: &usize| clause_counts[tuple] > 0 && !used[tuple];
    let mut alarms = memory::collected((0..tuple_count).filter(is_alarm))?;
    let answers = 0..ANSWERED_ALARMS.min(alarms.len());
    draft.observations = memory::collected(answers.map(|answer| {
        let alarm = alarms.swap_remove(choices.below(alarms.len()));
        // Labels have no gaps: they are the variables' indices.
        (labels[alarm] as usize, answer % 2)
    }))?;
    draft.observations.sort_unstable();
    Ok(draft)
}

/// The probability of an input tuple and of a rule.
const CERTAINTY: f64 = 0.999;
/// Number of clauses of a derived tuple (value, weight).
const CLAUSES: [(usize, usize); 9] =
    [(1, 700), (2, 210), (3, 40), (4, 15), (5, 10), (6, 10), (7, 5), (8, 5), (9, 5)];
/// Number of premises of a clause.
const CLAUSE_BODIES: [(usize, usize); 9] =
    [(1, 460), (2, 340), (3, 130), (4, 50), (5, 10), (6, 4), (7, 3), (10, 2), (18, 1)];
/// Powers of 0.999.
const CLAUSE_POWERS: [(usize, usize); 7] =
    [(1, 620), (2, 160), (3, 70), (4, 70), (5, 30), (6, 30), (7, 20)];

/// Number of clauses of each tuple, 0 for an input tuple: as many as give that many nodes. The
/// first tuple is an input.
fn derivation_sizes(nodes: usize, choices: &mut Choices) -> Result<Vec<usize>> {
    let mut sizes = memory::filled(1, 0)?;
    let mut left = nodes - 1;
    while left > 0 {
        let clauses = if left == 1 || choices.one_in(20) { 0 } else { choices.weighted(&CLAUSES) };
        let clauses = clauses.min(left - 1);
        sizes.try_push(clauses)?;
        left -= 1 + clauses;
    }
    Ok(sizes)
}

/// A tuple that a clause for `tuple` > 0 uses.
fn choose_premise(tuple: usize, tuple_count: usize, choices: &mut Choices) -> usize {
    if choices.one_in(32) {
        return choices.below(tuple_count);
    }
    if choices.below(3) > 0 {
        return tuple - choices.skewed(tuple);
    }
    // High-degree variables: the product of several uniform shares is small much more often.
    (0..3).fold(tuple, |bound, _| choices.below(bound.max(1)))
}
