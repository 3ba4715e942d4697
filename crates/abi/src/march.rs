//! ISA strings (unprivileged ISA manual, "ISA Extension Naming Conventions"): the extensions that
//! NxP code is compiled for, those that the engine executes, and those that a string names.

use core::fmt::Write;

/// The ISA string that NxP code is compiled for by default.
pub const NXP_MARCH: &str = "rv64imafdc_zicsr_zifencei_zba_zbb_zbs";

/// The engine's extensions, in the order in which an ISA string has them. Zicond is not in
/// [`NXP_MARCH`]. With it, LLVM 19 computes both sides of a choice and selects by three
/// instructions, which no branch predictor can miss. Without it, LLVM makes a branch and computes
/// one side.
pub const EXTENSIONS: [&str; 13] = [
    "i", "m", "a", "f", "d", "c", "v", "zicond", "zicsr", "zifencei", "zba", "zbb", "zbs",
];

/// Names of parts of [`EXTENSIONS`]. Compilers add them to the names of the whole.
const PARTS: [&str; 5] = ["zmmul", "zaamo", "zalrsc", "zca", "zcd"];

/// Parts of V, which code may be compiled for without the rest, and the bits that a vector register
/// has at least with each.
const VECTOR_PARTS: [(&str, u32); 5] = [
    ("zve32x", 32),
    ("zve32f", 32),
    ("zve64x", 64),
    ("zve64f", 64),
    ("zve64d", 64),
];

/// Names of the bits that a vector register has at least. The first ones are a part of V.
const VECTOR_SIZES: [(&str, u32); 8] = [
    ("zvl32b", 32),
    ("zvl64b", 64),
    ("zvl128b", V_SIZE),
    ("zvl256b", 256),
    ("zvl512b", 512),
    ("zvl1024b", 1024),
    ("zvl2048b", 2048),
    ("zvl4096b", 4096),
];

/// Bits of a vector register that V asks for.
const V_SIZE: u32 = 128;

fn size(table: &[(&str, u32)], extension: &str) -> Option<u32> {
    let row = table.iter().find(|(name, _)| *name == extension)?;
    Some(row.1)
}

/// The bits that a vector register needs for code that is compiled for `isa`; `None`: there are no
/// vector instructions in it.
///
/// ```
/// use flick_abi::march::vector_size;
///
/// assert_eq!(vector_size("rv64gc"), None);
/// assert_eq!(vector_size("rv64gcv"), Some(128));
/// assert_eq!(vector_size("rv64gcv_zvl512b"), Some(512));
/// ```
pub fn vector_size(isa: &str) -> Option<u32> {
    let (mut has_vectors, mut most) = (false, 0);
    extensions(isa, |extension| {
        let part = size(&VECTOR_PARTS, extension).or((extension == "v").then_some(V_SIZE));
        has_vectors |= part.is_some();
        most = most.max(part.or(size(&VECTOR_SIZES, extension)).unwrap_or(0));
    })?;
    has_vectors.then_some(most)
}

/// Calls `each` with the lower-case name of each extension that `isa` names, without version
/// numbers. `g` and `b` give the extensions that they stand for. Returns `None` if `isa` is no ISA
/// string of RV64.
pub fn extensions<'a>(isa: &'a str, mut each: impl FnMut(&'a str)) -> Option<()> {
    let mut parts = isa.strip_prefix("rv64")?.split('_');
    let first = parts.next()?;
    // A long name may follow the letters without an underscore.
    let long = first.find(['z', 's', 'x']).unwrap_or(first.len());
    let (mut letters, long) = first.split_at(long);
    if letters.is_empty() {
        return None;
    }
    while let Some(letter) = letters.chars().next() {
        match letter {
            'g' => ["i", "m", "a", "f", "d", "zicsr", "zifencei"]
                .into_iter()
                .for_each(&mut each),
            'b' => ["zba", "zbb", "zbs"].into_iter().for_each(&mut each),
            'a'..='y' => each(&letters[..1]),
            _ => return None,
        }
        letters = without_version(&letters[1..]);
    }
    for part in [long].into_iter().filter(|n| !n.is_empty()).chain(parts) {
        let digit = |b: u8| b.is_ascii_digit();
        // A version, 2 or 2p0, is behind the name.
        let mut name = part.trim_end_matches(|c: char| c.is_ascii_digit());
        if let Some(before) = name.strip_suffix('p')
            && before.bytes().next_back().is_some_and(digit)
        {
            name = before.trim_end_matches(|c: char| c.is_ascii_digit());
        }
        let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        match name.len() {
            0 => return None,
            1 if name == "b" => ["zba", "zbb", "zbs"].into_iter().for_each(&mut each),
            _ if name.bytes().all(known) => each(name),
            _ => return None,
        }
    }
    Some(())
}

/// `letters` from behind a version number, as in the `2p1m2` of `i2p1m2`.
fn without_version(letters: &str) -> &str {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let major = digits(letters);
    let rest = &letters[major..];
    match rest.strip_prefix('p') {
        Some(minor) if major > 0 && digits(minor) > 0 => &minor[digits(minor)..],
        _ => rest,
    }
}

