//! Memory for translated code and for the data that it reads.
//!
//! The pages are a reservation of the cache's own, or a place that its owner has, for example in a
//! loaded library, whose unwind information then covers it.
//!
//! Code is mapped twice, from the same shared memory: readable and executable where it runs,
//! writable somewhere else. No mapping is ever both. In front of the code, in reach of its
//! displacements, are the cells of calls.
use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::code_pages::{map, map_twice};
use crate::fault_state::StateTable;
use crate::valgrind;

/// Translations begin at a cache line, so that the cost of their branches does not depend on
/// earlier translations.
const LINE: usize = 64;
const PAGE: usize = 4096;
/// Cells of 8 bytes.
const CELLS: usize = 1 << 16;
const CELLS_AT: usize = 0;
const STATES_AT: usize = CELLS_AT + 8 * CELLS;
const OWN_AT: usize = (STATES_AT + size_of::<StateTable>()).next_multiple_of(PAGE);
const DATA: usize = OWN_AT + PAGE;

const UNUSED: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Bytes of address space for `code_size` bytes of code and what belongs to them.
pub const fn pages_for(code_size: usize) -> usize {
    PAGE + DATA + code_size.next_multiple_of(PAGE) + PAGE
}

pub struct CodeCache {
    /// Start of the reservation: a guard page, the data, the code, a guard page.
    reserved: usize,
    size: usize,
    /// The reservation goes with the value.
    owned: bool,
    code: usize,
    code_size: usize,
    used: usize,
    /// The same memory as from `mapped_from` on in the code, writable.
    writable: usize,
    mapped_from: usize,
    cells: usize,
    cells_used: usize,
    cells_free: Vec<u64>,
    /// Code below this address stays, because other code leads to it.
    kept: usize,
    /// Another process shares the memory of code below this address.
    forked: usize,
    /// The next code needs new memory, because another process shares this one.
    shared: bool,
}

// SAFETY: the mappings belong to the value.
unsafe impl Send for CodeCache {}

impl CodeCache {
    /// Room for `code_size` bytes of code.
    pub fn new(code_size: usize) -> io::Result<Self> {
        let size = pages_for(code_size);
        let reserved = map(0, size, libc::PROT_NONE, UNUSED, -1)?;
        Self::make(reserved, size, true)
    }

    /// The same in given pages, [`pages_for`] the code.
    ///
    /// # Safety
    /// The pages are mapped, and nobody else's as long as the process lives.
    pub unsafe fn within(pages: Range<usize>) -> io::Result<Self> {
        assert!(pages.start.is_multiple_of(PAGE) && pages.len() > pages_for(0));
        // Readable: LeakSanitizer and collectors read all of a library's writable segments.
        let flags = UNUSED | libc::MAP_FIXED;
        map(pages.start, pages.len(), libc::PROT_READ, flags, -1)?;
        Self::make(pages.start, pages.len(), false)
    }

    fn make(reserved: usize, size: usize, owned: bool) -> io::Result<Self> {
        let code_size = size - pages_for(0);
        let mut cache = Self {
            reserved,
            size,
            owned,
            code: reserved + PAGE + DATA,
            code_size,
            used: 0,
            writable: 0,
            mapped_from: 0,
            cells: reserved + PAGE + CELLS_AT,
            cells_used: 0,
            cells_free: vec![],
            kept: 0,
            forked: 0,
            shared: false,
        };
        let data = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let read_write = libc::PROT_READ | libc::PROT_WRITE;
        map(reserved + PAGE, DATA, read_write, data, -1)?;
        cache.own().store(1, Ordering::Relaxed);
        // SAFETY: a page of the mapping just made. Without it a child is known by `is_shared`
        // alone.
        unsafe {
            let page = (reserved + PAGE + OWN_AT) as *mut c_void;
            libc::madvise(page, PAGE, libc::MADV_WIPEONFORK);
        }
        cache.writable = map_twice(cache.code, code_size)?;
        Ok(cache)
    }

    /// Start and end of the code.
    pub fn range(&self) -> (u64, u64) {
        (self.code as u64, (self.code + self.code_size) as u64)
    }

    pub fn states(&self) -> &StateTable {
        // SAFETY: zero pages are a valid table, and the mapping lives as long as the value; its place
        // is aligned.
        unsafe { &*((self.reserved + PAGE + STATES_AT) as *const StateTable) }
    }

    /// A word that is 0 in a child of a `fork` that was not announced: `_Fork`, clone(2) without
    /// `CLONE_VM`, or a fork in a handler that has interrupted a translation. The kernel wipes its
    /// page in the child.
    fn own(&self) -> &AtomicU64 {
        // SAFETY: as above, in a page of its own.
        unsafe { &*((self.reserved + PAGE + OWN_AT) as *const AtomicU64) }
    }

    /// A new cell, which holds 0; `None`: there is no more.
    pub fn cell(&mut self) -> Option<u64> {
        if let Some(cell) = self.cells_free.pop() {
            return Some(cell);
        }
        if self.cells_used == CELLS {
            return None;
        }
        self.cells_used += 1;
        Some((self.cells + 8 * (self.cells_used - 1)) as u64)
    }

    /// Takes back a cell that is no longer used.
    pub fn free_cell(&mut self, cell: u64) {
        // SAFETY: one of ours.
        unsafe { (*(cell as *const AtomicU64)).store(0, Ordering::Relaxed) };
        self.cells_free.push(cell);
    }

