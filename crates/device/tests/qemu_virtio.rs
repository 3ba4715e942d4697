//! The disk beside QEMU's, by random requests of a driver to both. QEMU's machine stands still, and
//! its devices work.
//!
//! The test compares nothing where QEMU is not installed.
mod common;

use common::{Qemu, pick};
use flick_device::Device;
use flick_device::mock::Mock;
use flick_device::virtio::{BlockDevice, FileImage, Overlay, VirtioMmio};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;
use std::io::Write;

/// The slot's registers.
const SLOT: u64 = 0x1000_1000;
const MEMORY: u64 = 0x8000_0000;
const DESCRIPTORS: u64 = MEMORY;
const AVAILABLE: u64 = MEMORY + 0x1000;
const USED: u64 = MEMORY + 0x2000;
const HEADER: u64 = MEMORY + 0x3000;
const STATUS: u64 = MEMORY + 0x3800;
const DATA: u64 = MEMORY + 0x4000;
const DATA_SIZE: usize = 0x2000;
const SECTORS: u64 = 40;
const QUEUE: u64 = 8;

/// What a driver reaches.
trait Board {
    fn get(&mut self, register: u64) -> u32;
    fn set(&mut self, register: u64, value: u32);
    fn load(&mut self, address: u64, length: usize) -> Vec<u8>;
    fn store(&mut self, address: u64, bytes: &[u8]);
}

impl Board for Qemu {
    fn get(&mut self, register: u64) -> u32 {
        self.read(SLOT + register, 4) as u32
    }

    fn set(&mut self, register: u64, value: u32) {
        self.write(SLOT + register, 4, value.into());
    }

    fn load(&mut self, address: u64, length: usize) -> Vec<u8> {
        let answer = self.command(&format!("read {address:#x} {length:#x}"));
        let digits = answer.trim_start_matches("0x").as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    fn store(&mut self, address: u64, bytes: &[u8]) {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.command(&format!("write {address:#x} {:#x} 0x{digits}", bytes.len()));
    }
}

struct Ours {
    slot: VirtioMmio,
    around: Mock,
}

impl Board for Ours {
    fn get(&mut self, register: u64) -> u32 {
        self.slot.read(register, 4, &mut self.around).unwrap() as u32
    }

    fn set(&mut self, register: u64, value: u32) {
        let written = self.slot.write(register, 4, value.into(), &mut self.around);
        written.unwrap();
    }

    fn load(&mut self, address: u64, length: usize) -> Vec<u8> {
        let start = (address - MEMORY) as usize;
        self.around.memory[start..start + length].to_vec()
    }

