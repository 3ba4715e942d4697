//! The registers of the privileged manual: numbers, fields and state.
use flick_riscv::{Extension, Isa, Mmu};

/// Privilege modes by their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Privilege {
    /// User.
    User = 0,
    /// Supervisor.
    Supervisor = 1,
    /// Machine.
    Machine = 3,
}

/// Bits of `mip` and `mie`, which are numbers of interrupts.
pub mod interrupt {
    /// Supervisor software interrupt.
    pub const SSI: u32 = 1;
    /// Machine software interrupt.
    pub const MSI: u32 = 3;
    /// Supervisor timer interrupt.
    pub const STI: u32 = 5;
    /// Machine timer interrupt.
    pub const MTI: u32 = 7;
    /// Supervisor external interrupt.
    pub const SEI: u32 = 9;
    /// Machine external interrupt.
    pub const MEI: u32 = 11;
}

/// Fields of `mstatus`.
pub mod status {
    pub const SIE: u64 = 1 << 1;
    pub const MIE: u64 = 1 << 3;
    pub const SPIE: u64 = 1 << 5;
    pub const MPIE: u64 = 1 << 7;
    pub const SPP: u64 = 1 << 8;
    pub const VS: u64 = 3 << 9;
    pub const MPP_SHIFT: u32 = 11;
    pub const MPP: u64 = 3 << MPP_SHIFT;
    pub const FS_SHIFT: u32 = 13;
    pub const FS: u64 = 3 << FS_SHIFT;
    pub const MPRV: u64 = 1 << 17;
    pub const SUM: u64 = 1 << 18;
    pub const MXR: u64 = 1 << 19;
    pub const TVM: u64 = 1 << 20;
    pub const TW: u64 = 1 << 21;
    pub const TSR: u64 = 1 << 22;
    /// UXL and SXL: 64 bits.
    pub const XL: u64 = 0xa << 32;
    pub const UXL: u64 = 2 << 32;
    pub const SD: u64 = 1 << 63;
    /// What `sstatus` shows.
    pub const SUPERVISOR: u64 = SIE | SPIE | SPP | VS | FS | SUM | MXR | UXL | SD;
    /// What software may write.
    pub const WRITABLE: u64 =
        SIE | MIE | SPIE | MPIE | SPP | VS | MPP | FS | MPRV | SUM | MXR | TVM | TW | TSR;
}

/// Fields of `menvcfg` and `senvcfg`.
pub mod environment {
    pub const FIOM: u64 = 1;
    pub const CBIE: u64 = 3 << 4;
    /// The value of [`CBIE`] with which an invalidation is a flush.
    pub const CBIE_FLUSHES: u64 = 1 << 4;
    pub const CBCFE: u64 = 1 << 6;
    pub const CBZE: u64 = 1 << 7;
    pub const ADUE: u64 = 1 << 61;
    pub const STCE: u64 = 1 << 63;
}

/// Interrupts that may be delegated, and that supervisors see.
pub const SUPERVISOR_INTERRUPTS: u64 =
    1 << interrupt::SSI | 1 << interrupt::STI | 1 << interrupt::SEI;
pub const MACHINE_INTERRUPTS: u64 = 1 << interrupt::MSI | 1 << interrupt::MTI | 1 << interrupt::MEI;
/// Exceptions that may be delegated: all but calls from M mode.
pub const DELEGABLE: u64 = 0xb3ff;

/// A hart's state beyond that of user code.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub struct Registers {
    pub isa: Isa,
    /// The highest mode that `satp` takes.
    pub mmu: Mmu,
    /// `satp` takes mode 14, too: the space of a host program (`docs/card.md`).
    pub has_host_space: bool,
    pub hart_id: u64,
    pub privilege: Privilege,
    /// Without SD.
    pub mstatus: u64,
    pub medeleg: u64,
    pub mideleg: u64,
    pub mie: u64,
    /// Interrupts of M mode that the hart has, as bits: the standard ones, and those of its machine.
    pub machine_interrupts: u64,
    /// Bits of `mip` that software has set.
    pub software: u64,
    /// Bits of `mip` that are wired.
    pub lines: u64,
    pub mtvec: u64,
    pub mcounteren: u64,
    pub mcountinhibit: u64,
    pub mscratch: u64,
    pub mepc: u64,
    pub mcause: u64,
    pub mtval: u64,
    pub menvcfg: u64,
    pub stvec: u64,
    pub scounteren: u64,
    pub sscratch: u64,
    pub sepc: u64,
    pub scause: u64,
    pub stval: u64,
    pub satp: u64,
    pub senvcfg: u64,
    pub stimecmp: u64,
    /// `mcycle` and `minstret`, less what the hart has counted ([`Counts`]); the value itself while
    /// `mcountinhibit` stops the counter.
    pub mcycle: u64,
    pub minstret: u64,
}

