//! Damping: the geometric mean of an old message and a new one.

use super::packed::EncodedMessage;
use super::power::{geometric_mean, mean_numerator, mean_of_near};

/// Replaces a message by old^d * new^(1-d), renormalised. A state that either
/// message excludes stays excluded. `false` where no state is left, with `new` in no certain state.
pub(crate) fn damp(old: &[EncodedMessage], new: &mut [EncodedMessage], damping: f64) -> bool {
    if let ([old], [new]) = (old, &mut *new) {
        let odds = damped_odds(*old, *new, damping);
        *new = odds.unwrap_or(EncodedMessage::ZERO);
        return odds.is_some();
    }
    let mean = |old: EncodedMessage, new: EncodedMessage| {
        (old != EncodedMessage::ZERO && new != EncodedMessage::ZERO)
            .then(|| geometric_mean(old.unpack(), new.unpack(), damping))
    };
    let means = || old.iter().zip(new.iter()).map(|(&old, &new)| mean(old, new));
    let Some(top) = means().flatten().map(|mean| mean.exponent()).max() else { return false };
    for (&old, new) in old.iter().zip(new) {
        *new = mean(old, *new)
            .map_or(EncodedMessage::ZERO, |mean| EncodedMessage::pack(mean.scaled(-top)));
    }
    true
}

/// The same for the odds of a binary variable; `None` where no state is left.
#[inline(always)]
pub(crate) fn damped_odds(
    old: EncodedMessage, new: EncodedMessage, damping: f64,
) -> Option<EncodedMessage> {
    let numerator = mean_numerator(damping);
    if numerator != 0 && EncodedMessage::all_near::<256>(&[old, new]) {
        let mean = mean_of_near(old.stored_f64(), new.stored_f64(), numerator);
        return Some(EncodedMessage::from_near_product(mean));
    }
    damped_odds_of_any_size(old, new, damping)
}

