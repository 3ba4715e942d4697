//! The serial port: PC16550D, the data sheet of National Semiconductor, chapter 8.
//!
//! Transmission takes no time: a byte leaves at the write, and the holding register is empty again.
//! Words travel whole, whatever the line control register says of their length, because bare
//! programs print without a set-up of the line. Input waits outside while the receiver is full
//! ([`Surroundings::input_ready`]), so only the loopback can overrun it.
use crate::device::{
    BadState, Device, Refused, Surroundings, Time, check_state, load_state, save_state,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes in the receiver's FIFO.
const FIFO: usize = 16;
/// The token of the character timeout.
const TIMEOUT: u32 = 0;

/// Bits of IER: the interrupt sources.
mod ier {
    pub const RECEIVED: u8 = 1;
    pub const EMPTY: u8 = 2;
    pub const LINE: u8 = 4;
    pub const MODEM: u8 = 8;
}

/// Values of IIR, by descending priority.
mod iir {
    pub const LINE: u8 = 6;
    pub const RECEIVED: u8 = 4;
    pub const TIMEOUT: u8 = 12;
    pub const EMPTY: u8 = 2;
    pub const MODEM: u8 = 0;
    pub const NONE: u8 = 1;
    pub const FIFOS: u8 = 0xc0;
}

/// Bits of FCR.
mod fcr {
    pub const ENABLE: u8 = 1;
    pub const CLEAR_RECEIVER: u8 = 2;
    pub const CLEAR_TRANSMITTER: u8 = 4;
}

/// Bits of LCR.
mod lcr {
    pub const TWO_STOP_BITS: u8 = 4;
    pub const PARITY: u8 = 8;
    pub const DIVISOR: u8 = 0x80;
}

/// Bits of MCR.
mod mcr {
    pub const DTR: u8 = 1;
    pub const RTS: u8 = 2;
    pub const OUT1: u8 = 4;
    pub const OUT2: u8 = 8;
    pub const LOOP: u8 = 0x10;
    pub const ALL: u8 = 0x1f;
}

/// Bits of LSR.
mod lsr {
    pub const READY: u8 = 1;
    pub const OVERRUN: u8 = 2;
    pub const EMPTY: u8 = 0x60;
}

/// Bits of MSR. The changes of the upper four inputs are in the lower four bits.
mod msr {
    pub const CTS: u8 = 0x10;
    pub const DSR: u8 = 0x20;
    pub const RI: u8 = 0x40;
    pub const DCD: u8 = 0x80;
    pub const CHANGES: u8 = 0xf;
    pub const RING_ENDED: u8 = 4;
}

/// The inputs of the modem outside of the loopback: the other end is there and ready.
const PEER: u8 = msr::CTS | msr::DSR | msr::DCD;

/// What can change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    divisor: u16,
    ier: u8,
    fcr: u8,
    lcr: u8,
    mcr: u8,
    msr: u8,
    scratch: u8,
    /// Received bytes: FIFO, or without one the single receiver buffer register.
    received: VecDeque<u8>,
    overrun: bool,
    /// Characters have waited below the trigger level for the time of four.
    timed_out: bool,
    /// The interrupt "holding register empty" is pending.
    empty_pending: bool,
    /// Input was refused, and whoever has it waits.
    input_waits: bool,
    level: bool,
}

impl State {
    fn new() -> Self {
        Self {
            // The data sheet leaves the divisor at reset open.
            divisor: 12,
            msr: PEER,
            ..Self::default()
        }
    }
}

/// A 16550A with one interrupt.
#[derive(Clone, Debug)]
pub struct Uart16550 {
    source: u32,
    register_shift: u32,
    clock: u64,
    state: State,
}

impl Uart16550 {
    /// A serial port that raises `source`, with registers of `1 << register_shift` bytes, and a
    /// clock of `clock` Hz (`clock-frequency` of the device tree). The clock times the interrupt
    /// "character timeout" alone.
    pub fn new(source: u32, register_shift: u32, clock: u32) -> Self {
        Self {
            source,
            register_shift: register_shift.min(8),
            clock: clock.max(1).into(),
            state: State::new(),
        }
    }

    /// How many bytes [`Device::input`] would take.
    pub fn room(&self) -> usize {
        match self.state.mcr & mcr::LOOP {
            0 => self.capacity() - self.state.received.len(),
            _ => 0,
        }
    }

    fn register(&self, offset: u64) -> Result<u64, Refused> {
        let register = offset >> self.register_shift;
        match register << self.register_shift == offset && register < 8 {
            true => Ok(register),
            false => Err(Refused),
        }
    }

