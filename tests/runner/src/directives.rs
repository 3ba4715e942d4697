//! The directives of a test program: the `// KEY: value` lines of its leading comment.
//! `tests/writing.md` lists the keys.
use std::fmt;

use flick_exec::Status;

use crate::mode::Mode;

const SIGNALS: [(&str, i32); 8] = [
    ("SEGV", libc::SIGSEGV),
    ("ILL", libc::SIGILL),
    ("ABRT", libc::SIGABRT),
    ("TRAP", libc::SIGTRAP),
    ("FPE", libc::SIGFPE),
    ("BUS", libc::SIGBUS),
    ("KILL", libc::SIGKILL),
    ("TERM", libc::SIGTERM),
];

/// How a program ends.
fn exit(text: &str) -> Result<Status, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["signal", name] => SIGNALS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, n)| Status::Signal(n))
            .ok_or_else(|| format!("unknown signal '{name}'")),
        [code] => code
            .parse()
            .map(Status::Code)
            .map_err(|_| format!("bad exit '{text}'")),
        _ => Err(format!("bad exit '{text}'")),
    }
}

/// A counter of the statistics record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    HostToNxp,
    NxpToHost,
}

/// One expectation on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub counter: Counter,
    pub at_least: bool,
    pub value: u64,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.counter {
            Counter::HostToNxp => "host-to-nxp",
            Counter::NxpToHost => "nxp-to-host",
        };
        write!(
            f,
            "{name}{}{}",
            if self.at_least { ">=" } else { "=" },
            self.value
        )
    }
}

/// The crossings that the run's statistics must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Crossings {
    /// At least one crossing, and these bounds.
    Counted(Vec<Bound>),
    /// The process ends in a way that leaves no record; the reason.
    Unrecorded(String),
}

/// Modes a program does not run in, and why.
#[derive(Clone, Debug)]
pub struct SkipMode {
    pub words: Vec<String>,
    pub reason: String,
}

/// Where a program for bad input must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Compile,
    Link,
    Run,
}

#[derive(Clone, Debug)]
pub struct Directives {
    /// The prose of the comment.
    pub about: String,
    /// Expected standard output.
    pub out: Option<String>,
    /// Texts that standard error of the Flick build must contain.
    pub err: Vec<String>,
    pub same_stderr: bool,
    pub exit: Status,
    pub crossings: Crossings,
    /// Why a call may end between its fault and its count, if it may.
    pub lost_calls: Option<String>,
    pub stdin: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub libs: Vec<String>,
    pub cflags: Vec<String>,
    pub cxxflags: Vec<String>,
    /// Options that only Flick's compilers have.
    pub flick_flags: Vec<String>,
    pub place: Vec<String>,
    pub only_flick: bool,
    pub skip_modes: Vec<SkipMode>,
    pub skip_random: Option<String>,
    pub skip_valgrind: Option<String>,
    pub skip_asan: Option<String>,
    /// The machines of runs on a card; that of FLICK_MACHINE otherwise.
    pub cards: Vec<String>,
    pub skip_card: Option<String>,
    pub skip_timed: Option<String>,
    pub skip_gcc: Option<String>,
    pub timeout: u64,
    pub steps: Vec<Vec<String>>,
    /// Error tests: stage, code, texts the message must contain.
    pub fails: Option<(Stage, String)>,
    pub says: Vec<String>,
}

impl Default for Directives {
    fn default() -> Self {
        Self {
            about: String::new(),
            out: None,
            err: Vec::new(),
            same_stderr: false,
            exit: Status::Code(0),
            crossings: Crossings::Counted(Vec::new()),
            lost_calls: None,
            stdin: String::new(),
            args: Vec::new(),
            env: Vec::new(),
            libs: Vec::new(),
            cflags: Vec::new(),
            cxxflags: Vec::new(),
            flick_flags: Vec::new(),
            place: Vec::new(),
            only_flick: false,
            skip_modes: Vec::new(),
            skip_random: None,
            skip_valgrind: None,
            skip_asan: None,
            cards: Vec::new(),
            skip_card: None,
            skip_timed: None,
            skip_gcc: None,
            timeout: 30,
            steps: Vec::new(),
            fails: None,
            says: Vec::new(),
        }
    }
}

