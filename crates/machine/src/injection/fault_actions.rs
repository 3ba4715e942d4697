//! What faults do to a machine.
use flick_device::{Finish, RequestFault, Time};
use flick_timing::faults::{self, Action, Fault, LineFault, Queue, Register, When};

use flick_abi::descriptor::KERNEL_ENDPOINT;

use super::faulty_lines::Change;
use super::faulty_packets::TileFault;
use super::{Ending, Injection};
use crate::board::Board;
use crate::hart_order::Machine;

/// A fault that the machine cannot have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct BadFault {
    /// The line of its file.
    pub line: usize,
    /// Why not.
    pub what: String,
}

impl Machine<'_> {
    /// The machine will have these faults. To be called at its reset.
    pub fn inject(&mut self, all: Vec<Fault>) -> Result<(), BadFault> {
        for fault in &all {
            let line = fault.line;
            self.check(fault).map_err(|what| BadFault { line, what })?;
        }
        for fault in &all {
            if let When::State { tile, state, times } = fault.when
                && let Some(what) = TileFault::of(fault.action)
            {
                self.wiring.add_fault_at_state((tile, state, times), what);
            }
        }
        let injection = Injection::new(all);
        for (hart, number, at) in injection.stops() {
            self.harts[hart].processor.stop_at(number, at);
        }
        self.injection = Some(Box::new(injection));
        Ok(())
    }

    fn check(&self, fault: &Fault) -> Result<(), String> {
        let count = self.harts.len();
        let hart = |hart: usize| match hart < count {
            true => Ok(()),
            false => Err(format!("there is no hart {hart}: the machine has {count}")),
        };
        match fault.when {
            When::Time(_) => {}
            When::Cycle { hart: number, .. }
            | When::Instruction { hart: number, .. }
            | When::Address { hart: number, .. } => hart(number)?,
            When::State { tile, .. } => self.without_harts(tile)?,
        }
        match fault.action {
            Action::StopHart { hart: number, .. }
            | Action::FlipRegister { hart: number, .. }
            | Action::Line { hart: number, .. } => hart(number),
            Action::FlipMemory { tile, address, .. } => {
                let read = self.board(tile)?.read_memory(address, &mut [0; 8]);
                read.map_err(|_| format!("there is no memory at {address:#x}"))
            }
            Action::Request { disk, .. } => {
                let is_there = self.disk_board().with_request_faults(disk, |_| ());
                is_there.ok_or(format!("there is no disk {disk}"))
            }
            Action::Refuse { tile, .. } => self.board(tile).map(|_| ()),
            Action::StopTile { tile } => self.without_harts(tile),
            Action::CorruptInput { .. } | Action::Packets { .. } | Action::Reset => Ok(()),
            Action::CorruptDescriptor { .. } | Action::FillQueue { .. } => {
                match self.has_owners() {
                    true => Ok(()),
                    false => Err("no program of the host has functions here".into()),
                }
            }
        }
    }

    fn board(&self, tile: usize) -> Result<&Board, String> {
        let board = self.boards.get(tile);
        board.ok_or_else(|| format!("there is no tile {tile}"))
    }

    fn without_harts(&self, tile: usize) -> Result<(), String> {
        match self.board(tile)?.has_harts() {
            true => Err("the tile has harts".into()),
            false => Ok(()),
        }
    }

    /// The board that has the disks.
    fn disk_board(&self) -> &Board {
        &self.boards[0]
    }

    /// When the next fault or its end is due, while this hart runs.
    pub(crate) fn next_fault(&self, first: usize) -> Option<Time> {
        let injection = self.injection.as_ref()?;
        let waiting = injection.waiting.iter();
        let times = waiting.filter_map(|&n| self.time_of(injection.faults[n].when, first));
        let ends = injection.ends.iter().map(|&(time, _)| time);
        times.chain(ends).min()
    }

    /// The time of the last fault that had one, and has happened.
    pub fn last_fault(&self) -> Option<Time> {
        let injection = self.injection.as_ref()?;
        let all = injection.faults.iter().enumerate();
        let past = all.filter(|(n, _)| !injection.waiting.contains(n));
        let times = past.filter_map(|(_, fault)| match fault.when {
            When::Time(time) => Some(time),
            _ => None,
        });
        times.max()
    }

    /// Of a fault that waits for a time; `None`: another hart has to run for it.
    fn time_of(&self, when: When, first: usize) -> Option<Time> {
        match when {
            When::Time(time) => Some(time),
            When::Cycle { hart, cycle } if hart == first => {
                let unit = &self.harts[hart];
                let left = cycle.saturating_sub(unit.processor.counts().cycles);
                Some(unit.time.saturating_add(left.saturating_mul(unit.period)))
            }
            _ => None,
        }
    }

    /// Lets all happen that is due at the time of the hart that runs next. Did something?
    pub(crate) fn let_faults_happen(&mut self, first: usize) -> bool {
        self.let_faults_happen_at(first, self.harts[first].time)
    }

    /// The same at a time, when no hart runs.
    pub(crate) fn let_faults_happen_at(&mut self, first: usize, now: Time) -> bool {
        if self.next_fault(first).is_none_or(|time| time > now) {
            return false;
        }
        let Some(mut injection) = self.injection.take() else {
            return false;
        };
        let mut ends = vec![];
        injection.ends.retain(|&(time, end)| {
            if time <= now {
                ends.push(end);
            }
            time > now
        });
        let mut due = vec![];
        injection.waiting.retain(|&number| {
            let time = self.time_of(injection.faults[number].when, first);
            let is_due = time.is_some_and(|time| time <= now);
            if is_due {
                due.push(number);
            }
            !is_due
        });
        for end in ends {
            self.end_fault(&mut injection, end);
        }
        for number in due {
            self.happen(&mut injection, number, now);
        }
        self.injection = Some(injection);
        true
    }

    /// The hart has run: it may have stopped in front of an instruction with a fault.
    pub(crate) fn let_stops_happen(&mut self, hart: usize) {
        let Some(mut injection) = self.injection.take() else {
            return;
        };
        let now = self.harts[hart].time;
        for number in self.harts[hart].processor.take_stops() {
            self.happen(&mut injection, number, now);
        }
        self.injection = Some(injection);
    }

    /// What a device's change of a line becomes; `None`: nothing yet.
    pub(crate) fn faulty_level(&mut self, hart: usize, bit: u32, level: bool) -> Option<bool> {
        let now = self.wiring.now();
        let Some(injection) = &mut self.injection else {
            return Some(level);
        };
        match injection.lines.set((hart, bit), level) {
            Change::Level(level) => Some(level),
            Change::Later(delay) => {
                let at = now.saturating_add(delay);
                injection.ends.push((at, Ending::Rise(hart, bit)));
                None
            }
        }
    }

    fn end_fault(&mut self, injection: &mut Injection, end: Ending) {
        match end {
            Ending::Line(hart, bit) => {
                let level = injection.lines.release((hart, bit));
                self.harts[hart].processor.set_line(bit, level);
            }
            Ending::Rise(hart, bit) => {
                let level = injection.lines.level((hart, bit));
                self.harts[hart].processor.set_line(bit, level);
            }
            Ending::Refusal(tile, address, size) => {
                if let Ok(board) = self.board(tile) {
                    board.allow(address, size);
                }
                self.forget_memory();
            }
            Ending::Ring => self.fill_ring(false),
            Ending::Endpoint(tile) => {
                if let Ok(board) = self.board(tile) {
                    board.empty();
                }
            }
        }
    }

    fn forget_memory(&mut self) {
        let all = self.harts.iter_mut();
        all.for_each(|unit| unit.processor.forget_memory());
    }

    fn happen(&mut self, injection: &mut Injection, number: usize, now: Time) {
        match injection.action(number) {
            Action::StopHart { hart, cycles } => self.harts[hart].stop(cycles),
            Action::FlipMemory {
                tile,
                address,
                bits,
            } => {
                let mut bytes = [0; 8];
                // The reset has checked that there is memory.
                if let Ok(board) = self.board(tile)
                    && board.read_memory(address, &mut bytes).is_ok()
                {
                    let flipped = u64::from_le_bytes(bytes) ^ bits;
                    let _ = board.write_memory(address, &flipped.to_le_bytes());
                }
            }
            Action::FlipRegister {
                hart,
                register,
                bits,
            } => {
                let processor = &mut self.harts[hart].processor;
                match register {
                    Register::X(number) => processor.hart.x[number] ^= bits,
                    Register::F(number) => processor.hart.f[number] ^= bits,
                    Register::Pc => processor.hart.pc ^= bits & !1,
                    // A hart without the register has no such fault.
                    Register::Csr(number) => {
                        processor.flip_csr(number, bits);
                    }
                }
            }
            Action::Line {
                hart,
                bit,
                fault,
                time,
            } => {
                let line = (hart, bit);
                match fault {
                    LineFault::Delay => return injection.lines.delay(line, time.unwrap_or(0)),
                    LineFault::Raise => injection.lines.force(line, true),
                    LineFault::Suppress => injection.lines.force(line, false),
                }
                let level = injection.lines.level(line);
                self.harts[hart].processor.set_line(bit, level);
                if let Some(time) = time {
                    let end = now.saturating_add(time);
                    injection.ends.push((end, Ending::Line(hart, bit)));
                }
            }
            Action::Request {
                disk,
                requests,
                fault,
            } => {
                let fault = match fault {
                    faults::RequestFault::Drop => RequestFault::Drop,
                    faults::RequestFault::Delay(by) => RequestFault::Delay(by),
                    faults::RequestFault::Repeat => RequestFault::Repeat,
                    faults::RequestFault::Fail => RequestFault::Fail,
                };
                self.disk_board()
                    .with_request_faults(disk, |all| all.add(fault, requests));
            }
            Action::Refuse {
                tile,
                address,
                size,
                time,
            } => {
                if let Ok(board) = self.board(tile) {
                    board.refuse(address, size);
                }
                self.forget_memory();
                if let Some(time) = time {
                    let end = now.saturating_add(time);
                    injection
                        .ends
                        .push((end, Ending::Refusal(tile, address, size)));
                }
            }
            action @ (Action::Packets { .. } | Action::StopTile { .. }) => {
                if let Some(what) = TileFault::of(action) {
                    self.wiring.tile_fault_happens(what);
                }
            }
            Action::CorruptInput { bits, bytes } => self.input_board.corrupt_input(bits, bytes),
            Action::CorruptDescriptor {
                word,
                bits,
                descriptors,
            } => self.corrupt_descriptors(word, bits, descriptors),
            Action::FillQueue { queue, tile, time } => {
                let end = match (queue, self.board(tile)) {
                    (Queue::Ring, _) => {
                        self.fill_ring(true);
                        Ending::Ring
                    }
                    (Queue::Kernel, Ok(board)) => {
                        board.fill(KERNEL_ENDPOINT);
                        Ending::Endpoint(tile)
                    }
                    (Queue::Kernel, Err(_)) => return,
                };
                injection.ends.push((now.saturating_add(time), end));
            }
            Action::Reset => self.wiring.finish(Finish::Reset),
        }
    }
}
