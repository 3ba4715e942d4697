//! Which branches and jumps a hart foresees.
use std::cell::Cell;

/// What a hart has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictorShape {
    /// Counters of two bits, by address; a power of two. 0: backward branches are taken to be taken, and
    /// forward ones not.
    pub counters: usize,
    /// Targets of jumps through registers that are remembered, by address; a power of two, or 0.
    pub targets: usize,
    /// Return addresses that are remembered.
    pub returns: usize,
}

/// The state of a hart's predictor.
#[derive(Debug)]
pub struct Predictor {
    /// 0 and 1: not taken; 2 and 3: taken.
    counters: Box<[Cell<u8>]>,
    targets: Box<[Cell<(u64, u64)>]>,
    returns: Box<[Cell<u64>]>,
    /// The place of the next return address.
    top: Cell<usize>,
}

fn is_link(register: usize) -> bool {
    matches!(register, 1 | 5)
}

impl Predictor {
    /// A predictor that knows nothing.
    pub fn new(shape: PredictorShape) -> Self {
        Self {
            counters: (0..shape.counters).map(|_| Cell::new(1)).collect(),
            targets: (0..shape.targets).map(|_| Cell::new((0, 0))).collect(),
            returns: (0..shape.returns).map(|_| Cell::new(0)).collect(),
            top: Cell::new(0),
        }
    }

    /// A conditional branch. Was it foreseen?
    #[inline]
    pub fn branch(&self, pc: u64, target: u64, taken: bool) -> bool {
        let Some(mask) = self.counters.len().checked_sub(1) else {
            return taken == (target < pc);
        };
        let counter = &self.counters[(pc >> 1) as usize & mask];
        let old = counter.get();
        counter.set(match taken {
            true => (old + 1).min(3),
            false => old.saturating_sub(1),
        });
        taken == (old >= 2)
    }

    /// A jump, by the register numbers of its destination and, through a register, of its base. Was it
    /// foreseen? Calls and returns are told by the link registers (ISA manual, "Unconditional Jumps").
    #[inline]
    pub fn jump(&self, pc: u64, target: u64, behind: u64, rd: usize, base: Option<usize>) -> bool {
        let returns = base.is_some_and(|base| is_link(base) && base != rd);
        let foreseen = match base {
            None => true,
            Some(_) if returns => self.pop() == Some(target),
            Some(_) => self.remembers(pc, target),
        };
        if is_link(rd) {
            self.push(behind);
        }
        foreseen
    }

    fn push(&self, address: u64) {
        if !self.returns.is_empty() {
            self.returns[self.top.get()].set(address);
            self.top.set((self.top.get() + 1) % self.returns.len());
        }
    }

    fn pop(&self) -> Option<u64> {
        let count = self.returns.len();
        if count == 0 {
            return None;
        }
        self.top.set((self.top.get() + count - 1) % count);
        Some(self.returns[self.top.get()].get())
    }

    fn remembers(&self, pc: u64, target: u64) -> bool {
        let Some(mask) = self.targets.len().checked_sub(1) else {
            return false;
        };
        let place = &self.targets[(pc >> 1) as usize & mask];
        place.replace((pc, target)) == (pc, target)
    }

    /// The state as numbers: for snapshots.
    pub fn save(&self) -> Vec<u64> {
        let mut all = vec![self.top.get() as u64];
        all.extend(self.counters.iter().map(|c| u64::from(c.get())));
        all.extend(self.targets.iter().flat_map(|t| <[u64; 2]>::from(t.get())));
        all.extend(self.returns.iter().map(Cell::get));
        all
    }

    /// Takes what [`save`](Self::save) gave. False: it is of another predictor.
    #[must_use]
    pub fn restore(&self, saved: &[u64]) -> bool {
        let (counters, targets) = (self.counters.len(), self.targets.len());
        if saved.len() != 1 + counters + 2 * targets + self.returns.len() {
            return false;
        }
        let (top, rest) = saved.split_at(1);
        let (counts, rest) = rest.split_at(counters);
        let (pairs, returns) = rest.split_at(2 * targets);
        let is_known = counts.iter().all(|&c| c < 4);
        if !is_known || top[0] != 0 && top[0] as usize >= self.returns.len() {
            return false;
        }
        self.top.set(top[0] as usize);
        for (place, &value) in self.counters.iter().zip(counts) {
            place.set(value as u8);
        }
        for (place, pair) in self.targets.iter().zip(pairs.chunks(2)) {
            place.set((pair[0], pair[1]));
        }
        for (place, &value) in self.returns.iter().zip(returns) {
            place.set(value);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_counters_the_direction_decides() {
        let predictor = Predictor::new(PredictorShape::default());
        assert!(predictor.branch(100, 50, true) && predictor.branch(100, 200, false));
        assert!(!predictor.branch(100, 50, false) && !predictor.branch(100, 200, true));
        assert!(!predictor.jump(0, 100, 4, 0, Some(1)));
        assert!(!predictor.jump(0, 100, 4, 0, Some(7)));
    }

    #[test]
    fn the_past_is_remembered() {
        let predictor = Predictor::new(PredictorShape {
            counters: 4,
            targets: 4,
            returns: 2,
        });
        let taken = [true, true, true, false, true];
        let foreseen = taken.map(|taken| predictor.branch(8, 100, taken));
        assert_eq!(foreseen, [false, true, true, false, true]);
        // Two calls and their returns; a third return finds what was there before.
        assert!(predictor.jump(0x100, 0x200, 0x104, 1, None));
        assert!(!predictor.jump(0x200, 0x300, 0x204, 1, Some(10)));
        assert!(predictor.jump(0x300, 0x204, 0x302, 0, Some(1)));
        assert!(predictor.jump(0x210, 0x104, 0x212, 0, Some(1)));
        assert!(!predictor.jump(0x110, 0x500, 0x112, 0, Some(1)));
        assert!(predictor.jump(0x200, 0x300, 0x204, 1, Some(10)));
        let saved = predictor.save();
        assert!(predictor.restore(&saved) && !predictor.restore(&saved[1..]));
    }
}
