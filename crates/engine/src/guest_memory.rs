//! Guest memory: the trait, and the process's own memory.

use core::arch::asm;
use core::convert::Infallible;

use crate::hart_state::Trap;

/// The operation of an AMO instruction; the signed ones compare at the width of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmoOp {
    /// The operand.
    Swap,
    /// Sum.
    Add,
    /// Exclusive or.
    Xor,
    /// And.
    And,
    /// Or.
    Or,
    /// The lesser of signed numbers.
    Min,
    /// The greater of signed numbers.
    Max,
    /// The lesser of unsigned numbers.
    MinU,
    /// The greater of unsigned numbers.
    MaxU,
}

impl AmoOp {
    /// What a 64-bit AMO stores for the `old` contents and the operand.
    #[inline(always)]
    pub fn apply64(self, old: u64, operand: u64) -> u64 {
        match self {
            Self::Swap => operand,
            Self::Add => old.wrapping_add(operand),
            Self::Xor => old ^ operand,
            Self::And => old & operand,
            Self::Or => old | operand,
            Self::Min => (old as i64).min(operand as i64) as u64,
            Self::Max => (old as i64).max(operand as i64) as u64,
            Self::MinU => old.min(operand),
            Self::MaxU => old.max(operand),
        }
    }

    /// The same of a 32-bit AMO: sign extension keeps the order of signed and of unsigned numbers.
    #[inline(always)]
    pub fn apply32(self, old: u32, operand: u32) -> u32 {
        let extended = |value: u32| value as i32 as u64;
        self.apply64(extended(old), extended(operand)) as u32
    }
}

/// Data memory of a hart: little-endian, any alignment for loads and stores, natural alignment for
/// atomics (the interpreter checks it before it asks). Implementations are shared by harts, hence
/// `&self`.
///
/// Mark methods `#[inline(always)]`: what faults must stay inside [`SECTION`](crate::SECTION).
pub trait Memory {
    /// How an access fails; [`Infallible`] if failures are host signals.
    type Fault: Into<Trap>;

    /// Loads a byte.
    fn load8(&self, addr: u64) -> Result<u8, Self::Fault>;
    /// Loads a half-word.
    fn load16(&self, addr: u64) -> Result<u16, Self::Fault>;
    /// Loads a word.
    fn load32(&self, addr: u64) -> Result<u32, Self::Fault>;
    /// Loads a doubleword.
    fn load64(&self, addr: u64) -> Result<u64, Self::Fault>;
    /// Stores a byte.
    fn store8(&self, addr: u64, value: u8) -> Result<(), Self::Fault>;
    /// Stores a half-word.
    fn store16(&self, addr: u64, value: u16) -> Result<(), Self::Fault>;
    /// Stores a word.
    fn store32(&self, addr: u64, value: u32) -> Result<(), Self::Fault>;
    /// Stores a doubleword.
    fn store64(&self, addr: u64, value: u64) -> Result<(), Self::Fault>;

    /// Atomically replaces the contents by [`AmoOp::apply32`] of them; sequentially consistent.
    /// Returns the old contents.
    fn amo32(&self, addr: u64, op: AmoOp, operand: u32) -> Result<u32, Self::Fault>;
    /// As [`Memory::amo32`].
    fn amo64(&self, addr: u64, op: AmoOp, operand: u64) -> Result<u64, Self::Fault>;

    /// Atomically stores `new` if the contents are `old`; sequentially consistent. Did it?
    fn compare_exchange32(&self, addr: u64, old: u32, new: u32) -> Result<bool, Self::Fault>;
    /// As [`Memory::compare_exchange32`].
    fn compare_exchange64(&self, addr: u64, old: u64, new: u64) -> Result<bool, Self::Fault>;

    /// Loads a word, which it reserves for the hart.
    #[inline(always)]
    fn load_reserved32(&self, addr: u64) -> Result<u32, Self::Fault> {
        self.load32(addr)
    }
    /// As [`Memory::load_reserved32`].
    #[inline(always)]
    fn load_reserved64(&self, addr: u64) -> Result<u64, Self::Fault> {
        self.load64(addr)
    }

    /// Atomically stores `new` if the hart's reservation of the address is not broken. `old` is what
    /// the load-reserved has read: a memory that keeps no reservations compares with it. Did it?
    #[inline(always)]
    fn store_conditional32(&self, addr: u64, old: u32, new: u32) -> Result<bool, Self::Fault> {
        self.compare_exchange32(addr, old, new)
    }
    /// As [`Memory::store_conditional32`].
    #[inline(always)]
    fn store_conditional64(&self, addr: u64, old: u64, new: u64) -> Result<bool, Self::Fault> {
        self.compare_exchange64(addr, old, new)
    }

    /// Would a load of some bytes at `addr`, within one page, complete? Asked where a refused load is
    /// no [`Err`](Result::Err).
    #[inline(always)]
    fn may_load(&self, _addr: u64) -> bool {
        true
    }

    /// Orders everything before it before everything after it.
    fn fence(&self);
}

/// Guest addresses are addresses of this process. An access is one host instruction of its width,
/// with no check before it.
///
/// All accesses are inline assembly: one access each, of any alignment, which the compiler neither
/// moves, splits nor removes, and before which it has stored the hart.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    _only_by_new: (),
}

impl Identity {
    /// # Safety
    /// Code run on this memory may access any address: the caller vouches for the guest code as for
    /// any other code of the program.
    pub const unsafe fn new() -> Self {
        Self { _only_by_new: () }
    }
}

