//! Switches between activities of accelerators at the end of their slices: chains that share their accelerators, beside
//! one chain after the other.
use std::fmt::Write as _;

use super::image_chain::ChainTimes;
use super::is_pcie;
use crate::markdown;
use crate::paper::Check;

/// The slice of the bars, in milliseconds, and what it may cost: the project's bars, on the chip and behind PCIe.
const SLICE: u32 = 4;
const MOST: [f64; 2] = [0.005, 0.015];
/// The paper's (section 7.6).
const PAPER: [f64; 2] = [0.009, 0.029];

/// What was measured on a machine.
pub struct Switches {
    pub machine: &'static str,
    /// By milliseconds of a slice.
    pub slices: Vec<(u32, ChainTimes)>,
}

impl Switches {
    /// By numbers of chains: how much longer they take than one after the other.
    fn costs(times: &ChainTimes) -> Vec<(u32, f64)> {
        let all = times.milliseconds();
        let one = all.first().map_or(f64::NAN, |&(_, one)| one);
        let more = all.iter().skip(1);
        more.map(|&(chains, time)| (chains, time / (f64::from(chains) * one) - 1.0))
            .collect()
    }

    /// The bar, for the most chains.
    pub fn checks(&self) -> Vec<Check> {
        let place = usize::from(is_pcie(self.machine));
        let of = self.slices.iter().filter(|(slice, _)| *slice == SLICE);
        let last = of.filter_map(|(_, times)| Self::costs(times).last().copied());
        let check = |(chains, cost): (u32, f64)| Check {
            name: format!(
                "{}: {chains} chains in slices of {SLICE} ms beside one after the other (paper: {:.1} %)",
                self.machine,
                PAPER[place] * 100.0
            ),
            got: format!("{:+.2} %", cost * 100.0),
            wanted: format!("≤ {:.1} %", MOST[place] * 100.0),
            held: cost <= MOST[place],
        };
        last.map(check).collect()
    }
}

/// A table of all machines.
pub fn section(all: &[Switches]) -> String {
    let mut text = String::from(
        "\n## Chains that share their accelerators in slices: time beside one after the other, %\n\n",
    );
    let mut lines = vec![
        ["machine", "slice, ms", "2 chains", "3 chains", "4 chains"]
            .map(String::from)
            .to_vec(),
    ];
    for switches in all {
        for (slice, times) in &switches.slices {
            let costs = Switches::costs(times);
            let mut line = vec![switches.machine.to_owned(), slice.to_string()];
            line.extend([2, 3, 4].map(|chains| {
                let cost = costs.iter().find(|(count, _)| *count == chains);
                markdown::figure(cost.map(|(_, cost)| cost * 100.0), 2)
            }));
            lines.push(line);
        }
    }
    text.push_str(&markdown::table(&lines));
    text
}

/// The same for other programs.
pub fn csv(all: &[Switches]) -> String {
    let mut csv = String::from("machine,slice,chains,cost\n");
    for switches in all {
        for (slice, times) in &switches.slices {
            for (chains, cost) in Switches::costs(times) {
                // Writing to a string does not fail.
                let _ = writeln!(csv, "{},{slice},{chains},{cost:.5}", switches.machine);
            }
        }
    }
    csv
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Chains of which each takes so many times what it may beside others.
    pub fn both(slow: f64) -> [Switches; 2] {
        super::super::MACHINES.map(|machine| {
            let most = MOST[usize::from(is_pcie(machine))] * slow * 0.99;
            let mut text = String::from("chains,blocks,repetition,ticks,cycles,waited,requests\n");
            for chains in [1.0, 4.0] {
                let ticks = 1000.0 * chains * if chains > 1.0 { 1.0 + most } else { 1.0 };
                let _ = writeln!(text, "{chains},2048,0,{ticks},100,50,20");
            }
            let slices = vec![(SLICE, ChainTimes::parse(&text).unwrap())];
            Switches { machine, slices }
        })
    }

    #[test]
    fn cheap_switches_hold_the_bars_and_dear_ones_miss_them() {
        for (slow, is_held) in [(1.0, true), (1.1, false)] {
            for switches in both(slow) {
                let all = switches.checks();
                assert_eq!(all.len(), 1);
                assert_eq!(all[0].held, is_held, "{all:?}");
            }
        }
    }
}
