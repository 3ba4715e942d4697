//! The devices that the kernel uses: software and timer interrupts, the serial port, the interrupt
//! controller, and the test finisher.
use core::ptr::{read_volatile, write_volatile};

use crate::machine_map::MachineMap;

/// A CLINT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Clint {
    base: u64,
}

impl Clint {
    /// The one of a machine.
    pub const fn new(map: &MachineMap) -> Self {
        Self { base: map.clint }
    }

    /// The address of the register that interrupts a hart.
    pub fn register(&self, hart: usize) -> u64 {
        self.base + 4 * hart as u64
    }

    fn set(&self, hart: usize, level: u32) {
        let at = self.register(hart) as *mut u32;
        // SAFETY: the machine's tree says that a register is there, for each hart.
        unsafe { write_volatile(at, level) };
    }

    /// Interrupts a hart.
    pub fn interrupt(&self, hart: usize) {
        self.set(hart, 1);
    }

    /// A hart's interrupt has been seen.
    pub fn clear(&self, hart: usize) {
        self.set(hart, 0);
    }

    /// When the hart's timer interrupts.
    pub fn set_timer(&self, hart: usize, time: u64) {
        let at = (self.base + 0x4000 + 8 * hart as u64) as *mut u64;
        // SAFETY: as in `set`.
        unsafe { write_volatile(at, time) };
    }
}

/// A 16550 that the firmware or the reset has set up.
#[derive(Clone, Copy, Debug)]
pub struct Serial {
    base: u64,
}

impl Serial {
    /// The one of a machine.
    pub fn new(base: u64) -> Self {
        Self { base }
    }

    fn register(&self, offset: u64) -> *mut u8 {
        (self.base + offset) as *mut u8
    }

    /// Lets it interrupt for bytes that arrive, or not. Its queues stay as they are: to switch them on
    /// empties them, and a byte that comes at this moment would be lost.
    pub fn interrupt(&self, is_on: bool) {
        // SAFETY: the machine's tree says that a 16550 is there.
        unsafe { write_volatile(self.register(1), is_on.into()) };
    }

    /// Sends a byte, when there is room.
    pub fn write(&self, byte: u8) {
        // SAFETY: as in `interrupt`.
        unsafe {
            while read_volatile(self.register(5)) & 0x20 == 0 {}
            write_volatile(self.register(0), byte);
        }
    }

    /// A byte that has arrived.
    pub fn read(&self) -> Option<u8> {
        // SAFETY: as in `interrupt`.
        unsafe {
            let arrived = read_volatile(self.register(5)) & 1 != 0;
            arrived.then(|| read_volatile(self.register(0)))
        }
    }
}

/// The kernel hart's side of a PLIC, with one source.
#[derive(Clone, Copy, Debug)]
pub struct Plic {
    base: u64,
    context: u64,
}

impl Plic {
    /// The one of a machine.
    pub fn new((base, context, source): (u64, u64, u64)) -> Self {
        let plic = Self { base, context };
        let enable = base + 0x2000 + 0x80 * context + 4 * (source / 32);
        // SAFETY: the machine's tree says that a PLIC with this source and context is there.
        unsafe {
            write_volatile((base + 4 * source) as *mut u32, 1);
            write_volatile(enable as *mut u32, 1 << (source % 32));
            write_volatile(plic.threshold(), 0);
        }
        plic
    }

    fn threshold(&self) -> *mut u32 {
        (self.base + 0x20_0000 + 0x1000 * self.context) as *mut u32
    }

    fn claim_register(&self) -> *mut u32 {
        (self.base + 0x20_0004 + 0x1000 * self.context) as *mut u32
    }

    /// Takes the interrupt, before its cause is dealt with: what comes later is an interrupt more.
    pub fn claim(&self) -> u32 {
        // SAFETY: as in `new`.
        unsafe { read_volatile(self.claim_register()) }
    }

    /// Ends an interrupt that was taken; 0 is none.
    pub fn complete(&self, source: u32) {
        if source != 0 {
            // SAFETY: as in `new`.
            unsafe { write_volatile(self.claim_register(), source) };
        }
    }
}

/// Ends the machine with a status.
pub fn end_machine(map: &MachineMap, status: u64) -> ! {
    if let Some(finisher) = map.finisher {
        let value = match status {
            0 => 0x5555,
            status => (status as u32 & 0xffff) << 16 | 0x3333,
        };
        // SAFETY: the machine's tree says that the register is there.
        unsafe { write_volatile(finisher as *mut u32, value) };
    }
    loop {
        crate::csr::wait();
    }
}
