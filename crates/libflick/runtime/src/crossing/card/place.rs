//! What an activation's own word says: how it goes on at its next resumption, and on which tile it runs.
use flick_abi::card_interface::TileChoice;

use super::tiles;
use crate::thread::activation::Activation;
use crate::thread::entered::Entered;

/// The bits of [`Activation::of_backend`] that say how the activation goes on. Above is where it runs
/// ([`Place`]).
const HOW: u64 = 0xff;
/// It begins.
pub const BEGINS: u64 = 0;
/// A host function has returned to it.
pub const RETURNED: u64 = 1;
/// The kernel has other registers than the activation.
pub const RESTORED: u64 = 2;

pub fn how(act: &Activation) -> u64 {
    act.of_backend & HOW
}

pub fn set_how(act: &mut Activation, how: u64) {
    act.of_backend = act.of_backend & !HOW | how;
}

/// The tile on which an activation runs, and why.
#[derive(Clone, Copy)]
pub struct Place {
    pub tile: u16,
    pub why: TileChoice,
}

/// Set if the activation has a place. Above [`HOW`], as the other parts of a place are.
const CHOSEN: u64 = 1 << 15;
const WHY_SHIFT: u32 = 8;
const TILE_SHIFT: u32 = 16;
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
        let word = act.of_backend;
        if word & CHOSEN != 0 {
            return Self {
                tile: (word >> TILE_SHIFT) as u16,
                why: CHOICES[(word >> WHY_SHIFT) as usize % CHOICES.len()],
            };
        }
        let (tile, why) = tiles::choose(act.gate(), act.thread());
        act.of_backend = word | CHOSEN | (why as u64) << WHY_SHIFT | u64::from(tile) << TILE_SHIFT;
        Self { tile, why }
    }
}
