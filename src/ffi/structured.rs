//! Adding factors with local structure: signed and noisy conjunctions, clauses, terms.

use super::arguments::array;
use super::graph::{Graph, fastlbp_graph};
use super::guard;
use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::model::{NoisyLiteral, SignedArrays, TermArrays};

/// In the indicators of terms: any state.
pub const FASTLBP_WILDCARD: i32 = -1;

const _: () = assert!(FASTLBP_WILDCARD == crate::model::WILDCARD);

/// The signs of literals: 0 or 1 each.
///
/// # Safety
/// `negated` is NULL or points to `length` entries that nobody changes during the call.
unsafe fn signs(negated: *const u8, length: usize) -> Outcome<Vec<bool>> {
    // SAFETY: as the caller promises.
    let negated = unsafe { array("negated", negated, length) }?;
    memory::converted("signs", negated, |index, flag| match flag {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::invalid(format!(
            "negated[{index}] is {flag}: 0 for a literal x = 1 or 1 for x = 0 is needed"
        ))),
    })
}

/// The four values of one factor.
///
/// # Safety
/// `values` is NULL or points to 4 entries that nobody changes during the call.
unsafe fn four_values(values: *const f64) -> Outcome<[f64; 4]> {
    // SAFETY: as the caller promises.
    let values = unsafe { array::<[f64; 4]>("values", values.cast(), 1) }?;
    Ok(values[0])
}

/// Adds a factor decided by a conjunction of signed literals of binary variables (a Horn clause with
/// signs): its value depends on the head and on whether all literals hold. An empty body holds. Equal
/// literals merge; a body with both signs of a variable never holds; the head may occur in its body.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels.
/// @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
/// @param body_length Number of literals.
/// @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
///        f(head = 0 | one fails): finite, not negative, not all zero.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length); all messages of the factor together take O(arity), as with all kinds but tables and
/// terms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_signed(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    negated: *const u8,
    body_length: usize,
    values: *const f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, arrays of `body_length` entries, and 4 values.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let negated = signs(negated, body_length)?;
            let values = four_values(values)?;
            Ok(state.builder()?.add_signed(head, body, &negated, values)?)
        })
    }
}

/// Adds a noisy conjunction of signed literals: P(head = 1) = p if all literals hold, and q otherwise.
/// It is the SIGNED factor with the values (p, 1 - p, q, 1 - q); see fastlbp_graph_add_signed.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels.
/// @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
/// @param body_length Number of literals.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_signed_and(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    negated: *const u8,
    body_length: usize,
    p: f64,
    q: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let negated = signs(negated, body_length)?;
            Ok(state.builder()?.add_signed_and(head, body, &negated, p, q)?)
        })
    }
}

/// Adds a noisy disjunction of signed literals: P(head = 0) = p if no literal holds, and q otherwise.
/// It is the SIGNED factor with all signs turned and the values (1 - p, p, 1 - q, q); see
/// fastlbp_graph_add_signed.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels.
/// @param negated `body_length` signs: 0 for the literal `body[i]` = 1, 1 for `body[i]` = 0.
/// @param body_length Number of literals.
/// @param p A probability, from 0 to 1.
/// @param q A probability, from 0 to 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_signed_or(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    negated: *const u8,
    body_length: usize,
    p: f64,
    q: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let negated = signs(negated, body_length)?;
            Ok(state.builder()?.add_signed_or(head, body, &negated, p, q)?)
        })
    }
}

/// Adds a clause of conjunctive normal form over binary variables: the factor is `satisfied` where one
/// of the literals holds, and `violated` where none does; 1 and 0 make a hard clause. It is a SIGNED
/// factor whose head is the first variable.
///
/// @param graph The graph; changed.
/// @param variables `length` labels.
/// @param negated `length` signs: 0 for the literal `variables[i]` = 1, 1 for `variables[i]` = 0.
/// @param length Number of literals, at least 1.
/// @param satisfied A value, finite, not negative.
/// @param violated A value, finite, not negative; not both zero.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_clause(
    graph: *mut fastlbp_graph,
    variables: *const u64,
    negated: *const u8,
    length: usize,
    satisfied: f64,
    violated: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of `length` entries.
    unsafe {
        guard::write(graph, |state| {
            let variables = array("variables", variables, length)?;
            let negated = signs(negated, length)?;
            Ok(state.builder()?.add_clause(variables, &negated, satisfied, violated)?)
        })
    }
}

