//! Translations that one link keeps for the next (`docs/translator.md`, "From one link to the next").
//!
//! A file of the cache has the records of one output's functions. It is an aid, so nothing that goes
//! wrong with it is an error. It is read as a stranger's: the checksum tells damage, the stamp tells
//! another build of Flick, and the translator reads each record with checks of its own.
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flick_abi::layout::TRANSLATION_ABI;
use flick_translator::{Kept, Made};
use object::Object;
use object::read::ReadCache;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

/// `--flick-translation-cache`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The user's cache directory.
    #[default]
    Usual,
    /// Another directory.
    In(PathBuf),
    /// There is none.
    Off,
}

impl Choice {
    /// From the option's value.
    pub fn of(value: &OsStr) -> Self {
        if value == "off" {
            Self::Off
        } else {
            Self::In(value.into())
        }
    }

    /// The option's value.
    pub fn value(&self) -> Option<&OsStr> {
        match self {
            Self::Usual => None,
            Self::In(dir) => Some(dir.as_os_str()),
            Self::Off => Some(OsStr::new("off")),
        }
    }

    fn dir(&self) -> Option<PathBuf> {
        let usual = || {
            // By the XDG Base Directory Specification relative paths count for nothing.
            let dir = |name| std::env::var_os(name).map(PathBuf::from);
            let absolute = |name| dir(name).filter(|dir| dir.is_absolute());
            let caches = absolute("XDG_CACHE_HOME");
            let caches = caches.or_else(|| Some(absolute("HOME")?.join(".cache")))?;
            Some(caches.join("flick/translations"))
        };
        match self {
            Self::Usual => usual(),
            Self::In(dir) => Some(dir.clone()),
            Self::Off => None,
        }
    }
}

const MAGIC: &[u8; 8] = b"FLICKTR1";
/// The magic, the stamp, the checksum of what follows.
const HEADER: usize = 8 + 16 + 16;
const EXTENSION: &str = "translations";
/// Of files that are being written.
const UNFINISHED: &str = ".unfinished-";
/// Bytes of all files, at most. Those that were not used for the longest time go.
const MOST: u64 = 512 << 20;
/// It has a byte for each file that was written since links last looked for room, and one more for
/// each MiB of it.
const WRITTEN: &str = ".written";
/// Bytes of [`WRITTEN`] when it is time to look again. A look at all files at each link would take
/// longer than a small link.
const TIME_TO_LOOK: u64 = 64;

/// The file for one output.
#[derive(Debug)]
pub struct TranslationCache {
    file: PathBuf,
    stamp: u128,
    /// What it has; empty: nothing of use.
    bytes: Vec<u8>,
}

impl TranslationCache {
    /// Of the link that makes `output`. `None`: translations are not kept.
    pub fn open(choice: &Choice, output: &Path) -> Option<Self> {
        let output = std::path::absolute(output).ok()?;
        let name = xxh3_64(output.as_os_str().as_bytes());
        let file = choice.dir()?.join(format!("{name:016x}.{EXTENSION}"));
        let stamp = own_stamp().ok()?;
        let bytes = read(&file, stamp).unwrap_or_default();
        Some(Self { file, stamp, bytes })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The translations in it.
    pub fn kept(&self) -> Kept<'_> {
        let mut kept = Kept::default();
        for (key, record) in Records(&self.bytes) {
            kept.add(key, record);
        }
        kept
    }

    /// Keeps what a link has made, and nothing else.
    pub fn keep(&self, made: &Made) {
        let mut body = Vec::with_capacity(self.bytes.len());
        for (key, record) in &made.records {
            body.extend(key.to_le_bytes());
            body.extend((record.len() as u64).to_le_bytes());
            body.extend_from_slice(record);
        }
        if body == self.bytes {
            // It was of use.
            let file = File::open(&self.file);
            let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        } else {
            let _ = self.write(&body);
        }
    }

