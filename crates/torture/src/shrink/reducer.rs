//! Programs of csmith are made smaller by the reducers that know C: cvise or creduce, where one is
//! installed.
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use flick_exec::{Caps, Run, quote};

use crate::source::Source;
use crate::workshop::{Case, FLICK, PLAIN, Workshop};

/// The case with a smaller program, if a reducer is there and finds one in time.
pub fn reduce_csmith(
    workshop: &Workshop,
    case: &Case,
    limit: Duration,
    fails: &mut dyn FnMut(&Case) -> bool,
) -> io::Result<Option<Case>> {
    let Some(tool) = ["cvise", "creduce"].into_iter().find(|tool| {
        let mut command = Command::new(tool);
        let asked = command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    }) else {
        return Ok(None);
    };
    let dir = tempfile::Builder::new().prefix("flick-reduce").tempdir()?;
    for file in case.source.files() {
        fs::write(dir.path().join(file.name), file.text)?;
    }
    let script = dir.path().join("interesting.sh");
    fs::write(&script, interesting(workshop, case))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    // Where the time is over: what it has kept so far is in the file.
    Run {
        argv: &[tool.into(), script.display().to_string(), "prog.c".into()],
        cwd: dir.path(),
        scratch: dir.path(),
        tag: "reducer",
        env: &[],
        stdin: None,
        limit,
        processor_limit: None,
        caps: Caps::default(),
    }
    .finish()?;
    let smaller = Case {
        source: Source::Csmith(fs::read_to_string(dir.path().join("prog.c"))?),
        ..case.clone()
    };
    Ok((smaller.source != case.source && fails(&smaller)).then_some(smaller))
}

/// Succeeds where `prog.c` is still without undefined behaviour that sanitizers and warnings see,
/// and the builds still differ.
fn interesting(workshop: &Workshop, case: &Case) -> String {
    let command = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        words.join(" ") + " || exit 1\n"
    };
    let mut text = String::from("#!/bin/sh\nmkdir -p plain flick\n");
    if let Some(file) = case.placement.file() {
        text += &format!("printf %s {} >place.txt\n", quote(&file));
    }
    let plain = case
        .source
        .commands(&workshop.plain, &case.options, None, "", PLAIN);
    for words in &plain {
        let mut strict = words.clone();
        strict.retain(|word| word != "-w" && word != "-static");
        strict.extend(
            [
                "-Werror=uninitialized",
                "-Werror=return-type",
                "-Werror=implicit-function-declaration",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
            ]
            .map(String::from),
        );
        text += &command(&strict);
        text += "timeout 10 plain/prog >/dev/null 2>&1 || exit 1\n";
        text += &command(words);
    }
    let place = Some(&case.placement);
    for words in case
        .source
        .commands(&workshop.flick, &case.options, place, "", FLICK)
    {
        text += &command(&words);
    }
    text += &format!(
        "timeout 5 plain/prog >plain.out 2>/dev/null; plain=$?\n\
         [ $plain != 124 ] || exit 1\n\
         {} timeout 30 flick/prog >flick.out 2>/dev/null; flick=$?\n\
         [ $plain != $flick ] || ! cmp -s plain.out flick.out\n",
        case.manner.words()
    );
    text
}
