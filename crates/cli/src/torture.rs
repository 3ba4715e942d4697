//! `flick torture`: what was asked for, for the crate of that name.
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use flick_abi::settings::BACKEND;
use flick_diagnostics::Code;
use flick_driver::root::{CLANG, CLANGXX};
use flick_driver::{Error, Root};
use flick_image::output;
use flick_torture::{
    Compilers, Feature, Features, Generator, Language, Settings, User, Workshop, has_csmith,
};

use crate::print;

#[derive(Args)]
pub struct Torture {
    /// The first program's seed; the next program has the next [default: from the clock]
    #[arg(long, conflicts_with = "replay")]
    seed: Option<u64>,
    /// Programs (with your own program: placements) to try [default: 100 where there is no --time]
    #[arg(long, conflicts_with = "replay")]
    count: Option<u64>,
    /// How long to go on: 90, 90s, 15m, 2h
    #[arg(long, value_parser = duration, conflicts_with = "replay")]
    time: Option<Duration>,
    /// Try one seed again and keep its sources
    #[arg(long, value_name = "SEED")]
    replay: Option<u64>,
    /// Cases at a time [default: the number of processors]
    #[arg(short, long)]
    jobs: Option<usize>,
    /// Where NxP code runs; `card`: on the harts of a machine (`docs/card.md`)
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(BACKEND.values), default_value = BACKEND.values[0])]
    backend: String,
    /// Who draws the programs; `both`: csmith where it is installed, for every other one
    #[arg(long, value_enum, default_value_t = Which::Both)]
    generator: Which,
    /// What Flick's own programs may be made of [default: everything]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    features: Vec<Part>,
    /// Placements that are tried with each program [default: 3; 1 with your own program]
    #[arg(long)]
    placements: Option<usize>,
    /// Where failures are kept
    #[arg(long, value_name = "DIR", default_value = "flick-torture")]
    keep: PathBuf,
    /// How long a failure is made smaller; 0: not at all
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5m")]
    shrink: Duration,
    /// How long a run of Flick's build may take
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2m")]
    limit: Duration,
    /// Check the generator: its programs must also satisfy AddressSanitizer and UBSan
    #[arg(long)]
    sanitize: bool,
    /// Try another `flick-cc`, with `flick-c++` beside it
    #[arg(long, value_name = "PATH")]
    cc: Option<PathBuf>,
    /// An argument of your own program (repeatable)
    #[arg(
        long,
        value_name = "WORD",
        allow_hyphen_values = true,
        requires = "program"
    )]
    arg: Vec<String>,
    /// The standard input of your own program
    #[arg(long, value_name = "FILE", requires = "program")]
    stdin: Option<PathBuf>,
    /// Your own program: its sources and the compiler's words, without `-o`
    #[arg(last = true, value_name = "SOURCES AND COMPILER WORDS")]
    program: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    Own,
    Csmith,
    Both,
}

/// A feature, by the name that the report has for it.
#[derive(Clone, Copy)]
struct Part(Feature);

/// Clap wants the variants in an array.
const PARTS: [Part; Feature::ALL.len()] = {
    let mut parts = [Part(Feature::Varargs); Feature::ALL.len()];
    let mut k = 0;
    while k < parts.len() {
        parts[k] = Part(Feature::ALL[k]);
        k += 1;
    }
    parts
};

impl ValueEnum for Part {
    fn value_variants<'a>() -> &'a [Self] {
        &PARTS
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.0.name().into())
    }
}

