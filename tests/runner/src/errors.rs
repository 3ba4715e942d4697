//! Bad input: programs that must be refused, and scripts for tests that are not a single compile.
use std::fs;
use std::path::{Path, PathBuf};

use crate::build::Compiler;
use crate::directives::{Directives, Stage};
use crate::exec::Invocation;
use crate::filter::Filter;
use crate::pool::{Job, Kind, Verdict};
use crate::program::{name_of, sorted_entries};
use crate::suite::Setup;
use flick_exec::{Finished, Status};

/// The exit status of a script if the machine cannot show the behaviour that the script tests. The
/// script's last line has the reason.
const SKIP: i32 = 77;

/// Name and file of each bad input.
pub fn sources(tests: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let is_test = |path: &PathBuf| match path.extension().and_then(|e| e.to_str()) {
        Some("c" | "cpp") => true,
        Some("sh") => !path.ends_with("lib.sh"),
        _ => false,
    };
    let paths = sorted_entries(&tests.join("errors"))?.into_iter();
    Ok(paths
        .filter(is_test)
        .map(|path| (name_of(&path), path))
        .collect())
}

pub fn jobs<'a>(setup: &'a Setup, filter: &Filter) -> Result<Vec<Job<'a>>, String> {
    let mut sources = sources(&setup.tests)?;
    sources.retain(|(name, _)| filter.takes(name));
    let job = |(name, path): (String, PathBuf)| -> Job<'a> {
        Box::new(move || {
            if path.extension().is_some_and(|e| e == "sh") {
                return vec![script(setup, &path, &name)];
            }
            let label = format!("errors/{name}");
            vec![match program(setup, &path, &name) {
                Ok((Stage::Run, text)) => Verdict::of(label, Kind::Reported, Ok(text)),
                Ok((_, text)) => Verdict::of(label, Kind::Refused, Ok(text)),
                Err(report) => Verdict::new(label, Err(report)),
            }]
        })
    };
    Ok(sources.into_iter().map(job).collect())
}

