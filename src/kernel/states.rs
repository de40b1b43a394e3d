//! Products of the few messages to a variable of more than two states, in `f64` where that is exact.

use super::packed::EncodedMessage;
use crate::memory::{NoMemory, fit};

/// The weights in the messages to a variable of at most [`SMALL_DEGREE`](super::SMALL_DEGREE) edges, none of them so
/// small that a product of eight is not a normal `f64`.
pub(crate) struct NearStates<'a> {
    radix: usize,
    degree: usize,
    /// State by state of the first message, then of the second one, and so on.
    weights: &'a [f64],
    /// Room for one product per state.
    products: &'a mut [f64],
}

impl<'a> NearStates<'a> {
    /// Of the messages of at most eight edges, one after the other, with `radix` weights each; `None` where `f64` does not
    /// do. `room` is memory kept between calls.
    #[inline]
    pub(crate) fn of(
        messages: impl ExactSizeIterator<Item = EncodedMessage>, radix: usize,
        room: &'a mut Vec<f64>,
    ) -> Result<Option<Self>, NoMemory> {
        let count = messages.len();
        room.clear();
        fit(room, count + radix)?;
        let mut near = true;
        room.extend(messages.map(|value| {
            near &= value.is_near_weight();
            value.stored_f64()
        }));
        if !near {
            return Ok(None);
        }
        room.resize(count + radix, 0.0);
        let (weights, products) = room.split_at_mut(count);
        Ok(Some(Self { radix, degree: count / radix, weights, products }))
    }

    /// The product of all messages but the one at `leaf`, in the shape of the tree, as a stored message. `false`,
    /// with `out` of no meaning, where it is 0 in all states.
    #[inline]
    pub(crate) fn leave_one_out(&mut self, leaf: usize, out: &mut [EncodedMessage]) -> bool {
        let Self { radix, degree, weights, ref mut products } = *self;
        for (x, product) in products.iter_mut().enumerate() {
            // Missing siblings count as 1.
            let m = |i: usize| if i < degree { weights[i * radix + x] } else { 1.0 };
            let sibling = m(leaf ^ 1);
            *product = match degree {
                0..=2 => sibling,
                3..=4 => {
                    let pair = (leaf & 2) ^ 2;
                    (m(pair) * m(pair + 1)) * sibling
                }
                _ => {
                    let (half, pair) = ((leaf & 4) ^ 4, (leaf & 6) ^ 2);
                    let above = (m(half) * m(half + 1)) * (m(half + 2) * m(half + 3));
                    (above * (m(pair) * m(pair + 1))) * sibling
                }
            };
        }
        self.store(out)
    }

    /// The product of all messages, in the shape of the tree, as a stored message. `false`, with `out` of no meaning,
    /// where it is 0 in all states.
    #[inline]
    pub(crate) fn product(&mut self, out: &mut [EncodedMessage]) -> bool {
        let Self { radix, degree, weights, ref mut products } = *self;
        for (x, product) in products.iter_mut().enumerate() {
            let m = |i: usize| if i < degree { weights[i * radix + x] } else { 1.0 };
            *product = (m(0) * m(1)) * (m(2) * m(3));
            if degree > 4 {
                *product *= (m(4) * m(5)) * (m(6) * m(7));
            }
        }
        self.store(out)
    }

    /// Scales the products so that the largest has the exponent 0, which is exact.
    #[inline]
    fn store(&self, out: &mut [EncodedMessage]) -> bool {
        // The bits of positive numbers ascend with them.
        let largest = self.products.iter().map(|product| product.to_bits()).max().unwrap_or(0);
        let exponent = largest >> 52;
        let scale = f64::from_bits((2 * 1023 - exponent) << 52);
        for (value, product) in out.iter_mut().zip(self.products.iter()) {
            *value = EncodedMessage((product * scale).to_bits());
        }
        largest > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Product, ProductScratch, resolve_states};
    use proptest::prelude::*;

    fn weight() -> impl Strategy<Value = f64> {
        prop_oneof![1 => Just(0.0), 4 => 1e-3_f64..1.0, 1 => 1e-29_f64..1e-20]
    }

    proptest! {
        /// The same bits as by products of any exponent.
        #[test]
        fn near_states_are_products(
            messages in prop::collection::vec(prop::collection::vec(weight(), 3), 1..=8),
        ) {
            let stored: Vec<EncodedMessage> =
                messages.concat().into_iter().map(EncodedMessage::from_f64).collect();
            let mut room = Vec::new();
            let mut near = NearStates::of(stored.iter().copied(), 3, &mut room).unwrap().unwrap();
            let mut scratch = ProductScratch::default();
            let of_state = |x: usize| stored[x..].iter().copied().step_by(3);
            let compare = |near: bool, out: [EncodedMessage; 3], products: Vec<Product>| {
                let mut wanted = [EncodedMessage::ONE; 3];
                prop_assert_eq!(!near, resolve_states(&products, &mut wanted));
                prop_assert!(!near || out == wanted);
                Ok(())
            };
            let mut out = [EncodedMessage::ONE; 3];
            for leaf in 0..messages.len() {
                let found = near.leave_one_out(leaf, &mut out);
                let products = (0..3).map(|x| scratch.leave_one_out(of_state(x)).unwrap()[leaf]);
                compare(found, out, products.collect())?;
            }
            let found = near.product(&mut out);
            let products = (0..3).map(|x| scratch.product(of_state(x)).unwrap());
            compare(found, out, products.collect())?;
        }
    }

    #[test]
    fn small_weights_are_not_near() {
        let stored = [1.0, 1e-40].map(EncodedMessage::from_f64);
        assert!(NearStates::of(stored.into_iter(), 2, &mut Vec::new()).unwrap().is_none());
        let tagged = EncodedMessage::from_f64(1e-305);
        assert!(NearStates::of([tagged].into_iter(), 1, &mut Vec::new()).unwrap().is_none());
    }
}
