//! What ran on the harts of a card: its lines of the record, and its text.
use std::fmt::{self, Formatter};

use flick_names::Demangle;

use crate::Calls;
use crate::lines::{calls, escape, push, unescape};
use crate::number::{counted, grouped};
use crate::timed::duration;

/// The run of a program on a card (`FLICK_BACKEND=card`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The machine's name or file.
    pub machine: String,
    /// Descriptors to the card.
    pub sent: u64,
    /// Descriptors from the card.
    pub received: u64,
    /// Virtual time of the machine in picoseconds, from its start.
    pub time: u64,
    /// All harts, in the machine's order.
    pub harts: Vec<CardHart>,
    /// Functions, by the harts on which they ran.
    pub ran: Vec<RanOn>,
}

/// A hart of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardHart {
    /// Tile and hart, as in `nxp.hart0`.
    pub name: String,
    /// Instructions of the card's kernel, since it has booted.
    pub firmware: u64,
    /// Instructions of NxP functions.
    pub functions: u64,
}

/// A function on a hart. Its calls are those that began there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RanOn {
    /// The hart, in [`Card::harts`].
    pub hart: usize,
    /// The function, and how many calls began on the hart.
    pub calls: Calls,
    /// Instructions that the function and its NxP callees executed there.
    pub instructions: u64,
    /// How often it left the hart for an instruction that the hart lacks.
    pub moves: u64,
    /// Why its calls began on the hart's tile.
    pub why: OnTile,
}

/// Why a call is on its tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnTile {
    /// It is the machine's first.
    #[default]
    ByDefault,
    /// The thread has chosen it (`flick_prefer`).
    AtRunTime,
    /// The function's mark names it.
    ByMark,
    /// A placement file names it.
    ByPlacement,
    /// It has not begun there, but met an instruction that no hart of its own tile has.
    ForInstruction,
}

impl OnTile {
    const ALL: [Self; 5] = [
        Self::ByDefault,
        Self::AtRunTime,
        Self::ByMark,
        Self::ByPlacement,
        Self::ForInstruction,
    ];

    /// The word of the record, and of the text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ByDefault => "default",
            Self::AtRunTime => "chosen at run time",
            Self::ByMark => "marked",
            Self::ByPlacement => "placement",
            Self::ForInstruction => "for an instruction",
        }
    }
}

/// How keys of the record begin.
pub(crate) const PREFIX: &str = "card";

impl Card {
    pub(crate) fn write(&self, out: &mut String) {
        push(out, format_args!("card {}", escape(&self.machine)));
        let (sent, received, time) = (self.sent, self.received, self.time);
        push(out, format_args!("card-descriptors {sent} {received}"));
        push(out, format_args!("card-time-ps {time}"));
        for hart in &self.harts {
            let (firmware, functions) = (hart.firmware, hart.functions);
            let name = escape(&hart.name);
            push(out, format_args!("card-hart {firmware} {functions} {name}"));
        }
        for ran in &self.ran {
            let (function, module) = (escape(&ran.calls.function), escape(&ran.calls.module));
            push(
                out,
                format_args!(
                    "card-ran {} {} {} {} {function}\t{module}",
                    ran.hart, ran.instructions, ran.moves, ran.calls.count
                ),
            );
            if ran.why != OnTile::default() {
                push(out, format_args!("card-ran-why {}", ran.why as u8));
            }
        }
    }

