//! Where guest registers are at each instruction that may raise a signal.
//!
//! The table of one translation is a sequence of records in ascending order of host addresses:
//! LEB128 numbers for the distance from the record before, the guest address (from the function's
//! entry, signed), the count of places, and for each place its register with flags and its
//! operands.
mod as_text;
mod moved;

use regalloc2::Allocation;

use crate::code::{Finish, Recipe};
use crate::emit::places::At;
use crate::registers::{HART_BIAS, RA, RBP, Reg, home, is_float};
use flick_engine::Hart;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The table of one translation.
#[derive(Clone, Debug, Default)]
pub struct States {
    bytes: Vec<u8>,
}

#[derive(Default)]
pub struct Recorder {
    /// Number of the machine instruction, guest address, places.
    records: Vec<(usize, u64, Vec<At>)>,
}

const SEXT32: u64 = 1 << 6;
const CANONICAL: u64 = 1 << 7;
const SINGLE: u64 = 1 << 8;
const KIND: u32 = 9;

impl Recorder {
    pub fn record(&mut self, instruction: usize, pc: u64, places: Vec<At>) {
        self.records.push((instruction, pc, places));
    }

    /// `offset` tells where the code of a machine instruction starts.
    pub fn finish(self, offset: impl Fn(usize) -> u32) -> States {
        let mut bytes = vec![];
        let (mut last, mut last_pc) = (0, 0);
        for (instruction, pc, places) in self.records {
            let at = offset(instruction);
            put(&mut bytes, u64::from(at - last));
            put_signed(&mut bytes, pc.wrapping_sub(last_pc) as i64);
            put(&mut bytes, places.len() as u64);
            for place in places {
                put_place(&mut bytes, &place);
            }
            (last, last_pc) = (at, pc);
        }
        States { bytes }
    }
}

fn put_place(bytes: &mut Vec<u8>, place: &At) {
    let kind = match place.recipe {
        Recipe::Value(_) => 0,
        Recipe::Const(_) => 1,
        Recipe::Offset(..) => 2,
        Recipe::Sum(..) => 3,
        Recipe::Address(_) => 4,
    };
    let flag = |is: bool, flag: u64| if is { flag } else { 0 };
    put(
        bytes,
        place.reg as u64
            | flag(place.finish.sext32, SEXT32)
            | flag(place.finish.canonical, CANONICAL)
            | flag(place.finish.single, SINGLE)
            | kind << KIND,
    );
    match place.recipe {
        Recipe::Value(_) => {}
        Recipe::Const(k) => put_signed(bytes, k),
        Recipe::Address(at) => put(bytes, at),
        Recipe::Offset(_, offset) => put_signed(bytes, offset.into()),
        Recipe::Sum(_, _, k, offset) => {
            put(bytes, k.into());
            put_signed(bytes, offset.into());
        }
    }
    for operand in place.recipe.values() {
        put(bytes, operand_number(operand));
    }
}

/// Registers are 0 to 15, slots of the stack from 16 on.
fn operand_number(operand: Allocation) -> u64 {
    match (operand.as_reg(), operand.as_stack()) {
        (Some(register), _) => register.hw_enc() as u64,
        (_, Some(slot)) => 16 + slot.index() as u64,
        _ => 0,
    }
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, (value << 1 ^ value >> 63) as u64);
}

/// Registers of the host where translated code was interrupted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HostRegisters {
    /// By hardware number (rax, rcx, rdx, rbx, rsp, …).
    pub int: [u64; 16],
    /// Lower halves.
    pub float: [u64; 16],
}

impl HostRegisters {
    /// Of a signal's context. Async-signal-safe.
    pub fn of(context: &libc::ucontext_t) -> Self {
        const ORDER: [libc::c_int; 16] = [
            libc::REG_RAX,
            libc::REG_RCX,
            libc::REG_RDX,
            libc::REG_RBX,
            libc::REG_RSP,
            libc::REG_RBP,
            libc::REG_RSI,
            libc::REG_RDI,
            libc::REG_R8,
            libc::REG_R9,
            libc::REG_R10,
            libc::REG_R11,
            libc::REG_R12,
            libc::REG_R13,
            libc::REG_R14,
            libc::REG_R15,
        ];
        let mut host = Self {
            int: ORDER.map(|at| context.uc_mcontext.gregs[at as usize] as u64),
            float: [0; 16],
        };
        // SAFETY: the kernel's record, if it has saved the vector registers.
        if let Some(saved) = unsafe { context.uc_mcontext.fpregs.as_ref() } {
            for (value, from) in host.float.iter_mut().zip(&saved._xmm) {
                *value = u64::from(from.element[0]) | u64::from(from.element[1]) << 32;
            }
        }
        host
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn get(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                break;
            }
        }
        value
    }

    fn get_signed(&mut self) -> i64 {
        let value = self.get();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
}

