//! Any software on two tiles: random accesses by user harts and kernels, and packets in any order.
//! No access panics, no activity uses another's endpoint, and no credit is lost or comes back twice.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, Outcome};
use flick_device::dtu::{Dtu, Packet, PacketKind};
use flick_device::mock::Mock;
use flick_device::{Device, Time};
use rand_pcg::rand_core::RngCore;

use crate::random_world::{Away, Counts, ENDPOINTS, Endpoints, HARTS, World};

/// Steps of a world. Then another begins.
const WORLD: u64 = 1_000;
/// Steps until a world whose software does nothing rests.
const REST: usize = 10_000;
/// Nobody waits longer for the end of a sleep.
const LONG: Time = 10_000_000;
const SLOTS: u8 = 32;

impl World {
    /// The command of a bank goes on, or a packet within the tile arrives.
    fn event(&mut self, tile: usize) {
        let around = &mut self.arounds[tile];
        let count = around.events.len();
        if count == 0 {
            return;
        }
        let chosen = (self.random.next_u64() % count as u64) as usize;
        let (&token, &at) = around.events.iter().nth(chosen).unwrap();
        if at > around.now.saturating_add(LONG) {
            return;
        }
        around.events.remove(&token);
        around.now = around.now.max(at);
        let is_bank = (token as usize) < HARTS;
        let start = around.sent.len();
        let (before, after) = self.act(tile, is_bank, |unit, around| unit.event(token, around));
        if is_bank {
            let starter = self.starters[tile][token as usize];
            self.check_use(&before, &after, starter);
            for packet in &self.arounds[tile].sent[start..] {
                check_transfer(packet, &after, starter);
                check_root(packet, &after, starter, self.has_root);
            }
        }
    }

    /// A unit goes on. Returns its endpoints before and after that.
    fn act(
        &mut self,
        tile: usize,
        is_bank: bool,
        act: impl FnOnce(&mut Dtu, &mut Mock),
    ) -> (Endpoints, Endpoints) {
        let before = self.endpoints(tile);
        let commands = self.banks(tile, dtu::COMMAND);
        act(&mut self.units[tile], &mut self.arounds[tile]);
        let after = self.endpoints(tile);
        let ended = self.banks(tile, dtu::COMMAND);
        let results = self.banks(tile, dtu::RESULT);
        for number in 0..ENDPOINTS {
            let [before, after] = [&before, &after].map(|e| credits(e[usize::from(number)]));
            let away = self.away.entry((tile, number)).or_default();
            match after.wrapping_sub(before) {
                0 => {}
                _ if self.has_root => {}
                // What arrives lets commands go on that ask a pager.
                u16::MAX => away.spent += 1,
                1 if !is_bank => {
                    let spent = away.spent.checked_sub(1);
                    away.spent = spent.expect("a credit came back twice");
                    self.counts.came_back += 1;
                }
                _ => panic!("{before} credits have become {after}"),
            }
        }
        for hart in 0..HARTS {
            let word = CommandWord::from_bits(commands[hart]);
            let error = Outcome::from_bits(results[hart]).result();
            let endpoint = match Command::from_number(word.command) {
                Some(Command::Send) => Some(word.endpoint),
                Some(Command::Read | Command::Write) => pager(&before, word.endpoint),
                _ => None,
            };
            // In other worlds a kernel may have set the endpoint up again since.
            if let Some(endpoint) = endpoint
                && self.is_calm
                && ended[hart] == 0
                && error == Err(Error::Gone)
            {
                let away = self.away.entry((tile, endpoint)).or_default();
                away.spent -= 1;
                away.gone += 1;
            }
        }
        (before, after)
    }

    /// A register of each bank.
    fn banks(&mut self, tile: usize, offset: u64) -> [u64; HARTS] {
        std::array::from_fn(|hart| self.access(tile, hart, offset, None))
    }

