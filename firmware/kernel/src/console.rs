//! The console: the serial port, and what has arrived there.
use core::fmt;

use crate::devices::{Plic, Serial};

/// Bytes that may have arrived while nobody reads them.
const ROOM: usize = 256;

/// The tile's console.
#[derive(Debug)]
pub struct Console {
    serial: Option<Serial>,
    plic: Option<Plic>,
    arrived: [u8; ROOM],
    first: usize,
    count: usize,
    /// There was no room for more, and the port does not interrupt until there is.
    is_full: bool,
}

impl Console {
    /// A console that prints nothing.
    pub const fn new() -> Self {
        Self {
            serial: None,
            plic: None,
            arrived: [0; ROOM],
            first: 0,
            count: 0,
            is_full: false,
        }
    }

    /// It has a port from now on.
    pub fn begin(&mut self, serial: Option<Serial>, plic: Option<Plic>) {
        (self.serial, self.plic) = (serial, plic);
        if let Some(serial) = serial {
            serial.interrupt(true);
        }
    }

    /// Prints a byte.
    pub fn write(&self, byte: u8) {
        if let Some(serial) = self.serial {
            serial.write(byte);
        }
    }

    /// Prints a text.
    pub fn print(&self, text: fmt::Arguments) {
        let _: fmt::Result = fmt::write(&mut Writer(self), text);
    }

    /// The port has interrupted: takes what has arrived.
    pub fn poll(&mut self) {
        let source = self.plic.map_or(0, |plic| plic.claim());
        self.fill();
        if let Some(plic) = self.plic {
            plic.complete(source);
        }
    }

    fn fill(&mut self) {
        let Some(serial) = self.serial else { return };
        while self.count < ROOM
            && let Some(byte) = serial.read()
        {
            self.arrived[(self.first + self.count) % ROOM] = byte;
            self.count += 1;
        }
        let is_full = self.count == ROOM;
        if is_full != self.is_full {
            self.is_full = is_full;
            serial.interrupt(!is_full);
        }
    }

    /// How many bytes have arrived.
    pub fn arrived(&self) -> usize {
        self.count
    }

    /// The first of them.
    pub fn read(&mut self) -> Option<u8> {
        self.count = self.count.checked_sub(1)?;
        let byte = self.arrived[self.first];
        self.first = (self.first + 1) % ROOM;
        if self.is_full {
            self.fill();
        }
        Some(byte)
    }
}

/// For texts with values.
struct Writer<'a>(&'a Console);

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.0.write(byte));
        Ok(())
    }
}

/// Prints what the kernel has to say.
#[macro_export]
macro_rules! report {
    ($console:expr, $($text:tt)*) => {
        $console.print(format_args!($($text)*))
    };
}
