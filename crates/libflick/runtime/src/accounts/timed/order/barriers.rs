//! Barriers: they are counted in the order alone.
use flick_sim::thread_token::Turn;

use super::super::sums::Wait;
use super::keys::Key;
use super::ordered_threads::{Barrier, with};
use super::slot::Slot;
use super::stated_points::Here;

impl Here {
    /// A barrier for `count` threads is at `address`; 0: no longer.
    pub fn is_barrier(address: usize, count: u32) {
        with(Slot::own(), |shared| match count {
            0 => drop(shared.barriers.remove(&address)),
            count => {
                let new = Barrier {
                    count,
                    ..Barrier::default()
                };
                shared.barriers.insert(address, new);
            }
        });
    }

    /// Waits at the barrier: whether the thread is the last one. `None`: it is not known.
    pub fn meet(&self, address: usize) -> Option<bool> {
        let key = Key::Barrier(address);
        let mut last = None;
        let mut passed = 0;
        let times = self.times();
        let waited = self.wait_if(Wait::Barrier, key, None, |opening| {
            let shared = &mut *opening.shared;
            let latest = shared.moments.get(&key).copied().unwrap_or_default();
            let latest = latest.latest(&times);
            let Some(barrier) = shared.barriers.get_mut(&address) else {
                return false;
            };
            barrier.there += 1;
            passed = barrier.passed;
            let all = barrier.there == barrier.count;
            if all {
                barrier.there = 0;
                barrier.passed += 1;
                barrier.moment = latest;
                shared.moments.remove(&key);
                while shared.wake(key, &latest).is_some() {}
                last = Some(latest);
            } else {
                shared.keep(key, latest);
            }
            !all
        });
        if let (Some(latest), Some(mut state)) = (last, self.state()) {
            state.catch_up(Wait::Barrier, &latest);
        }
        let mut turn = waited;
        while turn == Some(Turn::Interrupted) {
            // It may have been passed while a handler ran.
            let mut moment = None;
            turn = self.wait_if(Wait::Barrier, key, None, |opening| {
                let barrier = opening.shared.barriers.get(&address);
                moment = barrier.map(|barrier| barrier.moment);
                barrier.is_some_and(|barrier| barrier.passed == passed)
            });
            if let (None, Some(moment), Some(mut state)) = (turn, moment, self.state()) {
                state.catch_up(Wait::Barrier, &moment);
            }
        }
        (waited.is_some() || last.is_some()).then_some(last.is_some())
    }
}
