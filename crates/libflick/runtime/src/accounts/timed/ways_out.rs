//! Calls by which NxP code leaves the images, for what follows its jumps: calls of the host, whose
//! return is no jump, and of gates.
use flick_timing::Calls;

use crate::modules::is_function;

/// Entries of [`Calls`] with this bit are the host's: they are beyond the addresses of a process.
pub const CALLER: u64 = 1 << 63;

/// Whether the innermost call is of what is no function of an image: a host function, a stub that
/// leads to one, or a gate.
pub fn is_last(calls: &Calls) -> bool {
    let top = calls.top();
    top.is_some_and(|entry| entry & CALLER == 0 && !is_function(entry))
}

/// The innermost function of an image.
pub fn innermost(calls: &Calls) -> Option<u64> {
    calls.stack(0).nth(usize::from(is_last(calls)))
}

/// NxP code goes on at `pc`. Whether a gate was called and has led there.
pub fn resumes(calls: &mut Calls, pc: u64) -> bool {
    let led = is_last(calls) && is_function(pc);
    if led {
        calls.set_top(pc);
    }
    led
}

/// The calls that NxP code is in when it calls the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    depth: usize,
    /// The host function returns from the innermost of them, too.
    is_tail_call: bool,
}

/// NxP code calls the host, which is none of its own calls.
pub fn calls_host(calls: &mut Calls) -> Inside {
    let is_call = is_last(calls);
    let depth = calls.depth() - usize::from(is_call);
    calls.truncate(depth);
    Inside {
        depth,
        is_tail_call: !is_call,
    }
}

/// That function has returned to `back`.
pub fn host_returns(calls: &mut Calls, inside: Inside, back: u64) {
    calls.truncate(inside.depth);
    if inside.is_tail_call {
        calls.returns(back, 0);
    }
}

/// That function was left by an unwinder or `longjmp`. Of the calls at most so many are left.
pub fn came_back(calls: &mut Calls, inside: Inside, left: Option<usize>) {
    calls.truncate(inside.depth);
    calls.truncate(left.unwrap_or(inside.depth));
}
