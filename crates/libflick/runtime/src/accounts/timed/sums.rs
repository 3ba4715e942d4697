//! What a thread's time went to, and moments of it.
use flick_abi::descriptor::HOST_TILES;
use flick_timing::Spent;
use flick_timing::platform::PARTS;

/// What the thread's time went to, migrating; in femtoseconds. Host code's own is the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub nxp_compute: u128,
    pub nxp_memory: u128,
    pub nxp_fetch: u128,
    pub nxp_tlb: u128,
    /// NxP code's calls of the heap.
    pub nxp_library: u128,
    pub host_memory: u128,
    pub host_tlb: u128,
    pub host_library: u128,
    /// The host waits for its own memory, where the platform describes it.
    pub own_memory: u128,
    /// The kernel gives pages to host code: the time, and how many.
    pub page_faults: u128,
    pub faults: u64,
    pub parts: [u128; PARTS.len()],
    pub waiting: u128,
    /// Links and kernels of a card: from the host to the code, and from the code to the host.
    pub card: [u128; 2],
    /// By what was waited for ([`Wait`]).
    pub waits: [Times; WAITS.len()],
    /// For other threads to end.
    pub joining: u128,
    pub staying_joining: u128,
    /// Staying: what NxP code's instructions and accesses take there, and the host's own accesses.
    pub staying_compute: u128,
    pub staying_memory: u128,
    pub staying_tlb: u128,
    pub staying_library: u128,
    pub staying_own: u128,
    /// Of `staying`: what there is not if the host's memory had what NxP code has allocated; and
    /// accesses to that.
    pub spare: i128,
    pub marked: u64,
    /// Before: for other threads to end.
    pub before_joining: u128,
    pub instructions: u64,
    pub accesses: u64,
    pub host_accesses: u64,
    /// Of `host_accesses`: those that no block of code has counted as a load or store, for it was a
    /// copy.
    pub host_copies: u64,
    /// Pieces of copies from and to other memory.
    pub other_copies: u64,
    pub crossings: u64,
    /// Of a card with several kinds of NxP: the parts of `nxp_compute` to `nxp_tlb`, by tile.
    pub by_tile: [[u128; 4]; HOST_TILES],
}

impl Sums {
    pub fn add(&mut self, other: &Sums) {
        let Sums {
            nxp_compute,
            nxp_memory,
            nxp_fetch,
            nxp_tlb,
            nxp_library,
            host_memory,
            host_tlb,
            host_library,
            own_memory,
            page_faults,
            faults,
            parts,
            waiting,
            card,
            waits,
            joining,
            staying_joining,
            staying_compute,
            staying_memory,
            staying_tlb,
            staying_library,
            staying_own,
            spare,
            marked,
            before_joining,
            instructions,
            accesses,
            host_accesses,
            host_copies,
            other_copies,
            crossings,
            by_tile,
        } = other;
        self.nxp_compute += nxp_compute;
        self.nxp_memory += nxp_memory;
        self.nxp_fetch += nxp_fetch;
        self.nxp_tlb += nxp_tlb;
        self.nxp_library += nxp_library;
        self.host_memory += host_memory;
        self.host_tlb += host_tlb;
        self.host_library += host_library;
        self.own_memory += own_memory;
        self.page_faults += page_faults;
        self.faults += faults;
        for (sum, part) in self.parts.iter_mut().zip(parts) {
            *sum += part;
        }
        self.waiting += waiting;
        for (sum, way) in self.card.iter_mut().zip(card) {
            *sum += way;
        }
        for (sum, wait) in self.waits.iter_mut().zip(waits) {
            sum.add(wait);
        }
        self.joining += joining;
        self.staying_joining += staying_joining;
        self.staying_compute += staying_compute;
        self.staying_memory += staying_memory;
        self.staying_tlb += staying_tlb;
        self.staying_library += staying_library;
        self.staying_own += staying_own;
        self.spare += spare;
        self.marked += marked;
        self.before_joining += before_joining;
        self.instructions += instructions;
        self.accesses += accesses;
        self.host_accesses += host_accesses;
        self.host_copies += host_copies;
        self.other_copies += other_copies;
        self.crossings += crossings;
        let own = self.by_tile.as_flattened_mut();
        for (sum, part) in own.iter_mut().zip(by_tile.as_flattened()) {
            *sum += part;
        }
    }

    pub fn crossing(&self) -> u128 {
        self.parts.iter().sum::<u128>() + self.waiting + self.card.iter().sum::<u128>()
    }

