//! The real-time clock of the virtual board Goldfish (Android's GOLDFISH-VIRTUAL-HARDWARE, chapter
//! on the timer; device tree binding `google,goldfish-rtc`).
//!
//! The clock counts nanoseconds since 1970 in UTC. It starts at the epoch of the machine's
//! description, and goes on with virtual time. All registers have 4 bytes.
use crate::device::{BadState, Device, Refused, Surroundings, Time, load_state, save_state};
use serde::{Deserialize, Serialize};

/// Reading it latches the upper half.
const TIME_LOW: u64 = 0x00;
const TIME_HIGH: u64 = 0x04;
/// Writing it arms the alarm for the time of both halves.
const ALARM_LOW: u64 = 0x08;
const ALARM_HIGH: u64 = 0x0c;
const IRQ_ENABLED: u64 = 0x10;
const CLEAR_ALARM: u64 = 0x14;
const ALARM_STATUS: u64 = 0x18;
const CLEAR_INTERRUPT: u64 = 0x1c;

/// The token of the alarm.
const ALARM: u32 = 0;
/// Picoseconds of a nanosecond.
const NANOSECOND: u64 = 1000;

/// What can change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// The clock's time at the machine's reset, modulo 2^64.
    origin: u64,
    latched_high: u32,
    alarm: u64,
    armed: bool,
    enabled: bool,
    pending: bool,
}

/// A Goldfish RTC in 0x1000 bytes.
#[derive(Clone, Debug)]
pub struct GoldfishRtc {
    source: u32,
    state: State,
}

fn with_high(value: u64, high: u64) -> u64 {
    value & 0xffff_ffff | (high & 0xffff_ffff) << 32
}

fn with_low(value: u64, low: u64) -> u64 {
    value & !0xffff_ffff | low & 0xffff_ffff
}

impl GoldfishRtc {
    /// A clock that raises `source`, and shows `epoch` nanoseconds since 1970 at the reset.
    pub fn new(source: u32, epoch: u64) -> Self {
        let state = State {
            origin: epoch,
            ..State::default()
        };
        Self { source, state }
    }

    fn time(&self, around: &dyn Surroundings) -> u64 {
        self.state.origin.wrapping_add(around.now() / NANOSECOND)
    }

    fn update(&self, around: &mut dyn Surroundings) {
        let level = self.state.pending && self.state.enabled;
        around.set_source(self.source, level);
    }

    /// Schedules the armed alarm, or rings at once if its time is past.
    fn arm(&mut self, around: &mut dyn Surroundings) {
        if !self.state.armed {
            return;
        }
        let left = self.state.alarm.checked_sub(self.time(around));
        match left.filter(|&left| left > 0) {
            None => self.ring(around),
            Some(left) => {
                let due = (around.now() / NANOSECOND).saturating_add(left);
                around.schedule(ALARM, due.saturating_mul(NANOSECOND));
            }
        }
    }

    fn disarm(&mut self, around: &mut dyn Surroundings) {
        self.state.armed = false;
        around.schedule(ALARM, Time::MAX);
    }

    fn ring(&mut self, around: &mut dyn Surroundings) {
        self.disarm(around);
        self.state.pending = true;
        self.update(around);
    }
}

fn check_access(offset: u64, size: u32) -> Result<(), Refused> {
    match size == 4 && offset.is_multiple_of(4) {
        true => Ok(()),
        false => Err(Refused),
    }
}

impl Device for GoldfishRtc {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        check_access(offset, size)?;
        Ok(match offset {
            TIME_LOW => {
                let time = self.time(around);
                self.state.latched_high = (time >> 32) as u32;
                time & 0xffff_ffff
            }
            TIME_HIGH => self.state.latched_high.into(),
            ALARM_LOW => self.state.alarm & 0xffff_ffff,
            ALARM_HIGH => self.state.alarm >> 32,
            IRQ_ENABLED => self.state.enabled.into(),
            ALARM_STATUS => self.state.armed.into(),
            _ => 0,
        })
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        check_access(offset, size)?;
        match offset {
            // Software may write the halves in either order.
            TIME_LOW | TIME_HIGH => {
                let now = self.time(around);
                let new = match offset {
                    TIME_LOW => with_low(now, value),
                    _ => with_high(now, value),
                };
                self.state.origin = self.state.origin.wrapping_add(new.wrapping_sub(now));
                self.arm(around);
            }
            ALARM_HIGH => self.state.alarm = with_high(self.state.alarm, value),
            ALARM_LOW => {
                self.state.alarm = with_low(self.state.alarm, value);
                self.state.armed = true;
                self.arm(around);
            }
            IRQ_ENABLED => {
                self.state.enabled = value & 1 != 0;
                self.update(around);
            }
            CLEAR_ALARM => self.disarm(around),
            CLEAR_INTERRUPT => {
                self.state.pending = false;
                self.update(around);
            }
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, token: u32, around: &mut dyn Surroundings) {
        if token == ALARM {
            // A clock that was set since has another time now.
            self.arm(around);
        }
    }

