//! The mistakes of `tests/mistakes`. Each file is a transcript that this module carries out, and a
//! section of `docs/mistakes.md`, which is made from the tools' output.
use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::Invocation;
use crate::filter::Filter;
use crate::mistake_text::{self as text, Block, Mistake};
use crate::normal::Normal;
use crate::pool::{Job, Verdict};
use crate::program::{name_of, sorted_entries};
use crate::suite::Setup;
use flick_exec::Finished;

/// How many mistakes must have place, reason and next step in the message itself.
const AT_LEAST: usize = 30;

/// Name and file of each mistake.
pub fn sources(tests: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let paths = sorted_entries(&tests.join("mistakes"))?.into_iter();
    Ok(paths
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| (name_of(&path), path))
        .collect())
}

/// Reads those that `filter` takes, in the page's order.
pub fn read(setup: &Setup, filter: &Filter) -> Result<Vec<Mistake>, String> {
    let mut all = Vec::new();
    for (name, path) in sources(&setup.tests)? {
        if !filter.takes(&name) {
            continue;
        }
        let source = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mistake =
            Mistake::parse(&name, &source).map_err(|e| format!("{}: {e}", path.display()))?;
        all.push(mistake);
    }
    all.sort_by_key(|m| (m.group, m.name.clone()));
    Ok(all)
}

/// A test for each mistake, which compares its section of `page`, too. Without a filter there is
/// also a test for the page as a whole.
pub fn jobs<'a>(
    setup: &'a Setup,
    mistakes: &'a [Mistake],
    page: &'a str,
    whole: bool,
) -> Vec<Job<'a>> {
    let mut jobs: Vec<Job> = Vec::new();
    for mistake in mistakes {
        jobs.push(Box::new(move || vec![one(setup, mistake, page)]));
    }
    if whole {
        jobs.push(Box::new(move || {
            vec![Verdict::new(
                "mistakes: the page".into(),
                frame(setup, mistakes, page),
            )]
        }));
    }
    jobs
}

fn one(setup: &Setup, mistake: &Mistake, page: &str) -> Verdict {
    let label = format!("mistakes/{}", mistake.name);
    if let Some(missing) = missing(mistake) {
        return Verdict::skipped(label, &format!("{missing} is not installed"));
    }
    let result = section(setup, mistake).and_then(|section| {
        if page.contains(&section) {
            return Ok(());
        }
        Err(format!(
            "docs/mistakes.md does not show what the tools print; make it again with \
             `cargo run -p flick-tests -- --mistakes-page`. This is the section now:\n{section}"
        ))
    });
    Verdict::new(label, result)
}

/// Checks the text around the sections: the introduction, the table of contents, and no rest.
fn frame(setup: &Setup, mistakes: &[Mistake], page: &str) -> Result<(), String> {
    let stale = || "docs/mistakes.md is not of these mistakes: make it again".to_owned();
    if !page.starts_with(&text::contents(mistakes, &example(setup)?)) {
        return Err(stale());
    }
    let anchors: Vec<&str> = page.lines().filter(|l| l.starts_with("<a id=")).collect();
    let want: Vec<String> = mistakes.iter().map(|m| text::anchor(&m.name)).collect();
    if anchors != want {
        return Err(stale());
    }
    let complete = mistakes.iter().filter(|m| m.complete()).count();
    if complete < AT_LEAST {
        return Err(format!(
            "{complete} messages name place, reason and next step themselves, at least {AT_LEAST} must"
        ));
    }
    Ok(())
}

fn missing(mistake: &Mistake) -> Option<&str> {
    let there = |tool: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|dir| dir.join(tool).is_file())
    };
    let tool = mistake.needs.iter().find(|tool| !there(tool));
    tool.map(String::as_str)
}

/// Runs all transcripts, and returns the whole page.
pub fn page(setup: &Setup, mistakes: &[Mistake]) -> Result<String, String> {
    let mut page = text::contents(mistakes, &example(setup)?);
    let mut group = None;
    for mistake in mistakes {
        if let Some(missing) = missing(mistake) {
            return Err(format!("{} needs {missing}", mistake.name));
        }
        if group != Some(mistake.group) {
            group = Some(mistake.group);
            page.push_str(&text::group_heading(mistake.group));
        }
        let section = section(setup, mistake).map_err(|e| format!("{}: {e}", mistake.name))?;
        page.push_str(&section);
    }
    Ok(page)
}

/// The files that many mistakes share.
fn example(setup: &Setup) -> Result<Vec<Block>, String> {
    ["sum.c", "main.c"]
        .into_iter()
        .map(|name| {
            let path = setup.tests.join("mistakes").join(name);
            Ok(Block::File {
                language: "c".into(),
                name: name.into(),
                text: fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?,
            })
        })
        .collect()
}

/// Carries the transcript out and returns the section that shows it.
fn section(setup: &Setup, mistake: &Mistake) -> Result<String, String> {
    let dir = setup.work.join(format!("mistake-{}", mistake.name));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for name in &mistake.uses {
        let from = setup.tests.join("mistakes").join(name);
        fs::copy(&from, dir.join(name)).map_err(|e| format!("{}: {e}", from.display()))?;
    }
    let normal = Normal::new(setup, &dir);
    let mut out = text::heading(mistake);
    let mut last = String::new();
    let commands = mistake.commands_before_why();
    let mut done = 0;
    for block in &mistake.blocks {
        match block {
            Block::Text(text) => out.push_str(&text::run_in(text)),
            Block::File { name, text, .. } => {
                let path = dir.join(name);
                fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
                out.push_str(&block.shown());
            }
            Block::Console(lines) => {
                let mut shown = String::new();
                for line in lines {
                    done += 1;
                    let finished = run(setup, &dir, line)?;
                    let output = normal.text(&finished);
                    shown.push_str(&format!("$ {line}\n{output}"));
                    let must_fail = done == commands && !mistake.warning;
                    if finished.succeeded() == must_fail {
                        return Err(format!(
                            "$ {line}\n{output}--- {}, {} expected",
                            finished.status,
                            if must_fail { "a failure" } else { "status 0" }
                        ));
                    }
                    if done == commands {
                        mistake.check_message(&output)?;
                    }
                    last = output;
                }
                out.push_str(&format!("```console\n{shown}```\n"));
            }
        }
    }
    if !last.contains(&mistake.then) {
        return Err(format!(
            "the last command printed\n{last}--- and not: {}",
            mistake.then
        ));
    }
    let _ = fs::remove_dir_all(&dir);
    out.push('\n');
    Ok(out)
}

/// A command in the shell of a person who has Flick's `bin` in PATH; both streams in one.
fn run(setup: &Setup, dir: &Path, line: &str) -> Result<Finished, String> {
    // A line of its own, so that bash stays and says how a program died.
    let argv = vec![
        "bash".to_owned(),
        "-c".into(),
        format!("exec 2>&1\n{line}\nexit $?"),
    ];
    let mut run = Invocation::new(argv, dir);
    let bin = setup.flick_cc.parent().unwrap_or(Path::new("."));
    let path = match setup.warm_path() {
        Some((_, path)) => path,
        None => std::env::var("PATH").unwrap_or_default(),
    };
    for (name, value) in [
        ("PATH", format!("{}:{path}", bin.display())),
        ("LC_ALL", "C".into()),
        ("COLUMNS", "100".into()),
        // Set by cargo for the runner, and by people for their own programs.
        ("LD_LIBRARY_PATH", String::new()),
    ] {
        run.env.push((name.into(), value));
    }
    run.timeout = 60;
    run.run("command").map_err(|e| e.to_string())
}
