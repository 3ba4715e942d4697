//! How a program starts and fails: its arguments, and texts on the console.
use core::fmt::{self, Write};

use flick_abi::card::ProgramStart;

use crate::calls::{console_write, end};

// No caller: backtraces end here.
core::arch::global_asm!(
    ".section .text._start, \"ax\"",
    ".globl _start",
    "_start:",
    "li fp, 0",
    "li ra, 0",
    "j server_start",
);

/// The record of the start, which stays.
#[derive(Clone, Copy, Debug)]
pub struct Start(&'static ProgramStart);

impl Start {
    /// # Safety
    /// The kernel has given this address to the program's first thread in a0.
    pub const unsafe fn at(record: *const ProgramStart) -> Self {
        // SAFETY: the kernel maps the record, and nobody changes it.
        Self(unsafe { &*record })
    }

    /// Ticks of the clock in a second.
    pub fn frequency(&self) -> u64 {
        self.0.frequency
    }

    /// The words behind the program's name.
    pub fn arguments(&self) -> impl Iterator<Item = &'static [u8]> {
        let ProgramStart {
            text,
            size,
            arguments,
            ..
        } = *self.0;
        // SAFETY: the kernel, or who has started the program, has put the texts there.
        let text = unsafe { core::slice::from_raw_parts(text as *const u8, size as usize) };
        let words = text.split(|&byte| byte == 0);
        words.take(arguments as usize).skip(1)
    }
}

/// What goes to the console in one piece.
struct Line {
    text: [u8; 160],
    size: usize,
}

impl Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = &mut self.text[self.size..];
        let size = part.len().min(room.len());
        room[..size].copy_from_slice(&part.as_bytes()[..size]);
        self.size += size;
        Ok(())
    }
}

/// Writes a line to the console.
pub fn print(text: fmt::Arguments<'_>) {
    let mut line = Line {
        text: [0; 160],
        size: 0,
    };
    let _: fmt::Result = writeln!(line, "{text}");
    console_write(&line.text[..line.size]);
}

/// The program ends with a message.
pub fn fail(text: fmt::Arguments<'_>) -> ! {
    print(text);
    end(1)
}

/// A bug ends the program.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(panic: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("server: {panic}"));
    end(134)
}
