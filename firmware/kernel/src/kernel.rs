//! The state of the kernel, which the kernel hart alone touches, and the steps that several calls take.
use flick_abi::card::{Call, Error, FOR_EVER, PAGE, STACK_END, STACK_SIZE, USER_END, rights};
use flick_kernel_core::claims::Claims;
use flick_kernel_core::context::{Context, Stored};
use flick_kernel_core::dispatch::{Dispatch, GaveWay, Orders};
use flick_kernel_core::frames::Frames;
use flick_kernel_core::lines::{HAS_ENDED, MOST_HARTS, command};
use flick_kernel_core::page_tables::{Resolved, Trouble};
use flick_kernel_core::silent_ends::SilentEnds;
use flick_kernel_core::thread_lines::ThreadLine;
use flick_kernel_core::threads::{List, Place, State, Threads, Wait};

use crate::cache;
use crate::calls::thread_create::thread_create;
use crate::console::Console;
use crate::contexts::Contexts;
use crate::csr;
use crate::devices::Clint;
use crate::direct::Direct;
use crate::hart_page::{HartPage, HartPages};
use crate::machine_map::MachineMap;
use crate::processes::{MOST_PAGES, Processes};
use crate::tiles::Tiles;
use crate::trace_points::point;

/// A part of the state with a lock of its own, in the symmetric kernel.
#[cfg(not(feature = "symmetric"))]
pub type Part<T> = T;
#[cfg(feature = "symmetric")]
pub use crate::locks::{Part, Shared};

#[cfg(feature = "symmetric")]
pub static FRAMES: Shared<Frames> = Shared::new(Frames::new());
#[cfg(feature = "symmetric")]
static CONSOLE: Shared<Console> = Shared::new(Console::new());

/// The kernel's state. What each call uses is first, where instructions reach it.
#[repr(C)]
pub struct Kernel {
    /// How threads end without a call.
    pub ends: SilentEnds,
    /// How threads move without a call.
    pub claims: Claims,
    /// The place that is looked at next for a join that has left it.
    pub next_place: Place,
    /// The lines of threads, by their places.
    pub lines: &'static [ThreadLine],
    /// Contexts of threads.
    pub contexts: Contexts,
    /// The lines of harts.
    pub harts: Harts,
    /// Threads and harts.
    pub dispatch: Dispatch,
    /// The machine.
    pub map: MachineMap,
    /// Memory.
    pub frames: Part<Frames>,
    /// Processes.
    pub processes: Processes,
    /// The console.
    pub console: Part<Console>,
    /// Threads that wait for its bytes.
    pub readers: List,
    /// What processes and tiles send each other.
    pub tiles: Tiles,
    /// Threads of the host.
    #[cfg(feature = "host")]
    pub host: crate::host::Host,
    /// The root role.
    #[cfg(feature = "root")]
    pub root: crate::root::Root,
    /// When time is looked at again.
    #[cfg(feature = "alone")]
    pub timer: u64,
}

/// How harts are told.
pub struct Harts {
    /// Their pages.
    pub pages: HartPages,
    /// Interrupts.
    pub clint: Clint,
    /// Harts that forget all translations before they run a thread, as bits.
    pub forget: u64,
    /// Harts are interrupted even if they do not sleep: a cache that writes back may write over their flags.
    pub interrupts: bool,
}

impl Harts {
    /// The page of a hart that runs programs.
    pub fn page(&self, hart: u8) -> Option<&'static HartPage> {
        self.pages[usize::from(hart)]
    }

    /// Gives a hart a command.
    #[inline(never)]
    pub fn give(&mut self, hart: u8, flags: u64) {
        if let Some(page) = self.page(hart) {
            self.tell(page, hart, flags);
        }
    }

    #[inline(always)]
    fn tell(&mut self, page: &HartPage, hart: u8, mut flags: u64) {
        if self.forget >> hart & 1 != 0 && flags & STARTS != 0 {
            self.forget &= !(1 << hart);
            flags |= command::FORGET;
        }
        cache::clean();
        point!("tell", hart, flags);
        #[cfg(feature = "symmetric")]
        if flags & STARTS != 0 && page.is_own() {
            return page.tell_own(flags);
        }
        #[cfg(feature = "alone")]
        return page.tell_own(flags);
        #[cfg(not(feature = "alone"))]
        self.interrupt(page, hart, flags);
    }

    /// Another hart gets a command.
    #[cfg(not(feature = "alone"))]
    #[inline(always)]
    fn interrupt(&mut self, page: &HartPage, hart: u8, flags: u64) {
        // The hart runs a thread, perhaps, if it does not wait for an answer.
        let sleeps = page.command.give(flags);
        if sleeps || self.interrupts || flags & STARTS == 0 {
            self.clint.interrupt(hart.into());
        }
    }

    /// Answers the call of a hart.
    #[inline(always)]
    pub fn reply(&mut self, page: &HartPage, hart: u8, values: [u64; 2], flags: u64) {
        set(&page.command.values[0], values[0]);
        set(&page.command.values[1], values[1]);
        self.tell(page, hart, command::REPLY | flags);
    }
}

