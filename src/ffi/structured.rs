//! # Adding factors with local structure
//!
//! For those whose factors are too large for tables but have a shape: clauses with signs, noisy gates, decision
//! trees, sums. All messages of such a factor together take time linear in its size. Variants are special cases of
//! these functions: a clause is a SIGNED factor, noisy-OR and noisy-AND are NOISY factors.

use super::graph::fastlbp_graph;
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::model::{NoisyLiteral, SignedArrays, TermArrays};

/// In the indicators of terms: any state.
pub const FASTLBP_WILDCARD: i32 = -1;

const _: () = assert!(FASTLBP_WILDCARD == crate::model::WILDCARD);

/// The signs of literals: 0 or 1 each.
fn signs(negated: &[u8]) -> Outcome<Vec<bool>> {
    memory::converted("signs", negated, |index, flag| match flag {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::invalid(format!(
            "negated[{index}] is {flag}: 0 for a literal x = 1 or 1 for x = 0 is needed"
        ))),
    })
}

/// The four values of one factor: `four!(values)`.
macro_rules! four {
    ($values:ident) => {
        crate::ffi::arguments::array::<[f64; 4]>(stringify!($values), $values.cast(), 1)?[0]
    };
}

/// Adds a factor decided by a conjunction of signed literals of binary variables (a Horn clause with signs): its
/// value depends on the head and on whether all literals hold. An empty body holds. Equal literals merge; a body with
/// both signs of a variable never holds; the head may occur in its body. O(body_length).
///
/// With p if the body holds and q if not, an AND has the values (p, 1 - p, q, 1 - q), and an OR, with all signs
/// turned, (1 - p, p, 1 - q, q). A clause l1 | l2 | ... of weight s where satisfied and v where not has the variable of
/// l1 as head, the negations of l2, ... as body, and the values (s, v, s, s), or (v, s, s, s) if l1 is negated.
///
/// @param head Label of the head.
/// @param body `body_length` labels.
/// @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
/// @param body_length Number of literals.
/// @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
///        f(head = 0 | one fails): finite, not negative, not all zero.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_signed(
    graph: *mut fastlbp_graph, head: u64, body: *const u64, negated: *const u8, body_length: usize,
    values: *const f64,
) -> fastlbp_status {
    change!(graph, |graph| {
        let (body, negated) = (array!(body, body_length), signs(array!(negated, body_length))?);
        graph.builder()?.add_signed(head, body, &negated, four!(values))
    })
}

/// Adds many SIGNED factors; see fastlbp_graph_add_signed. O(count + bodies_length).
///
/// @param count Number of factors.
/// @param heads `count` labels.
/// @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
/// @param bodies `bodies_length` labels.
/// @param negated `bodies_length` signs: 0 for the literal x = 1, 1 for x = 0.
/// @param bodies_length Number of literals in all bodies together.
/// @param values `4 * count` values, for each factor finite, not negative, not all zero.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_signed_factors(
    graph: *mut fastlbp_graph, count: usize, heads: *const u64, body_offsets: *const usize,
    bodies: *const u64, negated: *const u8, bodies_length: usize, values: *const f64,
) -> fastlbp_status {
    change!(graph, |graph| {
        let values = values.cast::<[f64; 4]>();
        let arrays = SignedArrays {
            heads: array!(heads, count),
            bodies: lists!(count, body_offsets, bodies, bodies_length),
            negated: &[],
            values: array!(values, count),
        };
        let negated = signs(array!(negated, bodies_length))?;
        graph.builder()?.add_signed_factors(SignedArrays { negated: &negated, ..arrays })
    })
}

/// Adds a factor decided by a conjunction of noisy literals: each holds with a probability that depends on the
/// state of its binary variable, independently of the others. With P(x) the product over i of P(literal i holds |
/// `body[i]`), f(head, x) = P(x) * f(head | all hold) + (1 - P(x)) * f(head | one fails). O(body_length).
///
/// A noisy-OR with links l and a leak has the literals (1, 0, 1 - l_i, l_i) and the values (leak, 1 - leak, 1, 0); a
/// noisy-AND with links l and p if the whole body is true has (l_i, 1 - l_i, 1, 0) and (p, 1 - p, 0, 1).
///
/// @param head Label of the head.
/// @param body `body_length` labels, all different and different from the head.
/// @param literals `4 * body_length` probabilities, for each literal that it holds and that it fails if its
///        variable is 0, then that it holds and that it fails if it is 1. Both of a pair are given, as neither
///        follows from the other without rounding; they add up to 1 within 1e-12.
/// @param body_length Number of literals.
/// @param values 4 values, as for fastlbp_graph_add_signed.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_noisy(
    graph: *mut fastlbp_graph, head: u64, body: *const u64, literals: *const f64,
    body_length: usize, values: *const f64,
) -> fastlbp_status {
    change!(graph, |graph| {
        let literals = literals.cast::<NoisyLiteral>();
        let (body, literals) = (array!(body, body_length), array!(literals, body_length));
        graph.builder()?.add_noisy(head, body, literals, four!(values))
    })
}

/// Adds a sum of weighted terms over variables of any cardinalities: the value of the factor is the sum of
/// `weights[t]` over all terms t for which every variable i of the scope is in the state `indicators[t * scope_length +
/// i]`, or that is FASTLBP_WILDCARD. O(indicators_length).
///
/// Weights may be negative as long as no value of the factor is. fastlbp_graph_build checks this where it is cheap:
/// terms that exclude each other, and factors of at most 2^16 joint states; elsewhere the caller answers for it.
/// Positive and negative terms are added up apart and subtracted once, so that values that are nearly zero have an
/// absolute accuracy only.
///
/// @param scope `scope_length` labels, all different.
/// @param scope_length Number of variables.
/// @param weights `weights_length` weights, one per term, finite.
/// @param weights_length Number of terms, at least 1.
/// @param indicators `indicators_length` states or FASTLBP_WILDCARD, term by term; states are checked when the graph
///        is built.
/// @param indicators_length Must be `weights_length * scope_length`.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_terms(
    graph: *mut fastlbp_graph, scope: *const u64, scope_length: usize, weights: *const f64,
    weights_length: usize, indicators: *const i32, indicators_length: usize,
) -> fastlbp_status {
    change!(graph, |graph| graph.builder()?.add_terms(
        array!(scope, scope_length),
        array!(weights, weights_length),
        array!(indicators, indicators_length),
    ))
}

/// Adds many TERMS factors; see fastlbp_graph_add_terms. O(size of the arrays).
///
/// @param count Number of factors.
/// @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
/// @param scopes `scopes_length` labels.
/// @param scopes_length Number of labels in all scopes together.
/// @param term_offsets `count + 1` offsets, not descending, from 0 to `weights_length`.
/// @param weights `weights_length` weights, finite.
/// @param weights_length Number of terms in all factors together.
/// @param indicators `indicators_length` states or FASTLBP_WILDCARD, one per term and variable of its factor, factor
///        by factor and term by term.
/// @param indicators_length Must be the sum over all factors of terms times variables.
/// @return INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_term_factors(
    graph: *mut fastlbp_graph, count: usize, scope_offsets: *const usize, scopes: *const u64,
    scopes_length: usize, term_offsets: *const usize, weights: *const f64, weights_length: usize,
    indicators: *const i32, indicators_length: usize,
) -> fastlbp_status {
    change!(graph, |graph| {
        graph.builder()?.add_term_factors(TermArrays {
            scopes: lists!(count, scope_offsets, scopes, scopes_length),
            weights: lists!(count, term_offsets, weights, weights_length),
            indicators: array!(indicators, indicators_length),
        })
    })
}
