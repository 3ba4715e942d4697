//! The loops around blocks, and how often these are executed.
use crate::code::Code;

/// Rounds of a loop of which nothing is known.
const ROUNDS: i64 = 8;
const DEEPEST: u32 = 6;

/// For each block, in relation to the function's entry.
pub fn frequencies(code: &Code) -> Vec<i64> {
    let depths = depths(code).into_iter();
    depths.map(|depth| ROUNDS.pow(depth.min(DEEPEST))).collect()
}

/// How many loops a block is in, as far as the numbers of blocks tell. A loop is what stands between
/// a block and the last one that leads back to it.
pub fn depths(code: &Code) -> Vec<u32> {
    let mut ends = vec![None; code.ranges.len()];
    for (block, succs) in code.succs.iter().enumerate() {
        for to in succs.iter().filter(|to| to.index() <= block) {
            ends[to.index()] = Some(block);
        }
    }
    let mut depths = vec![0; code.ranges.len()];
    for (start, end) in ends.into_iter().enumerate() {
        if let Some(end) = end {
            depths[start..=end].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}
