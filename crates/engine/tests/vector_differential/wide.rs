//! Registers that are wider than qemu's: a group of four registers is one of four times their
//! width. So the same instruction on VLEN and four times LMUL, with the numbers of registers four
//! times as large, leaves the same bytes.

use flick_engine::fp::env;
use flick_engine::vector::VectorState;
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};
use flick_riscv_testing::values::{self, Rng};

use flick_riscv_testing::vector_cases::{self, ARITHMETIC, Choice, Kind, MEMORY};

const MEMORY_SIZE: usize = 32 * 1024;

/// What an instruction leaves: exit, registers, vector registers, memory.
#[derive(PartialEq, Eq)]
struct After {
    exit: Exit,
    x: [u64; 32],
    f: [u64; 32],
    fcsr: u64,
    vectors: Vec<u8>,
    memory: Vec<u8>,
}

/// What it begins with.
struct Before {
    hart: Hart,
    fcsr: u32,
    vtype: u64,
    image: Vec<u8>,
    memory: Vec<u8>,
}

fn execute(vlen: u32, word: u32, vtype: u64, before: &Before, buffer: &mut [u8]) -> After {
    let mut vectors = VectorState::new(vlen).expect("a VLEN that there is");
    let vlenb = vlen as usize / 8;
    for (n, bytes) in before.image.chunks(vlenb).enumerate() {
        vectors.set_register(n, bytes);
    }
    buffer.copy_from_slice(&before.memory);
    // vsetvl x0, x5, x6; csrw vstart, x7; csrw vcsr, x8; the instruction; ret
    let words = [0x8062_f057, 0x0083_9073, 0x00f4_1073, word, 0x0000_8067];
    // SAFETY: the words outlive the region and do not change.
    let region = unsafe { CodeRegion::new(words.as_ptr() as u64, size_of_val(&words) as u64) };
    // SAFETY: the generated code stays in the buffer.
    let memory = unsafe { Identity::new() };
    let mut hart = before.hart;
    hart.x[6] = vtype;
    hart.pc = region.base();
    let saved = env::mxcsr();
    flick_engine::fp::write_fcsr(&mut hart, before.fcsr.into());
    let mut core = ProcessCore::new(&memory, &region).with_vectors(&mut vectors);
    let exit = run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited);
    let fcsr = flick_engine::fp::read_fcsr(&hart);
    env::set_mxcsr(saved);
    hart.x[6] = 0;
    let vectors =
        (0..before.image.len() / vlenb).flat_map(|n| vectors.register(n).collect::<Vec<_>>());
    // The words differ, and stand in the exit.
    let exit = match exit {
        Exit::Illegal { .. } => Exit::Illegal { bits: 0 },
        exit => exit,
    };
    After {
        exit,
        x: hart.x,
        f: hart.f,
        fcsr,
        vectors: vectors.collect(),
        memory: buffer.to_vec(),
    }
}

/// The word with vector registers of a quarter of the number.
fn quartered(choice: &Choice, word: u32, vtype: u64) -> Option<u32> {
    let field = |at: u32| word >> at & 31;
    let mut fields = vec![7, 20];
    match choice.kind {
        Kind::Arithmetic(n) => {
            let row = &ARITHMETIC[n];
            if choice.form == 'v' {
                fields.push(15);
            }
            if matches!(row.name, "vmv.x.s" | "vcpop" | "vfirst" | "vfmv.f.s") {
                fields.retain(|&at| at != 7);
            }
            // Registers of a fixed number; what is not in the place of vs2.
            if row.name.ends_with('r') && row.name.starts_with("vmv") {
                return None;
            }
        }
        // Fields in groups below four registers: the next begins elsewhere.
        Kind::Memory(_) if word >> 29 != 0 && (word >> 12 & 3) < (vtype >> 3 & 3) as u32 => {
            return None;
        }
        Kind::Memory(n) => match MEMORY[n] {
            (_, _, 0, Some(0 | 16)) | (_, _, 2, _) => fields.retain(|&at| at != 20),
            (_, _, 1 | 3, _) => {}
            _ => return None,
        },
        _ => return None,
    }
    let aligned = fields.iter().all(|&at| field(at).is_multiple_of(4));
    aligned.then(|| {
        fields.iter().fold(word, |word, &at| {
            let number = word >> at & 31;
            word & !(31 << at) | (number / 4) << at
        })
    })
}

