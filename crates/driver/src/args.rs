//! Arguments of `flick cc`: Flick's own options, and the little of clang's that Flick must know.
//! All of clang's go to clang as they stand.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_names::did_you_mean;

use crate::both_pipelines::BothPipelines;
use crate::clang_options::{REFUSED_LANGUAGES, SEPARATE, instruments_host};
use crate::help;
use crate::nxp_options::NxpOptions;
use crate::placement_options::Placement;
use crate::refused::{self, NotWithNxp};
use crate::translation_cache::Choice;
use crate::{Error, Result};

/// Where clang stops before the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// At objects or assembly.
    Code,
    /// At preprocessed text.
    Preprocess,
    /// At anything else that is no code: make rules, macros, the syntax check.
    Other,
}

/// A parsed command line.
#[derive(Debug)]
pub struct Args {
    /// The words for clang, in the user's order. Response files are still in them, unless one held
    /// an option of Flick's.
    pub words: Vec<OsString>,
    /// The same, with the contents of response files.
    pub expanded: Vec<OsString>,
    /// Flick's words, too.
    pub all: Vec<OsString>,
    /// Sources, objects, libraries and words for the linker.
    pub inputs: usize,
    /// Sources, by name.
    pub sources: Vec<PathBuf>,
    pub output: Option<OsString>,
    /// Inputs that clang would link.
    to_link: usize,
    pub stop: Option<Stop>,
    pub placement: Placement,
    pub nxp: NxpOptions,
    pub verbose: bool,
    /// `--flick-save-temps=DIR`
    pub save_temps: Option<PathBuf>,
    /// `--flick-check=device`: the runtime records host code's accesses
    pub check_device: bool,
    /// `--flick-timed`: host code counts itself
    pub timed: bool,
    /// `--flick-translate=link`: the link translates the image
    pub translate: bool,
    /// `--flick-translation-cache`
    pub translation_cache: Choice,
    /// Options that do not go together with NxP code; the pass and the link know whether there is
    /// some.
    pub not_with_nxp: NotWithNxp,
    /// Options of clang's that the pass must know.
    pub both_pipelines: BothPipelines,
    /// clang instruments host code.
    pub instruments_host: bool,
    /// `-###` and its kin: show what would be done.
    pub only_show: bool,
    /// clang prints its help, and does nothing else.
    pub help: bool,
    /// `-grecord-command-line` and its kin.
    pub records_command_line: bool,
    /// `-MJ FILE`
    pub database: Option<PathBuf>,
    pub linker: LinkerChoice,
}

/// Options that say which linker clang calls.
#[derive(Debug, Default)]
pub struct LinkerChoice {
    /// `-fuse-ld=`
    pub name: Option<OsString>,
    /// `--ld-path=`
    pub path: Option<OsString>,
    /// `-B`
    pub prefixes: Vec<PathBuf>,
    /// A configuration file may say it, too.
    pub configured: bool,
}

impl Args {
    /// `words`: as given; `expanded`: with the contents of response files. FLK0101 for what is not
    /// handled, FLK0104 for wrong values of Flick's own options.
    pub fn parse(words: Vec<OsString>, expanded: Vec<OsString>) -> Result<Self> {
        let mut args = Self {
            words: Vec::new(),
            expanded: Vec::new(),
            all: expanded.clone(),
            inputs: 0,
            to_link: 0,
            sources: Vec::new(),
            output: None,
            stop: None,
            placement: Placement::default(),
            nxp: NxpOptions::default(),
            verbose: false,
            save_temps: None,
            check_device: false,
            timed: false,
            translate: true,
            translation_cache: Choice::Usual,
            not_with_nxp: NotWithNxp::default(),
            both_pipelines: BothPipelines::default(),
            instruments_host: false,
            only_show: false,
            help: false,
            records_command_line: false,
            database: None,
            linker: LinkerChoice::default(),
        };
        let count = expanded.len();
        let mut parser = Parser {
            args: &mut args,
            language: None,
            words: expanded.into_iter(),
        };
        parser.run()?;
        args.nxp.finish()?;
        args.expanded = args.words.clone();
        if args.words.len() == count {
            args.words = words;
        }
        Ok(args)
    }

    /// Whether the command ends in a link.
    pub fn links(&self) -> bool {
        self.stop.is_none() && self.to_link > 0
    }

    /// The earliest stop counts, as in clang.
    fn stop_at(&mut self, stop: Stop) {
        self.stop = self.stop.max(Some(stop));
    }
}

