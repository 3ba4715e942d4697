//! Requests, paths and archives that no honest client or program makes: nothing panics, and no block is of two files.
use flick_abi::file_protocol::Request;

use super::{Random, SMALL, check_blocks, files, packed};
use crate::{Pipes, Side, unpack};

/// How many requests of each kind. `FLICK_FILE_REQUESTS=10000000` is the long run, in release.
fn requests() -> u64 {
    std::env::var("FLICK_FILE_REQUESTS").map_or(300_000, |text| {
        text.parse().expect("FLICK_FILE_REQUESTS is a number")
    })
}

fn word(random: &mut Random) -> u64 {
    let shift = random.below(64);
    match random.below(4) {
        0 => u64::MAX >> shift,
        1 => 1 << shift,
        _ => random.below(40),
    }
}

fn request(random: &mut Random) -> Request {
    let mut bytes = [0; 24];
    bytes[0] = random.below(7) as u8;
    bytes[8..16].copy_from_slice(&word(random).to_le_bytes());
    bytes[16..].copy_from_slice(&word(random).to_le_bytes());
    Request::from_bytes(&bytes).expect("the operation is known")
}

fn path(random: &mut Random) -> Vec<u8> {
    const PARTS: [&[u8]; 8] = [b"/", b"a", b"b", b"..", b".", b"\0", b"\xff", &[b'x'; 60]];
    let count = random.below(8);
    (0..count)
        .flat_map(|_| PARTS[random.below(8) as usize].to_vec())
        .collect()
}

#[test]
fn requests_of_all_kinds_leave_files_whole() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut files, mut ram) = files(SMALL);
    for n in 0..requests() {
        let session = random.below(3) as u8;
        let (first, second) = (word(&mut random), word(&mut random));
        let (one, other) = (path(&mut random), path(&mut random));
        match random.below(18) {
            16 => drop(files.share(session, first % 64, second % 4)),
            17 => drop(files.adopt(session, first % 64, second % 4)),
            0 => drop(files.open(session, &one, first)),
            1 => drop(files.close(session, first)),
            2 => drop(files.resize(session, first % 64, second, &mut ram)),
            3 => drop(files.make_directory(&one)),
            4 => drop(files.remove_directory(&one)),
            5 => drop(files.link(&one, &other)),
            6 => drop(files.unlink(&one)),
            7 => drop(files.rename(&one, &other)),
            8 => drop(files.list(&one, first, &mut [0; 100])),
            9 => drop(files.about(&one)),
            _ => drop(files.request(first % 64, &request(&mut random), &mut ram)),
        }
        while files.next_to_hide().is_some() {}
        if n % 100 == 0 {
            check_blocks(&files, SMALL);
        }
    }
    for session in 0..3 {
        while let Some(file) = files.any_of(session, 0) {
            files.close(session, file).unwrap();
        }
    }
    check_blocks(&files, SMALL);
}

#[test]
fn requests_of_all_kinds_leave_pipes_whole() {
    let mut random = Random(0x9876_5432_1fed_cba9);
    let mut pipes = Pipes::new();
    for token in 0..requests() {
        let session = random.below(3) as u8;
        let end = word(&mut random) % 40;
        let side = [Side::Reads, Side::Writes][random.below(2) as usize];
        match random.below(10) {
            8 => drop(pipes.share(session, end, token % 4)),
            9 => drop(pipes.adopt(session, end, token % 4)),
            7 => drop(pipes.ready(session, end)),
            0 => drop(pipes.open(session, &path(&mut random), side)),
            1 => drop(pipes.close(session, end)),
            2 => drop(pipes.open_end(session, end as u8, side)),
            _ => drop(pipes.request(end, &request(&mut random), token)),
        }
        while pipes.next_late().is_some() {}
    }
    for session in 0..3 {
        while let Some(end) = pipes.any_of(session, 0) {
            pipes.close(session, end).unwrap();
        }
    }
    // Each place is free again.
    for session in 0..crate::PIPES as u8 {
        pipes.open(session, b"", Side::Reads).unwrap();
    }
}

#[test]
fn broken_archives_have_errors() {
    let mut random = Random(77);
    for command in ["tar --format=pax -c *", "find . | cpio --quiet -o -H newc"] {
        let Some(archive) = packed(command) else {
            continue;
        };
        for _ in 0..2000 {
            let mut broken = archive.clone();
            for _ in 0..=random.below(4) {
                // Headers are what matters.
                let at = match random.below(2) {
                    0 => random.below(broken.len() as u64),
                    _ => random.below(broken.len() as u64 / 512) * 512 + random.below(160),
                };
                broken[at as usize] = match random.below(3) {
                    0 => b'0' + random.below(10) as u8,
                    1 => 0,
                    _ => random.below(256) as u8,
                };
            }
            let (mut files, mut ram) = files(SMALL);
            let _: Result<(), _> = unpack(&mut files, &broken, &mut ram);
            check_blocks(&files, SMALL);
        }
    }
}
