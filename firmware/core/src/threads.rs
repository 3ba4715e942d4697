//! The table of threads: their states, and the lists that they stand in.
//!
//! A number of a thread has its place in the table and how often the place was used, so that an old
//! number is of no thread.
use flick_abi::card::{FOR_EVER, PRIORITIES};

/// Threads of a tile. With those of the host there is a place for each of them, and for others.
pub const THREADS: usize = match cfg!(feature = "host") {
    true => flick_abi::descriptor::OWNERS + 64,
    false => 256,
};

/// The place of a thread in the table.
pub type Place = u16;
/// No thread.
const NOBODY: Place = Place::MAX;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// There is none.
    Free,
    /// It waits for a hart.
    Ready,
    /// The hart of this number runs it, or executes a call for it.
    Running(u8),
    /// It waits for something else.
    Waits(Wait),
    /// It has ended, and its value waits for a join.
    Ended,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// A wake-up, or a time.
    Sleep,
    /// The end of a thread.
    Join(Place),
    /// A wake-up at an address of its process.
    Address(u64),
    /// A handler, for its exception.
    Handler,
    /// An exception of another thread; the record's address.
    Exception(u64),
    /// The end of a process; 0: any child.
    Process(u64),
    /// A message in the mailbox of this port, for this address.
    Mail(u64, u64),
    /// Room in the mailbox of a tile and port.
    Room(u64),
    /// A credit for the kernel of a tile.
    Credit(u64),
    /// Another kernel's answer whether it has the portal of a tile and port.
    Asked(u64),
    /// Consent of the portal of a tile and port.
    Consent(u64),
    /// Another kernel's answer: tile and port.
    Sent(u64),
    /// Another kernel's answer to a consent of this portal.
    Allowed(u64),
    /// The data of this portal.
    Portal(u64),
    /// Bytes from the console: where to, and how many.
    Console(u64, u64),
    /// Its owner, a thread of the host.
    Owner,
    /// A message of this gate.
    #[cfg(feature = "root")]
    Gate(u8),
    /// The answer to this call of a gate.
    #[cfg(feature = "root")]
    Answer(u8),
    /// The end of this activity of an accelerator.
    #[cfg(feature = "root")]
    Activity(u16),
    /// The root's answer to this call.
    #[cfg(feature = "root")]
    Root(u8),
}

/// A list of threads in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct List {
    first: Place,
    last: Place,
}

impl List {
    /// An empty one.
    pub const EMPTY: Self = Self {
        first: NOBODY,
        last: NOBODY,
    };

    /// Is nobody in it?
    pub fn is_empty(&self) -> bool {
        self.first == NOBODY
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Links {
    next: Place,
    previous: Place,
}

const APART: Links = Links {
    next: NOBODY,
    previous: NOBODY,
};

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// What it does.
    pub state: State,
    /// The place of its process.
    pub process: u16,
    /// 0 is the most urgent.
    pub priority: u8,
    /// Nobody will join it.
    pub is_detached: bool,
    /// A wake-up has come before the sleep.
    pub is_woken: bool,
    /// It has waited for exceptions: its own end the process.
    pub is_handler: bool,
    /// Its context names memory that was stored to for it.
    pub has_stored: bool,
    /// Its timer is the kernel's own, for what another tile may never answer.
    pub is_limited: bool,
    /// It has never run: its context has nothing but where it begins.
    pub is_fresh: bool,
    /// Pages that its vector registers take.
    pub vector_pages: u8,
    /// The hart that it ran on last.
    pub last_hart: u8,
    /// The harts that it may run on, a bit each.
    pub harts: u64,
    /// Its registers: the address of a [`Context`](crate::context::Context).
    pub context: u64,
    /// A handler knows of it.
    pub is_told: bool,
    /// It runs on fewer harts than its process lets it, for an extension: its line has all of them.
    pub is_away: bool,
    /// It is ready, and can run on special harts alone.
    is_special: bool,
    /// When its wait ends.
    until: u64,
    joiner: Place,
    uses: u16,
    links: Links,
    timer: Links,
}

const FREE: Thread = Thread {
    state: State::Free,
    process: 0,
    priority: 0,
    is_detached: false,
    is_woken: false,
    is_handler: false,
    has_stored: false,
    is_limited: false,
    is_fresh: true,
    vector_pages: 0,
    last_hart: u8::MAX,
    harts: 0,
    context: 0,
    is_told: false,
    is_away: false,
    is_special: false,
    until: FOR_EVER,
    joiner: NOBODY,
    uses: 1,
    links: APART,
    timer: APART,
};

impl Thread {
    /// Has it an exception that no handler knows of?
    pub fn exception_is_new(&self) -> bool {
        self.state == State::Waits(Wait::Handler) && !self.is_told
    }
}

/// The places of threads. Those that were never used are made one by one: all at once would take long.
#[derive(Debug)]
#[cfg_attr(not(target_os = "none"), derive(Clone, PartialEq, Eq, Hash))]
pub struct Table<const COUNT: usize> {
    made: usize,
    /// How many have memory.
    most: usize,
    /// In frames, so that the kernel's file has no room for them.
    #[cfg(target_os = "none")]
    places: core::ptr::NonNull<Thread>,
    /// A part of the state, in models.
    #[cfg(not(target_os = "none"))]
    places: [Thread; COUNT],
}

impl<const COUNT: usize> Table<COUNT> {
    const EMPTY: Self = Self {
        made: 0,
        most: if cfg!(target_os = "none") { 0 } else { COUNT },
        #[cfg(target_os = "none")]
        places: core::ptr::NonNull::dangling(),
        #[cfg(not(target_os = "none"))]
        places: [FREE; COUNT],
    };