/// Adds many SIGNED factors in one call, or none if one is wrong; see fastlbp_graph_add_signed. Factor
/// i has the head `heads[i]`, as its body the labels from `bodies[body_offsets[i]]` up to, but not
/// including, `bodies[body_offsets[i + 1]]` with the signs at the same places of `negated`, and the
/// values `values[4 * i]` to `values[4 * i + 3]`.
///
/// @param graph The graph; changed.
/// @param count Number of factors.
/// @param heads `count` labels.
/// @param body_offsets `count + 1` offsets, not descending, from 0 to `bodies_length`.
/// @param bodies `bodies_length` labels.
/// @param negated `bodies_length` signs: 0 for the literal x = 1, 1 for x = 0.
/// @param bodies_length Number of literals in all bodies together.
/// @param values `4 * count` values, for each factor finite, not negative, not all zero.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(count + bodies_length). Gives the same graph as the single calls.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_signed_factors(
    graph: *mut fastlbp_graph,
    count: usize,
    heads: *const u64,
    body_offsets: *const usize,
    bodies: *const u64,
    negated: *const u8,
    bodies_length: usize,
    values: *const f64,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        if count == 0 && bodies_length == 0 {
            return Ok(());
        }
        // SAFETY: by the header, arrays of these lengths.
        let (negated, arrays) = unsafe {
            let arrays = SignedArrays {
                heads: array("heads", heads, count)?,
                body_offsets: array("body_offsets", body_offsets, count.saturating_add(1))?,
                bodies: array("bodies", bodies, bodies_length)?,
                negated: &[],
                values: array("values", values.cast(), count)?,
            };
            (signs(negated, bodies_length)?, arrays)
        };
        Ok(state.builder()?.add_signed_factors(SignedArrays { negated: &negated, ..arrays })?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}

/// Adds a factor decided by a conjunction of noisy literals: each holds with a probability that depends
/// on the state of its binary variable, independently of the others. With P(x) the product over i of
/// P(literal i holds | `body[i]`),
///
/// `f(head, x) = P(x) * f(head | all hold) + (1 - P(x)) * f(head | one fails)`
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels, all different and different from the head.
/// @param literals `4 * body_length` probabilities, for each literal that it holds and that it fails
///        if its variable is 0, then that it holds and that it fails if it is 1. Both of a pair are
///        given, as neither follows from the other without rounding; they add up to 1 within 1e-12.
/// @param body_length Number of literals.
/// @param values 4 values: f(head = 1 | all hold), f(head = 0 | all hold), f(head = 1 | one fails),
///        f(head = 0 | one fails): finite, not negative, not all zero.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_noisy(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    literals: *const f64,
    body_length: usize,
    values: *const f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, arrays of `body_length` entries, and 4 values.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let literals = array::<NoisyLiteral>("literals", literals.cast(), body_length)?;
            let values = four_values(values)?;
            Ok(state.builder()?.add_noisy(head, body, literals, values)?)
        })
    }
}

/// Adds a noisy-OR of binary variables (Pearl 1988): P(head = 0 | x) = (1 - leak) * the product of
/// 1 - `links[i]` over all i with `body[i]` = 1. It is a NOISY factor.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels, all different and different from the head.
/// @param links `body_length` probabilities, from 0 to 1, that `body[i]` = 1 alone causes head = 1.
/// @param body_length Number of causes.
/// @param leak Probability, from 0 to 1, of head = 1 without any cause.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_noisy_or(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    links: *const f64,
    body_length: usize,
    leak: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let links = array("links", links, body_length)?;
            Ok(state.builder()?.add_noisy_or(head, body, links, leak)?)
        })
    }
}

/// Adds a noisy-AND of binary variables: P(head = 1 | x) = p * the product of `links[i]` over all i
/// with `body[i]` = 0. It is a NOISY factor.
///
/// @param graph The graph; changed.
/// @param head Label of the head.
/// @param body `body_length` labels, all different and different from the head.
/// @param links `body_length` probabilities, from 0 to 1, that head = 1 survives `body[i]` = 0.
/// @param body_length Number of conditions.
/// @param p Probability, from 0 to 1, of head = 1 if the whole body is true.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(body_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_noisy_and(
    graph: *mut fastlbp_graph,
    head: u64,
    body: *const u64,
    links: *const f64,
    body_length: usize,
    p: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of `body_length` entries.
    unsafe {
        guard::write(graph, |state| {
            let body = array("body", body, body_length)?;
            let links = array("links", links, body_length)?;
            Ok(state.builder()?.add_noisy_and(head, body, links, p)?)
        })
    }
}

