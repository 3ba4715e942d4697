//! On which processor a thread is woken that gets the token.
//!
//! One thread has the token at a time. If it gives the token away and goes to sleep, its processor is free, and
//! the caches have the machine. Linux prefers another idle processor for a thread that is woken. Then both of
//! them go to sleep and wake by turns, which takes ten times as long, and much more in a virtual machine. So who
//! is about to sleep has the next thread run on its own processor, until that runs again.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};

use crate::os::processors::Processors;
use crate::os::thread_clock;

/// What a slot's thread needs for that.
pub struct Sleeper {
    /// The kernel's number of the thread.
    tid: AtomicI32,
    /// It is held on one processor, until it runs.
    is_held: AtomicBool,
    /// Where it is held, and where it may run otherwise. By who holds it, before it is woken; then by the thread.
    held: UnsafeCell<(Processors, Processors)>,
    /// When it left the machine last, by the processor's time stamp.
    left: AtomicU64,
    /// It came back soon then.
    comes_back: AtomicBool,
}

// SAFETY: one side at a time uses the cell, as its comment says.
unsafe impl Sync for Sleeper {}

/// Time stamps between a call's end and the next one. In this time no wake-up on another processor ends.
const SOON: u64 = 100_000;

impl Sleeper {
    /// Of no thread.
    pub const fn new() -> Self {
        Self {
            tid: AtomicI32::new(0),
            is_held: AtomicBool::new(false),
            held: UnsafeCell::new((Processors::NONE, Processors::NONE)),
            left: AtomicU64::new(0),
            comes_back: AtomicBool::new(false),
        }
    }

    /// The calling thread is it from now on.
    pub fn becomes_own(&self) {
        self.tid.store(thread_clock::own_tid(), SeqCst);
        self.is_held.store(false, SeqCst);
        self.comes_back.store(false, SeqCst);
    }

    /// The clock of the processor time of its thread.
    pub fn clock(&self) -> i32 {
        thread_clock::of_thread(self.tid.load(SeqCst))
    }

    /// It leaves the machine. Is it going to sleep in it soon, as it did the last time?
    pub fn sleeps_soon(&self) -> bool {
        self.comes_back.load(SeqCst)
    }

    /// It has left the machine.
    pub fn has_left(&self) {
        self.left.store(time_stamp(), SeqCst);
    }

    /// It comes to the machine.
    pub fn comes(&self) {
        let outside = time_stamp().wrapping_sub(self.left.load(SeqCst));
        self.comes_back.store(outside < SOON, SeqCst);
    }

    /// The calling thread, which has the token and goes to sleep soon, has this one woken on its own processor.
    pub fn hold(&self) {
        let tid = self.tid.load(SeqCst);
        let (Some(one), Some(allowed)) = (Processors::current(), Processors::of_thread(tid)) else {
            return;
        };
        // It may not run here, or nowhere else.
        if one == allowed || !one.are_in(&allowed) {
            return;
        }
        // SAFETY: its thread sleeps, and does not run before it is woken.
        unsafe { *self.held.get() = (one, allowed) };
        // Where it is forbidden the wake-up takes longer, and nothing else.
        self.is_held.store(one.hold_thread(tid), SeqCst);
    }

    /// The calling thread is it, and runs again.
    pub fn runs(&self) {
        if !self.is_held.swap(false, SeqCst) {
            return;
        }
        // SAFETY: who has held it does not use the cell any more.
        let (held, allowed) = unsafe { &*self.held.get() };
        // The program has changed it meanwhile, perhaps.
        if Processors::of_thread(0).is_none_or(|now| now == *held) {
            allowed.hold_thread(0);
        }
    }
}

fn time_stamp() -> u64 {
    // SAFETY: x86-64 has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}