    /// The table is at an address.
    ///
    /// # Safety
    /// The memory is large enough, and nobody else's for ever. The table is empty.
    #[cfg(target_os = "none")]
    pub unsafe fn put_at(&mut self, address: u64) {
        if let Some(places) = core::ptr::NonNull::new(address as *mut Thread) {
            (self.places, self.most) = (places, COUNT);
        }
    }

    /// A place of a list, or of [`Threads::places`]: it was made.
    #[inline(always)]
    fn at(&self, place: Place) -> &Thread {
        #[cfg(target_os = "none")]
        {
            assert!(usize::from(place) < COUNT);
            // SAFETY: it is in the memory. Only places that were made come to lists, and to others from there.
            unsafe { self.places.add(place.into()).as_ref() }
        }
        #[cfg(not(target_os = "none"))]
        &self[usize::from(place)]
    }

    /// See [`Self::at`].
    #[inline(always)]
    fn at_mut(&mut self, place: Place) -> &mut Thread {
        #[cfg(target_os = "none")]
        {
            assert!(usize::from(place) < COUNT);
            // SAFETY: as in `at`.
            unsafe { self.places.add(place.into()).as_mut() }
        }
        #[cfg(not(target_os = "none"))]
        &mut self[usize::from(place)]
    }

    /// Are there places that were never made?
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.made < self.most
    }

    /// Makes a place more, which is free.
    fn add(&mut self) -> Option<Place> {
        let place = self.has_room().then_some(self.made)?;
        // SAFETY: the memory has room for this place, and is the table's.
        #[cfg(target_os = "none")]
        unsafe {
            self.places.add(place).write(FREE);
        }
        self.made += 1;
        Some(place as Place)
    }
}

impl<const COUNT: usize> core::ops::Deref for Table<COUNT> {
    type Target = [Thread];

    #[inline(always)]
    fn deref(&self) -> &[Thread] {
        // SAFETY: so many places were made there.
        #[cfg(target_os = "none")]
        return unsafe { core::slice::from_raw_parts(self.places.as_ptr(), self.made) };
        #[cfg(not(target_os = "none"))]
        &self.places[..self.made]
    }
}

impl<const COUNT: usize> core::ops::DerefMut for Table<COUNT> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Thread] {
        // SAFETY: as in `deref`.
        #[cfg(target_os = "none")]
        return unsafe { core::slice::from_raw_parts_mut(self.places.as_ptr(), self.made) };
        #[cfg(not(target_os = "none"))]
        &mut self.places[..self.made]
    }
}

/// The threads of a tile. Small fields are first, where instructions reach them.
#[repr(C)]
#[derive(Debug)]
#[cfg_attr(not(target_os = "none"), derive(Clone, PartialEq, Eq, Hash))]
pub struct Threads<const COUNT: usize = THREADS> {
    free: List,
    count: u16,
    ready_count: u16,
    /// Ready threads that can run on special harts alone.
    special_count: u16,
    /// Priorities that threads have had, as bits.
    priorities: u16,
    /// By priority.
    ready: [List; PRIORITIES as usize],
    /// By time.
    timers: List,
    /// Harts that others are preferred to, as bits: they have what others lack, or lack what others have.
    pub special: u64,
    /// By place.
    pub all: Table<COUNT>,
}

