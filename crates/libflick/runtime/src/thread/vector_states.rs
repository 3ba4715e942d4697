//! The vector states of a thread's NxP code, which are made when it first executes a vector
//! instruction.
//!
//! Functions keep no vector register for their callers (RISC-V psABI, "Vector Register Convention").
//! So the activations of a thread may have one state, as long as each is left by a call. A handler of a
//! signal is not called: what it interrupts goes on with its own vector registers. Therefore each state
//! has an owner, the activation that has used it last. Another activation takes it only if the owner is
//! not alive, or has called the host. There are as many states as handlers interrupt each other in
//! vector code, and one more.
//!
//! A handler may come between any two instructions of these functions, and takes a state itself. It
//! leaves those alone whose owners it has interrupted, and when it has ended, the state that it has
//! taken has a dead owner.
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::Relaxed};

use flick_engine::Hart;
use flick_engine::vector::VectorState;

use super::activation::Activation;
use crate::memory::nxp_stack::{self, Stack};
use crate::os::fatal;
use crate::os::signal_mask::BlockedSignals;

/// A state, in memory of its own.
struct Owned {
    state: VectorState,
    owner: AtomicPtr<Activation>,
    older: *mut Owned,
    memory: Stack,
}

/// The states of a thread; all zero: none.
#[derive(Default)]
pub struct VectorStates {
    newest: AtomicPtr<Owned>,
}

/// Whether a module has code with vector instructions. Without one they are illegal.
static IN_USE: AtomicBool = AtomicBool::new(false);
/// Bits of a vector register.
static VLEN: AtomicU32 = AtomicU32::new(0);
/// A state has been made, so that VLEN stays.
static IS_FIXED: AtomicBool = AtomicBool::new(false);

/// VLEN, unless `FLICK_VLEN` or a module asks for more: the least that the V extension allows.
pub const LEAST_VLEN: u32 = 128;

/// Finds the state of a hart of this process.
pub type StateOf = fn(&Hart) -> Option<NonNull<VectorState>>;

/// A module comes whose code needs registers of `least` bits. Answers with their size; `Err` if that is
/// less. `wanted`: what the environment says.
///
/// `state_of` finds the state of the activation whose hart it gets.
pub fn announce(least: u32, wanted: Option<u32>, state_of: StateOf) -> Result<u32, u32> {
    let now = VLEN.load(Relaxed);
    let vlen = match wanted {
        Some(wanted) => wanted,
        None if IS_FIXED.load(Relaxed) => now,
        None => now.max(least).max(LEAST_VLEN),
    };
    if vlen < least {
        return Err(vlen);
    }
    VLEN.store(vlen, Relaxed);
    if !IN_USE.swap(true, Relaxed) {
        flick_engine::vector::set_process_states(state_of);
    }
    Ok(vlen)
}

/// Registers have so many bits at least, unless `FLICK_VLEN` says otherwise. Call before modules come.
pub fn prefer(vlen: u32) {
    VLEN.fetch_max(vlen, Relaxed);
}

/// Bits of a vector register.
pub fn vlen() -> u32 {
    VLEN.load(Relaxed)
}

impl VectorStates {
    fn all(&self) -> impl Iterator<Item = NonNull<Owned>> {
        let newest = NonNull::new(self.newest.load(Relaxed));
        // SAFETY: states live as long as the thread.
        std::iter::successors(newest, |one| NonNull::new(unsafe { (*one.as_ptr()).older }))
    }

    /// The state that `act` has used last.
    fn owned_by(&self, act: *mut Activation) -> Option<NonNull<Owned>> {
        // SAFETY: as above.
        self.all()
            .find(|one| unsafe { (*one.as_ptr()).owner.load(Relaxed) } == act)
    }

    /// The state of `act`. `is_alive`: an activation of the thread has not ended.
    #[inline]
    pub fn of(
        &self,
        act: *mut Activation,
        is_alive: impl Fn(*mut Activation) -> bool,
    ) -> NonNull<VectorState> {
        match self.owned_by(act) {
            // SAFETY: as above; the state is its first field.
            Some(one) => unsafe { NonNull::new_unchecked(&raw mut (*one.as_ptr()).state) },
            None => self.take(act, is_alive),
        }
    }

    /// A state that nobody needs any more becomes that of `act`, or a new one.
    #[cold]
    fn take(
        &self,
        act: *mut Activation,
        is_alive: impl Fn(*mut Activation) -> bool,
    ) -> NonNull<VectorState> {
        let is_free = |one: &NonNull<Owned>| {
            // SAFETY: as above; activations that are known have their frames.
            unsafe {
                let owner = (*one.as_ptr()).owner.load(Relaxed);
                !is_alive(owner) || (*owner).in_host()
            }
        };
        let one = self.all().find(is_free).unwrap_or_else(|| self.add());
        // SAFETY: as above. Whoever has come in between and taken it has ended by now.
        unsafe {
            (*one.as_ptr()).owner.store(act, Relaxed);
            (*one.as_ptr()).state.begin_anew();
            NonNull::new_unchecked(&raw mut (*one.as_ptr()).state)
        }
    }

    /// In NxP-local memory: a mapping of its own could land where the program has just unmapped
    /// something.
    fn add(&self) -> NonNull<Owned> {
        let _blocked = BlockedSignals::new();
        IS_FIXED.store(true, Relaxed);
        let Some(memory) = nxp_stack::acquire_small(size_of::<Owned>()) else {
            fatal::exit(
                "FLK0503",
                "no room in NxP-local memory for a thread's vector registers",
                "run fewer threads at a time, lower their stack size, or raise RLIMIT_AS",
            )
        };
        let one = memory.lo as *mut Owned;
        // SAFETY: the memory is new, large enough and aligned to a page; `announce` has checked VLEN.
        unsafe {
            VectorState::make_at(&raw mut (*one).state, VLEN.load(Relaxed));
            (&raw mut (*one).owner).write(AtomicPtr::new(ptr::null_mut()));
            (&raw mut (*one).older).write(self.newest.load(Relaxed));
            (&raw mut (*one).memory).write(memory);
            self.newest.store(one, Relaxed);
            NonNull::new_unchecked(one)
        }
    }

    /// What `act` has noted for handlers of faults in its vector instruction; 0: it executes none by
    /// the handlers of translated code. Async-signal-safe.
    pub fn caller(&self, act: *mut Activation) -> usize {
        // SAFETY: as above.
        self.owned_by(act)
            .map_or(0, |one| unsafe { (*one.as_ptr()).state.caller() })
    }

    /// `act` goes on behind `longjmp` or in a landing pad. What it leaves may be in the middle of an
    /// instruction.
    pub fn left(&self, act: *mut Activation) {
        if let Some(one) = self.owned_by(act) {
            // SAFETY: as above; nothing of its owner's is executed.
            unsafe { (*one.as_ptr()).state.begin_anew() };
        }
    }

    /// `act` is left, perhaps in the middle of an instruction. Another activation may come to its address.
    pub fn disown(&self, act: *mut Activation) {
        if let Some(one) = self.owned_by(act) {
            // SAFETY: as above.
            unsafe { (*one.as_ptr()).owner.store(ptr::null_mut(), Relaxed) };
        }
    }

    /// At the thread's end.
    pub fn release(self) {
        let mut next = self.newest.into_inner();
        while !next.is_null() {
            // SAFETY: as above; nobody has the state any more.
            let (older, memory) = unsafe { ((*next).older, (&raw const (*next).memory).read()) };
            nxp_stack::release(memory);
            next = older;
        }
    }
}
