//! The description of a machine for its firmware: a flattened device tree (Devicetree
//! Specification 0.4) with the nodes that OpenSBI and Linux expect of QEMU's machine `virt`.
use crate::isa_string::isa_parts;
use crate::plic::Context;
use vm_fdt::FdtWriter;

mod device_nodes;

pub use device_nodes::DeviceNode;

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
}

/// What the firmware is told of a machine.
#[derive(Clone, Debug, Default)]
pub struct MachineTree {
    /// Which tile it is, if the machine has several.
    pub place: Option<TilePlace>,
    /// The machine's name (`model`).
    pub model: String,
    /// The machine's `compatible` strings, the most specific first.
    pub compatible: Vec<String>,
    /// Ticks of `mtime` a second.
    pub timebase_frequency: u32,
    /// Harts do not see each other's stores in their caches: `flick,incoherent` of `/cpus` says so.
    pub is_incoherent: bool,
    /// Their stores stay in their caches until lines are written back: `flick,write-back` says so.
    pub writes_back: bool,
    /// All harts.
    pub harts: Vec<HartNode>,
    /// All memory.
    pub memory: Vec<AddressRange>,
    /// The hart whose number the header names as the one that boots.
    pub boot_hart: u32,
    /// What the boot loader tells the system.
    pub chosen: Chosen,
    /// The devices.
    pub devices: Vec<DeviceNode>,
    /// Tiles without harts, if this one is their root.
    pub other_tiles: Vec<TileNode>,
    /// Tiles with harts, if this one is their root.
    pub core_tiles: Vec<CoreTileNode>,
    /// Nanoseconds that an activity has one of them if others wait for it.
    pub slice: u64,
}

/// Which tile of its machine firmware is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePlace {
    /// The tile's number.
    pub tile: u32,
    /// How many tiles with harts the machine has. They have the first numbers.
    pub tiles: u32,
    /// The tile of the host, if the machine has one.
    pub host: Option<u32>,
    /// The tile that sets this one's endpoints up, if there is one.
    pub root: Option<u32>,
    /// It decides on switches between programs of this one, too.
    pub root_switches: bool,
}

/// A tile without harts, which the root sets up.
#[derive(Clone, Debug)]
pub struct TileNode {
    /// The tile's number.
    pub tile: u32,
    /// Its `compatible` string: `flick,memory`, or `flick,accelerator-stream` and the like.
    pub compatible: String,
    /// What an accelerator computes; empty: it is none.
    pub function: String,
    /// Its memory.
    pub memory: AddressRange,
    /// Endpoints of its unit.
    pub endpoints: u32,
    /// Bytes of a block, and of all blocks that the local memory begins with. `None`: it is no accelerator of streams.
    pub blocks: Option<[u64; 2]>,
}

/// A tile with harts and a kernel of its own, whose endpoints the root sets up.
#[derive(Clone, Debug)]
pub struct CoreTileNode {
    /// The tile's number.
    pub tile: u32,
    /// Its name in the machine file.
    pub name: String,
    /// The memory that its kernel is in.
    pub memory: AddressRange,
    /// Endpoints of its unit.
    pub endpoints: u32,
    /// Harts, each of which has a bank of the unit.
    pub harts: u32,
    /// The first tile whose harts and memory are such ones: programs of one can run on the other.
    pub kind: u32,
}

/// A hart.
#[derive(Clone, Debug, Default)]
pub struct HartNode {
    /// `mhartid`.
    pub id: u32,
    /// The ISA string in lower case, such as `rv64imafdc_zicsr_zifencei_sstc`.
    pub isa: String,
    /// The largest address translation, if there is one.
    pub mmu: Option<Mmu>,
    /// Bytes of a block of `cbo.clean`, `cbo.flush` and `cbo.inval`.
    pub cbom_block: Option<u32>,
    /// Bytes of a block of `cbo.zero`.
    pub cboz_block: Option<u32>,
    /// The hart is left alone by operating systems (`status` is `disabled`).
    pub disabled: bool,
}

/// Address translation of a hart: the largest mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mmu {
    Sv39,
    Sv48,
    Sv57,
}

/// What the boot loader tells the system (`/chosen`).
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The kernel's command line.
    pub bootargs: Option<String>,
    /// Where the initial RAM disk lies.
    pub initrd: Option<AddressRange>,
    /// The base of the serial port that is the console.
    pub stdout: Option<u64>,
    /// Seed of the kernel's random numbers. The same seed gives the same run.
    pub rng_seed: Option<Vec<u8>>,
    /// The machine ends with the tile's first program, though it is not the first tile.
    pub ends_machine: bool,
}

