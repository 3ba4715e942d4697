//! The memory of the process, as the card's copy unit reaches it: an access that would fault is refused.
use std::ffi::c_void;

use flick_device::{HostSpace, Refused};

/// This process.
pub struct ProcessSpace;

/// process_vm_readv(2) or its counterpart, on the calling process. A child of `fork` is another one.
fn copy(call: libc::c_long, address: u64, bytes: *mut c_void, size: usize) -> Result<(), Refused> {
    let own = libc::iovec {
        iov_base: bytes,
        iov_len: size,
    };
    let there = libc::iovec {
        iov_base: address as *mut c_void,
        iov_len: size,
    };
    // SAFETY: `own` is the caller's memory; the kernel checks the other range.
    let copied = unsafe {
        let process = libc::c_long::from(libc::getpid());
        // Each argument has a whole register or place on the stack, so each is as wide as that.
        let (one, no_flags): (libc::c_long, libc::c_long) = (1, 0);
        let (own, there) = (&raw const own, &raw const there);
        libc::syscall(call, process, own, one, there, one, no_flags)
    };
    match usize::try_from(copied) == Ok(size) {
        true => Ok(()),
        false => Err(Refused),
    }
}

impl HostSpace for ProcessSpace {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let at = bytes.as_mut_ptr().cast();
        copy(libc::SYS_process_vm_readv, address, at, bytes.len())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        // Only read from there.
        let at = bytes.as_ptr().cast_mut().cast();
        copy(libc::SYS_process_vm_writev, address, at, bytes.len())
    }
}
