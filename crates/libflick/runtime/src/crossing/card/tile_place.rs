//! What an activation's own word says: how it goes on at its next resumption, and on which tile it runs.
use flick_abi::card_interface::TileChoice;
use flick_abi::descriptor::HOST_TILES;

use super::tiles;
use crate::thread::activation::Activation;
use crate::thread::entered::Entered;

/// The bits of [`Activation::of_backend`] from here on say where the activation runs ([`Place`]). Below is how
/// it goes on, or its hart ([`super::lent_code`]).
pub const PLACE_SHIFT: u32 = 57;
const PLACE: u64 = !0 << PLACE_SHIFT;
/// It begins.
pub const BEGINS: u64 = 0;
/// A host function has returned to it.
pub const RETURNED: u64 = 1;
/// The kernel has other registers than the activation.
pub const RESTORED: u64 = 2;

pub fn how(act: &Activation) -> u64 {
    act.of_backend & !PLACE
}

pub fn set_how(act: &mut Activation, how: u64) {
    act.of_backend = act.of_backend & PLACE | how;
}

/// The tile on which an activation runs, and why.
#[derive(Clone, Copy)]
pub struct Place {
    pub tile: u16,
    pub why: TileChoice,
}

/// Parts of a place: the tile, why, and a bit that says that it was chosen.
const TILE: u64 = HOST_TILES as u64 - 1;
const WHY_SHIFT: u32 = 4;
const CHOSEN: u64 = 1 << 6;
const _: () = assert!(TILE < 1 << WHY_SHIFT && PLACE_SHIFT + 7 == u64::BITS);

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
                why: CHOICES[(word >> WHY_SHIFT) as usize % CHOICES.len()],
            };
        }
        let (tile, why) = tiles::choose(act.gate(), act.thread());
        let word = CHOSEN | (why as u64) << WHY_SHIFT | u64::from(tile);
        act.of_backend |= word << PLACE_SHIFT;
        Self { tile, why }
    }
}
