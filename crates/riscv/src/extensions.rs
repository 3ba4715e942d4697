//! The extensions of a hart: its ISA string, `misa`, and which instructions it has.
use std::fmt::{self, Write};
use std::str::FromStr;

use crate::{Insn, Op};

/// An extension that a hart may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extension {
    /// The base, which every hart has.
    I,
    /// Multiplication and division.
    M,
    /// Atomics.
    A,
    /// Single precision.
    F,
    /// Double precision.
    D,
    /// Compressed instructions.
    C,
    /// Vectors.
    V,
    /// Cache-block management.
    Zicbom,
    /// Cache-block zeroing.
    Zicboz,
    /// Counters `cycle`, `time` and `instret`.
    Zicntr,
    /// Conditional operations.
    Zicond,
    /// Control and status registers, which every hart has.
    Zicsr,
    /// `fence.i`.
    Zifencei,
    /// Hardware performance counters.
    Zihpm,
    /// Address generation.
    Zba,
    /// Basic bit manipulation.
    Zbb,
    /// Single bits.
    Zbs,
    /// Timer compare of the supervisor.
    Sstc,
    /// The hart sets accessed and dirty bits of page tables.
    Svadu,
    /// Fine-grained invalidation of address translation.
    Svinval,
    /// T-Head's operations on whole caches.
    XTheadCmo,
    /// A unit of Flick's at custom-0: dot products.
    XFlickDot,
    /// At custom-1: sums of absolute differences.
    XFlickSad,
    /// At custom-2: checksums.
    XFlickCrc,
    /// At custom-3: bits gathered by a mask.
    XFlickGather,
}

impl Extension {
    /// All of them, in the order of an ISA string.
    pub const ALL: [Self; 25] = [
        Self::I,
        Self::M,
        Self::A,
        Self::F,
        Self::D,
        Self::C,
        Self::V,
        Self::Zicbom,
        Self::Zicboz,
        Self::Zicntr,
        Self::Zicond,
        Self::Zicsr,
        Self::Zifencei,
        Self::Zihpm,
        Self::Zba,
        Self::Zbb,
        Self::Zbs,
        Self::Sstc,
        Self::Svadu,
        Self::Svinval,
        Self::XTheadCmo,
        Self::XFlickDot,
        Self::XFlickSad,
        Self::XFlickCrc,
        Self::XFlickGather,
    ];

    /// As an ISA string has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "i",
            Self::M => "m",
            Self::A => "a",
            Self::F => "f",
            Self::D => "d",
            Self::C => "c",
            Self::V => "v",
            Self::Zicbom => "zicbom",
            Self::Zicboz => "zicboz",
            Self::Zicntr => "zicntr",
            Self::Zicond => "zicond",
            Self::Zicsr => "zicsr",
            Self::Zifencei => "zifencei",
            Self::Zihpm => "zihpm",
            Self::Zba => "zba",
            Self::Zbb => "zbb",
            Self::Zbs => "zbs",
            Self::Sstc => "sstc",
            Self::Svadu => "svadu",
            Self::Svinval => "svinval",
            Self::XTheadCmo => "xtheadcmo",
            Self::XFlickDot => "xflickdot",
            Self::XFlickSad => "xflicksad",
            Self::XFlickCrc => "xflickcrc",
            Self::XFlickGather => "xflickgather",
        }
    }

    /// The extension that an instruction belongs to, whatever its length. `None`: each hart has it.
    pub fn of(op: Op) -> Option<Self> {
        Self::of_number(op as u16)
    }

    /// That of a register of control and status. `None`: each hart has it, or it is not one of user code.
    pub const fn of_register(number: u32) -> Option<Self> {
        match number {
            0x001..=0x003 => Some(Self::F),
            0x008..=0x00a | 0x00f | 0xc20..=0xc22 => Some(Self::V),
            _ => None,
        }
    }

    const fn of_number(op: u16) -> Option<Self> {
        // The last instruction of each group of the table of instructions.
        const GROUPS: [(Op, Option<Extension>); 23] = [
            (Op::Fence, None),
            (Op::FenceI, Some(Extension::Zifencei)),
            (Op::Csrrci, None),
            (Op::Remuw, Some(Extension::M)),
            (Op::SlliUw, Some(Extension::Zba)),
            (Op::Rev8, Some(Extension::Zbb)),
            (Op::Bseti, Some(Extension::Zbs)),
            (Op::CzeroNez, Some(Extension::Zicond)),
            (Op::AmomaxuD, Some(Extension::A)),
            (Op::Fsw, Some(Extension::F)),
            (Op::Fsd, Some(Extension::D)),
            (Op::FmvWX, Some(Extension::F)),
            (Op::FcvtDS, Some(Extension::D)),
            (Op::SfenceVma, None),
            (Op::SfenceInvalIr, Some(Extension::Svinval)),
            (Op::CboFlush, Some(Extension::Zicbom)),
            (Op::CboZero, Some(Extension::Zicboz)),
            (Op::ThIcacheIall, Some(Extension::XTheadCmo)),
            (Op::FlickDot, Some(Extension::XFlickDot)),
            (Op::FlickSad, Some(Extension::XFlickSad)),
            (Op::FlickCrc, Some(Extension::XFlickCrc)),
            (Op::FlickGather, Some(Extension::XFlickGather)),
            (Op::VStore, Some(Extension::V)),
        ];
        let mut n = 0;
        while n < GROUPS.len() {
            if op <= GROUPS[n].0 as u16 {
                return GROUPS[n].1;
            }
            n += 1;
        }
        None
    }
}

