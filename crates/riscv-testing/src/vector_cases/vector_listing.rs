//! The vector instructions (ISA manual, chapter "V", section "Vector Instruction Listing"),
//! independent of the engine's handlers, and random words of them.

use crate::values::Rng;

/// What an instruction may have as bit vm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Vm {
    Any,
    Zero,
    One,
}
use Vm::*;

/// One instruction of OP-V; each letter of `kinds` is a form of it: `v`, `x`, `i`, `f` or, for
/// unary ones, `u`.
pub struct Arithmetic {
    pub name: &'static str,
    /// `i`, `m` or `f`: OPI, OPM or OPF.
    pub group: char,
    pub kinds: &'static str,
    pub funct6: u32,
    /// What stands in the place of vs1, or of vs2 if the form is `x` or `f`.
    pub fixed: Option<u32>,
    pub vm: Vm,
}

macro_rules! table {
    ($($name:literal $group:literal $kinds:literal $funct6:literal $fixed:expr, $vm:ident;)*) => {
        &[$(Arithmetic {
            name: $name,
            group: $group,
            kinds: $kinds,
            funct6: $funct6,
            fixed: $fixed,
            vm: $vm,
        },)*]
    };
}

pub const ARITHMETIC: &[Arithmetic] = table! {
    "vadd" 'i' "vxi" 0x00 None, Any;
    "vsub" 'i' "vx" 0x02 None, Any;
    "vrsub" 'i' "xi" 0x03 None, Any;
    "vminu" 'i' "vx" 0x04 None, Any;
    "vmin" 'i' "vx" 0x05 None, Any;
    "vmaxu" 'i' "vx" 0x06 None, Any;
    "vmax" 'i' "vx" 0x07 None, Any;
    "vand" 'i' "vxi" 0x09 None, Any;
    "vor" 'i' "vxi" 0x0a None, Any;
    "vxor" 'i' "vxi" 0x0b None, Any;
    "vrgather" 'i' "vxi" 0x0c None, Any;
    "vrgatherei16" 'i' "v" 0x0e None, Any;
    "vslideup" 'i' "xi" 0x0e None, Any;
    "vslidedown" 'i' "xi" 0x0f None, Any;
    "vadc" 'i' "vxi" 0x10 None, Zero;
    "vmadc" 'i' "vxi" 0x11 None, Any;
    "vsbc" 'i' "vx" 0x12 None, Zero;
    "vmsbc" 'i' "vx" 0x13 None, Any;
    "vmerge" 'i' "vxi" 0x17 None, Zero;
    "vmv.v" 'i' "vxi" 0x17 Some(0), One;
    "vmseq" 'i' "vxi" 0x18 None, Any;
    "vmsne" 'i' "vxi" 0x19 None, Any;
    "vmsltu" 'i' "vx" 0x1a None, Any;
    "vmslt" 'i' "vx" 0x1b None, Any;
    "vmsleu" 'i' "vxi" 0x1c None, Any;
    "vmsle" 'i' "vxi" 0x1d None, Any;
    "vmsgtu" 'i' "xi" 0x1e None, Any;
    "vmsgt" 'i' "xi" 0x1f None, Any;
    "vsaddu" 'i' "vxi" 0x20 None, Any;
    "vsadd" 'i' "vxi" 0x21 None, Any;
    "vssubu" 'i' "vx" 0x22 None, Any;
    "vssub" 'i' "vx" 0x23 None, Any;
    "vsll" 'i' "vxi" 0x25 None, Any;
    "vsmul" 'i' "vx" 0x27 None, Any;
    "vmv1r" 'i' "i" 0x27 Some(0), One;
    "vmv2r" 'i' "i" 0x27 Some(1), One;
    "vmv4r" 'i' "i" 0x27 Some(3), One;
    "vmv8r" 'i' "i" 0x27 Some(7), One;
    "vsrl" 'i' "vxi" 0x28 None, Any;
    "vsra" 'i' "vxi" 0x29 None, Any;
    "vssrl" 'i' "vxi" 0x2a None, Any;
    "vssra" 'i' "vxi" 0x2b None, Any;
    "vnsrl" 'i' "vxi" 0x2c None, Any;
    "vnsra" 'i' "vxi" 0x2d None, Any;
    "vnclipu" 'i' "vxi" 0x2e None, Any;
    "vnclip" 'i' "vxi" 0x2f None, Any;
    "vwredsumu" 'i' "v" 0x30 None, Any;
    "vwredsum" 'i' "v" 0x31 None, Any;
    "vredsum" 'm' "v" 0x00 None, Any;
    "vredand" 'm' "v" 0x01 None, Any;
    "vredor" 'm' "v" 0x02 None, Any;
    "vredxor" 'm' "v" 0x03 None, Any;
    "vredminu" 'm' "v" 0x04 None, Any;
    "vredmin" 'm' "v" 0x05 None, Any;
    "vredmaxu" 'm' "v" 0x06 None, Any;
    "vredmax" 'm' "v" 0x07 None, Any;
    "vaaddu" 'm' "vx" 0x08 None, Any;
    "vaadd" 'm' "vx" 0x09 None, Any;
    "vasubu" 'm' "vx" 0x0a None, Any;
    "vasub" 'm' "vx" 0x0b None, Any;
    "vslide1up" 'm' "x" 0x0e None, Any;
    "vslide1down" 'm' "x" 0x0f None, Any;
    "vmv.x.s" 'm' "u" 0x10 Some(0), One;
    "vcpop" 'm' "u" 0x10 Some(16), Any;
    "vfirst" 'm' "u" 0x10 Some(17), Any;
    "vmv.s.x" 'm' "x" 0x10 Some(0), One;
    "vzext.vf8" 'm' "u" 0x12 Some(2), Any;
    "vsext.vf8" 'm' "u" 0x12 Some(3), Any;
    "vzext.vf4" 'm' "u" 0x12 Some(4), Any;
    "vsext.vf4" 'm' "u" 0x12 Some(5), Any;
    "vzext.vf2" 'm' "u" 0x12 Some(6), Any;
    "vsext.vf2" 'm' "u" 0x12 Some(7), Any;
    "vmsbf" 'm' "u" 0x14 Some(1), Any;
    "vmsof" 'm' "u" 0x14 Some(2), Any;
    "vmsif" 'm' "u" 0x14 Some(3), Any;
    "viota" 'm' "u" 0x14 Some(16), Any;
    "vid" 'm' "u" 0x14 Some(17), Any;
    "vcompress" 'm' "v" 0x17 None, One;
    "vmandn" 'm' "v" 0x18 None, One;
    "vmand" 'm' "v" 0x19 None, One;
    "vmor" 'm' "v" 0x1a None, One;
    "vmxor" 'm' "v" 0x1b None, One;
    "vmorn" 'm' "v" 0x1c None, One;
    "vmnand" 'm' "v" 0x1d None, One;
    "vmnor" 'm' "v" 0x1e None, One;
    "vmxnor" 'm' "v" 0x1f None, One;
    "vdivu" 'm' "vx" 0x20 None, Any;
    "vdiv" 'm' "vx" 0x21 None, Any;
    "vremu" 'm' "vx" 0x22 None, Any;
    "vrem" 'm' "vx" 0x23 None, Any;
    "vmulhu" 'm' "vx" 0x24 None, Any;
    "vmul" 'm' "vx" 0x25 None, Any;
    "vmulhsu" 'm' "vx" 0x26 None, Any;
    "vmulh" 'm' "vx" 0x27 None, Any;
    "vmadd" 'm' "vx" 0x29 None, Any;
    "vnmsub" 'm' "vx" 0x2b None, Any;
    "vmacc" 'm' "vx" 0x2d None, Any;
    "vnmsac" 'm' "vx" 0x2f None, Any;
    "vwaddu" 'm' "vx" 0x30 None, Any;
    "vwadd" 'm' "vx" 0x31 None, Any;
    "vwsubu" 'm' "vx" 0x32 None, Any;
    "vwsub" 'm' "vx" 0x33 None, Any;
    "vwaddu.w" 'm' "vx" 0x34 None, Any;
    "vwadd.w" 'm' "vx" 0x35 None, Any;
    "vwsubu.w" 'm' "vx" 0x36 None, Any;
    "vwsub.w" 'm' "vx" 0x37 None, Any;
    "vwmulu" 'm' "vx" 0x38 None, Any;
    "vwmulsu" 'm' "vx" 0x3a None, Any;
    "vwmul" 'm' "vx" 0x3b None, Any;
    "vwmaccu" 'm' "vx" 0x3c None, Any;
    "vwmacc" 'm' "vx" 0x3d None, Any;
    "vwmaccus" 'm' "x" 0x3e None, Any;
    "vwmaccsu" 'm' "vx" 0x3f None, Any;
    "vfadd" 'f' "vf" 0x00 None, Any;
    "vfredusum" 'f' "v" 0x01 None, Any;
    "vfsub" 'f' "vf" 0x02 None, Any;
    "vfredosum" 'f' "v" 0x03 None, Any;
    "vfmin" 'f' "vf" 0x04 None, Any;
    "vfredmin" 'f' "v" 0x05 None, Any;
    "vfmax" 'f' "vf" 0x06 None, Any;
    "vfredmax" 'f' "v" 0x07 None, Any;
    "vfsgnj" 'f' "vf" 0x08 None, Any;
    "vfsgnjn" 'f' "vf" 0x09 None, Any;
    "vfsgnjx" 'f' "vf" 0x0a None, Any;
    "vfslide1up" 'f' "f" 0x0e None, Any;
    "vfslide1down" 'f' "f" 0x0f None, Any;
    "vfmv.f.s" 'f' "u" 0x10 Some(0), One;
    "vfmv.s.f" 'f' "f" 0x10 Some(0), One;
    "vfcvt.xu.f.v" 'f' "u" 0x12 Some(0), Any;
    "vfcvt.x.f.v" 'f' "u" 0x12 Some(1), Any;
    "vfcvt.f.xu.v" 'f' "u" 0x12 Some(2), Any;
    "vfcvt.f.x.v" 'f' "u" 0x12 Some(3), Any;
    "vfcvt.rtz.xu.f.v" 'f' "u" 0x12 Some(6), Any;
    "vfcvt.rtz.x.f.v" 'f' "u" 0x12 Some(7), Any;
    "vfwcvt.xu.f.v" 'f' "u" 0x12 Some(8), Any;
    "vfwcvt.x.f.v" 'f' "u" 0x12 Some(9), Any;
    "vfwcvt.f.xu.v" 'f' "u" 0x12 Some(10), Any;
    "vfwcvt.f.x.v" 'f' "u" 0x12 Some(11), Any;
    "vfwcvt.f.f.v" 'f' "u" 0x12 Some(12), Any;
    "vfwcvt.rtz.xu.f.v" 'f' "u" 0x12 Some(14), Any;
    "vfwcvt.rtz.x.f.v" 'f' "u" 0x12 Some(15), Any;
    "vfncvt.xu.f.w" 'f' "u" 0x12 Some(16), Any;
    "vfncvt.x.f.w" 'f' "u" 0x12 Some(17), Any;
    "vfncvt.f.xu.w" 'f' "u" 0x12 Some(18), Any;
    "vfncvt.f.x.w" 'f' "u" 0x12 Some(19), Any;
    "vfncvt.f.f.w" 'f' "u" 0x12 Some(20), Any;
    "vfncvt.rod.f.f.w" 'f' "u" 0x12 Some(21), Any;
    "vfncvt.rtz.xu.f.w" 'f' "u" 0x12 Some(22), Any;
    "vfncvt.rtz.x.f.w" 'f' "u" 0x12 Some(23), Any;
    "vfsqrt" 'f' "u" 0x13 Some(0), Any;
    "vfrsqrt7" 'f' "u" 0x13 Some(4), Any;
    "vfrec7" 'f' "u" 0x13 Some(5), Any;
    "vfclass" 'f' "u" 0x13 Some(16), Any;
    "vfmerge" 'f' "f" 0x17 None, Zero;
    "vfmv.v.f" 'f' "f" 0x17 Some(0), One;
    "vmfeq" 'f' "vf" 0x18 None, Any;
    "vmfle" 'f' "vf" 0x19 None, Any;
    "vmflt" 'f' "vf" 0x1b None, Any;
    "vmfne" 'f' "vf" 0x1c None, Any;
    "vmfgt" 'f' "f" 0x1d None, Any;
    "vmfge" 'f' "f" 0x1f None, Any;
    "vfdiv" 'f' "vf" 0x20 None, Any;
    "vfrdiv" 'f' "f" 0x21 None, Any;
    "vfmul" 'f' "vf" 0x24 None, Any;
    "vfrsub" 'f' "f" 0x27 None, Any;
    "vfmadd" 'f' "vf" 0x28 None, Any;
    "vfnmadd" 'f' "vf" 0x29 None, Any;
    "vfmsub" 'f' "vf" 0x2a None, Any;
    "vfnmsub" 'f' "vf" 0x2b None, Any;
    "vfmacc" 'f' "vf" 0x2c None, Any;
    "vfnmacc" 'f' "vf" 0x2d None, Any;
    "vfmsac" 'f' "vf" 0x2e None, Any;
    "vfnmsac" 'f' "vf" 0x2f None, Any;
    "vfwadd" 'f' "vf" 0x30 None, Any;
    "vfwredusum" 'f' "v" 0x31 None, Any;
    "vfwsub" 'f' "vf" 0x32 None, Any;
    "vfwredosum" 'f' "v" 0x33 None, Any;
    "vfwadd.w" 'f' "vf" 0x34 None, Any;
    "vfwsub.w" 'f' "vf" 0x36 None, Any;
    "vfwmul" 'f' "vf" 0x38 None, Any;
    "vfwmacc" 'f' "vf" 0x3c None, Any;
    "vfwnmacc" 'f' "vf" 0x3d None, Any;
    "vfwmsac" 'f' "vf" 0x3e None, Any;
    "vfwnmsac" 'f' "vf" 0x3f None, Any;
};

