//! Runs a program of others, in a folder with the files that it reads.
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_exec::{Caps, Finished};

use super::making::Made;
use super::stranger::Stranger;
use crate::exec::Invocation;

const MEMORY: u64 = 4 << 30;
const FILE: u64 = 256 << 20;

pub struct Done {
    pub finished: Finished,
    /// As a person repeats it.
    pub shell: String,
}

/// Runs the program in an empty folder, with its data. `limit`: seconds of processor time.
pub fn run(
    stranger: &Stranger,
    made: &Made,
    dir: &Path,
    env: &[(String, String)],
    limit: u64,
) -> Result<Done, String> {
    let _ = fs::remove_dir_all(dir);
    lay_out(stranger, made, dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut argv = vec!["./prog".to_owned()];
    argv.extend(stranger.args.iter().cloned());
    let mut run = Invocation::new(argv, dir);
    run.env = env.to_vec();
    run.input = stranger.stdin.as_ref().map(|file| dir.join(file));
    // It may sleep, and others may use the machine.
    run.timeout = 4 * limit + 30;
    run.caps = Caps {
        data: Some(MEMORY),
        file: Some(FILE),
        cpu: Some(limit),
        ..Caps::default()
    };
    let finished = run
        .run("stranger")
        .map_err(|e| format!("cannot run it: {e}"))?;
    Ok(Done {
        finished,
        shell: repeated(made, &run),
    })
}

/// The run in the folder of the build.
fn repeated(made: &Made, run: &Invocation) -> String {
    let mut run = run.clone();
    run.cwd = made
        .program
        .parent()
        .map_or_else(PathBuf::new, PathBuf::from);
    run.input = run
        .input
        .and_then(|file| Some(PathBuf::from(file.file_name()?)));
    run.shell()
}

fn lay_out(stranger: &Stranger, made: &Made, dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    fs::hard_link(&made.program, dir.join("prog"))?;
    for data in &stranger.data {
        let to = dir.join(&data.to);
        if let Some(above) = to.parent() {
            fs::create_dir_all(above)?;
        }
        if !data.from.exists() || to.exists() {
            // If the program lacks a file, it lacks that file natively, too.
        } else if data.copied {
            let from = if data.from.is_dir() {
                data.from.join(".")
            } else {
                data.from.clone()
            };
            Command::new("cp").arg("-r").arg(from).arg(&to).status()?;
        } else {
            symlink(&data.from, &to)?;
        }
    }
    Ok(())
}
