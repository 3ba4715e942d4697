//! The RV64 link: NxP objects of all kept units to one shared ELF, and that to the image object
//! (`docs/objects.md`, "The image link", steps 2 and 3).
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use flick_abi::ABI_VERSION;
use flick_abi::names::{CALL_PREFIX, NXP_PREFIX, OUTSIDE_PREFIX, RT_HEAP_PREFIX};
use flick_diagnostics::Code;
use flick_image::elf_kind::read_file;
use flick_image::linked::{ADDRESS_PREFIX, Target, plain_name};
use flick_image::translation::Translated;
use flick_image::{Linked, final_file, output, write};
use flick_names::demangled_text;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

use crate::link_inputs::FatUnit;
use crate::payload::Payload;
use crate::root::{self, LLD};
use crate::run::Runner;
use crate::temp::Temp;
use crate::translate_image;
use crate::translation_cache::TranslationCache;
use crate::{Error, Result};

/// How the host links, as far as the image must follow it.
#[derive(Debug, Default)]
pub struct HostRules {
    /// Another module may replace default-visibility functions.
    pub shared: bool,
    /// `--wrap`: calls go where the host linker sends them.
    pub wrapped: BTreeSet<String>,
    pub allow_duplicates: bool,
    /// The image is translated now (`--flick-translate=link`).
    pub translate: bool,
    /// With translations of the link before.
    pub cache: Option<TranslationCache>,
    /// Functions of `libnxp.a` that host code of this link defines itself, or has wrapped.
    pub replaced: BTreeSet<String>,
    /// Of the C library's heap functions those that are the program's own here.
    pub own_heap: BTreeSet<String>,
}

/// `libnxp.a`: each member with the plain names of its functions.
#[derive(Debug)]
pub struct NxpLibrary {
    path: PathBuf,
    members: Vec<(Vec<u8>, BTreeSet<String>)>,
    /// Functions with a way to the host's own.
    outside: BTreeSet<String>,
}

impl NxpLibrary {
    /// FLK0102 where it is not an archive of RV64 objects.
    pub fn read(path: PathBuf) -> Result<Self> {
        let broken = |why: object::Error| {
            let help = "run `make` (or `make install PREFIX=…`) in Flick's source tree again";
            let place = path.display().to_string();
            Error::new(
                Code::MissingTool,
                "one of Flick's own files is broken",
                place,
                why.to_string(),
                help,
            )
        };
        let data = read_file(&path)?;
        let archive = ArchiveFile::parse(&*data).map_err(broken)?;
        let mut members = Vec::new();
        let mut outside = BTreeSet::new();
        let mut version = None;
        for member in archive.members() {
            let bytes = member.and_then(|m| m.data(&*data)).map_err(broken)?;
            let file = object::File::parse(bytes).map_err(broken)?;
            let mut names = BTreeSet::new();
            for symbol in file.symbols() {
                let Ok(name) = symbol.name() else { continue };
                if !symbol.is_global() || symbol.is_undefined() || name.starts_with(CALL_PREFIX) {
                    continue;
                }
                match name.strip_prefix(OUTSIDE_PREFIX) {
                    Some(name) => outside.insert(name.to_owned()),
                    None => names.insert(name.to_owned()),
                };
            }
            version = version.or_else(|| final_file::version(&file));
            members.push((bytes.to_vec(), names));
        }
        root::check_own(&path, version, |version| version == ABI_VERSION)?;
        Ok(Self {
            path,
            members,
            outside,
        })
    }

    pub fn names(&self) -> BTreeSet<String> {
        self.members
            .iter()
            .flat_map(|(_, names)| names.iter().cloned())
            .collect()
    }

    /// Those of `defined` that stand for libnxp's. Names that belong to the compiler are defined by
    /// its own library, where a link has that among its objects.
    pub fn replaced<'a>(&self, defined: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        let names = self.names();
        let own = |name: &&String| !name.starts_with("__") && names.contains(*name);
        defined.into_iter().filter(own).cloned().collect()
    }

    /// Arguments that offer all members but those of `replaced` functions, and lead to the host's
    /// where a call needs a signature.
    fn arguments(&self, replaced: &BTreeSet<String>, temp: &Temp) -> Result<Vec<OsString>> {
        if replaced.is_empty() {
            return Ok(vec![self.path.clone().into()]);
        }
        let mut words = Vec::new();
        for name in replaced & &self.outside {
            for prefix in ["", CALL_PREFIX] {
                words.push(format!("--defsym={prefix}{name}={OUTSIDE_PREFIX}{name}").into());
            }
        }
        let gone = replaced - &self.outside;
        words.push("--start-lib".into());
        for (index, (bytes, names)) in self.members.iter().enumerate() {
            if names.is_disjoint(&gone) {
                words.push(temp.write(&format!("libnxp-{index}.o"), bytes)?.into());
            }
        }
        words.push("--end-lib".into());
        Ok(words)
    }
}

