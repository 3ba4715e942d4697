//! Who serves NxP code's `malloc`: the heap in the region, if `free` of the whole process can tell
//! its blocks from others, else the process's own `malloc`.
//!
//! libflick defines `free` & co. (`--wrap` in static programs), but it need not be the one that the
//! process uses: a preloaded allocator comes first, memcheck redirects `free`, a library that was
//! loaded late finds the C library's. Then a block of the region could reach a `free` that takes it
//! for its own.
use std::ffi::{CStr, c_void};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use flick_engine::valgrind;

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

pub(super) fn decide() -> &'static Policy {
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

static PROBING: AtomicBool = AtomicBool::new(false);
static ARRIVED: AtomicBool = AtomicBool::new(false);

/// The interposed `free` calls this for NULL: the probe of [`owner_of_free`].
#[inline]
pub fn freed_null() {
    if PROBING.load(Relaxed) {
        ARRIVED.store(true, Relaxed);
    }
}

/// Who has the process's `free`, if not libflick: asked by calling it.
fn owner_of_free() -> Option<String> {
    // The compiler knows what `free(NULL)` does and would remove the call.
    let free = black_box(libc::free as unsafe extern "C" fn(*mut c_void));
    PROBING.store(true, Relaxed);
    // SAFETY: NULL is allowed.
    unsafe { free(ptr::null_mut()) };
    PROBING.store(false, Relaxed);

    let object = object_of(free as *const c_void);
    if !ARRIVED.load(Relaxed) {
        return Some(object.map_or_else(|| "another allocator".into(), |o| o.name));
    }
    // It arrived, but perhaps by way of a wrapper that wants to see all allocations. An address in
    // the executable is that of its PLT entry (no-PIE programs that take the address of `free`).
    let object = object?;
    let ours = object_of(freed_null as *const c_void);
    // SAFETY: no memory is involved.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as *const c_void;
    let program = object_of(entry);
    let trusted = |o: Option<Object>| o.is_some_and(|o| o.base == object.base);
    if trusted(ours) || trusted(program) {
        None
    } else {
        Some(object.name)
    }
}

struct Object {
    base: usize,
    name: String,
}

/// The loaded file that an address belongs to; `None` in static programs.
fn object_of(addr: *const c_void) -> Option<Object> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: dladdr takes any address and writes `info` if it returns non-zero.
    let info = unsafe {
        if libc::dladdr(addr, info.as_mut_ptr()) == 0 {
            return None;
        }
        info.assume_init()
    };
    let path = if info.dli_fname.is_null() {
        String::new()
    } else {
        // SAFETY: the loader's NUL-terminated name of a loaded object.
        unsafe { CStr::from_ptr(info.dli_fname) }
            .to_string_lossy()
            .into_owned()
    };
    let name = Path::new(&path)
        .file_name()
        .map_or(path.clone(), |n| n.to_string_lossy().into());
    Some(Object {
        base: info.dli_fbase as usize,
        name,
    })
}
