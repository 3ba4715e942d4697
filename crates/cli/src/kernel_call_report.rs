//! What `flick machine stat` says of the card's kernel: its calls, their parts, and what harts stood
//! still for in them.
use std::fmt::{self, Write};

use flick_events::number::grouped;
use flick_machine::{CALL_PARTS, CallCounts, CallSums, Entry, Machine, STALL_PARTS, Times};
use flick_timing::memory_system::STALLS;

/// Names of the causes of [`flick_machine::Spent`].
fn causes() -> impl Iterator<Item = &'static str> {
    STALLS.into_iter().chain(["latency", "(at banks)"])
}

/// Whose stalls the rows of [`STALL_PARTS`] have.
const ROWS: [&str; STALL_PARTS.len()] = [
    "user hart, switch",
    "user hart, meanwhile",
    "kernel hart, work",
];

fn name(entry: Entry, is_remote: bool) -> String {
    let place = if is_remote { "kernel hart" } else { "own hart" };
    format!("{}, {place}", entry.name())
}

/// Cycles of a hart.
struct Cycles(f64);

impl Cycles {
    fn of(machine: &Machine, sums: &CallSums) -> Self {
        Self(machine.period(sums.hart).unwrap_or(1).max(1) as f64)
    }

    fn mean(&self, times: &Times) -> f64 {
        times.mean() / self.0
    }
}

/// Writes the tables for people.
pub fn write_calls(text: &mut String, machine: &Machine) -> fmt::Result {
    let Some(counts) = &machine.kernel_calls() else {
        return Ok(());
    };
    // A debugger leaves none.
    if *counts == CallCounts::default() {
        return Ok(());
    }
    write!(
        text,
        "\n{:<36}{:>10}{:>9}{:>9}",
        "kernel calls, cycles", "calls", "mean", "median"
    )?;
    CALL_PARTS
        .iter()
        .try_for_each(|part| write!(text, "{part:>9}"))?;
    writeln!(text)?;
    for (&(entry, is_remote), sums) in &counts.calls {
        let cycles = Cycles::of(machine, sums);
        let (mean, median) = (
            cycles.mean(&sums.total),
            sums.total.median() as f64 / cycles.0,
        );
        let calls = grouped(sums.total.count());
        write!(
            text,
            "{:<36}{calls:>10}{mean:>9.1}{median:>9.1}",
            name(entry, is_remote)
        )?;
        for part in &sums.parts {
            write!(text, "{:>9.1}", cycles.mean(part))?;
        }
        writeln!(text)?;
    }
    for (entry, &count) in &counts.unfinished {
        writeln!(
            text,
            "{:<36}{:>10}",
            format!("{}, unfinished", entry.name()),
            grouped(count)
        )?;
    }
    write_stalls(text, machine, counts)
}

fn write_stalls(text: &mut String, machine: &Machine, counts: &CallCounts) -> fmt::Result {
    let all = || {
        counts.calls.iter().flat_map(|(key, sums)| {
            let rows = ROWS.into_iter().zip(&sums.stalls);
            rows.map(move |(row, stalls)| (key, sums, row, stalls))
        })
    };
    if all().all(|(_, _, _, stalls)| stalls.spent.0.iter().all(|&time| time == 0)) {
        return Ok(());
    }
    write!(
        text,
        "\n{:<36}{:>10}",
        "stalls in kernel calls, cycles", "of"
    )?;
    causes().try_for_each(|cause| write!(text, "{cause:>12}"))?;
    writeln!(text)?;
    let mut last = None;
    for (key, sums, row, stalls) in all().filter(|(_, _, _, stalls)| stalls.calls != 0) {
        if last != Some(key) {
            writeln!(text, "{}", name(key.0, key.1))?;
        }
        last = Some(key);
        let calls = stalls.calls as f64 * Cycles::of(machine, sums).0;
        write!(
            text,
            "{:<36}{:>10.1}",
            format!("  {row}"),
            stalls.time as f64 / calls
        )?;
        for &time in &stalls.spent.0 {
            write!(text, "{:>12.1}", time as f64 / calls)?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// The same for programs: a line for each part of each kind of call. All times are picoseconds, and
/// sums over the calls, but for means and medians.
pub fn csv(machine: &Machine) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_csv(&mut text, machine);
    text
}

fn write_csv(text: &mut String, machine: &Machine) -> fmt::Result {
    text.push_str("call,place,part,calls,cycle,sum,mean,median");
    for cause in STALLS.into_iter().chain(["latency", "at-banks"]) {
        write!(text, ",{cause}")?;
    }
    text.push('\n');
    let Some(counts) = machine.kernel_calls() else {
        return Ok(());
    };
    for (&(entry, is_remote), sums) in &counts.calls {
        let period = machine.period(sums.hart).unwrap_or(1);
        let place = if is_remote { "kernel" } else { "own" };
        let begin = format!("{},{place}", entry.name());
        let parts = CALL_PARTS.into_iter().zip(&sums.parts);
        for (part, times) in [("total", &sums.total)].into_iter().chain(parts) {
            let (calls, sum, median) = (times.count(), times.sum, times.median());
            write!(
                text,
                "{begin},{part},{calls},{period},{sum},{:.1},{median}",
                times.mean()
            )?;
            let known = STALL_PARTS.iter().position(|known| *known == part);
            write_spent(text, known.map(|row| &sums.stalls[row].spent.0[..]))?;
        }
        let meanwhile = &sums.stalls[1];
        if meanwhile.calls != 0 {
            let (calls, sum) = (meanwhile.calls, meanwhile.time);
            let mean = sum as f64 / calls as f64;
            write!(text, "{begin},meanwhile,{calls},{period},{sum},{mean:.1},")?;
            write_spent(text, Some(&meanwhile.spent.0))?;
        }
    }
    for (entry, count) in &counts.unfinished {
        write!(text, "{},,unfinished,{count},,,,", entry.name())?;
        write_spent(text, None)?;
    }
    Ok(())
}

fn write_spent(text: &mut String, spent: Option<&[u64]>) -> fmt::Result {
    for n in 0..causes().count() {
        match spent {
            Some(times) => write!(text, ",{}", times[n])?,
            None => text.push(','),
        }
    }
    text.push('\n');
    Ok(())
}
