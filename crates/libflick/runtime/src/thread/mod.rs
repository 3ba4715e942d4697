//! Per-thread state, made at a thread's first crossing and returned when the thread ends.
pub(crate) mod activation;
pub(crate) mod activations;
pub(crate) mod crossing_code;
pub(crate) mod entered;
pub(crate) mod vector_states;

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use flick_engine::vector::VectorState;
use flick_engine::{CodeRegion, Hart};
use flick_translator::LEAST_STACK;

use crate::memory::nxp_stack::{self, Stack};
use crate::modules::address_meaning::{Target, TargetCache};
use crate::modules::signatures::Plan;
use crate::os::fatal;
use crate::os::host_stack::{self, HostStack};
use crate::os::signal_mask::BlockedSignals;
use crate::os::thread_pointer;
use crate::thread::activation::Activation;
use crate::thread::activations::ActivationStack;
use crate::thread::vector_states::VectorStates;

#[repr(C)]
pub struct Thread {
    // What each crossing looks at is near the start.
    pub active: ActivationStack,
    /// The least stack pointer at which [`crate::crossing::fast_path`] calls translated code, and how
    /// many there are from there on; none if `frm` is not 0.
    pub least: usize,
    pub span: usize,
    /// Where the stack starts; above it is this record.
    pub stack_top: usize,
    /// The middle of the stack. The fast path enters a further activation above it alone.
    pub half: usize,
    pub host_stack: HostStack,
    /// This thread's stack in NxP-local memory.
    stack: Stack,
    frm: u16,
    /// Its end is known to the heap ([`crate::memory`]), which need not ask again.
    will_leave_heap: bool,
    /// Where handlers run after an overflow of `stack`, from the first one on.
    spare: Option<Stack>,
    /// See [`vector_states`].
    pub vectors: VectorStates,
    /// The tile of the card that the thread has chosen for functions without one.
    preferred_tile: Option<u16>,
    targets: TargetCache,
}

/// The vector state of the activation whose hart this is, which the calling thread executes.
pub fn vector_state_of(hart: &Hart) -> Option<NonNull<VectorState>> {
    let act = ptr::from_ref(hart).cast::<Activation>().cast_mut();
    // SAFETY: the calling thread executes the hart of one of its activations.
    let thread = unsafe { Current::crossed() };
    let is_alive = |owner| thread.activations().any(|known| known == owner);
    Some(thread.vectors.of(act, is_alive))
}

/// The calling thread's state. A handle stays in its thread, whose state lives until the thread's
/// last destructors, in which nothing of the crossing is on the stack any more. So the state is
/// there as long as the handle. Async-signal-safe: a handler of the thread may change the state
/// between two calls.
#[derive(Clone, Copy)]
pub struct Current(NonNull<Thread>);

impl Current {
    /// `None` before the thread's first crossing.
    #[inline]
    pub fn get() -> Option<Self> {
        NonNull::new(pointer()).map(Self)
    }

    /// Made if this is the thread's first crossing.
    #[inline]
    pub fn get_or_make() -> Self {
        Self::get().unwrap_or_else(create)
    }

    /// The same for the crossing, which asks often.
    ///
    /// # Safety
    /// The thread has crossed: it has an activation.
    #[inline]
    pub unsafe fn crossed() -> Self {
        // SAFETY: by contract the state has been made.
        Self(unsafe { NonNull::new_unchecked(pointer()) })
    }

    /// Tells the thread from others that live.
    pub fn number(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// How many activations the calling thread has.
    pub fn depth() -> usize {
        Self::get().map_or(0, |thread| thread.activations().count())
    }

    /// See [`Thread::frm`].
    #[inline]
    pub fn set_frm(mut self, frm: u16) {
        // SAFETY: the thread's own state, of which nobody has a reference over this call.
        unsafe { self.0.as_mut() }.set_frm(frm);
    }

    /// See [`TargetCache::resolve`].
    #[inline]
    pub fn resolve(mut self, target: u64) -> Target {
        // SAFETY: as above; the slots of the cache bear handlers.
        unsafe { self.0.as_mut() }.targets.resolve(target)
    }

    /// See [`TargetCache::plan`].
    ///
    /// # Safety
    /// As for that.
    #[inline]
    pub unsafe fn plan(mut self, text: *const u8) -> &'static Plan {
        // SAFETY: as above; else by contract.
        unsafe { self.0.as_mut().targets.plan(text) }
    }

