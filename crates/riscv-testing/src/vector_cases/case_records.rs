//! Random state for instructions, one by one and for a program of many.

use super::stub_program::{F, FCSR, ILLEGAL, Layout, V, VCSR, VL, VSTART, VTYPE, X, code, put};
use super::vector_listing::{self, Choice, Kind, MEMORY};
use crate::values::{self, Rng};

/// A case: an instruction, and what it is of.
pub struct Case {
    pub choice: Choice,
    pub word: u32,
}

/// A program of random cases.
pub struct Batch {
    pub cases: Vec<Case>,
    /// The head, and the state before each case.
    pub data: Vec<u8>,
    pub code: Vec<u8>,
}

impl Batch {
    /// A program of so many cases, of one opcode if it is named.
    pub fn random(rng: &mut Rng, layout: &Layout, count: usize, opcode: Option<&str>) -> Self {
        let mut data = vec![0; Layout::HEAD + count * layout.record()];
        let records = data[Layout::HEAD..].chunks_mut(layout.record());
        let cases: Vec<Case> = records
            .enumerate()
            .map(|(n, record)| {
                let choice = vector_listing::choose(rng, opcode);
                make(rng, layout, n, record, choice)
            })
            .collect();
        let words: Vec<u32> = cases.iter().map(|case| case.word).collect();
        let code = code(layout, &words);
        Self { cases, data, code }
    }
}

/// A random instruction, and the state before it in `record`, the `n`th one.
pub fn make(rng: &mut Rng, layout: &Layout, n: usize, record: &mut [u8], choice: Choice) -> Case {
    let vtype = vector_listing::vtype(rng, &choice);
    // Logarithms.
    let (sew, lmul) = (3 + (vtype >> 3 & 3) as u32, (vtype & 7) as u32);
    let lmul = if lmul < 4 { lmul } else { 0 };
    let word = vector_listing::word(rng, &choice, lmul);
    // Random words, and those with another vm, may be other instructions.
    let choice = match choice.kind {
        Kind::Config => choice,
        _ => vector_listing::classify(word).unwrap_or(Choice {
            kind: Kind::Random,
            form: ' ',
        }),
    };
    let vlmax = (u64::from(layout.vlen) << lmul) >> sew;

    for n in 0..8 {
        put(record, X + 8 * n, integer(rng, vlmax));
        put(record, F + 8 * n, float(rng, sew));
    }
    let frm = match rng.below(50) {
        0 => 5 + rng.below(3),
        _ => rng.below(5),
    };
    let flags = if rng.chance(70) { 0 } else { rng.below(32) };
    put(record, FCSR, frm << 5 | flags);
    put(record, VCSR, rng.below(8) & !u64::from(rng.chance(70)));
    put(record, VTYPE, vtype);
    let avl = match rng.below(10) {
        0 => 0,
        1 => 1,
        2 => rng.next(),
        3..6 => vlmax,
        _ => rng.below(vlmax + 1),
    };
    put(record, VL, avl);
    let vstart = match rng.below(20) {
        0 => rng.below(vlmax + 1),
        1 => rng.below(4),
        _ => 0,
    };
    // qemu crashes if no element of a whole register is moved.
    let is_whole_move = word & 0xfc00_707f == 0x9c00_3057;
    let vstart = if is_whole_move {
        vstart.min(u64::from(layout.vlen) >> 6)
    } else {
        vstart
    };
    put(record, VSTART, vstart);
    put(record, ILLEGAL, 0);
    contents(rng, &mut record[V..], &choice, sew);
    memory(rng, layout, n, record, &choice, word, (sew, vlmax));
    Case { choice, word }
}

fn integer(rng: &mut Rng, vlmax: u64) -> u64 {
    match rng.below(4) {
        // Slides and indices.
        0 => rng.below(vlmax + 2),
        _ => values::integer(rng),
    }
}

fn float(rng: &mut Rng, sew: u32) -> u64 {
    let nan_box = 0xffff_ffff_0000_0000;
    match (sew, rng.below(8)) {
        (6, 0) => values::tying_double(rng),
        (6, 1) => values::special_double(rng),
        (6, _) => values::double(rng),
        (_, 0) => u64::from(values::tying_single(rng)) | nan_box,
        (_, 1) => u64::from(values::special_single(rng)) | nan_box,
        (_, _) => values::boxed(rng),
    }
}