/// Commands with which a program goes on.
const STARTS: u64 = command::RUN | command::REPLY | command::GO_ON;

fn set(word: &core::sync::atomic::AtomicU64, value: u64) {
    word.store(value, core::sync::atomic::Ordering::Relaxed);
}

impl Orders for Harts {
    #[inline(always)]
    fn run(&mut self, hart: u8, threads: &mut Threads, place: Place) {
        let Some(page) = self.page(hart) else {
            return;
        };
        let number = threads.number(place);
        let thread = &mut threads[place];
        set(&page.command.context, thread.context);
        point!("run", hart, number);
        set(&page.command.thread, number);
        let stored = core::mem::take(&mut thread.has_stored);
        let fresh = core::mem::take(&mut thread.is_fresh);
        let stored = if stored { command::STORED } else { 0 };
        let fresh = if fresh { command::FRESH } else { 0 };
        self.tell(page, hart, command::RUN | stored | fresh);
    }

    fn preempt(&mut self, hart: u8, number: u64) {
        if let Some(page) = self.page(hart) {
            set(&page.command.asked, number);
        }
        self.give(hart, command::PREEMPT);
    }
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// Its hart.
    pub hart: u8,
    /// Its thread.
    pub thread: Place,
    /// Its process.
    pub process: u16,
}

impl Caller {
    /// A thread of a process that no hart has.
    pub const fn of_process(thread: Place, process: u16) -> Self {
        Self {
            hart: u8::MAX,
            thread,
            process,
        }
    }
}

/// How a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It returns.
    Values(u64, u64),
    /// The thread waits, and somebody else will end that.
    Waits,
    /// The thread goes on with its registers as they are.
    GoesOn,
    /// It lets others run.
    GivesWay,
    /// The call is made again.
    Again,
    /// There is no thread any more.
    Ended,
}

/// What a call says.
pub type Answer = Result<Done, Error>;

/// A call returns one value.
pub fn value(value: u64) -> Answer {
    Ok(Done::Values(value, 0))
}

impl From<Trouble> for CallError {
    fn from(trouble: Trouble) -> Self {
        Self(match trouble {
            Trouble::NoMemory => Error::NoMemory,
            Trouble::Mapped => Error::AddressInUse,
            Trouble::Unmapped => Error::NotFound,
            Trouble::NoRight => Error::NotPermitted,
        })
    }
}

/// An error of a call, made from another.
#[derive(Clone, Copy, Debug)]
pub struct CallError(pub Error);

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        error.0
    }
}

/// A trouble of page tables as an error.
pub fn error_of(trouble: Trouble) -> Error {
    CallError::from(trouble).0
}

impl Kernel {
    /// A kernel that knows nothing of its machine yet.
    pub const fn new() -> Self {
        Self {
            map: MachineMap::new(),
            #[cfg(feature = "symmetric")]
            frames: Part::new(&FRAMES),
            #[cfg(not(feature = "symmetric"))]
            frames: Frames::new(),
            dispatch: Dispatch::new(),
            contexts: Contexts::new(),
            processes: Processes::new(),
            #[cfg(feature = "symmetric")]
            console: Part::new(&CONSOLE),
            #[cfg(not(feature = "symmetric"))]
            console: Console::new(),
            readers: List::EMPTY,
            tiles: Tiles::new(),
            #[cfg(feature = "host")]
            host: crate::host::Host::new(),
            #[cfg(feature = "root")]
            root: crate::root::Root::new(),
            #[cfg(feature = "alone")]
            timer: 0,
            harts: Harts {
                pages: [None; MOST_HARTS],
                clint: Clint::new(&MachineMap::new()),
                forget: 0,
                interrupts: false,
            },
            lines: &[],
            ends: SilentEnds::new(),
            claims: Claims::new(),
            next_place: 0,
        }
    }

