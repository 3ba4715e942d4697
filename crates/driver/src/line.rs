//! The command line of a link, between clang and the linker. clang calls Flick as its linker;
//! Flick's words in the line say which linker that stands for, and where the user's inputs are.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::compile::Extra;
use crate::placement_options::Placement;
use crate::root::Root;
use crate::translation_cache::Choice;
use crate::{Error, Result, response};
use flick_diagnostics::Code;

const BEGIN: &str = "--flick-linker=";
const REPLAY: &str = "--flick-replay=";
const PLACE: &str = "--flick-place=";
const SAVE_TEMPS: &str = "--flick-save-temps=";
const REFUSE: &str = "--flick-refuse=";
const TRANSLATE: &str = "--flick-translate";
const TRANSLATION_CACHE: &str = "--flick-translation-cache=";
const VERBOSE: &str = "--flick-verbose";
const END: &str = "--flick-end";

/// What clang needs so that it calls Flick in the place of `linker`. FLK0102.
pub fn words(args: &Args, root: &Root, linker: &Path) -> Result<Extra> {
    let name = linker.file_name().unwrap_or_default().to_string_lossy();
    let flick = root.require(root.linker(name.contains("lld")))?;
    let mut extra = Extra::default();
    let word = |flag: &str, value: &OsStr| {
        let mut word = OsString::from(flag);
        word.push(value);
        word
    };
    let mut begin = vec![word(BEGIN, linker.as_os_str())];
    let replay = &args.placement.replay;
    begin.extend(replay.is_on().then(|| word(REPLAY, replay.dir.as_os_str())));
    begin.extend(args.placement.files.iter().map(|f| word(PLACE, f.as_ref())));
    begin.extend(
        args.save_temps
            .iter()
            .map(|dir| word(SAVE_TEMPS, dir.as_os_str())),
    );
    begin.extend(
        args.not_with_nxp
            .at_link()
            .map(|o| word(REFUSE, o.as_ref())),
    );
    begin.extend(args.translate.then(|| TRANSLATE.into()));
    begin.extend(
        args.translation_cache
            .value()
            .map(|value| word(TRANSLATION_CACHE, value)),
    );
    begin.extend(args.verbose.then(|| VERBOSE.into()));
    for word in begin {
        extra.before.extend(["-Xlinker".into(), word]);
    }
    extra.after.push(word("--ld-path=", flick.as_os_str()));
    extra.after.extend(["-Xlinker".into(), END.into()]);
    Ok(extra)
}

/// A link as clang asks the linker for it.
#[derive(Debug, Default)]
pub struct Line {
    /// The real linker.
    pub linker: PathBuf,
    /// clang's words before the user's inputs, among them every `-L`.
    pub before: Vec<OsString>,
    /// The user's inputs and words for the linker.
    pub user: Vec<OsString>,
    /// clang's libraries and start files behind them.
    pub after: Vec<OsString>,
    pub placement: Placement,
    pub save_temps: Option<PathBuf>,
    pub verbose: bool,
    /// The link translates the image.
    pub translate: bool,
    /// Where translations are kept.
    pub translation_cache: Choice,
    /// An option that the link must refuse if there is NxP code.
    pub refuse: Option<String>,
}

