//! Semihosting: a bare program asks the machine's outside by a sequence of three instructions, with the
//! number of a call in a0 and an argument in a1. Whatever a program passes, a call fails at worst.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the calls |
//! | `host_files.rs` | files of the host in one folder |
//! | `repeated_calls.rs` | what the outside says to programs, which is kept and given again |
//! | `saved_files.rs` | what is open, for snapshots |
//!
//! Sources: *RISC-V Semihosting* 1.0 (the sequence), and Arm's *Semihosting for AArch32 and AArch64*
//! (the calls; fields have 64 bits).
use std::path::PathBuf;

use flick_device::Time;
use flick_hart::Processor;

use crate::board::Board;
use crate::described_system::EPOCH;

mod host_files;
mod repeated_calls;
mod saved_files;

pub use host_files::UnopenedFile;
use host_files::{HostFiles, Kind};
pub use repeated_calls::Around;
use repeated_calls::Calls;
pub use saved_files::SavedSemihosting;

const OPEN: u64 = 0x01;
const CLOSE: u64 = 0x02;
const WRITE_CHARACTER: u64 = 0x03;
const WRITE_TEXT: u64 = 0x04;
const WRITE: u64 = 0x05;
const READ: u64 = 0x06;
const READ_CHARACTER: u64 = 0x07;
const IS_ERROR: u64 = 0x08;
const IS_TERMINAL: u64 = 0x09;
const SEEK: u64 = 0x0a;
const LENGTH: u64 = 0x0c;
const REMOVE: u64 = 0x0e;
const RENAME: u64 = 0x0f;
const CLOCK: u64 = 0x10;
const TIME: u64 = 0x11;
const ERRNO: u64 = 0x13;
const COMMAND_LINE: u64 = 0x15;
const HEAP: u64 = 0x16;
const EXIT: u64 = 0x18;
const EXIT_EXTENDED: u64 = 0x20;
const ELAPSED: u64 = 0x30;
const TICK_FREQUENCY: u64 = 0x31;

/// What fails.
const FAILED: u64 = u64::MAX;
/// `ADP_Stopped_ApplicationExit`: the program has ended by itself.
const APPLICATION_EXIT: u64 = 0x2_0026;
/// What goes between the program and a file at a time.
const PIECE: u64 = 64 << 10;
/// Bytes of a text at most, and of a file's name.
const LONGEST: u64 = 1 << 20;
const LONGEST_NAME: u64 = 4096;
const PS_PER_NS: Time = 1_000;
const NS_PER_S: u64 = 1_000_000_000;
const PS_PER_CENTISECOND: Time = 10_000_000_000;

/// What the outside lets programs see.
#[derive(Clone, Debug, Default)]
pub struct SemihostingSetup {
    /// Files in this folder may be read and written; `None`: no files.
    pub folder: Option<PathBuf>,
    /// The program's command line.
    pub command_line: String,
    /// Memory for the heap and the stack, by tile: from the program's end to this address.
    pub free: Vec<std::ops::Range<u64>>,
}

/// The state of semihosting.
#[derive(Debug)]
pub struct Semihosting {
    setup: SemihostingSetup,
    files: HostFiles,
    errno: i32,
}

type Hart<'m> = Processor<'m, Board>;

/// An argument's address leads nowhere.
struct Fault;

/// What a call returns, or that the program ends.
enum Answer {
    Value(u64),
    Exit(u32),
}

impl Semihosting {
    /// At the reset: no file is open.
    pub fn new(setup: SemihostingSetup) -> Self {
        Self {
            files: HostFiles::new(setup.folder.clone()),
            setup,
            errno: 0,
        }
    }

