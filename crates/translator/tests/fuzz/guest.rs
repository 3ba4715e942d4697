//! Code of a fuzz target as the translator's program.
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use flick_engine::CodeRegion;
use flick_riscv::Insn;
use flick_translator::{Context, Program, Target, Translator};

pub struct Guest {
    pub code: CodeRegion,
    pub functions: Vec<Range<u64>>,
    /// Addresses whose contents never change.
    pub constants: Range<u64>,
    /// Where some jumps lead, for certain.
    pub jumps: BTreeMap<u64, Vec<u64>>,
}

impl Program for Guest {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code.contains(pc).then(|| self.code.insn(pc & !1))
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let has = |range: &&Range<u64>| range.contains(&pc);
        self.functions.iter().find(has).cloned()
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let end = address.checked_add(len)?;
        if address < self.constants.start || end > self.constants.end {
            return None;
        }
        // SAFETY: the range is that of mapped memory.
        Some(unsafe {
            match len {
                4 => u64::from((address as *const u32).read_unaligned()),
                _ => (address as *const u64).read_unaligned(),
            }
        })
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        self.jumps.get(&pc).cloned()
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        // Some targets have another meaning later.
        match target {
            _ if self.code.contains(target) => Some(Target::Guest(target & !1)),
            _ if target & 16 == 0 => Some(Target::Elsewhere),
            _ => None,
        }
    }
}

/// What [`lookup`] uses: the engine asks for translations by a plain function.
pub static CURRENT: Mutex<Option<(Translator, Guest)>> = Mutex::new(None);

pub unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    let mut current = CURRENT.lock().unwrap();
    let Some((translator, guest)) = current.as_mut() else {
        return 0;
    };
    if let Some(known) = translator.targets().get(target) {
        return known;
    }
    if !guest.code.contains(target) {
        translator.remember_elsewhere(target);
        return 0;
    }
    translator.entry(guest, target).unwrap_or(0)
}

/// Bytes of an input, from its start on; zeroes behind its end.
pub struct Input<'a> {
    pub rest: &'a [u8],
}

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                byte
            }
            None => 0,
        }
    }

    pub fn half(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
}
