//! Random readers and writers of a pipe: what goes in comes out, in this order and once.
use flick_abi::file_protocol::{DOES_NOT_WAIT, Operation, Request};
use flick_abi::file_session::ready;

use super::Random;
use crate::{ENDS, Failure, PIPE_SIZE, PIPES, Pipes, Reply, Side};

struct Client {
    end: u64,
    side: Side,
    /// Its piece: offset and length.
    piece: Option<(u64, u64)>,
    waits: bool,
}

struct World {
    pipes: Pipes,
    ring: Vec<u8>,
    clients: Vec<Client>,
    written: Vec<u8>,
    read: Vec<u8>,
    ends: usize,
}

const NEXT: [Operation; 2] = [Operation::NextIn, Operation::NextOut];

impl World {
    fn new(readers: usize, writers: usize) -> Self {
        let mut pipes = Pipes::new();
        let sides = [(Side::Reads, readers), (Side::Writes, writers)];
        let sides = sides.iter().flat_map(|&(side, count)| vec![side; count]);
        let clients = sides.map(|side| {
            let (end, _) = pipes.open(0, b"/p", side).unwrap();
            Client {
                end,
                side,
                piece: None,
                waits: false,
            }
        });
        let clients = clients.collect();
        Self {
            pipes,
            ring: vec![0; PIPE_SIZE as usize],
            clients,
            written: vec![],
            read: vec![],
            ends: 0,
        }
    }

    /// The client uses the first bytes of its piece.
    fn use_piece(&mut self, n: usize, used: u64, random: &mut Random) {
        let Some((offset, length)) = self.clients[n].piece.take() else {
            return;
        };
        let range = offset as usize..(offset + used) as usize;
        match self.clients[n].side {
            Side::Reads => self.read.extend_from_slice(&self.ring[range]),
            Side::Writes => {
                let all = offset as usize..(offset + length) as usize;
                self.ring[all].fill_with(|| random.below(256) as u8);
                self.written.extend_from_slice(&self.ring[range]);
            }
        }
    }

    fn got(&mut self, n: usize, reply: Result<Reply, Failure>) {
        match reply {
            Ok(Reply::Piece { length: 0, .. }) => {
                assert_eq!(self.clients[n].side, Side::Reads);
                self.ends += 1;
            }
            Ok(Reply::Piece {
                offset,
                length,
                rights,
            }) => {
                let side = self.clients[n].side;
                assert_eq!(rights, side as u64 + 1);
                let count = self
                    .clients
                    .iter()
                    .filter(|client| client.side == side)
                    .count();
                assert!(
                    length <= PIPE_SIZE / 4 && offset + length <= PIPE_SIZE,
                    "{count}"
                );
                let holders = self
                    .clients
                    .iter()
                    .filter(|client| client.side == side && client.piece.is_some());
                assert_eq!(holders.count(), 0, "one client of a side has a piece");
                self.clients[n].piece = Some((offset, length));
            }
            Err(Failure::NoReader) => assert_eq!(self.clients[n].side, Side::Writes),
            other => panic!("{other:?}"),
        }
    }

    fn late(&mut self) {
        while let Some(late) = self.pipes.next_late() {
            let n = late.token as usize;
            assert!(core::mem::take(&mut self.clients[n].waits));
            self.got(n, late.reply);
        }
    }

    fn step(&mut self, random: &mut Random) {
        let n = random.below(self.clients.len() as u64) as usize;
        let Client {
            end,
            side,
            piece,
            waits,
        } = self.clients[n];
        if waits {
            return;
        }
        let length = piece.map_or(0, |(_, length)| length);
        if random.below(3) == 0 {
            let used = random.below(length + 1);
            let mut request = Request::new(Operation::Commit);
            request.first = used;
            self.use_piece(n, used, random);
            let done = self.pipes.request(end, &request, n as u64);
            assert_eq!(done, Ok(Some(Reply::Words(0, used))));
        } else {
            self.use_piece(n, length, random);
            let next = Request::new(NEXT[side as usize]);
            match self.pipes.request(end, &next, n as u64) {
                Ok(None) => self.clients[n].waits = true,
                Ok(Some(reply)) => self.got(n, Ok(reply)),
                Err(failure) => self.got(n, Err(failure)),
            }
        }
        self.late();
    }
}

