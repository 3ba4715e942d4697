//! The table of `flick bench process`.
use std::fmt::Write as _;

use crate::bar::{self, Bar};
use crate::markdown::{self, figure};
use crate::quantile;

/// What a process had at most, in KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What it has written: no other process can have it.
    pub private: u64,
    /// All of it, shared files included.
    pub resident: u64,
}

impl Memory {
    /// From a file `smaps_rollup` (proc_pid_smaps(5)). A process that has ended has an empty file.
    pub fn parse(text: &str) -> Self {
        let field = |name: &str| -> u64 {
            let lines = text.lines();
            let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let number = values
                .next()
                .and_then(|rest| rest.split_whitespace().next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        Self {
            private: field("Private_Dirty"),
            resident: field("Rss"),
        }
    }

    /// The larger of each.
    pub fn or(self, other: Self) -> Self {
        Self {
            private: self.private.max(other.private),
            resident: self.resident.max(other.resident),
        }
    }
}

/// The processes of one build.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Milliseconds from start to end, by round.
    pub warm: Vec<f64>,
    /// The same where the program's file is not in the page cache.
    pub cold: Vec<f64>,
    /// Milliseconds of processor time of `warm`, those of the children that the process has waited
    /// for included.
    pub processor: Vec<f64>,
    /// The most of all runs.
    pub memory: Memory,
}

/// A program in its two builds. Both have the same number of rounds, and at least one.
#[derive(Clone, Debug)]
pub struct Process {
    /// For the table.
    pub name: String,
    /// Milliseconds that the second build may take more.
    pub bar: Option<f64>,
    /// By clang.
    pub plain: Runs,
    /// By Flick.
    pub placed: Runs,
}

impl Process {
    /// The median over the rounds.
    fn over(&self) -> f64 {
        self.of_rounds(|runs| &runs.warm, |placed, plain| placed - plain)
    }

    fn ratio(&self) -> f64 {
        self.of_rounds(|runs| &runs.warm, |placed, plain| placed / plain)
    }

    fn processor_ratio(&self) -> f64 {
        self.of_rounds(|runs| &runs.processor, |placed, plain| placed / plain)
    }

    fn of_rounds(&self, times: fn(&Runs) -> &[f64], of: fn(f64, f64) -> f64) -> f64 {
        let rounds = times(&self.placed).iter().zip(times(&self.plain));
        let values: Vec<f64> = rounds.map(|(&placed, &plain)| of(placed, plain)).collect();
        quantile::median(&values)
    }

    /// KiB of private memory over the plain build's.
    fn private(&self) -> i64 {
        self.placed.memory.private as i64 - self.plain.memory.private as i64
    }
}

fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| quantile::median(values))
}

fn quartiles(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share| quantile::of_sorted(&sorted, share);
    format!("{:.2} - {:.2}", at(0.25), at(0.75))
}

/// KiB of private memory that NxP code may cost.
const PRIVATE: f64 = 3.0 * 1024.0;

/// The tables for people; Markdown, so that they can be kept as they are.
pub fn table(processes: &[Process]) -> String {
    let mut text = String::from(
        "From start to end of whole processes, ms, medians over the rounds; `processor`: the ratio \
         of processor times; `cold`: the program is not in the page cache; memory in KiB, the most \
         that was seen\n\n",
    );
    let head = [
        "process",
        "clang",
        "quartiles",
        "Flick",
        "quartiles",
        "over",
        "x clang",
        "processor: x clang",
        "cold: clang",
        "cold: Flick",
        "private: clang",
        "private: Flick",
        "resident: clang",
        "resident: Flick",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    for process in processes {
        let (plain, placed) = (&process.plain, &process.placed);
        lines.push(vec![
            process.name.clone(),
            figure(median(&plain.warm), 2),
            quartiles(&plain.warm),
            figure(median(&placed.warm), 2),
            quartiles(&placed.warm),
            format!("{:.2}", process.over()),
            format!("{:.2}", process.ratio()),
            format!("{:.2}", process.processor_ratio()),
            figure(median(&plain.cold), 2),
            figure(median(&placed.cold), 2),
            plain.memory.private.to_string(),
            placed.memory.private.to_string(),
            plain.memory.resident.to_string(),
            placed.memory.resident.to_string(),
        ]);
    }
    text.push_str(&markdown::table(&lines));
    text.push('\n');
    let over = processes.iter().filter_map(|process| {
        Some(bar::Row {
            name: format!("{}, ms over clang's build", process.name),
            values: vec![Some(process.over())],
            bar: Bar::AtMost(process.bar?),
        })
    });
    let private = processes.iter().map(|process| bar::Row {
        name: format!("{}, private memory over clang's build, KiB", process.name),
        values: vec![Some(process.private() as f64)],
        bar: Bar::AtMost(PRIVATE),
    });
    text.push_str(&bar::table(&["Flick"], over.chain(private)));
    text
}

/// The same for programs.
pub fn csv(processes: &[Process]) -> String {
    let mut text = String::from(
        "process,build,rounds,median_ms,processor_median_ms,cold_median_ms,private_kib,resident_kib\n",
    );
    for process in processes {
        for (build, runs) in [("clang", &process.plain), ("flick", &process.placed)] {
            let cold = median(&runs.cold).map_or(String::new(), |cold| format!("{cold:.3}"));
            let _ = writeln!(
                text,
                "{},{build},{},{:.3},{:.3},{cold},{},{}",
                process.name,
                runs.warm.len(),
                quantile::median(&runs.warm),
                quantile::median(&runs.processor),
                runs.memory.private,
                runs.memory.resident
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> Process {
        let runs = |warm: [f64; 3], private| Runs {
            warm: warm.into(),
            processor: warm.map(|time| time / 2.0 + private as f64 / 100.0).into(),
            cold: vec![],
            memory: Memory {
                private,
                resident: 2 * private,
            },
        };
        Process {
            name: "a".into(),
            bar: Some(0.5),
            plain: runs([1.0, 2.0, 5.0], 100),
            placed: runs([1.5, 2.75, 5.6], 5000),
        }
    }

    #[test]
    fn builds_are_compared_within_a_round() {
        let text = table(&[process()]);
        for part in [
            "| 0.60 |    1.38 |",
            "| a, ms over clang's build                  |    **0.60** |",
            "| a, private memory over clang's build, KiB | **4900.00** |",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let lines: Vec<String> = csv(&[process()]).lines().map(String::from).collect();
        assert_eq!(lines[1], "a,clang,3,2.000,2.000,,100,200");
        assert_eq!(lines[2], "a,flick,3,2.750,51.375,,5000,10000");
    }

    #[test]
    fn memory_is_that_of_the_kernel() {
        let text = "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:    1200 kB\nPss:  600 kB\n\
                    Private_Clean:   30 kB\nPrivate_Dirty:   70 kB\n";
        let memory = Memory::parse(text);
        assert_eq!((memory.private, memory.resident), (70, 1200));
        assert_eq!(Memory::parse(""), Memory::default());
        assert_eq!(
            memory
                .or(Memory {
                    private: 7,
                    resident: 1300
                })
                .resident,
            1300
        );
    }
}