/// What a hart has counted since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cycles that it has executed or waited.
    pub cycles: u64,
    /// Instructions that have completed.
    pub instructions: u64,
}

impl Registers {
    /// Those of a hart at its reset.
    pub fn new(isa: Isa, mmu: Mmu, hart_id: u64) -> Self {
        // As on QEMU: kernels of before the extension had a name count on it.
        let updates = isa.has(Extension::Svadu);
        let menvcfg = if updates { environment::ADUE } else { 0 };
        Self {
            isa,
            mmu,
            has_host_space: false,
            hart_id,
            privilege: Privilege::Machine,
            mstatus: status::XL,
            medeleg: 0,
            mideleg: 0,
            mie: 0,
            machine_interrupts: MACHINE_INTERRUPTS,
            software: 0,
            lines: 0,
            mtvec: 0,
            mcounteren: 0,
            mcountinhibit: 0,
            mscratch: 0,
            mepc: 0,
            mcause: 0,
            mtval: 0,
            menvcfg,
            stvec: 0,
            scounteren: 0,
            sscratch: 0,
            sepc: 0,
            scause: 0,
            stval: 0,
            satp: 0,
            senvcfg: 0,
            stimecmp: u64::MAX,
            mcycle: 0,
            minstret: 0,
        }
    }

    /// `mip`. `time` is the machine's.
    pub fn pending(&self, time: u64) -> u64 {
        let timer = match self.has_stimecmp() {
            true => u64::from(time >= self.stimecmp) << interrupt::STI,
            false => self.software & 1 << interrupt::STI,
        };
        self.lines | self.software & !(1 << interrupt::STI) | timer
    }

    /// STIP is what `stimecmp` says (Sstc).
    pub fn has_stimecmp(&self) -> bool {
        self.isa.has(Extension::Sstc) && self.menvcfg & environment::STCE != 0
    }

    /// Does what interrupts the hart depend on the time?
    pub fn looks_at_time(&self) -> bool {
        self.mie & 1 << interrupt::STI != 0 && self.has_stimecmp()
    }

    /// The time at which `stimecmp` interrupts, if it may.
    pub fn deadline(&self) -> Option<u64> {
        self.has_stimecmp().then_some(self.stimecmp)
    }

    /// The interrupt that is to be taken, of highest priority.
    pub fn next_interrupt(&self, time: u64) -> Option<(u32, Privilege)> {
        let pending = self.pending(time) & self.mie;
        if pending == 0 {
            return None;
        }
        let machine = pending & !self.mideleg;
        let supervisor = pending & self.mideleg;
        let is_enabled = |at: Privilege, bit: u64| {
            self.privilege < at || self.privilege == at && self.mstatus & bit != 0
        };
        let (set, to) = if machine != 0 && is_enabled(Privilege::Machine, status::MIE) {
            (machine, Privilege::Machine)
        } else if supervisor != 0 && is_enabled(Privilege::Supervisor, status::SIE) {
            (supervisor, Privilege::Supervisor)
        } else {
            return None;
        };
        use interrupt::{MEI, MSI, MTI, SEI, SSI, STI};
        let order = [MEI, MSI, MTI, SEI, SSI, STI];
        // Those of the machine come behind the standard ones.
        let first = order.into_iter().find(|&number| set & 1 << number != 0);
        Some((first.unwrap_or(set.trailing_zeros()), to))
    }

    /// The privilege of loads and stores.
    pub fn data_privilege(&self) -> Privilege {
        let is_other = self.mstatus & status::MPRV != 0 && self.privilege == Privilege::Machine;
        match is_other {
            true => privilege(self.mstatus >> status::MPP_SHIFT & 3),
            false => self.privilege,
        }
    }
}

/// The mode that a field names; no mode is M.
pub fn privilege(field: u64) -> Privilege {
    match field {
        0 => Privilege::User,
        1 => Privilege::Supervisor,
        _ => Privilege::Machine,
    }
}
