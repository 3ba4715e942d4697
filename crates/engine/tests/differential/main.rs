//! The engine against qemu-riscv64, on generated code over all of RV64GC, Zba, Zbb and Zbs: every
//! opcode (compressed ones and CSR forms for themselves) at least 1,000 times with edge operands;
//! all registers, fcsr, touched memory and traps are compared.
//!
//! Deterministic. `FLICK_SEED=n` chooses another sequence, `FLICK_OPCODE=name` only one opcode.

mod body;
mod execute;
mod program;

use std::process::ExitCode;

use flick_riscv_testing::opcodes::OPCODES;
use flick_riscv_testing::values::Rng;
use libtest_mimic::{Arguments, Failed, Trial};
use program::{CODE, F, FCSR, LOG, Program, RECORD, SCRATCH};

const LEAST: usize = 1000;
/// Opcodes in one program.
const TOGETHER: usize = 6;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // In this thread, whose stack is the largest.
    arguments.test_threads = Some(1);
    let trial = Trial::test("differential", || test().map_err(Failed::from));
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

fn test() -> Result<(), String> {
    let seed = match std::env::var("FLICK_SEED") {
        Ok(text) => text.parse().map_err(|e| format!("FLICK_SEED: {e}"))?,
        Err(_) => 1,
    };
    let only = std::env::var("FLICK_OPCODE").ok();
    let chosen: Vec<usize> = (0..OPCODES.len())
        .filter(|&i| only.as_ref().is_none_or(|name| name == OPCODES[i].name))
        .collect();
    if chosen.is_empty() {
        return Err("FLICK_OPCODE names no opcode".into());
    }
    let mut counts = vec![0; OPCODES.len()];
    let mut differing = vec![0; OPCODES.len()];
    for (n, group) in chosen.chunks(TOGETHER).enumerate() {
        let mut rng = Rng(seed << 20 ^ n as u64);
        let program = program::build(&mut rng, &OPCODES, group);
        let ours = execute::engine(&program);
        let theirs = execute::qemu(&program, &n.to_string())?;
        compare(&program, &ours, &theirs, &mut counts, &mut differing);
    }
    for (i, opcode) in OPCODES
        .iter()
        .enumerate()
        .filter(|(i, _)| chosen.contains(i))
    {
        println!(
            "{:20} {:6} cases {:6} differ",
            opcode.name, counts[i], differing[i]
        );
    }
    let few = chosen.iter().filter(|&&i| counts[i] < LEAST).count();
    let wrong: usize = differing.iter().sum();
    let total: usize = counts.iter().sum();
    println!(
        "{} opcodes, {total} cases, {wrong} differ, seed {seed}",
        chosen.len()
    );
    match (few, wrong) {
        (0, 0) => Ok(()),
        (0, _) => Err(format!("{wrong} cases differ")),
        _ => Err(format!("{few} opcodes have fewer than {LEAST} cases")),
    }
}

fn compare(
    program: &Program,
    ours: &[u8],
    theirs: &[u8],
    counts: &mut [usize],
    differing: &mut [usize],
) {
    let records = program.records - program.output;
    for (i, &block) in program.cases.iter().enumerate() {
        let opcode = program.blocks[block].opcode;
        counts[opcode] += 1;
        let range = records + i * RECORD..records + (i + 1) * RECORD;
        let (a, b) = (&ours[range.clone()], &theirs[range]);
        if a != b {
            differing[opcode] += 1;
            if differing[opcode] <= 3 {
                report(program, i, a, b);
            }
        }
    }
    let log = |bytes: &[u8]| {
        let count = program::get(bytes, LOG as usize - program.output) as usize;
        (0..count)
            .map(|n| {
                (
                    program::get(bytes, 8 + 16 * n),
                    program::get(bytes, 16 + 16 * n),
                )
            })
            .collect::<Vec<_>>()
    };
    let (a, b) = (log(ours), log(theirs));
    if a != b {
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        println!(
            "traps differ: number {at}: engine {:x?}, qemu {:x?}",
            a.get(at),
            b.get(at)
        );
        let pc = [a.get(at), b.get(at)]
            .into_iter()
            .flatten()
            .map(|t| t.0)
            .min();
        let block = program.blocks.iter().rfind(|b| Some(b.body) <= pc);
        let opcode = block.map_or(program.blocks[0].opcode, |b| b.opcode);
        if let Some(block) = block {
            println!(
                "  {} at {:#x}: {:04x?}",
                OPCODES[opcode].name, block.body, block.code
            );
        }
        differing[opcode] += 1;
    }
}

/// Prints a case: code, what went in, and where the results differ.
fn report(program: &Program, case: usize, ours: &[u8], theirs: &[u8]) {
    let block = &program.blocks[program.cases[case]];
    let shown = &block.code[..block.code.len().min(40)];
    let offset = block.body - CODE;
    println!(
        "{} at {CODE:#x}+{offset:#x}: {shown:04x?}",
        OPCODES[block.opcode].name
    );
    let start = program.records + case * RECORD;
    let input = &program.data[start..start + RECORD];
    for at in (0..RECORD).step_by(8) {
        let [before, a, b] = [input, ours, theirs].map(|bytes| program::get(bytes, at));
        let name = match at {
            _ if at < F => format!("x{}", at / 8),
            _ if at < FCSR => format!("f{}", (at - F) / 8),
            FCSR => "fcsr".into(),
            _ => format!("memory+{}", at.saturating_sub(SCRATCH)),
        };
        if a != b {
            println!("  {name}: input {before:#x} engine {a:#x} qemu {b:#x}");
        }
    }
    println!("  fcsr {:#x}", program::get(input, FCSR));
    // Operands of single floating-point instructions, the common case.
    let body: Vec<u16> = block
        .code
        .iter()
        .copied()
        .skip_while(|&half| half == 1)
        .collect();
    if let [low, high] = body[..] {
        let word = u32::from(low) | u32::from(high) << 16;
        for (name, n) in [
            ("rs1", word >> 15),
            ("rs2", word >> 20),
            ("rs3", word >> 27),
        ] {
            let n = n as usize & 31;
            let (x, f) = (program::get(input, 8 * n), program::get(input, F + 8 * n));
            println!("  {name}: x{n} {x:#x} f{n} {f:#x}");
        }
    }
}
