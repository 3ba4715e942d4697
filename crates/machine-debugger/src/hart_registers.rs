//! All registers of a hart by numbers, and the description by which GDB knows them ("Target Descriptions",
//! "RISC-V Features" of its manual).
use std::fmt::Write;

use flick_hart::{Privilege, Processor};
use flick_machine::{Board, Machine};

/// x0 to x31 have their numbers.
const PC: usize = 32;
const FLOATS: usize = 33;
const CSRS: usize = 65;
const CSR_COUNT: usize = 4096;
const PRIVILEGE: usize = CSRS + CSR_COUNT;
const VECTORS: usize = PRIVILEGE + 1;
const END: usize = VECTORS + 32;

/// Registers that GDB gets at once: x0 to x31, and pc.
pub const FIRST: usize = FLOATS;

/// Numbers and names of the registers that are not in rows ("CSR Listing" of the privileged manual).
const NAMES: [(usize, &str); 52] = [
    (0x001, "fflags"),
    (0x002, "frm"),
    (0x003, "fcsr"),
    (0x008, "vstart"),
    (0x009, "vxsat"),
    (0x00a, "vxrm"),
    (0x00f, "vcsr"),
    (0x100, "sstatus"),
    (0x104, "sie"),
    (0x105, "stvec"),
    (0x106, "scounteren"),
    (0x10a, "senvcfg"),
    (0x140, "sscratch"),
    (0x141, "sepc"),
    (0x142, "scause"),
    (0x143, "stval"),
    (0x144, "sip"),
    (0x14d, "stimecmp"),
    (0x180, "satp"),
    (0x300, "mstatus"),
    (0x301, "misa"),
    (0x302, "medeleg"),
    (0x303, "mideleg"),
    (0x304, "mie"),
    (0x305, "mtvec"),
    (0x306, "mcounteren"),
    (0x30a, "menvcfg"),
    (0x320, "mcountinhibit"),
    (0x340, "mscratch"),
    (0x341, "mepc"),
    (0x342, "mcause"),
    (0x343, "mtval"),
    (0x344, "mip"),
    (0x7a0, "tselect"),
    (0x7a1, "tdata1"),
    (0x7a2, "tdata2"),
    (0x7a3, "tdata3"),
    (0xb00, "mcycle"),
    (0xb02, "minstret"),
    (0xc00, "cycle"),
    (0xc01, "time"),
    (0xc02, "instret"),
    (0xc20, "vl"),
    (0xc21, "vtype"),
    (0xc22, "vlenb"),
    (0xf11, "mvendorid"),
    (0xf12, "marchid"),
    (0xf13, "mimpid"),
    (0xf14, "mhartid"),
    (0xf15, "mconfigptr"),
    (0x3a0, "pmpcfg0"),
    (0x3a2, "pmpcfg2"),
];

/// Numbers and names of all control and status registers.
fn csr_names() -> impl Iterator<Item = (usize, String)> {
    let single = NAMES
        .iter()
        .map(|&(number, name)| (number, name.to_string()));
    let addresses = (0..16).map(|n| (0x3b0 + n, format!("pmpaddr{n}")));
    let events = (3..32).map(|n| (0x320 + n, format!("mhpmevent{n}")));
    let machine = (3..32).map(|n| (0xb00 + n, format!("mhpmcounter{n}")));
    let user = (3..32).map(|n| (0xc00 + n, format!("hpmcounter{n}")));
    single
        .chain(addresses)
        .chain(events)
        .chain(machine)
        .chain(user)
}

/// A control and status register by its name or its number.
pub fn csr_number(text: &str) -> Option<u32> {
    let named = csr_names().find(|(_, name)| name == text);
    let number = text
        .strip_prefix("0x")
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    named.map(|(number, _)| number as u32).or(number)
}

/// A register's value, little-endian; `None`: the hart has no such register.
pub fn read(hart: &Processor<Board>, number: usize) -> Option<Vec<u8>> {
    let value = match number {
        0..PC => hart.hart.x[number],
        PC => hart.hart.pc,
        FLOATS..CSRS if has_floats(hart) => hart.hart.f[number - FLOATS],
        FLOATS..CSRS => return None,
        CSRS..PRIVILEGE => hart.csr((number - CSRS) as u32)?,
        PRIVILEGE => hart.registers().privilege as u64,
        VECTORS..END => {
            let vector = hart.vector()?;
            return Some(vector.register(number - VECTORS).collect());
        }
        _ => return None,
    };
    Some(value.to_le_bytes().to_vec())
}

