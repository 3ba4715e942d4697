//! Registers and memory of other tiles, as the root reaches them by its unit.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Identity, MemoryEndpoint, RegisterEndpoint,
};

use crate::cache;
use crate::dtu::{KERNEL, OF_HOST, Unit};

/// Endpoints of the root: they are the last ones of its unit, in front of those of the host's tile.
pub const ENDPOINTS: u16 = 3;

/// What is an error of another tile.
#[derive(Clone, Copy, Debug)]
pub struct NoAnswer;

impl From<dtu::Error> for NoAnswer {
    fn from(_: dtu::Error) -> Self {
        Self
    }
}

impl From<NoAnswer> for flick_abi::card::Error {
    fn from(_: NoAnswer) -> Self {
        Self::Failed
    }
}

impl Unit {
    fn last_endpoint(&self, n: u16) -> u16 {
        Identity::from_bits(self.get(dtu::IDENTITY)).endpoints - OF_HOST - ENDPOINTS + n
    }

    /// The endpoint by which the kernel sends messages of programs.
    pub fn root_sender(&self) -> u16 {
        self.last_endpoint(2)
    }

    /// Writes registers of the unit of a tile, or of its accelerator.
    pub fn write_registers(&self, tile: u16, offset: u64, words: &[u64]) -> Result<(), NoAnswer> {
        let endpoint = self.registers_of(tile);
        self.move_data(
            Command::Write,
            endpoint,
            (words.as_ptr().addr() as u64, offset),
            size_of_val(words) as u64,
        )
    }

    /// Reads a register.
    pub fn read_register(&self, tile: u16, offset: u64) -> Result<u64, NoAnswer> {
        let mut word = [0];
        self.read_registers(tile, offset, &mut word)?;
        Ok(word[0])
    }

    /// Reads registers from an offset on.
    pub fn read_registers(
        &self,
        tile: u16,
        offset: u64,
        words: &mut [u64],
    ) -> Result<(), NoAnswer> {
        let endpoint = self.registers_of(tile);
        let (at, size) = (words.as_mut_ptr(), size_of_val(words) as u64);
        self.move_data(Command::Read, endpoint, (at.addr() as u64, offset), size)?;
        cache::refresh(at.addr() as u64, size);
        // The unit has written the words, which the compiler cannot know.
        core::hint::black_box(words);
        Ok(())
    }

    fn registers_of(&self, tile: u16) -> u16 {
        let number = self.last_endpoint(0);
        let activity = KERNEL;
        self.set_endpoint(
            number,
            Endpoint::Registers(RegisterEndpoint { activity, tile }),
        );
        number
    }

    /// Copies between memory of the kernel's tile and that of another one, from an offset on.
    pub fn move_memory(
        &self,
        command: Command,
        (tile, address): (u16, u64),
        here: u64,
        size: u64,
    ) -> Result<(), NoAnswer> {
        let number = self.last_endpoint(1);
        let endpoint = MemoryEndpoint {
            activity: KERNEL,
            can_read: true,
            can_write: true,
            tile,
            address,
            size,
            receiver: 0,
        };
        self.set_endpoint(number, Endpoint::Memory(endpoint));
        self.move_data(command, number, (here, 0), size)
    }

    /// Copies between memory of the kernel and what an endpoint of its own reaches, from an offset on.
    pub fn move_data(
        &self,
        command: Command,
        endpoint: u16,
        (here, offset): (u64, u64),
        size: u64,
    ) -> Result<(), NoAnswer> {
        // A message to the host may be on its way still.
        #[cfg(feature = "host")]
        self.finish();
        self.set(dtu::ADDRESS, here);
        self.set(dtu::SIZE, size);
        self.set(dtu::OFFSET, offset);
        self.execute(CommandWord::new(command, endpoint))?;
        Ok(())
    }

    /// An endpoint of a tile is of no use any more, and nothing that was sent by it is under way.
    pub fn clear_remote(&self, tile: u16, number: u16) -> Result<(), NoAnswer> {
        self.set_remote(tile, number, None)?;
        self.finish_commands(tile)
    }

    /// A command that has begun goes on when its endpoint is gone: waits for its end.
    pub fn finish_commands(&self, tile: u16) -> Result<(), NoAnswer> {
        self.write_registers(tile, dtu::ABORT, &[0])?;
        while self.read_register(tile, dtu::ABORT)? != 0 {}
        self.write_registers(tile, dtu::ENABLE, &[1])
    }

    /// Sets an endpoint of the unit of a tile up.
    pub fn set_remote(
        &self,
        tile: u16,
        number: u16,
        endpoint: Option<Endpoint>,
    ) -> Result<(), NoAnswer> {
        let words = endpoint.map_or(Endpoint::NONE, |endpoint| endpoint.words());
        self.write_registers(tile, dtu::endpoint_word(number, 0), &words)
    }
}
