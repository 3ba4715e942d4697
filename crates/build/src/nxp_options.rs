//! `-Xnxp` and `--nxp-march`: how the NxP half of a unit is compiled.
use std::ffi::OsString;

use flick_abi::NXP_MARCH;

use crate::{Error, Result};

/// What the user asked for; the rest is as on the host (`-O`) or the NxP's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NxpOptions {
    /// `0`, `1`, `2`, `3`, `s` or `z`
    level: Option<String>,
    /// Without the extension C (compressed instructions).
    uncompressed: bool,
    tune: Option<String>,
    /// `-riscv-…`, options of LLVM's code generator.
    generator: Vec<String>,
    /// `-Xnxp -mllvm` awaits its value.
    awaits_generator: bool,
}

impl NxpOptions {
    /// The value of one `-Xnxp`. FLK0104 for what the NxP compile does not take.
    pub fn add(&mut self, option: &str) -> Result<()> {
        if std::mem::take(&mut self.awaits_generator) {
            return self.generator(option);
        }
        if let Some(level) = option.strip_prefix("-O") {
            let level = match level {
                "" => "1",
                "0" | "1" | "2" | "3" | "s" | "z" => level,
                _ => {
                    return Err(bad(
                        option,
                        "the levels are -O0, -O1, -O2, -O3, -Os and -Oz",
                    ));
                }
            };
            self.level = Some(level.into());
        } else if let Some(isa) = option.strip_prefix("-march=") {
            self.march(isa)?;
        } else if let Some(cpu) = option.strip_prefix("-mtune=").filter(|cpu| !cpu.is_empty()) {
            self.tune = Some(cpu.into());
        } else if option == "-mllvm" {
            self.awaits_generator = true;
        } else if let Some(option) = option.strip_prefix("-mllvm=") {
            self.generator(option)?;
        } else if option == "-mabi=lp64d" {
            // The only one: host and NxP agree on every argument.
        } else {
            return Err(bad(
                option,
                "the NxP compile takes -O0 to -O3, -Os, -Oz, -march=, -mtune=, -mabi=lp64d and -mllvm \
                 -riscv-…; what concerns the language is the host compile's, since there is one",
            ));
        }
        Ok(())
    }

    /// The value of `--nxp-march`.
    pub fn march(&mut self, isa: &str) -> Result<()> {
        let parsed = Isa::parse(isa).ok_or_else(|| {
            bad(
                &format!("-march={isa}"),
                "an ISA is spelt rv64, one-letter extensions, then _name for each other extension",
            )
        })?;
        let unknown: Vec<&str> = parsed
            .0
            .iter()
            .map(String::as_str)
            .filter(|e| !known().iter().any(|k| k == e))
            .collect();
        if !unknown.is_empty() {
            return Err(bad(
                &format!("-march={isa}"),
                &format!(
                    "the engine does not execute {}; it has rv64 with {}",
                    unknown.join(", "),
                    known().join(", ")
                ),
            ));
        }
        let missing: Vec<&str> = ["i", "m", "a", "f", "d"]
            .into_iter()
            .filter(|e| !parsed.0.iter().any(|have| have == e))
            .collect();
        if !missing.is_empty() {
            return Err(bad(
                &format!("-march={isa}"),
                &format!(
                    "NxP code is of the ABI lp64d and calls libnxp, which need {} too",
                    missing.join(", ")
                ),
            ));
        }
        self.uncompressed = !parsed.0.iter().any(|e| e == "c");
        Ok(())
    }

    fn generator(&mut self, option: &str) -> Result<()> {
        // Others are shared with the host's code generator, which is in the same process.
        if !option.starts_with("-riscv-") {
            return Err(bad(
                &format!("-mllvm {option}"),
                "only options that begin with -riscv- are the NxP's alone",
            ));
        }
        self.generator.push(option.into());
        Ok(())
    }

    /// FLK0104 where a value is missing.
    pub fn finish(&self) -> Result<()> {
        if self.awaits_generator {
            return Err(bad("-mllvm", "its value, another -Xnxp, is missing"));
        }
        Ok(())
    }

