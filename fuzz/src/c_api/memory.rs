//! Memory of exactly the size that a call is told, so that a sanitizer sees every byte beyond it.

use super::table::Element;
use std::alloc::{Layout, alloc, dealloc};

/// What outputs have in them before a call.
const PATTERN: u8 = 0xa5;

/// An array, in memory of its own.
pub struct Block {
    pointer: *mut u8,
    layout: Layout,
}

impl Block {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, 8).expect("a size");
        if bytes == 0 {
            return Self { pointer: std::ptr::null_mut(), layout };
        }
        // SAFETY: the size is not 0.
        let pointer = unsafe { alloc(layout) };
        assert!(!pointer.is_null(), "no memory");
        // SAFETY: so many bytes were just allocated.
        unsafe { pointer.write_bytes(PATTERN, bytes) };
        Self { pointer, layout }
    }

    /// An output of so many entries.
    pub fn output(element: Element, length: usize) -> Self {
        Self::new(element.bytes() * length)
    }

    /// An array of words, each as an entry.
    pub fn input(element: Element, words: &[u64]) -> Self {
        let bytes = element.bytes();
        let block = Self::new(bytes * words.len());
        for (index, word) in words.iter().enumerate() {
            // SAFETY: the block has room for all entries; this one is behind `index` others.
            unsafe {
                let entry = block.pointer.add(index * bytes);
                std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), entry, bytes);
            }
        }
        block
    }

    pub fn address(&self) -> u64 {
        self.pointer as u64
    }

    pub fn bytes(&self) -> &[u8] {
        if self.layout.size() == 0 {
            return &[];
        }
        // SAFETY: allocated and initialised; nobody writes it between calls.
        unsafe { std::slice::from_raw_parts(self.pointer, self.layout.size()) }
    }

    /// The entries as words.
    pub fn words(&self, element: Element) -> Vec<u64> {
        let word = |entry: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..entry.len()].copy_from_slice(entry);
            u64::from_le_bytes(bytes)
        };
        self.bytes().chunks(element.bytes()).map(word).collect()
    }

    /// Whether nothing was written from a byte on.
    pub fn is_untouched_from(&self, byte: usize) -> bool {
        self.bytes().iter().skip(byte).all(|&byte| byte == PATTERN)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.pointer, self.layout) }
        }
    }
}
