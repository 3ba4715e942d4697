//! A machine's hart: pages with permissions, machine-mode CSRs, a timer, traps and `mret`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use flick_engine::csr_number::{CYCLE, INSTRET, TIME};
use flick_engine::fp::fcsr::Fcsr;
use flick_engine::{
    AmoOp, Cause, Control, Core, CsrAccess, Exception, Exit, Hart, Memory, NoObserver, Trap,
    access_fcsr, fetch_halves, run,
};
use flick_riscv::{Insn, Op};

pub const PAGE: u64 = 4096;
/// Cycles that each instruction takes.
pub const CYCLES: u64 = 3;

pub const MSTATUS: u32 = 0x300;
pub const MTVEC: u32 = 0x305;
pub const MEPC: u32 = 0x341;
pub const MCAUSE: u32 = 0x342;
pub const MTVAL: u32 = 0x343;
/// A register whose reading has a side effect: it counts the times that it was read.
pub const READS: u32 = 0x7c0;

/// Machine interrupt enable, and what it was before the trap.
const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
const MACHINE_TIMER: u64 = 1 << 63 | 7;

struct Page {
    /// Where its bytes are in the RAM: pages next to each other may be far apart.
    frame: u64,
    executable: bool,
}

/// Pages of RAM.
#[derive(Default)]
pub struct Pages {
    pages: BTreeMap<u64, Page>,
    ram: RefCell<Vec<u8>>,
}

impl Pages {
    /// Maps the page at `at` to the next frame.
    pub fn map(&mut self, at: u64, executable: bool) {
        let ram = self.ram.get_mut();
        let frame = ram.len() as u64;
        ram.resize(ram.len() + PAGE as usize, 0);
        self.pages.insert(at / PAGE, Page { frame, executable });
    }

    fn byte(&self, addr: u64, cause: Cause) -> Result<usize, Trap> {
        let page = self.pages.get(&(addr / PAGE));
        page.filter(|page| page.executable || cause != Cause::FetchPage)
            .map(|page| (page.frame + addr % PAGE) as usize)
            .ok_or(Trap { cause, addr })
    }

    fn read<const N: usize>(&self, addr: u64, cause: Cause) -> Result<[u8; N], Trap> {
        let mut value = [0; N];
        for (at, byte) in (addr..).zip(&mut value) {
            *byte = self.ram.borrow()[self.byte(at, cause)?];
        }
        Ok(value)
    }

    fn write(&self, addr: u64, value: &[u8]) -> Result<(), Trap> {
        for (at, byte) in (addr..).zip(value) {
            let at = self.byte(at, Cause::StorePage)?;
            self.ram.borrow_mut()[at] = *byte;
        }
        Ok(())
    }
}

impl Memory for Pages {
    type Fault = Trap;

    fn load8(&self, addr: u64) -> Result<u8, Trap> {
        self.read(addr, Cause::LoadPage).map(u8::from_le_bytes)
    }
    fn load16(&self, addr: u64) -> Result<u16, Trap> {
        self.read(addr, Cause::LoadPage).map(u16::from_le_bytes)
    }
    fn load32(&self, addr: u64) -> Result<u32, Trap> {
        self.read(addr, Cause::LoadPage).map(u32::from_le_bytes)
    }
    fn load64(&self, addr: u64) -> Result<u64, Trap> {
        self.read(addr, Cause::LoadPage).map(u64::from_le_bytes)
    }
    fn store8(&self, addr: u64, value: u8) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store16(&self, addr: u64, value: u16) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store32(&self, addr: u64, value: u32) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store64(&self, addr: u64, value: u64) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn amo32(&self, addr: u64, op: AmoOp, operand: u32) -> Result<u32, Trap> {
        let old = self.load32(addr)?;
        self.store32(addr, op.apply32(old, operand))?;
        Ok(old)
    }
    fn amo64(&self, addr: u64, op: AmoOp, operand: u64) -> Result<u64, Trap> {
        let old = self.load64(addr)?;
        self.store64(addr, op.apply64(old, operand))?;
        Ok(old)
    }
    fn compare_exchange32(&self, addr: u64, old: u32, new: u32) -> Result<bool, Trap> {
        let same = self.load32(addr)? == old;
        if same {
            self.store32(addr, new)?;
        }
        Ok(same)
    }
    fn compare_exchange64(&self, addr: u64, old: u64, new: u64) -> Result<bool, Trap> {
        let same = self.load64(addr)? == old;
        if same {
            self.store64(addr, new)?;
        }
        Ok(same)
    }
    fn fence(&self) {}
}

/// What a hart of the machine has beyond [`Hart`].
#[derive(Default)]
pub struct MachineCore {
    pub pages: Pages,
    decoded: BTreeMap<u64, Insn>,
    pub mstatus: u64,
    pub mtvec: u64,
    pub mepc: u64,
    pub mcause: u64,
    pub mtval: u64,
    pub reads: u64,
    pub cycle: u64,
    pub instret: u64,
    /// The cycle at which the timer interrupts; 0: never.
    pub timer: u64,
    waits: bool,
}

impl MachineCore {
    fn is_due(&self) -> bool {
        self.timer != 0 && self.cycle >= self.timer
    }