/// A description that has no device tree.
#[derive(Debug, thiserror::Error)]
pub enum BadTree {
    /// An ISA string that does not start with `rv64` and the letters of extensions.
    #[error("{0:?} is not an ISA string in lower case, such as rv64imafdc_zicsr")]
    Isa(String),
    /// A device names a hart that the machine lacks.
    #[error("the device at {base:#x} names hart {hart}, which the machine lacks")]
    NoHart {
        /// The device.
        base: u64,
        /// The hart.
        hart: u64,
    },
    /// A device interrupts, and the machine has no PLIC, or several.
    #[error("the device at {0:#x} needs exactly one PLIC in the machine")]
    NoController(u64),
    /// The console is not a serial port of the machine.
    #[error("the console is at {0:#x}, where no serial port is")]
    NoConsole(u64),
    /// Two harts have a number, or two devices an address.
    #[error("the device tree would have two nodes {0}")]
    Twice(String),
    /// The ranges are too long for their cells, or wrap.
    #[error("the range of {size:#x} bytes at {base:#x} leaves the address space")]
    Range {
        /// The first address.
        base: u64,
        /// Bytes.
        size: u64,
    },
    /// A text has a NUL, or the tree is too large.
    #[error("the device tree cannot be written: {0}")]
    Write(#[from] vm_fdt::Error),
}

type Written = Result<(), BadTree>;

/// The phandles: the PLIC, the finisher, and from `CPUS` on two for each hart.
const PLIC: u32 = 1;
const FINISHER: u32 = 2;
const CPUS: u32 = 3;

impl MachineTree {
    /// The flattened device tree.
    pub fn to_blob(&self) -> Result<Vec<u8>, BadTree> {
        self.check_names()?;
        let mut fdt = FdtWriter::new()?;
        fdt.set_boot_cpuid_phys(self.boot_hart);
        let root = fdt.begin_node("")?;
        fdt.property_u32("#address-cells", 2)?;
        fdt.property_u32("#size-cells", 2)?;
        fdt.property_string_list("compatible", self.compatible.clone())?;
        fdt.property_string("model", &self.model)?;
        if let Some(place) = self.place {
            fdt.property_u32("flick,tile", place.tile)?;
            fdt.property_u32("flick,tiles", place.tiles)?;
            if let Some(host) = place.host {
                fdt.property_u32("flick,host-tile", host)?;
            }
            if let Some(root) = place.root {
                fdt.property_u32("flick,root-tile", root)?;
            }
            if place.root_switches {
                fdt.property_null("flick,switches-by-root")?;
            }
        }
        self.write_chosen(&mut fdt)?;
        self.write_cpus(&mut fdt)?;
        for &memory in &self.memory {
            let node = fdt.begin_node(&format!("memory@{:x}", memory.base))?;
            fdt.property_string("device_type", "memory")?;
            write_reg(&mut fdt, &[memory])?;
            fdt.end_node(node)?;
        }
        self.write_soc(&mut fdt)?;
        self.write_tiles(&mut fdt)?;
        self.write_core_tiles(&mut fdt)?;
        self.write_power(&mut fdt)?;
        fdt.end_node(root)?;
        Ok(fdt.finish()?)
    }

    fn check_names(&self) -> Written {
        let cpus = self.harts.iter().map(|hart| format!("cpu@{:x}", hart.id));
        let memory = self.memory.iter().map(|m| format!("memory@{:x}", m.base));
        let devices = self.devices.iter().map(DeviceNode::name);
        let mut names: Vec<String> = cpus.chain(memory).chain(devices).collect();
        names.sort();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(BadTree::Twice(pair[0].clone())),
        }
    }

    fn write_chosen(&self, fdt: &mut FdtWriter) -> Written {
        let chosen = &self.chosen;
        let node = fdt.begin_node("chosen")?;
        if let Some(bootargs) = &chosen.bootargs {
            fdt.property_string("bootargs", bootargs)?;
        }
        if let Some(initrd) = chosen.initrd {
            fdt.property_u64("linux,initrd-start", initrd.base)?;
            fdt.property_u64("linux,initrd-end", end(initrd)?)?;
        }
        if let Some(base) = chosen.stdout {
            let mut ports = self.devices.iter().filter(|device| {
                let is_port = matches!(device, DeviceNode::Uart16550 { .. });
                is_port && device.range().base == base
            });
            let port = ports.next().ok_or(BadTree::NoConsole(base))?;
            fdt.property_string("stdout-path", &format!("/soc/{}", port.name()))?;
        }
        if let Some(seed) = &chosen.rng_seed {
            fdt.property("rng-seed", seed)?;
        }
        if chosen.ends_machine {
            fdt.property_null("flick,ends-machine")?;
        }
        Ok(fdt.end_node(node)?)
    }

