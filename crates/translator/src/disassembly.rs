//! x86-64 code as text, with the fields of the hart.
use std::mem::offset_of;

use iced_x86::{
    Decoder, DecoderOptions, Formatter, FormatterOutput, FormatterTextKind, GasFormatter,
    Instruction, OpKind, Register, SymbolResolver, SymbolResult,
};

use crate::context::Context;
use crate::registers::HART_BIAS;
use flick_engine::Hart;
use flick_riscv::{FLOAT_REGISTERS, REGISTERS};

/// An instruction of a [`disassembly`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// From the first byte.
    pub offset: usize,
    /// Bytes of it.
    pub len: usize,
    /// In AT&T's syntax.
    pub text: String,
}

/// The instructions in `code`, whose first byte is at the address `at`. `name` tells the name of an
/// address that an instruction refers to.
pub fn disassembly(
    code: &[u8],
    at: u64,
    name: &dyn Fn(u64) -> Option<String>,
) -> Vec<Disassembled> {
    let mut formatter = formatter(Addresses);
    let decoder = Decoder::with_ip(64, code, at, DecoderOptions::NONE);
    let lines = decoder.into_iter().map(|instruction| {
        let mut text = text(&mut formatter, &instruction);
        let near = (instruction.op0_kind() == OpKind::NearBranch64)
            .then(|| instruction.near_branch_target());
        let memory =
            (instruction.is_ip_rel_memory_operand()).then(|| instruction.ip_rel_memory_address());
        if let Some(name) = near.or(memory).and_then(name) {
            text.push_str(&format!(" # <{name}>"));
        } else if let Some(field) = in_hart(&instruction) {
            text.push_str(&format!(" # {field}"));
        }
        Disassembled {
            offset: (instruction.ip() - at) as usize,
            len: instruction.len(),
            text,
        }
    });
    lines.collect()
}

/// Addresses stand as numbers.
struct Addresses;

impl SymbolResolver for Addresses {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        _instruction_operand: Option<u32>,
        address: u64,
        _address_size: u32,
    ) -> Option<SymbolResult<'_>> {
        let is_address = instruction.op0_kind() == OpKind::NearBranch64
            || instruction.is_ip_rel_memory_operand();
        is_address.then(|| SymbolResult::with_string(address, format!("{address:#x}")))
    }
}

pub(crate) fn formatter(names: impl SymbolResolver + 'static) -> GasFormatter {
    let mut formatter = GasFormatter::with_options(Some(Box::new(names)), None);
    let options = formatter.options_mut();
    options.set_gas_show_mnemonic_size_suffix(true);
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(true);
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_signed_immediate_operands(true);
    options.set_branch_leading_zeros(false);
    formatter
}

pub(crate) fn text(formatter: &mut GasFormatter, instruction: &Instruction) -> String {
    let mut text = Text::default();
    formatter.format(instruction, &mut text);
    text.0
}

/// The field of the hart to which an operand in memory refers.
pub(crate) fn in_hart(instruction: &Instruction) -> Option<String> {
    if !instruction.op_kinds().any(|kind| kind == OpKind::Memory)
        || instruction.memory_base() != Register::RBP
        || instruction.memory_index() != Register::None
    {
        return None;
    }
    let displacement = instruction.memory_displacement64() as i64;
    let offset = usize::try_from(displacement + i64::from(HART_BIAS)).ok()?;
    let within = |start: usize, size: usize| (start..start + size).contains(&offset);
    let name = |names: [&str; 32], start: usize| names[(offset - start) / 8].to_owned();
    Some(match offset {
        _ if within(offset_of!(Hart, x), 256) => name(REGISTERS, offset_of!(Hart, x)),
        _ if within(offset_of!(Hart, f), 256) => name(FLOAT_REGISTERS, offset_of!(Hart, f)),
        _ if offset == offset_of!(Hart, pc) => "pc".to_owned(),
        _ if offset == offset_of!(Context, retired) => "retired".to_owned(),
        _ if offset == offset_of!(Context, host_limit) => "host_limit".to_owned(),
        _ => return None,
    })
}

#[derive(Default)]
struct Text(String);

impl FormatterOutput for Text {
    fn write(&mut self, text: &str, _: FormatterTextKind) {
        self.0.push_str(text);
    }
}
