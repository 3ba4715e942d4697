//! The report of `flick machine stat`: what the harts of a machine have executed, missed and waited for.
use std::fmt::Write;
use std::time::Duration;

use flick_events::number::grouped;
use flick_machine::Machine;
use flick_timing::core_costs::CLASS_NAMES;
use flick_timing::memory_system::{EVENTS, STALLS};

/// Rows of `ClassCounts`, the most privileged first.
const MODES: [(usize, &str); 3] = [(3, "M"), (1, "S"), (0, "U")];

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / (whole.max(1)) as f64
}

/// The report. `elapsed`: how long the host took.
pub fn report(machine: &Machine, name: &str, elapsed: Duration) -> String {
    let mut text = String::new();
    let (instructions, cycles) = (machine.instructions(), machine.cycles());
    let total: u64 = instructions.iter().sum();
    // Writing to a string does not fail.
    let _ = write_report(&mut text, machine, name, &instructions, &cycles);
    let seconds = elapsed.as_secs_f64();
    let _ = writeln!(
        text,
        "\n{} instructions in {seconds:.2} s of the host: {:.1} MIPS",
        grouped(total),
        total as f64 / seconds.max(1e-9) / 1e6
    );
    text
}

fn write_report(
    text: &mut String,
    machine: &Machine,
    name: &str,
    instructions: &[u64],
    cycles: &[u64],
) -> std::fmt::Result {
    let harts = instructions.len();
    writeln!(text, "\nMachine {name}, {harts} harts\n")?;
    writeln!(
        text,
        "{:<18}{:>20}{:>20}{:>8}",
        "", "instructions", "cycles", "IPC"
    )?;
    for (hart, (&instructions, &cycles)) in instructions.iter().zip(cycles).enumerate() {
        let ipc = instructions as f64 / cycles.max(1) as f64;
        writeln!(
            text,
            "{:<18}{:>20}{:>20}{ipc:>8.2}",
            format!("hart {hart}"),
            grouped(instructions),
            grouped(cycles)
        )?;
    }
    let classes = machine.class_counts();
    let sum = |mode: usize, class: usize| classes.iter().map(|c| c[mode][class]).sum::<u64>();
    let mode_sum = |mode| (0..CLASS_NAMES.len()).map(|class| sum(mode, class)).sum();
    let all: u64 = MODES
        .iter()
        .map(|&(mode, _)| -> u64 { mode_sum(mode) })
        .sum();
    writeln!(
        text,
        "\n{:<18}{:>20}{:>8}",
        "class and mode", "instructions", "share"
    )?;
    for (mode, letter) in MODES {
        let count: u64 = mode_sum(mode);
        if count == 0 {
            continue;
        }
        let share = percent(count, all);
        writeln!(text, "{letter:<18}{:>20}{share:>7.1}%", grouped(count))?;
        for (class, name) in CLASS_NAMES.into_iter().enumerate() {
            let count = sum(mode, class);
            if count != 0 {
                let share = percent(count, all);
                let name = format!("  {name}");
                writeln!(text, "{name:<18}{:>20}{share:>7.1}%", grouped(count))?;
            }
        }
    }
    for (hart, timing) in machine.timings().iter().enumerate() {
        let counters = timing.counters();
        let events = EVENTS.into_iter().zip(counters.events());
        let title = format!("hart {hart}, timed");
        writeln!(text, "\n{title:<18}{:>20}", "events")?;
        for (name, count) in events.filter(|&(_, count)| count != 0) {
            writeln!(text, "{:<18}{:>20}", format!("  {name}"), grouped(count))?;
        }
        let elapsed = timing.elapsed();
        writeln!(text, "{:<18}{:>20}{:>8}", "", "stalled ns", "share")?;
        let bank = ("(at banks)", counters.bank_wait());
        let stalls = STALLS.into_iter().zip(counters.stalls()).chain([bank]);
        for (name, time) in stalls.filter(|&(_, time)| time != 0) {
            let share = percent(time, elapsed);
            let name = format!("  {name}");
            writeln!(text, "{name:<18}{:>20}{share:>7.1}%", grouped(time / 1000))?;
        }
    }
    Ok(())
}
