//! The command line of a server.
use crate::program::{Start, fail};

/// What it says.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The name of the service.
    pub name: &'static [u8],
    /// MiB of memory.
    pub size: u64,
    /// The server ends when so many sessions have ended; 0: never.
    pub sessions: u64,
    /// The file of the machine's archive with the first contents.
    pub archive: Option<&'static [u8]>,
}

impl Options {
    /// Reads the command line. What it does not say stays.
    pub fn read(mut self, start: Start) -> Self {
        let mut words = start.arguments();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) => value,
                None => fail(format_args!("{}: it has no value", text(word))),
            };
            let number = |value: &[u8]| match core::str::from_utf8(value).map(str::parse) {
                Ok(Ok(number)) => number,
                _ => fail(format_args!("{}: it has no number", text(word))),
            };
            match word {
                b"--name" => self.name = value(),
                b"--size" => self.size = number(value()),
                b"--sessions" => self.sessions = number(value()),
                archive => self.archive = Some(archive),
            }
        }
        self
    }
}

/// Bytes of a command line, to be printed.
pub fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("?")
}
