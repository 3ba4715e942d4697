//! The cores of a platform: instructions, caches, TLB, and the memories as a core sees them.
use flick_abi::timed::{NXP_COUNTS, NXP_STACK_LOAD, NXP_STACK_STORE, NXP_TAKEN};
use flick_riscv::{Extension, Isa, IsaError};

use super::latency_section::{self, Flow};
use super::quantity::{BANDWIDTH, FREQUENCY, FS_PER_S, SIZE, TIME};
use super::toml_reader::{Error, Table};

/// The memory that an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Region {
    /// All memory that is in neither of the other regions.
    Host = 0,
    /// NxP-local memory: `flick_alloc`, `malloc` in NxP code, `FLICK_NXP_DATA`.
    Nxp = 1,
    /// The stacks of NxP code.
    Stack = 2,
}

/// Names in platform files, by [`Region`].
pub const REGIONS: [&str; 3] = ["host", "nxp", "stack"];

/// Classes of the host's operations, by [`flick_abi::timed::HostClass`].
pub const HOST_CLASSES: [&str; flick_abi::timed::HOST_CLASSES] = [
    "int", "mul", "div", "load", "store", "branch", "call", "fp", "fp-mul", "fp-div", "vector",
    "atomic",
];

/// Classes of RV64 instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum NxpClass {
    /// RV64I's computations, `lui`, `auipc`.
    Int = 0,
    /// Integer multiplication.
    Mul = 1,
    /// Integer division and remainder.
    Div = 2,
    /// Without the cost of the memory.
    Load = 3,
    /// Without the cost of the memory.
    Store = 4,
    /// A conditional branch that is not taken.
    Branch = 5,
    /// `jal`, `jalr`.
    Jump = 6,
    /// F and D but for the next two.
    Fp = 7,
    /// Multiplication, fused with an addition or not.
    FpMul = 8,
    /// Division and square root.
    FpDiv = 9,
    /// The extension A, without the cost of the memory.
    Atomic = 10,
    /// Zba.
    Address = 11,
    /// Zbb, Zbs, Zicond.
    Bit = 12,
    /// Fences, CSRs.
    System = 13,
}

/// Names in platform files, by [`NxpClass`].
pub const NXP_CLASSES: [&str; NXP_TAKEN] = [
    "int", "mul", "div", "load", "store", "branch", "jump", "fp", "fp-mul", "fp-div", "atomic",
    "address", "bit", "system",
];

/// The NxP's class of an operation of the host's class, and the number of its instructions. A
/// vector of 16 bytes is four scalars on the NxP.
fn host_class_on_nxp(class: usize) -> (NxpClass, u64) {
    use NxpClass::*;
    const ALL: [(NxpClass, u64); HOST_CLASSES.len()] = [
        (Int, 1),
        (Mul, 1),
        (Div, 1),
        (Load, 1),
        (Store, 1),
        (Branch, 1),
        (Jump, 1),
        (Fp, 1),
        (FpMul, 1),
        (FpDiv, 1),
        (Int, 4),
        (Atomic, 1),
    ];
    ALL[class]
}

/// The most lines of a host that are under way at a time.
pub const MOST_MISSES: usize = 128;

/// A level of data cache, or the instruction cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Bytes.
    pub size: u64,
    /// Bytes of a line, a power of two.
    pub line: u64,
    /// Lines of a set.
    pub ways: usize,
    /// The cost of a hit beyond the instruction's own cycles.
    pub hit: u64,
    /// Of the host's own memory: a line is under way from this cache for so long, before the next one.
    pub each: u64,
    /// The same of lines that are fetched ahead.
    pub in_order: u64,
    /// By [`Region`].
    pub holds: [bool; REGIONS.len()],
}

/// A buffer of translations, for data and for code each.
#[derive(Clone, Debug, PartialEq)]
pub struct Tlb {
    /// Number of pages that it holds.
    pub entries: usize,
    /// Entries of a set.
    pub ways: usize,
    /// The cost of a miss, by [`Region`] of the page.
    pub miss: [u64; REGIONS.len()],
    /// Of a host's own memory: a miss also reads an entry of a page table, by the host's caches.
    pub reads: bool,
    /// Of a host's own memory: from one walk to the next, where none waits for another one. Femtoseconds.
    pub each: u64,
}

/// A memory as a kind of core sees it. An access takes `load` or `store`, and the time of its bytes
/// at the bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Femtoseconds.
    pub load: u64,
    /// Femtoseconds; 0 where stores are posted.
    pub store: u64,
    /// Femtoseconds a byte.
    pub byte: f64,
}

