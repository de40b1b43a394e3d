//! The journal of an inspection: a file to which every answer is appended before it takes effect.
//!
//! Text, a line per event:
//!
//! ```text
//! fastlbp-journal 1 graph=9f0c... evidence=... alarms=... schedule=SequentialFixed ... ~1a2b3c4d
//! answer 4 false racePairs_cs(21852,21852) ~5e6f7a8b
//! undo ~9c0d1e2f
//! ```
//!
//! The first line says what the answers belong to. Each line ends with a checksum (CRC-32) of what is before it. An
//! append is on the disk before it counts, so a crash can damage the last line only, whose event has not taken effect;
//! opening the journal cuts it off. One process has the journal at a time.

use crate::error::{Error, Result};
use crate::format::sync_name;
use crate::memory::{Grow, path as copied_path};
use crate::model::Label;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

const MAGIC: &str = "fastlbp-journal 1";
const CHECKSUM_MARK: &str = " ~";

/// Journals are read whole: far more than anybody answers.
const SIZE_LIMIT: u64 = 1 << 30;

/// What a journal has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The alarm at this variable was inspected.
    Answer {
        /// Label of the variable.
        label: Label,
        /// Whether the alarm is a true one.
        is_true: bool,
    },
    /// The last answer was taken back.
    Undo,
    /// The last answer was refused, since it contradicts the graph.
    Refused,
}

/// A journal that is open for appending.
#[derive(Debug)]
pub struct Journal {
    file: LockedFile,
    path: PathBuf,
    length: u64,
}

/// A journal and what was in it.
#[derive(Debug)]
pub struct Opened {
    /// The journal.
    pub journal: Journal,
    /// Its events so far, each with its line.
    pub events: Vec<(u64, Event)>,
    /// Whether a damaged last line was cut off.
    pub was_torn: bool,
}

impl Journal {
    /// Opens a journal, or begins one where there is no file or an empty one. `subject` says what its answers belong
    /// to, as words `key=value` that are the same each time.
    ///
    /// Errors: a file that is no journal, or that of another subject; a damaged line that is not the last one; a
    /// journal that another process has open.
    pub fn open(path: &Path, subject: &str) -> Result<Opened> {
        let io_error = |source| Error::io(path, source);
        let file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io_error)?;
        if !file.metadata().map_err(io_error)?.is_file() {
            return Err(io_error(io::Error::new(
                ErrorKind::InvalidInput,
                "no file: a journal is one",
            )));
        }
        let mut file = LockedFile::new(file).map_err(io_error)?;
        let mut bytes = Vec::new();
        let limited =
            (&mut *file).take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(io_error)?;
        if limited as u64 > SIZE_LIMIT {
            return Err(Error::parse(
                path,
                1,
                format!("more than {SIZE_LIMIT} bytes: no journal is so long"),
            ));
        }
        let header = with_checksum(&format!("{MAGIC} {subject}"));
        let content = parse(path, &bytes, &header)?;
        let mut journal = Self { file, path: copied_path(path)?, length: content.length };
        if content.was_torn {
            journal.file.set_len(journal.length).map_err(io_error)?;
        }
        if journal.length == 0 {
            journal.write(&header)?;
            journal.file.sync_all().map_err(io_error)?;
            sync_name(path).map_err(io_error)?;
        }
        Ok(Opened { journal, events: content.events, was_torn: content.was_torn })
    }

    /// Appends an event, with the alarm's name for a human reader. When this returns, it is on the disk; after an error
    /// the journal is as before, or ends with a line that the next opening cuts off.
    pub fn append(&mut self, event: Event, name: Option<&str>) -> Result<()> {
        let text = match event {
            Event::Answer { label, is_true } => {
                // A line end inside of a name would end the record.
                let name: String = name
                    .unwrap_or_default()
                    .chars()
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .collect();
                format!("answer {label} {is_true} {name}")
            }
            Event::Undo => "undo".into(),
            Event::Refused => "refused".into(),
        };
        self.write(&with_checksum(text.trim_end()))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line must not stay before the next one; if even that fails, it is cut off later, unless
                // another one follows it, and then it is found to be damaged.
                let _ = self.file.set_len(self.length);
                Err(Error::io(&self.path, error))
            }
        }
    }
}

fn with_checksum(text: &str) -> String {
    format!("{text}{CHECKSUM_MARK}{:08x}\n", checksum(text))
}

fn checksum(text: &str) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

