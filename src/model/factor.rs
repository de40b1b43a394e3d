//! What a factor computes.

/// Kind of a factor (`semantics.md` section 1; paper section 3).
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
}

impl FactorKind {
    /// The field's name of the kind, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            FactorKind::Table => "table",
            FactorKind::Singleton => "singleton",
            FactorKind::And => "and",
            FactorKind::Or => "or",
        }
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
}

impl Factor<'_> {
    /// Value of the factor at a joint state, one state per variable in the graph's order.
    /// `cardinalities` are those of the factor's variables. O(arity).
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
        }
    }
}
