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

/// From now on failures are printed.
pub fn begin(map: &MachineMap) {
    MAP.set(*map);
}

/// The hart's record, if it runs programs: the stack is in its page.
fn local() -> Option<&'static HartLocal> {
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
    }
    devices::end_machine(map, FAILED)
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
