//! Traps and returns from them (privileged manual, "Trap Entry" of both modes, "Trap-Return
//! Instructions").
use crate::privileged_registers::{Privilege, Registers, privilege, status};

/// Exception codes that the engine has no name for.
pub mod cause {
    pub const ILLEGAL: u64 = 2;
    pub const BREAKPOINT: u64 = 3;
    pub const CALL_FROM_USER: u64 = 8;
}

const INTERRUPT: u64 = 1 << 63;

impl Registers {
    /// Takes an exception at `pc`. Returns where the handler is.
    pub fn raise(&mut self, code: u64, value: u64, pc: u64) -> u64 {
        let is_delegated = self.privilege != Privilege::Machine && self.medeleg & 1 << code != 0;
        let to = match is_delegated {
            true => Privilege::Supervisor,
            false => Privilege::Machine,
        };
        self.enter(to, code, value, pc)
    }

    /// Takes an interrupt. Execution would have gone on at `pc`.
    pub fn interrupt(&mut self, number: u32, to: Privilege, pc: u64) -> u64 {
        self.enter(to, INTERRUPT | u64::from(number), 0, pc)
    }

    fn enter(&mut self, to: Privilege, cause: u64, value: u64, pc: u64) -> u64 {
        let from = self.privilege as u64;
        self.privilege = to;
        let vector = match to {
            Privilege::Supervisor => {
                (self.scause, self.stval, self.sepc) = (cause, value, pc);
                let enabled = self.mstatus & status::SIE != 0;
                self.mstatus &= !(status::SIE | status::SPIE | status::SPP);
                self.mstatus |= if enabled { status::SPIE } else { 0 };
                self.mstatus |= if from != 0 { status::SPP } else { 0 };
                self.stvec
            }
            _ => {
                (self.mcause, self.mtval, self.mepc) = (cause, value, pc);
                let enabled = self.mstatus & status::MIE != 0;
                self.mstatus &= !(status::MIE | status::MPIE | status::MPP);
                self.mstatus |= if enabled { status::MPIE } else { 0 };
                self.mstatus |= from << status::MPP_SHIFT;
                self.mtvec
            }
        };
        let is_vectored = vector & 1 != 0 && cause & INTERRUPT != 0;
        let offset = if is_vectored {
            4 * (cause & !INTERRUPT)
        } else {
            0
        };
        (vector & !3).wrapping_add(offset)
    }

    /// `mret`; `None`: it is illegal here.
    pub fn mret(&mut self) -> Option<u64> {
        if self.privilege != Privilege::Machine {
            return None;
        }
        let to = privilege(self.mstatus >> status::MPP_SHIFT & 3);
        let enabled = self.mstatus & status::MPIE != 0;
        self.mstatus &= !(status::MIE | status::MPP);
        self.mstatus |= status::MPIE | if enabled { status::MIE } else { 0 };
        if to != Privilege::Machine {
            self.mstatus &= !status::MPRV;
        }
        self.privilege = to;
        Some(self.return_to(self.mepc))
    }

    /// `sret`; `None`: it is illegal here.
    pub fn sret(&mut self) -> Option<u64> {
        let is_trapped = self.privilege == Privilege::Supervisor && self.mstatus & status::TSR != 0;
        if self.privilege == Privilege::User || is_trapped {
            return None;
        }
        let to = match self.mstatus & status::SPP {
            0 => Privilege::User,
            _ => Privilege::Supervisor,
        };
        let enabled = self.mstatus & status::SPIE != 0;
        self.mstatus &= !(status::SIE | status::SPP | status::MPRV);
        self.mstatus |= status::SPIE | if enabled { status::SIE } else { 0 };
        self.privilege = to;
        Some(self.return_to(self.sepc))
    }

    fn return_to(&self, pc: u64) -> u64 {
        match self.isa.has(flick_riscv::Extension::C) {
            true => pc,
            false => pc & !3,
        }
    }

    /// May `wfi` be executed here? ("Wait for Interrupt", TW; a user's may time out at once.)
    pub fn may_wait(&self) -> bool {
        match self.privilege {
            Privilege::Machine => true,
            Privilege::Supervisor => self.mstatus & status::TW == 0,
            Privilege::User => false,
        }
    }

    /// May `sfence.vma` be executed here?
    pub fn may_fence(&self) -> bool {
        match self.privilege {
            Privilege::Machine => true,
            Privilege::Supervisor => self.mstatus & status::TVM == 0,
            Privilege::User => false,
        }
    }
}