/// Adds a factor with local structure, a sum of weighted terms over variables of any cardinalities: its
/// value is the sum of `weights[t]` over all terms t for which every variable i of the scope is in the
/// state `indicators[t * scope_length + i]`, or that is FASTLBP_WILDCARD. All messages of the factor
/// together take O(terms * scope_length).
///
/// Weights may be negative as long as no value of the factor is. fastlbp_graph_build checks this where
/// it is cheap: terms that exclude each other, and factors of at most 2^16 joint states; elsewhere
/// the caller answers for it. With weights of both signs, positive and negative terms are added up
/// apart and subtracted once, so that values that are nearly zero have an absolute accuracy only.
///
/// @param graph The graph; changed.
/// @param scope `scope_length` labels, all different.
/// @param scope_length Number of variables.
/// @param weights `weights_length` weights, one per term, finite.
/// @param weights_length Number of terms, at least 1.
/// @param indicators `indicators_length` states or FASTLBP_WILDCARD, term by term.
/// @param indicators_length Must be `weights_length * scope_length`.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT. States are checked when the graph is
///         built.
///
/// O(indicators_length).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_graph_add_terms(
    graph: *mut fastlbp_graph,
    scope: *const u64,
    scope_length: usize,
    weights: *const f64,
    weights_length: usize,
    indicators: *const i32,
    indicators_length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and arrays of these lengths.
    unsafe {
        guard::write(graph, |state| {
            let scope = array("scope", scope, scope_length)?;
            let weights = array("weights", weights, weights_length)?;
            let indicators = array("indicators", indicators, indicators_length)?;
            Ok(state.builder()?.add_terms(scope, weights, indicators)?)
        })
    }
}

/// Adds many TERMS factors in one call, or none if one is wrong; see fastlbp_graph_add_terms. Factor i
/// has the scope from `scopes[scope_offsets[i]]` up to, but not including,
/// `scopes[scope_offsets[i + 1]]`, and likewise the terms whose weights `term_offsets` cuts out.
/// `indicators` holds one entry per term and variable of its factor, factor by factor and term by
/// term.
///
/// @param graph The graph; changed.
/// @param count Number of factors.
/// @param scope_offsets `count + 1` offsets, not descending, from 0 to `scopes_length`.
/// @param scopes `scopes_length` labels.
/// @param scopes_length Number of labels in all scopes together.
/// @param term_offsets `count + 1` offsets, not descending, from 0 to `weights_length`.
/// @param weights `weights_length` weights, finite.
/// @param weights_length Number of terms in all factors together.
/// @param indicators `indicators_length` states or FASTLBP_WILDCARD.
/// @param indicators_length Must be the sum over all factors of terms times variables.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(count + scopes_length + weights_length + indicators_length). Gives the same graph as the single
/// calls.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_graph_add_term_factors(
    graph: *mut fastlbp_graph,
    count: usize,
    scope_offsets: *const usize,
    scopes: *const u64,
    scopes_length: usize,
    term_offsets: *const usize,
    weights: *const f64,
    weights_length: usize,
    indicators: *const i32,
    indicators_length: usize,
) -> fastlbp_status {
    let body = |state: &mut Graph| {
        if count == 0 && scopes_length == 0 && weights_length == 0 && indicators_length == 0 {
            return Ok(());
        }
        let offset_count = count.saturating_add(1);
        // SAFETY: by the header, arrays of these lengths.
        let arrays = unsafe {
            TermArrays {
                scope_offsets: array("scope_offsets", scope_offsets, offset_count)?,
                scopes: array("scopes", scopes, scopes_length)?,
                term_offsets: array("term_offsets", term_offsets, offset_count)?,
                weights: array("weights", weights, weights_length)?,
                indicators: array("indicators", indicators, indicators_length)?,
            }
        };
        Ok(state.builder()?.add_term_factors(arrays)?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(graph, body) }
}
