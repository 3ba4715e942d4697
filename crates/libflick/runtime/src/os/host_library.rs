//! What of the process only the two forms of the runtime can tell, each in its way.
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// Both addresses are the C library's own: a program may define functions of these names.
pub struct HostLibrary {
    /// The file that has the process's `free`, if that is not libflick; empty for the program.
    pub owner_of_free: fn() -> Option<&'static CStr>,
    pub vfork: usize,
    pub getcontext: usize,
    /// How libraries are loaded, if they can be.
    pub loader: fn() -> Option<Loader>,
}

/// The C library's own functions.
pub struct Loader {
    pub dlopen: unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void,
    pub dlsym: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
}

static LIBRARY: OnceLock<HostLibrary> = OnceLock::new();

/// Called once, by a constructor.
pub fn init(library: HostLibrary) {
    LIBRARY.get_or_init(|| library);
}

pub fn get() -> Option<&'static HostLibrary> {
    LIBRARY.get()
}
