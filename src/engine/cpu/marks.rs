//! A set of variables to which threads add concurrently.

use crate::error::Result;
use crate::memory::collected;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A bit per variable. An iteration marks a few variables out of millions, and marking must not allocate.
pub(super) struct Marks {
    words: Vec<AtomicU64>,
    /// Whether any variable was marked since the last clear.
    any: AtomicBool,
}

impl Marks {
    /// An empty set of variables.
    pub(super) fn new(variables: usize) -> Result<Self> {
        let words = (0..variables.div_ceil(64)).map(|_| AtomicU64::new(0));
        Ok(Self { words: collected(words)?, any: AtomicBool::new(false) })
    }

    pub(super) fn set(&self, variable: usize) {
        self.words[variable / 64].fetch_or(1 << (variable % 64), Relaxed);
        self.any.store(true, Relaxed);
    }

    pub(super) fn unset(&self, variable: usize) {
        self.words[variable / 64].fetch_and(!(1 << (variable % 64)), Relaxed);
    }

    pub(super) fn clear(&mut self) {
        if std::mem::take(self.any.get_mut()) {
            self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    /// Whether no variable was marked since the last clear.
    pub(super) fn is_untouched(&self) -> bool {
        !self.any.load(Relaxed)
    }

    /// The marked variables, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words: &[AtomicU64] = if self.any.load(Relaxed) { &self.words } else { &[] };
        words.iter().enumerate().flat_map(|(index, word)| {
            let mut bits = word.load(Relaxed);
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(64 * index + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_kept_until_they_are_cleared() {
        let mut marks = Marks::new(200).unwrap();
        let marked = |marks: &Marks| marks.iter().collect::<Vec<_>>();
        assert!(marked(&marks).is_empty());
        for v in [199, 3, 64, 3, 63] {
            marks.set(v);
        }
        assert_eq!(marked(&marks), [3, 63, 64, 199]);
        marks.unset(63);
        marks.unset(5);
        assert_eq!(marked(&marks), [3, 64, 199]);
        marks.clear();
        assert!(marked(&marks).is_empty());
    }
}