/// How the host waits for memory of its own: a core that executes out of order
/// (`model/window.rs`).
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Instructions that are under way at a time.
    pub instructions: u64,
    /// Femtoseconds that the core goes on behind a load that has not come back: as long as it takes to
    /// fill the window.
    pub ahead: u64,
    /// Lines that are under way at a time.
    pub misses: usize,
    /// Streams of lines that are fetched ahead; 0: none is.
    pub streams: usize,
    /// A load from the nearest cache whose address was just loaded waits so long.
    pub chain: u64,
    /// Femtoseconds from one instruction that begins to the next.
    pub issue: u64,
    /// The first access to a page of memory: the kernel gives it to the program. Femtoseconds.
    pub fault: u64,
}

/// A kind of core, and the memories as it sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Femtoseconds.
    pub cycle: f64,
    /// Femtoseconds by class: [`HOST_CLASSES`] or [`NXP_CLASSES`].
    pub costs: Vec<u64>,
    /// The further cost of a branch that is taken.
    pub taken: u64,
    /// Of a host: the further cost of a branch that it has predicted wrongly; 0: none is.
    pub mispredict: u64,
    /// Nearest first.
    pub caches: Vec<Cache>,
    /// The instruction cache. Without one, fetches are free.
    pub icache: Option<Cache>,
    /// The TLB. Without one, translation is free.
    pub tlb: Option<Tlb>,
    /// By [`Region`]. Without a [`Window`] the host's own memory is part of `load` and `store`.
    pub memory: [Memory; REGIONS.len()],
    /// Memories of tiles of a card by name, where this core sees them otherwise than all others.
    pub tiles: Vec<(String, Memory)>,
    /// What an NxP's core executes. Other scalar instructions are emulated, and have the cycles of that.
    pub isa: Option<Isa>,
    /// How many accesses to memory overlap.
    pub overlap: f64,
    /// Of the host, where the file describes its own memory.
    pub window: Option<Window>,
    /// Of a host whose file has latencies: how blocks of its code are priced.
    pub flow: Option<Flow>,
    /// log2 of the page size by [`Region`].
    pub page: [u32; REGIONS.len()],
}

impl Core {
    /// Costs of the counts of RV64 code ([`flick_abi::timed::NxpBlock`]), in femtoseconds:
    /// instructions by class, the further cost of a taken branch, and accesses to the stack.
    pub fn code_costs(&self) -> [u64; NXP_COUNTS] {
        let stack = Region::Stack as usize;
        let holds = |cache: &&Cache| cache.holds[stack];
        // The stack hardly ever misses its nearest cache.
        let hit = self.caches.iter().find(holds).map(|cache| cache.hit);
        let memory = self.memory[stack];
        let word = (8.0 * memory.byte).round() as u64;
        let beyond = |time: u64| (time as f64 / self.overlap).round() as u64 + word;
        std::array::from_fn(|count| match count {
            NXP_TAKEN => self.taken,
            NXP_STACK_LOAD => hit.unwrap_or(beyond(memory.load)),
            NXP_STACK_STORE => hit.unwrap_or(beyond(memory.store)),
            class => self.costs[class],
        })
    }

    /// The ISA of a hart that has this one, and emulates what this core does not execute itself. Vectors and
    /// units for custom opcodes are not emulated.
    pub fn with_emulation(&self, isa: Isa) -> Isa {
        use Extension::{A, C, D, F, M, Zba, Zbb, Zbs, Zicond};
        let is_emulated = |one: &Extension| self.isa.is_some_and(|own| !own.has(*one));
        let emulated = [M, A, F, D, C, Zba, Zbb, Zbs, Zicond].into_iter();
        emulated.filter(is_emulated).fold(isa, Isa::with)
    }

    /// The time that operations of the host's classes would take on this core, an NxP: femtoseconds
    /// by class.
    pub fn host_costs(&self) -> [u64; HOST_CLASSES.len()] {
        std::array::from_fn(|class| {
            let (own, count) = host_class_on_nxp(class);
            self.costs[own as usize] * count
        })
    }
}

/// `[pages]`: log2 of the size by region.
pub fn pages(root: &mut Table<'_>) -> Result<[u32; REGIONS.len()], Error> {
    let mut shifts = [12; REGIONS.len()];
    if let Some(mut table) = root.table_if("pages")? {
        for (region, key) in REGIONS.into_iter().enumerate() {
            let size = table.quantity_or(key, &SIZE, 4096.0)? as u64;
            if !size.is_power_of_two() || !(4096..=1 << 30).contains(&size) {
                let help = "use a power of two from \"4 KiB\" to \"1 GiB\"";
                return Err(table.error(key, "no page has this size", help));
            }
            shifts[region] = size.trailing_zeros();
        }
        table.end()?;
    }
    Ok(shifts)
}

