//! Random programs of all modes. Every instruction that may trap is followed by one with which the program
//! goes on, and every jump names such a place in advance, so that no program runs for ever.
use flick_riscv_testing::asm::{addi, branch, i, r, s};
use flick_riscv_testing::values::{Rng, integer};

use crate::batch_driver::{
    CODE_SIZE, DATA, ENVIRONMENT, FINISH, LOG, PROGRAM, RESUME, RISE, SERVICE, START, STATE,
    TABLES, USER_BIT, WORK, supervisor_handler,
};
use crate::random_pages::{ACCESSED_DIRTY, DATA_PAGES, Pages, data_page, leaf, satp};
use crate::words::{
    BEQ, ECALL, FENCE_I, MRET, SFENCE_VMA, SRET, WFI, Words, csr_insn, csrc, csrr, csrs, csrw, lui,
};

/// Registers of random values.
const RANDOM: u64 = 16;
/// Of a statement.
pub const A: u32 = 23;
const B: u32 = 24;

/// The causes of which supervisors may be told: not of their own calls, by which their handler tells of
/// itself.
const DELEGATED: u64 = 0xb1ff;
/// The causes of what is fetched.
const FETCHES: u64 = 0x1002;

pub const INTERRUPTS: u64 = 0x222;
pub const ENABLES: u64 = 0xaaa;
/// Fields of `mstatus` that may be written, and UXL and SXL.
const STATUS: u64 = 0x7e_79aa;
const WIDTHS: u64 = 0xa_0000_0000;

pub struct Maker {
    pub rng: Rng,
    pub code: Words,
    pages: Pages,
    /// The handler of S mode may be out of reach, so that M mode has what is fetched in vain.
    chaos: bool,
    pub has_stimecmp: bool,
    /// It accesses memory across pages, and has no protection: QEMU 7.2 protects what is physically behind a page.
    crosses: bool,
    /// The hart may set accessed and dirty bits. QEMU 7.2 always does, so that otherwise all of them are set.
    updates: bool,
    /// Pairs of entries of protection that are the bounds of one range: bit n is of entries 2n and 2n + 1.
    ranges: u64,
}

/// A program, and whether it locks entries of physical memory protection: it is the last of its hart then.
pub fn program(seed: u64, may_lock: bool) -> Vec<u8> {
    let mut rng = Rng(seed);
    let (chaos, updates, pages) = start(&mut rng);
    let mut maker = Maker {
        has_stimecmp: rng.chance(70),
        crosses: rng.chance(30),
        updates,
        ranges: rng.next(),
        rng,
        code: Words::at(START),
        pages,
        chaos,
    };
    maker.begin();
    if may_lock && !maker.crosses {
        maker.lock();
    }
    let length = 20 + maker.rng.below(60);
    for _ in 0..length {
        maker.statement();
    }
    let end = maker.code.here();
    maker.code.li(SERVICE, FINISH);
    maker.code.add([ECALL]);
    maker.code.jump(end);
    maker.image()
}

/// Whether there is chaos, whether the hart may set accessed and dirty bits, and the pages.
fn start(rng: &mut Rng) -> (bool, bool, Pages) {
    let (chaos, updates) = (rng.chance(25), rng.chance(80));
    let mut pages = Pages::random(rng, chaos);
    if !updates {
        pages.set_accessed_and_dirty();
    }
    (chaos, updates, pages)
}

/// Where in a program the entries of page tables are that it may write.
pub fn written_entries(seed: u64) -> Vec<usize> {
    let places = start(&mut Rng(seed)).2.places;
    places.iter().map(|place| (place - WORK) as usize).collect()
}

/// A return to U mode from a page that users may execute. Its entry was not used for that, so that its A
/// stays clear. Returns the program and where the entry is.
pub fn return_from_a_page_of_users() -> (Vec<u8>, usize) {
    let mut rng = Rng(1);
    let mut pages = Pages::random(&mut rng, false);
    let place = 4 * 512 + (WORK >> 12 & 0x1ff) as usize;
    pages.entries[place] = WORK >> 2 | 0x1b;
    let mut maker = Maker {
        rng,
        code: Words::at(START),
        pages,
        chaos: true,
        has_stimecmp: true,
        crosses: false,
        updates: true,
        ranges: 0,
    };
    maker.set(0x180, satp(8, 0));
    maker.set(0x3bf, u64::MAX >> 10);
    maker.set(0x3a2, 0x1f << 56);
    maker.code.add([SFENCE_VMA]);
    maker.enter(true, Some(0));
    maker.code.li(SERVICE, FINISH);
    maker.code.add([ECALL]);
    (maker.image(), TABLES + 8 * place)
}