/// The extension of each instruction, as a bit; 0: each hart has it.
static NEEDED: [u32; Op::COUNT] = {
    let mut all = [0; Op::COUNT];
    let mut op = 0;
    while op < Op::COUNT {
        if let Some(extension) = Extension::of_number(op as u16) {
            all[op] = 1 << extension as u32;
        }
        op += 1;
    }
    all
};

/// A hart's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Isa {
    extensions: u32,
    /// Bits of a vector register, if the hart has vectors.
    vlen: u16,
}

/// Why a text is no ISA string of a hart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IsaError {
    /// It does not begin as one.
    #[error("it does not begin with rv64i or rv64g")]
    Base,
    /// It is not letters, and names behind a `_` each.
    #[error("it is no ISA string in lower case")]
    Text,
    /// A letter or name that this machine does not know.
    #[error("this machine has no extension {0:?}")]
    Unknown(String),
    /// Vectors of a length that no hart has.
    #[error("zvl{0}b: vectors have 128, 256, 512, 1024, 2048 or 4096 bits")]
    Vectors(String),
    /// One extension without another that it builds on.
    #[error("{0} needs {1}")]
    Needs(&'static str, &'static str),
}

impl Isa {
    /// Has the hart this extension?
    pub const fn has(self, extension: Extension) -> bool {
        self.extensions & 1 << extension as u32 != 0
    }

    /// Bits of a vector register; `None`: the hart has no vectors.
    pub fn vlen(self) -> Option<u32> {
        self.has(Extension::V).then_some(self.vlen.into())
    }

    /// Has it this instruction?
    #[inline(always)]
    pub fn has_insn(self, insn: Insn) -> bool {
        let is_long = insn.len() == 4;
        NEEDED[insn.op() as usize] & !self.extensions == 0 && (is_long || self.has(Extension::C))
    }

    /// As a number.
    pub fn bits(self) -> u64 {
        u64::from(self.vlen) << 32 | u64::from(self.extensions)
    }

    /// The ISA that [`bits`](Self::bits) has given.
    pub fn from_bits(bits: u64) -> Self {
        Self {
            extensions: bits as u32,
            vlen: (bits >> 32) as u16,
        }
    }

    /// Without vectors.
    #[must_use]
    pub fn without_vectors(self) -> Self {
        Self {
            extensions: self.extensions & !(1 << Extension::V as u32),
            ..self
        }
    }

    /// The value of `misa` (privileged manual, "Machine ISA (misa) Register").
    pub fn misa(self) -> u64 {
        const RV64: u64 = 2 << 62;
        let letter = |letter: char| 1_u64 << (letter as u32 - 'a' as u32);
        let letters = Extension::ALL.into_iter().filter_map(|extension| {
            let name = extension.name();
            let first = name.chars().next()?;
            (name.len() == 1 && self.has(extension)).then(|| letter(first))
        });
        letters.fold(RV64 | letter('s') | letter('u'), |all, one| all | one)
    }

