//! Arguments and results between the host's calling convention (System V x86-64 psABI 3.2.3) and the
//! NxP's (RISC-V psABI, lp64d), by signature where the two differ.
//!
//! Without a signature registers move in order: six integer registers to a0–a5 and eight
//! floating-point registers to fa0–fa7, or back. Where a signature is given, nothing else is copied.
use flick_abi::signature::{Class, Item, Malformed, Signature};

use crate::activation::Activation;
use crate::fatal;

const A0: usize = 10;
const FA0: usize = 10;
const HOST_INTS: usize = 6;
const HOST_FLOATS: usize = 8;
const NXP_INTS: usize = 8;
const NXP_FLOATS: usize = 8;

/// A `float` in a 64-bit register of the NxP (unprivileged ISA manual, "NaN Boxing").
const fn boxed(bits: u64) -> u64 {
    bits | 0xffff_ffff_0000_0000
}

/// The signature's bytes at `text`.
///
/// # Safety
/// `text` is a NUL-terminated string that outlives `'a`.
unsafe fn parse<'a>(text: *const u8) -> Signature<'a> {
    // SAFETY: by contract.
    let bytes = unsafe { std::ffi::CStr::from_ptr(text.cast()) }.to_bytes();
    Signature::parse(bytes).unwrap_or_else(|_| malformed(bytes))
}

#[cold]
fn malformed(bytes: &[u8]) -> ! {
    fatal::exit(
        "FLK0505",
        &format!(
            "a call's signature is not understood: {:?}",
            String::from_utf8_lossy(bytes)
        ),
        "build every object of the program with the flick that belongs to this libflick",
    )
}

fn expect<T>(result: Result<T, Malformed>) -> T {
    result.unwrap_or_else(|Malformed| malformed(b"(arguments)"))
}

// ---- host → NxP ---------------------------------------------------------------------------------

/// Arguments of a function whose registers agree.
#[inline]
pub fn enter_plain(act: &mut Activation) {
    act.hart.x[A0..A0 + HOST_INTS].copy_from_slice(&act.int_args);
    act.hart.f[FA0..FA0 + HOST_FLOATS].copy_from_slice(&act.float_args);
    act.sret = 0;
}

/// Results of such a function, and of any other: a0, a1, fa0, fa1 are rax, rdx, xmm0, xmm1.
#[inline]
pub fn leave(act: &mut Activation) {
    act.results.int = [act.hart.x[A0], act.hart.x[A0 + 1]];
    act.results.float = [act.hart.f[FA0], act.hart.f[FA0 + 1]];
    if act.sret != 0 {
        act.results.int[0] = act.sret;
    }
}

/// Bytes of NxP stack that the arguments by signature need; a multiple of 16.
///
/// # Safety
/// `signature` is a C string.
pub unsafe fn stack_size(act: &mut Activation, signature: *const u8) -> u64 {
    // SAFETY: by contract.
    let words = enter_walk(act, unsafe { parse(signature) }, None);
    (8 * words as u64).next_multiple_of(16)
}

/// Arguments by signature; `hart.x[2]` is the NxP stack pointer, with room for them.
///
/// # Safety
/// `signature` is a C string; the activation was made by a host call that matches it.
pub unsafe fn enter_by_signature(act: &mut Activation, signature: *const u8) {
    let stack = act.hart.x[2] as *mut u64;
    // SAFETY: by contract.
    enter_walk(act, unsafe { parse(signature) }, Some(stack));
}

/// Assigns every argument; writes the NxP's stack words only if `stack` is given. Returns their
/// number.
fn enter_walk(act: &mut Activation, signature: Signature, stack: Option<*mut u64>) -> usize {
    let host_stack = act.host_stack_args();
    let (mut ints, mut floats, mut host_bytes) = (0, 0, 0_usize);
    let mut to = NxpArguments {
        ints: 0,
        floats: 0,
        stack,
        words: 0,
    };
    act.sret = 0;
    let mut args = signature.args();
    loop {
        let class = match expect(args.next_item()) {
            Item::End => return to.words,
            // The pass refuses variadic definitions.
            Item::Variadic => malformed(b"(variadic definition)"),
            Item::Arg(class) => class,
        };
        let mut next_word = || {
            // SAFETY: the signature says that the caller passed this word on its stack.
            let word = unsafe { host_stack.byte_add(host_bytes).read() };
            host_bytes += 8;
            word
        };
        match class {
            Class::Int | Class::Sret => {
                let value = if ints < HOST_INTS {
                    act.int_args[ints]
                } else {
                    next_word()
                };
                ints += 1;
                if class == Class::Sret {
                    act.sret = value;
                }
                to.int(act, value);
            }
            Class::F32 | Class::F64 => {
                let value = if floats < HOST_FLOATS {
                    act.float_args[floats]
                } else {
                    next_word()
                };
                floats += 1;
                to.float(
                    act,
                    if class == Class::F32 {
                        boxed(value)
                    } else {
                        value
                    },
                );
            }
            Class::ByVal { size, align } => {
                let align = (align as usize).max(8);
                // Aligned as an address: the caller aligned its stack for it.
                let base = host_stack as usize;
                let start = (base + host_bytes).next_multiple_of(align);
                host_bytes = start - base + (size as usize).next_multiple_of(8);
                to.int(act, start as u64);
            }
        }
    }
}

/// Next free argument places of the NxP.
struct NxpArguments {
    ints: usize,
    floats: usize,
    stack: Option<*mut u64>,
    words: usize,
}

impl NxpArguments {
    fn int(&mut self, act: &mut Activation, value: u64) {
        if self.ints < NXP_INTS {
            act.hart.x[A0 + self.ints] = value;
            self.ints += 1;
        } else {
            if let Some(stack) = self.stack {
                // SAFETY: `enter_by_signature` made room for this word on the NxP stack.
                unsafe { stack.add(self.words).write(value) };
            }
            self.words += 1;
        }
    }

