//! Random vector instructions on Spike and on the machine `spike-rvv`, with registers of 2048 and 4096
//! bits: the same vector registers, vector CSRs, integer and floating-point registers, fcsr and memory, and
//! the same that is illegal. Both execute the same bare program.
//!
//! `SPIKE=path` names Spike (riscv-isa-sim), without which nothing is compared. `FLICK_CASES=n` is the
//! number of instructions of each length, `FLICK_SEED=n` chooses another sequence, `FLICK_VLEN=n` one length,
//! and `FLICK_OPCODE=name` one instruction.
mod spike_deviations;

use std::process::{Command, Stdio};

use flick_machine::{Board, Console, End, Files, Machine, System, boot};
use flick_riscv_testing::values::Rng;
use flick_riscv_testing::vector_cases::{self, BARE, Batch, Comparison, Layout};

/// Instructions of a program.
const TOGETHER: usize = 2000;
const CASES: usize = 20_000;
const LENGTHS: [u32; 2] = [2048, 4096];
const ISA: &str = "rv64gcv_zicntr";

#[derive(Default)]
struct Output(Vec<u8>);

impl Console for Output {
    fn output(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
}

/// What the machine's hart with vectors writes.
fn machine(layout: &Layout, program: &[u8]) -> Vec<u8> {
    let isa = format!("tile.soc.hart.vector.isa={ISA}_zvl{}b", layout.vlen);
    let description = flick_timing::machine::Machine::load("spike-rvv", &[isa]).unwrap();
    let mut system = System::new(&description).unwrap();
    let board: Board = system.board(vec![]).unwrap();
    let files = Files {
        firmware: program.to_vec(),
        ..Files::default()
    };
    let booted = boot(&mut system, &board, &files).unwrap();
    let mut machine = Machine::new(&board, &booted.harts, booted.firmware.htif);
    machine.limit(10_000_000);
    let mut output = Output::default();
    let end = machine.run(&mut output);
    assert_eq!(end, End::Exit(0), "at {:#x?}", machine.program_counters());
    output.0
}

/// What Spike's hart writes.
fn spike(spike: &str, layout: &Layout, program: &[u8]) -> Vec<u8> {
    let name = format!("flick-vectors-{}.elf", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, program).unwrap();
    // Zicclsm: accesses that are not aligned are executed, as by the machine.
    let run = Command::new(spike)
        .arg(format!("--isa={ISA}_zicclsm_zvl{}b", layout.vlen))
        .arg(&path)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    std::fs::remove_file(&path).unwrap();
    let run = run.unwrap_or_else(|error| panic!("{spike}: {error}"));
    assert!(run.status.success(), "{spike}: {}", run.status);
    run.stdout
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn vector_instructions_do_what_they_do_on_spike() {
    let Ok(path) = std::env::var("SPIKE") else {
        eprintln!("skipped: SPIKE names no Spike");
        return;
    };
    let seed = number("FLICK_SEED", 1);
    let cases = number("FLICK_CASES", CASES as u64) as usize;
    let only = number("FLICK_VLEN", 0) as u32;
    let opcode = std::env::var("FLICK_OPCODE").ok();
    for vlen in LENGTHS {
        if only != 0 && only != vlen {
            continue;
        }
        println!("VLEN {vlen}");
        let place = BARE;
        let layout = Layout { vlen, place };
        let mut comparison = Comparison::new("spike", spike_deviations::is_allowed);
        for n in 0..cases.div_ceil(TOGETHER) {
            let mut rng = Rng(seed << 32 ^ u64::from(vlen) << 20 ^ n as u64);
            let batch = Batch::random(&mut rng, &layout, TOGETHER, opcode.as_deref());
            let Batch { cases, data, code } = batch;
            let program = vector_cases::elf(&layout, &code, &data);
            let ours = machine(&layout, &program);
            let theirs = spike(&path, &layout, &program);
            assert_eq!([ours.len(), theirs.len()], [data.len(); 2]);
            comparison.add(&layout, &cases, [&data, &ours, &theirs]);
        }
        comparison.report().unwrap();
    }
}
