//! Accelerators with two buffers: a block is read, and another one written, while the logic computes.
use flick_abi::accelerator::{ANSWERS_BUFFER, BUFFERS, CONTEXT, CONTEXT_WORDS, Control, Status};
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, Command, NO_ACTIVITY};
use flick_abi::file_protocol::Answer;
use flick_device::Time;
use flick_device::accelerator::{Accelerator, Computed, Work, functions};

use crate::chains::{AddOne, FILTER, IN, OUT, Server, check_output, input};
use crate::world::{ACTIVITY, BLOCK, COMPUTE, World, memory_of};

/// Bytes of the file for output.
const ROOM: u64 = 0x4_0000;

/// A chain between two files of accelerators that add 1: which of them have two buffers.
fn chain(two: &[bool], size: u64) -> World {
    let add = |&two: &bool| (Box::new(AddOne) as Box<dyn Accelerator>, two);
    let mut world = World::with_buffers(two.iter().map(add).collect());
    world.chain(two.len() as u16, (IN, size), (OUT, ROOM));
    world
}

fn start(world: &mut World) {
    let tiles = 1..=world.accelerators.len() as u16;
    tiles.for_each(|tile| world.control(tile, Control::Start));
}

fn work(world: &World, tile: usize) -> Work {
    let work = world.accelerators[tile - 1].work(world.links.now);
    work.expect("the tile has an accelerator")
}

/// Runs a stream of so many bytes. How long it took.
fn run(world: &mut World, size: u64, piece: u64) -> Time {
    let bytes = input(world, size);
    let began = world.links.now;
    start(world);
    let mut server = Server::new(size, piece);
    server.run(world);
    let tiles = world.accelerators.len();
    for tile in 1..=tiles {
        let status = world.status(tile as u16);
        assert_eq!(
            status,
            Status::Ended as u64,
            "tile {tile}: {size} in {piece}"
        );
        let work = work(world, tile);
        assert_eq!((work.read, work.written), (size, size));
        assert_eq!(work.blocks, size.div_ceil(BLOCK));
    }
    assert_eq!((server.written, server.ended), (size, true));
    check_output(world, &bytes, tiles as u8);
    world.links.now - began
}

#[test]
fn a_file_becomes_a_file() {
    for size in [
        0,
        1,
        BLOCK - 1,
        BLOCK,
        BLOCK + 1,
        2 * BLOCK,
        5 * BLOCK,
        5 * BLOCK + 100,
    ] {
        for piece in [512, BLOCK, 3 * BLOCK, 1000, 0x1_0000] {
            run(&mut chain(&[true], size), size, piece);
        }
    }
}

#[test]
fn chains_mix_both_kinds() {
    for size in [
        0,
        5,
        BLOCK,
        2 * BLOCK,
        3 * BLOCK,
        6 * BLOCK + 77,
        7 * BLOCK - 1,
    ] {
        for kinds in 0..8 {
            let two = [0, 1, 2].map(|tile| kinds >> tile & 1 != 0);
            run(&mut chain(&two, size), size, 3 * BLOCK);
        }
    }
}

/// The bar: within 3 % of the slowest stage's logic alone, its first block and the last ones of other stages included.
#[test]
fn transfers_are_hidden_behind_the_logic() {
    let blocks = 100;
    let size = blocks * BLOCK;
    let bar = blocks * COMPUTE * 103 / 100;
    for piece in [BLOCK, 16 * BLOCK, size] {
        for length in 1..=2 {
            let took = run(&mut chain(&vec![true; length], size), size, piece);
            assert!(
                took <= bar,
                "{length} with pieces of {piece}: {took} > {bar}"
            );
            let single = run(&mut chain(&vec![false; length], size), size, piece);
            assert!(
                single > bar,
                "one buffer, {length} of {piece}: {single} <= {bar}"
            );
        }
    }
}

/// Takes another time than the other stages.
struct Takes(u64);

impl Accelerator for Takes {
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        Computed {
            cycles: (size != 0).then_some(self.0),
            ..AddOne.block(memory, size, is_last)
        }
    }
}

