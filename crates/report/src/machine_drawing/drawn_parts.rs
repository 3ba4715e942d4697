//! What is to be drawn of a machine, in words. Alike tiles and harts that follow each other are one.
use super::drawn_units::{bandwidth, clock, cycles, size, span, time};
use flick_timing::machine::{
    Accelerator, Arbitration, Cache, Coherence, CoreModel, Device, DeviceKind, Hart, Link, Machine,
    Memory, MemoryUsage, Mmu, Predictor, Tile, TileKind, Tlb, Topology, VirtioSlot, Walk,
    WritePolicy,
};

/// All of a machine.
pub struct Drawing {
    pub title: String,
    pub description: String,
    pub tiles: Vec<Group>,
    pub links: Vec<Line>,
    /// What cannot run yet.
    pub missing: Vec<String>,
}

/// Alike tiles.
pub struct Group {
    pub title: String,
    pub count: usize,
    /// What is above the tile's bus.
    pub upper: Vec<Item>,
    /// How the two are connected.
    pub bus: String,
    /// What is below it.
    pub lower: Vec<Item>,
}

/// A part of a tile.
pub struct Item {
    pub kind: Kind,
    pub title: String,
    pub details: Vec<String>,
    pub is_missing: bool,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Hart,
    Cache,
    Memory,
    Device,
    Unit,
}

/// A link.
pub struct Line {
    pub title: String,
    pub details: String,
    /// The groups that it connects.
    pub groups: Vec<usize>,
}

fn item(kind: Kind, title: impl Into<String>, details: Vec<String>) -> Item {
    Item {
        kind,
        title: title.into(),
        details,
        is_missing: false,
    }
}

pub fn drawing(machine: &Machine) -> Drawing {
    let tiles = &machine.tiles;
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (number, tile) in tiles.iter().enumerate() {
        match groups.last_mut() {
            // A tile with a count has one place in the file.
            Some((first, last)) if tiles[*first].line == tile.line && tile.line != 0 => {
                *last = number;
            }
            _ => groups.push((number, number)),
        }
    }
    let group_of = |tile: usize| {
        groups
            .iter()
            .position(|(first, last)| (*first..=*last).contains(&tile))
    };
    let line = |link: &Link| {
        let mut of: Vec<usize> = link
            .tiles
            .iter()
            .filter_map(|&tile| group_of(tile))
            .collect();
        of.dedup();
        Line {
            title: format!("link {}", link.name),
            details: link_details(link, tiles),
            groups: of,
        }
    };
    let missing = machine.missing();
    let lines: Vec<usize> = missing.iter().map(|missing| missing.line).collect();
    Drawing {
        title: machine.name.clone(),
        description: machine.description.clone(),
        links: machine.links.iter().map(line).collect(),
        tiles: groups
            .iter()
            .map(|&(first, last)| group(machine, &lines, first, last))
            .collect(),
        missing: missing.iter().map(ToString::to_string).collect(),
    }
}

/// `missing`: the lines of parts that cannot run.
fn group(machine: &Machine, missing: &[usize], first: usize, last: usize) -> Group {
    let is_missing = |line: usize| line != 0 && missing.contains(&line);
    let tile = &machine.tiles[first];
    let kind = match &tile.kind {
        TileKind::Harts => "harts",
        TileKind::Accelerator(_) => "an accelerator",
        TileKind::Memory => "memory",
        TileKind::Host(_) => "the host",
    };
    let count = last - first + 1;
    let name = span(&tile.name, &machine.tiles[last].name);
    let title = match count {
        1 => format!("tile {name}: {kind}"),
        _ => format!("tiles {name} ({count} alike): {kind}"),
    };
    let mut upper = harts(machine, tile);
    match &tile.kind {
        TileKind::Accelerator(part) => upper.push(Item {
            is_missing: is_missing(part.line),
            ..accelerator(part)
        }),
        TileKind::Host(host) => upper.push(Item {
            is_missing: is_missing(host.line),
            ..item(
                Kind::Hart,
                format!("host cores 0 to {}", host.cores.saturating_sub(1)),
                vec![clock(host.period), "the host's processes".to_owned()],
            )
        }),
        TileKind::Harts | TileKind::Memory => {}
    }
    for (level, shared) in tile.caches.iter().enumerate() {
        let title = format!("shared cache {}", level + 1);
        upper.push(item(Kind::Cache, title, vec![cache(shared)]));
    }
    for unit in &tile.units {
        let opcodes = unit.opcodes.iter().map(|code| format!("{code:#04x}"));
        let opcodes: Vec<String> = opcodes.collect();
        let details = vec![format!("opcodes {}", opcodes.join(", "))];
        upper.push(item(Kind::Unit, format!("unit {}", unit.name), details));
    }
    let mut lower: Vec<(u64, Item)> = Vec::new();
    lower.extend(
        tile.memories
            .iter()
            .map(|memory| (memory.base, self::memory(memory))),
    );
    lower.extend(devices(&tile.devices));
    if let Some(dtu) = tile.dtu {
        let details = vec![
            range(dtu.base, dtu.size),
            format!("{} endpoints, {} slots", dtu.endpoints, dtu.slots),
            format!(
                "messages of {}, packets of {}",
                size(dtu.message),
                size(dtu.packet)
            ),
            format!("{} a command, {}", cycles(dtu.cycles), clock(dtu.period)),
        ];
        lower.push((dtu.base, item(Kind::Unit, "DTU", details)));
    }
    lower.sort_by_key(|(base, _)| *base);
    let is_shared = tile.harts.len() > 1;
    let bus = match tile.coherence {
        Coherence::None => "caches are not coherent".to_owned(),
        Coherence::Free if is_shared => "coherent, at no cost".to_owned(),
        Coherence::Free => String::new(),
        Coherence::Directory(latency) => format!("coherent by a directory, {}", time(latency)),
        Coherence::Snoop(latency) => format!("coherent by snooping, {}", time(latency)),
    };
    Group {
        title,
        count,
        upper,
        bus,
        lower: lower.into_iter().map(|(_, item)| item).collect(),
    }
}