/// S mode comes to a word of its page that it may not execute, and that M mode has executed before. Returns
/// the program and the word's address.
pub fn run_into_protected_code() -> (Vec<u8>, u64) {
    let mut rng = Rng(1);
    let pages = Pages::random(&mut rng, false);
    let mut maker = Maker {
        rng,
        code: Words::at(START),
        pages,
        chaos: false,
        has_stimecmp: true,
        crosses: false,
        updates: true,
        ranges: 0,
    };
    maker.code.add([addi(5, 0, 0)]);
    let protected = maker.code.here();
    maker.code.add([addi(6, 6, 1), addi(5, 5, 1)]);
    maker.set(0x3bf, u64::MAX >> 10);
    maker.set(0x3a2, 0x1f << 56);
    // Four bytes that may be read.
    maker.set(0x3b0, protected >> 2);
    maker.set(0x3a0, 0x11);
    maker.code.add([SFENCE_VMA]);
    maker.enter(true, Some(1));
    let end = maker.code.ahead(2);
    maker.code.jump(protected);
    maker.code.reach_address(end, RESUME);
    maker.code.li(SERVICE, FINISH);
    maker.code.add([ECALL]);
    (maker.image(), protected)
}

impl Maker {
    fn image(mut self) -> Vec<u8> {
        let mut image = vec![0; PROGRAM];
        let handler = supervisor_handler().bytes();
        image[..handler.len()].copy_from_slice(&handler);
        let start = (START - WORK) as usize;
        let code = self.code.bytes();
        assert!(start + code.len() < CODE_SIZE);
        image[start..][..code.len()].copy_from_slice(&code);
        let mut put =
            |at: usize, value: u64| image[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let data = DATA_PAGES as usize * 512;
        for n in 0..data {
            put(DATA + 8 * n, integer(&mut self.rng));
        }
        // Code that comes back.
        let back = u64::from(addi(10, 10, 1)) | u64::from(0x67 | RESUME << 15) << 32;
        for n in data..data + 512 {
            put(DATA + 8 * n, back);
        }
        for (n, entry) in self.pages.entries.iter().enumerate() {
            put(TABLES + 8 * n, *entry);
        }
        for n in 1..28 {
            put(STATE + 8 * n, integer(&mut self.rng));
        }
        for n in [SERVICE, 21, 22, 25, 26] {
            put(STATE + 8 * n as usize, 0);
        }
        image
    }

    pub fn register(&mut self) -> u32 {
        1 + self.rng.below(RANDOM) as u32
    }

    pub fn delegated(&mut self) -> u64 {
        let all = match self.rng.below(3) {
            0 => DELEGATED,
            _ => self.rng.next() & DELEGATED,
        };
        // Of loads and of stores alike: see `without_choices`.
        let all = all & !0x80 | (all & 0x20) << 2;
        if self.chaos { all & !FETCHES } else { all }
    }

    pub fn status(&mut self) -> u64 {
        let mut value = self.rng.next() & STATUS;
        if self.rng.chance(70) {
            value &= !(7 << 20);
        }
        if self.rng.chance(60) {
            value &= !(1 << 17);
        }
        // M or U: such bits are right in what is set and cleared, too.
        value = value & !0x1800 | self.rng.pick(&[0, 0x1800]);
        value | WIDTHS
    }

    fn satp(&mut self) -> u64 {
        let mode = self.rng.pick(&[0, 8, 8, 9, 9, 10, 10]);
        match mode {
            // All is 0 in Bare ("Supervisor Address Translation and Protection Register").
            0 => 0,
            mode => satp(mode, self.rng.below(1 << 16)),
        }
    }

    /// Registers of M mode, and off to a random mode.
    fn begin(&mut self) {
        self.code.la(RESUME, START);
        let stvec = WORK | self.rng.below(2);
        let values = [
            (0x105, stvec),
            (0x302, self.delegated()),
            (0x303, self.rng.next() & INTERRUPTS),
            (0x304, self.rng.next() & ENABLES),
            (0x306, self.rng.below(8)),
            (0x106, self.rng.below(8)),
            (0x180, self.satp()),
            (0x140, self.rng.next()),
            (0x340, self.rng.next()),
            (0x3bf, u64::MAX >> 10),
            (0x3a2, 0x1f << 56),
        ];
        for (csr, value) in values {
            self.set(csr, value);
        }
        let mut environment = ENVIRONMENT;
        for (has, bit) in [(self.updates, 61), (self.has_stimecmp, 63)] {
            if !has {
                environment &= !(1 << bit);
            }
        }
        if environment != ENVIRONMENT {
            self.set(0x30a, environment);
        }
        if self.rng.chance(50) {
            self.code.add([csr_insn(6, 0, 0x305, 1)]);
        }
        if self.rng.chance(40) {
            for _ in 0..1 + self.rng.below(3) {
                self.protect();
            }
        }
        let status = self.status();
        self.set(0x300, status);
        self.code.add([SFENCE_VMA]);
        self.enter(true, None);
    }

    pub fn set(&mut self, csr: u32, value: u64) {
        self.code.li(A, value);
        self.code.add([csrw(csr, A)]);
    }

    /// A call of M mode.
    fn rise(&mut self) {
        self.code.li(SERVICE, RISE);
        self.code.add([ECALL, addi(SERVICE, 0, 0)]);
    }

    /// To a mode by a return.
    fn enter(&mut self, by_machine: bool, to: Option<u64>) {
        let to = to.unwrap_or_else(|| self.rng.pick(&[0_u64, 0, 1, 1, 1, 3]));
        let to = if by_machine { to } else { to & 1 };
        let (status, epc, shift, ret) = match by_machine {
            true => (0x300, 0x341, 11, MRET),
            false => (0x100, 0x141, 8, SRET),
        };
        self.code.li(A, if by_machine { 3 } else { 1 } << shift);
        self.code.li(B, to << shift);
        self.code.add([csrc(status, A), csrs(status, B)]);
        let place = self.code.ahead(2);
        // There are two copies of the code.
        self.code.add([
            lui(B, (USER_BIT >> 12) as u32),
            r(0x6033, RESUME, RESUME, B),
        ]);
        if to != 0 {
            self.code.add([r(0x4033, RESUME, RESUME, B)]);
        }
        self.code.add([csrw(epc, RESUME), ret]);
        self.code.reach_address(place, RESUME);
    }

    fn statement(&mut self) {
        match self.rng.below(100) {
            0..=19 => self.register_access(),
            20..=43 => self.memory_access(),
            44..=46 => {
                self.code.add([ECALL]);
            }
            47..=49 => {
                let word = self
                    .rng
                    .pick(&[0x0010_0073, 0, 0xffff_ffff, 0x0000_0077, 0x7a00_0073]);
                self.code.add([word]);
            }
            50..=59 => {
                if self.rng.chance(70) {
                    self.rise();
                }
                let by_machine = self.rng.chance(70);
                self.enter(by_machine, None);
            }
            60..=65 => {
                let to = self.rng.pick(&self.pages.code);
                let to = to + 8 + 8 * self.rng.below(500);
                let place = self.code.ahead(2);
                self.code.li(B, to);
                self.code.add([0x67 | B << 15]);
                self.code.reach_address(place, RESUME);
            }
            66..=74 => self.interrupt(),
            75..=79 => {
                let address = self.rng.pick(&self.pages.data);
                self.code.li(A, address);
                let b = self.register();
                let word = self.rng.pick(&[
                    SFENCE_VMA,
                    SFENCE_VMA | A << 15,
                    SFENCE_VMA | A << 15 | b << 20,
                    0x1600_0073 | A << 15,
                    // SFENCE.W.INVAL and SFENCE.INVAL.IR. QEMU 7.2 lets users execute them, other than the
                    // manual ("Svinval").
                    0x1800_0073,
                    0x1810_0073,
                    FENCE_I,
                    0x0ff0_000f,
                ]);
                if matches!(word, 0x1800_0073 | 0x1810_0073) {
                    self.rise();
                }
                self.code.add([word]);
            }
            80 | 81 => self.wait(),
            82..=85 => {
                if self.rng.chance(60) {
                    self.rise();
                }
                let satp = match self.rng.chance(10) {
                    // No such mode: nothing is written.
                    true => {
                        self.rng.pick(&[1 << 60, 7 << 60, 11 << 60, 15 << 60])
                            | self.rng.next() >> 4
                    }
                    false => self.satp(),
                };
                self.set(0x180, satp);
                self.code.add([SFENCE_VMA]);
            }
            86..=89 => {
                if self.rng.chance(70) {
                    self.rise();
                }
                self.protect();
            }
            90..=92 => {
                let place = self.rng.pick(&self.pages.places);
                let page = self.rng.below(DATA_PAGES);
                // Random data is neither code nor a page table.
                let mut entry = leaf(&mut self.rng, data_page(page) >> 12) & !8 | 2;
                if !self.updates {
                    entry |= ACCESSED_DIRTY;
                }
                self.code.li(A, place);
                self.code.li(B, entry);
                self.code.add([s(0x3023, A, B, 0), SFENCE_VMA]);
            }
            93 | 94 => {
                // Counters: their values are not compared.
                let csr = self.rng.pick(&[0xc00, 0xc01, 0xc02, 0xb00, 0xb02]);
                self.code.add([csrr(A, csr), addi(A, 0, 0)]);
            }
            95 | 96 => self.floating(),
            _ => {
                let (a, b, c) = (self.register(), self.register(), self.register());
                let base = self
                    .rng
                    .pick(&[0x33, 0x4000_0033, 0x4033, 0x0200_0033, 0x3b]);
                self.code.add([r(base, a, b, c)]);
            }
        }
    }

    fn memory_access(&mut self) {
        let address = self.rng.pick(&self.pages.data) + 256 + self.rng.below(3500);
        let (kind, rd, b) = (self.rng.below(10), self.register(), self.register());
        // Behind the last page is code, whose first words are not executed.
        if self.crosses && kind < 7 && self.rng.chance(20) {
            let page = self.rng.pick(&self.pages.data) & !0xfff;
            // Which of a missing page and missing memory is found first is open.
            let absent = &self.pages.absent;
            if absent
                .iter()
                .any(|&absent| absent == page || absent == page.wrapping_add(4096))
            {
                return;
            }
            self.code.li(B, (page | 0xfff) - self.rng.below(7));
            let word = match kind {
                0..=3 => i(0x03 | (self.rng.below(7) as u32) << 12, rd, B, 0),
                _ => s(0x23 | (self.rng.below(4) as u32) << 12, B, b, 0),
            };
            return self.code.add([word]);
        }
        let aligned = match self.rng.chance(if kind < 7 { 70 } else { 94 }) {
            true => address & !7,
            // By protection in parts of an access it may be checked as one, or in parts.
            false if kind < 7 && !self.crosses => address & !7,
            false => address,
        };
        self.code.li(B, aligned);
        let word = match kind {
            0..=3 => i(0x03 | (self.rng.below(7) as u32) << 12, rd, B, 0),
            4..=6 => s(0x23 | (self.rng.below(4) as u32) << 12, B, b, 0),
            7 | 8 => {
                let function = self.rng.pick(&[0, 1, 4, 8, 12, 16, 20, 24, 28]) << 27;
                r(0x202f | self.rng.pick(&[0, 0x1000]) | function, rd, B, b)
            }
            _ => {
                // One to an address that is not aligned is an exception (A, "Load-Reserved/Store-Conditional
                // Instructions"); without a reservation QEMU lets it fail.
                self.code.li(B, aligned & !7);
                let width = self.rng.pick(&[0, 0x1000]);
                // A pair: without a reservation QEMU asks for no rights.
                self.code
                    .add([addi(A, 0, 0x123), r(0x1000_202f | width, A, B, 0)]);
                self.code.add([addi(rd, 0, 0x123), branch(BEQ, A, rd, 8)]);
                r(0x1800_202f | width, self.register(), B, b)
            }
        };
        self.code.add([word]);
    }

    /// An interrupt becomes pending.
    fn interrupt(&mut self) {
        if self.rng.chance(30) {
            self.rise();
        }
        let (csr, bit) = match self.rng.below(7) {
            0 | 1 => (0x344, 1 << self.rng.pick(&[1, 5, 9])),
            2 => (0x144, 2),
            // In chaos the next instruction may be out of reach, and QEMU asks for it first.
            3 | 4 if self.chaos => return self.code.add([csr_insn(6, 0, 0x344, 2)]),
            3 => {
                self.code.li(A, 0x200_0000);
                self.code.li(B, 1);
                return self.code.add([s(0x2023, A, B, 0)]);
            }
            4 => {
                self.code.li(A, 0x200_4000);
                return self.code.add([s(0x3023, A, 0, 0)]);
            }
            5 if self.has_stimecmp => return self.code.add([csrw(0x14d, 0)]),
            _ => {
                // What is pending becomes enabled.
                self.code.li(A, ENABLES);
                self.code.add([csrs(0x304, A)]);
                return self
                    .code
                    .add([csr_insn(6, 0, self.rng.pick(&[0x300, 0x100]), 10)]);
            }
        };
        self.code.li(A, bit);
        self.code.add([csrs(csr, A)]);
    }

    /// For an interrupt that is pending.
    fn wait(&mut self) {
        if self.rng.chance(30) {
            // TW, without which it would wait.
            self.rise();
            self.code.li(A, 1 << 21);
            self.code.add([csrs(0x300, A)]);
            let to = self.rng.below(2);
            self.enter(true, Some(to));
            return self.code.add([WFI]);
        }
        self.rise();
        self.code.add([
            csr_insn(7, 0, 0x300, 8),
            csr_insn(6, 0, 0x304, 2),
            csr_insn(6, 0, 0x344, 2),
            WFI,
        ]);
    }

    /// An entry of physical memory protection.
    fn protect(&mut self) {
        if self.crosses {
            return;
        }
        let (entry, config) = self.protection();
        let (register, shift) = (0x3a0 + entry as u32 / 8 * 2, 8 * (entry % 8));
        self.code.li(A, 0xff << shift);
        self.code.li(B, config << shift);
        self.code
            .add([csrc(register, A), csrs(register, B), SFENCE_VMA]);
    }

    /// Writes the addresses of an entry. Returns its number and its configuration.
    fn protection(&mut self) -> (u64, u64) {
        let around = match self.chaos && self.rng.chance(40) {
            true => self
                .rng
                .pick(&[WORK, WORK | USER_BIT, WORK + TABLES as u64]),
            false => WORK + DATA as u64,
        };
        let start = around + 4 * self.rng.below(0x3000 / 4);
        // A bound is of one range for ever: QEMU 7.2 changes a range with its own registers only.
        let pair = self.rng.below(7);
        let is_range = self.ranges >> pair & 1 != 0;
        let entry = 2 * pair + if is_range { 1 } else { self.rng.below(2) };
        let mode = if is_range { 1 } else { 2 + self.rng.below(2) };
        let end = match mode {
            1 => {
                let end = start + self.rng.pick(&[4, 8, 64, 4096]);
                self.set(0x3b0 + entry as u32 - 1, start >> 2);
                self.set(0x3b0 + entry as u32, end >> 2);
                end
            }
            2 => {
                self.set(0x3b0 + entry as u32, start >> 2);
                start + 4
            }
            _ => {
                let ones = self.rng.below(10);
                let address = start >> 2 | ((1 << ones) - 1);
                self.set(0x3b0 + entry as u32, address & !(1 << ones));
                start + (8 << ones)
            }
        };
        // QEMU 7.2 sets accessed and dirty bits in tables that may not be written.
        let reaches_tables = end > WORK + TABLES as u64 && start < WORK + LOG as u64 + 4096;
        let rights = match reaches_tables {
            true => self.rng.pick(&[0, 3, 4, 7]),
            false => self.rng.pick(&[0, 1, 3, 4, 5, 7]),
        };
        (entry, mode << 3 | rights)
    }

    /// An entry that holds for M mode, too, and for ever.
    fn lock(&mut self) {
        self.rise();
        let chaos = std::mem::replace(&mut self.chaos, false);
        // What has been written is read at the end.
        let (entry, config) = self.protection();
        let config = config | 0x81;
        self.chaos = chaos;
        let (register, shift) = (0x3a0 + entry as u32 / 8 * 2, 8 * (entry % 8));
        self.code.li(B, config << shift);
        self.code.add([csrs(register, B), SFENCE_VMA]);
        // What is locked is not written.
        self.set(0x3b0 + entry as u32, 0);
        self.code.add([csrr(5, 0x3b0 + entry as u32)]);
        self.code.li(B, 0xff << shift);
        self.code.add([csrc(register, B)]);
    }

    fn floating(&mut self) {
        let (a, b) = (self.rng.below(32) as u32, self.rng.below(32) as u32);
        let x = self.register();
        let word = self.rng.pick(&[
            // fmv.d.x, fadd.d, fdiv.d, fmv.x.d. None that only may raise a flag: FS may become dirty then, or not
            // ("Extension Context Status in mstatus Register").
            0xf200_0053 | a << 7 | x << 15,
            0x0200_7053 | a << 7 | a << 15 | b << 20,
            0x1a00_7053 | a << 7 | a << 15 | b << 20,
            0xe200_0053 | x << 7 | a << 15,
        ]);
        self.code.add([word]);
    }
}