/// Loads and stores: name, opcode, mop, what stands in the place of rs2.
pub const MEMORY: [(&str, u32, u32, Option<u32>); 15] = [
    ("vle", 0x07, 0, Some(0)),
    ("vleff", 0x07, 0, Some(16)),
    ("vlm", 0x07, 0, Some(11)),
    ("vlr", 0x07, 0, Some(8)),
    ("vlse", 0x07, 2, None),
    ("vluxei", 0x07, 1, None),
    ("vloxei", 0x07, 3, None),
    ("vse", 0x27, 0, Some(0)),
    ("vsm", 0x27, 0, Some(11)),
    ("vsr", 0x27, 0, Some(8)),
    ("vsse", 0x27, 2, None),
    ("vsuxei", 0x27, 1, None),
    ("vsoxei", 0x27, 3, None),
    // Twice: unit strides have the most forms.
    ("vle", 0x07, 0, Some(0)),
    ("vse", 0x27, 0, Some(0)),
];

/// What a generated word is of; its name for the report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Config,
    Arithmetic(usize),
    /// By its place in [`MEMORY`].
    Memory(usize),
    /// Random bits in OP-V.
    Random,
}

pub struct Choice {
    pub kind: Kind,
    /// As in `kinds`; ` ` if that says nothing.
    pub form: char,
}