fn harts(machine: &Machine, tile: &Tile) -> Vec<Item> {
    let mut items = Vec::new();
    for alike in tile.harts.chunk_by(|one, next| one.group == next.group) {
        let (Some(first), Some(last)) = (alike.first(), alike.last()) else {
            continue;
        };
        let name = match alike.len() {
            1 => "hart",
            _ => "harts",
        };
        let title = format!("{name} {}", span(first.id, last.id));
        items.push(item(Kind::Hart, title, hart(machine, tile, first)));
    }
    items
}

fn hart(machine: &Machine, tile: &Tile, hart: &Hart) -> Vec<String> {
    let mut details = vec![hart.isa.to_string(), clock(hart.period)];
    match hart.mmu {
        Mmu::Sv57 => {}
        Mmu::Bare => details.push("without address translation".to_owned()),
        mmu => details.push(format!("address translation: {} at most", mmu.name())),
    }
    if hart.is_kernel {
        details.push("runs the kernel".to_owned());
    }
    if hart.is_disabled {
        details.push("disabled in the device tree".to_owned());
    }
    if let Some(unit) = hart.unit.and_then(|unit| tile.units.get(unit)) {
        details.push(format!("has unit {}", unit.name));
    }
    match machine.core(hart) {
        Some(model) => core(model, &mut details),
        None => details.push("one instruction a cycle".to_owned()),
    }
    details
}

fn core(core: &CoreModel, details: &mut Vec<String>) {
    details.push(match core.issue {
        1 => format!("core {}: one instruction a cycle at most", core.name),
        issue => format!("core {}: {issue} instructions a cycle at most", core.name),
    });
    details.push(match core.predictor {
        Predictor::None => format!("no predictor; taken: {} more", cycles(core.taken)),
        Predictor::Static => format!("static predictor; wrong: {}", cycles(core.mispredict)),
        Predictor::TwoBit(counters) => {
            let wrong = cycles(core.mispredict);
            format!("predictor of {counters} counters; wrong: {wrong}")
        }
    });
    if let Some(vector) = core.vector {
        details.push(format!("vectors: {} bits a cycle", vector.datapath));
    }
    let caches = [("L1I", core.l1i), ("L1D", core.l1d), ("L2", core.l2)];
    for (name, level) in caches {
        details.extend(level.map(|level| format!("{name}: {}", cache(&level))));
    }
    let tlbs = [("ITLB", core.itlb), ("DTLB", core.dtlb)];
    for (name, buffer) in tlbs {
        details.extend(buffer.map(|buffer| format!("{name}: {}", tlb(&buffer))));
    }
}

fn ways(ways: usize) -> String {
    match ways {
        1 => "1 way".to_owned(),
        ways => format!("{ways} ways"),
    }
}

fn cache(cache: &Cache) -> String {
    let write = match cache.write {
        WritePolicy::Back => "write-back",
        WritePolicy::Through => "write-through",
    };
    format!(
        "{}, {}, lines of {}, {}, {write}",
        size(cache.size),
        ways(cache.ways),
        size(cache.line),
        cycles(cache.hit)
    )
}

