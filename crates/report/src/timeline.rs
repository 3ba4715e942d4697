//! The steps of a thread, and what it is called.
use flick_events::trace::{FIRST_HART, Thread, Walk};

pub use flick_events::trace::{Back, Callee, Span, Step};

/// Calls `step` for all steps of a thread.
pub fn walk(thread: &Thread<'_>, mut step: impl FnMut(Step<'_>)) {
    let mut walk = Walk::default();
    thread.each(|event| walk.event(event, &mut step));
    walk.finish(&mut step);
}

/// What a thread is called: as it says itself, and by its number. No two of a process have one
/// name.
pub fn name_of(thread: &Thread<'_>) -> String {
    match thread.name.as_str() {
        "" if thread.id == 1 => "main".into(),
        "" => format!("thread {}", thread.id),
        name if thread.id == 1 || thread.id >= FIRST_HART => name.into(),
        name => format!("{name} ({})", thread.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_trace::trace;
    use flick_events::trace::{Encoder, How, Scope, Side, Trace};

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
                Step::State { span, id, .. } => format!("{}-{} in {id}", span.begin, span.end),
                Step::Sum { span, .. } => format!("{}-{} in short", span.begin, span.end),
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
