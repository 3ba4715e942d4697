//! Code of modules that the link has not translated, made for a debugger: `libflick-debug.so`, beside
//! `libflick.so`, makes all of it when the module is registered, and tells gdb. The module then is as
//! if the link had translated it.
//!
//! A process without a debugger does not load that library.
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use flick_abi::debug_interface::{LIBRARY, MAKE, Make, REMOVE, Remove, Request};
use flick_abi::layout::Module;

use crate::config::{self, Engine, Gdb};
use crate::locks::signal_safe::SignalSafeLock;
use crate::os::{fatal, host_library};
use crate::thread::crossing_code;
use crate::translation;

struct Library {
    make: Make,
    remove: Remove,
}

/// A module with such code.
#[derive(Clone, Copy)]
struct Made {
    /// The address of its own record.
    own: usize,
    /// The record that leads to the code.
    record: &'static Module,
}

// SAFETY: both records are read only.
unsafe impl Send for Made {}
// SAFETY: as above.
unsafe impl Sync for Made {}

static MADE: SignalSafeLock<Vec<Made>> = SignalSafeLock::new(Vec::new());

/// Makes the code of a module, if a debugger is to know it. Returns the record that leads to it. The
/// translator has been made, if it can be.
pub fn make(module: &Module) -> Option<&'static Module> {
    let wanted = config::get().gdb;
    if wanted == Gdb::Off || wanted == Gdb::Auto && !is_traced() {
        return None;
    }
    match try_make(module) {
        Ok(record) => {
            let own = ptr::from_ref(module) as usize;
            MADE.write(|all| all.push(Made { own, record }));
            Some(record)
        }
        Err(why) => {
            // A tracer need not be a debugger.
            if wanted == Gdb::On {
                fatal::warn(
                    "FLK0407",
                    &format!("code cannot be shown to gdb: {why}"),
                    "link without --flick-translate=run, or run without FLICK_GDB=on",
                );
            }
            None
        }
    }
}

/// The record that leads to the code made for a module; the module's own, if there is none.
pub fn record_of(module: &Module) -> &Module {
    let own = ptr::from_ref(module) as usize;
    let made = MADE.read(|all| all.iter().find(|made| made.own == own).copied());
    made.map_or(module, |made| made.record)
}

/// The module is gone, with the calls of its code.
pub fn remove(module: &Module) {
    let own = ptr::from_ref(module) as usize;
    let made = MADE.write(|all| {
        let at = all.iter().position(|made| made.own == own)?;
        Some(all.swap_remove(at).record)
    });
    if let (Some(made), Some(Ok(library))) = (made, LOADED.get()) {
        // SAFETY: made by this library; nobody knows the record any more.
        unsafe { (library.remove)(made) };
    }
}

fn try_make(module: &Module) -> Result<&'static Module, String> {
    let able = match config::get().engine {
        Engine::Auto | Engine::Translate => translation::code() != [0; 2],
        Engine::Ahead | Engine::Interpret => false,
    };
    if !able {
        return Err("NxP code is interpreted".into());
    }
    if crossing_code::counted() {
        return Err("its instructions are counted".into());
    }
    let library = LOADED.get_or_init(load).as_ref().map_err(String::clone)?;
    let mut request = Request {
        module,
        words: translation::words::addresses(),
        reason: [0; 256],
        reason_size: 0,
    };
    // Threads with small stacks load libraries, too.
    // SAFETY: the module is mapped until `remove`. One thread calls at a time.
    let made = translation::on_own_stack(|| unsafe { (library.make)(&mut request) });
    // SAFETY: null, or a record that holds until it is removed.
    match made.and_then(|made| unsafe { made.as_ref() }) {
        Some(made) => Ok(made),
        None => {
            let reason = request
                .reason
                .get(..request.reason_size)
                .unwrap_or_default();
            Err(String::from_utf8_lossy(reason).into_owned())
        }
    }
}

static LOADED: OnceLock<Result<Library, String>> = OnceLock::new();

fn load() -> Result<Library, String> {
    const RTLD_DEEPBIND: c_int = 8;
    let loader = host_library::get().and_then(|library| (library.loader)());
    let loader = loader.ok_or("a static program loads no library")?;
    let own = own_file().ok_or("libflick does not know its own place")?;
    let path = Path::new(OsStr::from_bytes(own.to_bytes())).with_file_name(LIBRARY);
    let missing = || format!("{} cannot be loaded", path.display());
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| missing())?;
    // It calls the C library's functions and not the program's of these names.
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | RTLD_DEEPBIND;
    // SAFETY: the C library's own functions. What they find has the types that belong to the names.
    unsafe {
        let handle = (loader.dlopen)(name.as_ptr(), flags);
        if handle.is_null() {
            return Err(missing());
        }
        let [make, remove] = [MAKE, REMOVE].map(|name| (loader.dlsym)(handle, name.as_ptr()));
        if make.is_null() || remove.is_null() {
            return Err(format!("{} is of another version", path.display()));
        }
        Ok(Library {
            make: std::mem::transmute::<*mut c_void, Make>(make),
            remove: std::mem::transmute::<*mut c_void, Remove>(remove),
        })
    }
}

/// The file that libflick is in.
fn own_file() -> Option<&'static CStr> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr reads the loader's tables and fills the record; the name lives as long as
    // libflick, which is never unloaded.
    unsafe {
        if libc::dladdr(own_file as *const c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        let name: *const c_char = info.assume_init().dli_fname;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }
}

/// Whether a debugger has attached to this process, or has started it (proc(5)).
fn is_traced() -> bool {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    status
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(b"TracerPid:"))
        .is_some_and(|tracer| tracer.trim_ascii() != b"0")
}
