//! The tokens of BIF: names, quoted names, punctuation; comments are skipped.

use super::super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::memory::{Grow, out_of_memory};
use std::borrow::Cow;

/// Bytes that are tokens of their own and end a name.
const MARKS: &[u8] = b"{}()[],;|";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Anything between spaces and marks: a keyword, a number or a name.
    Word(&'a [u8]),
    /// What stood in double quotes: always a name.
    Quoted(&'a [u8]),
    /// One of `MARKS`.
    Mark(u8),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// The token for a message.
    pub(super) fn show(&self) -> String {
        match self {
            Token::Word(text) | Token::Quoted(text) => show(text),
            Token::Mark(mark) => show(&[*mark]),
            Token::End => "the end of the file".into(),
        }
    }
}

#[derive(Clone)]
pub(super) struct Scanner<'a> {
    pub(super) cursor: Cursor<'a>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor }
    }

    /// Skips spaces, line ends and comments.
    fn skip_space(&mut self) -> Result<()> {
        loop {
            let rest = self.cursor.rest();
            let length = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.cursor.skip_bytes(length);
            let rest = &rest[length..];
            if rest.starts_with(b"//") {
                self.cursor.skip_line();
            } else if rest.starts_with(b"/*") {
                match rest[2..].windows(2).position(|pair| pair == b"*/") {
                    Some(length) => self.cursor.skip_bytes(length + 4),
                    None => {
                        return Err(self
                            .cursor
                            .error("the comment that begins here has no end: '*/' is needed"));
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        self.skip_space()?;
        let rest = self.cursor.rest();
        let Some(&first) = rest.first() else { return Ok(Token::End) };
        if MARKS.contains(&first) {
            self.cursor.skip_bytes(1);
            return Ok(Token::Mark(first));
        }
        if first == b'"' {
            let Some(length) = rest[1..].iter().position(|&byte| byte == b'"') else {
                return Err(self
                    .cursor
                    .error("the name in quotes that begins here has no end: '\"' is needed"));
            };
            self.cursor.skip_bytes(length + 2);
            return Ok(Token::Quoted(&rest[1..=length]));
        }
        let ends = |position: usize| {
            let byte = rest[position];
            byte.is_ascii_whitespace()
                || byte == b'"'
                || MARKS.contains(&byte)
                || (byte == b'/' && matches!(rest.get(position + 1), Some(b'/' | b'*')))
        };
        let length = (1..rest.len()).find(|&position| ends(position)).unwrap_or(rest.len());
        self.cursor.skip_bytes(length);
        Ok(Token::Word(&rest[..length]))
    }

    /// Skips to the `;` that ends a property.
    pub(super) fn skip_property(&mut self) -> Result<()> {
        loop {
            match self.next()? {
                Token::Mark(b';') => return Ok(()),
                Token::End => return Err(self.unexpected(Token::End, "the ';' after a property")),
                _ => {}
            }
        }
    }

    /// Reads a mark that must come next.
    pub(super) fn expect(&mut self, mark: u8, what: &str) -> Result<()> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            found => Err(self.unexpected(found, &format!("'{}' {what}", char::from(mark)))),
        }
    }

    /// The error for a token that is not what is needed.
    #[cold]
    pub(super) fn unexpected(&self, found: Token<'_>, wanted: &str) -> Error {
        self.cursor.error(match found {
            Token::End => format!("the file ends where {wanted} is needed"),
            found => format!("{} where {wanted} is needed", found.show()),
        })
    }

    /// A token as a name: UTF-8 without control characters.
    fn name(&self, text: &'a [u8]) -> Result<&'a str> {
        let name = std::str::from_utf8(text)
            .map_err(|_| self.cursor.error(format!("the name {} is not UTF-8", show(text))))?;
        if name.is_empty() || name.contains(char::is_control) {
            return Err(self.cursor.error(format!(
                "the name {}: a name has at least one character and none that cannot be seen",
                show(text)
            )));
        }
        Ok(name)
    }

    /// Reads a list of names up to and including one of the marks of `ends`, which is returned.
    pub(super) fn list(&mut self, list: &mut List<'a>, ends: &[u8], what: &str) -> Result<u8> {
        list.words.clear();
        list.ends.clear();
        loop {
            match self.next()? {
                Token::Word(text) | Token::Quoted(text) => {
                    list.words.try_push(self.name(text)?)?;
                }
                Token::Mark(mark) if mark == b',' || ends.contains(&mark) => {
                    // Commas only separate: two of them are as good as one.
                    if list.words.len() > list.ends.last().copied().unwrap_or_default() {
                        list.ends.try_push(list.words.len())?;
                    }
                    if mark != b',' {
                        return Ok(mark);
                    }
                }
                found => return Err(self.unexpected(found, what)),
            }
        }
    }
}

/// Names between brackets. Commas separate them, and so do blanks where there are no commas; a name
/// of several words, as some programs write it, needs commas around it.
#[derive(Default)]
pub(super) struct List<'a> {
    words: Vec<&'a str>,
    /// Where each part between commas ends in `words`.
    ends: Vec<usize>,
}

impl<'a> List<'a> {
    /// The words of each part between commas.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[&'a str]> {
        (0..self.ends.len()).map(|part| self.part(part))
    }

    fn part(&self, part: usize) -> &[&'a str] {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.words[start..self.ends[part]]
    }

    /// The names, where `count` of them are expected: the parts between commas if they are so many,
    /// or else the words if they are. `None` if neither fits.
    pub(super) fn names(&self, count: usize) -> Option<impl Iterator<Item = Result<Cow<'a, str>>>> {
        let by_part = self.ends.len() == count;
        let fits = by_part || self.words.len() == count;
        fits.then(|| {
            (0..count).map(move |i| {
                if by_part { joined(self.part(i)) } else { Ok(Cow::Borrowed(self.words[i])) }
            })
        })
    }

    /// Number of parts between commas.
    pub(super) fn part_count(&self) -> usize {
        self.ends.len()
    }
}

