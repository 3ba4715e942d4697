//! `-grecord-command-line` and `-frecord-command-line`: the record must be of the user's command
//! line, not of the one with Flick's words.
use std::ffi::OsString;
use std::path::Path;

use crate::args::Args;
use crate::run::Runner;
use crate::{Result, response};

const SHOW: &str = "-###";
/// clang's options that carry a record.
const CARRIERS: [&str; 2] = ["-dwarf-debug-flags", "-record-command-line"];

/// Words for the pass, which puts clang's record of the user's own command in place of the longer
/// one. clang renders that record itself.
pub fn words(args: &Args, clang: &Path, runner: Runner) -> Result<Vec<OsString>> {
    if !args.records_command_line {
        return Ok(Vec::new());
    }
    let mut ask = args.words.clone();
    ask.insert(0, SHOW.into());
    let output = runner.capture(clang, &ask)?;
    // It is the same for every source.
    let mut lines = output.stderr.split(|&byte| byte == b'\n');
    let line = lines.find(|line| line.windows(5).any(|w| w == b"-cc1\""));
    let shown = response::split(line.unwrap_or_default());
    let Some(pair) = shown
        .windows(2)
        .find(|pair| CARRIERS.iter().any(|c| pair[0] == *c))
    else {
        return Ok(Vec::new());
    };
    let record = pair[1]
        .to_string_lossy()
        .replacen(&format!(" {SHOW}"), "", 1);
    let option = format!("-flick-command-line={record}");
    Ok(vec![
        "-Xclang".into(),
        "-mllvm".into(),
        "-Xclang".into(),
        option.into(),
    ])
}
