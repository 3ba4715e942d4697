//! What a module tells the root, and how it goes on: its receiver has no turn, or it has waited for long.
use flick_abi::accelerator::{
    ANSWERS, Control, INPUT_REQUESTS, NOTICE_WORDS, Notice, OUTPUT_DATA, OUTPUT_REQUESTS, REQUESTS,
    Status, YIELD,
};
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, Endpoint, MemoryEndpoint, NO_ACTIVITY, SlotRecord,
};
use flick_abi::file_protocol::{Answer, Operation};
use flick_device::accelerator::{Accelerator, Computed};

use crate::chains::{AddOne, FILTER, IN, OUT, Server, check_output, input};
use crate::world::{ACTIVITY, BLOCK, World};

/// The label of notices of a tile is this and the tile.
const NOTICES: u16 = 0x100;

/// The first half of each block.
struct Half;

impl Accelerator for Half {
    fn block(&self, _memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        Computed::bytes(size / 2)
    }
}

/// Its input, in a cycle.
struct Fast;

impl Accelerator for Fast {
    fn block(&self, _memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        Computed {
            size,
            cycles: Some(1),
        }
    }
}

/// What comes to the root.
enum Comes {
    Request(u64, Operation, u64),
    Notice(u16, Notice),
}

/// A chain of two accelerators, whose modules tell the root what happens.
fn two(first: Box<dyn Accelerator>, size: u64) -> World {
    let mut world = World::new(vec![first, Box::new(AddOne)]);
    world.chain(2, (IN, size), (OUT, 0x4_0000));
    let Endpoint::Memory(memory) = crate::world::memory(2, 0, BLOCK) else {
        unreachable!();
    };
    let owned = MemoryEndpoint {
        receiver: ACTIVITY,
        ..memory
    };
    world.set_up(1, OUTPUT_DATA, Endpoint::Memory(owned));
    (1..3).for_each(|tile| world.tell_root(tile, NOTICES + tile));
    world
}

/// An accelerator runs its activity, or none.
fn set_turn(world: &mut World, tile: u16, has_turn: bool) {
    let activity = if has_turn { ACTIVITY } else { NO_ACTIVITY };
    world.set_registers(tile, dtu::current(0), &[activity.into()]);
}

/// What comes next, and its slot.
fn next(world: &mut World) -> Option<(Comes, u8)> {
    while world.read(dtu::EVENTS) == 0 {
        if !world.step() {
            return None;
        }
    }
    let (label, payload, slot) = world.fetch::<{ 8 * NOTICE_WORDS }>();
    let word = |n: usize| u64::from_le_bytes(payload[8 * n..8 * n + 8].try_into().unwrap());
    let comes = match label.checked_sub(NOTICES.into()) {
        Some(tile) => {
            let notice = Notice::from_words(std::array::from_fn(word));
            Comes::Notice(tile as u16, notice.unwrap())
        }
        None => Comes::Request(label, Operation::from_number(word(0)).unwrap(), word(1)),
    };
    Some((comes, slot))
}

/// The message of an endpoint was refused: its credit is back, and the module sends it again.
fn make_again(world: &mut World, tile: u16) {
    let words = world.registers::<4>(tile, dtu::endpoint_word(OUTPUT_REQUESTS, 0));
    let Some(Endpoint::Send(mut send)) = Endpoint::from_words(words) else {
        unreachable!();
    };
    send.credits = 1;
    world.set_up(tile, OUTPUT_REQUESTS, Endpoint::Send(send));
    world.control(tile, Control::Again);
}

