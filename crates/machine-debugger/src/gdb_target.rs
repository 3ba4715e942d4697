//! What GDB's packets do. Threads are harts: thread 1 is hart 0.
use std::convert::Infallible;
use std::num::NonZeroUsize;

use flick_machine::End;
use gdbstub::arch::{Arch, RegId, Registers};
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::single_register_access::{
    SingleRegisterAccess, SingleRegisterAccessOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind as GdbWatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps, outputln};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};

use crate::hart_registers::{FIRST, description, read, write};
use crate::monitor_commands::answer;
use crate::run_timeline::{Stop, Timeline};
use crate::stop_points::WatchKind;

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Continue,
    Step(usize),
    StepBack(usize),
    ContinueBack,
}

/// A machine as GDB sees it.
pub struct GdbTarget<'t, 'm> {
    pub timeline: Timeline<'t, 'm>,
    pub request: Request,
    /// The hart that has stopped last.
    pub focus: usize,
    /// Addresses of memory are physical.
    pub is_physical: bool,
    /// The machine stops at its end first, so that it can go back.
    pub stops_at_end: bool,
    is_at_end: bool,
    /// How the machine has ended.
    pub end: Option<End>,
    description: String,
    hardware: Vec<u64>,
}

/// RV64.
pub enum Rv64 {}

impl Arch for Rv64 {
    type Usize = u64;
    type Registers = First;
    type BreakpointKind = usize;
    type RegId = Number;
}

/// The registers that GDB gets at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First([u64; FIRST]);

impl Default for First {
    fn default() -> Self {
        Self([0; FIRST])
    }
}

impl Registers for First {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.0[FIRST - 1]
    }

    fn gdb_serialize(&self, mut write: impl FnMut(Option<u8>)) {
        let bytes = self.0.iter().flat_map(|value| value.to_le_bytes());
        bytes.for_each(|byte| write(Some(byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if bytes.len() != FIRST * 8 {
            return Err(());
        }
        for (value, bytes) in self.0.iter_mut().zip(bytes.chunks_exact(8)) {
            *value = u64::from_le_bytes(bytes.try_into().map_err(|_| ())?);
        }
        Ok(())
    }
}

/// A register's number.
#[derive(Clone, Copy, Debug)]
pub struct Number(usize);

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        Some((Self(id), None))
    }
}

fn hart_of(tid: Tid) -> usize {
    tid.get() - 1
}

fn tid_of(hart: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(hart)
}

const NO: TargetError<Infallible> = TargetError::NonFatal;

impl<'t, 'm> GdbTarget<'t, 'm> {
    pub fn new(timeline: Timeline<'t, 'm>) -> Self {
        Self {
            description: description(timeline.machine),
            timeline,
            request: Request::Continue,
            focus: 0,
            is_physical: false,
            stops_at_end: false,
            is_at_end: false,
            end: None,
            hardware: vec![],
        }
    }

