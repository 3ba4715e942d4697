//! Figure 5: messages to receivers that do not run, and their answers; and messages in a row for one of them.
use std::fmt::Write as _;

use super::round_trips::RoundTrips;
use crate::markdown;
use crate::nanvix::Samples;
use crate::paper::Check;

/// The project's bar: a forwarded round trip takes at most so many switches, and calls of the kernel.
const SWITCHES: f64 = 2.0;
const CALLS: f64 = 3.0;
/// Messages in a row for a receiver, at most.
const MOST_QUEUED: u32 = 8;

const CALL: &str = "call";
const CORE: &str = "core";
/// Receivers.
const RECEIVERS: [&str; 3] = ["stream accelerator", "request accelerator", CORE];

/// What was measured on a machine.
pub struct Suspended {
    pub machine: &'static str,
    /// Accelerators, and queues.
    pub accelerators: Samples,
    /// A core.
    pub core: Samples,
}

/// Cycles of a receiver.
struct Trip {
    forwarded: f64,
    /// What the bar is made of.
    switch: f64,
    call: f64,
}

impl Trip {
    fn most(&self) -> f64 {
        SWITCHES * self.switch + CALLS * self.call
    }
}

impl Suspended {
    fn mean(&self, name: &str, queued: u32) -> Option<f64> {
        let samples = if name.starts_with(CORE) {
            &self.core
        } else {
            &self.accelerators
        };
        samples.get(name, queued).map(|spread| spread.mean)
    }

    /// A switch of an accelerator is that of an activity that starts and answers a message, without the call that
    /// starts it and without the answer.
    fn trip(&self, receiver: &str, running: &RoundTrips) -> Option<Trip> {
        let call = self.mean(CALL, 1)?;
        let switch = match receiver {
            CORE => running.switch()?,
            _ => {
                let start = self.mean(&format!("start {receiver}"), 1)?;
                start - call - running.own(receiver)? / 2.0
            }
        };
        let forwarded = self.mean(&format!("{receiver} suspended"), 1)?;
        Some(Trip {
            forwarded,
            switch,
            call,
        })
    }

    /// The bars.
    pub fn checks(&self, running: &RoundTrips) -> Vec<Check> {
        let check = |receiver| {
            let trip = self.trip(receiver, running)?;
            Some(Check {
                name: format!("{}: forwarded round trip, {receiver}, cycles", self.machine),
                got: format!("{:.0}", trip.forwarded),
                wanted: format!("≤ {:.0}", trip.most()),
                held: trip.forwarded <= trip.most(),
            })
        };
        RECEIVERS.into_iter().filter_map(check).collect()
    }

    /// Of messages in a row: cycles of one, and how many of a hundred the kernel did not have to take.
    fn queue(&self, queued: u32) -> Option<(f64, f64)> {
        let of = |what| self.mean(&format!("queue {what}"), queued);
        let (messages, forwarded) = (of("messages")?, of("forwarded")?);
        Some((of("cycles")?, 100.0 * (1.0 - forwarded / messages)))
    }
}

