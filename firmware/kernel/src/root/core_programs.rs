//! Programs of other tiles with harts that programs start, as activities: the root makes the process of the tile before
//! it begins, so that it can be given capabilities, and the tile's kernel loads its image.
use flick_abi::card::remote_call::{CHOSEN, FROM_ROOT, program};
use flick_abi::card::{Error, ProgramImage, RootCall, rights};
use flick_kernel_core::capabilities::Place as CapabilityPlace;
use flick_kernel_core::threads::{List, Place, Wait};

use super::core_tiles::EndpointUse;
use super::program_moves::Step;
use super::{Memory, Object, Root};
use crate::dtu::KERNEL;
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Programs that were started so, of all processes; of one; and of one on a tile.
const PROGRAMS: usize = 64;
const OF_PROCESS: usize = 8;
const OF_TILE: usize = 4;
/// Capabilities that a program is given, at most: all of a tile share its quota.
const GIVEN: u8 = 16;
/// What threads wait for as for an activity: the end of a program, and its start.
const ENDS: u16 = 0x8000;
const STARTS: u16 = 0xc000;
/// What `activity_wait` says.
const ENDED: u64 = 3;
pub const FAILED: u64 = 4;

/// How it is with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Free,
    New,
    /// Its tile is to be told that it starts.
    Starts,
    /// Its tile was told.
    Loads,
    Runs,
    /// It moves to another tile: the step of which its tile is to be told, or was.
    Moves(Step, bool),
    /// It has ended so.
    Over(u64, u64),
    /// It was revoked: its process is to be ended, at its tile too if that knows it.
    Revoked(bool),
    /// Its tile is to be told that it ends, and was.
    Ends,
    Leaves,
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct CoreProgram {
    pub phase: Phase,
    /// Its tile, and the number of its process there.
    pub core: u8,
    pub number: u64,
    /// Whose it is.
    maker: u16,
    pub may_move: bool,
    given: u8,
    /// As long as its image is loaded: the capability's number, the tile's endpoint that reaches it, and its bytes.
    pub image: (u64, u8, u64),
    /// While it moves: the other tile, and the memory of its image, address and pages.
    pub other: u8,
    pub frames: (u64, u64),
    starters: List,
    waiters: List,
}

/// All of them.
#[derive(Debug)]
pub struct CorePrograms {
    pub all: &'static mut [CoreProgram],
    before: u64,
}

impl CorePrograms {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: &mut [],
            before: 0,
        }
    }

    pub fn of_process(&self, core: u8, number: u64) -> Option<u8> {
        let is_it =
            |of: &CoreProgram| of.phase != Phase::Free && of.core == core && of.number == number;
        self.all.iter().position(is_it).map(|n| n as u8)
    }

    /// A program of which a tile is to be told.
    pub fn to_tell(&self, core: u8) -> Option<(u8, [u64; 4])> {
        let told = |(of, n): (&CoreProgram, u8)| {
            let words = match of.phase {
                Phase::Starts => [program::START, of.number, of.image.1.into(), of.image.2],
                Phase::Ends => [program::END, of.number, 0, 0],
                Phase::Moves(step, false) => {
                    [step.word(), of.number, of.image.1.into(), of.image.2]
                }
                _ => return None,
            };
            (of.core == core).then_some((n, words))
        };
        self.all.iter().zip(0..).find_map(told)
    }

    /// A tile was told of it.
    pub fn was_told(&mut self, n: u8) {
        let phase = &mut self.all[usize::from(n)].phase;
        *phase = match *phase {
            Phase::Starts => Phase::Loads,
            Phase::Ends => Phase::Leaves,
            Phase::Moves(step, _) => Phase::Moves(step, true),
            other => other,
        };
    }

    /// The endpoint of an image is gone, and of another use soon. What the tile was not yet told of finds none.
    pub fn image_is_gone(&mut self, core: u8, endpoint: u8) {
        let all = self.all.iter_mut().filter(|of| of.core == core);
        all.filter(|of| of.image.1 == endpoint)
            .for_each(|of| of.image.1 = FROM_ROOT as u8);
    }

    /// Does somebody wait for a program of a tile?
    pub fn are_awaited(&self, core: u8) -> bool {
        let is_awaited = |of: &CoreProgram| of.core == core && !of.waiters.is_empty();
        self.all.iter().any(is_awaited)
    }
}

