//! Figure 5: round trips between programs of two core tiles, of which the receiver's core is another thread's or not.
use std::fmt::Write as _;

use super::round_trips::RoundTrips;
use crate::markdown;
use crate::nanvix::Samples;
use crate::paper::Check;

const RUNS: &str = "core by calls";
const SUSPENDED: &str = "suspended core";
const CALL: &str = "system call by message";
/// Messages at once to a receiver that does not run.
const QUEUES: [u32; 4] = [1, 2, 4, 8];
/// The project's bar: a receiver that is suspended takes at most so many switches and system calls.
const SWITCHES: f64 = 2.0;
const CALLS: f64 = 3.0;

/// What was measured on a machine.
pub struct CoreTrips {
    pub machine: &'static str,
    pub samples: Samples,
    /// The same where the root decides on switches.
    pub by_root: Samples,
}

impl CoreTrips {
    fn mean(&self, name: &str, messages: u32) -> Option<f64> {
        let spread = self.samples.get(name, messages);
        spread.map(|spread| spread.mean)
    }

    /// What a switch takes more if the root decides on it.
    fn beyond_kernel(&self) -> Option<f64> {
        let by_root = self.by_root.get(SUSPENDED, 1)?.mean;
        Some(by_root - self.mean(SUSPENDED, 1)?)
    }

    /// What it takes more if the receiver's core has another thread.
    fn beyond(&self, messages: u32) -> Option<f64> {
        let suspended = self.mean(SUSPENDED, messages)?;
        Some(suspended - self.mean(RUNS, messages)?)
    }

    /// The bar, with a switch as the other programs have measured it.
    pub fn checks(&self, trips: &[RoundTrips]) -> Vec<Check> {
        let mut trips = trips.iter();
        let switch = trips.find(|trips| trips.machine == self.machine);
        let switch = switch.and_then(RoundTrips::switch);
        let all = (|| {
            let most = SWITCHES * switch? + CALLS * self.mean(CALL, 1)?;
            let cycles = self.mean(SUSPENDED, 1)?;
            Some(Check {
                name: format!("{}: round trip, suspended core, cycles", self.machine),
                got: format!("{cycles:.0}"),
                wanted: format!("≤ 2 switches + 3 system calls: {most:.0}"),
                held: cycles <= most,
            })
        })();
        all.into_iter().collect()
    }
}

/// Names and messages of the rows.
fn rows() -> impl Iterator<Item = (&'static str, u32)> {
    let running = [(CALL, 1), (RUNS, 1), (RUNS, 8)];
    let suspended = QUEUES.map(|messages| (SUSPENDED, messages));
    running.into_iter().chain(suspended)
}

/// A table of all machines: cycles of the core.
pub fn section(all: &[CoreTrips]) -> String {
    let mut text =
        String::from("\n### Programs of two core tiles, cycles for all messages of a row\n\n");
    let mut lines = vec![vec![String::new(), "messages".to_owned()]];
    lines[0].extend(all.iter().map(|trips| trips.machine.to_owned()));
    for (name, messages) in rows() {
        let mut line = vec![name.to_owned(), messages.to_string()];
        let cycles = all.iter().map(|trips| trips.mean(name, messages));
        line.extend(cycles.map(|cycles| markdown::figure(cycles, 0)));
        lines.push(line);
    }
    for messages in [1, 8] {
        let mut line = vec!["for the switch".to_owned(), messages.to_string()];
        let cycles = all.iter().map(|trips| trips.beyond(messages));
        line.extend(cycles.map(|cycles| markdown::figure(cycles, 0)));
        lines.push(line);
    }
    let mut line = vec!["and if the root decides on it".to_owned(), "1".to_owned()];
    let cycles = all.iter().map(CoreTrips::beyond_kernel);
    line.extend(cycles.map(|cycles| markdown::figure(cycles, 0)));
    lines.push(line);
    text.push_str(&markdown::table(&lines));
    text
}

/// The same for other programs.
pub fn csv(all: &[CoreTrips]) -> String {
    let mut csv = String::from("machine,measure,messages,cycles\n");
    for trips in all {
        for (name, messages) in rows() {
            if let Some(cycles) = trips.mean(name, messages) {
                // Writing to a string does not fail.
                let _ = writeln!(csv, "{},{name},{messages},{cycles:.1}", trips.machine);
            }
        }
        if let Some(spread) = trips.by_root.get(SUSPENDED, 1) {
            let (machine, cycles) = (trips.machine, spread.mean);
            let _ = writeln!(csv, "{machine},{SUSPENDED} by the root,1,{cycles:.1}");
        }
    }
    csv
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As [`super::super::round_trips::tests::both`], where a switch takes 1,000 cycles.
    pub fn both(slow: f64) -> [CoreTrips; 2] {
        super::super::MACHINES.map(|machine| {
            let mut text = String::from("measure,threads,repetition,cycles\n");
            for (name, messages) in rows() {
                let cycles = match name {
                    CALL => 500.0,
                    RUNS => 300.0 * f64::from(messages),
                    _ => 3490.0 * slow + 10.0 * f64::from(messages),
                };
                let _ = writeln!(text, "{name},{messages},0,{cycles}");
            }
            CoreTrips {
                machine,
                samples: Samples::migration(&text).unwrap(),
                by_root: Samples::migration(&text).unwrap(),
            }
        })
    }

    #[test]
    fn one_switch_serves_all_messages_and_too_many_miss_the_bar() {
        let trips = super::super::round_trips::tests::both(1.0);
        for (slow, is_held) in [(1.0, true), (1.1, false)] {
            for core in both(slow) {
                let all = core.checks(&trips);
                assert_eq!(all.len(), 1);
                assert_eq!(all[0].held, is_held, "{all:?}");
            }
        }
        let text = section(&both(1.0));
        let switch = text.lines().rfind(|line| line.contains("for the switch"));
        let cells: Vec<_> = switch.unwrap().split('|').map(str::trim).collect();
        assert_eq!(cells, ["", "for the switch", "8", "1170", "1170", ""]);
        assert_eq!(csv(&both(1.0)).lines().count(), 1 + 2 * 8);
    }
}
