//! The contents of a sum: what a thread has done in an interval.
use super::trace_format::{Reason, Side};
use super::wire::{Sink, Source};

/// What a thread does on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It executes code.
    Computes,
    /// It waits for a core.
    Waits,
    /// It goes to the other side, or comes from there.
    Crosses,
}

/// All of them, in the order of a sum.
pub const DOING: [Doing; 3] = [Doing::Computes, Doing::Waits, Doing::Crosses];

/// Picoseconds by side (host, NxP) and [`Doing`].
pub type Lanes = [[u64; DOING.len()]; 2];

/// Rows of one event of a sum, so that it has room in any buffer.
pub(super) const MOST_ROWS: usize = 64;

/// What a thread has done in an interval, by function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Calls of a function from a call site, by a crossing.
    Call {
        /// Where the function runs.
        side: Side,
        /// The number of the function.
        function: u32,
        /// The number of the call site.
        site: u32,
        /// What there was of them.
        sum: CallSum,
    },
    /// Calls of a function that began on a hart of a card.
    Begun {
        /// The hart.
        hart: u32,
        /// The number of the function.
        function: u32,
        /// How many.
        calls: u64,
    },
    /// The hart was in the state of this name, by thread.
    State {
        /// The number of the state's name.
        id: u32,
        /// The number of the thread whose code it was; 0: unknown.
        thread: u32,
        /// How often.
        times: u64,
        /// Picoseconds.
        time: u64,
    },
}

/// Calls of one function from one call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSum {
    /// Calls that have begun.
    pub calls: u64,
    /// Calls that have returned.
    pub returns: u64,
    /// Calls that `longjmp` or an exception has ended.
    pub jumps: u64,
    /// Picoseconds by [`Doing`]: of the function's own, without the functions that it has crossed to.
    pub times: [u64; DOING.len()],
}

impl CallSum {
    fn numbers(&self) -> [u64; 6] {
        let [computes, waits, crosses] = self.times;
        [
            self.calls,
            self.returns,
            self.jumps,
            computes,
            waits,
            crosses,
        ]
    }

    /// Adds those of another call site.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.returns = self.returns.saturating_add(other.returns);
        self.jumps = self.jumps.saturating_add(other.jumps);
        for (time, more) in self.times.iter_mut().zip(other.times) {
            *time = time.saturating_add(more);
        }
    }
}

const CALL_HOST: u8 = 0;
const CALL_NXP: u8 = 1;
const BEGUN: u8 = 2;
const STATE: u8 = 3;

pub(super) fn put(out: &mut impl Sink, lanes: &Lanes, rows: &[Row]) {
    for &time in lanes.iter().flatten() {
        out.number(time);
    }
    out.number(rows.len() as u64);
    for row in rows {
        match *row {
            Row::Call {
                side,
                function,
                site,
                sum,
            } => {
                out.byte(match side {
                    Side::Host => CALL_HOST,
                    Side::Nxp => CALL_NXP,
                });
                out.number(function.into());
                out.number(site.into());
                for number in sum.numbers() {
                    out.number(number);
                }
            }
            Row::Begun {
                hart,
                function,
                calls,
            } => {
                out.byte(BEGUN);
                out.number(hart.into());
                out.number(function.into());
                out.number(calls);
            }
            Row::State {
                id,
                thread,
                times,
                time,
            } => {
                out.byte(STATE);
                out.number(id.into());
                out.number(thread.into());
                out.number(times);
                out.number(time);
            }
        }
    }
}

pub(super) fn lanes(source: &mut Source<'_>) -> Result<Lanes, Reason> {
    let mut lanes = Lanes::default();
    for time in lanes.iter_mut().flatten() {
        *time = source.number()?;
    }
    Ok(lanes)
}

fn row(source: &mut Source<'_>) -> Result<Row, Reason> {
    Ok(match source.byte()? {
        kind @ (CALL_HOST | CALL_NXP) => Row::Call {
            side: match kind {
                CALL_HOST => Side::Host,
                _ => Side::Nxp,
            },
            function: source.id()?,
            site: source.id()?,
            sum: CallSum {
                calls: source.number()?,
                returns: source.number()?,
                jumps: source.number()?,
                times: [source.number()?, source.number()?, source.number()?],
            },
        },
        BEGUN => Row::Begun {
            hart: source.id()?,
            function: source.id()?,
            calls: source.number()?,
        },
        STATE => Row::State {
            id: source.id()?,
            thread: source.id()?,
            times: source.number()?,
            time: source.number()?,
        },
        other => return Err(Reason::Row(other)),
    })
}

pub(super) fn rows<'a>(source: &mut Source<'a>) -> Result<Rows<'a>, Reason> {
    let count = source.count()?;
    let from = source.at;
    for _ in 0..count {
        row(source)?;
    }
    Ok(Rows {
        bytes: source.bytes.get(from..source.at).unwrap_or_default(),
    })
}

/// Rows of a sum. As bytes that have been read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows<'a> {
    bytes: &'a [u8],
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let mut source = Source {
            bytes: self.bytes,
            at: 0,
        };
        let next = row(&mut source).ok()?;
        self.bytes = self.bytes.get(source.at..)?;
        Some(next)
    }
}
