//! The symmetric kernel (feature `symmetric`), to measure the asymmetric one against: each hart executes
//! the calls of its threads itself, with locks (`locks.rs`). The bodies of calls are the same. The kernel
//! hart has what is nobody's call: time, input and messages of other tiles.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{Call, USER_END};
use flick_abi::dtu::{self, CommandWord, Error as UnitError};
use flick_kernel_core::context::Context;
use flick_kernel_core::frames::Frames;
use flick_kernel_core::lines::{EXCEPTION, command};
use flick_kernel_core::page_tables::PageTables;

use crate::calls::wanted;
use crate::direct::Direct;
use crate::dtu::{HARTS, KERNEL, Unit};
use crate::hart_page::{HartLocal, HartPage};
use crate::kernel::{FRAMES, Kernel};
use crate::kernel_hart::{INTERRUPTS, attend, next_event};
use crate::locks::{Held, Part};
use crate::trace_points::point;
use crate::user_hart::{SOFTWARE, forget_translations, wait};
use crate::{csr, csr_read, csr_write, hart_unit};

/// Bodies that change page tables before they use frames: both are of the memory's lock.
fn changes_tables(number: u64) -> bool {
    let call = Call::from_number(number);
    matches!(
        call,
        Some(Call::MemoryUnmap | Call::MemoryProtect | Call::ProcessCopy | Call::ProcessMap)
    )
}

/// Executes the call of the hart's thread, or what a trap has to say. Returns the context that goes on.
#[unsafe(link_section = ".text.user_hart")]
pub fn serve(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    let hart = local.hart as u8;
    if number == Call::KernelNothing as u64 {
        // SAFETY: the hart's own thread.
        unsafe { (*local.context).set_values([0; 2]) };
        return local.context;
    }
    if number == EXCEPTION && is_first_access(local, arguments) {
        take_own(local);
        return local.context;
    }
    point!("ask");
    let mut kernel = Held::take();
    point!("serve", hart);
    if changes_tables(number) {
        kernel.frames.take();
    }
    kernel.serve_call(hart, number, HartPage::of(local), || arguments);
    let next = next_event(&kernel);
    if next < TIMER.load(Ordering::Relaxed) {
        set_timer(&kernel, next);
    }
    drop(kernel);
    wait(local)
}

/// How the hart goes on, if it is known; else 0. Behind [`obey`] it forgets what it has looked up.
#[inline(always)]
pub fn take_own(local: &mut HartLocal) -> u64 {
    let flags = HartPage::of(local).take_own();
    if flags & command::INVALIDATE != 0 {
        hart_unit::forget(local);
    }
    flags & !command::INVALIDATE
}

/// The first access of a page, which nobody has translations of: with the memory's lock alone, the page
/// gets its memory.
fn is_first_access(local: &HartLocal, [cause, address, ..]: [u64; 6]) -> bool {
    let Some(right) = wanted(cause).filter(|_| address < USER_END) else {
        return false;
    };
    // SAFETY: the hart's own thread.
    let tables = PageTables::of(unsafe { (*local.context).satp });
    let mut part = Part::new(&FRAMES);
    let frames: &mut Frames = &mut part;
    let is_first = tables.awaits_memory(address, &mut Direct);
    is_first && tables.resolve(address, right, frames, &mut Direct).is_ok()
}

/// When the kernel hart looks at time again.
static TIMER: AtomicU64 = AtomicU64::new(u64::MAX);

fn set_timer(kernel: &Kernel, next: u64) {
    TIMER.store(next, Ordering::Relaxed);
    kernel.harts.clint.set_timer(kernel.map.kernel_hart, next);
}

/// The kernel hart, which had the lock of threads while it began.
pub fn attend_for_ever(begun: Held) -> ! {
    drop(begun);
    // SAFETY: interrupts end `wfi`, and are not taken.
    unsafe { csr_write!(mie, INTERRUPTS) };
    loop {
        let mut kernel = Held::take();
        attend(&mut kernel);
        let next = next_event(&kernel);
        set_timer(&kernel, next);
        drop(kernel);
        csr::wait();
    }
}

/// A command of the kernel to the unit. The bank of a user hart has another activity otherwise.
pub fn command(unit: &Unit, word: CommandWord) -> Result<u64, UnitError> {
    let Some(page) = HartPage::own() else {
        return unit.execute(word);
    };
    // SAFETY: the hart's own record.
    let bank = dtu::current(unsafe { (*page.local()).hart } as usize);
    unit.set(bank, KERNEL.into());
    let result = unit.execute(word);
    unit.set(bank, HARTS.into());
    result
}

/// A hart that waits in the kernel forgets pages, if another one waits for that. What else it shall do
/// comes with the interrupt, when the thread goes on.
pub fn obey() {
    if csr_read!(mip) & SOFTWARE == 0 {
        return;
    }
    let Some(page) = HartPage::own() else { return };
    let flags = page.command.take();
    if flags & command::INVALIDATE != 0 {
        forget_translations(page);
        page.tell_own(command::INVALIDATE);
    }
    if flags & !command::INVALIDATE != 0 {
        let _ = page.command.give(flags & !command::INVALIDATE);
    }
}