    /// The registers of a thread that no hart has.
    pub fn context(&mut self, place: Place) -> &mut Context {
        let context = self.dispatch.threads[place].context as *mut Context;
        cache::refresh_value(context);
        // SAFETY: each thread has a context of its own as long as it is there, and the kernel hart has
        // taken it from its hart.
        unsafe { &mut *context }
    }

    /// What the call of a thread returns that no hart has.
    fn set_values(&mut self, place: Place, values: [u64; 2]) {
        let context = self.dispatch.threads[place].context as *mut Context;
        // SAFETY: as in `context`.
        unsafe {
            cache::refresh_value(&raw const (*context).x[8]);
            (*context).set_values(values);
        }
    }

    /// The caller waits.
    pub fn wait(&mut self, place: Place, wait: Wait, until: u64) -> Answer {
        let threads = &mut self.dispatch.threads;
        threads[place].state = State::Waits(wait);
        threads.set_timer(place, until);
        Ok(Done::Waits)
    }

    /// A thread's wait ends, and its call returns.
    pub fn end_wait(&mut self, place: Place, answer: Result<(u64, u64), Error>) {
        let values = match answer {
            Ok((a0, a1)) => [a0, a1],
            Err(error) => [error.to_register(), 0],
        };
        self.set_values(place, values);
        self.leave_wait(place);
        self.wake(place);
    }

    /// A thread's wait ends, and its call is made again.
    pub fn restart(&mut self, place: Place) {
        self.context(place).make_again();
        self.leave_wait(place);
        self.wake(place);
    }

    /// A thread is in no list of those who wait, and has no timer.
    pub fn leave_wait(&mut self, place: Place) {
        let threads = &mut self.dispatch.threads;
        threads.clear_timer(place);
        threads[place].is_limited = false;
        let State::Waits(wait) = threads[place].state else {
            return;
        };
        let process = &mut self.processes[threads[place].process];
        let list = match wait {
            Wait::Sleep => return,
            Wait::Join(target) => return threads.set_joiner(target, None),
            Wait::Address(_) => &mut process.waiters,
            Wait::Handler => &mut process.faulted,
            Wait::Exception(_) => &mut process.handlers,
            Wait::Process(_) => &mut process.parents,
            Wait::Console(..) => &mut self.readers,
            Wait::Mail(port, _) => match self.tiles.mailboxes.get(port) {
                Some(mailbox) => &mut mailbox.readers,
                None => return,
            },
            Wait::Room(_) | Wait::Consent(_) | Wait::Credit(_) => &mut self.tiles.senders,
            #[cfg(feature = "root")]
            Wait::Gate(gate) => self.root.readers(gate),
            #[cfg(feature = "root")]
            Wait::Activity(activity) => self.root.waiters(activity),
            #[cfg(feature = "root")]
            Wait::Answer(call) => return self.root.forget_call(call),
            #[cfg(feature = "root")]
            Wait::Root(_) => return,
            Wait::Sent(_) | Wait::Asked(_) | Wait::Allowed(_) | Wait::Owner => return,
            Wait::Portal(port) => return self.forget_reader(port),
        };
        threads.take_out(list, place);
    }

    /// A thread that is in no list can go on.
    #[inline(never)]
    pub fn wake(&mut self, place: Place) {
        #[cfg(feature = "root")]
        // It stands for a call of another tile. Those that are held have no hart either.
        if self.dispatch.threads[place].harts == 0 && self.map.is_root {
            return self.answer_remote(place);
        }
        point!("wake", place);
        self.dispatch.wake(place, csr::time(), &mut self.harts);
    }

    /// Serves the call of a hart.
    #[inline(always)]
    pub fn serve(&mut self, hart: u8) {
        point!("serve", hart);
        let Some(page) = self.harts.page(hart) else {
            return;
        };
        let number = page.call.number();
        self.serve_call(hart, number, page, || page.call.arguments());
    }

