//! What accesses of control and status registers and the privileged instructions do to a hart, and
//! cache-block operations (Zicbom, Zicboz), and those on whole caches (XTheadCmo).
use flick_engine::vector;
use flick_engine::{
    Core, CsrAccess, Exception, Hart, Memory, Trap, access_fcsr, csr_number, custom_unit,
};
use flick_riscv::{Insn, Op};
use flick_timing::memory_system::BlockOperation;

use super::Privileged;
use crate::bus::Bus;
use crate::csr_access::Effect;
use crate::decoded_pages::Floats;
use crate::hart_events::Change;
use crate::page_tables::Access;
use crate::privileged_registers::{Privilege, environment, status};

/// Bytes of a cache block.
const BLOCK: u64 = 64;

impl<B: Bus> Privileged<'_, B> {
    /// See [`Core::csr`].
    pub(super) fn access_csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64> {
        if matches!(
            access.number,
            csr_number::FFLAGS | csr_number::FRM | csr_number::FCSR
        ) {
            if self.class.floats == Floats::Off {
                return None;
            }
            let old = access_fcsr(hart, access)?;
            if access.write.is_some() && self.class.floats == Floats::Clean {
                self.make_dirty();
            }
            return Some(old);
        }
        if let 8..=10 | 15 | 0xc20..=0xc22 = access.number {
            let vector = self.vector.as_mut()?;
            if self.registers.mstatus & status::VS == 0 {
                return None;
            }
            let old = vector::access_csr(vector, access)?;
            if access.write.is_some() {
                self.registers.mstatus |= status::VS;
            }
            return Some(old);
        }
        let moment = self.moment();
        let mut pmp = self.view.pmp.borrow_mut();
        let (old, effect) = self.registers.access(&mut pmp, access, &moment)?;
        drop(pmp);
        match effect {
            Effect::None => {}
            Effect::Interrupts => self.view.slice.check(),
            Effect::Status => {
                self.refresh();
                self.view.slice.check();
            }
            Effect::Translation => {
                self.refresh();
                self.forget_pages();
                self.view.slice.check();
            }
            Effect::Protection => {
                self.view.flush_protections();
                self.forget_code();
            }
        }
        Some(old)
    }

    /// See [`Core::privileged`].
    pub(super) fn execute_privileged(
        &mut self,
        hart: &mut Hart,
        insn: Insn,
    ) -> Result<u64, Exception> {
        let next = hart.pc + insn.len();
        let done = match insn.op() {
            Op::Mret => self.registers.mret(),
            Op::Sret => self.registers.sret(),
            Op::Wfi => self.registers.may_wait().then_some(next),
            Op::SfenceVma | Op::SinvalVma => self.registers.may_fence().then_some(next),
            Op::SfenceWInval | Op::SfenceInvalIr => {
                (self.registers.privilege != Privilege::User).then_some(next)
            }
            Op::ThDcacheCall | Op::ThDcacheIall | Op::ThDcacheCiall | Op::ThIcacheIall => {
                return self.whole_cache(hart, insn);
            }
            op if custom_unit::is_instruction(op) => {
                custom_unit::execute(hart, insn);
                Some(next)
            }
            _ => return self.cache_block(hart, insn),
        };
        // Not in the mode that a return leads to: nothing is fetched there in its place.
        let Some(pc) = done else {
            let bits = self.bits(hart.pc);
            return Err(Exception::Illegal { bits });
        };
        match insn.op() {
            Op::Mret | Op::Sret => {
                self.keep(self.view.slice.executed(), Change::Return);
                self.refresh();
            }
            Op::Wfi => self.waits = true,
            // Entries of other address spaces are not kept, so that the second operand says nothing.
            Op::SfenceVma | Op::SinvalVma if insn.rs1() != 0 => {
                let address = hart.x[insn.rs1()];
                self.view.flush_page(address);
                self.forget_pages();
                self.runner.table.forget_page(address);
            }
            _ => {
                self.view.flush();
                self.forget_code();
            }
        }
        if let (Some(timing), Op::SfenceVma | Op::SinvalVma) = (self.view.timing(), insn.op()) {
            timing.flush_translations();
        }
        self.view.slice.check();
        Ok(pc)
    }

    /// XTheadCmo ("T-Head ISA extension specification"): M and S mode may, users may not.
    fn whole_cache(&mut self, hart: &Hart, insn: Insn) -> Result<u64, Exception> {
        if self.registers.privilege == Privilege::User {
            let bits = self.bits(hart.pc);
            return Err(Exception::Illegal { bits });
        }
        let operation = match insn.op() {
            Op::ThIcacheIall => {
                self.fence_i();
                return Ok(hart.pc + 4);
            }
            Op::ThDcacheCall => BlockOperation::Clean,
            Op::ThDcacheIall => BlockOperation::Invalidate,
            _ => BlockOperation::Flush,
        };
        let done = self.view.operate_on_all(operation);
        done.map_err(Exception::Trap)?;
        Ok(hart.pc + 4)
    }

    fn cache_block(&mut self, hart: &Hart, insn: Insn) -> Result<u64, Exception> {
        let illegal = Err(Exception::Illegal {
            bits: self.bits(hart.pc),
        });
        let (machine, supervisor) = (self.registers.menvcfg, self.registers.senvcfg);
        let is_enabled = |field: u64| match self.registers.privilege {
            Privilege::Machine => true,
            Privilege::Supervisor => machine & field != 0,
            Privilege::User => machine & field != 0 && supervisor & field != 0,
        };
        let block = hart.x[insn.rs1()] / BLOCK * BLOCK;
        // What faults is a store, at the address in the register ("Traps" of the chapter "CMO").
        let store_fault = |trap: Trap| {
            let cause = match trap.cause {
                flick_engine::Cause::LoadPage => flick_engine::Cause::StorePage,
                flick_engine::Cause::LoadAccess => flick_engine::Cause::StoreAccess,
                cause => cause,
            };
            Exception::Trap(Trap {
                cause,
                addr: hart.x[insn.rs1()],
            })
        };
        if insn.op() == Op::CboZero {
            if !is_enabled(environment::CBZE) {
                return illegal;
            }
            self.view.check(block, Access::Store).map_err(store_fault)?;
            for at in (block..block + BLOCK).step_by(8) {
                self.view.store64(at, 0).map_err(Exception::Trap)?;
            }
        } else {
            let field = match insn.op() {
                Op::CboInval => environment::CBIE,
                _ => environment::CBCFE,
            };
            if !is_enabled(field) {
                return illegal;
            }
            // A load or a store has to be allowed. Without caches nothing else is to be done.
            if self.view.check(block, Access::Load).is_err() {
                self.view.check(block, Access::Store).map_err(store_fault)?;
            }
            let flushes = |field: u64| field & environment::CBIE == environment::CBIE_FLUSHES;
            let invalidates = match self.registers.privilege {
                Privilege::Machine => true,
                Privilege::Supervisor => !flushes(machine),
                Privilege::User => !flushes(machine) && !flushes(supervisor),
            };
            let operation = match insn.op() {
                Op::CboClean => BlockOperation::Clean,
                Op::CboInval if invalidates => BlockOperation::Invalidate,
                _ => BlockOperation::Flush,
            };
            let block = block..block + BLOCK;
            let done = self.view.operate_on_block(block, operation);
            done.map_err(Exception::Trap)?;
        }
        Ok(hart.pc + 4)
    }
}
