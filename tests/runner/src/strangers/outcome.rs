//! The outcome of a program at a level, and the ways in which it is built and run.
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::stranger::Level;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Every function.
    All,
    /// Half of them, drawn.
    Half,
}

impl Placement {
    pub fn word(self) -> &'static str {
        match self {
            Placement::All => "100",
            Placement::Half => "50",
        }
    }
}

/// `Auto` is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Auto,
    Translate,
    Interp,
}

impl Engine {
    pub const ALL: [Engine; 3] = [Engine::Auto, Engine::Translate, Engine::Interp];

    pub fn word(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Translate => "translate",
            Engine::Interp => "interp",
        }
    }

    /// A program that takes longer natively does not run on this engine. That would take minutes.
    /// With `Translate` it would also show the same as `Auto` after all code is translated.
    pub fn patience(self) -> Duration {
        match self {
            Engine::Auto => Duration::MAX,
            Engine::Translate => Duration::from_secs(2),
            Engine::Interp => Duration::from_millis(500),
        }
    }

    /// How many times as long as natively a run may take.
    pub fn factor(self) -> u64 {
        match self {
            Engine::Auto | Engine::Translate => 20,
            Engine::Interp => 150,
        }
    }
}

/// A run of a program, or (without an engine) a build.
#[derive(Clone, Copy, Debug)]
pub struct Which<'a> {
    pub program: &'a str,
    pub level: Level,
    pub placement: Placement,
    pub engine: Option<Engine>,
}

impl fmt::Display for Which<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, level, placement) = (self.program, self.level, self.placement.word());
        write!(f, "{program} {level} {placement} %")?;
        self.engine.map_or(Ok(()), |e| write!(f, " {}", e.word()))
    }
}

/// The outcome of a program at a level.
pub struct Cell {
    pub program: String,
    pub level: Level,
    pub outcome: Outcome,
}

pub enum Outcome {
    /// Plain clang fails with the same options: why.
    Excluded(String),
    Compared(Compared),
}

/// Runs, or a build, that differ in the same way.
pub struct Difference {
    pub name: String,
    pub runs: usize,
    /// Not only its output differs.
    pub ends_otherwise: bool,
    /// For a person, with the commands that repeat it.
    pub report: String,
}

impl Difference {
    pub fn new(which: Which, report: String) -> Self {
        Self {
            name: which.to_string(),
            runs: 1,
            ends_otherwise: true,
            report,
        }
    }

    /// On another engine as well.
    pub fn add(&mut self, engine: Engine) {
        self.runs += 1;
        self.name.push_str(", ");
        self.name.push_str(engine.word());
    }

    pub fn text(&self) -> String {
        format!("DIFFERENT {}\n{}\n", self.name, self.report.trim_end())
    }
}

#[derive(Default)]
pub struct Compared {
    pub runs: usize,
    pub differences: Vec<Difference>,
    /// Runs that differ by a rule.
    pub excused: Vec<(String, String)>,
    /// Builds that were refused with a code that docs/limits.md names.
    pub refused: Vec<String>,
    /// With everything placed: functions that the dice chose, and by code those of them that stayed
    /// on the host.
    pub chosen: usize,
    pub kept: BTreeMap<String, usize>,
    /// Not half of it was placed: it has one function only.
    pub one_function: bool,
    /// Too long natively for every engine.
    pub not_everywhere: bool,
    /// Processor time of plain clang's build, and of Flick's with everything placed.
    pub times: Option<(Duration, Duration)>,
}
