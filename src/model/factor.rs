//! What a factor computes.

/// Kind of a factor; `docs/src/reference/contract.md` defines the value of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FactorKind {
    /// Dense table over any cardinalities.
    Table = 0,
    /// Prior of one binary variable: f(1) = p, f(0) = 1 - p.
    Singleton = 1,
    /// Noisy conjunction: P(head = 1) = p if the whole body is true, q otherwise.
    And = 2,
    /// Noisy disjunction: P(head = 0) = p if the whole body is false, q otherwise.
    Or = 3,
    /// Values that depend on the head and on whether all of some signed literals hold: signed Horn
    /// clauses, CNF clauses with weights; see [`Signed`].
    Signed = 4,
    /// As `Signed`, with literals that hold with a probability: noisy-OR, noisy-AND; see [`Noisy`].
    Noisy = 5,
    /// A sum of weighted terms over variables of any cardinalities (local structure); see [`Terms`].
    Terms = 6,
}

impl FactorKind {
    /// The field's name of the kind, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            FactorKind::Table => "table",
            FactorKind::Singleton => "singleton",
            FactorKind::And => "and",
            FactorKind::Or => "or",
            FactorKind::Signed => "signed",
            FactorKind::Noisy => "noisy",
            FactorKind::Terms => "terms",
        }
    }

    /// All kinds, in the order of their numbers.
    pub const ALL: [FactorKind; 7] = [
        FactorKind::Table,
        FactorKind::Singleton,
        FactorKind::And,
        FactorKind::Or,
        FactorKind::Signed,
        FactorKind::Noisy,
        FactorKind::Terms,
    ];

    /// Whether factors of this kind are given by [`HornParameters`].
    pub(crate) fn is_horn(self) -> bool {
        matches!(self, FactorKind::Singleton | FactorKind::And | FactorKind::Or)
    }

    /// Whether factors of this kind have a head.
    pub(crate) fn has_head(self) -> bool {
        !matches!(self, FactorKind::Table | FactorKind::Terms)
    }
}

/// Parameters shared by all singleton, AND and OR factors with the same values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HornParameters {
    /// Singleton, And or Or.
    pub kind: FactorKind,
    /// The probability named p in [`FactorKind`], in [0, 1].
    pub p: f64,
    /// The probability named q in [`FactorKind`], in [0, 1]; 0 for a singleton.
    pub q: f64,
    /// Whether the head occurs in the factor's own body as well.
    pub head_in_body: bool,
}

impl HornParameters {
    /// The factor as a choice by one condition, "every literal of the rest of the body holds":
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`, where a literal is
    /// x = 1 for AND and x = 0 for OR, and the head itself is not counted among the body.
    ///
    /// With the head inside its own body, the condition can only hold for one value of the head;
    /// the other value takes its "fails" entry in both cases.
    pub fn conditional(&self) -> [f64; 4] {
        let (p, q) = (self.p, self.q);
        match (self.kind, self.head_in_body) {
            (FactorKind::Or, false) => [1.0 - p, p, 1.0 - q, q],
            (FactorKind::Or, true) => [1.0 - q, p, 1.0 - q, q],
            (_, false) => [p, 1.0 - p, q, 1.0 - q],
            (_, true) => [p, 1.0 - q, q, 1.0 - q],
        }
    }
}

/// An AND or OR factor as stored in a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Horn {
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// Whether the head occurs in the body as well.
    pub head_in_body: bool,
    /// See [`FactorKind`].
    pub p: f64,
    /// See [`FactorKind`].
    pub q: f64,
}

/// A factor decided by a conjunction of signed literals:
/// f = `values[0]` (head 1) or `values[1]` (head 0) if all literals hold, `values[2]` or `values[3]`
/// if one of them fails. The body is all variables but the head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signed<'a> {
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`: finite, not negative.
    pub values: [f64; 4],
    /// Bit i % 64 of word i / 64: the literal of the variable at position i is x = 0 instead of
    /// x = 1. The head's bit is 0. Words behind the last set bit may be missing.
    pub negated: &'a [u64],
}

impl Signed<'_> {
    /// Whether the literal of the variable at a position is x = 0.
    pub fn is_negated(&self, position: usize) -> bool {
        bit(self.negated, position)
    }
}