    fn fifos(&self) -> bool {
        self.state.fcr & fcr::ENABLE != 0
    }

    fn capacity(&self) -> usize {
        if self.fifos() { FIFO } else { 1 }
    }

    /// The number of received bytes that raise the interrupt.
    fn trigger(&self) -> usize {
        match (self.fifos(), self.state.fcr >> 6) {
            (false, _) | (true, 0) => 1,
            (true, 1) => 4,
            (true, 2) => 8,
            (true, _) => 14,
        }
    }

    /// The pending interrupt of the highest priority, as in the lower bits of IIR.
    fn interrupt(&self) -> u8 {
        let state = &self.state;
        let enabled = |bit| state.ier & bit != 0;
        if enabled(ier::LINE) && state.overrun {
            iir::LINE
        } else if enabled(ier::RECEIVED) && state.received.len() >= self.trigger() {
            iir::RECEIVED
        } else if enabled(ier::RECEIVED) && state.timed_out {
            iir::TIMEOUT
        } else if enabled(ier::EMPTY) && state.empty_pending {
            iir::EMPTY
        } else if enabled(ier::MODEM) && state.msr & msr::CHANGES != 0 {
            iir::MODEM
        } else {
            iir::NONE
        }
    }

    /// Sets the interrupt's level. After a `cause` it is announced even if it was high before
    /// ([`crate::plic::Gateways::Message`]).
    fn update(&mut self, cause: bool, around: &mut dyn Surroundings) {
        let level = self.interrupt() != iir::NONE;
        if level != self.state.level || level && cause {
            self.state.level = level;
            around.set_source(self.source, level);
        }
    }

    /// Restarts the time after which waiting characters raise the interrupt (data sheet,
    /// "FIFO interrupt mode operation": four characters after the last that came or was read).
    fn restart_timeout(&mut self, around: &mut dyn Surroundings) {
        let at = match self.fifos() && !self.state.received.is_empty() {
            true => around.now().saturating_add(self.four_characters()),
            false => Time::MAX,
        };
        around.schedule(TIMEOUT, at);
    }

    /// The time of four characters on the line.
    fn four_characters(&self) -> Time {
        let lcr = self.state.lcr;
        let mut bits = 1 + 5 + u64::from(lcr & 3) + 1;
        bits += u64::from(lcr & lcr::TWO_STOP_BITS != 0);
        bits += u64::from(lcr & lcr::PARITY != 0);
        // The data sheet gives no meaning to a divisor of 0.
        let clocks = 4 * bits * 16 * u64::from(self.state.divisor.max(1));
        let time = (u128::from(clocks) * 1_000_000_000_000).div_ceil(self.clock.into());
        Time::try_from(time).unwrap_or(Time::MAX)
    }

    /// A byte from the line, or from the transmitter in loopback.
    fn receive(&mut self, byte: u8) {
        if self.state.received.len() < self.capacity() {
            self.state.received.push_back(byte);
        } else {
            self.state.overrun = true;
            if !self.fifos() {
                // The register is overwritten; a FIFO keeps what it has.
                self.state.received[0] = byte;
            }
        }
    }

    fn read_received(&mut self, around: &mut dyn Surroundings) -> u8 {
        let byte = self.state.received.pop_front().unwrap_or_default();
        self.state.timed_out = false;
        self.restart_timeout(around);
        byte
    }

    fn transmit(&mut self, byte: u8, around: &mut dyn Surroundings) {
        match self.state.mcr & mcr::LOOP {
            0 => around.output(&[byte]),
            _ => {
                self.receive(byte);
                self.restart_timeout(around);
            }
        }
        self.state.empty_pending = true;
    }

    fn write_ier(&mut self, value: u8) {
        let rises = value & !self.state.ier;
        // The holding register is always empty, so enabling its interrupt raises it.
        self.state.empty_pending |= rises & ier::EMPTY != 0;
        self.state.ier = value & 0xf;
    }

    fn write_fcr(&mut self, value: u8, around: &mut dyn Surroundings) {
        let switched = (value ^ self.state.fcr) & fcr::ENABLE != 0;
        if switched || value & fcr::CLEAR_RECEIVER != 0 {
            self.state.received.clear();
            self.state.timed_out = false;
            self.restart_timeout(around);
        }
        // An emptied transmitter can take bytes.
        self.state.empty_pending |= switched || value & fcr::CLEAR_TRANSMITTER != 0;
        // The other bits are not programmed while bit 0 is not set.
        self.state.fcr = match value & fcr::ENABLE {
            0 => 0,
            _ => value & 0xc9,
        };
    }