    /// The same, with this extension.
    #[must_use]
    pub const fn with(self, extension: Extension) -> Self {
        Self {
            extensions: self.extensions | 1 << extension as u32,
            ..self
        }
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    /// A string like `rv64imafdc_zba_zbb`, in lower case (unprivileged manual, "ISA Extension Naming
    /// Conventions").
    fn from_str(text: &str) -> Result<Self, IsaError> {
        let mut names = Vec::new();
        let is_one = flick_abi::march::extensions(text, |name| names.push(name)).is_some();
        if !is_one && text.starts_with("rv64") {
            return Err(IsaError::Text);
        }
        if names.first() != Some(&"i") {
            return Err(IsaError::Base);
        }
        let none = Self {
            extensions: 0,
            vlen: 128,
        };
        let mut isa = none.with(Extension::I).with(Extension::Zicsr);
        // What the privileged parts say is true of every hart.
        for name in names.into_iter().filter(|name| !["s", "u"].contains(name)) {
            let bits = name.strip_prefix("zvl").and_then(|n| n.strip_suffix('b'));
            if let Some(bits) = bits {
                let length = bits.parse().ok().filter(|n: &u16| n.is_power_of_two());
                let length = length.filter(|n| (128..=4096).contains(n));
                isa.vlen = length.ok_or_else(|| IsaError::Vectors(bits.into()))?;
                continue;
            }
            let mut known = Extension::ALL.into_iter();
            let extension = known.find(|extension| extension.name() == name);
            isa = isa.with(extension.ok_or_else(|| IsaError::Unknown(name.into()))?);
        }
        if isa.has(Extension::D) && !isa.has(Extension::F) {
            return Err(IsaError::Needs("d", "f"));
        }
        if isa.has(Extension::V) && !isa.has(Extension::D) {
            return Err(IsaError::Needs("v", "d"));
        }
        Ok(isa)
    }
}

impl fmt::Display for Isa {
    /// As a device tree's `riscv,isa` has it.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("rv64")?;
        for extension in Extension::ALL.into_iter().filter(|&e| self.has(e)) {
            if extension.name().len() > 1 {
                f.write_char('_')?;
            }
            f.write_str(extension.name())?;
        }
        if let Some(vlen) = self.vlen() {
            write!(f, "_zvl{vlen}b")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_back() {
        let isa: Isa = "rv64gc_zba_sstc".parse().unwrap();
        assert_eq!(isa.to_string(), "rv64imafdc_zicsr_zifencei_zba_sstc");
        assert_eq!(isa.to_string().parse(), Ok(isa));
        let vectors: Isa = "rv64gcv_zvl256b".parse().unwrap();
        assert_eq!(vectors.to_string(), "rv64imafdcv_zicsr_zifencei_zvl256b");
        assert_eq!(vectors.to_string().parse(), Ok(vectors));
        assert_eq!((vectors.vlen(), isa.vlen()), (Some(256), None));
        assert!(isa.has(Extension::D) && !isa.has(Extension::Zbb));
        assert_eq!(isa.misa(), 2 << 62 | 0x14_112d);
        for (text, error) in [
            ("rv32i", IsaError::Base),
            ("rv64mi", IsaError::Base),
            ("rv64iq", IsaError::Unknown("q".into())),
            ("rv64i_zfoo", IsaError::Unknown("zfoo".into())),
            ("rv64i__zba", IsaError::Text),
            ("rv64", IsaError::Text),
            ("rv64iZba", IsaError::Text),
            ("rv64imd", IsaError::Needs("d", "f")),
            ("rv64imv", IsaError::Needs("v", "d")),
            ("rv64gcv_zvl64b", IsaError::Vectors("64".into())),
            ("rv64gcv_zvl384b", IsaError::Vectors("384".into())),
        ] {
            assert_eq!(text.parse::<Isa>(), Err(error), "{text}");
        }
    }

    #[test]
    fn sets_of_extensions() {
        let more: Isa = "rv64gcv_zba_zvl256b".parse().unwrap();
        let less: Isa = "rv64gc".parse().unwrap();
        for isa in [less, more] {
            assert_eq!(Isa::from_bits(isa.bits()), isa);
        }
        let vectors: Isa = "rv64gcv_zvl512b".parse().unwrap();
        assert_eq!(Isa::from_bits(vectors.bits()).vlen(), Some(512));
        assert_eq!(vectors.without_vectors().vlen(), None);
    }

    #[test]
    fn instructions_belong_to_extensions() {
        for (op, extension) in [
            (Op::Lui, None),
            (Op::Fence, None),
            (Op::FenceI, Some(Extension::Zifencei)),
            (Op::Ecall, None),
            (Op::Csrrci, None),
            (Op::Mul, Some(Extension::M)),
            (Op::AddUw, Some(Extension::Zba)),
            (Op::Andn, Some(Extension::Zbb)),
            (Op::Bclr, Some(Extension::Zbs)),
            (Op::CzeroEqz, Some(Extension::Zicond)),
            (Op::LrW, Some(Extension::A)),
            (Op::Flw, Some(Extension::F)),
            (Op::Fld, Some(Extension::D)),
            (Op::FmaddS, Some(Extension::F)),
            (Op::FmaddD, Some(Extension::D)),
            (Op::Sret, None),
            (Op::SinvalVma, Some(Extension::Svinval)),
            (Op::CboInval, Some(Extension::Zicbom)),
            (Op::CboZero, Some(Extension::Zicboz)),
            (Op::ThDcacheCall, Some(Extension::XTheadCmo)),
            (Op::FlickDot, Some(Extension::XFlickDot)),
            (Op::FlickGather, Some(Extension::XFlickGather)),
            (Op::VConfig, Some(Extension::V)),
        ] {
            assert_eq!(Extension::of(op), extension, "{op:?}");
        }
    }
}
