//! The messages and beliefs of variables: products of the incoming messages and the evidence.

use super::stale::Stale;
use super::state::{Known, Link, Source, State};
use super::trees::HighDegreeVariables;
use super::values::{Values, View};
use super::workspace::{Products, Workspace};
use crate::kernel::{
    EncodedMessage, Monoid, NearStates, Product, SMALL_DEGREE, binary_leave_one_out,
    binary_leave_one_out_all, deterministic_probability, leave_one_out_of_few, probability_of_few,
    resolve_message, resolve_states, weights_to_probabilities,
};
use crate::memory::{NoMemory, fit};

/// The odds of the messages from an observed binary variable.
#[inline(always)]
fn observed_odds(known: Known) -> Option<EncodedMessage> {
    match known {
        Known::False => Some(EncodedMessage::ZERO),
        Known::True => Some(EncodedMessage::INFINITY),
        _ => None,
    }
}

/// Soft evidence of a binary variable.
#[inline(always)]
fn soft_odds(state: &State, variable: usize) -> Option<EncodedMessage> {
    match state.known[variable] {
        Known::Weights => state.weights(variable).first().copied(),
        _ => None,
    }
}

/// The messages to a variable among `values`, restricted to the weight of state `x` (for a binary variable: the
/// odds).
fn incoming<'a>(
    state: &'a State, values: &'a Values, variable: usize, x: usize,
) -> impl ExactSizeIterator<Item = EncodedMessage> + 'a {
    state.slots(variable).map(move |slot| values.get(state.slot_values(slot).start + x))
}

/// Computes all messages of a variable to its factors into `State::by_edge`, and marks the factors whose message changed.
/// O(degree * states). Returns the product that is the belief of a binary variable, where that has come up. If there is no
/// memory, it sets `lacks_memory` and the messages are undefined.
#[inline]
pub(super) fn send_to_factors(
    state: &State, variable: usize, stale_factors: &Stale, workspace: &mut Workspace,
) -> Option<Product> {
    let sent = send(state, variable, stale_factors, workspace);
    Workspace::note(&mut workspace.lacks_memory, sent).flatten()
}

#[inline(always)]
fn send(
    state: &State, variable: usize, stale_factors: &Stale, workspace: &mut Workspace,
) -> Result<Option<Product>, NoMemory> {
    let slots = state.slots(variable);
    let edges = state.graph.variable_edges(variable);
    if slots.is_empty() {
        return Ok(None);
    }
    if !state.is_binary(variable) {
        send_states_to_factors(state, variable, stale_factors, workspace)?;
        return Ok(None);
    }
    let factors = state.graph.edge_factors();
    let send = |edge: u32, odds| {
        if state.by_edge.replace(state.edge_values(edge as usize).start, odds) {
            stale_factors.mark(factors[edge as usize] as usize);
        }
    };
    if let Some(odds) = observed_odds(state.known[variable]) {
        edges.iter().for_each(|&edge| send(edge, odds));
        return Ok(None);
    }
    let extra = soft_odds(state, variable);
    let Workspace { inputs, products, contradictions, .. } = workspace;
    let start = state.slot_values(slots.start).start;
    let degree = slots.len();
    let mut small;
    let values = if degree <= 4 {
        small = state.to_variable.padded::<4>(start, degree);
        &mut small[..degree]
    } else {
        inputs.clear();
        fit(inputs, degree)?;
        inputs.extend(state.to_variable.slice(start..start + degree));
        &mut inputs[..]
    };
    let all = binary_leave_one_out_all(values, extra, &mut products.scratch)?;
    if all.is_contradictory {
        contradictions.add(variable);
    }
    for (&edge, &odds) in edges.iter().zip(values.iter()) {
        send(edge, odds);
    }
    Ok(all.product)
}

/// As [`send_to_factors`] for a binary variable in the middle of an iteration: a contradictory message is only noted
/// ([`Workspace::met`]) if `is_read` says so of its edge. Returns whether deterministic messages to the variable disagree.
pub(super) fn send_in_batch(
    state: &State, variable: usize, stale_factors: &Stale, workspace: &mut Workspace,
    is_read: impl Fn(usize) -> bool,
) -> bool {
    let before = workspace.contradictions;
    send_to_factors(state, variable, stale_factors, workspace);
    if workspace.contradictions == before {
        return false;
    }
    workspace.contradictions = before;
    let soft = soft_odds(state, variable).map_or(Product::NEUTRAL, Product::of);
    let Workspace { products, met, lacks_memory, .. } = workspace;
    let values = incoming(state, &state.to_variable, variable, 0);
    let rest = Workspace::note(lacks_memory, products.scratch.leave_one_out(values));
    let edges = state.graph.variable_edges(variable);
    for (&edge, &product) in edges.iter().zip(rest.unwrap_or_default()) {
        if product.combine(soft).is_contradictory() && is_read(edge as usize) {
            Workspace::meet(met, variable);
        }
    }
    true
}