    fn float(&mut self, act: &mut Activation, value: u64) {
        if self.floats < NXP_FLOATS {
            act.hart.f[FA0 + self.floats] = value;
            self.floats += 1;
        } else {
            // "… otherwise passed according to the integer calling convention".
            self.int(act, value);
        }
    }
}

// ---- NxP → host ---------------------------------------------------------------------------------

/// Prepares the call of host function `target` whose registers agree.
#[inline]
pub fn call_plain(act: &mut Activation, target: u64) {
    act.int_args
        .copy_from_slice(&act.hart.x[A0..A0 + HOST_INTS]);
    act.float_args
        .copy_from_slice(&act.hart.f[FA0..FA0 + HOST_FLOATS]);
    act.call.target = target;
    act.call.stack_size = 0;
    act.call.vector_registers = HOST_FLOATS as u64;
    act.call.signature = std::ptr::null();
}

/// Prepares the call of host function `target` by signature.
///
/// # Safety
/// `signature` is a C string; the NxP code called by it.
pub unsafe fn call_by_signature(act: &mut Activation, target: u64, signature: *const u8) {
    // SAFETY: by contract.
    let parsed = unsafe { parse(signature) };
    let mut to = HostArguments {
        ints: 0,
        floats: 0,
        stack: None,
        bytes: 0,
    };
    call_walk(act, parsed, &mut to);
    act.call.target = target;
    act.call.stack_size = (to.bytes as u64).next_multiple_of(16);
    act.call.vector_registers = to.floats as u64;
    act.call.signature = signature;
}

/// Second half of a call with stack arguments: called by the crossing when it has made room.
pub(crate) unsafe extern "C" fn host_stack_args(act: *mut Activation, stack: *mut u8) {
    // SAFETY: the crossing passes its own activation, with the signature `call_by_signature` stored,
    // and `call.stack_size` bytes at `stack`.
    unsafe {
        let act = &mut *act;
        let parsed = parse(act.call.signature);
        let mut to = HostArguments {
            ints: 0,
            floats: 0,
            stack: Some(stack),
            bytes: 0,
        };
        call_walk(act, parsed, &mut to);
    }
}

/// Result of a host call into the registers of the NxP.
#[inline]
pub fn returned(act: &mut Activation) {
    act.hart.x[A0] = act.results.int[0];
    act.hart.x[A0 + 1] = act.results.int[1];
    act.hart.f[FA0] = act.results.float[0];
    act.hart.f[FA0 + 1] = act.results.float[1];
    if !act.call.signature.is_null() {
        // SAFETY: `call_by_signature` stored it.
        let signature = unsafe { parse(act.call.signature) };
        let mut at = FA0;
        for class in signature.ret.into_iter().flatten() {
            match class {
                Class::F32 => {
                    act.hart.f[at] = boxed(act.hart.f[at]);
                    at += 1;
                }
                Class::F64 => at += 1,
                _ => {}
            }
        }
    }
}

fn call_walk(act: &mut Activation, signature: Signature, to: &mut HostArguments) {
    let nxp_stack = act.hart.x[2] as *const u64;
    let (mut ints, mut floats, mut words) = (0, 0, 0);
    let mut variadic = false;
    let mut args = signature.args();
    loop {
        let class = match expect(args.next_item()) {
            Item::End => return,
            Item::Variadic => {
                variadic = true;
                continue;
            }
            Item::Arg(class) => class,
        };
        let mut next_int = |act: &Activation| {
            if ints < NXP_INTS {
                ints += 1;
                act.hart.x[A0 + ints - 1]
            } else {
                // SAFETY: the signature says that NxP code passed this word on its stack.
                let word = unsafe { nxp_stack.add(words).read() };
                words += 1;
                word
            }
        };
        match class {
            Class::Int | Class::Sret => {
                let value = next_int(act);
                to.int(act, value);
            }
            Class::F32 | Class::F64 => {
                // Variadic arguments follow the integer convention.
                let value = if !variadic && floats < NXP_FLOATS {
                    floats += 1;
                    act.hart.f[FA0 + floats - 1]
                } else {
                    next_int(act)
                };
                to.float(act, value);
            }
            Class::ByVal { size, align } => {
                let from = next_int(act);
                to.memory(from as *const u8, size as usize, align as usize);
            }
        }
    }
}

/// Next free argument places of the host.
struct HostArguments {
    ints: usize,
    floats: usize,
    stack: Option<*mut u8>,
    bytes: usize,
}

impl HostArguments {
    fn int(&mut self, act: &mut Activation, value: u64) {
        if self.ints < HOST_INTS {
            act.int_args[self.ints] = value;
            self.ints += 1;
        } else {
            self.word(value);
        }
    }

    fn float(&mut self, act: &mut Activation, value: u64) {
        if self.floats < HOST_FLOATS {
            act.float_args[self.floats] = value;
            self.floats += 1;
        } else {
            self.word(value);
        }
    }

    fn word(&mut self, value: u64) {
        self.memory((&raw const value).cast(), 8, 8);
    }

    fn memory(&mut self, from: *const u8, size: usize, align: usize) {
        // The crossing aligns the area to 64 bytes.
        let start = self.bytes.next_multiple_of(align.clamp(8, 64));
        if let Some(stack) = self.stack {
            // SAFETY: the crossing made room for all of `call.stack_size`; `from` is what NxP code
            // passed by value.
            unsafe { stack.add(start).copy_from_nonoverlapping(from, size) };
        }
        self.bytes = (start + size).next_multiple_of(8);
    }
}
