//! A run in its parts, for what looks at it: a debugger pauses it within a hart's slice. A pause changes
//! nothing. The slice goes on, and the harts take the turns that they would have taken without.
use flick_device::Time;
use flick_hart::{Begin, Marker, NoFlags, Part, Processor, SliceEnd};
use flick_timing::network::LinkCounts;

use super::{AHEAD, Console, End, Machine};
use crate::board::Board;
use crate::kernel_view::Seen;
use crate::ram::Ram;
use crate::semihosting::Around;

/// How a part of a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes on with the next.
    Ran,
    /// This hart would execute an instruction.
    Paused(usize),
    /// The run ends.
    Ended(End),
}

/// Executes the slices of harts.
pub trait Watch {
    /// Executes the rest of a slice of this hart, or up to a pause. `begin`: the slice begins so.
    fn execute(
        &mut self,
        hart: usize,
        processor: &mut Processor<Board>,
        begin: Option<Begin>,
    ) -> Part;

    /// What the hart has done in the slice, if it sees that, and what the slice had executed then.
    fn take_seen(&mut self) -> Option<Vec<(u64, Seen)>> {
        None
    }
}

/// Pauses nowhere.
pub struct Unwatched;

impl Watch for Unwatched {
    fn execute(
        &mut self,
        _: usize,
        processor: &mut Processor<Board>,
        begin: Option<Begin>,
    ) -> Part {
        match begin {
            Some(begin) => {
                let (end, executed) = processor.run(begin);
                Part::Ended(end, executed)
            }
            None => processor.go_on(u64::MAX),
        }
    }
}

impl<'m> Machine<'m> {
    /// Runs to the end of a hart's slice, or to a pause, or does what is to be done between slices.
    pub fn turn(&mut self, console: &mut dyn Console, watch: &mut dyn Watch) -> Turn {
        self.trace_tiles();
        if self.current.is_none()
            && let Err(turn) = self.next(console)
        {
            return turn;
        }
        let Some((hart, begin)) = self.current.take() else {
            return Turn::Ran;
        };
        let tick = self.tick(hart);
        let unit = &mut self.harts[hart];
        let start = unit.time;
        let Part::Ended(end, executed) = watch.execute(hart, &mut unit.processor, begin) else {
            self.current = Some((hart, None));
            return Turn::Paused(hart);
        };
        unit.time += executed * tick;
        unit.waits = end == SliceEnd::Wait;
        let put_off = self.put_off(hart, end);
        let unit = &mut self.harts[hart];
        unit.put_off = put_off;
        let time = unit.time;
        match &mut self.order {
            Some(order) if matches!(end, SliceEnd::Turn | SliceEnd::Foreign) => {
                order.set_time(hart, unit.turn_time());
            }
            Some(_) if end == SliceEnd::Wait => self.begin_to_wait(hart),
            _ => self.end_quiet_order(),
        }
        let unit = &mut self.harts[hart];
        if let (Some(view), Some(seen)) = (&mut self.kernel_view, watch.take_seen()) {
            view.advance(start, &mut self.trace);
            view.slice(hart, (start, tick), seen, unit.waits.then_some(time));
        } else if let Some(trace) = &mut self.trace {
            trace.slice(hart, start, tick, unit.processor.take_events());
            if unit.waits {
                trace.waits(hart, time);
            }
        }
        self.outside.ask(self.input_board, console, time, false);
        if self.outside.has_diverged() {
            return Turn::Ended(End::Diverged);
        }
        if let Some(left) = &mut self.most {
            let steps = self.harts[hart].processor.steps();
            let before = self.last.and_then(|(_, before)| before).unwrap_or(steps);
            *left = left.saturating_sub(steps - before);
            if *left == 0 {
                return Turn::Ended(End::Instructions);
            }
        }
        self.let_stops_happen(hart);
        match end {
            SliceEnd::Marker(marker) => self.set_mode(marker == Marker::Begin),
            SliceEnd::Call => {
                let unit = &mut self.harts[hart];
                let semihosting = self.semihosting.as_mut();
                let around = &mut Around {
                    outside: &mut self.outside,
                    console,
                    time: unit.time,
                    tile: unit.board.tile(),
                };
                let status = semihosting.and_then(|calls| calls.call(&mut unit.processor, around));
                if self.outside.has_diverged() {
                    return Turn::Ended(End::Diverged);
                }
                if let Some(status) = status {
                    return Turn::Ended(End::Exit(status));
                }
            }
            SliceEnd::Foreign if put_off == 0 => self.lend(hart),
            SliceEnd::Foreign | SliceEnd::Turn | SliceEnd::Wait => {}
        }
        Turn::Ran
    }