#[test]
fn what_goes_in_comes_out_once_and_in_order() {
    for seed in 1..60_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (readers, writers) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
        let mut world = World::new(readers, writers);
        for _ in 0..400 {
            world.step(&mut random);
            let all = world.written.starts_with(&world.read);
            assert!(all, "seed {seed}");
        }
        // Writers end, in one way or the other. Readers get the rest, and then the end.
        for n in readers..readers + writers {
            let end = world.clients[n].end;
            if seed % 2 == 0 && !world.clients[n].waits {
                let length = world.clients[n].piece.map_or(0, |(_, length)| length);
                world.use_piece(n, length, &mut random);
                world
                    .pipes
                    .request(end, &Request::new(Operation::End), 99)
                    .unwrap();
            } else {
                world.clients[n].piece = None;
                let waits = core::mem::take(&mut world.clients[n].waits);
                assert_eq!(
                    world.pipes.close(0, end).unwrap(),
                    waits.then_some(n as u64)
                );
            }
            world.late();
        }
        while world.ends < readers {
            let n = random.below(readers as u64) as usize;
            if world.clients[n].waits {
                continue;
            }
            let length = world.clients[n].piece.map_or(0, |(_, length)| length);
            world.use_piece(n, length, &mut random);
            let next = Request::new(Operation::NextIn);
            match world
                .pipes
                .request(world.clients[n].end, &next, n as u64)
                .unwrap()
            {
                None => world.clients[n].waits = true,
                Some(reply) => world.got(n, Ok(reply)),
            }
            world.late();
        }
        assert_eq!(world.read, world.written);
        assert!(!world.read.is_empty());
    }
}

#[test]
fn ends_that_go_are_told_to_the_other_side() {
    let mut pipes = Pipes::new();
    let next_in = Request::new(Operation::NextIn);
    let next_out = Request::new(Operation::NextOut);
    let (reader, is_new) = pipes.open(1, b"/a", Side::Reads).unwrap();
    assert!(is_new);
    // There has been no writer: it waits for one.
    assert_eq!(pipes.request(reader, &next_in, 7), Ok(None));
    assert_eq!(pipes.request(reader, &next_in, 8), Err(Failure::Busy));
    assert_eq!(pipes.next_late(), None);
    let (writer, is_new) = pipes.open(2, b"/a", Side::Writes).unwrap();
    assert!(!is_new);
    assert_eq!(pipes.request(writer, &next_in, 9), Err(Failure::BadFile));
    assert_eq!(
        pipes.request(writer, &Request::new(Operation::Seek), 9),
        Err(Failure::NoSeek)
    );
    assert_eq!(
        pipes.close(1, writer),
        Err(Failure::BadFile),
        "another session's"
    );
    assert_eq!(pipes.close(1, reader), Ok(Some(7)));
    assert_eq!(pipes.request(writer, &next_out, 9), Err(Failure::NoReader));
    assert_eq!(pipes.any_of(2, 0), Some(writer));
    pipes.close(2, writer).unwrap();
    assert_eq!(pipes.any_of(2, 0), None);
    // The pipe is gone with its ends, and another one has its name.
    assert!(pipes.open(1, b"/a", Side::Reads).unwrap().1);
    // Pipes without names are new ones.
    assert!(pipes.open(1, b"", Side::Reads).unwrap().1);
    assert!(pipes.open(1, b"", Side::Reads).unwrap().1);
    let mut count = 0;
    while pipes.open(1, b"", Side::Reads).is_ok() {
        count += 1;
    }
    assert_eq!(count, PIPES * 3 / 4 - 3);
    assert_eq!(
        pipes.open(1, &[b'x'; 60], Side::Reads),
        Err(Failure::NameTooLong)
    );
    for end in [32, u64::MAX] {
        assert_eq!(pipes.request(end, &next_in, 0), Err(Failure::BadFile));
    }
}

#[test]
fn a_writer_waits_for_a_reader() {
    let mut pipes = Pipes::new();
    let (writer, _) = pipes.open(0, b"/p", Side::Writes).unwrap();
    let next_out = Request::new(Operation::NextOut);
    assert_eq!(pipes.request(writer, &next_out, 1), Ok(None));
    assert_eq!(pipes.next_late(), None);
    let (reader, _) = pipes.open(0, b"/p", Side::Reads).unwrap();
    assert!(pipes.next_late().unwrap().reply.is_ok());
    pipes
        .request(writer, &Request::new(Operation::End), 2)
        .unwrap();
    pipes.close(0, writer).unwrap();
    // What was written is there.
    let next_in = Request::new(Operation::NextIn);
    let Ok(Some(Reply::Piece { length, .. })) = pipes.request(reader, &next_in, 3) else {
        panic!("no piece");
    };
    assert_eq!(length, PIPE_SIZE / 4);
}

