//! The shape of SmartFL's graphs.

use super::choices::Choices;
use super::generated::{Draft, Generated};
use crate::error::Result;
use crate::memory::{self, Grow};
use crate::model::Label;

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
/// An error if `variables` is below [`super::MIN_VARIABLES`] or above [`super::MAX_VARIABLES`].
pub fn smartfl(variables: usize, seed: u64) -> Result<Generated> {
    draft(variables, seed)?.build()
}

/// The graph of [`smartfl`], before it is built.
pub(super) fn draft(variables: usize, seed: u64) -> Result<Draft> {
    let (mut draft, mut choices) = Draft::begin(variables, seed, 1)?;
    let statement_count = (variables / 5).min(16 * variables.isqrt());
    let starts = loop_starts(statement_count, &mut choices)?;
    let trace = execution_trace(&starts, variables - statement_count, &mut choices)?;
    let mut statements =
        memory::all_collected((0..statement_count).map(|_| Statement::choose(&mut choices)))?;
    for &start in &starts[..starts.len() - 1] {
        // The condition of the loop.
        statements[start].is_predicate = true;
    }
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
        draft.builder.add_and(value_label(execution), &body, 1.0, q)?;
        if statement.is_predicate {
            last_predicate = Some(execution);
        }
        if execution + 1 == trace.len() {
            draft.observe(statement_count + execution, 0)?;
        } else if choices.one_in(40) {
            let state = usize::from(!choices.one_in(32));
            draft.observe(statement_count + execution, state)?;
        }
    }
    draft.builder.add_missing_priors(0.5)?;
    Ok(draft)
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
