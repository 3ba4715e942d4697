//! What two executors leave of the same cases: differences, and which instructions there were.

use std::collections::{BTreeMap, BTreeSet};

use super::case_records::Case;
use super::stub_program::{F, FCSR, ILLEGAL, Layout, V, VCSR, VL, VSTART, VTYPE, X, get};

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

/// A case that differs: itself, its record before, after ours, and after theirs.
type IsAllowed = fn(&Layout, &Case, &[u8], &[u8], &[u8]) -> bool;

/// Counts, for one pair of executors.
pub struct Comparison {
    theirs: &'static str,
    is_allowed: IsAllowed,
    counts: BTreeMap<String, Count>,
}

impl Comparison {
    /// `theirs` is the other executor's name; `is_allowed` says which differences its deviations are.
    pub fn new(theirs: &'static str, is_allowed: IsAllowed) -> Self {
        Self {
            theirs,
            is_allowed,
            counts: BTreeMap::new(),
        }
    }

    /// Compares a program's data: before, ours and theirs. Prints the first differences.
    pub fn add(&mut self, layout: &Layout, cases: &[Case], data: [&[u8]; 3]) {
        for (n, case) in cases.iter().enumerate() {
            let start = Layout::HEAD + n * layout.record();
            let [before, ours, theirs] = data.map(|data| &data[start..start + layout.record()]);
            let count = self.counts.entry(case.choice.name()).or_default();
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
            if (self.is_allowed)(layout, case, before, ours, theirs) {
                count.deviating += 1;
                continue;
            }
            count.differing += 1;
            if count.differing <= 2 {
                show(layout, case, before, ours, theirs, self.theirs);
            }
        }
    }

    /// Prints the counts. An error if something differs, or if an instruction was never legal.
    pub fn report(&self) -> Result<(), String> {
        let mut sum = Count::default();
        let mut never = vec![];
        for (name, count) in &self.counts {
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
}

/// Prints a case: what went in, and where the results differ.
fn show(layout: &Layout, case: &Case, before: &[u8], ours: &[u8], theirs: &[u8], other: &str) {
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
            println!("  {name}: before {b:#x} ours {a:#x} {other} {q:#x}");
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
