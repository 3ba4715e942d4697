//! Which hart runs when. The hart with the least time runs, up to the next event, and some cycles
//! beyond the time of the next hart. It stops early before what others may see
//! ([`flick_hart::Processor::run`]). So the order of all that harts see of each other depends on virtual
//! time alone.
use std::rc::Rc;

use flick_device::{Finish, Time};
use flick_hart::{Begin, ClassCounts, Isa, NoFlags, Processor, Timing};
use flick_timing::memory_system::END_OF_TIME;

use crate::board::{self, Board, Boards, Wiring};
use crate::boot::BootedTiles;
use crate::htif::Htif;
use crate::injection::Injection;
use crate::kernel_view::{KernelView, PointWatch};
use crate::machine_timing::MachineTiming;
use crate::machine_trace::Tracer;
use crate::outside::Outside;
use crate::semihosting::{Semihosting, UnopenedFile};

mod full_times;
mod kernel_turns;
mod lent_harts;
mod next_hart;
mod quiet_order;
mod restart;
mod saved_machine;
mod tile_work;
mod timed_parts;
mod tournament;
mod turns;

use lent_harts::LentHarts;
use quiet_order::QuietOrder;
use restart::AtReset;

pub use lent_harts::Lent;
pub use saved_machine::{BadSnapshot, SavedMachine};
use timed_parts::TimedParts;
pub use timed_parts::{TimedPart, TimedRun};
pub use turns::{Turn, Unwatched, Watch};

/// A hart of a machine.
#[derive(Clone, Copy, Debug)]
pub struct HartDescription {
    /// The number of its tile.
    pub tile: usize,
    /// `mhartid`: its number in the tile.
    pub id: u64,
    /// Its extensions.
    pub isa: Isa,
    /// Its modes of address translation.
    pub mmu: flick_riscv::Mmu,
    /// Has it the space of a host program, mode 14 of `satp`?
    pub has_host_space: bool,
    /// Picoseconds of a cycle.
    pub period: Time,
    /// Where it begins, and what it has in a0, a1 and a2.
    pub pc: u64,
    /// See `pc`.
    pub arguments: [u64; 3],
}

/// Executions after which a translation pays.
pub const TRANSLATE_AFTER: u8 = 24;
/// Cycles that a hart may be ahead of another.
const AHEAD: u64 = 1000;

pub(crate) struct Unit<'m> {
    pub(crate) processor: Processor<'m, Board>,
    pub(crate) board: &'m Board,
    /// Its number in its tile.
    number: usize,
    pub(crate) period: Time,
    pub(crate) time: Time,
    /// Its turn comes so much later: it is to be lent.
    put_off: Time,
    /// When it is to be lent at the latest, since it has come to the code.
    lent_at: Option<Time>,
    /// No slice is its.
    waits: bool,
    /// By a fault, for ever.
    is_stopped: bool,
    /// Its owner executes its code ([`lent_harts`]): it waits, and nothing wakes it.
    is_lent: bool,
}

/// Harts on boards.
pub struct Machine<'m> {
    /// By tile.
    pub(crate) boards: &'m [Board],
    /// What the boards have in common.
    pub(crate) wiring: &'m Wiring,
    /// The board whose console gets input.
    pub(crate) input_board: &'m Board,
    /// By hart.
    names: Vec<String>,
    pub(crate) harts: Vec<Unit<'m>>,
    pub(crate) injection: Option<Box<Injection>>,
    /// By tile.
    htif: Vec<Option<Htif>>,
    /// Instructions that may complete.
    most: Option<u64>,
    timing: Option<MachineTiming>,
    /// In timed mode, or after it: by hart.
    timed: Vec<Rc<Timing>>,
    is_timed: bool,
    parts: TimedParts,
    trace: Option<Tracer>,
    /// What is seen of the card's kernel, and by what.
    kernel_view: Option<Box<KernelView>>,
    point_watch: Option<Box<PointWatch>>,
    /// What comes from outside.
    pub outside: Outside<'m>,
    /// The hart whose slice it is, and how the slice begins, if it has not begun.
    current: Option<(usize, Option<Begin>)>,
    /// The hart that has run last, and the steps that it had executed when its slice began, if they are
    /// limited.
    last: Option<(usize, Option<u64>)>,
    order: Option<QuietOrder>,
    /// Its memory, while there is none.
    spare_order: Option<QuietOrder>,
    /// Where it starts again.
    at_reset: Option<Box<AtReset>>,
    semihosting: Option<Semihosting>,
    lent: LentHarts,
}

/// Whose turn it is.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    first: usize,
    /// The least time of the other harts.
    next: Option<Time>,
    /// The slice ends here, or before.
    until: Option<Time>,
}

