//! The state of a board without its memory, for snapshots.
use flick_device::{BadState, Finish, Time};
use flick_hart::SavedCode;
use flick_sim::EventQueue;
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

use super::faulty_board::SavedFaults;
use super::{Board, State, Target};
use crate::ram::Ram;

/// Devices, events and what they have asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBoard {
    code: SavedCode,
    timer: Vec<u8>,
    plic: Option<Vec<u8>>,
    devices: Vec<Vec<u8>>,
    /// Time, device and token, in their order.
    events: Vec<(Time, u32, u32)>,
    lines: Vec<(u32, u32, bool)>,
    output: Vec<u8>,
    finish: Option<Finish>,
    slice: (Time, Time),
    now: Time,
    faults: SavedFaults,
}

impl SavedBoard {
    /// What a cycle of the current slice takes.
    pub(crate) fn tick(&self) -> Time {
        self.slice.1
    }
}

const TIMER: u32 = 0;
const PLIC: u32 = 1;
const FIRST: u32 = 2;
/// Of a hart's `mip`.
const MOST_BITS: u32 = 12;

impl Board {
    /// Everything but the memory.
    pub fn save(&self) -> SavedBoard {
        use flick_device::Device;
        let state = self.state.borrow();
        let events = state.events.events();
        let lines = state.lines.iter();
        SavedBoard {
            code: self.code.save(),
            timer: self.timer.borrow_mut().device().save(),
            plic: self.plic.as_ref().map(|plic| plic.borrow().save()),
            devices: self.devices.iter().map(|d| d.borrow().save()).collect(),
            events: events
                .map(|(time, (target, token))| {
                    let device = match target {
                        Target::Timer => TIMER,
                        Target::Plic => PLIC,
                        Target::Other(n) => n as u32 + FIRST,
                    };
                    (time, device, token)
                })
                .collect(),
            lines: lines
                .map(|&(hart, bit, level)| (hart as u32, bit, level))
                .collect(),
            output: state.output.clone(),
            finish: state.finish,
            slice: self.slice.get(),
            now: self.now.get(),
            faults: self.faults.save(),
        }
    }

    /// Takes what [`save`](Self::save) of an equal board gave. After an error the board is in no sensible
    /// state.
    pub fn restore(&self, saved: &SavedBoard) -> Result<(), BadState> {
        use flick_device::Device;
        let bad = |reason: &str| BadState {
            device: "board",
            reason: reason.into(),
        };
        if saved.devices.len() != self.devices.len() {
            return Err(bad("other devices"));
        }
        let mut events = EventQueue::new();
        for &(time, device, token) in &saved.events {
            let target = match device {
                TIMER => Target::Timer,
                PLIC => Target::Plic,
                n => Target::Other((n - FIRST) as usize),
            };
            let exists = !matches!(target, Target::Other(n) if n >= self.devices.len());
            if !exists || time >= END_OF_TIME {
                return Err(bad("an impossible event"));
            }
            events.schedule((target, token), time);
        }
        let times = [saved.slice.0, saved.slice.1, saved.now];
        if times.iter().any(|&time| time >= END_OF_TIME) {
            return Err(bad("an impossible time"));
        }
        if saved.lines.iter().any(|&(_, bit, _)| bit >= MOST_BITS) {
            return Err(bad("an impossible line"));
        }
        if !self.code.restore(&saved.code) {
            return Err(bad("impossible pages of code"));
        }
        self.faults.restore(&saved.faults);
        self.timer.borrow_mut().device().load(&saved.timer)?;
        self.timebase.set(self.timer.borrow().timebase());
        match (&self.plic, &saved.plic) {
            (Some(plic), Some(state)) => plic.borrow_mut().load(state)?,
            (None, None) => {}
            _ => return Err(bad("another interrupt controller")),
        }
        for (device, state) in self.devices.iter().zip(&saved.devices) {
            device.borrow_mut().load(state)?;
        }
        let lines = saved.lines.iter();
        self.state.replace(State {
            events,
            lines: lines
                .map(|&(hart, bit, level)| (hart as usize, bit, level))
                .collect(),
            output: saved.output.clone(),
            inputs: vec![],
            finish: saved.finish,
        });
        self.slice.set(saved.slice);
        self.now.set(saved.now);
        Ok(())
    }

    /// The devices reset, and nothing that they have asked for is left.
    pub(crate) fn reset(&self, now: Time) {
        use flick_device::Device;
        self.timer.borrow_mut().device().reset();
        self.timebase.set(self.timer.borrow().timebase());
        if let Some(plic) = &self.plic {
            plic.borrow_mut().reset();
        }
        for device in &self.devices {
            device.borrow_mut().reset();
        }
        self.state.replace(State::default());
        self.code.forget();
        self.now.set(now);
    }

    /// Its memory.
    pub fn ram(&self) -> &[Ram] {
        &self.ram
    }

    /// Is there a device of this number?
    pub(crate) fn has_device(&self, device: usize) -> bool {
        device < self.devices.len()
    }

    /// The addresses of its devices.
    pub(crate) fn device_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges
            .iter()
            .map(|(range, _)| (range.start, range.end))
    }
}
