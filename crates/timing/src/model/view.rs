//! Memory as a core sees it: its TLB, its caches, and the memories behind them.
use super::sets::Sets;
use crate::platform::{Cache, Core, Memory, REGIONS, Region};

/// An access to data.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The memory that the access goes to.
    pub region: Region,
    /// Of [`Region::Nxp`] on a card with several kinds of NxP: the number of the tile that has the memory.
    /// `None`: it is the core's own, or there is one NxP.
    pub tile: Option<u16>,
    /// A place from [`super::Pages`], or an offset in its region.
    pub place: u64,
    /// Bytes of the access.
    pub bytes: u64,
    /// Whether it is a store.
    pub write: bool,
}

/// Femtoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The caches, and the memory behind them.
    pub memory: u64,
    /// The TLB miss, if there is one.
    pub tlb: u64,
}

#[derive(Clone, Debug)]
struct Level {
    lines: Sets,
    shift: u32,
    hit: u64,
    /// By whether it is fetched ahead.
    each: [u64; 2],
    holds: [bool; REGIONS.len()],
    /// Its oldest line goes, and who uses the model is told which one that was.
    is_told: bool,
}

/// Lines of the host's own memory that have left its nearest cache.
#[derive(Clone, Debug)]
pub struct Gone {
    lines: Vec<u64>,
    /// There were more than the list has room for.
    is_full: bool,
}

impl Gone {
    /// More than an access, and the page that the kernel fills before it, can displace.
    const MOST: usize = 256;

    fn new() -> Self {
        Self {
            lines: Vec::with_capacity(Self::MOST),
            is_full: false,
        }
    }

    fn add(&mut self, number: u64) {
        match self.lines.len() < Self::MOST {
            true => self.lines.push(number),
            false => self.is_full = true,
        }
    }

    /// Calls a function for each of them, and forgets them. False: there were more.
    pub fn take(&mut self, each: impl FnMut(u64)) -> bool {
        self.lines.drain(..).for_each(each);
        !std::mem::take(&mut self.is_full)
    }
}

impl Level {
    /// Uses a line: whether it was there.
    #[inline]
    fn touch(&mut self, line: u64, region: usize, gone: &mut Gone) -> bool {
        let number = apart(line, region);
        if !self.is_told {
            return self.lines.touch(number);
        }
        let Some(left) = self.lines.enter(number) else {
            return true;
        };
        let of_host = left.filter(|left| left >> REGION_SHIFT == Region::Host as u64);
        if let Some(left) = of_host {
            gone.add(left & ((1 << REGION_SHIFT) - 1));
        }
        false
    }

    fn new(cache: &Cache) -> Self {
        Self {
            is_told: false,
            lines: Sets::new((cache.size / cache.line) as usize, cache.ways),
            shift: cache.line.trailing_zeros(),
            hit: cache.hit,
            each: [cache.each, cache.in_order],
            holds: cache.holds,
        }
    }
}

/// What is behind the caches: a load, a store and a byte.
#[derive(Clone, Copy, Debug)]
struct Behind {
    load: u64,
    store: u64,
    byte: u64,
}

impl Behind {
    fn new(memory: &Memory, overlap: f64) -> Self {
        let share = |time: u64| (time as f64 / overlap).round() as u64;
        Self {
            load: share(memory.load),
            store: share(memory.store),
            byte: memory.byte.round() as u64,
        }
    }

    #[inline]
    fn time(&self, bytes: u64, write: bool) -> u64 {
        let time = if write { self.store } else { self.load };
        time + bytes * self.byte
    }
}

/// The state of a core's caches and TLB.
#[derive(Clone, Debug)]
pub struct View {
    tlb: Option<Sets>,
    tlb_miss: [u64; REGIONS.len()],
    /// A walk reads an entry of a page table, which the caches of the host's own memory have, or not.
    walks_read: bool,
    /// From one walk to the next.
    walks_each: u64,
    page: [u32; REGIONS.len()],
    levels: Box<[Level]>,
    pub(crate) gone: Gone,
    /// By region.
    behind: [Behind; REGIONS.len()],
    /// The memories of tiles by number, and the region whose caches hold them.
    tiles: Box<[Behind]>,
    tiles_like: usize,
    cached: [bool; REGIONS.len()],
    code: Option<Level>,
    /// As large as `tlb`.
    code_tlb: Option<Sets>,
    /// Cost of filling a line of code from the host's memory, where code is.
    code_miss: u64,
}

/// Where the page tables are, beside all other memory; log2 of the bytes of an entry.
const TABLES: u64 = 1 << 56;
const TABLE_ENTRY: u32 = 3;

