//! Translation ahead of time as an engine: all functions are translated for a module that is not
//! placed, and the test does what linker and loader do.
use std::arch::naked_asm;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;

use flick_engine::{CodeRegion, Exit, Hart, Identity};
use flick_riscv::Insn;
use flick_translator::{
    Ahead, Context, HostRegisters, Place, Program, Summary, Target, Targets, Word,
};

use crate::engine::Engine;
use crate::kept;
use crate::translated::Guest;

static TARGETS: Targets = Targets::zero();
static CURRENT: Mutex<Option<Loaded>> = Mutex::new(None);

/// A translation in its place.
struct Loaded {
    ahead: Ahead,
    guest: Range<u64>,
    /// Where the code is.
    code: u64,
    mapping: Range<usize>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: mapped by `load`; no code of it runs any more.
        unsafe { libc::munmap(self.mapping.start as *mut _, self.mapping.len()) };
    }
}

/// The guest's program with addresses that count from the start of its code.
struct Module<'a> {
    guest: &'a Guest,
    base: u64,
}

impl Program for Module<'_> {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.guest.insn(self.base.wrapping_add(pc))
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let range = self.guest.function(self.base.wrapping_add(pc))?;
        Some(range.start - self.base..range.end - self.base)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let word = self.guest.constant(self.base.wrapping_add(address), len)?;
        let is_address = len == 8 && self.guest.code.contains(word);
        Some(if is_address { word - self.base } else { word })
    }

    fn is_placed(&self) -> bool {
        false
    }

    fn is_address(&self, address: u64) -> bool {
        let word = self.guest.constant(self.base.wrapping_add(address), 8);
        word.is_some_and(|word| self.guest.code.contains(word))
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        let targets = self.guest.jump(self.base.wrapping_add(pc))?;
        Some(
            targets
                .iter()
                .map(|at| at.wrapping_sub(self.base))
                .collect(),
        )
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        self.guest.summary(self.base.wrapping_add(pc))
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        let is_code = self.guest.code.contains(self.base.wrapping_add(target));
        is_code.then_some(Target::Guest(target))
    }
}

/// How far a module is moved. Functions are at even addresses.
const MOVED: u64 = 0x1_2346;
const PAGE: usize = 4096;

/// Maps memory in reach of the guest's code.
fn map_near(near: u64, size: usize) -> usize {
    for n in 1..1 << 14 {
        let at = (near as usize & !(PAGE - 1)) + (n << 14);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: at a place that nobody has.
        let place = unsafe { libc::mmap(at as *mut _, size, protection, flags, -1, 0) };
        if place as usize == at {
            return at;
        }
        if place != libc::MAP_FAILED {
            // An old kernel has taken the address for a hint.
            // SAFETY: just mapped.
            unsafe { libc::munmap(place, size) };
        }
    }
    panic!("no memory near {near:#x}");
}

/// What linker and loader do.
fn load(ahead: Ahead, guest: Range<u64>) -> Loaded {
    let words = ahead.code.len().next_multiple_of(PAGE);
    let cells = words + PAGE;
    let size = (cells + 8 * ahead.outside.len()).next_multiple_of(PAGE);
    let start = map_near(guest.end, size);
    let mut code = ahead.code.clone();
    for fixup in &ahead.fixups {
        let to = match fixup.place {
            Place::Guest(at) => guest.start.wrapping_add(at),
            Place::Engine(word) => (start + words + 8 * word as usize) as u64,
            Place::Cell(n) => (start + cells + 8 * n as usize) as u64,
        };
        let distance = to.wrapping_sub((start + fixup.end) as u64) as i64;
        let distance = i32::try_from(distance).expect("everything is near");
        code[fixup.end - 4..fixup.end].copy_from_slice(&distance.to_le_bytes());
    }
    // SAFETY: the mapping is ours and large enough; its code is executable and not writable before
    // it runs.
    unsafe {
        std::ptr::copy_nonoverlapping(code.as_ptr(), start as *mut u8, code.len());
        for word in Word::ALL {
            let address = match word {
                Word::Targets => (&raw const TARGETS).addr() as u64,
                Word::Call => call as *const () as u64,
                Word::Leave => flick_translator::leave as *const () as u64,
                Word::LeaveAtCall => flick_translator::leave_at_call as *const () as u64,
                Word::Elsewhere => flick_translator::elsewhere as *const () as u64,
                Word::Helper => flick_translator::helper as *const () as u64,
                Word::Convert => flick_translator::convert as *const () as u64,
                Word::Vector => flick_translator::vector as *const () as u64,
            };
            ((start + words + 8 * word as usize) as *mut u64).write(address);
        }
        for n in 0..ahead.outside.len() {
            let binder = start + ahead.binder(n);
            ((start + cells + 8 * n) as *mut u64).write(binder as u64);
        }
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        assert_eq!(libc::mprotect(start as *mut _, words, protection), 0);
    }
    Loaded {
        ahead,
        guest,
        code: start as u64,
        mapping: start..start + size,
    }
}