impl Directives {
    /// Reads the leading comment: lines that start with `//` (or `#` in scripts) up to the first
    /// other line. A word of capitals and dashes followed by `:` that is no known key is an error,
    /// so that a misspelt directive cannot pass silently; so is one behind other words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut d = Self::default();
        for (number, line) in text.lines().enumerate() {
            if number == 0 && line.starts_with("#!") {
                continue;
            }
            let Some(body) = line.strip_prefix("//").or_else(|| line.strip_prefix("# ")) else {
                break;
            };
            let body = body.strip_prefix(' ').unwrap_or(body);
            match split_key(body) {
                Some((key, value)) => d
                    .set(key, value)
                    .map_err(|e| format!("line {}: {key}: {e}", number + 1))?,
                None => {
                    if let Some(key) = body.split_whitespace().find_map(strayed_key) {
                        return Err(format!("line {}: {key}: begins no line", number + 1));
                    }
                    if !d.about.is_empty() {
                        d.about.push(' ');
                    }
                    d.about.push_str(body.trim());
                }
            }
        }
        if d.about.is_empty() {
            return Err("the leading comment does not say what is tested".into());
        }
        if d.only_flick && d.out.is_none() && d.fails.is_none() {
            return Err("ONLY: flick needs OUT: lines, there is no other oracle".into());
        }
        Ok(d)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let trimmed = value.trim();
        let words = || {
            trimmed
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        match key {
            "OUT" => {
                let out = self.out.get_or_insert_default();
                out.push_str(value);
                out.push('\n');
            }
            "ERR" => self.err.push(trimmed.into()),
            "STDERR" if trimmed == "same" => self.same_stderr = true,
            "EXIT" => self.exit = exit(trimmed)?,
            "CROSSINGS" => self.crossings = parse_crossings(trimmed)?,
            "LOST-CALLS" if !trimmed.is_empty() => self.lost_calls = Some(trimmed.into()),
            "STDIN" => {
                self.stdin.push_str(value);
                self.stdin.push('\n');
            }
            "ARGS" => self.args.extend(words()),
            "ENV" => {
                for word in words() {
                    let (name, value) = word.split_once('=').ok_or("NAME=VALUE is needed")?;
                    self.env.push((name.into(), value.into()));
                }
            }
            "LIBS" => self.libs.extend(words()),
            "CFLAGS" => self.cflags.extend(words()),
            "CXXFLAGS" => self.cxxflags.extend(words()),
            "FLICK-FLAGS" => self.flick_flags.extend(words()),
            "PLACE" => self.place.extend(words()),
            "ONLY" if trimmed == "flick" => self.only_flick = true,
            "SKIP-MODE" => {
                let (modes, reason) = trimmed
                    .split_once(' ')
                    .ok_or("modes and a reason are needed")?;
                let words: Vec<String> = modes.split(',').map(str::to_owned).collect();
                if let Some(bad) = words.iter().find(|w| !Mode::is_word(w)) {
                    return Err(format!("unknown mode '{bad}'"));
                }
                self.skip_modes.push(SkipMode {
                    words,
                    reason: reason.trim().into(),
                });
            }
            "SKIP-RANDOM" if !trimmed.is_empty() => self.skip_random = Some(trimmed.into()),
            "SKIP-VALGRIND" if !trimmed.is_empty() => self.skip_valgrind = Some(trimmed.into()),
            "SKIP-ASAN" if !trimmed.is_empty() => self.skip_asan = Some(trimmed.into()),
            "CARD" if !trimmed.is_empty() => self.cards.extend(words()),
            "SKIP-CARD" if !trimmed.is_empty() => self.skip_card = Some(trimmed.into()),
            "SKIP-TIMED" if !trimmed.is_empty() => self.skip_timed = Some(trimmed.into()),
            "SKIP-GCC" if !trimmed.is_empty() => self.skip_gcc = Some(trimmed.into()),
            "TIMEOUT" => self.timeout = trimmed.parse().map_err(|_| "seconds are needed")?,
            "STEP" => self.steps.push(words()),
            "FAILS" => {
                let (stage, code) = trimmed.split_once(' ').ok_or("stage and code are needed")?;
                let stage = match stage {
                    "compile" => Stage::Compile,
                    "link" => Stage::Link,
                    "run" => Stage::Run,
                    _ => return Err(format!("unknown stage '{stage}'")),
                };
                self.fails = Some((stage, code.trim().into()));
            }
            "SAYS" => self.says.push(trimmed.into()),
            _ => return Err(format!("unknown directive or value '{trimmed}'")),
        }
        Ok(())
    }

