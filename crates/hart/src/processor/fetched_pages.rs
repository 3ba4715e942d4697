//! Where the instructions of a page are.
use flick_engine::Trap;

use super::{KnownPage, PAGES, Privileged};
use crate::bus::{Bus, PAGE};

impl<B: Bus> Privileged<'_, B> {
    /// The slots of the page at `pc`, and whether all of the page is protected alike.
    pub(super) fn slots_at(&mut self, pc: u64) -> Result<(KnownPage, bool), Trap> {
        let page = pc / PAGE * PAGE;
        let key = self.key(page);
        let at = (pc / PAGE) as usize % PAGES;
        let retirements = self.view.code.retirements();
        if self.retirements != retirements {
            self.retirements = retirements;
            self.forget_pages();
        }
        let known = self.pages[at];
        if known.key == key {
            return Ok((known, true));
        }
        let (found, _) = self.view.fetch(pc, self.registers.privilege)?;
        let physical = found.address / PAGE * PAGE;
        let slots = self.view.code.slots(physical, self.class);
        let known = KnownPage {
            key,
            slots,
            physical,
            bits: found.bits,
        };
        self.view.watch_code();
        // Where protection differs within the page, each instruction is asked for.
        let is_uniform = self.view.is_uniform(physical);
        if is_uniform {
            self.pages[at] = known;
        }
        Ok((known, is_uniform))
    }

    pub(super) fn half(&self, pc: u64) -> Result<u16, Trap> {
        let (physical, memory) = self.view.fetch(pc, self.registers.privilege)?;
        let offset = (physical.address % PAGE) as usize;
        // SAFETY: an aligned half-word of a page of memory.
        Ok(unsafe { memory.add(offset).cast::<u16>().read() })
    }
}
