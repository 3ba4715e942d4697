//! Arguments and results between the host's calling convention (System V x86-64 psABI 3.2.3) and
//! the NxP's (RISC-V psABI, lp64d), by signature where the two differ.
//!
//! Without a signature registers move in order: six integer registers to a0–a5 and the low halves
//! of eight vector registers to fa0–fa7, or back. The crossing does that itself.
use flick_abi::signature::{Class, Item};
use flick_riscv::register::{A0, SP, T2};

use crate::modules::signatures::Plan;

use crate::crossing::next_step::Next;
use crate::thread::activation::{Activation, VECTOR_RESULT};

const FA0: usize = 10;
const HOST_INTS: usize = 6;
const HOST_FLOATS: usize = 8;
/// Words of a `va_list`'s register save area, and of itself (System V psABI 3.5.7).
const SAVE_AREA: usize = HOST_INTS + 2 * HOST_FLOATS;
const VA_LIST: usize = 3;
const NXP_INTS: usize = 8;
const NXP_FLOATS: usize = 8;

/// A `float` in a 64-bit register of the NxP (unprivileged ISA manual, "NaN Boxing").
const fn boxed(bits: u64) -> u64 {
    bits | 0xffff_ffff_0000_0000
}

// ---- host → NxP ---------------------------------------------------------------------------------

/// Results: a0, a1, fa0, fa1 are rax, rdx, xmm0, xmm1; or all of xmm0 is a0 and a1.
#[inline]
pub fn leave(act: &mut Activation) -> Next {
    match act.result {
        0 => Next::Return,
        VECTOR_RESULT => Next::ReturnVector,
        memory => {
            act.context.hart.x[A0] = memory;
            Next::Return
        }
    }
}

/// Bytes of NxP stack that the arguments by signature need; a multiple of 16.
///
/// # Safety
/// The activation was made by a host call that matches the plan.
pub unsafe fn stack_size(act: &mut Activation, plan: &Plan) -> u64 {
    // SAFETY: by contract.
    let bytes = unsafe { enter_walk(act, plan, None) };
    (bytes as u64).next_multiple_of(16)
}

/// Arguments by signature; `hart.x[2]` is the NxP stack pointer, with room for them below `top`.
///
/// # Safety
/// The activation was made by a host call that matches the plan. From the stack pointer to `top`
/// lie the bytes that [`stack_size`] asked for.
pub unsafe fn enter_by_signature(act: &mut Activation, plan: &Plan, top: u64) {
    let room = NxpRoom {
        words: act.context.hart.x[SP] as *mut u64,
        top: top as *mut u8,
    };
    // SAFETY: by contract.
    unsafe { enter_walk(act, plan, Some(room)) };
}

/// Assigns every argument; writes to the NxP's stack only if `room` is given. Returns how many
/// bytes of it the arguments take.
///
/// # Safety
/// The activation was made by a host call that matches the plan, whose stack arguments this reads.
/// If `room` is given, it is as large as a walk without room says.
unsafe fn enter_walk(act: &mut Activation, plan: &Plan, room: Option<NxpRoom>) -> usize {
    let mut from = HostSource {
        ints: 0,
        floats: 0,
        stack: act.host_stack_args().cast(),
        bytes: 0,
    };
    let mut to = NxpArguments {
        ints: 0,
        floats: 0,
        room,
        words: 0,
        copies: 0,
    };
    act.result = match plan.ret[0] {
        Some(Class::Vector { size: 16 }) => VECTOR_RESULT,
        _ => 0,
    };
    for &item in plan.items {
        let class = match item {
            Item::Variadic => {
                to.va_list(act, &from);
                continue;
            }
            Item::Arg(class) => class,
            Item::End => break,
        };
        match class {
            Class::Int => {
                let value = from.int(act);
                to.int(act, value);
            }
            Class::Sret => {
                let memory = from.int(act);
                act.result = memory;
                to.int(act, memory);
            }
            Class::Int128 | Class::Vector { size: 16 } => {
                let halves = match class {
                    Class::Int128 => from.int128(act),
                    _ => from.vector(act),
                };
                to.int(act, halves[0]);
                to.int(act, halves[1]);
            }
            Class::F32 | Class::F64 | Class::Vector { .. } => {
                let value = match class {
                    Class::Vector { .. } => from.vector(act)[0],
                    _ => from.float(act),
                };
                to.float(
                    act,
                    if class.is_boxed() {
                        boxed(value)
                    } else {
                        value
                    },
                );
            }
            Class::ByVal { size, align } => {
                let (size, align) = (size as usize, align as usize);
                let object = to.aligned(from.memory(size, align), size, align);
                to.int(act, object as u64);
            }
        }
    }
    8 * to.words + to.copies
}

