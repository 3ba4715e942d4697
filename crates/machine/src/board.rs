//! Memory and devices, as harts and devices reach them by physical addresses.
use std::cell::{Cell, RefCell};
use std::ops::Range;

use flick_device::{
    BadState, Clint, Device, Finish, Mtimer, Plic, Refused, Surroundings, Time, Timebase,
};
use flick_hart::{Bus, BusError, CodeCache, PAGE};
use flick_sim::EventQueue;

use crate::ram::Ram;

mod saved_board;

pub use saved_board::SavedBoard;
mod faulty_board;

use faulty_board::BoardFaults;

/// What takes the accesses of a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Timer,
    Plic,
    /// The number of a device.
    Other(usize),
}

/// The device that has `mtime`.
pub enum Timer {
    /// With software interrupts.
    Clint(Clint),
    /// Without.
    Mtimer(Mtimer),
}

impl Timer {
    fn timebase(&self) -> Timebase {
        match self {
            Self::Clint(clint) => clint.timebase(),
            Self::Mtimer(timer) => timer.timebase(),
        }
    }

    fn device(&mut self) -> &mut dyn Device {
        match self {
            Self::Clint(clint) => clint,
            Self::Mtimer(timer) => timer,
        }
    }
}

/// Memory and devices of a machine.
pub struct Board {
    ram: Vec<Ram>,
    /// By address.
    ranges: Vec<(Range<u64>, Target)>,
    timer: RefCell<Timer>,
    /// `None`: no device interrupts.
    plic: Option<RefCell<Plic>>,
    devices: Vec<RefCell<Box<dyn Device>>>,
    state: RefCell<State>,
    faults: BoardFaults,
    /// What harts have decoded of the memory.
    pub code: CodeCache,
    /// When the slice of the hart that runs began, and what a cycle of it takes.
    slice: Cell<(Time, Time)>,
    now: Cell<Time>,
    /// A device has been asked for something: it may have events, lines and output.
    has_news: Cell<bool>,
    timebase: Cell<Timebase>,
}

/// What devices have asked for.
#[derive(Default)]
struct State {
    events: EventQueue<(Target, u32)>,
    lines: Vec<(usize, u32, bool)>,
    output: Vec<u8>,
    /// Bytes from outside that devices have taken, and the devices' numbers.
    inputs: Vec<(usize, Vec<u8>)>,
    finish: Option<Finish>,
}

impl Board {
    /// A board with memory, interrupt controllers, and devices with their first addresses and bytes.
    pub fn new(
        ram: Vec<Ram>,
        timer: (Range<u64>, Timer),
        plic: Option<(Range<u64>, Plic)>,
        devices: Vec<(Range<u64>, Box<dyn Device>)>,
    ) -> Self {
        let timebase = timer.1.timebase();
        let mut ranges = vec![(timer.0, Target::Timer)];
        let plic = plic.map(|(range, plic)| {
            ranges.push((range, Target::Plic));
            RefCell::new(plic)
        });
        let mut all = vec![];
        for (n, (range, device)) in devices.into_iter().enumerate() {
            ranges.push((range, Target::Other(n)));
            all.push(RefCell::new(device));
        }
        ranges.sort_by_key(|(range, _)| range.start);
        Self {
            ram,
            ranges,
            timer: RefCell::new(timer.1),
            plic,
            devices: all,
            state: RefCell::default(),
            faults: BoardFaults::default(),
            code: CodeCache::new(),
            slice: Cell::new((0, 0)),
            now: Cell::new(0),
            has_news: Cell::new(true),
            timebase: Cell::new(timebase),
        }
    }

    /// A hart's slice begins.
    pub(crate) fn begin(&self, time: Time, period: Time) {
        self.slice.set((time, period));
        self.now.set(time);
    }

