//! Stacks of libflick's own, for what runs under a lock: the translator's, and the card's.
use std::arch::naked_asm;
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 4 << 20;
const GUARD: usize = 64 << 10;

/// A stack, which has memory from [`OwnStack::init`] on.
pub struct OwnStack(AtomicUsize);

impl OwnStack {
    pub const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub fn init(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        // SAFETY: new mappings at a place of the kernel's choice.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let place = libc::mmap(
                std::ptr::null_mut(),
                GUARD + SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
            if place == libc::MAP_FAILED || libc::mprotect(place, GUARD, libc::PROT_NONE) != 0 {
                return Err(io::Error::last_os_error());
            }
            self.0
                .store(place as usize + GUARD + SIZE, Ordering::Release);
        }
        Ok(())
    }

    /// Calls `f` on this stack. The caller holds the lock that keeps others off it, and `f` does not
    /// unwind.
    pub fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Call<F, R> {
            f: Option<F>,
            result: Option<R>,
        }
        unsafe extern "C" fn call<F: FnOnce() -> R, R>(call: *mut c_void) {
            // SAFETY: the record of the caller, which waits.
            let call = unsafe { &mut *call.cast::<Call<F, R>>() };
            call.result = call.f.take().map(|f| f());
        }
        fn of<F: FnOnce() -> R, R>(_: &Call<F, R>) -> unsafe extern "C" fn(*mut c_void) {
            call::<F, R>
        }
        let mut record = Call {
            f: Some(f),
            result: None,
        };
        let function = of(&record);
        // SAFETY: the stack is mapped, and the lock keeps others off it.
        unsafe {
            switch(
                (&raw mut record).cast(),
                function,
                self.0.load(Ordering::Acquire),
            )
        };
        match record.result {
            Some(result) => result,
            None => unreachable!("the function has been called"),
        }
    }
}

/// Calls `function(argument)` with the stack pointer `top`.
#[unsafe(naked)]
unsafe extern "C" fn switch(
    argument: *mut c_void,
    function: unsafe extern "C" fn(*mut c_void),
    top: usize,
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdx",
        "call rsi",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}
