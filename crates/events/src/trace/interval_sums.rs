//! Sums of what a thread does. They are exact, however much of the trace consists of sums itself.
use std::collections::BTreeMap;

use super::crossing_steps::{Back, Callee, Span, Step};
use super::encoder::Encoder;
use super::sum_rows::{CallSum, DOING, Doing, Lanes, MOST_ROWS, Row, Rows};
use super::trace_format::{FIRST_HART, Side};

/// What a step says of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Fact {
    /// What the thread does on a side during `span`. Each time once, without gaps.
    Time {
        /// On which side.
        side: Side,
        /// What it does.
        doing: Doing,
        /// When.
        span: Span,
        /// The function that it has crossed to and is in.
        callee: Option<Callee>,
    },
    /// It calls a function by a crossing.
    Call(Callee),
    /// The call is over.
    Back(Callee, Back),
    /// The call begins on a hart of a card.
    Begun {
        /// The hart.
        hart: u32,
        /// The number of the function's name.
        function: u32,
    },
    /// The hart was in the state of this name.
    State {
        /// When.
        span: Span,
        /// The number of its name.
        id: u32,
        /// The number of the thread whose code it was; 0: unknown.
        thread: u32,
    },
}

/// Makes facts of the steps of one thread.
#[derive(Debug)]
pub struct Accounts {
    /// Harts have states, and no times of sides.
    is_hart: bool,
    side: Side,
    last: Option<u64>,
    /// And whether a call has not begun on a hart yet.
    callees: Vec<(Callee, bool)>,
}

impl Accounts {
    /// Of the thread with this number in the trace.
    pub fn new(thread: u32) -> Self {
        Self {
            is_hart: thread >= FIRST_HART,
            side: Side::Host,
            last: None,
            callees: Vec::new(),
        }
    }

    /// Whether it is a hart of a card.
    pub(super) fn is_hart(&self) -> bool {
        self.is_hart
    }

    /// Calls `fact` for what the thread's next step says.
    pub fn step(&mut self, step: &Step<'_>, fact: &mut impl FnMut(Fact)) {
        if let Step::State { span, id, thread } = *step {
            let thread = thread.unwrap_or(0);
            fact(Fact::State { span, id, thread });
        }
        if self.is_hart {
            return;
        }
        let span = step.span();
        let callee = self.callees.last().map(|&(callee, _)| callee);
        if let Some(begin) = self.last.filter(|&last| last < span.begin) {
            let end = span.begin;
            fact(Fact::Time {
                side: self.side,
                doing: Doing::Computes,
                span: Span { begin, end },
                callee,
            });
        }
        self.last = Some(span.end);
        let mut time = |side, doing, callee| {
            fact(Fact::Time {
                side,
                doing,
                span,
                callee,
            });
        };
        match *step {
            Step::Call { callee, .. } => {
                time(callee.from, Doing::Crosses, Some(callee));
                fact(Fact::Call(callee));
                self.callees.push((callee, callee.side == Side::Nxp));
                self.side = callee.side;
            }
            Step::Back { callee, back, .. } => {
                time(callee.side, Doing::Crosses, Some(callee));
                fact(Fact::Back(callee, back));
                self.callees.pop();
                self.side = callee.from;
            }
            Step::Wait { side, .. } => time(side, Doing::Waits, callee),
            Step::Way { side, hart, .. } => {
                time(side, Doing::Crosses, callee);
                let begun = self.callees.last_mut().filter(|(_, waits)| *waits);
                if let (Some(hart), Some((callee, waits))) = (hart, begun) {
                    *waits = false;
                    let function = callee.function;
                    fact(Fact::Begun { hart, function });
                }
            }
            Step::Start { .. }
            | Step::Counter { .. }
            | Step::State { .. }
            | Step::Sum { .. }
            | Step::End { .. } => {}
        }
    }
}

/// What threads have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// What their time went to.
    pub lanes: Lanes,
    /// Calls by the side of the function, the function and the call site.
    pub calls: BTreeMap<(Side, u32, u32), CallSum>,
    /// Calls that began on a hart, by hart and function.
    pub begun: BTreeMap<(u32, u32), u64>,
    /// States by name and thread: how often, and picoseconds.
    pub states: BTreeMap<(u32, u32), (u64, u64)>,
}

