//! A tokenizer over bytes that counts lines.
//!
//! Line-based formats use [`Cursor::integer`], [`Cursor::token`] and [`Cursor::end_line`], which
//! stay inside a line; free-form ones use the `next_*` methods, which cross lines and comments.

use super::number::{leading_digits, parse_f64};
use crate::error::{Error, Result};
use std::fmt::Arguments;
use std::path::Path;

/// A position in the text of a file.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    position: usize,
    line: u64,
    /// Whether a line whose first word is `c` is a comment, too.
    c_comments: bool,
}

/// Spaces inside a line; the carriage return of a CRLF line end is one of them.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[inline]
fn is_space(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n'
}

/// A token for a message: quoted, printable and not too long.
pub(super) fn show(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let shown = token[..token.len().min(LONGEST)].escape_ascii();
    let rest = if token.len() > LONGEST { "..." } else { "" };
    format!("'{shown}{rest}'")
}

impl<'a> Cursor<'a> {
    /// The start of the text of `path`, after a byte order mark if there is one.
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { path, bytes, position: 0, line: 1, c_comments: false }
    }

    /// Makes lines whose first word is `c` comments in free-form text.
    pub(super) fn with_c_comments(mut self) -> Self {
        self.c_comments = true;
        self
    }

    fn at_c_comment(&self) -> bool {
        let rest = self.rest();
        self.c_comments
            && rest.first() == Some(&b'c')
            && rest.get(1).copied().is_none_or(is_space)
            && (self.position == 0 || self.bytes[self.position - 1] == b'\n')
    }

    /// The line of the cursor, counted from 1; at the end of the text, the last line.
    pub(super) fn line(&self) -> u64 {
        let past_last_line = self.at_end() && self.bytes.ends_with(b"\n");
        self.line - u64::from(past_last_line)
    }

    /// An index from a file, checked to be that of one of the `count` things of the graph; the error names `what` it
    /// is.
    pub(super) fn counted(
        &self, index: u64, what: &str, things: &str, count: usize,
    ) -> Result<usize> {
        usize::try_from(index).ok().filter(|&index| index < count).ok_or_else(|| {
            self.error(format!("{what} {index}: the graph has {count} {things}, counted from 0"))
        })
    }

    /// An error at the cursor's line.
    #[cold]
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.line(), message)
    }

    /// An error at another line.
    #[cold]
    pub(super) fn error_at(&self, line: u64, message: impl Into<String>) -> Error {
        Error::parse(self.path, line, message)
    }

    pub(super) fn at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    /// Number of bytes after the cursor.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Number of bytes before the cursor.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'a [u8] {
        self.bytes
    }

    /// A cursor further on in the text, at the start of a line, which has the number 1 there.
    pub(super) fn elsewhere(&self, position: usize) -> Self {
        Self { position, line: 1, ..self.clone() }
    }

    /// Moves to where a cursor is that [`Self::elsewhere`] made for this position.
    pub(super) fn follow(&mut self, other: &Self) {
        self.line += other.line - 1;
        self.position = other.position;
    }

    /// Number of bytes of the whole text.
    pub(super) fn total(&self) -> usize {
        self.bytes.len()
    }

    /// The text after the cursor.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Moves past some bytes of any kind.
    pub(super) fn skip_bytes(&mut self, length: usize) {
        let skipped = &self.rest()[..length];
        self.line += skipped.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.position += length;
    }

    /// Moves to the start of the next line.
    pub(super) fn skip_line(&mut self) {
        match self.rest().iter().position(|&byte| byte == b'\n') {
            Some(length) => {
                self.position += length + 1;
                self.line += 1;
            }
            None => self.position = self.bytes.len(),
        }
    }

    /// Skips lines that start with '#'; the cursor must be at the start of a line.
    #[inline]
    pub(super) fn skip_comment_lines(&mut self) {
        while self.peek() == Some(b'#') {
            self.skip_line();
        }
    }

    /// Moves to the first token of the next line that has one, past blank lines and comment lines. False at the end of
    /// the text.
    pub(super) fn next_filled_line(&mut self) -> bool {
        while !self.at_end() {
            if !self.at_line_end() && self.peek() != Some(b'#') {
                return true;
            }
            self.skip_line();
        }
        false
    }

    /// Skips blanks. Returns whether the line (or the text) ends there.
    #[inline]
    pub(super) fn at_line_end(&mut self) -> bool {
        loop {
            match self.peek() {
                Some(byte) if is_blank(byte) => self.position += 1,
                byte => return matches!(byte, None | Some(b'\n')),
            }
        }
    }

    /// Moves past the end of the line, which must hold nothing more than blanks.
    #[inline]
    pub(super) fn end_line(&mut self, after: &str) -> Result<()> {
        if self.peek() == Some(b'\n') {
            self.position += 1;
            self.line += 1;
            return Ok(());
        }
        if !self.at_line_end() {
            return Err(self.unwanted_after(after));
        }
        if !self.at_end() {
            self.position += 1;
            self.line += 1;
        }
        Ok(())
    }

    #[cold]
    fn unwanted_after(&self, after: &str) -> Error {
        let found = show(self.clone().token());
        self.error(format!("{found} after {after}: the line must end there"))
    }

    /// Moves past a known piece of text that lies in one line, its line end included.
    pub(super) fn skip_whole_line(&mut self, length: usize) {
        self.position += length;
        self.line += 1;
    }

    /// The bytes up to the next space; empty at the end of a line.
    pub(super) fn token(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    /// The name at the cursor: in double quotes, or up to the next space; empty at the end of a line.
    pub(super) fn name(&mut self) -> Result<&'a str> {
        let text = match self.rest().strip_prefix(b"\"") {
            None => self.token(),
            Some(rest) => {
                let length = rest.iter().position(|&byte| matches!(byte, b'"' | b'\n'));
                let Some(length) = length.filter(|&length| rest[length] == b'"') else {
                    return Err(self.error("the line ends inside of quotes: '\"' is needed"));
                };
                self.position += length + 2;
                &rest[..length]
            }
        };
        let unreadable = |_| self.error(format!("the name {} is not UTF-8", show(text)));
        std::str::from_utf8(text).map_err(unreadable)
    }

    /// The unsigned integer at the cursor; `what` names it in messages.
    #[inline]
    pub(super) fn integer(&mut self, what: &str) -> Result<u64> {
        let rest = self.rest();
        if let Some((value, length)) = leading_digits(rest)
            && is_space(rest[length])
        {
            self.position += length;
            return Ok(value);
        }
        let mut value = 0_u64;
        let mut length = 0;
        let mut after = None;
        for &byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                after = Some(byte);
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        // 19 digits always fit.
        if length == 0 || length > 19 || !after.is_none_or(is_space) {
            return self.unusual_integer(what);
        }
        self.position += length;
        Ok(value)
    }

    /// Integers of 20 and more digits, and everything that is not an integer.
    #[cold]
    fn unusual_integer(&mut self, what: &str) -> Result<u64> {
        let token = self.clone().token();
        if token.is_empty() {
            return Err(self.missing(what));
        }
        let digits = token.strip_prefix(b"-").unwrap_or(token);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.error(format!(
                "{} is not {what}: an integer >= 0 in decimal is needed",
                show(token)
            )));
        }
        if digits.len() < token.len() {
            return Err(self.error(format!("{what} is {}: it must not be negative", show(token))));
        }
        let value = digits.iter().try_fold(0_u64, |value, &byte| {
            value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
        });
        match value {
            Some(value) => {
                self.position += token.len();
                Ok(value)
            }
            None => Err(self.error(format!(
                "{what} is {}: it must be at most {}",
                show(token),
                u64::MAX
            ))),
        }
    }

    #[cold]
    fn missing(&self, what: &str) -> Error {
        let place = if self.at_end() { "file" } else { "line" };
        self.error(format!("the {place} ends where {what} is needed"))
    }

    /// Skips spaces, line ends, comments from '#' to the end of a line, and lines of comment.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.position += 1;
                    self.line += 1;
                }
                b'#' => self.skip_line(),
                b'c' if self.at_c_comment() => self.skip_line(),
                _ if is_blank(byte) => self.position += 1,
                _ => break,
            }
        }
    }

    /// The next token of a free-form text.
    pub(super) fn next_token(&mut self, what: &str) -> Result<&'a [u8]> {
        self.skip_space();
        if self.at_end() {
            return Err(self.missing(what));
        }
        Ok(self.token())
    }

    /// The next token of a free-form text as an unsigned integer.
    pub(super) fn next_integer(&mut self, what: &str) -> Result<u64> {
        self.skip_space();
        self.integer(what)
    }

    /// The next token of a free-form text as the value of a table: finite and not negative.
    pub(super) fn next_value(&mut self, what: &str) -> Result<f64> {
        let token = self.next_token(what)?;
        match parse_f64(token) {
            Some(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => {
                Err(self
                    .error(format!("{what} is {}: a finite number >= 0 is needed", show(token))))
            }
        }
    }

    /// Checks that nothing but spaces and comments is left.
    pub(super) fn expect_end(&mut self, after: Arguments<'_>) -> Result<()> {
        self.skip_space();
        if self.at_end() {
            return Ok(());
        }
        let found = show(self.clone().token());
        Err(self.error(format!("{found} after {after}: the file must end there")))
    }
}

