//! Random programs of all modes on QEMU's `virt` and on this one, interpreted and translated: the same
//! traps, registers, data and page tables.
//!
//! Where QEMU 7.2 does otherwise than the manuals, programs keep away from it or both results are made equal:
//!
//! | QEMU 7.2 | the manual |
//! |---|---|
//! | MRET and SRET leave MPRV | they clear it below M mode ("Memory Privilege in mstatus Register") |
//! | bit 0 of `sepc` and `mepc` is kept | it is always 0 |
//! | MPP may be 2, UXL be 1, and `pmpcfg` have W without R | these are reserved ("WARL") |
//! | bits of the hypervisor may be written without it | they are 0 |
//! | a failing SC raises nothing | a misaligned one does ("Load-Reserved/Store-Conditional Instructions") |
//! | an atomic access to no memory is a load access fault | it is one of stores ("Load/Store Access Faults") |
//! | users may execute SFENCE.W.INVAL and SFENCE.INVAL.IR | they are illegal ("Svinval") |
//! | without its AIA the interrupt of the least number is first | the order is MEI, MSI, MTI, SEI, SSI, STI |
//! | there is no `menvcfg.ADUE` | so that accessed and dirty bits are always set |
//! | these bits are set in tables that may be read and not written | an access fault ("Physical Memory Protection and Paging") |
//! | `pmpaddr` does not change the range that it is the bottom of | it does ("Address Matching", TOR) |
//! | an access of two pages is checked as if both were neighbours in memory | each part is checked where it is |
//!
//! These are choices: the value of illegal instructions and breakpoints, that of misaligned accesses within
//! eight bytes, whether protection sees these as a whole or in parts, FS after what may only raise a flag,
//! counters, and what comes first after a store to the CLINT, the interrupt or a fault of the next fetch.
//!
//! With `menvcfg.ADUE` clear programs have set all accessed and dirty bits, so that QEMU does the same; what
//! the hart does with clear ones is tested without QEMU.
//!
//! `FLICK_PROGRAMS` says how many from `FLICK_FIRST` on, and `FLICK_SEED` executes one of them and prints its
//! traps. With `FLICK_TRAPS=n` it ends at its nth trap.
#[path = "../bare_machine/mod.rs"]
mod bare_machine;
mod batch_driver;
mod qemu_virt;
mod random_pages;
mod random_program;
mod random_registers;
mod words;

use bare_machine::{Quiet, on_machine};
use batch_driver::{
    CSRS, DATA, FIELDS, LOG, PROGRAM, RAM, RECORD, STATE, STATE_CSRS, STATE_LOG_END, TABLES, TRAPS,
    USER_BIT, WORK, memory, slot,
};
use flick_machine::End;
use random_pages::{ACCESSED_DIRTY, OWN_PAGES};
use random_program::{
    program, return_from_a_page_of_users, run_into_protected_code, written_entries,
};

const PROGRAMS: u64 = 200;
/// Programs that one start of a machine executes.
const BATCH: u64 = 25;
/// None takes as many.
const LIMIT: u64 = 400_000;

const ISA: &str = "rv64gc_zba_zbb_zbs_zicntr_sstc_svinval";

fn execute(image: &[u8], programs: usize, translate_after: Option<u8>) -> Result<Vec<u8>, String> {
    execute_on(&format!("{ISA}_svadu"), image, programs, translate_after)
}

fn execute_on(
    isa: &str,
    image: &[u8],
    programs: usize,
    translate_after: Option<u8>,
) -> Result<Vec<u8>, String> {
    let isa = format!("isa={isa}");
    let settings = ["harts=1", &isa, "memory=64M"];
    on_machine("virt", &settings, vec![], image, |machine, board| {
        machine.limit(LIMIT * programs as u64);
        machine.translate_after(translate_after);
        let end = machine.run(&mut Quiet);
        if end != End::Exit(0) {
            return Err(format!("{end:?} at {:#x?}", machine.program_counters()));
        }
        let mut memory = vec![0; image.len()];
        board.read_memory(RAM, &mut memory).unwrap();
        Ok(memory)
    })
}

fn word(program: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(program[at..at + 8].try_into().unwrap())
}

/// Places of the last causes.
fn causes() -> impl Iterator<Item = usize> {
    let csrs = CSRS.iter().enumerate();
    let causes = csrs.filter(|(_, csr)| csr.1.ends_with("cause"));
    // S mode's handler leaves it in x21.
    causes
        .map(|(n, _)| STATE + STATE_CSRS + 8 * n)
        .chain([STATE + 8 * 21])
}

