//! Programs that move to another tile of the same kind when they have begun, as the root sees it. A tile that has nothing
//! to do takes one of a tile that has several. A program that calls one of its own tile takes a tile that is free. Each
//! step is a notice to a tile's kernel, and its answer (`moved_programs.rs`).
use flick_abi::card::remote_call::program;
use flick_abi::card::{Error, MOST_IMAGE_PAGES, PAGE, rights};

use super::core_programs::{CoreProgram, FAILED, LOST, Phase};
use super::services::GatePlace;
use super::{Memory, Object, Side};
use crate::kernel::{Caller, Kernel};

/// How often a tile is asked to hold a program that is not at rest.
const TRIES: u8 = 64;
/// Pages of an image beside those of the program.
const MORE_PAGES: u64 = 8;

/// What a tile's kernel does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The program is to stop, and this is so many times.
    Hold(u8),
    /// Its image is written.
    Save,
    /// Its image is read by the other tile, or by the first one, since that could not.
    Land(bool),
    /// It stays.
    GoOn,
}

impl Step {
    /// In a notice.
    pub fn word(self) -> u64 {
        match self {
            Self::Hold(_) => program::HOLD,
            Self::Save => program::SAVE,
            Self::Land(_) => program::LAND,
            Self::GoOn => program::GO_ON,
        }
    }
}

impl Kernel {
    fn begin_move(&mut self, n: u8, to: u8) {
        let of = self.program_at(n);
        (of.other, of.phase) = (to, Phase::Moves(Step::Hold(0), false));
        self.tell_core_tiles();
    }

    /// Has a tile no process with capabilities, and will it have none?
    fn is_free(&self, core: u8) -> bool {
        let comes = |of: &CoreProgram| of.other == core && matches!(of.phase, Phase::Moves(..));
        let of = self.root.cores.get(core);
        of.is_some_and(|of| of.load() == 0 && of.is_good())
            && !self.root.programs.all.iter().any(comes)
    }

    /// A tile that has nothing to do takes a program of the tile of its kind that has the most.
    #[cold]
    #[inline(never)]
    pub fn steal_for(&mut self, to: u8) {
        if !self.is_free(to) {
            return;
        }
        let cores = &self.root.cores;
        let is_like = |core: u8| {
            let both = cores.get(core).zip(cores.get(to));
            both.filter(|(of, own)| of.is_like(own) && of.load() > 1)
                .map(|(of, _)| of.load())
        };
        let all = (0..).zip(self.root.programs.all.iter());
        let all = all.filter(|(_, of)| of.may_move && of.phase == Phase::Runs);
        let most = all.filter_map(|(n, of)| is_like(of.core).map(|load| (load, n)));
        if let Some((_, n)) = most.max_by_key(|&(load, _)| load) {
            self.begin_move(n, to);
        }
    }

    /// A program of a tile calls by a capability. If that leads to its own tile, it takes one that is free.
    #[inline(never)]
    pub fn part_neighbours(&mut self, caller: Caller, core: u8, (number, way): (u64, u64)) {
        let n = self.root.programs.of_process(core, number);
        let Some(n) = n.filter(|&n| {
            let of = self.program_at(n);
            of.may_move && of.phase == Phase::Runs
        }) else {
            return;
        };
        let tile = self.tile_of_core(core);
        let is_here = match self.capability(caller, way) {
            Ok((_, Object::Sender(sender))) => u64::from(sender.tile) == tile,
            Ok((_, Object::Session(session, Side::User))) => {
                let way = self.root.services.way_of(session);
                matches!(way, Some((GatePlace::Core(at, _), _)) if at == core)
            }
            _ => false,
        };
        let count = self.root.cores.all.len() as u8;
        let mut all = (0..count).filter(|_| is_here);
        let is_like = |to: u8| {
            let both = self.root.cores.get(core).zip(self.root.cores.get(to));
            both.is_some_and(|(own, of)| of.is_like(own))
        };
        if let Some(to) = all.find(|&to| is_like(to) && self.is_free(to)) {
            self.begin_move(n, to);
        }
    }

