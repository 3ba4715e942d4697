//! Random requests of several clients for data, compared with files that are vectors.
use std::collections::BTreeMap;

use flick_abi::card::rights;
use flick_abi::file_protocol::{Operation, Request};
use flick_abi::file_session::flags;

use super::{Ram, Random, SMALL, check_blocks, files, read_all};
use crate::blocks::Run;
use crate::file_system::Node;
use crate::{BLOCK, Failure, FileSystem, OPEN_FILES_OF_SESSION, Reply};

/// Names, and data of files by number.
#[derive(Default)]
struct Model {
    names: BTreeMap<Vec<u8>, usize>,
    data: Vec<Vec<u8>>,
    /// Of each open file: the session, the number, the model's file, flags, position, and its piece.
    open: Vec<OpenModel>,
}

#[derive(Clone, Debug)]
struct OpenModel {
    session: u8,
    file: u64,
    data: usize,
    flags: u64,
    position: u64,
    piece: Option<(Reply, Vec<u8>, bool)>,
    /// What its client can reach, also behind a commit: offset and length.
    shown: (u64, u64),
}

/// What a client does to its piece, so that its server learns the same.
fn use_piece(model: &mut Model, n: usize, ram: &mut Ram, used: u64) {
    let Some((Reply::Piece { offset, .. }, bytes, is_behind)) = model.open[n].piece.take() else {
        return;
    };
    let position = model.open[n].position as usize;
    let data = &mut model.data[model.open[n].data];
    if bytes.is_empty() {
        // It has read.
        model.open[n].position += used;
        return;
    }
    let used = used as usize;
    let stored = &ram.0[offset as usize..][..used];
    assert_eq!(stored, &bytes[..used]);
    if is_behind {
        assert_eq!(data.len(), position);
        data.extend_from_slice(&bytes[..used]);
    }
    model.open[n].position += used as u64;
}

fn fill(random: &mut Random, size: usize) -> Vec<u8> {
    let seed = random.below(256) as u8;
    (0..size).map(|n| seed.wrapping_add(n as u8)).collect()
}

#[test]
fn data_are_those_of_a_model() {
    for seed in 1..40_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut files, mut ram) = files(SMALL);
        let mut model = Model::default();
        for _ in 0..1000 {
            step_of_data(&mut files, &mut model, &mut ram, &mut random);
            check_blocks(&files, SMALL);
            check_shown(&mut files, &mut model);
        }
        for session in 0..3 {
            let mut from = 0;
            while let Some(file) = files.any_of(session, from) {
                files.close(session, file).unwrap();
                from = file;
            }
        }
        for (name, file) in model.names.clone() {
            let expected = &model.data[file];
            assert_eq!(&read_all(&mut files, &ram, &name), expected, "{name:?}");
            files.unlink(&name).unwrap();
        }
        check_blocks(&files, SMALL);
        assert_eq!(files.extents.blocks.free(), SMALL.blocks);
    }
}

/// Clients reach blocks of their own files alone.
fn check_shown(files: &mut FileSystem, model: &mut Model) {
    while let Some(file) = files.next_to_hide() {
        for open in model.open.iter_mut().filter(|open| open.file == file) {
            open.shown = (0, 0);
        }
    }
    for open in &model.open {
        let name = model.names.iter().find(|(_, data)| **data == open.data);
        let node = files.find(name.unwrap().0).unwrap();
        let Node::File(contents) = files.held(node).node else {
            panic!("no file");
        };
        let runs = files.extents.runs(&contents);
        let (offset, length) = open.shown;
        for block in offset / BLOCK..(offset + length).div_ceil(BLOCK) {
            let is_its = |run: &Run| (run.start..run.start + run.count).contains(&(block as u32));
            assert!(
                runs.iter().any(is_its),
                "block {block} is no more the file's"
            );
        }
    }
}