    fn write_cpus(&self, fdt: &mut FdtWriter) -> Written {
        let cpus = fdt.begin_node("cpus")?;
        fdt.property_u32("#address-cells", 1)?;
        fdt.property_u32("#size-cells", 0)?;
        fdt.property_u32("timebase-frequency", self.timebase_frequency)?;
        if self.is_incoherent {
            fdt.property_null("flick,incoherent")?;
        }
        if self.writes_back {
            fdt.property_null("flick,write-back")?;
        }
        for (index, hart) in self.harts.iter().enumerate() {
            write_hart(fdt, hart, cpu_handle(index))?;
        }
        let map = fdt.begin_node("cpu-map")?;
        let cluster = fdt.begin_node("cluster0")?;
        for index in 0..self.harts.len() {
            let core = fdt.begin_node(&format!("core{index}"))?;
            fdt.property_u32("cpu", cpu_handle(index))?;
            fdt.end_node(core)?;
        }
        fdt.end_node(cluster)?;
        fdt.end_node(map)?;
        Ok(fdt.end_node(cpus)?)
    }

    fn write_soc(&self, fdt: &mut FdtWriter) -> Written {
        let soc = fdt.begin_node("soc")?;
        fdt.property_u32("#address-cells", 2)?;
        fdt.property_u32("#size-cells", 2)?;
        fdt.property_string("compatible", "simple-bus")?;
        fdt.property_null("ranges")?;
        for device in &self.devices {
            let node = fdt.begin_node(&device.name())?;
            self.write_device(fdt, device)?;
            fdt.end_node(node)?;
        }
        Ok(fdt.end_node(soc)?)
    }

    /// The nodes of tiles that the root sets up.
    fn write_tiles(&self, fdt: &mut FdtWriter) -> Written {
        if self.other_tiles.is_empty() {
            return Ok(());
        }
        let tiles = fdt.begin_node("tiles")?;
        fdt.property_u32("#address-cells", 1)?;
        fdt.property_u32("#size-cells", 0)?;
        fdt.property_u64("flick,slice", self.slice)?;
        for tile in &self.other_tiles {
            let node = fdt.begin_node(&format!("tile@{:x}", tile.tile))?;
            fdt.property_string("compatible", &tile.compatible)?;
            fdt.property_u32("reg", tile.tile)?;
            if !tile.function.is_empty() {
                fdt.property_string("flick,function", &tile.function)?;
            }
            let AddressRange { base, size } = tile.memory;
            fdt.property_array_u64("flick,memory", &[base, size])?;
            fdt.property_u32("flick,endpoints", tile.endpoints)?;
            if let Some(blocks) = tile.blocks {
                fdt.property_array_u64("flick,blocks", &blocks)?;
            }
            fdt.end_node(node)?;
        }
        Ok(fdt.end_node(tiles)?)
    }

    /// The nodes of tiles with kernels of their own, for their root.
    fn write_core_tiles(&self, fdt: &mut FdtWriter) -> Written {
        if self.core_tiles.is_empty() {
            return Ok(());
        }
        let tiles = fdt.begin_node("core-tiles")?;
        fdt.property_u32("#address-cells", 1)?;
        fdt.property_u32("#size-cells", 0)?;
        for tile in &self.core_tiles {
            let node = fdt.begin_node(&format!("tile@{:x}", tile.tile))?;
            fdt.property_string("compatible", "flick,harts")?;
            fdt.property_u32("reg", tile.tile)?;
            fdt.property_string("flick,name", &tile.name)?;
            let AddressRange { base, size } = tile.memory;
            fdt.property_array_u64("flick,memory", &[base, size])?;
            fdt.property_u32("flick,endpoints", tile.endpoints)?;
            fdt.property_u32("flick,harts", tile.harts)?;
            fdt.property_u32("flick,kind", tile.kind)?;
            fdt.end_node(node)?;
        }
        Ok(fdt.end_node(tiles)?)
    }

