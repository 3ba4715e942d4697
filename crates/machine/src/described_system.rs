//! A tile of harts of a machine file, as a board and as the device tree for its firmware.
use std::path::PathBuf;

use flick_device::accelerator::functions;
use flick_device::dtu::{BadDtu, Dtu, DtuDescription};
use flick_device::fdt::{
    AddressRange, BadTree, Chosen, CoreTileNode, DeviceNode, HartNode, MachineTree, Mmu, TileNode,
    TilePlace,
};
use flick_device::virtio::{BlockDevice, Disk, VirtioConsole, VirtioDevice, VirtioMmio};
use flick_device::{
    BadFrequency, BadPlic, Clint, Context, Device, Gateways, GoldfishRtc, Mswi, Mtimer, Plic,
    PlicDescription, Sswi, TestFinisher, Time, Timebase, Uart16550,
};
use flick_hart::Extension;
use flick_timing::machine::{
    self, DeviceKind, Hart, Memory, MemoryUsage, Tile, TileKind, WritePolicy,
};

use crate::board::{Board, Timer};
use crate::loaded_logic::BadLogic;
use crate::ram::{BadRam, Ram};

/// The number of the console among the board's devices.
pub const SERIAL: usize = 0;
/// From a driver's notification to the device's work.
const VIRTIO_LATENCY: Time = 1_000_000;
/// What the clock shows at the reset, in nanoseconds since 1970: 2026-01-01. The host's clock would make
/// each run another.
pub(crate) const EPOCH: u64 = 1_767_225_600_000_000_000;
/// Bytes of a block of Zicbom and Zicboz.
const BLOCK: u32 = 64;
pub(crate) const FS_PER_PS: f64 = 1000.0;
/// Lines of a hart that the PLIC has a context for: those of M and of S mode.
const LINES: [u32; 2] = [11, 9];

/// A tile of harts of a machine.
#[derive(Clone, Debug)]
pub struct System {
    /// The tile's number, and how many the machine has.
    place: TilePlace,
    /// Tiles that it sets up.
    other_tiles: Vec<TileNode>,
    core_tiles: Vec<CoreTileNode>,
    /// The tile, whose harts, memories and devices these are.
    pub tile: Tile,
    /// For the firmware.
    pub chosen: Chosen,
    model: String,
    compatible: Vec<String>,
    timebase: u32,
    /// A data cache keeps stores until it writes its line back.
    writes_back: bool,
}

/// A disk of the machine, in a slot of its own. Slots are used in the order of the disks.
pub struct BlockDisk {
    /// Its contents.
    pub disk: Box<dyn Disk>,
    /// Writes fail.
    pub is_read_only: bool,
}

