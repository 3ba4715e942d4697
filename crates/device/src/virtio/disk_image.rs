//! What is behind a disk: an image that stays as it is, and the blocks that were written.
use crate::device::{BadState, Bytes, check_state, load_state, save_state};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// Bytes of a block of the overlay.
const BLOCK: u64 = 4096;

/// Bytes of a disk that nobody changes while a machine uses them.
pub trait Image: Send {
    /// Bytes.
    fn size(&self) -> u64;

    /// Reads the bytes from `offset` on; all of them are in the image.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// An image in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryImage(pub Vec<u8>);

impl Image for MemoryImage {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let end = start.and_then(|start| start.checked_add(bytes.len()));
        let part = start
            .zip(end)
            .and_then(|(start, end)| self.0.get(start..end));
        bytes.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A file or a block device of the host, which is only read. A run repeats only while its content
/// stays.
#[derive(Debug)]
pub struct FileImage {
    file: File,
    size: u64,
}

impl FileImage {
    /// An image that `file` has, which is open for reading.
    pub fn new(mut file: File) -> io::Result<Self> {
        // The length in the metadata of a block device is 0.
        let size = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, size })
    }
}

impl Image for FileImage {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }
}

/// What a disk reads and writes.
pub trait Disk: Send {
    /// Bytes.
    fn size(&self) -> u64;

    /// Reads the bytes from `offset` on. They are an error if they are not all on the disk.
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes the bytes from `offset` on. They are an error if they are not all on the disk.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was written last.
    fn flush(&mut self) -> io::Result<()>;

    /// See [`crate::Device::save`].
    fn save(&self) -> Vec<u8>;

    /// See [`crate::Device::load`].
    fn load(&mut self, state: &[u8]) -> Result<(), BadState>;
}

/// A disk over an image: what is written is kept in memory, and in snapshots. The image stays.
#[derive(Debug)]
pub struct Overlay<I> {
    image: I,
    /// Written blocks by their numbers.
    blocks: BTreeMap<u64, Bytes>,
}

/// An overlay's state. The image is known by its size alone.
#[derive(Serialize, Deserialize)]
struct State {
    image_size: u64,
    blocks: BTreeMap<u64, Bytes>,
}

impl<I: Image> Overlay<I> {
    /// A disk with the content of `image`.
    pub fn new(image: I) -> Self {
        Self {
            image,
            blocks: BTreeMap::new(),
        }
    }

    /// Reads a part of the image, with zeros behind its end.
    fn read_image(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let inside = self.image.size().saturating_sub(offset);
        let inside = usize::try_from(inside).map_or(bytes.len(), |i| i.min(bytes.len()));
        let (inside, behind) = bytes.split_at_mut(inside);
        behind.fill(0);
        match inside.is_empty() {
            true => Ok(()),
            false => self.image.read_at(offset, inside),
        }
    }