/// A name of several words, with one blank between them.
pub(super) fn joined<'a>(words: &[&'a str]) -> Result<Cow<'a, str>> {
    if let [word] = words {
        return Ok(Cow::Borrowed(word));
    }
    let length = words.iter().map(|word| word.len() + 1).sum();
    let mut text = String::new();
    text.try_reserve_exact(length)
        .map_err(|_| out_of_memory(format_args!("a name of {length} bytes")))?;
    for (position, word) in words.iter().enumerate() {
        if position > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
    Ok(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn scanner(text: &str) -> Scanner<'_> {
        Scanner::new(Cursor::new(Path::new("n.bif"), text.as_bytes()))
    }

    fn tokens(text: &str) -> Vec<String> {
        let mut scanner = scanner(text);
        let mut tokens = Vec::new();
        loop {
            match scanner.next().unwrap() {
                Token::End => return tokens,
                token => tokens.push(token.show()),
            }
        }
    }

    #[test]
    fn tokens_end_at_marks_spaces_and_comments() {
        assert_eq!(tokens("a{b}\r\n\tc-d.e"), ["'a'", "'{'", "'b'", "'}'", "'c-d.e'"]);
        assert_eq!(tokens("<5, >=7.5;Asy/Patch"), ["'<5'", "','", "'>=7.5'", "';'", "'Asy/Patch'"]);
        assert_eq!(tokens("a//b\nc/*d\n*/e/**/f"), ["'a'", "'c'", "'e'", "'f'"]);
        assert_eq!(tokens("\"a // b\"c\"\""), ["'a // b'", "'c'", "''"]);
        assert_eq!(tokens("//"), [""; 0]);
    }

    #[test]
    fn lines_are_counted_in_comments_and_quotes() {
        let mut scanner = scanner("/*\n\n*/ \"a\nb\" c // d\n\n e");
        for line in [4, 4, 6] {
            scanner.next().unwrap();
            assert_eq!(scanner.cursor.line(), line);
        }
    }

    #[test]
    fn what_has_no_end_is_named_where_it_begins() {
        for (text, wanted) in
            [("a\n/* \n\n", "n.bif:2: the comment"), ("a\n\"\n\n", "n.bif:2: the n")]
        {
            let mut scanner = scanner(text);
            scanner.next().unwrap();
            let error = scanner.next().unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }

    #[test]
    fn lists_are_split_by_commas_or_by_blanks() {
        fn split(text: &str, count: usize) -> Option<Vec<Cow<'_, str>>> {
            let mut list = List::default();
            scanner(text).list(&mut list, b")", "a name").unwrap();
            list.names(count).map(|names| names.collect::<Result<_>>().unwrap())
        }
        fn wanted<'a>(names: &[&'a str]) -> Option<Vec<Cow<'a, str>>> {
            Some(names.iter().map(|&name| Cow::Borrowed(name)).collect())
        }
        assert_eq!(split("a, b c)", 2), wanted(&["a", "b c"]));
        assert_eq!(split("a, b c)", 3), wanted(&["a", "b", "c"]));
        assert_eq!(split("a b)", 2), wanted(&["a", "b"]));
        assert_eq!(split("a \"b  c\" ,)", 2), wanted(&["a", "b  c"]));
        assert_eq!(split(")", 0), wanted(&[]));
        assert_eq!(split("a, b)", 3), None);
    }
}
