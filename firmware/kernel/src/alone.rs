//! The kernel of a tile with one hart (feature `alone`), which runs the kernel and the threads of the host.
//! A trap of a thread is served where it happens, and interrupts are traps, too.
use flick_kernel_core::context::Context;
use flick_kernel_core::lines::{PREEMPTED, command};

use crate::csr;
use crate::hart_page::{HartLocal, HartPage};
use crate::kernel::Kernel;
use crate::kernel_hart::{attend, next_event, state};
use crate::trace_points::point;
use crate::user_hart::{remote, wait};

/// Executes what a trap of the hart's thread asks for. Returns the context that goes on.
#[unsafe(link_section = ".text.user_hart")]
pub fn serve(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    let hart = local.hart as u8;
    point!("ask");
    with_kernel(|kernel| {
        point!("serve", hart);
        kernel.serve_call(hart, number, HartPage::of(local), || arguments);
        // A timer that is too early does no harm.
        let next = next_event(kernel);
        if next < kernel.timer {
            set_timer(kernel, next);
        }
    });
    wait(local)
}

/// An interrupt has stopped the thread. Returns the context that goes on.
#[unsafe(link_section = ".text.user_hart")]
pub fn interrupted(local: &mut HartLocal) -> *mut Context {
    with_kernel(attend_and_set_timer);
    match take_own(local) & command::PREEMPT {
        0 => local.context,
        _ => remote(local, PREEMPTED, [0; 6]),
    }
}

/// How the hart goes on. It sleeps until there is something.
#[unsafe(link_section = ".text.user_hart")]
pub fn take_flags(local: &mut HartLocal, _: u32) -> u64 {
    loop {
        let own = take_own(local);
        if own != 0 {
            return own;
        }
        let is_idle = with_kernel(|kernel| {
            attend_and_set_timer(kernel);
            !HartPage::of(local).has_own()
        });
        if is_idle {
            csr::wait();
        }
    }
}

/// What the kernel has told its own hart, as bits of `command`.
#[inline(always)]
pub fn take_own(local: &mut HartLocal) -> u64 {
    HartPage::of(local).take_own()
}

fn attend_and_set_timer(kernel: &mut Kernel) {
    attend(kernel);
    let next = next_event(kernel);
    if next != kernel.timer {
        set_timer(kernel, next);
    }
}

fn set_timer(kernel: &mut Kernel, next: u64) {
    kernel.timer = next;
    kernel.harts.clint.set_timer(kernel.map.kernel_hart, next);
}

/// Calls `f` with the kernel.
fn with_kernel<R>(f: impl FnOnce(&mut Kernel) -> R) -> R {
    // SAFETY: the hart is alone, and takes no traps in the kernel. `f` calls nothing that asks for the
    // kernel, as calls of this function are not nested.
    f(unsafe { &mut *state() })
}
