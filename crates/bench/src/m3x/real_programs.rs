//! Figures 6 and 7: programs that nobody here wrote, on the card with its file server, and under Linux with tmpfs
//! on the same core. A program prints its times itself (bench/paper/m3x/programs/measure.c).
use std::fmt::Write as _;

use crate::markdown;
use crate::paper::Check;

/// Bars (section 7.3 and 7.4 are the paper's): how many times quicker than Linux, how much slower at most, and
/// what it may cost to share the core with the server.
const QUICKER: f64 = 2.0;
const QUICKER_PROGRAMS: [&str; 2] = ["tar", "untar"];
const MOST_SLOWER: f64 = 1.05;
const SHARING: [(&str, f64, f64); 2] = [("tar", 0.10, 0.17), ("untar", 0.08, 0.12)];

/// How names end of programs that write their calls down, and of those that repeat them (programs/linux/init).
const RECORDED: &str = "-recorded";
pub const REPLAYED: &str = "-replayed";

/// What a program has said of itself. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTimes {
    pub name: String,
    pub all: u64,
    calls: u64,
    call_time: u64,
    moves: u64,
    move_time: u64,
    bytes: u64,
    one_byte: u64,
    /// Bytes that it has printed, and a sum of its lines.
    printed: (u64, String),
}

impl ProgramTimes {
    /// A line of its output that begins with `measured`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let _ = words.next().filter(|&word| word == "measured")?;
        let name = words.next()?.strip_suffix(':')?.to_owned();
        let mut value = |key| {
            let _ = words.next().filter(|&word| word == key)?;
            words.next()
        };
        let mut number = |key| value(key)?.parse().ok();
        let times = Self {
            name,
            all: number("ticks")?,
            calls: number("calls")?,
            call_time: number("took")?,
            moves: number("moves")?,
            move_time: number("took")?,
            bytes: number("bytes")?,
            one_byte: number("one-byte")?,
            printed: (number("printed")?, String::new()),
        };
        let printed = (times.printed.0, value("sum")?.to_owned());
        Some(Self { printed, ..times })
    }

    /// What goes on beside the program: calls of the system, and the part of moves that a byte takes, too.
    fn system(&self) -> u64 {
        self.call_time + (self.moves * self.one_byte).min(self.move_time)
    }

    fn transfer(&self) -> u64 {
        self.move_time.saturating_sub(self.moves * self.one_byte)
    }

    fn application(&self) -> u64 {
        self.all.saturating_sub(self.call_time + self.move_time)
    }
}

/// The last run of each program that has printed its times.
pub fn parse(text: &str) -> Result<Vec<ProgramTimes>, String> {
    let mut all: Vec<ProgramTimes> = vec![];
    for times in text.lines().filter_map(ProgramTimes::parse) {
        match all.iter_mut().find(|other| other.name == times.name) {
            Some(other) => *other = times,
            None => all.push(times),
        }
    }
    match all.is_empty() {
        true => Err("no program has printed its times".to_owned()),
        false => Ok(all),
    }
}

/// Those that repeat the calls of others, by the others' names; and all that neither do this nor write calls down.
pub fn split_replayed(all: Vec<ProgramTimes>) -> (Vec<ProgramTimes>, Vec<ProgramTimes>) {
    let (mut replayed, mut others) = (vec![], vec![]);
    for times in all {
        match times.name.strip_suffix(REPLAYED) {
            Some(name) => replayed.push(ProgramTimes {
                name: name.to_owned(),
                ..times
            }),
            None if times.name.ends_with(RECORDED) => {}
            None => others.push(times),
        }
    }
    (replayed, others)
}

/// All that was measured of programs.
#[derive(Default)]
pub struct RealPrograms {
    /// On the card: the program and the server have a core each.
    pub alone: Vec<ProgramTimes>,
    /// They share one.
    pub shared: Vec<ProgramTimes>,
    /// Their calls alone, with the recorded times between them, as `alone`.
    pub replayed: Vec<ProgramTimes>,
    /// The same under Linux.
    pub linux_replayed: Vec<ProgramTimes>,
    /// Under Linux.
    pub linux: Vec<ProgramTimes>,
    /// The same, on a core without a prefetcher.
    pub plain: Vec<ProgramTimes>,
}

