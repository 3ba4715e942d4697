//! Leaves that the host may call as functions of its own, in the place of a crossing.
//!
//! The machine code decides. Both conventions have arguments, results and the registers that a callee
//! keeps in the same places ([`crate::registers`]), as far as their signatures agree. What is left of
//! a crossing is the hart and the guest's stack. Code that touches neither can do without.
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess,
    Register,
};

use crate::emit::{Finished, Fixup};

/// Bytes of a frame of such a leaf, at most. A host function's callers expect it to need some stack.
const MOST_FRAME: u32 = 1024;

/// Whether the host may call this code, with a return address on the stack and arguments where they are
/// at calls of translated code.
///
/// - The code has no way out but its return. It reaches nothing outside but bytes of the guest's module.
/// - It does not touch the hart's register, the guest's sp, and the registers that a callee keeps.
/// - It leaves r11 alone, by which a handler of a fault learns who has called: the guest's return
///   address is there, or what the host's caller has put there.
pub fn is_callable_by_host(finished: &Finished) -> bool {
    finished.frame <= MOST_FRAME
        && finished.entries.is_empty()
        && finished.returns.is_empty()
        && (finished.fixups.iter()).all(|(_, fixup)| matches!(fixup, Fixup::Guest(_)))
        && is_closed(&finished.bytes[..finished.code_end])
}

/// Whether all of `code` can be executed by anyone.
fn is_closed(code: &[u8]) -> bool {
    let end = code.len() as u64;
    let mut factory = InstructionInfoFactory::new();
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut insn = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut insn);
        let stays = match insn.flow_control() {
            FlowControl::Next | FlowControl::Return => true,
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                insn.near_branch_target() < end
            }
            // Calls, indirect jumps, traps.
            _ => false,
        };
        if !stays || insn.code() == Code::INVALID || !touches_nothing_kept(&mut factory, &insn) {
            return false;
        }
    }
    true
}

fn touches_nothing_kept(factory: &mut InstructionInfoFactory, insn: &Instruction) -> bool {
    let returns = insn.flow_control() == FlowControl::Return;
    factory.info(insn).used_registers().iter().all(|used| {
        let writes = !matches!(
            used.access(),
            OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
        );
        match used.register().full_register() {
            Register::RBX
            | Register::RBP
            | Register::R11
            | Register::R12
            | Register::R13
            | Register::R14
            | Register::R15 => false,
            // Frames are made and left by additions, and values are spilled there.
            Register::RSP => !writes || returns || is_frame(insn),
            _ => true,
        }
    })
}

/// Whether the instruction makes a frame of a known size, or leaves it.
fn is_frame(insn: &Instruction) -> bool {
    matches!(
        insn.code(),
        Code::Add_rm64_imm8 | Code::Add_rm64_imm32 | Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_anyone_may_execute() {
        // add rdi, rsi; mov rax, rdi; ret
        assert!(is_closed(&[0x48, 0x01, 0xf7, 0x48, 0x89, 0xf8, 0xc3]));
        // sub rsp, 8; mov [rsp], rdi; add rsp, 8; ret
        assert!(is_closed(&[
            0x48, 0x83, 0xec, 8, 0x48, 0x89, 0x3c, 0x24, 0x48, 0x83, 0xc4, 8, 0xc3
        ]));
        // test edi, edi; je +1; ret; ret
        assert!(is_closed(&[0x85, 0xff, 0x74, 1, 0xc3, 0xc3]));
    }

    #[test]
    fn code_that_needs_a_crossing() {
        let all: [&[u8]; 11] = [
            // mov rax, [rbp + 8]
            &[0x48, 0x8b, 0x45, 8, 0xc3],
            // mov eax, r15d
            &[0x44, 0x89, 0xf8, 0xc3],
            // mov bl, 1
            &[0xb3, 1, 0xc3],
            // mov [r12], rax
            &[0x49, 0x89, 0x04, 0x24, 0xc3],
            // mov r11, rax
            &[0x49, 0x89, 0xc3, 0xc3],
            // call +0
            &[0xe8, 0, 0, 0, 0, 0xc3],
            // jmp rax
            &[0xff, 0xe0],
            // jmp out of the code
            &[0xeb, 0x10],
            // ud2
            &[0x0f, 0x0b],
            // push rdi
            &[0x57, 0xc3],
            // lea rsp, [rdi]
            &[0x48, 0x8d, 0x27, 0xc3],
        ];
        for code in all {
            assert!(!is_closed(code), "{code:02x?}");
        }
    }
}
