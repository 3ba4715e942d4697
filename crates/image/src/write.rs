//! The image object, which the host linker gets in place of the RV64 ELF that it would refuse
//! (`docs/objects.md`, "The image link").
use std::collections::HashMap;

use flick_abi::layout::{
    Arity, FuncEntry, Gate, InlinedEntry, Jump, LineEntry, MODULE_MAGIC, Module, SavedRegisters,
    Unit, UnwindEntry,
};
use flick_abi::{ABI_VERSION, names};
use flick_diagnostics::Code;
use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, FileFlags, RelocationFlags, SectionFlags, SectionKind,
    SymbolFlags, SymbolKind, SymbolScope, elf,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::host_frames::{self, Base};
use crate::linked::{Linked, Target};
use crate::translation::Translated;
use crate::unwind_rows::Frame;
use crate::{Error, Result};

mod code_object;
mod debug_frames;
mod debug_places;
mod debug_rows;
mod debug_sections;
mod debug_stubs;
mod debug_types;
mod debug_units;
mod pointer_stubs;
mod translated_code;

pub use code_object::{CELLS_SECTION, RECORD_SECTION, WORDS_SECTION, code_object};
pub use pointer_stubs::{PointerStub, pointer_stubs};

const PAGE: u64 = 4096;

/// An x86-64 relocatable that holds `linked` (parsed from `file`) in one page-aligned section, its
/// tables, and `__flick_module`.
pub fn image_object(
    linked: &Linked,
    file: &[u8],
    translated: Option<&Translated>,
) -> Result<Vec<u8>> {
    let mut out = Writer::new();
    let image = out.section(names::SEC_IMAGE, WRITABLE, PAGE, linked.bytes.clone());
    let image_symbol = out.object.section_symbol(image);
    out.relocate_image(linked, image, image_symbol)?;
    for (name, &offset) in &linked.entries {
        out.define(name, image, offset, SymbolKind::Unknown);
    }
    out.define(names::LINK_GUARD, image, 0, SymbolKind::Unknown);
    let code = translated
        .map(|translated| out.translation(linked, translated, image_symbol))
        .transpose()?;
    if let Some((translated, code)) = translated.zip(code) {
        out.debug_sections(linked, file, translated, [code.code, image_symbol])?;
    }
    out.module(linked, image_symbol, code.map(|code| code.record))?;
    out.host_frames(
        &linked.unwind.frames,
        image_symbol,
        translated.zip(code.map(|code| code.code)),
    )?;
    // An empty record makes sure that the bounds of these sections exist.
    out.section(names::SEC_GATES, RETAINED, 8, vec![0; size_of::<Gate>()]);
    out.section(names::SEC_UNITS, RETAINED, 8, vec![0; size_of::<Unit>()]);
    out.section(names::SEC_ELF, 0, 16, file.to_vec());
    out.section(".note.GNU-stack", 0, 1, Vec::new());
    out.object.write().map_err(|e| internal(&e))
}

/// Stands for the image in a trial link: defines `symbols`, the guard and `__flick_module`.
pub fn trial_object<'a>(symbols: impl IntoIterator<Item = &'a str>) -> Result<Vec<u8>> {
    let mut out = Writer::new();
    let image = out.section(
        names::SEC_IMAGE,
        WRITABLE,
        PAGE,
        vec![0; size_of::<Module>()],
    );
    for name in symbols
        .into_iter()
        .chain([names::LINK_GUARD, names::MODULE])
    {
        out.define(name, image, 0, SymbolKind::Unknown);
    }
    out.section(".note.GNU-stack", 0, 1, Vec::new());
    out.object.write().map_err(|e| internal(&e))
}

const READ_ONLY: u32 = elf::SHF_ALLOC;
const WRITABLE: u32 = elf::SHF_ALLOC | elf::SHF_WRITE;
const RETAINED: u32 = WRITABLE | elf::SHF_GNU_RETAIN;

struct Writer {
    object: Object<'static>,
    undefined: HashMap<String, SymbolId>,
}

impl Writer {
    fn new() -> Self {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        // GNU ld reads SHF_GNU_RETAIN only in files of this ABI.
        object.flags = FileFlags::Elf {
            os_abi: elf::ELFOSABI_GNU,
            abi_version: 0,
            e_flags: 0,
        };
        Self {
            object,
            undefined: HashMap::new(),
        }
    }

