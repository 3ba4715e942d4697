//! The cores of a card's tiles, where the platform says of a tile that they are not as all others
//! (`docs/timing.md`, "Several kinds of NxP").
use std::sync::OnceLock;

use flick_riscv::Isa;
use flick_timing::platform::Core;
use flick_timing::{Costs, Worlds};

use super::setting::setting;
use crate::config;
use crate::heap::tile_heaps;
use crate::os::fatal;
use crate::os::signal_mask::BlockedSignals;

/// The hart that executes code.
#[derive(Clone, Copy, Debug)]
pub struct HartOfTile {
    /// As the code sees it.
    pub isa: Isa,
    pub tile: u16,
}

/// A tile.
pub struct TileCore {
    pub name: String,
    pub core: Core,
    pub costs: Costs,
}

/// By number; none: all tiles have the cores of `[nxp]`.
static TILES: OnceLock<Vec<TileCore>> = OnceLock::new();

/// The tile that has all memory that is no other's.
static FIRST: OnceLock<u16> = OnceLock::new();

pub fn all() -> &'static [TileCore] {
    TILES.get().map_or(&[], |all| all)
}

/// The machine has these tiles, with numbers and names, the first one first. Before any of them executes
/// code.
pub fn learn(tiles: &[(u16, &str)]) {
    let Some(setting) = setting() else { return };
    let (platform, names) = (&setting.platform, || tiles.iter().map(|&(_, name)| name));
    let ways = [&platform.host, &platform.nxp].into_iter();
    let ways = ways.chain(platform.tiles.iter().map(|(_, core)| core));
    let seen = ways.flat_map(|core| core.tiles.iter().map(|(name, _)| name));
    let mut named = platform.tiles.iter().map(|(name, _)| name).chain(seen);
    if let Some(name) = named.find(|name| names().all(|known| known != name.as_str())) {
        let known: Vec<&str> = names().collect();
        fatal::exit(
            "FLK0111",
            &format!(
                "the platform cannot be used: {} says something of the tile \"{name}\", which the machine {} \
                 does not have; it has {}",
                platform.name,
                config::get().machine,
                known.join(", "),
            ),
            "name the machine's tiles in the platform file, or another machine by FLICK_MACHINE",
        );
    }
    let count = tiles.iter().map(|(number, _)| usize::from(*number) + 1);
    // Which of the memories is whose says nothing where no core sees a difference.
    let is_one = platform.tiles.is_empty()
        && platform.host.tiles.is_empty()
        && platform.nxp.tiles.is_empty();
    let count = if is_one { 0 } else { count.max().unwrap_or(0) };
    let tile = |number: usize| {
        let found = tiles.iter().find(|(one, _)| usize::from(*one) == number);
        let name = found.map_or("", |(_, name)| name);
        let own = platform.tiles.iter().find(|(known, _)| known == name);
        let core = own.map_or(&platform.nxp, |(_, core)| core);
        TileCore {
            name: name.to_owned(),
            core: core.clone(),
            costs: Costs::of_cores(core, &platform.host),
        }
    };
    FIRST.get_or_init(|| tiles.first().map_or(0, |(number, _)| *number));
    TILES.get_or_init(|| (0..count).map(tile).collect());
}

/// Models of a thread learn of the tiles, if there are some and they have not.
#[inline]
pub fn teach(worlds: &mut Worlds) {
    let tiles = all();
    if worlds.tiles() != tiles.len() {
        learn_tiles(worlds, tiles);
    }
}

#[cold]
fn learn_tiles(worlds: &mut Worlds, tiles: &[TileCore]) {
    // A handler would find models that are being changed.
    let _blocked = BlockedSignals::new();
    if let Some(setting) = setting() {
        let tiles: Vec<(&str, &Core)> = tiles.iter().map(|one| (&*one.name, &one.core)).collect();
        worlds.learn_tiles(&setting.platform.host, &tiles);
    }
}

/// The core of a tile, and what its instructions cost.
pub fn of(tile: u16) -> Option<(&'static Core, &'static Costs)> {
    let setting = setting()?;
    let own = all().get(usize::from(tile));
    Some(own.map_or((&setting.platform.nxp, &setting.costs), |tile| {
        (&tile.core, &tile.costs)
    }))
}

/// The tile whose memory NxP-local memory at this address is, where that makes a difference.
/// Async-signal-safe.
pub fn whose_memory() -> Option<fn(u64) -> u16> {
    fn owner(address: u64) -> u16 {
        let first = || FIRST.get().copied().unwrap_or(0);
        tile_heaps::owner_of(address as usize).unwrap_or_else(first)
    }
    (!all().is_empty()).then_some(owner)
}
