//! The link of a program or library (`docs/formats.md`, "The image link").
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flick_abi::names::{ALLOCATOR_FUNCTIONS, HEAP_FUNCTIONS, STATIC_WRAPS};
use flick_image::elf::read_file;
use flick_image::{final_file, write};

use crate::args::{Args, Piece};
use crate::inputs::{FatUnit, Inputs};
use crate::nxp_link::{self, HostRules, NxpLibrary};
use crate::root::Root;
use crate::run::{Runner, Step, Stop};
use crate::search::{link_inputs, linker_words};
use crate::temp::Temp;
use crate::{Error, refused};

/// A link that `flick cc` was asked for.
pub struct Link<'a> {
    pub args: &'a Args,
    /// For each piece that was a source, what it became.
    pub objects: Vec<Option<PathBuf>>,
    pub root: &'a Root,
    pub runner: Runner,
    pub temp: &'a Temp,
}

/// Links. A link without NxP code is clang's own.
pub fn run(link: &Link) -> Step {
    let words: Vec<OsString> = link.args.pieces.iter().flat_map(linker_words).collect();
    let has = |names: &[&str]| {
        names
            .iter()
            .any(|name| link.args.has(name) || words.iter().any(|word| word == name))
    };
    let clang = link.args.front.tool().require()?;
    if has(&["-r", "--relocatable"]) {
        return link.runner.run(
            &clang,
            &link.command(None, link.args.output.clone(), Mode::Plain),
        );
    }
    let shared = has(&["-shared", "--shared"]);
    let static_link = !shared && has(&["-static", "--static", "-static-pie"]);

    let library = NxpLibrary::read(link.root.require(link.root.nxp_library())?)?;
    let files = link_inputs(&link.args.pieces, &link.objects, static_link);
    let mut asked = library.names();
    asked.extend(HEAP_FUNCTIONS.iter().map(|&name| name.to_owned()));
    asked.insert(USABLE_SIZE.to_owned());
    let inputs = Inputs::read(&files, &asked)?;
    link.args.placement.check(&inputs.matched)?;
    let mode = match (
        inputs.units.is_empty() && !inputs.needs_runtime,
        static_link,
    ) {
        (true, _) => Mode::Plain,
        (_, true) => Mode::Static {
            usable_size: !has_allocator(&inputs.host_defines)
                || inputs.host_defines.contains(USABLE_SIZE),
        },
        (_, false) => Mode::Dynamic,
    };
    match mode {
        Mode::Plain => {}
        Mode::Static { .. } => drop(link.root.require(link.root.runtime_static())?),
        Mode::Dynamic => drop(link.root.require(link.root.runtime_shared())?),
    }
    let output = link.args.output.clone();
    if inputs.units.is_empty() {
        return link.runner.run(&clang, &link.command(None, output, mode));
    }
    if let Some(option) = &link.args.not_with_nxp {
        let place = &inputs.units[0].place;
        return Err(refused::with_nxp(&option.to_string_lossy(), place).into());
    }
    link.root.require(link.root.crt())?;
    let wrapped = wrapped(&words);
    if let (true, Some(name)) = (
        static_link,
        STATIC_WRAPS.iter().find(|&&w| wrapped.contains(w)),
    ) {
        return Err(refused::wrap(name).into());
    }
    let rules = HostRules {
        shared,
        own_heap: own_heap(&wrapped, &inputs.host_defines),
        wrapped,
        allow_duplicates: has(&["muldefs", "--allow-multiple-definition"])
            || words.windows(2).any(|w| w[0] == "-z" && w[1] == "muldefs")
            || link
                .args
                .pieces
                .iter()
                .any(|p| matches!(p, Piece::Linker(w) if w == &["-z", "muldefs"])),
        replaced: &inputs.host_defines & &library.names(),
    };
    let kept = if inputs.units.iter().any(|unit| unit.optional) {
        link.trial(&clang, &inputs.units, mode)?
    } else {
        inputs.units.iter().collect()
    };
    if kept.is_empty() {
        let mode = if inputs.needs_runtime {
            mode
        } else {
            Mode::Plain
        };
        return link.runner.run(&clang, &link.command(None, output, mode));
    }
    let image = nxp_link::image_object(&kept, &library, &rules, link.runner, link.temp)?;
    link.runner
        .run(&clang, &link.command(Some(&image), output, mode))
}

/// What Flick adds to clang's link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Dynamic,
    /// `usable_size`: whether [`USABLE_SIZE`] is wrapped.
    Static {
        usable_size: bool,
    },
}

/// What an allocator need not have; to wrap it is to ask for the C library's, which then comes with
/// its `malloc`.
const USABLE_SIZE: &str = "malloc_usable_size";