    fn section(&mut self, name: &str, flags: u32, align: u64, data: Vec<u8>) -> SectionId {
        let kind = SectionKind::Elf(elf::SHT_PROGBITS);
        let id = self.object.add_section(Vec::new(), name.into(), kind);
        self.object.section_mut(id).flags = SectionFlags::Elf {
            sh_flags: u64::from(flags),
        };
        self.object.set_section_data(id, data, align);
        id
    }

    fn define(&mut self, name: &str, section: SectionId, value: u64, kind: SymbolKind) -> SymbolId {
        self.object.add_symbol(Symbol {
            name: name.into(),
            value,
            size: 0,
            kind,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::Elf {
                st_info: elf::STB_GLOBAL << 4,
                st_other: elf::STV_HIDDEN,
            },
        })
    }

    /// Names code for debuggers and profilers alone.
    fn name_code(&mut self, name: String, section: SymbolSection, value: u64, size: u64) {
        self.object.add_symbol(Symbol {
            name: name.into(),
            value,
            size,
            kind: SymbolKind::Text,
            scope: SymbolScope::Compilation,
            weak: false,
            section,
            flags: SymbolFlags::None,
        });
    }

    fn undefined(&mut self, name: &str, weak: bool, visibility: u8) -> SymbolId {
        if let Some(&id) = self.undefined.get(name) {
            if !weak {
                let st_info = elf::STB_GLOBAL << 4;
                self.object.symbol_mut(id).flags = SymbolFlags::Elf {
                    st_info,
                    st_other: visibility,
                };
            }
            return id;
        }
        let bind = if weak { elf::STB_WEAK } else { elf::STB_GLOBAL };
        let id = self.object.add_symbol(Symbol {
            name: name.into(),
            value: 0,
            size: 0,
            kind: SymbolKind::Unknown,
            scope: SymbolScope::Unknown,
            weak,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::Elf {
                st_info: bind << 4,
                st_other: visibility,
            },
        });
        self.undefined.insert(name.into(), id);
        id
    }

    fn relocate(
        &mut self,
        section: SectionId,
        offset: u64,
        symbol: SymbolId,
        addend: i64,
    ) -> Result<()> {
        self.relocate_as(elf::R_X86_64_64, section, offset, symbol, addend)
    }

    fn relocate_as(
        &mut self,
        r_type: u32,
        section: SectionId,
        offset: u64,
        symbol: SymbolId,
        addend: i64,
    ) -> Result<()> {
        let flags = RelocationFlags::Elf { r_type };
        self.object
            .add_relocation(
                section,
                Relocation {
                    offset,
                    symbol,
                    addend,
                    flags,
                },
            )
            .map_err(|e| internal(&e))
    }

    fn relocate_image(
        &mut self,
        linked: &Linked,
        image: SectionId,
        image_symbol: SymbolId,
    ) -> Result<()> {
        for relocation in &linked.relocations {
            // A name that the image itself provides to the host is the image's.
            let (symbol, addend) = match &relocation.target {
                Target::Image => (image_symbol, relocation.addend),
                Target::Host { name, weak } => (
                    self.undefined(name, *weak, elf::STV_DEFAULT),
                    relocation.addend,
                ),
            };
            self.relocate(image, relocation.offset, symbol, addend)?;
        }
        Ok(())
    }

    /// The host's unwind information for the image's functions, in what the host linker makes its
    /// own table of.
    fn host_frames(
        &mut self,
        frames: &[Frame],
        image: SymbolId,
        translated: Option<(&Translated, SymbolId)>,
    ) -> Result<()> {
        if frames.is_empty() && translated.is_none() {
            return Ok(());
        }
        let (mut bytes, fields) = host_frames::section(frames).map_err(|e| {
            let help = "place less";
            let what = "NxP code needs what the image cannot hold";
            Error::new(
                Code::UnsupportedInImage,
                what,
                "",
                format!("unwind information: {e}"),
                help,
            )
        })?;
        let word = self.section(
            ".data.rel.ro.flick_personality",
            WRITABLE,
            8,
            vec![0; size_of::<u64>()],
        );
        // Weak: a runtime too old to have it comes to its own refusal.
        let personality = self.undefined(names::RT_PERSONALITY, true, elf::STV_DEFAULT);
        self.relocate(word, 0, personality, 0)?;
        let word = self.object.section_symbol(word);
        let behind = bytes.len();
        bytes.extend(translated.iter().flat_map(|(code, _)| &code.unwind));
        let section = self.section(".eh_frame", READ_ONLY, 8, bytes);
        for field in fields {
            let symbol = match field.base {
                Base::Image => image,
                Base::Personality => word,
            };
            self.relocate_as(
                elf::R_X86_64_PC32,
                section,
                field.offset,
                symbol,
                field.addend,
            )?;
        }
        // Behind the others: GNU ld wants them in the order of their places.
        if let Some((translated, code)) = translated {
            for &(field, to) in &translated.unwind_fields {
                let field = (behind + field) as u64;
                self.relocate_as(elf::R_X86_64_PC32, section, field, code, to as i64)?;
            }
        }
        Ok(())
    }

