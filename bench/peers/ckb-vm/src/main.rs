//! Runs a static RV64 program of Linux with ckb-vm's interpreter in assembly:
//!
//!   ckb-vm-run PROGRAM ARGUMENT...
//!
//! It has RV64IMAC and Zba to Zbs, no floating point, and 4 MiB of memory. This suffices for most
//! kernels, one or some at a time.
use std::io::Write;
use std::process::ExitCode;
use std::{env, fs};

use ckb_vm::machine::asm::{AsmCoreMachine, AsmMachine};
use ckb_vm::machine::{DefaultMachineBuilder, VERSION2};
use ckb_vm::registers::{A0, A1, A2, A7};
use ckb_vm::{Bytes, DefaultMachineRunner, Error, Memory, Register, SupportMachine, Syscalls};

/// Numbers of RISC-V Linux.
const WRITE: u64 = 64;
const CLOCK_GETTIME: u64 = 113;

struct Linux;

impl<M: SupportMachine> Syscalls<M> for Linux {
    fn initialize(&mut self, _: &mut M) -> Result<(), Error> {
        Ok(())
    }

    fn ecall(&mut self, machine: &mut M) -> Result<bool, Error> {
        let [number, a, b, c] = [A7, A0, A1, A2].map(|reg| machine.registers()[reg].to_u64());
        let result = match number {
            WRITE if a == 1 => {
                let text = machine.memory_mut().load_bytes(b, c)?;
                std::io::stdout()
                    .write_all(&text)
                    .map_err(|e| Error::External(e.to_string()))?;
                c
            }
            CLOCK_GETTIME => {
                let mut time = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                // SAFETY: `time` is valid for writing.
                let result = unsafe { libc::clock_gettime(a as libc::clockid_t, &mut time) };
                for (n, part) in [time.tv_sec, time.tv_nsec].into_iter().enumerate() {
                    let at = M::REG::from_u64(b + 8 * n as u64);
                    let value = M::REG::from_u64(part as u64);
                    machine.memory_mut().store64(&at, &value)?;
                }
                result as u64
            }
            _ => return Ok(false),
        };
        machine.set_register(A0, M::REG::from_u64(result));
        Ok(true)
    }
}

fn run(program: &str, arguments: Vec<Bytes>) -> Result<i8, String> {
    let code = fs::read(program).map_err(|e| format!("{program}: {e}"))?;
    let isa = ckb_vm::ISA_IMC | ckb_vm::ISA_A | ckb_vm::ISA_B | ckb_vm::ISA_MOP;
    let core = <Box<AsmCoreMachine> as SupportMachine>::new(isa, VERSION2, u64::MAX);
    let machine = DefaultMachineBuilder::new(core)
        .syscall(Box::new(Linux))
        .build();
    let mut machine = AsmMachine::new(machine);
    let why = |e: Error| format!("{program}: {e}");
    machine
        .load_program(&code.into(), arguments.into_iter().map(Ok))
        .map_err(why)?;
    machine.run().map_err(why)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(program) = arguments.first() else {
        eprintln!("usage: ckb-vm-run PROGRAM ARGUMENT...");
        return ExitCode::from(2);
    };
    let words = arguments.iter().map(|word| word.clone().into()).collect();
    match run(program, words) {
        Ok(status) => ExitCode::from(status as u8),
        Err(why) => {
            eprintln!("ckb-vm-run: {why}");
            ExitCode::FAILURE
        }
    }
}
