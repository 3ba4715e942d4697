//! Figures 9 and 10: chains of FFT, multiplication and inverse FFT over images of 4 MiB.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::markdown;
use crate::paper::{Check, Curves, Plot, cells, number, plot_files, within};

/// What runs on the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program of the card's kernel.
    OfKernel(&'static str),
    /// Firmware: the core's bank of the unit is its own, as that of a program of M3x.
    Bare(&'static str),
}

/// How chains are driven.
pub struct ChainMode {
    /// For people.
    pub name: &'static str,
    /// A part of names of files.
    pub file: &'static str,
    pub program: Program,
    /// Of each accelerator.
    pub buffers: u32,
    /// The program reads and writes the files, in place of the last accelerator.
    pub has_files: bool,
}

const AUTONOMOUS: usize = 0;
const TWO_BUFFERS: usize = 1;
const ASSISTED: usize = 2;

const fn mode(name: &'static str, file: &'static str, program: Program, buffers: u32) -> ChainMode {
    ChainMode {
        name,
        file,
        program,
        buffers,
        has_files: false,
    }
}

/// All of them.
pub const CHAIN_MODES: [ChainMode; 7] = {
    let [autonomous, assisted] = [
        Program::OfKernel("autonomous"),
        Program::OfKernel("assisted"),
    ];
    let bare = Program::Bare("assisted_bare");
    [
        mode("autonomous", "autonomous", autonomous, 1),
        mode("autonomous, two buffers", "autonomous-two", autonomous, 2),
        mode("assisted", "assisted", bare, 1),
        mode("assisted, pipelined", "assisted-two", bare, 2),
        ChainMode {
            has_files: true,
            ..mode("assisted, files by the program", "files", bare, 1)
        },
        mode("assisted by calls", "calls", assisted, 1),
        mode("assisted by calls, pipelined", "calls-two", assisted, 2),
    ]
};

/// Nanoseconds of the slowest stage for a block (section 7.6: 5,856 cycles of 1 GHz).
const STAGE: f64 = 5856.0;
/// Bytes of a block, of a packet's data, and of a request and its packet.
const BLOCK: f64 = 2048.0;
const PACKET: f64 = 1024.0;
const REQUEST: f64 = 16.0 + 24.0 + 24.0;
/// Bytes in front of a packet's data, and of a confirmation.
const WRITE_HEAD: f64 = 24.0;
const READ_HEAD: f64 = 16.0;
/// Bytes that a link carries in a nanosecond, and nanoseconds of a unit's command.
const WIDTH: f64 = 16.0;
const COMMAND: f64 = 3.0;
/// Nanoseconds of a link on the chip of the accelerators.
const NEAR: f64 = 10.0;
/// Nanoseconds of a tick of the machine's clock.
const TICK: f64 = 100.0;

/// The paper: autonomous over assisted on PCIe, in time and in use of the core; numbers of chains that keep it busy.
const SPEEDUP: f64 = 4.7;
const LESS_USE: f64 = 30.0;
const SATURATED: [u32; 2] = [4, 2];
/// The project's bars: how near these are, and which share of a core is all of it.
const NEAR_PAPER: f64 = 0.15;
const ALL: f64 = 0.99;
const OVER_IDEAL: f64 = 1.05;
const SAME: f64 = 0.01;
const BUSY: f64 = 0.01;
const OVER_STAGE: f64 = 0.03;

/// What a number of chains has taken, as a mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainTime {
    pub blocks: f64,
    pub milliseconds: f64,
    /// The share of the time in which the program's core did not wait.
    pub busy: f64,
    /// Requests to the program.
    pub requests: f64,
}

/// By numbers of chains. The first repetition of each is a warm-up, if there are several.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainTimes(BTreeMap<u32, ChainTime>);

impl ChainTimes {
    /// What the programs print.
    pub fn parse(text: &str) -> Result<Self, String> {
        let header = "chains,blocks,repetition,ticks,cycles,waited,requests";
        let mut all: BTreeMap<u32, Vec<ChainTime>> = BTreeMap::new();
        for [chains, blocks, _, ticks, cycles, waited, requests] in
            cells::<7>(text.lines(), header)?
        {
            let (cycles, waited): (f64, f64) = (number(cycles)?, number(waited)?);
            let ticks: f64 = number(ticks)?;
            all.entry(number(chains)?).or_default().push(ChainTime {
                blocks: number(blocks)?,
                milliseconds: ticks * TICK / 1e6,
                busy: 1.0 - waited / cycles,
                requests: number(requests)?,
            });
        }
        let mean = |rows: &[ChainTime]| {
            let rows = rows
                .get(1..)
                .filter(|rows| !rows.is_empty())
                .unwrap_or(rows);
            let of = |value: fn(&ChainTime) -> f64| {
                rows.iter().map(value).sum::<f64>() / rows.len() as f64
            };
            ChainTime {
                blocks: of(|row| row.blocks),
                milliseconds: of(|row| row.milliseconds),
                busy: of(|row| row.busy),
                requests: of(|row| row.requests),
            }
        };
        let all = all.into_iter();
        Ok(Self(all.map(|(n, rows)| (n, mean(&rows))).collect()))
    }

