//! The libraries that a program needs, found as the dynamic loader finds them (ld.so(8)), and those
//! of them in which functions were placed. libtool runs a program that is not installed through a
//! script which tells the loader where its libraries are; here the script is read.
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::elf::{Dyn, FileHeader};
use object::{LittleEndian, elf};

use crate::Placements;
use crate::elf_kind::parse_host;

/// What the loader looks through behind all others.
const SYSTEM: [&str; 8] = [
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Libraries that the program or library needs, itself or through others, in which the compiler has
/// placed functions or was asked to. What cannot be read says nothing.
pub fn with_placements(file: &Path) -> Vec<(PathBuf, Placements)> {
    let placed = |path: PathBuf| {
        let data = fs::read(&path).ok()?;
        let found = Placements::of_file(&parse_host(&data).ok()?).ok()?;
        (!found.functions.is_empty()).then_some((path, found))
    };
    libraries(file).into_iter().filter_map(placed).collect()
}

/// Libraries that the file needs, nearest first; those that are not found are left out.
pub fn libraries(file: &Path) -> Vec<PathBuf> {
    let mut environment = of_wrapper(file);
    environment.extend(list(
        &std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default(),
    ));
    let mut known = BTreeSet::new();
    let mut found: Vec<PathBuf> = Vec::new();
    // A file, and the DT_RPATH of those that need it.
    let mut next = vec![(file.to_owned(), Vec::new())];
    while !next.is_empty() {
        for (file, inherited) in std::mem::take(&mut next) {
            let Some(needs) = fs::read(&file).ok().and_then(|data| Needs::read(&data)) else {
                continue;
            };
            let here = |paths: &[u8]| expanded(paths, &file);
            let mut rpath = inherited;
            let mut places = Vec::new();
            match &needs.runpath {
                Some(runpath) => {
                    places.extend(environment.clone());
                    places.extend(here(runpath));
                }
                None => {
                    rpath.extend(here(needs.rpath.as_deref().unwrap_or_default()));
                    places.extend(rpath.clone());
                    places.extend(environment.clone());
                }
            }
            places.extend(SYSTEM.map(PathBuf::from));
            for name in needs.libraries {
                if !known.insert(name.clone()) {
                    continue;
                }
                let name = Path::new(OsStr::from_bytes(&name));
                let path = match name.components().count() {
                    1 => places
                        .iter()
                        .map(|dir| dir.join(name))
                        .find(|p| p.is_file()),
                    _ => Some(name.to_owned()),
                };
                if let Some(path) = path {
                    found.push(path.clone());
                    next.push((path, rpath.clone()));
                }
            }
        }
    }
    found
}

/// A file's dynamic section, as far as it names libraries.
#[derive(Default)]
struct Needs {
    libraries: Vec<Vec<u8>>,
    rpath: Option<Vec<u8>>,
    runpath: Option<Vec<u8>>,
}

impl Needs {
    fn read(data: &[u8]) -> Option<Self> {
        let header = elf::FileHeader64::<LittleEndian>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, data).ok()?;
        let (entries, strings) = sections.dynamic(endian, data).ok()??;
        let strings = sections.strings(endian, data, strings).ok()?;
        let mut needs = Self::default();
        for entry in entries {
            let text = || Some(entry.string(endian, strings).ok()?.to_vec());
            match entry.tag32(endian) {
                Some(elf::DT_NEEDED) => needs.libraries.extend(text()),
                Some(elf::DT_RPATH) => needs.rpath = text(),
                Some(elf::DT_RUNPATH) => needs.runpath = text(),
                _ => {}
            }
        }
        Some(needs)
    }
}

/// Directories of a list as the loader has it. An empty one is where the program is started.
fn list(paths: &OsStr) -> impl Iterator<Item = PathBuf> + '_ {
    let some = !paths.is_empty();
    paths
        .as_bytes()
        .split(|byte| matches!(byte, b':' | b';'))
        .filter(move |_| some)
        .map(|part| match part {
            [] => PathBuf::from("."),
            part => OsStr::from_bytes(part).into(),
        })
}