    /// The same, as the hart's thread has it.
    #[inline(always)]
    pub fn serve_call(
        &mut self,
        hart: u8,
        number: u64,
        page: &HartPage,
        arguments: impl Fn() -> [u64; 6],
    ) {
        let Some(thread) = self.dispatch.running(hart) else {
            return;
        };
        let process = self.dispatch.threads[thread].process;
        let caller = Caller {
            hart,
            thread,
            process,
        };
        let is_asked = self.dispatch.is_asked(hart);
        // Harts of threads whose process ends are asked to save them.
        let ends = is_asked && self.processes[process].is_ending && number != HAS_ENDED;
        if number == Call::ThreadCreate as u64 && !ends {
            thread_create(self, caller, page, arguments());
        } else {
            let answer = match ends {
                true => {
                    crate::calls::end_early(self, number, arguments());
                    self.end_thread(thread, Some(0))
                }
                false => crate::calls::execute(self, caller, number, arguments()),
            };
            self.answer(caller, number, answer);
        }
        if self.dispatch.threads.has_ready() != self.ends.are_told() {
            self.want_ends();
        }
        #[cfg(feature = "host")]
        self.share_harts();
        point!("served");
    }

    #[inline(always)]
    fn answer(&mut self, caller: Caller, number: u64, answer: Answer) {
        // The registers of a light call's thread are still in its hart: it stays there.
        let is_light = crate::calls::is_light(number);
        // Behind the call: it may have woken a thread that takes the caller's hart, or ended its process.
        let is_asked = self.dispatch.is_asked(caller.hart);
        if is_asked && self.processes[caller.process].is_ending {
            return self.end_caller(caller, answer);
        }
        let gives_way = is_asked && !is_light && self.dispatch.has_called(caller.hart);
        match answer {
            Ok(Done::Values(a0, a1)) if is_light || !gives_way && self.may_stay(caller) => {
                self.reply(caller, [a0, a1]);
            }
            Err(error) if is_light => self.reply(caller, [error.to_register(), 0]),
            _ => self.finish(caller, answer, gives_way),
        }
    }

    /// The caller's process has ended within its call, as that of a hart that was lost meanwhile.
    #[inline(never)]
    fn end_caller(&mut self, caller: Caller, answer: Answer) {
        if answer != Ok(Done::Ended) {
            if answer == Ok(Done::Waits) {
                self.leave_wait(caller.thread);
            }
            let _: Answer = self.end_thread(caller.thread, Some(0));
        }
        self.finish(caller, Ok(Done::Ended), false);
    }

    /// The caller goes on with these values.
    #[inline(always)]
    fn reply(&mut self, caller: Caller, values: [u64; 2]) {
        let stored = &mut self.dispatch.threads[caller.thread].has_stored;
        let flags = if core::mem::take(stored) {
            command::STORED
        } else {
            0
        };
        if let Some(page) = self.harts.page(caller.hart) {
            self.harts.reply(page, caller.hart, values, flags);
        }
    }

    /// May the caller's thread run on its hart?
    fn may_stay(&self, caller: Caller) -> bool {
        self.dispatch.threads[caller.thread].harts >> caller.hart & 1 != 0
    }

    /// What follows a call that is not only answered.
    #[inline(never)]
    fn finish(&mut self, caller: Caller, answer: Answer, gives_way: bool) {
        let Caller { hart, thread, .. } = caller;
        let now = csr::time();
        if !gives_way && !self.may_stay(caller) {
            match answer {
                Ok(Done::Values(a0, a1)) => self.set_values(thread, [a0, a1]),
                Ok(Done::GoesOn) => {}
                _ => return self.finish_slowly(caller, answer, gives_way, now),
            }
            if self.dispatch.pass_on(hart, now, &mut self.harts) {
                return;
            }
        }
        self.finish_slowly(caller, answer, gives_way, now);
    }

