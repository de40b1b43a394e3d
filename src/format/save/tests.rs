//! The state of a file after any operation on it has failed, or after the process has died there.

use super::super::file::load_from;
use super::super::file_system::faulty::{Fault, Faulty, Lacks};
use super::*;
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

const OLD: &str = "the old content\n";

/// Long enough for several writes, compressed or not.
fn new_content() -> String {
    let mut state = 1_u64;
    let mut digits = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{:x}\n", state >> 16)
    };
    (0..6000).map(|_| digits()).collect()
}

/// The kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    New,
    Existing,
    /// By a symbolic link.
    Linked,
    /// By a symbolic link to a file that is not there yet.
    Dangling,
    Compressed,
    /// It has two names.
    HardLinked,
}

const SUBJECTS: [Subject; 6] = [
    Subject::New,
    Subject::Existing,
    Subject::Linked,
    Subject::Dangling,
    Subject::Compressed,
    Subject::HardLinked,
];

/// A directory with a subject in it.
struct Scene {
    directory: TempDir,
    subject: Subject,
}

impl Scene {
    fn new(subject: Subject) -> Self {
        let scene = Self { directory: tempfile::tempdir().unwrap(), subject };
        if matches!(subject, Subject::Linked | Subject::Dangling) {
            fs::create_dir(scene.path("elsewhere")).unwrap();
        }
        match subject {
            Subject::New | Subject::Dangling => {}
            Subject::Compressed => {
                let file = fs::File::create(scene.target()).unwrap();
                let mut encoder = flate2::write::GzEncoder::new(file, Default::default());
                encoder.write_all(OLD.as_bytes()).unwrap();
                encoder.finish().unwrap();
            }
            _ => fs::write(scene.target(), OLD).unwrap(),
        }
        match subject {
            Subject::Linked | Subject::Dangling => {
                symlink("elsewhere/real.txt", scene.asked_for()).unwrap();
            }
            Subject::HardLinked => {
                fs::hard_link(scene.target(), scene.path("other.txt")).unwrap();
            }
            _ => {}
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The name that is given to `save`.
    fn asked_for(&self) -> PathBuf {
        self.path(match self.subject {
            Subject::Compressed => "file.txt.gz",
            _ => "file.txt",
        })
    }

    /// The file itself.
    fn target(&self) -> PathBuf {
        match self.subject {
            Subject::Linked | Subject::Dangling => self.path("elsewhere/real.txt"),
            _ => self.asked_for(),
        }
    }

    /// Its text; `None` where there is no file, an error where it is not whole.
    fn text(&self) -> Option<io::Result<String>> {
        let bytes = fs::read(self.target()).ok()?;
        Some(self.unpack(&bytes))
    }

    fn unpack(&self, bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        match self.subject {
            Subject::Compressed => GzDecoder::new(bytes).read_to_string(&mut text)?,
            _ => { bytes }.read_to_string(&mut text)?,
        };
        Ok(text)
    }

    /// Temporary files that are left.
    fn temporaries(&self) -> Vec<PathBuf> {
        let directories = [".", "elsewhere", "temporary"].map(|name| self.path(name));
        let files =
            directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten();
        let paths = files.map(|file| file.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "tmp")).collect()
    }

    fn save<F: FileSystem>(&self, files: &F, text: &str) -> Result<()> {
        save_to(files, &self.asked_for(), &mut |output| {
            text.split_inclusive('\n').try_for_each(|line| {
                output.text(line.trim_end());
                output.end_line()
            })
        })
    }

    fn faulty(&self, fault: Fault, at: usize, lacks: Lacks) -> Faulty {
        let temporary = self.path("temporary");
        if lacks.creating && !temporary.exists() {
            fs::create_dir(&temporary).unwrap();
        }
        Faulty::new(fault, at, lacks, temporary)
    }

    /// What is to be overwritten in place, so that a process that dies there leaves half of it.
    fn is_in_place(&self, lacks: Lacks) -> bool {
        match self.subject {
            Subject::New | Subject::Dangling => false,
            Subject::HardLinked => true,
            _ => lacks.attributes || lacks.replacing || lacks.creating,
        }
    }
}

/// Saves a subject with one fault, and checks what is left. Returns the operations.
#[track_caller]
fn check(subject: Subject, lacks: Lacks, fault: Fault, at: usize, new: &str) -> Vec<&'static str> {
    let scene = Scene::new(subject);
    let files = scene.faulty(fault, at, lacks);
    let result = scene.save(&files, new);
    let operations = files.operations();
    let at_fault = operations.get(at).copied();
    if (fault, at_fault) == (Fault::Error(libc::ENOENT), Some("status_of")) {
        // That is an answer, and no failure.
        return operations;
    }
    let case = format!("{subject:?} {lacks:?} {fault:?} at {at}, {at_fault:?}: {result:?}");
    let before = matches!(subject, Subject::New | Subject::Dangling);
    let (is_old, is_new) = match scene.text() {
        None => (before, false),
        Some(Ok(text)) => (text == OLD && !before, text == new),
        Some(Err(_)) => (false, false),
    };
    let error = result.as_ref().map_or_else(|error| error.to_string(), |()| String::new());
    let temporaries = scene.temporaries();
    let is_beside = || {
        temporaries
            .iter()
            .any(|path| scene.unpack(&fs::read(path).unwrap()).is_ok_and(|text| text == new))
    };
    if files.is_dead() {
        assert!(is_old || is_new || scene.is_in_place(lacks) && is_beside(), "half: {case}");
    } else if error.contains("; the new content is whole in .fastlbp-") {
        // Neither content could be written, in place.
        assert!(matches!(fault, Fault::Broken(_)) && scene.is_in_place(lacks), "half: {case}");
        assert!(is_beside(), "{case}");
    } else {
        assert!(is_old || is_new, "half: {case}");
        // All that can fail when the new content is there.
        let is_unsure =
            error.ends_with("; the file is complete, but its directory may not be on the disk");
        assert_eq!(result.is_ok() || is_unsure, is_new, "{case}");
        let is_last = matches!(fault, Fault::Error(_)) && at_fault == Some("sync_directory");
        assert!(!is_unsure || is_last || matches!(fault, Fault::Broken(_)), "{case}");
        let cannot_remove =
            matches!(fault, Fault::Broken(_)) || at_fault == Some("remove_temporary");
        assert!(temporaries.is_empty() || cannot_remove, "{temporaries:?}: {case}");
    }
    if result.is_err() {
        assert!(error.starts_with(&scene.asked_for().display().to_string()), "{case}");
    }
    let is_harmless = match fault {
        Fault::None | Fault::Short | Fault::Error(libc::EINTR) => true,
        // The next name will do.
        Fault::Error(libc::EEXIST) => at_fault.is_some_and(|name| name.ends_with("_temporary")),
        _ => false,
    };
    assert!(result.is_ok() || !is_harmless || at_fault == Some("rename_temporary"), "{case}");
    let link = fs::symlink_metadata(scene.asked_for());
    let is_link = link.is_ok_and(|link| link.is_symlink());
    assert_eq!(is_link, matches!(subject, Subject::Linked | Subject::Dangling), "{case}");
    if subject == Subject::HardLinked {
        let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(scene.target()), inode(scene.path("other.txt")), "{case}");
    }
    // Whatever is left does not disturb the next one.
    scene.save(&scene.faulty(Fault::None, 0, Lacks::default()), "next\n").unwrap();
    assert_eq!(scene.text().unwrap().unwrap(), "next\n", "{case}");
    operations
}

