//! Failures of the kernel itself.
use core::panic::PanicInfo;

use crate::devices::{self, Serial};
use crate::hart_page::HartLocal;
use crate::machine_map::MachineMap;
use crate::{csr, csr_read, user_hart};

/// What a failure needs, once the kernel hart has begun.
static MAP: spin_once::Once<MachineMap> = spin_once::Once::new();

/// The status with which a machine ends whose kernel has failed.
const FAILED: u64 = 70;
const MOST_CALLERS: usize = 16;

/// From now on failures are printed.
pub fn begin(map: &MachineMap) {
    MAP.set(*map);
}

/// The hart's record, if it runs programs: the stack is in its page.
fn local() -> Option<&'static HartLocal> {
    // The hart may have locks, so that the others cannot go on.
    if cfg!(any(feature = "symmetric", feature = "alone")) {
        return None;
    }
    let map = MAP.get()?;
    let is_kernel = map.hart_ids[map.kernel_hart] == csr_read!(mhartid);
    let sp: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mv {}, sp", out(reg) sp) };
    let page = (sp - 1) / flick_abi::card::PAGE * flick_abi::card::PAGE;
    // SAFETY: user harts have their stacks in their pages, with the record at this place.
    (!is_kernel).then(|| unsafe { &*((page + 128) as *const HartLocal) })
}

/// The kernel's code has an exception.
pub fn broken(cause: u64, pc: u64, value: u64) -> ! {
    if let Some(local) = local() {
        user_hart::report_broken(local, cause, pc, value);
    }
    stop(format_args!(
        "kernel: exception {cause} in the kernel at {pc:#x}, value {value:#x}\n"
    ))
}

fn stop(text: core::fmt::Arguments) -> ! {
    let Some(map) = MAP.get() else {
        loop {
            csr::wait();
        }
    };
    if let Some(base) = map.serial {
        let mut port = Port(Serial::new(base));
        let _: core::fmt::Result = core::fmt::Write::write_fmt(&mut port, text);
        print_callers(&mut port);
    }
    devices::end_machine(map, FAILED)
}

unsafe extern "C" {
    /// In `start.S` and `kernel.ld`: their addresses are the ends of the code, and of the kernel hart's
    /// stack.
    static _start: u8;
    static text_end: u8;
    static kernel_stack_end: u8;
}

/// Prints what on the stack may be return addresses: no frame says where another one begins.
fn print_callers(port: &mut Port) {
    let ends = [
        &raw const _start,
        &raw const text_end,
        &raw const kernel_stack_end,
    ];
    let [start, text, stack] = ends.map(|end| end.addr() as u64);
    let sp: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mv {}, sp", out(reg) sp) };
    // SAFETY: instructions of the kernel.
    let half = |at: u64| unsafe { (at as *const u16).read_volatile() };
    // SAFETY: words of the stack.
    let word = |at: u64| unsafe { (at as *const u64).read_volatile() };
    let is_behind_call = |at: u64| {
        let is_code = at & 1 == 0 && (start + 4..text).contains(&at);
        // `jal ra`, `jalr ra`, and `c.jalr`.
        is_code
            && (matches!(half(at - 4) & 0xfff, 0x0ef | 0x0e7) || half(at - 2) & 0xf07f == 0x9002)
    };
    let callers = (sp..stack)
        .step_by(8)
        .map(word)
        .filter(|&at| is_behind_call(at));
    for at in callers.take(MOST_CALLERS) {
        let text = format_args!("kernel:   called from {at:#x}\n");
        let _: core::fmt::Result = core::fmt::Write::write_fmt(port, text);
    }
}

struct Port(Serial);

impl core::fmt::Write for Port {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.bytes().for_each(|byte| self.0.write(byte));
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    if let Some(local) = local() {
        user_hart::report_broken(local, u64::MAX, 0, 0);
    }
    stop(format_args!("kernel: {info}\n"))
}

mod spin_once {
    //! A value that is set once, before other harts run.
    use core::cell::UnsafeCell;
    use core::sync::atomic::{AtomicBool, Ordering};

    pub struct Once<T> {
        value: UnsafeCell<Option<T>>,
        is_set: AtomicBool,
    }

    // SAFETY: `set` is called once, and readers wait for `is_set`.
    unsafe impl<T: Sync + Send> Sync for Once<T> {}

    impl<T> Once<T> {
        pub const fn new() -> Self {
            Self {
                value: UnsafeCell::new(None),
                is_set: AtomicBool::new(false),
            }
        }

        pub fn set(&self, value: T) {
            // SAFETY: the kernel hart calls this once, and nobody reads before `is_set`.
            unsafe { *self.value.get() = Some(value) };
            self.is_set.store(true, Ordering::Release);
        }

        pub fn get(&self) -> Option<&T> {
            let is_set = self.is_set.load(Ordering::Acquire);
            // SAFETY: it does not change after it was set.
            is_set
                .then(|| unsafe { (*self.value.get()).as_ref() })
                .flatten()
        }
    }
}
