//! The NxP code, the placement lines and the names that the inputs of a link carry for the image.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flick_abi::names::{RT_CHECK, RUNTIME_SONAME, is_runtime};
use flick_diagnostics::Code;
use flick_image::elf_kind::{Machine, machine, read_file};
use flick_image::place_lines::Placed;
use flick_image::{Placements, fat};
use object::elf;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolFlags, SymbolKind};

use crate::search::LinkInput;
use crate::{Error, Result};

/// One unit with NxP code.
#[derive(Clone, Debug)]
pub struct FatUnit {
    pub id: u64,
    pub payload: Vec<u8>,
    /// File, or `archive(member)`.
    pub place: String,
    /// The host linker takes it only if something needs it.
    pub optional: bool,
    /// Global symbols of its host object that another module cannot replace.
    pub bound: BTreeSet<String>,
}

/// All inputs of a link.
#[derive(Debug, Default)]
pub struct Inputs {
    pub units: Vec<FatUnit>,
    /// Those of `asked` that host code of this link defines.
    pub host_defines: BTreeSet<String>,
    /// Where, for the first definition of each.
    pub definers: BTreeMap<String, String>,
    /// Names of functions with NxP code or a choice for it, and marked declarations.
    pub placed: BTreeSet<String>,
    pub expected: Vec<Placed>,
    /// Placement entries that matched.
    pub matched: Vec<String>,
    /// Host code calls flick_alloc & co., or a library of the link has NxP code.
    pub needs_runtime: bool,
    /// Host code counts its time.
    pub is_timed: bool,
}

const RUNTIME_API: [&str; 15] = [
    "__flick_on",
    "__flick_root_call",
    "flick_alloc",
    "flick_alloc_on",
    "flick_close",
    "flick_error",
    "flick_free",
    "flick_hint",
    "flick_is_nxp_memory",
    "flick_open",
    "flick_predict",
    "flick_prefer",
    "flick_tile_of",
    RT_CHECK,
    flick_abi::timed::UNIT,
];

/// What `libflick.so` is called in what a shared library needs (`DT_NEEDED`): a library made by
/// Flick.
fn runtime_of(library: &object::File) -> Option<String> {
    let object::File::Elf64(elf) = library else {
        return None;
    };
    let endian = elf.endian();
    let sections = elf.elf_section_table();
    let (entries, strings) = sections.dynamic(endian, elf.data()).ok()??;
    let strings = sections.strings(endian, elf.data(), strings).ok()?;
    entries
        .iter()
        .filter(|entry| entry.d_tag.get(endian) == u64::from(elf::DT_NEEDED))
        .filter_map(|entry| {
            strings
                .get(u32::try_from(entry.d_val.get(endian)).ok()?)
                .ok()
        })
        .filter_map(|needed| String::from_utf8(needed.to_vec()).ok())
        // By its name or a path to it.
        .map(|needed| needed.rsplit('/').next().unwrap_or_default().to_owned())
        .find(|needed| is_runtime(needed))
}

/// Whether a linker takes the file for a linker script: it is text.
pub fn is_script(path: &Path) -> bool {
    read_file(path).is_ok_and(|data| std::str::from_utf8(&data).is_ok())
}

/// The file; of a compiler's temporary object the name of its source.
pub fn shown_place(file: &object::File, place: &str) -> String {
    let source = || {
        let mut symbols = file.symbols();
        let symbol = symbols.find(|symbol| symbol.kind() == SymbolKind::File)?;
        symbol.name().ok().map(str::to_owned)
    };
    let temporary = std::env::temp_dir();
    let path = Path::new(place);
    match path.starts_with(&temporary).then(source).flatten() {
        Some(source) => source,
        // Assembly has none.
        None if path.parent() == Some(&temporary) => "a file of this command".to_owned(),
        None => place.to_owned(),
    }
}

/// Gets an object's contents, its place and whether it is optional.
pub type Visit<'a> = &'a mut dyn FnMut(&[u8], &str, bool) -> Result<()>;

/// Visits the file, or each member of the archive, whose place is `archive(member)`.
pub fn each_object(input: &LinkInput, visit: Visit) -> Result<()> {
    let data = read_file(&input.path)?;
    let place = input.path.display().to_string();
    if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") {
        return each_member(&input.path, &data, !input.whole, visit)
            .map_err(|e| if e.place.is_empty() { e.at(place) } else { e });
    }
    visit(&data, &place, input.optional)
}

