//! What a machine consists of, as a machine file says it (`docs/machine-files.md`). Times are
//! femtoseconds, cycles are those of the hart that waits, and sizes are bytes.
use std::path::PathBuf;

use flick_riscv::{Isa, Mmu};

/// Tiles with harts, memories, accelerators or the host, and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The name that the file gives the machine.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The device tree's `model`.
    pub model: String,
    /// The device tree's `compatible`, the most specific first.
    pub compatible: Vec<String>,
    /// Ticks of `mtime` a second.
    pub timebase: u32,
    /// The platform file that the machine file includes: the cores' costs, and those of crossings.
    pub platform: Option<Box<crate::Platform>>,
    /// Models of cores, by the names that harts have for them ([`Hart::core`]).
    pub cores: Vec<CoreModel>,
    /// All tiles. A tile with a count is as many tiles.
    pub tiles: Vec<Tile>,
    /// What connects them.
    pub links: Vec<Link>,
}

/// Harts with a local memory, or an accelerator, or memory, or the host. Each tile has addresses of
/// its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The tile's name. A tile of a count has its number behind it.
    pub name: String,
    /// What it is.
    pub kind: TileKind,
    /// Harts in the order of their numbers, which are from 0 on in each tile.
    pub harts: Vec<Hart>,
    /// Caches that all harts of the tile share, nearest first.
    pub caches: Vec<Cache>,
    /// How the harts' caches are kept alike.
    pub coherence: Coherence,
    /// Memories in the order of the file. Programs are loaded into the first main memory.
    pub memories: Vec<Memory>,
    /// Devices in the order of the file, which is that of the device tree, too.
    pub devices: Vec<Device>,
    /// Femtoseconds of an access of a device or of the DTU's registers.
    pub device_latency: u64,
    /// The communication unit.
    pub dtu: Option<Dtu>,
    /// Units for custom opcodes, which harts name ([`Hart::unit`]).
    pub units: Vec<Unit>,
    /// The line of the file where it begins; 0 for a `--set`.
    pub line: usize,
}

/// What a tile is.
#[derive(Clone, Debug, PartialEq)]
pub enum TileKind {
    /// Harts.
    Harts,
    /// An accelerator.
    Accelerator(Accelerator),
    /// Memory alone.
    Memory,
    /// The bridge to the host's processes.
    Host(HostBridge),
}

/// A hart.
#[derive(Clone, Debug, PartialEq)]
pub struct Hart {
    /// `mhartid`.
    pub id: u32,
    /// Its name on the tile: that of its entry, with a number behind if the entry has a count.
    pub name: String,
    /// Its extensions.
    pub isa: Isa,
    /// Its modes of address translation.
    pub mmu: Mmu,
    /// Femtoseconds of a cycle.
    pub period: f64,
    /// Its core: an index of [`Machine::cores`]. Without one each instruction takes a cycle.
    pub core: Option<usize>,
    /// Whether `satp` takes mode 14, the space of a host program.
    pub has_host_space: bool,
    /// Whether it runs the tile's kernel. A tile has one such hart at most.
    pub is_kernel: bool,
    /// Whether the device tree has it as `disabled`, so that operating systems leave it alone.
    pub is_disabled: bool,
    /// Its unit for custom opcodes: an index of [`Tile::units`].
    pub unit: Option<usize>,
    /// The hart's group: the index of `[[tile.hart]]` in the file.
    pub group: usize,
}

/// A model of a core: the cycles of its instructions, and what is between it and the tile.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreModel {
    /// The name in the file; `platform` is the core of the platform file.
    pub name: String,
    /// Instructions that begin in a cycle at most.
    pub issue: u32,
    /// Cycles by class: [`crate::platform::NXP_CLASSES`].
    pub cycles: Vec<f64>,
    /// The further cycles of a branch that is taken.
    pub taken: f64,
    /// The further cycles of a branch that was predicted wrong. Without a predictor there is none,
    /// and `taken` says it all.
    pub mispredict: f64,
    /// The predictor of branches.
    pub predictor: Predictor,
    /// Targets of jumps through registers that are remembered; a power of two, or 0. `None`: all.
    pub targets: Option<u32>,
    /// Return addresses that are remembered. `None`: all.
    pub returns: Option<u32>,
    /// The vector unit.
    pub vector: Option<VectorCosts>,
    /// The cycles of an exception or interrupt, and of a return from one.
    pub trap: f64,
    /// How many accesses that miss overlap.
    pub overlap: f64,
    /// Stores that may be under way while the core goes on.
    pub store_buffer: u32,
    /// The instruction cache. Without one, fetches are free.
    pub l1i: Option<Cache>,
    /// The data cache.
    pub l1d: Option<Cache>,
    /// The core's own second level, for both.
    pub l2: Option<Cache>,
    /// What asks for lines of data in front of accesses, into `l2`.
    pub prefetch: Option<Prefetch>,
    /// The TLB for instructions. Without one, translation is free.
    pub itlb: Option<Tlb>,
    /// The TLB for data.
    pub dtlb: Option<Tlb>,
}