/// Stages of any times: the slowest decides, wherever it is.
#[test]
fn the_slowest_stage_bounds_a_chain() {
    let blocks = 100;
    let size = blocks * BLOCK;
    for cycles in [
        [5856, 1189, 5856],
        [1189, 5856, 1189],
        [800, 900, 5856],
        [5856, 900, 800],
    ] {
        let stage = |cycles| (Box::new(Takes(cycles)) as Box<dyn Accelerator>, true);
        let mut world = World::with_buffers(cycles.map(stage).into());
        world.chain(3, (IN, size), (OUT, ROOM));
        let took = run(&mut world, size, 16 * BLOCK);
        let bar = blocks * 5_856_000 * 103 / 100;
        assert!(took <= bar, "{cycles:?}: {took} > {bar}");
        let slowest = cycles.iter().position(|&c| c == 5856).unwrap() + 1;
        let work = work(&world, slowest);
        assert_eq!(work.computes, blocks * 5_856_000);
        assert!(work.runs() <= bar);
    }
}

/// A stage that waits for its next block writes the last one meanwhile: a block does not wait for the one behind it.
#[test]
fn output_does_not_wait_for_input() {
    let size = 4 * BLOCK;
    let logics = [5856, 500, 500, 500, 5856].map(Takes);
    let stage = |logic| (Box::new(logic) as Box<dyn Accelerator>, true);
    let mut world = World::with_buffers(logics.map(stage).into());
    world.chain(5, (IN, size), (OUT, ROOM));
    let took = run(&mut world, size, BLOCK);
    // The last stage has its first block as soon as that has come through the others.
    let bar = (5 * 5856 + 4 * 1000) * 1000;
    assert!(took <= bar, "{took} > {bar}");
}

/// The logic keeps its own data behind the two blocks, and sees it behind one.
#[test]
fn an_image_is_filtered() {
    let logics = ["fft", "mul", "ifft"].map(|name| (functions::by_name(name).unwrap(), true));
    let mut world = World::with_buffers(logics.into());
    let numbers: Vec<f32> = (0..4096).map(|n| (n * 31 % 255) as f32).collect();
    let image: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let size = image.len() as u64;
    world.bytes(IN, image.len()).copy_from_slice(&image);
    let filter = [2.0_f32, 0.0].repeat(256);
    let filter: Vec<u8> = filter.iter().flat_map(|n| n.to_le_bytes()).collect();
    world.bytes(FILTER, filter.len()).copy_from_slice(&filter);
    world.copy(Command::Write, 2, 2 * BLOCK, FILTER, filter.len());
    world.chain(3, (IN, size), (OUT, size));
    start(&mut world);
    Server::new(size, size).run(&mut world);
    let output = world.bytes(OUT, image.len()).to_vec();
    for (number, bytes) in numbers.iter().zip(output.chunks_exact(4)) {
        let found = f32::from_le_bytes(bytes.try_into().unwrap());
        assert!(
            (found - 2.0 * number).abs() < 1e-2,
            "{found} is not twice {number}"
        );
    }
}

/// A kernel stops the activity of a tile. False: it was over before.
fn stop(world: &mut World, tile: u16) -> bool {
    world.control(tile, Control::Stop);
    let mut status = world.status(tile);
    for _ in 0..10_000 {
        if status != Status::Runs as u64 {
            break;
        }
        world.step();
        status = world.status(tile);
    }
    if status == Status::Ended as u64 {
        return false;
    }
    assert_eq!(status, Status::Stopped as u64, "it stops");
    assert_eq!(work(world, tile.into()).state(), "stopped");
    true
}

/// Another activity uses the accelerator, and the first one goes on.
fn change_activities(world: &mut World) {
    if !stop(world, 1) {
        return;
    }
    // Neither the logic nor a command goes on.
    assert!(world.arounds[1].events.is_empty());
    let local = memory_of(true) as usize;
    let buffers = FILTER + local as u64;
    let context: [u64; CONTEXT_WORDS] = world.registers(1, ACCELERATOR_REGISTERS + CONTEXT);
    world.copy(Command::Read, 1, 0, FILTER, local);
    world.copy(Command::Read, 1, ANSWERS_BUFFER, buffers, BUFFERS);
    let answers: [u64; 4] = world.registers(1, dtu::endpoint_word(3, 0));
    world.set_registers(1, dtu::current(0), &[NO_ACTIVITY.into()]);
    world.arounds[1].memory.fill(0x55);
    let other = [0x99; CONTEXT_WORDS];
    world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &other);
    world.copy(Command::Write, 1, 0, FILTER, local);
    world.copy(Command::Write, 1, ANSWERS_BUFFER, buffers, BUFFERS);
    world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &context);
    let again: [u64; 4] = world.registers(1, dtu::endpoint_word(3, 0));
    assert_eq!(answers, again);
    world.set_registers(1, dtu::current(0), &[ACTIVITY.into()]);
    world.control(1, Control::Continue);
}