    /// Invalidates the translations of guest addresses that are `named`, and returns where they
    /// were. The memory of the last ones can be used again, unless they are still `in_use`.
    pub fn invalidate(
        &mut self,
        named: impl Fn(u64) -> bool,
        in_use: impl Fn(&[Range<u64>]) -> bool,
    ) -> Vec<Range<u64>> {
        let gone = self.states().invalidate(named);
        if in_use(&gone) {
            self.kept = self.used;
        }
        gone.iter().for_each(valgrind::discard);
        let (code, next) = (self.code as u64, self.next());
        let next = self.states().shrink(next, code + self.kept as u64);
        self.used = (next - code) as usize;
        // A child may execute what was there.
        self.shared |= self.used < self.forked;
        gone
    }

    /// Call before a fork: the child executes what is there.
    pub fn forking(&mut self) {
        self.forked = self.used;
    }

    /// Where the next code begins.
    pub fn next(&self) -> u64 {
        (self.code + self.used) as u64
    }

    /// Appends code, to memory of this process's own ([`CodeCache::leave_shared`]); false: it has
    /// no room.
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        if self.code_size - self.used < bytes.len() {
            return false;
        }
        let to = (self.writable + self.used - self.mapped_from) as *mut u8;
        // SAFETY: inside the writable mapping; nobody executes these bytes yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        self.used = (self.used + bytes.len())
            .next_multiple_of(LINE)
            .min(self.code_size);
        true
    }

    /// Call in the child of a fork: the memory of the code is the parent's too.
    pub fn is_shared(&mut self) {
        self.shared = true;
    }

    /// The rest of the code cache gets memory of this process's own.
    pub fn leave_shared(&mut self) -> io::Result<()> {
        if !self.shared && self.own().load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        let from = self.used.next_multiple_of(PAGE);
        if from >= self.code_size {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let writable = map_twice(self.code + from, self.code_size - from)?;
        // SAFETY: our own mapping, of which nobody keeps a pointer.
        unsafe {
            libc::munmap(
                self.writable as *mut c_void,
                self.code_size - self.mapped_from,
            )
        };
        self.writable = writable;
        self.mapped_from = from;
        self.used = from;
        self.forked = from;
        self.shared = false;
        self.own().store(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for CodeCache {
    fn drop(&mut self) {
        // SAFETY: our own mappings, which nobody uses any more.
        unsafe {
            if self.writable != 0 {
                libc::munmap(
                    self.writable as *mut c_void,
                    self.code_size - self.mapped_from,
                );
            }
            if self.owned {
                libc::munmap(self.reserved as *mut c_void, self.size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_state::States;

    fn add(cache: &mut CodeCache, guest: u64, byte: u8) -> u64 {
        cache.leave_shared().unwrap();
        let at = cache.next();
        assert!(cache.append(&[byte; 64]));
        assert!(cache.states().push(at..at + 64, guest, States::default()));
        at
    }

    fn first_byte(at: u64) -> u8 {
        // SAFETY: readable memory of the code cache.
        unsafe { *(at as *const u8) }
    }

    /// What `f` gives in a child that is made without handlers of `fork`.
    fn in_child(f: impl FnOnce() -> u8) -> u8 {
        // SAFETY: the child uses memory that it has, and ends.
        unsafe {
            let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t;
            assert!(child >= 0);
            if child == 0 {
                libc::_exit(f().into());
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert!(libc::WIFEXITED(status));
            libc::WEXITSTATUS(status) as u8
        }
    }

    #[test]
    fn a_child_of_any_kind_has_memory_of_its_own() {
        let mut cache = CodeCache::new(1 << 20).unwrap();
        let first = add(&mut cache, 0x1000, 1);
        let (next, parents) = (cache.next(), cache.range());
        let child = in_child(|| {
            let second = add(&mut cache, 0x2000, 2);
            assert!(second >= next && second < parents.1);
            first_byte(first) * 16 + first_byte(second)
        });
        assert_eq!(child, 0x12);
        assert_eq!(first_byte(next), 0, "the child has written to it");
        assert_eq!(add(&mut cache, 0x2000, 3), next);
    }

    #[test]
    fn given_pages_are_used_in_place() {
        let size = pages_for(1 << 20);
        let start = map(0, size, libc::PROT_NONE, UNUSED, -1).unwrap();
        // SAFETY: just mapped.
        let mut cache = unsafe { CodeCache::within(start..start + size) }.unwrap();
        let (from, to) = cache.range();
        assert_eq!(to - from, 1 << 20);
        assert!(from as usize > start && (to as usize) < start + size);
        let at = add(&mut cache, 0x1000, 7);
        assert!((from..to).contains(&at) && first_byte(at) == 7);
    }

    #[test]
    fn what_a_child_executes_is_given_back_in_other_memory() {
        let mut cache = CodeCache::new(1 << 20).unwrap();
        add(&mut cache, 0x1000, 1);
        let second = add(&mut cache, 0x2000, 2);
        cache.forking();
        let mut pipe = [0; 2];
        // SAFETY: descriptors of the test's own.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        // SAFETY: as in `in_child`; it waits for the parent.
        let child =
            unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t };
        if child == 0 {
            let mut byte = 0_u8;
            // SAFETY: one byte, and the end of the child.
            unsafe {
                libc::read(pipe[0], (&raw mut byte).cast(), 1);
                libc::_exit(first_byte(second).into());
            }
        }
        cache.invalidate(|guest| guest == 0x2000, |_| false);
        assert_eq!(cache.next(), second);
        let again = add(&mut cache, 0x3000, 3);
        assert!(again >= second && first_byte(again) == 3);
        let mut status = 0;
        // SAFETY: one byte, and the child's status.
        unsafe {
            assert_eq!(libc::write(pipe[1], b"x".as_ptr().cast(), 1), 1);
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
        }
        assert_eq!(libc::WEXITSTATUS(status), 2, "the parent has changed it");
    }
}
