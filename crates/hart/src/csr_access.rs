//! Accesses of control and status registers (privileged manual, "Control and Status Registers").
use flick_engine::CsrAccess;
use flick_engine::csr_number::{CYCLE, INSTRET, TIME};

use crate::pmp::Pmp;
use crate::privileged_registers::{
    Counts, DELEGABLE, Privilege, Registers, SUPERVISOR_INTERRUPTS, environment, interrupt,
    privilege, status,
};
use flick_riscv::{Extension, FOREIGN_MODE, Mmu};

const SSTATUS: u32 = 0x100;
const SIE: u32 = 0x104;
const STVEC: u32 = 0x105;
const SCOUNTEREN: u32 = 0x106;
const SENVCFG: u32 = 0x10a;
const SSCRATCH: u32 = 0x140;
const SEPC: u32 = 0x141;
const SCAUSE: u32 = 0x142;
const STVAL: u32 = 0x143;
const SIP: u32 = 0x144;
const STIMECMP: u32 = 0x14d;
const SATP: u32 = 0x180;
const MSTATUS: u32 = 0x300;
const MISA: u32 = 0x301;
const MEDELEG: u32 = 0x302;
const MIDELEG: u32 = 0x303;
const MIE: u32 = 0x304;
const MTVEC: u32 = 0x305;
const MCOUNTEREN: u32 = 0x306;
const MENVCFG: u32 = 0x30a;
const MCOUNTINHIBIT: u32 = 0x320;
const MHPMEVENT3: u32 = 0x323;
const MHPMEVENT31: u32 = 0x33f;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;
const MCAUSE: u32 = 0x342;
const MTVAL: u32 = 0x343;
const MIP: u32 = 0x344;
const PMPCFG0: u32 = 0x3a0;
const PMPCFG15: u32 = 0x3af;
const PMPADDR0: u32 = 0x3b0;
const PMPADDR63: u32 = 0x3ef;
/// Of the debug manual: no trigger exists.
const TSELECT: u32 = 0x7a0;
const TDATA3: u32 = 0x7a3;
const MCYCLE: u32 = 0xb00;
const MINSTRET: u32 = 0xb02;
const MHPMCOUNTER3: u32 = 0xb03;
const MHPMCOUNTER31: u32 = 0xb1f;
const HPMCOUNTER31: u32 = 0xc1f;
const MVENDORID: u32 = 0xf11;
const MIMPID: u32 = 0xf13;
const MHARTID: u32 = 0xf14;
const MCONFIGPTR: u32 = 0xf15;

/// `mcountinhibit` has these counters.
const INHIBITABLE: u64 = 5;

/// What the hart knows besides its registers.
pub struct Moment {
    /// The machine's time.
    pub time: u64,
    /// What the hart has counted when the instruction begins.
    pub counts: Counts,
}

/// What has to be done after a register was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    /// An interrupt may have to be taken now.
    Interrupts,
    /// `mstatus` has changed.
    Status,
    /// Addresses may mean other places; an interrupt may have to be taken.
    Translation,
    /// Other memory may be accessed.
    Protection,
}

impl Registers {
    /// Executes a CSR instruction on a register that is not of floating point. Returns the old value;
    /// `None`: it is illegal.
    pub fn access(
        &mut self,
        pmp: &mut Pmp,
        access: CsrAccess,
        moment: &Moment,
    ) -> Option<(u64, Effect)> {
        let CsrAccess { number, write, .. } = access;
        if !self.may_access(number, write.is_some()) {
            return None;
        }
        let old = self.read(pmp, number, moment)?;
        let Some(write) = write else {
            return Some((old, Effect::None));
        };
        // The wire is no bit that an instruction sets or clears ("Machine Interrupt Registers").
        let base = match number {
            MIP | SIP => old & !(1 << interrupt::SEI) | self.software & 1 << interrupt::SEI,
            _ => old,
        };
        Some((old, self.write(pmp, number, write.apply(base), moment)))
    }