/// What the manual leaves to the machine becomes 0.
fn without_choices(program: &mut [u8]) {
    for record in program[LOG..LOG + TRAPS * RECORD].chunks_exact_mut(RECORD) {
        // The value of an illegal instruction or of a breakpoint may be 0 ("Machine Trap Value Register").
        for (cause, value) in [(0, 32), (48, 64)] {
            match word(record, cause) {
                2 | 3 => record[value..value + 8].fill(0),
                // An access that is not aligned may be made in parts. QEMU's begin in front of it.
                13 | 15 => record[value] &= !7,
                // An atomic access to what is no memory is a load to it.
                5 | 7 => {
                    record[cause] = 5;
                    record[value] &= !7;
                }
                _ => {}
            }
        }
    }
    for at in causes() {
        if word(program, at) == 7 {
            program[at] = 5;
        }
    }
}

fn record(program: &[u8], number: usize) -> String {
    let at = LOG + number * RECORD;
    let fields = FIELDS.iter().enumerate();
    let fields: Vec<String> = fields
        .map(|(n, name)| format!("{name} {:#x}", word(program, at + 8 * n)))
        .collect();
    // There are two copies of the code.
    let pc = word(program, at + 24).wrapping_sub(WORK) & !USER_BIT;
    let instruction = match pc {
        0..0x4000 => format!(", at {:#x}", word(program, pc as usize & !3) as u32),
        _ => String::new(),
    };
    format!("trap {number}: {}{instruction}", fields.join(", "))
}

fn place(at: usize) -> String {
    match at {
        LOG.. if at < STATE => {
            let (number, rest) = ((at - LOG) / RECORD, (at - LOG) % RECORD);
            format!("{} of trap {number}", FIELDS[rest / 8])
        }
        STATE.. if at >= STATE + STATE_LOG_END => "the number of traps".into(),
        STATE.. if at >= STATE + STATE_CSRS => {
            let number = (at - STATE - STATE_CSRS) / 8;
            CSRS.get(number).map_or("nothing", |csr| csr.1).into()
        }
        STATE.. => format!("x{}", (at - STATE) / 8),
        _ => format!("memory at {:#x}", WORK + at as u64),
    }
}

/// The first difference of two programs that have been executed.
fn difference(found: &[u8], wanted: &[u8]) -> Option<String> {
    let differs = |from: usize, to: usize| {
        (from..to)
            .step_by(8)
            .find(|&at| word(found, at) != word(wanted, at))
    };
    // Traps first.
    let at = differs(LOG, STATE)
        .or_else(|| differs(STATE, PROGRAM))
        .or_else(|| differs(DATA, LOG))?;
    let mut text = format!(
        "{} is {:#x} instead of {:#x}",
        place(at),
        word(found, at),
        word(wanted, at)
    );
    if (LOG..STATE).contains(&at) {
        let number = (at - LOG) / RECORD;
        text += &format!(
            "\n  found  {}\n  wanted {}",
            record(found, number),
            record(wanted, number)
        );
    }
    Some(text)
}

/// Executes programs on all machines. Returns what differs, and how many traps there were.
fn check(seeds: &[u64]) -> (Vec<String>, u64) {
    let last = seeds.len() - 1;
    let programs: Vec<Vec<u8>> = seeds
        .iter()
        .enumerate()
        .map(|(n, &seed)| program(seed, n == last && locks(seed)))
        .collect();
    let image = memory(&programs);
    let mut wanted = match qemu_virt::run(&image, &seeds[0].to_string()) {
        Ok(memory) => memory,
        Err(error) => {
            return (
                vec![format!(
                    "FLICK_SEED={} to {}: {error}",
                    seeds[0], seeds[last]
                )],
                0,
            );
        }
    };
    let mut differences = vec![];
    let mut traps = 0;
    for translate_after in [None, Some(1)] {
        let mut found = match execute(&image, seeds.len(), translate_after) {
            Ok(memory) => memory,
            Err(error) => {
                differences.push(format!(
                    "FLICK_SEED={} to {}: {error}",
                    seeds[0], seeds[last]
                ));
                continue;
            }
        };
        for (n, seed) in seeds.iter().enumerate() {
            let (found, wanted) = (
                &mut found[slot(n)..][..PROGRAM],
                &mut wanted[slot(n)..][..PROGRAM],
            );
            without_choices(found);
            without_choices(wanted);
            if std::env::var_os("FLICK_SEED").is_some() {
                show(found, wanted);
            }
            traps += (word(wanted, STATE + STATE_LOG_END) - (WORK + LOG as u64)) / RECORD as u64;
            if let Some(text) = difference(found, wanted) {
                let engine = translate_after.map_or("interpreted", |_| "translated");
                differences.push(format!("FLICK_SEED={seed}, {engine}: {text}"));
            }
        }
    }
    (differences, traps)
}

