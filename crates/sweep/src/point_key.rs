//! Keys: SHA-256 over the contents that a result depends on.
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Adds up named fields. Fields cannot run into one another, because each has its length.
pub struct Key(Sha256);

impl Key {
    /// A key of this kind.
    pub fn new(kind: &str) -> Self {
        let mut key = Self(Sha256::new());
        key.put("kind", kind.as_bytes());
        key
    }

    pub fn put(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// Fields of a list.
    pub fn put_all<'t>(&mut self, name: &str, values: impl IntoIterator<Item = &'t String>) {
        for value in values {
            self.put(name, value.as_bytes());
        }
        self.put(name, b"end of the list");
    }

    /// As 64 hexadecimal digits.
    pub fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Keys of the contents of files; each file is read once.
#[derive(Default)]
pub struct Contents(HashMap<PathBuf, String>);

impl Contents {
    pub fn of(&mut self, path: &Path) -> io::Result<String> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let mut file = File::open(path)?;
        let mut sum = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                length => sum.update(&buffer[..length]),
            }
        }
        let key = hexadecimal(&sum.finalize());
        self.0.insert(path.to_owned(), key.clone());
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(fields: &[(&str, &str)]) -> String {
        let mut key = Key::new("test");
        for (name, value) in fields {
            key.put(name, value.as_bytes());
        }
        key.finish()
    }

    #[test]
    fn fields_do_not_run_into_one_another() {
        let all = [
            key(&[("a", "bc")]),
            key(&[("ab", "c")]),
            key(&[("a", "b"), ("", "c")]),
            key(&[("a", "bc"), ("", "")]),
        ];
        for (number, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!all[number + 1..].contains(one), "{one}");
        }
        assert_eq!(key(&[("a", "bc")]), all[0]);
    }

    #[test]
    fn contents_and_not_names() {
        let dir = tempfile::tempdir().unwrap();
        let mut contents = Contents::default();
        let mut of = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            contents.of(&path).unwrap()
        };
        // FIPS 180-4's example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of("one", "abc"), abc);
        assert_eq!(of("two", "abc"), abc);
        assert_ne!(of("three", "abd"), abc);
    }
}
