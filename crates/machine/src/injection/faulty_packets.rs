//! Packets between tiles that are lost, late or repeated.
use flick_device::Time;
use flick_device::dtu::{Packet, PacketClass};
use flick_timing::faults::{self, PacketChoice, PacketFault};
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

/// The faults of the packets to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyPackets {
    all: Vec<Faulty>,
}

/// A fault, and how many packets it has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Faulty {
    choice: PacketChoice,
    fault: PacketFault,
    seen: u64,
}

impl FaultyPackets {
    /// The next packets have this fault.
    pub fn add(&mut self, choice: PacketChoice, fault: PacketFault) {
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
        self.all.iter().all(
            |Faulty {
                 choice,
                 fault,
                 seen,
             }| {
                let time = match *fault {
                    PacketFault::Drop => 0,
                    PacketFault::Delay(by) | PacketFault::Repeat(by) => by,
                };
                choice.every != 0
                    && choice.packets != 0
                    && time < END_OF_TIME
                    && *seen < u64::MAX / 2
            },
        )
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
}
