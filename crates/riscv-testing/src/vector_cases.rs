//! Random vector instructions with random state, for tests that compare what two executors leave.

mod case_comparison;
mod case_records;
mod reserved_operands;
mod stub_program;
mod vector_listing;

pub use case_comparison::Comparison;
pub use case_records::{Batch, Case, make};
pub use reserved_operands::{decoded, reads_two_widths};
pub use stub_program::{
    BARE, F, FCSR, ILLEGAL, LINUX, Layout, Place, V, VCSR, VL, VSTART, VTYPE, X, code, elf, get,
    put,
};
pub use vector_listing::{
    ARITHMETIC, Arithmetic, Choice, Kind, MEMORY, Vm, choose, classify, is_double, is_narrow,
    vtype, word,
};
