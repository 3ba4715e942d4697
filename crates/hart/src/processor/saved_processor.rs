//! The state of a hart, for snapshots: its registers, and what it remembers of address translation, so
//! that a hart that goes on takes the same cycles as one that was never stopped.
use flick_engine::fp::fcsr::Fcsr;
use flick_engine::vector::{VectorState, access_csr};
use flick_engine::{CsrAccess, CsrWrite, Hart};
use serde::{Deserialize, Serialize};

use super::{
    Class, Floats, KnownPage, NOWHERE, PAGE, PAGES, Processor, SavedStops, class_of, code_regime,
    regime_of,
};
use crate::bus::Bus;
use crate::memory_view::SavedView;
use crate::privileged_registers::{Counts, Registers, privilege};
use crate::timed_mode::ClassCounts;

/// The state of a [`Processor`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedProcessor {
    x: [u64; 32],
    f: [u64; 32],
    pc: u64,
    fcsr: u8,
    /// Address, value and bytes.
    reservation: (u64, u64, u32),
    /// The physical address of the line, and its age; whether the slice has begun.
    reserved_line: (Option<(u64, u32)>, bool),
    privilege: u8,
    registers: Vec<u64>,
    protection: Vec<(u8, u64)>,
    vector: Option<SavedVector>,
    /// Cycles, instructions, exceptions in slices that have ended, exceptions in this slice.
    counts: [u64; 4],
    waits: bool,
    slice: ([u64; 5], bool),
    /// The line that is fetched from, in timed mode: a fetch from it takes no more time.
    fetched: Option<u64>,
    /// Instructions by privilege and class.
    classes: ClassCounts,
    stops: SavedStops,
    view: SavedView,
    /// Virtual pages that the hart fetches from: place, key, physical page, bits.
    pages: Vec<(u8, u64, u64, u32)>,
    retirements: u64,
}

