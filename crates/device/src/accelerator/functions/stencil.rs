//! Stencil-3D: each point of a grid of 32 x 32 x 64 becomes a weighted sum of itself and its six neighbours
//! (MachSuite, stencil/stencil3d; the size is that of M3x, section 7.5). A step is a row.
use super::steps::{Array, Arrays, Role, Steps};
use crate::device::Refused;

/// Rows of a plane, and planes.
const SIDE: usize = 32;
/// Points of a row.
const ROW: usize = 64;
const POINTS: usize = SIDE * SIDE * ROW;
/// Rows that are at no border, in a plane.
const INNER: usize = SIDE - 2;

const WEIGHTS: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;

/// Points are 32-bit integers, of which sums and products wrap. Those at the border stay as they are.
pub(super) struct Stencil;

/// The rows (or planes) that belong to the step of one: itself, and the border beside it.
fn with_border(one: usize) -> std::ops::RangeInclusive<usize> {
    match one {
        1 => 0..=1,
        INNER => INNER..=INNER + 1,
        _ => one..=one,
    }
}

fn place(plane: usize, row: usize, point: usize) -> usize {
    (plane * SIDE + row) * ROW + point
}

/// The sum at a point that is at no border.
fn sum(arrays: &mut dyn Arrays, at: usize) -> Result<i32, Refused> {
    let own = arrays.i32(FROM, at)?;
    let mut others: i32 = 0;
    for distance in [1, ROW, SIDE * ROW] {
        for neighbour in [at - distance, at + distance] {
            others = others.wrapping_add(arrays.i32(FROM, neighbour)?);
        }
    }
    let own = own.wrapping_mul(arrays.i32(WEIGHTS, 0)?);
    Ok(own.wrapping_add(others.wrapping_mul(arrays.i32(WEIGHTS, 1)?)))
}

impl Steps for Stencil {
    fn arrays(&self) -> &'static [Array] {
        const {
            &[
                Array::of::<i32>("weights", 2, Role::Input),
                Array::of::<i32>("grid", POINTS, Role::Input),
                Array::of::<i32>("result", POINTS, Role::Output),
            ]
        }
    }

    fn steps(&self) -> u64 {
        (INNER * INNER) as u64
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<(), Refused> {
        let number = number as usize;
        let (own_plane, own_row) = (1 + number / INNER, 1 + number % INNER);
        for plane in with_border(own_plane) {
            for row in with_border(own_row) {
                let is_inner = (plane, row) == (own_plane, own_row);
                for point in 0..ROW {
                    let at = place(plane, row, point);
                    let value = match is_inner && (1..ROW - 1).contains(&point) {
                        true => sum(arrays, at)?,
                        false => arrays.i32(FROM, at)?,
                    };
                    arrays.set_i32(TO, at, value)?;
                }
            }
        }
        Ok(())
    }
}