/// log2 of the bytes that the kernel fills at a fault.
const KERNEL_PAGE: u32 = 12;

/// Where the region is in a number.
const REGION_SHIFT: u32 = 60;

/// Regions share neither pages nor lines, and the low bits choose the set.
#[inline]
fn apart(number: u64, region: usize) -> u64 {
    number | (region as u64) << REGION_SHIFT
}

impl View {
    /// Empty caches and an empty TLB.
    pub fn new(core: &Core) -> Self {
        let mut levels: Box<[Level]> = core.caches.iter().map(Level::new).collect();
        if let Some(nearest) = levels.first_mut() {
            nearest.is_told = core.window.is_some();
        }
        let host = core.memory[Region::Host as usize];
        let code = core.icache.as_ref().map(Level::new);
        let line = code.as_ref().map_or(0, |level| 1_u64 << level.shift);
        Self {
            tlb: core
                .tlb
                .as_ref()
                .map(|tlb| Sets::new(tlb.entries, tlb.ways)),
            tlb_miss: core.tlb.as_ref().map_or([0; REGIONS.len()], |tlb| tlb.miss),
            walks_read: core.tlb.as_ref().is_some_and(|tlb| tlb.reads),
            walks_each: core.tlb.as_ref().map_or(0, |tlb| tlb.each),
            page: core.page,
            gone: Gone::new(),
            cached: std::array::from_fn(|region| levels.iter().any(|level| level.holds[region])),
            levels,
            behind: core.memory.map(|memory| Behind::new(&memory, core.overlap)),
            tiles: Box::default(),
            tiles_like: Region::Nxp as usize,
            code_tlb: core
                .tlb
                .as_ref()
                .map(|tlb| Sets::new(tlb.entries, tlb.ways)),
            code,
            code_miss: host.load + (line as f64 * host.byte).round() as u64,
        }
    }

    /// From now on the core, of which this is a view, sees the memories of tiles, by number. Those that it
    /// does not see in a way of their own are like this region's memory to it. Caches that hold this region
    /// hold them.
    pub fn see_tiles(&mut self, core: &Core, names: &[&str], like: Region) {
        let own = |name: &&str| {
            let mut named = core.tiles.iter();
            let found = named.find(|(known, _)| known == name);
            let memory = found.map_or(&core.memory[like as usize], |(_, memory)| memory);
            Behind::new(memory, core.overlap)
        };
        self.tiles = names.iter().map(own).collect();
        self.tiles_like = like as usize;
    }

    /// Copies the state of `other`, a view of the same core. It allocates nothing, because signal
    /// handlers call it.
    pub fn copy(&mut self, other: &View) {
        let sets = |to: &mut Option<Sets>, from: &Option<Sets>| {
            if let (Some(to), Some(from)) = (to, from) {
                to.copy(from);
            }
        };
        sets(&mut self.tlb, &other.tlb);
        sets(&mut self.code_tlb, &other.code_tlb);
        let levels = self.levels.iter_mut().chain(&mut self.code);
        for (to, from) in levels.zip(other.levels.iter().chain(&other.code)) {
            to.lines.copy(&from.lines);
        }
    }

    /// Whether every access to `region` costs the same.
    pub fn is_flat(&self, region: Region) -> bool {
        self.tlb.is_none() && !self.cached[region as usize]
    }

    /// Makes an access. An access that spans two lines uses both. An access that spans two pages is
    /// charged the first page.
    #[inline]
    pub fn access(&mut self, access: Access) -> Cost {
        let region = access.region as usize;
        let mut cost = Cost::default();
        if let Some(tlb) = &mut self.tlb
            && !tlb.touch(apart(access.place >> self.page[region], region))
        {
            cost.tlb = self.tlb_miss[region];
        }
        let of_tile = access
            .tile
            .and_then(|tile| self.tiles.get(usize::from(tile)));
        let (behind, holds) = match of_tile {
            None => (self.behind[region], region),
            Some(behind) => (*behind, self.tiles_like),
        };
        cost.memory = if self.cached[holds] {
            self.cached(access, holds, behind)
        } else {
            behind.time(access.bytes, access.write)
        };
        cost
    }

    fn cached(&mut self, access: Access, holds: usize, behind: Behind) -> u64 {
        let shift = self.levels[0].shift;
        let last = access.place.wrapping_add(access.bytes.max(1) - 1) >> shift;
        let mut time = 0;
        let mut line = access.place >> shift;
        loop {
            time += self.line(line << shift, access.region, holds, behind);
            if line >= last {
                return time;
            }
            line += 1;
        }
    }

