//! The tile of the host (`docs/card.md`): descriptors to and from a kernel's unit, the full ring, and the
//! memory of the process.
use std::cell::RefCell;
use std::rc::Rc;

use flick_abi::card;
use flick_abi::descriptor::{
    DESCRIPTOR_CALL, DESCRIPTOR_RETURN, DESCRIPTOR_SIZE, DESCRIPTOR_SLOTS, Descriptor,
    FIRST_HART_ENDPOINT, HARTS_ACTIVITY, KERNEL_ACTIVITY, KERNEL_ENDPOINT, LOG2_DESCRIPTOR_SLOT,
    RING,
};
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Outcome, ReceiveEndpoint,
};
use flick_device::{Device, HostSpace, HostTile, NoSpace, Refused};

#[path = "fuzz/host_world.rs"]
mod host_world;

use host_world::{HOST, MEMORY, OUTGOING, SLOTS, TO_HOST, World, description};

/// Where the kernel's tile has what it copies, and the slot of a hart.
const COPIED: u64 = 0x4000;
const HARTS_SLOT: u64 = 0x6000;

/// A process with one page at this address.
struct OnePage(Rc<RefCell<Vec<u8>>>);

const PAGE: u64 = 0x5555_0000_0000;

impl OnePage {
    fn range(address: u64, size: usize) -> Result<std::ops::Range<usize>, Refused> {
        let start = address.checked_sub(PAGE).ok_or(Refused)? as usize;
        let end = start.checked_add(size).filter(|&end| end <= 4096);
        Ok(start..end.ok_or(Refused)?)
    }
}

impl HostSpace for OnePage {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let range = Self::range(address, bytes.len())?;
        bytes.copy_from_slice(&self.0.borrow()[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        let range = Self::range(address, bytes.len())?;
        self.0.borrow_mut()[range].copy_from_slice(bytes);
        Ok(())
    }
}

impl World {
    fn get(&mut self, register: u64) -> u64 {
        self.unit.read(register, 8, &mut self.card).unwrap()
    }

    fn pass(&mut self) {
        self.pass_times(40);
    }

    fn execute(&mut self, command: CommandWord) -> Result<u64, Error> {
        self.set(dtu::COMMAND, command.bits());
        while self.get(dtu::COMMAND) != 0 {
            self.pass();
        }
        Outcome::from_bits(self.get(dtu::RESULT)).result()
    }

    /// The kernel takes the oldest descriptor.
    fn take(&mut self) -> Option<Descriptor> {
        let fetch = CommandWord::new(Command::Fetch, KERNEL_ENDPOINT);
        let at = self.execute(fetch).unwrap();
        if at == 0 {
            return None;
        }
        let start = at as usize + HEADER_SIZE;
        let taken = Descriptor::from_bytes(&self.card.memory[start..start + DESCRIPTOR_SIZE]);
        let slot = (at - SLOTS) >> LOG2_DESCRIPTOR_SLOT;
        let free = CommandWord::new(Command::Acknowledge, KERNEL_ENDPOINT).with_slot(slot as u8);
        self.execute(free).unwrap();
        taken
    }

    fn give(&mut self, descriptor: &Descriptor) -> bool {
        self.host.input(&descriptor.bytes(), &mut self.outside) != 0
    }

    fn give_at(&mut self, descriptor: &Descriptor, time: u64) -> bool {
        let bytes = [&descriptor.bytes()[..], &time.to_le_bytes()].concat();
        self.host.input(&bytes, &mut self.outside) != 0
    }
}

fn call(number: u64) -> Descriptor {
    Descriptor {
        activation: number,
        ..Descriptor::new(DESCRIPTOR_CALL)
    }
}

#[test]
fn descriptors_go_both_ways() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    assert!(world.give(&call(1)));
    world.pass();
    assert_eq!(world.take(), Some(call(1)));
    assert_eq!(world.take(), None);
    let answer = Descriptor {
        kind: DESCRIPTOR_RETURN,
        ints: [7; 8],
        ..call(1)
    };
    let at = OUTGOING as usize;
    world.card.memory[at..at + DESCRIPTOR_SIZE].copy_from_slice(&answer.bytes());
    // More answers than the host's tile has slots: it frees them by itself.
    for _ in 0..3 * u32::from(DESCRIPTOR_SLOTS) {
        world.set(dtu::ADDRESS, OUTGOING);
        world.set(dtu::SIZE, DESCRIPTOR_SIZE as u64);
        let sent = world.execute(CommandWord::new(Command::Send, TO_HOST));
        assert_eq!(sent, Ok(0));
        world.pass();
        let arrived = world.arrived.borrow_mut().pop_front();
        assert_eq!(arrived.map(|(arrived, _)| arrived), Some(answer));
    }
}

