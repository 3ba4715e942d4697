//! Exactly one runtime per process (architecture decision 12). The loader gives every module the same
//! `libflick.so` by its name; a second copy can only come by a path of its own.
use std::ffi::{CStr, c_int, c_void};

use crate::fatal;

/// Ends the process if more than one `libflick.so` is loaded.
pub fn check() {
    let mut found: Vec<String> = Vec::new();
    // SAFETY: `collect` has the callback's type and gets the vector.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) };
    if let [first, second, ..] = &found[..] {
        fatal::exit(
            "FLK0405",
            &format!("two Flick runtimes in one process: {first} and {second}"),
            "link everything with one installation of Flick, and load no libflick.so by its path",
        );
    }
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid record with a C string for the name.
    unsafe {
        let name = (*info).dlpi_name;
        if !name.is_null() {
            let name = CStr::from_ptr(name).to_string_lossy();
            if name.rsplit('/').next() == Some("libflick.so") {
                (*found.cast::<Vec<String>>()).push(name.into_owned());
            }
        }
    }
    0
}