    /// Has a device done something since [`Self::forget_news`]?
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.get()
    }

    /// What devices have done is looked at.
    pub(crate) fn forget_news(&self) {
        self.has_news.set(false);
    }

    /// The time of the last access or event.
    pub(crate) fn now(&self) -> Time {
        self.now.get()
    }

    /// The time of the next event.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.state.borrow().events.next()
    }

    /// Lets the devices see their events up to `time`.
    pub(crate) fn advance(&self, time: Time) {
        loop {
            let event = self.state.borrow_mut().events.pop(time);
            let Some((at, (target, token))) = event else {
                break;
            };
            self.now.set(at);
            self.with(target, |device, around| device.event(token, around));
        }
    }

    /// Levels of harts' lines that have been set since the last call.
    pub(crate) fn take_lines(&self) -> Vec<(usize, u32, bool)> {
        std::mem::take(&mut self.state.borrow_mut().lines)
    }

    /// Bytes for the console.
    pub(crate) fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut self.state.borrow_mut().output)
    }

    pub(crate) fn finished(&self) -> Option<Finish> {
        self.state.borrow().finish
    }

    /// Bytes from the console to the device of this number, at a virtual time that is not past. Returns
    /// how many it takes.
    pub fn input(&self, device: usize, bytes: &[u8], time: Time) -> usize {
        self.now.set(time);
        let target = Target::Other(device);
        let bytes = self.faults.corrupted(bytes);
        let taken = self.with(target, |device, around| device.input(&bytes, around));
        let taken = taken.min(bytes.len());
        self.faults.taken(taken);
        if taken != 0 {
            let inputs = &mut self.state.borrow_mut().inputs;
            inputs.push((device, bytes[..taken].to_vec()));
        }
        taken
    }

    /// What devices have taken from outside since the last call.
    pub(crate) fn take_inputs(&self) -> Vec<(usize, Vec<u8>)> {
        std::mem::take(&mut self.state.borrow_mut().inputs)
    }

    /// The machine's `time` at a virtual time, and back: the first virtual time that has it.
    pub(crate) fn time_at(&self, time: Time) -> u64 {
        self.timebase.get().value(time)
    }

    pub(crate) fn when(&self, ticks: u64, now: Time) -> Time {
        self.timebase.get().reaches(ticks, now)
    }

    /// Copies bytes to memory.
    pub fn write_memory(&self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let size = bytes.len() as u64;
        let place = self.ram.iter().find_map(|ram| ram.at(address, size));
        let place = place.ok_or(Refused)?;
        // SAFETY: so many bytes of memory, to which nobody has a reference.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.code.written(address, size);
        Ok(())
    }

    /// Copies bytes from memory.
    pub fn read_memory(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let size = bytes.len() as u64;
        let place = self.ram.iter().find_map(|ram| ram.at(address, size));
        let place = place.ok_or(Refused)?;
        // SAFETY: as in `write_memory`.
        unsafe { place.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn around(&self, target: Target) -> Around<'_> {
        Around {
            board: self,
            target,
        }
    }

    fn with<R>(&self, target: Target, f: impl FnOnce(&mut dyn Device, &mut Around) -> R) -> R {
        let around = &mut self.around(target);
        self.has_news.set(true);
        match target {
            Target::Timer => {
                let mut timer = self.timer.borrow_mut();
                let result = f(timer.device(), around);
                self.timebase.set(timer.timebase());
                result
            }
            // A board without a controller has no range for it.
            Target::Plic => match &self.plic {
                Some(plic) => f(&mut *plic.borrow_mut(), around),
                None => f(&mut Nothing, around),
            },
            Target::Other(n) => match self.devices.get(n) {
                Some(device) => f(&mut **device.borrow_mut(), around),
                None => f(&mut Nothing, around),
            },
        }
    }

    /// An access of a device by the hart that runs, after so many cycles of its slice. `f` gets the
    /// address within the device, too.
    fn access<R>(
        &self,
        address: u64,
        size: u32,
        cycles: u64,
        f: impl FnOnce(&mut dyn Device, u64, &mut Around) -> Result<R, Refused>,
    ) -> Result<R, BusError> {
        let (target, offset) = self.device_at(address, size)?;
        if self.faults.refuses(address, size.into()) {
            return Err(BusError);
        }
        self.now.set(self.slice_time(cycles));
        let done = self.with(target, |device, around| f(device, offset, around));
        done.map_err(|Refused| BusError)
    }

    /// The virtual time when the hart that runs has executed so many cycles of its slice.
    fn slice_time(&self, cycles: u64) -> Time {
        let (start, period) = self.slice.get();
        start + cycles * period
    }

    /// The device at an address, and the address in it.
    fn device_at(&self, address: u64, size: u32) -> Result<(Target, u64), BusError> {
        let after = self
            .ranges
            .partition_point(|(range, _)| range.start <= address);
        let (range, target) = after
            .checked_sub(1)
            .map(|at| &self.ranges[at])
            .ok_or(BusError)?;
        let end = address.checked_add(size.into()).ok_or(BusError)?;
        (end <= range.end)
            .then_some((*target, address - range.start))
            .ok_or(BusError)
    }
}