fn tlb(tlb: &Tlb) -> String {
    let walk = match tlb.walk {
        Walk::Cycles(walk) => format!("walk of {}", cycles(walk)),
        Walk::Cached(_) => "walk through the caches".to_owned(),
    };
    format!("{} entries, {}, {walk}", tlb.entries, ways(tlb.ways))
}

fn range(base: u64, bytes: u64) -> String {
    let last = base.saturating_add(bytes.saturating_sub(1));
    format!("{base:#010x} to {last:#010x}")
}

fn memory(memory: &Memory) -> Item {
    let usage = match memory.usage {
        MemoryUsage::Main => "",
        MemoryUsage::Boot => ", the machine starts from it",
        MemoryUsage::Scratchpad => ", a scratchpad",
    };
    let mut details = vec![
        range(memory.base, memory.size),
        format!("{}{usage}", size(memory.size)),
    ];
    if memory.banks > 1 {
        let order = match memory.arbitration {
            Arbitration::Fifo => "in the order of arrival",
            Arbitration::RoundRobin => "harts in turn",
            Arbitration::Priority => "the lowest hart first",
        };
        let step = size(memory.interleave);
        details.push(format!("{} banks every {step}, {order}", memory.banks));
    }
    if memory.latency != 0 || memory.byte != 0.0 {
        let mut text = time(memory.latency);
        if memory.byte != 0.0 {
            text += &format!(", {}", bandwidth(memory.byte));
        }
        if memory.occupancy != 0 {
            text += &format!(", a bank is busy for {}", time(memory.occupancy));
        }
        details.push(text);
    }
    item(Kind::Memory, format!("memory {}", memory.name), details)
}

/// Devices with their addresses. Alike ones behind each other are one.
fn devices(devices: &[Device]) -> Vec<(u64, Item)> {
    let mut items = Vec::new();
    for alike in devices.chunk_by(|one, next| one.line == next.line && one.kind == next.kind) {
        let (Some(first), Some(last)) = (alike.first(), alike.last()) else {
            continue;
        };
        let mut details = Vec::new();
        if first.size != 0 {
            details.push(range(first.base, last.base + last.size - first.base));
        }
        if first.source != 0 {
            let source = match alike.len() {
                1 => "source",
                _ => "sources",
            };
            details.push(format!("{source} {}", span(first.source, last.source)));
        }
        match first.kind {
            DeviceKind::Plic { sources, .. } => details.push(format!("{sources} sources")),
            DeviceKind::Virtio(slot) => details.push(format!(
                "{} for {}",
                match alike.len() {
                    1 => "a slot".to_owned(),
                    slots => format!("{slots} slots"),
                },
                match slot {
                    VirtioSlot::Block => "disks",
                    VirtioSlot::Console => "a console",
                }
            )),
            DeviceKind::Htif => details.push("at tohost of the program".to_owned()),
            _ => {}
        }
        // One without addresses is the last.
        let place = match first.size {
            0 => u64::MAX,
            _ => first.base,
        };
        items.push((place, item(Kind::Device, first.kind.name(), details)));
    }
    items
}

fn accelerator(part: &Accelerator) -> Item {
    let kind = match part.is_stream {
        true => "streams",
        false => "requests",
    };
    let mut details = vec![
        format!("{kind} of {}", size(part.block)),
        format!("{} each, {}", cycles(part.cycles), clock(part.period)),
    ];
    if part.buffers != 1 {
        details.push(format!("{} buffers", part.buffers));
    }
    details.extend(part.cache.map(|level| format!("L1: {}", cache(&level))));
    let library = part.library.as_ref();
    details.extend(library.map(|path| format!("of {}", path.display())));
    item(
        Kind::Unit,
        format!("accelerator {}", part.function),
        details,
    )
}

fn link_details(link: &Link, tiles: &[Tile]) -> String {
    let shape = match link.topology {
        Topology::PointToPoint => "point to point".to_owned(),
        Topology::Crossbar => "crossbar".to_owned(),
        Topology::Ring => "ring".to_owned(),
        Topology::Mesh(columns) => format!("mesh of {columns} columns"),
        Topology::Torus(columns) => format!("torus of {columns} columns"),
    };
    let mut text = format!("{shape}, {} a hop", time(link.latency));
    if link.width != 0 {
        text += &format!(", {} a cycle at {}", size(link.width), clock(link.period));
    }
    let names = |tile: &usize| tiles.get(*tile).map(|tile| &*tile.name);
    let names: Vec<&str> = link.tiles.iter().filter_map(names).collect();
    const MOST: usize = 6;
    text += &match names.len() {
        count if count > MOST => format!(": {}, ... ({count} tiles)", names[..MOST - 1].join(", ")),
        _ => format!(": {}", names.join(", ")),
    };
    text
}
