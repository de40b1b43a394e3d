//! Resolving the path of a file that is to be written.

use super::super::file_system::{Access, FileSystem, Kind, Status, copy_of_name, retry};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The most symbolic links that are followed; the limit of Linux.
const MOST_LINKS: usize = 40;

/// What a path resolves to.
pub(super) enum Place<F: FileSystem> {
    /// A pipe, a device or a descriptor of a process, which is written directly.
    Stream(F::File),
    Name(Slot<F>),
}

/// A name for a file.
pub(super) struct Slot<F: FileSystem> {
    pub directory: F::Directory,
    pub name: OsString,
    /// The status of the file with this name.
    pub existing: Option<Status>,
}

/// Follows symbolic links, also to a file that does not exist: it is created at the target of the last link.
pub(super) fn find<F: FileSystem>(files: &F, path: &Path) -> io::Result<Place<F>> {
    let (parent, mut name) = split(path)?;
    let mut directory = retry(|| files.open_directory(None, parent))?;
    for _ in 0..=MOST_LINKS {
        let status = match retry(|| files.status_of(&directory, &name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Place::Name(Slot { directory, name, existing: None }));
            }
            status => status?,
        };
        match status.kind {
            Kind::File => {
                return Ok(Place::Name(Slot { directory, name, existing: Some(status) }));
            }
            Kind::Directory => return Err(ErrorKind::IsADirectory.into()),
            Kind::Other => {
                let stream = retry(|| files.open(&directory, &name, Access::Write))?;
                return Ok(Place::Stream(stream));
            }
            Kind::Link => {}
        }
        if let Some(stream) = retry(|| files.open_descriptor(&directory, &name))? {
            return Ok(Place::Stream(stream));
        }
        let link = retry(|| files.read_link(&directory, &name))?;
        let (parent, next) = split(&link)?;
        directory = retry(|| files.open_directory(Some(&directory), parent))?;
        name = next;
    }
    Err(io::Error::other("too many symbolic links, one after the other"))
}

/// The directory of a path, and the name in it.
fn split(path: &Path) -> io::Result<(&Path, OsString)> {
    let text = path.as_os_str().as_encoded_bytes();
    // `Path` ignores a `/` or `/.` at the end; such a path can only be that of a directory.
    let is_directory = [&b"/"[..], b"/."].iter().any(|end| text.ends_with(end));
    match path.file_name() {
        Some(name) if !is_directory => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Ok((parent.unwrap_or(Path::new(".")), copy_of_name(name)?))
        }
        _ if text.is_empty() => Err(ErrorKind::NotFound.into()),
        _ => Err(ErrorKind::IsADirectory.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_directory_and_a_name() {
        for (path, parent, name) in [
            ("a", ".", "a"),
            ("./a", ".", "a"),
            ("/a", "/", "a"),
            ("a/b", "a", "b"),
            ("../b", "..", "b"),
            ("/a/.b", "/a", ".b"),
            ("a//b", "a", "b"),
        ] {
            let (found, last) = split(Path::new(path)).unwrap();
            assert_eq!((found, last.to_str()), (Path::new(parent), Some(name)), "{path}");
        }
        for path in ["/", ".", "..", "a/", "a/.", "a/..", "a//"] {
            let error = split(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IsADirectory, "{path}");
        }
        assert_eq!(split(Path::new("")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