/// A descriptor for a hart comes to the hart's endpoint while that is open, and else to the kernel's. The
/// hart answers it, which opens the endpoint again.
#[test]
fn a_hart_that_waits_gets_its_descriptor() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    let receive = ReceiveEndpoint {
        activity: HARTS_ACTIVITY,
        buffer: HARTS_SLOT,
        log2_slot: LOG2_DESCRIPTOR_SLOT,
        slots: 1,
        occupied: 0,
        unread: 0,
    };
    let words = Endpoint::Receive(receive).words();
    for word in dtu::WRITE_ORDER {
        world.set(dtu::endpoint_word(FIRST_HART_ENDPOINT, word), words[word]);
    }
    let slots = dtu::endpoint_word(FIRST_HART_ENDPOINT, 3);
    let to_hart = |number| Descriptor {
        endpoint: FIRST_HART_ENDPOINT as u8,
        ..call(number)
    };
    // Closed: the slot is occupied.
    world.set(slots, 1);
    assert!(world.give(&to_hart(1)));
    world.pass();
    assert_eq!(world.take(), Some(call(1)));
    // Its message has brought its credit back, and the next one is for the hart again.
    world.set(slots, 0);
    for number in 2..40 {
        assert!(world.give(&to_hart(number)));
        world.pass();
        assert_eq!(world.take(), None);
        assert_eq!(world.get(slots), 1 << 32 | 1);
        let start = HARTS_SLOT as usize + HEADER_SIZE;
        let bytes = &world.card.memory[start..start + DESCRIPTOR_SIZE];
        assert_eq!(Descriptor::from_bytes(bytes), Some(to_hart(number)));
        // The hart closes the slot without a command, and answers.
        world.set(slots, 1);
        let answer = Descriptor {
            kind: DESCRIPTOR_RETURN,
            ..to_hart(number)
        };
        let at = OUTGOING as usize;
        world.card.memory[at..at + DESCRIPTOR_SIZE].copy_from_slice(&answer.bytes());
        world.set(dtu::current(0), HARTS_ACTIVITY.into());
        world.set(dtu::ADDRESS, OUTGOING);
        world.set(dtu::SIZE, DESCRIPTOR_SIZE as u64);
        let reply = CommandWord::new(Command::Reply, FIRST_HART_ENDPOINT);
        assert_eq!(world.execute(reply), Ok(0));
        assert_eq!(world.get(slots), 0);
        world.set(dtu::current(0), KERNEL_ACTIVITY.into());
        world.pass();
        let arrived = world.arrived.borrow_mut().pop_front();
        assert_eq!(arrived.map(|(descriptor, _)| descriptor), Some(answer));
    }
    // An endpoint that is no hart's.
    let wild = Descriptor {
        endpoint: 0xff,
        ..call(50)
    };
    assert!(world.give(&wild));
    world.pass();
    assert_eq!(world.take(), Some(call(50)));
}

/// The bridge tries again for ten seconds, less and less often. Then it tells the owner.
#[test]
fn a_kernel_that_takes_nothing_has_failed() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    let fit = u64::from(DESCRIPTOR_SLOTS);
    for number in 0..=fit {
        assert!(world.give(&call(number)));
        world.pass();
    }
    let mut tries = 0;
    while world.arrived.borrow().is_empty() {
        let next = world.outside.events.values().min().copied();
        world.outside.now = next.unwrap().max(world.outside.now);
        world.card.now = world.outside.now;
        world.pass();
        tries += 1;
        assert!(tries < 2000);
    }
    assert!(tries > 100);
    let (answer, time) = world.arrived.borrow_mut().pop_front().unwrap();
    assert_eq!((answer.kind, answer.activation), (DESCRIPTOR_RETURN, fit));
    assert_eq!(answer.error, card::Error::TimedOut as u32);
    let second = 1_000_000_000_000;
    assert!((10 * second..11 * second).contains(&time), "{time}");
    // The others are there, and the next one finds room.
    assert_eq!(world.take(), Some(call(0)));
    assert!(world.give(&call(50)));
    world.pass();
    for number in (1..fit).chain([50]) {
        assert_eq!(world.take(), Some(call(number)));
    }
    assert_eq!(world.take(), None);
}

