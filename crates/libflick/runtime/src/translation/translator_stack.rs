//! The stack on which the translator runs. One, since it runs under a lock.
use std::arch::naked_asm;
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 4 << 20;
const GUARD: usize = 64 << 10;

static TOP: AtomicUsize = AtomicUsize::new(0);

pub fn init() -> io::Result<()> {
    if TOP.load(Ordering::Acquire) != 0 {
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
        TOP.store(place as usize + GUARD + SIZE, Ordering::Release);
    }
    Ok(())
}

/// Calls `f` on the translator's stack. The caller holds the translator's lock, and `f` does not
/// unwind.
pub fn on_own<R>(f: impl FnOnce() -> R) -> R {
    struct Call<F, R> {
        f: Option<F>,
        result: Option<R>,
    }
    unsafe extern "C" fn call<F: FnOnce() -> R, R>(call: *mut c_void) {
        // SAFETY: the record of `on_own`, which waits.
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
            TOP.load(Ordering::Acquire),
        )
    };
    match record.result {
        Some(result) => result,
        None => unreachable!("the function has been called"),
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
