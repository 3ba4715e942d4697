//! Debug information as sections of the image object. The host linker joins them with those of the
//! host's units, so all offsets between sections are relocations.
use std::collections::{BTreeSet, HashMap};

use gimli::write::{Dwarf, EndianVec, FrameTable, RelocateWriter, RelocationTarget, Sections};
use gimli::{LittleEndian, SectionId};
use object::write::SymbolId;
use object::{SectionKind, elf};

use super::debug_frames::{self, Frames};
use super::debug_stubs::functions_outside;
use super::{Writer, debug_places, debug_stubs, debug_units};
use crate::linked::{Linked, Target};
use crate::translation::Translated;
use crate::{Error, Result, source_units};

/// A section's bytes, and the places in it that depend on others.
#[derive(Clone)]
struct DebugSection {
    bytes: EndianVec<LittleEndian>,
    relocations: Vec<gimli::write::Relocation>,
}

impl RelocateWriter for DebugSection {
    type Writer = EndianVec<LittleEndian>;

    fn writer(&self) -> &Self::Writer {
        &self.bytes
    }

    fn writer_mut(&mut self) -> &mut Self::Writer {
        &mut self.bytes
    }

    fn relocate(&mut self, relocation: gimli::write::Relocation) {
        self.relocations.push(relocation);
    }
}

impl Writer {
    /// Debug information of translated code, if the translation has origins. `file`: the linked
    /// RV64 ELF. `[code, image]`: the sections of the code and of the image.
    pub(super) fn debug_sections(
        &mut self,
        linked: &Linked,
        file: &[u8],
        translated: &Translated,
        [code, image]: [SymbolId; 2],
    ) -> Result<()> {
        if translated.origins.is_empty() {
            return Ok(());
        }
        let units = source_units::read(linked, file);
        let hosts: BTreeSet<&str> = linked
            .relocations
            .iter()
            .filter_map(|relocation| match &relocation.target {
                Target::Host { name, .. } => Some(name.as_str()),
                Target::Image => None,
            })
            .collect();
        let hosts: Vec<String> = hosts.into_iter().map(str::to_owned).collect();
        let parts = debug_units::parts(&units, translated);
        let mut dwarf = debug_units::dwarf(&units, &parts, linked, &hosts);
        if dwarf.units.count() == 0 {
            return Ok(());
        }
        debug_stubs::add(&mut dwarf, functions_outside(linked, translated));
        let mut frames = FrameTable::default();
        let all = parts.into_iter().flatten();
        let all = all.filter_map(|part| {
            let depths = translated.depths.get(part.number)?;
            let is_leaf = translated.leaves.binary_search(&part.guest).is_ok();
            Some(Frames {
                part,
                depths,
                is_leaf,
            })
        });
        debug_frames::add(&mut frames, linked, all);
        drop(units);
        self.dwarf(dwarf, &frames, [code, image], &hosts)
    }

    /// Writes `dwarf` and `.debug_frame`. `hosts`: the names that stand from
    /// [`debug_places::FIRST_HOST`] on.
    pub(super) fn dwarf(
        &mut self,
        mut dwarf: Dwarf,
        frames: &FrameTable,
        [code, image]: [SymbolId; 2],
        hosts: &[String],
    ) -> Result<()> {
        let mut sections = Sections::new(DebugSection {
            bytes: EndianVec::new(LittleEndian),
            relocations: vec![],
        });
        dwarf
            .write(&mut sections)
            .map_err(|error| too_large(&error))?;
        drop(dwarf);
        frames
            .write_debug_frame(&mut sections.debug_frame)
            .map_err(|error| too_large(&error))?;
        let mut symbols = HashMap::new();
        let mut written = vec![];
        sections.for_each_mut(|id, section: &mut DebugSection| {
            if section.bytes.slice().is_empty() {
                return Ok(());
            }
            let kind = match id {
                // `DebugString` is written without the size of its entries.
                SectionId::DebugStr => SectionKind::OtherString,
                _ => SectionKind::Debug,
            };
            let out = self
                .object
                .add_section(Vec::new(), id.name().as_bytes().to_vec(), kind);
            let bytes = section.bytes.take();
            self.object.set_section_data(out, bytes, 1);
            symbols.insert(id, self.object.section_symbol(out));
            written.push((out, std::mem::take(&mut section.relocations)));
            Ok::<(), Error>(())
        })?;
        for (section, relocations) in written {
            for relocation in relocations {
                let symbol = match relocation.target {
                    RelocationTarget::Symbol(debug_places::IMAGE) => image,
                    RelocationTarget::Symbol(n) if n >= debug_places::FIRST_HOST => {
                        let name = &hosts[n - debug_places::FIRST_HOST];
                        self.undefined(name, true, elf::STV_DEFAULT)
                    }
                    RelocationTarget::Symbol(_) => code,
                    RelocationTarget::Section(id) => symbols[&id],
                };
                let r_type = match relocation.size {
                    8 => elf::R_X86_64_64,
                    _ => elf::R_X86_64_32,
                };
                let at = relocation.offset as u64;
                self.relocate_as(r_type, section, at, symbol, relocation.addend)?;
            }
        }
        Ok(())
    }
}

fn too_large(error: &gimli::write::Error) -> Error {
    Error::new(
        flick_diagnostics::Code::UnsupportedInImage,
        "NxP code needs what the image cannot hold",
        "",
        format!("debug information: {error}"),
        "place less, or compile without -g",
    )
}
