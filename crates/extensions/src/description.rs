//! The file that says what Linux does not: which CPUs have extensions and opcodes of a vendor.
use serde::Deserialize;

use crate::cpu_set::CpuSet;
use crate::cpus::Cpu;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    cpus: Vec<Group>,
}

/// CPUs and what they have beside what Linux says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    list: toml::Spanned<String>,
    #[serde(default)]
    extensions: Vec<toml::Spanned<String>>,
    #[serde(default)]
    opcodes: Vec<toml::Spanned<String>>,
}

/// What is wrong with a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// From 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// Adds what `text` says to the CPUs that it names.
///
/// # Errors
/// It is no TOML, has other keys, or names CPUs that are not online, or no extensions or opcodes.
pub fn add(cpus: &mut [Cpu], text: &str) -> Result<(), Wrong> {
    let wrong = |at: usize, why: String| Wrong {
        line: 1 + text.as_bytes()[..at.min(text.len())]
            .iter()
            .filter(|&&b| b == b'\n')
            .count(),
        why,
    };
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        wrong(at, error.message().trim().to_owned())
    })?;
    for group in &file.cpus {
        let at = group.list.span().start;
        let list: CpuSet = group.list.get_ref().parse().map_err(|why| wrong(at, why))?;
        if let Some(missing) = list
            .iter()
            .find(|n| cpus.iter().all(|cpu| cpu.number != *n))
        {
            return Err(wrong(at, format!("CPU {missing} is not online")));
        }
        let mut opcodes = 0;
        for opcode in &group.opcodes {
            let number = opcode.get_ref().strip_prefix("custom-");
            let number = number.and_then(|number| number.parse::<u8>().ok());
            let Some(number @ 0..=3) = number else {
                let why = format!("\"{}\" is none of custom-0 to custom-3", opcode.get_ref());
                return Err(wrong(opcode.span().start, why));
            };
            opcodes |= 1 << number;
        }
        for name in &group.extensions {
            let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            if name.get_ref().is_empty() || !name.get_ref().bytes().all(is_name) {
                let why = format!("\"{}\" is no name of an extension", name.get_ref());
                return Err(wrong(name.span().start, why));
            }
        }
        for cpu in cpus.iter_mut().filter(|cpu| list.has(cpu.number)) {
            cpu.opcodes |= opcodes;
            let names = group.extensions.iter().map(|name| name.get_ref().clone());
            cpu.extensions.extend(names);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus() -> Vec<Cpu> {
        let cpu = |number| Cpu {
            number,
            ..Cpu::default()
        };
        (0..4).map(cpu).collect()
    }

    #[test]
    fn it_adds_to_what_linux_says() {
        let mut cpus = cpus();
        let text = "[[cpus]]\nlist = \"1-2\"\nextensions = [\"xacme\"]\nopcodes = [\"custom-0\", \
            \"custom-3\"]\n[[cpus]]\nlist = \"2\"\nopcodes = [\"custom-1\"]\n";
        add(&mut cpus, text).unwrap();
        assert_eq!(
            cpus.iter().map(|cpu| cpu.opcodes).collect::<Vec<_>>(),
            [0, 9, 11, 0]
        );
        assert!(cpus[1].extensions.contains("xacme") && cpus[0].extensions.is_empty());
        add(&mut cpus, "").unwrap();
    }

    #[test]
    fn errors_have_lines() {
        for (text, line, part) in [
            ("[[cpus]]\nlist = \"5\"\n", 2, "CPU 5 is not online"),
            ("[[cpus]]\nlist = \"x\"\n", 2, "\"x\" is no CPU"),
            (
                "[[cpus]]\nlist = \"1\"\nopcodes = [\"custom-4\"]\n",
                3,
                "custom-4",
            ),
            (
                "[[cpus]]\nlist = \"1\"\n\nextensions = [\"Zba\"]\n",
                4,
                "Zba",
            ),
            ("[[cpus]]\nlist = \"1\"\nunit = 1\n", 3, "unknown field"),
            ("[[cpus]]\n", 1, "missing field `list`"),
            ("\n[[cpus]\n", 2, ""),
            ("harts = 1\n", 1, "unknown field"),
        ] {
            let wrong = add(&mut cpus(), text).unwrap_err();
            assert!(wrong.why.contains(part), "{text:?}: {wrong:?}");
            assert_eq!(wrong.line, line, "{text:?}: {wrong:?}");
        }
    }
}