#[test]
fn activities_share_an_accelerator() {
    stop_at_each_event(COMPUTE / 1000, BLOCK);
}

/// The logic waits for the next block, so that its output is written early.
#[test]
fn activities_share_an_accelerator_that_waits_for_input() {
    stop_at_each_event(1, BLOCK);
    stop_at_each_event(1, 700);
}

fn stop_at_each_event(cycles: u64, piece: u64) {
    let size = 4 * BLOCK + 10;
    let (mut moments, mut is_over) = (0, false);
    // The activity is stopped at each event of the machine.
    for stop_at in 0.. {
        let mut world = World::with_buffers(vec![(Box::new(Takes(cycles)), true)]);
        world.chain(1, (IN, size), (OUT, ROOM));
        let bytes = input(&mut world, size);
        let mut server = Server::new(size, piece);
        start(&mut world);
        let mut events = 0;
        loop {
            if events == stop_at && world.status(1) == Status::Runs as u64 {
                change_activities(&mut world);
            }
            is_over = events < stop_at;
            events += 1;
            // One event more, and what the server has to do with it.
            if let Some(asked) = world.asked_now() {
                let answer =
                    server.answer(asked.label, asked.request.operation, asked.request.first);
                assert_eq!(world.answer(&asked, answer), Ok(0));
            } else if !world.step() {
                break;
            }
        }
        assert_eq!(
            world.status(1),
            Status::Ended as u64,
            "stopped at {stop_at}"
        );
        assert_eq!((server.written, server.ended), (size, true));
        check_output(&mut world, &bytes, 1);
        moments = stop_at;
        if is_over {
            break;
        }
    }
    assert!(is_over && moments > 70, "{moments}");
}

/// A stage in the middle of a chain is stopped at events, and its words are elsewhere for a while.
#[test]
fn a_stage_goes_on_with_its_context() {
    let size = 5 * BLOCK + 10;
    for (cycles, two) in [
        ([1000, 200, 5856], [true, true, false]),
        ([5856, 200, 1000], [false, true, true]),
    ] {
        let (mut stops, mut is_over) = (0, false);
        for stop_at in (0..).step_by(3) {
            let stages = std::array::from_fn::<_, 3, _>(|n| {
                (Box::new(Takes(cycles[n])) as Box<dyn Accelerator>, two[n])
            });
            let mut world = World::with_buffers(stages.into());
            world.chain(3, (IN, size), (OUT, ROOM));
            let bytes = input(&mut world, size);
            let mut server = Server::new(size, 2 * BLOCK);
            start(&mut world);
            let mut events = 0;
            loop {
                let runs = Status::Runs as u64;
                if events == stop_at && world.status(2) == runs && stop(&mut world, 2) {
                    let context: [u64; CONTEXT_WORDS] =
                        world.registers(2, ACCELERATOR_REGISTERS + CONTEXT);
                    let other = [0x99; CONTEXT_WORDS];
                    world.set_registers(2, ACCELERATOR_REGISTERS + CONTEXT, &other);
                    world.set_registers(2, ACCELERATOR_REGISTERS + CONTEXT, &context);
                    world.control(2, Control::Continue);
                    stops += 1;
                }
                is_over = events < stop_at;
                events += 1;
                if let Some(asked) = world.asked_now() {
                    let request = asked.request;
                    let answer = server.answer(asked.label, request.operation, request.first);
                    assert_eq!(world.answer(&asked, answer), Ok(0));
                } else if !world.step() {
                    break;
                }
            }
            let ended = (1..=3).all(|tile| world.status(tile) == Status::Ended as u64);
            assert!(ended, "stopped at {stop_at}");
            assert_eq!((server.written, server.ended), (size, true));
            check_output(&mut world, &bytes, 3);
            if is_over {
                break;
            }
        }
        assert!(is_over && stops > 60, "{stops}");
    }
}

