//! Flick's own options of `flick cc`, for `--help` and the manual pages.
use flick_image::output;

use crate::{FrontEnd, Result};

/// An option as it is written, and what it does.
pub const OPTIONS: [(&str, &str); 11] = [
    (
        "--flick-place=<file>",
        "Place functions as the file says: lines of `nxp', `host' or `both' and a function's name or pattern",
    ),
    (
        "--flick-place=random:<seed>:<percent>",
        "Place functions at random, for tests",
    ),
    (
        "-Xnxp=<option>",
        "An option for the NxP half alone: -O<level>, -march=, -mtune=, -mllvm=-riscv-...",
    ),
    (
        "--nxp-march=<isa>",
        "RV64 extensions that NxP code may use (the same as -Xnxp=-march=)",
    ),
    (
        "--flick-timed",
        "Host code counts its execution, for flick stat --platform, flick record, flick advise",
    ),
    (
        "--flick-translate=link|run",
        "When NxP code is translated for the host: at the link, into the program (default), or at run time",
    ),
    (
        "--flick-translation-cache=<dir>|off",
        "Where a link keeps translations for the next (default: $XDG_CACHE_HOME/flick/translations)",
    ),
    (
        "--flick-check=device",
        "Host code records its accesses to memory, for FLICK_CHECK=device",
    ),
    (
        "--flick-save-temps=<dir>",
        "Keep the files of the image link there",
    ),
    ("--flick-verbose", "Show the commands that are run"),
    (
        "--help, --version",
        "clang's own answers, with Flick's additions",
    ),
];

/// Those that a misspelt `--flick-…` may have meant.
pub const NAMES: [&str; 7] = [
    "check",
    "place",
    "save-temps",
    "timed",
    "translate",
    "translation-cache",
    "verbose",
];

/// Whether the option makes clang print its help.
pub fn is_help(option: &str) -> bool {
    matches!(option, "--help" | "-help" | "--help-hidden")
}

/// Says what Flick adds, in clang's manner; clang's own help follows. FLK0105.
pub fn print(front: FrontEnd) -> Result<()> {
    output::stdout(text(front).as_bytes())
}

fn text(front: FrontEnd) -> String {
    let name = front.program();
    let mut text = format!(
        "OVERVIEW: {name}: {}, and NxP code for the functions that are placed\n\n\
         USAGE: {name} [options] file...\n\n\
         Functions are placed by FLICK_NXP in the source (flick.h) or by a placement file. `flick place\n\
         --explain prog' shows where each went; `man {name}' and share/doc/flick/driver.md say more.\n\n\
         FLICK'S OPTIONS:\n",
        front.tool().name
    );
    // clang's columns.
    for (option, what) in OPTIONS {
        if option.len() < 23 {
            text += &format!("  {option:<23} {what}\n");
        } else {
            text += &format!("  {option}\n{:26}{what}\n", "");
        }
    }
    text + "\nAll of clang's options are taken, too; its own help follows.\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_the_same_options() {
        let reference = include_str!("../../../docs/driver.md");
        let own = reference.split_once("## Flick's own options").unwrap().1;
        let own = own.split_once("\n\n`").unwrap().0;
        let name = |option: &str| {
            let end = option.find(['=', ',', ' ', '`']).unwrap_or(option.len());
            option[..end].to_owned()
        };
        let rows = own.lines().filter_map(|line| line.strip_prefix("| `"));
        let mut documented: Vec<String> = rows.map(name).collect();
        let mut listed: Vec<String> = OPTIONS.iter().map(|(option, _)| name(option)).collect();
        listed.retain(|option| option != "--help");
        documented.sort();
        listed.sort();
        assert_eq!(documented, listed);
    }

    #[test]
    fn options_stand_in_clangs_columns() {
        let text = text(FrontEnd::Cxx);
        assert!(
            text.starts_with("OVERVIEW: flick-c++: clang++-19"),
            "{text}"
        );
        assert!(text.contains("\n  --flick-timed           Host"), "{text}");
        assert!(text.contains("\n  --flick-place=<file>    Place"), "{text}");
    }
}
