//! Harts that claim others for their threads (`claims.rs` of the core): migration without the kernel hart.
//! `docs/migration.md` has the rules, and `migration.rs` what the kernel hart does where they do not hold.
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::hint::{FLOATS, GENERAL, VECTORS};
use flick_kernel_core::claims::{ClaimWord, FIELDS, Moved};
use flick_kernel_core::context::Context;
use flick_kernel_core::dispatch::Dispatch;
use flick_kernel_core::lines::{MOST_HARTS, command};
use flick_kernel_core::thread_lines::ThreadLine;

use crate::hart_page::{HartLocal, HartPage, HartPages};
use crate::kernel::Kernel;
use crate::migration::{Kinds, needs};
use crate::trace_points::point;
use crate::user_hart::{self, CALL, MACHINE, user_trap};
use crate::{csr, csr_read, float_state, vector_state};

/// Only this kernel has them: the others execute calls on the threads' harts, or have threads that the host
/// may take away.
pub const HAS_CLAIMS: bool = !cfg!(any(feature = "symmetric", feature = "host"));

/// Who may move, and where to.
pub static WORD: ClaimWord = ClaimWord::new();

/// A hart that can be claimed.
#[derive(Clone, Copy)]
struct Target {
    page: Option<&'static HartPage>,
    hart: u8,
    /// The extensions that words tell.
    has: u64,
}

/// What harts know of others.
struct Map {
    targets: [Target; FIELDS],
    pages: HartPages,
    /// What general harts have.
    general_has: u64,
}

/// It is complete before harts begin, and nobody changes it then.
struct MapCell(UnsafeCell<Map>);

// SAFETY: the kernel hart stores it before others begin, and all only read it then.
unsafe impl Sync for MapCell {}

const NO_TARGET: Target = Target {
    page: None,
    hart: 0,
    has: 0,
};

static MAP: MapCell = MapCell(UnsafeCell::new(Map {
    targets: [NO_TARGET; FIELDS],
    pages: [None; MOST_HARTS],
    general_has: 0,
}));

/// What a hart has to know of itself.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Harts with the same ISA, as bits, if they are general; else 0.
    pub general: u64,
    /// Its field of the word, or none.
    field: usize,
    /// The extensions that words tell.
    has: u64,
}

impl Own {
    /// Neither claims nor can be claimed.
    pub const NONE: Self = Self {
        general: 0,
        field: FIELDS,
        has: 0,
    };
}

impl Kernel {
    /// Before harts begin, and behind their pages.
    pub fn begin_claims(&mut self) {
        let special = self.dispatch.threads.special;
        if !HAS_CLAIMS || special == 0 || !self.map.is_coherent {
            return;
        }
        let fields = self.claims.begin(special);
        // SAFETY: no other hart has begun.
        let map = unsafe { &mut *MAP.0.get() };
        map.pages = self.harts.pages;
        let all = self.harts.pages.iter().enumerate();
        for (hart, page) in all.filter_map(|(hart, page)| Some((hart, (*page)?))) {
            // SAFETY: as above.
            let own = unsafe { &mut (*page.local()).own };
            own.has = self.map.kinds.told(hart as u8);
            if special >> hart & 1 == 0 {
                own.general = self.map.kinds.alike(hart);
                map.general_has = own.has;
            }
        }
        for (field, hart) in fields {
            let page = self.harts.page(hart);
            map.targets[field] = Target {
                page,
                hart,
                has: self.map.kinds.told(hart),
            };
            if let Some(page) = page {
                // SAFETY: as above.
                unsafe { (*page.local()).own.field = field };
            }
        }
    }

    /// Harts may move threads from now on, while the kernel hart has nothing to do.
    #[inline(never)]
    pub fn open_claims(&mut self) {
        let (forget, lines) = (self.harts.forget, self.lines);
        let allowed = |place| lines[usize::from(place)].harts();
        self.claims.open(&WORD, &self.dispatch, forget, allowed);
    }