impl Choice {
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Config => "vset".into(),
            Kind::Random => "random".into(),
            Kind::Memory(n) => MEMORY[n].0.into(),
            Kind::Arithmetic(n) if self.form == 'u' => ARITHMETIC[n].name.into(),
            Kind::Arithmetic(n) => format!("{}.{}", ARITHMETIC[n].name, self.form),
        }
    }

    pub fn is_float(&self) -> bool {
        matches!(self.kind, Kind::Arithmetic(n) if ARITHMETIC[n].group == 'f')
    }
}

/// A random kind of instruction; the loads and stores are a sixth. Or that with this name.
pub fn choose(rng: &mut Rng, only: Option<&str>) -> Choice {
    for _ in 0..100_000 {
        let choice = any(rng);
        if only.is_none_or(|only| choice.name() == only) {
            return choice;
        }
    }
    panic!("FLICK_OPCODE names no instruction");
}

fn any(rng: &mut Rng) -> Choice {
    match rng.below(100) {
        0..3 => Choice {
            kind: Kind::Config,
            form: ' ',
        },
        3..5 => Choice {
            kind: Kind::Random,
            form: ' ',
        },
        5..22 => Choice {
            kind: Kind::Memory(rng.below(MEMORY.len() as u64) as usize),
            form: ' ',
        },
        _ => {
            let n = rng.below(ARITHMETIC.len() as u64) as usize;
            let kinds = ARITHMETIC[n].kinds;
            let form = kinds.as_bytes()[rng.below(kinds.len() as u64) as usize];
            Choice {
                kind: Kind::Arithmetic(n),
                form: form as char,
            }
        }
    }
}

