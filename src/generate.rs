//! Factor graphs shaped like those of program analyses, for tests and experiments.
//!
//! All choices are made by a generator and arithmetic on integers, so that a shape, a size and a
//! seed give the same graph on every machine. Another version of the library may give another one.

use crate::error::{Error, Result};
use crate::memory::{self, Grow};
use crate::model::{FactorGraph, FactorGraphBuilder, Label};
use crate::schedule::SplitMix64;

/// Fewest variables of a generated graph.
pub const MIN_VARIABLES: usize = 10;
/// Most variables of a generated graph.
pub const MAX_VARIABLES: usize = 100_000_000;

/// Number of answered alarms in the observations of a BINGO-shaped graph.
const ANSWERED_ALARMS: usize = 20;

/// A graph and observations that fit it.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The graph.
    pub graph: FactorGraph,
    /// (variable index, state), ascending. They do not contradict the graph.
    pub observations: Vec<(usize, usize)>,
}

/// A graph like SmartFL's of a failing test: the execution trace of a program with loops.
///
/// It has exactly `variables` variables: the statements first (as many as a trace of that size
/// typically has), then the values defined by the executions, in order. Each value heads a factor
/// `*1;0.01`, or `*1;0.5` for a predicate, whose body is its statement and the values it used: the
/// last predicate (control dependence), recent values, so that loops become long chains, and a few
/// values that are used everywhere. How often statements are executed is heavily skewed: the
/// statements of the innermost loops are high-degree variables with several per cent of all executions. Statements
/// have the prior 0.5. Observed are some right values and a wrong last one.
///
/// An error if `variables` is below [`MIN_VARIABLES`] or above [`MAX_VARIABLES`].
pub fn smartfl(variables: usize, seed: u64) -> Result<Generated> {
    check_size(variables)?;
    let mut choices = Choices::new(seed, 1);
    let statement_count = (variables / 5).min(16 * variables.isqrt());
    let starts = loop_starts(statement_count, &mut choices)?;
    let trace = execution_trace(&starts, variables - statement_count, &mut choices)?;
    let mut statements =
        memory::all_collected((0..statement_count).map(|_| Statement::choose(&mut choices)))?;
    for &start in &starts[..starts.len() - 1] {
        // The condition of the loop.
        statements[start].is_predicate = true;
    }
    let mut builder = FactorGraphBuilder::new();
    let mut observations = Vec::new();
    let mut last_predicate = None;
    let mut first_executions: Vec<Option<usize>> = memory::filled(statement_count, None)?;
    let mut body: Vec<Label> = Vec::new();
    for (execution, &number) in trace.iter().enumerate() {
        let statement = &statements[number];
        let first_execution = *first_executions[number].get_or_insert(execution);
        let value_label = |execution: usize| (statement_count + execution) as Label;
        let more = if choices.one_in(2000) { 7 + choices.below(18) } else { 0 };
        let uses = statement.uses.iter().chain(std::iter::repeat_n(&Use::Anything, more));
        body.clear();
        body.try_push(number as Label)?;
        for used in uses {
            let used = match *used {
                Use::LastPredicate => last_predicate,
                Use::Recent(distance) => execution.checked_sub(distance),
                Use::Invariant(distance) => first_execution.checked_sub(distance),
                Use::Anything if execution > 0 => Some(choices.skewed(execution) - 1),
                Use::Anything => None,
            };
            if let Some(label) = used.map(value_label)
                && !body.contains(&label)
            {
                body.try_push(label)?;
            }
        }
        let q = if statement.is_predicate { 0.5 } else { 0.01 };
        builder.add_and(value_label(execution), &body, 1.0, q)?;
        if statement.is_predicate {
            last_predicate = Some(execution);
        }
        if execution + 1 == trace.len() {
            observations.try_push((statement_count + execution, 0))?;
        } else if choices.one_in(40) {
            let state = usize::from(!choices.one_in(32));
            observations.try_push((statement_count + execution, state))?;
        }
    }
    builder.add_missing_priors(0.5)?;
    Ok(Generated { graph: builder.build()?, observations })
}