impl States {
    /// The table.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that the table takes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// What is known of one translation; all zero: it is gone.
#[repr(C)]
struct Entry {
    start: AtomicU64,
    end: AtomicU64,
    /// Guest address where it is entered.
    guest: AtomicU64,
    bytes: AtomicPtr<u8>,
    len: AtomicUsize,
}

/// What functions save on the stack, of the registers that have a home.
const SAVED_FIRST: [Reg; 5] = [RA, 8, 9, 18, 19];

const ENTRIES: usize = 1 << 16;

/// All translations, in ascending order of host addresses. It only grows, so that handlers of
/// signals read it without a lock; what it leads to stays. `gdb/flick.py` reads it too, and the
/// tables of translations.
#[repr(C)]
pub struct StateTable {
    count: AtomicUsize,
    entries: [Entry; ENTRIES],
}

impl StateTable {
    /// By who has the translator alone; addresses ascend. False: it is full.
    pub(crate) fn push(&self, host: Range<u64>, guest: u64, states: States) -> bool {
        let count = self.count.load(Ordering::Relaxed);
        let Some(entry) = self.entries.get(count) else {
            return false;
        };
        let bytes = Box::leak(states.bytes.into_boxed_slice());
        entry.guest.store(guest, Ordering::Relaxed);
        entry.bytes.store(bytes.as_mut_ptr(), Ordering::Relaxed);
        entry.len.store(bytes.len(), Ordering::Relaxed);
        entry.end.store(host.end, Ordering::Relaxed);
        entry.start.store(host.start, Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
        true
    }

    fn find(&self, pc: u64) -> Option<&Entry> {
        let known = &self.entries[..self.count.load(Ordering::Acquire).min(ENTRIES)];
        let after = known.partition_point(|entry| entry.start.load(Ordering::Relaxed) <= pc);
        let entry = known.get(after.checked_sub(1)?)?;
        (pc < entry.end.load(Ordering::Relaxed)).then_some(entry)
    }

    /// The guest address where the translation with host code at `pc` is entered, and its host
    /// addresses.
    pub fn translation_at(&self, pc: u64) -> Option<(u64, Range<u64>)> {
        let entry = self.find(pc)?;
        let host = entry.start.load(Ordering::Relaxed)..entry.end.load(Ordering::Relaxed);
        Some((entry.guest.load(Ordering::Relaxed), host))
    }

    /// Invalidates the translations of guest addresses that are `named`, and returns their host
    /// addresses. By who has the translator alone.
    pub(crate) fn invalidate(&self, named: impl Fn(u64) -> bool) -> Vec<Range<u64>> {
        let count = self.count.load(Ordering::Relaxed).min(ENTRIES);
        let mut gone = vec![];
        for entry in &self.entries[..count] {
            let start = entry.start.load(Ordering::Relaxed);
            let end = entry.end.load(Ordering::Relaxed);
            if start != end && named(entry.guest.load(Ordering::Relaxed)) {
                entry.end.store(start, Ordering::Relaxed);
                gone.push(start..end);
                let bytes = entry.bytes.load(Ordering::Relaxed);
                // SAFETY: leaked by `push`. Who reads it now handles a fault of code that is
                // closed.
                drop(unsafe {
                    let bytes =
                        ptr::slice_from_raw_parts_mut(bytes, entry.len.load(Ordering::Relaxed));
                    Box::from_raw(bytes)
                });
            }
        }
        gone
    }

    /// Drops invalidated entries from the end, and returns the address where the next code may
    /// begin, at least `floor`.
    pub(crate) fn shrink(&self, next: u64, floor: u64) -> u64 {
        let mut next = next;
        while let Some(last) = self.count.load(Ordering::Relaxed).checked_sub(1) {
            let start = self.entries[last].start.load(Ordering::Relaxed);
            let alive = start != self.entries[last].end.load(Ordering::Relaxed);
            if alive || start < floor {
                break;
            }
            next = start;
            self.count.store(last, Ordering::Release);
        }
        next
    }

    /// The guest's registers where code at `pc` was interrupted by a fault of its own: its hart
    /// with those that are alive there, sp and pc. `None`: no translated access. Async-signal-safe.
    ///
    /// # Safety
    /// `host` is what the interrupted code had.
    pub unsafe fn restore(&self, pc: u64, host: &HostRegisters) -> Option<Hart> {
        let entry = self.find(pc)?;
        let start = entry.start.load(Ordering::Relaxed);
        // SAFETY: a table that was leaked.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                entry.bytes.load(Ordering::Relaxed),
                entry.len.load(Ordering::Relaxed),
            )
        };
        // SAFETY: by contract.
        unsafe { restore_from(bytes, (pc - start) as u32, host, 0) }
    }
}

