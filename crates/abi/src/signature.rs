//! Signatures are NUL-terminated ASCII, so that the linker can merge equal ones. A signature is
//!
//! `version ret "(" args ")"`, for example `1d(pil.d)`.
//!
//! - version: `1`
//! - ret: `v`, a class, or `{` two classes `}` (returned in two registers)
//! - args: classes; a `.` separates the named arguments of a variadic function from the others, of
//!   which a definition has none
//!
//! | class | type |
//! |---|---|
//! | `b` `c` `s` `i` `l` | i1, i8, i16, i32, i64 |
//! | `p` | pointer |
//! | `f` `d` | float, double; half and bfloat are the low bits of an `f` |
//! | `x` | i128 |
//! | `g` `e` `V` | vector of 4, 8, 16 bytes |
//! | `S` | pointer to the result's memory (sret); always the first argument |
//! | `B<size>a<align>` | `byval` memory: decimal bytes, e.g. `B24a8` |
//!
//! Classes are those of the LLVM IR that the host front end made (`docs/decisions.md`, 2). It has
//! taken apart structs that are passed in registers: there is a class for each register that a
//! struct takes. Two floats in one register are a vector of 8 bytes (`e`).
//!
//! The host's registers follow the System V x86-64 psABI 3.2.3. Where clang 19 differs from it,
//! they follow clang. An `x` for which two registers are not free goes to memory and leaves no
//! register to the arguments behind it. Any vector on the stack has 16 bytes.
//!
//! The NxP's registers follow the RISC-V psABI, lp64d, after the pass has changed the classes: `x`
//! and `V` are two `l`, `e` is a `d`, and `g` is an `f`.

/// The first byte of a signature.
pub const SIGNATURE_VERSION: u8 = b'1';

/// One argument or result part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integer or pointer of up to 64 bits, in a general register.
    Int,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// 128-bit integer.
    Int128,
    /// Vector of 4, 8 or 16 bytes, in a vector register of the host.
    Vector {
        /// Bytes: 4, 8 or 16.
        size: u32,
    },
    /// Pointer to the result's memory; the host callee also returns it.
    Sret,
    /// Passed in memory on the host, by reference on the NxP.
    ByVal {
        /// Bytes of the memory.
        size: u32,
        /// Bytes, a power of two.
        align: u32,
    },
}

impl Class {
    /// A `float` register of the NxP holds it, NaN-boxed.
    pub const fn is_boxed(self) -> bool {
        matches!(self, Self::F32 | Self::Vector { size: 4 })
    }
}

/// A parsed position in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// An argument of this class.
    Arg(Class),
    /// The arguments that follow are variadic.
    Variadic,
    /// There are no further arguments.
    End,
}

/// Why a signature is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Reader over the bytes of a signature. It allocates nothing, so the crossing can use it.
#[derive(Clone, Copy)]
pub struct Signature<'a> {
    bytes: &'a [u8],
    args: usize,
    /// The classes of the result: none for `void`, and two for a result in two registers.
    pub ret: [Option<Class>; 2],
}

impl<'a> Signature<'a> {
    /// Reads version and result; `bytes` without the NUL.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        if bytes.first() != Some(&SIGNATURE_VERSION) {
            return Err(Malformed);
        }
        let mut at = 1;
        let mut ret = [None, None];
        match bytes.get(at) {
            Some(b'v') => at += 1,
            Some(b'{') => {
                at += 1;
                let mut n = 0;
                while bytes.get(at) != Some(&b'}') {
                    let (class, next) = class(bytes, at)?;
                    *ret.get_mut(n).ok_or(Malformed)? = Some(class);
                    n += 1;
                    at = next;
                }
                at += 1;
            }
            _ => {
                let (class, next) = class(bytes, at)?;
                ret[0] = Some(class);
                at = next;
            }
        }
        if bytes.get(at) != Some(&b'(') || bytes.last() != Some(&b')') {
            return Err(Malformed);
        }
        Ok(Self {
            bytes,
            args: at + 1,
            ret,
        })
    }

    /// Whether a call has arguments behind the dots. A call without a prototype has the dots alone.
    pub fn has_variadic_arguments(&self) -> bool {
        // No class is spelled with a dot.
        let dots = self.bytes.iter().position(|&byte| byte == b'.');
        dots.is_some_and(|at| at >= self.args && self.bytes.get(at + 1) != Some(&b')'))
    }

    /// Whether the NxP gets arguments in registers of floating point.
    pub fn has_float_arguments(&self) -> bool {
        // No other class is spelled with these.
        let arguments = self.bytes.get(self.args..).unwrap_or_default();
        arguments.iter().any(|byte| b"fdge".contains(byte))
    }

    /// The arguments, in order.
    pub fn args(&self) -> Args<'a> {
        Args {
            bytes: self.bytes,
            at: self.args,
        }
    }
}