/// Next argument of the host: in registers that the crossing saved, or in its caller's frame.
struct HostSource {
    ints: usize,
    floats: usize,
    stack: *const u8,
    bytes: usize,
}

impl HostSource {
    fn int(&mut self, act: &Activation) -> u64 {
        if self.ints == HOST_INTS {
            return self.words::<1>(8)[0];
        }
        self.ints += 1;
        act.int_args[self.ints - 1]
    }

    fn int128(&mut self, act: &Activation) -> [u64; 2] {
        if self.ints + 2 > HOST_INTS {
            self.ints = HOST_INTS;
            return self.words(16);
        }
        [self.int(act), self.int(act)]
    }

    fn float(&mut self, act: &Activation) -> u64 {
        if self.floats == HOST_FLOATS {
            return self.words::<1>(8)[0];
        }
        self.floats += 1;
        act.float_args[self.floats - 1][0]
    }

    fn vector(&mut self, act: &Activation) -> [u64; 2] {
        if self.floats == HOST_FLOATS {
            return self.words(16);
        }
        self.floats += 1;
        act.float_args[self.floats - 1]
    }

    fn words<const N: usize>(&mut self, align: usize) -> [u64; N] {
        // SAFETY: the signature says that the caller passed these words on its stack.
        unsafe { self.memory(8 * N, align).cast::<[u64; N]>().read() }
    }

    fn memory(&mut self, size: usize, align: usize) -> *const u8 {
        // Aligned as an offset: as an address it is aligned only if the caller aligned its stack,
        // and clang does not in a function with `alloca`.
        let start = self.bytes.next_multiple_of(align.max(8));
        self.bytes = start + size.next_multiple_of(8);
        self.stack.wrapping_add(start)
    }
}

/// The part of the NxP's stack that is the arguments'.
struct NxpRoom {
    words: *mut u64,
    top: *mut u8,
}

/// Next free argument places of the NxP.
struct NxpArguments {
    ints: usize,
    floats: usize,
    room: Option<NxpRoom>,
    /// Argument words, from the lowest address up.
    words: usize,
    /// Bytes of copied objects, from the highest address down.
    copies: usize,
}

impl NxpArguments {
    fn int(&mut self, act: &mut Activation, value: u64) {
        if self.ints < NXP_INTS {
            act.context.hart.x[A0 + self.ints] = value;
            self.ints += 1;
        } else {
            if let Some(room) = &self.room {
                // SAFETY: `enter_by_signature` has room for this word on the NxP stack.
                unsafe { room.words.add(self.words).write(value) };
            }
            self.words += 1;
        }
    }

    /// The object, or a copy where it is not aligned: NxP code may rely on it (`p | 4` for `p +
    /// 4`).
    fn aligned(&mut self, object: *const u8, size: usize, align: usize) -> *const u8 {
        if (object as usize).is_multiple_of(align) {
            return object;
        }
        self.copies += size + align;
        let Some(room) = &self.room else {
            return object;
        };
        let below = room.top.wrapping_sub(self.copies);
        let copy = below.wrapping_add((below as usize).next_multiple_of(align) - below as usize);
        // SAFETY: `enter_by_signature` has room for size and alignment; the object is the caller's.
        unsafe { copy.copy_from_nonoverlapping(object, size) };
        copy
    }

    fn float(&mut self, act: &mut Activation, value: u64) {
        if self.floats < NXP_FLOATS {
            act.context.hart.f[FA0 + self.floats] = value;
            self.floats += 1;
        } else {
            // "… otherwise passed according to the integer calling convention".
            self.int(act, value);
        }
    }

