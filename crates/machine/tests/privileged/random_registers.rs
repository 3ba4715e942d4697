//! Random accesses of control and status registers: what may be written, and bits that do not exist.
use flick_riscv_testing::values::integer;

use crate::random_program::{A, ENABLES, INTERRUPTS, Maker};
use crate::words::csr_insn;

/// Bits that no machine of these extensions has ("WPRI", or read-only): in `mstatus`, of exceptions and of
/// interrupts. Those of the hypervisor are not among them: QEMU 7.2 has some of them without it.
const NO_STATUS: u64 = 0x7fff_ff30_ff81_8055;
const NO_EXCEPTIONS: u64 = 0xffff_ffff_ff0f_4000;
const NO_INTERRUPTS: u64 = 0xffff_ffff_ffff_c111;

impl Maker {
    /// Some bits of these, now and then.
    fn none(&mut self, bits: u64) -> u64 {
        match self.rng.chance(25) {
            true => self.rng.next() & bits,
            false => 0,
        }
    }

    pub fn register_access(&mut self) {
        let stimecmp = self.rng.pick(&[0, u64::MAX]);
        let cause = self.rng.below(16) | self.rng.below(2) << 63;
        // What may be written, or nothing.
        let (csr, value) = match self.rng.below(32) {
            0 | 1 => (0x300, Some(self.status() | self.none(NO_STATUS))),
            2 | 3 => {
                let value = self.status() & 0xc_6122 | 2 << 32;
                (0x100, Some(value | self.none(NO_STATUS)))
            }
            4 => (0x302, Some(self.delegated() | self.none(NO_EXCEPTIONS))),
            5 => {
                let value = self.rng.next() & INTERRUPTS;
                (0x303, Some(value | self.none(NO_INTERRUPTS | 0x888)))
            }
            6 => {
                let value = self.rng.next() & ENABLES;
                (0x304, Some(value | self.none(NO_INTERRUPTS)))
            }
            7..=9 => {
                let csr = self.rng.pick(&[0x104, 0x344, 0x144]);
                let value = self.rng.next() & INTERRUPTS;
                (csr, Some(value | self.none(NO_INTERRUPTS)))
            }
            10 => {
                let value = self.rng.below(8) | self.none(u64::from(u32::MAX));
                (self.rng.pick(&[0x306, 0x106]), Some(value))
            }
            11 => (self.rng.pick(&[0x140, 0x340]), Some(integer(&mut self.rng))),
            // Bit 0 is always 0; QEMU 7.2 keeps it.
            12 => (
                self.rng.pick(&[0x141, 0x341]),
                Some(integer(&mut self.rng) & !1),
            ),
            13 => (self.rng.pick(&[0x142, 0x342]), Some(cause)),
            14 if self.has_stimecmp => (0x14d, Some(stimecmp)),
            15 => (0x10a, Some(self.rng.below(2) | self.none(!0xff))),
            // Rounding modes that are valid: FS may become dirty by an instruction with another one.
            16 => self.rng.pick(&[
                (1, Some(9)),
                (1, Some(31)),
                (2, Some(3)),
                (3, Some(0x6a)),
                (3, Some(0x15)),
            ]),
            17 => (self.rng.pick(&[0x105, 0x305, 0xf14, 0x301]), None),
            18 => (self.rng.pick(&[0x180, 0x3a0, 0x3a2]), None),
            19 => (0x3b0 + self.rng.below(16) as u32, None),
            // There are no such registers on RV64 with these extensions, or not outside of debug mode.
            20..=22 => {
                let csr = self.rng.pick(&[
                    0x3a1, 0x3a3, 0xb80, 0xc80, 0x7b0, 0x7b1, 0x600, 0x200, 0x5ff, 0x8ff, 0x0ff,
                    0xcff, 0x310, 0x3ff, 0x9c0, 0xfff,
                ]);
                (csr, Some(self.rng.next()))
            }
            // These are read-only.
            23 => (
                self.rng.pick(&[0xf14, 0xc00, 0xc01, 0xf11]),
                Some(self.rng.next()),
            ),
            // Of what is reserved nothing is written.
            24 => (0x301, Some(self.rng.next())),
            25 => {
                // No mode of vectors.
                let csr = self.rng.pick(&[0x105, 0x305]);
                let mode = self.rng.pick(&[2, 3]);
                let rd = self.register();
                return self.code.add([csr_insn(6, rd, csr, mode)]);
            }
            26 => (self.rng.pick(&[0x143, 0x343]), Some(self.rng.next())),
            _ => (
                self.rng.pick(&[0x300, 0x100, 0x304, 0x344, 0x104, 0x144]),
                None,
            ),
        };
        // The value of a breakpoint is not that of another cause. What the cause was may differ, so that no bits of
        // it are set or cleared.
        // So may the values themselves.
        if let (0x142 | 0x342, Some(value)) = (csr, value) {
            self.set(csr + 1, 0);
            return self.set(csr, value);
        }
        if let (0x143 | 0x343, Some(value)) = (csr, value) {
            return self.set(csr, value);
        }
        let rd = if self.rng.chance(80) {
            self.register()
        } else {
            0
        };
        // Of a read-only register the value may differ.
        let rd = if matches!(csr, 0xc00..=0xf13) { 0 } else { rd };
        match value {
            None => self
                .code
                .add([csr_insn(self.rng.pick(&[2, 3, 6, 7]), rd, csr, 0)]),
            Some(value) if value < 32 && self.rng.chance(50) => {
                let kind = 5 + self.rng.below(3) as u32;
                self.code.add([csr_insn(kind, rd, csr, value as u32)]);
            }
            Some(value) => {
                let kind = 1 + self.rng.below(3) as u32;
                self.code.li(A, value);
                self.code.add([csr_insn(kind, rd, csr, A)]);
            }
        }
    }
}
