//! Any accesses to a machine's bus, of memory, devices and nothing, while virtual time goes on. The bus must not
//! panic or work without end, must do the same again, and must have the same future after a snapshot.
use flick_device::virtio::{MemoryImage, Overlay};
use flick_hart::Bus;
use flick_machine::snapshot::Snapshot;
use flick_machine::{BlockDisk, Board, Console, Files, Machine, SavedMachine, System, boot};
use flick_timing::machine;

/// The bytes of a step.
pub const STEP: usize = 12;

/// The hart waits for interrupts: `wfi; j -4`.
const PROGRAM: [u32; 2] = [0x1050_0073, 0xffdf_f06f];
const MEMORY: u64 = 0x8000_0000;
const MEMORY_SIZE: u64 = 8 << 20;
/// First addresses of devices, and what is near their borders.
const PLACES: [u64; 16] = [
    0x1000,
    0x10_0000,
    0x10_1000,
    0x200_0000,
    0x200_4000,
    0x200_bff8,
    0xc00_0000,
    0xc00_2000,
    0xc20_0000,
    0x1000_0000,
    DISK,
    DISK + 0x1000,
    0x1000_8000,
    MEMORY,
    MEMORY + MEMORY_SIZE - 0x40,
    u64::MAX - 0x40,
];
const DISK: u64 = 0x1000_1000;
const QUEUE: u64 = MEMORY + 0x10_0000;

#[derive(Default)]
struct Printed(Vec<u8>);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
}

/// What a run has seen.
#[derive(PartialEq)]
struct Outcome {
    reads: Vec<Option<u64>>,
    printed: Vec<u8>,
    state: SavedMachine,
    memory: Vec<u8>,
}

/// All steps of an input, twice: once in one go, and once from snapshots.
pub fn access_all(data: &[u8]) {
    let first = run(data, false);
    assert!(
        first == run(data, true),
        "the bus does something else the second time"
    );
}

fn run(data: &[u8], snapshots: bool) -> Outcome {
    let settings = ["harts=2".to_owned(), "memory=8M".to_owned()];
    let description = machine::Machine::load("virt", &settings).unwrap();
    let mut system = System::new(&description).unwrap();
    let disk = BlockDisk {
        disk: Box::new(Overlay::new(MemoryImage(vec![0x5a; 8192]))),
        is_read_only: false,
    };
    let board = system.board(vec![disk]).unwrap();
    let files = Files {
        firmware: PROGRAM.into_iter().flat_map(u32::to_le_bytes).collect(),
        ..Files::default()
    };
    let booted = boot(&mut system, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, None);
    let mut console = Printed::default();
    let mut reads = vec![];
    for (number, step) in data.as_chunks::<STEP>().0.iter().enumerate() {
        apply(&mut machine, &board, &mut console, step, &mut reads);
        if snapshots && number % 16 == 15 {
            let snapshot = Snapshot::take(&machine, None);
            snapshot.put(&mut machine).unwrap();
        }
    }
    let mut memory = vec![0; 0x2_0000];
    board.read_memory(QUEUE, &mut memory).unwrap();
    Outcome {
        reads,
        printed: console.0,
        state: machine.save(),
        memory,
    }
}

fn apply(
    machine: &mut Machine,
    board: &Board,
    console: &mut Printed,
    step: &[u8; STEP],
    reads: &mut Vec<Option<u64>>,
) {
    let [what, how, place, near, bytes @ ..] = *step;
    let value = u64::from_le_bytes(bytes);
    let size = 1 << (how & 3);
    let near = u64::from(near) << ((how >> 2 & 1) * 3);
    let mut address = match how >> 4 {
        0 => value,
        1 => value >> 32,
        _ => PLACES[usize::from(place) % PLACES.len()].wrapping_add(near),
    };
    if how & 8 == 0 {
        address &= !u64::from(size - 1);
    }
    let cycles = u64::from(place) * u64::from(what);
    match what {
        0..90 => reads.push(board.load(address, size, cycles).ok()),
        90..180 => {
            let value = match place >> 6 {
                0 => value & 0xf,
                1 => MEMORY + value % MEMORY_SIZE,
                _ => value,
            };
            let stored = board.store(address, size, value, cycles);
            reads.push(stored.ok().map(|()| 0));
        }
        180..190 => {
            // A page of memory is where it says, and nothing else is memory.
            let page = board.memory(address & !0xfff);
            let is_in = (MEMORY..MEMORY + MEMORY_SIZE).contains(&address);
            assert!(page.is_some() || !is_in);
            reads.push(Some(board.time(cycles)));
        }
        190..205 => {
            let taken = board.input(usize::from(place & 15), &bytes, machine.earliest());
            reads.push(Some(taken as u64));
        }
        205..235 => {
            let time = machine.earliest().saturating_add(value & 0xffff_ffff);
            let end = machine.run_until(time.min(1 << 60), console);
            reads.push(end.map(|_| 1));
        }
        235..245 => offer(board, step),
        _ => set_up(board, step),
    }
}

/// Writes a request that a driver of the disk might make, or nearly, and tells the disk.
fn offer(board: &Board, step: &[u8; STEP]) {
    let [_, how, kind, sector, far, length, ..] = *step;
    let header = [
        kind & 9,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        sector & 0x1f,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let write = |address, bytes: &[u8]| board.write_memory(address, bytes).unwrap();
    let buffer = QUEUE + 0x4000;
    write(buffer, &header);
    let data = match far & 7 {
        0 => u64::from(far) << 24,
        1 => QUEUE,
        2 => QUEUE + 0x1000 - 256,
        _ => buffer + 0x1000,
    };
    let reads = 2 * u16::from(kind & 1 == 0);
    let chain = [
        (buffer, 16, 1, 1),
        (data, u32::from(length & 7) * 512, reads | 1, 2),
        (buffer + 0x100, 1, 2, u16::from(how & 3)),
    ];
    for (at, (address, length, flags, next)) in (0..).zip(chain) {
        let mut bytes = u64::to_le_bytes(address).to_vec();
        bytes.extend(u32::to_le_bytes(length));
        bytes.extend(u16::to_le_bytes(flags));
        bytes.extend(u16::to_le_bytes(next));
        write(QUEUE + 16 * at, &bytes);
    }
    let mut index = [0; 2];
    board.read_memory(QUEUE + 0x1002, &mut index).unwrap();
    let index = u16::from_le_bytes(index);
    write(QUEUE + 0x1004 + 2 * u64::from(index % 16), &[0; 2]);
    write(QUEUE + 0x1002, &index.wrapping_add(1).to_le_bytes());
    let _ = board.store(DISK + 0x50, 4, 0, 0);
}

/// Sets the disk up as a driver does.
fn set_up(board: &Board, step: &[u8; STEP]) {
    let mut writes = vec![(0x70, 0), (0x70, 3), (0x24, 0), (0x20, 0)];
    writes.extend([(0x24, 1), (0x20, 1), (0x70, 11), (0x30, 0), (0x38, 16)]);
    for (register, area) in [(0x80, 0), (0x90, 0x1000), (0xa0, 0x2000)] {
        let place = QUEUE + area;
        writes.extend([(register, place as u32), (register + 4, 0)]);
        board.write_memory(place, &[0; 0x400]).unwrap();
    }
    writes.extend([(0x44, 1), (0x70, 15)]);
    // Now and then one of them is missing.
    let missing = usize::from(step[1]);
    for (_, (offset, value)) in writes
        .into_iter()
        .enumerate()
        .filter(|(n, _)| *n != missing)
    {
        let _ = board.store(DISK + offset, 4, value.into(), 0);
    }
}
