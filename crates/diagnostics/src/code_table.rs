//! The table of codes in `docs/formats.md`.
use core::fmt::{self, Write};

use crate::Code;

/// Writes the table as Markdown: a row for each code.
///
/// # Errors
/// Those of `out`.
pub fn table(out: &mut impl Write) -> fmt::Result {
    out.write_str("| code | severity | reported by | meaning |\n|---|---|---|---|\n")?;
    for code in Code::ALL {
        let (severity, stage) = (code.severity().word(), code.stage().word());
        writeln!(out, "| {code} | {severity} | {stage} | {} |", code.title())?;
    }
    Ok(())
}