impl<const COUNT: usize> core::ops::Index<Place> for Threads<COUNT> {
    type Output = Thread;

    #[inline(always)]
    fn index(&self, place: Place) -> &Thread {
        self.all.at(place)
    }
}

impl<const COUNT: usize> core::ops::IndexMut<Place> for Threads<COUNT> {
    #[inline(always)]
    fn index_mut(&mut self, place: Place) -> &mut Thread {
        self.all.at_mut(place)
    }
}

impl<const COUNT: usize> Default for Threads<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Threads<COUNT> {
    /// No threads.
    pub const fn new() -> Self {
        Self {
            all: Table::EMPTY,
            special: 0,
            free: List::EMPTY,
            ready: [List::EMPTY; PRIORITIES as usize],
            timers: List::EMPTY,
            count: 0,
            ready_count: 0,
            special_count: 0,
            priorities: 0,
        }
    }

    /// Makes a place more for later. False: all are made.
    #[cold]
    #[inline(never)]
    pub fn add_place(&mut self) -> bool {
        let Some(place) = self.all.add() else {
            return false;
        };
        let mut free = self.free;
        self.append(&mut free, place);
        self.free = free;
        true
    }

    /// The places that were made.
    pub fn places(&self) -> core::ops::Range<Place> {
        0..self.all.len() as Place
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// The number of the thread at a place.
    pub fn number(&self, place: Place) -> u64 {
        u64::from(place) | u64::from(self[place].uses) << 16
    }

    /// The place of a number's thread, if it is of this process.
    pub fn find(&self, number: u64, process: u16) -> Option<Place> {
        let place = Place::try_from(number & 0xffff).ok()?;
        let thread = self.all.get(usize::from(place))?;
        let is_there = thread.state != State::Free && thread.process == process;
        (is_there && self.number(place) == number).then_some(place)
    }

    /// The thread of a number, of any process.
    pub fn find_any(&self, number: u64) -> Option<Place> {
        let place = Place::try_from(number & 0xffff).ok()?;
        let process = self.all.get(usize::from(place))?.process;
        self.find(number, process)
    }

    /// All threads of a process.
    pub fn of_process(&self, process: u16) -> impl Iterator<Item = Place> + use<'_, COUNT> {
        let is_of = move |thread: &Thread| thread.state != State::Free && thread.process == process;
        self.places().filter(move |&place| is_of(&self[place]))
    }

    /// A place for a thread, which waits for nothing yet: it is in no list.
    #[inline(always)]
    pub fn create(&mut self, process: u16, priority: u8, harts: u64) -> Option<Place> {
        if self.free.is_empty() {
            self.add_place();
        }
        // Places that are free are as `FREE`. There is none of the number `NOBODY`.
        let place = self.free.first;
        if place == NOBODY {
            return None;
        }
        let thread = self.all.at_mut(place);
        self.free.first = thread.links.next;
        if thread.links.next == NOBODY {
            self.free.last = NOBODY;
        }
        (thread.state, thread.process) = (State::Waits(Wait::Sleep), process);
        (thread.priority, thread.harts, thread.links) = (priority, harts, APART);
        self.count += 1;
        self.priorities |= 1 << priority;
        Some(place)
    }

    /// Changes how urgent a thread is that is in no list. How urgent it was.
    pub fn set_priority(&mut self, place: Place, priority: u8) -> u8 {
        self.priorities |= 1 << priority;
        core::mem::replace(&mut self[place].priority, priority)
    }

    /// May there be threads that are less urgent?
    pub fn may_be_less_urgent(&self, priority: u8) -> bool {
        self.priorities >> priority > 1
    }

    /// The place of a thread that is in no list is free.
    #[inline(never)]
    pub fn remove(&mut self, place: Place) {
        let uses = self[place].uses.wrapping_add(1);
        self[place] = Thread { uses, ..FREE };
        self.count -= 1;
        let mut free = self.free;
        self.append(&mut free, place);
        self.free = free;
    }

    /// Appends a thread to a list. It is in one list at most.
    pub fn append(&mut self, list: &mut List, place: Place) {
        self[place].links = Links {
            next: NOBODY,
            previous: list.last,
        };
        match list.last {
            NOBODY => list.first = place,
            last => self[last].links.next = place,
        }
        list.last = place;
    }

