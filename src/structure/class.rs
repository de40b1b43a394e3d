//! What a recogniser says of a table.

use crate::model::TableStructure as Structure;

/// The field's name for what a table is, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// All entries are equal.
    Constant,
    /// A table of one variable.
    Prior,
    /// A conjunction of variables, with or without noise on the head.
    And,
    /// A conjunction of negated variables: a disjunction.
    Or,
    /// One joint state of all variables has a value of its own.
    Clause,
    /// A conjunction of literals of both signs.
    Conjunction,
    /// Causes that may fail to make the head true, with or without a leak.
    NoisyOr,
    /// Conditions whose failure may still leave the head true, with or without a leak.
    NoisyAnd,
    /// A noisy conjunction of another kind.
    Noisy,
    /// One variable is a function of the others.
    Deterministic,
    /// Few disjoint terms.
    ContextSpecific,
    /// None of these.
    Dense,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub(super) const ALL: [Self; 12] = [
        Class::Constant,
        Class::Prior,
        Class::And,
        Class::Or,
        Class::Clause,
        Class::Conjunction,
        Class::NoisyOr,
        Class::NoisyAnd,
        Class::Noisy,
        Class::Deterministic,
        Class::ContextSpecific,
        Class::Dense,
    ];

    /// The name, in lower case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Constant => "constant",
            Class::Prior => "prior",
            Class::And => "and",
            Class::Or => "or",
            Class::Clause => "clause",
            Class::Conjunction => "conjunction",
            Class::NoisyOr => "noisy or",
            Class::NoisyAnd => "noisy and",
            Class::Noisy => "noisy",
            Class::Deterministic => "deterministic",
            Class::ContextSpecific => "context specific",
            Class::Dense => "dense",
        }
    }
}

/// A table's structure and its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recognised {
    pub(crate) structure: Structure,
    pub(crate) class: Class,
}
