//! Words of which some bits are a number and others another one.

/// Some bits of a word, which are a number, or one that is a flag.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct Bits {
    first: u32,
    count: u32,
}

impl Bits {
    /// Those from `first` on, up to before `end`.
    pub(super) const fn new(first: u32, end: u32) -> Self {
        assert!(first < end && end <= 32);
        Self { first, count: end - first }
    }

    /// The largest number.
    pub(in crate::engine::cuda) const fn largest(self) -> u32 {
        u32::MAX >> (32 - self.count)
    }

    /// All of these bits.
    pub(in crate::engine::cuda) const fn mask(self) -> u32 {
        self.largest() << self.first
    }

    /// A number, in these bits of a word.
    pub(in crate::engine::cuda) const fn put(self, number: u32) -> u32 {
        debug_assert!(number <= self.largest());
        number << self.first
    }

    /// The number in these bits of a word.
    pub(in crate::engine::cuda) const fn get(self, word: u32) -> u32 {
        word >> self.first & self.largest()
    }

    /// A flag, in this bit of a word.
    pub(in crate::engine::cuda) const fn flag(self, is: bool) -> u32 {
        self.put(is as u32)
    }

    /// Whether some of these bits of a word are set.
    #[cfg(test)]
    pub(in crate::engine::cuda) const fn is_in(self, word: u32) -> bool {
        word & self.mask() != 0
    }

    /// The constants of the device for these bits of a word, and a macro that takes the number out: with a function, ptxas
    /// makes other machine code of the callers.
    #[cfg(test)]
    pub(super) fn render(self, word: &str, field: &str) -> String {
        let Self { first, count } = self;
        let (upper, lower) =
            (format!("{word}_{field}").to_uppercase(), format!("{word}_{field}").to_lowercase());
        let mask = self.mask();
        if count == 1 {
            return format!(
                "constexpr uint32_t {upper} = {mask:#x};\n\
                 #define {lower}(word) (((word) & {upper}) != 0)\n"
            );
        }
        let value = match (first, first + count) {
            (0, _) => format!("(word) & {upper}_MASK"),
            (_, 32) => format!("(word) >> {upper}_SHIFT"),
            _ => format!("(word) >> {upper}_SHIFT & {:#x}", self.largest()),
        };
        let shift = match first {
            0 => String::new(),
            _ => format!("constexpr uint32_t {upper}_SHIFT = {first};\n"),
        };
        format!(
            "{shift}constexpr uint32_t {upper}_MASK = {mask:#x};\n\
             #define {lower}(word) ({value})\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn numbers_are_found_where_they_were_put() {
        let (low, flag, high) = (Bits::new(0, 7), Bits::new(7, 8), Bits::new(8, 32));
        let word = low.put(100) | flag.flag(true) | high.put(high.largest());
        assert_eq!((low.get(word), flag.is_in(word), high.get(word)), (100, true, (1 << 24) - 1));
        assert_eq!(low.mask() | flag.mask() | high.mask(), u32::MAX);
        assert!(!flag.is_in(!flag.mask()));
    }
}
