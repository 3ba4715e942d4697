//! The nodes of devices in a device tree.
use super::{
    AddressRange, BadTree, Context, FINISHER, FdtWriter, MachineTree, PLIC, Written, cpu_handle,
    write_reg,
};

/// The bit of `mip` by which a communication unit interrupts (`docs/dtu.md`).
const DTU_LINE: u32 = 16;

/// A device. `harts` are numbers of harts, and `source` is a source of the PLIC.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum DeviceNode {
    Clint {
        range: AddressRange,
        harts: Vec<u32>,
    },
    Mswi {
        range: AddressRange,
        harts: Vec<u32>,
    },
    /// The range of [`crate::Mtimer`]: `mtimecmp`, and `mtime` in the last 8 bytes.
    Mtimer {
        range: AddressRange,
        harts: Vec<u32>,
    },
    Sswi {
        range: AddressRange,
        harts: Vec<u32>,
    },
    /// The contexts in the order of [`crate::PlicDescription`].
    Plic {
        range: AddressRange,
        sources: u32,
        contexts: Vec<Context>,
    },
    Uart16550 {
        range: AddressRange,
        source: u32,
        clock_frequency: u32,
        register_shift: u32,
    },
    /// Also the means by which the system powers off and reboots.
    TestFinisher {
        range: AddressRange,
    },
    GoldfishRtc {
        range: AddressRange,
        source: u32,
    },
    VirtioMmio {
        range: AddressRange,
        source: u32,
    },
    /// The communication unit, with its numbers of the machine file. It interrupts by bit 16 of `mip`.
    Dtu {
        range: AddressRange,
        harts: Vec<u32>,
        endpoints: u32,
        slots: u32,
        message: u32,
        packet: u32,
    },
}

impl DeviceNode {
    /// The device's registers.
    pub fn range(&self) -> AddressRange {
        match self {
            Self::Clint { range, .. }
            | Self::Mswi { range, .. }
            | Self::Mtimer { range, .. }
            | Self::Sswi { range, .. }
            | Self::Plic { range, .. }
            | Self::Uart16550 { range, .. }
            | Self::TestFinisher { range }
            | Self::GoldfishRtc { range, .. }
            | Self::VirtioMmio { range, .. }
            | Self::Dtu { range, .. } => *range,
        }
    }

    /// The node's name under `/soc`.
    pub(super) fn name(&self) -> String {
        let name = match self {
            Self::Clint { .. } => "clint",
            Self::Mswi { .. } => "mswi",
            Self::Mtimer { .. } => "mtimer",
            Self::Sswi { .. } => "sswi",
            Self::Plic { .. } => "plic",
            Self::Uart16550 { .. } => "serial",
            Self::TestFinisher { .. } => "test",
            Self::GoldfishRtc { .. } => "rtc",
            Self::VirtioMmio { .. } => "virtio_mmio",
            Self::Dtu { .. } => "dtu",
        };
        format!("{name}@{:x}", self.range().base)
    }
}

