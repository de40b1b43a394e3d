//! The settings whose values have names: a constant in C and a word in properties.

use super::status::{Failure, Outcome};
use crate::engine::{Backend, Contradiction, Inference, Start};
use crate::session::Measure;

/// The values of a setting that has names: the number of one in C is its position.
pub(super) struct Choices<T: 'static> {
    setting: &'static str,
    /// Each with its word in properties and its constant in C.
    all: &'static [(T, &'static str, &'static str)],
}

/// A setting per line: its type, its name in errors, what its constants in C begin with; for each value the word in
/// properties and the rest of the constant.
macro_rules! choices {
    ($($table:ident: $type:ident, $setting:literal, $prefix:literal: $($value:ident $word:literal $rest:literal),+;)+) => {
        $(pub(super) const $table: Choices<$type> = Choices {
            setting: $setting,
            all: &[$(($type::$value, $word, concat!($prefix, $rest))),+],
        };)+
    };
}

choices! {
    BACKENDS: Backend, "backend", "FASTLBP_BACKEND_": Auto "auto" "AUTO", Cpu "cpu" "CPU", Cuda "cuda" "CUDA";
    CONTRADICTIONS: Contradiction, "contradiction policy", "FASTLBP_CONTRADICTION_": Error "error" "ERROR", Vote "vote" "VOTE";
    INFERENCES: Inference, "inference", "FASTLBP_INFERENCE_": SumProduct "SUMPROD" "SUM_PRODUCT", MaxProduct "MAXPROD" "MAX_PRODUCT";
    MEASURES: Measure, "measure", "FASTLBP_MEASURE_": Variables "variables" "VARIABLES", All "all" "ALL";
    STARTS: Start, "start", "FASTLBP_START_": Fresh "fresh" "FRESH", Warm "warm" "WARM";
}

impl<T: Copy + PartialEq> Choices<T> {
    /// The value of a number.
    pub fn numbered(&self, number: u32) -> Outcome<T> {
        self.all.get(number as usize).map(|&(value, ..)| value).ok_or_else(|| {
            let constants = self.all.iter().map(|(_, _, constant)| constant).enumerate();
            let known = listed(constants.map(|(number, name)| format!("{name} ({number})")));
            Failure::invalid(format!("{} {number}: {known} is needed", self.setting))
        })
    }

    /// Sets a setting to the value of a number.
    pub fn set(&self, number: u32, setting: &mut T) -> Outcome {
        *setting = self.numbered(number)?;
        Ok(())
    }

    /// The value of a word, in upper or lower case; an error says which words there are.
    pub fn named(&self, word: &str) -> Result<T, String> {
        let found = self.all.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(word));
        let known = || listed(self.all.iter().map(|(_, word, _)| word.to_string()));
        found.map(|&(value, ..)| value).ok_or_else(known)
    }

    /// The word of a value.
    pub fn word(&self, value: T) -> &'static str {
        self.all.iter().find(|(known, ..)| *known == value).map_or("", |(_, word, _)| word)
    }
}

/// "a, b or c".
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match &names[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