/// Elements with a taste for edges, of SEW or another width; and the memory behind the registers.
fn contents(rng: &mut Rng, bytes: &mut [u8], choice: &Choice, sew: u32) {
    let kind = rng.below(10);
    let is_float = choice.is_float() && !rng.chance(8);
    for (n, word) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut width = sew;
        // Wide operands of the same instruction.
        if n / 32 % 3 == 1 && sew < 6 && kind < 5 {
            width += 1;
        }
        let value = match (width, kind) {
            (_, 9) => rng.next(),
            (6, 0) if is_float => values::tying_double(rng),
            (6, 1) if is_float => values::special_double(rng),
            (6, _) if is_float => values::double(rng),
            (5, _) if is_float => {
                let mut single = || match kind {
                    0 => values::tying_single(rng),
                    1 => values::special_single(rng),
                    _ => values::single(rng),
                };
                u64::from(single()) | u64::from(single()) << 32
            }
            (6, _) => values::integer(rng),
            (width, _) => {
                let bits = 1 << width;
                let count = 64 / bits;
                (0..count).fold(0, |all, _| {
                    let random = rng.next();
                    let one = match random >> 60 {
                        0..4 => random,
                        4 => 1 << (bits - 1),
                        5 => (1 << (bits - 1)) - 1,
                        6 => u64::MAX,
                        7 => 0,
                        8..12 => random >> (random & 63),
                        _ => !(random >> (random & 63)),
                    };
                    all << bits | one & (u64::MAX >> (64 - bits))
                })
            }
        };
        *word = value.to_le_bytes();
    }
    // Masks: of all kinds.
    let mask = match rng.below(6) {
        0 => Some(u64::MAX),
        1 => Some(0),
        2 => None,
        _ => Some(rng.next()),
    };
    if let Some(mask) = mask {
        let mask = mask | rng.next() & rng.next();
        for word in bytes[..16].as_chunks_mut::<8>().0 {
            *word = mask.to_le_bytes();
        }
    }
}

/// Base, stride and indices that stay in the scratch memory.
fn memory(
    rng: &mut Rng,
    layout: &Layout,
    n: usize,
    record: &mut [u8],
    choice: &Choice,
    word: u32,
    (sew, vlmax): (u32, u64),
) {
    let scratch =
        layout.place.data + (Layout::HEAD + layout.record() * n + layout.scratch()) as u64;
    let size = layout.scratch_size() as u64;
    let rs1 = word >> 15 & 31;
    if matches!(word & 0x7f, 0x07 | 0x27) && rs1 >= 10 {
        // Unit strides take at most eight registers.
        let at = rng.below(size - u64::from(layout.vlen) + 1) & !(rng.pick(&[0, 1, 3, 7]));
        put(record, X + 8 * (rs1 as usize - 10), scratch + at);
    }
    let Kind::Memory(kind) = choice.kind else {
        return;
    };
    let (_, _, mop, _) = MEMORY[kind];
    let width = match word >> 12 & 7 {
        0 => 3,
        width => width - 1,
    };
    let rs2 = (word >> 20 & 31) as usize;
    let fields = u64::from(word >> 29) + 1;
    match mop {
        0 => {}
        2 => {
            let segment = fields << (width - 3);
            // x10 is the base: as a stride it would lead out of the memory.
            let most = ((size - segment) / vlmax.max(1)).min(4096);
            let magnitude = match rng.below(4) {
                0 => 0,
                1 => segment.min(most),
                _ => rng.below(most + 1),
            };
            let negative = rng.chance(40);
            let stride = if negative {
                magnitude.wrapping_neg()
            } else {
                magnitude
            };
            let span = magnitude * vlmax.saturating_sub(1);
            let first = if negative { span } else { 0 };
            let room = size - segment - span;
            put(record, X, scratch + first + rng.below(room + 1));
            if rs2 > 10 {
                put(record, X + 8 * (rs2 - 10), stride);
            }
        }
        _ => {
            let most = (size - 64).min(256) - 64;
            // A group, or what there is of registers.
            let bytes = 1 << (width - 3);
            let start = V + rs2 * layout.vlen as usize / 8;
            let end = (start + layout.vlen as usize).min(layout.scratch());
            for at in (start..end).step_by(bytes) {
                let mut index = rng.below(most);
                if width == 6 && rng.chance(50) {
                    index = index.wrapping_sub(64);
                }
                record[at..at + bytes].copy_from_slice(&index.to_le_bytes()[..bytes]);
            }
            put(record, X, scratch + 64);
        }
    }
    let _ = sew;
}
