//! Tiles without harts, as the device tree of the root's tile describes them.
use flick_kernel_core::flat_tree::{Event, FlatTree, number};

/// Tiles that the root knows.
pub const TILES: usize = 64;
/// Bytes of a name.
pub const NAME: usize = 32;

/// A tile.
#[derive(Clone, Copy, Debug)]
pub struct TileFacts {
    /// Its number.
    pub tile: u16,
    /// Endpoints of its unit.
    pub endpoints: u16,
    /// It is an accelerator of requests.
    pub is_request: bool,
    /// Its memory.
    pub base: u64,
    pub size: u64,
    /// Bytes of a block of an accelerator of streams, and of all its blocks; 0: it is none.
    pub block: u64,
    pub blocks: u64,
    /// What its accelerator computes; empty: it is a tile of memory.
    name: [u8; NAME],
    length: u8,
}

impl TileFacts {
    /// Is it a tile of memory?
    pub fn is_memory(&self) -> bool {
        self.length == 0
    }

    /// Whether activities of one have what they need on the other, too.
    pub fn is_kin(&self, other: &Self) -> bool {
        let shape = |of: &Self| (of.is_request, of.base, of.size, of.block, of.blocks);
        !self.is_memory() && self.name() == other.name() && shape(self) == shape(other)
    }

    fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.length)]
    }
}

/// The tiles, in the order of their numbers.
#[derive(Debug)]
pub struct TileTable {
    all: [TileFacts; TILES],
    count: usize,
    /// Nanoseconds that an activity has its tile if others wait.
    pub slice: u64,
}

impl TileTable {
    /// None.
    pub const fn new() -> Self {
        const NONE: TileFacts = TileFacts {
            tile: 0,
            endpoints: 0,
            is_request: false,
            base: 0,
            size: 0,
            block: 0,
            blocks: 0,
            name: [0; NAME],
            length: 0,
        };
        Self {
            all: [NONE; TILES],
            count: 0,
            slice: 0,
        }
    }

    /// Reads the nodes of the tree.
    pub fn read(&mut self, tree: FlatTree<'_>) {
        let (mut depth, mut is_inside) = (0, false);
        for event in tree.events() {
            match event {
                Event::Begin(name) => {
                    depth += 1;
                    if depth == 2 {
                        is_inside = name == b"tiles";
                    }
                }
                Event::Property(b"flick,slice", value) if is_inside && depth == 2 => {
                    self.slice = number(value);
                }
                Event::Property(name, value) if is_inside && depth == 3 => {
                    self.property(name, value);
                }
                Event::Property(..) => {}
                Event::End => {
                    if is_inside && depth == 3 && self.count < TILES {
                        self.count += 1;
                    }
                    depth -= 1;
                }
            }
        }
    }

    /// A property of the node that has begun.
    fn property(&mut self, name: &[u8], value: &[u8]) {
        let Some(facts) = self.all.get_mut(self.count) else {
            return;
        };
        match name {
            b"reg" => facts.tile = number(value) as u16,
            b"flick,endpoints" => facts.endpoints = number(value) as u16,
            b"compatible" => facts.is_request = value == b"flick,accelerator-request\0",
            b"flick,memory" => {
                if let Some((base, size)) = value.split_at_checked(8) {
                    (facts.base, facts.size) = (number(base), number(size));
                }
            }
            b"flick,blocks" => {
                if let Some((block, blocks)) = value.split_at_checked(8) {
                    (facts.block, facts.blocks) = (number(block), number(blocks));
                }
            }
            b"flick,function" => {
                let name = value.strip_suffix(b"\0").unwrap_or(value);
                let length = name.len().min(NAME);
                facts.name[..length].copy_from_slice(&name[..length]);
                facts.length = length as u8;
            }
            _ => {}
        }
    }

    /// The tile of this number.
    pub fn get(&self, tile: u64) -> Option<&TileFacts> {
        let mut all = self.all[..self.count].iter();
        all.find(|facts| u64::from(facts.tile) == tile)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The place of a tile in the table.
    pub fn place(&self, tile: u64) -> Option<u8> {
        let mut all = self.all[..self.count].iter();
        all.position(|facts| u64::from(facts.tile) == tile)
            .map(|place| place as u8)
    }

    /// The tile at a place.
    pub fn at(&self, place: u8) -> &TileFacts {
        &self.all[usize::from(place) % TILES]
    }

    /// The first tile of this name, from a number on.
    pub fn find(&self, name: &[u8], from: u64) -> Option<&TileFacts> {
        let mut all = self.all[..self.count].iter();
        all.find(|facts| u64::from(facts.tile) >= from && facts.name() == name)
    }
}
