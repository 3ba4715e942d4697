//! The table of processes: address spaces with threads.
use flick_abi::card::{PAGE, PAGES_AT_ONCE, USER_END};
use flick_kernel_core::page_tables::PageTables;
use flick_kernel_core::threads::{List, Place};

/// Processes of a tile.
pub const PROCESSES: usize = 32;
/// Pages that a process may map.
pub const MOST_PAGES: u64 = 1 << 16;

/// A process.
#[derive(Debug)]
pub struct Process {
    /// `None`: there is none, or it has ended and its parent has not asked yet.
    pub tables: Option<PageTables>,
    /// `satp` of its threads.
    pub satp: u64,
    /// [`WATCHED`](flick_kernel_core::thread_lines::WATCHED), if its threads begin so.
    pub watches: u64,
    /// The place of its parent.
    pub parent: Option<u16>,
    /// How many threads it has.
    pub threads: u16,
    /// The first one, whose value is the status.
    pub first: Option<Place>,
    /// What its parent gets.
    pub status: u64,
    /// Its threads end, and it will not start others.
    pub is_ending: bool,
    /// Is the place in use?
    pub is_used: bool,
    /// The number that it has at the root that has started it; 0: it was started here.
    #[cfg(feature = "root")]
    pub chosen: u32,
    /// It does not run any more, because it moves to another tile.
    #[cfg(feature = "root")]
    pub is_held: bool,
    /// Threads that wait at an address.
    pub waiters: List,
    /// Threads that wait for exceptions.
    pub handlers: List,
    /// Threads that wait for handlers.
    pub faulted: List,
    /// Threads that have called `exception_wait` and have not ended.
    pub handler_count: u16,
    /// Threads that wait for children.
    pub parents: List,
    /// Pages that it maps.
    pub pages: u64,
    /// Where the kernel looks for free addresses first.
    pub next_address: u64,
    /// Of a process of another tile: the page that its calls' addresses are in.
    #[cfg(feature = "root")]
    window: u64,
    uses: u16,
}

const NONE: Process = Process {
    tables: None,
    satp: 0,
    watches: 0,
    parent: None,
    threads: 0,
    first: None,
    status: 0,
    is_ending: false,
    is_used: false,
    #[cfg(feature = "root")]
    chosen: 0,
    #[cfg(feature = "root")]
    is_held: false,
    waiters: List::EMPTY,
    handlers: List::EMPTY,
    faulted: List::EMPTY,
    handler_count: 0,
    parents: List::EMPTY,
    pages: 0,
    next_address: FIRST_ADDRESS,
    #[cfg(feature = "root")]
    window: 0,
    uses: 0,
};

/// Where the kernel begins to map what has no address of its own: behind most programs.
const FIRST_ADDRESS: u64 = 0x10_0000_0000;

/// All processes.
#[derive(Debug)]
pub struct Processes {
    all: [Process; PROCESSES],
    /// Somebody ends those without parents.
    pub ends_orphans: bool,
}

impl core::ops::Index<u16> for Processes {
    type Output = Process;

    fn index(&self, place: u16) -> &Process {
        &self.all[usize::from(place)]
    }
}

impl core::ops::IndexMut<u16> for Processes {
    fn index_mut(&mut self, place: u16) -> &mut Process {
        &mut self.all[usize::from(place)]
    }
}

impl Processes {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: [NONE; PROCESSES],
            ends_orphans: false,
        }
    }

    /// A process more.
    pub fn create(&mut self, parent: Option<u16>, tables: PageTables) -> Option<u16> {
        let place = self.all.iter().position(|process| !process.is_used)?;
        // Numbers are positive in 32 bits.
        let uses = self.all[place].uses.wrapping_add(1) & 0x7fff;
        self.all[place] = Process {
            tables: Some(tables),
            satp: tables.satp(place as u64 + 1),
            parent,
            is_used: true,
            uses,
            ..NONE
        };
        Some(place as u16)
    }

    /// A process of another tile, which has no threads here.
    #[cfg(feature = "root")]
    pub fn create_remote(&mut self, window: u64) -> Option<u16> {
        let place = self.all.iter().position(|process| !process.is_used)?;
        let uses = self.all[place].uses.wrapping_add(1) & 0x7fff;
        self.all[place] = Process {
            window,
            is_used: true,
            uses,
            ..NONE
        };
        Some(place as u16)
    }

    /// Its calls' addresses are in another page from now on.
    #[cfg(feature = "root")]
    pub fn set_window(&mut self, process: u16, window: u64) {
        self[process].window = window;
    }

    /// The physical address of what a call of such a process carries.
    #[cfg(feature = "root")]
    pub fn in_window(&self, process: u16, address: u64) -> Option<u64> {
        let window = self[process].window;
        (window != 0 && address < PAGE).then(|| window + address)
    }

    /// Its place is free.
    pub fn remove(&mut self, place: u16) {
        let uses = self[place].uses;
        self[place] = Process { uses, ..NONE };
    }

    /// The number of a process, which is not 0.
    pub fn number(&self, place: u16) -> u64 {
        u64::from(place) | u64::from(self[place].uses) << 16
    }

    /// The place of a child.
    pub fn child(&self, parent: u16, number: u64) -> Option<u16> {
        self.children(parent)
            .find(|&place| self.number(place) == number)
    }

    /// A process whose parent is over, and that goes on still. The first one has never had a parent.
    pub fn orphan(&self) -> Option<u16> {
        let is_orphan = |place: &u16| {
            let process = &self[*place];
            #[cfg(feature = "root")]
            if process.chosen != 0 {
                return false;
            }
            process.parent.is_none() && process.tables.is_some() && !process.is_ending
        };
        (crate::endings::FIRST + 1..PROCESSES as u16).find(is_orphan)
    }

    /// All children of a process.
    pub fn children(&self, parent: u16) -> impl Iterator<Item = u16> + use<'_> {
        let is_child = move |process: &Process| process.is_used && process.parent == Some(parent);
        (0..PROCESSES as u16).filter(move |&place| is_child(&self[place]))
    }
}

/// The pages of a range that a call may deal with. `None`: it is none. A call keeps the kernel hart from
/// others, so that it deals with few pages.
pub fn pages_of(address: u64, size: u64) -> Option<u64> {
    let pages = size.div_ceil(PAGE);
    let end = address.checked_add(pages.checked_mul(PAGE)?)?;
    let is_good =
        address.is_multiple_of(PAGE) && pages != 0 && pages <= PAGES_AT_ONCE && end <= USER_END;
    is_good.then_some(pages)
}