    /// Others see the old file or the new one.
    fn write(&self, body: &[u8]) -> io::Result<()> {
        let dir = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut file: NamedTempFile = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(dir)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.stamp.to_le_bytes())?;
        file.write_all(&xxh3_128(body).to_le_bytes())?;
        file.write_all(body)?;
        file.persist(&self.file)?;
        if count_written(dir, body.len())? {
            make_room(dir, MOST)?;
        }
        Ok(())
    }
}

/// Keys and records of a file's contents, up to the first that is none.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u128, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, rest) = self.0.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (record, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((u128::from_le_bytes(*key), record))
    }
}

/// The records in a file that this build of Flick and this user have written.
fn read(path: &Path, stamp: u128) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let user = fs::metadata("/proc/self").ok()?.uid();
    if !metadata.is_file() || metadata.uid() != user || metadata.len() > MOST {
        return None;
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header).ok()?;
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.read_to_end(&mut bytes).ok()?;
    let mut wanted = MAGIC.to_vec();
    wanted.extend(stamp.to_le_bytes());
    wanted.extend(xxh3_128(&bytes).to_le_bytes());
    (header[..] == wanted[..]).then_some(bytes)
}

/// Of this build of Flick: what makes the code is in it.
fn own_stamp() -> io::Result<u128> {
    let mut hash = Xxh3::new();
    hash.update(&TRANSLATION_ABI.to_le_bytes());
    let path = "/proc/self/exe";
    let read = ReadCache::new(File::open(path)?);
    let build_id = object::File::parse(&read).ok();
    let build_id = build_id.and_then(|file| file.build_id().ok()??.to_vec().into());
    match build_id {
        Some(id) => hash.update(&id),
        None => hash.update(&fs::read(path)?),
    }
    Ok(hash.digest128())
}

/// Counts a file of so many bytes. True: it is time to look for room, and the count begins anew. Links
/// at once may count a file too few or look twice, which does no harm.
fn count_written(dir: &Path, bytes: usize) -> io::Result<bool> {
    let path = dir.join(WRITTEN);
    let mut written = File::options().append(true).create(true).open(path)?;
    written.write_all(&vec![b'.'; 1 + (bytes >> 20)])?;
    let is_time = written.metadata()?.len() >= TIME_TO_LOOK;
    if is_time {
        written.set_len(0)?;
    }
    Ok(is_time)
}