    /// What GDB is told of a stop.
    pub fn reason(&mut self, stop: Stop) -> MultiThreadStopReason<u64> {
        let hart = match stop {
            Stop::Step(hart)
            | Stop::Breakpoint(hart)
            | Stop::Watchpoint { hart, .. }
            | Stop::Trap { hart, .. } => hart,
            Stop::Wanted | Stop::Begin | Stop::Ended(_) => {
                self.timeline.machine.current().unwrap_or(self.focus)
            }
        };
        self.focus = hart;
        let tid = tid_of(hart);
        let signal = |signal| MultiThreadStopReason::SignalWithThread { tid, signal };
        let was_at_end = std::mem::replace(&mut self.is_at_end, matches!(stop, Stop::Ended(_)));
        match stop {
            Stop::Step(_) => signal(Signal::SIGTRAP),
            Stop::Breakpoint(_) => {
                let pc = self.timeline.machine.hart(hart).map(|hart| hart.hart.pc);
                match pc.is_some_and(|pc| self.hardware.contains(&pc)) {
                    true => MultiThreadStopReason::HwBreak(tid),
                    false => MultiThreadStopReason::SwBreak(tid),
                }
            }
            Stop::Watchpoint { address, kind, .. } => {
                let kind = match kind {
                    WatchKind::Write => GdbWatchKind::Write,
                    WatchKind::Read => GdbWatchKind::Read,
                    WatchKind::Access => GdbWatchKind::ReadWrite,
                };
                let addr = address;
                MultiThreadStopReason::Watch { tid, kind, addr }
            }
            Stop::Trap { cause, .. } => signal(match cause {
                2 => Signal::SIGILL,
                0 | 4 | 6 => Signal::SIGBUS,
                1 | 5 | 7 | 12 | 13 | 15 => Signal::SIGSEGV,
                8..=11 => Signal::SIGSYS,
                cause if cause >> 63 != 0 => Signal::SIGALRM,
                _ => Signal::SIGTRAP,
            }),
            Stop::Wanted => signal(Signal::SIGINT),
            Stop::Begin => MultiThreadStopReason::ReplayLog {
                tid: Some(tid),
                pos: ReplayLogPosition::Begin,
            },
            Stop::Ended(_) if self.stops_at_end && !was_at_end => signal(Signal::SIGTERM),
            Stop::Ended(end) => {
                self.end = Some(end);
                MultiThreadStopReason::Exited(match end {
                    End::Exit(status) => status.min(255) as u8,
                    End::Reset => 0,
                    _ => 255,
                })
            }
        }
    }

    /// The physical address of a byte, and how many bytes of its page are behind it.
    fn place(&self, address: u64, tid: Tid) -> Option<(u64, usize)> {
        let left = (4096 - address % 4096) as usize;
        let physical = match self.is_physical {
            true => Some(address),
            false => self.timeline.machine.hart(hart_of(tid))?.physical(address),
        };
        Some((physical?, left))
    }
}

impl Target for GdbTarget<'_, '_> {
    type Arch = Rv64;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Rv64, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl TargetDescriptionXmlOverride for GdbTarget<'_, '_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(NO);
        }
        let text = self.description.as_bytes();
        let rest = text.get(offset.min(text.len() as u64) as usize..);
        let rest = rest.unwrap_or_default();
        let size = rest.len().min(length).min(buffer.len());
        buffer[..size].copy_from_slice(&rest[..size]);
        Ok(size)
    }
}

impl MultiThreadBase for GdbTarget<'_, '_> {
    fn read_registers(&mut self, registers: &mut First, tid: Tid) -> TargetResult<(), Self> {
        let hart = self.timeline.machine.hart(hart_of(tid)).ok_or(NO)?;
        registers.0[..FIRST - 1].copy_from_slice(&hart.hart.x);
        registers.0[FIRST - 1] = hart.hart.pc;
        Ok(())
    }

    fn write_registers(&mut self, registers: &First, tid: Tid) -> TargetResult<(), Self> {
        let hart = self.timeline.machine.hart_mut(hart_of(tid)).ok_or(NO)?;
        for (number, value) in registers.0.iter().enumerate() {
            write(hart, number, &value.to_le_bytes());
        }
        self.timeline.changed();
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let mut done = 0;
        while done < data.len() {
            let address = start.wrapping_add(done as u64);
            let Some((physical, left)) = self.place(address, tid) else {
                break;
            };
            let size = left.min(data.len() - done);
            let part = &mut data[done..done + size];
            let board = self.timeline.machine.board_of(hart_of(tid)).ok_or(NO)?;
            if board.read_memory(physical, part).is_err() {
                break;
            }
            done += size;
        }
        match done {
            0 => Err(NO),
            done => Ok(done),
        }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let mut done = 0;
        let mut all = Ok(());
        while done < data.len() {
            let address = start.wrapping_add(done as u64);
            let place = self.place(address, tid);
            let written = place.and_then(|(physical, left)| {
                let size = left.min(data.len() - done);
                let board = self.timeline.machine.board_of(hart_of(tid))?;
                let written = board.write_memory(physical, &data[done..done + size]);
                written.ok().map(|()| size)
            });
            match written {
                Some(size) => done += size,
                None => {
                    all = Err(NO);
                    break;
                }
            }
        }
        if done != 0 {
            self.timeline.changed();
        }
        all
    }