/// The same where code at `offset` of a translation was interrupted that has these records. Guest
/// addresses in them count from `module`.
///
/// # Safety
/// `host` is what the interrupted code had.
pub unsafe fn restore_from(
    records: &[u8],
    offset: u32,
    host: &HostRegisters,
    module: u64,
) -> Option<Hart> {
    // SAFETY: translated code has its hart there.
    let mut state = unsafe { *((host.int[RBP].wrapping_sub(HART_BIAS as u64)) as *const Hart) };
    // While a function saves registers nobody reads them any more, so that no record has them;
    // unwind information may still want them.
    for reg in SAVED_FIRST {
        if let Some(home) = home(reg) {
            state.x[reg] = host.int[home.hw_enc()];
        }
    }
    // SAFETY: by contract.
    unsafe { restore(records, offset, host, module, &mut state) }.then_some(state)
}

/// The same in a leaf that the host has called without a hart ([`crate::Piece::is_leaf`]): what no
/// record has is 0. The guest's sp is not known.
///
/// # Safety
/// `host` is what the interrupted code had.
pub unsafe fn restore_leaf(
    records: &[u8],
    offset: u32,
    host: &HostRegisters,
    module: u64,
) -> Option<Hart> {
    let mut state = Hart::ZERO;
    // SAFETY: by contract.
    unsafe { restore(records, offset, host, module, &mut state) }.then_some(state)
}

/// Fills in the guest registers and the guest's pc where host code at `offset` of the translation
/// was interrupted; false: no signal of the guest's can come from there.
///
/// # Safety
/// The registers are those of code of this translation that was interrupted at `offset`: its stack
/// is there.
unsafe fn restore(
    bytes: &[u8],
    offset: u32,
    host: &HostRegisters,
    module: u64,
    hart: &mut Hart,
) -> bool {
    let mut reader = Reader { bytes };
    let (mut at, mut pc) = (0, 0u64);
    while !reader.bytes.is_empty() {
        at += reader.get() as u32;
        pc = pc.wrapping_add_signed(reader.get_signed());
        let count = reader.get();
        if at > offset {
            return false;
        }
        for _ in 0..count {
            // SAFETY: by contract; of other records than the wanted one no memory is read.
            let (reg, value) = unsafe { place(&mut reader, host, module, at == offset) };
            if at == offset {
                if is_float(reg) {
                    hart.f[reg - 32] = value;
                } else {
                    hart.x[reg] = value;
                }
            }
        }
        if at == offset {
            hart.pc = module.wrapping_add(pc);
            hart.x[super::registers::SP] = host.int[15];
            return true;
        }
    }
    false
}

/// # Safety
/// As [`restore`] if the place is `wanted`; else no memory is read.
unsafe fn place(
    reader: &mut Reader,
    host: &HostRegisters,
    module: u64,
    wanted: bool,
) -> (usize, u64) {
    let head = reader.get();
    let reg = (head & 63) as usize;
    let finish = finish_of(head);
    let operand = |reader: &mut Reader| match reader.get() as usize {
        n @ 0..16 if is_float(reg) => host.float[n],
        n @ 0..16 => host.int[n],
        _ if !wanted => 0,
        // SAFETY: by contract.
        n => unsafe { (host.int[4] as *const u64).add(n - 16).read() },
    };
    let value = match head >> KIND {
        0 => operand(reader),
        1 => reader.get_signed() as u64,
        2 => {
            let offset = reader.get_signed();
            operand(reader).wrapping_add_signed(offset)
        }
        4 => module.wrapping_add(reader.get()),
        _ => {
            let (k, offset) = (reader.get(), reader.get_signed());
            let (a, b) = (operand(reader), operand(reader));
            a.wrapping_add(b << (k & 63)).wrapping_add_signed(offset)
        }
    };
    (reg, finished(value, finish))
}

fn finish_of(head: u64) -> Finish {
    Finish {
        sext32: head & SEXT32 != 0,
        canonical: head & CANONICAL != 0,
        single: head & SINGLE != 0,
    }
}

fn finished(value: u64, finish: Finish) -> u64 {
    if finish.sext32 {
        return value as i32 as u64;
    }
    if finish.canonical && finish.single && f32::from_bits(value as u32).is_nan() {
        return flick_engine::fp::boxed_canonical();
    }
    if finish.canonical && !finish.single && f64::from_bits(value).is_nan() {
        return flick_engine::fp::canonical();
    }
    if finish.single {
        return flick_engine::fp::boxed(value as u32);
    }
    value
}
