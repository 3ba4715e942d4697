//! A program of three lines, built and run in every way that programs are started.
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::Finding;

/// Crosses three times: main calls `nxp`, which calls `host`, and prints what came back.
const SOURCE: &str = r#"#include <flick.h>
#include <stdio.h>
FLICK_HOST long host(long x) { return x * 2; }
FLICK_NXP long nxp(long x) { return host(x) + 1; }
int main(void) { printf("%ld\n", nxp(20)); return 0; }
"#;
const EXPECTED: &[u8] = b"41\n";

/// What is tried: name, options of `flick cc`, trigger.
const TRIALS: [(&str, &[&str], &str); 3] = [
    ("run, crossing by gate", &[], "gate"),
    ("run, crossing by fault", &[], "fault"),
    ("run, static", &["-static"], "gate"),
];

pub fn all() -> Vec<(&'static str, Finding)> {
    let dir = match tempfile::Builder::new().prefix("flick-doctor").tempdir() {
        Ok(dir) => dir,
        Err(error) => {
            let remedy = format!("make {} writable", std::env::temp_dir().display());
            return vec![("compile", Finding::Missing(error.to_string(), remedy))];
        }
    };
    TRIALS
        .into_iter()
        .map(|(name, options, trigger)| (name, one(dir.path(), options, trigger)))
        .collect()
}

fn one(dir: &Path, options: &[&str], trigger: &str) -> Finding {
    let source = dir.join("trial.c");
    let program = dir.join(format!("trial{}", options.concat()));
    if let Err(error) = fs::write(&source, SOURCE) {
        return Finding::Missing(
            error.to_string(),
            "make the temporary directory writable".into(),
        );
    }
    if !program.exists() {
        let built = std::env::current_exe().and_then(|flick| {
            Command::new(flick)
                .arg("cc")
                .args(options)
                .args([source.as_os_str(), OsStr::new("-o"), program.as_os_str()])
                .output()
        });
        match built {
            Ok(output) if output.status.success() => {}
            Ok(output) => return failed("does not compile", &output),
            Err(error) => return Finding::Missing(error.to_string(), "reinstall Flick".into()),
        }
    }
    // `require`: a program that quietly stayed on the host would print the same.
    let run = Command::new(&program)
        .env("FLICK_OFFLOAD", "require")
        .env("FLICK_TRIGGER", trigger)
        .env_remove("FLICK_STATS")
        .output();
    match run {
        Ok(output) if output.status.success() && output.stdout == EXPECTED => {
            Finding::Ok("crossed and came back".into())
        }
        Ok(output) => failed("does not run", &output),
        Err(error) => Finding::Missing(
            format!("does not start: {error}"),
            "set TMPDIR to a directory that is not mounted noexec".into(),
        ),
    }
}

fn failed(what: &str, output: &Output) -> Finding {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let remedy = match (said.is_empty(), printed.is_empty()) {
        (false, _) => said,
        (true, false) => format!("it printed: {printed}"),
        (true, true) => "no message; run `make test` in Flick's source tree".into(),
    };
    Finding::Missing(
        format!("a small program {what} ({})", output.status),
        remedy,
    )
}