    /// Where a handler starts after an overflow of the NxP stack, whose frames stay as they are;
    /// `None` if there is no room for such a stack.
    #[cold]
    pub fn spare_top(mut self) -> Option<u64> {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }.spare_top()
    }

    /// See [`Thread::preferred_tile`].
    pub fn prefer_tile(mut self, tile: Option<u16>) {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }.preferred_tile = tile;
    }

    /// The heap knows of the thread's end.
    pub fn leaves_heap(mut self) {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }.will_leave_heap = true;
    }
}

impl Deref for Current {
    type Target = Thread;

    #[inline]
    fn deref(&self) -> &Thread {
        // SAFETY: the state lives as long as the handle.
        unsafe { self.0.as_ref() }
    }
}

/// The calling thread's state, or null.
#[inline]
fn pointer() -> *mut Thread {
    // SAFETY: the slot is this thread's own.
    unsafe { *slot().cast::<*mut Thread>() }
}

std::arch::global_asm!(
    // Initial-exec thread-local storage: found without a call. Rust has no stable way to ask for
    // it.
    ".pushsection .tbss.flick_thread,\"awT\",@nobits",
    ".globl __flick_thread",
    ".hidden __flick_thread",
    ".type __flick_thread,@object",
    ".size __flick_thread, 8",
    ".p2align 3",
    "__flick_thread:",
    ".zero 8",
    ".popsection",
);

impl Thread {
    pub const FRM: usize = offset_of!(Thread, frm);

    /// [`flick_engine::Hart::frm`] between activations: the floating-point environment is one per
    /// thread (`docs/decisions.md`, 6).
    pub fn frm(&self) -> u16 {
        self.frm
    }

    fn set_frm(&mut self, frm: u16) {
        if self.frm != frm {
            self.frm = frm;
            self.span = match frm {
                0 => span(self.least, &self.host_stack),
                _ => 0,
            };
        }
    }

    /// Whether the heap knows of the thread's end.
    #[inline]
    pub fn will_leave_heap(&self) -> bool {
        self.will_leave_heap
    }

    /// The tile of the card that the thread has chosen for functions without one.
    pub fn preferred_tile(&self) -> Option<u16> {
        self.preferred_tile
    }

    /// See [`TargetCache::region`].
    #[inline]
    pub fn region(&self, address: u64) -> *const CodeRegion {
        self.targets.region(address)
    }

    /// Lowest address of the NxP stack.
    #[inline]
    pub fn stack_low(&self) -> usize {
        self.stack.lo
    }

    /// See [`ActivationStack::all`].
    pub fn activations(&self) -> impl Iterator<Item = *mut Activation> {
        self.active.all(|at| self.has_gap(at))
    }

    /// Drops the newest activation, which exists.
    #[inline]
    pub fn pop(&self) {
        self.active.pop(|at| self.has_gap(at));
    }

    /// Whether there is memory for an activation that is entered at `sp`.
    pub fn has_gap(&self, sp: u64) -> bool {
        let is_in = |low: usize, high: usize| {
            sp >= low as u64 && sp <= (high as u64).saturating_sub(activations::GAP)
        };
        let own = is_in(self.stack.lo, self.stack_top);
        let is_there = own
            || self
                .spare
                .as_ref()
                .is_some_and(|spare| is_in(spare.lo, spare.hi));
        is_there && sp.is_multiple_of(16)
    }

    /// `sp` lies in the guard of the NxP stack: what called has overflown it.
    #[cold]
    pub fn has_overflown(&self, sp: u64) -> bool {
        nxp_stack::guard_of(sp as usize).is_some_and(|(low, _)| low == self.stack.lo)
    }

    /// The spare stack, if `sp` is a stack pointer there.
    pub fn spare_with(&self, sp: u64) -> Option<&Stack> {
        let has = |spare: &&Stack| (spare.lo as u64 + 1..=spare.hi as u64).contains(&sp);
        self.spare.as_ref().filter(has)
    }

