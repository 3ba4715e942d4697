//! Which thread a hart of a card executes: the one that has come there last.
use std::collections::BTreeMap;

use flick_events::trace::{FIRST_HART, Process, Thread};

use crate::timeline::{self, Step};

/// Times of a thread and of a hart are rounded each for itself, to picoseconds.
const ROUNDED: u64 = 2;

/// When which thread came to a hart.
pub struct HartOwners {
    /// By hart, in the order of time: threads by their places in the process.
    arrivals: BTreeMap<u32, Vec<(u64, usize)>>,
}

impl HartOwners {
    pub fn of(process: &Process<'_>) -> Self {
        let mut arrivals: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
        // Nobody comes to a hart without a card, and a trace may be long.
        if process.threads.iter().all(|thread| thread.id < FIRST_HART) {
            return Self { arrivals };
        }
        for (index, thread) in process.threads.iter().enumerate() {
            let mut came = None;
            let mut comes = |came: Option<(u32, u64)>| {
                if let Some((hart, time)) = came {
                    arrivals.entry(hart).or_default().push((time, index));
                }
            };
            timeline::walk(thread, |step| match step {
                // Behind its way it may have waited for the hart.
                Step::Wait { span, .. } => came = came.map(|(hart, _)| (hart, span.end)),
                step => {
                    comes(came.take());
                    if let Step::Way {
                        span,
                        hart: Some(hart),
                        ..
                    } = step
                    {
                        came = Some((hart, span.end));
                    }
                }
            });
            comes(came);
        }
        arrivals.values_mut().for_each(|all| all.sort_unstable());
        Self { arrivals }
    }

    /// The place of the thread whose code this hart executes from `begin` on.
    pub fn at(&self, hart: &Thread<'_>, begin: u64) -> Option<usize> {
        let hart = hart.id.checked_sub(FIRST_HART)?;
        let all = self.arrivals.get(&hart)?;
        let until = begin.saturating_add(ROUNDED);
        let before = all.partition_point(|&(time, _)| time <= until);
        Some(all.get(before.checked_sub(1)?)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_events::trace::{Encoder, MIN_BUFFER, Side, Trace, process_block};

    #[test]
    fn a_hart_executes_the_thread_that_has_come_last() {
        let mut file = process_block(7, b"/prog", b"platform");
        let mut put = |thread: u32, events: &dyn Fn(&mut Encoder<'_>) -> bool| {
            let mut buffer = vec![0; 4 * MIN_BUFFER];
            let mut encoder = Encoder::new(&mut buffer, 7, thread);
            assert!(events(&mut encoder));
            encoder.flush(|block| file.extend(block));
        };
        put(1, &|e| {
            e.thread_start(0, b"main")
                && e.name(1, b"work", b"", 0)
                && e.name(2, b"-", b"", 0)
                && e.enter(10, Side::Nxp, (1, 0), 0, &[])
                && e.way(10, 5, Some(3))
                && e.way(40, 2, None)
                && e.thread_end(90)
        });
        put(2, &|e| {
            e.thread_start(0, b"other")
                && e.enter(12, Side::Nxp, (1, 0), 0, &[])
                && e.way(12, 5, Some(3))
                && e.wait(17, 30, 3)
                && e.way(80, 2, Some(4))
                && e.thread_end(90)
        });
        put(FIRST_HART + 3, &|e| {
            e.thread_start(0, b"tile.user0") && e.state(16, 1) && e.thread_end(90)
        });
        put(FIRST_HART + 4, &|e| {
            e.thread_start(0, b"tile.user1") && e.state(82, 1) && e.thread_end(90)
        });
        let trace = Trace::read(&file).unwrap();
        let process = &trace.processes[0];
        let owners = HartOwners::of(process);
        let [third, fourth] = [2, 3].map(|place| &process.threads[place]);
        assert_eq!(owners.at(third, 5), None);
        assert_eq!(owners.at(third, 16), Some(0));
        assert_eq!(owners.at(third, 41), Some(0));
        assert_eq!(owners.at(third, 46), Some(1));
        assert_eq!(owners.at(fourth, 82), Some(1));
        assert_eq!(owners.at(&process.threads[0], 82), None);
    }
}
