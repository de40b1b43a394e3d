//! Hashes by which saved data know what they belong to, and whether they are as they were saved.

use std::fmt::{self, Write};

/// FNV-1a over numbers of 64 bits, and over bytes: short, and the same on every machine. Different content agrees by chance
/// only; it protects from mistakes, not from somebody who wants it to agree.
pub(crate) struct Hasher(u64);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        // The product moves bits upwards only.
        self.0 ^= self.0 >> 32;
    }

    /// A text and its length.
    pub(crate) fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.word(byte.into()));
        self.word(text.len() as u64);
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

impl Write for Hasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text);
        Ok(())
    }
}