impl Link<'_> {
    /// clang's arguments.
    fn command(&self, image: Option<&Path>, output: Option<OsString>, mode: Mode) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        // The user's compile options are there for the sources, which are objects by now.
        let quiet = self.args.sources() > 0;
        words.extend(quiet.then(|| "--start-no-unused-arguments".into()));
        if mode == Mode::Dynamic {
            // In front of every other library, so that `free` and `sigaction` are found here first,
            // whatever allocator the program brings; these are then called from here.
            let mut directory = OsString::from("-L");
            directory.push(self.root.lib());
            words.extend([
                "-Wl,--push-state,--no-as-needed,-Bdynamic".into(),
                directory,
            ]);
            words.extend(["-l:libflick.so", "-Wl,--pop-state"].map(Into::into));
            let mut run_path = OsString::from("-Wl,-rpath,");
            run_path.push(self.root.lib());
            words.push(run_path);
        }
        if image.is_some() {
            words.push(self.root.crt().into());
        }
        words.extend(image.map(Into::into));
        for (index, piece) in self.args.pieces.iter().enumerate() {
            match piece {
                Piece::Source { .. } => words.extend(self.objects[index].iter().map(Into::into)),
                // An object is an object in every language.
                Piece::Language(_) if quiet => {}
                Piece::Depend(_) => {}
                _ => words.extend(piece.words()),
            }
        }
        words.extend(quiet.then(|| "--end-no-unused-arguments".into()));
        if let Mode::Static { usable_size } = mode {
            for name in STATIC_WRAPS {
                if usable_size || *name != USABLE_SIZE {
                    words.push(format!("-Wl,--wrap={name}").into());
                }
                // libc's own calls come too late to make the linker look into this archive.
                words.push(format!("-Wl,-u,__wrap_{name}").into());
            }
            words.push(self.root.runtime_static().into());
        }
        words.extend(output.into_iter().flat_map(|output| ["-o".into(), output]));
        words
    }

    /// The units that the host linker keeps, in its order.
    fn trial<'a>(&self, clang: &Path, units: &'a [FatUnit], mode: Mode) -> Step<Vec<&'a FatUnit>> {
        let symbols = nxp_link::trial_symbols(units)?;
        let stand_in = write::trial_object(symbols.iter().map(String::as_str))?;
        let stand_in = self.temp.write("trial.o", &stand_in)?;
        let out = self.temp.file("trial");
        let words = self.command(Some(&stand_in), Some(out.clone().into()), mode);
        let result = self.runner.capture(clang, &words)?;
        if !result.status.success() {
            eprint!("{}", String::from_utf8_lossy(&result.stderr));
            return Err(Stop::Exit(crate::run::exit_code(result.status)));
        }
        let data = read_file(&out)?;
        let file = object::File::parse(&*data).map_err(|e| not_understood(&e.to_string()))?;
        let by_id: BTreeMap<u64, &FatUnit> = units.iter().rev().map(|u| (u.id, u)).collect();
        let mut seen = BTreeSet::new();
        let kept = final_file::units(&file)?;
        Ok(kept
            .into_iter()
            .filter(|&id| seen.insert(id))
            .map(|id| by_id.get(&id).copied())
            .collect::<Option<_>>()
            .ok_or_else(|| not_understood("it has a unit of no input"))?)
    }
}

fn not_understood(why: &str) -> Error {
    Error::new(
        103,
        "a tool that Flick calls failed",
        "the host linker",
        format!("the output of the trial link is not understood: {why}"),
        "link with GNU ld or lld (-fuse-ld=bfd, -fuse-ld=lld)",
    )
}

fn has_allocator(defined: &BTreeSet<String>) -> bool {
    ALLOCATOR_FUNCTIONS.iter().any(|&f| defined.contains(f))
}

/// The heap functions that NxP code must call under their own names: the user's wrappers want to see
/// the calls, or the blocks are of another heap.
fn own_heap(wrapped: &BTreeSet<String>, defined: &BTreeSet<String>) -> BTreeSet<String> {
    let allocator = has_allocator(defined);
    HEAP_FUNCTIONS
        .iter()
        .filter(|&&name| allocator || wrapped.contains(name) || defined.contains(name))
        .map(|&name| name.to_owned())
        .collect()
}

/// Names given by `--wrap`.
fn wrapped(words: &[OsString]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut next = false;
    for word in words {
        let word = word.to_string_lossy();
        let joined = word
            .strip_prefix("--wrap=")
            .or_else(|| word.strip_prefix("-wrap="));
        match joined {
            Some(name) => {
                names.insert(name.to_owned());
            }
            None if next => {
                names.insert(word.clone().into_owned());
            }
            None => {}
        }
        next = matches!(&*word, "--wrap" | "-wrap");
    }
    names
}
