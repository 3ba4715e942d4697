//! The link of a program or library (`docs/objects.md`, "The image link").
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flick_abi::ABI_VERSION;
use flick_abi::names::{ALLOCATOR_FUNCTIONS, HEAP_FUNCTIONS, STATIC_WRAPS};
use flick_abi::thread_order;
use flick_diagnostics::Code;
use flick_image::elf_kind::read_file;
use flick_image::{final_file, output, write};

use crate::crash;
use crate::driver::exit_code;
use crate::line::{self, Line};
use crate::link_inputs::{self, FatUnit, Inputs};
use crate::nxp_link::{self, HostRules, NxpLibrary};
use crate::root::Root;
use crate::run::{Runner, Step, Stop};
use crate::search::{LinkInput, link_inputs};
use crate::temp::Temp;
use crate::translation_cache::TranslationCache;
use crate::{Error, Result, expected, failed_link, refused, suggestion, ungated};

/// A link that clang asks Flick for.
struct Link<'a> {
    line: &'a Line,
    root: &'a Root,
    runner: Runner,
    temp: &'a Temp,
}

/// Links in the place of the linker, with its words as clang gives them. Prints errors; the exit
/// code is the linker's.
pub fn ld(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    crash::guarded(|| exit_code(link(args.into_iter().collect())))
}

/// A link without NxP code is the linker's own.
fn link(words: Vec<OsString>) -> Step {
    let line = Line::parse(words)?;
    let link = &Link {
        line: &line,
        root: &Root::find()?,
        runner: Runner {
            verbose: line.verbose,
        },
        temp: &Temp::new(line.save_temps.as_deref())?,
    };
    let has = |names: &[&str]| line.has(names);
    if has(&["-r", "--relocatable"]) {
        return link.run(None, Mode::Plain);
    }
    let shared = has(&["-shared", "--shared", "-Bshareable"]);
    let static_link = !shared && has(&["-static", "--static", "-static-pie"]);

    let library = NxpLibrary::read(link.root.require(link.root.nxp_library())?)?;
    let files = link_inputs(&line, static_link);
    let mut asked = library.names();
    asked.extend(HEAP_FUNCTIONS.iter().map(|&name| name.to_owned()));
    asked.insert(USABLE_SIZE.to_owned());
    let inputs = Inputs::read(&files, &asked)?;
    for warning in expected::unmet(&inputs, &files)? {
        output::message(warning.as_warning());
    }
    line.placement
        .check(&inputs.matched, || suggestion::of_inputs(&files))?;
    let mode = match (
        inputs.units.is_empty() && !inputs.needs_runtime,
        static_link,
    ) {
        (true, _) => Mode::Plain,
        (_, true) => Mode::Static {
            usable_size: !has_allocator(&inputs.host_defines)
                || inputs.host_defines.contains(USABLE_SIZE),
            timed: inputs.is_timed,
        },
        (_, false) => Mode::Dynamic {
            timed: inputs.is_timed && !shared,
        },
    };
    match mode {
        Mode::Plain => {}
        Mode::Static { .. } => drop(link.root.require(link.root.runtime_static())?),
        Mode::Dynamic { .. } => {
            let runtime = link.root.runtime_shared();
            link.root
                .require_version(runtime, |runtime| runtime.reads(ABI_VERSION))?;
        }
    }
    if inputs.units.is_empty() {
        return link.run(None, mode).map_err(|stop| {
            // NxP code that a linker script names is not seen here.
            let script = |file: &LinkInput| !file.of_system() && link_inputs::is_script(&file.path);
            let flicks = !inputs.expected.is_empty() || files.iter().any(script);
            let files = if flicks { &files[..] } else { &[] };
            link.explained(stop, files, &link.command(None, mode))
        });
    }
    if let Some(option) = &line.refuse {
        let place = &inputs.units[0].place;
        return Err(refused::with_nxp(option, place).into());
    }
    let crt = link.root.crt();
    link.root.require_version(crt, |crt| crt == ABI_VERSION)?;
    let wrapped = wrapped(&line.user);
    if let (true, Some(name)) = (
        static_link,
        STATIC_WRAPS
            .iter()
            .chain(thread_order::FUNCTIONS.iter().map(|(name, _)| name))
            .find(|&&w| wrapped.contains(w)),
    ) {
        return Err(refused::wrap(name).into());
    }
    let translate = line.translate && !lacks_relocations(&line, shared || static_link);
    let output = Path::new(line.output().unwrap_or(OsStr::new("a.out")));
    let cache = TranslationCache::open(&line.translation_cache, output);
    let rules = HostRules {
        shared,
        own_heap: own_heap(&wrapped, &inputs.host_defines),
        replaced: library.replaced(inputs.host_defines.iter().chain(&wrapped)),
        wrapped,
        translate,
        cache: translate.then_some(cache).flatten(),
        allow_duplicates: has(&["-zmuldefs", "--allow-multiple-definition"])
            || line.has_z("muldefs"),
    };
    let kept = if inputs.units.iter().any(|unit| unit.optional) {
        link.trial(&inputs.units, mode, &files)?
    } else {
        inputs.units.iter().collect()
    };
    if kept.is_empty() {
        let mode = if inputs.needs_runtime {
            mode
        } else {
            Mode::Plain
        };
        return link.run(None, mode);
    }
    let image = nxp_link::image_object(&kept, &library, &rules, link.runner, link.temp)?;
    link.run(Some(&image), mode)
        .map_err(|stop| link.explained(stop, &files, &link.command(Some(&image), mode)))?;
    let unstripped = |keep: &dyn Fn(&OsString) -> bool| link.again(&image, mode, keep);
    if let Some(warning) = ungated::check(&line, &files, unstripped)? {
        output::message(warning.as_warning());
    }
    Ok(())
}

