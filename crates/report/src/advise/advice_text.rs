//! Advice for people.
use std::fmt::Write as _;
use std::path::Path;

use flick_events::number::{bytes, counted, grouped};
use flick_events::profile::{AMBIGUOUS, Runs};
use flick_events::timed::{Timed, duration};
use flick_names::Demangle;

use super::advice::{Advice, Group, Place};
use super::model::{Bound, Node};
use super::proposal::Proposal;
use super::reasons_to_stay::why_nothing;
use crate::source_lines::Lines;

/// Functions that are named for their accesses.
const MOST: usize = 3;
/// Of the whole time: what a function must take for a line of its own.
const SHOWN: f64 = 0.01;

struct Writer<'a> {
    proposal: &'a Proposal,
    advice: &'a Advice,
    timed: &'a Timed,
    demangle: Demangle,
    lines: Lines,
    out: String,
}

/// What becomes of the advice.
#[derive(Clone, Copy, Debug)]
pub enum Foot<'a> {
    /// It is in a placement file.
    Written(&'a Path),
    /// It is tried now.
    Tried,
    /// There is none.
    Nothing,
}

pub fn text(
    proposal: &Proposal,
    timed: &Timed,
    command: &str,
    foot: Foot<'_>,
    demangle: Demangle,
) -> String {
    let advice = &proposal.advice;
    let mut writer = Writer {
        proposal,
        advice,
        timed,
        demangle,
        lines: Lines::default(),
        out: String::new(),
    };
    writer.head(command);
    writer.data();
    for group in &advice.groups {
        writer.group(group);
    }
    writer.threads();
    writer.functions();
    writer.foot(foot);
    writer.out
}

/// A function of the profile, and its line in the source.
fn named(timed: &Timed, demangle: Demangle, lines: &mut Lines, at: usize) -> String {
    let function = &timed.profile.functions[at];
    let name = demangle.apply(&function.name).into_owned();
    match lines.of(&function.module, function.offset) {
        Some(place) => format!("{name} ({place})"),
        None => name,
    }
}

/// To the digits that are shown.
fn is_equal(before: u64, time: u64) -> bool {
    (0.995..1.005).contains(&(before.max(1) as f64 / time.max(1) as f64))
}

/// `1.12x faster than with nothing placed`
pub fn against(before: u64, time: u64) -> String {
    let ratio = before.max(1) as f64 / time.max(1) as f64;
    if is_equal(before, time) {
        "no difference".to_owned()
    } else if ratio >= 1.0 {
        format!("{ratio:.2}x faster than with nothing placed")
    } else {
        format!("{:.2}x slower than with nothing placed", 1.0 / ratio)
    }
}