/// The last of each batch may lock entries of protection.
fn locks(seed: u64) -> bool {
    seed.is_multiple_of(BATCH)
}

fn show(found: &[u8], wanted: &[u8]) {
    for (n, (_, name)) in CSRS.iter().enumerate() {
        let at = STATE + STATE_CSRS + 8 * n;
        println!(
            "{name} {:#x}, wanted {:#x}",
            word(found, at),
            word(wanted, at)
        );
    }
    let traps = (word(wanted, STATE + STATE_LOG_END) - (WORK + LOG as u64)) as usize / RECORD;
    for number in 0..traps.min(TRAPS) {
        let (found, wanted) = (record(found, number), record(wanted, number));
        if found != wanted {
            println!("found  {found}");
        }
        println!("wanted {wanted}");
    }
}

#[test]
fn programs_of_all_modes_do_what_they_do_on_qemu() {
    if !qemu_virt::is_there() {
        eprintln!("skipped: qemu-system-riscv64 (Debian package qemu-system-misc) is not there");
        return;
    }
    if let Ok(seed) = std::env::var("FLICK_SEED") {
        let (differences, _) = check(&[seed.parse().unwrap()]);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        return;
    }
    let programs: u64 = std::env::var("FLICK_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let first: u64 = std::env::var("FLICK_FIRST").map_or(1, |n| n.parse().unwrap());
    let seeds: Vec<u64> = (first..first + programs).collect();
    let (mut differences, mut traps) = (vec![], 0);
    for seeds in seeds.chunks(BATCH as usize) {
        let (found, count) = check(seeds);
        differences.extend(found);
        traps += count;
    }
    println!("{programs} programs, {} traps on each machine", traps / 2);
    assert!(
        differences.is_empty(),
        "{} differences\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(traps > 20 * programs, "only {traps} traps");
}

#[test]
fn a_return_fetches_nothing_in_the_mode_that_it_leads_to() {
    let (program, entry) = return_from_a_page_of_users();
    let image = memory(&[program]);
    for translate_after in [None, Some(1)] {
        let memory = execute(&image, 1, translate_after).unwrap();
        let found = &memory[slot(0)..][..PROGRAM];
        assert_eq!(word(found, LOG), 8, "a call of U mode");
        assert_eq!(word(found, entry) & 0xff, 0x1b);
    }
}

#[test]
fn protection_within_a_page_holds_for_code_that_was_executed_before() {
    let (program, protected) = run_into_protected_code();
    let image = memory(&[program]);
    for translate_after in [None, Some(1)] {
        let memory = execute(&image, 1, translate_after).unwrap();
        let found = &memory[slot(0)..][..PROGRAM];
        assert_eq!(word(found, LOG), 1, "an instruction access fault");
        assert_eq!(word(found, LOG + 24), protected);
    }
}

/// The hart writes no entry of a page table: what differs at the end are those that programs write.
#[test]
fn without_svadu_entries_keep_their_accessed_and_dirty_bits() {
    let programs: u64 = std::env::var("FLICK_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let seeds: Vec<u64> = (1..=programs).collect();
    let mut faults = 0;
    for seeds in seeds.chunks(BATCH as usize) {
        let mut programs: Vec<Vec<u8>> = seeds.iter().map(|&seed| program(seed, false)).collect();
        // The handler of S mode could not handle faults of its own.
        for program in &mut programs {
            for entry in program[OWN_PAGES].chunks_exact_mut(8) {
                if word(entry, 0) != 0 {
                    entry[0] |= ACCESSED_DIRTY as u8;
                }
            }
        }
        let image = memory(&programs);
        for translate_after in [None, Some(1)] {
            let memory = execute_on(ISA, &image, seeds.len(), translate_after).unwrap();
            for (n, (&seed, before)) in seeds.iter().zip(&programs).enumerate() {
                let after = &memory[slot(n)..][..PROGRAM];
                let written = written_entries(seed);
                let mut entries = (TABLES..LOG).step_by(8).filter(|at| !written.contains(at));
                let changed = entries.find(|&at| word(before, at) != word(after, at));
                assert_eq!(changed, None, "FLICK_SEED={seed}");
                let records = after[LOG..LOG + TRAPS * RECORD].chunks_exact(RECORD);
                let is_fault = |record: &&[u8]| matches!(word(record, 0), 12 | 13 | 15);
                faults += records.filter(is_fault).count();
            }
        }
    }
    assert!(faults as u64 > programs, "only {faults} page faults");
}