impl MachineTree {
    pub(super) fn write_device(&self, fdt: &mut FdtWriter, device: &DeviceNode) -> Written {
        let range = device.range();
        let compatible = |fdt: &mut FdtWriter, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned());
            fdt.property_string_list("compatible", names.collect())
        };
        match device {
            DeviceNode::Clint { harts, .. } => {
                compatible(fdt, &["sifive,clint0", "riscv,clint0"])?;
                write_reg(fdt, &[range])?;
                self.write_lines(fdt, range, harts, &[3, 7])?;
            }
            DeviceNode::Mswi { harts, .. } => {
                compatible(fdt, &["riscv,aclint-mswi"])?;
                write_reg(fdt, &[range])?;
                self.write_lines(fdt, range, harts, &[3])?;
                fdt.property_null("interrupt-controller")?;
                fdt.property_u32("#interrupt-cells", 0)?;
            }
            DeviceNode::Mtimer { harts, .. } => {
                compatible(fdt, &["riscv,aclint-mtimer"])?;
                // The binding has the range of `mtime` first.
                let compare = range.size.saturating_sub(8);
                let time = AddressRange {
                    base: range.base.saturating_add(compare),
                    size: range.size - compare,
                };
                let compare = AddressRange {
                    base: range.base,
                    size: compare,
                };
                write_reg(fdt, &[time, compare])?;
                self.write_lines(fdt, range, harts, &[7])?;
            }
            DeviceNode::Sswi { harts, .. } => {
                compatible(fdt, &["riscv,aclint-sswi"])?;
                write_reg(fdt, &[range])?;
                self.write_lines(fdt, range, harts, &[1])?;
                fdt.property_null("interrupt-controller")?;
                fdt.property_u32("#interrupt-cells", 0)?;
            }
            DeviceNode::Plic {
                sources, contexts, ..
            } => {
                compatible(fdt, &["sifive,plic-1.0.0", "riscv,plic0"])?;
                write_reg(fdt, &[range])?;
                let lines = contexts.iter().map(|c| (c.hart as u64, c.bit));
                self.write_extended(fdt, range, lines)?;
                fdt.property_null("interrupt-controller")?;
                fdt.property_u32("#interrupt-cells", 1)?;
                fdt.property_u32("#address-cells", 0)?;
                fdt.property_u32("riscv,ndev", *sources)?;
                fdt.property_phandle(PLIC)?;
            }
            DeviceNode::Uart16550 {
                source,
                clock_frequency,
                register_shift,
                ..
            } => {
                compatible(fdt, &["ns16550a"])?;
                write_reg(fdt, &[range])?;
                self.write_source(fdt, range, *source)?;
                fdt.property_u32("clock-frequency", *clock_frequency)?;
                if *register_shift != 0 {
                    fdt.property_u32("reg-shift", *register_shift)?;
                }
            }
            DeviceNode::TestFinisher { .. } => {
                compatible(fdt, &["sifive,test1", "sifive,test0", "syscon"])?;
                write_reg(fdt, &[range])?;
                if self.finisher() == Some(range) {
                    fdt.property_phandle(FINISHER)?;
                }
            }
            DeviceNode::GoldfishRtc { source, .. } => {
                compatible(fdt, &["google,goldfish-rtc"])?;
                write_reg(fdt, &[range])?;
                self.write_source(fdt, range, *source)?;
            }
            DeviceNode::VirtioMmio { source, .. } => {
                compatible(fdt, &["virtio,mmio"])?;
                write_reg(fdt, &[range])?;
                self.write_source(fdt, range, *source)?;
            }
            DeviceNode::Dtu {
                harts,
                endpoints,
                slots,
                message,
                packet,
                ..
            } => {
                compatible(fdt, &["flick,dtu"])?;
                write_reg(fdt, &[range])?;
                self.write_lines(fdt, range, harts, &[DTU_LINE])?;
                fdt.property_u32("flick,endpoints", *endpoints)?;
                fdt.property_u32("flick,slots", *slots)?;
                fdt.property_u32("flick,message", *message)?;
                fdt.property_u32("flick,packet", *packet)?;
            }
        }
        Ok(())
    }

    fn write_source(&self, fdt: &mut FdtWriter, range: AddressRange, source: u32) -> Written {
        let is_plic = |device: &&DeviceNode| matches!(device, DeviceNode::Plic { .. });
        if self.devices.iter().filter(is_plic).count() != 1 {
            return Err(BadTree::NoController(range.base));
        }
        fdt.property_u32("interrupts", source)?;
        fdt.property_u32("interrupt-parent", PLIC)?;
        Ok(())
    }

    /// The same bits of `mip` of several harts.
    fn write_lines(
        &self,
        fdt: &mut FdtWriter,
        range: AddressRange,
        harts: &[u32],
        bits: &[u32],
    ) -> Written {
        let each = harts.iter().map(|&hart| u64::from(hart));
        let lines = each.flat_map(|hart| bits.iter().map(move |&bit| (hart, bit)));
        self.write_extended(fdt, range, lines)
    }

    fn write_extended(
        &self,
        fdt: &mut FdtWriter,
        range: AddressRange,
        lines: impl Iterator<Item = (u64, u32)>,
    ) -> Written {
        let mut cells = Vec::new();
        for (hart, bit) in lines {
            let mut ids = self.harts.iter().map(|hart| u64::from(hart.id));
            let index = ids.position(|id| id == hart);
            let base = range.base;
            let index = index.ok_or(BadTree::NoHart { base, hart })?;
            cells.extend([cpu_handle(index) + 1, bit]);
        }
        Ok(fdt.property_array_u32("interrupts-extended", &cells)?)
    }
}
