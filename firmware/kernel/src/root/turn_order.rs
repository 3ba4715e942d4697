//! Who has each tile, and in which order others get it.
use super::Root;
use super::tile_table::TILES;
use crate::kernel::Kernel;

/// In the place of an activity: none.
pub const NOBODY: u16 = u16::MAX;

/// The turns of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// The activity that has the tile.
    pub current: u16,
    /// Activities that can run, in the order of their turns.
    pub first: u16,
    pub last: u16,
    /// When the kernel does something: the turn ends, or a module should have stopped.
    pub due: u64,
    /// The module was told to stop.
    pub stops: bool,
    /// The turn goes on until that of the activity that sends to this one is over.
    pub is_longer: bool,
    /// How often the kernel has looked since.
    pub looks: u8,
    /// The module was told to stop when it waits for long.
    pub yields: bool,
    /// The activity was revoked, and the module has not come to its next step.
    pub drains: bool,
}

impl Turns {
    /// A tile that nobody has.
    pub const NONE: Self = Self {
        current: NOBODY,
        first: NOBODY,
        last: NOBODY,
        due: u64::MAX,
        stops: false,
        is_longer: false,
        looks: 0,
        yields: false,
        drains: false,
    };

    /// Whether another activity waits for the tile.
    pub fn has_others(&self) -> bool {
        self.first != NOBODY
    }
}

/// All tiles' turns.
#[derive(Debug)]
pub struct Schedule {
    pub tiles: [Turns; TILES],
    /// The time of a turn.
    pub slice: u64,
    /// How often a tile got another activity.
    pub turns: u64,
    /// Activities that may move.
    pub movable: u64,
    /// Tiles whose next activities are to have them, as bits; and whether the kernel does that.
    pub to_give: u64,
    pub gives: bool,
}

impl Schedule {
    /// Tiles that nobody has.
    pub const fn new() -> Self {
        Self {
            tiles: [Turns::NONE; TILES],
            slice: u64::MAX,
            turns: 0,
            movable: 0,
            to_give: 0,
            gives: false,
        }
    }

    /// Whether nobody has a tile, or waits for it.
    pub fn is_free(&self, place: u8) -> bool {
        let turns = &self.tiles[usize::from(place)];
        turns.current == NOBODY && !turns.drains && !turns.has_others()
    }

    /// Whether a tile is free, and this activity is the next one.
    pub fn is_next(&self, place: u8, activity: u16) -> bool {
        let turns = &self.tiles[usize::from(place)];
        turns.current == NOBODY && !turns.drains && turns.first == activity
    }

    /// The first activity that waits for a tile.
    pub fn first(&self, place: u8) -> u16 {
        self.tiles[usize::from(place)].first
    }
}

impl Root {
    /// The time of the next end of a turn.
    pub fn next_turn_end(&self) -> u64 {
        let all = &self.schedule.tiles[..self.tiles.count()];
        all.iter().map(|turns| turns.due).min().unwrap_or(u64::MAX)
    }
}

impl Kernel {
    /// An activity is the last one that waits for its tile.
    pub fn append(&mut self, activity: u16) {
        let of = &mut self.root.activities[activity];
        of.next = NOBODY;
        let place = of.place;
        let turns = &mut self.root.schedule.tiles[usize::from(place)];
        let before = core::mem::replace(&mut turns.last, activity);
        match before {
            NOBODY => turns.first = activity,
            before => self.root.activities[before].next = activity,
        }
    }

    /// An activity cannot run any more, which had no turn.
    pub fn leave_turns(&mut self, activity: u16) {
        let place = usize::from(self.root.activities[activity].place);
        let (mut before, mut at) = (NOBODY, self.root.schedule.tiles[place].first);
        while at != NOBODY && at != activity {
            (before, at) = (at, self.root.activities[at].next);
        }
        if at == NOBODY {
            return;
        }
        let next = self.root.activities[activity].next;
        let turns = &mut self.root.schedule.tiles[place];
        match before {
            NOBODY => turns.first = next,
            before => self.root.activities[before].next = next,
        }
        if turns.last == activity {
            turns.last = before;
        }
    }
}