    #[inline(never)]
    fn finish_slowly(&mut self, caller: Caller, answer: Answer, gives_way: bool, now: u64) {
        let Caller { hart, thread, .. } = caller;
        let values = match answer {
            Ok(Done::Values(a0, a1)) => Some([a0, a1]),
            Err(error) => Some([error.to_register(), 0]),
            Ok(Done::GoesOn | Done::Again) => None,
            Ok(Done::GivesWay) => Some([0; 2]),
            Ok(Done::Waits | Done::Ended) => {
                if answer == Ok(Done::Waits) {
                    self.runs_anywhere(thread);
                }
                return self.dispatch.leave(hart, now, &mut self.harts);
            }
        };
        let yields = gives_way || answer == Ok(Done::GivesWay);
        #[cfg(feature = "host")]
        if yields && answer == Ok(Done::GoesOn) && self.yields_to_own_tile(hart, thread) {
            self.runs_anywhere(thread);
            return self.dispatch.leave(hart, now, &mut self.harts);
        }
        let gives_way = yields || !self.may_stay(caller);
        if yields {
            self.runs_anywhere(thread);
        }
        // Whoever runs it next finds the values in its context.
        if gives_way && let Some(values) = values {
            self.set_values(thread, values);
        }
        if gives_way && answer == Ok(Done::Again) {
            self.context(thread).make_again();
        }
        let left = gives_way && {
            let gave = self.dispatch.give_way(hart, now, &mut self.harts);
            gave == GaveWay::Left
        };
        match values {
            _ if left => {}
            Some(values) => self.reply(caller, values),
            None if answer == Ok(Done::Again) && !gives_way => {
                self.harts.give(hart, command::GO_ON | command::AGAIN);
            }
            None => self.harts.give(hart, command::GO_ON),
        }
    }

    /// Ends what time has ended.
    pub fn end_waits(&mut self) {
        while let Some(place) = self.dispatch.threads.take_due(csr::time()) {
            match self.dispatch.threads[place].is_limited {
                true => self.end_limited(place),
                false => self.end_wait(place, Err(Error::TimedOut)),
            }
        }
    }

    /// Harts forget pages of a process that had other translations. `caller`: a hart that waits for its
    /// answer, and forgets them then.
    pub fn invalidate(&mut self, process: u16, page: u64, pages: u64, caller: Option<u8>) {
        #[cfg(feature = "root")]
        self.root.handovers.forget_pages();
        let own = caller.map_or(0, |hart| 1 << hart);
        let running = self.dispatch.running_process(process) & !own;
        self.harts.forget |= self.dispatch.harts() & !running;
        let before: [u64; MOST_HARTS] = core::array::from_fn(|hart| self.invalidations(hart as u8));
        let all = (0..self.map.harts as u8).filter(|hart| running >> hart & 1 != 0);
        for hart in all.clone() {
            if let Some(line) = self.harts.page(hart) {
                set(&line.command.page, page);
                set(&line.command.pages, pages);
            }
            self.harts.give(hart, command::INVALIDATE);
        }
        for hart in all {
            let (mut begin, mut is_late) = (csr::time(), false);
            while self.invalidations(hart) == before[usize::from(hart)] {
                #[cfg(feature = "symmetric")]
                crate::symmetric::obey();
                if csr::time() - begin <= self.patience() {
                    continue;
                }
                if is_late {
                    self.lose(hart, "it does not forget translations");
                    break;
                }
                // All harts of an emulator may have stood still for so long.
                (begin, is_late) = (csr::time(), true);
            }
        }
    }

    fn invalidations(&self, hart: u8) -> u64 {
        let ordering = core::sync::atomic::Ordering::Acquire;
        let page = self.harts.page(hart);
        // An atomic operation sees what other harts have stored, without coherence, too.
        page.map_or(0, |page| page.call.invalidations.fetch_or(0, ordering))
    }

    /// Ticks after which a hart is late that does not do as it was told. The second time it is lost.
    pub fn patience(&self) -> u64 {
        self.map.frequency / 4
    }

    /// A hart has failed: its thread's process ends, and others go on.
    pub fn lose(&mut self, hart: u8, reason: &str) {
        crate::report!(self.console, "kernel: hart {hart} is lost: {reason}\n");
        self.harts.forget &= !(1 << hart);
        if let Some(place) = self.dispatch.lose(hart) {
            #[cfg(feature = "host")]
            if self.owner_lost(place) {
                return;
            }
            let process = self.dispatch.threads[place].process;
            let _: Answer = self.end_thread(place, Some(0));
            self.end_process(process, Error::Dead.to_register() & 0xff | 0x100);
        }
    }