    /// A command has changed only endpoints of the activity that started it.
    fn check_use(&mut self, before: &Endpoints, after: &Endpoints, starter: u16) {
        for (before, after) in before.iter().zip(after) {
            if before != after {
                let owner = Endpoint::from_words(*before).unwrap().activity();
                assert_eq!(owner, starter, "another's endpoint was used");
                assert_ne!(owner, dtu::NO_ACTIVITY);
                self.counts.used += 1;
            }
        }
    }

    fn arrive(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let chosen = (self.random.next_u64() % self.under_way.len() as u64) as usize;
        let packet = self.under_way.swap_remove(chosen);
        let tile = usize::from(packet.to);
        let kind = packet.kind.clone();
        let start = self.arounds[tile].sent.len();
        let (before, after) = self.act(tile, false, |unit, around| unit.packet(packet, around));
        self.counts.transferred += u64::from(matches!(kind, PacketKind::Data { .. }));
        self.counts.of_root += u64::from(matches!(kind, PacketKind::WriteRegisters { .. }));
        let PacketKind::Message(_, message) = kind else {
            return;
        };
        for packet in &self.arounds[tile].sent[start..] {
            // A pager's answer begins a transfer.
            if let PacketKind::Read { command, .. } | PacketKind::Write { command, .. } =
                &packet.kind
            {
                let starter = self.starters[tile][usize::from(command.bank)];
                check_transfer(packet, &after, starter);
                self.counts.paged += 1;
            }
        }
        for (before, after) in before.iter().zip(&after) {
            let receives = |words| match Endpoint::from_words(words) {
                Some(Endpoint::Receive(receive)) => Some(receive),
                _ => None,
            };
            if let (Some(before), Some(after)) = (receives(*before), receives(*after))
                && before != after
            {
                assert_eq!(after.activity, message.receiver);
                assert_ne!(after.activity, dtu::NO_ACTIVITY);
                assert_eq!((after.occupied ^ before.occupied).count_ones(), 1);
                self.counts.delivered += 1;
            }
        }
    }

    /// The unit's future is that of another unit with its state.
    fn snapshot(&mut self, tile: usize) {
        let saved = self.units[tile].save();
        let mut other = self.units[tile].clone();
        other.reset();
        other.load(&saved).unwrap();
        assert!(other == self.units[tile]);
        self.units[tile] = other;
    }

    fn step(&mut self) {
        let (tile, hart) = (self.below(2) as usize, self.below(HARTS as u64) as usize);
        match self.below(1024) {
            0 => self.snapshot(tile),
            1..400 => self.software(tile, hart),
            400..700 => self.event(tile),
            _ => self.arrive(),
        }
        self.collect();
    }

    fn collect(&mut self) {
        for around in &mut self.arounds {
            self.under_way.append(&mut around.sent);
        }
    }

    /// All goes on that goes on by itself.
    fn rest(&mut self) {
        for _ in 0..REST {
            self.collect();
            self.arrive();
            self.event(0);
            self.event(1);
            let events = self.arounds.iter().all(|around| around.events.is_empty());
            let sent = self.arounds.iter().all(|around| around.sent.is_empty());
            if events && sent && self.under_way.is_empty() {
                return;
            }
        }
        panic!("the world does not rest");
    }

    /// Kernels abort all commands, and these end.
    fn abort(&mut self) {
        for tile in 0..2 {
            for bank in 0..HARTS {
                self.access(tile, 0, dtu::ABORT, Some(bank as u64));
            }
        }
        self.rest();
        for tile in 0..2 {
            assert_eq!(self.access(tile, 0, dtu::ABORT, None), 0);
            assert_eq!(self.banks(tile, dtu::COMMAND), [0; HARTS]);
            self.access(tile, 0, dtu::ENABLE, Some(u64::MAX));
        }
    }