    /// Why the program does not run in `mode`, if it does not.
    pub fn skips(&self, mode: Mode) -> Option<&str> {
        self.skip_modes
            .iter()
            .find(|s| s.words.iter().any(|w| mode.has_word(w)))
            .map(|s| s.reason.as_str())
    }
}

fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    is_key(key).then(|| (key, value.strip_prefix(' ').unwrap_or(value)))
}

fn is_key(word: &str) -> bool {
    word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
}

/// The key that a word of prose looks like: who reflows a comment draws directives into it.
fn strayed_key(word: &str) -> Option<&str> {
    word.strip_suffix(':').filter(|word| is_key(word))
}

fn parse_crossings(text: &str) -> Result<Crossings, String> {
    if let Some(reason) = text.strip_prefix("unrecorded ") {
        return Ok(Crossings::Unrecorded(reason.trim().into()));
    }
    let mut bounds = Vec::new();
    for word in text.split_whitespace() {
        let (name, value) = word
            .split_once('=')
            .ok_or_else(|| format!("bad bound '{word}'"))?;
        let (name, at_least) = match name.strip_suffix('>') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let counter = match name {
            "host-to-nxp" => Counter::HostToNxp,
            "nxp-to-host" => Counter::NxpToHost,
            _ => return Err(format!("unknown counter '{name}'")),
        };
        let value = value.parse().map_err(|_| format!("bad number '{value}'"))?;
        bounds.push(Bound {
            counter,
            at_least,
            value,
        });
    }
    Ok(Crossings::Counted(bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_comment() {
        let d = Directives::parse(
            "// Calls a function.\n// OUT: 1  2\n// OUT:\n// EXIT: signal SEGV\n\
             // CROSSINGS: host-to-nxp=3 nxp-to-host>=1\n// SKIP-MODE: static,O0 no dlopen\n\
             #include <stdio.h>\n// EXIT: 7\n",
        )
        .unwrap();
        assert_eq!(d.about, "Calls a function.");
        assert_eq!(d.out.as_deref(), Some("1  2\n\n"));
        assert_eq!(d.exit, Status::Signal(libc::SIGSEGV));
        let Crossings::Counted(bounds) = &d.crossings else {
            panic!()
        };
        assert_eq!(bounds.len(), 2);
        assert_eq!(bounds[1].to_string(), "nxp-to-host>=1");
        let skipped = Mode::all()
            .into_iter()
            .filter(|&m| d.skips(m).is_some())
            .count();
        // With each engine.
        assert_eq!(skipped, 3 * (8 + 8));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in [
            "int x;",
            "// Text.\n// EXITS: 1",
            "// Text.\n// EXIT: signal FOO",
            "// Text.\n// CROSSINGS: sideways=1",
            "// Text.\n// SKIP-MODE: statik why",
            "// Text.\n// ONLY: flick",
            "// Text. OUT: 1",
        ] {
            assert!(Directives::parse(bad).is_err(), "{bad}");
        }
    }
}
