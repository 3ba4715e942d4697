//! Accelerators in the report of `flick machine stat`: what each has done, and what bounds a chain of them.
use std::fmt::Write;

use flick_device::Time;
use flick_device::accelerator::Work;
use flick_events::number::grouped;

/// An accelerator's tile, its name, and what it has done.
pub type Row<'n> = (usize, &'n str, Work);

fn percent(part: Time, whole: Time) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Picoseconds as nanoseconds.
fn ns(time: Time) -> String {
    grouped(time / 1000)
}

/// The accelerators that have computed something, and their chains.
pub fn write(text: &mut String, all: &[Row<'_>]) -> std::fmt::Result {
    let all: Vec<_> = all.iter().filter(|(.., work)| work.runs() != 0).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\n{:<18}{:>12}{:>16}{:>10}{:>8}{:>10}{:>10}{:>11}",
        "accelerator",
        "blocks",
        "runs ns",
        "computes",
        "moves",
        "messages",
        "waits in",
        "waits out"
    )?;
    for (_, name, work) in &all {
        let runs = work.runs();
        let share = |time| format!("{:.1}%", percent(time, runs));
        writeln!(
            text,
            "{name:<18}{:>12}{:>16}{:>10}{:>8}{:>10}{:>10}{:>11}",
            grouped(work.blocks),
            ns(runs),
            share(work.computes),
            share(work.moves),
            share(work.asks),
            share(work.waits_for_input),
            share(work.waits_for_output),
        )?;
    }
    writeln!(
        text,
        "\n{:<18}{:>12}{:>16}{:>18}{:>18}",
        "accelerator", "bytes in", "bytes out", "messages sent", "received"
    )?;
    for (_, name, work) in &all {
        writeln!(
            text,
            "{name:<18}{:>12}{:>16}{:>18}{:>18}",
            grouped(work.read),
            grouped(work.written),
            grouped(work.sent),
            grouped(work.received),
        )?;
    }
    for chain in chains(&all) {
        write_chain(text, &chain)?;
    }
    Ok(())
}

/// The accelerators by who writes into whom, from the first one of each chain on.
fn chains<'a, 'n>(all: &[&'a Row<'n>]) -> Vec<Vec<&'a Row<'n>>> {
    let at = |tile: u16| all.iter().find(|(other, ..)| *other == usize::from(tile));
    let is_next = |tile: usize| {
        let mut all = all.iter();
        all.any(|(_, _, work)| work.next.is_some_and(|next| usize::from(next) == tile))
    };
    let firsts = all.iter().filter(|(tile, ..)| !is_next(*tile));
    let chain = |first: &&'a Row<'n>| {
        let mut chain = vec![*first];
        while let Some(next) = chain.last().and_then(|(.., work)| at(work.next?)) {
            // A circle has no end.
            if chain.iter().any(|(tile, ..)| *tile == next.0) {
                break;
            }
            chain.push(next);
        }
        chain
    };
    firsts.map(chain).collect()
}

/// Which stage is the slowest, and what the chain takes beyond it.
fn write_chain(text: &mut String, chain: &[&Row<'_>]) -> std::fmt::Result {
    let slowest = chain.iter().max_by_key(|(.., work)| work.computes);
    let runs = chain.iter().map(|(.., work)| work.runs()).max();
    let (Some((_, name, work)), Some(runs)) = (slowest, runs) else {
        return Ok(());
    };
    if work.computes == 0 {
        return Ok(());
    }
    let names: Vec<_> = chain.iter().map(|(_, name, _)| *name).collect();
    writeln!(text, "\nchain {}: {} ns", names.join(", "), ns(runs))?;
    writeln!(
        text,
        "  slowest stage: {name}, {} ns a block, {} ns in all",
        ns(work.computes / work.blocks.max(1)),
        ns(work.computes)
    )?;
    let causes = [
        ("moves data", work.moves),
        ("messages", work.asks),
        ("waits for input", work.waits_for_input),
        ("waits for output", work.waits_for_output),
        ("other stages alone", runs.saturating_sub(work.runs())),
    ];
    let causes: Vec<_> = causes
        .into_iter()
        .map(|(name, time)| (name, percent(time, work.computes)))
        .filter(|&(_, share)| share >= 0.05)
        .map(|(name, share)| format!("{name} {share:.1}%"))
        .collect();
    write!(
        text,
        "  the chain takes {:.3} times that",
        runs as f64 / work.computes as f64
    )?;
    match causes.is_empty() {
        true => writeln!(text),
        false => writeln!(text, ": {}", causes.join(", ")),
    }
}