    /// The kernel hart will use what it knows of harts and threads.
    #[inline(always)]
    pub fn close_claims(&mut self) {
        #[cfg(feature = "root")]
        self.close_handovers();
        if !HAS_CLAIMS || !self.claims.are_open() {
            return;
        }
        let Self {
            claims,
            dispatch,
            lines,
            map,
            harts,
            ..
        } = self;
        let forgotten = claims.close(&WORD, |moved| has_moved(dispatch, lines, &map.kinds, moved));
        harts.forget &= !forgotten;
    }
}

/// A thread has moved without the kernel hart: the rest is as if it had not.
fn has_moved(
    dispatch: &mut Dispatch,
    lines: &[ThreadLine],
    kinds: &Kinds,
    Moved { from, to, is_claim }: Moved,
) {
    dispatch.moved(from, to);
    let Some(place) = dispatch.running(to) else {
        return;
    };
    let harts = match is_claim {
        true => kinds.alike(to.into()),
        false => !dispatch.threads.special,
    };
    let thread = &mut dispatch.threads[place];
    let allowed = lines[usize::from(place)].harts();
    (thread.harts, thread.is_away) = (allowed & harts, true);
}

/// From `trap_entry.S`: an instruction is illegal, or the thread's first of its kind on this hart. Returns what
/// `user_trap` does.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn user_illegal(local: &mut HartLocal, cause: u64) -> *mut Context {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &mut *local.context };
    if HAS_CLAIMS
        && local.own.general != 0
        && let Some(goal) = for_instruction(local, context)
    {
        leave(local, context, goal);
    }
    user_trap(local, cause)
}

/// From `trap_entry.S`: the call `hint`, or another trap with its number in a7.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn user_hint(local: &mut HartLocal, cause: u64) -> *mut Context {
    // SAFETY: as above.
    let context = unsafe { &mut *local.context };
    if HAS_CLAIMS
        && cause == CALL
        && let Some(goal) = for_hint(local, context.x[10])
    {
        context.x[0] = context.x[0].wrapping_add(4);
        context.set_values([0; 2]);
        leave(local, context, goal);
    }
    user_trap(local, cause)
}

/// The thread goes on on a hart that may have its instruction, if that can be claimed.
#[inline(always)]
fn for_instruction(local: &HartLocal, context: &mut Context) -> Option<Goal> {
    let word = csr_read!(mtval);
    let needed = needs(word);
    // What the hart has, it has not lent the thread yet. And the kernel's own failures are no thread's.
    if needed & local.own.has != 0 || csr_read!(mstatus) & MACHINE == MACHINE {
        return None;
    }
    let pc = context.x[0];
    let mut tried = local.own.general;
    // If the word tells what it needs, all that have it are special, and one that refuses it all the same
    // asks the kernel hart.
    if needed == 0 && context.exception[0] == pc && context.exception[1] & tried == 0 {
        // As in `moves_for`.
        tried |= context.exception[1];
    }
    let goal = claim(local, needed, tried)?;
    if needed == 0 {
        context.exception = [pc, tried];
    }
    point!("move", pc, word);
    Some(goal)
}

/// The thread goes to a hart that has these extensions, or back from there.
#[inline(always)]
fn for_hint(local: &HartLocal, what: u64) -> Option<Goal> {
    match what {
        GENERAL if local.own.field < FIELDS => go_back(local),
        GENERAL => None,
        _ if local.own.general == 0 || what & local.own.has != 0 => None,
        _ => claim(local, what, local.own.general),
    }
}

/// Where a thread goes.
struct Goal {
    page: &'static HartPage,
    hart: u8,
    /// What the hart has.
    has: u64,
    /// Flags of the command.
    flags: u64,
}