/// Whether a bit is set, in words of which the last ones may be missing.
pub(crate) fn bit(words: &[u64], index: usize) -> bool {
    words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// How a literal of a [`Noisy`] factor behaves: `[state][0]` is the probability that it holds,
/// `[state][1]` that it fails, given the state of its variable; both are kept since neither gives
/// the other without rounding.
pub type NoisyLiteral = [[f64; 2]; 2];

/// A factor decided by a conjunction of literals that hold independently of each other, each with a
/// probability that depends on its variable: with P(x) = prod_i P(literal i holds | x_i),
/// f(h, x) = P(x) * f(h | holds) + (1 - P(x)) * f(h | fails). Noisy-OR and noisy-AND are of this form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noisy<'a> {
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`: finite, not negative.
    pub values: [f64; 4],
    /// One per variable; the head's always holds.
    pub literals: &'a [NoisyLiteral],
}

/// One condition of a term: the variable at a position of the factor is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TermLiteral {
    /// Position among the factor's variables (which ascend by label).
    pub position: u32,
    /// The state.
    pub state: u32,
}

/// A factor with local structure: f(x) = the sum of the weights of all terms whose
/// conditions hold. Variables that a term does not name may be in any state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms<'a> {
    /// One weight per term: finite; see [`super::FactorGraphBuilder::add_terms`] for negative ones.
    pub weights: &'a [f64],
    /// Where each term's conditions start in `literals`, and where the last one's end.
    pub offsets: &'a [usize],
    /// The conditions of all terms, within a term by ascending position.
    pub literals: &'a [TermLiteral],
    /// Whether no joint state satisfies two terms, as far as is known.
    pub exclusive: bool,
}

impl<'a> Terms<'a> {
    /// The conditions of a term.
    pub fn term(&self, index: usize) -> &'a [TermLiteral] {
        let first = self.offsets[0];
        &self.literals[self.offsets[index] - first..self.offsets[index + 1] - first]
    }
}

/// A view of one factor of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor<'a> {
    /// Values over all joint states of the factor's variables, which ascend by label; the first
    /// variable (lowest label) varies fastest.
    Table(&'a [f64]),
    /// f(1) = p, f(0) = 1 - p.
    Singleton {
        /// Probability of state 1.
        p: f64,
    },
    /// Noisy conjunction.
    And(Horn),
    /// Noisy disjunction.
    Or(Horn),
    /// A conjunction of signed literals.
    Signed(Signed<'a>),
    /// A conjunction of noisy literals.
    Noisy(Noisy<'a>),
    /// A sum of weighted terms.
    Terms(Terms<'a>),
}

impl Factor<'_> {
    /// Value of the factor at a joint state, one state per variable in the graph's order.
    /// `cardinalities` are those of the factor's variables. A value of a noisy factor or of terms that is
    /// beyond the range of `f64` is infinite, or rounded to a subnormal number or zero. O(arity), for terms
    /// O(their size).
    pub fn value(&self, states: &[usize], cardinalities: impl Iterator<Item = usize>) -> f64 {
        let horn = |kind: FactorKind, horn: &Horn| {
            let wanted = usize::from(kind == FactorKind::And);
            let parameters =
                HornParameters { kind, p: horn.p, q: horn.q, head_in_body: horn.head_in_body };
            let holds = states
                .iter()
                .enumerate()
                .all(|(position, &state)| position == horn.head || state == wanted);
            let row = if holds { 0 } else { 2 };
            parameters.conditional()[row + usize::from(states[horn.head] == 0)]
        };
        match self {
            Factor::Table(values) => {
                let mut index = 0;
                let mut stride = 1;
                for (&state, cardinality) in states.iter().zip(cardinalities) {
                    index += state * stride;
                    stride *= cardinality;
                }
                values[index]
            }
            Factor::Singleton { p } => {
                if states[0] == 1 {
                    *p
                } else {
                    1.0 - *p
                }
            }
            Factor::And(h) => horn(FactorKind::And, h),
            Factor::Or(h) => horn(FactorKind::Or, h),
            Factor::Signed(signed) => {
                let holds = states.iter().enumerate().all(|(position, &state)| {
                    position == signed.head || (state == 1) != signed.is_negated(position)
                });
                let row = if holds { 0 } else { 2 };
                signed.values[row + usize::from(states[signed.head] == 0)]
            }
            Factor::Noisy(noisy) => {
                // As [holds, fails], so that nothing is subtracted.
                let mut body = [1.0, 0.0];
                for (literal, &state) in noisy.literals.iter().zip(states) {
                    let [holds, fails] = literal[state];
                    body = [body[0] * holds, body[1] * (holds + fails) + body[0] * fails];
                }
                let row = usize::from(states[noisy.head] == 0);
                body[0] * noisy.values[row] + body[1] * noisy.values[2 + row]
            }
            Factor::Terms(terms) => {
                let holds = |literal: &TermLiteral| {
                    states[literal.position as usize] == literal.state as usize
                };
                (0..terms.weights.len())
                    .filter(|&term| terms.term(term).iter().all(holds))
                    .map(|term| terms.weights[term])
                    .sum()
            }
        }
    }

    /// Whether the value at a joint state, which [`Self::value`] gives as `value`, is a product of
    /// probabilities that is too small for a normal `f64`.
    pub(crate) fn underflows(&self, states: &[usize], value: f64) -> bool {
        let Factor::Noisy(noisy) = self else { return false };
        let mut outcomes =
            noisy.literals.iter().zip(states).map(|(literal, &state)| literal[state]);
        let can_hold = outcomes.clone().all(|[holds, _]| holds > 0.0);
        let can_fail = outcomes.any(|[_, fails]| fails > 0.0);
        let row = usize::from(states[noisy.head] == 0);
        let is_positive =
            can_hold && noisy.values[row] > 0.0 || can_fail && noisy.values[2 + row] > 0.0;
        is_positive && value < f64::MIN_POSITIVE
    }
}
