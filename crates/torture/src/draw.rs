//! The dice. What they throw depends on a seed and a subject only, so that a case is the same on
//! any machine, and so that what one subject draws does not move what another one does.
use rand_pcg::Pcg64;
use rand_pcg::rand_core::RngCore;
use xxhash_rust::xxh3::xxh3_128;

/// PCG's default stream.
const STREAM: u128 = 0xa02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96;

pub struct Draw(Pcg64);

impl Draw {
    pub fn new(seed: u64, subject: &str) -> Self {
        let state = xxh3_128(format!("{subject}:{seed}").as_bytes());
        Self(Pcg64::new(state, STREAM))
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 0 … `bound` - 1; 0 where there is nothing to choose from.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.word()) * bound as u128;
        (product >> 64) as usize
    }

    /// `low` … `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which are not empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// One of `items` by its weight.
    pub fn weighted<T: Copy>(&mut self, items: &[(usize, T)]) -> T {
        let total = items.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for &(weight, item) in items {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        items[items.len() - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds in reports and in commit messages mean the same cases in later builds.
    #[test]
    fn throws_are_fixed() {
        let mut draw = Draw::new(1, "test");
        let first: Vec<usize> = (0..8).map(|_| draw.below(1000)).collect();
        let mut again = Draw::new(1, "test");
        assert_eq!(first, (0..8).map(|_| again.below(1000)).collect::<Vec<_>>());
        assert_ne!(Draw::new(2, "test").word(), Draw::new(1, "test").word());
        assert_ne!(Draw::new(1, "other").word(), Draw::new(1, "test").word());
    }

    #[test]
    fn weights_count() {
        let mut draw = Draw::new(7, "weights");
        let seen = (0..1000)
            .filter(|_| draw.weighted(&[(1, false), (9, true)]))
            .count();
        assert!((850..950).contains(&seen), "{seen}");
    }
}