struct Parser<'a> {
    args: &'a mut Args,
    /// `-x`
    language: Option<OsString>,
    words: std::vec::IntoIter<OsString>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<()> {
        while let Some(word) = self.words.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "--" {
                while let Some(mut word) = self.words.next() {
                    // Flick's own words come behind, so all are options again.
                    if word.as_bytes().starts_with(b"-") && word != "-" {
                        word = Path::new(".").join(word).into();
                    }
                    self.input(word)?;
                }
            } else if text == "-" || !text.starts_with('-') {
                self.input(word)?;
            } else if !self.flick_option(&text)? {
                self.clang_option(word, &text)?;
            }
        }
        Ok(())
    }

    /// The next word, as the value of `option`.
    fn value(&mut self, option: &str) -> Result<OsString> {
        self.words.next().ok_or_else(|| {
            let why = "it needs a value and is the last argument";
            Error::new(
                Code::BadOption,
                "an option has no value",
                option,
                why,
                "give it its value",
            )
        })
    }

    fn flick_option(&mut self, text: &str) -> Result<bool> {
        let (name, joined) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        // clang has no option that begins so, with one dash or two.
        let flicks = name.trim_start_matches('-').starts_with("flick");
        if !flicks && name != "-Xnxp" && name != "--nxp-march" {
            return Ok(false);
        }
        let mut value = || match &joined {
            Some(value) => Ok(value.clone()),
            None => self.value(name).map(|v| v.to_string_lossy().into_owned()),
        };
        match name {
            "--flick-verbose" if joined.is_none() => self.args.verbose = true,
            "--flick-timed" if joined.is_none() => self.args.timed = true,
            "--flick-place" => {
                let value = value()?;
                self.args.placement.add(&value)?;
            }
            "-Xnxp" => {
                let value = value()?;
                self.args.nxp.add(&value)?;
            }
            "--nxp-march" => {
                let value = value()?;
                self.args.nxp.march(&value)?;
            }
            "--flick-translate" => {
                self.args.translate = match &*value()? {
                    "link" => true,
                    "run" => false,
                    _ => {
                        return Err(Error::new(
                            Code::BadOption,
                            "an option of Flick's has a bad value",
                            text,
                            "NxP code is translated at the link or at run time",
                            "use --flick-translate=link or --flick-translate=run",
                        ));
                    }
                };
            }
            "--flick-translation-cache" if joined.as_ref().is_none_or(|dir| !dir.is_empty()) => {
                self.args.translation_cache = Choice::of(value()?.as_ref());
            }
            "--flick-replay" => self.args.placement.replay.dir = value()?.into(),
            "--flick-replay-from" => self.args.placement.replay.from = value()?.into(),
            "--flick-check" => {
                if value()? != "device" {
                    return Err(Error::new(
                        Code::BadOption,
                        "an option of Flick's has a bad value",
                        text,
                        "there is no such check",
                        "use --flick-check=device",
                    ));
                }
                self.args.check_device = true;
            }
            "--flick-save-temps" if joined.as_ref().is_some_and(|dir| !dir.is_empty()) => {
                self.args.save_temps = joined.map(PathBuf::from);
            }
            _ => {
                let word = name.trim_start_matches('-').trim_start_matches("flick");
                let word = word.trim_start_matches(['-', '_']);
                let meant = did_you_mean(word, "--flick-", help::NAMES);
                return Err(Error::new(
                    Code::BadOption,
                    "an option of Flick's is not known",
                    text,
                    "there is none of this name, or its value is missing",
                    format!(
                        "{meant}there are --flick-place=FILE, --flick-place=random:SEED:PERCENT, \
                         --flick-check=device, --flick-timed, --flick-translate=link|run, --flick-translation-cache=DIR|off, \
                         --flick-save-temps=DIR, --flick-verbose, \
                         -Xnxp=OPTION and --nxp-march=ISA"
                    ),
                ));
            }
        }
        Ok(true)
    }

    fn clang_option(&mut self, word: OsString, text: &str) -> Result<()> {
        let args = &mut *self.args;
        refused::check(text)?;
        args.not_with_nxp.see(text);
        args.both_pipelines.see(text);
        args.instruments_host |= instruments_host(text);
        let rest = |n: usize| OsStr::from_bytes(&word.as_bytes()[n..]).to_os_string();
        match text {
            "-c" | "--compile" | "-S" | "--assemble" => args.stop_at(Stop::Code),
            "-E" | "--preprocess" => args.stop_at(Stop::Preprocess),
            "-M"
            | "-MM"
            | "-dM"
            | "-fsyntax-only"
            | "--analyze"
            | "-emit-ast"
            | "-verify-pch"
            | "--precompile"
            | "--dependencies"
            | "--user-dependencies" => {
                args.stop_at(Stop::Other);
            }
            "-###" | "-ccc-print-phases" | "-ccc-print-bindings" => args.only_show = true,
            _ if help::is_help(text) => args.help = true,
            "-grecord-command-line"
            | "-grecord-gcc-switches"
            | "-frecord-command-line"
            | "-frecord-gcc-switches" => args.records_command_line = true,
            _ if text.starts_with("-fuse-ld=") => args.linker.name = Some(rest(9)),
            _ if text.starts_with("--ld-path=") => args.linker.path = Some(rest(10)),
            _ if text.starts_with("--config") => args.linker.configured = true,
            _ if text.starts_with("-Wl,") || (text.starts_with("-l") && text != "-l") => {
                args.inputs += 1;
                args.to_link += 1;
            }
            _ if text.starts_with("-o") && text != "-o" && !text.starts_with("-objc") => {
                args.output = Some(rest(2));
            }
            _ if text.starts_with("-x") && text != "-x" => self.language = language(rest(2))?,
            _ if text.starts_with("-B") && text != "-B" => {
                args.linker.prefixes.push(rest(2).into());
            }
            _ if text.starts_with("-MJ") && text != "-MJ" => args.database = Some(rest(3).into()),
            _ => {}
        }
        self.args.words.push(word);
        if !SEPARATE.contains(&text) && !text.starts_with("-Xarch_") {
            return Ok(());
        }
        // clang says best what is missing.
        let Some(value) = self.words.next() else {
            return Ok(());
        };
        refused::check_value(text, &value.to_string_lossy())?;
        let args = &mut *self.args;
        match text {
            "-o" | "--output" => args.output = Some(value.clone()),
            "-x" | "--language" => self.language = language(value.clone())?,
            "-B" | "--prefix" => args.linker.prefixes.push(value.clone().into()),
            "-MJ" => args.database = Some(value.clone().into()),
            "-l" | "-Xlinker" | "--for-linker" => {
                args.inputs += 1;
                args.to_link += 1;
            }
            "--config" => args.linker.configured = true,
            _ => {}
        }
        self.args.words.push(value);
        Ok(())
    }

    fn input(&mut self, path: OsString) -> Result<()> {
        let source = match &self.language {
            Some(_) => true,
            None => is_source(Path::new(&path))?,
        };
        let header = match &self.language {
            Some(language) => language.as_bytes().ends_with(b"header"),
            None => is_header(Path::new(&path)),
        };
        self.args.inputs += 1;
        // clang drops what does not exist, and may have no inputs left.
        let exists = path == "-" || Path::new(&path).exists();
        self.args.to_link += usize::from(exists && !header);
        if source {
            self.args.sources.push(path.clone().into());
        }
        self.args.words.push(path);
        Ok(())
    }
}

