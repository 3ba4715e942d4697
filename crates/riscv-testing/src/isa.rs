//! The extensions that the engine executes, as tools take them.

use flick_abi::march::EXTENSIONS;
use flick_riscv::{Extension, Isa};

/// The ISA string of all of them.
pub fn march() -> String {
    let mut isa = String::from("rv64");
    for name in EXTENSIONS {
        if name.len() > 1 {
            isa.push('_');
        }
        isa.push_str(name);
    }
    isa
}

/// The option with which LLVM's tools take all of them.
pub fn mattr() -> String {
    let features: Vec<String> = EXTENSIONS
        .iter()
        .filter(|name| **name != "i")
        .map(|name| format!("+{name}"))
        .collect();
    format!("--mattr={}", features.join(","))
}

/// A hart with all extensions.
pub fn all() -> Isa {
    let isa: Isa = "rv64i".parse().expect("an ISA");
    Extension::ALL.into_iter().fold(isa, Isa::with)
}
