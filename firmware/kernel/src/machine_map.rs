//! The machine as its device tree describes it.
use core::ops::Range;

use flick_kernel_core::flat_tree::{Event, FlatTree, cells, number, texts};
use flick_kernel_core::lines::MOST_HARTS;
use flick_kernel_core::page_tables::Mode;

use crate::cache::{LINE, means};
use crate::migration::Kinds;

/// What the kernel knows of its tile.
#[derive(Clone, Copy, Debug)]
pub struct MachineMap {
    /// `mhartid` by the hart's number in the tile.
    pub hart_ids: [u64; MOST_HARTS],
    /// How many there are.
    pub harts: usize,
    /// The kernel hart's number.
    pub kernel_hart: usize,
    /// Ticks of a second.
    pub frequency: u64,
    /// Main memory.
    pub memory: (u64, u64),
    /// The device tree.
    pub tree: (u64, u64),
    /// The archive of files, or an empty range.
    pub archive: (u64, u64),
    /// The interrupt controller of software and timer interrupts.
    pub clint: u64,
    /// The interrupt controller, the kernel hart's context there, and the console's source.
    pub plic: Option<(u64, u64, u64)>,
    /// The console.
    pub serial: Option<u64>,
    /// The test finisher.
    pub finisher: Option<u64>,
    /// The data transfer unit.
    pub unit: Option<u64>,
    /// Address translation.
    pub mode: Mode,
    /// Harts see each other's stores.
    pub is_coherent: bool,
    /// What all harts have to drop lines of their caches with ([`means`]).
    means: u8,
    /// Stores stay in their caches.
    writes_back: bool,
    /// The number of the tile, and how many have a kernel.
    pub tile: (u64, u64),
    /// The machine ends with its first program.
    pub ends_machine: bool,
    /// The tile sets up others.
    pub is_root: bool,
    /// The tile of the host.
    #[cfg(feature = "host")]
    pub host: Option<u64>,
    /// The tile that sets up this one's endpoints: it is not the root's own.
    #[cfg(feature = "root")]
    pub root: Option<u64>,
    /// The root decides when a program that does not run gets a hart for a message.
    #[cfg(feature = "root")]
    pub asks_for_switches: bool,
    /// What harts have.
    pub kinds: Kinds,
}

/// Why a machine is unusable.
#[derive(Clone, Copy, Debug)]
pub struct BadMachine(pub &'static str);

/// A node below the root's children that has begun: a hart or a device.
#[derive(Clone, Copy, Default)]
struct Node<'a> {
    names: &'a [u8],
    base: u64,
    interrupts: &'a [u8],
    mode: &'a [u8],
    phandle: u64,
    /// Operations on caches.
    means: u8,
    isa: &'a [u8],
}

