//! A communication unit that software on harts does not drive: that of the host's tile, or of an accelerator's.
//! The tile has buffers for messages, at addresses where no memory is, and something else beside them.
use flick_abi::dtu::{self, CommandWord, Error, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::device::{
    BadState, Bytes, Device, Finish, Refused, Surroundings, Time, check_state, load_state,
    save_state,
};
use crate::dtu::{BadDtu, Dtu, DtuDescription, Packet};

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

/// A unit that the module of an accelerator drives, by its only bank, with the module's state and its buffers.
pub(crate) struct ModuleUnit<S> {
    unit: Dtu,
    pub state: S,
    pub buffers: Buffers,
}

impl<S: Beside + Default + Serialize + DeserializeOwned> ModuleUnit<S> {
    /// The unit, and a module that does nothing.
    pub fn new(unit: DtuDescription, buffers: Buffers) -> Result<Self, BadDtu> {
        let unit = DtuDescription {
            harts: 1,
            kernel: None,
            is_root: false,
            is_governed: false,
            ..unit
        };
        Ok(Self {
            unit: Dtu::new(unit)?,
            state: S::default(),
            buffers,
        })
    }

    /// The unit as it is.
    pub fn idle_unit(&self) -> &Dtu {
        &self.unit
    }

    /// The unit, for the module.
    pub fn unit<'a>(&'a mut self, around: &'a mut dyn Surroundings) -> TileUnit<'a> {
        TileUnit {
            unit: &mut self.unit,
            inside: Inside {
                around,
                bank: 0,
                buffers: &mut self.buffers,
                beside: &mut self.state,
            },
        }
    }

    /// [`Device::reset`].
    pub fn reset(&mut self) {
        self.unit.reset();
        self.state = S::default();
        self.buffers.bytes.fill(0);
    }

    /// [`Device::save`].
    pub fn save(&self) -> Vec<u8> {
        let buffers = Bytes(self.buffers.bytes.clone());
        save_state(&(Bytes(self.unit.save()), &self.state, buffers))
    }

    /// [`Device::load`] of a device with this name, if the module's state passes a check.
    pub fn load(
        &mut self,
        device: &'static str,
        saved: &[u8],
        check: impl FnOnce(&S) -> Result<(), BadState>,
    ) -> Result<(), BadState> {
        let (unit, state, buffers): (Bytes, S, Bytes) = load_state(device, saved)?;
        check(&state)?;
        let fits = buffers.0.len() == self.buffers.bytes.len();
        check_state(device, fits, "its buffers are of another tile")?;
        self.unit.load(&unit.0)?;
        (self.state, self.buffers.bytes) = (state, buffers.0);
        Ok(())
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
    fn message_stored(&mut self) {
        self.around.message_stored();
    }

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