    /// `__flick_module` and the tables it points to. Field offsets are those of [`Module`].
    fn module(
        &mut self,
        linked: &Linked,
        image: SymbolId,
        translation: Option<SymbolId>,
    ) -> Result<()> {
        let mut strings = Strings::default();
        let march = strings.add(&linked.march)?;
        let personalities: HashMap<u32, u32> = linked
            .unwind
            .frames
            .iter()
            .filter_map(|frame| Some((frame.start, frame.personality?)))
            .collect();
        let mut funcs = Vec::with_capacity(linked.functions.len() * size_of::<FuncEntry>());
        for function in &linked.functions {
            // Demangled here: who prints it may be in a signal handler.
            let name = strings.add(&flick_names::demangled(&function.name))?;
            let offset = offset32(function.offset)?;
            for word in [
                offset,
                offset32(function.size)?,
                name,
                personalities.get(&offset).copied().unwrap_or(0),
            ] {
                funcs.extend(word.to_le_bytes());
            }
        }
        let rows = &linked.lines.rows;
        let mut lines = Vec::with_capacity(rows.len() * size_of::<LineEntry>());
        for line in rows {
            let file = strings.add(&line.file)?;
            for word in [line.offset, file, line.line, line.inlined] {
                lines.extend(word.to_le_bytes());
            }
        }
        let calls = &linked.lines.inlined;
        let mut inlined = Vec::with_capacity(calls.len() * size_of::<InlinedEntry>());
        for call in calls {
            let (name, file) = (strings.add(&call.name)?, strings.add(&call.file)?);
            for word in [name, file, call.line, call.parent] {
                inlined.extend(word.to_le_bytes());
            }
        }
        let mut unwind = Vec::with_capacity(linked.unwind.rows.len() * size_of::<UnwindEntry>());
        for row in &linked.unwind.rows {
            unwind.extend(row.offset.to_le_bytes());
            unwind.extend(row.cfa.to_le_bytes());
            unwind.extend(row.ra.to_le_bytes());
            unwind.extend(row.fp.to_le_bytes());
            unwind.extend(row.flags.to_le_bytes());
        }
        let mut saved = Vec::with_capacity(linked.unwind.saved.len() * size_of::<SavedRegisters>());
        for registers in &linked.unwind.saved {
            for at in registers.s.iter().chain(&registers.fs) {
                saved.extend(at.to_le_bytes());
            }
        }
        let mut arity = Vec::with_capacity(linked.arity.len() * size_of::<Arity>());
        for function in &linked.arity {
            arity.extend(function.offset.to_le_bytes());
            for half in [
                function.arguments,
                function.results,
                function.calls,
                function.flags,
            ] {
                arity.extend(half.to_le_bytes());
            }
        }
        let mut jumps = Vec::with_capacity(linked.jumps.all.len() * size_of::<Jump>());
        for jump in &linked.jumps.all {
            for word in [jump.offset, jump.first, jump.count] {
                jumps.extend(word.to_le_bytes());
            }
        }
        let targets = linked.jumps.targets.iter();
        let targets = targets.flat_map(|target| target.to_le_bytes()).collect();

        let strings_size = strings.bytes.len() as u64;
        let table = |out: &mut Self, name: &str, align, data| {
            let id = out.section(name, READ_ONLY, align, data);
            out.object.section_symbol(id)
        };
        let funcs = table(self, ".rodata.flick_funcs", 4, funcs);
        let lines = table(self, ".rodata.flick_lines", 4, lines);
        let inlined = table(self, ".rodata.flick_inlined", 4, inlined);
        let unwind = table(self, ".rodata.flick_unwind", 4, unwind);
        let saved = table(self, ".rodata.flick_saved", 2, saved);
        let arity = table(self, ".rodata.flick_arity", 4, arity);
        let jumps = table(self, ".rodata.flick_jumps", 4, jumps);
        let targets = table(self, ".rodata.flick_targets", 4, targets);
        let strings = table(self, ".rodata.flick_strings", 1, strings.bytes);

        let mut record = vec![0; size_of::<Module>()];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        use std::mem::offset_of;
        put(offset_of!(Module, magic), &MODULE_MAGIC);
        put(
            offset_of!(Module, abi_version),
            &ABI_VERSION.bits().to_le_bytes(),
        );
        put(
            offset_of!(Module, size),
            &(size_of::<Module>() as u32).to_le_bytes(),
        );
        for (at, value) in [
            (offset_of!(Module, image_size), linked.bytes.len() as u64),
            (offset_of!(Module, text_offset), linked.text.start),
            (
                offset_of!(Module, text_size),
                linked.text.end - linked.text.start,
            ),
            (
                offset_of!(Module, func_count),
                linked.functions.len() as u64,
            ),
            (offset_of!(Module, line_count), rows.len() as u64),
            (offset_of!(Module, inlined_count), calls.len() as u64),
            (
                offset_of!(Module, unwind_count),
                linked.unwind.rows.len() as u64,
            ),
            (
                offset_of!(Module, saved_count),
                linked.unwind.saved.len() as u64,
            ),
            (offset_of!(Module, arity_count), linked.arity.len() as u64),
            (
                offset_of!(Module, jumps_count),
                linked.jumps.all.len() as u64,
            ),
            (
                offset_of!(Module, targets_count),
                linked.jumps.targets.len() as u64,
            ),
            (offset_of!(Module, strings_size), strings_size),
            (offset_of!(Module, image_id), xxh3_64(&linked.bytes)),
        ] {
            put(at, &value.to_le_bytes());
        }
        let module = self.section(".data.rel.ro.flick_module", WRITABLE, 16, record);
        let mut pointers = vec![
            (offset_of!(Module, image), image, 0),
            (offset_of!(Module, funcs), funcs, 0),
            (offset_of!(Module, lines), lines, 0),
            (offset_of!(Module, inlined), inlined, 0),
            (offset_of!(Module, unwind), unwind, 0),
            (offset_of!(Module, saved), saved, 0),
            (offset_of!(Module, arity), arity, 0),
            (offset_of!(Module, jumps), jumps, 0),
            (offset_of!(Module, targets), targets, 0),
            (offset_of!(Module, strings), strings, 0),
            (offset_of!(Module, march), strings, i64::from(march)),
        ];
        pointers.extend(translation.map(|record| (offset_of!(Module, translation), record, 0)));
        // Weak: a link of one's own may leave out flickcrt.o.
        let near = self.undefined(names::NEAR_CROSSING, true, elf::STV_HIDDEN);
        pointers.push((offset_of!(Module, near), near, 0));
        // Nobody need have marked variables; then both bounds are null.
        for (at, bound, section, weak) in [
            (offset_of!(Module, gates), "start", names::SEC_GATES, false),
            (
                offset_of!(Module, gates_end),
                "stop",
                names::SEC_GATES,
                false,
            ),
            (
                offset_of!(Module, nxp_data),
                "start",
                names::SEC_NXP_DATA,
                true,
            ),
            (
                offset_of!(Module, nxp_data_end),
                "stop",
                names::SEC_NXP_DATA,
                true,
            ),
            (
                offset_of!(Module, tile_data),
                "start",
                names::SEC_TILE_DATA,
                true,
            ),
            (
                offset_of!(Module, tile_data_end),
                "stop",
                names::SEC_TILE_DATA,
                true,
            ),
        ] {
            let symbol = self.undefined(&format!("__{bound}_{section}"), weak, elf::STV_HIDDEN);
            pointers.push((at, symbol, 0));
        }
        for (at, symbol, addend) in pointers {
            self.relocate(module, at as u64, symbol, addend)?;
        }
        self.define(names::MODULE, module, 0, SymbolKind::Unknown);
        Ok(())
    }
}

/// A string table; offset 0 is the empty string.
struct Strings {
    bytes: Vec<u8>,
    known: HashMap<String, u32>,
}

impl Default for Strings {
    fn default() -> Self {
        Self {
            bytes: vec![0],
            known: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Strings {
    fn add(&mut self, text: &str) -> Result<u32> {
        if let Some(&at) = self.known.get(text) {
            return Ok(at);
        }
        let at = offset32(self.bytes.len() as u64)?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        self.known.insert(text.into(), at);
        Ok(at)
    }
}

fn offset32(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        Error::new(
            Code::UnsupportedInImage,
            "NxP code needs what the image cannot hold",
            "",
            "a table of more than 4 GiB",
            "place less, or compile without -g",
        )
    })
}

fn internal(error: &object::write::Error) -> Error {
    Error::new(
        Code::UnsupportedInImage,
        "NxP code needs what the image cannot hold",
        "",
        error.to_string(),
        "place less",
    )
}
