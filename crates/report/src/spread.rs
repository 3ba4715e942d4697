//! `flick stat --repeat`: how far the predictions of several runs of a program lie apart. An exact
//! prediction is the same each time; what is not exact is up to the machine.
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use flick_events::timed::{Timed, duration};
use flick_image::Error;

use crate::again::{self, Again};
use crate::run_program::TERMINAL;

/// What to say below the two times of a run that was not repeated, and may differ from others.
pub fn hint(timed: &Timed) -> Option<String> {
    (!timed.is_exact()).then(|| " flick stat -r 5 measures the spread of these times.\n".into())
}

/// Runs `command` until there have been `runs` runs with the first, which predicts `first` and
/// ended with `status`. Gives what to say below its two times.
pub fn measure(
    command: &[OsString],
    (platform, clock): (&OsStr, &[(&str, &OsStr)]),
    runs: u32,
    first: &Timed,
    status: ExitStatus,
) -> Result<String, Error> {
    let mut spread = Spread::new(first, status);
    for _ in 1..runs {
        let again = again::run(command, platform, clock)?;
        let ended = again.status.signal();
        spread.add(again);
        // Who ends a program from the terminal does not want it started anew.
        if ended.is_some_and(|signal| TERMINAL.contains(&signal)) {
            break;
        }
    }
    Ok(spread.text())
}

struct Spread {
    /// How the first run ended.
    status: ExitStatus,
    migrating: Vec<u64>,
    staying: Vec<u64>,
    /// Runs without a prediction, and runs that ended otherwise than the first.
    silent: u32,
    other: u32,
}

impl Spread {
    fn new(first: &Timed, status: ExitStatus) -> Self {
        Self {
            status,
            migrating: vec![first.migrating],
            staying: vec![first.staying],
            silent: 0,
            other: 0,
        }
    }

    fn add(&mut self, again: Again) {
        match again.timed {
            Some(timed) => {
                self.migrating.push(timed.migrating);
                self.staying.push(timed.staying);
                self.other += u32::from(again.status != self.status);
            }
            None => self.silent += 1,
        }
    }

    fn text(&self) -> String {
        let mut text = match self.migrating.len() {
            1 => String::new(),
            runs => format!(
                " Spread over {runs} runs: {} with migration ({}), {} without ({})\n",
                range(&self.migrating),
                relative(&self.migrating),
                range(&self.staying),
                relative(&self.staying)
            ),
        };
        for (count, what) in [
            (self.silent, "left no prediction"),
            (
                self.other,
                "ended otherwise than the first, which alone has the standard input",
            ),
        ] {
            if count > 0 {
                let runs = if count == 1 { "run" } else { "runs" };
                let _ = writeln!(text, " {count} further {runs} {what}.");
            }
        }
        text
    }
}

fn ends(times: &[u64]) -> (u64, u64) {
    let (lowest, highest) = (times.iter().min(), times.iter().max());
    (lowest.copied().unwrap_or(0), highest.copied().unwrap_or(0))
}

/// `60.73 to 62.20 ms`; one time where they read the same.
fn range(times: &[u64]) -> String {
    let (lowest, highest) = ends(times);
    let (low, high) = (duration(lowest), duration(highest));
    if low == high {
        return high;
    }
    let unit = |text: &str| text.rsplit_once(' ').map(|(_, unit)| unit.to_owned());
    match low.rsplit_once(' ') {
        Some((number, _)) if unit(&low) == unit(&high) => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The highest over the lowest.
fn relative(times: &[u64]) -> String {
    let (lowest, highest) = ends(times);
    let percent = (highest - lowest) as f64 * 100.0 / lowest.max(1) as f64;
    // 0.0 is for what is the same to the last digit.
    if percent > 0.0 && percent < 0.05 {
        "less than 0.1 %".into()
    } else {
        format!("{percent:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(migrating: u64, staying: u64) -> Timed {
        Timed {
            migrating,
            staying,
            ..Timed::default()
        }
    }

    fn spread(further: &[(u64, i32)]) -> String {
        let mut spread = Spread::new(
            &timed(61_000_000_000, 15_000_000_000),
            ExitStatus::default(),
        );
        for &(migrating, status) in further {
            spread.add(Again {
                status: ExitStatus::from_raw(status),
                timed: (migrating > 0).then(|| timed(migrating, 15_000_000_000)),
            });
        }
        spread.text()
    }

    #[test]
    fn lowest_and_highest_are_told() {
        assert_eq!(
            spread(&[(62_200_000_000, 0), (60_730_000_000, 0)]),
            " Spread over 3 runs: 60.73 to 62.20 ms with migration (2.4 %), 15.00 ms without (0.0 %)\n"
        );
    }

    #[test]
    fn what_differs_is_not_called_the_same() {
        let text = spread(&[(61_000_000_001, 0)]);
        assert!(
            text.contains(" 61.00 ms with migration (less than 0.1 %)"),
            "{text}"
        );
        assert_eq!(range(&[999_000_000, 1_001_000_000]), "999.0 us to 1.001 ms");
        assert_eq!(relative(&[0, 0]), "0.0 %");
    }

    #[test]
    fn runs_that_do_not_count_are_told() {
        let text = spread(&[(0, 9), (61_000_000_000, 256), (61_000_000_000, 0)]);
        assert!(text.contains("Spread over 3 runs: 61.00 ms"), "{text}");
        assert!(
            text.contains("\n 1 further run left no prediction.\n"),
            "{text}"
        );
        assert!(text.contains("\n 1 further run ended otherwise"), "{text}");
        assert_eq!(
            spread(&[(0, 0), (0, 0)]),
            " 2 further runs left no prediction.\n"
        );
    }

    #[test]
    fn only_what_is_not_exact_has_a_spread() {
        let threads = |threads, ordered| {
            hint(&Timed {
                threads,
                ordered,
                ..Timed::default()
            })
        };
        assert_eq!(threads(1, false), None);
        assert_eq!(threads(2, true), None);
        assert!(threads(2, false).is_some_and(|text| text.contains("-r 5")));
    }
}
