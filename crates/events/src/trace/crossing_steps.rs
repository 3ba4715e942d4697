//! A thread's events as steps that fit into each other: each crossing has an arrival and an end,
//! also where the program left it by `longjmp`, or never.
use super::event::{Event, Parts, What};
use super::sum_rows::{Lanes, Rows};
use super::trace_format::{How, Scope, Side};

/// Picoseconds from `begin` to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub begin: u64,
    /// Behind the last.
    pub end: u64,
}

impl Span {
    /// Picoseconds.
    pub fn duration(self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// Why a thread came back from a function that it had crossed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The function has returned.
    Return,
    /// `longjmp` or an exception.
    Jump,
    /// It never did: the trace ends, or has only sums from here on.
    Never,
}

/// A function that a thread has crossed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    /// The number of its name.
    pub function: u32,
    /// The number of the call site.
    pub site: u32,
    /// Where the caller runs.
    pub from: Side,
    /// Where it runs.
    pub side: Side,
}

/// What happens to a thread, in the order of its clock. [`Step::Call`] and [`Step::Back`] nest.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// The thread begins.
    Start {
        /// When.
        time: u64,
    },
    /// The thread is under way to `callee.side` during `span`.
    Call {
        /// When.
        span: Span,
        /// Whither.
        callee: Callee,
        /// What the way consists of.
        parts: Parts<'a>,
    },
    /// And on the way back from there, in its parts (none where it jumped or never came).
    Back {
        /// When.
        span: Span,
        /// Whence.
        callee: Callee,
        /// Why.
        back: Back,
        /// What the way consists of.
        parts: Option<Parts<'a>>,
    },
    /// The thread has waited for a core.
    Wait {
        /// When.
        span: Span,
        /// On which side.
        side: Side,
        /// The core's number.
        core: u32,
    },
    /// The thread comes to a hart of a card, or from one.
    Way {
        /// When.
        span: Span,
        /// On which side.
        side: Side,
        /// The hart, where it comes to one.
        hart: Option<u32>,
    },
    /// A counter has a new value.
    Counter {
        /// When.
        time: u64,
        /// Whose it is.
        scope: Scope,
        /// The number of its name.
        id: u32,
        /// The value.
        value: u64,
    },
    /// The hart of a machine was in the state of this name.
    State {
        /// When.
        span: Span,
        /// The number of its name.
        id: u32,
        /// The number of the thread whose code it was, where it is known.
        thread: Option<u32>,
    },
    /// What the thread has done in a time of which the trace has no more.
    Sum {
        /// When.
        span: Span,
        /// What its time went to.
        lanes: Lanes,
        /// What it did.
        rows: Rows<'a>,
    },
    /// Nothing comes after it.
    End {
        /// When.
        time: u64,
    },
}

impl Step<'_> {
    /// When it happens.
    pub fn span(&self) -> Span {
        match *self {
            Self::Call { span, .. }
            | Self::Back { span, .. }
            | Self::Wait { span, .. }
            | Self::Way { span, .. }
            | Self::State { span, .. }
            | Self::Sum { span, .. } => span,
            Self::Start { time } | Self::Counter { time, .. } | Self::End { time } => Span {
                begin: time,
                end: time,
            },
        }
    }
}

/// A crossing whose end is to come.
#[derive(Debug)]
struct Open {
    callee: Callee,
    depth: u32,
}

/// Makes steps of the events of one thread.
#[derive(Debug, Default)]
pub struct Walk {
    open: Vec<Open>,
    /// Until when the thread's time is recorded.
    now: Option<u64>,
    /// Since when it has been in which state, with whose code.
    state: Option<(u64, u32, Option<u32>)>,
}

impl Walk {
    /// Until when the thread's time is recorded; `None` before its first event.
    pub fn now(&self) -> Option<u64> {
        self.now
    }