/// Changes a register. False: there is none that may be changed.
pub fn write(hart: &mut Processor<Board>, number: usize, bytes: &[u8]) -> bool {
    if let VECTORS..END = number {
        let vector = hart.vector_mut();
        let fits = vector.filter(|vector| bytes.len() == vector.vlen() as usize / 8);
        return fits
            .map(|vector| vector.set_register(number - VECTORS, bytes))
            .is_some();
    }
    let Ok(bytes) = bytes.try_into() else {
        return false;
    };
    let value = u64::from_le_bytes(bytes);
    match number {
        // GDB writes all of them.
        0 => {}
        1..PC => hart.hart.x[number] = value,
        PC => hart.set_pc(value),
        FLOATS..CSRS if has_floats(hart) => hart.hart.f[number - FLOATS] = value,
        CSRS..PRIVILEGE => return hart.set_csr((number - CSRS) as u32, value),
        PRIVILEGE => match value {
            0 => hart.set_privilege(Privilege::User),
            1 => hart.set_privilege(Privilege::Supervisor),
            3 => hart.set_privilege(Privilege::Machine),
            _ => return false,
        },
        _ => return false,
    }
    true
}

fn has_floats(hart: &Processor<Board>) -> bool {
    hart.registers().isa.has(flick_hart::Extension::D)
}

/// Which registers the harts of a machine have.
pub fn description(machine: &Machine) -> String {
    let harts = || (0..machine.harts()).filter_map(|hart| machine.hart(hart));
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv64</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    );
    let register = |xml: &mut String, name: &str, number: usize, kind: &str| {
        let _ = write!(
            xml,
            "<reg name=\"{name}\" bitsize=\"64\" regnum=\"{number}\" type=\"{kind}\"/>"
        );
    };
    for number in 0..32 {
        register(&mut xml, flick_riscv::REGISTERS[number], number, "int");
    }
    register(&mut xml, "pc", PC, "code_ptr");
    xml.push_str("</feature>");
    if harts().any(has_floats) {
        xml.push_str("<feature name=\"org.gnu.gdb.riscv.fpu\">");
        for number in 0..32 {
            let name = flick_riscv::FLOAT_REGISTERS[number];
            register(&mut xml, name, FLOATS + number, "ieee_double");
        }
        xml.push_str("</feature>");
    }
    xml.push_str("<feature name=\"org.gnu.gdb.riscv.csr\">");
    for (number, name) in csr_names() {
        if harts().any(|hart| hart.csr(number as u32).is_some()) {
            register(&mut xml, &name, CSRS + number, "int");
        }
    }
    xml.push_str("</feature><feature name=\"org.gnu.gdb.riscv.virtual\">");
    register(&mut xml, "priv", PRIVILEGE, "int");
    xml.push_str("</feature>");
    let longest = harts().filter_map(|hart| hart.vector()).map(|v| v.vlen());
    if let Some(bits) = longest.max() {
        xml.push_str("<feature name=\"org.gnu.gdb.riscv.vector\">");
        let views = [("b", 8), ("s", 16), ("w", 32), ("l", 64)];
        for (name, size) in views {
            let count = bits / size;
            let _ = write!(
                xml,
                "<vector id=\"{name}s\" type=\"uint{size}\" count=\"{count}\"/>"
            );
        }
        xml.push_str("<union id=\"riscv_vector\">");
        for (name, _) in views {
            let _ = write!(xml, "<field name=\"{name}\" type=\"{name}s\"/>");
        }
        xml.push_str("</union>");
        for number in 0..32 {
            let _ = write!(
                xml,
                "<reg name=\"v{number}\" bitsize=\"{bits}\" regnum=\"{}\" type=\"riscv_vector\"/>",
                VECTORS + number
            );
        }
        xml.push_str("</feature>");
    }
    xml.push_str("</target>");
    xml
}
