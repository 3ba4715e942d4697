//! The process: its name, and the size of its pages.
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: no arguments in memory; _SC_PAGESIZE exists everywhere.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// The program as the user started it: its first argument.
pub fn program() -> String {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let name = line
        .split(|byte| *byte == 0)
        .next()
        .unwrap_or_default()
        .to_vec();
    OsString::from_vec(name).to_string_lossy().into_owned()
}
