//! Arrows from what a thread of a machine does to another thread, which it wakes.
use std::collections::HashMap;

use flick_events::trace::{Process, waker};

use crate::timeline::{self, Step};

/// A state: the thread's number, and when it begins.
type State = (u32, u64);

/// Which flows begin in which state, and which one leads to a state.
#[derive(Default)]
pub struct WakeUps {
    begin: HashMap<State, Vec<u64>>,
    end: HashMap<State, u64>,
}

impl WakeUps {
    /// Those of a process. `flow` gives a new number.
    pub fn of(process: &Process<'_>, mut flow: impl FnMut() -> u64) -> Self {
        // By who wakes: when, and whom.
        let mut wakes: HashMap<u32, Vec<(u64, u32)>> = HashMap::new();
        for thread in &process.threads {
            timeline::walk(thread, |step| {
                if let Step::State { span, id, .. } = step
                    && let Some(name) = process.name(id)
                    && let Some(by) = waker(&name.text)
                {
                    wakes.entry(by).or_default().push((span.begin, thread.id));
                }
            });
        }
        wakes.values_mut().for_each(|wakes| wakes.sort_unstable());
        let mut all = Self::default();
        for thread in &process.threads {
            let Some(wakes) = wakes.get(&thread.id) else {
                continue;
            };
            timeline::walk(thread, |step| {
                if let Step::State { span, .. } = step {
                    let first = wakes.partition_point(|&(time, _)| time < span.begin);
                    let here = wakes[first..].iter();
                    for &(time, woken) in here.take_while(|&&(time, _)| time < span.end) {
                        let flow = flow();
                        let begun = all.begin.entry((thread.id, span.begin)).or_default();
                        begun.push(flow);
                        all.end.insert((woken, time), flow);
                    }
                }
            });
        }
        all
    }

    /// Flows that begin in a state.
    pub fn from(&mut self, thread: u32, begin: u64) -> Vec<u64> {
        self.begin.remove(&(thread, begin)).unwrap_or_default()
    }

    /// The flow that leads to a state, if there is one.
    pub fn to(&mut self, thread: u32, begin: u64) -> Vec<u64> {
        self.end.remove(&(thread, begin)).into_iter().collect()
    }
}
