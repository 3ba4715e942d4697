//! Inputs for what fuzz targets do.
//!
//! Deterministic. `FLICK_INPUTS=n` takes so many, `FLICK_SEED=n` begins at another one.

use std::path::Path;

use crate::values::Rng;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Bytes that are instructions more often than any bytes are.
fn input(rng: &mut Rng) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..24).map(|_| rng.next() as u8).collect();
    for _ in 0..rng.below(200) {
        // One of five halves begins an instruction of 32 bits with one of the major opcodes in use.
        const MAJOR: [u32; 17] = [
            0x03, 0x07, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x3b, 0x43, 0x53, 0x63,
            0x67, 0x6f, 0x57,
        ];
        let any = rng.next() as u32;
        if rng.chance(70) {
            let mut word = any & !127 | rng.pick(&MAJOR);
            if rng.chance(60) {
                // Most functions of seven bits are reserved.
                word = word & !0xfe00_0000 | (rng.pick(&[0, 0x20, 1, 4, 5, 0x10, 0x30]) << 25);
            }
            bytes.extend(word.to_le_bytes());
        } else {
            bytes.extend((any as u16).to_le_bytes());
        }
    }
    bytes
}

/// Calls `f`, the fuzz target `target` of the crate at `root`, with the inputs of its folder and
/// with random ones. `f` says whether an input was of use: a quarter must be.
pub fn inputs(root: &Path, target: &str, f: impl Fn(&[u8]) -> bool) {
    let folder = root.join("tests/fuzz/inputs").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .map(|all| all.map(|file| file.expect("a file").path()).collect())
        .unwrap_or_default();
    files.sort();
    for file in files {
        println!("{}", file.display());
        f(&std::fs::read(&file).expect("an input"));
    }
    let (first, count) = (number("FLICK_SEED", 1), number("FLICK_INPUTS", 150));
    let mut used = 0;
    for seed in first..first + count {
        println!("seed {seed}");
        used += u64::from(f(&input(&mut Rng(seed))));
    }
    assert!(used * 4 >= count, "{used} of {count} inputs were of use");
}