    /// What the pass understands.
    pub fn pass_options(&self) -> Vec<OsString> {
        let level = self.level.iter().map(|l| format!("-flick-nxp-level={l}"));
        let plain = self.uncompressed.then(|| "-flick-nxp-uncompressed".into());
        let tune = self.tune.iter().map(|t| format!("-flick-nxp-tune={t}"));
        let generator = self.generator.iter().cloned();
        let all = level.chain(plain).chain(tune).chain(generator);
        all.map(OsString::from).collect()
    }
}

/// Extensions by lower-case name.
struct Isa(Vec<String>);

impl Isa {
    /// Letters, then names behind underscores; `g` is `imafd_zicsr_zifencei` (unprivileged ISA manual,
    /// "ISA Extension Naming Conventions"). Version numbers are not taken.
    fn parse(isa: &str) -> Option<Self> {
        let isa = isa.to_ascii_lowercase();
        let mut parts = isa.strip_prefix("rv64")?.split('_');
        let letters = parts.next()?;
        let mut all = Vec::new();
        // A long name may follow the letters without an underscore.
        let long = letters.find(['z', 's', 'x']).unwrap_or(letters.len());
        for letter in letters[..long].chars() {
            match letter {
                'g' => all.extend(["i", "m", "a", "f", "d", "zicsr", "zifencei"].map(String::from)),
                'a'..='y' => all.push(letter.into()),
                _ => return None,
            }
        }
        let names = [&letters[long..]].into_iter().filter(|n| !n.is_empty());
        for name in names.chain(parts) {
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
                return None;
            }
            all.push(name.into());
        }
        (!all.is_empty()).then_some(Self(all))
    }
}

/// Extensions of the engine.
fn known() -> Vec<String> {
    Isa::parse(NXP_MARCH).map(|isa| isa.0).unwrap_or_default()
}

fn bad(option: &str, why: &str) -> Error {
    Error::new(
        104,
        "an option for the NxP compile has a bad value",
        option,
        why,
        "correct it or leave it out; docs/driver.md lists what -Xnxp takes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isa_spellings() {
        let mut options = NxpOptions::default();
        for isa in [
            "rv64gc",
            "rv64imafdc",
            "RV64IMAFDC_Zicsr_Zifencei",
            NXP_MARCH,
        ] {
            options.march(isa).unwrap();
            assert!(!options.uncompressed, "{isa}");
        }
        for isa in ["rv64g", "rv64imafd", "rv64imafd_zicsr", "rv64imafdzicsr"] {
            options.march(isa).unwrap();
            assert!(options.uncompressed, "{isa}");
        }
        for (isa, why) in [
            ("rv64gcv", "does not execute v;"),
            (
                "rv64gc_zba_zbb",
                "does not execute zba, zbb; it has rv64 with i, m, a, f, d, c",
            ),
            ("rv64imac", "need f, d"),
            ("rv64i", "need m, a, f, d"),
            ("rv32gc", "is spelt"),
            ("native", "is spelt"),
            ("rv64gc__zba", "is spelt"),
        ] {
            let error = options.march(isa).unwrap_err();
            assert!(
                error.code.0 == 104 && error.why.contains(why),
                "{isa}: {error}"
            );
        }
    }

    #[test]
    fn what_the_pass_gets() {
        let mut options = NxpOptions::default();
        for word in [
            "-O",
            "-mtune=sifive-u74",
            "-mllvm",
            "-riscv-disable-frm-insert-opt",
        ] {
            options.add(word).unwrap();
        }
        options.add("-mllvm=-riscv-use-aa=0").unwrap();
        options.finish().unwrap();
        let want = [
            "-flick-nxp-level=1",
            "-flick-nxp-tune=sifive-u74",
            "-riscv-disable-frm-insert-opt",
            "-riscv-use-aa=0",
        ];
        assert_eq!(options.pass_options(), want);
        for bad in ["-Ofast", "-DX", "-mabi=lp64", "-mllvm=-stats", "-mtune="] {
            assert_eq!(options.add(bad).unwrap_err().code.0, 104, "{bad}");
        }
        options.add("-mllvm").unwrap();
        assert_eq!(options.finish().unwrap_err().code.0, 104);
    }
}