    fn spare_top(&mut self) -> Option<u64> {
        if self.spare.is_none() {
            let _blocked = BlockedSignals::new();
            self.spare = nxp_stack::acquire_spare(self.stack_top - self.half);
        }
        let top = |spare: &Stack| spare.hi as u64 - activations::GAP;
        self.spare.as_ref().map(top)
    }
}

#[inline]
fn slot() -> *mut UnsafeCell<*mut Thread> {
    thread_pointer::of_thread!("__flick_thread") as *mut UnsafeCell<*mut Thread>
}

/// Where a thread has the address of its state, from the thread pointer; the same in all threads.
pub fn offset_of_pointer() -> usize {
    (slot() as usize).wrapping_sub(thread_pointer::pointer())
}

/// Async-signal-safe: a thread's first crossing may be in a signal handler.
#[cold]
fn create() -> Current {
    let _blocked = BlockedSignals::new();
    let host_stack = HostStack::current();
    let size = nxp_stack::size_for(host_stack.size());
    // A mapping of its own could land where the program has just unmapped something. So the state
    // lies above the NxP stack, in the region.
    let state = size_of::<Thread>().next_multiple_of(4096);
    let Some(stack) = nxp_stack::acquire(size + state) else {
        fatal::exit(
            "FLK0503",
            &format!("no room in NxP-local memory for a thread's stack of {size} bytes"),
            "run fewer threads at a time, lower their stack size, or raise RLIMIT_AS",
        )
    };
    let stack_top = stack.hi - state;
    let thread = stack_top as *mut Thread;
    // SAFETY: the memory is the new stack's, aligned to a page and large enough; the slot is this
    // thread's own; the key's destructor runs once per thread that set it.
    unsafe {
        (&raw mut (*thread).active).write(ActivationStack::new(stack_top as u64));
        (&raw mut (*thread).stack).write(stack);
        (&raw mut (*thread).spare).write(None);
        (&raw mut (*thread).vectors).write(VectorStates::default());
        (&raw mut (*thread).preferred_tile).write(None);
        (&raw mut (*thread).stack_top).write(stack_top);
        (&raw mut (*thread).half).write(stack_top - size / 2);
        let least = host_stack.limit + LEAST_STACK;
        (&raw mut (*thread).least).write(least);
        (&raw mut (*thread).span).write(span(least, &host_stack));
        (&raw mut (*thread).host_stack).write(host_stack);
        (&raw mut (*thread).frm).write(0);
        (&raw mut (*thread).will_leave_heap).write(false);
        TargetCache::init(&raw mut (*thread).targets);
        *slot().cast::<*mut Thread>() = thread;
        libc::pthread_setspecific(key(), thread.cast());
    }
    // SAFETY: the address of the memory above.
    Current(unsafe { NonNull::new_unchecked(thread) })
}

/// From `least` to the end of the stack; at an upper end that is not known, one less.
fn span(least: usize, stack: &HostStack) -> usize {
    let known = stack.high.checked_sub(least);
    known.map_or(0, |bytes| bytes.saturating_add(1))
}

fn key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `destroy` matches the pointers that `create` sets.
        if unsafe { libc::pthread_key_create(&mut key, Some(destroy)) } != 0 {
            fatal::exit(
                "FLK0402",
                "no thread-specific key is left (pthread_key_create)",
                "let the program use fewer keys",
            );
        }
        key
    })
}

/// Makes the key while the process is still young: programs may use up all keys later, and setting
/// a late key allocates.
pub fn init() {
    key();
    host_stack::init();
}

/// At the end of a thread. Later destructors of the same thread that cross make a new state.
unsafe extern "C" fn destroy(thread: *mut c_void) {
    let _blocked = BlockedSignals::new();
    // SAFETY: `thread` is what `create` made; no activation can be live any more.
    unsafe {
        *slot().cast::<*mut Thread>() = ptr::null_mut();
        let thread = thread.cast::<Thread>().read();
        let Thread {
            stack,
            spare,
            vectors,
            ..
        } = thread;
        vectors.release();
        if let Some(spare) = spare {
            nxp_stack::release(spare);
        }
        nxp_stack::release(stack);
    }
}
