//! `flick card cp`: files between the host and an archive, which has a card's files from one run to the next.
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use clap::Args;
use flick_diagnostics::Code;
use flick_driver::Error;

use crate::card_files::{Entry, Tree, cannot_put, clean};
use crate::machine_command::unreadable;

#[derive(Args)]
pub struct Copy {
    /// Files and folders of the host, and such as `card.tar:/out`, with `*` and `?` in names behind the colon;
    /// the last one is where they go
    #[arg(value_name = "FROM", required = true, num_args = 2..)]
    places: Vec<OsString>,
}

/// A file or folder.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Host(PathBuf),
    Archive { archive: PathBuf, path: PathBuf },
}

fn bad_use(place: &OsStr, reason: &str, help: &str) -> Error {
    let what = "files cannot be copied";
    let place = place.to_string_lossy();
    Error::new(Code::BadOption, what, place, reason, help)
}

/// `ARCHIVE:/PATH` is in an archive.
fn place_of(word: &OsStr) -> Place {
    let bytes = word.as_bytes();
    let colon = bytes.windows(2).position(|two| two == b":/");
    match colon {
        Some(at) if at > 0 => Place::Archive {
            archive: OsStr::from_bytes(&bytes[..at]).into(),
            path: OsStr::from_bytes(&bytes[at + 1..]).into(),
        },
        _ => Place::Host(word.into()),
    }
}

/// Is a name one of the pattern, in which `*` is any bytes and `?` is one?
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        (Some((b'?', rest)), Some((_, others))) => matches(rest, others),
        (Some((one, rest)), Some((other, others))) => one == other && matches(rest, others),
        _ => false,
    }
}

/// The same for each part of a path. Fewer than all of its stars are together, so that this ends soon.
fn path_matches(pattern: &Path, path: &Path) -> bool {
    let mut parts = pattern.iter().map(OsStr::as_bytes);
    let mut others = path.iter().map(OsStr::as_bytes);
    loop {
        match (parts.next(), others.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if matches(pattern, name) => {}
            _ => return false,
        }
    }
}

fn is_folder_name(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// What is copied: a file or folder, by its own name.
struct Item {
    /// All items of an archive have one.
    tree: Rc<Tree>,
    /// Where it is in the tree; the root is all of an archive.
    path: PathBuf,
    name: OsString,
}

/// Finds what a word names.
fn find(word: &OsStr, items: &mut Vec<Item>) -> Result<(), Error> {
    match place_of(word) {
        Place::Host(host) => {
            let mut tree = Tree::default();
            let real = host
                .canonicalize()
                .map_err(|error| unreadable(&host, &error))?;
            let name = real.file_name().unwrap_or_default();
            let path = PathBuf::from(name);
            tree.add_host(&host, &path)?;
            items.push(Item {
                tree: Rc::new(tree),
                name: name.into(),
                path,
            });
        }
        Place::Archive { archive, path } => {
            let tree = Rc::new(Tree::read_archive(&archive)?);
            let nothing = || {
                bad_use(
                    word,
                    "nothing there has this name",
                    "tar -tf lists an archive",
                )
            };
            let pattern = clean(&path).ok_or_else(nothing)?;
            let before = items.len();
            let all = std::iter::once(Path::new("")).chain(tree.paths());
            let found: Vec<_> = all.filter(|path| path_matches(&pattern, path)).collect();
            for path in found {
                items.push(Item {
                    tree: Rc::clone(&tree),
                    name: path.file_name().unwrap_or_default().into(),
                    path: path.into(),
                });
            }
            if items.len() == before {
                return Err(nothing());
            }
        }
    }
    Ok(())
}

/// Adds an item to the tree of an archive.
fn add(to: &mut Tree, item: &Item, path: &Path) -> Result<(), Error> {
    for from in std::iter::once(Path::new("")).chain(item.tree.paths()) {
        let Ok(rest) = from.strip_prefix(&item.path) else {
            continue;
        };
        let target = path.join(rest);
        let target = clean(&target).unwrap_or(target);
        let entry = match (item.tree.data(from), item.tree.get(from)) {
            (Some((data, is_program)), _) => Entry::File(data.into(), is_program),
            (_, Some(entry)) => entry.clone(),
            _ => continue,
        };
        if !target.as_os_str().is_empty() {
            let put = to.put(&target, entry);
            put.map_err(|reason| cannot_put(&target, &reason))?;
        }
    }
    Ok(())
}

impl Copy {
    pub fn run(self) -> Result<ExitCode, Error> {
        let (to, from) = self.places.split_last().expect("clap has seen two");
        let mut items = vec![];
        from.iter().try_for_each(|word| find(word, &mut items))?;
        let target = place_of(to);
        let is_archive = |word: &OsString| matches!(place_of(word), Place::Archive { .. });
        match target {
            Place::Host(_) if !from.iter().any(is_archive) => Err(bad_use(
                to,
                "no place is in an archive",
                "write ARCHIVE:/PATH for a file of a card, as in flick card cp image card.tar:/",
            )),
            Place::Host(target) => {
                let is_folder = is_folder_name(&target) || target.is_dir();
                if items.len() > 1 && !is_folder {
                    return Err(several(to));
                }
                if is_folder {
                    let made = fs::create_dir_all(&target);
                    made.map_err(|error| crate::machine_command::unwritable(&target, &error))?;
                }
                for Item { tree, path, name } in &items {
                    let into = if is_folder {
                        target.join(name)
                    } else {
                        target.clone()
                    };
                    tree.write_host(path, &into)?;
                }
                Ok(ExitCode::SUCCESS)
            }
            Place::Archive { archive, path } => {
                let mut tree = match archive.exists() {
                    true => Tree::read_archive(&archive)?,
                    false => Tree::default(),
                };
                let above = || cannot_put(&path, &"it is above the card's root");
                let place = clean(&path).ok_or_else(above)?;
                let is_folder =
                    is_folder_name(&path) || tree.get(&place) == Some(&Entry::Directory);
                if items.len() > 1 && !is_folder {
                    return Err(several(to));
                }
                for item in &items {
                    let into = if is_folder {
                        place.join(&item.name)
                    } else {
                        place.clone()
                    };
                    add(&mut tree, item, &into)?;
                }
                tree.write_archive(&archive)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn several(to: &OsStr) -> Error {
    let help = "name a folder that is there, or write a slash behind it";
    bad_use(to, "several files go to one place that is no folder", help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_colon_and_a_slash() {
        let archive = |archive: &str, path: &str| Place::Archive {
            archive: archive.into(),
            path: path.into(),
        };
        let place = |word: &str| place_of(OsStr::new(word));
        assert_eq!(place("a/card.tar:/x/y"), archive("a/card.tar", "/x/y"));
        assert_eq!(place("card.tar:/"), archive("card.tar", "/"));
        assert_eq!(place("a:b"), Place::Host("a:b".into()));
        assert_eq!(place(":/b"), Place::Host(":/b".into()));
    }

    #[test]
    fn patterns_are_of_names() {
        for (pattern, path, wanted) in [
            ("out/*.bin", "out/a.bin", true),
            ("out/*.bin", "out/a.txt", false),
            ("out/*", "out/a/b", false),
            ("o?t", "out", true),
            ("*", "", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            let found = path_matches(Path::new(pattern), Path::new(path));
            assert_eq!(found, wanted, "{pattern} {path}");
        }
    }
}
