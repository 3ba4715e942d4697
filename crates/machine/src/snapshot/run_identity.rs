//! Which machine runs, and what it has started with. Snapshots and recordings are of one run: on
//! another machine or with other programs they mean nothing.
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::MemoryPages;
use crate::hart_order::Machine;

/// Digests of a machine at its reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Harts, their extensions and clocks, and the addresses of memory and devices.
    pub machine: u128,
    /// What is in memory and on disks, and where the harts begin.
    pub content: u128,
}

impl RunIdentity {
    /// That of a machine that has not run yet. `disks`: digests of their images.
    pub fn of(machine: &Machine, disks: &[u128]) -> Self {
        let (mut of_machine, mut of_content) = (Xxh3::new(), Xxh3::new());
        of_machine.update(machine.description().as_bytes());
        for board in machine.boards() {
            for ram in board.ram() {
                number(&mut of_machine, ram.range().start);
                number(&mut of_machine, ram.range().end);
            }
            for (start, end) in board.device_ranges() {
                number(&mut of_machine, start);
                number(&mut of_machine, end);
            }
        }
        for (memory, pages) in MemoryPages::take(machine.memories(), None).groups() {
            for (page, content) in pages {
                number(&mut of_content, memory as u64);
                number(&mut of_content, page as u64);
                of_content.update(content);
            }
        }
        for hart in 0..machine.harts() {
            let Some(hart) = machine.hart(hart) else {
                continue;
            };
            number(&mut of_content, hart.hart.pc);
            hart.hart.x.iter().for_each(|&x| number(&mut of_content, x));
        }
        // Without faults and semihosting the digest is that of a run that knows none.
        for text in machine.wishes() {
            of_content.update(text.as_bytes());
            number(&mut of_content, text.len() as u64);
        }
        for disk in disks {
            of_content.update(&disk.to_le_bytes());
        }
        Self {
            machine: of_machine.digest128(),
            content: of_content.digest128(),
        }
    }

    /// What is not as in `other`, if something is not.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        match () {
            () if self.machine != other.machine => Some("another machine"),
            () if self.content != other.content => {
                Some("other programs, disks, faults or semihosting")
            }
            () => None,
        }
    }
}

/// The digest of a disk's image.
pub fn digest_of_image(mut image: impl Read) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    let mut bytes = vec![0; 1 << 20];
    loop {
        match image.read(&mut bytes)? {
            0 => return Ok(hash.digest128()),
            size => hash.update(&bytes[..size]),
        }
    }
}

fn number(hash: &mut Xxh3, value: u64) {
    hash.update(&value.to_le_bytes());
}
