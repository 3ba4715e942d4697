//! The extensions that the engine executes, as tools take them.

use flick_abi::march::EXTENSIONS;

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
