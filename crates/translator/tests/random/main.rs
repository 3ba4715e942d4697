//! The engines against qemu-riscv64 and against one another, on random programs: functions by the
//! psABI with control flow of every kind, all of RV64GC, faults anywhere, and code made at run
//! time. Live registers at faults and returns, memory and fcsr are compared.
//!
//! Deterministic. `FLICK_PROGRAMS=n` makes so many programs, `FLICK_SEED=n` begins at another one:
//! a program is repeated with its seed and `FLICK_PROGRAMS=1`. `FLICK_PROGRAMS=3000` is the long
//! run.

mod ahead;
mod body;
mod calls;
mod code;
mod compare;
mod driver;
mod engine;
mod frame;
mod function;
mod goto;
mod host;
mod insn;
mod kept;
mod memory;
mod program;
mod shrink;
mod translated;

use std::collections::HashSet;
use std::process::ExitCode;

use engine::ENGINES;
use flick_riscv::{Class, Op};
use libtest_mimic::{Arguments, Failed, Trial};
use program::Program;

const PROGRAMS: u64 = 300;
/// Programs that have shown errors, and run besides.
const REMEMBERED: [u64; 1] = [635];
/// Differences after which it ends.
const ENOUGH: usize = 3;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // In this thread, whose stack is the largest.
    arguments.test_threads = Some(1);
    let trial = Trial::test("random", || test().map_err(Failed::from));
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

fn number(name: &str, default: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}: {e}")),
        Err(_) => Ok(default),
    }
}

struct Totals {
    instructions: u64,
    /// By operation.
    census: [u64; Op::COUNT],
    faults: usize,
    left: usize,
    differ: usize,
}

impl Totals {
    fn zero() -> Self {
        Self {
            instructions: 0,
            census: [0; Op::COUNT],
            faults: 0,
            left: 0,
            differ: 0,
        }
    }

    /// Operations that no program executed, less those with which no function goes on.
    fn never_executed(&self) -> Vec<&'static str> {
        let none = [Op::Undecoded, Op::End, Op::Illegal, Op::Ecall, Op::Ebreak];
        Op::all()
            .filter(|op| !matches!(op.class(), Class::Privileged | Class::Vector))
            .filter(|op| !none.contains(op))
            .filter(|&op| self.census[op as usize] == 0)
            .map(Op::name)
            .collect()
    }

    fn add(&mut self, outcome: &host::Outcome) {
        // Once for each program.
        if let Some(census) = &outcome.census {
            for (sum, n) in self.census.iter_mut().zip(census) {
                *sum += n;
            }
            self.faults += outcome.faults.len() / program::ENTRY_SIZE as usize;
            let records = outcome.records.chunks(program::RECORD as usize);
            self.left += records
                .filter(|record| program::get(record, program::LEFT) != 0)
                .count();
        }
    }
}

fn test() -> Result<(), String> {
    let (first, count) = (
        number("FLICK_SEED", 1)?,
        number("FLICK_PROGRAMS", PROGRAMS)?,
    );
    host::prepare();
    let mut totals = Totals::zero();
    let is_short = count < PROGRAMS;
    let remembered = REMEMBERED.into_iter().filter(|_| !is_short);
    for seed in (first..first + count).chain(remembered) {
        let program = program::build(seed, &HashSet::new());
        totals.instructions += program.instructions;
        if let Some(difference) = check(&program, &mut totals) {
            totals.differ += 1;
            println!("program {seed}: {difference}");
            shrink::report(seed, &program)?;
            if totals.differ == ENOUGH {
                break;
            }
        }
    }
    let executed: u64 = totals.census.iter().sum();
    let operations = totals.census.iter().filter(|&&n| n != 0).count();
    println!(
        "{count} programs from seed {first}: {} instructions, {executed} executed, {operations} operations; \
         {} faults, {} left by a jump; {} programs differ",
        totals.instructions, totals.faults, totals.left, totals.differ
    );
    if totals.differ > 0 {
        return Err(format!("{} programs differ", totals.differ));
    }
    // Of a few programs it cannot be asked.
    let unknown = totals.never_executed();
    if count >= PROGRAMS && !unknown.is_empty() {
        return Err(format!(
            "operations {unknown:?} of `Op` were never executed: the generator does not know them"
        ));
    }
    Ok(())
}

/// Runs a program everywhere; the first difference.
fn check(program: &Program, totals: &mut Totals) -> Option<String> {
    let mut before = None;
    if program.qemu {
        match compare::by_qemu(program) {
            Ok(outcome) => before = Some(("qemu", outcome)),
            Err(why) => return Some(why),
        }
    }
    for make in ENGINES {
        let (name, outcome) = match host::execute(program, *make) {
            Ok(done) => done,
            Err(why) => return Some(why),
        };
        if let Some((other, before)) = &before
            && let Some(difference) = compare::difference(program, before, &outcome)
        {
            return Some(format!("{other} and {name}: {difference}"));
        }
        totals.add(&outcome);
        before = Some((name, outcome));
    }
    None
}