    fn write_mcr(&mut self, value: u8) {
        self.state.mcr = value & mcr::ALL;
        let mut inputs = PEER;
        if value & mcr::LOOP != 0 {
            let pairs = [
                (mcr::DTR, msr::DSR),
                (mcr::RTS, msr::CTS),
                (mcr::OUT1, msr::RI),
                (mcr::OUT2, msr::DCD),
            ];
            let set = pairs.iter().filter(|(output, _)| value & output != 0);
            inputs = set.fold(0, |inputs, (_, input)| inputs | input);
        }
        let before = self.state.msr;
        let mut changes = (before ^ inputs) >> 4;
        if before & msr::RI == 0 {
            // Only the end of a ring is reported.
            changes &= !msr::RING_ENDED;
        }
        self.state.msr = inputs | before & msr::CHANGES | changes;
    }

    fn read_register(&mut self, register: u64, around: &mut dyn Surroundings) -> u8 {
        let divisor = self.state.lcr & lcr::DIVISOR != 0;
        match register {
            0 if divisor => self.state.divisor as u8,
            0 => self.read_received(around),
            1 if divisor => (self.state.divisor >> 8) as u8,
            1 => self.state.ier,
            2 => {
                let interrupt = self.interrupt();
                if interrupt == iir::EMPTY {
                    self.state.empty_pending = false;
                }
                interrupt | if self.fifos() { iir::FIFOS } else { 0 }
            }
            3 => self.state.lcr,
            4 => self.state.mcr,
            5 => {
                let ready = u8::from(!self.state.received.is_empty()) * lsr::READY;
                let overrun = u8::from(std::mem::take(&mut self.state.overrun)) * lsr::OVERRUN;
                lsr::EMPTY | ready | overrun
            }
            6 => {
                let value = self.state.msr;
                self.state.msr &= !msr::CHANGES;
                value
            }
            _ => self.state.scratch,
        }
    }

    fn write_register(&mut self, register: u64, value: u8, around: &mut dyn Surroundings) {
        let divisor = self.state.lcr & lcr::DIVISOR != 0;
        let state = &mut self.state;
        match register {
            0 if divisor => state.divisor = state.divisor & 0xff00 | u16::from(value),
            0 => self.transmit(value, around),
            1 if divisor => state.divisor = state.divisor & 0xff | u16::from(value) << 8,
            1 => self.write_ier(value),
            2 => self.write_fcr(value, around),
            3 => state.lcr = value,
            4 => self.write_mcr(value),
            // LSR and MSR are for reading; the data sheet keeps writes of them for factory tests.
            5 | 6 => {}
            _ => state.scratch = value,
        }
    }

    /// After an access: the interrupt's line, and input that waits for room.
    fn settle(&mut self, cause: bool, around: &mut dyn Surroundings) {
        self.update(cause, around);
        if self.state.input_waits && self.room() > 0 {
            self.state.input_waits = false;
            around.input_ready();
        }
    }
}

/// An access of more than one byte reaches the register at its offset alone: the bus of the serial
/// port has eight lines.
impl Device for Uart16550 {
    fn read(
        &mut self,
        offset: u64,
        _size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        let register = self.register(offset)?;
        let value = self.read_register(register, around);
        // The rest of the receiver's bytes is a new cause.
        self.settle(register == 0, around);
        Ok(value.into())
    }

    fn write(
        &mut self,
        offset: u64,
        _size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        let register = self.register(offset)?;
        self.write_register(register, value as u8, around);
        // A byte that left, interrupts that were enabled, FIFOs that were emptied.
        self.settle(register <= 2, around);
        Ok(())
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        if token == TIMEOUT && self.fifos() && !self.state.received.is_empty() {
            self.state.timed_out = true;
            self.update(true, around);
        }
    }

    fn input(&mut self, bytes: &[u8], around: &mut dyn Surroundings) -> usize {
        let taken = self.room().min(bytes.len());
        bytes[..taken].iter().for_each(|&byte| self.receive(byte));
        self.state.input_waits = taken < bytes.len();
        if taken > 0 {
            self.restart_timeout(around);
            self.update(true, around);
        }
        taken
    }

    fn reset(&mut self) {
        // Input that waits for room goes on waiting.
        self.state = State {
            input_waits: self.state.input_waits,
            ..State::new()
        };
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        const NAME: &str = "16550 UART";
        let state: State = load_state(NAME, state)?;
        let loaded = Self {
            state,
            ..self.clone()
        };
        let fits = loaded.state.received.len() <= loaded.capacity();
        check_state(NAME, fits, "more bytes than the receiver holds")?;
        *self = loaded;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
