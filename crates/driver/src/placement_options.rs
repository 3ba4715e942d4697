//! Flick's placement options, and the check that every entry of a placement file was of use.
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_image::Placements;
use flick_image::elf_kind::{parse_host, read_file};
use flick_image::place_lines::{PROJECT, entries, is_project};

use crate::replay::Replay;
use crate::suggestion::{Finding, Functions};
use crate::{Error, Result};

/// `--flick-place=`, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    pub files: Vec<String>,
    /// `SEED:PERCENT`
    pub random: Option<String>,
    /// Where the files are, if not under their names.
    pub replay: Replay,
}

impl Placement {
    /// One option's value. FLK0104 for a bad one, FLK0105 for a missing file.
    pub fn add(&mut self, value: &str) -> Result<()> {
        if let Some(random) = value.strip_prefix("random:") {
            let good = random.split_once(':').is_some_and(|(seed, percent)| {
                seed.parse::<u64>().is_ok() && percent.parse::<u8>().is_ok_and(|p| p <= 100)
            });
            if !good {
                return Err(Error::new(
                    Code::BadOption,
                    "a Flick option has a bad value",
                    format!("--flick-place={value}"),
                    "after `random:` come a seed and a percentage from 0 to 100",
                    "for example --flick-place=random:1:50",
                ));
            }
            self.random = Some(random.into());
            return Ok(());
        }
        if value.is_empty() {
            return Err(Error::new(
                Code::BadOption,
                "a Flick option has a bad value",
                "--flick-place=",
                "it names no file",
                "--flick-place=FILE or --flick-place=random:SEED:PERCENT",
            ));
        }
        let path = self.replay.file(Path::new(value));
        read_file(&path).map_err(|error| Error {
            what: "a placement file cannot be read".into(),
            help: match path.exists() {
                true => error.help,
                false => {
                    "check the path; `flick advise` writes a placement file only where there is \
                          something to gain"
                        .into()
                }
            },
            ..error
        })?;
        self.files.push(value.into());
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.random.is_none()
    }

    /// What the pass understands.
    pub fn pass_options(&self) -> Vec<OsString> {
        let files = self.files.iter().map(|file| format!("-flick-place={file}"));
        let random = self
            .random
            .iter()
            .map(|random| format!("-flick-random={random}"));
        files.chain(random).map(OsString::from).collect()
    }

    /// The check of one link. FLK0210 for the first entry that is not among `matched` (`FILE:LINE`,
    /// as the pass writes them), except in files for a whole project: other links have the rest.
    /// `functions`: what the entry may have meant.
    pub fn check(
        &self,
        matched: &[String],
        functions: impl Fn() -> Result<Functions>,
    ) -> Result<()> {
        for file in &self.files {
            let text = read_text(&self.replay.file(Path::new(file)))?;
            if is_project(&text) {
                continue;
            }
            let what = "function compiled with this file in this link";
            check_entries(file, &text, matched, what, &functions)?;
        }
        Ok(())
    }
}

fn read_text(file: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&read_file(file)?).into_owned())
}

