//! One block of `.causal_fg` after the other.

use crate::error::{Error, Result};
use crate::format::text::{Cursor, parse_probability, show};
use crate::model::{FactorKind, HornBatch};
use std::ops::Range;

/// What a TYPE line says.
#[derive(Clone, Copy)]
struct FactorType {
    kind: FactorKind,
    p: f64,
    q: f64,
}

/// A TYPE line, most of which occur again and again.
#[derive(Clone, Copy)]
struct KnownType<'a> {
    /// The line with its line end.
    line: &'a [u8],
    factor_type: FactorType,
    /// The number of the parameters, which a prior's type does not say.
    number: Option<u32>,
}

/// Size of the cache of TYPE lines, a power of two.
const KNOWN_TYPES: usize = 16;

pub(super) struct Reader<'a, 'b> {
    pub(super) cursor: Cursor<'a>,
    /// Where the blocks go.
    batch: &'b mut HornBatch,
    /// A cache of the latest TYPE lines, by a hash of their first bytes.
    known_types: [Option<KnownType<'a>>; KNOWN_TYPES],
}

impl<'a, 'b> Reader<'a, 'b> {
    pub(super) fn new(cursor: Cursor<'a>, batch: &'b mut HornBatch) -> Self {
        Self { cursor, batch, known_types: [None; KNOWN_TYPES] }
    }

    /// Reads the blocks that begin before `end`, but at most as many as `numbers`, and at least one if so wanted.
    /// `numbers.start` is the number of the first one, `numbers.end` that of all blocks of the file.
    pub(super) fn blocks(
        &mut self, at_least_one: bool, end: usize, numbers: &Range<u64>,
    ) -> Result<()> {
        let first = numbers.start;
        for number in numbers.clone() {
            if self.cursor.position() >= end && !(at_least_one && number == first) {
                break;
            }
            self.block(number, numbers.end)?;
        }
        Ok(())
    }

    /// The block of number `position`, from 0, of `count`.
    #[inline]
    fn block(&mut self, position: u64, count: u64) -> Result<()> {
        self.empty_line(position, count)?;
        let head = self.integer_line("the head's label")?;
        let (FactorType { kind, p, q }, number) = self.factor_type()?;
        let number = if kind == FactorKind::Prior {
            let p = self.prior()?;
            self.batch.number(kind, p, 0.0)?
        } else {
            let length = self.integer_line("the length of the body")?;
            self.body(length)?;
            // A type other than I says the parameters, so that their number is known.
            match number {
                Some(number) => number,
                None => self.batch.number(kind, p, q)?,
            }
        };
        self.batch.push(kind, head, number)
    }

    #[inline]
    fn empty_line(&mut self, position: u64, count: u64) -> Result<()> {
        if !self.cursor.at_end() && self.cursor.at_line_end() {
            return self.cursor.end_line("an empty line");
        }
        Err(self.no_empty_line(position, count))
    }

    #[cold]
    fn no_empty_line(&self, position: u64, count: u64) -> Error {
        if self.cursor.at_end() {
            return self.cursor.error(format!(
                "the file ends after {position} blocks: its first line announces {count}"
            ));
        }
        let found = show(self.cursor.clone().token());
        let hint = if found.starts_with("'#") { " (a comment may only come after it)" } else { "" };
        self.cursor.error(format!(
            "{found} where block {} of {count} begins: an empty line is needed{hint}",
            position + 1
        ))
    }

    /// An integer alone on the next line that is not a comment.
    #[inline]
    fn integer_line(&mut self, what: &str) -> Result<u64> {
        self.cursor.skip_comment_lines();
        self.cursor.at_line_end();
        let value = self.cursor.integer(what)?;
        self.cursor.end_line(what)?;
        Ok(value)
    }

    fn prior(&mut self) -> Result<f64> {
        self.cursor.skip_comment_lines();
        if self.cursor.at_line_end() {
            return Err(self.cursor.error(
                "the line holds no number where the probability of a factor of type I is needed",
            ));
        }
        let token = self.cursor.token();
        let p = parse_probability(token).ok_or_else(|| {
            self.cursor
                .error(format!("the probability is {}: a number in [0, 1] is needed", show(token)))
        })?;
        self.cursor.end_line("the probability")?;
        Ok(p)
    }

    #[inline]
    fn factor_type(&mut self) -> Result<(FactorType, Option<u32>)> {
        self.cursor.skip_comment_lines();
        let rest = self.cursor.rest();
        let place = Self::place(rest);
        if let Some(KnownType { line, factor_type, number }) = self.known_types[place]
            && rest.starts_with(line)
        {
            self.cursor.skip_whole_line(line.len());
            return Ok((factor_type, number));
        }
        self.new_type(rest, place)
    }

    /// A place in the cache of TYPE lines.
    #[inline]
    fn place(rest: &[u8]) -> usize {
        // Multiplicative hashing of the first 8 bytes: the multiplier is 2^64 divided by the golden ratio.
        let word = rest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - KNOWN_TYPES.ilog2())) as usize
    }

    #[inline(never)]
    fn new_type(&mut self, rest: &'a [u8], place: usize) -> Result<(FactorType, Option<u32>)> {
        self.cursor.at_line_end();
        let token = self.cursor.token();
        let factor_type = self.parse_type(token)?;
        self.cursor.end_line("the factor's type")?;
        let FactorType { kind, p, q } = factor_type;
        let is_prior = kind == FactorKind::Prior;
        let number = if is_prior { None } else { Some(self.batch.number(kind, p, q)?) };
        let line = &rest[..rest.len() - self.cursor.remaining()];
        if line.ends_with(b"\n") {
            self.known_types[place] = Some(KnownType { line, factor_type, number });
        }
        Ok((factor_type, number))
    }

    fn parse_type(&self, token: &[u8]) -> Result<FactorType> {
        let kind = match token.first() {
            Some(b'I') if token.len() == 1 => FactorKind::Prior,
            Some(b'*') => FactorKind::And,
            Some(b'+') => FactorKind::Or,
            _ => {
                return Err(self.cursor.error(format!(
                    "the factor's type is {}: I, *p;q or +p;q (p and q may be left out) is needed",
                    show(token)
                )));
            }
        };
        let numbers = &token[1..];
        let semicolon = numbers.iter().position(|&byte| byte == b';').unwrap_or(numbers.len());
        let (p, q) = (&numbers[..semicolon], numbers.get(semicolon + 1..).unwrap_or_default());
        let number = |name: &str, text: &[u8], default: f64| {
            if text.is_empty() {
                return Ok(default);
            }
            parse_probability(text).ok_or_else(|| {
                self.cursor.error(format!(
                    "{name} is {} in the factor's type {}: a number in [0, 1] is needed",
                    show(text),
                    show(token)
                ))
            })
        };
        Ok(FactorType { kind, p: number("p", p, 1.0)?, q: number("q", q, 0.0)? })
    }

    /// The labels of a body. An empty body has an empty line, except at the end of the file.
    #[inline]
    fn body(&mut self, length: u64) -> Result<()> {
        self.cursor.skip_comment_lines();
        let mut found = 0;
        while !self.cursor.at_line_end() {
            let label = self.cursor.integer("a label of the body")?;
            if found == length {
                return Err(self.cursor.error(format!(
                    "the body has more than the {length} labels that the line before announces"
                )));
            }
            self.batch.push_member(label)?;
            found += 1;
        }
        if found < length {
            return Err(self.cursor.error(format!(
                "the body has {found} labels: the line before announces {length}"
            )));
        }
        self.cursor.end_line("the body")
    }
}
