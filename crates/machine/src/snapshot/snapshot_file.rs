//! Files of snapshots. Numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 16, 16 | the digests of [`RunIdentity`] |
//! | 8 | bytes of the rest |
//! | 8 | XXH3 of the rest |
//! | 8 | bytes of the state |
//! | | the state: `postcard` of [`SavedMachine`] |
//! | | groups of pages to the end: memory (4), number of pages (4), their numbers (4 each), bytes (4), and the pages as LZ4 has them |
use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::{MemoryPages, RunIdentity, Snapshot};
use crate::hart_order::SavedMachine;
use crate::ram::Ram;

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"flksnap\0";
/// Of the format. A file of another version is refused.
pub const VERSION: u32 = 5;

const PAGE: usize = flick_hart::PAGE as usize;
/// Pages of a group at most.
const MOST_PAGES: usize = 512;

/// A file that was read.
#[derive(Debug)]
pub struct SnapshotFile<'a> {
    /// Of which run it is.
    pub identity: RunIdentity,
    /// All but the memory.
    pub machine: SavedMachine,
    groups: &'a [u8],
}

/// Why a file is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSnapshotFile {
    /// Of something else.
    #[error("it is no snapshot of a machine")]
    Foreign,
    /// Of another version.
    #[error("it has version {0} of the format, and this program knows {VERSION}")]
    Version(u32),
    /// Its end is missing.
    #[error("its end is missing")]
    Truncated,
    /// Its bytes are not those that were written.
    #[error("its bytes have changed since it was written")]
    Changed,
    /// The state is none.
    #[error("its state is unusable: {0}")]
    State(String),
    /// A page that the machine does not have, or that cannot be unpacked.
    #[error("a page of its memory is unusable")]
    Page,
}

/// Writes a snapshot.
pub fn write_snapshot(
    out: &mut impl Write,
    identity: &RunIdentity,
    snapshot: &Snapshot,
) -> io::Result<()> {
    let state = postcard::to_stdvec(&snapshot.machine).map_err(io::Error::other)?;
    let mut rest = (state.len() as u64).to_le_bytes().to_vec();
    rest.extend(state);
    for (memory, pages) in snapshot.memory.groups() {
        rest.extend((memory as u32).to_le_bytes());
        rest.extend((pages.len() as u32).to_le_bytes());
        let mut bytes = Vec::with_capacity(pages.len() * PAGE);
        for (number, content) in pages {
            rest.extend((number as u32).to_le_bytes());
            bytes.extend(content);
        }
        let packed = lz4_flex::block::compress(&bytes);
        rest.extend((packed.len() as u32).to_le_bytes());
        rest.extend(packed);
    }
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&identity.machine.to_le_bytes())?;
    out.write_all(&identity.content.to_le_bytes())?;
    out.write_all(&(rest.len() as u64).to_le_bytes())?;
    out.write_all(&xxh3_64(&rest).to_le_bytes())?;
    out.write_all(&rest)
}

/// Bytes in front of those that the digest is of.
const HEADER: usize = 8 + 4 + 16 + 16 + 8 + 8;

/// Makes the size and the digest of a file right, whose bytes were changed. For tests.
pub fn seal_snapshot(file: &mut [u8]) {
    if let Some((header, rest)) = file.split_at_mut_checked(HEADER) {
        header[HEADER - 16..HEADER - 8].copy_from_slice(&(rest.len() as u64).to_le_bytes());
        header[HEADER - 8..].copy_from_slice(&xxh3_64(rest).to_le_bytes());
    }
}

/// Reads a snapshot, but for its memory.
pub fn read_snapshot(file: &[u8]) -> Result<SnapshotFile<'_>, BadSnapshotFile> {
    let mut at = Bytes(file);
    if at.array().ok() != Some(MAGIC) {
        return Err(BadSnapshotFile::Foreign);
    }
    match at.u32()? {
        VERSION => {}
        other => return Err(BadSnapshotFile::Version(other)),
    }
    let identity = RunIdentity {
        machine: u128::from_le_bytes(at.array()?),
        content: u128::from_le_bytes(at.array()?),
    };
    let size = u64::from_le_bytes(at.array()?);
    let digest = u64::from_le_bytes(at.array()?);
    match size.cmp(&(at.0.len() as u64)) {
        std::cmp::Ordering::Greater => return Err(BadSnapshotFile::Truncated),
        std::cmp::Ordering::Less => return Err(BadSnapshotFile::Changed),
        std::cmp::Ordering::Equal => {}
    }
    if xxh3_64(at.0) != digest {
        return Err(BadSnapshotFile::Changed);
    }
    let size = u64::from_le_bytes(at.array()?);
    let size = usize::try_from(size).map_err(|_| BadSnapshotFile::Truncated)?;
    let bad = |error: postcard::Error| BadSnapshotFile::State(error.to_string());
    let (machine, left) = postcard::take_from_bytes(at.take(size)?).map_err(bad)?;
    if !left.is_empty() {
        return Err(BadSnapshotFile::State("bytes are left over".into()));
    }
    Ok(SnapshotFile {
        identity,
        machine,
        groups: at.0,
    })
}

impl SnapshotFile<'_> {
    /// The snapshot for a machine with these memories.
    pub fn unpack<'r>(
        self,
        memories: impl IntoIterator<Item = &'r Ram>,
    ) -> Result<Snapshot, BadSnapshotFile> {
        let mut memory = MemoryPages::empty(memories);
        let mut at = Bytes(self.groups);
        while !at.0.is_empty() {
            let number = at.u32()? as usize;
            let pages = at.u32()? as usize;
            if pages > MOST_PAGES {
                return Err(BadSnapshotFile::Page);
            }
            let numbers = (0..pages).map(|_| at.u32());
            let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
            let packed = at.u32()? as usize;
            let mut bytes = vec![0; pages * PAGE];
            let unpacked = lz4_flex::block::decompress_into(at.take(packed)?, &mut bytes);
            if unpacked.ok() != Some(bytes.len()) {
                return Err(BadSnapshotFile::Page);
            }
            for (page, content) in numbers.into_iter().zip(bytes.chunks_exact(PAGE)) {
                if !memory.set(number, page as usize, content) {
                    return Err(BadSnapshotFile::Page);
                }
            }
        }
        Ok(Snapshot {
            machine: self.machine,
            memory,
        })
    }
}

/// What has not been read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], BadSnapshotFile> {
        let (taken, rest) = self
            .0
            .split_at_checked(size)
            .ok_or(BadSnapshotFile::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadSnapshotFile> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| BadSnapshotFile::Truncated)
    }

    fn u32(&mut self) -> Result<u32, BadSnapshotFile> {
        self.array().map(u32::from_le_bytes)
    }
}