fn check_entries(
    file: &str,
    text: &str,
    matched: &[String],
    what: &str,
    functions: impl Fn() -> Result<Functions>,
) -> Result<()> {
    let known: HashSet<(PathBuf, usize)> =
        matched.iter().filter_map(|entry| position(entry)).collect();
    let mut unmatched =
        entries(text).filter(|&(number, _)| !known.contains(&(canonical(file), number)));
    let Some((number, entry)) = unmatched.next() else {
        return Ok(());
    };
    let no_function = format!("`{entry}` is the name of no {what}");
    let (mut why, help) = match functions()?.find(entry) {
        Finding::Near(names) => (
            no_function,
            format!(
                "did you mean '{}'? `flick explain {}` says how names are spelt",
                names.join("' or '"),
                Code::UnmatchedEntry,
            ),
        ),
        Finding::NotCompiledWith(place) => (
            format!(
                "`{entry}` is right, but {place}, which has the function, was compiled without this entry"
            ),
            format!(
                "give --flick-place={file} to that compile, too, and compile again when the file has \
                 changed (in a Makefile, let the object depend on it)"
            ),
        ),
        Finding::Assembly(place) => (
            format!(
                "`{entry}` names a function of {place} that is x86-64 assembly, and assembly is not compiled"
            ),
            "take the line out: the function stays on the host, and the thread crosses for each call from \
             placed functions; to place it, write it in C or C++"
                .to_owned(),
        ),
        Finding::OnlyCalled(place) => (
            format!(
                "`{entry}`: {place} uses this function, and flick cc has not compiled it; code that is \
                 compiled already cannot be placed"
            ),
            "place the functions that call it or that it calls back, or compile its source with \
             flick cc and this file"
                .to_owned(),
        ),
        Finding::Nothing => (
            no_function,
            format!(
                "correct the name (`nm -C` of an object shows them); when objects are compiled apart, \
                 give --flick-place there too; a file for several programs says `{PROJECT}` in a line \
                 of its own"
            ),
        ),
    };
    match unmatched.count() {
        0 => {}
        1 => why.push_str(" (one more entry matches nothing either)"),
        n => why.push_str(&format!(" ({n} more entries match nothing either)")),
    }
    Err(Error::new(
        Code::UnmatchedEntry,
        "a placement entry matches nothing",
        format!("{file}:{number}"),
        why,
        help,
    ))
}

/// `flick place --check`: whether every entry of a placement file matched in one of the programs,
/// libraries and objects. FLK0210 where one did not; FLK0105, FLK0304, FLK0308.
pub fn place_check(file: &Path, outputs: &[PathBuf]) -> Result<()> {
    let mut matched = Vec::new();
    for output in outputs {
        let place = output.display();
        let data = read_file(output)?;
        let elf = parse_host(&data).map_err(|e| e.at(&place))?;
        matched.extend(Placements::of_file(&elf).map_err(|e| e.at(&place))?.matched);
    }
    let functions = || {
        let mut functions = Functions::default();
        for output in outputs {
            let data = read_file(output)?;
            functions.add(&parse_host(&data)?, &output.display().to_string());
        }
        Ok(functions)
    };
    let text = read_text(file)?;
    let file = file.to_string_lossy();
    check_entries(
        &file,
        &text,
        &matched,
        "function that was compiled with this file into them",
        functions,
    )
}

/// What is wrong with a value of `--flick-place=`, if anything: FLK0104, FLK0105.
pub fn check_place_option(value: &str) -> Result<()> {
    Placement::default().add(value)
}

fn position(entry: &str) -> Option<(PathBuf, usize)> {
    let (file, line) = entry.rsplit_once(':')?;
    Some((canonical(file), line.parse().ok()?))
}

/// Compile and link may spell the file differently.
fn canonical(file: &str) -> PathBuf {
    Path::new(file)
        .canonicalize()
        .unwrap_or_else(|_| file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let mut p = Placement::default();
        p.add("random:7:30").unwrap();
        assert_eq!(p.pass_options(), ["-flick-random=7:30"]);
        for bad in ["random:", "random:1", "random:x:3", "random:1:101", ""] {
            assert_eq!(p.add(bad).unwrap_err().code, Code::BadOption, "{bad}");
        }
        assert_eq!(p.add("/no/such/file").unwrap_err().code, Code::FileAccess);
    }

    #[test]
    fn unused_entries_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p.txt");
        std::fs::write(&file, "# all\nnxp a*\n\nhost b # not\n").unwrap();
        let file = file.to_str().unwrap().to_owned();
        let mut p = Placement::default();
        p.add(&file).unwrap();
        let matched = [format!("{file}:2"), format!("{file}:4")];
        let none = || Ok(Functions::default());
        p.check(&matched, none).unwrap();
        let error = p.check(&matched[..1], none).unwrap_err();
        assert_eq!(
            (error.code, error.place),
            (Code::UnmatchedEntry, format!("{file}:4"))
        );
        std::fs::write(&file, "project # of several programs\nnxp a*\nhost b\n").unwrap();
        p.check(&[], none).unwrap();
        let text = read_text(Path::new(&file)).unwrap();
        let error = check_entries(&file, &text, &matched[..1], "function", none).unwrap_err();
        assert_eq!(
            (error.code, error.place),
            (Code::UnmatchedEntry, format!("{file}:3"))
        );
    }
}