/// Does the engine execute code of this extension?
pub fn executes(extension: &str) -> bool {
    EXTENSIONS.contains(&extension)
        || PARTS.contains(&extension)
        || size(&VECTOR_PARTS, extension).is_some()
        || size(&VECTOR_SIZES, extension).is_some()
}

/// Does the engine execute code compiled for `isa`?
pub fn runs(isa: &str) -> bool {
    let mut all = true;
    extensions(isa, |extension| all &= executes(extension)).is_some() && all
}

/// Writes `isa` in Flick's own spelling: in order, without version numbers and without the names of
/// parts. Extensions that the engine does not execute come last. Returns `None` if `isa` is no ISA
/// string.
pub fn write_plain(isa: &str, out: &mut impl Write) -> Option<()> {
    let named = |wanted: &str| {
        let mut found = false;
        extensions(isa, |name| found |= name == wanted).is_some() && found
    };
    out.write_str("rv64").ok()?;
    for name in EXTENSIONS.into_iter().filter(|name| named(name)) {
        let between = if name.len() > 1 { "_" } else { "" };
        write!(out, "{between}{name}").ok()?;
    }
    let parts = VECTOR_PARTS.iter().filter(|_| !named("v"));
    let largest = VECTOR_SIZES.iter().rev().find(|(name, _)| named(name));
    let largest = largest.filter(|(_, bits)| *bits > V_SIZE || !named("v"));
    for (name, _) in parts.filter(|(name, _)| named(name)).chain(largest) {
        write!(out, "_{name}").ok()?;
    }
    let mut result = Ok(());
    extensions(isa, |name| {
        if !executes(name) {
            result = result.and_then(|()| write!(out, "_{name}"));
        }
    })?;
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(isa: &str) -> Option<Vec<&str>> {
        let mut all = Vec::new();
        extensions(isa, |name| all.push(name))?;
        Some(all)
    }

    #[test]
    fn spellings() {
        let want = |text: &'static str| Some(text.split(' ').collect::<Vec<_>>());
        for (isa, names) in [
            ("rv64imac", want("i m a c")),
            ("rv64gc", want("i m a f d zicsr zifencei c")),
            ("rv64imafd_zicsr", want("i m a f d zicsr")),
            ("rv64imafdzicsr_zba", want("i m a f d zicsr zba")),
            ("rv64ib", want("i zba zbb zbs")),
            ("rv64i2p1_m2p0_zicsr2p0_zmmul1p0", want("i m zicsr zmmul")),
            ("rv64i2p1m2a_zba1", want("i m a zba")),
            ("rv64i2_b1p0_zvl128b1p0", want("i zba zbb zbs zvl128b")),
        ] {
            assert_eq!(named(isa), names, "{isa}");
        }
        for isa in [
            "",
            "rv64",
            "rv32gc",
            "native",
            "rv64gc_",
            "rv64gc__zba",
            "rv64gc_zb+",
            "rv64_zba",
            "rv64GC",
        ] {
            assert_eq!(named(isa), None, "{isa}");
        }
    }

    #[test]
    fn one_spelling() {
        for (isa, plain) in [
            ("rv64gc", "rv64imafdc_zicsr_zifencei"),
            (
                "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicond1p0_zicsr2p0_zmmul1p0_zba1p0",
                "rv64imafdc_zicond_zicsr_zba",
            ),
            ("rv64imbv_zfh_zicsr", "rv64imv_zicsr_zba_zbb_zbs_zfh"),
            (
                "rv64i2p1_v1p0_zicsr2p0_zve32f1p0_zve64d1p0_zvl128b1p0_zvl32b1p0_zvl64b1p0",
                "rv64iv_zicsr",
            ),
            (
                "rv64gcv_zvl512b_zvl256b",
                "rv64imafdcv_zicsr_zifencei_zvl512b",
            ),
            (
                "rv64imf_zve32f_zve32x_zvl32b",
                "rv64imf_zve32x_zve32f_zvl32b",
            ),
            (NXP_MARCH, NXP_MARCH),
        ] {
            let mut text = String::new();
            assert_eq!(write_plain(isa, &mut text), Some(()), "{isa}");
            assert_eq!(text, plain);
        }
        assert_eq!(write_plain("rv32i", &mut String::new()), None);
    }

    #[test]
    fn what_the_engine_runs() {
        for isa in [
            NXP_MARCH,
            // Of Flick 1.0, and as tools write it.
            "rv64imafdc_zicsr_zifencei",
            "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0",
            "rv64gcb_zicond",
            "rv64gcv",
            "rv64gcv_zvl4096b",
            "rv64gc_zve64d_zvl64b",
            "rv64imac",
        ] {
            assert!(runs(isa), "{isa}");
        }
        for isa in [
            "rv64gcv_zvbb",
            "rv64gcv_zvl8192b",
            "rv64gc_zbc",
            "rv64gc_zicond_zfh",
            "rv32imac",
            "",
        ] {
            assert!(!runs(isa), "{isa}");
        }
    }

    #[test]
    fn the_default_is_a_part_in_order() {
        let mut rest = EXTENSIONS.iter();
        let names = named(NXP_MARCH).unwrap();
        assert!(
            names.iter().all(|name| rest.any(|known| known == name)),
            "{names:?}"
        );
    }
}