impl Sums {
    /// Adds what a fact says.
    pub fn add(&mut self, fact: Fact) {
        match fact {
            Fact::Time {
                side,
                doing,
                span,
                callee,
            } => {
                let total = &mut self.lanes[side as usize][doing as usize];
                *total = total.saturating_add(span.duration());
                if let Some(callee) = callee {
                    let time = &mut self.call(callee).times[doing as usize];
                    *time = time.saturating_add(span.duration());
                }
            }
            Fact::Call(callee) => self.call(callee).calls += 1,
            Fact::Back(callee, Back::Return) => self.call(callee).returns += 1,
            Fact::Back(callee, Back::Jump) => self.call(callee).jumps += 1,
            Fact::Back(_, Back::Never) => {}
            Fact::Begun { hart, function } => {
                *self.begun.entry((hart, function)).or_default() += 1;
            }
            Fact::State { span, id, thread } => self.add_state((id, thread), 1, span.duration()),
        }
    }

    fn call(&mut self, callee: Callee) -> &mut CallSum {
        let key = (callee.side, callee.function, callee.site);
        self.calls.entry(key).or_default()
    }

    fn add_state(&mut self, key: (u32, u32), times: u64, time: u64) {
        let state = self.states.entry(key).or_default();
        *state = (state.0.saturating_add(times), state.1.saturating_add(time));
    }

    /// A state that another sum, or an event, has counted goes on.
    pub(super) fn goes_on(&mut self, span: Span, id: u32, thread: u32) {
        self.add_state((id, thread), 0, span.duration());
    }

    /// Adds what a sum of the trace says.
    pub fn add_rows(&mut self, lanes: &Lanes, rows: impl Iterator<Item = Row>) {
        for (time, more) in self.lanes.iter_mut().flatten().zip(lanes.iter().flatten()) {
            *time = time.saturating_add(*more);
        }
        for row in rows {
            match row {
                Row::Call {
                    side,
                    function,
                    site,
                    sum,
                } => {
                    let call = self.calls.entry((side, function, site)).or_default();
                    call.add(&sum);
                }
                Row::Begun {
                    hart,
                    function,
                    calls,
                } => {
                    let begun = self.begun.entry((hart, function)).or_default();
                    *begun = begun.saturating_add(calls);
                }
                Row::State {
                    id,
                    thread,
                    times,
                    time,
                } => self.add_state((id, thread), times, time),
            }
        }
    }

    /// Takes what a step says, whether it is a sum or not.
    pub fn step(&mut self, accounts: &mut Accounts, step: &Step<'_>) {
        accounts.step(step, &mut |fact| self.add(fact));
        if let Step::Sum { lanes, rows, .. } = step {
            self.add_rows(lanes, *rows);
        }
    }

    /// Adds what other threads have done.
    pub fn merge(&mut self, other: &Self) {
        self.add_rows(&other.lanes, other.rows());
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let calls = self.calls.iter();
        let calls = calls.map(|(&(side, function, site), &sum)| Row::Call {
            side,
            function,
            site,
            sum,
        });
        let begun = self.begun.iter();
        let begun = begun.map(|(&(hart, function), &calls)| Row::Begun {
            hart,
            function,
            calls,
        });
        let states = self.states.iter();
        let states = states.map(|(&(id, thread), &(times, time))| Row::State {
            id,
            thread,
            times,
            time,
        });
        calls.chain(begun).chain(states)
    }

    /// Encodes it, as of the `span` that ends now.
    pub(super) fn encode(&self, encoder: &mut Encoder<'_>, span: Span, write: &impl Fn(&[u8])) {
        let rows: Vec<Row> = self.rows().collect();
        let mut lanes = self.lanes;
        let mut rest = rows.as_slice();
        loop {
            let (some, more) = rest.split_at(rest.len().min(MOST_ROWS));
            encoder.with(write, |encoder| {
                encoder.sum(span.end, span.duration(), &lanes, some)
            });
            lanes = [[0; DOING.len()]; 2];
            rest = more;
            if rest.is_empty() {
                return;
            }
        }
    }
}

/// What the rows of a sum say of states: which threads' code a hart executed how long.
pub fn states(rows: Rows<'_>) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
    rows.filter_map(|row| match row {
        Row::State {
            id, thread, time, ..
        } => Some((id, thread, time)),
        _ => None,
    })
}
