//! Code of modules that the link has not translated, made for a debugger: `libflick-debug.so`, beside
//! `libflick.so`, makes all of it when the module is registered, and tells gdb. The module then is as
//! if the link had translated it.
//!
//! A process without a debugger does not load that library.
use std::ffi::{CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use flick_abi::debug_interface::{
    LEAD_POINTERS, LIBRARY, LeadPointers, MAKE, Make, REMOVE, Remove, Request,
};
use flick_abi::layout::Module;

use crate::config::{self, Engine, Gdb};
use crate::locks::signal_safe::SignalSafeLock;
use crate::modules::address_meaning::{self, Target};
use crate::modules::{self, ModuleEntry};
use crate::os::{fatal, host_library, own_file};
use crate::thread::crossing_code;
use crate::translation::{self, shown_code};

struct Library {
    make: Make,
    lead_pointers: LeadPointers,
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
    if !is_wanted() {
        return None;
    }
    match try_make(module) {
        Ok(record) => {
            let own = ptr::from_ref(module) as usize;
            MADE.write(|all| all.push(Made { own, record }));
            Some(record)
        }
        Err(why) => {
            let help = "link without --flick-translate=run, or run without FLICK_GDB=on";
            warn("code cannot be shown to gdb", &why, help);
            None
        }
    }
}

/// Leads calls through pointers by code that gdb's `step` goes through, if a debugger is to know the
/// module, which has debug information. The module is registered, with the record that [`record_of`]
/// has, and none of its code has run.
pub fn lead_pointers(module: &Module) {
    let is_able = match crossing_code::on_card() {
        // Other code of a card has no word for its calls.
        true => !ptr::eq(record_of(module), module),
        false => config::get().engine != Engine::Interpret && !crossing_code::counted(),
    };
    if !is_able || module.line_count == 0 || !is_wanted() {
        return;
    }
    if let Err(why) = try_lead_pointers(module) {
        let help = "use `break FUNCTION`, or run without FLICK_GDB=on";
        warn(
            "step cannot enter functions through pointers in gdb",
            &why,
            help,
        );
    }
}

fn is_wanted() -> bool {
    match config::get().gdb {
        Gdb::On => true,
        Gdb::Auto => is_traced(),
        Gdb::Off => false,
    }
}

fn warn(what: &str, why: &str, help: &str) {
    // A tracer need not be a debugger.
    if config::get().gdb == Gdb::On {
        fatal::warn("FLK0407", &format!("{what}: {why}"), help);
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
    if let Some(Ok(library)) = LOADED.get() {
        // SAFETY: made by this library, if it was; nobody knows the record any more.
        unsafe { (library.remove)(made.unwrap_or(module)) };
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
    if crossing_code::counted() && !crossing_code::on_card() {
        return Err("its instructions are counted".into());
    }
    let library = LOADED.get_or_init(load).as_ref().map_err(String::clone)?;
    let mut request = request(module);
    // Threads with small stacks load libraries, too.
    // SAFETY: the module is mapped until `remove`. One thread calls at a time.
    let made = translation::on_own_stack(|| unsafe { (library.make)(&mut request) });
    // SAFETY: null, or a record that holds until it is removed.
    match made.and_then(|made| unsafe { made.as_ref() }) {
        Some(made) => Ok(made),
        None => Err(reason(&request)),
    }
}

fn try_lead_pointers(module: &Module) -> Result<(), String> {
    let library = LOADED.get_or_init(load).as_ref().map_err(String::clone)?;
    let mut request = request(module);
    let record = record_of(module);
    // SAFETY: the module is mapped until `remove`, and registered. One thread calls at a time.
    let led =
        translation::on_own_stack(|| unsafe { (library.lead_pointers)(&mut request, record) });
    match led {
        Some(true) => Ok(()),
        _ => Err(reason(&request)),
    }
}

fn request(module: &Module) -> Request {
    extern "C" fn leads_to(function: u64) -> u64 {
        match address_meaning::lasting(function) {
            Some(Target::Host) => function,
            Some(Target::Nxp(address)) if crossing_code::on_card() => {
                shown_code::leads_to(function, address).unwrap_or(0)
            }
            Some(Target::Nxp(address)) => match modules::translated_entry(address) {
                Some(ModuleEntry::At(code)) => code,
                _ => 0,
            },
            None => 0,
        }
    }
    let (words, isa, host_call) = match crossing_code::on_card() {
        // The code leaves its hart.
        true => {
            let leave = flick_translator::leave_at_call as *const () as u64;
            (shown_code::words(), shown_code::isa(), leave)
        }
        false => (
            translation::words::addresses(),
            0,
            crossing_code::host_call(),
        ),
    };
    Request {
        module,
        words,
        isa,
        host_call,
        signature_call: crossing_code::signature_call(),
        xcall: crossing_code::xcall_address(),
        leads_to,
        reason: [0; 256],
        reason_size: 0,
    }
}

fn reason(request: &Request) -> String {
    let reason = request.reason.get(..request.reason_size);
    String::from_utf8_lossy(reason.unwrap_or_default()).into_owned()
}

static LOADED: OnceLock<Result<Library, String>> = OnceLock::new();

fn load() -> Result<Library, String> {
    const RTLD_DEEPBIND: c_int = 8;
    let loader = host_library::get().and_then(|library| (library.loader)());
    let loader = loader.ok_or("a static program loads no library")?;
    let own = own_file::path().ok_or("libflick does not know its own place")?;
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
        let all = [MAKE, LEAD_POINTERS, REMOVE].map(|name| (loader.dlsym)(handle, name.as_ptr()));
        if all.contains(&ptr::null_mut()) {
            return Err(format!("{} is of another version", path.display()));
        }
        let [make, lead_pointers, remove] = all;
        Ok(Library {
            make: std::mem::transmute::<*mut c_void, Make>(make),
            lead_pointers: std::mem::transmute::<*mut c_void, LeadPointers>(lead_pointers),
            remove: std::mem::transmute::<*mut c_void, Remove>(remove),
        })
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
