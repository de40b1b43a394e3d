//! By how much messages from binary variables to factors have changed, several at once.

use super::values::View;
use crate::kernel::EncodedMessage;
use std::ops::Range;

/// Messages that are taken at once.
const AT_ONCE: usize = 4;

/// Messages, by number.
pub(super) trait Messages: Copy {
    fn get(self, number: usize) -> EncodedMessage;
    /// Consecutive ones.
    fn four(self, first: usize) -> [EncodedMessage; AT_ONCE];
}

/// Side by side.
impl Messages for View<'_> {
    #[inline(always)]
    fn get(self, number: usize) -> EncodedMessage {
        View::get(self, number)
    }

    #[inline(always)]
    fn four(self, first: usize) -> [EncodedMessage; AT_ONCE] {
        self.array(first)
    }
}

/// Those at some places.
#[derive(Clone, Copy)]
pub(super) struct AtPlaces<'a> {
    pub(super) messages: View<'a>,
    pub(super) places: &'a [u32],
}

impl Messages for AtPlaces<'_> {
    #[inline(always)]
    fn get(self, number: usize) -> EncodedMessage {
        self.messages.get(self.places[number] as usize)
    }

    #[inline(always)]
    fn four(self, first: usize) -> [EncodedMessage; AT_ONCE] {
        std::array::from_fn(|at| self.get(first + at))
    }
}

/// Replaces the probabilities of state 1 in `last`, at the places in `range`, by those of the messages with these numbers, and
/// leaves in `moves` half of what each has changed by.
pub(super) fn replace_probabilities(
    messages: impl Messages, last: View<'_>, range: Range<usize>, moves: &mut [f64],
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: there is AVX2.
        return unsafe { replace_with_avx2(messages, last, range, moves) };
    }
    replace(messages, last, range, moves);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn replace_with_avx2(
    messages: impl Messages, last: View<'_>, range: Range<usize>, moves: &mut [f64],
) {
    replace(messages, last, range, moves);
}

#[inline(always)]
fn replace(messages: impl Messages, last: View<'_>, range: Range<usize>, moves: &mut [f64]) {
    assert_eq!(range.len(), moves.len(), "a move of each message");
    let (fours, others) = moves.as_chunks_mut::<AT_ONCE>();
    let first_other = range.start + AT_ONCE * fours.len();
    for (start, moves) in range.step_by(AT_ONCE).zip(fours) {
        let now = EncodedMessage::probabilities_of_four(messages.four(start));
        let before = last.array::<AT_ONCE>(start);
        for at in 0..AT_ONCE {
            moves[at] = (now[at] - f64::from_bits(before[at].0)).abs() / 2.0;
            last.set(start + at, EncodedMessage(now[at].to_bits()));
        }
    }
    for (place, own) in (first_other..).zip(others) {
        let now = messages.get(place).probability();
        *own = (now - f64::from_bits(last.get(place).0)).abs() / 2.0;
        last.set(place, EncodedMessage(now.to_bits()));
    }
}