    /// The clock goes on: it has a battery.
    fn reset(&mut self) {
        self.state = State {
            origin: self.state.origin,
            ..State::default()
        };
    }

    fn save(&self) -> Vec<u8> {
        save_state(&self.state)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        self.state = load_state("Goldfish RTC", state)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    const EPOCH: u64 = 1_764_000_000_000_000_000;
    const SOURCE: u32 = 11;

    struct Clock(GoldfishRtc, Mock);

    impl Clock {
        fn new() -> Self {
            Self(GoldfishRtc::new(SOURCE, EPOCH), Mock::default())
        }

        fn get(&mut self, offset: u64) -> u64 {
            self.0.read(offset, 4, &mut self.1).unwrap()
        }

        fn set(&mut self, offset: u64, value: u64) {
            self.0.write(offset, 4, value, &mut self.1).unwrap();
        }

        fn time(&mut self) -> u64 {
            self.get(TIME_LOW) | self.get(TIME_HIGH) << 32
        }

        fn set_alarm(&mut self, time: u64) {
            self.set(ALARM_HIGH, time >> 32);
            self.set(ALARM_LOW, time & 0xffff_ffff);
        }

        fn wait_until(&mut self, time: Time) {
            self.1.run_until(&mut self.0, time, 99);
        }
    }

    #[test]
    fn time_starts_at_the_epoch_and_goes_on() {
        let mut clock = Clock::new();
        assert_eq!(clock.time(), EPOCH);
        clock.wait_until(5_000_999);
        assert_eq!(clock.time(), EPOCH + 5000);
    }

    #[test]
    fn the_upper_half_is_latched() {
        let mut clock = Clock(GoldfishRtc::new(SOURCE, 0xffff_ffff), Mock::default());
        assert_eq!(clock.get(TIME_LOW), 0xffff_ffff);
        clock.wait_until(1000);
        assert_eq!(clock.get(TIME_HIGH), 0);
        assert_eq!((clock.get(TIME_LOW), clock.get(TIME_HIGH)), (0, 1));
    }

    #[test]
    fn the_alarm_rings_once() {
        let mut clock = Clock::new();
        clock.set(IRQ_ENABLED, 1);
        clock.set_alarm(EPOCH + 70);
        assert_eq!(clock.get(ALARM_STATUS), 1);
        clock.wait_until(69_999);
        assert!(!clock.1.source(SOURCE));
        clock.wait_until(70_000);
        assert!(clock.1.source(SOURCE));
        assert_eq!(clock.get(ALARM_STATUS), 0);
        clock.set(CLEAR_INTERRUPT, 0);
        assert!(!clock.1.source(SOURCE));
        // One in the past rings at once, and the enable bit masks it.
        clock.set(IRQ_ENABLED, 0);
        clock.set_alarm(5);
        assert!(!clock.1.source(SOURCE));
        clock.set(IRQ_ENABLED, 1);
        assert!(clock.1.source(SOURCE));
    }

    #[test]
    fn a_cleared_alarm_does_not_ring() {
        let mut clock = Clock::new();
        clock.set(IRQ_ENABLED, 1);
        clock.set_alarm(EPOCH + 70);
        clock.set(CLEAR_ALARM, 1);
        clock.wait_until(90_000);
        assert!(!clock.1.source(SOURCE));
        assert_eq!(clock.get(ALARM_STATUS), 0);
    }

    #[test]
    fn setting_the_clock_moves_the_alarm() {
        let mut clock = Clock::new();
        clock.set(IRQ_ENABLED, 1);
        clock.set_alarm(EPOCH + 1000);
        clock.wait_until(5000);
        let new = EPOCH + 990;
        clock.set(TIME_HIGH, new >> 32);
        clock.set(TIME_LOW, new & 0xffff_ffff);
        assert_eq!(clock.time(), new);
        clock.wait_until(14_999);
        assert!(!clock.1.source(SOURCE));
        clock.wait_until(15_000);
        assert!(clock.1.source(SOURCE));
    }

    #[test]
    fn a_loaded_clock_goes_on() {
        let mut clock = Clock::new();
        clock.set(IRQ_ENABLED, 1);
        clock.set(TIME_LOW, 17);
        let time = clock.time();
        clock.set_alarm(time + 3);
        let mut other = Clock(GoldfishRtc::new(SOURCE, 0), clock.1.clone());
        other.0.load(&clock.0.save()).unwrap();
        other.wait_until(3000);
        assert!(other.1.source(SOURCE));
        assert_eq!(other.time(), time + 3);
        assert!(other.0.load(&[7]).is_err());
        other.0.reset();
        assert_eq!((other.time(), other.get(IRQ_ENABLED)), (time + 3, 0));
    }

    #[test]
    fn other_accesses_are_refused() {
        let mut clock = Clock::new();
        assert_eq!(clock.0.read(0, 8, &mut clock.1), Err(Refused));
        assert_eq!(clock.0.read(2, 4, &mut clock.1), Err(Refused));
        assert_eq!(clock.0.write(0, 1, 0, &mut clock.1), Err(Refused));
        assert_eq!(clock.get(0xffc), 0);
    }
}