/// The number of accesses of a page walk: the four levels of x86-64 and Sv48, less those that a
/// large page leaves out (Intel SDM volume 3, 4.5; RISC-V privileged manual, 12.5).
fn levels(shift: u32) -> u64 {
    match shift {
        30.. => 2,
        21.. => 3,
        _ => 4,
    }
}

/// Size, line and ways of a cache.
pub(crate) fn geometry(table: &mut Table<'_>) -> Result<(u64, u64, usize), Error> {
    let size = table.quantity("size", &SIZE)? as u64;
    let line = table.quantity_or("line", &SIZE, 64.0)? as u64;
    let ways = table.count("ways", (1, 64))?;
    if !line.is_power_of_two() || !(16..=4096).contains(&line) {
        let help = "use a power of two from \"16 B\" to \"4096 B\"";
        return Err(table.error("line", "no cache has lines of this size", help));
    }
    let sets = size / (line * ways);
    if !table.lacks() && (!size.is_multiple_of(line * ways) || !sets.is_power_of_two()) {
        let why = "size / (line x ways), the number of sets, is no power of two";
        return Err(table.error("size", why, "change one of the three"));
    }
    Ok((size, line, ways as usize))
}

/// Entries and ways of a TLB.
pub(crate) fn tlb_geometry(table: &mut Table<'_>) -> Result<(usize, usize), Error> {
    let entries = table.count("entries", (1, 1 << 16))? as usize;
    let ways = table.count_or("ways", (1, 1 << 16), entries as u64)? as usize;
    if !table.lacks() && (!entries.is_multiple_of(ways) || !(entries / ways).is_power_of_two()) {
        let why = "entries / ways, the number of sets, is no power of two";
        return Err(table.error("entries", why, "change one of the two"));
    }
    Ok((entries, ways))
}

struct Reader {
    cycle: f64,
    page: [u32; REGIONS.len()],
}

impl Reader {
    fn new(table: &mut Table<'_>, page: &[u32; REGIONS.len()]) -> Result<Self, Error> {
        let clock = table.quantity("clock", &FREQUENCY)?;
        Ok(Self {
            cycle: FS_PER_S / clock,
            page: *page,
        })
    }

    fn cycles(&self, cycles: f64) -> u64 {
        (cycles * self.cycle).round() as u64
    }