/// The value of `-x`.
fn language(name: OsString) -> Result<Option<OsString>> {
    if name == "none" {
        return Ok(None);
    }
    let text = name.to_string_lossy();
    if REFUSED_LANGUAGES.iter().any(|l| text.starts_with(l)) && !text.starts_with("c++") {
        return Err(refused::language(&format!("-x {text}")));
    }
    Ok(Some(name))
}

/// Whether clang compiles or assembles a file of this name; FLK0101 for languages that Flick does
/// not follow.
fn is_source(path: &Path) -> Result<bool> {
    let suffix = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    Ok(match suffix {
        "c" | "i" | "h" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CPP" | "CC" | "CXX"
        | "C++" | "ii" | "hh" | "hpp" | "hxx" | "h++" | "H" | "s" | "S" | "sx" | "asm" | "cppm"
        | "ccm" | "cxxm" | "c++m" | "ixx" | "iih" | "iim" | "pcm" => true,
        "m" | "mm" | "M" | "mi" | "mii" | "cu" | "cui" | "hip" | "hipi" | "cl" | "clii"
        | "clcpp" | "ll" | "bc" | "f" | "F" | "for" | "FOR" | "fpp" | "FPP" | "f90" | "F90"
        | "f95" | "F95" | "f03" | "F03" | "f08" | "F08" | "rs" | "ads" | "adb" | "ifs" | "hlsl" => {
            return Err(refused::language(&path.display().to_string()));
        }
        _ => path == Path::new("-"),
    })
}

