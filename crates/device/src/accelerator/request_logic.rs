//! What an accelerator of requests computes: steps over arrays that are in the memory of other tiles.
pub use super::functions::steps::Arrays;
use super::functions::steps::Steps;
use super::functions::{COMPUTATIONS, VectorSum};
use crate::device::Refused;

/// An accelerator of requests. It keeps nothing but what is in the arrays, so that a kernel can let another activity
/// use it between two steps. A step depends on nothing but its number and the arrays.
///
/// ```
/// use flick_device::accelerator::{Arrays, Refused, RequestAccelerator};
///
/// /// Inverts each byte of an array. A step is 64 of them.
/// struct Inverter;
///
/// impl RequestAccelerator for Inverter {
///     fn steps(&self, sizes: &[u64]) -> Option<u64> {
///         (sizes.len() == 1 && sizes[0] % 64 == 0).then(|| sizes[0] / 64)
///     }
///
///     fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused> {
///         let (mut bytes, at) = ([0; 64], 64 * number as usize);
///         arrays.read(0, at, &mut bytes)?;
///         arrays.write(0, at, &bytes.map(|byte| !byte))?;
///         Ok(Some(8))
///     }
/// }
/// ```
pub trait RequestAccelerator {
    /// How many steps it has over arrays of so many bytes. `None`: it cannot compute with such arrays.
    fn steps(&self, sizes: &[u64]) -> Option<u64>;
    /// Makes a step, behind all those with lower numbers, and says how many cycles it takes. `None`: as many as the
    /// machine file says. Accesses are refused as [`Arrays`] says, and then the step is, too.
    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused>;
}

/// A computation in steps over arrays of certain sizes.
struct Computation(&'static dyn Steps);

impl RequestAccelerator for Computation {
    fn steps(&self, sizes: &[u64]) -> Option<u64> {
        let own = self.0.arrays().iter().map(|array| array.size as u64);
        own.eq(sizes.iter().copied()).then(|| self.0.steps())
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<Option<u64>, Refused> {
        self.0.step(number, arrays)?;
        Ok(None)
    }
}

/// The accelerator of requests that comes with Flick and has this name
/// ([`REQUEST_FUNCTIONS`](flick_abi::accelerator::REQUEST_FUNCTIONS)). `None`: there is none.
pub fn request_by_name(name: &str) -> Option<Box<dyn RequestAccelerator>> {
    Some(match name {
        "vector-sum" => Box::new(VectorSum),
        _ => {
            let mut all = COMPUTATIONS.into_iter();
            let (_, computation) = all.find(|&(other, _)| other == name)?;
            Box::new(Computation(computation))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_accelerators() {
        let mut names = flick_abi::accelerator::REQUEST_FUNCTIONS.iter();
        assert!(names.all(|name| request_by_name(name).is_some()));
        assert!(request_by_name("").is_none());
    }
}