/// The second accelerator has no turn at first, and loses it at each request of the first one.
#[test]
fn messages_are_sent_again() {
    let size = 5 * BLOCK + 9;
    let mut world = two(Box::new(AddOne), size);
    let bytes = input(&mut world, size);
    let mut server = Server::new(size, BLOCK);
    set_turn(&mut world, 2, false);
    (1..3).for_each(|tile| world.control(tile, Control::Start));
    let (mut refused, mut ends) = (0, 0);
    while let Some((comes, slot)) = next(&mut world) {
        match comes {
            Comes::Request(label, operation, first) => {
                let answer = server.answer(label, operation, first);
                assert_eq!(world.reply(slot, answer), Ok(0));
            }
            Comes::Notice(
                1,
                Notice::Message {
                    endpoint,
                    label,
                    words,
                },
            ) => {
                assert_eq!((endpoint, words[0]), (OUTPUT_REQUESTS, label));
                set_turn(&mut world, 2, true);
                make_again(&mut world, 1);
                refused += 1;
                world.acknowledge(slot);
            }
            Comes::Notice(_, Notice::Status { status, fault, .. }) => {
                assert_eq!((status, fault), (Status::Ended, 0));
                ends += 1;
                world.acknowledge(slot);
            }
            Comes::Notice(tile, other) => panic!("{other:?} of {tile}"),
        }
    }
    assert_eq!((refused, ends), (1, 2));
    assert_eq!((server.written, server.ended), (size, true));
    check_output(&mut world, &bytes, 2);
}

/// The root writes in the module's place.
#[test]
fn data_is_forwarded() {
    let mut world = two(Box::new(Half), 2 * BLOCK);
    let bytes = input(&mut world, 2 * BLOCK);
    let mut server = Server::new(2 * BLOCK, BLOCK);
    (1..3).for_each(|tile| world.control(tile, Control::Start));
    let (mut asked, mut forwarded) = (0, 0);
    while let Some((comes, slot)) = next(&mut world) {
        match comes {
            Comes::Request(label, operation, first) => {
                // Half of the piece that was granted is left, so that the next output is written at once.
                asked += u32::from(operation == Operation::NextIn);
                if asked == 2 {
                    set_turn(&mut world, 2, false);
                }
                let answer = server.answer(label, operation, first);
                assert_eq!(world.reply(slot, answer), Ok(0));
            }
            Comes::Notice(
                1,
                Notice::Data {
                    endpoint,
                    is_write,
                    offset,
                    address,
                    size,
                },
            ) => {
                assert_eq!((endpoint, is_write), (OUTPUT_DATA, true));
                assert_eq!((offset, size), (BLOCK / 2, BLOCK / 2));
                world.copy(Command::Read, 1, address, FILTER, size as usize);
                world.copy(Command::Write, 2, offset, FILTER, size as usize);
                set_turn(&mut world, 2, true);
                forwarded += 1;
                world.acknowledge(slot);
            }
            Comes::Notice(_, Notice::Status { status, .. }) => {
                assert_eq!(status, Status::Ended);
                world.acknowledge(slot);
            }
            Comes::Notice(tile, other) => panic!("{other:?} of {tile}"),
        }
    }
    assert_eq!((forwarded, server.written), (1, BLOCK));
    let half = BLOCK as usize / 2;
    let block = BLOCK as usize;
    let expected = [&bytes[..half], &bytes[block..block + half]].concat();
    check_output(&mut world, &expected, 1);
}

/// The first one, which computes fast, has no turn when the second one answers it. The second one answers again when
/// the first one has its turn.
#[test]
fn an_answer_is_forwarded() {
    let size = 3 * BLOCK;
    let mut world = two(Box::new(Fast), size);
    let bytes = input(&mut world, size);
    let mut server = Server::new(size, BLOCK);
    (1..3).for_each(|tile| world.control(tile, Control::Start));
    let mut answered = 0;
    while let Some((comes, slot)) = next(&mut world) {
        match comes {
            Comes::Request(label, operation, first) => {
                // The second one has computed, and the first one waits for it.
                if label == OUTPUT_REQUESTS.into() && answered == 0 {
                    set_turn(&mut world, 1, false);
                }
                let answer = server.answer(label, operation, first);
                assert_eq!(world.reply(slot, answer), Ok(0));
            }
            Comes::Notice(
                2,
                Notice::Answer {
                    slot: request,
                    words,
                },
            ) => {
                assert_eq!(words, [0, 0, BLOCK]);
                let at = dtu::slot_record(REQUESTS, request);
                let record = SlotRecord::from_words(world.registers(2, at)).unwrap();
                assert_eq!((record.tile, record.activity), (1, ACTIVITY));
                assert_eq!(record.answer, Some(ANSWERS));
                set_turn(&mut world, 1, true);
                world.control(2, Control::Again);
                answered += 1;
                world.acknowledge(slot);
            }
            Comes::Notice(_, Notice::Status { status, .. }) => {
                assert_eq!(status, Status::Ended);
                world.acknowledge(slot);
            }
            Comes::Notice(tile, other) => panic!("{other:?} of {tile}"),
        }
    }
    assert_eq!((answered, server.written), (1, size));
    check_output(&mut world, &bytes, 1);
}