fn is_header(path: &Path) -> bool {
    let suffix = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["h", "hh", "hpp", "hxx", "h++", "H", "iih"].contains(&suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_parse(line: &str) -> Result<Args> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        Args::parse(words.clone(), words)
    }
    fn parse(line: &str) -> Args {
        try_parse(line).unwrap()
    }

    #[test]
    fn values_are_no_inputs() {
        let args = parse("-I inc -D X -U Y -include a.h -MF a.c -isystem s -o out main.c x.o -lm");
        assert_eq!((args.sources.len(), args.inputs), (1, 3));
        assert_eq!(args.output, Some("out".into()));
        let args = parse("-oout -L dir -Ldir2 -l m -lpthread -xc file -x none a.o -z now");
        assert_eq!(args.output, Some("out".into()));
        assert_eq!((args.sources.len(), args.inputs), (1, 4));
    }

    #[test]
    fn flicks_options_are_taken_out() {
        let line = "-O2 -Xnxp -O3 a.c -Xnxp=-march=rv64g --flick-verbose --flick-place random:1:2";
        let args = parse(line);
        assert_eq!(args.words, ["-O2", "a.c"]);
        assert_eq!(args.placement.random, Some("1:2".into()));
        // A response file without any stays one.
        let words = vec!["@file".into(), "a.c".into()];
        let expanded = vec!["-O2".into(), "a.c".into()];
        let args = Args::parse(words.clone(), expanded).unwrap();
        assert_eq!(args.words, words);
    }

    #[test]
    fn what_stops_early() {
        assert_eq!(parse("-c a.c").stop, Some(Stop::Code));
        assert_eq!(parse("-c -E a.c").stop, Some(Stop::Preprocess));
        assert_eq!(parse("-E -dM a.c").stop, Some(Stop::Other));
        assert_eq!(parse("-dM -E a.c").stop, Some(Stop::Other));
        assert_eq!(parse("-MMD a.c").stop, None);
        assert_eq!(parse("-MM a.c").stop, Some(Stop::Other));
        let links = ["Cargo.toml", "-lm", "-x c -", "-xc++-header a -xnone src"];
        assert!(links.iter().all(|line| parse(line).links()));
        let others = [
            "a.h",
            "-c a.c",
            "-S a.c",
            "-x c++-header a",
            "-v",
            "-E a.c",
            "nothere",
        ];
        assert!(others.iter().all(|line| !parse(line).links()));
    }

    #[test]
    fn inputs_behind_two_dashes() {
        assert_eq!(
            parse("-c -- -x.c - y.c").words,
            ["-c", "./-x.c", "-", "y.c"]
        );
    }

    #[test]
    fn refusals() {
        for (code, line) in [
            (Code::UnhandledOption, "a.m"),
            (Code::UnhandledOption, "-x cuda a"),
            (Code::UnhandledOption, "-m32 a.c"),
            (Code::UnhandledOption, "--target=aarch64 a.c"),
            (Code::UnhandledOption, "-target riscv64 a.c"),
            (Code::UnhandledOption, "a.bc"),
            (Code::BadOption, "--flick-place=random:1 a.c"),
            (Code::BadOption, "--flick-place"),
            (Code::BadOption, "--flick-plcae=x"),
            (Code::BadOption, "-flick-place=x"),
            (Code::BadOption, "--flick_place=x"),
            (Code::BadOption, "--flick-save-temps="),
            (Code::BadOption, "--flick-check=nothing a.c"),
            (Code::BadOption, "--flick-check"),
            (Code::BadOption, "-Xnxp=-g a.c"),
        ] {
            assert_eq!(try_parse(line).unwrap_err().code, code, "{line}");
        }
        let help = |line| try_parse(line).unwrap_err().help;
        for line in ["--flick-plcae=x", "-flick-place=x", "--flick_place"] {
            assert!(
                help(line).starts_with("did you mean '--flick-place'? "),
                "{line}"
            );
        }
        assert!(help("--flick-fast").starts_with("there are"));
        parse("-flto -fno-lto --target=x86_64-linux-gnu -fsanitize=undefined a.c -x nonsense b");
    }
}