    /// Takes a thread out of its list.
    pub fn take_out(&mut self, list: &mut List, place: Place) {
        let Links { next, previous } = self[place].links;
        match previous {
            NOBODY => list.first = next,
            previous => self[previous].links.next = next,
        }
        match next {
            NOBODY => list.last = previous,
            next => self[next].links.previous = previous,
        }
        self[place].links = APART;
    }

    /// Takes the thread that came first.
    pub fn take_first(&mut self, list: &mut List) -> Option<Place> {
        let first = list.first;
        if first == NOBODY {
            return None;
        }
        self.take_out(list, first);
        Some(first)
    }

    /// Those in a list, in their order.
    pub fn in_list(&self, list: &List) -> impl Iterator<Item = Place> + use<'_, COUNT> {
        let some = |place| (place != NOBODY).then_some(place);
        core::iter::successors(some(list.first), move |&place| some(self[place].links.next))
    }

    /// The first in a list of which something holds.
    pub fn find_in(&self, list: &List, f: impl Fn(&Thread) -> bool) -> Option<Place> {
        self.in_list(list).find(|&place| f(&self[place]))
    }

    /// A thread is ready, as the last of its priority, or as the first.
    pub fn make_ready(&mut self, place: Place) {
        let is_special = self.is_special(place);
        let thread = &mut self[place];
        (thread.state, thread.is_special) = (State::Ready, is_special);
        self.ready_count += 1;
        self.special_count += u16::from(is_special);
        let priority = usize::from(self[place].priority);
        let mut list = self.ready[priority];
        self.append(&mut list, place);
        self.ready[priority] = list;
    }

    /// A thread that was ready is no longer in a list.
    pub fn take_ready(&mut self, place: Place) {
        self.ready_count -= 1;
        self.special_count -= u16::from(self[place].is_special);
        let priority = usize::from(self[place].priority);
        let mut list = self.ready[priority];
        self.take_out(&mut list, place);
        self.ready[priority] = list;
    }

    /// The first of the most urgent threads that are ready and may run on a hart.
    pub fn first_ready(&self, hart: u8) -> Option<Place> {
        if self.ready_count == 0 {
            return None;
        }
        let lists = self.ready.iter().filter(|list| !list.is_empty());
        let mut all = lists.flat_map(|list| self.in_list(list));
        let may = |&place: &Place| self[place].harts >> hart & 1 != 0;
        let first = all.find(may)?;
        if self.special >> hart & 1 == 0 || self.special_count == 0 {
            return Some(first);
        }
        // As urgent, and for special harts alone: others have other harts.
        let list = &self.ready[usize::from(self[first].priority)];
        let mut all = self.in_list(list).filter(may);
        all.find(|&place| self.is_special(place)).or(Some(first))
    }

    /// Can it run on special harts alone?
    pub fn is_special(&self, place: Place) -> bool {
        self[place].harts & !self.special == 0
    }

    /// Is any thread ready?
    pub fn has_ready(&self) -> bool {
        self.ready_count != 0
    }

    /// The thread's wait ends at a time.
    pub fn set_timer(&mut self, place: Place, until: u64) {
        self[place].until = until;
        if until == FOR_EVER {
            return;
        }
        let (mut previous, mut next) = (self.timers.last, NOBODY);
        while previous != NOBODY && self[previous].until > until {
            (previous, next) = (self[previous].timer.previous, previous);
        }
        self[place].timer = Links { next, previous };
        match previous {
            NOBODY => self.timers.first = place,
            previous => self[previous].timer.next = place,
        }
        match next {
            NOBODY => self.timers.last = place,
            next => self[next].timer.previous = place,
        }
    }

    /// It does not.
    pub fn clear_timer(&mut self, place: Place) {
        if self[place].until == FOR_EVER {
            return;
        }
        self[place].until = FOR_EVER;
        let Links { next, previous } = self[place].timer;
        match previous {
            NOBODY => self.timers.first = next,
            previous => self[previous].timer.next = next,
        }
        match next {
            NOBODY => self.timers.last = previous,
            next => self[next].timer.previous = previous,
        }
        self[place].timer = APART;
    }

    /// When the first wait ends.
    pub fn next_timer(&self) -> u64 {
        match self.timers.first {
            NOBODY => FOR_EVER,
            first => self[first].until,
        }
    }

    /// A thread whose wait has ended by time.
    pub fn take_due(&mut self, now: u64) -> Option<Place> {
        let first = self.timers.first;
        (self.next_timer() <= now && first != NOBODY).then(|| {
            self.clear_timer(first);
            first
        })
    }

    /// Who waits for the end of a thread.
    pub fn joiner(&self, place: Place) -> Option<Place> {
        Some(self[place].joiner).filter(|&joiner| joiner != NOBODY)
    }

    /// See [`Self::joiner`].
    pub fn set_joiner(&mut self, place: Place, joiner: Option<Place>) {
        self[place].joiner = joiner.unwrap_or(NOBODY);
    }

    /// Would a join of `target` by `caller` wait for itself?
    pub fn is_deadlock(&self, caller: Place, target: Place) -> bool {
        let next = |&place: &Place| match self[place].state {
            State::Waits(Wait::Join(next)) => Some(next),
            _ => None,
        };
        core::iter::successors(Some(target), next).any(|place| place == caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> (Box<Threads>, Vec<Place>) {
        let mut threads: Box<Threads> = Box::default();
        let all = (0..count).map(|_| threads.create(1, 4, 0b11).unwrap());
        let all = all.collect();
        (threads, all)
    }

    #[test]
    fn numbers_are_used_once() {
        let (mut threads, all) = threads(THREADS);
        assert_eq!(threads.create(1, 4, 1), None);
        let number = threads.number(all[3]);
        assert_eq!(threads.find(number, 1), Some(all[3]));
        assert_eq!(threads.find(number, 2), None);
        threads.remove(all[3]);
        assert_eq!(threads.find(number, 1), None);
        let again = threads.create(1, 4, 1).unwrap();
        assert_eq!(again, all[3]);
        assert_eq!(threads.find(number, 1), None);
        assert_eq!(threads.find(u64::MAX, 1), None);
    }

    #[test]
    fn the_most_urgent_comes_first() {
        let (mut threads, all) = threads(4);
        threads[all[2]].priority = 1;
        threads[all[3]].priority = 0;
        threads[all[3]].harts = 0b10;
        all.iter().for_each(|&place| threads.make_ready(place));
        assert_eq!(threads.first_ready(0), Some(all[2]));
        assert_eq!(threads.first_ready(1), Some(all[3]));
        assert_eq!(threads.first_ready(2), None);
        threads.take_ready(all[2]);
        assert_eq!(threads.first_ready(0), Some(all[0]));
        threads.take_ready(all[0]);
        assert_eq!(threads.first_ready(0), Some(all[1]));
    }

    #[test]
    fn special_harts_prefer_their_own() {
        let (mut threads, all) = threads(3);
        threads.special = 0b100;
        all[..2]
            .iter()
            .for_each(|&place| threads[place].harts = 0b111);
        threads[all[2]].harts = 0b100;
        all.iter().for_each(|&place| threads.make_ready(place));
        assert_eq!(threads.first_ready(2), Some(all[2]));
        assert_eq!(threads.first_ready(1), Some(all[0]));
        // It is told from others as it was when it came.
        threads[all[2]].harts = u64::MAX;
        threads.take_ready(all[2]);
        assert_eq!(threads.first_ready(2), Some(all[0]));
        threads.make_ready(all[2]);
        assert_eq!(threads.first_ready(2), Some(all[0]));
    }

    #[test]
    fn timers_are_by_time() {
        let (mut threads, all) = threads(4);
        for (&place, until) in all.iter().zip([30, 10, 20, FOR_EVER]) {
            threads.set_timer(place, until);
        }
        assert_eq!(threads.next_timer(), 10);
        threads.clear_timer(all[2]);
        threads.clear_timer(all[3]);
        assert_eq!(threads.take_due(9), None);
        assert_eq!(threads.take_due(40), Some(all[1]));
        assert_eq!(threads.take_due(40), Some(all[0]));
        assert_eq!(threads.take_due(u64::MAX), None);
    }

    #[test]
    fn joins_in_a_circle_are_found() {
        let (mut threads, all) = threads(3);
        threads[all[1]].state = State::Waits(Wait::Join(all[2]));
        assert!(threads.is_deadlock(all[0], all[0]));
        assert!(threads.is_deadlock(all[2], all[1]));
        assert!(!threads.is_deadlock(all[0], all[1]));
    }
}