/// Executes `cases` random instructions with both.
pub fn test(cases: usize, seed: u64) -> Result<(), String> {
    let mut rng = Rng(seed);
    let (mut compared, mut legal) = (0, 0);
    let mut buffer = vec![0; MEMORY_SIZE];
    while compared < cases {
        let choice = vector_cases::choose(&mut rng, None);
        let vtype = vector_cases::vtype(&mut rng, &choice);
        // LMUL of 4 and 8, or 1 and 2.
        let wide_lmul = rng.below(2);
        let vtype = vtype & 0xf8 | (wide_lmul + 2);
        let word = vector_cases::word(&mut rng, &choice, wide_lmul as u32 + 2);
        let Some(choice) = vector_cases::classify(word) else {
            continue;
        };
        let Some(wide) = quartered(&choice, word, vtype) else {
            continue;
        };
        let vlen = rng.pick(&[512, 1024]);
        let before = before(&mut rng, &choice, word, vlen, vtype, buffer.as_ptr() as u64);
        let narrow_result = execute(vlen, word, before.vtype, &before, &mut buffer);
        let wide_result = execute(vlen * 4, wide, before.vtype - 2, &before, &mut buffer);
        compared += 1;
        // EMUL above 8 or below 1, which these may have, is another one with other registers.
        let has_others = vector_cases::is_double(&choice)
            || matches!(choice.kind, Kind::Memory(_))
            || choice.name().contains(".vf")
            || choice.name().starts_with("vrgatherei16");
        if has_others && narrow_result.exit != wide_result.exit {
            continue;
        }
        legal += usize::from(narrow_result.exit == Exit::Leave);
        if narrow_result != wide_result {
            let at = (0..before.image.len())
                .find(|&n| narrow_result.vectors[n] != wide_result.vectors[n]);
            return Err(format!(
                "{} {word:#x} with VLEN {vlen}, {wide:#x} with four times it: vtype {vtype:#x}, \
                 {:?} and {:?}, byte {at:x?} of the registers",
                choice.name(),
                narrow_result.exit,
                wide_result.exit
            ));
        }
    }
    println!("{compared} instructions with VLEN 2048 and 4096, {legal} legal");
    match legal {
        legal if legal * 2 > compared => Ok(()),
        _ => Err("few are legal".into()),
    }
}

fn before(rng: &mut Rng, choice: &Choice, word: u32, vlen: u32, vtype: u64, memory: u64) -> Before {
    let sew = 3 + (vtype >> 3 & 3);
    let vlmax = u64::from(vlen) << (vtype & 7) >> sew;
    let mut hart = Hart::ZERO;
    for n in 10..18 {
        hart.x[n] = match rng.below(3) {
            0 => rng.below(vlmax + 2),
            _ => values::integer(rng),
        };
    }
    for f in &mut hart.f {
        *f = if sew == 6 {
            values::double(rng)
        } else {
            values::boxed(rng)
        };
    }
    hart.x[5] = if rng.chance(50) {
        vlmax
    } else {
        rng.below(vlmax + 1)
    };
    hart.x[7] = if rng.chance(90) { 0 } else { rng.below(8) };
    hart.x[8] = rng.below(8);
    // 32 registers, or eight wide ones.
    let mut image = vec![0; vlen as usize * 4];
    for bytes in image.as_chunks_mut::<8>().0 {
        let value = match (choice.is_float(), sew) {
            (true, 6) => values::double(rng),
            (true, _) => u64::from(values::single(rng)) << 32 | u64::from(values::single(rng)),
            _ => values::integer(rng) ^ values::integer(rng) << 16,
        };
        *bytes = value.to_le_bytes();
    }
    if let Kind::Memory(n) = choice.kind {
        // In the middle: strides go both ways.
        hart.x[10] = memory + MEMORY_SIZE as u64 / 2;
        for n in 11..18 {
            hart.x[n] = rng.below(24).wrapping_sub(12);
        }
        if MEMORY[n].2 & 1 != 0 {
            let register = (word >> 20 & 31) as usize;
            let bytes = [1, 0, 0, 0, 0, 2, 4, 8][word as usize >> 12 & 7];
            let start = register * vlen as usize / 8;
            for at in (start..image.len()).step_by(bytes) {
                let index = rng.below(256);
                image[at..at + bytes].copy_from_slice(&index.to_le_bytes()[..bytes]);
            }
        }
    }
    let memory = (0..MEMORY_SIZE).map(|_| rng.next() as u8).collect();
    Before {
        hart,
        fcsr: (rng.below(5) << 5) as u32,
        vtype,
        image,
        memory,
    }
}
