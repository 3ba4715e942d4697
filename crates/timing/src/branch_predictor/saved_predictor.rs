//! What a predictor remembers, for snapshots.
use serde::{Deserialize, Serialize};

use super::Predictor;

/// The state of a [`Predictor`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPredictor {
    counters: Vec<u8>,
    targets: Option<Vec<(u64, u64)>>,
    returns: Option<Vec<u64>>,
    top: u64,
}

impl Predictor {
    /// Its state.
    pub fn save(&self) -> SavedPredictor {
        let targets = self.targets.as_ref();
        let returns = self.returns.as_ref();
        SavedPredictor {
            counters: self.counters.iter().map(|counter| counter.get()).collect(),
            targets: targets.map(|all| all.iter().map(|target| target.get()).collect()),
            returns: returns.map(|all| all.iter().map(|address| address.get()).collect()),
            top: self.top.get() as u64,
        }
    }

    /// Takes what [`save`](Self::save) of a predictor of this shape gave. False: no such predictor is so,
    /// and nothing has changed.
    pub fn restore(&self, saved: &SavedPredictor) -> bool {
        let count = |returns: usize| returns.max(1) as u64;
        let most = self.returns.as_ref().map_or(1, |all| count(all.len()));
        let targets = self.targets.as_ref().map(|all| all.len());
        let returns = self.returns.as_ref().map(|all| all.len());
        let fits = saved.counters.len() == self.counters.len()
            && saved.counters.iter().all(|&counter| counter < 4)
            && saved.targets.as_ref().map(Vec::len) == targets
            && saved.returns.as_ref().map(Vec::len) == returns
            && saved.top < most;
        if !fits {
            return false;
        }
        let counters = self.counters.iter().zip(&saved.counters);
        counters.for_each(|(place, &counter)| place.set(counter));
        let targets = self.targets.iter().zip(&saved.targets);
        let targets = targets.flat_map(|(places, saved)| places.iter().zip(saved));
        targets.for_each(|(place, &target)| place.set(target));
        let returns = self.returns.iter().zip(&saved.returns);
        let returns = returns.flat_map(|(places, saved)| places.iter().zip(saved));
        returns.for_each(|(place, &address)| place.set(address));
        self.top.set(saved.top as usize);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Directions, PredictorShape};
    use super::*;

    #[test]
    fn the_past_comes_back() {
        let shape = PredictorShape {
            directions: Directions::TwoBit(4),
            targets: Some(2),
            returns: Some(2),
        };
        let predictor = Predictor::new(shape);
        predictor.branch(2, 100, true);
        predictor.jump(0x100, 0x200, 0x104, 1, None);
        predictor.jump(0x300, 0x400, 0x304, 0, Some(10));
        let saved = predictor.save();
        let other = Predictor::new(shape);
        assert!(other.restore(&saved) && other.save() == saved);
        assert!(other.branch(2, 100, true) && other.jump(0x300, 0x400, 0x304, 0, Some(10)));
        assert!(other.jump(0x200, 0x104, 0x204, 0, Some(1)));
        let change = |change: fn(&mut SavedPredictor)| {
            let mut saved = saved.clone();
            change(&mut saved);
            saved
        };
        let bad = [
            change(|saved| saved.counters[0] = 4),
            change(|saved| saved.counters.push(0)),
            change(|saved| saved.targets = None),
            change(|saved| saved.returns = Some(vec![0; 3])),
            change(|saved| saved.top = 2),
        ];
        for saved in bad {
            assert!(!predictor.restore(&saved), "{saved:?}");
        }
        assert_eq!(predictor.save(), saved);
        // Without any memory.
        let none = Predictor::new(PredictorShape::default());
        assert!(none.restore(&none.save()) && !none.restore(&saved));
    }
}
