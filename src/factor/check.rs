//! Checks of parameters that several kinds share.

use crate::error::{Error, Result};

/// Checks that weights are finite, not negative and not all zero.
pub(crate) fn check_weights(weights: &[f64], what: impl Fn() -> String) -> Result<()> {
    check_weights_by(weights, what, "state")
}

/// As [`check_weights`], where errors call the index of a weight by a name.
pub(crate) fn check_weights_by(
    weights: &[f64], what: impl Fn() -> String, index: &str,
) -> Result<()> {
    for (at, &weight) in weights.iter().enumerate() {
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::InvalidArgument(format!(
                "{}: {weight:?} for {index} {at}: a finite value >= 0 is needed",
                what()
            )));
        }
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err(Error::InvalidArgument(format!(
            "{}: all {} values are zero: one must be positive",
            what(),
            weights.len()
        )));
    }
    Ok(())
}

/// Checks named probabilities of a factor, which `what` calls.
pub(crate) fn check_probabilities(
    what: impl Fn() -> String, probabilities: &[(&str, f64)],
) -> Result<()> {
    for &(name, value) in probabilities {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::InvalidArgument(format!(
                "{}: {name} = {value:?}: a probability in [0, 1] is needed",
                what()
            )));
        }
    }
    Ok(())
}
