//! Files, directories and archives.
mod data;
mod hostile;
mod names;
mod pipes;
mod shares;
mod terminal;

use std::process::Command;

use flick_abi::file_protocol::{Operation, Request};
use flick_abi::file_session::flags;

use crate::file_system::Node;
use crate::{BLOCK, Failure, FileSystem, Limits, Memory, Reply, find_in_tar, unpack};

struct Ram(Vec<u8>);

impl Memory for Ram {
    fn clear(&mut self, offset: u64, size: u64) -> Result<(), Failure> {
        self.0[offset as usize..][..size as usize].fill(0);
        Ok(())
    }

    fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit.max(1)
    }
}

fn files(limits: Limits) -> (Box<FileSystem>, Ram) {
    let mut files = Box::new(FileSystem::new());
    files.begin(limits);
    (
        files,
        Ram(vec![0; (u64::from(limits.blocks) * BLOCK) as usize]),
    )
}

const SMALL: Limits = Limits {
    blocks: 300,
    extents: 60,
    nodes: 24,
    entries: 30,
};

/// Blocks that files have, and those that are free, are all, and no block is of two files.
fn check_blocks(files: &FileSystem, limits: Limits) {
    let mut seen = vec![false; limits.blocks as usize];
    for held in &files.nodes {
        if let Node::File(contents) = &held.node {
            for run in files.extents.runs(contents) {
                for block in run.start..run.start + run.count {
                    assert!(!core::mem::replace(&mut seen[block as usize], true));
                }
            }
        }
    }
    let used = seen.iter().filter(|&&used| used).count() as u32;
    assert_eq!(used + files.extents.blocks.free(), limits.blocks);
}

fn read_all(files: &mut FileSystem, ram: &Ram, path: &[u8]) -> Vec<u8> {
    let (file, size) = files.open(9, path, flags::READ).unwrap();
    let mut read = vec![];
    let mut none = Ram(vec![]);
    loop {
        let next = files.request(file, &Request::new(Operation::NextIn), &mut none);
        let Ok(Reply::Piece { offset, length, .. }) = next else {
            panic!("{next:?}");
        };
        if length == 0 {
            break;
        }
        assert!(length <= 512 << 10);
        read.extend_from_slice(&ram.0[offset as usize..][..length as usize]);
    }
    files.close(9, file).unwrap();
    assert_eq!(read.len() as u64, size);
    read
}

#[test]
fn a_file_of_the_whole_memory_has_extents_of_512_kib() {
    let limits = Limits::of_memory(8 << 20);
    let (mut files, mut ram) = files(limits);
    let (file, _) = files
        .open(0, b"/big", flags::CREATE | flags::WRITE)
        .unwrap();
    let mut pieces = 0;
    let full = loop {
        match files.request(file, &Request::new(Operation::NextOut), &mut ram) {
            Ok(Reply::Piece { length, .. }) => assert_eq!(length, 512 << 10),
            failed => break failed,
        }
        pieces += 1;
    };
    assert_eq!((full, pieces), (Err(Failure::NoSpace), 16));
    assert_eq!(files.about(b"big").unwrap().size, 8 << 20);
    files.resize(0, file, 5, &mut ram).unwrap();
    assert_eq!(files.extents.blocks.free(), limits.blocks - 1);
}

#[test]
fn nobody_sees_data_of_a_file_that_is_gone() {
    let (mut files, mut ram) = files(Limits::of_memory(1 << 20));
    let (file, _) = files
        .open(0, b"/secret", flags::CREATE | flags::WRITE)
        .unwrap();
    let next = Request::new(Operation::NextOut);
    let Ok(Reply::Piece { offset, length, .. }) = files.request(file, &next, &mut ram) else {
        panic!("no piece");
    };
    ram.0[offset as usize..][..length as usize].fill(0x55);
    // It is not even committed.
    files.close(0, file).unwrap();
    files.unlink(b"/secret").unwrap();
    let (file, _) = files
        .open(1, b"/other", flags::CREATE | flags::WRITE)
        .unwrap();
    while files.request(file, &next, &mut ram).is_ok() {}
    let read = read_all(&mut files, &ram, b"/other");
    assert_eq!(read.len(), 1 << 20);
    assert!(read.iter().all(|&byte| byte == 0));
}

#[test]
fn a_file_without_names_stays_until_it_is_closed() {
    let (mut files, mut ram) = files(SMALL);
    let (file, _) = files.open(0, b"f", flags::CREATE | flags::WRITE).unwrap();
    files
        .request(file, &Request::new(Operation::NextOut), &mut ram)
        .unwrap();
    files
        .request(file, &Request::new(Operation::End), &mut ram)
        .unwrap();
    files.unlink(b"f").unwrap();
    assert!(files.extents.blocks.free() < SMALL.blocks);
    assert_eq!(
        files.close(1, file),
        Err(Failure::BadFile),
        "another session's"
    );
    files.close(0, file).unwrap();
    assert_eq!(files.extents.blocks.free(), SMALL.blocks);
    assert_eq!(files.close(0, file), Err(Failure::BadFile));
}

