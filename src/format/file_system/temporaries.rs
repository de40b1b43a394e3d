//! The registry of existing temporary names, so that a process can remove them before it ends.

use crate::memory;
use parking_lot::ReentrantMutex;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Temporary names in directories of type `D`. Every creation and removal of one goes through this registry.
pub(super) struct Temporaries<D> {
    names: ReentrantMutex<RefCell<Vec<(D, OsString)>>>,
}

impl<D: Clone + PartialEq> Temporaries<D> {
    pub(super) const fn new() -> Self {
        Self { names: parking_lot::const_reentrant_mutex(RefCell::new(Vec::new())) }
    }

    /// Runs `make`, which creates a file with this temporary name, and registers the name.
    pub(super) fn add<T>(
        &self, directory: &D, name: &OsStr, make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let own = copy_of_name(name)?;
        let names = self.names.lock();
        names.borrow_mut().try_reserve(1).map_err(|_| ErrorKind::OutOfMemory)?;
        let made = make()?;
        names.borrow_mut().push((directory.clone(), own));
        Ok(made)
    }

    /// Runs `take`, which removes or renames the file with this temporary name, and removes the name from the registry.
    pub(super) fn take(
        &self, directory: &D, name: &OsStr, take: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let names = self.names.lock();
        take()?;
        names.borrow_mut().retain(|(other, temporary)| other != directory || temporary != name);
        Ok(())
    }

    /// While the guard lives, [`Self::abort`] waits in other threads.
    pub(super) fn hold(&self) -> impl Sized {
        self.names.lock()
    }

    /// Removes everything with a temporary name. From now on, other threads that create, rename or remove one block
    /// forever.
    pub(super) fn abort(&self, mut remove: impl FnMut(&D, &OsStr)) {
        let names = self.names.lock();
        names.borrow_mut().drain(..).for_each(|(directory, name)| remove(&directory, &name));
        std::mem::forget(names);
    }
}

/// A copy of a file's name.
pub(in crate::format) fn copy_of_name(name: &OsStr) -> io::Result<OsString> {
    let copy = memory::path(Path::new(name)).map_err(|_| ErrorKind::OutOfMemory)?;
    Ok(copy.into_os_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn what_is_left_is_removed_and_nothing_is_made_any_more() {
        let temporaries = Arc::new(Temporaries::new());
        for name in ["a", "b", "c"] {
            temporaries.add(&1, OsStr::new(name), || Ok(())).unwrap();
        }
        temporaries.add(&2, OsStr::new("b"), || Ok(())).unwrap();
        let failed = || Err::<(), _>(io::Error::from(ErrorKind::NotFound));
        temporaries.add(&1, OsStr::new("d"), failed).unwrap_err();
        temporaries.take(&1, OsStr::new("b"), || Ok(())).unwrap();
        temporaries.take(&1, OsStr::new("c"), failed).unwrap_err();
        let mut removed = Vec::new();
        temporaries.abort(|directory, name| removed.push((*directory, name.to_os_string())));
        assert_eq!(removed, [(1, "a".into()), (1, "c".into()), (2, "b".into())]);
        let (sender, receiver) = channel();
        let other = temporaries.clone();
        std::thread::spawn(move || {
            sender.send(()).unwrap();
            let _ = other.take(&1, OsStr::new("a"), || Ok(()));
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
    }

    #[test]
    fn what_holds_is_waited_for() {
        let temporaries = Arc::new(Temporaries::<u8>::new());
        let hold = temporaries.hold();
        // The thread that holds may go on.
        temporaries.add(&1, OsStr::new("a"), || Ok(())).unwrap();
        let (sender, receiver) = channel();
        let other = temporaries.clone();
        std::thread::spawn(move || {
            other.abort(|_, _| {});
            sender.send(()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(hold);
        receiver.recv().unwrap();
    }
}
