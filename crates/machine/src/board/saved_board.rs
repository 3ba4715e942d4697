//! The state of boards without their memory, for snapshots.
use flick_device::{BadState, Finish, Time};
use flick_hart::SavedCode;
use flick_sim::EventQueue;
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

use super::faulty_board::SavedFaults;
use super::wiring::State;
use super::{Board, Target, Wiring};
use crate::network::SavedPackets;
use crate::ram::Ram;

/// The devices of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBoard {
    code: SavedCode,
    timer: Vec<u8>,
    plic: Option<Vec<u8>>,
    devices: Vec<Vec<u8>>,
    faults: SavedFaults,
}

/// Events, and what devices have asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedWiring {
    /// Time, tile, device and token, in their order.
    events: Vec<(Time, u32, u32, u32)>,
    lines: Vec<(u32, u32, bool)>,
    output: Vec<u8>,
    finish: Option<Finish>,
    slice: (Time, Time),
    hart: u32,
    now: Time,
    packets: SavedPackets,
}

impl SavedWiring {
    /// What a cycle of the current slice takes.
    pub(crate) fn tick(&self) -> Time {
        self.slice.1
    }
}

const TIMER: u32 = 0;
const PLIC: u32 = 1;
const PACKET: u32 = 2;
const FIRST: u32 = 3;
/// Of a hart's `mip`.
const MOST_BITS: u32 = 64;

fn bad(reason: &str) -> BadState {
    BadState {
        device: "board",
        reason: reason.into(),
    }
}

impl Wiring {
    /// The state.
    pub(crate) fn save(&self) -> SavedWiring {
        let state = self.state.borrow();
        let events = state.events.events();
        let lines = state.lines.iter();
        SavedWiring {
            events: events
                .map(|(time, (tile, target, token))| {
                    let device = match target {
                        Target::Timer => TIMER,
                        Target::Plic => PLIC,
                        Target::Packet => PACKET,
                        Target::Other(n) => n as u32 + FIRST,
                    };
                    (time, tile as u32, device, token)
                })
                .collect(),
            lines: lines
                .map(|&(hart, bit, level)| (hart as u32, bit, level))
                .collect(),
            output: state.output.clone(),
            finish: state.finish,
            slice: self.slice.get(),
            hart: self.hart.get() as u32,
            now: self.now.get(),
            packets: self.packets.borrow().save(),
        }
    }

    /// Takes what [`save`](Self::save) of equal boards gave.
    pub(crate) fn restore(&self, boards: &[Board], saved: &SavedWiring) -> Result<(), BadState> {
        let mut events = EventQueue::new();
        let mut tokens = vec![];
        for &(time, tile, device, token) in &saved.events {
            let target = match device {
                TIMER => Target::Timer,
                PLIC => Target::Plic,
                PACKET => Target::Packet,
                n => Target::Other((n - FIRST) as usize),
            };
            let board = boards.get(tile as usize);
            let exists = board.is_some_and(|board| match target {
                Target::Other(n) => n < board.devices.len(),
                _ => true,
            });
            if !exists || time >= END_OF_TIME {
                return Err(bad("an impossible event"));
            }
            if target == Target::Packet {
                tokens.push(token);
            }
            events.schedule_in(tile, (tile as usize, target, token), time);
        }
        let times = [saved.slice.0, saved.slice.1, saved.now];
        if times.iter().any(|&time| time >= END_OF_TIME) {
            return Err(bad("an impossible time"));
        }
        if saved.lines.iter().any(|&(_, bit, _)| bit >= MOST_BITS) {
            return Err(bad("an impossible line"));
        }
        if !self.packets.borrow_mut().restore(&saved.packets, &tokens) {
            return Err(bad("impossible packets"));
        }
        self.look_for_stopped_tiles();
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
        self.hart.set(saved.hart as usize);
        self.now.set(saved.now);
        self.has_news.set(true);
        self.is_retimed.set(true);
        Ok(())
    }
}

impl Board {
    /// Everything but the memory.
    pub(crate) fn save(&self) -> SavedBoard {
        use flick_device::Device;
        SavedBoard {
            code: self.code.save(),
            timer: self.timer.borrow_mut().device().save(),
            plic: self.plic.as_ref().map(|plic| plic.borrow().save()),
            devices: self.devices.iter().map(|d| d.borrow().save()).collect(),
            faults: self.faults.save(),
        }
    }

    /// Takes what [`save`](Self::save) of an equal board gave. After an error the board is in no sensible
    /// state.
    pub(crate) fn restore(&self, saved: &SavedBoard) -> Result<(), BadState> {
        use flick_device::Device;
        if saved.devices.len() != self.devices.len() {
            return Err(bad("other devices"));
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
        Ok(())
    }

    /// The devices reset. What they have asked for is the wiring's.
    pub(super) fn reset(&self) {
        use flick_device::Device;
        self.timer.borrow_mut().device().reset();
        self.timebase.set(self.timer.borrow().timebase());
        if let Some(plic) = &self.plic {
            plic.borrow_mut().reset();
        }
        for device in &self.devices {
            device.borrow_mut().reset();
        }
        self.code.forget();
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
