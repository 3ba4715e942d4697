//! Calls whose answers come from outside: files of the host, and what the console gives. Answers are input
//! as that of devices is, so that they are recorded and given again. Where an answer is known, the host is
//! not asked: a replay reads and writes no file.
use std::io;

use flick_device::Time;
use serde::{Deserialize, Serialize};

use super::host_files::{HostFile, HostFiles, Kind, Opened, error};
use crate::hart_order::Console;
use crate::outside::Outside;

/// What is around a call.
pub struct Around<'a, 'm> {
    pub outside: &'a mut Outside<'m>,
    pub console: &'a mut dyn Console,
    /// The virtual time.
    pub time: Time,
    /// The number of the hart's tile.
    pub tile: usize,
}

/// The calls of a program.
pub(super) struct Calls<'f, 'a, 'm> {
    pub files: &'f mut HostFiles,
    pub around: &'f mut Around<'a, 'm>,
}

/// What the outside says.
#[derive(Serialize, Deserialize)]
enum Answer {
    Number(u64),
    Bytes(Vec<u8>),
    /// How many bytes, and the file's position behind them.
    Written(u64, u64),
    /// The host's number of the error.
    Failed(i32),
}

impl Calls<'_, '_, '_> {
    /// Asks the outside, or repeats what it has said.
    fn ask(
        &mut self,
        live: impl FnOnce(&mut HostFiles, &mut dyn Console) -> io::Result<Answer>,
    ) -> io::Result<Answer> {
        let (files, console) = (&mut *self.files, &mut *self.around.console);
        let time = self.around.time;
        let said = self.around.outside.answer(time, || {
            let answer = live(files, console)
                .unwrap_or_else(|error| Answer::Failed(error.raw_os_error().unwrap_or(libc::EIO)));
            // Numbers and bytes can be written.
            postcard::to_stdvec(&answer).unwrap_or_default()
        });
        match said.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            Some(Answer::Failed(number)) => Err(error(number)),
            Some(answer) => Ok(answer),
            None => Err(self.diverge()),
        }
    }

    /// The answer is to another call.
    fn diverge(&mut self) -> io::Error {
        self.around.outside.diverge();
        error(libc::EIO)
    }

    fn number(&mut self, live: impl FnOnce(&mut HostFiles) -> io::Result<u64>) -> io::Result<u64> {
        match self.ask(|files, _| live(files).map(Answer::Number))? {
            Answer::Number(number) => Ok(number),
            _ => Err(self.diverge()),
        }
    }

    /// The handle of a file, of the console, or of the list of features.
    pub fn open(&mut self, name: &[u8], mode: u64) -> io::Result<u64> {
        let known = HostFiles::known(name, mode)?;
        let at = self.files.free_place()?;
        if let Some(known) = known {
            return Ok(self.files.put(at, known));
        }
        let mut file = None;
        self.number(|files| {
            file = Some(files.open_file(name, mode, true)?);
            Ok(0)
        })?;
        let name = name.to_vec();
        let opened = HostFile {
            name,
            mode,
            position: 0,
            file,
        };
        Ok(self.files.put(at, Opened::File(opened)))
    }

    /// Up to `most` bytes from the console, or none at its end.
    pub fn console(&mut self, most: usize) -> io::Result<Vec<u8>> {
        match self.ask(|_, console| Ok(Answer::Bytes(console.read(most))))? {
            Answer::Bytes(bytes) if bytes.len() <= most => Ok(bytes),
            _ => Err(self.diverge()),
        }
    }

    /// Up to `most` bytes of a file, or none at its end.
    pub fn read(&mut self, handle: u64, most: usize) -> io::Result<Vec<u8>> {
        if self.files.kind(handle)? == Kind::Features {
            return self.files.read_features(handle, most);
        }
        match self.ask(|files, _| files.read(handle, most).map(Answer::Bytes))? {
            Answer::Bytes(bytes) if bytes.len() <= most => {
                self.moved(handle, |position| {
                    position.saturating_add(bytes.len() as u64)
                })?;
                Ok(bytes)
            }
            _ => Err(self.diverge()),
        }
    }

    /// Writes to a file. Returns how much was written.
    pub fn write(&mut self, handle: u64, bytes: &[u8]) -> io::Result<u64> {
        if self.files.kind(handle)? != Kind::File {
            return Err(error(libc::EBADF));
        }
        let written = self.ask(|files, _| {
            let (size, position) = files.write(handle, bytes)?;
            Ok(Answer::Written(size, position))
        })?;
        match written {
            Answer::Written(size, to) if size <= bytes.len() as u64 => {
                self.moved(handle, |_| to)?;
                Ok(size)
            }
            _ => Err(self.diverge()),
        }
    }

    fn moved(&mut self, handle: u64, to: impl FnOnce(u64) -> u64) -> io::Result<()> {
        if let Opened::File(file) = self.files.entry(handle)? {
            file.position = to(file.position);
        }
        Ok(())
    }

    pub fn length(&mut self, handle: u64) -> io::Result<u64> {
        match self.files.known_length(handle)? {
            Some(length) => Ok(length),
            None => self.number(|files| files.length(handle)),
        }
    }

    pub fn remove(&mut self, name: &[u8]) -> io::Result<u64> {
        self.number(|files| files.remove(name).map(|()| 0))
    }

    pub fn rename(&mut self, from: &[u8], to: &[u8]) -> io::Result<u64> {
        self.number(|files| files.rename(from, to).map(|()| 0))
    }
}