/// A stride prefetcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// Streams that it follows at a time.
    pub streams: u32,
    /// Lines that it asks for in front of the last access.
    pub degree: u32,
}

/// How a core guesses where a branch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predictor {
    /// It does not.
    None,
    /// Backwards taken, forwards not taken.
    Static,
    /// Two-bit counters: this many, a power of two.
    TwoBit(u32),
}

/// A vector unit: an instruction takes `start` cycles, and one for each `datapath` bits of its
/// elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorCosts {
    /// Cycles of an instruction, whatever its length.
    pub start: f64,
    /// Bits that it works on in a cycle.
    pub datapath: u32,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// Bytes.
    pub size: u64,
    /// Bytes of a line, a power of two.
    pub line: u64,
    /// Lines of a set. The number of sets is a power of two.
    pub ways: usize,
    /// The cycles of a hit beyond the instruction's own.
    pub hit: f64,
    /// What a store does.
    pub write: WritePolicy,
    /// Whether a store that misses fills a line.
    pub allocates: bool,
}

/// What a store that hits does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// The line is written back when it is evicted.
    Back,
    /// The store goes on to the next level at once.
    Through,
}

/// A buffer of translations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tlb {
    /// Number of pages that it holds.
    pub entries: usize,
    /// Entries of a set. The number of sets is a power of two.
    pub ways: usize,
    /// A miss.
    pub walk: Walk,
}

/// What a miss of a TLB costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Walk {
    /// So many cycles.
    Cycles(f64),
    /// So many cycles, and the accesses of the page table through the data caches.
    Cached(f64),
}

/// How caches of a tile are kept alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coherence {
    /// They are alike, and that costs nothing.
    Free,
    /// They are not: a load may read what another hart has overwritten.
    None,
    /// By a directory. Each message takes so many femtoseconds.
    Directory(u64),
    /// By a bus that all listen to. Each broadcast takes so many femtoseconds.
    Snoop(u64),
}

/// A memory of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// The first address.
    pub base: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// What it is for.
    pub usage: MemoryUsage,
    /// Banks, which work at the same time. A power of two.
    pub banks: u32,
    /// Bytes from which on the next bank is used. A power of two.
    pub interleave: u64,
    /// From a request to its answer, in femtoseconds.
    pub latency: u64,
    /// How long an access keeps its bank, in femtoseconds.
    pub occupancy: u64,
    /// Femtoseconds a byte, which keep the bank, too; 0 without a bandwidth.
    pub byte: f64,
    /// Who goes first at a bank.
    pub arbitration: Arbitration,
    /// See [`Tile::line`].
    pub line: usize,
}

/// What a memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUsage {
    /// The system's memory, which the device tree names.
    Main,
    /// What the machine starts from. The device tree does not name it.
    Boot,
    /// A scratchpad. The device tree does not name it.
    Scratchpad,
}

/// Which of the requests that wait for a bank is the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The one that came first.
    Fifo,
    /// Harts in turn.
    RoundRobin,
    /// The lowest hart.
    Priority,
}

/// A device of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// What it is.
    pub kind: DeviceKind,
    /// The first address; 0 for one that has none.
    pub base: u64,
    /// Bytes; 0 for one that has no address.
    pub size: u64,
    /// Its source of the PLIC; 0 for one that has none.
    pub source: u32,
    /// See [`Tile::line`].
    pub line: usize,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Timer and software interrupts of all harts.
    Clint,
    /// Software interrupts of M mode (ACLINT).
    Mswi,
    /// The timer (ACLINT).
    Mtimer,
    /// Software interrupts of S mode (ACLINT).
    Sswi,
    /// The platform-level interrupt controller.
    Plic {
        /// How many sources it has; they are from 1 on.
        sources: u32,
        /// Its gateways take messages, and no levels.
        messages: bool,
    },
    /// A serial port.
    Uart16550 {
        /// Hertz.
        clock: u32,
        /// log2 of the bytes from a register to the next.
        shift: u32,
    },
    /// The test finisher.
    Finisher,
    /// The Goldfish real-time clock.
    GoldfishRtc,
    /// A slot of a virtio device.
    Virtio(VirtioSlot),
    /// The host-target interface, whose words are at the program's symbols `tohost` and `fromhost`.
    Htif,
}

