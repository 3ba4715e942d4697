//! `-Xnxp` and `--nxp-march`: how the NxP half of a unit is compiled.
use std::ffi::OsString;

use flick_abi::march;
use flick_diagnostics::Code;

use crate::{Error, Result};

/// What the user asked for; the rest is as on the host (`-O`) or the NxP's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NxpOptions {
    /// `0`, `1`, `2`, `3`, `s` or `z`
    level: Option<String>,
    /// An ISA string.
    march: Option<String>,
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
        let lower = isa.to_ascii_lowercase();
        let mut named = Vec::new();
        march::extensions(&lower, |name| named.push(name)).ok_or_else(|| {
            bad(
                &format!("-march={isa}"),
                "an ISA is spelt rv64, one-letter extensions, then _name for each other extension",
            )
        })?;
        let unknown: Vec<&str> = named
            .iter()
            .copied()
            .filter(|name| !march::executes(name))
            .collect();
        if !unknown.is_empty() {
            return Err(bad(
                &format!("-march={isa}"),
                &format!(
                    "the engine does not execute {}; it has rv64 with {}",
                    unknown.join(", "),
                    march::EXTENSIONS.join(", ")
                ),
            ));
        }
        let missing: Vec<&str> = ["i", "m", "a", "f", "d"]
            .into_iter()
            .filter(|name| !named.contains(name))
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
        let mut plain = String::new();
        march::write_plain(&lower, &mut plain);
        self.march = Some(plain);
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
        let march = self.march.iter().map(|m| format!("-flick-nxp-march={m}"));
        let tune = self.tune.iter().map(|t| format!("-flick-nxp-tune={t}"));
        let generator = self.generator.iter().cloned();
        let all = level.chain(march).chain(tune).chain(generator);
        all.map(OsString::from).collect()
    }
}

fn bad(option: &str, why: &str) -> Error {
    Error::new(
        Code::BadOption,
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
        for (isa, passed) in [
            ("rv64gc", "rv64imafdc_zicsr_zifencei"),
            ("rv64imafdc", "rv64imafdc"),
            ("RV64IMAFDC_Zicsr_Zifencei", "rv64imafdc_zicsr_zifencei"),
            ("rv64imafdzicsr", "rv64imafd_zicsr"),
            (
                "rv64gc_zbs_zicond_zbb",
                "rv64imafdc_zicond_zicsr_zifencei_zbb_zbs",
            ),
            ("rv64g2p0_b", "rv64imafd_zicsr_zifencei_zba_zbb_zbs"),
            ("rv64gcv", "rv64imafdcv_zicsr_zifencei"),
            ("rv64gcv_zvl256b", "rv64imafdcv_zicsr_zifencei_zvl256b"),
            (march::NXP_MARCH, march::NXP_MARCH),
        ] {
            options.march(isa).unwrap();
            assert_eq!(options.march.as_deref(), Some(passed), "{isa}");
        }
        for (isa, why) in [
            ("rv64gcv_zvbb", "does not execute zvbb;"),
            (
                "rv64gc_zbb_zbc_zfh",
                "does not execute zbc, zfh; it has rv64 with i, m, a, f, d, c, v, zicond",
            ),
            ("rv64imac", "need f, d"),
            ("rv64i", "need m, a, f, d"),
            ("rv32gc", "is spelt"),
            ("native", "is spelt"),
            ("rv64gc__zba", "is spelt"),
        ] {
            let error = options.march(isa).unwrap_err();
            assert!(
                error.code == Code::BadOption && error.why.contains(why),
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
            "-march=rv64gc",
            "-mllvm",
            "-riscv-disable-frm-insert-opt",
        ] {
            options.add(word).unwrap();
        }
        options.add("-mllvm=-riscv-use-aa=0").unwrap();
        options.finish().unwrap();
        let want = [
            "-flick-nxp-level=1",
            "-flick-nxp-march=rv64imafdc_zicsr_zifencei",
            "-flick-nxp-tune=sifive-u74",
            "-riscv-disable-frm-insert-opt",
            "-riscv-use-aa=0",
        ];
        assert_eq!(options.pass_options(), want);
        for bad in ["-Ofast", "-DX", "-mabi=lp64", "-mllvm=-stats", "-mtune="] {
            assert_eq!(options.add(bad).unwrap_err().code, Code::BadOption, "{bad}");
        }
        options.add("-mllvm").unwrap();
        assert_eq!(options.finish().unwrap_err().code, Code::BadOption);
    }
}
