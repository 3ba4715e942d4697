//! Tiles: `[[tile]]` with harts, memories, units and what else a tile has. Devices are in
//! `device_entries.rs`.
use super::beside;
use super::core_reader::cache;
use super::device_entries::devices;
use super::machine_parts::{
    Accelerator, Arbitration, Coherence, CoreModel, Dtu, Hart, HostBridge, Memory, MemoryUsage,
    Tile, TileKind, Unit,
};
use crate::platform::quantity::{BANDWIDTH, FREQUENCY, FS_PER_S, SIZE, TIME};
use crate::platform::toml_reader::{Error, Table};
use flick_abi::dtu::{HEADER_SIZE, MOST_ENDPOINTS, MOST_SLOTS, registers_size};
use flick_riscv::{Extension, Isa, IsaError, Mmu};

/// Harts of a machine at most: as many as QEMU's `virt` has.
pub const MOST_HARTS: usize = 512;
/// Tiles of a machine at most.
pub const MOST_TILES: usize = 1024;
const PAGE: u64 = 4096;
/// Bytes of a message of a DTU, and of a packet's part of a transfer.
const MOST_MESSAGE: u64 = u16::MAX as u64;
const MOST_PACKET: u64 = 1 << 16;
/// Femtoseconds of a time slice at least: a switch takes some of them.
const LEAST_SLICE: u64 = 10_000_000_000;

/// Reads all tiles.
pub fn tiles(root: &mut Table<'_>, cores: &[CoreModel]) -> Result<Vec<Tile>, Error> {
    let mut tiles: Vec<Tile> = Vec::new();
    let mut harts = 0;
    for mut table in root.tables("tile")? {
        let count = table.count_or("count", (1, MOST_TILES as u64), 1)? as usize;
        let at = table.span("count");
        let tile = tile(&mut table, cores)?;
        harts += tile.harts.len() * count;
        if harts > MOST_HARTS {
            let what = format!("`{}`: the machine has {harts} harts with this tile", "tile");
            let help = "a machine has 512 harts at most";
            return Err(table.error_at(at, what, help));
        }
        for number in 0..count {
            let mut tile = tile.clone();
            if table.has("count") {
                tile.name += &number.to_string();
            }
            if tiles.iter().any(|other| other.name == tile.name) {
                let why = format!("two tiles have the name {}", tile.name);
                return Err(table.error("name", &why, "give one another name"));
            }
            tiles.push(tile);
        }
        if tiles.len() > MOST_TILES {
            let help = "a machine has 1024 tiles at most";
            return Err(table.error("count", "these are too many tiles", help));
        }
        table.end_with_source()?;
    }
    Ok(tiles)
}

/// Femtoseconds of a cycle of `clock`, or of the default.
fn period(table: &mut Table<'_>, default: Option<f64>) -> Result<f64, Error> {
    match default {
        Some(period) if !table.has("clock") => Ok(period),
        _ => Ok(FS_PER_S / table.quantity("clock", &FREQUENCY)?),
    }
}

fn tile(table: &mut Table<'_>, cores: &[CoreModel]) -> Result<Tile, Error> {
    let line = table.line();
    let name = table.text("name")?;
    let clock = match table.has("clock") {
        true => Some(period(table, None)?),
        false => None,
    };
    let kinds = ["harts", "accelerator", "memory", "host"];
    let kind = match table.choice_or("kind", &kinds, 0)? {
        0 => TileKind::Harts,
        1 => TileKind::Accelerator(accelerator(table.table("accelerator")?, clock)?),
        2 => TileKind::Memory,
        _ => TileKind::Host(host(table.table("host")?, clock)?),
    };
    let units = units(table)?;
    let mut harts = Vec::new();
    if kind == TileKind::Harts {
        harts = read_harts(table, cores, &units, clock)?;
    }
    let mut caches = Vec::new();
    for level in table.tables("cache")? {
        caches.push(cache(level)?);
    }
    let coherence = match table.table_if("coherence")? {
        Some(table) => coherence(table)?,
        None => Coherence::Free,
    };
    let memories = memories(table)?;
    let devices = devices(table, &harts)?;
    // A device answers as a memory does.
    let mut main = memories.iter();
    let main = main.find(|memory| memory.usage == MemoryUsage::Main);
    let default = main.map_or(0, |memory| memory.latency);
    let device_latency = table.quantity_or("device-latency", &TIME, default as f64)? as u64;
    let dtu = match table.table_if("dtu")? {
        Some(table) => Some(dtu(table, clock)?),
        None => None,
    };
    Ok(Tile {
        name,
        kind,
        harts,
        caches,
        coherence,
        memories,
        devices,
        device_latency,
        dtu,
        units,
        line,
    })
}