#[test]
fn a_descriptor_of_a_later_time_comes_then() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    let (second, third) = (1_000_000_000, 2_000_000_000);
    assert!(world.give_at(&call(3), third));
    assert!(world.give_at(&call(2), second));
    assert!(world.give(&call(1)));
    assert_eq!(
        world
            .host
            .input(&[0; DESCRIPTOR_SIZE + 3], &mut world.outside),
        0
    );
    assert_eq!(world.host.input(&[0; 3], &mut world.outside), 0);
    world.pass();
    assert_eq!(world.take(), Some(call(1)));
    // Those that are to come are a part of the state.
    let saved = world.host.save();
    world.host.load(&saved).unwrap();
    assert!(world.host.save() == saved);
    for (number, time) in [(2, second), (3, third)] {
        let taken = loop {
            world.pass();
            if let Some(taken) = world.take() {
                break taken;
            }
        };
        assert_eq!(taken, call(number));
        assert!(world.outside.now >= time);
        assert!(
            world.outside.now < time + 200_000_000,
            "{}",
            world.outside.now
        );
    }
    // What is past comes at once.
    assert!(world.give_at(&call(4), 5));
    world.pass();
    assert_eq!(world.take(), Some(call(4)));
}

/// Nothing is lost, and the order stays, whoever is full or not there yet.
#[test]
fn a_full_ring_makes_its_sender_wait() {
    let mut world = World::new(Box::new(NoSpace));
    let mut given = 0;
    while world.give(&call(given)) {
        given += 1;
        assert!(given <= RING as u64);
    }
    assert_eq!(given, RING as u64);
    // The kernel begins later than the host.
    world.pass();
    assert!(!world.give(&call(given)));
    world.begin();
    world.pass();
    // As many as the kernel has slots have left the ring.
    while world.give(&call(given)) {
        given += 1;
        world.pass();
    }
    assert_eq!(given, RING as u64 + u64::from(DESCRIPTOR_SLOTS));
    for number in 0..given {
        assert_eq!(world.take(), Some(call(number)));
        world.pass();
    }
    assert_eq!(world.take(), None);
    assert!(world.give(&call(given)));
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    let elsewhere = Descriptor { tile: 7, ..call(3) };
    assert!(world.give(&elsewhere));
    let refused = Descriptor {
        kind: DESCRIPTOR_RETURN,
        error: card::Error::NotFound as u32,
        ..elsewhere
    };
    let arrived = world.arrived.borrow_mut().pop_front();
    assert_eq!(arrived.map(|(arrived, _)| arrived), Some(refused));
    let short = &call(4).bytes()[..DESCRIPTOR_SIZE - 1];
    assert_eq!(world.host.input(short, &mut world.outside), 0);
    world.pass();
    assert_eq!(world.take(), None);
}

#[test]
fn copies_of_the_process_memory_fault() {
    let memory = Rc::new(RefCell::new((0..4096).map(|n| n as u8).collect::<Vec<_>>()));
    let mut world = World::new(Box::new(OnePage(Rc::clone(&memory))));
    world.begin();
    let mut copy = |command, from: u64, size: u64| {
        world.set(dtu::ADDRESS, COPIED);
        world.set(dtu::SIZE, size);
        world.set(dtu::OFFSET, from);
        let end = world.execute(CommandWord::new(command, MEMORY));
        let copied = world.card.memory[COPIED as usize..][..8].to_vec();
        (end, copied)
    };
    let expected = memory.borrow()[16..24].to_vec();
    assert_eq!(copy(Command::Read, PAGE + 16, 520), (Ok(0), expected));
    for wild in [0, 8, PAGE - 8, PAGE + 4096, 1 << 47, (1 << 56) - 520] {
        let (end, _) = copy(Command::Read, wild, 520);
        assert_eq!(end, Err(Error::NoMemory), "{wild:#x}");
    }
    // Beyond all addresses.
    assert_eq!(
        copy(Command::Read, u64::MAX - 8, 520).0,
        Err(Error::OutOfBounds)
    );
    // A page that ends within the copy.
    assert_eq!(
        copy(Command::Read, PAGE + 4000, 520).0,
        Err(Error::NoMemory)
    );
    assert_eq!(copy(Command::Write, PAGE + 100, 8).0, Ok(0));
    assert_eq!(memory.borrow()[100], memory.borrow()[16]);
    assert_eq!(copy(Command::Write, PAGE + 4092, 8).0, Err(Error::NoMemory));
}

#[test]
fn a_saved_tile_goes_on() {
    let mut world = World::new(Box::new(NoSpace));
    world.begin();
    for number in 0..RING as u64 {
        assert!(world.give(&call(number)));
    }
    world.pass();
    let saved = world.host.save();
    let mut other = HostTile::new(description(HOST, 0), 1, Box::new(NoSpace)).unwrap();
    other.load(&saved).unwrap();
    assert!(other.save() == saved);
    assert!(other.load(&saved[1..]).is_err());
    world.arrived = other.arrived();
    world.host = other;
    for number in 0..RING as u64 {
        assert_eq!(world.take(), Some(call(number)));
        world.pass();
    }
    // At its reset nothing is left.
    assert!(world.give(&call(9)));
    world.host.reset();
    let new = HostTile::new(description(HOST, 0), 1, Box::new(NoSpace)).unwrap();
    assert!(world.host.save() == new.save());
}