fn fresh_dir(setup: &Setup, name: &str) -> Result<PathBuf, String> {
    let dir = setup.work.join(format!("errors-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    Ok(dir)
}

/// Where it failed, and with what message.
fn program(setup: &Setup, path: &Path, name: &str) -> Result<(Stage, String), String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let d = Directives::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let (stage, code) = d.fails.clone().ok_or("a FAILS: directive is needed")?;
    let dir = fresh_dir(setup, name)?;
    let compiler = Compiler::flick(&setup.flick_cc, Vec::new());
    let is_c = path.extension().is_some_and(|e| e == "c");
    let mut argv = vec![if is_c { compiler.cc } else { compiler.cxx }];
    argv.extend([
        "-I".into(),
        setup.include.display().to_string(),
        "-g".into(),
    ]);
    argv.extend(d.cflags.iter().chain(&d.cxxflags).cloned());
    let folder = path.parent().unwrap_or(Path::new("."));
    argv.extend(
        d.place
            .iter()
            .map(|p| format!("--flick-place={}", folder.join(p).display())),
    );
    argv.push(path.display().to_string());
    match stage {
        Stage::Compile => argv.extend(["-c", "-o", "prog.o"].map(String::from)),
        Stage::Link | Stage::Run => argv.extend(["-o", "prog"].map(String::from)),
    }
    argv.extend(d.libs.iter().cloned());
    let mut compile = Invocation::new(argv, &dir);
    let mut commands = compile.shell();
    compile.env.extend(setup.warm_path());
    let mut done = compile.run("build").map_err(|e| e.to_string())?;
    let mut faults = Vec::new();
    if stage == Stage::Run {
        if !done.succeeded() {
            return Err(format!(
                "the build failed\n{commands}\n{}",
                done.stderr_text()
            ));
        }
        let mut argv = vec!["./prog".to_owned()];
        argv.extend(d.args.iter().cloned());
        let mut run = Invocation::new(argv, &dir);
        run.env = d.env.clone();
        run.timeout = d.timeout;
        commands = format!("{commands}\n{}", run.shell());
        done = run.run("run").map_err(|e| e.to_string())?;
        if done.status != d.exit {
            faults.push(format!("{}, {} expected", done.status, d.exit));
        }
        if let Some(out) = &d.out
            && done.stdout_text() != *out
        {
            faults.push(format!("stdout is not what its comment expects:\n{out}"));
        }
    } else if !matches!(done.status, Status::Code(n) if n != 0) {
        faults.push(format!("the build: {}, a refusal expected", done.status));
    }
    check_message(
        &done,
        &code,
        &d.says,
        &place_of_error(path, &text),
        &mut faults,
    );
    if faults.is_empty() {
        let _ = fs::remove_dir_all(&dir);
        return Ok((stage, done.stderr_text()));
    }
    Err(format!(
        "{}\n{commands}\n--- stdout\n{}--- stderr\n{}",
        faults.join("\n"),
        done.stdout_text(),
        done.stderr_text()
    ))
}

/// `FILE:LINE` of the line that carries the comment `HERE`.
fn place_of_error(path: &Path, text: &str) -> Option<String> {
    let line = text.lines().position(|l| l.contains("/* HERE */"))? + 1;
    Some(format!("{}:{line}", path.file_name()?.to_string_lossy()))
}

fn check_message(
    done: &Finished,
    code: &str,
    says: &[String],
    place: &Option<String>,
    faults: &mut Vec<String>,
) {
    let text = done.stderr_text();
    for want in std::iter::once(&format!("[{code}]"))
        .chain(says)
        .chain(place)
    {
        if !text.contains(want) {
            faults.push(format!("the message does not contain '{want}'"));
        }
    }
    for bad in ["panicked at", "PLEASE submit a bug report", "Stack dump:"] {
        if text.contains(bad) {
            faults.push(format!("a tool crashed: '{bad}'"));
        }
    }
}

fn script(setup: &Setup, path: &Path, name: &str) -> Verdict {
    let label = format!("errors/{name}");
    let run = || -> Result<Result<String, String>, String> {
        let dir = fresh_dir(setup, name)?;
        let argv = ["bash", "-eu"].map(String::from).to_vec();
        let mut run = Invocation::new(argv, &dir);
        run.argv.push(path.display().to_string());
        let bin = setup.flick_cc.parent().unwrap_or(Path::new("."));
        for (name, value) in [
            ("FLICK_TEST_CC", &setup.flick_cc),
            ("FLICK_TEST_CXX", &bin.join("flick-c++")),
            ("FLICK_TEST_FLICK", &bin.join("flick")),
            ("FLICK_TEST_INCLUDE", &setup.include),
            ("FLICK_TEST_ERRORS", &setup.tests.join("errors")),
        ] {
            run.env.push((name.into(), value.display().to_string()));
        }
        let shown = run.shell();
        run.env.extend(setup.warm_path());
        let done = run.run("script").map_err(|e| e.to_string())?;
        if done.succeeded() {
            let _ = fs::remove_dir_all(&dir);
            return Ok(Ok(done.stdout_text()));
        }
        if done.status == Status::Code(SKIP) {
            return Ok(Err(done
                .stdout_text()
                .lines()
                .last()
                .unwrap_or("no reason")
                .into()));
        }
        Err(format!(
            "{}\n{}\n{}{}",
            done.status,
            shown,
            done.stdout_text(),
            done.stderr_text()
        ))
    };
    match run() {
        Ok(Ok(text)) => {
            // `refuses` of lib.sh says so.
            let kind = if text.contains("refused: [") {
                Kind::Refused
            } else {
                Kind::Works
            };
            Verdict::of(label, kind, Ok(text))
        }
        Ok(Err(reason)) => Verdict::skipped(label, &reason),
        Err(report) => Verdict::new(label, Err(report)),
    }
}
