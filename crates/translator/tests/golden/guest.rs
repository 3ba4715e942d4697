//! A file of assembly as a program of the translator's.
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use flick_riscv::{Insn, decode};
use flick_riscv_testing::isa;
use flick_translator::{Program, Target};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// Far enough from 0 that no small number looks like an address.
const BASE: &str = "--image-base=0x10000000";
/// What the constants have for functions of the host.
const HOST: u64 = 0x7fff_0000_0000;

#[derive(Default)]
pub struct Guest {
    text: (u64, Vec<u8>),
    constants: Vec<(u64, Vec<u8>)>,
    functions: BTreeMap<u64, (u64, String)>,
    /// Labels in the middle of functions.
    labels: BTreeMap<u64, String>,
    instructions: BTreeMap<u64, String>,
    /// What `.flick.jumps` says (`docs/objects.md`).
    jumps: BTreeMap<u64, Vec<u64>>,
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the tools that build NxP code");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

impl Guest {
    pub fn build(source: &Path) -> Self {
        let stem = source.file_stem().unwrap().display();
        let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{stem}.o"));
        let linked = object.with_extension("elf");
        run(Command::new("clang-19")
            .args(["--target=riscv64-unknown-linux-gnu", "-mno-relax"])
            // `pause` has a name of its own.
            .arg(format!("-march={}_zihintpause", isa::march()))
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(&object));
        run(Command::new("ld.lld-19")
            .args([BASE, "-e", "0", "-o"])
            .arg(&linked)
            .arg(&object));
        let mut guest = Self::default();
        guest.read(&std::fs::read(&linked).unwrap());
        let text = run(Command::new("llvm-objdump-19")
            .args(["-d", "--no-show-raw-insn"])
            .arg(&linked));
        for line in text.lines() {
            if let Some((at, instruction)) = line.trim_start().split_once(":")
                && let Ok(at) = u64::from_str_radix(at, 16)
            {
                guest.instructions.insert(at, instruction.trim().to_owned());
            }
        }
        guest
    }

    fn read(&mut self, file: &[u8]) {
        let elf = object::File::parse(file).unwrap();
        for section in elf.sections() {
            let data = || section.data().unwrap().to_vec();
            match section.kind() {
                SectionKind::Text => self.text = (section.address(), data()),
                SectionKind::ReadOnlyData => self.constants.push((section.address(), data())),
                _ if section.name() == Ok(".flick.jumps") => self.read_jumps(&data()),
                _ => {}
            }
        }
        for symbol in elf.symbols().filter(|symbol| symbol.is_global()) {
            let (at, name) = (symbol.address(), symbol.name().unwrap().to_owned());
            if symbol.kind() == SymbolKind::Text {
                self.functions.insert(at, (symbol.size(), name));
            } else {
                self.labels.insert(at, name);
            }
        }
    }

    fn read_jumps(&mut self, data: &[u8]) {
        let words: Vec<u64> = data
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let mut rest = &words[..];
        while let [counts, more @ ..] = rest {
            let (targets, more) = more.split_at((counts & 0xffff_ffff) as usize);
            let (jumps, more) = more.split_at((counts >> 32) as usize);
            self.jumps
                .extend(jumps.iter().map(|&at| (at, targets.to_vec())));
            rest = more;
        }
    }

    /// Functions and labels, with their addresses, in the order of these.
    pub fn entries(&self) -> Vec<(String, u64)> {
        let functions = self
            .functions
            .iter()
            .map(|(&at, (_, name))| (at, name.clone()));
        let entered = |name| format!("entered at {name}");
        let labels = self.labels.iter().map(|(&at, name)| (at, entered(name)));
        let all: BTreeMap<u64, String> = functions.chain(labels).collect();
        all.into_iter().map(|(at, name)| (name, at)).collect()
    }

    /// Those of the function that `at` is in.
    pub fn instructions_around(&self, at: u64) -> impl Iterator<Item = (u64, &str)> {
        let range = self.function(at).unwrap();
        let instructions = self.instructions.range(range);
        instructions.map(|(&at, text)| (at, text.as_str()))
    }

    pub fn name(&self, address: u64) -> Option<String> {
        if address == HOST {
            return Some("of the host".into());
        }
        let range = self.function(address)?;
        let (_, name) = &self.functions[&range.start];
        Some(match address - range.start {
            0 => name.clone(),
            distance => format!("{name}+{distance:#x}"),
        })
    }
}

fn bytes_at((start, bytes): &(u64, Vec<u8>), at: u64, len: u64) -> Option<u64> {
    let offset = usize::try_from(at.checked_sub(*start)?).ok()?;
    let found = bytes.get(offset..offset.checked_add(len as usize)?)?;
    Some(
        found
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u64::from(byte)),
    )
}

impl Program for Guest {
    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        self.jumps.get(&pc).cloned()
    }

    fn insn(&self, pc: u64) -> Option<Insn> {
        let low = bytes_at(&self.text, pc, 2)? as u32;
        let bits = if low & 3 == 3 {
            bytes_at(&self.text, pc, 4)? as u32
        } else {
            low
        };
        Some(decode(bits))
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let (&start, (size, _)) = self.functions.range(..=pc).next_back()?;
        (pc - start < *size).then_some(start..start + size)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        self.constants
            .iter()
            .find_map(|part| bytes_at(part, address, len))
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        Some(match self.insn(target) {
            Some(_) => Target::Guest(target),
            None => Target::Elsewhere,
        })
    }
}