/// As the runtime's `__flick_1_call`.
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        "push r10",
        "lea r10, [rip + {lookup}]",
        "jmp {slow_call}",
        lookup = sym look_up,
        slow_call = sym flick_translator::slow_call_with,
    )
}

/// As the runtime's: goes on behind a call, at the guest address in rax.
#[unsafe(naked)]
unsafe extern "C" fn go_on() {
    naked_asm!(
        "sub rsp, 8",
        "mov rdi, rax",
        "call {behind_call}",
        "add rsp, 8",
        "mov r10, rax",
        "jmp {go_on}",
        behind_call = sym behind_call,
        go_on = sym flick_translator::go_on,
    )
}

#[repr(C)]
struct BehindCall {
    code: u64,
    frame: u64,
}

extern "C" fn behind_call(pc: u64) -> BehindCall {
    let current = CURRENT.lock().unwrap();
    let loaded = current.as_ref().unwrap();
    let all = &loaded.ahead.entries;
    let guest = pc - loaded.guest.start;
    let at = all.binary_search_by_key(&guest, |entry| entry.guest);
    let entry = all[at.unwrap()];
    let pieces = &loaded.ahead.pieces;
    let piece = pieces.partition_point(|piece| piece.code.start <= entry.code) - 1;
    BehindCall {
        code: loaded.code + entry.code as u64,
        frame: pieces[piece].frame.into(),
    }
}

unsafe extern "C" fn look_up(_: *mut Context, target: u64) -> u64 {
    let current = CURRENT.lock().unwrap();
    let Some(loaded) = current.as_ref() else {
        return 0;
    };
    let pc = target & !1;
    if !loaded.guest.contains(&pc) {
        return 0;
    }
    let guest = pc - loaded.guest.start;
    let ahead = &loaded.ahead;
    if let Ok(at) = ahead.pieces.binary_search_by_key(&guest, |p| p.guest) {
        let entry = loaded.code + ahead.pieces[at].code.start as u64;
        TARGETS.insert(target, entry);
        return entry;
    }
    match ahead.entries.binary_search_by_key(&guest, |e| e.guest) {
        Ok(at) if ahead.entries[at].is_return => go_on as *const () as u64,
        Ok(at) => loaded.code + ahead.entries[at].code as u64,
        Err(_) => 0,
    }
}

pub struct AheadOfTime;

impl AheadOfTime {
    pub fn make(code: &CodeRegion, program: &crate::program::Program) -> Box<dyn Engine> {
        TARGETS.init();
        TARGETS.invalidate(|_| true);
        let guest = Guest::of(code, program);
        let base = code.base();
        let module = Module {
            guest: &guest,
            base,
        };
        let entries = guest.functions.iter().map(|range| range.start - base);
        let entries: BTreeSet<u64> = entries.collect();
        let ahead = kept::linked(&module, &entries);
        let elsewhere = Module {
            guest: &guest,
            base: base - MOVED,
        };
        kept::linked(&elsewhere, &entries.iter().map(|at| at + MOVED).collect());
        *CURRENT.lock().unwrap() = Some(load(ahead, base..base + code.len()));
        Box::new(Self)
    }
}

impl Engine for AheadOfTime {
    fn name(&self) -> &'static str {
        "ahead"
    }

    fn run(&mut self, context: &mut Context, code: &CodeRegion) -> Exit {
        // SAFETY: the generated code stays in the program's mappings; the translation lives as long
        // as the engine.
        unsafe { flick_translator::run(context, &Identity::new(), code, look_up, 0) }
    }

    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart> {
        let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        let current = CURRENT.lock().unwrap();
        let loaded = current.as_ref()?;
        let offset = pc.wrapping_sub(loaded.code) as usize;
        if offset >= loaded.ahead.code.len() {
            // What the interpreter does for the translator.
            return crate::engine::interpreted(pc).then_some(*hart);
        }
        let pieces = &loaded.ahead.pieces;
        let at = pieces.partition_point(|piece| piece.code.start <= offset);
        let piece = pieces.get(at.checked_sub(1)?)?;
        let host = HostRegisters::of(context);
        let states = &loaded.ahead.states[piece.states.clone()];
        // SAFETY: the context is that of the fault in this thread, which runs `hart`.
        unsafe {
            flick_translator::restore_from(
                states,
                (offset - piece.code.start) as u32,
                &host,
                loaded.guest.start,
            )
        }
    }
}