    fn may_access(&self, number: u32, writes: bool) -> bool {
        let least = privilege(u64::from(number >> 8 & 3));
        if self.privilege < least || writes && number >> 10 == 3 {
            return false;
        }
        let in_supervisor = self.privilege == Privilege::Supervisor;
        match number {
            SATP => !in_supervisor || self.mstatus & status::TVM == 0,
            STIMECMP if !self.isa.has(Extension::Sstc) => false,
            STIMECMP if in_supervisor => self.has_stimecmp() && self.mcounteren & 2 != 0,
            CYCLE..=HPMCOUNTER31 => {
                let has = match number {
                    CYCLE | TIME | INSTRET => self.isa.has(Extension::Zicntr),
                    _ => self.isa.has(Extension::Zihpm),
                };
                let bit = 1_u64 << (number & 31);
                let by_machine = self.privilege == Privilege::Machine || self.mcounteren & bit != 0;
                let by_supervisor = self.privilege != Privilege::User || self.scounteren & bit != 0;
                has && by_machine && by_supervisor
            }
            _ => true,
        }
    }

    /// `None`: there is no such register.
    pub fn read(&self, pmp: &Pmp, number: u32, moment: &Moment) -> Option<u64> {
        let shown = |mask| self.status() & mask;
        Some(match number {
            SSTATUS => shown(status::SUPERVISOR),
            SIE => self.mie & self.mideleg,
            STVEC => self.stvec,
            SCOUNTEREN => self.scounteren,
            SENVCFG => self.senvcfg,
            SSCRATCH => self.sscratch,
            SEPC => self.aligned(self.sepc),
            SCAUSE => self.scause,
            STVAL => self.stval,
            SIP => self.pending(moment.time) & self.mideleg,
            STIMECMP => self.stimecmp,
            SATP => self.satp,
            MSTATUS => shown(u64::MAX),
            MISA => self.isa.misa(),
            MEDELEG => self.medeleg,
            MIDELEG => self.mideleg,
            MIE => self.mie,
            MTVEC => self.mtvec,
            MCOUNTEREN => self.mcounteren,
            MENVCFG => self.menvcfg,
            MCOUNTINHIBIT => self.mcountinhibit,
            MSCRATCH => self.mscratch,
            MEPC => self.aligned(self.mepc),
            MCAUSE => self.mcause,
            MTVAL => self.mtval,
            MIP => self.pending(moment.time),
            // The odd ones are of RV32.
            PMPCFG0..=PMPCFG15 if number.is_multiple_of(2) => {
                pmp.config((number - PMPCFG0) as usize)
            }
            PMPADDR0..=PMPADDR63 => pmp.address((number - PMPADDR0) as usize),
            MCYCLE | CYCLE => self.cycle(moment.counts),
            MINSTRET | INSTRET => self.instret(moment.counts),
            TIME => moment.time,
            MHPMEVENT3..=MHPMEVENT31 | MHPMCOUNTER3..=MHPMCOUNTER31 => 0,
            INSTRET..=HPMCOUNTER31 => 0,
            TSELECT..=TDATA3 => 0,
            MHARTID => self.hart_id,
            MVENDORID..=MIMPID | MCONFIGPTR => 0,
            _ => return None,
        })
    }

    fn write(&mut self, pmp: &mut Pmp, number: u32, value: u64, moment: &Moment) -> Effect {
        match number {
            SSTATUS => return self.set_status(value, status::SUPERVISOR),
            MSTATUS => return self.set_status(value, u64::MAX),
            SIE => {
                self.mie = self.mie & !self.mideleg | value & self.mideleg;
                return Effect::Interrupts;
            }
            MIE => {
                self.mie = value & (SUPERVISOR_INTERRUPTS | self.machine_interrupts);
                return Effect::Interrupts;
            }
            SIP => {
                let mask = self.mideleg & 1 << interrupt::SSI;
                self.software = self.software & !mask | value & mask;
                return Effect::Interrupts;
            }
            MIP => {
                self.software = value & SUPERVISOR_INTERRUPTS;
                return Effect::Interrupts;
            }
            MIDELEG => {
                self.mideleg = value & SUPERVISOR_INTERRUPTS;
                return Effect::Interrupts;
            }
            STIMECMP => {
                self.stimecmp = value;
                return Effect::Interrupts;
            }
            SATP => {
                // A write of a mode that the hart lacks has no effect at all.
                let mode = Mmu::of_mode(value >> 60).is_some_and(|mode| mode <= self.mmu);
                let is_hosts = self.has_host_space && value >> 60 == FOREIGN_MODE;
                if mode || is_hosts {
                    self.satp = value;
                }
                return Effect::Translation;
            }
            MENVCFG => {
                self.menvcfg = self.environment(value, true);
                return Effect::Translation;
            }
            PMPCFG0..=PMPCFG15 => {
                pmp.set_config((number - PMPCFG0) as usize, value);
                return Effect::Protection;
            }
            PMPADDR0..=PMPADDR63 => {
                pmp.set_address((number - PMPADDR0) as usize, value);
                return Effect::Protection;
            }
            STVEC => self.stvec = vector(self.stvec, value),
            MTVEC => self.mtvec = vector(self.mtvec, value),
            SCOUNTEREN => self.scounteren = value & u64::from(u32::MAX),
            MCOUNTEREN => self.mcounteren = value & u64::from(u32::MAX),
            MCOUNTINHIBIT => self.inhibit(value & INHIBITABLE, moment.counts),
            SENVCFG => self.senvcfg = self.environment(value, false),
            SSCRATCH => self.sscratch = value,
            MSCRATCH => self.mscratch = value,
            SEPC => self.sepc = value & !1,
            MEPC => self.mepc = value & !1,
            SCAUSE => self.scause = value,
            MCAUSE => self.mcause = value,
            STVAL => self.stval = value,
            MTVAL => self.mtval = value,
            MEDELEG => self.medeleg = value & DELEGABLE,
            MCYCLE => {
                // The instruction's own cycle does not count.
                let counted = moment.counts.cycles + 1;
                self.mcycle = self.held(0, value, counted);
            }
            MINSTRET => {
                let counted = moment.counts.instructions + 1;
                self.minstret = self.held(2, value, counted);
            }
            _ => {}
        }
        Effect::None
    }

