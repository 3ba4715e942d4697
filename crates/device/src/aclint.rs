//! Timer and software interrupts: the RISC-V ACLINT specification, version 1.0-rc4 (chapters 2 to
//! 4), and the layout of the older CLINT, which is an MSWI and an MTIMER side by side.
//!
//! Registers of absent harts read as 0 and ignore writes. The timer's registers take accesses of 4
//! and 8 bytes, the others of 4 bytes. Misaligned accesses are refused.
use crate::device::{
    BadState, Device, Refused, Surroundings, Time, check_state, load_state, save_state,
};
use crate::timebase::Timebase;
use serde::{Deserialize, Serialize};

const SSIP: u32 = 1;
const MSIP: u32 = 3;
const MTIP: u32 = 7;

/// The bytes of an MSWI's or SSWI's registers.
const SOFTWARE_SIZE: u64 = 0x4000;
/// The offset of `mtime` in an MTIMER whose `mtimecmp` registers precede it.
const MTIME: u64 = 0x7ff8;

/// Machine-level software interrupts (ACLINT, chapter 3): a register `MSIP` of 4 bytes for each
/// hart, whose bit 0 is `mip.MSIP`. Its range has 0x4000 bytes.
#[derive(Clone, Debug)]
pub struct Mswi {
    first_hart: usize,
    levels: Vec<bool>,
}

impl Mswi {
    /// For `harts` harts from `first_hart` on.
    pub fn new(first_hart: usize, harts: usize) -> Self {
        Self {
            first_hart,
            levels: vec![false; harts],
        }
    }
}

/// The number of the register of 4 bytes at `offset`.
fn word_index(offset: u64, size: u32) -> Result<usize, Refused> {
    match size == 4 && offset.is_multiple_of(4) && offset < SOFTWARE_SIZE {
        true => Ok((offset / 4) as usize),
        false => Err(Refused),
    }
}

impl Device for Mswi {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        _around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        let level = self.levels.get(word_index(offset, size)?);
        Ok(level.copied().unwrap_or_default().into())
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        let index = word_index(offset, size)?;
        if let Some(level) = self.levels.get_mut(index) {
            *level = value & 1 != 0;
            around.set_hart_line(self.first_hart + index, MSIP, *level);
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.levels)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let levels: Vec<bool> = load_state("MSWI", state)?;
        check_state("MSWI", levels.len() == self.levels.len(), "other harts")?;
        self.levels = levels;
        Ok(())
    }
}

/// Supervisor-level software interrupts (ACLINT, chapter 4): a register `SETSSIP` of 4 bytes for
/// each hart. A write of 1 sets the hart's `mip.SSIP`, and the register reads as 0. Its range has
/// 0x4000 bytes.
#[derive(Clone, Debug)]
pub struct Sswi {
    first_hart: usize,
    harts: usize,
}

impl Sswi {
    /// For `harts` harts from `first_hart` on.
    pub fn new(first_hart: usize, harts: usize) -> Self {
        Self { first_hart, harts }
    }
}

impl Device for Sswi {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        _around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        word_index(offset, size).map(|_| 0)
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        let index = word_index(offset, size)?;
        if index < self.harts && value & 1 != 0 {
            around.set_hart_line(self.first_hart + index, SSIP, true);
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        // The bit that a write sets is in the hart.
        save_state(&())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        load_state("SSWI", state)
    }
}

/// What can change in an MTIMER.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TimerState {
    time: Timebase,
    compare: Vec<u64>,
    levels: Vec<bool>,
}

/// The machine-level timer (ACLINT, chapter 2): `mtimecmp` of each hart from offset 0 on, and
/// `mtime` at 0x7ff8. Its range has 0x8000 bytes. `mip.MTIP` is high while `mtime >= mtimecmp`.
///
/// The value of `mtimecmp` at reset is left open; here all its bits are set, so that no interrupt
/// is pending. Event tokens are the harts' numbers in the device.
#[derive(Clone, Debug)]
pub struct Mtimer {
    first_hart: usize,
    state: TimerState,
}

impl Mtimer {
    /// For `harts` harts from `first_hart` on.
    pub fn new(first_hart: usize, harts: usize, time: Timebase) -> Self {
        let state = TimerState {
            time,
            compare: vec![u64::MAX; harts],
            levels: vec![false; harts],
        };
        Self { first_hart, state }
    }

    /// The counter as software has set it, for the harts' `time` CSR and `stimecmp`. A write of
    /// `mtime` changes it.
    pub fn timebase(&self) -> Timebase {
        self.state.time
    }

    /// Brings a hart's line up to date, and schedules its next change: the timer expires, or
    /// `mtime` wraps to 0.
    fn update(&mut self, index: usize, around: &mut dyn Surroundings) {
        let state = &mut self.state;
        let now = around.now();
        let (value, compare) = (state.time.value(now), state.compare[index]);
        let level = value >= compare;
        if level != state.levels[index] {
            state.levels[index] = level;
            around.set_hart_line(self.first_hart + index, MTIP, level);
        }
        let next = match level {
            true if compare == 0 => Time::MAX,
            true => state.time.after(now, (1 << 64) - u128::from(value)),
            false => state.time.reaches(compare, now),
        };
        around.schedule(index as u32, next);
    }
}