const ERRORS: [i32; 7] =
    [libc::EINTR, libc::EIO, libc::ENOSPC, libc::EACCES, libc::EEXIST, libc::ENOENT, libc::EBUSY];

/// Subjects that are treated in a special way.
const SPECIAL_ERRORS: [i32; 4] = [libc::EINTR, libc::EIO, libc::EACCES, libc::EEXIST];

/// Injects every fault at every operation. Returns all kinds of operations that there were.
fn check_all(subjects: &[Subject], lacks: Lacks, errors: &[i32]) -> Vec<&'static str> {
    let new = new_content();
    let mut seen = Vec::new();
    for &subject in subjects {
        let count = check(subject, lacks, Fault::None, 0, &new).len();
        assert!(count >= 8, "{subject:?}: {count}");
        let faults = errors.iter().copied().map(Fault::Error).chain([
            Fault::Broken(libc::EIO),
            Fault::Short,
            Fault::Death,
            Fault::DeathAfter,
        ]);
        for fault in faults {
            for at in 0.. {
                let operations = check(subject, lacks, fault, at, &new);
                seen.extend(&operations);
                if at >= operations.len() {
                    break;
                }
            }
        }
    }
    seen.sort_unstable();
    seen.dedup();
    seen
}

#[test]
fn every_operation_may_fail() {
    let seen = check_all(&SUBJECTS, Lacks::default(), &ERRORS);
    let wanted =
        ["link", "link_temporary", "open_descriptor", "rename_temporary", "sync_directory"];
    assert!(wanted.iter().all(|operation| seen.contains(operation)), "{seen:?}");
}

#[test]
fn every_operation_may_fail_where_all_files_have_names() {
    let seen =
        check_all(&SUBJECTS, Lacks { unnamed_files: true, ..Lacks::default() }, &SPECIAL_ERRORS);
    assert!(seen.contains(&"create_temporary") && !seen.contains(&"link_temporary"), "{seen:?}");
}