    /// The machine starts again.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(std::mem::take(&mut self.setup));
    }

    /// Executes the call that the hart has made. Returns the program's status if it
    /// ends.
    pub(crate) fn call(&mut self, hart: &mut Hart<'_>, around: &mut Around<'_, '_>) -> Option<u32> {
        let (number, argument) = (hart.hart.x[10], hart.hart.x[11]);
        let answer = self.answer(hart, around, number, argument);
        match answer {
            Ok(Answer::Exit(status)) => return Some(status),
            Ok(Answer::Value(value)) => hart.hart.x[10] = value,
            Err(Fault) => {
                self.errno = libc::EFAULT;
                hart.hart.x[10] = match number {
                    // Nothing has been read or written.
                    READ | WRITE => word(hart, argument.wrapping_add(16)).unwrap_or(FAILED),
                    _ => FAILED,
                };
            }
        }
        None
    }

    fn answer(
        &mut self,
        hart: &mut Hart<'_>,
        around: &mut Around<'_, '_>,
        number: u64,
        argument: u64,
    ) -> Result<Answer, Fault> {
        let time = around.time;
        let field = |n: u64| word(hart, argument.wrapping_add(8 * n));
        let value = match number {
            OPEN => {
                let name = text(hart, field(0)?, field(2)?)?;
                let mode = field(1)?;
                self.done(around, |calls| calls.open(&name, mode))
            }
            CLOSE => {
                let handle = field(0)?;
                self.done(around, |calls| calls.files.close(handle).map(|()| 0))
            }
            WRITE_CHARACTER => {
                let byte = hart.load_byte(argument).ok_or(Fault)?;
                around.console.output(&[byte]);
                0
            }
            WRITE_TEXT => {
                let mut bytes = vec![];
                while (bytes.len() as u64) < LONGEST {
                    let at = argument.wrapping_add(bytes.len() as u64);
                    match hart.load_byte(at).ok_or(Fault)? {
                        0 => break,
                        byte => bytes.push(byte),
                    }
                }
                around.console.output(&bytes);
                0
            }
            WRITE => {
                let (handle, from, size) = (field(0)?, field(1)?, field(2)?);
                self.write(hart, around, handle, from, size)?
            }
            READ => {
                let (handle, to, size) = (field(0)?, field(1)?, field(2)?);
                self.read(hart, around, handle, to, size)?
            }
            READ_CHARACTER => {
                let mut bytes = vec![];
                self.done(around, |calls| {
                    bytes = calls.console(1)?;
                    Ok(0)
                });
                match bytes.first() {
                    Some(&byte) => byte.into(),
                    None => FAILED,
                }
            }
            IS_ERROR => u64::from((field(0)? as i64) < 0),
            IS_TERMINAL => {
                let handle = field(0)?;
                self.done(around, |calls| {
                    let kind = calls.files.kind(handle)?;
                    Ok((kind == Kind::Input || kind == Kind::Output).into())
                })
            }
            SEEK => {
                let (handle, position) = (field(0)?, field(1)?);
                self.done(around, |calls| {
                    calls.files.seek(handle, position).map(|()| 0)
                })
            }
            LENGTH => {
                let handle = field(0)?;
                self.done(around, |calls| calls.length(handle))
            }
            REMOVE => {
                let name = text(hart, field(0)?, field(1)?)?;
                self.done(around, |calls| calls.remove(&name))
            }
            RENAME => {
                let from = text(hart, field(0)?, field(1)?)?;
                let to = text(hart, field(2)?, field(3)?)?;
                self.done(around, |calls| calls.rename(&from, &to))
            }
            CLOCK => time / PS_PER_CENTISECOND,
            TIME => (EPOCH + time / PS_PER_NS) / NS_PER_S,
            ERRNO => self.errno as u64,
            COMMAND_LINE => {
                let (to, room) = (field(0)?, field(1)?);
                let line = self.setup.command_line.as_bytes();
                if line.len() as u64 >= room {
                    self.errno = libc::E2BIG;
                    FAILED
                } else {
                    store(hart, to, line)?;
                    store(hart, to.wrapping_add(line.len() as u64), &[0])?;
                    let length = line.len() as u64;
                    store(hart, argument.wrapping_add(8), &length.to_le_bytes())?;
                    0
                }
            }
            HEAP => {
                let block = field(0)?;
                let free = self.setup.free.get(around.tile).cloned().unwrap_or(0..0);
                let middle = (free.start + (free.end - free.start.min(free.end)) / 2) & !15;
                let fields = [free.start, middle, free.end, middle];
                let bytes: Vec<u8> = fields.iter().flat_map(|f| f.to_le_bytes()).collect();
                store(hart, block, &bytes)?;
                0
            }
            EXIT | EXIT_EXTENDED => {
                let (reason, status) = (field(0)?, field(1)?);
                return Ok(Answer::Exit(match reason {
                    APPLICATION_EXIT => status as u32,
                    _ => 1,
                }));
            }
            ELAPSED => {
                store(hart, argument, &(time / PS_PER_NS).to_le_bytes())?;
                0
            }
            TICK_FREQUENCY => NS_PER_S,
            _ => {
                self.errno = libc::ENOSYS;
                FAILED
            }
        };
        Ok(Answer::Value(value))
    }

    fn done(
        &mut self,
        around: &mut Around<'_, '_>,
        call: impl FnOnce(&mut Calls<'_, '_, '_>) -> std::io::Result<u64>,
    ) -> u64 {
        let files = &mut self.files;
        call(&mut Calls { files, around }).unwrap_or_else(|error| {
            self.errno = error.raw_os_error().unwrap_or(libc::EIO);
            FAILED
        })
    }

    /// Returns how many bytes have not been written.
    fn write(
        &mut self,
        hart: &Hart<'_>,
        around: &mut Around<'_, '_>,
        handle: u64,
        from: u64,
        size: u64,
    ) -> Result<u64, Fault> {
        let mut left = size;
        while left != 0 {
            let at = from.wrapping_add(size - left);
            let piece = bytes(hart, at, left.min(PIECE));
            let is_whole = piece.len() as u64 == left.min(PIECE);
            let written = self.done(around, |calls| match calls.files.kind(handle)? {
                Kind::Output => {
                    calls.around.console.output(&piece);
                    Ok(piece.len() as u64)
                }
                _ => calls.write(handle, &piece),
            });
            if written == FAILED {
                break;
            }
            left -= written;
            if !is_whole {
                self.errno = libc::EFAULT;
            }
            if !is_whole || written == 0 {
                break;
            }
        }
        Ok(left)
    }

    /// Returns how many bytes have not been read.
    fn read(
        &mut self,
        hart: &Hart<'_>,
        around: &mut Around<'_, '_>,
        handle: u64,
        to: u64,
        size: u64,
    ) -> Result<u64, Fault> {
        let mut left = size;
        while left != 0 {
            let most = left.min(PIECE) as usize;
            let mut piece = vec![];
            let read = self.done(around, |calls| {
                piece = match calls.files.kind(handle)? {
                    Kind::Input => calls.console(most)?,
                    _ => calls.read(handle, most)?,
                };
                Ok(piece.len() as u64)
            });
            if read == FAILED || read == 0 {
                break;
            }
            store(hart, to.wrapping_add(size - left), &piece)?;
            left -= read.min(left);
            // A terminal gives a line at a time.
            if piece.len() < most {
                break;
            }
        }
        Ok(left)
    }
}

/// Up to so many bytes of the program's memory, as many as there are.
fn bytes(hart: &Hart<'_>, from: u64, size: u64) -> Vec<u8> {
    let all = (0..size).map_while(|n| hart.load_byte(from.wrapping_add(n)));
    all.collect()
}

fn word(hart: &Hart<'_>, address: u64) -> Result<u64, Fault> {
    let bytes = bytes(hart, address, 8);
    let word = bytes.try_into().map_err(|_| Fault)?;
    Ok(u64::from_le_bytes(word))
}

fn text(hart: &Hart<'_>, address: u64, size: u64) -> Result<Vec<u8>, Fault> {
    if size > LONGEST_NAME {
        return Err(Fault);
    }
    let bytes = bytes(hart, address, size);
    match bytes.len() as u64 == size {
        true => Ok(bytes),
        false => Err(Fault),
    }
}

fn store(hart: &Hart<'_>, to: u64, bytes: &[u8]) -> Result<(), Fault> {
    let mut all = (0..).zip(bytes);
    match all.all(|(n, &byte)| hart.store_byte(to.wrapping_add(n), byte)) {
        true => Ok(()),
        false => Err(Fault),
    }
}
