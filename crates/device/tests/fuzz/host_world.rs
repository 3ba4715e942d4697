//! A kernel's unit and the tile of the host, side by side, and what passes between them.
use flick_abi::descriptor::{
    DESCRIPTOR_SLOTS, HOST_ACTIVITY, HOST_ENDPOINT, KERNEL_ACTIVITY, KERNEL_ENDPOINT,
    LOG2_DESCRIPTOR_SLOT,
};
use flick_abi::dtu::{self, Endpoint, MemoryEndpoint, ReceiveEndpoint, SendEndpoint};
use flick_device::dtu::{Dtu, DtuDescription};
use flick_device::mock::Mock;
use flick_device::{Arrived, Device, HostSpace, HostTile};

/// The tile of the kernel, and that of the host.
pub const CARD: u16 = 0;
pub const HOST: u16 = 1;
/// Where the kernel's tile has its slots, and what it sends.
pub const SLOTS: u64 = 0x1000;
pub const OUTGOING: u64 = 0x3000;
/// The kernel's endpoints to the host, and to its memory.
pub const TO_HOST: u16 = 5;
pub const MEMORY: u16 = 6;

pub fn description(tile: u16, harts: usize) -> DtuDescription {
    DtuDescription {
        tile,
        endpoints: 8,
        slots: 32,
        message: 256,
        packet: 1024,
        command: 1000,
        cycle: 1_000_000,
        harts,
        kernel: (harts != 0).then_some(0),
        is_root: false,
        is_governed: false,
    }
}

pub struct World {
    pub unit: Dtu,
    pub card: Mock,
    pub host: HostTile,
    pub outside: Mock,
    pub arrived: Arrived,
}

impl World {
    pub fn new(space: Box<dyn HostSpace>) -> Self {
        let unit = Dtu::new(description(CARD, 1)).unwrap();
        let mut card = Mock::with_memory(0, 0x8000);
        card.tiles.insert(HOST);
        let host = HostTile::new(description(HOST, 0), 1, space).unwrap();
        let mut outside = Mock::default();
        outside.tiles.insert(CARD);
        let arrived = host.arrived();
        let mut world = Self {
            unit,
            card,
            host,
            outside,
            arrived,
        };
        world.set(dtu::current(0), KERNEL_ACTIVITY.into());
        world
    }

    /// The kernel has its endpoints.
    pub fn begin(&mut self) {
        let receive = ReceiveEndpoint {
            activity: KERNEL_ACTIVITY,
            buffer: SLOTS,
            log2_slot: LOG2_DESCRIPTOR_SLOT,
            slots: DESCRIPTOR_SLOTS,
            occupied: 0,
            unread: 0,
        };
        let send = SendEndpoint {
            activity: KERNEL_ACTIVITY,
            tile: HOST,
            endpoint: HOST_ENDPOINT,
            receiver: HOST_ACTIVITY,
            label: 0,
            credits: DESCRIPTOR_SLOTS.into(),
            most_credits: DESCRIPTOR_SLOTS.into(),
            log2_message: LOG2_DESCRIPTOR_SLOT,
        };
        let memory = MemoryEndpoint {
            activity: KERNEL_ACTIVITY,
            can_read: true,
            can_write: true,
            tile: HOST,
            address: 0,
            size: 1 << 56,
            receiver: 0,
        };
        for (number, endpoint) in [
            (KERNEL_ENDPOINT, Endpoint::Receive(receive)),
            (TO_HOST, Endpoint::Send(send)),
            (MEMORY, Endpoint::Memory(memory)),
        ] {
            let words = endpoint.words();
            for word in dtu::WRITE_ORDER {
                self.set(dtu::endpoint_word(number, word), words[word]);
            }
        }
    }

    pub fn set(&mut self, register: u64, value: u64) {
        self.unit.write(register, 8, value, &mut self.card).unwrap();
    }

    /// Time passes on both tiles, and packets arrive, so many times.
    pub fn pass_times(&mut self, times: usize) {
        for _ in 0..times {
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
