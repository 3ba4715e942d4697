//! Accelerators that come with Flick, by the names that machine files give them.
mod fourier;
mod long_fourier;
mod molecules;
mod multiply;
mod sha256;
mod sparse_product;
mod stencil;
pub mod steps;

use super::Accelerator;
use fourier::Fourier;
use long_fourier::LongFourier;
use molecules::Molecules;
use multiply::Multiply;
use sha256::Sha256;
use sparse_product::SparseProduct;
use stencil::Stencil;
use steps::{Steps, WholeBlocks};

/// Bytes of a block of 16 x 16 complex points.
pub const POINTS_SIZE: usize = POINTS * POINT_SIZE;
/// Points of a block.
const POINTS: usize = 256;
/// Bytes of a point: real and imaginary part in single precision.
const POINT_SIZE: usize = 8;

/// The names of accelerators.
pub const NAMES: [&str; 8] = [
    "fft", "ifft", "mul", "sha256", "stencil", "md", "spmv", "fft1d",
];
/// Those that compute in steps.
pub const COMPUTATIONS: [(&str, &dyn Steps); 4] = [
    ("stencil", &Stencil),
    ("md", &Molecules),
    ("spmv", &SparseProduct),
    ("fft1d", &LongFourier),
];

/// The accelerator with this name. `None`: there is none.
pub fn by_name(name: &str) -> Option<Box<dyn Accelerator>> {
    Some(match name {
        "fft" => Box::new(Fourier::FORWARD),
        "ifft" => Box::new(Fourier::INVERSE),
        "mul" => Box::new(Multiply),
        "sha256" => Box::new(Sha256),
        "stencil" => Box::new(WholeBlocks(Stencil)),
        "md" => Box::new(WholeBlocks(Molecules)),
        "spmv" => Box::new(WholeBlocks(SparseProduct)),
        "fft1d" => Box::new(WholeBlocks(LongFourier)),
        _ => return None,
    })
}

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Complex {
    re: f32,
    im: f32,
}

impl std::ops::Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl std::ops::Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl std::ops::Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// The points at the start of a memory. Those that it lacks are 0.
fn points(memory: &[u8]) -> [Complex; POINTS] {
    let mut points = [Complex::default(); POINTS];
    for (point, bytes) in points.iter_mut().zip(memory.chunks_exact(POINT_SIZE)) {
        let part = |at: usize| {
            f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        *point = Complex {
            re: part(0),
            im: part(4),
        };
    }
    points
}

/// Writes points to the start of a memory, as far as it goes.
fn put_points(memory: &mut [u8], points: &[Complex; POINTS]) {
    for (bytes, point) in memory.chunks_exact_mut(POINT_SIZE).zip(points) {
        bytes[..4].copy_from_slice(&point.re.to_le_bytes());
        bytes[4..].copy_from_slice(&point.im.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_accelerators() {
        assert!(NAMES.iter().all(|name| by_name(name).is_some()));
        assert!(by_name("").is_none() && by_name("FFT").is_none());
    }
}