/// Links `units` (in the host link's order) and returns the path of the image object. FLK0102,
/// FLK0302, FLK0305, FLK0306.
pub fn image_object(
    units: &[&FatUnit],
    library: &NxpLibrary,
    rules: &HostRules,
    runner: Runner,
    temp: &Temp,
) -> Result<PathBuf> {
    let lld = LLD.require()?;
    let both = &library.names() - &(&rules.replaced - &library.outside);
    let out = temp.file("image.elf");
    let mut words: Vec<OsString> = [
        "-shared",
        "-Bsymbolic",
        "-z",
        "now",
        "-z",
        "max-page-size=4096",
        "--build-id=none",
        // Labels of the assembler's, which would cut functions up in a disassembly.
        "--discard-locals",
    ]
    .map(Into::into)
    .into();
    words.extend(
        rules
            .allow_duplicates
            .then(|| "--allow-multiple-definition".into()),
    );
    words.extend(["-o".into(), out.clone().into()]);
    let mut strong = BTreeSet::new();
    let mut called = BTreeSet::new();
    let mut names = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        let payload = Payload::read(&unit.payload, &both).map_err(|e| e.at(&unit.place))?;
        let reachable = |name: &String| {
            !rules.wrapped.contains(name)
                && !payload.variadic.contains(name)
                && (!rules.shared || unit.bound.contains(name))
        };
        let defined = payload
            .defined
            .iter()
            .filter(|(name, weak)| !**weak && reachable(name));
        strong.extend(defined.map(|(name, _)| name.clone()));
        called.extend(payload.called);
        let path = temp.write(&format!("nxp-{index}.o"), &payload.bytes)?;
        names.insert(path.display().to_string(), unit.place.clone());
        words.push(path.into());
    }
    words.extend(library.arguments(&rules.replaced, temp)?);
    for name in called.intersection(&strong) {
        words.push(format!("--defsym={CALL_PREFIX}{name}={NXP_PREFIX}{name}").into());
    }
    let own = |name: &str| {
        let plain = name.strip_prefix(RT_HEAP_PREFIX)?;
        rules.own_heap.contains(plain).then(|| plain.to_owned())
    };
    for name in &called {
        if let Some(plain) = own(name).filter(|plain| strong.contains(plain)) {
            words.push(format!("--defsym={CALL_PREFIX}{name}={NXP_PREFIX}{plain}").into());
        }
    }
    // By a file: there is a word for every function that is called.
    let output = runner.capture_from(&lld, &words, &temp.file("image.words"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(does_not_link(&messages, &names));
    }
    let file = read_file(&out)?;
    let mut linked = Linked::parse(&file)?;
    for relocation in &mut linked.relocations {
        if let Target::Host { name, .. } = &mut relocation.target
            && let Some(plain) = own(name)
        {
            *name = plain;
        }
    }
    let translated = rules
        .translate
        .then(|| translated(&linked, rules.cache.as_ref(), runner));
    let object = write::image_object(&linked, &file, translated.as_ref())?;
    temp.write("image.o", &object)
}

/// The translation of the image, with what the cache has of it.
fn translated(linked: &Linked, cache: Option<&TranslationCache>, runner: Runner) -> Translated {
    let Some(cache) = cache else {
        return translate_image::translate(linked);
    };
    let kept = cache.kept();
    let (translated, made) = translate_image::translate_with(linked, &kept);
    cache.keep(&made);
    if runner.verbose {
        output::message(format_args!(
            "flick: of {} translations {} were kept, {} are for their place: {}",
            made.functions,
            made.reused,
            made.at_their_place,
            cache.path().display()
        ));
    }
    translated
}

/// lld's messages in the names of the source.
fn does_not_link(messages: &str, files: &BTreeMap<String, String>) -> Error {
    let mut text = messages.to_owned();
    // Longest first: nxp-1.o is the end of no other, but nxp-1 begins nxp-10.
    for (path, place) in files.iter().rev() {
        text = text.replace(path.as_str(), place);
    }
    for prefix in [NXP_PREFIX, CALL_PREFIX, ADDRESS_PREFIX] {
        text = text.replace(prefix, "");
    }
    let text = text
        .replace("ld.lld-19: error: ", "")
        .replace("ld.lld: error: ", "");
    let text = demangled_text(&text);
    let text: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = text.first().copied().unwrap_or("ld.lld-19 gave no reason");
    let place = first
        .split_once(": ")
        .map_or("", |(_, symbol)| plain_name(symbol));
    let (what, help) = if first.contains("duplicate symbol") {
        (
            "the NxP code does not link",
            "define the function once; in a header make it inline or static",
        )
    } else {
        (
            "the NxP code does not link",
            "compile all objects again with this flick",
        )
    };
    let mut why = first
        .split_once(": ")
        .map_or(first, |(kind, _)| kind)
        .to_owned();
    for line in &text[1.min(text.len())..] {
        why.push_str("\n    ");
        why.push_str(line);
    }
    Error::new(Code::FailedNxpLink, what, place, why, help)
}

/// Names that a trial link's stand-in for the image must define.
pub fn trial_symbols(units: &[FatUnit]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for unit in units {
        let payload = Payload::read(&unit.payload, &BTreeSet::new());
        let payload = payload.map_err(|e| e.at(&unit.place))?;
        names.extend(
            payload
                .defined
                .keys()
                .map(|name| format!("{NXP_PREFIX}{name}")),
        );
    }
    Ok(names)
}
