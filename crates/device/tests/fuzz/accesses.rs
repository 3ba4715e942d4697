//! Any accesses, events and input to each device, amid memory of garbage. A device must not panic
//! or work without end, must do the same again, and must have the same future after a snapshot.
use flick_abi::accelerator::CONTEXT;
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS};
use flick_device::accelerator::{
    Accelerator, AcceleratorDescription, AcceleratorTile, CacheShape, Computed, RequestDescription,
    RequestTile, request_by_name,
};
use flick_device::dtu::{
    CommandNumber, Credit, Dtu, DtuDescription, Message, Packet, PacketKind, UNIT_BANK,
};
use flick_device::mock::Mock;
use flick_device::virtio::{BlockDevice, MemoryImage, Overlay, VirtioConsole, VirtioMmio};
use flick_device::{
    Clint, Context, Device, Gateways, GoldfishRtc, Mswi, Mtimer, Plic, PlicDescription, Refused,
    Sswi, Surroundings, TestFinisher, Timebase, Uart16550,
};

/// Kinds of devices: the first byte of an input chooses one.
pub const KINDS: u8 = 15;
/// The bytes of a step.
pub const STEP: usize = 12;

const MEMORY: u64 = 0x8000_0000;
const MEMORY_SIZE: usize = 0x1_4000;

/// A device. Some have an entrance or registers of their own.
enum Subject {
    Plic(Plic),
    Dtu(Box<Dtu>),
    Accelerator(Box<dyn Device>),
    Other(Box<dyn Device>),
}

impl Subject {
    fn device(&mut self) -> &mut dyn Device {
        match self {
            Self::Plic(plic) => plic,
            Self::Dtu(unit) => &mut **unit,
            Self::Accelerator(tile) => &mut **tile,
            Self::Other(device) => &mut **device,
        }
    }
}

/// Logic whose output may be larger than its memory, or none.
struct Inverter;

impl Accelerator for Inverter {
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        let bytes = &mut memory[..size];
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        let first = bytes.first().copied().unwrap_or(0);
        let size = match first {
            0 => 0,
            1..=3 => usize::from(first) << 6,
            _ => size,
        };
        let cycles = is_last.then_some(0);
        Computed { size, cycles }
    }
}

/// A unit with so many endpoints.
fn unit(endpoints: u16) -> DtuDescription {
    DtuDescription {
        tile: 0,
        endpoints,
        slots: 4,
        message: 64,
        packet: 64,
        command: 1000,
        cycle: 1_000_000,
        harts: 3,
        kernel: Some(2),
        is_root: true,
        is_governed: false,
    }
}

/// A device, and the offsets near which its registers are.
fn make(kind: u8) -> (Subject, &'static [u64]) {
    let time = Timebase::new(10_000_000).unwrap();
    type Places = &'static [u64];
    let other = |device: Box<dyn Device>, places: Places| (Subject::Other(device), places);
    let disk = |read_only, latency| {
        let image = MemoryImage(vec![0x5a; 100_000]);
        let disk = BlockDevice::new(Box::new(Overlay::new(image)), read_only, "fuzz");
        Box::new(VirtioMmio::new(1, latency, Some(Box::new(disk))))
    };
    match kind % KINDS {
        0 => other(Box::new(Mswi::new(1, 3)), &[0, 0x3fe0]),
        1 => other(Box::new(Sswi::new(1, 3)), &[0, 0x3fe0]),
        2 => other(Box::new(Mtimer::new(0, 2, time)), &[0, 0x7fe0]),
        3 => other(Box::new(Clint::new(0, 2, time)), &[0, 0x4000, 0xbfe0]),
        4 => {
            let contexts = (0..2).flat_map(|hart| [11, 9].map(|bit| Context { hart, bit }));
            let description = PlicDescription {
                gateways: Gateways::Level,
                sources: 70,
                priority_bits: 3,
                contexts: contexts.collect(),
            };
            let places = &[0, 0x1000, 0x2000, 0x2080, 0x20_0000, 0x20_1000, 0x3ff_ffe0];
            (Subject::Plic(Plic::new(description).unwrap()), places)
        }
        5 => other(Box::new(Uart16550::new(10, 0, 3_686_400)), &[0]),
        6 => other(Box::new(TestFinisher), &[0]),
        7 => other(Box::new(GoldfishRtc::new(11, 1 << 60)), &[0]),
        8 => other(disk(false, 0), &[0, 0x40, 0x80, 0x100]),
        9 => other(disk(true, 70_000), &[0, 0x40, 0x80, 0x100]),
        10 => {
            let description = unit(6);
            let places = &[0, 0, 0x1000, 0x1100, 0x2000, 0x2040, 0x2080];
            (
                Subject::Dtu(Box::new(Dtu::new(description).unwrap())),
                places,
            )
        }
        12 => {
            let description = RequestDescription {
                cache: CacheShape {
                    line: 16,
                    ways: 2,
                    sets: 2,
                },
                time: 5000,
                cycle: 1_000_000,
            };
            let logic = request_by_name("vector-sum").unwrap();
            let tile = RequestTile::new(unit(16), description, logic).unwrap();
            (Subject::Accelerator(Box::new(tile)), &[0])
        }
        13 | 14 => {
            let description = AcceleratorDescription {
                block: 16,
                memory: 64,
                time: 5000,
                cycle: 1_000_000,
                has_two_buffers: kind % KINDS == 14,
            };
            let tile = AcceleratorTile::new(unit(16), description, Box::new(Inverter)).unwrap();
            (Subject::Accelerator(Box::new(tile)), &[0])
        }
        _ => {
            let console = VirtioMmio::new(1, 0, Some(Box::new(VirtioConsole)));
            other(Box::new(console), &[0, 0x40, 0x80, 0x100])
        }
    }
}

