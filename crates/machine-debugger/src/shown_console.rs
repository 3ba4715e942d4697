//! The console of a machine that goes back and runs again. What it prints once more has been shown.
use std::thread::sleep;
use std::time::Duration;

use flick_machine::{Board, Console};

/// Shows each byte once, and does not wait longer than the debugger wants.
pub struct ShownConsole<'c> {
    inner: &'c mut dyn Console,
    /// Bytes that the machine has printed, up to where it is now.
    pub printed: u64,
    /// Bytes that were shown.
    shown: u64,
}

/// How often input is looked for while nothing else happens.
const PAUSE: Duration = Duration::from_millis(5);

impl<'c> ShownConsole<'c> {
    pub fn new(inner: &'c mut dyn Console) -> Self {
        Self {
            inner,
            printed: 0,
            shown: 0,
        }
    }

    /// What was to come has not happened: it will be shown, if it happens.
    pub fn forget_future(&mut self) {
        self.shown = self.printed;
    }

    /// For a run of which nothing is to be done but what is already known: `wants_stop` ends waiting.
    pub fn until<'s>(&'s mut self, wants_stop: &'s mut dyn FnMut() -> bool) -> Waiting<'s, 'c> {
        Waiting {
            console: self,
            wants_stop,
        }
    }
}

/// The console, with what ends waiting for input.
pub struct Waiting<'s, 'c> {
    console: &'s mut ShownConsole<'c>,
    wants_stop: &'s mut dyn FnMut() -> bool,
}

impl Console for Waiting<'_, '_> {
    fn output(&mut self, bytes: &[u8]) {
        let console = &mut *self.console;
        let known = console.shown.saturating_sub(console.printed);
        console.printed += bytes.len() as u64;
        if let Some(new) = bytes.get(known as usize..).filter(|new| !new.is_empty()) {
            console.shown = console.printed;
            console.inner.output(new);
        }
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        self.console.inner.read(most)
    }

    fn poll(&mut self, board: &Board, time: u64) -> bool {
        self.console.inner.poll(board, time)
    }

    fn wait(&mut self, board: &Board, time: u64) -> bool {
        loop {
            if self.console.inner.poll(board, time) {
                return true;
            }
            if (self.wants_stop)() {
                return false;
            }
            sleep(PAUSE);
        }
    }
}
