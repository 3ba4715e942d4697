//! Files of semihosting: the console, and files of the host in one folder.
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Files that are open at most.
pub(super) const MOST: usize = 64;
/// The last mode that a file is opened in.
pub(super) const LAST_MODE: u64 = 11;
/// The console's name, and that of the list of what this implementation has.
const CONSOLE: &[u8] = b":tt";
const FEATURES: &[u8] = b":semihosting-features";
/// The magic bytes, and: there is `SYS_EXIT_EXTENDED`, and both output and error output.
const FEATURE_BYTES: &[u8] = b"SHFB\x03";

/// What a handle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Input,
    Output,
    Features,
    File,
}

/// What a handle leads to.
#[derive(Debug)]
pub(super) enum Opened {
    Input,
    Output,
    /// The place in [`FEATURE_BYTES`].
    Features(u64),
    File(HostFile),
}

/// A file that a program has open.
#[derive(Debug)]
pub(super) struct HostFile {
    pub name: Vec<u8>,
    /// As of [`HostFiles::open`].
    pub mode: u64,
    /// Where the program goes on.
    pub position: u64,
    /// `None`: it is opened when it is needed, because a run goes on from a snapshot or repeats.
    pub file: Option<File>,
}

/// A file that a program had open, and which cannot be opened again.
#[derive(Debug, thiserror::Error)]
#[error("the program has the file `{name}` open, and it cannot be opened again: {error}")]
pub struct UnopenedFile {
    name: String,
    error: io::Error,
}

/// What is open. Handles begin with 1.
#[derive(Debug)]
pub struct HostFiles {
    folder: Option<PathBuf>,
    pub(super) opened: Vec<Option<Opened>>,
}

