//! The report of `flick machine stat`: what the harts of a machine have executed, missed and waited for.
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use flick_events::number::grouped;
use flick_machine::{Machine, TimedRun};
use flick_timing::core_costs::CLASS_NAMES;
use flick_timing::machine::Machine as Description;
use flick_timing::memory_system::{EVENTS, HartCounts, STALLS};
use flick_timing::network::LinkCounts;

use crate::{accelerator_report, kernel_call_report, migration_report};

/// Rows of `ClassCounts`, the most privileged first.
const MODES: [(usize, &str); 3] = [(3, "M"), (1, "S"), (0, "U")];

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / (whole.max(1)) as f64
}

/// The report. `elapsed`: how long the host took. `program`: the first one of the card.
pub fn report(
    machine: &Machine,
    description: &Description,
    elapsed: Duration,
    program: Option<&Path>,
) -> String {
    let mut text = String::new();
    let (instructions, cycles) = (machine.instructions(), machine.cycles());
    let total: u64 = instructions.iter().sum();
    // Writing to a string does not fail.
    let _ = write_report(&mut text, machine, description, &instructions, &cycles);
    let classes = machine.class_counts();
    let of_programs = classes.iter().map(|counts| counts[0].iter().sum::<u64>());
    let _ = migration_report::write(&mut text, machine, of_programs.sum(), program);
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
    description: &Description,
    instructions: &[u64],
    cycles: &[u64],
) -> std::fmt::Result {
    let harts = instructions.len();
    writeln!(text, "\nMachine {}, {harts} harts\n", description.name)?;
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
            machine.hart_name(hart),
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
    write_timed(text, &machine.timed_run(), |hart| machine.hart_name(hart))?;
    write_links(text, &machine.link_counts())?;
    let accelerators = machine.accelerators().into_iter();
    let named = accelerators.filter_map(|(tile, work)| {
        let tile_in_file = description.tiles.get(tile)?;
        Some((tile, &*tile_in_file.name, work))
    });
    accelerator_report::write(text, &named.collect::<Vec<_>>())?;
    kernel_call_report::write_calls(text, machine)
}

/// What was counted in timed mode: the sums of all parts by hart, and each part.
fn write_timed<'n>(
    text: &mut String,
    run: &TimedRun,
    name: impl Fn(usize) -> &'n str,
) -> std::fmt::Result {
    for (hart, counts) in run.sum.iter().enumerate() {
        write_counts(text, &format!("{}, timed", name(hart)), counts)?;
    }
    if run.parts < 2 {
        return Ok(());
    }
    for (n, part) in run.first.iter().enumerate() {
        let mut all = HartCounts::default();
        part.harts.iter().for_each(|counts| all.add(counts));
        writeln!(
            text,
            "\n{:<18}{:>20}{:>20}{:>16}",
            "timed part", "from ns", "instructions", "ns"
        )?;
        let longest = part.harts.iter().map(|counts| counts.elapsed).max();
        writeln!(
            text,
            "{:<18}{:>20}{:>20}{:>16}",
            format!("{} of {}", n + 1, run.parts),
            grouped(part.begin / 1000),
            grouped(all.instructions),
            grouped(longest.unwrap_or(0) / 1000)
        )?;
        write_counts(text, &format!("part {}, all harts", n + 1), &all)?;
    }
    let more = run.parts - run.first.len() as u64;
    if more != 0 {
        writeln!(text, "\nparts in the sums alone: {}", grouped(more))?;
    }
    Ok(())
}

/// What the links between tiles have carried.
fn write_links(text: &mut String, links: &[(String, LinkCounts)]) -> std::fmt::Result {
    if links.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n{:<18}{:>20}{:>20}{:>16}",
        "link", "packets", "bytes", "waited ns"
    )?;
    for (name, counts) in links {
        writeln!(
            text,
            "{name:<18}{:>20}{:>20}{:>16}",
            grouped(counts.packets),
            grouped(counts.bytes),
            grouped(counts.wait / 1000)
        )?;
    }
    Ok(())
}

fn write_counts(text: &mut String, title: &str, counts: &HartCounts) -> std::fmt::Result {
    let events = EVENTS.into_iter().zip(counts.events);
    writeln!(text, "\n{title:<18}{:>20}", "events")?;
    for (name, count) in events.filter(|&(_, count)| count != 0) {
        writeln!(text, "{:<18}{:>20}", format!("  {name}"), grouped(count))?;
    }
    writeln!(text, "{:<18}{:>20}{:>8}", "", "stalled ns", "share")?;
    let bank = ("(at banks)", counts.bank_wait);
    let stalls = STALLS.into_iter().zip(counts.stalls).chain([bank]);
    for (name, time) in stalls.filter(|&(_, time)| time != 0) {
        let share = percent(time, counts.elapsed);
        let name = format!("  {name}");
        writeln!(text, "{name:<18}{:>20}{share:>7.1}%", grouped(time / 1000))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flick_machine::TimedPart;

    use super::*;

    #[test]
    fn each_part_stands_behind_the_sums() {
        let counts = |elapsed, instructions| HartCounts {
            elapsed,
            instructions,
            stalls: [elapsed / 2, 0, 0, 0, 0, 0, 0],
            events: [0, 7, 0, 0, 0, 0, 0, 0, 0, 0],
            ..HartCounts::default()
        };
        let part = |begin, elapsed| TimedPart {
            begin,
            harts: vec![counts(elapsed, 10), counts(2 * elapsed, 20)],
        };
        let mut run = TimedRun {
            parts: 3,
            first: vec![part(1_000_000, 4_000), part(9_000_000, 8_000)],
            sum: vec![counts(12_000, 20), counts(24_000, 40)],
        };
        let mut text = String::new();
        let name = |hart| ["hart 0", "hart 1"][hart];
        write_timed(&mut text, &run, name).unwrap();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<_> = text.lines().map(words).collect();
        let position = |line: &str| lines.iter().position(|l| l == line);
        for line in [
            "hart 1, timed events",
            "fetch 12 50.0%",
            "2 of 3 9,000 30 16",
            "part 2, all harts events",
            "load-misses 14",
            "parts in the sums alone: 1",
        ] {
            assert!(position(line).is_some(), "{line}: {text}");
        }
        // One part is the sum.
        run.parts = 1;
        text.clear();
        write_timed(&mut text, &run, name).unwrap();
        assert!(!text.contains("part 1"));
    }
}
