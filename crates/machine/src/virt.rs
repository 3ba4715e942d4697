//! The map of QEMU's machine `virt`, so that firmware and kernels made for it run.
use flick_device::fdt::{AddressRange, BadTree, Chosen, DeviceNode, HartNode, MachineTree, Mmu};
use flick_device::virtio::{BlockDevice, Disk, VirtioDevice, VirtioMmio};
use flick_device::{
    BadFrequency, BadPlic, Clint, Context, Device, GoldfishRtc, Plic, PlicDescription,
    TestFinisher, Time, Timebase, Uart16550,
};
use flick_hart::{Extension, Isa};

use crate::board::Board;
use crate::ram::{BadRam, Ram};

/// The first address of memory.
pub const MEMORY: u64 = 0x8000_0000;
/// Ticks of `mtime` a second.
pub const TIMEBASE: u32 = 10_000_000;
/// The number of the serial port among the board's devices.
pub const SERIAL: usize = 0;

/// Where firmware finds what is started behind it.
pub const ROM: AddressRange = AddressRange {
    base: 0x1000,
    size: 0xf000,
};
const CLINT: AddressRange = AddressRange {
    base: 0x0200_0000,
    size: 0x1_0000,
};
const PLIC: AddressRange = AddressRange {
    base: 0x0c00_0000,
    size: 0x60_0000,
};
const UART: AddressRange = AddressRange {
    base: 0x1000_0000,
    size: 0x100,
};
const FINISHER: AddressRange = AddressRange {
    base: 0x10_0000,
    size: 0x1000,
};
const RTC: AddressRange = AddressRange {
    base: 0x10_1000,
    size: 0x1000,
};
const RTC_SOURCE: u32 = 11;
/// The slots of virtio devices: the first source, and addresses from one to the next.
const VIRTIO: AddressRange = AddressRange {
    base: 0x1000_1000,
    size: 0x1000,
};
const VIRTIO_SLOTS: u32 = 8;
const VIRTIO_SOURCE: u32 = 1;
/// From a driver's notification to the device's work.
const VIRTIO_LATENCY: Time = 1_000_000;
/// What the clock shows at the reset, in nanoseconds since 1970: 2026-01-01. The host's clock would make
/// each run another.
const EPOCH: u64 = 1_767_225_600_000_000_000;
const UART_SOURCE: u32 = 10;
const UART_CLOCK: u32 = 3_686_400;
const SOURCES: u32 = 95;

/// What may be chosen of the machine.
#[derive(Clone, Debug)]
pub struct Virt {
    /// Harts, which are alike.
    pub harts: usize,
    /// Their extensions.
    pub isa: Isa,
    /// Bytes of memory.
    pub memory: u64,
    /// For the firmware.
    pub chosen: Chosen,
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
pub enum BadVirt {
    #[error("a machine has 8 disks at most")]
    Disks,
    #[error(transparent)]
    Memory(#[from] BadRam),
    #[error(transparent)]
    Plic(#[from] BadPlic),
    #[error(transparent)]
    Frequency(#[from] BadFrequency),
    #[error(transparent)]
    Tree(#[from] BadTree),
}

fn virtio_slot(slot: u32) -> AddressRange {
    AddressRange {
        base: VIRTIO.base + u64::from(slot) * VIRTIO.size,
        size: VIRTIO.size,
    }
}

impl Virt {
    fn contexts(&self) -> Vec<Context> {
        (0..self.harts)
            .flat_map(|hart| [Context { hart, bit: 11 }, Context { hart, bit: 9 }])
            .collect()
    }

    /// The board.
    pub fn board(&self, disks: Vec<BlockDisk>) -> Result<Board, BadVirt> {
        if disks.len() > VIRTIO_SLOTS as usize {
            return Err(BadVirt::Disks);
        }
        let ram = vec![
            Ram::new(MEMORY, self.memory)?,
            Ram::new(ROM.base, ROM.size)?,
        ];
        let clint = Clint::new(0, self.harts, Timebase::new(TIMEBASE.into())?);
        let plic = Plic::new(PlicDescription {
            sources: SOURCES,
            priority_bits: 3,
            contexts: self.contexts(),
        })?;
        let range = |range: AddressRange| range.base..range.base + range.size;
        let mut devices: Vec<(_, Box<dyn Device>)> = vec![
            (
                range(UART),
                Box::new(Uart16550::new(UART_SOURCE, 0, UART_CLOCK)),
            ),
            (range(FINISHER), Box::new(TestFinisher)),
            (range(RTC), Box::new(GoldfishRtc::new(RTC_SOURCE, EPOCH))),
        ];
        let mut disks = disks.into_iter();
        for slot in 0..VIRTIO_SLOTS {
            let device = disks.next().map(|disk| {
                let name = format!("disk{slot}");
                let device = BlockDevice::new(disk.disk, disk.is_read_only, &name);
                Box::new(device) as Box<dyn VirtioDevice>
            });
            let source = VIRTIO_SOURCE + slot;
            let device = VirtioMmio::new(source, VIRTIO_LATENCY, device);
            devices.push((range(virtio_slot(slot)), Box::new(device)));
        }
        let clint = (range(CLINT), clint);
        Ok(Board::new(ram, clint, (range(PLIC), plic), devices))
    }

    /// What its firmware is told.
    pub fn tree(&self) -> Result<Vec<u8>, BadVirt> {
        let harts: Vec<u32> = (0..self.harts as u32).collect();
        let block = |extension| self.isa.has(extension).then_some(64);
        let node = |&id: &u32| HartNode {
            id,
            isa: self.isa.to_string(),
            mmu: Some(Mmu::Sv57),
            cbom_block: block(Extension::Zicbom),
            cboz_block: block(Extension::Zicboz),
            disabled: false,
        };
        let slots = (0..VIRTIO_SLOTS).map(|slot| DeviceNode::VirtioMmio {
            range: virtio_slot(slot),
            source: VIRTIO_SOURCE + slot,
        });
        let tree = MachineTree {
            model: "riscv-virtio,qemu".into(),
            compatible: vec!["riscv-virtio".into()],
            timebase_frequency: TIMEBASE,
            harts: harts.iter().map(node).collect(),
            memory: vec![AddressRange {
                base: MEMORY,
                size: self.memory,
            }],
            boot_hart: 0,
            chosen: Chosen {
                stdout: Some(UART.base),
                ..self.chosen.clone()
            },
            devices: [
                DeviceNode::TestFinisher { range: FINISHER },
                DeviceNode::GoldfishRtc {
                    range: RTC,
                    source: RTC_SOURCE,
                },
                DeviceNode::Uart16550 {
                    range: UART,
                    source: UART_SOURCE,
                    clock_frequency: UART_CLOCK,
                    register_shift: 0,
                },
                DeviceNode::Plic {
                    range: PLIC,
                    sources: SOURCES,
                    contexts: self.contexts(),
                },
                DeviceNode::Clint {
                    range: CLINT,
                    harts,
                },
            ]
            .into_iter()
            .chain(slots)
            .collect(),
        };
        Ok(tree.to_blob()?)
    }
}