/// What a run has seen.
#[derive(PartialEq, Eq, Debug, Default)]
struct Outcome {
    reads: Vec<Result<u64, Refused>>,
    console: usize,
    state: Vec<u8>,
    around: Mock,
}

/// All steps of an input, twice: once in one go, and once with a new device from a snapshot now and
/// then.
pub fn access_all(data: &[u8]) {
    let Some((&kind, steps)) = data.split_first() else {
        return;
    };
    let first = run(kind, steps, false);
    let second = run(kind, steps, true);
    assert!(
        first == second,
        "the device's future differs after a snapshot"
    );
}

/// The rest of the input as a state; if the device takes it, steps follow.
pub fn load_any(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else {
        return;
    };
    let (state, steps) = rest.split_at(rest.len() / 2);
    let mut around = garbage(kind, steps);
    let (mut subject, places) = make(kind);
    let mut saved = subject.device().save();
    // A valid state with a few bytes changed is taken more often than one of any bytes.
    let length = saved.len();
    for change in state.chunks_exact(2).take(3).filter(|_| length > 0) {
        saved[usize::from(change[0]) % length] = change[1];
    }
    for state in [state, &saved] {
        let before = subject.device().save();
        if subject.device().load(state).is_err() {
            assert_eq!(subject.device().save(), before);
        }
        for step in steps.as_chunks::<STEP>().0 {
            apply(&mut subject, places, step, &mut around);
        }
    }
}

fn garbage(kind: u8, seed: &[u8]) -> Mock {
    // The local memory of accelerators of streams begins at 0.
    let base = if kind % KINDS >= 13 { 0 } else { MEMORY };
    let mut around = Mock::with_memory(base, MEMORY_SIZE);
    around.tiles.insert(1);
    let seed = if seed.is_empty() { &[0] } else { seed };
    for part in around.memory.chunks_mut(seed.len()) {
        part.copy_from_slice(&seed[..part.len()]);
    }
    around
}

fn run(kind: u8, steps: &[u8], snapshots: bool) -> Outcome {
    let (mut subject, places) = make(kind);
    let mut outcome = Outcome::default();
    let mut around = garbage(kind, steps);
    for (number, step) in steps.as_chunks::<STEP>().0.iter().enumerate() {
        if let Some(read) = apply(&mut subject, places, step, &mut around) {
            outcome.reads.push(read);
        }
        outcome.console += around.console.len();
        around.console.clear();
        if snapshots && number % 64 == 63 {
            let state = subject.device().save();
            subject = make(kind).0;
            subject.device().load(&state).unwrap();
        }
    }
    outcome.state = subject.device().save();
    outcome.around = around;
    outcome
}

