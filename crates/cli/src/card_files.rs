//! Files of a card between its runs: an archive, or a folder of the host.
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use flick_diagnostics::Code;
use flick_driver::Error;

use crate::machine_command::{unreadable, unwritable};

/// What a name is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A file, and whether it may be executed.
    File(Vec<u8>, bool),
    /// Another name of a file.
    Link(PathBuf),
    /// A link by name. The card leaves it out.
    Symbolic(PathBuf),
}

/// Files and directories by their paths, without a slash in front. The root, an empty path, is always there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

/// A path of a card without a slash in front, `.` and `..`; `None`: it leads above the root.
pub fn clean(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part),
            Component::ParentDir if !parts.pop() => return None,
            _ => {}
        }
    }
    Some(parts)
}

fn bad_archive(archive: &Path, reason: &dyn Display) -> Error {
    Error::new(
        Code::FileAccess,
        "an archive cannot be read",
        archive.display().to_string(),
        reason.to_string(),
        "take an archive of tar, as tar -cf or flick card cp makes it",
    )
}

impl Tree {
    /// What is there; `None` is nothing.
    pub fn get(&self, path: &Path) -> Option<&Entry> {
        match path.as_os_str().is_empty() {
            true => Some(&Entry::Directory),
            false => self.0.get(path),
        }
    }