/// The run path of `file`, with the loader's own words replaced.
fn expanded(paths: &[u8], file: &Path) -> Vec<PathBuf> {
    let origin = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let origin = origin.parent().unwrap_or(Path::new("/")).to_owned();
    let text = String::from_utf8_lossy(paths);
    list(OsStr::new(&*text))
        .map(|dir| {
            let dir = dir.to_string_lossy();
            let origin = origin.to_string_lossy();
            let dir = dir.replace("$ORIGIN", &origin);
            let dir = dir.replace("${ORIGIN}", &origin);
            let dir = dir.replace("$LIB", "lib/x86_64-linux-gnu");
            PathBuf::from(dir.replace("${LIB}", "lib/x86_64-linux-gnu"))
        })
        .collect()
}

/// What libtool's script in place of the program `.libs/NAME` adds to the loader's path.
fn of_wrapper(file: &Path) -> Vec<PathBuf> {
    let Some(dir) = file.parent().filter(|dir| dir.ends_with(".libs")) else {
        return Vec::new();
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix("lt-").unwrap_or(&name);
    let script = fs::read(dir.join("..").join(name)).unwrap_or_default();
    if wrapped(&script).is_none() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&script);
    let mut values = text.lines().filter_map(|line| {
        let value = line.trim().strip_prefix("LD_LIBRARY_PATH=\"")?;
        let value = value.split(['$', '"']).next()?;
        Some(value.trim_end_matches(':').to_owned())
    });
    let first = values.find(|value| !value.is_empty()).unwrap_or_default();
    list(OsStr::new(&first)).collect()
}

/// The program that `script` stands for, relative to its directory, if libtool made it.
pub fn wrapped(script: &[u8]) -> Option<String> {
    let begin = script.get(..script.len().min(1024))?;
    let text = String::from_utf8_lossy(begin);
    let line = text
        .lines()
        .find_map(|line| line.split_once("temporary wrapper script for "))?;
    text.starts_with("#!").then(|| line.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_words_of_the_loader() {
        let all = |text: &str| list(OsStr::new(text)).collect::<Vec<_>>();
        assert_eq!(all(""), [""; 0].map(PathBuf::from));
        assert_eq!(all("/a::b;c"), ["/a", ".", "b", "c"].map(PathBuf::from));
        let dirs = expanded(
            b"$ORIGIN/../lib:${ORIGIN}:/x/$LIB",
            Path::new("/no/bin/prog"),
        );
        let want = ["/no/bin/../lib", "/no/bin", "/x/lib/x86_64-linux-gnu"];
        assert_eq!(dirs, want.map(PathBuf::from));
    }

    #[test]
    fn the_loader_finds_the_same() {
        let program = std::env::current_exe().unwrap();
        let found = libraries(&program);
        let libc = found.iter().find(|path| path.ends_with("libc.so.6"));
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let libc = fs::canonicalize(libc.unwrap()).unwrap();
        assert!(maps.contains(&*libc.to_string_lossy()), "{found:?}");
    }

    #[test]
    fn scripts_of_libtool_are_known() {
        let script = b"#! /bin/bash\n\n# jq - temporary wrapper script for .libs/jq\n# Generated by libtool\n";
        assert_eq!(wrapped(script).as_deref(), Some(".libs/jq"));
        assert_eq!(wrapped(b"#!/bin/sh\necho\n"), None);
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".libs")).unwrap();
        let text = [
            script.as_slice(),
            b"    LD_LIBRARY_PATH=\"/build/.libs:/other:$LD_LIBRARY_PATH\"\n",
        ];
        fs::write(dir.path().join("jq"), text.concat()).unwrap();
        for name in ["jq", "lt-jq"] {
            let dirs = of_wrapper(&dir.path().join(".libs").join(name));
            assert_eq!(dirs, ["/build/.libs", "/other"].map(PathBuf::from));
        }
        assert_eq!(
            of_wrapper(&dir.path().join("jq")),
            [""; 0].map(PathBuf::from)
        );
    }
}