    /// With SD.
    fn status(&self) -> u64 {
        let has = |field: u64| self.mstatus & field == field;
        let is_dirty = has(status::FS) || has(status::VS);
        self.mstatus | if is_dirty { status::SD } else { 0 }
    }

    fn set_status(&mut self, value: u64, shown: u64) -> Effect {
        let mut mask = status::WRITABLE & shown;
        if value >> status::MPP_SHIFT & 3 == 2 {
            mask &= !status::MPP;
        }
        if !self.isa.has(Extension::F) {
            mask &= !status::FS;
        }
        if !self.isa.has(Extension::V) {
            mask &= !status::VS;
        }
        self.mstatus = self.mstatus & !mask | value & mask;
        Effect::Status
    }

    fn environment(&self, value: u64, is_machine: bool) -> u64 {
        let mut mask = environment::FIOM;
        if self.isa.has(Extension::Zicbom) {
            mask |= environment::CBCFE;
            // 2 is reserved.
            if value & environment::CBIE != 2 << 4 {
                mask |= environment::CBIE;
            }
        }
        if self.isa.has(Extension::Zicboz) {
            mask |= environment::CBZE;
        }
        if is_machine && self.isa.has(Extension::Svadu) {
            mask |= environment::ADUE;
        }
        if is_machine && self.isa.has(Extension::Sstc) {
            mask |= environment::STCE;
        }
        value & mask
    }

    /// Without compressed instructions bit 1 reads as 0 ("Machine Exception Program Counter").
    fn aligned(&self, pc: u64) -> u64 {
        match self.isa.has(Extension::C) {
            true => pc,
            false => pc & !3,
        }
    }

    fn cycle(&self, counts: Counts) -> u64 {
        self.shown(0, self.mcycle, counts.cycles)
    }

    fn instret(&self, counts: Counts) -> u64 {
        self.shown(2, self.minstret, counts.instructions)
    }

    fn is_inhibited(&self, counter: u32) -> bool {
        self.mcountinhibit & 1 << counter != 0
    }

    fn shown(&self, counter: u32, held: u64, counted: u64) -> u64 {
        match self.is_inhibited(counter) {
            true => held,
            false => held.wrapping_add(counted),
        }
    }

    fn held(&self, counter: u32, shown: u64, counted: u64) -> u64 {
        match self.is_inhibited(counter) {
            true => shown,
            false => shown.wrapping_sub(counted),
        }
    }

    fn inhibit(&mut self, value: u64, counts: Counts) {
        let (cycle, instret) = (self.cycle(counts), self.instret(counts));
        self.mcountinhibit = value;
        self.mcycle = self.held(0, cycle, counts.cycles);
        self.minstret = self.held(2, instret, counts.instructions);
    }
}

/// A vector's new value: direct or vectored; the other modes are reserved.
fn vector(old: u64, value: u64) -> u64 {
    match value & 2 {
        0 => value,
        _ => value & !3 | old & 3,
    }
}