/// A graph like BINGO's of a Datalog derivation: tuples and the grounded clauses that derive them.
///
/// It has exactly `variables` variables, each the head of one factor: input tuples (`*0.999`
/// without a body), derived tuples (`+` over their clauses) and clauses (`*` with a power of 0.999
/// over the tuples of their bodies). Clauses mostly use tuples of earlier layers, recent ones or high-degree variables
/// that many clauses use, and sometimes later ones, which makes cycles. Labels are in random order.
/// Observed are answers to some alarms, that is to derived tuples that no clause uses: half of them
/// true, half of them false.
///
/// An error if `variables` is below [`MIN_VARIABLES`] or above [`MAX_VARIABLES`].
pub fn bingo(variables: usize, seed: u64) -> Result<Generated> {
    check_size(variables)?;
    let mut choices = Choices::new(seed, 2);
    let clause_counts = derivation_sizes(variables, &mut choices)?;
    let tuple_count = clause_counts.len();
    // Nodes are the tuples, then the clauses; the factor of node n comes at position labels[n].
    let labels = choices.permutation(variables)?;
    let mut used = memory::filled(tuple_count, false)?;
    let mut bodies: Vec<(usize, Vec<Label>)> = memory::filled(variables, (0, Vec::new()))?;
    let mut clause = tuple_count;
    for (tuple, &clause_count) in clause_counts.iter().enumerate() {
        let clauses = clause..clause + clause_count;
        clause = clauses.end;
        bodies[labels[tuple] as usize] =
            (tuple, memory::collected(clauses.clone().map(|clause| labels[clause]))?);
        for clause in clauses {
            let mut body: Vec<Label> = Vec::new();
            for _ in 0..choices.weighted(&CLAUSE_BODIES) {
                let other = choose_premise(tuple, tuple_count, &mut choices);
                if other != tuple && !body.contains(&labels[other]) {
                    body.try_push(labels[other])?;
                    used[other] = true;
                }
            }
            bodies[labels[clause] as usize] = (clause, body);
        }
    }
    let mut builder = FactorGraphBuilder::new();
    for (label, (node, body)) in bodies.iter().enumerate() {
        let head = label as Label;
        if clause_counts.get(*node).is_some_and(|&clauses| clauses > 0) {
            builder.add_or(head, body, 1.0, 0.0)?;
        } else {
            // Real clauses that stand for a chain of k have the k-th power.
            let power = if *node < tuple_count { 1 } else { choices.weighted(&CLAUSE_POWERS) };
            let p = (0..power).fold(1.0, |product, _| product * 0.999);
            builder.add_and(head, body, p, 0.0)?;
        }
    }
    let is_alarm = |&tuple: &usize| clause_counts[tuple] > 0 && !used[tuple];
    let mut alarms = memory::collected((0..tuple_count).filter(is_alarm))?;
    let answers = 0..ANSWERED_ALARMS.min(alarms.len());
    let mut observations = memory::collected(answers.map(|answer| {
        let alarm = alarms.swap_remove(choices.below(alarms.len()));
        // Labels have no gaps: they are the variables' indices.
        (labels[alarm] as usize, answer % 2)
    }))?;
    observations.sort_unstable();
    Ok(Generated { graph: builder.build()?, observations })
}

fn check_size(variables: usize) -> Result<()> {
    if (MIN_VARIABLES..=MAX_VARIABLES).contains(&variables) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{variables} variables: a generated graph has {MIN_VARIABLES} to {MAX_VARIABLES}"
    )))
}

/// Random choices by integer arithmetic.
struct Choices(SplitMix64);

impl Choices {
    /// `stream` keeps the choices for different shapes apart.
    fn new(seed: u64, stream: u64) -> Self {
        let key = SplitMix64(seed).next() ^ stream;
        Self(SplitMix64(SplitMix64(key).next()))
    }