/// A file that one process has at a time.
#[derive(Debug)]
struct LockedFile(File);

impl LockedFile {
    #[cfg(unix)]
    fn new(file: File) -> io::Result<Self> {
        use rustix::fs::{FlockOperation, flock};
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(io::Error::new(
                ErrorKind::WouldBlock,
                "another process has this journal open: end it first, or use another journal",
            )),
            // File systems without locks have no other protection.
            Err(
                rustix::io::Errno::NOTSUP | rustix::io::Errno::NOLCK | rustix::io::Errno::INVAL,
            ) => Ok(Self(file)),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(unix))]
    fn new(file: File) -> io::Result<Self> {
        Ok(Self(file))
    }
}

/// Closing the file is not enough: a process that was started meanwhile has a copy of it until its program begins, and
/// with it the lock.
#[cfg(unix)]
impl Drop for LockedFile {
    fn drop(&mut self) {
        // Where there is no lock, there is none to give up.
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

struct Content {
    events: Vec<(u64, Event)>,
    /// Length of what is whole.
    length: u64,
    was_torn: bool,
}

fn parse(path: &Path, bytes: &[u8], header: &str) -> Result<Content> {
    let mut content = Content { events: Vec::new(), length: 0, was_torn: false };
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let mut number = 0;
    while let Some(line) = lines.next() {
        number += 1;
        let text = std::str::from_utf8(line).ok().and_then(intact);
        let Some(text) = text else {
            // The header of a journal that was never begun is torn like every other line.
            let begins_journal = number > 1 || header.as_bytes().starts_with(line);
            if begins_journal && !holds_intact(line) && lines.next().is_none() {
                content.was_torn = true;
                break;
            }
            return Err(match number {
                1 => not_a_journal(path),
                _ => Error::parse(
                    path,
                    number,
                    "the line is damaged, since its checksum is wrong: the answers before it can be had by \
                     deleting it and all lines after it",
                ),
            });
        };
        if number == 1 {
            check_subject(path, text, header)?;
        } else {
            let event = read_event(text).ok_or_else(|| {
                let known = "'answer LABEL true|false', 'undo' or 'refused' is needed";
                Error::parse(path, number, format!("no event of a journal: {known}"))
            })?;
            content.events.try_push((number, event))?;
        }
        content.length += line.len() as u64;
    }
    Ok(content)
}

/// What a line says, without its checksum, if that is right.
fn intact(line: &str) -> Option<&str> {
    let (text, sum) = line.strip_suffix('\n')?.rsplit_once(CHECKSUM_MARK)?;
    (sum.len() == 8 && u32::from_str_radix(sum, 16) == Ok(checksum(text))).then_some(text)
}

/// Whether damage has joined a line to the one before, whose event has taken effect.
fn holds_intact(line: &[u8]) -> bool {
    const LENGTH: usize = CHECKSUM_MARK.len() + 8;
    (0..line.len().saturating_sub(LENGTH)).any(|end| {
        line[end..].starts_with(CHECKSUM_MARK.as_bytes())
            && std::str::from_utf8(&line[..end + LENGTH])
                .is_ok_and(|text| intact(&format!("{text}\n")).is_some())
    })
}

fn read_event(text: &str) -> Option<Event> {
    let mut words = text.split(' ');
    Some(match (words.next()?, words.next(), words.next()) {
        ("answer", Some(label), Some(is_true)) => {
            Event::Answer { label: label.parse().ok()?, is_true: is_true.parse().ok()? }
        }
        ("undo", None, None) => Event::Undo,
        ("refused", None, None) => Event::Refused,
        _ => return None,
    })
}

fn not_a_journal(path: &Path) -> Error {
    Error::parse(
        path,
        1,
        format!("this is no journal: one begins with '{MAGIC}'; a new file is needed"),
    )
}

/// Checks that a journal belongs to what it is opened for.
fn check_subject(path: &Path, text: &str, header: &str) -> Result<()> {
    let is_magic = |text: &str| text.strip_prefix(MAGIC).is_some_and(|rest| rest.starts_with(' '));
    let header = intact(header).unwrap_or_default();
    if !is_magic(text) {
        return Err(not_a_journal(path));
    }
    if text == header {
        return Ok(());
    }
    let mut differing = text.split(' ').zip(header.split(' ')).filter(|(was, is)| was != is);
    let (was, is) = differing.next().unwrap_or((text, header));
    let what = match is.split('=').next() {
        Some("graph") => "the journal belongs to another graph".to_string(),
        Some("evidence") => "the journal belongs to other evidence".to_string(),
        Some("alarms") => "the journal belongs to other alarms".to_string(),
        _ => format!("the journal was begun with {was}, and this is {is}"),
    };
    Err(Error::parse(
        path,
        1,
        format!("{what}: what it was begun with is needed, or another journal"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SUBJECT: &str = "graph=1 evidence=2 alarms=3 schedule=SequentialFixed";
    const EVENTS: [Event; 4] = [
        Event::Answer { label: 7, is_true: true },
        Event::Answer { label: u64::MAX, is_true: false },
        Event::Undo,
        Event::Refused,
    ];

    fn written(directory: &Path) -> PathBuf {
        let path = directory.join("journal");
        let mut journal = Journal::open(&path, SUBJECT).unwrap().journal;
        for event in EVENTS {
            journal.append(event, Some("a name ~ with\nodd characters")).unwrap();
        }
        path
    }

    #[test]
    fn what_was_appended_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path());
        let opened = Journal::open(&path, SUBJECT).unwrap();
        assert!(!opened.was_torn);
        assert!(opened.events.iter().copied().eq((2..).zip(EVENTS)));
        let error = Journal::open(&path, SUBJECT).unwrap_err().to_string();
        assert!(error.contains("another process has this journal open"), "{error}");
    }

    /// As another process has one that was forked while the journal was open.
    #[test]
    fn a_copy_of_the_file_elsewhere_keeps_no_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path());
        let journal = Journal::open(&path, SUBJECT).unwrap().journal;
        let _copy = journal.file.try_clone().unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path, SUBJECT).unwrap().events.len(), EVENTS.len());
    }

    #[test]
    fn cut_anywhere_it_has_the_whole_events_and_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = fs::read(written(directory.path())).unwrap();
        let path = directory.path().join("cut");
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let Opened { mut journal, events, was_torn } = Journal::open(&path, SUBJECT).unwrap();
            let lines = bytes[..length].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(events.len(), lines.saturating_sub(1));
            assert_eq!(was_torn, length > 0 && bytes[length - 1] != b'\n');
            journal.append(Event::Undo, None).unwrap();
            drop(journal);
            let again = Journal::open(&path, SUBJECT).unwrap();
            assert_eq!((again.events.len(), again.was_torn), (events.len() + 1, false), "{length}");
        }
    }

    #[test]
    fn damage_is_told_unless_it_is_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = fs::read(written(directory.path())).unwrap();
        let path = directory.path().join("damaged");
        let last = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
        // Where the checksum of an event is right, only what ends its line is damaged, and it has taken effect.
        let may_be_torn = |position| position > last && position < bytes.len() - 1;
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] = b'#';
            fs::write(&path, &damaged).unwrap();
            match Journal::open(&path, SUBJECT) {
                Ok(opened) => {
                    assert!(may_be_torn(position) && opened.was_torn && opened.events.len() == 3);
                }
                Err(error) => {
                    let error = error.to_string();
                    let line = bytes[..position].iter().filter(|&&byte| byte == b'\n').count() + 1;
                    assert!(
                        !may_be_torn(position) && error.contains(&format!("damaged:{line}: ")),
                        "{error}"
                    );
                    assert_eq!(fs::read(&path).unwrap(), damaged, "nothing is changed");
                }
            }
        }
    }

    #[test]
    fn another_subject_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path());
        for (from, to, why) in [
            ("graph=1", "graph=2", "belongs to another graph"),
            ("evidence=2", "evidence=0", "belongs to other evidence"),
            ("alarms=3", "alarms=4", "belongs to other alarms"),
            (
                "schedule=SequentialFixed",
                "schedule=Parallel",
                "was begun with schedule=SequentialFixed, and this is schedule=Parallel",
            ),
        ] {
            let error = Journal::open(&path, &SUBJECT.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("is needed"), "{error}");
        }
        let other = directory.path().join("other");
        for text in ["x", "fastlbp-journal 2 graph=1\n", "1 0.5\n2 0.5\n", "\n"] {
            fs::write(&other, text).unwrap();
            let error = Journal::open(&other, SUBJECT).unwrap_err().to_string();
            assert!(error.contains("other:1: this is no journal"), "{text}: {error}");
        }
        assert!(Journal::open(directory.path(), SUBJECT).is_err());
    }
}