    /// Runs until no hart and no event is before a virtual time, or until the machine ends.
    pub fn run_until(&mut self, time: Time, console: &mut dyn Console) -> Option<End> {
        let _flags = NoFlags::begin();
        while self.current.is_some() || self.earliest() < time {
            if let Turn::Ended(end) = self.turn_alone(console) {
                return Some(end);
            }
        }
        None
    }

    /// The virtual time of what comes next.
    pub fn earliest(&self) -> Time {
        let first = self.first().map(|first| self.harts[first].turn_time());
        let event = self.wiring.next_event();
        let deadline = match first {
            Some(_) => None,
            None => self.deadline(usize::MAX),
        };
        let all = [first, event, deadline];
        all.into_iter().flatten().min().unwrap_or(self.wiring.now())
    }

    /// The hart whose slice is not over, if the run pauses.
    pub fn current(&self) -> Option<usize> {
        self.current.map(|(hart, _)| hart)
    }

    /// The hart that has run last.
    pub fn last_hart(&self) -> Option<usize> {
        self.last.map(|(hart, _)| hart)
    }

    /// Is it in timed mode?
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Picoseconds of the unit of a hart's slices.
    fn tick(&self, hart: usize) -> Time {
        match self.is_timed {
            true => 1,
            false => self.harts[hart].period,
        }
    }

    /// How many harts there are.
    pub fn harts(&self) -> usize {
        self.harts.len()
    }

    /// A hart.
    pub fn hart(&self, hart: usize) -> Option<&Processor<'m, Board>> {
        self.harts.get(hart).map(|unit| &unit.processor)
    }

    /// A hart, to change it.
    pub fn hart_mut(&mut self, hart: usize) -> Option<&mut Processor<'m, Board>> {
        self.order = None;
        self.harts.get_mut(hart).map(|unit| &mut unit.processor)
    }

    /// The virtual time of a hart.
    pub fn time(&self, hart: usize) -> Option<Time> {
        let unit = self.harts.get(hart)?;
        let within = unit.processor.slice_cycles();
        Some(unit.time + within * self.tick(hart))
    }

    /// Does the hart wait for an interrupt?
    pub fn waits(&self, hart: usize) -> bool {
        self.harts.get(hart).is_some_and(|unit| unit.waits)
    }

    /// Instructions and exceptions of all harts since the reset.
    pub fn steps(&self) -> u64 {
        let all = self.harts.iter().map(|unit| unit.processor.steps());
        all.sum()
    }

    /// All that decides how its harts run, as a text.
    pub(crate) fn description(&self) -> String {
        let harts = self.harts.iter().map(|unit| {
            let registers = unit.processor.registers();
            let mmu = registers.mmu.name();
            let (tile, hart) = (unit.board.tile(), registers.hart_id);
            format!("{tile} {hart} {} {mmu} {}", registers.isa, unit.period)
        });
        let harts: Vec<_> = harts.collect();
        let harts = harts.join(",");
        let links = self.wiring.description();
        format!("{AHEAD} {:?} {harts} {:?} {links}", self.htif, self.timing)
    }

    /// Faults and semihosting, as texts.
    pub(crate) fn wishes(&self) -> Vec<String> {
        let faults = self.injection.as_ref().map(|all| all.description());
        let calls = self.semihosting.as_ref().map(|calls| calls.description());
        faults.into_iter().chain(calls).collect()
    }

    /// The board of a hart's tile.
    pub fn board_of(&self, hart: usize) -> Option<&'m Board> {
        self.harts.get(hart).map(|unit| unit.board)
    }

    /// The boards of all tiles.
    pub fn boards(&self) -> &'m [Board] {
        self.boards
    }

    /// The memories of all tiles.
    pub fn memories(&self) -> impl Iterator<Item = &'m Ram> + use<'m> {
        self.boards.iter().flat_map(|board| board.ram())
    }

    /// The name of a hart.
    pub fn hart_name(&self, hart: usize) -> &str {
        self.names.get(hart).map_or("", |name| name)
    }

    /// Names of the links between tiles, and what they have carried.
    pub fn link_counts(&self) -> Vec<(String, LinkCounts)> {
        self.wiring.link_counts()
    }

    /// How many packets are on their way between tiles.
    pub fn packets_under_way(&self) -> usize {
        self.wiring.packets_under_way()
    }
}
