//! Control and status registers of the hart that executes.

/// Reads one.
#[macro_export]
macro_rules! csr_read {
    ($name:ident) => {{
        let value: u64;
        // SAFETY: the kernel runs in M mode, and a read changes nothing.
        unsafe { core::arch::asm!(concat!("csrr {}, ", stringify!($name)), out(reg) value) };
        value
    }};
}

/// Writes one.
///
/// # Safety
/// What the register changes must not break the code that executes.
#[macro_export]
macro_rules! csr_write {
    ($name:ident, $value:expr) => {{
        let value: u64 = $value;
        core::arch::asm!(concat!("csrw ", stringify!($name), ", {}"), in(reg) value)
    }};
}

/// Sets bits of `mstatus`.
pub fn set_status(bits: u64) {
    // SAFETY: the kernel sets FS and VS only, which no code of its own depends on.
    unsafe { core::arch::asm!("csrs mstatus, {}", in(reg) bits) };
}

/// Clears them.
pub fn clear_status(bits: u64) {
    // SAFETY: as of `set_status`, and MPP, which a return to a program uses.
    unsafe { core::arch::asm!("csrc mstatus, {}", in(reg) bits) };
}

/// Waits for an interrupt that `mie` has. It is not taken: the kernel runs without MIE.
pub fn wait() {
    // SAFETY: changes no memory.
    unsafe { core::arch::asm!("wfi") };
}

/// The machine's time, in ticks.
pub fn time() -> u64 {
    csr_read!(time)
}

/// Forgets translations of a page, or all.
pub fn forget_page(page: Option<u64>) {
    // SAFETY: translations are looked up again.
    unsafe {
        match page {
            Some(page) => core::arch::asm!("sfence.vma {}, zero", in(reg) page),
            None => core::arch::asm!("sfence.vma"),
        }
    }
}
