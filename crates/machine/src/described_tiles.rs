//! The boards of all tiles of a machine file: those of harts, and tiles of memory, with an accelerator, and that
//! of the host.
use flick_device::accelerator::{
    Accelerator, AcceleratorDescription, AcceleratorTile, CacheShape, RequestDescription,
    RequestTile, functions, request_by_name,
};
use flick_device::dtu::{Dtu, DtuDescription};
use flick_device::fdt::{AddressRange, CoreTileNode, TileNode};
use flick_device::{Arrived, Device, HostSpace, HostTile, Mtimer, Time, Timebase};
use flick_timing::machine::{self, Tile, TileKind};

use crate::board::{Board, Boards, Timer};
use crate::described_system::{BadSystem, BlockDisk, FS_PER_PS, System, ram_of, unit_of};
use crate::loaded_logic::LoadedLogic;
use crate::ram::Ram;

/// The unit of a tile without harts, which cannot do without.
fn unit_in_file(tile: &Tile) -> Result<&machine::Dtu, BadSystem> {
    let unit = tile.dtu.as_ref();
    unit.ok_or_else(|| BadSystem::NoUnit(tile.name.clone()))
}

/// A board with a unit and no harts, which could reach its registers or a timer.
fn unit_board(
    machine: &machine::Machine,
    ram: Vec<Ram>,
    unit: Box<dyn Device>,
) -> Result<Board, BadSystem> {
    let timer = Mtimer::new(0, 0, Timebase::new(machine.timebase.into())?);
    let mut board = Board::new(ram, (0..0, Timer::Mtimer(timer)), None, vec![]);
    board.add_unit(0..0, unit);
    Ok(board)
}

/// A tile with an accelerator of requests.
fn request_tile(
    name: &str,
    accelerator: &machine::Accelerator,
    unit: DtuDescription,
) -> Result<RequestTile, BadSystem> {
    let function = &accelerator.function;
    let logic = request_by_name(function);
    let logic = logic.ok_or_else(|| BadSystem::Function(function.clone()))?;
    let cache = accelerator.cache;
    let cache = cache.ok_or_else(|| BadSystem::NoCache(name.to_owned()))?;
    let machine::Cache { line, ways, .. } = cache;
    // A file's lines have 4 KiB at most, which are a page.
    let sets = (cache.size / line / ways.max(1) as u64).max(1);
    let description = RequestDescription {
        cache: CacheShape { line, ways, sets },
        time: (accelerator.cycles * accelerator.period / FS_PER_PS).round() as Time,
        cycle: accelerator.period.round() as u64,
    };
    Ok(RequestTile::new(unit, description, logic)?)
}

/// What a tile's accelerator computes.
fn logic_of(
    tile: &Tile,
    accelerator: &machine::Accelerator,
) -> Result<Box<dyn Accelerator>, BadSystem> {
    let function = &accelerator.function;
    let Some(path) = &accelerator.library else {
        let logic = functions::by_name(function);
        return logic.ok_or_else(|| BadSystem::Function(function.clone()));
    };
    match LoadedLogic::new(path, function, &tile.name) {
        Ok(logic) => Ok(Box::new(logic)),
        Err(error) => Err(BadSystem::Logic {
            tile: tile.name.clone(),
            path: path.clone(),
            error,
        }),
    }
}

/// The board of a tile of memory, or of one with an accelerator.
fn board_without_harts(machine: &machine::Machine, number: usize) -> Result<Board, BadSystem> {
    let tile = &machine.tiles[number];
    let ram = ram_of(tile)?;
    let unit = DtuDescription {
        harts: 1,
        ..unit_of(unit_in_file(tile)?, number)
    };
    let TileKind::Accelerator(accelerator) = &tile.kind else {
        return unit_board(machine, ram, Box::new(Dtu::new(unit)?));
    };
    if !accelerator.is_stream {
        let tile = request_tile(&tile.name, accelerator, unit)?;
        return unit_board(machine, ram, Box::new(tile));
    }
    let logic = logic_of(tile, accelerator)?;
    let local = tile.memories.iter().find(|memory| memory.base == 0);
    let memory = local.map_or(0, |memory| memory.size);
    let (block, buffers) = (accelerator.block, accelerator.buffers);
    let further = block.saturating_mul(u64::from(buffers) - 1);
    let needed = logic.memory(block).max(block).saturating_add(further);
    if needed > memory {
        let tile = tile.name.clone();
        return Err(BadSystem::Block {
            tile,
            block,
            needed,
            memory,
        });
    }
    let description = AcceleratorDescription {
        block,
        memory,
        time: (accelerator.cycles * accelerator.period / FS_PER_PS).round() as Time,
        cycle: accelerator.period.round() as u64,
        has_two_buffers: buffers == 2,
    };
    let tile = AcceleratorTile::new(unit, description, logic)?;
    unit_board(machine, ram, Box::new(tile))
}

