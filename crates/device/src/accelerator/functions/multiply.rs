//! Multiplies the points of a block by those of a filter, one by one: the filter of the image chain.
use super::{POINTS_SIZE, points, put_points};
use crate::accelerator::{Accelerator, Computed};

/// The filter lies behind the block in the local memory.
pub(super) struct Multiply;

impl Accelerator for Multiply {
    fn block(&self, memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        let Some((block, filter)) = memory.split_at_mut_checked(POINTS_SIZE) else {
            return Computed::bytes(0);
        };
        let filter = points(filter);
        let mut all = points(&block[..size.min(POINTS_SIZE)]);
        all.iter_mut()
            .zip(filter)
            .for_each(|(point, factor)| *point = *point * factor);
        put_points(block, &all);
        Computed::bytes(if size == 0 { 0 } else { POINTS_SIZE })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Complex, POINTS};
    use super::*;

    #[test]
    fn points_are_multiplied() {
        let number = |re, im| Complex { re, im };
        let mut memory = vec![0; 2 * POINTS_SIZE];
        put_points(&mut memory, &[number(1.0, 2.0); POINTS]);
        put_points(&mut memory[POINTS_SIZE..], &[number(3.0, -1.0); POINTS]);
        let computed = Multiply.block(&mut memory, POINTS_SIZE, false);
        assert_eq!(computed, Computed::bytes(POINTS_SIZE));
        assert_eq!(points(&memory), [number(5.0, 5.0); POINTS]);
        assert_eq!(points(&memory[POINTS_SIZE..]), [number(3.0, -1.0); POINTS]);
        // A local memory without room for a filter.
        assert_eq!(Multiply.block(&mut [0; 64], 64, false), Computed::bytes(0));
    }
}
