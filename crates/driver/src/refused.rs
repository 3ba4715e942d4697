//! Options and inputs that `flick cc` refuses: FLK0101, never a guess.
use std::collections::BTreeSet;

use crate::{Error, Result};
use flick_diagnostics::Code;

fn error(what: &str, place: &str, why: &str, help: &str) -> Error {
    Error::new(Code::UnhandledOption, what, place, why, help)
}

/// Options that no Flick compile or link can have.
pub fn check(option: &str) -> Result<()> {
    if let Some(value) = option.strip_prefix("--target=") {
        return check_value("--target", value);
    }
    match option {
        "-m32" | "-mx32" | "-m16" | "-mabi=ms" => Err(error(
            "an option is not handled",
            option,
            "host code is 64-bit x86-64 with the System V convention",
            "compile without it",
        )),
        _ => Ok(()),
    }
}

/// Options with a separate value.
pub fn check_value(option: &str, value: &str) -> Result<()> {
    if !matches!(option, "-target" | "--target" | "-arch") {
        return Ok(());
    }
    let mut parts = value.split('-');
    let x86_64 = matches!(parts.next(), Some("x86_64" | "amd64"));
    let linux = value == "x86_64" || parts.any(|part| part.starts_with("linux"));
    let x32 = value.ends_with("x32");
    if x86_64 && linux && !x32 {
        return Ok(());
    }
    Err(error(
        "a target is not handled",
        &format!("{option} {value}"),
        "Flick programs run on x86-64 Linux",
        "leave the option out",
    ))
}

pub fn language(place: &str) -> Error {
    error(
        "this language is not handled yet",
        place,
        "flick cc compiles C, C++ and assembly",
        "compile it with its own compiler and give flick cc the object file",
    )
}

/// Options that are fine as long as nothing is placed on the NxP. They instrument code so that it
/// expects host stacks and host memory everywhere, break the gates' addressing, or make bitcode in
/// which placed functions would change after they were placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotWithNxp {
    /// The last option of each group, if it is one of these.
    groups: Vec<(&'static str, Option<String>)>,
    sanitizers: BTreeSet<String>,
}

/// Options that go together with NxP code: what the front end writes out as ordinary code, and what
/// keeps to the host half.
const SANITIZERS: &[&str] = &[
    "address",
    "alignment",
    "array-bounds",
    "bool",
    "bounds",
    "builtin",
    "enum",
    "float-cast-overflow",
    "float-divide-by-zero",
    "function",
    "implicit-bitfield-conversion",
    "implicit-conversion",
    "implicit-integer-arithmetic-value-change",
    "implicit-integer-conversion",
    "implicit-integer-sign-change",
    "implicit-integer-truncation",
    "implicit-signed-integer-truncation",
    "implicit-unsigned-integer-truncation",
    "integer",
    "integer-divide-by-zero",
    "leak",
    "local-bounds",
    "nonnull-attribute",
    "null",
    "nullability",
    "nullability-arg",
    "nullability-assign",
    "nullability-return",
    "object-size",
    "pointer-compare",
    "pointer-overflow",
    "pointer-subtract",
    "return",
    "returns-nonnull-attribute",
    "shift",
    "shift-base",
    "shift-exponent",
    "signed-integer-overflow",
    "undefined",
    "unreachable",
    "unsigned-integer-overflow",
    "unsigned-shift-base",
    "vla-bound",
    "vptr",
];

impl NotWithNxp {
    /// One more option of the command line.
    pub fn see(&mut self, option: &str) {
        if let Some(list) = option.strip_prefix("-fsanitize=") {
            let refused = list.split(',').filter(|s| !SANITIZERS.contains(s));
            self.sanitizers.extend(refused.map(str::to_owned));
        } else if let Some(list) = option.strip_prefix("-fno-sanitize=") {
            for name in list.split(',') {
                self.sanitizers.retain(|s| s != name && name != "all");
            }
        } else if let Some((group, refused)) = group(option) {
            self.groups.retain(|(g, _)| *g != group);
            self.groups
                .push((group, refused.then(|| option.to_owned())));
        }
    }

    /// What the compile must refuse beside NxP code.
    pub fn at_compile(&self) -> Option<String> {
        self.options().next()
    }

    /// What the link must refuse; bitcode among its inputs is the linker's business.
    pub fn at_link(&self) -> Option<String> {
        self.options().find(|option| !option.starts_with("-flto"))
    }

    fn options(&self) -> impl Iterator<Item = String> {
        let sanitizers = self.sanitizers.iter().map(|s| format!("-fsanitize={s}"));
        let others = self.groups.iter().filter_map(|(_, option)| option.clone());
        sanitizers.chain(others)
    }
}

/// Options of one group replace each other; whether this one is refused beside NxP code.
fn group(option: &str) -> Option<(&'static str, bool)> {
    Some(match option {
        "-flto" => ("lto", true),
        "-fno-lto" | "-flto=none" => ("lto", false),
        _ if option.starts_with("-flto=") => ("lto", true),
        "-fxray-instrument" => ("xray", true),
        "-fno-xray-instrument" => ("xray", false),
        "-fsplit-stack" => ("split stack", true),
        "-fno-split-stack" => ("split stack", false),
        "-mcmodel=medium" | "-mcmodel=large" | "-mcmodel=kernel" => ("code model", true),
        _ if option.starts_with("-mcmodel=") => ("code model", false),
        _ if option.starts_with("-fsanitize-coverage=") => ("coverage of edges", true),
        _ if option.starts_with("-fembed-bitcode") => ("bitcode", option != "-fembed-bitcode=off"),
        _ => return None,
    })
}

/// The error for such an option at a link.
pub fn with_nxp(option: &str, place: &str) -> Error {
    error(
        "an option is not handled together with NxP code",
        option,
        &format!("{place} has functions on the NxP"),
        "link without it, or without placing anything",
    )
}

/// The user's own `--wrap` of a function that Flick wraps in static programs.
pub fn wrap(name: &str) -> Error {
    error(
        "an option is not handled in static programs with NxP code yet",
        &format!("--wrap={name}"),
        "Flick wraps this function itself, and the linker wraps each once",
        "link without -static, or without wrapping it",
    )
}

#[cfg(test)]
mod tests {
    use super::NotWithNxp;

    fn at_compile(line: &str) -> Option<String> {
        let mut seen = NotWithNxp::default();
        line.split_whitespace().for_each(|option| seen.see(option));
        seen.at_compile()
    }

    #[test]
    fn the_last_one_counts() {
        assert_eq!(
            at_compile("-fsanitize=address,undefined --coverage -pg"),
            None
        );
        assert_eq!(
            at_compile("-fsanitize=address,memory"),
            Some("-fsanitize=memory".into())
        );
        assert_eq!(at_compile("-fsanitize=thread -fno-sanitize=thread"), None);
        assert_eq!(at_compile("-fsanitize=thread -fno-sanitize=all"), None);
        assert_eq!(at_compile("-flto=thin -fno-lto"), None);
        assert_eq!(at_compile("-fno-lto -flto"), Some("-flto".into()));
        assert_eq!(at_compile("-mcmodel=large -mcmodel=small"), None);
        let mut seen = NotWithNxp::default();
        seen.see("-flto");
        assert_eq!(seen.at_link(), None);
    }
}
