//! A kernel aborts what the unit of an accelerator executes, and enables the unit again: the stream goes on.
use flick_abi::accelerator::{Control, Status};
use flick_abi::dtu::{self, Command, CommandWord};
use flick_device::accelerator::Accelerator;

use crate::chains::{AddOne, IN, OUT, Server, check_output, input};
use crate::world::{BLOCK, World};

/// Some cycles later aborts the command of tile 1, and enables its unit after so many events more.
fn abort(world: &mut World, cycles: u64, events: usize) {
    // It ends earlier if a message comes.
    let slept = world.command(CommandWord::new(Command::Sleep, 0), 0, cycles, 0);
    assert_eq!(slept, Ok(0));
    world.set_registers(1, dtu::ABORT, &[0]);
    while world.registers(1, dtu::ABORT) != [0] {}
    (0..events).for_each(|_| _ = world.step());
    world.set_registers(1, dtu::ENABLE, &[1]);
}

#[test]
fn a_stream_goes_on_behind_an_abort_at_each_event() {
    let size = 3 * BLOCK + 10;
    let buffers = [(false, 0), (false, 5), (true, 0)];
    // Some commands take 3 cycles, so that they begin between two events of others.
    for ((two, disabled), cycles) in buffers
        .into_iter()
        .flat_map(|how| (1..9).map(move |n| (how, n)))
    {
        let mut moments = 0;
        for abort_at in 0.. {
            // The answers of the second tile come at any time.
            let tile = || Box::new(AddOne) as Box<dyn Accelerator>;
            let mut world = World::with_buffers(vec![(tile(), two), (tile(), false)]);
            world.chain(2, (IN, size), (OUT, 0x4_0000));
            let bytes = input(&mut world, size);
            let mut server = Server::new(size, 1500);
            (1..3).for_each(|tile| world.control(tile, Control::Start));
            let mut events = 0;
            loop {
                if events == abort_at {
                    abort(&mut world, cycles, disabled);
                }
                events += 1;
                if let Some(asked) = world.asked_now() {
                    let request = asked.request;
                    let answer = server.answer(asked.label, request.operation, request.first);
                    assert_eq!(world.answer(&asked, answer), Ok(0));
                } else if !world.step() {
                    break;
                }
            }
            let status = [1, 2].map(|tile| world.status(tile));
            assert_eq!(
                status,
                [Status::Ended as u64; 2],
                "two buffers {two}, {abort_at} and {cycles}"
            );
            assert_eq!((server.written, server.ended), (size, true));
            check_output(&mut world, &bytes, 2);
            moments = abort_at;
            if events <= abort_at {
                break;
            }
        }
        assert!(moments > 70, "{moments}");
    }
}