impl Bus for Board {
    fn memory(&self, page: u64) -> Option<*mut u8> {
        let memory = self.ram.iter().find_map(|ram| ram.at(page, PAGE));
        memory.filter(|_| !self.faults.refuses_pages(page, PAGE))
    }

    fn load(&self, address: u64, size: u32, cycles: u64) -> Result<u64, BusError> {
        self.access(address, size, cycles, |device, offset, around| {
            device.read(offset, size, around)
        })
    }

    fn store(&self, address: u64, size: u32, value: u64, cycles: u64) -> Result<(), BusError> {
        self.access(address, size, cycles, |device, offset, around| {
            device.write(offset, size, value, around)
        })
    }

    fn time(&self, cycles: u64) -> u64 {
        self.time_at(self.slice_time(cycles))
    }
}

/// What is at the number of a device that the board lacks.
struct Nothing;

impl Device for Nothing {
    fn read(&mut self, _: u64, _: u32, _: &mut dyn Surroundings) -> Result<u64, Refused> {
        Err(Refused)
    }

    fn write(&mut self, _: u64, _: u32, _: u64, _: &mut dyn Surroundings) -> Result<(), Refused> {
        Err(Refused)
    }

    fn save(&self) -> Vec<u8> {
        vec![]
    }

    fn load(&mut self, _: &[u8]) -> Result<(), BadState> {
        Ok(())
    }
}

/// What one device reaches.
struct Around<'a> {
    board: &'a Board,
    target: Target,
}

impl Surroundings for Around<'_> {
    fn now(&self) -> Time {
        self.board.now.get()
    }

    fn set_source(&mut self, source: u32, level: bool) {
        let mut around = self.board.around(Target::Plic);
        // The controller has no source of its own.
        let plic = self.board.plic.as_ref();
        if let Some(Ok(mut plic)) = plic.map(RefCell::try_borrow_mut) {
            plic.set_level(source, level, &mut around);
        }
    }

    fn set_hart_line(&mut self, hart: usize, bit: u32, level: bool) {
        self.board.state.borrow_mut().lines.push((hart, bit, level));
    }

    fn schedule(&mut self, token: u32, at: Time) {
        let events = &mut self.board.state.borrow_mut().events;
        let key = (self.target, token);
        match at {
            Time::MAX => events.cancel(key),
            _ => events.schedule(key, at.max(self.board.now.get())),
        }
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        match self.board.faults.refuses_pages(address, bytes.len() as u64) {
            true => Err(Refused),
            false => self.board.read_memory(address, bytes),
        }
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        match self.board.faults.refuses_pages(address, bytes.len() as u64) {
            true => Err(Refused),
            false => self.board.write_memory(address, bytes),
        }
    }

    fn output(&mut self, bytes: &[u8]) {
        self.board.state.borrow_mut().output.extend(bytes);
    }

    fn finish(&mut self, how: Finish) {
        self.board.state.borrow_mut().finish.get_or_insert(how);
    }
}
