//! FFT-1D: the Fourier transform of 16,384 complex points in double precision (the size is that of M3x, section 7.5).
//! By Stockham's algorithm with radix 2, each stage reads one array and writes another, so that no stage has to sort
//! points. The butterflies of all 14 stages, one after the other, are divided evenly among 352 steps, as many as M3x
//! has.
use super::steps::{Array, Arrays, Role, Steps};
use crate::device::Refused;

const POINTS: usize = 16_384;
const STAGES: usize = POINTS.trailing_zeros() as usize;
/// Butterflies of a stage.
const BUTTERFLIES: usize = POINTS / 2;
const STEPS: usize = 352;

const INPUT: usize = 0;
const OUTPUT: usize = 1;
const WORK: usize = 2;

/// A point is its real and its imaginary part.
pub(super) struct LongFourier;

fn point(arrays: &mut dyn Arrays, array: usize, at: usize) -> Result<[f64; 2], Refused> {
    Ok([arrays.f64(array, 2 * at)?, arrays.f64(array, 2 * at + 1)?])
}

fn set_point(
    arrays: &mut dyn Arrays,
    array: usize,
    at: usize,
    [re, im]: [f64; 2],
) -> Result<(), Refused> {
    arrays.set_f64(array, 2 * at, re)?;
    arrays.set_f64(array, 2 * at + 1, im)
}

/// Where a stage reads, and where it writes: the last one writes the output.
fn places(stage: usize) -> (usize, usize) {
    match stage {
        0 => (INPUT, WORK),
        _ if stage.is_multiple_of(2) => (OUTPUT, WORK),
        _ => (WORK, OUTPUT),
    }
}

const _: () = assert!(STAGES.is_multiple_of(2), "the last stage is odd");

/// A butterfly of a stage, of 0 to [`BUTTERFLIES`].
fn butterfly(arrays: &mut dyn Arrays, stage: usize, number: usize) -> Result<(), Refused> {
    let (from, to) = places(stage);
    // So many transforms lie interleaved, and each is of so many points.
    let transforms = 1 << stage;
    let points = POINTS >> stage;
    let (place, transform) = (number / transforms, number % transforms);
    let [a, b] = [place, place + points / 2].map(|place| transform + transforms * place);
    let (a, b) = (point(arrays, from, a)?, point(arrays, from, b)?);
    let (sin, cos) = (-std::f64::consts::TAU * place as f64 / points as f64).sin_cos();
    let [re, im] = [a[0] - b[0], a[1] - b[1]];
    let turned = [re * cos - im * sin, re * sin + im * cos];
    let at = transform + transforms * 2 * place;
    set_point(arrays, to, at, [a[0] + b[0], a[1] + b[1]])?;
    set_point(arrays, to, at + transforms, turned)
}

impl Steps for LongFourier {
    fn arrays(&self) -> &'static [Array] {
        const {
            &[
                Array::of::<[f64; 2]>("points", POINTS, Role::Input),
                Array::of::<[f64; 2]>("transform", POINTS, Role::Output),
                Array::of::<[f64; 2]>("work", POINTS, Role::Work),
            ]
        }
    }

    fn steps(&self) -> u64 {
        STEPS as u64
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<(), Refused> {
        let first = |step: usize| step * STAGES * BUTTERFLIES / STEPS;
        let number = number as usize;
        for butterfly_of_all in first(number)..first(number + 1) {
            let stage = butterfly_of_all / BUTTERFLIES;
            butterfly(arrays, stage, butterfly_of_all % BUTTERFLIES)?;
        }
        Ok(())
    }
}