fn of<'t>(all: &'t [ProgramTimes], name: &str) -> Option<&'t ProgramTimes> {
    all.iter().find(|times| times.name == name)
}

impl RealPrograms {
    /// Names, with the time of Linux over that of the card.
    fn ratios<'t>(&'t self, linux: &'t [ProgramTimes]) -> impl Iterator<Item = (&'t str, f64)> {
        self.alone.iter().filter_map(move |card| {
            let linux = of(linux, &card.name)?;
            Some((card.name.as_str(), linux.all as f64 / card.all as f64))
        })
    }

    /// Names, with the further time of who shares the core.
    fn costs(&self) -> impl Iterator<Item = (&str, f64)> {
        self.alone.iter().filter_map(|alone| {
            let shared = of(&self.shared, &alone.name)?;
            let cost = shared.all as f64 / alone.all as f64 - 1.0;
            Some((alone.name.as_str(), cost))
        })
    }

    /// The bars.
    pub fn checks(&self) -> Vec<Check> {
        let mut checks = vec![];
        for (name, ratio) in self.ratios(&self.linux) {
            let is_quicker = QUICKER_PROGRAMS.contains(&name);
            let (wanted, held) = match is_quicker {
                true => (format!("≥ {QUICKER:.0}"), ratio >= QUICKER),
                false => (
                    format!("≥ {:.2}", 1.0 / MOST_SLOWER),
                    ratio >= 1.0 / MOST_SLOWER,
                ),
            };
            checks.push(Check {
                name: format!("{name}: Linux's time over the card's"),
                got: format!("{ratio:.2}"),
                wanted,
                held,
            });
        }
        for (name, cost) in self.costs() {
            let Some((_, most, paper)) = SHARING.iter().find(|(bar, ..)| *bar == name) else {
                continue;
            };
            checks.push(Check {
                name: format!(
                    "{name}: further time on the server's core (paper: {:.0} %)",
                    paper * 100.0
                ),
                got: format!("{:+.1} %", cost * 100.0),
                wanted: format!("≤ {:.0} %", most * 100.0),
                held: cost <= *most,
            });
        }
        // Both do the same work.
        let replayed = self
            .replayed
            .iter()
            .map(|card| (card, &self.linux_replayed));
        let alone = self.alone.iter().map(|card| (card, &self.linux));
        for (place, (card, all)) in (0..).zip(alone.chain(replayed)) {
            let Some(linux) = of(all, &card.name) else {
                continue;
            };
            if card.printed != linux.printed {
                let how = if place < self.alone.len() {
                    ""
                } else {
                    ", replayed"
                };
                checks.push(Check {
                    name: format!(
                        "{}: what it prints on the card and under Linux{how}",
                        card.name
                    ),
                    got: format!("{:?}", card.printed),
                    wanted: format!("{:?}", linux.printed),
                    held: false,
                });
            }
        }
        checks
    }

    fn places(&self) -> [(&'static str, &[ProgramTimes]); 6] {
        [
            ("card", &self.alone),
            ("card, replayed", &self.replayed),
            ("card, one core", &self.shared),
            ("Linux", &self.linux),
            ("Linux, replayed", &self.linux_replayed),
            ("Linux, no prefetcher", &self.plain),
        ]
    }

    /// For the page.
    pub fn section(&self) -> String {
        if self.alone.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "\n## Figures 6 and 7: programs on files, microseconds\n\n\
             The last column is Linux's time over the card's, or what sharing a core costs. That of a replayed \
             program is its time over the program's own in the same place.\n\n",
        );
        let mut lines = vec![
            [
                "program",
                "where",
                "all",
                "application",
                "transfer",
                "system",
                "calls",
                "moves",
                "",
            ]
            .map(String::from)
            .to_vec(),
        ];
        for card in &self.alone {
            for (place, all) in self.places() {
                let Some(times) = of(all, &card.name) else {
                    continue;
                };
                let time = |time: u64| format!("{:.0}", time as f64 / 1000.0);
                let own = match place {
                    "Linux, replayed" => of(&self.linux, &card.name).unwrap_or(card),
                    _ => card,
                };
                let ratio = times.all as f64 / own.all as f64;
                let last = match place {
                    "card" => String::new(),
                    "card, replayed" | "Linux, replayed" => format!("× {ratio:.2}"),
                    "card, one core" => format!("{:+.1} %", (ratio - 1.0) * 100.0),
                    _ => format!("{ratio:.2}"),
                };
                lines.push(vec![
                    times.name.clone(),
                    place.to_owned(),
                    time(times.all),
                    time(times.application()),
                    time(times.transfer()),
                    time(times.system()),
                    times.calls.to_string(),
                    times.moves.to_string(),
                    last,
                ]);
            }
        }
        text.push_str(&markdown::table(&lines));
        text
    }

    /// The same for other programs, in nanoseconds.
    pub fn csv(&self) -> String {
        let mut csv = String::from(
            "program,where,all,application,transfer,system,calls,moves,bytes,printed\n",
        );
        for (place, all) in self.places() {
            for times in all {
                // Writing to a string does not fail.
                let _ = writeln!(
                    csv,
                    "{},\"{place}\",{},{},{},{},{},{},{},{}",
                    times.name,
                    times.all,
                    times.application(),
                    times.transfer(),
                    times.system(),
                    times.calls,
                    times.moves,
                    times.bytes,
                    times.printed.0
                );
            }
        }
        csv
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn line(name: &str, ticks: u64, sum: &str) -> String {
        format!(
            "measured {name}: ticks {ticks} calls 2 took 100 moves 10 took 600 bytes 4096 one-byte 20 printed 9 sum {sum}\n"
        )
    }

    /// Linux takes so many times what it may.
    pub fn all(slow: f64) -> RealPrograms {
        let times = |scale: f64| {
            let text =
                ["tar", "untar", "find"].map(|name| line(name, (10_000.0 * scale) as u64, "a"));
            parse(&text.concat()).unwrap()
        };
        RealPrograms {
            alone: times(1.0),
            shared: times(1.0 + 0.07 / slow),
            replayed: times(1.1),
            linux_replayed: times(2.0 * slow),
            linux: times(2.1 * slow),
            plain: times(4.0),
        }
    }

    #[test]
    fn lines_are_read_and_the_last_one_counts() {
        let text = format!(
            "boot\nmeasured x: y\n{}{}",
            line("tar", 5000, "a"),
            line("tar", 3000, "b")
        );
        let all = parse(&text).unwrap();
        assert_eq!(all.len(), 1);
        let tar = &all[0];
        assert_eq!((tar.all, tar.printed.1.as_str()), (3000, "b"));
        assert_eq!(
            (tar.application(), tar.transfer(), tar.system()),
            (2300, 400, 300)
        );
        assert!(parse("nothing\n").is_err());
    }

    #[test]
    fn replayed_programs_are_beside_their_own() {
        let text = ["tar", "tar-recorded", "tar-replayed"].map(|name| line(name, 10_000, "a"));
        let (replayed, others) = split_replayed(parse(&text.concat()).unwrap());
        assert_eq!((replayed.len(), others.len()), (1, 1));
        assert_eq!(replayed[0].name, "tar");
        let page = all(1.0).section();
        assert!(page.contains("× 1.10"), "{page}");
        // 2.0 of 2.1.
        assert!(page.contains("× 0.95"), "{page}");
        let mut programs = all(1.0);
        programs.linux_replayed[0].printed.1 = "b".to_owned();
        assert!(!programs.checks().last().unwrap().held);
    }

    #[test]
    fn quick_programs_hold_the_bars_and_slow_ones_miss_them() {
        let held = |slow: f64| -> Vec<bool> {
            let checks = all(slow).checks();
            checks.iter().map(|check| check.held).collect()
        };
        assert_eq!(held(1.0), [true; 5]);
        assert_eq!(held(0.45), [false; 5]);
        let mut programs = all(1.0);
        programs.linux[0].printed.1 = "b".to_owned();
        assert!(!programs.checks().last().unwrap().held);
    }
}
