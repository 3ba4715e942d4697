//! What of the process only the two forms of the runtime can tell, each in its way.
use std::ffi::CStr;
use std::sync::OnceLock;

/// Both addresses are the C library's own: a program may define functions of these names.
pub struct HostLibrary {
    /// The file that has the process's `free`, if that is not libflick; empty for the program.
    pub owner_of_free: fn() -> Option<&'static CStr>,
    pub vfork: usize,
    pub getcontext: usize,
}

static LIBRARY: OnceLock<HostLibrary> = OnceLock::new();

/// Called once, by a constructor.
pub fn init(library: HostLibrary) {
    LIBRARY.get_or_init(|| library);
}

pub fn get() -> Option<&'static HostLibrary> {
    LIBRARY.get()
}
