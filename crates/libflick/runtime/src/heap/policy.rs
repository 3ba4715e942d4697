//! Who serves NxP code's `malloc`: the heap in the region, if `free` of the whole process can tell
//! its blocks from others, else the process's own `malloc`.
//!
//! libflick defines `free` & co. (`--wrap` in static programs), but it need not be the one that the
//! process uses: a preloaded allocator comes first, memcheck redirects `free`, a library that was
//! loaded late finds the C library's. Then a block of the region could reach a `free` that takes it
//! for its own. Nobody's `free` is called to find that out.
use std::path::Path;
use std::sync::OnceLock;

use flick_translator::valgrind;

use crate::os::{host_library, process_facts};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The heap in NxP-local memory.
    Nxp,
    /// The process's `malloc`, and why.
    Host(String),
}

static POLICY: OnceLock<Policy> = OnceLock::new();

/// The decision, once NxP-local memory was set up.
pub fn policy() -> Option<&'static Policy> {
    POLICY.get()
}

pub(crate) fn decide() -> &'static Policy {
    POLICY.get_or_init(|| {
        if valgrind::running() {
            return Policy::Host("under valgrind".into());
        }
        match owner_of_free() {
            None => Policy::Nxp,
            Some(owner) => Policy::Host(format!("free belongs to {owner}")),
        }
    })
}

/// The file that has the process's `free`, if libflick does not. In a static program libflick
/// always does.
fn owner_of_free() -> Option<String> {
    let path = (host_library::get()?.owner_of_free)()?;
    let path = if path.is_empty() {
        process_facts::program()
    } else {
        path.to_string_lossy().into_owned()
    };
    let name = Path::new(&path).file_name();
    Some(name.map_or_else(|| path.clone(), |name| name.to_string_lossy().into()))
}
