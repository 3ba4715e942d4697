//! The block device (Virtio 1.2, chapter 5.2).
use super::disk_image::Disk;
use super::split_queue::{Chain, MAX_QUEUE, QueueFault, SplitQueue};
use super::virtio_device::VirtioDevice;
use crate::device::{BadState, Bytes, Refused, Surroundings, check_state, load_state, save_state};
use crate::request_faults::{RequestFault, RequestFaults};

const SECTOR: u64 = 512;
/// Bytes of a request before its data.
const HEADER: u64 = 16;
/// Bytes of the device's name that a request returns.
const NAME: usize = 20;
/// Bytes that go between memory and disk at a time.
const PIECE: u64 = 64 << 10;

const QUEUE: u16 = 256;
const _: () = assert!(QUEUE <= MAX_QUEUE);

/// Features.
const SEGMENTS: u64 = 1 << 2;
const READ_ONLY: u64 = 1 << 5;
const BLOCK_SIZE: u64 = 1 << 6;
const FLUSH: u64 = 1 << 9;

/// A request's status.
const OK: u8 = 0;
const IO_ERROR: u8 = 1;
const UNSUPPORTED: u8 = 2;

/// A disk of one queue. Requests may have any division into buffers.
pub struct BlockDevice {
    disk: Box<dyn Disk>,
    read_only: bool,
    name: [u8; NAME],
    faults: RequestFaults,
}

impl BlockDevice {
    /// A device for `disk`. `name` is what Linux shows as its serial number; its first 20 bytes
    /// count.
    pub fn new(disk: Box<dyn Disk>, read_only: bool, name: &str) -> Self {
        let mut bytes = [0; NAME];
        bytes
            .iter_mut()
            .zip(name.bytes())
            .for_each(|(to, from)| *to = from);
        Self {
            disk,
            read_only,
            name: bytes,
            faults: RequestFaults::default(),
        }
    }

    /// The disk, to read its content.
    pub fn disk(&mut self) -> &mut dyn Disk {
        &mut *self.disk
    }

    /// Does a request. Returns its status, and how many bytes it has written into memory.
    fn request(&mut self, chain: &Chain, room: u64, around: &mut dyn Surroundings) -> (u8, u64) {
        let mut header = [0; HEADER as usize];
        if chain.readable.read(0, &mut header, around).is_err() {
            return (IO_ERROR, 0);
        }
        let [k0, k1, k2, k3, _, _, _, _, sector @ ..] = header;
        let sector = u64::from_le_bytes(sector);
        match u32::from_le_bytes([k0, k1, k2, k3]) {
            0 => self.read(chain, sector, room, around),
            1 => (self.write(chain, sector, around), 0),
            4 => match self.disk.flush() {
                Ok(()) => (OK, 0),
                Err(_) => (IO_ERROR, 0),
            },
            8 => {
                let length = room.min(NAME as u64);
                let name = &self.name[..length as usize];
                match chain.writable.write(0, name, around) {
                    Ok(()) => (OK, length),
                    Err(Refused) => (IO_ERROR, 0),
                }
            }
            _ => (UNSUPPORTED, 0),
        }
    }

    /// Where `length` bytes from a sector on begin, if they are whole sectors of the disk.
    fn position(&self, sector: u64, length: u64) -> Option<u64> {
        let start = sector.checked_mul(SECTOR)?;
        let end = start.checked_add(length)?;
        (length.is_multiple_of(SECTOR) && end <= self.disk.size()).then_some(start)
    }

    fn read(
        &mut self,
        chain: &Chain,
        sector: u64,
        length: u64,
        around: &mut dyn Surroundings,
    ) -> (u8, u64) {
        let Some(start) = self.position(sector, length) else {
            return (IO_ERROR, 0);
        };
        let mut buffer = vec![0; length.min(PIECE) as usize];
        let mut done = 0;
        while done < length {
            let piece = &mut buffer[..(length - done).min(PIECE) as usize];
            let read = self.disk.read(start + done, piece).is_ok();
            if !read || chain.writable.write(done, piece, around).is_err() {
                return (IO_ERROR, done);
            }
            done += piece.len() as u64;
        }
        (OK, done)
    }

