//! What two runs of a program must agree on, and the first thing in which they do not.

use crate::code::{ALWAYS, Regs, SAVED};
use crate::host::Outcome;
use crate::program::{
    CODE, Class, DATA, DATA_AREA, DRIVER, ENTRY_ADDRESS, ENTRY_F, ENTRY_FCSR, ENTRY_SIZE, LEFT,
    OUT_F, OUT_FCSR, OUT_X, PROTECTED, PROTECTED_DATA, PROTECTED_SIZE, Program, RECORD, get,
};
use flick_riscv_testing::elf::{Segment, executable};
use flick_riscv_testing::qemu;

/// The program as an executable.
pub fn elf(program: &Program) -> Vec<u8> {
    let segment = |address, flags, bytes, size| Segment {
        address,
        flags,
        bytes,
        size,
    };
    let (code, data) = (&program.code, &program.data);
    executable(&[
        segment(DRIVER, 7, code, code.len() as u64),
        segment(DATA, 6, data, data.len() as u64),
        segment(PROTECTED, 6, &program.protected, PROTECTED_SIZE),
    ])
}

/// The functions with their names, for a disassembler.
pub fn object(program: &Program) -> Result<Vec<u8>, object::write::Error> {
    use object::write::{Object, Symbol, SymbolSection};
    let (format, machine) = (object::BinaryFormat::Elf, object::Architecture::Riscv64);
    let mut file = Object::new(format, machine, object::Endianness::Little);
    let text = file.section_id(object::write::StandardSection::Text);
    let code = &program.code[(CODE - DRIVER) as usize..];
    file.append_section_data(text, code, 4);
    for (n, range) in program.functions.iter().enumerate() {
        file.add_symbol(Symbol {
            name: format!("f{n}").into_bytes(),
            value: range.start - CODE,
            size: range.end - range.start,
            kind: object::SymbolKind::Text,
            scope: object::SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: object::SymbolFlags::None,
        });
    }
    file.write()
}

/// The outcome with qemu-riscv64.
pub fn by_qemu(program: &Program) -> Result<Outcome, String> {
    let output = qemu::output(&elf(program), "random")?;
    let sizes = [
        program.calls.len() as u64 * RECORD,
        DATA_AREA.end - DATA_AREA.start,
        PROTECTED_DATA.end - PROTECTED_DATA.start,
    ];
    let mut rest = &output[..];
    let [records, data, protected] = sizes.map(|size| {
        let (part, after) = rest.split_at_checked(size as usize).unwrap_or((rest, &[]));
        rest = after;
        part.to_vec()
    });
    if protected.len() as u64 != sizes[2] || !(rest.len() as u64).is_multiple_of(ENTRY_SIZE) {
        return Err(format!("qemu-riscv64 wrote {} bytes", output.len()));
    }
    Ok(Outcome {
        records,
        data,
        protected,
        faults: rest.to_vec(),
        census: None,
    })
}

fn name(bit: u32) -> String {
    if bit < 32 {
        format!("x{bit}")
    } else {
        format!("f{}", bit - 32)
    }
}

/// What must be equal when a function has returned.
fn at_return(class: &Class) -> Regs {
    let mask = |count: u32| ((1 << count) - 1) << 10;
    SAVED | mask(class.result_x) | mask(class.result_f) << 32
}

/// The first difference, in the order of the program's execution as far as that is known.
pub fn difference(program: &Program, a: &Outcome, b: &Outcome) -> Option<String> {
    if let Some(text) = faults(program, &a.faults, &b.faults) {
        return Some(text);
    }
    for (n, class) in program.calls.iter().enumerate() {
        let at = n as u64 * RECORD;
        let both = |offset: u64| (get(&a.records, at + offset), get(&b.records, at + offset));
        let ((left, other), (fcsr, fcsr_other)) = (both(LEFT), both(OUT_FCSR));
        if left != other {
            return Some(format!("call {n} was left by a jump: {left} and {other}"));
        }
        if left == 0 {
            let differs = |bit: u32| {
                let offset = if bit < 32 {
                    OUT_X + 8 * u64::from(bit)
                } else {
                    OUT_F + 8 * u64::from(bit - 32)
                };
                let (one, two) = both(offset);
                (one != two)
                    .then(|| format!("call {n} returns {}: {one:#x} and {two:#x}", name(bit)))
            };
            let wanted = at_return(class);
            if let Some(text) = (0..64)
                .filter(|bit| wanted >> bit & 1 != 0)
                .find_map(differs)
            {
                return Some(text);
            }
        }
        if fcsr != fcsr_other {
            return Some(format!(
                "call {n} leaves fcsr: {fcsr:#x} and {fcsr_other:#x}"
            ));
        }
    }
    memory(DATA_AREA.start, &a.data, &b.data)
        .or_else(|| memory(PROTECTED, &a.protected, &b.protected))
}

fn memory(start: u64, a: &[u8], b: &[u8]) -> Option<String> {
    (0..a.len() as u64).step_by(8).find_map(|at| {
        let (one, two) = (get(a, at), get(b, at));
        (one != two).then(|| format!("memory at {:#x}: {one:#x} and {two:#x}", start + at))
    })
}

fn faults(program: &Program, a: &[u8], b: &[u8]) -> Option<String> {
    let common = a.len().min(b.len()) as u64;
    for at in (0..common).step_by(ENTRY_SIZE as usize) {
        let n = at / ENTRY_SIZE;
        let both = |offset: u64| (get(a, at + offset), get(b, at + offset));
        let (pc, other) = both(0);
        if pc != other {
            return Some(format!("fault {n} is at {pc:#x} and {other:#x}"));
        }
        let (address, other) = both(ENTRY_ADDRESS);
        if address != other {
            return Some(format!(
                "fault {n} at {pc:#x} is of {address:#x} and {other:#x}"
            ));
        }
        let Some((live, _)) = program.live.get(&pc) else {
            return Some(format!("fault {n} at {pc:#x}, which is no instruction"));
        };
        let live = live | ALWAYS;
        for bit in (1..64).filter(|bit| live >> bit & 1 != 0) {
            let offset = if bit < 32 {
                8 * u64::from(bit)
            } else {
                ENTRY_F + 8 * u64::from(bit - 32)
            };
            let (one, two) = both(offset);
            if one != two {
                return Some(format!(
                    "fault {n} at {pc:#x}: {}: {one:#x} and {two:#x}",
                    name(bit)
                ));
            }
        }
        let (one, two) = both(ENTRY_FCSR);
        if one != two {
            return Some(format!("fault {n} at {pc:#x}: fcsr: {one:#x} and {two:#x}"));
        }
    }
    let count = |bytes: &[u8]| bytes.len() as u64 / ENTRY_SIZE;
    (a.len() != b.len()).then(|| format!("{} and {} faults", count(a), count(b)))
}
