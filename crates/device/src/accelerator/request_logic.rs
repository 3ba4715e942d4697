//! What an accelerator of requests computes: steps over arrays that are in the memory of other tiles.
use super::functions::VectorSum;
use crate::device::Refused;

/// Where the arrays of a request are, by their numbers. An access that is refused ends the step: the array is not so
/// long, or what is there has still to come. Then the step is made again from its start, and nothing that it has
/// written counts.
pub trait Arrays {
    /// Reads bytes of an array.
    fn read(&mut self, array: usize, offset: usize, bytes: &mut [u8]) -> Result<(), Refused>;
    /// Writes bytes of an array.
    fn write(&mut self, array: usize, offset: usize, bytes: &[u8]) -> Result<(), Refused>;
}

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

/// The accelerator of requests that comes with Flick and has this name
/// ([`REQUEST_FUNCTIONS`](flick_abi::accelerator::REQUEST_FUNCTIONS)). `None`: there is none.
pub fn request_by_name(name: &str) -> Option<Box<dyn RequestAccelerator>> {
    Some(match name {
        "vector-sum" => Box::new(VectorSum),
        _ => return None,
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
