//! Files of semihosting: the console, and files of the host in one folder.
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Files that are open at most.
const MOST: usize = 64;
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
    File,
}

#[derive(Debug)]
enum Opened {
    Input,
    Output,
    Features(io::Cursor<&'static [u8]>),
    File(File),
}

/// What is open. Handles begin with 1.
#[derive(Debug)]
pub struct HostFiles {
    folder: Option<PathBuf>,
    opened: Vec<Option<Opened>>,
}

fn error(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
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

    /// The handle of a file. `mode`: 0 to 11, as of `fopen` with r, r+, w, w+, a and a+ with and
    /// without b.
    pub fn open(&mut self, name: &[u8], mode: u64) -> io::Result<u64> {
        if mode > 11 {
            return Err(error(libc::EINVAL));
        }
        let opened = match name {
            CONSOLE if mode < 4 => Opened::Input,
            CONSOLE => Opened::Output,
            FEATURES if mode < 2 => Opened::Features(io::Cursor::new(FEATURE_BYTES)),
            FEATURES => return Err(error(libc::EACCES)),
            _ => {
                let path = self.path(name)?;
                if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
                    return Err(error(libc::EACCES));
                }
                let (kind, updates) = (mode / 4, mode & 2 != 0);
                let file = OpenOptions::new()
                    .read(kind == 0 || updates)
                    .write(kind == 1 || kind == 0 && updates)
                    .truncate(kind == 1)
                    .append(kind == 2)
                    .create(kind != 0)
                    .open(path)?;
                Opened::File(file)
            }
        };
        let free = self.opened.iter().position(Option::is_none);
        let at = free.unwrap_or(self.opened.len());
        if at >= MOST {
            return Err(error(libc::EMFILE));
        }
        if at == self.opened.len() {
            self.opened.push(None);
        }
        self.opened[at] = Some(opened);
        Ok(at as u64 + 1)
    }

    fn place(&mut self, handle: u64) -> io::Result<&mut Option<Opened>> {
        let at = handle.checked_sub(1).map(|at| at as usize);
        let place = at.and_then(|at| self.opened.get_mut(at));
        place
            .filter(|place| place.is_some())
            .ok_or(error(libc::EBADF))
    }

    fn file(&mut self, handle: u64) -> io::Result<&mut Opened> {
        self.place(handle)?.as_mut().ok_or(error(libc::EBADF))
    }

    pub fn close(&mut self, handle: u64) -> io::Result<()> {
        *self.place(handle)? = None;
        Ok(())
    }

    pub fn kind(&mut self, handle: u64) -> io::Result<Kind> {
        Ok(match self.file(handle)? {
            Opened::Input => Kind::Input,
            Opened::Output => Kind::Output,
            Opened::Features(_) | Opened::File(_) => Kind::File,
        })
    }

    pub fn write(&mut self, handle: u64, bytes: &[u8]) -> io::Result<usize> {
        match self.file(handle)? {
            Opened::File(file) => file.write(bytes),
            _ => Err(error(libc::EBADF)),
        }
    }

    /// Up to `most` bytes; none: the end.
    pub fn read(&mut self, handle: u64, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![];
        let most = most as u64;
        match self.file(handle)? {
            Opened::File(file) => file.take(most).read_to_end(&mut bytes)?,
            Opened::Features(list) => list.take(most).read_to_end(&mut bytes)?,
            _ => return Err(error(libc::EBADF)),
        };
        Ok(bytes)
    }

    pub fn seek(&mut self, handle: u64, position: u64) -> io::Result<()> {
        match self.file(handle)? {
            Opened::File(file) => file.seek(SeekFrom::Start(position)).map(|_| ()),
            Opened::Features(list) => list.seek(SeekFrom::Start(position)).map(|_| ()),
            _ => Err(error(libc::ESPIPE)),
        }
    }

    pub fn length(&mut self, handle: u64) -> io::Result<u64> {
        match self.file(handle)? {
            Opened::File(file) => Ok(file.metadata()?.len()),
            Opened::Features(_) => Ok(FEATURE_BYTES.len() as u64),
            _ => Ok(0),
        }
    }

    pub fn remove(&mut self, name: &[u8]) -> io::Result<()> {
        fs::remove_file(self.path(name)?)
    }

    pub fn rename(&mut self, from: &[u8], to: &[u8]) -> io::Result<()> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        match fs::metadata(&from)?.is_file() {
            true => fs::rename(from, to),
            false => Err(error(libc::EACCES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let root = std::env::temp_dir().join(format!("flick-host-files-{}", std::process::id()));
        let folder = root.join("in");
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(root.join("out"), "secret").unwrap();
        std::os::unix::fs::symlink(root.join("out"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(&root, folder.join("up")).unwrap();
        let mut files = HostFiles::new(Some(folder.clone()));
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
            assert!(files.remove(name.as_bytes()).is_err(), "{name}");
        }
        let out = root.join("out");
        assert!(files.open(out.as_os_str().as_bytes(), 0).is_err());
        assert_eq!(fs::read(&out).unwrap(), b"secret");

        let handle = files.open(b"below/new", 6).unwrap();
        assert_eq!(files.write(handle, b"abc").unwrap(), 3);
        files.seek(handle, 1).unwrap();
        assert_eq!(files.read(handle, 9).unwrap(), b"bc");
        assert_eq!((files.length(handle).unwrap(), handle), (3, 1));
        files.close(handle).unwrap();
        assert!(files.close(handle).is_err() && files.kind(handle).is_err());
        files.rename(b"below/new", b"moved").unwrap();
        files.remove(b"moved").unwrap();
        assert!(files.open(b":tt", 12).is_err());
        let most = (0..MOST + 5).filter(|_| files.open(b":tt", 4).is_ok());
        assert_eq!(most.count(), MOST);
        assert!(HostFiles::new(None).open(b"x", 0).is_err());
        fs::remove_dir_all(root).unwrap();
    }
}