/// As [`send_to_factors`] for a variable with more than two states.
fn send_states_to_factors(
    state: &State, variable: usize, stale_factors: &Stale, workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let edges = state.graph.variable_edges(variable);
    if state.known[variable] == Known::State {
        let weights = state.weights(variable);
        edges.iter().for_each(|&edge| send_states(state, edge, weights, stale_factors));
        return Ok(());
    }
    let radix = state.graph.cardinality(variable);
    if send_near_states(state, variable, radix, stale_factors, workspace)? {
        return Ok(());
    }
    let Workspace { products, message, .. } = workspace;
    let Products { scratch, states, rest, .. } = products;
    rest.clear();
    fit(rest, radix.saturating_mul(edges.len()))?;
    fit(states, radix)?;
    fit(message, radix)?;
    for x in 0..radix {
        let values = incoming(state, &state.to_variable, variable, x);
        rest.extend_from_slice(scratch.leave_one_out(values)?);
    }
    message.clear();
    message.resize(radix, EncodedMessage::ONE);
    for (position, &edge) in edges.iter().enumerate() {
        states.clear();
        states.extend((0..radix).map(|x| rest[x * edges.len() + position]));
        multiply_soft(state, variable, states);
        resolve_states(states, message);
        send_states(state, edge, message, stale_factors);
    }
    state_products(state, &state.to_variable, variable, workspace)?;
    if resolve_states(&workspace.products.states, &mut workspace.message) {
        workspace.contradictions.add(variable);
    }
    Ok(())
}

fn send_states(state: &State, edge: u32, message: &[EncodedMessage], stale_factors: &Stale) {
    if state.replace_held(edge as usize, message) {
        stale_factors.mark(state.graph.edge_factors()[edge as usize] as usize);
    }
}

/// The messages to a variable of more than two states without evidence, if it has few and `f64` does for them.
#[inline]
fn near_states<'a>(
    state: &State, values: &Values, variable: usize, radix: usize, room: &'a mut Vec<f64>,
) -> Result<Option<NearStates<'a>>, NoMemory> {
    let slots = state.slots(variable);
    if state.known[variable] != Known::Nothing || !(1..=SMALL_DEGREE).contains(&slots.len()) {
        return Ok(None);
    }
    let start = state.slot_values(slots.start).start;
    NearStates::of(values.slice(start..start + slots.len() * radix), radix, room)
}

/// [`send_states_to_factors`] where [`near_states`] serve and no state is excluded; `false`, with nothing of meaning
/// done, elsewhere.
fn send_near_states(
    state: &State, variable: usize, radix: usize, stale_factors: &Stale, workspace: &mut Workspace,
) -> Result<bool, NoMemory> {
    let Workspace { products, message, .. } = workspace;
    let room = &mut products.near;
    let Some(mut near) = near_states(state, &state.to_variable, variable, radix, room)? else {
        return Ok(false);
    };
    message.clear();
    fit(message, radix)?;
    message.resize(radix, EncodedMessage::ONE);
    if !near.product(message) {
        return Ok(false);
    }
    for (leaf, &edge) in state.graph.variable_edges(variable).iter().enumerate() {
        near.leave_one_out(leaf, message);
        send_states(state, edge, message, stale_factors);
    }
    Ok(true)
}

/// Multiplies soft evidence into one product per state.
fn multiply_soft(state: &State, variable: usize, products: &mut [Product]) {
    if state.known[variable] == Known::Weights {
        for (product, &weight) in products.iter_mut().zip(state.weights(variable)) {
            *product = product.combine(Product::of(weight));
        }
    }
}

/// The product of all messages among `values` and soft evidence, per state, into
/// `workspace.products.states`.
fn state_products(
    state: &State, values: &Values, variable: usize, workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let Products { scratch, states, .. } = &mut workspace.products;
    states.clear();
    fit(states, state.graph.cardinality(variable))?;
    for x in 0..state.graph.cardinality(variable) {
        states.push(scratch.product(incoming(state, values, variable, x))?);
    }
    multiply_soft(state, variable, states);
    Ok(())
}