    /// A number below `bound` > 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// A number from 1 to `highest` > 0 with a probability about inverse to its size: each power of
    /// two up to the next is as likely as any other.
    fn skewed(&mut self, highest: usize) -> usize {
        let power = 1_usize << self.below(highest.ilog2() as usize + 1);
        power + self.below(power.min(highest - power + 1))
    }

    /// A value by its weight.
    fn weighted(&mut self, values: &[(usize, usize)]) -> usize {
        let total = values.iter().map(|&(_, weight)| weight).sum();
        let mut left = self.below(total);
        for &(value, weight) in values {
            if left < weight {
                return value;
            }
            left -= weight;
        }
        0
    }

    /// The numbers below `count` in random order (Fisher and Yates).
    fn permutation(&mut self, count: usize) -> Result<Vec<Label>> {
        let mut numbers = memory::collected(0..count as Label)?;
        for last in (1..count).rev() {
            let chosen = self.below(last + 1);
            numbers.swap(last, chosen);
        }
        Ok(numbers)
    }
}

/// What an execution of a statement uses.
enum Use {
    /// The value of the last executed predicate.
    LastPredicate,
    /// The value defined that many executions before.
    Recent(usize),
    /// As `Recent` in the first execution, and then always that value: what a loop does not change.
    Invariant(usize),
    /// Any earlier value, the first ones (constants, arguments) much more often.
    Anything,
}

/// A statement of the program: all its executions look alike.
struct Statement {
    is_predicate: bool,
    uses: Vec<Use>,
}

/// Number of values used (value, weight), as in traces of real programs.
const USES: [(usize, usize); 7] =
    [(0, 110), (1, 370), (2, 280), (3, 160), (4, 55), (5, 20), (6, 5)];

impl Statement {
    fn choose(choices: &mut Choices) -> Result<Self> {
        let is_predicate = choices.one_in(32);
        let uses = (0..choices.weighted(&USES)).map(|position| {
            if position == 0 && choices.one_in(2) {
                Use::LastPredicate
            } else if choices.one_in(16) {
                Use::Anything
            } else {
                let distance = choices.skewed(250);
                if choices.one_in(2) { Use::Invariant(distance) } else { Use::Recent(distance) }
            }
        });
        Ok(Self { is_predicate, uses: memory::collected(uses)? })
    }
}

/// Where each of the program's loops starts in its statements, and their end.
fn loop_starts(statements: usize, choices: &mut Choices) -> Result<Vec<usize>> {
    let mut starts = memory::filled(1, 0)?;
    let mut end = 0;
    while end < statements {
        end = (end + choices.skewed(24)).min(statements);
        starts.try_push(end)?;
    }
    Ok(starts)
}

