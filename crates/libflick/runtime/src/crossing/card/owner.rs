//! The calling thread as an owner: its slot, and what the card knows of it.
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

use flick_abi::descriptor::{HOST_TILES, OWNERS};

use super::card_library::Machine;
use super::ordered;
use super::token::{self, Loan};
use crate::accounts::timed::{card_time, order};
use crate::os::fatal;
use crate::os::signal_mask::BlockedSignals;

/// What an owner knows of itself. Its thread alone uses it, and a debugger's script reads it.
#[repr(C)]
struct Own {
    /// The thread, as the kernel numbers it; 0: none.
    thread: Cell<u64>,
    /// The hart that it executes on, if its code was not interrupted for good: [`Loan::word`].
    loan: Cell<u64>,
    /// The last hint of its code.
    hint: Cell<u64>,
    /// By tile: the activation whose registers that has.
    kept: [Cell<u64>; HOST_TILES],
}

struct All([Own; OWNERS]);

// SAFETY: the thread that has a slot uses its record alone.
unsafe impl Sync for All {}

static ALL: All = All([const {
    Own {
        thread: Cell::new(0),
        loan: Cell::new(0),
        hint: Cell::new(0),
        kept: [const { Cell::new(0) }; HOST_TILES],
    }
}; OWNERS]);

/// The calling thread's slot.
#[derive(Clone, Copy)]
pub struct Owner(u32);

static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();

/// Makes the key by which threads find their slots, while the process is young.
pub fn init() {
    key();
}

fn key() -> libc::pthread_key_t {
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `thread_ends` matches the values that `of_thread` sets.
        if unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) } != 0 {
            fatal::exit(
                "FLK0402",
                "no thread-specific key is left (pthread_key_create)",
                "let the program use fewer keys",
            );
        }
        key
    })
}

/// The value of the key is the slot's number and 1.
unsafe extern "C" fn thread_ends(value: *mut c_void) {
    let _blocked = BlockedSignals::new();
    Owner(value as usize as u32 - 1).end();
}

/// For a debugger's script: where the records of owners are, and the bytes of one. It begins with its thread and
/// with its loan.
pub fn records() -> [u64; 2] {
    [ALL.0.as_ptr() as u64, size_of::<Own>() as u64]
}

/// Keeps others out of the machine, until [`token::release`].
pub fn hold() {
    let owner = Owner::if_any();
    match owner.and_then(Owner::take_loan) {
        Some(loan) if token::take_back(loan) => {
            if order::is_on() {
                token::hold();
            }
            // SAFETY: the thread has the token, and blocks all signals.
            token::give_up(&mut unsafe { Machine::get() }, loan);
        }
        _ => token::hold(),
    }
}

/// Behind it, in the child.
pub fn end_fork_in_child() {
    token::end_fork_in_child(Owner::if_any().map(Owner::slot));
}

impl Owner {
    /// That of the calling thread, if it has one.
    pub fn if_any() -> Option<Self> {
        // SAFETY: the key is made.
        let value = unsafe { libc::pthread_getspecific(key()) } as usize as u32;
        value.checked_sub(1).map(Self)
    }

    /// That of the calling thread, which gets one if it has none. All signals are blocked.
    pub fn of_thread() -> Self {
        if let Some(own) = Self::if_any() {
            return own;
        }
        let Some(slot) = token::take_slot() else {
            fatal::exit(
                "FLK0510",
                &format!("more than {OWNERS} threads are on the card"),
                "let fewer threads call NxP functions at a time",
            )
        };
        // SAFETY: as above.
        unsafe { libc::pthread_setspecific(key(), (slot + 1) as usize as *const c_void) };
        let owner = Self(slot);
        // SAFETY: gettid(2) cannot fail.
        owner.own().thread.set(unsafe { libc::gettid() } as u64);
        owner
    }

    /// The calling thread, whose owner this is, ends. True.
    pub fn end(self) -> bool {
        self.leave_code();
        self.own().kept.iter().for_each(|kept| kept.set(0));
        self.set_hint(0);
        self.own().thread.set(0);
        // SAFETY: the key is made.
        unsafe { libc::pthread_setspecific(key(), std::ptr::null()) };
        ordered::end(self.0, card_time::now());
        true
    }

    /// The calling thread has left the code that it has executed on a hart, if there is such code.
    pub fn leave_code(self) {
        let Some(loan) = self.take_loan() else { return };
        if !token::take_back(loan) {
            return;
        }
        if order::is_on() {
            ordered::give_up(loan);
        } else {
            // SAFETY: the thread has got the token with the loan, and blocks all signals.
            token::give_up(&mut unsafe { Machine::get() }, loan);
            token::leave(self.slot(), &None);
        }
    }

    pub fn slot(self) -> u32 {
        self.0
    }

    fn own(self) -> &'static Own {
        &ALL.0[self.0 as usize]
    }

    pub fn set_loan(self, loan: Loan) {
        self.own().loan.set(loan.word());
    }

    /// The loan of the code that the thread executes, or that a handler has interrupted.
    pub fn take_loan(self) -> Option<Loan> {
        Loan::from_word(self.own().loan.take())
    }

    /// The activation whose registers a tile has.
    pub fn kept(self, tile: u16) -> u64 {
        self.own().kept[usize::from(tile)].get()
    }

    /// The same, without taking it.
    pub fn loan(self) -> Option<Loan> {
        Loan::from_word(self.own().loan.get())
    }

    /// The last hint of the thread's code; 0: none that holds.
    pub fn hint(self) -> u64 {
        self.own().hint.get()
    }

    pub fn set_hint(self, what: u64) {
        self.own().hint.set(what);
    }

    /// See [`Self::kept`].
    pub fn keep(self, tile: u16, activation: u64) {
        self.own().kept[usize::from(tile)].set(activation);
    }
}