#[test]
fn hostile_names_and_numbers_have_errors() {
    let (mut files, mut ram) = files(SMALL);
    files.make_directory(b"/d").unwrap();
    let long = [b'x'; 60];
    for (path, failure) in [
        (&b""[..], Failure::Exists),
        (b"/", Failure::Exists),
        (b"/..", Failure::Exists),
        (b"/d/..", Failure::Exists),
        (b"/none/x", Failure::NotFound),
        (&long, Failure::NameTooLong),
        (b"a\0b", Failure::Invalid),
    ] {
        assert_eq!(files.make_directory(path), Err(failure), "{path:?}");
    }
    assert_eq!(files.rename(b"/d", b"/d/e"), Err(Failure::Invalid));
    assert_eq!(files.rename(b"/", b"/e"), Err(Failure::Busy));
    assert_eq!(files.rename(b"/d", b"/"), Err(Failure::Invalid));
    assert_eq!(files.remove_directory(b"/"), Err(Failure::Busy));
    assert_eq!(files.link(b"/d", b"/e"), Err(Failure::NotPermitted));
    let request = Request::new(Operation::NextIn);
    for file in [0, 63, 64, u64::MAX] {
        assert_eq!(
            files.request(file, &request, &mut ram),
            Err(Failure::BadFile)
        );
    }
    let (file, _) = files.open(0, b"/f", 63 & !flags::EXCLUSIVE).unwrap();
    for (first, second) in [
        (u64::MAX, 0),
        (1 << 63, 0),
        (u64::MAX, 2),
        (0, 3),
        (0, u64::MAX),
    ] {
        let request = Request {
            operation: Operation::Seek,
            first,
            second,
        };
        assert_eq!(
            files.request(file, &request, &mut ram),
            Err(Failure::Invalid)
        );
    }
    let far = Request {
        operation: Operation::Seek,
        first: i64::MAX as u64,
        second: 0,
    };
    files.request(file, &far, &mut ram).unwrap();
    let next = Request::new(Operation::NextIn);
    let end = Reply::Piece {
        offset: 0,
        length: 0,
        rights: 0,
    };
    assert_eq!(files.request(file, &next, &mut ram), Ok(end));
    files.close(0, file).unwrap();
    let (file, _) = files.open(0, b"/f", flags::WRITE).unwrap();
    files.request(file, &far, &mut ram).unwrap();
    let next = Request::new(Operation::NextOut);
    assert_eq!(files.request(file, &next, &mut ram), Err(Failure::NoSpace));
    assert_eq!(
        files.resize(0, file, u64::MAX, &mut ram),
        Err(Failure::NoSpace)
    );
    assert_eq!(files.extents.blocks.free(), SMALL.blocks);
}

/// A folder with files, a link and folders in folders, packed by real programs.
fn packed(command: &str) -> Option<Vec<u8>> {
    let script = format!(
        "set -e; folder=$(mktemp -d); trap 'rm -r $folder' EXIT; cd $folder; mkdir -p in/deep/er empty; \
         echo hello >in/hello; ln in/hello in/deep/link; printf '' >none; seq 9999 >in/deep/er/numbers; \
         ln -s none soft; long=in/$(printf 'x%.0s' $(seq 55)); mkdir -p $long/$long; echo far >$long/$long/far; {command}"
    );
    let output = Command::new("bash").args(["-c", &script]).output().ok()?;
    (output.status.success() && !output.stdout.is_empty()).then_some(output.stdout)
}

#[test]
fn archives_of_real_programs_are_unpacked() {
    let mut tried = 0;
    for command in [
        "tar --format=ustar -c *",
        "tar --format=gnu -c .",
        "tar --format=pax -c *",
        "find . -depth | cpio --quiet -o -H newc",
    ] {
        let Some(archive) = packed(command) else {
            continue;
        };
        tried += 1;
        let (mut files, mut ram) = files(Limits::of_memory(1 << 20));
        assert_eq!(unpack(&mut files, &archive, &mut ram), Ok(()), "{command}");
        if command.starts_with("tar --format=ustar") {
            let hello = find_in_tar(&archive, b"in/hello");
            assert_eq!(hello, Some(&b"hello\n"[..]));
            assert_eq!(find_in_tar(&archive, b"in/nobody"), None);
        }
        assert_eq!(read_all(&mut files, &ram, b"in/hello"), b"hello\n");
        assert_eq!(read_all(&mut files, &ram, b"in/deep/link"), b"hello\n");
        assert_eq!(files.about(b"/in/hello").unwrap().links, 2, "{command}");
        assert_eq!(read_all(&mut files, &ram, b"none"), b"");
        let numbers = read_all(&mut files, &ram, b"in/deep/er/numbers");
        assert!(numbers.ends_with(b"9998\n9999\n") && numbers.len() == 48_888);
        assert_eq!(files.list(b"empty", 0, &mut []), Ok((0, 0)));
        assert_eq!(files.about(b"soft"), Err(Failure::NotFound));
        let long = format!("in/{}", "x".repeat(55));
        let far = format!("{long}/{long}/far");
        assert_eq!(read_all(&mut files, &ram, far.as_bytes()), b"far\n");
        // Each beginning of it is an error, and none a panic.
        for size in (0..archive.len() - 10_240).step_by(511) {
            let (mut files, mut ram) = self::files(Limits::of_memory(1 << 20));
            assert!(unpack(&mut files, &archive[..size], &mut ram).is_err());
        }
    }
    assert!(tried > 0);
}