fn each_member(path: &Path, data: &[u8], optional: bool, visit: Visit) -> Result<()> {
    let broken = |e: object::Error| {
        let help = "build the archive again";
        Error::new(
            Code::CorruptedObject,
            "an archive is truncated or corrupted",
            "",
            e.to_string(),
            help,
        )
    };
    let archive = ArchiveFile::parse(data).map_err(broken)?;
    for member in archive.members() {
        let member = member.map_err(broken)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let place = format!("{}({name})", path.display());
        if archive.is_thin() {
            let file = path.parent().unwrap_or(Path::new("")).join(&name);
            visit(&read_file(&file)?, &place, optional)?;
        } else {
            visit(member.data(data).map_err(broken)?, &place, optional)?;
        }
    }
    Ok(())
}

/// Visits the relocatable objects among the user's own inputs, with their places.
pub fn each_own_object(
    inputs: &[LinkInput],
    mut visit: impl FnMut(&object::File, &str) -> Result<()>,
) -> Result<()> {
    for input in inputs.iter().filter(|input| !input.of_system()) {
        each_object(
            input,
            &mut |data, place, _| match object::File::parse(data) {
                Ok(file) if file.kind() == object::ObjectKind::Relocatable => visit(&file, place),
                _ => Ok(()),
            },
        )?;
    }
    Ok(())
}

impl Inputs {
    /// Reads them. `asked`: names to look for among host definitions. FLK0105, FLK0302, FLK0303,
    /// FLK0304.
    pub fn read(inputs: &[LinkInput], asked: &BTreeSet<String>) -> Result<Self> {
        let mut all = Self::default();
        for input in inputs {
            let asked = if input.of_system() {
                &BTreeSet::new()
            } else {
                asked
            };
            each_object(input, &mut |data, place, optional| {
                all.object(data, place, optional, asked)
            })?;
        }
        Ok(all)
    }

    fn object(
        &mut self,
        data: &[u8],
        place: &str,
        optional: bool,
        asked: &BTreeSet<String>,
    ) -> Result<()> {
        match machine(data) {
            Machine::Elf64Le(elf::EM_X86_64) => {}
            // A linker script, bitcode, …: the linker's business.
            Machine::NotElf => return Ok(()),
            Machine::Elf64Le(_) | Machine::OtherElf => {
                return Err(Error::new(
                    Code::OtherMachine,
                    "an object for another machine",
                    place,
                    "a Flick program is linked from x86-64 objects",
                    "compile it for x86-64; `flick cc` makes the RV64 code itself",
                ));
            }
        }
        let file = object::File::parse(data).map_err(|e| {
            let help = "compile it again";
            Error::new(
                Code::CorruptedObject,
                "an object is truncated or corrupted",
                place,
                e.to_string(),
                help,
            )
        })?;
        if file.kind() != object::ObjectKind::Relocatable {
            // Such a library brings the runtime, which must come before libc in the program.
            match runtime_of(&file) {
                None => {}
                Some(name) if name == RUNTIME_SONAME => self.needs_runtime = true,
                Some(name) => {
                    return Err(Error::new(
                        Code::OtherVersion,
                        "made by another version of Flick",
                        place,
                        format!(
                            "this library runs on {name}, what is linked here on {RUNTIME_SONAME}, and a process has one"
                        ),
                        "build the library again with this flick",
                    ));
                }
            }
            return Ok(());
        }
        let records = fat::of_object(&file).map_err(|e| e.at(place))?;
        let places = Placements::of_file(&file).map_err(|e| e.at(place))?;
        self.matched.extend(places.matched);
        self.expected.extend(places.expected);
        self.placed
            .extend(places.functions.into_iter().map(|f| f.function));
        let mut bound = BTreeSet::new();
        for symbol in file.symbols().filter(|s| s.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() {
                self.needs_runtime |= RUNTIME_API.contains(&name);
                self.is_timed |= name == flick_abi::timed::UNIT;
                continue;
            }
            if asked.contains(name) {
                self.host_defines.insert(name.into());
                self.definers
                    .entry(name.into())
                    .or_insert_with(|| shown_place(&file, place));
            }
            let visible = match symbol.flags() {
                SymbolFlags::Elf { st_other, .. } => st_other & 3 == elf::STV_DEFAULT,
                _ => true,
            };
            if !visible && !records.is_empty() {
                bound.insert(name.into());
            }
        }
        self.units.extend(records.into_iter().map(|record| FatUnit {
            id: record.unit_id,
            payload: record.payload.to_vec(),
            place: place.into(),
            optional,
            bound: bound.clone(),
        }));
        Ok(())
    }
}