/// Refuses accesses that a register of 8 bytes does not take.
fn check_timer_access(offset: u64, size: u32) -> Result<(), Refused> {
    match (size == 4 || size == 8) && offset.is_multiple_of(size.into()) && offset <= MTIME + 4 {
        true => Ok(()),
        false => Err(Refused),
    }
}

/// The part of a register of 8 bytes that an access reads.
fn part_of(register: u64, offset: u64, size: u32) -> u64 {
    match (size, offset & 4) {
        (8, _) => register,
        (_, 0) => register & 0xffff_ffff,
        _ => register >> 32,
    }
}

/// A register of 8 bytes after a write of it or of a half.
fn with_part(register: u64, offset: u64, size: u32, value: u64) -> u64 {
    let low = value & 0xffff_ffff;
    match (size, offset & 4) {
        (8, _) => value,
        (_, 0) => register & !0xffff_ffff | low,
        _ => register & 0xffff_ffff | low << 32,
    }
}

impl Device for Mtimer {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        check_timer_access(offset, size)?;
        let register = match offset >= MTIME {
            true => self.state.time.value(around.now()),
            false => {
                let compare = self.state.compare.get((offset / 8) as usize);
                compare.copied().unwrap_or_default()
            }
        };
        Ok(part_of(register, offset, size))
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        check_timer_access(offset, size)?;
        if offset >= MTIME {
            let now = around.now();
            let before = self.state.time.value(now);
            let value = with_part(before, offset, size, value);
            self.state.time.set(value, now);
            (0..self.state.compare.len()).for_each(|index| self.update(index, around));
            return Ok(());
        }
        let index = (offset / 8) as usize;
        if let Some(compare) = self.state.compare.get_mut(index) {
            *compare = with_part(*compare, offset, size, value);
            self.update(index, around);
        }
        Ok(())
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        if (token as usize) < self.state.compare.len() {
            self.update(token as usize, around);
        }
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state: TimerState = load_state("MTIMER", state)?;
        let harts = self.state.compare.len();
        let same_harts = state.compare.len() == harts && state.levels.len() == harts;
        check_state("MTIMER", same_harts, "other harts")?;
        let same_frequency = state.time.frequency() == self.state.time.frequency();
        check_state("MTIMER", same_frequency, "another frequency")?;
        self.state = state;
        Ok(())
    }
}

/// The CLINT of SiFive's cores and of QEMU's `virt` in 0x10000 bytes: `msip` from 0, `mtimecmp`
/// from 0x4000, `mtime` at 0xbff8. What lies behind `mtime` reads as 0.
#[derive(Clone, Debug)]
pub struct Clint {
    software: Mswi,
    timer: Mtimer,
}

impl Clint {
    /// For `harts` harts from `first_hart` on.
    pub fn new(first_hart: usize, harts: usize, time: Timebase) -> Self {
        Self {
            software: Mswi::new(first_hart, harts),
            timer: Mtimer::new(first_hart, harts, time),
        }
    }

    /// See [`Mtimer::timebase`].
    pub fn timebase(&self) -> Timebase {
        self.timer.timebase()
    }
}

