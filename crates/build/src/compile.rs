//! Compiling one source: clang with Flick's header and, for C, the pass.
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use flick_abi::names::SEC_NXP;
use flick_image::elf::read_file;
use object::Object;

use crate::Result;
use crate::args::{Args, Language, Mode, Piece};
use crate::refused;
use crate::root::Root;
use crate::run::{Runner, Step};

/// What the compiles of one command share.
pub struct Compiler<'a> {
    args: &'a Args,
    clang: PathBuf,
    pass: PathBuf,
    include: PathBuf,
    runner: Runner,
}

impl<'a> Compiler<'a> {
    /// FLK0102 where clang or the pass is missing.
    pub fn new(args: &'a Args, root: &Root, runner: Runner) -> Result<Self> {
        let clang = args.front.tool().require()?;
        let pass = root.require(root.pass())?;
        Ok(Self {
            args,
            clang,
            pass,
            include: root.include(),
            runner,
        })
    }

    /// Compiles the source at `index` of the command line as the command says (`-c`, `-S`, `-E` …),
    /// with the user's own output name, else clang's default one.
    pub fn alone(&self, index: usize) -> Step {
        let mut words = self.words(index, self.args.mode);
        let stop = match self.args.mode {
            Mode::Object | Mode::Link => Some("-c"),
            Mode::Assembly => Some("-S"),
            Mode::Preprocess => None,
        };
        words.extend(stop.map(Into::into));
        if let Some(output) = &self.args.output {
            words.extend(["-o".into(), output.clone()]);
        }
        self.runner.run(&self.clang, &words)?;
        if self.args.mode == Mode::Object {
            let source = self.source(index);
            let object = self
                .args
                .output
                .clone()
                .unwrap_or_else(|| default_object(source));
            self.check_object(Path::new(&object), source)?;
        }
        Ok(())
    }

    /// Compiles it to `object`, for the link that follows in the same command.
    pub fn for_link(&self, index: usize, object: &Path) -> Step {
        let mut words = self.words(index, Mode::Link);
        words.extend(["-c".into(), "-o".into(), object.into()]);
        words.extend(self.depend_names(index));
        self.runner.run(&self.clang, &words)?;
        self.check_object(object, self.source(index))?;
        Ok(())
    }

    fn source(&self, index: usize) -> &OsStr {
        match &self.args.pieces[index] {
            Piece::Source { path, .. } => path,
            piece => unreachable!("not a source: {piece:?}"),
        }
    }

    fn words(&self, index: usize, mode: Mode) -> Vec<OsString> {
        let Piece::Source { language, .. } = &self.args.pieces[index] else {
            unreachable!("callers name a source")
        };
        let mut words: Vec<OsString> = Vec::new();
        for (at, piece) in self.args.pieces.iter().enumerate() {
            match piece {
                Piece::Source { .. } if at != index => {}
                Piece::File(_) | Piece::Library(_) | Piece::LibraryDir(_) | Piece::Linker(_) => {}
                // `-static` and the like matter to both.
                _ => words.extend(piece.words()),
            }
        }
        // Options meant for the C sources of the same command; clang alone would have used them.
        if *language != Language::C && (mode == Mode::Link || self.args.inputs() > 1) {
            words.insert(0, "--start-no-unused-arguments".into());
            words.push("--end-no-unused-arguments".into());
        }
        if *language != Language::Assembly {
            words.push("-D__FLICK__=1".into());
            // After every directory of the user's: another flick.h of theirs comes first.
            words.extend(["-idirafter".into(), self.include.clone().into()]);
        }
        if *language == Language::C && mode != Mode::Preprocess {
            let mut plugin = OsString::from("-fpass-plugin=");
            plugin.push(&self.pass);
            words.push(plugin);
            // Loaded a second time for its options, which must exist when -mllvm is read.
            words.extend(["-Xclang", "-load", "-Xclang"].map(Into::into));
            words.push(self.pass.clone().into());
            words.extend(self.args.placement.pass_options());
        }
        words
    }

    /// Make rules name what clang would name: the program and a file beside it.
    fn depend_names(&self, index: usize) -> Vec<OsString> {
        let rule = |flag: &str| {
            self.args.pieces.iter().any(|piece| match piece {
                Piece::Depend(words) => words[0].to_string_lossy().starts_with(flag),
                _ => false,
            })
        };
        let mut words = Vec::new();
        if rule("-MD") || rule("-MMD") {
            let output = self.args.output.clone();
            if !rule("-MF") {
                let base = match &output {
                    Some(output) => PathBuf::from(output),
                    None => PathBuf::from(
                        Path::new(self.source(index))
                            .file_name()
                            .unwrap_or_default(),
                    ),
                };
                words.extend(["-MF".into(), base.with_extension("d").into()]);
            }
            if !rule("-MT") && !rule("-MQ") {
                let target = output.unwrap_or_else(|| default_object(self.source(index)));
                words.extend(["-MQ".into(), target]);
            }
        }
        words
    }

    fn check_object(&self, object: &Path, source: &OsStr) -> Result<()> {
        let Some(option) = &self.args.not_with_nxp else {
            return Ok(());
        };
        let data = read_file(object)?;
        let fat =
            object::File::parse(&*data).is_ok_and(|file| file.section_by_name(SEC_NXP).is_some());
        if fat {
            // What must not be used must not be found by the next `make` either.
            let _ = std::fs::remove_file(object);
            return Err(refused::with_nxp(
                &option.to_string_lossy(),
                &source.to_string_lossy(),
            ));
        }
        Ok(())
    }
}

fn default_object(source: &OsStr) -> OsString {
    let mut name = Path::new(source)
        .file_stem()
        .unwrap_or_default()
        .to_os_string();
    name.push(".o");
    name
}
