//! What `flick machine stat` says of migrations between harts with unequal extensions: which instructions
//! threads moved for, whether that is thrashing, and what a hint would save.
use std::fmt::{self, Write};
use std::path::Path;

use flick_events::number::grouped;
use flick_machine::{Entry, Machine};
use flick_report::source_lines::Lines;

/// `mcause` of an illegal instruction.
const ILLEGAL: u64 = 2;
/// Migrations that take more than this part of the programs' time are thrashing.
const THRASHES: f64 = 0.05;
/// Addresses that are written.
const MOST: usize = 16;

/// Writes the table. `instructions`: those of programs. `program`: a file whose lines are named.
pub fn write(
    text: &mut String,
    machine: &Machine,
    instructions: u64,
    program: Option<&Path>,
) -> fmt::Result {
    let Some(counts) = machine
        .kernel_calls()
        .filter(|counts| !counts.moves.is_empty())
    else {
        return Ok(());
    };
    let traps = counts.calls.get(&(Entry::Exception(ILLEGAL), true));
    let cycles = traps.map_or(0.0, |sums| {
        sums.total.median() as f64 / machine.period(sums.hart).unwrap_or(1).max(1) as f64
    });
    let mut all: Vec<_> = counts.moves.iter().collect();
    all.sort_by_key(|(_, moves)| std::cmp::Reverse(moves.count));
    writeln!(
        text,
        "\n{:<36}{:>10}{:>12}{:>12}{:>14}",
        "migrations, by instruction", "count", "a thousand", "cycles", "a hint saves"
    )?;
    let mut lines = Lines::default();
    for &(&address, moves) in all.iter().take(MOST) {
        let line = program.and_then(|path| lines.of(&path.display().to_string(), address));
        let place = line.unwrap_or_else(|| format!("{address:#x}"));
        writeln!(
            text,
            "{:<36}{:>10}{:>12.3}{:>12}{:>14}",
            format!("{place}: {}", moves.instruction()),
            grouped(moves.count),
            1e3 * moves.count as f64 / instructions.max(1) as f64,
            grouped((cycles * moves.count as f64) as u64),
            grouped((cycles * moves.avoidable() as f64) as u64)
        )?;
    }
    let avoidable: u64 = all.iter().map(|(_, moves)| moves.avoidable()).sum();
    // An instruction of a program is a cycle, or some: the share is at most this.
    let spent = cycles * avoidable as f64;
    let share = spent / (spent + instructions.max(1) as f64);
    if share > THRASHES {
        writeln!(
            text,
            "thrashing: hints (`flick_hint`) would save up to {:.0} % of the programs' time",
            100.0 * share
        )?;
    }
    Ok(())
}
