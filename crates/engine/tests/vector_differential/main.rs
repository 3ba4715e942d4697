//! Vector instructions against qemu-riscv64: random words over every opcode, SEW, LMUL, mask and
//! policy, VLEN from 128 to 1024. All vector registers, the vector CSRs, integer and floating-point
//! registers, fcsr and memory are compared, and what is illegal. VLEN 2048 and 4096 are compared
//! with a quarter of them (`wide.rs`).
//!
//! Deterministic. `FLICK_SEED=n` chooses another sequence, `FLICK_CASES=n` the number of
//! instructions, `FLICK_VLEN=n` one VLEN, `FLICK_OPCODE=name` one instruction.

mod deviations;
mod execute;
mod instructions;
mod program;
mod records;
mod substitutes;
mod wide;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use flick_riscv_testing::values::Rng;
use libtest_mimic::{Arguments, Failed, Trial};
use program::{F, FCSR, ILLEGAL, Layout, V, VCSR, VL, VSTART, VTYPE, X, get};
use records::Case;

/// Instructions of a program.
const TOGETHER: usize = 4000;
/// Instructions, unless the user names another number.
const CASES: usize = 32_000;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The programs stand at fixed addresses.
    arguments.test_threads = Some(1);
    let trials = vec![
        Trial::test("qemu", || test().map_err(Failed::from)),
        Trial::test("wide_registers", || {
            let [seed, cases] = [number("FLICK_SEED", 1)?, number("FLICK_CASES", CASES)?];
            wide::test(cases, seed as u64).map_err(Failed::from)
        }),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A number that the user may choose.
fn number(name: &str, default: usize) -> Result<usize, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}: {e}")),
        Err(_) => Ok(default),
    }
}

/// By instruction.
#[derive(Default)]
struct Count {
    legal: usize,
    illegal: usize,
    deviating: usize,
    differing: usize,
    /// vtype and vm of legal ones.
    shapes: BTreeSet<u64>,
}

fn test() -> Result<(), String> {
    let seed = number("FLICK_SEED", 1)? as u64;
    let cases = number("FLICK_CASES", CASES)?;
    let only = number("FLICK_VLEN", 0)? as u32;
    let opcode = std::env::var("FLICK_OPCODE").ok();
    let mut counts = BTreeMap::<String, Count>::new();
    for n in 0..cases.div_ceil(TOGETHER) {
        let vlen = match (only, n % 8) {
            (0, 3) => 256,
            (0, 5) => 512,
            (0, 7) => 1024,
            (0, _) => 128,
            (only, _) => only,
        };
        let layout = Layout { vlen };
        let mut rng = Rng(seed << 32 ^ n as u64);
        let mut data = vec![0; Layout::HEAD + TOGETHER * layout.record()];
        let records = data[Layout::HEAD..].chunks_mut(layout.record());
        let cases: Vec<Case> = records
            .enumerate()
            .map(|(n, record)| {
                let choice = instructions::choose(&mut rng, opcode.as_deref());
                records::make(&mut rng, &layout, n, record, choice)
            })
            .collect();
        let words: Vec<u32> = cases.iter().map(|case| case.word).collect();
        let code = program::code(&layout, &words);
        let ours = execute::engine(&layout, &code, &data);
        let theirs = substitutes::qemu(&layout, &cases, &data, &n.to_string())?;
        compare(&layout, &cases, [&data, &ours, &theirs], &mut counts);
    }
    report(&counts)
}

fn compare(
    layout: &Layout,
    cases: &[Case],
    data: [&[u8]; 3],
    counts: &mut BTreeMap<String, Count>,
) {
    for (n, case) in cases.iter().enumerate() {
        let start = Layout::HEAD + n * layout.record();
        let [before, ours, theirs] = data.map(|data| &data[start..start + layout.record()]);
        let count = counts.entry(case.choice.name()).or_default();
        if get(ours, ILLEGAL) == 0 {
            count.legal += 1;
            let vm = u64::from(case.word >> 25 & 1);
            count.shapes.insert(get(before, VTYPE) << 1 | vm);
        } else {
            count.illegal += 1;
        }
        if ours == theirs {
            continue;
        }
        if deviations::is_allowed(layout, case, before, ours, theirs) {
            count.deviating += 1;
            continue;
        }
        count.differing += 1;
        if count.differing <= 2 {
            show(layout, case, before, ours, theirs);
        }
    }
}