#[cold]
#[inline(never)]
fn damped_odds_of_any_size(
    old: EncodedMessage, new: EncodedMessage, damping: f64,
) -> Option<EncodedMessage> {
    let either = |value: EncodedMessage| old == value || new == value;
    match (either(EncodedMessage::ZERO), either(EncodedMessage::INFINITY)) {
        (true, true) => None,
        (true, false) => Some(EncodedMessage::ZERO),
        (false, true) => Some(EncodedMessage::INFINITY),
        (false, false) => {
            Some(EncodedMessage::pack(geometric_mean(old.unpack(), new.unpack(), damping)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::ExtendedFloat;
    use super::*;
    use proptest::prelude::*;

    fn ln(value: EncodedMessage) -> f64 {
        let value = value.unpack();
        value.significand().ln() + value.exponent() as f64 * std::f64::consts::LN_2
    }

    fn positive() -> impl Strategy<Value = EncodedMessage> {
        prop_oneof![
            4 => (1e-6_f64..1e6).prop_map(EncodedMessage::from_f64),
            1 => (1.0..2.0_f64, -5000..5000_i64).prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e))),
        ]
    }

    /// Within 2^-256..2^256.
    fn near() -> impl Strategy<Value = EncodedMessage> {
        (1.0..2.0_f64, -256..256_i64)
            .prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e)))
    }

    /// A message over several states: the largest weight lies in [1, 2), some may be zero.
    fn message(states: usize) -> impl Strategy<Value = Vec<EncodedMessage>> {
        let weight = prop_oneof![
            4 => 1e-3_f64..1.0,
            1 => Just(0.0),
            1 => Just(1e-200),
        ];
        (prop::collection::vec(weight, states), any::<prop::sample::Index>()).prop_map(
            |(mut weights, largest)| {
                let largest = largest.index(weights.len());
                weights[largest] = 1.5;
                weights.into_iter().map(EncodedMessage::from_f64).collect()
            },
        )
    }

    fn damped(
        old: &[EncodedMessage], new: &[EncodedMessage], damping: f64,
    ) -> Option<Vec<EncodedMessage>> {
        let mut out = new.to_vec();
        damp(old, &mut out, damping).then_some(out)
    }

    proptest! {
        #[test]
        fn odds_are_weighted_by_their_logarithms(
            old in positive(), new in positive(), damping in 0.01..0.99_f64
        ) {
            let out = damped(&[old], &[new], damping).unwrap();
            let wanted = damping * ln(old) + (1.0 - damping) * ln(new);
            // Numbers that no f64 holds are kept with 47 bits of fraction or fewer.
            prop_assert!((ln(out[0]) - wanted).abs() < 1e-11, "{} for {wanted}", ln(out[0]));
        }

        #[test]
        fn odds_near_one_have_the_bits_of_others(
            (old, new) in (near(), near()), roots in 1..16_u32
        ) {
            prop_assert!(EncodedMessage::all_near::<256>(&[old, new]));
            let damping = f64::from(roots) / 16.0;
            let found = damped_odds(old, new, damping);
            prop_assert_eq!(found, damped_odds_of_any_size(old, new, damping));
        }

        #[test]
        fn a_message_that_does_not_change_keeps_its_bits(
            odds in positive(),
            states in (3..7_usize).prop_flat_map(message),
            damping in 0.01..0.99_f64,
        ) {
            prop_assert_eq!(damped(&[odds], &[odds], damping), Some(vec![odds]));
            prop_assert_eq!(damped(&states, &states, damping), Some(states));
        }

        #[test]
        fn weights_are_weighted_by_their_logarithms(
            (old, new) in (3..7_usize).prop_flat_map(|states| (message(states), message(states))),
            damping in 0.01..0.99_f64,
        ) {
            let zero = |x: usize| old[x] == EncodedMessage::ZERO || new[x] == EncodedMessage::ZERO;
            let Some(out) = damped(&old, &new, damping) else {
                prop_assert!((0..old.len()).all(zero));
                return Ok(());
            };
            let log = |x: usize| damping * ln(old[x]) + (1.0 - damping) * ln(new[x]);
            let first = (0..old.len()).find(|&x| !zero(x)).unwrap();
            for x in 0..old.len() {
                prop_assert_eq!(out[x] == EncodedMessage::ZERO, zero(x));
                if !zero(x) {
                    let got = ln(out[x]) - ln(out[first]);
                    prop_assert!((got - (log(x) - log(first))).abs() < 1e-11);
                }
            }
            let exponents = out.iter().filter(|&&weight| weight != EncodedMessage::ZERO);
            prop_assert_eq!(exponents.map(|weight| weight.unpack().exponent()).max(), Some(0));
        }
    }

    #[test]
    fn certain_odds_stay_certain_and_opposite_ones_contradict() {
        let (zero, one, infinity) =
            (EncodedMessage::ZERO, EncodedMessage::ONE, EncodedMessage::INFINITY);
        for (old, new, wanted) in [
            (zero, one, Some(zero)),
            (one, zero, Some(zero)),
            (zero, zero, Some(zero)),
            (infinity, one, Some(infinity)),
            (one, infinity, Some(infinity)),
            (infinity, infinity, Some(infinity)),
            (zero, infinity, None),
            (infinity, zero, None),
        ] {
            let found = damped(&[old], &[new], 0.5);
            assert_eq!(found, wanted.map(|odds| vec![odds]), "{old:?} and {new:?}");
        }
    }

    #[test]
    fn states_that_either_message_excludes_stay_excluded() {
        let weights = |weights: [f64; 3]| weights.map(EncodedMessage::from_f64);
        let out = damped(&weights([0.0, 1.0, 0.25]), &weights([1.0, 1.0, 0.0]), 0.5);
        assert_eq!(out, Some(weights([0.0, 1.0, 0.0]).to_vec()));
        // The largest mean is 1/4: all are scaled by 4.
        let out = damped(&weights([1.0, 0.25, 0.0]), &weights([1.0 / 16.0, 0.25, 1.0]), 0.5);
        assert_eq!(out, Some(weights([1.0, 1.0, 0.0]).to_vec()));
        // No state is left, and the new message is as it was.
        let mut new = weights([0.0, 1.0, 0.0]);
        assert!(!damp(&weights([1.0, 0.0, 1.0]), &mut new, 0.5));
        assert_eq!(new, weights([0.0, 1.0, 0.0]));
    }
}