#[test]
fn every_operation_may_fail_where_nothing_can_be_linked() {
    let subjects = [Subject::New, Subject::Existing, Subject::Dangling, Subject::HardLinked];
    let seen = check_all(&subjects, Lacks { links: true, ..Lacks::default() }, &SPECIAL_ERRORS);
    assert!(seen.contains(&"create_temporary") && seen.contains(&"link_temporary"), "{seen:?}");
}

#[test]
fn every_operation_may_fail_where_files_are_overwritten_in_place() {
    for lacks in [
        Lacks { attributes: true, ..Lacks::default() },
        Lacks { replacing: true, unnamed_files: true, ..Lacks::default() },
        Lacks { creating: true, links: true, ..Lacks::default() },
    ] {
        let seen = check_all(&[Subject::Existing, Subject::Linked], lacks, &SPECIAL_ERRORS);
        assert!(seen.contains(&"set_length"), "{lacks:?}: {seen:?}");
    }
}

#[test]
fn every_operation_of_reading_may_fail() {
    let text = new_content();
    for subject in [Subject::Existing, Subject::Linked, Subject::Compressed] {
        let scene = Scene::new(subject);
        scene.save(&scene.faulty(Fault::None, 0, Lacks::default()), &text).unwrap();
        let faults = ERRORS.map(Fault::Error).into_iter().chain([Fault::Short]);
        for fault in faults {
            for at in 0.. {
                let files = scene.faulty(fault, at, Lacks::default());
                let result = load_from(&files, &scene.asked_for());
                let operations = files.operations();
                let case = format!("{subject:?} {fault:?} at {at}, {:?}", operations.get(at));
                match result {
                    Ok(bytes) => {
                        assert!(bytes == text.as_bytes(), "{case}");
                        let harmless = matches!(fault, Fault::Short | Fault::Error(libc::EINTR));
                        assert!(harmless || at >= operations.len(), "{case}");
                    }
                    Err(error) => {
                        let (error, named) = (error.to_string(), scene.asked_for());
                        assert!(error.starts_with(&named.display().to_string()), "{case}: {error}");
                        assert!(error.contains("os error"), "{case}: {error}");
                        let fatal = !matches!(fault, Fault::Short | Fault::Error(libc::EINTR));
                        assert!(fatal, "{case}: {error}");
                    }
                }
                if at >= operations.len() {
                    // Opening, status, content, end.
                    assert!(operations.len() >= 4, "{operations:?}");
                    break;
                }
            }
        }
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Writes a file with an arbitrary content, and looks at the directory in between.
fn save_and_look(files: &Faulty, path: &Path, look: impl Fn()) {
    save_to(files, path, &mut |output| {
        output.text("new");
        output.flush()?;
        look();
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(path).unwrap(), b"new");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.fg");
    fs::write(&path, "old").unwrap();
    let result = save(&path, &mut |output| {
        output.text("half");
        output.flush()?;
        Err(Error::Unsupported("no".into()))
    });
    assert!(matches!(result, Err(Error::Unsupported(_))));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_temporary_file_has_no_more_readers_than_the_target() {
    for unnamed_files in [false, true] {
        let scene = Scene::new(Subject::Existing);
        let lacks = Lacks { unnamed_files, ..Lacks::default() };
        let path = scene.asked_for();
        for wanted in [0o600, 0o640, 0o606, 0o444, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
            if wanted == 0o444 && fs::OpenOptions::new().write(true).open(&path).is_err() {
                // Only root may.
                continue;
            }
            save_and_look(&scene.faulty(Fault::None, 0, lacks), &path, || {
                let temporaries = scene.temporaries();
                assert_eq!(temporaries.len(), usize::from(unnamed_files));
                assert!(temporaries.iter().all(|path| mode(path) == 0o600));
            });
            assert_eq!(mode(&path), wanted);
        }
        // A new file is one like any other.
        let (new, other) = (scene.path("new.txt"), scene.path("another.txt"));
        save_and_look(&scene.faulty(Fault::None, 0, lacks), &new, || {});
        fs::File::create(&other).unwrap();
        assert_eq!(mode(&new), mode(&other));
    }
}

#[test]
fn rights_that_writing_takes_away_are_not_kept() {
    let scene = Scene::new(Subject::Existing);
    let path = scene.asked_for();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
    scene.save(&Native, "new\n").unwrap();
    assert_eq!(mode(&path), 0o755);
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let scene = Scene::new(Subject::Existing);
    let count = scene.faulty(Fault::None, 0, Lacks::default());
    scene.save(&count, OLD).unwrap();
    let operations = count.operations();
    let at = operations.iter().position(|&operation| operation == "check_writable").unwrap();
    assert!(!operations[..at].iter().any(|&operation| operation.starts_with("create")));
    let files = scene.faulty(Fault::Error(libc::EACCES), at, Lacks::default());
    let error = scene.save(&files, "new\n").unwrap_err().to_string();
    assert!(error.contains("Permission denied"), "{error}");
    assert_eq!(scene.text().unwrap().unwrap(), OLD);
}

#[test]
fn owner_and_group_are_kept_where_that_is_allowed() {
    let scene = Scene::new(Subject::Existing);
    let path = scene.asked_for();
    if std::os::unix::fs::chown(&path, Some(12_345), Some(23_456)).is_err() {
        let mut errors = io::stderr();
        writeln!(errors, "skipped: owner_and_group_are_kept: only root may give files away")
            .unwrap();
        return;
    }
    let before = fs::metadata(&path).unwrap();
    scene.save(&Native, "new\n").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid()), (12_345, 23_456));
    assert_ne!(before.ino(), after.ino());
    // Where it is not allowed, the same file gets the new content.
    let lacks = Lacks { attributes: true, ..Lacks::default() };
    scene.save(&scene.faulty(Fault::None, 0, lacks), "newer\n").unwrap();
    let last = fs::metadata(&path).unwrap();
    assert_eq!((last.uid(), last.gid(), last.ino()), (12_345, 23_456, after.ino()));
    assert_eq!(scene.text().unwrap().unwrap(), "newer\n");
}

#[test]
fn names_may_be_as_long_as_names_can_be() {
    let directory = tempfile::tempdir().unwrap();
    for end in ["", ".gz"] {
        let name = format!("{}{end}", "n".repeat(255 - end.len()));
        let path = directory.path().join(&name);
        for text in ["one\n", "two\n"] {
            save_text(&path, |sink| sink.write_all(text.as_bytes())).unwrap();
            assert_eq!(load_from(&Native, &path).unwrap(), text.as_bytes());
        }
        let error = save_text(&directory.path().join(name + "n"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("name too long"), "{error}");
    }
    // A path that is as long as paths can be leaves no room for a longer one.
    let start = format!("{}/", directory.path().display());
    let path = format!("{start}{}x", "./".repeat((4094 - start.len()) / 2));
    save_text(Path::new(&path), |_| Ok(())).unwrap();
    save_text(Path::new(&path), |_| Ok(())).unwrap();
}

#[test]
fn names_that_others_have_left_are_passed_over() {
    let scene = Scene::new(Subject::Existing);
    save_and_look(
        &scene.faulty(Fault::None, 0, Lacks { unnamed_files: true, ..Lacks::default() }),
        &scene.asked_for(),
        || {
            let taken = scene.temporaries();
            let name = taken[0].file_name().unwrap().to_str().unwrap().to_string();
            let (prefix, number) = name.strip_suffix(".tmp").unwrap().rsplit_once('-').unwrap();
            let number: u64 = number.parse().unwrap();
            // Other tests take some of them as well.
            for number in number + 1..number + 500 {
                fs::write(scene.path(&format!("{prefix}-{number}.tmp")), "left").unwrap();
            }
        },
    );
    let left = scene.temporaries().len();
    scene.save(&Native, "new\n").unwrap();
    assert_eq!(scene.text().unwrap().unwrap(), "new\n");
    assert_eq!(scene.temporaries().len(), left);
}

#[test]
fn a_link_to_itself_ends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("loop");
    symlink("loop", &path).unwrap();
    let error = save_text(&path, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("too many symbolic links"), "{error}");
}

/// The text that a descriptor has, and what came before and after it.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_continued() {
    use std::os::fd::AsRawFd;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"before\n").unwrap();
    let link = directory.path().join("link");
    symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).unwrap();
    for path in [link, format!("/proc/self/fd/{}", file.as_raw_fd()).into()] {
        save_text(&path, |sink| sink.write_all(b"new\n")).unwrap();
    }
    file.write_all(b"after\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "before\nnew\nnew\nafter\n");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
}

/// Content that takes long may find a directory that has changed.
#[test]
fn a_file_that_goes_while_it_is_written_anew() {
    for linked in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let [path, other] = ["a", "b"].map(|name| directory.path().join(name));
        fs::write(&path, OLD).unwrap();
        let saved = save_text(&path, |sink| {
            match linked {
                false => fs::remove_file(&path)?,
                true => fs::hard_link(&path, &other)?,
            }
            sink.write_all(b"new")
        });
        saved.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // The other name of a file gets its content.
        assert_eq!(fs::read(&other).ok(), linked.then(|| b"new".to_vec()));
    }
}