#[test]
fn a_writer_waits_for_room() {
    let mut pipes = Pipes::new();
    let (reader, _) = pipes.open(0, b"/p", Side::Reads).unwrap();
    let (writer, _) = pipes.open(0, b"/p", Side::Writes).unwrap();
    let next_out = Request::new(Operation::NextOut);
    for n in 0..4 {
        let piece = Reply::Piece {
            offset: n * PIPE_SIZE / 4,
            length: PIPE_SIZE / 4,
            rights: 2,
        };
        assert_eq!(pipes.request(writer, &next_out, 1), Ok(Some(piece)));
    }
    assert_eq!(pipes.request(writer, &next_out, 1), Ok(None));
    assert_eq!(pipes.next_late(), None);
    pipes
        .request(reader, &Request::new(Operation::NextIn), 2)
        .unwrap();
    assert_eq!(pipes.next_late(), None, "the reader has the piece still");
    let mut commit = Request::new(Operation::Commit);
    commit.first = 10;
    pipes.request(reader, &commit, 2).unwrap();
    let reply = Ok(Reply::Piece {
        offset: 0,
        length: 10,
        rights: 2,
    });
    assert_eq!(
        pipes.next_late().map(|late| (late.token, late.reply)),
        Some((1, reply))
    );
    assert_eq!(
        pipes.request(writer, &commit, 2),
        Ok(Some(Reply::Words(0, 10)))
    );
    assert_eq!(pipes.request(writer, &commit, 2), Err(Failure::Invalid));
}

#[test]
fn an_end_is_shared() {
    let mut pipes = Pipes::new();
    let (reader, _) = pipes.open(0, b"", Side::Reads).unwrap();
    let pipe = pipes.pipe_of(reader).unwrap();
    let writer = pipes.open_end(0, pipe, Side::Writes).unwrap();
    let shared = pipes.share(0, writer, 5).unwrap();
    pipes.close(0, writer).unwrap();
    // Nobody has adopted it yet, and there is no end all the same.
    let request = Request::new(Operation::NextIn);
    assert_eq!(pipes.request(reader, &request, 1), Ok(None));
    assert_eq!(pipes.adopt(1, shared, 4), Err(Failure::BadFile));
    assert_eq!(pipes.adopt(1, shared, 5), Ok((Side::Writes, false)));
    assert_eq!(pipes.adopt(2, shared, 5), Err(Failure::BadFile));
    assert!(pipes.next_late().is_none());
    pipes.close(1, shared).unwrap();
    assert_eq!(pipes.next_late().map(|late| late.token), Some(1));
}

#[test]
fn an_end_says_what_does_not_wait() {
    let mut pipes = Pipes::new();
    let (writer, _) = pipes.open(0, b"/p", Side::Writes).unwrap();
    let next = |operation| Request {
        first: DOES_NOT_WAIT,
        ..Request::new(operation)
    };
    assert_eq!(pipes.ready(1, writer), Err(Failure::BadFile));
    // It waits for a reader.
    assert_eq!(pipes.ready(0, writer), Ok(0));
    let refused = pipes.request(writer, &next(Operation::NextOut), 1);
    assert_eq!(refused, Err(Failure::Again));
    let (reader, _) = pipes.open(0, b"/p", Side::Reads).unwrap();
    assert_eq!(pipes.ready(0, writer), Ok(ready::WRITE));
    assert_eq!(pipes.ready(0, reader), Ok(0));
    let refused = pipes.request(reader, &next(Operation::NextIn), 2);
    assert_eq!(refused, Err(Failure::Again));
    assert!(pipes.request(writer, &next(Operation::NextOut), 3).is_ok());
    let commit = Request {
        first: 10,
        ..Request::new(Operation::Commit)
    };
    pipes.request(writer, &commit, 4).unwrap();
    assert_eq!(pipes.ready(0, reader), Ok(ready::READ));
    // Another reader has a piece.
    let (other, _) = pipes.open(0, b"/p", Side::Reads).unwrap();
    assert!(pipes.request(other, &next(Operation::NextIn), 5).is_ok());
    assert_eq!(pipes.ready(0, reader), Ok(0));
    pipes.close(0, other).unwrap();
    pipes.close(0, writer).unwrap();
    assert_eq!(pipes.ready(0, reader), Ok(ready::READ | ready::GONE));
    assert_eq!(pipes.ready(0, writer), Err(Failure::BadFile));
    assert!(pipes.next_late().is_none());
}

#[test]
fn a_client_leaves_pipes_to_others() {
    let mut pipes = Pipes::new();
    let fill = |pipes: &mut Pipes, session: u8| {
        let all = core::iter::from_fn(|| pipes.open(session, b"", Side::Reads).ok());
        all.count()
    };
    assert_eq!(fill(&mut pipes, 0), PIPES * 3 / 4);
    assert_eq!(fill(&mut pipes, 1), 3);
    assert_eq!(fill(&mut pipes, 2), 1);
    // Ends of a pipe that is there.
    let (end, _) = Pipes::new().open(0, b"p", Side::Reads).unwrap();
    let mut pipes = Pipes::new();
    assert_eq!(pipes.open(0, b"p", Side::Reads), Ok((end, true)));
    let more = |pipes: &mut Pipes, session: u8| {
        let all = core::iter::from_fn(|| pipes.open_end(session, 0, Side::Writes).ok());
        all.count()
    };
    assert_eq!(more(&mut pipes, 0), ENDS * 3 / 4 - 1);
    assert!(more(&mut pipes, 1) > 3 && more(&mut pipes, 2) > 0);
}