    /// The receivers free all slots. Then each sender has its credits again.
    fn free_all(&mut self) {
        for tile in 0..2 {
            for (number, words) in (0..).zip(self.endpoints(tile)) {
                let Some(Endpoint::Receive(receive)) = Endpoint::from_words(words) else {
                    continue;
                };
                self.access(tile, 0, dtu::current(0), Some(receive.activity.into()));
                for slot in (0..SLOTS).filter(|&slot| receive.occupied >> slot & 1 != 0) {
                    let word = CommandWord::new(Command::Acknowledge, number).with_slot(slot);
                    self.access(tile, 0, dtu::COMMAND, Some(word.bits()));
                    self.starters[tile][0] = receive.activity;
                    self.rest();
                }
            }
        }
        for tile in 0..2 {
            for (number, words) in (0..).zip(self.endpoints(tile)) {
                if let Some(Endpoint::Send(send)) = Endpoint::from_words(words) {
                    let Away { spent, gone } = self.away[&(tile, number)];
                    assert_eq!(spent, 0, "a credit is lost");
                    assert_eq!(u32::from(send.credits) + gone, u32::from(send.most_credits));
                }
            }
        }
    }
}

/// The send endpoint by which an endpoint of pages asks.
fn pager(endpoints: &Endpoints, number: u16) -> Option<u16> {
    match Endpoint::from_words(*endpoints.get(usize::from(number))?) {
        Some(Endpoint::Pages(pages)) => Some(pages.pager),
        _ => None,
    }
}

/// The credits of a send endpoint. Others have none.
fn credits(words: [u64; 4]) -> u16 {
    match Endpoint::from_words(words) {
        Some(Endpoint::Send(send)) => send.credits,
        _ => 0,
    }
}

/// The first packets of a transfer are within a memory endpoint of the activity.
fn check_transfer(packet: &Packet, endpoints: &Endpoints, starter: u16) {
    let (address, size, is_read) = match &packet.kind {
        PacketKind::Read { address, size, .. } => (*address, u64::from(*size), true),
        PacketKind::Write { address, bytes, .. } => (*address, bytes.len() as u64, false),
        _ => return,
    };
    let mut memories = endpoints
        .iter()
        .filter_map(|&words| match Endpoint::from_words(words) {
            Some(Endpoint::Memory(memory)) => Some(memory),
            _ => None,
        });
    let allows = memories.any(|memory| {
        let start = address.wrapping_sub(memory.address);
        let is_right = if is_read {
            memory.can_read
        } else {
            memory.can_write
        };
        let within = start <= memory.size && size <= memory.size - start;
        memory.activity == starter && memory.tile == packet.to && is_right && within
    });
    assert!(allows, "{packet:?} is of no endpoint");
}

/// Registers are changed and read by the root alone, through an endpoint of the activity.
fn check_root(packet: &Packet, endpoints: &Endpoints, starter: u16, has_root: bool) {
    let (PacketKind::WriteRegisters { .. } | PacketKind::ReadRegisters { .. }) = &packet.kind
    else {
        return;
    };
    let allows = endpoints
        .iter()
        .any(|&words| match Endpoint::from_words(words) {
            Some(Endpoint::Registers(e)) => (e.activity, e.tile) == (starter, packet.to),
            _ => false,
        });
    assert!(
        has_root && packet.from == 0 && allows,
        "{packet:?} is not the root's"
    );
}

/// `FLICK_DTU_ACCESSES=10000000` is the long run, in release.
#[test]
fn any_software_keeps_to_its_endpoints() {
    let steps = std::env::var("FLICK_DTU_ACCESSES").map_or(400_000_u64, |text| {
        text.parse().expect("FLICK_DTU_ACCESSES is a number")
    });
    let mut counts = Counts::default();
    for seed in 0..steps.div_ceil(WORLD) {
        let mut world = World::new(seed.into(), counts);
        for _ in 0..WORLD {
            world.step();
        }
        world.abort();
        if world.is_calm {
            world.free_all();
        }
        counts = world.counts;
    }
    let enough = steps / 5_000;
    let Counts {
        delivered,
        used,
        transferred,
        came_back,
        of_root,
        paged,
    } = counts;
    let least = delivered.min(used).min(transferred).min(came_back);
    assert!(
        least > enough && of_root > 0 && paged > steps / 200_000,
        "{counts:?}"
    );
}