pub fn run(options: &Torture) -> Result<ExitCode, Error> {
    let settings = settings(options)?;
    let (totals, text) = flick_torture::run(&settings).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => Error::new(
            Code::FailedTool,
            "the program cannot be tried",
            options.program.join(" "),
            error.to_string(),
            "it must build with plain clang, end, and do the same in every run",
        ),
        _ => Error::new(
            Code::FileAccess,
            "the session cannot go on",
            format!("{} or {}", std::env::temp_dir().display(), options.keep.display()),
            error.to_string(),
            "set TMPDIR to a directory that is writable, not full and not mounted noexec; name one with \
             --keep for what is kept",
        ),
    })?;
    print(&text)?;
    Ok(match totals.differences {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn settings(options: &Torture) -> Result<Settings, Error> {
    let (flick, flick_cxx) = match &options.cc {
        Some(cc) => (cc.clone(), cc.with_file_name("flick-c++")),
        None => {
            let bin = Root::find()?.dir().join("bin");
            (bin.join("flick-cc"), bin.join("flick-c++"))
        }
    };
    let user = user(options)?;
    let include = flick.parent().map(|bin| bin.with_file_name("include"));
    let include = include.filter(|dir| dir.join("flick.h").is_file());
    let generator = match options.generator {
        Which::Own => Generator::Own,
        Which::Csmith if !has_csmith() => return Err(no_csmith()),
        Which::Csmith => Generator::Csmith,
        Which::Both if user.is_none() && !has_csmith() => {
            output::message("flick torture: csmith is not installed; all programs are Flick's own");
            Generator::Own
        }
        Which::Both => Generator::Both,
    };
    let chosen: Vec<Feature> = options.features.iter().map(|part| part.0).collect();
    let features = if chosen.is_empty() {
        Features::all()
    } else {
        Features::only(&chosen)
    };
    let one = options.replay.map(|_| 1);
    let seed = options.replay.or(options.seed).unwrap_or_else(clock);
    let count = one.or(options.count);
    Ok(Settings {
        seed,
        count: count.or(options.time.is_none().then_some(100)),
        time: options.time,
        jobs: options
            .jobs
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        backend: BACKEND.values[BACKEND.parse(options.backend.as_bytes()).unwrap_or(0)],
        generator,
        features,
        placements: options
            .placements
            .unwrap_or(if user.is_some() { 1 } else { 3 }),
        keep: options.keep.clone(),
        shrink: options.shrink,
        sanitize: options.sanitize,
        keep_all: options.replay.is_some(),
        user,
        workshop: Workshop {
            flick: Compilers {
                c: word(&absolute(&flick)?),
                cxx: word(&absolute(&flick_cxx)?),
                words: Vec::new(),
            },
            plain: Compilers {
                c: word(&CLANG.require()?),
                cxx: word(&CLANGXX.require()?),
                words: include.map_or_else(Vec::new, |dir| vec!["-I".into(), word(&dir)]),
            },
            build_limit: Duration::from_secs(300),
            run_limit: options.limit,
            plain_limit: options.limit,
        },
    })
}

fn user(options: &Torture) -> Result<Option<User>, Error> {
    let words = &options.program;
    if words.is_empty() {
        return Ok(None);
    }
    let bad = |word: &str, why: &str| {
        Error::new(
            Code::BadOption,
            "this cannot be tried",
            word,
            why,
            "give the sources and words of one command that compiles and links: \
             flick torture -- main.c list.c -O2 -lm",
        )
    };
    let stops = ["-c", "-S", "-E", "-shared"];
    if let Some(word) = words.iter().find(|word| stops.contains(&word.as_str())) {
        return Err(bad(word, "a program is needed, and this makes none"));
    }
    if let Some(word) = words.iter().find(|word| word.starts_with("-o")) {
        return Err(bad(word, "the programs go to a folder of the session"));
    }
    let cxx = |word: &String| {
        let extension = Path::new(word).extension().and_then(|e| e.to_str());
        matches!(extension, Some("cc" | "cpp" | "cxx" | "c++" | "C"))
    };
    let dir = std::env::current_dir().map_err(|error| file_error(Path::new("."), &error))?;
    Ok(Some(User {
        words: words.clone(),
        language: if words.iter().any(cxx) {
            Language::Cxx
        } else {
            Language::C
        },
        arguments: options.arg.clone(),
        stdin: options.stdin.as_deref().map(absolute).transpose()?,
        dir,
    }))
}

fn no_csmith() -> Error {
    Error::new(
        Code::MissingTool,
        "a required tool is missing",
        "csmith",
        "it is not in PATH (draws C programs for `flick torture`)",
        "sudo apt-get install csmith libcsmith-dev, or --generator own",
    )
}

/// Cases run in folders of their own.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path)
        .and_then(|path| path.metadata().map(|_| path))
        .map_err(|error| file_error(path, &error))
}

fn file_error(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be read",
        path.display().to_string(),
        error.to_string(),
        "check the path",
    )
}

fn word(path: &Path) -> String {
    path.display().to_string()
}

/// Small, since people type it again.
fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs() % 1_000_000_000)
}

/// `90`, `90s`, `15m`, `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("a number of seconds, or one with s, m or h behind it".into()),
    };
    let number: u64 = number.parse().map_err(|_| "no number".to_owned())?;
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .ok_or_else(|| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "m", "1d", "-1", "1.5h", "99999999999999999999"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