/// Does a step. Returns what a read gives.
fn apply(
    subject: &mut Subject,
    places: &[u64],
    step: &[u8; STEP],
    around: &mut Mock,
) -> Option<Result<u64, Refused>> {
    let [what, how, place, near, value @ ..] = *step;
    let value = u64::from_le_bytes(value);
    let size = 1 << (how & 3);
    let mut offset = match how >> 2 & 15 {
        0 => value,
        1 => value & 0xfff,
        _ => places[usize::from(place) % places.len()] + u64::from(near & 0x7f),
    };
    // Most accesses have the size of registers.
    let usual = if matches!(subject, Subject::Dtu(_)) {
        8
    } else {
        4
    };
    let size = if how & 0x40 == 0 { usual } else { size };
    around.hart = usize::from(how >> 6);
    if how & 0x80 == 0 {
        offset &= !u64::from(size - 1);
    }
    let value = match place & 0xc0 {
        0 => value & 0xf,
        0x40 => around.memory_base + value % MEMORY_SIZE as u64,
        _ => value,
    };
    // No hart reaches the registers of an accelerator.
    if let (Subject::Accelerator(tile), 0..200) = (&mut *subject, what) {
        exchange(&mut **tile, step, around);
        return None;
    }
    let is_accelerator = matches!(subject, Subject::Accelerator(_));
    let device = subject.device();
    match what {
        0..100 => return Some(device.read(offset, size, around)),
        100..200 => {
            // A refusal is an outcome as any other.
            return Some(device.write(offset, size, value, around).map(|()| 0));
        }
        200 => {
            // The machine resets.
            around.sources.clear();
            around.lines.clear();
            around.events.clear();
            device.reset();
        }
        201..205 => device.event(u32::from(near) & 7, around),
        205..220 => {
            let time = around.now.saturating_add(value & 0xffff_ffff);
            around.run_until(device, time, 32);
        }
        220..232 => {
            let taken = device.input(&step[4..4 + usize::from(near & 7)], around);
            return Some(Ok(taken as u64));
        }
        232..240 => {
            if let Subject::Plic(plic) = subject {
                plic.set_level(u32::from(place), near & 1 != 0, around);
            } else if let Subject::Dtu(unit) = subject {
                exchange(&mut **unit, step, around);
            }
        }
        // An accelerator has no queues of descriptors.
        240.. if is_accelerator => exchange(device, step, around),
        240..251 => {
            describe(step, around);
            // Devices other than virtio may refuse it.
            let _ = device.write(0x50, 4, u64::from(step[1] & 1), around);
        }
        _ => set_up(device, step, around),
    }
    None
}

/// A packet arrives: one that the unit itself has sent, or one of the step.
fn exchange(unit: &mut dyn Device, step: &[u8; STEP], around: &mut Mock) {
    let [_, how, place, near, value @ ..] = *step;
    let command = CommandNumber {
        bank: match place & 3 {
            3 => UNIT_BANK,
            bank => bank,
        },
        number: near.into(),
    };
    let part = u64::from(place >> 2) * 64;
    let address = around.memory_base + u64::from_le_bytes(value) % MEMORY_SIZE as u64;
    let bytes = value.repeat(usize::from(near & 8) + 1);
    let kind = match how & 7 {
        0 => PacketKind::Data {
            command,
            part,
            bytes,
        },
        1 => PacketKind::Done {
            command,
            part,
            error: near,
        },
        2 => PacketKind::Read {
            command,
            part,
            address,
            receiver: u16::from(near >> 6),
            size: u32::from_le_bytes([near, 0, 0, how]),
        },
        3 => PacketKind::Write {
            command,
            part,
            address,
            receiver: u16::from(near >> 6),
            bytes,
        },
        4 if near & 4 != 0 => {
            let credit = Credit {
                endpoint: u16::from(place & 7),
                setup: u32::from(near & 3),
            };
            PacketKind::Credits(command, vec![credit; 2])
        }
        4 => {
            let header = std::array::from_fn(|i| value[i % 8]);
            let message = Message {
                endpoint: u16::from(place & 7),
                receiver: u16::from(near & 3),
                header,
                payload: bytes,
                cost: None,
                refund: None,
            };
            PacketKind::Message(command, message)
        }
        5 => PacketKind::WriteRegisters {
            command,
            part,
            register: register(place, near),
            bytes: of_register(value, near).repeat(usize::from(near >> 6) + 1),
        },
        _ if around.sent.is_empty() => return,
        _ => around.sent.remove(0).kind,
    };
    let packet = Packet {
        from: 1,
        to: 0,
        kind,
    };
    unit.packet(packet, around);
    around.sent.truncate(8);
}

