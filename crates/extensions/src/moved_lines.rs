//! The instructions that threads moved for, and how often.
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::fs;

use addr2line::Loader;
use libc::pid_t;
use object::{Object, ObjectSegment};

use crate::cpu_set::CpuSet;
use crate::move_policy::{Refusal, Time};
use crate::needs;

/// Lines of the report.
const MOST: usize = 16;

/// An instruction of a file.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    /// Empty: memory without a file.
    file: String,
    /// In the file; without one the address.
    offset: u64,
}

/// What has happened at an instruction.
struct Line {
    place: Place,
    word: u32,
    outcome: Outcome,
    count: u64,
}

/// Where threads went.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Outcome {
    Moved(CpuSet),
    /// To no CPU: the program got its signal.
    Refused(Refusal),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved(cpus) => write!(f, "CPUs {cpus}"),
            Self::Refused(why) => write!(f, "SIGILL: {why}"),
        }
    }
}

/// Counts of moves.
#[derive(Default)]
pub struct MovedLines {
    lines: Vec<Line>,
    /// The line of an address, for each thread: programs have unlike addresses.
    known: HashMap<pid_t, HashMap<(u64, u32, Outcome), usize>>,
    moves: u64,
    /// Threads whose time was over.
    freed: u64,
    held: Time,
}

impl MovedLines {
    /// A thread has moved for an instruction.
    pub fn moved(&mut self, thread: pid_t, pc: u64, word: u32, to: &CpuSet) {
        self.moves += 1;
        self.count(thread, pc, word, Outcome::Moved(*to));
    }

    /// No CPU has taken a thread for an instruction.
    pub fn refused(&mut self, thread: pid_t, pc: u64, word: u32, why: &Refusal) {
        self.count(thread, pc, word, Outcome::Refused(why.clone()));
    }

    /// A thread is free again after this time. With no time it was free.
    pub fn freed(&mut self, held: Time) {
        self.freed += u64::from(held != 0);
        self.held += held;
    }

    /// The thread executes another program, or has ended.
    pub fn forget(&mut self, thread: pid_t) {
        self.known.remove(&thread);
    }

    fn count(&mut self, thread: pid_t, pc: u64, word: u32, outcome: Outcome) {
        let known = self.known.entry(thread).or_default();
        let key = (pc, word, outcome);
        let at = *known.entry(key.clone()).or_insert_with(|| {
            let (place, outcome) = (place(thread, pc), key.2);
            let same =
                |line: &Line| line.place == place && line.word == word && line.outcome == outcome;
            self.lines.iter().position(same).unwrap_or_else(|| {
                self.lines.push(Line {
                    place,
                    word,
                    outcome,
                    count: 0,
                });
                self.lines.len() - 1
            })
        });
        self.lines[at].count += 1;
    }

    /// The place of an instruction, for a message.
    pub fn place(&self, thread: pid_t, pc: u64) -> String {
        place(thread, pc).written()
    }

    /// The text for `--stat`.
    pub fn report(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        writeln!(
            text,
            "{:<44}{:>10}  to",
            "migrations, by instruction", "count"
        )?;
        // A line of the source may have several instructions, as copies of a function.
        let mut rows: HashMap<(String, &Outcome), u64> = HashMap::new();
        for line in &self.lines {
            let place = format!("{}: {}", line.place.written(), needs::of(line.word));
            *rows.entry((place, &line.outcome)).or_default() += line.count;
        }
        let mut rows: Vec<_> = rows
            .into_iter()
            .map(|((place, outcome), count)| (place, outcome.to_string(), count))
            .collect();
        rows.sort_by(|a, b| (b.2, &a.0, &a.1).cmp(&(a.2, &b.0, &b.1)));
        for (place, to, count) in rows.iter().take(MOST) {
            writeln!(text, "{place:<44}{count:>10}  {to}")?;
        }
        writeln!(
            text,
            "{} moves; {} times free again, after {}.{:03} s in all",
            self.moves,
            self.freed,
            self.held / 1_000_000_000,
            self.held / 1_000_000 % 1000
        )
    }
}

/// The file of an address, by `/proc/THREAD/maps`.
fn place(thread: pid_t, pc: u64) -> Place {
    let maps = fs::read_to_string(format!("/proc/{thread}/maps")).unwrap_or_default();
    maps.lines()
        .find_map(|line| mapped(line, pc))
        .unwrap_or(Place {
            file: String::new(),
            offset: pc,
        })
}

/// The place of `pc` if a line of `maps` has it: `START-END MODE OFFSET DEVICE INODE   FILE`.
fn mapped(line: &str, pc: u64) -> Option<Place> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let (start, end) = (hex(start)?, hex(end)?);
    if !(start..end).contains(&pc) {
        return None;
    }
    let offset = hex(words.nth(1)?)?;
    let file = words.nth(2)?.trim_start();
    file.starts_with('/').then(|| Place {
        file: file.to_owned(),
        offset: offset + (pc - start),
    })
}

impl Place {
    /// `file.c:12` if the file has lines, or `prog+0x6f4` with an address as `objdump` has it.
    fn written(&self) -> String {
        if self.file.is_empty() {
            return format!("{:#x}", self.offset);
        }
        let address = self.address().unwrap_or(self.offset);
        let line = Loader::new(&self.file).ok().and_then(|loader| {
            let location = loader.find_location(address).ok()??;
            let (path, line) = (location.file?, location.line.filter(|line| *line > 0)?);
            Some(format!(
                "{}:{line}",
                path.rsplit('/').next().unwrap_or(path)
            ))
        });
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        line.unwrap_or_else(|| format!("{name}+{address:#x}"))
    }

    /// The address in the file's own numbering.
    fn address(&self) -> Option<u64> {
        let bytes = fs::read(&self.file).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        file.segments().find_map(|segment| {
            let (start, size) = segment.file_range();
            let inside = self
                .offset
                .checked_sub(start)
                .filter(|inside| *inside < size)?;
            Some(segment.address() + inside)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = "2aaaaab000-2aaaaac000 r-xp 00001000 fe:00 12                 /usr/bin/a b";
        let place = mapped(line, 0x2a_aaaa_b010).unwrap();
        assert_eq!((&*place.file, place.offset), ("/usr/bin/a b", 0x1010));
        assert!(mapped(line, 0x2a_aaaa_c000).is_none());
        let anonymous = "3fff000000-3fff001000 rwxp 00000000 00:00 0 ";
        assert!(mapped(anonymous, 0x3f_ff00_0000).is_none());
        assert!(mapped("", 0).is_none() && mapped("x-y z", 0).is_none());
    }

    #[test]
    fn the_place_of_code_has_a_line_or_an_address() {
        let own = lines_of_maps as fn() as usize as u64;
        let written = place(std::process::id() as pid_t, own).written();
        assert!(
            written.starts_with("moved_lines.rs:") || written.contains("+0x"),
            "{written}"
        );
    }

    #[test]
    fn counts_of_one_instruction_are_one_line() {
        let mut lines = MovedLines::default();
        let cpus: CpuSet = "2-3".parse().unwrap();
        for thread in [1_000_000_000, 1_000_000_001, 1_000_000_000] {
            lines.moved(thread, 0x1000, 0x20b5_6533, &cpus);
        }
        lines.freed(0);
        lines.freed(1_500_000_000);
        let report = lines.report();
        assert!(report.contains("0x1000: zba"), "{report}");
        assert!(
            report.lines().nth(1).unwrap().ends_with("3  CPUs 2-3"),
            "{report}"
        );
        assert!(
            report.contains("3 moves; 1 times free again, after 1.500 s in all"),
            "{report}"
        );
    }
}