/// A probability in [0, 1], `None` for everything else.
pub(super) fn parse_probability(text: &[u8]) -> Option<f64> {
    parse_f64(text).filter(|value| (0.0..=1.0).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Cursor<'_> {
        Cursor::new(Path::new("file"), text.as_bytes())
    }

    #[test]
    fn integers_up_to_the_largest_are_read() {
        for value in [0, 7, 10_u64.pow(18), 9_999_999_999_999_999_999, u64::MAX] {
            assert_eq!(cursor(&value.to_string()).integer("x").unwrap(), value);
        }
        assert_eq!(cursor("000000000000000000000012 ").integer("x").unwrap(), 12);
    }

    #[test]
    fn what_is_no_integer_is_named() {
        for (text, wanted) in [
            ("-3\n", "file:1: x is '-3': it must not be negative"),
            ("3x\n", "file:1: '3x' is not x: an integer >= 0 in decimal is needed"),
            ("-\n", "file:1: '-' is not x: an integer >= 0 in decimal is needed"),
            ("\n", "file:1: the line ends where x is needed"),
            ("", "file:1: the file ends where x is needed"),
            (
                "18446744073709551616",
                "file:1: x is '18446744073709551616': it must be at most 18446744073709551615",
            ),
            (
                "\u{fffd}",
                "file:1: '\\xef\\xbf\\xbd' is not x: an integer >= 0 in decimal is needed",
            ),
        ] {
            assert_eq!(cursor(text).integer("x").unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn names_are_words_or_quoted() {
        let mut text = cursor("a-b \"c d\" \"\"\n\"e\nf\"");
        for wanted in ["a-b", "c d", "", ""] {
            text.at_line_end();
            assert_eq!(text.name().unwrap(), wanted);
        }
        text.end_line("names").unwrap();
        let error = text.name().unwrap_err().to_string();
        assert_eq!(error, "file:2: the line ends inside of quotes: '\"' is needed");
        let bytes = Cursor::new(Path::new("file"), b"\xff").name().unwrap_err().to_string();
        assert_eq!(bytes, "file:1: the name '\\xff' is not UTF-8");
    }

    #[test]
    fn lines_are_counted_across_comments_and_line_ends() {
        let mut text = cursor("# a\r\n\r\n 1 2\r\n#b\n3");
        assert_eq!(text.next_integer("x").unwrap(), 1);
        assert_eq!(text.line(), 3);
        assert_eq!(text.next_integer("x").unwrap(), 2);
        assert_eq!(text.next_integer("x").unwrap(), 3);
        assert_eq!(text.line(), 5);
        assert!(text.next_integer("x").is_err());
    }

    #[test]
    fn the_end_of_a_file_is_on_its_last_line() {
        let mut text = cursor("1\n2\n");
        assert_eq!(text.next_integer("x").unwrap(), 1);
        assert_eq!(text.next_integer("x").unwrap(), 2);
        assert!(text.next_integer("x").unwrap_err().to_string().starts_with("file:2: "));
    }

    #[test]
    fn long_tokens_are_cut_in_messages() {
        assert_eq!(show(&[b'a'; 50]), format!("'{}...'", "a".repeat(40)));
        assert_eq!(show(b"\x00\xff"), "'\\x00\\xff'");
    }

    #[test]
    fn probabilities_lie_between_zero_and_one() {
        for text in ["0", "1", "0.5", "5e-324", "1.0", "1e-300"] {
            assert!(parse_probability(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["", "nan", "inf", "-1", "1.0000000000000003", "1e400", "0,5", "x"] {
            assert!(parse_probability(text.as_bytes()).is_none(), "{text}");
        }
    }
}