    fn check(&self, offset: u64, length: usize) -> io::Result<()> {
        let end = offset.checked_add(length as u64);
        match end.is_some_and(|end| end <= self.size()) {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// The parts of `length` bytes from `offset` on that are each in one block: number of the block,
/// position in it, length.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut at = offset;
    let mut left = length;
    std::iter::from_fn(move || {
        let position = (at % BLOCK) as usize;
        let part = left.min(BLOCK as usize - position);
        let number = at / BLOCK;
        at += part as u64;
        left -= part;
        (part > 0).then_some((number, position, part))
    })
}

impl<I: Image> Disk for Overlay<I> {
    /// The image's size in whole sectors; a last one that is not whole ends with zeros.
    fn size(&self) -> u64 {
        self.image.size().div_ceil(512).saturating_mul(512)
    }

    fn read(&mut self, offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
        self.check(offset, bytes.len())?;
        for (number, position, length) in parts(offset, bytes.len()) {
            let (part, rest) = std::mem::take(&mut bytes).split_at_mut(length);
            match self.blocks.get(&number) {
                Some(block) => part.copy_from_slice(&block.0[position..position + length]),
                None => self.read_image(number * BLOCK + position as u64, part)?,
            }
            bytes = rest;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        self.check(offset, bytes.len())?;
        for (number, position, length) in parts(offset, bytes.len()) {
            let (part, rest) = bytes.split_at(length);
            if !self.blocks.contains_key(&number) {
                let mut block = vec![0; BLOCK as usize];
                self.read_image(number * BLOCK, &mut block)?;
                self.blocks.insert(number, Bytes(block));
            }
            if let Some(block) = self.blocks.get_mut(&number) {
                block.0[position..position + length].copy_from_slice(part);
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The overlay has nothing that is not yet in its place.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        save_state(&State {
            image_size: self.image.size(),
            blocks: self.blocks.clone(),
        })
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const NAME: &str = "disk";
        let state: State = load_state(NAME, state)?;
        let same = state.image_size == self.image.size();
        check_state(NAME, same, "an image of another size")?;
        let blocks = self.size().div_ceil(BLOCK);
        let valid =
            |(&number, block): (&u64, &Bytes)| number < blocks && block.0.len() as u64 == BLOCK;
        check_state(NAME, state.blocks.iter().all(valid), "an impossible block")?;
        self.blocks = state.blocks;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn pattern(size: usize) -> Vec<u8> {
        (0..size).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    fn check_overlay(mut disk: Overlay<impl Image>, mut expected: Vec<u8>) {
        expected.resize(expected.len().next_multiple_of(512), 0);
        assert_eq!(disk.size(), expected.len() as u64);
        for (offset, length) in [(0, 1), (4090, 20), (100, 9000), (8200, 0), (9200, 16)] {
            let content = vec![offset as u8 + 1; length];
            disk.write(offset as u64, &content).unwrap();
            expected[offset..offset + length].copy_from_slice(&content);
            let mut all = vec![0; expected.len()];
            disk.read(0, &mut all).unwrap();
            assert_eq!(all, expected);
        }
        let mut byte = [0];
        assert!(disk.read(expected.len() as u64, &mut byte).is_err());
        assert!(disk.read(u64::MAX, &mut byte).is_err());
        assert!(disk.write(expected.len() as u64, &byte).is_err());
        let saved = disk.save();
        disk.write(5, b"later").unwrap();
        disk.load(&saved).unwrap();
        let mut all = vec![0; expected.len()];
        disk.read(0, &mut all).unwrap();
        assert_eq!(all, expected);
        let mut other = Overlay::new(MemoryImage(vec![0; 9999]));
        assert!(other.load(&saved).is_err());
    }

    #[test]
    fn an_image_in_memory() {
        let image = pattern(9216);
        check_overlay(Overlay::new(MemoryImage(image.clone())), image);
    }

    #[test]
    fn a_file_stays_as_it_is() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        // The last sector is not whole.
        let image = pattern(9300);
        file.write_all(&image).unwrap();
        let opened = File::open(file.path()).unwrap();
        check_overlay(Overlay::new(FileImage::new(opened).unwrap()), image.clone());
        assert_eq!(std::fs::read(file.path()).unwrap(), image);
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[1; 1024]).unwrap();
        let opened = File::open(file.path()).unwrap();
        let mut disk = Overlay::new(FileImage::new(opened).unwrap());
        file.as_file().set_len(10).unwrap();
        assert!(disk.read(0, &mut [0; 512]).is_err());
    }

    #[test]
    fn hostile_states_are_refused() {
        let mut disk = Overlay::new(MemoryImage(vec![0; 4096]));
        for (number, length) in [(0, 4095), (1, 4096), (u64::MAX, 4096)] {
            let state = State {
                image_size: 4096,
                blocks: BTreeMap::from([(number, Bytes(vec![0; length]))]),
            };
            assert!(disk.load(&save_state(&state)).is_err());
        }
    }
}
