//! Snapshots and recordings of any bytes: they are refused, or the machine goes on from them, and it
//! harms nothing but itself.
use flick_machine::recording::read_recording;
use flick_machine::snapshot::{
    RunIdentity, Snapshot, read_snapshot, seal_snapshot, write_snapshot,
};
use flick_machine::{
    Board, Console, Files, Machine, Semihosting, SemihostingSetup, System, boot, timing_of,
};
use flick_timing::{faults, machine};

/// `addi a0, a0, 1; auipc t0, 0; sd a0, 256(t0); j -12`
const PROGRAM: [u32; 4] = [0x0015_0513, 0x0000_0297, 0x10a2_b023, 0xff5f_f06f];

struct Silent;

impl Console for Silent {
    fn output(&mut self, _: &[u8]) {}
}

/// A file with any bytes.
pub fn read_any(data: &[u8]) {
    let _ = read_recording(data);
    let _ = read_snapshot(data);
}

/// Settings of a machine with small caches.
const SMALL: [&str; 8] = [
    "tile.soc.memory.main.size=8 MiB",
    "core.rocket.l1i.size=1 KiB",
    "core.rocket.l1d.size=1 KiB",
    "core.rocket.counters=16",
    "core.rocket.targets=4",
    "core.vector.l1i.size=1 KiB",
    "core.vector.l1d.size=1 KiB",
    "core.vector.counters=16",
];

/// Faults of which some have happened, some last, and some are to come.
const FAULTS: &str = r#"
[[fault]]
at = { time = "1 us" }
do = "suppress-line"
hart = 1
line = "MTIP"
for = "100 ms"
[[fault]]
at = { time = "1 us" }
do = "refuse-access"
address = 0x8070_0000
size = "4 KiB"
for = "200 ms"
[[fault]]
at = { hart = 0, instruction = 5000 }
do = "flip-register"
hart = 0
register = "a0"
bits = 16
[[fault]]
at = { hart = 1, address = 0x8000_0000, times = 3000 }
do = "stop-hart"
hart = 1
cycles = 5
[[fault]]
at = { time = "300 ms" }
do = "corrupt-input"
bits = 1
"#;

/// A good snapshot of which some bytes are changed. The first byte says whether it is of timed mode, and
/// has faults and semihosting; each five others are a place and two values.
pub fn go_on_from_patched(data: &[u8]) {
    let Some((&kind, patches)) = data.split_first() else {
        return;
    };
    let plain = ["harts=2", "isa=rv64gcv_zicntr_sstc_svadu", "memory=8M"];
    let is_timed = kind & 1 != 0;
    let (name, settings) = match is_timed {
        true => ("rocket-rvv", &SMALL[..]),
        false => ("virt", &plain[..]),
    };
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let description = machine::Machine::load(name, &settings).unwrap();
    let mut system = System::new(&description).unwrap();
    let board = system.board(vec![]).unwrap();
    let mut machine = booted(&mut system, &board);
    if is_timed {
        machine.set_timing(timing_of(&description, &system.tile));
        machine.set_mode(true);
    }
    if kind & 2 != 0 {
        let all = faults::parse("faults.toml", FAULTS, &[("board", 4)]).unwrap();
        machine.inject(all).unwrap();
        machine.answer_calls(Semihosting::new(SemihostingSetup::default()));
    }
    machine.limit(3_000);
    machine.run(&mut Silent);
    let identity = RunIdentity {
        machine: 0,
        content: 0,
    };
    let mut file = vec![];
    write_snapshot(&mut file, &identity, &Snapshot::take(&machine, None)).unwrap();
    for patch in patches.chunks_exact(5) {
        // Most of the state is in front of the memory.
        let at = u32::from_le_bytes([patch[0], patch[1], patch[2], 0]) as usize;
        let size = file.len();
        file[at % size] = patch[3];
        file[(at + 1) % size] ^= patch[4];
    }
    seal_snapshot(&mut file);
    let Ok(read) = read_snapshot(&file) else {
        return;
    };
    let Ok(snapshot) = read.unpack(board.ram()) else {
        return;
    };
    machine.limit(3_000);
    if snapshot.put(&mut machine).is_ok() {
        machine.run(&mut Silent);
    }
}

fn booted<'m>(system: &mut System, board: &'m Board) -> Machine<'m> {
    let files = Files {
        firmware: PROGRAM.into_iter().flat_map(u32::to_le_bytes).collect(),
        ..Files::default()
    };
    let booted = boot(system, board, &files).unwrap();
    Machine::new(board, &booted.harts, None)
}
