//! One thread's profile, and what is known of a function.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use flick_timing::Calls;
use flick_timing::model::{Access, Cost, Pages, View};
use flick_timing::platform::{Region, Rule};

use super::super::nxp_layout::layout;
use super::super::setting::setting;
use super::functions;
use super::shadow_stack::Stack;
use crate::accounts::symbols;
use crate::config;

/// What code a number stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Instrumented, by its entry.
    Host(usize),
    /// By its entry in an image.
    Nxp(u64),
    /// Not instrumented, by its name.
    Library(String),
}

/// What a function has done itself. Times are femtoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    pub calls: u64,
    /// Its operations on the host, and on the NxP.
    pub host: u128,
    pub nxp: u128,
    /// Its accesses to memory from either side, beyond those.
    pub host_memory: u128,
    pub nxp_memory: u128,
    /// Calls of what both sides have: the heap, and copies.
    pub host_library: u128,
    pub nxp_library: u128,
    /// Accesses to NxP-local memory, and to the host's but for stacks.
    pub local: u64,
    pub remote: u64,
    /// On the host: what it takes more than if the host's memory had what NxP code has allocated;
    /// its accesses to that.
    pub spare: i128,
    pub marked: u64,
    /// What it has allocated itself on the NxP.
    pub allocations: u64,
}

/// One thread's.
pub struct Profile {
    pub numbers: HashMap<Function, u32>,
    pub functions: Vec<Own>,
    /// Caller and callee.
    pub edges: HashMap<(u32, u32), u64>,
    /// Code without instrumentation through which the one calls the other, where it is between
    /// them.
    pub between: HashMap<(u32, u32), Option<u32>>,
    /// Gates by the entries in images that they lead to: they have the names that linkers know.
    pub gates: HashMap<u64, usize>,
    /// Functions without instrumentation, by their addresses or those of the pass's records.
    /// The rule is of those that the NxP has, too.
    pub libraries: HashMap<u64, (u32, Option<&'static Rule>)>,
    /// Functions by the addresses of the code that records them.
    pub places: HashMap<usize, u32>,
    pub stack: Stack,
    /// The NxP functions that the thread is in.
    pub calls: Calls,
    /// Their depth when an activation, by its own depth, has called the host.
    pub inside: Vec<usize>,
    /// The clock at the last record.
    pub last: [i64; 2],
    /// The NxP's memories, if what the host does were done there.
    pub view: View,
    pub pages: Pages,
    /// Below it is the thread's stack.
    pub base: usize,
    /// Something here is being changed: a signal handler leaves it alone.
    pub busy: AtomicBool,
}

/// Where host code's stacks are among the NxP's: apart from all else.
const STACKS: u64 = 1 << 46;
/// The most that a thread's stack usually has.
const STACK: usize = 8 << 20;
/// What the frames of a coroutine and of its callers have.
const NEAR: usize = 64 << 10;

impl Profile {
    /// The calling thread's; `None` where none is wanted.
    pub fn new() -> Option<Box<Self>> {
        let setting = setting().filter(|_| config::get().profile)?;
        Some(Box::new(Self {
            numbers: HashMap::new(),
            functions: Vec::new(),
            edges: HashMap::new(),
            between: HashMap::new(),
            gates: HashMap::new(),
            libraries: HashMap::new(),
            places: HashMap::new(),
            stack: Stack::default(),
            calls: Calls::default(),
            inside: Vec::new(),
            last: [0; 2],
            view: View::new(&setting.platform.nxp),
            pages: Pages::default(),
            base: 0,
            busy: AtomicBool::new(false),
        }))
    }

    pub fn number(&mut self, function: Function) -> u32 {
        let next = self.functions.len() as u32;
        let number = *self.numbers.entry(function).or_insert(next);
        if number == next {
            self.functions.push(Own::default());
        }
        number
    }

    pub fn own(&mut self, number: u32) -> &mut Own {
        &mut self.functions[number as usize]
    }

    /// The instrumented function that has made the call that returns to `back`.
    pub fn at(&mut self, back: usize) -> u32 {
        if let Some(&number) = self.places.get(&back) {
            return number;
        }
        let entry = functions::entry_of(back - 1).unwrap_or(0);
        let number = self.number(Function::Host(entry));
        self.places.insert(back, number);
        number
    }

    /// Any code that has made the call that returns to `back`.
    pub fn any_at(&mut self, back: usize) -> u32 {
        if let Some(&number) = self.places.get(&back) {
            return number;
        }
        let number = self.number(match functions::containing(back - 1) {
            Some(entry) => Function::Host(entry),
            None => Function::Library(symbols::caller(back).function),
        });
        self.places.insert(back, number);
        number
    }

    pub fn count(&mut self, caller: u32, callee: u32) {
        *self.edges.entry((caller, callee)).or_default() += 1;
        self.own(callee).calls += 1;
    }

    /// What the clock has counted since it was looked at last.
    pub fn spent(&mut self, clock: [i64; 2]) -> (u128, u128) {
        let since = |now: i64, last: i64| u128::try_from(now.saturating_sub(last)).unwrap_or(0);
        let spent = (since(clock[0], self.last[0]), since(clock[1], self.last[1]));
        self.last = clock;
        spent
    }

    /// What an access would take on the NxP.
    pub fn on_nxp(&mut self, address: u64, bytes: u64, write: bool, above: usize) -> u128 {
        self.base = self.base.max((above + 0xfff) & !0xfff);
        // A coroutine's stack is elsewhere, and its frames are near.
        let end = if self.base - above <= STACK {
            self.base
        } else {
            above + NEAR
        };
        let (region, place) = if (above..end).contains(&(address as usize)) {
            let depth = (self.base as u64).wrapping_sub(address);
            (Region::Stack, STACKS.wrapping_sub(depth))
        } else {
            layout(None).locate(address, &mut self.pages)
        };
        let Cost { memory, tlb } = self.view.access(Access {
            region,
            tile: None,
            place,
            bytes,
            write,
        });
        u128::from(memory) + u128::from(tlb)
    }
}

/// All is recorded, and the results are being made.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on nothing changes.
pub fn stop() {
    STOPPED.store(true, SeqCst);
}

impl Profile {
    /// Whether its thread is not at work on it, after [`stop`].
    pub fn rests(&self) -> bool {
        const ATTEMPTS: usize = 1000;
        (0..ATTEMPTS).any(|_| {
            std::thread::yield_now();
            !self.busy.load(SeqCst)
        })
    }
}

/// Has `change` work on the thread's profile, if there is one that nobody is changing. Keeps errno.
pub fn with<R>(
    profile: &mut Option<Box<Profile>>,
    change: impl FnOnce(&mut Profile) -> R,
) -> Option<R> {
    let profile = profile.as_mut()?;
    if profile.busy.swap(true, SeqCst) {
        return None;
    }
    // SAFETY: this thread's errno.
    let errno = unsafe { *libc::__errno_location() };
    let result = (!STOPPED.load(SeqCst)).then(|| change(profile));
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    profile.busy.store(false, SeqCst);
    result
}

/// The child of a fork begins anew.
pub fn forked(profile: &mut Option<Box<Profile>>) {
    let last = profile.as_ref().map_or([0; 2], |profile| profile.last);
    *profile = Profile::new();
    if let Some(profile) = profile {
        profile.last = last;
    }
}