impl SavedProcessor {
    /// Cycles of its slice at most, or picoseconds in timed mode.
    pub fn most_cycles(&self) -> u64 {
        let [.., all, _, over] = self.slice.0;
        all.saturating_add(over)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedVector {
    registers: Vec<Vec<u8>>,
    vl: u64,
    vtype: u64,
    vstart: u64,
    /// Rounding mode and saturation.
    vcsr: u64,
}

/// A state that no hart of this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} of a hart cannot be so")]
pub struct BadProcessor(&'static str);

const VSTART: u32 = 0x008;
const VCSR: u32 = 0x00f;

/// The list of what a snapshot has of the registers, once. A register that is missing is an error.
macro_rules! saved_registers {
    ($registers:expr; $($name:ident)*) => {{
        let Registers { isa: _, mmu: _, has_host_space: _, hart_id: _, privilege: _, machine_interrupts: _, $($name),* } = $registers;
        [$($name),*]
    }};
}

/// What a snapshot has of them: all that can change.
fn fields(registers: &mut Registers) -> [&mut u64; 25] {
    saved_registers! { registers;
        mstatus medeleg mideleg mie software lines
        mtvec mcounteren mcountinhibit mscratch mepc mcause mtval menvcfg
        stvec scounteren sscratch sepc scause stval satp senvcfg stimecmp
        mcycle minstret
    }
}

impl SavedVector {
    fn of(state: &VectorState) -> Self {
        let mut state = state.clone();
        let read = |number| CsrAccess {
            reads: true,
            number,
            write: None,
        };
        Self {
            registers: (0..32).map(|n| state.register(n).collect()).collect(),
            vl: state.vl(),
            vtype: state.vtype(),
            vstart: state.vstart(),
            vcsr: access_csr(&mut state, read(VCSR)).unwrap_or(0),
        }
    }

    /// False: no hart with these registers is so.
    fn restore(&self, state: &mut VectorState) -> bool {
        let bytes = state.vlen() as usize / 8;
        let fits = self.registers.len() == 32 && self.registers.iter().all(|r| r.len() == bytes);
        for (n, register) in self.registers.iter().enumerate() {
            state.set_register(n, register);
        }
        state.configure(self.vtype, self.vl);
        for (number, value) in [(VSTART, self.vstart), (VCSR, self.vcsr)] {
            let write = Some(CsrWrite::Replace(value));
            let access = CsrAccess {
                number,
                reads: false,
                write,
            };
            access_csr(state, access);
        }
        fits && *self == Self::of(state)
    }
}

impl<B: Bus> Processor<'_, B> {
    /// Its state without its timing, between slices or while it pauses.
    pub fn save(&self) -> SavedProcessor {
        let (hart, core) = (&self.hart, &self.core);
        let mut registers = core.registers.clone();
        let values = fields(&mut registers).map(|value| *value);
        let pages = core.pages.iter().enumerate();
        let pages = pages.filter(|(_, page)| page.key != NOWHERE);
        let pmp = core.view.pmp.borrow();
        SavedProcessor {
            x: hart.x,
            f: hart.f,
            pc: hart.pc,
            fcsr: self.fcsr.value() as u8,
            reservation: (hart.reservation, hart.reserved_value, hart.reservation_len),
            reserved_line: core.view.reservation.saved(&core.view.code.reservations),
            privilege: registers.privilege as u8,
            registers: values.to_vec(),
            protection: pmp.save(),
            vector: core.vector.as_deref().map(SavedVector::of),
            counts: [
                core.counts.cycles,
                core.counts.instructions,
                core.exceptions,
                core.traps,
            ],
            waits: core.waits,
            slice: core.view.slice.save(),
            fetched: core.view.timing().map(|_| core.page),
            classes: core.classes.counts(),
            stops: self.stops.save(),
            view: core.view.save(),
            pages: pages
                .map(|(at, page)| (at as u8, page.key, page.physical, page.bits))
                .collect(),
            retirements: core.retirements,
        }
    }

    /// Takes the state that the hart had at its reset. It counts on, and its counters begin anew.
    pub fn reset(&mut self, at_reset: &SavedProcessor) -> Result<(), BadProcessor> {
        let (counts, exceptions) = (self.core.counts, self.core.exceptions);
        let (classes, stops) = (self.core.classes.counts(), self.stops.save());
        self.restore(at_reset)?;
        self.stops.restore(&stops);
        let core = &mut self.core;
        core.classes.set(&classes);
        (core.counts, core.exceptions) = (counts, exceptions);
        core.registers.mcycle = 0_u64.wrapping_sub(counts.cycles);
        core.registers.minstret = 0_u64.wrapping_sub(counts.instructions);
        Ok(())
    }

    /// Takes a state that [`save`](Self::save) of a hart with the same extensions gave. The memory is as
    /// it was, and [`crate::CodeCache::restore`] was called. In timed mode, this mode begins behind it
    /// with the timing that was saved, and then [`Self::restore_fetched`]. After an error the hart is in
    /// no sensible state.
    pub fn restore(&mut self, saved: &SavedProcessor) -> Result<(), BadProcessor> {
        let core = &mut self.core;
        let check = |holds: bool, what| match holds {
            true => Ok(()),
            false => Err(BadProcessor(what)),
        };
        let (address, value, size) = saved.reservation;
        check(matches!(size, 0 | 4 | 8), "the reservation")?;
        self.hart = Hart {
            x: saved.x,
            f: saved.f,
            pc: saved.pc & !1,
            reservation: address,
            reserved_value: value,
            reservation_len: size,
            ..Hart::ZERO
        };
        self.hart.x[0] = 0;
        self.fcsr = Fcsr::new(saved.fcsr.into());
        check(matches!(saved.privilege, 0 | 1 | 3), "the privilege")?;
        core.registers.privilege = privilege(saved.privilege.into());
        let places = fields(&mut core.registers);
        check(saved.registers.len() == places.len(), "the registers")?;
        for (place, value) in places.into_iter().zip(&saved.registers) {
            *place = *value;
        }
        let protected = core.view.pmp.borrow_mut().restore(&saved.protection);
        check(protected, "the protection")?;
        let vectors = match (core.vector.as_deref_mut(), &saved.vector) {
            (Some(state), Some(saved)) => saved.restore(state),
            (None, None) => true,
            _ => false,
        };
        check(vectors, "the vector state")?;
        let counted = saved.counts.iter().all(|&count| count < 1 << 62);
        check(counted, "the counts")?;
        let [cycles, instructions, exceptions, traps] = saved.counts;
        let counted = saved.classes.as_flattened().iter();
        check(counted.clone().all(|&count| count < 1 << 62), "the classes")?;
        core.classes.set(&saved.classes);
        check(self.stops.restore(&saved.stops), "the stops")?;
        core.counts = Counts {
            cycles,
            instructions,
        };
        (core.exceptions, core.traps) = (exceptions, traps);
        core.waits = saved.waits;
        let [left, reserve, all, ..] = saved.slice.0;
        let sliced =
            core.view.slice.restore(saved.slice.0, saved.slice.1) && traps <= all - left - reserve;
        check(sliced, "the slice")?;
        core.class = class_of(&core.registers);
        let regime = regime_of(&core.registers);
        check(core.view.restore(&saved.view, regime), "the translations")?;
        let reservations = &core.view.code.reservations;
        core.view
            .reservation
            .restore(reservations, saved.reserved_line);
        core.runner.table.select(code_regime(&core.registers));
        core.runner.table.forget();
        core.classes.set_privilege(saved.privilege.into());
        core.marker = None;
        core.page = NOWHERE;
        core.slots = &raw const *core.lone;
        core.pages.fill(KnownPage::NONE);
        core.retirements = saved.retirements;
        for &(at, key, page, bits) in &saved.pages {
            let at = usize::from(at);
            check(at < PAGES && page.is_multiple_of(PAGE), "the code")?;
            // The class of this page's instructions is in the key.
            let floats = match key >> 3 & 3 {
                0 => Floats::Off,
                1 => Floats::Clean,
                _ => Floats::Dirty,
            };
            let class = Class {
                floats,
                ..core.class
            };
            if let Some(slots) = core.view.code.known_slots(page, class) {
                core.pages[at] = KnownPage {
                    key,
                    slots,
                    physical: page,
                    bits,
                };
            }
        }
        Ok(())
    }

    /// The hart is in timed mode: it goes on within the line that it fetched from.
    pub fn restore_fetched(&mut self, saved: &SavedProcessor) {
        let core = &mut self.core;
        let line = saved.fetched.unwrap_or(NOWHERE);
        if line & !core.page_mask == 0 {
            core.page = line;
        }
        // Whatever is fetched next is found anew, and takes no time in this line.
        core.slots = &raw const *core.lone;
        core.lone.iter().for_each(|slot| slot.set(0));
    }
}
