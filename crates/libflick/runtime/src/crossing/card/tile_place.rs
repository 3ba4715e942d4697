//! What an activation's own word says: how it goes on at its next resumption, and on which tile it runs.
use flick_abi::card_interface::TileChoice;
use flick_abi::descriptor::HOST_TILES;

use super::tiles;
use crate::thread::activation::Activation;
use crate::thread::entered::Entered;

/// The bits of [`Activation::of_backend`] from here on say where the activation runs ([`Place`]). Below is how
/// it goes on, or its hart ([`super::lent_code`]).
pub const PLACE_SHIFT: u32 = 53;
const PLACE: u64 = !0 << PLACE_SHIFT;
/// It begins.
pub const BEGINS: u64 = 0;
/// A host function has returned to it.
pub const RETURNED: u64 = 1;
/// The kernel has other registers than the activation.
pub const RESTORED: u64 = 2;
/// The kernel of its tile does not have it: it has come from another tile.
pub const MOVED: u64 = 3;

pub fn how(act: &Activation) -> u64 {
    act.of_backend & !PLACE
}

pub fn set_how(act: &mut Activation, how: u64) {
    act.of_backend = act.of_backend & PLACE | how;
}

/// The tile on which an activation runs. Its own is that where it has begun, and this says why.
#[derive(Clone, Copy)]
pub struct Place {
    pub tile: u16,
    pub own: u16,
    why: TileChoice,
}

/// Parts of a place: the tile, its own tile, why, and a bit that says that it was chosen.
const TILE: u64 = HOST_TILES as u64 - 1;
const OWN_SHIFT: u32 = 4;
const WHY_SHIFT: u32 = 8;
const CHOSEN: u64 = 1 << 10;
const _: () = assert!(TILE < 1 << OWN_SHIFT && PLACE_SHIFT + 11 == u64::BITS);

const CHOICES: [TileChoice; 4] = [
    TileChoice::Default,
    TileChoice::Preferred,
    TileChoice::Marked,
    TileChoice::Placed,
];

impl Place {
    /// Chooses it for an activation that has none, as at its begin.
    #[inline]
    pub fn of(act: &mut Entered) -> Self {
        let word = act.of_backend >> PLACE_SHIFT;
        if word & CHOSEN != 0 {
            return Self {
                tile: (word & TILE) as u16,
                own: (word >> OWN_SHIFT & TILE) as u16,
                why: CHOICES[(word >> WHY_SHIFT) as usize % CHOICES.len()],
            };
        }
        let (tile, why) = tiles::choose(act.gate(), act.thread());
        let own = tile;
        let place = Self { tile, own, why };
        place.set(act);
        place
    }

    fn set(self, act: &mut Activation) {
        let tiles = u64::from(self.own) << OWN_SHIFT | u64::from(self.tile);
        let word = CHOSEN | (self.why as u64) << WHY_SHIFT | tiles;
        act.of_backend = act.of_backend & !PLACE | word << PLACE_SHIFT;
    }

    /// The activation goes on on a tile, with all of its registers.
    pub fn go_to(&mut self, act: &mut Activation, tile: u16) {
        self.tile = tile;
        self.set(act);
        set_how(act, MOVED);
    }

    /// Is it on another tile than its own?
    pub fn is_guest(self) -> bool {
        self.tile != self.own
    }

    /// The tile where an instruction is to be executed that no hart of this one has, if there is one.
    pub fn for_instruction(self, bits: u32) -> Option<u16> {
        tiles::for_instruction(bits, self.tile, self.own)
    }

    /// Why it is on its tile.
    pub fn why(self) -> TileChoice {
        match self.is_guest() {
            true => TileChoice::Moved,
            false => self.why,
        }
    }
}
