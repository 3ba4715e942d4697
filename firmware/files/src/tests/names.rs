//! Random names, compared with a map of them.
use std::collections::BTreeMap;

use flick_abi::file_session::flags;

use super::{Random, SMALL, files};
use crate::file_system::Node;
use crate::{Failure, FileSystem};

/// Names, and the files that they are of. Directories have none.
#[derive(Default)]
struct Model {
    names: BTreeMap<Vec<u8>, Option<usize>>,
    count: usize,
}

impl Model {
    fn parent_is_there(&self, path: &[u8]) -> bool {
        match path.iter().rposition(|&byte| byte == b'/') {
            Some(0) | None => true,
            Some(slash) => self.names.get(&path[..slash]) == Some(&None),
        }
    }

    fn below(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let mut start = path.to_vec();
        start.push(b'/');
        let names = self.names.keys().filter(|name| name.starts_with(&start));
        names.cloned().collect()
    }
}

fn path_of(random: &mut Random) -> Vec<u8> {
    let mut path = vec![];
    for _ in 0..=random.below(3) {
        path.push(b'/');
        path.push(b'a' + random.below(4) as u8);
    }
    path
}

/// A name that is there, mostly.
fn some_path(model: &Model, random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => path_of(random),
        _ => {
            let n = random.below(model.names.len() as u64) as usize;
            model.names.keys().nth(n).cloned().unwrap_or(b"/a".to_vec())
        }
    }
}

#[test]
fn names_are_those_of_a_model() {
    for seed in 1..60_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut files, _) = files(SMALL);
        let mut model = Model::default();
        for _ in 0..1500 {
            step_of_names(&mut files, &mut model, &mut random);
        }
        for (name, file) in &model.names {
            let about = files.about(name).unwrap();
            assert_eq!(about.kind == 0, file.is_some());
            if file.is_some() {
                let links = model.names.values().filter(|other| *other == file).count();
                assert_eq!(about.links, links as u64);
            }
        }
        while let Some(name) = model.names.keys().next_back().cloned() {
            match model.names.remove(&name).unwrap() {
                Some(_) => files.unlink(&name).unwrap(),
                None => files.remove_directory(&name).unwrap(),
            }
        }
        assert_eq!(files.list(b"/", 0, &mut [0; 100]), Ok((0, 0)));
        let used = files
            .nodes
            .iter()
            .filter(|held| !matches!(held.node, Node::Free));
        assert_eq!(used.count(), 1, "the root alone");
    }
}

fn step_of_names(files: &mut FileSystem, model: &mut Model, random: &mut Random) {
    let path = some_path(model, random);
    let new = if random.below(2) == 0 {
        path_of(random)
    } else {
        some_path(model, random)
    };
    let (is, is_new) = (
        model.names.get(&path).copied(),
        model.names.get(&new).copied(),
    );
    match random.below(6) {
        0 => {
            let made = files.make_directory(&path);
            assert_eq!(made == Err(Failure::Exists), is.is_some());
            if made.is_ok() {
                assert!(model.parent_is_there(&path));
                model.names.insert(path, None);
            } else if is.is_none() && model.parent_is_there(&path) {
                assert_eq!(made, Err(Failure::NoMemory));
            }
        }
        1 => {
            let how = flags::CREATE | flags::WRITE;
            match files.open(0, &path, how) {
                Ok((file, _)) => {
                    files.close(0, file).unwrap();
                    if is.is_none() {
                        model.count += 1;
                        model.names.insert(path, Some(model.count));
                    }
                }
                Err(Failure::IsDirectory) => assert_eq!(is, Some(None)),
                Err(Failure::NoMemory) => assert_eq!(is, None),
                Err(_) => assert!(!model.parent_is_there(&path)),
            }
        }
        2 => {
            let unlinked = files.unlink(&path);
            assert_eq!(unlinked.is_ok(), matches!(is, Some(Some(_))));
            if unlinked.is_ok() {
                model.names.remove(&path);
            }
        }
        3 => {
            let removed = files.remove_directory(&path);
            let is_empty = model.below(&path).is_empty();
            assert_eq!(removed.is_ok(), is == Some(None) && is_empty, "{removed:?}");
            if removed.is_ok() {
                model.names.remove(&path);
            }
        }
        4 => {
            let linked = files.link(&path, &new);
            if linked.is_ok() {
                assert!(is_new.is_none() && model.parent_is_there(&new));
                model.names.insert(new, is.unwrap());
            } else if let (Some(Some(_)), None) = (is, is_new)
                && model.parent_is_there(&new)
            {
                assert_eq!(linked, Err(Failure::NoMemory));
            }
        }
        _ => {
            let renamed = files.rename(&path, &new);
            let is_inside = new == path || new.starts_with(&[&path[..], b"/"].concat());
            let fits = match (is, is_new) {
                (None, _) => false,
                (Some(Some(_)), Some(None)) => false,
                (Some(None), Some(Some(_))) => false,
                (Some(None), Some(None)) if new != path => model.below(&new).is_empty(),
                _ => true,
            };
            let is_dir_inside = is == Some(None) && is_inside && new != path;
            let expected = fits && model.parent_is_there(&new) && !is_dir_inside;
            assert_eq!(renamed.is_ok(), expected, "{path:?} {new:?} {renamed:?}");
            if expected && new != path && !(is.is_some() && is == is_new && is != Some(None)) {
                model.names.remove(&new);
                for name in model.below(&path).into_iter().chain([path.clone()]) {
                    let file = model.names.remove(&name).unwrap();
                    let name = [&new[..], &name[path.len()..]].concat();
                    model.names.insert(name, file);
                }
            }
        }
    }
}