    /// In t2 a `va_list` of what is left of the host's arguments, as the host's `va_start` makes
    /// it. The registers are copied: the activation's own place for them is used by each host call.
    fn va_list(&mut self, act: &mut Activation, left: &HostSource) {
        let at = self.words.next_multiple_of(2); // the host loads 16 bytes at a time from there
        self.words = at + SAVE_AREA + VA_LIST;
        let Some(room) = &self.room else {
            return;
        };
        let gp_offset = 8 * left.ints;
        let fp_offset = 8 * HOST_INTS + 16 * left.floats;
        // SAFETY: `enter_by_signature` has room for these words on the NxP stack.
        unsafe {
            let area = room.words.add(at);
            area.copy_from_nonoverlapping(act.int_args.as_ptr(), HOST_INTS);
            let floats = act.float_args.as_flattened();
            area.add(HOST_INTS)
                .copy_from_nonoverlapping(floats.as_ptr(), floats.len());
            let list = area.add(SAVE_AREA);
            list.write((gp_offset | fp_offset << 32) as u64);
            list.add(1).write(left.stack as u64 + left.bytes as u64);
            list.add(2).write(area as u64);
            act.context.hart.x[T2] = list as u64;
        }
    }
}

// ---- NxP → host ---------------------------------------------------------------------------------

/// Prepares the call of host function `target` whose registers agree.
#[inline]
pub fn call_plain(act: &mut Activation, target: u64) {
    act.call.target = target;
    act.call.vector_registers = HOST_FLOATS as u64;
    act.call.signature = std::ptr::null();
}

/// Prepares the call of host function `target` by signature.
///
/// # Safety
/// The NxP code called by a signature of this plan.
pub unsafe fn call_by_signature(act: &mut Activation, target: u64, plan: &'static Plan) -> Next {
    // SAFETY: by contract.
    let to = unsafe { call_walk(act, plan, None) };
    act.call.target = target;
    act.call.stack_size = (to.bytes as u64).next_multiple_of(16);
    act.call.stack_mask = (to.align as u64).wrapping_neg();
    act.call.vector_registers = to.floats as u64;
    act.call.signature = plan;
    if to.bytes != 0 || to.whole {
        Next::CallHostInFull
    } else {
        Next::CallHost
    }
}

/// Second half of a call with stack arguments: called by the crossing when it has made room.
pub(crate) unsafe extern "C" fn host_stack_args(act: &mut Activation, stack: *mut u8) {
    // SAFETY: the crossing passes its own activation, with the signature `call_by_signature`
    // stored, and `call.stack_size` bytes at `stack`.
    unsafe {
        if let Some(plan) = act.call.signature.as_ref() {
            call_walk(act, plan, Some(stack));
        }
    }
}

/// Result of a host call into the registers of the NxP, where the signature says that a0, a1, fa0,
/// fa1 are not rax, rdx, xmm0, xmm1.
#[inline]
pub fn returned(act: &mut Activation) {
    // SAFETY: null, or the plan that `call_by_signature` stored, which lives as long as the
    // process.
    if let Some(plan) = unsafe { act.call.signature.as_ref() } {
        let mut at = FA0;
        for class in plan.ret.into_iter().flatten() {
            match class {
                Class::Vector { size: 16 } => {
                    act.context.hart.x[A0..A0 + 2].copy_from_slice(&act.results.vector);
                }
                Class::F32 | Class::F64 | Class::Vector { .. } => {
                    if class.is_boxed() {
                        act.context.hart.f[at] = boxed(act.context.hart.f[at]);
                    }
                    at += 1;
                }
                _ => {}
            }
        }
    }
}