impl Root {
    /// Threads that wait for a program: `which` is what they wait for.
    pub fn program_waiters(&mut self, which: u16) -> &mut List {
        let of = &mut self.programs.all[usize::from(which & !STARTS)];
        match which & STARTS {
            STARTS => &mut of.starters,
            _ => &mut of.waiters,
        }
    }
}

/// Are these threads that wait for a program?
pub const fn is_of_program(which: u16) -> bool {
    which & ENDS != 0
}

impl Kernel {
    #[cold]
    pub fn begin_core_programs(&mut self) {
        self.root.programs.all = self.root_table(PROGRAMS, || CoreProgram {
            phase: Phase::Free,
            core: 0,
            number: 0,
            maker: 0,
            may_move: false,
            given: 0,
            image: (0, 0, 0),
            other: 0,
            frames: (0, 0),
            starters: List::EMPTY,
            waiters: List::EMPTY,
        });
    }

    /// The program of a capability.
    #[inline(never)]
    fn program(&self, caller: Caller, number: u64) -> Option<u8> {
        match self.capability(caller, number) {
            Ok((_, Object::Program(n, _))) => Some(n),
            _ => None,
        }
    }

    pub fn is_program(&self, caller: Caller, number: u64) -> bool {
        self.program(caller, number).is_some()
    }

    /// A call for an activity that is a program.
    #[inline(never)]
    pub fn program_call(&mut self, caller: Caller, call: RootCall, number: u64, a1: u64) -> Answer {
        let n = self.program(caller, number).ok_or(Error::NotFound)?;
        match call {
            RootCall::ActivityStart => self.start_program(caller, n, a1),
            RootCall::ActivityWait => self.wait_for_end(caller, n, a1),
            RootCall::ActivityState => self.state_of_program(n),
            _ => self.let_program_move(n, a1),
        }
    }

    pub fn program_at(&mut self, n: u8) -> &mut CoreProgram {
        &mut self.root.programs.all[usize::from(n)]
    }

    /// A program of a tile, which has not begun.
    #[cold]
    #[inline(never)]
    pub fn create_program(&mut self, caller: Caller, core: u8) -> Answer {
        let all = || {
            self.root
                .programs
                .all
                .iter()
                .filter(|of| of.phase != Phase::Free)
        };
        let own = |of: &&CoreProgram| of.maker == caller.process && of.core == core;
        let has_room = all().filter(own).count() < OF_TILE;
        let mut makers = all().map(|of| of.maker);
        let has_room =
            has_room && self.may_have_more(caller.process, &mut makers, (OF_PROCESS, PROGRAMS));
        let mut all = self.root.programs.all.iter();
        let free = all.position(|of| of.phase == Phase::Free);
        let free = free.filter(|_| has_room);
        let n = free.ok_or(Error::NoMemory)? as u8;
        if !self.root.cores.is_good(core) {
            return Err(Error::Dead);
        }
        self.root.programs.before += 1;
        let number = CHOSEN | self.root.programs.before & (CHOSEN - 1);
        self.new_remote_process(core, number)?;
        let granted = self.grant(caller.process, Object::Program(n, super::Side::Maker), None);
        if granted.is_err() {
            self.end_remote(core, number, (ENDED, 0));
            return granted;
        }
        *self.program_at(n) = CoreProgram {
            phase: Phase::New,
            core,
            number,
            maker: caller.process,
            may_move: false,
            given: 0,
            image: (0, 0, 0),
            other: 0,
            frames: (0, 0),
            starters: List::EMPTY,
            waiters: List::EMPTY,
        };
        granted
    }

    /// A capability for a program that goes on.
    pub fn give_to_program(&mut self, caller: Caller, number: u64, given: u64) -> Answer {
        let n = self.program(caller, number);
        let n = n.ok_or_else(|| {
            self.capability(caller, number)
                .err()
                .unwrap_or(Error::Invalid)
        })?;
        let (place, object) = self.capability(caller, given)?;
        let of = *self.program_at(n);
        let owner = self.remote_owner(of.core, of.number);
        let owner = owner.filter(|_| of.given < GIVEN).ok_or(Error::Busy)?;
        let got = self.give_to(owner, place, object)?;
        self.program_at(n).given += 1;
        Ok(got)
    }