    fn costs(
        &self,
        table: &mut Table<'_>,
        classes: &'static [&'static str],
        own: Region,
    ) -> Result<(Vec<u64>, u64, u64), Error> {
        const RANGE: (f64, f64) = (0.0, 1e6);
        let mut cycles = table.table("cycles")?;
        let mut costs = Vec::new();
        for class in classes {
            costs.push(self.cycles(cycles.number(class, RANGE)?));
        }
        let taken = self.cycles(cycles.number_or("taken", RANGE, 0.0)?);
        let mispredict = match own {
            Region::Host => self.cycles(cycles.number_or("mispredict", RANGE, 0.0)?),
            _ => 0,
        };
        cycles.end()?;
        Ok((costs, taken, mispredict))
    }

    fn cache(&self, mut table: Table<'_>, own: Option<Region>) -> Result<Cache, Error> {
        let (size, line, ways) = geometry(&mut table)?;
        let hit = self.cycles(table.number_or("hit", (0.0, 1e4), 0.0)?);
        let [each, in_order] = match own {
            Some(Region::Host) => {
                let each = table.number_or("each", (0.0, 1e4), 0.0)?;
                let in_order = table.number_or("in-order", (0.0, 1e4), each)?;
                [each, in_order].map(|n| self.cycles(n))
            }
            _ => [0; 2],
        };
        let mut holds = [false; REGIONS.len()];
        if own.is_some() {
            for region in table.choices("holds", &REGIONS)? {
                holds[region] = true;
            }
        }
        table.end()?;
        Ok(Cache {
            size,
            line,
            ways,
            hit,
            each,
            in_order,
            holds,
        })
    }

    fn memory(&self, mut table: Table<'_>) -> Result<Memory, Error> {
        let load = table.quantity("load", &TIME)?;
        let store = table.quantity("store", &TIME)?;
        let byte = if table.has("bandwidth") {
            FS_PER_S / table.quantity("bandwidth", &BANDWIDTH)?
        } else {
            0.0
        };
        table.end()?;
        Ok(Memory {
            load: load as u64,
            store: store as u64,
            byte,
        })
    }

    /// How the host waits for its own memory. The hit of the nearest cache becomes the window's.
    fn window(
        &self,
        host: &mut Table<'_>,
        caches: &mut [Cache],
        fault: u64,
    ) -> Result<Window, Error> {
        let mut table = host.table("window")?;
        let instructions = table.count("instructions", (1, 1 << 16))?;
        let width = table.number("width", (0.1, 64.0))?;
        let misses = table.count("misses", (1, MOST_MISSES as u64))? as usize;
        table.end()?;
        let streams = match host.table_if("prefetcher")? {
            None => 0,
            Some(mut table) => {
                let streams = table.count("streams", (1, 64))? as usize;
                table.end()?;
                streams
            }
        };
        let nearest = caches.first_mut();
        Ok(Window {
            instructions,
            ahead: self.cycles(instructions as f64 / width),
            misses,
            streams,
            chain: nearest.map_or(0, |cache| std::mem::take(&mut cache.hit)),
            issue: self.cycles(1.0 / width),
            fault,
        })
    }

    fn tlb(
        &self,
        mut table: Table<'_>,
        memory: &[Memory; REGIONS.len()],
        own: Region,
    ) -> Result<Tlb, Error> {
        let (entries, ways) = tlb_geometry(&mut table)?;
        let fixed = table.quantity_or("walk", &TIME, 0.0)? as u64;
        let choices = ["none", "host", "nxp", "cached"];
        let all = if own == Region::Host { 4 } else { 3 };
        let tables = table.choice_or("tables", &choices[..all], 0)?;
        let each = match own {
            Region::Host => self.cycles(table.number_or("each", (0.0, 1e4), 0.0)?),
            _ => 0,
        };
        table.end()?;
        const CACHED: usize = 3;
        let access = match tables {
            0 | CACHED => 0,
            region => memory[region - 1].load,
        };
        Ok(Tlb {
            entries,
            ways,
            miss: self.page.map(|shift| fixed + levels(shift) * access),
            reads: tables == CACHED,
            each,
        })
    }

    /// Reads all keys but `clock` and those that only the NxP has.
    fn core(
        &self,
        table: &mut Table<'_>,
        classes: &'static [&'static str],
        own: Region,
    ) -> Result<Core, Error> {
        let (costs, taken, mispredict) = self.costs(table, classes, own)?;
        let mut caches = Vec::new();
        for cache in table.tables("cache")? {
            caches.push(self.cache(cache, Some(own))?);
        }
        let mut memories = table.table("memory")?;
        let mut memory = [Memory::default(); REGIONS.len()];
        let mut fault = 0;
        for (region, key) in REGIONS.into_iter().enumerate() {
            // The host does not see the NxP's stacks, and its own memory is in its cycles where the
            // file does not describe it.
            let described = region == Region::Host as usize && memories.has(key);
            if own != Region::Host || region == Region::Nxp as usize || described {
                let mut table = memories.table(key)?;
                if own == Region::Host && described {
                    fault = table.quantity_or("page-fault", &TIME, 0.0)? as u64;
                }
                memory[region] = self.memory(table)?;
            }
        }
        let mut tiles = Vec::new();
        if let Some(mut all) = memories.table_if("tile")? {
            for (name, table) in all.entries()? {
                tiles.push((name, self.memory(table)?));
            }
        }
        let is_described = own == Region::Host && memories.has(REGIONS[Region::Host as usize]);
        memories.end()?;
        let window = match is_described {
            true => Some(self.window(table, &mut caches, fault)?),
            false => None,
        };
        let flow = match own {
            Region::Host => {
                latency_section::read(table, window.as_ref(), &costs, |n| self.cycles(n))?
            }
            _ => None,
        };
        let costs = flow.as_ref().map_or(costs, Flow::between);
        let tlb = match table.table_if("tlb")? {
            Some(tlb) => Some(self.tlb(tlb, &memory, own)?),
            None => None,
        };
        let overlap = table.number_or("overlap", (1.0, 64.0), 1.0)?;
        Ok(Core {
            cycle: self.cycle,
            costs,
            taken,
            mispredict,
            caches,
            icache: None,
            tlb,
            memory,
            tiles,
            isa: None,
            overlap,
            window,
            flow,
            page: self.page,
        })
    }
}

pub fn host(table: &mut Table<'_>, page: &[u32; REGIONS.len()]) -> Result<Core, Error> {
    let reader = Reader::new(table, page)?;
    reader.core(table, &HOST_CLASSES, Region::Host)
}

pub fn nxp(mut table: Table<'_>, page: &[u32; REGIONS.len()]) -> Result<Core, Error> {
    let reader = Reader::new(&mut table, page)?;
    let mut core = reader.core(&mut table, &NXP_CLASSES, Region::Nxp)?;
    if let Some(cache) = table.table_if("icache")? {
        core.icache = Some(reader.cache(cache, None)?);
    }
    let isa = table.text("isa")?;
    if !table.lacks() {
        let wrong = |why: IsaError| {
            let help = "use an ISA string in lower case, such as \"rv64gc_zba\"";
            table.error("isa", &why.to_string(), help)
        };
        core.isa = Some(isa.parse().map_err(wrong)?);
    }
    table.end()?;
    Ok(core)
}
