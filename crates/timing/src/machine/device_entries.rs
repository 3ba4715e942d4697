//! Devices of a tile: `[[tile.device]]`.
use super::machine_parts::{Device, DeviceKind, Hart, VirtioSlot};
use crate::platform::quantity::SIZE;
use crate::platform::toml_reader::{Error, Table};

const KINDS: [&str; 10] = [
    "clint",
    "mswi",
    "mtimer",
    "sswi",
    "plic",
    "uart16550",
    "finisher",
    "goldfish-rtc",
    "virtio-mmio",
    "htif",
];
/// The kinds that interrupt by the PLIC.
const WITH_SOURCE: [&str; 3] = ["uart16550", "goldfish-rtc", "virtio-mmio"];
/// Bytes of the registers, by kind. A PLIC has two contexts for each hart.
fn least_size(kind: usize, harts: usize) -> u64 {
    match KINDS[kind] {
        "clint" => 0x1_0000,
        "mswi" | "sswi" => 0x4000,
        "mtimer" => 0x8000,
        "plic" => 0x20_0000 + 0x1000 * (2 * harts as u64),
        "uart16550" => 0x100,
        "htif" => 0,
        _ => 0x1000,
    }
}

/// All devices of a tile.
pub fn devices(tile: &mut Table<'_>, harts: &[Hart]) -> Result<Vec<Device>, Error> {
    let mut devices = Vec::new();
    for mut table in tile.tables("device")? {
        let kind = {
            table.text("kind")?;
            table.choice_or("kind", &KINDS, 0)?
        };
        device(&mut table, kind, harts.len(), &mut devices)?;
        table.end_with_source()?;
    }
    Ok(devices)
}

/// Reads one entry, which stands for `count` devices behind each other.
fn device(
    table: &mut Table<'_>,
    kind: usize,
    harts: usize,
    devices: &mut Vec<Device>,
) -> Result<(), Error> {
    let line = table.line();
    let name = KINDS[kind];
    let least = least_size(kind, harts);
    let (mut base, mut size) = (0, 0);
    if least != 0 {
        base = table.address("base")?;
        size = table.quantity_or("size", &SIZE, least as f64)? as u64;
        if size < least {
            let why = format!("a {name} has registers of {least:#x} bytes here");
            return Err(table.error("size", &why, "leave it away, or give it more"));
        }
    }
    let mut source = 0;
    if WITH_SOURCE.contains(&name) {
        source = table.count("interrupt", (1, 1023))? as u32;
    }
    let shift = match name {
        "uart16550" => table.count_or("shift", (0, 5), 0)? as u32,
        _ => 0,
    };
    if name == "uart16550" && size < 8 << shift {
        let why = "the registers are farther apart than its size allows";
        return Err(table.error("shift", why, "use a smaller one, or give `size`"));
    }
    let kind = match name {
        "clint" => DeviceKind::Clint,
        "mswi" => DeviceKind::Mswi,
        "mtimer" => DeviceKind::Mtimer,
        "sswi" => DeviceKind::Sswi,
        "plic" => DeviceKind::Plic {
            sources: table.count("sources", (1, 1023))? as u32,
            messages: table.choice_or("gateways", &["level", "message"], 0)? == 1,
        },
        "uart16550" => DeviceKind::Uart16550 {
            clock: table.count_or("clock", (1, u32::MAX.into()), 3_686_400)? as u32,
            shift,
        },
        "finisher" => DeviceKind::Finisher,
        "goldfish-rtc" => DeviceKind::GoldfishRtc,
        "virtio-mmio" => {
            DeviceKind::Virtio(match table.choice_or("device", &["block", "console"], 0)? {
                0 => VirtioSlot::Block,
                _ => VirtioSlot::Console,
            })
        }
        _ => DeviceKind::Htif,
    };
    let count = match name {
        "virtio-mmio" => table.count_or("count", (1, 64), 1)?,
        _ => 1,
    };
    for number in 0..count {
        devices.push(Device {
            kind,
            base: base + number * size,
            size,
            source: if source == 0 {
                0
            } else {
                source + number as u32
            },
            line,
        });
    }
    Ok(())
}
