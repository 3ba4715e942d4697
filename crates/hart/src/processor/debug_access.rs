//! What a debugger sees of a hart, and how it changes it. Looking at a hart has no effect: it sets no
//! accessed bit and brings no translation into the cache.
use std::cell::RefCell;

use flick_engine::fp::fcsr::Fcsr;
use flick_engine::vector::{VectorState, access_csr};
use flick_engine::{Core, CsrAccess, CsrWrite, csr_number};

use super::{Privileged, Processor, regime_of};
use crate::bus::{Bus, BusError, PAGE};
use crate::page_tables::{Access, Regime, translate};
use crate::privileged_registers::Privilege;

const INTERRUPT: u64 = 1 << 63;

impl<B: Bus> Privileged<'_, B> {
    /// Pauses the hart in front of the handler. `kind`: 0 exceptions, 1 interrupts.
    pub(super) fn stop_on_trap(&mut self, kind: usize, code: u64) {
        if code < 64 && self.trap_stops[kind] & 1 << code != 0 {
            self.stopped_by = Some((kind as u64 * INTERRUPT) | code);
            let slice = &self.view.slice;
            slice.pause_at(slice.executed());
        }
    }
}

impl<B: Bus> Processor<'_, B> {
    /// The hart pauses in front of the handlers of these traps: bits by the codes of exceptions and of
    /// interrupts.
    pub fn set_trap_stops(&mut self, exceptions: u64, interrupts: u64) {
        self.core.trap_stops = [exceptions, interrupts];
        self.core.stopped_by = None;
    }

    /// The cause (`mcause`) of the trap at which it has paused since the last call.
    pub fn take_trap_stop(&mut self) -> Option<u64> {
        self.core.stopped_by.take()
    }

    /// The value of a control and status register, as M mode reads it; `None`: there is none.
    pub fn csr(&self, number: u32) -> Option<u64> {
        let core = &self.core;
        let fcsr = self.fcsr.value();
        match number {
            csr_number::FFLAGS => Some(fcsr & 0x1f),
            csr_number::FRM => Some(fcsr >> 5),
            csr_number::FCSR => Some(fcsr),
            8..=10 | 15 | 0xc20..=0xc22 => {
                let mut vector = core.vector.as_deref()?.clone();
                let access = CsrAccess {
                    number,
                    reads: true,
                    write: None,
                };
                access_csr(&mut vector, access)
            }
            _ => {
                let pmp = core.view.pmp.borrow();
                core.registers.read(&pmp, number, &core.moment())
            }
        }
    }

    /// Writes a register, as M mode does. False: there is none that may be written.
    pub fn set_csr(&mut self, number: u32, value: u64) -> bool {
        let fcsr = self.fcsr.value();
        let new = match number {
            csr_number::FFLAGS => Some(fcsr & !0x1f | value & 0x1f),
            csr_number::FRM => Some(fcsr & 0x1f | (value & 7) << 5),
            csr_number::FCSR => Some(value & 0xff),
            _ => None,
        };
        if let Some(new) = new {
            self.fcsr = Fcsr::new(new);
            return true;
        }
        let core = &mut self.core;
        let before = (core.registers.privilege, core.registers.mstatus);
        core.registers.privilege = Privilege::Machine;
        // Vector registers are there, whatever software has switched off.
        core.registers.mstatus |= crate::privileged_registers::status::VS;
        let access = CsrAccess {
            number,
            reads: true,
            write: Some(CsrWrite::Replace(value)),
        };
        let is_status = matches!(number, 0x100 | 0x300);
        let done = core.csr(&mut self.hart, access).is_some();
        core.registers.privilege = before.0;
        if !is_status {
            core.registers.mstatus = before.1;
        }
        core.refresh();
        core.view.slice.recheck();
        done
    }

    /// Changes the privilege.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.core.registers.privilege = privilege;
        self.core.refresh();
        self.core.view.slice.recheck();
    }

    /// The hart goes on elsewhere.
    pub fn set_pc(&mut self, pc: u64) {
        self.hart.pc = pc & !1;
    }

    /// Its vector state, if it has vectors.
    pub fn vector(&self) -> Option<&VectorState> {
        self.core.vector.as_deref()
    }

    /// Its vector state, to change it.
    pub fn vector_mut(&mut self) -> Option<&mut VectorState> {
        self.core.vector.as_deref_mut()
    }

    /// The physical address that a virtual one means now, for any access. In M mode an address that is
    /// no memory is looked for in the supervisor's page tables.
    pub fn physical(&self, address: u64) -> Option<u64> {
        let view = &self.core.view;
        let regime = regime_of(&self.core.registers);
        let page = address / PAGE * PAGE;
        let is_bare = regime.privilege == Privilege::Machine;
        if is_bare && view.bus.memory(page).is_some() {
            return Some(address);
        }
        let regime = Regime {
            privilege: Privilege::Supervisor,
            sum: true,
            mxr: true,
            updates: true,
            ..regime
        };
        let copies = Copies {
            bus: view.bus,
            page: RefCell::new(Box::new([0; PAGE as usize])),
        };
        let found = translate(&copies, &|_, _| true, &regime, address, Access::Load);
        found.ok().map(|physical| physical.address)
    }
}

/// Memory of which a walk sees and changes copies.
struct Copies<'b, B> {
    bus: &'b B,
    page: RefCell<Box<[u8; PAGE as usize]>>,
}

impl<B: Bus> Bus for Copies<'_, B> {
    fn memory(&self, page: u64) -> Option<*mut u8> {
        let memory = self.bus.memory(page)?;
        let place = self.page.as_ptr();
        // SAFETY: a page of memory, which nobody changes meanwhile, and a page of this value. A walk
        // uses the pointer up to the next call alone.
        unsafe {
            let copy = (&raw mut **place).cast::<u8>();
            copy.copy_from_nonoverlapping(memory, PAGE as usize);
            Some(copy)
        }
    }

    fn load(&self, _: u64, _: u32, _: u64) -> Result<u64, BusError> {
        Err(BusError)
    }

    fn store(&self, _: u64, _: u32, _: u64, _: u64) -> Result<(), BusError> {
        Err(BusError)
    }

    fn time(&self, _: u64) -> u64 {
        0
    }
}
