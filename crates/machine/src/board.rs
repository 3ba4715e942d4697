//! Memory and devices, as harts and devices reach them by physical addresses.
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use flick_device::accelerator::Work;
use flick_device::dtu::Packet;
use flick_device::{
    BadState, Clint, Device, Finish, Mtimer, Plic, Refused, Surroundings, Time, Timebase,
};
use flick_hart::{Bus, BusError, CodeCache, PAGE};

use crate::ram::Ram;

mod faulty_board;
mod joined_boards;
mod saved_board;
mod tile_log;
mod unit_promises;
mod wiring;

use faulty_board::BoardFaults;
pub use joined_boards::Boards;
pub(crate) use joined_boards::{advance, reset};
pub use saved_board::{SavedBoard, SavedWiring};
pub(crate) use tile_log::{TileChange, TileEvent};
pub(crate) use unit_promises::end as end_promises;
pub(crate) use wiring::Wiring;

/// What takes the accesses of a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Timer,
    Plic,
    /// The number of a device.
    Other(usize),
    /// Of events alone: a packet of this token.
    Packet,
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

/// Memory and devices of a tile.
pub struct Board {
    /// The tile's number.
    tile: usize,
    /// The numbers in the machine of the tile's harts.
    harts: Range<usize>,
    wiring: Rc<Wiring>,
    ram: Vec<Ram>,
    /// By address.
    ranges: Vec<(Range<u64>, Target)>,
    timer: RefCell<Timer>,
    /// `None`: no device interrupts.
    plic: Option<RefCell<Plic>>,
    devices: Vec<RefCell<Box<dyn Device>>>,
    /// The number of the device that gets packets of other tiles.
    unit: Option<usize>,
    faults: BoardFaults,
    /// What harts have decoded of the memory.
    pub code: CodeCache,
    timebase: Cell<Timebase>,
}

impl Board {
    /// The board of the only tile of a machine, with memory, interrupt controllers, and devices with
    /// their first addresses and bytes.
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
        let wiring = Wiring::default();
        wiring.has_news.set(true);
        Self {
            tile: 0,
            harts: 0..usize::MAX,
            wiring: Rc::new(wiring),
            ram,
            ranges,
            timer: RefCell::new(timer.1),
            plic,
            devices: all,
            unit: None,
            faults: BoardFaults::default(),
            code: CodeCache::new(),
            timebase: Cell::new(timebase),
        }
    }

    /// Has the tile a data transfer unit, which interrupts its harts?
    pub(crate) fn has_unit(&self) -> bool {
        self.unit.is_some()
    }

    /// Adds the unit that sends packets to other tiles and gets theirs.
    pub fn add_unit(&mut self, range: Range<u64>, unit: Box<dyn Device>) {
        let number = self.devices.len();
        self.unit = Some(number);
        self.devices.push(RefCell::new(unit));
        let at = self.ranges.partition_point(|(r, _)| r.start < range.start);
        self.ranges.insert(at, (range, Target::Other(number)));
    }

    /// Bytes from outside to its unit, if that is the host's bridge. Returns how many it takes.
    pub fn input_to_unit(&self, bytes: &[u8], time: Time) -> usize {
        self.unit.map_or(0, |unit| self.input(unit, bytes, time))
    }

    /// What it has in common with the machine's other boards.
    pub(crate) fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// What its accelerator has done, if it has one.
    pub(crate) fn work(&self) -> Option<Work> {
        let unit = self.devices[self.unit?].borrow();
        unit.work(self.wiring.now.get())
    }

    /// The tile's number.
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// Whether it has harts.
    pub(crate) fn has_harts(&self) -> bool {
        !self.harts.is_empty()
    }

    /// The number in the machine of its first hart.
    pub(crate) fn first_hart(&self) -> usize {
        self.harts.start
    }

    /// The time of one of its events has come.
    fn event(&self, target: Target, token: u32) {
        if target != Target::Packet && !self.wiring.has_stopped(self.tile) {
            self.with(target, |device, around| device.event(token, around));
        }
    }

    /// A packet arrives for its unit. A tile without a unit drops it.
    fn arrive(&self, packet: Packet) {
        if let Some(unit) = self.unit.filter(|_| !self.wiring.has_stopped(self.tile)) {
            self.keep_full();
            self.with(Target::Other(unit), |device, around| {
                device.packet(packet, around);
            });
        }
    }

    /// Bytes from the console to the device of this number, at a virtual time that is not past. Returns
    /// how many it takes.
    pub fn input(&self, device: usize, bytes: &[u8], time: Time) -> usize {
        self.wiring.now.set(time);
        let target = Target::Other(device);
        let bytes = self.faults.corrupted(bytes);
        let taken = self.with(target, |device, around| device.input(&bytes, around));
        let taken = taken.min(bytes.len());
        self.faults.taken(taken);
        if taken != 0 {
            let inputs = &mut self.wiring.state.borrow_mut().inputs;
            inputs.push((device, bytes[..taken].to_vec()));
        }
        taken
    }

    /// What devices have taken from outside since the last call.
    pub(crate) fn take_inputs(&self) -> Vec<(usize, Vec<u8>)> {
        std::mem::take(&mut self.wiring.state.borrow_mut().inputs)
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
        self.wiring.has_news.set(true);
        match target {
            Target::Timer => {
                let mut timer = self.timer.borrow_mut();
                let result = f(timer.device(), around);
                let timebase = timer.timebase();
                if self.timebase.replace(timebase) != timebase {
                    self.wiring.is_retimed.set(true);
                }
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
            Target::Packet => f(&mut Nothing, around),
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
        self.wiring.now.set(self.slice_time(cycles));
        let done = self.with(target, |device, around| f(device, offset, around));
        done.map_err(|Refused| BusError)
    }

    /// The virtual time when the hart that runs has executed so many cycles of its slice.
    fn slice_time(&self, cycles: u64) -> Time {
        let (start, period) = self.wiring.slice.get();
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
        self.board.wiring.now.get()
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
        let harts = &self.board.harts;
        // A line of no hart of the tile leads nowhere.
        if let Some(hart) = harts.start.checked_add(hart).filter(|n| harts.contains(n)) {
            let lines = &mut self.board.wiring.state.borrow_mut().lines;
            lines.push((hart, bit, level));
        }
    }

    fn schedule(&mut self, token: u32, at: Time) {
        let key = (self.board.tile, self.target, token);
        self.board.wiring.schedule(key, at);
    }

    fn enter_state(&mut self, name: &'static str) {
        self.board.wiring.enter_state(self.board.tile, name);
        self.board.wiring.faults_at_state(self.board.tile, name);
    }

    fn message_stored(&mut self) {
        self.board.wiring.message_stored();
    }

    fn hart(&self) -> usize {
        self.board.wiring.hart.get()
    }

    fn send(&mut self, packet: Packet) -> bool {
        // A tile that stops while it does something sends no more of it.
        let tile = self.board.tile;
        self.board.wiring.has_stopped(tile) || self.board.wiring.send(tile, packet)
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
        self.board.wiring.state.borrow_mut().output.extend(bytes);
    }

    fn finish(&mut self, how: Finish) {
        self.board.wiring.finish(how);
    }
}