pub(super) fn error(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// Files that are opened in this mode, for the first time or once more.
fn options(mode: u64, is_new: bool) -> OpenOptions {
    let (kind, updates) = (mode / 4, mode & 2 != 0);
    let mut options = OpenOptions::new();
    options
        .read(kind == 0 || updates)
        .write(kind == 1 || kind == 0 && updates)
        .append(kind == 2)
        .truncate(kind == 1 && is_new)
        .create(kind != 0 && is_new);
    options
}

impl HostFiles {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            opened: vec![],
        }
    }

    /// The path of a name that leads to a file in the folder, by no link out of it.
    fn path(&self, name: &[u8]) -> io::Result<PathBuf> {
        let folder = self.folder.as_ref().ok_or(error(libc::EACCES))?;
        let folder = folder.canonicalize()?;
        let name = Path::new(OsStr::from_bytes(name));
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if name.as_os_str().as_bytes().contains(&0) || !name.components().all(is_plain) {
            return Err(error(libc::EACCES));
        }
        let path = folder.join(name);
        let parent = path.parent().ok_or(error(libc::EACCES))?.canonicalize()?;
        let file = path.file_name().ok_or(error(libc::EISDIR))?;
        let path = parent.join(file);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        match parent.starts_with(&folder) && !is_link {
            true => Ok(path),
            false => Err(error(libc::EACCES)),
        }
    }

    /// What a name is that needs no file, and whether `mode` can be. The mode is 0 to 11, as of `fopen`
    /// with r, r+, w, w+, a and a+ with and without b.
    pub(super) fn known(name: &[u8], mode: u64) -> io::Result<Option<Opened>> {
        match name {
            _ if mode > LAST_MODE => Err(error(libc::EINVAL)),
            CONSOLE if mode < 4 => Ok(Some(Opened::Input)),
            CONSOLE => Ok(Some(Opened::Output)),
            FEATURES if mode < 2 => Ok(Some(Opened::Features(0))),
            FEATURES => Err(error(libc::EACCES)),
            _ => Ok(None),
        }
    }

    /// Opens a file of the host: again, if it is not new.
    pub(super) fn open_file(&self, name: &[u8], mode: u64, is_new: bool) -> io::Result<File> {
        let path = self.path(name)?;
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(error(libc::EACCES));
        }
        options(mode, is_new).open(path)
    }

    /// The next handle's place.
    pub(super) fn free_place(&self) -> io::Result<usize> {
        let free = self.opened.iter().position(Option::is_none);
        let at = free.unwrap_or(self.opened.len());
        match at < MOST {
            true => Ok(at),
            false => Err(error(libc::EMFILE)),
        }
    }

    /// Puts what is open at its place. Returns the handle.
    pub(super) fn put(&mut self, at: usize, opened: Opened) -> u64 {
        if at == self.opened.len() {
            self.opened.push(None);
        }
        self.opened[at] = Some(opened);
        at as u64 + 1
    }

    fn place(&mut self, handle: u64) -> io::Result<&mut Option<Opened>> {
        let at = handle.checked_sub(1).map(|at| at as usize);
        let place = at.and_then(|at| self.opened.get_mut(at));
        place
            .filter(|place| place.is_some())
            .ok_or(error(libc::EBADF))
    }

    pub(super) fn entry(&mut self, handle: u64) -> io::Result<&mut Opened> {
        self.place(handle)?.as_mut().ok_or(error(libc::EBADF))
    }

    pub fn close(&mut self, handle: u64) -> io::Result<()> {
        *self.place(handle)? = None;
        Ok(())
    }

    pub fn kind(&mut self, handle: u64) -> io::Result<Kind> {
        Ok(match self.entry(handle)? {
            Opened::Input => Kind::Input,
            Opened::Output => Kind::Output,
            Opened::Features(_) => Kind::Features,
            Opened::File(_) => Kind::File,
        })
    }

    /// The host's file of a handle, and its entry.
    fn host_file(&mut self, handle: u64) -> io::Result<(&mut File, u64, u64)> {
        let (name, mode, is_closed) = match self.entry(handle)? {
            Opened::File(file) => (file.name.clone(), file.mode, file.file.is_none()),
            _ => return Err(error(libc::EBADF)),
        };
        let again = match is_closed {
            true => Some(self.open_file(&name, mode, false)?),
            false => None,
        };
        let Opened::File(HostFile { file, position, .. }) = self.entry(handle)? else {
            return Err(error(libc::EBADF));
        };
        let file = match again {
            Some(again) => file.insert(again),
            None => file.as_mut().ok_or(error(libc::EBADF))?,
        };
        Ok((file, *position, mode))
    }

    /// Writes to a file. Returns how much was written, and the position behind it.
    pub(super) fn write(&mut self, handle: u64, bytes: &[u8]) -> io::Result<(u64, u64)> {
        let (file, position, mode) = self.host_file(handle)?;
        file.seek(SeekFrom::Start(position))?;
        let size = file.write(bytes)? as u64;
        let end = match mode / 4 {
            // It was written to the end of the file, wherever the position was.
            2 => file.stream_position()?,
            _ => position.saturating_add(size),
        };
        Ok((size, end))
    }

    /// Up to `most` bytes of a file; none: the end.
    pub(super) fn read(&mut self, handle: u64, most: usize) -> io::Result<Vec<u8>> {
        let (file, position, _) = self.host_file(handle)?;
        let mut bytes = vec![];
        file.seek(SeekFrom::Start(position))?;
        file.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The list's bytes from where it was read, if the handle is of it.
    pub(super) fn read_features(&mut self, handle: u64, most: usize) -> io::Result<Vec<u8>> {
        let Opened::Features(position) = self.entry(handle)? else {
            return Err(error(libc::EBADF));
        };
        let start = usize::try_from(*position).unwrap_or(usize::MAX);
        let left = FEATURE_BYTES.get(start..).unwrap_or_default();
        let bytes = &left[..left.len().min(most)];
        *position += bytes.len() as u64;
        Ok(bytes.to_vec())
    }

    pub fn seek(&mut self, handle: u64, to: u64) -> io::Result<()> {
        let position = match self.entry(handle)? {
            Opened::File(file) => &mut file.position,
            Opened::Features(position) => position,
            _ => return Err(error(libc::ESPIPE)),
        };
        // The host's positions are signed.
        if i64::try_from(to).is_err() {
            return Err(error(libc::EINVAL));
        }
        *position = to;
        Ok(())
    }

    /// Bytes of what is no file.
    pub(super) fn known_length(&mut self, handle: u64) -> io::Result<Option<u64>> {
        Ok(match self.entry(handle)? {
            Opened::File(_) => None,
            Opened::Features(_) => Some(FEATURE_BYTES.len() as u64),
            _ => Some(0),
        })
    }

    pub(super) fn length(&mut self, handle: u64) -> io::Result<u64> {
        let (file, ..) = self.host_file(handle)?;
        Ok(file.metadata()?.len())
    }

    pub(super) fn remove(&mut self, name: &[u8]) -> io::Result<()> {
        fs::remove_file(self.path(name)?)
    }

    pub(super) fn rename(&mut self, from: &[u8], to: &[u8]) -> io::Result<()> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        match fs::metadata(&from)?.is_file() {
            true => fs::rename(from, to),
            false => Err(error(libc::EACCES)),
        }
    }

    /// Opens all files that a program has open, so that what is missing is known at once.
    pub fn open_all(&mut self) -> Result<(), UnopenedFile> {
        for handle in 1..=self.opened.len() as u64 {
            if !matches!(self.kind(handle), Ok(Kind::File)) {
                continue;
            }
            let opened = self.host_file(handle).map(|_| ());
            if let (Err(error), Ok(Opened::File(file))) = (opened, self.entry(handle)) {
                let name = String::from_utf8_lossy(&file.name).into_owned();
                return Err(UnopenedFile { name, error });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeated_calls::{Around, Calls};
    use super::*;
    use crate::hart_order::Console;
    use crate::outside::Outside;

    struct Quiet;

    impl Console for Quiet {
        fn output(&mut self, _: &[u8]) {}
    }

    /// Files as calls reach them.
    struct Reached(HostFiles, Outside<'static>);

    impl Reached {
        fn new(folder: Option<PathBuf>) -> Self {
            Self(HostFiles::new(folder), Outside::default())
        }

        fn with<R>(&mut self, f: impl FnOnce(&mut Calls<'_, '_, '_>) -> R) -> R {
            let around = &mut Around {
                outside: &mut self.1,
                console: &mut Quiet,
                time: 0,
                tile: 0,
            };
            f(&mut Calls {
                files: &mut self.0,
                around,
            })
        }

        fn open(&mut self, name: &[u8], mode: u64) -> io::Result<u64> {
            self.with(|calls| calls.open(name, mode))
        }
    }

    #[test]
    fn names_stay_in_the_folder() {
        let root = std::env::temp_dir().join(format!("flick-host-files-{}", std::process::id()));
        let folder = root.join("in");
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(root.join("out"), "secret").unwrap();
        std::os::unix::fs::symlink(root.join("out"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(&root, folder.join("up")).unwrap();
        let mut files = Reached::new(Some(folder.clone()));
        for name in [
            "../out",
            "link",
            "up/out",
            "below/../../out",
            "",
            ".",
            "a\0b",
        ] {
            assert!(files.open(name.as_bytes(), 0).is_err(), "{name}");
            assert!(files.open(name.as_bytes(), 4).is_err(), "{name}");
            assert!(
                files.with(|calls| calls.remove(name.as_bytes())).is_err(),
                "{name}"
            );
        }
        let out = root.join("out");
        assert!(files.open(out.as_os_str().as_bytes(), 0).is_err());
        assert_eq!(fs::read(&out).unwrap(), b"secret");

        let handle = files.open(b"below/new", 6).unwrap();
        files.with(|calls| {
            assert_eq!(calls.write(handle, b"abc").unwrap(), 3);
            calls.files.seek(handle, 1).unwrap();
            assert_eq!(calls.read(handle, 9).unwrap(), b"bc");
            assert_eq!((calls.length(handle).unwrap(), handle), (3, 1));
            calls.files.close(handle).unwrap();
            assert!(calls.files.close(handle).is_err() && calls.files.kind(handle).is_err());
            calls.rename(b"below/new", b"moved").unwrap();
        });
        // What is appended is behind all, and so is the position.
        let handle = files.open(b"moved", 10).unwrap();
        files.with(|calls| {
            assert_eq!(calls.read(handle, 1).unwrap(), b"a");
            assert_eq!(calls.write(handle, b"d").unwrap(), 1);
            assert_eq!(calls.read(handle, 1).unwrap(), b"");
            calls.files.seek(handle, 2).unwrap();
            assert_eq!(calls.read(handle, 9).unwrap(), b"cd");
            assert!(calls.files.seek(handle, 1 << 63).is_err());
            calls.files.close(handle).unwrap();
            calls.remove(b"moved").unwrap();
        });
        assert!(files.open(b":tt", 12).is_err());
        let most = (0..MOST + 5).filter(|_| files.open(b":tt", 4).is_ok());
        assert_eq!(most.count(), MOST);
        assert!(Reached::new(None).open(b"x", 0).is_err());
        fs::remove_dir_all(root).unwrap();
    }
}