/// A register that the root reaches.
fn register(place: u8, near: u8) -> u64 {
    let places = [
        dtu::PAGE,
        dtu::current(0),
        dtu::endpoint_word(0, 0),
        dtu::endpoint_word(8, 0),
        dtu::gone(0),
        dtu::slot_record(8, 0),
        dtu::INVALIDATE,
        dtu::page_entry(0, 0),
        ACCELERATOR_REGISTERS,
        ACCELERATOR_REGISTERS + CONTEXT,
    ];
    places[usize::from(place) % places.len()] + 8 * u64::from(near & 15)
}

/// A value for it: some have few bits, so that activities meet.
fn of_register(value: [u8; 8], near: u8) -> [u8; 8] {
    let value = u64::from_le_bytes(value);
    let value = match near & 0x30 {
        0 => value & 7,
        0x10 => value & 0x1_0001_0001_0007,
        _ => value,
    };
    value.to_le_bytes()
}

/// The areas of the queues that [`set_up`] makes.
fn areas(queue: u64) -> [u64; 3] {
    [0, 0x1000, 0x2000].map(|area| MEMORY + queue * 0x4000 + area)
}

/// Writes a chain that a driver might make, or nearly, and makes it available.
fn describe(step: &[u8; STEP], around: &mut Mock) {
    let queue = u64::from(step[1] & 1);
    let [table, available, _] = areas(queue);
    let buffer = MEMORY + 0x1_0000;
    let header = [
        step[2] & 11,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        step[3] & 0x7f,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let write = |around: &mut Mock, address: u64, bytes: &[u8]| {
        // A driver's memory is there.
        around.write_memory(address, bytes).unwrap();
    };
    write(around, buffer, &header);
    let data = match step[4] & 7 {
        0 => u64::from_le_bytes([0, 0, 0, 0, 0x80, step[5], 0, 0]),
        1 => available - 256,
        2 => table,
        _ => buffer + 0x1000,
    };
    let length = u32::from(step[6] & 7) * 512 + u32::from(step[7] & step[8] & step[9]);
    let kind = 2 * u16::from(step[2] & 1 == 0);
    let buffers = [
        (buffer, 16, 1, 1),
        (data, length, kind | 1, 2 + u16::from(step[10]) / 240),
        (buffer + 0x100, 1, 2, 0),
        (buffer + 0x200, 32, 4, 0),
        (data, length, 3, 1),
    ];
    for (number, (address, length, flags, next)) in buffers.into_iter().enumerate() {
        let mut bytes = u64::to_le_bytes(address).to_vec();
        bytes.extend(u32::to_le_bytes(length));
        bytes.extend(u16::to_le_bytes(flags));
        bytes.extend(u16::to_le_bytes(next));
        write(around, table + 16 * number as u64, &bytes);
    }
    let mut index = [0; 2];
    around.read_memory(available + 2, &mut index).unwrap();
    let index = u16::from_le_bytes(index);
    let head = u16::from(step[11].saturating_sub(200)) / 12;
    write(
        around,
        available + 4 + 2 * u64::from(index % 16),
        &head.to_le_bytes(),
    );
    write(around, available + 2, &index.wrapping_add(1).to_le_bytes());
}

/// Sets a virtio device up as a driver does, with queues of 16 descriptors. Other devices get some
/// writes.
fn set_up(device: &mut dyn Device, step: &[u8; STEP], around: &mut Mock) {
    let features = u32::from_le_bytes([0, 0, 0, step[1]]) & 0x3000_0000;
    let mut writes = vec![(0x70, 0), (0x70, 3), (0x24, 0), (0x20, features)];
    writes.extend([(0x24, 1), (0x20, 1), (0x70, 11)]);
    for queue in 0..2 {
        writes.extend([(0x30, queue as u32), (0x38, 16)]);
        for (register, area) in [0x80, 0x90, 0xa0].into_iter().zip(areas(queue)) {
            writes.extend([(register, area as u32), (register + 4, 0)]);
            around.write_memory(area, &[0; 0x400]).unwrap();
        }
        writes.push((0x44, 1));
    }
    writes.push((0x70, 15));
    for (offset, value) in writes {
        // Devices other than virtio refuse some of these.
        let _ = device.write(offset, 4, value.into(), around);
    }
}