    fn least_and_most(&self) -> Option<(ChainTime, u32, ChainTime)> {
        let (_, first) = self.0.first_key_value()?;
        let (chains, last) = self.0.last_key_value()?;
        Some((*first, *chains, *last))
    }

    /// By numbers of chains.
    pub fn milliseconds(&self) -> Vec<(u32, f64)> {
        let all = self.0.iter();
        all.map(|(&chains, time)| (chains, time.milliseconds))
            .collect()
    }

    fn points(&self, of: impl Fn(&ChainTime) -> f64) -> Vec<(f64, f64)> {
        let all = self.0.iter();
        all.map(|(&chains, time)| (f64::from(chains), of(time)))
            .collect()
    }
}

/// What was measured on a machine, in the order of the modes.
pub struct Chains {
    pub machine: &'static str,
    pub modes: Vec<ChainTimes>,
}

/// Nanoseconds from a block of a file in the memory to the local memory: a `READ`, of a block's packets.
fn block_read(link: f64) -> f64 {
    let packets = BLOCK / PACKET;
    COMMAND + 2.0 * link + (WRITE_HEAD + packets * (READ_HEAD + PACKET)) / WIDTH
}

/// Those until the next stage has a block and knows it: a `WRITE`, and a message.
fn hand_over() -> f64 {
    let packets = BLOCK / PACKET;
    let write = (packets * (WRITE_HEAD + PACKET) + READ_HEAD) / WIDTH;
    let message = (REQUEST + READ_HEAD) / WIDTH;
    2.0 * (COMMAND + 2.0 * NEAR) + write + message
}

impl Chains {
    fn is_pcie(&self) -> bool {
        super::is_pcie(self.machine)
    }

    /// Nanoseconds of a block, as the bar has it.
    fn ideal(&self) -> f64 {
        let link = if self.is_pcie() { 510.0 } else { NEAR };
        STAGE + block_read(link) + hand_over()
    }

    /// The bars.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = Vec::new();
        let name = |text: &str| format!("{}: {text}", self.machine);
        if let Some((one, chains, many)) = self.modes[AUTONOMOUS].least_and_most() {
            let most = OVER_IDEAL * one.blocks * self.ideal() / 1e6;
            all.push(at_most(
                name("autonomous chain, ms"),
                one.milliseconds,
                most,
                2,
            ));
            all.push(share_of(
                name(&format!("{chains} autonomous chains beside one")),
                many.milliseconds / one.milliseconds - 1.0,
                SAME,
            ));
            all.push(share_of(
                name(&format!("core of the program, {chains} autonomous chains")),
                many.busy,
                BUSY,
            ));
        }
        if let Some((one, ..)) = self.modes[TWO_BUFFERS].least_and_most() {
            let alone = one.blocks * STAGE / 1e6;
            all.push(share_of(
                name("two buffers beside the slowest stage alone"),
                one.milliseconds / alone - 1.0,
                OVER_STAGE,
            ));
        }
        all.extend(self.beside_the_paper());
        all
    }

    /// The assisted mode, as the paper's text has it.
    fn beside_the_paper(&self) -> Vec<Check> {
        let mut all = Vec::new();
        let [autonomous, assisted] = [AUTONOMOUS, ASSISTED].map(|mode| &self.modes[mode].0);
        let name = |text: String| format!("{}: {text}", self.machine);
        let chains = SATURATED[usize::from(self.is_pcie())];
        if let Some(time) = assisted.get(&chains) {
            all.push(Check {
                name: name(format!("core of the program, {chains} assisted chains")),
                got: format!("{:.1} %", time.busy * 100.0),
                wanted: format!("≥ {:.0} %", ALL * 100.0),
                held: time.busy >= ALL,
            });
        }
        let last = |times: &BTreeMap<u32, ChainTime>| times.last_key_value().map(|(_, time)| *time);
        if let (true, Some(own), Some(core)) = (self.is_pcie(), last(autonomous), last(assisted)) {
            let text = name("assisted over autonomous, time".into());
            let times = core.milliseconds / own.milliseconds;
            all.push(within(text, times, SPEEDUP, NEAR_PAPER));
            // The bar of the autonomous mode is stricter than the paper's figure: more is better.
            let (value, least) = (core.busy / own.busy, LESS_USE * (1.0 - NEAR_PAPER));
            all.push(Check {
                name: name("assisted over autonomous, use of the core".into()),
                got: format!("{value:.0}"),
                wanted: format!("≥ {least:.1}"),
                held: value >= least,
            });
        }
        all
    }

    fn figure(&self) -> u32 {
        if self.is_pcie() { 10 } else { 9 }
    }

    /// The table, and plots of times and of shares of the program's core.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let figure = self.figure();
        let mut csv = String::from("mode,chains,ms,busy\n");
        for (mode, times) in CHAIN_MODES.iter().zip(&self.modes) {
            for (chains, time) in &times.0 {
                // Writing to a string does not fail.
                let _ = writeln!(
                    csv,
                    "{},{chains},{:.4},{:.5}",
                    mode.file, time.milliseconds, time.busy
                );
            }
        }
        let mut files = vec![(format!("fig{figure}.csv"), csv.into_bytes())];
        let plot = |below, of: fn(&ChainTime) -> f64| {
            let modes = CHAIN_MODES.iter().zip(&self.modes);
            let curves = modes.map(|(mode, times)| (mode.name.to_owned(), times.points(of)));
            Plot::Curves(Curves::over_counts(
                &format!("Image chains on {}", self.machine),
                below,
                "chains",
                curves.collect(),
            ))
        };
        let times = plot("milliseconds", |time| time.milliseconds);
        let busy = plot("core of the program, % busy", |time| 100.0 * time.busy);
        files.extend(plot_files(&format!("fig{figure}a"), &times));
        files.extend(plot_files(&format!("fig{figure}b"), &busy));
        files
    }

    /// The part of the page.
    pub fn section(&self) -> String {
        let figure = self.figure();
        let mut text = format!(
            "\n## Figure {figure}: image chains on `{}`\n\n",
            self.machine
        );
        for (unit, of) in [
            ("ms", (|time| time.milliseconds) as fn(&ChainTime) -> f64),
            ("core busy, %", |time| 100.0 * time.busy),
            ("messages to the program", |time| time.requests),
        ] {
            let mut lines = vec![vec![format!("chains: {unit}")]];
            lines[0].extend(CHAIN_MODES.iter().map(|mode| mode.name.to_owned()));
            let counts = self.modes.iter().flat_map(|times| times.0.keys());
            let counts: std::collections::BTreeSet<u32> = counts.copied().collect();
            for chains in counts {
                let mut line = vec![chains.to_string()];
                for times in &self.modes {
                    let value = times.0.get(&chains).map(of);
                    line.push(markdown::figure(
                        value,
                        if unit.starts_with('m') && unit.len() > 2 {
                            0
                        } else {
                            2
                        },
                    ));
                }
                lines.push(line);
            }
            text.push_str(&markdown::table(&lines));
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "![Figure {figure}a](fig{figure}a.svg)\n![Figure {figure}b](fig{figure}b.svg)"
        );
        text
    }
}

