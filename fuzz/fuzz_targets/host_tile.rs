//! The tile of the host between a program and a card that write what they like: descriptors and messages of any
//! contents and sizes, and any saved states. Nothing panics, the ring keeps its size, and a state survives its
//! way to a file and back.
#![no_main]

use flick_abi::descriptor::{
    DESCRIPTOR_SIZE, DESCRIPTOR_SLOTS, HOST_ACTIVITY, HOST_ENDPOINT, KERNEL_ACTIVITY,
    KERNEL_ENDPOINT, LOG2_DESCRIPTOR_SLOT, RING,
};
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, ReceiveEndpoint, SendEndpoint};
use flick_device::dtu::{Dtu, DtuDescription};
use flick_device::mock::Mock;
use flick_device::{Device, HostTile, NoSpace};

const TO_HOST: u16 = KERNEL_ENDPOINT + 1;
const OUTGOING: u64 = 0x3000;

fn description(tile: u16, harts: usize) -> DtuDescription {
    DtuDescription {
        tile,
        endpoints: TO_HOST + 1,
        slots: 32,
        message: 256,
        packet: 1024,
        command: 1000,
        cycle: 1_000_000,
        harts,
        kernel: (harts != 0).then_some(0),
    }
}

struct World {
    unit: Dtu,
    card: Mock,
    host: HostTile,
    outside: Mock,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            unit: Dtu::new(description(0, 1)).unwrap(),
            card: Mock::with_memory(0, 0x4000),
            host: HostTile::new(description(1, 0), 1, Box::new(NoSpace)).unwrap(),
            outside: Mock::default(),
        };
        world.card.tiles.insert(1);
        world.outside.tiles.insert(0);
        let receive = ReceiveEndpoint::new(
            KERNEL_ACTIVITY,
            0x1000,
            LOG2_DESCRIPTOR_SLOT,
            DESCRIPTOR_SLOTS,
        );
        let send = SendEndpoint {
            activity: KERNEL_ACTIVITY,
            tile: 1,
            endpoint: HOST_ENDPOINT,
            receiver: HOST_ACTIVITY,
            label: 0,
            credits: DESCRIPTOR_SLOTS.into(),
            most_credits: DESCRIPTOR_SLOTS.into(),
            log2_message: LOG2_DESCRIPTOR_SLOT,
        };
        for (number, endpoint) in [
            (KERNEL_ENDPOINT, Endpoint::Receive(receive)),
            (TO_HOST, Endpoint::Send(send)),
        ] {
            let words = endpoint.words();
            for word in dtu::WRITE_ORDER {
                world.set(dtu::endpoint_word(number, word), words[word]);
            }
        }
        world.set(dtu::current(0), KERNEL_ACTIVITY.into());
        world
    }

    fn set(&mut self, register: u64, value: u64) {
        self.unit.write(register, 8, value, &mut self.card).unwrap();
    }

    fn pass(&mut self) {
        for _ in 0..4 {
            let now = self.card.now + 500_000;
            self.card.run_until(&mut self.unit, now, 100);
            self.outside.run_until(&mut self.host, now, 100);
            for packet in std::mem::take(&mut self.card.sent) {
                self.host.packet(packet, &mut self.outside);
            }
            for packet in std::mem::take(&mut self.outside.sent) {
                self.unit.packet(packet, &mut self.card);
            }
        }
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut world = World::new();
    let mut waiting = 0;
    for part in data.chunks(1 + DESCRIPTOR_SIZE + 8) {
        let (what, bytes) = part.split_first().unwrap();
        match what % 4 {
            0 => waiting += usize::from(world.host.input(bytes, &mut world.outside) != 0),
            // The card sends a message of this size.
            1 => {
                let at = OUTGOING as usize;
                world.card.memory[at..at + bytes.len()].copy_from_slice(bytes);
                world.set(dtu::ADDRESS, OUTGOING);
                world.set(dtu::SIZE, bytes.len() as u64);
                world.set(
                    dtu::COMMAND,
                    CommandWord::new(Command::Send, TO_HOST).bits(),
                );
            }
            // The kernel takes one.
            2 => {
                for command in [Command::Fetch, Command::Acknowledge] {
                    let slot = what >> 4;
                    world.set(
                        dtu::COMMAND,
                        CommandWord::new(command, KERNEL_ENDPOINT)
                            .with_slot(slot)
                            .bits(),
                    );
                    world.pass();
                }
                waiting = 0;
            }
            _ => {
                let saved = world.host.save();
                // A state that is no such tile's is refused, and the tile as it was, or is whole.
                let mut strange = saved.clone();
                for (place, byte) in strange.iter_mut().zip(bytes) {
                    *place ^= byte;
                }
                let _ = world.host.load(&strange);
                world.host.load(&saved).unwrap();
                assert!(world.host.save() == saved);
            }
        }
        assert!(waiting <= RING + usize::from(DESCRIPTOR_SLOTS) + data.len() / 100);
        world.pass();
        world.host.arrived().borrow_mut().clear();
    }
});