/// Tables of all machines: cycles of the core.
pub fn section(all: &[(&Suspended, &RoundTrips)]) -> String {
    let mut text = String::from(
        "\n## Figure 5: round trips to receivers without a turn, cycles of the core\n\n",
    );
    let titles = [
        "machine",
        "receiver",
        "forwarded",
        "a switch",
        "a call",
        "running",
        "forwarded / running",
    ];
    let mut lines = vec![titles.map(String::from).to_vec()];
    for (suspended, running) in all {
        for receiver in RECEIVERS {
            let trip = suspended.trip(receiver, running);
            let own = running.own(receiver);
            let ratio = trip
                .as_ref()
                .zip(own)
                .map(|(trip, own)| trip.forwarded / own);
            lines.push(vec![
                suspended.machine.to_owned(),
                receiver.to_owned(),
                markdown::figure(trip.as_ref().map(|trip| trip.forwarded), 0),
                markdown::figure(trip.as_ref().map(|trip| trip.switch), 0),
                markdown::figure(trip.as_ref().map(|trip| trip.call), 0),
                markdown::figure(own, 0),
                markdown::figure(ratio, 1),
            ]);
        }
    }
    text.push_str(&markdown::table(&lines));
    text.push_str(
        "\n### Messages in a row for an accelerator of requests without a turn\n\n\
         The first one is forwarded, and its receiver gets its turn. The others go directly then.\n\n",
    );
    let mut lines = vec![vec!["messages".to_owned()]];
    for (suspended, _) in all {
        lines[0].push(format!("{}: cycles of one", suspended.machine));
        lines[0].push("forwards avoided, %".into());
    }
    for queued in 1..=MOST_QUEUED {
        let mut line = vec![queued.to_string()];
        for (suspended, _) in all {
            let queue = suspended.queue(queued);
            line.push(markdown::figure(queue.map(|(cycles, _)| cycles), 0));
            line.push(markdown::figure(queue.map(|(_, avoided)| avoided), 0));
        }
        lines.push(line);
    }
    text.push_str(&markdown::table(&lines));
    text
}

/// The same for other programs.
pub fn csv(all: &[(&Suspended, &RoundTrips)]) -> String {
    let mut csv = String::from("machine,measure,queued,value\n");
    for (suspended, running) in all {
        let machine = suspended.machine;
        for receiver in RECEIVERS {
            if let Some(trip) = suspended.trip(receiver, running) {
                // Writing to a string does not fail.
                let _ = writeln!(
                    csv,
                    "{machine},{receiver} forwarded,1,{:.1}",
                    trip.forwarded
                );
                let _ = writeln!(csv, "{machine},{receiver} switch,1,{:.1}", trip.switch);
            }
        }
        for queued in 1..=MOST_QUEUED {
            if let Some((cycles, avoided)) = suspended.queue(queued) {
                let _ = writeln!(csv, "{machine},queue cycles,{queued},{cycles:.1}");
                let _ = writeln!(csv, "{machine},forwards avoided,{queued},{avoided:.1}");
            }
        }
    }
    csv
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::round_trips;
    use super::*;

    /// Forwarded round trips of so many times what they may take.
    pub fn both(slow: f64) -> [Suspended; 2] {
        round_trips::tests::both(1.0).map(|running| {
            let (call, switch) = (900.0, 8000.0);
            let mut text = format!("measure,threads,repetition,cycles\n{CALL},1,0,{call}\n");
            for receiver in RECEIVERS.into_iter().filter(|name| *name != CORE) {
                let start = switch + call + running.own(receiver).unwrap() / 2.0;
                let _ = writeln!(text, "start {receiver},1,0,{start}");
                let most = (SWITCHES * switch + CALLS * call) * slow - 1.0;
                let _ = writeln!(text, "{receiver} suspended,1,0,{most}");
            }
            for queued in 1..=MOST_QUEUED {
                let _ = writeln!(text, "queue cycles,{queued},0,100");
                let _ = writeln!(text, "queue messages,{queued},0,64");
                let _ = writeln!(text, "queue forwarded,{queued},0,{}", 64 / queued);
            }
            let most = (SWITCHES * running.switch().unwrap() + CALLS * call) * slow - 1.0;
            let core = format!("measure,threads,repetition,cycles\ncore suspended,1,0,{most}\n");
            Suspended {
                machine: running.machine,
                accelerators: Samples::migration(&text).unwrap(),
                core: Samples::migration(&core).unwrap(),
            }
        })
    }

    #[test]
    fn quick_forwards_hold_the_bars_and_slow_ones_miss_them() {
        for (slow, is_held) in [(1.0, true), (1.1, false)] {
            for (suspended, running) in both(slow).iter().zip(&round_trips::tests::both(1.0)) {
                let all = suspended.checks(running);
                assert_eq!(all.len(), 3);
                assert!(all.iter().all(|check| check.held == is_held), "{all:?}");
                assert_eq!(suspended.queue(4), Some((100.0, 75.0)));
            }
        }
    }
}