/// Ticks that begin in this time.
fn ticks_in(time: Time, tick: Time) -> u64 {
    match tick {
        // Mostly, in timed mode.
        1 => time,
        _ => time.div_ceil(tick),
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The machine has ended, by the finisher or by HTIF; 0 is success.
    Exit(u32),
    /// The machine resets, and does not start again.
    Reset,
    /// Every hart waits for an interrupt, and no event will raise one.
    Idle,
    /// As many instructions have completed as were allowed.
    Instructions,
    /// It is no run of which the input was recorded: something else happens.
    Diverged,
}

impl<'m> Machine<'m> {
    /// A machine of one tile at its reset. `htif`: where bare programs say that they end.
    pub fn new(board: &'m Board, harts: &[HartDescription], htif: Option<Htif>) -> Self {
        let names = (0..harts.len()).map(|hart| format!("hart {hart}"));
        let names = names.collect();
        Self::on(std::slice::from_ref(board), board, harts, names, vec![htif])
    }

    /// A machine of several tiles at its reset.
    pub fn of_tiles(boards: &'m Boards, booted: &BootedTiles) -> Self {
        let (all, input) = (boards.all(), &boards.all()[booted.input_tile]);
        let (names, mut htif) = (booted.names.clone(), booted.htif.clone());
        // The host's tile has no program.
        htif.resize(all.len(), None);
        Self::on(all, input, &booted.harts, names, htif)
    }

    fn on(
        boards: &'m [Board],
        input_board: &'m Board,
        harts: &[HartDescription],
        names: Vec<String>,
        htif: Vec<Option<Htif>>,
    ) -> Self {
        let unit = |(n, hart): (usize, &HartDescription)| {
            let board = &boards[hart.tile];
            Unit::new(board, n - board.first_hart(), hart, 0)
        };
        Self {
            boards,
            wiring: input_board.wiring(),
            input_board,
            names,
            injection: None,
            harts: harts.iter().enumerate().map(unit).collect(),
            htif,
            most: None,
            timing: None,
            timed: vec![],
            is_timed: false,
            parts: TimedParts::default(),
            trace: None,
            kernel_view: None,
            point_watch: None,
            outside: Outside::default(),
            current: None,
            last: None,
            order: None,
            spare_order: None,
            at_reset: None,
            semihosting: None,
            lent: LentHarts::default(),
        }
    }

    /// Ends the run after so many instructions of all harts, or some more.
    pub fn limit(&mut self, instructions: u64) {
        self.most = Some(instructions);
    }

    /// Answers calls of semihosting from now on.
    pub fn answer_calls(&mut self, semihosting: Semihosting) {
        let all = self.harts.iter_mut();
        all.for_each(|unit| unit.processor.allow_semihosting());
        self.semihosting = Some(semihosting);
    }

    /// Opens the files that programs have open by semihosting, after a snapshot was restored. Otherwise
    /// they are opened when a program comes to them, as in a replay, which comes to none.
    pub fn open_files(&mut self) -> Result<(), UnopenedFile> {
        let calls = self.semihosting.as_mut();
        calls.map_or(Ok(()), Semihosting::open_all)
    }

    /// Writes a trace from now on.
    pub fn trace(&mut self, mut tracer: Tracer) {
        for (hart, unit) in self.harts.iter_mut().enumerate() {
            unit.processor.keep_events();
            tracer.runs(hart, unit.time, unit.processor.registers().privilege);
        }
        self.trace = Some(tracer);
        self.begin_tile_trace();
    }

    /// The trace goes on from where the harts are now.
    fn restart_trace(&mut self) {
        if let Some(view) = &mut self.kernel_view {
            view.restart(&mut self.trace);
        }
        let Some(mut trace) = self.trace.take() else {
            return;
        };
        for hart in 0..self.harts.len() {
            // What it told before is no part of this run.
            self.harts[hart].processor.take_events();
            let (time, unit) = (self.time(hart).unwrap_or(0), &self.harts[hart]);
            trace.goes_on(hart, time, unit.processor.registers().privilege, unit.waits);
        }
        self.trace = Some(trace);
        self.restart_tile_trace();
    }

    /// Ends the trace, and says what was wrong with its file.
    pub fn end_trace(&mut self) -> std::io::Result<()> {
        if let Some(view) = &mut self.kernel_view {
            view.finish(&mut self.trace);
        }
        self.trace_tiles();
        let times: Vec<Time> = self.harts.iter().map(|unit| unit.time).collect();
        let trace = self.trace.take();
        trace.map_or(Ok(()), |trace| trace.end(&times))
    }

    /// What timed mode needs. Without it a [`Marker`] changes nothing.
    pub fn set_timing(&mut self, timing: MachineTiming) {
        self.timing = Some(timing);
    }

    /// Begins timed mode with empty caches, or ends it.
    pub fn set_mode(&mut self, is_timed: bool) {
        let Some(timing) = self.timing.as_ref().filter(|_| is_timed != self.is_timed) else {
            return;
        };
        self.order = None;
        self.is_timed = is_timed;
        if let Some(view) = &mut self.kernel_view {
            view.changes_mode(&mut self.trace);
        }
        if !is_timed {
            let counts = self.current_counts();
            self.parts.end(counts);
        } else {
            let latest = self.last.map(|(hart, _)| self.harts[hart].time);
            self.parts.begin(latest.unwrap_or(self.wiring.now()));
            let classes = self.harts.iter().map(|unit| unit.processor.classes());
            self.timed = timing.build(classes);
        }
        for (unit, timing) in self.harts.iter_mut().zip(&self.timed) {
            let timing = is_timed.then(|| Rc::clone(timing));
            unit.processor.set_timing(timing);
        }
    }

    /// No call of semihosting has been made.
    pub(crate) fn restart_calls(&mut self) {
        if let Some(mut semihosting) = self.semihosting.take() {
            semihosting.reset();
            self.answer_calls(semihosting);
        }
    }

    /// Counts instructions by class in functional mode, too.
    pub fn count_classes(&mut self) {
        let all = self.harts.iter_mut();
        all.for_each(|unit| unit.processor.count_classes());
    }

    /// Instructions by privilege and class, by hart.
    pub fn class_counts(&self) -> Vec<ClassCounts> {
        let all = self.harts.iter().map(|unit| unit.processor.classes());
        all.map(|classes| classes.counts()).collect()
    }

    /// Translates code that a hart has executed so often ([`TRANSLATE_AFTER`]); `None`: none. The run is
    /// the same, but for the time that it takes the host.
    pub fn translate_after(&mut self, executions: Option<u8>) {
        for unit in &mut self.harts {
            unit.processor.translate_after(executions);
        }
    }

    /// Instructions that have completed, by hart.
    pub fn instructions(&self) -> Vec<u64> {
        let counts = self.harts.iter().map(|unit| unit.processor.counts());
        counts.map(|counts| counts.instructions).collect()
    }

    /// Where each hart goes on.
    pub fn program_counters(&self) -> Vec<u64> {
        let all = self.harts.iter().map(|unit| unit.processor.hart.pc);
        all.collect()
    }

    /// Cycles that have passed, by hart.
    pub fn cycles(&self) -> Vec<u64> {
        let counts = self.harts.iter().map(|unit| unit.processor.counts());
        counts.map(|counts| counts.cycles).collect()
    }

    /// Runs until the machine ends. `console` gets what it prints, and has the bytes for it.
    pub fn run(&mut self, console: &mut dyn Console) -> End {
        let _flags = NoFlags::begin();
        loop {
            if let Turn::Ended(end) = self.turn_alone(console) {
                return end;
            }
        }
    }

    /// What is to be done before a hart runs, and which it is. An answer without one: it is done, or
    /// the run has ended.
    fn next(&mut self, console: &mut dyn Console) -> Result<usize, Turn> {
        if let Some(choice) = self.choose_quietly(console)? {
            return Ok(self.begin_slice(&choice));
        }
        self.wiring.forget_news();
        let output = self.wiring.take_output();
        if !output.is_empty() {
            console.output(&output);
        }
        match self.ended(console) {
            Some(End::Reset) if self.restart() => return Err(Turn::Ran),
            Some(end) => return Err(Turn::Ended(end)),
            None => {}
        }
        self.apply_lines();
        let Some((first, next)) = self.first_and_next() else {
            return Err(match self.wait(console) {
                true => Turn::Ran,
                false => Turn::Ended(End::Idle),
            });
        };
        if self.let_faults_happen(first) {
            return Err(Turn::Ran);
        }
        let time = self.harts[first].turn_time();
        if let Some(event) = self.wiring.next_event().filter(|&event| event <= time) {
            let until = self.harts[first].advances_to(event);
            board::advance(self.boards, self.lent.within_limit(until));
            return Err(Turn::Ran);
        }
        let fault = self.next_fault(first);
        let events = [self.wiring.next_event(), self.deadline(first), fault];
        let until = events.into_iter().flatten().min();
        self.begin_quiet_order();
        Ok(self.begin_slice(&Choice { first, next, until }))
    }

    /// Begins a slice of the hart whose turn it is.
    fn begin_slice(&mut self, choice: &Choice) -> usize {
        let &Choice { first, next, until } = choice;
        let unit = &self.harts[first];
        let (time, period) = (unit.time, unit.period);
        // What the unit of a slice takes.
        let (tick, slice) = match &self.timing {
            Some(timing) if self.is_timed => (1, timing.slice),
            _ => (period, AHEAD * period),
        };
        let ahead = next.map(|next| next.saturating_add(slice));
        let limit = self.lent.limit();
        let until = ahead.into_iter().chain(until).chain(limit).min();
        let cycles = until.map_or(u64::MAX >> 1, |until| {
            ticks_in(until.saturating_sub(time), tick).max(1)
        });
        // A bare program polls nothing: its end is looked for from time to time.
        let most = if self.htif[unit.board.tile()].is_some() {
            10_000
        } else {
            1_000_000
        };
        let cycles = match self.is_timed {
            true => cycles.min(most * period),
            false => cycles.min(most),
        };
        // It is the first up to the time of the next one.
        let lead = next.map_or(u64::MAX, |next| {
            ticks_in(next.saturating_sub(time), tick).saturating_sub(1)
        });
        self.wiring.begin(unit.number, time, tick);
        let begin = Begin {
            start: time,
            cycles,
            lead,
        };
        self.current = Some((first, Some(begin)));
        let steps = self.most.map(|_| unit.processor.steps());
        self.last = Some((first, steps));
        first
    }

    fn ended(&mut self, console: &mut dyn Console) -> Option<End> {
        match self.wiring.finished() {
            Some(Finish::Exit(code)) => return Some(End::Exit(code)),
            Some(Finish::Reset) => return Some(End::Reset),
            None => {}
        }
        self.poll_htif(console).map(End::Exit)
    }

    /// The end of a bare program, of the tile whose hart has run last.
    fn poll_htif(&mut self, console: &mut dyn Console) -> Option<u32> {
        let board = match self.last {
            Some((hart, _)) => self.harts[hart].board,
            None => self.input_board,
        };
        let htif = self.htif[board.tile()].as_mut()?;
        htif.poll(board, console)
    }
}

impl<'m> Unit<'m> {
    fn new(board: &'m Board, number: usize, hart: &HartDescription, time: Time) -> Self {
        let mut processor =
            Processor::new(board, &board.code, (hart.isa, hart.mmu), hart.id, hart.pc);
        processor.hart.x[10..13].copy_from_slice(&hart.arguments);
        if hart.has_host_space {
            processor.have_host_space();
        }
        if board.has_unit() {
            processor.have_interrupt(flick_abi::dtu::INTERRUPT_BIT);
        }
        Self {
            processor,
            board,
            number,
            period: hart.period.max(1),
            time,
            put_off: 0,
            lent_at: None,
            waits: false,
            is_stopped: false,
            is_lent: false,
        }
    }

    /// How far events may happen in front of its turn, of which the first is at this time. Who waits for one is
    /// to have its turn before a hart that was put off.
    fn advances_to(&self, event: Time) -> Time {
        match self.put_off {
            0 => self.time,
            _ => event.max(self.time),
        }
    }

    /// The time by which turns are ordered.
    fn turn_time(&self) -> Time {
        self.time + self.put_off
    }

    /// Does it wait for an interrupt that would wake it?
    fn can_wake(&self) -> bool {
        self.waits && !self.is_stopped && !self.is_lent
    }

    /// Executes nothing for so many cycles, or for ever.
    pub(crate) fn stop(&mut self, cycles: Option<u64>) {
        match cycles {
            None => (self.waits, self.is_stopped) = (true, true),
            Some(cycles) => {
                // No machine runs for longer.
                let most = (END_OF_TIME - 1).saturating_sub(self.time) / self.period;
                let cycles = cycles.min(most);
                self.processor.idle(cycles);
                self.time += cycles * self.period;
            }
        }
    }

    fn wake(&mut self, time: Time) {
        let idle = time.saturating_sub(self.time).div_ceil(self.period);
        self.processor.idle(idle);
        self.time += idle * self.period;
        self.waits = false;
    }
}

/// The outside of a machine: what it prints, and what it is told.
pub trait Console {
    /// The machine prints these bytes.
    fn output(&mut self, bytes: &[u8]);

    /// Gives bytes from outside to the machine, if there are any. Did it?
    fn poll(&mut self, _board: &Board, _time: Time) -> bool {
        false
    }

    /// Up to `most` bytes from outside for a program that reads them itself, and waits until there are
    /// some; none: the end.
    fn read(&mut self, _most: usize) -> Vec<u8> {
        vec![]
    }

    /// Nothing happens in the machine any more: waits for bytes from outside. False: none will come.
    fn wait(&mut self, _board: &Board, _time: Time) -> bool {
        false
    }
}
