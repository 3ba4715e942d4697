//! The engines against qemu-riscv64 and against one another, on random programs: functions by the
//! psABI with control flow of every kind, all of RV64GC, faults anywhere, and code made at run time.
//! Live registers at faults and returns, memory and fcsr are compared.
//!
//! Deterministic. `FLICK_PROGRAMS=n` makes so many programs, `FLICK_SEED=n` begins at another one: a
//! program is repeated with its seed and `FLICK_PROGRAMS=1`. `FLICK_PROGRAMS=3000` is the long run.

#[path = "../common/asm.rs"]
mod asm;
#[path = "../common/elf.rs"]
mod elf;
#[path = "../common/mapping.rs"]
mod mapping;
// The other test chooses operands by more of what the table says.
#[allow(dead_code)]
#[path = "../common/opcodes.rs"]
mod opcodes;
#[path = "../common/qemu.rs"]
mod qemu;
#[path = "../common/values.rs"]
mod values;

mod body;
mod code;
mod compare;
mod driver;
mod engine;
mod function;
mod host;
mod insn;
mod program;
mod shrink;

use std::collections::HashSet;
use std::process::ExitCode;

use engine::ENGINES;
use program::Program;

const PROGRAMS: u64 = 150;
/// Differences after which it ends.
const ENOUGH: usize = 3;

fn main() -> ExitCode {
    match test() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("random programs: {why}");
            ExitCode::FAILURE
        }
    }
}

fn number(name: &str, default: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}: {e}")),
        Err(_) => Ok(default),
    }
}

#[derive(Default)]
struct Totals {
    executed: u64,
    instructions: u64,
    faults: usize,
    differ: usize,
}

fn test() -> Result<(), String> {
    // The libtest protocol's listing, so that `cargo test -- --list` works.
    if std::env::args().any(|a| a == "--list") {
        println!("random: test");
        return Ok(());
    }
    let (first, count) = (
        number("FLICK_SEED", 1)?,
        number("FLICK_PROGRAMS", PROGRAMS)?,
    );
    host::prepare();
    let mut totals = Totals::default();
    for seed in first..first + count {
        let program = program::build(seed, &HashSet::new());
        totals.instructions += program.live.len() as u64;
        if let Some(difference) = check(&program, &mut totals) {
            totals.differ += 1;
            println!("program {seed}: {difference}");
            shrink::report(seed, &program)?;
            if totals.differ == ENOUGH {
                break;
            }
        }
    }
    println!(
        "{count} programs from seed {first}: {} instructions, {} executed, {} faults; {} programs differ",
        totals.instructions, totals.executed, totals.faults, totals.differ
    );
    match totals.differ {
        0 => Ok(()),
        n => Err(format!("{n} programs differ")),
    }
}

/// Runs a program everywhere; the first difference.
fn check(program: &Program, totals: &mut Totals) -> Option<String> {
    let mut before = match compare::by_qemu(program) {
        Ok(outcome) => outcome,
        Err(why) => return Some(why),
    };
    let mut name = "qemu";
    for make in ENGINES {
        let (its, outcome) = match host::execute(program, *make) {
            Ok(done) => done,
            Err(why) => return Some(why),
        };
        if let Some(difference) = compare::difference(program, &before, &outcome) {
            return Some(format!("{name} and {its}: {difference}"));
        }
        totals.executed += outcome.instructions.unwrap_or(0);
        totals.faults += outcome.faults.len() / program::ENTRY_SIZE as usize;
        (before, name) = (outcome, its);
    }
    None
}
