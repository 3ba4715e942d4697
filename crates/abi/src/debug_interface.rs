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
pub const MAKE: &CStr = c"__flick_debug_1_make";
/// The name of a function of type [`Remove`].
pub const REMOVE: &CStr = c"__flick_debug_1_remove";

/// What is to be made.
#[repr(C)]
pub struct Request {
    /// A module that is mapped until its code is removed.
    pub module: *const Module,
    /// The addresses of [`TRANSLATION_WORDS`].
    pub words: [u64; TRANSLATION_WORDS.len()],
    /// Room for a reason, which gets a fragment of UTF-8 for people if nothing is made.
    pub reason: [u8; 256],
    /// Bytes of it.
    pub reason_size: usize,
}

/// Makes the code and returns a copy of the module's record that leads to it. The copy holds until
/// [`Remove`]. Null: nothing is made. One thread calls at a time.
pub type Make = unsafe extern "C" fn(&mut Request) -> *const Module;

/// Takes away what [`Make`] has made with this record. No thread executes it or reads the record any
/// more. One thread calls at a time.
pub type Remove = unsafe extern "C" fn(*const Module);
