//! Writing whole files: the old content or the new one, never half of it.
//!
//! The new content goes to a file without a name (`O_TMPFILE`) or, where the file system has no such
//! files, with a temporary one. Then a new file gets its name, and an old one is replaced in one step,
//! by a file with its owner, group, permissions, access list and other extended attributes.
//!
//! What cannot be replaced without a loss is overwritten in place, once the new content is on the
//! disk: a file with several names (hard links), one whose owner or access list this process may not
//! give to another file, one that is a mount point, one in a directory in which this process may make
//! or replace nothing. If that fails, the old content is written back. Only a process that is killed in
//! that moment, or a machine that stops, can leave half of it; then the new content is whole in a file
//! with a temporary name.

mod content;
mod place;
#[cfg(all(test, unix))]
mod tests;

use super::file::{CODEC_BYTES, is_gzip};
use super::file_system::{
    Access, FileSystem, Kind, Native, OpenFile, Patient, Readers, hold_writes, retry,
};
use super::output::Output;
use crate::error::{Error, Result};
use crate::memory::probe;
use content::{Content, copy_all};
use place::{Place, Slot, find};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// What puts content into a file. It is called once. (The code around it is compiled once, too.)
pub(super) type Fill<'a> = &'a mut dyn FnMut(&mut Output<'_>) -> Result<()>;

/// Writes a file, compressed if its name ends in `.gz`. It appears under its name when it is
/// complete: whatever fails, a file that was there before stays as it was.
pub(super) fn save(path: &Path, write: Fill<'_>) -> Result<()> {
    save_to(&Native, path, write)
}

/// Writes any text to a file, compressed if its name ends in `.gz`. It appears under its name when it
/// is complete: whatever fails, a file that was there before stays as it was.
///
/// A file that is there keeps its owner, group, permissions, access list and hard links; a new one has
/// the permissions that the umask gives. A symbolic link stays, and the file is written where it leads,
/// also if there is none yet. A pipe or a device is fed. A file that the process may not write is an
/// error, also where it could be replaced. When this returns, the content is on the disk; an error that
/// says that the directory could not be synchronised is the only one after which the file is new.
///
/// To keep owner and hard links, a file can have to be overwritten in place, when all of the new content
/// is on the disk. If that fails, the old content is written back; if the process is killed in that
/// moment, the new content is whole in a file `.fastlbp-*.tmp` beside it.
pub fn save_text(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut fill = Some(fill);
    save(path, &mut |output| match fill.take() {
        Some(fill) => fill(&mut *output.sink).map_err(|source| Error::io(path, source)),
        None => Ok(()),
    })
}

/// Waits until the name of a file that was just made is on the disk, where its directory and the file system allow that.
/// A symbolic link is followed to the directory in which it has made the file.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    match find(&Native, path)? {
        Place::Name(slot) => retry(|| Native.sync_directory(&slot.directory)),
        // A descriptor was there before.
        Place::Stream(_) => Ok(()),
    }
}

/// [`save`] to any file system.
fn save_to<F: FileSystem>(files: &F, path: &Path, write: Fill<'_>) -> Result<()> {
    let io_error = |source| Error::io(path, source);
    let mut slot = match find(files, path).map_err(io_error)? {
        Place::Stream(mut stream) => return write_content(path, &mut stream, write),
        Place::Name(slot) => slot,
    };
    let readers = match slot.existing {
        Some(_) => {
            retry(|| files.check_writable(&slot.directory, &slot.name)).map_err(io_error)?;
            Readers::Owner
        }
        None => Readers::Default,
    };
    let elsewhere;
    let mut content = match Content::create(files, &slot.directory, readers) {
        // The file itself may be writable where its directory is not.
        Err(error) if slot.existing.is_some() && is_refusal(&error) => {
            let directory = files.temporary_directory();
            elsewhere = retry(|| files.open_directory(None, &directory)).map_err(io_error)?;
            Content::create(files, &elsewhere, readers).map_err(io_error)?
        }
        content => content.map_err(io_error)?,
    };
    write_content(path, &mut content.file, write)?;
    if slot.existing.is_some() {
        // The content may have taken hours.
        slot.existing = match retry(|| files.status_of(&slot.directory, &slot.name)) {
            Ok(status) if status.kind == Kind::File => Some(status),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => slot.existing,
        };
    }
    publish(files, &slot, content).map_err(io_error)?;
    retry(|| files.sync_directory(&slot.directory)).map_err(|error| {
        let text =
            format!("{error}; the file is complete, but its directory may not be on the disk");
        io_error(io::Error::new(error.kind(), text))
    })
}

