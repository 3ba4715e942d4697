//! What is wrong between entries that are right by themselves.
use super::Error;
use super::machine_parts::{DeviceKind, Machine, Tile, TileKind};

/// Checks a machine whose entries have been read.
pub fn check(file: &str, machine: &Machine) -> Result<(), Error> {
    let wrong = |line: usize, what: String, help: &str| {
        Err(Error {
            file: file.to_owned(),
            line,
            what,
            help: help.to_owned(),
        })
    };
    if machine.tiles.is_empty() {
        let what = "the machine has no tile".to_owned();
        return wrong(
            0,
            what,
            "add [[tile]] with [[tile.hart]] and [[tile.memory]]",
        );
    }
    for (number, tile) in machine.tiles.iter().enumerate() {
        if let Err((line, what, help)) = ranges(tile)
            .and_then(|()| parts(tile))
            .and_then(|()| sources(tile))
        {
            return wrong(line, format!("tile {}: {what}", tile.name), help);
        }
        let is_linked = machine
            .links
            .iter()
            .any(|link| link.tiles.contains(&number));
        if machine.tiles.len() > 1 && !is_linked {
            let what = format!("tile {}: no link goes to it", tile.name);
            return wrong(tile.line, what, "name it in the `tiles` of a [[link]]");
        }
        if is_linked && tile.dtu.is_none() {
            let what = format!("tile {}: a link goes to it, and it has no DTU", tile.name);
            return wrong(
                tile.line,
                what,
                "add [tile.dtu], by which messages leave it",
            );
        }
    }
    Ok(())
}

/// Line, what, help.
type Found = (usize, String, &'static str);

/// Ranges of addresses of a tile, by address.
pub fn tile_ranges(tile: &Tile) -> Vec<(u64, u64, String, usize)> {
    let memories = tile.memories.iter().map(|memory| {
        let name = format!("memory {}", memory.name);
        (memory.base, memory.size, name, memory.line)
    });
    let devices = tile.devices.iter().map(|device| {
        let name = device.kind.name().to_owned();
        (device.base, device.size, name, device.line)
    });
    let dtu = tile
        .dtu
        .iter()
        .map(|dtu| (dtu.base, dtu.size, "the DTU".to_owned(), dtu.line));
    let all = memories.chain(devices).chain(dtu);
    let mut all: Vec<_> = all.filter(|(_, size, _, _)| *size != 0).collect();
    all.sort_by_key(|(base, size, _, _)| (*base, *size));
    all
}

fn ranges(tile: &Tile) -> Result<(), Found> {
    let ranges = tile_ranges(tile);
    for pair in ranges.windows(2) {
        let [(base, size, name, _), (next, _, other, line)] = pair else {
            continue;
        };
        let end = base.saturating_add(*size);
        if end > *next {
            let what = format!(
                "{other} at {next:#x} overlaps {name}, which is at {base:#x} to {:#x}",
                end - 1
            );
            return Err((*line, what, "move one of the two, or make it smaller"));
        }
    }
    match ranges.last() {
        Some((base, size, name, line)) if base.saturating_add(*size) > 1 << 56 => {
            let what = format!("{name} leaves the address space");
            Err((*line, what, "physical addresses have 56 bits"))
        }
        _ => Ok(()),
    }
}

fn parts(tile: &Tile) -> Result<(), Found> {
    let count = |wanted: fn(&DeviceKind) -> bool| {
        let mut all = tile
            .devices
            .iter()
            .filter(move |device| wanted(&device.kind));
        (
            all.clone().count(),
            all.next_back().map_or(0, |last| last.line),
        )
    };
    type Once = (&'static str, fn(&DeviceKind) -> bool);
    let once: [Once; 5] = [
        ("PLIC", |kind| matches!(kind, DeviceKind::Plic { .. })),
        ("timer (clint, mtimer)", |kind| {
            matches!(kind, DeviceKind::Clint | DeviceKind::Mtimer)
        }),
        ("source of software interrupts (clint, mswi)", |kind| {
            matches!(kind, DeviceKind::Clint | DeviceKind::Mswi)
        }),
        ("sswi", |kind| matches!(kind, DeviceKind::Sswi)),
        ("finisher", |kind| matches!(kind, DeviceKind::Finisher)),
    ];
    for (name, wanted) in once {
        let (devices, line) = count(wanted);
        if devices > 1 {
            let what = format!("it has {devices} devices that are its {name}");
            return Err((line, what, "leave one of them"));
        }
    }
    if tile.kind == TileKind::Harts {
        if tile.main_memory().is_none() {
            let help = "add [[tile.memory]] with base and size";
            return Err((tile.line, "its harts have no memory".to_owned(), help));
        }
        if count(once[1].1).0 == 0 {
            let help = "add [[tile.device]] with kind = \"clint\" (or mswi and mtimer)";
            return Err((tile.line, "its harts have no timer".to_owned(), help));
        }
    } else if let Some(device) = tile.devices.first() {
        let what = format!("it has a {}, and no harts that use it", device.kind.name());
        return Err((device.line, what, "move it to a tile of harts"));
    }
    if tile.kind == TileKind::Memory && tile.memories.is_empty() {
        let help = "add [[tile.memory]] with base and size";
        return Err((tile.line, "a tile of memory has none".to_owned(), help));
    }
    Ok(())
}

fn sources(tile: &Tile) -> Result<(), Found> {
    let plic = tile.devices.iter().find_map(|device| match device.kind {
        DeviceKind::Plic { sources, .. } => Some(sources),
        _ => None,
    });
    let mut taken: Vec<(u32, &'static str)> = Vec::new();
    for device in tile.devices.iter().filter(|device| device.source != 0) {
        let (source, name) = (device.source, device.kind.name());
        let Some(sources) = plic else {
            let what = format!("the {name} interrupts, and the tile has no PLIC");
            return Err((
                device.line,
                what,
                "add [[tile.device]] with kind = \"plic\"",
            ));
        };
        if source > sources {
            let what = format!("source {source} of the {name} is beyond the {sources} of the PLIC");
            return Err((
                device.line,
                what,
                "use a smaller `interrupt`, or give the PLIC more `sources`",
            ));
        }
        if let Some((_, other)) = taken.iter().find(|(other, _)| *other == source) {
            let what = format!("source {source} of the {name} is that of the {other}, too");
            return Err((
                device.line,
                what,
                "give each device an `interrupt` of its own",
            ));
        }
        taken.push((source, name));
    }
    Ok(())
}