    /// Makes a page of a process accessible, and returns its physical address.
    pub fn resolve(
        &mut self,
        process: u16,
        address: u64,
        right: u64,
        hart: Option<u8>,
    ) -> Result<u64, Trouble> {
        let Some(tables) = self.processes[process].tables else {
            #[cfg(feature = "root")]
            return self
                .processes
                .in_window(process, address)
                .ok_or(Trouble::Unmapped);
            #[cfg(not(feature = "root"))]
            return Err(Trouble::Unmapped);
        };
        if address >= USER_END {
            return Err(Trouble::Unmapped);
        }
        let resolved = loop {
            match tables.resolve(address, right, &mut self.frames, &mut Direct) {
                Err(Trouble::Unmapped) => self.map_stack(process, address)?,
                resolved => break resolved,
            }
        };
        let (at, resolved) = resolved?;
        if resolved == Resolved::Changed {
            self.invalidate(process, address / PAGE * PAGE, 1, hart);
        }
        Ok(at)
    }

    /// Maps a page of the first thread's stack, which is accessed for the first time.
    #[inline(never)]
    fn map_stack(&mut self, process: u16, address: u64) -> Result<(), Trouble> {
        let owner = &mut self.processes[process];
        let is_stack = (STACK_END - STACK_SIZE..STACK_END).contains(&address);
        let tables = owner
            .tables
            .filter(|_| is_stack && owner.pages < MOST_PAGES);
        let tables = tables.ok_or(Trouble::Unmapped)?;
        owner.pages += 1;
        let of = rights::READ | rights::WRITE;
        tables.map(address / PAGE * PAGE, of, &mut self.frames, &mut Direct)
    }

    /// Copies from a process's memory, or to it. `f` gets the physical address, the bytes there, and how
    /// many came before.
    pub fn each_piece(
        &mut self,
        caller: Caller,
        address: u64,
        size: u64,
        right: u64,
        mut f: impl FnMut(&mut Self, u64, u64, u64),
    ) -> Result<(), Error> {
        #[cfg(all(feature = "host", feature = "root"))]
        if self.is_of_host(caller) {
            return self.each_host_piece(address, size, right, f);
        }
        let mut done = 0;
        while done < size {
            let at = address.checked_add(done).ok_or(Error::BadAddress)?;
            let physical = self.resolve(caller.process, at, right, Some(caller.hart));
            let physical = physical.map_err(|trouble| match trouble {
                Trouble::NoMemory => Error::NoMemory,
                _ => Error::BadAddress,
            })?;
            let piece = (PAGE - at % PAGE).min(size - done);
            cache::refresh(physical, piece);
            f(self, physical, piece, done);
            done += piece;
        }
        Ok(())
    }

    /// Copies a record of words to a process.
    pub fn store_words(&mut self, caller: Caller, at: u64, words: &[u64]) -> Result<(), Error> {
        self.move_words(caller, at, words.len(), rights::WRITE, |place, n| {
            // SAFETY: an aligned word of the process's memory, which has just been resolved.
            unsafe { (place as *mut u64).write_volatile(words[n]) };
        })
    }

    /// A piece of memory was stored to for a thread, of two at most.
    pub fn note_stored(&mut self, caller: Caller, physical: u64, size: u64) {
        if !self.map.is_coherent {
            self.dispatch.threads[caller.thread].has_stored = true;
            let [first, second] = &mut self.context(caller.thread).stored;
            let place = if first.size == 0 { first } else { second };
            *place = Stored {
                address: physical,
                size,
            };
        }
    }

    /// Copies a record of words from a process.
    pub fn load_words(&mut self, caller: Caller, at: u64, words: &mut [u64]) -> Result<(), Error> {
        self.move_words(caller, at, words.len(), rights::READ, |place, n| {
            // SAFETY: as in `store_words`.
            words[n] = unsafe { (place as *const u64).read_volatile() };
        })
    }

    fn move_words(
        &mut self,
        caller: Caller,
        at: u64,
        count: usize,
        right: u64,
        mut f: impl FnMut(u64, usize),
    ) -> Result<(), Error> {
        if !at.is_multiple_of(8) {
            return Err(Error::BadAddress);
        }
        self.each_piece(
            caller,
            at,
            8 * count as u64,
            right,
            |kernel, place, size, before| {
                if right == rights::WRITE {
                    kernel.note_stored(caller, place, size);
                }
                for n in 0..size / 8 {
                    f(place + 8 * n, (before / 8 + n) as usize);
                }
            },
        )
    }
}

/// A time that a call gives, for [`Kernel::wait`]: none is for ever.
pub fn is_past(until: u64) -> bool {
    until != FOR_EVER && until <= csr::time()
}
