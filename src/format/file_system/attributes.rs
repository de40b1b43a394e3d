//! Linux: extended attributes that a file keeps when its content is replaced.

use crate::memory::filled;
use rustix::fs::{self, XattrFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind};

/// The attribute with the access control list of a file.
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// Limits of Linux in bytes: of a value, and of the list of names.
const LONGEST: usize = 1 << 16;

/// Copies the access control list, the security label and the user attributes from `old` to `new`, and removes an
/// access control list that `new` inherited from its directory. Attributes derived from the content are not copied.
pub(super) fn copy(old: &File, new: &File) -> io::Result<()> {
    let list = names(old)?;
    let kept = |name: &CStr| {
        let bytes = name.to_bytes();
        name == ACCESS_LIST
            || bytes == b"security.selinux"
            || bytes == b"security.SMACK64"
            || bytes.starts_with(b"user.")
    };
    for name in each(&list).filter(|name| kept(name)) {
        let Some(wanted) = value(old, name)? else { continue };
        if value(new, name)?.as_ref() != Some(&wanted) {
            fs::fsetxattr(new, name, &wanted, XattrFlags::empty())?;
        }
    }
    if !each(&list).any(|name| name == ACCESS_LIST) && value(new, ACCESS_LIST)?.is_some() {
        fs::fremovexattr(new, ACCESS_LIST)?;
    }
    Ok(())
}

/// The names of a file's attributes, each with a 0 at its end; none where there are no attributes.
fn names(file: &File) -> io::Result<Vec<u8>> {
    let mut list = buffer()?;
    match fs::flistxattr(file, &mut list[..]) {
        Ok(length) => list.truncate(length),
        Err(Errno::NOTSUP | Errno::NOSYS) => list.clear(),
        Err(error) => return Err(error.into()),
    }
    Ok(list)
}

fn buffer() -> io::Result<Vec<u8>> {
    filled(LONGEST, 0).map_err(|_| ErrorKind::OutOfMemory.into())
}

fn each(list: &[u8]) -> impl Iterator<Item = &CStr> {
    list.split_inclusive(|&byte| byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok())
}

fn value(file: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    let mut value = buffer()?;
    match fs::fgetxattr(file, name, &mut value[..]) {
        Ok(length) => value.truncate(length),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::save_text;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// An access list as Linux stores it: the owner and user 12345 may read and write, the group and
    /// others nothing.
    fn access_list() -> Vec<u8> {
        let nobody = u32::MAX;
        let entries = [
            (0x01_u16, 6_u16, nobody),
            (0x02, 6, 12_345),
            (0x04, 0, nobody),
            (0x10, 6, nobody),
            (0x20, 0, nobody),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, id) in entries {
            list.extend(tag.to_le_bytes());
            list.extend(permissions.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        list
    }

    /// Sets an attribute; `false`, reported as skipped, where the file system has none.
    fn set(path: &Path, name: &CStr, value: &[u8]) -> bool {
        let set = fs::setxattr(path, name, value, XattrFlags::empty());
        if let Err(error) = &set {
            let mut errors = io::stderr();
            writeln!(errors, "skipped: extended attributes, {name:?}: {error}").unwrap();
        }
        set.is_ok()
    }

    fn get(path: &Path, name: &CStr) -> Option<Vec<u8>> {
        value(&File::open(path).unwrap(), name).unwrap()
    }

    fn write(path: &Path) {
        save_text(path, |sink| sink.write_all(b"new\n")).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"new\n");
    }

    #[test]
    fn a_file_keeps_its_access_list_and_the_attributes_of_its_user() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let (name, list) = (c"user.fastlbp", access_list());
        if !set(&path, ACCESS_LIST, &list) || !set(&path, name, b"value") {
            return;
        }
        write(&path);
        assert_eq!(get(&path, ACCESS_LIST), Some(list));
        assert_eq!(get(&path, name).as_deref(), Some(&b"value"[..]));
    }

    #[test]
    fn a_file_without_an_access_list_inherits_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).unwrap();
        if !set(directory.path(), c"system.posix_acl_default", &access_list()) {
            return;
        }
        write(&path);
        assert_eq!(get(&path, ACCESS_LIST), None);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o660);
        // A new one does.
        let new = directory.path().join("new");
        write(&new);
        assert!(get(&new, ACCESS_LIST).is_some());
    }
}