    /// A program may be on another tile of the same kind, or may not.
    fn let_program_move(&mut self, n: u8, may: u64) -> Answer {
        let of = self.program_at(n);
        if may > 1 {
            return Err(Error::Invalid);
        }
        if may != 0 && matches!(of.phase, Phase::Over(..)) {
            return Err(Error::Busy);
        }
        of.may_move = may != 0;
        let core = of.core;
        value(self.tile_of_core(core))
    }

    pub fn tile_of_core(&self, core: u8) -> u64 {
        self.root.cores.get(core).map_or(0, |of| of.tile.into())
    }

    /// A program that may move begins where the fewest are, and else on its own tile.
    fn find_core(&mut self, n: u8) {
        let of = *self.program_at(n);
        let Some(own) = self.root.cores.get(of.core).filter(|_| of.may_move) else {
            return;
        };
        // It is one of those of its own tile.
        let (mut fewest, mut best) = (own.load() - 1, of.core);
        for (core, other) in (0..).zip(self.root.cores.all.iter()) {
            let count = other.load();
            if count < fewest && other.is_like(own) && other.is_good() {
                (fewest, best) = (count, core);
            }
        }
        if best != of.core && self.move_remote_process((of.core, best), of.number) {
            self.program_at(n).core = best;
        }
    }

    /// A program begins, whose image is in memory: the caller waits until its tile has loaded it.
    #[cold]
    #[inline(never)]
    fn start_program(&mut self, caller: Caller, n: u8, image: u64) -> Answer {
        let (place, object) = self.capability(caller, image)?;
        let Object::Memory(memory) = object else {
            return Err(Error::Invalid);
        };
        if memory.owner() != 0 || memory.size < size_of::<ProgramImage>() as u64 {
            return Err(Error::Invalid);
        }
        let memory = memory.narrow((0, memory.size), rights::READ)?;
        if self.program_at(n).phase != Phase::New {
            return Err(Error::Busy);
        }
        self.find_core(n);
        let CoreProgram { core, number, .. } = *self.program_at(n);
        let owner = self.remote_owner(core, number).ok_or(Error::Dead)?;
        self.show_image(n, (core, owner), memory, Some(place))?;
        self.program_at(n).phase = Phase::Starts;
        self.tell_core_tiles();
        self.wait_for_program(caller, STARTS | u16::from(n), u64::MAX)
    }

    /// The kernel of a tile reaches the image of a program.
    pub fn show_image(
        &mut self,
        n: u8,
        owner: (u8, u16),
        memory: Memory,
        source: Option<CapabilityPlace>,
    ) -> Result<(), Error> {
        let object = Object::Memory(memory);
        let own = self.root.capabilities.add(owner.1, object, source);
        let own = own.ok_or(Error::NoMemory)?;
        let endpoint = memory.endpoint(KERNEL);
        let at = self.add_core_endpoint(owner, own, endpoint, &|_| EndpointUse::Image(own));
        let at = at.inspect_err(|_| self.revoke(own))?;
        self.program_at(n).image = (self.root.capabilities.number(own), at, memory.size);
        Ok(())
    }

    fn wait_for_program(&mut self, caller: Caller, which: u16, until: u64) -> Answer {
        let list = self.root.program_waiters(which);
        self.dispatch.threads.append(list, caller.thread);
        let core = self.program_at(which as u8).core;
        self.watch_core(self.tile_of_core(core) as u16);
        self.wait(caller.thread, Wait::Activity(which), until)
    }

    /// The caller waits for the end of a program.
    fn wait_for_end(&mut self, caller: Caller, n: u8, until: u64) -> Answer {
        if let Phase::Over(how, status) = self.program_at(n).phase {
            return Ok(Done::Values(how, status));
        }
        if is_past(until) {
            return Err(Error::TimedOut);
        }
        self.wait_for_program(caller, ENDS | u16::from(n), until)
    }

    /// What a program does, and its tile.
    fn state_of_program(&mut self, n: u8) -> Answer {
        let of = *self.program_at(n);
        let state = match of.phase {
            Phase::New => 0,
            Phase::Over(..) => 4,
            _ => 2,
        };
        Ok(Done::Values(state, self.tile_of_core(of.core)))
    }

