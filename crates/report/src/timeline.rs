//! A thread's events as steps that fit into each other: each crossing has an arrival and an end,
//! also where the program left it by `longjmp`, or never.
use flick_events::trace::{Event, FIRST_HART, How, Parts, Scope, Side, Thread, What};

/// Picoseconds from `begin` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub begin: u64,
    pub end: u64,
}

impl Span {
    pub fn duration(self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// Why a thread came back from a function that it had crossed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    Return,
    /// `longjmp` or an exception.
    Jump,
    /// It never did: the trace ends.
    Never,
}

/// A function that a thread has crossed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    pub function: u32,
    pub site: u32,
    pub from: Side,
    pub side: Side,
}

/// What happens to a thread, in the order of its clock. [`Step::Call`] and [`Step::Back`] nest.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    Start {
        time: u64,
    },
    /// The thread is under way to `callee.side` during `span`.
    Call {
        span: Span,
        callee: Callee,
        parts: Parts<'a>,
    },
    /// And on the way back from there, in its parts (none where it jumped or never came).
    Back {
        span: Span,
        callee: Callee,
        back: Back,
        parts: Option<Parts<'a>>,
    },
    Wait {
        span: Span,
        side: Side,
        core: u32,
    },
    /// The thread comes to a hart of a card, or from one.
    Way {
        span: Span,
        side: Side,
        hart: Option<u32>,
    },
    Counter {
        time: u64,
        scope: Scope,
        id: u32,
        value: u64,
    },
    /// The hart of a machine was in the state of this name.
    State {
        span: Span,
        id: u32,
    },
    /// Nothing comes after it.
    End {
        time: u64,
    },
}

/// Calls `step` for all steps of a thread.
pub fn walk<'a>(thread: &Thread<'a>, mut step: impl FnMut(Step<'a>)) {
    let mut walk = Walk {
        open: Vec::new(),
        now: None,
        state: None,
    };
    for event in thread.events() {
        walk.event(event, &mut step);
    }
    let time = walk.now.unwrap_or(0);
    walk.close(0, Back::Never, time, &mut step);
    walk.end_state(time, &mut step);
    step(Step::End { time });
}

/// A crossing whose end is to come.
struct Open {
    callee: Callee,
    depth: u32,
}

struct Walk {
    open: Vec<Open>,
    /// Until when the thread's time is recorded.
    now: Option<u64>,
    /// Since when it has been in which state.
    state: Option<(u64, u32)>,
}

impl Walk {
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
        if let Some((begin, id)) = self.state.take() {
            let span = Span { begin, end };
            step(Step::State { span, id });
        }
    }

    fn event<'a>(&mut self, event: Event<'a>, step: &mut impl FnMut(Step<'a>)) {
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
            What::State { id } => {
                let time = self.span(time, 0).begin;
                self.end_state(time, step);
                self.state = Some((time, id));
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
}

/// Is it a hart or another tile of a machine? Its events are states and messages.
pub fn is_hart(thread: &Thread<'_>) -> bool {
    let mut events = thread.events();
    events.any(|event| matches!(event.what, What::State { .. } | What::Message { .. }))
}

/// What a thread is called: as it says itself, and by its number. No two of a process have one
/// name.
pub fn name_of(thread: &Thread<'_>) -> String {
    let own = thread.events().find_map(|event| match event.what {
        What::ThreadStart { name } if !name.is_empty() => Some(name),
        _ => None,
    });
    match own {
        Some(name) if thread.id == 1 || thread.id >= FIRST_HART => {
            String::from_utf8_lossy(name).into_owned()
        }
        Some(name) => format!("{} ({})", String::from_utf8_lossy(name), thread.id),
        None if thread.id == 1 => "main".into(),
        None => format!("thread {}", thread.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_trace::trace;
    use flick_events::trace::{Encoder, Trace};

    /// What the steps of such a thread are, in short.
    fn steps(events: &dyn Fn(&mut Encoder<'_>) -> bool) -> Vec<String> {
        let file = trace(&[events]);
        let trace = Trace::read(&file).unwrap();
        let mut out = Vec::new();
        let way = |span: Span, from, to| format!("{}-{} {from:?} {to:?}", span.begin, span.end);
        walk(&trace.processes[0].threads[0], |step| {
            out.push(match step {
                Step::Start { time } => format!("start {time}"),
                Step::Call { span, callee, .. } => way(span, callee.from, callee.side),
                Step::Back {
                    span, callee, back, ..
                } => format!("{} {back:?}", way(span, callee.side, callee.from)),
                Step::Wait { span, side, core } => {
                    format!("{}-{} {side:?} {core}", span.begin, span.end)
                }
                Step::Way { span, side, hart } => {
                    format!("{}-{} {side:?} way {hart:?}", span.begin, span.end)
                }
                Step::Counter { time, value, .. } => format!("{time} = {value}"),
                Step::State { span, id } => format!("{}-{} in {id}", span.begin, span.end),
                Step::End { time } => format!("end {time}"),
            });
        });
        out
    }

    #[test]
    fn states_follow_each_other() {
        let message = |e: &mut Encoder<'_>| e.message(7, 2, 3, 1);
        let seen = steps(&|e| e.state(5, 1) && message(e) && e.state(9, 2) && e.thread_end(20));
        assert_eq!(seen, ["5-9 in 1", "9-20 in 2", "end 20"]);
    }

    #[test]
    fn nothing_begins_before_its_time() {
        // The runtime says when things happened on its clock; the parts say how long they took.
        let seen = steps(&|e| {
            e.enter(10, Side::Nxp, (1, 0), 0, &[(4, 5), (5, 10)])
                && e.way(25, 5, Some(2))
                && e.wait(20, 30, 2)
                && e.counter(21, Scope::Thread, 7, 9)
                && e.leave(40, How::Return, 0, &[(4, 1)])
        });
        assert_eq!(
            seen,
            [
                "10-25 Host Nxp",
                "25-30 Nxp way Some(2)",
                "30-60 Nxp 2",
                "60 = 9",
                "60-61 Nxp Host Return",
                "end 61"
            ]
        );
    }

    #[test]
    fn a_child_of_fork_leaves_what_it_has_not_entered() {
        let seen = steps(&|e| {
            e.leave(5, How::Return, 3, &[])
                && e.enter(6, Side::Nxp, (1, 0), 2, &[])
                && e.leave(7, How::Return, 2, &[])
                && e.leave(8, How::Jump, 0, &[])
        });
        assert_eq!(seen, ["6-6 Host Nxp", "7-7 Nxp Host Return", "end 8"]);
    }

    #[test]
    fn a_jump_ends_what_it_goes_past() {
        let seen = steps(&|e| {
            e.enter(1, Side::Nxp, (1, 0), 0, &[])
                && e.enter(2, Side::Host, (1, 0), 1, &[])
                && e.enter(3, Side::Nxp, (1, 0), 2, &[])
                && e.leave(4, How::Jump, 1, &[(4, 6)])
        });
        assert_eq!(
            seen,
            [
                "1-1 Host Nxp",
                "2-2 Nxp Host",
                "3-3 Host Nxp",
                "4-4 Nxp Host Jump",
                "4-10 Host Nxp Jump",
                "10-10 Nxp Host Never",
                "end 10"
            ]
        );
    }

    #[test]
    fn times_do_not_overflow() {
        let most = u64::MAX;
        let seen = steps(&|e| e.enter(most, Side::Nxp, (1, 0), u32::MAX, &[(4, most), (4, most)]));
        assert_eq!(seen.len(), 3);
        assert!(steps(&|e| e.leave(0, How::Return, u32::MAX, &[])).len() == 1);
    }
}
