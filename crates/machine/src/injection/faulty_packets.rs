//! Packets between tiles that are lost, late or repeated, and tiles that have stopped. Such a fault may come when an
//! accelerator comes to a state.
use flick_abi::accelerator::STATE_NAMES;
use flick_device::Time;
use flick_device::dtu::{Packet, PacketClass};
use flick_timing::faults::{self, Action, PacketChoice, PacketFault};
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

/// The faults of the packets to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyPackets {
    all: Vec<Faulty>,
    /// Tiles that do nothing any more.
    stopped: Vec<usize>,
    at_states: Vec<AtState>,
}

/// What happens when an accelerator has come to a state so many times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AtState {
    tile: usize,
    state: usize,
    times: u64,
    what: TileFault,
}

/// A fault of tiles or of what is between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileFault {
    /// A tile stops.
    Stop(usize),
    /// The next packets fail.
    Packets(PacketChoice, PacketFault),
}

impl TileFault {
    /// The action, if it is one of tiles.
    pub fn of(action: Action) -> Option<Self> {
        match action {
            Action::StopTile { tile } => Some(Self::Stop(tile)),
            Action::Packets { choice, fault } => Some(Self::Packets(choice, fault)),
            _ => None,
        }
    }
}

/// A fault, and how many packets it has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Faulty {
    choice: PacketChoice,
    fault: PacketFault,
    seen: u64,
}

impl FaultyPackets {
    /// A fault happens.
    pub fn happens(&mut self, what: TileFault) {
        match what {
            TileFault::Stop(tile) => self.stopped.push(tile),
            TileFault::Packets(choice, fault) => self.add(choice, fault),
        }
    }

    /// It will happen when a tile has come to a state, whose number is that in [`STATE_NAMES`], so many times.
    pub fn add_at_state(&mut self, (tile, state, times): (usize, usize, u64), what: TileFault) {
        self.at_states.push(AtState {
            tile,
            state,
            times,
            what,
        });
    }

    /// A tile comes to a state.
    pub fn comes_to(&mut self, tile: usize, name: &str) {
        let mut due = vec![];
        self.at_states.retain_mut(|at| {
            if at.tile == tile && STATE_NAMES.get(at.state) == Some(&name) {
                at.times -= 1;
                if at.times == 0 {
                    due.push(at.what);
                }
            }
            at.times != 0
        });
        due.into_iter().for_each(|what| self.happens(what));
    }

    /// Does something wait for a state?
    pub fn waits_for_states(&self) -> bool {
        !self.at_states.is_empty()
    }

    /// Has a tile stopped?
    pub fn has_stopped(&self, tile: usize) -> bool {
        self.stopped.contains(&tile)
    }

    /// Has any?
    pub fn has_stopped_tiles(&self) -> bool {
        !self.stopped.is_empty()
    }

    /// The next packets have this fault.
    fn add(&mut self, choice: PacketChoice, fault: PacketFault) {
        let seen = 0;
        self.all.push(Faulty {
            choice,
            fault,
            seen,
        });
    }

    /// The fault of a packet that is sent: that of the first entry that hits it.
    pub fn of(&mut self, packet: &Packet) -> Option<PacketFault> {
        if self.all.is_empty() {
            return None;
        }
        let mut found = None;
        self.all.retain_mut(|faulty| {
            let Faulty {
                choice,
                fault,
                seen,
            } = faulty;
            if is_chosen(choice, packet) {
                *seen += 1;
                if seen.is_multiple_of(choice.every) {
                    choice.packets -= 1;
                    found.get_or_insert(*fault);
                }
            }
            choice.packets != 0
        });
        found
    }

    /// Whether this can be of a run.
    pub fn is_possible(&self) -> bool {
        let of_packets = |choice: &PacketChoice, fault: PacketFault| {
            let time = match fault {
                PacketFault::Drop => 0,
                PacketFault::Delay(by) | PacketFault::Repeat(by) => by,
            };
            choice.every != 0 && choice.packets != 0 && time < END_OF_TIME
        };
        let mut all = self.all.iter();
        let mut at_states = self.at_states.iter();
        all.all(|faulty| of_packets(&faulty.choice, faulty.fault) && faulty.seen < u64::MAX / 2)
            && at_states.all(|at| {
                let what = match at.what {
                    TileFault::Stop(_) => true,
                    TileFault::Packets(choice, fault) => of_packets(&choice, fault),
                };
                what && at.times != 0
            })
    }
}