    fn end_program_waits(&mut self, which: u16, answer: Result<(u64, u64), Error>) {
        let first = |kernel: &mut Self| -> Option<Place> {
            let list = *kernel.root.program_waiters(which);
            kernel.dispatch.threads.in_list(&list).next()
        };
        while let Some(waiter) = first(self) {
            self.end_wait(waiter, answer);
        }
    }

    /// The kernel of a tile has answered a notice with an error of a program that starts, or 0; or ends one.
    pub fn program_was_told(&mut self, n: u8, [error, value]: [u64; 2]) {
        let of = self.program_at(n);
        let (core, number) = (of.core, of.number);
        match of.phase {
            // The end of a process before it is not yet told, which comes at once.
            Phase::Loads if error == Error::Again as u64 => of.phase = Phase::Starts,
            Phase::Loads if error != 0 => self.end_remote(core, number, (FAILED, error)),
            Phase::Loads => {
                of.phase = Phase::Runs;
                self.drop_image(n);
                self.end_program_waits(STARTS | u16::from(n), Ok((0, 0)));
            }
            Phase::Leaves => of.phase = Phase::Free,
            Phase::Moves(step, true) => self.step_is_done(n, step, (error, value)),
            _ => {}
        }
    }

    /// The image of a program is of no use any more.
    pub fn drop_image(&mut self, n: u8) {
        self.hide_image(n);
        self.free_image(n);
    }

    /// The tile of a program reaches its image no more.
    pub fn hide_image(&mut self, n: u8) {
        let of = self.program_at(n);
        let (core, number, image) = (of.core, of.number, of.image.0);
        let owner = self.remote_owner(core, number);
        let found = owner.and_then(|owner| self.root.capabilities.find(owner, image));
        if let Some((place, _)) = found {
            self.revoke(place);
        }
    }

    /// The process of a program is over, which its tile or the root has ended.
    pub fn program_has_ended(&mut self, core: u8, number: u64, (how, status): (u64, u64)) {
        let Some(n) = self.root.programs.of_process(core, number) else {
            return;
        };
        self.free_image(n);
        let of = self.program_at(n);
        match of.phase {
            Phase::Revoked(true) => of.phase = Phase::Ends,
            Phase::Revoked(false) => of.phase = Phase::Free,
            Phase::Starts | Phase::Loads | Phase::New | Phase::Runs | Phase::Moves(..) => {
                of.phase = Phase::Over(how, status);
                let started = match how {
                    ENDED => Ok((0, 0)),
                    _ => Err(Error::from_register(status.wrapping_neg()).unwrap_or(Error::Failed)),
                };
                self.end_program_waits(STARTS | u16::from(n), started);
                self.end_program_waits(ENDS | u16::from(n), Ok((how, status)));
            }
            _ => {}
        }
    }

    /// A tile is lost: its programs have ended.
    pub fn forget_programs(&mut self, core: u8) {
        for of in self.root.programs.all.iter_mut() {
            if of.core == core && matches!(of.phase, Phase::Ends | Phase::Leaves) {
                of.phase = Phase::Free;
            }
        }
    }

    /// A program was revoked. Its process ends behind that, since it may have others, and the stack is small.
    pub fn remove_program(&mut self, n: u8) {
        let of = self.program_at(n);
        of.phase = match of.phase {
            Phase::Over(..) => Phase::Free,
            Phase::New | Phase::Starts => Phase::Revoked(false),
            _ => Phase::Revoked(true),
        };
        self.end_program_waits(STARTS | u16::from(n), Err(Error::NotFound));
        self.end_program_waits(ENDS | u16::from(n), Err(Error::NotFound));
        self.root.cores.check_soon();
    }

    /// Programs that were revoked end.
    pub fn end_revoked_programs(&mut self) {
        let is_it = |of: &CoreProgram| matches!(of.phase, Phase::Revoked(_));
        while let Some(of) = self.root.programs.all.iter().find(|of| is_it(of)).copied() {
            self.end_remote(of.core, of.number, (ENDED, 0));
            // Its process is gone in any case.
            if let Some(n) = self.root.programs.of_process(of.core, of.number)
                && is_it(self.program_at(n))
            {
                self.program_at(n).phase = Phase::Free;
            }
        }
        self.tell_core_tiles();
    }
}

/// How a program ends by its tile, with a status; and with the tile.
pub const fn ended(status: u64) -> (u64, u64) {
    (ENDED, status)
}
pub const LOST: (u64, u64) = (FAILED, Error::Dead as u64);