/// Writes content, compressed if the name ends in `.gz`.
pub(super) fn write_content(path: &Path, file: &mut dyn Write, write: Fill<'_>) -> Result<()> {
    let mut file = Patient(file);
    let mut fill = |sink: &mut dyn Write| {
        let mut output = Output::new(path, sink)?;
        write(&mut output)?;
        output.flush()
    };
    if is_gzip(path) {
        probe(CODEC_BYTES)?;
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        fill(&mut encoder)?;
        encoder.finish().map_err(|source| Error::io(path, source))?;
        Ok(())
    } else {
        fill(&mut file)
    }
}

/// Errors after which overwriting the file in place may still work: it cannot be made or replaced in its directory.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
    )
}

/// Puts complete content under its name.
fn publish<F: FileSystem>(
    files: &F, slot: &Slot<F>, mut content: Content<'_, F>,
) -> io::Result<()> {
    let Slot { directory, name, existing } = slot;
    let mut existing = *existing;
    if existing.is_none() && content.name.is_none() {
        retry(|| content.file.sync())?;
        match retry(|| files.link(&content.file, directory, name)) {
            Ok(()) => return Ok(()),
            // Another process has made one meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let status = retry(|| files.status_of(directory, name))?;
                if status.kind != Kind::File {
                    return Err(error);
                }
                existing = Some(status);
            }
            // Some systems let nobody make links.
            Err(_) => {}
        }
    }
    let is_beside = std::ptr::eq(content.directory, directory);
    let old = match existing {
        None => None,
        Some(status) if is_beside && status.links == 1 => {
            match retry(|| files.open(directory, name, Access::Read)) {
                Ok(old) => Some((old, status)),
                Err(_) => return overwrite(files, slot, content),
            }
        }
        Some(_) => return overwrite(files, slot, content),
    };
    let dress = |content: &Content<'_, F>| match &old {
        Some((old, status)) => retry(|| files.copy_attributes(old, status, &content.file)),
        None => Ok(()),
    };
    if dress(&content).is_err() {
        return overwrite(files, slot, content);
    }
    retry(|| content.file.sync())?;
    if content.link().is_err() {
        let readers = if old.is_some() { Readers::Owner } else { Readers::Default };
        content = content.copy(readers)?;
        if dress(&content).is_err() {
            return overwrite(files, slot, content);
        }
        retry(|| content.file.sync())?;
    }
    let Some(temporary) = &content.name else { return overwrite(files, slot, content) };
    match retry(|| files.rename_temporary(directory, temporary, name)) {
        Ok(()) => {
            content.name = None;
            Ok(())
        }
        Err(error) if old.is_some() && is_refusal(&error) => overwrite(files, slot, content),
        Err(error) => Err(error),
    }
}

/// Overwrites the existing file in place with complete content.
fn overwrite<F: FileSystem>(
    files: &F, slot: &Slot<F>, mut content: Content<'_, F>,
) -> io::Result<()> {
    let Slot { directory, name, .. } = slot;
    let mut target = retry(|| files.open(directory, name, Access::Write))?;
    let mut backup = match retry(|| files.open(directory, name, Access::Read)) {
        // It may be written, but not read.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
        old => {
            let mut backup = Content::create(files, content.directory, Readers::Owner)?;
            copy_all(&mut old?, &mut backup.file)?;
            Some(backup)
        }
    };
    retry(|| content.file.sync())?;
    // The new content gets a temporary name, so that it survives if the process is killed while it overwrites.
    if content.link().is_err() {
        content = content.copy(Readers::Owner)?;
        retry(|| content.file.sync())?;
    }
    let held = hold_writes();
    let Err(error) = fill(files, &mut content, &mut target) else { return Ok(()) };
    let restored = match &mut backup {
        Some(backup) => fill(files, backup, &mut target),
        None => Err(ErrorKind::PermissionDenied.into()),
    };
    drop(held);
    let Err(second) = restored else { return Err(error) };
    let kept = content.keep().unwrap_or_default();
    let text = format!(
        "{error}; the old content could not be written back ({second}); the new content is whole in {}",
        kept.display()
    );
    Err(io::Error::new(error.kind(), text))
}

/// Replaces the content of a file by that of another one.
fn fill<F: FileSystem>(
    files: &F, content: &mut Content<'_, F>, target: &mut F::File,
) -> io::Result<()> {
    retry(|| target.rewind())?;
    copy_all(&mut content.file, target)?;
    let length = retry(|| files.status(&content.file))?.length;
    retry(|| target.set_length(length))?;
    retry(|| target.sync())
}
