//! Output of the tools: a file is there whole or not at all, and a failed write is an error.
use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use tempfile::{NamedTempFile, TempPath};

use crate::{Error, Result};

/// Writes `bytes` to the file at `path`, as [`replace`] does.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |out| out.write_all(bytes))
}

/// Puts a file with what `content` writes at `path`. An earlier one stays as it was until the new
/// one is whole, and for good where there is an error. A device or a pipe is written to.
pub fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    put(path, content, |_| Ok(()))
}

/// As [`write`]; an earlier file becomes `NAME.old`, once there is a new one.
pub fn write_keeping_old(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, |out| out.write_all(bytes), keep_old)
}

/// An earlier file becomes `NAME.old`, as perf has it.
pub fn keep_old(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() && about.len() > 0 => {
            let mut old = path.as_os_str().to_owned();
            old.push(".old");
            fs::rename(path, old)
        }
        _ => Ok(()),
    }
}

/// A file that another process writes, and that gets its name once it is whole. Without
/// [`Pending::persist`] it is gone in the end.
#[derive(Debug)]
pub struct Pending {
    temporary: TempPath,
    target: PathBuf,
}

/// Makes an empty file beside `path`, which is to become it.
pub fn pending(path: &Path) -> io::Result<Pending> {
    let path = std::path::absolute(path)?;
    let target = fs::canonicalize(&path).unwrap_or(path);
    Ok(Pending {
        temporary: beside(&target)?.into_temp_path(),
        target,
    })
}

impl Pending {
    /// Where it is until then; absolute.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// An earlier file becomes `NAME.old`.
    pub fn move_old(&self) -> io::Result<()> {
        keep_old(&self.target)
    }

    /// Gives it its name. An earlier file becomes `NAME.old`.
    pub fn persist(self) -> io::Result<()> {
        self.move_old()?;
        let persisted = self.temporary.persist(&self.target);
        persisted.map_err(|error| error.error)
    }
}

fn put(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    before: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let about = fs::metadata(path).ok();
    let in_place = || File::options().write(true).truncate(true).open(path);
    if about.as_ref().is_some_and(|about| !about.is_file()) {
        return fill(in_place()?, content).map(drop);
    }
    // What a link leads to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = match beside(&target) {
        // The directory takes no new file; the one that is there may take what is new.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && about.is_some() => {
            return fill(in_place()?, content).map(drop);
        }
        result => result?,
    };
    let (file, temporary) = beside.into_parts();
    let file = fill(file, content)?;
    if let Some(about) = about {
        file.set_permissions(about.permissions())?;
    }
    before(path)?;
    temporary.persist(&target).map_err(|error| error.error)
}

/// A file that is to become `target`: in the same directory, for a name moves within a file system
/// only.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    tempfile::Builder::new()
        .prefix(".flick-")
        // As of any new file; the umask takes its part.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
}

fn fill(
    file: File,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    out.into_inner().map_err(|error| error.into_error())
}

/// Writes `bytes` to standard output, and to where that leads at once. FLK0105.
pub fn stdout(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| stdout_error(&error))
}

/// Writes a line, or several, to standard error. An error of that has no reader, and is dropped.
pub fn message(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// What cannot be written to standard output: FLK0105.
pub fn stdout_error(error: &io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be written",
        "standard output",
        error.to_string(),
        "check that where it leads to is not full",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(out: &mut BufWriter<File>) -> io::Result<()> {
        out.write_all(b"half")?;
        out.flush()?;
        Err(io::Error::from_raw_os_error(28))
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page");
        assert!(replace(&path, failing).is_err());
        assert_eq!(names(dir.path()), [""; 0]);
        write(&path, b"first").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(replace(&path, failing).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(names(dir.path()), ["page"]);
    }

    #[test]
    fn a_new_file_has_the_modes_of_any() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |name| {
            let about = fs::metadata(dir.path().join(name)).unwrap();
            about.permissions().mode()
        };
        File::create(dir.path().join("any")).unwrap();
        write(&dir.path().join("ours"), b"").unwrap();
        assert_eq!(mode("ours"), mode("any"));
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "first").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, b"second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"second");
    }

    #[test]
    fn a_device_is_written_to() {
        write(Path::new("/dev/null"), b"text").unwrap();
        let full = write(Path::new("/dev/full"), b"text").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn what_another_process_writes_is_whole_or_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        fs::write(&path, "first").unwrap();
        let lost = pending(&path).unwrap();
        fs::write(lost.path(), "half").unwrap();
        drop(lost);
        assert_eq!(names(dir.path()), ["trace"]);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        let whole = pending(&path).unwrap();
        assert!(whole.path().is_absolute());
        fs::write(whole.path(), "second").unwrap();
        whole.persist().unwrap();
        assert_eq!(names(dir.path()), ["trace", "trace.old"]);
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read(dir.path().join("trace.old")).unwrap(), b"first");
    }

    #[test]
    fn the_earlier_one_is_kept_once_there_is_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        write_keeping_old(&path, b"first").unwrap();
        assert_eq!(names(dir.path()), ["list"]);
        assert!(put(&path, failing, keep_old).is_err());
        assert_eq!(names(dir.path()), ["list"]);
        write_keeping_old(&path, b"second").unwrap();
        assert_eq!(names(dir.path()), ["list", "list.old"]);
        assert_eq!(fs::read(dir.path().join("list.old")).unwrap(), b"first");
        assert_eq!(fs::read(&path).unwrap(), b"second");
        keep_old(Path::new("/dev/null")).unwrap();
    }
}