#[inline(always)]
fn claim(local: &HartLocal, needed: u64, tried: u64) -> Option<Goal> {
    let seen = WORD.look();
    // SAFETY: as of `Map`; each thread has a line, at its place.
    let (map, line) = unsafe {
        let line = &*local.lines.add((local.thread & 0xffff) as usize);
        (&*MAP.0.get(), line)
    };
    let harts = line.harts() & !tried;
    let claimed = WORD.claim(seen, local.hart as u8, |n| {
        let Target { hart, has, .. } = map.targets[n];
        harts >> hart & 1 != 0 && needed & !has == 0
    })?;
    let Target { page, hart, has } = map.targets[claimed.field];
    Some(Goal {
        page: page?,
        hart,
        has,
        flags: if claimed.forgets { command::FORGET } else { 0 },
    })
}

#[inline(always)]
fn go_back(local: &HartLocal) -> Option<Goal> {
    let hart = WORD.give_back(WORD.look(), local.own.field)?;
    // SAFETY: as of `Map`.
    let map = unsafe { &*MAP.0.get() };
    Some(Goal {
        page: map.pages[usize::from(hart)]?,
        hart,
        has: map.general_has,
        flags: 0,
    })
}

/// What the next hart has to know of the thread, so that it needs no more of the context than x1 to x31.
pub mod state {
    /// Its floating-point registers are to be loaded.
    pub const FLOATS: u64 = 1;
    /// Its vector registers are to be loaded.
    pub const VECTORS: u64 = 2;
    /// FS and VS of `mstatus`, if the hart still has these registers.
    pub const STATUS: u64 = !3;
}

/// The thread goes to a hart that waits for it, and this one is idle.
#[inline(always)]
fn leave(local: &mut HartLocal, context: &mut Context, goal: Goal) -> ! {
    let Goal {
        page,
        hart,
        has,
        flags,
    } = goal;
    let status = csr_read!(mstatus);
    if status & float_state::STATUS == float_state::STATUS {
        float_state::save(local);
    }
    if status & vector_state::STATUS == vector_state::STATUS {
        vector_state::save(local);
    }
    let mut state = 0;
    if context.status != 0 && has & FLOATS != 0 {
        let is_there = context.float_harts >> hart & 1 != 0;
        state |= if is_there {
            float_state::CLEAN
        } else {
            state::FLOATS
        };
    }
    if context.vector != 0 && has & VECTORS != 0 {
        let is_there = context.vector_harts >> hart & 1 != 0;
        state |= if is_there {
            vector_state::CLEAN
        } else {
            state::VECTORS
        };
    }
    let line = &page.command;
    let store = |word: &AtomicU64, value| word.store(value, Ordering::Relaxed);
    store(&line.context, local.context.addr() as u64);
    store(&line.thread, local.thread);
    store(&line.values[0], context.satp);
    store(&line.values[1], state);
    point!("run", hart, local.thread);
    let flags = flags | command::RUN | command::CLAIMED;
    point!("tell", hart, flags);
    if line.give(flags) {
        local.clint.interrupt(hart.into());
    }
    local.is_parked = false;
    user_hart::wait_and_resume(local)
}

/// The hart runs the thread that another user hart has given it, with its [`state`]. It has run it before,
/// and no other one since. `None`: it has not.
#[inline(always)]
pub fn take_back(local: &mut HartLocal) -> Option<*mut Context> {
    let line = &HartPage::of(local).command;
    let next = user_hart::load(&line.context) as *mut Context;
    let [owner, state] = line.values.each_ref().map(user_hart::load);
    let is_same = local.context == next && local.owner == owner;
    if !is_same || local.thread != user_hart::load(&line.thread) || state & !state::STATUS != 0 {
        return None;
    }
    let is_gone = |owner| !core::ptr::eq::<Context>(owner, next);
    let (floats, vectors) = (state & float_state::STATUS, state & vector_state::STATUS);
    if floats != 0 && is_gone(local.float_owner) || vectors != 0 && is_gone(local.vector_owner) {
        return None;
    }
    let both = float_state::STATUS | vector_state::STATUS;
    if csr_read!(mstatus) & both != state {
        csr::clear_status(both);
        csr::set_status(state);
    }
    Some(next.map_addr(|address| address | 1))
}
