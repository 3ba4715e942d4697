//! A jump by a table whose index is none of those that the translator has found: what a compiler
//! calls undefined goes where the guest's own code leads it.
use std::ops::Range;
use std::sync::Mutex;

use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited};
use flick_riscv::Insn;
use flick_translator::{Context, Counting, Program, Target, Translator};

/// sh3add a0, a0, a1; addi s2, s2, 1; ld a0, 0(a0); jr a0; then what the table leads to.
const CODE: [u32; 8] = [
    0x20b5_6533,
    0x0019_0913,
    0x0005_3503,
    0x0005_0067,
    // li a0, 11; ret; li a0, 22; ret
    0x00b0_0513,
    0x0000_8067,
    0x0160_0513,
    0x0000_8067,
];
/// auipc a1, 0; addi a1, a1, 8 * 5
const BEFORE: [u32; 2] = [0x0000_0597, 0x0285_8593];
/// Of the table; the translator knows the first two.
const ENTRIES: usize = 3;

#[repr(C, align(8))]
struct Memory {
    code: [u32; 10],
    table: [u64; ENTRIES],
}

struct Guest {
    code: CodeRegion,
    memory: &'static Memory,
    /// Where the jump leads, as its makers say.
    said: Option<Vec<u64>>,
}

impl Guest {
    fn range(&self) -> Range<u64> {
        self.code.base()..self.code.base() + self.code.len()
    }
}

impl Program for Guest {
    fn jump(&self, _: u64) -> Option<Vec<u64>> {
        self.said.clone()
    }
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.range().contains(&pc).then(|| self.code.insn(pc))
    }
    fn function(&self, _: u64) -> Option<Range<u64>> {
        Some(self.range())
    }
    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let first = self.memory.table.as_ptr() as u64;
        let n = address.checked_sub(first)? / 8;
        (len == 8 && n + 1 < ENTRIES as u64).then(|| self.memory.table[n as usize])
    }
    fn resolve(&self, _: u64) -> Option<Target> {
        None
    }
}

static CURRENT: Mutex<Option<(Translator, Guest)>> = Mutex::new(None);

unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    let mut current = CURRENT.lock().unwrap();
    let Some((translator, guest)) = current.as_mut() else {
        return 0;
    };
    if !guest.range().contains(&target) {
        translator.remember_elsewhere(target);
        return 0;
    }
    translator.entry(guest, target).unwrap_or(0)
}

#[test]
fn an_index_without_an_entry_goes_its_own_way() {
    check(false);
    check(true);
}

fn check(is_said: bool) {
    let memory = Box::leak(Box::new(Memory {
        code: [0; 10],
        table: [0; ENTRIES],
    }));
    memory.code[..2].copy_from_slice(&BEFORE);
    memory.code[2..].copy_from_slice(&CODE);
    let start = memory.code.as_ptr() as u64;
    let (eleven, twenty_two) = (start + 4 * 6, start + 4 * 8);
    memory.table = [eleven, twenty_two, twenty_two];
    let memory: &'static Memory = memory;
    let region = || {
        // SAFETY: it lives for ever and does not change.
        unsafe { CodeRegion::new(start, size_of_val(&memory.code) as u64) }
    };
    let translator =
        Translator::new(16 << 20, Counting::None, lookup).expect("memory for translated code");
    let guest = Guest {
        code: region(),
        memory,
        said: is_said.then(|| vec![eleven, twenty_two]),
    };
    *CURRENT.lock().unwrap() = Some((translator, guest));
    let code = region();
    for (index, expected) in [(0, 11), (1, 22), (2, 22), (1, 22), (0, 11), (2, 22)] {
        let hart = || {
            let mut hart = Hart::ZERO;
            hart.pc = start;
            hart.x[10] = index;
            hart.x[18] = 5;
            hart
        };
        // SAFETY: the guest reads its table, and what is translated does not change.
        let memory = unsafe { Identity::new() };
        let mut translated = Context {
            hart: hart(),
            ..Context::ZERO
        };
        let mut interpreted = hart();
        // SAFETY: as above.
        let exit = unsafe { flick_translator::run(&mut translated, &memory, &code, lookup, 0) };
        assert_eq!(exit, Exit::Leave);
        let exit = flick_engine::run(
            &mut interpreted,
            &mut ProcessCore::new(&memory, &code),
            &mut NoObserver,
            &mut Unlimited,
        );
        assert_eq!(exit, Exit::Leave);
        let translated = translated.hart;
        assert_eq!(translated.x[10], expected, "index {index}");
        assert_eq!((translated.x[10], translated.x[18]), (interpreted.x[10], 6));
    }
}