/// The ISA string at `isa`.
fn isa(table: &mut Table<'_>) -> Result<Isa, Error> {
    let text = table.text("isa")?;
    if table.lacks() {
        // The missing key is reported later.
        return Ok("rv64i".parse().unwrap_or_else(|_: IsaError| unreachable!()));
    }
    text.parse().map_err(|error: IsaError| {
        let help = match &error {
            IsaError::Unknown(name) => {
                let known = Extension::ALL.map(Extension::name);
                match name.len() {
                    0 | 1 => format!("known are {}", known.join(", ")),
                    _ => flick_names::use_one_of(name, &known),
                }
            }
            _ => "use a string in lower case such as \"rv64gc_zba_zbb_sstc\"".to_owned(),
        };
        table.error("isa", &format!("\"{text}\": {error}"), &help)
    })
}

fn read_harts(
    tile: &mut Table<'_>,
    cores: &[CoreModel],
    units: &[Unit],
    clock: Option<f64>,
) -> Result<Vec<Hart>, Error> {
    let mut harts: Vec<Hart> = Vec::new();
    for (group, mut table) in tile.tables("hart")?.into_iter().enumerate() {
        let count = table.count_or("count", (1, MOST_HARTS as u64), 1)?;
        let name = table.text_or("name", "")?;
        let is_counted = table.has("count");
        let isa = isa(&mut table)?;
        let mmu =
            Mmu::ALL[table.choice_or("mmu", &Mmu::ALL.map(Mmu::name), Mmu::default() as usize)?];
        let period = period(&mut table, clock)?;
        let core = index_of(&mut table, "core", cores.iter().map(|core| &*core.name))?;
        let unit = index_of(&mut table, "unit", units.iter().map(|unit| &*unit.name))?;
        let own = unit.and_then(|unit| units.get(unit)).into_iter();
        let own = own.flat_map(|unit| &unit.opcodes);
        // Firmware sees a unit as an extension of a vendor.
        let isa = own.fold(isa, |isa, &opcode| isa.with(extension_at(opcode)));
        let is_kernel = table.flag("kernel")?;
        let is_disabled = table.flag("disabled")?;
        let has_host_space = table.flag("host-space")?;
        if is_kernel && (count > 1 || harts.iter().any(|hart| hart.is_kernel)) {
            let why = "a second hart would run the tile's kernel";
            let help = "a tile has one kernel hart: give it an entry of its own, without count";
            return Err(table.error("kernel", why, help));
        }
        for number in 0..count {
            let id = harts.len() as u32;
            harts.push(Hart {
                id,
                name: match (&*name, is_counted) {
                    ("", _) => format!("hart{id}"),
                    (name, true) => format!("{name}{number}"),
                    (name, false) => name.to_owned(),
                },
                isa,
                mmu,
                period,
                core,
                is_kernel,
                is_disabled,
                has_host_space,
                unit,
                group,
            });
        }
        table.end_with_source()?;
    }
    if harts.is_empty() {
        let help = "add [[tile.hart]], or another kind: accelerator, memory, host";
        return Err(tile.error("name", "the tile has no harts", help));
    }
    Ok(harts)
}

/// The index of the thing that `key` names.
fn index_of<'n>(
    table: &mut Table<'_>,
    key: &'static str,
    names: impl Iterator<Item = &'n str>,
) -> Result<Option<usize>, Error> {
    let name = table.text_or(key, "")?;
    if !table.has(key) {
        return Ok(None);
    }
    let names: Vec<&str> = names.collect();
    let index = names.iter().position(|known| *known == name);
    let missing = || {
        let help = match names.is_empty() {
            true => format!("describe it, or leave `{key}` away"),
            false => flick_names::use_one_of(&name, &names),
        };
        table.error(key, &format!("the file has no {key} \"{name}\""), &help)
    };
    index.ok_or_else(missing).map(Some)
}

/// What Flick's units execute at a custom opcode.
fn extension_at(opcode: u32) -> Extension {
    match opcode {
        0x0b => Extension::XFlickDot,
        0x2b => Extension::XFlickSad,
        0x5b => Extension::XFlickCrc,
        _ => Extension::XFlickGather,
    }
}