/// What the root cannot do, either, ends the activity. Nothing else of it comes.
#[test]
fn a_refused_command_ends_the_activity() {
    let mut world = two(Box::new(AddOne), BLOCK);
    input(&mut world, BLOCK);
    let mut server = Server::new(BLOCK, BLOCK);
    set_turn(&mut world, 2, false);
    world.control(1, Control::Start);
    let mut notices = vec![];
    while let Some((comes, slot)) = next(&mut world) {
        match comes {
            Comes::Request(label, operation, first) => {
                let answer = server.answer(label, operation, first);
                assert_eq!(world.reply(slot, answer), Ok(0));
            }
            Comes::Notice(tile, notice) => {
                if matches!(notice, Notice::Message { .. }) {
                    world.control(tile, Control::Refused);
                }
                notices.push(notice);
                world.acknowledge(slot);
            }
        }
    }
    let failed = Notice::Status {
        status: Status::Failed,
        fault: dtu::Error::Gone as u64,
        waits: 0,
    };
    assert_eq!(notices.len(), 2);
    assert_eq!(notices[1], failed);
}

/// A module that waits stops after the time that the root has set, and not before. It says for what it waits.
#[test]
fn a_module_that_waits_stops() {
    for yields in [1, 500, 20_000] {
        let mut world = two(Box::new(AddOne), BLOCK);
        let bytes = input(&mut world, BLOCK);
        world.set_registers(1, ACCELERATOR_REGISTERS + YIELD, &[yields]);
        (1..3).for_each(|tile| world.control(tile, Control::Start));
        let mut server = Server::new(BLOCK, BLOCK);
        let (mut stops, mut is_stopped) = (0, false);
        let mut asked_at = 0;
        while let Some((comes, slot)) = next(&mut world) {
            match comes {
                Comes::Request(label, operation, first) => {
                    if label == INPUT_REQUESTS.into() && stops == 0 {
                        asked_at = world.links.now;
                        // It stops before the answer, and goes on with it.
                        let Some((Comes::Notice(tile, notice), second)) = next(&mut world) else {
                            panic!("it waits for longer than {yields} cycles");
                        };
                        let stopped = Notice::Status {
                            status: Status::Stopped,
                            fault: 0,
                            waits: 1 << ANSWERS,
                        };
                        assert_eq!((tile, notice), (1, stopped));
                        let waited = world.links.now - asked_at;
                        let due = yields * 1_000_000 / 1000;
                        assert!((due / 2..due + 1_000_000).contains(&waited), "{waited}");
                        world.acknowledge(second);
                        (stops, is_stopped) = (stops + 1, true);
                    }
                    let answer: Answer = server.answer(label, operation, first);
                    assert_eq!(world.reply(slot, answer), Ok(0));
                    if std::mem::take(&mut is_stopped) {
                        world.control(1, Control::Continue);
                    }
                }
                Comes::Notice(tile, Notice::Status { status, .. }) => {
                    world.acknowledge(slot);
                    match status {
                        // It may wait for the second one, too.
                        Status::Stopped => world.control(tile, Control::Continue),
                        _ => assert_eq!(status, Status::Ended),
                    }
                }
                Comes::Notice(tile, other) => panic!("{other:?} of {tile}"),
            }
        }
        assert!(stops > 0 && asked_at > 0);
        assert_eq!(server.written, BLOCK);
        check_output(&mut world, &bytes, 2);
    }
}
