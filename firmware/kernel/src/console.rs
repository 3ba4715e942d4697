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
        }
    }

    /// It has a port from now on.
    pub fn begin(&mut self, serial: Option<Serial>, plic: Option<Plic>) {
        (self.serial, self.plic) = (serial, plic);
        if let Some(serial) = serial {
            serial.begin();
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
        while self.count < ROOM
            && let Some(byte) = self.serial.and_then(|serial| serial.read())
        {
            self.arrived[(self.first + self.count) % ROOM] = byte;
            self.count += 1;
        }
        if let Some(plic) = self.plic {
            plic.complete();
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