    /// The nodes by which a system powers off and reboots: values for the finisher.
    fn write_power(&self, fdt: &mut FdtWriter) -> Written {
        if self.finisher().is_none() {
            return Ok(());
        }
        for (name, value) in [("poweroff", 0x5555), ("reboot", 0x7777)] {
            let node = fdt.begin_node(name)?;
            fdt.property_string("compatible", &format!("syscon-{name}"))?;
            fdt.property_u32("regmap", FINISHER)?;
            fdt.property_u32("offset", 0)?;
            fdt.property_u32("value", value)?;
            fdt.end_node(node)?;
        }
        Ok(())
    }

    /// The first finisher.
    fn finisher(&self) -> Option<AddressRange> {
        let mut found = self.devices.iter().filter_map(|device| match device {
            DeviceNode::TestFinisher { range } => Some(*range),
            _ => None,
        });
        found.next()
    }
}

/// The phandle of a hart. The next is that of its interrupt controller.
fn cpu_handle(index: usize) -> u32 {
    CPUS + 2 * index as u32
}

fn write_hart(fdt: &mut FdtWriter, hart: &HartNode, handle: u32) -> Written {
    let cpu = fdt.begin_node(&format!("cpu@{:x}", hart.id))?;
    fdt.property_string("device_type", "cpu")?;
    fdt.property_u32("reg", hart.id)?;
    fdt.property_string("status", if hart.disabled { "disabled" } else { "okay" })?;
    fdt.property_string("compatible", "riscv")?;
    fdt.property_string("riscv,isa", &hart.isa)?;
    let bad = || BadTree::Isa(hart.isa.clone());
    let (base, extensions) = isa_parts(&hart.isa).ok_or_else(bad)?;
    fdt.property_string("riscv,isa-base", &base)?;
    fdt.property_string_list("riscv,isa-extensions", extensions)?;
    let mmu = match hart.mmu {
        None => "riscv,none",
        Some(Mmu::Sv39) => "riscv,sv39",
        Some(Mmu::Sv48) => "riscv,sv48",
        Some(Mmu::Sv57) => "riscv,sv57",
    };
    fdt.property_string("mmu-type", mmu)?;
    if let Some(bytes) = hart.cbom_block {
        fdt.property_u32("riscv,cbom-block-size", bytes)?;
    }
    if let Some(bytes) = hart.cboz_block {
        fdt.property_u32("riscv,cboz-block-size", bytes)?;
    }
    fdt.property_phandle(handle)?;
    let controller = fdt.begin_node("interrupt-controller")?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_null("interrupt-controller")?;
    fdt.property_string("compatible", "riscv,cpu-intc")?;
    fdt.property_phandle(handle + 1)?;
    fdt.end_node(controller)?;
    Ok(fdt.end_node(cpu)?)
}

fn end(range: AddressRange) -> Result<u64, BadTree> {
    let AddressRange { base, size } = range;
    base.checked_add(size).ok_or(BadTree::Range { base, size })
}

fn write_reg(fdt: &mut FdtWriter, ranges: &[AddressRange]) -> Written {
    for &range in ranges {
        end(range)?;
    }
    let cells: Vec<u64> = ranges.iter().flat_map(|r| [r.base, r.size]).collect();
    Ok(fdt.property_array_u64("reg", &cells)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(base: u64) -> AddressRange {
        AddressRange { base, size: 0x1000 }
    }

    fn error(devices: Vec<DeviceNode>, stdout: Option<u64>) -> String {
        let tree = MachineTree {
            harts: vec![HartNode {
                isa: "rv64i".to_owned(),
                ..HartNode::default()
            }],
            chosen: Chosen {
                stdout,
                ..Chosen::default()
            },
            devices,
            ..MachineTree::default()
        };
        tree.to_blob().unwrap_err().to_string()
    }

    #[test]
    fn impossible_trees_are_refused() {
        let rtc = |base| DeviceNode::GoldfishRtc {
            range: range(base),
            source: 1,
        };
        let test = |base| DeviceNode::TestFinisher { range: range(base) };
        let clint = DeviceNode::Clint {
            range: range(0),
            harts: vec![0, 1],
        };
        assert!(error(vec![rtc(0x1000)], None).contains("needs exactly one PLIC"));
        assert!(error(vec![clint], None).contains("names hart 1"));
        assert!(error(vec![test(4), test(4)], None).contains("two nodes test@4"));
        assert!(error(vec![test(4)], Some(4)).contains("no serial port"));
        assert!(error(vec![test(u64::MAX)], None).contains("leaves the address space"));
    }
}
