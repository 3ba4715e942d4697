//! gdb's interface for code that is made at run time (gdb manual, "JIT Compilation Interface"). gdb
//! stops at a function of a known name and reads a list of ELF files in memory. One that comes later
//! reads the list when it attaches.
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// `struct jit_code_entry`.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    file_size: u64,
}

/// `struct jit_descriptor`.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    /// What the action is about.
    relevant: *mut Entry,
    first: *mut Entry,
}

const VERSION: u32 = 1;
const NO_ACTION: u32 = 0;
const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// gdb finds it by its name.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static mut __jit_debug_descriptor: Descriptor = Descriptor {
    version: VERSION,
    action: NO_ACTION,
    relevant: ptr::null_mut(),
    first: ptr::null_mut(),
};

/// Who changes the list.
static LIST: Mutex<()> = Mutex::new(());

/// gdb stops here.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // Calls of a function without effect might be dropped.
    // SAFETY: no instruction.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}

/// An ELF file that gdb knows as long as the value lives.
pub struct Shown {
    entry: *mut Entry,
    _file: Vec<u8>,
}

impl Shown {
    /// Tells gdb of an ELF file.
    pub fn new(file: Vec<u8>) -> Self {
        let entry = Box::into_raw(Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            file: file.as_ptr(),
            file_size: file.len() as u64,
        }));
        change(REGISTER, entry, |descriptor| {
            // SAFETY: entries of the list are alive, and the lock keeps others away.
            unsafe {
                (*entry).next = descriptor.first;
                if let Some(next) = descriptor.first.as_mut() {
                    next.previous = entry;
                }
                descriptor.first = entry;
            }
        });
        Self { entry, _file: file }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let entry = self.entry;
        change(UNREGISTER, entry, |descriptor| {
            // SAFETY: entries of the list are alive, and the lock keeps others away.
            unsafe {
                let (next, previous) = ((*entry).next, (*entry).previous);
                match previous.as_mut() {
                    Some(previous) => previous.next = next,
                    None => descriptor.first = next,
                }
                if let Some(next) = next.as_mut() {
                    next.previous = previous;
                }
            }
        });
        // SAFETY: made by `new`, and out of the list.
        drop(unsafe { Box::from_raw(entry) });
    }
}

/// Changes the list and tells gdb.
fn change(action: u32, entry: *mut Entry, link: impl FnOnce(&mut Descriptor)) {
    let _lock = LIST.lock().unwrap_or_else(PoisonError::into_inner);
    let descriptor = &raw mut __jit_debug_descriptor;
    // SAFETY: the lock keeps other threads away; gdb reads while this thread stands in
    // `__jit_debug_register_code`, or anywhere when it attaches, as with every program.
    unsafe {
        link(&mut *descriptor);
        (&raw mut (*descriptor).action).write_volatile(action);
        (&raw mut (*descriptor).relevant).write_volatile(entry);
        __jit_debug_register_code();
        (&raw mut (*descriptor).action).write_volatile(NO_ACTION);
        (&raw mut (*descriptor).relevant).write_volatile(ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files in gdb's list, which it can walk both ways.
    fn files() -> Vec<Vec<u8>> {
        let mut all = vec![];
        let mut previous = ptr::null_mut();
        // SAFETY: this is the only test that changes the list.
        unsafe {
            let descriptor = &raw const __jit_debug_descriptor;
            let mut entry = (*descriptor).first;
            while !entry.is_null() {
                assert_eq!((*entry).previous, previous);
                let size = (*entry).file_size as usize;
                all.push(std::slice::from_raw_parts((*entry).file, size).to_vec());
                previous = entry;
                entry = (*entry).next;
            }
        }
        all
    }

    #[test]
    fn the_list_has_what_is_shown() {
        let shown: Vec<_> = (0..3).map(|n| Shown::new(vec![n; 4])).collect();
        assert_eq!(files(), [[2; 4], [1; 4], [0; 4]]);
        let [first, second, third] = <[Shown; 3]>::try_from(shown).ok().unwrap();
        drop(second);
        assert_eq!(files(), [[2; 4], [0; 4]]);
        drop(third);
        assert_eq!(files(), [[0; 4]]);
        drop(first);
        assert_eq!(files(), [[0; 4]; 0]);
        let descriptor = &raw const __jit_debug_descriptor;
        // SAFETY: as above.
        let found = unsafe { ((*descriptor).version, (*descriptor).action) };
        assert_eq!(found, (VERSION, NO_ACTION));
    }
}
