//! Which files the host linker will look at, in its order (GNU ld manual, options `-l`, `-L`,
//! `-Bstatic`).
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::args::Piece;

/// A file of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInput {
    pub path: PathBuf,
    /// Between `--start-lib` and `--end-lib`: an object that is taken only if needed.
    pub optional: bool,
}

impl LinkInput {
    /// Whether it belongs to the system: its C library is the one that the NxP's stands for.
    pub fn of_system(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new(""));
        SYSTEM_DIRS.iter().any(|system| dir == Path::new(system)) || dir.starts_with("/usr/lib/gcc")
    }
}

/// Where linkers look for `-l` after every `-L`.
const SYSTEM_DIRS: [&str; 6] = [
    "/usr/local/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
];

/// Words that the linker itself gets, one by one, among the pieces of a link.
pub fn linker_words(piece: &Piece) -> Vec<OsString> {
    let Piece::Linker(words) = piece else {
        return Vec::new();
    };
    if words[0] == "-Xlinker" {
        return words[1..].to_vec();
    }
    match words[0].as_bytes().strip_prefix(b"-Wl,") {
        Some(list) => list
            .split(|&byte| byte == b',')
            .map(|word| OsStr::from_bytes(word).to_os_string())
            .collect(),
        None => Vec::new(),
    }
}

/// The files of the link. `objects`: what the sources became. What does not exist is left to the
/// linker to complain about.
pub fn link_inputs(
    pieces: &[Piece],
    objects: &[Option<PathBuf>],
    static_link: bool,
) -> Vec<LinkInput> {
    let mut dirs: Vec<PathBuf> = Vec::new();
    for piece in pieces {
        if let Piece::LibraryDir(dir) = piece {
            dirs.push(dir.into());
        }
        dirs.extend(linker_words(piece).iter().filter_map(|word| {
            let dir = word.as_bytes().strip_prefix(b"-L")?;
            (!dir.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(dir)))
        }));
    }
    dirs.extend(
        std::env::var_os("LIBRARY_PATH")
            .iter()
            .flat_map(std::env::split_paths),
    );
    dirs.extend(SYSTEM_DIRS.map(PathBuf::from));

    let mut found = Found {
        dirs,
        archives_only: static_link,
        optional: false,
        inputs: Vec::new(),
    };
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Source { .. } => found.path(objects[index].as_deref()),
            Piece::File(path) => found.path(Some(Path::new(path))),
            Piece::Library(name) => found.library(name),
            _ => linker_words(piece)
                .iter()
                .for_each(|word| found.word(word, static_link)),
        }
    }
    found.inputs
}

struct Found {
    dirs: Vec<PathBuf>,
    archives_only: bool,
    optional: bool,
    inputs: Vec<LinkInput>,
}

impl Found {
    fn path(&mut self, path: Option<&Path>) {
        if let Some(path) = path.filter(|path| path.is_file()) {
            self.inputs.push(LinkInput {
                path: path.into(),
                optional: self.optional,
            });
        }
    }

    fn word(&mut self, word: &OsStr, static_link: bool) {
        match word.as_bytes() {
            b"-Bstatic" | b"-dn" | b"-non_shared" | b"-static" => self.archives_only = true,
            b"-Bdynamic" | b"-dy" | b"-call_shared" => self.archives_only = static_link,
            b"--start-lib" => self.optional = true,
            b"--end-lib" => self.optional = false,
            [b'-', b'l', name @ ..] if !name.is_empty() => self.library(OsStr::from_bytes(name)),
            [b'-', ..] => {}
            _ => self.path(Some(Path::new(word))),
        }
    }

    fn library(&mut self, name: &OsStr) {
        let exact = name.as_bytes().strip_prefix(b":").map(OsStr::from_bytes);
        let file = |dir: &Path, suffix: &str| {
            let mut file = OsString::from("lib");
            file.push(name);
            file.push(suffix);
            Some(dir.join(file)).filter(|file| file.is_file())
        };
        let hit = self.dirs.iter().find_map(|dir| match exact {
            Some(exact) => Some(dir.join(exact)).filter(|file| file.is_file()),
            None if self.archives_only => file(dir, ".a"),
            None => file(dir, ".so").or_else(|| file(dir, ".a")),
        });
        self.path(hit.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_linker_words() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["libboth.so", "libboth.a", "libonly.a", "x.o"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let at = |name: &str| dir.path().join(name);
        let pieces = [
            Piece::Library("both".into()),
            Piece::Linker(vec!["-Wl,-Bstatic,-lboth,--start-lib".into()]),
            Piece::File(at("x.o").into()),
            Piece::Linker(vec!["-Wl,--end-lib,-Bdynamic".into()]),
            Piece::Library("only".into()),
            Piece::Library(":libonly.a".into()),
            Piece::File("missing.o".into()),
            Piece::LibraryDir(dir.path().into()),
        ];
        let found = link_inputs(&pieces, &vec![None; pieces.len()], false);
        let names: Vec<_> = found
            .iter()
            .map(|i| (i.path.file_name().unwrap().to_str().unwrap(), i.optional))
            .collect();
        assert_eq!(
            names,
            [
                ("libboth.so", false),
                ("libboth.a", false),
                ("x.o", true),
                ("libonly.a", false),
                ("libonly.a", false)
            ]
        );
        let found = link_inputs(&pieces[..1], &[None], true);
        assert!(found.is_empty(), "the directory is not named: {found:?}");
    }
}