/// What a word of OP-V, or a vector load or store, is; vm and nf may be reserved ones.
pub fn classify(word: u32) -> Option<Choice> {
    let [vs1, vs2] = [15, 20].map(|at| word >> at & 31);
    if word & 0x7f != 0x57 {
        let is_one = |&(_, opcode, mop, fixed): &(&str, u32, u32, Option<u32>)| {
            let same = opcode == word & 0x7f && mop == word >> 26 & 3;
            same && fixed.is_none_or(|fixed| fixed == vs2)
        };
        return Some(Choice {
            kind: Kind::Memory(MEMORY.iter().position(is_one)?),
            form: ' ',
        });
    }
    let (group, form) = [
        ('i', 'v'),
        ('f', 'v'),
        ('m', 'v'),
        ('i', 'i'),
        ('i', 'x'),
        ('f', 'f'),
        ('m', 'x'),
    ]
    .get(word as usize >> 12 & 7)
    .copied()?;
    ARITHMETIC.iter().enumerate().find_map(|(n, row)| {
        if row.group != group || row.funct6 != word >> 26 {
            return None;
        }
        let form = match form {
            'v' if row.kinds == "u" => 'u',
            form => form,
        };
        let by_vm = row.funct6 == 0x17 && row.group != 'm';
        let matches = match row.fixed {
            _ if by_vm => (row.vm == One) == (word >> 25 & 1 != 0),
            Some(fixed) if matches!(form, 'x' | 'f') => vs2 == fixed,
            Some(fixed) => vs1 == fixed,
            None => true,
        };
        (row.kinds.contains(form) && matches).then_some(Choice {
            kind: Kind::Arithmetic(n),
            form,
        })
    })
}