fn units(tile: &mut Table<'_>) -> Result<Vec<Unit>, Error> {
    const OPCODES: [(&str, u32); 4] = [
        ("custom-0", 0x0b),
        ("custom-1", 0x2b),
        ("custom-2", 0x5b),
        ("custom-3", 0x7b),
    ];
    let mut units: Vec<Unit> = Vec::new();
    for mut table in tile.tables("unit")? {
        let line = table.line();
        let name = table.text("name")?;
        let opcodes = table.choices("opcodes", &OPCODES.map(|(name, _)| name))?;
        let opcodes = opcodes.into_iter().map(|at| OPCODES[at].1).collect();
        if units.iter().any(|unit| unit.name == name) {
            let why = format!("two units have the name {name}");
            return Err(table.error("name", &why, "give one another name"));
        }
        table.end_with_source()?;
        units.push(Unit {
            name,
            opcodes,
            line,
        });
    }
    Ok(units)
}

fn coherence(mut table: Table<'_>) -> Result<Coherence, Error> {
    let kind = table.choice_or("kind", &["free", "none", "directory", "snoop"], 0)?;
    let has_latency = table.has("latency");
    let coherence = match kind {
        2 => Coherence::Directory(table.quantity("latency", &TIME)? as u64),
        3 => Coherence::Snoop(table.quantity("latency", &TIME)? as u64),
        _ if has_latency => {
            let why = "this coherence has no latency";
            return Err(table.error("latency", why, "use kind = \"directory\" or \"snoop\""));
        }
        1 => Coherence::None,
        _ => Coherence::Free,
    };
    table.end_with_source()?;
    Ok(coherence)
}

fn memories(tile: &mut Table<'_>) -> Result<Vec<Memory>, Error> {
    let mut memories: Vec<Memory> = Vec::new();
    for mut table in tile.tables("memory")? {
        let memory = memory(&mut table)?;
        if memories.iter().any(|other| other.name == memory.name) {
            let why = format!("two memories of the tile have the name {}", memory.name);
            return Err(table.error("name", &why, "give one another name"));
        }
        table.end_with_source()?;
        memories.push(memory);
    }
    Ok(memories)
}

fn power_of_two(table: &Table<'_>, key: &str, number: u64) -> Result<(), Error> {
    match number.is_power_of_two() {
        true => Ok(()),
        false => Err(table.error(key, "it is no power of two", "use a power of two")),
    }
}

fn memory(table: &mut Table<'_>) -> Result<Memory, Error> {
    let line = table.line();
    let name = table.text_or("name", "memory")?;
    let base = table.address("base")?;
    let size = table.quantity("size", &SIZE)?;
    let whole = |bytes: f64| bytes.fract() == 0.0 && (bytes as u64).is_multiple_of(PAGE);
    if !table.lacks() && !whole(size) {
        let help = "use a multiple of \"4 KiB\"";
        return Err(table.error("size", "it is not of whole pages", help));
    }
    if !base.is_multiple_of(PAGE) {
        let help = "use a multiple of 0x1000";
        return Err(table.error("base", "it is not the start of a page", help));
    }
    let size = size as u64;
    if base + size > 1 << 56 {
        let help = "physical addresses have 56 bits";
        return Err(table.error("size", "it leaves the address space", help));
    }
    let usage = match table.choice_or("use", &["main", "boot", "scratchpad"], 0)? {
        0 => MemoryUsage::Main,
        1 => MemoryUsage::Boot,
        _ => MemoryUsage::Scratchpad,
    };
    let banks = table.count_or("banks", (1, 4096), 1)?;
    power_of_two(table, "banks", banks)?;
    let interleave = table.quantity_or("interleave", &SIZE, 64.0)? as u64;
    power_of_two(table, "interleave", interleave)?;
    if banks.saturating_mul(interleave) > size && !table.lacks() {
        let why = "the memory is smaller than one part of each bank";
        return Err(table.error("banks", why, "use fewer banks, or a smaller interleave"));
    }
    let byte = match table.has("bandwidth") {
        true => FS_PER_S / table.quantity("bandwidth", &BANDWIDTH)?,
        false => 0.0,
    };
    Ok(Memory {
        name,
        base,
        size,
        usage,
        banks: banks as u32,
        interleave,
        latency: table.quantity_or("latency", &TIME, 0.0)? as u64,
        occupancy: table.quantity_or("occupancy", &TIME, 0.0)? as u64,
        byte,
        arbitration: match table.choice_or(
            "arbitration",
            &["fifo", "round-robin", "priority"],
            0,
        )? {
            0 => Arbitration::Fifo,
            1 => Arbitration::RoundRobin,
            _ => Arbitration::Priority,
        },
        line,
    })
}

