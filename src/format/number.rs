//! Numbers as text: shortest writing, exact reading.

/// Appends the shortest text that reads back to the same `f64`, without a trailing `.0`: `0`, `1`,
/// `0.5`, `1e-20`. Values that are not finite become `NaN`, `inf` and `-inf`.
pub fn push_f64(out: &mut Vec<u8>, x: f64) {
    out.extend_from_slice(shortest(x, &mut Digits::new()).as_bytes());
}

/// Where the text of a number is put together.
pub(super) struct Digits {
    buffer: zmij::Buffer,
    /// For a text that differs from that in the buffer: a sign, 17 digits, a point, and an exponent like `e308`.
    other: [u8; 23],
}

impl Digits {
    pub(super) fn new() -> Self {
        Self { buffer: zmij::Buffer::new(), other: [0; 23] }
    }
}

/// The text that [`push_f64`] appends.
#[inline]
pub(super) fn shortest(x: f64, digits: &mut Digits) -> &str {
    let text = digits.buffer.format(x);
    // From there on, it has an exponent with a plus.
    if x.abs() >= 1e16 {
        return without_plus(text, &mut digits.other);
    }
    text.strip_suffix(".0").unwrap_or(text)
}

#[cold]
fn without_plus<'a>(text: &'a str, other: &'a mut [u8; 23]) -> &'a str {
    let Some((mantissa, exponent)) = text.split_once('+') else { return text };
    let length = mantissa.len() + exponent.len();
    let Some(copy) = other.get_mut(..length) else { return text };
    copy[..mantissa.len()].copy_from_slice(mantissa.as_bytes());
    copy[mantissa.len()..].copy_from_slice(exponent.as_bytes());
    // It is made of two parts of a text in ASCII.
    std::str::from_utf8(copy).unwrap_or(text)
}

/// An integer in decimal.
#[inline]
pub(super) fn decimal(mut value: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    &digits[start..]
}

/// The digits that a text of at least 8 bytes begins with, if they are 1 to 7: their value and their number.
///
/// Eight bytes are looked at in one word, so that the time does not depend on the number of digits, which branch
/// prediction cannot know.
#[inline]
pub(super) fn leading_digits(text: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk()?) ^ u64::from_ne_bytes([b'0'; 8]);
    // The high bit of every byte above 9; a carry only reaches bytes after the first of these.
    let other =
        (word.wrapping_add(u64::from_ne_bytes([0x76; 8])) | word) & u64::from_ne_bytes([0x80; 8]);
    let count = other.trailing_zeros() as usize / 8;
    if !(1..8).contains(&count) {
        return None;
    }
    // The digits move to the end of the word, zeros in front; then pairs, fours and all eight are put together.
    let digits = word << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    Some((low.wrapping_add(high) >> 32, count))
}

/// Powers of ten that an `f64` holds exactly.
const EXACT_POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The `f64` nearest to a decimal number, `None` where the text is not a number.
pub(super) fn parse_f64(text: &[u8]) -> Option<f64> {
    parse_short_decimal(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
}

/// Digits with at most one point, few enough that both the digits as an integer and the power of
/// ten are exact, so that their quotient is correctly rounded.
fn parse_short_decimal(text: &[u8]) -> Option<f64> {
    if text.len() > 19 {
        return None;
    }
    let mut digits = 0_u64;
    let mut point = None;
    for (position, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(position),
            _ => return None,
        }
    }
    let digit_count = text.len() - usize::from(point.is_some());
    if digit_count == 0 || digits > 1 << 53 {
        return None;
    }
    let decimals = point.map_or(0, |position| text.len() - position - 1);
    Some(digits as f64 / EXACT_POWERS_OF_TEN[decimals])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(x: f64) -> String {
        let mut out = Vec::new();
        push_f64(&mut out, x);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn shortest_text_has_no_trailing_point_zero() {
        for (x, wanted) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1e-20, "1e-20"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1e300"),
            (-1.7976931348623157e308, "-1.7976931348623157e308"),
            (9999999999999998.0, "9999999999999998"),
            (1e16, "1e16"),
            (10.0, "10"),
            (1e-4, "0.0001"),
            (1.5e-5, "0.000015"),
            (1.234e-6, "1.234e-6"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(x), wanted);
        }
    }

    #[test]
    fn integers_are_written_in_full() {
        for value in [0, 9, 10, 12_345, u64::MAX] {
            assert_eq!(decimal(value, &mut [0; 20]), value.to_string().as_bytes());
        }
    }

    #[test]
    fn odd_spellings_agree_with_the_standard_library() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "1.5.2",
            "+1",
            "-0.0",
            "1e400",
            "inf",
            "nan",
            "0x10",
            "1_0",
            "9007199254740993",
            "9007199254740992",
            "0.1",
            "1e",
            "0.000000000000000001",
            " 1",
            "12345678901234567.8",
            "99999999999999999999999999999999999999999",
        ] {
            let wanted = text.parse::<f64>().ok().map(f64::to_bits);
            assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), wanted, "{text:?}");
        }
    }

    #[test]
    fn digits_in_front_are_read_at_once() {
        for byte in 0..=u8::MAX {
            for count in 0..=8 {
                let mut text = b"98765432xx".to_vec();
                text[count] = byte;
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let value = std::str::from_utf8(&text[..digits]).unwrap().parse();
                let wanted = (1..8).contains(&digits).then(|| (value.unwrap(), digits));
                assert_eq!(leading_digits(&text), wanted, "{text:?}");
            }
        }
        assert_eq!(leading_digits(b"1234567"), None);
        assert_eq!(leading_digits(b"0000007 "), Some((7, 7)));
    }

    proptest! {
        /// The standard library, too, writes the shortest text, of those the nearest one.
        #[test]
        fn digits_are_those_of_the_standard_library(bits in any::<u64>(), in_0_1 in 0.0..1.0) {
            for x in [f64::from_bits(bits), in_0_1] {
                prop_assume!(x.is_finite());
                let (wanted, text) = (format!("{x:e}"), text(x));
                match text.contains('e') {
                    true => prop_assert_eq!(text, wanted),
                    false => prop_assert_eq!(format!("{:e}", text.parse::<f64>().unwrap()), wanted),
                }
            }
        }

        #[test]
        fn every_finite_value_reads_back(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(parse_f64(text(x).as_bytes()).map(f64::to_bits), Some(bits));
        }

        #[test]
        fn decimals_are_correctly_rounded(text in "[0-9]{0,12}(\\.[0-9]{0,22})?") {
            let wanted = text.parse::<f64>().ok().map(f64::to_bits);
            prop_assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), wanted);
        }
    }
}
