//! Any bytes as firmware: they are refused, or run for some instructions, twice with the same result.
use flick_machine::{Console, End, Files, Machine, System, boot};
use flick_timing::machine;

const MEMORY: u64 = 0x8000_0000;
/// Bytes of the ELF header, and of a program header.
const HEADER: usize = 64;
const SEGMENT: usize = 56;

struct Silent;

impl Console for Silent {
    fn output(&mut self, _: &[u8]) {}
}

/// An RV64 ELF file with this code in its first segment. The others have no bytes of the file.
pub fn elf_file(code: &[u8], segments: u16) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let start = (HEADER + SEGMENT * usize::from(segments)) as u64;
    file.extend(2_u16.to_le_bytes());
    file.extend(243_u16.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(MEMORY.to_le_bytes());
    file.extend((HEADER as u64).to_le_bytes());
    file.extend([0; 12]);
    for field in [HEADER as u16, SEGMENT as u16, segments, 64, 0, 0] {
        file.extend(field.to_le_bytes());
    }
    for segment in 0..u64::from(segments) {
        let size = if segment == 0 { code.len() as u64 } else { 0 };
        let address = MEMORY + segment * 0x10_0000;
        file.extend(1_u32.to_le_bytes());
        file.extend(5_u32.to_le_bytes());
        for field in [start, address, address, size, size.max(0x1000), 0x1000] {
            file.extend(field.to_le_bytes());
        }
    }
    file.extend(code);
    file
}

/// The first byte says how many changes of the file's tables follow, of a place, and a value, and whether
/// there is a file around the code, which is the rest.
pub fn start(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else {
        return;
    };
    let changes = usize::from(kind & 7) * 3;
    let Some((changes, code)) = rest.split_at_checked(changes) else {
        return;
    };
    let mut file = match kind & 8 {
        0 => elf_file(code, u16::from(kind >> 4 & 3)),
        _ => code.to_vec(),
    };
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len().max(1);
        if let Some(byte) = file.get_mut(at) {
            *byte = change[2];
        }
    }
    let is_kernel = kind & 0x80 != 0;
    assert_eq!(run(&file, is_kernel), run(&file, is_kernel));
}

fn run(file: &[u8], is_kernel: bool) -> Option<(End, Vec<u64>, Vec<u64>)> {
    let settings = ["harts=2".to_owned(), "memory=8M".to_owned()];
    let description = machine::Machine::load("virt", &settings).unwrap();
    let mut system = System::new(&description).unwrap();
    let board = system.board(vec![]).unwrap();
    let mut files = Files {
        firmware: file.to_vec(),
        ..Files::default()
    };
    if is_kernel {
        // Any firmware, and the bytes as its kernel.
        files.kernel = Some(std::mem::replace(&mut files.firmware, vec![0x13, 0, 0, 0]));
    }
    let booted = boot(&mut system, &board, &files).ok()?;
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    machine.limit(2_000);
    let end = machine.run(&mut Silent);
    Some((end, machine.cycles(), machine.program_counters()))
}
