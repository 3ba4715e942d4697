//! A command of the suite: how it is run, and how a person repeats it.
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, io};

use flick_exec::{Caps, Finished, Run, quote};

/// A command as a person would type it.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub stdin: String,
    /// In the place of `stdin`.
    pub input: Option<PathBuf>,
    pub timeout: u64,
    pub caps: Caps,
}

impl Invocation {
    pub fn new(argv: Vec<String>, cwd: &Path) -> Self {
        Self {
            argv,
            cwd: cwd.to_owned(),
            env: Vec::new(),
            stdin: String::new(),
            input: None,
            timeout: 120,
            caps: Caps::default(),
        }
    }

    /// A shell line that repeats it.
    pub fn shell(&self) -> String {
        let mut words: Vec<String> = self
            .env
            .iter()
            .map(|(k, v)| format!("{k}={}", quote(v)))
            .collect();
        words.extend(self.argv.iter().map(|w| quote(w)));
        let pipe = if self.stdin.is_empty() {
            String::new()
        } else {
            format!("printf %s {} | ", quote(&self.stdin))
        };
        let input = self.input.as_ref().map(|file| {
            let file = quote(&file.display().to_string());
            format!(" <{file}")
        });
        format!(
            "cd {} && {pipe}{}{}",
            quote(&self.cwd.display().to_string()),
            words.join(" "),
            input.unwrap_or_default()
        )
    }

    /// Runs it; its files in the folder are named after `tag`.
    pub fn run(&self, tag: &str) -> io::Result<Finished> {
        let mut env = self.env.clone();
        let has = |name: &str| self.env.iter().any(|(known, _)| known == name);
        let given = GIVEN.get().into_iter().flatten();
        env.extend(given.filter(|(name, _)| !has(name)).cloned());
        let typed = self.cwd.join(format!("{tag}.in"));
        let input = match &self.input {
            Some(file) => file,
            None => {
                fs::write(&typed, &self.stdin)?;
                &typed
            }
        };
        let finished = Run {
            argv: &self.argv,
            cwd: &self.cwd,
            scratch: &self.cwd,
            tag,
            env: &env,
            stdin: Some(input),
            limit: Duration::from_secs(self.timeout),
            processor_limit: None,
            caps: self.caps,
        }
        .finish()?;
        if self.input.is_none() {
            fs::remove_file(typed)?;
        }
        Ok(finished)
    }

    /// Runs it; what it printed is its error.
    pub fn succeed(&self, tag: &str) -> Result<(), String> {
        let done = self
            .run(tag)
            .map_err(|e| format!("cannot run {}: {e}", self.argv[0]))?;
        if done.succeeded() {
            return Ok(());
        }
        let (out, err) = (done.stdout_text(), done.stderr_text());
        Err(format!("{}\n{out}{err}", done.status))
    }
}

static GIVEN: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Gives variables to all programs from now on, where they have no value of their own.
pub fn give_to_all(variables: &[(&str, &str)]) {
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    GIVEN.get_or_init(|| variables.iter().map(own).collect());
}

/// No core files from the programs that are meant to crash.
pub fn forbid_core_files() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `none` is a valid rlimit that outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}