/// Has it operands of twice SEW?
pub fn is_double(choice: &Choice) -> bool {
    matches!(choice.kind, Kind::Arithmetic(n) if {
        let name = ARITHMETIC[n].name;
        name.starts_with("vw") || name.starts_with("vfw") || is_narrow(name)
    })
}

/// Narrowing: vs2 has twice SEW.
pub fn is_narrow(name: &str) -> bool {
    let narrow = ["vnsrl", "vnsra", "vnclip", "vfncvt"];
    narrow.iter().any(|prefix| name.starts_with(prefix))
}

/// vtype, mostly one with which the instruction is legal.
pub fn vtype(rng: &mut Rng, choice: &Choice) -> u64 {
    let policy = rng.below(4) << 6;
    match rng.below(40) {
        0 => return rng.next(),
        1 => return 1 << 63,
        2 => return policy | rng.below(64),
        _ => {}
    }
    let is_double = is_double(choice);
    let is_conversion = choice.name().contains("cvt");
    let (least, most) = match (choice.is_float(), is_double) {
        // There are conversions between singles and 16 bits.
        (true, true) if is_conversion => (1, 2),
        (true, true) => (2, 2),
        (true, false) => (2, 3),
        (false, true) => (0, 2),
        _ => (0, 3),
    };
    let sew = least + rng.below(most - least + 1);
    // LMUL from SEW / ELEN to 8, or to 4.
    let least = sew as i64 - 3;
    let most = if is_double { 2 } else { 3 };
    let lmul = least + rng.below((most - least + 1) as u64) as i64;
    policy | sew << 3 | lmul as u64 & 7
}

/// A vector register, mostly one with which groups of the logarithm `lmul` or the next begin.
fn register(rng: &mut Rng, lmul: u32) -> u32 {
    let align = match rng.below(20) {
        0 => 1,
        1..4 => 8,
        4..8 => 2 << lmul,
        _ => 1 << lmul,
    };
    rng.below(32) as u32 & !(align - 1)
}

/// x0, or one of those that records have.
fn integer(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => 0,
        _ => 10 + rng.below(8) as u32,
    }
}