/// What is in a slot of a virtio device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VirtioSlot {
    /// A block device, if there is a disk for it.
    Block,
    /// A console.
    Console,
}

/// A communication unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dtu {
    /// The first address of its registers.
    pub base: u64,
    /// Bytes of its registers.
    pub size: u64,
    /// Endpoints.
    pub endpoints: u32,
    /// Bytes of a message at most, with its header.
    pub message: u64,
    /// Messages that a receive endpoint holds.
    pub slots: u32,
    /// Bytes of a packet at most.
    pub packet: u64,
    /// Cycles of a command, of the tile's clock.
    pub cycles: f64,
    /// Femtoseconds of a cycle.
    pub period: f64,
    /// Whether it reaches the registers of all other units.
    pub is_root: bool,
    /// Of the root: femtoseconds that an activity has an accelerator if others wait for it.
    pub slice: u64,
    /// See [`Tile::line`].
    pub line: usize,
}

/// A unit that executes custom opcodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The major opcodes that it takes: custom-0 to custom-3 by their numbers.
    pub opcodes: Vec<u32>,
    /// See [`Tile::line`].
    pub line: usize,
}

/// An accelerator with a function of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Accelerator {
    /// What it computes: the name of logic that comes with Flick, or of a function of the library.
    pub function: String,
    /// The shared object that has the function: a path from the current directory.
    pub library: Option<PathBuf>,
    /// Whether it works on streams of blocks; else on requests.
    pub is_stream: bool,
    /// Bytes of a block or request.
    pub block: u64,
    /// Cycles of a block or of a step.
    pub cycles: f64,
    /// Blocks that the local memory has room for: 1, or 2 of a stream, of which one is computed while the other is
    /// moved.
    pub buffers: u32,
    /// Femtoseconds of a cycle.
    pub period: f64,
    /// Its cache. One without a cache has a scratchpad, which is a memory of the tile.
    pub cache: Option<Cache>,
    /// See [`Tile::line`].
    pub line: usize,
}

/// The bridge to the host's processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostBridge {
    /// The host's cores.
    pub cores: u32,
    /// Femtoseconds of a cycle of them.
    pub period: f64,
    /// See [`Tile::line`].
    pub line: usize,
}

/// Connects tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub topology: Topology,
    /// The tiles: indices of [`Machine::tiles`], in the order of the places.
    pub tiles: Vec<usize>,
    /// Femtoseconds of a hop.
    pub latency: u64,
    /// Bytes of a cycle; 0: as many as there are.
    pub width: u64,
    /// Femtoseconds of a cycle.
    pub period: f64,
    /// See [`Tile::line`].
    pub line: usize,
}

/// The shape of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Two tiles.
    PointToPoint,
    /// Each tile is a hop from each.
    Crossbar,
    /// Neighbours in a circle.
    Ring,
    /// Rows of so many columns.
    Mesh(u32),
    /// A mesh whose ends are neighbours.
    Torus(u32),
}

impl Link {
    /// The hops from one of its places to another, by the shortest way.
    pub fn hops(&self, from: usize, to: usize) -> u64 {
        let around = |from: usize, to: usize, size: usize| {
            let straight = from.abs_diff(to);
            straight.min(size.saturating_sub(straight)) as u64
        };
        let count = self.tiles.len();
        match self.topology {
            _ if from == to => 0,
            Topology::PointToPoint | Topology::Crossbar => 1,
            Topology::Ring => around(from, to, count),
            Topology::Mesh(columns) | Topology::Torus(columns) => {
                let columns = columns.max(1) as usize;
                let place = |n: usize| (n % columns, n / columns);
                let ((x, y), (to_x, to_y)) = (place(from), place(to));
                match self.topology {
                    Topology::Torus(_) => {
                        let rows = count.div_ceil(columns);
                        around(x, to_x, columns) + around(y, to_y, rows)
                    }
                    _ => (x.abs_diff(to_x) + y.abs_diff(to_y)) as u64,
                }
            }
        }
    }
}

impl Tile {
    /// The hart that runs the tile's kernel.
    pub fn kernel_hart(&self) -> Option<&Hart> {
        self.harts.iter().find(|hart| hart.is_kernel)
    }

    /// The memory that programs are loaded into.
    pub fn main_memory(&self) -> Option<&Memory> {
        let mut all = self.memories.iter();
        all.find(|memory| memory.usage == MemoryUsage::Main)
    }
}

impl Machine {
    /// The core of a hart.
    pub fn core(&self, hart: &Hart) -> Option<&CoreModel> {
        self.cores.get(hart.core?)
    }
}
