//! Entries of machine files whose behaviour this version lacks.
use std::fmt;

use flick_abi::accelerator::REQUEST_FUNCTIONS;

use super::machine_parts::{Accelerator, Coherence, DeviceKind, Hart, Machine, Tile, TileKind};

/// An entry that is described, and cannot run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The line of the file; 0 for a `--set`.
    pub line: usize,
    /// The tile.
    pub tile: String,
    /// How many tiles like this follow it, with the same entry.
    pub more: usize,
    /// What is missing.
    pub what: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile {}", self.tile)?;
        if self.more != 0 {
            write!(f, " and {} more", self.more)?;
        }
        write!(f, ": {}", self.what)?;
        match self.line {
            0 => Ok(()),
            line => write!(f, " (line {line})"),
        }
    }
}

impl DeviceKind {
    /// The name in machine files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Clint => "clint",
            Self::Mswi => "mswi",
            Self::Mtimer => "mtimer",
            Self::Sswi => "sswi",
            Self::Plic { .. } => "plic",
            Self::Uart16550 { .. } => "uart16550",
            Self::Finisher => "finisher",
            Self::GoldfishRtc => "goldfish-rtc",
            Self::Virtio(_) => "virtio-mmio",
            Self::Htif => "htif",
        }
    }
}

impl Accelerator {
    /// Whether this version has what it needs.
    pub fn can_run(&self) -> bool {
        self.is_stream || REQUEST_FUNCTIONS.contains(&&*self.function)
    }
}

impl Machine {
    /// The number of the tile that is the bridge to the host.
    pub fn host_tile(&self) -> Option<usize> {
        let is_host = |tile: &Tile| matches!(tile.kind, TileKind::Host(_));
        self.tiles.iter().position(is_host)
    }

    /// The tiles of harts, which have the first numbers.
    pub fn tiles_of_harts(&self) -> usize {
        let is_of_harts = |tile: &&Tile| tile.kind == TileKind::Harts;
        self.tiles.iter().take_while(is_of_harts).count()
    }

    /// What this version lacks to run the machine, in the order of the file.
    pub fn missing(&self) -> Vec<Missing> {
        let mut missing: Vec<Missing> = Vec::new();
        let mut has_harts = false;
        let host = self.host_tile();
        let is_root = |tile: &Tile| tile.dtu.as_ref().is_some_and(|dtu| dtu.is_root);
        let has_root = self.tiles.iter().any(is_root);
        for (number, tile) in self.tiles.iter().enumerate() {
            let mut add = |line, what| {
                let mut all = missing.iter_mut();
                // A tile with a count is one entry.
                let alike = all.find(|other| line != 0 && (other.line, other.what) == (line, what));
                match alike {
                    Some(alike) => alike.more += 1,
                    None => missing.push(Missing {
                        line,
                        tile: tile.name.clone(),
                        more: 0,
                        what,
                    }),
                }
            };
            match &tile.kind {
                TileKind::Harts if number >= self.tiles_of_harts() => {
                    add(tile.line, "a tile of harts behind tiles of other kinds");
                    has_harts = true;
                }
                TileKind::Harts => {
                    // It would have no kernel: that of a governed tile has no programs of the host.
                    if host.is_some() && has_root && !is_root(tile) {
                        add(tile.line, "tiles of harts beside a root, with a host");
                    }
                    has_harts = true;
                }
                TileKind::Accelerator(part) if !part.can_run() => {
                    add(part.line, "accelerators of requests with this function");
                }
                TileKind::Accelerator(_) | TileKind::Memory => {}
                TileKind::Host(part) if host != Some(number) => {
                    add(part.line, "a second bridge to the host");
                }
                TileKind::Host(_) => {}
            }
            let core = |hart: &Hart| self.core(hart).and_then(|core| core.l2.as_ref());
            if tile.coherence == Coherence::None
                && tile.harts.iter().any(|hart| core(hart).is_some())
            {
                add(tile.line, "second caches of harts that are not coherent");
            }
        }
        if !has_harts {
            missing.push(Missing {
                line: 0,
                tile: self.tiles.first().map_or(String::new(), |t| t.name.clone()),
                more: 0,
                what: "a tile of harts, which the machine lacks",
            });
        }
        missing
    }
}