/// Assigns every argument; writes the host's stack words only if `stack` is given.
///
/// # Safety
/// NxP code called by a signature of this plan: its stack has the arguments that are not in
/// registers. `stack`, if given, has the bytes that a walk without it says.
unsafe fn call_walk(act: &mut Activation, plan: &Plan, stack: Option<*mut u8>) -> HostArguments {
    let mut from = NxpSource {
        ints: 0,
        floats: 0,
        stack: act.context.hart.x[SP] as *const u64,
        variadic: false,
    };
    let mut to = HostArguments {
        ints: 0,
        floats: 0,
        stack,
        bytes: 0,
        align: 16,
        whole: false,
    };
    for &item in plan.items {
        let class = match item {
            Item::Variadic => {
                from.variadic = true;
                continue;
            }
            Item::Arg(class) => class,
            Item::End => break,
        };
        match class {
            Class::Int | Class::Sret => {
                let value = from.int(act);
                to.int(act, value);
            }
            Class::Int128 => {
                let halves = [from.int(act), from.int(act)];
                to.int128(act, halves);
            }
            Class::Vector { size: 16 } => {
                let halves = [from.int(act), from.int(act)];
                to.vector(act, halves);
                to.whole = true;
            }
            Class::Vector { .. } => {
                let value = from.float(act);
                to.vector(act, [value, 0]);
            }
            Class::F32 | Class::F64 => {
                let value = from.float(act);
                to.float(act, value);
            }
            Class::ByVal { size, align } => {
                let value = from.int(act);
                to.memory(value as *const u8, size as usize, align as usize);
            }
        }
    }
    to
}

/// Next argument of the NxP.
struct NxpSource {
    ints: usize,
    floats: usize,
    stack: *const u64,
    variadic: bool,
}

impl NxpSource {
    fn int(&mut self, act: &Activation) -> u64 {
        self.ints += 1;
        if self.ints <= NXP_INTS {
            return act.context.hart.x[A0 + self.ints - 1];
        }
        // SAFETY: the signature says that NxP code passed this word on its stack.
        unsafe { self.stack.add(self.ints - 1 - NXP_INTS).read() }
    }

    fn float(&mut self, act: &Activation) -> u64 {
        // Variadic arguments follow the integer convention.
        if self.variadic || self.floats == NXP_FLOATS {
            return self.int(act);
        }
        self.floats += 1;
        act.context.hart.f[FA0 + self.floats - 1]
    }
}

/// Next free argument places of the host.
struct HostArguments {
    ints: usize,
    floats: usize,
    stack: Option<*mut u8>,
    bytes: usize,
    /// What the stack arguments must be aligned to.
    align: usize,
    /// An argument needs all of a vector register.
    whole: bool,
}

impl HostArguments {
    fn int(&mut self, act: &mut Activation, value: u64) {
        if self.ints < HOST_INTS {
            act.int_args[self.ints] = value;
            self.ints += 1;
        } else {
            self.words([value]);
        }
    }

    fn int128(&mut self, act: &mut Activation, halves: [u64; 2]) {
        if self.ints + 2 > HOST_INTS {
            self.ints = HOST_INTS;
            self.words(halves);
        } else {
            self.int(act, halves[0]);
            self.int(act, halves[1]);
        }
    }

    fn float(&mut self, act: &mut Activation, value: u64) {
        if self.floats < HOST_FLOATS {
            act.float_args[self.floats][0] = value;
            self.floats += 1;
        } else {
            self.words([value]);
        }
    }

    fn vector(&mut self, act: &mut Activation, halves: [u64; 2]) {
        if self.floats < HOST_FLOATS {
            act.float_args[self.floats] = halves;
            self.floats += 1;
        } else {
            self.words(halves);
        }
    }

    fn words<const N: usize>(&mut self, words: [u64; N]) {
        self.memory(words.as_ptr().cast(), 8 * N, 8 * N);
    }

    fn memory(&mut self, from: *const u8, size: usize, align: usize) {
        self.align = self.align.max(align);
        let start = self.bytes.next_multiple_of(align.max(8));
        if let Some(stack) = self.stack {
            // SAFETY: the crossing made room for all of `call.stack_size`; `from` is what NxP code
            // passed by value.
            unsafe { stack.add(start).copy_from_nonoverlapping(from, size) };
        }
        self.bytes = (start + size).next_multiple_of(8);
    }
}

#[cfg(test)]
mod tests;