    /// The one that has stopped last is the first: GDB means it where it names none.
    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        active(tid_of(self.focus));
        let others = (0..self.timeline.machine.harts()).filter(|&hart| hart != self.focus);
        others.for_each(|hart| active(tid_of(hart)));
        Ok(())
    }

    fn is_thread_alive(&mut self, tid: Tid) -> Result<bool, Infallible> {
        Ok(hart_of(tid) < self.timeline.machine.harts())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for GdbTarget<'_, '_> {
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let text = self.timeline.machine.hart_name(hart_of(tid));
        let size = text.len().min(buffer.len());
        buffer[..size].copy_from_slice(&text.as_bytes()[..size]);
        Ok(size)
    }
}

impl SingleRegisterAccess<Tid> for GdbTarget<'_, '_> {
    fn read_register(
        &mut self,
        tid: Tid,
        number: Number,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let hart = self.timeline.machine.hart(hart_of(tid)).ok_or(NO)?;
        let value = read(hart, number.0).ok_or(NO)?;
        let place = buffer.get_mut(..value.len()).ok_or(NO)?;
        place.copy_from_slice(&value);
        Ok(value.len())
    }

    fn write_register(&mut self, tid: Tid, number: Number, value: &[u8]) -> TargetResult<(), Self> {
        let hart = self.timeline.machine.hart_mut(hart_of(tid)).ok_or(NO)?;
        if !write(hart, number.0, value) {
            return Err(NO);
        }
        self.timeline.changed();
        Ok(())
    }
}

impl MultiThreadResume for GdbTarget<'_, '_> {
    fn resume(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.request = Request::Continue;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for GdbTarget<'_, '_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        if hart_of(tid) < self.timeline.machine.harts() {
            self.request = Request::Step(hart_of(tid));
        }
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for GdbTarget<'_, '_> {
    /// The machine decides which hart runs: a hart that stood still would make another run of it.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl ReverseStep<Tid> for GdbTarget<'_, '_> {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), Infallible> {
        let hart = hart_of(tid).min(self.timeline.machine.harts() - 1);
        self.request = Request::StepBack(hart);
        Ok(())
    }
}

impl ReverseCont<Tid> for GdbTarget<'_, '_> {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.request = Request::ContinueBack;
        Ok(())
    }
}

impl Breakpoints for GdbTarget<'_, '_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for GdbTarget<'_, '_> {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        self.timeline.points.add_breakpoint(address);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.points.remove_breakpoint(address))
    }
}

impl HwBreakpoint for GdbTarget<'_, '_> {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.hardware.push(address);
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        let known = self.hardware.iter().position(|&known| known == address);
        match known {
            Some(at) => self.hardware.swap_remove(at),
            None => return Ok(false),
        };
        self.remove_sw_breakpoint(address, kind)
    }
}

fn kind_of(kind: GdbWatchKind) -> WatchKind {
    match kind {
        GdbWatchKind::Write => WatchKind::Write,
        GdbWatchKind::Read => WatchKind::Read,
        GdbWatchKind::ReadWrite => WatchKind::Access,
    }
}

impl HwWatchpoint for GdbTarget<'_, '_> {
    fn add_hw_watchpoint(
        &mut self,
        address: u64,
        size: u64,
        kind: GdbWatchKind,
    ) -> TargetResult<bool, Self> {
        let points = &mut self.timeline.points;
        Ok(points.add_watchpoint(address, size, kind_of(kind)))
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u64,
        size: u64,
        kind: GdbWatchKind,
    ) -> TargetResult<bool, Self> {
        let points = &mut self.timeline.points;
        Ok(points.remove_watchpoint(address, size, kind_of(kind)))
    }
}

impl MonitorCmd for GdbTarget<'_, '_> {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Infallible> {
        let text = String::from_utf8_lossy(command);
        for line in answer(self, &text).lines() {
            outputln!(out, "{line}");
        }
        Ok(())
    }
}
