//! What libflick and `libflick-debug.so` agree on. That library makes the code of a module that the
//! link has not translated, with debug information, and shows it to a debugger
//! (`docs/runtime.md`, "Code for debuggers").
//!
//! Both are installed together. The number in the functions' names changes with their types.
use core::ffi::CStr;

use crate::layout::Module;
use crate::names::TRANSLATION_WORDS;

/// The library's file, beside `libflick.so`.
pub const LIBRARY: &str = "libflick-debug.so";
/// The name of a function of type [`Make`].
pub const MAKE: &CStr = c"__flick_debug_3_make";
/// The name of a function of type [`LeadPointers`].
pub const LEAD_POINTERS: &CStr = c"__flick_debug_3_lead_pointers";
/// The name of a function of type [`Remove`].
pub const REMOVE: &CStr = c"__flick_debug_3_remove";

/// What is to be made.
#[repr(C)]
pub struct Request {
    /// A module that is mapped until its code is removed.
    pub module: *const Module,
    /// The addresses of [`TRANSLATION_WORDS`].
    pub words: [u64; TRANSLATION_WORDS.len()],
    /// Where translated code calls a function of the host whose address is in rax.
    pub host_call: u64,
    /// Where it calls by a signature.
    pub signature_call: u64,
    /// The address of [`crate::names::RT_XCALL`].
    pub xcall: u64,
    /// The host code of the function that an address means for a call, as long as its module is mapped:
    /// the address itself, or the translation of an NxP function. 0: that is not known. The modules are
    /// registered.
    pub leads_to: extern "C" fn(u64) -> u64,
    /// Of code for harts of a card: what all harts execute, as `flick_riscv::Isa::bits` gives it. 0: the code
    /// is for the host's threads.
    pub isa: u64,
    /// Room for a reason, which gets a fragment of UTF-8 for people if nothing is made.
    pub reason: [u8; 256],
    /// Bytes of it.
    pub reason_size: usize,
}

/// Makes the code and returns a copy of the module's record that leads to it. The copy holds until
/// [`Remove`]. Null: nothing is made. One thread calls at a time.
pub type Make = unsafe extern "C" fn(&mut Request) -> *const Module;

/// Leads calls through pointers in a module's code by stubs with names, by which gdb's `step` enters
/// the module's functions. The module's code is what the link has made, if the record is the
/// module's own, or else what [`Make`] has made with it. No code of the module has run yet. One thread
/// calls at a time.
pub type LeadPointers = unsafe extern "C" fn(&mut Request, *const Module) -> bool;

/// Takes away what was made with this record, by [`Make`] or [`LeadPointers`]. No thread executes it or reads the record any
/// more. One thread calls at a time.
pub type Remove = unsafe extern "C" fn(*const Module);
