//! Which linker clang would call. Flick stands in for it (`--ld-path=`) and calls it in turn.
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::args::{Args, LinkerChoice};
use crate::run::Runner;
use crate::{Result, response};

/// `None` where there is none; clang has its own words for that.
pub fn linker(args: &Args, clang: &Path, runner: Runner) -> Result<Option<PathBuf>> {
    if args.linker.configured || std::env::var_os("CCC_OVERRIDE_OPTIONS").is_some() {
        return ask(args, clang, runner);
    }
    Ok(find(&args.linker, clang))
}

/// As `ToolChain::GetLinkerPath` of clang: directories of `-B`, clang's own, `PATH`.
fn find(choice: &LinkerChoice, clang: &Path) -> Option<PathBuf> {
    let name = match (&choice.path, &choice.name) {
        (Some(path), _) if !path.is_empty() => path.clone(),
        (_, Some(name)) if Path::new(name).is_absolute() => name.clone(),
        (_, Some(name)) if !name.is_empty() && name != "ld" => {
            let mut full = OsString::from("ld.");
            full.push(name);
            full
        }
        _ => "ld".into(),
    };
    if Path::new(&name).components().count() > 1 {
        return executable(&PathBuf::from(name));
    }
    let own = clang.canonicalize().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs = choice.prefixes.clone();
    dirs.extend(own.parent().map(Path::to_path_buf));
    dirs.extend(std::env::split_paths(&path));
    let mut prefixed = OsString::from("x86_64-pc-linux-gnu-");
    prefixed.push(&name);
    dirs.iter().find_map(|dir| {
        let candidates = [dir.join(&prefixed), dir.join(&name)];
        candidates.iter().find_map(|file| executable(file))
    })
}

fn executable(file: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let meta = file.metadata().ok()?;
    (meta.is_file() && meta.permissions().mode() & 0o111 != 0).then(|| file.to_path_buf())
}

/// The command that clang shows last is the link.
fn ask(args: &Args, clang: &Path, runner: Runner) -> Result<Option<PathBuf>> {
    let mut words = vec![OsString::from("-###")];
    words.extend(args.words.iter().cloned());
    let output = runner.capture(clang, &words)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text
        .lines()
        .rfind(|line| line.starts_with(" \""))
        .unwrap_or_default();
    let first = response::split(last.as_bytes()).into_iter().next();
    Ok(first.and_then(|linker| executable(Path::new(&linker))))
}
