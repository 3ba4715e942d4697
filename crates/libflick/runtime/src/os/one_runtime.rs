//! Exactly one runtime per process (`docs/decisions.md`, 12). The loader gives every module the
//! same `libflick.so` by its name; a second copy can only come by a path of its own.
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use flick_abi::Note;
use flick_abi::names::is_runtime;

use crate::os::fatal;

/// Ends the process if more than one `libflick.so` is loaded.
pub fn check() {
    let mut found: Vec<String> = Vec::new();
    // SAFETY: `collect` has the callback's type and gets the vector.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) };
    if found.is_empty() && is_shared() && program_has_image() {
        fatal::exit(
            "FLK0405",
            "two Flick runtimes in one process: a statically linked program with NxP code has loaded \
             a library with NxP code, and libflick.so with it",
            "link the program without -static",
        );
    }
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
            if name.rsplit('/').next().is_some_and(is_runtime) {
                (*found.cast::<Vec<String>>()).push(name.into_owned());
            }
        }
    }
    0
}

/// Whether this runtime came into a namespace of its own, by `dlmopen`: the loader then gives it a
/// C library of its own, too, whose keys of thread-specific data are those of the program's for
/// other things.
pub fn in_own_namespace() -> bool {
    // SAFETY: plain query.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    let mut state = Namespace {
        program,
        seen: 0,
        has_program: false,
    };
    // SAFETY: `look` has the callback's type and gets the state.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut state).cast()) };
    // In a library that a static program has loaded, the walk finds no module.
    state.seen != 0 && !state.has_program
}

struct Namespace {
    program: usize,
    seen: usize,
    has_program: bool,
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, state: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid record, `in_own_namespace` its state.
    unsafe {
        let state = &mut *state.cast::<Namespace>();
        state.seen += 1;
        state.has_program |= (*info).dlpi_phdr as usize == state.program;
    }
    0
}

/// Set by `libflick.so`, and not by `libflick.a`.
pub static SHARED: AtomicBool = AtomicBool::new(false);

fn is_shared() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// Whether the main program has a note of Flick's. For programs that this library's loader did not
/// load: static ones that load libraries all the same.
fn program_has_image() -> bool {
    const HEADER: usize = size_of::<libc::Elf64_Ehdr>();
    // SAFETY: the kernel passes address and number of the program headers of the main program,
    // which stay mapped. Linkers put them right behind the ELF header; where the bytes before them
    // are no such header, nothing else is read.
    unsafe {
        let headers = libc::getauxval(libc::AT_PHDR) as usize;
        let count = libc::getauxval(libc::AT_PHNUM) as usize;
        if headers & 0xfff != HEADER {
            return false;
        }
        let elf = &*((headers - HEADER) as *const libc::Elf64_Ehdr);
        if elf.e_ident[..4] != *b"\x7fELF" || elf.e_phoff != HEADER as u64 {
            return false;
        }
        let base = if elf.e_type == libc::ET_DYN {
            headers - HEADER
        } else {
            0
        };
        let headers = std::slice::from_raw_parts(headers as *const libc::Elf64_Phdr, count);
        headers
            .iter()
            .filter(|header| header.p_type == libc::PT_NOTE)
            .any(|header| {
                let notes = (base + header.p_vaddr as usize) as *const u8;
                Note::find(std::slice::from_raw_parts(notes, header.p_memsz as usize)).is_some()
            })
    }
}