    /// The kernel of a tile has done a step, or not.
    #[cold]
    #[inline(never)]
    pub fn step_is_done(&mut self, n: u8, step: Step, (error, size): (u64, u64)) {
        let is_again = error == Error::Again as u64;
        let next = match (step, error) {
            (Step::Hold(tries), _) if is_again && tries < TRIES => {
                Phase::Moves(Step::Hold(tries + 1), false)
            }
            // The end of a process before it is not yet told, which comes at once.
            (Step::Land(_), _) if is_again => Phase::Moves(step, false),
            (Step::Hold(_), 0) if self.begin_image(n, size).is_ok() => {
                Phase::Moves(Step::Save, false)
            }
            (Step::Hold(_), _) => Phase::Moves(Step::GoOn, false),
            (Step::Save, 0) => return self.land(n, false),
            (Step::Save, _) => {
                self.drop_image(n);
                Phase::Moves(Step::GoOn, false)
            }
            (Step::Land(_), 0) => {
                self.drop_image(n);
                Phase::Runs
            }
            (Step::Land(false), _) => return self.land(n, true),
            (Step::Land(true), _) => return self.fail_to_land(n, error),
            (Step::GoOn, _) => Phase::Runs,
        };
        let of = self.program_at(n);
        of.phase = next;
        // It has what cannot move, and would be asked again and again.
        of.may_move &= error != Error::Busy as u64;
    }

    /// Memory for an image, to which the program's tile writes.
    fn begin_image(&mut self, n: u8, size: u64) -> Result<(), Error> {
        let pages = size.div_ceil(PAGE);
        if pages > MOST_IMAGE_PAGES + MORE_PAGES {
            return Err(Error::NoMemory);
        }
        let at = self.frames.allocate_many(pages as usize);
        let at = at.ok_or(Error::NoMemory)?;
        // What the tile does not write, the other one could read.
        // SAFETY: these frames are nobody else's.
        unsafe { core::ptr::write_bytes(at as *mut u8, 0, (pages * PAGE) as usize) };
        self.program_at(n).frames = (at, pages);
        let shown = self.show_frames(n, rights::WRITE);
        shown.inspect_err(|_| self.free_image(n))
    }

    /// The tile of a program reaches the memory of its image.
    fn show_frames(&mut self, n: u8, of: u64) -> Result<(), Error> {
        let program = *self.program_at(n);
        let owner = self.remote_owner(program.core, program.number);
        let owner = (program.core, owner.ok_or(Error::Dead)?);
        let (at, size) = (program.frames.0, program.frames.1 * PAGE);
        let memory = Memory::of(self.map.tile.0 as u16, at, size);
        self.show_image(n, owner, memory.narrow((0, size), of)?, None)
    }

    /// The image is in memory, and the other tile reads it. If that cannot, the first one does.
    fn land(&mut self, n: u8, is_back: bool) {
        let of = *self.program_at(n);
        let (core, number) = (of.core, of.number);
        self.hide_image(n);
        // Endpoints are of a tile, and are set up again.
        self.revoke_endpoints(core, number);
        if !self.root.cores.is_good(core) {
            return self.end_remote(core, number, LOST);
        }
        let has_moved = self.move_remote_process((core, of.other), number);
        let program = self.program_at(n);
        if has_moved {
            (program.core, program.other) = (of.other, core);
        }
        program.phase = Phase::Moves(Step::Land(is_back || !has_moved), false);
        if self.show_frames(n, rights::READ).is_err() {
            self.fail_to_land(n, Error::NoMemory as u64);
        }
    }

    /// Its old tile does not have it any more, and no tile has room.
    fn fail_to_land(&mut self, n: u8, error: u64) {
        let of = *self.program_at(n);
        self.end_remote(of.core, of.number, (FAILED, error));
    }

    fn revoke_endpoints(&mut self, core: u8, number: u64) {
        let Some(owner) = self.remote_owner(core, number) else {
            return;
        };
        let mut from = 0;
        while let Some(place) = self.root.capabilities.any_of(owner, from) {
            if let Some(Object::Remote(..)) = self.root.capabilities.object(place) {
                self.revoke(place);
            }
            from = place + 1;
        }
    }

    /// The memory of an image is free again. That which a lost tile may still reach is not.
    pub fn free_image(&mut self, n: u8) {
        let of = self.program_at(n);
        let (core, (at, pages)) = (of.core, core::mem::take(&mut of.frames));
        if self.root.cores.is_good(core) {
            (0..pages).for_each(|n| self.frames.free(at + n * PAGE));
        }
    }
}