/// Cursor over arguments.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Args<'_> {
    /// The next argument, the variadic mark, or the end.
    pub fn next_item(&mut self) -> Result<Item, Malformed> {
        match self.bytes.get(self.at) {
            Some(b')') => Ok(Item::End),
            Some(b'.') => {
                self.at += 1;
                Ok(Item::Variadic)
            }
            _ => {
                let (class, next) = class(self.bytes, self.at)?;
                self.at = next;
                Ok(Item::Arg(class))
            }
        }
    }
}

fn class(bytes: &[u8], at: usize) -> Result<(Class, usize), Malformed> {
    let class = match bytes.get(at).ok_or(Malformed)? {
        b'b' | b'c' | b's' | b'i' | b'l' | b'p' => Class::Int,
        b'f' => Class::F32,
        b'd' => Class::F64,
        b'x' => Class::Int128,
        b'g' => Class::Vector { size: 4 },
        b'e' => Class::Vector { size: 8 },
        b'V' => Class::Vector { size: 16 },
        b'S' => Class::Sret,
        b'B' => {
            let (size, at) = number(bytes, at + 1)?;
            if bytes.get(at) != Some(&b'a') {
                return Err(Malformed);
            }
            let (align, at) = number(bytes, at + 1)?;
            if !align.is_power_of_two() || align > 4096 {
                return Err(Malformed);
            }
            return Ok((Class::ByVal { size, align }, at));
        }
        _ => return Err(Malformed),
    };
    Ok((class, at + 1))
}

fn number(bytes: &[u8], mut at: usize) -> Result<(u32, usize), Malformed> {
    let start = at;
    let mut n: u32 = 0;
    while let Some(d) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
        n = n
            .checked_mul(10)
            .and_then(|n| n.checked_add(u32::from(d - b'0')))
            .ok_or(Malformed)?;
        at += 1;
    }
    if at == start {
        Err(Malformed)
    } else {
        Ok((n, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_class() {
        let s = Signature::parse(b"1{ld}(Spil.dB24a8xgeV)").unwrap();
        assert_eq!(s.ret, [Some(Class::Int), Some(Class::F64)]);
        let mut args = s.args();
        let mut items = Vec::new();
        loop {
            match args.next_item().unwrap() {
                Item::End => break,
                item => items.push(item),
            }
        }
        use Class::*;
        assert_eq!(
            items,
            [
                Item::Arg(Sret),
                Item::Arg(Int),
                Item::Arg(Int),
                Item::Arg(Int),
                Item::Variadic,
                Item::Arg(F64),
                Item::Arg(ByVal { size: 24, align: 8 }),
                Item::Arg(Int128),
                Item::Arg(Vector { size: 4 }),
                Item::Arg(Vector { size: 8 }),
                Item::Arg(Vector { size: 16 }),
            ]
        );
    }

    #[test]
    fn tells_variadic_arguments() {
        for (text, has) in [("1i(p.id)", true), ("1i(p.)", false), ("1v(pi)", false)] {
            let signature = Signature::parse(text.as_bytes()).unwrap();
            assert_eq!(signature.has_variadic_arguments(), has, "{text}");
        }
    }

    #[test]
    fn tells_float_arguments() {
        for (text, has) in [
            ("1d()", false),
            ("1f(SpilB24a8xV)", false),
            ("1v(lf)", true),
            ("1v(dl)", true),
            ("1v(g)", true),
            ("1v(pe)", true),
        ] {
            let signature = Signature::parse(text.as_bytes()).unwrap();
            assert_eq!(signature.has_float_arguments(), has, "{text}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in ["", "2v()", "1v", "1z()", "1{lll}()", "1v(", "1{l"] {
            assert!(Signature::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        let mut largest = Signature::parse(b"1v(B8a4096)").unwrap().args();
        let (size, align) = (8, 4096);
        assert_eq!(
            largest.next_item(),
            Ok(Item::Arg(Class::ByVal { size, align }))
        );
        for bad in [
            "1v(q)",
            "1v(B)",
            "1v(B8)",
            "1v(B8a3)",
            "1v(B8a8192)",
            "1v(B99999999999a8)",
        ] {
            let mut args = Signature::parse(bad.as_bytes()).unwrap().args();
            assert_eq!(args.next_item(), Err(Malformed), "{bad}");
        }
    }
}
