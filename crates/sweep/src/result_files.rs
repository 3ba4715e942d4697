//! The folder of a sweep: a file for each result, by its key. A file is there whole or not at all.
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_image::Error;
use serde::{Deserialize, Serialize};

/// Results of other versions of this format are done again.
pub const FORMAT: u32 = 1;

/// What a run has predicted. Times are picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    pub before_ps: u64,
    pub staying_ps: u64,
    pub migrating_ps: u64,
    pub host_to_nxp: u64,
    pub nxp_to_host: u64,
    pub nxp_instructions: u64,
    pub host_accesses: u64,
    pub nxp_accesses: u64,
    pub heap_peak_bytes: u64,
    pub threads: u64,
    /// Whether host code was built with `--flick-timed`.
    pub host_counted: bool,
    /// Whether another run has the same times.
    pub exact: bool,
}

/// A file of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    pub format: u32,
    pub flick: String,
    pub key: String,
    /// For people.
    pub platform: String,
    pub command: Vec<String>,
    pub measured: Measured,
}

/// A file of a point that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub key: String,
    pub platform: String,
    pub command: Vec<String>,
    pub why: String,
    /// The last lines of its standard error.
    pub stderr: String,
}

/// The folder.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    pub fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Makes its folders.
    pub fn create(&self) -> Result<(), Error> {
        for name in ["points", "failed", "builds"] {
            let dir = self.dir.join(name);
            fs::create_dir_all(&dir).map_err(|error| unusable(&dir, &error))?;
        }
        Ok(())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn build(&self, key: &str) -> PathBuf {
        self.dir.join("builds").join(key)
    }

    fn result_path(&self, key: &str) -> PathBuf {
        self.dir.join("points").join(format!("{key}.json"))
    }

    fn failure_path(&self, key: &str) -> PathBuf {
        self.dir.join("failed").join(format!("{key}.json"))
    }

    /// The result of this key. A file that cannot be read is as none.
    pub fn result(&self, key: &str) -> Option<Measured> {
        let text = fs::read(self.result_path(key)).ok()?;
        let file: ResultFile = serde_json::from_slice(&text).ok()?;
        (file.format == FORMAT && file.key == key).then_some(file.measured)
    }

    pub fn has_result(&self, key: &str) -> bool {
        self.result_path(key).exists()
    }

    pub fn has_ended(&self, key: &str) -> bool {
        self.has_result(key) || self.failure_path(key).exists()
    }

    /// Why the point of this key has failed.
    pub fn failure(&self, key: &str) -> Option<Failure> {
        let text = fs::read(self.failure_path(key)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub fn put_result(&self, file: &ResultFile) -> Result<(), Error> {
        put(&self.result_path(&file.key), file)?;
        self.forget_failure(&file.key)
    }

    pub fn put_failure(&self, failure: &Failure) -> Result<(), Error> {
        put(&self.failure_path(&failure.key), failure)
    }

    /// Before the point is tried again.
    pub fn forget_failure(&self, key: &str) -> Result<(), Error> {
        let path = self.failure_path(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(&path, &error)),
            _ => Ok(()),
        }
    }

    /// Removes a result that cannot be read, so that it does not count as one.
    pub fn forget_result(&self, key: &str) -> Result<(), Error> {
        let path = self.result_path(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(&path, &error)),
            _ => Ok(()),
        }
    }

    /// Keeps other sweeps away as long as the file lives. The kernel lets go of the lock where this
    /// process is killed.
    pub fn lock(&self) -> Result<File, Error> {
        let path = self.dir.join("lock");
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| unusable(&path, &error))?;
        // SAFETY: the descriptor is open, and the call takes numbers.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            return Err(Error::new(
                Code::FileAccess,
                "the results are in use",
                self.dir.display().to_string(),
                "another flick sweep writes there",
                "wait for it, or name another folder: --results DIR",
            ));
        }
        Ok(file)
    }
}

/// FLK0105 about a file or folder of the sweep.
pub fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be read or written",
        path.display().to_string(),
        error.to_string(),
        "check that the place exists, is writable and not full",
    )
}

/// Writes a document so that it is there whole, also behind a loss of power.
pub fn put(path: &Path, document: &impl Serialize) -> Result<(), Error> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(folder)?;
        let text = serde_json::to_vec(document).map_err(io::Error::other)?;
        file.write_all(&text)?;
        file.write_all(b"\n")?;
        file.as_file().sync_data()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| unusable(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_its_keys_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        store.create().unwrap();
        let file = ResultFile {
            format: FORMAT,
            flick: "1".into(),
            key: "k".into(),
            platform: "p".into(),
            command: vec!["c".into()],
            measured: Measured {
                before_ps: 7,
                ..Measured::default()
            },
        };
        assert_eq!(store.result("k"), None);
        store.put_result(&file).unwrap();
        assert_eq!(store.result("k"), Some(file.measured));
        assert!(store.has_ended("k") && !store.has_ended("other"));
        let path = store.result_path("k");
        let text = fs::read(&path).unwrap();
        // As a disk would leave it that has lost a part.
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert_eq!(store.result("k"), None);
        fs::write(store.result_path("other"), &text).unwrap();
        assert_eq!(store.result("other"), None);
    }

    #[test]
    fn one_sweep_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        let first = store.lock().unwrap();
        assert!(store.lock().is_err());
        drop(first);
        assert!(store.lock().is_ok());
    }
}