    /// Takes one line of a record; `None` if its value is not what the key calls for.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "card" => self.machine = unescape(value)?,
            "card-descriptors" => {
                let (sent, received) = value.split_once(' ')?;
                (self.sent, self.received) = (sent.parse().ok()?, received.parse().ok()?);
            }
            "card-time-ps" => self.time = value.parse().ok()?,
            "card-hart" => {
                let mut words = value.splitn(3, ' ');
                self.harts.push(CardHart {
                    firmware: words.next()?.parse().ok()?,
                    functions: words.next()?.parse().ok()?,
                    name: unescape(words.next()?)?,
                });
            }
            "card-ran" => {
                let mut words = value.splitn(4, ' ');
                let hart: usize = words.next()?.parse().ok()?;
                let instructions = words.next()?.parse().ok()?;
                let moves = words.next()?.parse().ok()?;
                let calls = calls(words.next()?)?;
                self.ran.push(RanOn {
                    // Harts come before functions.
                    hart: (hart < self.harts.len()).then_some(hart)?,
                    calls,
                    instructions,
                    moves,
                    why: OnTile::default(),
                });
            }
            // Of the function before.
            "card-ran-why" => {
                let why: usize = value.parse().ok()?;
                self.ran.last_mut()?.why = *OnTile::ALL.get(why)?;
            }
            _ => {}
        }
        Some(())
    }

    /// Instructions of the card's kernel on all harts.
    pub fn firmware(&self) -> u64 {
        self.harts.iter().map(|hart| hart.firmware).sum()
    }

    /// Text for people: harts, and where each function ran, and why there.
    pub(crate) fn text(&self, f: &mut Formatter<'_>, demangle: Demangle) -> fmt::Result {
        writeln!(f, "\n {:>20}  on the machine {}", "card", self.machine)?;
        let sent = counted(self.sent, "descriptor");
        let each = match self.firmware().checked_div(self.received) {
            Some(each) => format!("; {} instructions of its kernel for each", grouped(each)),
            None => String::new(),
        };
        writeln!(
            f,
            " {:>20}  {sent} there, and {} back{each}",
            "",
            grouped(self.received)
        )?;
        let time = duration(self.time);
        writeln!(f, " {:>20}  {time} of virtual time", "")?;
        writeln!(f, "\n {:>20} {:>20}  hart", "kernel", "NxP functions")?;
        for hart in &self.harts {
            let (firmware, functions) = (grouped(hart.firmware), grouped(hart.functions));
            writeln!(f, " {firmware:>20} {functions:>20}  {}", hart.name)?;
        }
        let mut rows: Vec<&RanOn> = self.ran.iter().collect();
        rows.sort_by(|a, b| {
            let key = |ran: &'_ &RanOn| (ran.calls.function.clone(), ran.hart, ran.why);
            key(a).cmp(&key(b))
        });
        if !rows.is_empty() {
            let title = "where NxP functions ran, and why there";
            writeln!(f, "\n {:>20} {:>20}  {title}", "calls", "instructions")?;
        }
        for ran in rows {
            let name = demangle.apply(&ran.calls.function);
            let (calls, instructions) = (grouped(ran.calls.count), grouped(ran.instructions));
            let hart = self.harts.get(ran.hart).map_or("", |hart| &hart.name);
            let why = self.why(ran);
            writeln!(
                f,
                " {calls:>20} {instructions:>20}  {name}  on {hart}: {why}"
            )?;
        }
        Ok(())
    }

    fn has_several_tiles(&self) -> bool {
        let tile = |hart: &CardHart| hart.name.split_once('.').map(|(tile, _)| tile.to_owned());
        let mut tiles = self.harts.iter().map(tile);
        let first = tiles.next();
        tiles.any(|other| Some(other) != first)
    }

    /// Why a function ran on a hart, and why it left.
    fn why(&self, ran: &RanOn) -> String {
        let is_same = |other: &&RanOn| {
            (&other.calls.function, &other.calls.module) == (&ran.calls.function, &ran.calls.module)
        };
        let left_others = self
            .ran
            .iter()
            .filter(is_same)
            .filter(|o| o.hart != ran.hart);
        let came: u64 = left_others.map(|other| other.moves).sum();
        let mut why = Vec::new();
        if self.has_several_tiles() {
            why.push(ran.why.word().to_owned());
        }
        if ran.calls.count > 0 {
            why.push("the kernel chose it".to_owned());
        }
        if came > 0 && ran.moves == 0 {
            why.push("it has an instruction that other harts lack".to_owned());
        }
        if ran.moves > 0 {
            let times = counted(ran.moves, "time");
            why.push(format!("left {times} for an instruction that it lacks"));
        }
        if ran.calls.count == 0 && came == 0 && ran.moves == 0 {
            why.push("the kernel moved it there".to_owned());
        }
        why.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Summary, View, parse};

    fn ran(hart: usize, function: &str, count: u64, moves: u64) -> RanOn {
        RanOn {
            hart,
            calls: Calls {
                function: function.into(),
                module: "prog".into(),
                count,
            },
            instructions: 1000 * count + 7,
            moves,
            why: OnTile::default(),
        }
    }

    fn summary() -> Summary {
        let hart = |name: &str, firmware, functions| CardHart {
            name: name.into(),
            firmware,
            functions,
        };
        let card = Card {
            machine: "./my card.toml".into(),
            sent: 12,
            received: 12,
            time: 5_000_000,
            harts: vec![
                hart("nxp.kernel", 600, 0),
                hart("nxp.hart0", 0, 9),
                hart("nxp.vector", 0, 5),
            ],
            ran: vec![
                ran(1, "filter", 12, 12),
                ran(2, "filter", 0, 0),
                ran(1, "plain", 3, 0),
            ],
        };
        Summary {
            card: Some(card),
            ..Summary::default()
        }
    }

    #[test]
    fn record_and_back() {
        let summary = summary();
        assert_eq!(parse(&summary.to_record()).unwrap(), [summary]);
    }

    #[test]
    fn says_why_on_this_tile() {
        let mut summary = summary();
        let card = summary.card.as_mut().unwrap();
        card.harts[2].name = "compute.vector".into();
        card.ran[1].why = OnTile::ByMark;
        assert_eq!(parse(&summary.to_record()).unwrap(), [summary.clone()]);
        let text = summary.text(View::default()).to_string();
        for part in [
            "filter  on compute.vector: marked; it has an instruction that other harts lack",
            "plain  on nxp.hart0: default; the kernel chose it\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_hart_that_is_not_there_is_refused() {
        let record = summary().to_record().replace("card-ran 2", "card-ran 3");
        assert!(parse(&record).is_err());
    }

    #[test]
    fn says_where_and_why() {
        let text = summary().text(View::default()).to_string();
        for part in [
            "12 descriptors there, and 12 back; 50 instructions of its kernel for each",
            "filter  on nxp.hart0: the kernel chose it; left 12 times for an instruction that it lacks",
            "filter  on nxp.vector: it has an instruction that other harts lack",
            "plain  on nxp.hart0: the kernel chose it\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