    /// Takes a trap: the address of its handler.
    fn trap(&mut self, pc: u64, cause: u64, value: u64) -> u64 {
        (self.mepc, self.mcause, self.mtval) = (pc, cause, value);
        self.mstatus = if self.mstatus & MIE != 0 { MPIE } else { 0 };
        self.mtvec
    }

    fn register(&mut self, number: u32) -> Option<&mut u64> {
        Some(match number {
            MSTATUS => &mut self.mstatus,
            MTVEC => &mut self.mtvec,
            MEPC => &mut self.mepc,
            MCAUSE => &mut self.mcause,
            MTVAL => &mut self.mtval,
            READS => &mut self.reads,
            _ => return None,
        })
    }
}

impl Core for MachineCore {
    type Memory = Pages;

    fn memory(&self) -> &Pages {
        &self.pages
    }

    fn target(&self, target: u64) -> Option<u64> {
        Some(target & !1)
    }

    unsafe fn fetch(&self, pc: u64) -> Insn {
        self.decoded.get(&pc).copied().unwrap_or(Insn::UNDECODED)
    }

    fn fill(&mut self, pc: u64) -> Result<(), Trap> {
        let insn = fetch_halves(pc, |at| {
            let half = self.pages.read(at, Cause::FetchPage)?;
            Ok(u16::from_le_bytes(half))
        })?;
        self.decoded.insert(pc, insn);
        Ok(())
    }

    fn bits(&self, pc: u64) -> u32 {
        let half = |at| {
            self.pages
                .read(at, Cause::FetchPage)
                .map_or(0, u16::from_le_bytes)
        };
        let low = half(pc);
        if low & 3 == 3 {
            u32::from(low) | u32::from(half(pc + 2)) << 16
        } else {
            low.into()
        }
    }

    fn fence_i(&mut self) {
        self.decoded.clear();
    }

    fn csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64> {
        let counter = match access.number {
            CYCLE => self.cycle,
            TIME => self.cycle / 10,
            INSTRET => self.instret,
            number => {
                let Some(register) = self.register(number) else {
                    return access_fcsr(hart, access);
                };
                if number == READS && access.reads {
                    *register += 1;
                }
                let old = *register;
                if let Some(write) = access.write {
                    *register = write.apply(old);
                }
                return Some(old);
            }
        };
        access.write.is_none().then_some(counter)
    }

    /// `ebreak` ends the run; the hart takes all others.
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        let (cause, value) = match exception {
            Exception::Ebreak => return Err(Exit::Ebreak),
            Exception::Ecall => (11, 0),
            Exception::Illegal { bits } => (2, bits.into()),
            Exception::Trap(trap) => (trap.cause as u64, trap.addr),
        };
        Ok(self.trap(hart.pc, cause, value))
    }

    fn privileged(&mut self, hart: &mut Hart, insn: Insn) -> Result<u64, Exception> {
        match insn.op() {
            Op::Mret => {
                self.mstatus = MPIE | if self.mstatus & MPIE != 0 { MIE } else { 0 };
                Ok(self.mepc)
            }
            Op::Wfi => {
                self.waits = true;
                Ok(hart.pc + 4)
            }
            // The machine has no S mode.
            _ => Err(Exception::Illegal {
                bits: self.bits(hart.pc),
            }),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.waits || self.mstatus & MIE != 0 && self.is_due()
    }

    fn interrupt(&mut self, hart: &mut Hart) -> Result<u64, Exit> {
        if !self.is_due() {
            return Err(Exit::Wait);
        }
        self.waits = false;
        if self.mstatus & MIE == 0 {
            return Ok(hart.pc);
        }
        self.timer = 0;
        Ok(self.trap(hart.pc, MACHINE_TIMER, 0))
    }

    fn retired(&mut self) {
        self.cycle += CYCLES;
        self.instret += 1;
    }
}

/// A hart with its core and its own fcsr.
pub struct MachineHart {
    pub hart: Hart,
    pub core: MachineCore,
    pub fcsr: Fcsr,
}

impl MachineHart {
    /// With `code` at each of these addresses, and pages for it; starts at the first one.
    pub fn new(code: &[(u64, &[u32])]) -> Self {
        let mut core = MachineCore::default();
        for &(at, words) in code {
            for (at, word) in (at..).step_by(4).zip(words) {
                for page in [at, at + 3] {
                    if !core.pages.pages.contains_key(&(page / PAGE)) {
                        core.pages.map(page, true);
                        // What follows has its frame elsewhere.
                        core.pages.map(1 << 40 | page, false);
                    }
                }
                core.pages.store32(at, *word).unwrap();
            }
        }
        let mut hart = Hart::ZERO;
        hart.pc = code[0].0;
        let fcsr = Fcsr::default();
        Self { hart, core, fcsr }
    }

    /// Runs with the fcsr loaded.
    pub fn run(&mut self, control: &mut impl Control) -> Exit {
        let thread = self.fcsr.load(&mut self.hart);
        let exit = run(&mut self.hart, &mut self.core, &mut NoObserver, control);
        self.fcsr = Fcsr::store(&self.hart, thread);
        exit
    }
}
