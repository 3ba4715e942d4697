//! Streams from files to files, through one accelerator and through several.
use flick_abi::accelerator::{
    ANSWERS_BUFFER, BUFFERS, CONTEXT, CONTEXT_WORDS, Control, INPUT_REQUESTS, Status,
};
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, Command, NO_ACTIVITY};
use flick_abi::file_protocol::{Answer, Operation};
use flick_device::accelerator::{Accelerator, Computed, functions};

use crate::world::{ACTIVITY, BLOCK, COMPUTE, LOCAL, MEMORY, World};

pub const IN: u64 = MEMORY;
pub const OUT: u64 = MEMORY + 0x4_0000;
pub const FILTER: u64 = MEMORY + 0x8_0000;

/// Adds 1 to each byte, and says what the last block was.
pub struct AddOne;

impl Accelerator for AddOne {
    fn block(&self, memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        memory[..size]
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
        Computed::bytes(size)
    }
}

/// Files of the root: pieces of at most so many bytes.
pub struct Server {
    piece: u64,
    size: u64,
    read: u64,
    pub written: u64,
    granted: u64,
    pub ended: bool,
}

impl Server {
    pub fn new(size: u64, piece: u64) -> Self {
        Self {
            piece,
            size,
            read: 0,
            written: 0,
            granted: 0,
            ended: false,
        }
    }

    pub fn answer(&mut self, label: u64, operation: Operation, first: u64) -> Answer {
        let is_input = label == u64::from(INPUT_REQUESTS);
        let mut answer = Answer::default();
        match operation {
            Operation::NextIn if is_input => {
                answer.offset = self.read;
                answer.length = self.piece.min(self.size - self.read);
                self.read += answer.length;
            }
            Operation::NextOut if !is_input => {
                self.written += self.granted;
                (answer.offset, answer.length) = (self.written, self.piece);
                self.granted = self.piece;
            }
            Operation::Commit if !is_input => {
                assert!(first <= self.granted);
                self.written += first;
                self.granted = 0;
            }
            Operation::End if !is_input => {
                assert_eq!(self.granted, 0);
                self.ended = true;
            }
            other => panic!("{other:?} is no request of {label}"),
        }
        answer
    }

    pub fn run(&mut self, world: &mut World) {
        while let Some(asked) = world.asked() {
            let answer = self.answer(asked.label, asked.request.operation, asked.request.first);
            assert_eq!(world.answer(&asked, answer), Ok(0));
        }
    }
}

pub fn input(world: &mut World, size: u64) -> Vec<u8> {
    let bytes: Vec<u8> = (0..size).map(|n| (n * 7 + n / 251) as u8).collect();
    world.bytes(IN, bytes.len()).copy_from_slice(&bytes);
    bytes
}

/// A world with one accelerator between two files.
fn single(size: u64) -> World {
    let mut world = World::new(vec![Box::new(AddOne)]);
    world.chain(1, (IN, size), (OUT, 0x4_0000));
    world
}

/// The file for output has each byte of the input, and so much more.
pub fn check_output(world: &mut World, input: &[u8], more: u8) {
    let output = world.bytes(OUT, input.len());
    let mut both = output.iter().zip(input);
    assert!(both.all(|(out, byte)| *out == byte.wrapping_add(more)));
}

#[test]
fn a_file_becomes_a_file() {
    // Sizes and pieces that are whole blocks, and others.
    for size in [0, 1, BLOCK - 1, BLOCK, 5 * BLOCK, 5 * BLOCK + 100] {
        for piece in [512, BLOCK, 3 * BLOCK, 1000, 0x1_0000] {
            let mut world = single(size);
            let bytes = input(&mut world, size);
            let mut server = Server::new(size, piece);
            world.control(1, Control::Start);
            server.run(&mut world);
            assert_eq!(world.status(1), Status::Ended as u64, "{size} in {piece}");
            assert_eq!((server.written, server.ended), (size, true));
            check_output(&mut world, &bytes, 1);
        }
    }
}

#[test]
fn a_chain_needs_no_server_in_between() {
    let mut world = World::new(
        (0..3)
            .map(|_| Box::new(AddOne) as Box<dyn Accelerator>)
            .collect(),
    );
    let size = 9 * BLOCK + 77;
    let bytes = input(&mut world, size);
    world.chain(3, (IN, size), (OUT, 0x4_0000));
    let began = world.links.now;
    (1..4).for_each(|tile| world.control(tile, Control::Start));
    let mut server = Server::new(size, 0x2_0000);
    server.run(&mut world);
    assert_eq!(server.written, size);
    assert!((1..4).all(|tile| world.status(tile) == Status::Ended as u64));
    check_output(&mut world, &bytes, 3);
    // The accelerators compute at the same time: a stage more costs its first block alone.
    let blocks = size.div_ceil(BLOCK) + 2;
    let took = world.links.now - began;
    assert!(
        took < (blocks + 1) * COMPUTE * 21 / 20,
        "{took} ps for {blocks} blocks"
    );
}

