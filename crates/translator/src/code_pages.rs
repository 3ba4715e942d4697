//! Pages for code that are mapped twice, from the same shared memory: readable and executable where the
//! code runs, writable somewhere else. No mapping is ever both.
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;

/// Pages for code.
pub struct CodePages {
    at: usize,
    writable: usize,
    size: usize,
}

impl CodePages {
    /// Room for `size` bytes, a multiple of a page.
    pub fn new(size: usize) -> io::Result<Self> {
        let unused = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let at = map(0, size, libc::PROT_NONE, unused, -1)?;
        match map_twice(at, size) {
            Ok(writable) => Ok(Self { at, writable, size }),
            Err(error) => {
                // SAFETY: the mapping just made.
                unsafe { libc::munmap(at as *mut c_void, size) };
                Err(error)
            }
        }
    }

    /// Where the code runs.
    pub fn address(&self) -> u64 {
        self.at as u64
    }

    /// How many bytes have room.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Puts code at an offset; false: it has no room there. Code that was there must not be running,
    /// and nobody enters it any more.
    pub fn write(&mut self, offset: usize, code: &[u8]) -> bool {
        let has_room = self.size.checked_sub(offset);
        if has_room.is_none_or(|room| room < code.len()) {
            return false;
        }
        let to = (self.writable + offset) as *mut u8;
        // SAFETY: inside the writable mapping, to which nobody has a reference.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), to, code.len()) };
        true
    }
}

impl Drop for CodePages {
    fn drop(&mut self) {
        // SAFETY: our own mappings, whose code nobody runs any more.
        unsafe {
            libc::munmap(self.writable as *mut c_void, self.size);
            libc::munmap(self.at as *mut c_void, self.size);
        }
    }
}

pub(crate) fn map(
    at: usize,
    size: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
) -> io::Result<usize> {
    // SAFETY: at a place of the kernel's choice, or inside our own reservation.
    let place = unsafe { libc::mmap(at as *mut c_void, size, protection, flags, file, 0) };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(place as usize)
}

/// Memory of `size` bytes, mapped executable at `at` and writable at the place returned.
pub(crate) fn map_twice(at: usize, size: usize) -> io::Result<usize> {
    let writable = match share_anonymous(at, size) {
        Ok(writable) => writable,
        // valgrind cannot map again what is mapped.
        Err(_) => share_file(at, size)?,
    };
    // Core files would contain all of it, used or not.
    for place in [at, writable] {
        // SAFETY: the mappings just made.
        unsafe { libc::madvise(place as *mut c_void, size, libc::MADV_DONTDUMP) };
    }
    Ok(writable)
}

/// By memory that has no file of a name: for code in it perf(1) looks up symbols in
/// `/tmp/perf-PID.map`.
fn share_anonymous(at: usize, size: usize) -> io::Result<usize> {
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    map(at, size, libc::PROT_READ | libc::PROT_EXEC, flags, -1)?;
    // SAFETY: a second mapping of the same pages (mremap(2), "old_size is zero"), which nobody has
    // yet.
    unsafe {
        let writable = libc::mremap(at as *mut c_void, 0, size, libc::MREMAP_MAYMOVE);
        if writable == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if libc::mprotect(writable, size, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            let error = io::Error::last_os_error();
            libc::munmap(writable, size);
            return Err(error);
        }
        Ok(writable as usize)
    }
}

/// By a memory file.
fn share_file(at: usize, size: usize) -> io::Result<usize> {
    const MFD_EXEC: u32 = 0x10;
    // SAFETY: plain system calls; the file is closed when the mappings are made.
    unsafe {
        let name = c"flick-code".as_ptr();
        // Kernels before 6.3 do not know the flag, and need none.
        let mut file = libc::memfd_create(name, libc::MFD_CLOEXEC | MFD_EXEC);
        if file < 0 {
            file = libc::memfd_create(name, libc::MFD_CLOEXEC);
        }
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        let mapped = (|| {
            if libc::ftruncate(file, size as libc::off_t) != 0 {
                return Err(io::Error::last_os_error());
            }
            let executable = libc::PROT_READ | libc::PROT_EXEC;
            map(
                at,
                size,
                executable,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file,
            )?;
            map(
                0,
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
            )
        })();
        libc::close(file);
        mapped
    }
}