macro_rules! load {
    ($name:ident, $ty:ty, $out:ident, $insn:literal) => {
        #[inline(always)]
        fn $name(&self, addr: u64) -> Result<$ty, Infallible> {
            let value: $out;
            // SAFETY: see `Identity::new`.
            unsafe {
                asm!($insn, v = lateout(reg) value, a = in(reg) addr,
                    options(nostack, preserves_flags));
            }
            Ok(value as $ty)
        }
    };
}

macro_rules! store {
    ($name:ident, $ty:ty, $class:ident, $insn:literal) => {
        #[inline(always)]
        fn $name(&self, addr: u64, value: $ty) -> Result<(), Infallible> {
            // SAFETY: see `Identity::new`.
            unsafe {
                asm!($insn, v = in($class) value, a = in(reg) addr,
                    options(nostack, preserves_flags));
            }
            Ok(())
        }
    };
}

macro_rules! compare_exchange {
    ($name:ident, $ty:ty, $acc:tt, $insn:literal) => {
        /// Stores `new` if the contents are `old`; returns the contents found.
        ///
        /// # Safety
        /// As [`Identity::new`].
        #[inline(always)]
        unsafe fn $name(addr: u64, old: $ty, new: $ty) -> $ty {
            let found;
            // SAFETY: by the caller.
            unsafe {
                asm!($insn, n = in(reg) new, a = in(reg) addr, inout($acc) old => found,
                    options(nostack));
            }
            found
        }
    };
}

compare_exchange!(cmpxchg32, u32, "eax", "lock cmpxchg dword ptr [{a}], {n:e}");
compare_exchange!(cmpxchg64, u64, "rax", "lock cmpxchg qword ptr [{a}], {n:r}");

macro_rules! amo {
    ($name:ident, $ty:ty, $load:ident, $apply:ident, $cmpxchg:ident, $xchg:literal, $xadd:literal) => {
        #[inline(always)]
        fn $name(&self, addr: u64, op: AmoOp, operand: $ty) -> Result<$ty, Infallible> {
            let mut old;
            match op {
                // SAFETY: see `Identity::new`.
                AmoOp::Swap => unsafe {
                    asm!($xchg, v = inout(reg) operand => old, a = in(reg) addr,
                        options(nostack, preserves_flags));
                },
                // SAFETY: see `Identity::new`.
                AmoOp::Add => unsafe {
                    asm!($xadd, v = inout(reg) operand => old, a = in(reg) addr, options(nostack));
                },
                _ => {
                    old = self.$load(addr)?;
                    loop {
                        // SAFETY: see `Identity::new`.
                        let found = unsafe { $cmpxchg(addr, old, op.$apply(old, operand)) };
                        if found == old {
                            break;
                        }
                        old = found;
                    }
                }
            }
            Ok(old)
        }
    };
}

impl Memory for Identity {
    type Fault = Infallible;

    load!(load8, u8, u32, "movzx {v:e}, byte ptr [{a}]");
    load!(load16, u16, u32, "movzx {v:e}, word ptr [{a}]");
    load!(load32, u32, u32, "mov {v:e}, dword ptr [{a}]");
    load!(load64, u64, u64, "mov {v:r}, qword ptr [{a}]");
    store!(store8, u8, reg_byte, "mov byte ptr [{a}], {v}");
    store!(store16, u16, reg, "mov word ptr [{a}], {v:x}");
    store!(store32, u32, reg, "mov dword ptr [{a}], {v:e}");
    store!(store64, u64, reg, "mov qword ptr [{a}], {v:r}");
    amo!(
        amo32,
        u32,
        load32,
        apply32,
        cmpxchg32,
        "xchg dword ptr [{a}], {v:e}",
        "lock xadd dword ptr [{a}], {v:e}"
    );
    amo!(
        amo64,
        u64,
        load64,
        apply64,
        cmpxchg64,
        "xchg qword ptr [{a}], {v:r}",
        "lock xadd qword ptr [{a}], {v:r}"
    );

    #[inline(always)]
    fn compare_exchange32(&self, addr: u64, old: u32, new: u32) -> Result<bool, Infallible> {
        // SAFETY: see `Identity::new`.
        Ok(unsafe { cmpxchg32(addr, old, new) } == old)
    }

    #[inline(always)]
    fn compare_exchange64(&self, addr: u64, old: u64, new: u64) -> Result<bool, Infallible> {
        // SAFETY: see `Identity::new`.
        Ok(unsafe { cmpxchg64(addr, old, new) } == old)
    }

    /// The kernel reads there, and says whether it can. The page may have to be brought in first, as
    /// for a load.
    #[inline(never)]
    fn may_load(&self, addr: u64) -> bool {
        const EFAULT: i64 = 14;
        let mut result = libc::SYS_rt_sigprocmask;
        // SAFETY: reads 8 bytes, and changes nothing, because there is no such way of changing the
        // mask. It is no call of a function, since the program may have defined one of that name.
        unsafe {
            asm!(
                "syscall",
                inout("rax") result,
                in("rdi") -1_i64,
                in("rsi") addr & !7,
                in("rdx") 0,
                in("r10") 8,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        result != -EFAULT
    }

    #[inline(always)]
    fn fence(&self) {
        // SAFETY: touches nothing.
        unsafe { asm!("mfence", options(nostack, preserves_flags)) };
    }
}