#[test]
fn an_image_is_filtered() {
    let logics = ["fft", "mul", "ifft"].map(|name| functions::by_name(name).unwrap());
    let mut world = World::new(logics.into());
    let numbers: Vec<f32> = (0..1024).map(|n| (n * 31 % 255) as f32).collect();
    let image: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let size = image.len() as u64;
    world.bytes(IN, image.len()).copy_from_slice(&image);
    // A filter that doubles.
    let filter: Vec<u8> = [2.0_f32, 0.0]
        .repeat(256)
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    world.bytes(FILTER, filter.len()).copy_from_slice(&filter);
    world.copy(Command::Write, 2, BLOCK, FILTER, filter.len());
    world.chain(3, (IN, size), (OUT, size));
    (1..4).for_each(|tile| world.control(tile, Control::Start));
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

/// A kernel takes the accelerator from its activity for another one, and gives it back.
#[test]
fn activities_share_an_accelerator() {
    let size = 4 * BLOCK + 10;
    let mut steps = 0;
    // The activity is stopped at each request.
    for stop_at in 0.. {
        let mut world = single(size);
        let bytes = input(&mut world, size);
        let mut server = Server::new(size, BLOCK);
        world.control(1, Control::Start);
        let mut requests = 0;
        while let Some(asked) = world.asked() {
            let answer = server.answer(asked.label, asked.request.operation, asked.request.first);
            if requests == stop_at {
                world.control(1, Control::Stop);
                while world.status(1) != Status::Stopped as u64 {
                    assert!(world.step());
                }
                let context: [u64; CONTEXT_WORDS] =
                    world.registers(1, ACCELERATOR_REGISTERS + CONTEXT);
                world.copy(Command::Read, 1, 0, FILTER, LOCAL as usize);
                world.copy(Command::Read, 1, ANSWERS_BUFFER, FILTER + LOCAL, BUFFERS);
                world.set_registers(1, dtu::current(0), &[NO_ACTIVITY.into()]);
                // The answer comes while another activity is there, which leaves nothing as it was.
                assert_eq!(world.answer(&asked, answer), Err(dtu::Error::Gone));
                world.arounds[1].memory.fill(0x55);
                let other = [0x99; CONTEXT_WORDS];
                world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &other);
                world.copy(Command::Write, 1, 0, FILTER, LOCAL as usize);
                world.copy(Command::Write, 1, ANSWERS_BUFFER, FILTER + LOCAL, BUFFERS);
                world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &context);
                world.set_registers(1, dtu::current(0), &[ACTIVITY.into()]);
                world.control(1, Control::Continue);
            }
            assert_eq!(world.answer(&asked, answer), Ok(0));
            requests += 1;
        }
        assert_eq!(world.status(1), Status::Ended as u64);
        assert_eq!(server.written, size);
        check_output(&mut world, &bytes, 1);
        steps = requests;
        if stop_at >= requests {
            break;
        }
    }
    assert!(steps > 10);
}

#[test]
fn errors_end_the_activity_alone() {
    let size = 4 * BLOCK;
    for bad in 0..3 {
        let mut world = single(size);
        world.control(1, Control::Start);
        let asked = world.asked().unwrap();
        let answer = match bad {
            // The server has an error, or grants what the endpoint does not reach.
            0 => Answer {
                error: 5,
                ..Answer::default()
            },
            1 => Answer {
                offset: size - 1,
                length: 2,
                ..Answer::default()
            },
            _ => Answer {
                offset: u64::MAX,
                length: u64::MAX,
                ..Answer::default()
            },
        };
        assert_eq!(world.answer(&asked, answer), Ok(0));
        assert!(world.asked().is_none());
        assert_eq!(world.status(1), Status::Failed as u64);
        // The next activity has nothing of that.
        let bytes = input(&mut world, size);
        world.control(1, Control::Start);
        Server::new(size, BLOCK).run(&mut world);
        assert_eq!(world.status(1), Status::Ended as u64);
        check_output(&mut world, &bytes, 1);
    }
}

/// The root may write any context: the activity ends with an error, or waits.
#[test]
fn no_context_harms() {
    for phase in 0..18 {
        for value in [0, 1, BLOCK, LOCAL, u64::MAX] {
            let mut world = single(BLOCK);
            let mut context = [value; CONTEXT_WORDS];
            context[0] = phase;
            world.set_registers(1, ACCELERATOR_REGISTERS + CONTEXT, &context);
            world.control(1, Control::Continue);
            let mut answers = 0;
            while let Some(asked) = world.asked() {
                world.answer(&asked, Answer::default()).unwrap();
                answers += 1;
                assert!(answers < 10, "phase {phase}, words of {value:#x}");
            }
        }
    }
}

#[test]
fn a_snapshot_goes_on_alike() {
    let size = 3 * BLOCK;
    let mut world = single(size);
    input(&mut world, size);
    world.control(1, Control::Start);
    let mut server = Server::new(size, BLOCK);
    let asked = world.asked().unwrap();
    let saved = world.accelerators[0].save();
    world.accelerators[0].reset();
    assert_ne!(world.accelerators[0].save(), saved);
    world.accelerators[0].load(&saved).unwrap();
    assert_eq!(world.accelerators[0].save(), saved);
    assert!(world.accelerators[0].load(&saved[1..]).is_err());
    let answer = server.answer(asked.label, asked.request.operation, asked.request.first);
    world.answer(&asked, answer).unwrap();
    server.run(&mut world);
    assert_eq!(server.written, size);
}