    /// A line that no cache has is filled in all of them, for a store as well (write-allocate,
    /// write-back). Write-backs are not charged.
    #[inline]
    fn line(&mut self, place: u64, region: Region, holds: usize, behind: Behind) -> u64 {
        let mut line = 0;
        for level in &mut self.levels {
            if !level.holds[holds] {
                continue;
            }
            if level.touch(place >> level.shift, region as usize, &mut self.gone) {
                return level.hit;
            }
            line = 1_u64 << level.shift;
        }
        behind.time(line, false)
    }

    /// The kernel has filled a page of the host's own memory: its lines are in the caches now.
    pub(crate) fn own_fill(&mut self, place: u64) {
        let host = Region::Host as usize;
        for level in self.levels.iter_mut().filter(|level| level.holds[host]) {
            let page = place >> KERNEL_PAGE << KERNEL_PAGE;
            let (first, last) = (
                page >> level.shift,
                (page + (1 << KERNEL_PAGE) - 1) >> level.shift,
            );
            for line in first..=last {
                level.touch(line, host, &mut self.gone);
            }
        }
    }

    /// Looks up the page of an access to the host's own memory: what a miss costs.
    #[inline]
    pub(super) fn own_page(&mut self, place: u64) -> u64 {
        let host = Region::Host as usize;
        let page = apart(place >> self.page[host], host);
        if self.tlb.as_mut().is_none_or(|tlb| tlb.touch(page)) {
            return 0;
        }
        let mut walk = self.tlb_miss[host];
        if self.walks_read {
            let entry = TABLES | (place >> self.page[host]) << TABLE_ENTRY;
            walk += self.own_line(entry).1;
        }
        walk
    }

    /// For how long a walk keeps the core from the next one.
    pub(super) fn own_walks_each(&self) -> u64 {
        self.walks_each
    }

    /// Looks up a line of the host's own memory: the number of the cache that has it, and its cost.
    /// Where none has it, the number of caches, and the memory's load.
    #[inline]
    pub(super) fn own_line(&mut self, place: u64) -> (usize, u64) {
        let host = Region::Host as usize;
        for (number, level) in self.levels.iter_mut().enumerate() {
            if level.holds[host] && level.touch(place >> level.shift, host, &mut self.gone) {
                return (number, level.hit);
            }
        }
        (self.levels.len(), self.behind[host].load)
    }

    /// The line of the nearest cache that holds the host's own memory, and how many sets it has; a
    /// line of a byte and no set if there is none.
    pub(super) fn own_shape(&self) -> (u32, u64) {
        let nearest = self.levels.first();
        match nearest.filter(|level| level.holds[Region::Host as usize]) {
            Some(level) => (level.shift, level.lines.sets()),
            None => (0, 0),
        }
    }

    /// Whether this is no cache's number, but stands for the memory.
    pub(super) fn is_behind(&self, number: usize) -> bool {
        number >= self.levels.len()
    }

    /// For how long a line is under way from the cache of this number, before the next one; 0 for the memory.
    pub(super) fn each(&self, number: usize, is_ahead: bool) -> u64 {
        let level = self.levels.get(number);
        level.map_or(0, |level| level.each[usize::from(is_ahead)])
    }

    /// The cost of a hit in the cache of this number; 0 if there is none.
    pub(super) fn hit(&self, number: usize) -> u64 {
        self.levels.get(number).map_or(0, |level| level.hit)
    }

    /// Fetches the line of code at `place`, and returns the cost beyond the instructions.
    pub fn fetch(&mut self, place: u64) -> Cost {
        let host = Region::Host as usize;
        let mut cost = Cost::default();
        if let Some(tlb) = &mut self.code_tlb
            && !tlb.touch(place >> self.page[host])
        {
            cost.tlb = self.tlb_miss[host];
        }
        if let Some(level) = &mut self.code {
            cost.memory = if level.lines.touch(place >> level.shift) {
                level.hit
            } else {
                self.code_miss
            };
        }
        cost
    }

    /// log2 of the bytes of a fetch; `None` if fetches are free.
    pub fn fetch_shift(&self) -> Option<u32> {
        match (&self.code, &self.code_tlb) {
            (Some(level), _) => Some(level.shift),
            (None, Some(_)) => Some(self.page[Region::Host as usize]),
            (None, None) => None,
        }
    }

    /// The cost of an access and of each of its bytes, where costs are
    /// [flat](Self::is_flat).
    pub fn flat(&self, region: Region, write: bool) -> (u64, u64) {
        let behind = &self.behind[region as usize];
        (behind.time(0, write), behind.byte)
    }
}
