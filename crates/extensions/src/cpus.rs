//! The CPUs of a machine, and what each can execute.
use std::collections::BTreeSet;

use crate::cpu_set::CpuSet;

/// A CPU of Linux, which is a hart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub number: usize,
    /// Names of its extensions, in lower case.
    pub extensions: BTreeSet<String>,
    /// The opcodes `custom-0` to `custom-3` that it is said to execute, as bits.
    pub opcodes: u8,
    /// Vendor, architecture and implementation. What these execute may differ without a name.
    pub identity: [String; 3],
}

/// CPUs that are alike in all that is known of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Which ones.
    pub cpus: CpuSet,
    /// One of them.
    pub example: Cpu,
}

/// All CPUs that are online.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    cpus: Vec<Cpu>,
    kinds: Vec<Kind>,
}

impl Cpus {
    /// The CPUs, in any order.
    pub fn new(mut cpus: Vec<Cpu>) -> Self {
        cpus.sort_by_key(|cpu| cpu.number);
        let mut kinds: Vec<Kind> = Vec::new();
        for cpu in &cpus {
            let alike = |kind: &&mut Kind| {
                let example = &kind.example;
                example.extensions == cpu.extensions
                    && example.opcodes == cpu.opcodes
                    && example.identity == cpu.identity
            };
            match kinds.iter_mut().find(alike) {
                Some(kind) => kind.cpus.insert(cpu.number),
                None => kinds.push(Kind {
                    cpus: CpuSet::from_iter([cpu.number]),
                    example: cpu.clone(),
                }),
            }
        }
        Self { cpus, kinds }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter()
    }

    /// The kinds, in the order of their first CPUs.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Those that fulfil a condition.
    pub fn that(&self, condition: impl Fn(&Cpu) -> bool) -> CpuSet {
        let those = self.cpus.iter().filter(|cpu| condition(cpu));
        those.map(|cpu| cpu.number).collect()
    }

    /// Those with this extension.
    pub fn with_extension(&self, name: &str) -> CpuSet {
        self.that(|cpu| cpu.extensions.contains(name))
    }

    /// Those that may execute `custom-NUMBER`: those of a description if it names any. Otherwise those
    /// with an extension of a vendor, whose opcodes nothing tells.
    pub fn with_opcode(&self, number: u8) -> CpuSet {
        let told = self.that(|cpu| cpu.opcodes & 1 << number != 0);
        if !told.is_empty() {
            return told;
        }
        self.that(|cpu| cpu.extensions.iter().any(|name| name.starts_with('x')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(number: usize, extensions: &str, opcodes: u8) -> Cpu {
        Cpu {
            number,
            extensions: extensions.split(' ').map(String::from).collect(),
            opcodes,
            ..Cpu::default()
        }
    }

    #[test]
    fn alike_cpus_are_of_a_kind() {
        let vendor = Cpu {
            identity: ["0x5b7", "0", "0"].map(String::from),
            ..cpu(5, "i c", 0)
        };
        let all = vec![
            cpu(4, "i c zba", 0),
            cpu(0, "i c", 0),
            cpu(1, "i c", 0),
            vendor,
            cpu(6, "i c", 2),
        ];
        let cpus = Cpus::new(all);
        let kinds: Vec<String> = cpus.kinds().iter().map(|k| k.cpus.to_string()).collect();
        assert_eq!(kinds, ["0-1", "4", "5", "6"]);
        assert_eq!(cpus.with_extension("zba").to_string(), "4");
    }

    #[test]
    fn opcodes_are_told_or_guessed_by_vendors_extensions() {
        let cpus = Cpus::new(vec![
            cpu(0, "i", 0),
            cpu(1, "i xacme", 0),
            cpu(2, "i", 0b10),
        ]);
        assert_eq!(cpus.with_opcode(1).to_string(), "2");
        assert_eq!(cpus.with_opcode(0).to_string(), "1");
    }
}