    fn store(&mut self, address: u64, bytes: &[u8]) {
        let start = (address - MEMORY) as usize;
        self.around.memory[start..start + bytes.len()].copy_from_slice(bytes);
    }
}

fn set_up(board: &mut dyn Board, features: u32) {
    for (register, value) in [
        (0x70, 0),
        (0x70, 3),
        (0x24, 0),
        (0x20, features),
        (0x24, 1),
        (0x20, 1),
        (0x70, 11),
        (0x30, 0),
        (0x38, QUEUE as u32),
        (0x80, DESCRIPTORS as u32),
        (0x90, AVAILABLE as u32),
        (0xa0, USED as u32),
        (0x44, 1),
        (0x70, 15),
    ] {
        board.set(register, value);
    }
    assert_eq!(board.get(0x70), 15);
    board.store(DESCRIPTORS, &[0; 0x3000]);
}

/// Writes a table of descriptors of a chain.
fn describe(board: &mut dyn Board, table: u64, buffers: &[(u64, u32, u16)]) {
    for (number, &(address, length, flags)) in buffers.iter().enumerate() {
        let last = number + 1 == buffers.len();
        let mut bytes = address.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend((flags | u16::from(!last)).to_le_bytes());
        bytes.extend((number as u16 + 1).to_le_bytes());
        board.store(table + 16 * number as u64, &bytes);
    }
}

/// Makes the chain from descriptor 0 on available as number `number`, and waits for its return.
/// Returns the used ring, the interrupt's status, and the memory of the request.
fn send(board: &mut dyn Board, number: u16) -> (Vec<u8>, u32, Vec<u8>) {
    let slot = u64::from(number) % QUEUE;
    board.store(AVAILABLE + 4 + 2 * slot, &[0, 0]);
    board.store(AVAILABLE + 2, &number.wrapping_add(1).to_le_bytes());
    board.set(0x50, 0);
    let done = number.wrapping_add(1).to_le_bytes();
    let mut tries = 0;
    while board.load(USED + 2, 2) != done {
        tries += 1;
        assert!(tries < 10_000, "request {number} does not come back");
    }
    let interrupt = board.get(0x60);
    board.set(0x64, interrupt);
    let used = board.load(USED + 4 + 8 * slot, 8);
    (used, interrupt, board.load(HEADER, 0x1000 + DATA_SIZE))
}

/// Buffers of `length` bytes from `address` on, in random pieces.
fn pieces(random: &mut Pcg64Mcg, address: u64, length: u32, flag: u16) -> Vec<(u64, u32, u16)> {
    let mut buffers = Vec::new();
    let mut start = 0;
    while start < length {
        let piece = match random.next_u32() % 3 {
            0 if buffers.len() < 3 => 1 + random.next_u32() % (length - start),
            _ => length - start,
        };
        buffers.push((address + u64::from(start), piece, flag));
        start += piece;
    }
    buffers
}

#[test]
fn the_disk_is_that_of_qemu() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut random = Pcg64Mcg::new(5);
    let mut image = vec![0; SECTORS as usize * 512];
    random.fill_bytes(&mut image);
    file.write_all(&image).unwrap();
    let drive = format!(
        "if=none,id=disk,format=raw,snapshot=on,file={}",
        file.path().display()
    );
    let device = "virtio-blk-device,drive=disk,bus=virtio-mmio-bus.0,serial=a-serial-of-20-bytes";
    let Some(mut qemu) = Qemu::start(&["-drive", &drive, "-device", device]) else {
        return;
    };
    let overlay = Overlay::new(FileImage::new(file.reopen().unwrap()).unwrap());
    let disk = BlockDevice::new(Box::new(overlay), false, "a-serial-of-20-bytes");
    let mut ours = Ours {
        slot: VirtioMmio::new(1, 0, Some(Box::new(disk))),
        around: Mock::with_memory(MEMORY, 0x1_0000),
    };
    for register in [0, 4, 8, 0xc, 0x100, 0x104, 0x10c, 0x114] {
        let (ours, theirs) = (ours.get(register), qemu.get(register));
        // The number of segments belongs to the size of the queue.
        assert!(register == 0x10c || ours == theirs, "{register:#x}");
    }
    for indirect in [false, true] {
        let features = if indirect { 1 << 28 | 1 << 9 } else { 1 << 9 };
        set_up(&mut ours, features);
        set_up(&mut qemu, features);
        let mut number = 0;
        while number < 600 {
            let kind = pick(&mut random, &[0, 0, 0, 1, 1, 1, 4, 8, 77]);
            let sector = random.next_u64() % (SECTORS + 2);
            // A length that is not of whole sectors breaks QEMU's device, as it may.
            let length = match kind {
                4 => 0,
                8 => pick(&mut random, &[20, 20, 11]),
                _ => 512 * (1 + random.next_u32() % 8),
            };
            let flag = if kind == 1 { 0 } else { 2 };
            let mut buffers = pieces(&mut random, HEADER, 16, 0);
            buffers.extend(pieces(&mut random, DATA, length, flag));
            buffers.push((STATUS, 1, 2));
            let mut header = u32::to_le_bytes(kind).to_vec();
            header.extend([0; 4]);
            header.extend(sector.to_le_bytes());
            let mut data = vec![0; DATA_SIZE];
            random.fill_bytes(&mut data);
            if !indirect && buffers.len() > QUEUE as usize {
                continue;
            }
            let run = |board: &mut dyn Board, number: u16| {
                board.store(HEADER, &header);
                board.store(STATUS, &[0xaa]);
                board.store(DATA, &data);
                if indirect {
                    let table = MEMORY + 0x3400;
                    describe(board, table, &buffers);
                    let length = 16 * buffers.len() as u32;
                    describe(board, DESCRIPTORS, &[(table, length, 4)]);
                } else {
                    describe(board, DESCRIPTORS, &buffers);
                }
                send(board, number)
            };
            let (own, theirs) = (run(&mut ours, number), run(&mut qemu, number));
            let what = format!("request {number}: {kind} of {length} at {sector}");
            assert_eq!(own.1, theirs.1, "{what}");
            // After an error QEMU counts buffers that it has not written.
            let ok = own.2[(STATUS - HEADER) as usize] == 0;
            assert!(own.0 == theirs.0 || !ok, "{what}: {:?}", (own.0, theirs.0));
            assert!(own.2 == theirs.2, "{what}: other memory");
            number += 1;
        }
    }
}
