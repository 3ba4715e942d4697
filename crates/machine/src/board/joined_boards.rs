//! The boards of a machine of several tiles: each has addresses of its own, and they share a clock.
use std::rc::Rc;

use flick_device::Time;
use flick_timing::machine::Link;

use super::{Board, Wiring, unit_promises};
use crate::network::Packets;

/// All boards of a machine, by their tiles' numbers.
pub struct Boards {
    all: Vec<Board>,
}

impl Boards {
    /// Boards with the numbers of their harts, and the links between them.
    pub fn new(boards: Vec<(Board, usize)>, links: &[Link]) -> Self {
        let wiring = Wiring::default();
        wiring.has_news.set(true);
        wiring.packets.replace(Packets::new(links, boards.len()));
        let wiring = Rc::new(wiring);
        let mut first = 0;
        let join = |(tile, (mut board, harts)): (usize, (Board, usize))| {
            board.tile = tile;
            board.harts = first..first + harts;
            board.wiring = Rc::clone(&wiring);
            first += harts;
            board
        };
        Self {
            all: boards.into_iter().enumerate().map(join).collect(),
        }
    }

    /// The boards.
    pub fn all(&self) -> &[Board] {
        &self.all
    }
}

/// Lets the devices of boards see their events up to `time`.
pub(crate) fn advance(boards: &[Board], time: Time) {
    let Some(wiring) = boards.first().map(Board::wiring) else {
        return;
    };
    while let Some((tile, target, token)) = wiring.take_event(time) {
        if target == super::Target::Packet {
            let packet = wiring.go_on(token);
            let to = packet.as_ref().and_then(|p| boards.get(usize::from(p.to)));
            if let (Some(packet), Some(board)) = (packet, to) {
                wiring.message_arrives(token, &packet, boards);
                let before = unit_promises::before(board, &packet);
                board.arrive(packet);
                unit_promises::after(board, before, boards);
            }
        } else if let Some(board) = boards.get(tile) {
            board.event(target, token);
            unit_promises::after(board, None, boards);
        }
    }
}

/// The devices reset, and nothing that they have asked for is left.
pub(crate) fn reset(boards: &[Board], now: Time) {
    boards.iter().for_each(Board::reset);
    if let Some(board) = boards.first() {
        board.wiring.reset(now);
    }
}
