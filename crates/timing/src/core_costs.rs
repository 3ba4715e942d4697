//! What the instructions of a simulated hart take, without caches and memories.
use flick_riscv::{Class, Op};

use crate::branch_predictor::PredictorShape;
use crate::memory_system::Time;

/// Classes of instructions, as [`Class`] has them.
pub const CLASSES: [Class; 16] = [
    Class::Int,
    Class::Address,
    Class::Bit,
    Class::Mul,
    Class::Div,
    Class::Load,
    Class::Store,
    Class::Atomic,
    Class::Branch,
    Class::Jump,
    Class::Fp,
    Class::FpMul,
    Class::FpDiv,
    Class::System,
    Class::Privileged,
    Class::Vector,
];

/// Names of [`CLASSES`], as files and reports have them.
pub const CLASS_NAMES: [&str; CLASSES.len()] = [
    "int",
    "address",
    "bit",
    "mul",
    "div",
    "load",
    "store",
    "atomic",
    "branch",
    "jump",
    "fp",
    "fp-mul",
    "fp-div",
    "system",
    "privileged",
    "vector",
];

/// Costs of a kind of core. All times are picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreCosts {
    /// A cycle.
    pub period: Time,
    /// An instruction of each of [`CLASSES`]; at least 1.
    pub classes: [Time; CLASSES.len()],
    /// Further: a branch or jump that is taken and foreseen.
    pub taken: Time,
    /// Further: a branch or jump that is not foreseen.
    pub mispredicted: Time,
    /// An exception or interrupt.
    pub trap: Time,
    /// An access of a device.
    pub device: Time,
    /// Bits of vectors that the core computes in a cycle; 0: a vector instruction takes no more than its
    /// class.
    pub vector_width: u32,
    /// What it foresees.
    pub predictor: PredictorShape,
}

impl CoreCosts {
    /// The cost of an operation.
    pub fn time_of(&self, op: Op) -> Time {
        self.classes[op.class() as usize].max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order() {
        for (n, class) in CLASSES.into_iter().enumerate() {
            assert_eq!(class as usize, n);
        }
        assert!(Op::all().all(|op| (op.class() as usize) < CLASSES.len()));
    }
}