/// Interrupt controllers of devices, the source of the serial port, and more of what nodes refer to.
struct Wires<'a> {
    /// Of the kernel hart.
    hart: u64,
    plic: Option<(u64, &'a [u8])>,
    source: Option<u64>,
    /// ISA strings of harts.
    isas: [&'a [u8]; MOST_HARTS],
}

/// The context of a PLIC that is M mode of the hart with this controller of its own.
fn context_of(interrupts: &[u8], hart: u64) -> Option<u64> {
    let mut cells = cells(interrupts);
    for context in 0.. {
        let (controller, interrupt) = (cells.next()?, cells.next()?);
        if (u64::from(controller), interrupt) == (hart, 11) {
            return Some(context);
        }
    }
    None
}

impl<'a> Node<'a> {
    /// A property of the node, or of a hart's own interrupt controller.
    fn property(&mut self, depth: u32, name: &[u8], value: &'a [u8]) {
        match (depth, name) {
            (3, b"reg") => self.base = number(value),
            (3, b"compatible") => self.names = value,
            (3, b"interrupts" | b"interrupts-extended") => self.interrupts = value,
            (3, b"mmu-type") => self.mode = value,
            (3, b"riscv,cbom-block-size") if number(value) == LINE => self.means |= means::LINES,
            (3, b"riscv,isa") => {
                self.isa = value;
                if has_extension(value, b"xtheadcmo") {
                    self.means |= means::WHOLE;
                }
            }
            (4, b"phandle") => self.phandle = number(value),
            _ => {}
        }
    }
}

/// Whether an ISA string names an extension. Vendors' are at its end, where the search begins.
fn has_extension(isa: &[u8], extension: &[u8]) -> bool {
    let mut names = isa.rsplit(|&byte| byte == b'_' || byte == 0);
    names.any(|name| name == extension)
}

impl MachineMap {
    /// A hart can drop as many lines as a portal's buffer has, in pages that are anywhere.
    pub fn can_drop_many(&self) -> bool {
        self.is_coherent || self.means & means::WHOLE != 0
    }

    /// Nothing.
    pub const fn new() -> Self {
        Self {
            hart_ids: [u64::MAX; MOST_HARTS],
            harts: 0,
            kernel_hart: usize::MAX,
            frequency: 0,
            memory: (0, 0),
            tree: (0, 0),
            archive: (0, 0),
            clint: 0,
            plic: None,
            serial: None,
            finisher: None,
            unit: None,
            mode: Mode::Sv48,
            is_coherent: true,
            means: means::LINES | means::WHOLE,
            writes_back: false,
            tile: (0, 1),
            ends_machine: false,
            is_root: false,
            #[cfg(feature = "host")]
            host: None,
            #[cfg(feature = "root")]
            root: None,
            #[cfg(feature = "root")]
            asks_for_switches: false,
            kinds: Kinds::new(),
        }
    }

    /// Reads the tree of a tile whose boot hart executes. Returns the command line, too.
    pub fn read<'a>(
        tree: FlatTree<'a>,
        hart_id: u64,
        range: (u64, u64),
    ) -> (Self, &'a [u8], Result<(), BadMachine>) {
        let mut map = Self::new();
        map.tree = range;
        let (mut section, mut depth, mut arguments): (&[u8], _, &[u8]) = (b"", 0, b"");
        let mut wires = Wires {
            hart: 0,
            plic: None,
            source: None,
            isas: [b""; MOST_HARTS],
        };
        let (mut node, mut result) = (Node::default(), Ok(()));
        for event in tree.events() {
            match event {
                Event::Begin(name) => {
                    depth += 1;
                    match depth {
                        2 => section = name,
                        3 => node = Node::default(),
                        _ => {}
                    }
                }
                Event::Property(b"bootargs", value) if section == b"chosen" => {
                    arguments = value.strip_suffix(b"\0").unwrap_or(value);
                }
                Event::Property(name, value) if depth <= 2 => map.property(section, name, value),
                Event::Property(name, value) => node.property(depth, name, value),
                Event::End => {
                    if depth == 3 {
                        match section {
                            b"cpus" if node.names.is_empty() => {}
                            b"cpus" => result = result.and(map.hart(&node, hart_id, &mut wires)),
                            _ => map.device(&node, &mut wires),
                        }
                    }
                    depth -= 1;
                }
            }
        }
        map.ends_machine |= map.tile.0 == 0;
        map.plic = wires
            .plic
            .zip(wires.source)
            .and_then(|((base, interrupts), source)| {
                Some((base, context_of(interrupts, wires.hart)?, source))
            });
        if map.is_root {
            // Its programs send to other tiles by gates, and not by mailboxes.
            map.tile.1 = map.tile.0 + 1;
        }
        (map, arguments, result.and(map.check()))
    }

    fn check(&self) -> Result<(), BadMachine> {
        let missing = [
            (
                self.kernel_hart == usize::MAX,
                "the device tree lacks the hart that boots",
            ),
            (
                self.memory.1 == 0,
                "the kernel is in no memory of the device tree",
            ),
            (self.clint == 0, "the tile has no CLINT"),
            (
                self.writes_back && self.means & means::WHOLE == 0,
                "caches write back without coherence, and a hart has no XTheadCmo",
            ),
            #[cfg(feature = "symmetric")]
            (
                !self.is_coherent && self.means & means::WHOLE == 0,
                "the symmetric kernel needs coherence or XTheadCmo",
            ),
        ];
        let mut missing = missing.into_iter().filter(|&(is_missing, _)| is_missing);
        missing
            .next()
            .map_or(Ok(()), |(_, reason)| Err(BadMachine(reason)))
    }

    /// A property of the root, or of one of its children.
    fn property(&mut self, section: &[u8], name: &[u8], value: &[u8]) {
        match (section, name) {
            (b"tiles" | b"core-tiles", b"#address-cells") => self.is_root = true,
            (b"", b"flick,tile") => self.tile.0 = number(value),
            (b"", b"flick,tiles") => self.tile.1 = number(value),
            #[cfg(feature = "host")]
            (b"", b"flick,host-tile") => self.host = Some(number(value)),
            #[cfg(feature = "root")]
            (b"", b"flick,root-tile") => self.root = Some(number(value)),
            #[cfg(feature = "root")]
            (b"", b"flick,switches-by-root") => self.asks_for_switches = true,
            (b"chosen", b"flick,ends-machine") => self.ends_machine = true,
            (b"cpus", b"timebase-frequency") => self.frequency = number(value),
            (b"cpus", b"flick,incoherent") => self.is_coherent = false,
            (b"cpus", b"flick,write-back") => self.writes_back = true,
            (b"chosen", b"linux,initrd-start") => self.archive.0 = number(value),
            (b"chosen", b"linux,initrd-end") => self.archive.1 = number(value),
            (section, b"reg") if section.starts_with(b"memory") => {
                let here = (&raw const crate::kernel_hart::kernel_end).addr() as u64;
                for range in value.chunks_exact(16) {
                    let (base, size) = (number(&range[..8]), number(&range[8..]));
                    if (base..base + size).contains(&here) {
                        self.memory = (base, base + size);
                    }
                }
            }
            _ => {}
        }
    }

    fn hart<'a>(
        &mut self,
        node: &Node<'a>,
        id: u64,
        wires: &mut Wires<'a>,
    ) -> Result<(), BadMachine> {
        let Some(place) = self.hart_ids.get_mut(self.harts) else {
            return Err(BadMachine("the tile has more than 62 harts"));
        };
        *place = node.base;
        if node.base == id {
            (self.kernel_hart, wires.hart) = (self.harts, node.phandle);
        }
        self.kinds.add(self.harts, node.isa, &mut wires.isas);
        self.harts += 1;
        self.means &= node.means;
        match node.mode {
            b"riscv,sv48\0" | b"riscv,sv57\0" => Ok(()),
            b"riscv,sv39\0" => {
                self.mode = Mode::Sv39;
                Ok(())
            }
            _ => Err(BadMachine("a hart has no address translation")),
        }
    }

    fn device<'a>(&mut self, node: &Node<'a>, wires: &mut Wires<'a>) {
        for name in texts(node.names) {
            match name {
                b"riscv,clint0" | b"sifive,clint0" => self.clint = node.base,
                b"ns16550a" => {
                    self.serial = Some(node.base);
                    wires.source = cells(node.interrupts).next().map(u64::from);
                }
                b"flick,dtu" => self.unit = Some(node.base),
                b"sifive,test1" | b"sifive,test0" => self.finisher = Some(node.base),
                b"riscv,plic0" | b"sifive,plic-1.0.0" => {
                    wires.plic = Some((node.base, node.interrupts));
                }
                _ => {}
            }
        }
    }

    /// How harts drop lines that others have stored to.
    pub fn cache_means(&self) -> u8 {
        match (self.is_coherent, self.writes_back) {
            (true, _) => 0,
            (false, false) => self.means | means::ATOMICS,
            (false, true) => self.means | means::ATOMICS | means::BACK,
        }
    }

    /// The harts that run programs, as bits.
    pub fn user_harts(&self) -> u64 {
        let all = (1_u64 << self.harts) - 1;
        if cfg!(feature = "alone") {
            return all;
        }
        all & !(1 << self.kernel_hart)
    }

    /// Where the root tells the kernel of a tile that it governs something, in the tile's memory.
    #[cfg(feature = "root")]
    pub fn buffer_of_root(&self) -> Option<u64> {
        use flick_abi::card::remote_call::BEFORE_END;
        self.root.map(|_| self.memory.1 - BEFORE_END)
    }

    /// Another tile sets up the endpoints of this one's unit.
    pub fn is_governed(&self) -> bool {
        #[cfg(feature = "root")]
        return self.root.is_some();
        #[cfg(not(feature = "root"))]
        false
    }

    /// The archive's addresses.
    pub fn archive(&self) -> Range<u64> {
        self.archive.0..self.archive.1
    }
}