/// Whether the linker gives addresses of a library's functions and data as those of its own table of
/// calls and of copies, without a relocation for the loader: gold does in programs at a fixed
/// address. Translated code could not reach the runtime by them.
fn lacks_relocations(line: &Line, other: bool) -> bool {
    let name = line.linker.file_name().unwrap_or_default();
    let is_gold = name.to_string_lossy().contains("gold");
    is_gold && !other && !line.has(&["-pie", "--pic-executable"])
}

/// What Flick adds to the link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// `timed`: with the functions that order threads by virtual time.
    Dynamic {
        timed: bool,
    },
    /// `usable_size`: whether [`USABLE_SIZE`] is wrapped; `timed` as above.
    Static {
        usable_size: bool,
        timed: bool,
    },
}

/// What an allocator need not have; to wrap it is to ask for the C library's, which then comes with
/// its `malloc`.
const USABLE_SIZE: &str = "malloc_usable_size";

impl Link<'_> {
    fn run(&self, image: Option<&Path>, mode: Mode) -> Step {
        let words = self.command(image, mode);
        self.runner.run(&self.line.linker, &words)
    }

    /// The linker's arguments.
    fn command(&self, image: Option<&Path>, mode: Mode) -> Vec<OsString> {
        let mut words = self.line.before.clone();
        if let Mode::Dynamic { timed } = mode {
            // In front of every other library, so that `free` and `sigaction` are found here first,
            // whatever allocator the program brings; these are then called from here.
            words.extend(["--push-state", "--no-as-needed", "-Bdynamic"].map(Into::into));
            // The C library's functions are looked up behind libflick, and so behind these.
            if timed {
                words.push(self.root.time_shared().into());
            }
            words.push(self.root.runtime_shared().into());
            words.extend(["--pop-state", "-rpath"].map(Into::into));
            words.push(self.root.lib().into());
        }
        if let Some(image) = image {
            words.extend([self.root.crt().into(), image.into()]);
        }
        words.extend(self.line.user.iter().cloned());
        if mode != Mode::Plain {
            // The linker takes what is called.
            words.push(self.root.files().into());
        }
        if let Mode::Static { usable_size, timed } = mode {
            let time = thread_order::FUNCTIONS.iter().map(|(name, _)| name);
            let time = time.take(if timed { usize::MAX } else { 0 });
            for name in STATIC_WRAPS.iter().chain(time) {
                if usable_size || *name != USABLE_SIZE {
                    words.push(format!("--wrap={name}").into());
                }
                // libc's own calls come too late to make the linker look into this archive.
                words.extend(["-u".into(), format!("__wrap_{name}").into()]);
            }
            if timed {
                words.push(self.root.time_static().into());
            }
            words.push(self.root.runtime_static().into());
        }
        words.extend(self.line.after.iter().cloned());
        words
    }

    /// Links once more, with those words that `keep` takes, into a temporary file; without a word:
    /// the linker has said it all the first time.
    fn again(
        &self,
        image: &Path,
        mode: Mode,
        keep: &dyn Fn(&OsString) -> bool,
    ) -> Result<Option<PathBuf>> {
        let out = self.temp.file("unstripped");
        let mut words = self.command(Some(image), mode);
        words.retain(keep);
        let words = line::for_another(&words, &out);
        let linked = self.runner.capture(&self.line.linker, &words)?;
        Ok(linked.status.success().then_some(out))
    }

    /// Prints what Flick knows about a link that the linker has refused.
    fn explained(&self, stop: Stop, files: &[LinkInput], words: &[OsString]) -> Stop {
        // Not where the linker was killed; and what cannot be explained is not a second error.
        if let (Stop::Exit(1), false) = (&stop, files.is_empty())
            && let Ok(notes) = failed_link::notes(self.line, files, words, self.temp)
        {
            for note in notes {
                output::message(note.as_note());
            }
        }
        stop
    }

    /// The units that the host linker keeps, in its order.
    fn trial<'a>(
        &self,
        units: &'a [FatUnit],
        mode: Mode,
        files: &[LinkInput],
    ) -> Step<Vec<&'a FatUnit>> {
        let symbols = nxp_link::trial_symbols(units)?;
        let stand_in = write::trial_object(symbols.iter().map(String::as_str))?;
        let stand_in = self.temp.write("trial.o", &stand_in)?;
        let out = self.temp.file("trial");
        let mut words = self.command(Some(&stand_in), mode);
        // What has no say in which members are taken need not be made.
        words.extend(["--strip-debug", "--build-id=none"].map(Into::into));
        words.extend(["-o".into(), out.clone().into()]);
        let result = self.runner.capture(&self.line.linker, &words)?;
        if !result.status.success() {
            // Where it is closed, the text has no reader.
            let _ = std::io::stderr().write_all(&result.stderr);
            let stop = Stop::Exit(crate::run::exit_code(result.status));
            return Err(self.explained(stop, files, &words));
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
        Code::FailedTool,
        "a tool that Flick calls failed",
        "the host linker",
        format!("the output of the trial link is not understood: {why}"),
        "link with GNU ld or lld (-fuse-ld=bfd, -fuse-ld=lld)",
    )
}

fn has_allocator(defined: &BTreeSet<String>) -> bool {
    ALLOCATOR_FUNCTIONS.iter().any(|&f| defined.contains(f))
}

/// The heap functions that NxP code must call under their own names: the user's wrappers want to
/// see the calls, or the blocks are of another heap.
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
