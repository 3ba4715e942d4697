//! The one hook by which the crossing reports to the accounts: statistics, virtual time with its
//! profile, and the device check.
use flick_engine::{CodeRegion, Exit, Memory, ProcessCore, Unlimited};
use flick_translator::Context;

use super::device_check::{self, Watcher};
use super::timed::tile_cores::HartOfTile;
use super::{migrations, stats, timed};
use crate::thread::entered::Entered;

/// What the crossing reports. Each call comes where the thread changes sides, or where NxP code
/// runs.
pub trait Accounts {
    /// The host has called the NxP: `act` is the innermost activation, with its arguments in the
    /// hart.
    fn called(act: &Entered);

    /// The innermost activation's function returns to the host.
    fn returned();

    /// NxP code calls the host function at `target`.
    fn calls_host(target: u64);

    /// That function has returned to `back`; `arguments` are the NxP's argument registers from its
    /// call.
    fn host_returns(arguments: &[u64], back: u64);

    /// An unwinder or `longjmp` has come back to NxP code from the host. `frames`: those that the
    /// innermost activation has now, if they can be counted.
    fn came_back(frames: impl FnOnce() -> Option<usize>);

    /// The instructions that `context.retired` counts are over.
    fn instructions(context: &mut Context);

    /// The thread of a slot of the card has moved to another hart for the instruction at `pc`, which took
    /// so many instructions of the card.
    fn migrated(slot: u32, pc: u64, cost: u64);

    /// Runs the hart from its pc under an observer of an account, if one is to see each
    /// instruction, until it leaves the code, or in a timed run until a time of the thread's. `within`:
    /// that time, and the hart of a card.
    fn observe<M: Memory>(
        context: &mut Context,
        memory: &M,
        code: &CodeRegion,
        within: (u128, Option<HartOfTile>),
    ) -> Option<Exit>;

    /// Whether the interpreter counts its instructions.
    const COUNT: bool;
}

/// No account is open: nothing is recorded, which costs nothing.
pub struct Closed;

impl Accounts for Closed {
    #[inline]
    fn called(_act: &Entered) {}

    #[inline]
    fn returned() {}

    #[inline]
    fn calls_host(_target: u64) {}

    #[inline]
    fn host_returns(_arguments: &[u64], _back: u64) {}

    #[inline]
    fn came_back(_frames: impl FnOnce() -> Option<usize>) {}

    #[inline]
    fn instructions(_context: &mut Context) {}

    #[inline]
    fn migrated(_slot: u32, _pc: u64, _cost: u64) {}

    #[inline]
    fn observe<M: Memory>(
        _context: &mut Context,
        _memory: &M,
        _code: &CodeRegion,
        _within: (u128, Option<HartOfTile>),
    ) -> Option<Exit> {
        None
    }

    const COUNT: bool = false;
}

/// Some account is open.
pub struct Open;

impl Accounts for Open {
    fn called(act: &Entered) {
        if timed::enabled() {
            timed::crossing_costs::called(act);
        }
    }

    fn returned() {
        if timed::enabled() {
            timed::crossing_costs::returned();
        }
    }

    fn calls_host(target: u64) {
        stats::host_call(target as usize);
        if timed::enabled() {
            timed::crossing_costs::calls_host(target);
        }
    }

    fn host_returns(arguments: &[u64], back: u64) {
        if timed::enabled() {
            timed::crossing_costs::host_returns(arguments, back);
        }
    }

    fn came_back(frames: impl FnOnce() -> Option<usize>) {
        if timed::enabled() {
            timed::crossing_costs::came_back(frames());
        }
    }

    fn instructions(context: &mut Context) {
        stats::instructions(std::mem::take(&mut context.retired));
    }

    fn migrated(slot: u32, pc: u64, cost: u64) {
        if stats::enabled() {
            migrations::add(slot, pc, cost);
        }
    }

    fn observe<M: Memory>(
        context: &mut Context,
        memory: &M,
        code: &CodeRegion,
        (until, on): (u128, Option<HartOfTile>),
    ) -> Option<Exit> {
        let hart = &mut context.hart;
        if device_check::enabled() {
            let mut watcher = Watcher::begin();
            let mut core = ProcessCore::counting(memory, code);
            let exit = flick_engine::run(hart, &mut core, &mut watcher, &mut Unlimited);
            context.retired += core.instructions();
            watcher.end();
            return Some(exit);
        }
        if !timed::enabled() {
            return None;
        }
        let (exit, instructions) = timed::crossing_costs::observe(hart, memory, (code, on), until)?;
        context.retired += instructions;
        Some(exit)
    }

    const COUNT: bool = true;
}