fn step_of_data(files: &mut FileSystem, model: &mut Model, ram: &mut Ram, random: &mut Random) {
    let count = model.open.len() as u64;
    if count == 0 || random.below(12) == 0 {
        return open_one(files, model, random);
    }
    let n = random.below(count) as usize;
    let OpenModel {
        session,
        file,
        data,
        flags,
        ..
    } = model.open[n];
    match random.below(16) {
        0 => {
            // What was not committed is as if it had not been, if it was behind the end.
            files.close(session, file).unwrap();
            model.open.remove(n);
        }
        1 => {
            let size = random.below(40_000);
            let resized = files.resize(session, file, size, ram);
            let may = flags & flags::WRITE != 0;
            assert_eq!(resized == Err(Failure::BadFile), !may);
            if may {
                for open in model.open.iter_mut().filter(|open| open.data == data) {
                    open.piece = None;
                }
                let size = size as usize;
                let kept = size.min(model.data[data].len());
                model.data[data].truncate(kept);
                if resized.is_ok() {
                    model.data[data].resize(size, 0);
                }
            }
        }
        2 => {
            let mut request = Request::new(Operation::Seek);
            (request.first, request.second) = (random.below(60_000), 0);
            let length = model.open[n]
                .piece
                .as_ref()
                .map_or(0, |(piece, ..)| match piece {
                    Reply::Piece { length, .. } => *length,
                    Reply::Words(..) => 0,
                });
            use_piece(model, n, ram, length);
            let to = files.request(file, &request, ram);
            assert_eq!(to, Ok(Reply::Words(request.first, 0)));
            model.open[n].position = request.first;
        }
        3..7 => {
            let length = match model.open[n].piece {
                Some((Reply::Piece { length, .. }, ..)) => length,
                _ => 0,
            };
            let used = if random.below(9) == 0 {
                length + 1
            } else {
                random.below(length + 1)
            };
            let mut request = Request::new(Operation::Commit);
            request.first = used;
            let done = files.request(file, &request, ram);
            if used > length {
                assert_eq!(done, Err(Failure::Invalid));
            } else {
                assert_eq!(done, Ok(Reply::Words(0, used)));
                use_piece(model, n, ram, used);
            }
        }
        7..12 => next_piece(files, model, ram, random, (n, rights::WRITE)),
        12..14 => next_piece(files, model, ram, random, (n, rights::WRITE | rights::READ)),
        _ => next_piece(files, model, ram, random, (n, rights::READ)),
    }
}

fn open_one(files: &mut FileSystem, model: &mut Model, random: &mut Random) {
    let path = vec![b'/', b'a' + random.below(6) as u8];
    let session = random.below(3) as u8;
    let how = random.below(64) & !flags::EXCLUSIVE | flags::CREATE;
    match files.open(session, &path, how) {
        Ok((file, size)) => {
            let data = model.names.get(&path).copied().unwrap_or_else(|| {
                model.data.push(vec![]);
                model.data.len() - 1
            });
            model.names.insert(path, data);
            if how & flags::TRUNCATE != 0 && how & flags::WRITE != 0 {
                model.data[data].clear();
                for open in model.open.iter_mut().filter(|open| open.data == data) {
                    open.piece = None;
                }
            }
            assert_eq!(size, model.data[data].len() as u64);
            model.open.push(OpenModel {
                session,
                file,
                data,
                flags: how,
                position: 0,
                piece: None,
                shown: (0, 0),
            });
        }
        Err(failure) => {
            let own = model.open.iter().filter(|open| open.session == session);
            assert_eq!(
                (failure, own.count()),
                (Failure::TooMany, OPEN_FILES_OF_SESSION)
            );
        }
    }
}

