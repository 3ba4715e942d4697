//! A tile with an accelerator of requests, and a root that sends it requests, and is its pager.
use std::collections::BTreeMap;

use flick_abi::accelerator::{
    CONTEXT, CONTEXT_WORDS, Control, LOG2_STEPS_SLOT, PAGED, PAGER, PAGES, REQUESTS, STEPS_BUFFER,
    STEPS_SLOTS, Status,
};
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, CommandWord, Endpoint, Error, HEADER_SIZE, PAGE_SIZE,
    PageAnswer, PageFault, PagesEndpoint, ReceiveEndpoint, SendEndpoint,
};
use flick_abi::step_request::{Array, STEP_ANSWER_SIZE, StepAnswer, StepRequest};
use flick_device::Time;
use flick_device::accelerator::{
    Arrays, CacheShape, Refused, RequestAccelerator, RequestDescription, RequestTile,
    request_by_name,
};

use crate::world::{ACTIVITY, MEMORY, ROOT, SCRATCH, SERVES, SLOTS, World, to_root, unit};

/// The root's endpoints for requests and their answers, and the buffer of those.
pub const ASKS: u16 = 3;
pub const ANSWERED: u16 = 4;
pub const ANSWERS: u64 = SLOTS + 0x2000;
/// Files, and where their pages are for the accelerator.
pub const FILES: u64 = MEMORY + 0x1_0000;
pub const FILES_SIZE: u64 = 0x4_0000;
pub const MAPPED: u64 = 0x4000_0000;
pub const STEP: Time = 500_000;
pub const LINE: u64 = 64;
pub const TILE: u16 = 1;
pub const SHAPE: CacheShape = CacheShape {
    line: LINE,
    ways: 2,
    sets: 4,
};
pub const LARGE: CacheShape = CacheShape { sets: 256, ..SHAPE };

/// Adds 1 to each byte of array 0, where it is. A step is 100 bytes, and reads them twice.
pub struct AddOne;

impl RequestAccelerator for AddOne {
    fn steps(&self, sizes: &[u64]) -> Option<u64> {
        sizes.first().map(|size| size.div_ceil(100))
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused> {
        let mut bytes = [0; 100];
        arrays.read(0, 100 * number as usize, &mut bytes)?;
        for (n, byte) in bytes.iter().enumerate() {
            let at = 100 * number as usize + n;
            arrays.write(0, at, &[byte.wrapping_add(1)])?;
        }
        let mut again = [0; 100];
        arrays.read(0, 100 * number as usize, &mut again)?;
        assert!(
            again
                .iter()
                .zip(bytes)
                .all(|(a, b)| *a == b.wrapping_add(1))
        );
        Ok(Some(300))
    }
}

/// Adds bytes that are far from each other, and writes the sum to array 1.
pub struct Gather;

impl RequestAccelerator for Gather {
    fn steps(&self, _: &[u64]) -> Option<u64> {
        Some(1)
    }

    fn step(&self, _: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused> {
        let mut sum = 0_u64;
        for at in (0..0x3000).step_by(256) {
            let mut byte = [0];
            arrays.read(0, at, &mut byte)?;
            sum += u64::from(byte[0]);
            arrays.write(1, 0, &sum.to_le_bytes())?;
        }
        Ok(None)
    }
}
/// A page for the pager: its offset in the files, and whether it may be written.
pub type Pages = BTreeMap<u64, (u64, bool)>;

pub struct Paged {
    pub world: World,
    pub pages: Pages,
    pub faults: usize,
    /// Whether the pager answers.
    pub serves: bool,
}

pub fn tile(shape: CacheShape, logic: Box<dyn RequestAccelerator>) -> RequestTile {
    let description = RequestDescription {
        cache: shape,
        time: STEP,
        cycle: 1_000_000,
    };
    RequestTile::new(unit(TILE.into()), description, logic).unwrap()
}

impl Paged {
    pub fn new(shape: CacheShape, logic: Box<dyn RequestAccelerator>) -> Self {
        let mut world = World::with_tiles(vec![(Box::new(tile(shape, logic)), 0)]);
        let steps = ReceiveEndpoint::new(ACTIVITY, STEPS_BUFFER, LOG2_STEPS_SLOT, STEPS_SLOTS);
        world.set_up(TILE, REQUESTS, Endpoint::Receive(steps));
        world.set_up(TILE, PAGER, to_root(PAGER));
        let files = crate::world::memory(0, FILES, FILES_SIZE);
        world.set_up(TILE, PAGED, files);
        let pages = PagesEndpoint::new(ACTIVITY, PAGER);
        world.set_up(TILE, PAGES, Endpoint::Pages(pages));
        let answers = ReceiveEndpoint::new(ROOT, ANSWERS, 8, 2);
        world.set_own(ANSWERED, Endpoint::Receive(answers));
        let send = Endpoint::Send(SendEndpoint {
            activity: ROOT,
            tile: TILE,
            endpoint: REQUESTS,
            receiver: ACTIVITY,
            label: 0,
            credits: 2,
            most_credits: 2,
            log2_message: LOG2_STEPS_SLOT,
        });
        world.set_own(ASKS, send);
        // All files are mapped, with holes between them that the pages leave.
        let pages = (0..FILES_SIZE / PAGE_SIZE)
            .map(|n| (MAPPED + 2 * n * PAGE_SIZE, (n * PAGE_SIZE, true)))
            .collect();
        for (n, byte) in world
            .bytes(FILES, FILES_SIZE as usize)
            .iter_mut()
            .enumerate()
        {
            *byte = (n * 7 + n / 251) as u8;
        }
        Self {
            world,
            pages,
            faults: 0,
            serves: true,
        }
    }

