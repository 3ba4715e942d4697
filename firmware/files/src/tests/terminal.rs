//! Readers and writers of a terminal.
use flick_abi::file_protocol::{DOES_NOT_WAIT, Operation, Request};
use flick_abi::file_session::ready;

use super::Random;
use crate::{
    Failure, INPUT_SIZE, OUTPUT_SIZE, Output, Reply, Side, TERMINAL_ENDS, TERMINAL_SIZE, Terminal,
};

struct World {
    terminal: Terminal,
    memory: Vec<u8>,
}

impl World {
    fn new() -> Self {
        Self {
            terminal: Terminal::new(),
            memory: vec![0; TERMINAL_SIZE as usize],
        }
    }

    fn ask(
        &mut self,
        end: u64,
        operation: Operation,
        first: u64,
    ) -> Result<Option<Reply>, Failure> {
        let request = Request {
            first,
            ..Request::new(operation)
        };
        self.terminal.request(end, &request, end)
    }

    fn arrive(&mut self, bytes: &[u8]) {
        let memory = &mut self.memory;
        let store = |offset: u64, bytes: &[u8]| {
            memory[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        };
        self.terminal.arrive(bytes, store).unwrap();
    }

    /// The bytes of a piece, or of the end.
    fn bytes(&self, reply: Reply) -> Vec<u8> {
        match reply {
            Reply::Piece { offset, length, .. } => {
                self.memory[offset as usize..][..length as usize].to_vec()
            }
            Reply::Words(..) => panic!("a piece"),
        }
    }

    /// The end that is answered late, and what it reads.
    fn late(&mut self) -> Option<(u64, Vec<u8>)> {
        let late = self.terminal.next_late()?;
        assert_eq!(late.end, late.token);
        Some((late.end, self.bytes(late.reply.unwrap())))
    }
}

#[test]
fn readers_get_lines_in_turn() {
    let mut world = World::new();
    let reader = world.terminal.open(0, Side::Reads).unwrap();
    let other = world.terminal.open(1, Side::Reads).unwrap();
    assert_eq!(world.terminal.wanted(), 0);
    assert_eq!(world.ask(reader, Operation::NextIn, 0), Ok(None));
    assert_eq!(world.terminal.wanted(), INPUT_SIZE);
    assert_eq!(world.ask(other, Operation::NextIn, 0), Ok(None));
    world.arrive(b"one\ntwo\nthr");
    assert_eq!(world.late(), Some((reader, b"one\n".to_vec())));
    // The other one waits for the piece.
    assert_eq!(world.late(), None);
    assert_eq!(world.terminal.ready(1, other), Ok(0));
    assert!(world.ask(reader, Operation::Commit, 2).is_ok());
    assert_eq!(world.late(), Some((other, b"e\n".to_vec())));
    assert_eq!(
        world
            .ask(other, Operation::NextIn, 0)
            .map(|r| r.map(|r| world.bytes(r))),
        Ok(Some(b"two\n".to_vec()))
    );
    world.terminal.close(1, other).unwrap();
    // What it had not used is there.
    let line = world.ask(reader, Operation::NextIn, 0).unwrap().unwrap();
    assert_eq!(world.bytes(line), b"two\n");
    let rest = world.ask(reader, Operation::NextIn, 0).unwrap().unwrap();
    assert_eq!(world.bytes(rest), b"thr");
    assert_eq!(
        world.ask(reader, Operation::NextIn, DOES_NOT_WAIT),
        Err(Failure::Again)
    );
    assert_eq!(world.ask(reader, Operation::NextIn, 0), Ok(None));
    // A byte that is one of the two, and the end, behind which nothing comes.
    world.arrive(b"\x16");
    assert_eq!(world.late(), None);
    world.arrive(b"\x04\x16\x16e\x04lost\n");
    assert_eq!(world.late(), Some((reader, b"\x04\x16e".to_vec())));
    world.arrive(b"lost\n");
    for _ in 0..2 {
        let end = world.ask(reader, Operation::NextIn, 0).unwrap().unwrap();
        assert_eq!(world.bytes(end), b"");
        assert_eq!(world.terminal.ready(0, reader), Ok(ready::READ));
    }
    assert_eq!(world.terminal.wanted(), 0);
}

#[test]
fn writers_have_buffers_of_their_own() {
    let mut world = World::new();
    let writers = [0, 1].map(|session| world.terminal.open(session, Side::Writes).unwrap());
    for end in writers {
        let piece = world.ask(end, Operation::NextOut, 0);
        let rights = Side::Writes as u64 + 1;
        let wanted = Reply::Piece {
            offset: 0,
            length: OUTPUT_SIZE,
            rights,
        };
        assert_eq!(piece, Ok(Some(wanted)));
        assert_eq!(world.terminal.take_output(), None);
    }
    for end in writers {
        let offset = INPUT_SIZE + end * OUTPUT_SIZE;
        assert_eq!(world.terminal.memory_of(end), Ok((offset, OUTPUT_SIZE)));
        assert_eq!(
            world.ask(end, Operation::Commit, OUTPUT_SIZE + 1),
            Err(Failure::Invalid)
        );
        assert!(world.ask(end, Operation::Commit, 7).is_ok());
        let length = 7;
        assert_eq!(
            world.terminal.take_output(),
            Some(Output { offset, length })
        );
        assert!(world.ask(end, Operation::NextOut, 0).is_ok());
        // A request says that all was used, and an end that is closed has used nothing.
        assert!(world.ask(end, Operation::NextOut, 0).is_ok());
        assert_eq!(
            world.terminal.take_output().map(|output| output.length),
            Some(OUTPUT_SIZE)
        );
        world.terminal.close(end as u8, end).unwrap();
        assert_eq!(world.terminal.take_output(), None);
    }
    assert_eq!(world.ask(0, Operation::NextOut, 0), Err(Failure::BadFile));
}

#[test]
fn all_input_is_read_once() {
    let mut random = Random(0x3141_5926_5358_9793);
    let mut world = World::new();
    let ends = [0, 0, 1].map(|session| world.terminal.open(session, Side::Reads).unwrap());
    let (mut sent, mut read) = (vec![], vec![]);
    let mut pieces = [0_usize; 3];
    let mut waits = [false; 3];
    for _ in 0..200_000 {
        let n = random.below(3) as usize;
        if !waits[n] {
            let used = random.below(pieces[n] as u64 + 1);
            // The bytes that it has not used come again.
            read.truncate(read.len() - (pieces[n] - used as usize));
            world.ask(ends[n], Operation::Commit, used).unwrap();
            pieces[n] = 0;
            match world.ask(ends[n], Operation::NextIn, 0).unwrap() {
                Some(reply) => {
                    let bytes = world.bytes(reply);
                    assert!(!bytes[..bytes.len() - 1].contains(&b'\n'));
                    pieces[n] = bytes.len();
                    read.extend(bytes);
                }
                None => waits[n] = true,
            }
        }
        let wanted = world.terminal.wanted();
        if wanted > 0 && random.below(4) == 0 {
            let size = random.below(wanted.min(300)) + 1;
            let bytes: Vec<_> = (0..size).map(|_| b'\n' + random.below(12) as u8).collect();
            world.arrive(&bytes);
            sent.extend(bytes);
        }
        while let Some((end, bytes)) = world.late() {
            let n = ends.iter().position(|&it| it == end).unwrap();
            waits[n] = false;
            pieces[n] = bytes.len();
            read.extend(bytes);
        }
        assert!(sent.starts_with(&read));
    }
    assert!(read.len() > 100_000);
}

#[test]
fn requests_of_all_kinds_leave_a_terminal_whole() {
    let mut random = Random(0x1111_2222_3333_4447);
    let mut world = World::new();
    for token in 0..300_000 {
        let session = random.below(3) as u8;
        let end = random.below(TERMINAL_ENDS as u64 + 2);
        let side = [Side::Reads, Side::Writes][random.below(2) as usize];
        let key = random.below(4);
        match random.below(10) {
            0 => drop(world.terminal.open(session, side)),
            1 => drop(world.terminal.close(session, end)),
            2 => drop(world.terminal.share(session, end, key)),
            3 => drop(world.terminal.adopt(session, end, key)),
            4 => drop(world.terminal.ready(session, end)),
            5 => {
                let size = random.below(world.terminal.wanted().min(100) + 1);
                let bytes: Vec<_> = (0..size).map(|_| random.below(255) as u8 | 32).collect();
                if size > 0 {
                    world.arrive(&bytes);
                }
            }
            _ => {
                let mut bytes = [0; 24];
                bytes[0] = random.below(7) as u8;
                bytes[8..16]
                    .copy_from_slice(&(random.below(u64::MAX) >> random.below(64)).to_le_bytes());
                let request = Request::from_bytes(&bytes).unwrap();
                let _: Result<Option<Reply>, Failure> =
                    world.terminal.request(end, &request, token);
            }
        }
        if let Some(Output { offset, length }) = world.terminal.take_output() {
            assert!(offset >= INPUT_SIZE && length <= OUTPUT_SIZE);
            assert!(offset + length <= TERMINAL_SIZE);
        }
        while world.terminal.next_late().is_some() {}
    }
    for session in 0..3 {
        while let Some(end) = world.terminal.any_of(session, 0) {
            world.terminal.close(session, end).unwrap();
        }
    }
    // Each session has its share, and all of them have all ends.
    let mut count = 0;
    for session in 0..TERMINAL_ENDS as u8 {
        let begun = count;
        while world.terminal.open(session, Side::Reads).is_ok() {
            count += 1;
        }
        assert!(count > begun || count == TERMINAL_ENDS);
    }
    assert_eq!(count, TERMINAL_ENDS);
    let left = world.terminal.open(u8::MAX, Side::Reads);
    assert_eq!(left, Err(Failure::TooMany));
}
