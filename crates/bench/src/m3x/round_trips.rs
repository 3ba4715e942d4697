//! Figure 5: messages and their answers, without a switch of the receiver.
use std::fmt::Write as _;

use super::is_pcie;
use crate::markdown;
use crate::nanvix::Samples;
use crate::paper::Check;

/// Cycles of the core in a nanosecond.
const CLOCK: f64 = 3.0;
/// Nanoseconds of a link, and of the one to the accelerators.
const NEAR: f64 = 10.0;
const PCIE: f64 = 510.0;
/// The project's bars: cycles of a round trip beyond the links; switches of a core-local one.
const BEYOND: f64 = 300.0;
const SWITCHES: f64 = 2.0;

const CORE: &str = "core";
const LOCAL: &str = "core-local";
const SWITCH: &str = "switch";
/// What is measured, and whether it is by the core's own bank of the unit.
const ROWS: [(&str, bool); 6] = [
    ("stream accelerator", true),
    ("request accelerator", true),
    (CORE, true),
    ("stream accelerator by calls", false),
    (LOCAL, false),
    (SWITCH, false),
];

/// What was measured on a machine.
pub struct RoundTrips {
    pub machine: &'static str,
    /// Without a kernel.
    pub own: Samples,
    /// By calls of the kernel.
    pub calls: Samples,
}

impl RoundTrips {
    fn mean(&self, (name, is_own): (&str, bool)) -> Option<f64> {
        let samples = if is_own { &self.own } else { &self.calls };
        samples.get(name, 1).map(|spread| spread.mean)
    }

    /// Cycles of a switch between two threads.
    pub fn switch(&self) -> Option<f64> {
        self.mean((SWITCH, false))
    }

    /// Nanoseconds of the link to a receiver.
    fn link(&self, name: &str) -> f64 {
        match is_pcie(self.machine) && name != CORE {
            true => PCIE,
            false => NEAR,
        }
    }

    /// The bars.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = Vec::new();
        for row in ROWS.into_iter().filter(|(_, is_own)| *is_own) {
            let most = 2.0 * self.link(row.0) * CLOCK + BEYOND;
            if let Some(cycles) = self.mean(row) {
                all.push(Check {
                    name: format!("{}: round trip, {}, cycles", self.machine, row.0),
                    got: format!("{cycles:.0}"),
                    wanted: format!("≤ {most:.0}"),
                    held: cycles <= most,
                });
            }
        }
        let local = self.mean((LOCAL, false)).zip(self.mean((SWITCH, false)));
        if let Some((cycles, switch)) = local {
            let switches = cycles / switch;
            all.push(Check {
                name: format!("{}: core-local round trip, switches", self.machine),
                got: format!("{switches:.1}"),
                wanted: format!("< {SWITCHES:.0}"),
                held: switches < SWITCHES,
            });
        }
        all
    }
}

/// A table of all machines: cycles of the core.
pub fn section(all: &[RoundTrips]) -> String {
    let mut text =
        String::from("\n## Figure 5: round trips to receivers that run, cycles of the core\n\n");
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(all.iter().map(|trips| trips.machine.to_owned()));
    for row in ROWS {
        let mut line = vec![row.0.to_owned()];
        line.extend(all.iter().map(|trips| markdown::figure(trips.mean(row), 0)));
        lines.push(line);
    }
    text.push_str(&markdown::table(&lines));
    text
}

/// The same for other programs.
pub fn csv(all: &[RoundTrips]) -> String {
    let mut csv = String::from("machine,measure,cycles\n");
    for trips in all {
        for row in ROWS {
            if let Some(cycles) = trips.mean(row) {
                // Writing to a string does not fail.
                let _ = writeln!(csv, "{},{},{cycles:.1}", trips.machine, row.0);
            }
        }
    }
    csv
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Round trips of so many times what they may take.
    pub fn both(slow: f64) -> [RoundTrips; 2] {
        super::super::MACHINES.map(|machine| {
            let mut trips = RoundTrips {
                machine,
                own: Samples::default(),
                calls: Samples::default(),
            };
            let text = |is_own: bool| {
                let mut text = String::from("measure,threads,repetition,cycles\n");
                for (name, _) in ROWS.into_iter().filter(|row| row.1 == is_own) {
                    let cycles = match name {
                        LOCAL => 1900.0 * slow,
                        SWITCH => 1000.0,
                        _ => (2.0 * trips.link(name) * CLOCK + BEYOND - 1.0) * slow,
                    };
                    let _ = writeln!(text, "{name},1,0,{cycles}");
                }
                text
            };
            let (own, calls) = (text(true), text(false));
            trips.own = Samples::migration(&own).unwrap();
            trips.calls = Samples::migration(&calls).unwrap();
            trips
        })
    }

    #[test]
    fn quick_round_trips_hold_the_bars_and_slow_ones_miss_them() {
        for (slow, is_held) in [(1.0, true), (1.1, false)] {
            for trips in both(slow) {
                let all = trips.checks();
                assert_eq!(all.len(), 4);
                assert!(all.iter().all(|check| check.held == is_held), "{all:?}");
            }
        }
    }
}