fn dtu(mut table: Table<'_>, clock: Option<f64>) -> Result<Dtu, Error> {
    let endpoints = table.count("endpoints", (1, MOST_ENDPOINTS.into()))? as u16;
    let registers = registers_size(endpoints);
    let dtu = Dtu {
        line: table.line(),
        base: table.address("base")?,
        size: table.quantity_or("size", &SIZE, registers as f64)? as u64,
        endpoints: endpoints.into(),
        message: table.quantity_or("message", &SIZE, 512.0)? as u64,
        slots: table.count_or("slots", (1, MOST_SLOTS.into()), 32)? as u32,
        packet: table.quantity_or("packet", &SIZE, 1024.0)? as u64,
        cycles: table.number_or("cycles", (0.0, 1e6), 0.0)?,
        period: period(&mut table, clock)?,
        is_root: table.flag("root")?,
        root_switches: table.choice_or("switches", &["kernel", "root"], 0)? == 1,
        slice: table.quantity_or("slice", &TIME, 4e12)? as u64,
    };
    if !table.lacks() && table.has("slice") && !dtu.is_root {
        let help = "leave it away, or add `root = true`";
        return Err(table.error("slice", "only the root shares accelerators out", help));
    }
    if !table.lacks() && dtu.slice < LEAST_SLICE {
        let help = "use more, such as \"100 us\"";
        return Err(table.error("slice", "it is shorter than 10 µs", help));
    }
    if !table.lacks() && dtu.message <= HEADER_SIZE as u64 {
        let why = "a message has a header of 24 bytes";
        return Err(table.error("message", why, "use more, such as \"512 B\""));
    }
    if dtu.message > MOST_MESSAGE {
        let help = "use less, such as \"512 B\"";
        return Err(table.error("message", "a message has 65535 bytes at most", help));
    }
    if dtu.packet > MOST_PACKET {
        let help = "use less, such as \"1 KiB\"";
        return Err(table.error("packet", "a packet has 64 KiB at most", help));
    }
    if dtu.size < registers {
        let why = format!("the registers of {endpoints} endpoints take {registers:#x} bytes");
        return Err(table.error("size", &why, "use more, or leave `size` away"));
    }
    power_of_two(&table, "packet", dtu.packet)?;
    table.end_with_source()?;
    Ok(dtu)
}

fn accelerator(mut table: Table<'_>, clock: Option<f64>) -> Result<Accelerator, Error> {
    let is_stream = table.choice_or("kind", &["request", "stream"], 0)? == 1;
    let library = match table.text_or("library", "")? {
        name if !name.is_empty() => Some(beside(table.file(), &name)),
        _ if table.has("library") => {
            let help = "use the path of a shared object, from this file on";
            return Err(table.error("library", "it is empty", help));
        }
        _ => None,
    };
    if library.is_some() && !is_stream {
        let why = "the functions of shared objects compute streams";
        return Err(table.error("library", why, "add kind = \"stream\""));
    }
    let accelerator = Accelerator {
        line: table.line(),
        function: table.text("function")?,
        library,
        is_stream,
        block: table.quantity("block", &SIZE)? as u64,
        cycles: table.number("cycles", (0.0, 1e9))?,
        buffers: table.count_or("buffers", (1, 2), 1)? as u32,
        period: period(&mut table, clock)?,
        cache: table.table_if("cache")?.map(cache).transpose()?,
    };
    if accelerator.buffers != 1 && !accelerator.is_stream {
        let why = "an accelerator of requests has no buffers";
        return Err(table.error("buffers", why, "leave it away, or use kind = \"stream\""));
    }
    table.end_with_source()?;
    Ok(accelerator)
}

fn host(mut table: Table<'_>, clock: Option<f64>) -> Result<HostBridge, Error> {
    let host = HostBridge {
        line: table.line(),
        cores: table.count_or("cores", (1, 4096), 1)? as u32,
        period: period(&mut table, clock)?,
    };
    table.end_with_source()?;
    Ok(host)
}