/// Removes files until there are at most so many bytes of them: those that were not used for the
/// longest time.
fn make_room(dir: &Path, most: u64) -> io::Result<()> {
    /// Nobody writes for so long.
    const HOUR: Duration = Duration::from_secs(3600);
    let now = SystemTime::now();
    let mut all = vec![];
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name: OsString = entry.file_name();
        let is_own = Path::new(&name).extension() == Some(EXTENSION.as_ref());
        let is_unfinished = name.as_bytes().starts_with(UNFINISHED.as_bytes());
        // It may be gone.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let used = metadata.modified()?;
        let age = now.duration_since(used).unwrap_or_default();
        if is_unfinished && age > HOUR {
            let _ = fs::remove_file(entry.path());
        } else if is_own {
            all.push((used, metadata.len(), entry.path()));
        }
    }
    all.sort();
    let mut size: u64 = all.iter().map(|(_, len, _)| len).sum();
    for (_, len, path) in all {
        if size <= most {
            break;
        }
        // Who reads it has it open.
        if fs::remove_file(path).is_ok() {
            size -= len;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn made(records: &[(u128, &'static [u8])]) -> Made<'static> {
        Made {
            records: (records.iter())
                .map(|&(key, record)| (key, Cow::Borrowed(record)))
                .collect(),
            ..Made::default()
        }
    }

    fn all(cache: &TranslationCache) -> Vec<(u128, &[u8])> {
        Records(&cache.bytes).collect()
    }

    #[test]
    fn the_next_link_of_the_output_has_what_was_kept() {
        let dir = tempfile::tempdir().unwrap();
        let choice = Choice::In(dir.path().join("a/b"));
        let open = |output: &str| TranslationCache::open(&choice, Path::new(output)).unwrap();
        let records: [(u128, &[u8]); 3] = [(7, b"seven"), (u128::MAX, b""), (7, b"and")];
        let cache = open("out");
        assert!(all(&cache).is_empty());
        cache.keep(&made(&records));
        assert_eq!(all(&open("out")), records);
        assert!(all(&open("other")).is_empty());
        // What is there already is not written again.
        let inode = |cache: &TranslationCache| fs::metadata(cache.path()).unwrap().ino();
        let cache = open("out");
        let before = inode(&cache);
        cache.keep(&made(&records));
        assert_eq!(inode(&cache), before);
        cache.keep(&made(&records[1..]));
        assert_eq!(all(&open("out")), records[1..]);
        assert_ne!(inode(&cache), before);
        let left = fs::read_dir(dir.path().join("a/b")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(
            left,
            [dir.path().join("a/b").join(WRITTEN), open("out").file]
        );
    }

    #[test]
    fn damaged_and_foreign_files_are_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let choice = Choice::In(dir.path().into());
        let open = || TranslationCache::open(&choice, Path::new("out")).unwrap();
        let cache = open();
        cache.keep(&made(&[(1, b"one"), (2, b"two")]));
        let whole = fs::read(cache.path()).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(cache.path(), &damaged).unwrap();
            assert!(all(&open()).is_empty(), "{at}");
            fs::write(cache.path(), &whole[..at]).unwrap();
            assert!(all(&open()).is_empty(), "{at}");
        }
        fs::write(cache.path(), &whole).unwrap();
        assert_eq!(all(&open()).len(), 2);
        assert!(read(cache.path(), cache.stamp ^ 1).is_none());
        // A length that leads out of the file.
        let long = [&[0; 16][..], &[0xff; 8], b"x"].concat();
        assert!(Records(&long).next().is_none());
    }

    #[test]
    fn the_longest_unused_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, age: u64| {
            let path = dir.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            File::open(&path).unwrap().set_modified(time).unwrap();
        };
        for (name, age) in [
            ("old.translations", 30),
            ("older.translations", 40),
            ("new.translations", 10),
            ("somebody's", 100_000),
            (".unfinished-now", 20),
            (".unfinished-then", 4000),
        ] {
            file(name, age);
        }
        make_room(dir.path(), 250).unwrap();
        let left = fs::read_dir(dir.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let want = [
            ".unfinished-now",
            "new.translations",
            "old.translations",
            "somebody's",
        ];
        assert_eq!(left, want);
    }

    /// Every so many files, and earlier if these are large.
    #[test]
    fn links_look_for_room_now_and_then() {
        let dir = tempfile::tempdir().unwrap();
        let next_look = |bytes: usize| {
            let files = 1..=1000;
            let mut looks = files.map(|number| (number, count_written(dir.path(), bytes).unwrap()));
            looks.find_map(|(number, is_time)| is_time.then_some(number))
        };
        assert_eq!(next_look(100), Some(TIME_TO_LOOK));
        assert_eq!(next_look(100), Some(TIME_TO_LOOK));
        assert_eq!(next_look(15 << 20), Some(TIME_TO_LOOK / 16));
        assert_eq!(next_look(1 << 30), Some(1));
        // A link does look then.
        let forgotten = dir.path().join(".unfinished-then");
        fs::write(&forgotten, "").unwrap();
        let time = SystemTime::now() - Duration::from_secs(4000);
        File::open(&forgotten).unwrap().set_modified(time).unwrap();
        let choice = Choice::In(dir.path().into());
        for number in 1..=TIME_TO_LOOK {
            assert!(forgotten.exists(), "{number}");
            let output = number.to_string();
            let cache = TranslationCache::open(&choice, Path::new(&output)).unwrap();
            cache.keep(&made(&[(1, b"one")]));
        }
        assert!(!forgotten.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_no_error() {
        let choice = Choice::In("/proc/self/nothing".into());
        let cache = TranslationCache::open(&choice, Path::new("out")).unwrap();
        cache.keep(&made(&[(1, b"one")]));
        assert!(cache.bytes.is_empty());
        assert!(TranslationCache::open(&Choice::Off, Path::new("out")).is_none());
    }
}
