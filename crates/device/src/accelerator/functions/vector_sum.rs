//! The sum of two vectors: an example of an accelerator of requests.
use super::super::{Arrays, RequestAccelerator};
use crate::device::Refused;

/// Numbers of a step.
const STEP: usize = 8;
const NUMBER: usize = size_of::<f64>();

/// Arrays 0 and 1 have numbers in double precision, and array 2 becomes their sums.
pub struct VectorSum;

impl RequestAccelerator for VectorSum {
    fn steps(&self, sizes: &[u64]) -> Option<u64> {
        let &[first, second, sums] = sizes else {
            return None;
        };
        let is_whole = first.is_multiple_of((STEP * NUMBER) as u64);
        (is_whole && first == second && first == sums).then(|| first / (STEP * NUMBER) as u64)
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused> {
        let start = usize::try_from(number).map_err(|_| Refused)?;
        let start = start.checked_mul(STEP * NUMBER).ok_or(Refused)?;
        let mut numbers = [[0; STEP * NUMBER]; 2];
        for (array, bytes) in numbers.iter_mut().enumerate() {
            arrays.read(array, start, bytes)?;
        }
        let [first, second] = numbers.map(|bytes| {
            let (all, _) = bytes.as_chunks::<NUMBER>();
            std::array::from_fn::<_, STEP, _>(|n| f64::from_le_bytes(all[n]))
        });
        let sums = first.into_iter().zip(second).map(|(a, b)| a + b);
        let bytes: Vec<u8> = sums.flat_map(f64::to_le_bytes).collect();
        arrays.write(2, start, &bytes)?;
        Ok(None)
    }
}