impl Writer<'_> {
    /// The program with nothing placed comes first: the other times are compared with it.
    fn head(&mut self, command: &str) {
        let &Proposal {
            before,
            as_is,
            advised,
            ..
        } = self.proposal;
        let remark = match (self.proposal.changes(), self.timed.about_data().is_empty()) {
            // Where it is the same as with nothing placed, the gain is over the run as it is.
            (true, _) if is_equal(before, advised) => {
                format!(
                    "{:.2}x faster than as it is",
                    as_is as f64 / advised.max(1) as f64
                )
            }
            (true, _) => against(before, advised),
            (false, true) => "nothing to gain by moving functions".to_owned(),
            (false, false) => {
                "nothing to gain by moving functions, with the data where it is".to_owned()
            }
        };
        let _ = writeln!(
            self.out,
            "\n Advice for {command} on {}:\n\n {:>20}  with nothing placed\n {:>20}  as it is           # {}\n {:>20}  as advised         # {remark}",
            self.timed.platform,
            duration(before),
            duration(as_is),
            against(before, as_is),
            duration(advised),
        );
        let mut lines = std::mem::take(&mut self.lines);
        let name = |at: usize| named(self.timed, self.demangle, &mut lines, at);
        let why = why_nothing(self.proposal, self.timed, name);
        self.lines = lines;
        if !why.is_empty() {
            self.out.push('\n');
        }
        for line in why {
            let _ = writeln!(self.out, " {line}");
        }
    }

    /// What the two times say nothing about, and where most of it is.
    fn data(&mut self) {
        let about = self.timed.about_data();
        let own = self.timed.about_own_memory();
        if !(about.is_empty() && own.is_empty()) {
            self.out.push('\n');
        }
        for line in own.iter().chain(&about) {
            let _ = writeln!(self.out, " {line}");
        }
        if about.is_empty() {
            return;
        }
        let functions = &self.timed.profile.functions;
        let mut most: Vec<usize> = (0..functions.len())
            .filter(|&at| functions[at].remote > 0)
            .collect();
        most.sort_by_key(|&at| std::cmp::Reverse(functions[at].remote));
        let most: Vec<String> = most
            .into_iter()
            .take(MOST)
            .map(|at| {
                format!(
                    "{} ({})",
                    self.name(at),
                    grouped(self.timed.profile.functions[at].remote)
                )
            })
            .collect();
        let _ = writeln!(self.out, " Most of them: {}.", most.join(", "));
    }

    /// What the model does not know.
    fn threads(&mut self) {
        if self.timed.threads > 1 && !self.advice.groups.is_empty() {
            let _ = writeln!(
                self.out,
                "\n {} threads: their times are added up, and waiting for an NxP core is not foreseen. flick stat tells.",
                self.timed.threads
            );
        }
    }

    fn name(&mut self, at: usize) -> String {
        named(self.timed, self.demangle, &mut self.lines, at)
    }

    /// What happens to a group, and what that gains.
    fn group(&mut self, group: &Group) {
        let _ = writeln!(
            self.out,
            "\n {:>20}  gained, if you move",
            duration(group.gain as u64)
        );
        for &(node, to_nxp) in &group.moves {
            let at = self.advice.model.nodes[node].function;
            let function = &self.timed.profile.functions[at];
            let (from, to, side) = match to_nxp {
                true => (function.host, function.nxp, "to the NxP"),
                false => (function.nxp, function.host, "back to the host"),
            };
            let calls = counted(function.calls, "call");
            let name = self.name(at);
            let _ = writeln!(
                self.out,
                " {:>20}  {name} {side}: {calls}, {} -> {} of its own",
                "",
                duration(from),
                duration(to),
            );
        }
        if group
            .moves
            .iter()
            .any(|&(node, _)| self.advice.goes_with_heap(node))
        {
            let _ = writeln!(
                self.out,
                " {:>20}  what they allocate with malloc (up to {}) is in the host's memory then, where it is without Flick",
                "",
                bytes(self.timed.allocated)
            );
        }
        let crossings = |on_nxp: &[bool]| self.advice.model.crossings(on_nxp);
        let mut without = self.advice.on_nxp.clone();
        for &(node, to_nxp) in &group.moves {
            without[node] = !to_nxp;
        }
        let _ = writeln!(
            self.out,
            " {:>20}  calls that cross: {} -> {}",
            "",
            grouped(crossings(&without) as u64),
            grouped(crossings(&self.advice.on_nxp) as u64)
        );
    }

    /// A line for each function that takes time: what it takes where, and why it is or stays there.
    fn functions(&mut self) {
        let mut shown: Vec<(usize, f64)> = Vec::new();
        for (at, node) in self.advice.model.nodes.iter().enumerate() {
            let Some(function) = self.timed.profile.functions.get(node.function) else {
                continue;
            };
            let time = match node.on_nxp {
                true => function.nxp,
                false => function.host,
            };
            if time as f64 >= self.advice.now * SHOWN {
                shown.push((at, time as f64));
            }
        }
        shown.sort_by(|a, b| b.1.total_cmp(&a.1));
        let _ = writeln!(
            self.out,
            "\n {:>12} {:>12} {:>14} {:>14} {:>14}  function",
            "on host", "on NxP", "calls", "to NxP memory", "to host memory"
        );
        for (at, _) in shown {
            let node = &self.advice.model.nodes[at];
            let name = self.name(node.function);
            let function = &self.timed.profile.functions[node.function];
            let known = |show: bool, text: String| if show { text } else { "-".to_owned() };
            let code = function.runs != Runs::Library;
            let _ = writeln!(
                self.out,
                " {:>12} {:>12} {:>14} {:>14} {:>14}  {name}: {}",
                duration(function.host),
                known(code, duration(function.nxp)),
                grouped(function.calls),
                known(code, grouped(function.local)),
                known(function.runs == Runs::Host, grouped(function.remote)),
                self.why(at, node),
            );
        }
    }

    fn why(&self, at: usize, node: &Node) -> String {
        let mut small = self.advice.small();
        if let Some((_, place)) = small.find(|(small, _)| small.function == at) {
            return match place {
                Place::Both => "small, on both sides".to_owned(),
                _ => "small, goes with what calls it".to_owned(),
            };
        }
        if self.advice.is_small(at) {
            return "small, goes with what calls it".to_owned();
        }
        let there = self.advice.on_nxp[at];
        let function = &self.timed.profile.functions[node.function];
        match &node.bound {
            Some(Bound::Library) => "on the host, a library's".to_owned(),
            Some(Bound::Entry) if function.nxp < function.host => {
                "on the host, where the program begins: its loops could move as functions of their own"
                    .to_owned()
            }
            Some(Bound::Entry) => "on the host, where the program begins".to_owned(),
            Some(Bound::Refused(code)) if code == AMBIGUOUS => {
                "on the host: several functions have this name, and a placement file cannot tell them apart"
                    .to_owned()
            }
            Some(Bound::Heap) if there => "stays on the NxP".to_owned(),
            Some(Bound::Heap) if node.on_nxp => "moves back to the host, with what it allocates or uses".to_owned(),
            Some(Bound::Heap) => "on the host, uses what others have allocated".to_owned(),
            Some(Bound::Refused(code)) => {
                format!("on the host, cannot be placed (flick explain {code})")
            }
            None => match (node.on_nxp, there) {
                (false, false) => "stays on the host".to_owned(),
                (true, true) => "stays on the NxP".to_owned(),
                (false, true) => "moves to the NxP".to_owned(),
                (true, false) => "moves back to the host".to_owned(),
            },
        }
    }

    fn foot(&mut self, foot: Foot<'_>) {
        match foot {
            Foot::Written(path) => {
                let path = path.display();
                let _ = writeln!(
                    self.out,
                    "\n The placement is in {path}: build with flick cc --flick-place={path}, and look again.\n"
                );
            }
            Foot::Tried => {}
            Foot::Nothing => self.out.push_str("\n No placement file is written.\n\n"),
        }
    }
}
