//! `-grecord-command-line` and `-frecord-command-line`: the record must be of the user's command line,
//! not of the one with Flick's words.
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::args::Args;
use crate::run::Runner;
use crate::{Result, response};

/// clang's options that carry a record.
const CARRIERS: [&str; 2] = ["-dwarf-debug-flags", "-record-command-line"];

/// Words for clang's front end that put its own record in place of the longer one.
pub fn words(args: &Args, clang: &Path, runner: Runner) -> Result<Vec<OsString>> {
    if !args.records_command_line {
        return Ok(Vec::new());
    }
    let mut ask = vec![OsString::from("-###")];
    ask.extend(args.words.iter().cloned());
    let output = runner.capture(clang, &ask)?;
    let mut found = Vec::new();
    for line in output.stderr.split(|&byte| byte == b'\n') {
        if !line.starts_with(b" \"") || !line.windows(5).any(|w| w == b"-cc1\"") {
            continue;
        }
        let shown = response::split(line);
        for pair in shown.windows(2) {
            if CARRIERS.iter().any(|c| pair[0].as_bytes() == c.as_bytes()) {
                for word in pair {
                    found.extend(["-Xclang".into(), word.clone()]);
                }
            }
        }
        // It is the same for every source.
        break;
    }
    Ok(found)
}