/// The statement of each of `length` executions: the program's loops one after the other, each
/// repeated a number of times. Every statement is executed.
fn execution_trace(starts: &[usize], length: usize, choices: &mut Choices) -> Result<Vec<usize>> {
    let loops = starts.len() - 1;
    let size = |number: usize| starts[number + 1] - starts[number];
    let mut repetitions = memory::filled(loops, 1)?;
    let mut left = length - starts[loops];
    // One short loop dominates, as in every real trace.
    let short = memory::collected((0..loops).filter(|&number| size(number) <= 3))?;
    let mut number = match short.len() {
        0 => choices.below(loops),
        count => short[choices.below(count)],
    };
    let mut wanted = length / 25;
    let partial = loop {
        let more = wanted.min(left / size(number));
        repetitions[number] += more;
        left -= more * size(number);
        if left < size(number) {
            // The last loop is left in the middle.
            break starts[number]..starts[number] + left;
        }
        number = choices.below(loops);
        wanted = choices.skewed((length / 50 / size(number)).max(1));
    };
    let mut trace = memory::room(length)?;
    for number in 0..loops {
        for _ in 0..repetitions[number] {
            trace.try_extend(starts[number]..starts[number + 1])?;
        }
    }
    trace.try_extend(partial)?;
    Ok(trace)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorKind;

    fn degrees(graph: &FactorGraph) -> Vec<usize> {
        let mut degrees: Vec<usize> =
            (0..graph.variable_count()).map(|variable| graph.degree(variable)).collect();
        degrees.sort_unstable();
        degrees
    }

    #[test]
    fn sizes_are_exact_and_seeds_matter() {
        for make in [smartfl, bingo] {
            for variables in [10, 11, 12, 13, 17, 50, 100, 999, 20_000] {
                for seed in 0..4 {
                    let generated = make(variables, seed).unwrap();
                    assert_eq!(generated.graph.variable_count(), variables);
                    assert_eq!(generated, make(variables, seed).unwrap());
                    for &(variable, state) in &generated.observations {
                        assert!(variable < variables && state < 2);
                    }
                    assert!(generated.observations.is_sorted());
                }
            }
            assert_ne!(make(1000, 0).unwrap(), make(1000, 1).unwrap());
            assert!(matches!(make(9, 0), Err(Error::InvalidArgument(_))));
            assert!(matches!(make(MAX_VARIABLES + 1, 0), Err(Error::InvalidArgument(_))));
            assert!(matches!(make(usize::MAX, 0), Err(Error::InvalidArgument(_))));
        }
    }

    #[test]
    fn smartfl_graphs_have_high_degree_variables_and_the_usual_edge_density() {
        for (variables, seed) in [(5_000, 1), (40_000, 2), (200_000, 3)] {
            let graph = smartfl(variables, seed).unwrap().graph;
            let per_variable = graph.edge_count() as f64 / variables as f64;
            assert!((2.8..4.5).contains(&per_variable), "{per_variable}");
            let degrees = degrees(&graph);
            let highest = degrees[variables - 1];
            assert!((variables / 40..variables / 8).contains(&highest), "{highest}");
            assert!((2..=3).contains(&degrees[variables / 2]), "{}", degrees[variables / 2]);
            assert_eq!(graph.factor_count(), variables);
            for factor in 0..graph.factor_count() {
                assert!(matches!(graph.kind(factor), FactorKind::Prior | FactorKind::And));
            }
        }
    }

    #[test]
    fn bingo_graphs_have_the_usual_kinds_and_degrees() {
        for (variables, seed) in [(1_500, 1), (30_000, 2), (160_000, 3)] {
            let Generated { graph, observations } = bingo(variables, seed).unwrap();
            let per_variable = graph.edge_count() as f64 / variables as f64;
            assert!((2.1..3.0).contains(&per_variable), "{per_variable}");
            let degrees = degrees(&graph);
            assert!((15..600).contains(&degrees[variables - 1]), "{}", degrees[variables - 1]);
            assert_eq!(degrees[variables / 2], 2, "{variables}");
            let ors = (0..variables).filter(|&f| graph.kind(f) == FactorKind::Or).count();
            assert!((variables / 3..variables / 2).contains(&ors), "{ors}");
            assert_eq!(observations.len(), ANSWERED_ALARMS);
            assert!(observations.iter().all(|&(alarm, _)| graph.degree(alarm) == 1));
        }
    }

    /// The same graphs on every machine: these sums were computed once and must never change
    /// within a version.
    #[test]
    fn graphs_do_not_depend_on_the_machine() {
        let fingerprint = |generated: &Generated| {
            let graph = &generated.graph;
            let edges = graph.edge_variables().iter().zip(graph.edge_factors());
            edges.fold(0_u64, |sum, (&v, &f)| {
                sum.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(v) << 32 | u64::from(f))
            })
        };
        assert_eq!(fingerprint(&smartfl(1000, 1).unwrap()), 1_040_959_712_157_107_459);
        assert_eq!(fingerprint(&bingo(1000, 1).unwrap()), 4_397_207_308_764_314_206);
    }
}