fn next_piece(
    files: &mut FileSystem,
    model: &mut Model,
    ram: &mut Ram,
    random: &mut Random,
    (n, wanted): (usize, u64),
) {
    let length = match model.open[n].piece {
        Some((Reply::Piece { length, .. }, ..)) => length,
        _ => 0,
    };
    use_piece(model, n, ram, length);
    let OpenModel {
        file, data, flags, ..
    } = model.open[n];
    let operation = match wanted {
        rights::READ => Operation::NextIn,
        rights::WRITE => Operation::NextOut,
        _ => Operation::NextInOut,
    };
    let reply = files.request(file, &Request::new(operation), ram);
    if wanted & !flags != 0 {
        return assert_eq!(reply, Err(Failure::BadFile));
    }
    let writes = wanted & rights::WRITE != 0;
    let end = model.data[data].len();
    let position = match writes && flags & flags::APPEND != 0 {
        true => end,
        false => model.open[n].position as usize,
    };
    let others = model.open.iter().any(|open| {
        open.data == data
            && open
                .piece
                .as_ref()
                .is_some_and(|(.., is_behind)| *is_behind)
    });
    match reply {
        Err(Failure::Exists) => return assert!(others && writes && position >= end),
        Err(Failure::NoSpace) => {
            assert!(writes && position >= end);
            // What is in front of the piece may have been filled.
            let Ok(Reply::Words(_, size)) =
                files.request(file, &Request::new(Operation::Stat), ram)
            else {
                panic!("no size");
            };
            assert!(size as usize == end || size as usize == position);
            return model.data[data].resize(size as usize, 0);
        }
        _ => model.open[n].position = position as u64,
    }
    let Ok(Reply::Piece {
        offset,
        length,
        rights,
    }) = reply
    else {
        panic!("{reply:?}");
    };
    let (from, to) = (offset as usize, (offset + length) as usize);
    if !writes {
        let left = end.saturating_sub(position);
        assert_eq!(length == 0, left == 0);
        assert!(length as usize <= left);
        if length > 0 {
            assert_eq!(
                &ram.0[from..to],
                &model.data[data][position..][..length as usize]
            );
            assert_eq!(rights, rights::READ);
        }
    } else {
        assert!(length > 0);
        assert_eq!(rights, wanted);
        if position > end {
            assert!(!others);
            model.data[data].resize(position, 0);
        }
    }
    let is_behind = writes && position >= end;
    let mut bytes = vec![];
    if writes {
        // The client writes to all of it, whatever it commits.
        bytes = fill(random, length as usize);
        ram.0[from..to].copy_from_slice(&bytes);
        if !is_behind {
            assert!(position + length as usize <= end);
            model.data[data][position..][..length as usize].copy_from_slice(&bytes);
        }
    }
    // Bytes of two clients at once in the same place are of the last one.
    for (m, open) in model.open.iter_mut().enumerate() {
        if m != n
            && open.data == data
            && let Some((Reply::Piece { offset, .. }, kept, false)) = &mut open.piece
        {
            let size = kept.len();
            kept.copy_from_slice(&ram.0[*offset as usize..][..size]);
        }
    }
    if length > 0 {
        model.open[n].shown = (offset, length);
    }
    model.open[n].piece = (length > 0).then_some((reply.unwrap(), bytes, is_behind));
}

#[test]
fn clients_share_a_position() {
    let (mut files, mut ram) = files(SMALL);
    let how = flags::READ | flags::WRITE | flags::CREATE;
    let (file, _) = files.open(0, b"/f", how).unwrap();
    files.resize(0, file, 3 * BLOCK, &mut ram).unwrap();
    let shared = files.share(0, file, 77).unwrap();
    // The key, and one client alone.
    assert_eq!(files.adopt(1, shared, 76), Err(Failure::BadFile));
    assert_eq!(files.adopt(1, file, 77), Err(Failure::BadFile));
    assert_eq!(files.adopt(1, shared, 77), Ok(how | flags::SHARED));
    assert_eq!(files.adopt(1, shared, 77), Err(Failure::BadFile));
    assert_eq!(files.close(0, shared), Err(Failure::BadFile));
    let mut ask = |file, operation, first, second| {
        let request = Request {
            operation,
            first,
            second,
        };
        files.request(file, &request, &mut ram)
    };
    assert!(ask(file, Operation::NextIn, 0, 0).is_ok());
    // One of them has a piece at a time.
    for operation in [Operation::NextIn, Operation::NextOut, Operation::Seek] {
        assert_eq!(ask(shared, operation, 0, 0), Err(Failure::Busy));
    }
    assert_eq!(
        ask(file, Operation::Commit, 100, 0),
        Ok(Reply::Words(0, 100))
    );
    assert_eq!(ask(shared, Operation::Seek, 0, 1), Ok(Reply::Words(100, 0)));
    assert_eq!(ask(shared, Operation::Seek, 5, 0), Ok(Reply::Words(5, 0)));
    assert_eq!(ask(file, Operation::Seek, 1, 1), Ok(Reply::Words(6, 0)));
    // The position stays with the last of them.
    files.close(0, file).unwrap();
    files.open(0, b"/f", how).unwrap();
    let request = Request {
        operation: Operation::Seek,
        first: 0,
        second: 1,
    };
    let position = files.request(shared, &request, &mut ram);
    assert_eq!(position, Ok(Reply::Words(6, 0)));
    // A session has no more by sharing.
    let more = core::iter::from_fn(|| files.share(1, shared, 0).ok()).count();
    assert_eq!(more, OPEN_FILES_OF_SESSION - 1);
    let own = files.share(0, file, 1).unwrap();
    assert_eq!(files.adopt(1, own, 1), Err(Failure::TooMany));
    assert_eq!(files.adopt(2, own, 1), Ok(how | flags::SHARED));
    // Who gave it away has it no more.
    files.open(2, b"/g", how).unwrap();
    let (alone, _) = files.open(0, b"/g", how).unwrap();
    let shared = files.share(0, alone, 9).unwrap();
    files.close(0, alone).unwrap();
    assert_eq!(files.adopt(2, shared, 9), Ok(how));
    check_blocks(&files, SMALL);
}
