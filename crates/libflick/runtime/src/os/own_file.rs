//! The file that libflick is in.
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;

/// Its path, if the loader knows it.
pub fn path() -> Option<&'static CStr> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr reads the loader's tables and fills the record; the name lives as long as
    // libflick, which is never unloaded.
    unsafe {
        if libc::dladdr(path as *const c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        let name: *const c_char = info.assume_init().dli_fname;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }
}
