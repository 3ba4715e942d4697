//! Snapshots and recordings of any bytes: they are refused, or the machine goes on from them, and it
//! harms nothing but itself.
use flick_machine::recording::read_recording;
use flick_machine::snapshot::{
    RunIdentity, Snapshot, read_snapshot, seal_snapshot, write_snapshot,
};
use flick_machine::{Board, Console, Files, Machine, System, boot};
use flick_timing::machine;

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

/// A good snapshot of which some bytes are changed: each four of `data` are a place and two values.
pub fn go_on_from_patched(data: &[u8]) {
    let settings = ["harts=2", "isa=rv64gcv_zicntr_sstc_svadu", "memory=8M"].map(str::to_owned);
    let mut virt = System::new(&machine::Machine::load("virt", &settings).unwrap()).unwrap();
    let board = virt.board(vec![]).unwrap();
    let mut machine = booted(&mut virt, &board);
    machine.limit(3_000);
    machine.run(&mut Silent);
    let identity = RunIdentity {
        machine: 0,
        content: 0,
    };
    let mut file = vec![];
    write_snapshot(&mut file, &identity, &Snapshot::take(&machine, None)).unwrap();
    for patch in data.chunks_exact(4) {
        // Most of the state is in front of the memory.
        let at = usize::from(u16::from_le_bytes([patch[0], patch[1]]));
        let size = file.len();
        file[at % size] = patch[2];
        file[(at + 1) % size] ^= patch[3];
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

fn booted<'m>(virt: &mut System, board: &'m Board) -> Machine<'m> {
    let files = Files {
        firmware: PROGRAM.into_iter().flat_map(u32::to_le_bytes).collect(),
        ..Files::default()
    };
    let booted = boot(virt, board, &files).unwrap();
    Machine::new(board, &booted.harts, None)
}