    /// The state of now, until `time`: it begins anew there.
    pub(super) fn cut_state(&mut self, time: u64) -> Option<Step<'static>> {
        let (begin, id, thread) = self.state?;
        self.state = Some((time, id, thread));
        let span = Span { begin, end: time };
        Some(Step::State { span, id, thread })
    }

    fn side(&self) -> Side {
        self.open.last().map_or(Side::Host, |open| open.callee.side)
    }

    /// Where `duration` from `time` on lies. Nothing begins before what came before has ended.
    fn span(&mut self, time: u64, duration: u64) -> Span {
        let begin = self.now.map_or(time, |now| time.max(now));
        let end = begin.saturating_add(duration);
        self.now = Some(end);
        Span { begin, end }
    }

    /// Ends all crossings that began at `depth` or deeper.
    fn close<'a>(&mut self, depth: u32, back: Back, time: u64, step: &mut impl FnMut(Step<'a>)) {
        while let Some(open) = self.open.pop_if(|open| open.depth >= depth) {
            step(Step::Back {
                span: Span {
                    begin: time,
                    end: time,
                },
                callee: open.callee,
                back,
                parts: None,
            });
        }
    }

    fn end_state<'a>(&mut self, end: u64, step: &mut impl FnMut(Step<'a>)) {
        if let Some((begin, id, thread)) = self.state.take() {
            let span = Span { begin, end };
            step(Step::State { span, id, thread });
        }
    }

    /// Calls `step` for what the thread's next event says.
    pub fn event<'a>(&mut self, event: Event<'a>, step: &mut impl FnMut(Step<'a>)) {
        let time = event.time;
        match event.what {
            What::Name { .. } => {}
            What::ThreadStart { .. } => {
                let time = self.span(time, 0).begin;
                step(Step::Start { time });
            }
            What::ThreadEnd | What::Sample { .. } | What::Message { .. } => {
                self.span(time, 0);
            }
            What::Enter {
                side,
                function,
                site,
                depth,
                parts,
            } => {
                let span = self.span(time, parts.duration());
                self.close(depth, Back::Jump, span.begin, step);
                let callee = Callee {
                    function,
                    site,
                    from: self.side(),
                    side,
                };
                self.open.push(Open { callee, depth });
                step(Step::Call {
                    span,
                    callee,
                    parts,
                });
            }
            What::Leave { how, depth, parts } => {
                let span = self.span(time, parts.duration());
                self.close(depth.saturating_add(1), Back::Jump, span.begin, step);
                // A child of `fork` leaves what its parent has entered.
                let Some(open) = self.open.pop_if(|open| open.depth == depth) else {
                    return;
                };
                step(Step::Back {
                    span,
                    callee: open.callee,
                    back: match how {
                        How::Return => Back::Return,
                        How::Jump => Back::Jump,
                    },
                    parts: Some(parts),
                });
            }
            What::Wait { duration, core } => {
                let span = self.span(time, duration);
                let side = self.side();
                step(Step::Wait { span, side, core });
            }
            What::Way { duration, hart } => {
                let span = self.span(time, duration);
                let side = self.side();
                step(Step::Way { span, side, hart });
            }
            What::State { id, thread } => {
                let time = self.span(time, 0).begin;
                self.end_state(time, step);
                self.state = Some((time, id, thread));
            }
            What::Sum {
                duration,
                lanes,
                rows,
            } => {
                let begin = time.saturating_sub(duration);
                // The sums have how these go on.
                self.close(0, Back::Never, begin, step);
                self.end_state(begin, step);
                let end = self.span(time, 0).end;
                let span = Span { begin, end };
                step(Step::Sum { span, lanes, rows });
            }
            What::Counter { scope, id, value } => {
                let time = self.span(time, 0).begin;
                step(Step::Counter {
                    time,
                    scope,
                    id,
                    value,
                });
            }
        }
    }

    /// There is no further event.
    pub fn finish<'a>(&mut self, step: &mut impl FnMut(Step<'a>)) {
        let time = self.now.unwrap_or(0);
        self.close(0, Back::Never, time, step);
        self.end_state(time, step);
        step(Step::End { time });
    }
}
