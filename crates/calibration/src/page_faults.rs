//! The kernel's time for a page of a program's memory, from the first access to the end.
use std::{io, ptr};

use crate::measuring::{Effort, time};
use crate::pages::PAGE;
use crate::statistics::Spread;

/// Bytes of a mapping: a large block of `malloc`.
pub const SIZE: usize = 32 << 20;

/// Nanoseconds a page, as the kernel gives memory to a program that has not asked for large pages.
pub fn first_accesses(effort: &Effort) -> io::Result<Spread> {
    let mut each = Vec::new();
    for _ in 0..effort.repetitions {
        // SAFETY: a new mapping, of which nobody else knows.
        let map = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(ptr::null_mut(), SIZE, rights, flags, -1, 0)
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let all = time(|| {
            for page in (0..SIZE).step_by(PAGE) {
                // SAFETY: a byte of the mapping.
                unsafe { map.cast::<u8>().add(page).write_volatile(1) };
            }
            // SAFETY: the mapping, which nobody uses any more. A program gives its pages back, too.
            unsafe { libc::munmap(map, SIZE) };
        });
        each.push(all / (SIZE / PAGE) as f64);
    }
    Ok(Spread::of(&each))
}
