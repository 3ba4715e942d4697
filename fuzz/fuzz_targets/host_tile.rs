//! The tile of the host between a program and a card that write what they like: descriptors and messages of any
//! contents and sizes, and any saved states. Nothing panics, the ring keeps its size, and a state survives its
//! way to a file and back.
#![no_main]

use flick_abi::descriptor::{DESCRIPTOR_SIZE, DESCRIPTOR_SLOTS, KERNEL_ENDPOINT, RING};
use flick_abi::dtu::{self, Command, CommandWord};
use flick_device::{Device, NoSpace};

#[path = "../../crates/device/tests/fuzz/host_world.rs"]
mod host_world;

use host_world::{OUTGOING, TO_HOST, World};

/// How long a unit has for what it is given.
const PASSES: usize = 4;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
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
                    world.pass_times(PASSES);
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
        world.pass_times(PASSES);
        world.arrived.borrow_mut().clear();
    }
});