/// A word of this kind, for groups of the logarithm `lmul` (of its positive part).
pub fn word(rng: &mut Rng, choice: &Choice, lmul: u32) -> u32 {
    let float = 8 + rng.below(8) as u32;
    let any = rng.next() as u32;
    match choice.kind {
        Kind::Config => {
            let vtype = match rng.below(8) {
                0 => any & 0x7ff,
                _ => any & 0xff,
            };
            let rest = integer(rng) << 15 | 7 << 12 | integer(rng) << 7 | 0x57;
            match rng.below(4) {
                0 => 3 << 30 | (vtype & 0x3ff) << 20 | (any >> 12 & 31) << 15 | rest & !(31 << 15),
                1 => 0x8000_0000 | integer(rng) << 20 | rest,
                _ => vtype << 20 | rest,
            }
        }
        Kind::Random => {
            let words = [0x57, 0x57, 0x07, 0x27];
            let rest = any & !0xf_8f80 | integer(rng) << 15 | integer(rng) << 7;
            let rest = rest & !0x7f | words[rng.below(4) as usize];
            // Within reach of the scratch memory, and not a scalar load.
            match rest & 0x7f {
                // Not a configuration from a register that no record has.
                0x57 if rest >> 12 & 7 == 7 => rest & !(1 << 12),
                0x57 => rest,
                _ => {
                    rest & !(3 << 26 | 31 << 15 | 7 << 12)
                        | 10 << 15
                        | rng.pick(&[0, 5, 6, 7, 4]) << 12
                }
            }
        }
        Kind::Memory(n) => {
            let (_, opcode, mop, fixed) = MEMORY[n];
            let rs2 = fixed.unwrap_or_else(|| match mop {
                // Not the base.
                2 => rng.pick(&[0, 11, 12, 13, 14, 15, 16, 17]),
                _ => register(rng, lmul),
            });
            let nf = match (fixed, rng.below(8)) {
                (Some(11), 1..) => 0,
                (Some(8), 1..) => rng.pick(&[0, 1, 3, 7]),
                (_, 0..4) => 0,
                (_, 4..6) => any & 1,
                _ => any & 7,
            };
            let vm = match (fixed, rng.below(8)) {
                (Some(8 | 11), 1..) => 1,
                _ => any >> 3 & 1,
            };
            let width = match (fixed, rng.below(8)) {
                (Some(11), 1..) => 0,
                (Some(8), 1..) if opcode == 0x27 => 0,
                _ => rng.pick(&[0, 5, 6, 7]),
            };
            let vd = register(rng, lmul);
            // The base is always this one.
            nf << 29 | mop << 26 | vm << 25 | rs2 << 20 | 10 << 15 | width << 12 | vd << 7 | opcode
        }
        Kind::Arithmetic(n) => {
            let Arithmetic {
                group,
                funct6,
                fixed,
                vm,
                ..
            } = ARITHMETIC[n];
            let form = choice.form;
            let funct3 = match (group, form) {
                ('i', 'v') => 0,
                ('i', 'x') => 4,
                ('i', _) => 3,
                ('m', 'x') => 6,
                ('m', _) => 2,
                (_, 'f') => 5,
                _ => 1,
            };
            let mut vs2 = register(rng, lmul);
            let mut vs1 = match form {
                'v' => register(rng, lmul),
                'x' => integer(rng),
                'f' => float,
                _ => any & 31,
            };
            match (fixed, form) {
                (Some(0), _) if funct6 == 0x17 => vs2 = 0,
                (Some(0), 'x' | 'f') => vs2 = 0,
                (Some(fixed), _) => vs1 = fixed,
                _ => {}
            }
            if ARITHMETIC[n].name == "vid" {
                vs2 = 0;
            }
            let vm = match vm {
                Any => any >> 5 & 1,
                Zero => u32::from(rng.chance(2)),
                One => u32::from(!rng.chance(2)),
            };
            let vd = match ARITHMETIC[n].name {
                "vmv.x.s" | "vcpop" | "vfirst" => integer(rng),
                "vfmv.f.s" => float,
                _ => register(rng, lmul),
            };
            funct6 << 26 | vm << 25 | vs2 << 20 | vs1 << 15 | funct3 << 12 | vd << 7 | 0x57
        }
    }
}