    fn write(&mut self, chain: &Chain, sector: u64, around: &mut dyn Surroundings) -> u8 {
        let length = chain.readable.len().saturating_sub(HEADER);
        let start = self.position(sector, length);
        let Some(start) = start.filter(|_| !self.read_only) else {
            return IO_ERROR;
        };
        let mut buffer = vec![0; length.min(PIECE) as usize];
        let mut done = 0;
        while done < length {
            let piece = &mut buffer[..(length - done).min(PIECE) as usize];
            let read = chain.readable.read(HEADER + done, piece, around).is_ok();
            if !read || self.disk.write(start + done, piece).is_err() {
                return IO_ERROR;
            }
            done += piece.len() as u64;
        }
        OK
    }
}

impl VirtioDevice for BlockDevice {
    fn id(&self) -> u32 {
        2
    }

    fn features(&self) -> u64 {
        let read_only = if self.read_only { READ_ONLY } else { 0 };
        SEGMENTS | BLOCK_SIZE | FLUSH | read_only
    }

    fn queue_sizes(&self) -> &'static [u16] {
        &[QUEUE]
    }

    fn read_config(&self, offset: u64, bytes: &mut [u8]) {
        let mut config = [0; 24];
        config[..8].copy_from_slice(&(self.disk.size() / SECTOR).to_le_bytes());
        // A request takes two more descriptors than it has segments: header and status.
        config[12..16].copy_from_slice(&u32::from(QUEUE - 2).to_le_bytes());
        config[20..24].copy_from_slice(&(SECTOR as u32).to_le_bytes());
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let field = config.get(start..).unwrap_or_default();
        bytes.fill(0);
        bytes
            .iter_mut()
            .zip(field)
            .for_each(|(to, from)| *to = *from);
    }

    fn process(
        &mut self,
        queue: usize,
        ring: &mut SplitQueue,
        around: &mut dyn Surroundings,
    ) -> Result<(), QueueFault> {
        if let Some(until) = self.faults.held_until(around.now()) {
            around.schedule(queue as u32, until);
            return Ok(());
        }
        for _ in 0..ring.waiting(around)? {
            let fault = self.faults.take();
            if let Some(RequestFault::Delay(by)) = fault {
                let until = around.now().saturating_add(by.max(1));
                self.faults.hold(until);
                around.schedule(queue as u32, until);
                return Ok(());
            }
            let chain = ring.take(around)?;
            // The last byte is the status.
            let room = chain.writable.len().checked_sub(1);
            let room = room.ok_or(QueueFault::NoAnswer)?;
            let (status, written) = match fault {
                Some(RequestFault::Drop) => continue,
                Some(RequestFault::Fail) => (IO_ERROR, 0),
                Some(RequestFault::Repeat) => {
                    self.request(&chain, room, around);
                    self.request(&chain, room, around)
                }
                _ => self.request(&chain, room, around),
            };
            chain.writable.write(room, &[status], around)?;
            // The status counts where nothing before it was left out (2.7.8.2).
            let written = if written == room { room + 1 } else { written };
            ring.give_back(&chain, written, around)?;
        }
        Ok(())
    }

    fn request_faults(&mut self) -> Option<&mut RequestFaults> {
        Some(&mut self.faults)
    }

    fn save(&self) -> Vec<u8> {
        save_state(&(&self.faults, Bytes(self.disk.save())))
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const NAME: &str = "block device";
        let (faults, disk): (RequestFaults, Bytes) = load_state(NAME, state)?;
        check_state(NAME, faults.are_possible(), "faults that no requests have")?;
        self.disk.load(&disk.0)?;
        self.faults = faults;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