    /// All paths, each behind its directory.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// The bytes of a file, also by another name.
    pub fn data(&self, path: &Path) -> Option<(&[u8], bool)> {
        match self.0.get(path)? {
            Entry::File(data, is_program) => Some((data, *is_program)),
            Entry::Link(to) if to != path => match self.0.get(to)? {
                Entry::File(data, is_program) => Some((data, *is_program)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds a file or directory, in place of what has the name. Directories above it are made.
    ///
    /// # Errors
    /// A part of the path is no directory, or a directory and something else would have one name.
    pub fn put(&mut self, path: &Path, entry: Entry) -> Result<(), String> {
        for above in path.ancestors().skip(1) {
            match self.get(above) {
                Some(Entry::Directory) => {}
                Some(_) => return Err(format!("/{} is no directory", above.display())),
                None => drop(self.0.insert(above.into(), Entry::Directory)),
            }
        }
        match (self.get(path), &entry) {
            (Some(Entry::Directory), Entry::Directory) => return Ok(()),
            (Some(Entry::Directory), _) => {
                return Err(format!("/{} is a directory", path.display()));
            }
            (Some(_), Entry::Directory) => {
                return Err(format!("/{} is no directory", path.display()));
            }
            _ => {}
        }
        self.keep_others(path);
        self.0.insert(path.into(), entry);
        Ok(())
    }

    /// Other names of a file keep what it has.
    fn keep_others(&mut self, path: &Path) {
        let is_other = |entry: &Entry| matches!(entry, Entry::Link(to) if to == path);
        let mut others = self.0.iter().filter(|(_, entry)| is_other(entry));
        let Some(heir) = others.next().map(|(path, _)| path.clone()) else {
            return;
        };
        if let Some(before) = self.0.remove(path) {
            self.0.insert(heir.clone(), before);
        }
        for entry in self.0.values_mut() {
            if is_other(entry) {
                *entry = Entry::Link(heir.clone());
            }
        }
    }

    /// Reads an archive of tar.
    ///
    /// # Errors
    /// It is none, or has something that a card cannot have.
    pub fn read_archive(archive: &Path) -> Result<Self, Error> {
        let bytes = fs::read(archive).map_err(|error| unreadable(archive, &error))?;
        let mut tree = Self::default();
        let bad = |reason: &dyn Display| bad_archive(archive, reason);
        // Without a header of tar, the crate finds an empty archive in zeros alone.
        let mut entries = tar::Archive::new(&*bytes);
        for entry in entries.entries().map_err(|error| bad(&error))? {
            let mut entry = entry.map_err(|error| bad(&error))?;
            let name = entry.path().map_err(|error| bad(&error))?.into_owned();
            let path = clean(&name).ok_or_else(|| bad(&format!("{} leads out", name.display())))?;
            let to = entry.link_name().map_err(|error| bad(&error))?;
            let to = to.map(std::borrow::Cow::into_owned).unwrap_or_default();
            let kind = entry.header().entry_type();
            // What `git archive` begins with.
            if kind == tar::EntryType::XGlobalHeader {
                continue;
            }
            let made = match kind {
                tar::EntryType::Directory => Entry::Directory,
                tar::EntryType::Regular | tar::EntryType::Continuous => {
                    let is_program = entry.header().mode().unwrap_or(0) & 0o111 != 0;
                    let mut data = vec![];
                    entry.read_to_end(&mut data).map_err(|error| bad(&error))?;
                    Entry::File(data, is_program)
                }
                tar::EntryType::Link => Entry::Link(clean(&to).unwrap_or_default()),
                tar::EntryType::Symlink => Entry::Symbolic(to),
                _ => {
                    return Err(bad(&format!(
                        "{} is neither file nor directory",
                        name.display()
                    )));
                }
            };
            if !path.as_os_str().is_empty() {
                tree.put(&path, made).map_err(|reason| bad(&reason))?;
            }
        }
        Ok(tree)
    }

    /// Adds a file or folder of the host.
    ///
    /// # Errors
    /// Something cannot be read, or is neither.
    pub fn add_host(&mut self, host: &Path, path: &Path) -> Result<(), Error> {
        let failed = |error: io::Error| unreadable(host, &error);
        let about = fs::metadata(host).map_err(failed)?;
        let entry = if about.is_dir() {
            Entry::Directory
        } else if about.is_file() {
            let is_program = about.permissions().mode() & 0o111 != 0;
            Entry::File(fs::read(host).map_err(failed)?, is_program)
        } else {
            return Err(failed(io::Error::other(
                "it is neither a file nor a folder",
            )));
        };
        let is_directory = entry == Entry::Directory;
        if !path.as_os_str().is_empty() {
            self.put(path, entry)
                .map_err(|reason| cannot_put(path, &reason))?;
        }
        if is_directory {
            let all = fs::read_dir(host).map_err(failed)?;
            let all: io::Result<Vec<_>> = all.map(|entry| Ok(entry?.file_name())).collect();
            let mut all = all.map_err(failed)?;
            // The same folder is the same archive.
            all.sort();
            for name in all {
                self.add_host(&host.join(&name), &path.join(&name))?;
            }
        }
        Ok(())
    }

    /// The archive.
    ///
    /// # Errors
    /// A name is too long.
    pub fn archive(&self) -> io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(vec![]);
        for (path, entry) in &self.0 {
            let mut header = tar::Header::new_gnu();
            header.set_mtime(0);
            header.set_size(0);
            header.set_mode(0o644);
            match entry {
                Entry::Directory => {
                    header.set_mode(0o755);
                    header.set_entry_type(tar::EntryType::Directory);
                    archive.append_data(&mut header, path.join(""), io::empty())?;
                }
                Entry::File(data, is_program) => {
                    header.set_mode(if *is_program { 0o755 } else { 0o644 });
                    header.set_entry_type(tar::EntryType::Regular);
                    header.set_size(data.len() as u64);
                    archive.append_data(&mut header, path, &**data)?;
                }
                Entry::Link(to) | Entry::Symbolic(to) => {
                    header.set_entry_type(match entry {
                        Entry::Link(_) => tar::EntryType::Link,
                        _ => tar::EntryType::Symlink,
                    });
                    archive.append_link(&mut header, path, to)?;
                }
            }
        }
        archive.into_inner()
    }

    /// Writes an archive, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_archive(&self, to: &Path) -> Result<(), Error> {
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        let write = || {
            let bytes = self.archive()?;
            let mut file = tempfile::Builder::new()
                .permissions(fs::Permissions::from_mode(0o644))
                .tempfile_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(&bytes)?;
            file.persist(to)?;
            Ok(())
        };
        write().map_err(|error| unwritable(to, &error))
    }

    /// Writes what is below a path, or the file of it, to the host.
    ///
    /// # Errors
    /// Something cannot be written.
    pub fn write_host(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let failed = |error: io::Error| unwritable(to, &error);
        if let Some((data, is_program)) = self.data(from) {
            fs::write(to, data).map_err(failed)?;
            if is_program {
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(to, mode).map_err(failed)?;
            }
            return Ok(());
        }
        match self.get(from) {
            Some(Entry::Directory) => {
                fs::create_dir_all(to).map_err(failed)?;
                let below: Vec<_> = self
                    .paths()
                    .filter(|path| path.parent() == Some(from))
                    .collect();
                below.iter().try_for_each(|path| {
                    self.write_host(path, &to.join(path.file_name().unwrap_or_default()))
                })
            }
            _ => {
                let name = from.display();
                eprintln!("flick: note: /{name} is a link by name, and is left out");
                Ok(())
            }
        }
    }
}

/// Something cannot have a path of a card.
pub fn cannot_put(path: &Path, reason: &dyn Display) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be in the archive",
        format!("/{}", path.display()),
        reason.to_string(),
        "give it another name",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_the_root() {
        for (path, wanted) in [
            ("/a/./b/", Some("a/b")),
            ("a/../b", Some("b")),
            ("/", Some("")),
            ("../a", None),
            ("a/../../b", None),
        ] {
            assert_eq!(clean(Path::new(path)), wanted.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn other_names_keep_their_file() {
        let mut tree = Tree::default();
        let file = |text: &str| Entry::File(text.into(), false);
        let path = Path::new;
        tree.put(path("d/a"), file("old")).unwrap();
        tree.put(path("b"), Entry::Link("d/a".into())).unwrap();
        tree.put(path("c"), Entry::Link("d/a".into())).unwrap();
        tree.put(path("d/a"), file("new")).unwrap();
        for (name, text) in [("d/a", "new"), ("b", "old"), ("c", "old")] {
            let data = tree.data(path(name)).map(|(data, _)| data);
            assert_eq!(data, Some(text.as_bytes()), "{name}");
        }
        assert!(tree.put(path("d"), file("")).is_err());
        assert!(tree.put(path("b/x"), file("")).is_err());
        assert!(tree.put(path("b"), Entry::Directory).is_err());
        // What is written is what is read.
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        tree.put(path("s"), Entry::Symbolic("b".into())).unwrap();
        tree.put(&path("long").join("x".repeat(200)), file("far"))
            .unwrap();
        tree.write_archive(&archive).unwrap();
        assert_eq!(Tree::read_archive(&archive).unwrap(), tree);
    }
}