/// Prints a case: what went in, and where the results differ.
fn show(layout: &Layout, case: &Case, before: &[u8], ours: &[u8], theirs: &[u8]) {
    println!(
        "{} {:#010x} VLEN {}: AVL {:#x} vtype {:#x} vstart {} fcsr {:#x} vcsr {:#x}",
        case.choice.name(),
        case.word,
        layout.vlen,
        get(before, VL),
        get(before, VTYPE),
        get(before, VSTART),
        get(before, FCSR),
        get(before, VCSR),
    );
    println!("  vl {:#x}, illegal {}", get(ours, VL), get(ours, ILLEGAL));
    let vlenb = layout.vlen as usize / 8;
    let mut shown = 0;
    for at in (0..layout.record()).step_by(8) {
        let [b, a, q] = [before, ours, theirs].map(|bytes| get(bytes, at));
        let name = match at {
            _ if at < F => format!("x{}", 10 + (at - X) / 8),
            _ if at < FCSR => format!("f{}", 8 + (at - F) / 8),
            FCSR => "fcsr".into(),
            VCSR => "vcsr".into(),
            VL => "vl".into(),
            VTYPE => "vtype".into(),
            VSTART => "vstart".into(),
            ILLEGAL => "illegal".into(),
            _ if at < V => "?".into(),
            _ if at < layout.scratch() => {
                format!("v{}+{}", (at - V) / vlenb, (at - V) % vlenb)
            }
            _ => format!("memory+{}", at - layout.scratch()),
        };
        if a != q && shown < 8 {
            shown += 1;
            println!("  {name}: before {b:#x} engine {a:#x} qemu {q:#x}");
        }
    }
    let [vs1, vs2] = [case.word >> 15 & 31, case.word >> 20 & 31];
    for (name, n) in [
        ("vs1", vs1),
        ("vs2", vs2),
        ("vd", case.word >> 7 & 31),
        ("v0", 0),
    ] {
        let at = V + n as usize * vlenb;
        println!(
            "  {name} v{n} {:x} {:x}",
            get(before, at),
            get(before, at + 8)
        );
    }
    if (10..18).contains(&vs1) {
        println!("  x{vs1} {:#x}", get(before, X + 8 * (vs1 as usize - 10)));
    }
    if (8..16).contains(&vs1) {
        println!("  f{vs1} {:#x}", get(before, F + 8 * (vs1 as usize - 8)));
    }
}

fn report(counts: &BTreeMap<String, Count>) -> Result<(), String> {
    let mut sum = Count::default();
    let mut never = vec![];
    for (name, count) in counts {
        println!(
            "{name:20} {:7} legal with {:4} vtypes and vm {:7} illegal {:6} deviate {:6} differ",
            count.legal,
            count.shapes.len(),
            count.illegal,
            count.deviating,
            count.differing
        );
        sum.legal += count.legal;
        sum.illegal += count.illegal;
        sum.deviating += count.deviating;
        sum.differing += count.differing;
        // Words that are none of the list are never legal.
        let is_random = name == "random";
        if is_random != (count.legal == 0) {
            never.push(name.as_str());
        }
    }
    println!(
        "{} instructions: {} legal, {} illegal, {} deviate by rule, {} differ",
        sum.legal + sum.illegal,
        sum.legal,
        sum.illegal,
        sum.deviating,
        sum.differing
    );
    if !never.is_empty() {
        return Err(format!(
            "never executed, or no instruction: {}",
            never.join(" ")
        ));
    }
    match sum.differing {
        0 => Ok(()),
        differing => Err(format!("{differing} differ")),
    }
}