fn is_chosen(choice: &PacketChoice, packet: &Packet) -> bool {
    let class = match packet.class() {
        PacketClass::Message => faults::PacketClass::Message,
        PacketClass::Answer => faults::PacketClass::Answer,
        PacketClass::Credit => faults::PacketClass::Credit,
        PacketClass::Data => faults::PacketClass::Data,
        PacketClass::Confirmation => faults::PacketClass::Confirmation,
    };
    packet.from != packet.to
        && choice
            .from
            .is_none_or(|tile| tile == usize::from(packet.from))
        && choice.to.is_none_or(|tile| tile == usize::from(packet.to))
        && choice.class.is_none_or(|wanted| wanted == class)
}

/// When the copies of a packet leave their sender, from now on.
pub fn departures(fault: Option<PacketFault>) -> [Option<Time>; 2] {
    match fault {
        None => [Some(0), None],
        Some(PacketFault::Drop) => [None, None],
        Some(PacketFault::Delay(by)) => [Some(by), None],
        Some(PacketFault::Repeat(by)) => [Some(0), Some(by)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_device::dtu::{CommandNumber, PacketKind};

    fn confirmation(from: u16, to: u16) -> Packet {
        let command = CommandNumber { bank: 0, number: 1 };
        let (part, error) = (0, 0);
        let kind = PacketKind::Done {
            command,
            part,
            error,
        };
        Packet { from, to, kind }
    }

    #[test]
    fn some_packets_of_some_tiles_have_faults() {
        let mut faulty = FaultyPackets::default();
        let choice = PacketChoice {
            from: Some(1),
            to: None,
            class: Some(faults::PacketClass::Confirmation),
            every: 3,
            packets: 2,
        };
        faulty.add(choice, PacketFault::Drop);
        let all = PacketChoice {
            from: None,
            every: 1,
            packets: 1,
            ..choice
        };
        assert_eq!(faulty.of(&confirmation(0, 1)), None);
        let mut lost = vec![];
        for n in 1..10 {
            if faulty.of(&confirmation(1, 2)).is_some() {
                lost.push(n);
            }
        }
        assert_eq!(lost, [3, 6]);
        assert!(faulty.all.is_empty() && faulty.is_possible());
        // A packet within a tile does not fail.
        faulty.add(all, PacketFault::Repeat(7));
        assert_eq!(faulty.of(&confirmation(2, 2)), None);
        let fault = faulty.of(&confirmation(2, 0));
        assert_eq!(departures(fault), [Some(0), Some(7)]);
        assert_eq!(departures(None), [Some(0), None]);
        faulty.add(PacketChoice { every: 0, ..all }, PacketFault::Drop);
        assert!(!faulty.is_possible());
    }

    #[test]
    fn a_tile_stops_when_it_has_come_to_a_state_so_many_times() {
        let mut faulty = FaultyPackets::default();
        let computes = STATE_NAMES
            .iter()
            .position(|name| *name == "computes")
            .unwrap();
        faulty.add_at_state((3, computes, 2), TileFault::Stop(5));
        assert!(faulty.waits_for_states() && faulty.is_possible());
        for (tile, name) in [
            (3, "computes"),
            (3, "asks"),
            (4, "computes"),
            (3, "computes, asks"),
        ] {
            faulty.comes_to(tile, name);
            assert!(!faulty.has_stopped_tiles(), "{name}");
        }
        faulty.comes_to(3, "computes");
        assert!(faulty.has_stopped(5) && !faulty.has_stopped(3));
        assert!(!faulty.waits_for_states());
        faulty.add_at_state((3, computes, 0), TileFault::Stop(5));
        assert!(!faulty.is_possible());
    }
}