impl Device for Clint {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        match offset {
            0..SOFTWARE_SIZE => self.software.read(offset, size, around),
            SOFTWARE_SIZE..0xc000 => self.timer.read(offset - SOFTWARE_SIZE, size, around),
            _ => Ok(0),
        }
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        match offset {
            0..SOFTWARE_SIZE => self.software.write(offset, size, value, around),
            SOFTWARE_SIZE..0xc000 => self
                .timer
                .write(offset - SOFTWARE_SIZE, size, value, around),
            _ => Ok(()),
        }
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        self.timer.event(token, around);
    }

    fn save(&self) -> Vec<u8> {
        save_state(&(self.software.save(), self.timer.save()))
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        let (software, timer): (Vec<u8>, Vec<u8>) = load_state("CLINT", state)?;
        let mut loaded = self.clone();
        loaded.software.load(&software)?;
        loaded.timer.load(&timer)?;
        *self = loaded;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    /// Picoseconds of a tick at 10 MHz.
    const TICK: Time = 100_000;

    fn clint() -> Clint {
        Clint::new(0, 2, Timebase::new(10_000_000).unwrap())
    }

    #[test]
    fn msip_is_one_bit_of_each_hart() {
        let (mut clint, mut around) = (clint(), Mock::default());
        clint.write(4, 4, 0xffff_ffff, &mut around).unwrap();
        assert!(around.line(1, MSIP) && !around.line(0, MSIP));
        assert_eq!(clint.read(4, 4, &mut around), Ok(1));
        clint.write(4, 4, 2, &mut around).unwrap();
        assert!(!around.line(1, MSIP));
        // An absent hart.
        clint.write(8, 4, 1, &mut around).unwrap();
        assert_eq!(clint.read(8, 4, &mut around), Ok(0));
        assert_eq!(around.lines.len(), 1);
        assert_eq!(clint.read(1, 4, &mut around), Err(Refused));
        assert_eq!(clint.read(0, 8, &mut around), Err(Refused));
    }

    #[test]
    fn setssip_only_sets() {
        let (mut sswi, mut around) = (Sswi::new(4, 2), Mock::default());
        sswi.write(4, 4, 0, &mut around).unwrap();
        sswi.write(8, 4, 1, &mut around).unwrap();
        assert!(around.lines.is_empty());
        sswi.write(4, 4, 1, &mut around).unwrap();
        assert!(around.line(5, SSIP));
        assert_eq!(sswi.read(4, 4, &mut around), Ok(0));
        sswi.load(&sswi.save()).unwrap();
        assert!(sswi.load(&[0]).is_err());
    }

    #[test]
    fn the_timer_expires_at_its_tick() {
        let (mut clint, mut around) = (clint(), Mock::default());
        around.now = 7 * TICK + 5;
        assert_eq!(clint.read(0xbff8, 8, &mut around), Ok(7));
        clint.write(0x4008, 8, 20, &mut around).unwrap();
        assert_eq!(around.events[&1], 20 * TICK);
        around.run_until(&mut clint, 20 * TICK - 1, 9);
        assert!(!around.line(1, MTIP));
        around.run_until(&mut clint, 20 * TICK, 9);
        assert!(around.line(1, MTIP) && !around.line(0, MTIP));
        clint.write(0x4008, 8, 21, &mut around).unwrap();
        assert!(!around.line(1, MTIP));
        clint.write(0x4008, 8, u64::MAX, &mut around).unwrap();
        assert!(around.events.is_empty());
    }

    #[test]
    fn halves_are_written_apart_and_mtime_moves_deadlines() {
        let (mut clint, mut around) = (clint(), Mock::default());
        clint.write(0x4004, 4, 0, &mut around).unwrap();
        assert_eq!(clint.read(0x4000, 8, &mut around), Ok(0xffff_ffff));
        clint.write(0x4000, 4, 1000, &mut around).unwrap();
        assert_eq!(around.events[&0], 1000 * TICK);
        around.now = 10 * TICK;
        clint.write(0xbff8, 4, 900, &mut around).unwrap();
        assert_eq!(around.events[&0], 110 * TICK);
        clint.write(0xbffc, 4, 1, &mut around).unwrap();
        assert!(around.line(0, MTIP));
        assert_eq!(clint.read(0xbffc, 4, &mut around), Ok(1));
        assert_eq!(clint.read(0xbff8, 8, &mut around), Ok((1 << 32) + 900));
        assert_eq!(clint.timebase().value(11 * TICK), (1 << 32) + 901);
        for (offset, size) in [(0xbff8, 2), (0xbffc, 8), (0x4001, 4)] {
            assert_eq!(clint.read(offset, size, &mut around), Err(Refused));
        }
    }

    #[test]
    fn the_interrupt_falls_when_mtime_wraps() {
        let (mut clint, mut around) = (clint(), Mock::default());
        clint.write(0x4000, 8, 5, &mut around).unwrap();
        clint.write(0xbff8, 8, u64::MAX - 1, &mut around).unwrap();
        assert!(around.line(0, MTIP));
        around.run_until(&mut clint, 2 * TICK - 1, 9);
        assert!(around.line(0, MTIP));
        around.run_until(&mut clint, 2 * TICK, 9);
        assert!(!around.line(0, MTIP));
        around.run_until(&mut clint, 7 * TICK, 9);
        assert!(around.line(0, MTIP));
    }

    #[test]
    fn a_loaded_clint_has_the_same_future() {
        let (mut clint, mut around) = (clint(), Mock::default());
        around.now = 3 * TICK;
        clint.write(0, 4, 1, &mut around).unwrap();
        clint.write(0xbff8, 8, 77, &mut around).unwrap();
        clint.write(0x4000, 8, 99, &mut around).unwrap();
        let mut other = self::clint();
        other.load(&clint.save()).unwrap();
        let mut other_around = around.clone();
        around.run_until(&mut clint, 100 * TICK, 9);
        other_around.run_until(&mut other, 100 * TICK, 9);
        assert_eq!(around, other_around);
        assert!(around.line(0, MTIP));
        assert_eq!(clint.save(), other.save());
    }

    #[test]
    fn states_of_other_machines_are_refused() {
        let mut clint = clint();
        let before = clint.save();
        let other_harts = Clint::new(0, 3, clint.timebase());
        let other_clock = Clint::new(0, 2, Timebase::new(1).unwrap());
        for state in [
            other_harts.save(),
            other_clock.save(),
            vec![],
            vec![255; 40],
        ] {
            assert!(clint.load(&state).is_err());
        }
        for length in 0..before.len() {
            assert!(clint.load(&before[..length]).is_err());
        }
        assert_eq!(clint.save(), before);
    }
}