/// Why there is no such machine.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum BadSystem {
    #[error("the machine has {slots} slots for disks, and {disks} are given")]
    Disks { slots: usize, disks: usize },
    #[error("the machine has no tile of harts with memory and a timer")]
    Harts,
    #[error("the tile {0} has no data transfer unit")]
    NoUnit(String),
    #[error("no accelerator has the name {0}; there are {names}", names = functions::NAMES.join(", "))]
    Function(String),
    #[error("the accelerator of tile {0} is one of requests, and has no cache")]
    NoCache(String),
    #[error("the accelerator of tile {tile} is in {}, and {error}", path.display())]
    Logic {
        tile: String,
        path: PathBuf,
        error: BadLogic,
    },
    #[error(
        "the accelerator of tile {tile} has blocks of {block} bytes, for which it needs {needed} bytes of memory at \
         address 0, and the tile has {memory}"
    )]
    Block {
        tile: String,
        block: u64,
        needed: u64,
        memory: u64,
    },
    #[error(transparent)]
    Memory(#[from] BadRam),
    #[error(transparent)]
    Plic(#[from] BadPlic),
    #[error(transparent)]
    Frequency(#[from] BadFrequency),
    #[error(transparent)]
    Tree(#[from] BadTree),
    #[error(transparent)]
    Unit(#[from] BadDtu),
}

impl BadSystem {
    /// What to do next. `None`: there is no one remedy.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Disks { .. } => "give fewer --disk",
            Self::Function(_) => {
                "change `function` of [tile.accelerator], or name the shared object that has it by `library`"
            }
            Self::NoCache(_) => "add [tile.accelerator.cache]",
            Self::Logic { error, .. } => error.help(),
            Self::Block { .. } => {
                "give the tile a [[tile.memory]] with base = 0 of that size, or make `block` smaller"
            }
            _ => return None,
        })
    }
}

fn range(device: &machine::Device) -> std::ops::Range<u64> {
    device.base..device.base.saturating_add(device.size)
}

fn addresses(device: &machine::Device) -> AddressRange {
    let (base, size) = (device.base, device.size);
    AddressRange { base, size }
}

impl System {
    /// The first tile of harts of a machine.
    pub fn new(machine: &machine::Machine) -> Result<Self, BadSystem> {
        let mut tiles = machine.tiles.iter();
        let first = tiles.position(|tile| tile.kind == TileKind::Harts);
        Self::of_tile(machine, first.ok_or(BadSystem::Harts)?)
    }

    /// All tiles of harts of a machine. Tiles of other kinds are behind them.
    pub fn all(machine: &machine::Machine) -> Result<Vec<Self>, BadSystem> {
        let tiles = 0..machine.tiles_of_harts();
        tiles.map(|tile| Self::of_tile(machine, tile)).collect()
    }

    fn of_tile(machine: &machine::Machine, number: usize) -> Result<Self, BadSystem> {
        let tile = machine.tiles[number].clone();
        if tile.kind != TileKind::Harts || tile.main_memory().is_none() {
            return Err(BadSystem::Harts);
        }
        let keeps_stores = |hart: &Hart| {
            let core = hart.core.map(|core| &machine.cores[core]);
            let data = core.and_then(|core| core.l1d.as_ref());
            data.is_some_and(|cache| cache.write == WritePolicy::Back)
        };
        let is_root = tile.dtu.as_ref().is_some_and(|dtu| dtu.is_root);
        let root = crate::described_tiles::root_of(machine).filter(|_| !is_root);
        Ok(Self {
            writes_back: tile.harts.iter().any(keeps_stores),
            place: TilePlace {
                tile: number as u32,
                tiles: machine.tiles_of_harts() as u32,
                host: machine.host_tile().map(|tile| tile as u32),
                root: root.map(|tile| tile as u32),
                root_switches: root.is_some()
                    && tile.dtu.as_ref().is_some_and(|dtu| dtu.root_switches),
            },
            other_tiles: match is_root {
                true => crate::described_tiles::nodes_for_root(machine),
                false => vec![],
            },
            core_tiles: match is_root {
                true => crate::described_tiles::core_tiles_for_root(machine, number),
                false => vec![],
            },
            tile,
            chosen: Chosen::default(),
            model: machine.model.clone(),
            compatible: machine.compatible.clone(),
            timebase: machine.timebase,
        })
    }

    /// Does its kernel set up other tiles?
    pub fn is_root(&self) -> bool {
        !self.other_tiles.is_empty() || !self.core_tiles.is_empty()
    }

    /// Does another tile set its endpoints up?
    pub fn is_governed(&self) -> bool {
        self.place.root.is_some()
    }

    /// Does it have a console?
    pub fn has_console(&self) -> bool {
        self.console().is_some()
    }

    /// The memory that programs are loaded into: its first address, and bytes.
    pub fn main_memory(&self) -> AddressRange {
        let memory = self.tile.main_memory();
        let (base, size) = memory.map_or((0, 0), |memory| (memory.base, memory.size));
        AddressRange { base, size }
    }

    /// The memory that the machine starts from.
    pub fn boot_memory(&self) -> Option<&Memory> {
        let mut all = self.tile.memories.iter();
        all.find(|memory| memory.usage == MemoryUsage::Boot)
    }

    /// Whether bare programs end by `tohost`.
    pub fn has_htif(&self) -> bool {
        self.has(|kind| *kind == DeviceKind::Htif)
    }

    fn has(&self, wanted: impl Fn(&DeviceKind) -> bool) -> bool {
        self.tile.devices.iter().any(|device| wanted(&device.kind))
    }

    /// The hart that starts a system.
    pub fn boot_hart(&self) -> u32 {
        let enabled = self.tile.harts.iter().find(|hart| !hart.is_disabled);
        let hart = self.tile.kernel_hart().filter(|hart| !hart.is_disabled);
        hart.or(enabled).map_or(0, |hart| hart.id)
    }

    /// The first serial port, or else the first virtio console.
    fn console(&self) -> Option<usize> {
        let mut devices = self.tile.devices.iter();
        let port = devices.position(|device| matches!(device.kind, DeviceKind::Uart16550 { .. }));
        let console = DeviceKind::Virtio(machine::VirtioSlot::Console);
        let mut devices = self.tile.devices.iter();
        port.or_else(|| devices.position(|device| device.kind == console))
    }

    fn contexts(&self) -> Vec<Context> {
        let harts = 0..self.tile.harts.len();
        harts
            .flat_map(|hart| LINES.map(|bit| Context { hart, bit }))
            .collect()
    }

    /// The board.
    pub fn board(&self, disks: Vec<BlockDisk>) -> Result<Board, BadSystem> {
        let ram = ram_of(&self.tile)?;
        let (given, harts) = (disks.len(), self.tile.harts.len());
        let timebase = Timebase::new(self.timebase.into())?;
        let (mut timer, mut plic) = (None, None);
        let mut devices: Vec<(_, Box<dyn Device>)> = vec![];
        let (mut disks, mut slots) = (disks.into_iter(), 0);
        let console = self.console();
        for (number, device) in self.tile.devices.iter().enumerate() {
            let source = device.source;
            let made: Box<dyn Device> = match device.kind {
                DeviceKind::Clint => {
                    let clint = Clint::new(0, harts, timebase);
                    timer = Some((range(device), Timer::Clint(clint)));
                    continue;
                }
                DeviceKind::Mtimer => {
                    let mtimer = Mtimer::new(0, harts, timebase);
                    timer = Some((range(device), Timer::Mtimer(mtimer)));
                    continue;
                }
                DeviceKind::Plic { sources, messages } => {
                    let description = PlicDescription {
                        gateways: match messages {
                            true => Gateways::Message,
                            false => Gateways::Level,
                        },
                        sources,
                        priority_bits: 3,
                        contexts: self.contexts(),
                    };
                    plic = Some((range(device), Plic::new(description)?));
                    continue;
                }
                DeviceKind::Htif => continue,
                DeviceKind::Mswi => Box::new(Mswi::new(0, harts)),
                DeviceKind::Sswi => Box::new(Sswi::new(0, harts)),
                DeviceKind::Uart16550 { clock, shift } => {
                    Box::new(Uart16550::new(source, shift, clock))
                }
                DeviceKind::Finisher => Box::new(TestFinisher),
                DeviceKind::GoldfishRtc => Box::new(GoldfishRtc::new(source, EPOCH)),
                DeviceKind::Virtio(machine::VirtioSlot::Console) => {
                    let device = Box::new(VirtioConsole) as Box<dyn VirtioDevice>;
                    Box::new(VirtioMmio::new(source, VIRTIO_LATENCY, Some(device)))
                }
                DeviceKind::Virtio(machine::VirtioSlot::Block) => {
                    let device = disks.next().map(|disk| {
                        let name = format!("disk{slots}");
                        let device = BlockDevice::new(disk.disk, disk.is_read_only, &name);
                        Box::new(device) as Box<dyn VirtioDevice>
                    });
                    slots += 1;
                    Box::new(VirtioMmio::new(source, VIRTIO_LATENCY, device))
                }
            };
            let at = match Some(number) == console {
                true => SERIAL,
                false => devices.len(),
            };
            devices.insert(at, (range(device), made));
        }
        if given > slots {
            let disks = given;
            return Err(BadSystem::Disks { slots, disks });
        }
        let timer = timer.ok_or(BadSystem::Harts)?;
        let mut board = Board::new(ram, timer, plic, devices);
        if let Some(dtu) = &self.tile.dtu {
            let unit = Dtu::new(self.unit(dtu))?;
            let end = dtu.base.saturating_add(dtu.size);
            board.add_unit(dtu.base..end, Box::new(unit));
        }
        Ok(board)
    }

    /// The tile's communication unit.
    fn unit(&self, dtu: &machine::Dtu) -> DtuDescription {
        let mut harts = self.tile.harts.iter();
        DtuDescription {
            harts: self.tile.harts.len(),
            kernel: harts.position(|hart| hart.is_kernel),
            is_governed: self.place.root.is_some(),
            ..unit_of(dtu, self.place.tile as usize)
        }
    }

    fn hart_node(&self, hart: &Hart) -> HartNode {
        let block = |extension| hart.isa.has(extension).then_some(BLOCK);
        HartNode {
            id: hart.id,
            isa: hart.isa.to_string(),
            mmu: match hart.mmu {
                machine::Mmu::Bare => None,
                machine::Mmu::Sv39 => Some(Mmu::Sv39),
                machine::Mmu::Sv48 => Some(Mmu::Sv48),
                machine::Mmu::Sv57 => Some(Mmu::Sv57),
            },
            cbom_block: block(Extension::Zicbom),
            cboz_block: block(Extension::Zicboz),
            disabled: hart.is_disabled,
        }
    }

    fn device_node(&self, device: &machine::Device) -> Option<DeviceNode> {
        let (range, source) = (addresses(device), device.source);
        let harts = || self.tile.harts.iter().map(|hart| hart.id).collect();
        Some(match device.kind {
            DeviceKind::Clint => DeviceNode::Clint {
                range,
                harts: harts(),
            },
            DeviceKind::Mswi => DeviceNode::Mswi {
                range,
                harts: harts(),
            },
            DeviceKind::Mtimer => DeviceNode::Mtimer {
                range,
                harts: harts(),
            },
            DeviceKind::Sswi => DeviceNode::Sswi {
                range,
                harts: harts(),
            },
            DeviceKind::Plic { sources, .. } => DeviceNode::Plic {
                range,
                sources,
                contexts: self.contexts(),
            },
            DeviceKind::Uart16550 { clock, shift } => DeviceNode::Uart16550 {
                range,
                source,
                clock_frequency: clock,
                register_shift: shift,
            },
            DeviceKind::Finisher => DeviceNode::TestFinisher { range },
            DeviceKind::GoldfishRtc => DeviceNode::GoldfishRtc { range, source },
            DeviceKind::Virtio(_) => DeviceNode::VirtioMmio { range, source },
            DeviceKind::Htif => return None,
        })
    }

    /// What its firmware is told.
    pub fn tree(&self) -> Result<Vec<u8>, BadSystem> {
        let memories = self.tile.memories.iter();
        let main = memories.filter(|memory| memory.usage == MemoryUsage::Main);
        let ports = self.tile.devices.iter();
        let port = |device: &&machine::Device| matches!(device.kind, DeviceKind::Uart16550 { .. });
        let unit = self.tile.dtu.iter().map(|dtu| DeviceNode::Dtu {
            range: AddressRange {
                base: dtu.base,
                size: dtu.size,
            },
            harts: self.tile.harts.iter().map(|hart| hart.id).collect(),
            endpoints: dtu.endpoints,
            slots: dtu.slots,
            message: dtu.message as u32,
            packet: dtu.packet as u32,
        });
        let is_incoherent = self.tile.coherence == machine::Coherence::None;
        let tree = MachineTree {
            place: (self.place.tiles > 1 || self.place.host.is_some() || self.is_root())
                .then_some(self.place),
            model: self.model.clone(),
            compatible: self.compatible.clone(),
            timebase_frequency: self.timebase,
            is_incoherent,
            writes_back: is_incoherent && self.writes_back,
            harts: self.tile.harts.iter().map(|h| self.hart_node(h)).collect(),
            memory: main
                .map(|memory| AddressRange {
                    base: memory.base,
                    size: memory.size,
                })
                .collect(),
            boot_hart: self.boot_hart(),
            chosen: Chosen {
                stdout: ports.filter(port).map(|port| port.base).next(),
                ..self.chosen.clone()
            },
            devices: self
                .tile
                .devices
                .iter()
                .filter_map(|device| self.device_node(device))
                .chain(unit)
                .collect(),
            other_tiles: self.other_tiles.clone(),
            core_tiles: self.core_tiles.clone(),
            slice: self
                .tile
                .dtu
                .as_ref()
                .map_or(0, |dtu| dtu.slice / 1_000_000),
        };
        Ok(tree.to_blob()?)
    }
}

/// The memories of a tile.
pub(crate) fn ram_of(tile: &Tile) -> Result<Vec<Ram>, BadRam> {
    let memories = tile.memories.iter();
    memories
        .map(|memory| Ram::new(memory.base, memory.size))
        .collect()
}

/// The unit of a tile without harts.
pub(crate) fn unit_of(dtu: &machine::Dtu, tile: usize) -> DtuDescription {
    DtuDescription {
        tile: tile as u16,
        endpoints: dtu.endpoints as u16,
        slots: dtu.slots as u8,
        message: dtu.message as u16,
        packet: dtu.packet as u32,
        command: (dtu.cycles * dtu.period / FS_PER_PS).round() as Time,
        cycle: dtu.period.round() as u64,
        harts: 0,
        kernel: None,
        is_root: dtu.is_root,
        is_governed: false,
    }
}
