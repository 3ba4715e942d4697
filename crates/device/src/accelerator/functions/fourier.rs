//! The Fourier transform of 16 x 16 complex points: the accelerator of the paper's image chain (M3x, section 7.6).
use super::{Complex, POINTS, POINTS_SIZE, points, put_points};
use crate::accelerator::{Accelerator, Computed};

/// Points of a row, and rows.
const SIDE: usize = 16;

/// A transform of rows, and then of columns.
pub(super) struct Fourier {
    /// The sign of the exponent.
    sign: f32,
    /// What the result is multiplied by.
    scale: f32,
}

impl Fourier {
    pub const FORWARD: Self = Self {
        sign: -1.0,
        scale: 1.0,
    };
    /// With it, a forward transform gives the input again.
    pub const INVERSE: Self = Self {
        sign: 1.0,
        scale: 1.0 / POINTS as f32,
    };

    /// exp(2 pi i sign n / 16).
    fn root(&self, n: usize) -> Complex {
        let angle = std::f64::consts::TAU * (n % SIDE) as f64 / SIDE as f64;
        Complex {
            re: angle.cos() as f32,
            im: self.sign * angle.sin() as f32,
        }
    }

    /// Transforms the 16 points that are `step` apart (Cooley and Tukey, radix 2, decimation in time).
    fn row(&self, points: &mut [Complex; POINTS], first: usize, step: usize) {
        let mut row: [Complex; SIDE] = std::array::from_fn(|n| {
            let reversed = n.reverse_bits() >> (usize::BITS - SIDE.trailing_zeros());
            points[first + step * reversed]
        });
        let mut half = 1;
        while half < SIDE {
            for start in (0..SIDE).step_by(2 * half) {
                for n in 0..half {
                    let turned = row[start + half + n] * self.root(n * SIDE / (2 * half));
                    let even = row[start + n];
                    (row[start + n], row[start + half + n]) = (even + turned, even - turned);
                }
            }
            half *= 2;
        }
        for (n, value) in row.into_iter().enumerate() {
            points[first + step * n] = value;
        }
    }
}

impl Accelerator for Fourier {
    fn block(&self, memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        if size == 0 {
            return Computed::bytes(0);
        }
        let mut all = points(&memory[..size]);
        (0..SIDE).for_each(|row| self.row(&mut all, SIDE * row, 1));
        (0..SIDE).for_each(|column| self.row(&mut all, column, SIDE));
        let scale = Complex {
            re: self.scale,
            im: 0.0,
        };
        put_points(memory, &all.map(|point| point * scale));
        Computed::bytes(POINTS_SIZE.min(memory.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, in double precision.
    fn slow(points: &[Complex; POINTS], u: usize, v: usize) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for (n, point) in points.iter().enumerate() {
            let turns = (u * (n / SIDE) + v * (n % SIDE)) as f64 / SIDE as f64;
            let (sin, cos) = (-std::f64::consts::TAU * turns).sin_cos();
            let (re, im) = (f64::from(point.re), f64::from(point.im));
            sum = (sum.0 + re * cos - im * sin, sum.1 + re * sin + im * cos);
        }
        sum
    }

    #[test]
    fn transforms_agree_with_the_definition_and_each_other() {
        let input: [Complex; POINTS] = std::array::from_fn(|n| Complex {
            re: (n * 37 % 101) as f32 - 50.0,
            im: (n * 53 % 89) as f32 / 7.0,
        });
        let mut memory = vec![0xaa; 2 * POINTS_SIZE];
        put_points(&mut memory, &input);
        let computed = Fourier::FORWARD.block(&mut memory, POINTS_SIZE, false);
        assert_eq!(computed, Computed::bytes(POINTS_SIZE));
        let output = points(&memory);
        for (n, point) in output.iter().enumerate() {
            let (re, im) = slow(&input, n / SIDE, n % SIDE);
            let error = (f64::from(point.re) - re).hypot(f64::from(point.im) - im);
            assert!(error < 1e-2, "{n}: {point:?} is not {re} + {im}i");
        }
        Fourier::INVERSE.block(&mut memory, POINTS_SIZE, true);
        for (again, point) in points(&memory).iter().zip(&input) {
            assert!((again.re - point.re).abs() < 1e-3 && (again.im - point.im).abs() < 1e-3);
        }
        assert!(memory[POINTS_SIZE..].iter().all(|&byte| byte == 0xaa));
        // A short block is filled up with zeros.
        let mut short = memory.clone();
        memory[8..POINTS_SIZE].fill(0);
        Fourier::FORWARD.block(&mut memory, POINTS_SIZE, true);
        Fourier::FORWARD.block(&mut short, 8, true);
        assert_eq!(short, memory);
        assert_eq!(
            Fourier::FORWARD.block(&mut short, 0, true),
            Computed::bytes(0)
        );
    }
}