/// The odds of the message from a variable along an edge, in a graph of binary variables, if they are a product of
/// a few of the messages to variables without evidence; else `None`.
#[inline(always)]
pub(super) fn simple_odds(messages: View<'_>, link: Link) -> Option<EncodedMessage> {
    let start = link.place as usize;
    let leaf = link.slot.wrapping_sub(link.place) as usize;
    let degree = link.degree as usize;
    match link.source {
        Source::Partner => Some(messages.get(start)),
        Source::Four => leave_one_out_of_few(&messages.padded::<4>(start, degree), leaf & 3),
        Source::Eight => leave_one_out_of_few(&messages.padded::<8>(start, degree), leaf & 7),
        Source::HighDegree | Source::Other => None,
    }
}

/// The odds of the message from a binary high-degree variable without evidence along an edge.
#[inline]
pub(super) fn high_degree_odds(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, edge: usize,
    workspace: &mut Workspace,
) -> EncodedMessage {
    if let Some(odds) = high_degree_variables.near_odds(state, state.links[edge]) {
        return odds;
    }
    let product = high_degree_variables.leave_one_out(state, edge, 0);
    if product.is_contradictory() {
        let variable = state.graph.edge_variables()[edge] as usize;
        Workspace::meet(&mut workspace.met, variable);
    }
    product.odds()
}

/// The odds of the message from a binary variable along an edge, where [`simple_odds`] returns `None`.
#[inline(never)]
pub(super) fn odds_to_factor(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, edge: usize,
    workspace: &mut Workspace,
) -> EncodedMessage {
    let variable = state.graph.edge_variables()[edge] as usize;
    let link = state.links[edge];
    if let Some(odds) = observed_odds(state.known[variable]) {
        return odds;
    }
    if link.high_degree && state.known[variable] == Known::Nothing {
        return high_degree_odds(state, high_degree_variables, edge, workspace);
    }
    let mut out = std::mem::take(&mut workspace.message);
    out.clear();
    let made = fit(&mut out, 1)
        .and_then(|()| message_to_factor(state, high_degree_variables, edge, workspace, &mut out))
        .is_ok();
    let odds = out.first().copied().unwrap_or(EncodedMessage::ONE);
    workspace.message = out;
    workspace.lacks_memory |= !made;
    odds
}

/// The message of an edge's variable to its factor, appended to `out`, which has room for it.
/// O(states * log degree).
pub(super) fn message_to_factor(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, edge: usize,
    workspace: &mut Workspace, out: &mut Vec<EncodedMessage>,
) -> Result<(), NoMemory> {
    let variable = state.graph.edge_variables()[edge] as usize;
    let link = state.links[edge];
    let known = state.known[variable];
    let binary = state.is_binary(variable);
    if binary {
        if let Some(odds) = observed_odds(known) {
            out.push(odds);
            return Ok(());
        }
    } else if known == Known::State {
        out.extend_from_slice(state.weights(variable));
        return Ok(());
    }
    let slots = state.slots(variable);
    let leaf = link.slot as usize - slots.start;
    if binary && known == Known::Nothing && !link.high_degree {
        let degree = link.degree as usize;
        let start = state.slot_values(slots.start).start;
        let values = state.to_variable.padded::<SMALL_DEGREE>(start, degree);
        let (odds, contradictory) = binary_leave_one_out(&values[..degree], leaf);
        if contradictory {
            Workspace::meet(&mut workspace.met, variable);
        }
        out.push(odds);
        return Ok(());
    }
    let radix = if binary { 1 } else { state.graph.cardinality(variable) };
    if !binary && known == Known::Nothing && only_other(state, link, slots.start, radix, out) {
        return Ok(());
    }
    let Workspace { products, met, .. } = workspace;
    let Products { scratch, states, near, .. } = products;
    if !binary
        && let Some(mut near) = near_states(state, &state.to_variable, variable, radix, near)?
    {
        let start = out.len();
        out.resize(start + radix, EncodedMessage::ONE);
        if near.leave_one_out(leaf, &mut out[start..]) {
            return Ok(());
        }
        out.truncate(start);
    }
    states.clear();
    fit(states, radix)?;
    for x in 0..radix {
        let product = if high_degree_variables.covers(variable) {
            high_degree_variables.leave_one_out(state, edge, x)
        } else {
            scratch.leave_one_out(incoming(state, &state.to_variable, variable, x))?[leaf]
        };
        states.push(product);
    }
    multiply_soft(state, variable, states);
    let contradictory = if binary {
        out.push(states[0].odds());
        states[0].is_contradictory()
    } else {
        let start = out.len();
        out.resize(start + radix, EncodedMessage::ONE);
        resolve_message(states, &mut out[start..])
    };
    if contradictory {
        Workspace::meet(met, variable);
    }
    Ok(())
}

