//! The machine as its device tree describes it.
use core::ops::Range;

use fdt::Fdt;
use fdt::node::FdtNode;
use flick_kernel::lines::MOST_HARTS;
use flick_kernel::page_tables::Mode;

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
    /// Address translation.
    pub mode: Mode,
    /// Harts see each other's stores.
    pub is_coherent: bool,
    /// The number of the tile, and how many have a kernel.
    pub tile: (u64, u64),
}

/// Why a machine is unusable.
#[derive(Clone, Copy, Debug)]
pub struct BadMachine(pub &'static str);

fn base_of(tree: &Fdt, names: &[&str]) -> Option<u64> {
    let node = tree.find_compatible(names)?;
    let region = node.reg()?.next()?;
    Some(region.starting_address as u64)
}

/// Where the console is.
pub fn serial_base(tree: &Fdt) -> Option<u64> {
    base_of(tree, &["ns16550a"])
}

fn cells(node: FdtNode, name: &str) -> impl Iterator<Item = u32> {
    let value = node
        .property(name)
        .map_or(&[][..], |property| property.value);
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap_or([0; 4]));
    value.chunks_exact(4).map(word)
}

fn number(node: FdtNode, name: &str) -> Option<u64> {
    let value = node.property(name)?.value;
    let bytes = value.iter().take(8);
    Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The context of a PLIC that is M mode of the hart with this controller of its own.
fn context_of(node: FdtNode, hart: u64) -> Option<u64> {
    let mut cells = cells(node, "interrupts-extended");
    for context in 0.. {
        let (controller, interrupt) = (cells.next()?, cells.next()?);
        if (u64::from(controller), interrupt) == (hart, 11) {
            return Some(context);
        }
    }
    None
}

impl MachineMap {
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
            mode: Mode::Sv48,
            is_coherent: true,
            tile: (0, 1),
        }
    }

    /// Reads the tree of a tile whose boot hart executes.
    pub fn read(tree: &Fdt, hart_id: u64, at: u64) -> Result<Self, BadMachine> {
        let mut map = Self::new();
        map.tree = (at, at + tree.total_size() as u64);
        let cpus = tree
            .find_node("/cpus")
            .ok_or(BadMachine("the device tree has no /cpus"))?;
        map.frequency = number(cpus, "timebase-frequency").unwrap_or(0);
        map.is_coherent = cpus.property("flick,incoherent").is_none();
        let mut controller = None;
        let is_cpu = |node: &FdtNode| node.name.starts_with("cpu@");
        for cpu in cpus.children().filter(is_cpu) {
            let Some(place) = map.hart_ids.get_mut(map.harts) else {
                return Err(BadMachine("the tile has more than 62 harts"));
            };
            *place = number(cpu, "reg").unwrap_or(u64::MAX);
            if *place == hart_id {
                map.kernel_hart = map.harts;
                let inner = cpu.children().next();
                controller = inner.and_then(|node| number(node, "phandle"));
            }
            map.harts += 1;
            match cpu
                .property("mmu-type")
                .and_then(|property| property.as_str())
            {
                Some("riscv,sv48" | "riscv,sv57") => {}
                Some("riscv,sv39") => map.mode = Mode::Sv39,
                _ => return Err(BadMachine("a hart has no address translation")),
            }
        }
        if map.kernel_hart == usize::MAX {
            return Err(BadMachine("the device tree lacks the hart that boots"));
        }
        let here = (&raw const crate::kernel_hart::kernel_end).addr();
        let memory = tree.memory();
        let main = memory.regions().find_map(|region| {
            let start = region.starting_address as usize;
            let range = start..start + region.size?;
            range
                .contains(&here)
                .then_some((range.start as u64, range.end as u64))
        });
        map.memory = main.ok_or(BadMachine("the kernel is in no memory of the device tree"))?;
        map.read_devices(tree, controller);
        if map.clint == 0 {
            return Err(BadMachine("the tile has no CLINT"));
        }
        let chosen = tree.find_node("/chosen");
        if let Some(chosen) = chosen {
            let start = number(chosen, "linux,initrd-start").unwrap_or(0);
            let end = number(chosen, "linux,initrd-end").unwrap_or(0);
            map.archive = (start, end.max(start));
        }
        if let Some(root) = tree.find_node("/") {
            let tile = number(root, "flick,tile").unwrap_or(0);
            map.tile = (tile, number(root, "flick,tiles").unwrap_or(1));
        }
        Ok(map)
    }

    /// One walk through the devices: each look-up by a name would be a walk of its own.
    fn read_devices(&mut self, tree: &Fdt, hart: Option<u64>) {
        let mut source = None;
        let Some(devices) = tree.find_node("/soc") else {
            return;
        };
        for node in devices.children() {
            let Some(names) = node.compatible() else {
                continue;
            };
            let base = || node.reg().and_then(|mut reg| reg.next());
            let Some(base) = base().map(|region| region.starting_address as u64) else {
                continue;
            };
            for name in names.all() {
                match name {
                    "riscv,clint0" | "sifive,clint0" => self.clint = base,
                    "ns16550a" => {
                        self.serial = Some(base);
                        source = cells(node, "interrupts").next();
                    }
                    "sifive,test1" | "sifive,test0" => self.finisher = Some(base),
                    "riscv,plic0" | "sifive,plic-1.0.0" => {
                        let context = hart.and_then(|hart| context_of(node, hart));
                        self.plic = context.map(|context| (base, context, 0));
                    }
                    _ => {}
                }
            }
        }
        let controller = self
            .plic
            .zip(source)
            .map(|((base, context, _), source)| (base, context, u64::from(source)));
        self.plic = controller;
    }

    /// The harts that run programs, as bits.
    pub fn user_harts(&self) -> u64 {
        let all = (1_u64 << self.harts) - 1;
        all & !(1 << self.kernel_hart)
    }

    /// The archive's addresses.
    pub fn archive(&self) -> Range<u64> {
        self.archive.0..self.archive.1
    }
}
