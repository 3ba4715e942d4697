//! Barriers: they are counted in the order alone.
use super::super::sums::Wait;
use super::ordered_threads::{Key, with};
use super::slot::Slot;
use super::stated_points::Here;

impl Here {
    /// A barrier for `count` threads is at `address`; 0: no longer.
    pub fn is_barrier(address: usize, count: u32) {
        with(Slot::own(), |shared| match count {
            0 => drop(shared.barriers.remove(&address)),
            count => drop(shared.barriers.insert(address, (count, 0))),
        });
    }

    /// Waits at the barrier: whether the thread is the last one. `None`: it is not known.
    pub fn meet(&self, address: usize) -> Option<bool> {
        let key = Key::Barrier(address);
        let mut last = None;
        let times = self.times();
        let waited = self.wait_if(Wait::Barrier, key, None, |opening| {
            let shared = &mut *opening.shared;
            let Some((count, there)) = shared.barriers.get_mut(&address) else {
                return false;
            };
            *there += 1;
            let all = *there == *count;
            let latest = shared.moments.get(&key).copied().unwrap_or_default();
            let latest = latest.latest(&times);
            if all {
                *there = 0;
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
        (waited.is_some() || last.is_some()).then_some(last.is_some())
    }
}
