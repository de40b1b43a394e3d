//! Choices, taken from bytes one after the other; after their end all choices are 0.

use arbitrary::Unstructured;

/// What an input decides.
pub struct Choices<'a> {
    bytes: Unstructured<'a>,
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: Unstructured::new(bytes) }
    }

    /// Whether all bytes are used up.
    pub fn at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.bytes.arbitrary().unwrap_or_default()
    }

    pub fn word(&mut self) -> u64 {
        self.bytes.arbitrary().unwrap_or_default()
    }

    /// A number below `count`, which is positive.
    pub fn below(&mut self, count: usize) -> usize {
        self.bytes.int_in_range(0..=count - 1).unwrap_or_default()
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True once in `count` times.
    pub fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A number in [0, 1), of 16 bits.
    pub fn share(&mut self) -> f64 {
        f64::from(self.bytes.arbitrary::<u16>().unwrap_or_default()) / 65536.0
    }
}