#[test]
fn errors_end_the_activity_alone() {
    let size = 6 * BLOCK;
    // The server refuses one of the requests, or grants what the endpoints do not reach.
    for bad in 0..12 {
        for answer in [
            Answer {
                error: 5,
                ..Answer::default()
            },
            Answer {
                offset: u64::MAX,
                length: u64::MAX,
                ..Answer::default()
            },
        ] {
            let mut world = chain(&[true], size);
            let bytes = input(&mut world, size);
            start(&mut world);
            let mut server = Server::new(size, BLOCK);
            let mut requests = 0;
            while let Some(asked) = world.asked() {
                let good = server.answer(asked.label, asked.request.operation, asked.request.first);
                let answer = if requests == bad { answer } else { good };
                assert_eq!(world.answer(&asked, answer), Ok(0));
                requests += 1;
            }
            assert_eq!(world.status(1), Status::Failed as u64, "request {bad}");
            // The next activity has nothing of that, and the logic is free. Answers of the last one may be there.
            world.empty_buffers(1);
            start(&mut world);
            Server::new(size, BLOCK).run(&mut world);
            assert_eq!(world.status(1), Status::Ended as u64);
            check_output(&mut world, &bytes, 1);
        }
    }
}

/// The message to the root is among those that were sent.
#[test]
fn the_root_is_told_of_the_end() {
    const NOTICE: u16 = 99;
    for refuses in [false, true] {
        let mut world = chain(&[true], BLOCK);
        world.tell_root(1, NOTICE);
        start(&mut world);
        let mut server = Server::new(BLOCK, BLOCK);
        let (mut told, mut requests) = (vec![], 0);
        while let Some(asked) = world.asked() {
            if asked.label == u64::from(NOTICE) {
                told.push(asked.request.operation as u64);
                continue;
            }
            requests += 1;
            let mut answer =
                server.answer(asked.label, asked.request.operation, asked.request.first);
            answer.error = refuses.into();
            assert_eq!(world.answer(&asked, answer), Ok(0));
        }
        let status = world.status(1);
        assert_eq!(told, [status]);
        assert_eq!(status == Status::Failed as u64, refuses);
        assert_eq!(work(&world, 1).sent, requests + 1);
    }
}

/// Makes more than a buffer holds.
struct Doubles;

impl Accelerator for Doubles {
    fn block(&self, _: &mut [u8], size: usize, _is_last: bool) -> Computed {
        Computed::bytes(2 * size)
    }
}

#[test]
fn output_stays_in_its_buffer() {
    for (size, status) in [(BLOCK / 2, Status::Ended), (BLOCK, Status::Failed)] {
        let mut world = World::with_buffers(vec![(Box::new(Doubles), true)]);
        world.chain(1, (IN, size), (OUT, ROOM));
        start(&mut world);
        Server::new(size, BLOCK).run(&mut world);
        assert_eq!(world.status(1), status as u64);
    }
}

/// The root may write any context: the activity ends, or waits.
#[test]
fn no_context_harms() {
    for phase in 0..18 {
        for flags in 0..256 {
            for value in [0, BLOCK, u64::MAX] {
                let mut world = chain(&[true], BLOCK);
                let mut context = [value; CONTEXT_WORDS];
                (context[0], context[1]) = (phase, flags);
                world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &context);
                world.control(1, Control::Continue);
                let mut answers = 0;
                while let Some(asked) = world.asked() {
                    world.answer(&asked, Answer::default()).unwrap();
                    answers += 1;
                    assert!(
                        answers < 10,
                        "phase {phase}, {flags:#x}, words of {value:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_snapshot_goes_on_alike() {
    let size = 3 * BLOCK;
    for at in 0..8 {
        let mut world = chain(&[true], size);
        let bytes = input(&mut world, size);
        start(&mut world);
        let mut server = Server::new(size, BLOCK);
        let mut requests = 0;
        while let Some(asked) = world.asked() {
            if requests == at {
                let saved = world.accelerators[0].save();
                world.accelerators[0].reset();
                assert_ne!(world.accelerators[0].save(), saved);
                world.accelerators[0].load(&saved).unwrap();
                assert_eq!(world.accelerators[0].save(), saved);
            }
            requests += 1;
            let answer = server.answer(asked.label, asked.request.operation, asked.request.first);
            world.answer(&asked, answer).unwrap();
        }
        assert!(requests > at);
        assert_eq!(world.status(1), Status::Ended as u64);
        check_output(&mut world, &bytes, 1);
    }
}