    pub fn started(shape: CacheShape, logic: Box<dyn RequestAccelerator>) -> Self {
        let mut paged = Self::new(shape, logic);
        paged.world.control(TILE, Control::Start);
        paged
    }

    /// Maps pages one behind the other, from an address on.
    pub fn map(&mut self, address: u64, offset: u64, size: u64) {
        for n in 0..size.div_ceil(PAGE_SIZE) {
            let page = (offset + n * PAGE_SIZE, true);
            self.pages.insert(address + n * PAGE_SIZE, page);
        }
    }

    pub fn send(&mut self, request: &StepRequest) -> Result<u64, Error> {
        let bytes = request.bytes();
        self.world
            .bytes(SCRATCH, bytes.len())
            .copy_from_slice(&bytes);
        let word = CommandWord::new(Command::Send, ASKS).with_answer(ANSWERED);
        self.world.command(word, SCRATCH, bytes.len() as u64, 0)
    }

    pub fn fetch(&mut self, endpoint: u16) -> u64 {
        let word = CommandWord::new(Command::Fetch, endpoint);
        self.world.command(word, 0, 0, 0).unwrap()
    }

    /// The pager answers a fault that has come.
    pub fn serve(&mut self) {
        let at = self.fetch(SERVES);
        let message = self.world.bytes(at + HEADER_SIZE as u64, 24).to_vec();
        let fault = PageFault::from_bytes(message.as_slice().try_into().unwrap());
        self.faults += 1;
        let answer = match self.pages.get(&fault.page) {
            Some(&(offset, can_write)) => PageAnswer {
                error: 0,
                memory: PAGED,
                can_read: true,
                can_write,
                offset,
            },
            None => PageAnswer {
                error: 2,
                ..PageAnswer::default()
            },
        };
        let bytes = answer.bytes();
        self.world
            .bytes(SCRATCH, bytes.len())
            .copy_from_slice(&bytes);
        let slot = ((at - SLOTS) / 256) as u8;
        let word = CommandWord::new(Command::Reply, SERVES).with_slot(slot);
        let replied = self.world.command(word, SCRATCH, bytes.len() as u64, 0);
        assert_eq!(replied, Ok(0));
    }

    /// One thing happens. False: nothing does.
    pub fn step(&mut self) -> bool {
        let has_fault = self.world.read(dtu::EVENTS) >> SERVES & 1 != 0;
        match has_fault && self.serves {
            true => {
                self.serve();
                true
            }
            false => self.world.step(),
        }
    }

    /// The next answer. `None`: nothing goes on.
    pub fn answer(&mut self) -> Option<StepAnswer> {
        while self.world.read(dtu::EVENTS) >> ANSWERED & 1 == 0 {
            if !self.step() {
                return None;
            }
        }
        let at = self.fetch(ANSWERED);
        let message = self
            .world
            .bytes(at + HEADER_SIZE as u64, STEP_ANSWER_SIZE)
            .to_vec();
        let slot = ((at - ANSWERS) / 256) as u8;
        let word = CommandWord::new(Command::Acknowledge, ANSWERED).with_slot(slot);
        assert_eq!(self.world.command(word, 0, 0, 0), Ok(0));
        Some(StepAnswer::from_bytes(
            message.as_slice().try_into().unwrap(),
        ))
    }

    pub fn run(&mut self, request: &StepRequest) -> StepAnswer {
        assert_eq!(self.send(request), Ok(0));
        self.answer().expect("the accelerator answers")
    }

    pub fn accelerator(&mut self, register: u64) -> u64 {
        self.world
            .registers::<1>(TILE, ACCELERATOR_REGISTERS + register)[0]
    }

    /// The kernel stops the module.
    pub fn stop(&mut self) {
        self.world.control(TILE, Control::Stop);
        while self.world.status(TILE) != Status::Stopped as u64 {
            assert!(self.step());
        }
    }

    pub fn context(&mut self) -> [u64; CONTEXT_WORDS] {
        self.world.registers(TILE, ACCELERATOR_REGISTERS + CONTEXT)
    }

    pub fn set_context(&mut self, words: &[u64; CONTEXT_WORDS]) {
        self.world
            .set_registers(TILE, ACCELERATOR_REGISTERS + CONTEXT, words);
    }

    pub fn numbers(&mut self, address: u64, count: u64) -> Vec<f64> {
        let bytes = self.world.bytes(address, 8 * count as usize);
        let (numbers, _) = bytes.as_chunks();
        numbers
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes))
            .collect()
    }
}

pub const fn array(address: u64, size: u64) -> Array {
    Array { address, size }
}

pub fn vector_sum() -> Box<dyn RequestAccelerator> {
    request_by_name("vector-sum").unwrap()
}

/// Vectors of so many bytes, in files that are mapped, and the sum as it shall be.
pub fn vectors(paged: &mut Paged, size: u64) -> (StepRequest, Vec<f64>) {
    for (n, offset) in [0, 0x1_0000].into_iter().enumerate() {
        let numbers =
            (0..size / 8).flat_map(|i| ((i * 3 + 1) as f64 / (n + 1) as f64).to_le_bytes());
        let bytes: Vec<u8> = numbers.collect();
        paged
            .world
            .bytes(FILES + offset, bytes.len())
            .copy_from_slice(&bytes);
    }
    // They begin at different sets of a cache.
    let places = [(0, 0), (0x10_1000, 0x1_0000), (0x20_2000, 0x2_0000)];
    for (address, offset) in places {
        paged.map(MAPPED + address, offset, size);
    }
    let arrays = places.map(|(address, _)| array(MAPPED + address, size));
    let first = paged.numbers(FILES, size / 8);
    let second = paged.numbers(FILES + 0x1_0000, size / 8);
    let sums = first.iter().zip(second).map(|(a, b)| a + b).collect();
    (StepRequest::new(&arrays), sums)
}