impl Line {
    /// FLK0104 where Flick's words are missing.
    pub fn parse(words: Vec<OsString>) -> Result<Self> {
        let mut line = Self::default();
        let mut part = Part::Before;
        for word in response::expand(words)? {
            let value = |flag: &str| {
                let value = word.as_bytes().strip_prefix(flag.as_bytes())?;
                Some(OsStr::from_bytes(value).to_os_string())
            };
            if let Some(linker) = value(BEGIN) {
                line.linker = linker.into();
                part = Part::User;
            } else if let Some(dir) = value(REPLAY) {
                line.placement.replay.dir = dir.into();
            } else if let Some(file) = value(PLACE) {
                line.placement.add(&file.to_string_lossy())?;
            } else if let Some(dir) = value(SAVE_TEMPS) {
                line.save_temps = Some(dir.into());
            } else if let Some(option) = value(REFUSE) {
                line.refuse = Some(option.to_string_lossy().into_owned());
            } else if let Some(choice) = value(TRANSLATION_CACHE) {
                line.translation_cache = Choice::of(&choice);
            } else if word == TRANSLATE {
                line.translate = true;
            } else if word == VERBOSE {
                line.verbose = true;
            } else if word == END {
                part = Part::After;
            } else {
                match part {
                    Part::Before => line.before.push(word),
                    Part::User => line.user.push(word),
                    Part::After => line.after.push(word),
                }
            }
        }
        if line.linker.as_os_str().is_empty() {
            return Err(Error::new(
                Code::BadOption,
                "Flick's linker was called without Flick's options",
                BEGIN,
                "it is for flick cc, which says what to link",
                "link with flick-cc or flick-c++, or call the linker itself",
            ));
        }
        Ok(line)
    }

    /// All words, without Flick's.
    pub fn words(&self) -> impl Iterator<Item = &OsString> {
        self.before.iter().chain(&self.user).chain(&self.after)
    }

    /// Whether one of the words is one of `names`.
    pub fn has(&self, names: &[&str]) -> bool {
        self.words()
            .any(|word| names.iter().any(|name| word == name))
    }

    /// The file that the linker writes, if its line names it.
    pub fn output(&self) -> Option<&OsStr> {
        let mut words = self.words();
        let mut found = None;
        while let Some(word) = words.next() {
            match word.as_bytes() {
                b"-o" | b"--output" => found = words.next().map(OsString::as_os_str),
                [b'-', b'o', name @ ..] => found = Some(OsStr::from_bytes(name)),
                name => {
                    if let Some(name) = name.strip_prefix(b"--output=") {
                        found = Some(OsStr::from_bytes(name));
                    }
                }
            }
        }
        found
    }

    /// Whether `-z NAME` is among the words.
    pub fn has_z(&self, name: &str) -> bool {
        let words: Vec<_> = self.words().collect();
        words
            .windows(2)
            .any(|pair| pair[0] == "-z" && pair[1] == name)
    }
}

/// Words of a linker for a second link, whose output is `out`: the files that the first one wrote
/// beside its output stay as they are.
pub fn for_another(words: &[OsString], out: &Path) -> Vec<OsString> {
    const FILES: [&str; 5] = [
        "Map",
        "dependency-file",
        "reproduce",
        "print-archive-stats",
        "why-extract",
    ];
    let mut all = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
        let name = name.unwrap_or_default();
        if FILES.contains(&name) {
            words.next();
        } else if !name
            .split_once('=')
            .is_some_and(|(n, _)| FILES.contains(&n))
        {
            all.push(word.clone());
        }
    }
    all.extend(["-o".into(), out.into()]);
    all
}

enum Part {
    Before,
    User,
    After,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_link_leaves_the_files_of_the_first() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect();
        let first: Vec<OsString> =
            words("-o p a.o -Map=p.map -Map m --dependency-file=p.d --as-needed -lx");
        let want: Vec<OsString> = words("-o p a.o --as-needed -lx -o q");
        assert_eq!(for_another(&first, Path::new("q")), want);
    }

    #[test]
    fn parts() {
        let text = "-m elf_x86_64 -o out crt1.o -L/lib --flick-linker=/usr/bin/ld --flick-verbose \
                    a.o -lx -z now --flick-end -lc crtn.o";
        let line = Line::parse(text.split_whitespace().map(Into::into).collect()).unwrap();
        assert_eq!(line.linker, Path::new("/usr/bin/ld"));
        assert_eq!(line.user, ["a.o", "-lx", "-z", "now"]);
        assert_eq!(line.after, ["-lc", "crtn.o"]);
        assert!(line.verbose && line.has(&["-lc"]) && line.has_z("now") && !line.has_z("defs"));
        assert_eq!(
            Line::parse(vec!["a.o".into()]).unwrap_err().code,
            Code::BadOption
        );
    }
}