/// Tiles without harts, for the tree of the root's firmware.
pub(crate) fn nodes_for_root(machine: &machine::Machine) -> Vec<TileNode> {
    let node = |(number, tile): (usize, &Tile)| {
        let (compatible, function) = match &tile.kind {
            TileKind::Memory => ("flick,memory", String::new()),
            TileKind::Accelerator(accelerator) if accelerator.is_stream => {
                ("flick,accelerator-stream", accelerator.function.clone())
            }
            TileKind::Accelerator(accelerator) => {
                ("flick,accelerator-request", accelerator.function.clone())
            }
            TileKind::Harts | TileKind::Host(_) => return None,
        };
        let memory = tile.memories.first();
        let memory = memory.map_or((0, 0), |memory| (memory.base, memory.size));
        Some(TileNode {
            tile: number as u32,
            compatible: compatible.to_owned(),
            function,
            memory: AddressRange {
                base: memory.0,
                size: memory.1,
            },
            endpoints: tile.dtu.as_ref().map_or(0, |dtu| dtu.endpoints),
            blocks: match &tile.kind {
                TileKind::Accelerator(stream) if stream.is_stream => {
                    Some([stream.block, stream.block * u64::from(stream.buffers)])
                }
                _ => None,
            },
        })
    };
    machine.tiles.iter().enumerate().filter_map(node).collect()
}

/// The tile whose unit is the root's.
pub(crate) fn root_of(machine: &machine::Machine) -> Option<usize> {
    let is_root = |tile: &Tile| tile.dtu.as_ref().is_some_and(|dtu| dtu.is_root);
    machine.tiles.iter().position(is_root)
}

/// Whether programs of one tile can run on the other.
fn is_like(one: &Tile, other: &Tile) -> bool {
    let memory = |tile: &Tile| tile.main_memory().map(|memory| (memory.base, memory.size));
    let harts = |tile: &Tile| -> Vec<_> {
        let all = tile.harts.iter();
        all.map(|hart| (hart.isa.to_string(), hart.is_kernel))
            .collect()
    };
    one.kind == TileKind::Harts && memory(one) == memory(other) && harts(one) == harts(other)
}

/// Tiles with harts beside the root's, for the tree of its firmware.
pub(crate) fn core_tiles_for_root(machine: &machine::Machine, root: usize) -> Vec<CoreTileNode> {
    let others = || machine.tiles.iter().enumerate().filter(|(n, _)| *n != root);
    let kind_of = |number, tile: &Tile| {
        let first = others().find(|(_, other)| is_like(other, tile));
        first.map_or(number, |(first, _)| first)
    };
    let node = |(number, tile): (usize, &Tile)| {
        let (dtu, memory) = (tile.dtu.as_ref()?, tile.main_memory()?);
        (tile.kind == TileKind::Harts && number != root).then(|| CoreTileNode {
            tile: number as u32,
            name: tile.name.clone(),
            memory: AddressRange {
                base: memory.base,
                size: memory.size,
            },
            endpoints: dtu.endpoints,
            harts: tile.harts.len() as u32,
            kind: kind_of(number, tile) as u32,
        })
    };
    machine.tiles.iter().enumerate().filter_map(node).collect()
}

/// The board of the host's tile, which is the last one, and what comes there from the card. `None`: the
/// machine has no such tile.
pub fn host_board(
    machine: &machine::Machine,
    space: Box<dyn HostSpace>,
) -> Result<Option<(Board, Arrived)>, BadSystem> {
    let Some(number) = machine.host_tile() else {
        return Ok(None);
    };
    let unit = unit_of(unit_in_file(&machine.tiles[number])?, number);
    let tile = HostTile::new(unit, machine.tiles_of_harts() as u16, space)?;
    let arrived = tile.arrived();
    let board = unit_board(machine, vec![], Box::new(tile))?;
    Ok(Some((board, arrived)))
}

/// The boards of all tiles of a machine, which links connect. The disks are those of the first. The host's
/// tile is there if its board is given ([`host_board`]).
pub fn boards_of(
    systems: &[System],
    machine: &machine::Machine,
    disks: Vec<BlockDisk>,
    mut host: Option<Board>,
) -> Result<Boards, BadSystem> {
    let mut disks = Some(disks);
    let board = |system: &System| {
        let board = system.board(disks.take().unwrap_or_default())?;
        Ok((board, system.tile.harts.len()))
    };
    let boards = systems.iter().map(board);
    let mut boards = boards.collect::<Result<Vec<_>, BadSystem>>()?;
    for (number, tile) in machine.tiles.iter().enumerate().skip(systems.len()) {
        let board = match &tile.kind {
            TileKind::Host(_) => host.take(),
            _ => Some(board_without_harts(machine, number)?),
        };
        boards.extend(board.map(|board| (board, 0)));
    }
    Ok(Boards::new(boards, &machine.links))
}
