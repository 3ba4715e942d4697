//! A communication unit that software on harts does not drive: that of the host's tile, or of an accelerator's.
//! The tile has buffers for messages, at addresses where no memory is, and something else beside them.
use crate::device::{Device, Finish, Refused, Surroundings, Time};
use crate::dtu::{Dtu, Packet};
use flick_abi::dtu::{self, CommandWord, Error, Outcome};

/// What the unit of such a tile reaches beside its buffers.
pub(crate) trait Beside {
    /// Reads memory of the tile.
    fn read(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused>;

    /// Writes memory of the tile.
    fn write(
        &mut self,
        address: u64,
        bytes: &[u8],
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused>;

    /// [`Surroundings::read_register`].
    fn read_register(&mut self, _offset: u64) -> Result<u64, Refused> {
        Err(Refused)
    }

    /// [`Surroundings::write_register`].
    fn write_register(&mut self, _offset: u64, _value: u64) -> Result<(), Refused> {
        Err(Refused)
    }
}

/// The buffers of a tile.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    first: u64,
    pub bytes: Vec<u8>,
}

impl Buffers {
    /// So many bytes from an address on, which are 0.
    pub fn new(first: u64, size: usize) -> Self {
        let bytes = vec![0; size];
        Self { first, bytes }
    }

    /// The bytes at an address.
    pub fn at(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(self.first)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(size)?)
    }
}

/// The unit with what is around it, for one bank.
pub(crate) struct TileUnit<'a> {
    pub unit: &'a mut Dtu,
    pub inside: Inside<'a>,
}

impl TileUnit<'_> {
    /// Lets the unit do something.
    pub fn act<R>(&mut self, f: impl FnOnce(&mut Dtu, &mut dyn Surroundings) -> R) -> R {
        f(self.unit, &mut self.inside)
    }

    /// A register of page 0, or of the pages behind it.
    pub fn get(&mut self, register: u64) -> u64 {
        let read = self.act(|unit, inside| unit.read(register, 8, inside));
        read.unwrap_or(0)
    }

    /// Writes such a register.
    pub fn set(&mut self, register: u64, value: u64) {
        self.act(|unit, inside| {
            // Registers take writes of 8 bytes.
            let _: Result<(), Refused> = unit.write(register, 8, value, inside);
        });
    }

    /// Starts a command.
    pub fn command(&mut self, command: CommandWord) {
        self.set(dtu::COMMAND, command.bits());
    }

    /// The outcome of the last command; `None`: it runs.
    pub fn outcome(&mut self) -> Option<Result<u64, Error>> {
        (self.get(dtu::COMMAND) == 0).then(|| {
            let result = self.get(dtu::RESULT);
            Outcome::from_bits(result).result()
        })
    }
}

/// What the unit reaches.
pub(crate) struct Inside<'a> {
    pub around: &'a mut dyn Surroundings,
    pub bank: usize,
    pub buffers: &'a mut Buffers,
    pub beside: &'a mut dyn Beside,
}

impl Surroundings for Inside<'_> {
    fn now(&self) -> Time {
        self.around.now()
    }

    fn set_source(&mut self, source: u32, level: bool) {
        self.around.set_source(source, level);
    }

    // The tile has no harts.
    fn set_hart_line(&mut self, _: usize, _: u32, _: bool) {}

    fn schedule(&mut self, token: u32, at: Time) {
        self.around.schedule(token, at);
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        match self.buffers.at(address, bytes.len()) {
            Some(from) => bytes.copy_from_slice(from),
            None => self.beside.read(address, bytes, self.around)?,
        }
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        match self.buffers.at(address, bytes.len()) {
            Some(to) => to.copy_from_slice(bytes),
            None => self.beside.write(address, bytes, self.around)?,
        }
        Ok(())
    }

    fn output(&mut self, bytes: &[u8]) {
        self.around.output(bytes);
    }

    fn finish(&mut self, how: Finish) {
        self.around.finish(how);
    }

    fn hart(&self) -> usize {
        self.bank
    }

    fn read_register(&mut self, offset: u64) -> Result<u64, Refused> {
        self.beside.read_register(offset)
    }

    fn write_register(&mut self, offset: u64, value: u64) -> Result<(), Refused> {
        self.beside.write_register(offset, value)
    }

    fn send(&mut self, packet: Packet) -> bool {
        self.around.send(packet)
    }
}
