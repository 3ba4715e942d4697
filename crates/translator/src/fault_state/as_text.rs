//! A table of guest registers as text.
use super::{KIND, Reader, States, finish_of};
use crate::registers::is_float;
use flick_riscv::{FLOAT_REGISTERS, REGISTERS};

const HOST: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

impl States {
    /// Of each record the offset in the translation, and where the guest's registers are; those
    /// that are not named are in the hart, or dead.
    pub fn texts(&self) -> Vec<(usize, String)> {
        let mut reader = Reader { bytes: &self.bytes };
        let mut texts = vec![];
        let mut at = 0;
        while !reader.bytes.is_empty() {
            at += reader.get() as usize;
            reader.get_signed();
            let count = reader.get();
            let places: Vec<_> = (0..count).map(|_| place(&mut reader)).collect();
            texts.push((at, places.join(" ")));
        }
        texts
    }
}

fn place(reader: &mut Reader) -> String {
    let head = reader.get();
    let reg = (head & 63) as usize;
    let operand = |reader: &mut Reader| match reader.get() as usize {
        n @ 0..16 if is_float(reg) => format!("xmm{n}"),
        n @ 0..16 => HOST[n].to_owned(),
        n => format!("{:#x}(rsp)", 8 * (n - 16)),
    };
    let value = match head >> KIND {
        0 => operand(reader),
        1 => format!("{:#x}", reader.get_signed()),
        2 => {
            let offset = reader.get_signed();
            format!("{}{offset:+}", operand(reader))
        }
        4 => format!("module+{:#x}", reader.get()),
        _ => {
            let (k, offset) = (reader.get(), reader.get_signed());
            let (a, b) = (operand(reader), operand(reader));
            format!("{a}+({b}<<{k}){offset:+}")
        }
    };
    let finish = finish_of(head);
    let value = match (finish.sext32, finish.canonical, finish.single) {
        (true, ..) => format!("sext32({value})"),
        (_, true, _) => format!("canonical({value})"),
        (_, _, true) => format!("boxed({value})"),
        _ => value,
    };
    let name = if is_float(reg) {
        FLOAT_REGISTERS[reg - 32]
    } else {
        REGISTERS[reg]
    };
    format!("{name}={value}")
}
