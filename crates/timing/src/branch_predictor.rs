//! Which branches and jumps a hart foresees.
use std::cell::Cell;

mod saved_predictor;

pub use saved_predictor::SavedPredictor;

/// How a hart foresees the directions of conditional branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// All are foreseen: the model has no mispredictions.
    #[default]
    Known,
    /// Backward branches are taken to be taken, and forward ones not.
    Static,
    /// So many counters of two bits, by address; a power of two.
    TwoBit(usize),
}

/// What a hart has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictorShape {
    /// Of conditional branches.
    pub directions: Directions,
    /// Targets of jumps through registers that are remembered, by address; a power of two, or 0. `None`:
    /// all are foreseen.
    pub targets: Option<usize>,
    /// Return addresses that are remembered. `None`: all are foreseen.
    pub returns: Option<usize>,
}

/// The address of a jump, and where it led the last time.
type JumpTarget = Cell<(u64, u64)>;

/// The state of a hart's predictor.
#[derive(Debug)]
pub struct Predictor {
    directions: Directions,
    /// 0 and 1: not taken; 2 and 3: taken.
    counters: Box<[Cell<u8>]>,
    targets: Option<Box<[JumpTarget]>>,
    returns: Option<Box<[Cell<u64>]>>,
    /// The place of the next return address.
    top: Cell<usize>,
}

fn is_link(register: usize) -> bool {
    matches!(register, 1 | 5)
}

impl Predictor {
    /// A predictor that knows nothing.
    pub fn new(shape: PredictorShape) -> Self {
        let counters = match shape.directions {
            Directions::TwoBit(counters) => counters,
            Directions::Known | Directions::Static => 0,
        };
        let targets = |count| (0..count).map(|_| Cell::new((0, 0))).collect();
        let returns = |count| (0..count).map(|_| Cell::new(0)).collect();
        Self {
            directions: shape.directions,
            counters: (0..counters).map(|_| Cell::new(1)).collect(),
            targets: shape.targets.map(targets),
            returns: shape.returns.map(returns),
            top: Cell::new(0),
        }
    }

    /// A conditional branch. Was it foreseen?
    #[inline]
    pub fn branch(&self, pc: u64, target: u64, taken: bool) -> bool {
        let mask = match self.directions {
            Directions::Known => return true,
            Directions::Static => return taken == (target < pc),
            Directions::TwoBit(counters) => counters - 1,
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
            Some(_) if returns => self.pops(target),
            Some(_) => self.remembers(pc, target),
        };
        if is_link(rd) {
            self.push(behind);
        }
        foreseen
    }

    fn push(&self, address: u64) {
        if let Some(returns) = self.returns.as_ref().filter(|r| !r.is_empty()) {
            returns[self.top.get()].set(address);
            self.top.set((self.top.get() + 1) % returns.len());
        }
    }

    /// Takes the last return address. Is it this one?
    fn pops(&self, target: u64) -> bool {
        let Some(returns) = &self.returns else {
            return true;
        };
        let count = returns.len();
        if count == 0 {
            return false;
        }
        self.top.set((self.top.get() + count - 1) % count);
        returns[self.top.get()].get() == target
    }

    fn remembers(&self, pc: u64, target: u64) -> bool {
        let Some(targets) = &self.targets else {
            return true;
        };
        let Some(mask) = targets.len().checked_sub(1) else {
            return false;
        };
        let place = &targets[(pc >> 1) as usize & mask];
        place.replace((pc, target)) == (pc, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_counters_the_direction_decides() {
        let predictor = Predictor::new(PredictorShape {
            directions: Directions::Static,
            targets: Some(0),
            returns: Some(0),
        });
        assert!(predictor.branch(100, 50, true) && predictor.branch(100, 200, false));
        assert!(!predictor.branch(100, 50, false) && !predictor.branch(100, 200, true));
        assert!(!predictor.jump(0, 100, 4, 0, Some(1)));
        assert!(!predictor.jump(0, 100, 4, 0, Some(7)));
    }

    #[test]
    fn the_past_is_remembered() {
        let predictor = Predictor::new(PredictorShape {
            directions: Directions::TwoBit(4),
            targets: Some(4),
            returns: Some(2),
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
        let all = Predictor::new(PredictorShape::default());
        assert!(
            all.branch(8, 100, true)
                && all.jump(0, 8, 4, 0, Some(1))
                && all.jump(0, 8, 4, 0, Some(9))
        );
    }
}
