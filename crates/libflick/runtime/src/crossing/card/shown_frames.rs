//! Frames of NxP functions on the owner's stack, for a debugger (`docs/card.md`, "Debuggers").
//!
//! Code on a lent hart leaves its hart at the end of a budget and for calls of the host, and its frames are
//! cut off. Where a debugger is shown the code, they are made anew, at the same addresses, when it goes on,
//! and under a function of the host that it calls. Frames that wait for a call have nothing in them but
//! return addresses: all else is in the hart and on the NxP stack.
use std::arch::naked_asm;
use std::mem::offset_of;

use flick_engine::Hart;
use flick_translator::HART_BIAS;

use crate::crossing::next_step::Next;
use crate::modules::{self, ModuleEntry};
use crate::reports::backtrace;
use crate::thread::Current;
use crate::thread::activation::Activation;
use crate::translation::shown_code;

/// The frame of a function that waits: bytes, and where it goes on.
type Waiting = (u64, u64);

/// Between an activation and the frames: the return address of the outermost one.
const ROOM: u64 = 8;
/// What [`Place::frame`] is where code is entered in front of its frame.
const NONE: u64 = u64::MAX;

/// Calls `f` with the functions that wait, innermost first. `None`: not all of them are shown.
fn each(act: &Activation, mut f: impl FnMut(Waiting)) -> Option<()> {
    // SAFETY: the thread has entered an activation.
    let thread = unsafe { Current::crossed() };
    let mut is_whole = true;
    let walked = backtrace::callers(&thread, act, |back| match modules::translated_entry(back) {
        Some(ModuleEntry::BehindCall { code, frame }) if is_whole => f((frame.into(), code)),
        _ => is_whole = false,
    });
    (walked && is_whole).then_some(())
}

/// Bytes that these frames take, a multiple of 16; 0: there are none, or they cannot be made.
extern "C" fn size(act: &Activation) -> u64 {
    let mut size = 0;
    let all = each(act, |(frame, _)| size += frame + 8);
    let below = std::ptr::from_ref(act) as u64 - ROOM;
    let fits = below.saturating_sub(size) > act.context.host_limit && size % 16 == 0;
    match all {
        Some(()) if fits => size,
        _ => 0,
    }
}

/// Makes the frames of `size` bytes below an activation. The stack pointer of the innermost, which is in front
/// of its return address.
fn make(act: &Activation, size: u64) -> u64 {
    let innermost = std::ptr::from_ref(act) as u64 - ROOM - size;
    let mut at = innermost;
    if size != 0 {
        each(act, |(frame, code)| {
            // SAFETY: `size` has added up these frames, and the caller has made room.
            unsafe { (at as *mut u64).write(code) };
            at += frame + 8;
        });
    }
    innermost
}

/// Where code is entered, and the bytes of its frame, or [`NONE`].
#[repr(C)]
struct Place {
    code: u64,
    frame: u64,
}

/// Makes the frames under the code that an activation goes on with.
extern "C" fn enter(act: &Activation, size: u64) -> Place {
    make(act, size);
    match modules::translated_entry(act.context.hart.pc) {
        Some(ModuleEntry::BehindCall { code, frame }) => Place {
            code,
            frame: frame.into(),
        },
        _ => Place {
            code: act.call.stack_size,
            frame: NONE,
        },
    }
}

/// An activation is about to go on with the code at this address: it is to enter what is returned. Other code
/// than that which is shown has no frames below it: it would return to them with the count in a register.
pub fn enter_by(act: &mut Activation, code: u64) -> u64 {
    if shown_code::entry(act.context.hart.pc) != Some(code) {
        return code;
    }
    // It has no other use before the next call of the host.
    act.call.stack_size = code;
    go_in as *const () as u64
}

/// Entered as translated code is, by an activation.
#[unsafe(naked)]
unsafe extern "C" fn go_in() {
    naked_asm!(
        // It does not return to `go_in_counted`. The activation is a multiple of 16, and so is what is called
        // with.
        "lea rdi, [rbp - {bias}]",
        "lea rsp, [rdi - 16]",
        "call {size}",
        "mov rsi, rax",
        "lea rdi, [rbp - {bias}]",
        "lea rsp, [rdi - 16]",
        "sub rsp, rax",
        "call {enter}",
        "add rsp, 8",
        "mov r10, rax",
        "mov r11, [rbp + {pc}]",
        "cmp rdx, {none}",
        "je {go_in}",
        "jmp {go_on}",
        bias = const HART_BIAS,
        size = sym size,
        enter = sym enter,
        none = const NONE as i32,
        pc = const offset_of!(Hart, pc) as i32 - HART_BIAS,
        go_in = sym flick_translator::go_in,
        go_on = sym flick_translator::go_on,
    )
}

/// What the crossing does where it would do `next` next: functions of the host are called above the frames of
/// those that wait for them.
#[inline]
pub fn above_frames(act: *mut Activation, next: Next) -> Next {
    if !shown_code::is_on() {
        return next;
    }
    above(act, next)
}

#[cold]
fn above(act: *mut Activation, next: Next) -> Next {
    if !matches!(
        next,
        Next::CallPlain | Next::CallHost | Next::CallHostInFull
    ) {
        return next;
    }
    // SAFETY: the frame of a crossing that calls the host.
    let act = unsafe { &mut *act };
    act.call.waits = 0;
    // Nobody reads it before an unwinder has set it.
    act.landing.pc = next as u64;
    Next::CallAboveFrames
}

/// Bytes to be made room for below the activation, in front of a call of the host; a multiple of 16.
pub(crate) extern "C" fn room(act: &Activation) -> u64 {
    match size(act) {
        0 => 0,
        // The return address of the outermost, and a word that aligns the stack.
        size => size + 16,
    }
}

/// Makes frames in this room, of which the outermost returns to `end`. What the crossing does next.
pub(crate) extern "C" fn make_below(act: &mut Activation, room: u64, end: u64) -> u64 {
    if room != 0 {
        let innermost = make(act, room - 16);
        // SAFETY: in the room.
        unsafe { (std::ptr::from_mut(act) as *mut u64).sub(1).write(end) };
        act.call.waits = innermost;
    }
    act.landing.pc
}