/// Appends the message from a variable of several states with one or two factors, where it is the other factor's message as
/// it is stored, or uniform; `false`, with `out` unchanged, elsewhere.
#[inline]
fn only_other(
    state: &State, link: Link, first: usize, radix: usize, out: &mut Vec<EncodedMessage>,
) -> bool {
    match link.degree {
        1 => out.resize(out.len() + radix, EncodedMessage::ONE),
        2 => {
            let other = state.slot_values(2 * first + 1 - link.slot as usize);
            // Computed messages have a largest weight of 1 to 2. Others are scaled by whoever sends them on.
            if !EncodedMessage::are_near_weights(state.to_variable.slice(other.clone())) {
                return false;
            }
            out.extend(state.to_variable.slice(other));
        }
        _ => return false,
    }
    true
}

/// The belief of a variable, one probability per state, from the messages as last computed. O(degree * states). If
/// there is no memory, it sets `lacks_memory` and the belief is undefined.
pub(super) fn belief(state: &State, variable: usize, workspace: &mut Workspace, out: &mut [f64]) {
    if belief_from(state, state.newest(), variable, workspace, out).is_err() {
        workspace.lacks_memory = true;
    }
}

/// The belief of a variable from the messages among `values`, and whether it is contradictory.
fn belief_from(
    state: &State, values: &Values, variable: usize, workspace: &mut Workspace, out: &mut [f64],
) -> Result<bool, NoMemory> {
    if state.is_binary(variable) {
        let (probabilities, contradictory) = match observed_odds(state.known[variable]) {
            Some(odds) => (odds.probabilities(), false),
            None => {
                let mut product =
                    workspace.products.scratch.product(incoming(state, values, variable, 0))?;
                if let Some(odds) = soft_odds(state, variable) {
                    product = product.combine(Product::of(odds));
                }
                (product.probabilities(), product.is_contradictory())
            }
        };
        out.copy_from_slice(&probabilities);
        return Ok(contradictory);
    }
    if state.known[variable] == Known::State {
        weights_to_probabilities(state.weights(variable), out);
        return Ok(false);
    }
    // Where memory is missing, `out` may be empty.
    let radix = state.graph.cardinality(variable);
    let Workspace { products, message, .. } = &mut *workspace;
    message.clear();
    fit(message, radix)?;
    message.resize(radix, EncodedMessage::ONE);
    let near = near_states(state, values, variable, radix, &mut products.near)?;
    if near.is_some_and(|mut near| near.product(message)) {
        weights_to_probabilities(message, out);
        return Ok(false);
    }
    state_products(state, values, variable, workspace)?;
    let Workspace { products, message, .. } = workspace;
    let contradictory = resolve_states(&products.states, message);
    weights_to_probabilities(message, out);
    Ok(contradictory)
}

/// Whether deterministic messages to a variable disagree. If there is no memory, it sets `lacks_memory` and returns
/// `false`.
pub(super) fn is_contradictory(state: &State, variable: usize, workspace: &mut Workspace) -> bool {
    let values = &state.to_variable;
    let disagree = if state.is_binary(variable) {
        belief_from(state, values, variable, workspace, &mut [0.0; 2])
    } else {
        let mut states = std::mem::take(&mut workspace.probabilities);
        let disagree = filled_with_zeros(&mut states, state.graph.cardinality(variable))
            .and_then(|()| belief_from(state, values, variable, workspace, &mut states));
        workspace.probabilities = states;
        disagree
    };
    Workspace::note(&mut workspace.lacks_memory, disagree).unwrap_or(false)
}

/// Fills a buffer with `length` zeros.
pub(super) fn filled_with_zeros(buffer: &mut Vec<f64>, length: usize) -> Result<(), NoMemory> {
    buffer.clear();
    fit(buffer, length)?;
    buffer.resize(length, 0.0);
    Ok(())
}

/// The probability of state 1 of a binary variable, with the same bits as by [`belief`]. O(degree).
#[inline]
pub(super) fn probability(state: &State, variable: usize, workspace: &mut Workspace) -> f64 {
    let slots = state.slots(variable);
    let start = || state.slot_values(slots.start).start;
    let few = match (state.known[variable], slots.len()) {
        (Known::False, _) => Some(0.0),
        (Known::True, _) => Some(1.0),
        (Known::Nothing, degree @ 1..=4) => {
            let values = state.newest().padded::<4>(start(), degree);
            probability_of_few(&values).or_else(|| deterministic_probability(&values))
        }
        (Known::Nothing, degree @ 5..=8) => {
            let values = state.newest().padded::<8>(start(), degree);
            probability_of_few(&values).or_else(|| deterministic_probability(&values))
        }
        _ => None,
    };
    if let Some(probability) = few {
        return probability;
    }
    let mut probabilities = [0.0; 2];
    belief(state, variable, workspace, &mut probabilities);
    probabilities[1]
}
