//! SPMV: a sparse matrix of 2,048 rows with 39,321 entries, in compressed rows, times a vector (MachSuite, spmv/crs;
//! the size is that of M3x, section 7.5). A step is a row.
use super::steps::{Array, Arrays, Role, Steps};
use crate::device::Refused;

const ROWS: usize = 2048;
const ENTRIES: usize = 39_321;

const VALUES: usize = 0;
const COLUMNS: usize = 1;
const ROW_STARTS: usize = 2;
const VECTOR: usize = 3;
const PRODUCT: usize = 4;

/// Row `n` has the entries from start `n` up to start `n` + 1. An entry in a column that there is not counts as 0.
pub(super) struct SparseProduct;

impl Steps for SparseProduct {
    fn arrays(&self) -> &'static [Array] {
        const {
            &[
                Array::of::<f64>("values", ENTRIES, Role::Input),
                Array::of::<i32>("columns", ENTRIES, Role::Input),
                Array::of::<i32>("row starts", ROWS + 1, Role::Input),
                Array::of::<f64>("vector", ROWS, Role::Input),
                Array::of::<f64>("product", ROWS, Role::Output),
            ]
        }
    }

    fn steps(&self) -> u64 {
        ROWS as u64
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<(), Refused> {
        let row = number as usize;
        let mut start = |row| {
            let start = arrays.i32(ROW_STARTS, row)?;
            Ok(usize::try_from(start).unwrap_or(0).min(ENTRIES))
        };
        let entries = start(row)?..start(row + 1)?;
        let mut sum = 0.0;
        for entry in entries {
            let column = usize::try_from(arrays.i32(COLUMNS, entry)?).unwrap_or(ROWS);
            if column < ROWS {
                sum += arrays.f64(VALUES, entry)? * arrays.f64(VECTOR, column)?;
            }
        }
        arrays.set_f64(PRODUCT, row, sum)
    }
}
