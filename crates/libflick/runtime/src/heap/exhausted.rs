//! What is said, once per process, when an allocation of NxP-local memory fails (FLK0503).
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::memory::{commit, nxp_region};
use crate::os::fatal;

/// Reports a failed allocation of `size` bytes. The program sees NULL and ENOMEM as from any
/// `malloc`; this tells its user which memory it was and what to do.
#[cold]
pub(crate) fn report(size: usize, region_full: bool) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Relaxed) {
        return;
    }
    let region = nxp_region::size() >> 20;
    let (why, remedy) = if !region_full {
        let why = io::Error::from_raw_os_error(commit::last_failure()).to_string();
        (
            why,
            "free memory, or raise the limits (`ulimit -d`, vm.overcommit_memory, the container's)",
        )
    } else if nxp_region::is_limited() {
        let why = format!("no room in {region} MiB, reserved under the address space limit");
        (
            why,
            "raise the limit (`ulimit -v`), or use flick_alloc(FLICK_MEM_HOST, ...)",
        )
    } else {
        let why = format!("no room in {region} MiB");
        (
            why,
            "free memory earlier, or use flick_alloc(FLICK_MEM_HOST, ...) for some of the data",
        )
    };
    let what = format!("NxP-local memory is exhausted: allocation of {size} bytes: {why}");
    fatal::warn("FLK0503", &what, remedy);
}
