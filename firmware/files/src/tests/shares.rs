//! What a session may take: others have something left, and what is given back is free for all.
use flick_abi::file_protocol::{Operation, Request};
use flick_abi::file_session::flags;

use super::{Ram, Random, SMALL, check_blocks, files};
use crate::{BLOCK, Failure, FileSystem, Reply};

const WRITES: u64 = flags::READ | flags::WRITE | flags::CREATE | flags::APPEND;

/// Writes at the end of a file, up to so many bytes at once. Returns how many it may.
fn write(files: &mut FileSystem, ram: &mut Ram, file: u64, most: u64) -> Result<u64, Failure> {
    let session = files.session_of(file).unwrap();
    files.serve(session);
    let request = Request::new(Operation::NextOut);
    let Reply::Piece { length, .. } = files.request(file, &request, ram)? else {
        panic!("a piece");
    };
    let first = length.min(most);
    let commit = Request {
        first,
        ..Request::new(Operation::Commit)
    };
    files.request(file, &commit, ram).unwrap();
    Ok(first)
}

fn fill(files: &mut FileSystem, ram: &mut Ram, file: u64) -> u64 {
    core::iter::from_fn(|| write(files, ram, file, u64::MAX).ok()).sum::<u64>() / BLOCK
}

#[test]
fn a_client_leaves_blocks_to_others() {
    let (mut files, mut ram) = files(SMALL);
    let open = |files: &mut FileSystem, session: u8| {
        files.serve(session);
        let name = [b'a' + session];
        files.open(session, &name, WRITES).unwrap().0
    };
    let all = [0, 1, 2].map(|session| open(&mut files, session));
    let total = u64::from(SMALL.blocks);
    let first = fill(&mut files, &mut ram, all[0]);
    assert!(
        (total * 3 / 4..=total * 3 / 4 + 1).contains(&first),
        "{first}"
    );
    // A file of another one is charged to who writes there.
    files.serve(0);
    let (others, _) = files.open(0, b"b", WRITES).unwrap();
    assert_eq!(
        write(&mut files, &mut ram, others, 1),
        Err(Failure::NoSpace)
    );
    let second = fill(&mut files, &mut ram, all[1]);
    let third = fill(&mut files, &mut ram, all[2]);
    assert!(second >= (total - first) * 3 / 4 && second < total - first);
    assert!(third > 0 && first + second + third < total);
    assert_eq!(u64::from(files.extents.used(0).1), first);
    // It may take what it has given back.
    files.serve(0);
    files.resize(0, all[0], 10 * BLOCK, &mut ram).unwrap();
    assert_eq!(files.extents.used(0).1, 10);
    assert!(fill(&mut files, &mut ram, all[0]) > 100);
    // When it is over, its files stay, and count for nobody.
    for file in [all[0], others] {
        files.close(0, file).unwrap();
    }
    files.end_session(0);
    assert_eq!(files.extents.used(0), (0, 0));
    let again = open(&mut files, 0);
    assert!(fill(&mut files, &mut ram, again) > 0);
    files.serve(1);
    files.unlink(b"a").unwrap();
    files.close(0, again).unwrap();
    files.end_session(0);
    check_blocks(&files, SMALL);
}

#[test]
fn a_client_leaves_names_to_others() {
    let (mut files, _) = files(SMALL);
    let make = |files: &mut FileSystem, session: u8| {
        files.serve(session);
        let names =
            (0..).map(|n: u32| [&[b'a' + session][..], &n.to_le_bytes().map(|b| b | 128)].concat());
        names
            .take_while(|name| files.make_directory(name).is_ok())
            .count()
    };
    let made = [0, 1].map(|session| make(&mut files, session));
    assert!(made[0] >= 17 && made[0] <= 18, "{made:?}");
    assert!(made[1] >= 3, "{made:?}");
    assert!(made[0] + made[1] < SMALL.nodes - 1);
    // Other names of a file are names, too.
    files.serve(3);
    let (file, _) = files.open(3, b"file", WRITES).unwrap();
    files.close(3, file).unwrap();
    let links = (0..40_u8).take_while(|&n| files.link(b"file", &[b'l', b'a' + n]).is_ok());
    assert!(links.count() < SMALL.entries);
    files.serve(4);
    files.link(b"file", b"other").unwrap();
}

#[test]
fn shares_are_what_sessions_have() {
    let mut random = Random(0x0bad_cafe_1234_5677);
    let (mut files, mut ram) = files(SMALL);
    let mut open = vec![];
    for _ in 0..20_000 {
        let session = random.below(3) as u8;
        files.serve(session);
        let name = [b'a' + random.below(12) as u8];
        match random.below(8) {
            0 => open.extend(
                files
                    .open(session, &name, WRITES)
                    .ok()
                    .map(|(file, _)| (session, file)),
            ),
            1 if !open.is_empty() => {
                let (session, file) = open.swap_remove(random.below(open.len() as u64) as usize);
                files.close(session, file).unwrap();
            }
            2 => drop(files.unlink(&name)),
            3 if random.below(20) == 0 => {
                open.retain(|&(of, file)| of != session || files.close(of, file).is_err());
                files.end_session(session);
                assert_eq!(files.extents.used(session), (0, 0));
            }
            _ if !open.is_empty() => {
                let (_, file) = open[random.below(open.len() as u64) as usize];
                let most = random.below(40 * BLOCK);
                let _: Result<u64, Failure> = write(&mut files, &mut ram, file, most);
            }
            _ => {}
        }
        let used: u32 = (0..3).map(|session| files.extents.used(session).1).sum();
        assert!(used <= SMALL.blocks - files.extents.blocks.free());
    }
    for (session, file) in open {
        files.close(session, file).unwrap();
    }
    for n in 0..12 {
        let _: Result<(), Failure> = files.unlink(&[b'a' + n]);
    }
    for session in 0..3 {
        assert_eq!(files.extents.used(session), (0, 0));
    }
    assert_eq!(files.extents.blocks.free(), SMALL.blocks);
}