    /// Without host code's own time.
    pub fn migrating(&self) -> u128 {
        self.nxp_compute
            + self.nxp_memory
            + self.nxp_fetch
            + self.nxp_tlb
            + self.nxp_library
            + self.host_memory
            + self.host_tlb
            + self.host_library
            + self.own_memory
            + self.page_faults
            + self.crossing()
            + self.joining
            + self.waited().migrating
    }

    /// Without host code's own time.
    pub fn staying(&self) -> u128 {
        self.staying_compute
            + self.staying_memory
            + self.staying_tlb
            + self.staying_library
            + self.staying_own
            + self.page_faults
            + self.staying_joining
            + self.waited().staying
    }

    /// Without host code's own time.
    pub fn before(&self) -> u128 {
        let waited = self.waited();
        let alone = (self.staying() - self.staying_joining - waited.staying) as i128 - self.spare;
        u128::try_from(alone).unwrap_or(0) + self.before_joining + waited.before
    }

    /// Without host code's own time, and without waiting.
    pub fn spent(&self) -> u128 {
        self.migrating() - self.waiting - self.joining - self.waited().migrating
    }

    /// For all that [`Wait`] names.
    fn waited(&self) -> Times {
        let mut sum = Times::default();
        self.waits.iter().for_each(|wait| sum.add(wait));
        sum
    }

    /// On a tile.
    pub fn spend(&mut self, spent: &Spent, tile: u16) {
        let parts = [spent.compute, spent.memory, spent.fetch, spent.tlb];
        let sums = &mut self.by_tile[usize::from(tile) % HOST_TILES];
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += u128::from(part);
        }
        self.spare += i128::from(spent.spare);
        self.marked += spent.marked;
        self.instructions += spent.instructions;
        self.accesses += spent.accesses;
        self.nxp_compute += u128::from(spent.compute);
        self.nxp_memory += u128::from(spent.memory);
        self.nxp_fetch += u128::from(spent.fetch);
        self.nxp_tlb += u128::from(spent.tlb);
        self.staying_compute += u128::from(spent.staying_compute);
        self.staying_memory += u128::from(spent.staying_memory);
        self.staying_tlb += u128::from(spent.staying_tlb);
        self.staying_own += u128::from(spent.staying_own);
    }
}

/// What a thread has waited for, or spent without a rule of its own: an index into [`WAITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Lock,
    /// Another thread's signal: condition variables, semaphores, futexes.
    Signal,
    Barrier,
    Data,
    Sleep,
}

/// Their names in reports.
pub const WAITS: [&str; 5] = [
    "waiting for locks",
    "waiting for signals of threads",
    "waiting at barriers",
    "waiting for data",
    "sleeping",
];

/// A moment in each world, since the program began. Femtoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub migrating: u128,
    pub staying: u128,
    /// As staying, with what NxP code has allocated in the host's memory: nothing is placed.
    pub before: u128,
}

impl Times {
    /// The same in all worlds.
    pub fn of(time: u128) -> Self {
        Self {
            migrating: time,
            staying: time,
            before: time,
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.migrating += other.migrating;
        self.staying += other.staying;
        self.before += other.before;
    }

    /// What is left until `later`, in each world.
    pub fn until(&self, later: &Self) -> Self {
        Self {
            migrating: later.migrating.saturating_sub(self.migrating),
            staying: later.staying.saturating_sub(self.staying),
            before: later.before.saturating_sub(self.before),
        }
    }

    /// So much later, in each world.
    pub fn after(&self, time: u128) -> Self {
        let mut later = *self;
        later.add(&Self::of(time));
        later
    }

    /// The earlier of the two, in each world.
    pub fn earliest(&self, other: &Self) -> Self {
        Self {
            migrating: self.migrating.min(other.migrating),
            staying: self.staying.min(other.staying),
            before: self.before.min(other.before),
        }
    }

    /// The later of the two, in each world.
    pub fn latest(&self, other: &Self) -> Self {
        Self {
            migrating: self.migrating.max(other.migrating),
            staying: self.staying.max(other.staying),
            before: self.before.max(other.before),
        }
    }
}

/// What an access of host code is charged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Charged {
    /// Whether it is to NxP-local memory.
    pub local: bool,
    /// Migrating.
    pub time: u64,
    /// Staying, beyond what it would cost before, and whether it is to what NxP code has allocated.
    pub spare: i64,
    pub marked: bool,
}
