//! The least of many times, which change one by one: a tree whose nodes have the least of what is below
//! them. Of equal times the first counts.
use flick_device::Time;

/// Times by number.
#[derive(Default)]
pub(super) struct Tournament {
    /// The root is 1; the nodes below `n` are `2 * n` and `2 * n + 1`. The second half has the times.
    nodes: Vec<Time>,
}

impl Tournament {
    /// These are the times. `rest` is as late as no time is.
    pub fn fill(&mut self, times: impl ExactSizeIterator<Item = Time>, rest: Time) {
        let size = times.len().next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(2 * size, rest);
        for (node, time) in self.nodes[size..].iter_mut().zip(times) {
            *node = time;
        }
        for node in (1..size).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// One of them changes.
    pub fn set(&mut self, number: usize, time: Time) {
        let mut node = self.nodes.len() / 2 + number;
        self.nodes[node] = time;
        while node > 1 {
            let least = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = least;
        }
    }

    /// The number of the first of the least times, this time, and the least of the others.
    pub fn first_and_next(&self, rest: Time) -> (usize, Time, Time) {
        let size = self.nodes.len() / 2;
        let least = self.nodes[1];
        let (mut node, mut next) = (1, rest);
        while node < size {
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            let is_left = left == least;
            next = next.min(if is_left { right } else { left });
            node = 2 * node + usize::from(!is_left);
        }
        (node - size, least, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_least_two() {
        for count in [1, 2, 3, 7, 64, 65, 300] {
            let mut state: u64 = 7;
            let mut any = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                state >> 60
            };
            let mut times: Vec<Time> = (0..count).map(|_| any()).collect();
            let mut tree = Tournament::default();
            tree.fill(times.iter().copied(), Time::MAX);
            for turn in 0..200 {
                let least = *times.iter().min().unwrap();
                let first = times.iter().position(|&time| time == least).unwrap();
                let others = times.iter().enumerate().filter(|&(n, _)| n != first);
                let next = others.map(|(_, &time)| time).min().unwrap_or(Time::MAX);
                assert_eq!(tree.first_and_next(Time::MAX), (first, least, next));
                let changed = if turn % 3 == 0 { turn % count } else { first };
                times[changed] = match turn % 11 {
                    0 => Time::MAX,
                    _ => any(),
                };
                tree.set(changed, times[changed]);
            }
        }
    }
}
