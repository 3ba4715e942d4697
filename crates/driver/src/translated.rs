//! The engine's translation beside the RV64 code of a linked file, for
//! `flick objdump --translated`.
//!
//! The code is translated as the runtime does at a function's first call, for the addresses that
//! the file was linked for. Functions and variables of the host have no addresses yet: they get
//! some that nobody else has.
use std::collections::BTreeMap;
use std::ops::Range;

use flick_abi::names::NXP_PREFIX;
use flick_image::linked::{self, Linked};
use flick_names::{Demangle, plain};
use flick_riscv::Insn;
use flick_translator::{Line, Listing, Part, Program, Summary, Target};

use crate::Result;
use crate::image_code::ImageCode;

/// Addresses of what is outside the image.
const OUTSIDE: u64 = 0x7fff_0000_0000;
const OUTSIDE_STEP: u64 = 16;

/// A linked image with its relocations done.
pub struct Translated {
    base: u64,
    linked: Linked,
    /// Names of what is outside, in the order of the addresses.
    outside: Vec<String>,
    /// The same by the addresses in the image from which calls leave it.
    exits: BTreeMap<u64, String>,
    demangle: Demangle,
    /// What has been translated of the function that is being shown: by guest address, and behind
    /// it.
    now: BTreeMap<u64, Vec<Line>>,
    behind: Vec<Line>,
}

impl Translated {
    /// `nxp_elf` with its first byte at `base`.
    pub fn new(nxp_elf: &[u8], base: u64, demangle: Demangle) -> Result<Self> {
        let mut linked = Linked::parse(nxp_elf)?;
        let mut outside = vec![];
        let mut places = BTreeMap::new();
        for relocation in std::mem::take(&mut linked.relocations) {
            let target = match relocation.target {
                linked::Target::Image => base,
                linked::Target::Host { name, .. } => {
                    *places.entry(name.clone()).or_insert_with(|| {
                        outside.push(name);
                        OUTSIDE + OUTSIDE_STEP * (outside.len() as u64 - 1)
                    })
                }
            };
            let value = target.wrapping_add_signed(relocation.addend);
            let at = relocation.offset as usize;
            // The parser has checked that they lie inside.
            if let Some(word) = linked.bytes.get_mut(at..at + 8) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        Ok(Self {
            base,
            linked,
            outside,
            exits: linked::exits(nxp_elf),
            demangle,
            now: BTreeMap::new(),
            behind: vec![],
        })
    }

    fn code(&self) -> ImageCode<'_> {
        ImageCode {
            linked: &self.linked,
            base: self.base,
        }
    }

    fn offset(&self, address: u64) -> u64 {
        self.code().offset(address)
    }

    fn outside(&self, address: u64) -> Option<&str> {
        let n = address.checked_sub(OUTSIDE)? / OUTSIDE_STEP;
        self.outside.get(n as usize).map(String::as_str)
    }

    fn function_at(&self, address: u64) -> Option<&linked::Function> {
        self.code().function_at(address)
    }

    fn name(&self, address: u64) -> Option<String> {
        let exit = || self.exits.get(&self.offset(address)).map(String::as_str);
        if let Some(name) = self.outside(address).or_else(exit) {
            let name = self.demangle.apply(plain(name));
            return Some(format!("{name} on the host"));
        }
        let function = self.function_at(address)?;
        let name = self.demangle.apply(&function.name);
        Some(match self.offset(address) - function.offset {
            0 => name.into_owned(),
            distance => format!("{name}+{distance:#x}"),
        })
    }

    /// Begins with the function at `address`; what to say of its translation.
    pub fn begin(&mut self, address: u64) -> String {
        self.now.clear();
        self.behind.clear();
        let starts = |function: &&linked::Function| function.offset == self.offset(address);
        if self.function_at(address).filter(starts).is_none() {
            return "no translation: no function known to the runtime\n".into();
        }
        let Some(listing) = Listing::of(self, address) else {
            return "no translation: left to the interpreter\n".into();
        };
        let lines = listing.lines(&|address| self.name(address));
        let cold: usize = lines
            .iter()
            .filter(|l| l.part == Part::Cold)
            .map(|l| l.len)
            .sum();
        let (code, all) = listing.size();
        for line in lines {
            match line.part {
                Part::Body | Part::Cold => self.now.entry(line.guest).or_default().push(line),
                Part::Constants | Part::Table => self.behind.push(line),
            }
        }
        format!(
            "x86-64: {code} bytes of code, {cold} of them cold; {} of constants\n",
            all - code
        )
    }

    /// The x86-64 code made for the instruction at `address`.
    pub fn of(&mut self, address: u64) -> String {
        let lines = self.now.remove(&address).unwrap_or_default();
        lines.iter().map(Line::to_string).collect()
    }

    /// What stands behind the code of the function.
    pub fn end(&mut self) -> String {
        std::mem::take(&mut self.behind)
            .iter()
            .map(Line::to_string)
            .collect()
    }
}

impl Program for Translated {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code().insn(pc)
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        self.code().function(pc)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        self.code().word(address, len)
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        self.code().jump(pc)
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        self.code().summary(pc)
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        if self.linked.text.contains(&self.offset(target)) {
            return Some(Target::Guest(target));
        }
        // A function with code in this image: its gate.
        let entry = self
            .outside(target)
            .and_then(|name| self.linked.entries.get(&format!("{NXP_PREFIX}{name}")));
        Some(entry.map_or(Target::Elsewhere, |&offset| {
            Target::Guest(self.base + offset)
        }))
    }
}
