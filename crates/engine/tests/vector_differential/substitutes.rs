//! Instructions that make qemu-riscv64 7.2 fail: conversions to integers towards zero
//! (`vfcvt.rtz` and its like) end it with a failed assertion. It is given the conversions that round
//! as frm says, and frm for them.

use flick_riscv_testing::vector_cases::{self, Case, FCSR, Layout, get, put};

use crate::execute;

/// Bits of frm in fcsr.
const FRM: u64 = 7 << 5;
/// frm: towards zero.
const RTZ: u64 = 1 << 5;

/// The word for qemu.
fn word(word: u32) -> u32 {
    let is_towards_zero = word & 0xfc03_707f == 0x4803_1057;
    // From the functions 6 and 7 of eight to 0 and 1.
    if is_towards_zero {
        word & !(6 << 15)
    } else {
        word
    }
}

/// The data as qemu-riscv64 leaves them.
pub fn qemu(layout: &Layout, cases: &[Case], data: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let words: Vec<u32> = cases.iter().map(|case| word(case.word)).collect();
    let code = vector_cases::code(layout, &words);
    let mut given = data.to_vec();
    let at = |n: usize| Layout::HEAD + n * layout.record() + FCSR;
    let replaced = (0..cases.len()).filter(|&n| words[n] != cases[n].word);
    for n in replaced.clone() {
        let fcsr = get(data, at(n));
        // A reserved mode stays.
        if fcsr & FRM <= 4 << 5 {
            put(&mut given, at(n), fcsr & !FRM | RTZ);
        }
    }
    let mut results = execute::qemu(layout, &code, &given, name)?;
    for n in replaced {
        let fcsr = get(&results, at(n)) & !FRM | get(data, at(n)) & FRM;
        put(&mut results, at(n), fcsr);
    }
    Ok(results)
}
