//! What `flick cc` does not handle yet: FLK0101, never a guess.
use crate::{Error, Result};

fn error(what: &str, place: &str, why: &str, help: &str) -> Error {
    Error::new(101, what, place, why, help)
}

/// Options that no Flick compile or link can have.
pub fn check(option: &str) -> Result<()> {
    let target = |value: &str| check_value("--target", value);
    if let Some(value) = option.strip_prefix("--target=") {
        return target(value);
    }
    let why = match option {
        _ if option.starts_with("-flto") => {
            "link-time optimisation would change functions after they were placed"
        }
        "-m32" | "-mx32" | "-m16" | "-mabi=ms" => {
            "host code is 64-bit x86-64 with the System V convention"
        }
        _ => return Ok(()),
    };
    Err(error(
        "an option is not handled yet",
        option,
        why,
        "compile without it",
    ))
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

/// Whether an option is fine as long as nothing is placed on the NxP. Sanitizers and profilers
/// instrument code after it was split, and expect host stacks; other code models break the gates'
/// addressing.
pub fn not_with_nxp(option: &str) -> bool {
    const EXACT: &[&str] = &[
        "--coverage",
        "-fcoverage-mapping",
        "-ftest-coverage",
        "-fprofile-arcs",
        "-pg",
        "-finstrument-functions",
        "-finstrument-functions-after-inlining",
        "-fxray-instrument",
        "-fsplit-stack",
        "-mcmodel=medium",
        "-mcmodel=large",
        "-mcmodel=kernel",
    ];
    // Checks that the front end writes out as ordinary code.
    const PLAIN_CHECKS: &[&str] = &[
        "undefined",
        "alignment",
        "array-bounds",
        "bool",
        "bounds",
        "builtin",
        "enum",
        "float-cast-overflow",
        "float-divide-by-zero",
        "implicit-conversion",
        "integer",
        "integer-divide-by-zero",
        "local-bounds",
        "nonnull-attribute",
        "null",
        "nullability",
        "object-size",
        "pointer-overflow",
        "return",
        "returns-nonnull-attribute",
        "shift",
        "shift-base",
        "shift-exponent",
        "signed-integer-overflow",
        "unreachable",
        "unsigned-integer-overflow",
        "unsigned-shift-base",
        "vla-bound",
    ];
    if let Some(list) = option.strip_prefix("-fsanitize=") {
        return list.split(',').any(|check| !PLAIN_CHECKS.contains(&check));
    }
    EXACT.contains(&option)
        || option.starts_with("-fprofile-generate")
        || option.starts_with("-fprofile-instr-generate")
        || option.starts_with("-fcs-profile-generate")
}

/// The error for such an option.
pub fn with_nxp(option: &str, place: &str) -> Error {
    error(
        "an option is not handled together with NxP code yet",
        option,
        &format!("{place} has functions on the NxP"),
        "compile without it, or without placing anything",
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

/// The option names a file beside the object, which is a temporary one here.
pub fn needs_object(option: &str) -> Error {
    error(
        "an option is not handled when sources are compiled and linked in one command",
        option,
        "its side file would be lost with the temporary object",
        "compile with -c first, then link",
    )
}