fn at_most(name: String, value: f64, most: f64, digits: usize) -> Check {
    Check {
        name,
        got: format!("{value:.digits$}"),
        wanted: format!("≤ {most:.digits$}"),
        held: value <= most,
    }
}

fn share_of(name: String, share: f64, most: f64) -> Check {
    Check {
        name,
        got: format!("{:.2} %", share * 100.0),
        wanted: format!("≤ {:.0} %", most * 100.0),
        held: share <= most,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What programs would print if chains took so many times what they may.
    pub fn both(slow: f64) -> [Chains; 2] {
        super::super::MACHINES.map(|machine| {
            let mut chains = Chains {
                machine,
                modes: Vec::new(),
            };
            let ideal = chains.ideal();
            chains.modes = CHAIN_MODES
                .iter()
                .map(|mode| {
                    let block = match (mode.program, mode.buffers) {
                        (Program::OfKernel("autonomous"), 1) => ideal * slow,
                        (Program::OfKernel("autonomous"), _) => STAGE * 1.01 * slow,
                        _ => ideal * SPEEDUP * slow.powi(3),
                    };
                    let mut text =
                        String::from("chains,blocks,repetition,ticks,cycles,waited,requests\n");
                    for count in [1.0, 2.0, 4.0] {
                        let block = block * (1.0 + (slow - 1.0) * count);
                        let ticks = 2048.0 * block / TICK;
                        let cycles = 300.0 * ticks;
                        let full =
                            f64::from(SATURATED[usize::from(super::super::is_pcie(machine))]);
                        let busy = match mode.program {
                            Program::OfKernel("autonomous") => 0.0024 * count * slow.powi(12),
                            _ => 2.0_f64.mul_add(-slow, 3.0) * (count / full).min(1.0),
                        };
                        let waited = cycles * (1.0 - busy);
                        for repetition in 0..2 {
                            let ticks = if repetition == 0 { 1.0 } else { ticks };
                            let _ = writeln!(
                                text,
                                "{count},2048,{repetition},{ticks},{cycles},{waited},20"
                            );
                        }
                    }
                    ChainTimes::parse(&text).unwrap()
                })
                .collect();
            chains
        })
    }

    #[test]
    fn quick_chains_hold_the_bars() {
        for chains in both(1.0) {
            let all = chains.checks();
            assert!(all.iter().all(|check| check.held), "{all:?}");
        }
    }

    #[test]
    fn slow_ones_miss_them() {
        for chains in both(1.3) {
            let all = chains.checks();
            assert!(all.iter().all(|check| !check.held), "{all:?}");
        }
    }

    #[test]
    fn an_ideal_block_is_a_stage_a_read_and_a_hand_over() {
        let [noc, pcie] = both(1.0);
        assert!(
            (noc.ideal() - (5856.0 + 154.5 + 183.0)).abs() < 1.0,
            "{}",
            noc.ideal()
        );
        assert!((pcie.ideal() - noc.ideal() - 1000.0).abs() < 0.01);
    }
}
